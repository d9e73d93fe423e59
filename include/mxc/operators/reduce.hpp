/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family reduce as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_REDUCE_HPP
#define MXC_OPERATORS_REDUCE_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** out = src broadcast along axis to size */
struct broadcast_settings {
    /** int, required. Axis to broadcast, of size 1. */
    required<int64_t> axis;
    /** int, required. Size of this axis in out. */
    required<int64_t> size;
    static constexpr const char *op = "_broadcast";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis);
        visitor("size", size);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray broadcast(const ndarray &src, const broadcast_settings &settings) {
    return detail::invoke<ndarray>(settings, {&src});
}
inline void broadcast(into out, const ndarray &src, const broadcast_settings &settings) {
    detail::invoke_into(out, settings, {&src});
}

/** out = 1 if |a - b| <= atol + rtol |b| for all elements, else 0: a scalar of uint8 */
struct contrib_allclose_settings {
    /** float, optional, default=1e-05. Tolerance relative to the magnitude of b. */
    double rtol = 1e-05;
    /** float, optional, default=1e-08. Absolute tolerance. */
    double atol = 1e-08;
    /** boolean, optional, default=True. Two NaN are equal. */
    bool equal_nan = true;
    static constexpr const char *op = "_contrib_allclose";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("rtol", rtol, 1e-05);
        visitor("atol", atol, 1e-08);
        visitor("equal_nan", equal_nan, true);
    }
    static constexpr size_t count = 3, text_bytes = 66; /* room for visit */
};
inline ndarray contrib_allclose(const ndarray &a, const ndarray &b, const contrib_allclose_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&a, &b});
}
inline void contrib_allclose(into out, const ndarray &a, const ndarray &b,
    const contrib_allclose_settings &settings = {}) {
    detail::invoke_into(out, settings, {&a, &b});
}
inline symbol contrib_allclose(const symbol &a, const symbol &b, const contrib_allclose_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"a", "b"}, {&a, &b});
}

/** counts (k), int64, of the elements of data in k bins, and bin_edges (k+1), their bounds: bin_cnt equal bins over
 * range, or the argument bins (k+1). A bin has its lower bound, the last one both */
struct histogram_settings {
    /** int or None, optional, default=None. Number of bins of equal size. None: bins has their bounds. */
    std::optional<int64_t> bin_cnt = std::optional<int64_t>(std::nullopt);
    /** tuple of float or None, optional, default=None. Lower and upper bound of all bins. Required with bin_cnt, and
     * used with it only. */
    floats range = floats(std::nullopt);
    static constexpr const char *op = "_histogram";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("bin_cnt", bin_cnt, std::optional<int64_t>(std::nullopt));
        visitor("range", range, floats(std::nullopt));
    }
    static constexpr size_t count = 2, text_bytes = 2148; /* room for visit */
};
inline results histogram(const ndarray &data, const ndarray &bins, const histogram_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data, &bins});
}
inline void histogram(into out, const ndarray &data, const ndarray &bins, const histogram_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &bins});
}
inline symbol histogram(const symbol &data, const symbol &bins, const histogram_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data", "bins"}, {&data, &bins});
}

