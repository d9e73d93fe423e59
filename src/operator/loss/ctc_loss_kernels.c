/* SPDX-License-Identifier: Apache-2.0 */
/* The forward and backward recursions of one sequence, and rows of classes for float and double. */
#include "operator/loss/ctc_loss_kernels.h"

#include "math/fastmath.h"

double mxci_ctc_forward(const mxci_ctc *c) {
    for (int64_t t = 0; t < c->steps; t++)
        for (int64_t s = 0; s < mxci_ctc_states(c); s++)
            c->alpha[t * mxci_ctc_states(c) + s] = mxci_ctc_alpha(c, t, s);
    return mxci_ctc_total(c);
}

void mxci_ctc_posterior(const mxci_ctc *c, int64_t t, double total, double *posterior) {
    const int64_t states = mxci_ctc_states(c);
    for (int64_t s = 0; s < states; s++) {
        double beta = c->beta[t % 2 * states + s] = mxci_ctc_beta(c, t, s);
        posterior[s % 2 ? c->labels[s / 2] : c->blank] += exp(c->alpha[t * states + s] + beta - total);
    }
}

#define BODY "operator/loss/ctc_loss_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_ctc_log_sum_fn mxci_ctc_log_sum[MXC_DTYPE_LIMIT] = {[MXC_F32] = log_sum_f32, [MXC_F64] = log_sum_f64};
const mxci_ctc_gradient_fn mxci_ctc_gradient[MXC_DTYPE_LIMIT] = {[MXC_F32] = gradient_f32, [MXC_F64] = gradient_f64};
