/*
 * Packing: offsets in a pool for blocks that are occupied during known spans of steps.
 *
 * Blocks are placed one after the other, each into the smallest gap between those placed blocks whose spans overlap
 * with its own. The order decides how tight it gets; several are tried and the smallest pool wins. This is quadratic in
 * the number of blocks. More than MANY are placed in the order of their spans, each into a range that another block has
 * left, or behind all: time in proportion to their number (but for sorting), and a pool that may be larger.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "executor/program.h"

#define MANY 8192

typedef int (*compare_fn)(const void *a, const void *b);

static int sign(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b) {
    const mxci_block *x = *(mxci_block *const *)a, *y = *(mxci_block *const *)b;
    int order = sign(x->first, y->first);
    return order ? order : sign((intptr_t)x, (intptr_t)y);
}

static int by_bytes(const void *a, const void *b) {
    const mxci_block *x = *(mxci_block *const *)a, *y = *(mxci_block *const *)b;
    int order = sign(y->bytes, x->bytes);
    return order ? order : by_start(a, b);
}

static int by_area(const void *a, const void *b) {
    const mxci_block *x = *(mxci_block *const *)a, *y = *(mxci_block *const *)b;
    int order = sign(mxci_dim_mul(y->bytes, y->last - y->first + 1), mxci_dim_mul(x->bytes, x->last - x->first + 1));
    return order ? order : by_bytes(a, b);
}

static int by_length(const void *a, const void *b) {
    const mxci_block *x = *(mxci_block *const *)a, *y = *(mxci_block *const *)b;
    int order = sign(y->last - y->first, x->last - x->first);
    return order ? order : by_bytes(a, b);
}

static int overlap(const mxci_block *a, const mxci_block *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* Start of the smallest gap that holds the block among n placed ones, which are sorted by offset. */
static int64_t find_gap(mxci_block *const *placed, int32_t n, const mxci_block *block) {
    int64_t end = 0, best = -1, best_room = INT64_MAX;
    for (int32_t i = 0; i < n; i++) {
        const mxci_block *other = placed[i];
        if (!overlap(other, block))
            continue;
        if (other->offset - end >= block->bytes && other->offset - end < best_room) {
            best = end;
            best_room = other->offset - end;
        }
        if (other->offset + other->bytes > end)
            end = other->offset + other->bytes;
    }
    return best >= 0 ? best : end;
}

static void insert(mxci_block **placed, int32_t n, mxci_block *block) {
    int32_t low = 0, high = n;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (placed[middle]->offset <= block->offset)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(placed + low + 1, placed + low, (size_t)(n - low) * sizeof *placed);
    placed[low] = block;
}

/* Place all in the order given; returns the pool's size. */
static int64_t place(mxci_block *const *blocks, int32_t n, mxci_block **placed) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++) {
        blocks[i]->offset = find_gap(placed, i, blocks[i]);
        insert(placed, i, blocks[i]);
        if (blocks[i]->offset + blocks[i]->bytes > bytes)
            bytes = blocks[i]->offset + blocks[i]->bytes;
    }
    return bytes;
}

static int64_t place_apart(mxci_block *const *blocks, int32_t n) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++) {
        blocks[i]->offset = bytes;
        bytes += blocks[i]->bytes;
    }
    return bytes;
}

/* Try the orders, then place again in the best. */
static int64_t place_best(mxci_block **blocks, int32_t n, mxci_block **placed) {
    static const compare_fn orders[] = {by_bytes, by_start, by_area, by_length};
    int64_t least = INT64_MAX;
    int best = 0;
    for (int i = 0; i < (int)(sizeof orders / sizeof *orders); i++) {
        int64_t bytes;
        qsort(blocks, (size_t)n, sizeof *blocks, orders[i]);
        bytes = place(blocks, n, placed);
        if (bytes < least) {
            least = bytes;
            best = i;
        }
    }
    qsort(blocks, (size_t)n, sizeof *blocks, orders[best]);
    return place(blocks, n, placed);
}

/* ---- very many blocks -------------------------------------------------------------------------------------------- */

