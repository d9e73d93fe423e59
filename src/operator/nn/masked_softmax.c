/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masked_softmax: softmax along an axis over the elements whose mask is not 0; the others of out are 0, as is a row
 * without any. masked_log_softmax: the logarithm of that, so minus infinity. mask broadcasts to data's shape, may be of
 * another dtype and has no gradient. What is hidden becomes minus infinity before the softmax and is replaced after it.
 */
#include <math.h>

#include "math/map.h"
#include "operator/index/rows.h"
#include "operator/nn/softmax.h"
#include "operator/tensor/where_kernels.h"

enum { DATA, MASK };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_masked_softmax_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Axis along which the results sum to 1. Negative values count from the end."},
    {MXC_PARAM_FIELD(mxci_masked_softmax_params, temperature), .name = "temperature", .type = MXC_PARAM_FLOAT,
     .initial = "1", .bounded = 1, .minimum = 1e-30, .maximum = 1e30, .doc = "Divisor of data."},
    {MXC_PARAM_FIELD(mxci_masked_softmax_params, normalize), .name = "normalize", .type = MXC_PARAM_BOOL,
     .initial = "true",
     .doc = "Accepted for compatibility with MXNet; has no effect, the maximum is always subtracted first."},
    MXC_PARAM_END,
};

/* A mask of unknown shape gets data's; else it must broadcast to it. */
static mxc_status masked_softmax_infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {DATA, MXC_SLOT_OUT(0)};
    const mxc_shape *data = &sig->in_shape[DATA];
    int axis;
    MXC_TRY(mxci_sig_same_shape(sig, 2, slots));
    if (data->ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, ((const mxci_masked_softmax_params *)sig->params)->axis, data->ndim, &axis));
    if (sig->in_shape[MASK].ndim < 0)
        return mxc_sig_set_shape(sig, MASK, data);
    return mxci_sig_broadcasts_to(sig, MASK, data);
}

static mxc_status masked_softmax_infer_type(mxc_op_sig *sig) {
    static const int slots[] = {DATA, MXC_SLOT_OUT(0)};
    if (sig->in_type[MASK] == MXC_DTYPE_UNKNOWN)
        MXC_TRY(mxc_sig_set_type(sig, MASK, MXC_BOOL));
    return mxci_sig_same_type(sig, 2, slots);
}

/* data, then out; or out_grad. */
static size_t masked_softmax_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_shape_bytes(&sig->in_shape[DATA], mxc_dtype_size(sig->in_type[DATA]));
}

/* ---- hiding ------------------------------------------------------------------------------------------------------ */

/* to = from where mask is not 0, else fill. */
typedef struct hiding {
    const mxc_tensor *mask, *from, *to;
    mxc_req req;
    mxci_strided strides;
    double fill;
} hiding;

/* to = mask ? from : fill, tile by tile; the mask is gathered by its broadcast strides. */
static void hide_range(void *arg, int64_t begin, int64_t end, int part) {
    const hiding *h = arg;
    const mxc_dtype type = h->to->dtype;
    _Alignas(64) int64_t raw[MXCI_TILE], fill[MXCI_TILE], tile[MXCI_TILE];
    double wide[MXCI_TILE];
    uint8_t kept[MXCI_TILE];
    (void)part;
    for (int i = 0; i < MXCI_TILE; i++)
        wide[i] = h->fill;
    mxci_convert(MXC_F64, wide, type, fill, MXCI_TILE);
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        mxci_gather(&h->strides, mxc_dtype_size(h->mask->dtype), h->mask->data, i, n, raw);
        mxci_convert(h->mask->dtype, raw, MXC_BOOL, kept, n);
        mxci_choose(mxc_dtype_size(type), n, kept, mxci_at(h->from, i), fill, tile);
        mxci_assign_row(h->req, type, mxci_at(h->to, i), tile, n);
    }
}

