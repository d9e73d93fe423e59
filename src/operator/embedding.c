/*
 * Embedding: out[i] = weight[data[i]] for each element i of data, whose whole part is a row of weight, cut to
 * 0..input_dim-1. data (any shape), weight (input_dim, output_dim), out data's shape with output_dim behind. data may
 * be of another type than weight and has no gradient; weight's is the sum of out's rows that each of its rows was used
 * for.
 */
#include "operator/common.h"
#include "operator/kernels/convert.h"

typedef struct embedding_params {
    int64_t input_dim, output_dim;
    int32_t dtype;
} embedding_params;

enum { DATA, WEIGHT };

static const mxc_param schema[] = {
    {.name = "input_dim", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(embedding_params, input_dim), .bounded = 1,
     .minimum = 1, .maximum = 9e15, .doc = "rows of weight"},
    {.name = "output_dim", .type = MXC_PARAM_INT, MXC_PARAM_FIELD(embedding_params, output_dim), .bounded = 1,
     .minimum = 1, .maximum = 9e15, .doc = "columns of weight"},
    {.name = "dtype", .type = MXC_PARAM_DTYPE, MXC_PARAM_FIELD(embedding_params, dtype), .initial = "float32",
     .doc = "of weight and out"},
    MXC_PARAM_END};

static mxc_status check_params(void *params) {
    mxc_dtype dtype = (mxc_dtype)((const embedding_params *)params)->dtype;
    if (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "Embedding: dtype is %s, expected a float dtype", mxc_dtype_name(dtype));
}

static mxc_status infer_shape(mxc_op_sig *sig) {
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

static mxc_status infer_type(mxc_op_sig *sig) {
    mxc_dtype dtype = (mxc_dtype)((const embedding_params *)sig->params)->dtype;
    if (sig->in_type[DATA] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, DATA, dtype));
    MXC_TRY(mxc_sig_set_type(sig, WEIGHT, dtype));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), dtype);
}

/* Rows that n <= MXCI_TILE elements of data name, from the first one on. */
static void read_rows(const mxc_tensor *data, int64_t first, int64_t n, int64_t rows, int64_t *out) {
    double index[MXCI_TILE];
    mxci_convert(data->dtype, mxci_at(data, first), MXC_F64, index, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = index[i] >= (double)rows ? rows - 1 : index[i] > 0 ? (int64_t)index[i] : 0;
}

/* Elements begin..end-1 of data. */
static void forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const embedding_params *p = call->params;
    int64_t row[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        read_rows(&call->in[DATA], i, n, p->input_dim, row);
        for (int64_t k = 0; k < n; k++)
            mxci_put_row(call->req[0], call->out[0].dtype, mxci_at(&call->out[0], (i + k) * p->output_dim),
                         mxci_at(&call->in[WEIGHT], row[k] * p->output_dim), p->output_dim);
    }
}

static mxc_status forward(const mxc_op_call *call) {
    int64_t columns = ((const embedding_params *)call->params)->output_dim;
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[DATA]), MXCI_GRAIN / columns + 1, forward_part,
                         (void *)call);
    return MXC_OK;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Sums of the 16-bit types are made in f32 scratch. */
static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxc_dtype dtype = sig->in_type[WEIGHT];
    return pass == MXC_FORWARD || mxci_compute_type(dtype) == dtype
               ? 0
               : (size_t)mxc_shape_size(&sig->in_shape[WEIGHT]) * sizeof(float);
}

typedef struct gradient_run {
    const mxc_op_call *call;
    const mxc_tensor *sums; /* weight's shape, in the compute type */
} gradient_run;

/* Columns begin..end-1 of all rows: parts do not meet, and the order of additions is that of data. */
static void gradient_part(void *arg, int64_t begin, int64_t end, int part) {
    const gradient_run *r = arg;
    const mxc_tensor *data = &r->call->in[DATA], *g = &r->call->out_grad[0];
    const embedding_params *p = r->call->params;
    int64_t row[MXCI_TILE], n;
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    for (int64_t i = 0; i < mxci_tensor_size(data); i += n) {
        n = mxci_tensor_size(data) - i < MXCI_TILE ? mxci_tensor_size(data) - i : MXCI_TILE;
        read_rows(data, i, n, p->input_dim, row);
        for (int64_t k = 0; k < n; k++)
            for (int64_t c = begin; c < end; c += MXCI_TILE) {
                int64_t width = end - c < MXCI_TILE ? end - c : MXCI_TILE;
                mxci_load(g->dtype, mxci_at(g, (i + k) * p->output_dim + c), tile, width);
                mxci_add_row(r->sums->dtype, mxci_at(r->sums, row[k] * p->output_dim + c), tile, width);
            }
    }
}

static mxc_status backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[WEIGHT];
    mxc_tensor sums = *grad;
    gradient_run r = {call, &sums};
    int64_t n = mxci_tensor_size(&call->in[DATA]), columns = ((const embedding_params *)call->params)->output_dim;
    if (call->req[DATA] == MXC_REQ_WRITE || call->req[DATA] == MXC_REQ_INPLACE)
        mxci_put_constant(call->run, MXC_REQ_WRITE, &call->in_grad[DATA], 0);
    if (call->req[WEIGHT] == MXC_REQ_NULL)
        return MXC_OK;
    sums.dtype = mxci_compute_type(grad->dtype);
    sums.data = call->temp ? call->temp : grad->data;
    if (call->temp || call->req[WEIGHT] != MXC_REQ_ADD)
        mxci_put_constant(call->run, MXC_REQ_WRITE, &sums, 0);
    mxc_parallel_for(call->run, columns, MXCI_GRAIN / (n + 1) + 1, gradient_part, &r);
    if (call->temp)
        mxci_put_cast(call->run, call->req[WEIGHT], grad, &sums);
    return MXC_OK;
}

const mxc_op_def mxci_op_embedding = {
    .size = sizeof(mxc_op_def), .name = "Embedding",
    .doc = "out (data's shape, output_dim): for each element of data that row of weight (input_dim, output_dim)",
    .params = schema, .param_size = sizeof(embedding_params), .params_check = check_params, .args = "data,weight",
    .infer_shape = infer_shape, .infer_type = infer_type, .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1, .in = 1 << DATA}, .temp_bytes = temp_bytes, .forward = {[MXC_CPU] = forward},
    .backward = {[MXC_CPU] = backward}};
