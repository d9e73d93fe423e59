/*
 * Optimizer steps: every rule of update.def, of one weight or of several by one kernel, with f32 copies of 16-bit
 * weights where the operator keeps them; multi_sum_sq and clip_global_norm.
 */
#include "operator/update/update.h"

#include <cmath>

#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"
#include "math/loop.h"

/* ---- the rules --------------------------------------------------------------------------------------------------- */

#define BODY "operator/update/update_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

namespace {

#define RULE(name, n)                                                                         \
    struct name##_rule {                                                                      \
        enum { states = n };                                                                  \
        static MXCU_DEVICE float next(const factors_f32 *f, float w, float g, float *s) {     \
            return name##_f32(f, w, g, s);                                                    \
        }                                                                                     \
        static MXCU_DEVICE double next(const factors_f64 *f, double w, double g, double *s) { \
            return name##_f64(f, w, g, s);                                                    \
        }                                                                                     \
    };
#include "operator/update/update_kernels.def"
#undef RULE

template <class C> struct factors {
    using type = factors_f32;
    static type of(const mxci_update *u) {
        return factors_of_f32(u);
    }
};
template <> struct factors<double> {
    using type = factors_f64;
    static type of(const mxci_update *u) {
        return factors_of_f64(u);
    }
};

/* What is known on the device only. */
struct late {
    const float *rescale;            /* or NULL; multiplies rescale_grad: no step where it is 0 or not finite */
    mxcu_any r1, r2;                 /* lamb's second phase, where r1 has data: norms whose quotient multiplies lr, */
    double lower_bound, upper_bound; /* r1 kept within these where they are not negative */
};

/* One weight of a run. Its type is T, that of the array that takes the step and of the states S: T, or what T is
 * computed in where there is a copy. */
template <class T, class S> struct weight_step {
    mxcu_in<T> grad;
    const S *weight;
    S *copy; /* or NULL */
    S *state[MXCI_UPDATE_STATES];
    mxcu_out<T> out; /* no data: not wanted */
    mxcu_compute_t<S> lr, wd, decay, eta;
    int64_t end; /* its elements and those of the weights before */
};

template <class T, class S, class Rule> struct steps {
    using C = mxcu_compute_t<S>;
    typename factors<C>::type f;
    weight_step<T, S> weight[MXC_TUPLE_MAX];
    late l;

    /* The factors of a weight; 0: no step. */
    MXCU_DEVICE int complete(const weight_step<T, S> &w, typename factors<C>::type *own) const {
        own->lr = w.lr;
        own->wd = w.wd;
        own->decay = w.decay;
        own->eta = w.eta;
        if (l.rescale) {
            own->rescale *= (C)*l.rescale;
            return *l.rescale - *l.rescale == 0 && *l.rescale != 0;
        }
        if (l.r1.data) {
            double r1 = l.r1.as<double>(0), r2 = l.r2.as<double>(0);
            r1 = l.lower_bound >= 0 && r1 < l.lower_bound ? l.lower_bound : r1;
            r1 = l.upper_bound >= 0 && r1 > l.upper_bound ? l.upper_bound : r1;
            own->lr = r1 == 0 || r2 == 0 ? w.lr : (C)(w.lr * r1 / r2);
        }
        return 1;
    }
    /* Element i of all weights, one behind the other. */
    MXCU_DEVICE void operator()(int64_t i) const {
        int k = 0;
        while (i >= weight[k].end)
            k++;
        const weight_step<T, S> &w = weight[k];
        typename factors<C>::type own = f;
        i -= k ? weight[k - 1].end : 0;
        C s[MXCI_UPDATE_STATES], next = mxcu_widen<S>(w.weight[i]);
        if (complete(w, &own)) {
            for (int j = 0; j < Rule::states; j++)
                s[j] = mxcu_widen<S>(w.state[j][i]);
            next = Rule::next(&own, next, (C)w.grad[i], s);
            for (int j = 0; j < Rule::states; j++)
                w.state[j][i] = mxcu_narrow<S>(s[j]);
        }
        if (w.copy)
            w.copy[i] = mxcu_narrow<S>(next);
        if (w.out.data)
            w.out.put(i, (mxcu_compute_t<T>)next);
    }
};

} // namespace

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* Weight i of a call, whose auxiliary states are n for each weight, the last one its copy where S is not T's own. */
template <class T, class S, class Rule>
static weight_step<T, S> weight_of(const mxc_op_call *call, int i, int has_copy, double lr, double wd, double eta) {
    const mxc_tensor *state = call->aux + (Rule::states + has_copy) * i;
    weight_step<T, S> w = {
        mxcu_data<T>(&call->in[2 * i + 1]),
        nullptr,
        nullptr,
        {},
        mxcu_result<T>(call, &call->out[i], i),
        (mxcu_compute_t<S>)lr,
        (mxcu_compute_t<S>)wd,
        (mxcu_compute_t<S>)(lr * wd),
        (mxcu_compute_t<S>)eta,
        mxcu_size(&call->in[2 * i]),
    };
    for (int j = 0; j < Rule::states; j++)
        w.state[j] = mxcu_pointer<S>(state[j].data);
    if (has_copy)
        w.copy = mxcu_pointer<S>(state[Rule::states].data);
    w.weight = has_copy ? w.copy : mxcu_pointer<S>(call->in[2 * i].data);
    if (call->req[i] == MXC_REQ_NULL)
        w.out.data = nullptr;
    return w;
}

