/* SPDX-License-Identifier: Apache-2.0 */
/* Strided copies: by tiles that are gathered and stored, or by blocks that stay in the cache where the copy transposes.
 */
#include "math/strided_copy.h"

#include "math/tile_kernels.h"

typedef struct strided_args {
    mxc_req req;
    int store_mode;
    const mxc_tensor *to, *from;
    int64_t first;
    const mxci_strided *strides;
} strided_args;

/* Elements begin..end-1 of to; adding and streaming go through a tile. */
static void gather_range(void *arg, int64_t begin, int64_t end, int part) {
    const strided_args *a = arg;
    size_t size = mxc_dtype_size(a->to->dtype);
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    if (a->store_mode == MXCI_STORE_WRITE) {
        mxci_gather(a->strides, size, mxci_at(a->from, a->first), begin, end - begin, mxci_at(a->to, begin));
        return;
    }
    for (int64_t i = begin, n; i < end; i += n) {
        n = mxci_tile_at(i, end);
        mxci_gather(a->strides, size, mxci_at(a->from, a->first), i, n, tile);
        mxci_assign_elements(a->store_mode, a->to->dtype, tile, mxci_at(a->to, i), n);
    }
    mxci_stream_end();
}

/* ---- transposing ------------------------------------------------------------------------------------------------- */

/* A block has a few cache lines of each column of from and row of to, since a line that is fetched alone costs as much
 * as several neighbours: rows along the axis `across`, of step 1 in from, and columns along the last axis. */
enum { BLOCK_BYTES = 256, COLUMNS_MOST = 128, TILE_BYTES = 32768, LINE = 64 };

typedef struct transposition {
    const strided_args *args;
    int across;
    int64_t rows, columns;             /* of all blocks side by side */
    int64_t block_rows, block_columns; /* of one */
    int64_t strips, stripes;           /* blocks side by side in each direction */
    int64_t row_step;                  /* in to */
} transposition;

/* Elements of one step along an axis of to. */
static int64_t inner_size(const mxci_strided *w, int axis) {
    int64_t size = 1;
    for (int i = axis + 1; i < w->n; i++)
        size *= w->dim[i];
    return size;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Blocks fill the tile, also where rows are few, and then end with a cache line of any dtype. */
static transposition transposition_of(const strided_args *a, int across) {
    const mxci_strided *w = a->strides;
    const int64_t size = (int64_t)mxc_dtype_size(a->to->dtype), room = TILE_BYTES / size;
    transposition t = {.args = a, .across = across, .rows = w->dim[across], .columns = w->dim[w->n - 1]};
    t.block_columns = least(t.columns, least(BLOCK_BYTES / size, COLUMNS_MOST));
    t.block_rows = least(t.rows, room / t.block_columns);
    if (t.block_columns < t.columns && t.block_rows * t.block_columns < room / 2)
        t.block_columns = least(t.columns, room / t.block_rows / LINE * LINE);
    t.strips = (t.rows + t.block_rows - 1) / t.block_rows;
    t.stripes = (t.columns + t.block_columns - 1) / t.block_columns;
    t.row_step = inner_size(w, across);
    return t;
}

/* One block; by way of a tile where it is added or streamed, and where its rows are short and apart in to. */
static void transpose_block(const transposition *t, int64_t to, int64_t from, int64_t rows, int64_t columns) {
    enum { SHORT = 16 };
    const strided_args *a = t->args;
    const mxci_strided *w = a->strides;
    const size_t size = mxc_dtype_size(a->to->dtype);
    const int is_dense = t->row_step == columns;
    const mxci_strided block = {.n = 2, .dim = {rows, columns}, .step = {1, w->step[w->n - 1]}};
    _Alignas(64) char tile[TILE_BYTES];
    if (a->store_mode == MXCI_STORE_WRITE && (is_dense || columns >= SHORT)) {
        mxci_gather_block(&block, size, mxci_at(a->from, from), t->row_step, mxci_at(a->to, to));
        return;
    }
    mxci_gather_block(&block, size, mxci_at(a->from, from), columns, tile);
    for (int64_t r = 0; r < rows; r += is_dense ? rows : 1)
        mxci_assign_elements(a->store_mode, a->to->dtype, tile + (size_t)(r * columns) * size,
                             mxci_at(a->to, to + r * t->row_step), is_dense ? rows * columns : columns);
}

/* Blocks begin..end-1, at all positions of the axes that are neither the last one nor across. */
static void transpose_range(void *arg, int64_t begin, int64_t end, int part) {
    const transposition *t = arg;
    const mxci_strided *w = t->args->strides;
    const int last = w->n - 1;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t column = i % t->stripes * t->block_columns, row = i / t->stripes % t->strips * t->block_rows;
        int64_t rest = i / t->stripes / t->strips;
        int64_t from = t->args->first + row + column * w->step[last], to = row * t->row_step + column;
        for (int axis = last - 1; axis >= 0; axis--) {
            if (axis == t->across)
                continue;
            from += rest % w->dim[axis] * w->step[axis];
            to += rest % w->dim[axis] * inner_size(w, axis);
            rest /= w->dim[axis];
        }
        transpose_block(t, to, from, least(t->block_rows, t->rows - row), least(t->block_columns, t->columns - column));
    }
    mxci_stream_end();
}

