/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers: named update rules with their per-parameter state.
 *
 * An update is queued like any other work on arrays, through the operator of its rule (sgd_mom_update, adam_update...).
 * Calls on one optimizer must not overlap.
 */
#ifndef MXC_OPTIMIZER_H
#define MXC_OPTIMIZER_H

#include <mxc/ndarray.h>

typedef struct mxc_optimizer mxc_optimizer;

/**
 * Create an optimizer by name. All take learning_rate, wd=0 (weight decay), rescale_grad=1, clip_gradient=-1 (off) and
 * multi_precision=false (true: update float32 master copies of 16-bit weights); in addition:
 *   sgd, nag  learning_rate=0.01, momentum=0
 *   signum    learning_rate=0.01, momentum=0.9 (0: the sign of the gradient), wd_lh=0
 *   adam      learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8; the rate of update t is multiplied by
 *             sqrt(1 - beta2^t) / (1 - beta1^t), as in MXNet
 *   adamw     the same with decoupled weight decay (learning rate times wd times weight)
 *   rmsprop   learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=false, clip_weights=-1 (off)
 *   ftrl      learning_rate=0.1, lamda1=0.01, beta=1
 * Status: MXC_ENOTFOUND (lists the names), MXC_EINVAL, MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys,
                                                       const char *const *values, mxc_optimizer **out);
/** Optimizers that mxc_optimizer_create knows: the name at an index (NULL past the end), and documentation generated
 * from the schema (free with mxc_free; MXC_ENOTFOUND, MXC_ENOMEM). */
MXC_API const char *mxc_optimizer_name_at(int index);
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_describe(const char *name, char **out);
MXC_API void mxc_optimizer_destroy(mxc_optimizer *optimizer); /* NULL is fine; does not block */
/** Learning rate of the updates queued from now on. */
MXC_API void mxc_optimizer_set_lr(mxc_optimizer *optimizer, double lr);
MXC_API double mxc_optimizer_get_lr(const mxc_optimizer *optimizer);
/** Set factors on learning rate and weight decay of one parameter. The default decay factor of parameters whose names
 *  end in _bias, _gamma or _beta is 0, as in MXNet; all other factors are 1. Status: MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_set_mult(mxc_optimizer *optimizer, const char *key, double lr_mult,
                                                         double wd_mult);
/** Queue one update of weight by grad. The states of the key are created, as zeros, at its first update. Status:
 *  MXC_ESHAPE, MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_update(mxc_optimizer *optimizer, const char *key, mxc_ndarray *weight,
                                                       mxc_ndarray *grad);
/** Get the states as arrays named "<key>:<state>", which the caller releases. Does not block. States: momentum (sgd,
 *  nag, signum), mean and var (adam, adamw), n, or n, g and delta (rmsprop), z and n (ftrl); adam and adamw also have
 *  "<key>:updates", one int64 with the number of updates; float32 master copies are "<key>:weight32". */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_get_states(const mxc_optimizer *optimizer, mxc_ndarray_list *out);
/** Replace all states by copies of these; states that are not listed are reset to zeros. Shapes are checked at the next
 *  update. Status: MXC_EINVAL (not the name of a state, no array), MXC_ENOMEM; some states may have been replaced then.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_set_states(mxc_optimizer *optimizer, const mxc_ndarray_list *states);

#endif
