/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of MXNet's .params list files, records V0 to V3. Layout (numbers little-endian):
 *   u64 0x112, u64 0, u64 count, count records, u64 name count (0 or count), per name u64 length and its bytes.
 * A record begins with
 *   V0    u32 ndim, u32 dims
 *   V1    u32 magic, u32 ndim, i64 dims
 *   V2    u32 magic, i32 storage, [stored shape as V1 if sparse], shape as V1
 *   V3    u32 magic, i32 storage (dense), i32 ndim, i64 dims
 * and, unless that says "none" (V0 to V2: ndim 0; V3: ndim -1), goes on with
 *   i32 device type, i32 device id, i32 type flag, [index arrays' types and shapes], data, [index arrays].
 * The file is untrusted input: no size is used before it is compared with the number of bytes left.
 */
#include "base/error.h"
#include "base/size.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"
#include "ndarray/params_format.h"

/* The largest number of axes that MXNet writes. */
enum { FORMAT_NDIM = 32 };

/* ---- numbers that say how large something is --------------------------------------------------------------------- */

/* More axes than MXNet writes are a damaged file; more than libmxc has are not supported. */
static mxc_status check_ndim(mxci_byte_source *source, const char *what, int64_t at, int64_t ndim, int64_t least) {
    if (ndim < least || ndim > FORMAT_NDIM)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "%s has %lld axes", what, (long long)ndim);
    if (ndim > MXC_MAX_NDIM)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EUNSUPPORTED, "%s has %lld axes, at most %d are supported", what,
                                     (long long)ndim, MXC_MAX_NDIM);
    return MXC_OK;
}

/* ndim sizes of 8 bytes each, or of 4 (V0). */
static mxc_status read_dims(mxci_byte_source *source, const char *what, int ndim, int wide, mxc_shape *out) {
    out->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        int64_t at = source->at;
        uint64_t dim = 0;
        uint32_t narrow = 0;
        if (wide)
            MXC_TRY(mxci_byte_source_u64(source, what, &dim));
        else
            MXC_TRY(mxci_byte_source_u32(source, what, &narrow));
        out->dim[i] = wide ? (int64_t)dim : (int64_t)narrow;
        if (out->dim[i] < 0)
            return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "%s: axis %d has size %lld", what, i,
                                         (long long)out->dim[i]);
    }
    return MXC_OK;
}

mxc_status mxci_params_shape(mxci_byte_source *source, const char *what, int ndim_is_signed, mxc_shape *out) {
    int64_t at = source->at, ndim;
    uint32_t word;
    MXC_TRY(mxci_byte_source_u32(source, what, &word));
    ndim = ndim_is_signed ? (int64_t)(int32_t)word : (int64_t)word;
    MXC_TRY(check_ndim(source, what, at, ndim, ndim_is_signed ? -1 : 0));
    return read_dims(source, what, (int)ndim, 1, out);
}

mxc_status mxci_params_dtype(mxci_byte_source *source, const char *what, mxc_dtype *out) {
    int64_t at = source->at;
    int32_t flag;
    MXC_TRY(mxci_byte_source_i32(source, what, &flag));
    *out = (mxc_dtype)flag;
    if (flag >= 8 && flag <= 11)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EUNSUPPORTED, "%s: type %d (a 16-bit or unsigned integer)", what,
                                     (int)flag);
    if (mxc_dtype_size(*out) == 0)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "%s: %d is no type", what, (int)flag);
    return MXC_OK;
}

mxc_status mxci_params_bytes(mxci_byte_source *source, int64_t at, const mxc_shape *shape, mxc_dtype dtype,
                             size_t *out) {
    char text[MXC_SHAPE_TEXT];
    *out = mxci_shape_bytes(shape, mxc_dtype_size(dtype));
    if (mxci_size_fits(*out))
        return MXC_OK;
    return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "shape %s is larger than memory can be",
                                 mxc_shape_format(shape, text, sizeof text));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Version, storage type and shapes. */
