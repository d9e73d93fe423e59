/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizer steps on the GPU (operator/update/update.h): a rule's step for one weight, or for several by one kernel,
 * with float32 copies of 16-bit weights (master weights) where the operator keeps them.
 */
#ifndef MXCI_CUDA_OPERATOR_UPDATE_UPDATE_H
#define MXCI_CUDA_OPERATOR_UPDATE_UPDATE_H

#include "cuda/runtime/convert.h"
#include "operator/update/update.h"

/* Factors that only the device knows. */
struct mxcu_update_late {
    const float *rescale;            /* or NULL; multiplies rescale_grad: no step where it is 0 or not finite */
    mxcu_any r1, r2;                 /* lamb's second phase, where r1 has data: norms whose quotient multiplies lr, */
    double lower_bound, upper_bound; /* r1 clipped to these where they are not negative */
    const double *squares;           /* lars, lbsgd: of each weight the sums of squares for its trust ratio; or NULL */
    double trust_epsilon;
    int is_lars;
    const mxc_floats *scales; /* on the host: scale of each weight; NULL: 1 */
    const float *lrs, *wds;   /* or NULL; rates of each weight, in place of those of the plan */
};

/* How an operator takes its steps. lrs, wds and etas: one for each of several weights, else NULL. */
struct mxcu_update_plan {
    const mxci_update *factors;
    const mxc_floats *lrs, *wds, *etas;
    int has_copy;
    mxcu_update_late late;
    int keeps_copy; /* 1: the copy of the one weight does not change; the output, of the copy's dtype, is what the
                       rule makes of it */
};

/* Queue a rule's step for the weights of a call: arguments are pairs of weight and gradient, auxiliary states the
 * rule's and, with has_copy, the copy of each weight. */
mxc_status mxcu_update_run(const mxc_op_call *call, mxci_rule rule, const mxcu_update_plan &plan);

/* The operators of one weight whose parameters are the factors. */
template <mxci_rule rule> mxc_status mxcu_update_forward(const mxc_op_call *call) {
    return mxcu_update_run(call, rule,
                           {static_cast<const mxci_update *>(call->params), nullptr, nullptr, nullptr, 0, {}, 0});
}

#endif
