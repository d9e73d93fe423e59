/*
 * What the fake GPU serves of cuda/dnn.h: convolutions but of float64, so that callers' own kernels run too. As a
 * library does, it sums in scratch, remembers a plan for each shape, and "measures" in the first run that may: computes
 * twice.
 */
#include "cuda/dnn.h"

#include <mutex>

#include "cuda/conv_place.h"
#include "cuda/kernel.h"
#include "cuda/memo.h"

namespace {

struct plan {
    bool measured = false;
    void close() {
    }
};

enum { KEY = 23, PLACES = 5 }; /* few, so that plans lose their places */

std::mutex lock; /* over plans */
mxcu_memo<plan, KEY, PLACES> plans;

/* 1: this run is the plan's first that may be measured. */
int take_measure(const mxcu_conv &c, mxcu_conv_pass pass, int add) {
    std::lock_guard<std::mutex> held(lock);
    int64_t key[KEY] = {c.batch, c.groups, pass};
    int known;
    memcpy(key + 3, &c.s, sizeof c.s);
    plan *p = plans.find(key, &known);
    const int first = c.library == 2 && !p->measured && !add;
    p->measured = p->measured || first;
    return first;
}

/* A result (planes, elements), and what one of its elements is. */
struct result {
    int64_t planes, elements;
};

result result_of(const mxcu_conv &c, mxcu_conv_pass pass) {
    switch (pass) {
    case MXCU_CONV_FORWARD:
        return {c.batch * c.groups * c.s.filters, c.pixels()};
    case MXCU_CONV_DATA:
        return {c.batch * c.groups * c.s.channels, c.image()};
    default:
        return {c.groups * c.s.filters * c.s.channels, c.taps()};
    }
}

template <class T> struct arrays {
    mxcu_conv c;
    mxcu_in<T> a, b;

    double forward(int64_t plane, int64_t pixel) const { /* a: x, b: w */
        const int64_t all = c.groups * c.s.filters, sample = plane / all, filter = plane % all;
        const int64_t channel = filter / c.s.filters * c.s.channels;
        double sum = 0;
        for (int64_t i = 0; i < c.s.channels; i++)
            for (int64_t k = 0; k < c.taps(); k++) {
                int64_t at = mxcu_conv_read(c.s, mxcu_place_of(pixel, c.s.out), mxcu_place_of(k, c.s.kernel));
                int64_t image = sample * c.groups * c.s.channels + channel + i;
                sum += at < 0 ? 0 : (double)a[image * c.image() + at] * b[(filter * c.s.channels + i) * c.taps() + k];
            }
        return sum;
    }
    double data(int64_t plane, int64_t x) const { /* a: dy, b: w */
        const int64_t all = c.groups * c.s.channels, sample = plane / all, channel = plane % all;
        const int64_t filter = channel / c.s.channels * c.s.filters;
        double sum = 0;
        for (int64_t f = filter; f < filter + c.s.filters; f++)
            for (int64_t k = 0; k < c.taps(); k++) {
                int64_t at = mxcu_conv_reader(c.s, mxcu_place_of(x, c.s.in), mxcu_place_of(k, c.s.kernel));
                int64_t image = sample * c.groups * c.s.filters + f;
                sum += at < 0 ? 0
                              : (double)a[image * c.pixels() + at] *
                                    b[(f * c.s.channels + channel % c.s.channels) * c.taps() + k];
            }
        return sum;
    }
    double weight(int64_t plane, int64_t k) const { /* a: x, b: dy */
        const int64_t filter = plane / c.s.channels, group = filter / c.s.filters;
        double sum = 0;
        for (int64_t n = 0; n < c.batch; n++)
            for (int64_t pixel = 0; pixel < c.pixels(); pixel++) {
                int64_t at = mxcu_conv_read(c.s, mxcu_place_of(pixel, c.s.out), mxcu_place_of(k, c.s.kernel));
                int64_t image = (n * c.groups + group) * c.s.channels + plane % c.s.channels;
                sum += at < 0 ? 0
                              : (double)a[image * c.image() + at] *
                                    b[(n * c.groups * c.s.filters + filter) * c.pixels() + pixel];
            }
        return sum;
    }
    double element(mxcu_conv_pass pass, int64_t plane, int64_t i) const {
        return pass == MXCU_CONV_FORWARD ? forward(plane, i) : pass == MXCU_CONV_DATA ? data(plane, i)
                                                                                     : weight(plane, i);
    }
};

template <class T>
mxc_status queue(const mxc_op_call *call, const mxcu_conv *given, mxcu_conv_pass pass, const void *a, const void *b,
                 void *to, int add) {
    const arrays<T> from = {*given, {mxcu_pointer<const T>(a)}, {mxcu_pointer<const T>(b)}};
    const mxcu_out<T> out = {mxcu_pointer<T>(to), add};
    const int runs = 1 + take_measure(*given, pass, add);
    double *sums = mxcu_temp<double>(call, 0);
    return mxcu_fake_queue(call->run->stream, [=] {
        const result r = result_of(from.c, pass);
        for (int64_t i = 0; i < runs * r.planes; i++) {
            for (int64_t k = 0; k < r.elements; k++)
                sums[k] = from.element(pass, i % r.planes, k);
            for (int64_t k = 0; k < r.elements; k++)
                out.put(i % r.planes * r.elements + k, (float)sums[k]);
        }
    });
}

} // namespace

size_t mxcu_dnn_conv_temp(mxc_context, const mxcu_conv *c, mxcu_conv_pass pass) {
    return (size_t)result_of(*c, pass).elements * sizeof(double);
}

mxc_status mxcu_dnn_conv(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a, const void *b,
                         void *to, int add, int *served) {
    *served = c->dtype != MXC_F64 && mxcu_dnn_conv_temp(call->run->context, c, pass) <= call->temp_bytes;
    if (!*served)
        return MXC_OK;
    switch (c->dtype) {
    case MXC_F16:
        return queue<mxci_f16>(call, c, pass, a, b, to, add);
    case MXC_BF16:
        return queue<mxci_bf16>(call, c, pass, a, b, to, add);
    default:
        return queue<float>(call, c, pass, a, b, to, add);
    }
}
