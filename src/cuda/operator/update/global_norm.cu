/* SPDX-License-Identifier: Apache-2.0 */
/* multi_sum_sq and clip_global_norm. Sums are reductions in float64 (reduce.h), one launch per array; the factor of
 * clipping stays on the device. */
#include "cuda/operator/reduce/reduce.h"
#include "operator/update/update.h"

namespace {
struct square_sum : mxcu_square_sum {
    mxcu_out<float> to;
    int64_t at;
    MXCU_DEVICE void put(int64_t, sum a) const {
        to.put(at, (float)a);
    }
};
} // namespace

static mxc_status sum_squares(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in && call->req[0] != MXC_REQ_NULL; i++) {
        mxcu_reduction plan = mxcu_plan_all(mxcu_size(&call->in[i]));
        square_sum r = {{{}, mxcu_any_data(&call->in[i])}, mxcu_result<float>(call, &call->out[0], 0), i};
        MXC_TRY(mxcu_reduce(call, &plan, r, call->temp));
    }
    return MXC_OK;
}

static size_t squares_temp(const mxc_op_sig *sig, mxc_pass) {
    size_t most = 0;
    for (int i = 0; i < sig->n_in; i++) {
        mxcu_reduction plan = mxcu_plan_all(mxcu_product(&sig->in_shape[i], 0, sig->in_shape[i].ndim));
        size_t bytes = mxcu_reduction_bytes(&plan);
        most = bytes > most ? bytes : most;
    }
    return most;
}

template <class T> static mxc_status scale(const mxc_op_call *call, const double *factor) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]),
                    [=] MXCU_LAMBDA(int64_t i) { y.put(i, (mxcu_compute_t<T>)(*factor * (double)x[i])); });
}

/* One team computes the factor from the sums of squares, into scratch; then a thread per element scales. */
static mxc_status clip_norm(const mxc_op_call *call) {
    const double most = static_cast<const mxci_clip_norm_params *>(call->params)->max_norm;
    const int64_t n = mxcu_size(&call->in[1]);
    mxcu_in<float> sums = mxcu_data<float>(&call->in[1]);
    double *factor = mxcu_temp<double>(call, 0);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_rows(call, 1, n, [=] MXCU_LAMBDA(int64_t, mxcu_team team) {
        double sum = 0, ratio;
        for (int64_t i = team.rank; i < n; i += team.size)
            sum += (double)sums[i];
        ratio = most / (sqrt(team.sum(sum)) + 1e-8);
        if (team.rank == 0)
            *factor = ratio > 1 ? 1 : ratio; /* NaN stays */
    }));
    MXCU_SWITCH_FLOAT(call->out[0].dtype, scale, call, factor)
}

static size_t clip_temp(const mxc_op_sig *, mxc_pass) {
    return sizeof(double);
}

MXCU_OP_IMPLS(global_norm, {"multi_sum_sq", sum_squares, nullptr, squares_temp},
              {"clip_global_norm", clip_norm, nullptr, clip_temp})
