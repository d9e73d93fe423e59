/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/winograd_kernels.h"

#include "base/simd_wide.h"
#include "math/gemm_kernels.h"

enum {
    LANES = 8,
    OUT = MXCI_WINOGRAD_OUT,
    IN = MXCI_WINOGRAD_IN,
    COLUMNS = MXCI_WINOGRAD_COLUMNS,
    TILE = 2 * MXCI_WIDE_F32,               /* columns that a product's tile takes at a time */
    PANEL = TILE > COLUMNS ? TILE : COLUMNS /* columns of a panel; the last one may have COLUMNS only */
};

typedef mxci_v_f32 V;

#include "operator/nn/winograd_transform_kernels.inc"

int64_t mxci_winograd_panel(void) {
    return PANEL;
}

/* Columns of the panel that begins at column first of so many. */
MXCI_INLINE int64_t panel_width(int64_t first, int64_t columns) {
    return columns - first < PANEL ? columns - first : PANEL;
}

static int64_t whole_columns(int64_t n) {
    return (n + COLUMNS - 1) / COLUMNS * COLUMNS;
}

/* ---- rows of tiles ------------------------------------------------------------------------------------------------
 */

/* Floats of a row of pixels in the buffer: of input, with what a vector reads beyond the last tile. */
static int64_t row_floats(const mxci_winograd *w) {
    return OUT * w->columns + LANES;
}

/* For eight planes of the gradient of the output, which is more than one of input. One more row of tiles than a block
 * has: zeros, for tiles that do not exist. */
int64_t mxci_winograd_buffer(const mxci_winograd *w) {
    return (w->tiles / w->columns + 1) * LANES * OUT * row_floats(w);
}

/* n floats, as vectors where that is possible. */
MXCI_INLINE void copy_row(const float *from, int64_t n, float *to) {
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i];
        return;
    }
    for (int64_t i = 0; i + LANES < n; i += LANES)
        mxci_store_f32(to + i, mxci_load_f32(from + i));
    mxci_store_f32(to + n - LANES, mxci_load_f32(from + n - LANES));
}

/* n zeros, at least LANES. */
MXCI_INLINE void clear_row(int64_t n, float *to) {
    for (int64_t i = 0; i + LANES < n; i += LANES)
        mxci_store_f32(to + i, (V){0});
    mxci_store_f32(to + n - LANES, (V){0});
}

/* Pixels of rows of tiles: height rows from row y on, from column x on, of a plane (size[0], size[1]), with zeros
 * outside. */
static void copy_rows(const float *plane, const int64_t size[2], int64_t y, int64_t x, int64_t height, int64_t width,
                      float *to) {
    const int64_t from = x < 0 ? -x : 0, last = size[1] - x < width ? size[1] - x : width;
    for (int64_t i = y; i < y + height; i++, to += width) {
        clear_row(width, to);
        if (i >= 0 && i < size[0] && last > from)
            copy_row(plane + i * size[1] + x + from, last - from, to + from);
    }
}

/* The block's rows of tiles of one channel, OUT rows of row_floats each; those of a sample have height - OUT rows more
 * behind the last, which tiles share with their neighbours above. Then height rows of zeros. */
static void gather_rows(const mxci_winograd *w, const float *base, int64_t sample_step, const int64_t size[2],
                        const int64_t pad[2], int height, float *buffer) {
    const int64_t width = row_floats(w);
    for (int64_t i = 0, n; i < w->count; i += n) {
        const int64_t sample = (w->first + i) / w->rows, row = (w->first + i) % w->rows;
        n = w->count - i < w->rows - row ? w->count - i : w->rows - row;
        copy_rows(base + sample * sample_step, size, OUT * row - pad[0], -pad[1], OUT * n + height - OUT, width,
                  buffer);
        buffer += (OUT * n + height - OUT) * width;
    }
    clear_row(height * width, buffer);
}

