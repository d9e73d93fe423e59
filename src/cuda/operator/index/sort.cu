/* SPDX-License-Identifier: Apache-2.0 */
/* The bitonic network of index/sort.h: for each size of sorted runs, 2, 4, ... up to the row, steps of distance size /
 * 2, size / 4, ... 1. */
#include "cuda/operator/index/sort.h"

static constexpr int64_t BLOCK = 2048; /* items that one team sorts */

/* Compare-exchange number i of a step: the i-th pair of items at that distance. Runs of `size` are sorted alternately
 * up and down, so that two neighbours form a bitonic sequence for the next size; the last run, the row, is sorted
 * up. */
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

/* The steps of run sizes `from` to `to` whose distance is below BLOCK: a team per block of items, with a barrier after
 * each step. Items stay in global memory, where a block's 32 KiB are served by the L1 cache. */
static mxc_status sort_blocks(const mxc_op_call *call, mxcu_item *items, int64_t n, int64_t row, int64_t from,
                              int64_t to) {
    const int64_t block = row < BLOCK ? row : BLOCK;
    return mxcu_rows(call, n / block, block / 2, [=] MXCU_LAMBDA(int64_t p, mxcu_team team) {
        for (int64_t size = from; size <= to; size *= 2)
            for (int64_t distance = (size < block ? size : block) / 2; distance > 0; distance /= 2) {
                for (int64_t i = team.rank; i < block / 2; i += team.size)
                    compare(items, p * block / 2 + i, distance, size, row);
                team.sync();
            }
    });
}

/* One launch sorts all blocks; then, for each larger run, one launch per step of a distance of BLOCK or more (a thread
 * per pair), and one for the steps within blocks. */
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
