/* SPDX-License-Identifier: Apache-2.0 */
/* topk, sort, argsort: the first k elements of each row along an axis in the order of their values, descending (topk)
 * or ascending (sort and argsort, of which k is the whole row). Equal elements are in the order of their indices, NaNs
 * last.
 *
 *   value    out = the values; gradient: each is added to the element that it was copied from
 *   indices  out = their indices along the axis
 *   mask     out = 1 where an element is among the first k, else 0; of data's shape
 *   both     values and indices
 *
 * With axis None data is one row, and all outputs but the mask are vectors. */
#include <string.h>

#include "math/sort_kernels.h"
#include "math/strided_kernels.h"
#include "operator/index/indexing.h"
#include "operator/index/rows.h"

typedef mxci_topk_params topk_params;

enum { VALUE = MXCI_TOPK_VALUE, INDICES = MXCI_TOPK_INDICES, MASK = MXCI_TOPK_MASK, BOTH = MXCI_TOPK_BOTH };

#define AXIS_PARAM                                                                                                 \
    {                                                                                                              \
        MXC_PARAM_FIELD(topk_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "-1", .optional = 1, \
                                            .doc = "Axis along which elements are ordered. Negative values count " \
                                                   "from the end. None: all elements as one row."                  \
    }
#define ASCEND_PARAM(value)                                                                                     \
    {                                                                                                           \
        MXC_PARAM_FIELD(topk_params, is_ascend), .name = "is_ascend", .type = MXC_PARAM_BOOL, .initial = value, \
                                                 .doc = "Ascending order; otherwise descending."                \
    }
#define DTYPE_PARAM                                                                                          \
    {                                                                                                        \
        MXC_PARAM_FIELD(topk_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32", \
                                             .doc = "Dtype of the indices."                                  \
    }

static const mxc_param topk_schema[] = {
    AXIS_PARAM,
    {MXC_PARAM_FIELD(topk_params, k), .name = "k", .type = MXC_PARAM_INT, .initial = "1",
     .doc = "Number of elements taken from each row. Below 1: all."},
    {MXC_PARAM_FIELD(topk_params, ret_typ), .name = "ret_typ", .type = MXC_PARAM_ENUM, .initial = "indices",
     .choices = "value,indices,mask,both",
     .doc = "What is returned: the values, their indices, both, or a mask of data's shape that is 1 at the elements "
            "taken."},
    ASCEND_PARAM("false"),
    DTYPE_PARAM,
    MXC_PARAM_END,
};

static const mxc_param sort_schema[] = {AXIS_PARAM, ASCEND_PARAM("true"), MXC_PARAM_END};
static const mxc_param argsort_schema[] = {AXIS_PARAM, ASCEND_PARAM("true"), DTYPE_PARAM, MXC_PARAM_END};

static mxc_status complete_sort(void *params) {
    topk_params *p = params;
    p->k = 0;
    p->ret_typ = VALUE;
    return MXC_OK;
}

static mxc_status complete_argsort(void *params) {
    topk_params *p = params;
    p->k = 0;
    p->ret_typ = INDICES;
    return MXC_OK;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static int topk_count_outputs(const void *params) {
    const topk_params *p = params;
    return p->ret_typ == VALUE || p->ret_typ == BOTH ? 2 : 1; /* the gradient needs the indices */
}

static int topk_count_visible(const void *params) {
    return ((const topk_params *)params)->ret_typ == BOTH ? 2 : 1;
}

/* Values have data's dtype; indices that are only kept for the gradient are int64. */
static mxc_status topk_infer_type(mxc_op_sig *sig) {
    const topk_params *p = sig->params;
    if (p->ret_typ == INDICES)
        return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)p->dtype);
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(0)}));
    if (p->ret_typ == MASK)
        return MXC_OK;
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(1), p->ret_typ == BOTH ? (mxc_dtype)p->dtype : MXC_I64);
}

