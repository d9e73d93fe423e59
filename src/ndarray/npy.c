/* SPDX-License-Identifier: Apache-2.0 */
/* The .npy format of numpy: "\x93NUMPY", two bytes of version, the length of the header (u16; from version 2 on u32),
 * the header (npy_header.c), the elements. */
#include "ndarray/npy.h"

#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"

enum { HEADER_LIMIT = 1 << 16, CHUNK = 1 << 16 };

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Check magic and version; the length is limited, so that no memory is allocated for a false one. */
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

/* Fortran order, the first axis fastest: read elements in chunks and store each at its offset in C order. */
static mxc_status read_fortran(mxci_byte_source *source, mxc_ndarray *array) {
    const mxc_shape *shape = &array->shape;
    size_t element = mxc_dtype_size(array->dtype);
    int64_t index[MXC_MAX_NDIM] = {0}, per_chunk = (int64_t)(CHUNK / element);
    char *chunk = mxci_alloc(CHUNK);
    void *data;
    if (!chunk)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to reorder the array", source->name);
    mxc_status status = mxci_array_data(array, &data);
    for (int64_t at = 0, n; status == MXC_OK && at < array->size; at += n) {
        n = array->size - at < per_chunk ? array->size - at : per_chunk;
        status = mxci_byte_source_read(source, "array data", chunk, (size_t)n * element);
        for (int64_t i = 0; status == MXC_OK && i < n; i++) {
            int64_t offset = 0; /* of the element in C order */
            for (int axis = 0; axis < shape->ndim; axis++)
                offset = offset * shape->dim[axis] + index[axis];
            memcpy((char *)data + (size_t)offset * element, chunk + (size_t)i * element, element);
            for (int axis = 0; axis < shape->ndim && ++index[axis] == shape->dim[axis]; axis++)
                index[axis] = 0;
        }
    }
    mxci_free(chunk);
    return status;
}

mxc_status mxci_npy_read(mxci_byte_source *source, mxc_ndarray **out) {
    mxci_npy_header header = {MXC_DTYPE_UNKNOWN, 0, {0, {0}}};
    size_t bytes = 0;
    mxc_status status;
    *out = NULL;
    MXC_TRY(read_header(source, &header));
    bytes = mxci_shape_bytes(&header.shape, mxc_dtype_size(header.dtype));
    if (!mxci_size_fits(bytes) || (int64_t)bytes != mxci_byte_source_left(source)) {
        char shape[MXC_SHAPE_TEXT];
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT,
                                     "shape %s of %s, but %lld bytes of data are there",
                                     mxc_shape_format(&header.shape, shape, sizeof shape), mxc_dtype_name(header.dtype),
                                     (long long)mxci_byte_source_left(source));
    }
    MXC_TRY(mxci_array_for_file(source, &header.shape, header.dtype, bytes, out));
    status = header.fortran && header.shape.ndim > 1 ? read_fortran(source, *out) : mxci_array_read(source, *out);
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

/* ---- writing ----------------------------------------------------------------------------------------------------- */

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
