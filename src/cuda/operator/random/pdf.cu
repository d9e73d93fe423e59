/* SPDX-License-Identifier: Apache-2.0 */
/* _random_pdf_<distribution>: a thread per sample, and a team per element of the parameters for their gradients. The
 * arithmetic is the CPU's C source (operator/random/pdf.h), in double. */
#include "operator/random/pdf.h"

#include "cuda/runtime/convert.h"

namespace {

enum { SAMPLE, A, B };

/* A distribution as a type. */
#define DENSITY(name)                                                          \
    struct name##_density {                                                    \
        static MXCU_DEVICE mxci_log_density of(double x, double a, double b) { \
            return mxci_pdf_##name(x, a, b);                                   \
        }                                                                      \
    };
DENSITY(uniform)
DENSITY(normal)
DENSITY(gamma)
DENSITY(exponential)
DENSITY(poisson)
DENSITY(negative_binomial)
DENSITY(generalized_negative_binomial)

/* The density of each sample, `row` neighbouring ones with the same parameters. */
template <class Density> struct densities {
    mxcu_any x, a, b;
    int64_t row;
    int is_log;

    MXCU_DEVICE mxci_log_density operator()(int64_t i) const {
        const int64_t p = mxcu_divide(i, row);
        return Density::of(x.as<double>(i), a.as<double>(p), b.data ? b.as<double>(p) : 0);
    }
    /* What out_grad is multiplied by for the gradient of the logarithm. */
    MXCU_DEVICE double weight(double value) const {
        return is_log ? 1 : exp(value);
    }
};

template <class Density> struct pdf {
    static densities<Density> of(const mxc_op_call *call) {
        const int64_t n = mxcu_size(&call->in[A]), size = mxcu_size(&call->in[SAMPLE]);
        densities<Density> d = {mxcu_any_data(&call->in[SAMPLE]),
                                mxcu_any_data(&call->in[A]),
                                {},
                                n > 0 && size > 0 ? size / n : 1,
                                static_cast<const mxci_pdf_params *>(call->params)->is_log};
        if (call->n_in > B)
            d.b = mxcu_any_data(&call->in[B]);
        return d;
    }
    template <class T> static mxc_status put(const mxc_op_call *call) {
        const densities<Density> d = of(call);
        mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
        return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
            const double value = d(i).value;
            y.put(i, (mxcu_compute_t<T>)(d.is_log ? value : exp(value)));
        });
    }
    static mxc_status forward(const mxc_op_call *call) {
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_FLOAT(call->out[0].dtype, put, call)
    }
    template <class T> static mxc_status put_gradients(const mxc_op_call *call) {
        const densities<Density> d = of(call);
        const int64_t row = mxcu_size(&call->in[SAMPLE]) > 0 ? d.row : 0;
        const mxcu_any grad = mxcu_any_data(&call->out_grad[0]);
        mxcu_out<T> dx = mxcu_wanted<T>(call, &call->in_grad[SAMPLE], SAMPLE);
        mxcu_out<T> da = mxcu_wanted<T>(call, &call->in_grad[A], A), db = {nullptr, 0};
        if (call->n_in > B)
            db = mxcu_wanted<T>(call, &call->in_grad[B], B);
        return mxcu_rows(call, mxcu_size(&call->in[A]), row, [=] MXCU_LAMBDA(int64_t p, mxcu_team team) {
            double sum_a = 0, sum_b = 0;
            for (int64_t i = p * row + team.rank; i < (p + 1) * row; i += team.size) {
                const mxci_log_density at = d(i);
                const double g = grad.as<double>(i) * d.weight(at.value);
                if (dx.data)
                    dx.put(i, (mxcu_compute_t<T>)(g * at.dx));
                sum_a += g * at.da;
                sum_b += g * at.db;
            }
            sum_a = team.sum(sum_a);
            sum_b = team.sum(sum_b);
            if (team.rank == 0 && da.data)
                da.put(p, (mxcu_compute_t<T>)sum_a);
            if (team.rank == 0 && db.data)
                db.put(p, (mxcu_compute_t<T>)sum_b);
        });
    }
    static mxc_status backward(const mxc_op_call *call) {
        MXCU_SWITCH_FLOAT(call->in[SAMPLE].dtype, put_gradients, call)
    }
};

/* ---- the Dirichlet distribution ---------------------------------------------------------------------------------- */

