/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softmax: out = e^z / sum of e^z along an axis, z = data / temperature; log_softmax: the logarithm of that; softmin:
 * the same of z = -data / temperature. The largest z is subtracted first, so that nothing overflows. With use_length
 * only the first length elements of each row take part, and the others of out are 0; length has data's shape without
 * the axis, it is rounded towards 0 and cut to 0..the axis, and it has no gradient. dtype is out's, data is converted
 * first.
 */
#include "operator/nn/softmax.h"

#include <math.h>

#include "operator/index/rows.h"
#include "operator/op.h"

enum { DATA, LENGTH };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_softmax_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Axis along which the results sum to 1. Negative values count from the end."},
    {MXC_PARAM_FIELD(mxci_softmax_params, temperature), .name = "temperature", .type = MXC_PARAM_FLOAT,
     .initial = "None", .optional = 1, .bounded = 1, .minimum = 1e-30, .maximum = 1e30,
     .doc = "Divisor of data. None: 1."},
    {MXC_PARAM_FIELD(mxci_softmax_params, use_length), .name = "use_length", .type = MXC_PARAM_BOOL, .initial = "false",
     .optional = 1, .doc = "Use the argument length, the number of elements along axis that count; the others give 0."},
    {MXC_PARAM_FIELD(mxci_softmax_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of out. None: that of data."},
    MXC_PARAM_END,
};

static mxc_status softmax_check_params(void *params) {
    mxc_dtype dtype = (mxc_dtype)((const mxci_softmax_params *)params)->dtype;
    if (dtype == MXC_DTYPE_UNKNOWN || (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(dtype)))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "softmax: dtype is %s, expected a float dtype", mxc_dtype_name(dtype));
}

static int has_length(const void *params) {
    return ((const mxci_softmax_params *)params)->use_length == 1; /* None is -1 */
}

static int softmax_count_args(const void *params) {
    return 1 + has_length(params);
}

static mxc_status softmax_infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {DATA, MXC_SLOT_OUT(0)};
    const mxc_shape *data = &sig->in_shape[DATA];
    mxc_shape length;
    int axis;
    MXC_TRY(mxci_sig_same_shape(sig, 2, slots));
    if (data->ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, ((const mxci_softmax_params *)sig->params)->axis, data->ndim, &axis));
    if (!has_length(sig->params))
        return MXC_OK;
    length = mxci_shape_axes(data->ndim - 1);
    for (int i = 0; i < length.ndim; i++)
        length.dim[i] = data->dim[i < axis ? i : i + 1];
    return mxc_sig_set_shape(sig, LENGTH, &length);
}

static mxc_status softmax_infer_type(mxc_op_sig *sig) {
    static const int slots[] = {DATA, MXC_SLOT_OUT(0)};
    mxc_dtype dtype = (mxc_dtype)((const mxci_softmax_params *)sig->params)->dtype;
    if (has_length(sig->params) && sig->in_type[LENGTH] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, LENGTH, MXC_I32));
    return dtype == MXC_DTYPE_UNKNOWN ? mxci_sig_same_type(sig, 2, slots)
                                      : mxc_sig_set_type(sig, MXC_SLOT_OUT(0), dtype);
}

/* ---- scratch: lengths, then data or its gradient in out's dtype where that is another ---------------------------- */

/* Rows along the axis: outer x inner. */
static int64_t count_rows(const mxci_softmax_params *p, const mxc_shape *data) {
    int axis = (int)(p->axis < 0 ? p->axis + data->ndim : p->axis);
    return mxci_shape_count(data, 0, axis) * mxci_shape_count(data, axis + 1, data->ndim);
}

static size_t length_bytes(const mxci_softmax_params *p, const mxc_shape *data) {
    return has_length(p) ? mxci_size_align(mxci_size_of(count_rows(p, data), sizeof(int64_t))) : 0;
}

static size_t softmax_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    size_t copy = mxci_shape_bytes(data, mxc_dtype_size(sig->out_type[0]));
    (void)pass;
    return mxci_size_add(length_bytes(sig->params, data), sig->in_type[DATA] == sig->out_type[0] ? 0 : copy);
}

/* ---- both passes ------------------------------------------------------------------------------------------------- */

static void softmax_run_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_softmax_pass *r = arg;
    (void)part;
    if (r->backward)
        r->backward(&r->shape, r->add, r->from, r->y, r->to, begin, end);
    else
        r->forward(&r->shape, r->add, r->from, r->to, begin, end);
}

/* Outer indices are split over the threads; a row is never cut, so that results do not depend on their number. */
void mxci_softmax_run(const mxc_run *run, const mxc_shape *data, int64_t axis, mxci_softmax_pass *pass) {
    int at = (int)(axis < 0 ? axis + data->ndim : axis);
    pass->shape.k = data->dim[at];
    pass->shape.inner = mxci_shape_count(data, at + 1, data->ndim);
    mxc_parallel_for_dynamic(run, mxci_shape_count(data, 0, at),
                             MXCI_GRAIN / 4 / (pass->shape.k * pass->shape.inner) + 1, softmax_run_part, pass);
}

