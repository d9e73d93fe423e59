/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of images output_size_of. _contrib_BilinearResize2D: data (N,C,h,w), out (N,C,H,W) interpolated between the
 * elements of data; the size is given, as a scale, or that of another array. _contrib_AdaptiveAvgPooling2D: out
 * (N,C,H,W), each element the mean of a block of data; the blocks cover data and may share elements. Planes are
 * distributed over threads. */
#include "math/assign.h"
#include "operator/index/rows.h"
#include "operator/infer.h"
#include "operator/vision/resize_kernels.h"
#include "operator/vision/vision.h"

typedef mxci_resize_params resize_params;

typedef mxci_adaptive_pool_params pool_params;

enum { DATA, LIKE };
enum { SIZE, ODD_SCALE, LIKE_OTHER, TO_EVEN_DOWN, TO_EVEN_UP, TO_ODD_DOWN, TO_ODD_UP };

#define SIZE_PARAM(field, text)                                                                                     \
    {                                                                                                               \
        .name = #field, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(resize_params, field), .initial = "1", .bounded = 1, \
        .minimum = 1, .maximum = 2147483647.0, .doc = text                                                          \
    }
#define SCALE_PARAM(field, text)                                                                           \
    {                                                                                                      \
        .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(resize_params, field), .initial = "None", \
        .optional = 1, .bounded = 1, .minimum = 0, .maximum = 1e6, .doc = text                             \
    }
