/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family update as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_UPDATE_HPP
#define MXC_OPERATORS_UPDATE_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** d = clip(rescale_grad grad); mean = beta1 mean + (1 - beta1) d; var = beta2 var + (1 - beta2) d^2; out = weight -
 * eta (lr mean / (sqrt(var) + epsilon) + wd weight); nothing changes where rescale_grad is 0 or not finite */
struct adamw_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, required. Factor of the whole step, weight decay included. */
    required<double> eta;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-8. Added to the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "_adamw_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wd", wd, 0.0);
        visitor("eta", eta);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 7, text_bytes = 231; /* room for visit */
};
inline ndarray adamw_update(const ndarray &weight, const ndarray &grad, const ndarray &mean, const ndarray &var,
    const ndarray &rescale_grad, const adamw_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mean, &var, &rescale_grad});
}
inline void adamw_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mean, const ndarray &var,
    const ndarray &rescale_grad, const adamw_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mean, &var, &rescale_grad});
}
inline symbol adamw_update(const symbol &weight, const symbol &grad, const symbol &mean, const symbol &var,
    const symbol &rescale_grad, const adamw_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mean", "var", "rescale_grad"}, {&weight, &grad, &mean,
        &var, &rescale_grad});
}

/** g = clip(rescale_grad grad); history += the mean of g^2 over a row; out = weight - lr g / sqrt(history + epsilon);
 * weight and grad (rows,...), history (rows,1,...) */
struct contrib_group_adagrad_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** float, optional, default=1e-5. Added under the square root, for stability. */
    double epsilon = 1e-5;
    static constexpr const char *op = "_contrib_group_adagrad_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("epsilon", epsilon, 1e-5);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline ndarray contrib_group_adagrad_update(const ndarray &weight, const ndarray &grad, const ndarray &history,
    const contrib_group_adagrad_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &history});
}
inline void contrib_group_adagrad_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &history,
    const contrib_group_adagrad_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &history});
}
inline symbol contrib_group_adagrad_update(const symbol &weight, const symbol &grad, const symbol &history,
    const contrib_group_adagrad_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "history"}, {&weight, &grad, &history});
}

/** _adamw_update of weight32, the float32 copy of a 16-bit weight; out = weight32 in weight's dtype */
struct mp_adamw_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, required. Factor of the whole step, weight decay included. */
    required<double> eta;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-8. Added to the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "_mp_adamw_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wd", wd, 0.0);
        visitor("eta", eta);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 7, text_bytes = 231; /* room for visit */
};
inline ndarray mp_adamw_update(const ndarray &weight, const ndarray &grad, const ndarray &mean, const ndarray &var,
    const ndarray &weight32, const ndarray &rescale_grad, const mp_adamw_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mean, &var, &weight32, &rescale_grad});
}
inline void mp_adamw_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mean,
    const ndarray &var, const ndarray &weight32, const ndarray &rescale_grad,
    const mp_adamw_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mean, &var, &weight32, &rescale_grad});
}
inline symbol mp_adamw_update(const symbol &weight, const symbol &grad, const symbol &mean, const symbol &var,
    const symbol &weight32, const symbol &rescale_grad, const mp_adamw_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mean", "var", "weight32", "rescale_grad"}, {&weight, &grad,
        &mean, &var, &weight32, &rescale_grad});
}

/** _adamw_update of num_weights weights, each with its own entry of lrs, wds and etas. The states of a weight are mean
 * and var; behind all weights comes rescale_grad, float32 of one element, as a state */
