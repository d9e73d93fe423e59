/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc/kernel.h for C++11: an element-wise function is an object with a call operator template, and a choice by dtype is
 * a choice of a template's type. The same object serves mxc::gpu::map of mxc/kernel.cuh.
 *
 *     struct scale {
 *         double by;
 *         template <class T> MXC_FN T operator()(T x) const { return T(by) * x; }
 *     };
 *     return mxc::map(call->run, scale{2}, call->req[0], &call->out[0], &call->in[0]);
 */
#ifndef MXC_KERNEL_HPP
#define MXC_KERNEL_HPP

#include <mxc/kernel.h>
#include <mxc/philox.h>

/* A function that runs on the host and, compiled by nvcc, in kernels. */
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define MXC_FN __host__ __device__ __forceinline__
#else
#define MXC_FN inline
#endif

namespace mxc {

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/** What an element type is computed in: float for 16-bit floats, int64_t for integers and bool. */
template <class T> struct compute { typedef int64_t type; };
template <> struct compute<float> { typedef float type; };
template <> struct compute<double> { typedef double type; };
template <> struct compute<mxc_f16> { typedef float type; };
template <> struct compute<mxc_bf16> { typedef float type; };
template <class T> using compute_t = typename compute<T>::type;

/** An element in the type that it is computed in. */
template <class T> MXC_FN compute_t<T> widen(T x) {
    return static_cast<compute_t<T>>(x);
}
/** A result as an element, rounded once. */
template <class T> MXC_FN T narrow(compute_t<T> x) {
    return static_cast<T>(x);
}
#if defined(__CUDACC__)
template <> MXC_FN float widen<mxc_f16>(mxc_f16 x) {
    __half_raw raw;
    raw.x = x.bits;
    return __half2float(__half(raw));
}
template <> MXC_FN float widen<mxc_bf16>(mxc_bf16 x) {
    __nv_bfloat16_raw raw;
    raw.x = x.bits;
    return __bfloat162float(__nv_bfloat16(raw));
}
template <> MXC_FN mxc_f16 narrow<mxc_f16>(float x) {
    return mxc_f16{__half_raw(__float2half_rn(x)).x};
}
template <> MXC_FN mxc_bf16 narrow<mxc_bf16>(float x) {
    return mxc_bf16{__nv_bfloat16_raw(__float2bfloat16_rn(x)).x};
}
#else
template <> MXC_FN float widen<mxc_f16>(mxc_f16 x) {
    return mxc_f16_to_float(x);
}
template <> MXC_FN float widen<mxc_bf16>(mxc_bf16 x) {
    return mxc_bf16_to_float(x);
}
template <> MXC_FN mxc_f16 narrow<mxc_f16>(float x) {
    return mxc_float_to_f16(x);
}
template <> MXC_FN mxc_bf16 narrow<mxc_bf16>(float x) {
    return mxc_float_to_bf16(x);
}
#endif

/** Elements of a result, which are overwritten or added to. */
template <class T> struct output {
    T *data;
    bool adds; /* the request is MXC_REQ_ADD */

    MXC_FN void put(int64_t i, compute_t<T> value) const {
        data[i] = narrow<T>(adds ? widen<T>(data[i]) + value : value);
    }
};

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/** Number i of a range (mxc_op_call.random), on the host and in kernels: those of mxc_random_uniform, mxc_random_normal
 *  and mxc_random_integer. On a GPU the last digits of normal numbers are its own logarithm's and cosine's. */
MXC_FN float random_uniform(const mxc_random &range, uint64_t i) {
    return mxc_philox_float(mxc_philox_number(range.seed, range.stream, range.offset + i));
}
MXC_FN double random_normal(const mxc_random &range, uint64_t i, double mean, double deviation) {
    mxc_draws draws = {range.seed, range.stream, range.offset + i, 0};
    return mxc_draw_normal(&draws, mean, deviation);
}
MXC_FN int64_t random_integer(const mxc_random &range, uint64_t i, int64_t low, int64_t high) {
    mxc_draws draws = {range.seed, range.stream, range.offset + i, 0};
    return high > low ? mxc_draw_integer(&draws, low, high) : low;
}

/* ---- choosing by dtype ------------------------------------------------------------------------------------------- */

/* In a function that returns mxc_status, MXC_TYPES_REAL(dtype, f, ...) returns f<T>(...) for T float or double;
 * _FLOAT also mxc_f16 and mxc_bf16; _NUMBER also int8_t, uint8_t, int32_t and int64_t. Any other dtype is MXC_EDTYPE.
 */
#define MXC_TYPE_CASES_REAL(fn, ...)          \
    MXC_CASE(MXC_F32, fn<float>, __VA_ARGS__) \
    MXC_CASE(MXC_F64, fn<double>, __VA_ARGS__)
#define MXC_TYPE_CASES_FLOAT(fn, ...)           \
    MXC_TYPE_CASES_REAL(fn, __VA_ARGS__)        \
    MXC_CASE(MXC_F16, fn<mxc_f16>, __VA_ARGS__) \
    MXC_CASE(MXC_BF16, fn<mxc_bf16>, __VA_ARGS__)
#define MXC_TYPE_CASES_NUMBER(fn, ...)          \
    MXC_TYPE_CASES_FLOAT(fn, __VA_ARGS__)       \
    MXC_CASE(MXC_I8, fn<int8_t>, __VA_ARGS__)   \
    MXC_CASE(MXC_U8, fn<uint8_t>, __VA_ARGS__)  \
    MXC_CASE(MXC_I32, fn<int32_t>, __VA_ARGS__) \
    MXC_CASE(MXC_I64, fn<int64_t>, __VA_ARGS__)
#define MXC_TYPES_REAL(dtype, fn, ...) MXC_SWITCH(MXC_TYPE_CASES_REAL, dtype, fn, __VA_ARGS__)
#define MXC_TYPES_FLOAT(dtype, fn, ...) MXC_SWITCH(MXC_TYPE_CASES_FLOAT, dtype, fn, __VA_ARGS__)
#define MXC_TYPES_NUMBER(dtype, fn, ...) MXC_SWITCH(MXC_TYPE_CASES_NUMBER, dtype, fn, __VA_ARGS__)

/* ---- element by element ------------------------------------------------------------------------------------------ */

/* The numbers from 0 to N - 1 as arguments of a template. */
template <int... I> struct numbers {};
template <int N, int... I> struct numbers_below : numbers_below<N - 1, N - 1, I...> {};
template <int... I> struct numbers_below<0, I...> { typedef numbers<I...> type; };

/* The loop of mxc_map_kernels for f, an F. */
template <class T, class F, int... I> void map_loop(int64_t n, const void *const *in, const void *f, void *out) {
    for (int64_t i = 0; i < n; i++)
        static_cast<T *>(out)[i] = static_cast<T>((*static_cast<const F *>(f))(static_cast<const T *>(in[I])[i]...));
}

template <class F, int... I> mxc_map_kernels float_kernels(numbers<I...>) {
    mxc_map_kernels kernels = {map_loop<float, F, I...>, map_loop<double, F, I...>, NULL};
    return kernels;
}
template <class F, int... I> mxc_map_kernels number_kernels(numbers<I...>) {
    mxc_map_kernels kernels = {map_loop<float, F, I...>, map_loop<double, F, I...>, map_loop<int64_t, F, I...>};
    return kernels;
}

/** mxc_map with f(in[i], ...), in the float dtypes; in... are const mxc_tensor *, 1 to MXC_MAP_INPUTS of them. */
template <class F, class... In>
MXC_MUST_CHECK mxc_status map(const mxc_run *run, const F &f, mxc_req req, const mxc_tensor *out, const In *...in) {
    const mxc_tensor *const inputs[] = {in...};
    const mxc_map_kernels kernels = float_kernels<F>(typename numbers_below<sizeof...(In)>::type());
    return mxc_map(run, &kernels, &f, (int)sizeof...(In), inputs, req, out);
}
/** The same in all dtypes: f is called with int64_t too. */
template <class F, class... In>
MXC_MUST_CHECK mxc_status map_numbers(const mxc_run *run, const F &f, mxc_req req, const mxc_tensor *out,
                                      const In *...in) {
    const mxc_tensor *const inputs[] = {in...};
    const mxc_map_kernels kernels = number_kernels<F>(typename numbers_below<sizeof...(In)>::type());
    return mxc_map(run, &kernels, &f, (int)sizeof...(In), inputs, req, out);
}

} // namespace mxc

#endif
