/* MultiBoxDetection and Proposal, as operator/detection/multibox_detection.c and proposal.c: boxes are made, sorted by
 * their scores, and a team for each image goes down them. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/detection/suppress.h"
#include "operator/detection/detection.h"

static size_t aligned(size_t bytes) {
    return (bytes + 255) & ~(size_t)255;
}

static size_t wide_bytes(mxc_dtype dtype) {
    return dtype == MXC_F64 ? sizeof(double) : sizeof(float);
}

/* Single boxes of the type S as it is computed. */
template <class S> struct proposal {
    using T = mxcu_compute_t<S>;
    using in = const mxcu_in<S> &;
#define NAME(f) f
#include "operator/detection/proposal_scalar_kernels.inc"
#undef NAME
};

/* ---- MultiBoxDetection ------------------------------------------------------------------------------------------- */

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
    d.bytes = mxci_size_add(d.rows, mxci_size_of(mxci_dim_mul(all, ROW), wide_bytes(dtype)));
    return d;
}

static size_t detection_temp(const mxc_op_sig *sig, mxc_pass pass) {
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

/* Does the row of one anchor drive out another's? */
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

static mxc_status detection_forward(const mxc_op_call *call) {
    detecting d = detecting_of(call->params, &call->in[SCORES].shape, call->in[SCORES].dtype);
    if (call->req[0] == MXC_REQ_NULL || d.samples * d.s.anchors == 0)
        return MXC_OK;
    d.by_score = mxcu_temp<mxcu_item>(call, 0);
    d.by_anchor = d.by_score + d.samples * d.sorted;
    d.order = reinterpret_cast<int64_t *>(d.by_anchor + d.samples * d.sorted);
    return detect_any(call, d);
}

/* ---- Proposal ---------------------------------------------------------------------------------------------------- */

enum { STEPS = 1, INFO };
enum { OUTPUT, SCORE };
enum { BOX = 5 }; /* box, score */

/* Scratch: items by score; how many stay, and which; a row for each box. */
struct proposing {
    mxci_proposal_shape s;
    int64_t count, sorted, kept; /* kept: at most */
    size_t order, rows, bytes;   /* where in scratch, and all */
};

static proposing proposing_of(const void *params, const mxc_shape *scores, mxc_dtype dtype) {
    proposing d = {};
    d.s = mxci_proposal_shape_of(static_cast<const mxci_proposal_params *>(params), scores);
    d.count = d.s.anchors * d.s.in[0] * d.s.in[1];
    d.sorted = mxcu_sort_row(d.count);
    d.kept = d.s.limit < d.count ? d.s.limit : d.count;
    d.order = mxcu_sort_bytes(1, d.count);
    d.rows = aligned(mxci_size_add(d.order, mxci_size_of(1 + d.kept, sizeof(int64_t))));
    d.bytes = mxci_size_add(d.rows, mxci_size_of(mxci_dim_mul(d.count, BOX), wide_bytes(dtype)));
    return d;
}

static size_t proposal_temp(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? proposing_of(sig->params, &sig->in_shape[SCORES], sig->in_type[SCORES]).bytes : 0;
}

template <class T> struct proposal_pairs {
    const T *rows;
    mxci_box_rows how;

    MXCU_DEVICE bool out(int64_t stays, int64_t other) const {
        return mxcu_boxes<T>::is_driven_out(&how, rows + stays * BOX, rows + other * BOX);
    }
};

/* Make all boxes and choose those that stay. */
template <class T> static mxc_status choose(const mxc_op_call *call, const proposing &d) {
    const mxci_proposal_shape s = d.s;
    const int64_t count = d.count, limit = d.kept, n = s.first < count ? s.first : count;
    mxcu_in<T> scores = mxcu_data<T>(&call->in[SCORES]), steps = mxcu_data<T>(&call->in[STEPS]);
    mxcu_in<T> info = mxcu_data<T>(&call->in[INFO]);
    mxcu_item *items = mxcu_temp<mxcu_item>(call, 0);
    int64_t *order = mxcu_temp<int64_t>(call, d.order);
    T *rows = mxcu_temp<T>(call, d.rows);
    proposal_pairs<T> pairs = {rows, {}};
    pairs.how.edge = 1;
    pairs.how.threshold = s.threshold;
    MXC_TRY(mxcu_for(call, d.sorted, [=] MXCU_LAMBDA(int64_t i) {
        mxcu_item item = MXCU_LAST_ITEM;
        if (i < count) { /* behind the scores of background */
            proposal<T>::make_row(&s, scores, count, steps, info, i % s.anchors, i / s.anchors, rows + i * BOX);
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

template <class T> static mxc_status propose(const mxc_op_call *call, const proposing &d) {
    const int64_t *order = mxcu_temp<int64_t>(call, d.order);
    const T *rows = mxcu_temp<T>(call, d.rows);
    mxcu_out<T> y = mxcu_wanted<T>(call, &call->out[OUTPUT], OUTPUT);
    mxcu_out<T> score = mxcu_wanted<T>(call, &call->out[SCORE], SCORE);
    MXC_TRY(choose<T>(call, d));
    return mxcu_for(call, d.s.limit, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t kept = order[0];
        const T *row = rows + (kept ? order[1 + i % kept] : 0) * BOX;
        if (score.data)
            score.put(i, kept ? row[4] : 0);
        for (int k = 0; k < 5 && y.data; k++)
            y.put(i * 5 + k, kept && k ? row[k - 1] : 0);
    });
}

static mxc_status propose_any(const mxc_op_call *call, const proposing &d) {
    MXCU_SWITCH_REAL(call->in[SCORES].dtype, propose, call, d)
}

static mxc_status proposal_forward(const mxc_op_call *call) {
    return propose_any(call, proposing_of(call->params, &call->in[SCORES].shape, call->in[SCORES].dtype));
}

MXCU_OP_IMPLS(detection, {"_contrib_MultiBoxDetection", detection_forward, mxcu_zero_gradient, detection_temp},
              {"_contrib_Proposal", proposal_forward, mxcu_zero_gradient, proposal_temp})
