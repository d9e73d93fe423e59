/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse arrays as front ends see them: of type row_sparse (rows that are stored, and their indices) or csr. Behind the
 * handle is a dense array, which the operators compute with; the handle says which type the front end has it for. What
 * is stored are the rows or elements that are not 0, found when the front end asks.
 */
#include "compat/sparse.h"

#include <string.h>

enum { DATA, FIRST, SECOND }; /* parts: data; indices of rows, or row pointers; indices of columns */

/* ---- from parts to a dense array --------------------------------------------------------------------------------- */

/* Parts that the front end sets one after the other. */
struct mxnet_parts {
    mxc_ndarray *array[3];
    char *fault; /* what is wrong with them; NULL: nothing */
};

void mxnet_parts_free(mxnet_parts *parts) {
    for (int i = 0; parts && i < 3; i++)
        mxc_ndarray_release(parts->array[i]);
    if (parts)
        mxnet_free(parts->fault);
    mxnet_free(parts);
}

int MXNDArrayCreateSparseEx64(int storage_type, const int64_t *shape, int ndim, int dev_type, int dev_id,
                              int delay_alloc, int dtype, uint32_t num_aux, int *aux_type, int *aux_ndims,
                              const int64_t *aux_shape, NDArrayHandle *out) {
    (void)num_aux, (void)aux_type, (void)aux_ndims, (void)aux_shape; /* follow from the contents */
    if (storage_type != MXNET_ROW_SPARSE && storage_type != MXNET_CSR)
        return mxnet_fail("storage type %d is none of 1 (row_sparse), 2 (csr)", storage_type);
    if (ndim < 1 || (storage_type == MXNET_CSR && ndim != 2))
        return mxnet_fail("an array of type %s cannot have %d axes", storage_type == MXNET_CSR ? "csr" : "row_sparse",
                          ndim);
    MXNET_CALL(MXNDArrayCreateEx64(shape, ndim, dev_type, dev_id, delay_alloc, dtype, out));
    mxnet_ndarray *handle = *out;
    if (mxnet_result(mxc_ndarray_fill(handle->array, 0))) {
        MXNDArrayFree(handle);
        *out = NULL;
        return -1;
    }
    handle->storage = storage_type;
    return 0;
}

int MXNDArrayCreateSparseEx(int storage_type, const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id,
                            int delay_alloc, int dtype, uint32_t num_aux, int *aux_type, uint32_t *aux_ndims,
                            const uint32_t *aux_shape, NDArrayHandle *out) {
    int64_t dims[MXC_MAX_NDIM];
    (void)aux_ndims, (void)aux_shape;
    if (ndim > MXC_MAX_NDIM)
        return mxnet_fail("an array of %u axes: libmxc has at most %d", ndim, MXC_MAX_NDIM);
    for (uint32_t i = 0; i < ndim; i++)
        dims[i] = shape[i];
    return MXNDArrayCreateSparseEx64(storage_type, dims, (int)ndim, dev_type, dev_id, delay_alloc, dtype, num_aux,
                                     aux_type, NULL, NULL, out);
}

/* The contents of an array in a type; NULL with a message. The caller frees them. */
static void *read_as(mxc_ndarray *array, mxc_dtype dtype) {
    size_t bytes = (size_t)mxc_shape_size(mxc_ndarray_shape(array)) * mxc_dtype_size(dtype);
    mxc_ndarray *copy;
    void *out = mxnet_alloc(bytes ? bytes : 1, 1);
    if (!out)
        return NULL;
    mxc_status status = mxc_ndarray_copy(array, mxc_cpu(0), dtype, &copy);
    if (status == MXC_OK) {
        status = mxc_ndarray_get(copy, out, bytes);
        mxc_ndarray_release(copy);
    }
    if (status == MXC_OK)
        return out;
    mxnet_free(out);
    mxnet_result(status);
    return NULL;
}

/* Indices from begin to end: ascending, each below the limit. */
static const char *check_indices(const int64_t *indices, int64_t begin, int64_t end, int64_t limit) {
    for (int64_t i = begin; i < end; i++) {
        if (indices[i] < 0 || indices[i] >= limit)
            return "an index is out of range";
        if (i > begin && indices[i] <= indices[i - 1])
            return "indices are not in ascending order";
    }
    return NULL;
}

