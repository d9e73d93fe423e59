/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/packed_winograd_kernels.h"

#include "math/gemm_kernels.h"
#include "operator/nn/packed_vectors_kernels.h"
#include "operator/nn/winograd_kernels.h"

enum {
    LANES = MXCI_WIDE_F32,
    PANEL = 2 * LANES,
    OUT = MXCI_WINOGRAD_OUT,
    IN = MXCI_WINOGRAD_IN,
    LINE = 16,           /* floats of a cache line */
    STRIP = 6,           /* tiles of a product's register tile */
    DEPTH = 4096 / PANEL /* rows of a panel at a time: 16 KiB */
};

typedef mxci_wide_f32 V;

#include "operator/nn/winograd_transform_kernels.inc"

int64_t mxci_packed_winograd_row(int64_t channels) {
    return (channels + LANES - 1) / LANES * LANES;
}

/* Of a vector that begins where so many are left. */
MXCI_INLINE int lanes_of(int64_t left) {
    return left < LANES ? (int)left : LANES;
}

/* ---- tiles --------------------------------------------------------------------------------------------------------
 */

/* A walk over tiles in their order. */
typedef struct walk {
    int64_t sample, row, column;
} walk;

static walk walk_to(const mxci_packed_winograd *w, int64_t tile) {
    const int64_t line = tile / w->columns;
    return (walk){line / w->rows, line % w->rows, tile % w->columns};
}

static void walk_on(const mxci_packed_winograd *w, walk *at) {
    if (++at->column < w->columns)
        return;
    at->column = 0;
    if (++at->row < w->rows)
        return;
    at->row = 0;
    at->sample++;
}

/* ---- images -------------------------------------------------------------------------------------------------------
 */

/* 6x6 pixels with rows and columns from..to-1 inside of the image; others are zeros. */
typedef struct window {
    const float *image;
    int64_t at, row; /* of the image: row 0 and column 0, also where that is outside; floats from a row to the next */
    int from[2], to[2];
} window;

static window window_of(const mxci_packed_winograd *w, const float *image, walk at) {
    const int64_t y = OUT * at.row - w->pad[0], x = OUT * at.column - w->pad[1];
    window v = {
        .image = image,
        .at = ((at.sample * w->in[0] + y) * w->in[1] + x) * w->channels,
        .row = w->in[1] * w->channels,
    };
    for (int i = 0; i < 2; i++) {
        const int64_t begin = i ? x : y, left = w->in[i] - begin;
        v.from[i] = begin >= 0 ? 0 : -begin < IN ? (int)-begin : IN;
        v.to[i] = left < IN ? (left > 0 ? (int)left : 0) : IN;
    }
    return v;
}

static int is_inside(const window *v) {
    return v->from[0] == 0 && v->from[1] == 0 && v->to[0] == IN && v->to[1] == IN;
}

/* V of a tile for channels c..c + n - 1, up to a vector of them. */
MXCI_INLINE void transform_tile(const mxci_packed_winograd *w, const window *from, int64_t c, int n, const int inside,
                                float *v) {
    V d[IN * IN], out[IN * IN];
    MXCI_UNROLL
    for (int y = 0; y < IN; y++) {
        const int has_row = inside || (y >= from->from[0] && y < from->to[0]);
        int64_t at = from->at + y * from->row + c;
        V pixels[IN];
        MXCI_UNROLL
        for (int x = 0; x < IN; x++, at += w->channels) {
            const int exists = inside || (has_row && x >= from->from[1] && x < from->to[1]);
            pixels[x] = exists ? mxci_packed_load(from->image + at, n) : (V){0};
        }
        transform_input(pixels, 1, d + y * IN);
    }
    MXCI_UNROLL
    for (int x = 0; x < IN; x++) {
        transform_input(d + x, IN, out + x);
        MXCI_UNROLL
        for (int y = 0; y < IN; y++)
            mxci_wide_store_f32(v + (y * IN + x) * w->v_step + c, out[y * IN + x]);
    }
}