/** out = sum of the squares of data over the axes */
struct square_sum_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "_square_sum";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray square_sum(const ndarray &data, const square_sum_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void square_sum(into out, const ndarray &data, const square_sum_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol square_sum(const symbol &data, const square_sum_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = index of the maximum along axis, in data's type; of equal elements the first */
struct argmax_settings {
    /** int or None, optional, default=None. Axis to search. Negative values count from the end. None: all elements as
     * one row. */
    std::optional<int64_t> axis = std::optional<int64_t>(std::nullopt);
    /** boolean, optional, default=false. Keep the axis with size 1. */
    bool keepdims = false;
    static constexpr const char *op = "argmax";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, std::optional<int64_t>(std::nullopt));
        visitor("keepdims", keepdims, false);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray argmax(const ndarray &data, const argmax_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void argmax(into out, const ndarray &data, const argmax_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol argmax(const symbol &data, const argmax_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out (N,...) = index of the maximum of data (N,C,...) along axis 1, in data's type */
inline ndarray argmax_channel(const ndarray &data) {
    return detail::invoke<ndarray>("argmax_channel", {&data});
}
inline void argmax_channel(into out, const ndarray &data) {
    detail::invoke_into(out, "argmax_channel", {&data});
}
inline symbol argmax_channel(const symbol &data, text name = {}) {
    return detail::apply("argmax_channel", name, {"data"}, {&data});
}

/** out = index of the minimum along axis, in data's type; of equal elements the first */
struct argmin_settings {
    /** int or None, optional, default=None. Axis to search. Negative values count from the end. None: all elements as
     * one row. */
    std::optional<int64_t> axis = std::optional<int64_t>(std::nullopt);
    /** boolean, optional, default=false. Keep the axis with size 1. */
    bool keepdims = false;
    static constexpr const char *op = "argmin";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, std::optional<int64_t>(std::nullopt));
        visitor("keepdims", keepdims, false);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray argmin(const ndarray &data, const argmin_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void argmin(into out, const ndarray &data, const argmin_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol argmin(const symbol &data, const argmin_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data broadcast along axis to size */
struct broadcast_axis_settings {
    /** tuple of int, optional, default=(). Axes to broadcast, each of size 1. */
    tuple axis = tuple{};
    /** tuple of int, optional, default=(). Size of each of these axes in out. */
    tuple size = tuple{};
    static constexpr const char *op = "broadcast_axis";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("size", size, tuple{});
    }
    static constexpr size_t count = 2, text_bytes = 710; /* room for visit */
};
inline ndarray broadcast_axis(const ndarray &data, const broadcast_axis_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void broadcast_axis(into out, const ndarray &data, const broadcast_axis_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol broadcast_axis(const symbol &data, const broadcast_axis_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = lhs broadcast to the shape of rhs */
struct broadcast_like_settings {
    /** tuple of int or None, optional, default=None. Axes of lhs to broadcast. None: all. */
    tuple lhs_axes = tuple(std::nullopt);
    /** tuple of int or None, optional, default=None. Axes of rhs that give their sizes. None: all. */
    tuple rhs_axes = tuple(std::nullopt);
    static constexpr const char *op = "broadcast_like";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("lhs_axes", lhs_axes, tuple(std::nullopt));
        visitor("rhs_axes", rhs_axes, tuple(std::nullopt));
    }
    static constexpr size_t count = 2, text_bytes = 710; /* room for visit */
};
inline ndarray broadcast_like(const ndarray &lhs, const ndarray &rhs, const broadcast_like_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs});
}
inline void broadcast_like(into out, const ndarray &lhs, const ndarray &rhs,
    const broadcast_like_settings &settings = {}) {
    detail::invoke_into(out, settings, {&lhs, &rhs});
}
inline symbol broadcast_like(const symbol &lhs, const symbol &rhs, const broadcast_like_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = data broadcast to shape */
struct broadcast_to_settings {
    /** tuple of int, optional, default=(). Shape of out, with as many axes as data. 0 keeps the size of data's axis. */
    tuple shape = tuple{};
    static constexpr const char *op = "broadcast_to";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape, tuple{});
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray broadcast_to(const ndarray &data, const broadcast_to_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void broadcast_to(into out, const ndarray &data, const broadcast_to_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol broadcast_to(const symbol &data, const broadcast_to_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out[i] = a[0] + ... + a[i] along axis */
struct cumsum_settings {
    /** int or None, optional, default=None. Axis along which to add. Negative values count from the end. None: all
     * elements as one row. */
    std::optional<int64_t> axis = std::optional<int64_t>(std::nullopt);
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of out. None: that of data. */
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "cumsum";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, std::optional<int64_t>(std::nullopt));
        visitor("dtype", dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray cumsum(const ndarray &a, const cumsum_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&a});
}
inline void cumsum(into out, const ndarray &a, const cumsum_settings &settings = {}) {
    detail::invoke_into(out, settings, {&a});
}
inline symbol cumsum(const symbol &a, const cumsum_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"a"}, {&a});
}

/** out = maximum of data over the axes; every element equal to it receives the gradient */
struct max_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "max";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray max(const ndarray &data, const max_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void max(into out, const ndarray &data, const max_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol max(const symbol &data, const max_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = mean of data over the axes, of integers without its fraction */
struct mean_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "mean";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray mean(const ndarray &data, const mean_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void mean(into out, const ndarray &data, const mean_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol mean(const symbol &data, const mean_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = minimum of data over the axes; every element equal to it receives the gradient */
struct min_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "min";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray min(const ndarray &data, const min_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void min(into out, const ndarray &data, const min_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol min(const symbol &data, const min_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** output0 = the mean of data over the axes, output1 = the variance, the mean of (data - output0)^2 */
struct moments_settings {
    /** tuple of int or None, optional, default=None. Axes to reduce. Negative values count from the end. None or ():
     * all. */
    tuple axes = tuple(std::nullopt);
    /** boolean, optional, default=False. Keep the reduced axes with size 1. */
    bool keepdims = false;
    static constexpr const char *op = "moments";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axes", axes, tuple(std::nullopt));
        visitor("keepdims", keepdims, false);
    }
    static constexpr size_t count = 2, text_bytes = 355; /* room for visit */
};
inline results moments(const ndarray &data, const moments_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void moments(into out, const ndarray &data, const moments_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol moments(const symbol &data, const moments_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = product of data over the axes, NaN counted as 1 */
struct nanprod_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "nanprod";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray nanprod(const ndarray &data, const nanprod_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void nanprod(into out, const ndarray &data, const nanprod_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol nanprod(const symbol &data, const nanprod_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = sum of data over the axes, NaN counted as 0 */
struct nansum_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "nansum";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray nansum(const ndarray &data, const nansum_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void nansum(into out, const ndarray &data, const nansum_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol nansum(const symbol &data, const nansum_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = norm of data over the axes: Euclidean, or with ord=1 the sum of absolute values; of integers without its
 * fraction */
struct norm_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    /** int, optional, default=2. Order of the norm. 1: sum of absolute values; 2: Euclidean norm. */
    int64_t ord = 2;
    /** {None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default=None. Dtype of out. Only the dtype of data, which is also the meaning of None. */
    mxc_dtype out_dtype = MXC_DTYPE_UNKNOWN;
    static constexpr const char *op = "norm";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
        visitor("ord", ord, 2);
        visitor("out_dtype", out_dtype, MXC_DTYPE_UNKNOWN);
    }
    static constexpr size_t count = 5, text_bytes = 388; /* room for visit */
};
inline ndarray norm(const ndarray &data, const norm_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void norm(into out, const ndarray &data, const norm_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol norm(const symbol &data, const norm_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = product of data over the axes; the gradient is undefined where data is 0 */
struct prod_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "prod";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray prod(const ndarray &data, const prod_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void prod(into out, const ndarray &data, const prod_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol prod(const symbol &data, const prod_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = sum of data over the axes */
struct sum_settings {
    /** tuple of int or None, optional, default=(). Axes to reduce. Negative values count from the end. (): all. */
    tuple axis = tuple{};
    /** boolean, optional, default=false. Keep the reduced axes with size 1. */
    bool keepdims = false;
    /** boolean, optional, default=false. Reduce all axes except those in axis. */
    bool exclude = false;
    static constexpr const char *op = "sum";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, tuple{});
        visitor("keepdims", keepdims, false);
        visitor("exclude", exclude, false);
    }
    static constexpr size_t count = 3, text_bytes = 355; /* room for visit */
};
inline ndarray sum(const ndarray &data, const sum_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void sum(into out, const ndarray &data, const sum_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol sum(const symbol &data, const sum_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif
