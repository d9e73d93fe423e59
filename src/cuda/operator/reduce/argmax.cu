/* SPDX-License-Identifier: Apache-2.0 */
/* argmax, argmin, argmax_channel. A row is searched by a team; by several teams, in two launches, where there are few
 * long rows; or by a thread where the axis is not the last. The first of equal elements wins in each case, so results
 * do not depend on how a row is split. */
#include "operator/reduce/argmax.h"

#include <algorithm>

#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"

namespace {

/* Data (outer, n, inner), searched along n for the greatest element (least 0) or the least (1). A NaN precedes all
 * numbers; of equal elements the first is taken. */
template <class T, int least> struct search {
    using C = mxcu_compute_t<T>;
    int64_t n, inner;
    mxcu_in<T> x;
    mxcu_out<T> to;

    static MXCU_DEVICE bool beats(C a, C best) {
        return (least ? a < best : a > best) || (a != a && best == best);
    }
    struct along { /* element i of a row */
        mxcu_in<T> x;
        int64_t first, step;
        MXCU_DEVICE C operator()(int64_t i) const {
            return x[first + i * step];
        }
    };
    struct named { /* the element of a row that places[i] names */
        mxcu_in<T> x;
        int64_t first;
        const int64_t *places;
        MXCU_DEVICE C operator()(int64_t i) const {
            return x[first + places[i]];
        }
    };
    struct better {
        MXCU_DEVICE C operator()(C a, C b) const {
            return beats(b, a) ? b : a;
        }
    };
    /* One thread's search: the first of at(first), at(first + step), ... below at(end) that no other beats, and that
     * element. */
    template <class At> static MXCU_DEVICE int64_t find(int64_t first, int64_t end, int64_t step, At at, C *best) {
        int64_t place = first;
        *best = at(first);
        for (int64_t i = first + step; i < end; i += step) {
            C v = at(i);
            if (beats(v, *best)) {
                *best = v;
                place = i;
            }
        }
        return place;
    }
    /* The position of the best element of at(begin) to at(end - 1): each thread's best, the best of the team, and the
     * smallest position among threads that have it. A thread without an element of its own takes the first one, which
     * changes nothing. */
    template <class At> static MXCU_DEVICE int64_t by_team(int64_t begin, int64_t end, const mxcu_team &team, At at) {
        const int has_own = begin + team.rank < end;
        C best;
        int64_t place = find(has_own ? begin + team.rank : begin, end, has_own ? team.size : end - begin, at, &best);
        C top = team.combine(best, better());
        return team.min(best == top || (best != best && top != top) ? place : end);
    }
    MXCU_DEVICE void row_by_team(int64_t row, const mxcu_team &team) const {
        const int64_t place = by_team(0, n, team, along{x, row * n, 1});
        if (team.rank == 0)
            to.put(row, (C)place);
    }
    MXCU_DEVICE void alone(int64_t row) const {
        C best;
        to.put(row, (C)find(0, n, 1, along{x, row / inner * n * inner + row % inner, inner}, &best));
    }
    /* First launch for a split row: a team finds the position of the best in its chunk. */
    MXCU_DEVICE void chunk_by_team(int64_t row, int64_t chunk, int64_t chunks, int64_t *places,
                                   const mxcu_team &team) const {
        const int64_t place = by_team(n * chunk / chunks, n * (chunk + 1) / chunks, team, along{x, row * n, 1});
        if (team.rank == 0)
            places[row * chunks + chunk] = place;
    }
    /* Second launch: a team compares the chunks' candidates. */
    MXCU_DEVICE void places_by_team(int64_t row, int64_t chunks, const int64_t *places, const mxcu_team &team) const {
        places += row * chunks;
        const int64_t which = by_team(0, chunks, team, named{x, row * n, places});
        if (team.rank == 0)
            to.put(row, (C)places[which]);
    }
};

/* Rows (rows, n), or columns of (n, inner), and into how many chunks, each by a team, a row is cut. */
struct sizes {
    int64_t rows, n, inner, chunks;
};

/* Rows are split where they are fewer than the teams that occupy a GPU; into how many chunks depends on shapes only. */
sizes sizes_of(const mxc_shape *data, int64_t axis) {
    const int all = axis == MXC_PARAM_UNSET, at = all ? 0 : (int)(axis < 0 ? axis + data->ndim : axis);
    const int64_t size = mxcu_product(data, 0, data->ndim), n = all ? size : data->dim[at];
    sizes s = {n ? size / n : 0, n, all ? 1 : mxcu_product(data, at + 1, data->ndim), 1};
    if (s.inner == 1 && s.rows > 0 && s.rows < MXCU_REDUCE_TEAMS)
        s.chunks = std::min<int64_t>(1 + n / MXCU_REDUCE_ROW, MXCU_REDUCE_TEAMS / s.rows);
    return s;
}

int64_t axis_of(const void *params) {
    return static_cast<const mxci_arg_params *>(params)->axis;
}

size_t temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    const sizes s = sizes_of(&sig->in_shape[0], axis_of(sig->params));
    return s.chunks > 1 ? mxci_size_of(mxci_dim_mul(s.rows, s.chunks), sizeof(int64_t)) : 0;
}

size_t channel_temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    const sizes s = sizes_of(&sig->in_shape[0], 1);
    return s.chunks > 1 ? mxci_size_of(mxci_dim_mul(s.rows, s.chunks), sizeof(int64_t)) : 0;
}

/* One operator: argmax or argmin, along an axis or over all elements. */
template <int least> struct searching {
    template <class T> static mxc_status by_chunks(const mxc_op_call *call, const search<T, least> &s, sizes z) {
        const int64_t chunks = z.chunks;
        int64_t *places = mxcu_temp<int64_t>(call, 0);
        MXC_TRY(mxcu_rows(call, z.rows * chunks, z.n / chunks, [=] MXCU_LAMBDA(int64_t i, mxcu_team team) {
            s.chunk_by_team(i / chunks, i % chunks, chunks, places, team);
        }));
        return mxcu_rows(call, z.rows, chunks,
                         [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { s.places_by_team(row, chunks, places, team); });
    }
    template <class T> static mxc_status run(const mxc_op_call *call, sizes z) {
        search<T, least> s = {z.n, z.inner, mxcu_data<T>(&call->in[0]), mxcu_result<T>(call, &call->out[0], 0)};
        if (z.chunks > 1)
            return by_chunks(call, s, z);
        if (z.inner == 1)
            return mxcu_rows(call, z.rows, z.n,
                             [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { s.row_by_team(row, team); });
        return mxcu_for(call, z.rows, [=] MXCU_LAMBDA(int64_t row) { s.alone(row); });
    }
    static mxc_status along(const mxc_op_call *call, int64_t axis) {
        const sizes z = sizes_of(&call->in[0].shape, axis);
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_NUMBER(call->in[0].dtype, run, call, z)
    }
    static mxc_status forward(const mxc_op_call *call) {
        return along(call, axis_of(call->params));
    }
    static mxc_status channel(const mxc_op_call *call) {
        return along(call, 1);
    }
};

} // namespace

MXCU_OP_IMPLS(argmax, {"argmax", searching<0>::forward, mxcu_zero_gradient, temp_bytes},
              {"argmin", searching<1>::forward, mxcu_zero_gradient, temp_bytes},
              {"argmax_channel", searching<0>::channel, mxcu_zero_gradient, channel_temp_bytes})
