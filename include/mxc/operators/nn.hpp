/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family nn as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_NN_HPP
#define MXC_OPERATORS_NN_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** output = f(data), element by element, where act_type selects f */
struct Activation_settings {
    /** {'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign', 'log_sigmoid', 'mish'}, required. Function f. relu: max(x,
     * 0); sigmoid: 1 / (1 + exp(-x)); tanh; softrelu: log(1 + exp(x)); softsign: x / (1 + |x|); log_sigmoid:
     * log(sigmoid(x)); mish: x tanh(softrelu(x)). */
    required<text> act_type;
    static constexpr const char *op = "Activation";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("act_type", act_type);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray Activation(const ndarray &data, const Activation_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void Activation(into out, const ndarray &data, const Activation_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol Activation(const symbol &data, const Activation_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Batch normalization: output = gamma (data - mean) / sqrt(var + eps) + beta for each channel. In training, mean and
 * var are those of the batch, and a forward pass updates moving = momentum moving + (1 - momentum) batch; otherwise
 * they are moving_mean and moving_var. The output var is 1 / sqrt(var + eps) */
struct BatchNorm_settings {
    /** float, optional, default=0.001. Added to the variance, for stability. */
    double eps = 0.001;
    /** float, optional, default=0.9. Share of the moving statistics that is kept in each training pass. */
    double momentum = 0.9;
    /** boolean, optional, default=True. Use 1 in place of gamma, whose gradient is 0. */
    bool fix_gamma = true;
    /** boolean, optional, default=False. Use the moving statistics in training too. */
    bool use_global_stats = false;
    /** boolean, optional, default=False. Return the mean, and 1 / sqrt(var + eps), as outputs. */
    bool output_mean_var = false;
    /** boolean, optional, default=False. Accepted for compatibility with MXNet; has no effect. */
    bool cudnn_off = false;
    /** int, optional, default=1. Axis of the channels. Negative values count from the end. */
    int64_t axis = 1;
    /** float or None, optional, default=None. Accepted for compatibility with MXNet; only the quantized operator uses
     * it. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Accepted for compatibility with MXNet; only the quantized operator uses
     * it. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    static constexpr const char *op = "BatchNorm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("eps", eps, 0.001);
        visitor("momentum", momentum, 0.9);
        visitor("fix_gamma", fix_gamma, true);
        visitor("use_global_stats", use_global_stats, false);
        visitor("output_mean_var", output_mean_var, false);
        visitor("cudnn_off", cudnn_off, false);
        visitor("axis", axis, 1);
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
    }
    static constexpr size_t count = 9, text_bytes = 165; /* room for visit */
};
inline results BatchNorm(const ndarray &data, const ndarray &gamma, const ndarray &beta, const ndarray &moving_mean,
    const ndarray &moving_var, const BatchNorm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta, &moving_mean, &moving_var});
}
inline void BatchNorm(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const BatchNorm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta, &moving_mean, &moving_var});
}
inline symbol BatchNorm(const symbol &data, const symbol &gamma, const symbol &beta, const symbol &moving_mean,
    const symbol &moving_var, const BatchNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta", "moving_mean", "moving_var"}, {&data, &gamma, &beta,
        &moving_mean, &moving_var});
}
inline symbol BatchNorm(const symbol &data, const BatchNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output[n,f,p] = bias[f] + sum over c and k of weight[f,c,k] data[n, c, stride p + dilate k - pad], for one to three
 * spatial axes; data (N,C,...), weight (num_filter, C / num_group, kernel...), bias (num_filter,); with channels last
 * data (N,...,C), weight (num_filter, kernel..., C / num_group) */
struct Convolution_settings {
    /** tuple of int, required. Kernel size of each spatial axis: (w), (h,w) or (d,h,w). */
    required<tuple> kernel;
    /** int, required. Number of filters, the channels of the output. */
    required<int64_t> num_filter;
    /** tuple of int, optional, default=(). Stride along each spatial axis. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Dilation, the distance between neighbouring kernel elements. (): 1. */
    tuple dilate = tuple{};
    /** tuple of int, optional, default=(). Zero padding at both ends of each spatial axis. (): 0. */
    tuple pad = tuple{};
    /** int, optional, default=1. Number of groups of channels that are convolved separately. */
    int64_t num_group = 1;
    /** int, optional, default=1024. Maximum scratch memory of cuDNN in MiB. */
    int64_t workspace = 1024;
    /** boolean, optional, default=False. Leave out the argument bias. */
    bool no_bias = false;
    /** {None, 'off', 'limited_workspace', 'fastest'}, optional, default=None. How the algorithm of cuDNN is chosen: off
     * by its heuristics, limited_workspace by measuring those that fit workspace, fastest by measuring those that fit 8
     * GiB. None: limited_workspace. */
    text cudnn_tune = text();
    /** boolean, optional, default=False. Do not use cuDNN. */
    bool cudnn_off = false;
    /** {None, 'NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'}, optional, default=None. Order of the axes of data, weight and
     * output: channels second or channels last. None: channels second. */
    text layout = text();
    static constexpr const char *op = "Convolution";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
        visitor("num_filter", num_filter);
        visitor("num_group", num_group, 1);
        visitor("workspace", workspace, 1024);
        visitor("no_bias", no_bias, false);
        visitor("cudnn_tune", cudnn_tune, text());
        visitor("cudnn_off", cudnn_off, false);
        visitor("layout", layout, text());
    }
    static constexpr size_t count = 11, text_bytes = 1519; /* room for visit */
};
inline ndarray Convolution(const ndarray &data, const ndarray &weight, const ndarray &bias,
    const Convolution_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &weight, &bias});
}
inline void Convolution(into out, const ndarray &data, const ndarray &weight, const ndarray &bias,
    const Convolution_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &bias});
}
inline symbol Convolution(const symbol &data, const symbol &weight, const symbol &bias,
    const Convolution_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "bias"}, {&data, &weight, &bias});
}
inline symbol Convolution(const symbol &data, const Convolution_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Transposed convolution: each element of data (N,C,...) adds its multiple of weight (C, num_filter / num_group,
 * kernel...) to output (N,num_filter,...), plus bias; for one to three spatial axes */
struct Deconvolution_settings {
    /** tuple of int, required. Kernel size of each spatial axis: (w), (h,w) or (d,h,w). */
    required<tuple> kernel;
    /** int, required. Number of filters, the channels of the output. */
    required<int64_t> num_filter;
    /** tuple of int, optional, default=(). Stride along each spatial axis of the output. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Dilation, the distance between neighbouring kernel elements. (): 1. */
    tuple dilate = tuple{};
    /** tuple of int, optional, default=(). Padding: elements removed at both ends of each spatial axis of the output.
     * (): 0. */
    tuple pad = tuple{};
    /** tuple of int, optional, default=(). Elements added to each spatial axis of the output, less than stride. (): 0.
     * */
    tuple adj = tuple{};
    /** tuple of int, optional, default=(). Spatial shape of the output, which determines pad and adj. () and zeros: not
     * given. */
    tuple target_shape = tuple{};
    /** int, optional, default=1. Number of groups of channels that are computed separately. */
    int64_t num_group = 1;
    /** int, optional, default=512. Maximum scratch memory of cuDNN in MiB. */
    int64_t workspace = 512;
    /** boolean, optional, default=True. Leave out the argument bias. */
    bool no_bias = true;
    /** {None, 'off', 'limited_workspace', 'fastest'}, optional, default=None. How the algorithm of cuDNN is chosen: off
     * by its heuristics, limited_workspace by measuring those that fit workspace, fastest by measuring those that fit 8
     * GiB. None: limited_workspace. */
    text cudnn_tune = text();
    /** boolean, optional, default=False. Do not use cuDNN. */
    bool cudnn_off = false;
    /** {None, 'NCW', 'NCHW', 'NCDHW', 'NHWC', 'NDHWC'}, optional, default=None. Order of the axes. Only channels second
     * is supported. */
    text layout = text();
    static constexpr const char *op = "Deconvolution";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
        visitor("adj", adj, tuple{});
        visitor("target_shape", target_shape, tuple{});
        visitor("num_filter", num_filter);
        visitor("num_group", num_group, 1);
        visitor("workspace", workspace, 512);
        visitor("no_bias", no_bias, true);
        visitor("cudnn_tune", cudnn_tune, text());
        visitor("cudnn_off", cudnn_off, false);
        visitor("layout", layout, text());
    }
    static constexpr size_t count = 13, text_bytes = 2229; /* room for visit */
};
inline ndarray Deconvolution(const ndarray &data, const ndarray &weight, const ndarray &bias,
    const Deconvolution_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &weight, &bias});
}
inline void Deconvolution(into out, const ndarray &data, const ndarray &weight, const ndarray &bias,
    const Deconvolution_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &bias});
}
inline ndarray Deconvolution(const ndarray &data, const ndarray &weight, const Deconvolution_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &weight});
}
inline void Deconvolution(into out, const ndarray &data, const ndarray &weight,
    const Deconvolution_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight});
}
inline symbol Deconvolution(const symbol &data, const symbol &weight, const symbol &bias,
    const Deconvolution_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "bias"}, {&data, &weight, &bias});
}
inline symbol Deconvolution(const symbol &data, const symbol &weight, const Deconvolution_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "weight"}, {&data, &weight});
}
inline symbol Deconvolution(const symbol &data, const Deconvolution_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** In training, output = data mask, where mask is 1 / (1 - p) with probability 1 - p and otherwise 0; in inference,
 * output = data */
struct Dropout_settings {
    /** float, optional, default=0.5. Probability that an element is set to 0. */
    double p = 0.5;
    /** {'training', 'always'}, optional, default='training'. When to drop elements: only in training, or always. */
    text mode = text("training");
    /** tuple of int, optional, default=(). Axes along which all elements share one random decision. */
    tuple axes = tuple{};
    /** boolean or None, optional, default=False. Accepted for compatibility with MXNet; has no effect. */
    std::optional<bool> cudnn_off = std::optional<bool>(false);
    static constexpr const char *op = "Dropout";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("p", p, 0.5);
        visitor("mode", mode, text("training"));
        visitor("axes", axes, tuple{});
        visitor("cudnn_off", cudnn_off, std::optional<bool>(false));
    }
    static constexpr size_t count = 4, text_bytes = 388; /* room for visit */
};
inline results Dropout(const ndarray &data, const Dropout_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void Dropout(into out, const ndarray &data, const Dropout_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol Dropout(const symbol &data, const Dropout_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out (shape of data, output_dim) = the row of weight (input_dim, output_dim) that each element of data selects;
 * elements outside of the rows select the nearest one */
struct Embedding_settings {
    /** int, required. Number of rows of weight, the size of the vocabulary. */
    required<int64_t> input_dim;
    /** int, required. Number of columns of weight, the size of a vector. */
    required<int64_t> output_dim;
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of weight and out where weight is not given: it has that of the array that is. */
    mxc_dtype dtype = MXC_F32;
    /** boolean, optional, default=False. Accepted for compatibility with MXNet; has no effect, the gradient of weight
     * is dense. */
    bool sparse_grad = false;
    static constexpr const char *op = "Embedding";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("input_dim", input_dim);
        visitor("output_dim", output_dim);
        visitor("dtype", dtype, MXC_F32);
        visitor("sparse_grad", sparse_grad, false);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline ndarray Embedding(const ndarray &data, const ndarray &weight, const Embedding_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &weight});
}
inline void Embedding(into out, const ndarray &data, const ndarray &weight, const Embedding_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight});
}
inline symbol Embedding(const symbol &data, const symbol &weight, const Embedding_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "weight"}, {&data, &weight});
}
inline symbol Embedding(const symbol &data, const Embedding_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Fully connected layer: output (N,H) = data (N,K) weight (H,K)^T + bias (H,), with H = num_hidden; data of more than
 * two axes is flattened to (N,K) */
struct FullyConnected_settings {
    /** int, required. Number of columns of the output. */
    required<int64_t> num_hidden;
    /** boolean, optional, default=False. Leave out the argument bias. */
    bool no_bias = false;
    /** boolean, optional, default=True. Flatten all axes of data but the first; otherwise the last axis is K, and
     * output keeps the others. */
    bool flatten = true;
    static constexpr const char *op = "FullyConnected";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_hidden", num_hidden);
        visitor("no_bias", no_bias, false);
        visitor("flatten", flatten, true);
    }
    static constexpr size_t count = 3, text_bytes = 33; /* room for visit */
};
inline ndarray FullyConnected(const ndarray &data, const ndarray &weight, const ndarray &bias,
    const FullyConnected_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &weight, &bias});
}
inline void FullyConnected(into out, const ndarray &data, const ndarray &weight, const ndarray &bias,
    const FullyConnected_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &bias});
}
inline symbol FullyConnected(const symbol &data, const symbol &weight, const symbol &bias,
    const FullyConnected_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "bias"}, {&data, &weight, &bias});
}
inline symbol FullyConnected(const symbol &data, const FullyConnected_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Group normalization: output = gamma (data - mean) / sqrt(variance + eps) + beta, with mean and variance of each
 * group of channels of each sample of data (N,C,...), gamma and beta of each channel or of each group */
struct GroupNorm_settings {
    /** int, optional, default=1. Number of groups of channels. */
    int64_t num_groups = 1;
    /** float, optional, default=1e-5. Added to the variance, for stability. */
    double eps = 1e-5;
    /** boolean, optional, default=False. Return mean and std as outputs. */
    bool output_mean_var = false;
    static constexpr const char *op = "GroupNorm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_groups", num_groups, 1);
        visitor("eps", eps, 1e-5);
        visitor("output_mean_var", output_mean_var, false);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline results GroupNorm(const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const GroupNorm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta});
}
inline void GroupNorm(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const GroupNorm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta});
}
inline symbol GroupNorm(const symbol &data, const symbol &gamma, const symbol &beta,
    const GroupNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta"}, {&data, &gamma, &beta});
}
inline symbol GroupNorm(const symbol &data, const GroupNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data, with a sparsity penalty: penalty (-target / a + (1 - target) / (1 - a)) is added to the gradient of
 * each channel (axis 1), where a is its moving mean, which a training forward pass updates: a = momentum a + (1 -
 * momentum) mean */
struct IdentityAttachKLSparseReg_settings {
    /** float, optional, default=0.1. Target of the mean activation. */
    double sparseness_target = 0.1;
    /** float, optional, default=0.001. Weight of the divergence. */
    double penalty = 0.001;
    /** float, optional, default=0.9. Share of moving_avg that is kept in each training pass. */
    double momentum = 0.9;
    static constexpr const char *op = "IdentityAttachKLSparseReg";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("sparseness_target", sparseness_target, 0.1);
        visitor("penalty", penalty, 0.001);
        visitor("momentum", momentum, 0.9);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline results IdentityAttachKLSparseReg(const ndarray &data, const ndarray &moving_avg,
    const IdentityAttachKLSparseReg_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &moving_avg});
}
inline void IdentityAttachKLSparseReg(into out, const ndarray &data, const ndarray &moving_avg,
    const IdentityAttachKLSparseReg_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &moving_avg});
}
inline symbol IdentityAttachKLSparseReg(const symbol &data, const symbol &moving_avg,
    const IdentityAttachKLSparseReg_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "moving_avg"}, {&data, &moving_avg});
}

