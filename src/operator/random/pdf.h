/* SPDX-License-Identifier: Apache-2.0 */
/* Probability densities, their parameters and derivatives, for C and GPU modules. All in float64. */
#ifndef MXCI_OPERATOR_RANDOM_PDF_H
#define MXCI_OPERATOR_RANDOM_PDF_H

#include <mxc/param.h>

#include "math/loop.h"
#include "math/scalar_math.h"

typedef struct mxci_pdf_params {
    int32_t is_log;
} mxci_pdf_params;

/* The logarithm of a density at x with parameters a and b, and its derivatives. x of a discrete distribution has none.
 */
typedef struct mxci_log_density {
    double value, dx, da, db;
} mxci_log_density;

/* n log(x), which is 0 where n is. */
MXCI_SCALAR double mxci_times_log(double n, double x) {
    return n == 0 ? 0 : n * log(x);
}

/* low a, high b; the density is taken to hold outside too. */
MXCI_SCALAR mxci_log_density mxci_pdf_uniform(double x, double a, double b) {
    mxci_log_density d = {-log(b - a), 0, 1 / (b - a), -1 / (b - a)};
    (void)x;
    return d;
}

/* Mean a, deviation b. */
MXCI_SCALAR mxci_log_density mxci_pdf_normal(double x, double a, double b) {
    const double z = (x - a) / b;
    mxci_log_density d = {-0.5 * z * z - log(b) - 0.91893853320467274178, -z / b, z / b, (z * z - 1) / b};
    return d;
}

/* Shape a, rate b. */
MXCI_SCALAR mxci_log_density mxci_pdf_gamma(double x, double a, double b) {
    mxci_log_density d = {
        a * log(b) + mxci_times_log(a - 1, x) - b * x - mxci_gammaln_f64(a),
        (a - 1) / x - b,
        log(b) + log(x) - mxci_digamma_f64(a),
        a / b - x,
    };
    return d;
}

/* Rate a. */
MXCI_SCALAR mxci_log_density mxci_pdf_exponential(double x, double a, double b) {
    mxci_log_density d = {log(a) - a * x, -a, 1 / a - x, 0};
    (void)b;
    return d;
}

/* Mean a. */
MXCI_SCALAR mxci_log_density mxci_pdf_poisson(double x, double a, double b) {
    mxci_log_density d = {mxci_times_log(x, a) - a - mxci_gammaln_f64(x + 1), 0, x / a - 1, 0};
    (void)b;
    return d;
}

/* x failures before success number a, each with probability b of success. */
MXCI_SCALAR mxci_log_density mxci_pdf_negative_binomial(double x, double a, double b) {
    mxci_log_density d = {
        mxci_gammaln_f64(x + a) - mxci_gammaln_f64(x + 1) - mxci_gammaln_f64(a) + a * log(b) + mxci_times_log(x, 1 - b),
        0,
        mxci_digamma_f64(x + a) - mxci_digamma_f64(a) + log(b),
        a / b - (x == 0 ? 0 : x / (1 - b)),
    };
    return d;
}

/* Mean a, variance a + b a^2: the negative binomial distribution of k = 1 / b successes with p = 1 / (1 + a b). */
MXCI_SCALAR mxci_log_density mxci_pdf_generalized_negative_binomial(double x, double a, double b) {
    const double k = 1 / b, p = 1 / (1 + a * b);
    mxci_log_density d = mxci_pdf_negative_binomial(x, k, p);
    d.db = p * (x - a) / b - d.da / (b * b);
    d.da = p * (x / a - 1);
    return d;
}

#endif
