/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing kernels. A kernel is a lambda that one GPU thread runs per element (mxcu_for) or a team of threads per row
 * (mxcu_rows). Lambdas capture by value: numbers, pointers from mxcu_data, small structs.
 *
 *     template <class T> static mxc_status forward(const mxc_op_call *call) {
 *         mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
 *         mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
 *         return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, f(x[i])); });
 *     }
 *
 * x[i] is in the compute type of T (float for float32, float16 and bfloat16; double; int64_t for integers), y.put
 * rounds to T and honours the request. Functions are chosen by dtype with MXCU_SWITCH_...
 *
 * cuda_platform/platform.h defines MXCU_LAMBDA, MXCU_DEVICE (a function that runs in kernels), MXCU_BOTH (one that runs
 * on the host too), mxcu_for, mxcu_rows, mxcu_team, mxcu_pointer, and the conversions of 16-bit floats;
 * cuda_platform/tiles.h defines mxcu_tiles. The include path decides whose they are: src/cuda/nvidia/cuda_platform/ for
 * the module, tests/fake_gpu/cuda_platform/ for the emulator.
 */
#ifndef MXCI_CUDA_RUNTIME_KERNEL_H
#define MXCI_CUDA_RUNTIME_KERNEL_H

#include "base/size.h"
#include "cuda/runtime/module.h"
#include "cuda_platform/platform.h"

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* What a stored type is computed in. */
template <class T> struct mxcu_compute { using type = int64_t; }; /* int8_t, uint8_t, int32_t, int64_t, bool */
template <> struct mxcu_compute<float> { using type = float; };
template <> struct mxcu_compute<mxc_f16> { using type = float; };
template <> struct mxcu_compute<mxc_bf16> { using type = float; };
template <> struct mxcu_compute<double> { using type = double; };
template <class T> using mxcu_compute_t = typename mxcu_compute<T>::type;

template <class T> MXCU_DEVICE mxcu_compute_t<T> mxcu_widen(T x) {
    return x;
}
template <> MXCU_DEVICE float mxcu_widen(mxc_f16 x) {
    return mxcu_f16_to_float(x);
}
template <> MXCU_DEVICE float mxcu_widen(mxc_bf16 x) {
    return mxcu_bf16_to_float(x);
}

