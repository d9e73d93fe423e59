/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of dense rows: one loop per pair of element types. A source element is widened to W (float, double or an
 * integer that holds it exactly), and W is stored as the target type: cast_kernels.inc has the loops of one source
 * type. The 16-bit floats have loops from and to float only; all else takes two steps, by tiles.
 */
#include "math/cast_kernels.h"

#include <string.h>

#include <mxc/half.h>

#include "base/simd.h"

/* Truncate towards zero to integer type T, within [low, high]; above is high + 1, which a float holds exactly. */
#define SATURATE(T, w, low, high, above) \
    ((w) >= (above) ? (T)(high) : (w) > (low) ? (T)(w) : (w) != (w) ? (T)0 : (T)(low))

typedef void (*convert_fn)(const void *from, void *to, int64_t n);
enum { DTYPES = 13 }; /* one more than the largest flag */

/* ---- from floats ---- */

#define STORE_I8(w) SATURATE(int8_t, w, -128, 127, 128)
#define STORE_U8(w) SATURATE(uint8_t, w, 0, 255, 256)
#define STORE_I32(w) SATURATE(int32_t, w, -0x1p31f, INT32_MAX, 0x1p31f)
#define STORE_I64(w) SATURATE(int64_t, w, -0x1p63f, INT64_MAX, 0x1p63f)

#define FROM(name) name##_from_f32
#define S float
#define W float
#define LOAD(s) (s)
#include "math/cast_kernels.inc"

#define FROM(name) name##_from_f64
#define S double
#define W double
#define LOAD(s) (s)
#include "math/cast_kernels.inc"

/* ---- from integers and bool ---- */

#undef STORE_I8
#undef STORE_U8
#undef STORE_I32
#undef STORE_I64
#define STORE_I8(w) (int8_t)(w)
#define STORE_U8(w) (uint8_t)(w)
#define STORE_I32(w) (int32_t)(w)
#define STORE_I64(w) (int64_t)(w)

#define FROM(name) name##_from_u8
#define S uint8_t
#define W int32_t
#define LOAD(s) (s)
#include "math/cast_kernels.inc"

#define FROM(name) name##_from_i32
#define S int32_t
#define W int32_t
#define LOAD(s) (s)
#include "math/cast_kernels.inc"

#define FROM(name) name##_from_i8
#define S int8_t
#define W int32_t
#define LOAD(s) (s)
#include "math/cast_kernels.inc"

#define FROM(name) name##_from_i64
#define S int64_t
#define W int64_t
#define LOAD(s) (s)
#include "math/cast_kernels.inc"

#define FROM(name) name##_from_bool
#define S uint8_t
#define W int32_t
#define LOAD(s) ((s) != 0)
#include "math/cast_kernels.inc"

/* ---- between float and the 16-bit floats ---- */

/* Eight at a time by the conversion instruction, the rest one by one. */
static void f16_to_float(const void *from, void *to, int64_t n) {
    const mxc_f16 *x = from;
    float *y = to;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        mxci_store_f32(y + i, mxci_load_f16(x + i));
    for (; i < n; i++)
        y[i] = mxc_f16_to_float(x[i]);
}

static void float_to_f16(const void *from, void *to, int64_t n) {
    const float *x = from;
    mxc_f16 *y = to;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        mxci_store_f16(y + i, mxci_load_f32(x + i));
    for (; i < n; i++)
        y[i] = mxc_float_to_f16(x[i]);
}

static void bf16_to_float(const void *from, void *to, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        ((float *)to)[i] = mxc_bf16_to_float(((const mxc_bf16 *)from)[i]);
}

static void float_to_bf16(const void *from, void *to, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        ((mxc_bf16 *)to)[i] = mxc_float_to_bf16(((const float *)from)[i]);
}

/* ---- all ---- */

enum { F32 = 0, F16 = 2, BF16 = 12, TILE = 512 };

static const size_t sizes[DTYPES] = {4, 8, 2, 1, 4, 1, 8, 1, [BF16] = 2};

/* The loop from one dtype to another; NULL where two steps through float are needed. */
static convert_fn loop_of(int from_dtype, int to_dtype) {
    static const convert_fn *const rows[DTYPES] = {
        [F32] = row_from_f32, [1] = row_from_f64, [3] = row_from_u8,   [4] = row_from_i32,
        [5] = row_from_i8,    [6] = row_from_i64, [7] = row_from_bool,
    };
    if (from_dtype == F16 || from_dtype == BF16)
        return to_dtype != F32 ? NULL : from_dtype == F16 ? f16_to_float : bf16_to_float;
    if (to_dtype == F16 || to_dtype == BF16)
        return from_dtype != F32 ? NULL : to_dtype == F16 ? float_to_f16 : float_to_bf16;
    return rows[from_dtype][to_dtype];
}

void mxci_convert(int from_dtype, const void *from, int to_dtype, void *to, int64_t n) {
    const convert_fn loop = loop_of(from_dtype, to_dtype);
    float tile[TILE];
    if (loop) {
        loop(from, to, n);
        return;
    }
    for (int64_t i = 0; i < n; i += TILE) {
        int64_t count = n - i < TILE ? n - i : TILE;
        mxci_convert(from_dtype, (const char *)from + (size_t)i * sizes[from_dtype], F32, tile, count);
        mxci_convert(F32, tile, to_dtype, (char *)to + (size_t)i * sizes[to_dtype], count);
    }
}

/* ---- filling ---- */

#define REPEAT(name, T)                                          \
    static void name(const void *element, void *to, int64_t n) { \
        T x;                                                     \
        memcpy(&x, element, sizeof x);                           \
        for (int64_t i = 0; i < n; i++)                          \
            ((T *)to)[i] = x;                                    \
    }
REPEAT(repeat_2, uint16_t)
REPEAT(repeat_4, uint32_t)
REPEAT(repeat_8, uint64_t)

/* Filling by element size: the bits do not matter. */
void mxci_repeat(const void *element, size_t bytes, void *to, int64_t n) {
    switch (bytes) {
    case 1:
        memset(to, *(const unsigned char *)element, (size_t)n);
        break;
    case 2:
        repeat_2(element, to, n);
        break;
    case 4:
        repeat_4(element, to, n);
        break;
    default:
        repeat_8(element, to, n);
        break;
    }
}
