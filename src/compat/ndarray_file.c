/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in files, in memory, and in the structs of DLPack. */
#include <string.h>

#include <mxc/dlpack.h>

#include "compat/mxnet.h"

/* ---- lists in files ---------------------------------------------------------------------------------------------- */

int MXNDArraySave(const char *fname, uint32_t num_args, NDArrayHandle const *args, const char *const *keys) {
    mxc_ndarray **arrays = mxnet_buffer(MXNET_SLOT_SCRATCH, num_args, sizeof *arrays);
    if (!arrays)
        return -1;
    MXNET_CALL(mxnet_arrays(num_args, args, arrays));
    return mxnet_result(mxc_ndarray_save(fname, num_args, arrays, keys));
}

/* Hands a list over to the front end; entries that are "none" become handles without array. */
static int give_list(mxc_ndarray_list *read, uint32_t *out_size, NDArrayHandle **out_arr, uint32_t *out_name_size,
                     const char ***out_names) {
    NDArrayHandle *handles = mxnet_buffer(MXNET_SLOT_HANDLES, (size_t)read->n, sizeof *handles);
    int result = handles ? 0 : -1;
    *out_name_size = 0;
    *out_names = NULL;
    if (!result && read->names)
        result = mxnet_return_strings(MXNET_SLOT_STRINGS, MXNET_SLOT_CHARS, read->n, (const char *const *)read->names,
                                      out_name_size, out_names);
    for (int64_t i = 0; i < read->n && !result; i++) {
        mxc_ndarray *array = read->arrays[i];
        read->arrays[i] = NULL;
        result = mxnet_ndarray_new(array, &handles[i]);
        for (int64_t k = 0; result && k < i; k++)
            MXNDArrayFree(handles[k]);
    }
    *out_size = (uint32_t)read->n;
    *out_arr = handles;
    mxc_ndarray_list_release(read);
    return result;
}

int MXNDArrayLoad(const char *fname, uint32_t *out_size, NDArrayHandle **out_arr, uint32_t *out_name_size,
                  const char ***out_names) {
    mxc_ndarray_list read;
    MXNET_TRY(mxc_ndarray_load(fname, &read));
    return give_list(&read, out_size, out_arr, out_name_size, out_names);
}

int MXNDArrayLoadFromBuffer(const void *ndarray_buffer, size_t size, uint32_t *out_size, NDArrayHandle **out_arr,
                            uint32_t *out_name_size, const char ***out_names) {
    mxc_ndarray_list read;
    MXNET_TRY(mxc_ndarray_load_buffer("the buffer", ndarray_buffer, size, &read));
    return give_list(&read, out_size, out_arr, out_name_size, out_names);
}

/* ---- one array in memory: a record of such a list, in which it stands between a head and a count of names ---------
 */

enum { RECORD_V2 = (int)0xF993FAC9, RECORD_V3 = (int)0xF993FACA, LIST = 0x112 };

static char *put(char *at, const void *value, size_t bytes) {
    memcpy(at, value, bytes);
    return at + bytes;
}

int MXNDArraySaveRawBytes(NDArrayHandle handle, size_t *out_size, const char **out_buf) {
    mxc_ndarray *array = mxnet_array(handle);
    const mxc_shape *shape;
    char *record, *at;
    MXNET_NEED(out_size);
    MXNET_NEED(out_buf);
    if (!array)
        return -1;
    shape = mxc_ndarray_shape(array);
    const int32_t head[] = {shape->ndim ? RECORD_V2 : RECORD_V3, 0, shape->ndim};
    const int32_t tail[] = {MXC_CPU, 0, (int32_t)mxc_ndarray_dtype(array)};
    const size_t dims = (size_t)shape->ndim * sizeof *shape->dim, bytes = mxc_ndarray_bytes(array);
    *out_size = sizeof head + dims + sizeof tail + bytes;
    at = record = mxnet_buffer(MXNET_SLOT_BYTES, *out_size, 1);
    if (!record)
        return -1;
    at = put(put(put(at, head, sizeof head), shape->dim, dims), tail, sizeof tail);
    *out_buf = record;
    return mxnet_result(mxc_ndarray_get(array, at, bytes));
}

