/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution by a library where it supports the case; by im2col and matrix products elsewhere: the patches of some
 * samples are written to scratch, "columns" (G, K, samples, P), and multiplied with the weights. Where the columns of
 * one sample exceed the scratch limit, some of its pixels at a time.
 */
#include "cuda/operator/nn/convolution.h"

#include "cuda/runtime/blas.h"
#include "cuda/operator/nn/convolution_index.h"
#include "cuda/runtime/dnn.h"
#include "cuda/runtime/kernel.h"

enum { SCRATCH = 128 << 20 }; /* bytes of columns, about */

/* Samples n on, count of them, and pixels p on, width of them. */
struct piece {
    int64_t n, count, p, width;
};

static int64_t column_rows(const mxcu_conv *c) {
    return c->groups * c->s.channels * c->kernel_size();
}

static int64_t filters(const mxcu_conv *c) {
    return c->groups * c->s.filters;
}

static int is_depthwise(const mxcu_conv *c) {
    return c->groups > 1 && c->s.channels == 1;
}

/* The columns would be the image. */
static int is_pointwise(const mxcu_conv *c) {
    int plain = c->kernel_size() == 1;
    for (int i = 0; i < 3; i++)
        plain = plain && c->s.stride[i] == 1 && c->s.pad[i] == 0;
    return plain;
}

static int64_t bounded(int64_t n, int64_t least, int64_t most) {
    return n > most ? most : n < least ? least : n;
}

/* The first piece, which is as large as any. A pixel takes a column, and the filters of its gradient. */
static piece first_piece(const mxcu_conv *c) {
    int64_t fit = SCRATCH / ((column_rows(c) + filters(c)) * mxcu_element_bytes(c->dtype)), pixels = c->pixels();
    return {0, bounded(fit / pixels, 1, c->batch ? c->batch : 1), 0, bounded(fit, 1, pixels)};
}

/* The next piece; 0: there is none. Without samples there is one piece, of no samples. */
static int next_piece(const mxcu_conv *c, piece *p) {
    piece first = first_piece(c);
    p->p += p->width;
    if (p->p >= c->pixels()) {
        p->p = 0;
        p->n += p->count;
    }
    p->count = bounded(c->batch - p->n, 0, first.count);
    p->width = bounded(c->pixels() - p->p, 0, first.width);
    return p->count > 0;
}

static piece open_pieces(const mxcu_conv *c) {
    piece p = first_piece(c);
    p.count = bounded(p.count, 0, c->batch);
    return p;
}

/* Bytes of the weights' gradient in the compute type, which it is summed in if there are several pieces. */
static int64_t sums_bytes(const mxcu_conv *c) {
    int64_t bytes = filters(c) * c->s.channels * c->kernel_size() * (c->dtype == MXC_F64 ? 8 : 4);
    return (bytes + 255) / 256 * 256;
}

static size_t own_temp(const mxcu_conv *c) {
    piece p = first_piece(c);
    if (is_depthwise(c))
        return 0;
    const int64_t columns = mxci_dim_mul(mxci_dim_add(column_rows(c), filters(c)), mxci_dim_mul(p.count, p.width));
    return mxci_size_add((size_t)sums_bytes(c), mxci_size_of(columns, (size_t)mxcu_element_bytes(c->dtype)));
}

size_t mxcu_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass) {
    size_t own = c->channels_last ? mxcu_conv_transformed_temp(context, c, pass) : own_temp(c);
    size_t library = c->library ? mxcu_dnn_conv_temp(context, c, pass) : 0;
    return own > library ? own : library;
}

static void *moved(const void *base, int64_t elements, const mxcu_conv *c) {
    return (char *)base + elements * mxcu_element_bytes(c->dtype);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Rows: a channel, a position in the kernel, a sample. T: any type of the element's size. */
template <class T>
static mxc_status write_columns(const mxc_op_call *call, const mxcu_conv *c, piece p, const void *x, void *columns) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), image = c->image(), channels = c->groups * s.channels;
    const T *from = mxcu_pointer<const T>((void *)x);
    T *to = mxcu_pointer<T>(columns);
    return mxcu_rows(call, channels * kernel_size * p.count, p.width, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t which = row / p.count, sample = p.n + row % p.count, channel = which / kernel_size;
        const mxcu_position k = mxcu_position_of(which % kernel_size, s.kernel);
        const T *plane = from + (sample * channels + channel) * image;
        for (int64_t i = team.rank; i < p.width; i += team.size) {
            int64_t at = mxcu_conv_read(s, mxcu_position_of(p.p + i, s.out), k);
            to[row * p.width + i] = at < 0 ? T(0) : plane[at];
        }
    });
}

static mxc_status im2col(const mxc_op_call *call, const mxcu_conv *c, piece p, const void *x, void *columns) {
    MXCU_SWITCH_BYTES(c->dtype, write_columns, call, c, p, x, columns)
}

