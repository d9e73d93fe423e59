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
#include <mxc/param.h>

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
 *   adagrad   learning_rate=0.01, epsilon=1e-7
 *   adadelta  rho=0.9, epsilon=1e-5
 *   adamax    learning_rate=0.002, beta1=0.9, beta2=0.999
 *   nadam     learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004
 *   ftml      learning_rate=0.0025, beta1=0.6, beta2=0.999, epsilon=1e-8
 *   lamb      learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, lower_bound=None, upper_bound=None,
 *             bias_correction=true
 *   lars      learning_rate=0.1, momentum=0, eta=0.001, epsilon=0, momentum_correction=true
 *   lbsgd     learning_rate=0.01, momentum=0, warmup_strategy=linear|power2|sqrt|lars (linear), warmup_epochs=5,
 *             batch_scale=1, updates_per_epoch=32, begin_epoch=0, num_epochs=60 (not used)
 *   dcasgd    learning_rate=0.01, momentum=0, lamda=0.04
 *   sgld      learning_rate=0.01
 *   groupadagrad  learning_rate=0.01, epsilon=1e-5; no wd; for weights of 2 axes
 *   lion      learning_rate=0.0001, beta1=0.9, beta2=0.99
 *   adafactor learning_rate=0.01, epsilon=1e-30, epsilon2=1e-3, clip_threshold=1, decay_rate=-0.8,
 *             scale_parameter=true, relative_step=true
 *   muon      learning_rate=0.001, momentum=0.95, nesterov=true, ns_steps=5; adamw for weights of 1 axis or more than 2
 * and those that mxc_optimizer_register added. lamb, lars, lbsgd, groupadagrad, adafactor and muon need whole weights:
 * key-value stores that update parts of them (shard=true, dist_async) refuse them with MXC_EUNSUPPORTED.
 * Status: MXC_ENOTFOUND (lists the names), MXC_EINVAL, MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys,
                                                       const char *const *values, mxc_optimizer **out);
/** Optimizers that mxc_optimizer_create accepts: the name at an index (NULL past the end), and documentation generated
 * from the schema (free with mxc_free; MXC_ENOTFOUND, MXC_ENOMEM). */
MXC_API const char *mxc_optimizer_name_at(int index);
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_describe(const char *name, char **out);
MXC_API void mxc_optimizer_destroy(mxc_optimizer *optimizer); /* NULL is fine; does not block */
/** Set or get the learning rate of the updates queued from now on. */
MXC_API void mxc_optimizer_set_lr(mxc_optimizer *optimizer, double lr);
MXC_API double mxc_optimizer_get_lr(const mxc_optimizer *optimizer);
/** Set factors on learning rate and weight decay of one parameter. The default decay factor of parameters whose names
 *  end in _bias, _gamma or _beta is 0, as in MXNet; all other factors are 1. Status: MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_set_mult(mxc_optimizer *optimizer, const char *key, double lr_mult,
                                                         double wd_mult);
/** Queue one update of weight by grad. The states of the key are created at its first update: as zeros, unless
 *  the rule begins otherwise (dcasgd: a copy of the weight; init_state). Status: MXC_EINVAL (NULL), MXC_ESHAPE,
 *  MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM, or what the functions of a program's optimizer return. */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_update(mxc_optimizer *optimizer, const char *key, mxc_ndarray *weight,
                                                       mxc_ndarray *grad);
/** Get the states as arrays named "<key>:<state>", which the caller releases. Does not block. States: momentum (sgd,
 *  nag, signum, lars), mean and var (adam, adamw, nadam, lamb, muon), n, or n, g and delta (rmsprop), z and n (ftrl),
 *  history (adagrad, groupadagrad), grad_sq and step_sq (adadelta), mean and norm (adamax), d, v and z (ftml), momentum
 *  and sum (lbsgd), momentum and previous (dcasgd), mean (lion), row and column, or var (adafactor). Optimizers that
 *  depend on the number of updates, such as adam, also have "<key>:updates", one int64 with this number; float32 master
 *  copies are "<key>:weight32". */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_get_states(const mxc_optimizer *optimizer, mxc_ndarray_list *out);
/** Replace all states by copies of these; states that are not listed are reset to zeros. Shapes are checked at the next
 *  update. Status: MXC_EINVAL (not the name of a state, no array), MXC_ENOMEM; some states may have been replaced then.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_set_states(mxc_optimizer *optimizer, const mxc_ndarray_list *states);

/* ---- optimizers of the program ----------------------------------------------------------------------------------- */

/** One update of one weight, for the functions of an mxc_optimizer_def. All arrays are borrowed. */
typedef struct mxc_optimizer_call {
    size_t size;
    const void *params; /* of the optimizer, as its schema says; NULL without one */
    const char *key;    /* name of the weight */
    /* The array to update. With multi_precision, of a 16-bit weight its float32 copy, from which the weight is rounded
     * afterwards; states and gradient are then float32, too. */
    mxc_ndarray *weight;
    mxc_ndarray *grad;    /* not rescaled and not clipped; must not be changed. NULL in init_state */
    mxc_ndarray **states; /* in the order of their names; NULL where init_state made none. @length text */
    double lr, wd;        /* learning rate and weight decay of this weight, its factors included */
    double rescale_grad;  /* factor on the gradient, to be applied first */
    double clip_gradient; /* limit of absolute rescaled gradients; below 0: none */
    int64_t t;            /* number of this update, from 1 */
} mxc_optimizer_call;

#define MXC_OPTIMIZER_STATES 3 /* most states of one weight */

/** An optimizer of the program. Set size to sizeof(mxc_optimizer_def); members left out are zero. Its functions are
 *  called by mxc_optimizer_update, on the thread of the program, of mxc_fit, or of a server of dist_async.
 *  @thread any
 */
typedef struct mxc_optimizer_def {
    size_t size;
    const char *name, *doc;
    /* Names of the states of each weight, separated by commas; they are saved under these. Each has 1 to 31 bytes and
     * no colon; none is "updates" or "weight32". NULL: none. */
    const char *states;
    /* Parameters besides learning_rate (0.01), wd, rescale_grad, clip_gradient and multi_precision, which every
     * optimizer has. NULL: none. */
    const mxc_param *params;
    size_t param_size; /* of the struct that params fill */
    /* 1: update needs the weight with its shape; 0: it may be given parts of a weight as vectors, as element-wise
     * updates can. */
    int needs_whole_weights;
    /* Make state i of a weight, or leave *out NULL where the weight needs none. NULL: zeros of the weight's shape,
     * dtype and context. */
    mxc_status (*init_state)(const mxc_optimizer_call *call, int i, mxc_ndarray **out);
    /* Queue operators that update the weight and its states in place. It should not wait for arrays. */
    mxc_status (*update)(const mxc_optimizer_call *call);
} mxc_optimizer_def;

/** Add an optimizer, which mxc_optimizer_create, mxc_fit and key-value stores then know by its name. The descriptor
 *  must stay valid for the process's life. In a distributed training every process registers it. Status: MXC_EEXIST,
 *  MXC_EINVAL, MXC_ENOMEM. Thread-safe.
 *  @param[keep] def  the descriptor
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_optimizer_register(const mxc_optimizer_def *def);

#endif
