/* SPDX-License-Identifier: Apache-2.0 */
/* What all classes of mxc/mxc.hpp share: errors, spans, texts, contexts, shapes, and owners of handles. */
#ifndef MXC_CPP_BASE_HPP
#define MXC_CPP_BASE_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "mxc/mxc.hpp needs C++17: compile with -std=c++17 or later, or use the C functions of mxc/mxc.h"
#endif
#if !defined(__cpp_exceptions)
#error "mxc/mxc.hpp reports errors by exceptions: compile without -fno-exceptions, or use the C functions of mxc/mxc.h"
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mxc/mxc.h>

namespace mxc {

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/** A failed call: its status, and the message that says what was expected and what was found. */
class error : public std::exception {
  public:
    /** Takes the message and the place of the calling thread's last error. */
    explicit error(mxc_status status) noexcept : status_(status) {
        std::snprintf(message_, sizeof message_, "%s", mxc_last_error());
        std::snprintf(place_, sizeof place_, "%s", mxc_last_error_place());
    }
    const char *what() const noexcept override {
        return message_;
    }
    mxc_status status() const noexcept {
        return status_;
    }
    /** Such as "MXC_ESHAPE". */
    const char *status_name() const noexcept {
        return mxc_status_name(status_);
    }
    /** "file:line" where the error was raised, "" if that is not known. */
    const char *place() const noexcept {
        return place_;
    }

  private:
    mxc_status status_;
    char message_[MXC_ERROR_MAX];
    char place_[128];
};

namespace detail {

[[noreturn]] inline void raise(mxc_status status) {
    throw error(status);
}

/** Throws an error of this header's own. */
template <class... Args> [[noreturn]] void fail(mxc_status status, const char *format, Args... args) {
    throw error(mxc_fail_at("mxc.hpp", 0, status, format, args...));
}

} // namespace detail

/** Throws mxc::error unless the status is MXC_OK; for C functions that are called directly. */
inline void check(mxc_status status) {
    if (status != MXC_OK)
        detail::raise(status);
}

/** Runs a function of the program inside a callback of C: an exception becomes a status with its message. */
template <class Function> mxc_status guard(Function &&function) noexcept {
    try {
        function();
        return MXC_OK;
    } catch (const error &e) {
        return mxc_fail_at("callback", 0, e.status(), "%s", e.what());
    } catch (const std::bad_alloc &) {
        return mxc_fail_at("callback", 0, MXC_ENOMEM, "%s", "out of memory in a function of the program");
    } catch (const std::exception &e) {
        return mxc_fail_at("callback", 0, MXC_EUSER, "%s", e.what());
    } catch (...) {
        return mxc_fail_at("callback", 0, MXC_EUSER, "%s", "a function of the program threw an unknown exception");
    }
}

namespace detail {

/** Carries an exception over a C function to its caller, for callbacks that run inside the call. */
class relay {
  public:
    template <class Function> mxc_status run(Function &&function) noexcept {
        return guard([&] {
            try {
                function();
            } catch (...) {
                thrown_ = std::current_exception();
                throw;
            }
        });
    }
    void check(mxc_status status) {
        if (status != MXC_OK && thrown_)
            std::rethrow_exception(std::exchange(thrown_, nullptr));
        thrown_ = nullptr;
        mxc::check(status);
    }

  private:
    std::exception_ptr thrown_;
};

} // namespace detail

/* ---- texts, spans ------------------------------------------------------------------------------------------------ */

/** A borrowed text with a terminating NUL, or none. Made of literals and std::string. */
class text {
  public:
    constexpr text() noexcept = default;
    constexpr text(std::nullptr_t) noexcept {
    }
    constexpr text(const char *chars) noexcept : chars_(chars) {
    }
    text(const std::string &string) noexcept : chars_(string.c_str()) {
    }
    constexpr const char *c_str() const noexcept {
        return chars_;
    }
    constexpr explicit operator bool() const noexcept {
        return chars_ != nullptr;
    }
    bool operator==(const text &other) const noexcept {
        return chars_ == other.chars_ || (chars_ && other.chars_ && !std::strcmp(chars_, other.chars_));
    }
    bool operator!=(const text &other) const noexcept {
        return !(*this == other);
    }

