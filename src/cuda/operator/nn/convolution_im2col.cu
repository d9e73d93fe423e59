/* SPDX-License-Identifier: Apache-2.0 */
/* The three passes of a convolution: by a library (runtime/dnn.h) where it serves the case; else channels last through
 * copies (convolution_layout.cu), groups of one channel directly (convolution_depthwise.cu), and everything else by
 * im2col and matrix products: the patches of a tile, some samples or some pixels of one sample, are written to scratch
 * as "columns" (G, K, samples, P) and multiplied with the weights. A kernel of one element with stride 1 needs no
 * columns: the image is the matrix. */
#include "cuda/operator/nn/convolution.h"

#include "cuda/runtime/blas.h"
#include "cuda/operator/nn/convolution_index.h"
#include "cuda/runtime/dnn.h"
#include "cuda/runtime/kernel.h"

enum { SCRATCH = 128 << 20 }; /* bytes of columns, about */

/* Samples `sample` to sample + count - 1, and of each of them pixels `pixel` to pixel + width - 1. width is less than P
 * only where count is 1. */
struct column_tile {
    int64_t sample, count, pixel, width;
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

/* Whether the columns would equal the image. */
static int is_pointwise(const mxcu_conv *c) {
    int plain = c->kernel_size() == 1;
    for (int i = 0; i < 3; i++)
        plain = plain && c->s.stride[i] == 1 && c->s.pad[i] == 0;
    return plain;
}

static int64_t bounded(int64_t n, int64_t least, int64_t most) {
    return n > most ? most : n < least ? least : n;
}

/* The first tile, which is as large as any. A pixel takes a column and, in the gradient of the weights, the filters of
 * its gradient. */
static column_tile first_tile(const mxcu_conv *c) {
    int64_t fit = SCRATCH / ((column_rows(c) + filters(c)) * mxcu_element_bytes(c->dtype)), pixels = c->pixels();
    return {0, bounded(fit / pixels, 1, c->batch ? c->batch : 1), 0, bounded(fit, 1, pixels)};
}

/* Advance to the next tile; 0: there is none. Without samples there is one tile, of no samples, so that gradients of
 * weights become 0. */
static int next_tile(const mxcu_conv *c, column_tile *tile) {
    column_tile first = first_tile(c);
    tile->pixel += tile->width;
    if (tile->pixel >= c->pixels()) {
        tile->pixel = 0;
        tile->sample += tile->count;
    }
    tile->count = bounded(c->batch - tile->sample, 0, first.count);
    tile->width = bounded(c->pixels() - tile->pixel, 0, first.width);
    return tile->count > 0;
}

static column_tile open_tiles(const mxcu_conv *c) {
    column_tile tile = first_tile(c);
    tile.count = bounded(tile.count, 0, c->batch);
    return tile;
}

/* Bytes of the weights' gradient in the compute type, in which it is accumulated where there are several tiles. */
static int64_t sums_bytes(const mxcu_conv *c) {
    int64_t bytes = filters(c) * c->s.channels * c->kernel_size() * (c->dtype == MXC_F64 ? 8 : 4);
    return (bytes + 255) / 256 * 256;
}

static size_t own_temp(const mxcu_conv *c) {
    column_tile tile = first_tile(c);
    if (is_depthwise(c))
        return 0;
    const int64_t columns =
        mxci_dim_mul(mxci_dim_add(column_rows(c), filters(c)), mxci_dim_mul(tile.count, tile.width));
    return mxci_size_add((size_t)sums_bytes(c), mxci_size_of(columns, (size_t)mxcu_element_bytes(c->dtype)));
}

size_t mxcu_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass) {
    size_t own = c->channels_last ? mxcu_conv_transformed_temp(context, c, pass) : own_temp(c);
    size_t library = c->library ? mxcu_dnn_conv_temp(context, c, pass) : 0;
    return own > library ? own : library;
}

/* The address of so many elements behind base. */
static void *moved(const void *base, int64_t elements, const mxcu_conv *c) {
    return (char *)base + elements * mxcu_element_bytes(c->dtype);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* im2col: a team per row (channel, position in the kernel, sample) of the columns; its threads write neighbouring
 * pixels. T is any type of the element's size, since elements are only moved. */
template <class T>
static mxc_status write_columns(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, const void *x,
                                void *columns) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), image = c->image(), channels = c->groups * s.channels;
    const T *from = mxcu_pointer<const T>((void *)x);
    T *to = mxcu_pointer<T>(columns);
    return mxcu_rows(call, channels * kernel_size * tile.count, tile.width,
                     [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
                         const int64_t which = row / tile.count, sample = tile.sample + row % tile.count,
                                       channel = which / kernel_size;
                         const mxcu_position k = mxcu_position_of(which % kernel_size, s.kernel);
                         const T *plane = from + (sample * channels + channel) * image;
                         for (int64_t i = team.rank; i < tile.width; i += team.size) {
                             int64_t at = mxcu_conv_read(s, mxcu_position_of(tile.pixel + i, s.out), k);
                             to[row * tile.width + i] = at < 0 ? T(0) : plane[at];
                         }
                     });
}

