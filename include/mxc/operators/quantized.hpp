/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family quantized as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_QUANTIZED_HPP
#define MXC_OPERATORS_QUANTIZED_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** Threshold for quantization with the least Kullback-Leibler divergence: threshold = the edge t of hist_edges (n +
 * 1,), n odd, for which the histogram hist (n,) clipped to [-t, t] differs least from itself quantized to
 * num_quantized_bins bins; divergence = that divergence */
struct contrib_calibrate_entropy_settings {
    /** int, optional, default=255. Number of bins of the quantized distribution. */
    int64_t num_quantized_bins = 255;
    static constexpr const char *op = "_contrib_calibrate_entropy";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_quantized_bins", num_quantized_bins, 255);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline results contrib_calibrate_entropy(const ndarray &hist, const ndarray &hist_edges,
    const contrib_calibrate_entropy_settings &settings = {}) {
    return detail::invoke<results>(settings, {&hist, &hist_edges});
}
inline void contrib_calibrate_entropy(into out, const ndarray &hist, const ndarray &hist_edges,
    const contrib_calibrate_entropy_settings &settings = {}) {
    detail::invoke_into(out, settings, {&hist, &hist_edges});
}
inline symbol contrib_calibrate_entropy(const symbol &hist, const symbol &hist_edges,
    const contrib_calibrate_entropy_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"hist", "hist_edges"}, {&hist, &hist_edges});
}

/** Dequantizes data to float over [min_range, max_range]: uint8 and int8 as _contrib_quantize makes them, int32 as
 * quantized layers make it */
struct contrib_dequantize_settings {
    /** {'float32'}, optional, default='float32'. Dtype of output. */
    text out_type = text("float32");
    static constexpr const char *op = "_contrib_dequantize";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("out_type", out_type, text("float32"));
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray contrib_dequantize(const ndarray &data, const ndarray &min_range, const ndarray &max_range,
    const contrib_dequantize_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &min_range, &max_range});
}
inline void contrib_dequantize(into out, const ndarray &data, const ndarray &min_range, const ndarray &max_range,
    const contrib_dequantize_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &min_range, &max_range});
}
inline symbol contrib_dequantize(const symbol &data, const symbol &min_range, const symbol &max_range,
    const contrib_dequantize_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "min_range", "max_range"}, {&data, &min_range, &max_range});
}

/** Quantizes float input to 8 bits: to 0..255 over [min_range, max_range], or with out_type=int8 to -127..127 over a
 * range symmetric about 0; output1 and output2 = the range */
struct contrib_quantize_settings {
    /** {'uint8', 'int8'}, optional, default='uint8'. Dtype of output. */
    text out_type = text("uint8");
    static constexpr const char *op = "_contrib_quantize";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("out_type", out_type, text("uint8"));
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline results contrib_quantize(const ndarray &data, const ndarray &min_range, const ndarray &max_range,
    const contrib_quantize_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &min_range, &max_range});
}
inline void contrib_quantize(into out, const ndarray &data, const ndarray &min_range, const ndarray &max_range,
    const contrib_quantize_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &min_range, &max_range});
}
inline symbol contrib_quantize(const symbol &data, const symbol &min_range, const symbol &max_range,
    const contrib_quantize_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "min_range", "max_range"}, {&data, &min_range, &max_range});
}

/** output (uint8) = data scale + shift, rounded and saturated, with scale = 255 / (max - min) and shift = -min scale of
 * the calibrated range or else of data; 0 where min = max */