  private:
    const char *chars_ = nullptr;
};

/** Borrowed elements in a row, as std::span of C++20. A list in braces lasts until the end of the call. */
template <class T> class span {
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, size_t size) noexcept : data_(data), size_(size) {
    }
    template <size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {
    }
    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    constexpr span(std::initializer_list<std::remove_const_t<U>> list) noexcept : span(list.begin(), list.size()) {
    }
    template <class Container,
              class = std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<Container &>())), T *>>>
    constexpr span(Container &container) noexcept : data_(std::data(container)), size_(std::size(container)) {
    }
    template <
        class Container, class U = T, class = std::enable_if_t<std::is_const_v<U>>,
        class = std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<const Container &>())), T *>>>
    constexpr span(const Container &container) noexcept : data_(std::data(container)), size_(std::size(container)) {
    }
    constexpr T *data() const noexcept {
        return data_;
    }
    constexpr size_t size() const noexcept {
        return size_;
    }
    constexpr bool empty() const noexcept {
        return size_ == 0;
    }
    constexpr T &operator[](size_t i) const {
        return data_[i];
    }
    constexpr T *begin() const noexcept {
        return data_;
    }
    constexpr T *end() const noexcept {
        return data_ + size_;
    }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

namespace detail {

/** An array of plain elements whose size is known when it is made: up to N on the stack, more on the heap. */
template <class T, size_t N> class small_array {
  public:
    explicit small_array(size_t size) : data_(size <= N ? inside_ : new T[size]), size_(size) {
    }
    small_array(const small_array &) = delete;
    small_array &operator=(const small_array &) = delete;
    ~small_array() {
        if (data_ != inside_)
            delete[] data_;
    }
    T *data() noexcept {
        return data_;
    }
    size_t size() const noexcept {
        return size_;
    }
    T &operator[](size_t i) noexcept {
        return data_[i];
    }

  private:
    T inside_[N];
    T *data_;
    size_t size_;
};

/** A count as the C functions take it. */
inline int to_int(size_t n) {
    if (n > 0x7fffffff)
        fail(MXC_EINVAL, "%zu entries of a list; there may be 2147483647", n);
    return static_cast<int>(n);
}

/** The texts of a list as C has them. */
class text_array {
  public:
    explicit text_array(span<const text> texts) : pointers_(texts.size()) {
        for (size_t i = 0; i < texts.size(); i++)
            pointers_[i] = texts[i].c_str();
    }
    const char *const *data() noexcept {
        return pointers_.data();
    }
    int size() const {
        return to_int(pointers_.size());
    }

  private:
    small_array<const char *, 64> pointers_;
};

/** A text that the library allocated, as a string. */
inline std::string take_string(char *chars) {
    std::unique_ptr<char, void (*)(void *)> owner(chars, mxc_free);
    return std::string(chars ? chars : "");
}

} // namespace detail

/* ---- parameters as text ------------------------------------------------------------------------------------------ */

/** One parameter of an operator, iterator, optimizer or the like by name: {"learning_rate", 0.1}. Numbers are written
 *  into the object; texts are borrowed. */
class keyword {
  public:
    keyword(text key, text value) noexcept : key_(key), value_(value) {
    }
    keyword(text key, const char *value) noexcept : key_(key), value_(value) {
    }
    keyword(text key, const std::string &value) noexcept : key_(key), value_(value) {
    }
    keyword(text key, bool value) noexcept : key_(key), value_(value ? "True" : "False") {
    }
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>>>
    keyword(text key, Number value) noexcept : key_(key) {
        if constexpr (std::is_integral_v<Number>)
            std::snprintf(number_, sizeof number_, "%lld", static_cast<long long>(value));
        else
            write_double(static_cast<double>(value));
    }
    const char *key() const noexcept {
        return key_.c_str();
    }
    const char *value() const noexcept {
        return value_ ? value_.c_str() : number_;
    }

