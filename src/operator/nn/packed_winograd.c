/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/packed_winograd.h"

#include "base/options.h"
#include "operator/nn/winograd.h"

enum {
    POSITIONS = MXCI_WINOGRAD_POSITIONS,
    OUT = MXCI_WINOGRAD_OUT,
    LINE = 16,              /* floats of a cache line */
    LEAST_TILES = 24,       /* of a block: four strips share a panel of weights */
    MOST_TILES = 144,       /* of a block: more take more time for V and M than they save for weights */
    BYTES_SHIFT = 16,       /* a block has a tile for each 64 KiB of weights that it reads */
    SHARED_BYTES = 4 << 20, /* of weights that are rather read once by all threads than by each */
    SHARED_TILES = 12       /* a thread's, below which all share a block as well */
};

static int64_t divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/* ---- whether, and how ----------------------------------------------------------------------------------------------
 */

int mxci_packed_winograd_possible(const mxci_conv_shape *s, int64_t groups) {
    if (groups != 1 || s->channels < 1 || s->filters < 1 || s->kernel[0] != 1 || s->in[0] != 1 || s->pad[0] != 0)
        return 0;
    for (int i = 1; i < 3; i++) {
        if (s->kernel[i] != 3 || s->stride[i] != 1 || s->dilate[i] != 1)
            return 0;
    }
    return 1;
}

/* Bytes of packed weights. */
static int64_t weight_bytes(const mxci_packed_winograd *w) {
    return mxci_dim_mul(mxci_packed_winograd_elements(w), (int64_t)sizeof(float));
}

/* Tiles of a block: the more there are, the fewer times weights are read, and the less of V and M stays in the caches.
 */
static int64_t block_tiles(const mxci_packed_winograd *w, int parts) {
    const int64_t wanted = weight_bytes(w) >> BYTES_SHIFT;
    const int64_t tiles = wanted < LEAST_TILES ? LEAST_TILES : wanted > MOST_TILES ? MOST_TILES : wanted;
    int64_t blocks = divide_up(w->total, tiles);
    if (!w->is_shared)
        blocks = divide_up(blocks, parts) * parts;
    return blocks > 0 ? divide_up(w->total, blocks) : 1;
}

void mxci_packed_winograd_plan(const mxci_conv_shape *s, int64_t batch, int parts, mxci_packed_winograd *out) {
    mxci_packed_winograd w = {.channels = s->channels, .filters = s->filters};
    for (int i = 0; i < 2; i++) {
        w.in[i] = s->in[i + 1];
        w.out[i] = s->out[i + 1];
        w.pad[i] = s->pad[i + 1];
    }
    w.rows = divide_up(w.out[0], OUT);
    w.columns = divide_up(w.out[1], OUT);
    w.total = mxci_dim_mul(batch, mxci_dim_mul(w.rows, w.columns));
    w.panels = divide_up(w.filters, mxci_packed_panel());
    w.v_row = mxci_packed_winograd_row(w.channels);
    w.m_row = w.panels * mxci_packed_panel();
    w.is_shared = parts > 1 && (weight_bytes(&w) > SHARED_BYTES || w.total < SHARED_TILES * parts);
    w.tiles = block_tiles(&w, parts);
    /* A line more than that, lest positions begin at the same place of the caches' sets. */
    w.v_step = mxci_dim_add(mxci_dim_mul(w.tiles, w.v_row), LINE);
    w.m_step = mxci_dim_add(mxci_dim_mul(w.tiles, w.m_row), LINE);
    *out = w;
}

/* What reading a block's weights for a pair of channel and filter takes, in the unit of pays(): they come from the
 * second cache, the third, or memory. */
static double reading(double bytes) {
    return bytes < 1 << 20 ? 0 : bytes < 8 << 20 ? 250 : 500;
}

/* In multiply-adds of a channel and a filter, as they run in a product: a tile has 36 for each pair of these, a
 * channel's or filter's transform takes the time of 500, and the direct algorithm has 9 a pixel. */
int mxci_packed_winograd_pays(const mxci_conv_shape *s, int64_t batch) {
    const int64_t when = mxci_option_get(MXCI_OPT_MXC_WINOGRAD);
    mxci_packed_winograd w;
    if (when != MXCI_WINOGRAD_WHERE_FASTER)
        return when == MXCI_WINOGRAD_ALWAYS;
    mxci_packed_winograd_plan(s, batch, 1, &w);
    const int64_t lanes = mxci_packed_panel() / 2;
    const double channels = (double)w.channels, filters = (double)(divide_up(w.filters, lanes) * lanes);
    const double tiles = (double)w.total, blocks = (double)divide_up(w.total, w.tiles), pairs = channels * filters;
    const double direct = 9 * pairs * (double)batch * (double)w.out[0] * (double)w.out[1];
    const double transforms = 500 * (channels + filters) * tiles;
    return 36 * pairs * tiles + transforms + reading((double)weight_bytes(&w)) * pairs * blocks < 0.8 * direct;
}

