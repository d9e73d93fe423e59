/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxTarget (operator/detection/multibox_target.c): which anchors are to detect which labels. A team for each
 * image_matches gives each label its best anchor, the best pairs first, which is sequential; everything else is done by
 * a thread per anchor. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/detection/suppress.h"
#include "operator/detection/detection.h"

enum { ANCHOR, LABEL, SCORES };
enum { LOC, MASK, TARGET };

/* The role of an anchor. */
enum { IGNORED, BACKGROUND, OBJECT };

struct anchor_match {
    double overlap; /* with the label */
    int64_t label;  /* -1: none */
    int64_t kind;   /* the role */
};

/* The best anchor for a label among those not yet assigned. */
struct label_match {
    double overlap;
    int64_t anchor; /* -1: there is none */
    int64_t done;   /* it has been assigned to the label */
};

/* Sizes, and scratch: items of anchors that may be background (samples, sorted); the matches of anchors (samples,
 * anchors) and of labels (samples, labels); counts (samples, 2): labels of the image, and anchors assigned to them. */
struct targets {
    mxci_target_shape s;
    int64_t samples, sorted;
    int64_t *counts;
    anchor_match *anchors;
    label_match *labels;
    mxcu_item *items;
};

static targets targets_of(const void *params, const mxc_shape *label, const mxc_shape *scores) {
    targets t = {};
    t.s = mxci_target_shape_of(static_cast<const mxci_target_params *>(params), label, scores);
    t.samples = label->dim[0];
    t.sorted = mxcu_sort_row(t.s.anchors);
    return t;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const targets t = targets_of(sig->params, &sig->in_shape[LABEL], &sig->in_shape[SCORES]);
    const size_t matches =
        mxci_size_add(mxci_size_of(t.s.anchors, sizeof(anchor_match)), mxci_size_of(t.s.labels, sizeof(label_match)));
    const size_t images = mxci_size_of(t.samples, mxci_size_add(2 * sizeof(int64_t), matches));
    return pass == MXC_FORWARD ? mxci_size_add(images, mxcu_sort_bytes(t.samples, t.s.anchors)) : 0;
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

/* Anchors and labels, read in their compute type. */
template <class T> struct boxes {
    using A = mxcu_compute_t<T>;
    mxcu_in<T> anchors, labels;

    /* The overlap of an anchor and a label, which is counted over all images. */
    MXCU_DEVICE A overlap(const mxci_target_shape &s, int64_t anchor, int64_t label) const {
        A a[4], b[4];
        mxcu_load_box(anchors, anchor * 4, a);
        mxcu_load_box(labels, label * s.width + 1, b);
        return mxcu_boxes<A>::overlap(a, b, 0);
    }
};

template <class T> static boxes<T> boxes_of(const mxc_op_call *call) {
    return {mxcu_data<T>(&call->in[ANCHOR]), mxcu_data<T>(&call->in[LABEL])};
}

/* A thread per image: labels (class, box, ...) end at the first of class -1. */
template <class T> static mxc_status count_labels(const mxc_op_call *call, const targets &given) {
    const targets t = given;
    mxcu_in<T> labels = mxcu_data<T>(&call->in[LABEL]);
    return mxcu_for(call, t.samples, [=] MXCU_LAMBDA(int64_t sample) {
        int64_t n = 0;
        while (n < t.s.labels && labels[(sample * t.s.labels + n) * t.s.width] != -1)
            n++;
        t.counts[2 * sample] = n;
        t.counts[2 * sample + 1] = 0;
    });
}

/* A thread per anchor of each image: the label that it overlaps most, the first of equal ones. */
template <class T> static mxc_status match_anchors(const mxc_op_call *call, const targets &given) {
    const targets t = given;
    const boxes<T> from = boxes_of<T>(call);
    return mxcu_for(call, t.samples * t.s.anchors, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / t.s.anchors;
        anchor_match m = {-1, -1, IGNORED};
        for (int64_t k = 0; k < t.counts[2 * sample]; k++) {
            const double overlap = from.overlap(t.s, at - sample * t.s.anchors, sample * t.s.labels + k);
            if (overlap > m.overlap) {
                m.overlap = overlap;
                m.label = k;
            }
        }
        t.anchors[at] = m;
    });
}

