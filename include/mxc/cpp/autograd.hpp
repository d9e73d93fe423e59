/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of calls on arrays, and cached operators. */
#ifndef MXC_CPP_AUTOGRAD_HPP
#define MXC_CPP_AUTOGRAD_HPP

#include <mxc/cpp/executor.hpp>

namespace mxc {

/** While the object exists, this thread records: { record_scope record; loss = ...; } */
class record_scope {
  public:
    explicit record_scope(bool is_train = true) noexcept : scope_(mxc_autograd_record(is_train)) {
    }
    record_scope(const record_scope &) = delete;
    record_scope &operator=(const record_scope &) = delete;
    ~record_scope() {
        mxc_autograd_leave(scope_);
    }

  private:
    int scope_;
};

/** While the object exists, this thread does not record. */
class pause_scope {
  public:
    explicit pause_scope(bool is_train = false) noexcept : scope_(mxc_autograd_pause(is_train)) {
    }
    pause_scope(const pause_scope &) = delete;
    pause_scope &operator=(const pause_scope &) = delete;
    ~pause_scope() {
        mxc_autograd_leave(scope_);
    }

  private:
    int scope_;
};

/** While the object exists, operators behave as in training, or as in inference. */
class train_scope {
  public:
    explicit train_scope(bool is_train = true) noexcept : before_(mxc_autograd_set_training(is_train)) {
    }
    train_scope(const train_scope &) = delete;
    train_scope &operator=(const train_scope &) = delete;
    ~train_scope() {
        mxc_autograd_set_training(before_);
    }

  private:
    int before_;
};

inline bool is_recording() noexcept {
    return mxc_autograd_is_recording() != 0;
}
inline bool is_training() noexcept {
    return mxc_autograd_is_training() != 0;
}

namespace detail {

inline mxc_backward_options backward_options(bool retain_graph) noexcept {
    mxc_backward_options options;
    mxc_backward_options_init(&options, sizeof options);
    options.retain_graph = retain_graph;
    return options;
}

inline mxc_ndarray *const *head_grads(span<const ndarray> heads, span<const ndarray> grads) {
    if (!grads.empty() && grads.size() != heads.size())
        fail(MXC_EINVAL, "backward: expected %zu gradients of heads, found %zu", heads.size(), grads.size());
    return grads.empty() ? nullptr : handles(grads);
}

} // namespace detail

/** Gradients of several heads, which are summed. head_grads: none, or one for each, which may be without an array. */
inline void backward(span<const ndarray> heads, span<const ndarray> head_grads = {}, bool retain_graph = false) {
    mxc_backward_options options = detail::backward_options(retain_graph);
    check(mxc_autograd_backward(detail::to_int(heads.size()), detail::handles(heads),
                                detail::head_grads(heads, head_grads), &options));
}
/** Gradients as new arrays, one for each of variables. */
inline results gradients(span<const ndarray> heads, span<const ndarray> variables, span<const ndarray> head_grads = {},
                         bool retain_graph = false) {
    mxc_backward_options options = detail::backward_options(retain_graph);
    results out(variables.size());
    check(mxc_autograd_gradients(detail::to_int(heads.size()), detail::handles(heads),
                                 detail::head_grads(heads, head_grads), detail::to_int(variables.size()),
                                 detail::handles(variables), &options, out.out()));
    return out;
}

/** Backward of a function of the program: writes to in_grad, whose entries are without an array where no gradient is
 *  asked for. */
using backward_function = std::function<void(span<const ndarray> out_grad, span<const ndarray> in_grad)>;

/** Record a function that the program has computed in a pause_scope as one node. Allocates an object that holds it. */
inline void record_function(text name, span<const ndarray> in, span<const ndarray> out, backward_function function) {
    auto owner = std::make_unique<backward_function>(std::move(function));
    auto call = [](int n_out, mxc_ndarray *const *out_grad, int n_in, mxc_ndarray *const *in_grad, void *arg) {
        return guard([&] {
            /* An object of the class is its handle, which is borrowed here. */
            (*static_cast<backward_function *>(arg))(
                span<const ndarray>(reinterpret_cast<const ndarray *>(out_grad), static_cast<size_t>(n_out)),
                span<const ndarray>(reinterpret_cast<const ndarray *>(in_grad), static_cast<size_t>(n_in)));
        });
    };
    check(mxc_autograd_function(
        name.c_str(), detail::to_int(in.size()), detail::handles(in), detail::to_int(out.size()), detail::handles(out),
        call, [](void *arg) { delete static_cast<backward_function *>(arg); }, owner.get()));
    owner.release();
}

/** The graph of recorded heads as a symbol; inputs become variables of these names. */
inline symbol recorded_symbol(span<const ndarray> heads, span<const ndarray> inputs = {}, span<const text> names = {}) {
    detail::text_array keys(names);
    symbol out;
    if (inputs.size() != names.size())
        detail::fail(MXC_EINVAL, "recorded_symbol: %zu names for %zu inputs", names.size(), inputs.size());
    check(mxc_autograd_symbol(detail::to_int(heads.size()), detail::handles(heads), keys.size(),
                              detail::handles(inputs), keys.data(), out.out()));
    return out;
}

/** Options of cached operators, with their defaults. */
struct cached_op_options : mxc_cached_op_options {
    cached_op_options() noexcept {
        mxc_cached_op_options_init(this, sizeof(mxc_cached_op_options));
    }
};

/** A symbol that is called on arrays, recorded as one node. */
class cached_op : public detail::unique_handle<mxc_cached_op, mxc_cached_op_destroy> {
  public:
    cached_op() noexcept = default;
    explicit cached_op(const mxc::symbol &symbol, const cached_op_options &options = {}) {
        check(mxc_cached_op_create(symbol.get(), &options, &handle_));
    }
    /** The symbol's arguments in order, then its auxiliary states. */
    results operator()(span<const ndarray> in) const {
        results out(symbol().n_outputs());
        check(mxc_cached_op_invoke(handle_, detail::to_int(in.size()), detail::handles(in), detail::to_int(out.size()),
                                   out.out()));
        return out;
    }
    mxc::symbol symbol() const noexcept {
        return mxc::symbol::share(mxc_cached_op_symbol(handle_));
    }
};

} // namespace mxc

#endif
