/* SPDX-License-Identifier: Apache-2.0 */
/* GPU operators of a program, by mxc/kernel.cuh: what a .cu file would have. */
#include <mxc/kernel.cuh>

struct multiply_add {
    double plus;
    template <class T> MXC_FN T operator()(T x, T y) const {
        return static_cast<T>(x * y + static_cast<T>(plus));
    }
};

MXC_EXTERN mxc_status multiply_add_on_cpu(const mxc_op_call *call);
MXC_EXTERN mxc_status multiply_add_on_gpu(const mxc_op_call *call);
MXC_EXTERN mxc_status dice_on_gpu(const mxc_op_call *call);
MXC_EXTERN mxc_status square_on_gpu(const mxc_op_call *call);

mxc_status multiply_add_on_cpu(const mxc_op_call *call) {
    return mxc::map_numbers(call->run, multiply_add{1}, call->req[0], &call->out[0], &call->in[0], &call->in[1]);
}

mxc_status multiply_add_on_gpu(const mxc_op_call *call) {
    return mxc::gpu::map_numbers(call->run, multiply_add{1}, call->req[0], &call->out[0], &call->in[0], &call->in[1]);
}

/* Random numbers by the element's number, the same on the host: normal around 100, and a die. */
struct throw_dice {
    mxc_random range;
    double *y;
    MXC_FN void operator()(int64_t i) const {
        const uint64_t at = 3 * (uint64_t)i;
        y[i] = mxc::random_normal(range, at, 100, 1) + (double)mxc::random_integer(range, at + 1, 1, 7) +
               (double)mxc::random_uniform(range, at + 2);
    }
};

mxc_status dice_on_gpu(const mxc_op_call *call) {
    const throw_dice body = {call->random, mxc::gpu::pointer<double>(call->out[0].data)};
    return mxc::gpu::for_each(call->run, mxc_shape_size(&call->out[0].shape), body);
}

/* A loop of its own: the square of each float. */
struct square {
    const float *x;
    float *y;
    MXC_FN void operator()(int64_t i) const {
        y[i] = x[i] * x[i];
    }
};

mxc_status square_on_gpu(const mxc_op_call *call) {
    const square body = {mxc::gpu::pointer<const float>(call->in[0].data), mxc::gpu::pointer<float>(call->out[0].data)};
    return mxc::gpu::for_each(call->run, mxc_shape_size(&call->in[0].shape), body);
}