struct multi_adamw_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> lrs;
    /** tuple of float, required. Weight decay of each weight. */
    required<floats> wds;
    /** tuple of float, required. Factor of the whole step of each weight, weight decay included. */
    required<floats> etas;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-8. Added to the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    static constexpr const char *op = "_multi_adamw_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lrs", lrs);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wds", wds);
        visitor("etas", etas);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
    }
    static constexpr size_t count = 8, text_bytes = 6510; /* room for visit */
};
inline results multi_adamw_update(span<const ndarray> data, const multi_adamw_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_adamw_update(into out, span<const ndarray> data, const multi_adamw_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_adamw_update(span<const symbol> data, const multi_adamw_update_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** lamb_update_phase1, the norms of weight and direction, and lamb_update_phase2, of num_tensors weights, each with its
 * own entry of learning_rates, wds and step_count */
struct multi_lamb_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> learning_rates;
    /** tuple of float, required. Weight decay of each weight: wd times the weight is added to the step. */
    required<floats> wds;
    /** tuple of float, required. Number of this update of each weight, counted from 1; whole numbers. */
    required<floats> step_count;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-6. Added to the square root, for stability. */
    double epsilon = 1e-6;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Lower bound of the norm of a weight. Negative: none. */
    double lower_bound = -1.0;
    /** float, optional, default=-1.0. Upper bound of the norm of a weight. Negative: none. */
    double upper_bound = -1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=true. Correct the moving means for their initialization with 0. */
    bool bias_correction = true;
    /** int, optional, default=1. Number of weights. */
    int64_t num_tensors = 1;
    static constexpr const char *op = "_multi_lamb_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("learning_rates", learning_rates);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-6);
        visitor("wds", wds);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("lower_bound", lower_bound, -1.0);
        visitor("upper_bound", upper_bound, -1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("bias_correction", bias_correction, true);
        visitor("step_count", step_count);
        visitor("num_tensors", num_tensors, 1);
    }
    static constexpr size_t count = 12, text_bytes = 6609; /* room for visit */
};
inline results multi_lamb_update(span<const ndarray> data, const multi_lamb_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_lamb_update(into out, span<const ndarray> data, const multi_lamb_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_lamb_update(span<const symbol> data, const multi_lamb_update_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** _mp_adamw_update of num_weights weights, each with its own entry of lrs, wds and etas. The states of a weight are
 * mean, var and weight32; behind all weights comes rescale_grad, float32 of one element, as a state */
struct multi_mp_adamw_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> lrs;
    /** tuple of float, required. Weight decay of each weight. */
    required<floats> wds;
    /** tuple of float, required. Factor of the whole step of each weight, weight decay included. */
    required<floats> etas;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-8. Added to the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    static constexpr const char *op = "_multi_mp_adamw_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lrs", lrs);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wds", wds);
        visitor("etas", etas);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
    }
    static constexpr size_t count = 8, text_bytes = 6510; /* room for visit */
};
inline results multi_mp_adamw_update(span<const ndarray> data, const multi_mp_adamw_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_mp_adamw_update(into out, span<const ndarray> data, const multi_mp_adamw_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_mp_adamw_update(span<const symbol> data, const multi_mp_adamw_update_settings &settings,
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** _multi_lamb_update of weights with float32 copies, which take the steps; each output is its copy in the weight's
 * dtype */
struct multi_mp_lamb_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> learning_rates;
    /** tuple of float, required. Weight decay of each weight: wd times the weight is added to the step. */
    required<floats> wds;
    /** tuple of float, required. Number of this update of each weight, counted from 1; whole numbers. */
    required<floats> step_count;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-6. Added to the square root, for stability. */
    double epsilon = 1e-6;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Lower bound of the norm of a weight. Negative: none. */
    double lower_bound = -1.0;
    /** float, optional, default=-1.0. Upper bound of the norm of a weight. Negative: none. */
    double upper_bound = -1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=true. Correct the moving means for their initialization with 0. */
    bool bias_correction = true;
    /** int, optional, default=1. Number of weights. */
    int64_t num_tensors = 1;
    static constexpr const char *op = "_multi_mp_lamb_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("learning_rates", learning_rates);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-6);
        visitor("wds", wds);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("lower_bound", lower_bound, -1.0);
        visitor("upper_bound", upper_bound, -1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("bias_correction", bias_correction, true);
        visitor("step_count", step_count);
        visitor("num_tensors", num_tensors, 1);
    }
    static constexpr size_t count = 12, text_bytes = 6609; /* room for visit */
};
inline results multi_mp_lamb_update(span<const ndarray> data, const multi_mp_lamb_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_mp_lamb_update(into out, span<const ndarray> data, const multi_mp_lamb_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_mp_lamb_update(span<const symbol> data, const multi_mp_lamb_update_settings &settings,
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** d = clip(rescale_grad grad + wd weight); mean = beta1 mean + (1 - beta1) d; var = beta2 var + (1 - beta2) d^2; out =
 * weight - lr mean / (sqrt(var) + epsilon) */
struct adam_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-8. Added to the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=True. Accepted for compatibility with MXNet; has no effect, since gradients are
     * dense. */
    bool lazy_update = true;
    static constexpr const char *op = "adam_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("lazy_update", lazy_update, true);
    }
    static constexpr size_t count = 8, text_bytes = 231; /* room for visit */
};
inline ndarray adam_update(const ndarray &weight, const ndarray &grad, const ndarray &mean, const ndarray &var,
    const adam_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mean, &var});
}
inline void adam_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mean, const ndarray &var,
    const adam_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mean, &var});
}
inline symbol adam_update(const symbol &weight, const symbol &grad, const symbol &mean, const symbol &var,
    const adam_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mean", "var"}, {&weight, &grad, &mean, &var});
}