/* A walk over the tiles of a block in their order; line: of the buffer. */
typedef struct walk {
    int64_t row, column, line;
} walk;

/* Where the next tile begins in the buffer; the rows of zeros behind the last one. */
MXCI_INLINE int64_t next_tile(const mxci_winograd *w, int height, walk *at) {
    const int64_t offset = at->line * row_floats(w) + OUT * at->column;
    if (at->row == w->count)
        return offset;
    if (++at->column == w->columns) {
        at->column = 0;
        at->row++;
        at->line += OUT;
        if (at->row == w->count || (w->first + at->row) % w->rows == 0)
            at->line += height - OUT;
    }
    return offset;
}

/* ---- images -------------------------------------------------------------------------------------------------------
 */

/* Eight tiles at from[]: 36 vectors, a lane for each tile. */
MXCI_INLINE void load_tiles(const float *const from[LANES], int64_t width, V d[IN * IN]) {
    for (int y = 0; y < IN; y++) {
        V square[LANES];
        MXCI_UNROLL
        for (int i = 0; i < LANES; i++)
            square[i] = mxci_load_f32(from[i] + y * width);
        mxci_transpose_f32(square);
        transform_input(square, 1, d + y * IN);
    }
}

void mxci_winograd_input(const mxci_winograd *w, const float *image, int by_tile, float *v, float *buffer,
                         int64_t begin, int64_t end) {
    const int64_t tiles = whole_columns(w->count * w->columns), width = row_floats(w);
    for (int64_t c = begin; c < end; c++) {
        walk at = {0, 0, 0};
        gather_rows(w, image + c * w->in[0] * w->in[1], w->in_sample, w->in, w->pad, IN, buffer);
        for (int64_t k = 0; k < tiles; k += LANES) {
            const int64_t first = k / PANEL * PANEL;
            float *to =
                by_tile ? v + c * w->tiles + k : v + first * w->channels + c * panel_width(first, tiles) + k - first;
            const float *from[LANES];
            V d[IN * IN], out[IN * IN];
            for (int i = 0; i < LANES; i++)
                from[i] = buffer + next_tile(w, IN, &at);
            load_tiles(from, width, d);
            for (int x = 0; x < IN; x++)
                transform_input(d + x, IN, out + x);
            for (int t = 0; t < IN * IN; t++)
                mxci_store_f32(to + t * w->v_step, out[t]);
        }
    }
}

/* ---- weights ------------------------------------------------------------------------------------------------------
 */

/* Eight channels of a filter, step floats apart, of which count exist; the others are zeros. */
MXCI_INLINE void load_weights(const float *weight, int64_t step, int64_t count, int flipped, V g[9]) {
    static const float none[9];
    const float *from[LANES];
    MXCI_UNROLL
    for (int i = 0; i < LANES; i++) {
        from[i] = i < count ? weight + step * i : none;
        g[i] = mxci_load_f32(from[i]);
    }
    mxci_transpose_f32(g);
    g[8] = (V){from[0][8], from[1][8], from[2][8], from[3][8], from[4][8], from[5][8], from[6][8], from[7][8]};
    if (flipped)
        for (int i = 0; i < 4; i++) {
            const V other = g[8 - i];
            g[8 - i] = g[i];
            g[i] = other;
        }
}

/* U of a filter and eight channels, of which count exist, positions step floats apart. */
MXCI_INLINE void store_weights(const V g[9], int64_t count, int64_t step, float *u) {
    V d[IN * 3], out[IN * IN];
    for (int x = 0; x < 3; x++)
        transform_weight(g + x, 3, d + x, 3);
    for (int y = 0; y < IN; y++)
        transform_weight(d + 3 * y, 1, out + IN * y, 1);
    for (int t = 0; t < IN * IN; t++) {
        if (count == LANES)
            mxci_store_f32(u + t * step, out[t]);
        else
            memcpy(u + t * step, &out[t], (size_t)count * sizeof *u);
    }
}

