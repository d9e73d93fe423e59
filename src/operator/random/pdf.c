/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probability densities: _random_pdf_<distribution>(sample, parameters) of the distributions of sample.c, and of the
 * Dirichlet distribution. Parameters have a shape P and sample a shape that begins with it, so that each element of the
 * parameters is that of a row of neighbouring samples; out has sample's shape. With is_log out is the logarithm.
 *
 * Of the Dirichlet distribution a sample is a vector of K numbers: alpha P + (K,), sample P + ... + (K,), out P + ....
 * The density is alpha's normalization times the product of x_k^(alpha_k - 1), for any sample.
 *
 * The gradient of the samples of a discrete distribution is 0. Everything is computed in float64.
 */
#include "operator/random/pdf.h"

#include <string.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

typedef mxci_log_density (*density_fn)(double x, double a, double b);

enum { SAMPLE, A, B };
enum { GRAIN = 256 };

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* The axes of argument slot's parameters, n of them, are sample's first. */
static mxc_status infer_prefix(mxc_op_sig *sig, int slot, int n) {
    mxc_shape of = sig->in_shape[slot], sample = mxci_shape_axes(sig->in_shape[SAMPLE].ndim);
    if (sample.ndim < of.ndim)
        return mxc_sig_fail(sig, "sample has %d axes, fewer than its parameters, which have %d", sample.ndim, of.ndim);
    for (int i = 0; i < n; i++)
        sample.dim[i] = of.dim[i];
    MXC_TRY(mxc_sig_set_shape(sig, SAMPLE, &sample));
    for (int i = 0; i < n; i++)
        of.dim[i] = sig->in_shape[SAMPLE].dim[i];
    return mxc_sig_set_shape(sig, slot, &of);
}

static mxc_status infer_pdf_shape(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_shape(sig, sig->n_in - 1, (const int[]){A, B}));
    MXC_TRY(mxci_sig_same_shape(sig, 2, (const int[]){SAMPLE, MXC_SLOT_OUT(0)}));
    if (sig->in_shape[A].ndim < 0 || sig->in_shape[SAMPLE].ndim < 0)
        return MXC_OK;
    for (int i = A; i < sig->n_in; i++)
        MXC_TRY(infer_prefix(sig, i, sig->in_shape[A].ndim));
    return mxci_sig_same_shape(sig, 2, (const int[]){SAMPLE, MXC_SLOT_OUT(0)});
}

/* out has sample's axes but the last. */
static mxc_status infer_dirichlet_shape(mxc_op_sig *sig) {
    mxc_shape *sample = &sig->in_shape[SAMPLE], *alpha = &sig->in_shape[A], *out = &sig->out_shape[0], shape;
    if (sample->ndim < 0 && out->ndim >= 0 && out->ndim < MXC_MAX_NDIM) {
        shape = *out;
        shape.dim[shape.ndim++] = -1;
        MXC_TRY(mxc_sig_set_shape(sig, SAMPLE, &shape));
    }
    if (sample->ndim == 0 || alpha->ndim == 0)
        return mxc_sig_fail(sig, "%s has no axes, expected vectors", sample->ndim == 0 ? "sample" : "alpha");
    if (sample->ndim < 0)
        return MXC_OK;
    if (alpha->ndim > 0) {
        shape = mxci_shape_axes(sample->ndim);
        MXC_TRY(infer_prefix(sig, A, alpha->ndim - 1));
        shape.dim[sample->ndim - 1] = alpha->dim[alpha->ndim - 1];
        MXC_TRY(mxc_sig_set_shape(sig, SAMPLE, &shape));
        shape = *alpha;
        shape.dim[alpha->ndim - 1] = sample->dim[sample->ndim - 1];
        MXC_TRY(mxc_sig_set_shape(sig, A, &shape));
    }
    shape = *sample;
    shape.ndim--;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = *out;
    shape.dim[shape.ndim++] = sample->dim[sample->ndim - 1];
    return mxc_sig_set_shape(sig, SAMPLE, &shape);
}

/* ---- distributions of numbers ------------------------------------------------------------------------------------ */

