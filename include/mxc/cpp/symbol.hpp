/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols: computations written down before they run. */
#ifndef MXC_CPP_SYMBOL_HPP
#define MXC_CPP_SYMBOL_HPP

#include <mxc/cpp/call.hpp>

namespace mxc {

/** What is known of a variable: its name, shape and dtype. Also describes inputs of predictors. */
struct variable_info {
    text name;
    mxc::shape shape = {};
    mxc_dtype dtype = MXC_DTYPE_UNKNOWN;
};

namespace detail {

/** Variables as C has them: three arrays. */
class variable_arrays {
  public:
    explicit variable_arrays(span<const variable_info> variables)
        : names_(variables.size()), shapes_(variables.size()), types_(variables.size()) {
        for (size_t i = 0; i < variables.size(); i++) {
            names_[i] = variables[i].name.c_str();
            shapes_[i] = variables[i].shape;
            types_[i] = variables[i].dtype;
        }
    }
    int64_t size() const noexcept {
        return static_cast<int64_t>(names_.size());
    }
    const char *const *names() noexcept {
        return names_.data();
    }
    const mxc_shape *shapes() noexcept {
        return shapes_.data();
    }
    const mxc_dtype *types() noexcept {
        return types_.data();
    }

  private:
    small_array<const char *, 16> names_;
    small_array<mxc_shape, 16> shapes_;
    small_array<mxc_dtype, 16> types_;
};

} // namespace detail

/** Shapes and dtypes of all variables and outputs, in the order of their lists. */
class inferred {
  public:
    inferred() noexcept = default;
    inferred(inferred &&other) noexcept : inferred_(std::exchange(other.inferred_, mxc_inferred())) {
    }
    inferred &operator=(inferred &&other) noexcept {
        std::swap(inferred_, other.inferred_);
        return *this;
    }
    ~inferred() {
        mxc_inferred_release(&inferred_);
    }
    /** Nothing is unknown. */
    bool complete() const noexcept {
        return inferred_.complete != 0;
    }
    span<const mxc_shape> arg_shapes() const noexcept {
        return list(inferred_.arg_shapes, inferred_.n_args);
    }
    span<const mxc_shape> output_shapes() const noexcept {
        return list(inferred_.output_shapes, inferred_.n_outputs);
    }
    span<const mxc_shape> aux_shapes() const noexcept {
        return list(inferred_.aux_shapes, inferred_.n_aux);
    }
    span<const mxc_dtype> arg_types() const noexcept {
        return list(inferred_.arg_types, inferred_.n_args);
    }
    span<const mxc_dtype> output_types() const noexcept {
        return list(inferred_.output_types, inferred_.n_outputs);
    }
    span<const mxc_dtype> aux_types() const noexcept {
        return list(inferred_.aux_types, inferred_.n_aux);
    }
    mxc_inferred *out() noexcept {
        mxc_inferred_release(&inferred_);
        return &inferred_;
    }

  private:
    template <class T> static span<const T> list(const T *items, int64_t n) noexcept {
        return span<const T>(items, static_cast<size_t>(n));
    }
    mxc_inferred inferred_ = {};
};

/** A symbol: one reference to an mxc_symbol, or none. */
class symbol : public detail::shared_handle<mxc_symbol, mxc_symbol_retain, mxc_symbol_release> {
  public:
    symbol() noexcept = default;

    /* ---- creation ------------------------------------------------------------------------------------------------ */

