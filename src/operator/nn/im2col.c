/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of an image's windows, with which a convolution is a matrix product. Images (N,C,spatial axes), columns
 * (N,C K,P): K positions in the kernel, P windows.
 *   im2col  out = the columns of data, 0 in the padding
 *   col2im  out = images in which the columns' elements are added up where windows overlap
 * Each is the gradient of the other.
 */
#include "operator/nn/im2col.h"

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/im2col_kernels.h"

typedef mxci_im2col_params im2col_params;

#define WINDOW_PARAMS                                                                                               \
    {MXC_PARAM_FIELD(im2col_params, kernel),                                                                        \
     .name = "kernel",                                                                                              \
     .type = MXC_PARAM_TUPLE,                                                                                       \
     .bounded = 1,                                                                                                  \
     .minimum = 1,                                                                                                  \
     .maximum = 1e6,                                                                                                \
     .doc = "Size of the windows, along 1 to 3 axes."},                                                             \
        {MXC_PARAM_FIELD(im2col_params, stride),                                                                    \
         .name = "stride",                                                                                          \
         .type = MXC_PARAM_TUPLE,                                                                                   \
         .initial = "()",                                                                                           \
         .bounded = 1,                                                                                              \
         .minimum = 1,                                                                                              \
         .maximum = 1e6,                                                                                            \
         .doc = "Distance between windows. (): 1."},                                                                \
        {MXC_PARAM_FIELD(im2col_params, dilate),                                                                    \
         .name = "dilate",                                                                                          \
         .type = MXC_PARAM_TUPLE,                                                                                   \
         .initial = "()",                                                                                           \
         .bounded = 1,                                                                                              \
         .minimum = 1,                                                                                              \
         .maximum = 1e6,                                                                                            \
         .doc = "Distance between the elements of a window. (): 1."},                                               \
    {                                                                                                               \
        MXC_PARAM_FIELD(im2col_params, pad), .name = "pad", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1, \
                                             .minimum = 0, .maximum = 1e6,                                          \
                                             .doc = "Zeros on both sides of each axis. (): none."                   \
    }

static const mxc_param im2col_schema[] = {WINDOW_PARAMS, MXC_PARAM_END};

static const mxc_param col2im_schema[] = {
    {MXC_PARAM_FIELD(im2col_params, output_size), .name = "output_size", .type = MXC_PARAM_TUPLE, .bounded = 1,
     .minimum = 0, .maximum = 9e15, .doc = "Spatial axes of out."},
    WINDOW_PARAMS,
    MXC_PARAM_END,
};

static mxc_status check_tuple(const char *op, const char *name, const mxc_tuple *t, int n, int can_be_empty) {
    if (t->n == n || (can_be_empty && t->n == 0))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: %s has %d entries, expected %d, as kernel has", op, name, (int)t->n, n);
}

static mxc_status check_windows(const char *op, const im2col_params *p) {
    if (p->kernel.n < 1 || p->kernel.n > 3)
        return MXC_FAIL(MXC_EINVAL, "%s: kernel has %d entries, expected 1 to 3", op, (int)p->kernel.n);
    MXC_TRY(check_tuple(op, "stride", &p->stride, p->kernel.n, 1));
    MXC_TRY(check_tuple(op, "dilate", &p->dilate, p->kernel.n, 1));
    return check_tuple(op, "pad", &p->pad, p->kernel.n, 1);
}

static mxc_status im2col_check(void *params) {
    return check_windows("im2col", params);
}