static int64_t size_of(mxc_ndarray *array) {
    return mxc_shape_size(mxc_ndarray_shape(array));
}

/* Stored rows of row bytes each go to their places. */
static const char *place_rows(const mxnet_parts *p, const mxc_shape *shape, size_t row, const char *data,
                              const int64_t *indices, char *out) {
    const int64_t n = size_of(p->array[FIRST]);
    const mxc_shape *stored = mxc_ndarray_shape(p->array[DATA]);
    const char *fault = check_indices(indices, 0, n, shape->dim[0]);
    if (!fault && (stored->ndim < 1 || stored->dim[0] != n))
        fault = "there are not as many rows as indices";
    if (!fault && n && size_of(p->array[DATA]) * shape->dim[0] != n * mxc_shape_size(shape))
        fault = "the rows do not have the array's shape";
    for (int64_t i = 0; i < n && !fault; i++)
        memcpy(out + (size_t)indices[i] * row, data + (size_t)i * row, row);
    return fault;
}

/* Stored elements of size bytes each go to their places. */
static const char *place_elements(const mxnet_parts *p, const mxc_shape *shape, size_t size, const char *data,
                                  const int64_t *rows, const int64_t *columns, char *out) {
    const int64_t n = size_of(p->array[DATA]), n_rows = shape->dim[0], n_columns = shape->dim[1];
    if (size_of(p->array[FIRST]) != n_rows + 1 || rows[0] != 0 || rows[n_rows] != n)
        return "indptr does not go from 0 to the number of elements";
    if (size_of(p->array[SECOND]) != n)
        return "there are not as many elements as indices";
    for (int64_t i = 0; i < n_rows; i++) {
        if (rows[i + 1] < rows[i] || rows[i + 1] > n)
            return "indptr is not in ascending order";
        const char *fault = check_indices(columns, rows[i], rows[i + 1], n_columns);
        if (fault)
            return fault;
        for (int64_t k = rows[i]; k < rows[i + 1]; k++)
            memcpy(out + (size_t)(i * n_columns + columns[k]) * size, data + (size_t)k * size, size);
    }
    return NULL;
}

/* Makes the dense array of all parts. Those that do not fit leave it as it is until they are checked. */
static int assemble(mxnet_ndarray *to) {
    mxnet_parts *p = to->parts;
    const mxc_shape *shape = mxc_ndarray_shape(to->array);
    const mxc_dtype dtype = mxc_ndarray_dtype(to->array);
    const size_t size = mxc_dtype_size(dtype), bytes = mxc_ndarray_bytes(to->array);
    char *data = read_as(p->array[DATA], dtype), *out = mxnet_alloc(bytes ? bytes : 1, 1);
    int64_t *first = read_as(p->array[FIRST], MXC_I64);
    int64_t *second = to->storage == MXNET_CSR ? read_as(p->array[SECOND], MXC_I64) : first;
    int result = data && out && first && second ? 0 : -1;
    if (!result) {
        const char *fault =
            to->storage == MXNET_CSR
                ? place_elements(p, shape, size, data, first, second, out)
                : place_rows(p, shape, shape->dim[0] ? bytes / (size_t)shape->dim[0] : 0, data, first, out);
        mxnet_free(p->fault);
        p->fault = fault ? mxnet_copy_text(fault) : NULL;
        if (!fault)
            result = mxnet_result(mxc_ndarray_set(to->array, out, bytes));
    }
    mxnet_free(data);
    mxnet_free(out);
    mxnet_free(first);
    if (second != first)
        mxnet_free(second);
    return result;
}

