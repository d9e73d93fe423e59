/* SPDX-License-Identifier: Apache-2.0 */
/* Crop: out (N,C,h,w) = a window of data (N,C,H,W), of size h_w or of the size of crop_like's last two axes, at an
 * offset or in the centre. crop_like is an argument where num_args is 2, and has no gradient. Elements are copied by a
 * view (tensor/views.h). */
#include "operator/tensor/view_ops.h"

typedef mxci_crop_params crop_params;

enum { DATA, LIKE };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(crop_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 2, .doc = "Number of arguments. 1: data; 2: data and crop_like."},
    {MXC_PARAM_FIELD(crop_params, offset), .name = "offset", .type = MXC_PARAM_TUPLE, .initial = "(0,0)", .bounded = 1,
     .minimum = 0, .maximum = 2147483647.0, .doc = "Offset of the window: first row and column."},
    {MXC_PARAM_FIELD(crop_params, h_w), .name = "h_w", .type = MXC_PARAM_TUPLE, .initial = "(0,0)", .bounded = 1,
     .minimum = 0, .maximum = 2147483647.0, .doc = "Height and width of the window, if there is no crop_like."},
    {MXC_PARAM_FIELD(crop_params, center_crop), .name = "center_crop", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Take the central window; offset is ignored."},
    MXC_PARAM_END,
};

static mxc_status crop_check_params(void *params) {
    const crop_params *p = params;
    if (p->offset.n != 2 || p->h_w.n != 2)
        return MXC_FAIL(MXC_EINVAL, "Crop: offset and h_w have %d and %d entries, expected 2 each", (int)p->offset.n,
                        (int)p->h_w.n);
    if (p->num_args == 1 && (p->h_w.value[0] == 0 || p->h_w.value[1] == 0))
        return MXC_FAIL(MXC_EINVAL, "Crop: h_w is (%lld,%lld), expected a size, as there is no crop_like",
                        (long long)p->h_w.value[0], (long long)p->h_w.value[1]);
    return MXC_OK;
}

static int crop_n_args(const void *params) {
    return (int)((const crop_params *)params)->num_args;
}

static mxc_status crop_infer_shape(mxc_op_sig *sig) {
    const crop_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[DATA], *out = &sig->out_shape[0], expected = mxci_shape_axes(4);
    int64_t in, taken;
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &expected));
    if (p->num_args == 2)
        MXC_TRY(mxc_sig_set_shape(sig, LIKE, &expected));
    for (int i = 0; i < 2; i++) {
        expected.dim[i] = data->dim[i];
        expected.dim[2 + i] = p->num_args == 2 ? sig->in_shape[LIKE].dim[2 + i] : p->h_w.value[i];
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &expected));
    for (int i = 0; i < 2; i++) {
        data->dim[i] = out->dim[i];
        in = data->dim[2 + i], taken = out->dim[2 + i];
        if (in >= 0 && taken >= 0 && (taken > in || mxci_crop_first(p, data, out, i) > in - taken))
            return mxc_sig_fail(sig, "axis %d of data has %lld elements, fewer than the offset %lld and %lld more",
                                2 + i, (long long)in, (long long)(p->center_crop ? 0 : p->offset.value[i]),
                                (long long)taken);
    }
    return MXC_OK;
}

static mxc_status crop_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_crop);
}

static mxc_status crop_backward(const mxc_op_call *call) {
    if (call->n_in > LIKE && call->req[LIKE] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, call->req[LIKE], &call->in_grad[LIKE], 0);
    return mxci_view_put_back(call, mxci_view_crop);
}

const mxc_op_def mxci_op_crop = {
    .size = sizeof(mxc_op_def),
    .name = "Crop",
    .doc =
        "output (N,C,h,w) = a window of data (N,C,H,W), of size h_w or of the size of the last two axes of crop_like",
    .params = schema,
    .param_size = sizeof(crop_params),
    .params_check = crop_check_params,
    .args = "data,crop_like",
    .n_args = crop_n_args,
    .infer_shape = crop_infer_shape,
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = crop_forward},
    .backward = {[MXC_CPU] = crop_backward},
};
