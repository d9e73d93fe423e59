/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/winograd.h"

#include "base/options.h"
#include "math/loop.h"

enum {
    POSITIONS = MXCI_WINOGRAD_POSITIONS,
    COLUMNS = MXCI_WINOGRAD_COLUMNS,
    LANES = MXCI_WINOGRAD_LANES,
    OUT = MXCI_WINOGRAD_OUT,
    BLOCK_TILES = 64,      /* of a block, at least; at most about twice as many */
    OWN_BYTES = 600 << 10, /* of V and M, where each thread has its own, which stay in the second cache */
    OWN_TILES = 128,       /* of such a block, about, at most; at least half of what is possible */
    OWN_BLOCKS = 8,        /* at least */
    CHUNKS = 32,           /* at most */
    CHUNK_BYTES = 2 << 20, /* of the sums of all chunks */
    COLUMNS_LIMIT = 512,   /* tiles in a row, at most: scratch holds whole rows */
    /* Of blocks of weights: */
    BLOCK_FILTERS = 48,
    BLOCK_FLOATS = 96 << 10, /* of U, and of M, which stay in the second cache together */
    BLOCKS_PAIRS = 4096,     /* of channels and filters at least */
    BLOCKS_TILES = 256       /* at most: every block reads V of all */
};

/* ---- whether, and how ----------------------------------------------------------------------------------------------
 */