/* to = from where the mask, broadcast to its shape, is not 0, else fill. */
static void hide(const mxc_op_call *call, const mxc_tensor *from, double fill, mxc_req req, const mxc_tensor *to) {
    hiding h = {.mask = &call->in[MASK], .from = from, .to = to, .req = req, .fill = fill};
    mxci_broadcast_strides(&call->in[MASK].shape, &to->shape, &h.strides);
    mxc_parallel_for(call->run, mxci_tensor_size(to), MXCI_GRAIN, hide_range, &h);
}

/* ---- both passes ------------------------------------------------------------------------------------------------- */

static void masked_softmax_run(const mxc_op_call *call, mxci_softmax_pass *r) {
    const mxci_masked_softmax_params *p = call->params;
    r->shape.scale = 1 / p->temperature;
    mxci_softmax_run(call->run, &call->in[DATA].shape, p->axis, r);
}

/* Elements that are masked out are -inf before the softmax, so that they add nothing to its sum, and `hidden` after. */
static mxc_status masked_softmax_run_forward(const mxc_op_call *call, const mxci_softmax_forward_fn *fn,
                                             double hidden) {
    mxc_tensor z = call->in[DATA];
    mxci_softmax_pass r = {.from = call->temp, .to = call->temp, .forward = fn[z.dtype]};
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&z) == 0)
        return MXC_OK;
    z.data = call->temp;
    hide(call, &call->in[DATA], -INFINITY, MXC_REQ_WRITE, &z);
    masked_softmax_run(call, &r);
    hide(call, &z, hidden, call->req[0], &call->out[0]);
    return MXC_OK;
}

/* At hidden elements y is 0, or minus infinity for the logarithm, so only dy must be set to 0 there. */
static mxc_status masked_softmax_run_backward(const mxc_op_call *call, const mxci_softmax_backward_fn *fn) {
    mxc_tensor dy = call->out_grad[0];
    mxci_softmax_pass r = {
        .add = call->req[DATA] == MXC_REQ_ADD,
        .from = call->temp,
        .y = call->out[0].data,
        .to = call->in_grad[DATA].data,
        .backward = fn[dy.dtype],
    };
    mxci_assign_zero_gradient(call, MASK);
    if (call->req[DATA] == MXC_REQ_NULL || mxci_tensor_size(&dy) == 0)
        return MXC_OK;
    dy.data = call->temp;
    hide(call, &call->out_grad[0], 0, MXC_REQ_WRITE, &dy);
    masked_softmax_run(call, &r);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

#define MASKED_DEF                                                                                           \
    .size = sizeof(mxc_op_def), .params = schema, .param_size = sizeof(mxci_masked_softmax_params),          \
    .args = "data,mask", .infer_shape = masked_softmax_infer_shape, .infer_type = masked_softmax_infer_type, \
    .dtypes = MXC_DTYPES_FLOAT, .needs = {.out_grad = 1, .out = 1, .in = 1 << MASK},                         \
    .temp_bytes = masked_softmax_temp_bytes

static mxc_status softmax_forward(const mxc_op_call *call) {
    return masked_softmax_run_forward(call, mxci_softmax_forward, 0);
}

static mxc_status softmax_backward(const mxc_op_call *call) {
    return masked_softmax_run_backward(call, mxci_softmax_backward);
}

const mxc_op_def mxci_op_masked_softmax = {
    MASKED_DEF,
    .name = "masked_softmax",
    .doc = "Softmax of data / temperature along axis over the elements whose mask, broadcast to the shape of data, is "
           "not 0; 0 at the others",
    .forward = {[MXC_CPU] = softmax_forward},
    .backward = {[MXC_CPU] = softmax_backward},
};

static mxc_status log_softmax_forward(const mxc_op_call *call) {
    return masked_softmax_run_forward(call, mxci_log_softmax_forward, -INFINITY);
}

static mxc_status log_softmax_backward(const mxc_op_call *call) {
    return masked_softmax_run_backward(call, mxci_log_softmax_backward);
}

const mxc_op_def mxci_op_masked_log_softmax = {
    MASKED_DEF,
    .name = "masked_log_softmax",
    .doc = "Logarithm of masked_softmax; minus infinity where mask is 0",
    .forward = {[MXC_CPU] = log_softmax_forward},
    .backward = {[MXC_CPU] = log_softmax_backward},
};
