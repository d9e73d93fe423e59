/* The reduction loops by compute type, and their tables. */
#include "operator/kernels/reduce.h"

#include <math.h>
#include <string.h>

#include "operator/kernels/loop.h"

/* Accumulators in registers, and rows that take turns with them. */
enum { LANES = 64, FEW_ROWS = 4 };

#define R float
#define S double
#define NAME(f) f##_f32
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#include "operator/kernels/reduce.inc"

#define R double
#define S double
#define NAME(f) f##_f64
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#include "operator/kernels/reduce.inc"

#define R int64_t
#define S int64_t
#define NAME(f) f##_i64
#define ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b))) /* wraps */
#define MUL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "operator/kernels/reduce.inc"

#define ENTRY(id, type) {id##_start_##type, id##_row_##type, id##_rows_##type, id##_merge_##type}

const mxci_reduce_kernel mxci_reduce_kernels[MXCI_REDUCE_COUNT][MXCI_COMPUTE_LIMIT] = {
#define REDUCE(id, ...) \
    [MXCI_REDUCE_##id] = {[MXC_F32] = ENTRY(id, f32), [MXC_F64] = ENTRY(id, f64), [MXC_I64] = ENTRY(id, i64)},
#include "operator/kernels/reduce.def"
#undef REDUCE
};

#define R float
#define NAME(f) grad_##f##_f32
#include "operator/kernels/reduce_grad.inc"

#define R double
#define NAME(f) grad_##f##_f64
#include "operator/kernels/reduce_grad.inc"

#define GRADIENT(f)                                                                                                    \
    const mxci_map_fn mxci_reduce_grad_##f[MXCI_COMPUTE_LIMIT] = {                                                     \
        [MXC_F32] = grad_##f##_f32, [MXC_F64] = grad_##f##_f64};
GRADIENT(select)
GRADIENT(prod)
GRADIENT(nanprod)
GRADIENT(norm)
GRADIENT(nansum)
GRADIENT(scale)
