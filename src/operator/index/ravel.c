/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions in an array of a given shape (d_0,...,d_{M-1}), and the numbers of its elements in C order:
 *   _ravel_multi_index  data (M,Y...), out (Y...) = (data_0 d_1 + data_1) d_2 + ...
 *   _unravel_index      data (Y...), out (M,Y...): the reverse
 * d_0 is not used, and may be -1. Nothing is read at the positions, so they are not checked. Numbers are computed in
 * int64 and converted from and to data's dtype.
 */
#include "operator/index/ravel.h"

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_ravel_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = -1,
     .maximum = 9e15, .doc = "Shape of the array. The first axis may be -1."},
    MXC_PARAM_END,
};

static mxc_status check_ravel(void *params, const char *op) {
    const mxc_tuple *shape = &((const mxci_ravel_params *)params)->shape;
    if (shape->n == 0)
        return MXC_FAIL(MXC_EINVAL, "%s: shape is (), expected at least one axis", op);
    for (int i = 1; i < shape->n; i++)
        if (shape->value[i] < 1)
            return MXC_FAIL(MXC_EINVAL, "%s: axis %d of shape is %lld, expected at least 1", op, i,
                            (long long)shape->value[i]);
    return MXC_OK;
}

static mxc_status ravel_check(void *params) {
    return check_ravel(params, "_ravel_multi_index");
}

static mxc_status unravel_check(void *params) {
    return check_ravel(params, "_unravel_index");
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Numbers (Y...) in one slot, positions (M,Y...) in the other. */
static mxc_status infer_positions(mxc_op_sig *sig, int numbers, int positions) {
    const mxc_shape *number = mxci_sig_shape(sig, numbers), *position = mxci_sig_shape(sig, positions);
    const int ndim = position->ndim >= 0 ? position->ndim : number->ndim + 1;
    mxc_shape shape;
    if (position->ndim < 0 && number->ndim < 0)
        return MXC_OK;
    if (ndim < 1 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "the positions have %d axes, expected 1 to %d", ndim, MXC_MAX_NDIM);
    shape = mxci_shape_axes(ndim);
    shape.dim[0] = ((const mxci_ravel_params *)sig->params)->shape.n;
    for (int i = 1; i < ndim && number->ndim == ndim - 1; i++)
        shape.dim[i] = number->dim[i - 1];
    MXC_TRY(mxc_sig_set_shape(sig, positions, &shape));
    shape = mxci_shape_axes(ndim - 1);
    for (int i = 1; i < ndim; i++)
        shape.dim[i - 1] = position->dim[i];
    return mxc_sig_set_shape(sig, numbers, &shape);
}

static mxc_status ravel_infer_shape(mxc_op_sig *sig) {
    return infer_positions(sig, MXC_SLOT_OUT(0), 0);
}

static mxc_status unravel_infer_shape(mxc_op_sig *sig) {
    return infer_positions(sig, 0, MXC_SLOT_OUT(0));
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* n <= MXCI_TILE elements of an array from element first on, as int64; and the reverse, as the request says. */
static void load_indices(const mxc_tensor *from, int64_t first, int64_t n, int64_t *to) {
    mxci_convert(from->dtype, mxci_at(from, first), MXC_I64, to, n);
}

static void put_indices(const mxc_op_call *call, int64_t first, int64_t n, const int64_t *from) {
    const mxc_tensor *out = &call->out[0];
    mxci_assign_cast_row(call->req[0], MXC_I64, from, out->dtype, mxci_at(out, first), n);
}

/* Horner's rule on n columns. */
static void ravel_tile(const mxc_op_call *call, int64_t first, int64_t n) {
    const mxc_tuple *shape = &((const mxci_ravel_params *)call->params)->shape;
    const int64_t size = mxci_tensor_size(&call->out[0]);
    int64_t numbers[MXCI_TILE], position[MXCI_TILE];
    load_indices(&call->in[0], first, n, numbers);
    for (int i = 1; i < shape->n; i++) {
        load_indices(&call->in[0], i * size + first, n, position);
        for (int64_t k = 0; k < n; k++)
            numbers[k] = mxci_ravel_step(numbers[k], shape->value[i], position[k]);
    }
    put_indices(call, first, n, numbers);
}

static void unravel_tile(const mxc_op_call *call, int64_t first, int64_t n) {
    const mxc_tuple *shape = &((const mxci_ravel_params *)call->params)->shape;
    const int64_t size = mxci_tensor_size(&call->in[0]);
    int64_t numbers[MXCI_TILE], position[MXCI_TILE];
    load_indices(&call->in[0], first, n, numbers);
    for (int i = shape->n - 1; i > 0; i--) {
        for (int64_t k = 0; k < n; k++) {
            position[k] = numbers[k] % shape->value[i];
            numbers[k] /= shape->value[i];
        }
        put_indices(call, i * size + first, n, position);
    }
    put_indices(call, first, n, numbers);
}

static void ravel_range(void *arg, int64_t begin, int64_t end, int part) {
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE)
        ravel_tile(arg, i, end - i < MXCI_TILE ? end - i : MXCI_TILE);
}

static void unravel_range(void *arg, int64_t begin, int64_t end, int part) {
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE)
        unravel_tile(arg, i, end - i < MXCI_TILE ? end - i : MXCI_TILE);
}

static mxc_status ravel_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN / 4, ravel_range, (void *)call);
    return MXC_OK;
}

static mxc_status unravel_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN / 16, unravel_range, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_ravel_multi_index = {
    .size = sizeof(mxc_op_def),
    .name = "_ravel_multi_index",
    .aliases = "ravel_multi_index",
    .doc =
        "The numbers, in C order, of elements of an array of a given shape: data (M,Y...) has a row of positions for "
        "each of its M axes, out (Y...)",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(mxci_ravel_params),
    .params_check = ravel_check,
    .infer_shape = ravel_infer_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .forward = {[MXC_CPU] = ravel_forward},
};

const mxc_op_def mxci_op_unravel_index = {
    .size = sizeof(mxc_op_def),
    .name = "_unravel_index",
    .aliases = "unravel_index",
    .doc = "The positions of elements of an array of a given shape from their numbers in C order: data (Y...), "
           "out (M,Y...) with a row for each of the M axes",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(mxci_ravel_params),
    .params_check = unravel_check,
    .infer_shape = unravel_infer_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .forward = {[MXC_CPU] = unravel_forward},
};
