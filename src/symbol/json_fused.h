/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that expand fused nodes share. */
#ifndef MXCI_SYMBOL_JSON_FUSED_H
#define MXCI_SYMBOL_JSON_FUSED_H

#include "symbol/json.h"

/* The text of a field, "" where it is absent or no text; 1 for the texts that mean true. */
const char *mxci_json_text(const json_t *object, const char *field);
int mxci_json_is_true(const json_t *object, const char *field);

/* The layers of a fused convolution as one _quantized_fused_conv: its parameters, which the caller releases, and which
 * of the fused node's arguments are its arguments (before the bounds) and its auxiliary states. */
typedef struct mxci_json_conv {
    json_t *attrs;
    int n_args, args[6], n_aux, aux[2], has_sum;
} mxci_json_conv;
/* Returns 1 and fills in out if the layers are a convolution with what that operator computes after it, each from the
 * one before, and the last is head; 0 if they are anything else; -1 without memory. */
int mxci_json_conv_read(const json_t *layers, int64_t head, mxci_json_conv *out);

#endif