/* In the order of memory, as far as this keeps the results of a cache line together. */
void mxci_winograd_weights(const mxci_winograd *w, const mxci_winograd_part *part, const float *weight, float *u) {
    const int64_t filter_step = w->flipped ? 9 : 9 * w->channels, channel_step = w->flipped ? 9 * w->filters : 9;
    const int64_t block = w->flipped ? 2 * LANES : 1;
    weight += part->filter * filter_step + part->channel * channel_step;
    for (int64_t first = 0, last; first < part->filters; first = last) {
        last = part->filters - first < block ? part->filters : first + block;
        for (int64_t c = 0; c < part->channels; c += LANES) {
            const int64_t count = part->channels - c < LANES ? part->channels - c : LANES;
            for (int64_t f = first; f < last; f++) {
                V g[9];
                load_weights(weight + f * filter_step + c * channel_step, channel_step, count, w->flipped, g);
                store_weights(g, count, part->step, u + f * part->row + c);
            }
        }
    }
}

/* ---- products -----------------------------------------------------------------------------------------------------
 */

/* C (m x width) = or += A (m x k) B (k x width), in strips of at most six rows; add: into C. */
static void multiply_panel(int64_t m, int64_t k, int64_t width, const float *a, int64_t a_row, const float *b, int add,
                           float *c, int64_t c_row) {
    static const float zero;
    const int64_t strips = (m + 5) / 6, tile = width < TILE ? width : TILE;
    for (int64_t p = 0; p < k; p += MXCI_GEMM_DEPTH) {
        const int64_t depth = k - p < MXCI_GEMM_DEPTH ? k - p : MXCI_GEMM_DEPTH;
        const int from_c = add || p > 0;
        for (int64_t s = 0; s < strips; s++) {
            const int64_t i = s * m / strips, next = (s + 1) * m / strips;
            mxci_tile t = {
                .depth = depth,
                .a = a + i * a_row + p,
                .a_row = a_row,
                .a_step = 1,
                .b_step = width,
                .start_row = from_c ? c_row : 0,
                .start_col = from_c,
                .c_row = c_row,
            };
            for (int64_t j = 0; j < width; j += tile) {
                t.b = b + p * width + j;
                t.c = c + i * c_row + j;
                t.start = from_c ? t.c : &zero;
                mxci_tile_run_f32((int)(next - i), (int)tile, &t);
            }
        }
    }
}

void mxci_winograd_multiply(const mxci_winograd *w, const float *u, const float *v, float *m, int64_t begin,
                            int64_t end) {
    const int64_t tiles = whole_columns(w->count * w->columns), panels = (tiles + PANEL - 1) / PANEL;
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t t = unit / panels, first = unit % panels * PANEL;
        multiply_panel(w->filters, w->channels, panel_width(first, tiles), u + t * w->u_step, w->channels,
                       v + t * w->v_step + first * w->channels, 0, m + t * w->m_step + first, w->tiles);
    }
}

void mxci_winograd_multiply_part(const mxci_winograd *w, const mxci_winograd_part *part, const float *u, const float *v,
                                 float *m) {
    const int64_t tiles = whole_columns(w->count * w->columns);
    for (int t = 0; t < IN * IN; t++)
        for (int64_t first = 0; first < tiles; first += PANEL) {
            const int64_t width = panel_width(first, tiles);
            multiply_panel(part->filters, part->channels, width, u + t * part->step, part->row,
                           v + t * w->v_step + first * w->channels + part->channel * width, part->channel > 0,
                           m + t * w->m_step + first, w->tiles);
        }
}

/* ---- results ------------------------------------------------------------------------------------------------------
 */

