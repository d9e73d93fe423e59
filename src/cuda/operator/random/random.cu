/* Random numbers, the same as on the CPU for a seed: Dropout, _random_<distribution> and _sample_<distribution>. The
 * last waits for the device, to say which parameters are out of range. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/random/random.h"
#include "cuda/runtime/readback.h"
#include "cuda/runtime/strided_iterator.h"
#include "operator/nn/dropout.h"
#include "math/distributions.h"
#include "operator/random/sample.h"

/* ---- Dropout ----------------------------------------------------------------------------------------------------- */

enum { OUT, MASK };

/* Element i of the mask. */
template <class T> struct dropping {
    mxcu_random random;
    float limit;
    mxcu_compute_t<T> factor;

    MXCU_DEVICE mxcu_compute_t<T> operator()(int64_t i) const {
        return mxci_philox_float(random((uint64_t)i)) < limit ? mxcu_widen<T>(mxcu_narrow<T>(factor)) : 0;
    }
};

template <class T> static dropping<T> dropping_of(const mxc_op_call *call) {
    const double keep = 1 - static_cast<const mxci_dropout_params *>(call->params)->p;
    return {mxcu_random_of(call), (float)keep, (mxcu_compute_t<T>)(keep > 0 ? 1 / keep : 0)};
}

static mxcu_strided_iterator mask_iterator(const mxc_op_call *call, const mxc_shape *data) {
    mxci_strided strides;
    mxci_dropout_walk(static_cast<const mxci_dropout_params *>(call->params), data, &strides);
    return mxcu_iterate(&strides);
}

static int is_broadcast(const mxc_op_call *call) {
    return static_cast<const mxci_dropout_params *>(call->params)->axes.n > 0;
}

/* A mask that is broadcast: each of its elements is drawn again for every element of data that it covers. */
template <class T> static mxc_status drop_broadcast(const mxc_op_call *call) {
    const dropping<T> make = dropping_of<T>(call);
    const mxcu_strided_iterator iterator = mask_iterator(call, &call->in[0].shape);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT), mask = mxcu_result<T>(call, &call->out[MASK], MASK);
    if (call->req[MASK] != MXC_REQ_NULL)
        MXC_TRY(mxcu_for(call, mxcu_size(&call->out[MASK]), [=] MXCU_LAMBDA(int64_t i) { mask.put(i, make(i)); }));
    if (call->req[OUT] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i] * make(iterator(i))); });
}

/* Two results of element i: the mask, rounded to T, and the product with it. */
template <class T> static mxc_status drop(const mxc_op_call *call) {
    const dropping<T> make = dropping_of<T>(call);
    const int puts_out = call->req[OUT] != MXC_REQ_NULL, puts_mask = call->req[MASK] != MXC_REQ_NULL;
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT), mask = mxcu_result<T>(call, &call->out[MASK], MASK);
    return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) {
        const mxcu_compute_t<T> kept = make(i);
        if (puts_mask)
            mask.put(i, kept);
        if (puts_out)
            y.put(i, x[i] * kept);
    });
}

static mxc_status dropout_forward(const mxc_op_call *call) {
    if (!mxci_dropout_drops(static_cast<const mxci_dropout_params *>(call->params), call->is_train)) {
        MXC_TRY(mxcu_put(call, &call->out[OUT], OUT, &call->in[0]));
        return mxcu_put_constant(call, &call->out[MASK], MASK, 1);
    }
    if (is_broadcast(call)) {
        MXCU_SWITCH_FLOAT(call->in[0].dtype, drop_broadcast, call)
    }
    MXCU_SWITCH_FLOAT(call->in[0].dtype, drop, call)
}

template <class T> static mxc_status apply_broadcast(const mxc_op_call *call) {
    const mxcu_strided_iterator iterator = mask_iterator(call, &call->in_grad[0].shape);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[OUT]), mask = mxcu_data<T>(&call->out[MASK]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, g[i] * mask[iterator(i)]); });
}

template <class T> static mxc_status apply_mask(const mxc_op_call *call) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[OUT]), mask = mxcu_data<T>(&call->out[MASK]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t i) { dx.put(i, g[i] * mask[i]); });
}

static mxc_status dropout_backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (is_broadcast(call)) {
        MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, apply_broadcast, call)
    }
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, apply_mask, call)
}

/* ---- distributions ----------------------------------------------------------------------------------------------- */

