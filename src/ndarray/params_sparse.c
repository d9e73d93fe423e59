/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse records of .params files, made dense. In the file: per index array i32 type and shape, then the stored data,
 * then the index arrays.
 *   row_sparse  data (R, ...rest) and R ascending row numbers: row i of the data is row rows[i] of the array
 *   csr         data (Z), offsets (rows + 1) and Z column numbers, ascending within each row
 */
#include <string.h>

#include "ndarray/array.h"
#include "ndarray/array_list.h"
#include "ndarray/params_format.h"

/* The sparse arrays of a file may expand to EXPAND bytes for each byte of the file, within these bounds. */
#define EXPAND 64
#define EXPANDED_MIN ((uint64_t)1 << 24)
#define EXPANDED_MAX ((uint64_t)1 << 30)

/* One index array, converted to 64 bits. */
typedef struct index_array {
    mxc_dtype dtype;
    int64_t count;
    int64_t *values;
} index_array;

static mxc_status read_index_shape(mxci_byte_source *source, index_array *index) {
    int64_t at = source->at;
    mxc_shape shape;
    MXC_TRY(mxci_params_dtype(source, "index array", &index->dtype));
    if (index->dtype != MXC_I32 && index->dtype != MXC_I64)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "index array of type %s, expected int32 or int64",
                                     mxc_dtype_name(index->dtype));
    MXC_TRY(mxci_params_shape(source, "index array", 0, &shape));
    if (shape.ndim != 1)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "index array with %d axes, expected 1", (int)shape.ndim);
    index->count = shape.dim[0];
    return MXC_OK;
}

/* Read count numbers; the caller has checked that the file holds them. */
static mxc_status read_index(mxci_byte_source *source, index_array *index) {
    size_t n = (size_t)index->count, width = mxc_dtype_size(index->dtype);
    int32_t *narrow;
    index->values = mxci_realloc_array(NULL, n, sizeof *index->values);
    if (!index->values)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %zu indices", source->name, n);
    narrow = (int32_t *)index->values +
             n; /* the upper half, so that converting from the front overwrites none that is still to be read */
    if (width == sizeof(int64_t))
        return mxci_byte_source_read(source, "index array", index->values, n * width);
    MXC_TRY(mxci_byte_source_read(source, "index array", narrow, n * width));
    for (size_t i = 0; i < n; i++) {
        int32_t value;
        memcpy(&value, narrow + i, sizeof value);
        memcpy(index->values + i, &(int64_t){value}, sizeof(int64_t));
    }
    return MXC_OK;
}

/* Bytes of all that follows the shapes: MXC_EFORMAT if more than what is left. */
static mxc_status check_left(mxci_byte_source *source, size_t data_bytes, int n, const index_array *index) {
    uint64_t left = (uint64_t)mxci_byte_source_left(source);
    int fits = data_bytes <= left;
    left -= fits ? data_bytes : 0;
    for (int i = 0; i < n && fits; i++) {
        fits = (uint64_t)index[i].count <= left / mxc_dtype_size(index[i].dtype);
        left -= fits ? (uint64_t)index[i].count * mxc_dtype_size(index[i].dtype) : 0;
    }
    if (!fits)
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT,
                                     "truncated: a sparse array of %zu bytes and its indices, but %lld bytes are left",
                                     data_bytes, (long long)mxci_byte_source_left(source));
    return MXC_OK;
}

/* ---- row_sparse -------------------------------------------------------------------------------------------------- */

/* The stored shape is (R, ...rest of the array's shape), and there are R row numbers. */
static mxc_status check_rows_shape(mxci_byte_source *source, const mxci_params_record *r, const index_array *rows) {
    char stored[MXC_SHAPE_TEXT], shape[MXC_SHAPE_TEXT];
    mxc_shape expected = r->shape;
    expected.dim[0] = r->stored.ndim > 0 ? r->stored.dim[0] : 0;
    if (!mxc_shape_equal(&expected, &r->stored) || r->stored.dim[0] != rows->count)
        return MXCI_BYTE_SOURCE_FAIL(source, r->at, MXC_EFORMAT,
                                     "row_sparse array of shape %s stores %s with %lld row numbers",
                                     mxc_shape_format(&r->shape, shape, sizeof shape),
                                     mxc_shape_format(&r->stored, stored, sizeof stored), (long long)rows->count);
    return MXC_OK;
}

