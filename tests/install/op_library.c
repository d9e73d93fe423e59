/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of operators for tests/operator/test_part.c, one per variant: GOOD has the implementation of t_parts on the
 * CPU, OLD was compiled for another version of libmxc, FOREIGN is not a library of operators, FAILING registers a part
 * whose operator does not exist. */
#include <mxc/op.h>

#if !defined(FOREIGN)
static mxc_status add_one(const mxc_op_call *call) {
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        ((float *)call->out[0].data)[i] = ((const float *)call->in[0].data)[i] + 1;
    return MXC_OK;
}

static mxc_status open_library(void) {
    static const mxc_op_part part = {
        .size = sizeof part,
#if defined(FAILING)
        .op = "t_absent",
#else
        .op = "t_parts",
#endif
        .device = MXC_CPU,
        .version = 3,
        .forward = add_one,
    };
    return mxc_op_register_part(&part);
}

#if defined(OLD)
#undef MXC_VERSION_NUMBER
#define MXC_VERSION_NUMBER 1
#endif
MXC_OP_LIBRARY(open_library);
#else
MXC_API int mxc_foreign;
int mxc_foreign = 1;
#endif
