/* reverse (flip): out = data with the order of elements turned round along the axes named. */
#include "operator/walk.h"

typedef struct reverse_params {
    mxc_tuple axis;
} reverse_params;

static const mxc_param schema[] = {
    {.name = "axis", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(reverse_params, axis),
     .doc = "axes to turn round; negative: from the end"},
    MXC_PARAM_END};

static mxc_status infer_shape(mxc_op_sig *sig) {
    const mxc_tuple *axes = &((const reverse_params *)sig->params)->axis;
    int seen[MXC_MAX_NDIM] = {0}, axis;
    MXC_TRY(mxci_infer_shape_same(sig));
    for (int i = 0; i < axes->n && sig->in_shape[0].ndim >= 0; i++) {
        MXC_TRY(mxci_sig_axis(sig, axes->value[i], sig->in_shape[0].ndim, &axis));
        if (seen[axis]++)
            return mxc_sig_fail(sig, "axis %d is named twice", axis);
    }
    return MXC_OK;
}

/* Turning round is its own inverse. */
static void turn(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    const mxc_tuple *axes = &((const reverse_params *)call->params)->axis;
    const mxc_shape *shape = &from->shape;
    int64_t step[MXC_MAX_NDIM], first = 0;
    mxci_strided walk;
    for (int i = 0; i < shape->ndim; i++)
        step[i] = mxci_shape_count(shape, i + 1, shape->ndim);
    for (int i = 0; i < axes->n; i++) {
        int axis = (int)(axes->value[i] < 0 ? axes->value[i] + shape->ndim : axes->value[i]);
        first += step[axis] * (shape->dim[axis] - 1);
        step[axis] = -step[axis];
    }
    mxci_strided_set(&walk, shape->ndim, shape->dim, step);
    mxci_put_from_walk(call->run, call->req[0], to, from, first, &walk);
}

static mxc_status forward(const mxc_op_call *call) {
    turn(call, &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    turn(call, &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_reverse = {
    .size = sizeof(mxc_op_def), .name = "reverse", .aliases = "flip",
    .doc = "out = data with the order of elements turned round along axis", .params = schema,
    .param_size = sizeof(reverse_params), .infer_shape = infer_shape, .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1}, .forward = {[MXC_CPU] = forward}, .backward = {[MXC_CPU] = backward}};
