/* Strided moves: tiles gathered and put down; transposing moves by blocks that stay in the cache. */
#include "operator/walk.h"

#include "operator/kernels/convert.h"

typedef struct walk_args {
    mxc_req req;
    const mxc_tensor *to, *from;
    int64_t first;
    const mxci_strided *walk;
    int across; /* axis of step 1 that is not the last one; -1: none */
} walk_args;

static void gather_range(void *arg, int64_t begin, int64_t end, int part) {
    const walk_args *a = arg;
    size_t size = mxc_dtype_size(a->to->dtype);
    _Alignas(64) int64_t tile[MXCI_TILE];
    (void)part;
    if (a->req != MXC_REQ_ADD) {
        mxci_gather(a->walk, size, mxci_at(a->from, a->first), begin, end - begin, mxci_at(a->to, begin));
        return;
    }
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxci_gather(a->walk, size, mxci_at(a->from, a->first), i, n, tile);
        mxci_put_row(a->req, a->to->dtype, mxci_at(a->to, i), tile, n);
    }
}

/* ---- transposing ------------------------------------------------------------------------------------------------- */

enum { BLOCK = 32 };

/* Elements of one step along an axis of to. */
static int64_t inner_size(const mxci_strided *w, int axis) {
    int64_t size = 1;
    for (int i = axis + 1; i < w->n; i++)
        size *= w->dim[i];
    return size;
}

/* One block: rows along the axis across (step 1 in from), columns along the last axis. */
static void transpose_block(const walk_args *a, int64_t to, int64_t from, int64_t rows, int64_t columns) {
    const mxci_strided *w = a->walk;
    int64_t row_step = inner_size(w, a->across);
    mxci_strided block = {.n = 2, .dim = {rows, columns}, .step = {1, w->step[w->n - 1]}};
    _Alignas(64) int64_t tile[BLOCK * BLOCK];
    size_t size = mxc_dtype_size(a->to->dtype);
    mxci_gather_block(&block, size, mxci_at(a->from, from), tile);
    for (int64_t r = 0; r < rows; r++)
        mxci_put_row(a->req, a->to->dtype, mxci_at(a->to, to + r * row_step),
                     (char *)tile + (size_t)(r * columns) * size, columns);
}

/* Strips of BLOCK rows: a strip is one block of the axis across, at one place of the axes that are neither it nor
 * last. */
static void transpose_range(void *arg, int64_t begin, int64_t end, int part) {
    const walk_args *a = arg;
    const mxci_strided *w = a->walk;
    int last = w->n - 1;
    int64_t rows = w->dim[a->across], columns = w->dim[last], strips = (rows + BLOCK - 1) / BLOCK;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i % strips * BLOCK, rest = i / strips, n = rows - row < BLOCK ? rows - row : BLOCK;
        int64_t from = a->first + row, to = row * inner_size(w, a->across);
        for (int axis = last - 1; axis >= 0; axis--) {
            if (axis == a->across)
                continue;
            from += rest % w->dim[axis] * w->step[axis];
            to += rest % w->dim[axis] * inner_size(w, axis);
            rest /= w->dim[axis];
        }
        for (int64_t c = 0; c < columns; c += BLOCK)
            transpose_block(a, to + c, from + c * w->step[last], n, columns - c < BLOCK ? columns - c : BLOCK);
    }
}

static int find_across(const mxci_strided *w) {
    for (int i = 0; i < w->n - 1; i++)
        if (w->step[i] == 1 && w->step[w->n - 1] > 1 && w->dim[i] > 1)
            return i;
    return -1;
}

/* ---- both ways --------------------------------------------------------------------------------------------------- */

void mxci_put_from_walk(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, int64_t first,
                        const mxci_strided *walk) {
    walk_args args = {req, to, from, first, walk, find_across(walk)};
    int64_t n = mxci_tensor_size(to), strips;
    if (req == MXC_REQ_NULL || n == 0)
        return;
    if (args.across < 0) {
        mxc_parallel_for(run, n, MXCI_GRAIN, gather_range, &args);
        return;
    }
    strips = (walk->dim[args.across] + BLOCK - 1) / BLOCK;
    strips *= n / walk->dim[args.across] / walk->dim[walk->n - 1];
    mxc_parallel_for(run, strips, 1 + MXCI_GRAIN / (BLOCK * walk->dim[walk->n - 1]), transpose_range, &args);
}

static void scatter_range(void *arg, int64_t begin, int64_t end, int part) {
    const walk_args *a = arg;
    const mxci_strided *w = a->walk;
    mxci_cursor cursor;
    (void)part;
    mxci_cursor_seek(w, begin, &cursor);
    while (begin < end) {
        int64_t run = w->step[w->n - 1] == 1 ? mxci_cursor_run(w, &cursor, end - begin) : 1;
        mxci_put_row(a->req, a->to->dtype, mxci_at(a->to, a->first + cursor.offset), mxci_at(a->from, begin), run);
        mxci_cursor_advance(w, &cursor, run);
        begin += run;
    }
}

void mxci_put_to_walk(const mxc_run *run, mxc_req req, const mxc_tensor *to, int64_t first, const mxci_strided *walk,
                      const mxc_tensor *from) {
    walk_args args = {req, to, from, first, walk, -1};
    if (req == MXC_REQ_NULL)
        return;
    if (req != MXC_REQ_ADD)
        mxci_put_constant(run, req, to, 0);
    mxc_parallel_for(run, mxci_tensor_size(from), MXCI_GRAIN, scatter_range, &args);
}
