/* SPDX-License-Identifier: Apache-2.0 */
/* Calling operators on arrays: types of settings, calls by name, operators with parsed parameters, and arithmetic. */
#ifndef MXC_CPP_CALL_HPP
#define MXC_CPP_CALL_HPP

#include <charconv>

#include <mxc/cpp/array.hpp>

namespace mxc {

/* ---- types of settings ------------------------------------------------------------------------------------------- */

/** An entry of a tuple that is None: slice(x, {{none, 1}, {none, 3}}). */
inline constexpr int64_t none = MXC_PARAM_UNSET;

/** Up to 16 integers, or None. */
class tuple {
  public:
    tuple() noexcept = default;
    tuple(std::nullopt_t) noexcept : n_(-1) {
    }
    tuple(std::initializer_list<int64_t> values) : tuple(span<const int64_t>(values.begin(), values.size())) {
    }
    explicit tuple(span<const int64_t> values) : n_(static_cast<int>(values.size())) {
        if (values.size() > MXC_TUPLE_MAX)
            detail::fail(MXC_EINVAL, "a tuple of %zu entries; there may be %d", values.size(), int(MXC_TUPLE_MAX));
        std::copy(values.begin(), values.end(), value_);
    }
    /** -1: None. */
    int size() const noexcept {
        return n_;
    }
    const int64_t *begin() const noexcept {
        return value_;
    }
    const int64_t *end() const noexcept {
        return value_ + (n_ < 0 ? 0 : n_);
    }
    friend bool operator==(const tuple &a, const tuple &b) noexcept {
        return a.n_ == b.n_ && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    int n_ = 0;
    int64_t value_[MXC_TUPLE_MAX];
};

/** Up to 64 numbers, or None. */
class floats {
  public:
    floats() noexcept = default;
    floats(std::nullopt_t) noexcept : n_(-1) {
    }
    floats(std::initializer_list<double> values) : floats(span<const double>(values.begin(), values.size())) {
    }
    explicit floats(span<const double> values) : n_(static_cast<int>(values.size())) {
        if (values.size() > MXC_FLOATS_MAX)
            detail::fail(MXC_EINVAL, "a list of %zu numbers; there may be %d", values.size(), int(MXC_FLOATS_MAX));
        std::copy(values.begin(), values.end(), value_);
    }
    int size() const noexcept {
        return n_;
    }
    const double *begin() const noexcept {
        return value_;
    }
    const double *end() const noexcept {
        return value_ + (n_ < 0 ? 0 : n_);
    }
    friend bool operator==(const floats &a, const floats &b) noexcept {
        return a.n_ == b.n_ && std::equal(a.begin(), a.end(), b.begin());
    }

