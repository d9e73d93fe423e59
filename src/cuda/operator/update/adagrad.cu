/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_group_adagrad_update: a team per row of the weight. */
#include "cuda/runtime/kernel.h"
#include "operator/update/update.h"

namespace {

template <class T> mxc_status step(const mxc_op_call *call) {
    const mxci_update u = *static_cast<const mxci_update *>(call->params);
    const int64_t rows = call->in[0].shape.dim[0], width = mxcu_size(&call->in[0]) / rows;
    const double lr = u.lr, epsilon = u.epsilon;
    mxcu_in<T> weight = mxcu_data<T>(&call->in[0]), grad = mxcu_data<T>(&call->in[1]);
    mxcu_out<T> out = mxcu_wanted<T>(call, &call->out[0], 0);
    T *history = mxcu_pointer<T>(call->aux[0].data);
    return mxcu_rows(call, rows, width, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        double sum = 0;
        const double before = (double)mxcu_widen<T>(history[row]);
        for (int64_t i = team.rank; i < width; i += team.size) {
            const double g = mxci_update_gradient(&u, (double)grad[row * width + i]);
            sum += g * g;
        }
        const double after = before + team.sum(sum) / (double)width, rate = lr / sqrt(after + epsilon);
        if (team.rank == 0)
            history[row] = mxcu_narrow<T>((mxcu_compute_t<T>)after);
        for (int64_t i = row * width + team.rank; out.data && i < (row + 1) * width; i += team.size)
            out.put(i, (mxcu_compute_t<T>)((double)weight[i] - rate * mxci_update_gradient(&u, (double)grad[i])));
    });
}

mxc_status group_adagrad(const mxc_op_call *call) {
    if (mxcu_size(&call->in[0]) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, step, call)
}

} // namespace

MXCU_OP_IMPLS(adagrad, {"_contrib_group_adagrad_update", group_adagrad})