/* One image's matches, as its team works on them. All functions that take the team contain barriers. */
template <class T> struct image_matches {
    targets t;
    boxes<T> from;
    int64_t sample;

    MXCU_DEVICE anchor_match *anchors() const {
        return t.anchors + sample * t.s.anchors;
    }
    MXCU_DEVICE label_match *labels() const {
        return t.labels + sample * t.s.labels;
    }
    /* The anchor, among those not yet assigned, that overlaps the label most; the first of equal ones: each thread
     * keeps its first best, and the minimum over threads that have the maximum is taken. */
    MXCU_DEVICE void match_label(mxcu_team team, int64_t label) const {
        double best = 1e-6, most;
        int64_t anchor = INT64_MAX;
        for (int64_t j = team.rank; j < t.s.anchors; j += team.size) {
            const double overlap =
                anchors()[j].kind == OBJECT ? 0 : (double)from.overlap(t.s, j, sample * t.s.labels + label);
            if (overlap > best) {
                best = overlap;
                anchor = j;
            }
        }
        most = team.max(best);
        anchor = team.min(best == most ? anchor : INT64_MAX);
        if (team.rank == 0)
            labels()[label] = {most, anchor == INT64_MAX ? -1 : anchor, 0};
    }
    /* The label without an anchor whose candidate overlaps most; -1: none is left. Every thread computes the same, from
     * memory that only changes between barriers. */
    MXCU_DEVICE int64_t best_unassigned_label(int64_t n) const {
        int64_t out = -1;
        for (int64_t k = 0; k < n; k++) {
            const label_match m = labels()[k], best = labels()[out < 0 ? k : out];
            if (!m.done && m.anchor >= 0 &&
                (out < 0 || m.overlap > best.overlap || (m.overlap == best.overlap && m.anchor < best.anchor)))
                out = k;
        }
        return out;
    }
    /* Bipartite matching: assign the best pair of a label and an anchor until labels or anchors run out. Labels whose
     * candidate was taken search again. Returns how many found an anchor. */
    MXCU_DEVICE int64_t assign_anchors(mxcu_team team, int64_t n) const {
        int64_t given = 0;
        for (int64_t k = 0; k < n; k++)
            match_label(team, k);
        team.sync();
        for (int64_t k = best_unassigned_label(n); k >= 0; k = best_unassigned_label(n), given++) {
            const label_match m = labels()[k];
            team.sync();
            if (team.rank == 0) {
                labels()[k].done = 1;
                anchors()[m.anchor] = {m.overlap, k, OBJECT};
            }
            team.sync();
            for (int64_t i = 0; i < n; i++) {
                const bool was_taken = !labels()[i].done && labels()[i].anchor == m.anchor;
                team.sync();
                if (was_taken)
                    match_label(team, i);
            }
            team.sync();
        }
        return given;
    }
    /* Anchors that overlap their best label by more than the threshold are assigned to it too. Returns how many. */
    MXCU_DEVICE int64_t match_overlapping(mxcu_team team) const {
        int64_t taken = 0;
        for (int64_t j = team.rank; j < t.s.anchors && t.s.overlap > 0; j += team.size)
            if (anchors()[j].kind != OBJECT && anchors()[j].overlap > t.s.overlap) {
                anchors()[j].kind = OBJECT;
                taken++;
            }
        return team.sum(taken);
    }
};

template <class T> static mxc_status match_labels(const mxc_op_call *call, const targets &given) {
    const targets t = given;
    const boxes<T> from = boxes_of<T>(call);
    return mxcu_rows(call, t.samples, t.s.anchors, [=] MXCU_LAMBDA(int64_t sample, mxcu_team team) {
        const image_matches<T> m = {t, from, sample};
        const int64_t n = t.counts[2 * sample];
        int64_t objects = m.assign_anchors(team, n);
        objects += n > 0 ? m.match_overlapping(team) : 0;
        if (team.rank == 0)
            t.counts[2 * sample + 1] = objects;
    });
}

/* ---- background -------------------------------------------------------------------------------------------------- */

/* Without mining, all anchors without an object are background, in images with labels. A thread per anchor. */
static mxc_status mark_background(const mxc_op_call *call, const targets &given) {
    const targets t = given;
    return mxcu_for(call, t.samples * t.s.anchors, [=] MXCU_LAMBDA(int64_t at) {
        if (t.anchors[at].kind != OBJECT && t.counts[2 * (at / t.s.anchors)] > 0)
            t.anchors[at].kind = BACKGROUND;
    });
}

/* Hard negative mining: of the anchors far from all labels, those whose background score is lowest become background,
 * mining_ratio times as many as there are objects in the image; the others are ignored. A thread per item, a sort, and
 * a thread per rank. */
