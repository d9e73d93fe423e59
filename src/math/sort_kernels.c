/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, and three ways to order them: insertion for a few items, a heap for a few of many, digits for the rest. */
#include "math/sort_kernels.h"

#include <string.h>

#include "math/sort_key.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

#define KEYS(suffix, T)                                                                                      \
    static void keys_##suffix(uint64_t turn, int64_t n, const T *x, int64_t index, mxci_order_item *items) { \
        for (int64_t i = 0; i < n; i++)                                                                      \
            items[i] = (mxci_order_item){mxci_order_key_##suffix(x[i], turn), index + i};                    \
    }
KEYS(f32, float)
KEYS(f64, double)
KEYS(i64, int64_t)

void mxci_order_keys(mxc_dtype compute, int descending, int64_t n, const void *x, int64_t index,
                     mxci_order_item *items) {
    uint64_t turn = descending ? UINT64_MAX : 0;
    if (compute == MXC_F32)
        keys_f32(turn, n, x, index, items);
    else if (compute == MXC_F64)
        keys_f64(turn, n, x, index, items);
    else
        keys_i64(turn, n, x, index, items);
}

/* ---- a few items ------------------------------------------------------------------------------------------------- */

enum { FEW = 64 };

static int is_before(const mxci_order_item *a, const mxci_order_item *b) {
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}

static void insert_each(int64_t n, mxci_order_item *items) {
    for (int64_t i = 1; i < n; i++) {
        mxci_order_item item = items[i];
        int64_t at = i;
        for (; at > 0 && item.key < items[at - 1].key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* ---- a few of many ----------------------------------------------------------------------------------------------- */

/* Put item into a heap of n whose root, the last in order, is free. */
static void sift(int64_t n, mxci_order_item *heap, mxci_order_item item) {
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (is_before(&heap[child], &item))
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

/* The first k items, in order, are a heap: its last first. */
static void keep_first(int64_t k, int64_t n, mxci_order_item *items) {
    for (int64_t i = 0, j = k - 1; i < j; i++, j--) {
        mxci_order_item item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
    for (int64_t i = k; i < n; i++)
        if (is_before(&items[i], &items[0]))
            sift(k, items, items[i]);
    for (int64_t end = k - 1; end > 0; end--) {
        mxci_order_item last = items[0];
        sift(end, items, items[end]);
        items[end] = last;
    }
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

enum { DIGITS = 8, VALUES = 256 }; /* a key is so many bytes */

static unsigned digit_of(const mxci_order_item *item, int digit) {
    return item->key >> 8 * digit & (VALUES - 1);
}

/* to = from by one digit; count[v] of them have v there. Keeps the order of equals. */
static void deal(int digit, int64_t n, const mxci_order_item *from, mxci_order_item *to, int64_t *count) {
    int64_t place = 0;
    for (int v = 0; v < VALUES; v++) {
        int64_t next = place + count[v];
        count[v] = place;
        place = next;
    }
    for (int64_t i = 0; i < n; i++)
        to[count[digit_of(&from[i], digit)]++] = from[i];
}

static void order_by_digits(int64_t n, mxci_order_item *items, mxci_order_item *spare) {
    int64_t count[DIGITS][VALUES] = {0};
    mxci_order_item *from = items, *to = spare;
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++)
            count[d][digit_of(&items[i], d)]++;
    for (int d = 0; d < DIGITS; d++) {
        mxci_order_item *swap = from;
        if (count[d][digit_of(from, d)] == n)
            continue; /* all the same */
        deal(d, n, from, to, count[d]);
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, (size_t)n * sizeof *items);
}

/* Whether a heap of k is faster than ordering all: measured. A large one misses the cache. */
static int is_for_heap(int64_t k, int64_t n) {
    return k < n / (n < 4096 ? 8 : 32);
}

void mxci_order_first(int64_t k, int64_t n, mxci_order_item *items, mxci_order_item *spare) {
    if (k == 0)
        return;
    if (is_for_heap(k, n)) {
        mxci_order_first(k, k, items, spare);
        keep_first(k, n, items);
    } else if (n <= FEW) {
        insert_each(n, items);
    } else {
        order_by_digits(n, items, spare);
    }
}
