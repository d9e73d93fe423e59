/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rearrangement of blocks of b by b positions to channels and back, arrays (N,C,H,W):
 * depth_to_space: out (N,C/b^2,H b,W b), out[n,c,h b + i,w b + j] = data[n,(i b + j) C/b^2 + c,h,w]
 * space_to_depth: out (N,C b^2,H/b,W/b), out[n,(i b + j) C + c,h,w] = data[n,c,h b + i,w b + j], the inverse.
 */
#include "operator/tensor/view_ops.h"

typedef mxci_block_params block_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(block_params, block_size), .name = "block_size", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 65536, .doc = "Height and width of a block, b."},
    MXC_PARAM_END,
};

/* The shapes of the array with more channels (deep) and of the one with larger planes (wide), each from the other. */
static mxc_status depth_to_space_infer(mxc_op_sig *sig, int deep_slot, int wide_slot) {
    int64_t b = ((const block_params *)sig->params)->block_size;
    mxc_shape deep = mxci_shape_axes(4), wide = mxci_shape_axes(4);
    const int64_t *d, *w;
    MXC_TRY(mxc_sig_set_shape(sig, deep_slot, &deep));
    MXC_TRY(mxc_sig_set_shape(sig, wide_slot, &wide));
    d = mxci_sig_shape(sig, deep_slot)->dim;
    w = mxci_sig_shape(sig, wide_slot)->dim;
    if ((d[1] >= 0 && d[1] % (b * b)) || (w[2] >= 0 && w[2] % b) || (w[3] >= 0 && w[3] % b))
        return mxc_sig_fail(sig, "argument 'data': its axes do not divide into blocks of %lld", (long long)b);
    for (int i = 0; i < 4; i++) {
        int64_t ratio = i == 1 ? b * b : b; /* of deep to wide, or of wide to deep */
        deep.dim[i] = w[i] < 0 || i == 0 ? w[i] : i == 1 ? mxci_dim_mul(w[i], ratio) : w[i] / ratio;
        wide.dim[i] = d[i] < 0 || i == 0 ? d[i] : i == 1 ? d[i] / ratio : mxci_dim_mul(d[i], ratio);
    }
    MXC_TRY(mxc_sig_set_shape(sig, deep_slot, &deep));
    return mxc_sig_set_shape(sig, wide_slot, &wide);
}

/* Each of the two operators is the gradient of the other. */
static mxc_status to_space_infer(mxc_op_sig *sig) {
    return depth_to_space_infer(sig, 0, MXC_SLOT_OUT(0));
}

static mxc_status to_space_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_to_space);
}

static mxc_status to_space_backward(const mxc_op_call *call) {
    return mxci_view_take_back(call, mxci_view_to_space_back);
}

const mxc_op_def mxci_op_depth_to_space = {
    .size = sizeof(mxc_op_def),
    .name = "depth_to_space",
    .doc = "Rearranges channels as blocks of b x b elements: data (N,C,H,W), out (N, C / b^2, H b, W b)",
    .params = schema,
    .param_size = sizeof(block_params),
    .infer_shape = to_space_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = to_space_forward},
    .backward = {[MXC_CPU] = to_space_backward},
};

static mxc_status to_depth_infer(mxc_op_sig *sig) {
    return depth_to_space_infer(sig, MXC_SLOT_OUT(0), 0);
}

static mxc_status to_depth_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_to_depth);
}

static mxc_status to_depth_backward(const mxc_op_call *call) {
    return mxci_view_take_back(call, mxci_view_to_depth_back);
}

const mxc_op_def mxci_op_space_to_depth = {
    .size = sizeof(mxc_op_def),
    .name = "space_to_depth",
    .doc = "Rearranges blocks of b x b elements as channels: data (N,C,H,W), out (N, C b^2, H / b, W / b)",
    .params = schema,
    .param_size = sizeof(block_params),
    .infer_shape = to_depth_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = to_depth_forward},
    .backward = {[MXC_CPU] = to_depth_backward},
};
