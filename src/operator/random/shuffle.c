/* SPDX-License-Identifier: Apache-2.0 */
/* _shuffle: the rows of an array, its elements along axis 0, in a random order. Any order is equally likely. */
#include "operator/random/shuffle.h"

#include <string.h>

#include "math/assign.h"
#include "operator/infer.h"

static uint64_t count_shuffle(const mxc_op_sig *sig) {
    return (uint64_t)mxci_shuffle_rows(&sig->in_shape[0]);
}

/* Scratch: the order. */
static size_t shuffle_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_size_of(mxci_shuffle_rows(&sig->in_shape[0]), sizeof(int64_t));
}

static void move_rows(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const int64_t *order = call->temp, width = mxci_tensor_size(&call->in[0]) / mxci_shuffle_rows(&call->in[0].shape);
    (void)part;
    for (int64_t i = begin; i < end; i++)
        mxci_assign_row(call->req[0], call->in[0].dtype, mxci_at(&call->out[0], i * width),
                        mxci_at(&call->in[0], order[i] * width), width);
}

static mxc_status shuffle(const mxc_op_call *call) {
    const int64_t n = mxci_shuffle_rows(&call->in[0].shape), size = mxci_tensor_size(&call->in[0]);
    if (call->req[0] == MXC_REQ_NULL || size == 0)
        return MXC_OK;
    mxci_shuffle_order(call->random, n, call->temp);
    mxc_parallel_for(call->run, n, MXCI_GRAIN / 4 / (size / n) + 1, move_rows, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_shuffle = {
    .size = sizeof(mxc_op_def),
    .name = "_shuffle",
    .aliases = "shuffle,_npi_shuffle",
    .doc = "The elements of data along axis 0 in a random order",
    .dtypes = MXC_DTYPES_ALL,
    .random_count = count_shuffle,
    .temp_bytes = shuffle_bytes,
    .forward = {[MXC_CPU] = shuffle},
};