void mxci_packed_winograd_input(const mxci_packed_winograd *w, const float *image, int64_t first, float *v,
                                int64_t begin, int64_t end) {
    walk at = walk_to(w, first + begin);
    for (int64_t k = begin; k < end; k++, walk_on(w, &at)) {
        const window from = window_of(w, image, at);
        float *to = v + k * w->v_row;
        int64_t c = 0;
        if (is_inside(&from)) {
            for (; c + LANES <= w->channels; c += LANES)
                transform_tile(w, &from, c, LANES, 1, to);
        }
        for (; c < w->channels; c += LANES)
            transform_tile(w, &from, c, lanes_of(w->channels - c), 0, to);
    }
}

/* ---- weights ------------------------------------------------------------------------------------------------------
 */

/* U += that of a filter, for channels c..c + n - 1 of a panel: element [t][c + i] of out is at t * step + i * PANEL. */
static void pack_channels(const float *weight, int64_t channels, int n, int64_t step, float *u) {
    V g[9], d[IN * 3], out[IN * IN];
    for (int k = 0; k < 9; k++)
        g[k] = mxci_packed_load(weight + k * channels, n);
    for (int x = 0; x < 3; x++)
        transform_weight(g + x, 3, d + x, 3);
    for (int y = 0; y < IN; y++)
        transform_weight(d + 3 * y, 1, out + IN * y, 1);
    for (int t = 0; t < IN * IN; t++) {
        for (int i = 0; i < n; i++)
            u[t * step + i * PANEL] += out[t][i];
    }
}

void mxci_packed_winograd_weights(const mxci_packed_winograd *w, const float *weight, int add, float *u, int64_t begin,
                                  int64_t end) {
    const int64_t step = w->panels * w->channels * PANEL;
    for (int64_t panel = begin; panel < end; panel++) {
        const int64_t first = panel * PANEL, filters = w->filters - first < PANEL ? w->filters - first : PANEL;
        float *to = u + panel * w->channels * PANEL;
        for (int t = 0; t < IN * IN && !add; t++)
            memset(to + t * step, 0, (size_t)(w->channels * PANEL) * sizeof *to);
        for (int64_t c = 0; c < w->channels; c += LANES) {
            const int n = lanes_of(w->channels - c);
            for (int64_t f = 0; f < filters; f++)
                pack_channels(weight + (first + f) * 9 * w->channels + c, w->channels, n, step, to + c * PANEL + f);
        }
    }
}

/* ---- products -----------------------------------------------------------------------------------------------------
 */

/* Fetches rows begin..end-1 of a panel, or of none, into the second cache. */
MXCI_INLINE void prefetch(const float *panel, int64_t begin, int64_t end) {
    for (int64_t p = begin; panel && p < end; p++) {
        __builtin_prefetch(panel + p * PANEL, 0, 2);
        if (PANEL > LINE)
            __builtin_prefetch(panel + p * PANEL + LINE, 0, 2);
    }
}

/* One panel of M[t] (tiles x columns) = V[t] (tiles x channels) U (channels x PANEL), in strips of at most six tiles,
 * of which every one reads the panel while that is in the first cache; meanwhile the next one, which follows in memory,
 * is fetched from where the weights are. is_last: there is no next one. */