static const mxc_param resize_schema[] = {
    SIZE_PARAM(height, "Height of out. Used with mode=size if there is no scale_height."),
    SIZE_PARAM(width, "Width of out. Used with mode=size if there is no scale_width."),
    SCALE_PARAM(scale_height, "Size of out over that of data along this axis. Used with mode=size and mode=odd_scale."),
    SCALE_PARAM(scale_width, "Size of out over that of data along this axis. Used with mode=size and mode=odd_scale."),
    {MXC_PARAM_FIELD(resize_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .initial = "size",
     .choices = "size,odd_scale,like,to_even_down,to_even_up,to_odd_down,to_odd_up",
     .doc = "What determines the size of out: size is height and width; odd_scale is the scale factors, which for an "
            "odd size apply to the distances between elements; like is the argument like; to_even_down to to_odd_up "
            "round to the next even or odd size."},
    {MXC_PARAM_FIELD(resize_params, align_corners), .name = "align_corners", .type = MXC_PARAM_BOOL, .initial = "true",
     .doc = "Align the centres of the corner elements; otherwise their outer corners."},
    MXC_PARAM_END,
};

static const mxc_param pool_schema[] = {
    {MXC_PARAM_FIELD(pool_params, output_size), .name = "output_size", .type = MXC_PARAM_TUPLE, .initial = "()",
     .optional = 1, .bounded = 1, .minimum = 1, .maximum = 2147483647.0,
     .doc = "Height and width of out; one number is used for both. None: 1."},
    MXC_PARAM_END,
};

static mxc_status check_resize(void *params) {
    const resize_params *p = params;
    if (p->mode == ODD_SCALE && !(p->scale_height > 0 && p->scale_width > 0))
        return MXC_FAIL(MXC_EINVAL, "BilinearResize2D: mode odd_scale needs scale_height and scale_width above 0");
    return MXC_OK;
}

static mxc_status check_pool(void *params) {
    int n = ((const pool_params *)params)->output_size.n;
    return n <= 2 ? MXC_OK
                  : MXC_FAIL(MXC_EINVAL, "AdaptiveAvgPooling2D: output_size has %d entries, expected up to 2", n);
}

static int resize_args(const void *params) {
    return ((const resize_params *)params)->mode == LIKE_OTHER ? 2 : 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Axes 0 and 1 of data and out are one; size: height and width of out, which has none of 0. */
static mxc_status infer_planes(mxc_op_sig *sig, const int64_t *size) {
    mxc_shape data = mxci_shape_axes(4), out = mxci_shape_of(4, (int64_t[]){-1, -1, size[0], size[1]});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
        for (int i = 0; i < 2; i++)
            out.dim[i] = sig->in_shape[DATA].dim[i];
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
        for (int i = 0; i < 2; i++)
            data.dim[i] = sig->out_shape[0].dim[i];
    }
    MXC_TRY(mxci_sig_check_axis(sig, DATA, 2));
    return mxci_sig_check_axis(sig, DATA, 3);
}

/* A scaled size in elements; -1 if it is invalid. */
static int64_t scaled(double size) {
    return size >= 1 && size < 2147483648.0 ? (int64_t)size : -1;
}

/* The size of an axis of out from that of data; -1: it would be invalid. */
static int64_t output_size_of(const resize_params *p, int64_t in, int64_t size, double scale) {
    switch (p->mode) {
    case SIZE:
        return scale > 0 ? scaled((double)in * scale) : size;
    case ODD_SCALE:
        return in % 2 ? scaled((double)(in - 1) * scale + 1) : scaled((double)in * scale);
    case TO_EVEN_DOWN:
        return in - in % 2;
    case TO_EVEN_UP:
        return in + in % 2;
    case TO_ODD_DOWN:
        return in - (in + 1) % 2;
    default:
        return in + (in + 1) % 2;
    }
}

static mxc_status infer_resize(mxc_op_sig *sig) {
    const resize_params *p = sig->params;
    mxc_shape any = mxci_shape_axes(4);
    int64_t size[2] = {-1, -1};
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &any));
    if (p->mode == LIKE_OTHER)
        MXC_TRY(mxc_sig_set_shape(sig, LIKE, &any));
    for (int i = 0; i < 2; i++) {
        int64_t in = sig->in_shape[DATA].dim[i + 2];
        int needs_in = p->mode != SIZE || (i ? p->scale_width : p->scale_height) > 0;
        if (p->mode == LIKE_OTHER)
            size[i] = sig->in_shape[LIKE].dim[i + 2];
        else if (in >= 0 || !needs_in)
            size[i] = output_size_of(p, in, i ? p->width : p->height, i ? p->scale_width : p->scale_height);
        if (size[i] == 0 || (size[i] < 0 && in >= 0 && p->mode != LIKE_OTHER))
            return mxc_sig_fail(sig, "output: axis %d of %lld elements of argument 'data' would have no valid size",
                                i + 2, (long long)in);
    }
    return infer_planes(sig, size);
}

static mxc_status infer_pool(mxc_op_sig *sig) {
    const mxc_tuple *given = &((const pool_params *)sig->params)->output_size;
    return infer_planes(sig, (int64_t[]){given->n > 0 ? given->value[0] : 1, given->n > 1   ? given->value[1]
                                                                             : given->n > 0 ? given->value[0]
                                                                                            : 1});
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* One plane in the type of the arrays. */
typedef struct resize_kernels {
    void (*f32)(const mxci_resize_shape *s, const float *x, float *y);
    void (*f64)(const mxci_resize_shape *s, const double *x, double *y);
} resize_kernels;

typedef struct resize_run {
    mxci_resize_shape shape;
    const resize_kernels *kernels;
    const mxc_tensor *from, *to; /* data and out, or the gradients of out and data */
} resize_run;

static size_t resize_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t *out = sig->out_shape[0].dim;
    (void)pass;
    return mxci_size_of(mxci_dim_add(out[2], out[3]), sizeof(mxci_resize_tap));
}

static void plane_part(void *arg, int64_t begin, int64_t end, int part) {
    const resize_run *r = arg;
    int64_t from = r->from->shape.dim[2] * r->from->shape.dim[3], to = r->to->shape.dim[2] * r->to->shape.dim[3];
    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (r->to->dtype == MXC_F32)
            r->kernels->f32(&r->shape, mxci_at(r->from, i * from), mxci_at(r->to, i * to));
        else
            r->kernels->f64(&r->shape, mxci_at(r->from, i * from), mxci_at(r->to, i * to));
}

