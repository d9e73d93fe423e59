/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embedding: out[i] = weight[data[i]] for each element i of data, whose whole part is a row of weight; numbers outside
 * stand for the nearest row, as in MXNet. data (any shape), weight (input_dim, output_dim), out data's
 * shape with output_dim behind. data may be of another type than weight and has no gradient; weight's is the sum of
 * out's rows that each of its rows was used for.
 */
#include "operator/nn/embedding.h"

#include "operator/index/rows.h"

typedef mxci_embedding_params embedding_params;

enum { DATA, WEIGHT };

const mxc_param mxci_embedding_schema[] = {
    {MXC_PARAM_FIELD(embedding_params, input_dim), .name = "input_dim", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 9e15, .doc = "Number of rows of weight, the size of the vocabulary."},
    {MXC_PARAM_FIELD(embedding_params, output_dim), .name = "output_dim", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 9e15, .doc = "Number of columns of weight, the size of a vector."},
    {MXC_PARAM_FIELD(embedding_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "float32",
     .doc = "Dtype of weight and out where weight is not given: it has that of the array that is."},
    {MXC_PARAM_FIELD(embedding_params, sparse_grad), .name = "sparse_grad", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Accepted for compatibility with MXNet; has no effect, the gradient of weight is dense."},
    MXC_PARAM_END,
};

static mxc_status embedding_check_params(void *params) {
    mxc_dtype dtype = (mxc_dtype)((const embedding_params *)params)->dtype;
    if (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "Embedding: dtype is %s, expected a float dtype", mxc_dtype_name(dtype));
}

/* out has data's shape with output_dim appended; data's shape follows from out's too. */
mxc_status mxci_embedding_infer(mxc_op_sig *sig) {
    const embedding_params *p = sig->params;
    mxc_shape weight = mxci_shape_of(2, (int64_t[]){p->input_dim, p->output_dim}), *data = &sig->in_shape[DATA], out;
    int ndim = data->ndim >= 0 ? data->ndim + 1 : sig->out_shape[0].ndim;
    MXC_TRY(mxc_sig_set_shape(sig, WEIGHT, &weight));
    if (ndim < 0)
        return MXC_OK;
    if (ndim < 1 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "out would have %d axes, expected 1 to %d", ndim, MXC_MAX_NDIM);
    out = mxci_shape_axes(ndim);
    out.dim[ndim - 1] = p->output_dim;
    for (int i = 0; i < ndim - 1; i++)
        out.dim[i] = data->ndim >= 0 ? data->dim[i] : -1;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    out = sig->out_shape[0];
    out.ndim--;
    return mxc_sig_set_shape(sig, DATA, &out);
}

/* The type of weight decides if it is a float's, else the parameter, with which others are in conflict. */
static mxc_status embedding_infer_type(mxc_op_sig *sig) {
    mxc_dtype dtype = sig->in_type[WEIGHT];
    if (dtype == MXC_DTYPE_UNKNOWN || !(MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype)))
        dtype = (mxc_dtype)((const embedding_params *)sig->params)->dtype;
    if (sig->in_type[DATA] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, DATA, dtype));
    MXC_TRY(mxc_sig_set_type(sig, WEIGHT, dtype));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), dtype);
}

static mxci_rows embedding_rows_of(const mxc_op_call *call) {
    return mxci_rows_along(&call->in[WEIGHT].shape, 0, &call->in[DATA], MXCI_INDEX_CLIP);
}

static mxc_status embedding_forward(const mxc_op_call *call) {
    mxci_rows rows = embedding_rows_of(call);
    mxci_rows_take(call->run, call->req[0], &call->out[0], &rows, &call->in[WEIGHT]);
    return MXC_OK;
}

static size_t embedding_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_BACKWARD ? mxci_rows_temp(&sig->in_shape[WEIGHT], sig->in_type[WEIGHT]) : 0;
}

static mxc_status embedding_backward(const mxc_op_call *call) {
    mxci_rows rows = embedding_rows_of(call);
    mxci_assign_zero_gradient(call, DATA);
    mxci_rows_add(call->run, call->req[WEIGHT], &call->in_grad[WEIGHT], &rows, &call->out_grad[0], call->temp);
    return MXC_OK;
}

const mxc_op_def mxci_op_embedding = {
    .size = sizeof(mxc_op_def),
    .name = "Embedding",
    .doc = "out (shape of data, output_dim) = the row of weight (input_dim, output_dim) that each element of data "
           "selects; "
           "elements outside of the rows select the nearest one",
    .params = mxci_embedding_schema,
    .param_size = sizeof(embedding_params),
    .params_check = embedding_check_params,
    .args = "data,weight",
    .infer_shape = mxci_embedding_infer,
    .infer_type = embedding_infer_type,
    .precision = MXC_PRECISION_F32, /* of the type that the parameter says, not of what follows */
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1, .in = 1 << DATA},
    .temp_bytes = embedding_temp_bytes,
    .forward = {[MXC_CPU] = embedding_forward},
    .backward = {[MXC_CPU] = embedding_backward},
};