  private:
    void write_double(double value) noexcept {
        std::snprintf(number_, sizeof number_, "%.17g", value);
        std::replace(number_, number_ + std::strlen(number_), ',', '.'); /* whatever the locale */
    }
    text key_, value_;
    char number_[32];
};

namespace detail {

/** Keywords as C has them: two arrays. */
class keyword_arrays {
  public:
    explicit keyword_arrays(span<const keyword> keywords) : keys_(keywords.size()), values_(keywords.size()) {
        for (size_t i = 0; i < keywords.size(); i++) {
            keys_[i] = keywords[i].key();
            values_[i] = keywords[i].value();
        }
    }
    int size() const {
        return to_int(keys_.size());
    }
    const char *const *keys() noexcept {
        return keys_.data();
    }
    const char *const *values() noexcept {
        return values_.data();
    }

  private:
    small_array<const char *, 32> keys_, values_;
};

} // namespace detail

/* ---- contexts, dtypes, shapes ------------------------------------------------------------------------------------ */

/** Where the memory of an array is. */
struct context : mxc_context {
    constexpr context() noexcept : mxc_context{MXC_CPU, 0} {
    }
    constexpr context(const mxc_context &other) noexcept : mxc_context(other) {
    }
    constexpr context(mxc_device kind, int32_t number) noexcept : mxc_context{kind, number} {
    }
    /** "cpu(0)", "gpu(1)" and the like. */
    static context parse(text string) {
        mxc_context out;
        mxc::check(mxc_context_parse(string.c_str(), &out));
        return out;
    }
    std::string str() const {
        char out[32];
        return mxc_context_format(*this, out, sizeof out);
    }
    friend bool operator==(const context &a, const context &b) noexcept {
        return a.device == b.device && a.id == b.id;
    }
    friend bool operator!=(const context &a, const context &b) noexcept {
        return !(a == b);
    }
};
constexpr context cpu(int id = 0) noexcept {
    return context(MXC_CPU, id);
}
constexpr context gpu(int id = 0) noexcept {
    return context(MXC_GPU, id);
}
/** How many devices of a kind there are. */
inline int device_count(mxc_device device) {
    int n;
    check(mxc_device_count(device, &n));
    return n;
}

/** The dtype of arrays of a C++ type. */
template <class T> struct dtype_of;
template <> struct dtype_of<float> : std::integral_constant<mxc_dtype, MXC_F32> {};
template <> struct dtype_of<double> : std::integral_constant<mxc_dtype, MXC_F64> {};
template <> struct dtype_of<mxc_f16> : std::integral_constant<mxc_dtype, MXC_F16> {};
template <> struct dtype_of<mxc_bf16> : std::integral_constant<mxc_dtype, MXC_BF16> {};
template <> struct dtype_of<uint8_t> : std::integral_constant<mxc_dtype, MXC_U8> {};
template <> struct dtype_of<int8_t> : std::integral_constant<mxc_dtype, MXC_I8> {};
template <> struct dtype_of<int32_t> : std::integral_constant<mxc_dtype, MXC_I32> {};
template <> struct dtype_of<int64_t> : std::integral_constant<mxc_dtype, MXC_I64> {};
template <> struct dtype_of<bool> : std::integral_constant<mxc_dtype, MXC_BOOL> {};
template <class T> inline constexpr mxc_dtype dtype_v = dtype_of<std::remove_cv_t<T>>::value;

/** The sizes of the axes: shape{2, 3}. Default: unknown. */
struct shape : mxc_shape {
    shape() noexcept {
        ndim = -1;
    }
    shape(const mxc_shape &other) noexcept : mxc_shape(other) {
    }
    shape(std::initializer_list<int64_t> dims) : shape(span<const int64_t>(dims.begin(), dims.size())) {
    }
    explicit shape(span<const int64_t> dims) {
        mxc::check(mxc_shape_set(this, detail::to_int(dims.size()), dims.data()));
    }
    /** Number of elements; -1 if a part is unknown. */
    int64_t size() const noexcept {
        return mxc_shape_size(this);
    }
    bool known() const noexcept {
        return mxc_shape_known(this) != 0;
    }
    int64_t operator[](size_t axis) const {
        return dim[axis];
    }
    const int64_t *begin() const noexcept {
        return dim;
    }
    const int64_t *end() const noexcept {
        return dim + (ndim < 0 ? 0 : ndim);
    }
    std::string str() const {
        char out[MXC_SHAPE_TEXT];
        return mxc_shape_format(this, out, sizeof out);
    }
    friend bool operator==(const shape &a, const shape &b) noexcept {
        return mxc_shape_equal(&a, &b) != 0;
    }
    friend bool operator!=(const shape &a, const shape &b) noexcept {
        return !(a == b);
    }
};

