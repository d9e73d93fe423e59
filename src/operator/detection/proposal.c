/* SPDX-License-Identifier: Apache-2.0 */
/* Proposal: regions of one image that may contain objects (Ren et al., Faster R-CNN, 2015). Around each of h*w
 * positions there are A anchors, each ratio with each scale. cls_score (1,2*A,h,w): of background, then of an object;
 * bbox_pred (1,4*A,h,w): offsets from each anchor to a box; im_info (1,3): height and width of the image, and the scale
 * that it was resized by. output (R,5): rows (0, left, top, right, bottom) of the rpn_post_nms_top_n best boxes that do
 * not overlap by more than threshold, repeated where there are fewer; score (R,1), visible if output_score.
 *
 * Boxes at positions beyond the image and boxes smaller than rpn_min_size get a score of -1. The gradient is 0. There
 * is one image, so the operator runs on one thread. */
#include "math/assign.h"
#include "math/sort_kernels.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

typedef mxci_proposal_params proposal_params;

enum { SCORES, STEPS, INFO };
enum { OUTPUT, SCORE };

#define COUNT(field) \
    .type = MXC_PARAM_INT, MXC_PARAM_FIELD(proposal_params, field), .bounded = 1, .maximum = 2147483647.0
static const mxc_param schema[] = {
    {.name = "rpn_pre_nms_top_n",
     COUNT(rpn_pre_nms_top_n),
     .minimum = -1,
     .initial = "6000",
     .doc = "Number of best boxes before non-maximum suppression. 0 or below: all."},
    {.name = "rpn_post_nms_top_n",
     COUNT(rpn_post_nms_top_n),
     .minimum = 1,
     .initial = "300",
     .doc = "Number of boxes in output after non-maximum suppression."},
    {MXC_PARAM_FIELD(proposal_params, threshold), .name = "threshold", .type = MXC_PARAM_FLOAT, .initial = "0.7",
     .doc = "Intersection over union with a better box above which a box is suppressed."},
    {.name = "rpn_min_size",
     COUNT(rpn_min_size),
     .initial = "16",
     .doc = "Minimum width and height of a box in pixels of the unscaled image."},
    {MXC_PARAM_FIELD(proposal_params, scales), .name = "scales", .type = MXC_PARAM_FLOATS, .initial = "(4,8,16,32)",
     .doc = "Sizes of the anchor boxes, in units of feature_stride."},
    {MXC_PARAM_FIELD(proposal_params, ratios), .name = "ratios", .type = MXC_PARAM_FLOATS, .initial = "(0.5,1,2)",
     .doc = "Aspect ratios of the anchor boxes, height over width."},
    {.name = "feature_stride",
     COUNT(feature_stride),
     .minimum = 1,
     .initial = "16",
     .doc = "Distance in pixels of the image between neighbouring positions of the feature map."},
    {MXC_PARAM_FIELD(proposal_params, output_score), .name = "output_score", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Return the scores as a second output."},
    {MXC_PARAM_FIELD(proposal_params, iou_loss), .name = "iou_loss", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Predicted offsets are those of corners instead of centre and size."},
    MXC_PARAM_END,
};
#undef COUNT

static mxc_status proposal_check_params(void *params) {
    const proposal_params *p = params;
    if (p->scales.n < 1 || p->ratios.n < 1)
        return MXC_FAIL(MXC_EINVAL, "Proposal: expected at least one of scales and of ratios");
    for (int i = 0; i < p->scales.n; i++)
        if (!(p->scales.value[i] > 0))
            return MXC_FAIL(MXC_EINVAL, "Proposal: scales has %g, expected above 0", p->scales.value[i]);
    for (int i = 0; i < p->ratios.n; i++)
        if (!(p->ratios.value[i] > 0))
            return MXC_FAIL(MXC_EINVAL, "Proposal: ratios has %g, expected above 0", p->ratios.value[i]);
    return MXC_OK;
}

static int proposal_n_visible(const void *params) {
    return ((const proposal_params *)params)->output_score ? 2 : 1;
}

static mxc_status proposal_infer_shape(mxc_op_sig *sig) {
    const proposal_params *p = sig->params;
    int64_t anchors = (int64_t)p->scales.n * p->ratios.n, rows = p->rpn_post_nms_top_n;
    mxc_shape scores = mxci_shape_of(4, (int64_t[]){1, 2 * anchors, -1, -1}), steps;
    mxc_shape info = mxci_shape_of(2, (int64_t[]){1, 3});
    mxc_shape out = mxci_shape_of(2, (int64_t[]){rows, 5}), score = mxci_shape_of(2, (int64_t[]){rows, 1});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, SCORES, &scores));
        scores = sig->in_shape[SCORES];
        steps = mxci_shape_of(4, (int64_t[]){1, 4 * anchors, scores.dim[2], scores.dim[3]});
        MXC_TRY(mxc_sig_set_shape(sig, STEPS, &steps));
        scores.dim[2] = sig->in_shape[STEPS].dim[2];
        scores.dim[3] = sig->in_shape[STEPS].dim[3];
    }
    MXC_TRY(mxc_sig_set_shape(sig, INFO, &info));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(OUTPUT), &out));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(SCORE), &score);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* For each box two items, an index and a row; and both outputs, which the requests may add. */
