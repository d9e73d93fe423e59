/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized arrays: integers of 8 or 32 bits that stand for numbers of a range, whose bounds are two arrays of one
 * float32 each. The range is symmetric about 0: integer q stands for q times a unit, the larger of the bounds' absolute
 * values over 127 (int8), 255 (uint8, which has no negative half) or 2147483647 (int32). */
#ifndef MXCI_OPERATOR_QUANTIZED_QUANTIZED_H
#define MXCI_OPERATOR_QUANTIZED_QUANTIZED_H

#include <math.h>

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/batch_norm.h"
#include "operator/tensor/concat.h"

#define MXCI_DTYPES_QUANTIZED (MXC_DTYPE_BIT(MXC_I8) | MXC_DTYPE_BIT(MXC_U8))
enum { MXCI_AUTO, MXCI_INT8, MXCI_UINT8 }; /* out_type */

/* min_calib_range and max_calib_range, NaN where not given, and half_steps: the range is that of MXNet's operators for
 * oneDNN, which ends half a step beyond the last code. mxci_calib_given returns 1 if both bounds are given. */
typedef struct mxci_calib {
    double low, high;
    int32_t half_steps;
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

/* Of _contrib_quantized_concat: of calib, only half_steps. */
enum { MXCI_QUANTIZED_CONCAT_MAX = 64, MXCI_QUANTIZED_CONCAT_NAME = 24 };
typedef struct mxci_quantized_concat_params {
    mxci_concat_params base; /* first: what mxci_concat_infer sees */
    mxci_calib calib;
    char names[MXCI_QUANTIZED_CONCAT_MAX * MXCI_QUANTIZED_CONCAT_NAME + 1];
} mxci_quantized_concat_params;

/* Of _contrib_quantized_batch_norm: of norm, only eps and fix_gamma have an effect. */
typedef struct mxci_quantized_bn_params {
    mxci_bn_params norm;
    mxci_calib calib;
} mxci_quantized_bn_params;

/* The entries of a schema: the bounds, and all three. */
#define MXCI_CALIB_BOUNDS_SCHEMA(params, member)                                                                     \
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
#define MXCI_HALF_STEPS_SCHEMA(params, member)                                                                        \
    {                                                                                                                 \
        MXC_PARAM_FIELD(params, member.half_steps), .name = "half_steps", .type = MXC_PARAM_BOOL, .initial = "False", \
                                                    .doc = "The range r ends half a step beyond the last code: a "    \
                                                           "code of 8 bits stands for r / 127.5 (int8) or r / "       \
                                                           "255.5 (uint8), and the outputs give the range of the "    \
                                                           "codes. Set where graphs for oneDNN are read."             \
    }
#define MXCI_CALIB_SCHEMA(params, member) \
    MXCI_CALIB_BOUNDS_SCHEMA(params, member), MXCI_HALF_STEPS_SCHEMA(params, member)
/* The dtype that out_type names; auto: uint8 for a calibrated range without negative numbers, else int8. */
mxc_dtype mxci_calib_type(int out_type, const mxci_calib *calib);

/* The largest integer of a quantized dtype that is used. */
static inline double mxci_quantized_max(mxc_dtype dtype) {
    return dtype == MXC_U8 ? 255 : dtype == MXC_I8 ? 127 : 2147483647.0;
}
/* Where the range ends, relative to the last code of a dtype. int32 has no half steps. */
static inline double mxci_calib_end(const mxci_calib *calib, mxc_dtype dtype) {
    return calib->half_steps && dtype != MXC_I32 ? 1 + 0.5 / mxci_quantized_max(dtype) : 1;
}
/* The unit of codes of a dtype whose range has these bounds. */
static inline double mxci_calib_unit(const mxci_calib *calib, mxc_dtype dtype, double low, double high) {
    const double half = calib->half_steps && dtype != MXC_I32 ? 0.5 : 0;
    return fmax(fabs(low), fabs(high)) / (mxci_quantized_max(dtype) + half);
}
/* The least code: where a range ends half a step beyond 127, its lower end is as near to -128. */
static inline double mxci_calib_least(const mxci_calib *calib, mxc_dtype dtype) {
    double most = mxci_quantized_max(dtype);
    return dtype == MXC_U8 ? 0 : dtype == MXC_I8 && calib->half_steps ? -128 : -most;
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
/* mxc_op_def.channels_last of operators that compute element by element. */
int mxci_quantized_any_layout(const mxc_op *op, int ndim, mxc_channels_last *out);

/* Outputs 1 and 2 = low and high, or = two arguments, or = the bounds of a range; those of its codes where it ends half
 * a step beyond them. */
void mxci_assign_bounds(const mxc_op_call *call, double low, double high);
void mxci_pass_bounds(const mxc_op_call *call, int low, int high);
void mxci_assign_range(const mxc_op_call *call, const mxci_calib *calib, double low, double high);

/* to = or += from, converted element by element: to a float dtype as from * scale + shift, to a quantized one as
 * (from - shift) * scale, rounded, halves away from 0, and saturated to the part of the dtype that is used. */
void mxci_rescale(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, double shift,
                  double scale);
/* The same with codes from a least one on. */
void mxci_rescale_from(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, double shift,
                       double scale, double least);
/* The least and the largest element, NaN excepted; 0 and 0 where there are none. temp: mxci_min_max_bytes. */
size_t mxci_min_max_bytes(const mxc_op_sig *sig, mxc_pass pass);
void mxci_min_max(const mxc_run *run, const mxc_tensor *of, void *temp, double *least, double *most);

#endif
