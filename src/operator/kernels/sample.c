/* Random numbers of distributions. */
#include "operator/kernels/sample.h"

#include <math.h>

#include "resource/kernels/philox.h"

/* Two uniform numbers of [0, 1): the element's next block. */
static void draw_two(mxci_draws *d, double *u, double *v) {
    mxci_philox x = mxci_philox_stream(d->seed, d->stream | (uint64_t)++d->used << 32, d->place);
    *u = mxci_philox_double(x.word[0], x.word[1]);
    *v = mxci_philox_double(x.word[2], x.word[3]);
}

double mxci_sample_uniform(mxci_draws *d, double low, double high) {
    double u, v;
    draw_two(d, &u, &v);
    return low + u * (high - low);
}

/* By the Box-Muller transform. */
double mxci_sample_normal(mxci_draws *d, double mean, double deviation) {
    double u, v;
    draw_two(d, &u, &v);
    return mean + deviation * sqrt(-2 * log(1 - u)) * cos(6.28318530717958647692 * v);
}

double mxci_sample_exponential(mxci_draws *d, double lam, double unused) {
    double u, v;
    (void)unused;
    draw_two(d, &u, &v);
    return -log(1 - u) / lam;
}

/* G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", 2000. Below 1: one of alpha + 1, times
 * a uniform number to the power of 1 / alpha. */
double mxci_sample_gamma(mxci_draws *d, double alpha, double scale) {
    double shape = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / sqrt(9 * shape), u, unused;
    draw_two(d, &u, &unused);
    if (alpha < 1)
        scale *= pow(1 - u, 1 / alpha);
    for (;;) {
        double x = mxci_sample_normal(d, 0, 1), v = 1 + c * x;
        draw_two(d, &u, &unused);
        v = v * v * v;
        if (v > 0 && log(1 - u) < 0.5 * x * x + shape - shape * v + shape * log(v))
            return shape * v * scale;
    }
}

/* Products of uniforms until they fall below e^-lam. */
static double poisson_by_product(mxci_draws *d, double lam) {
    double limit = exp(-lam), product = 1, count = -1, u, unused;
    do {
        draw_two(d, &u, &unused);
        product *= 1 - u;
        count++;
    } while (product > limit);
    return count;
}

/* Logarithm of the probability of count. */
static double poisson_log_mass(double count, double lam) {
    int sign;
    return count * log(lam) - lam - lgamma_r(count + 1, &sign);
}

/* Transformed rejection: W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993
 * (PTRS), for lam of at least 10. */
static double poisson_by_rejection(mxci_draws *d, double lam) {
    double b = 0.931 + 2.53 * sqrt(lam), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u, v, near, count;
        draw_two(d, &u, &v);
        u -= 0.5;
        v = 1 - v;
        near = 0.5 - fabs(u);
        count = floor((2 * a / near + b) * u + lam + 0.43);
        if (near >= 0.07 && v <= quick)
            return count;
        if (count < 0 || (near < 0.013 && v > near))
            continue;
        if (log(v * inverse_alpha / (a / (near * near) + b)) <= poisson_log_mass(count, lam))
            return count;
    }
}

double mxci_sample_poisson(mxci_draws *d, double lam, double unused) {
    (void)unused;
    return lam < 12 ? poisson_by_product(d, lam) : poisson_by_rejection(d, lam);
}

/* Poisson numbers whose mean is gamma distributed. */
double mxci_sample_negative_binomial(mxci_draws *d, double k, double p) {
    return k > 0 && p < 1 ? mxci_sample_poisson(d, mxci_sample_gamma(d, k, (1 - p) / p), 0) : 0;
}

double mxci_sample_generalized_negative_binomial(mxci_draws *d, double mu, double alpha) {
    return mxci_sample_poisson(d, alpha > 0 && mu > 0 ? mxci_sample_gamma(d, 1 / alpha, mu * alpha) : mu, 0);
}
