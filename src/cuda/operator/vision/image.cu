/* SPDX-License-Identifier: Apache-2.0 */
/* _cvimresize, _image_resize and _cvcopyMakeBorder (operator/vision/image.c): images (height, width, channels) or, of
 * the second, batches of them, bytes or float32; a thread per element. */
#include "cuda/runtime/convert.h"
#include "operator/vision/image.h"
#include "image/resample_weights.h"

/* float32 as a byte or as it is, in T's compute type. */
template <class T> MXCU_DEVICE static mxcu_compute_t<T> pixel(float x) {
    return x;
}
template <> MXCU_DEVICE int64_t pixel<uint8_t>(float x) {
    return mxci_pixel_byte(x);
}

/* Both operators take bytes or float32. */
template <mxc_status (*of_bytes)(const mxc_op_call *), mxc_status (*of_floats)(const mxc_op_call *)>
static mxc_status choose(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    return call->out[0].dtype == MXC_U8 ? of_bytes(call) : of_floats(call);
}

/* ---- resizing ---------------------------------------------------------------------------------------------------- */

/* The weights of both axes, and scratch: the tables, then src resized along its rows (h, w', channels) in float32. */
struct resizing {
    mxci_resample rows, columns;
    int kind;
    size_t narrow, bytes; /* offset of the resized rows; bytes of scratch */
};

static mxci_resample table_of(int kind, int64_t in, int64_t out) {
    return {in, out, mxci_resample_width(kind, in, out), nullptr, nullptr};
}

/* in: height, width, channels. */
static resizing resizing_of(const mxci_image_resize_params *p, const int64_t *in) {
    const int kind = mxci_resample_kind((int)p->interp, in[0], in[1], p->h, p->w);
    resizing r = {table_of(kind, in[1], p->w), table_of(kind, in[0], p->h), kind, 0, 0};
    const int64_t taps = mxci_dim_add(mxci_dim_mul(p->w, r.rows.width), mxci_dim_mul(p->h, r.columns.width));
    r.narrow = mxci_size_add(mxci_size_of(p->w + p->h, sizeof(int64_t)), mxci_size_of(taps, sizeof(float)));
    r.bytes = mxci_size_add(r.narrow, mxci_size_of(mxci_dim_mul(mxci_dim_mul(in[0], p->w), in[2]), sizeof(float)));
    return r;
}

static size_t resize_bytes(const mxc_op_sig *sig, mxc_pass) {
    return resizing_of(static_cast<const mxci_image_resize_params *>(sig->params), sig->in_shape[0].dim).bytes;
}

static mxci_image_resize_params target_of(const void *params, const mxc_shape *in) {
    return mxci_image_target(static_cast<const mxci_image_size_params *>(params), in->dim[in->ndim - 3],
                             in->dim[in->ndim - 2]);
}

static size_t size_bytes(const mxc_op_sig *sig, mxc_pass) {
    const mxc_shape *in = &sig->in_shape[0];
    const mxci_image_resize_params to = target_of(sig->params, in);
    return resizing_of(&to, in->dim + in->ndim - 3).bytes;
}

/* Fill in both tables: a thread per output position computes its weights. */
static mxc_status plan(const mxc_op_call *call, resizing *s) {
    const int64_t n = s->rows.out;
    s->rows.first = mxcu_temp<int64_t>(call, 0);
    s->columns.first = s->rows.first + n;
    s->rows.weight = reinterpret_cast<float *>(s->columns.first + s->columns.out);
    s->columns.weight = s->rows.weight + n * s->rows.width;
    const resizing r = *s;
    return mxcu_for(call, n + r.columns.out, [=] MXCU_LAMBDA(int64_t i) {
        if (i < n)
            mxci_resample_taps(&r.rows, r.kind, i);
        else
            mxci_resample_taps(&r.columns, r.kind, i - n);
    });
}

