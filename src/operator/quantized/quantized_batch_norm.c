/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_quantized_batch_norm: BatchNorm by moving statistics on integers, from their range to a calibrated one. The
 * statistics are only read, and are arguments as in MXNet's files, not auxiliary states. */
#include <math.h>

#include "math/tile_kernels.h"
#include "operator/quantized/quantize_kernels.h"
#include "operator/quantized/quantized.h"

typedef mxci_quantized_bn_params bn_params;

enum { DATA, GAMMA, BETA, MEAN, VARIANCE, MIN, MAX };

static const mxc_param schema[] = {
    MXCI_BN_SCHEMA(bn_params, norm.),
    MXCI_CALIB_SCHEMA(bn_params, calib),
    MXC_PARAM_END,
};

static mxc_status quantized_batch_norm_check_params(void *params) {
    if (((const bn_params *)params)->norm.axis != 1)
        return MXC_FAIL(MXC_EUNSUPPORTED, "_contrib_quantized_batch_norm: axis must be 1");
    if (mxci_calib_given(&((const bn_params *)params)->calib))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "_contrib_quantized_batch_norm: min_calib_range and max_calib_range must be given");
}

static mxc_status quantized_batch_norm_infer_shape(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[DATA], channels = mxci_shape_axes(1);
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)}));
    if (data->ndim == 0 || data->ndim == 1)
        return mxc_sig_fail(sig, "argument 'data': expected at least two axes, found %d", data->ndim);
    channels.dim[0] = data->ndim > 0 ? data->dim[1] : -1;
    for (int i = GAMMA; i <= VARIANCE; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, i, &channels));
        channels.dim[0] = mxci_known(channels.dim[0], sig->in_shape[i].dim[0]);
    }
    for (int i = GAMMA; i <= VARIANCE; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &channels));
    if (data->ndim > 0)
        data->dim[1] = sig->out_shape[0].dim[1] = channels.dim[0];
    return mxci_infer_bounds(sig, MIN);
}

static mxc_status quantized_batch_norm_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_I8));
    return mxci_infer_bound_types(sig, GAMMA);
}

typedef struct bn_run {
    const mxc_op_call *call;
    double from, to; /* units */
    int64_t plane;
} bn_run;

static double value(const bn_run *r, int slot, int64_t channel) {
    return ((const float *)r->call->in[slot].data)[channel];
}

/* Planes begin..end-1 of all samples and channels. */
static void quantized_batch_norm_run_range(void *arg, int64_t begin, int64_t end, int part) {
    const bn_run *r = arg;
    const bn_params *p = r->call->params;
    const mxc_tensor *x = &r->call->in[DATA], *y = &r->call->out[0];
    int64_t channels = x->shape.dim[1];
    double tile[MXCI_TILE];
    int32_t rounded[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t c = i % channels;
        double scale = (p->norm.fix_gamma ? 1 : value(r, GAMMA, c)) / sqrt(value(r, VARIANCE, c) + p->norm.eps);
        double shift = value(r, BETA, c) - value(r, MEAN, c) * scale;
        for (int64_t k = 0; k < r->plane; k += MXCI_TILE) {
            int64_t n = r->plane - k < MXCI_TILE ? r->plane - k : MXCI_TILE, at = i * r->plane + k;
            mxci_convert(x->dtype, mxci_at(x, at), MXC_F64, tile, n);
            mxci_dequantize_row(n, tile, shift * r->to, scale * r->from * r->to, tile);
            mxci_quantize_row(n, tile, 0, 1, mxci_calib_least(&p->calib, MXC_I8), 127, rounded);
            mxci_convert(MXC_I32, rounded, MXC_I8, tile, n);
            mxci_assign_row(r->call->req[0], MXC_I8, mxci_at(y, at), tile, n);
        }
    }
}

static mxc_status quantized_batch_norm_forward(const mxc_op_call *call) {
    const bn_params *p = call->params;
    const mxc_shape *shape = &call->in[DATA].shape;
    bn_run r = {
        call,
        mxci_quantized_unit(call->in[DATA].dtype, &call->in[MIN], &call->in[MAX]),
        mxci_inverse_unit(mxci_calib_unit(&p->calib, MXC_I8, p->calib.low, p->calib.high)),
        mxci_shape_count(shape, 2, shape->ndim),
    };
    if (mxci_is_wanted(call->req[0], &call->out[0]))
        mxc_parallel_for(call->run, shape->dim[0] * shape->dim[1], MXCI_GRAIN / (r.plane + 1) + 1,
                         quantized_batch_norm_run_range, &r);
    mxci_assign_range(call, &p->calib, p->calib.low, p->calib.high);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_batch_norm = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_batch_norm",
    .args = "data,gamma,beta,moving_mean,moving_var,min_data,max_data",
    .outputs = "output,min_output,max_output",
    .doc = "output (int8) = gamma (data - moving_mean) / sqrt(moving_var + eps) + beta for each channel (axis 1), "
           "computed on dequantized data and quantized to the calibrated range",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(bn_params),
    .params_check = quantized_batch_norm_check_params,
    .infer_shape = quantized_batch_norm_infer_shape,
    .infer_type = quantized_batch_norm_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .forward = {[MXC_CPU] = quantized_batch_norm_forward},
};
