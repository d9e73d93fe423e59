/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: creation, properties, contents. */
#include <string.h>

#include "compat/mxnet.h"
#include "compat/sparse.h"

/* ---- creation ---------------------------------------------------------------------------------------------------- */

int MXNDArrayCreateNone(NDArrayHandle *out) {
    MXNET_NEED(out);
    return mxnet_ndarray_new(NULL, out);
}

/* An array over a block that other processes see, which it takes over. */
static int wrap_shared(int ndim, const int64_t *dims, mxc_dtype dtype, mxnet_shared *shared, NDArrayHandle *out) {
    mxc_ndarray *array;
    mxc_status status =
        mxc_ndarray_wrap(ndim, dims, dtype, mxnet_shared_data(shared), mxnet_shared_release, shared, &array);
    if (status != MXC_OK) {
        mxnet_shared_release(shared);
        return mxnet_result(status);
    }
    mxnet_shared_retain(shared);
    if (mxnet_ndarray_new(array, out)) {
        mxnet_shared_release(shared);
        return -1;
    }
    ((mxnet_ndarray *)*out)->shared = shared;
    return 0;
}

/* pid 0: a new block. */
static int create_shared(int pid, int id, int ndim, const int64_t *dims, int type, NDArrayHandle *out) {
    mxnet_shared *shared;
    mxc_shape shape;
    mxc_dtype dtype;
    size_t bytes;
    MXNET_CALL(mxnet_dtype(type, &dtype));
    MXNET_TRY(mxc_shape_set(&shape, ndim, dims));
    if (!mxc_shape_known(&shape))
        return mxnet_fail("an array in shared memory needs a known shape");
    MXNET_CALL(mxnet_multiply((size_t)mxc_shape_size(&shape), mxc_dtype_size(dtype), &bytes));
    shared = pid ? mxnet_shared_open(pid, id, bytes) : mxnet_shared_create(bytes);
    return shared ? wrap_shared(ndim, dims, dtype, shared, out) : -1;
}

int MXNDArrayCreateEx64(const int64_t *shape, int ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                        NDArrayHandle *out) {
    mxc_ndarray *array;
    mxc_context context;
    mxc_dtype type;
    (void)delay_alloc; /* memory is allocated at the first use */
    MXNET_NEED(out);
    if (ndim < 0 || (ndim == 0 && !mxnet_is_np_shape()))
        return MXNDArrayCreateNone(out);
    if (dev_type == MXNET_CPU_SHARED)
        return create_shared(0, 0, ndim, shape, dtype, out);
    MXNET_CALL(mxnet_context(dev_type, dev_id, &context));
    MXNET_CALL(mxnet_dtype(dtype, &type));
    MXNET_TRY(mxc_ndarray_create(ndim, shape, type, context, &array));
    return mxnet_ndarray_new(array, out);
}

/* Dims of any number up to MXC_MAX_NDIM; more are refused. */
static int widen(const uint32_t *shape, uint32_t ndim, int64_t *dims) {
    if (ndim > MXC_MAX_NDIM)
        return mxnet_fail("an array of %u axes: libmxc has at most %d", ndim, MXC_MAX_NDIM);
    if (ndim)
        MXNET_NEED(shape);
    for (uint32_t i = 0; i < ndim; i++)
        dims[i] = shape[i];
    return 0;
}

int MXNDArrayCreateEx(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc, int dtype,
                      NDArrayHandle *out) {
    int64_t dims[MXC_MAX_NDIM];
    MXNET_CALL(widen(shape, ndim, dims));
    return MXNDArrayCreateEx64(dims, (int)ndim, dev_type, dev_id, delay_alloc, dtype, out);
}

int MXNDArrayCreate(const uint32_t *shape, uint32_t ndim, int dev_type, int dev_id, int delay_alloc,
                    NDArrayHandle *out) {
    return MXNDArrayCreateEx(shape, ndim, dev_type, dev_id, delay_alloc, MXC_F32, out);
}

