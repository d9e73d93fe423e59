/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of the family index as functions.
 * Generated from the descriptors by scripts/reference.sh; do not edit. */
// clang-format off
#ifndef MXC_OPERATORS_INDEX_HPP
#define MXC_OPERATORS_INDEX_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {
namespace op {

/** out (m,...) = the rows of data (n,...) at which index (n) is not 0. On arrays and in cached operators, since m is
 * known when index is */
struct contrib_boolean_mask_settings {
    /** int, optional, default=0. Axis of the rows. Only 0. */
    int64_t axis = 0;
    static constexpr const char *op = "_contrib_boolean_mask";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, 0);
    }
    static constexpr size_t count = 1, text_bytes = 33; /* room for visit */
};
inline ndarray contrib_boolean_mask(const ndarray &data, const ndarray &index,
    const contrib_boolean_mask_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &index});
}
inline void contrib_boolean_mask(into out, const ndarray &data, const ndarray &index,
    const contrib_boolean_mask_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &index});
}

/** out = old_tensor (n,...), then out[index_vector[i]] = new_tensor[i] for each row i of new_tensor (m,...); the last
 * of equal indices counts */
inline ndarray contrib_index_copy(const ndarray &old_tensor, const ndarray &index_vector, const ndarray &new_tensor) {
    return detail::invoke<ndarray>("_contrib_index_copy", {&old_tensor, &index_vector, &new_tensor});
}
inline void contrib_index_copy(into out, const ndarray &old_tensor, const ndarray &index_vector,
    const ndarray &new_tensor) {
    detail::invoke_into(out, "_contrib_index_copy", {&old_tensor, &index_vector, &new_tensor});
}
inline symbol contrib_index_copy(const symbol &old_tensor, const symbol &index_vector, const symbol &new_tensor,
    text name = {}) {
    return detail::apply("_contrib_index_copy", name, {"old_tensor", "index_vector", "new_tensor"}, {&old_tensor,
        &index_vector, &new_tensor});
}

/** out[i,j] = 1 where j = lhs[i], else 0; lhs (N), rhs (N,K), of which only the shape is used */
inline ndarray onehot_encode(const ndarray &lhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("_onehot_encode", {&lhs, &rhs});
}
inline void onehot_encode(into out, const ndarray &lhs, const ndarray &rhs) {
    detail::invoke_into(out, "_onehot_encode", {&lhs, &rhs});
}

/** The numbers, in C order, of elements of an array of a given shape: data (M,Y...) has a row of positions for each of
 * its M axes, out (Y...) */
