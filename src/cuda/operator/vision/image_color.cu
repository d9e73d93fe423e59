/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of an image's colours (operator/vision/image_color.c), with the same amounts as on the CPU for a seed: one
 * team draws the steps and computes the mean that contrast needs, into scratch; then a thread per pixel. */
#include "operator/vision/image_color.h"

#include "cuda/operator/random/random.h"
#include "cuda/runtime/convert.h"

namespace {

struct pixels {
    mxcu_any data;
    int channels;

    /* Pixel i as the first n steps leave it. */
    MXCU_DEVICE void load(int64_t i, const mxci_color_steps *steps, int n, double *x) const {
        for (int c = 0; c < channels; c++)
            x[c] = data.as<double>(i * channels + c);
        mxci_color_apply(steps, n, channels, x);
    }
    MXCU_DEVICE double grey(int64_t i, const mxci_color_steps *steps, int n) const {
        double x[3];
        load(i, steps, n, x);
        return channels == 3 ? mxci_grey_of(x) : x[0];
    }
};

/* Every thread of the team draws the same steps. */
mxc_status plan(const mxc_op_call *call, int kind, const pixels &from, int64_t n, mxci_color_steps *to) {
    const mxci_color_params p = *static_cast<const mxci_color_params *>(call->params);
    const mxcu_random random = mxcu_random_of(call);
    return mxcu_rows(call, 1, n, [=] MXCU_LAMBDA(int64_t, mxcu_team team) {
        mxci_color_steps steps;
        mxci_color_steps_of(kind, &p, random.range(), &steps);
        const int contrast = mxci_color_mean_step(&steps);
        double sum = 0;
        for (int64_t i = team.rank; contrast >= 0 && i < n; i += team.size)
            sum += from.grey(i, &steps, contrast);
        sum = team.sum(sum);
        if (contrast >= 0)
            steps.step[contrast].mean = sum / (double)n;
        if (team.rank == 0)
            *to = steps;
    });
}

template <class T>
mxc_status change(const mxc_op_call *call, const pixels &from, int64_t n, const mxci_color_steps *steps) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) {
        double x[3];
        from.load(i, steps, steps->n, x);
        for (int c = 0; c < from.channels; c++)
            y.put(i * from.channels + c, mxcu_converted<T>(std::is_integral<T>::value ? mxci_color_whole(x[c]) : x[c]));
    });
}

template <int kind> mxc_status forward(const mxc_op_call *call) {
    const pixels from = {mxcu_any_data(&call->in[0]), (int)call->in[0].shape.dim[2]};
    const int64_t n = mxcu_size(&call->in[0]) / from.channels;
    mxci_color_steps *steps = mxcu_temp<mxci_color_steps>(call, 0);
    if (call->req[0] == MXC_REQ_NULL || n == 0)
        return MXC_OK;
    MXC_TRY(plan(call, kind, from, n, steps));
    MXCU_SWITCH_NUMBER(call->out[0].dtype, change, call, from, n, steps)
}

template <class T> mxc_status copy(const mxc_op_call *call) {
    mxcu_in<T> x = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i]); });
}

mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->in_grad[0].dtype, copy, call)
}

size_t color_bytes(const mxc_op_sig *, mxc_pass) {
    return sizeof(mxci_color_steps);
}

} // namespace

#define COLORS(name, kind) \
    { "_image_" name, forward<kind>, backward, color_bytes }
MXCU_OP_IMPLS(image_color, COLORS("random_brightness", MXCI_BRIGHTNESS), COLORS("random_contrast", MXCI_CONTRAST),
              COLORS("random_saturation", MXCI_SATURATION), COLORS("random_hue", MXCI_HUE),
              COLORS("random_color_jitter", MXCI_COLOR_JITTER), COLORS("adjust_lighting", MXCI_LIGHTING),
              COLORS("random_lighting", MXCI_LIGHTING_DRAWN))
