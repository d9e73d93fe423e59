/*
 * MultiBoxPrior: boxes spread evenly over an image, for a detector to start from. data (N,C,h,w) is read for its shape
 * only; out (1, h*w*K, 4) holds K boxes (left, top, right, bottom; the image is 0 to 1) around each of h*w places, row
 * by row: one of each size in the first ratio, then one of the first size in each other ratio. A size is the height of
 * a square, a ratio width over height. On planes that are not square, boxes get a width for an image of that form, as
 * in MXNet since 1.0.
 */
#include <math.h>

#include "operator/common.h"
#include "operator/kernels/convert.h"

typedef struct prior_params {
    mxc_floats sizes, ratios, steps, offsets;
    int32_t clip;
} prior_params;

static const mxc_param schema[] = {
    {.name = "sizes", .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(prior_params, sizes), .initial = "(1)",
     .doc = "heights of the boxes of the first ratio, 1 for the whole image"},
    {.name = "ratios", .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(prior_params, ratios), .initial = "(1)",
     .doc = "widths over heights"},
    {.name = "clip", .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(prior_params, clip), .initial = "false",
     .doc = "cut boxes to the image"},
    {.name = "steps", .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(prior_params, steps), .initial = "(-1,-1)",
     .doc = "from one place to the next, along y and x; -1: as many as there are elements fill the image"},
    {.name = "offsets", .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(prior_params, offsets), .initial = "(0.5,0.5)",
     .doc = "of the first place, along y and x, in steps"},
    MXC_PARAM_END};

static mxc_status check_params(void *params) {
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

static int boxes_each(const prior_params *p) {
    return p->sizes.n + p->ratios.n - 1;
}

static mxc_status infer_shape(mxc_op_sig *sig) {
    mxc_shape data = mxci_shape_axes(4), out = mxci_shape_of(3, (int64_t[]){1, -1, 4});
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    data = sig->in_shape[0];
    if (data.dim[2] >= 0 && data.dim[3] >= 0) {
        mxc_shape places = mxci_shape_of(3, (int64_t[]){data.dim[2], data.dim[3], boxes_each(sig->params)});
        out.dim[1] = mxc_shape_size(&places);
        if (out.dim[1] < 0)
            return mxc_sig_fail(sig, "argument 'data': too many places");
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

enum { MOST_BOXES = 2 * MXC_TUPLE_MAX };

typedef struct prior_run {
    const mxc_op_call *call;
    const prior_params *params;
    int64_t width;
    double step[2];                 /* along y and x */
    double half[MOST_BOXES][2];     /* of each box's height and width */
} prior_run;

static prior_run open_run(const mxc_op_call *call) {
    const prior_params *p = call->params;
    const int64_t *in = call->in[0].shape.dim;
    prior_run r = {.call = call, .params = p, .width = in[3]};
    int given = p->steps.value[0] > 0 && p->steps.value[1] > 0;
    for (int k = 0; k < 2; k++)
        r.step[k] = given ? p->steps.value[k] : 1 / (double)in[k + 2];
    for (int i = 0; i < boxes_each(p); i++) {
        double ratio = sqrt(p->ratios.value[i < p->sizes.n ? 0 : i - p->sizes.n + 1]);
        double size = p->sizes.value[i < p->sizes.n ? i : 0];
        r.half[i][0] = size / ratio / 2;
        r.half[i][1] = size * ratio / 2 * (double)in[2] / (double)in[3];
    }
    return r;
}

/* The boxes of places begin..end-1. */
static void forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const prior_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    int n = boxes_each(r->params);
    double box[MOST_BOXES * 4], row[MOST_BOXES * 4];
    (void)part;
    for (int64_t place = begin; place < end; place++) {
        for (int i = 0; i < n * 4; i++) {
            int k = 1 - (i & 1); /* x, y, x, y */
            double at = (double)(k ? place % r->width : place / r->width) + r->params->offsets.value[k];
            box[i] = at * r->step[k] + (i & 2 ? r->half[i / 4][k] : -r->half[i / 4][k]);
            if (r->params->clip)
                box[i] = fmin(fmax(box[i], 0), 1);
        }
        mxci_convert(MXC_F64, box, out->dtype, row, n * 4);
        mxci_put_row(r->call->req[0], out->dtype, mxci_at(out, place * n * 4), row, n * 4);
    }
}

static mxc_status forward(const mxc_op_call *call) {
    int64_t places = call->in[0].shape.dim[2] * call->in[0].shape.dim[3];
    prior_run r = open_run(call);
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, places, MXCI_GRAIN / 64, forward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_multibox_prior = {
    .size = sizeof(mxc_op_def), .name = "_contrib_MultiBoxPrior", .aliases = "MultiBoxPrior",
    .doc = "out (1,h*w*K,4): K = sizes + ratios - 1 boxes (left, top, right, bottom; the image is 0 to 1) around each "
           "element of data's planes (N,C,h,w)",
    .flags = MXC_OP_ZERO_GRADIENT, .params = schema, .param_size = sizeof(prior_params), .params_check = check_params,
    .infer_shape = infer_shape, .dtypes = MXC_DTYPES_FLOAT, .forward = {[MXC_CPU] = forward}};
