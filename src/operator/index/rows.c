/* SPDX-License-Identifier: Apache-2.0 */
/* Reading indices, and moving rows by index: see index/rows.h. */
#include "operator/index/rows.h"

#include <math.h>
#include <string.h>

#include "math/tile_kernels.h"

/* ---- indices ----------------------------------------------------------------------------------------------------- */

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void mxci_read_indices(const mxc_tensor *index, int64_t first, int64_t n, int64_t size, int mode, int64_t *out) {
    double tile[MXCI_TILE];
    for (int64_t i = 0; i < n; i += MXCI_TILE) {
        int64_t count = smaller(n - i, MXCI_TILE);
        mxci_convert(index->dtype, mxci_at(index, first + i), MXC_F64, tile, count);
        for (int64_t k = 0; k < count; k++)
            out[i + k] = mode == MXCI_INDEX_WRAP ? mxci_index_wrap(tile[k], size) : mxci_index_clip(tile[k], size);
    }
}

int64_t mxci_sequence_length(const mxc_tensor *lengths, int64_t n, int64_t t) {
    double length;
    mxci_convert(lengths->dtype, mxci_at(lengths, n), MXC_F64, &length, 1);
    return length >= (double)t ? t : length > 0 ? (int64_t)length : 0;
}

/* Which elements of an argument are valid. */
typedef struct range {
    int64_t low, high;    /* integer parts within low..high-1 */
    const double *ignore; /* or this number; NULL: none */
} range;

static mxc_status check_range(const mxc_op_call *call, int slot, int64_t first, int64_t n, const range *r) {
    double tile[MXCI_TILE];
    char name[64];
    for (int64_t i = 0; i < n; i += MXCI_TILE) {
        int64_t count = smaller(n - i, MXCI_TILE);
        mxci_convert(call->in[slot].dtype, mxci_at(&call->in[slot], first + i), MXC_F64, tile, count);
        for (int64_t k = 0; k < count; k++)
            if (!(trunc(tile[k]) >= (double)r->low && tile[k] < (double)r->high) &&
                !(r->ignore && trunc(tile[k]) == trunc(*r->ignore)))
                return MXC_FAIL(MXC_EINVAL, "%s: argument '%s': element %lld is %g, expected an index in [%lld, %lld)",
                                mxc_op_get_def(call->op)->name, mxc_op_arg_name(call->op, slot, name, sizeof name),
                                (long long)(first + i + k), tile[k], (long long)r->low, (long long)r->high);
    }
    return MXC_OK;
}

mxc_status mxci_check_indices(const mxc_op_call *call, int slot, int64_t first, int64_t n, int64_t low, int64_t high) {
    return check_range(call, slot, first, n, &(range){low, high, NULL});
}

mxc_status mxci_check_labels(const mxc_op_call *call, int slot, int64_t classes, const double *ignore) {
    return check_range(call, slot, 0, mxci_tensor_size(&call->in[slot]), &(range){0, classes, ignore});
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

mxc_status mxci_rows_infer_type(mxc_op_sig *sig) {
    mxc_dtype *index = &sig->in_type[1];
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(0)}));
    if (*index == MXC_DTYPE_UNKNOWN)
        *index = sig->in_type[0];
    return MXC_OK;
}

mxc_status mxci_sig_check_axis(const mxc_op_sig *sig, int slot, int axis) {
    char name[64];
    if (sig->in_shape[slot].dim[axis] != 0)
        return MXC_OK;
    return mxc_sig_fail(sig, "argument '%s': axis %d has no elements",
                        mxc_op_arg_name(sig->op, slot, name, sizeof name), axis);
}

/* ---- the kinds of index ------------------------------------------------------------------------------------------ */

static void find_along(const mxci_rows *r, int64_t first, int64_t n, int64_t *where) {
    for (int64_t i = 0, run; i < n; i += run) { /* rows of one group */
        int64_t group = (first + i) / r->count, place = (first + i) % r->count;
        run = smaller(n - i, r->count - place);
        mxci_read_indices(r->index, place, run, r->size, r->mode, where + i);
        for (int64_t k = i; k < i + run; k++)
            where[k] = (group * r->size + where[k]) * r->inner;
    }
}

