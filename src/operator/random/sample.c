/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: _random_<distribution> fills an array of parameter shape (or of the shape that its use implies);
 * _sample_<distribution> takes arrays of the distribution's parameters, shape s, and gives s + shape: a row of numbers
 * for each parameter element; _random_<distribution>_like gives numbers in the shape and dtype of its argument, whose
 * values are not read. Element i draws from position i of the call's random range (a counter-based generator),
 * so results are the same for any number of threads and on every device. */
#include "operator/random/sample.h"

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/random/sample_kernels.h"

/* What both operators of a distribution share. */
typedef struct distribution {
    mxci_sample_fn draw;
    int (*fits)(double a, double b); /* whether parameters are in range */
    const char *range;
} distribution;

static const distribution uniform = {mxci_sample_uniform, mxci_fits_uniform, MXCI_RANGE_uniform};
static const distribution normal = {mxci_sample_normal, mxci_fits_normal, MXCI_RANGE_normal};
static const distribution gamma_ = {mxci_sample_gamma, mxci_fits_gamma, MXCI_RANGE_gamma};
static const distribution exponential = {mxci_sample_exponential, mxci_fits_exponential, MXCI_RANGE_exponential};
static const distribution poisson = {mxci_sample_poisson, mxci_fits_poisson, MXCI_RANGE_poisson};
static const distribution negative = {mxci_sample_negative_binomial, mxci_fits_negative, MXCI_RANGE_negative};
static const distribution generalized = {
    mxci_sample_generalized_negative_binomial,
    mxci_fits_generalized,
    MXCI_RANGE_generalized,
};

/* ---- drawing ---------------------------------------------------------------------------------------------------- */

enum { GRAIN = 1024 };

typedef struct sample_args {
    const mxc_op_call *call;
    const distribution *of;
    double a, b; /* where row is 0 */
    int64_t row; /* elements per parameter; 0: parameters are no arrays */
} sample_args;

static double sample_number_at(const mxc_tensor *t, int64_t i) {
    double value;
    mxci_convert(t->dtype, mxci_at(t, i), MXC_F64, &value, 1);
    return value;
}

/* Parameters of element i. */
static void parameters_at(const sample_args *s, int64_t i, double *a, double *b) {
    *a = s->row ? sample_number_at(&s->call->in[0], i / s->row) : s->a;
    *b = s->row && s->call->n_in > 1 ? sample_number_at(&s->call->in[1], i / s->row) : s->b;
}

/* Elements begin..end-1. Each has a generator of its own, so that a distribution may draw as many numbers as it
 * needs. */
static void sample_range(void *arg, int64_t begin, int64_t end, int part) {
    const sample_args *s = arg;
    const mxc_op_call *call = s->call;
    double tile[MXCI_TILE], a, b;
    (void)part;
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        for (int64_t i = 0; i < n; i++) {
            mxc_draws draws = {call->random.seed, call->random.stream, call->random.offset + (uint64_t)(at + i), 0};
            parameters_at(s, at + i, &a, &b);
            tile[i] = s->of->draw(&draws, a, b);
        }
        mxci_assign_cast_row(call->req[0], MXC_F64, tile, call->out[0].dtype, mxci_at(&call->out[0], at), n);
    }
}

static mxc_status sample_run(const mxc_op_call *call, sample_args *s) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), GRAIN, sample_range, s);
    return MXC_OK;
}

static mxc_status run_random(const mxc_op_call *call, const distribution *of, double a, double b) {
    return sample_run(call, &(sample_args){call, of, a, b, 0});
}

/* The parameters are checked first, before anything is written. */
static mxc_status run_sample(const mxc_op_call *call, const distribution *of) {
    int64_t n = mxci_tensor_size(&call->in[0]);
    sample_args s = {call, of, 0, 0, n > 0 ? mxci_tensor_size(&call->out[0]) / n : 1};
    double a, b;
    s.row = s.row > 0 ? s.row : 1;
    for (int64_t i = 0; i < n; i++) {
        parameters_at(&s, i * s.row, &a, &b);
        if (!of->fits(a, b))
            return MXC_FAIL(MXC_EINVAL, "%s: parameters %g, %g of element %lld, expected %s",
                            mxc_op_get_def(call->op)->name, a, b, (long long)i, of->range);
    }
    return sample_run(call, &s);
}

