/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a network for training in mixed precision. */
#ifndef MXCI_REWRITE_MIXED_PRECISION_H
#define MXCI_REWRITE_MIXED_PRECISION_H

#include <mxc/symbol.h>

/* Name of the argument that holds the loss scale, the state of _update_loss_scale. */
#define MXCI_LOSS_SCALE "_loss_scale"

typedef struct mxci_mixed_precision {
    mxc_dtype dtype;
    int is_scaled; /* losses are multiplied by MXCI_LOSS_SCALE */
    int n_fed;     /* arguments that the program feeds, such as data and labels */
    const char *const *fed;
} mxci_mixed_precision;

/*
 * The symbol with operators that compute in dtype (float32: unchanged) where they read a parameter or an output of such
 * an operator. Parameters that only they read have this dtype. Losses (operators that read no gradient of their output)
 * are computed in float32, and so is what depends on fed arrays alone. Statuses of making symbols; MXC_ENOMEM.
 */
mxc_status mxci_mixed_precision_rewrite(const mxci_mixed_precision *precision, const mxc_symbol *symbol,
                                        mxc_symbol **out);

#endif