/* The weighted sum of an output position's source elements, `step` elements apart. */
template <class X>
MXCU_DEVICE static float sum_of_taps(const mxci_resample &r, int64_t i, const X &x, int64_t from, int64_t step) {
    float sum = 0;
    for (int64_t k = 0; k < r.width; k++)
        sum += r.weight[i * r.width + k] * (float)x[from + mxci_clamp_index(r.first[i] + k, r.in) * step];
    return sum;
}

/* Image i, separable: first along rows into scratch, then along columns. */
template <class T> static mxc_status resize_image(const mxc_op_call *call, const resizing &s, int64_t i) {
    const int64_t channels = call->in[0].shape.dim[call->in[0].shape.ndim - 1], height = s.columns.in;
    const int64_t row = s.rows.out * channels;
    float *narrow = mxcu_temp<float>(call, s.narrow);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    x.data += i * height * s.rows.in * channels;
    y.data += i * s.columns.out * row;
    const mxci_resample rows = s.rows, columns = s.columns;
    MXC_TRY(mxcu_for(call, height * row, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t pixel = mxcu_divide(at, channels), line = mxcu_divide(pixel, rows.out);
        narrow[at] =
            sum_of_taps(rows, pixel - line * rows.out, x, line * rows.in * channels + at - pixel * channels, channels);
    }));
    return mxcu_for(call, columns.out * row, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t line = mxcu_divide(at, row);
        y.put(at, pixel<T>(sum_of_taps(columns, line, narrow, at - line * row, row)));
    });
}

template <class T> static mxc_status resize(const mxc_op_call *call) {
    resizing s = resizing_of(static_cast<const mxci_image_resize_params *>(call->params), call->in[0].shape.dim);
    MXC_TRY(plan(call, &s));
    return resize_image<T>(call, s, 0);
}

/* The images of a batch have the same weights. */
template <class T> static mxc_status resize_images(const mxc_op_call *call) {
    const mxc_shape *in = &call->in[0].shape;
    const mxci_image_resize_params to = target_of(call->params, in);
    resizing s = resizing_of(&to, in->dim + in->ndim - 3);
    MXC_TRY(plan(call, &s));
    for (int64_t i = 0; i < (in->ndim == 4 ? in->dim[0] : 1); i++)
        MXC_TRY(resize_image<T>(call, s, i));
    return MXC_OK;
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

enum { VALUES = 5 }; /* of the first channels, and of all others */

struct values {
    double of[VALUES];
};

/* A thread per element of out: the source's element, or the constant of its channel. */
template <class T> static mxc_status border(const mxc_op_call *call) {
    const mxci_image_border_params *p = static_cast<const mxci_image_border_params *>(call->params);
    const int64_t height = call->in[0].shape.dim[0], in_width = call->in[0].shape.dim[1];
    const int64_t width = call->out[0].shape.dim[1], channels = call->in[0].shape.dim[2];
    const int64_t top = p->top, left = p->left;
    const int type = (int)p->type;
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    values value;
    for (int c = 0; c < VALUES; c++)
        value.of[c] = mxci_border_value(p, c);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t pixel = mxcu_divide(at, channels), line = mxcu_divide(pixel, width), c = at - pixel * channels;
        const int64_t row = mxci_border_index(type, line - top, height);
        const int64_t column = mxci_border_index(type, pixel - line * width - left, in_width);
        y.put(at, row < 0 || column < 0 ? mxcu_converted<T>(value.of[c < VALUES ? c : VALUES - 1])
                                        : x[(row * in_width + column) * channels + c]);
    });
}

MXCU_OP_IMPLS(image, {"_cvimresize", choose<resize<uint8_t>, resize<float>>, nullptr, resize_bytes},
              {"_image_resize", choose<resize_images<uint8_t>, resize_images<float>>, nullptr, size_bytes},
              {"_cvcopyMakeBorder", choose<border<uint8_t>, border<float>>})
