/* SPDX-License-Identifier: Apache-2.0 */
/* Sort keys, and three algorithms: insertion sort for a few items, a heap for the first few of many, radix sort for the
 * rest. */
#include "math/sort_kernels.h"

#include <string.h>

#include "math/sort_key.h"

/* ---- keys -------------------------------------------------------------------------------------------------------- */

#define KEYS(suffix, T)                                                                                     \
    static void keys_##suffix(uint64_t flip, int64_t n, const T *x, int64_t index, mxci_sort_item *items) { \
        for (int64_t i = 0; i < n; i++)                                                                     \
            items[i] = (mxci_sort_item){mxci_sort_key_##suffix(x[i], flip), index + i};                     \
    }
KEYS(f32, float)
KEYS(f64, double)
KEYS(i64, int64_t)

void mxci_sort_keys(mxc_dtype compute, int descending, int64_t n, const void *x, int64_t index, mxci_sort_item *items) {
    uint64_t flip = descending ? UINT64_MAX : 0;
    if (compute == MXC_F32)
        keys_f32(flip, n, x, index, items);
    else if (compute == MXC_F64)
        keys_f64(flip, n, x, index, items);
    else
        keys_i64(flip, n, x, index, items);
}

/* ---- a few items ------------------------------------------------------------------------------------------------- */

enum { FEW = 64 };

static int is_before(const mxci_sort_item *a, const mxci_sort_item *b) {
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}

static void insertion_sort(int64_t n, mxci_sort_item *items) {
    for (int64_t i = 1; i < n; i++) {
        mxci_sort_item item = items[i];
        int64_t at = i;
        for (; at > 0 && item.key < items[at - 1].key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* ---- a few of many ----------------------------------------------------------------------------------------------- */

/* Put item into a heap of n whose root is free. The root is the last in order. */
static void sift_down(int64_t n, mxci_sort_item *heap, mxci_sort_item item) {
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

/* The k first of n items, in order. items[0..k) come in order; reversed they are a heap with the last in order at its
 * root, which each better item replaces. */
static void heap_select(int64_t k, int64_t n, mxci_sort_item *items) {
    for (int64_t i = 0, j = k - 1; i < j; i++, j--) {
        mxci_sort_item item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
    for (int64_t i = k; i < n; i++)
        if (is_before(&items[i], &items[0]))
            sift_down(k, items, items[i]);
    for (int64_t end = k - 1; end > 0; end--) {
        mxci_sort_item last = items[0];
        sift_down(end, items, items[end]);
        items[end] = last;
    }
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

enum { DIGITS = 8, VALUES = 256 }; /* a key is so many bytes */

static unsigned digit_of(const mxci_sort_item *item, int digit) {
    return item->key >> 8 * digit & (VALUES - 1);
}

/* to = from, sorted by one digit; count[v] items have the value v there. Stable. */
static void scatter_by_digit(int digit, int64_t n, const mxci_sort_item *from, mxci_sort_item *to, int64_t *count) {
    int64_t place = 0;
    for (int v = 0; v < VALUES; v++) {
        int64_t next = place + count[v];
        count[v] = place;
        place = next;
    }
    for (int64_t i = 0; i < n; i++)
        to[count[digit_of(&from[i], digit)]++] = from[i];
}

/* Least significant digit first, eight digits of a byte. All digits are counted in one pass, and a digit that is the
 * same in all keys is skipped. spare: room for n items. */
static void radix_sort(int64_t n, mxci_sort_item *items, mxci_sort_item *spare) {
    int64_t count[DIGITS][VALUES] = {0};
    mxci_sort_item *from = items, *to = spare;
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++)
            count[d][digit_of(&items[i], d)]++;
    for (int d = 0; d < DIGITS; d++) {
        mxci_sort_item *swap = from;
        if (count[d][digit_of(from, d)] == n)
            continue; /* all the same */
        scatter_by_digit(d, n, from, to, count[d]);
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, (size_t)n * sizeof *items);
}

/* Whether a heap of k is faster than sorting all items: measured. A large heap misses the cache. */
static int prefers_heap(int64_t k, int64_t n) {
    return k < n / (n < 4096 ? 8 : 32);
}

void mxci_sort_first(int64_t k, int64_t n, mxci_sort_item *items, mxci_sort_item *spare) {
    if (k == 0)
        return;
    if (prefers_heap(k, n)) {
        mxci_sort_first(k, k, items, spare);
        heap_select(k, n, items);
    } else if (n <= FEW) {
        insertion_sort(n, items);
    } else {
        radix_sort(n, items, spare);
    }
}
