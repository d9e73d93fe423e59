/* SPDX-License-Identifier: Apache-2.0 */
/* What quantized operators share on the GPU (operator/quantized/quantized.h): ranges with bounds in its memory. */
#ifndef MXCI_CUDA_OPERATOR_QUANTIZED_QUANTIZED_H
#define MXCI_CUDA_OPERATOR_QUANTIZED_QUANTIZED_H

#include <cmath>

#include "cuda/runtime/kernel.h"
#include "operator/quantized/quantized.h"

/* The bounds of an array, and the largest integer of its dtype. */
struct mxcu_range {
    const float *low, *high;
    double end;

    MXCU_DEVICE double unit() const {
        return fmax(fabs((double)*low), fabs((double)*high)) / end;
    }
};

/* The range of an array of a dtype that arguments low and low + 1 bound. */
static inline mxcu_range mxcu_range_of(const mxc_op_call *call, mxc_dtype dtype, int low) {
    return {mxcu_pointer<const float>(call->in[low].data), mxcu_pointer<const float>(call->in[low + 1].data),
            mxci_quantized_max(dtype)};
}

MXCU_DEVICE double mxcu_inverse(double unit) {
    return unit > 0 ? 1 / unit : 0;
}

/* Outputs 1 and 2, each as requested. */
struct mxcu_bounds {
    mxcu_out<float> low, high;
    int has_low, has_high;

    MXCU_DEVICE void put(double least, double most) const {
        if (has_low)
            low.put(0, (float)least);
        if (has_high)
            high.put(0, (float)most);
    }
};

static inline mxcu_bounds mxcu_bounds_of(const mxc_op_call *call) {
    return {mxcu_result<float>(call, &call->out[1], 1), mxcu_result<float>(call, &call->out[2], 2),
            call->req[1] != MXC_REQ_NULL, call->req[2] != MXC_REQ_NULL};
}

/* Output 0 of 8 bits. It is written as uint8, since int8 and uint8 have the same bytes, and so have their sums. */
static inline mxcu_out<uint8_t> mxcu_quantized_out(const mxc_op_call *call) {
    return mxcu_result<uint8_t>(call, &call->out[0], 0);
}

/* Output 0 of 8 bits = argument 0. */
mxc_status mxcu_quantized_copy(const mxc_op_call *call);

/* A range that parameters give, as a unit of a dtype; given 0: there is none. low and high are the bounds that the
 * outputs get, as mxci_assign_range has them. */
struct mxcu_calibration {
    double low, high, unit;
    int given;
};

static inline mxcu_calibration mxcu_calibration_of(const mxci_calib &calib, mxc_dtype dtype) {
    const double unit = mxci_calib_unit(&calib, dtype, calib.low, calib.high), most = unit * mxci_quantized_max(dtype);
    return {calib.half_steps ? fmax(calib.low, -most) : calib.low,
            calib.half_steps ? fmin(calib.high, most) : calib.high, unit,
            !std::isnan(calib.low) && !std::isnan(calib.high)};
}

#endif
