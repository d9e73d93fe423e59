/* SPDX-License-Identifier: Apache-2.0 */
/* Images as (height, width, channels): _cvimresize and _image_resize resize, the latter also batches of images,
 * _cvcopyMakeBorder adds a border. Numbers of interpolations and border types are OpenCV's, as in MXNet; bytes and
 * float32; no gradients. The arithmetic is that of src/image/. */
#include "operator/vision/image.h"

#include "image/resample_weights.h"
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/index/rows.h"
#include "operator/infer.h"

#define DTYPES (MXC_DTYPE_BIT(MXC_U8) | MXC_DTYPE_BIT(MXC_F32))

typedef mxci_image_resize_params resize_params;
typedef mxci_image_size_params size_params;
typedef mxci_image_border_params border_params;

#define SIDE_LIMIT 1048576.0
#define SIDE(name_, least, text)                                                                              \
    {                                                                                                         \
        .name = #name_, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(OWNER, name_), .bounded = 1, .minimum = least, \
        .maximum = SIDE_LIMIT, .doc = text                                                                    \
    }

#define INTERPOLATION(owner)                                                                     \
    {                                                                                            \
        MXC_PARAM_FIELD(owner, interp),                                                          \
            .name = "interp", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1, .minimum = 0, \
            .maximum = MXCI_INTERPOLATIONS - 1,                                                  \
            .doc = "Interpolation. 0: nearest, 1: bilinear, 2: bicubic, 3: area, 4: Lanczos."    \
    }

#define OWNER resize_params
static const mxc_param resize_schema[] = {
    SIDE(w, 1, "Width of out in pixels."),
    SIDE(h, 1, "Height of out in pixels."),
    INTERPOLATION(resize_params),
    MXC_PARAM_END,
};

static const mxc_param size_schema[] = {
    {MXC_PARAM_FIELD(size_params, size), .name = "size", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = SIDE_LIMIT, .doc = "(width,height) of out, or one number for both."},
    {MXC_PARAM_FIELD(size_params, keep_ratio), .name = "keep_ratio", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "With one number: it is the length of the shorter side, and the other keeps its ratio to it."},
    INTERPOLATION(size_params),
    MXC_PARAM_END,
};
#undef OWNER

#define OWNER border_params
static const mxc_param border_schema[] = {
    SIDE(top, 0, "Rows added at the top."),
    SIDE(bot, 0, "Rows added at the bottom."),
    SIDE(left, 0, "Columns added at the left."),
    SIDE(right, 0, "Columns added at the right."),
    {MXC_PARAM_FIELD(border_params, type), .name = "type", .type = MXC_PARAM_INT, .initial = "0", .bounded = 1,
     .minimum = 0, .maximum = MXCI_BORDERS - 1,
     .doc = "Type of the border. 0: constant value, 1: the outermost pixel, 2: the image mirrored, 3: the image "
            "repeated, 4: the image mirrored without its outermost pixel."},
    {MXC_PARAM_FIELD(border_params, value), .name = "value", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "Value of a border of type 0 in all channels."},
    {MXC_PARAM_FIELD(border_params, values), .name = "values", .type = MXC_PARAM_FLOATS, .initial = "()",
     .doc = "Value of a border of type 0 for each channel."},
    MXC_PARAM_END,
};
#undef OWNER

static mxc_status check_border(void *params) {
    int n = ((const border_params *)params)->values.n;
    return n <= 4 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "_cvcopyMakeBorder: values has %d entries, expected at most 4", n);
}

static mxc_status check_size(void *params) {
    const int n = ((const size_params *)params)->size.n;
    return n == 1 || n == 2
               ? MXC_OK
               : MXC_FAIL(MXC_EINVAL, "_image_resize: size has %d numbers, expected one or two", n > 0 ? n : 0);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status infer_resize(mxc_op_sig *sig) {
    const resize_params *p = sig->params;
    mxc_shape src = mxci_shape_axes(3), out = mxci_shape_of(3, (int64_t[]){p->h, p->w, -1});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, 0, &src));
        out.dim[2] = sig->in_shape[0].dim[2];
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
        src.dim[2] = sig->out_shape[0].dim[2];
    }
    MXC_TRY(mxci_sig_check_axis(sig, 0, 0));
    return mxci_sig_check_axis(sig, 0, 1);
}

