/* SPDX-License-Identifier: Apache-2.0 */
/* _chain: several element-wise functions in one pass; shared by the executor's fusion pass, the operator and the GPU.
 */
#ifndef MXCI_SIMPLEOP_CHAIN_H
#define MXCI_SIMPLEOP_CHAIN_H

#include <mxc/op.h>

enum { MXCI_CHAIN_STEPS = 12, MXCI_CHAIN_INPUTS = 8, MXCI_CHAIN_TEXT = 768 };

/* An operand of a step: an argument, an earlier step's result, or the step's number. */
enum { MXCI_CHAIN_RESULT = MXCI_CHAIN_INPUTS, MXCI_CHAIN_NUMBER = MXCI_CHAIN_INPUTS + MXCI_CHAIN_STEPS };

typedef struct mxci_chain_step {
    int16_t function; /* of unary.def, or MXCI_UNARY_COUNT and of binary.def */
    int8_t a, b;      /* b counts where the function has two */
    double number;
} mxci_chain_step;

typedef struct mxci_chain_params {
    int64_t num_args;
    char text[MXCI_CHAIN_TEXT];
    int32_t n; /* steps, from text */
    mxci_chain_step step[MXCI_CHAIN_STEPS];
} mxci_chain_params;

/* Operands of an element-wise function that a chain may have: 1 or 2; 0: there is no such function. */
int mxci_chain_operands(const char *function);

#endif