/* The axis along which elements are neighbours in memory, if it is not the last one: then the copy is a
 * transposition. */
static int find_across(const mxci_strided *w) {
    for (int i = 0; i < w->n - 1; i++)
        if (w->step[i] == 1 && w->step[w->n - 1] > 1 && w->dim[i] > 1)
            return i;
    return -1;
}

/* ---- both ways --------------------------------------------------------------------------------------------------- */

void mxci_assign_from_strided(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from,
                              int64_t first, const mxci_strided *strides) {
    strided_args args = {req, mxci_store_mode(req, mxci_tensor_bytes(to), 0), to, from, first, strides};
    const int64_t n = mxci_tensor_size(to);
    const int across = find_across(strides);
    transposition t;
    if (req == MXC_REQ_NULL || n == 0)
        return;
    if (across < 0) {
        mxc_parallel_for(run, n, MXCI_GRAIN, gather_range, &args);
        return;
    }
    t = transposition_of(&args, across);
    mxc_parallel_for(run, t.strips * t.stripes * (n / t.rows / t.columns),
                     1 + MXCI_GRAIN / (t.block_rows * t.block_columns), transpose_range, &t);
}

/* Elements begin..end-1 of from; runs of neighbours together. */
static void scatter_range(void *arg, int64_t begin, int64_t end, int part) {
    const strided_args *a = arg;
    const mxci_strided *w = a->strides;
    mxci_cursor cursor;
    (void)part;
    mxci_cursor_seek(w, begin, &cursor);
    while (begin < end) {
        int64_t run = w->step[w->n - 1] == 1 ? mxci_cursor_run(w, &cursor, end - begin) : 1;
        mxci_assign_row(a->req, a->to->dtype, mxci_at(a->to, a->first + cursor.offset), mxci_at(a->from, begin), run);
        mxci_cursor_advance(w, &cursor, run);
        begin += run;
    }
}

void mxci_assign_to_strided(const mxc_run *run, mxc_req req, const mxc_tensor *to, int64_t first,
                            const mxci_strided *strides, const mxc_tensor *from) {
    strided_args args = {req, MXCI_STORE_WRITE, to, from, first, strides};
    if (req == MXC_REQ_NULL)
        return;
    if (req != MXC_REQ_ADD)
        mxci_assign_constant(run, req, to, 0);
    mxc_parallel_for(run, mxci_tensor_size(from), MXCI_GRAIN, scatter_range, &args);
}
