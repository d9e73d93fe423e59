/* The reduction loops by compute type, and their tables. */
#include "math/reduce_kernels.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "math/loop.h"

enum { LANES = 4, CHAINS = 8 };

typedef mxci_mask_f64 integers; /* int64_t, that is */
typedef uint64_t naturals __attribute__((vector_size(32)));

MXCI_INLINE integers load_i64(const int64_t *p) {
    integers v;
    memcpy(&v, p, sizeof v);
    return v;
}

MXCI_INLINE integers select_i64(integers mask, integers a, integers b) {
    return (mask & a) | (~mask & b);
}

#define R float
#define LOAD mxci_widen_f32
#define S double
#define V mxci_v_f64
#define SELECT mxci_select_f64
#define NAME(f) f##_f32
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#include "math/reduce_kernels.inc"

#define R double
#define LOAD mxci_load_f64
#define S double
#define V mxci_v_f64
#define SELECT mxci_select_f64
#define NAME(f) f##_f64
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#include "math/reduce_kernels.inc"

#define R int64_t
#define LOAD load_i64
#define S int64_t
#define V integers
#define SELECT select_i64
#define NAME(f) f##_i64
#define ADD(a, b) ((X)((NATURAL)(a) + (NATURAL)(b))) /* wraps */
#define MUL(a, b) ((X)((NATURAL)(a) * (NATURAL)(b)))
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "math/reduce_kernels.inc"

#define ENTRY(id, type) \
    { id##_start_##type, id##_along_##type, id##_across_##type, id##_merge_##type }

const mxci_reduce_kernel mxci_reduce_kernels[MXCI_REDUCE_COUNT][MXCI_COMPUTE_LIMIT] = {
#define REDUCE(id, ...) \
    [MXCI_REDUCE_##id] = {[MXC_F32] = ENTRY(id, f32), [MXC_F64] = ENTRY(id, f64), [MXC_I64] = ENTRY(id, i64)},
#include "math/reduce_kernels.def"
#undef REDUCE
};

#define R float
#define NAME(f) grad_##f##_f32
#include "math/reduce_grad_kernels.inc"

#define R double
#define NAME(f) grad_##f##_f64
#include "math/reduce_grad_kernels.inc"

#define GRADIENT(f)                                                \
    const mxci_map_fn mxci_reduce_grad_##f[MXCI_COMPUTE_LIMIT] = { \
        [MXC_F32] = grad_##f##_f32, [MXC_F64] = grad_##f##_f64};
GRADIENT(select)
GRADIENT(prod)
GRADIENT(nanprod)
GRADIENT(norm)
GRADIENT(abs)
GRADIENT(nansum)
GRADIENT(scale)