static mxc_status im2col(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, const void *x, void *columns) {
    MXCU_SWITCH_BYTES(c->dtype, write_columns, call, c, tile, x, columns)
}

/* col2im: dx = or += the sum of what the columns have of each element. A thread per element of dx gathers from at most
 * K columns, instead of scattering the columns, so no atomics are needed. */
template <class T>
static mxc_status gather_columns(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, const void *columns,
                                 void *dx, int add) {
    const mxci_conv_shape s = c->s;
    const int64_t kernel_size = c->kernel_size(), image = c->image(), channels = c->groups * s.channels,
                  each = tile.count * tile.width;
    mxcu_in<T> from = {mxcu_pointer<const T>((void *)columns)};
    mxcu_out<T> to = {mxcu_pointer<T>(moved(dx, tile.sample * channels * image, c)), add};
    return mxcu_for(call, tile.count * channels * image, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t plane = mxcu_divide(i, image), sample = mxcu_divide(plane, channels);
        const int64_t row = (plane - sample * channels) * kernel_size;
        const mxcu_position x = mxcu_position_of(i - plane * image, s.in);
        mxcu_compute_t<T> sum = 0;
        for (int64_t k = 0; k < kernel_size; k++) {
            int64_t at = mxcu_conv_reader(s, x, mxcu_position_of(k, s.kernel)) - tile.pixel;
            if (at >= 0 && at < tile.width)
                sum += from[(row + k) * each + sample * tile.width + at];
        }
        to.put(i, sum);
    });
}

static mxc_status col2im(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, const void *columns, void *dx,
                         int add) {
    MXCU_SWITCH_FLOAT(c->dtype, gather_columns, call, c, tile, columns, dx, add)
}

/* to (GF, samples, P) = dy of the tile, which is (samples, GF, P): so the product over samples and pixels is one
 * product instead of one per sample. A team per row. */
template <class T>
static mxc_status filters_first(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, const void *dy,
                                void *to) {
    const int64_t all = filters(c), pixels = c->pixels();
    const T *from = mxcu_pointer<const T>((void *)dy);
    T *out = mxcu_pointer<T>(to);
    return mxcu_rows(call, all * tile.count, tile.width, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const T *plane = from + ((tile.sample + row % tile.count) * all + row / tile.count) * pixels + tile.pixel;
        for (int64_t i = team.rank; i < tile.width; i += team.size)
            out[row * tile.width + i] = plane[i];
    });
}

static mxc_status permute(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, const void *dy, void *to) {
    MXCU_SWITCH_BYTES(c->dtype, filters_first, call, c, tile, dy, to)
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* A group's matrix whose rows are positions in the kernel: in the columns, or (pointwise) in the images. */
struct matrix {
    void *data;
    int64_t row, sample; /* elements from row to row, from sample to sample */
};

static matrix columns_of(const mxcu_conv *c, column_tile tile, void *columns, int64_t group) {
    int64_t each = tile.count * tile.width;
    return {moved(columns, group * c->s.channels * c->kernel_size() * each, c), each, tile.width};
}

static matrix images_of(const mxcu_conv *c, const void *images, int64_t group) {
    return {moved(images, group * c->s.channels * c->image(), c), c->image(), c->groups * c->s.channels * c->image()};
}

/* y (F,P) = or += w (F,K) b (K,P) for each sample. */
static mxc_status forward_product(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, int64_t group,
                                  const void *w, matrix b, void *y, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    const int64_t k = c->s.channels * c->kernel_size(), f = c->s.filters, pixels = c->pixels();
    g.dtype = c->dtype;
    g.m = f, g.n = tile.width, g.k = k;
    g.a = moved(w, group * f * k, c), g.lda = k;
    g.b = b.data, g.ldb = b.row, g.b_stride = b.sample;
    g.c = moved(y, (tile.sample * filters(c) + group * f) * pixels + tile.pixel, c), g.ldc = pixels,
    g.c_stride = filters(c) * pixels;
    g.beta = add;
    g.batch = tile.count;
    return mxcu_gemm(call, &g);
}

/* b (K,P) = or += w' (K,F) dy (F,P) for each sample. */
static mxc_status data_product(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, int64_t group,
                               const void *w, const void *dy, matrix b, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    const int64_t k = c->s.channels * c->kernel_size(), f = c->s.filters, pixels = c->pixels();
    g.dtype = c->dtype;
    g.transpose_a = 1;
    g.m = k, g.n = tile.width, g.k = f;
    g.a = moved(w, group * f * k, c), g.lda = k;
    g.b = moved(dy, (tile.sample * filters(c) + group * f) * pixels + tile.pixel, c), g.ldb = pixels;
    g.b_stride = filters(c) * pixels;
    g.c = b.data, g.ldc = b.row, g.c_stride = b.sample;
    g.beta = add;
    g.batch = tile.count;
    return mxcu_gemm(call, &g);
}

/* dw (F,K) = or += dy (F, samples P) columns' (samples P, K). wide: dw has the compute type. */
static mxc_status weight_product(const mxc_op_call *call, const mxcu_conv *c, column_tile tile, int64_t group,
                                 void *columns, void *dy, void *dw, int wide, int add) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    const int64_t k = c->s.channels * c->kernel_size(), f = c->s.filters, each = tile.count * tile.width;
    g.dtype = c->dtype;
    g.transpose_b = 1;
    g.m = f, g.n = k, g.k = each;
    g.a = moved(dy, group * f * each, c), g.lda = each;
    g.b = columns_of(c, tile, columns, group).data, g.ldb = each;
    g.c = wide ? static_cast<char *>(dw) + group * f * k * (c->dtype == MXC_F64 ? 8 : 4) : moved(dw, group * f * k, c);
    g.ldc = k;
    g.beta = add;
    return wide ? mxcu_gemm_wide(call, &g) : mxcu_gemm(call, &g);
}

