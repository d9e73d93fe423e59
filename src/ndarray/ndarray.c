/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, sharing and viewing arrays: chunks, their lazily allocated memory, references, slices. Contents are copied
 * in array_copy.c and filled in fill.c. */
#include <string.h>

#include <mxc/storage.h>

#include "base/device.h"
#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"
#include "engine/device/run_memory.h"
#include "ndarray/array.h"

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Called by the engine once no queued work uses the chunk. */
static void chunk_destroy(void *arg) {
    mxci_chunk *chunk = arg;
    void *data = atomic_load(&chunk->data);
    if (!chunk->borrowed)
        mxc_storage_free(chunk->context, data, chunk->bytes);
    else if (chunk->release)
        chunk->release(chunk->arg);
    mxci_free(chunk);
}

/* Drop a reference; 1 if it was the last one. Nobody can take another one of what has none but the caller's, so that
 * is not counted down. */
static int drop_reference(atomic_int *refs) {
    return atomic_load(refs) == 1 || atomic_fetch_sub(refs, 1) == 1;
}

/* The engine deletes the variables, and then the chunk, once all queued work on them has ended. */
static void chunk_release(mxci_chunk *chunk) {
    if (!drop_reference(&chunk->refs))
        return;
    mxc_var_delete(atomic_load(&chunk->reading), NULL, NULL);
    mxc_var_delete(chunk->var, chunk_destroy, chunk);
}

static mxc_status chunk_create(mxc_context context, size_t bytes, mxci_chunk **out) {
    mxc_engine *engine;
    mxci_chunk *chunk;
    mxc_status status;
    MXC_TRY(mxc_engine_default(&engine));
    chunk = mxci_calloc(1, sizeof *chunk);
    if (!chunk)
        return MXC_FAIL(MXC_ENOMEM, "no memory for an array");
    status = mxc_var_create(engine, &chunk->var);
    if (status != MXC_OK) {
        mxci_free(chunk);
        return status;
    }
    atomic_init(&chunk->refs, 1);
    chunk->context = context;
    chunk->bytes = bytes;
    *out = chunk;
    return MXC_OK;
}

/* Of several threads that allocate the memory at the same time, the first one wins, and the others free theirs. */
mxc_status mxci_array_data(mxc_ndarray *array, void **out) {
    mxci_chunk *chunk = array->chunk;
    *out = NULL;
    if (chunk->bytes > 0 && !atomic_load(&chunk->data)) {
        void *block, *none = NULL;
        MXC_TRY(mxc_storage_alloc(chunk->context, chunk->bytes, &block));
        mxc_status status = mxci_var_memory_acquired(chunk->var, chunk->context);
        if (status != MXC_OK || !atomic_compare_exchange_strong(&chunk->data, &none, block))
            mxc_storage_free(chunk->context, block, chunk->bytes);
        MXC_TRY(status);
    }
    if (array->size > 0)
        *out = (char *)atomic_load(&chunk->data) + array->offset;
    return MXC_OK;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* A view that takes over the caller's reference to chunk; on failure that reference is dropped. */
static mxc_status view_create(mxci_chunk *chunk, const mxc_shape *shape, mxc_dtype dtype, size_t offset,
                              mxc_ndarray **out) {
    mxc_ndarray *array = mxci_calloc(1, sizeof *array);
    if (!array) {
        chunk_release(chunk);
        return MXC_FAIL(MXC_ENOMEM, "no memory for an array");
    }
    atomic_init(&array->refs, 1);
    array->chunk = chunk;
    array->offset = offset;
    array->size = mxc_shape_size(shape);
    array->dtype = dtype;
    array->shape = *shape;
    *out = array;
    return MXC_OK;
}

/* Allocates no memory for elements: that is done at their first use. */
mxc_status mxci_ndarray_new(const char *caller, const mxc_shape *shape, mxc_dtype dtype, mxc_context context,
                            mxc_ndarray **out) {
    const mxci_device *device;
    mxci_chunk *chunk = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (mxc_dtype_size(dtype) == 0)
        return MXC_FAIL(MXC_EDTYPE, "%s: %d is no dtype", caller, (int)dtype);
    if (shape->ndim < 0 || shape->ndim > MXC_MAX_NDIM)
        return MXC_FAIL(MXC_EINVAL, "%s: %d axes, expected 0 to %d", caller, (int)shape->ndim, MXC_MAX_NDIM);
    for (int i = 0; i < shape->ndim; i++)
        if (shape->dim[i] < 0)
            return MXC_FAIL(MXC_ESHAPE, "%s: axis %d has size %lld, expected 0 or more", caller, i,
                            (long long)shape->dim[i]);
    bytes = mxci_shape_bytes(shape, mxc_dtype_size(dtype));
    if (!mxci_size_fits(bytes)) {
        char text[MXC_SHAPE_TEXT];
        return MXC_FAIL(MXC_ESHAPE, "%s: shape %s of %s is larger than memory can be", caller,
                        mxc_shape_format(shape, text, sizeof text), mxc_dtype_name(dtype));
    }
    MXC_TRY(mxci_device_get(context, &device));
    MXC_TRY(chunk_create(context, bytes, &chunk));
    return view_create(chunk, shape, dtype, 0, out);
}

mxc_status mxci_ndarray_wrap(const char *caller, const mxc_shape *shape, mxc_dtype dtype, mxc_context context,
                             void *data, void (*release)(void *arg), void *arg, mxc_ndarray **out) {
    mxc_ndarray *array;
    *out = NULL;
    MXC_TRY(mxci_ndarray_new(caller, shape, dtype, context, &array));
    if (array->size > 0 && !data) {
        mxc_ndarray_release(array);
        return MXC_FAIL(MXC_EINVAL, "%s: data must not be NULL", caller);
    }
    if ((uintptr_t)data % mxc_dtype_size(dtype) != 0) {
        mxc_ndarray_release(array);
        return MXC_FAIL(MXC_EINVAL, "%s: data is at %p, expected memory aligned to %zu bytes", caller, data,
                        mxc_dtype_size(dtype));
    }
    array->chunk->borrowed = 1;
    array->chunk->release = release;
    array->chunk->arg = arg;
    atomic_store(&array->chunk->data, array->size > 0 ? data : NULL);
    *out = array;
    return MXC_OK;
}

/* The shape of the dims that a caller passes; their signs are checked later. */
static mxc_status shape_from(const char *caller, int ndim, const int64_t *dims, mxc_shape *out) {
    if (ndim < 0 || ndim > MXC_MAX_NDIM || (ndim > 0 && !dims))
        return MXC_FAIL(MXC_EINVAL, "%s: %d axes%s, expected 0 to %d", caller, ndim,
                        ndim > 0 && !dims ? " at NULL" : "", MXC_MAX_NDIM);
    out->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        out->dim[i] = dims[i];
    return MXC_OK;
}

mxc_status mxc_ndarray_create(int ndim, const int64_t *dims, mxc_dtype dtype, mxc_context context, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL_IF(ndim > 0, dims));
    mxc_shape shape;
    MXC_TRY(shape_from("mxc_ndarray_create", ndim, dims, &shape));
    return mxci_ndarray_new("mxc_ndarray_create", &shape, dtype, context, out);
}