    /** Takes over a reference that a C function returned. */
    static symbol adopt(mxc_symbol *symbol_handle) noexcept {
        symbol out;
        out.handle_ = symbol_handle;
        return out;
    }
    /** Another reference to a symbol that is borrowed; none for NULL. */
    static symbol share(mxc_symbol *symbol_handle) noexcept {
        return adopt(symbol_handle ? mxc_symbol_retain(symbol_handle) : nullptr);
    }
    static symbol variable(text name) {
        symbol out;
        check(mxc_symbol_variable(name.c_str(), &out.handle_));
        return out;
    }
    static symbol group(span<const symbol> symbols) {
        symbol out;
        check(mxc_symbol_group(detail::to_int(symbols.size()), handles(symbols), &out.handle_));
        return out;
    }
    static symbol load(text path) {
        symbol out;
        check(mxc_symbol_load(path.c_str(), &out.handle_));
        return out;
    }
    static symbol from_json(const char *json, size_t bytes) {
        symbol out;
        check(mxc_symbol_from_json(json, bytes, &out.handle_));
        return out;
    }
    static symbol from_json(const std::string &json) {
        return from_json(json.data(), json.size());
    }
    /** Another symbol that shares no nodes. */
    symbol copy() const {
        symbol out;
        check(mxc_symbol_copy(handle_, &out.handle_));
        return out;
    }
    /** Replace free variables by other symbols, in place. */
    void compose(text name, span<const text> variables, span<const symbol> symbols) {
        detail::text_array keys(variables);
        if (variables.size() != symbols.size())
            detail::fail(MXC_EINVAL, "compose: expected %zu symbols, found %zu", variables.size(), symbols.size());
        check(mxc_symbol_compose(handle_, name.c_str(), keys.size(), keys.data(), handles(symbols)));
    }

    /* ---- outputs, inner nodes, names ----------------------------------------------------------------------------- */

    /** Of a symbol of one node, borrowed; NULL for a group. */
    const char *name() const noexcept {
        return mxc_symbol_name(handle_);
    }
    size_t n_outputs() const noexcept {
        return static_cast<size_t>(std::max<int64_t>(mxc_symbol_n_outputs(handle_), 0));
    }
    symbol operator[](int64_t i) const {
        symbol out;
        check(mxc_symbol_output(handle_, i, &out.handle_));
        return out;
    }
    symbol operator[](text output) const {
        symbol out;
        check(mxc_symbol_find_output(handle_, output.c_str(), &out.handle_));
        return out;
    }
    symbol operator[](const char *output) const {
        return (*this)[text(output)];
    }
    symbol operator[](int i) const {
        return (*this)[static_cast<int64_t>(i)];
    }
    symbol internals() const {
        symbol out;
        check(mxc_symbol_internals(handle_, &out.handle_));
        return out;
    }
    /** No object for a variable. */
    symbol children() const {
        symbol out;
        check(mxc_symbol_children(handle_, &out.handle_));
        return out;
    }
    names arguments() const {
        names out;
        check(mxc_symbol_list_arguments(handle_, out.out()));
        return out;
    }
    names outputs() const {
        names out;
        check(mxc_symbol_list_outputs(handle_, out.out()));
        return out;
    }
    names aux() const {
        names out;
        check(mxc_symbol_list_aux(handle_, out.out()));
        return out;
    }

    /* ---- attributes ---------------------------------------------------------------------------------------------- */

    /** NULL if the attribute is absent. Borrowed until it is set again. */
    const char *attr(text key) const noexcept {
        return mxc_symbol_attr(handle_, key.c_str());
    }
    void set_attr(text key, text value) {
        check(mxc_symbol_set_attr(handle_, key.c_str(), value.c_str()));
    }
    /** Keys and values alternately. */
    names attrs(bool deep = false) const {
        names out;
        check(mxc_symbol_list_attrs(handle_, deep, out.out()));
        return out;
    }

    /* ---- inference, gradients, text ------------------------------------------------------------------------------ */

    inferred infer(span<const variable_info> known) const {
        detail::variable_arrays arrays(known);
        inferred out;
        check(mxc_symbol_infer(handle_, arrays.size(), arrays.names(), arrays.shapes(), arrays.types(), out.out()));
        return out;
    }
    /** The gradients of the outputs' sum with respect to arguments, one output for each. */
    symbol grad(span<const text> arguments) const {
        detail::text_array names(arguments);
        symbol out;
        check(mxc_symbol_grad(handle_, names.size(), names.data(), &out.handle_));
        return out;
    }
    std::string to_json() const {
        char *out;
        check(mxc_symbol_to_json(handle_, &out));
        return detail::take_string(out);
    }
    void save(text path) const {
        check(mxc_symbol_save(handle_, path.c_str()));
    }
    /** One line for each node. */
    std::string str() const {
        char *out;
        check(mxc_symbol_print(handle_, &out));
        return detail::take_string(out);
    }
    /** In Graphviz' language. */
    std::string to_dot(span<const variable_info> known = {}) const {
        detail::variable_arrays arrays(known);
        char *out;
        check(
            mxc_symbol_to_dot(handle_, arrays.size(), arrays.names(), arrays.size() ? arrays.shapes() : nullptr, &out));
        return detail::take_string(out);
    }