static void multiply_panel(const mxci_packed_winograd *w, const float *v, const float *u, int columns, int is_last,
                           int64_t tiles, float *m) {
    static const float zero;
    const int64_t strips = (tiles + STRIP - 1) / STRIP, blocks = (w->channels + DEPTH - 1) / DEPTH;
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t p = b * w->channels / blocks, depth = (b + 1) * w->channels / blocks - p;
        const float *next = b + 1 < blocks || !is_last ? u + (p + depth) * PANEL : NULL;
        for (int64_t s = 0; s < strips; s++) {
            const int64_t i = s * tiles / strips, rows = (s + 1) * tiles / strips - i;
            const mxci_tile t = {
                .depth = depth,
                .a = v + i * w->v_row + p,
                .a_row = w->v_row,
                .a_step = 1,
                .b = u + p * PANEL,
                .b_step = PANEL,
                .start = p > 0 ? m + i * w->m_row : &zero,
                .start_row = p > 0 ? w->m_row : 0,
                .start_col = p > 0,
                .c = m + i * w->m_row,
                .c_row = w->m_row,
            };
            prefetch(next, s * depth / strips, (s + 1) * depth / strips);
            mxci_tile_run_f32((int)rows, columns, &t);
        }
    }
}

void mxci_packed_winograd_multiply(const mxci_packed_winograd *w, const float *u, const float *v, float *m,
                                   int64_t tiles, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t t = unit / w->panels, panel = unit % w->panels;
        const int columns = w->filters - panel * PANEL > LANES ? PANEL : LANES;
        multiply_panel(w, v + t * w->v_step, u + unit * w->channels * PANEL, columns, unit + 1 == end, tiles,
                       m + t * w->m_step + panel * PANEL);
    }
}

/* ---- results ------------------------------------------------------------------------------------------------------
 */

/* Filters f..f + n - 1, up to a vector of them, of a tile whose pixels height x width exist. */
MXCI_INLINE void store_tile(const mxci_packed_winograd *w, const float *m, const mxci_packed_epilogue *e, int64_t f,
                            int n, int64_t height, int64_t width, float *out, int64_t offset) {
    const V bias = e->bias ? mxci_packed_load(e->bias + f, n) : (V){0};
    V d[OUT * IN];
    MXCI_UNROLL
    for (int x = 0; x < IN; x++) {
        V column[IN];
        MXCI_UNROLL
        for (int y = 0; y < IN; y++)
            column[y] = mxci_wide_load_f32(m + (y * IN + x) * w->m_step + f);
        transform_output(column, 1, d + x, IN);
    }
    MXCI_UNROLL
    for (int y = 0; y < OUT; y++) {
        if (y >= height)
            break;
        const int64_t row = offset + y * w->out[1] * w->filters + f;
        V pixels[OUT];
        transform_output(d + IN * y, 1, pixels, 1);
        MXCI_UNROLL
        for (int x = 0; x < OUT; x++) {
            if (x >= width)
                break;
            const int64_t at = row + x * w->filters;
            V v = pixels[x] + bias;
            if (e->addend)
                v += mxci_packed_load(e->addend + at, n);
            v = mxci_packed_rectify(v, e->slope, e->limit);
            if (e->add)
                v += mxci_packed_load(out + at, n);
            mxci_packed_store(out + at, n, v);
        }
    }
}

void mxci_packed_winograd_output(const mxci_packed_winograd *w, const float *m, const mxci_packed_epilogue *epilogue,
                                 int64_t first, float *out, int64_t begin, int64_t end) {
    walk at = walk_to(w, first + begin);
    for (int64_t k = begin; k < end; k++, walk_on(w, &at)) {
        const int64_t y = OUT * at.row, x = OUT * at.column;
        const int64_t height = w->out[0] - y < OUT ? w->out[0] - y : OUT;
        const int64_t width = w->out[1] - x < OUT ? w->out[1] - x : OUT;
        const int64_t offset = ((at.sample * w->out[0] + y) * w->out[1] + x) * w->filters;
        const float *from = m + k * w->m_row;
        int64_t f = 0;
        if (height == OUT && width == OUT) {
            for (; f + LANES <= w->filters; f += LANES)
                store_tile(w, from, epilogue, f, LANES, OUT, OUT, out, offset);
        }
        for (; f < w->filters; f += LANES)
            store_tile(w, from, epilogue, f, lanes_of(w->filters - f), height, width, out, offset);
    }
}