namespace {

#define DISTRIBUTION(name, in_range)                                                            \
    struct name##_numbers {                                                                     \
        static constexpr const char *sample = "_sample_" #name, *range = MXCI_RANGE_##in_range; \
        static MXCU_DEVICE int fits(double a, double b) {                                       \
            return mxci_fits_##in_range(a, b);                                                  \
        }                                                                                       \
        static MXCU_DEVICE double draw(mxci_draws *draws, double a, double b) {                 \
            return mxci_draw_##name(draws, a, b);                                               \
        }                                                                                       \
    };
DISTRIBUTION(uniform, uniform)
DISTRIBUTION(normal, normal)
DISTRIBUTION(gamma, gamma)
DISTRIBUTION(exponential, exponential)
DISTRIBUTION(poisson, poisson)
DISTRIBUTION(negative_binomial, negative)
DISTRIBUTION(generalized_negative_binomial, generalized)

/* Element i, with parameters from arrays, each for row neighbours, where these have data. */
template <class Distribution> struct sampling {
    mxcu_random random;
    mxcu_any a_array, b_array;
    double a, b;
    int64_t row;
    MXCU_DEVICE double a_of(int64_t which) const {
        return a_array.data ? a_array.as<double>(which) : a;
    }
    MXCU_DEVICE double b_of(int64_t which) const {
        return b_array.data ? b_array.as<double>(which) : b;
    }
    MXCU_DEVICE double operator()(int64_t i) const {
        const mxc_random range = random.range();
        mxci_draws draws = {range.seed, range.stream, range.offset + (uint64_t)i, 0};
        return Distribution::draw(&draws, a_of(i / row), b_of(i / row));
    }
};

template <class Distribution> struct misfits {
    sampling<Distribution> s;

    MXCU_DEVICE int is_invalid(int64_t i) const {
        return !Distribution::fits(s.a_of(i), s.b_of(i));
    }
    MXCU_DEVICE mxcu_invalid_element report(int64_t i) const {
        return {i, s.a_of(i), s.b_of(i)};
    }
};

size_t check_bytes(const mxc_op_sig *, mxc_pass) {
    return sizeof(mxcu_invalid_element);
}

/* MXC_EINVAL unless all n parameters are in range. */
template <class Distribution> mxc_status check(const mxc_op_call *call, const sampling<Distribution> &s, int64_t n) {
    mxcu_invalid_element bad;
    MXC_TRY(mxcu_find_invalid(call, n, misfits<Distribution>{s}, &bad));
    if (bad.at == INT64_MAX)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: parameters %g, %g of element %lld, expected %s", Distribution::sample, bad.a,
                    bad.b, (long long)bad.at, Distribution::range);
}

template <class Distribution> struct drawn {
    template <class T> static mxc_status put(const mxc_op_call *call, const sampling<Distribution> &s) {
        mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
        return mxcu_for(call, mxcu_size(&call->out[0]),
                        [=] MXCU_LAMBDA(int64_t i) { y.put(i, mxcu_converted<T>(s(i))); });
    }
    static mxc_status run(const mxc_op_call *call, const sampling<Distribution> &s) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_FLOAT(call->out[0].dtype, put, call, s)
    }
    static mxc_status random(const mxc_op_call *call) {
        const mxci_sample_params *p = static_cast<const mxci_sample_params *>(call->params);
        return run(call, {mxcu_random_of(call), {}, {}, p->a, p->b, 1});
    }
    static mxc_status sample(const mxc_op_call *call) {
        const int64_t n = mxcu_size(&call->in[0]), size = mxcu_size(&call->out[0]);
        sampling<Distribution> s = {
            mxcu_random_of(call), mxcu_any_data(&call->in[0]), {}, 0, 0, n && size ? size / n : 1,
        };
        if (call->n_in > 1)
            s.b_array = mxcu_any_data(&call->in[1]);
        MXC_TRY(check(call, s, n));
        return run(call, s);
    }
};

} // namespace

#define BOTH(name)                                                            \
    {"_random_" #name, drawn<name##_numbers>::random}, {                      \
        "_sample_" #name, drawn<name##_numbers>::sample, nullptr, check_bytes \
    }
MXCU_OP_IMPLS(random, {"Dropout", dropout_forward, dropout_backward}, BOTH(uniform), BOTH(normal), BOTH(gamma),
              BOTH(exponential), BOTH(poisson), BOTH(negative_binomial), BOTH(generalized_negative_binomial))
