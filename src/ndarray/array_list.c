/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of named arrays: checking names, lookup, release, and memory for the contents of files. */
#include "ndarray/array_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/text.h"
#include "ndarray/array.h"

/* ---- names ------------------------------------------------------------------------------------------------------- */

const char *mxci_array_name_fault(const char *name, size_t bytes) {
    if (bytes > MXCI_ARRAY_NAME_MAX)
        return "is longer than 65535 bytes";
    if (memchr(name, 0, bytes))
        return "contains a NUL byte";
    for (size_t at = 0, length; at < bytes; at += length) {
        length = mxci_utf8_length(name + at, bytes - at);
        if (length == 0)
            return "is not UTF-8";
    }
    return NULL;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By sorting: files may hold many names. */
mxc_status mxci_array_name_duplicate(int64_t n, char *const *names, const char **out) {
    char **sorted;
    *out = NULL;
    if (n < 2)
        return MXC_OK;
    sorted = mxci_realloc_array(NULL, (size_t)n, sizeof *sorted);
    if (!sorted)
        return MXC_FAIL(MXC_ENOMEM, "no memory to compare %lld names", (long long)n);
    memcpy(sorted, names, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_text);
    for (int64_t i = 1; i < n && !*out; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            *out = sorted[i];
    mxci_free(sorted);
    return MXC_OK;
}

mxc_status mxci_array_names_check(const char *caller, int64_t n, const char *const *names) {
    const char *twice = NULL;
    if (!names)
        return MXC_OK;
    for (int64_t i = 0; i < n; i++) {
        const char *fault = names[i] ? mxci_array_name_fault(names[i], strlen(names[i])) : "is NULL";
        if (fault)
            return MXC_FAIL(MXC_EINVAL, "%s: name %lld %s", caller, (long long)i, fault);
    }
    MXC_TRY(mxci_array_name_duplicate(n, (char *const *)names, &twice));
    if (twice)
        return MXC_FAIL(MXC_EEXIST, "%s: the name \"%.100s\" occurs twice", caller, twice);
    return MXC_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

mxc_status mxci_array_list_create(mxci_byte_source *source, int64_t at, uint64_t n, int named, mxc_ndarray_list *out) {
    uint64_t most = 65536 + (uint64_t)source->size / 256; /* a handle takes some 400 bytes of memory */
    *out = (mxc_ndarray_list){0, NULL, NULL};
    if (n > most)
        return MXCI_BYTE_SOURCE_FAIL(source, at, MXC_EFORMAT,
                                     "%llu arrays, at most %llu accepted in a file of %lld bytes",
                                     (unsigned long long)n, (unsigned long long)most, (long long)source->size);
    if (n == 0)
        return MXC_OK;
    out->arrays = mxci_calloc((size_t)n, sizeof *out->arrays);
    if (named)
        out->names = mxci_calloc((size_t)n, sizeof *out->names);
    if (!out->arrays || (named && !out->names)) {
        mxc_ndarray_list_release(out);
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for a list of %llu arrays", source->name, (unsigned long long)n);
    }
    out->n = (int64_t)n;
    return MXC_OK;
}

void mxc_ndarray_list_release(mxc_ndarray_list *list) {
    if (!list)
        return;
    for (int64_t i = 0; i < list->n; i++) {
        mxc_ndarray_release(list->arrays[i]);
        if (list->names)
            mxci_free(list->names[i]);
    }
    mxci_free(list->arrays);
    mxci_free(list->names);
    *list = (mxc_ndarray_list){0, NULL, NULL};
}

mxc_ndarray *mxc_ndarray_list_find(const mxc_ndarray_list *list, const char *name) {
    for (int64_t i = 0; list && name && list->names && i < list->n; i++)
        if (strcmp(list->names[i], name) == 0)
            return list->arrays[i];
    return NULL;
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

mxc_status mxci_array_on_host(mxc_ndarray *array, mxc_ndarray **out, void **data) {
    mxc_status status;
    *data = NULL;
    if (mxci_on_host(array->chunk->context))
        *out = mxc_ndarray_retain(array);
    else
        MXC_TRY(mxc_ndarray_copy(array, mxc_cpu(0), array->dtype, out));
    status = mxc_ndarray_data(*out, data);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

/* Memory of one large array of a file. */
typedef struct file_block {
    void *data;
    size_t bytes;
} file_block;

static void file_block_release(void *arg) {
    const mxci_device *device;
    file_block *block = arg;
    if (mxci_device_get(mxc_cpu(0), &device) == MXC_OK) /* the device allocated it, so it exists */
        device->free(mxc_cpu(0), block->data, block->bytes);
    mxci_free(block);
}

mxc_status mxci_array_for_file(mxci_byte_source *source, const mxc_shape *shape, mxc_dtype dtype, size_t bytes,
                               mxc_ndarray **out) {
    enum { LARGE = 1 << 20 };
    const mxci_device *device;
    file_block *block;
    mxc_status status;
    *out = NULL;
    if (bytes < LARGE)
        return mxci_ndarray_new(source->name, shape, dtype, mxc_cpu(0), out);
    MXC_TRY(mxci_device_get(mxc_cpu(0), &device));
    block = mxci_calloc(1, sizeof *block);
    if (!block)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for an array", source->name);
    block->bytes = bytes;
    status = device->alloc(mxc_cpu(0), bytes, &block->data);
    if (status == MXC_OK)
        status = mxci_ndarray_wrap(source->name, shape, dtype, mxc_cpu(0), block->data, file_block_release, block, out);
    if (status != MXC_OK)
        file_block_release(block);
    return status;
}

mxc_status mxci_array_read(mxci_byte_source *source, mxc_ndarray *array) {
    void *data;
    MXC_TRY(mxci_array_data(array, &data));
    return mxci_byte_source_read(source, "array data", data, mxci_array_bytes(array));
}

void mxci_array_normalize_bools(mxc_ndarray *array) {
    unsigned char *bytes = atomic_load(&array->chunk->data);
    for (int64_t i = 0; array->dtype == MXC_BOOL && i < array->size; i++)
        bytes[array->offset + (size_t)i] = bytes[array->offset + (size_t)i] != 0;
}

mxc_ndarray *mxci_array_list_find(const mxc_ndarray_list *list, const char *prefix, const char *name) {
    size_t n = strlen(prefix);
    for (int64_t i = 0; list->names && i < list->n; i++)
        if (strncmp(list->names[i], prefix, n) == 0 && strcmp(list->names[i] + n, name) == 0)
            return list->arrays[i];
    return NULL;
}