/* The longest row whose indices the dtype represents exactly. */
static int64_t longest_row(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F32:
        return INT64_C(1) << 24;
    case MXC_F64:
        return INT64_C(1) << 53;
    case MXC_F16:
        return 1 << 11;
    case MXC_BF16:
    case MXC_U8:
        return 1 << 8;
    case MXC_I8:
        return 1 << 7;
    case MXC_I32:
        return INT64_C(1) << 31;
    case MXC_BOOL:
        return 2;
    default:
        return INT64_MAX;
    }
}

/* Whether a row of size elements can be sorted as the parameters say. */
static mxc_status check_row(const mxc_op_sig *sig, int64_t size) {
    const topk_params *p = sig->params;
    if (size >= 0 && p->k > size)
        return mxc_sig_fail(sig, "k is %lld, expected at most the %lld elements of a row", (long long)p->k,
                            (long long)size);
    if ((p->ret_typ == INDICES || p->ret_typ == BOTH) && size > longest_row((mxc_dtype)p->dtype))
        return mxc_sig_fail(sig, "dtype %s cannot hold the indices of a row of %lld elements",
                            mxc_dtype_name((mxc_dtype)p->dtype), (long long)size);
    return MXC_OK;
}

/* All outputs but a mask: (k) */
static mxc_status infer_vector(mxc_op_sig *sig) {
    const topk_params *p = sig->params;
    int64_t size = mxc_shape_size(&sig->in_shape[0]);
    mxc_shape out = mxci_shape_of(1, (int64_t[]){p->k >= 1 ? p->k : size});
    MXC_TRY(check_row(sig, size));
    if (p->ret_typ == MASK)
        return mxci_infer_shape_same(sig);
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &out));
    return MXC_OK;
}

static mxc_status topk_infer_shape(mxc_op_sig *sig) {
    const topk_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[0], *out = sig->out_shape, other;
    int axis;
    if (p->axis == MXC_PARAM_UNSET)
        return infer_vector(sig);
    for (int i = 0; i < sig->n_out && data->ndim < 0; i++)
        if (out[i].ndim >= 0)
            *data = mxci_shape_axes(out[i].ndim);
    if (data->ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, p->axis, data->ndim, &axis));
    for (int i = 0; i < sig->n_out; i++) {
        other = *data;
        other.dim[axis] = p->ret_typ == MASK || p->k < 1 ? data->dim[axis] : p->k;
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &other));
        other = out[i];
        other.dim[axis] = p->ret_typ == MASK || p->k < 1 ? out[i].dim[axis] : -1;
        MXC_TRY(mxc_sig_set_shape(sig, 0, &other));
    }
    return check_row(sig, data->dim[axis]);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Data as (outer, n, inner), ordered along n; values and indices (outer, k, inner). */
typedef struct order_run {
    const mxc_op_call *call;
    int64_t n, k, inner;
    const mxc_tensor *values, *indices, *mask; /* those that are wanted */
    mxc_req values_req, indices_req;
} order_run;

/* An array's shape as it is ordered, and the axis. */
static mxc_shape rows_shape(const topk_params *p, const mxc_shape *shape, int *axis) {
    *axis = (int)(p->axis < 0 ? p->axis + shape->ndim : p->axis);
    if (p->axis != MXC_PARAM_UNSET)
        return *shape;
    *axis = 0;
    return mxci_shape_of(1, (int64_t[]){mxc_shape_size(shape)});
}

/* Items of the scratch of each part: a row, and as many for sorting. */
static int64_t items_of(int64_t n) {
    return mxci_dim_mul(2, n);
}

