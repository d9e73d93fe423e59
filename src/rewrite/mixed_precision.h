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
    int n_fed;     /* arguments that are no parameters */
    const char *const *fed;
} mxci_mixed_precision;

/*
 * The symbol with operators in dtype (float32: as they are), where they meet a parameter or what such operators made.
 * Parameters that only they read are of dtype. Losses (operators that read no gradient of their output) are computed in
 * f32, and so is what is made of fed arrays alone. Statuses of making symbols; MXC_ENOMEM.
 */
mxc_status mxci_mixed_precision_rewrite(const mxci_mixed_precision *precision, const mxc_symbol *symbol,
                                        mxc_symbol **out);

#endif
