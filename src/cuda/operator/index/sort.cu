/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by a bitonic network: for each size of sorted runs, steps of falling distance. */
#include "cuda/operator/index/sort.h"

static constexpr int64_t BLOCK = 2048; /* items that one team sorts */

/* Compare item number i of those that have a partner at a distance; runs of the size are sorted alternately up and
 * down, all up in the end. */
MXCU_DEVICE static void compare(mxcu_item *items, int64_t i, int64_t distance, int64_t size, int64_t row) {
    const int64_t low = 2 * distance * (i / distance) + i % distance, high = low + distance;
    const bool up = size == row || (low / size) % 2 == 0;
    const mxcu_item a = items[low], b = items[high];
    const bool is_after = a.key != b.key ? a.key > b.key : a.index > b.index;
    if (is_after == up) {
        items[low] = b;
        items[high] = a;
    }
}

/* Steps of runs of the sizes from to to, of distances within such a block. */
static mxc_status sort_blocks(const mxc_op_call *call, mxcu_item *items, int64_t n, int64_t row, int64_t from,
                              int64_t to) {
    const int64_t piece = row < BLOCK ? row : BLOCK;
    return mxcu_rows(call, n / piece, piece / 2, [=] MXCU_LAMBDA(int64_t p, mxcu_team team) {
        for (int64_t size = from; size <= to; size *= 2)
            for (int64_t distance = (size < piece ? size : piece) / 2; distance > 0; distance /= 2) {
                for (int64_t i = team.rank; i < piece / 2; i += team.size)
                    compare(items, p * piece / 2 + i, distance, size, row);
                team.sync();
            }
    });
}

mxc_status mxcu_sort(const mxc_op_call *call, mxcu_item *items, int64_t rows, int64_t row) {
    const int64_t n = rows * row;
    MXC_TRY(sort_blocks(call, items, n, row, 2, row < BLOCK ? row : BLOCK));
    for (int64_t size = 2 * BLOCK; size <= row; size *= 2) {
        for (int64_t distance = size / 2; distance >= BLOCK; distance /= 2)
            MXC_TRY(mxcu_for(call, n / 2, [=] MXCU_LAMBDA(int64_t i) { compare(items, i, distance, size, row); }));
        MXC_TRY(sort_blocks(call, items, n, row, size, size));
    }
    return MXC_OK;
}
