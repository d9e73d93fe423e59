/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the functions that compute a program's operators on GPUs, in CUDA C++ (C++14 or later): element-wise functions in
 * every dtype and for every write request, and loops of one thread per element, on the engine's stream
 * (mxc_run_stream). Nothing here waits for the GPU. No flags of nvcc are needed.
 *
 * Another compiler than nvcc finds the functions for_each and pointer in <mxc_gpu_emulator.h> of its include path, with
 * which the same source runs where there is no GPU.
 */
#ifndef MXC_KERNEL_CUH
#define MXC_KERNEL_CUH

#include <mxc/kernel.hpp>

#if defined(__CUDACC__)
#include <cuda_runtime.h>

namespace mxc {
namespace gpu {

enum { THREADS = 256, MAX_BLOCKS = 65535 };

/** The elements of an array, for kernels. */
template <class T> T *pointer(const void *data) {
    return static_cast<T *>(const_cast<void *>(data));
}

template <class F> __global__ void __launch_bounds__(THREADS) loop(int64_t n, F body) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        body(i);
}

/** Queue body(i) for i from 0 to n - 1, in any order, on the run's stream. body is an object with a call operator that
 *  is MXC_FN or __device__, passed by value; with nvcc's --extended-lambda also a __device__ lambda. */
template <class F> MXC_MUST_CHECK mxc_status for_each(const mxc_run *run, int64_t n, F body) {
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    void *stream;
    if (n <= 0)
        return MXC_OK;
    MXC_TRY(mxc_run_stream(run, &stream));
    loop<<<(unsigned)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS), THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        n, body);
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "launching a kernel: %s", cudaGetErrorString(error));
}

} // namespace gpu
} // namespace mxc
#else
#include <mxc_gpu_emulator.h>
#endif

namespace mxc {
namespace gpu {

/* An input that may be broadcast over the output. */
template <class T> struct input {
    const T *data;
    int ndim; /* 0: it has the output's shape */
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM];

    /* The element for element i of the output. */
    MXC_FN compute_t<T> at(int64_t i) const {
        int64_t offset = ndim ? 0 : i;
        for (int axis = ndim - 1; axis >= 0; axis--) {
            offset += i % dim[axis] * step[axis];
            i /= dim[axis];
        }
        return widen<T>(data[offset]);
    }
};

/* What the thread of element i computes. */
template <class T, class F, int... I> struct element {
    F f;
    output<T> out;
    input<T> in[sizeof...(I)];

    MXC_FN void operator()(int64_t i) const {
        out.put(i, static_cast<compute_t<T>>(f(in[I].at(i)...)));
    }
};

template <class T> mxc_status set_input(const mxc_tensor *from, const mxc_tensor *out, input<T> *to) {
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    int64_t step = 1;
    if (from->dtype != out->dtype)
        return MXC_FAIL(MXC_EDTYPE, "mxc::gpu::map: an input of dtype %s, expected %s, that of the output",
                        mxc_dtype_name(from->dtype), mxc_dtype_name(out->dtype));
    if (!from->data)
        return MXC_FAIL(MXC_EINVAL, "mxc::gpu::map: an input has no data; backward has that of arrays that the "
                                    "descriptor's needs ask for");
    to->data = pointer<const T>(from->data);
    bool fits = from->shape.ndim <= out->shape.ndim;
    to->ndim = mxc_shape_equal(&from->shape, &out->shape) ? 0 : out->shape.ndim;
    for (int k = 0; k < to->ndim; k++) { /* from the last axis on */
        const int axis = out->shape.ndim - 1 - k;
        const int64_t dim = k < from->shape.ndim ? from->shape.dim[from->shape.ndim - 1 - k] : 1;
        fits = fits && (dim == 1 || dim == out->shape.dim[axis]);
        to->dim[axis] = out->shape.dim[axis];
        to->step[axis] = dim == 1 ? 0 : step;
        step *= dim;
    }
    return fits ? MXC_OK
                : MXC_FAIL(MXC_ESHAPE, "mxc::gpu::map: an input of shape %s cannot be broadcast to %s, the output's",
                           mxc_shape_format(&from->shape, have, sizeof have),
                           mxc_shape_format(&out->shape, want, sizeof want));
}

/* MXC_EDTYPE unless dtype is one of a set (MXC_DTYPES_...). */
inline mxc_status check_dtype(const char *name, unsigned dtypes, mxc_dtype dtype) {
    return dtypes >> dtype & 1 ? MXC_OK
                               : MXC_FAIL(MXC_EDTYPE, "%s: is not computed in dtype %s", name, mxc_dtype_name(dtype));
}

template <class T, class F, int... I>
mxc_status map_type(const mxc_run *run, const F &f, mxc_req req, const mxc_tensor *out, const mxc_tensor *const *in,
                    numbers<I...>) {
    element<T, F, I...> body = {f, {pointer<T>(out->data), req == MXC_REQ_ADD}, {}};
    for (int k = 0; k < (int)sizeof...(I); k++)
        MXC_TRY(set_input<T>(in[k], out, &body.in[k]));
    return for_each(run, mxc_shape_size(&out->shape), body);
}

/** As mxc::map: out = or += f(in, ...) element by element, in the float dtypes; in... are const mxc_tensor *, and are
 *  broadcast where their shapes differ from out's. F's call operator is MXC_FN or __device__. */
template <class F, class... In>
MXC_MUST_CHECK mxc_status map(const mxc_run *run, const F &f, mxc_req req, const mxc_tensor *out, const In *...in) {
    const mxc_tensor *const inputs[] = {in...};
    if (req == MXC_REQ_NULL || mxc_shape_size(&out->shape) == 0)
        return MXC_OK;
    MXC_TRY(check_dtype("mxc::gpu::map", MXC_DTYPES_FLOAT, out->dtype));
    MXC_TYPES_FLOAT(out->dtype, map_type, run, f, req, out, inputs, typename numbers_below<sizeof...(In)>::type())
}
/** The same in all number dtypes: f is called with int64_t too. */
template <class F, class... In>
MXC_MUST_CHECK mxc_status map_numbers(const mxc_run *run, const F &f, mxc_req req, const mxc_tensor *out,
                                      const In *...in) {
    const mxc_tensor *const inputs[] = {in...};
    if (req == MXC_REQ_NULL || mxc_shape_size(&out->shape) == 0)
        return MXC_OK;
    MXC_TRY(check_dtype("mxc::gpu::map_numbers", MXC_DTYPES_NUMBER, out->dtype));
    MXC_TYPES_NUMBER(out->dtype, map_type, run, f, req, out, inputs, typename numbers_below<sizeof...(In)>::type())
}

} // namespace gpu
} // namespace mxc

#endif
