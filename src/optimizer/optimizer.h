/*
 * Inside of optimizers: what the training loop may do beside the public calls, and what optimizer.c and
 * optimizer_states.c share.
 */
#ifndef MXCI_OPTIMIZER_OPTIMIZER_H
#define MXCI_OPTIMIZER_OPTIMIZER_H

#include <mxc/op.h>
#include <mxc/optimizer.h>

#include "base/map.h"
#include "operator/update/update.h"

/* ---- for the training loop --------------------------------------------------------------------------------------- */

/* Until the flush, updates are only noted, so that one operator makes many of them; what they were given is retained.
 * Their failures are the flush's, of which the first is returned. */
void mxci_optimizer_hold(mxc_optimizer *optimizer);
mxc_status mxci_optimizer_flush(mxc_optimizer *optimizer);
/* From now on gradients are taken as multiplied by state[0], state as _update_loss_scale has it, which is run with the
 * interval at each flush; where a gradient of a flush is not finite none of its updates happens. state, retained, has
 * to be where the weights are; updates have to be held. MXC_ENOMEM. */
mxc_status mxci_optimizer_set_loss_scale(mxc_optimizer *optimizer, mxc_ndarray *state, int64_t interval);
/* The f32 copy of a weight in 16 bits, borrowed; NULL: there is none (yet). */
mxc_ndarray *mxci_optimizer_master(const mxc_optimizer *optimizer, const char *key);

/* The same rule, settings and factors, with no states. MXC_ENOMEM. */
mxc_status mxci_optimizer_clone(const mxc_optimizer *optimizer, mxc_optimizer **out);

/* ---- for both files ---------------------------------------------------------------------------------------------- */

/* All rules' settings; a rule's schema names those it has. Those that _multi_update has too have its names. */
typedef struct mxci_optimizer_settings {
    double learning_rate, momentum, wd, rescale_grad, clip_gradient;
    double wd_lh, beta1, beta2, epsilon, gamma1, gamma2, clip_weights, lamda1, beta;
    int32_t centered, multi_precision;
} mxci_optimizer_settings;

/* A rule of _multi_update, and the names under which its states are saved. */
typedef struct mxci_optimizer_variant {
    const char *rule;
    const char *states; /* "mean,var"; NULL: none */
} mxci_optimizer_variant;

typedef enum mxci_optimizer_correction {
    MXCI_CORRECT_NOTHING,
    MXCI_CORRECT_LR,  /* the rate carries the correction of the means' bias, so the decay in it does too (Adam) */
    MXCI_CORRECT_STEP /* "lr" is the correction and "eta" the rate, which the decay has for itself (AdamW) */
} mxci_optimizer_correction;

typedef struct mxci_optimizer_rule {
    const char *name, *doc;
    const mxc_param *schema;
    mxci_optimizer_variant plain, full;
    int (*is_full)(const mxci_optimizer_settings *set);
    mxci_optimizer_correction correction;
} mxci_optimizer_rule;

/* What changes from update to update, by weight. */
typedef struct mxci_optimizer_rates {
    mxc_floats lrs, wds, etas;
} mxci_optimizer_rates;

typedef struct mxci_optimizer_op {
    mxc_op *op;                 /* NULL before its first use */
    mxci_optimizer_rates rates; /* in op */
} mxci_optimizer_op;

/* Operators for n weights of one kind. Two in turn, since one step's update is often still queued when the next step
 * queues its own. */
typedef struct mxci_optimizer_op_pair {
    int n, has_masters;
    mxci_optimizer_op ops[2];
    int turn; /* which of ops is next */
} mxci_optimizer_op_pair;

/* What belongs to one parameter. */
typedef struct mxci_optimizer_param {
    double lr_mult, wd_mult;
    int64_t updates;                         /* counted where the rule corrects by it */
    mxci_optimizer_op_pair own;              /* for updates that are not held */
    mxc_ndarray *states[MXCI_UPDATE_STATES]; /* NULL until the first update, or where the rule needs none */
    mxc_ndarray *master;                     /* f32 copy of a weight in 16 bits with multi_precision; else NULL */
} mxci_optimizer_param;

/* An update that was asked for. */
typedef struct mxci_optimizer_pending_update {
    mxci_optimizer_param *slot;
    mxc_ndarray *weight, *grad;
} mxci_optimizer_pending_update;

typedef struct mxci_optimizer_loss_scale {
    mxc_ndarray *state;  /* NULL: losses are not scaled */
    mxc_ndarray *factor; /* on gradients of the flush, 0 where one is not finite */
    mxc_ndarray *is_finite;
    mxc_op *check, *update;
    int n_checked;       /* arrays that check takes */
    mxc_ndarray **grads; /* scratch: room for them */
} mxci_optimizer_loss_scale;

struct mxc_optimizer {
    const mxci_optimizer_rule *rule;
    const mxci_optimizer_variant *variant;
    mxci_optimizer_settings settings;
    mxci_map *slots; /* key to mxci_optimizer_param */
    int is_held, n_items, cap_items;
    mxci_optimizer_pending_update *items; /* held */
    int n_groups;
    mxci_optimizer_op_pair *groups; /* for the groups of a flush, in its order */
    mxci_optimizer_loss_scale scale;
};

#define MXCI_MASTER_NAME "weight32" /* of the f32 copy among saved states */
mxc_status mxci_optimizer_find_param(mxc_optimizer *optimizer, const char *key,
                                     mxci_optimizer_param **out); /* made where it is not */
void mxci_optimizer_param_reset(mxci_optimizer_param *slot);      /* as if there had been no update */
int mxci_optimizer_n_states(const mxc_optimizer *optimizer);

#endif