/** output (1,), float32 = 1 if all elements of data are finite, else 0 */
struct all_finite_settings {
    /** boolean, optional, default=True. With False, the previous value of output must not be 0 either. */
    bool init_output = true;
    static constexpr const char *op = "all_finite";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("init_output", init_output, true);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray all_finite(const ndarray &data, const all_finite_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void all_finite(into out, const ndarray &data, const all_finite_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol all_finite(const symbol &data, const all_finite_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Clips data by the global norm of several arrays: output = data min(1, max_norm / (sqrt(sum of sum_sq) + 1e-8));
 * sum_sq (K,), float32, from multi_sum_sq */
struct clip_global_norm_settings {
    /** float, required. Maximum norm. */
    required<double> max_norm;
    static constexpr const char *op = "clip_global_norm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("max_norm", max_norm);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray clip_global_norm(const ndarray &data, const ndarray &sum_sq, const clip_global_norm_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &sum_sq});
}
inline void clip_global_norm(into out, const ndarray &data, const ndarray &sum_sq,
    const clip_global_norm_settings &settings) {
    detail::invoke_into(out, settings, {&data, &sum_sq});
}
inline symbol clip_global_norm(const symbol &data, const symbol &sum_sq, const clip_global_norm_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "sum_sq"}, {&data, &sum_sq});
}

/** g = clip(rescale_grad grad + wd weight); v = beta2 v + (1 - beta2) g^2; d' = (1 - beta1^t) / lr (sqrt(v / (1 -
 * beta2^t)) + epsilon); z = beta1 z + (1 - beta1) g - (d' - beta1 d) weight; d = d'; out = -z / d */
struct ftml_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** int, required. Number of this update, counted from 1. */
    required<int64_t> t;
    /** float, optional, default=0.6. Decay rate of the gradients before. */
    double beta1 = 0.6;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-8. Added to the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient with weight decay to [-value, value]. Negative: off.
     * */
    double clip_grad = -1.0;
    static constexpr const char *op = "ftml_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("beta1", beta1, 0.6);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-8);
        visitor("t", t);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_grad", clip_grad, -1.0);
    }
    static constexpr size_t count = 8, text_bytes = 264; /* room for visit */
};
inline ndarray ftml_update(const ndarray &weight, const ndarray &grad, const ndarray &d, const ndarray &v,
    const ndarray &z, const ftml_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &d, &v, &z});
}
inline void ftml_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &d, const ndarray &v,
    const ndarray &z, const ftml_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &d, &v, &z});
}
inline symbol ftml_update(const symbol &weight, const symbol &grad, const symbol &d, const symbol &v, const symbol &z,
    const ftml_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "d", "v", "z"}, {&weight, &grad, &d, &v, &z});
}

/** g = clip(rescale_grad grad); z += g - (sqrt(n + g^2) - sqrt(n)) weight / lr; n += g^2; out = |z| <= lamda1 ? 0 :
 * (sign(z) lamda1 - z) / ((beta + sqrt(n)) / lr + wd) */
struct ftrl_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.01. L1 regularization, which sets small weights to 0. */
    double lamda1 = 0.01;
    /** float, optional, default=1.0. Added to the denominator of the per-weight learning rate. */
    double beta = 1.0;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "ftrl_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("lamda1", lamda1, 0.01);
        visitor("beta", beta, 1.0);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 6, text_bytes = 198; /* room for visit */
};
inline ndarray ftrl_update(const ndarray &weight, const ndarray &grad, const ndarray &z, const ndarray &n,
    const ftrl_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &z, &n});
}
inline void ftrl_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &z, const ndarray &n,
    const ftrl_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &z, &n});
}
inline symbol ftrl_update(const symbol &weight, const symbol &grad, const symbol &z, const symbol &n,
    const ftrl_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "z", "n"}, {&weight, &grad, &z, &n});
}

/** d = clip(rescale_grad grad); mean = beta1 mean + (1 - beta1) d; var = beta2 var + (1 - beta2) d^2; out = mean' /
 * (sqrt(var') + epsilon) + wd weight, mean' and var' corrected for bias */
struct lamb_update_phase1_settings {
    /** int, required. Number of this update, counted from 1. */
    required<int64_t> t;
    /** float, required. Weight decay: wd times the weight is added to the step. */
    required<double> wd;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-6. Added to the square root, for stability. */
    double epsilon = 1e-6;
    /** boolean, optional, default=true. Correct the moving means for their initialization with 0. */
    bool bias_correction = true;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "lamb_update_phase1";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-6);
        visitor("t", t);
        visitor("bias_correction", bias_correction, true);
        visitor("wd", wd);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 8, text_bytes = 231; /* room for visit */
};
inline ndarray lamb_update_phase1(const ndarray &weight, const ndarray &grad, const ndarray &mean, const ndarray &var,
    const lamb_update_phase1_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mean, &var});
}
inline void lamb_update_phase1(into out, const ndarray &weight, const ndarray &grad, const ndarray &mean,
    const ndarray &var, const lamb_update_phase1_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mean, &var});
}
inline symbol lamb_update_phase1(const symbol &weight, const symbol &grad, const symbol &mean, const symbol &var,
    const lamb_update_phase1_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mean", "var"}, {&weight, &grad, &mean, &var});
}

