/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler hints for kernel loops; nothing here changes meaning. */
#ifndef MXCI_MATH_LOOP_H
#define MXCI_MATH_LOOP_H

/* Before a loop whose iterations are independent, also when an output is exactly an input (in place). */
#if defined(__clang__)
#define MXCI_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define MXCI_VECTOR_LOOP _Pragma("GCC ivdep")
#else
#define MXCI_VECTOR_LOOP
#endif

/* The name of a type that a kernel template makes for each element type; NAME is that of a function. */
#define TYPE(name) NAME(name)

/* Scalar functions that C and nvcc both read. */
#if defined(__CUDACC__)
#define MXCI_SCALAR static __device__ __forceinline__
#else
#define MXCI_SCALAR static inline __attribute__((always_inline))
#endif

#endif
