/* SPDX-License-Identifier: Apache-2.0 */
/* Filling arrays, queued: one value, uniform and normal random numbers. */
#include <math.h>

#include <mxc/half.h>

#include "base/error.h"
#include "math/cast_kernels.h"
#include "math/random_kernels.h"
#include "ndarray/array_task.h"

enum { TILE = 256, UNIFORM_GRAIN = 16384, NORMAL_GRAIN = 2048 };

/* ---- one value ---- */

static void produce_value(const mxci_array_task *task, const void *source, int64_t begin, int64_t end, void *out) {
    mxc_dtype dtype = task->to->dtype;
    char element[8];
    (void)source;
    mxci_convert(MXC_F64, &task->a, dtype, element, 1);
    mxci_repeat(element, mxc_dtype_size(dtype), out, end - begin);
}

/* Queue a task that needs no source. */
static mxc_status fill_push(mxci_array_task *task, const char *name, int64_t grain, int cheap) {
    mxc_context context = task->to->chunk->context;
    int on_host = mxci_on_host(context);
    task->grain = grain;
    return mxci_array_task_push(task, name, mxci_array_task_run, on_host ? MXC_PROP_NORMAL : MXC_PROP_COPY_TO_DEVICE,
                                context, 0, on_host && cheap);
}

mxc_status mxc_ndarray_fill(mxc_ndarray *array, double value) {
    size_t bytes = mxc_ndarray_bytes(array);
    mxci_array_task *task = NULL;
    void *memory;
    MXC_TRY(MXCI_NON_NULL(array));
    if (bytes == 0)
        return MXC_OK;
    MXC_TRY(mxci_array_data(array, &memory));
    MXC_TRY(mxci_array_task_create(array, NULL, &task));
    task->a = value;
    task->produce = produce_value;
    return fill_push(task, "fill", 1 << 17, bytes <= MXCI_CHEAP_BYTES);
}

/* ---- random numbers ---- */

/* The largest number below high of a 16-bit float type, in which high rounds to near. Both types are sign and
 * magnitude, so that adding 1 to the bits gives the next number away from 0. */
static uint16_t below(uint16_t near, double near_value, double high) {
    if (near_value < high)
        return near;
    if ((near & 0x7fffu) == 0)
        return 0x8001u;
    return (uint16_t)(near & 0x8000u ? near + 1 : near - 1);
}

/* Round to the type, but stay below high. */
static void uniform_f16(const float *x, int64_t n, double high, mxc_f16 *out) {
    mxc_f16 near = mxc_float_to_f16((float)high), last = {below(near.bits, mxc_f16_to_float(near), high)};
    for (int64_t i = 0; i < n; i++) {
        out[i] = mxc_float_to_f16(x[i]);
        if (mxc_f16_to_float(out[i]) >= high)
            out[i] = last;
    }
}

static void uniform_bf16(const float *x, int64_t n, double high, mxc_bf16 *out) {
    mxc_bf16 near = mxc_float_to_bf16((float)high), last = {below(near.bits, mxc_bf16_to_float(near), high)};
    for (int64_t i = 0; i < n; i++) {
        out[i] = mxc_float_to_bf16(x[i]);
        if (mxc_bf16_to_float(out[i]) >= high)
            out[i] = last;
    }
}

static void produce_uniform(const mxci_array_task *task, const void *source, int64_t begin, int64_t end, void *out) {
    const mxc_random *r = &task->random;
    mxc_dtype dtype = task->to->dtype;
    double high = task->a < task->b ? task->b : INFINITY; /* [low, low) gives low */
    float tile[TILE];
    (void)source;
    if (dtype == MXC_F64) {
        mxci_random_uniform_f64(r->seed, r->stream, r->offset, begin, end, task->a, task->b, out);
        return;
    }
    if (dtype == MXC_F32) {
        mxci_random_uniform_f32(r->seed, r->stream, r->offset, begin, end, (float)task->a, (float)task->b, out);
        return;
    }
    for (int64_t at = begin; at < end; at += TILE) {
        int64_t n = end - at < TILE ? end - at : TILE;
        mxci_random_uniform_f32(r->seed, r->stream, r->offset, at, at + n, (float)task->a, (float)task->b, tile);
        if (dtype == MXC_F16)
            uniform_f16(tile, n, high, (mxc_f16 *)out + (at - begin));
        else
            uniform_bf16(tile, n, high, (mxc_bf16 *)out + (at - begin));
    }
}

static void produce_normal(const mxci_array_task *task, const void *source, int64_t begin, int64_t end, void *out) {
    const mxc_random *r = &task->random;
    mxc_dtype dtype = task->to->dtype;
    float tile[TILE];
    (void)source;
    if (dtype == MXC_F64) {
        mxci_random_normal_f64(r->seed, r->stream, r->offset, begin, end, task->a, task->b, out);
        return;
    }
    for (int64_t at = begin; at < end; at += TILE) {
        int64_t n = end - at < TILE ? end - at : TILE;
        mxci_random_normal_f32(r->seed, r->stream, r->offset, at, at + n, (float)task->a, (float)task->b, tile);
        mxci_convert(MXC_F32, tile, dtype, (char *)out + (size_t)(at - begin) * mxc_dtype_size(dtype), n);
    }
}

static mxc_status check_random(const char *caller, const mxc_ndarray *array, double a, double b, int in_order) {
    mxc_dtype dtype = array->dtype;
    if (dtype != MXC_F32 && dtype != MXC_F64 && dtype != MXC_F16 && dtype != MXC_BF16)
        return MXC_FAIL(MXC_EDTYPE, "%s: dtype %s, expected a float type", caller, mxc_dtype_name(dtype));
    if (!in_order || !isfinite(a) || !isfinite(b) || !isfinite(dtype == MXC_F64 ? b - a : (float)b - (float)a))
        return MXC_FAIL(MXC_EINVAL, "%s: parameters %g and %g are not finite and in order", caller, a, b);
    return MXC_OK;
}

static mxc_status push_random(mxc_ndarray *array, double a, double b, int uniform) {
    mxci_array_task *task = NULL;
    mxc_random random;
    void *memory;
    if (array->size == 0)
        return MXC_OK;
    MXC_TRY(mxci_array_data(array, &memory));
    /* One number per element, two for f64, and whole pairs, as Box-Muller needs. They are reserved now and not when the
     * task runs, so that the order of calls decides which numbers it gets. */
    uint64_t numbers = ((uint64_t)array->size + (uint64_t)array->size % 2) * (array->dtype == MXC_F64 ? 2 : 1);
    MXC_TRY(mxc_random_reserve(array->chunk->context, numbers, &random));
    MXC_TRY(mxci_array_task_create(array, NULL, &task));
    task->random = random;
    task->a = a;
    task->b = b;
    task->produce = uniform ? produce_uniform : produce_normal;
    return uniform ? fill_push(task, "uniform", UNIFORM_GRAIN, array->size <= UNIFORM_GRAIN / 8)
                   : fill_push(task, "normal", NORMAL_GRAIN, array->size <= NORMAL_GRAIN / 8);
}

mxc_status mxc_ndarray_fill_uniform(mxc_ndarray *array, double low, double high) {
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(check_random("mxc_ndarray_fill_uniform", array, low, high, low <= high));
    return push_random(array, low, high, 1);
}

mxc_status mxc_ndarray_fill_normal(mxc_ndarray *array, double mean, double deviation) {
    MXC_TRY(MXCI_NON_NULL(array));
    MXC_TRY(check_random("mxc_ndarray_fill_normal", array, mean, deviation, deviation >= 0));
    return push_random(array, mean, deviation, 0);
}