mxc_status mxc_ndarray_create_on(int ndim, const int64_t *dims, mxc_dtype dtype, int device_type, int device_id,
                                 mxc_ndarray **out) {
    return mxc_ndarray_create(ndim, dims, dtype, (mxc_context){device_type, device_id}, out);
}

mxc_status mxc_ndarray_from_data(int ndim, const int64_t *dims, mxc_dtype dtype, const void *data, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL_IF(ndim > 0, dims));
    mxc_shape shape;
    mxc_ndarray *array;
    void *memory;
    mxc_status status;
    MXC_TRY(shape_from("mxc_ndarray_from_data", ndim, dims, &shape));
    MXC_TRY(mxci_ndarray_new("mxc_ndarray_from_data", &shape, dtype, mxc_cpu(0), &array));
    status = array->size > 0 && !data ? MXC_FAIL(MXC_EINVAL, "mxc_ndarray_from_data: data is NULL")
                                      : mxci_array_data(array, &memory);
    if (status != MXC_OK) {
        mxc_ndarray_release(array);
        return status;
    }
    if (memory)
        memcpy(memory, data, mxci_array_bytes(array)); /* no other thread has the array yet */
    *out = array;
    return MXC_OK;
}

mxc_status mxc_ndarray_wrap(int ndim, const int64_t *dims, mxc_dtype dtype, void *data, void (*release)(void *arg),
                            void *arg, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL_IF(ndim > 0, dims));
    mxc_shape shape;
    MXC_TRY(shape_from("mxc_ndarray_wrap", ndim, dims, &shape));
    return mxci_ndarray_wrap("mxc_ndarray_wrap", &shape, dtype, mxc_cpu(0), data, release, arg, out);
}

/* ---- references and properties ------------------------------------------------------------------------------- */

mxc_ndarray *mxc_ndarray_retain(mxc_ndarray *array) {
    if (array)
        atomic_fetch_add(&array->refs, 1);
    return array;
}

void mxc_ndarray_release(mxc_ndarray *array) {
    if (!MXCI_MAY_RELEASE(array) || !drop_reference(&array->refs))
        return;
    chunk_release(array->chunk);
    mxci_link_node_release(atomic_load_explicit(&array->link, memory_order_acquire));
    mxci_free_object(array);
}

const mxc_shape *mxc_ndarray_shape(const mxc_ndarray *array) {
    return array ? &array->shape : NULL;
}

int64_t mxc_ndarray_size(const mxc_ndarray *array) {
    return array ? array->size : 0;
}

size_t mxc_ndarray_bytes(const mxc_ndarray *array) {
    return array ? mxci_array_bytes(array) : 0;
}

mxc_dtype mxc_ndarray_dtype(const mxc_ndarray *array) {
    return array ? array->dtype : MXC_DTYPE_UNKNOWN;
}

mxc_context mxc_ndarray_context(const mxc_ndarray *array) {
    return array ? array->chunk->context : mxc_cpu(0);
}

