/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator wave, out = sin(frequency data), in two libraries: wave_host.cpp has its descriptor and computes on the
 * CPU, wave_gpu.cu computes on GPUs. The latter is loaded only where it is needed.
 */
#ifndef WAVE_H
#define WAVE_H

#include <cmath>

#include <mxc/kernel.hpp>

enum { WAVE_VERSION = 1 }; /* changes with what follows */

struct wave_params {
    double frequency;
};

/* Of one element, in float or double, on the host and in kernels. */
struct wave_function {
    double frequency;
    template <class T> MXC_FN T operator()(T x) const {
        return std::sin(static_cast<T>(frequency) * x);
    }
};

/* The gradient: its arguments are data and the gradient of out. */
struct wave_gradient {
    double frequency;
    template <class T> MXC_FN T operator()(T x, T above) const {
        return static_cast<T>(frequency) * std::cos(static_cast<T>(frequency) * x) * above;
    }
};

static inline double wave_frequency(const mxc_op_call *call) {
    return static_cast<const wave_params *>(call->params)->frequency;
}

#endif