int mxnet_sparse_set_part(mxnet_ndarray *to, mxc_ndarray *from, int i) {
    const int n_parts = to->storage == MXNET_CSR ? 3 : 2;
    if (i < -1 || i + 1 >= n_parts)
        return mxnet_fail("the array has no part %d", i);
    if (!to->parts)
        to->parts = mxnet_alloc(1, sizeof *to->parts);
    if (!to->parts)
        return -1;
    mxc_ndarray *copy;
    MXNET_TRY(mxc_ndarray_copy(from, mxc_ndarray_context(from), mxc_ndarray_dtype(from), &copy));
    mxc_ndarray_release(to->parts->array[i + 1]);
    to->parts->array[i + 1] = copy;
    for (int k = 0; k < n_parts; k++)
        if (!to->parts->array[k])
            return 0;
    return assemble(to);
}

int MXNDArraySyncCheckFormat(NDArrayHandle handle, const bool full_check) {
    const mxnet_ndarray *array = handle;
    (void)full_check;
    MXNET_NEED(handle);
    if (array->parts && array->parts->fault)
        return mxnet_fail("the sparse array is malformed: %s", array->parts->fault);
    return 0;
}

/* ---- from a dense array to parts --------------------------------------------------------------------------------- */

/* A dense array in the host's memory, by rows of n elements of size bytes. */
typedef struct scan {
    char *data;
    int64_t n_rows, n;
    size_t size;
} scan;

static int scan_array(mxc_ndarray *array, scan *out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    out->n_rows = shape->dim[0];
    out->n = shape->dim[0] ? mxc_shape_size(shape) / shape->dim[0] : 0;
    out->size = mxc_dtype_size(mxc_ndarray_dtype(array));
    out->data = read_as(array, mxc_ndarray_dtype(array));
    return out->data ? 0 : -1;
}

static int is_stored(const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return 1;
    return 0;
}

/* A new array beside `like`, of contents that are given. */
static int give(mxc_ndarray *like, int ndim, const int64_t *dims, mxc_dtype dtype, const void *data,
                NDArrayHandle *out) {
    mxc_ndarray *made;
    MXNET_TRY(mxc_ndarray_create(ndim, dims, dtype, mxc_ndarray_context(like), &made));
    mxc_status status = mxc_ndarray_set(made, data, mxc_ndarray_bytes(made));
    if (status != MXC_OK) {
        mxc_ndarray_release(made);
        return mxnet_result(status);
    }
    return mxnet_ndarray_new(made, out);
}

/* The parts of rows: data, or indices. */
static int give_rows(mxc_ndarray *array, const scan *s, int part, NDArrayHandle *out) {
    const size_t row = (size_t)s->n * s->size;
    mxc_shape shape = *mxc_ndarray_shape(array);
    int64_t *indices = mxnet_alloc((size_t)s->n_rows + 1, sizeof *indices), n = 0;
    if (!indices)
        return -1;
    for (int64_t i = 0; i < s->n_rows; i++)
        if (is_stored(s->data + (size_t)i * row, row)) {
            memmove(s->data + (size_t)n * row, s->data + (size_t)i * row, row);
            indices[n++] = i;
        }
    shape.dim[0] = n;
    int result = part == DATA ? give(array, shape.ndim, shape.dim, mxc_ndarray_dtype(array), s->data, out)
                              : give(array, 1, &n, MXC_I64, indices, out);
    mxnet_free(indices);
    return result;
}

/* The parts of a matrix: data, row pointers, or columns. */
static int give_elements(mxc_ndarray *array, const scan *s, int part, NDArrayHandle *out) {
    const int64_t n_pointers = s->n_rows + 1;
    int64_t *pointers = mxnet_alloc((size_t)n_pointers, sizeof *pointers), n = 0;
    int64_t *columns = mxnet_alloc((size_t)(s->n_rows * s->n) + 1, sizeof *columns);
    int result = pointers && columns ? 0 : -1;
    for (int64_t i = 0; i < s->n_rows && !result; i++) {
        for (int64_t k = 0; k < s->n; k++) {
            const char *from = s->data + (size_t)(i * s->n + k) * s->size;
            if (!is_stored(from, s->size))
                continue;
            memmove(s->data + (size_t)n * s->size, from, s->size);
            columns[n++] = k;
        }
        pointers[i + 1] = n;
    }
    if (!result)
        result = part == DATA    ? give(array, 1, &n, mxc_ndarray_dtype(array), s->data, out)
                 : part == FIRST ? give(array, 1, &n_pointers, MXC_I64, pointers, out)
                                 : give(array, 1, &n, MXC_I64, columns, out);
    mxnet_free(pointers);
    mxnet_free(columns);
    return result;
}

