/* SPDX-License-Identifier: Apache-2.0 */
/* Proposal and MultiProposal (operator/detection/proposal.c), image after image: boxes are decoded, sorted by their
 * scores, and one team suppresses those that overlap better ones, at most rpn_pre_nms_top_n candidates. */
#include "cuda/operator/detection/suppress.h"
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

static size_t aligned(size_t bytes) {
    return (bytes + 255) & ~(size_t)255;
}

/* The functions of operator/detection/proposal_scalar_kernels.inc for boxes of stored type S, computed in T. */
template <class S> struct proposal {
    using T = mxcu_compute_t<S>;
    using in = const mxcu_in<S> &;
#define NAME(f) f
#include "operator/detection/proposal_scalar_kernels.inc"
#undef NAME
};

enum { SCORES, STEPS, INFO };
enum { OUTPUT, SCORE };
enum { BOX = 5 }; /* box, score */

/* Sizes, and scratch: items by score (sorted); the number of boxes kept, and their indices (1 + kept); a row for each
 * box (count, BOX). */
struct proposal_plan {
    mxci_proposal_shape s;
    int64_t count, sorted, kept; /* boxes, items, and boxes kept at most */
    size_t order, rows, bytes;   /* offsets in scratch, and its size */
};

static proposal_plan proposal_plan_of(const void *params, const mxc_shape *scores, mxc_dtype dtype) {
    proposal_plan d = {};
    d.s = mxci_proposal_shape_of(static_cast<const mxci_proposal_params *>(params), scores);
    d.count = d.s.anchors * d.s.in[0] * d.s.in[1];
    d.sorted = mxcu_sort_row(d.count);
    d.kept = d.s.limit < d.count ? d.s.limit : d.count;
    d.order = mxcu_sort_bytes(1, d.count);
    d.rows = aligned(mxci_size_add(d.order, mxci_size_of(1 + d.kept, sizeof(int64_t))));
    d.bytes = mxci_size_add(d.rows, mxci_size_of(mxci_dim_mul(d.count, BOX), mxcu_box_number_bytes(dtype)));
    return d;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? proposal_plan_of(sig->params, &sig->in_shape[SCORES], sig->in_type[SCORES]).bytes : 0;
}

/* Whether one box suppresses another: for mxcu_suppress. */
template <class T> struct proposal_pairs {
    const T *rows;
    mxci_box_rows rule;

    MXCU_DEVICE bool suppresses(int64_t kept_row, int64_t other) const {
        return mxcu_boxes<T>::is_suppressed(&rule, rows + kept_row * BOX, rows + other * BOX);
    }
};

/* Of an image: decode all boxes, a thread each; sort them; suppress, by one team. */
template <class T> static mxc_status select_boxes(const mxc_op_call *call, const proposal_plan &d, int64_t image) {
    const mxci_proposal_shape s = d.s;
    const int64_t count = d.count, limit = d.kept, n = s.first < count ? s.first : count;
    mxcu_in<T> scores = mxcu_data<T>(&call->in[SCORES]), steps = mxcu_data<T>(&call->in[STEPS]);
    mxcu_in<T> info = mxcu_data<T>(&call->in[INFO]);
    steps.data += image * 4 * count;
    info.data += image * 3;
    mxcu_item *items = mxcu_temp<mxcu_item>(call, 0);
    int64_t *order = mxcu_temp<int64_t>(call, d.order);
    T *rows = mxcu_temp<T>(call, d.rows);
    proposal_pairs<T> pairs = {rows, {}};
    pairs.rule.edge = 1;
    pairs.rule.threshold = s.threshold;
    MXC_TRY(mxcu_for(call, d.sorted, [=] MXCU_LAMBDA(int64_t i) {
        mxcu_item item = MXCU_LAST_ITEM;
        if (i < count) { /* the scores of objects are behind those of background */
            proposal<T>::make_row(&s, scores, (2 * image + 1) * count, steps, info, i % s.anchors, i / s.anchors,
                                  rows + i * BOX);
            item.key = mxcu_boxes<T>::key(rows[i * BOX + 4], UINT64_MAX);
            item.index = i;
        }
        items[i] = item;
    }));
    MXC_TRY(mxcu_sort(call, items, 1, d.sorted));
    return mxcu_rows(call, 1, n, [=] MXCU_LAMBDA(int64_t, mxcu_team team) {
        const int64_t kept = mxcu_suppress(team, items, n, limit, order + 1, pairs);
        if (team.rank == 0)
            order[0] = kept;
    });
}

/* A thread per row of the image's part of out, (limit, 5). Where fewer boxes are kept, they are repeated, as in MXNet.
 */
template <class T> static mxc_status propose(const mxc_op_call *call, const proposal_plan &d, int64_t image) {
    const int64_t *order = mxcu_temp<int64_t>(call, d.order);
    const T *rows = mxcu_temp<T>(call, d.rows);
    mxcu_out<T> y = mxcu_wanted<T>(call, &call->out[OUTPUT], OUTPUT);
    mxcu_out<T> score = mxcu_wanted<T>(call, &call->out[SCORE], SCORE);
    const int64_t first = image * d.s.limit;
    MXC_TRY(select_boxes<T>(call, d, image));
    return mxcu_for(call, d.s.limit, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t kept = order[0];
        const T *row = rows + (kept ? order[1 + i % kept] : 0) * BOX;
        if (score.data)
            score.put(first + i, kept ? row[4] : 0);
        for (int k = 0; k < 5 && y.data; k++)
            y.put((first + i) * 5 + k, !k ? (T)image : kept ? row[k - 1] : 0);
    });
}

static mxc_status propose_any(const mxc_op_call *call, const proposal_plan &d, int64_t image) {
    MXCU_SWITCH_REAL(call->in[SCORES].dtype, propose, call, d, image)
}

static mxc_status forward(const mxc_op_call *call) {
    const proposal_plan d = proposal_plan_of(call->params, &call->in[SCORES].shape, call->in[SCORES].dtype);
    for (int64_t image = 0; image < call->in[SCORES].shape.dim[0]; image++)
        MXC_TRY(propose_any(call, d, image));
    return MXC_OK;
}

MXCU_OP_IMPLS(proposal, {"_contrib_Proposal", forward, mxcu_zero_gradient, temp_bytes},
              {"_contrib_MultiProposal", forward, mxcu_zero_gradient, temp_bytes})