/* ---- owners of handles ------------------------------------------------------------------------------------------- */

namespace detail {

/** Owns a handle alone. */
template <class T, void (*Destroy)(T *)> class unique_handle {
  public:
    unique_handle() noexcept = default;
    unique_handle(unique_handle &&other) noexcept : handle_(other.release()) {
    }
    unique_handle &operator=(unique_handle &&other) noexcept {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    ~unique_handle() {
        Destroy(handle_);
    }
    T *get() const noexcept {
        return handle_;
    }
    explicit operator bool() const noexcept {
        return handle_ != nullptr;
    }
    /** Gives the handle away. */
    T *release() noexcept {
        return std::exchange(handle_, nullptr);
    }
    void reset(T *handle = nullptr) noexcept {
        Destroy(std::exchange(handle_, handle));
    }
    /** For a C function to write a new handle to. */
    T **out() noexcept {
        reset();
        return &handle_;
    }

  protected:
    T *handle_ = nullptr;
};

/** Owns one reference to a handle; copies share what it stands for. */
template <class T, T *(*Retain)(T *), void (*Release)(T *)> class shared_handle {
  public:
    shared_handle() noexcept = default;
    shared_handle(const shared_handle &other) noexcept : handle_(other.handle_ ? Retain(other.handle_) : nullptr) {
    }
    shared_handle(shared_handle &&other) noexcept : handle_(other.release()) {
    }
    shared_handle &operator=(const shared_handle &other) noexcept {
        if (this != &other)
            reset(other.handle_ ? Retain(other.handle_) : nullptr);
        return *this;
    }
    shared_handle &operator=(shared_handle &&other) noexcept {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    ~shared_handle() {
        if (handle_)
            Release(handle_);
    }
    T *get() const noexcept {
        return handle_;
    }
    explicit operator bool() const noexcept {
        return handle_ != nullptr;
    }
    /** Gives the reference away. */
    T *release() noexcept {
        return std::exchange(handle_, nullptr);
    }
    void reset(T *handle = nullptr) noexcept {
        T *old = std::exchange(handle_, handle);
        if (old)
            Release(old);
    }
    /** For a C function to write a new handle to. */
    T **out() noexcept {
        reset();
        return &handle_;
    }

  protected:
    T *handle_ = nullptr;
};

} // namespace detail

/** A list of strings of the library, such as the names of arguments. */
class names {
  public:
    names() noexcept = default;
    names(names &&other) noexcept : list_(std::exchange(other.list_, mxc_names())) {
    }
    names &operator=(names &&other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    ~names() {
        mxc_names_release(&list_);
    }
    size_t size() const noexcept {
        return static_cast<size_t>(list_.n);
    }
    const char *operator[](size_t i) const {
        return list_.items[i];
    }
    const char *const *begin() const noexcept {
        return list_.items;
    }
    const char *const *end() const noexcept {
        return list_.items + list_.n;
    }
    /** Index of a name; -1 if it is not in the list. */
    int64_t find(text name) const noexcept {
        return mxc_names_find(&list_, name.c_str());
    }
    std::vector<std::string> to_vector() const {
        return std::vector<std::string>(begin(), end());
    }
    const mxc_names *get() const noexcept {
        return &list_;
    }
    mxc_names *out() noexcept {
        mxc_names_release(&list_);
        return &list_;
    }

  private:
    mxc_names list_ = {};
};

} // namespace mxc

#endif
