/* SPDX-License-Identifier: Apache-2.0 */
/* Lamb's second phase on the GPU where the weight has a float32 copy, and for several weights. */
#ifndef MXCI_CUDA_OPERATOR_UPDATE_LAMB_H
#define MXCI_CUDA_OPERATOR_UPDATE_LAMB_H

#include "cuda/runtime/convert.h"
#include "operator/update/update.h"

/* Element i of a weight of dtype T, whose step is taken in S. The norms r1 and r2 are on the device. */
template <class T, class S> struct mxcu_lamb_second {
    const S *weight, *direction;
    S *copy; /* of the weight, or NULL */
    mxcu_any r1, r2;
    double lr, lower_bound, upper_bound;
    mxcu_out<T> out; /* no data: not wanted */

    MXCU_DEVICE void operator()(int64_t i) const {
        using C = mxcu_compute_t<S>;
        const double ratio = mxci_lamb_ratio(r1.as<double>(0), r2.as<double>(0), lower_bound, upper_bound);
        const C next = mxcu_widen<S>(weight[i]) - (C)(lr * ratio) * mxcu_widen<S>(direction[i]);
        if (copy)
            copy[i] = mxcu_narrow<S>(next);
        if (out.data)
            out.put(i, (mxcu_compute_t<T>)next);
    }
};

#endif