    static mxc_symbol *const *handles(span<const symbol> symbols) noexcept {
        return reinterpret_cast<mxc_symbol *const *>(symbols.data());
    }
};
static_assert(sizeof(symbol) == sizeof(mxc_symbol *) && std::is_standard_layout_v<symbol>);

inline symbol variable(text name) {
    return symbol::variable(name);
}
inline symbol group(span<const symbol> symbols) {
    return symbol::group(symbols);
}

/** Attributes for the nodes that this thread makes while the object exists. */
class attr_scope {
  public:
    explicit attr_scope(span<const keyword> attributes) {
        detail::keyword_arrays arrays(attributes);
        check(mxc_attr_scope_enter(arrays.size(), arrays.keys(), arrays.values()));
    }
    attr_scope(const attr_scope &) = delete;
    attr_scope &operator=(const attr_scope &) = delete;
    ~attr_scope() {
        mxc_attr_scope_leave();
    }
};

/* ---- control flow ------------------------------------------------------------------------------------------------ */

/** Run body for each row of data; see mxc_symbol_foreach. */
inline symbol foreach (const symbol &body, span<const text> data_names, span<const symbol> data,
                       span<const text> state_names, span<const symbol> states, text name = {}) {
    detail::text_array data_keys(data_names), state_keys(state_names);
    symbol out;
    if (data_names.size() != data.size() || state_names.size() != states.size())
        detail::fail(MXC_EINVAL, "foreach: %zu names for %zu symbols of data, %zu for %zu states", data_names.size(),
                     data.size(), state_names.size(), states.size());
    check(mxc_symbol_foreach(name.c_str(), body.get(), data_keys.size(), data_keys.data(), symbol::handles(data),
                             state_keys.size(), state_keys.data(), symbol::handles(states), out.out()));
    return out;
}
/** Run body as long as condition is not 0; see mxc_symbol_while_loop. */
inline symbol while_loop(const symbol &condition, const symbol &body, span<const text> var_names,
                         span<const symbol> vars, int64_t max_iterations, text name = {}) {
    detail::text_array keys(var_names);
    symbol out;
    if (var_names.size() != vars.size())
        detail::fail(MXC_EINVAL, "while_loop: %zu names for %zu symbols", var_names.size(), vars.size());
    check(mxc_symbol_while_loop(name.c_str(), condition.get(), body.get(), keys.size(), keys.data(),
                                symbol::handles(vars), max_iterations, out.out()));
    return out;
}
inline symbol cond(const symbol &condition, const symbol &then_branch, const symbol &else_branch, text name = {}) {
    symbol out;
    check(mxc_symbol_cond(name.c_str(), condition.get(), then_branch.get(), else_branch.get(), out.out()));
    return out;
}

/* ---- operators applied to symbols -------------------------------------------------------------------------------- */

/** In calls of operators without inputs: a symbol is wanted, not an array. */
struct as_symbol_t {};
inline constexpr as_symbol_t as_symbol = {};

/** Apply an operator by name. Arguments that are not given become variables, "<name>_weight" and the like. */
inline symbol apply(text op, span<const symbol> in, span<const keyword> parameters = {}, text name = {}) {
    detail::keyword_arrays arrays(parameters);
    symbol out;
    check(mxc_symbol_op(op.c_str(), name.c_str(), arrays.size(), arrays.keys(), arrays.values(),
                        detail::to_int(in.size()), nullptr, symbol::handles(in), out.out()));
    return out;
}

namespace detail {

template <size_t N>
symbol apply_named(const char *op, text name, int n, const char *const *keys, const char *const *values,
                   const char *const (&arguments)[N], const symbol *const (&inputs)[N]) {
    const char *arg_keys[N];
    mxc_symbol *in[N];
    int n_in = 0;
    symbol out;
    for (size_t i = 0; i < N; i++)
        if (*inputs[i]) {
            arg_keys[n_in] = arguments[i];
            in[n_in++] = inputs[i]->get();
        }
    check(mxc_symbol_op(op, name.c_str(), n, keys, values, n_in, arg_keys, in, out.out()));
    return out;
}

template <class Settings, size_t N>
symbol apply(const Settings &settings, text name, const char *const (&arguments)[N], const symbol *const (&inputs)[N]) {
    writer_of<Settings> writer;
    settings.visit(writer);
    return apply_named(Settings::op, name, writer.size(), writer.keys(), writer.values(), arguments, inputs);
}

template <size_t N>
symbol apply(const char *op, text name, const char *const (&arguments)[N], const symbol *const (&inputs)[N]) {
    return apply_named(op, name, 0, nullptr, nullptr, arguments, inputs);
}

template <class Settings>
symbol apply_list(const Settings &settings, text name, const char *count, span<const symbol> in) {
    writer_of<Settings> writer;
    symbol out;
    settings.visit(writer);
    if (count)
        writer(count, static_cast<int64_t>(in.size()));
    check(mxc_symbol_op(Settings::op, name.c_str(), writer.size(), writer.keys(), writer.values(), to_int(in.size()),
                        nullptr, symbol::handles(in), out.out()));
    return out;
}

inline symbol binary(const char *op, const symbol &a, const symbol &b) {
    mxc_symbol *in[] = {a.get(), b.get()};
    symbol out;
    check(mxc_symbol_op(op, nullptr, 0, nullptr, nullptr, 2, nullptr, in, out.out()));
    return out;
}

inline symbol with_scalar(const char *op, const symbol &a, double number) {
    static const char *const key = "scalar";
    scalar_text scalar(number);
    mxc_symbol *in = a.get();
    symbol out;
    check(mxc_symbol_op(op, nullptr, 1, &key, &scalar.value, 1, nullptr, &in, out.out()));
    return out;
}

} // namespace detail

/* Element by element. Of two symbols of one shape, as in MXNet; op::broadcast_add and the like broadcast. */
inline symbol operator+(const symbol &a, const symbol &b) {
    return detail::binary("elemwise_add", a, b);
}
inline symbol operator-(const symbol &a, const symbol &b) {
    return detail::binary("elemwise_sub", a, b);
}
inline symbol operator*(const symbol &a, const symbol &b) {
    return detail::binary("elemwise_mul", a, b);
}
inline symbol operator/(const symbol &a, const symbol &b) {
    return detail::binary("elemwise_div", a, b);
}
inline symbol operator+(const symbol &a, double b) {
    return detail::with_scalar("_plus_scalar", a, b);
}
inline symbol operator+(double a, const symbol &b) {
    return detail::with_scalar("_plus_scalar", b, a);
}
inline symbol operator-(const symbol &a, double b) {
    return detail::with_scalar("_minus_scalar", a, b);
}
inline symbol operator-(double a, const symbol &b) {
    return detail::with_scalar("_rminus_scalar", b, a);
}
inline symbol operator*(const symbol &a, double b) {
    return detail::with_scalar("_mul_scalar", a, b);
}
inline symbol operator*(double a, const symbol &b) {
    return detail::with_scalar("_mul_scalar", b, a);
}
inline symbol operator/(const symbol &a, double b) {
    return detail::with_scalar("_div_scalar", a, b);
}
inline symbol operator/(double a, const symbol &b) {
    return detail::with_scalar("_rdiv_scalar", b, a);
}
inline symbol operator-(const symbol &a) {
    symbol out;
    mxc_symbol *in = a.get();
    check(mxc_symbol_op("negative", nullptr, 0, nullptr, nullptr, 1, nullptr, &in, out.out()));
    return out;
}

} // namespace mxc

#endif