static int get_part(NDArrayHandle handle, int part, NDArrayHandle *out) {
    mxc_ndarray *array = mxnet_array(handle);
    const mxnet_ndarray *from = handle;
    scan s;
    MXNET_NEED(out);
    if (!array)
        return -1;
    if (from->storage == MXNET_DENSE || part < DATA || part > (from->storage == MXNET_CSR ? SECOND : FIRST))
        return mxnet_fail("the array has no part %d", part - 1);
    MXNET_CALL(scan_array(array, &s));
    int result = from->storage == MXNET_CSR ? give_elements(array, &s, part, out) : give_rows(array, &s, part, out);
    mxnet_free(s.data);
    return result;
}

int MXNDArrayGetDataNDArray(NDArrayHandle handle, NDArrayHandle *out) {
    return get_part(handle, DATA, out);
}

int MXNDArrayGetAuxNDArray64(NDArrayHandle handle, int64_t i, NDArrayHandle *out) {
    return get_part(handle, i < 0 || i > 1 ? -1 : (int)i + FIRST, out);
}

int MXNDArrayGetAuxNDArray(NDArrayHandle handle, uint32_t i, NDArrayHandle *out) {
    return MXNDArrayGetAuxNDArray64(handle, i, out);
}

int MXNDArrayGetAuxType64(NDArrayHandle handle, int64_t i, int *out_type) {
    const mxnet_ndarray *array = handle;
    MXNET_NEED(handle);
    MXNET_NEED(out_type);
    if (i < 0 || i >= array->storage)
        return mxnet_fail("the array has no part %lld", (long long)i);
    *out_type = MXC_I64;
    return 0;
}

