/* What quantized operators share on the GPU: ranges that bounds in its memory give. As operator/quantized/quantized.h.
 */
#ifndef MXCI_CUDA_OPERATOR_QUANTIZED_QUANTIZED_H
#define MXCI_CUDA_OPERATOR_QUANTIZED_QUANTIZED_H

#include "cuda/runtime/kernel.h"
#include "operator/quantized/quantized.h"

/* The bounds of an array, and the largest whole number of its dtype. */
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
            mxci_quantized_most(dtype)};
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

/* Outputs 1 and 2 = two arguments. */
mxc_status mxcu_pass_bounds(const mxc_op_call *call, int low, int high);

#endif