int MXShallowCopyNDArray(NDArrayHandle src, NDArrayHandle *out) {
    const mxnet_ndarray *from = src;
    MXNET_NEED(src);
    MXNET_NEED(out);
    MXNET_CALL(mxnet_ndarray_new(from->array ? mxc_ndarray_retain(from->array) : NULL, out));
    ((mxnet_ndarray *)*out)->shared = mxnet_shared_retain(from->shared);
    ((mxnet_ndarray *)*out)->storage = from->storage;
    return 0;
}

int MXNDArrayFree(NDArrayHandle handle) {
    mxnet_ndarray *array = handle;
    if (!array)
        return 0;
    mxc_ndarray_release(array->array);
    mxc_ndarray_release(array->grad);
    mxnet_shared_release(array->shared);
    mxnet_parts_free(array->parts);
    mxnet_free(array);
    return 0;
}

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

/* The copy that another process gets of an array that is not in shared memory. */
static int copy_to_shared(mxc_ndarray *array, NDArrayHandle *out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    mxc_status status;
    MXNET_CALL(create_shared(0, 0, shape->ndim, shape->dim, (int)mxc_ndarray_dtype(array), out));
    status = mxc_ndarray_copy_to(array, ((mxnet_ndarray *)*out)->array, 0);
    if (status != MXC_OK)
        MXNDArrayFree(*out);
    return mxnet_result(status);
}

int MXNDArrayGetSharedMemHandle(NDArrayHandle handle, int *shared_pid, int *shared_id) {
    mxc_ndarray *array = mxnet_array(handle);
    mxnet_ndarray *shared = handle;
    NDArrayHandle copy = NULL;
    int result;
    MXNET_NEED(shared_pid);
    MXNET_NEED(shared_id);
    if (!array)
        return -1;
    if (!shared->shared) {
        MXNET_CALL(copy_to_shared(array, &copy));
        shared = copy;
    }
    result = mxnet_wait_result(mxc_ndarray_wait_to_read(shared->array));
    if (!result)
        mxnet_shared_send(shared->shared, shared_pid, shared_id);
    MXNDArrayFree(copy);
    return result;
}

int MXNDArrayCreateFromSharedMemEx(int shared_pid, int shared_id, const int *shape, int ndim, int dtype,
                                   NDArrayHandle *out) {
    int64_t dims[MXC_MAX_NDIM];
    MXNET_NEED(out);
    if (ndim < 0 || ndim > MXC_MAX_NDIM || shared_pid <= 0)
        return mxnet_fail("shared memory of process %d: an array of %d axes", shared_pid, ndim);
    for (int i = 0; i < ndim; i++)
        dims[i] = shape[i];
    return create_shared(shared_pid, shared_id, ndim, dims, dtype, out);
}

