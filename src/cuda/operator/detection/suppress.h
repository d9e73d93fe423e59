/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and anchors in their compute type, and non-maximum suppression of a sorted list of boxes. */
#ifndef MXCI_CUDA_OPERATOR_DETECTION_SUPPRESS_H
#define MXCI_CUDA_OPERATOR_DETECTION_SUPPRESS_H

#include "cuda/operator/index/sort.h"
#include "math/loop.h"
#include "math/sort_key.h"
#include "operator/detection/boxes_kernels.h"
#include "operator/detection/multibox_kernels.h"

/* Boxes of the type that they are computed in. */
template <class T> struct mxcu_boxes {
#define NAME(f) f
#include "operator/detection/box_scalar_kernels.inc"
#undef NAME
    /* The key of a score; turn: as mxci_order_key has it, UINT64_MAX where the highest comes first. */
    MXCU_DEVICE static uint64_t key(T score, uint64_t turn) {
        return sizeof score == sizeof(float) ? mxci_order_key_f32((float)score, turn) : mxci_order_key_f64(score, turn);
    }
};

/* Single anchors of the type S as it is computed. */
template <class S> struct mxcu_multibox {
    using T = mxcu_compute_t<S>;
    using in = const mxcu_in<S> &;
#define NAME(f) f
#include "operator/detection/multibox_scalar_kernels.inc"
#undef NAME
};

template <class T> MXCU_DEVICE static void mxcu_load_box(const mxcu_in<T> &x, int64_t at, mxcu_compute_t<T> *box) {
    for (int k = 0; k < 4; k++)
        box[k] = x[at + k];
}

/* Non-maximum suppression of the first n of sorted items, up to the first without an index (INT64_MAX). Each item that
 * is kept suppresses later ones for which drive.out(its index, other index) holds, by all threads at once: their index
 * i becomes -1 - i. order = the indices of the items kept, at most limit of them. Returns their number. */
template <class F>
MXCU_DEVICE static int64_t mxcu_suppress(mxcu_team team, mxcu_item *items, int64_t n, int64_t limit, int64_t *order,
                                         const F &drive) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n && kept < limit; i++) {
        const int64_t stays = items[i].index;
        if (stays == INT64_MAX)
            break;
        if (stays >= 0) {
            for (int64_t j = i + 1 + team.rank; j < n && items[j].index != INT64_MAX; j += team.size)
                if (items[j].index >= 0 && drive.out(stays, items[j].index))
                    items[j].index = -1 - items[j].index;
            if (team.rank == 0)
                order[kept] = stays;
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
