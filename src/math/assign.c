/* SPDX-License-Identifier: Apache-2.0 */
/* Assignment by write request: copying, adding, filling and casting, split over threads. */
#include "math/assign.h"

#include <string.h>

#include "base/check.h"
#include "math/tile_kernels.h"

/* Without streaming: a row is too short to leave the caches. */
void mxci_assign_row(mxc_req req, mxc_dtype dtype, void *to, const void *from, int64_t n) {
    if (req != MXC_REQ_NULL)
        mxci_assign_elements(req == MXC_REQ_ADD ? MXCI_STORE_ADD : MXCI_STORE_WRITE, dtype, from, to, n);
}

/* to += from, both integers in int64, within the values of an integer dtype. */
static void add_saturated(mxc_dtype dtype, const int64_t *from, int64_t *to, int64_t n) {
    const int64_t low = dtype == MXC_I8 ? INT8_MIN : dtype == MXC_U8 ? 0 : dtype == MXC_I32 ? INT32_MIN : INT64_MIN;
    const int64_t high = dtype == MXC_I8    ? INT8_MAX
                         : dtype == MXC_U8  ? UINT8_MAX
                         : dtype == MXC_I32 ? INT32_MAX
                                            : INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        const int64_t a = to[i], b = from[i];
        if (b > 0)
            to[i] = a > high - b ? high : a + b;
        else if (a <= 0)
            to[i] = b < low - a ? low : a + b;
        else
            to[i] = a + b < low ? low : a + b;
    }
}

/* to += from of different dtypes, n <= MXCI_TILE elements. Adds in the compute type, so that the sum is rounded once;
 * only bool is converted first, since 0.5, which is true, would be truncated, and 1 + -1 is true. */
static void add_tile(mxc_dtype from_dtype, const void *from, mxc_dtype to_dtype, void *to, int64_t n) {
    const mxc_dtype compute = mxci_compute_type(to_dtype);
    int64_t tile[MXCI_TILE], sum[MXCI_TILE];
    if (to_dtype == MXC_BOOL) {
        mxci_convert(from_dtype, from, MXC_BOOL, tile, n);
        mxci_add_row(MXC_BOOL, to, tile, n);
        return;
    }
    mxci_convert(from_dtype, from, compute, tile, n);
    if (compute == MXC_I64 && mxci_compute_type(from_dtype) != MXC_I64) {
        mxci_load(to_dtype, to, sum, n);
        add_saturated(to_dtype, tile, sum, n);
        mxci_store(to_dtype, sum, to, n);
        return;
    }
    mxci_store_add(to_dtype, tile, to, n);
}

void mxci_assign_cast_row(mxc_req req, mxc_dtype from_dtype, const void *from, mxc_dtype to_dtype, void *to,
                          int64_t n) {
    if (req == MXC_REQ_NULL || from_dtype == to_dtype) {
        mxci_assign_row(req, to_dtype, to, from, n);
        return;
    }
    if (req != MXC_REQ_ADD) {
        mxci_convert(from_dtype, from, to_dtype, to, n);
        return;
    }
    for (int64_t i = 0; i < n; i += MXCI_TILE) {
        const int64_t length = n - i < MXCI_TILE ? n - i : MXCI_TILE;
        add_tile(from_dtype, (const char *)from + (size_t)i * mxc_dtype_size(from_dtype), to_dtype,
                 (char *)to + (size_t)i * mxc_dtype_size(to_dtype), length);
    }
}

int mxci_store_mode(mxc_req req, size_t bytes, int in_place) {
    if (req == MXC_REQ_ADD)
        return MXCI_STORE_ADD;
    return bytes >= MXCI_STREAM_BYTES && !in_place ? MXCI_STORE_STREAM : MXCI_STORE_WRITE;
}

typedef struct put_args {
    int store_mode;
    const mxc_tensor *to, *from;
    double value;
} put_args;

static int store_mode_of(mxc_req req, const mxc_tensor *to) {
    return mxci_store_mode(req, mxci_tensor_bytes(to), 0);
}

/* Elements begin..end-1. */
static void assign_put_range(void *arg, int64_t begin, int64_t end, int part) {
    const put_args *a = arg;
    (void)part;
    mxci_assign_elements(a->store_mode, a->to->dtype, mxci_at(a->from, begin), mxci_at(a->to, begin), end - begin);
    mxci_stream_end();
}

void mxci_assign(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from) {
    put_args args = {store_mode_of(req, to), to, from, 0};
    MXCI_ASSERT(req == MXC_REQ_NULL || (to->dtype == from->dtype && mxci_tensor_size(to) == mxci_tensor_size(from)));
    if (req == MXC_REQ_NULL || (req != MXC_REQ_ADD && to->data == from->data))
        return;
    mxc_parallel_for(run, mxci_tensor_size(to), MXCI_GRAIN, assign_put_range, &args);
}

/* The value is converted once, to a tile that is then stored as often as needed. */
static void fill_range(void *arg, int64_t begin, int64_t end, int part) {
    const put_args *a = arg;
    _Alignas(64) int64_t tile[MXCI_TILE]; /* of the compute type, which is at most 8 bytes */
    mxc_dtype dtype = a->to->dtype;
    (void)part;
    mxci_fill_compute(mxci_compute_type(dtype), a->value, tile, end - begin < MXCI_TILE ? end - begin : MXCI_TILE);
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        mxci_assign_tile(a->store_mode, dtype, tile, mxci_at(a->to, i), n);
    }
    mxci_stream_end();
}

void mxci_assign_constant(const mxc_run *run, mxc_req req, const mxc_tensor *to, double value) {
    put_args args = {store_mode_of(req, to), to, NULL, value};
    if (req != MXC_REQ_NULL)
        mxc_parallel_for(run, mxci_tensor_size(to), MXCI_GRAIN, fill_range, &args);
}

/* Adding and streaming go through a tile; plain writing converts in one sweep. */
static void cast_range(void *arg, int64_t begin, int64_t end, int part) {
    const put_args *a = arg;
    mxc_dtype from = a->from->dtype, to = a->to->dtype;
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    if (a->store_mode == MXCI_STORE_WRITE) {
        mxci_convert(from, mxci_at(a->from, begin), to, mxci_at(a->to, begin), end - begin);
        return;
    }
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        mxci_convert(from, mxci_at(a->from, i), to, tile, n);
        mxci_assign_elements(a->store_mode, to, tile, mxci_at(a->to, i), n);
    }
    mxci_stream_end();
}

void mxci_assign_cast(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from) {
    put_args args = {store_mode_of(req, to), to, from, 0};
    if (req != MXC_REQ_NULL)
        mxc_parallel_for(run, mxci_tensor_size(to), MXCI_GRAIN, cast_range, &args);
}

/* One conversion per element: for statistics and parameters, not for loops over data. */
double mxci_value_at(const mxc_tensor *t, int64_t i) {
    double value;
    mxci_convert(t->dtype, mxci_at(t, i), MXC_F64, &value, 1);
    return value;
}

void mxci_assign_value(mxc_req req, const mxc_tensor *to, int64_t i, double value) {
    double element;
    if (req == MXC_REQ_NULL)
        return;
    mxci_convert(MXC_F64, &value, to->dtype, &element, 1);
    mxci_assign_row(req, to->dtype, mxci_at(to, i), &element, 1);
}
