/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family tensor as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_TENSOR_HPP
#define MXC_OPERATORS_TENSOR_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** out = data converted to dtype; floats are truncated towards 0 to integers, with saturation */
struct Cast_settings {
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, required. Dtype of
     * out. */
    required<mxc_dtype> dtype;
    static constexpr const char *op = "Cast";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("dtype", dtype);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray Cast(const ndarray &data, const Cast_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void Cast(into out, const ndarray &data, const Cast_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol Cast(const symbol &data, const Cast_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = the arguments concatenated along axis dim; their other axes are equal */
struct Concat_settings {
    /** int, optional, default=1. Axis of concatenation. Negative values count from the end. */
    int64_t dim = 1;
    static constexpr const char *op = "Concat";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("dim", dim, 1);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray Concat(span<const ndarray> data, const Concat_settings &settings = {}) {
    return detail::invoke_list<ndarray>(settings, "num_args", data);
}
inline void Concat(into out, span<const ndarray> data, const Concat_settings &settings = {}) {
    detail::invoke_list_into(out, settings, "num_args", data);
}
inline symbol Concat(span<const symbol> data, const Concat_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, "num_args", data);
}

/** output (N, a b ...) = data (N, a, b, ...) with all axes but the first merged */
inline ndarray Flatten(const ndarray &data) {
    return detail::invoke<ndarray>("Flatten", {&data});
}
inline void Flatten(into out, const ndarray &data) {
    detail::invoke_into(out, "Flatten", {&data});
}
inline symbol Flatten(const symbol &data, text name = {}) {
    return detail::apply("Flatten", name, {"data"}, {&data});
}

/** out = data (N,C,H,W) or (N,C,D,H,W), padded by pad_width along the spatial axes */
struct Pad_settings {
    /** {'constant', 'edge', 'reflect'}, required. Values of the padding: constant_value, the nearest element of data
     * (edge), or data mirrored at its border (reflect). */
    required<text> mode;
    /** tuple of int, required. Padding before and after each axis, in pairs. The first four are 0. */
    required<tuple> pad_width;
    /** float, optional, default=0. Value of the padding with mode=constant. */
    double constant_value = 0;
    static constexpr const char *op = "Pad";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("mode", mode);
        visitor("pad_width", pad_width);
        visitor("constant_value", constant_value, 0);
    }
    static constexpr size_t count = 3, text_bytes = 388; /* room for visit */
};
inline ndarray Pad(const ndarray &data, const Pad_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void Pad(into out, const ndarray &data, const Pad_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol Pad(const symbol &data, const Pad_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output = data with the same elements in the same order and another shape */
struct Reshape_settings {
    /** tuple of int, optional, default=(). Shape of the output: sizes, or 0 to copy an axis of data, -1 to infer one
     * axis, -2 to copy the remaining axes, -3 to merge two axes, -4 to split one into the next two entries. */
    tuple shape = tuple{};
    /** boolean, optional, default=False. Match shape with the axes of data from the right. */
    bool reverse = false;
    /** tuple of int, optional, default=(). Older form, used if shape is empty: sizes, with 0 for one axis that is
     * inferred. */
    tuple target_shape = tuple{};
    /** boolean, optional, default=False. With target_shape: keep the first axis of data. */
    bool keep_highest = false;
    static constexpr const char *op = "Reshape";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("reverse", reverse, false);
        visitor("target_shape", target_shape, tuple{});
        visitor("keep_highest", keep_highest, false);
    }
    static constexpr size_t count = 4, text_bytes = 710; /* room for visit */
};
inline ndarray Reshape(const ndarray &data, const Reshape_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void Reshape(into out, const ndarray &data, const Reshape_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol Reshape(const symbol &data, const Reshape_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** outputs = data split into num_outputs equal parts along axis */
struct SliceChannel_settings {
    /** int, required. Number of outputs. */
    required<int64_t> num_outputs;
    /** int, optional, default=1. Axis to split. Negative values count from the end. */
    int64_t axis = 1;
    /** boolean, optional, default=false. Remove the axis, of size 1, from the outputs. */
    bool squeeze_axis = false;
    static constexpr const char *op = "SliceChannel";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("num_outputs", num_outputs);
        visitor("axis", axis, 1);
        visitor("squeeze_axis", squeeze_axis, false);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline results SliceChannel(const ndarray &data, const SliceChannel_settings &settings) {
    return detail::invoke<results>(settings, {&data});
}
inline void SliceChannel(into out, const ndarray &data, const SliceChannel_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol SliceChannel(const symbol &data, const SliceChannel_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data with axes dim1 and dim2 exchanged */
struct SwapAxis_settings {
    /** int, optional, default=0. First axis. */
    int64_t dim1 = 0;
    /** int, optional, default=0. Second axis. */
    int64_t dim2 = 0;
    static constexpr const char *op = "SwapAxis";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("dim1", dim1, 0);
        visitor("dim2", dim2, 0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray SwapAxis(const ndarray &data, const SwapAxis_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void SwapAxis(into out, const ndarray &data, const SwapAxis_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol SwapAxis(const symbol &data, const SwapAxis_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out[i] = start + step * floor(i / repeat), below stop */
struct arange_settings {
    /** float, required. First value. */
    required<double> start;
    /** float or None, optional, default=None. End of the range, exclusive. None: the range is from 0 to start. */
    std::optional<double> stop = std::optional<double>(std::nullopt);
    /** float, optional, default=1. Difference between successive values. */
    double step = 1;
    /** int, optional, default=1. Number of times that each value is repeated. */
    int64_t repeat = 1;
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the array. */
    mxc_dtype dtype = MXC_F32;
    /** boolean, optional, default=False. If stop is None, the range begins at start and its length is inferred from
     * where it is used. */
    bool infer_range = false;
    static constexpr const char *op = "_arange";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("start", start);
        visitor("stop", stop, std::optional<double>(std::nullopt));
        visitor("step", step, 1);
        visitor("repeat", repeat, 1);
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_F32);
        visitor("infer_range", infer_range, false);
    }
    static constexpr size_t count = 7, text_bytes = 132; /* room for visit */
};
inline ndarray arange(const arange_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void arange(into out, const arange_settings &settings) {
    detail::invoke_source_into(out, settings);
}
inline symbol arange(as_symbol_t, const arange_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** out[i] = start + step * floor(i / repeat), as many values as data has elements or, with axis, rows along it */
struct contrib_arange_like_settings {
    /** float, optional, default=0. First value. */
    double start = 0;
    /** float, optional, default=1. Difference between successive values. */
    double step = 1;
    /** int, optional, default=1. Number of times that each value is repeated. */
    int64_t repeat = 1;
    /** string, optional, default=''. Not used: out is on the context of data. */
    text ctx = text("");
    /** int or None, optional, default=None. Axis of data that gives the number of values. Negative values count from
     * the end. None: out has the shape of data. */
    std::optional<int64_t> axis = std::optional<int64_t>(std::nullopt);
    static constexpr const char *op = "_contrib_arange_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("start", start, 0);
        visitor("step", step, 1);
        visitor("repeat", repeat, 1);
        visitor("ctx", ctx, text(""));
        visitor("axis", axis, std::optional<int64_t>(std::nullopt));
    }
    static constexpr size_t count = 5, text_bytes = 132; /* room for visit */
};
inline ndarray contrib_arange_like(const ndarray &data, const contrib_arange_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_arange_like(into out, const ndarray &data, const contrib_arange_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_arange_like(const symbol &data, const contrib_arange_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data / sqrt(n), where n is the size of the last axis of data */
inline ndarray contrib_div_sqrt_dim(const ndarray &data) {
    return detail::invoke<ndarray>("_contrib_div_sqrt_dim", {&data});
}
inline void contrib_div_sqrt_dim(into out, const ndarray &data) {
    detail::invoke_into(out, "_contrib_div_sqrt_dim", {&data});
}
inline symbol contrib_div_sqrt_dim(const symbol &data, text name = {}) {
    return detail::apply("_contrib_div_sqrt_dim", name, {"data"}, {&data});
}

/** out (...,n) = the indices of each element of data (...) along n axes, as int64 */
struct contrib_index_array_settings {
    /** tuple of int or None, optional, default=None. Axes whose positions are given. Negative values count from the
     * end. None: all, in order. */
    tuple axes = tuple(std::nullopt);
    static constexpr const char *op = "_contrib_index_array";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axes", axes, tuple(std::nullopt));
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray contrib_index_array(const ndarray &data, const contrib_index_array_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_index_array(into out, const ndarray &data, const contrib_index_array_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_index_array(const symbol &data, const contrib_index_array_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out (N,M) = 1 on diagonal k, else 0 */
struct eye_settings {
    /** int, required. Number of rows. */
    required<int64_t> N;
    /** int, optional, default=0. Number of columns. 0: as many as rows. */
    int64_t M = 0;
    /** int, optional, default=0. Diagonal that is 1: 0 is the main one, positive ones are above it, negative ones
     * below. */
    int64_t k = 0;
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the array. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "_eye";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("N", N);
        visitor("M", M, 0);
        visitor("k", k, 0);
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 5, text_bytes = 99; /* room for visit */
};
inline ndarray eye(const eye_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void eye(into out, const eye_settings &settings) {
    detail::invoke_source_into(out, settings);
}
inline symbol eye(as_symbol_t, const eye_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** out = value */
struct full_settings {
    /** float, required. Value of every element. */
    required<double> value;
    /** tuple of int or None, optional, default=None. Shape of the array. None, () and axes of -1 are inferred from
     * where it is used. */
    tuple shape = tuple(std::nullopt);
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the array. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "_full";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple(std::nullopt));
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_F32);
        visitor("value", value);
    }
    static constexpr size_t count = 4, text_bytes = 388; /* room for visit */
};
inline ndarray full(const full_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void full(into out, const full_settings &settings) {
    detail::invoke_source_into(out, settings);
}
inline symbol full(as_symbol_t, const full_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** out = lhs, whose shape and dtype are inferred from rhs */
inline ndarray identity_with_attr_like_rhs(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_identity_with_attr_like_rhs", {&lhs, &rhs});
}
inline void identity_with_attr_like_rhs(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_identity_with_attr_like_rhs", {&lhs, &rhs});
}
inline symbol identity_with_attr_like_rhs(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_identity_with_attr_like_rhs", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out (num) = evenly spaced values from start to stop */
struct linspace_settings {
    /** float, required. First value. */
    required<double> start;
    /** float, required. End of the interval. */
    required<double> stop;
    /** int, required. Number of values. */
    required<int64_t> num;
    /** boolean, optional, default=True. The last value is stop. Otherwise the step is (stop - start) / num, and stop is
     * left out. */
    bool endpoint = true;
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the array. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "_linspace";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("start", start);
        visitor("stop", stop);
        visitor("num", num);
        visitor("endpoint", endpoint, true);
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 6, text_bytes = 99; /* room for visit */
};
inline ndarray linspace(const linspace_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void linspace(into out, const linspace_settings &settings) {
    detail::invoke_source_into(out, settings);
}
inline symbol linspace(as_symbol_t, const linspace_settings &settings, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** out = 1 */
struct ones_settings {
    /** tuple of int, optional, default=(). Shape of the array. () and axes of -1 are inferred from where it is used. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the array. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "_ones";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray ones(const ones_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void ones(into out, const ones_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol ones(as_symbol_t, const ones_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** output = the arguments concatenated along axis dim, as by Concat; arguments of unknown size share what the output
 * leaves to them equally */
struct rnn_param_concat_settings {
    /** int, optional, default=1. Axis of concatenation. Negative values count from the end. */
    int64_t dim = 1;
    static constexpr const char *op = "_rnn_param_concat";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("dim", dim, 1);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray rnn_param_concat(span<const ndarray> data, const rnn_param_concat_settings &settings = {}) {
    return detail::invoke_list<ndarray>(settings, "num_args", data);
}
inline void rnn_param_concat(into out, span<const ndarray> data, const rnn_param_concat_settings &settings = {}) {
    detail::invoke_list_into(out, settings, "num_args", data);
}
inline symbol rnn_param_concat(span<const symbol> data, const rnn_param_concat_settings &settings = {},
    text name = {}) {
    return detail::apply_list(settings, name, "num_args", data);
}

/** out = src */
struct set_value_settings {
    /** float, required. Value of every element. */
    required<double> src;
    /** tuple of int, optional, default=(). Shape of the array. () and axes of -1 are those of the array given for out.
     * */
    tuple shape = tuple{};
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of the array. None: that of the array given for out. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "_set_value";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("src", src);
        visitor("shape", shape, tuple{});
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 3, text_bytes = 388; /* room for visit */
};
inline ndarray set_value(const set_value_settings &settings) {
    return detail::invoke_source<ndarray>(settings);
}
inline void set_value(into out, const set_value_settings &settings) {
    detail::invoke_source_into(out, settings);
}

/** out = lhs, except lhs[begin:end:step] = rhs */
struct slice_assign_settings {
    /** tuple of int or None, required. First index along each axis. Negative values count from the end. None: the
     * first. */
    required<tuple> begin;
    /** tuple of int or None, required. End index along each axis, exclusive. Negative values count from the end. None:
     * the end of the axis. */
    required<tuple> end;
    /** tuple of int or None, optional, default=(). Step along each axis; negative steps go backwards. None: 1. */
    tuple step = tuple{};
    static constexpr const char *op = "_slice_assign";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("begin", begin);
        visitor("end", end);
        visitor("step", step, tuple{});
    }
    static constexpr size_t count = 3, text_bytes = 1065; /* room for visit */
};
inline ndarray slice_assign(const ndarray &lhs, const ndarray &rhs, const slice_assign_settings &settings) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs});
}
inline void slice_assign(into out, const ndarray &lhs, const ndarray &rhs, const slice_assign_settings &settings) {
    detail::invoke_into(out, settings, {&lhs, &rhs});
}
inline symbol slice_assign(const symbol &lhs, const symbol &rhs, const slice_assign_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = data, except data[begin:end:step] = scalar */
struct slice_assign_scalar_settings {
    /** tuple of int or None, required. First index along each axis. Negative values count from the end. None: the
     * first. */
    required<tuple> begin;
    /** tuple of int or None, required. End index along each axis, exclusive. Negative values count from the end. None:
     * the end of the axis. */
    required<tuple> end;
    /** float, optional, default=0. Value that is assigned. */
    double scalar = 0;
    /** tuple of int or None, optional, default=(). Step along each axis; negative steps go backwards. None: 1. */
    tuple step = tuple{};
    static constexpr const char *op = "_slice_assign_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 0);
        visitor("begin", begin);
        visitor("end", end);
        visitor("step", step, tuple{});
    }
    static constexpr size_t count = 4, text_bytes = 1098; /* room for visit */
};
inline ndarray slice_assign_scalar(const ndarray &data, const slice_assign_scalar_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void slice_assign_scalar(into out, const ndarray &data, const slice_assign_scalar_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol slice_assign_scalar(const symbol &data, const slice_assign_scalar_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** outputs = data split along axis into sections parts, or before the rows of indices */
struct split_v2_settings {
    /** tuple of int, required. First row of each part, in ascending order from 0. Not used with sections. */
    required<tuple> indices;
    /** int, optional, default=1. Axis to split. Negative values count from the end. */
    int64_t axis = 1;
    /** boolean, optional, default=False. Remove the axis, of size 1, from the outputs. */
    bool squeeze_axis = false;
    /** int, optional, default=0. Number of parts of equal size. 0: split at indices. */
    int64_t sections = 0;
    static constexpr const char *op = "_split_v2";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("indices", indices);
        visitor("axis", axis, 1);
        visitor("squeeze_axis", squeeze_axis, false);
        visitor("sections", sections, 0);
    }
    static constexpr size_t count = 4, text_bytes = 421; /* room for visit */
};
inline results split_v2(const ndarray &data, const split_v2_settings &settings) {
    return detail::invoke<results>(settings, {&data});
}
inline void split_v2(into out, const ndarray &data, const split_v2_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol split_v2(const symbol &data, const split_v2_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 0 */
struct zeros_settings {
    /** tuple of int, optional, default=(). Shape of the array. () and axes of -1 are inferred from where it is used. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the array. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "_zeros";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray zeros(const zeros_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void zeros(into out, const zeros_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol zeros(as_symbol_t, const zeros_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** out = 0; the dtype may follow from where out is used */
struct zeros_without_dtype_settings {
    /** tuple of int, optional, default=(). Shape of the array. () and axes of -1 are inferred from where it is used. */
    tuple shape = tuple{};
    /** string, optional, default=''. Context of the array, such as cpu(0) or gpu(1). */
    text ctx = text("");
    /** int, optional, default=-1. Dtype of the array as its number in MXNet's files: 0 is float32. -1: inferred from
     * where it is used. */
    int64_t dtype = -1;
    static constexpr const char *op = "_zeros_without_dtype";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
        visitor("ctx", ctx, text(""));
        visitor("dtype", dtype, -1);
    }
    static constexpr size_t count = 3, text_bytes = 388; /* room for visit */
};
inline ndarray zeros_without_dtype(const zeros_without_dtype_settings &settings = {}) {
    return detail::invoke_source<ndarray>(settings);
}
inline void zeros_without_dtype(into out, const zeros_without_dtype_settings &settings = {}) {
    detail::invoke_source_into(out, settings);
}
inline symbol zeros_without_dtype(as_symbol_t, const zeros_without_dtype_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, nullptr, {});
}

/** output = sum of the arguments, all of one shape */
struct add_n_settings {
    static constexpr const char *op = "add_n";
    template <class Visitor> void visit(Visitor &&) const {
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray add_n(span<const ndarray> data) {
    return detail::invoke_list<ndarray>(add_n_settings(), "num_args", data);
}
inline void add_n(into out, span<const ndarray> data) {
    detail::invoke_list_into(out, add_n_settings(), "num_args", data);
}
inline symbol add_n(span<const symbol> data, text name = {}) {
    return detail::apply_list(add_n_settings(), name, "num_args", data);
}

/** out = data converted to dtype where data is float32, float16 or bfloat16; otherwise data */
struct amp_cast_settings {
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, required. Dtype of
     * out. */
    required<mxc_dtype> dtype;
    static constexpr const char *op = "amp_cast";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("dtype", dtype);
    }
    static constexpr size_t count = 1, text_bytes = 0; /* room for visit */
};
inline ndarray amp_cast(const ndarray &data, const amp_cast_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void amp_cast(into out, const ndarray &data, const amp_cast_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol amp_cast(const symbol &data, const amp_cast_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** outputs = the arguments of float32, float16 and bfloat16 converted to the widest of their dtypes, or with
 * cast_narrow to the narrowest; the others as they are */
struct amp_multicast_settings {
    /** boolean, optional, default=False. Convert to the narrowest dtype of the arguments; otherwise to the widest. */
    bool cast_narrow = false;
    static constexpr const char *op = "amp_multicast";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("cast_narrow", cast_narrow, false);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline results amp_multicast(span<const ndarray> data, const amp_multicast_settings &settings = {}) {
    return detail::invoke_list<results>(settings, "num_outputs", data);
}
inline void amp_multicast(into out, span<const ndarray> data, const amp_multicast_settings &settings = {}) {
    detail::invoke_list_into(out, settings, "num_outputs", data);
}
inline symbol amp_multicast(span<const symbol> data, const amp_multicast_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, "num_outputs", data);
}

/** Rearranges channels as blocks of b x b elements: data (N,C,H,W), out (N, C / b^2, H b, W b) */
struct depth_to_space_settings {
    /** int, required. Height and width of a block, b. */
    required<int64_t> block_size;
    static constexpr const char *op = "depth_to_space";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("block_size", block_size);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray depth_to_space(const ndarray &data, const depth_to_space_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void depth_to_space(into out, const ndarray &data, const depth_to_space_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol depth_to_space(const symbol &data, const depth_to_space_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data with a new axis of size 1 */
struct expand_dims_settings {
    /** int, required. Position of the new axis in out. Negative values count from the end. */
    required<int64_t> axis;
    static constexpr const char *op = "expand_dims";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray expand_dims(const ndarray &data, const expand_dims_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void expand_dims(into out, const ndarray &data, const expand_dims_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol expand_dims(const symbol &data, const expand_dims_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = each slice of data along axis, repeated */
struct repeat_settings {
    /** int, required. Number of copies of each element or slice. */
    required<int64_t> repeats;
    /** int or None, optional, default=None. Axis along which slices are repeated. Negative values count from the end.
     * None: the elements of flattened data are repeated. */
    std::optional<int64_t> axis = std::optional<int64_t>(std::nullopt);
    static constexpr const char *op = "repeat";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("repeats", repeats);
        visitor("axis", axis, std::optional<int64_t>(std::nullopt));
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray repeat(const ndarray &data, const repeat_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void repeat(into out, const ndarray &data, const repeat_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol repeat(const symbol &data, const repeat_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = lhs reshaped to the shape of rhs, or with axes lhs_begin..lhs_end-1 replaced by axes rhs_begin..rhs_end-1 of
 * rhs */
struct reshape_like_settings {
    /** int or None, optional, default=None. First axis of lhs that is replaced. Negative values count from the end.
     * None: 0. */
    std::optional<int64_t> lhs_begin = std::optional<int64_t>(std::nullopt);
    /** int or None, optional, default=None. End of the axes of lhs that are replaced, exclusive. None: all that follow.
     * */
    std::optional<int64_t> lhs_end = std::optional<int64_t>(std::nullopt);
    /** int or None, optional, default=None. First axis of rhs that is taken. Negative values count from the end. None:
     * 0. */
    std::optional<int64_t> rhs_begin = std::optional<int64_t>(std::nullopt);
    /** int or None, optional, default=None. End of the axes of rhs that are taken, exclusive. None: all that follow. */
    std::optional<int64_t> rhs_end = std::optional<int64_t>(std::nullopt);
    static constexpr const char *op = "reshape_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lhs_begin", lhs_begin, std::optional<int64_t>(std::nullopt));
        visitor("lhs_end", lhs_end, std::optional<int64_t>(std::nullopt));
        visitor("rhs_begin", rhs_begin, std::optional<int64_t>(std::nullopt));
        visitor("rhs_end", rhs_end, std::optional<int64_t>(std::nullopt));
    }
    static constexpr size_t count = 4, text_bytes = 132; /* room for visit */
};
inline ndarray reshape_like(const ndarray &lhs, const ndarray &rhs, const reshape_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs});
}
inline void reshape_like(into out, const ndarray &lhs, const ndarray &rhs, const reshape_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs});
}
inline symbol reshape_like(const symbol &lhs, const symbol &rhs, const reshape_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = data with its elements in reverse order along axis */
struct reverse_settings {
    /** tuple of int, required. Axes to reverse. Negative values count from the end. */
    required<tuple> axis;
    static constexpr const char *op = "reverse";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis);
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray reverse(const ndarray &data, const reverse_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void reverse(into out, const ndarray &data, const reverse_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol reverse(const symbol &data, const reverse_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out (ndim) = the shape of data, as int64 */
inline ndarray shape_array(const ndarray &data) {
    return detail::invoke<ndarray>("shape_array", {&data});
}
inline void shape_array(into out, const ndarray &data) {
    detail::invoke_into(out, "shape_array", {&data});
}
inline symbol shape_array(const symbol &data, text name = {}) {
    return detail::apply("shape_array", name, {"data"}, {&data});
}

/** out (1) = the number of elements of data, as int64 */
inline ndarray size_array(const ndarray &data) {
    return detail::invoke<ndarray>("size_array", {&data});
}
inline void size_array(into out, const ndarray &data) {
    detail::invoke_into(out, "size_array", {&data});
}
inline symbol size_array(const symbol &data, text name = {}) {
    return detail::apply("size_array", name, {"data"}, {&data});
}

/** out = data[begin:end:step] along each axis that they name */
struct slice_settings {
    /** tuple of int or None, required. First index along each axis. Negative values count from the end. None: the
     * first. */
    required<tuple> begin;
    /** tuple of int or None, required. End index along each axis, exclusive. Negative values count from the end. None:
     * the end of the axis. */
    required<tuple> end;
    /** tuple of int or None, optional, default=(). Step along each axis; negative steps go backwards. None: 1. */
    tuple step = tuple{};
    static constexpr const char *op = "slice";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("begin", begin);
        visitor("end", end);
        visitor("step", step, tuple{});
    }
    static constexpr size_t count = 3, text_bytes = 1065; /* room for visit */
};
inline ndarray slice(const ndarray &data, const slice_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void slice(into out, const ndarray &data, const slice_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol slice(const symbol &data, const slice_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = indices begin to end - 1 of one axis of data */
struct slice_axis_settings {
    /** int, required. Axis to slice. Negative values count from the end. */
    required<int64_t> axis;
    /** int, required. First index. Negative values count from the end. */
    required<int64_t> begin;
    /** int or None, required. End index, exclusive. Negative values count from the end. None: the end of the axis. */
    required<std::optional<int64_t>> end;
    static constexpr const char *op = "slice_axis";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis);
        visitor("begin", begin);
        visitor("end", end);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray slice_axis(const ndarray &data, const slice_axis_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void slice_axis(into out, const ndarray &data, const slice_axis_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol slice_axis(const symbol &data, const slice_axis_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = the leading elements of data along each axis, as many as shape_like has */
struct slice_like_settings {
    /** tuple of int, optional, default=(). Axes to slice. Negative values count from the end. (): all axes of
     * shape_like. */
    tuple axes = tuple{};
    static constexpr const char *op = "slice_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axes", axes, tuple{});
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray slice_like(const ndarray &data, const ndarray &shape_like, const slice_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &shape_like});
}
inline void slice_like(into out, const ndarray &data, const ndarray &shape_like,
    const slice_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &shape_like});
}
inline symbol slice_like(const symbol &data, const symbol &shape_like, const slice_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "shape_like"}, {&data, &shape_like});
}

/** Rearranges blocks of b x b elements as channels: data (N,C,H,W), out (N, C b^2, H / b, W / b) */
struct space_to_depth_settings {
    /** int, required. Height and width of a block, b. */
    required<int64_t> block_size;
    static constexpr const char *op = "space_to_depth";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("block_size", block_size);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray space_to_depth(const ndarray &data, const space_to_depth_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void space_to_depth(into out, const ndarray &data, const space_to_depth_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol space_to_depth(const symbol &data, const space_to_depth_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data without axes of size 1 */
struct squeeze_settings {
    /** tuple of int or None, optional, default=None. Axes to remove, each of size 1. Negative values count from the
     * end. None: all axes of size 1. */
    tuple axis = tuple(std::nullopt);
    static constexpr const char *op = "squeeze";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple(std::nullopt));
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray squeeze(const ndarray &data, const squeeze_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void squeeze(into out, const ndarray &data, const squeeze_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol squeeze(const symbol &data, const squeeze_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = the arguments, all of one shape, joined along a new axis */
struct stack_settings {
    /** int, optional, default=0. Position of the new axis in out. Negative values count from the end. */
    int64_t axis = 0;
    static constexpr const char *op = "stack";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, 0);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray stack(span<const ndarray> data, const stack_settings &settings = {}) {
    return detail::invoke_list<ndarray>(settings, "num_args", data);
}
inline void stack(into out, span<const ndarray> data, const stack_settings &settings = {}) {
    detail::invoke_list_into(out, settings, "num_args", data);
}
inline symbol stack(span<const symbol> data, const stack_settings &settings = {}, text name = {}) {
    return detail::apply_list(settings, name, "num_args", data);
}

/** out = data repeated reps[i] times along each axis i */
struct tile_settings {
    /** tuple of int, required. Number of copies along each axis. The shorter of reps and the shape of data is extended
     * by 1 on the left. */
    required<tuple> reps;
    static constexpr const char *op = "tile";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("reps", reps);
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray tile(const ndarray &data, const tile_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void tile(into out, const ndarray &data, const tile_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol tile(const symbol &data, const tile_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data with its axes in the order of axes */
struct transpose_settings {
    /** tuple of int, optional, default=(). Order of the axes: axis i of out is axis axes[i] of data. (): reverse order.
     * */
    tuple axes = tuple{};
    static constexpr const char *op = "transpose";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axes", axes, tuple{});
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray transpose(const ndarray &data, const transpose_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void transpose(into out, const ndarray &data, const transpose_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol transpose(const symbol &data, const transpose_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = x where condition is not 0, y elsewhere; condition has the shape of x, or only its first axis */
inline ndarray where(const ndarray &condition, const ndarray &x, const ndarray &y) {
    return detail::invoke<ndarray>("where", {&condition, &x, &y});
}
inline void where(into out, const ndarray &condition, const ndarray &x, const ndarray &y) {
    detail::invoke_into(out, "where", {&condition, &x, &y});
}
inline symbol where(const symbol &condition, const symbol &x, const symbol &y, text name = {}) {
    return detail::apply("where", name, {"condition", "x", "y"}, {&condition, &x, &y});
}

} // namespace op
} // namespace mxc

#endif
