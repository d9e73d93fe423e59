/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, results of operators, and files of arrays. */
#ifndef MXC_CPP_ARRAY_HPP
#define MXC_CPP_ARRAY_HPP

#include <mxc/cpp/base.hpp>

namespace mxc {

/**
 * An array: one reference to an mxc_ndarray, or none. Copies refer to the same memory; copy() makes another array.
 * Calls queue work and return; those that give numbers to the program wait.
 */
class ndarray : public detail::shared_handle<mxc_ndarray, mxc_ndarray_retain, mxc_ndarray_release> {
  public:
    ndarray() noexcept = default;

    /* ---- creation ------------------------------------------------------------------------------------------------ */

    /** Takes over a reference that a C function returned. */
    static ndarray adopt(mxc_ndarray *array) noexcept {
        ndarray out;
        out.handle_ = array;
        return out;
    }
    /** Another reference to an array that is borrowed; none for NULL. */
    static ndarray share(mxc_ndarray *array) noexcept {
        return adopt(array ? mxc_ndarray_retain(array) : nullptr);
    }
    /** Contents are undefined until written. */
    static ndarray empty(const mxc::shape &shape, mxc_dtype dtype = MXC_F32, mxc::context context = cpu()) {
        ndarray out;
        check(mxc_ndarray_create(shape.ndim, shape.dim, dtype, context, &out.handle_));
        return out;
    }
    static ndarray full(const mxc::shape &shape, double value, mxc_dtype dtype = MXC_F32,
                        mxc::context context = cpu()) {
        ndarray out = empty(shape, dtype, context);
        out.fill(value);
        return out;
    }
    static ndarray zeros(const mxc::shape &shape, mxc_dtype dtype = MXC_F32, mxc::context context = cpu()) {
        return full(shape, 0, dtype, context);
    }
    static ndarray ones(const mxc::shape &shape, mxc_dtype dtype = MXC_F32, mxc::context context = cpu()) {
        return full(shape, 1, dtype, context);
    }
    static ndarray uniform(const mxc::shape &shape, double low = 0, double high = 1, mxc_dtype dtype = MXC_F32,
                           context context = cpu()) {
        ndarray out = empty(shape, dtype, context);
        check(mxc_ndarray_fill_uniform(out.handle_, low, high));
        return out;
    }
    static ndarray normal(const mxc::shape &shape, double mean = 0, double deviation = 1, mxc_dtype dtype = MXC_F32,
                          context context = cpu()) {
        ndarray out = empty(shape, dtype, context);
        check(mxc_ndarray_fill_normal(out.handle_, mean, deviation));
        return out;
    }
    /** A copy, on cpu(0), of elements in C order. */
    template <class T> static ndarray from(span<const T> data, const mxc::shape &shape) {
        ndarray out;
        expect_count(data.size(), shape.size());
        check(mxc_ndarray_from_data(shape.ndim, shape.dim, dtype_v<T>, data.data(), &out.handle_));
        return out;
    }
    template <class T> static ndarray from(std::initializer_list<T> data, const mxc::shape &shape) {
        return from(span<const T>(data.begin(), data.size()), shape);
    }
    template <class Container> static ndarray from(const Container &data, const mxc::shape &shape) {
        return from(as_span(data), shape);
    }
    /** One axis. */
    template <class T> static ndarray from(std::initializer_list<T> data) {
        return from(data, {static_cast<int64_t>(data.size())});
    }
    template <class Container> static ndarray from(const Container &data) {
        return from(as_span(data), {static_cast<int64_t>(std::size(data))});
    }
    /** The caller's memory, which stays until release(arg) is called, on any thread. */
    template <class T>
    static ndarray wrap(span<T> data, const mxc::shape &shape, void (*release)(void *) = nullptr, void *arg = nullptr) {
        ndarray out;
        expect_count(data.size(), shape.size());
        check(mxc_ndarray_wrap(shape.ndim, shape.dim, dtype_v<T>, data.data(), release, arg, &out.handle_));
        return out;
    }
    /** The memory of a vector, which moves into the array. Allocates an object that holds it. */
    template <class T> static ndarray wrap(std::vector<T> &&data, const mxc::shape &shape) {
        auto owner = std::make_unique<std::vector<T>>(std::move(data));
        ndarray out = wrap(
            span<T>(*owner), shape, [](void *arg) { delete static_cast<std::vector<T> *>(arg); }, owner.get());
        owner.release();
        return out;
    }