int MXNDArrayGetAuxType(NDArrayHandle handle, uint32_t i, int *out_type) {
    return MXNDArrayGetAuxType64(handle, i, out_type);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* keep[i] is 1 for the rows that a list of indices names. */
static int mark_rows(mxc_ndarray *indices, int64_t n_rows, char *keep) {
    const int64_t n = size_of(indices);
    int64_t *rows = read_as(indices, MXC_I64);
    int result = rows ? 0 : -1;
    for (int64_t i = 0; i < n && !result; i++) {
        if (rows[i] < 0 || rows[i] >= n_rows)
            result = mxnet_fail("row %lld of an array with %lld rows", (long long)rows[i], (long long)n_rows);
        else
            keep[rows[i]] = 1;
    }
    mxnet_free(rows);
    return result;
}

int mxnet_sparse_retain(mxc_ndarray *from, mxc_ndarray *indices, mxc_ndarray *to) {
    const mxc_shape *shape = mxc_ndarray_shape(from);
    scan s;
    if (shape->ndim < 1 || !mxc_shape_equal(shape, mxc_ndarray_shape(to)))
        return mxnet_fail("retaining rows: the arrays have different shapes");
    MXNET_CALL(scan_array(from, &s));
    char *keep = mxnet_alloc((size_t)s.n_rows + 1, 1);
    int result = keep ? mark_rows(indices, s.n_rows, keep) : -1;
    const size_t row = (size_t)s.n * s.size;
    for (int64_t i = 0; i < s.n_rows && !result; i++)
        if (!keep[i])
            memset(s.data + (size_t)i * row, 0, row);
    if (!result)
        result = mxnet_result(mxc_ndarray_set(to, s.data, mxc_ndarray_bytes(to)));
    mxnet_free(keep);
    mxnet_free(s.data);
    return result;
}

/* ---- storage types of results ------------------------------------------------------------------------------------ */

/* Operators of one sparse array, some with a scalar, that leave zeros zero. */
static const char *const unary[] = {
    "abs",
    "sign",
    "round",
    "rint",
    "ceil",
    "floor",
    "fix",
    "square",
    "sqrt",
    "cbrt",
    "sin",
    "tan",
    "arcsin",
    "arctan",
    "degrees",
    "radians",
    "sinh",
    "tanh",
    "arcsinh",
    "arctanh",
    "expm1",
    "log1p",
    "relu",
    "negative",
    "_copy",
    "_copyto",
    "clip",
    "_mul_scalar",
    "_div_scalar",
    "_sparse_retain",
    "BlockGrad",
    "make_loss",
    "zeros_like",
    "slice",
    "_contrib_round_ste",
    "_contrib_sign_ste",
};
/* Those of several arrays that are sparse where all are of the one type. */
static const struct {
    const char *name;
    int row_sparse, csr;
} all_alike[] = {
    {"elemwise_add", 1, 1}, {"elemwise_sub", 1, 1}, {"_grad_add", 1, 1}, {"add_n", 1, 0}, {"Concat", 0, 1},
};

static int storage_of(NDArrayHandle handle) {
    const mxnet_ndarray *array = handle;
    return array ? array->storage : MXNET_DENSE;
}

static int is_true(const char *value) {
    return value && (!strcmp(value, "True") || !strcmp(value, "true") || !strcmp(value, "1"));
}

static const char *value_of(const char *key, int n, const char *const *keys, const char *const *values) {
    for (int i = 0; i < n; i++)
        if (!strcmp(keys[i], key))
            return values[i];
    return NULL;
}

int mxnet_storage_number(const char *name) {
    return !name || !strcmp(name, "default") ? MXNET_DENSE
           : !strcmp(name, "row_sparse")     ? MXNET_ROW_SPARSE
           : !strcmp(name, "csr")            ? MXNET_CSR
                                             : -1;
}

/* The product with a transposed csr matrix has the rows that the matrix has columns for. */
static int dot_storage(const int *in, int n, const char *const *keys, const char *const *values) {
    const char *wanted = value_of("forward_stype", n, keys, values);
    if (wanted && mxnet_storage_number(wanted) >= 0)
        return mxnet_storage_number(wanted);
    if (in[0] == MXNET_CSR && is_true(value_of("transpose_a", n, keys, values)))
        return MXNET_ROW_SPARSE;
    return in[0] == MXNET_DENSE && in[1] == MXNET_CSR ? MXNET_CSR : MXNET_DENSE;
}

/* The sign of a number in decimal digits; NULL: 0. */
static int sign_of(const char *number) {
    const int is_negative = number && *number == '-';
    for (; number && *number && *number != 'e' && *number != 'E'; number++)
        if (*number >= '1' && *number <= '9')
            return is_negative ? -1 : 1;
    return 0;
}

/* 1 for comparisons with a scalar that are false for 0. */
static int compares_zero_false(const char *name, int sign) {
    return (!strcmp(name, "_greater_scalar") && sign >= 0) || (!strcmp(name, "_lesser_scalar") && sign <= 0) ||
           (!strcmp(name, "_greater_equal_scalar") && sign > 0) ||
           (!strcmp(name, "_lesser_equal_scalar") && sign < 0) || (!strcmp(name, "_equal_scalar") && sign != 0) ||
           (!strcmp(name, "_not_equal_scalar") && sign == 0);
}

/* Of a sparse array and one that is dense, or of the other type. */
static int product_storage(const char *name, const int *in) {
    if (!strcmp(name, "elemwise_mul"))
        return in[0] == MXNET_DENSE ? in[1] : in[1] == MXNET_DENSE || in[0] == in[1] ? in[0] : MXNET_DENSE;
    if (!strcmp(name, "broadcast_mul") || !strcmp(name, "broadcast_div"))
        return in[0] == MXNET_CSR && in[1] == MXNET_DENSE ? MXNET_CSR : MXNET_DENSE;
    return MXNET_DENSE;
}

static int unary_storage(const char *name, int in, int n, const char *const *keys, const char *const *values) {
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        if (!strcmp(name, unary[i]))
            return in;
    if (!strcmp(name, "_square_sum") && is_true(value_of("keepdims", n, keys, values)))
        return in;
    return compares_zero_false(name, sign_of(value_of("scalar", n, keys, values))) ? in : MXNET_DENSE;
}

int mxnet_storage_of_result(const mxnet_op *op, int n_in, NDArrayHandle const *inputs, int n, const char *const *keys,
                            const char *const *values) {
    const char *name = op->mxc_name;
    int in[2] = {n_in > 0 ? storage_of(inputs[0]) : MXNET_DENSE, n_in > 1 ? storage_of(inputs[1]) : MXNET_DENSE};
    int alike = 1;
    if (strstr(op->name, "cast_storage")) {
        int storage = mxnet_storage_number(value_of("stype", n, keys, values));
        return storage < 0 ? MXNET_DENSE : storage;
    }
    if (in[0] == MXNET_DENSE && in[1] == MXNET_DENSE)
        return MXNET_DENSE;
    if (n_in == 1 || !strcmp(name, "_sparse_retain"))
        return unary_storage(name, in[0], n, keys, values);
    if (n_in == 2 && !strcmp(name, "dot"))
        return dot_storage(in, n, keys, values);
    for (int i = 1; i < n_in; i++)
        alike &= storage_of(inputs[i]) == in[0];
    for (size_t i = 0; i < sizeof all_alike / sizeof *all_alike && alike; i++)
        if (!strcmp(name, all_alike[i].name) && (in[0] == MXNET_CSR ? all_alike[i].csr : all_alike[i].row_sparse))
            return in[0];
    return n_in == 2 ? product_storage(name, in) : MXNET_DENSE;
}

/* ---- updates of the rows that a gradient has --------------------------------------------------------------------- */

int mxnet_updates_rows(const mxnet_op *op, int n_in, NDArrayHandle const *inputs, int n, const char *const *keys,
                       const char *const *values) {
    const char *lazy = value_of("lazy_update", n, keys, values);
    if (n_in < 2 || n_in > MXNET_MAX_UPDATED || storage_of(inputs[1]) != MXNET_ROW_SPARSE)
        return 0;
    if (!strcmp(op->mxc_name, "ftrl_update"))
        return storage_of(inputs[0]) == MXNET_ROW_SPARSE;
    return (!lazy || is_true(lazy)) &&
           (!strcmp(op->mxc_name, "sgd_update") || !strcmp(op->mxc_name, "sgd_mom_update") ||
            !strcmp(op->mxc_name, "adam_update"));
}

/* Rows of `now` where the gradient has none get what they had before. */
static int restore_rows(mxc_ndarray *now, mxc_ndarray *before, const scan *grad) {
    const size_t row = (size_t)grad->n * grad->size;
    scan new = {0}, old = {0};
    int result = scan_array(now, &new) || scan_array(before, &old) ? -1 : 0;
    if (!result && (new.n_rows != grad->n_rows || new.n != grad->n))
        result = mxnet_fail("the weight's shape is not that of its gradient");
    for (int64_t i = 0; i < grad->n_rows && !result; i++)
        if (!is_stored(grad->data + (size_t)i * row, row)) {
            const size_t bytes = (size_t) new.n *new.size;
            memcpy(new.data + (size_t)i *bytes, old.data + (size_t)i * bytes, bytes);
        }
    if (!result)
        result = mxnet_result(mxc_ndarray_set(now, new.data, mxc_ndarray_bytes(now)));
    mxnet_free(new.data);
    mxnet_free(old.data);
    return result;
}

int mxnet_update_begin(int n_in, mxc_ndarray *const *in, mxc_ndarray **before) {
    memset(before, 0, MXNET_MAX_UPDATED * sizeof *before);
    for (int i = 0; i < n_in; i++)
        if (i != 1)
            MXNET_TRY(mxc_ndarray_copy(in[i], mxc_ndarray_context(in[i]), mxc_ndarray_dtype(in[i]), &before[i]));
    return 0;
}

int mxnet_update_end(int result, int n_in, mxc_ndarray *const *in, mxc_ndarray **before) {
    scan grad = {0};
    if (!result)
        result = scan_array(in[1], &grad);
    for (int i = 0; i < n_in; i++) {
        if (!result && i != 1)
            result = restore_rows(in[i], before[i], &grad);
        mxc_ndarray_release(before[i]);
    }
    mxnet_free(grad.data);
    return result;
}
