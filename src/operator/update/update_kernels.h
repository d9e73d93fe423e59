/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizer steps over plain arrays: for each element a rule makes the new weight of weight, gradient and states. */
#ifndef MXCI_OPERATOR_UPDATE_UPDATE_KERNELS_H
#define MXCI_OPERATOR_UPDATE_UPDATE_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

enum { MXCI_UPDATE_NONE, MXCI_UPDATE_WRITE, MXCI_UPDATE_ADD }; /* what happens to out; states change in any case */
#define MXCI_UPDATE_STATES 3

/* All rules' factors; a rule reads those of its formula. Limits below 0 mean none. */
typedef struct mxci_update {
    double lr, wd, rescale_grad, clip_gradient;
    double momentum, wd_lh;
    double beta1, beta2, epsilon, eta;
    double mean_scale, var_scale; /* lamb: what corrects the two moments' bias. ftml: (1 - beta1^t) / lr and
                                     1 / (1 - beta2^t) */
    double scale;                 /* nadam: what corrects the variance's bias; lbsgd: 1 / summed gradients */
    double gamma1, gamma2, clip_weights;
    double lamda1, beta;
    double rho, lamda;
    int32_t lazy_update; /* read by no rule */
} mxci_update;

/* The same elements of all arrays. out may be weight; states that a rule has not are not read. */
typedef struct mxci_update_arrays {
    const void *weight, *grad;
    void *state[MXCI_UPDATE_STATES], *out;
} mxci_update_arrays;

/* n elements. By dtype, floats only. */
typedef void (*mxci_update_fn)(const mxci_update *u, int64_t n, const mxci_update_arrays *arrays, int out);

#define RULE(name, states) extern const mxci_update_fn mxci_update_##name[MXC_DTYPE_LIMIT];
#include "operator/update/update_kernels.def"
#undef RULE

#endif
