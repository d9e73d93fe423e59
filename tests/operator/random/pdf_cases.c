/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _random_pdf_uniform and the other densities. */
#include <math.h>

#include "operator/cases.h"

typedef double (*log_density)(double x, double a, double b);

static double log_uniform(double x, double a, double b) {
    (void)x;
    return -log(b - a);
}
static double log_normal(double x, double a, double b) {
    return -pow((x - a) / b, 2) / 2 - log(b * sqrt(2 * M_PI));
}
static double log_gamma(double x, double a, double b) {
    return a * log(b) + (a - 1) * log(x) - b * x - lgamma(a);
}
static double log_exponential(double x, double a, double b) {
    (void)b;
    return log(a) - a * x;
}
static double log_poisson(double x, double a, double b) {
    (void)b;
    return x * log(a) - a - lgamma(x + 1);
}
static double log_negative_binomial(double x, double k, double p) {
    return lgamma(x + k) - lgamma(x + 1) - lgamma(k) + k * log(p) + x * log(1 - p);
}
static double log_generalized(double x, double mu, double alpha) {
    return log_negative_binomial(x, 1 / alpha, 1 / (mu * alpha + 1));
}

static void density(const op_run *r, log_density of) {
    const int64_t n = case_size(&r->out_shape[0]), params = case_size(&r->in_shape[1]);
    for (int64_t i = 0; i < n; i++) {
        const int64_t p = i / (n / params);
        const double value = of(r->in[0][i], r->in[1][p], r->n_in > 2 ? r->in[2][p] : 0);
        r->out[0][i] = case_is(r, "is_log", "true") ? value : exp(value);
    }
}

#define REFERENCE(name)                       \
    static void ref_##name(const op_run *r) { \
        density(r, log_##name);               \
    }
REFERENCE(uniform)
REFERENCE(normal)
REFERENCE(gamma)
REFERENCE(exponential)
REFERENCE(poisson)
REFERENCE(negative_binomial)
REFERENCE(generalized)

static void ref_dirichlet(const op_run *r) {
    const int64_t k = case_last_dim(&r->in_shape[1]), n = case_size(&r->out_shape[0]);
    const int64_t vectors = k > 0 ? case_size(&r->in_shape[1]) / k : 1;
    for (int64_t i = 0; i < n; i++) {
        const double *x = r->in[0] + i * k, *alpha = r->in[1] + i / (n / vectors) * k;
        double sum = 0, value = 0;
        for (int64_t j = 0; j < k; j++) {
            value += (alpha[j] - 1) * log(x[j]) - lgamma(alpha[j]);
            sum += alpha[j];
        }
        value += lgamma(sum);
        r->out[0][i] = case_is(r, "is_log", "true") ? value : exp(value);
    }
}

/* x: range of the samples; a, b: of the parameters. The samples of discrete distributions have no gradient. */
#define BOTH "is_log=false; is_log=true"
#define TWO(name, x, a, b, ref, no_gradient)                                                                      \
    {.op = "_random_pdf_" name,                                                                                   \
     .params = BOTH,                                                                                              \
     .in = "3x5@" x " 3@" a " 3@" b "; 7 7 7; 2x3x4 2x3 2x3; 2x3x4 2 2; s s s; 1 1 1; 0x3 0 0; 3x0 3 3; 65 s s; " \
           "3x129 3 3; 2x1x3x1x2 2x1 2x1; 1031 1031 1031",                                                        \
     .constant = no_gradient,                                                                                     \
     .tolerance = 4,                                                                                              \
     .reference = ref},                                                                                           \
        INFERS("_random_pdf_" name, "", "2x3x?,2x?,? -> ?x?x4 => 2x3x4,2x3,2x3 -> 2x3x4"),                        \
        INFERS("_random_pdf_" name, "", "?,?,? -> 2x3 => 2x3,?,? -> 2x3"),                                        \
        FAILS("_random_pdf_" name, "", "2x3 3 3", MXC_ESHAPE, "argument"),                                        \
        FAILS("_random_pdf_" name, "", "2 2x3 2x3", MXC_ESHAPE, "sample has 1 axes")
#define ONE(name, x, a, ref, no_gradient)                                                                       \
    {.op = "_random_pdf_" name,                                                                                 \
     .params = BOTH,                                                                                            \
     .in = "3x5@" x " 3@" a "; 7 7; 2x3x4 2x3; 2x3x4 2; s s; 1 1; 0x3 0; 3x0 3; 65 s; 3x129 3; 2x1x3x1x2 2x1; " \
           "1031 1031",                                                                                         \
     .constant = no_gradient,                                                                                   \
     .tolerance = 4,                                                                                            \
     .reference = ref},                                                                                         \
        INFERS("_random_pdf_" name, "", "2x3x?,2x? -> ?x?x4 => 2x3x4,2x3 -> 2x3x4"),                            \
        FAILS("_random_pdf_" name, "", "2x3 3", MXC_ESHAPE, "argument"),                                        \
        FAILS("_random_pdf_" name, "", "2 2x3", MXC_ESHAPE, "sample has 1 axes")

static const op_case cases[] = {
    TWO("uniform", "0:1", "-2:-1", "1:2", ref_uniform, 0),
    TWO("normal", "-1:1", "-1:1", "0.5:2", ref_normal, 0),
    TWO("gamma", "0.5:3", "0.5:3", "0.5:2", ref_gamma, 0),
    ONE("exponential", "0.1:2", "0.5:2", ref_exponential, 0),
    ONE("poisson", "0:6i", "0.5:4", ref_poisson, 1),
    TWO("negative_binomial", "0:6i", "1:5", "0.25:0.75", ref_negative_binomial, 1),
    TWO("generalized_negative_binomial", "0:6i", "1:5", "0.25:0.75", ref_generalized, 1),
    {.op = "_random_pdf_dirichlet",
     .params = BOTH,
     .in = "3x5x4@0.3:0.9 3x4@0.8:1.5; 7 7; 2x3x4 2x3x4; 2x3x4 4; 1 1; 0x3 0x3; 0x3 3; 3x1 3x1; 6x2 2; 3x65x3 3x3; "
           "2x1x3x1x2 2x1x2; 2x40x5 2x5",
     .tolerance = 4,
     .reference = ref_dirichlet},
    INFERS("_random_pdf_dirichlet", "", "2x5x?,?x3 -> ? => 2x5x3,2x3 -> 2x5"),
    INFERS("_random_pdf_dirichlet", "", "?,3 -> 2x5 => 2x5x3,3 -> 2x5"),
    INFERS("_random_pdf_dirichlet", "", "?,? -> 2x5 => 2x5x?,? -> 2x5"),
    FAILS("_random_pdf_dirichlet", "", "2x3 2x4", MXC_ESHAPE, "argument"),
    FAILS("_random_pdf_dirichlet", "", "s 3", MXC_ESHAPE, "sample has no axes"),
    FAILS("_random_pdf_dirichlet", "", "3 2x3", MXC_ESHAPE, "sample has 1 axes"),
};

MXC_CASES(random_pdf_cases, cases);
