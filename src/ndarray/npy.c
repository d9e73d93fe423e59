/* SPDX-License-Identifier: Apache-2.0 */
/* .npy: "\x93NUMPY", two bytes of version, the header's length (u16; from version 2 on u32), the header, the data. */
#include "ndarray/npy.h"

#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"

enum { HEADER_LIMIT = 1 << 16, CHUNK = 1 << 16 };

/* ---- reading --------------------------------------------------------------------------------------------------- */

static mxc_status read_header_length(mxci_byte_source *source, uint32_t *out) {
    unsigned char start[8];
    int64_t at;
    MXC_TRY(mxci_byte_source_read(source, "npy magic", start, sizeof start));
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return MXCI_BYTE_SOURCE_FAIL(source, 0, MXC_EFORMAT, "does not begin as %s data does", "npy");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return MXCI_BYTE_SOURCE_FAIL(source, 6, MXC_EFORMAT, "npy version %d.%d, expected 1.0 to 3.0", start[6],
                                     start[7]);
    at = source->at;
    *out = 0;
    MXC_TRY(mxci_byte_source_read(source, "length of the npy header", out, start[6] == 1 ? 2 : 4));
    if (*out > HEADER_LIMIT || *out > (uint64_t)mxci_byte_source_left(source))
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT,
                                     "npy header of %u bytes, but %lld are left (and at most %d)", (unsigned)*out,
                                     (long long)mxci_byte_source_left(source), HEADER_LIMIT);
    return MXC_OK;
}

static mxc_status read_header(mxci_byte_source *source, mxci_npy_header *out) {
    uint32_t length = 0;
    int64_t at;
    char *text;
    mxc_status status;
    MXC_TRY(read_header_length(source, &length));
    at = source->at;
    text = mxci_alloc(length);
    if (!text)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the npy header", source->name);
    status = mxci_byte_source_read(source, "npy header", text, length);
    if (status == MXC_OK)
        status = mxci_npy_parse(source, at, text, length, out);
    mxci_free(text);
    return status;
}

/* Whether the data is all that is left. */
static mxc_status check_size(mxci_byte_source *source, const mxci_npy_header *h, size_t *out) {
    char shape[MXC_SHAPE_TEXT];
    *out = mxci_shape_bytes(&h->shape, mxc_dtype_size(h->dtype));
    if (!mxci_size_fits(*out) || (int64_t)*out != mxci_byte_source_left(source))
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT,
                                     "shape %s of %s, but %lld bytes of data are there",
                                     mxc_shape_format(&h->shape, shape, sizeof shape), mxc_dtype_name(h->dtype),
                                     (long long)mxci_byte_source_left(source));
    return MXC_OK;
}

/* Step index to the next element in Fortran order (the first axis fastest) and return its place in C order. */
static int64_t next_place(const mxc_shape *shape, int64_t *index) {
    int64_t place = 0;
    for (int i = 0; i < shape->ndim && ++index[i] == shape->dim[i]; i++)
        index[i] = 0;
    for (int i = 0; i < shape->ndim; i++)
        place = place * shape->dim[i] + index[i];
    return place;
}

/* Elements come with the first axis fastest: read them in chunks and put each at its place. */
static mxc_status read_fortran(mxci_byte_source *source, mxc_ndarray *array, char *chunk) {
    size_t element = mxc_dtype_size(array->dtype);
    int64_t index[MXC_MAX_NDIM] = {0}, place = 0, per_chunk = (int64_t)(CHUNK / element);
    void *data;
    MXC_TRY(mxci_array_data(array, &data));
    for (int64_t at = 0, n; at < array->size; at += n) {
        n = array->size - at < per_chunk ? array->size - at : per_chunk;
        MXC_TRY(mxci_byte_source_read(source, "array data", chunk, (size_t)n * element));
        for (int64_t i = 0; i < n; i++) {
            memcpy((char *)data + (size_t)place * element, chunk + (size_t)i * element, element);
            place = next_place(&array->shape, index);
        }
    }
    return MXC_OK;
}

static mxc_status read_data(mxci_byte_source *source, int fortran, mxc_ndarray *array) {
    mxc_status status;
    char *chunk;
    if (!fortran || array->shape.ndim < 2)
        return mxci_array_read(source, array);
    chunk = mxci_alloc(CHUNK);
    if (!chunk)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to reorder the array", source->name);
    status = read_fortran(source, array, chunk);
    mxci_free(chunk);
    return status;
}

mxc_status mxci_npy_read(mxci_byte_source *source, mxc_ndarray **out) {
    mxci_npy_header header = {MXC_DTYPE_UNKNOWN, 0, {0, {0}}};
    size_t bytes = 0;
    mxc_status status;
    *out = NULL;
    MXC_TRY(read_header(source, &header));
    MXC_TRY(check_size(source, &header, &bytes));
    MXC_TRY(mxci_array_for_file(source, &header.shape, header.dtype, bytes, out));
    status = read_data(source, header.fortran, *out);
    if (status == MXC_OK) {
        mxci_array_normalize_bools(*out);
        return MXC_OK;
    }
    mxc_ndarray_release(*out);
    *out = NULL;
    return status;
}

mxc_status mxc_ndarray_load_npy(const char *path, mxc_ndarray **out) {
    mxci_byte_source source;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(mxci_byte_source_open(path, &source));
    status = mxci_npy_read(&source, out);
    mxci_byte_source_close(&source);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

mxc_status mxc_ndarray_save_npy(const char *path, mxc_ndarray *array) {
    char header[MXCI_NPY_HEADER_MAX];
    size_t header_bytes;
    mxc_ndarray *host = NULL;
    mxci_writer *w;
    mxc_status status;
    void *data;
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(MXCI_NON_NULL(array));
    header_bytes = mxci_npy_make_header(array, header);
    MXC_TRY(mxci_array_on_host(array, &host, &data));
    status = mxci_writer_open(path, &w);
    if (status == MXC_OK) {
        status = mxci_writer_write(w, header, header_bytes);
        if (status == MXC_OK)
            status = mxci_writer_write(w, data, mxci_array_bytes(host));
        if (status == MXC_OK)
            status = mxci_writer_commit(w);
        else
            mxci_writer_abandon(w);
    }
    mxc_ndarray_release(host);
    return status;
}