/* dx = or += what the columns have of each of its elements. */
template <class T>
static mxc_status gather_columns(const mxc_op_call *call, const mxcu_conv *c, piece p, const void *columns, void *dx,
                                 int add) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), image = c->image(), channels = c->groups * s.channels,
                  each = p.count * p.width;
    mxcu_in<T> from = {mxcu_pointer<const T>((void *)columns)};
    mxcu_out<T> to = {mxcu_pointer<T>(moved(dx, p.n * channels * image, c)), add};
    return mxcu_for(call, p.count * channels * image, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t plane = mxcu_divide(i, image), sample = mxcu_divide(plane, channels);
        const int64_t row = (plane - sample * channels) * kernel_size;
        const mxcu_position x = mxcu_position_of(i - plane * image, s.in);
        mxcu_compute_t<T> sum = 0;
        for (int64_t k = 0; k < kernel_size; k++) {
            int64_t at = mxcu_conv_reader(s, x, mxcu_position_of(k, s.kernel)) - p.p;
            if (at >= 0 && at < p.width)
                sum += from[(row + k) * each + sample * p.width + at];
        }
        to.put(i, sum);
    });
}

static mxc_status col2im(const mxc_op_call *call, const mxcu_conv *c, piece p, const void *columns, void *dx, int add) {
    MXCU_SWITCH_FLOAT(c->dtype, gather_columns, call, c, p, columns, dx, add)
}

/* to (GF, samples, P) = dy of the piece. */
template <class T>
static mxc_status filters_first(const mxc_op_call *call, const mxcu_conv *c, piece p, const void *dy, void *to) {
    const int64_t all = filters(c), pixels = c->pixels();
    const T *from = mxcu_pointer<const T>((void *)dy);
    T *out = mxcu_pointer<T>(to);
    return mxcu_rows(call, all * p.count, p.width, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const T *plane = from + ((p.n + row % p.count) * all + row / p.count) * pixels + p.p;
        for (int64_t i = team.rank; i < p.width; i += team.size)
            out[row * p.width + i] = plane[i];
    });
}

static mxc_status permute(const mxc_op_call *call, const mxcu_conv *c, piece p, const void *dy, void *to) {
    MXCU_SWITCH_BYTES(c->dtype, filters_first, call, c, p, dy, to)
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* A group's matrix with a row a position in the kernel: in the columns, or in the images. */
struct matrix {
    void *data;
    int64_t row, sample; /* elements from row to row, from sample to sample */
};

static matrix columns_of(const mxcu_conv *c, piece p, void *columns, int64_t group) {
    int64_t each = p.count * p.width;
    return {moved(columns, group * c->s.channels * c->kernel_size() * each, c), each, p.width};
}

static matrix images_of(const mxcu_conv *c, const void *images, int64_t group) {
    return {moved(images, group * c->s.channels * c->image(), c), c->image(), c->groups * c->s.channels * c->image()};
}

/* y (F,P) = or += w (F,K) b (K,P) for each sample. */
static mxc_status forward_product(const mxc_op_call *call, const mxcu_conv *c, piece p, int64_t group, const void *w,
                                  matrix b, void *y, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    const int64_t k = c->s.channels * c->kernel_size(), f = c->s.filters, pixels = c->pixels();
    g.dtype = c->dtype;
    g.m = f, g.n = p.width, g.k = k;
    g.a = moved(w, group * f * k, c), g.lda = k;
    g.b = b.data, g.ldb = b.row, g.b_stride = b.sample;
    g.c = moved(y, (p.n * filters(c) + group * f) * pixels + p.p, c), g.ldc = pixels, g.c_stride = filters(c) * pixels;
    g.beta = add;
    g.batch = p.count;
    return mxcu_gemm(call, &g);
}

/* b (K,P) = or += w' (K,F) dy (F,P) for each sample. */
static mxc_status data_product(const mxc_op_call *call, const mxcu_conv *c, piece p, int64_t group, const void *w,
                               const void *dy, matrix b, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    const int64_t k = c->s.channels * c->kernel_size(), f = c->s.filters, pixels = c->pixels();
    g.dtype = c->dtype;
    g.transpose_a = 1;
    g.m = k, g.n = p.width, g.k = f;
    g.a = moved(w, group * f * k, c), g.lda = k;
    g.b = moved(dy, (p.n * filters(c) + group * f) * pixels + p.p, c), g.ldb = pixels;
    g.b_stride = filters(c) * pixels;
    g.c = b.data, g.ldc = b.row, g.c_stride = b.sample;
    g.beta = add;
    g.batch = p.count;
    return mxcu_gemm(call, &g);
}

/* dw (F,K) = or += dy (F, samples P) columns' (samples P, K). wide: dw is of the compute type. */
static mxc_status weight_product(const mxc_op_call *call, const mxcu_conv *c, piece p, int64_t group, void *columns,
                                 void *dy, void *dw, int wide, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    const int64_t k = c->s.channels * c->kernel_size(), f = c->s.filters, each = p.count * p.width;
    g.dtype = c->dtype;
    g.transpose_b = 1;
    g.m = f, g.n = k, g.k = each;
    g.a = moved(dy, group * f * each, c), g.lda = each;
    g.b = columns_of(c, p, columns, group).data, g.ldb = each;
    g.c = wide ? static_cast<char *>(dw) + group * f * k * (c->dtype == MXC_F64 ? 8 : 4) : moved(dw, group * f * k, c);
    g.ldc = k;
    g.beta = add;
    return wide ? mxcu_gemm_wide(call, &g) : mxcu_gemm(call, &g);
}

/* ---- the passes -------------------------------------------------------------------------------------------------- */

static piece everything(const mxcu_conv *c) {
    return {0, c->batch, 0, c->pixels()};
}

static mxc_status forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w, void *y, int add) {
    void *temp = call->temp;
    const int plain = is_pointwise(c);
    piece p = plain ? everything(c) : open_pieces(c);
    if (is_depthwise(c))
        return mxcu_conv_depthwise_forward(call, c, x, w, y, add);
    do {
        MXC_TRY(plain ? MXC_OK : im2col(call, c, p, x, temp));
        for (int64_t group = 0; group < c->groups; group++)
            MXC_TRY(forward_product(call, c, p, group, w,
                                    plain ? images_of(c, x, group) : columns_of(c, p, temp, group), y, add));
    } while (next_piece(c, &p));
    return MXC_OK;
}

