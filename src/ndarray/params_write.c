/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of MXNet's .params list files: records V2, and V3 for arrays without axes. Layout: params_read.c. */
#include <string.h>

#include "base/error.h"
#include "ndarray/array.h"
#include "ndarray/array_list.h"
#include "ndarray/params_format.h"

/* The part of a record before its data. */
typedef struct record_header {
    unsigned char bytes[128];
    size_t length;
} record_header;

static void write_number(record_header *header, const void *value, size_t bytes) {
    memcpy(header->bytes + header->length, value, bytes);
    header->length += bytes;
}

static void put_u32(record_header *header, uint32_t value) {
    write_number(header, &value, sizeof value);
}

/* array NULL: "none". */
static void make_header(record_header *header, const mxc_ndarray *array) {
    int32_t ndim = array ? array->shape.ndim : 0;
    header->length = 0;
    put_u32(header, array && ndim == 0 ? MXCI_PARAMS_V3 : MXCI_PARAMS_V2);
    put_u32(header, MXCI_DENSE);
    put_u32(header, (uint32_t)ndim);
    if (!array)
        return;
    write_number(header, array->shape.dim, (size_t)ndim * sizeof *array->shape.dim);
    put_u32(header, MXC_CPU);
    put_u32(header, 0); /* device id */
    put_u32(header, (uint32_t)array->dtype);
}

static mxc_status write_u64(mxci_writer *w, uint64_t value) {
    return mxci_writer_write(w, &value, sizeof value);
}

static mxc_status write_record(mxci_writer *w, mxc_ndarray *array) {
    mxc_ndarray *host = NULL;
    record_header header;
    mxc_status status;
    void *data;
    make_header(&header, array);
    MXC_TRY(mxci_writer_write(w, header.bytes, header.length));
    if (!array)
        return MXC_OK;
    MXC_TRY(mxci_array_on_host(array, &host, &data));
    status = mxci_writer_write(w, data, mxci_array_bytes(host));
    mxc_ndarray_release(host);
    return status;
}

static mxc_status write_list(mxci_writer *w, int64_t n, mxc_ndarray *const *arrays, const char *const *names) {
    MXC_TRY(write_u64(w, MXCI_PARAMS_LIST));
    MXC_TRY(write_u64(w, 0));
    MXC_TRY(write_u64(w, (uint64_t)n));
    for (int64_t i = 0; i < n; i++)
        MXC_TRY(write_record(w, arrays[i]));
    MXC_TRY(write_u64(w, names ? (uint64_t)n : 0));
    for (int64_t i = 0; names && i < n; i++) {
        MXC_TRY(write_u64(w, strlen(names[i])));
        MXC_TRY(mxci_writer_write(w, names[i], strlen(names[i])));
    }
    return MXC_OK;
}

mxc_status mxc_ndarray_save(const char *path, int64_t n, mxc_ndarray *const *arrays, const char *const *names) {
    mxci_writer *w;
    mxc_status status;
    MXC_TRY(MXCI_NON_NULL(path));
    if (n < 0 || (n > 0 && !arrays))
        return MXC_FAIL(MXC_EINVAL, "mxc_ndarray_save: %lld arrays%s", (long long)n, n > 0 ? " at NULL" : "");
    MXC_TRY(mxci_array_names_check("mxc_ndarray_save", n, names));
    MXC_TRY(mxci_writer_open(path, &w));
    status = write_list(w, n, arrays, names);
    if (status == MXC_OK)
        return mxci_writer_commit(w);
    mxci_writer_abandon(w);
    return status;
}
