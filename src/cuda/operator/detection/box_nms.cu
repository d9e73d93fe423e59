/* SPDX-License-Identifier: Apache-2.0 */
/* box_nms: non-maximum suppression (operator/detection/box_nms.c), by a team for each group of boxes. Four launches:
 * keys, the sort, the suppression, and a thread per element of out. */
#include "cuda/operator/detection/suppress.h"
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

enum { OUTPUT, RECORD };

/* data as (groups, n, width): n boxes of width numbers in each group. The last two members are scratch. */
struct nms {
    mxci_nms_params p;
    mxci_box_rows rows;
    int64_t groups, n, width, sorted; /* sorted: items of a group */
    mxcu_item *items;                 /* (groups, sorted): candidate rows, the best first */
    int64_t *order;                   /* (groups, n): rows that are kept, then -1 */
};

static nms nms_of(const void *params, const mxc_shape *data) {
    nms s = {};
    s.p = *static_cast<const mxci_nms_params *>(params);
    s.n = data->dim[data->ndim - 2];
    s.width = data->dim[data->ndim - 1];
    s.groups = mxcu_product(data, 0, data->ndim - 2);
    s.sorted = mxcu_sort_row(s.n);
    s.rows.centred = s.p.in_format == MXCI_BOX_CENTER;
    s.rows.threshold = s.p.overlap_thresh;
    s.rows.step = s.width;
    return s;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    nms s = nms_of(sig->params, &sig->in_shape[0]);
    size_t order = mxci_size_of(mxci_dim_mul(s.groups, s.n), sizeof(int64_t));
    return pass == MXC_FORWARD ? mxci_size_add(mxcu_sort_bytes(s.groups, s.n), order) : 0;
}

/* A thread per item: candidates are boxes above valid_thresh that are not background. The key makes the highest score
 * sort first, and equal scores by index. Items of other boxes, and those that pad a group to a power of two, sort
 * last. */
template <class T> static mxc_status sort_rows(const mxc_op_call *call, nms s) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    MXC_TRY(mxcu_for(call, s.groups * s.sorted, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t i = at % s.sorted, row = (at / s.sorted * s.n + i) * s.width;
        mxcu_item item = MXCU_LAST_ITEM;
        if (i < s.n && (double)x[row + s.p.score_index] > s.p.valid_thresh &&
            (s.p.id_index < 0 || (double)x[row + s.p.id_index] != (double)s.p.background_id)) {
            item.key = mxcu_boxes<mxcu_compute_t<T>>::key(x[row + s.p.score_index], UINT64_MAX);
            item.index = i;
        }
        s.items[at] = item;
    }));
    return mxcu_sort(call, s.items, s.groups, s.sorted);
}

/* Whether one row's box of a group suppresses another's: for mxcu_suppress. */
template <class T> struct row_pairs {
    using A = mxcu_compute_t<T>;
    mxcu_in<T> x;
    mxci_box_rows rows;
    int64_t first, box, id; /* offsets: of the group in x; of box and class in a row. id -1: one class */

    MXCU_DEVICE bool suppresses(int64_t kept_row, int64_t other) const {
        const int64_t a = first + kept_row * rows.step, b = first + other * rows.step;
        A box_a[4], box_b[4], made[4];
        if (id >= 0 && x[a + id] != x[b + id])
            return false;
        mxcu_load_box(x, a + box, box_a);
        mxcu_load_box(x, b + box, box_b);
        return mxcu_boxes<A>::is_suppressed(&rows, mxcu_boxes<A>::corners(box_a, rows.centred, made), box_b);
    }
};

/* A team per group. topk limits how many candidates take part, not how many are kept. */
template <class T> static mxc_status suppress(const mxc_op_call *call, nms s) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    return mxcu_rows(call, s.groups, s.n, [=] MXCU_LAMBDA(int64_t group, mxcu_team team) {
        const int64_t first = group * s.n, most = s.p.topk > 0 && s.p.topk < s.n ? s.p.topk : s.n;
        const row_pairs<T> pairs = {
            x, s.rows, first * s.width, s.p.coord_start, s.p.force_suppress ? -1 : s.p.id_index,
        };
        const int64_t kept = mxcu_suppress(team, s.items + group * s.sorted, most, INT64_MAX, s.order + first, pairs);
        for (int64_t i = kept + team.rank; i < s.n; i += team.size)
            s.order[first + i] = -1;
    });
}

/* A thread per element of out: kept rows, the best first, converted to the other format where asked for; -1 elsewhere.
 * A thread converts the whole box for one of its numbers, which is cheaper than another launch. */
template <class T> static mxc_status put_boxes(const mxc_op_call *call, nms s) {
    using A = mxcu_compute_t<T>;
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUTPUT], OUTPUT);
    const int converts_format = s.p.in_format != s.p.out_format;
    return mxcu_for(call, mxcu_size(&call->out[OUTPUT]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = at / s.width, k = at % s.width, from = s.order[row], part = k - s.p.coord_start;
        const int64_t first = (row / s.n * s.n + from) * s.width;
        A box[4];
        if (from < 0 || !converts_format || part < 0 || part >= 4) {
            y.put(at, from < 0 ? (A)-1 : x[first + k]);
            return;
        }
        mxcu_load_box(x, first + s.p.coord_start, box);
        mxcu_boxes<A>::reform(s.rows.centred, box);
        y.put(at, box[part]);
    });
}

template <class T> static mxc_status run_nms(const mxc_op_call *call, nms s) {
    MXC_TRY(sort_rows<T>(call, s));
    MXC_TRY(suppress<T>(call, s));
    return call->req[OUTPUT] == MXC_REQ_NULL ? MXC_OK : put_boxes<T>(call, s);
}

static mxc_status run_nms_any(const mxc_op_call *call, nms s) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, run_nms, call, s)
}

static mxc_status forward(const mxc_op_call *call) {
    nms s = nms_of(call->params, &call->in[0].shape);
    if (s.groups * s.n == 0)
        return MXC_OK;
    s.items = mxcu_temp<mxcu_item>(call, 0);
    s.order = mxcu_temp<int64_t>(call, mxcu_sort_bytes(s.groups, s.n));
    MXC_TRY(run_nms_any(call, s));
    if (call->req[RECORD] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_out<int64_t> record = mxcu_result<int64_t>(call, &call->out[RECORD], RECORD);
    return mxcu_for(call, s.groups * s.n, [=] MXCU_LAMBDA(int64_t i) { record.put(i, s.order[i]); });
}

/* A thread per element of out's gradient adds it to the row that its row was copied from. Rows are distinct, so no two
 * threads write one element. */
template <class T> static mxc_status scatter_gradient(const mxc_op_call *call, nms s) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[OUTPUT]);
    mxcu_in<int64_t> record = mxcu_data<int64_t>(&call->out[RECORD]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = at / s.width, from = record[row];
        if (from >= 0 && from < s.n)
            dx.put((row / s.n * s.n + from) * s.width + at % s.width, g[at]);
    });
}

static mxc_status scatter_gradient_any(const mxc_op_call *call, nms s) {
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, scatter_gradient, call, s)
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_no_gradient(call, 0));
    return scatter_gradient_any(call, nms_of(call->params, &call->in[0].shape));
}

MXCU_OP_IMPLS(box_nms, {"_contrib_box_nms", forward, backward, temp_bytes})
