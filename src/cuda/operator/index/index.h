/* SPDX-License-Identifier: Apache-2.0 */
/* Indices, lengths and class numbers of any dtype, read in kernels. They are read as double, which represents every
 * index below 2^53. */
#ifndef MXCI_CUDA_OPERATOR_INDEX_INDEX_H
#define MXCI_CUDA_OPERATOR_INDEX_INDEX_H

#include "cuda/runtime/kernel.h"
#include "math/index.h"

/* An array of numbers whose dtype the kernel looks up, as mxcu_any (runtime/convert.h), but always to double. */
struct mxcu_numbers {
    const void *data;
    int dtype;

    template <class T> MXCU_DEVICE double as(int64_t i) const {
        return (double)mxcu_widen<T>(static_cast<const T *>(data)[i]);
    }
    MXCU_DEVICE double operator[](int64_t i) const {
        switch (dtype) {
        case MXC_F32:
            return as<float>(i);
        case MXC_F64:
            return as<double>(i);
        case MXC_F16:
            return as<mxc_f16>(i);
        case MXC_BF16:
            return as<mxc_bf16>(i);
        case MXC_I32:
            return as<int32_t>(i);
        case MXC_I64:
            return as<int64_t>(i);
        case MXC_I8:
            return as<int8_t>(i);
        default: /* uint8, bool */
            return as<uint8_t>(i);
        }
    }
    /* Element i as an index along an axis of `size` elements, wrapped or clipped (MXCI_INDEX_...). */
    MXCU_DEVICE int64_t index(int64_t i, int64_t size, int mode) const {
        return mode == MXCI_INDEX_WRAP ? mxci_index_wrap((*this)[i], size) : mxci_index_clip((*this)[i], size);
    }
    /* Element i as a length: truncated, from 0 to `longest`. */
    MXCU_DEVICE int64_t length(int64_t i, int64_t longest) const {
        const double value = (*this)[i];
        return value >= (double)longest ? longest : value > 0 ? (int64_t)value : 0;
    }
};

static inline mxcu_numbers mxcu_numbers_of(const mxc_tensor *t) {
    return {mxcu_pointer<const void>(t->data), t->dtype};
}

#endif
