/* argmax and argmin by compute type. */
#include "operator/reduce/argmax_kernels.h"

#include "math/loop.h"

enum { FEW = 32 };

#define NOT_A_NUMBER(x) ((x) != (x))
#define R float
#define NAME(f) f##_F32
#include "operator/reduce/argmax_kernels.inc"

#define R double
#define NAME(f) f##_F64
#include "operator/reduce/argmax_kernels.inc"

#undef NOT_A_NUMBER
#define NOT_A_NUMBER(x) 0
#define R int64_t
#define NAME(f) f##_I64
#include "operator/reduce/argmax_kernels.inc"

#define ENTRY(name, type) [MXC_##type] = {name##_offer_##type, name##_offer_row_##type, name##_merge_##type}
const mxci_arg_kernel mxci_argmax_kernels[MXCI_COMPUTE_LIMIT] = {
    ENTRY(argmax, F32),
    ENTRY(argmax, F64),
    ENTRY(argmax, I64),
};
const mxci_arg_kernel mxci_argmin_kernels[MXCI_COMPUTE_LIMIT] = {
    ENTRY(argmin, F32),
    ENTRY(argmin, F64),
    ENTRY(argmin, I64),
};
