/* SPDX-License-Identifier: Apache-2.0 */
/* Custom: a name by which symbols and files mean an operator of the program. mxc_op_create (op.c) finds the one that is
 * meant, so that nothing here ever runs. */
#include "base/check.h"
#include "operator/op.h"

typedef struct custom_params {
    char op_type[128];
} custom_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(custom_params, op_type), .name = "op_type", .type = MXC_PARAM_STRING,
     .doc = "Name under which the program registered the operator. All other parameters are passed to it."},
    MXC_PARAM_END,
};

static mxc_status custom_forward(const mxc_op_call *call) {
    (void)call;
    MXCI_ASSERT(!"Custom itself was made");
    return MXC_EUNSUPPORTED;
}

const mxc_op_def mxci_op_custom = {
    .size = sizeof(mxc_op_def),
    .name = "Custom",
    .doc = "Calls the operator named by op_type, which the program registered with callbacks (MXC_OP_CALLBACK).",
    .params = schema,
    .param_size = sizeof(custom_params),
    .dtypes = MXC_DTYPES_ALL,
    .forward = {[MXC_CPU] = custom_forward},
};