mxci_rows mxci_rows_along(const mxc_shape *array, int axis, const mxc_tensor *index, int mode) {
    int64_t inner = mxci_shape_count(array, axis + 1, array->ndim);
    return (mxci_rows){.groups = mxci_shape_count(array, 0, axis),
                       .count = mxci_tensor_size(index),
                       .length = inner,
                       .find = find_along,
                       .index = index,
                       .size = array->dim[axis],
                       .inner = inner,
                       .mode = mode};
}

static void find_picked(const mxci_rows *r, int64_t first, int64_t n, int64_t *where) {
    mxci_read_indices(r->index, first, n, r->size, r->mode, where);
    for (int64_t i = 0; i < n; i++)
        where[i] = ((first + i) / r->per_outer * r->size + where[i]) * r->inner + (first + i) % r->inner;
}

/* With one element from each row along the axis no two are the same, so each is a group of its own, which threads may
 * take in any order. */
mxci_rows mxci_rows_picked(const mxc_shape *array, int axis, const mxc_tensor *index, int mode) {
    int64_t inner = mxci_shape_count(array, axis + 1, array->ndim), outer = mxci_shape_count(array, 0, axis);
    int64_t n = mxci_tensor_size(index), per_outer = outer ? n / outer : 0, single = per_outer == inner;
    return (mxci_rows){.groups = single ? n : outer,
                       .count = single ? 1 : per_outer,
                       .length = 1,
                       .find = find_picked,
                       .index = index,
                       .size = array->dim[axis],
                       .inner = inner,
                       .mode = mode,
                       .per_outer = per_outer};
}

static void find_nd(const mxci_rows *r, int64_t first, int64_t n, int64_t *where) {
    int64_t place[MXCI_TILE];
    memset(where, 0, (size_t)n * sizeof *where);
    for (int axis = 0; axis < r->index->shape.dim[0]; axis++) {
        int64_t size = r->array->dim[axis];
        mxci_read_indices(r->index, axis * r->count + first, n, size, r->mode, place);
        for (int64_t i = 0; i < n; i++)
            where[i] = where[i] * size + place[i];
    }
    for (int64_t i = 0; i < n; i++)
        where[i] *= r->inner;
}

mxci_rows mxci_rows_nd(const mxc_shape *array, const mxc_tensor *index) {
    const mxc_shape *shape = &index->shape;
    int64_t inner = mxci_shape_count(array, (int)shape->dim[0], array->ndim);
    return (mxci_rows){.groups = 1,
                       .count = mxci_shape_count(shape, 1, shape->ndim),
                       .length = inner,
                       .find = find_nd,
                       .index = index,
                       .array = array,
                       .inner = inner,
                       .mode = MXCI_INDEX_WRAP};
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

typedef struct rows_run {
    const mxci_rows *rows;
    mxc_req req;
    const mxc_tensor *array, *dense;
} rows_run;

static void take_range(void *arg, int64_t begin, int64_t end, int part) {
    const rows_run *r = arg;
    const int store_mode = mxci_store_mode(r->req, mxci_tensor_bytes(r->dense), 0);
    int64_t where[MXCI_TILE], length = r->rows->length;
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = smaller(end - i, MXCI_TILE);
        r->rows->find(r->rows, i, n, where);
        for (int64_t k = 0; k < n; k++)
            mxci_assign_elements(store_mode, r->dense->dtype, mxci_at(r->array, where[k]),
                                 mxci_at(r->dense, (i + k) * length), length);
    }
    mxci_stream_end();
}

void mxci_rows_take(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxci_rows *rows,
                    const mxc_tensor *array) {
    rows_run r = {rows, req, array, to};
    if (req != MXC_REQ_NULL && rows->length > 0)
        mxc_parallel_for(run, rows->groups * rows->count, MXCI_GRAIN / rows->length + 1, take_range, &r);
}

/* array[to...] += dense[from...], n elements; dense may have another dtype than the sums. */
static void add_elements(const rows_run *r, int64_t from, int64_t to, int64_t n) {
    _Alignas(64) int64_t tile[MXCI_TILE];
    if (r->dense->dtype == r->array->dtype) {
        mxci_add_row(r->array->dtype, mxci_at(r->array, to), mxci_at(r->dense, from), n);
        return;
    }
    for (int64_t c = 0, count; c < n; c += count) {
        count = smaller(n - c, MXCI_TILE);
        mxci_load(r->dense->dtype, mxci_at(r->dense, from + c), tile, count);
        mxci_add_row(r->array->dtype, mxci_at(r->array, to + c), tile, count);
    }
}