enum { CLASSES = 4 * 64 }; /* of sizes: four for each power of two */

/* Ranges of the pool, each named by the block that has it or had it last. */
typedef struct ranges {
    const mxci_block *blocks;
    int32_t *next;        /* below it in the stack of free ranges, -1: none */
    int64_t *room;        /* bytes of the range */
    int32_t top[CLASSES]; /* free ranges by size */
} ranges;

static int class_of(int64_t bytes) {
    int log = 63 - __builtin_clzll((unsigned long long)bytes | 4);
    return 4 * log + (int)(bytes >> (log - 2) & 3);
}

/* A free range that is large enough, of the same class if its first is, else of the next class that has one; -1: none.
 */
static int32_t take_range(ranges *r, int64_t bytes) {
    int i = class_of(bytes);
    int32_t range;
    if (r->top[i] < 0 || r->room[r->top[i]] < bytes)
        for (i++; i < CLASSES && r->top[i] < 0; i++)
            ;
    if (i == CLASSES)
        return -1;
    range = r->top[i];
    r->top[i] = r->next[range];
    return range;
}

static void free_range(ranges *r, int32_t range) {
    int i = class_of(r->room[range]);
    r->next[range] = r->top[i];
    r->top[i] = range;
}

static int by_end(const void *a, const void *b) {
    const mxci_block *x = *(mxci_block *const *)a, *y = *(mxci_block *const *)b;
    int order = sign(x->last, y->last);
    return order ? order : by_start(a, b);
}

/* blocks by their first step, ended by their last one; returns the pool's size. */
static int64_t place_in_ranges(mxci_block *const *blocks, mxci_block *const *ended, int32_t n, ranges *r) {
    int64_t bytes = 0;
    int32_t n_ended = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t own = (int32_t)(blocks[i] - r->blocks), range;
        for (; ended[n_ended]->last < blocks[i]->first; n_ended++)
            free_range(r, (int32_t)(ended[n_ended] - r->blocks));
        range = take_range(r, blocks[i]->bytes);
        blocks[i]->offset = range < 0 ? bytes : r->blocks[range].offset;
        r->room[own] = range < 0 ? blocks[i]->bytes : r->room[range];
        if (range < 0)
            bytes += blocks[i]->bytes;
    }
    return bytes;
}

static mxc_status place_many(mxci_block *all, int32_t n_all, mxci_block **blocks, mxci_block **ended, int32_t n,
                             int64_t *bytes) {
    ranges r = {.blocks = all};
    mxc_status status = MXC_OK;
    r.next = mxci_calloc((size_t)n_all, sizeof *r.next);
    r.room = mxci_calloc((size_t)n_all, sizeof *r.room);
    memset(r.top, -1, sizeof r.top);
    memcpy(ended, blocks, (size_t)n * sizeof(*blocks));
    qsort(blocks, (size_t)n, sizeof *blocks, by_start);
    qsort(ended, (size_t)n, sizeof *ended, by_end);
    if (r.next && r.room)
        *bytes = place_in_ranges(blocks, ended, n, &r);
    else
        status = MXC_FAIL(MXC_ENOMEM, "memory plan: no memory");
    mxci_free(r.next);
    mxci_free(r.room);
    return status;
}

mxc_status mxci_pack(mxci_block *blocks, int32_t n, int32_t pool, int no_sharing, int64_t *bytes) {
    mxci_block **mine = mxci_calloc((size_t)n + 1, sizeof *mine), **placed = mxci_calloc((size_t)n + 1, sizeof *placed);
    int32_t count = 0;
    mxc_status status = MXC_OK;
    if (!mine || !placed) {
        status = MXC_FAIL(MXC_ENOMEM, "memory plan: no memory");
    } else {
        for (int32_t i = 0; i < n; i++)
            if (blocks[i].pool == pool)
                mine[count++] = &blocks[i];
        if (no_sharing)
            *bytes = place_apart(mine, count);
        else if (count > MANY)
            status = place_many(blocks, n, mine, placed, count, bytes);
        else
            *bytes = place_best(mine, count, placed);
    }
    mxci_free(mine);
    mxci_free(placed);
    return status;
}
