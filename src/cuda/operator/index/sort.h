/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting rows of items by unsigned keys, and of equal keys by index, in place. A row is padded to a power of two, at
 * least 2; what pads it sorts last. By Batcher's bitonic network: every step is independent of the others, whatever
 * the team's size, and short steps stay within blocks that one team sorts.
 */
#ifndef MXCI_CUDA_OPERATOR_INDEX_SORT_H
#define MXCI_CUDA_OPERATOR_INDEX_SORT_H

#include "cuda/runtime/kernel.h"

struct mxcu_item {
    uint64_t key;
    int64_t index;
};

/* What a row of n items takes. */
static inline int64_t mxcu_sort_row(int64_t n) {
    int64_t size = 2;
    while (size < n)
        size = mxci_dim_mul(size, 2);
    return size;
}
static inline size_t mxcu_sort_bytes(int64_t rows, int64_t n) {
    return mxci_size_of(mxci_dim_mul(rows, mxcu_sort_row(n)), sizeof(mxcu_item));
}

/* Sorts after every other item. */
#define MXCU_LAST_ITEM \
    { UINT64_MAX, INT64_MAX }

/* Sort rows of size (from mxcu_sort_row) items each. */
mxc_status mxcu_sort(const mxc_op_call *call, mxcu_item *items, int64_t rows, int64_t size);

#endif