static mxc_status read_shapes(mxci_byte_source *source, mxci_params_record *r) {
    uint32_t word;
    r->at = source->at;
    MXC_TRY(mxci_byte_source_u32(source, "array record", &word));
    if (word < MXCI_PARAMS_V1 || word > MXCI_PARAMS_V3) { /* V0 */
        MXC_TRY(check_ndim(source, "array", r->at, word, 0));
        r->none = word == 0;
        return read_dims(source, "array", (int)word, 0, &r->shape);
    }
    r->version = word;
    if (word >= MXCI_PARAMS_V2) {
        int32_t max = word == MXCI_PARAMS_V2 ? MXCI_CSR : MXCI_DENSE;
        int64_t at = source->at;
        MXC_TRY(mxci_byte_source_i32(source, "storage type", &r->storage));
        if (r->storage < MXCI_DENSE || r->storage > max)
            return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "storage type %d, expected 0 to %d", (int)r->storage,
                                         (int)max);
    }
    if (r->storage != MXCI_DENSE)
        MXC_TRY(mxci_params_shape(source, "stored part of a sparse array", 0, &r->stored));
    MXC_TRY(mxci_params_shape(source, "array", word == MXCI_PARAMS_V3, &r->shape));
    r->none = r->shape.ndim == (word == MXCI_PARAMS_V3 ? -1 : 0);
    return MXC_OK;
}

/* The context that the array had when it was saved. It is checked and ignored: arrays are loaded to cpu(0). */
static mxc_status read_context(mxci_byte_source *source) {
    enum { CPU_SHARED = 5, MAX_ID = 255 };
    int64_t at = source->at;
    int32_t device, id;
    MXC_TRY(mxci_byte_source_i32(source, "device type", &device));
    MXC_TRY(mxci_byte_source_i32(source, "device id", &id));
    if (device < MXC_CPU || (device > MXC_CPU_PINNED && device != CPU_SHARED))
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "device type %d, expected 1, 2, 3 or 5", (int)device);
    if (id < 0 || id > MAX_ID)
        return MXCI_BYTE_SOURCE_FAIL(source, at + 4, MXC_EFORMAT, "device id %d, expected 0 to %d", (int)id, MAX_ID);
    return MXC_OK;
}

/* The data is compared with the rest of the file before the array is created. */
static mxc_status read_dense(mxci_byte_source *source, const mxci_params_record *r, mxc_ndarray **out) {
    mxc_status status;
    if (r->bytes > (uint64_t)mxci_byte_source_left(source))
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT,
                                     "truncated: array data takes %zu bytes, but %lld are left", r->bytes,
                                     (long long)mxci_byte_source_left(source));
    MXC_TRY(mxci_array_for_file(source, &r->shape, r->dtype, r->bytes, out));
    status = mxci_array_read(source, *out);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

/* One record; *out stays NULL for "none". */
static mxc_status read_record(mxci_params_reader *reader, mxc_ndarray **out) {
    mxci_params_record r = {0};
    *out = NULL;
    MXC_TRY(read_shapes(reader->source, &r));
    if (r.none)
        return MXC_OK;
    MXC_TRY(read_context(reader->source));
    MXC_TRY(mxci_params_dtype(reader->source, "array", &r.dtype));
    MXC_TRY(mxci_params_bytes(reader->source, r.at, &r.shape, r.dtype, &r.bytes));
    if (r.storage == MXCI_DENSE)
        MXC_TRY(read_dense(reader->source, &r, out));
    else
        MXC_TRY(mxci_params_read_sparse(reader, &r, out));
    mxci_array_normalize_bools(*out);
    return MXC_OK;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static mxc_status read_name(mxci_byte_source *source, char **out) {
    int64_t at = source->at;
    const char *fault;
    uint64_t length;
    MXC_TRY(mxci_byte_source_u64(source, "length of a name", &length));
    if (length > (uint64_t)mxci_byte_source_left(source))
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "truncated: a name takes %llu bytes, but %lld are left",
                                     (unsigned long long)length, (long long)mxci_byte_source_left(source));
    if (length > MXCI_ARRAY_NAME_MAX)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "a name of %llu bytes, at most %d are accepted",
                                     (unsigned long long)length, MXCI_ARRAY_NAME_MAX);
    *out = mxci_alloc((size_t)length + 1);
    if (!*out)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for a name", source->name);
    (*out)[length] = '\0';
    MXC_TRY(mxci_byte_source_read(source, "name", *out, (size_t)length));
    fault = mxci_array_name_fault(*out, (size_t)length);
    return fault ? MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "a name %s", fault) : MXC_OK;
}