static mxc_status col2im_check(void *params) {
    MXC_TRY(check_windows("col2im", params));
    return check_tuple("col2im", "output_size", &((im2col_params *)params)->output_size,
                       ((im2col_params *)params)->kernel.n, 0);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Batch and channels follow in both directions, the number of windows from the image only. */
static mxc_status infer_columns(mxc_op_sig *sig, int images, int columns) {
    const im2col_params *p = sig->params;
    const mxc_shape *image = mxci_sig_shape(sig, images), *column = mxci_sig_shape(sig, columns);
    mxc_shape shape = mxci_shape_axes(3);
    int64_t kernel = 1, windows = 1;
    MXC_TRY(mxc_sig_set_shape(sig, columns, &shape));
    for (int i = 0; i < p->kernel.n; i++)
        kernel = mxci_dim_mul(kernel, p->kernel.value[i]);
    if (column->dim[1] >= 0 && column->dim[1] % kernel != 0)
        return mxc_sig_fail(sig, "axis 1 of the columns has %lld rows, expected a multiple of the kernel's %lld",
                            (long long)column->dim[1], (long long)kernel);
    shape = mxci_shape_axes(2 + p->kernel.n);
    shape.dim[0] = column->dim[0];
    shape.dim[1] = column->dim[1] < 0 ? -1 : column->dim[1] / kernel;
    MXC_TRY(mxc_sig_set_shape(sig, images, &shape));
    for (int i = 0; i < p->kernel.n; i++) {
        const int64_t size = image->dim[2 + i], positions = size < 0 ? -1 : mxci_im2col_positions(p, i, size);
        if (positions == 0)
            return mxc_sig_fail(sig, "axis %d of the images has %lld elements, fewer than a window with padding", 2 + i,
                                (long long)size);
        windows = mxci_dim_mul(windows, positions);
    }
    shape = mxci_shape_of(3, (int64_t[]){image->dim[0], mxci_dim_mul(image->dim[1], kernel), windows});
    return mxc_sig_set_shape(sig, columns, &shape);
}

static mxc_status im2col_infer_shape(mxc_op_sig *sig) {
    return infer_columns(sig, 0, MXC_SLOT_OUT(0));
}

static mxc_status col2im_infer_shape(mxc_op_sig *sig) {
    const im2col_params *p = sig->params;
    mxc_shape out = mxci_shape_axes(2 + p->kernel.n);
    for (int i = 0; i < p->kernel.n; i++)
        out.dim[2 + i] = p->output_size.value[i];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    return infer_columns(sig, MXC_SLOT_OUT(0), 0);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

typedef struct im2col_run {
    const mxc_tensor *to, *from;
    mxci_conv_shape windows;
    int64_t image, columns; /* elements of a channel, and of its columns */
    int add, to_columns;
} im2col_run;

/* Channels begin..end-1 of all samples. */
static void im2col_range(void *arg, int64_t begin, int64_t end, int part) {
    const im2col_run *r = arg;
    const mxc_dtype dtype = r->to->dtype;
    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (r->to_columns)
            mxci_im2col[dtype](&r->windows, mxci_at(r->from, i * r->image), r->add, mxci_at(r->to, i * r->columns));
        else
            mxci_col2im[dtype](&r->windows, mxci_at(r->from, i * r->columns), mxci_at(r->to, i * r->image));
}

/* to = the columns of from, or images from columns. */
static mxc_status im2col_convert(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from,
                                 int to_columns) {
    const mxc_shape *image = to_columns ? &from->shape : &to->shape, *columns = to_columns ? &to->shape : &from->shape;
    const int64_t channels = image->dim[0] * image->dim[1];
    im2col_run r = {.to = to, .from = from, .add = call->req[0] == MXC_REQ_ADD, .to_columns = to_columns};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (!to_columns && !r.add)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, to, 0);
    if (channels == 0)
        return MXC_OK;
    r.windows = mxci_im2col_windows(call->params, image);
    r.image = mxci_shape_count(image, 2, image->ndim);
    r.columns = mxci_shape_count(columns, 0, 3) / channels;
    mxc_parallel_for(call->run, channels, MXCI_GRAIN / (r.columns + 1) + 1, im2col_range, &r);
    return MXC_OK;
}

static mxc_status im2col_forward(const mxc_op_call *call) {
    return im2col_convert(call, &call->out[0], &call->in[0], 1);
}

static mxc_status im2col_backward(const mxc_op_call *call) {
    return im2col_convert(call, &call->in_grad[0], &call->out_grad[0], 0);
}

static mxc_status col2im_forward(const mxc_op_call *call) {
    return im2col_convert(call, &call->out[0], &call->in[0], 0);
}

static mxc_status col2im_backward(const mxc_op_call *call) {
    return im2col_convert(call, &call->in_grad[0], &call->out_grad[0], 1);
}

const mxc_op_def mxci_op_im2col = {
    .size = sizeof(mxc_op_def),
    .name = "im2col",
    .doc =
        "The columns of windows: data (N,C,spatial axes), out (N,C K,P), K the elements of the kernel, P the windows; "
        "0 in the padding",
    .params = im2col_schema,
    .param_size = sizeof(im2col_params),
    .params_check = im2col_check,
    .infer_shape = im2col_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = im2col_forward},
    .backward = {[MXC_CPU] = im2col_backward},
};

const mxc_op_def mxci_op_col2im = {
    .size = sizeof(mxc_op_def),
    .name = "col2im",
    .doc = "Images from the columns of windows, added up where windows overlap: data (N,C K,P), out (N,C,output_size)",
    .params = col2im_schema,
    .param_size = sizeof(im2col_params),
    .params_check = col2im_check,
    .infer_shape = col2im_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = col2im_forward},
    .backward = {[MXC_CPU] = col2im_backward},
};