/* Eight tiles of output, 4x4 each, from 36 vectors m_step apart, to rows of the buffer. */
static void store_tiles(const mxci_winograd *w, const float *m, walk *at, float *buffer) {
    const int64_t width = row_floats(w);
    V in[IN * IN], d[OUT * IN], out[OUT * OUT];
    for (int t = 0; t < IN * IN; t++)
        in[t] = mxci_load_f32(m + t * w->m_step);
    for (int x = 0; x < IN; x++)
        transform_output(in + x, IN, d + x, IN);
    for (int y = 0; y < OUT; y++)
        transform_output(d + IN * y, 1, out + OUT * y, 1);
    mxci_transpose_f32(out);           /* of tile i: rows 0 and 1 */
    mxci_transpose_f32(out + 2 * OUT); /* rows 2 and 3 */
    for (int i = 0; i < LANES; i++) {
        float *to = buffer + next_tile(w, OUT, at);
        memcpy(to, &out[i], OUT * sizeof *to);
        memcpy(to + width, (const char *)&out[i] + OUT * sizeof *to, OUT * sizeof *to);
        memcpy(to + 2 * width, &out[LANES + i], OUT * sizeof *to);
        memcpy(to + 3 * width, (const char *)&out[LANES + i] + OUT * sizeof *to, OUT * sizeof *to);
    }
}

/* A plane's rows of tiles from the buffer to where they belong. */
static void scatter_rows(const mxci_winograd *w, const float *buffer, float bias, int add, float *base) {
    const int64_t width = row_floats(w);
    for (int64_t i = 0; i < w->count; i++) {
        const int64_t sample = (w->first + i) / w->rows, y = OUT * ((w->first + i) % w->rows);
        const int64_t height = w->out[0] - y < OUT ? w->out[0] - y : OUT;
        for (int64_t j = 0; j < height; j++) {
            const float *from = buffer + (i * OUT + j) * width;
            float *to = base + sample * w->out_sample + (y + j) * w->out[1];
            for (int64_t x = 0; x < w->out[1]; x++)
                to[x] = (add ? to[x] : 0) + (from[x] + bias);
        }
    }
}

void mxci_winograd_output(const mxci_winograd *w, const float *m, const float *bias, int add, float *out, float *buffer,
                          int64_t begin, int64_t end) {
    const int64_t tiles = w->count * w->columns;
    for (int64_t f = begin; f < end; f++) {
        walk at = {0, 0, 0};
        for (int64_t k = 0; k < tiles; k += LANES)
            store_tiles(w, m + (f - begin) * w->tiles + k, &at, buffer);
        scatter_rows(w, buffer, bias ? bias[f] : 0, add, out + f * w->out[0] * w->out[1]);
    }
}

/* ---- the weights' gradient ----------------------------------------------------------------------------------------
 */

/* A tile of eight filters at from[]: 36 vectors to d, a lane for each filter. */
MXCI_INLINE void store_out_grad(const mxci_winograd *w, const float *const from[LANES], int64_t width, float *d) {
    V y[OUT][LANES], rows[IN * OUT], out[IN * IN];
    for (int i = 0; i < OUT; i++) {
        MXCI_UNROLL
        for (int f = 0; f < LANES; f++)
            y[i][f] = mxci_load_f32(from[f] + i * width);
        mxci_transpose_f32(y[i]);
    }
    for (int x = 0; x < OUT; x++)
        transform_out_grad(&y[0][x], LANES, rows + x, OUT);
    for (int i = 0; i < IN; i++)
        transform_out_grad(rows + OUT * i, 1, out + IN * i, 1);
    for (int t = 0; t < IN * IN; t++)
        mxci_store_f32(d + t * w->m_step, out[t]);
}