static size_t proposal_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t element = mxc_dtype_size(sig->in_type[0]);
    size_t each = mxci_size_of(mxc_shape_size(&sig->in_shape[SCORES]) / 2,
                               2 * sizeof(mxci_sort_item) + sizeof(int64_t) + 5 * element);
    return pass == MXC_FORWARD ? mxci_size_add(each, mxci_size_of(sig->out_shape[0].dim[0], 6 * element)) : 0;
}

static mxc_status proposal_forward(const mxc_op_call *call) {
    const mxc_tensor *in = call->in, *out = call->out;
    mxci_proposal_shape s = mxci_proposal_shape_of(call->params, &call->in[SCORES].shape);
    int64_t count = s.anchors * s.in[0] * s.in[1];
    mxci_sort_item *items = call->temp, *spare = items + count;
    int64_t *order = (int64_t *)(spare + count);
    size_t element = mxc_dtype_size(in[SCORES].dtype);
    char *rows = (char *)(order + count), *boxes = rows + (size_t)count * 5 * element;
    char *scores = boxes + (size_t)s.limit * 5 * element;
    const void *objects = mxci_at(&in[SCORES], count); /* the scores of objects are behind those of background */
    if (in[SCORES].dtype == MXC_F32)
        mxci_propose_f32(&s, objects, in[STEPS].data, in[INFO].data, (float *)rows, items, spare, order, (float *)boxes,
                         (float *)scores);
    else
        mxci_propose_f64(&s, objects, in[STEPS].data, in[INFO].data, (double *)rows, items, spare, order,
                         (double *)boxes, (double *)scores);
    mxci_assign_row(call->req[OUTPUT], out[OUTPUT].dtype, out[OUTPUT].data, boxes, s.limit * 5);
    mxci_assign_row(call->req[SCORE], out[SCORE].dtype, out[SCORE].data, scores, s.limit);
    return MXC_OK;
}

const mxc_op_def mxci_op_proposal = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_Proposal",
    .aliases = "Proposal",
    .doc =
        "Region proposals: output (R,5) with rows (0, left, top, right, bottom) of the best boxes of an image, score "
        "(R,1); cls_score (1,2*A,h,w), bbox_pred (1,4*A,h,w), im_info (1,3) = height, width and scale of the image",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(proposal_params),
    .params_check = proposal_check_params,
    .args = "cls_score,bbox_pred,im_info",
    .outputs = "output,score",
    .n_visible = proposal_n_visible,
    .infer_shape = proposal_infer_shape,
    .temp_bytes = proposal_temp_bytes,
    .forward = {[MXC_CPU] = proposal_forward},
};
