/* SPDX-License-Identifier: Apache-2.0 */
/* box_iou: the intersection over union of boxes. lhs (a..., 4), rhs (b..., 4), out (a..., b...): of each box of lhs
 * with each of rhs, 0 where the union is empty. The gradient is 0, as in MXNet. */
#include "math/assign.h"
#include "operator/detection/boxes_kernels.h"
#include "operator/detection/detection.h"
#include "operator/infer.h"

typedef mxci_iou_params iou_params;

enum { LHS, RHS };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(iou_params, format), .name = "format", .type = MXC_PARAM_ENUM, .initial = "corner",
     .choices = "corner,center",
     .doc = "Format of boxes: corner is (left, top, right, bottom), center is (x, y, width, height) with the centre's "
            "coordinates."},
    MXC_PARAM_END,
};

/* An argument's last axis has 4 elements; its other axes, n of them, are those of out from axis first on. */
static mxc_status infer_boxes(mxc_op_sig *sig, int slot, int first, int n) {
    mxc_shape boxes = mxci_shape_axes(n + 1), out = mxci_shape_axes(sig->out_shape[0].ndim);
    boxes.dim[n] = 4;
    for (int i = 0; i < n; i++)
        boxes.dim[i] = sig->out_shape[0].dim[first + i];
    MXC_TRY(mxc_sig_set_shape(sig, slot, &boxes));
    for (int i = 0; i < n; i++)
        out.dim[first + i] = sig->in_shape[slot].dim[i];
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status box_iou_infer_shape(mxc_op_sig *sig) {
    int left = sig->in_shape[LHS].ndim, right = sig->in_shape[RHS].ndim, out = sig->out_shape[0].ndim;
    mxc_shape shape;
    if (left == 0 || right == 0)
        return mxc_sig_fail(sig, "argument '%s': expected boxes, found a scalar", left == 0 ? "lhs" : "rhs");
    left = left < 0 && right > 0 && out >= 0 ? out + 2 - right : left;
    right = right < 0 && left > 0 && out >= 0 ? out + 2 - left : right;
    if (left < 0 || right < 0)
        return MXC_OK;
    if (left < 1 || right < 1 || left + right - 2 > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "output: %d axes do not fit arguments of %d and %d axes", out, left, right);
    shape = mxci_shape_axes(left + right - 2);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    MXC_TRY(infer_boxes(sig, LHS, 0, left - 1));
    return infer_boxes(sig, RHS, left - 1, right - 1);
}

/* Boxes begin..end-1 of lhs. */
static void box_iou_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    int64_t n = mxci_tensor_size(&call->in[RHS]) / 4;
    int centred = ((const iou_params *)call->params)->format == MXCI_BOX_CENTER, add = call->req[0] == MXC_REQ_ADD;
    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (call->out[0].dtype == MXC_F32)
            mxci_box_overlaps_f32(mxci_at(&call->in[LHS], i * 4), call->in[RHS].data, n, centred, add,
                                  mxci_at(&call->out[0], i * n));
        else
            mxci_box_overlaps_f64(mxci_at(&call->in[LHS], i * 4), call->in[RHS].data, n, centred, add,
                                  mxci_at(&call->out[0], i * n));
}

static mxc_status box_iou_forward(const mxc_op_call *call) {
    int64_t n = mxci_tensor_size(&call->in[RHS]) / 4;
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->out[0]) > 0)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[LHS]) / 4, MXCI_GRAIN / 8 / n + 1, box_iou_forward_part,
                         (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_box_iou = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_box_iou",
    .aliases = "box_iou",
    .doc = "Intersection over union of each box of lhs (a...,4) with each box of rhs (b...,4): out (a...,b...)",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(iou_params),
    .args = "lhs,rhs",
    .infer_shape = box_iou_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .forward = {[MXC_CPU] = box_iou_forward},
};
