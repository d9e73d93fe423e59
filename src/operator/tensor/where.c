/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where: out = x where condition is not 0 (a NaN is not), y elsewhere. condition has the shape of x and y, or one axis:
 * their first. It may be of another type and has no gradient.
 */
#include <string.h>

#include "math/tile_kernels.h"
#include "operator/index/rows.h"
#include "operator/tensor/where_kernels.h"

enum { CONDITION, X, Y };

/* x, y and out have one shape; condition has it as well, or its first axis, in which sizes go both ways. */
static mxc_status where_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *condition = &sig->in_shape[CONDITION], *x = &sig->in_shape[X];
    mxc_shape first;
    MXC_TRY(mxci_sig_same_shape(sig, 3, (int[]){X, Y, MXC_SLOT_OUT(0)}));
    if (condition->ndim < 0 || x->ndim < 0)
        return MXC_OK;
    if (condition->ndim == x->ndim)
        return mxci_sig_same_shape(sig, 4, (int[]){CONDITION, X, Y, MXC_SLOT_OUT(0)});
    if (x->ndim == 0)
        return mxc_sig_set_shape(sig, CONDITION, x);
    first = mxci_shape_axes(x->ndim);
    first.dim[0] = condition->ndim == 1 ? condition->dim[0] : -1;
    MXC_TRY(mxc_sig_set_shape(sig, X, &first));
    MXC_TRY(mxci_sig_same_shape(sig, 3, (int[]){X, Y, MXC_SLOT_OUT(0)}));
    first = mxci_shape_of(1, x->dim);
    return mxc_sig_set_shape(sig, CONDITION, &first);
}

static mxc_status where_infer_type(mxc_op_sig *sig) {
    return mxci_sig_same_type(sig, 3, (int[]){X, Y, MXC_SLOT_OUT(0)});
}

/* One result: condition ? yes : no for each element; NULL stands for zeros. */
typedef struct choice {
    const mxc_tensor *condition, *yes, *no, *to;
    mxc_req req;
} choice;

/* kept[k] = condition of element first + k. */
static void read_condition(const choice *c, int64_t first, int64_t n, uint8_t *kept) {
    int64_t inner = mxci_tensor_size(c->to) / mxci_tensor_size(c->condition);
    for (int64_t i = 0, run; i < n; i += run) {
        int64_t index = (first + i) / inner, rest = inner - (first + i) % inner;
        run = inner == 1 ? n : rest < n - i ? rest : n - i;
        mxci_convert(c->condition->dtype, mxci_at(c->condition, index), MXC_BOOL, kept + i, inner == 1 ? n : 1);
        if (inner > 1)
            memset(kept + i, kept[i], (size_t)run);
    }
}

static const void *row_of(const mxc_tensor *from, int64_t i, const void *zeros) {
    return from ? mxci_at(from, i) : zeros;
}

/* Tile by tile: the condition as bytes, the choice among rows of yes and no, the store by the request. */
static void choose_range(void *arg, int64_t begin, int64_t end, int part) {
    static const int64_t zeros[MXCI_TILE];
    const choice *c = arg;
    const size_t size = mxc_dtype_size(c->to->dtype);
    const int store_mode =
        mxci_store_mode(c->req, mxci_tensor_bytes(c->to), c->to->data == (c->yes ? c->yes : c->no)->data);
    uint8_t kept[MXCI_TILE];
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        read_condition(c, i, n, kept);
        mxci_choose(size, n, kept, row_of(c->yes, i, zeros), row_of(c->no, i, zeros), tile);
        mxci_assign_elements(store_mode, c->to->dtype, tile, mxci_at(c->to, i), n);
    }
    mxci_stream_end();
}

static void where_choose(const mxc_run *run, choice c) {
    if (c.req != MXC_REQ_NULL)
        mxc_parallel_for(run, mxci_tensor_size(c.to), MXCI_GRAIN, choose_range, &c);
}

static mxc_status where_forward(const mxc_op_call *call) {
    where_choose(call->run, (choice){&call->in[CONDITION], &call->in[X], &call->in[Y], &call->out[0], call->req[0]});
    return MXC_OK;
}

/* Each of x and y takes the gradient where it was chosen, 0 elsewhere. */
static mxc_status where_backward(const mxc_op_call *call) {
    const mxc_tensor *condition = &call->in[CONDITION], *g = &call->out_grad[0];
    mxci_assign_zero_gradient(call, CONDITION);
    where_choose(call->run, (choice){condition, g, NULL, &call->in_grad[X], call->req[X]});
    where_choose(call->run, (choice){condition, NULL, g, &call->in_grad[Y], call->req[Y]});
    return MXC_OK;
}

const mxc_op_def mxci_op_where = {
    .size = sizeof(mxc_op_def),
    .name = "where",
    .doc = "out = x where condition is not 0, y elsewhere; condition has the shape of x, or only its first axis",
    .args = "condition,x,y",
    .infer_shape = where_infer_shape,
    .infer_type = where_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << CONDITION},
    .forward = {[MXC_CPU] = where_forward},
    .backward = {[MXC_CPU] = where_backward},
};
