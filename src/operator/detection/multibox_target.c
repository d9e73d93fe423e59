/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxTarget: training targets of a single-shot detector (Liu et al., SSD, 2016). anchor (1,A,4): boxes (left, top,
 * right, bottom); label (N,M,5 or more): class and box, the first of class -1 ends an image's labels; cls_pred (N,C,A):
 * scores of the classes, 0 is the background. cls_target (N,A): class + 1 of the label that the anchor is matched to, 0
 * for background, ignore_label for anchors that do not contribute to the loss; loc_target (N,4*A): the offsets from the
 * anchor to the label's box, and loc_mask (N,4*A) 1 where there are some.
 *
 * A label is matched to the free anchor that it overlaps most, best pairs first; then each anchor that overlaps a label
 * by more than overlap_threshold is matched to it. The others are background, or with mining only those with the lowest
 * background score, negative_mining_ratio for each matched anchor. An image without labels is ignored. */
#include "math/assign.h"
#include "operator/detection/detection.h"
#include "operator/index/rows.h"
#include "operator/infer.h"

typedef mxci_target_params target_params;

enum { ANCHOR, LABEL, SCORES };
enum { LOC, MASK, TARGET };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(target_params, overlap_threshold), .name = "overlap_threshold", .type = MXC_PARAM_FLOAT,
     .initial = "0.5",
     .doc = "Intersection over union with a label above which an anchor is matched to it. 0 or below: each label is "
            "matched to its best anchor only."},
    {MXC_PARAM_FIELD(target_params, ignore_label), .name = "ignore_label", .type = MXC_PARAM_FLOAT, .initial = "-1",
     .doc = "Class target of anchors that do not contribute to the loss."},
    {MXC_PARAM_FIELD(target_params, negative_mining_ratio), .name = "negative_mining_ratio", .type = MXC_PARAM_FLOAT,
     .initial = "-1",
     .doc = "Number of background anchors per matched anchor, chosen by hard negative mining. 0 or below: all "
            "unmatched anchors are background."},
    {MXC_PARAM_FIELD(target_params, negative_mining_thresh), .name = "negative_mining_thresh", .type = MXC_PARAM_FLOAT,
     .initial = "0.5", .doc = "Anchors that overlap a label at least this much are not mined as background."},
    {MXC_PARAM_FIELD(target_params, minimum_negative_samples), .name = "minimum_negative_samples",
     .type = MXC_PARAM_INT, .initial = "0", .doc = "Accepted for compatibility with MXNet; has no effect."},
    {MXC_PARAM_FIELD(target_params, variances), .name = "variances", .type = MXC_PARAM_FLOATS,
     .initial = "(0.1,0.1,0.2,0.2)", .doc = "Divisors of the offsets in x, y, width and height."},
    MXC_PARAM_END,
};

static mxc_status multibox_target_check_params(void *params) {
    const target_params *p = params;
    if (p->variances.n != 4)
        return MXC_FAIL(MXC_EINVAL, "MultiBoxTarget: variances has %d entries, expected 4", p->variances.n);
    if (p->negative_mining_ratio > 0 && !(p->negative_mining_thresh > 0))
        return MXC_FAIL(MXC_EINVAL, "MultiBoxTarget: negative_mining_thresh is %g, expected above 0",
                        p->negative_mining_thresh);
    return MXC_OK;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* anchors: -1 where not known yet. */
static mxc_status set_shapes(mxc_op_sig *sig, int64_t samples, int64_t anchors) {
    int64_t coordinates = anchors < 0 || anchors > INT64_MAX / 8 ? -1 : anchors * 4;
    mxc_shape anchor = mxci_shape_of(3, (int64_t[]){1, anchors, 4});
    mxc_shape label = mxci_shape_of(3, (int64_t[]){samples, -1, -1});
    mxc_shape scores = mxci_shape_of(3, (int64_t[]){samples, -1, anchors});
    mxc_shape loc = mxci_shape_of(2, (int64_t[]){samples, coordinates});
    mxc_shape target = mxci_shape_of(2, (int64_t[]){samples, anchors});
    MXC_TRY(mxc_sig_set_shape(sig, ANCHOR, &anchor));
    MXC_TRY(mxc_sig_set_shape(sig, LABEL, &label));
    MXC_TRY(mxc_sig_set_shape(sig, SCORES, &scores));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(LOC), &loc));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(MASK), &loc));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(TARGET), &target);
}