struct contrib_quantize_asym_settings {
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    static constexpr const char *op = "_contrib_quantize_asym";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline results contrib_quantize_asym(const ndarray &data, const contrib_quantize_asym_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void contrib_quantize_asym(into out, const ndarray &data, const contrib_quantize_asym_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_quantize_asym(const symbol &data, const contrib_quantize_asym_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output0 = data / unit, rounded and saturated, with unit = r / 127 (int8) or r / 255 (uint8, where negative values
 * become 0) and r the largest absolute value of the calibrated range or else of data; output1 and output2 = the range,
 * from -r (uint8: 0) to r. Data that is int8 or uint8 is passed through */
struct contrib_quantize_v2_settings {
    /** {'auto', 'int8', 'uint8'}, optional, default='int8'. Dtype of output. auto: uint8 if min_calib_range is given
     * and not negative, else int8. */
    text out_type = text("int8");
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    static constexpr const char *op = "_contrib_quantize_v2";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("out_type", out_type, text("int8"));
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
        visitor("half_steps", half_steps, false);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline results contrib_quantize_v2(const ndarray &data, const contrib_quantize_v2_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void contrib_quantize_v2(into out, const ndarray &data, const contrib_quantize_v2_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_quantize_v2(const symbol &data, const contrib_quantize_v2_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = max(data, 0); the range is passed through */
struct contrib_quantized_act_settings {
    /** {'relu'}, required. Function. Only relu, max(x, 0), is supported. */
    required<text> act_type;
    static constexpr const char *op = "_contrib_quantized_act";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("act_type", act_type);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline results contrib_quantized_act(const ndarray &data, const ndarray &min_data, const ndarray &max_data,
    const contrib_quantized_act_settings &settings) {
    return detail::invoke<results>(settings, {&data, &min_data, &max_data});
}
inline void contrib_quantized_act(into out, const ndarray &data, const ndarray &min_data, const ndarray &max_data,
    const contrib_quantized_act_settings &settings) {
    detail::invoke_into(out, settings, {&data, &min_data, &max_data});
}
inline symbol contrib_quantized_act(const symbol &data, const symbol &min_data, const symbol &max_data,
    const contrib_quantized_act_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "min_data", "max_data"}, {&data, &min_data, &max_data});
}

/** output (int8) = gamma (data - moving_mean) / sqrt(moving_var + eps) + beta for each channel (axis 1), computed on
 * dequantized data and quantized to the calibrated range */
struct contrib_quantized_batch_norm_settings {
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
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    static constexpr const char *op = "_contrib_quantized_batch_norm";
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
        visitor("half_steps", half_steps, false);
    }
    static constexpr size_t count = 10, text_bytes = 165; /* room for visit */
};
inline results contrib_quantized_batch_norm(const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const ndarray &min_data, const ndarray &max_data,
    const contrib_quantized_batch_norm_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &gamma, &beta, &moving_mean, &moving_var, &min_data, &max_data});
}
inline void contrib_quantized_batch_norm(into out, const ndarray &data, const ndarray &gamma, const ndarray &beta,
    const ndarray &moving_mean, const ndarray &moving_var, const ndarray &min_data, const ndarray &max_data,
    const contrib_quantized_batch_norm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &gamma, &beta, &moving_mean, &moving_var, &min_data, &max_data});
}
inline symbol contrib_quantized_batch_norm(const symbol &data, const symbol &gamma, const symbol &beta,
    const symbol &moving_mean, const symbol &moving_var, const symbol &min_data, const symbol &max_data,
    const contrib_quantized_batch_norm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"},
        {&data, &gamma, &beta, &moving_mean, &moving_var, &min_data, &max_data});
}
inline symbol contrib_quantized_batch_norm(const symbol &data,
    const contrib_quantized_batch_norm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = the arguments concatenated along dim and requantized to the range that covers all of theirs: uint8 if all
 * are, else int8 */
struct contrib_quantized_concat_settings {
    /** int, required. Number of arguments. */
    required<int64_t> num_args;
    /** int, optional, default=1. Axis of concatenation. Negative values count from the end. */
    int64_t dim = 1;
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    static constexpr const char *op = "_contrib_quantized_concat";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_args", num_args);
        visitor("dim", dim, 1);
        visitor("half_steps", half_steps, false);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline results contrib_quantized_concat(span<const ndarray> data, const contrib_quantized_concat_settings &settings) {
    return detail::invoke_list<results>(settings, nullptr, data);
}
inline void contrib_quantized_concat(into out, span<const ndarray> data,
    const contrib_quantized_concat_settings &settings) {
    detail::invoke_list_into(out, settings, nullptr, data);
}
inline symbol contrib_quantized_concat(span<const symbol> data, const contrib_quantized_concat_settings &settings,
    text name = {}) {
    return detail::apply_list(settings, name, nullptr, data);
}

/** output (int32) = Convolution of quantized data and weight; the range and the bias are those of
 * _contrib_quantized_fully_connected */
struct contrib_quantized_conv_settings {
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
    static constexpr const char *op = "_contrib_quantized_conv";
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
inline results contrib_quantized_conv(const ndarray &data, const ndarray &weight, const ndarray &bias,
    const ndarray &min_data, const ndarray &max_data, const ndarray &min_weight, const ndarray &max_weight,
    const ndarray &min_bias, const ndarray &max_bias, const contrib_quantized_conv_settings &settings) {
    return detail::invoke<results>(settings, {&data, &weight, &bias, &min_data, &max_data, &min_weight, &max_weight,
        &min_bias, &max_bias});
}
inline void contrib_quantized_conv(into out, const ndarray &data, const ndarray &weight, const ndarray &bias,
    const ndarray &min_data, const ndarray &max_data, const ndarray &min_weight, const ndarray &max_weight,
    const ndarray &min_bias, const ndarray &max_bias, const contrib_quantized_conv_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &bias, &min_data, &max_data, &min_weight, &max_weight,
        &min_bias, &max_bias});
}
inline symbol contrib_quantized_conv(const symbol &data, const symbol &weight, const symbol &bias,
    const symbol &min_data, const symbol &max_data, const symbol &min_weight, const symbol &max_weight,
    const symbol &min_bias, const symbol &max_bias, const contrib_quantized_conv_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight",
        "min_bias", "max_bias"}, {&data, &weight, &bias, &min_data, &max_data, &min_weight, &max_weight, &min_bias,
        &max_bias});
}
inline symbol contrib_quantized_conv(const symbol &data, const contrib_quantized_conv_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = the sum of quantized lhs and rhs: int32 over [-r, r], where r is the sum of the two largest absolute
 * bounds; with a calibrated range 8 bits over that range, uint8 if both arguments are, else int8 */
struct contrib_quantized_elemwise_add_settings {
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    static constexpr const char *op = "_contrib_quantized_elemwise_add";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
        visitor("half_steps", half_steps, false);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline results contrib_quantized_elemwise_add(const ndarray &lhs, const ndarray &rhs, const ndarray &lhs_min,
    const ndarray &lhs_max, const ndarray &rhs_min, const ndarray &rhs_max,
    const contrib_quantized_elemwise_add_settings &settings = {}) {
    return detail::invoke<results>(settings, {&lhs, &rhs, &lhs_min, &lhs_max, &rhs_min, &rhs_max});
}
inline void contrib_quantized_elemwise_add(into out, const ndarray &lhs, const ndarray &rhs, const ndarray &lhs_min,
    const ndarray &lhs_max, const ndarray &rhs_min, const ndarray &rhs_max,
    const contrib_quantized_elemwise_add_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs, &lhs_min, &lhs_max, &rhs_min, &rhs_max});
}
inline symbol contrib_quantized_elemwise_add(const symbol &lhs, const symbol &rhs, const symbol &lhs_min,
    const symbol &lhs_max, const symbol &rhs_min, const symbol &rhs_max,
    const contrib_quantized_elemwise_add_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"}, {&lhs, &rhs,
        &lhs_min, &lhs_max, &rhs_min, &rhs_max});
}