/* sign: of z in data. */
static void softmax_run(const mxc_op_call *call, mxci_softmax_pass *r, double sign) {
    const mxci_softmax_params *p = call->params;
    const mxc_tensor *data = &call->in[DATA];
    int axis = (int)(p->axis < 0 ? p->axis + data->shape.ndim : p->axis);
    int64_t *lengths = call->temp;
    r->shape.scale = isnan(p->temperature) ? sign : sign / p->temperature;
    if (mxci_tensor_size(data) == 0)
        return;
    if (has_length(p)) {
        mxci_read_indices(&call->in[LENGTH], 0, count_rows(p, &data->shape), data->shape.dim[axis] + 1, MXCI_INDEX_CLIP,
                          lengths);
        r->shape.length = lengths;
    }
    mxci_softmax_run(call->run, &data->shape, axis, r);
}

/* The copy of data or its gradient in out's dtype. */
static mxc_tensor copy_of(const mxc_op_call *call) {
    return (mxc_tensor){.data = (char *)call->temp + length_bytes(call->params, &call->in[DATA].shape),
                        .shape = call->in[DATA].shape,
                        .dtype = call->out[0].dtype};
}

static mxc_status softmax_run_forward(const mxc_op_call *call, const mxci_softmax_forward_fn *fn, double sign) {
    mxc_tensor data = call->in[DATA];
    mxci_softmax_pass r = {
        .add = call->req[0] == MXC_REQ_ADD,
        .to = call->out[0].data,
        .forward = fn[call->out[0].dtype],
    };
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (data.dtype != call->out[0].dtype) {
        data = copy_of(call);
        mxci_assign_cast(call->run, MXC_REQ_WRITE, &data, &call->in[DATA]);
    }
    r.from = data.data;
    softmax_run(call, &r, sign);
    return MXC_OK;
}

static mxc_status softmax_run_backward(const mxc_op_call *call, const mxci_softmax_backward_fn *fn, double sign) {
    mxc_tensor copy = copy_of(call);
    int same = call->in[DATA].dtype == copy.dtype;
    mxci_softmax_pass r = {
        .add = same && call->req[DATA] == MXC_REQ_ADD,
        .from = call->out_grad[0].data,
        .y = call->out[0].data,
        .to = same ? call->in_grad[DATA].data : copy.data,
        .backward = fn[copy.dtype],
    };
    if (has_length(call->params))
        mxci_assign_zero_gradient(call, LENGTH);
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    softmax_run(call, &r, sign);
    if (!same)
        mxci_assign_cast(call->run, call->req[DATA], &call->in_grad[DATA], &copy);
    return MXC_OK;
}

static void softmax_adjust_needs(const void *params, mxc_op_needs *needs) {
    needs->in = has_length(params) ? 1 << LENGTH : 0;
}

static int softmax_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    const mxci_softmax_params *p = mxc_op_params(op);
    return !has_length(p) && mxci_axis_channels_last("axis", p->axis, ndim, out);
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

static const mxc_inplace in_to_out[] = {{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END};
static const mxc_inplace grad_to_grad[] = {{MXC_FROM_OUT_GRAD(0), DATA}, MXC_INPLACE_END};

#define SOFTMAX_DEF                                                                                               \
    .size = sizeof(mxc_op_def), .params = schema, .param_size = sizeof(mxci_softmax_params),                      \
    .params_check = softmax_check_params, .args = "data,length", .n_args = softmax_count_args,                    \
    .infer_shape = softmax_infer_shape, .infer_type = softmax_infer_type, .dtypes = MXC_DTYPES_FLOAT,             \
    .needs = {.out_grad = 1, .out = 1}, .backward_needs = softmax_adjust_needs, .temp_bytes = softmax_temp_bytes, \
    .inplace_forward = in_to_out, .inplace_backward = grad_to_grad, .channels_last = softmax_channels_last

static mxc_status softmax_forward(const mxc_op_call *call) {
    return softmax_run_forward(call, mxci_softmax_forward, 1);
}

static mxc_status softmax_backward(const mxc_op_call *call) {
    return softmax_run_backward(call, mxci_softmax_backward, 1);
}

const mxc_op_def mxci_op_softmax = {
    SOFTMAX_DEF,
    .name = "softmax",
    .doc = "out = exp(data / temperature) / its sum along axis",
    .forward = {[MXC_CPU] = softmax_forward},
    .backward = {[MXC_CPU] = softmax_backward},
};

static mxc_status log_softmax_forward(const mxc_op_call *call) {
    return softmax_run_forward(call, mxci_log_softmax_forward, 1);
}

static mxc_status log_softmax_backward(const mxc_op_call *call) {
    return softmax_run_backward(call, mxci_log_softmax_backward, 1);
}

const mxc_op_def mxci_op_log_softmax = {
    SOFTMAX_DEF,
    .name = "log_softmax",
    .doc = "out = the logarithm of softmax(data) along axis",
    .forward = {[MXC_CPU] = log_softmax_forward},
    .backward = {[MXC_CPU] = log_softmax_backward},
};

static mxc_status softmin_forward(const mxc_op_call *call) {
    return softmax_run_forward(call, mxci_softmax_forward, -1);
}

static mxc_status softmin_backward(const mxc_op_call *call) {
    return softmax_run_backward(call, mxci_softmax_backward, -1);
}

const mxc_op_def mxci_op_softmin = {
    SOFTMAX_DEF,
    .name = "softmin",
    .doc = "out = exp(-data / temperature) / its sum along axis",
    .forward = {[MXC_CPU] = softmin_forward},
    .backward = {[MXC_CPU] = softmin_backward},
};
