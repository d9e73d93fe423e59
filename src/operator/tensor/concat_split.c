/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between an array and its parts. With all arrays as (outer, size_i, inner), part i is a contiguous run of
 * size_i inner elements within each of the whole's outer rows. Work is split by elements of the whole. */
#include "operator/tensor/concat_split.h"

#include "math/strided_kernels.h"
#include "math/tile_kernels.h"

/* One call in either direction: whole = parts (concat), or parts = whole (is_split). */
typedef struct move {
    const mxc_tensor *whole, *parts;
    const mxc_req *req;
    int n, is_split;
    int64_t outer, row; /* row: elements of whole in one outer index */
} move;

enum { BLOCK = 4096 }; /* elements of whole that all parts are copied from or to in turn, which stay in the cache */

/* `rows` runs of n elements, which are to_step and from_step elements apart, by the request of the array written: past
 * the caches where that array is large. */
static void put_rows(mxc_req req, int64_t rows, int64_t n, const mxc_tensor *to, int64_t to_at, int64_t to_step,
                     const mxc_tensor *from, int64_t from_at, int64_t from_step) {
    const size_t element = mxc_dtype_size(to->dtype);
    const int store_mode = mxci_store_mode(req, mxci_tensor_bytes(to), 0);
    if (req == MXC_REQ_NULL)
        return;
    if (store_mode == MXCI_STORE_WRITE) {
        mxci_copy_rows(rows, (size_t)n * element, mxci_at(from, from_at), from_step * (int64_t)element,
                       mxci_at(to, to_at), to_step * (int64_t)element);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        mxci_assign_elements(store_mode, to->dtype, mxci_at(from, from_at + i * from_step),
                             mxci_at(to, to_at + i * to_step), n);
}

/* Elements begin..end-1 of whole that are part i's, whose rows of n stand at offset in those of whole: outer indices
 * that the range has as a whole go together. */
static void move_part(const move *m, int i, int64_t offset, int64_t n, int64_t begin, int64_t end) {
    const mxc_tensor *part = &m->parts[i];
    for (int64_t o = begin / m->row, rows; o * m->row < end && n > 0; o += rows) {
        int64_t start = o * m->row + offset, first = begin > start ? begin - start : 0;
        int64_t last = end - start < n ? end - start : n;
        rows = first == 0 && end / m->row > o ? end / m->row - o : 1;
        if (first >= last)
            continue;
        if (m->is_split)
            put_rows(m->req[i], rows, last - first, part, o * n + first, n, m->whole, start + first, m->row);
        else
            put_rows(m->req[0], rows, last - first, m->whole, start + first, m->row, part, o * n + first, n);
    }
}

/* A range of whole may begin and end inside a part's run; every part copies what of the range is its own, block by
 * block of whole rows. */
static void move_range(void *arg, int64_t begin, int64_t end, int part) {
    const move *m = arg;
    const int64_t rows = BLOCK / m->row + 1;
    (void)part;
    for (int64_t next; begin < end; begin = next) {
        int64_t offset = 0;
        next = end / m->row - begin / m->row > rows ? (begin / m->row + rows) * m->row : end;
        for (int i = 0; i < m->n; i++) {
            int64_t n = mxci_tensor_size(&m->parts[i]) / m->outer;
            move_part(m, i, offset, n, begin, next);
            offset += n;
        }
    }
    mxci_stream_end();
}

/* Without elements there is nothing to copy, and no outer index to divide by. */
static void run_move(const mxc_run *run, move *m, int axis) {
    const mxc_shape *shape = &m->whole->shape;
    m->outer = mxci_shape_count(shape, 0, axis);
    m->row = mxci_shape_count(shape, axis, shape->ndim);
    if (m->outer > 0 && m->row > 0)
        mxc_parallel_for(run, m->outer * m->row, MXCI_GRAIN, move_range, m);
}

void mxci_concat_arrays(const mxc_run *run, mxc_req req, const mxc_tensor *whole, int n, const mxc_tensor *parts,
                        int axis) {
    move m = {.whole = whole, .parts = parts, .req = &req, .n = n};
    if (req != MXC_REQ_NULL)
        run_move(run, &m, axis);
}

void mxci_split_array(const mxc_run *run, const mxc_req *req, const mxc_tensor *whole, int n, const mxc_tensor *parts,
                      int axis) {
    move m = {.whole = whole, .parts = parts, .req = req, .n = n, .is_split = 1};
    run_move(run, &m, axis);
}