/* ---- inference -------------------------------------------------------------------------------------------------- */

/* Positions of the random range that a call uses. */
static uint64_t one_per_element(const mxc_op_sig *sig) {
    return (uint64_t)mxc_shape_size(&sig->out_shape[0]);
}

static mxc_status infer_random_shape(mxc_op_sig *sig) {
    const mxci_sample_params *p = sig->params;
    mxc_shape shape;
    if (p->shape.n <= 0)
        return MXC_OK;
    if (mxc_shape_set(&shape, p->shape.n, p->shape.value) != MXC_OK)
        return mxc_sig_fail(sig, "shape has %d axes, expected at most %d", (int)p->shape.n, MXC_MAX_NDIM);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_random_type(mxc_op_sig *sig) {
    const mxci_sample_params *p = sig->params;
    if (p->dtype != MXC_DTYPE_UNKNOWN)
        return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)p->dtype);
    return sig->out_type[0] == MXC_DTYPE_UNKNOWN ? mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32) : MXC_OK;
}

/* Both ways: out is the parameters' shape followed by parameter shape. */
static mxc_status infer_sample_shape(mxc_op_sig *sig) {
    const mxc_tuple *row = &((const mxci_sample_params *)sig->params)->shape;
    mxc_shape *in = &sig->in_shape[0], *out = &sig->out_shape[0], shape;
    int n = row->n > 0 ? row->n : 0;
    MXC_TRY(mxci_sig_same_shape(sig, sig->n_in, (const int[]){0, 1}));
    if (in->ndim < 0 && out->ndim >= n) {
        shape = *out;
        shape.ndim -= n;
        for (int i = 0; i < sig->n_in; i++)
            MXC_TRY(mxc_sig_set_shape(sig, i, &shape));
    }
    if (in->ndim < 0)
        return MXC_OK;
    if (in->ndim + n > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "output would have %d axes, expected at most %d", in->ndim + n, MXC_MAX_NDIM);
    shape = *in;
    for (int i = 0; i < n; i++)
        shape.dim[shape.ndim++] = row->value[i];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = *out;
    shape.ndim -= n;
    for (int i = 0; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &shape));
    return MXC_OK;
}

static mxc_status infer_sample_type(mxc_op_sig *sig) {
    const mxci_sample_params *p = sig->params;
    MXC_TRY(mxci_sig_same_type(sig, sig->n_in, (const int[]){0, 1}));
    if (p->dtype != MXC_DTYPE_UNKNOWN)
        return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)p->dtype);
    return mxci_sig_same_type(sig, 2, (const int[]){0, MXC_SLOT_OUT(0)});
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

#define NUMBER(as, field, value, text) \
    { MXC_PARAM_FIELD(mxci_sample_params, field), .name = as, .type = MXC_PARAM_FLOAT, .initial = value, .doc = text }
