/* SPDX-License-Identifier: Apache-2.0 */
/* count_sketch: out[h[j]] += s[j] data[j] for each row. Several elements go to one position, so instead of adding
 * atomically, in an order that changes from run to run, the elements are sorted by position (the same order for all
 * rows, since h is shared), and a thread per element of out sums its own. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"
#include "cuda/operator/index/sort.h"

enum { DATA, H, S };

static int64_t last_size(const mxc_shape *shape) {
    return shape->dim[shape->ndim - 1];
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxcu_sort_bytes(1, last_size(&sig->in_shape[DATA])) + MXCU_CHECK_BYTES;
}

/* Positions outside out are an error, for which the host waits. */
static mxc_status check_positions(const mxc_op_call *call) {
    const mxcu_bounded_rows bounds = {1, last_size(&call->in[DATA].shape), {0}, {last_size(&call->out[0].shape)}};
    return mxcu_check_indices(call, "_contrib_count_sketch", "h", &call->in[H], &bounds);
}

/* The first of n sorted items whose key is k or greater. */
MXCU_DEVICE static int64_t lower_bound(const mxcu_item *items, int64_t n, int64_t k) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (items[middle].key < (uint64_t)k)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Three launches: a thread per item fills in position and index; the sort; a thread per element of out (rows, k) sums
 * the items of its position, in the order of their indices. Sums are float64. */
template <class T> static mxc_status sketch(const mxc_op_call *call) {
    const int64_t n = last_size(&call->in[DATA].shape), k = last_size(&call->out[0].shape), row = mxcu_sort_row(n);
    const mxcu_numbers positions = mxcu_numbers_of(&call->in[H]), signs = mxcu_numbers_of(&call->in[S]);
    mxcu_item *items = mxcu_temp<mxcu_item>(call, 0);
    mxcu_in<T> x = mxcu_data<T>(&call->in[DATA]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    MXC_TRY(mxcu_for(call, row, [=] MXCU_LAMBDA(int64_t j) {
        mxcu_item item = MXCU_LAST_ITEM;
        if (j < n)
            item = {(uint64_t)positions.index(j, k, MXCI_INDEX_CLIP), j};
        items[j] = item;
    }));
    MXC_TRY(mxcu_sort(call, items, 1, row));
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t first = at / k * n;
        double sum = 0;
        for (int64_t i = lower_bound(items, n, at % k); i < n && items[i].key == (uint64_t)(at % k); i++)
            sum += signs[items[i].index] * (double)x[first + items[i].index];
        y.put(at, (mxcu_compute_t<T>)sum);
    });
}

/* A thread per element of data: its gradient is that of the one element of out that it went to. */
template <class T> static mxc_status sketch_grad(const mxc_op_call *call) {
    const int64_t n = last_size(&call->in[DATA].shape), k = last_size(&call->out[0].shape);
    const mxcu_numbers positions = mxcu_numbers_of(&call->in[H]), signs = mxcu_numbers_of(&call->in[S]);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->in_grad[DATA]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t j = at % n;
        dx.put(at, (mxcu_compute_t<T>)(signs[j] * (double)g[at / n * k + positions.index(j, k, MXCI_INDEX_CLIP)]));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    MXC_TRY(check_positions(call));
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, sketch, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, H));
    MXC_TRY(mxcu_no_gradient(call, S));
    MXC_TRY(check_positions(call));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, sketch_grad, call)
}

MXCU_OP_IMPLS(count_sketch, {"_contrib_count_sketch", forward, backward, temp_bytes})