  private:
    int n_ = 0;
    double value_[MXC_FLOATS_MAX];
};

/** A setting without a default: leaving it out does not compile. */
template <class T> class required {
  public:
    template <class From, class = std::enable_if_t<std::is_convertible_v<From &&, T>>>
    required(From &&value) : value_(std::forward<From>(value)) {
    }
    template <class U = T, class = std::enable_if_t<std::is_same_v<U, tuple> || std::is_same_v<U, floats>>>
    required(std::initializer_list<std::conditional_t<std::is_same_v<U, tuple>, int64_t, double>> values)
        : value_(values) {
    }
    operator const T &() const noexcept {
        return value_;
    }

  private:
    T value_;
};

namespace detail {

template <class Number> char *write_number(char *at, Number value) noexcept {
#if defined(__cpp_lib_to_chars)
    return std::to_chars(at, at + 32, value).ptr;
#else
    char *end = at + std::snprintf(at, 32, std::is_integral_v<Number> ? "%lld" : "%.17g", value);
    std::replace(at, end, ',', '.'); /* whatever the locale */
    return end;
#endif
}

template <class List> char *write_list(char *at, const List &list) noexcept {
    *at++ = '(';
    for (auto value : list) {
        if constexpr (std::is_integral_v<decltype(value)>) {
            if (value == none) {
                std::memcpy(at, "None", 4);
                at += 4;
            } else {
                at = write_number(at, static_cast<long long>(value));
            }
        } else {
            at = write_number(at, value);
        }
        *at++ = ',';
    }
    *at++ = ')';
    return at;
}

/** Settings as the C functions take them: pointers to keys and to values, which are written into one buffer. Calls of
 *  operator() add the settings that differ from their defaults. All of it is on the stack. */
template <size_t Settings, size_t Bytes> class settings_writer {
  public:
    void operator()(const char *key, bool value, bool initial) noexcept {
        if (value != initial)
            add(key, value ? "True" : "False");
    }
    void operator()(const char *key, int64_t value, int64_t initial) noexcept {
        if (value != initial)
            (*this)(key, value);
    }
    void operator()(const char *key, double value, double initial) noexcept {
        if (value != initial)
            (*this)(key, value);
    }
    void operator()(const char *key, mxc_dtype value, mxc_dtype initial) noexcept {
        if (value != initial)
            (*this)(key, value);
    }
    void operator()(const char *key, text value, text initial) noexcept {
        if (value != initial)
            (*this)(key, value);
    }
    void operator()(const char *key, const tuple &value, const tuple &initial) noexcept {
        if (!(value == initial))
            (*this)(key, value);
    }
    void operator()(const char *key, const floats &value, const floats &initial) noexcept {
        if (!(value == initial))
            (*this)(key, value);
    }
    template <class T>
    void operator()(const char *key, const std::optional<T> &value, const std::optional<T> &initial) noexcept {
        if (value != initial)
            (*this)(key, value);
    }
    /* Without a default: always added. */
    void operator()(const char *key, bool value) noexcept {
        add(key, value ? "True" : "False");
    }
    void operator()(const char *key, int64_t value) noexcept {
        finish(key, write_number(text_ + used_, static_cast<long long>(value)));
    }
    void operator()(const char *key, double value) noexcept {
        finish(key, write_number(text_ + used_, value));
    }
    void operator()(const char *key, mxc_dtype value) noexcept {
        add(key, value == MXC_DTYPE_UNKNOWN ? "None" : mxc_dtype_name(value));
    }
    void operator()(const char *key, text value) noexcept {
        add(key, value ? value.c_str() : "None");
    }
    void operator()(const char *key, const tuple &value) noexcept {
        list(key, value);
    }
    void operator()(const char *key, const floats &value) noexcept {
        list(key, value);
    }
    template <class T> void operator()(const char *key, const std::optional<T> &value) noexcept {
        if (value)
            (*this)(key, *value);
        else
            add(key, "None");
    }
    template <class T> void operator()(const char *key, const required<T> &value) noexcept {
        (*this)(key, static_cast<const T &>(value));
    }
    int size() const noexcept {
        return n_;
    }
    const char *const *keys() const noexcept {
        return keys_;
    }
    const char *const *values() const noexcept {
        return values_;
    }

  private:
    template <class List> void list(const char *key, const List &value) noexcept {
        if (value.size() < 0)
            add(key, "None");
        else
            finish(key, write_list(text_ + used_, value));
    }
    void add(const char *key, const char *value) noexcept {
        keys_[n_] = key;
        values_[n_++] = value;
    }
    void finish(const char *key, char *end) noexcept {
        *end++ = '\0';
        add(key, text_ + used_);
        used_ = static_cast<size_t>(end - text_);
    }
    const char *keys_[Settings + 1], *values_[Settings + 1];
    char text_[Bytes + 1];
    size_t used_ = 0;
    int n_ = 0;
};

template <class Settings> using writer_of = settings_writer<Settings::count, Settings::text_bytes>;

/** Inputs without those that are left out. */
template <class Object, class Handle, size_t N> struct given_inputs {
    Handle *items[N + 1];
    int n = 0;
    explicit given_inputs(const Object *const (&inputs)[N]) noexcept {
        for (const Object *input : inputs)
            if (*input)
                items[n++] = input->get();
    }
};

} // namespace detail

/* ---- operators with parameters ----------------------------------------------------------------------------------- */

/** An operator with parsed parameters, for many calls; parsing is about half of a small call. Immutable; copies are
 *  references to one object. operation(settings) of mxc/operators.hpp, or by name. */
class operation : public detail::shared_handle<mxc_op, mxc_op_retain, mxc_op_release> {
  public:
    operation() noexcept = default;
    explicit operation(text name, span<const keyword> parameters = {}) {
        detail::keyword_arrays arrays(parameters);
        check(mxc_op_create(name.c_str(), arrays.size(), arrays.keys(), arrays.values(), &handle_));
    }
    template <class Settings, class = decltype(Settings::op)> explicit operation(const Settings &settings) {
        detail::writer_of<Settings> writer;
        settings.visit(writer);
        check(mxc_op_create(Settings::op, writer.size(), writer.keys(), writer.values(), &handle_));
    }
    static operation adopt(mxc_op *op) noexcept {
        operation out;
        out.handle_ = op;
        return out;
    }
    const char *name() const noexcept {
        return mxc_op_name(handle_);
    }
    int n_args() const noexcept {
        return mxc_op_n_args(handle_);
    }
    int n_aux() const noexcept {
        return mxc_op_n_aux(handle_);
    }
    int n_outputs() const noexcept {
        return mxc_op_n_visible(handle_);
    }
    /** Arguments, then auxiliary states. */
    results operator()(span<const ndarray> in) const {
        results out(static_cast<size_t>(std::max(n_outputs(), 0)));
        check(mxc_op_invoke(handle_, detail::to_int(in.size()), detail::handles(in), detail::to_int(out.size()),
                            out.out(), nullptr, 0));
        return out;
    }
    /** An operator of one visible output. */
    ndarray call(span<const ndarray> in) const {
        ndarray out;
        check(mxc_op_invoke(handle_, detail::to_int(in.size()), detail::handles(in), 1, out.out(), nullptr, 0));
        return out;
    }
    void call(into out, span<const ndarray> in) const {
        detail::small_array<mxc_ndarray *, 16> arrays(out.arrays().size());
        for (size_t i = 0; i < arrays.size(); i++)
            if (!(arrays[i] = out.arrays()[i].get()))
                detail::fail(MXC_EINVAL, "%s: output %zu is an object without an array", name(), i);
        check(mxc_op_invoke(handle_, detail::to_int(in.size()), detail::handles(in), detail::to_int(arrays.size()),
                            arrays.data(), nullptr, 0));
    }
};

/* ---- calls by name ----------------------------------------------------------------------------------------------- */

/** Call an operator by name on arguments and auxiliary states: invoke("dot", {a, b}, {{"transpose_b", true}}). */
inline results invoke(text name, span<const ndarray> in, span<const keyword> parameters = {}) {
    return operation(name, parameters)(in);
}
inline void invoke_into(text name, into out, span<const ndarray> in, span<const keyword> parameters = {}) {
    detail::keyword_arrays arrays(parameters);
    check(mxc_invoke_into(name.c_str(), detail::to_int(in.size()), detail::handles(in), arrays.size(), arrays.keys(),
                          arrays.values(), detail::to_int(out.arrays().size()), detail::handles(out.arrays())));
}
/** What an operator computes, its arguments and parameters. */
inline std::string describe_operator(text name) {
    char *out;
    check(mxc_op_describe(name.c_str(), &out));
    return detail::take_string(out);
}
/** Make operators of a shared library known. */
inline void load_operators(text path) {
    check(mxc_op_load(path.c_str()));
}

namespace detail {

inline ndarray invoke_one(const char *name, int n_in, mxc_ndarray *const *in, int n, const char *const *keys,
                          const char *const *values) {
    ndarray out;
    check(mxc_invoke(name, n_in, in, n, keys, values, 1, out.out()));
    return out;
}

inline results invoke_some(const char *name, int n_in, mxc_ndarray *const *in, int n, const char *const *keys,
                           const char *const *values) {
    operation op;
    check(mxc_op_create(name, n, keys, values, op.out()));
    results out(static_cast<size_t>(std::max(op.n_outputs(), 0)));
    check(mxc_op_invoke(op.get(), n_in, in, to_int(out.size()), out.out(), nullptr, 0));
    return out;
}

/* Calls of the generated functions. Result: ndarray or results. */

template <class Result>
Result invoke_any(const char *name, int n_in, mxc_ndarray *const *in, int n, const char *const *keys,
                  const char *const *values) {
    if constexpr (std::is_same_v<Result, ndarray>)
        return invoke_one(name, n_in, in, n, keys, values);
    else
        return invoke_some(name, n_in, in, n, keys, values);
}

template <class Result, class Settings, size_t N>
Result invoke(const Settings &settings, const ndarray *const (&inputs)[N]) {
    given_inputs<ndarray, mxc_ndarray, N> in(inputs);
    writer_of<Settings> writer;
    settings.visit(writer);
    return invoke_any<Result>(Settings::op, in.n, in.items, writer.size(), writer.keys(), writer.values());
}

template <class Settings, size_t N>
void invoke_into(into out, const Settings &settings, const ndarray *const (&inputs)[N]) {
    given_inputs<ndarray, mxc_ndarray, N> in(inputs);
    writer_of<Settings> writer;
    settings.visit(writer);
    check(mxc_invoke_into(Settings::op, in.n, in.items, writer.size(), writer.keys(), writer.values(),
                          to_int(out.arrays().size()), handles(out.arrays())));
}

/* Operators without settings. */

template <class Result, size_t N> Result invoke(const char *name, const ndarray *const (&inputs)[N]) {
    given_inputs<ndarray, mxc_ndarray, N> in(inputs);
    return invoke_any<Result>(name, in.n, in.items, 0, nullptr, nullptr);
}

template <size_t N> void invoke_into(into out, const char *name, const ndarray *const (&inputs)[N]) {
    given_inputs<ndarray, mxc_ndarray, N> in(inputs);
    check(
        mxc_invoke_into(name, in.n, in.items, 0, nullptr, nullptr, to_int(out.arrays().size()), handles(out.arrays())));
}

/** Operators that take no arrays. */
template <class Result, class Settings> Result invoke_source(const Settings &settings) {
    writer_of<Settings> writer;
    settings.visit(writer);
    return invoke_any<Result>(Settings::op, 0, nullptr, writer.size(), writer.keys(), writer.values());
}

template <class Settings> void invoke_source_into(into out, const Settings &settings) {
    writer_of<Settings> writer;
    settings.visit(writer);
    check(mxc_invoke_into(Settings::op, 0, nullptr, writer.size(), writer.keys(), writer.values(),
                          to_int(out.arrays().size()), handles(out.arrays())));
}

/** Operators that take a list of arrays; count: the parameter for their number, or NULL. */
template <class Result, class Settings>
Result invoke_list(const Settings &settings, const char *count, span<const ndarray> in) {
    writer_of<Settings> writer;
    settings.visit(writer);
    if (count)
        writer(count, static_cast<int64_t>(in.size()));
    return invoke_any<Result>(Settings::op, to_int(in.size()), handles(in), writer.size(), writer.keys(),
                              writer.values());
}

template <class Settings>
void invoke_list_into(into out, const Settings &settings, const char *count, span<const ndarray> in) {
    writer_of<Settings> writer;
    settings.visit(writer);
    if (count)
        writer(count, static_cast<int64_t>(in.size()));
    check(mxc_invoke_into(Settings::op, to_int(in.size()), handles(in), writer.size(), writer.keys(), writer.values(),
                          to_int(out.arrays().size()), handles(out.arrays())));
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

inline ndarray binary(const char *name, const ndarray &a, const ndarray &b) {
    mxc_ndarray *in[] = {a.get(), b.get()};
    return invoke_one(name, 2, in, 0, nullptr, nullptr);
}

/** A number as the parameter "scalar". */
struct scalar_text {
    char chars[33];
    const char *value = chars;
    explicit scalar_text(double number) noexcept {
        *write_number(chars, number) = '\0';
    }
};

inline ndarray with_scalar(const char *name, const ndarray &a, double number) {
    static const char *const key = "scalar";
    scalar_text scalar(number);
    mxc_ndarray *in = a.get();
    return invoke_one(name, 1, &in, 1, &key, &scalar.value);
}

inline ndarray &update(const char *name, ndarray &a, const ndarray &b) {
    mxc_ndarray *in[] = {a.get(), b.get()}, *out = a.get();
    check(mxc_invoke_into(name, 2, in, 0, nullptr, nullptr, 1, &out));
    return a;
}

inline ndarray &update(const char *name, ndarray &a, double number) {
    static const char *const key = "scalar";
    scalar_text scalar(number);
    mxc_ndarray *in = a.get();
    check(mxc_invoke_into(name, 1, &in, 1, &key, &scalar.value, 1, &in));
    return a;
}

} // namespace detail

/* Element by element, with broadcasting. */
inline ndarray operator+(const ndarray &a, const ndarray &b) {
    return detail::binary("broadcast_add", a, b);
}
inline ndarray operator-(const ndarray &a, const ndarray &b) {
    return detail::binary("broadcast_sub", a, b);
}
inline ndarray operator*(const ndarray &a, const ndarray &b) {
    return detail::binary("broadcast_mul", a, b);
}
inline ndarray operator/(const ndarray &a, const ndarray &b) {
    return detail::binary("broadcast_div", a, b);
}
inline ndarray operator+(const ndarray &a, double b) {
    return detail::with_scalar("_plus_scalar", a, b);
}
inline ndarray operator+(double a, const ndarray &b) {
    return detail::with_scalar("_plus_scalar", b, a);
}
inline ndarray operator-(const ndarray &a, double b) {
    return detail::with_scalar("_minus_scalar", a, b);
}
inline ndarray operator-(double a, const ndarray &b) {
    return detail::with_scalar("_rminus_scalar", b, a);
}
inline ndarray operator*(const ndarray &a, double b) {
    return detail::with_scalar("_mul_scalar", a, b);
}
inline ndarray operator*(double a, const ndarray &b) {
    return detail::with_scalar("_mul_scalar", b, a);
}
inline ndarray operator/(const ndarray &a, double b) {
    return detail::with_scalar("_div_scalar", a, b);
}
inline ndarray operator/(double a, const ndarray &b) {
    return detail::with_scalar("_rdiv_scalar", b, a);
}
inline ndarray operator-(const ndarray &a) {
    mxc_ndarray *in = a.get();
    return detail::invoke_one("negative", 1, &in, 0, nullptr, nullptr);
}
/* In place: the array keeps its memory. */
inline ndarray &operator+=(ndarray &a, const ndarray &b) {
    return detail::update("broadcast_add", a, b);
}
inline ndarray &operator-=(ndarray &a, const ndarray &b) {
    return detail::update("broadcast_sub", a, b);
}
inline ndarray &operator*=(ndarray &a, const ndarray &b) {
    return detail::update("broadcast_mul", a, b);
}
inline ndarray &operator/=(ndarray &a, const ndarray &b) {
    return detail::update("broadcast_div", a, b);
}
inline ndarray &operator+=(ndarray &a, double b) {
    return detail::update("_plus_scalar", a, b);
}
inline ndarray &operator-=(ndarray &a, double b) {
    return detail::update("_minus_scalar", a, b);
}
inline ndarray &operator*=(ndarray &a, double b) {
    return detail::update("_mul_scalar", a, b);
}
inline ndarray &operator/=(ndarray &a, double b) {
    return detail::update("_div_scalar", a, b);
}

} // namespace mxc

#endif