#define SHAPE                                                                                                     \
    {                                                                                                             \
        MXC_PARAM_FIELD(mxci_sample_params, shape),                                                               \
            .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()", .optional = 1, .bounded = 1, .minimum = 0, \
            .maximum = 9e15, .doc = "Shape of the array, or of the samples for each element of the parameters."   \
    }
#define CONTEXT                                                                                            \
    {                                                                                                      \
        MXC_PARAM_FIELD(mxci_sample_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",  \
                                                  .doc = "Context of the array, such as cpu(0) or gpu(1)." \
    }
#define DTYPE                                                                           \
    {                                                                                   \
        MXC_PARAM_FIELD(mxci_sample_params, dtype),                                     \
            .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None", .optional = 1, \
            .doc = "Dtype of the array. None: float32, or the dtype of the parameters." \
    }

static mxc_status sample_check(const mxci_sample_params *p, const char *name, const distribution *of) {
    if (!of->fits(p->a, p->b))
        return MXC_FAIL(MXC_EINVAL, "%s: parameters %g, %g, expected %s", name, p->a, p->b, of->range);
    return MXC_OK;
}

static mxc_status check_negative_k(void *params) {
    mxci_sample_params *p = params;
    p->a = (double)p->k;
    return sample_check(p, "random_negative_binomial", &negative);
}

/* The functions of a distribution's two operators. */
#define CHECK(of, op)                            \
    static mxc_status check_##of(void *params) { \
        return sample_check(params, op, &of);    \
    }
#define FORWARD(of)                                          \
    static mxc_status random_##of(const mxc_op_call *call) { \
        const mxci_sample_params *p = call->params;          \
        return run_random(call, &of, p->a, p->b);            \
    }                                                        \
    static mxc_status sample_##of(const mxc_op_call *call) { \
        return run_sample(call, &of);                        \
    }

CHECK(uniform, "random_uniform")
CHECK(normal, "random_normal")
CHECK(gamma_, "random_gamma")
CHECK(exponential, "random_exponential")
CHECK(poisson, "random_poisson")
CHECK(generalized, "random_generalized_negative_binomial")
FORWARD(uniform)
FORWARD(normal)
FORWARD(gamma_)
FORWARD(exponential)
FORWARD(poisson)
FORWARD(negative)
FORWARD(generalized)

/* The members that all descriptors of one kind share. */
#define RANDOM_DEF(schema)                                                                              \
    .size = sizeof(mxc_op_def), .args = "", .params = schema, .param_size = sizeof(mxci_sample_params), \
    .infer_shape = infer_random_shape, .infer_type = infer_random_type, .dtypes = MXC_DTYPES_FLOAT,     \
    .flags = MXC_OP_ZERO_GRADIENT, .random_count = one_per_element
#define LIKE_DEF(schema)                                                                        \
    .size = sizeof(mxc_op_def), .params = schema, .param_size = sizeof(mxci_sample_params),     \
    .dtypes = MXC_DTYPES_FLOAT, .flags = MXC_OP_ZERO_GRADIENT, .random_count = one_per_element, \
    .inplace_forward = like_inplace
#define SAMPLE_DEF                                                                                  \
    .size = sizeof(mxc_op_def), .params = sample_schema, .param_size = sizeof(mxci_sample_params),  \
    .infer_shape = infer_sample_shape, .infer_type = infer_sample_type, .dtypes = MXC_DTYPES_FLOAT, \
    .flags = MXC_OP_ZERO_GRADIENT, .random_count = one_per_element

static const mxc_param sample_schema[] = {SHAPE, DTYPE, MXC_PARAM_END};
static const mxc_inplace like_inplace[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};

#define UNIFORM_NUMBERS                                 \
    NUMBER("low", a, "0.0", "Lower bound, inclusive."), \
        NUMBER("high", b, "1.0", "Upper bound, exclusive before rounding to the dtype.")

static const mxc_param uniform_schema[] = {UNIFORM_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param uniform_like_schema[] = {UNIFORM_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_uniform = {
    RANDOM_DEF(uniform_schema),          .name = "_random_uniform",
    .aliases = "uniform,random_uniform", .doc = "Random numbers from the uniform distribution over [low, high)",
    .params_check = check_uniform,       .forward = {[MXC_CPU] = random_uniform},
};

const mxc_op_def mxci_op_random_uniform_like = {
    LIKE_DEF(uniform_like_schema),
    .name = "_random_uniform_like",
    .doc = "Random numbers from the uniform distribution over [low, high), in the shape and dtype of data",
    .params_check = check_uniform,
    .forward = {[MXC_CPU] = random_uniform},
};

const mxc_op_def mxci_op_sample_uniform = {
    SAMPLE_DEF,
    .name = "_sample_uniform",
    .aliases = "sample_uniform",
    .args = "low,high",
    .doc = "For each element of the parameters, random numbers from the uniform distribution over [low, high)",
    .forward = {[MXC_CPU] = sample_uniform},
};

#define NORMAL_NUMBERS NUMBER("loc", a, "0.0", "Mean."), NUMBER("scale", b, "1.0", "Standard deviation.")

static const mxc_param normal_schema[] = {NORMAL_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param normal_like_schema[] = {NORMAL_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_normal = {
    RANDOM_DEF(normal_schema),
    .name = "_random_normal",
    .aliases = "normal,random_normal,_random_gaussian",
    .doc = "Random numbers from the normal distribution with mean loc and standard deviation scale",
    .params_check = check_normal,
    .forward = {[MXC_CPU] = random_normal},
};

const mxc_op_def mxci_op_random_normal_like = {
    LIKE_DEF(normal_like_schema),
    .name = "_random_normal_like",
    .doc = "Random numbers from the normal distribution with mean loc and standard deviation scale, in the shape and "
           "dtype of data",
    .params_check = check_normal,
    .forward = {[MXC_CPU] = random_normal},
};

const mxc_op_def mxci_op_sample_normal = {
    SAMPLE_DEF,
    .name = "_sample_normal",
    .aliases = "sample_normal",
    .args = "mu,sigma",
    .doc = "For each element of the parameters, random numbers from the normal distribution with mean mu and standard "
           "deviation sigma",
    .forward = {[MXC_CPU] = sample_normal},
};

#define GAMMA_NUMBERS NUMBER("alpha", a, "1.0", "Shape of the distribution."), NUMBER("beta", b, "1.0", "Scale.")

static const mxc_param gamma_schema[] = {GAMMA_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param gamma_like_schema[] = {GAMMA_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_gamma = {
    RANDOM_DEF(gamma_schema),     .name = "_random_gamma",
    .aliases = "random_gamma",    .doc = "Random numbers from the gamma distribution with shape alpha and scale beta",
    .params_check = check_gamma_, .forward = {[MXC_CPU] = random_gamma_},
};

const mxc_op_def mxci_op_random_gamma_like = {
    LIKE_DEF(gamma_like_schema),
    .name = "_random_gamma_like",
    .doc = "Random numbers from the gamma distribution with shape alpha and scale beta, in the shape and dtype of data",
    .params_check = check_gamma_,
    .forward = {[MXC_CPU] = random_gamma_},
};

const mxc_op_def mxci_op_sample_gamma = {
    SAMPLE_DEF,
    .name = "_sample_gamma",
    .aliases = "sample_gamma",
    .args = "alpha,beta",
    .doc = "For each element of the parameters, random numbers from the gamma distribution with shape alpha and scale "
           "beta",
    .forward = {[MXC_CPU] = sample_gamma_},
};

#define EXPONENTIAL_NUMBERS NUMBER("lam", a, "1.0", "Rate, the inverse of the mean.")

static const mxc_param exponential_schema[] = {EXPONENTIAL_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param exponential_like_schema[] = {EXPONENTIAL_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_exponential = {
    RANDOM_DEF(exponential_schema),    .name = "_random_exponential",
    .aliases = "random_exponential",   .doc = "Random numbers from the exponential distribution with rate lam",
    .params_check = check_exponential, .forward = {[MXC_CPU] = random_exponential},
};

const mxc_op_def mxci_op_random_exponential_like = {
    LIKE_DEF(exponential_like_schema),
    .name = "_random_exponential_like",
    .doc = "Random numbers from the exponential distribution with rate lam, in the shape and dtype of data",
    .params_check = check_exponential,
    .forward = {[MXC_CPU] = random_exponential},
};

const mxc_op_def mxci_op_sample_exponential = {
    SAMPLE_DEF,
    .name = "_sample_exponential",
    .aliases = "sample_exponential",
    .args = "lam",
    .doc = "For each element of the parameters, random numbers from the exponential distribution with rate lam",
    .forward = {[MXC_CPU] = sample_exponential},
};

#define POISSON_NUMBERS NUMBER("lam", a, "1.0", "Mean.")

static const mxc_param poisson_schema[] = {POISSON_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param poisson_like_schema[] = {POISSON_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_poisson = {
    RANDOM_DEF(poisson_schema),    .name = "_random_poisson",
    .aliases = "random_poisson",   .doc = "Random numbers from the Poisson distribution with mean lam",
    .params_check = check_poisson, .forward = {[MXC_CPU] = random_poisson},
};

const mxc_op_def mxci_op_random_poisson_like = {
    LIKE_DEF(poisson_like_schema),
    .name = "_random_poisson_like",
    .doc = "Random numbers from the Poisson distribution with mean lam, in the shape and dtype of data",
    .params_check = check_poisson,
    .forward = {[MXC_CPU] = random_poisson},
};

const mxc_op_def mxci_op_sample_poisson = {
    SAMPLE_DEF,
    .name = "_sample_poisson",
    .aliases = "sample_poisson",
    .args = "lam",
    .doc = "For each element of the parameters, random numbers from the Poisson distribution with mean lam",
    .forward = {[MXC_CPU] = sample_poisson},
};

#define NEGATIVE_NUMBERS                                                                         \
    {MXC_PARAM_FIELD(mxci_sample_params, k), .name = "k", .type = MXC_PARAM_INT, .initial = "1", \
     .doc = "Number of successes at which counting ends."},                                      \
        NUMBER("p", b, "1.0", "Probability of success.")

static const mxc_param negative_schema[] = {NEGATIVE_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param negative_like_schema[] = {NEGATIVE_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_negative_binomial = {
    RANDOM_DEF(negative_schema),
    .name = "_random_negative_binomial",
    .aliases = "random_negative_binomial,_sample_negbinomial",
    .doc = "Random numbers from the negative binomial distribution: failures before success number k, with probability "
           "p of success",
    .params_check = check_negative_k,
    .forward = {[MXC_CPU] = random_negative},
};

const mxc_op_def mxci_op_random_negative_binomial_like = {
    LIKE_DEF(negative_like_schema),
    .name = "_random_negative_binomial_like",
    .doc = "Random numbers from the negative binomial distribution of the failures before success number k, with "
           "probability p of success, in the shape and dtype of data",
    .params_check = check_negative_k,
    .forward = {[MXC_CPU] = random_negative},
};

const mxc_op_def mxci_op_sample_negative_binomial = {
    SAMPLE_DEF,
    .name = "_sample_negative_binomial",
    .aliases = "sample_negative_binomial",
    .args = "k,p",
    .doc = "For each element of the parameters, random numbers from the negative binomial distribution: failures "
           "before success number k, with probability p of success",
    .forward = {[MXC_CPU] = sample_negative},
};

#define GENERALIZED_NUMBERS \
    NUMBER("mu", a, "1.0", "Mean."), NUMBER("alpha", b, "1.0", "Dispersion: the variance is mu + alpha mu^2.")

static const mxc_param generalized_schema[] = {GENERALIZED_NUMBERS, SHAPE, CONTEXT, DTYPE, MXC_PARAM_END};
static const mxc_param generalized_like_schema[] = {GENERALIZED_NUMBERS, MXC_PARAM_END};

const mxc_op_def mxci_op_random_generalized_negative_binomial = {
    RANDOM_DEF(generalized_schema),
    .name = "_random_generalized_negative_binomial",
    .aliases = "random_generalized_negative_binomial,_sample_gennegbinomial",
    .doc = "Random numbers from the negative binomial distribution with mean mu and variance mu + alpha mu^2",
    .params_check = check_generalized,
    .forward = {[MXC_CPU] = random_generalized},
};

const mxc_op_def mxci_op_random_generalized_negative_binomial_like = {
    LIKE_DEF(generalized_like_schema),
    .name = "_random_generalized_negative_binomial_like",
    .doc = "Random numbers from the negative binomial distribution with mean mu and variance mu + alpha mu^2, in the "
           "shape and dtype of data",
    .params_check = check_generalized,
    .forward = {[MXC_CPU] = random_generalized},
};

const mxc_op_def mxci_op_sample_generalized_negative_binomial = {
    SAMPLE_DEF,
    .name = "_sample_generalized_negative_binomial",
    .aliases = "sample_generalized_negative_binomial",
    .args = "mu,alpha",
    .doc = "For each element of the parameters, random numbers from the negative binomial distribution with mean mu "
           "and variance mu + alpha mu^2",
    .forward = {[MXC_CPU] = sample_generalized},
};
