/* SPDX-License-Identifier: Apache-2.0 */
/* What Concat, its quantized form and stack share. */
#ifndef MXCI_OPERATOR_TENSOR_CONCAT_H
#define MXCI_OPERATOR_TENSOR_CONCAT_H

#include "math/assign.h"
#include "operator/infer.h"

typedef struct mxci_concat_params {
    int64_t num_args, dim;
} mxci_concat_params;

/* Of all arguments and output 0; the parameters begin with the above. */
mxc_status mxci_concat_infer(mxc_op_sig *sig);

#endif
