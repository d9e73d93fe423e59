/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LeakyReLU: out = data where data > 0, below that
 *   leaky  slope data
 *   elu    slope (e^data - 1)
 *   selu   1.0507 times elu of slope 1.6733, data above 0 too
 *   prelu  gamma data, with gamma (C) learnt for each channel (axis 1), or (1) for all
 *   gelu   data (1 + erf(data / sqrt(2))) / 2, above 0 too
 *   rrelu  slope data with a slope of its own for each element: in training uniform in [lower_bound, upper_bound), else
 *          their mean. The slopes are a hidden output, which backward uses. Element i's is made of number i of the
 *          run's random range, so it is the same for any number of threads.
 */
#include "operator/nn/leaky_relu.h"

#include <math.h>

#include "math/assign.h"
#include "math/map.h"
#include "math/random_kernels.h"
#include "operator/infer.h"
#include "operator/nn/leaky_relu_kernels.h"

enum { DATA, GAMMA };
enum { OUT, MASK };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_leaky_params, act_type), .name = "act_type", .type = MXC_PARAM_ENUM, .initial = "leaky",
     .choices = "rrelu,leaky,prelu,elu,selu,gelu", .doc = "Function that is computed."},
    {MXC_PARAM_FIELD(mxci_leaky_params, slope), .name = "slope", .type = MXC_PARAM_FLOAT, .initial = "0.25",
     .doc = "Slope of leaky and elu for negative values."},
    {MXC_PARAM_FIELD(mxci_leaky_params, lower_bound), .name = "lower_bound", .type = MXC_PARAM_FLOAT,
     .initial = "0.125", .doc = "Lower bound of the random slopes of rrelu."},
    {MXC_PARAM_FIELD(mxci_leaky_params, upper_bound), .name = "upper_bound", .type = MXC_PARAM_FLOAT,
     .initial = "0.334", .doc = "Upper bound of the random slopes of rrelu."},
    MXC_PARAM_END,
};

static mxc_status leaky_relu_check_params(void *params) {
    const mxci_leaky_params *p = params;
    if (p->act_type == MXCI_LEAKY_RRELU && !(p->lower_bound <= p->upper_bound))
        return MXC_FAIL(MXC_EINVAL, "LeakyReLU: lower_bound is %g, expected at most upper_bound, %g", p->lower_bound,
                        p->upper_bound);
    return MXC_OK;
}

/* The kernels of each kind. */
static const struct {
    const mxci_map_fn *forward, *gradient;
} kinds[] = {
    [MXCI_LEAKY_RRELU] = {mxci_leaky, mxci_leaky_grad}, [MXCI_LEAKY_LEAKY] = {mxci_leaky, mxci_leaky_grad},
    [MXCI_LEAKY_PRELU] = {mxci_leaky, mxci_leaky_grad}, [MXCI_LEAKY_ELU] = {mxci_elu, mxci_elu_grad},
    [MXCI_LEAKY_SELU] = {mxci_selu, mxci_selu_grad},    [MXCI_LEAKY_GELU] = {mxci_gelu, mxci_gelu_grad},
};

/* The gradient is computed from the output instead of data. */
static int is_by_output(int kind) {
    return kind == MXCI_LEAKY_ELU || kind == MXCI_LEAKY_SELU;
}

static int is_random(const void *params) {
    return ((const mxci_leaky_params *)params)->act_type == MXCI_LEAKY_RRELU;
}

static int leaky_relu_count_outputs(const void *params) {
    return is_random(params) ? 2 : 1;
}

static int leaky_relu_one_visible(const void *params) {
    (void)params;
    return 1;
}

static uint64_t count_numbers(const mxc_op_sig *sig) {
    return is_random(sig->params) && sig->is_train ? (uint64_t)mxc_shape_size(&sig->in_shape[DATA]) : 0;
}

static int has_gamma(const void *params) {
    return ((const mxci_leaky_params *)params)->act_type == MXCI_LEAKY_PRELU;
}

