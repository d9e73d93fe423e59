/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family elementwise as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_ELEMENTWISE_HPP
#define MXC_OPERATORS_ELEMENTWISE_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** out = data; the gradient is 0 */
inline ndarray BlockGrad(const ndarray &data) {
    return detail::invoke<ndarray>("BlockGrad", {&data});
}
inline void BlockGrad(into out, const ndarray &data) {
    detail::invoke_into(out, "BlockGrad", {&data});
}
inline symbol BlockGrad(const symbol &data, text name = {}) {
    return detail::apply("BlockGrad", name, {"data"}, {&data});
}

/** out = data; its gradient is multiplied by s */
struct contrib_gradientmultiplier_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_contrib_gradientmultiplier";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_gradientmultiplier(const ndarray &data,
    const contrib_gradientmultiplier_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_gradientmultiplier(into out, const ndarray &data,
    const contrib_gradientmultiplier_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_gradientmultiplier(const symbol &data, const contrib_gradientmultiplier_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = a data^2 + b data + c */
struct contrib_quadratic_settings {
    /** float, optional, default=0. Factor of the square of data. */
    double a = 0;
    /** float, optional, default=0. Factor of data. */
    double b = 0;
    /** float, optional, default=0. Summand. */
    double c = 0;
    static constexpr const char *op = "_contrib_quadratic";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("a", a, 0);
        visitor("b", b, 0);
        visitor("c", c, 0);
    }
    static constexpr size_t count = 3, text_bytes = 99; /* room for visit */
};
inline ndarray contrib_quadratic(const ndarray &data, const contrib_quadratic_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void contrib_quadratic(into out, const ndarray &data, const contrib_quadratic_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol contrib_quadratic(const symbol &data, const contrib_quadratic_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** y = x rounded to an integer, halves away from 0; the gradient passes unchanged (straight-through estimator) */
inline ndarray contrib_round_ste(const ndarray &data) {
    return detail::invoke<ndarray>("_contrib_round_ste", {&data});
}
inline void contrib_round_ste(into out, const ndarray &data) {
    detail::invoke_into(out, "_contrib_round_ste", {&data});
}
inline symbol contrib_round_ste(const symbol &data, text name = {}) {
    return detail::apply("_contrib_round_ste", name, {"data"}, {&data});
}

/** y = -1, 0 or 1, the sign of x; the gradient passes unchanged (straight-through estimator) */
inline ndarray contrib_sign_ste(const ndarray &data) {
    return detail::invoke<ndarray>("_contrib_sign_ste", {&data});
}
inline void contrib_sign_ste(into out, const ndarray &data) {
    detail::invoke_into(out, "_contrib_sign_ste", {&data});
}
inline symbol contrib_sign_ste(const symbol &data, text name = {}) {
    return detail::apply("_contrib_sign_ste", name, {"data"}, {&data});
}

/** out = data */
inline ndarray copy(const ndarray &data) {
    return detail::invoke<ndarray>("_copy", {&data});
}
inline void copy(into out, const ndarray &data) {
    detail::invoke_into(out, "_copy", {&data});
}
inline symbol copy(const symbol &data, text name = {}) {
    return detail::apply("_copy", name, {"data"}, {&data});
}

/** out = data / s */
struct div_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_div_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray div_scalar(const ndarray &data, const div_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void div_scalar(into out, const ndarray &data, const div_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol div_scalar(const symbol &data, const div_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 1 where lhs = rhs, else 0 */
inline ndarray equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_equal", {&lhs, &rhs});
}
inline void equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_equal", {&lhs, &rhs});
}
inline symbol equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where data = s, else 0 */
struct equal_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_equal_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray equal_scalar(const ndarray &data, const equal_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void equal_scalar(into out, const ndarray &data, const equal_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol equal_scalar(const symbol &data, const equal_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = lhs + rhs, for summing gradients */
inline ndarray grad_add(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_grad_add", {&lhs, &rhs});
}
inline void grad_add(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_grad_add", {&lhs, &rhs});
}
inline symbol grad_add(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_grad_add", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs > rhs, else 0 */
inline ndarray greater(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_greater", {&lhs, &rhs});
}
inline void greater(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_greater", {&lhs, &rhs});
}
inline symbol greater(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_greater", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs >= rhs, else 0 */
inline ndarray greater_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_greater_equal", {&lhs, &rhs});
}
inline void greater_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_greater_equal", {&lhs, &rhs});
}
inline symbol greater_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_greater_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where data >= s, else 0 */
struct greater_equal_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_greater_equal_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray greater_equal_scalar(const ndarray &data, const greater_equal_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void greater_equal_scalar(into out, const ndarray &data, const greater_equal_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol greater_equal_scalar(const symbol &data, const greater_equal_scalar_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 1 where data > s, else 0 */
struct greater_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_greater_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray greater_scalar(const ndarray &data, const greater_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void greater_scalar(into out, const ndarray &data, const greater_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol greater_scalar(const symbol &data, const greater_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = sqrt(lhs^2 + rhs^2) */
inline ndarray hypot(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_hypot", {&lhs, &rhs});
}
inline void hypot(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_hypot", {&lhs, &rhs});
}
inline symbol hypot(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_hypot", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = sqrt(data^2 + s^2) */
struct hypot_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_hypot_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray hypot_scalar(const ndarray &data, const hypot_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void hypot_scalar(into out, const ndarray &data, const hypot_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol hypot_scalar(const symbol &data, const hypot_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 1 where lhs < rhs, else 0 */
inline ndarray lesser(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_lesser", {&lhs, &rhs});
}
inline void lesser(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_lesser", {&lhs, &rhs});
}
inline symbol lesser(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_lesser", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs <= rhs, else 0 */
inline ndarray lesser_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_lesser_equal", {&lhs, &rhs});
}
inline void lesser_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_lesser_equal", {&lhs, &rhs});
}
inline symbol lesser_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_lesser_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where data <= s, else 0 */
struct lesser_equal_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_lesser_equal_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray lesser_equal_scalar(const ndarray &data, const lesser_equal_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void lesser_equal_scalar(into out, const ndarray &data, const lesser_equal_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol lesser_equal_scalar(const symbol &data, const lesser_equal_scalar_settings &settings = {},
    text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 1 where data < s, else 0 */
struct lesser_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_lesser_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray lesser_scalar(const ndarray &data, const lesser_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void lesser_scalar(into out, const ndarray &data, const lesser_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol lesser_scalar(const symbol &data, const lesser_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 1 where neither is 0, else 0 */
inline ndarray logical_and(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_logical_and", {&lhs, &rhs});
}
inline void logical_and(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_logical_and", {&lhs, &rhs});
}
inline symbol logical_and(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_logical_and", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where neither data nor s is 0, else 0 */
struct logical_and_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_logical_and_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray logical_and_scalar(const ndarray &data, const logical_and_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void logical_and_scalar(into out, const ndarray &data, const logical_and_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol logical_and_scalar(const symbol &data, const logical_and_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 0 where both are 0, else 1 */
inline ndarray logical_or(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_logical_or", {&lhs, &rhs});
}
inline void logical_or(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_logical_or", {&lhs, &rhs});
}
inline symbol logical_or(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_logical_or", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 0 where data and s are 0, else 1 */
struct logical_or_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_logical_or_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray logical_or_scalar(const ndarray &data, const logical_or_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void logical_or_scalar(into out, const ndarray &data, const logical_or_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol logical_or_scalar(const symbol &data, const logical_or_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 1 where one is 0, else 0 */
inline ndarray logical_xor(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_logical_xor", {&lhs, &rhs});
}
inline void logical_xor(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_logical_xor", {&lhs, &rhs});
}
inline symbol logical_xor(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_logical_xor", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where one of data and s is 0, else 0 */
struct logical_xor_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_logical_xor_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray logical_xor_scalar(const ndarray &data, const logical_xor_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void logical_xor_scalar(into out, const ndarray &data, const logical_xor_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol logical_xor_scalar(const symbol &data, const logical_xor_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = max(lhs, rhs); NaN if one is */
inline ndarray maximum(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_maximum", {&lhs, &rhs});
}
inline void maximum(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_maximum", {&lhs, &rhs});
}
inline symbol maximum(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_maximum", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = max(data, s) */
struct maximum_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_maximum_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray maximum_scalar(const ndarray &data, const maximum_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void maximum_scalar(into out, const ndarray &data, const maximum_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol maximum_scalar(const symbol &data, const maximum_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = min(lhs, rhs); NaN if one is */
inline ndarray minimum(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_minimum", {&lhs, &rhs});
}
inline void minimum(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_minimum", {&lhs, &rhs});
}
inline symbol minimum(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_minimum", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = min(data, s) */
struct minimum_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_minimum_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray minimum_scalar(const ndarray &data, const minimum_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void minimum_scalar(into out, const ndarray &data, const minimum_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol minimum_scalar(const symbol &data, const minimum_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data - s */
struct minus_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_minus_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray minus_scalar(const ndarray &data, const minus_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void minus_scalar(into out, const ndarray &data, const minus_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol minus_scalar(const symbol &data, const minus_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = lhs modulo rhs, with the sign of rhs; 0 where rhs is 0 */
inline ndarray mod(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_mod", {&lhs, &rhs});
}
inline void mod(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_mod", {&lhs, &rhs});
}
inline symbol mod(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_mod", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = data modulo s, with the sign of s */
struct mod_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_mod_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray mod_scalar(const ndarray &data, const mod_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void mod_scalar(into out, const ndarray &data, const mod_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol mod_scalar(const symbol &data, const mod_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data * s */
struct mul_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_mul_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray mul_scalar(const ndarray &data, const mul_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void mul_scalar(into out, const ndarray &data, const mul_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol mul_scalar(const symbol &data, const mul_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = 0 where lhs = rhs, else 1 */
inline ndarray not_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_not_equal", {&lhs, &rhs});
}
inline void not_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_not_equal", {&lhs, &rhs});
}
inline symbol not_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_not_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 0 where data = s, else 1 */
struct not_equal_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_not_equal_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray not_equal_scalar(const ndarray &data, const not_equal_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void not_equal_scalar(into out, const ndarray &data, const not_equal_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol not_equal_scalar(const symbol &data, const not_equal_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = data + s */
struct plus_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_plus_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray plus_scalar(const ndarray &data, const plus_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void plus_scalar(into out, const ndarray &data, const plus_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol plus_scalar(const symbol &data, const plus_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = lhs ^ rhs; of integers towards 0, and 0 where 0 has a negative power */
inline ndarray power(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_power", {&lhs, &rhs});
}
inline void power(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_power", {&lhs, &rhs});
}
inline symbol power(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("_power", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = data ^ s; of integers with the integer part of s */
struct power_scalar_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_power_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray power_scalar(const ndarray &data, const power_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void power_scalar(into out, const ndarray &data, const power_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol power_scalar(const symbol &data, const power_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = s / data */
struct rdiv_scalar_settings {
    /** float, optional, default=1. Left operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_rdiv_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray rdiv_scalar(const ndarray &data, const rdiv_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void rdiv_scalar(into out, const ndarray &data, const rdiv_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol rdiv_scalar(const symbol &data, const rdiv_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = s - data */
struct rminus_scalar_settings {
    /** float, optional, default=1. Left operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_rminus_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray rminus_scalar(const ndarray &data, const rminus_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void rminus_scalar(into out, const ndarray &data, const rminus_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol rminus_scalar(const symbol &data, const rminus_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = s modulo data, with the sign of data */
struct rmod_scalar_settings {
    /** float, optional, default=1. Left operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_rmod_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray rmod_scalar(const ndarray &data, const rmod_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void rmod_scalar(into out, const ndarray &data, const rmod_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol rmod_scalar(const symbol &data, const rmod_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = s ^ data; of integers with the integer part of s */
struct rpower_scalar_settings {
    /** float, optional, default=1. Left operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "_rpower_scalar";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray rpower_scalar(const ndarray &data, const rpower_scalar_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void rpower_scalar(into out, const ndarray &data, const rpower_scalar_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol rpower_scalar(const symbol &data, const rpower_scalar_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** y = |x| */
inline ndarray abs(const ndarray &data) {
    return detail::invoke<ndarray>("abs", {&data});
}
inline void abs(into out, const ndarray &data) {
    detail::invoke_into(out, "abs", {&data});
}
inline symbol abs(const symbol &data, text name = {}) {
    return detail::apply("abs", name, {"data"}, {&data});
}

/** y = arccos x */
inline ndarray arccos(const ndarray &data) {
    return detail::invoke<ndarray>("arccos", {&data});
}
inline void arccos(into out, const ndarray &data) {
    detail::invoke_into(out, "arccos", {&data});
}
inline symbol arccos(const symbol &data, text name = {}) {
    return detail::apply("arccos", name, {"data"}, {&data});
}

/** y = arccosh x */
inline ndarray arccosh(const ndarray &data) {
    return detail::invoke<ndarray>("arccosh", {&data});
}
inline void arccosh(into out, const ndarray &data) {
    detail::invoke_into(out, "arccosh", {&data});
}
inline symbol arccosh(const symbol &data, text name = {}) {
    return detail::apply("arccosh", name, {"data"}, {&data});
}

/** y = arcsin x */
inline ndarray arcsin(const ndarray &data) {
    return detail::invoke<ndarray>("arcsin", {&data});
}
inline void arcsin(into out, const ndarray &data) {
    detail::invoke_into(out, "arcsin", {&data});
}
inline symbol arcsin(const symbol &data, text name = {}) {
    return detail::apply("arcsin", name, {"data"}, {&data});
}

/** y = arcsinh x */
inline ndarray arcsinh(const ndarray &data) {
    return detail::invoke<ndarray>("arcsinh", {&data});
}
inline void arcsinh(into out, const ndarray &data) {
    detail::invoke_into(out, "arcsinh", {&data});
}
inline symbol arcsinh(const symbol &data, text name = {}) {
    return detail::apply("arcsinh", name, {"data"}, {&data});
}

/** y = arctan x */
inline ndarray arctan(const ndarray &data) {
    return detail::invoke<ndarray>("arctan", {&data});
}
inline void arctan(into out, const ndarray &data) {
    detail::invoke_into(out, "arctan", {&data});
}
inline symbol arctan(const symbol &data, text name = {}) {
    return detail::apply("arctan", name, {"data"}, {&data});
}

/** y = arctanh x */
inline ndarray arctanh(const ndarray &data) {
    return detail::invoke<ndarray>("arctanh", {&data});
}
inline void arctanh(into out, const ndarray &data) {
    detail::invoke_into(out, "arctanh", {&data});
}
inline symbol arctanh(const symbol &data, text name = {}) {
    return detail::apply("arctanh", name, {"data"}, {&data});
}

/** out = lhs + rhs, with broadcasting */
inline ndarray broadcast_add(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_add", {&lhs, &rhs});
}
inline void broadcast_add(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_add", {&lhs, &rhs});
}
inline symbol broadcast_add(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_add", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs / rhs, with broadcasting */
inline ndarray broadcast_div(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_div", {&lhs, &rhs});
}
inline void broadcast_div(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_div", {&lhs, &rhs});
}
inline symbol broadcast_div(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_div", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs = rhs, else 0 */
inline ndarray broadcast_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_equal", {&lhs, &rhs});
}
inline void broadcast_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_equal", {&lhs, &rhs});
}
inline symbol broadcast_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs > rhs, else 0 */
inline ndarray broadcast_greater(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_greater", {&lhs, &rhs});
}
inline void broadcast_greater(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_greater", {&lhs, &rhs});
}
inline symbol broadcast_greater(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_greater", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs >= rhs, else 0 */
inline ndarray broadcast_greater_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_greater_equal", {&lhs, &rhs});
}
inline void broadcast_greater_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_greater_equal", {&lhs, &rhs});
}
inline symbol broadcast_greater_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_greater_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = sqrt(lhs^2 + rhs^2), with broadcasting */
inline ndarray broadcast_hypot(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_hypot", {&lhs, &rhs});
}
inline void broadcast_hypot(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_hypot", {&lhs, &rhs});
}
inline symbol broadcast_hypot(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_hypot", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs < rhs, else 0 */
inline ndarray broadcast_lesser(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_lesser", {&lhs, &rhs});
}
inline void broadcast_lesser(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_lesser", {&lhs, &rhs});
}
inline symbol broadcast_lesser(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_lesser", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where lhs <= rhs, else 0 */
inline ndarray broadcast_lesser_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_lesser_equal", {&lhs, &rhs});
}
inline void broadcast_lesser_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_lesser_equal", {&lhs, &rhs});
}
inline symbol broadcast_lesser_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_lesser_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where neither is 0, else 0 */
inline ndarray broadcast_logical_and(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_logical_and", {&lhs, &rhs});
}
inline void broadcast_logical_and(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_logical_and", {&lhs, &rhs});
}
inline symbol broadcast_logical_and(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_logical_and", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 0 where both are 0, else 1 */
inline ndarray broadcast_logical_or(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_logical_or", {&lhs, &rhs});
}
inline void broadcast_logical_or(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_logical_or", {&lhs, &rhs});
}
inline symbol broadcast_logical_or(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_logical_or", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 1 where one is 0, else 0 */
inline ndarray broadcast_logical_xor(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_logical_xor", {&lhs, &rhs});
}
inline void broadcast_logical_xor(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_logical_xor", {&lhs, &rhs});
}
inline symbol broadcast_logical_xor(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_logical_xor", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = max(lhs, rhs), with broadcasting */
inline ndarray broadcast_maximum(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_maximum", {&lhs, &rhs});
}
inline void broadcast_maximum(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_maximum", {&lhs, &rhs});
}
inline symbol broadcast_maximum(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_maximum", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = min(lhs, rhs), with broadcasting */
inline ndarray broadcast_minimum(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_minimum", {&lhs, &rhs});
}
inline void broadcast_minimum(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_minimum", {&lhs, &rhs});
}
inline symbol broadcast_minimum(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_minimum", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs modulo rhs, with broadcasting */
inline ndarray broadcast_mod(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_mod", {&lhs, &rhs});
}
inline void broadcast_mod(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_mod", {&lhs, &rhs});
}
inline symbol broadcast_mod(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_mod", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs * rhs, with broadcasting */
inline ndarray broadcast_mul(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_mul", {&lhs, &rhs});
}
inline void broadcast_mul(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_mul", {&lhs, &rhs});
}
inline symbol broadcast_mul(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_mul", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = 0 where lhs = rhs, else 1 */
inline ndarray broadcast_not_equal(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_not_equal", {&lhs, &rhs});
}
inline void broadcast_not_equal(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_not_equal", {&lhs, &rhs});
}
inline symbol broadcast_not_equal(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_not_equal", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs ^ rhs, with broadcasting */
inline ndarray broadcast_power(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_power", {&lhs, &rhs});
}
inline void broadcast_power(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_power", {&lhs, &rhs});
}
inline symbol broadcast_power(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_power", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs - rhs, with broadcasting */
inline ndarray broadcast_sub(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("broadcast_sub", {&lhs, &rhs});
}
inline void broadcast_sub(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "broadcast_sub", {&lhs, &rhs});
}
inline symbol broadcast_sub(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("broadcast_sub", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** y = the cube root of x */
inline ndarray cbrt(const ndarray &data) {
    return detail::invoke<ndarray>("cbrt", {&data});
}
inline void cbrt(into out, const ndarray &data) {
    detail::invoke_into(out, "cbrt", {&data});
}
inline symbol cbrt(const symbol &data, text name = {}) {
    return detail::apply("cbrt", name, {"data"}, {&data});
}

/** y = the smallest integer not below x */
inline ndarray ceil(const ndarray &data) {
    return detail::invoke<ndarray>("ceil", {&data});
}
inline void ceil(into out, const ndarray &data) {
    detail::invoke_into(out, "ceil", {&data});
}
inline symbol ceil(const symbol &data, text name = {}) {
    return detail::apply("ceil", name, {"data"}, {&data});
}

/** out = min(max(data, a_min), a_max); the gradient is 0 where data is outside */
struct clip_settings {
    /** float, required. Minimum. */
    required<double> a_min;
    /** float, required. Maximum. */
    required<double> a_max;
    static constexpr const char *op = "clip";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("a_min", a_min);
        visitor("a_max", a_max);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray clip(const ndarray &data, const clip_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void clip(into out, const ndarray &data, const clip_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol clip(const symbol &data, const clip_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** y = cos x, x in radians */
inline ndarray cos(const ndarray &data) {
    return detail::invoke<ndarray>("cos", {&data});
}
inline void cos(into out, const ndarray &data) {
    detail::invoke_into(out, "cos", {&data});
}
inline symbol cos(const symbol &data, text name = {}) {
    return detail::apply("cos", name, {"data"}, {&data});
}

/** y = cosh x */
inline ndarray cosh(const ndarray &data) {
    return detail::invoke<ndarray>("cosh", {&data});
}
inline void cosh(into out, const ndarray &data) {
    detail::invoke_into(out, "cosh", {&data});
}
inline symbol cosh(const symbol &data, text name = {}) {
    return detail::apply("cosh", name, {"data"}, {&data});
}

/** y = 180 x / pi */
inline ndarray degrees(const ndarray &data) {
    return detail::invoke<ndarray>("degrees", {&data});
}
inline void degrees(into out, const ndarray &data) {
    detail::invoke_into(out, "degrees", {&data});
}
inline symbol degrees(const symbol &data, text name = {}) {
    return detail::apply("degrees", name, {"data"}, {&data});
}

/** y = the derivative of gammaln at x */
inline ndarray digamma(const ndarray &data) {
    return detail::invoke<ndarray>("digamma", {&data});
}
inline void digamma(into out, const ndarray &data) {
    detail::invoke_into(out, "digamma", {&data});
}
inline symbol digamma(const symbol &data, text name = {}) {
    return detail::apply("digamma", name, {"data"}, {&data});
}

/** out = lhs + rhs */
inline ndarray elemwise_add(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("elemwise_add", {&lhs, &rhs});
}
inline void elemwise_add(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "elemwise_add", {&lhs, &rhs});
}
inline symbol elemwise_add(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("elemwise_add", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs / rhs; of integers towards 0, and 0 where rhs is 0 */
inline ndarray elemwise_div(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("elemwise_div", {&lhs, &rhs});
}
inline void elemwise_div(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "elemwise_div", {&lhs, &rhs});
}
inline symbol elemwise_div(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("elemwise_div", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs * rhs */
inline ndarray elemwise_mul(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("elemwise_mul", {&lhs, &rhs});
}
inline void elemwise_mul(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "elemwise_mul", {&lhs, &rhs});
}
inline symbol elemwise_mul(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("elemwise_mul", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** out = lhs - rhs */
inline ndarray elemwise_sub(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("elemwise_sub", {&lhs, &rhs});
}
inline void elemwise_sub(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "elemwise_sub", {&lhs, &rhs});
}
inline symbol elemwise_sub(const symbol &lhs, const symbol &rhs, text name = {}) {
    return detail::apply("elemwise_sub", name, {"lhs", "rhs"}, {&lhs, &rhs});
}

/** y = erf(x), 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x */
inline ndarray erf(const ndarray &data) {
    return detail::invoke<ndarray>("erf", {&data});
}
inline void erf(into out, const ndarray &data) {
    detail::invoke_into(out, "erf", {&data});
}
inline symbol erf(const symbol &data, text name = {}) {
    return detail::apply("erf", name, {"data"}, {&data});
}

/** y = the inverse of erf at x */
inline ndarray erfinv(const ndarray &data) {
    return detail::invoke<ndarray>("erfinv", {&data});
}
inline void erfinv(into out, const ndarray &data) {
    detail::invoke_into(out, "erfinv", {&data});
}
inline symbol erfinv(const symbol &data, text name = {}) {
    return detail::apply("erfinv", name, {"data"}, {&data});
}

/** y = e^x */
inline ndarray exp(const ndarray &data) {
    return detail::invoke<ndarray>("exp", {&data});
}
inline void exp(into out, const ndarray &data) {
    detail::invoke_into(out, "exp", {&data});
}
inline symbol exp(const symbol &data, text name = {}) {
    return detail::apply("exp", name, {"data"}, {&data});
}

/** y = e^x - 1, accurate near 0 */
inline ndarray expm1(const ndarray &data) {
    return detail::invoke<ndarray>("expm1", {&data});
}
inline void expm1(into out, const ndarray &data) {
    detail::invoke_into(out, "expm1", {&data});
}
inline symbol expm1(const symbol &data, text name = {}) {
    return detail::apply("expm1", name, {"data"}, {&data});
}

/** y = x truncated towards 0 */
inline ndarray fix(const ndarray &data) {
    return detail::invoke<ndarray>("fix", {&data});
}
inline void fix(into out, const ndarray &data) {
    detail::invoke_into(out, "fix", {&data});
}
inline symbol fix(const symbol &data, text name = {}) {
    return detail::apply("fix", name, {"data"}, {&data});
}

/** y = the largest integer not above x */
inline ndarray floor(const ndarray &data) {
    return detail::invoke<ndarray>("floor", {&data});
}
inline void floor(into out, const ndarray &data) {
    detail::invoke_into(out, "floor", {&data});
}
inline symbol floor(const symbol &data, text name = {}) {
    return detail::apply("floor", name, {"data"}, {&data});
}

/** y = gamma(x), the factorial of x - 1 */
inline ndarray gamma(const ndarray &data) {
    return detail::invoke<ndarray>("gamma", {&data});
}
inline void gamma(into out, const ndarray &data) {
    detail::invoke_into(out, "gamma", {&data});
}
inline symbol gamma(const symbol &data, text name = {}) {
    return detail::apply("gamma", name, {"data"}, {&data});
}

/** y = ln |gamma(x)| */
inline ndarray gammaln(const ndarray &data) {
    return detail::invoke<ndarray>("gammaln", {&data});
}
inline void gammaln(into out, const ndarray &data) {
    detail::invoke_into(out, "gammaln", {&data});
}
inline symbol gammaln(const symbol &data, text name = {}) {
    return detail::apply("gammaln", name, {"data"}, {&data});
}

/** y = x (1 + erf(x / sqrt(2))) / 2 */
inline ndarray gelu(const ndarray &data) {
    return detail::invoke<ndarray>("gelu", {&data});
}
inline void gelu(into out, const ndarray &data) {
    detail::invoke_into(out, "gelu", {&data});
}
inline symbol gelu(const symbol &data, text name = {}) {
    return detail::apply("gelu", name, {"data"}, {&data});
}

/** y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, near gelu */
inline ndarray gelu_tanh(const ndarray &data) {
    return detail::invoke<ndarray>("gelu_tanh", {&data});
}
inline void gelu_tanh(into out, const ndarray &data) {
    detail::invoke_into(out, "gelu_tanh", {&data});
}
inline symbol gelu_tanh(const symbol &data, text name = {}) {
    return detail::apply("gelu_tanh", name, {"data"}, {&data});
}

/** out = min(max(alpha data + beta, 0), 1) */
struct hard_sigmoid_settings {
    /** float, optional, default=0.2. Factor of data. */
    double alpha = 0.2;
    /** float, optional, default=0.5. Summand. */
    double beta = 0.5;
    static constexpr const char *op = "hard_sigmoid";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("alpha", alpha, 0.2);
        visitor("beta", beta, 0.5);
    }
    static constexpr size_t count = 2, text_bytes = 66; /* room for visit */
};
inline ndarray hard_sigmoid(const ndarray &data, const hard_sigmoid_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void hard_sigmoid(into out, const ndarray &data, const hard_sigmoid_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol hard_sigmoid(const symbol &data, const hard_sigmoid_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** y = ln x */
inline ndarray log(const ndarray &data) {
    return detail::invoke<ndarray>("log", {&data});
}
inline void log(into out, const ndarray &data) {
    detail::invoke_into(out, "log", {&data});
}
inline symbol log(const symbol &data, text name = {}) {
    return detail::apply("log", name, {"data"}, {&data});
}

/** y = log10 x */
inline ndarray log10(const ndarray &data) {
    return detail::invoke<ndarray>("log10", {&data});
}
inline void log10(into out, const ndarray &data) {
    detail::invoke_into(out, "log10", {&data});
}
inline symbol log10(const symbol &data, text name = {}) {
    return detail::apply("log10", name, {"data"}, {&data});
}

/** y = ln(1 + x), accurate near 0 */
inline ndarray log1p(const ndarray &data) {
    return detail::invoke<ndarray>("log1p", {&data});
}
inline void log1p(into out, const ndarray &data) {
    detail::invoke_into(out, "log1p", {&data});
}
inline symbol log1p(const symbol &data, text name = {}) {
    return detail::apply("log1p", name, {"data"}, {&data});
}

/** y = log2 x */
inline ndarray log2(const ndarray &data) {
    return detail::invoke<ndarray>("log2", {&data});
}
inline void log2(into out, const ndarray &data) {
    detail::invoke_into(out, "log2", {&data});
}
inline symbol log2(const symbol &data, text name = {}) {
    return detail::apply("log2", name, {"data"}, {&data});
}

/** y = -ln(1 + e^-x) */
inline ndarray log_sigmoid(const ndarray &data) {
    return detail::invoke<ndarray>("log_sigmoid", {&data});
}
inline void log_sigmoid(into out, const ndarray &data) {
    detail::invoke_into(out, "log_sigmoid", {&data});
}
inline symbol log_sigmoid(const symbol &data, text name = {}) {
    return detail::apply("log_sigmoid", name, {"data"}, {&data});
}

/** y = 1 where x = 0, else 0 */
inline ndarray logical_not(const ndarray &data) {
    return detail::invoke<ndarray>("logical_not", {&data});
}
inline void logical_not(into out, const ndarray &data) {
    detail::invoke_into(out, "logical_not", {&data});
}
inline symbol logical_not(const symbol &data, text name = {}) {
    return detail::apply("logical_not", name, {"data"}, {&data});
}

/** y = x tanh(ln(1 + e^x)) */
inline ndarray mish(const ndarray &data) {
    return detail::invoke<ndarray>("mish", {&data});
}
inline void mish(into out, const ndarray &data) {
    detail::invoke_into(out, "mish", {&data});
}
inline symbol mish(const symbol &data, text name = {}) {
    return detail::apply("mish", name, {"data"}, {&data});
}

/** y = -x */
inline ndarray negative(const ndarray &data) {
    return detail::invoke<ndarray>("negative", {&data});
}
inline void negative(into out, const ndarray &data) {
    detail::invoke_into(out, "negative", {&data});
}
inline symbol negative(const symbol &data, text name = {}) {
    return detail::apply("negative", name, {"data"}, {&data});
}

/** out = 1, with the shape and dtype of data */
inline ndarray ones_like(const ndarray &data) {
    return detail::invoke<ndarray>("ones_like", {&data});
}
inline void ones_like(into out, const ndarray &data) {
    detail::invoke_into(out, "ones_like", {&data});
}
inline symbol ones_like(const symbol &data, text name = {}) {
    return detail::apply("ones_like", name, {"data"}, {&data});
}

/** y = pi x / 180 */
inline ndarray radians(const ndarray &data) {
    return detail::invoke<ndarray>("radians", {&data});
}
inline void radians(into out, const ndarray &data) {
    detail::invoke_into(out, "radians", {&data});
}
inline symbol radians(const symbol &data, text name = {}) {
    return detail::apply("radians", name, {"data"}, {&data});
}

/** y = 1 / the cube root of x */
inline ndarray rcbrt(const ndarray &data) {
    return detail::invoke<ndarray>("rcbrt", {&data});
}
inline void rcbrt(into out, const ndarray &data) {
    detail::invoke_into(out, "rcbrt", {&data});
}
inline symbol rcbrt(const symbol &data, text name = {}) {
    return detail::apply("rcbrt", name, {"data"}, {&data});
}

/** y = 1 / x */
inline ndarray reciprocal(const ndarray &data) {
    return detail::invoke<ndarray>("reciprocal", {&data});
}
inline void reciprocal(into out, const ndarray &data) {
    detail::invoke_into(out, "reciprocal", {&data});
}
inline symbol reciprocal(const symbol &data, text name = {}) {
    return detail::apply("reciprocal", name, {"data"}, {&data});
}

/** y = max(x, 0) */
inline ndarray relu(const ndarray &data) {
    return detail::invoke<ndarray>("relu", {&data});
}
inline void relu(into out, const ndarray &data) {
    detail::invoke_into(out, "relu", {&data});
}
inline symbol relu(const symbol &data, text name = {}) {
    return detail::apply("relu", name, {"data"}, {&data});
}

/** y = x rounded to an integer, halves to even */
inline ndarray rint(const ndarray &data) {
    return detail::invoke<ndarray>("rint", {&data});
}
inline void rint(into out, const ndarray &data) {
    detail::invoke_into(out, "rint", {&data});
}
inline symbol rint(const symbol &data, text name = {}) {
    return detail::apply("rint", name, {"data"}, {&data});
}

/** y = x rounded to an integer, halves away from 0 */
inline ndarray round(const ndarray &data) {
    return detail::invoke<ndarray>("round", {&data});
}
inline void round(into out, const ndarray &data) {
    detail::invoke_into(out, "round", {&data});
}
inline symbol round(const symbol &data, text name = {}) {
    return detail::apply("round", name, {"data"}, {&data});
}

/** y = 1 / sqrt(x) */
inline ndarray rsqrt(const ndarray &data) {
    return detail::invoke<ndarray>("rsqrt", {&data});
}
inline void rsqrt(into out, const ndarray &data) {
    detail::invoke_into(out, "rsqrt", {&data});
}
inline symbol rsqrt(const symbol &data, text name = {}) {
    return detail::apply("rsqrt", name, {"data"}, {&data});
}

/** y = 1 / (1 + e^-x) */
inline ndarray sigmoid(const ndarray &data) {
    return detail::invoke<ndarray>("sigmoid", {&data});
}
inline void sigmoid(into out, const ndarray &data) {
    detail::invoke_into(out, "sigmoid", {&data});
}
inline symbol sigmoid(const symbol &data, text name = {}) {
    return detail::apply("sigmoid", name, {"data"}, {&data});
}

/** y = -1, 0 or 1, the sign of x */
inline ndarray sign(const ndarray &data) {
    return detail::invoke<ndarray>("sign", {&data});
}
inline void sign(into out, const ndarray &data) {
    detail::invoke_into(out, "sign", {&data});
}
inline symbol sign(const symbol &data, text name = {}) {
    return detail::apply("sign", name, {"data"}, {&data});
}

/** y = x / (1 + e^-x) */
inline ndarray silu(const ndarray &data) {
    return detail::invoke<ndarray>("silu", {&data});
}
inline void silu(into out, const ndarray &data) {
    detail::invoke_into(out, "silu", {&data});
}
inline symbol silu(const symbol &data, text name = {}) {
    return detail::apply("silu", name, {"data"}, {&data});
}

/** y = sin x, x in radians */
inline ndarray sin(const ndarray &data) {
    return detail::invoke<ndarray>("sin", {&data});
}
inline void sin(into out, const ndarray &data) {
    detail::invoke_into(out, "sin", {&data});
}
inline symbol sin(const symbol &data, text name = {}) {
    return detail::apply("sin", name, {"data"}, {&data});
}

/** y = sinh x */
inline ndarray sinh(const ndarray &data) {
    return detail::invoke<ndarray>("sinh", {&data});
}
inline void sinh(into out, const ndarray &data) {
    detail::invoke_into(out, "sinh", {&data});
}
inline symbol sinh(const symbol &data, text name = {}) {
    return detail::apply("sinh", name, {"data"}, {&data});
}

/** out = (s data)^2 / 2 where |data| < 1 / s^2, else |data| - 1 / (2 s^2) */
struct smooth_l1_settings {
    /** float, optional, default=1. Right operand. */
    double scalar = 1;
    /** boolean, optional, default=True. Where data is of an integer dtype, convert the scalar to it. False: convert
     * both to float64, the dtype of the result. */
    bool is_int = true;
    static constexpr const char *op = "smooth_l1";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("scalar", scalar, 1);
        visitor("is_int", is_int, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray smooth_l1(const ndarray &data, const smooth_l1_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void smooth_l1(into out, const ndarray &data, const smooth_l1_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol smooth_l1(const symbol &data, const smooth_l1_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** y = x / (1 + |x|) */
inline ndarray softsign(const ndarray &data) {
    return detail::invoke<ndarray>("softsign", {&data});
}
inline void softsign(into out, const ndarray &data) {
    detail::invoke_into(out, "softsign", {&data});
}
inline symbol softsign(const symbol &data, text name = {}) {
    return detail::apply("softsign", name, {"data"}, {&data});
}

/** y = sqrt(x) */
inline ndarray sqrt(const ndarray &data) {
    return detail::invoke<ndarray>("sqrt", {&data});
}
inline void sqrt(into out, const ndarray &data) {
    detail::invoke_into(out, "sqrt", {&data});
}
inline symbol sqrt(const symbol &data, text name = {}) {
    return detail::apply("sqrt", name, {"data"}, {&data});
}

/** y = x^2 */
inline ndarray square(const ndarray &data) {
    return detail::invoke<ndarray>("square", {&data});
}
inline void square(into out, const ndarray &data) {
    detail::invoke_into(out, "square", {&data});
}
inline symbol square(const symbol &data, text name = {}) {
    return detail::apply("square", name, {"data"}, {&data});
}

/** y = tan x, x in radians */
inline ndarray tan(const ndarray &data) {
    return detail::invoke<ndarray>("tan", {&data});
}
inline void tan(into out, const ndarray &data) {
    detail::invoke_into(out, "tan", {&data});
}
inline symbol tan(const symbol &data, text name = {}) {
    return detail::apply("tan", name, {"data"}, {&data});
}

/** y = tanh x */
inline ndarray tanh(const ndarray &data) {
    return detail::invoke<ndarray>("tanh", {&data});
}
inline void tanh(into out, const ndarray &data) {
    detail::invoke_into(out, "tanh", {&data});
}
inline symbol tanh(const symbol &data, text name = {}) {
    return detail::apply("tanh", name, {"data"}, {&data});
}

/** out = 0, with the shape and dtype of data */
inline ndarray zeros_like(const ndarray &data) {
    return detail::invoke<ndarray>("zeros_like", {&data});
}
inline void zeros_like(into out, const ndarray &data) {
    detail::invoke_into(out, "zeros_like", {&data});
}
inline symbol zeros_like(const symbol &data, text name = {}) {
    return detail::apply("zeros_like", name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif
