/* SPDX-License-Identifier: Apache-2.0 */
/* The distributions of math/distributions.h as functions, so that a table can point to them. */
#ifndef MXCI_OPERATOR_RANDOM_SAMPLE_KERNELS_H
#define MXCI_OPERATOR_RANDOM_SAMPLE_KERNELS_H

#include "math/distributions.h"

/* One number of the distribution with parameters a and b, which must be in its range. */
typedef double (*mxci_sample_fn)(mxc_draws *draws, double a, double b);

double mxci_sample_uniform(mxc_draws *draws, double low, double high);
double mxci_sample_normal(mxc_draws *draws, double mean, double deviation);
double mxci_sample_gamma(mxc_draws *draws, double alpha, double scale);
double mxci_sample_exponential(mxc_draws *draws, double lam, double unused);
double mxci_sample_poisson(mxc_draws *draws, double lam, double unused);
double mxci_sample_negative_binomial(mxc_draws *draws, double k, double p);
double mxci_sample_generalized_negative_binomial(mxc_draws *draws, double mu, double alpha);

#endif
