/* SPDX-License-Identifier: Apache-2.0 */
/* The distributions of math/distributions.h, compiled as functions. */
#include "operator/random/sample_kernels.h"

#define SAMPLE(name)                                                   \
    double mxci_sample_##name(mxci_draws *draws, double a, double b) { \
        return mxci_draw_##name(draws, a, b);                          \
    }
SAMPLE(uniform)
SAMPLE(normal)
SAMPLE(gamma)
SAMPLE(exponential)
SAMPLE(poisson)
SAMPLE(negative_binomial)
SAMPLE(generalized_negative_binomial)
