/* SPDX-License-Identifier: Apache-2.0 */
/* _multi_lamb_update and _multi_mp_lamb_update: for each weight the direction into scratch, two reductions for the
 * norms, and the step. All of it stays on the device. */
#include "cuda/operator/reduce/reduce.h"
#include "cuda/operator/update/lamb.h"
#include "cuda/operator/update/update.h"

namespace {

struct norm : mxcu_square_sum {
    double *to;
    MXCU_DEVICE void put(int64_t, sum a) const {
        *to = sqrt(a);
    }
};

/* Scratch for a weight of n elements: its direction, its two norms, and that of the reductions. */
struct blocks {
    void *direction, *sums;
    double *norms;
};

blocks take(mxci_scratch *s, int64_t n) {
    const mxcu_reduction plan = mxcu_plan_all(n);
    blocks b;
    b.direction = mxci_scratch_array(s, n, sizeof(double));
    b.norms = static_cast<double *>(mxci_scratch_array(s, 2, sizeof(double)));
    b.sums = mxci_scratch_take(s, mxcu_reduction_bytes(&plan));
    return b;
}

size_t lamb_bytes(const mxc_op_sig *sig, mxc_pass) {
    size_t most = 0;
    for (int i = 0; i < sig->n_out; i++) {
        mxci_scratch measure = {};
        take(&measure, mxcu_product(&sig->in_shape[2 * i], 0, sig->in_shape[2 * i].ndim));
        most = measure.bytes > most ? measure.bytes : most;
    }
    return most;
}

/* Weight i, whose step is taken in S: T, or float where it has a copy. */
template <class T, class S> mxc_status step_weight(const mxc_op_call *call, int i, int has_copy) {
    const mxci_multi_lamb_params *p = static_cast<const mxci_multi_lamb_params *>(call->params);
    const int64_t n = mxcu_size(&call->in[2 * i]);
    const mxcu_reduction plan = mxcu_plan_all(n);
    const mxc_tensor *state = call->aux + (2 + has_copy) * i;
    const mxc_tensor *weight = has_copy ? &state[2] : &call->in[2 * i];
    const mxc_req write = MXC_REQ_WRITE;
    mxci_scratch scratch = {};
    mxci_update u = p->factors;
    mxc_op_call first = *call;
    scratch.base = static_cast<char *>(call->temp);
    const blocks b = take(&scratch, n);
    mxc_tensor direction = *weight;
    direction.data = b.direction;
    mxci_lamb_correct(&u, p->bias_correction, p->step_count.value[i]);
    u.wd = p->wds.value[i];
    first.in = &call->in[2 * i];
    first.n_in = 2;
    first.out = &direction;
    first.n_out = 1;
    first.aux = state;
    first.n_aux = 2 + has_copy;
    first.req = &write;
    MXC_TRY(mxcu_update_run(&first, MXCI_RULE_lamb, {&u, nullptr, nullptr, nullptr, has_copy, {}, has_copy}));
    double *norms = mxcu_pointer<double>(b.norms);
    MXC_TRY(mxcu_reduce(call, &plan, norm{{{}, mxcu_any_data(weight)}, norms}, b.sums));
    MXC_TRY(mxcu_reduce(call, &plan, norm{{{}, mxcu_any_data(&direction)}, norms + 1}, b.sums));
    return mxcu_for(call, n,
                    mxcu_lamb_second<T, S>{mxcu_pointer<const S>(weight->data),
                                           mxcu_pointer<const S>(b.direction),
                                           has_copy ? mxcu_pointer<S>(weight->data) : nullptr,
                                           {norms, MXC_F64},
                                           {norms + 1, MXC_F64},
                                           p->learning_rates.value[i],
                                           p->lower_bound,
                                           p->upper_bound,
                                           mxcu_wanted<T>(call, &call->out[i], i)});
}

template <class T> mxc_status own(const mxc_op_call *call, int i) {
    return step_weight<T, T>(call, i, 0);
}
template <class T> mxc_status copied(const mxc_op_call *call, int i) {
    return step_weight<T, mxcu_compute_t<T>>(call, i, 1);
}

mxc_status step_own(const mxc_op_call *call, int i) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, own, call, i)
}
mxc_status step_copied(const mxc_op_call *call, int i) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, copied, call, i)
}

template <mxc_status (*step)(const mxc_op_call *, int)> mxc_status forward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_out; i++)
        if (mxcu_size(&call->in[2 * i]) > 0)
            MXC_TRY(step(call, i));
    return MXC_OK;
}

} // namespace

MXCU_OP_IMPLS(multi_lamb, {"_multi_lamb_update", forward<step_own>, nullptr, lamb_bytes},
              {"_multi_mp_lamb_update", forward<step_copied>, nullptr, lamb_bytes})