/** Instance normalization: output = gamma (data - mean) / sqrt(variance + eps) + beta, with mean and variance of each
 * channel of each sample of data (N,C,...) */
struct InstanceNorm_settings {
    /** float, optional, default=0.001. Added to the variance, for stability. */
    double eps = 0.001;
    static constexpr const char *op = "InstanceNorm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("eps", eps, 0.001);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline results InstanceNorm(const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const InstanceNorm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta});
}
inline void InstanceNorm(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const InstanceNorm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta});
}
inline symbol InstanceNorm(const symbol &data, const symbol &gamma, const symbol &beta,
    const InstanceNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta"}, {&data, &gamma, &beta});
}
inline symbol InstanceNorm(const symbol &data, const InstanceNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data / sqrt(sum of data^2 + eps), data (N,C,...), with the sum over what mode selects */
struct L2Normalization_settings {
    /** float, optional, default=1e-10. Added to the sum of squares, for stability. */
    double eps = 1e-10;
    /** {'instance', 'spatial', 'channel'}, optional, default='instance'. What shares one norm: a sample (instance), the
     * channels of a position (channel), or the positions of a channel (spatial). */
    text mode = text("instance");
    static constexpr const char *op = "L2Normalization";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("eps", eps, 1e-10);
        visitor("mode", mode, text("instance"));
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray L2Normalization(const ndarray &data, const L2Normalization_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void L2Normalization(into out, const ndarray &data, const L2Normalization_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol L2Normalization(const symbol &data, const L2Normalization_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Local response normalization: output = data (knorm + alpha / nsize (sum of data^2 over the nsize channels
 * around))^-beta, data (N,C,...) */
struct LRN_settings {
    /** int, required. Number of channels in the window, an odd number. */
    required<int64_t> nsize;
    /** float, optional, default=0.0001. Factor of the mean of squares. */
    double alpha = 0.0001;
    /** float, optional, default=0.75. Exponent. */
    double beta = 0.75;
    /** float, optional, default=2. Constant added to the mean of squares. */
    double knorm = 2;
    static constexpr const char *op = "LRN";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("alpha", alpha, 0.0001);
        visitor("beta", beta, 0.75);
        visitor("knorm", knorm, 2);
        visitor("nsize", nsize);
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline results LRN(const ndarray &data, const LRN_settings &settings) {
    return detail::invoke<results>(settings, {&data});
}
inline void LRN(into out, const ndarray &data, const LRN_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol LRN(const symbol &data, const LRN_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Layer normalization: output = gamma (data - mean) / sqrt(variance + eps) + beta, with mean and variance along axis
 * */
struct LayerNorm_settings {
    /** int, optional, default=-1. Axis that is normalized. Negative values count from the end. */
    int64_t axis = -1;
    /** float, optional, default=1e-5. Added under the square root, for stability. */
    double eps = 1e-5;
    /** boolean, optional, default=False. Return mean and std as outputs. */
    bool output_mean_var = false;
    static constexpr const char *op = "LayerNorm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("eps", eps, 1e-5);
        visitor("output_mean_var", output_mean_var, false);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline results LayerNorm(const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const LayerNorm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta});
}
inline void LayerNorm(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const LayerNorm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta});
}
inline symbol LayerNorm(const symbol &data, const symbol &gamma, const symbol &beta,
    const LayerNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta"}, {&data, &gamma, &beta});
}
inline symbol LayerNorm(const symbol &data, const LayerNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data where data > 0, else slope data (leaky), slope (e^data - 1) (elu) or gamma data (prelu); selu: 1.0507
 * times elu with slope 1.6733; gelu: data (1 + erf(data / sqrt(2))) / 2; rrelu: a random slope in [lower_bound,
 * upper_bound) for each element in training, else their mean */
struct LeakyReLU_settings {
    /** {'rrelu', 'leaky', 'prelu', 'elu', 'selu', 'gelu'}, optional, default='leaky'. Function that is computed. */
    text act_type = text("leaky");
    /** float, optional, default=0.25. Slope of leaky and elu for negative values. */
    double slope = 0.25;
    /** float, optional, default=0.125. Lower bound of the random slopes of rrelu. */
    double lower_bound = 0.125;
    /** float, optional, default=0.334. Upper bound of the random slopes of rrelu. */
    double upper_bound = 0.334;
    static constexpr const char *op = "LeakyReLU";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("act_type", act_type, text("leaky"));
        visitor("slope", slope, 0.25);
        visitor("lower_bound", lower_bound, 0.125);
        visitor("upper_bound", upper_bound, 0.334);
    }
    static constexpr size_t count = 4, text_bytes = 99; /* room for visit */
};
inline results LeakyReLU(const ndarray &data, const ndarray &gamma, const LeakyReLU_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma});
}
inline void LeakyReLU(into out, const ndarray &data, const ndarray &gamma, const LeakyReLU_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma});
}
inline results LeakyReLU(const ndarray &data, const LeakyReLU_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void LeakyReLU(into out, const ndarray &data, const LeakyReLU_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol LeakyReLU(const symbol &data, const symbol &gamma, const LeakyReLU_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "gamma"}, {&data, &gamma});
}
inline symbol LeakyReLU(const symbol &data, const LeakyReLU_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output[n,c,p] = maximum, average, sum or p-norm of data[n,c] over the window at stride p - pad, for one to three
 * spatial axes; data (N,C,...), or (N,...,C) with channels last. Averages divide by the part of the window within data
 * and padding */
struct Pooling_settings {
    /** boolean, optional, default=False. Use one window over all spatial axes; kernel, stride and pad are ignored. */
    bool global_pool = false;
    /** boolean, optional, default=False. Accepted for compatibility with MXNet; has no effect. */
    bool cudnn_off = false;
    /** tuple of int, optional, default=(). Window size of each spatial axis: (w), (h,w) or (d,h,w). Not needed with
     * global_pool. */
    tuple kernel = tuple{};
    /** {'max', 'avg', 'sum', 'lp'}, optional, default='max'. Function of a window: maximum, average, sum, or with lp
     * the p-norm. */
    text pool_type = text("max");
    /** {'full', 'valid', 'same'}, optional, default='valid'. Rounding of the output size: valid rounds down, full
     * rounds up, same gives the size of data divided by stride, rounded up. */
    text pooling_convention = text("valid");
    /** tuple of int, optional, default=(). Stride along each spatial axis. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Padding at both ends of each spatial axis. (): 0. */
    tuple pad = tuple{};
    /** boolean or None, optional, default=None. Count the padding in the divisor of an average. None: True. */
    std::optional<bool> count_include_pad = std::optional<bool>(std::nullopt);
    /** int or None, optional, default=None. Order p of the norm with pool_type=lp: 1, 2 or 3. */
    std::optional<int64_t> p_value = std::optional<int64_t>(std::nullopt);
    /** {None, 'NCW', 'NCHW', 'NCDHW', 'NWC', 'NHWC', 'NDHWC'}, optional, default=None. Order of the axes of data and
     * output: channels second or channels last. None: channels second. */
    text layout = text();
    static constexpr const char *op = "Pooling";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("global_pool", global_pool, false);
        visitor("cudnn_off", cudnn_off, false);
        visitor("kernel", kernel, tuple{});
        visitor("pool_type", pool_type, text("max"));
        visitor("pooling_convention", pooling_convention, text("valid"));
        visitor("stride", stride, tuple{});
        visitor("pad", pad, tuple{});
        visitor("count_include_pad", count_include_pad, std::optional<bool>(std::nullopt));
        visitor("p_value", p_value, std::optional<int64_t>(std::nullopt));
        visitor("layout", layout, text());
    }
    static constexpr size_t count = 10, text_bytes = 1098; /* room for visit */
};
inline ndarray Pooling(const ndarray &data, const Pooling_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void Pooling(into out, const ndarray &data, const Pooling_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol Pooling(const symbol &data, const Pooling_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Root mean square normalization: output = gamma data / sqrt(mean of data^2 along axis + eps) */
struct RMSNorm_settings {
    /** int, optional, default=-1. Axis that is normalized. Negative values count from the end. */
    int64_t axis = -1;
    /** float, optional, default=1e-5. Added under the square root, for stability. */
    double eps = 1e-5;
    static constexpr const char *op = "RMSNorm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("eps", eps, 1e-5);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline results RMSNorm(const ndarray &data, const ndarray &gamma, const RMSNorm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma});
}
inline void RMSNorm(into out, const ndarray &data, const ndarray &gamma, const RMSNorm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma});
}
inline symbol RMSNorm(const symbol &data, const symbol &gamma, const RMSNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "gamma"}, {&data, &gamma});
}
inline symbol RMSNorm(const symbol &data, const RMSNorm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Recurrent layers: output (T,N,H), or (T,N,2H) if bidirectional, for data (T,N,I) and the initial state and
 * state_cell (layers, doubled if bidirectional; N; H). parameters holds the input and state weights of each layer and
 * direction, then their input and state biases. sequence_length (N) ends sequences before T */
struct RNN_settings {
    /** int, required. Number of hidden units per layer and direction, H. */
    required<int64_t> state_size;
    /** int, required. Number of layers. */
    required<int64_t> num_layers;
    /** {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}, required. Type of the recurrent unit. */
    required<text> mode;
    /** boolean, optional, default=False. Process the sequence in both directions. */
    bool bidirectional = false;
    /** float, optional, default=0. Dropout probability between layers in training. */
    double p = 0;
    /** boolean, optional, default=False. Return the states after the last step as outputs. */
    bool state_outputs = false;
    /** int or None, optional, default=None. Number of elements to which an LSTM's output and state are projected. None:
     * they have H. */
    std::optional<int64_t> projection_size = std::optional<int64_t>(std::nullopt);
    /** float or None, optional, default=None. Accepted for compatibility with MXNet. Only None is supported. */
    std::optional<double> lstm_state_clip_min = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Accepted for compatibility with MXNet. Only None is supported. */
    std::optional<double> lstm_state_clip_max = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. Accepted for compatibility with MXNet; has no effect. */
    bool lstm_state_clip_nan = false;
    /** boolean, optional, default=False. Use the argument sequence_length (N), the numbers of steps of the sequences:
     * each ends there, in the second direction begins there, and the output is 0 after it. Otherwise all have T steps.
     * */
    bool use_sequence_length = false;
    static constexpr const char *op = "RNN";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("state_size", state_size);
        visitor("num_layers", num_layers);
        visitor("bidirectional", bidirectional, false);
        visitor("mode", mode);
        visitor("p", p, 0);
        visitor("state_outputs", state_outputs, false);
        visitor("projection_size", projection_size, std::optional<int64_t>(std::nullopt));
        visitor("lstm_state_clip_min", lstm_state_clip_min, std::optional<double>(std::nullopt));
        visitor("lstm_state_clip_max", lstm_state_clip_max, std::optional<double>(std::nullopt));
        visitor("lstm_state_clip_nan", lstm_state_clip_nan, false);
        visitor("use_sequence_length", use_sequence_length, false);
    }
    static constexpr size_t count = 11, text_bytes = 198; /* room for visit */
};
inline results RNN(const ndarray &data, const ndarray &parameters, const ndarray &state, const ndarray &state_cell,
    const ndarray &sequence_length, const RNN_settings &settings) {
    return detail::invoke<results>(settings, {&data, &parameters, &state, &state_cell, &sequence_length});
}
inline void RNN(into out, const ndarray &data, const ndarray &parameters, const ndarray &state,
    const ndarray &state_cell, const ndarray &sequence_length, const RNN_settings &settings) {
    detail::invoke_into(out, settings, {&data, &parameters, &state, &state_cell, &sequence_length});
}
inline results RNN(const ndarray &data, const ndarray &parameters, const ndarray &state, const ndarray &state_cell,
    const RNN_settings &settings) {
    return detail::invoke<results>(settings, {&data, &parameters, &state, &state_cell});
}
inline void RNN(into out, const ndarray &data, const ndarray &parameters, const ndarray &state,
    const ndarray &state_cell, const RNN_settings &settings) {
    detail::invoke_into(out, settings, {&data, &parameters, &state, &state_cell});
}
inline results RNN(const ndarray &data, const ndarray &parameters, const ndarray &state, const RNN_settings &settings) {
    return detail::invoke<results>(settings, {&data, &parameters, &state});
}
inline void RNN(into out, const ndarray &data, const ndarray &parameters, const ndarray &state,
    const RNN_settings &settings) {
    detail::invoke_into(out, settings, {&data, &parameters, &state});
}
inline symbol RNN(const symbol &data, const symbol &parameters, const symbol &state, const symbol &state_cell,
    const symbol &sequence_length, const RNN_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "parameters", "state", "state_cell", "sequence_length"}, {&data,
        &parameters, &state, &state_cell, &sequence_length});
}
inline symbol RNN(const symbol &data, const symbol &parameters, const symbol &state, const symbol &state_cell,
    const RNN_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "parameters", "state", "state_cell"}, {&data, &parameters, &state,
        &state_cell});
}
inline symbol RNN(const symbol &data, const symbol &parameters, const symbol &state, const RNN_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "parameters", "state"}, {&data, &parameters, &state});
}
inline symbol RNN(const symbol &data, const RNN_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output (N,...) = the last step of each sequence of data (T,N,...), 0 where a sequence is empty */
struct SequenceLast_settings {
    /** boolean, optional, default=False. Use the argument sequence_length; otherwise all sequences have the full
     * length. */
    bool use_sequence_length = false;
    /** int, optional, default=0. Axis of time. */
    int64_t axis = 0;
    static constexpr const char *op = "SequenceLast";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("use_sequence_length", use_sequence_length, false);
        visitor("axis", axis, 0);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray SequenceLast(const ndarray &data, const ndarray &sequence_length,
    const SequenceLast_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &sequence_length});
}
inline void SequenceLast(into out, const ndarray &data, const ndarray &sequence_length,
    const SequenceLast_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &sequence_length});
}
inline ndarray SequenceLast(const ndarray &data, const SequenceLast_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void SequenceLast(into out, const ndarray &data, const SequenceLast_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol SequenceLast(const symbol &data, const symbol &sequence_length,
    const SequenceLast_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "sequence_length"}, {&data, &sequence_length});
}
inline symbol SequenceLast(const symbol &data, const SequenceLast_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data (T,N,...) with value in the steps after the end of each sequence */
struct SequenceMask_settings {
    /** boolean, optional, default=False. Use the argument sequence_length; otherwise all sequences have the full
     * length. */
    bool use_sequence_length = false;
    /** float, optional, default=0. Value of the steps after the end of a sequence. */
    double value = 0;
    /** int, optional, default=0. Axis of time. */
    int64_t axis = 0;
    static constexpr const char *op = "SequenceMask";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("use_sequence_length", use_sequence_length, false);
        visitor("value", value, 0);
        visitor("axis", axis, 0);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline ndarray SequenceMask(const ndarray &data, const ndarray &sequence_length,
    const SequenceMask_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &sequence_length});
}
inline void SequenceMask(into out, const ndarray &data, const ndarray &sequence_length,
    const SequenceMask_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &sequence_length});
}
inline ndarray SequenceMask(const ndarray &data, const SequenceMask_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void SequenceMask(into out, const ndarray &data, const SequenceMask_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol SequenceMask(const symbol &data, const symbol &sequence_length,
    const SequenceMask_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "sequence_length"}, {&data, &sequence_length});
}
inline symbol SequenceMask(const symbol &data, const SequenceMask_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data (T,N,...) with the steps before the end of each sequence in reverse order */
struct SequenceReverse_settings {
    /** boolean, optional, default=False. Use the argument sequence_length; otherwise all sequences have the full
     * length. */
    bool use_sequence_length = false;
    /** int, optional, default=0. Axis of time. */
    int64_t axis = 0;
    static constexpr const char *op = "SequenceReverse";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("use_sequence_length", use_sequence_length, false);
        visitor("axis", axis, 0);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray SequenceReverse(const ndarray &data, const ndarray &sequence_length,
    const SequenceReverse_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &sequence_length});
}
inline void SequenceReverse(into out, const ndarray &data, const ndarray &sequence_length,
    const SequenceReverse_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &sequence_length});
}
inline ndarray SequenceReverse(const ndarray &data, const SequenceReverse_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void SequenceReverse(into out, const ndarray &data, const SequenceReverse_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol SequenceReverse(const symbol &data, const symbol &sequence_length,
    const SequenceReverse_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "sequence_length"}, {&data, &sequence_length});
}
inline symbol SequenceReverse(const symbol &data, const SequenceReverse_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = exp(data) / sum of exp(data), along the last axis or along axis 1 */
struct SoftmaxActivation_settings {
    /** {'instance', 'channel'}, optional, default='instance'. Where softmax is computed. instance: along the last axis;
     * channel: along axis 1. */
    text mode = text("instance");
    static constexpr const char *op = "SoftmaxActivation";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("mode", mode, text("instance"));
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray SoftmaxActivation(const ndarray &data, const SoftmaxActivation_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void SoftmaxActivation(into out, const ndarray &data, const SoftmaxActivation_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol SoftmaxActivation(const symbol &data, const SoftmaxActivation_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Upsampling: the arguments (N,C,h,w) are enlarged to scale times the size of the first one and concatenated along the
 * channels or summed; with sample_type=bilinear, a Deconvolution of each channel of data (N,C,h,w) with weight
 * (C,1,k,k), k = 2 scale - scale % 2 */
struct UpSampling_settings {
    /** int, required. Scale factor of height and width of the first argument. */
    required<int64_t> scale;
    /** {'nearest', 'bilinear'}, required. Interpolation. nearest repeats each element; bilinear computes a
     * Deconvolution with the argument weight. */
    required<text> sample_type;
    /** int, optional, default=0. Number of channels of data. Only used with sample_type=bilinear. */
    int64_t num_filter = 0;
    /** {'concat', 'sum'}, optional, default='concat'. How several arguments are combined: concatenated along the
     * channels, or summed. */
    text multi_input_mode = text("concat");
    /** int, optional, default=512. Accepted for compatibility with MXNet; has no effect. */
    int64_t workspace = 512;
    static constexpr const char *op = "UpSampling";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scale", scale);
        visitor("num_filter", num_filter, 0);
        visitor("sample_type", sample_type);
        visitor("multi_input_mode", multi_input_mode, text("concat"));
        visitor("workspace", workspace, 512);
    }
    static constexpr size_t count = 6, text_bytes = 132; /* room for visit */
};
inline ndarray UpSampling(span<const ndarray> data, const UpSampling_settings &settings) {
    return detail::invoke_list<ndarray>(settings, "num_args", data);
}
inline void UpSampling(into out, span<const ndarray> data, const UpSampling_settings &settings) {
    detail::invoke_list_into(out, settings, "num_args", data);
}
inline symbol UpSampling(span<const symbol> data, const UpSampling_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, "num_args", data);
}

/** Batch normalization and ReLU: output = max(BatchNorm(data), 0) */
struct contrib_BatchNormWithReLU_settings {
    /** float, optional, default=0.001. Added to the variance, for stability. */
    double eps = 0.001;
    /** float, optional, default=0.9. Share of the moving statistics that is kept in each training pass. */
    double momentum = 0.9;
    /** boolean, optional, default=True. Use 1 in place of gamma, whose gradient is 0. */
    bool fix_gamma = true;
    /** boolean, optional, default=False. Use the moving statistics in training too. */
    bool use_global_stats = false;
    /** boolean, optional, default=False. Return the mean, and 1 / sqrt(var + eps), as outputs. */
    bool output_mean_var = false;
    /** boolean, optional, default=False. Accepted for compatibility with MXNet; has no effect. */
    bool cudnn_off = false;
    /** int, optional, default=1. Axis of the channels. Negative values count from the end. */
    int64_t axis = 1;
    /** float or None, optional, default=None. Accepted for compatibility with MXNet; only the quantized operator uses
     * it. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Accepted for compatibility with MXNet; only the quantized operator uses
     * it. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    static constexpr const char *op = "_contrib_BatchNormWithReLU";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("eps", eps, 0.001);
        visitor("momentum", momentum, 0.9);
        visitor("fix_gamma", fix_gamma, true);
        visitor("use_global_stats", use_global_stats, false);
        visitor("output_mean_var", output_mean_var, false);
        visitor("cudnn_off", cudnn_off, false);
        visitor("axis", axis, 1);
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
    }
    static constexpr size_t count = 9, text_bytes = 165; /* room for visit */
};
inline results contrib_BatchNormWithReLU(const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const contrib_BatchNormWithReLU_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta, &moving_mean, &moving_var});
}
inline void contrib_BatchNormWithReLU(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const contrib_BatchNormWithReLU_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta, &moving_mean, &moving_var});
}
inline symbol contrib_BatchNormWithReLU(const symbol &data, const symbol &gamma, const symbol &beta,
    const symbol &moving_mean, const symbol &moving_var, const contrib_BatchNormWithReLU_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta", "moving_mean", "moving_var"}, {&data, &gamma, &beta,
        &moving_mean, &moving_var});
}
inline symbol contrib_BatchNormWithReLU(const symbol &data, const contrib_BatchNormWithReLU_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Convolution of data (N,C,h,w) with weight (num_filter, C / num_group, kernel), plus bias, that reads each kernel
 * element at a position moved down and to the right by offset (N,G*K*2,H,W), for K kernel elements in each of G groups
 * of channels; output (N,num_filter,H,W) */
struct contrib_DeformableConvolution_settings {
    /** tuple of int, required. Kernel height and width. */
    required<tuple> kernel;
    /** int, required. Number of filters, the channels of the output. */
    required<int64_t> num_filter;
    /** tuple of int, optional, default=(). Stride along each spatial axis. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Dilation, the distance between neighbouring kernel elements. (): 1. */
    tuple dilate = tuple{};
    /** tuple of int, optional, default=(). Zero padding at both ends of each spatial axis. (): 0. */
    tuple pad = tuple{};
    /** int, optional, default=1. Number of groups of channels that are convolved separately. */
    int64_t num_group = 1;
    /** int, optional, default=1. Number of groups of channels with separate offsets. */
    int64_t num_deformable_group = 1;
    /** int, optional, default=1024. Accepted for compatibility with MXNet; has no effect. */
    int64_t workspace = 1024;
    /** boolean, optional, default=false. Leave out the argument bias. */
    bool no_bias = false;
    /** {None, 'NCHW'}, optional, default=None. Order of the axes. Only NCHW is supported. */
    text layout = text();
    static constexpr const char *op = "_contrib_DeformableConvolution";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
        visitor("num_filter", num_filter);
        visitor("num_group", num_group, 1);
        visitor("num_deformable_group", num_deformable_group, 1);
        visitor("workspace", workspace, 1024);
        visitor("no_bias", no_bias, false);
        visitor("layout", layout, text());
    }
    static constexpr size_t count = 10, text_bytes = 1552; /* room for visit */
};
inline ndarray contrib_DeformableConvolution(const ndarray &data, const ndarray &offset, const ndarray &weight,
    const ndarray &bias, const contrib_DeformableConvolution_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &offset, &weight, &bias});
}
inline void contrib_DeformableConvolution(into out, const ndarray &data, const ndarray &offset, const ndarray &weight,
    const ndarray &bias, const contrib_DeformableConvolution_settings &settings) {
    detail::invoke_into(out, settings, {&data, &offset, &weight, &bias});
}
inline symbol contrib_DeformableConvolution(const symbol &data, const symbol &offset, const symbol &weight,
    const symbol &bias, const contrib_DeformableConvolution_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "offset", "weight", "bias"}, {&data, &offset, &weight, &bias});
}
inline symbol contrib_DeformableConvolution(const symbol &data, const contrib_DeformableConvolution_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Convolution of data (N,C,h,w) with weight (num_filter, C / num_group, kernel), plus bias, that reads each kernel
 * element at a position moved down and to the right by offset (N,G*K*2,H,W) and multiplies it by mask (N,G*K,H,W), for
 * K kernel elements in each of G groups of channels; output (N,num_filter,H,W) */
struct contrib_ModulatedDeformableConvolution_settings {
    /** tuple of int, required. Kernel height and width. */
    required<tuple> kernel;
    /** int, required. Number of filters, the channels of the output. */
    required<int64_t> num_filter;
    /** tuple of int, optional, default=(). Stride along each spatial axis. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Dilation, the distance between neighbouring kernel elements. (): 1. */
    tuple dilate = tuple{};
    /** tuple of int, optional, default=(). Zero padding at both ends of each spatial axis. (): 0. */
    tuple pad = tuple{};
    /** int, optional, default=1. Number of groups of channels that are convolved separately. */
    int64_t num_group = 1;
    /** int, optional, default=1. Number of groups of channels with separate offsets. */
    int64_t num_deformable_group = 1;
    /** int, optional, default=1024. Accepted for compatibility with MXNet; has no effect. */
    int64_t workspace = 1024;
    /** boolean, optional, default=false. Leave out the argument bias. */
    bool no_bias = false;
    /** {None, 'NCHW'}, optional, default=None. Order of the axes. Only NCHW is supported. */
    text layout = text();
    /** int, optional, default=64. Accepted for compatibility with MXNet; has no effect. */
    int64_t im2col_step = 64;
    static constexpr const char *op = "_contrib_ModulatedDeformableConvolution";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
        visitor("num_filter", num_filter);
        visitor("num_group", num_group, 1);
        visitor("num_deformable_group", num_deformable_group, 1);
        visitor("workspace", workspace, 1024);
        visitor("no_bias", no_bias, false);
        visitor("layout", layout, text());
        visitor("im2col_step", im2col_step, 64);
    }
    static constexpr size_t count = 11, text_bytes = 1585; /* room for visit */
};
inline ndarray contrib_ModulatedDeformableConvolution(const ndarray &data, const ndarray &offset, const ndarray &mask,
    const ndarray &weight, const ndarray &bias, const contrib_ModulatedDeformableConvolution_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &offset, &mask, &weight, &bias});
}
inline void contrib_ModulatedDeformableConvolution(into out, const ndarray &data, const ndarray &offset,
    const ndarray &mask, const ndarray &weight, const ndarray &bias,
    const contrib_ModulatedDeformableConvolution_settings &settings) {
    detail::invoke_into(out, settings, {&data, &offset, &mask, &weight, &bias});
}
inline symbol contrib_ModulatedDeformableConvolution(const symbol &data, const symbol &offset, const symbol &mask,
    const symbol &weight, const symbol &bias, const contrib_ModulatedDeformableConvolution_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "offset", "mask", "weight", "bias"}, {&data, &offset, &mask, &weight,
        &bias});
}
inline symbol contrib_ModulatedDeformableConvolution(const symbol &data,
    const contrib_ModulatedDeformableConvolution_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** BatchNorm with statistics over the batches of all devices, of which only one is supported: a training pass with ndev
 * above 1 is an error */
struct contrib_SyncBatchNorm_settings {
    /** float, optional, default=0.001. Added to the variance, for stability. */
    double eps = 0.001;
    /** float, optional, default=0.9. Share of the moving statistics that is kept in each training pass. */
    double momentum = 0.9;
    /** boolean, optional, default=True. Use 1 in place of gamma, whose gradient is 0. */
    bool fix_gamma = true;
    /** boolean, optional, default=False. Use the moving statistics in training too. */
    bool use_global_stats = false;
    /** boolean, optional, default=False. Return the mean, and 1 / sqrt(var + eps), as outputs. */
    bool output_mean_var = false;
    /** boolean, optional, default=False. Accepted for compatibility with MXNet; has no effect. */
    bool cudnn_off = false;
    /** int, optional, default=1. Axis of the channels. Negative values count from the end. */
    int64_t axis = 1;
    /** int, optional, default=1. Number of devices that train together. A training pass with more than 1 is an error.
     * */
    int64_t ndev = 1;
    /** string, optional, default=''. Accepted for compatibility with MXNet; has no effect. */
    text key = text("");
    static constexpr const char *op = "_contrib_SyncBatchNorm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("eps", eps, 0.001);
        visitor("momentum", momentum, 0.9);
        visitor("fix_gamma", fix_gamma, true);
        visitor("use_global_stats", use_global_stats, false);
        visitor("output_mean_var", output_mean_var, false);
        visitor("cudnn_off", cudnn_off, false);
        visitor("axis", axis, 1);
        visitor("ndev", ndev, 1);
        visitor("key", key, text(""));
    }
    static constexpr size_t count = 9, text_bytes = 132; /* room for visit */
};
inline results contrib_SyncBatchNorm(const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const contrib_SyncBatchNorm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta, &moving_mean, &moving_var});
}
inline void contrib_SyncBatchNorm(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const contrib_SyncBatchNorm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta, &moving_mean, &moving_var});
}
inline symbol contrib_SyncBatchNorm(const symbol &data, const symbol &gamma, const symbol &beta,
    const symbol &moving_mean, const symbol &moving_var, const contrib_SyncBatchNorm_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta", "moving_mean", "moving_var"}, {&data, &gamma, &beta,
        &moving_mean, &moving_var});
}
inline symbol contrib_SyncBatchNorm(const symbol &data, const contrib_SyncBatchNorm_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Images from the columns of windows, added up where windows overlap: data (N,C K,P), out (N,C,output_size) */
struct col2im_settings {
    /** tuple of int, required. Spatial axes of out. */
    required<tuple> output_size;
    /** tuple of int, required. Size of the windows, along 1 to 3 axes. */
    required<tuple> kernel;
    /** tuple of int, optional, default=(). Distance between windows. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Distance between the elements of a window. (): 1. */
    tuple dilate = tuple{};
    /** tuple of int, optional, default=(). Zeros on both sides of each axis. (): none. */
    tuple pad = tuple{};
    static constexpr const char *op = "col2im";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("output_size", output_size);
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
    }
    static constexpr size_t count = 5, text_bytes = 1775; /* room for visit */
};
inline ndarray col2im(const ndarray &data, const col2im_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void col2im(into out, const ndarray &data, const col2im_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol col2im(const symbol &data, const col2im_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** The columns of windows: data (N,C,spatial axes), out (N,C K,P), K the elements of the kernel, P the windows; 0 in
 * the padding */
struct im2col_settings {
    /** tuple of int, required. Size of the windows, along 1 to 3 axes. */
    required<tuple> kernel;
    /** tuple of int, optional, default=(). Distance between windows. (): 1. */
    tuple stride = tuple{};
    /** tuple of int, optional, default=(). Distance between the elements of a window. (): 1. */
    tuple dilate = tuple{};
    /** tuple of int, optional, default=(). Zeros on both sides of each axis. (): none. */
    tuple pad = tuple{};
    static constexpr const char *op = "im2col";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
    }
    static constexpr size_t count = 4, text_bytes = 1420; /* room for visit */
};
inline ndarray im2col(const ndarray &data, const im2col_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void im2col(into out, const ndarray &data, const im2col_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol im2col(const symbol &data, const im2col_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = the logarithm of softmax(data) along axis */
struct log_softmax_settings {
    /** int, optional, default=-1. Axis along which the results sum to 1. Negative values count from the end. */
    int64_t axis = -1;
    /** float or None, optional, default=None. Divisor of data. None: 1. */
    std::optional<double> temperature = std::optional<double>(std::nullopt);
    /** boolean or None, optional, default=false. Use the argument length, the number of elements along axis that count;
     * the others give 0. */
    std::optional<bool> use_length = std::optional<bool>(false);
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of out. None: that of data. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "log_softmax";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("temperature", temperature, std::optional<double>(std::nullopt));
        visitor("use_length", use_length, std::optional<bool>(false));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline ndarray log_softmax(const ndarray &data, const ndarray &length, const log_softmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &length});
}
inline void log_softmax(into out, const ndarray &data, const ndarray &length,
    const log_softmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &length});
}
inline ndarray log_softmax(const ndarray &data, const log_softmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void log_softmax(into out, const ndarray &data, const log_softmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol log_softmax(const symbol &data, const symbol &length, const log_softmax_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "length"}, {&data, &length});
}
inline symbol log_softmax(const symbol &data, const log_softmax_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** Logarithm of masked_softmax; minus infinity where mask is 0 */
struct masked_log_softmax_settings {
    /** int, optional, default=-1. Axis along which the results sum to 1. Negative values count from the end. */
    int64_t axis = -1;
    /** float, optional, default=1. Divisor of data. */
    double temperature = 1;
    /** boolean, optional, default=true. Accepted for compatibility with MXNet; has no effect, the maximum is always
     * subtracted first. */
    bool normalize = true;
    static constexpr const char *op = "masked_log_softmax";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("temperature", temperature, 1);
        visitor("normalize", normalize, true);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline ndarray masked_log_softmax(const ndarray &data, const ndarray &mask,
    const masked_log_softmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &mask});
}
inline void masked_log_softmax(into out, const ndarray &data, const ndarray &mask,
    const masked_log_softmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &mask});
}
inline symbol masked_log_softmax(const symbol &data, const symbol &mask,
    const masked_log_softmax_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "mask"}, {&data, &mask});
}

