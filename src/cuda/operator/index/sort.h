/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting rows of items by unsigned keys, and items of equal keys by index, in place. Rows are padded to a power of
 * two, at least 2, with items that sort last. By Batcher's bitonic network: which items a step compares depends on
 * sizes only, every step's comparisons are independent of each other, and steps of short distance stay within blocks
 * that one team sorts without another launch. A row of n items takes O(log^2 n) steps; a radix sort would be faster for
 * long rows, but needs counts across blocks. */
#ifndef MXCI_CUDA_OPERATOR_INDEX_SORT_H
#define MXCI_CUDA_OPERATOR_INDEX_SORT_H

#include "cuda/runtime/kernel.h"

struct mxcu_item {
    uint64_t key;
    int64_t index;
};

/* Items that a row of n is padded to. */
static inline int64_t mxcu_sort_row(int64_t n) {
    int64_t size = 2;
    while (size < n)
        size = mxci_dim_mul(size, 2);
    return size;
}
/* Bytes of scratch for rows of n items. */
static inline size_t mxcu_sort_bytes(int64_t rows, int64_t n) {
    return mxci_size_of(mxci_dim_mul(rows, mxcu_sort_row(n)), sizeof(mxcu_item));
}

/* Sorts after every other item. */
#define MXCU_LAST_ITEM \
    { UINT64_MAX, INT64_MAX }

/* Queue the sort of rows of `size` items each (from mxcu_sort_row). Long rows take several launches. */
mxc_status mxcu_sort(const mxc_op_call *call, mxcu_item *items, int64_t rows, int64_t size);

#endif