void mxc_ndarray_device(const mxc_ndarray *array, int *device_type, int *device_id) {
    mxc_context context = mxc_ndarray_context(array);
    if (device_type)
        *device_type = context.device;
    if (device_id)
        *device_id = context.id;
}

mxc_var *mxc_ndarray_var(const mxc_ndarray *array) {
    return array ? array->chunk->var : NULL;
}

mxc_status mxc_ndarray_tensor(mxc_ndarray *array, mxc_tensor *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    out->dtype = array->dtype;
    out->context = array->chunk->context;
    out->shape = array->shape;
    return mxci_array_data(array, &out->data);
}

void mxc_free(void *block) {
    mxci_free(block);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

mxc_status mxci_array_view(mxc_ndarray *array, const mxc_shape *shape, size_t offset, mxc_ndarray **out) {
    atomic_fetch_add(&array->chunk->refs, 1);
    return view_create(array->chunk, shape, array->dtype, array->offset + offset, out);
}

/* Bytes of one row of axis 0. */
static size_t row_bytes(const mxc_ndarray *array) {
    return array->shape.dim[0] > 0 ? mxci_array_bytes(array) / (size_t)array->shape.dim[0] : 0;
}

/* Releases a view that could not be recorded. */
static mxc_status keep_if_ok(mxc_status status, mxc_ndarray **view) {
    if (status != MXC_OK) {
        mxc_ndarray_release(*view);
        *view = NULL;
    }
    return status;
}

/* Of rows begin to end-1, on a thread that records. */
static mxc_status record_slice(mxc_ndarray *array, int64_t begin, int64_t end, mxc_ndarray **view) {
    const mxci_array_recorder *recorder = mxci_array_recorder_for(array);
    return recorder ? keep_if_ok(recorder->slice(array, begin, end, *view), view) : MXC_OK;
}

mxc_status mxc_ndarray_slice(mxc_ndarray *array, int64_t begin, int64_t end, mxc_ndarray **out) {
    mxc_shape shape;
    char text[MXC_SHAPE_TEXT];
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    shape = array->shape;
    if (shape.ndim < 1 || begin < 0 || begin > end || end > shape.dim[0])
        return MXC_FAIL(MXC_ESHAPE, "mxc_ndarray_slice: rows %lld to %lld do not lie in an array of shape %s",
                        (long long)begin, (long long)end, mxc_shape_format(&shape, text, sizeof text));
    shape.dim[0] = end - begin;
    MXC_TRY(mxci_array_view(array, &shape, (size_t)begin * row_bytes(array), out));
    return record_slice(array, begin, end, out);
}

mxc_status mxc_ndarray_at(mxc_ndarray *array, int64_t index, mxc_ndarray **out) {
    mxc_shape shape;
    char text[MXC_SHAPE_TEXT];
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    shape = array->shape;
    if (shape.ndim < 1 || index < 0 || index >= shape.dim[0])
        return MXC_FAIL(MXC_ESHAPE, "mxc_ndarray_at: an array of shape %s has no row %lld",
                        mxc_shape_format(&shape, text, sizeof text), (long long)index);
    shape.dim[0] = 1;
    if (shape.ndim > 1)
        memmove(shape.dim, shape.dim + 1, (size_t)--shape.ndim * sizeof *shape.dim);
    MXC_TRY(mxci_array_view(array, &shape, (size_t)index * row_bytes(array), out));
    return record_slice(array, index, index + 1, out);
}

/* Replace the one dim that is -1, if there is one, by size divided by the others. Returns 0 if that is impossible. */
static int infer_dim(mxc_shape *shape, int64_t size) {
    int open = -1;
    int64_t rest = 1;
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dim[i] < -1 || (shape->dim[i] == -1 && open >= 0))
            return 0;
        if (shape->dim[i] == -1)
            open = i;
        else
            rest = mxci_dim_mul(rest, shape->dim[i]);
    }
    if (open >= 0 && (rest == 0 || size % rest != 0))
        return 0;
    if (open >= 0)
        shape->dim[open] = size / rest;
    return mxci_shape_fits(shape);
}

mxc_status mxc_ndarray_reshape(mxc_ndarray *array, int ndim, const int64_t *dims, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(MXCI_NON_NULL_IF(ndim > 0, dims));
    char from[MXC_SHAPE_TEXT], to[MXC_SHAPE_TEXT];
    mxc_shape shape, asked;
    MXC_TRY(shape_from("mxc_ndarray_reshape", ndim, dims, &shape));
    asked = shape;
    if (!infer_dim(&shape, array->size) || mxc_shape_size(&shape) > array->size)
        return MXC_FAIL(MXC_ESHAPE, "mxc_ndarray_reshape: shape %s does not fit over %s",
                        mxc_shape_format(&asked, to, sizeof to), mxc_shape_format(&array->shape, from, sizeof from));
    MXC_TRY(mxci_array_view(array, &shape, 0, out));
    const mxci_array_recorder *recorder = mxci_array_recorder_for(array);
    return recorder ? keep_if_ok(recorder->reshape(array, *out), out) : MXC_OK;
}
