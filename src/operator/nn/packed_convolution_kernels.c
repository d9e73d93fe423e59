/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/packed_convolution_kernels.h"

#include <string.h>

#include "base/size.h"
#include "operator/nn/packed_vectors_kernels.h"

#define V mxci_wide_f32
enum {
    LANES = MXCI_WIDE_F32,
    PANEL = 2 * LANES,
    STRIP = MXCI_PACKED_STRIP,
    DEPTH = 2048, /* channels of taps that are added up before the next pixels: their panel stays in the second cache */
};

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

int64_t mxci_packed_panel(void) {
    return PANEL;
}

void mxci_packed_measure(const mxci_conv_shape *shape, int64_t batch, int64_t groups, mxci_packed_conv *out) {
    int64_t merged = 1;
    for (int64_t n = 2; n <= groups && n * shape->filters <= LANES; n++)
        merged = groups % n == 0 ? n : merged;
    *out = (mxci_packed_conv){
        .shape = *shape,
        .batch = batch,
        .groups = groups / merged,
        .merged = merged,
        .taps = mxci_dim_mul(mxci_dim_mul(shape->kernel[0], shape->kernel[1]), shape->kernel[2]),
        .in_pixel = shape->channels * groups,
        .out_pixel = shape->filters * groups,
    };
    out->shape.channels *= merged;
    out->shape.filters *= merged;
    out->panels = (out->shape.filters + PANEL - 1) / PANEL;
    if (LANES >= 8 && merged > 1 && out->shape.filters == LANES && shape->filters == shape->channels &&
        (shape->channels == 2 || shape->channels == 4))
        out->spread = shape->channels;
}