static int64_t blocks_of(int64_t n, int64_t block) {
    return (n + block - 1) / block;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t whole_columns(int64_t n) {
    return (n + COLUMNS - 1) / COLUMNS * COLUMNS;
}

/* Panels of a product of so many columns. */
static int64_t panels_of(int64_t columns) {
    const int64_t panel = mxci_winograd_panel();
    return (whole_columns(columns) + panel - 1) / panel;
}

/* Whether weights are transformed block by block of filters and channels, each of which is multiplied by all tiles
 * while it is in the second cache: transformed weights that do not stay there take longer to write and to read again
 * than V of few tiles takes to read for each block. */
static int has_blocks(const mxci_winograd *w, int64_t samples) {
    const double tiles = (double)samples * (double)(w->rows * w->columns);
    return (double)w->channels * (double)w->filters >= BLOCKS_PAIRS && tiles <= BLOCKS_TILES;
}

/* What transforming the weight of a pair of channel and filter takes, in the unit of pays(): the results of many pairs
 * leave the caches. */
static double weight_cost(const mxci_winograd *w, int64_t samples) {
    const double bytes = POSITIONS * sizeof(float) * (double)w->channels * (double)w->filters;
    return bytes < 1 << 20 ? 25 : has_blocks(w, samples) ? 40 : bytes < 1 << 24 ? 60 : 230;
}

/*
 * The algorithm pays where products are long: in instructions on vectors, a product of tiles and channels takes 4.5 for
 * each pair of channel and filter, the transforms 65 for each channel and filter, and the direct algorithm 9/8 a pixel
 * and pair. For weights whose transforms are used for so many
 * samples, which also share the columns of products.
 */
static int pays(const mxci_winograd *w, int64_t samples) {
    const double tiles = (double)(w->rows * w->columns), channels = (double)w->channels, filters = (double)w->filters;
    const double pairs = channels * filters;
    const double products = (double)whole_columns(w->rows * w->columns * samples) / (double)samples; /* in tiles */
    const double direct = 9.0 / 8 * pairs * (double)(w->out[0] * w->out[1]);
    const double transforms = 65 * (channels + filters) * tiles + weight_cost(w, samples) * pairs / (double)samples;
    return 4.5 * pairs * products + transforms < 0.9 * direct;
}

/* Rows of tiles of a block of about so many tiles: as many as waste the fewest columns, of those that make a block of a
 * good size. */
static int64_t block_rows(const mxci_winograd *w, int64_t tiles, int64_t rows) {
    const int64_t fewest = (tiles + w->columns - 1) / w->columns;
    int64_t best = fewest;
    double waste = 2;
    for (int64_t n = fewest; n <= 2 * fewest; n++) {
        const double in_block = (double)(n * w->columns), now = (double)whole_columns(n * w->columns) / in_block;
        if (now < waste - 1e-3) {
            best = n;
            waste = now;
        }
    }
    return best < rows ? best : rows;
}

/* Blocks of which each thread takes its own, so that it waits for no other one: there are many, of few channels and
 * filters. rows: of all samples. Sets count, or returns 0. */
static int plan_own_blocks(mxci_winograd *w, mxci_winograd_pass pass, int64_t rows) {
    const double tile_bytes = POSITIONS * sizeof(float) * (double)(w->channels + whole_columns(w->filters));
    const double sum_bytes = POSITIONS * sizeof(float) * (double)w->channels * (double)whole_columns(w->filters);
    int64_t tiles = (int64_t)(OWN_BYTES / tile_bytes) / COLUMNS * COLUMNS, blocks;
    if (tiles < BLOCK_TILES)
        return 0;
    w->count = block_rows(w, least(tiles, OWN_TILES) / 2, rows);
    blocks = (rows + w->count - 1) / w->count;
    if (pass == MXCI_WINOGRAD_WEIGHT) {
        w->chunks = (int64_t)(CHUNK_BYTES / sum_bytes);
        if (w->chunks > CHUNKS)
            w->chunks = CHUNKS;
        if (w->chunks > blocks)
            w->chunks = blocks;
        blocks = w->chunks;
    }
    return blocks >= OWN_BLOCKS;
}

/* The sizes of blocks of filters and channels. */
static void plan_blocks(mxci_winograd *w, mxci_winograd_pass pass) {
    const int64_t channels = (w->channels + LANES - 1) / LANES * LANES;
    int64_t blocks;
    w->filter_block = pass == MXCI_WINOGRAD_WEIGHT ? mxci_winograd_panel() : BLOCK_FLOATS / POSITIONS / w->tiles;
    w->filter_block = least(w->filter_block, BLOCK_FILTERS);
    if (pass != MXCI_WINOGRAD_WEIGHT) { /* two threads get the same number of filters */
        blocks = (blocks_of(w->filters, w->filter_block) + 1) / 2 * 2;
        w->filter_block = blocks_of(w->filters, blocks);
    }
    w->channel_block = BLOCK_FLOATS / POSITIONS / w->filter_block / LANES * LANES;
    if (w->channel_block > channels)
        w->channel_block = channels;
    w->u_step = w->channel_block * w->filter_block + COLUMNS;
    if (pass != MXCI_WINOGRAD_WEIGHT)
        w->m_step = w->filter_block * w->tiles + COLUMNS;
}

int mxci_winograd_plan(const mxci_conv_shape *s, mxci_winograd_pass pass, int64_t batch, int64_t groups,
                       int64_t samples, mxci_winograd *out) {
    mxci_winograd w = {.channels = s->channels, .filters = s->filters, .flipped = pass == MXCI_WINOGRAD_FLIPPED};
    const int64_t when = mxci_option_get(MXCI_OPT_MXC_WINOGRAD);
    if (when == MXCI_WINOGRAD_NEVER || s->kernel[0] != 1 || s->in[0] != 1 || s->pad[0] != 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (s->kernel[i + 1] != 3 || s->stride[i + 1] != 1 || s->dilate[i + 1] != 1)
            return 0;
        w.in[i] = s->in[i + 1];
        w.out[i] = s->out[i + 1];
        w.pad[i] = s->pad[i + 1];
    }
    w.rows = (w.out[0] + OUT - 1) / OUT;
    w.columns = (w.out[1] + OUT - 1) / OUT;
    if (w.columns > COLUMNS_LIMIT || (when == MXCI_WINOGRAD_WHERE_FASTER && !pays(&w, samples)))
        return 0;
    w.in_sample = mxci_dim_mul(mxci_dim_mul(groups, w.channels), mxci_dim_mul(w.in[0], w.in[1]));
    w.out_sample = mxci_dim_mul(mxci_dim_mul(groups, w.filters), mxci_dim_mul(w.out[0], w.out[1]));
    const int64_t rows = mxci_dim_mul(batch, w.rows);
    const int blocks = has_blocks(&w, batch);
    w.own_blocks = !blocks && plan_own_blocks(&w, pass, rows);
    if (!w.own_blocks)
        w.count = blocks ? rows : block_rows(&w, BLOCK_TILES, rows);
    if (!w.own_blocks || pass != MXCI_WINOGRAD_WEIGHT)
        w.chunks = 1;
    w.tiles = whole_columns(w.count * w.columns);
    /* A few floats more than that, lest positions begin at the same place of the caches' sets. */
    w.u_step = mxci_dim_add(mxci_dim_mul(w.channels, whole_columns(w.filters)), COLUMNS);
    w.v_step = mxci_dim_add(mxci_dim_mul(w.channels, w.tiles), COLUMNS);
    w.m_step = whole_columns(w.filters) * w.tiles + COLUMNS;
    if (blocks)
        plan_blocks(&w, pass);
    *out = w;
    return 1;
}

mxci_winograd_scratch mxci_winograd_take_scratch(const mxci_winograd *w, mxci_winograd_pass pass, int parts,
                                                 mxci_scratch *s) {
    const int64_t u_parts = w->filter_block ? parts : w->chunks, v_parts = w->own_blocks ? parts : 1;
    const int64_t m_parts = w->own_blocks || (w->filter_block && pass != MXCI_WINOGRAD_WEIGHT) ? parts : 1;
    mxci_winograd_scratch scratch;
    scratch.u = mxci_scratch_array(s, mxci_dim_mul(u_parts * POSITIONS, w->u_step), sizeof(float));
    scratch.v = mxci_scratch_array(s, mxci_dim_mul(v_parts * POSITIONS, w->v_step), sizeof(float));
    scratch.m = mxci_scratch_array(s, mxci_dim_mul(m_parts * POSITIONS, w->m_step), sizeof(float));
    scratch.buffers = mxci_scratch_array(s, parts * mxci_winograd_buffer(w), sizeof(float));
    return scratch;
}

/* ---- the loops of a block ------------------------------------------------------------------------------------------
 */

typedef struct block {
    const mxci_winograd_call *call;
    mxci_winograd w; /* with the block's rows of tiles */
    int by_tile, add;
} block;

static float *part_buffer(const block *b, int part) {
    return b->call->scratch.buffers + part * mxci_winograd_buffer(&b->w);
}

static void weights_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    const mxci_winograd_part filters = {
        .filter = begin,
        .filters = end - begin,
        .channels = b->w.channels,
        .row = b->w.channels,
        .step = b->w.u_step,
    };
    (void)part;
    mxci_winograd_weights(&b->w, &filters, b->call->weight, b->call->scratch.u + begin * b->w.channels);
}

