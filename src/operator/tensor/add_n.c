/* SPDX-License-Identifier: Apache-2.0 */
/* add_n: the sum of any number of arrays of one shape. Tiles are summed in the compute type and rounded once. */
#include <mxc/op.h>

#include "math/assign.h"
#include "math/tile_kernels.h"

typedef struct add_n_params {
    int64_t num_args;
} add_n_params;

static const mxc_param add_n_schema[] = {
    {MXC_PARAM_FIELD(add_n_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 65536, .doc = "Number of arguments."},
    MXC_PARAM_END,
};

/* The first argument may share memory with the output, which is written only after its tile is read. */
static void sum_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_dtype type = call->out[0].dtype, compute = mxci_compute_type(type);
    const int store_mode =
        mxci_store_mode(call->req[0], mxci_tensor_bytes(&call->out[0]), call->out[0].data == call->in[0].data);
    double sum[MXCI_TILE], item[MXCI_TILE]; /* of the compute type, which is no wider */
    (void)part;
    for (int64_t at = begin, n; at < end; at += n) {
        n = mxci_tile_at(at, end);
        mxci_load(type, mxci_at(&call->in[0], at), sum, n);
        for (int i = 1; i < call->n_in; i++) {
            mxci_load(type, mxci_at(&call->in[i], at), item, n);
            mxci_add_row(compute, sum, item, n);
        }
        mxci_assign_tile(store_mode, type, sum, mxci_at(&call->out[0], at), n);
    }
    mxci_stream_end();
}

static mxc_status add_n_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, sum_part, (void *)call);
    return MXC_OK;
}

static mxc_status add_n_backward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in; i++)
        mxci_assign(call->run, call->req[i], &call->in_grad[i], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_add_n = {
    .size = sizeof(mxc_op_def),
    .name = "add_n",
    .flags = MXC_OP_ELEMENTWISE,
    .aliases = "ElementWiseSum",
    .doc = "output = sum of the arguments, all of one shape",
    .params = add_n_schema,
    .param_size = sizeof(add_n_params),
    .variadic = "num_args",
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = add_n_forward},
    .backward = {[MXC_CPU] = add_n_backward},
};