typedef struct pdf_run {
    const mxc_op_call *call;
    density_fn density;
    int64_t row; /* samples of one element of the parameters */
    int is_log;
} pdf_run;

static pdf_run pdf_run_of(const mxc_op_call *call, density_fn density) {
    const int64_t n = mxci_tensor_size(&call->in[A]), size = mxci_tensor_size(&call->in[SAMPLE]);
    return (pdf_run){call, density, n > 0 && size > 0 ? size / n : 1, ((const mxci_pdf_params *)call->params)->is_log};
}

/* At most a tile of samples in double, each with its parameters. */
typedef struct pdf_tile {
    double x[MXCI_TILE], a[MXCI_TILE], b[MXCI_TILE];
} pdf_tile;

/* The parameters of samples first..first+n-1. */
static void load_parameters(const pdf_run *r, int slot, int64_t first, int64_t n, double *to) {
    const mxc_tensor *in = &r->call->in[slot];
    const int64_t element = first / r->row;
    double values[MXCI_TILE];
    mxci_convert(in->dtype, mxci_at(in, element), MXC_F64, values, (first + n - 1) / r->row - element + 1);
    for (int64_t i = 0; i < n; i++)
        to[i] = values[(first + i) / r->row - element];
}

/* Samples first to end - 1, at most a tile of them; returns how many. */
static int64_t load_tile(const pdf_run *r, int64_t first, int64_t end, pdf_tile *to) {
    const mxc_tensor *sample = &r->call->in[SAMPLE];
    const int64_t n = end - first < MXCI_TILE ? end - first : MXCI_TILE;
    mxci_convert(sample->dtype, mxci_at(sample, first), MXC_F64, to->x, n);
    load_parameters(r, A, first, n, to->a);
    if (r->call->n_in > B)
        load_parameters(r, B, first, n, to->b);
    else
        memset(to->b, 0, sizeof to->b);
    return n;
}

static void store_tile(mxc_req req, const mxc_tensor *to, int64_t first, int64_t n, const double *from) {
    if (req != MXC_REQ_NULL)
        mxci_assign_cast_row(req, MXC_F64, from, to->dtype, mxci_at(to, first), n);
}

static void pdf_forward_range(void *arg, int64_t begin, int64_t end, int part) {
    const pdf_run *r = arg;
    pdf_tile t;
    (void)part;
    for (int64_t first = begin, n; first < end; first += n) {
        n = load_tile(r, first, end, &t);
        for (int64_t i = 0; i < n; i++) {
            const double value = r->density(t.x[i], t.a[i], t.b[i]).value;
            t.x[i] = r->is_log ? value : exp(value);
        }
        store_tile(r->call->req[0], &r->call->out[0], first, n, t.x);
    }
}

static mxc_status pdf_forward(const mxc_op_call *call, density_fn density) {
    pdf_run r = pdf_run_of(call, density);
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), GRAIN, pdf_forward_range, &r);
    return MXC_OK;
}

/* Elements begin..end-1 of the parameters, with their samples. The gradients of the parameters whose last sample is in
 * the tile replace a and b, from the front. */
static void pdf_backward_range(void *arg, int64_t begin, int64_t end, int part) {
    const pdf_run *r = arg;
    const mxc_op_call *call = r->call;
    double g[MXCI_TILE], da = 0, db = 0;
    pdf_tile t;
    (void)part;
    for (int64_t first = begin * r->row, n; first < end * r->row; first += n) {
        int64_t done = 0;
        n = load_tile(r, first, end * r->row, &t);
        mxci_convert(call->out_grad[0].dtype, mxci_at(&call->out_grad[0], first), MXC_F64, g, n);
        for (int64_t i = 0; i < n; i++) {
            const mxci_log_density d = r->density(t.x[i], t.a[i], t.b[i]);
            const double scale = g[i] * (r->is_log ? 1 : exp(d.value));
            t.x[i] = scale * d.dx;
            da += scale * d.da;
            db += scale * d.db;
            if ((first + i + 1) % r->row == 0) {
                t.a[done] = da;
                t.b[done++] = db;
                da = db = 0;
            }
        }
        store_tile(call->req[SAMPLE], &call->in_grad[SAMPLE], first, n, t.x);
        store_tile(call->req[A], &call->in_grad[A], first / r->row, done, t.a);
        if (call->n_in > B)
            store_tile(call->req[B], &call->in_grad[B], first / r->row, done, t.b);
    }
}

