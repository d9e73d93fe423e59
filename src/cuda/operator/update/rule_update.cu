/* SPDX-License-Identifier: Apache-2.0 */
/* _multi_update: any rule, for several weights; and those of adamw under MXNet's names. The sums of squares for trust
 * ratios are reductions in float64 (reduce.h), two launches per weight, and stay on the device. */
#include "cuda/operator/reduce/reduce.h"
#include "cuda/operator/update/update.h"

namespace {
/* The sum of unit^2 (factor a + b)^2, with factor multiplied by *late; b without data: 0. */
struct square_sum : mxcu_sum {
    mxcu_any a, b;
    double factor, unit;
    const float *late; /* or NULL */
    double *to;
    MXCU_DEVICE sum step(sum s, int64_t i) const {
        double x = factor * (late ? (double)*late : 1) * a.as<double>(i) + (b.data ? b.as<double>(i) : 0);
        return s + x * x;
    }
    MXCU_DEVICE void put(int64_t, sum s) const {
        *to = unit * unit * s;
    }
};
} // namespace

enum { SQUARES_BYTES = 2 * MXC_FLOATS_MAX * sizeof(double) }; /* of scratch, before the reductions' own */

static mxc_status sum_squares(const mxc_op_call *call, const float *rescale) {
    const mxci_rule_params *m = static_cast<const mxci_rule_params *>(call->params);
    const int is_lars = m->rule == MXCI_RULE_lars, states = is_lars ? 1 : 2, each = states + m->multi_precision;
    double *squares = mxcu_temp<double>(call, 0);
    for (int i = 0; i < call->n_out; i++) {
        const mxc_tensor *state = call->aux + each * i;
        const double user = m->factors.rescale_grad, scale = m->scales.n > 0 ? m->scales.value[i] : 1;
        mxcu_reduction plan = mxcu_plan_all(mxcu_size(&call->in[2 * i]));
        square_sum weight = {{},
                             mxcu_any_data(m->multi_precision ? &state[states] : &call->in[2 * i]),
                             {},
                             1,
                             1,
                             nullptr,
                             squares + 2 * i};
        square_sum grad = {{},
                           mxcu_any_data(&call->in[2 * i + 1]),
                           {},
                           user,
                           is_lars ? 1 : scale / user,
                           rescale,
                           squares + 2 * i + 1};
        if (!is_lars)
            grad.b = mxcu_any_data(&state[1]);
        MXC_TRY(mxcu_reduce(call, &plan, weight, mxcu_temp<char>(call, SQUARES_BYTES)));
        MXC_TRY(mxcu_reduce(call, &plan, grad, mxcu_temp<char>(call, SQUARES_BYTES)));
    }
    return MXC_OK;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    size_t most = 0;
    if (!static_cast<const mxci_rule_params *>(sig->params)->trust_ratio)
        return 0;
    for (int i = 0; i < sig->n_out; i++) {
        mxcu_reduction plan = mxcu_plan_all(mxcu_product(&sig->in_shape[2 * i], 0, sig->in_shape[2 * i].ndim));
        size_t bytes = mxcu_reduction_bytes(&plan);
        most = bytes > most ? bytes : most;
    }
    return mxci_size_add(SQUARES_BYTES, most);
}

static mxc_status forward(const mxc_op_call *call) {
    const mxci_rule_params *m = static_cast<const mxci_rule_params *>(call->params);
    mxcu_update_plan p = {&m->factors, &m->lrs, &m->wds, &m->etas, m->multi_precision, {}, 0};
    p.late.scales = &m->scales;
    if (m->scaled)
        p.late.rescale = mxcu_pointer<const float>(call->aux[call->n_aux - 1].data);
    if (m->trust_ratio) {
        MXC_TRY(sum_squares(call, p.late.rescale));
        p.late.squares = mxcu_temp<double>(call, 0);
        p.late.trust_epsilon = m->factors.epsilon;
        p.late.is_lars = m->rule == MXCI_RULE_lars;
    }
    return mxcu_update_run(call, (mxci_rule)m->rule, p);
}

MXCU_OP_IMPLS(rule_update, {"_multi_update", forward, nullptr, temp_bytes}, {"_multi_adamw_update", forward},
              {"_multi_mp_adamw_update", forward})
