/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting the elements of a row: by unsigned keys, and equal keys by index. */
#ifndef MXCI_MATH_SORT_KERNELS_H
#define MXCI_MATH_SORT_KERNELS_H

#include "math/tile_kernels.h"

typedef struct mxci_sort_item {
    uint64_t key;
    int64_t index;
} mxci_sort_item;

/* items[i] = the key of x[i], in a compute type, and index + i. What comes first has the least key; a NaN comes last in
 * both directions, and -0 is 0. */
void mxci_sort_keys(mxc_dtype compute, int descending, int64_t n, const void *x, int64_t index, mxci_sort_item *items);
/* Bring the first k of n items to the front in order; the others are lost. Items come with rising indices. spare has
 * room for n items. At most O(n log k) steps. */
void mxci_sort_first(int64_t k, int64_t n, mxci_sort_item *items, mxci_sort_item *spare);

#endif
