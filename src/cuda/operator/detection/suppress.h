/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and anchors in their compute type, and non-maximum suppression of a sorted list of boxes by one team. */
#ifndef MXCI_CUDA_OPERATOR_DETECTION_SUPPRESS_H
#define MXCI_CUDA_OPERATOR_DETECTION_SUPPRESS_H

#include "cuda/operator/index/sort.h"
#include "math/loop.h"
#include "math/sort_key.h"
#include "operator/detection/boxes_kernels.h"
#include "operator/detection/multibox_kernels.h"

/* The functions of operator/detection/box_scalar_kernels.inc for boxes of type T. */
template <class T> struct mxcu_boxes {
#define NAME(f) f
#include "operator/detection/box_scalar_kernels.inc"
#undef NAME
    /* The key of a score; turn: as mxci_sort_key has it, UINT64_MAX where the highest comes first. */
    MXCU_DEVICE static uint64_t key(T score, uint64_t turn) {
        return sizeof score == sizeof(float) ? mxci_sort_key_f32((float)score, turn) : mxci_sort_key_f64(score, turn);
    }
};

/* The functions of operator/detection/multibox_scalar_kernels.inc for anchors of stored type S, computed in T. */
template <class S> struct mxcu_multibox {
    using T = mxcu_compute_t<S>;
    using in = const mxcu_in<S> &;
#define NAME(f) f
#include "operator/detection/multibox_scalar_kernels.inc"
#undef NAME
};

/* box = the four numbers from element `at` on. */
template <class T> MXCU_DEVICE static void mxcu_load_box(const mxcu_in<T> &x, int64_t at, mxcu_compute_t<T> *box) {
    for (int k = 0; k < 4; k++)
        box[k] = x[at + k];
}

/* Greedy non-maximum suppression of the first n of sorted items, the best first, up to the first without an index
 * (INT64_MAX). The outer loop over items is sequential and the same on all threads; each item that is kept suppresses
 * later ones for which pairs.suppresses(its index, their index) holds, the threads testing different ones: their index
 * i becomes -1 - i. order = the indices of the items kept, at most limit of them. Returns their number. The barrier
 * after each item makes the marks visible before the next item is looked at, so the result does not depend on the
 * team's size. */
template <class F>
MXCU_DEVICE static int64_t mxcu_suppress(mxcu_team team, mxcu_item *items, int64_t n, int64_t limit, int64_t *order,
                                         const F &pairs) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n && kept < limit; i++) {
        const int64_t kept_index = items[i].index;
        if (kept_index == INT64_MAX)
            break;
        if (kept_index >= 0) {
            for (int64_t j = i + 1 + team.rank; j < n && items[j].index != INT64_MAX; j += team.size)
                if (items[j].index >= 0 && pairs.suppresses(kept_index, items[j].index))
                    items[j].index = -1 - items[j].index;
            if (team.rank == 0)
                order[kept] = kept_index;
            kept++;
        }
        team.sync();
    }
    return kept;
}

/* Bytes of a number of the type that boxes of a dtype are computed in. */
static inline size_t mxcu_box_number_bytes(mxc_dtype dtype) {
    return dtype == MXC_F64 ? sizeof(double) : sizeof(float);
}

#endif
