/* SPDX-License-Identifier: Apache-2.0 */
/* Moving elements by a view (tensor/views.h). A transpose goes through tiles in shared memory, so that reads and writes
 * are both coalesced; other views have a thread per element, whose writes are. */
#include "cuda/operator/tensor/views.h"

#include "cuda/runtime/strided_iterator.h"
#include "cuda_platform/tiles.h"

/* A transpose: planes whose columns are neighbours in the array, and whose rows are neighbours in the space. */
struct transposed_planes {
    int64_t batch, rows, columns;
    mxcu_strided_iterator from, to; /* where plane b begins in the array, and in the space */
    int64_t row, column;            /* from row to row in the array, and from column to column in the space */
};

enum { WORTH_TILES = 8 }; /* rows and columns below which most of a 32 x 32 tile would be idle */

/* Returns whether the view is a transpose: the last axis of the space gives the rows, another axis of step 1 the
 * columns; all others are the batch. */
static int find_planes(const mxci_strided *strides, transposed_planes *out) {
    const int last = strides->n - 1;
    int64_t dim[MXCI_STRIDED_MAX], from[MXCI_STRIDED_MAX], to[MXCI_STRIDED_MAX], size = 1;
    mxci_strided rest;
    int column = -1, begin = MXCI_STRIDED_MAX;
    for (int i = 0; i < last; i++)
        column = strides->step[i] == 1 ? i : column;
    if (column < 0 || strides->dim[last] < WORTH_TILES || strides->dim[column] < WORTH_TILES)
        return 0;
    for (int i = last; i >= 0; size *= strides->dim[i--]) {
        if (i == column)
            out->column = size;
        if (i == column || i == last)
            continue;
        dim[--begin] = strides->dim[i];
        from[begin] = strides->step[i];
        to[begin] = size;
    }
    out->rows = strides->dim[last], out->columns = strides->dim[column];
    out->row = strides->step[last];
    mxci_strided_set(&rest, MXCI_STRIDED_MAX - begin, dim + begin, from + begin);
    out->from = mxcu_iterate(&rest);
    mxci_strided_set(&rest, MXCI_STRIDED_MAX - begin, dim + begin, to + begin);
    out->to = mxcu_iterate(&rest);
    out->batch = out->to.size;
    return 1;
}

template <class T>
static mxc_status take_planes(const mxc_op_call *call, const transposed_planes *given, const T *from, mxcu_out<T> to) {
    const transposed_planes p = *given;
    return mxcu_tiles<T>(
        call, p.batch, p.rows, p.columns,
        [=] MXCU_LAMBDA(int64_t b, int64_t i, int64_t j) { return from[p.from(b) + i * p.row + j]; },
        [=] MXCU_LAMBDA(int64_t b, int64_t i, int64_t j, T value) {
            to.put(p.to(b) + j * p.column + i, mxcu_widen<T>(value));
        });
}

/* to[at] = from[first + iterator(at)]; a thread per element of to. */
template <class T>
static mxc_status take_elements(const mxc_op_call *call, const mxc_tensor *to, int i, const mxci_view *view,
                                const mxc_tensor *from) {
    mxcu_in<T> x = {mxcu_data<T>(from).data + view->first};
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    mxcu_strided_iterator iterator = mxcu_iterate(&view->strides);
    transposed_planes p;
    if (find_planes(&view->strides, &p))
        return take_planes(call, &p, x.data, y);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x[iterator(at)]); });
}

/* to[first + iterator(at)] = from[at]; a thread per element of from. Targets are distinct. */
template <class T>
static mxc_status put_elements(const mxc_op_call *call, const mxc_tensor *to, const mxci_view *view,
                               const mxc_tensor *from) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    mxcu_strided_iterator iterator = mxcu_iterate(&view->strides);
    y.data += view->first;
    return mxcu_for(call, mxcu_size(from), [=] MXCU_LAMBDA(int64_t at) { y.put(iterator(at), x[at]); });
}

mxc_status mxcu_view_take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxci_view *view,
                          const mxc_tensor *from) {
    if (call->req[i] == MXC_REQ_NULL || mxcu_size(to) == 0)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, take_elements, call, to, i, view, from)
}

mxc_status mxcu_view_put(const mxc_op_call *call, const mxc_tensor *to, const mxci_view *view, const mxc_tensor *from) {
    if (mxcu_size(from) == 0)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, put_elements, call, to, view, from)
}