/* ---- the passes -------------------------------------------------------------------------------------------------- */

/* One tile, for pointwise kernels, which need no scratch. */
static column_tile everything(const mxcu_conv *c) {
    return {0, c->batch, 0, c->pixels()};
}

static mxc_status forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w, void *y, int add) {
    void *temp = call->temp;
    const int plain = is_pointwise(c);
    column_tile tile = plain ? everything(c) : open_tiles(c);
    if (is_depthwise(c))
        return mxcu_conv_depthwise_forward(call, c, x, w, y, add);
    do {
        MXC_TRY(plain ? MXC_OK : im2col(call, c, tile, x, temp));
        for (int64_t group = 0; group < c->groups; group++)
            MXC_TRY(forward_product(call, c, tile, group, w,
                                    plain ? images_of(c, x, group) : columns_of(c, tile, temp, group), y, add));
    } while (next_tile(c, &tile));
    return MXC_OK;
}

/* The gradient of data: columns = w' dy, then col2im. The first tile of a sample overwrites dx unless it is to be added
 * to, later ones add. */
static mxc_status data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w, void *dx, int add) {
    void *temp = call->temp;
    const int plain = is_pointwise(c);
    column_tile tile = plain ? everything(c) : open_tiles(c);
    if (is_depthwise(c))
        return mxcu_conv_depthwise_data(call, c, dy, w, dx, add);
    do {
        for (int64_t group = 0; group < c->groups; group++)
            MXC_TRY(data_product(call, c, tile, group, w, dy,
                                 plain ? images_of(c, dx, group) : columns_of(c, tile, temp, group), plain && add));
        MXC_TRY(plain ? MXC_OK : col2im(call, c, tile, temp, dx, add || tile.pixel > 0));
    } while (next_tile(c, &tile));
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

/* The gradient of the weights. With several tiles the sums are kept in float32 and rounded once. */
static mxc_status weight(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy, void *dw,
                         int add) {
    column_tile tile = open_tiles(c);
    const int wide = tile.count < c->batch || tile.width < c->pixels();
    void *columns = static_cast<char *>(call->temp) + sums_bytes(c), *sums = wide ? call->temp : dw;
    if (is_depthwise(c))
        return mxcu_conv_depthwise_weight(call, c, x, dy, dw, add);
    do {
        void *filters_of_dy = moved(columns, column_rows(c) * tile.count * tile.width, c);
        MXC_TRY(im2col(call, c, tile, x, columns));
        MXC_TRY(permute(call, c, tile, dy, filters_of_dy));
        for (int64_t group = 0; group < c->groups; group++)
            MXC_TRY(weight_product(call, c, tile, group, columns, filters_of_dy, sums, wide,
                                   wide ? tile.sample > 0 || tile.pixel > 0 : add));
    } while (next_tile(c, &tile));
    return wide ? put_weight(call, c, sums, dw, add) : MXC_OK;
}

/* ---- library or own kernels -------------------------------------------------------------------------------------- */

/* *served = 0 also where parameters or options exclude the library. */
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