static mxc_status data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w, void *dx, int add) {
    void *temp = call->temp;
    const int plain = is_pointwise(c);
    piece p = plain ? everything(c) : open_pieces(c);
    if (is_depthwise(c))
        return mxcu_conv_depthwise_data(call, c, dy, w, dx, add);
    do {
        for (int64_t group = 0; group < c->groups; group++)
            MXC_TRY(data_product(call, c, p, group, w, dy,
                                 plain ? images_of(c, dx, group) : columns_of(c, p, temp, group), plain && add));
        MXC_TRY(plain ? MXC_OK : col2im(call, c, p, temp, dx, add || p.p > 0));
    } while (next_piece(c, &p));
    return MXC_OK;
}

template <class T>
static mxc_status put_sums(const mxc_op_call *call, const mxcu_conv *c, void *sums, void *dw, int add) {
    const mxcu_compute_t<T> *from = mxcu_pointer<const mxcu_compute_t<T>>(sums);
    mxcu_out<T> to = {mxcu_pointer<T>(dw), add};
    return mxcu_for(call, filters(c) * c->s.channels * c->kernel_size(),
                    [=] MXCU_LAMBDA(int64_t i) { to.put(i, from[i]); });
}

static mxc_status put_weight(const mxc_op_call *call, const mxcu_conv *c, void *sums, void *dw, int add) {
    MXCU_SWITCH_FLOAT(c->dtype, put_sums, call, c, sums, dw, add)
}

static mxc_status weight(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy, void *dw,
                         int add) {
    piece p = open_pieces(c);
    const int wide = p.count < c->batch || p.width < c->pixels();
    void *columns = static_cast<char *>(call->temp) + sums_bytes(c), *sums = wide ? call->temp : dw;
    if (is_depthwise(c))
        return mxcu_conv_depthwise_weight(call, c, x, dy, dw, add);
    do {
        void *filters_of_dy = moved(columns, column_rows(c) * p.count * p.width, c);
        MXC_TRY(im2col(call, c, p, x, columns));
        MXC_TRY(permute(call, c, p, dy, filters_of_dy));
        for (int64_t group = 0; group < c->groups; group++)
            MXC_TRY(
                weight_product(call, c, p, group, columns, filters_of_dy, sums, wide, wide ? p.n > 0 || p.p > 0 : add));
    } while (next_piece(c, &p));
    return wide ? put_weight(call, c, sums, dw, add) : MXC_OK;
}

/* ---- library or own kernels
 * ----------------------------------------------------------------------------------------------- */

static mxc_status by_library(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a,
                             const void *b, void *to, int add, int *served) {
    *served = 0;
    return c->library ? mxcu_dnn_conv(call, c, pass, a, b, to, add, served) : MXC_OK;
}

mxc_status mxcu_conv_forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w, void *y,
                             int add) {
    int served;
    MXC_TRY(by_library(call, c, MXCU_CONV_FORWARD, x, w, y, add, &served));
    if (served)
        return MXC_OK;
    return c->channels_last ? mxcu_conv_transformed(call, c, MXCU_CONV_FORWARD, x, w, y, add)
                            : forward(call, c, x, w, y, add);
}

mxc_status mxcu_conv_data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w, void *dx,
                          int add) {
    int served;
    MXC_TRY(by_library(call, c, MXCU_CONV_DATA, dy, w, dx, add, &served));
    if (served)
        return MXC_OK;
    return c->channels_last ? mxcu_conv_transformed(call, c, MXCU_CONV_DATA, dy, w, dx, add)
                            : data(call, c, dy, w, dx, add);
}

mxc_status mxcu_conv_weight(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy, void *dw,
                            int add) {
    int served;
    MXC_TRY(by_library(call, c, MXCU_CONV_WEIGHT, x, dy, dw, add, &served));
    if (served)
        return MXC_OK;
    return c->channels_last ? mxcu_conv_transformed(call, c, MXCU_CONV_WEIGHT, x, dy, dw, add)
                            : weight(call, c, x, dy, dw, add);
}
