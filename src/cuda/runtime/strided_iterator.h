/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strided iteration on the GPU (math/strided_kernels.h on the host): the offset in an array of each element of an index
 * space, and operands that are an array of the space's shape, an array that is broadcast to it, or one number.
 */
#ifndef MXCI_CUDA_RUNTIME_STRIDED_ITERATOR_H
#define MXCI_CUDA_RUNTIME_STRIDED_ITERATOR_H

#include "cuda/runtime/convert.h"
#include "math/map.h"
#include "math/strided_kernels.h"

/* The offset in the array of element i of the space. */
struct mxcu_strided_iterator {
    mxci_strided s;
    int64_t size; /* of the space */
    int narrow;   /* 1: it fits into 32 bits, whose division is faster */

    MXCU_DEVICE int64_t operator()(int64_t i) const {
        return narrow ? offset<uint32_t>((uint32_t)i) : offset<int64_t>(i);
    }
    /* The position is unravelled from the last axis to the first; sum of position times step. Neighbouring threads have
     * neighbouring i, so their reads are coalesced where the last step is 1. */
    template <class N> MXCU_DEVICE int64_t offset(N i) const {
        int64_t sum = 0;
        for (int axis = s.n - 1; axis > 0; axis--) {
            N outer = i / (N)s.dim[axis];
            sum += (int64_t)(i - outer * (N)s.dim[axis]) * s.step[axis];
            i = outer;
        }
        return sum + (int64_t)i * s.step[0];
    }
};

static inline mxcu_strided_iterator mxcu_iterate(const mxci_strided *s) {
    mxcu_strided_iterator iterator = {*s, 1, 0};
    for (int i = 0; i < s->n; i++)
        iterator.size *= s->dim[i];
    iterator.narrow = iterator.size <= INT32_MAX;
    return iterator;
}

/* An operand over an index space: data[i]; data[iterator(i)] where data is broadcast to the space; `value` where data
 * is NULL. */
template <class T> struct mxcu_operand {
    const T *data;
    mxcu_compute_t<T> value;
    int is_broadcast;
    mxcu_strided_iterator iterator;

    MXCU_DEVICE mxcu_compute_t<T> operator[](int64_t i) const {
        return !data ? value : mxcu_widen<T>(data[is_broadcast ? iterator(i) : i]);
    }
};

/* An operand that needs no iterator: an array of the space's shape, or without data one number. The kernel then needs
 * fewer registers. */
template <class T> struct mxcu_dense {
    const T *data;
    mxcu_compute_t<T> value;

    MXCU_DEVICE mxcu_compute_t<T> operator[](int64_t i) const {
        return data ? mxcu_widen<T>(data[i]) : value;
    }
};

template <class T> mxcu_dense<T> mxcu_array(const mxc_tensor *t) {
    return {mxcu_pointer<const T>(t->data), 0};
}

/* A parameter as every element. */
template <class T> mxcu_dense<T> mxcu_number(double value) {
    return {nullptr, mxcu_parameter<T>(value)};
}

/* An array that is broadcast to the space. */
template <class T> mxcu_operand<T> mxcu_broadcast(const mxc_tensor *t, const mxc_shape *space) {
    mxcu_operand<T> operand = {mxcu_pointer<const T>(t->data), 0, mxci_is_broadcast(&t->shape, space), {}};
    mxci_strided strides;
    mxci_broadcast_strides(&t->shape, space, &strides);
    operand.iterator = mxcu_iterate(&strides);
    return operand;
}

#endif
