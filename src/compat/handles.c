/* SPDX-License-Identifier: Apache-2.0 */
/* What handles point to, and MXNet's numbers of devices and types. */
#include <string.h>

#include "compat/mxnet.h"

int mxnet_ndarray_new(mxc_ndarray *array, NDArrayHandle *out) {
    mxnet_ndarray *handle = mxnet_alloc(1, sizeof *handle);
    if (!handle) {
        mxc_ndarray_release(array);
        return -1;
    }
    handle->array = array;
    *out = handle;
    return 0;
}

int mxnet_return_arrays(mxnet_slot slot, int64_t n, mxc_ndarray *const *arrays, NDArrayHandle **out) {
    NDArrayHandle *list = mxnet_buffer(slot, (size_t)n, sizeof *list);
    int failed = !list;
    for (int64_t i = 0; i < n; i++) {
        if (failed)
            mxc_ndarray_release(arrays[i]);
        else if (!arrays[i])
            list[i] = NULL;
        else if (mxnet_ndarray_new(arrays[i], &list[i])) {
            failed = 1;
            for (int64_t k = 0; k < i; k++)
                MXNDArrayFree(list[k]);
        }
    }
    if (failed)
        return -1;
    *out = list;
    return 0;
}

mxc_ndarray *mxnet_array(NDArrayHandle handle) {
    const mxnet_ndarray *array = handle;
    if (array && array->array)
        return array->array;
    mxnet_fail(array ? "the array has no shape yet, as nothing has been written to it" : "an NDArray handle is NULL");
    return NULL;
}

int mxnet_arrays(int64_t n, NDArrayHandle const *handles, mxc_ndarray **out) {
    if (n > 0 && !handles)
        return mxnet_fail("a list of %lld arrays is NULL", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        const mxnet_ndarray *array = handles[i];
        out[i] = array ? array->array : NULL;
    }
    return 0;
}

int mxnet_symbol_new(mxc_symbol *symbol, SymbolHandle *out) {
    mxnet_symbol *handle = mxnet_alloc(1, sizeof *handle);
    if (!handle) {
        mxc_symbol_release(symbol);
        return -1;
    }
    handle->symbol = symbol;
    *out = handle;
    return 0;
}

/* Without GPUs, pinned memory is that of the CPU, as in MXNet. */
static int is_plain_memory(int dev_type) {
    int n_gpus = 0;
    return dev_type == MXNET_CPU_SHARED ||
           (dev_type == MXC_CPU_PINNED && (mxc_device_count(MXC_GPU, &n_gpus) != MXC_OK || !n_gpus));
}

int mxnet_context(int dev_type, int dev_id, mxc_context *out) {
    if (is_plain_memory(dev_type))
        dev_type = MXC_CPU;
    if (dev_type <= 0 || dev_type >= MXC_DEVICE_LIMIT)
        return mxnet_fail("device type %d is none of 1 (cpu), 2 (gpu), 3 (cpu_pinned), 5 (cpu_shared)", dev_type);
    if (dev_id < 0 || dev_id > MXC_MAX_DEVICE_ID)
        return mxnet_fail("device number %d is not from 0 to %d", dev_id, MXC_MAX_DEVICE_ID);
    out->device = dev_type;
    out->id = dev_id;
    return 0;
}

const char *mxnet_context_name(const char *name) {
    const char *pinned = "cpu_pinned", *shared = "cpu_shared";
    const int is_pinned = strncmp(name, pinned, strlen(pinned)) == 0;
    const int is_shared = strncmp(name, shared, strlen(shared)) == 0;
    return is_shared || (is_pinned && is_plain_memory(MXC_CPU_PINNED)) ? "cpu(0)" : name;
}

int mxnet_dtype(int number, mxc_dtype *out) {
    if (number < 0 || number >= MXC_DTYPE_LIMIT || !mxc_dtype_size((mxc_dtype)number))
        return mxnet_fail("type %d is not a type of arrays", number);
    *out = (mxc_dtype)number;
    return 0;
}
