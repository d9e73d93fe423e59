/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing: offsets in a pool for memory ranges whose lifetimes are known intervals of steps. This is dynamic storage
 * allocation with all requests known in advance, which is NP-hard, so heuristics are used.
 *
 * Best fit: ranges are placed one after the other, each into the smallest gap between those placed ranges whose
 * lifetimes overlap with its own, or after them. The order decides how tight the result is. Four orders are tried (by
 * size, by size times lifetime and by lifetime, the largest first, and by start) and the smallest pool wins. Each takes
 * O(n^2) time.
 *
 * More than MANY ranges are placed in the order of their starts only, each into a slot that another range has freed, by
 * segregated free lists, or at the end: O(n log n) for sorting and O(1) for each range, and a pool that may be larger.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/plan/packing.h"

#define MANY 8192

typedef int (*compare_fn)(const void *a, const void *b);

static int sign(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_start(const void *a, const void *b) {
    const mxci_memory_range *x = *(mxci_memory_range *const *)a, *y = *(mxci_memory_range *const *)b;
    int order = sign(x->first, y->first);
    return order ? order : sign((intptr_t)x, (intptr_t)y);
}

static int by_bytes(const void *a, const void *b) {
    const mxci_memory_range *x = *(mxci_memory_range *const *)a, *y = *(mxci_memory_range *const *)b;
    int order = sign(y->bytes, x->bytes);
    return order ? order : by_start(a, b);
}

static int by_area(const void *a, const void *b) {
    const mxci_memory_range *x = *(mxci_memory_range *const *)a, *y = *(mxci_memory_range *const *)b;
    int order = sign(mxci_dim_mul(y->bytes, y->last - y->first + 1), mxci_dim_mul(x->bytes, x->last - x->first + 1));
    return order ? order : by_bytes(a, b);
}

static int by_length(const void *a, const void *b) {
    const mxci_memory_range *x = *(mxci_memory_range *const *)a, *y = *(mxci_memory_range *const *)b;
    int order = sign(y->last - y->first, x->last - x->first);
    return order ? order : by_bytes(a, b);
}

/* Start of the smallest gap that holds the range among n placed ones, which are sorted by offset; the end of those that
 * overlap with it if there is no such gap. */
static int64_t find_gap(mxci_memory_range *const *placed, int32_t n, const mxci_memory_range *range) {
    int64_t end = 0, best = -1, best_room = INT64_MAX;
    for (int32_t i = 0; i < n; i++) {
        const mxci_memory_range *other = placed[i];
        if (other->first > range->last || range->first > other->last) /* lifetimes do not overlap */
            continue;
        if (other->offset - end >= range->bytes && other->offset - end < best_room) {
            best = end;
            best_room = other->offset - end;
        }
        if (other->offset + other->bytes > end)
            end = other->offset + other->bytes;
    }
    return best >= 0 ? best : end;
}

/* Places all ranges in the order given; returns the pool's size. placed: room for n, kept sorted by offset. */
static int64_t place(mxci_memory_range *const *ranges, int32_t n, mxci_memory_range **placed) {
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t low = 0, high = i;
        ranges[i]->offset = find_gap(placed, i, ranges[i]);
        while (low < high) {
            int32_t middle = (low + high) / 2;
            if (placed[middle]->offset <= ranges[i]->offset)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(placed + low + 1, placed + low, (size_t)(i - low) * sizeof *placed);
        placed[low] = ranges[i];
        if (ranges[i]->offset + ranges[i]->bytes > bytes)
            bytes = ranges[i]->offset + ranges[i]->bytes;
    }
    return bytes;
}

/* Tries all orders, then places again in the best one. Ties are broken by order, so the result is deterministic. */
static int64_t place_best(mxci_memory_range **ranges, int32_t n, mxci_memory_range **placed) {
    static const compare_fn orders[] = {by_bytes, by_start, by_area, by_length};
    int64_t least = INT64_MAX;
    int best = 0;
    for (int i = 0; i < (int)(sizeof orders / sizeof *orders); i++) {
        int64_t bytes;
        qsort(ranges, (size_t)n, sizeof *ranges, orders[i]);
        bytes = place(ranges, n, placed);
        if (bytes < least) {
            least = bytes;
            best = i;
        }
    }
    qsort(ranges, (size_t)n, sizeof *ranges, orders[best]);
    return place(ranges, n, placed);
}

/* ---- very many ranges -------------------------------------------------------------------------------------------- */

enum { CLASSES = 4 * 64 }; /* of sizes: four for each power of two */

/* Slots of the pool, each identified by the range that occupies it or did so last. */
typedef struct slots {
    int32_t *next;        /* below it in the stack of free slots, -1: none */
    int64_t *room;        /* bytes of the slot */
    int32_t top[CLASSES]; /* free slots by size */
} slots;

/* The size class: floor(log2) and the two bits below it, so that sizes in a class differ by less than a quarter. */
static int packing_class_of(int64_t bytes) {
    int log = 63 - __builtin_clzll((unsigned long long)bytes | 4); /* floor(log2), and room for two bits below it */
    return 4 * log + (int)(bytes >> (log - 2) & 3);
}

/* Takes a free slot that is large enough: the first of the same class if that is, else of the next class that has one;
 * -1: none. */
static int32_t take_slot(slots *s, int64_t bytes) {
    int i = packing_class_of(bytes);
    int32_t slot;
    if (s->top[i] < 0 || s->room[s->top[i]] < bytes)
        for (i++; i < CLASSES && s->top[i] < 0; i++)
            ;
    if (i == CLASSES)
        return -1;
    slot = s->top[i];
    s->top[i] = s->next[slot];
    return slot;
}

static int by_end(const void *a, const void *b) {
    const mxci_memory_range *x = *(mxci_memory_range *const *)a, *y = *(mxci_memory_range *const *)b;
    int order = sign(x->last, y->last);
    return order ? order : by_start(a, b);
}

/* ranges: those to place; ended: room for as many. The ranges are visited by their first step, and, to free their
 * slots, by their last. *bytes: the pool's size. */
static mxc_status place_many(mxci_memory_range *all, int32_t n_all, mxci_memory_range **ranges,
                             mxci_memory_range **ended, int32_t n, int64_t *bytes) {
    slots s;
    mxc_status status = MXC_OK;
    int32_t n_ended = 0;
    s.next = mxci_calloc((size_t)n_all, sizeof *s.next);
    s.room = mxci_calloc((size_t)n_all, sizeof *s.room);
    memset(s.top, -1, sizeof s.top);
    memcpy(ended, ranges, (size_t)n * sizeof(*ranges));
    qsort(ranges, (size_t)n, sizeof *ranges, by_start);
    qsort(ended, (size_t)n, sizeof *ended, by_end);
    if (!s.next || !s.room)
        status = MXCI_NO_MEMORY("memory plan", "packing");
    *bytes = 0;
    for (int32_t i = 0; i < n && status == MXC_OK; i++) {
        int32_t own = (int32_t)(ranges[i] - all), slot;
        for (; ended[n_ended]->last < ranges[i]->first; n_ended++) {
            int32_t freed = (int32_t)(ended[n_ended] - all);
            int size_class = packing_class_of(s.room[freed]);
            s.next[freed] = s.top[size_class];
            s.top[size_class] = freed;
        }
        slot = take_slot(&s, ranges[i]->bytes);
        ranges[i]->offset = slot < 0 ? *bytes : all[slot].offset;
        s.room[own] = slot < 0 ? ranges[i]->bytes : s.room[slot];
        if (slot < 0)
            *bytes += ranges[i]->bytes;
    }
    mxci_free(s.next);
    mxci_free(s.room);
    return status;
}

mxc_status mxci_pack_pool(mxci_memory_range *ranges, int32_t n, int32_t pool, int no_sharing, int64_t *bytes) {
    mxci_memory_range **mine = mxci_calloc((size_t)n + 1, sizeof *mine),
                      **placed = mxci_calloc((size_t)n + 1, sizeof *placed);
    int32_t count = 0;
    mxc_status status = MXC_OK;
    if (!mine || !placed) {
        status = MXCI_NO_MEMORY("memory plan", "packing");
    } else {
        for (int32_t i = 0; i < n; i++)
            if (ranges[i].pool == pool)
                mine[count++] = &ranges[i];
        *bytes = 0;
        for (int32_t i = 0; i < count && no_sharing; i++) {
            mine[i]->offset = *bytes;
            *bytes += mine[i]->bytes;
        }
        if (no_sharing)
            status = MXC_OK;
        else if (count > MANY)
            status = place_many(ranges, n, mine, placed, count, bytes);
        else
            *bytes = place_best(mine, count, placed);
    }
    mxci_free(mine);
    mxci_free(placed);
    return status;
}