int64_t mxci_packed_size(const mxci_packed_conv *c) {
    const int64_t panel = c->spread ? c->spread * LANES : mxci_dim_mul(c->shape.channels, PANEL);
    return mxci_dim_mul(mxci_dim_mul(c->groups * c->panels, c->taps), panel);
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/* One vector of filters, of groups that it holds. */
static void pack_spread(const mxci_packed_conv *c, const float *weight, int add, float *to) {
    for (int64_t i = 0; i < c->taps * c->spread; i++)
        for (int64_t j = 0; j < LANES; j++)
            to[i * LANES + j] = (add ? to[i * LANES + j] : 0) + weight[j * c->taps * c->spread + i];
}

void mxci_packed_pack(const mxci_packed_conv *c, const float *weight, int add, float *packed, int64_t begin,
                      int64_t end) {
    const int64_t channels = c->shape.channels, each = channels / c->merged, filters = c->shape.filters / c->merged;
    const int64_t size = c->taps * channels * PANEL;
    for (int64_t i = begin; i < end && c->spread; i++)
        pack_spread(c, weight + i * LANES * c->taps * c->spread, add, packed + i * c->taps * c->spread * LANES);
    for (int64_t i = begin; i < end && !c->spread; i++) {
        const int64_t group = i / c->panels, first = i % c->panels * PANEL;
        float *to = packed + i * size;
        if (!add)
            memset(to, 0, (size_t)size * sizeof *to);
        for (int64_t j = 0; j < PANEL && first + j < c->shape.filters; j++) {
            const float *from = weight + (group * c->shape.filters + first + j) * c->taps * each;
            float *column = to + (first + j) / filters * each * PANEL + j; /* of the first tap, of the own channels */
            for (int64_t tap = 0; tap < c->taps; tap++)
                for (int64_t k = 0; k < each; k++)
                    column[(tap * channels + k) * PANEL] += from[tap * each + k];
        }
    }
}

/* ---- direct ------------------------------------------------------------------------------------------------------ */

#define T float
#define CONV mxci_packed_conv
#include "operator/nn/packed_points_kernels.inc"

void mxci_packed_points(const mxci_packed_conv *c, const float *in, const float *zeros, int64_t begin, int64_t end,
                        const float **points) {
    make_points(c, in, zeros, begin, end, points);
}

/* Up to six pixels by two vectors of filters, over some taps. */
typedef struct tile {
    int64_t taps, channels;
    const float *const *in; /* [taps][STRIP] */
    int64_t offset;         /* of the group's channels in a pixel */
    const float *weight;    /* [taps][channels][PANEL] */
    const float *start;     /* what the sums start from, start_row floats from one pixel to the next; NULL: 0 */
    int64_t start_row;
    const float *addend; /* also; or NULL */
    float *out;
    int64_t out_row; /* of addend too */
    int last;        /* filters in the last vector */
    int is_whole;    /* these taps are the last ones */
    int add;
    float slope, limit;
} tile;

MXCI_INLINE void tile_start(const int rows, const int vectors, const tile *t, V acc[STRIP][2]) {
    MXCI_UNROLL
    for (int i = 0; i < rows; i++) {
        MXCI_UNROLL
        for (int j = 0; j < vectors; j++) {
            const int n = j == vectors - 1 ? t->last : LANES;
            acc[i][j] =
                t->start ? mxci_packed_load(t->start + i * t->start_row + j * LANES, n) : mxci_wide_splat_f32(0);
            if (t->addend)
                acc[i][j] += mxci_packed_load(t->addend + i * t->out_row + j * LANES, n);
        }
    }
}

MXCI_INLINE void tile_store(const int rows, const int vectors, const tile *t, V acc[STRIP][2]) {
    MXCI_UNROLL
    for (int i = 0; i < rows; i++) {
        MXCI_UNROLL
        for (int j = 0; j < vectors; j++) {
            const int n = j == vectors - 1 ? t->last : LANES;
            float *to = t->out + i * t->out_row + j * LANES;
            V x = t->is_whole ? mxci_packed_rectify(acc[i][j], t->slope, t->limit) : acc[i][j];
            if (t->add)
                x += mxci_packed_load(to, n);
            mxci_packed_store(to, n, x);
        }
    }
}

MXCI_INLINE void tile_any(const int rows, const int vectors, const tile *t) {
    const float *weight = t->weight;
    V acc[STRIP][2];
    tile_start(rows, vectors, t, acc);
    for (int64_t tap = 0; tap < t->taps; tap++) {
        const float *in[STRIP];
        MXCI_UNROLL
        for (int i = 0; i < rows; i++)
            in[i] = t->in[tap * STRIP + i] + t->offset;
        for (int64_t c = 0; c < t->channels; c++, weight += PANEL) {
            V w[2];
            MXCI_UNROLL
            for (int j = 0; j < vectors; j++)
                w[j] = mxci_wide_load_f32(weight + j * LANES);
            MXCI_UNROLL
            for (int i = 0; i < rows; i++) {
                const V x = mxci_wide_splat_f32(in[i][c]);
                MXCI_UNROLL
                for (int j = 0; j < vectors; j++)
                    acc[i][j] += x * w[j];
            }
        }
    }
    tile_store(rows, vectors, t, acc);
}

/* One vector of groups of so many channels: each channel of a group meets the group's filters. */
MXCI_INLINE void tile_spread(const int rows, const int each, const tile *t) {
    const float *weight = t->weight;
    V acc[STRIP][2];
    tile_start(rows, 1, t, acc);
    for (int64_t tap = 0; tap < t->taps; tap++, weight += each * LANES) {
        V x[STRIP];
        MXCI_UNROLL
        for (int i = 0; i < rows; i++)
            x[i] = mxci_wide_load_f32(t->in[tap * STRIP + i] + t->offset);
        MXCI_UNROLL
        for (int c = 0; c < each; c++) {
            const V w = mxci_wide_load_f32(weight + c * LANES);
            MXCI_UNROLL
            for (int i = 0; i < rows; i++)
                acc[i][0] += mxci_wide_spread_f32(x[i], each, c) * w;
        }
    }
    tile_store(rows, 1, t, acc);
}

static void tile_1by2(const tile *t) {
    tile_spread(1, 2, t);
}
static void tile_6by2(const tile *t) {
    tile_spread(STRIP, 2, t);
}
static void tile_1by4(const tile *t) {
    tile_spread(1, 4, t);
}
static void tile_6by4(const tile *t) {
    tile_spread(STRIP, 4, t);
}

static void tile_1(const tile *t) {
    tile_any(1, 1, t);
}
static void tile_2(const tile *t) {
    tile_any(2, 1, t);
}
static void tile_3(const tile *t) {
    tile_any(3, 1, t);
}
static void tile_4(const tile *t) {
    tile_any(4, 1, t);
}
static void tile_5(const tile *t) {
    tile_any(5, 1, t);
}
static void tile_6(const tile *t) {
    tile_any(6, 1, t);
}
static void tile_1w(const tile *t) {
    tile_any(1, 2, t);
}
static void tile_2w(const tile *t) {
    tile_any(2, 2, t);
}
static void tile_3w(const tile *t) {
    tile_any(3, 2, t);
}
static void tile_4w(const tile *t) {
    tile_any(4, 2, t);
}
static void tile_5w(const tile *t) {
    tile_any(5, 2, t);
}
static void tile_6w(const tile *t) {
    tile_any(6, 2, t);
}

/* Pixels of a vector of groups, by strips, then one by one. */
static void run_spread(const mxci_packed_conv *c, const float *const *points, const float *packed,
                       const mxci_packed_epilogue *e, float *out, int64_t begin, int64_t end, int64_t vector) {
    void (*const one)(const tile *) = c->spread == 2 ? tile_1by2 : tile_1by4;
    void (*const strip)(const tile *) = c->spread == 2 ? tile_6by2 : tile_6by4;
    const int64_t filter = vector * LANES;
    tile t = {
        .taps = c->taps,
        .offset = filter,
        .weight = packed + filter * c->taps * c->spread,
        .start = e->bias ? e->bias + filter : NULL,
        .out_row = c->out_pixel,
        .last = LANES,
        .is_whole = 1,
        .add = e->add,
        .slope = e->slope,
        .limit = e->limit,
    };
    for (int64_t p = begin; p < end;) {
        t.in = points + (p - begin) / STRIP * c->taps * STRIP + (p - begin) % STRIP;
        t.out = out + p * c->out_pixel + filter;
        t.addend = e->addend ? e->addend + p * c->out_pixel + filter : NULL;
        const int is_strip = end - p >= STRIP && (p - begin) % STRIP == 0;
        (is_strip ? strip : one)(&t);
        p += is_strip ? STRIP : 1;
    }
}

void mxci_packed_direct(const mxci_packed_conv *c, const float *const *points, const float *packed,
                        const mxci_packed_epilogue *e, float *out, int64_t begin, int64_t end, int64_t panel) {
    static void (*const run[2][STRIP])(const tile *) = {
        {tile_1, tile_2, tile_3, tile_4, tile_5, tile_6},
        {tile_1w, tile_2w, tile_3w, tile_4w, tile_5w, tile_6w},
    };
    const int64_t channels = c->shape.channels, group = panel / c->panels, first = panel % c->panels * PANEL;
    const int64_t filters = c->shape.filters - first < PANEL ? c->shape.filters - first : PANEL;
    const int64_t filter = group * c->shape.filters + first;
    /* Taps at a time; the output keeps the sums in between, where it does not keep what is added to. */
    const int64_t chunks = e->add ? 1 : (c->taps * channels + DEPTH - 1) / DEPTH;
    const int64_t depth = (c->taps + chunks - 1) / chunks;
    const int is_wide = filters > LANES;
    tile t = {
        .channels = channels,
        .offset = group * channels,
        .out_row = c->out_pixel,
        .last = (int)(filters - is_wide * LANES),
        .add = e->add,
        .slope = e->slope,
        .limit = e->limit,
    };
    if (c->spread) {
        run_spread(c, points, packed, e, out, begin, end, panel);
        return;
    }
    for (int64_t tap = 0; tap < c->taps; tap += depth) {
        t.taps = c->taps - tap < depth ? c->taps - tap : depth;
        t.weight = packed + (panel * c->taps + tap) * channels * PANEL;
        t.is_whole = tap + t.taps == c->taps;
        for (int64_t p = begin; p < end; p += STRIP) {
            const int rows = (int)(end - p < STRIP ? end - p : STRIP);
            t.in = points + ((p - begin) / STRIP * c->taps + tap) * STRIP;
            t.out = out + p * c->out_pixel + filter;
            t.start = tap > 0 ? t.out : e->bias ? e->bias + filter : NULL;
            t.start_row = tap > 0 ? c->out_pixel : 0;
            t.addend = tap == 0 && e->addend ? e->addend + p * c->out_pixel + filter : NULL;
            run[is_wide][rows - 1](&t);
        }
    }
}

/* ---- one filter a channel ---------------------------------------------------------------------------------------- */

/* One output row: the kernel rows that lie in the image. */
typedef struct row {
    const mxci_packed_conv *c;
    const mxci_packed_epilogue *e;
    int n;
    const float *in[MXCI_PACKED_KERNEL_ROWS], *weight[MXCI_PACKED_KERNEL_ROWS];
    int64_t at; /* of the row's first element in out and addend */
    float *out;
} row;

/* Pixels x..x+count-1 of channels from channel on, n of them; taps begin..end-1 of each kernel row. */
MXCI_INLINE void channel_tile(const int count, const row *r, int64_t x, int64_t channel, int n, int64_t begin,
                              int64_t end) {
    const mxci_conv_shape *s = &r->c->shape;
    const int64_t pixel = r->c->in_pixel, step = s->stride[2] * pixel, to = r->at + x * pixel + channel;
    const mxci_packed_epilogue *e = r->e;
    V acc[STRIP];
    MXCI_UNROLL
    for (int i = 0; i < count; i++) {
        acc[i] = e->bias ? mxci_packed_load(e->bias + channel, n) : mxci_wide_splat_f32(0);
        if (e->addend)
            acc[i] += mxci_packed_load(e->addend + to + i * pixel, n);
    }
    for (int k = 0; k < r->n; k++) {
        const float *in = r->in[k] + (x * s->stride[2] - s->pad[2] + begin * s->dilate[2]) * pixel + channel;
        const float *weight = r->weight[k] + begin * pixel + channel;
        for (int64_t tap = begin; tap < end; tap++, in += s->dilate[2] * pixel, weight += pixel) {
            const V w = mxci_packed_load(weight, n);
            MXCI_UNROLL
            for (int i = 0; i < count; i++)
                acc[i] += mxci_packed_load(in + i * step, n) * w;
        }
    }
    MXCI_UNROLL
    for (int i = 0; i < count; i++) {
        V v = mxci_packed_rectify(acc[i], e->slope, e->limit);
        if (e->add)
            v += mxci_packed_load(r->out + to + i * pixel, n);
        mxci_packed_store(r->out + to + i * pixel, n, v);
    }
}

/* One pixel whose taps lie partly outside. */
static void channel_edge(const row *r, int64_t x) {
    const mxci_conv_shape *s = &r->c->shape;
    int64_t begin = 0, end = s->kernel[2];
    while (begin < end && x * s->stride[2] - s->pad[2] + begin * s->dilate[2] < 0)
        begin++;
    while (end > begin && x * s->stride[2] - s->pad[2] + (end - 1) * s->dilate[2] >= s->in[2])
        end--;
    for (int64_t channel = 0; channel < r->c->in_pixel; channel += LANES) {
        const int64_t left = r->c->in_pixel - channel;
        channel_tile(1, r, x, channel, left < LANES ? (int)left : LANES, begin, end);
    }
}

/* Whole vectors have a loop of their own, in which the number of lanes is a constant. */
MXCI_INLINE void channel_strip(const int count, const row *r, int64_t x) {
    const int64_t channels = r->c->in_pixel, taps = r->c->shape.kernel[2];
    int64_t channel = 0;
    for (; channel + LANES <= channels; channel += LANES)
        channel_tile(count, r, x, channel, LANES, 0, taps);
    if (channel < channels)
        channel_tile(count, r, x, channel, (int)(channels - channel), 0, taps);
}

static void channel_row(const row *r) {
    const mxci_conv_shape *s = &r->c->shape;
    int64_t first, count, last, n;
    inside(s, 2, 0, &first, &count);
    inside(s, 2, s->kernel[2] - 1, &n, &last);
    last += n < 0 ? 0 : n;
    if (first > s->out[2])
        first = s->out[2];
    if (last < first)
        last = first;
    for (int64_t x = 0; x < first; x++)
        channel_edge(r, x);
    int64_t x = first;
    for (; x + STRIP <= last; x += STRIP)
        channel_strip(STRIP, r, x);
    for (; x < last; x++)
        channel_strip(1, r, x);
    for (; x < s->out[2]; x++)
        channel_edge(r, x);
}

void mxci_packed_by_channel(const mxci_packed_conv *c, const float *in, const float *weight,
                            const mxci_packed_epilogue *e, float *out, int64_t begin, int64_t end) {
    const mxci_conv_shape *s = &c->shape;
    for (int64_t i = begin; i < end; i++) {
        const int64_t y = i % s->out[1], z = i / s->out[1] % s->out[0], sample = i / s->out[1] / s->out[0];
        row r = {.c = c, .e = e, .at = i * s->out[2] * c->out_pixel, .out = out};
        for (int64_t kz = 0; kz < s->kernel[0]; kz++)
            for (int64_t ky = 0; ky < s->kernel[1]; ky++) {
                const int64_t iz = z * s->stride[0] + kz * s->dilate[0] - s->pad[0];
                const int64_t iy = y * s->stride[1] + ky * s->dilate[1] - s->pad[1];
                if (iz < 0 || iz >= s->in[0] || iy < 0 || iy >= s->in[1])
                    continue;
                r.in[r.n] = in + ((sample * s->in[0] + iz) * s->in[1] + iy) * s->in[2] * c->in_pixel;
                r.weight[r.n++] = weight + (kz * s->kernel[1] + ky) * s->kernel[2] * c->in_pixel;
            }
        channel_row(&r);
    }
}