/** output = the product of int8 lhs and rhs: int32 with the product of their units, with a calibrated range int8 over
 * that range, or float32 */
struct contrib_quantized_elemwise_mul_settings {
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    /** boolean, optional, default=False. Return float32 instead of integers and a range. */
    bool enable_float_output = false;
    static constexpr const char *op = "_contrib_quantized_elemwise_mul";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
        visitor("half_steps", half_steps, false);
        visitor("enable_float_output", enable_float_output, false);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline results contrib_quantized_elemwise_mul(const ndarray &lhs, const ndarray &rhs, const ndarray &lhs_min,
    const ndarray &lhs_max, const ndarray &rhs_min, const ndarray &rhs_max,
    const contrib_quantized_elemwise_mul_settings &settings = {}) {
    return detail::invoke<results>(settings, {&lhs, &rhs, &lhs_min, &lhs_max, &rhs_min, &rhs_max});
}
inline void contrib_quantized_elemwise_mul(into out, const ndarray &lhs, const ndarray &rhs, const ndarray &lhs_min,
    const ndarray &lhs_max, const ndarray &rhs_min, const ndarray &rhs_max,
    const contrib_quantized_elemwise_mul_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs, &lhs_min, &lhs_max, &rhs_min, &rhs_max});
}
inline symbol contrib_quantized_elemwise_mul(const symbol &lhs, const symbol &rhs, const symbol &lhs_min,
    const symbol &lhs_max, const symbol &rhs_min, const symbol &rhs_max,
    const contrib_quantized_elemwise_mul_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs", "lhs_min", "lhs_max", "rhs_min", "rhs_max"}, {&lhs, &rhs,
        &lhs_min, &lhs_max, &rhs_min, &rhs_max});
}

