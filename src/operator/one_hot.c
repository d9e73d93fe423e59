/*
 * one_hot: out[..., c] = on_value where c is the whole part of the index, off_value elsewhere (everywhere for an index
 * outside 0..depth-1). indices (any shape), out the same with depth behind. The gradient is zero.
 */
#include "operator/common.h"
#include "operator/kernels/convert.h"

typedef struct one_hot_params {
    int64_t depth;
    double on_value, off_value;
    int32_t dtype;
} one_hot_params;

static const mxc_param schema[] = {
    {.name = "depth", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(one_hot_params, depth), .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "size of the new axis"},
    {.name = "on_value", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(one_hot_params, on_value), .initial = "1.0",
     .doc = "at the index"},
    {.name = "off_value", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(one_hot_params, off_value), .initial = "0.0",
     .doc = "elsewhere"},
    {.name = "dtype", .type = MXC_PARAM_DTYPE, MXC_PARAM_FIELD(one_hot_params, dtype), .initial = "float32",
     .doc = "of out"},
    MXC_PARAM_END};

static mxc_status infer_shape(mxc_op_sig *sig) {
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

static mxc_status infer_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const one_hot_params *)sig->params)->dtype);
}

/* Elements first..first+n-1 of out. */
static void fill(const mxc_op_call *call, int64_t first, int64_t n, double *tile) {
    const one_hot_params *p = call->params;
    double index;
    for (int64_t i = 0; i < n; i++)
        tile[i] = p->off_value;
    for (int64_t row = first / p->depth; row * p->depth < first + n; row++) {
        int64_t start = row * p->depth - first; /* of the row, in the tile */
        mxci_convert(call->in[0].dtype, mxci_at(&call->in[0], row), MXC_F64, &index, 1);
        if (index > -1 && index < (double)p->depth && start + (int64_t)index >= 0 && start + (int64_t)index < n)
            tile[start + (int64_t)index] = p->on_value;
    }
}

static void forward_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *out = &call->out[0];
    double wide[MXCI_TILE];
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        fill(call, i, n, wide);
        mxci_convert(MXC_F64, wide, out->dtype, tile, n);
        mxci_put_row(call->req[0], out->dtype, mxci_at(out, i), tile, n);
    }
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, forward_range, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_one_hot = {
    .size = sizeof(mxc_op_def), .name = "one_hot",
    .doc = "out (indices' shape, depth): on_value at each index, off_value elsewhere", .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema, .param_size = sizeof(one_hot_params), .args = "indices", .infer_shape = infer_shape,
    .infer_type = infer_type, .dtypes = MXC_DTYPES_NUMBER, .forward = {[MXC_CPU] = forward}};