/** out = weight - lr (r1 / r2) g, with r1 limited to the bounds; r1 / r2 is 1 where either is 0 */
struct lamb_update_phase2_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=-1.0. Lower bound of r1. Negative: none. */
    double lower_bound = -1.0;
    /** float, optional, default=-1.0. Upper bound of r1. Negative: none. */
    double upper_bound = -1.0;
    static constexpr const char *op = "lamb_update_phase2";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("lower_bound", lower_bound, -1.0);
        visitor("upper_bound", upper_bound, -1.0);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray lamb_update_phase2(const ndarray &weight, const ndarray &g, const ndarray &r1, const ndarray &r2,
    const lamb_update_phase2_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &g, &r1, &r2});
}
inline void lamb_update_phase2(into out, const ndarray &weight, const ndarray &g, const ndarray &r1, const ndarray &r2,
    const lamb_update_phase2_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &g, &r1, &r2});
}
inline symbol lamb_update_phase2(const symbol &weight, const symbol &g, const symbol &r1, const symbol &r2,
    const lamb_update_phase2_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "g", "r1", "r2"}, {&weight, &g, &r1, &r2});
}

/** lamb_update_phase1 of weight32, the float32 copy of a 16-bit weight; out is float32 */
struct mp_lamb_update_phase1_settings {
    /** int, required. Number of this update, counted from 1. */
    required<int64_t> t;
    /** float, required. Weight decay: wd times the weight is added to the step. */
    required<double> wd;
    /** float, optional, default=0.9. Decay rate of the mean of gradients. */
    double beta1 = 0.9;
    /** float, optional, default=0.999. Decay rate of the mean of squared gradients. */
    double beta2 = 0.999;
    /** float, optional, default=1e-6. Added to the square root, for stability. */
    double epsilon = 1e-6;
    /** boolean, optional, default=true. Correct the moving means for their initialization with 0. */
    bool bias_correction = true;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "mp_lamb_update_phase1";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("beta1", beta1, 0.9);
        visitor("beta2", beta2, 0.999);
        visitor("epsilon", epsilon, 1e-6);
        visitor("t", t);
        visitor("bias_correction", bias_correction, true);
        visitor("wd", wd);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 8, text_bytes = 231; /* room for visit */
};
inline ndarray mp_lamb_update_phase1(const ndarray &weight, const ndarray &grad, const ndarray &mean,
    const ndarray &var, const ndarray &weight32, const mp_lamb_update_phase1_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mean, &var, &weight32});
}
inline void mp_lamb_update_phase1(into out, const ndarray &weight, const ndarray &grad, const ndarray &mean,
    const ndarray &var, const ndarray &weight32, const mp_lamb_update_phase1_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mean, &var, &weight32});
}
inline symbol mp_lamb_update_phase1(const symbol &weight, const symbol &grad, const symbol &mean, const symbol &var,
    const symbol &weight32, const mp_lamb_update_phase1_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mean", "var", "weight32"}, {&weight, &grad, &mean, &var,
        &weight32});
}

/** lamb_update_phase2 of weight32, the float32 copy of a 16-bit weight; out = weight32 in weight's dtype */
struct mp_lamb_update_phase2_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=-1.0. Lower bound of r1. Negative: none. */
    double lower_bound = -1.0;
    /** float, optional, default=-1.0. Upper bound of r1. Negative: none. */
    double upper_bound = -1.0;
    static constexpr const char *op = "mp_lamb_update_phase2";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("lower_bound", lower_bound, -1.0);
        visitor("upper_bound", upper_bound, -1.0);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray mp_lamb_update_phase2(const ndarray &weight, const ndarray &g, const ndarray &r1, const ndarray &r2,
    const ndarray &weight32, const mp_lamb_update_phase2_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &g, &r1, &r2, &weight32});
}
inline void mp_lamb_update_phase2(into out, const ndarray &weight, const ndarray &g, const ndarray &r1,
    const ndarray &r2, const ndarray &weight32, const mp_lamb_update_phase2_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &g, &r1, &r2, &weight32});
}
inline symbol mp_lamb_update_phase2(const symbol &weight, const symbol &g, const symbol &r1, const symbol &r2,
    const symbol &weight32, const mp_lamb_update_phase2_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "g", "r1", "r2", "weight32"}, {&weight, &g, &r1, &r2, &weight32});
}