static mxc_status pdf_backward(const mxc_op_call *call, density_fn density) {
    pdf_run r = pdf_run_of(call, density);
    if (mxci_tensor_size(&call->in[SAMPLE]) == 0) /* a sum over no samples */
        for (int i = A; i < call->n_in; i++)
            if (call->req[i] != MXC_REQ_ADD && mxci_is_wanted(call->req[i], &call->in_grad[i]))
                mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[i], 0);
    if (mxci_tensor_size(&call->in[SAMPLE]) > 0)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[A]), GRAIN / r.row + 1, pdf_backward_range, &r);
    return MXC_OK;
}

/* ---- the Dirichlet distribution ---------------------------------------------------------------------------------- */

/* Scratch of the gradient: for each sample, out_grad times the derivative of out by the logarithm of the density. */
static size_t dirichlet_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_size_of(mxc_shape_size(&sig->out_shape[0]), sizeof(double)) : 0;
}

typedef struct dirichlet_run {
    const mxc_op_call *call;
    int64_t k, row; /* numbers in a sample; samples of one vector of parameters */
    int is_log;
} dirichlet_run;

static dirichlet_run dirichlet_run_of(const mxc_op_call *call) {
    const mxc_shape *alpha = &call->in[A].shape;
    const int64_t k = alpha->dim[alpha->ndim - 1], samples = mxci_tensor_size(&call->out[0]);
    const int64_t n = mxci_shape_count(alpha, 0, alpha->ndim - 1);
    return (dirichlet_run){call, k, n > 0 && samples > 0 ? samples / n : 1,
                           ((const mxci_pdf_params *)call->params)->is_log};
}

/* Numbers first..first+n-1 of sample i, and of its parameters, at most a tile of them; returns n. */
static int64_t load_vectors(const dirichlet_run *r, int64_t i, int64_t first, double *x, double *alpha) {
    const mxc_tensor *in = r->call->in;
    const int64_t n = r->k - first < MXCI_TILE ? r->k - first : MXCI_TILE;
    mxci_convert(in[SAMPLE].dtype, mxci_at(&in[SAMPLE], i * r->k + first), MXC_F64, x, n);
    mxci_convert(in[A].dtype, mxci_at(&in[A], i / r->row * r->k + first), MXC_F64, alpha, n);
    return n;
}

static double dirichlet_log(const dirichlet_run *r, int64_t i) {
    double sum = 0, value = 0, x[MXCI_TILE], alpha[MXCI_TILE];
    for (int64_t first = 0, n; first < r->k; first += n) {
        n = load_vectors(r, i, first, x, alpha);
        for (int64_t k = 0; k < n; k++) {
            value += mxci_times_log(alpha[k] - 1, x[k]) - mxci_gammaln_f64(alpha[k]);
            sum += alpha[k];
        }
    }
    return value + mxci_gammaln_f64(sum);
}

static void dirichlet_forward_range(void *arg, int64_t begin, int64_t end, int part) {
    const dirichlet_run *r = arg;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const double value = dirichlet_log(r, i);
        mxci_assign_value(r->call->req[0], &r->call->out[0], i, r->is_log ? value : exp(value));
    }
}

static mxc_status dirichlet_forward(const mxc_op_call *call) {
    dirichlet_run r = dirichlet_run_of(call);
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), GRAIN / (r.k + 1) + 1, dirichlet_forward_range,
                         &r);
    return MXC_OK;
}