/* One image or a batch of them. The sides of out may follow from those of data. */
static mxc_status infer_size(mxc_op_sig *sig) {
    mxc_shape *in = &sig->in_shape[0], *out = &sig->out_shape[0], shape;
    const int ndim = in->ndim >= 0 ? in->ndim : out->ndim, first = ndim - 3;
    if (ndim < 0)
        return MXC_OK;
    if (ndim != 3 && ndim != 4)
        return mxc_sig_fail(sig, "data has %d axes, expected (height,width,channels) or (N,height,width,channels)",
                            ndim);
    shape = out->ndim >= 0 ? *out : mxci_shape_axes(ndim);
    shape.dim[first] = shape.dim[first + 1] = -1;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &shape));
    shape = *in;
    shape.dim[first] = shape.dim[first + 1] = -1;
    if (in->dim[first] >= 0 && in->dim[first + 1] >= 0) {
        MXC_TRY(mxci_sig_check_axis(sig, 0, first));
        MXC_TRY(mxci_sig_check_axis(sig, 0, first + 1));
        const resize_params to = mxci_image_target(sig->params, in->dim[first], in->dim[first + 1]);
        if (to.w < 1 || to.h < 1 || to.w > SIDE_LIMIT || to.h > SIDE_LIMIT)
            return mxc_sig_fail(sig, "output would have %lld x %lld pixels, expected sides of 1 to %d", (long long)to.w,
                                (long long)to.h, (int)SIDE_LIMIT);
        shape.dim[first] = to.h;
        shape.dim[first + 1] = to.w;
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_border(mxc_op_sig *sig) {
    const border_params *p = sig->params;
    const int64_t more[3] = {p->top + p->bot, p->left + p->right, 0};
    mxc_shape src = mxci_shape_axes(3), out = src;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &src));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    for (int i = 0; i < 3; i++) {
        int64_t in = sig->in_shape[0].dim[i], full = sig->out_shape[0].dim[i];
        if (full >= 0 && full < more[i])
            return mxc_sig_fail(sig, "output: axis %d has %lld elements, fewer than its borders, %lld", i,
                                (long long)full, (long long)more[i]);
        out.dim[i] = in < 0 ? -1 : in + more[i];
        src.dim[i] = full < 0 ? -1 : full - more[i];
    }
    MXC_TRY(mxc_sig_set_shape(sig, 0, &src));
    if (p->type != MXCI_BORDER_VALUE && more[0] + more[1] > 0) {
        MXC_TRY(mxci_sig_check_axis(sig, 0, 0));
        MXC_TRY(mxci_sig_check_axis(sig, 0, 1));
    }
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

/* ---- resizing ---------------------------------------------------------------------------------------------------- */

/* A resize by two passes: along rows into narrow (h, w', channels), then along columns. */
typedef struct resize_run {
    mxc_tensor src, result;
    mxci_resample rows, columns;
    float *narrow;
    int64_t channels;
} resize_run;

static int kind_of(const resize_params *p, const int64_t *in) {
    return mxci_resample_kind((int)p->interp, in[0], in[1], p->h, p->w);
}

/* Scratch: the weights of both axes, src resized along its rows, and the result where it is to be added to out. */
typedef struct resize_blocks {
    void *rows, *columns;
    float *narrow;
    void *result;
} resize_blocks;

static resize_blocks take_blocks(mxci_scratch *s, const resize_params *p, const int64_t *in, mxc_dtype type) {
    const int64_t row = mxci_dim_mul(p->w, in[2]);
    const int kind = kind_of(p, in);
    resize_blocks b;
    b.rows = mxci_scratch_take(s, mxci_resample_bytes(kind, in[1], p->w));
    b.columns = mxci_scratch_take(s, mxci_resample_bytes(kind, in[0], p->h));
    b.narrow = mxci_scratch_array(s, mxci_dim_mul(in[0], row), sizeof *b.narrow);
    b.result = mxci_scratch_array(s, mxci_dim_mul(p->h, row), mxc_dtype_size(type));
    return b;
}

static size_t resize_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_scratch measure = {0};
    (void)pass;
    take_blocks(&measure, sig->params, sig->in_shape[0].dim, sig->in_type[0]);
    return measure.bytes;
}

static size_t size_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t *in = sig->in_shape[0].dim + sig->in_shape[0].ndim - 3;
    const resize_params to = mxci_image_target(sig->params, in[0], in[1]);
    mxci_scratch measure = {0};
    (void)pass;
    take_blocks(&measure, &to, in, sig->in_type[0]);
    return measure.bytes;
}

static void resize_rows(void *arg, int64_t begin, int64_t end, int part) {
    const resize_run *r = arg;
    (void)part;
    if (r->src.dtype == MXC_U8)
        mxci_resample_rows_u8(&r->rows, r->channels, r->src.data, r->narrow, begin, end);
    else
        mxci_resample_rows_f32(&r->rows, r->channels, r->src.data, r->narrow, begin, end);
}

static void resize_columns(void *arg, int64_t begin, int64_t end, int part) {
    const resize_run *r = arg;
    int64_t row = r->rows.out * r->channels;
    (void)part;
    if (r->src.dtype == MXC_U8)
        mxci_resample_columns_u8(&r->columns, row, r->narrow, r->result.data, begin, end);
    else
        mxci_resample_columns_f32(&r->columns, row, r->narrow, r->result.data, begin, end);
}