/** output (shape of data, output_dim) = the row of int8 weight (input_dim, output_dim) that each element of data
 * selects; the range is that of weight */
struct contrib_quantized_embedding_settings {
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
    static constexpr const char *op = "_contrib_quantized_embedding";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("input_dim", input_dim);
        visitor("output_dim", output_dim);
        visitor("dtype", dtype, MXC_F32);
        visitor("sparse_grad", sparse_grad, false);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline results contrib_quantized_embedding(const ndarray &data, const ndarray &weight, const ndarray &min_weight,
    const ndarray &max_weight, const contrib_quantized_embedding_settings &settings) {
    return detail::invoke<results>(settings, {&data, &weight, &min_weight, &max_weight});
}
inline void contrib_quantized_embedding(into out, const ndarray &data, const ndarray &weight, const ndarray &min_weight,
    const ndarray &max_weight, const contrib_quantized_embedding_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &min_weight, &max_weight});
}
inline symbol contrib_quantized_embedding(const symbol &data, const symbol &weight, const symbol &min_weight,
    const symbol &max_weight, const contrib_quantized_embedding_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "min_weight", "max_weight"}, {&data, &weight, &min_weight,
        &max_weight});
}
inline symbol contrib_quantized_embedding(const symbol &data, const contrib_quantized_embedding_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output (N, a b ...) = data (N, a, b, ...) flattened; the range is passed through */
inline results contrib_quantized_flatten(const ndarray &data, const ndarray &min_data, const ndarray &max_data) {
    return detail::invoke<results>("_contrib_quantized_flatten", {&data, &min_data, &max_data});
}
inline void contrib_quantized_flatten(into out, const ndarray &data, const ndarray &min_data, const ndarray &max_data) {
    detail::invoke_into(out, "_contrib_quantized_flatten", {&data, &min_data, &max_data});
}
inline symbol contrib_quantized_flatten(const symbol &data, const symbol &min_data, const symbol &max_data,
    text name = {}) {
    return detail::apply("_contrib_quantized_flatten", name, {"data", "min_data", "max_data"}, {&data, &min_data,
        &max_data});
}

/** output (int32) = FullyConnected of quantized data and weight; min_output and max_output = -r and r with r = unit of
 * data times unit of weight times 2147483647, where a unit is the larger absolute value of the two bounds over 127
 * (int8) or 255 (uint8). The bias is rescaled to the unit of output */
struct contrib_quantized_fully_connected_settings {
    /** int, required. Number of columns of the output. */
    required<int64_t> num_hidden;
    /** boolean, optional, default=False. Leave out the argument bias. */
    bool no_bias = false;
    /** boolean, optional, default=True. Flatten all axes of data but the first; otherwise the last axis is K, and
     * output keeps the others. */
    bool flatten = true;
    static constexpr const char *op = "_contrib_quantized_fully_connected";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_hidden", num_hidden);
        visitor("no_bias", no_bias, false);
        visitor("flatten", flatten, true);
    }
    static constexpr size_t count = 3, text_bytes = 33; /* room for visit */
};
inline results contrib_quantized_fully_connected(const ndarray &data, const ndarray &weight, const ndarray &bias,
    const ndarray &min_data, const ndarray &max_data, const ndarray &min_weight, const ndarray &max_weight,
    const ndarray &min_bias, const ndarray &max_bias, const contrib_quantized_fully_connected_settings &settings) {
    return detail::invoke<results>(settings, {&data, &weight, &bias, &min_data, &max_data, &min_weight, &max_weight,
        &min_bias, &max_bias});
}
inline void contrib_quantized_fully_connected(into out, const ndarray &data, const ndarray &weight, const ndarray &bias,
    const ndarray &min_data, const ndarray &max_data, const ndarray &min_weight, const ndarray &max_weight,
    const ndarray &min_bias, const ndarray &max_bias, const contrib_quantized_fully_connected_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &bias, &min_data, &max_data, &min_weight, &max_weight,
        &min_bias, &max_bias});
}
inline symbol contrib_quantized_fully_connected(const symbol &data, const symbol &weight, const symbol &bias,
    const symbol &min_data, const symbol &max_data, const symbol &min_weight, const symbol &max_weight,
    const symbol &min_bias, const symbol &max_bias, const contrib_quantized_fully_connected_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight",
        "min_bias", "max_bias"}, {&data, &weight, &bias, &min_data, &max_data, &min_weight, &max_weight, &min_bias,
        &max_bias});
}
inline symbol contrib_quantized_fully_connected(const symbol &data,
    const contrib_quantized_fully_connected_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = Pooling of integers: the maximum, or the average rounded to nearest; the range is passed through */
struct contrib_quantized_pooling_settings {
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
    static constexpr const char *op = "_contrib_quantized_pooling";
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
inline results contrib_quantized_pooling(const ndarray &data, const ndarray &min_data, const ndarray &max_data,
    const contrib_quantized_pooling_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &min_data, &max_data});
}
inline void contrib_quantized_pooling(into out, const ndarray &data, const ndarray &min_data, const ndarray &max_data,
    const contrib_quantized_pooling_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &min_data, &max_data});
}
inline symbol contrib_quantized_pooling(const symbol &data, const symbol &min_data, const symbol &max_data,
    const contrib_quantized_pooling_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "min_data", "max_data"}, {&data, &min_data, &max_data});
}