static mxc_status read_names(mxci_byte_source *source, mxc_ndarray_list *list) {
    int64_t at = source->at;
    const char *twice = NULL;
    uint64_t count;
    MXC_TRY(mxci_byte_source_u64(source, "number of names", &count));
    if (count != 0 && count != (uint64_t)list->n)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "%llu names for %lld arrays", (unsigned long long)count,
                                     (long long)list->n);
    if (count == 0)
        return MXC_OK;
    if (count > (uint64_t)mxci_byte_source_left(source) / 8)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "truncated: %llu names, but %lld bytes are left",
                                     (unsigned long long)count, (long long)mxci_byte_source_left(source));
    list->names = mxci_calloc((size_t)count, sizeof *list->names);
    if (!list->names)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %llu names", source->name, (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++)
        MXC_TRY(read_name(source, &list->names[i]));
    MXC_TRY(mxci_array_name_duplicate(list->n, list->names, &twice));
    return twice ? MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "the name \"%.100s\" occurs twice", twice) : MXC_OK;
}

static mxc_status read_count(mxci_byte_source *source, uint64_t *out) {
    uint64_t magic, reserved;
    int64_t at;
    MXC_TRY(mxci_byte_source_u64(source, "header", &magic));
    if (magic != MXCI_PARAMS_LIST)
        return MXCI_BYTE_SOURCE_FAIL(source, 0, MXC_EFORMAT, "begins with 0x%llx, a .params file begins with 0x112",
                                     (unsigned long long)magic);
    MXC_TRY(mxci_byte_source_u64(source, "header", &reserved));
    if (reserved != 0)
        return MXCI_BYTE_SOURCE_FAIL(source, 8, MXC_EFORMAT, "reserved number is %llu, expected 0",
                                     (unsigned long long)reserved);
    at = source->at;
    MXC_TRY(mxci_byte_source_u64(source, "number of arrays", out));
    if (*out > (uint64_t)mxci_byte_source_left(source) / 4) /* the shortest record */
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT, "truncated: %llu arrays, but %lld bytes are left",
                                     (unsigned long long)*out, (long long)mxci_byte_source_left(source));
    return MXC_OK;
}

static mxc_status read_list(mxci_byte_source *source, mxc_ndarray_list *list) {
    mxci_params_reader reader = {source, 0};
    for (int64_t i = 0; i < list->n; i++)
        MXC_TRY(read_record(&reader, &list->arrays[i]));
    MXC_TRY(read_names(source, list));
    if (mxci_byte_source_left(source) > 0)
        return MXCI_BYTE_SOURCE_FAIL(source, source->at, MXC_EFORMAT, "%lld bytes behind the end of the list",
                                     (long long)mxci_byte_source_left(source));
    return MXC_OK;
}

static mxc_status load_list(mxci_byte_source *source, mxc_ndarray_list *out) {
    mxc_status status;
    uint64_t count;
    MXC_TRY(read_count(source, &count));
    MXC_TRY(mxci_array_list_create(source, 16, count, 0, out));
    status = read_list(source, out);
    if (status != MXC_OK)
        mxc_ndarray_list_release(out);
    return status;
}

mxc_status mxc_ndarray_load(const char *path, mxc_ndarray_list *out) {
    mxci_byte_source source;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    *out = (mxc_ndarray_list){0, NULL, NULL};
    MXC_TRY(mxci_byte_source_open(path, &source));
    status = load_list(&source, out);
    mxci_byte_source_close(&source);
    return status;
}

mxc_status mxc_ndarray_load_buffer(const char *name, const void *data, size_t bytes, mxc_ndarray_list *out) {
    mxci_byte_source source;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, data));
    mxci_byte_source_memory(name, data, bytes, &source);
    return load_list(&source, out);
}