static int leaky_relu_count_args(const void *params) {
    return has_gamma(params) ? 2 : 1;
}

/* gamma has an element for each channel, data's axis 1, or one for all. */
static mxc_status leaky_relu_infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {DATA, MXC_SLOT_OUT(OUT), MXC_SLOT_OUT(MASK)};
    const mxc_shape *data = &sig->in_shape[DATA], *gamma = &sig->in_shape[GAMMA];
    mxc_shape channels;
    MXC_TRY(mxci_sig_same_shape(sig, 1 + leaky_relu_count_outputs(sig->params), slots));
    if (!has_gamma(sig->params) || data->ndim < 0)
        return MXC_OK;
    if (data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", (int)data->ndim);
    if (gamma->ndim == 1 && gamma->dim[0] == 1)
        return MXC_OK;
    channels = mxci_shape_of(1, &data->dim[1]);
    return mxc_sig_set_shape(sig, GAMMA, &channels);
}

/* elu and selu differentiate from the output, rrelu reads its slopes, prelu reads gamma. */
static void leaky_relu_adjust_needs(const void *params, mxc_op_needs *needs) {
    int kind = ((const mxci_leaky_params *)params)->act_type;
    needs->out = kind == MXCI_LEAKY_RRELU ? 1 << MASK : is_by_output(kind);
    needs->in = kind == MXCI_LEAKY_PRELU ? 3 : !is_by_output(kind);
}

/* Forward: the random slopes of rrelu. Backward: each part's sums of gamma's gradient. */
static size_t leaky_relu_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t bytes = mxci_shape_bytes(&sig->in_shape[DATA], mxc_dtype_size(sig->in_type[DATA]));
    if (pass == MXC_FORWARD)
        return is_random(sig->params) ? bytes : 0;
    if (!has_gamma(sig->params))
        return 0;
    return mxci_sum_bytes(mxc_shape_size(&sig->in_shape[GAMMA]), sig->parallelism);
}

/* ---- random slopes ---------------------------------------------------------------------------------------------- */

/* Slopes begin..end-1: uniform in [lower_bound, upper_bound). */
static void slopes_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_leaky_params *p = call->params;
    const mxc_dtype type = call->in[DATA].dtype;
    mxc_tensor slopes = {.data = call->temp, .dtype = type};
    double values[MXCI_TILE];
    uint32_t words[MXCI_TILE];
    (void)part;
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        mxci_random_words(call->random.seed, call->random.stream, call->random.offset + (uint64_t)at, n, words);
        for (int64_t i = 0; i < n; i++)
            values[i] = p->lower_bound + (p->upper_bound - p->lower_bound) * 0x1p-32 * words[i];
        mxci_convert(MXC_F64, values, type, mxci_at(&slopes, at), n);
    }
}

/* In scratch, and in the hidden output if it is requested. */
static void make_slopes(const mxc_op_call *call) {
    const mxci_leaky_params *p = call->params;
    mxc_tensor slopes = call->in[DATA];
    slopes.data = call->temp;
    if (call->is_train)
        mxc_parallel_for(call->run, mxci_tensor_size(&slopes), MXCI_GRAIN / 4, slopes_part, (void *)call);
    else
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &slopes, (p->lower_bound + p->upper_bound) / 2);
    mxci_assign(call->run, call->req[MASK], &call->out[MASK], &slopes);
}

/* ---- forward and backward --------------------------------------------------------------------------------------- */

/* Each element's slope; slopes: those of rrelu. */
static mxci_operand slope_of(const mxc_op_call *call, const void *slopes, mxci_strided *strides) {
    const mxc_shape *data = &call->in[DATA].shape;
    int64_t dim[3], step[3] = {0, 0, 0};
    if (is_random(call->params))
        return (mxci_operand){.data = slopes};
    if (!has_gamma(call->params))
        return (mxci_operand){.value = ((const mxci_leaky_params *)call->params)->slope};
    dim[0] = data->dim[0];
    dim[1] = data->dim[1];
    dim[2] = mxci_shape_count(data, 2, data->ndim);
    step[1] = mxci_tensor_size(&call->in[GAMMA]) > 1;
    mxci_strided_set(strides, 3, dim, step);
    return (mxci_operand){.data = call->in[GAMMA].data, .strides = strides};
}

