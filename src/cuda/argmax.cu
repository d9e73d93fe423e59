/* argmax, argmin, argmax_channel: a row by a team, or by a thread where the axis is not the last. */
#include "operator/argmax.h"

#include "cuda/gradient.h"

namespace {

/* Data (outer, n, inner), searched along n. A NaN beats numbers, nothing beats a NaN; of equals the first stays. */
template <class T, int least> struct search {
    using C = mxcu_compute_t<T>;
    int64_t n, inner;
    mxcu_in<T> x;
    mxcu_out<float> to;

    static MXCU_DEVICE bool beats(C a, C best) {
        return (least ? a < best : a > best) || (a != a && best == best);
    }
    struct better {
        MXCU_DEVICE C operator()(C a, C b) const {
            return beats(b, a) ? b : a;
        }
    };
    /* The place of the best of elements first, first + step, ... of a row, and that element. */
    MXCU_DEVICE int64_t find(int64_t at, int64_t first, int64_t step, C *best) const {
        int64_t place = first;
        *best = x[at + first * inner];
        for (int64_t i = first + step; i < n; i += step) {
            C v = x[at + i * inner];
            if (beats(v, *best)) {
                *best = v;
                place = i;
            }
        }
        return place;
    }
    /* A thread without an element of its own takes the first one, which changes nothing. */
    MXCU_DEVICE void by_team(int64_t row, const mxcu_team &team) const {
        C best;
        int64_t place = find(row * n, team.rank < n ? team.rank : 0, team.rank < n ? team.size : n, &best);
        C top = team.combine(best, better());
        place = team.min(best == top || (best != best && top != top) ? place : n);
        if (team.rank == 0)
            to.put(row, (float)place);
    }
    MXCU_DEVICE void alone(int64_t row) const {
        C best;
        to.put(row, (float)find(row / inner * n * inner + row % inner, 0, 1, &best));
    }
};

/* One operator: argmax or argmin, along an axis or over all elements. */
template <int least> struct searching {
    template <class T> static mxc_status run(const mxc_op_call *call, int64_t n, int64_t inner) {
        search<T, least> s = {n, inner, mxcu_data<T>(&call->in[0]), mxcu_result<float>(call, &call->out[0], 0)};
        const int64_t rows = mxcu_size(&call->out[0]);
        if (inner == 1)
            return mxcu_rows(call, rows, n, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { s.by_team(row, team); });
        return mxcu_for(call, rows, [=] MXCU_LAMBDA(int64_t row) { s.alone(row); });
    }
    static mxc_status along(const mxc_op_call *call, int64_t axis) {
        const mxc_shape *data = &call->in[0].shape;
        const int all = axis == MXC_PARAM_UNSET, at = all ? 0 : (int)(axis < 0 ? axis + data->ndim : axis);
        const int64_t n = all ? mxcu_size(&call->in[0]) : data->dim[at];
        const int64_t inner = all ? 1 : mxcu_product(data, at + 1, data->ndim);
        if (call->req[0] == MXC_REQ_NULL)
            return MXC_OK;
        MXCU_SWITCH_NUMBER(call->in[0].dtype, run, call, n, inner)
    }
    static mxc_status forward(const mxc_op_call *call) {
        return along(call, static_cast<const mxci_arg_params *>(call->params)->axis);
    }
    static mxc_status channel(const mxc_op_call *call) {
        return along(call, 1);
    }
};

} // namespace

MXCU_FORMS(argmax, {"argmax", searching<0>::forward, mxcu_zero_gradient},
           {"argmin", searching<1>::forward, mxcu_zero_gradient},
           {"argmax_channel", searching<0>::channel, mxcu_zero_gradient})
