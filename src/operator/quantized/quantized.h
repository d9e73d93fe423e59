/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized arrays: integers of 8 or 32 bits that stand for numbers of a range, whose bounds are two arrays of one
 * float32 each. The range is symmetric about 0: integer q stands for q times a unit, the larger of the bounds' absolute
 * values over 127 (int8), 255 (uint8, which has no negative half) or 2147483647 (int32). */
#ifndef MXCI_OPERATOR_QUANTIZED_QUANTIZED_H
#define MXCI_OPERATOR_QUANTIZED_QUANTIZED_H

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/batch_norm.h"

#define MXCI_DTYPES_QUANTIZED (MXC_DTYPE_BIT(MXC_I8) | MXC_DTYPE_BIT(MXC_U8))
enum { MXCI_AUTO, MXCI_INT8, MXCI_UINT8 }; /* out_type */

/* min_calib_range and max_calib_range, NaN where not given. mxci_calib_given returns 1 if both are. */
typedef struct mxci_calib {
    double low, high;
} mxci_calib;
int mxci_calib_given(const mxci_calib *calib);

/* Parameters of _contrib_quantize_v2 and _contrib_requantize. */
typedef struct mxci_range_params {
    int32_t out_type;
    mxci_calib calib;
} mxci_range_params;

/* Of _contrib_quantized_elemwise_add and _mul. */
typedef struct mxci_quantized_elemwise_params {
    mxci_calib calib;
    int32_t enable_float_output; /* of products only */
} mxci_quantized_elemwise_params;

/* Of _contrib_quantized_batch_norm: of norm, only eps and fix_gamma have an effect. */
typedef struct mxci_quantized_bn_params {
    mxci_bn_params norm;
    mxci_calib calib;
} mxci_quantized_bn_params;

#define MXCI_CALIB_SCHEMA(params, member)                                                                            \
    {MXC_PARAM_FIELD(params, member.low),                                                                            \
     .name = "min_calib_range",                                                                                      \
     .type = MXC_PARAM_FLOAT,                                                                                        \
     .initial = "None",                                                                                              \
     .optional = 1,                                                                                                  \
     .doc = "Calibrated minimum of the output. None: found in each run."},                                           \
    {                                                                                                                \
        MXC_PARAM_FIELD(params, member.high), .name = "max_calib_range", .type = MXC_PARAM_FLOAT, .initial = "None", \
                                              .optional = 1,                                                         \
                                              .doc = "Calibrated maximum of the output. None: found in each run."    \
    }
/* The dtype that out_type names; auto: uint8 for a calibrated range without negative numbers, else int8. */
mxc_dtype mxci_calib_type(int out_type, const mxci_calib *calib);

/* The largest integer of a quantized dtype that is used. */
static inline double mxci_quantized_max(mxc_dtype dtype) {
    return dtype == MXC_U8 ? 255 : dtype == MXC_I8 ? 127 : 2147483647.0;
}
/* 1 / unit, and 0 for a range of 0, whose numbers are all 0. */
static inline double mxci_inverse_unit(double unit) {
    return unit > 0 ? 1 / unit : 0;
}
/* The unit of a dtype in the range of two arrays. */
double mxci_quantized_unit(mxc_dtype dtype, const mxc_tensor *low, const mxc_tensor *high);

/* Arguments from first on, and outputs 1 and 2 where there are, are bounds: shape (1,), float32. */
mxc_status mxci_infer_bounds(mxc_op_sig *sig, int first);
mxc_status mxci_infer_bound_types(mxc_op_sig *sig, int first);
/* One shape for the first n arguments and output 0, the other arguments are bounds; and all types: that of argument 0
 * and output 0 is one. */
mxc_status mxci_infer_quantized(mxc_op_sig *sig);
mxc_status mxci_infer_quantized_type(mxc_op_sig *sig);
/* Outputs 1 and 2 = low and high, or = two arguments. */
void mxci_assign_bounds(const mxc_op_call *call, double low, double high);
void mxci_pass_bounds(const mxc_op_call *call, int low, int high);

/* to = or += from, converted element by element: to a float dtype as from * scale + shift, to a quantized one as
 * (from - shift) * scale, rounded, halves away from 0, and saturated to the part of the dtype that is used. */
void mxci_rescale(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, double shift,
                  double scale);
/* The least and the largest element, NaN excepted; 0 and 0 where there are none. temp: mxci_min_max_bytes. */
size_t mxci_min_max_bytes(const mxc_op_sig *sig, mxc_pass pass);
void mxci_min_max(const mxc_run *run, const mxc_tensor *of, void *temp, double *least, double *most);

#endif
