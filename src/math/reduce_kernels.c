/* SPDX-License-Identifier: Apache-2.0 */
/* The reduction loops by compute type, and their tables. */
#include "math/reduce_kernels.h"

#include <math.h>
#include <string.h>

#include "base/simd_wide.h"
#include "math/loop.h"

enum { LANES = MXCI_WIDE_F64, CHAINS = 8 };

typedef mxci_wide_mask_f64 integers; /* int64_t, that is */

/* LANES elements as sums. */
MXCI_INLINE mxci_wide_f64 load_sums_f32(const float *p) {
    return mxci_wide_widen_f32(p);
}

MXCI_INLINE mxci_wide_f64 load_sums_f64(const double *p) {
    return mxci_wide_load_f64(p);
}

MXCI_INLINE integers load_sums_i64(const int64_t *p) {
    integers v;
    memcpy(&v, p, sizeof v);
    return v;
}

typedef uint64_t naturals __attribute__((vector_size(MXCI_WIDE)));

MXCI_INLINE integers mxci_wide_select_i64(integers mask, integers a, integers b) {
    return (mask & a) | (~mask & b);
}

#define BODY "math/reduce_kernels.inc"
#define FOR_COMPUTE
#include "math/for_types.inc"

#define ENTRY(id, type) \
    { id##_start_##type, id##_along_##type, id##_across_##type, id##_merge_##type }

const mxci_reduce_kernel mxci_reduce_kernels[MXCI_REDUCE_COUNT][MXCI_COMPUTE_LIMIT] = {
#define REDUCE(id, ...) \
    [MXCI_REDUCE_##id] = {[MXC_F32] = ENTRY(id, f32), [MXC_F64] = ENTRY(id, f64), [MXC_I64] = ENTRY(id, i64)},
#include "math/reduce_kernels.def"
#undef REDUCE
};

#define BODY "math/reduce_grad_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

#define GRADIENT(f) const mxci_map_fn mxci_reduce_grad_##f[MXCI_COMPUTE_LIMIT] = MXCI_REAL_TABLE(grad_##f);
GRADIENT(select)
GRADIENT(prod)
GRADIENT(nanprod)
GRADIENT(norm)
GRADIENT(abs)
GRADIENT(square)
GRADIENT(nansum)
GRADIENT(scale)
