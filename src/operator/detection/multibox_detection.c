/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxDetection: the detections of a single-shot detector (Liu et al., SSD, 2016). cls_prob (N,C,A): scores of
 * classes for each anchor, class 0 is the background; loc_pred (N,4*A): offsets from each anchor of anchor (1,A,4) to a
 * box; out (N,A,6): rows (class - 1, score, left, top, right, bottom) of the boxes whose best class reaches threshold,
 * in descending order of score. A box that overlaps a better one of its class by nms_threshold keeps its row with class
 * -1, as do all behind the first nms_topk, in the order of anchors; other rows are -1. With an nms_threshold outside of
 * (0,1] rows are in the order of anchors, and nothing is suppressed. */
#include "math/assign.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

typedef mxci_detection_params detection_params;

enum { SCORES, LOC, ANCHORS };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(detection_params, clip), .name = "clip", .type = MXC_PARAM_BOOL, .initial = "true",
     .doc = "Clip boxes to the image, coordinates 0 to 1."},
    {MXC_PARAM_FIELD(detection_params, threshold), .name = "threshold", .type = MXC_PARAM_FLOAT, .initial = "0.01",
     .doc = "Minimum score of a detection. Boxes below it are background."},
    {MXC_PARAM_FIELD(detection_params, background_id), .name = "background_id", .type = MXC_PARAM_INT, .initial = "0",
     .doc = "Accepted for compatibility with MXNet; has no effect, the background is class 0."},
    {MXC_PARAM_FIELD(detection_params, nms_threshold), .name = "nms_threshold", .type = MXC_PARAM_FLOAT,
     .initial = "0.5", .doc = "Intersection over union with a better box from which on a box is suppressed."},
    {MXC_PARAM_FIELD(detection_params, force_suppress), .name = "force_suppress", .type = MXC_PARAM_BOOL,
     .initial = "false",
     .doc = "Suppress boxes across classes; otherwise only boxes of the same class suppress each other."},
    {MXC_PARAM_FIELD(detection_params, variances), .name = "variances", .type = MXC_PARAM_FLOATS,
     .initial = "(0.1,0.1,0.2,0.2)", .doc = "Scale factors of the predicted offsets in x, y, width and height."},
    {MXC_PARAM_FIELD(detection_params, nms_topk), .name = "nms_topk", .type = MXC_PARAM_INT, .initial = "-1",
     .doc = "Number of best boxes that suppression considers. 0 or below: all."},
    MXC_PARAM_END,
};

static mxc_status multibox_detection_check_params(void *params) {
    int n = ((const detection_params *)params)->variances.n;
    return n == 4 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "MultiBoxDetection: variances has %d entries, expected 4", n);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status set_shapes(mxc_op_sig *sig, int64_t samples, int64_t anchors) {
    int64_t coordinates = anchors < 0 || anchors > INT64_MAX / 8 ? -1 : anchors * 4;
    mxc_shape scores = mxci_shape_of(3, (int64_t[]){samples, -1, anchors});
    mxc_shape loc = mxci_shape_of(2, (int64_t[]){samples, coordinates});
    mxc_shape boxes = mxci_shape_of(3, (int64_t[]){1, anchors, 4});
    mxc_shape out = mxci_shape_of(3, (int64_t[]){samples, anchors, 6});
    MXC_TRY(mxc_sig_set_shape(sig, SCORES, &scores));
    MXC_TRY(mxc_sig_set_shape(sig, LOC, &loc));
    MXC_TRY(mxc_sig_set_shape(sig, ANCHORS, &boxes));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status multibox_detection_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *in = sig->in_shape, *out = sig->out_shape;
    MXC_TRY(set_shapes(sig, -1, -1));
    return set_shapes(sig, mxci_known(in[SCORES].dim[0], mxci_known(in[LOC].dim[0], out[0].dim[0])),
                      mxci_known(in[SCORES].dim[2], mxci_known(in[ANCHORS].dim[1], out[0].dim[1])));
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Scratch of one part: the kernel's, then an image's rows, which the request may add. */
static size_t multibox_detection_scratch_bytes(const mxci_detection_shape *s, size_t element) {
    size_t rows = mxci_size_of(mxci_dim_mul(s->anchors, 6), element);
    return mxci_size_align(mxci_size_add(mxci_detection_scratch(s), rows));
}

static size_t multibox_detection_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_detection_shape s = mxci_detection_shape_of(sig->params, &sig->in_shape[SCORES]);
    size_t element = sig->in_type[0] == MXC_F64 ? sizeof(double) : sizeof(float);
    size_t parts = mxci_size_mul(multibox_detection_scratch_bytes(&s, element), (size_t)sig->parallelism);
    return pass == MXC_FORWARD ? parts : 0;
}

typedef struct detection_run {
    const mxc_op_call *call;
    mxci_detection_shape shape;
} detection_run;

/* Images begin..end-1. */
static void multibox_detection_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const detection_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxci_detection_shape *s = &r->shape;
    const mxc_tensor *in = call->in;
    char *scratch =
        (char *)call->temp + multibox_detection_scratch_bytes(s, mxc_dtype_size(in[0].dtype)) * (size_t)part;
    void *rows = scratch + mxci_detection_scratch(s);
    for (int64_t n = begin; n < end; n++) {
        const void *scores = mxci_at(&in[SCORES], n * s->classes * s->anchors);
        const void *loc = mxci_at(&in[LOC], n * s->anchors * 4);
        if (in[0].dtype == MXC_F32)
            mxci_multibox_detect_f32(s, in[ANCHORS].data, scores, loc, rows, scratch);
        else
            mxci_multibox_detect_f64(s, in[ANCHORS].data, scores, loc, rows, scratch);
        mxci_assign_row(call->req[0], in[0].dtype, mxci_at(&call->out[0], n * s->anchors * 6), rows, s->anchors * 6);
    }
}

static mxc_status multibox_detection_forward(const mxc_op_call *call) {
    detection_run r = {call, mxci_detection_shape_of(call->params, &call->in[SCORES].shape)};
    if (r.shape.anchors > 0 && call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, call->in[SCORES].shape.dim[0], 1, multibox_detection_forward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_multibox_detection = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_MultiBoxDetection",
    .aliases = "MultiBoxDetection",
    .doc = "Detections of a single-shot detector: out (N,A,6) with rows (class, score, left, top, right, bottom) in "
           "descending order of score, decoded from anchor (1,A,4) and offsets loc_pred (N,4*A), with the best class "
           "of cls_prob (N,C,A); class -1: background or suppressed",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(detection_params),
    .params_check = multibox_detection_check_params,
    .args = "cls_prob,loc_pred,anchor",
    .infer_shape = multibox_detection_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .temp_bytes = multibox_detection_temp_bytes,
    .forward = {[MXC_CPU] = multibox_detection_forward},
};
