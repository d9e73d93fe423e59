/*
 * LeakyReLU: out = data where data > 0, below that
 *   leaky  slope data
 *   elu    slope (e^data - 1)
 *   selu   1.0507 times elu of slope 1.6733, data above 0 too
 *   prelu  gamma data, with gamma (C) learnt for each channel (axis 1), or (1) for all
 *   gelu   data (1 + erf(data / sqrt(2))) / 2, above 0 too
 * MXNet's kind rrelu (random slopes in training) is refused.
 */
#include "operator/common.h"
#include "operator/kernels/leaky.h"
#include "operator/map.h"

typedef struct leaky_params {
    int32_t act_type;
    double slope, lower_bound, upper_bound;
} leaky_params;

enum { RRELU, LEAKY, PRELU, ELU, SELU, GELU };
enum { DATA, GAMMA };

static const mxc_param schema[] = {
    {.name = "act_type", .type = MXC_PARAM_ENUM, MXC_PARAM_FIELD(leaky_params, act_type), .initial = "leaky",
     .choices = "rrelu,leaky,prelu,elu,selu,gelu", .doc = "which function; rrelu is refused"},
    {.name = "slope", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(leaky_params, slope), .initial = "0.25",
     .doc = "of leaky and elu"},
    {.name = "lower_bound", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(leaky_params, lower_bound), .initial = "0.125",
     .doc = "of rrelu's slopes: accepted for compatibility"},
    {.name = "upper_bound", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(leaky_params, upper_bound), .initial = "0.334",
     .doc = "of rrelu's slopes: accepted for compatibility"},
    MXC_PARAM_END};

static mxc_status check_params(void *params) {
    if (((const leaky_params *)params)->act_type == RRELU)
        return MXC_FAIL(MXC_EUNSUPPORTED, "LeakyReLU: act_type rrelu, expected leaky, prelu, elu, selu or gelu");
    return MXC_OK;
}

/* The kernels of each kind. */
static const struct {
    const mxci_map_fn *forward, *gradient;
} kinds[] = {[LEAKY] = {mxci_leaky, mxci_leaky_grad}, [PRELU] = {mxci_leaky, mxci_leaky_grad},
             [ELU] = {mxci_elu, mxci_elu_grad}, [SELU] = {mxci_selu, mxci_selu_grad},
             [GELU] = {mxci_gelu, mxci_gelu_grad}};

/* The gradient is computed from the output instead of data. */
static int is_by_output(int kind) {
    return kind == ELU || kind == SELU;
}

static int has_gamma(const void *params) {
    return ((const leaky_params *)params)->act_type == PRELU;
}

static int count_args(const void *params) {
    return has_gamma(params) ? 2 : 1;
}

static mxc_status infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {DATA, MXC_SLOT_OUT(0)};
    const mxc_shape *data = &sig->in_shape[DATA], *gamma = &sig->in_shape[GAMMA];
    mxc_shape channels;
    MXC_TRY(mxci_sig_same_shape(sig, 2, slots));
    if (!has_gamma(sig->params) || data->ndim < 0)
        return MXC_OK;
    if (data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", (int)data->ndim);
    if (gamma->ndim == 1 && gamma->dim[0] == 1)
        return MXC_OK;
    channels = mxci_shape_of(1, &data->dim[1]);
    return mxc_sig_set_shape(sig, GAMMA, &channels);
}

static void adjust_needs(const void *params, mxc_op_needs *needs) {
    int kind = ((const leaky_params *)params)->act_type;
    needs->out = is_by_output(kind);
    needs->in = kind == PRELU ? 3 : !needs->out;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    if (pass == MXC_FORWARD || !has_gamma(sig->params))
        return 0;
    return mxci_sum_bytes(mxc_shape_size(&sig->in_shape[GAMMA]), sig->parallelism);
}

/* Each element's slope. */
static mxci_operand slope_of(const mxc_op_call *call, mxci_strided *walk) {
    const mxc_shape *data = &call->in[DATA].shape;
    int64_t dim[3], step[3] = {0, 0, 0};
    if (!has_gamma(call->params))
        return (mxci_operand){.value = ((const leaky_params *)call->params)->slope};
    dim[0] = data->dim[0];
    dim[1] = data->dim[1];
    dim[2] = mxci_shape_count(data, 2, data->ndim);
    step[1] = mxci_tensor_size(&call->in[GAMMA]) > 1;
    mxci_strided_set(walk, 3, dim, step);
    return (mxci_operand){.data = call->in[GAMMA].data, .walk = walk};
}

static mxc_status forward(const mxc_op_call *call) {
    const mxc_tensor *data = &call->in[DATA];
    const mxci_map_fn *fn = kinds[((const leaky_params *)call->params)->act_type].forward;
    mxci_strided walk;
    mxci_mapping m = {.dtype = data->dtype, .n = mxci_tensor_size(data), .n_in = 2, .in = {{.data = data->data}}};
    m.in[1] = slope_of(call, &walk);
    m.result[0] = (mxci_result){fn[mxci_compute_type(data->dtype)], call->req[0], call->out[0].data, NULL, 0, NULL};
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : mxci_mapping_run(call->run, &m);
}

static mxc_status backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[DATA];
    int kind = ((const leaky_params *)call->params)->act_type;
    mxc_dtype compute = mxci_compute_type(grad->dtype);
    mxci_strided walk;
    mxci_mapping m = {.dtype = grad->dtype, .n = mxci_tensor_size(grad), .n_in = 3,
                      .in = {{.data = call->out_grad[0].data},
                             {.data = is_by_output(kind) ? call->out[0].data : call->in[DATA].data}}};
    m.in[2] = slope_of(call, &walk);
    m.result[0] = (mxci_result){kinds[kind].gradient[compute], call->req[DATA], grad->data, NULL, 0, NULL};
    if (has_gamma(call->params))
        m.result[1] = (mxci_result){mxci_leaky_slope[compute], call->req[GAMMA], call->in_grad[GAMMA].data, &walk,
                                    mxci_tensor_size(&call->in[GAMMA]), call->temp};
    return mxci_mapping_run(call->run, &m);
}

const mxc_op_def mxci_op_leaky_relu = {
    .size = sizeof(mxc_op_def), .name = "LeakyReLU",
    .doc = "out = data where data > 0, else slope data (leaky), slope (e^data - 1) (elu) or gamma data (prelu); "
           "selu: 1.0507 times elu with slope 1.6733; gelu: data (1 + erf(data / sqrt(2))) / 2",
    .flags = MXC_OP_SAMPLEWISE, .params = schema, .param_size = sizeof(leaky_params), .params_check = check_params,
    .args = "data,gamma", .n_args = count_args, .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1}, .backward_needs = adjust_needs, .temp_bytes = temp_bytes,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), DATA}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = forward}, .backward = {[MXC_CPU] = backward}};