/** Requantizes int32 data over [min_range, max_range] to 8 bits, as _contrib_quantize_v2 quantizes the real numbers
 * that data stands for */
struct contrib_requantize_settings {
    /** {'auto', 'int8', 'uint8'}, optional, default='int8'. Dtype of output. auto: uint8 if min_calib_range is given
     * and not negative, else int8. */
    text out_type = text("int8");
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    static constexpr const char *op = "_contrib_requantize";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("out_type", out_type, text("int8"));
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
        visitor("half_steps", half_steps, false);
    }
    static constexpr size_t count = 4, text_bytes = 66; /* room for visit */
};
inline results contrib_requantize(const ndarray &data, const ndarray &min_range, const ndarray &max_range,
    const contrib_requantize_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &min_range, &max_range});
}
inline void contrib_requantize(into out, const ndarray &data, const ndarray &min_range, const ndarray &max_range,
    const contrib_requantize_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &min_range, &max_range});
}
inline symbol contrib_requantize(const symbol &data, const symbol &min_range, const symbol &max_range,
    const contrib_requantize_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "min_range", "max_range"}, {&data, &min_range, &max_range});
}

/** output = sum_act(sum + act(BatchNorm(Convolution(data, weight, bias)))) of quantized data, float32 weights, which
 * are quantized filter by filter, and a quantized sum: 8 bits of the calibrated range, uint8 where max(x, 0) comes
 * last, else int8; without a calibrated range int32 in the unit of data times that of all weights. An 8-bit layer that
 * MXNet fused for oneDNN is read as this operator, which MXNet does not have */