/* Samples begin..end-1: their weights and gradients. */
static void dirichlet_samples(void *arg, int64_t begin, int64_t end, int part) {
    const dirichlet_run *r = arg;
    const mxc_op_call *call = r->call;
    double *weight = call->temp, x[MXCI_TILE], alpha[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        weight[i] = mxci_value_at(&call->out_grad[0], i) * (r->is_log ? 1 : exp(dirichlet_log(r, i)));
        for (int64_t first = 0, n; first < r->k && call->req[SAMPLE] != MXC_REQ_NULL; first += n) {
            n = load_vectors(r, i, first, x, alpha);
            for (int64_t k = 0; k < n; k++)
                x[k] = weight[i] * (alpha[k] - 1) / x[k];
            store_tile(call->req[SAMPLE], &call->in_grad[SAMPLE], i * r->k + first, n, x);
        }
    }
}

/* The sum of the parameters that sample i has. */
static double sum_alphas(const dirichlet_run *r, int64_t i) {
    double sum = 0, x[MXCI_TILE], alpha[MXCI_TILE];
    for (int64_t first = 0, n; first < r->k; first += n) {
        n = load_vectors(r, i, first, x, alpha);
        for (int64_t k = 0; k < n; k++)
            sum += alpha[k];
    }
    return sum;
}

/* Vectors begin..end-1 of the parameters: the derivative by alpha_k is log x_k + digamma(sum of alpha) -
 * digamma(alpha_k). */
static void dirichlet_alphas(void *arg, int64_t begin, int64_t end, int part) {
    const dirichlet_run *r = arg;
    const mxc_op_call *call = r->call;
    const double *weight = call->temp;
    double x[MXCI_TILE], own[MXCI_TILE], sum[MXCI_TILE];
    (void)part;
    for (int64_t p = begin; p < end; p++) {
        const double of_sum = mxci_digamma_f64(sum_alphas(r, p * r->row));
        for (int64_t first = 0, n; first < r->k; first += n) {
            n = load_vectors(r, p * r->row, first, x, own);
            for (int64_t k = 0; k < n; k++) {
                own[k] = of_sum - mxci_digamma_f64(own[k]);
                sum[k] = 0;
            }
            for (int64_t i = p * r->row; i < (p + 1) * r->row; i++) {
                mxci_convert(call->in[SAMPLE].dtype, mxci_at(&call->in[SAMPLE], i * r->k + first), MXC_F64, x, n);
                for (int64_t k = 0; k < n; k++)
                    sum[k] += weight[i] * (log(x[k]) + own[k]);
            }
            store_tile(call->req[A], &call->in_grad[A], p * r->k + first, n, sum);
        }
    }
}

static mxc_status dirichlet_backward(const mxc_op_call *call) {
    dirichlet_run r = dirichlet_run_of(call);
    const int64_t samples = mxci_tensor_size(&call->out[0]);
    if (samples == 0) {
        if (call->req[A] != MXC_REQ_ADD && mxci_is_wanted(call->req[A], &call->in_grad[A]))
            mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[A], 0);
        return MXC_OK;
    }
    mxc_parallel_for(call->run, samples, GRAIN / (r.k + 1) + 1, dirichlet_samples, &r);
    if (call->req[A] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, samples / r.row, 1, dirichlet_alphas, &r);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

static const mxc_param pdf_schema[] = {
    {MXC_PARAM_FIELD(mxci_pdf_params, is_log), .name = "is_log", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Compute the logarithm of the density."},
    MXC_PARAM_END,
};

#define PDF_DEF                                                                              \
    .size = sizeof(mxc_op_def), .params = pdf_schema, .param_size = sizeof(mxci_pdf_params), \
    .dtypes = MXC_DTYPES_FLOAT, .needs = {.out_grad = 1, .in = MXC_NEED_ALL}

#define FUNCTIONS(name)                                                    \
    static mxci_log_density density_##name(double x, double a, double b) { \
        return mxci_pdf_##name(x, a, b);                                   \
    }                                                                      \
    static mxc_status forward_##name(const mxc_op_call *call) {            \
        return pdf_forward(call, density_##name);                          \
    }                                                                      \
    static mxc_status backward_##name(const mxc_op_call *call) {           \
        return pdf_backward(call, density_##name);                         \
    }