static void input_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    mxci_winograd_input(&b->w, b->call->in, b->by_tile, b->call->scratch.v, part_buffer(b, part), begin, end);
}

static void multiply_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    (void)part;
    mxci_winograd_multiply(&b->w, b->call->scratch.u, b->call->scratch.v, b->call->scratch.m, begin, end);
}

static void output_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    mxci_winograd_output(&b->w, b->call->scratch.m + begin * b->w.tiles, b->call->bias, b->call->add, b->call->out,
                         part_buffer(b, part), begin, end);
}

static void out_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    mxci_winograd_out_grad(&b->w, b->call->out_grad, b->call->scratch.m, part_buffer(b, part), begin, end);
}

static void accumulate_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    (void)part;
    mxci_winograd_accumulate(&b->w, b->call->scratch.v, b->call->scratch.m, b->add, b->call->scratch.u, begin, end);
}

static void weight_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    const mxci_winograd_part filters = {
        .filter = begin * LANES,
        .filters = (end * LANES < b->w.filters ? end * LANES : b->w.filters) - begin * LANES,
        .channels = b->w.channels,
        .row = whole_columns(b->w.filters),
        .step = b->w.u_step,
    };
    (void)part;
    mxci_winograd_weight_grad(&b->w, &filters, b->call->scratch.u + begin * LANES, b->call->add, b->call->out);
}