/** nag_mom_update of weight32, the float32 copy of a 16-bit weight; out = weight32 in weight's dtype */
struct mp_nag_mom_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=True. Accepted for compatibility with MXNet; has no effect, since gradients are
     * dense. */
    bool lazy_update = true;
    static constexpr const char *op = "mp_nag_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("momentum", momentum, 0.0);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("lazy_update", lazy_update, true);
    }
    static constexpr size_t count = 6, text_bytes = 165; /* room for visit */
};
inline ndarray mp_nag_mom_update(const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const ndarray &weight32, const mp_nag_mom_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mom, &weight32});
}
inline void mp_nag_mom_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const ndarray &weight32, const mp_nag_mom_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mom, &weight32});
}
inline symbol mp_nag_mom_update(const symbol &weight, const symbol &grad, const symbol &mom, const symbol &weight32,
    const mp_nag_mom_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mom", "weight32"}, {&weight, &grad, &mom, &weight32});
}

/** mom = momentum mom - lr wd weight32 - lr clip(rescale_grad grad); weight32 = weight32 + mom; out = weight32 in
 * weight's dtype */
struct mp_sgd_mom_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=True. Accepted for compatibility with MXNet; has no effect, since gradients are
     * dense. */
    bool lazy_update = true;
    static constexpr const char *op = "mp_sgd_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("momentum", momentum, 0.0);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("lazy_update", lazy_update, true);
    }
    static constexpr size_t count = 6, text_bytes = 165; /* room for visit */
};
inline ndarray mp_sgd_mom_update(const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const ndarray &weight32, const mp_sgd_mom_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mom, &weight32});
}
inline void mp_sgd_mom_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const ndarray &weight32, const mp_sgd_mom_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mom, &weight32});
}
inline symbol mp_sgd_mom_update(const symbol &weight, const symbol &grad, const symbol &mom, const symbol &weight32,
    const mp_sgd_mom_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mom", "weight32"}, {&weight, &grad, &mom, &weight32});
}

/** weight32 = (1 - lr wd) weight32 - lr clip(rescale_grad grad); out = weight32 in weight's dtype */
struct mp_sgd_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=True. Accepted for compatibility with MXNet; has no effect, since gradients are
     * dense. */
    bool lazy_update = true;
    static constexpr const char *op = "mp_sgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("lazy_update", lazy_update, true);
    }
    static constexpr size_t count = 5, text_bytes = 132; /* room for visit */
};
inline ndarray mp_sgd_update(const ndarray &weight, const ndarray &grad, const ndarray &weight32,
    const mp_sgd_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &weight32});
}
inline void mp_sgd_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &weight32,
    const mp_sgd_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &weight32});
}
inline symbol mp_sgd_update(const symbol &weight, const symbol &grad, const symbol &weight32,
    const mp_sgd_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "weight32"}, {&weight, &grad, &weight32});
}

