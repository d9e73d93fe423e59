/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxDetection, as operator/detection/multibox_detection.c: boxes are decoded, sorted by their scores, and a team
 * for each image suppresses those that overlap better ones. */
#include "cuda/operator/detection/suppress.h"
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

enum { SCORES, LOC, ANCHORS };
enum { ROW = 6 }; /* class, score, box */

/* Scratch: each image's items by score, and in order of anchors; indices that stay; a row for each anchor. */
struct detecting {
    mxci_detection_shape s;
    int64_t samples, sorted;
    int suppresses;
    mxcu_item *by_score, *by_anchor;
    int64_t *order;
    size_t rows, bytes; /* where rows are, and all */
};

static detecting detecting_of(const void *params, const mxc_shape *scores, mxc_dtype dtype) {
    detecting d = {};
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
    return pass == MXC_FORWARD ? detecting_of(sig->params, &sig->in_shape[SCORES], sig->in_type[SCORES]).bytes : 0;
}

/* The row of every anchor, and its items, which have no index where it found nothing. */
template <class T> static mxc_status make_rows(const mxc_op_call *call, const detecting &given) {
    using A = mxcu_compute_t<T>;
    const detecting d = given;
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

/* Whether the row of one anchor suppresses another's. */
template <class A> struct detection_pairs {
    const A *rows;
    mxci_box_rows how;
    int force;

    MXCU_DEVICE bool out(int64_t stays, int64_t other) const {
        const A *a = rows + stays * ROW, *b = rows + other * ROW;
        return (force || a[0] == b[0]) && mxcu_boxes<A>::is_driven_out(&how, a + 2, b + 2);
    }
};

template <class T> static mxc_status suppress(const mxc_op_call *call, const detecting &given) {
    using A = mxcu_compute_t<T>;
    const detecting d = given;
    const A *rows = mxcu_temp<A>(call, d.rows);
    const int64_t n = d.s.limit < d.s.anchors ? d.s.limit : d.s.anchors;
    mxci_box_rows how = {};
    how.threshold = d.s.overlap;
    how.closed = 1;
    return mxcu_rows(call, d.samples, n, [=] MXCU_LAMBDA(int64_t sample, mxcu_team team) {
        const int64_t first = sample * d.s.anchors;
        const detection_pairs<A> pairs = {rows + first * ROW, how, d.s.force};
        mxcu_suppress(team, d.by_score + sample * d.sorted, n, n, d.order + first, pairs);
    });
}

/* Row i of an image: of the first, the best ones; behind them in order of anchors, without a class. */
template <class T> static mxc_status put_rows(const mxc_op_call *call, const detecting &given) {
    using A = mxcu_compute_t<T>;
    const detecting d = given;
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

template <class T> static mxc_status detect(const mxc_op_call *call, const detecting &d) {
    MXC_TRY(make_rows<T>(call, d));
    if (!d.suppresses || d.s.limit < d.s.anchors)
        MXC_TRY(mxcu_sort(call, d.by_anchor, d.samples, d.sorted));
    if (d.suppresses) {
        MXC_TRY(mxcu_sort(call, d.by_score, d.samples, d.sorted));
        MXC_TRY(suppress<T>(call, d));
    }
    return put_rows<T>(call, d);
}

static mxc_status detect_any(const mxc_op_call *call, const detecting &d) {
    MXCU_SWITCH_FLOAT(call->in[SCORES].dtype, detect, call, d)
}

static mxc_status forward(const mxc_op_call *call) {
    detecting d = detecting_of(call->params, &call->in[SCORES].shape, call->in[SCORES].dtype);
    if (call->req[0] == MXC_REQ_NULL || d.samples * d.s.anchors == 0)
        return MXC_OK;
    d.by_score = mxcu_temp<mxcu_item>(call, 0);
    d.by_anchor = d.by_score + d.samples * d.sorted;
    d.order = reinterpret_cast<int64_t *>(d.by_anchor + d.samples * d.sorted);
    return detect_any(call, d);
}

MXCU_OP_IMPLS(multibox_detection, {"_contrib_MultiBoxDetection", forward, mxcu_zero_gradient, temp_bytes})