/* Blocks of filters begin..end-1 of the output: for each block of channels the weights, then their products. */
static void filters_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    const mxci_winograd *w = &b->w;
    const mxci_winograd_call *call = b->call;
    float *u = call->scratch.u + part * POSITIONS * w->u_step, *m = call->scratch.m + part * POSITIONS * w->m_step;
    for (int64_t i = begin; i < end; i++) {
        mxci_winograd_part p = {.filter = i * w->filter_block, .row = w->channel_block, .step = w->u_step};
        p.filters = least(w->filter_block, w->filters - p.filter);
        for (; p.channel < w->channels; p.channel += w->channel_block) {
            p.channels = least(w->channel_block, w->channels - p.channel);
            mxci_winograd_weights(w, &p, call->weight, u);
            mxci_winograd_multiply_part(w, &p, u, call->scratch.v, m);
        }
        mxci_winograd_output(w, m, call->bias, call->add, call->out, part_buffer(b, part), p.filter,
                             p.filter + p.filters);
    }
}

/* Blocks of panels of filters and of channels begin..end-1 of the weights' gradient. */
static void weight_blocks_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    const mxci_winograd *w = &b->w;
    const mxci_winograd_call *call = b->call;
    const int64_t n = blocks_of(w->channels, w->channel_block);
    float *sums = call->scratch.u + part * POSITIONS * w->u_step;
    for (int64_t i = begin; i < end; i++) {
        mxci_winograd_part p = {.filter = i / n * w->filter_block, .row = w->filter_block, .step = w->u_step};
        p.channel = i % n * w->channel_block;
        p.filters = least(w->filter_block, w->filters - p.filter);
        p.channels = least(w->channel_block, w->channels - p.channel);
        mxci_winograd_accumulate_part(w, &p, call->scratch.v, call->scratch.m, sums);
        mxci_winograd_weight_grad(w, &p, sums, call->add, call->out);
    }
}

/* Block number i, with its rows of tiles. */
static mxci_winograd block_at(const block *b, int64_t i) {
    const int64_t rows = b->call->batch * b->w.rows;
    mxci_winograd w = b->w;
    w.first = i * b->w.count;
    w.count = least(b->w.count, rows - w.first);
    return w;
}

static int64_t block_count(const block *b) {
    return blocks_of(b->call->batch * b->w.rows, b->w.count);
}

/* Blocks of tiles begin..end-1 of the output, in V and M of the part. */
static void tiles_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    const mxci_winograd_call *call = b->call;
    float *v = call->scratch.v + part * POSITIONS * b->w.v_step, *m = call->scratch.m + part * POSITIONS * b->w.m_step;
    float *buffer = part_buffer(b, part);
    for (int64_t i = begin; i < end; i++) {
        const mxci_winograd w = block_at(b, i);
        mxci_winograd_input(&w, call->in, 0, v, buffer, 0, w.channels);
        mxci_winograd_multiply(&w, call->scratch.u, v, m, 0, POSITIONS * panels_of(w.count * w.columns));
        mxci_winograd_output(&w, m, call->bias, call->add, call->out, buffer, 0, w.filters);
    }
}

/* The sums of chunks begin..end-1 for the weights' gradient. Which blocks a chunk has depends on the shapes only. */
static void chunks_part(void *arg, int64_t begin, int64_t end, int part) {
    const block *b = arg;
    const mxci_winograd_call *call = b->call;
    const int64_t blocks = block_count(b);
    float *v = call->scratch.v + part * POSITIONS * b->w.v_step, *d = call->scratch.m + part * POSITIONS * b->w.m_step;
    float *buffer = part_buffer(b, part);
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t first = chunk * blocks / b->w.chunks, last = (chunk + 1) * blocks / b->w.chunks;
        float *sums = call->scratch.u + chunk * POSITIONS * b->w.u_step;
        for (int64_t i = first; i < last; i++) {
            const mxci_winograd w = block_at(b, i);
            mxci_winograd_input(&w, call->in, 1, v, buffer, 0, w.channels);
            mxci_winograd_out_grad(&w, call->out_grad, d, buffer, 0, whole_columns(w.filters) / LANES);
            mxci_winograd_accumulate(&w, v, d, i > first, sums, 0, POSITIONS * panels_of(w.filters));
        }
    }
}