/* ---- packing ------------------------------------------------------------------------------------------------------
 */

int64_t mxci_packed_winograd_elements(const mxci_packed_winograd *w) {
    return mxci_dim_mul(mxci_dim_mul(POSITIONS, w->channels), w->m_row);
}

typedef struct packing {
    const mxci_packed_winograd *w;
    const float *weight;
    int add;
    float *packed;
} packing;

static void weights_part(void *arg, int64_t begin, int64_t end, int part) {
    const packing *p = arg;
    (void)part;
    mxci_packed_winograd_weights(p->w, p->weight, p->add, p->packed, begin, end);
}

void mxci_packed_winograd_pack(const mxc_run *run, const mxci_packed_winograd *w, const float *weight, int add,
                               float *packed) {
    packing p = {w, weight, add, packed};
    mxc_parallel_for_dynamic(run, w->panels, 1, weights_part, &p);
}

/* ---- blocks -------------------------------------------------------------------------------------------------------
 */

typedef struct block {
    const mxci_packed_winograd *w;
    const mxci_packed_epilogue *epilogue;
    const float *in, *packed;
    float *v, *m, *out;
    int64_t first, tiles;
} block;

static void input_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    (void)part;
    mxci_packed_winograd_input(b->w, b->in, b->first, b->v, begin, end);
}

static void multiply_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    (void)part;
    mxci_packed_winograd_multiply(b->w, b->packed, b->v, b->m, b->tiles, begin, end);
}

static void output_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    (void)part;
    mxci_packed_winograd_output(b->w, b->m, b->epilogue, b->first, b->out, begin, end);
}

/* Items of a loop that are worth a thread of their own, each taking so many instructions on vectors. */
static int64_t grain(double instructions) {
    return (int64_t)(2e4 / (instructions + 1)) + 1;
}

/* Blocks begin..end-1, each in this thread or, with a run, by all of its threads. */
static void run_blocks(const mxc_run *run, block *b, int64_t begin, int64_t end) {
    const mxci_packed_winograd *w = b->w;
    const double lanes = (double)mxci_packed_panel() / 2, channels = (double)w->channels;
    for (int64_t i = begin; i < end; i++) {
        b->first = i * w->tiles;
        b->tiles = w->total - b->first < w->tiles ? w->total - b->first : w->tiles;
        mxc_parallel_for_dynamic(run, b->tiles, grain(300 * channels / lanes), input_part, b);
        mxc_parallel_for_dynamic(run, POSITIONS * w->panels, grain(2 * channels * (double)b->tiles), multiply_part, b);
        mxc_parallel_for_dynamic(run, b->tiles, grain(300 * (double)w->filters / lanes), output_part, b);
    }
}

/* Floats of a block's V and M. */
static int64_t block_floats(const mxci_packed_winograd *w) {
    return mxci_dim_mul(POSITIONS, mxci_dim_add(w->v_step, w->m_step));
}

static void blocks_part(void *arg, int64_t begin, int64_t end, int part) {
    block b = *(const block *)arg;
    b.v += part * block_floats(b.w);
    b.m += part * block_floats(b.w);
    run_blocks(NULL, &b, begin, end);
}

float *mxci_packed_winograd_scratch(const mxci_packed_winograd *w, int parts, mxci_scratch *s) {
    return mxci_scratch_array(s, mxci_dim_mul(w->is_shared ? 1 : parts, block_floats(w)), sizeof(float));
}

void mxci_packed_winograd_run(const mxc_run *run, const mxci_packed_winograd *w, const float *in, const float *packed,
                              const mxci_packed_epilogue *epilogue, float *scratch, float *out) {
    const int64_t blocks = divide_up(w->total, w->tiles);
    block b = {
        .w = w,
        .epilogue = epilogue,
        .in = in,
        .packed = packed,
        .v = scratch,
        .m = scratch + POSITIONS * w->v_step,
        .out = out,
    };
    if (w->is_shared)
        run_blocks(run, &b, 0, blocks);
    else
        mxc_parallel_for_dynamic(run, blocks, 1, blocks_part, &b);
}
