/* SPDX-License-Identifier: Apache-2.0 */
/* The step of every rule of update_kernels.def (update/update.h). One launch for up to 16 weights of a call: a thread
 * per element of the weights, one behind the other, so that the many small weights of a model do not cost a launch
 * each. The arithmetic is the CPU's C source (operator/update/update_kernels.inc). */
#include "cuda/operator/update/update.h"

#include "math/loop.h"

/* ---- the rules --------------------------------------------------------------------------------------------------- */

#define BODY "operator/update/update_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

namespace {

/* A rule of update_kernels.def as a type, so that each has a kernel of its own, for float and for double. */
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

/* Weights of a launch, whose pointers and factors must fit a kernel's arguments (4 KiB). */
enum { MOST_WEIGHTS = 16 };

/* One weight of a run. Its type is T, that of the array that takes the step and of the states S: T, or what T is
 * computed in where there is a copy. */
template <class T, class S> struct weight_step {
    mxcu_in<T> grad;
    const S *weight;
    S *copy;        /* or NULL; takes the step */
    bool copy_adds; /* the step is added to what is there */
    S *state[MXCI_UPDATE_STATES];
    mxcu_out<T> out; /* no data: not wanted */
    mxcu_compute_t<S> lr, wd, decay, eta, scale;
    int64_t end; /* its elements and those of the weights before */
};

/* The kernel's argument: the factors and pointers of all weights by value. */
template <class T, class S, class Rule> struct steps {
    using C = mxcu_compute_t<S>;
    typename factors<C>::type f;
    weight_step<T, S> weight[MOST_WEIGHTS];
    mxcu_update_late l;

    /* The factors of weight k, with what only the device knows; returns 0: no step (the rescale factor is 0 or not
     * finite). */
    MXCU_DEVICE int complete(int k, typename factors<C>::type *own) const {
        const weight_step<T, S> &w = weight[k];
        own->lr = w.lr;
        own->wd = w.wd;
        own->decay = w.decay;
        own->eta = w.eta;
        if (l.lrs) {
            own->lr = (C)l.lrs[k];
            own->wd = (C)l.wds[k];
            own->decay = (C)((double)l.lrs[k] * l.wds[k]);
        }
        own->scale = w.scale;
        if (l.squares)
            own->eta *= (C)mxci_trust_ratio(l.is_lars, (double)w.scale, (double)w.wd, l.trust_epsilon, l.squares[2 * k],
                                            l.squares[2 * k + 1]);
        if (l.rescale) {
            own->rescale *= (C)*l.rescale;
            return *l.rescale - *l.rescale == 0 && *l.rescale != 0;
        }
        if (l.r1.data) {
            double ratio = mxci_lamb_ratio(l.r1.as<double>(0), l.r2.as<double>(0), l.lower_bound, l.upper_bound);
            own->lr = (C)(w.lr * ratio);
        }
        return 1;
    }
    /* Element i of all weights, counted through. The weight is found by a linear search, since there are few. */
    MXCU_DEVICE void operator()(int64_t i) const {
        int k = 0;
        while (i >= weight[k].end)
            k++;
        const weight_step<T, S> &w = weight[k];
        typename factors<C>::type own = f;
        i -= k ? weight[k - 1].end : 0;
        C s[MXCI_UPDATE_STATES], next = mxcu_widen<S>(w.weight[i]);
        if (complete(k, &own)) {
            for (int j = 0; j < Rule::states; j++)
                s[j] = mxcu_widen<S>(w.state[j][i]);
            next = Rule::next(&own, next, (C)w.grad[i], s);
            for (int j = 0; j < Rule::states; j++)
                w.state[j][i] = mxcu_narrow<S>(s[j]);
        }
        if (w.copy)
            w.copy[i] = mxcu_narrow<S>(w.copy_adds ? mxcu_widen<S>(w.copy[i]) + next : next);
        if (w.out.data)
            w.out.put(i, (mxcu_compute_t<T>)next);
    }
};

} // namespace

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* Weight i of a call, whose auxiliary states are n for each weight, the last one its copy where S is not T's own. */
template <class T, class S, class Rule>
static weight_step<T, S> weight_of(const mxc_op_call *call, int i, int has_copy, double lr, double wd, double eta,
                                   double scale) {
    const mxc_tensor *state = call->aux + (Rule::states + has_copy) * i;
    weight_step<T, S> w = {
        mxcu_data<T>(&call->in[2 * i + 1]),
        nullptr,
        nullptr,
        false,
        {},
        mxcu_result<T>(call, &call->out[i], i),
        (mxcu_compute_t<S>)lr,
        (mxcu_compute_t<S>)wd,
        (mxcu_compute_t<S>)(lr * wd),
        (mxcu_compute_t<S>)eta,
        (mxcu_compute_t<S>)scale,
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

/* Weights first..first+n-1 of a call are counted through: weight k of them has elements end[k - 1] to end[k] - 1 of the
 * launch. */
template <class T, class S, class Rule>
static mxc_status run_some(const mxc_op_call *call, const mxcu_update_plan &p, int first, int n) {
    steps<T, S, Rule> all;
    all.f = factors<mxcu_compute_t<S>>::of(p.factors);
    all.l = p.late;
    if (p.late.lrs) {
        all.l.lrs += first;
        all.l.wds += first;
    }
    if (p.late.squares)
        all.l.squares += 2 * first;
    for (int k = 0; k < n; k++) {
        const int i = first + k;
        all.weight[k] =
            weight_of<T, S, Rule>(call, i, p.has_copy, p.lrs ? p.lrs->value[i] : p.factors->lr,
                                  p.wds ? p.wds->value[i] : p.factors->wd, p.etas ? p.etas->value[i] : p.factors->eta,
                                  p.late.scales && p.late.scales->n > 0 ? p.late.scales->value[i] : 1);
        all.weight[k].end += k ? all.weight[k - 1].end : 0;
    }
    if (p.keeps_copy) {
        all.weight[0].copy = call->req[0] == MXC_REQ_NULL ? nullptr : mxcu_pointer<S>(call->out[0].data);
        all.weight[0].copy_adds = call->req[0] == MXC_REQ_ADD;
        all.weight[0].out.data = nullptr;
    }
    return mxcu_for(call, all.weight[n - 1].end, all);
}

template <class T, class S, class Rule>
static mxc_status run_steps(const mxc_op_call *call, const mxcu_update_plan &p) {
    for (int first = 0; first < call->n_out; first += MOST_WEIGHTS)
        MXC_TRY((run_some<T, S, Rule>(call, p, first,
                                      call->n_out - first < MOST_WEIGHTS ? call->n_out - first : MOST_WEIGHTS)));
    return MXC_OK;
}

/* own: the weight takes the step; copied: its float32 master copy does, and the weight is the copy rounded. */
template <class Rule> struct ruled {
    template <class T> static mxc_status own(const mxc_op_call *call, const mxcu_update_plan &p) {
        return run_steps<T, T, Rule>(call, p);
    }
    template <class T> static mxc_status copied(const mxc_op_call *call, const mxcu_update_plan &p) {
        return run_steps<T, mxcu_compute_t<T>, Rule>(call, p);
    }
    static mxc_status run(const mxc_op_call *call, const mxcu_update_plan &p) {
        if (p.has_copy)
            MXCU_SWITCH_FLOAT(call->in[0].dtype, copied, call, p)
        MXCU_SWITCH_FLOAT(call->in[0].dtype, own, call, p)
    }
};

mxc_status mxcu_update_run(const mxc_op_call *call, mxci_rule rule, const mxcu_update_plan &p) {
    switch (rule) {
#define RULE(name, n)      \
    case MXCI_RULE_##name: \
        return ruled<name##_rule>::run(call, p);
#include "operator/update/update_kernels.def"
#undef RULE
    default:
        return MXC_FAIL(MXC_EINVAL, "GPU: no update rule %d", (int)rule);
    }
}
