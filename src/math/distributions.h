/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers of distributions, one element at a time, in a form that C and nvcc read. Each element draws from its
 * own position of the context's stream (mxc/philox.h), so no element depends on another.
 */
#ifndef MXCI_MATH_DISTRIBUTIONS_H
#define MXCI_MATH_DISTRIBUTIONS_H

#include <math.h>
#include <stdint.h>

#include <mxc/philox.h>

/* Each distribution's range of parameters, in words and as a function. */
#define MXCI_RANGE_uniform "low <= high"
#define MXCI_RANGE_normal "a deviation of at least 0"
#define MXCI_RANGE_gamma "alpha > 0 and beta > 0"
#define MXCI_RANGE_exponential "lam > 0"
#define MXCI_RANGE_poisson "lam >= 0"
#define MXCI_RANGE_negative "k >= 0 and 0 < p <= 1, and a finite 1 / p"
#define MXCI_RANGE_generalized "mu >= 0 and alpha >= 0, and a finite mu alpha and 1 / alpha"
MXC_PHILOX_FN int mxci_is_finite(double x) {
    return x - x == 0;
}
MXC_PHILOX_FN int mxci_fits_uniform(double a, double b) {
    return a <= b && mxci_is_finite(b - a);
}
MXC_PHILOX_FN int mxci_fits_normal(double a, double b) {
    return mxci_is_finite(a) && b >= 0 && mxci_is_finite(b);
}
MXC_PHILOX_FN int mxci_fits_gamma(double a, double b) {
    return a > 0 && b > 0 && mxci_is_finite(a) && mxci_is_finite(b);
}
MXC_PHILOX_FN int mxci_fits_exponential(double a, double b) {
    (void)b;
    return a > 0 && mxci_is_finite(a);
}
MXC_PHILOX_FN int mxci_fits_poisson(double a, double b) {
    (void)b;
    return a >= 0 && mxci_is_finite(a);
}
MXC_PHILOX_FN int mxci_fits_negative(double a, double b) {
    return a >= 0 && mxci_is_finite(a) && b > 0 && b <= 1 && mxci_is_finite(1 / b);
}
MXC_PHILOX_FN int mxci_fits_generalized(double a, double b) {
    return a >= 0 && mxci_is_finite(a) && b >= 0 && mxci_is_finite(b) && mxci_is_finite(a * b) &&
           (b == 0 || mxci_is_finite(1 / b));
}

MXC_PHILOX_FN double mxci_draw_uniform(mxc_draws *d, double low, double high) {
    double u, v;
    mxc_draw_two(d, &u, &v);
    return low + u * (high - low);
}

MXC_PHILOX_FN double mxci_draw_exponential(mxc_draws *d, double lam, double unused) {
    double u, v;
    (void)unused;
    mxc_draw_two(d, &u, &v);
    return -log(1 - u) / lam;
}

/* G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", 2000. Below 1: one of alpha + 1, times
 * a uniform number to the power of 1 / alpha. */
MXC_PHILOX_FN double mxci_draw_gamma(mxc_draws *d, double alpha, double scale) {
    double shape = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / sqrt(9 * shape), u, unused;
    mxc_draw_two(d, &u, &unused);
    if (alpha < 1)
        scale *= pow(1 - u, 1 / alpha);
    for (;;) {
        double x = mxc_draw_normal(d, 0, 1), v = 1 + c * x;
        mxc_draw_two(d, &u, &unused);
        v = v * v * v;
        if (v > 0 && log(1 - u) < 0.5 * x * x + shape - shape * v + shape * log(v))
            return shape * v * scale;
    }
}

/* The number of uniforms whose product stays above e^-lam (D. Knuth): for small lam. */
MXC_PHILOX_FN double mxci_poisson_by_product(mxc_draws *d, double lam) {
    double limit = exp(-lam), product = 1, count = -1, u, unused;
    do {
        mxc_draw_two(d, &u, &unused);
        product *= 1 - u;
        count++;
    } while (product > limit);
    return count;
}

/* Logarithm of the probability of count. */
MXC_PHILOX_FN double mxci_poisson_log_mass(double count, double lam) {
#if defined(__CUDACC__)
    return count * log(lam) - lam - lgamma(count + 1);
#else
    int sign; /* libm's lgamma stores it in a global variable */
    return count * log(lam) - lam - lgamma_r(count + 1, &sign);
#endif
}

/* Transformed rejection: W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993
 * (PTRS), for lam of at least 10. */
MXC_PHILOX_FN double mxci_poisson_by_rejection(mxc_draws *d, double lam) {
    double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u, v, near, count;
        mxc_draw_two(d, &u, &v);
        u -= 0.5;
        v = 1 - v;
        near = 0.5 - fabs(u);
        count = floor((2 * a / near + b) * u + lam + 0.43);
        if (near >= 0.07 && v <= quick)
            return count;
        if (count < 0 || (near < 0.013 && v > near))
            continue;
        if (log(v * inverse_alpha / (a / (near * near) + b)) <= mxci_poisson_log_mass(count, lam))
            return count;
    }
}

MXC_PHILOX_FN double mxci_draw_poisson(mxc_draws *d, double lam, double unused) {
    (void)unused;
    if (!mxci_is_finite(lam)) /* a gamma number that overflowed: no comparison would end the search */
        return lam;
    return lam < 12 ? mxci_poisson_by_product(d, lam) : mxci_poisson_by_rejection(d, lam);
}

/* A Poisson number whose mean is gamma distributed. */
MXC_PHILOX_FN double mxci_draw_negative_binomial(mxc_draws *d, double k, double p) {
    return k > 0 && p < 1 ? mxci_draw_poisson(d, mxci_draw_gamma(d, k, (1 - p) / p), 0) : 0;
}

MXC_PHILOX_FN double mxci_draw_generalized_negative_binomial(mxc_draws *d, double mu, double alpha) {
    return mxci_draw_poisson(d, alpha > 0 && mu > 0 ? mxci_draw_gamma(d, 1 / alpha, mu * alpha) : mu, 0);
}

#endif
