/* SPDX-License-Identifier: Apache-2.0 */
/* The distributions of math/distributions.h, compiled as functions. */
#include "operator/random/sample_kernels.h"

#define SAMPLE(name, draw)                                            \
    double mxci_sample_##name(mxc_draws *draws, double a, double b) { \
        return draw(draws, a, b);                                     \
    }
SAMPLE(uniform, mxci_draw_uniform)
SAMPLE(normal, mxc_draw_normal)
SAMPLE(gamma, mxci_draw_gamma)
SAMPLE(exponential, mxci_draw_exponential)
SAMPLE(poisson, mxci_draw_poisson)
SAMPLE(negative_binomial, mxci_draw_negative_binomial)
SAMPLE(generalized_negative_binomial, mxci_draw_generalized_negative_binomial)
