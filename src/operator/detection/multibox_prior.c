/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxPrior: anchors for a single-shot detector. data (N,C,h,w) is read for its shape only; out (1, h*w*K, 4) holds
 * K boxes (left, top, right, bottom; the image is 0 to 1) around each of h*w positions, row by row: one of each size
 * with the first ratio, then one of the first size with each other ratio. A size is the height of a square, a ratio
 * width over height. On planes that are not square, widths are scaled by the aspect ratio of the plane, as in MXNet
 * since 1.0. */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

typedef mxci_prior_params prior_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(prior_params, sizes), .name = "sizes", .type = MXC_PARAM_FLOATS, .initial = "(1)",
     .doc = "Heights of the boxes with the first aspect ratio, as a fraction of the image height."},
    {MXC_PARAM_FIELD(prior_params, ratios), .name = "ratios", .type = MXC_PARAM_FLOATS, .initial = "(1)",
     .doc = "Aspect ratios, width over height."},
    {MXC_PARAM_FIELD(prior_params, clip), .name = "clip", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Clip boxes to the image."},
    {MXC_PARAM_FIELD(prior_params, steps), .name = "steps", .type = MXC_PARAM_FLOATS, .initial = "(-1,-1)",
     .doc = "Distance between neighbouring positions along y and x, as a fraction of the image. -1: 1 / h and 1 / w."},
    {MXC_PARAM_FIELD(prior_params, offsets), .name = "offsets", .type = MXC_PARAM_FLOATS, .initial = "(0.5,0.5)",
     .doc = "Offset of the first position along y and x, in steps."},
    MXC_PARAM_END,
};

static mxc_status multibox_prior_check_params(void *params) {
    const prior_params *p = params;
    if (p->sizes.n < 1 || p->ratios.n < 1)
        return MXC_FAIL(MXC_EINVAL, "MultiBoxPrior: expected at least one of sizes and of ratios");
    if (p->steps.n != 2 || p->offsets.n != 2)
        return MXC_FAIL(MXC_EINVAL, "MultiBoxPrior: steps has %d entries and offsets %d, expected 2", p->steps.n,
                        p->offsets.n);
    for (int i = 0; i < p->ratios.n; i++)
        if (!(p->ratios.value[i] > 0))
            return MXC_FAIL(MXC_EINVAL, "MultiBoxPrior: ratios has %g, expected above 0", p->ratios.value[i]);
    return MXC_OK;
}

static mxc_status multibox_prior_infer_shape(mxc_op_sig *sig) {
    mxc_shape data = mxci_shape_axes(4), out = mxci_shape_of(3, (int64_t[]){1, -1, 4});
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    data = sig->in_shape[0];
    if (data.dim[2] >= 0 && data.dim[3] >= 0) {
        mxc_shape positions = mxci_shape_of(3, (int64_t[]){data.dim[2], data.dim[3], mxci_prior_boxes(sig->params)});
        out.dim[1] = mxc_shape_size(&positions);
        if (out.dim[1] < 0)
            return mxc_sig_fail(sig, "argument 'data': too many positions");
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct prior_run {
    const mxc_op_call *call;
    mxci_prior prior;
} prior_run;

/* The boxes of positions begin..end-1. */
static void multibox_prior_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const prior_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    double box[MXC_FLOATS_MAX * 8], row[MXC_FLOATS_MAX * 8];
    int n = r->prior.n * 4;
    (void)part;
    for (int64_t position = begin; position < end; position++) {
        for (int i = 0; i < n; i++)
            box[i] = mxci_prior_number(&r->prior, position, i);
        mxci_convert(MXC_F64, box, out->dtype, row, n);
        mxci_assign_row(r->call->req[0], out->dtype, mxci_at(out, position * n), row, n);
    }
}

static mxc_status multibox_prior_forward(const mxc_op_call *call) {
    const int64_t *in = call->in[0].shape.dim;
    prior_run r = {call, mxci_prior_of(call->params, in)};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, in[2] * in[3], MXCI_GRAIN / 64, multibox_prior_forward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_multibox_prior = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_MultiBoxPrior",
    .aliases = "MultiBoxPrior",
    .doc = "Anchor boxes: out (1,h*w*K,4) with K = number of sizes + number of ratios - 1 boxes (left, top, right, "
           "bottom; coordinates 0 to 1) centred at each position of data (N,C,h,w)",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(prior_params),
    .params_check = multibox_prior_check_params,
    .infer_shape = multibox_prior_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = multibox_prior_forward},
};
