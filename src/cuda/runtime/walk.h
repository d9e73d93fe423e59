/*
 * Arrays read by another's index space on the GPU: kernels' form of math/strided_kernels.h, and an operand that is
 * an array of the space's shape, a stretched one, or one number.
 */
#ifndef MXCI_CUDA_RUNTIME_WALK_H
#define MXCI_CUDA_RUNTIME_WALK_H

#include "cuda/runtime/convert.h"
#include "math/map.h"
#include "math/strided_kernels.h"

/* Where element i of the space stands in the array. */
struct mxcu_walk {
    mxci_strided s;
    int64_t size; /* of the space */
    int narrow;   /* 1: 32 bits hold it, whose divisions are quicker */

    MXCU_DEVICE int64_t operator()(int64_t i) const {
        return narrow ? offset<uint32_t>((uint32_t)i) : offset<int64_t>(i);
    }
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

static inline mxcu_walk mxcu_walk_of(const mxci_strided *s) {
    mxcu_walk walk = {*s, 1, 0};
    for (int i = 0; i < s->n; i++)
        walk.size *= s->dim[i];
    walk.narrow = walk.size <= INT32_MAX;
    return walk;
}

/* Elements over a space: those of data, where they stand by the walk if data is stretched, or all value. */
template <class T> struct mxcu_operand {
    const T *data;
    mxcu_compute_t<T> value;
    int stretched;
    mxcu_walk walk;

    MXCU_DEVICE mxcu_compute_t<T> operator[](int64_t i) const {
        return !data ? value : mxcu_widen<T>(data[stretched ? walk(i) : i]);
    }
};

/* An operand that needs no walk, which kernels take in fewer registers. */
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

/* An array of a shape of its own over a space. */
template <class T> mxcu_operand<T> mxcu_stretched(const mxc_tensor *t, const mxc_shape *space) {
    mxcu_operand<T> operand = {mxcu_pointer<const T>(t->data), 0, mxci_is_stretched(&t->shape, space), {}};
    mxci_strided walk;
    mxci_stretch(&t->shape, space, &walk);
    operand.walk = mxcu_walk_of(&walk);
    return operand;
}

#endif