static mxc_status check_rows(mxci_byte_source *source, int64_t at, const index_array *rows, int64_t limit) {
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->values[i] < (i ? rows->values[i - 1] + 1 : 0) || rows->values[i] >= limit)
            return MXCI_BYTE_SOURCE_FAIL(source, at + i * (int64_t)mxc_dtype_size(rows->dtype), MXC_EFORMAT,
                                         "row number %lld at index %lld: expected ascending numbers below %lld",
                                         (long long)rows->values[i], (long long)i, (long long)limit);
    return MXC_OK;
}

/* source->at is at the data; the row numbers follow it. dense is zero. */
static mxc_status fill_rows(mxci_byte_source *source, const mxci_params_record *r, size_t data_bytes, index_array *rows,
                            char *dense) {
    int64_t data_at = source->at, end;
    size_t row_bytes = rows->count ? data_bytes / (size_t)rows->count : 0;
    source->at += (int64_t)data_bytes;
    MXC_TRY(read_index(source, rows));
    end = source->at;
    MXC_TRY(check_rows(source, data_at + (int64_t)data_bytes, rows, r->shape.dim[0]));
    source->at = data_at;
    for (int64_t i = 0; i < rows->count && row_bytes; i++)
        MXC_TRY(mxci_byte_source_read(source, "row", dense + (size_t)rows->values[i] * row_bytes, row_bytes));
    source->at = end;
    return MXC_OK;
}

/* ---- csr --------------------------------------------------------------------------------------------------------- */

static mxc_status check_csr_shape(mxci_byte_source *source, const mxci_params_record *r, const index_array index[2]) {
    char shape[MXC_SHAPE_TEXT];
    int64_t stored = r->stored.ndim == 1 ? r->stored.dim[0] : -1;
    if (r->shape.ndim != 2 || stored < 0 || index[0].count - 1 != r->shape.dim[0] || index[1].count != stored)
        return MXCI_BYTE_SOURCE_FAIL(source, r->at, MXC_EFORMAT,
                                     "csr array of shape %s stores %lld values with %lld offsets and %lld columns",
                                     mxc_shape_format(&r->shape, shape, sizeof shape), (long long)stored,
                                     (long long)index[0].count, (long long)index[1].count);
    return MXC_OK;
}

/* Offsets ascend from 0 to the number of values; columns ascend within each row. at: of the offsets. */
static mxc_status check_csr(mxci_byte_source *source, int64_t at, const index_array index[2], int64_t columns) {
    const int64_t *offset = index[0].values, *column = index[1].values;
    int64_t rows = index[0].count - 1, values = index[1].count;
    if (offset[0] != 0 || offset[rows] != values)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "csr offsets run from %lld to %lld, expected 0 to %lld",
                                     (long long)offset[0], (long long)offset[rows], (long long)values);
    for (int64_t i = 0; i < rows; i++) {
        if (offset[i] > offset[i + 1] || offset[i + 1] > values)
            return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "csr offsets of row %lld run from %lld to %lld",
                                         (long long)i, (long long)offset[i], (long long)offset[i + 1]);
        for (int64_t j = offset[i]; j < offset[i + 1]; j++)
            if (column[j] < (j > offset[i] ? column[j - 1] + 1 : 0) || column[j] >= columns)
                return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT,
                                             "csr row %lld has column %lld: expected ascending numbers below %lld",
                                             (long long)i, (long long)column[j], (long long)columns);
    }
    return MXC_OK;
}

