/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of single numbers as math/cast_kernels.h converts: floats to integers towards 0, saturating. */
#ifndef MXCI_CUDA_RUNTIME_CONVERT_H
#define MXCI_CUDA_RUNTIME_CONVERT_H

#include <limits>
#include <type_traits>

#include "cuda/runtime/kernel.h"

/* The integer part of a number, saturated to T; 0 for NaN. The comparison is with high + 1, since high itself (2^31 -
 * 1, 2^63 - 1) may not be representable in F. */
template <class T, class F> MXCU_BOTH T mxcu_saturate(F x) {
    const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    const F above = (F)(high / 2 + 1) * 2; /* high + 1, a power of two, which F represents exactly */
    return x >= above ? high : x > (F)low ? (T)x : x != x ? T(0) : low;
}

/* A number as one of T, in T's compute type. */
template <class T, class X> MXCU_DEVICE mxcu_compute_t<T> mxcu_converted(X x) {
    if constexpr (std::is_same<T, bool>::value)
        return x != 0;
    else if constexpr (std::is_floating_point<X>::value && std::is_integral<T>::value)
        return mxcu_saturate<T>(x);
    else
        return static_cast<mxcu_compute_t<T>>(x);
}

/* A number of a parameter in the compute type of T. */
template <class T> mxcu_compute_t<T> mxcu_parameter(double value) {
    if constexpr (std::is_floating_point<mxcu_compute_t<T>>::value)
        return static_cast<mxcu_compute_t<T>>(value);
    else
        return mxcu_saturate<mxcu_compute_t<T>>(value);
}

/* An array whose dtype the kernel looks up for each element. For indices, masks, lengths and sources of conversions:
 * one kernel per dtype of the result, instead of one per pair of dtypes. All threads of a warp take the same case. */
struct mxcu_any {
    const void *data;
    mxc_dtype dtype;

    /* f of element i in its compute type. */
    template <class F> MXCU_DEVICE auto apply(int64_t i, F f) const {
        switch (dtype) {
        case MXC_F32:
            return f(static_cast<const float *>(data)[i]);
        case MXC_F64:
            return f(static_cast<const double *>(data)[i]);
        case MXC_F16:
            return f(mxcu_f16_to_float(static_cast<const mxc_f16 *>(data)[i]));
        case MXC_BF16:
            return f(mxcu_bf16_to_float(static_cast<const mxc_bf16 *>(data)[i]));
        case MXC_I8:
            return f((int64_t) static_cast<const int8_t *>(data)[i]);
        case MXC_I32:
            return f((int64_t) static_cast<const int32_t *>(data)[i]);
        case MXC_I64:
            return f(static_cast<const int64_t *>(data)[i]);
        case MXC_BOOL:
            return f((int64_t)(static_cast<const uint8_t *>(data)[i] != 0));
        default: /* MXC_U8 */
            return f((int64_t) static_cast<const uint8_t *>(data)[i]);
        }
    }
    /* The function object of as(): one conversion, instantiated for each type that apply calls it with. */
    template <class T> struct converting {
        template <class X> MXCU_DEVICE mxcu_compute_t<T> operator()(X x) const {
            return mxcu_converted<T>(x);
        }
    };
    /* As a T, in T's compute type. */
    template <class T> MXCU_DEVICE mxcu_compute_t<T> as(int64_t i) const {
        return apply(i, converting<T>());
    }
    /* Whether it is not 0. */
    MXCU_DEVICE bool truth(int64_t i) const {
        return as<bool>(i) != 0;
    }
};

static inline mxcu_any mxcu_any_data(const mxc_tensor *t) {
    return {mxcu_pointer<const void>(t->data), t->dtype};
}

#endif
