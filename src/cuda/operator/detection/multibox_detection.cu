/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxDetection (operator/detection/multibox_detection.c): boxes are decoded, sorted by their scores, and a team
 * for each image suppresses those that overlap better ones of their class. */
#include "cuda/operator/detection/suppress.h"
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

enum { SCORES, LOC, ANCHORS };
enum { ROW = 6 }; /* class, score, box */

/* Sizes, and scratch in this order: each image's items by score (samples, sorted), and in the order of anchors
 * (samples, sorted); indices that are kept (samples, anchors); a decoded row for each anchor (samples, anchors, ROW) in
 * the compute type. */
struct detection_plan {
    mxci_detection_shape s;
    int64_t samples, sorted;
    int suppresses;
    mxcu_item *by_score, *by_anchor;
    int64_t *order;
    size_t rows, bytes; /* offset of the rows; bytes of scratch */
};

static detection_plan detection_plan_of(const void *params, const mxc_shape *scores, mxc_dtype dtype) {
    detection_plan d = {};
    d.s = mxci_detection_shape_of(static_cast<const mxci_detection_params *>(params), scores);
    d.samples = scores->dim[0];
    d.sorted = mxcu_sort_row(d.s.anchors);
    d.suppresses = d.s.overlap > 0 && d.s.overlap <= 1;
    const int64_t all = mxci_dim_mul(d.samples, d.s.anchors);
    d.rows =
        mxci_size_add(mxci_size_mul(2, mxcu_sort_bytes(d.samples, d.s.anchors)), mxci_size_of(all, sizeof(int64_t)));
    d.bytes = mxci_size_add(d.rows, mxci_size_of(mxci_dim_mul(all, ROW), mxcu_box_number_bytes(dtype)));
    return d;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? detection_plan_of(sig->params, &sig->in_shape[SCORES], sig->in_type[SCORES]).bytes : 0;
}

/* A thread per anchor of each image: its best class, the decoded box, and its items. Items of anchors without a class,
 * and those that pad an image to a power of two, sort last and have no index. */
template <class T> static mxc_status decode_rows(const mxc_op_call *call, const detection_plan &given) {
    using A = mxcu_compute_t<T>;
    const detection_plan d = given;
    mxcu_in<T> scores = mxcu_data<T>(&call->in[SCORES]), loc = mxcu_data<T>(&call->in[LOC]);
    mxcu_in<T> anchors = mxcu_data<T>(&call->in[ANCHORS]);
    A *rows = mxcu_temp<A>(call, d.rows);
    return mxcu_for(call, d.samples * d.sorted, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / d.sorted, j = at - sample * d.sorted, anchor = sample * d.s.anchors + j;
        mxcu_item item = MXCU_LAST_ITEM;
        A box[4], steps[4], score;
        const int64_t found =
            j < d.s.anchors ? mxcu_multibox<T>::find_class(&d.s, scores, sample * d.s.classes * d.s.anchors, j, &score)
                            : 0;
        if (found > 0) {
            item.key = 0;
            item.index = j;
        }
        d.by_anchor[at] = item;
        if (found > 0) {
            item.key = mxcu_boxes<A>::key(score, UINT64_MAX);
            mxcu_load_box(anchors, j * 4, box);
            mxcu_load_box(loc, anchor * 4, steps);
            rows[anchor * ROW] = (A)(found - 1);
            rows[anchor * ROW + 1] = score;
            mxcu_multibox<T>::decode(&d.s, box, steps, rows + anchor * ROW + 2);
        }
        d.by_score[at] = item;
    });
}

/* Whether the row of one anchor suppresses another's: for mxcu_suppress. */
template <class A> struct detection_pairs {
    const A *rows;
    mxci_box_rows rule;
    int force;

    MXCU_DEVICE bool suppresses(int64_t kept_row, int64_t other) const {
        const A *a = rows + kept_row * ROW, *b = rows + other * ROW;
        return (force || a[0] == b[0]) && mxcu_boxes<A>::is_suppressed(&rule, a + 2, b + 2);
    }
};

template <class T> static mxc_status suppress(const mxc_op_call *call, const detection_plan &given) {
    using A = mxcu_compute_t<T>;
    const detection_plan d = given;
    const A *rows = mxcu_temp<A>(call, d.rows);
    const int64_t n = d.s.limit < d.s.anchors ? d.s.limit : d.s.anchors;
    mxci_box_rows rule = {};
    rule.threshold = d.s.overlap;
    rule.closed = 1;
    return mxcu_rows(call, d.samples, n, [=] MXCU_LAMBDA(int64_t sample, mxcu_team team) {
        const int64_t first = sample * d.s.anchors;
        const detection_pairs<A> pairs = {rows + first * ROW, rule, d.s.force};
        mxcu_suppress(team, d.by_score + sample * d.sorted, n, n, d.order + first, pairs);
    });
}

/* A thread per row of out. With suppression the first `best` rows are the candidates, the best first, with class -1
 * where they were suppressed; rows behind them list the anchors that found a class in the order of anchors, without it.
 * Without suppression all rows are such a list, with classes. The rest is -1. */
template <class T> static mxc_status put_detections(const mxc_op_call *call, const detection_plan &given) {
    using A = mxcu_compute_t<T>;
    const detection_plan d = given;
    const A *rows = mxcu_temp<A>(call, d.rows);
    const int64_t best = !d.suppresses ? 0 : d.s.limit < d.s.anchors ? d.s.limit : d.s.anchors;
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, d.samples * d.s.anchors, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / d.s.anchors, i = at - sample * d.s.anchors;
        const int64_t index = (i < best ? d.by_score : d.by_anchor)[sample * d.sorted + i].index;
        const int64_t anchor = index == INT64_MAX ? 0 : index < 0 ? -1 - index : index;
        const bool is_classless = index < 0 || (d.suppresses && i >= best);
        for (int k = 0; k < ROW; k++)
            y.put(at * ROW + k, index == INT64_MAX || (k == 0 && is_classless)
                                    ? (A)-1
                                    : rows[(sample * d.s.anchors + anchor) * ROW + k]);
    });
}

/* The order of anchors is needed only where out shows anchors that were no candidates. */
template <class T> static mxc_status detect(const mxc_op_call *call, const detection_plan &d) {
    MXC_TRY(decode_rows<T>(call, d));
    if (!d.suppresses || d.s.limit < d.s.anchors)
        MXC_TRY(mxcu_sort(call, d.by_anchor, d.samples, d.sorted));
    if (d.suppresses) {
        MXC_TRY(mxcu_sort(call, d.by_score, d.samples, d.sorted));
        MXC_TRY(suppress<T>(call, d));
    }
    return put_detections<T>(call, d);
}

static mxc_status detect_any(const mxc_op_call *call, const detection_plan &d) {
    MXCU_SWITCH_FLOAT(call->in[SCORES].dtype, detect, call, d)
}

static mxc_status forward(const mxc_op_call *call) {
    detection_plan d = detection_plan_of(call->params, &call->in[SCORES].shape, call->in[SCORES].dtype);
    if (call->req[0] == MXC_REQ_NULL || d.samples * d.s.anchors == 0)
        return MXC_OK;
    d.by_score = mxcu_temp<mxcu_item>(call, 0);
    d.by_anchor = d.by_score + d.samples * d.sorted;
    d.order = reinterpret_cast<int64_t *>(d.by_anchor + d.samples * d.sorted);
    return detect_any(call, d);
}

MXCU_OP_IMPLS(multibox_detection, {"_contrib_MultiBoxDetection", forward, mxcu_zero_gradient, temp_bytes})
