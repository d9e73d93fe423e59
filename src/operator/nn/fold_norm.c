/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _fold_norm: the weight and bias of a layer into which a BatchNorm behind it is moved. In inference BatchNorm is
 * x s + (beta - mean s) for each channel, s = gamma / sqrt(variance + eps), so
 *   weight' = s weight for each filter,  bias' = (bias - mean) s + beta
 * weight (filters, ...), the others (filters,); the statistics are f32 where weight is f16 or bf16.
 */
#include "operator/nn/fold_norm.h"

#include <math.h>

#include "base/text.h"
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/op.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_fold_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT,
     .doc = "Added to the variance, for stability."},
    {MXC_PARAM_FIELD(mxci_fold_params, fix_gamma), .name = "fix_gamma", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Use 1 in place of gamma."},
    {MXC_PARAM_FIELD(mxci_fold_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "The layer has no bias."},
    MXC_PARAM_END,
};

static int fold_norm_count_args(const void *params) {
    return ((const mxci_fold_params *)params)->no_bias ? MXCI_FOLD_BIAS : MXCI_FOLD_BIAS + 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* weight keeps its shape; the other arguments and the bias have an element for each filter, weight's first axis. */
static mxc_status fold_norm_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *weight = &sig->in_shape[MXCI_FOLD_WEIGHT];
    mxc_shape filters = mxci_shape_axes(1);
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){MXCI_FOLD_WEIGHT, MXC_SLOT_OUT(0)}));
    if (weight->ndim == 0)
        return mxc_sig_fail(sig, "argument 'weight': expected at least 1 axis, found none");
    if (weight->ndim > 0)
        filters.dim[0] = weight->dim[0];
    for (int i = MXCI_FOLD_GAMMA; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &filters));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(1), &filters);
}

static mxc_status fold_norm_infer_type(mxc_op_sig *sig) {
    mxc_dtype type;
    MXC_TRY(mxci_sig_same_type(sig, sig->n_in > MXCI_FOLD_BIAS ? 4 : 3,
                               (int[]){MXCI_FOLD_WEIGHT, MXC_SLOT_OUT(0), MXC_SLOT_OUT(1), MXCI_FOLD_BIAS}));
    type = sig->in_type[MXCI_FOLD_WEIGHT];
    for (int i = MXCI_FOLD_GAMMA; i <= MXCI_FOLD_VARIANCE; i++)
        MXC_TRY(mxc_sig_set_type(sig, i, type == MXC_F16 || type == MXC_BF16 ? MXC_F32 : type));
    return MXC_OK;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* out[begin..end) = or += scale weight, computed in double. */
static void scale_row(const mxc_op_call *call, int64_t begin, int64_t end, double scale) {
    const mxc_tensor *from = &call->in[MXCI_FOLD_WEIGHT], *to = &call->out[0];
    double tile[MXCI_TILE], before[MXCI_TILE];
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        mxci_convert(from->dtype, mxci_at(from, at), MXC_F64, tile, n);
        if (call->req[0] == MXC_REQ_ADD)
            mxci_convert(to->dtype, mxci_at(to, at), MXC_F64, before, n);
        else
            mxci_fill_compute(MXC_F64, 0, before, n);
        for (int64_t i = 0; i < n; i++)
            tile[i] = before[i] + tile[i] * scale;
        mxci_convert(MXC_F64, tile, to->dtype, mxci_at(to, at), n);
    }
}

/* Filters begin..end-1. */
static void fold_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_fold_params *p = call->params;
    const mxc_tensor *in = call->in;
    const int64_t filter_size = mxci_shape_count(&in[MXCI_FOLD_WEIGHT].shape, 1, in[MXCI_FOLD_WEIGHT].shape.ndim);
    (void)part;
    for (int64_t f = begin; f < end; f++) {
        double gamma = p->fix_gamma ? 1 : mxci_value_at(&in[MXCI_FOLD_GAMMA], f);
        double scale = gamma / sqrt(mxci_value_at(&in[MXCI_FOLD_VARIANCE], f) + p->eps);
        double bias = p->no_bias ? 0 : mxci_value_at(&in[MXCI_FOLD_BIAS], f);
        if (call->req[0] != MXC_REQ_NULL)
            scale_row(call, f * filter_size, (f + 1) * filter_size, scale);
        mxci_assign_value(call->req[1], &call->out[1], f,
                          (bias - mxci_value_at(&in[MXCI_FOLD_MEAN], f)) * scale +
                              mxci_value_at(&in[MXCI_FOLD_BETA], f));
    }
}

static mxc_status fold_norm_forward(const mxc_op_call *call) {
    const mxc_shape *weight = &call->in[MXCI_FOLD_WEIGHT].shape;
    int64_t filter_size = mxci_shape_count(weight, 1, weight->ndim);
    mxc_parallel_for(call->run, weight->dim[0], MXCI_GRAIN / (filter_size + 1) + 1, fold_part, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_fold_norm = {
    .size = sizeof(mxc_op_def),
    .name = "_fold_norm",
    .flags = MXC_OP_HIDDEN | MXC_OP_ZERO_GRADIENT,
    .args = "weight,gamma,beta,mean,variance,bias",
    .outputs = "weight,bias",
    .n_args = fold_norm_count_args,
    .doc = "Weight and bias of a layer that computes the BatchNorm behind it too: gamma / sqrt(variance + eps) times "
           "each filter, and the bias to match",
    .params = schema,
    .param_size = sizeof(mxci_fold_params),
    .infer_shape = fold_norm_infer_shape,
    .infer_type = fold_norm_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = fold_norm_forward},
};

/* ---- which layers ------------------------------------------------------------------------------------------------ */

int mxci_fold_fits(const mxc_op *layer, const mxc_op *norm, mxc_linear *linear, mxc_norm *scale) {
    return mxci_op_get_linear(layer, linear) && mxci_op_get_norm(norm, linear->ndim, scale) &&
           scale->axis == linear->axis;
}

static mxc_status make_fold(const mxc_op *layer, const mxc_norm *norm, mxc_op **out) {
    char eps[40];
    const char *const keys[] = {"eps", "fix_gamma", "no_bias"};
    const char *const values[] = {eps, norm->fix_gamma ? "1" : "0", mxc_op_n_args(layer) < 3 ? "1" : "0"};
    mxci_format(eps, sizeof eps, "%.17g", norm->eps);
    return mxc_op_create(mxci_op_fold_norm.name, 3, keys, values, out);
}

/* The folded layer always has a bias, even if the layer had none. */
mxc_status mxci_fold_norm(const mxc_op *layer, const mxc_op *norm, mxc_op **fold, mxc_op **folded) {
    mxc_linear linear;
    mxc_norm scale;
    *fold = *folded = NULL;
    if (!mxci_fold_fits(layer, norm, &linear, &scale))
        return MXC_OK;
    MXC_TRY(make_fold(layer, &scale, fold));
    mxc_status status = mxci_op_like(layer, mxc_op_get_def(layer)->name, linear.no_bias, NULL, folded);
    if (status != MXC_OK) {
        mxc_op_release(*fold);
        *fold = NULL;
    }
    return status;
}