static mxc_status multibox_target_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *in = sig->in_shape, *out = sig->out_shape;
    MXC_TRY(set_shapes(sig, -1, -1));
    MXC_TRY(set_shapes(sig, mxci_known(in[LABEL].dim[0], mxci_known(in[SCORES].dim[0], out[TARGET].dim[0])),
                       mxci_known(in[ANCHOR].dim[1], mxci_known(in[SCORES].dim[2], out[TARGET].dim[1]))));
    if (in[LABEL].dim[2] >= 0 && in[LABEL].dim[2] < 5)
        return mxc_sig_fail(sig, "argument 'label': axis 2 has %lld elements, expected at least 5",
                            (long long)in[LABEL].dim[2]);
    return mxci_sig_check_axis(sig, SCORES, 1);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Scratch of one part: the kernel's, then the three results of an image, which the requests may add. */
static size_t multibox_target_scratch_bytes(const mxci_target_shape *s, size_t element) {
    size_t rows = mxci_size_of(mxci_dim_mul(s->anchors, 9), element);
    return mxci_size_align(mxci_size_add(mxci_target_scratch(s), rows));
}

static size_t multibox_target_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_target_shape s = mxci_target_shape_of(sig->params, &sig->in_shape[LABEL], &sig->in_shape[SCORES]);
    size_t element = sig->in_type[0] == MXC_F64 ? sizeof(double) : sizeof(float);
    size_t parts = mxci_size_mul(multibox_target_scratch_bytes(&s, element), (size_t)sig->parallelism);
    return pass == MXC_FORWARD ? parts : 0;
}

typedef struct target_run {
    const mxc_op_call *call;
    mxci_target_shape shape;
} target_run;

/* Images begin..end-1. */
static void multibox_target_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const target_run *r = arg;
    const mxc_op_call *call = r->call;
    const mxci_target_shape *s = &r->shape;
    mxc_dtype dtype = call->in[0].dtype;
    size_t element = mxc_dtype_size(dtype), row = (size_t)s->anchors * element;
    char *scratch = (char *)call->temp + multibox_target_scratch_bytes(s, element) * (size_t)part;
    char *loc = scratch + mxci_target_scratch(s), *mask = loc + 4 * row, *target = mask + 4 * row;
    for (int64_t n = begin; n < end; n++) {
        const void *labels = mxci_at(&call->in[LABEL], n * s->labels * s->width);
        const void *scores = mxci_at(&call->in[SCORES], n * s->classes * s->anchors);
        if (dtype == MXC_F32)
            mxci_multibox_target_f32(s, call->in[ANCHOR].data, labels, scores, (float *)loc, (float *)mask,
                                     (float *)target, scratch);
        else
            mxci_multibox_target_f64(s, call->in[ANCHOR].data, labels, scores, (double *)loc, (double *)mask,
                                     (double *)target, scratch);
        mxci_assign_row(call->req[LOC], dtype, mxci_at(&call->out[LOC], n * s->anchors * 4), loc, s->anchors * 4);
        mxci_assign_row(call->req[MASK], dtype, mxci_at(&call->out[MASK], n * s->anchors * 4), mask, s->anchors * 4);
        mxci_assign_row(call->req[TARGET], dtype, mxci_at(&call->out[TARGET], n * s->anchors), target, s->anchors);
    }
}

static mxc_status multibox_target_forward(const mxc_op_call *call) {
    target_run r = {call, mxci_target_shape_of(call->params, &call->in[LABEL].shape, &call->in[SCORES].shape)};
    if (r.shape.anchors > 0)
        mxc_parallel_for(call->run, call->in[LABEL].shape.dim[0], 1, multibox_target_forward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_multibox_target = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_MultiBoxTarget",
    .aliases = "MultiBoxTarget",
    .doc =
        "Training targets of a single-shot detector, for anchors (1,A,4) and labels (N,M,5): loc_target and loc_mask "
        "(N,4*A), the offsets to the matched label's box and 1 where an anchor is matched, and cls_target (N,A), the "
        "label's class + 1, 0 for background or ignore_label; cls_pred (N,C,A) ranks anchors for hard negative mining",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(target_params),
    .params_check = multibox_target_check_params,
    .args = "anchor,label,cls_pred",
    .labels = 1 << LABEL,
    .outputs = "loc_target,loc_mask,cls_target",
    .infer_shape = multibox_target_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .temp_bytes = multibox_target_temp_bytes,
    .forward = {[MXC_CPU] = multibox_target_forward},
};