/* Items of a loop that are worth a thread of their own, each taking so many instructions on vectors. */
static int64_t grain(double instructions) {
    return (int64_t)(2e4 / (instructions + 1)) + 1;
}

/* ---- passes --------------------------------------------------------------------------------------------------------
 */

void mxci_winograd_forward(const mxc_run *run, const mxci_winograd_call *call) {
    const mxci_winograd *w = call->plan;
    const int64_t rows = call->batch * w->rows;
    block b = {.call = call, .w = *w};
    if (w->filter_block) {
        const double tiles = (double)w->tiles, pairs = (double)w->channels * (double)w->filter_block;
        mxc_parallel_for_dynamic(run, w->channels, grain(60 * tiles), input_part, &b);
        mxc_parallel_for_dynamic(run, blocks_of(w->filters, w->filter_block), grain((25 + 4.5 * tiles) * pairs),
                                 filters_part, &b);
        return;
    }
    mxc_parallel_for_dynamic(run, w->filters, grain(25 * (double)w->channels), weights_part, &b);
    if (w->own_blocks) {
        mxc_parallel_for_dynamic(run, block_count(&b), 1, tiles_part, &b);
        return;
    }
    for (b.w.first = 0; b.w.first < rows; b.w.first += w->count) {
        b.w.count = rows - b.w.first < w->count ? rows - b.w.first : w->count;
        const int64_t panels = panels_of(b.w.count * w->columns);
        const double transform = 60 * (double)(b.w.count * w->columns);
        mxc_parallel_for_dynamic(run, w->channels, grain(transform), input_part, &b);
        mxc_parallel_for_dynamic(run, POSITIONS * panels, grain(2 * (double)w->channels * (double)w->filters),
                                 multiply_part, &b);
        mxc_parallel_for_dynamic(run, w->filters, grain(transform), output_part, &b);
    }
}

void mxci_winograd_backward_weight(const mxc_run *run, const mxci_winograd_call *call) {
    const mxci_winograd *w = call->plan;
    const int64_t rows = call->batch * w->rows, eights = whole_columns(w->filters) / LANES;
    const int64_t panels = panels_of(w->filters);
    block b = {.call = call, .w = *w, .by_tile = 1};
    if (w->filter_block) {
        const double all = (double)w->tiles, pairs = (double)w->channel_block * (double)w->filter_block;
        mxc_parallel_for_dynamic(run, w->channels, grain(60 * all), input_part, &b);
        mxc_parallel_for_dynamic(run, eights, grain(LANES * 40 * all), out_grad_part, &b);
        mxc_parallel_for_dynamic(run, blocks_of(w->filters, w->filter_block) * blocks_of(w->channels, w->channel_block),
                                 grain((25 + 4.5 * all) * pairs), weight_blocks_part, &b);
        return;
    }
    if (w->own_blocks)
        mxc_parallel_for_dynamic(run, w->chunks, 1, chunks_part, &b);
    for (b.w.first = 0; b.w.first < rows && !w->own_blocks; b.w.first += w->count, b.add = 1) {
        b.w.count = rows - b.w.first < w->count ? rows - b.w.first : w->count;
        const double tiles = (double)(b.w.count * w->columns);
        mxc_parallel_for_dynamic(run, w->channels, grain(60 * tiles), input_part, &b);
        mxc_parallel_for_dynamic(run, eights, grain(LANES * 40 * tiles), out_grad_part, &b);
        mxc_parallel_for_dynamic(run, POSITIONS * panels, grain(2 * (double)w->channels * tiles), accumulate_part, &b);
    }
    mxc_parallel_for_dynamic(run, eights, grain(LANES * 25 * (double)w->channels), weight_grad_part, &b);
}