/* All planes by the kernels. aligned: align_corners; -1 for the blocks of adaptive pooling. */
static void run_planes(const mxc_op_call *call, const resize_kernels *kernels, int aligned, int is_backward) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    mxci_resize_tap *taps[2] = {call->temp, (mxci_resize_tap *)call->temp + out[2]};
    resize_run r = {
        .kernels = kernels,
        .from = is_backward ? call->out_grad : call->in,
        .to = is_backward ? call->in_grad : call->out,
    };
    if (call->req[DATA] == MXC_REQ_NULL || in[0] * in[1] == 0)
        return;
    for (int i = 0; i < 2; i++)
        if (aligned < 0)
            mxci_resize_blocks(in[i + 2], out[i + 2], taps[i]);
        else
            mxci_resize_neighbours(in[i + 2], out[i + 2], aligned, taps[i]);
    r.shape = (mxci_resize_shape){{in[2], in[3]}, {out[2], out[3]}, taps[0], taps[1], call->req[DATA] == MXC_REQ_ADD};
    mxc_parallel_for(call->run, in[0] * in[1], MXCI_GRAIN / 4 / (in[2] * in[3] + out[2] * out[3]) + 1, plane_part, &r);
}

/* ---- BilinearResize2D -------------------------------------------------------------------------------------------- */

static mxc_status resize_forward(const mxc_op_call *call) {
    static const resize_kernels kernels = {mxci_resize_f32, mxci_resize_f64};
    run_planes(call, &kernels, ((const resize_params *)call->params)->align_corners, 0);
    return MXC_OK;
}

static mxc_status resize_backward(const mxc_op_call *call) {
    static const resize_kernels kernels = {mxci_resize_grad_f32, mxci_resize_grad_f64};
    run_planes(call, &kernels, ((const resize_params *)call->params)->align_corners, 1);
    if (call->n_in > LIKE)
        mxci_assign_zero_gradient(call, LIKE);
    return MXC_OK;
}

const mxc_op_def mxci_op_bilinear_resize = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_BilinearResize2D",
    .aliases = "BilinearResize2D",
    .doc = "Bilinear resizing: data (N,C,h,w), out (N,C,H,W)",
    .params = resize_schema,
    .param_size = sizeof(resize_params),
    .params_check = check_resize,
    .args = "data,like",
    .n_args = resize_args,
    .infer_shape = infer_resize,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .temp_bytes = resize_temp_bytes,
    .forward = {[MXC_CPU] = resize_forward},
    .backward = {[MXC_CPU] = resize_backward},
};

/* ---- AdaptiveAvgPooling2D ---------------------------------------------------------------------------------------- */

static mxc_status pool_forward(const mxc_op_call *call) {
    static const resize_kernels kernels = {mxci_block_mean_f32, mxci_block_mean_f64};
    run_planes(call, &kernels, -1, 0);
    return MXC_OK;
}

static mxc_status pool_backward(const mxc_op_call *call) {
    static const resize_kernels kernels = {mxci_block_mean_grad_f32, mxci_block_mean_grad_f64};
    run_planes(call, &kernels, -1, 1);
    return MXC_OK;
}

const mxc_op_def mxci_op_adaptive_avg_pooling = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_AdaptiveAvgPooling2D",
    .aliases = "AdaptiveAvgPooling2D",
    .doc = "Adaptive average pooling: out (N,C,H,W), of output_size, holds the means of H*W blocks that cover data "
           "(N,C,h,w)",
    .params = pool_schema,
    .param_size = sizeof(pool_params),
    .params_check = check_pool,
    .infer_shape = infer_pool,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .temp_bytes = resize_temp_bytes,
    .forward = {[MXC_CPU] = pool_forward},
    .backward = {[MXC_CPU] = pool_backward},
};