/* An element-wise map of data and the slope: a parameter, gamma by channel, or a random one by element. */
static mxc_status leaky_relu_forward(const mxc_op_call *call) {
    const mxc_tensor *data = &call->in[DATA];
    const mxci_map_fn *fn = kinds[((const mxci_leaky_params *)call->params)->act_type].forward;
    mxci_strided strides;
    mxci_mapping m = {.dtype = data->dtype, .n = mxci_tensor_size(data), .n_in = 2, .in = {{.data = data->data}}};
    if (is_random(call->params))
        make_slopes(call);
    m.in[1] = slope_of(call, call->temp, &strides);
    m.result[0] =
        (mxci_result){.fn = fn[mxci_compute_type(data->dtype)], .req = call->req[0], .data = call->out[0].data};
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : mxci_mapping_run(call->run, &m);
}

/* prelu has a second result, gamma's gradient, which is summed over the elements of a channel. */
static mxc_status leaky_relu_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[DATA];
    int kind = ((const mxci_leaky_params *)call->params)->act_type;
    mxc_dtype compute = mxci_compute_type(grad->dtype);
    mxci_strided strides;
    mxci_mapping m = {
        .dtype = grad->dtype,
        .n = mxci_tensor_size(grad),
        .n_in = 3,
        .in =
            {
                {.data = call->out_grad[0].data},
                {.data = is_by_output(kind) ? call->out[0].data : call->in[DATA].data},
            },
    };
    m.in[2] = slope_of(call, call->out[MASK].data, &strides);
    m.result[0] = (mxci_result){.fn = kinds[kind].gradient[compute], .req = call->req[DATA], .data = grad->data};
    if (has_gamma(call->params))
        m.result[1] = (mxci_result){.fn = mxci_leaky_slope_grad[compute],
                                    .req = call->req[GAMMA],
                                    .data = call->in_grad[GAMMA].data,
                                    .sum_strides = &strides,
                                    .n_sums = mxci_tensor_size(&call->in[GAMMA]),
                                    .sums = call->temp};
    return mxci_mapping_run(call->run, &m);
}

static int leaky_relu_rectifier(const mxc_op *op, mxc_epilogue *out) {
    const mxci_leaky_params *p = mxc_op_params(op);
    *out = (mxc_epilogue){.slope = p->slope, .limit = INFINITY};
    return p->act_type == MXCI_LEAKY_LEAKY;
}

const mxc_op_def mxci_op_leaky_relu = {
    .size = sizeof(mxc_op_def),
    .name = "LeakyReLU",
    .doc = "out = data where data > 0, else slope data (leaky), slope (e^data - 1) (elu) or gamma data (prelu); selu: "
           "1.0507 times elu with slope 1.6733; gelu: data (1 + erf(data / sqrt(2))) / 2; rrelu: a random slope in "
           "[lower_bound, upper_bound) for each element in training, else their mean",
    .flags = MXC_OP_SAMPLEWISE | MXC_OP_ELEMENTWISE,
    .params = schema,
    .param_size = sizeof(mxci_leaky_params),
    .params_check = leaky_relu_check_params,
    .args = "data,gamma",
    .n_args = leaky_relu_count_args,
    .outputs = "output,mask",
    .n_outputs = leaky_relu_count_outputs,
    .n_visible = leaky_relu_one_visible,
    .random_count = count_numbers,
    .infer_shape = leaky_relu_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .backward_needs = leaky_relu_adjust_needs,
    .temp_bytes = leaky_relu_temp_bytes,
    .rectifier = leaky_relu_rectifier,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), DATA}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = leaky_relu_forward},
    .backward = {[MXC_CPU] = leaky_relu_backward},
};