struct ravel_multi_index_settings {
    /** tuple of int, required. Shape of the array. The first axis may be -1. */
    required<tuple> shape;
    static constexpr const char *op = "_ravel_multi_index";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape);
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray ravel_multi_index(const ndarray &data, const ravel_multi_index_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void ravel_multi_index(into out, const ndarray &data, const ravel_multi_index_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol ravel_multi_index(const symbol &data, const ravel_multi_index_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = lhs (X1,...), then out[indices[0,y...], ..., indices[M-1,y...]] = rhs[y...]; rhs (Y...,XM+1,...), indices
 * (M,Y...); the last of equal indices counts */
struct scatter_set_nd_settings {
    /** tuple of int, required. Shape of out. */
    required<tuple> shape;
    static constexpr const char *op = "_scatter_set_nd";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape);
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray scatter_set_nd(const ndarray &lhs, const ndarray &rhs, const ndarray &indices,
    const scatter_set_nd_settings &settings) {
    return detail::invoke<ndarray>(settings, {&lhs, &rhs, &indices});
}
inline void scatter_set_nd(into out, const ndarray &lhs, const ndarray &rhs, const ndarray &indices,
    const scatter_set_nd_settings &settings) {
    detail::invoke_into(out, settings, {&lhs, &rhs, &indices});
}
inline symbol scatter_set_nd(const symbol &lhs, const symbol &rhs, const symbol &indices,
    const scatter_set_nd_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"lhs", "rhs", "indices"}, {&lhs, &rhs, &indices});
}

/** The positions of elements of an array of a given shape from their numbers in C order: data (Y...), out (M,Y...) with
 * a row for each of the M axes */
struct unravel_index_settings {
    /** tuple of int, required. Shape of the array. The first axis may be -1. */
    required<tuple> shape;
    static constexpr const char *op = "_unravel_index";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape);
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray unravel_index(const ndarray &data, const unravel_index_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void unravel_index(into out, const ndarray &data, const unravel_index_settings &settings) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol unravel_index(const symbol &data, const unravel_index_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = the indices that sort data along axis */
struct argsort_settings {
    /** int or None, optional, default=-1. Axis along which elements are ordered. Negative values count from the end.
     * None: all elements as one row. */
    std::optional<int64_t> axis = std::optional<int64_t>(-1);
    /** boolean, optional, default=true. Ascending order; otherwise descending. */
    bool is_ascend = true;
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the indices. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "argsort";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, std::optional<int64_t>(-1));
        visitor("is_ascend", is_ascend, true);
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 3, text_bytes = 33; /* room for visit */
};
inline ndarray argsort(const ndarray &data, const argsort_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data});
}
inline void argsort(into out, const ndarray &data, const argsort_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol argsort(const symbol &data, const argsort_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** a (N,K), indices and out (N): out[i] = a[i,indices[i]] */
inline ndarray batch_take(const ndarray &a, const ndarray &indices) {
    return detail::invoke<ndarray>("batch_take", {&a, &indices});
}
inline void batch_take(into out, const ndarray &a, const ndarray &indices) {
    detail::invoke_into(out, "batch_take", {&a, &indices});
}
inline symbol batch_take(const symbol &a, const symbol &indices, text name = {}) {
    return detail::apply("batch_take", name, {"a", "indices"}, {&a, &indices});
}

/** out = lhs, except out[i,rhs[i]] = mhs[i]; lhs and out (N,K), mhs and rhs (N) */
inline ndarray fill_element_0index(const ndarray &lhs, const ndarray &mhs, const ndarray &rhs) {
    return detail::invoke<ndarray>("fill_element_0index", {&lhs, &mhs, &rhs});
}
inline void fill_element_0index(into out, const ndarray &lhs, const ndarray &mhs, const ndarray &rhs) {
    detail::invoke_into(out, "fill_element_0index", {&lhs, &mhs, &rhs});
}
inline symbol fill_element_0index(const symbol &lhs, const symbol &mhs, const symbol &rhs, text name = {}) {
    return detail::apply("fill_element_0index", name, {"lhs", "mhs", "rhs"}, {&lhs, &mhs, &rhs});
}

/** out[y...] = data[indices[0,y...], ..., indices[M-1,y...]]; data (X1,...), indices (M,Y...), out (Y...,XM+1,...) */
inline ndarray gather_nd(const ndarray &data, const ndarray &indices) {
    return detail::invoke<ndarray>("gather_nd", {&data, &indices});
}
inline void gather_nd(into out, const ndarray &data, const ndarray &indices) {
    detail::invoke_into(out, "gather_nd", {&data, &indices});
}
inline symbol gather_nd(const symbol &data, const symbol &indices, text name = {}) {
    return detail::apply("gather_nd", name, {"data", "indices"}, {&data, &indices});
}

/** out (shape of indices, depth) = on_value at each index, off_value elsewhere; an index outside of [0, depth) gives
 * off_value everywhere */
struct one_hot_settings {
    /** int, required. Size of the new last axis, the number of classes. */
    required<int64_t> depth;
    /** float, optional, default=1.0. Value at the index. */
    double on_value = 1.0;
    /** float, optional, default=0.0. Value at all other positions. */
    double off_value = 0.0;
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of out. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "one_hot";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("depth", depth);
        visitor("on_value", on_value, 1.0);
        visitor("off_value", off_value, 0.0);
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 4, text_bytes = 99; /* room for visit */
};
inline ndarray one_hot(const ndarray &indices, const one_hot_settings &settings) {
    return detail::invoke<ndarray>(settings, {&indices});
}
inline void one_hot(into out, const ndarray &indices, const one_hot_settings &settings) {
    detail::invoke_into(out, settings, {&indices});
}
inline symbol one_hot(const symbol &indices, const one_hot_settings &settings, text name = {}) {
    return detail::apply(settings, name, {"indices"}, {&indices});
}

/** out = the element of each row of data along axis that index selects */
struct pick_settings {
    /** int, optional, default=-1. Axis along which elements are picked. Negative values count from the end. */
    int64_t axis = -1;
    /** boolean, optional, default=false. Keep the axis with size 1. */
    bool keepdims = false;
    /** {'clip', 'wrap'}, optional, default='clip'. How indices out of range are treated: clip takes the nearest valid
     * index, wrap takes them modulo the size of the axis. */
    text mode = text("clip");
    static constexpr const char *op = "pick";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, -1);
        visitor("keepdims", keepdims, false);
        visitor("mode", mode, text("clip"));
    }
    static constexpr size_t count = 3, text_bytes = 33; /* room for visit */
};
inline ndarray pick(const ndarray &data, const ndarray &index, const pick_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&data, &index});
}
inline void pick(into out, const ndarray &data, const ndarray &index, const pick_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data, &index});
}
inline symbol pick(const symbol &data, const symbol &index, const pick_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data", "index"}, {&data, &index});
}