/* Units are the columns of each group, so that two threads never add to one element, and the order of additions to an
 * element is that of the rows. Where a thread has whole groups it takes whole rows. */
static void add_range(void *arg, int64_t begin, int64_t end, int part) {
    const rows_run *r = arg;
    const mxci_rows *rows = r->rows;
    int64_t where[MXCI_TILE], columns, groups;
    (void)part;
    for (int64_t unit = begin; unit < end; unit += columns * groups) {
        int64_t first = unit % rows->length, row = unit / rows->length * rows->count, last;
        columns = smaller(rows->length - first, end - unit);
        groups = columns == rows->length ? (end - unit) / columns : 1;
        last = row + groups * rows->count;
        for (int64_t n; row < last; row += n) {
            n = smaller(last - row, MXCI_TILE);
            rows->find(rows, row, n, where);
            for (int64_t k = 0; k < n; k++)
                add_elements(r, (row + k) * rows->length + first, where[k] + first, columns);
        }
    }
}

static int has_narrow_sums(mxc_dtype dtype) {
    return dtype == MXC_F16 || dtype == MXC_BF16;
}

size_t mxci_rows_temp(const mxc_shape *array, mxc_dtype dtype) {
    return has_narrow_sums(dtype) ? mxci_shape_bytes(array, sizeof(float)) : 0;
}

void mxci_rows_add(const mxc_run *run, mxc_req req, const mxc_tensor *array, const mxci_rows *rows,
                   const mxc_tensor *from, void *temp) {
    mxc_tensor sums = *array;
    rows_run r = {rows, req, &sums, from};
    int wide = has_narrow_sums(array->dtype);
    if (req == MXC_REQ_NULL)
        return;
    if (wide) {
        sums.dtype = MXC_F32;
        sums.data = temp;
    }
    if (wide || req != MXC_REQ_ADD)
        mxci_assign_constant(run, MXC_REQ_WRITE, &sums, 0);
    mxc_parallel_for(run, rows->groups * rows->length, MXCI_GRAIN / (rows->count + 1) + 1, add_range, &r);
    if (wide)
        mxci_assign_cast(run, req, array, &sums);
}

/* ---- replacing --------------------------------------------------------------------------------------------------- */

typedef struct replace_run {
    mxc_req req;
    const mxc_tensor *to, *old, *from;
    int64_t length, *last; /* last[i]: the row of from that replaces row i, -1 for none */
} replace_run;

size_t mxci_rows_replace_temp(int64_t rows) {
    return mxci_size_of(rows, sizeof(int64_t));
}

/* Rows begin..end-1 of the result. */
static void replace_range(void *arg, int64_t begin, int64_t end, int part) {
    const replace_run *r = arg;
    const mxc_dtype dtype = r->to->dtype;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        void *to = mxci_at(r->to, i * r->length);
        const void *from = r->last[i] < 0 ? mxci_at(r->old, i * r->length)
                           : r->from      ? mxci_at(r->from, r->last[i] * r->length)
                                          : NULL;
        if (from && (from != to || r->req == MXC_REQ_ADD))
            mxci_assign_row(r->req, dtype, to, from, r->length);
        else if (!from && r->req != MXC_REQ_ADD)
            memset(to, 0, (size_t)r->length * mxc_dtype_size(dtype));
    }
}

/* The last row for each place is found first, in order, so that the copies can be made in any order. */
void mxci_rows_replace(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *old,
                       const mxci_rows *rows, const mxc_tensor *from, void *temp) {
    replace_run r = {.req = req, .to = to, .old = old, .from = from, .length = rows->length, .last = temp};
    const int64_t n = rows->length > 0 ? mxci_tensor_size(to) / rows->length : 0;
    int64_t where[MXCI_TILE];
    if (req == MXC_REQ_NULL || n == 0)
        return;
    for (int64_t i = 0; i < n; i++)
        r.last[i] = -1;
    for (int64_t first = 0; first < rows->count; first += MXCI_TILE) {
        const int64_t count = smaller(rows->count - first, MXCI_TILE);
        rows->find(rows, first, count, where);
        for (int64_t k = 0; k < count; k++)
            r.last[where[k] / rows->length] = first + k;
    }
    mxc_parallel_for(run, n, MXCI_GRAIN / rows->length + 1, replace_range, &r);
}