/** output (1,), float32 = 1 if all elements of all arguments, whose dtypes may differ, are finite, else 0 */
struct multi_all_finite_settings {
    /** boolean, optional, default=True. With False, the previous value of output must not be 0 either. */
    bool init_output = true;
    static constexpr const char *op = "multi_all_finite";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("init_output", init_output, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray multi_all_finite(span<const ndarray> data, const multi_all_finite_settings &settings = {}) {
    return detail::invoke_list<ndarray>(settings, "num_arrays", data);
}
inline void multi_all_finite(into out, span<const ndarray> data, const multi_all_finite_settings &settings = {}) {
    detail::invoke_list_into(out, settings, "num_arrays", data);
}
inline symbol multi_all_finite(span<const symbol> data, const multi_all_finite_settings &settings = {},
    text name = {}) {
    return detail::apply_list(settings, name, "num_arrays", data);
}

/** Learning rates by layer: output = lrs eta |w| / (rescale_grad |g| + wds |w| + eps), where |w| and |g| are the square
 * roots of weights_sum_sq and grads_sum_sq; lrs where either is 0 */
struct multi_lars_settings {
    /** float, required. Trust coefficient: ratio of the length of a step to the length of the weight. */
    required<double> eta;
    /** float, required. Added to the denominator, for stability. */
    required<double> eps;
    /** float, optional, default=1.0. Factor of the gradients; grads_sum_sq does not include it. */
    double rescale_grad = 1.0;
    static constexpr const char *op = "multi_lars";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("eta", eta);
        visitor("eps", eps);
        visitor("rescale_grad", rescale_grad, 1.0);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray multi_lars(const ndarray &lrs, const ndarray &weights_sum_sq, const ndarray &grads_sum_sq,
    const ndarray &wds, const multi_lars_settings &settings) {
    return detail::invoke<ndarray>(settings, {&lrs, &weights_sum_sq, &grads_sum_sq, &wds});
}
inline void multi_lars(into out, const ndarray &lrs, const ndarray &weights_sum_sq, const ndarray &grads_sum_sq,
    const ndarray &wds, const multi_lars_settings &settings) {
    detail::invoke_into(out, settings, {&lrs, &weights_sum_sq, &grads_sum_sq, &wds});
}
inline symbol multi_lars(const symbol &lrs, const symbol &weights_sum_sq, const symbol &grads_sum_sq, const symbol &wds,
    const multi_lars_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"lrs", "weights_sum_sq", "grads_sum_sq", "wds"}, {&lrs, &weights_sum_sq,
        &grads_sum_sq, &wds});
}

/** mp_sgd_mom_update of num_weights weights, each with its own entry of lrs and wds */
struct multi_mp_sgd_mom_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> lrs;
    /** tuple of float, required. Weight decay of each weight. */
    required<floats> wds;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    static constexpr const char *op = "multi_mp_sgd_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lrs", lrs);
        visitor("wds", wds);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
        visitor("momentum", momentum, 0.0);
    }
    static constexpr size_t count = 6, text_bytes = 4362; /* room for visit */
};
inline results multi_mp_sgd_mom_update(span<const ndarray> data, const multi_mp_sgd_mom_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_mp_sgd_mom_update(into out, span<const ndarray> data,
    const multi_mp_sgd_mom_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_mp_sgd_mom_update(span<const symbol> data, const multi_mp_sgd_mom_update_settings &settings,
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** mp_sgd_update of num_weights weights, each with its own entry of lrs and wds */
struct multi_mp_sgd_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> lrs;
    /** tuple of float, required. Weight decay of each weight. */
    required<floats> wds;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    static constexpr const char *op = "multi_mp_sgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lrs", lrs);
        visitor("wds", wds);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
    }
    static constexpr size_t count = 5, text_bytes = 4329; /* room for visit */
};
inline results multi_mp_sgd_update(span<const ndarray> data, const multi_mp_sgd_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_mp_sgd_update(into out, span<const ndarray> data, const multi_mp_sgd_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_mp_sgd_update(span<const symbol> data, const multi_mp_sgd_update_settings &settings,
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** sgd_mom_update of num_weights weights, each with its own entry of lrs and wds */
struct multi_sgd_mom_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> lrs;
    /** tuple of float, required. Weight decay of each weight. */
    required<floats> wds;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    static constexpr const char *op = "multi_sgd_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lrs", lrs);
        visitor("wds", wds);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
        visitor("momentum", momentum, 0.0);
    }
    static constexpr size_t count = 6, text_bytes = 4362; /* room for visit */
};
inline results multi_sgd_mom_update(span<const ndarray> data, const multi_sgd_mom_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_sgd_mom_update(into out, span<const ndarray> data, const multi_sgd_mom_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_sgd_mom_update(span<const symbol> data, const multi_sgd_mom_update_settings &settings,
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** sgd_update of num_weights weights, each with its own entry of lrs and wds */
struct multi_sgd_update_settings {
    /** tuple of float, required. Learning rate of each weight. */
    required<floats> lrs;
    /** tuple of float, required. Weight decay of each weight. */
    required<floats> wds;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    static constexpr const char *op = "multi_sgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lrs", lrs);
        visitor("wds", wds);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
    }
    static constexpr size_t count = 5, text_bytes = 4329; /* room for visit */
};
inline results multi_sgd_update(span<const ndarray> data, const multi_sgd_update_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void multi_sgd_update(into out, span<const ndarray> data, const multi_sgd_update_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol multi_sgd_update(span<const symbol> data, const multi_sgd_update_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** Sum of squares of each argument: output (num_arrays,), float32 */
struct multi_sum_sq_settings {
    static constexpr const char *op = "multi_sum_sq";
    template <class Visitor> void visit(Visitor &&) const {
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray multi_sum_sq(span<const ndarray> data) {
    return detail::invoke_list<ndarray>(multi_sum_sq_settings(), "num_arrays", data);
}
inline void multi_sum_sq(into out, span<const ndarray> data) {
    detail::invoke_list_into(out, multi_sum_sq_settings(), "num_arrays", data);
}
inline symbol multi_sum_sq(span<const symbol> data, text name = {}) {
    return detail::apply_list(multi_sum_sq_settings(), name, "num_arrays", data);
}

/** step = lr (clip(rescale_grad grad) + wd weight); mom = momentum mom - step; out = weight + momentum mom - step */
struct nag_mom_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "nag_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("momentum", momentum, 0.0);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 5, text_bytes = 165; /* room for visit */
};
inline ndarray nag_mom_update(const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const nag_mom_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mom});
}
inline void nag_mom_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const nag_mom_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mom});
}
inline symbol nag_mom_update(const symbol &weight, const symbol &grad, const symbol &mom,
    const nag_mom_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mom"}, {&weight, &grad, &mom});
}

/** mp_sgd_mom_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,) */
struct preloaded_multi_mp_sgd_mom_update_settings {
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    static constexpr const char *op = "preloaded_multi_mp_sgd_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
        visitor("momentum", momentum, 0.0);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline results preloaded_multi_mp_sgd_mom_update(span<const ndarray> data,
    const preloaded_multi_mp_sgd_mom_update_settings &settings = {}) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void preloaded_multi_mp_sgd_mom_update(into out, span<const ndarray> data,
    const preloaded_multi_mp_sgd_mom_update_settings &settings = {}) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol preloaded_multi_mp_sgd_mom_update(span<const symbol> data,
    const preloaded_multi_mp_sgd_mom_update_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** mp_sgd_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,) */
struct preloaded_multi_mp_sgd_update_settings {
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    static constexpr const char *op = "preloaded_multi_mp_sgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline results preloaded_multi_mp_sgd_update(span<const ndarray> data,
    const preloaded_multi_mp_sgd_update_settings &settings = {}) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void preloaded_multi_mp_sgd_update(into out, span<const ndarray> data,
    const preloaded_multi_mp_sgd_update_settings &settings = {}) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol preloaded_multi_mp_sgd_update(span<const symbol> data,
    const preloaded_multi_mp_sgd_update_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** sgd_mom_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,) */
struct preloaded_multi_sgd_mom_update_settings {
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    static constexpr const char *op = "preloaded_multi_sgd_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
        visitor("momentum", momentum, 0.0);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline results preloaded_multi_sgd_mom_update(span<const ndarray> data,
    const preloaded_multi_sgd_mom_update_settings &settings = {}) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void preloaded_multi_sgd_mom_update(into out, span<const ndarray> data,
    const preloaded_multi_sgd_mom_update_settings &settings = {}) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol preloaded_multi_sgd_mom_update(span<const symbol> data,
    const preloaded_multi_sgd_mom_update_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** sgd_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,) */
struct preloaded_multi_sgd_update_settings {
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** int, optional, default=1. Number of weights. */
    int64_t num_weights = 1;
    static constexpr const char *op = "preloaded_multi_sgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("num_weights", num_weights, 1);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline results preloaded_multi_sgd_update(span<const ndarray> data,
    const preloaded_multi_sgd_update_settings &settings = {}) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void preloaded_multi_sgd_update(into out, span<const ndarray> data,
    const preloaded_multi_sgd_update_settings &settings = {}) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol preloaded_multi_sgd_update(span<const symbol> data,
    const preloaded_multi_sgd_update_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** d = clip(rescale_grad grad + wd weight); n = gamma1 n + (1 - gamma1) d^2; out = clip_weights(weight - lr d / sqrt(n
 * + epsilon)) */
struct rmsprop_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.95. Decay rate of the running means. */
    double gamma1 = 0.95;
    /** float, optional, default=1e-8. Added under the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** float, optional, default=-1.0. Limit of the absolute value of the new weight. Negative: none. */
    double clip_weights = -1.0;
    static constexpr const char *op = "rmsprop_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("gamma1", gamma1, 0.95);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("clip_weights", clip_weights, -1.0);
    }
    static constexpr size_t count = 7, text_bytes = 231; /* room for visit */
};
inline ndarray rmsprop_update(const ndarray &weight, const ndarray &grad, const ndarray &n,
    const rmsprop_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &n});
}
inline void rmsprop_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &n,
    const rmsprop_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &n});
}
inline symbol rmsprop_update(const symbol &weight, const symbol &grad, const symbol &n,
    const rmsprop_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "n"}, {&weight, &grad, &n});
}

/** d = clip(rescale_grad grad + wd weight); n = gamma1 n + (1 - gamma1) d^2; g = gamma1 g + (1 - gamma1) d; delta =
 * gamma2 delta - lr d / sqrt(n - g^2 + epsilon); out = clip_weights(weight + delta) */
struct rmspropalex_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.95. Decay rate of the running means. */
    double gamma1 = 0.95;
    /** float, optional, default=0.9. Momentum: share of the previous step that is repeated. */
    double gamma2 = 0.9;
    /** float, optional, default=1e-8. Added under the square root, for stability. */
    double epsilon = 1e-8;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** float, optional, default=-1.0. Limit of the absolute value of the new weight. Negative: none. */
    double clip_weights = -1.0;
    static constexpr const char *op = "rmspropalex_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("gamma1", gamma1, 0.95);
        visitor("gamma2", gamma2, 0.9);
        visitor("epsilon", epsilon, 1e-8);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("clip_weights", clip_weights, -1.0);
    }
    static constexpr size_t count = 8, text_bytes = 264; /* room for visit */
};
inline ndarray rmspropalex_update(const ndarray &weight, const ndarray &grad, const ndarray &n, const ndarray &g,
    const ndarray &delta, const rmspropalex_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &n, &g, &delta});
}
inline void rmspropalex_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &n, const ndarray &g,
    const ndarray &delta, const rmspropalex_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &n, &g, &delta});
}
inline symbol rmspropalex_update(const symbol &weight, const symbol &grad, const symbol &n, const symbol &g,
    const symbol &delta, const rmspropalex_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "n", "g", "delta"}, {&weight, &grad, &n, &g, &delta});
}

/** mom = momentum mom - lr wd weight - lr clip(rescale_grad grad); out = weight + mom */
struct sgd_mom_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=True. Accepted for compatibility with MXNet; has no effect, since gradients are
     * dense. */
    bool lazy_update = true;
    static constexpr const char *op = "sgd_mom_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("momentum", momentum, 0.0);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("lazy_update", lazy_update, true);
    }
    static constexpr size_t count = 6, text_bytes = 165; /* room for visit */
};
inline ndarray sgd_mom_update(const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const sgd_mom_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mom});
}
inline void sgd_mom_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const sgd_mom_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mom});
}
inline symbol sgd_mom_update(const symbol &weight, const symbol &grad, const symbol &mom,
    const sgd_mom_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mom"}, {&weight, &grad, &mom});
}

/** out = (1 - lr wd) weight - lr clip(rescale_grad grad) */
struct sgd_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** boolean, optional, default=True. Accepted for compatibility with MXNet; has no effect, since gradients are
     * dense. */
    bool lazy_update = true;
    static constexpr const char *op = "sgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("lazy_update", lazy_update, true);
    }
    static constexpr size_t count = 5, text_bytes = 132; /* room for visit */
};
inline ndarray sgd_update(const ndarray &weight, const ndarray &grad, const sgd_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad});
}
inline void sgd_update(into out, const ndarray &weight, const ndarray &grad, const sgd_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad});
}
inline symbol sgd_update(const symbol &weight, const symbol &grad, const sgd_update_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"weight", "grad"}, {&weight, &grad});
}

/** out = (1 - lr wd) weight - lr sign(grad); rescale_grad and clip_gradient have no effect */
struct signsgd_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    static constexpr const char *op = "signsgd_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline ndarray signsgd_update(const ndarray &weight, const ndarray &grad, const signsgd_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad});
}
inline void signsgd_update(into out, const ndarray &weight, const ndarray &grad,
    const signsgd_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad});
}
inline symbol signsgd_update(const symbol &weight, const symbol &grad, const signsgd_update_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"weight", "grad"}, {&weight, &grad});
}

/** mom = momentum mom - (1 - momentum) (wd weight + clip(rescale_grad grad)); out = (1 - lr wd_lh) weight + lr
 * sign(mom) */
struct signum_update_settings {
    /** float, required. Learning rate. */
    required<double> lr;
    /** float, optional, default=0.0. Momentum: share of the previous step that is repeated. */
    double momentum = 0.0;
    /** float, optional, default=0.0. Weight decay: wd times the weight is added to the gradient. */
    double wd = 0.0;
    /** float, optional, default=1.0. Factor of the gradient, applied first. */
    double rescale_grad = 1.0;
    /** float, optional, default=-1.0. Clip the rescaled gradient to [-value, value]. Negative: off. */
    double clip_gradient = -1.0;
    /** float, optional, default=0.0. Weight decay that is applied outside the sign. */
    double wd_lh = 0.0;
    static constexpr const char *op = "signum_update";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lr", lr);
        visitor("momentum", momentum, 0.0);
        visitor("wd", wd, 0.0);
        visitor("rescale_grad", rescale_grad, 1.0);
        visitor("clip_gradient", clip_gradient, -1.0);
        visitor("wd_lh", wd_lh, 0.0);
    }
    static constexpr size_t count = 6, text_bytes = 198; /* room for visit */
};
inline ndarray signum_update(const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const signum_update_settings &settings) {
    return detail::invoke<ndarray>(settings, {&weight, &grad, &mom});
}
inline void signum_update(into out, const ndarray &weight, const ndarray &grad, const ndarray &mom,
    const signum_update_settings &settings) {
    detail::invoke_into(out, settings, {&weight, &grad, &mom});
}
inline symbol signum_update(const symbol &weight, const symbol &grad, const symbol &mom,
    const signum_update_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"weight", "grad", "mom"}, {&weight, &grad, &mom});
}

} // namespace op
} // namespace mxc

#endif
