/* SPDX-License-Identifier: Apache-2.0 */
/* Proposal and MultiProposal: regions of images that may contain objects (Ren et al., Faster R-CNN, 2015). Around each
 * of h*w positions there are A anchors, each ratio with each scale. cls_prob (N,2*A,h,w): of background, then of an
 * object; bbox_pred (N,4*A,h,w): offsets from each anchor to a box; im_info (N,3): height and width of the image, and
 * the scale that it was resized by. output (N*R,5): for each image rows (image, left, top, right, bottom) of the R =
 * rpn_post_nms_top_n best boxes that do not overlap by more than threshold, repeated where there are fewer; score
 * (N*R,1), visible if output_score. Proposal takes one image.
 *
 * Boxes at positions beyond the image and boxes smaller than rpn_min_size get a score of -1. The gradient is 0. Images
 * are distributed over threads. */
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

/* images: 1, or -1 for any number. */
static mxc_status infer(mxc_op_sig *sig, int64_t images) {
    const proposal_params *p = sig->params;
    int64_t anchors = (int64_t)p->scales.n * p->ratios.n, rows = p->rpn_post_nms_top_n;
    mxc_shape scores = mxci_shape_of(4, (int64_t[]){images, 2 * anchors, -1, -1}), steps, out, score;
    mxc_shape info = mxci_shape_of(2, (int64_t[]){images, 3});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, SCORES, &scores));
        scores = sig->in_shape[SCORES];
        steps = mxci_shape_of(4, (int64_t[]){scores.dim[0], 4 * anchors, scores.dim[2], scores.dim[3]});
        MXC_TRY(mxc_sig_set_shape(sig, STEPS, &steps));
        info.dim[0] = sig->in_shape[STEPS].dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, INFO, &info));
        scores.dim[0] = sig->in_shape[INFO].dim[0];
        scores.dim[2] = sig->in_shape[STEPS].dim[2];
        scores.dim[3] = sig->in_shape[STEPS].dim[3];
    }
    rows = mxci_dim_mul(scores.dim[0], rows);
    out = mxci_shape_of(2, (int64_t[]){rows, 5});
    score = mxci_shape_of(2, (int64_t[]){rows, 1});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(OUTPUT), &out));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(SCORE), &score);
}

static mxc_status proposal_infer_shape(mxc_op_sig *sig) {
    return infer(sig, 1);
}

static mxc_status multi_proposal_infer_shape(mxc_op_sig *sig) {
    return infer(sig, -1);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Scratch of one part, for one image: for each box two items, an index and a row; and both outputs, which the requests
 * may add. */
typedef struct proposal_scratch {
    mxci_sort_item *items, *spare;
    int64_t *order;
    void *rows, *boxes, *scores;
} proposal_scratch;

static proposal_scratch proposal_take_scratch(mxci_scratch *from, const mxc_shape *scores, int64_t limit,
                                              size_t element) {
    const int64_t count = mxci_shape_count(scores, 1, 4) / 2;
    proposal_scratch s;
    s.items = mxci_scratch_array(from, count, sizeof *s.items);
    s.spare = mxci_scratch_array(from, count, sizeof *s.spare);
    s.order = mxci_scratch_array(from, count, sizeof *s.order);
    s.rows = mxci_scratch_array(from, mxci_dim_mul(count, 5), element);
    s.boxes = mxci_scratch_array(from, mxci_dim_mul(limit, 5), element);
    s.scores = mxci_scratch_array(from, limit, element);
    return s;
}

static size_t proposal_scratch_bytes(const void *params, const mxc_shape *scores, mxc_dtype dtype) {
    mxci_scratch measure = {0};
    proposal_take_scratch(&measure, scores, ((const proposal_params *)params)->rpn_post_nms_top_n,
                          mxc_dtype_size(dtype));
    return measure.bytes;
}

/* No more parts than images. */
static size_t proposal_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t images = sig->in_shape[SCORES].dim[0];
    const int64_t parts = images < sig->parallelism ? images : sig->parallelism;
    return pass == MXC_FORWARD
               ? mxci_size_mul(proposal_scratch_bytes(sig->params, &sig->in_shape[SCORES], sig->in_type[0]),
                               (size_t)parts)
               : 0;
}

