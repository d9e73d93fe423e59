/* SPDX-License-Identifier: Apache-2.0 */
/* _random_<distribution>, _random_<distribution>_like and _sample_<distribution>, with the same numbers as on the CPU
 * for a seed; a thread per element, which draws as many numbers as its distribution needs. The last wait for the
 * device, so that they can report parameters that are out of range. */
#include "operator/random/sample.h"

#include "cuda/operator/random/random.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/readback.h"
#include "math/distributions.h"

namespace {

/* A distribution as a type: its name for messages, the range of its parameters, and how it draws. */
#define DISTRIBUTION(name, in_range, draw_number)                                               \
    struct name##_numbers {                                                                     \
        static constexpr const char *sample = "_sample_" #name, *range = MXCI_RANGE_##in_range; \
        static MXCU_DEVICE int fits(double a, double b) {                                       \
            return mxci_fits_##in_range(a, b);                                                  \
        }                                                                                       \
        static MXCU_DEVICE double draw(mxc_draws *draws, double a, double b) {                  \
            return draw_number(draws, a, b);                                                    \
        }                                                                                       \
    };
DISTRIBUTION(uniform, uniform, mxci_draw_uniform)
DISTRIBUTION(normal, normal, mxc_draw_normal)
DISTRIBUTION(gamma, gamma, mxci_draw_gamma)
DISTRIBUTION(exponential, exponential, mxci_draw_exponential)
DISTRIBUTION(poisson, poisson, mxci_draw_poisson)
DISTRIBUTION(negative_binomial, negative, mxci_draw_negative_binomial)
DISTRIBUTION(generalized_negative_binomial, generalized, mxci_draw_generalized_negative_binomial)

/* Element i: drawn with parameters a and b, or with those of arrays where these have data, each for `row` neighbouring
 * elements. */
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
        mxc_draws draws = {range.seed, range.stream, range.offset + (uint64_t)i, 0};
        return Distribution::draw(&draws, a_of(i / row), b_of(i / row));
    }
};

/* For mxcu_find_invalid. */
template <class Distribution> struct invalid_parameters {
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
    MXC_TRY(mxcu_find_invalid(call, n, invalid_parameters<Distribution>{s}, &bad));
    if (bad.at == INT64_MAX)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: parameters %g, %g of element %lld, expected %s", Distribution::sample, bad.a,
                    bad.b, (long long)bad.at, Distribution::range);
}

/* The operators of a distribution. */
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
    /* Parameters were checked when the operator was created, so nothing waits. */
    static mxc_status random(const mxc_op_call *call) {
        const mxci_sample_params *p = static_cast<const mxci_sample_params *>(call->params);
        return run(call, {mxcu_random_of(call), {}, {}, p->a, p->b, 1});
    }
    /* Parameters are on the device: the host waits for their check. */
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

#define ALL_OF(name)                                                                                                \
    {"_random_" #name, drawn<name##_numbers>::random}, {"_random_" #name "_like", drawn<name##_numbers>::random}, { \
        "_sample_" #name, drawn<name##_numbers>::sample, nullptr, check_bytes                                       \
    }
MXCU_OP_IMPLS(sample, ALL_OF(uniform), ALL_OF(normal), ALL_OF(gamma), ALL_OF(exponential), ALL_OF(poisson),
              ALL_OF(negative_binomial), ALL_OF(generalized_negative_binomial))