namespace {
/* What the operators differ in. lrs, wds and etas: of several weights, else NULL. */
struct plan {
    const mxci_update *factors;
    const mxc_floats *lrs, *wds, *etas;
    int has_copy;
    late l;
};
} // namespace

template <class T, class S, class Rule> static mxc_status run_steps(const mxc_op_call *call, const plan &p) {
    steps<T, S, Rule> all;
    all.f = factors<mxcu_compute_t<S>>::of(p.factors);
    all.l = p.l;
    for (int i = 0; i < call->n_out; i++) {
        all.weight[i] =
            weight_of<T, S, Rule>(call, i, p.has_copy, p.lrs ? p.lrs->value[i] : p.factors->lr,
                                  p.wds ? p.wds->value[i] : p.factors->wd, p.etas ? p.etas->value[i] : p.factors->eta);
        all.weight[i].end += i ? all.weight[i - 1].end : 0;
    }
    return mxcu_for(call, all.weight[call->n_out - 1].end, all);
}

template <class Rule> struct ruled {
    template <class T> static mxc_status own(const mxc_op_call *call, const plan &p) {
        return run_steps<T, T, Rule>(call, p);
    }
    template <class T> static mxc_status copied(const mxc_op_call *call, const plan &p) {
        return run_steps<T, mxcu_compute_t<T>, Rule>(call, p);
    }
    static mxc_status run(const mxc_op_call *call, const plan &p) {
        MXCU_SWITCH_FLOAT(call->in[0].dtype, own, call, p)
    }
    static mxc_status run_copied(const mxc_op_call *call, const plan &p) {
        MXCU_SWITCH_FLOAT(call->in[0].dtype, copied, call, p)
    }
    /* The operators whose parameters are the factors. */
    static mxc_status forward(const mxc_op_call *call) {
        return run(call, {static_cast<const mxci_update *>(call->params), nullptr, nullptr, nullptr, 0, {}});
    }
    static mxc_status forward_copied(const mxc_op_call *call) {
        return run_copied(call, {static_cast<const mxci_update *>(call->params), nullptr, nullptr, nullptr, 1, {}});
    }
    /* Those of several weights. */
    static mxc_status forward_many(const mxc_op_call *call) {
        const mxci_multi_params *m = static_cast<const mxci_multi_params *>(call->params);
        return run(call, {&m->factors, &m->lrs, &m->wds, nullptr, 0, {}});
    }
    static mxc_status forward_many_copied(const mxc_op_call *call) {
        const mxci_multi_params *m = static_cast<const mxci_multi_params *>(call->params);
        return run_copied(call, {&m->factors, &m->lrs, &m->wds, nullptr, 1, {}});
    }
};

/* Any rule, by _multi_update. */
static mxc_status multi_update(const mxc_op_call *call) {
    const mxci_rule_params *m = static_cast<const mxci_rule_params *>(call->params);
    plan p = {&m->factors, &m->lrs, &m->wds, &m->etas, m->multi_precision, {}};
    if (m->scaled)
        p.l.rescale = mxcu_pointer<const float>(call->aux[call->n_aux - 1].data);
    switch (m->rule) {
#define RULE(name, n)      \
    case MXCI_RULE_##name: \
        return p.has_copy ? ruled<name##_rule>::run_copied(call, p) : ruled<name##_rule>::run(call, p);
#include "operator/update/update_kernels.def"
#undef RULE
    default:
        return MXC_FAIL(MXC_EINVAL, "_multi_update: no rule %d", (int)m->rule);
    }
}

static mxc_status adamw(const mxc_op_call *call) {
    mxci_update u = *static_cast<const mxci_update *>(call->params);
    u.rescale_grad = 1;
    plan p = {&u, nullptr, nullptr, nullptr, 0, {}};
    p.l.rescale = mxcu_pointer<const float>(call->aux[2].data);
    return ruled<adamw_rule>::run(call, p);
}

static mxc_status lamb_phase1(const mxc_op_call *call) {
    const mxci_lamb1_params *p = static_cast<const mxci_lamb1_params *>(call->params);
    mxci_update u = p->factors;
    u.mean_scale = p->bias_correction ? 1 / (1 - std::pow(u.beta1, (double)p->t)) : 1;
    u.var_scale = p->bias_correction ? 1 / (1 - std::pow(u.beta2, (double)p->t)) : 1;
    return ruled<lamb_rule>::run(call, {&u, nullptr, nullptr, nullptr, 0, {}});
}

static mxc_status lamb_phase2(const mxc_op_call *call) {
    const mxci_lamb2_params *p = static_cast<const mxci_lamb2_params *>(call->params);
    mxci_update u = {};
    u.lr = p->lr;
    u.rescale_grad = 1;
    u.clip_gradient = -1;
    return ruled<sgd_rule>::run(
        call, {&u,
               nullptr,
               nullptr,
               nullptr,
               0,
               {nullptr, mxcu_any_data(&call->in[2]), mxcu_any_data(&call->in[3]), p->lower_bound, p->upper_bound}});
}

/* ---- the global norm --------------------------------------------------------------------------------------------- */

namespace {
struct square_sum : mxcu_sum {
    mxcu_any x;
    mxcu_out<float> to;
    int64_t at;
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        double v = x.as<double>(i);
        return a + v * v;
    }
    MXCU_DEVICE void put(int64_t, sum a) const {
        to.put(at, (float)a);
    }
};
} // namespace

static mxc_status sum_squares(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in && call->req[0] != MXC_REQ_NULL; i++) {
        mxcu_reduction plan = mxcu_plan_all(mxcu_size(&call->in[i]));
        square_sum r = {{}, mxcu_any_data(&call->in[i]), mxcu_result<float>(call, &call->out[0], 0), i};
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

/* The factor first, in scratch. */
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

MXCU_OP_IMPLS(update, {"sgd_update", ruled<sgd_rule>::forward}, {"sgd_mom_update", ruled<sgd_mom_rule>::forward},
              {"nag_mom_update", ruled<nag_mom_rule>::forward}, {"signsgd_update", ruled<signsgd_rule>::forward},
              {"signum_update", ruled<signum_rule>::forward}, {"adam_update", ruled<adam_rule>::forward},
              {"_adamw_update", adamw}, {"lamb_update_phase1", lamb_phase1}, {"lamb_update_phase2", lamb_phase2},
              {"rmsprop_update", ruled<rmsprop_rule>::forward},
              {"rmspropalex_update", ruled<rmspropalex_rule>::forward}, {"ftrl_update", ruled<ftrl_rule>::forward},
              {"mp_sgd_update", ruled<sgd_rule>::forward_copied},
              {"mp_sgd_mom_update", ruled<sgd_mom_rule>::forward_copied},
              {"multi_sgd_update", ruled<sgd_rule>::forward_many},
              {"multi_sgd_mom_update", ruled<sgd_mom_rule>::forward_many},
              {"multi_mp_sgd_update", ruled<sgd_rule>::forward_many_copied},
              {"multi_mp_sgd_mom_update", ruled<sgd_mom_rule>::forward_many_copied}, {"_multi_update", multi_update},
              {"multi_sum_sq", sum_squares, nullptr, squares_temp}, {"clip_global_norm", clip_norm, nullptr, clip_temp})
