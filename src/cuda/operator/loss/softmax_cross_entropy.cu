/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_cross_entropy: the sum of -log softmax(data)[label] over the rows of a batch. A team per row computes the
 * row's loss into scratch, float64; then a reduction (reduce.h). */
#include "cuda/operator/reduce/reduce.h"
#include "cuda/runtime/gradient.h"
#include "cuda/runtime/math.h"

enum { DATA, LABEL };

namespace {
/* Row number `row` of data (n, k), by a team: its maximum, and the sum of exp(x - maximum). Labels outside the classes
 * are clipped. */
template <class T> struct entropy {
    using C = mxcu_compute_t<T>;
    mxcu_in<T> x;
    mxcu_any label;
    int64_t k;
    MXCU_DEVICE int64_t target(int64_t row) const {
        int64_t c = label.as<int64_t>(row);
        return c < 0 ? 0 : c >= k ? k - 1 : c;
    }
    MXCU_DEVICE C most(int64_t row, const mxcu_team &team) const {
        C m = -INFINITY;
        for (int64_t i = team.rank; i < k; i += team.size)
            m = x[row * k + i] > m || x[row * k + i] != x[row * k + i] ? x[row * k + i] : m;
        return team.max(m);
    }
    MXCU_DEVICE C sum(int64_t row, C most, const mxcu_team &team) const {
        C s = 0;
        for (int64_t i = team.rank; i < k; i += team.size)
            s += mxcu_exp(x[row * k + i] - most);
        return team.sum(s);
    }
};

struct row_losses {
    const double *loss;
    MXCU_DEVICE double operator()(int64_t i) const {
        return loss[i];
    }
};
} // namespace

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t n = sig->in_shape[DATA].dim[0];
    mxcu_reduction plan = mxcu_plan_all(n);
    return pass == MXC_FORWARD ? mxci_size_add(mxci_size_of(n, sizeof(double)), mxcu_reduction_bytes(&plan)) : 0;
}

template <class T> static entropy<T> entropy_of(const mxc_op_call *call) {
    return {mxcu_data<T>(&call->in[DATA]), mxcu_any_data(&call->in[LABEL]), call->in[DATA].shape.dim[1]};
}

/* loss[row] = log(sum) - (x[target] - maximum), then the sum over rows. */
template <class T> static mxc_status entropy_sum(const mxc_op_call *call) {
    const int64_t n = call->in[DATA].shape.dim[0];
    const entropy<T> e = entropy_of<T>(call);
    double *loss = mxcu_temp<double>(call, 0);
    mxcu_reduction plan = mxcu_plan_all(n);
    MXC_TRY(mxcu_rows(call, n, e.k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        mxcu_compute_t<T> most = e.most(row, team), sum = e.sum(row, most, team);
        if (team.rank == 0)
            loss[row] = log((double)sum) - (double)(e.x[row * e.k + e.target(row)] - most);
    }));
    return mxcu_reduce(call, &plan, mxcu_summing<T, row_losses>{{loss}, mxcu_result<T>(call, &call->out[0], 0)},
                       static_cast<char *>(call->temp) + (size_t)n * sizeof(double));
}

/* A team per row: softmax minus one-hot, times out's gradient. */
template <class T> static mxc_status entropy_gradient(const mxc_op_call *call) {
    const entropy<T> e = entropy_of<T>(call);
    mxcu_in<T> dy = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_rows(call, call->in[DATA].shape.dim[0], e.k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        using C = mxcu_compute_t<T>;
        const C most = e.most(row, team), factor = 1 / e.sum(row, most, team), g = dy[0];
        const int64_t target = e.target(row);
        for (int64_t i = team.rank; i < e.k; i += team.size)
            dx.put(row * e.k + i, g * (mxcu_exp(e.x[row * e.k + i] - most) * factor - (C)(i == target)));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, entropy_sum, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[DATA].dtype, entropy_gradient, call)
}

MXCU_OP_IMPLS(softmax_cross_entropy, {"softmax_cross_entropy", forward, backward, temp_bytes})