/* The image of each row of boxes. */
static void set_image(mxc_dtype dtype, void *boxes, int64_t rows, int64_t image) {
    for (int64_t i = 0; i < rows; i++)
        if (dtype == MXC_F32)
            ((float *)boxes)[i * 5] = (float)image;
        else
            ((double *)boxes)[i * 5] = (double)image;
}

/* Images begin..end-1. */
static void proposal_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *in = call->in, *out = call->out;
    const mxc_dtype dtype = in[SCORES].dtype;
    const mxci_proposal_shape s = mxci_proposal_shape_of(call->params, &in[SCORES].shape);
    const int64_t count = s.anchors * s.in[0] * s.in[1];
    const size_t bytes = proposal_scratch_bytes(call->params, &in[SCORES].shape, dtype);
    proposal_scratch t = proposal_take_scratch(&(mxci_scratch){.base = (char *)call->temp + bytes * (size_t)part},
                                               &in[SCORES].shape, s.limit, mxc_dtype_size(dtype));
    for (int64_t i = begin; i < end; i++) {
        /* the scores of objects are behind those of background */
        const void *objects = mxci_at(&in[SCORES], (2 * i + 1) * count), *steps = mxci_at(&in[STEPS], i * 4 * count);
        const void *info = mxci_at(&in[INFO], i * 3);
        if (dtype == MXC_F32)
            mxci_propose_f32(&s, objects, steps, info, t.rows, t.items, t.spare, t.order, t.boxes, t.scores);
        else
            mxci_propose_f64(&s, objects, steps, info, t.rows, t.items, t.spare, t.order, t.boxes, t.scores);
        set_image(dtype, t.boxes, s.limit, i);
        mxci_assign_row(call->req[OUTPUT], dtype, mxci_at(&out[OUTPUT], i * s.limit * 5), t.boxes, s.limit * 5);
        mxci_assign_row(call->req[SCORE], dtype, mxci_at(&out[SCORE], i * s.limit), t.scores, s.limit);
    }
}

static mxc_status proposal_forward(const mxc_op_call *call) {
    mxc_parallel_for(call->run, call->in[SCORES].shape.dim[0], 1, proposal_part, (void *)call);
    return MXC_OK;
}

/* Members that both descriptors have alike. */
#define COMMON                                                                                               \
    .size = sizeof(mxc_op_def), .flags = MXC_OP_ZERO_GRADIENT, .params = schema,                             \
    .param_size = sizeof(proposal_params), .params_check = proposal_check_params, .outputs = "output,score", \
    .n_visible = proposal_n_visible, .temp_bytes = proposal_temp_bytes, .forward = {[MXC_CPU] = proposal_forward}

const mxc_op_def mxci_op_proposal = {
    COMMON,
    .name = "_contrib_Proposal",
    .aliases = "Proposal",
    .doc =
        "Region proposals: output (R,5) with rows (0, left, top, right, bottom) of the best boxes of an image, score "
        "(R,1); cls_prob (1,2*A,h,w), bbox_pred (1,4*A,h,w), im_info (1,3) = height, width and scale of the image",
    .args = "cls_prob,bbox_pred,im_info",
    .infer_shape = proposal_infer_shape,
};

const mxc_op_def mxci_op_multi_proposal = {
    COMMON,
    .name = "_contrib_MultiProposal",
    .aliases = "MultiProposal",
    .doc =
        "Region proposals of N images: output (N*R,5) with rows (image, left, top, right, bottom) of the R best boxes "
        "of each, score (N*R,1); cls_prob (N,2*A,h,w), bbox_pred (N,4*A,h,w), im_info (N,3) = height, width and scale "
        "of each image",
    .args = "cls_prob,bbox_pred,im_info",
    .infer_shape = multi_proposal_infer_shape,
};