/** Softmax of data / temperature along axis over the elements whose mask, broadcast to the shape of data, is not 0; 0
 * at the others */
struct masked_softmax_settings {
    /** int, optional, default=-1. Axis along which the results sum to 1. Negative values count from the end. */
    int64_t axis = -1;
    /** float, optional, default=1. Divisor of data. */
    double temperature = 1;
    /** boolean, optional, default=true. Accepted for compatibility with MXNet; has no effect, the maximum is always
     * subtracted first. */
    bool normalize = true;
    static constexpr const char *op = "masked_softmax";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("temperature", temperature, 1);
        visitor("normalize", normalize, true);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline ndarray masked_softmax(const ndarray &data, const ndarray &mask, const masked_softmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &mask});
}
inline void masked_softmax(into out, const ndarray &data, const ndarray &mask,
    const masked_softmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &mask});
}
inline symbol masked_softmax(const symbol &data, const symbol &mask, const masked_softmax_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "mask"}, {&data, &mask});
}

/** Rotary position embedding: out = data (...,L,...,D) with pairs of the first W elements of the last axis rotated; at
 * position p of L, pair i is rotated by (p + offset) base^(-2 i / W) */
struct rotary_embedding_settings {
    /** int, optional, default=-2. Axis of the positions, not the last one. Negative values count from the end. */
    int64_t axis = -2;
    /** int or None, optional, default=None. Number of leading elements of each row that are rotated, W. None: all. */
    std::optional<int64_t> width = std::optional<int64_t>(std::nullopt);
    /** int, optional, default=0. Position of the first row, such as the number of rows already cached. */
    int64_t offset = 0;
    /** float, optional, default=10000. Base of the geometric sequence of angles, which fall from 1 to nearly 1 / base
     * per position. */
    double base = 10000;
    /** boolean, optional, default=False. Pairs are neighbouring elements; otherwise elements W / 2 apart. */
    bool interleaved = false;
    static constexpr const char *op = "rotary_embedding";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -2);
        visitor("width", width, std::optional<int64_t>(std::nullopt));
        visitor("offset", offset, 0);
        visitor("base", base, 10000);
        visitor("interleaved", interleaved, false);
    }
    static constexpr size_t count = 5, text_bytes = 132; /* room for visit */
};
inline ndarray rotary_embedding(const ndarray &data, const rotary_embedding_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void rotary_embedding(into out, const ndarray &data, const rotary_embedding_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol rotary_embedding(const symbol &data, const rotary_embedding_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = softmax(scale query key^T + mask) value, with softmax over the keys: query (...,L,D), key (...,S,D), value
 * (...,S,V), output (...,L,V). mask is broadcast to (...,L,S) and has no gradient; a float mask is added, one of
 * another dtype hides the keys where it is 0. A query that sees no key gives 0 */
struct scaled_dot_product_attention_settings {
    /** boolean, optional, default=False. Use the argument mask. */
    bool use_mask = false;
    /** boolean, optional, default=False. Causal mask: query i sees keys up to i + S - L only. */
    bool causal = false;
    /** float or None, optional, default=None. Factor of the scores. None: 1 / sqrt(D). */
    std::optional<double> scale = std::optional<double>(std::nullopt);
    static constexpr const char *op = "scaled_dot_product_attention";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("use_mask", use_mask, false);
        visitor("causal", causal, false);
        visitor("scale", scale, std::optional<double>(std::nullopt));
    }
    static constexpr size_t count = 3, text_bytes = 33; /* room for visit */
};
inline results scaled_dot_product_attention(const ndarray &query, const ndarray &key, const ndarray &value,
    const ndarray &mask, const scaled_dot_product_attention_settings &settings = {}) {
    return detail::invoke<results>(settings, {&query, &key, &value, &mask});
}
inline void scaled_dot_product_attention(into out, const ndarray &query, const ndarray &key, const ndarray &value,
    const ndarray &mask, const scaled_dot_product_attention_settings &settings = {}) {
    detail::invoke_into(out, settings, {&query, &key, &value, &mask});
}
inline results scaled_dot_product_attention(const ndarray &query, const ndarray &key, const ndarray &value,
    const scaled_dot_product_attention_settings &settings = {}) {
    return detail::invoke<results>(settings, {&query, &key, &value});
}
inline void scaled_dot_product_attention(into out, const ndarray &query, const ndarray &key, const ndarray &value,
    const scaled_dot_product_attention_settings &settings = {}) {
    detail::invoke_into(out, settings, {&query, &key, &value});
}
inline symbol scaled_dot_product_attention(const symbol &query, const symbol &key, const symbol &value,
    const symbol &mask, const scaled_dot_product_attention_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"query", "key", "value", "mask"}, {&query, &key, &value, &mask});
}
inline symbol scaled_dot_product_attention(const symbol &query, const symbol &key, const symbol &value,
    const scaled_dot_product_attention_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"query", "key", "value"}, {&query, &key, &value});
}

