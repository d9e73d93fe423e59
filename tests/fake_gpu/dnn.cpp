/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fake GPU serves of cuda/runtime/dnn.h: convolutions but of float64, so that callers' own kernels run too. As
 * a library does, it sums in scratch, remembers a plan for each shape, and "measures" in the first run that may:
 * computes twice.
 */
#include "cuda/runtime/dnn.h"

#include <mutex>

#include "cuda/operator/nn/convolution_index.h"
#include "cuda/runtime/kernel.h"
#include "cuda/runtime/plan_cache.h"

const int mxcu_has_dnn = 1;

namespace {

struct plan {
    bool measured = false;
    void close() {
    }
};

enum { KEY = 24, PLACES = 5 }; /* few, so that plans lose their places */

std::mutex lock; /* over plans */
mxcu_plan_cache<plan, KEY, PLACES> plans;

/* 1: this run is the plan's first that may be measured. */
int take_measure(const mxcu_conv &c, mxcu_conv_pass pass, int add) {
    std::lock_guard<std::mutex> held(lock);
    int64_t key[KEY] = {c.batch, c.groups, pass, c.channels_last};
    int known;
    memcpy(key + 4, &c.s, sizeof c.s);
    plan *p = plans.find(key, &known);
    const int first = c.library == 2 && !p->measured && !add;
    p->measured = p->measured || first;
    return first;
}

mxcu_conv_array result_of(const mxcu_conv &c, mxcu_conv_pass pass) {
    return pass == MXCU_CONV_FORWARD ? mxcu_conv_y(&c) : pass == MXCU_CONV_DATA ? mxcu_conv_x(&c) : mxcu_conv_w(&c);
}

/* Where an element of an array stands. */
int64_t spot(const mxcu_conv_array &a, int last, int64_t i, int64_t channel, int64_t place) {
    return last ? (i * a.inner + place) * a.channels + channel : (i * a.channels + channel) * a.inner + place;
}

template <class T> struct arrays {
    mxcu_conv c;
    mxcu_conv_array x, w, y;
    mxcu_in<T> a, b;

    double forward(int64_t n, int64_t filter, int64_t pixel) const { /* a: x, b: w */
        const int64_t channel = filter / c.s.filters * c.s.channels;
        double sum = 0;
        for (int64_t i = 0; i < c.s.channels; i++)
            for (int64_t k = 0; k < c.kernel_size(); k++) {
                int64_t at = mxcu_conv_read(c.s, mxcu_position_of(pixel, c.s.out), mxcu_position_of(k, c.s.kernel));
                sum += at < 0 ? 0
                              : (double)a[spot(x, c.channels_last, n, channel + i, at)] *
                                    b[spot(w, c.channels_last, filter, i, k)];
            }
        return sum;
    }
    double data(int64_t n, int64_t channel, int64_t place) const { /* a: dy, b: w */
        const int64_t first = channel / c.s.channels * c.s.filters;
        double sum = 0;
        for (int64_t f = first; f < first + c.s.filters; f++)
            for (int64_t k = 0; k < c.kernel_size(); k++) {
                int64_t at = mxcu_conv_reader(c.s, mxcu_position_of(place, c.s.in), mxcu_position_of(k, c.s.kernel));
                sum += at < 0 ? 0
                              : (double)a[spot(y, c.channels_last, n, f, at)] *
                                    b[spot(w, c.channels_last, f, channel % c.s.channels, k)];
            }
        return sum;
    }
    double weight(int64_t filter, int64_t channel, int64_t k) const { /* a: x, b: dy */
        const int64_t group = filter / c.s.filters;
        double sum = 0;
        for (int64_t n = 0; n < c.batch; n++)
            for (int64_t pixel = 0; pixel < c.pixels(); pixel++) {
                int64_t at = mxcu_conv_read(c.s, mxcu_position_of(pixel, c.s.out), mxcu_position_of(k, c.s.kernel));
                sum += at < 0 ? 0
                              : (double)a[spot(x, c.channels_last, n, group * c.s.channels + channel, at)] *
                                    b[spot(y, c.channels_last, n, filter, pixel)];
            }
        return sum;
    }
    double element(mxcu_conv_pass pass, int64_t i, int64_t channel, int64_t k) const {
        return pass == MXCU_CONV_FORWARD ? forward(i, channel, k)
               : pass == MXCU_CONV_DATA  ? data(i, channel, k)
                                         : weight(i, channel, k);
    }
};

/* A plane after the other, each summed in scratch. */
template <class T>
mxc_status queue(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                 void *to, int add) {
    const arrays<T> from = {
        *c, mxcu_conv_x(c), mxcu_conv_w(c), mxcu_conv_y(c), {mxcu_pointer<const T>(a)}, {mxcu_pointer<const T>(b)},
    };
    const mxcu_out<T> out = {mxcu_pointer<T>(to), add};
    const int runs = 1 + take_measure(*c, pass, add);
    double *sums = mxcu_temp<double>(call, 0);
    return mxcu_fake_queue(call->run->stream, [=] {
        const mxcu_conv_array r = result_of(from.c, pass);
        for (int64_t plane = 0; plane < runs * r.outer * r.channels; plane++) {
            const int64_t i = plane / r.channels % r.outer, channel = plane % r.channels;
            for (int64_t k = 0; k < r.inner; k++)
                sums[k] = from.element(pass, i, channel, k);
            for (int64_t k = 0; k < r.inner; k++)
                out.put(spot(r, from.c.channels_last, i, channel, k), (float)sums[k]);
        }
    });
}

} // namespace

size_t mxcu_dnn_conv_temp(mxc_context, const mxcu_conv *c, mxcu_conv_pass pass) {
    return c->dtype == MXC_F64 ? 0 : (size_t)result_of(*c, pass).inner * sizeof(double);
}

mxc_status mxcu_dnn_conv(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                         void *to, int add, int *served) {
    *served = c->dtype != MXC_F64 && mxcu_dnn_conv_temp(call->run->context, c, pass) <= call->temp_bytes;
    if (!*served)
        return MXC_OK;
    switch (c->dtype) {
    case MXC_F16:
        return queue<mxc_f16>(call, c, pass, a, b, to, add);
    case MXC_BF16:
        return queue<mxc_bf16>(call, c, pass, a, b, to, add);
    default:
        return queue<float>(call, c, pass, a, b, to, add);
    }
}
