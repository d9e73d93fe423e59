/* SPDX-License-Identifier: Apache-2.0 */
/* lamb_update_phase1, lamb_update_phase2 and those with float32 copies. Bias corrections are computed on the host; the
 * norms of phase 2 are arrays, read by the kernel. */
#include "cuda/operator/update/lamb.h"
#include "cuda/operator/update/update.h"

template <int has_copy> static mxc_status lamb_phase1(const mxc_op_call *call) {
    const mxci_lamb1_params *p = static_cast<const mxci_lamb1_params *>(call->params);
    mxci_update u = p->factors;
    mxci_lamb_correct(&u, p->bias_correction, (double)p->t);
    return mxcu_update_run(call, MXCI_RULE_lamb, {&u, nullptr, nullptr, nullptr, has_copy, {}, has_copy});
}

static mxc_status lamb_phase2(const mxc_op_call *call) {
    const mxci_lamb2_params *p = static_cast<const mxci_lamb2_params *>(call->params);
    mxci_update u = {};
    u.lr = p->lr;
    u.rescale_grad = 1;
    u.clip_gradient = -1;
    return mxcu_update_run(call, MXCI_RULE_sgd,
                           {&u,
                            nullptr,
                            nullptr,
                            nullptr,
                            0,
                            {nullptr, mxcu_any_data(&call->in[2]), mxcu_any_data(&call->in[3]), p->lower_bound,
                             p->upper_bound, nullptr, 0, 0, nullptr, nullptr, nullptr},
                            0});
}

template <class T> static mxc_status copied_phase2(const mxc_op_call *call) {
    const mxci_lamb2_params *p = static_cast<const mxci_lamb2_params *>(call->params);
    float *copy = mxcu_pointer<float>(call->aux[0].data);
    return mxcu_for(call, mxcu_size(&call->in[0]),
                    mxcu_lamb_second<T, float>{copy, mxcu_pointer<const float>(call->in[1].data), copy,
                                               mxcu_any_data(&call->in[2]), mxcu_any_data(&call->in[3]), p->lr,
                                               p->lower_bound, p->upper_bound, mxcu_wanted<T>(call, &call->out[0], 0)});
}

#define CASES_COPIED(fn, ...)                    \
    MXCU_CASE(MXC_F32, float, fn, __VA_ARGS__)   \
    MXCU_CASE(MXC_F16, mxc_f16, fn, __VA_ARGS__) \
    MXCU_CASE(MXC_BF16, mxc_bf16, fn, __VA_ARGS__)

static mxc_status mp_lamb_phase2(const mxc_op_call *call){
    MXCU_SWITCH(CASES_COPIED, call->in[0].dtype, copied_phase2, call)}

MXCU_OP_IMPLS(lamb, {"lamb_update_phase1", lamb_phase1<0>}, {"lamb_update_phase2", lamb_phase2},
              {"mp_lamb_update_phase1", lamb_phase1<1>}, {"mp_lamb_update_phase2", mp_lamb_phase2})
