/* Conversion of single numbers as ndarray/kernels/convert.h converts: floats to whole numbers towards 0, saturating. */
#ifndef MXCU_CONVERT_H
#define MXCU_CONVERT_H

#include <limits>
#include <type_traits>

#include "cuda/kernel.h"

/* The whole part of a number within those that T has, 0 for NaN. */
template <class T, class F> MXCU_BOTH T mxcu_whole(F x) {
    const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    const F above = (F)(high / 2 + 1) * 2; /* one more than the highest, which F holds exactly */
    return x >= above ? high : x > (F)low ? (T)x : x != x ? T(0) : low;
}

/* A number in the compute type of From as a To. */
template <class To, class From> MXCU_DEVICE To mxcu_convert(From x) {
    if constexpr (std::is_same<To, bool>::value)
        return x != 0;
    else if constexpr (std::is_same<To, mxci_f16>::value || std::is_same<To, mxci_bf16>::value)
        return mxcu_narrow<To>((float)x);
    else if constexpr (std::is_floating_point<From>::value && std::is_integral<To>::value)
        return mxcu_whole<To>(x);
    else
        return static_cast<To>(x);
}

/* A number of a parameter in the compute type of T. */
template <class T> mxcu_compute_t<T> mxcu_parameter(double value) {
    if constexpr (std::is_floating_point<mxcu_compute_t<T>>::value)
        return static_cast<mxcu_compute_t<T>>(value);
    else
        return mxcu_whole<mxcu_compute_t<T>>(value);
}

#endif