/* items = the keys and indices of the row whose first element is `first`. */
static void load_row(const order_run *r, int64_t first, mxci_sort_item *items) {
    const mxc_tensor *data = &r->call->in[0];
    mxc_dtype compute = mxci_compute_type(data->dtype);
    mxci_strided strides = {.n = 1, .dim = {r->n}, .step = {r->inner}};
    _Alignas(64) int64_t raw[MXCI_TILE], tile[MXCI_TILE];
    for (int64_t i = 0; i < r->n; i += MXCI_TILE) {
        int64_t n = r->n - i < MXCI_TILE ? r->n - i : MXCI_TILE;
        mxci_gather(&strides, mxc_dtype_size(data->dtype), mxci_at(data, first), i, n, raw);
        mxci_load(data->dtype, raw, tile, n);
        mxci_sort_keys(compute, !((const topk_params *)r->call->params)->is_ascend, n, tile, i, items + i);
    }
}

/* n elements of a tile to every step-th element of an array. */
static void put_steps(mxc_req req, const mxc_tensor *to, int64_t first, int64_t step, const void *tile, int64_t n) {
    size_t size = mxc_dtype_size(to->dtype);
    if (step == 1)
        mxci_assign_row(req, to->dtype, mxci_at(to, first), tile, n);
    for (int64_t i = 0; i < n && step != 1; i++)
        mxci_assign_row(req, to->dtype, mxci_at(to, first + i * step), (const char *)tile + (size_t)i * size, 1);
}

static void put_values(const order_run *r, int64_t first, int64_t to, const mxci_sort_item *items, int64_t n) {
    const mxc_tensor *data = &r->call->in[0];
    size_t size = mxc_dtype_size(data->dtype);
    char tile[MXCI_TILE * sizeof(int64_t)];
    for (int64_t i = 0; i < n; i++)
        memcpy(tile + (size_t)i * size, mxci_at(data, first + items[i].index * r->inner), size);
    put_steps(r->values_req, r->values, to, r->inner, tile, n);
}

static void put_indices(const order_run *r, int64_t to, const mxci_sort_item *items, int64_t n) {
    int64_t tile[MXCI_TILE], narrow[MXCI_TILE];
    for (int64_t i = 0; i < n; i++)
        tile[i] = items[i].index;
    mxci_convert(MXC_I64, tile, r->indices->dtype, narrow, n);
    put_steps(r->indices_req, r->indices, to, r->inner, narrow, n);
}

/* Rows begin..end-1: sort keys, then copy what is wanted of the first k, a tile at a time. */
static void order_range(void *arg, int64_t begin, int64_t end, int part) {
    const order_run *r = arg;
    mxci_sort_item *items = (mxci_sort_item *)r->call->temp + part * items_of(r->n);
    for (int64_t row = begin; row < end; row++) {
        int64_t first = row / r->inner * r->n * r->inner + row % r->inner;
        int64_t to = row / r->inner * r->k * r->inner + row % r->inner;
        load_row(r, first, items);
        mxci_sort_first(r->k, r->n, items, items + r->n);
        for (int64_t i = 0; i < r->k; i += MXCI_TILE) {
            int64_t n = r->k - i < MXCI_TILE ? r->k - i : MXCI_TILE;
            if (r->values)
                put_values(r, first, to + i * r->inner, items + i, n);
            if (r->indices)
                put_indices(r, to + i * r->inner, items + i, n);
            for (int64_t m = i; r->mask && m < i + n; m++) /* the rest of the mask is 0 already */
                mxci_assign_value(r->values_req, r->mask, first + items[m].index * r->inner, 1);
        }
    }
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static size_t topk_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[0];
    int axis;
    mxc_shape shape = rows_shape(sig->params, data, &axis);
    int64_t n = shape.dim[axis], rows = n ? mxc_shape_size(data) / n : 0;
    if (pass == MXC_BACKWARD)
        return mxci_rows_temp(data, sig->in_type[0]);
    rows = rows < sig->parallelism ? rows : sig->parallelism;
    return mxci_size_of(mxci_dim_mul(rows, items_of(n)), sizeof(mxci_sort_item));
}