/* Read the values through a small buffer and store them in the dense array. source->at is at the first value. */
static mxc_status scatter_values(mxci_byte_source *source, const mxci_params_record *r, const index_array index[2],
                                 char *dense) {
    char buffer[4096];
    size_t element = mxc_dtype_size(r->dtype);
    int64_t values = index[1].count, columns = r->shape.dim[1], row = 0;
    for (int64_t at = 0, n; at < values; at += n) {
        n = values - at < (int64_t)(sizeof buffer / element) ? values - at : (int64_t)(sizeof buffer / element);
        MXC_TRY(mxci_byte_source_read(source, "values", buffer, (size_t)n * element));
        for (int64_t j = 0; j < n; j++) {
            while (index[0].values[row + 1] <= at + j)
                row++;
            memcpy(dense + (size_t)(row * columns + index[1].values[at + j]) * element, buffer + (size_t)j * element,
                   element);
        }
    }
    return MXC_OK;
}

static mxc_status fill_csr(mxci_byte_source *source, const mxci_params_record *r, size_t data_bytes,
                           index_array index[2], char *dense) {
    int64_t data_at = source->at, index_at = data_at + (int64_t)data_bytes, end;
    source->at = index_at;
    MXC_TRY(read_index(source, &index[0]));
    MXC_TRY(read_index(source, &index[1]));
    end = source->at;
    MXC_TRY(check_csr(source, index_at, index, r->shape.dim[1]));
    source->at = data_at;
    MXC_TRY(scatter_values(source, r, index, dense));
    source->at = end;
    return MXC_OK;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* A zero array, if that stays within the limit for the whole file. */
static mxc_status dense_array(mxci_params_reader *reader, const mxci_params_record *r, mxc_ndarray **out, char **data) {
    uint64_t size = (uint64_t)reader->source->size;
    uint64_t limit = size >= EXPANDED_MAX / EXPAND  ? EXPANDED_MAX
                     : size * EXPAND > EXPANDED_MIN ? size * EXPAND
                                                    : EXPANDED_MIN;
    mxc_status status;
    void *memory = NULL;
    if (r->bytes > limit || reader->expanded + r->bytes > limit)
        return MXCI_BYTE_SOURCE_FAIL(reader->source, r->at, MXC_EFORMAT,
                                     "sparse arrays expand to more than %llu bytes with this one of %zu",
                                     (unsigned long long)limit, r->bytes);
    reader->expanded += r->bytes;
    MXC_TRY(mxci_ndarray_new(reader->source->name, &r->shape, r->dtype, mxc_cpu(0), out));
    status = mxci_array_data(*out, &memory);
    *data = memory;
    if (memory)
        memset(memory, 0, r->bytes);
    return status;
}

/* Everything behind the index arrays' shapes. */
static mxc_status read_parts(mxci_params_reader *reader, const mxci_params_record *r, index_array index[2],
                             mxc_ndarray **out) {
    mxci_byte_source *source = reader->source;
    int csr = r->storage == MXCI_CSR;
    size_t data_bytes = 0;
    char *dense = NULL;
    MXC_TRY(csr ? check_csr_shape(source, r, index) : check_rows_shape(source, r, &index[0]));
    MXC_TRY(mxci_params_bytes(source, r->at, &r->stored, r->dtype, &data_bytes));
    MXC_TRY(check_left(source, data_bytes, csr ? 2 : 1, index));
    MXC_TRY(dense_array(reader, r, out, &dense));
    return csr ? fill_csr(source, r, data_bytes, index, dense) : fill_rows(source, r, data_bytes, &index[0], dense);
}

mxc_status mxci_params_read_sparse(mxci_params_reader *reader, const mxci_params_record *r, mxc_ndarray **out) {
    index_array index[2] = {{MXC_I64, 0, NULL}, {MXC_I64, 0, NULL}};
    mxc_status status = MXC_OK;
    for (int i = 0; i < r->storage && status == MXC_OK; i++) /* row_sparse (1) has one index array, csr (2) two */
        status = read_index_shape(reader->source, &index[i]);
    if (status == MXC_OK)
        status = read_parts(reader, r, index, out);
    mxci_free(index[0].values);
    mxci_free(index[1].values);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}
