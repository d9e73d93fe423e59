/*
 * LeakyReLU: out = data where data > 0, below that
 *   leaky  slope data
 *   elu    slope (e^data - 1)
 *   prelu  gamma data, with gamma (C) learnt for each channel (axis 1), or (1) for all
 * MXNet's fourth kind, rrelu (random slopes in training), is refused.
 */
#include "operator/common.h"
#include "operator/kernels/leaky.h"
#include "operator/map.h"

typedef struct leaky_params {
    int32_t act_type;
    double slope, lower_bound, upper_bound;
} leaky_params;

enum { RRELU, LEAKY, PRELU, ELU };
enum { DATA, GAMMA };

static const mxc_param schema[] = {
    {.name = "act_type", .type = MXC_PARAM_ENUM, MXC_PARAM_FIELD(leaky_params, act_type), .initial = "leaky",
     .choices = "rrelu,leaky,prelu,elu", .doc = "what is done below 0; rrelu is refused"},
    {.name = "slope", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(leaky_params, slope), .initial = "0.25",
     .doc = "of leaky and elu"},
    {.name = "lower_bound", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(leaky_params, lower_bound), .initial = "0.125",
     .doc = "of rrelu's slopes: accepted for compatibility"},
    {.name = "upper_bound", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(leaky_params, upper_bound), .initial = "0.334",
     .doc = "of rrelu's slopes: accepted for compatibility"},
    MXC_PARAM_END};

static mxc_status check_params(void *params) {
    if (((const leaky_params *)params)->act_type == RRELU)
        return MXC_FAIL(MXC_EUNSUPPORTED, "LeakyReLU: act_type rrelu, expected leaky, prelu or elu");
    return MXC_OK;
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
    needs->in = kind == ELU ? 0 : kind == PRELU ? 3 : 1;
    needs->out = kind == ELU;
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
    const mxci_map_fn *fn = ((const leaky_params *)call->params)->act_type == ELU ? mxci_elu : mxci_leaky;
    mxci_strided walk;
    mxci_mapping m = {.dtype = data->dtype, .n = mxci_tensor_size(data), .n_in = 2, .in = {{.data = data->data}}};
    m.in[1] = slope_of(call, &walk);
    m.result[0] = (mxci_result){fn[mxci_compute_type(data->dtype)], call->req[0], call->out[0].data, NULL, 0, NULL};
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : mxci_mapping_run(call->run, &m);
}

static mxc_status backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[DATA];
    int is_elu = ((const leaky_params *)call->params)->act_type == ELU;
    mxc_dtype compute = mxci_compute_type(grad->dtype);
    mxci_strided walk;
    mxci_mapping m = {.dtype = grad->dtype, .n = mxci_tensor_size(grad), .n_in = 3,
                      .in = {{.data = call->out_grad[0].data},
                             {.data = is_elu ? call->out[0].data : call->in[DATA].data}}};
    m.in[2] = slope_of(call, &walk);
    m.result[0] = (mxci_result){is_elu ? mxci_elu_grad[compute] : mxci_leaky_grad[compute], call->req[DATA], grad->data,
                                NULL, 0, NULL};
    if (has_gamma(call->params))
        m.result[1] = (mxci_result){mxci_leaky_slope[compute], call->req[GAMMA], call->in_grad[GAMMA].data, &walk,
                                    mxci_tensor_size(&call->in[GAMMA]), call->temp};
    return mxci_mapping_run(call->run, &m);
}

const mxc_op_def mxci_op_leaky_relu = {
    .size = sizeof(mxc_op_def), .name = "LeakyReLU",
    .doc = "out = data where data > 0, else slope data (leaky), slope (e^data - 1) (elu) or gamma data (prelu)",
    .flags = MXC_OP_SAMPLEWISE, .params = schema, .param_size = sizeof(leaky_params), .params_check = check_params,
    .args = "data,gamma", .n_args = count_args, .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1}, .backward_needs = adjust_needs, .temp_bytes = temp_bytes,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), DATA}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = forward}, .backward = {[MXC_CPU] = backward}};
