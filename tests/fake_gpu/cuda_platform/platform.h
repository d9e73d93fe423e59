/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels emulated on the host: what cuda/runtime/kernel.h builds on in the fake GPU. src/cuda/nvidia/cuda_platform/
 * has the real one's. A launch is queued on a stream, whose thread runs it later. Every kernel runs with teams of one
 * thread, so every kernel must be right for that size.
 *
 * Addresses of the fake GPU's memory are shifted far out of the process's address space, so that the library ends if it
 * touches them; mxcu_pointer, which only the module's own code calls, shifts them back.
 */
#ifndef MXCU_PLATFORM_H
#define MXCU_PLATFORM_H

#include <cmath>
#include <functional>
#include <type_traits>

#include <mxc/half.h>

#include "cuda/runtime/module.h"

#define MXCU_LAMBDA
#define MXCU_DEVICE inline
#define MXCU_BOTH inline

inline float mxcu_f16_to_float(mxc_f16 x) {
    return mxc_f16_to_float(x);
}
inline float mxcu_bf16_to_float(mxc_bf16 x) {
    return mxc_bf16_to_float(x);
}
inline mxc_f16 mxcu_float_to_f16(float x) {
    return mxc_float_to_f16(x);
}
inline mxc_bf16 mxcu_float_to_bf16(float x) {
    return mxc_float_to_bf16(x);
}

constexpr uintptr_t MXCU_SHIFT = (uintptr_t)1 << 60;

template <class T> T *mxcu_pointer(const void *data) {
    uintptr_t address = reinterpret_cast<uintptr_t>(data);
    return reinterpret_cast<T *>(address & MXCU_SHIFT ? address - MXCU_SHIFT : address);
}

/* Queue work on a stream. */
mxc_status mxcu_fake_queue(void *stream, std::function<void()> work);
/* The same with a function of a copy of the argument. */
mxc_status mxcu_fake_queue_copy(void *stream, void (*run)(const void *argument), const void *argument, size_t bytes);
/* Whether the stream has failed, so that it does no more work. */
bool mxcu_fake_failed(void *stream);

/* Not as a std::function, whose parts would be half of the code that is compiled for each kernel. */
template <class K> mxc_status mxcu_fake_launch(const mxc_op_call *call, const K &kernel) {
    static_assert(std::is_trivially_copyable<K>::value, "CUDA copies the arguments of kernels byte by byte");
    return mxcu_fake_queue_copy(
        call->run->stream, [](const void *argument) { (*static_cast<const K *>(argument))(); }, &kernel, sizeof kernel);
}

template <class F> mxc_status mxcu_for(const mxc_op_call *call, int64_t n, F body) {
    if (n == 0)
        return MXC_OK;
    return mxcu_fake_launch(call, [=] {
        for (int64_t i = n; i-- > 0;) /* backwards, since no order is promised */
            body(i);
    });
}

struct mxcu_team {
    int rank = 0, size = 1;
    void sync() const {
    }
    template <class T, class F> T combine(T value, F) const {
        return value;
    }
    template <class T> T sum(T value) const {
        return value;
    }
    template <class T> T max(T value) const {
        return value;
    }
    template <class T> T min(T value) const {
        return value;
    }
};

template <class F> mxc_status mxcu_rows(const mxc_op_call *call, int64_t rows, int64_t width, F body) {
    (void)width;
    if (rows == 0)
        return MXC_OK;
    return mxcu_fake_launch(call, [=] {
        for (int64_t row = rows; row-- > 0;)
            body(row, mxcu_team());
    });
}

#endif
