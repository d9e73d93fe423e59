/* SPDX-License-Identifier: Apache-2.0 */
/* What Flatten and its quantized form share. */
#ifndef MXCI_OPERATOR_TENSOR_FLATTEN_H
#define MXCI_OPERATOR_TENSOR_FLATTEN_H

#include <mxc/op.h>

/* Output 0 is argument 0 with all axes behind the first made one. */
mxc_status mxci_flatten_infer(mxc_op_sig *sig);

#endif