struct quantized_fused_conv_settings {
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
    /** boolean, optional, default=False. Leave out the argument bias. */
    bool no_bias = false;
    /** boolean, optional, default=False. Normalize by the arguments gamma and beta and the auxiliary states mean and
     * var. */
    bool with_bn = false;
    /** float, optional, default=0.001. Added to var, for stability. */
    double eps = 0.001;
    /** boolean, optional, default=True. Use 1 in place of gamma. */
    bool fix_gamma = true;
    /** boolean, optional, default=False. Apply act, max(x, 0) or what act_slope and act_max make of it. */
    bool with_act = false;
    /** float, optional, default=0. What act multiplies negative numbers by. */
    double act_slope = 0;
    /** float or None, optional, default=None. Upper limit of what act gives. None: there is none. */
    std::optional<double> act_max = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. Add the argument sum. */
    bool with_sum = false;
    /** boolean, optional, default=False. Apply sum_act, max(x, 0). */
    bool with_sum_act = false;
    /** float or None, optional, default=None. Calibrated minimum of the output. None: found in each run. */
    std::optional<double> min_calib_range = std::optional<double>(std::nullopt);
    /** float or None, optional, default=None. Calibrated maximum of the output. None: found in each run. */
    std::optional<double> max_calib_range = std::optional<double>(std::nullopt);
    /** boolean, optional, default=False. The range r ends half a step beyond the last code: a code of 8 bits stands for
     * r / 127.5 (int8) or r / 255.5 (uint8), and the outputs give the range of the codes. Set where graphs for oneDNN
     * are read. */
    bool half_steps = false;
    static constexpr const char *op = "_quantized_fused_conv";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("kernel", kernel);
        visitor("stride", stride, tuple{});
        visitor("dilate", dilate, tuple{});
        visitor("pad", pad, tuple{});
        visitor("num_filter", num_filter);
        visitor("num_group", num_group, 1);
        visitor("no_bias", no_bias, false);
        visitor("with_bn", with_bn, false);
        visitor("eps", eps, 0.001);
        visitor("fix_gamma", fix_gamma, true);
        visitor("with_act", with_act, false);
        visitor("act_slope", act_slope, 0);
        visitor("act_max", act_max, std::optional<double>(std::nullopt));
        visitor("with_sum", with_sum, false);
        visitor("with_sum_act", with_sum_act, false);
        visitor("min_calib_range", min_calib_range, std::optional<double>(std::nullopt));
        visitor("max_calib_range", max_calib_range, std::optional<double>(std::nullopt));
        visitor("half_steps", half_steps, false);
    }
    static constexpr size_t count = 18, text_bytes = 1651; /* room for visit */
};
inline results quantized_fused_conv(const ndarray &data, const ndarray &weight, const ndarray &bias,
    const ndarray &gamma, const ndarray &beta, const ndarray &sum, const ndarray &min_data, const ndarray &max_data,
    const ndarray &min_sum, const ndarray &max_sum, const ndarray &mean, const ndarray &var,
    const quantized_fused_conv_settings &settings) {
    return detail::invoke<results>(settings, {&data, &weight, &bias, &gamma, &beta, &sum, &min_data, &max_data,
        &min_sum, &max_sum, &mean, &var});
}
inline void quantized_fused_conv(into out, const ndarray &data, const ndarray &weight, const ndarray &bias,
    const ndarray &gamma, const ndarray &beta, const ndarray &sum, const ndarray &min_data, const ndarray &max_data,
    const ndarray &min_sum, const ndarray &max_sum, const ndarray &mean, const ndarray &var,
    const quantized_fused_conv_settings &settings) {
    detail::invoke_into(out, settings, {&data, &weight, &bias, &gamma, &beta, &sum, &min_data, &max_data, &min_sum,
        &max_sum, &mean, &var});
}
inline symbol quantized_fused_conv(const symbol &data, const symbol &weight, const symbol &bias, const symbol &gamma,
    const symbol &beta, const symbol &sum, const symbol &min_data, const symbol &max_data, const symbol &min_sum,
    const symbol &max_sum, const symbol &mean, const symbol &var, const quantized_fused_conv_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "weight", "bias", "gamma", "beta", "sum", "min_data", "max_data",
        "min_sum", "max_sum", "mean", "var"}, {&data, &weight, &bias, &gamma, &beta, &sum, &min_data, &max_data,
        &min_sum, &max_sum, &mean, &var});
}
inline symbol quantized_fused_conv(const symbol &data, const quantized_fused_conv_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif
