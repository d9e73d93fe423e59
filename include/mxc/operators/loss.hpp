/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family loss as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_LOSS_HPP
#define MXC_OPERATORS_LOSS_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Connectionist temporal classification: out (N) = -ln of the probability of each label sequence, label (N,L), given
 * data (T,N,C), to which softmax over the classes is applied; inf with a gradient of 0 where the sequence is impossible
 * */
struct CTCLoss_settings {
    /** boolean, optional, default=False. Use the argument data_lengths, the number of time steps of each sequence;
     * otherwise all steps count. */
    bool use_data_lengths = false;
    /** boolean, optional, default=False. Use the argument label_lengths; otherwise a row of label ends at its first
     * padding value. */
    bool use_label_lengths = false;
    /** {'first', 'last'}, optional, default='first'. Which class is the blank: first is class 0, with labels from 1 and
     * padding 0; last is class C - 1, with labels from 0 and padding -1. */
    text blank_label = text("first");
    static constexpr const char *op = "CTCLoss";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("use_data_lengths", use_data_lengths, false);
        visitor("use_label_lengths", use_label_lengths, false);
        visitor("blank_label", blank_label, text("first"));
    }
    static constexpr size_t count = 3, text_bytes = 0; /* room for visit */
};
inline ndarray CTCLoss(const ndarray &data, const ndarray &label, const ndarray &data_lengths,
    const ndarray &label_lengths, const CTCLoss_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label, &data_lengths, &label_lengths});
}
inline void CTCLoss(into out, const ndarray &data, const ndarray &label, const ndarray &data_lengths,
    const ndarray &label_lengths, const CTCLoss_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label, &data_lengths, &label_lengths});
}
inline ndarray CTCLoss(const ndarray &data, const ndarray &label, const ndarray &data_lengths,
    const CTCLoss_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label, &data_lengths});
}
inline void CTCLoss(into out, const ndarray &data, const ndarray &label, const ndarray &data_lengths,
    const CTCLoss_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label, &data_lengths});
}
inline ndarray CTCLoss(const ndarray &data, const ndarray &label, const CTCLoss_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label});
}
inline void CTCLoss(into out, const ndarray &data, const ndarray &label, const CTCLoss_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label});
}
inline symbol CTCLoss(const symbol &data, const symbol &label, const symbol &data_lengths, const symbol &label_lengths,
    const CTCLoss_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "label", "data_lengths", "label_lengths"}, {&data, &label,
        &data_lengths, &label_lengths});
}
inline symbol CTCLoss(const symbol &data, const symbol &label, const symbol &data_lengths,
    const CTCLoss_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "label", "data_lengths"}, {&data, &label, &data_lengths});
}
inline symbol CTCLoss(const symbol &data, const symbol &label, const CTCLoss_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "label"}, {&data, &label});
}
inline symbol CTCLoss(const symbol &data, const CTCLoss_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data, with the gradient of the squared error: grad_scale / (outputs per sample) (output - label) */
struct LinearRegressionOutput_settings {
    /** float, optional, default=1. Factor of the gradient. */
    double grad_scale = 1;
    static constexpr const char *op = "LinearRegressionOutput";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("grad_scale", grad_scale, 1);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray LinearRegressionOutput(const ndarray &data, const ndarray &label,
    const LinearRegressionOutput_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label});
}
inline void LinearRegressionOutput(into out, const ndarray &data, const ndarray &label,
    const LinearRegressionOutput_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label});
}
inline symbol LinearRegressionOutput(const symbol &data, const symbol &label,
    const LinearRegressionOutput_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "label"}, {&data, &label});
}
inline symbol LinearRegressionOutput(const symbol &data, const LinearRegressionOutput_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = 1 / (1 + exp(-data)), with the gradient of the cross entropy: grad_scale / (outputs per sample) (output -
 * label) */
struct LogisticRegressionOutput_settings {
    /** float, optional, default=1. Factor of the gradient. */
    double grad_scale = 1;
    static constexpr const char *op = "LogisticRegressionOutput";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("grad_scale", grad_scale, 1);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray LogisticRegressionOutput(const ndarray &data, const ndarray &label,
    const LogisticRegressionOutput_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label});
}
inline void LogisticRegressionOutput(into out, const ndarray &data, const ndarray &label,
    const LogisticRegressionOutput_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label});
}
inline symbol LogisticRegressionOutput(const symbol &data, const symbol &label,
    const LogisticRegressionOutput_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "label"}, {&data, &label});
}
inline symbol LogisticRegressionOutput(const symbol &data, const LogisticRegressionOutput_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data, with the gradient of the absolute error: grad_scale / (outputs per sample) sign(output - label) */
struct MAERegressionOutput_settings {
    /** float, optional, default=1. Factor of the gradient. */
    double grad_scale = 1;
    static constexpr const char *op = "MAERegressionOutput";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("grad_scale", grad_scale, 1);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray MAERegressionOutput(const ndarray &data, const ndarray &label,
    const MAERegressionOutput_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label});
}
inline void MAERegressionOutput(into out, const ndarray &data, const ndarray &label,
    const MAERegressionOutput_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label});
}
inline symbol MAERegressionOutput(const symbol &data, const symbol &label,
    const MAERegressionOutput_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "label"}, {&data, &label});
}
inline symbol MAERegressionOutput(const symbol &data, const MAERegressionOutput_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data, which becomes a loss: its gradient is grad_scale, divided according to normalization, whatever the
 * gradient of out */
struct MakeLoss_settings {
    /** float, optional, default=1. Value of the gradient. */
    double grad_scale = 1;
    /** float, optional, default=0. With normalization=valid, elements above this value are counted. */
    double valid_thresh = 0;
    /** {'null', 'batch', 'valid'}, optional, default='null'. What the gradient is divided by: nothing, the batch size,
     * or the number of valid elements. */
    text normalization = text("null");
    static constexpr const char *op = "MakeLoss";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("grad_scale", grad_scale, 1);
        visitor("valid_thresh", valid_thresh, 0);
        visitor("normalization", normalization, text("null"));
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline ndarray MakeLoss(const ndarray &data, const MakeLoss_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void MakeLoss(into out, const ndarray &data, const MakeLoss_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol MakeLoss(const symbol &data, const MakeLoss_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data (N,...,K), with the gradient of the squared hinge loss (use_linear: hinge loss) against class numbers
 * label (N,...), times regularization_coefficient */
struct SVMOutput_settings {
    /** float, optional, default=1. Margin: scores beyond it on the correct side have no loss. */
    double margin = 1;
    /** float, optional, default=1. Factor of the gradient. */
    double regularization_coefficient = 1;
    /** boolean, optional, default=False. Use the hinge loss instead of its square. */
    bool use_linear = false;
    static constexpr const char *op = "SVMOutput";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("margin", margin, 1);
        visitor("regularization_coefficient", regularization_coefficient, 1);
        visitor("use_linear", use_linear, false);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline ndarray SVMOutput(const ndarray &data, const ndarray &label, const SVMOutput_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label});
}
inline void SVMOutput(into out, const ndarray &data, const ndarray &label, const SVMOutput_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label});
}
inline symbol SVMOutput(const symbol &data, const symbol &label, const SVMOutput_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "label"}, {&data, &label});
}
inline symbol SVMOutput(const symbol &data, const SVMOutput_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = softmax(data) along all axes but the first, with the gradient of the cross entropy: grad_scale (output -
 * label) for data, where label holds class numbers (N,) or probabilities of the shape of data */
struct SoftmaxOutput_settings {
    /** float, optional, default=1. Factor of the gradient. */
    double grad_scale = 1;
    /** float, optional, default=-1. Label that has no gradient if use_ignore is set, and that normalization=valid does
     * not count. */
    double ignore_label = -1;
    /** boolean, optional, default=False. Compute softmax along axis 1, with one label for each position of the other
     * axes. */
    bool multi_output = false;
    /** boolean, optional, default=False. Labels equal to ignore_label give no gradient. */
    bool use_ignore = false;
    /** boolean, optional, default=False. Compute softmax along the last axis. */
    bool preserve_shape = false;
    /** {'null', 'batch', 'valid'}, optional, default='null'. What the gradient is divided by: nothing, the batch size,
     * or the number of labels that are not ignored. */
    text normalization = text("null");
    /** boolean, optional, default=False. Multiply the gradient by the gradient of the output, which is ignored
     * otherwise. */
    bool out_grad = false;
    /** float, optional, default=0. Label smoothing: share of the label's probability that is distributed over the other
     * classes. Only for labels that are class numbers. */
    double smooth_alpha = 0;
    static constexpr const char *op = "SoftmaxOutput";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("grad_scale", grad_scale, 1);
        visitor("ignore_label", ignore_label, -1);
        visitor("multi_output", multi_output, false);
        visitor("use_ignore", use_ignore, false);
        visitor("preserve_shape", preserve_shape, false);
        visitor("normalization", normalization, text("null"));
        visitor("out_grad", out_grad, false);
        visitor("smooth_alpha", smooth_alpha, 0);
    }
    static constexpr size_t count = 8, text_bytes = 99; /* room for visit */
};
inline ndarray SoftmaxOutput(const ndarray &data, const ndarray &label, const SoftmaxOutput_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &label});
}
inline void SoftmaxOutput(into out, const ndarray &data, const ndarray &label,
    const SoftmaxOutput_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &label});
}
inline symbol SoftmaxOutput(const symbol &data, const symbol &label, const SoftmaxOutput_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "label"}, {&data, &label});
}
inline symbol SoftmaxOutput(const symbol &data, const SoftmaxOutput_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data, which becomes a loss: its gradient is 1, whatever the gradient of out */
inline ndarray make_loss(const ndarray &data) {
    return detail::invoke<ndarray>("make_loss", {&data});
}
inline void make_loss(into out, const ndarray &data) {
    detail::invoke_into(out, "make_loss", {&data});
}
inline symbol make_loss(const symbol &data, text name = {}) {
    return detail::apply("make_loss", name, {"data"}, {&data});
}

/** Softmax cross entropy summed over the batch: out (1,) = sum over i of -log softmax(data[i])[label[i]]; data (N,K),
 * label (N) */
inline ndarray softmax_cross_entropy(const ndarray &data, const ndarray &label) {
    return detail::invoke<ndarray>("softmax_cross_entropy", {&data, &label});
}
inline void softmax_cross_entropy(into out, const ndarray &data, const ndarray &label) {
    detail::invoke_into(out, "softmax_cross_entropy", {&data, &label});
}
inline symbol softmax_cross_entropy(const symbol &data, const symbol &label, text name = {}) {
    return detail::apply("softmax_cross_entropy", name, {"data", "label"}, {&data, &label});
}

} // namespace op
} // namespace mxc

#endif
