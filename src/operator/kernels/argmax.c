/* argmax and argmin by compute type. */
#include "operator/kernels/argmax.h"

#include "operator/kernels/loop.h"

enum { FEW = 32 };

#define NOT_A_NUMBER(x) ((x) != (x))
#define R float
#define NAME(f) f##_f32
#include "operator/kernels/argmax.inc"

#define R double
#define NAME(f) f##_f64
#include "operator/kernels/argmax.inc"

#undef NOT_A_NUMBER
#define NOT_A_NUMBER(x) 0
#define R int64_t
#define NAME(f) f##_i64
#include "operator/kernels/argmax.inc"

#define BY_TYPE(f) {[MXC_F32] = f##_f32, [MXC_F64] = f##_f64, [MXC_I64] = f##_i64}
const mxci_arg_fn mxci_argmax_offer[MXCI_COMPUTE_LIMIT] = BY_TYPE(offer_max);
const mxci_arg_fn mxci_argmin_offer[MXCI_COMPUTE_LIMIT] = BY_TYPE(offer_min);
const mxci_arg_fn mxci_argmax_row[MXCI_COMPUTE_LIMIT] = BY_TYPE(row_max);
const mxci_arg_fn mxci_argmin_row[MXCI_COMPUTE_LIMIT] = BY_TYPE(row_min);
