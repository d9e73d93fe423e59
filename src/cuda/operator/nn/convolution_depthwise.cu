/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolution (groups of one channel), channels second, without scratch: K products per result are too few
 * for im2col and a matrix product. Forward and the gradient of data have a thread per element of their result; the
 * gradient of a weight sums over all samples and pixels, by a team. */
#include "cuda/operator/nn/convolution.h"
#include "cuda/operator/nn/convolution_index.h"
#include "cuda/runtime/kernel.h"

/* y (N, G, F, P): a thread per element sums K products. Threads of a warp have neighbouring pixels of one filter, so
 * weights are broadcast and reads of x are nearly coalesced. */
template <class T>
static mxc_status forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w, void *y, int add) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), pixels = c->pixels(), image = c->image(), groups = c->groups;
    mxcu_in<T> in = {mxcu_pointer<const T>((void *)x)}, weight = {mxcu_pointer<const T>((void *)w)};
    mxcu_out<T> out = {mxcu_pointer<T>(y), add};
    return mxcu_for(call, c->batch * groups * s.filters * pixels, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t plane = mxcu_divide(i, pixels), from = mxcu_divide(plane, s.filters);
        const int64_t filter = plane - mxcu_divide(plane, groups * s.filters) * groups * s.filters;
        const mxcu_position o = mxcu_position_of(i - plane * pixels, s.out);
        mxcu_compute_t<T> sum = 0;
        for (int64_t k = 0; k < kernel_size; k++) {
            int64_t at = mxcu_conv_read(s, o, mxcu_position_of(k, s.kernel));
            if (at >= 0)
                sum += weight[filter * kernel_size + k] * in[from * image + at];
        }
        out.put(i, sum);
    });
}

/* dx (N, G, in): a thread per element gathers from the pixels that read it, for each position of the kernel and each
 * filter of the group. Gathering needs no atomics. */
template <class T>
static mxc_status data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w, void *dx, int add) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), pixels = c->pixels(), image = c->image(), groups = c->groups;
    mxcu_in<T> grad = {mxcu_pointer<const T>((void *)dy)}, weight = {mxcu_pointer<const T>((void *)w)};
    mxcu_out<T> out = {mxcu_pointer<T>(dx), add};
    return mxcu_for(call, c->batch * groups * image, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t plane = mxcu_divide(i, image), group = plane - mxcu_divide(plane, groups) * groups;
        const mxcu_position x = mxcu_position_of(i - plane * image, s.in);
        mxcu_compute_t<T> sum = 0;
        for (int64_t k = 0; k < kernel_size; k++) {
            int64_t at = mxcu_conv_reader(s, x, mxcu_position_of(k, s.kernel));
            for (int64_t f = 0; at >= 0 && f < s.filters; f++)
                sum += weight[(group * s.filters + f) * kernel_size + k] * grad[(plane * s.filters + f) * pixels + at];
        }
        out.put(i, sum);
    });
}

/* dw (G F, K): a team per weight; the threads stride over samples and pixels. */
template <class T>
static mxc_status weights(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy, void *dw,
                          int add) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), pixels = c->pixels(), image = c->image(), groups = c->groups;
    const int64_t each = c->batch * pixels;
    mxcu_in<T> in = {mxcu_pointer<const T>((void *)x)}, grad = {mxcu_pointer<const T>((void *)dy)};
    mxcu_out<T> out = {mxcu_pointer<T>(dw), add};
    return mxcu_rows(call, groups * s.filters * kernel_size, each, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t filter = row / kernel_size, group = filter / s.filters;
        const mxcu_position k = mxcu_position_of(row % kernel_size, s.kernel);
        mxcu_compute_t<T> sum = 0;
        for (int64_t i = team.rank; i < each; i += team.size) {
            int64_t sample = mxcu_divide(i, pixels), p = i - sample * pixels;
            int64_t at = mxcu_conv_read(s, mxcu_position_of(p, s.out), k);
            if (at >= 0)
                sum += grad[(sample * groups * s.filters + filter) * pixels + p] *
                       in[(sample * groups + group) * image + at];
        }
        sum = team.sum(sum);
        if (team.rank == 0)
            out.put(row, sum);
    });
}

mxc_status mxcu_conv_depthwise_forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w,
                                       void *y, int add) {
    MXCU_SWITCH_FLOAT(c->dtype, forward, call, c, x, w, y, add)
}

mxc_status mxcu_conv_depthwise_data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w,
                                    void *dx, int add) {
    MXCU_SWITCH_FLOAT(c->dtype, data, call, c, dy, w, dx, add)
}

mxc_status mxcu_conv_depthwise_weight(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy,
                                      void *dw, int add) {
    MXCU_SWITCH_FLOAT(c->dtype, weights, call, c, x, dy, dw, add)
}