void mxci_winograd_out_grad(const mxci_winograd *w, const float *out_grad, float *d, float *buffer, int64_t begin,
                            int64_t end) {
    static const int64_t no_pad[2] = {0, 0};
    const int64_t tiles = whole_columns(w->count * w->columns), width = row_floats(w);
    const int64_t plane = w->out[0] * w->out[1], step = (w->count + 1) * OUT * width;
    for (int64_t filter = begin * LANES; filter < end * LANES; filter += LANES) {
        const int64_t first = filter / PANEL * PANEL, row = panel_width(first, whole_columns(w->filters));
        float *to = d + first * w->tiles + filter - first;
        walk at = {0, 0, 0};
        for (int f = 0; f < LANES; f++) {
            if (filter + f < w->filters)
                gather_rows(w, out_grad + (filter + f) * plane, w->out_sample, w->out, no_pad, OUT, buffer + f * step);
            else
                memset(buffer + f * step, 0, (size_t)step * sizeof *buffer);
        }
        for (int64_t k = 0; k < tiles; k++) {
            const float *from[LANES];
            const int64_t offset = next_tile(w, OUT, &at);
            for (int f = 0; f < LANES; f++)
                from[f] = buffer + f * step + offset;
            store_out_grad(w, from, width, to + k * row);
        }
    }
}

void mxci_winograd_accumulate(const mxci_winograd *w, const float *v, const float *d, int add, float *sums,
                              int64_t begin, int64_t end) {
    const int64_t tiles = whole_columns(w->count * w->columns), filters = whole_columns(w->filters);
    const int64_t panels = (filters + PANEL - 1) / PANEL;
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t t = unit / panels, first = unit % panels * PANEL;
        multiply_panel(w->channels, tiles, panel_width(first, filters), v + t * w->v_step, w->tiles,
                       d + t * w->m_step + first * w->tiles, add, sums + t * w->u_step + first, filters);
    }
}

void mxci_winograd_accumulate_part(const mxci_winograd *w, const mxci_winograd_part *part, const float *v,
                                   const float *d, float *sums) {
    const int64_t tiles = whole_columns(w->count * w->columns);
    const int64_t width = panel_width(part->filter, whole_columns(w->filters));
    for (int t = 0; t < IN * IN; t++)
        multiply_panel(part->channels, tiles, width, v + t * w->v_step + part->channel * w->tiles, w->tiles,
                       d + t * w->m_step + part->filter * w->tiles, 0, sums + t * part->step, part->row);
}

/* The nine gradients of each of eight filters, of which count exist, filters step floats apart. */
MXCI_INLINE void store_weight_grad(V out[9], int64_t count, int add, int64_t step, float *to) {
    const V last = out[8];
    mxci_transpose_f32(out);
    MXCI_UNROLL
    for (int f = 0; f < LANES; f++) {
        if (f >= count)
            return;
        mxci_store_f32(to + f * step, add ? mxci_load_f32(to + f * step) + out[f] : out[f]);
        to[f * step + 8] = (add ? to[f * step + 8] : 0) + last[f];
    }
}

void mxci_winograd_weight_grad(const mxci_winograd *w, const mxci_winograd_part *part, const float *sums, int add,
                               float *weight_grad) {
    for (int64_t first = 0; first < part->filters; first += LANES) {
        const int64_t count = part->filters - first < LANES ? part->filters - first : LANES;
        for (int64_t c = 0; c < part->channels; c++) {
            V in[IN * IN], d[3 * IN], out[9];
            for (int t = 0; t < IN * IN; t++) {
                const float *from = sums + t * part->step + c * part->row + first;
                in[t] = mxci_load_f32(from);
                for (int64_t i = 1; i < w->chunks; i++)
                    in[t] += mxci_load_f32(from + i * IN * IN * part->step);
            }
            for (int x = 0; x < IN; x++)
                transform_weight_grad(in + x, IN, d + x, IN);
            for (int y = 0; y < 3; y++)
                transform_weight_grad(d + IN * y, 1, out + 3 * y, 1);
            store_weight_grad(out, count, add, 9 * w->channels,
                              weight_grad + ((part->filter + first) * w->channels + part->channel + c) * 9);
        }
    }
}
