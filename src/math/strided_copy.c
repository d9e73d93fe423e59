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
    int across; /* axis of step 1 that is not the last one; -1: none */
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
 * as several neighbours. */
enum { BLOCK_BYTES = 256, COLUMNS_MOST = 128, TILE_BYTES = 32768 };

/* Columns of a block: a few cache lines of each row of to. */
static int64_t block_columns(const strided_args *a) {
    int64_t columns = a->strides->dim[a->strides->n - 1], most = BLOCK_BYTES / (int64_t)mxc_dtype_size(a->to->dtype);
    most = most < COLUMNS_MOST ? most : COLUMNS_MOST;
    return columns < most ? columns : most;
}

/* As many rows as fill the tile. */
static int64_t block_rows(const strided_args *a) {
    return TILE_BYTES / (int64_t)mxc_dtype_size(a->to->dtype) / block_columns(a);
}

/* Elements of one step along an axis of to. */
static int64_t inner_size(const mxci_strided *w, int axis) {
    int64_t size = 1;
    for (int i = axis + 1; i < w->n; i++)
        size *= w->dim[i];
    return size;
}

/* One block: rows along the axis across (step 1 in from), columns along the last axis. */
static void transpose_block(const strided_args *a, int64_t to, int64_t from, int64_t rows, int64_t columns) {
    const mxci_strided *w = a->strides;
    int64_t row_step = inner_size(w, a->across);
    mxci_strided block = {.n = 2, .dim = {rows, columns}, .step = {1, w->step[w->n - 1]}};
    _Alignas(64) char tile[TILE_BYTES];
    size_t size = mxc_dtype_size(a->to->dtype);
    mxci_gather_block(&block, size, mxci_at(a->from, from), tile);
    for (int64_t r = 0; r < rows; r++)
        mxci_assign_elements(a->store_mode, a->to->dtype, tile + (size_t)(r * columns) * size,
                             mxci_at(a->to, to + r * row_step), columns);
}

/* Strips begin..end-1: a strip is one block of rows of the axis `across`, at one position of the axes that are neither
 * it nor the last. */
static void transpose_range(void *arg, int64_t begin, int64_t end, int part) {
    const strided_args *a = arg;
    const mxci_strided *w = a->strides;
    int last = w->n - 1;
    const int64_t block = block_rows(a), rows = w->dim[a->across], strips = (rows + block - 1) / block;
    const int64_t width = block_columns(a), columns = w->dim[last];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i % strips * block, rest = i / strips, n = rows - row < block ? rows - row : block;
        int64_t from = a->first + row, to = row * inner_size(w, a->across);
        for (int axis = last - 1; axis >= 0; axis--) {
            if (axis == a->across)
                continue;
            from += rest % w->dim[axis] * w->step[axis];
            to += rest % w->dim[axis] * inner_size(w, axis);
            rest /= w->dim[axis];
        }
        for (int64_t c = 0; c < columns; c += width)
            transpose_block(a, to + c, from + c * w->step[last], n, columns - c < width ? columns - c : width);
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
    strided_args args = {
        req, mxci_store_mode(req, mxci_tensor_bytes(to), 0), to, from, first, strides, find_across(strides)};
    int64_t n = mxci_tensor_size(to), block, strips;
    if (req == MXC_REQ_NULL || n == 0)
        return;
    if (args.across < 0) {
        mxc_parallel_for(run, n, MXCI_GRAIN, gather_range, &args);
        return;
    }
    block = block_rows(&args);
    strips = (strides->dim[args.across] + block - 1) / block;
    strips *= n / strides->dim[args.across] / strides->dim[strides->n - 1];
    mxc_parallel_for(run, strips, 1 + MXCI_GRAIN / (block * strides->dim[strides->n - 1]), transpose_range, &args);
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
    strided_args args = {req, MXCI_STORE_WRITE, to, from, first, strides, -1};
    if (req == MXC_REQ_NULL)
        return;
    if (req != MXC_REQ_ADD)
        mxci_assign_constant(run, req, to, 0);
    mxc_parallel_for(run, mxci_tensor_size(from), MXCI_GRAIN, scatter_range, &args);
}
