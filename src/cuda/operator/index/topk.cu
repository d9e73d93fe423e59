/* SPDX-License-Identifier: Apache-2.0 */
/* topk, sort, argsort (operator/index/topk.c): the rows along an axis are sorted in scratch by order-preserving keys,
 * with equal keys by index, so that the order is stable. All of a row is sorted, also where few elements are wanted. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"
#include "cuda/operator/index/sort.h"
#include "operator/index/indexing.h"
#include "math/sort_key.h"

/* Keys whose unsigned order is that of the numbers, NaN last (math/sort_key.h); turn: UINT64_MAX for descending
 * order. */
MXCU_DEVICE static uint64_t key_of(float x, uint64_t turn) {
    return mxci_sort_key_f32(x, turn);
}
MXCU_DEVICE static uint64_t key_of(double x, uint64_t turn) {
    return mxci_sort_key_f64(x, turn);
}
MXCU_DEVICE static uint64_t key_of(int64_t x, uint64_t turn) {
    return mxci_sort_key_i64(x, turn);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* data (outer, n, inner), sorted as outer * inner rows of n; the first k of each are wanted, (outer, k, inner). */
struct rows {
    int64_t outer, n, inner, k, row; /* row: items of a row, a power of two */
    mxcu_item *items;

    /* The item of element number `to` of the result. */
    MXCU_DEVICE mxcu_item at(int64_t to) const {
        const int64_t o = to / (k * inner), j = to / inner % k, i = to % inner;
        return items[(o * inner + i) * row + j];
    }
    /* The element of data that it names. */
    MXCU_DEVICE int64_t element(int64_t to) const {
        return (to / (k * inner) * n + at(to).index) * inner + to % inner;
    }
};

/* An array's shape as it is sorted, and the axis: without the parameter axis, all elements as one row. */
static mxc_shape rows_shape(const mxci_topk_params *p, const mxc_shape *shape, int *axis) {
    mxc_shape line = {1, {mxcu_product(shape, 0, shape->ndim)}};
    int whole = p->axis == MXC_PARAM_UNSET;
    *axis = whole ? 0 : (int)(p->axis < 0 ? p->axis + shape->ndim : p->axis);
    return whole ? line : *shape;
}

static rows rows_of(const mxci_topk_params *p, const mxc_shape *data) {
    int axis;
    mxc_shape shape = rows_shape(p, data, &axis);
    rows r = {};
    r.outer = mxcu_product(&shape, 0, axis);
    r.n = shape.dim[axis];
    r.inner = mxcu_product(&shape, axis + 1, shape.ndim);
    r.k = p->k >= 1 ? p->k : r.n;
    r.row = mxcu_sort_row(r.n);
    return r;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    rows r = rows_of(static_cast<const mxci_topk_params *>(sig->params), &sig->in_shape[0]);
    return pass == MXC_FORWARD ? mxcu_sort_bytes(mxci_dim_mul(r.outer, r.inner), r.n) : 0;
}

/* A thread per item: the key of an element, or what pads a row. */
template <class T> static mxc_status load(const mxc_op_call *call, rows r, uint64_t turn) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    return mxcu_for(call, r.outer * r.inner * r.row, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = i / r.row, j = i % r.row;
        mxcu_item item = MXCU_LAST_ITEM;
        if (j < r.n) {
            item.key = key_of(x[(row / r.inner * r.n + j) * r.inner + row % r.inner], turn);
            item.index = j;
        }
        r.items[i] = item;
    });
}

static mxc_status load_any(const mxc_op_call *call, rows r, uint64_t turn) {
    MXCU_SWITCH_NUMBER(call->in[0].dtype, load, call, r, turn)
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* A thread per element of the result. */
template <class T> static mxc_status put_values(const mxc_op_call *call, rows r) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, r.outer * r.k * r.inner, [=] MXCU_LAMBDA(int64_t to) { y.put(to, x[r.element(to)]); });
}

/* The mask: a thread per wanted element. They are distinct, so no two threads write one. */
template <class T> static mxc_status put_ones(const mxc_op_call *call, rows r) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, r.outer * r.k * r.inner, [=] MXCU_LAMBDA(int64_t to) { y.put(r.element(to), 1); });
}

template <class T> static mxc_status put_indices(const mxc_op_call *call, rows r, int i) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[i], i);
    return mxcu_for(call, r.outer * r.k * r.inner,
                    [=] MXCU_LAMBDA(int64_t to) { y.put(to, (mxcu_compute_t<T>)r.at(to).index); });
}

static mxc_status values(const mxc_op_call *call, rows r) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, put_values, call, r)
}

static mxc_status mask(const mxc_op_call *call, rows r) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->req[0] != MXC_REQ_ADD)
        MXC_TRY(mxcu_put_constant(call, &call->out[0], 0, 0));
    MXCU_SWITCH_NUMBER(call->out[0].dtype, put_ones, call, r)
}

static mxc_status indices(const mxc_op_call *call, rows r, int i) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[i].dtype, put_indices, call, r, i)
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Three launches or more: keys, the sort, and each result. */
static mxc_status forward(const mxc_op_call *call) {
    const mxci_topk_params *p = static_cast<const mxci_topk_params *>(call->params);
    rows r = rows_of(p, &call->in[0].shape);
    if (r.outer * r.n * r.inner == 0)
        return MXC_OK;
    r.items = mxcu_temp<mxcu_item>(call, 0);
    MXC_TRY(load_any(call, r, p->is_ascend ? 0 : UINT64_MAX));
    MXC_TRY(mxcu_sort(call, r.items, r.outer * r.inner, r.row));
    if (p->ret_typ == MXCI_TOPK_MASK)
        return mask(call, r);
    if (p->ret_typ == MXCI_TOPK_INDICES)
        return indices(call, r, 0);
    MXC_TRY(values(call, r));
    return indices(call, r, 1);
}

/* The gradient of values is added to the elements that they were copied from; indices and masks have no gradient. */
static mxc_status backward(const mxc_op_call *call) {
    const mxci_topk_params *p = static_cast<const mxci_topk_params *>(call->params);
    int axis;
    mxc_shape shape = rows_shape(p, &call->in[0].shape, &axis);
    mxcu_row_index index;
    if (p->ret_typ == MXCI_TOPK_MASK || p->ret_typ == MXCI_TOPK_INDICES)
        return mxcu_no_gradient(call, 0);
    index = mxcu_rows_picked(&shape, axis, &call->out[1], MXCI_INDEX_CLIP);
    return mxcu_rows_add(call, &call->in_grad[0], 0, &index, &call->out_grad[0]);
}

MXCU_OP_IMPLS(topk, {"topk", forward, backward, temp_bytes}, {"sort", forward, backward, temp_bytes},
              {"argsort", forward, mxcu_zero_gradient, temp_bytes})
