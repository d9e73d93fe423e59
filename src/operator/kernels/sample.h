/*
 * Random numbers of distributions, one element at a time. Each element has blocks of its own in the generator's
 * counter: the first half is the element's place in the context's stream, the last word counts from 1 (0 belongs to the
 * plain numbers). So rejection may take as many as it likes, and no element depends on another.
 */
#ifndef MXCI_OPERATOR_KERNELS_SAMPLE_H
#define MXCI_OPERATOR_KERNELS_SAMPLE_H

#include <stdint.h>

typedef struct mxci_draws {
    uint64_t seed, stream, place;
    uint32_t used; /* blocks */
} mxci_draws;

/* One number of the distribution with parameters a and b, which must be in its range. */
typedef double (*mxci_sample_fn)(mxci_draws *draws, double a, double b);

double mxci_sample_uniform(mxci_draws *draws, double low, double high);
double mxci_sample_normal(mxci_draws *draws, double mean, double deviation);
double mxci_sample_gamma(mxci_draws *draws, double alpha, double scale);
double mxci_sample_exponential(mxci_draws *draws, double lam, double unused);
double mxci_sample_poisson(mxci_draws *draws, double lam, double unused);
double mxci_sample_negative_binomial(mxci_draws *draws, double k, double p);
double mxci_sample_generalized_negative_binomial(mxci_draws *draws, double mu, double alpha);

#endif