template <class T> MXCU_DEVICE T mxcu_narrow(mxcu_compute_t<T> x) {
    return static_cast<T>(x);
}
template <> MXCU_DEVICE mxc_f16 mxcu_narrow<mxc_f16>(float x) {
    return mxcu_float_to_f16(x);
}
template <> MXCU_DEVICE mxc_bf16 mxcu_narrow<mxc_bf16>(float x) {
    return mxcu_float_to_bf16(x);
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Elements that a kernel reads: x[i] is converted to the compute type. */
template <class T> struct mxcu_in {
    const T *data;
    MXCU_DEVICE mxcu_compute_t<T> operator[](int64_t i) const {
        return mxcu_widen<T>(data[i]);
    }
};

/* Elements that a kernel writes (add 0) or adds to (add 1). put is not atomic: no two threads of a kernel put the same
 * element, so that results do not depend on timing. */
template <class T> struct mxcu_out {
    T *data;
    int add;
    MXCU_DEVICE void put(int64_t i, mxcu_compute_t<T> value) const {
        data[i] = mxcu_narrow<T>(add ? mxcu_widen<T>(data[i]) + value : value);
    }
};

/* On the host: the elements of an array. */
template <class T> mxcu_in<T> mxcu_data(const mxc_tensor *t) {
    return {mxcu_pointer<const T>(t->data)};
}
/* On the host: the elements of result number i of a call, written or added to as its request says. The request must not
 * be MXC_REQ_NULL. */
template <class T> mxcu_out<T> mxcu_result(const mxc_op_call *call, const mxc_tensor *t, int i) {
    return {mxcu_pointer<T>(t->data), call->req[i] == MXC_REQ_ADD};
}
/* The same, with data NULL where the request is MXC_REQ_NULL: for kernels that compute several results and test
 * each. */
template <class T> mxcu_out<T> mxcu_wanted(const mxc_op_call *call, const mxc_tensor *t, int i) {
    mxcu_out<T> result = mxcu_result<T>(call, t, i);
    if (call->req[i] == MXC_REQ_NULL)
        result.data = nullptr;
    return result;
}
/* The call's scratch from byte `offset` on. Scratch is aligned to 64 bytes or more; offsets must be multiples of T's
 * size. */
template <class T> T *mxcu_temp(const mxc_op_call *call, size_t offset) {
    return mxcu_pointer<T>(static_cast<char *>(call->temp) + offset);
}

/* Elements of an array whose shape is known; and of axes begin to end - 1. */
static inline int64_t mxcu_product(const mxc_shape *s, int begin, int end) {
    return mxci_shape_count(s, begin, end);
}
static inline int64_t mxcu_size(const mxc_tensor *t) {
    return mxcu_product(&t->shape, 0, t->shape.ndim);
}

/* a / b of non-negative numbers. A 64-bit division takes several times as long as a 32-bit one on a GPU, so that is
 * used where both fit. */
MXCU_DEVICE int64_t mxcu_divide(int64_t a, int64_t b) {
    return (a | b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

/* A team of one thread, so that a function template written for teams also serves one thread per row. */
struct mxcu_single_thread {
    int rank = 0, size = 1;
    template <class T> MXCU_DEVICE T sum(T x) const {
        return x;
    }
    template <class T> MXCU_DEVICE T max(T x) const {
        return x;
    }
};

/* ---- choosing by dtype ------------------------------------------------------------------------------------------- */

/* MXCU_SWITCH_FLOAT(dtype, forward, call) returns forward<T>(call) for the T of a float dtype; _REAL: float32 and
 * float64; _NUMBER: integers too; _ALL: bool too; _BYTES by the size of an element, T being an unsigned type.
 * Inference has refused others, so reaching the end is a bug. */
#define MXCU_CASE(flag, T, fn, ...) \
    case flag:                      \
        return fn<T>(__VA_ARGS__);
#define MXCU_CASES_REAL(fn, ...)               \
    MXCU_CASE(MXC_F32, float, fn, __VA_ARGS__) \
    MXCU_CASE(MXC_F64, double, fn, __VA_ARGS__)
#define MXCU_CASES_FLOAT(fn, ...)                \
    MXCU_CASES_REAL(fn, __VA_ARGS__)             \
    MXCU_CASE(MXC_F16, mxc_f16, fn, __VA_ARGS__) \
    MXCU_CASE(MXC_BF16, mxc_bf16, fn, __VA_ARGS__)
#define MXCU_CASES_INT(fn, ...)                  \
    MXCU_CASE(MXC_I8, int8_t, fn, __VA_ARGS__)   \
    MXCU_CASE(MXC_U8, uint8_t, fn, __VA_ARGS__)  \
    MXCU_CASE(MXC_I32, int32_t, fn, __VA_ARGS__) \
    MXCU_CASE(MXC_I64, int64_t, fn, __VA_ARGS__)
#define MXCU_SWITCH(cases, dtype, fn, ...)                                                   \
    switch (dtype) {                                                                         \
        cases(fn, __VA_ARGS__) default                                                       \
            : return MXC_FAIL(MXC_EDTYPE, "GPU: dtype %d got past inference", (int)(dtype)); \
    }
#define MXCU_CASES_NUMBER(fn, ...) MXCU_CASES_FLOAT(fn, __VA_ARGS__) MXCU_CASES_INT(fn, __VA_ARGS__)
#define MXCU_CASES_ALL(fn, ...) MXCU_CASES_NUMBER(fn, __VA_ARGS__) MXCU_CASE(MXC_BOOL, bool, fn, __VA_ARGS__)
#define MXCU_SWITCH_REAL(dtype, fn, ...) MXCU_SWITCH(MXCU_CASES_REAL, dtype, fn, __VA_ARGS__)
#define MXCU_SWITCH_FLOAT(dtype, fn, ...) MXCU_SWITCH(MXCU_CASES_FLOAT, dtype, fn, __VA_ARGS__)
#define MXCU_SWITCH_NUMBER(dtype, fn, ...) MXCU_SWITCH(MXCU_CASES_NUMBER, dtype, fn, __VA_ARGS__)
#define MXCU_SWITCH_ALL(dtype, fn, ...) MXCU_SWITCH(MXCU_CASES_ALL, dtype, fn, __VA_ARGS__)

static inline int mxcu_element_bytes(mxc_dtype dtype) {
    switch (dtype) {
#define MXC_DTYPE(name, flag, bytes, text) \
    case name:                             \
        return bytes;
#include <mxc/dtype.def>
#undef MXC_DTYPE
    default:
        return 0;
    }
}
#define MXCU_CASES_BYTES(fn, ...)           \
    MXCU_CASE(1, uint8_t, fn, __VA_ARGS__)  \
    MXCU_CASE(2, uint16_t, fn, __VA_ARGS__) \
    MXCU_CASE(4, uint32_t, fn, __VA_ARGS__) \
    MXCU_CASE(8, uint64_t, fn, __VA_ARGS__)
#define MXCU_SWITCH_BYTES(dtype, fn, ...) MXCU_SWITCH(MXCU_CASES_BYTES, mxcu_element_bytes(dtype), fn, __VA_ARGS__)

#endif