/* One image, whose shape is the last three axes. */
static void resize_image(const mxc_op_call *call, const resize_params *p, const mxc_tensor *src,
                         const mxc_tensor *out) {
    const int64_t *in = src->shape.dim;
    resize_run r = {.src = *src, .result = *out, .channels = in[2]};
    const int kind = kind_of(p, in);
    const resize_blocks blocks = take_blocks(&(mxci_scratch){.base = call->temp}, p, in, src->dtype);
    mxci_resample_plan(kind, in[1], p->w, blocks.rows, &r.rows);
    mxci_resample_plan(kind, in[0], p->h, blocks.columns, &r.columns);
    r.narrow = blocks.narrow;
    if (call->req[0] == MXC_REQ_ADD)
        r.result.data = blocks.result;
    mxc_parallel_for(call->run, in[0], MXCI_GRAIN / 4 / (p->w * in[2]) + 1, resize_rows, &r);
    mxc_parallel_for(call->run, p->h, MXCI_GRAIN / 4 / (p->w * in[2]) + 1, resize_columns, &r);
    if (call->req[0] == MXC_REQ_ADD)
        mxci_assign(call->run, MXC_REQ_ADD, out, &r.result);
}

static mxc_status resize(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->out[0]) > 0)
        resize_image(call, call->params, &call->in[0], &call->out[0]);
    return MXC_OK;
}

/* Image i of a batch, or the one that there is. */
static mxc_tensor image_of(const mxc_tensor *t, int64_t i) {
    mxc_tensor image = *t;
    image.shape = mxci_shape_of(3, t->shape.dim + t->shape.ndim - 3);
    image.data = mxci_at(t, i * mxc_shape_size(&image.shape));
    return image;
}

static mxc_status resize_images(const mxc_op_call *call) {
    const mxc_shape *in = &call->in[0].shape;
    const int64_t n = in->ndim == 4 ? in->dim[0] : 1;
    const resize_params to = mxci_image_target(call->params, in->dim[in->ndim - 3], in->dim[in->ndim - 2]);
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->out[0]) == 0)
        return MXC_OK;
    for (int64_t i = 0; i < n; i++) {
        const mxc_tensor src = image_of(&call->in[0], i), out = image_of(&call->out[0], i);
        resize_image(call, &to, &src, &out);
    }
    return MXC_OK;
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

/* Rows begin..end-1 of out. */
static void border_rows(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const border_params *p = call->params;
    const int64_t *in = call->in[0].shape.dim, width = call->out[0].shape.dim[1], channels = in[2];
    const mxc_dtype type = call->out[0].dtype;
    (void)part;
    for (int64_t y = begin; y < end; y++) {
        int64_t row = mxci_border_index((int)p->type, y - p->top, in[0]);
        for (int64_t x = 0, n; x < width; x += n) {
            int64_t at = row < 0 ? -1 : mxci_border_index((int)p->type, x - p->left, in[1]);
            char *to = mxci_at(&call->out[0], (y * width + x) * channels);
            n = at == 0 && x == p->left ? in[1] : 1; /* the image's row as a whole */
            for (int64_t c = 0; at < 0 && c < channels; c++, to += mxc_dtype_size(type)) { /* a constant pixel */
                double value = mxci_border_value(p, c);
                char element[8];
                mxci_convert(MXC_F64, &value, type, element, 1);
                mxci_assign_row(call->req[0], type, to, element, 1);
            }
            if (at >= 0)
                mxci_assign_row(call->req[0], type, to, mxci_at(&call->in[0], (row * in[1] + at) * channels),
                                n * channels);
        }
    }
}

static mxc_status border(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->out[0]) > 0)
        mxc_parallel_for(call->run, call->out[0].shape.dim[0],
                         MXCI_GRAIN / 4 / (call->out[0].shape.dim[1] * call->out[0].shape.dim[2]) + 1, border_rows,
                         (void *)call);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_image_resize = {
    .size = sizeof(mxc_op_def),
    .name = "_cvimresize",
    .doc = "Resizes an image: src (height,width,channels), out (h,w,channels); bytes are rounded",
    .params = resize_schema,
    .param_size = sizeof(resize_params),
    .args = "src",
    .infer_shape = infer_resize,
    .dtypes = DTYPES,
    .temp_bytes = resize_bytes,
    .forward = {[MXC_CPU] = resize},
};

const mxc_op_def mxci_op_image_resize_batch = {
    .size = sizeof(mxc_op_def),
    .name = "_image_resize",
    .aliases = "_npx__image_resize",
    .doc =
        "Resizes images: data (H,W,C) or (N,H,W,C), output (height,width,C) or (N,height,width,C); bytes are rounded",
    .params = size_schema,
    .param_size = sizeof(size_params),
    .params_check = check_size,
    .infer_shape = infer_size,
    .dtypes = DTYPES,
    .temp_bytes = size_bytes,
    .forward = {[MXC_CPU] = resize_images},
};

const mxc_op_def mxci_op_image_border = {
    .size = sizeof(mxc_op_def),
    .name = "_cvcopyMakeBorder",
    .doc = "Adds a border to an image: src (height,width,channels), out (top + height + bot, left + width + right, "
           "channels)",
    .params = border_schema,
    .param_size = sizeof(border_params),
    .params_check = check_border,
    .args = "src",
    .infer_shape = infer_border,
    .dtypes = DTYPES,
    .forward = {[MXC_CPU] = border},
};
