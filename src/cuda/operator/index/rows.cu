/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering and scatter-adding rows by index: see index/rows.h. */
#include "cuda/operator/index/rows.h"

#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/sort.h"

/* ---- the kinds of index ------------------------------------------------------------------------------------------ */

/* What the kinds along one axis share: array as (groups, size, inner). */
static mxcu_row_index index_along_axis(int kind, const mxc_shape *array, int axis, const mxc_tensor *index, int mode) {
    mxcu_row_index p = {};
    p.kind = kind;
    p.groups = mxcu_product(array, 0, axis);
    p.size = array->dim[axis];
    p.inner = mxcu_product(array, axis + 1, array->ndim);
    p.mode = mode;
    p.index = mxcu_numbers_of(index);
    return p;
}

mxcu_row_index mxcu_rows_along(const mxc_shape *array, int axis, const mxc_tensor *index, int mode) {
    mxcu_row_index p = index_along_axis(MXCU_ALONG, array, axis, index, mode);
    p.count = mxcu_size(index);
    p.length = p.inner;
    return p;
}

mxcu_row_index mxcu_rows_picked(const mxc_shape *array, int axis, const mxc_tensor *index, int mode) {
    mxcu_row_index p = index_along_axis(MXCU_PICKED, array, axis, index, mode);
    p.count = p.groups ? mxcu_size(index) / p.groups : 0;
    p.length = 1;
    return p;
}

mxcu_row_index mxcu_rows_nd(const mxc_shape *array, const mxc_tensor *index) {
    mxcu_row_index p = {};
    p.kind = MXCU_ND;
    p.axes = (int)index->shape.dim[0];
    p.groups = 1;
    p.count = mxcu_product(&index->shape, 1, index->shape.ndim);
    p.length = p.inner = mxcu_product(array, p.axes, array->ndim);
    p.size = mxcu_product(array, 0, p.axes);
    p.mode = MXCI_INDEX_WRAP;
    p.index = mxcu_numbers_of(index);
    for (int i = 0; i < p.axes; i++)
        p.dim[i] = array->dim[i];
    return p;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

enum { SHORT = 16 }; /* rows of at most this many elements get threads of their own instead of a team */

/* Short rows: a thread per element. Others: a team per row, whose threads read neighbours; the index is read once per
 * thread. */
template <class T>
static mxc_status take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxcu_row_index *given,
                       const mxc_tensor *array) {
    const mxcu_row_index rows = *given;
    const int64_t n = rows.length;
    mxcu_in<T> x = mxcu_data<T>(array);
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    if (n <= SHORT)
        return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) {
            const int64_t row = at / n;
            y.put(at, x[rows(row) + (at - row * n)]);
        });
    return mxcu_rows(call, mxcu_size(to) / n, n, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t first = rows(row);
        for (int64_t k = team.rank; k < n; k += team.size)
            y.put(row * n + k, x[first + k]);
    });
}

mxc_status mxcu_rows_take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxcu_row_index *rows,
                          const mxc_tensor *array) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, take, call, to, i, rows, array)
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

size_t mxcu_rows_temp(int64_t count) {
    return mxcu_sort_bytes(1, count);
}

/* MXCU_PICKED: a thread per element. Indices are distinct, so nothing needs to be sorted, and no two threads write one
 * element. */
template <class T>
static mxc_status put_each(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_row_index *given,
                           const mxc_tensor *from) {
    const mxcu_row_index rows = *given;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, array, i);
    return mxcu_for(call, mxcu_size(from), [=] MXCU_LAMBDA(int64_t r) { y.put(rows(r), x[r]); });
}

/* items = the dense rows of a group, sorted by the row of the array that they go to. All groups have the same index. */
static mxc_status sort_rows(const mxc_op_call *call, const mxcu_row_index *given, mxcu_item *items) {
    const mxcu_row_index rows = *given;
    const int64_t size = mxcu_sort_row(rows.count);
    MXC_TRY(mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t j) {
        mxcu_item item = MXCU_LAST_ITEM;
        if (j < rows.count) {
            item.key = (uint64_t)rows.key(j);
            item.index = j;
        }
        items[j] = item;
    }));
    return mxcu_sort(call, items, 1, size);
}

/* A team per item and group; those whose item is the first of its key sum all rows of the key, in the order of their
 * indices, the others return. Neighbouring threads sum neighbouring elements of the row. */
template <class T>
static mxc_status add_sorted(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_row_index *given,
                             const mxc_tensor *from, const mxcu_item *items) {
    const int64_t count = given->count, n = given->length, size = given->size;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, array, i);
    return mxcu_rows(call, given->groups * count, n, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t group = row / count, first = row % count;
        const uint64_t key = items[first].key;
        if (first > 0 && items[first - 1].key == key)
            return;
        for (int64_t k = team.rank; k < n; k += team.size) {
            mxcu_compute_t<T> sum = 0;
            for (int64_t j = first; j < count && items[j].key == key; j++)
                sum += x[(group * count + items[j].index) * n + k];
            y.put((group * size + (int64_t)key) * n + k, sum);
        }
    });
}

static mxc_status put_rows(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_row_index *rows,
                           const mxc_tensor *from) {
    MXCU_SWITCH_ALL(array->dtype, put_each, call, array, i, rows, from)
}

static mxc_status add_rows(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_row_index *rows,
                           const mxc_tensor *from, const mxcu_item *items) {
    MXCU_SWITCH_ALL(array->dtype, add_sorted, call, array, i, rows, from, items)
}

/* First 0 everywhere, unless it is to be added; then the rows that an index names. */
mxc_status mxcu_rows_add(const mxc_op_call *call, const mxc_tensor *array, int i, const mxcu_row_index *rows,
                         const mxc_tensor *from) {
    mxcu_item *items = mxcu_temp<mxcu_item>(call, 0);
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->req[i] != MXC_REQ_ADD)
        MXC_TRY(mxcu_put_constant(call, array, i, 0));
    if (mxcu_size(from) == 0)
        return MXC_OK;
    if (rows->kind == MXCU_PICKED)
        return put_rows(call, array, i, rows, from);
    MXC_TRY(sort_rows(call, rows, items));
    return add_rows(call, array, i, rows, from, items);
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

/* Which indices are outside their bounds, for mxcu_find_invalid. The negated comparison also finds NaN. */
struct outside {
    mxcu_numbers numbers;
    mxcu_bounded_rows rows;

    MXCU_DEVICE int is_invalid(int64_t i) const {
        const int64_t row = mxcu_divide(i, rows.n);
        return !(trunc(numbers[i]) >= (double)rows.low[row] && numbers[i] < (double)rows.high[row]);
    }
    MXCU_DEVICE mxcu_invalid_element report(int64_t i) const {
        return {i, numbers[i], 0};
    }
};

/* One search over all rows of indices; waits for the device. */
mxc_status mxcu_check_indices(const mxc_op_call *call, const char *op, const char *argument, const mxc_tensor *index,
                              const mxcu_bounded_rows *rows) {
    mxcu_invalid_element bad;
    int64_t row;
    if (rows->count * rows->n == 0)
        return MXC_OK;
    MXC_TRY(mxcu_find_invalid(call, rows->count * rows->n, outside{mxcu_numbers_of(index), *rows}, &bad));
    if (bad.at == INT64_MAX)
        return MXC_OK;
    row = bad.at / rows->n;
    return MXC_FAIL(MXC_EINVAL, "%s: argument '%s': element %lld is %g, expected an index in [%lld, %lld)", op,
                    argument, (long long)bad.at, bad.a, (long long)rows->low[row], (long long)rows->high[row]);
}