static mxc_status topk_forward(const mxc_op_call *call) {
    const topk_params *p = call->params;
    const mxc_tensor *out = call->out;
    int axis, with_indices = p->ret_typ == INDICES ? 0 : 1;
    mxc_shape shape = rows_shape(p, &call->in[0].shape, &axis);
    order_run r = {.call = call, .n = shape.dim[axis], .inner = mxci_shape_count(&shape, axis + 1, shape.ndim)};
    int64_t rows = r.n ? mxc_shape_size(&shape) / r.n : 0;
    r.k = p->k >= 1 ? p->k : r.n;
    r.values_req = call->req[0];
    r.indices_req = with_indices < call->n_out ? call->req[with_indices] : MXC_REQ_NULL;
    r.values = (p->ret_typ == VALUE || p->ret_typ == BOTH) && r.values_req != MXC_REQ_NULL ? &out[0] : NULL;
    r.indices = r.indices_req != MXC_REQ_NULL ? &out[with_indices] : NULL;
    r.mask = p->ret_typ == MASK && r.values_req != MXC_REQ_NULL ? &out[0] : NULL;
    if (r.mask && r.values_req != MXC_REQ_ADD)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, r.mask, 0);
    if (r.values || r.indices || r.mask)
        mxc_parallel_for(call->run, rows, MXCI_GRAIN / (16 * (r.n + 1)) + 1, order_range, &r);
    return MXC_OK;
}

static void topk_backward_needs(const void *params, mxc_op_needs *needs) {
    if (topk_count_outputs(params) == 1)
        needs->out_grad = needs->out = 0;
}

static mxc_status topk_backward(const mxc_op_call *call) {
    mxc_tensor grad = call->in_grad[0];
    mxci_rows rows;
    int axis;
    if (topk_count_outputs(call->params) == 1) {
        mxci_assign_zero_gradient(call, 0);
        return MXC_OK;
    }
    grad.shape = rows_shape(call->params, &call->in[0].shape, &axis);
    rows = mxci_rows_picked(&grad.shape, axis, &call->out[1], MXCI_INDEX_CLIP);
    mxci_rows_add(call->run, call->req[0], &grad, &rows, &call->out_grad[0], call->temp);
    return MXC_OK;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_topk = {
    .size = sizeof(mxc_op_def),
    .name = "topk",
    .doc = "out = the first k elements along axis in sorted order: their values, indices, both, or a mask",
    .params = topk_schema,
    .param_size = sizeof(topk_params),
    .n_outputs = topk_count_outputs,
    .n_visible = topk_count_visible,
    .infer_shape = topk_infer_shape,
    .infer_type = topk_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1, .out = 1 << 1},
    .backward_needs = topk_backward_needs,
    .temp_bytes = topk_temp_bytes,
    .forward = {[MXC_CPU] = topk_forward},
    .backward = {[MXC_CPU] = topk_backward},
};

const mxc_op_def mxci_op_sort = {
    .size = sizeof(mxc_op_def),
    .name = "sort",
    .doc = "out = data sorted along axis",
    .params = sort_schema,
    .param_size = sizeof(topk_params),
    .params_check = complete_sort,
    .n_outputs = topk_count_outputs,
    .n_visible = topk_count_visible,
    .infer_shape = topk_infer_shape,
    .infer_type = topk_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1, .out = 1 << 1},
    .temp_bytes = topk_temp_bytes,
    .forward = {[MXC_CPU] = topk_forward},
    .backward = {[MXC_CPU] = topk_backward},
};

const mxc_op_def mxci_op_argsort = {
    .size = sizeof(mxc_op_def),
    .name = "argsort",
    .doc = "out = the indices that sort data along axis",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = argsort_schema,
    .param_size = sizeof(topk_params),
    .params_check = complete_argsort,
    .infer_shape = topk_infer_shape,
    .infer_type = topk_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .temp_bytes = topk_temp_bytes,
    .forward = {[MXC_CPU] = topk_forward},
};
