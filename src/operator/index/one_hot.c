/* SPDX-License-Identifier: Apache-2.0 */
/* one_hot: out[..., c] = on_value where c is the integer part of the index, off_value elsewhere (everywhere for an
 * index outside 0..depth-1). indices (any shape), out the same with depth as last axis. _onehot_encode: the same with 1
 * and 0, as many columns as its second argument has. Gradients are zero. */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/index/indexing.h"
#include "operator/index/rows.h"
#include "operator/infer.h"

typedef mxci_one_hot_params one_hot_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(one_hot_params, depth), .name = "depth", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "Size of the new last axis, the number of classes."},
    {MXC_PARAM_FIELD(one_hot_params, on_value), .name = "on_value", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .initial = "1.0", .doc = "Value at the index."},
    {MXC_PARAM_FIELD(one_hot_params, off_value), .name = "off_value", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .initial = "0.0", .doc = "Value at all other positions."},
    {MXC_PARAM_FIELD(one_hot_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of out."},
    MXC_PARAM_END,
};

static mxc_status one_hot_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *indices = &sig->in_shape[0];
    int ndim = indices->ndim >= 0 ? indices->ndim + 1 : sig->out_shape[0].ndim;
    mxc_shape out;
    if (ndim < 0)
        return MXC_OK;
    if (ndim < 1 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "out would have %d axes, expected 1 to %d", ndim, MXC_MAX_NDIM);
    out = mxci_shape_axes(ndim);
    for (int i = 0; i < ndim - 1 && indices->ndim >= 0; i++)
        out.dim[i] = indices->dim[i];
    out.dim[ndim - 1] = ((const one_hot_params *)sig->params)->depth;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    out = sig->out_shape[0];
    out.ndim--;
    return mxc_sig_set_shape(sig, 0, &out);
}

static mxc_status one_hot_infer_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const one_hot_params *)sig->params)->dtype);
}

/* tile = elements first..first+n-1 of out, which may begin and end within a row. */
static void fill_tile(const one_hot_params *p, const mxc_tensor *indices, int64_t first, int64_t n, double *tile) {
    double index;
    for (int64_t i = 0; i < n; i++)
        tile[i] = p->off_value;
    for (int64_t row = first / p->depth; row * p->depth < first + n; row++) {
        int64_t start = row * p->depth - first; /* of the row, in the tile */
        mxci_convert(indices->dtype, mxci_at(indices, row), MXC_F64, &index, 1);
        if (index > -1 && index < (double)p->depth && start + (int64_t)index >= 0 && start + (int64_t)index < n)
            tile[start + (int64_t)index] = p->on_value;
    }
}

typedef struct encode_run {
    const mxc_op_call *call;
    const one_hot_params *params;
} encode_run;

static void encode_range(void *arg, int64_t begin, int64_t end, int part) {
    const encode_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    double wide[MXCI_TILE];
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        fill_tile(r->params, &r->call->in[0], i, n, wide);
        mxci_convert(MXC_F64, wide, out->dtype, tile, n);
        mxci_assign_row(r->call->req[0], out->dtype, mxci_at(out, i), tile, n);
    }
}

static mxc_status encode(const mxc_op_call *call, const one_hot_params *p) {
    encode_run r = {call, p};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, encode_range, &r);
    return MXC_OK;
}

static mxc_status one_hot_forward(const mxc_op_call *call) {
    return encode(call, call->params);
}

static mxc_status one_hot_check_values(const mxc_op_call *call) {
    return mxci_check_labels(call, 0, ((const one_hot_params *)call->params)->depth, NULL);
}

const mxc_op_def mxci_op_one_hot = {
    .size = sizeof(mxc_op_def),
    .name = "one_hot",
    .doc = "out (shape of indices, depth) = on_value at each index, off_value elsewhere; an index outside of [0, "
           "depth) gives off_value everywhere",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(one_hot_params),
    .args = "indices",
    .infer_shape = one_hot_infer_shape,
    .infer_type = one_hot_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .check_values = one_hot_check_values,
    .forward = {[MXC_CPU] = one_hot_forward},
};

/* ---- _onehot_encode ---------------------------------------------------------------------------------------------- */

enum { LHS, RHS };

static mxc_status infer_encode_shape(mxc_op_sig *sig) {
    mxc_shape rows = mxci_shape_axes(1), matrix = mxci_shape_axes(2);
    MXC_TRY(mxc_sig_set_shape(sig, LHS, &rows));
    matrix.dim[0] = sig->in_shape[LHS].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, RHS, &matrix));
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){RHS, MXC_SLOT_OUT(0)}));
    rows.dim[0] = sig->in_shape[RHS].dim[0];
    return mxc_sig_set_shape(sig, LHS, &rows);
}

static mxc_status infer_encode_type(mxc_op_sig *sig) {
    if (sig->in_type[RHS] == MXC_DTYPE_UNKNOWN && sig->out_type[0] == MXC_DTYPE_UNKNOWN)
        sig->in_type[RHS] = sig->in_type[LHS];
    return mxci_sig_same_type(sig, 2, (int[]){RHS, MXC_SLOT_OUT(0)});
}

static mxc_status encode_forward(const mxc_op_call *call) {
    one_hot_params p = {.depth = call->out[0].shape.dim[1], .on_value = 1};
    return encode(call, &p);
}

const mxc_op_def mxci_op_onehot_encode = {
    .size = sizeof(mxc_op_def),
    .name = "_onehot_encode",
    .doc = "out[i,j] = 1 where j = lhs[i], else 0; lhs (N), rhs (N,K), of which only the shape is used",
    .flags = MXC_OP_ZERO_GRADIENT | MXC_OP_ARRAY_ONLY,
    .args = "lhs,rhs",
    .infer_shape = infer_encode_shape,
    .infer_type = infer_encode_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(RHS), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = encode_forward},
};
