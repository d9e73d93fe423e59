/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of images and mirrored images (height, width, channels):
 *   _image_crop                                       rows y.. and columns x.. of an image or of (N,H,W,C)
 *   _image_flip_left_right, _image_flip_top_bottom    mirrored
 *   _image_random_flip_left_right, _..._top_bottom    mirrored or not, equally likely
 * The gradient of the random ones is out_grad unchanged, as in MXNet, whatever was drawn.
 */
#include "operator/vision/image_geometry.h"

#include "math/assign.h"
#include "operator/infer.h"

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status infer_crop(mxc_op_sig *sig) {
    const mxci_crop_params *p = sig->params;
    mxc_shape *in = &sig->in_shape[0], *out = &sig->out_shape[0], shape;
    const int ndim = in->ndim >= 0 ? in->ndim : out->ndim, first = ndim - 3;
    if (ndim < 0)
        return MXC_OK;
    if (ndim != 3 && ndim != 4)
        return mxc_sig_fail(sig, "data has %d axes, expected (height,width,channels) or (N,height,width,channels)",
                            ndim);
    shape = in->ndim >= 0 ? *in : mxci_shape_axes(ndim);
    shape.dim[first] = p->height;
    shape.dim[first + 1] = p->width;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = *out;
    shape.dim[first] = shape.dim[first + 1] = -1;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &shape));
    if (in->dim[first] >= 0 && p->y + p->height > in->dim[first])
        return mxc_sig_fail(sig, "y is %lld and height %lld, but data has %lld rows", (long long)p->y,
                            (long long)p->height, (long long)in->dim[first]);
    if (in->dim[first + 1] >= 0 && p->x + p->width > in->dim[first + 1])
        return mxc_sig_fail(sig, "x is %lld and width %lld, but data has %lld columns", (long long)p->x,
                            (long long)p->width, (long long)in->dim[first + 1]);
    return MXC_OK;
}

static mxc_status infer_flip(mxc_op_sig *sig) {
    const mxc_shape image = mxci_shape_axes(3);
    MXC_TRY(mxc_sig_set_shape(sig, 0, &image));
    return mxci_infer_shape_same(sig);
}

static uint64_t count_coin(const mxc_op_sig *sig) {
    (void)sig;
    return 1;
}

/* ---- moving pixels ----------------------------------------------------------------------------------------------- */

typedef struct part_run {
    mxci_image_part of;
    const mxc_tensor *from, *to;
    mxc_req req;
} part_run;

/* Rows begin..end-1 of out, counted through. */
static void take_rows(void *arg, int64_t begin, int64_t end, int part) {
    const part_run *r = arg;
    const mxci_image_part *p = &r->of;
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        const int64_t at = row * p->to_w * p->channels, i = row / p->to_h, y = row % p->to_h;
        for (int64_t x = 0; x < p->to_w; x += p->flips_columns ? 1 : p->to_w) /* a pixel or the row as a whole */
            mxci_assign_row(r->req, r->from->dtype, mxci_at(r->to, at + x * p->channels),
                            mxci_at(r->from, mxci_image_source(p, i, y, x) * p->channels),
                            (p->flips_columns ? 1 : p->to_w) * p->channels);
    }
}

static mxc_status take_part(const mxc_op_call *call, const part_run *r) {
    const mxci_image_part *p = &r->of;
    if (mxci_is_wanted(r->req, r->to))
        mxc_parallel_for(call->run, p->n * p->to_h, MXCI_GRAIN / 4 / (p->to_w * p->channels) + 1, take_rows, (void *)r);
    return MXC_OK;
}

static mxc_status crop(const mxc_op_call *call) {
    return take_part(call,
                     &(part_run){mxci_image_part_of(call, call->params), &call->in[0], &call->out[0], call->req[0]});
}

/* Rows begin..end-1 of the argument, counted through: the gradient outside the part is 0. */
static void spread_rows(void *arg, int64_t begin, int64_t end, int part) {
    const part_run *r = arg;
    const mxci_image_part *p = &r->of;
    const int64_t width = p->w * p->channels, inner = p->to_w * p->channels;
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        const int64_t i = row / p->h, y = row % p->h - p->y;
        mxc_tensor to = *r->to;
        to.shape = mxci_shape_of(1, &width);
        to.data = mxci_at(r->to, row * width);
        if (r->req != MXC_REQ_ADD)
            mxci_assign_constant(NULL, MXC_REQ_WRITE, &to, 0);
        if (y >= 0 && y < p->to_h)
            mxci_assign_row(r->req, to.dtype, mxci_at(&to, p->x * p->channels),
                            mxci_at(r->from, (i * p->to_h + y) * inner), inner);
    }
}

