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
 * Make one by name. All have learning_rate, wd=0, rescale_grad=1, clip_gradient=-1 (off), multi_precision=false (true:
 * weights in 16 bits have f32 copies, which take the steps); beside them:
 *   sgd, nag  learning_rate=0.01, momentum=0
 *   signum    learning_rate=0.01, momentum=0.9 (0: the gradient's sign), wd_lh=0
 *   adam      learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8; update t has the rate times
 *             sqrt(1 - beta2^t) / (1 - beta1^t), as in MXNet
 *   adamw     the same, but the decay (learning rate times wd times weight) passes the means by
 *   rmsprop   learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=false, clip_weights=-1 (off)
 *   ftrl      learning_rate=0.1, lamda1=0.01, beta=1
 * Status: MXC_ENOTFOUND (lists the names), MXC_EINVAL, MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys,
                                                       const char *const *values, mxc_optimizer **out);
MXC_API void mxc_optimizer_destroy(mxc_optimizer *optimizer); /* NULL is fine; does not block */
/** Learning rate of the updates queued from now on. */
MXC_API void mxc_optimizer_set_lr(mxc_optimizer *optimizer, double lr);
MXC_API double mxc_optimizer_get_lr(const mxc_optimizer *optimizer);
/** Factors on learning rate and weight decay of one parameter. Names ending in _bias, _gamma or _beta begin with a
 *  decay factor of 0, as in MXNet. Status: MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_set_mult(mxc_optimizer *optimizer, const char *key, double lr_mult,
                                                         double wd_mult);
/** Queue one update of weight by grad; the key's states are made (zeros) at its first update. Status: MXC_ESHAPE,
 *  MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_update(mxc_optimizer *optimizer, const char *key, mxc_ndarray *weight,
                                                       mxc_ndarray *grad);
/** States as named arrays "<key>:<state>" that the caller releases; waits for nothing. States: momentum (sgd, nag,
 *  signum), mean and var (adam, adamw), n, or n, g and delta (rmsprop), z and n (ftrl); adam and adamw also save
 *  "<key>:updates", one int64: how many updates there were; f32 copies are "<key>:weight32". */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_get_states(const mxc_optimizer *optimizer, mxc_ndarray_list *out);
/** Replace all states by copies of these; those not listed begin with zeros again. Shapes are checked at the next
 *  update. Status: MXC_EINVAL (a name that no state has, no array), MXC_ENOMEM; some states may be replaced then. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_set_states(mxc_optimizer *optimizer, const mxc_ndarray_list *states);

#endif