FUNCTIONS(uniform)
FUNCTIONS(normal)
FUNCTIONS(gamma)
FUNCTIONS(exponential)
FUNCTIONS(poisson)
FUNCTIONS(negative_binomial)
FUNCTIONS(generalized_negative_binomial)

const mxc_op_def mxci_op_random_pdf_uniform = {
    PDF_DEF,
    .name = "_random_pdf_uniform",
    .aliases = "random_pdf_uniform",
    .args = "sample,low,high",
    .doc = "Density at sample of the uniform distribution over [low, high); the shape of low and high is the first "
           "axes of sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_uniform},
    .backward = {[MXC_CPU] = backward_uniform},
};

const mxc_op_def mxci_op_random_pdf_normal = {
    PDF_DEF,
    .name = "_random_pdf_normal",
    .aliases = "random_pdf_normal",
    .args = "sample,mu,sigma",
    .doc = "Density at sample of the normal distribution with mean mu and standard deviation sigma; the shape of mu "
           "and sigma is the first axes of sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_normal},
    .backward = {[MXC_CPU] = backward_normal},
};

const mxc_op_def mxci_op_random_pdf_gamma = {
    PDF_DEF,
    .name = "_random_pdf_gamma",
    .aliases = "random_pdf_gamma",
    .args = "sample,alpha,beta",
    .doc = "Density at sample of the gamma distribution with shape alpha and rate beta; the shape of alpha and beta is "
           "the first axes of sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_gamma},
    .backward = {[MXC_CPU] = backward_gamma},
};

const mxc_op_def mxci_op_random_pdf_exponential = {
    PDF_DEF,
    .name = "_random_pdf_exponential",
    .aliases = "random_pdf_exponential",
    .args = "sample,lam",
    .doc = "Density at sample of the exponential distribution with rate lam; the shape of lam is the first axes of "
           "sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_exponential},
    .backward = {[MXC_CPU] = backward_exponential},
};

const mxc_op_def mxci_op_random_pdf_poisson = {
    PDF_DEF,
    .name = "_random_pdf_poisson",
    .aliases = "random_pdf_poisson",
    .args = "sample,lam",
    .doc =
        "Density at sample of the Poisson distribution with mean lam; the shape of lam is the first axes of sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_poisson},
    .backward = {[MXC_CPU] = backward_poisson},
};

const mxc_op_def mxci_op_random_pdf_negative_binomial = {
    PDF_DEF,
    .name = "_random_pdf_negative_binomial",
    .aliases = "random_pdf_negative_binomial",
    .args = "sample,k,p",
    .doc = "Density at sample of the negative binomial distribution: sample failures before success number k, with "
           "probability p of success; the shape of k and p is the first axes of sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_negative_binomial},
    .backward = {[MXC_CPU] = backward_negative_binomial},
};

const mxc_op_def mxci_op_random_pdf_generalized_negative_binomial = {
    PDF_DEF,
    .name = "_random_pdf_generalized_negative_binomial",
    .aliases = "random_pdf_generalized_negative_binomial",
    .args = "sample,mu,alpha",
    .doc = "Density at sample of the negative binomial distribution with mean mu and variance mu + alpha mu^2; the "
           "shape of mu and alpha is the first axes of sample's",
    .infer_shape = infer_pdf_shape,
    .forward = {[MXC_CPU] = forward_generalized_negative_binomial},
    .backward = {[MXC_CPU] = backward_generalized_negative_binomial},
};

const mxc_op_def mxci_op_random_pdf_dirichlet = {
    PDF_DEF,
    .name = "_random_pdf_dirichlet",
    .aliases = "random_pdf_dirichlet",
    .args = "sample,alpha",
    .doc =
        "Density of the Dirichlet distribution with concentrations alpha (...,K) at vectors of sample (...,K), whose "
        "first axes are alpha's",
    .infer_shape = infer_dirichlet_shape,
    .temp_bytes = dirichlet_bytes,
    .forward = {[MXC_CPU] = dirichlet_forward},
    .backward = {[MXC_CPU] = dirichlet_backward},
};
