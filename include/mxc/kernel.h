/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the functions that compute a program's operators on the host: loops that honour write requests and serve every
 * dtype, conversion from and to the 16-bit formats, a choice by dtype, and scratch whose size is known only then.
 * mxc/kernel.hpp has the same choices for C++ templates, mxc/kernel.cuh kernels for GPUs.
 */
#ifndef MXC_KERNEL_H
#define MXC_KERNEL_H

#include <mxc/half.h>
#include <mxc/op.h>

/* ---- element by element ------------------------------------------------------------------------------------------ */

/** A loop in one type: out[i] = f(in[0][i], in[1][i], ...) for i < n. out may be one of the inputs.
 *  @thread any
 */
typedef void (*mxc_map_fn)(int64_t n, const void *const *in, const void *params, void *out);

/** The loops of a function by the type they compute in; NULL: it is not computed in those dtypes. */
typedef struct mxc_map_kernels {
    mxc_map_fn f32; /* float: float32, float16, bfloat16 */
    mxc_map_fn f64; /* double: float64 */
    mxc_map_fn i64; /* int64_t: integers and bool, which keep the low bits of the result */
} mxc_map_kernels;

/** Defines the loop `name` of a function T fn(const T *x, const void *params), whose n_in arguments are x[0], x[1]...
 */
#define MXC_MAP_KERNEL(name, T, n_in, fn)                                               \
    static void name(int64_t n, const void *const *in, const void *params, void *out) { \
        for (int64_t i = 0; i < n; i++) {                                               \
            T x[n_in];                                                                  \
            for (int k = 0; k < (n_in); k++)                                            \
                x[k] = ((const T *)in[k])[i];                                           \
            ((T *)out)[i] = fn(x, params);                                              \
        }                                                                               \
    }

/** The most inputs of mxc_map. */
#define MXC_MAP_INPUTS 4

/**
 * Compute out = or += f(in[0], in[1], ...) as req says, split over threads, in any dtype for which there is a loop.
 * @param[null] run  of the call (mxc_op_call.run, mxc_simple_env.run); NULL: on this thread
 * @param[null] params  given to the loops
 * @param n_in    1 to MXC_MAP_INPUTS
 * @param in      n_in arrays of out's dtype; shapes that differ from out's are broadcast, aligned at the last axis. An
 *                input may have out's memory if it has out's shape
 * @return MXC_EDTYPE, MXC_ESHAPE, MXC_EINVAL (an input has no data: mxc_op_def.needs did not ask for it)
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_map(const mxc_run *run, const mxc_map_kernels *kernels, const void *params,
                                          int n_in, const mxc_tensor *const *in, mxc_req req, const mxc_tensor *out);

/* ---- rows and whole arrays --------------------------------------------------------------------------------------- */

/**
 * Store a row as a request says: to = from (write, in place), to += from (add) or nothing (null), n elements.
 * @param[null,n=n] from  of dtype from_dtype: float for what is to be stored as float16 or bfloat16. Floats become
 *              integers by truncation, saturated (also the sum), NaN as 0; integers keep their low bits; anything but 0
 *              becomes true, and a sum with bool is true if one of the two is
 * @param[in,out,null,n=n] to  of dtype to_dtype; not the same memory as from, unless the dtypes are equal
 * @return MXC_EINVAL, MXC_EDTYPE (a number that is no dtype)
 * On this thread. To load a row of a 16-bit dtype as float: mxc_store_row(MXC_REQ_WRITE, dtype, row, MXC_F32, floats,
 * n).
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_store_row(mxc_req req, mxc_dtype from_dtype, const void *from, mxc_dtype to_dtype,
                                                void *to, int64_t n);
/** The same for arrays of equally many elements, split over threads. Also MXC_ESHAPE.
 *  @param[null] run  of the call; NULL: on this thread
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_store(const mxc_run *run, mxc_req req, const mxc_tensor *from,
                                            const mxc_tensor *to);
/** The dtype in which the library computes on elements of a dtype: MXC_F32 for float32, float16 and bfloat16, MXC_F64
 *  for float64, MXC_I64 for integers and bool; MXC_DTYPE_UNKNOWN for a number that is no dtype. */
MXC_API mxc_dtype mxc_compute_dtype(mxc_dtype dtype);

/* ---- choosing by dtype ------------------------------------------------------------------------------------------- */

/* In a function that returns mxc_status, MXC_SWITCH_REAL(dtype, f, ...) returns f_f32(...) or f_f64(...); _FLOAT also
 * f_f16(...) and f_bf16(...), whose elements are mxc_f16 and mxc_bf16; _NUMBER also f_i8, f_u8, f_i32 and f_i64. Any
 * other dtype is MXC_EDTYPE. */
#define MXC_CASE(flag, fn, ...) \
    case flag:                  \
        return fn(__VA_ARGS__);
#define MXC_CASES_REAL(fn, ...)              \
    MXC_CASE(MXC_F32, fn##_f32, __VA_ARGS__) \
    MXC_CASE(MXC_F64, fn##_f64, __VA_ARGS__)
#define MXC_CASES_FLOAT(fn, ...)             \
    MXC_CASES_REAL(fn, __VA_ARGS__)          \
    MXC_CASE(MXC_F16, fn##_f16, __VA_ARGS__) \
    MXC_CASE(MXC_BF16, fn##_bf16, __VA_ARGS__)
#define MXC_CASES_NUMBER(fn, ...)            \
    MXC_CASES_FLOAT(fn, __VA_ARGS__)         \
    MXC_CASE(MXC_I8, fn##_i8, __VA_ARGS__)   \
    MXC_CASE(MXC_U8, fn##_u8, __VA_ARGS__)   \
    MXC_CASE(MXC_I32, fn##_i32, __VA_ARGS__) \
    MXC_CASE(MXC_I64, fn##_i64, __VA_ARGS__)
#define MXC_SWITCH(cases, dtype, fn, ...)                                                              \
    switch (dtype) {                                                                                   \
        cases(fn, __VA_ARGS__) default                                                                 \
            : return MXC_FAIL(MXC_EDTYPE, #fn ": is not computed in dtype %s", mxc_dtype_name(dtype)); \
    }
#define MXC_SWITCH_REAL(dtype, fn, ...) MXC_SWITCH(MXC_CASES_REAL, dtype, fn, __VA_ARGS__)
#define MXC_SWITCH_FLOAT(dtype, fn, ...) MXC_SWITCH(MXC_CASES_FLOAT, dtype, fn, __VA_ARGS__)
#define MXC_SWITCH_NUMBER(dtype, fn, ...) MXC_SWITCH(MXC_CASES_NUMBER, dtype, fn, __VA_ARGS__)

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

/**
 * Scratch for the running function whose size is known only there; where shapes give it, mxc_op_def.temp_bytes costs
 * less, since it is planned. Does not invalidate mxc_op_call.temp.
 * @param run       of the call
 * @param[out,lend] out  at least bytes bytes of run's context, 64-byte aligned, undefined contents (0 bytes may give
 *                  NULL); valid until the function asks again or returns, and on a GPU also for what it has queued on
 *                  its stream
 * @return MXC_EINVAL (no run: a function of MXC_OP_CALLBACK allocates for itself), MXC_ENOMEM, MXC_EDEVICE
 * A request for more than ever before on this thread allocates, and on a GPU waits for the stream.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_run_scratch(const mxc_run *run, size_t bytes, void **out);

#endif