static mxc_status crop_backward(const mxc_op_call *call) {
    part_run r = {mxci_image_part_of(call, call->params), &call->out_grad[0], &call->in_grad[0], call->req[0]};
    if (mxci_is_wanted(r.req, r.to))
        mxc_parallel_for(call->run, r.of.n * r.of.h, MXCI_GRAIN / 4 / (r.of.w * r.of.channels) + 1, spread_rows, &r);
    return MXC_OK;
}

/* Mirroring is its own inverse, so the gradient is mirrored the same way. */
static mxc_status flip(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to, int rows, int columns) {
    part_run r = {mxci_image_part_of(call, NULL), from, to, call->req[0]};
    r.of.flips_rows = rows;
    r.of.flips_columns = columns;
    return take_part(call, &r);
}

static mxc_status flip_left_right(const mxc_op_call *call) {
    return flip(call, &call->in[0], &call->out[0], 0, 1);
}
static mxc_status flip_left_right_backward(const mxc_op_call *call) {
    return flip(call, &call->out_grad[0], &call->in_grad[0], 0, 1);
}
static mxc_status flip_top_bottom(const mxc_op_call *call) {
    return flip(call, &call->in[0], &call->out[0], 1, 0);
}
static mxc_status flip_top_bottom_backward(const mxc_op_call *call) {
    return flip(call, &call->out_grad[0], &call->in_grad[0], 1, 0);
}
static mxc_status random_left_right(const mxc_op_call *call) {
    return flip(call, &call->in[0], &call->out[0], 0, mxci_image_coin(call->random));
}
static mxc_status random_top_bottom(const mxc_op_call *call) {
    return flip(call, &call->in[0], &call->out[0], mxci_image_coin(call->random), 0);
}

static mxc_status flip_unknown_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

#define SIDE(field, least, text)                                                                       \
    {                                                                                                  \
        MXC_PARAM_FIELD(mxci_crop_params, field), .name = #field, .type = MXC_PARAM_INT, .bounded = 1, \
                                                  .minimum = least, .maximum = 1e9, .doc = text        \
    }

static const mxc_param crop_schema[] = {
    SIDE(x, 0, "First column."),
    SIDE(y, 0, "First row."),
    SIDE(width, 1, "Number of columns."),
    SIDE(height, 1, "Number of rows."),
    MXC_PARAM_END,
};

const mxc_op_def mxci_op_image_crop = {
    .size = sizeof(mxc_op_def),
    .name = "_image_crop",
    .aliases = "_npx__image_crop",
    .doc = "A part of an image: data (H,W,C) or (N,H,W,C), output (height,width,C) or (N,height,width,C)",
    .params = crop_schema,
    .param_size = sizeof(mxci_crop_params),
    .infer_shape = infer_crop,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = crop},
    .backward = {[MXC_CPU] = crop_backward},
};

#define FLIP_DEF \
    .size = sizeof(mxc_op_def), .infer_shape = infer_flip, .dtypes = MXC_DTYPES_ALL, .needs = {.out_grad = 1}

const mxc_op_def mxci_op_image_flip_left_right = {
    FLIP_DEF,
    .name = "_image_flip_left_right",
    .aliases = "_npx__image_flip_left_right",
    .doc = "The image data (height,width,channels) mirrored left to right",
    .forward = {[MXC_CPU] = flip_left_right},
    .backward = {[MXC_CPU] = flip_left_right_backward},
};

const mxc_op_def mxci_op_image_flip_top_bottom = {
    FLIP_DEF,
    .name = "_image_flip_top_bottom",
    .aliases = "_npx__image_flip_top_bottom",
    .doc = "The image data (height,width,channels) mirrored top to bottom",
    .forward = {[MXC_CPU] = flip_top_bottom},
    .backward = {[MXC_CPU] = flip_top_bottom_backward},
};

const mxc_op_def mxci_op_image_random_flip_left_right = {
    FLIP_DEF,
    .name = "_image_random_flip_left_right",
    .aliases = "_npx__image_random_flip_left_right",
    .doc = "The image data (height,width,channels) mirrored left to right, or as it is, equally likely",
    .random_count = count_coin,
    .forward = {[MXC_CPU] = random_left_right},
    .backward = {[MXC_CPU] = flip_unknown_backward},
};

const mxc_op_def mxci_op_image_random_flip_top_bottom = {
    FLIP_DEF,
    .name = "_image_random_flip_top_bottom",
    .aliases = "_npx__image_random_flip_top_bottom",
    .doc = "The image data (height,width,channels) mirrored top to bottom, or as it is, equally likely",
    .random_count = count_coin,
    .forward = {[MXC_CPU] = random_top_bottom},
    .backward = {[MXC_CPU] = flip_unknown_backward},
};