int MXNDArrayCreateFromSharedMem(int shared_pid, int shared_id, const uint32_t *shape, uint32_t ndim, int dtype,
                                 NDArrayHandle *out) {
    return MXNDArrayCreateFromSharedMemEx(shared_pid, shared_id, (const int *)shape, (int)ndim, dtype, out);
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

int MXNDArrayGetShapeEx64(NDArrayHandle handle, int *out_dim, const int64_t **out_pdata) {
    const mxnet_ndarray *array = handle;
    const mxc_shape *shape;
    MXNET_NEED(array);
    MXNET_NEED(out_dim);
    MXNET_NEED(out_pdata);
    shape = array->array ? mxc_ndarray_shape(array->array) : NULL;
    *out_dim = shape ? shape->ndim : mxnet_is_np_shape() ? -1 : 0;
    *out_pdata = shape ? shape->dim : NULL;
    return 0;
}

int MXNDArrayGetShapeEx(NDArrayHandle handle, int *out_dim, const int **out_pdata) {
    const int64_t *dims;
    int *narrow = mxnet_buffer(MXNET_SLOT_SHAPE, MXC_MAX_NDIM, sizeof *narrow);
    if (!narrow)
        return -1;
    MXNET_CALL(MXNDArrayGetShapeEx64(handle, out_dim, &dims));
    for (int i = 0; i < *out_dim; i++)
        narrow[i] = (int)dims[i];
    *out_pdata = narrow;
    return 0;
}

int MXNDArrayGetShape(NDArrayHandle handle, uint32_t *out_dim, const uint32_t **out_pdata) {
    int ndim;
    MXNET_NEED(out_dim);
    MXNET_CALL(MXNDArrayGetShapeEx(handle, &ndim, (const int **)out_pdata));
    *out_dim = ndim < 0 ? 0 : (uint32_t)ndim;
    return 0;
}

int MXNDArrayGetDType(NDArrayHandle handle, int *out_dtype) {
    const mxnet_ndarray *array = handle;
    MXNET_NEED(array);
    MXNET_NEED(out_dtype);
    *out_dtype = array->array ? (int)mxc_ndarray_dtype(array->array) : MXC_DTYPE_UNKNOWN;
    return 0;
}

int MXNDArrayGetContext(NDArrayHandle handle, int *out_dev_type, int *out_dev_id) {
    const mxnet_ndarray *array = handle;
    MXNET_NEED(array);
    MXNET_NEED(out_dev_type);
    MXNET_NEED(out_dev_id);
    *out_dev_type = MXC_CPU;
    *out_dev_id = 0;
    if (array->array)
        mxc_ndarray_device(array->array, out_dev_type, out_dev_id);
    if (array->shared)
        *out_dev_type = MXNET_CPU_SHARED;
    return 0;
}

int MXNDArrayGetStorageType(NDArrayHandle handle, int *out_storage_type) {
    const mxnet_ndarray *array = handle;
    MXNET_NEED(array);
    MXNET_NEED(out_storage_type);
    *out_storage_type = array->array ? array->storage : -1;
    return 0;
}

int MXNDArrayGetData(NDArrayHandle handle, void **out_pdata) {
    mxc_ndarray *array = mxnet_array(handle);
    MXNET_NEED(out_pdata);
    return array ? mxnet_result(mxc_ndarray_data(array, out_pdata)) : -1;
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

static size_t bytes_of(mxc_ndarray *array, size_t size) {
    return size * mxc_dtype_size(mxc_ndarray_dtype(array));
}

int MXNDArraySyncCopyFromCPU(NDArrayHandle handle, const void *data, size_t size) {
    mxc_ndarray *array = mxnet_array(handle);
    return array ? mxnet_result(mxc_ndarray_set(array, data, bytes_of(array, size))) : -1;
}

int MXNDArraySyncCopyToCPU(NDArrayHandle handle, void *data, size_t size) {
    mxc_ndarray *array = mxnet_array(handle);
    return array ? mxnet_wait_result(mxc_ndarray_get(array, data, bytes_of(array, size))) : -1;
}

/* i is -1, or for sparse arrays the part. */
int MXNDArraySyncCopyFromNDArray(NDArrayHandle handle_dst, NDArrayHandle handle_src, int i) {
    mxc_ndarray *to = mxnet_array(handle_dst), *from = mxnet_array(handle_src);
    if (!to || !from)
        return -1;
    if (((mxnet_ndarray *)handle_dst)->storage != MXNET_DENSE)
        return mxnet_sparse_set_part(handle_dst, from, i);
    if (i != -1)
        return mxnet_fail("MXNDArraySyncCopyFromNDArray: the array is dense, so that i must be -1");
    MXNET_TRY(mxc_ndarray_copy_to(from, to, 0));
    return mxnet_wait_result(mxc_ndarray_wait_to_read(to));
}

int MXNDArrayWaitToRead(NDArrayHandle handle) {
    const mxnet_ndarray *array = handle;
    MXNET_NEED(array);
    return array->array ? mxnet_wait_result(mxc_ndarray_wait_to_read(array->array)) : 0;
}

int MXNDArrayWaitToWrite(NDArrayHandle handle) {
    const mxnet_ndarray *array = handle;
    MXNET_NEED(array);
    return array->array ? mxnet_wait_result(mxc_ndarray_wait_to_write(array->array)) : 0;
}

int MXNDArrayWaitAll(void) {
    mxc_engine *engine;
    MXNET_TRY(mxc_engine_default(&engine));
    return mxnet_wait_all_result(mxc_wait_all(engine));
}
