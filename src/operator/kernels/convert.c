/* Element conversion by dtype: convert.inc once per dtype, and a table of the loops. */
#include "operator/kernels/convert.h"


#include "base/half.h"

#define SUM(a, b) ((a) + (b))

#define T float
#define C float
#define NAME(f) f##_f32
#define LOAD(x) (x)
#define STORE(c) (c)
#include "operator/kernels/convert.inc"

#define T double
#define C double
#define NAME(f) f##_f64
#define LOAD(x) (x)
#define STORE(c) (c)
#include "operator/kernels/convert.inc"

#define T mxci_f16
#define C float
#define NAME(f) f##_f16
#define LOAD(x) mxci_f16_to_float(x)
#define STORE(c) mxci_float_to_f16(c)
#include "operator/kernels/convert.inc"

#define T mxci_bf16
#define C float
#define NAME(f) f##_bf16
#define LOAD(x) mxci_bf16_to_float(x)
#define STORE(c) mxci_float_to_bf16(c)
#include "operator/kernels/convert.inc"

#undef SUM
#define SUM(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b))) /* wraps */

#define T int8_t
#define C int64_t
#define NAME(f) f##_i8
#define LOAD(x) (x)
#define STORE(c) ((int8_t)(c))
#include "operator/kernels/convert.inc"

#define T uint8_t
#define C int64_t
#define NAME(f) f##_u8
#define LOAD(x) (x)
#define STORE(c) ((uint8_t)(c))
#include "operator/kernels/convert.inc"

#define T int32_t
#define C int64_t
#define NAME(f) f##_i32
#define LOAD(x) (x)
#define STORE(c) ((int32_t)(c))
#include "operator/kernels/convert.inc"

#define T int64_t
#define C int64_t
#define NAME(f) f##_i64
#define LOAD(x) (x)
#define STORE(c) (c)
#include "operator/kernels/convert.inc"

#define T uint8_t /* a bool in memory; any byte but 0 is true */
#define C int64_t
#define NAME(f) f##_bool
#define LOAD(x) ((x) != 0)
#define STORE(c) ((uint8_t)((c) != 0))
#include "operator/kernels/convert.inc"

typedef void (*row_fn)(const void *from, void *to, int64_t n);

#define BY_DTYPE(f)                                                                                                     \
    { [MXC_F32] = f##_f32, [MXC_F64] = f##_f64, [MXC_F16] = f##_f16, [MXC_U8] = f##_u8, [MXC_I32] = f##_i32,            \
      [MXC_I8] = f##_i8, [MXC_I64] = f##_i64, [MXC_BOOL] = f##_bool, [MXC_BF16] = f##_bf16 }

static const row_fn loads[MXC_DTYPE_LIMIT] = BY_DTYPE(load);
static const row_fn stores[MXC_DTYPE_LIMIT] = BY_DTYPE(store);
static const row_fn store_adds[MXC_DTYPE_LIMIT] = BY_DTYPE(store_add);
static const row_fn add_rows[MXC_DTYPE_LIMIT] = BY_DTYPE(add_row);

void mxci_load(mxc_dtype dtype, const void *from, void *to, int64_t n) {
    loads[dtype](from, to, n);
}

void mxci_store(mxc_dtype dtype, const void *from, void *to, int64_t n) {
    stores[dtype](from, to, n);
}

void mxci_store_add(mxc_dtype dtype, const void *from, void *to, int64_t n) {
    store_adds[dtype](from, to, n);
}

void mxci_add_row(mxc_dtype dtype, void *to, const void *from, int64_t n) {
    add_rows[dtype](from, to, n);
}

static int64_t whole(double value) {
    if (value != value)
        return 0;
    return value >= 9223372036854775808.0 ? INT64_MAX : value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

void mxci_fill_compute(mxc_dtype compute, double value, void *to, int64_t n) {
    switch (compute) {
    case MXC_F32:
        for (int64_t i = 0; i < n; i++)
            ((float *)to)[i] = (float)value;
        break;
    case MXC_F64:
        for (int64_t i = 0; i < n; i++)
            ((double *)to)[i] = value;
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            ((int64_t *)to)[i] = whole(value);
    }
}