/* Vectors of k numbers, `row` neighbouring ones with the same parameters. */
struct dirichlet {
    mxcu_any x, alpha;
    int64_t k, row;
    int is_log;

    MXCU_DEVICE double sum_of_alpha(int64_t p) const {
        double sum = 0;
        for (int64_t i = 0; i < k; i++)
            sum += alpha.as<double>(p * k + i);
        return sum;
    }
    MXCU_DEVICE double log_at(int64_t i) const {
        const int64_t p = mxcu_divide(i, row);
        double value = mxci_gammaln_f64(sum_of_alpha(p));
        for (int64_t j = 0; j < k; j++) {
            const double a = alpha.as<double>(p * k + j);
            value += mxci_times_log(a - 1, x.as<double>(i * k + j)) - mxci_gammaln_f64(a);
        }
        return value;
    }
};

dirichlet dirichlet_of(const mxc_op_call *call) {
    const mxc_shape *alpha = &call->in[A].shape;
    const int64_t samples = mxcu_size(&call->out[0]), n = mxcu_product(alpha, 0, alpha->ndim - 1);
    return {mxcu_any_data(&call->in[SAMPLE]), mxcu_any_data(&call->in[A]), alpha->dim[alpha->ndim - 1],
            n > 0 && samples > 0 ? samples / n : 1, static_cast<const mxci_pdf_params *>(call->params)->is_log};
}

template <class T> mxc_status put_dirichlet(const mxc_op_call *call) {
    const dirichlet d = dirichlet_of(call);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const double value = d.log_at(i);
        y.put(i, (mxcu_compute_t<T>)(d.is_log ? value : exp(value)));
    });
}

mxc_status dirichlet_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, put_dirichlet, call)
}

/* The samples' gradients and weights; then a team per element of alpha adds up over the samples. */
template <class T> mxc_status put_dirichlet_gradients(const mxc_op_call *call) {
    const dirichlet d = dirichlet_of(call);
    const int64_t samples = mxcu_size(&call->out[0]), row = samples > 0 ? d.row : 0, k = d.k;
    const mxcu_any grad = mxcu_any_data(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_wanted<T>(call, &call->in_grad[SAMPLE], SAMPLE);
    mxcu_out<T> da = mxcu_wanted<T>(call, &call->in_grad[A], A);
    double *weight = mxcu_temp<double>(call, 0);
    MXC_TRY(mxcu_for(call, samples, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t p = mxcu_divide(i, d.row);
        weight[i] = grad.as<double>(i) * (d.is_log ? 1 : exp(d.log_at(i)));
        for (int64_t j = 0; dx.data && j < k; j++)
            dx.put(i * k + j,
                   (mxcu_compute_t<T>)(weight[i] * (d.alpha.as<double>(p * k + j) - 1) / d.x.as<double>(i * k + j)));
    }));
    if (!da.data)
        return MXC_OK;
    return mxcu_rows(call, mxcu_size(&call->in[A]), row, [=] MXCU_LAMBDA(int64_t at, mxcu_team team) {
        const int64_t p = mxcu_divide(at, k), j = at - p * k;
        const double own = mxci_digamma_f64(d.sum_of_alpha(p)) - mxci_digamma_f64(d.alpha.as<double>(at));
        double sum = 0;
        for (int64_t i = p * row + team.rank; i < (p + 1) * row; i += team.size)
            sum += weight[i] * (log(d.x.as<double>(i * k + j)) + own);
        sum = team.sum(sum);
        if (team.rank == 0)
            da.put(at, (mxcu_compute_t<T>)sum);
    });
}

mxc_status dirichlet_backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[SAMPLE].dtype, put_dirichlet_gradients, call)
}

size_t dirichlet_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *out = &sig->out_shape[0];
    return pass == MXC_BACKWARD ? mxci_size_of(mxcu_product(out, 0, out->ndim), sizeof(double)) : 0;
}

} // namespace

#define BOTH(name) \
    { "_random_pdf_" #name, pdf<name##_density>::forward, pdf<name##_density>::backward }
MXCU_OP_IMPLS(pdf, BOTH(uniform), BOTH(normal), BOTH(gamma), BOTH(exponential), BOTH(poisson), BOTH(negative_binomial),
              BOTH(generalized_negative_binomial),
              {"_random_pdf_dirichlet", dirichlet_forward, dirichlet_backward, dirichlet_bytes})
