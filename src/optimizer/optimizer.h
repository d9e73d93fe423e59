/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of optimizers: functions for the training loop, and what optimizer.c, optimizer_states.c and
 * clip_norm.c share.
 *
 * Rules are names for rules of the operator _multi_update, which updates many weights in one call, or functions that
 * queue operators for one weight. A parameter's states (momentum, mean, variance, f32 copy) are created with its first
 * update, on the context of its weight.
 */
#ifndef MXCI_OPTIMIZER_OPTIMIZER_H
#define MXCI_OPTIMIZER_OPTIMIZER_H

#include <mxc/op.h>
#include <mxc/optimizer.h>

#include "base/hash_map.h"
#include "operator/update/update.h"

/* ---- for the training loop --------------------------------------------------------------------------------------- */

/* Until the flush, updates are only recorded, so that one operator makes many of them; their arrays are retained. The
 * flush queues them and returns the first failure. */
void mxci_optimizer_hold(mxc_optimizer *optimizer);
mxc_status mxci_optimizer_flush(mxc_optimizer *optimizer);
/* From now on gradients are divided by the loss scale state[0]. Each flush runs _update_loss_scale on state with this
 * interval, and skips all of its updates if any of its gradients is not finite. state is retained and must be on the
 * weights' context; updates must be held. MXC_ENOMEM. */
mxc_status mxci_optimizer_set_loss_scale(mxc_optimizer *optimizer, mxc_ndarray *state, int64_t interval);
/* From now on each flush scales its gradients, in place, so that the norm of all together (as they are applied, with
 * rescale_grad and without the loss scale) is at most max_norm; 0: off. Updates must be held. */
void mxci_optimizer_set_clip_norm(mxc_optimizer *optimizer, double max_norm);
/* The f32 copy of a 16-bit weight, borrowed; NULL: there is none (yet). */
mxc_ndarray *mxci_optimizer_master(const mxc_optimizer *optimizer, const char *key);
/* 1: an update needs a weight with its shape, all elements at once, so stores may not update parts of it. */
int mxci_optimizer_needs_whole_weights(const mxc_optimizer *optimizer);
const char *mxci_optimizer_name(const mxc_optimizer *optimizer);

/* A copy with the same rule, settings and factors, without states. MXC_ENOMEM. */
mxc_status mxci_optimizer_clone(const mxc_optimizer *optimizer, mxc_optimizer **out);

/* ---- shared by the files of this module -------------------------------------------------------------------------- */

/* The settings of all rules; the schema of a rule lists its own. Settings that are parameters of _multi_update have the
 * same names there. */
typedef struct mxci_optimizer_settings {
    double learning_rate, momentum, wd, rescale_grad, clip_gradient;
    double wd_lh, beta1, beta2, epsilon, gamma1, gamma2, clip_weights, lamda1, beta, rho, lamda;
    double schedule_decay, lower_bound, upper_bound, eta, epsilon2, clip_threshold, decay_rate;
    int64_t warmup_epochs, batch_scale, updates_per_epoch, begin_epoch, num_epochs, ns_steps;
    int32_t centered, multi_precision, bias_correction, momentum_correction, warmup_strategy;
    int32_t scale_parameter, relative_step, nesterov;
} mxci_optimizer_settings;

/* A rule of _multi_update, and the names under which its states are saved. */
typedef struct mxci_optimizer_variant {
    const char *rule;   /* NULL: the rule's update function computes */
    const char *states; /* "mean,var"; NULL: none */
} mxci_optimizer_variant;

/* Factors that may change with each update: lrs, wds, etas and scales of _multi_update. */
typedef struct mxci_optimizer_rate {
    double lr, wd, eta, scale;
} mxci_optimizer_rate;

struct mxci_optimizer_param;

/* A rule with `update` calls it for each weight that is_for_arrays accepts (NULL: every weight); others are updated by
 * _multi_update. */
typedef struct mxci_optimizer_rule {
    const char *name, *doc;
    const mxc_param *schema;
    mxci_optimizer_variant plain, full;
    int (*is_full)(const mxci_optimizer_settings *set); /* NULL: never */
    unsigned copies; /* bit i: state i starts as a copy of the weight, not as zeros */
    int counts;      /* the number of updates is saved with the states */
    int needs_whole_weights;
    /* Makes the rates of update t of a parameter, counted from 1, of its learning rate and weight decay, which *out
     * holds with eta 0 and scale 1. NULL: they are used as they are. */
    void (*rates)(const mxci_optimizer_settings *set, const struct mxci_optimizer_param *param_state, double t,
                  mxci_optimizer_rate *out);
    int (*has_trust_ratio)(const mxci_optimizer_settings *set); /* NULL: never */
    /* As in mxc_optimizer_def; params are the settings, or those of def. */
    mxc_status (*init_state)(const mxc_optimizer_call *call, int i, mxc_ndarray **out);
    mxc_status (*update)(const mxc_optimizer_call *call);
    int (*is_for_arrays)(mxc_ndarray *weight);
    const mxc_optimizer_def *def; /* NULL: built-in */
} mxci_optimizer_rule;