/** out (X1,...) = 0, then out[indices[0,y...], ..., indices[M-1,y...]] += data[y...]; data (Y...,XM+1,...), indices
 * (M,Y...); the values of repeated indices are added */
struct scatter_nd_settings {
    /** tuple of int, required. Shape of out. */
    required<tuple> shape;
    static constexpr const char *op = "scatter_nd";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("shape", shape);
    }
    static constexpr size_t count = 1, text_bytes = 355; /* room for visit */
};
inline ndarray scatter_nd(const ndarray &data, const ndarray &indices, const scatter_nd_settings &settings) {
    return detail::invoke<ndarray>(settings, {&data, &indices});
}
inline void scatter_nd(into out, const ndarray &data, const ndarray &indices, const scatter_nd_settings &settings) {
    detail::invoke_into(out, settings, {&data, &indices});
}
inline symbol scatter_nd(const symbol &data, const symbol &indices, const scatter_nd_settings &settings,
    text name = {}) {
    return detail::apply(settings, name, {"data", "indices"}, {&data, &indices});
}

/** out = data sorted along axis */
struct sort_settings {
    /** int or None, optional, default=-1. Axis along which elements are ordered. Negative values count from the end.
     * None: all elements as one row. */
    std::optional<int64_t> axis = std::optional<int64_t>(-1);
    /** boolean, optional, default=true. Ascending order; otherwise descending. */
    bool is_ascend = true;
    static constexpr const char *op = "sort";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, std::optional<int64_t>(-1));
        visitor("is_ascend", is_ascend, true);
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline results sort(const ndarray &data, const sort_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void sort(into out, const ndarray &data, const sort_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol sort(const symbol &data, const sort_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

/** out = the slices of a along axis that indices select; the axis is replaced by the axes of indices */
struct take_settings {
    /** int, optional, default=0. Axis of a that is indexed. Negative values count from the end. */
    int64_t axis = 0;
    /** {'raise', 'wrap', 'clip'}, optional, default='clip'. How indices out of range are treated: raise reports an
     * error, wrap takes them modulo the size of the axis, clip takes the nearest valid index. */
    text mode = text("clip");
    static constexpr const char *op = "take";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, 0);
        visitor("mode", mode, text("clip"));
    }
    static constexpr size_t count = 2, text_bytes = 33; /* room for visit */
};
inline ndarray take(const ndarray &a, const ndarray &indices, const take_settings &settings = {}) {
    return detail::invoke<ndarray>(settings, {&a, &indices});
}
inline void take(into out, const ndarray &a, const ndarray &indices, const take_settings &settings = {}) {
    detail::invoke_into(out, settings, {&a, &indices});
}
inline symbol take(const symbol &a, const symbol &indices, const take_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"a", "indices"}, {&a, &indices});
}

/** out = the first k elements along axis in sorted order: their values, indices, both, or a mask */
struct topk_settings {
    /** int or None, optional, default=-1. Axis along which elements are ordered. Negative values count from the end.
     * None: all elements as one row. */
    std::optional<int64_t> axis = std::optional<int64_t>(-1);
    /** int, optional, default=1. Number of elements taken from each row. Below 1: all. */
    int64_t k = 1;
    /** {'value', 'indices', 'mask', 'both'}, optional, default='indices'. What is returned: the values, their indices,
     * both, or a mask of data's shape that is 1 at the elements taken. */
    text ret_typ = text("indices");
    /** boolean, optional, default=false. Ascending order; otherwise descending. */
    bool is_ascend = false;
    /** {'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, optional,
     * default='float32'. Dtype of the indices. */
    mxc_dtype dtype = MXC_F32;
    static constexpr const char *op = "topk";
    template <class Visitor> void visit(Visitor &&visitor) const {
        visitor("axis", axis, std::optional<int64_t>(-1));
        visitor("k", k, 1);
        visitor("ret_typ", ret_typ, text("indices"));
        visitor("is_ascend", is_ascend, false);
        visitor("dtype", dtype, MXC_F32);
    }
    static constexpr size_t count = 5, text_bytes = 66; /* room for visit */
};
inline results topk(const ndarray &data, const topk_settings &settings = {}) {
    return detail::invoke<results>(settings, {&data});
}
inline void topk(into out, const ndarray &data, const topk_settings &settings = {}) {
    detail::invoke_into(out, settings, {&data});
}
inline symbol topk(const symbol &data, const topk_settings &settings = {}, text name = {}) {
    return detail::apply(settings, name, {"data"}, {&data});
}

} // namespace op
} // namespace mxc

#endif
