/* _chain: several element-wise functions in one pass. What the executor's pass, the operator and the GPU share. */
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

/* How an operator is a step: 1 and its function's name, arguments, and the number (of a scalar operator, which stands
 * behind or before the argument); 0: it cannot be one. */
typedef struct mxci_chain_part {
    const char *function;
    int n_args;
    int has_number, is_number_first;
    double number;
} mxci_chain_part;
int mxci_chain_part_of(const mxc_op *op, mxci_chain_part *out);
/* Whether it is of the families of unary.def and binary_names.def, though a chain may not have its function. */
int mxci_chain_is_elementwise(const mxc_op *op);

#endif