/* One of each for each weight of an operator. */
typedef struct mxci_optimizer_rates {
    mxc_floats lrs, wds, etas, scales;
} mxci_optimizer_rates;

typedef struct mxci_optimizer_op {
    mxc_op *op;                 /* NULL before its first use */
    mxci_optimizer_rates rates; /* in op */
} mxci_optimizer_op;

/* Operators for n weights of one dtype and context. Two are used in turn, since the update of one step is often still
 * queued, and its operator must not change, when the next step queues its own. */
typedef struct mxci_optimizer_op_pair {
    int n, has_masters;
    mxci_optimizer_op ops[2];
    int turn; /* index of the next of ops */
} mxci_optimizer_op_pair;

/* The state of one parameter. */
typedef struct mxci_optimizer_param {
    double lr_mult, wd_mult;
    int is_bias_or_norm; /* by its name */
    int is_loaded;       /* states were loaded and have not been checked */
    int64_t updates;
    mxci_optimizer_op_pair own;              /* for updates that are not held */
    mxc_ndarray *states[MXCI_UPDATE_STATES]; /* NULL until the first update, or where the rule needs none */
    mxc_ndarray *master;                     /* f32 copy of a weight in 16 bits with multi_precision; else NULL */
    char key[];
} mxci_optimizer_param;

/* A held update. */
typedef struct mxci_optimizer_pending_update {
    mxci_optimizer_param *param_state; /* NULL: done */
    mxc_ndarray *weight, *grad;        /* retained */
} mxci_optimizer_pending_update;

typedef struct mxci_optimizer_loss_scale {
    mxc_ndarray *state;  /* NULL: losses are not scaled */
    mxc_ndarray *factor; /* on gradients of the flush, 0 where one is not finite */
    mxc_ndarray *is_finite;
    mxc_op *check, *update;
    int n_checked;       /* arrays that check takes */
    mxc_ndarray **grads; /* scratch: room for them */
} mxci_optimizer_loss_scale;

/* Of clip_norm.c. */
typedef struct mxci_optimizer_clip {
    double max_norm; /* 0: gradients are not clipped */
    int n;           /* gradients that the arrays are for */
    mxc_op *square_sum, *scale, *clip;
    mxc_ndarray *sums, *scaled; /* (n,): sums of squares; times the factor of the loss scale */
    mxc_ndarray **parts;        /* views of sums, one element each */
} mxci_optimizer_clip;

struct mxc_optimizer {
    const mxci_optimizer_rule *rule;
    const mxci_optimizer_variant *variant;
    mxci_optimizer_settings settings;
    void *own_params;      /* of an optimizer of the program, as its schema says; else NULL */
    mxci_hash_map *params; /* key to mxci_optimizer_param */
    int is_held, n_items, cap_items;
    mxci_optimizer_pending_update *items; /* held */
    int n_groups;
    mxci_optimizer_op_pair *groups; /* for the groups of a flush, in its order */
    mxci_optimizer_loss_scale scale;
    mxci_optimizer_clip clip;
};

/* A state of zeros on the weight's context. MXC_ENOMEM. */
mxc_status mxci_optimizer_create_zeros(mxc_ndarray *weight, int ndim, const int64_t *dims, mxc_dtype dtype,
                                       mxc_ndarray **out);
mxc_status mxci_optimizer_clip_gradients(mxc_optimizer *optimizer); /* the held ones */
void mxci_optimizer_clip_reset(mxci_optimizer_clip *clip);

#define MXCI_MASTER_NAME "weight32" /* of the f32 copy among saved states */
#define MXCI_UPDATES_NAME "updates" /* of the count of updates among saved states */
enum { MXCI_STATE_NAME = 32 };      /* bytes of the name of a state, at most, with the final NUL */
mxc_status mxci_optimizer_find_param(mxc_optimizer *optimizer, const char *key,
                                     mxci_optimizer_param **out);   /* created at first use */
void mxci_optimizer_param_reset(mxci_optimizer_param *param_state); /* as if there had been no update */
int mxci_optimizer_n_states(const mxc_optimizer *optimizer);

#endif