template <class T> static mxc_status mine_negatives(const mxc_op_call *call, const targets &given) {
    using A = mxcu_compute_t<T>;
    const targets t = given;
    mxcu_in<T> scores = mxcu_data<T>(&call->in[SCORES]);
    MXC_TRY(mxcu_for(call, t.samples * t.sorted, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / t.sorted, j = at - sample * t.sorted, first = sample * t.s.classes * t.s.anchors;
        mxcu_item item = MXCU_LAST_ITEM;
        if (j < t.s.anchors) {
            const anchor_match m = t.anchors[sample * t.s.anchors + j];
            if (m.kind != OBJECT && m.overlap < t.s.mining_overlap) {
                item.key = mxcu_boxes<A>::key(mxcu_multibox<T>::background(&t.s, scores, first, j), 0);
                item.index = j;
            }
        }
        t.items[at] = item;
    }));
    MXC_TRY(mxcu_sort(call, t.items, t.samples, t.sorted));
    return mxcu_for(call, t.samples * t.s.anchors, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / t.s.anchors, i = at - sample * t.s.anchors;
        const int64_t anchor = t.items[sample * t.sorted + i].index;
        const double wanted = (double)t.counts[2 * sample + 1] * t.s.mining_ratio;
        if (anchor != INT64_MAX && (i < (wanted < (double)t.s.anchors ? (int64_t)wanted : t.s.anchors)))
            t.anchors[sample * t.s.anchors + anchor].kind = BACKGROUND;
    });
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* A thread per anchor: offsets to its label's box, a mask of four ones for objects, and the class, 0 for background. */
template <class T> static mxc_status put_targets(const mxc_op_call *call, const targets &given) {
    using A = mxcu_compute_t<T>;
    const targets t = given;
    const boxes<T> from = boxes_of<T>(call);
    mxcu_out<T> loc = mxcu_wanted<T>(call, &call->out[LOC], LOC), mask = mxcu_wanted<T>(call, &call->out[MASK], MASK);
    mxcu_out<T> target = mxcu_wanted<T>(call, &call->out[TARGET], TARGET);
    return mxcu_for(call, t.samples * t.s.anchors, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t sample = at / t.s.anchors;
        const anchor_match m = t.anchors[at];
        const int64_t label = (sample * t.s.labels + m.label) * t.s.width;
        A anchor[4], box[4], steps[4] = {0, 0, 0, 0};
        if (m.kind == OBJECT) {
            mxcu_load_box(from.anchors, (at - sample * t.s.anchors) * 4, anchor);
            mxcu_load_box(from.labels, label + 1, box);
            mxcu_multibox<T>::encode(&t.s, anchor, box, steps);
        }
        for (int k = 0; k < 4; k++) {
            if (loc.data)
                loc.put(at * 4 + k, steps[k]);
            if (mask.data)
                mask.put(at * 4 + k, m.kind == OBJECT);
        }
        if (target.data)
            target.put(at, m.kind == IGNORED ? (A)t.s.ignore : m.kind == OBJECT ? from.labels[label] + 1 : (A)0);
    });
}

template <class T> static mxc_status run(const mxc_op_call *call, const targets &t) {
    MXC_TRY(count_labels<T>(call, t));
    MXC_TRY(match_anchors<T>(call, t));
    MXC_TRY(match_labels<T>(call, t));
    MXC_TRY(t.s.mining_ratio > 0 ? mine_negatives<T>(call, t) : mark_background(call, t));
    return put_targets<T>(call, t);
}

static mxc_status run_any(const mxc_op_call *call, const targets &t) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, run, call, t)
}

static mxc_status forward(const mxc_op_call *call) {
    targets t = targets_of(call->params, &call->in[LABEL].shape, &call->in[SCORES].shape);
    if (t.samples * t.s.anchors == 0)
        return MXC_OK;
    t.items = mxcu_temp<mxcu_item>(call, 0);
    t.anchors = reinterpret_cast<anchor_match *>(t.items + t.samples * t.sorted);
    t.labels = reinterpret_cast<label_match *>(t.anchors + t.samples * t.s.anchors);
    t.counts = reinterpret_cast<int64_t *>(t.labels + t.samples * t.s.labels);
    return run_any(call, t);
}

MXCU_OP_IMPLS(multibox_target, {"_contrib_MultiBoxTarget", forward, mxcu_zero_gradient, temp_bytes})