int MXNDArrayLoadFromRawBytes(const void *buf, size_t size, NDArrayHandle *out) {
    const uint64_t head[] = {LIST, 0, 1}, no_names = 0;
    mxc_ndarray_list read;
    mxc_ndarray *array;
    char *file = mxnet_buffer(MXNET_SLOT_BYTES, sizeof head + size + sizeof no_names, 1);
    MXNET_NEED(buf);
    MXNET_NEED(out);
    if (!file)
        return -1;
    put(put(put(file, head, sizeof head), buf, size), &no_names, sizeof no_names);
    MXNET_TRY(mxc_ndarray_load_buffer("the bytes", file, sizeof head + size + sizeof no_names, &read));
    array = read.arrays[0];
    read.arrays[0] = NULL;
    mxc_ndarray_list_release(&read);
    return mxnet_ndarray_new(array, out);
}

/* ---- DLPack ------------------------------------------------------------------------------------------------------ */

int MXNDArrayToDLPack(NDArrayHandle handle, DLManagedTensorHandle *out_dlpack) {
    mxc_ndarray *array = mxnet_array(handle);
    MXNET_NEED(out_dlpack);
    return array ? mxnet_result(mxc_ndarray_to_dlpack(array, (struct DLManagedTensor **)out_dlpack)) : -1;
}

int MXNDArrayCallDLPackDeleter(DLManagedTensorHandle dlpack) {
    struct DLManagedTensor *tensor = dlpack;
    if (tensor && tensor->deleter)
        tensor->deleter(tensor);
    return 0;
}

/* A tensor whose struct lasts only for the call that imports it. */
typedef struct copied_tensor {
    struct DLManagedTensor tensor;
    void (*deleter)(struct DLManagedTensor *self);
} copied_tensor;

static void delete_copied(struct DLManagedTensor *self) {
    copied_tensor *copy = (copied_tensor *)self;
    copy->tensor.deleter = copy->deleter;
    if (copy->deleter)
        copy->deleter(&copy->tensor);
    mxnet_free(copy);
}

/* MXNet's type code of bool is that of unsigned integers, of one bit. */
static struct DLManagedTensor *translate_bool(struct DLManagedTensor *tensor) {
    if (tensor->dl_tensor.dtype.code == kDLUInt && tensor->dl_tensor.dtype.bits == 1) {
        tensor->dl_tensor.dtype.code = kDLBool;
        tensor->dl_tensor.dtype.bits = 8;
    }
    return tensor;
}

int MXNDArrayFromDLPackEx(DLManagedTensorHandle dlpack, const bool transient_handle, NDArrayHandle *out_handle) {
    struct DLManagedTensor *tensor = dlpack;
    copied_tensor *copy = NULL;
    mxc_ndarray *array;
    mxc_status status;
    MXNET_NEED(tensor);
    MXNET_NEED(out_handle);
    if (transient_handle) {
        copy = mxnet_alloc(1, sizeof *copy);
        if (!copy)
            return -1;
        copy->tensor = *tensor;
        copy->deleter = tensor->deleter;
        copy->tensor.deleter = delete_copied;
    }
    status = mxc_ndarray_from_dlpack(translate_bool(copy ? &copy->tensor : tensor), &array);
    if (status != MXC_OK) {
        mxnet_free(copy);
        return mxnet_result(status);
    }
    return mxnet_ndarray_new(array, out_handle);
}

int MXNDArrayFromDLPack(DLManagedTensorHandle dlpack, NDArrayHandle *out_handle) {
    return MXNDArrayFromDLPackEx(dlpack, false, out_handle);
}