/** out = exp(data / temperature) / its sum along axis */
struct softmax_settings {
    /** int, optional, default=-1. Axis along which the results sum to 1. Negative values count from the end. */
    int64_t axis = -1;
    /** float or None, optional, default=None. Divisor of data. None: 1. */
    std::optional<double> temperature = std::optional<double>(std::nullopt);
    /** boolean or None, optional, default=false. Use the argument length, the number of elements along axis that count;
     * the others give 0. */
    std::optional<bool> use_length = std::optional<bool>(false);
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of out. None: that of data. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "softmax";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("temperature", temperature, std::optional<double>(std::nullopt));
        visitor("use_length", use_length, std::optional<bool>(false));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline ndarray softmax(const ndarray &data, const ndarray &length, const softmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &length});
}
inline void softmax(into out, const ndarray &data, const ndarray &length, const softmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &length});
}
inline ndarray softmax(const ndarray &data, const softmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void softmax(into out, const ndarray &data, const softmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol softmax(const symbol &data, const symbol &length, const softmax_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "length"}, {&data, &length});
}
inline symbol softmax(const symbol &data, const softmax_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = exp(-data / temperature) / its sum along axis */
struct softmin_settings {
    /** int, optional, default=-1. Axis along which the results sum to 1. Negative values count from the end. */
    int64_t axis = -1;
    /** float or None, optional, default=None. Divisor of data. None: 1. */
    std::optional<double> temperature = std::optional<double>(std::nullopt);
    /** boolean or None, optional, default=false. Use the argument length, the number of elements along axis that count;
     * the others give 0. */
    std::optional<bool> use_length = std::optional<bool>(false);
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of out. None: that of data. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "softmin";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("temperature", temperature, std::optional<double>(std::nullopt));
        visitor("use_length", use_length, std::optional<bool>(false));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline ndarray softmin(const ndarray &data, const ndarray &length, const softmin_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &length});
}
inline void softmin(into out, const ndarray &data, const ndarray &length, const softmin_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &length});
}
inline ndarray softmin(const ndarray &data, const softmin_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void softmin(into out, const ndarray &data, const softmin_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol softmin(const symbol &data, const symbol &length, const softmin_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "length"}, {&data, &length});
}
inline symbol softmin(const symbol &data, const softmin_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif
