/* SPDX-License-Identifier: Apache-2.0 */
/* What FullyConnected and its quantized form share: parameters and shapes. Their slots begin with data, weight, bias
 * and output. */
#ifndef MXCI_OPERATOR_NN_FULLY_CONNECTED_H
#define MXCI_OPERATOR_NN_FULLY_CONNECTED_H

#include "math/assign.h"
#include "operator/infer.h"

typedef struct mxci_fc_params {
    int64_t num_hidden;
    int32_t no_bias, flatten;
} mxci_fc_params;

extern const mxc_param mxci_fc_schema[];

mxc_status mxci_fc_infer(mxc_op_sig *sig);

#endif