    /* ---- properties ---------------------------------------------------------------------------------------------- */

    mxc::shape shape() const {
        const mxc_shape *shape = mxc_ndarray_shape(handle_);
        if (!shape)
            detail::fail(MXC_EINVAL, "%s", "the shape of an object without an array");
        return *shape;
    }
    int ndim() const {
        return shape().ndim;
    }
    int64_t size() const noexcept {
        return mxc_ndarray_size(handle_);
    }
    size_t bytes() const noexcept {
        return mxc_ndarray_bytes(handle_);
    }
    mxc_dtype dtype() const noexcept {
        return mxc_ndarray_dtype(handle_);
    }
    mxc::context context() const noexcept {
        return mxc_ndarray_context(handle_);
    }
    /** As NumPy prints it, with shape, dtype and context. Waits. */
    std::string str() const {
        char *out;
        check(mxc_ndarray_print(handle_, &out));
        return detail::take_string(out);
    }

    /* ---- views, which share memory ------------------------------------------------------------------------------- */

    /** Rows begin to end - 1 of axis 0. */
    ndarray slice(int64_t begin, int64_t end) const {
        ndarray out;
        check(mxc_ndarray_slice(handle_, begin, end, &out.handle_));
        return out;
    }
    /** Row i of axis 0, without that axis. */
    ndarray operator[](int64_t i) const {
        ndarray out;
        check(mxc_ndarray_at(handle_, i, &out.handle_));
        return out;
    }
    /** One size may be -1, which follows from the others. */
    ndarray reshape(span<const int64_t> dims) const {
        ndarray out;
        check(mxc_ndarray_reshape(handle_, detail::to_int(dims.size()), dims.data(), &out.handle_));
        return out;
    }

    /* ---- contents ------------------------------------------------------------------------------------------------ */

    /** Copy from elements of the array's type and number. Blocks until earlier work on the array is done. */
    template <class T> void set(span<const T> data) {
        expect_type<T>();
        check(mxc_ndarray_set(handle_, data.data(), data.size() * sizeof(T)));
    }
    template <class T> void set(std::initializer_list<T> data) {
        set(span<const T>(data.begin(), data.size()));
    }
    template <class Container> void set(const Container &data) {
        set(as_span(data));
    }
    /** Copy to elements of the array's type and number. Waits for the array, and throws the error of its work. */
    template <class T> void get_data(span<T> data) const {
        expect_type<T>();
        check(mxc_ndarray_get(handle_, data.data(), data.size() * sizeof(T)));
    }
    template <class Container> void get_data(Container &data) const {
        get_data(span<std::remove_reference_t<decltype(*std::data(data))>>(data));
    }
    /** All elements. Waits. Allocates the vector. */
    template <class T> std::vector<T> to_vector() const {
        static_assert(!std::is_same_v<T, bool>, "std::vector<bool> is no array: use get_data, or copy to uint8");
        std::vector<T> out(static_cast<size_t>(size()));
        get_data(span<T>(out));
        return out;
    }
    /** The only element of an array of one. Waits. */
    template <class T> T item() const {
        T out;
        get_data(span<T>(&out, 1));
        return out;
    }
    void fill(double value) {
        check(mxc_ndarray_fill(handle_, value));
    }
    void fill_uniform(double low, double high) {
        check(mxc_ndarray_fill_uniform(handle_, low, high));
    }
    void fill_normal(double mean, double deviation) {
        check(mxc_ndarray_fill_normal(handle_, mean, deviation));
    }
    /** Queue a copy to another array of the shape, which may have another dtype and context. */
    void copy_to(const ndarray &to, int priority = 0) const {
        check(mxc_ndarray_copy_to(handle_, to.handle_, priority));
    }
    ndarray copy() const {
        return copy(context(), dtype());
    }
    ndarray copy(mxc::context context, mxc_dtype dtype) const {
        ndarray out;
        check(mxc_ndarray_copy(handle_, context, dtype, &out.handle_));
        return out;
    }
    ndarray as_type(mxc_dtype dtype) const {
        return copy(context(), dtype);
    }
    void wait_to_read() const {
        check(mxc_ndarray_wait_to_read(handle_));
    }
    void wait_to_write() const {
        check(mxc_ndarray_wait_to_write(handle_));
    }
    /** The memory of an array on the CPU, after waiting for writes. Its use is not ordered with later work. */
    template <class T> span<T> data() const {
        void *out;
        expect_type<T>();
        check(mxc_ndarray_data(handle_, &out));
        return span<T>(static_cast<T *>(out), static_cast<size_t>(size()));
    }

    /* ---- gradients: see autograd.hpp ----------------------------------------------------------------------------- */

    /** Give the array a gradient of zeros that backward computes. */
    void attach_grad(mxc_req req = MXC_REQ_WRITE) {
        check(mxc_autograd_attach(handle_, req, nullptr));
    }
    void attach_grad(mxc_req req, const ndarray &grad) {
        check(mxc_autograd_attach(handle_, req, grad.handle_));
    }
    /** The gradient that is attached, or an object without an array. */
    ndarray grad() const noexcept {
        return share(mxc_autograd_grad(handle_));
    }
    ndarray detach() const {
        ndarray out;
        check(mxc_autograd_detach(handle_, &out.handle_));
        return out;
    }
    /** Compute the gradients of the variables that this array was recorded to depend on. */
    void backward(bool retain_graph = false) const {
        mxc_backward_options options;
        mxc_backward_options_init(&options, sizeof options);
        options.retain_graph = retain_graph;
        check(mxc_autograd_backward(1, &handle_, nullptr, &options));
    }

    /* ---- one array in a file, DLPack ----------------------------------------------------------------------------- */

    void save_npy(text path) const {
        check(mxc_ndarray_save_npy(path.c_str(), handle_));
    }
    static ndarray load_npy(text path) {
        ndarray out;
        check(mxc_ndarray_load_npy(path.c_str(), &out.handle_));
        return out;
    }
    /** An IDX file, the format of MNIST. */
    static ndarray load_idx(text path) {
        ndarray out;
        check(mxc_idx_load(path.c_str(), &out.handle_));
        return out;
    }
    /** The consumer calls the tensor's deleter. */
    struct DLManagedTensor *to_dlpack() const {
        struct DLManagedTensor *out;
        check(mxc_ndarray_to_dlpack(handle_, &out));
        return out;
    }
    struct DLManagedTensorVersioned *to_dlpack_versioned(bool read_only = false) const {
        struct DLManagedTensorVersioned *out;
        check(mxc_ndarray_to_dlpack_versioned(handle_, read_only, &out));
        return out;
    }
    /** Takes the tensor over unless it throws. */
    static ndarray from_dlpack(struct DLManagedTensor *tensor) {
        ndarray out;
        check(mxc_ndarray_from_dlpack(tensor, &out.handle_));
        return out;
    }
    static ndarray from_dlpack(struct DLManagedTensorVersioned *tensor) {
        ndarray out;
        check(mxc_ndarray_from_dlpack_versioned(tensor, &out.handle_));
        return out;
    }

  private:
    template <class Container> static auto as_span(const Container &data) {
        return span<const std::remove_cv_t<std::remove_reference_t<decltype(*std::data(data))>>>(std::data(data),
                                                                                                 std::size(data));
    }
    static void expect_count(size_t found, int64_t expected) {
        if (expected >= 0 && found != static_cast<size_t>(expected))
            detail::fail(MXC_ESHAPE, "an array of a shape of %lld elements: found %zu elements",
                         static_cast<long long>(expected), found);
    }
    template <class T> void expect_type() const {
        if (handle_ && mxc_ndarray_dtype(handle_) != dtype_v<T>)
            detail::fail(MXC_EDTYPE, "elements of an array: expected %s, found an array of %s",
                         mxc_dtype_name(dtype_v<T>), mxc_dtype_name(mxc_ndarray_dtype(handle_)));
    }
};

/* An object of one pointer: lists of arrays are lists of handles, which C functions read without a copy. */
static_assert(sizeof(ndarray) == sizeof(mxc_ndarray *) && std::is_standard_layout_v<ndarray>);
static_assert(sizeof(shape) == sizeof(mxc_shape) && std::is_standard_layout_v<shape>);

namespace detail {

inline mxc_ndarray *const *handles(span<const ndarray> arrays) noexcept {
    return reinterpret_cast<mxc_ndarray *const *>(arrays.data());
}

} // namespace detail

/** What an operator returns whose number of outputs depends on its settings. It converts to its first output, so that
 * it can be used as an array. More than 8 outputs allocate. */
class results {
  public:
    results() noexcept = default;
    explicit results(size_t n) : size_(n) {
        if (n > inside_.size())
            more_ = std::make_unique<ndarray[]>(n);
    }
    size_t size() const noexcept {
        return size_;
    }
    const ndarray &operator[](size_t i) const {
        return begin()[i];
    }
    const ndarray *begin() const noexcept {
        return more_ ? more_.get() : inside_.data();
    }
    const ndarray *end() const noexcept {
        return begin() + size_;
    }
    const ndarray *data() const noexcept {
        return begin();
    }
    operator ndarray() const {
        return size_ ? *begin() : ndarray();
    }
    /** For a C function that writes size() new handles. The object holds no arrays yet. */
    mxc_ndarray **out() noexcept {
        return reinterpret_cast<mxc_ndarray **>(more_ ? more_.get() : inside_.data());
    }

  private:
    std::array<ndarray, 8> inside_;
    std::unique_ptr<ndarray[]> more_;
    size_t size_ = 0;
};

/** The arrays that an operator overwrites, in place of new ones: op::relu(into(y), x). */
class into {
  public:
    explicit into(const ndarray &array) noexcept : arrays_(&array, 1) {
    }
    explicit into(span<const ndarray> arrays) noexcept : arrays_(arrays) {
    }
    span<const ndarray> arrays() const noexcept {
        return arrays_;
    }

  private:
    span<const ndarray> arrays_;
};

/** Arrays with optional names: what .params, .npz and checkpoint files hold, and what mxc::fit returns. */
class array_list {
  public:
    array_list() noexcept = default;
    array_list(array_list &&other) noexcept : list_(std::exchange(other.list_, mxc_ndarray_list())) {
    }
    array_list &operator=(array_list &&other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    ~array_list() {
        mxc_ndarray_list_release(&list_);
    }
    /** A .params file of any version of MXNet. */
    static array_list load(text path) {
        array_list out;
        check(mxc_ndarray_load(path.c_str(), &out.list_));
        return out;
    }
    static array_list load_memory(text name, const void *data, size_t bytes) {
        array_list out;
        check(mxc_ndarray_load_buffer(name.c_str(), data, bytes, &out.list_));
        return out;
    }
    static array_list load_npz(text path) {
        array_list out;
        check(mxc_ndarray_load_npz(path.c_str(), &out.list_));
        return out;
    }
    void save(text path) const {
        check(mxc_ndarray_save(path.c_str(), list_.n, list_.arrays, list_.names));
    }
    void save_npz(text path) const {
        check(mxc_ndarray_save_npz(path.c_str(), list_.n, list_.arrays, list_.names));
    }
    size_t size() const noexcept {
        return static_cast<size_t>(list_.n);
    }
    /** An object without an array past the end. */
    ndarray operator[](size_t i) const noexcept {
        return ndarray::share(i < size() ? list_.arrays[i] : nullptr);
    }
    /** "" in a list without names, and past the end. */
    const char *name(size_t i) const noexcept {
        return list_.names && i < size() ? list_.names[i] : "";
    }
    /** The array of a name, or an object without one. */
    ndarray find(text name) const noexcept {
        return ndarray::share(mxc_ndarray_list_find(&list_, name.c_str()));
    }
    const mxc_ndarray_list *get() const noexcept {
        return &list_;
    }
    mxc_ndarray_list *out() noexcept {
        mxc_ndarray_list_release(&list_);
        return &list_;
    }

  private:
    mxc_ndarray_list list_ = {};
};

/** Write a .params file; names: none, or one for each array. */
inline void save(text path, span<const ndarray> arrays, span<const text> names = {}) {
    detail::text_array texts(names);
    if (!names.empty() && names.size() != arrays.size())
        detail::fail(MXC_EINVAL, "save: expected %zu names, found %zu", arrays.size(), names.size());
    check(mxc_ndarray_save(path.c_str(), static_cast<int64_t>(arrays.size()), detail::handles(arrays),
                           names.empty() ? nullptr : texts.data()));
}
inline void save_npz(text path, span<const ndarray> arrays, span<const text> names = {}) {
    detail::text_array texts(names);
    if (!names.empty() && names.size() != arrays.size())
        detail::fail(MXC_EINVAL, "save_npz: expected %zu names, found %zu", arrays.size(), names.size());
    check(mxc_ndarray_save_npz(path.c_str(), static_cast<int64_t>(arrays.size()), detail::handles(arrays),
                               names.empty() ? nullptr : texts.data()));
}

} // namespace mxc

#endif
