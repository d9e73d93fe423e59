/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: symbols bound to arrays. */
#ifndef MXC_CPP_EXECUTOR_HPP
#define MXC_CPP_EXECUTOR_HPP

#include <mxc/cpp/symbol.hpp>

namespace mxc {

/** Options of binding, with their defaults. */
struct bind_options : mxc_bind_options {
    bind_options() noexcept {
        mxc_bind_options_init(this, sizeof(mxc_bind_options));
    }
    explicit bind_options(mxc::context where) noexcept : bind_options() {
        context = where;
    }
};

/**
 * A symbol bound to arrays, ready to run. Runs are queued; reading an output waits. Arrays that it returns are
 * references to the executor's own, which the next run overwrites.
 */
class executor : public detail::unique_handle<mxc_executor, mxc_executor_destroy> {
  public:
    executor() noexcept = default;
    static executor adopt(mxc_executor *handle) noexcept {
        executor out;
        out.handle_ = handle;
        return out;
    }
    executor(executor &&) noexcept = default;
    executor &operator=(executor &&other) noexcept {
        unique_handle::operator=(std::move(other)); /* waits for runs, which may call the monitor */
        monitor_ = std::move(other.monitor_);
        return *this;
    }
    ~executor() {
        reset();
    }

    /* ---- binding ------------------------------------------------------------------------------------------------- */

    /** To arrays of the program, in the order of the symbol's lists; grads, reqs and aux may be empty. */
    static executor bind(const mxc::symbol &symbol, span<const ndarray> args, span<const ndarray> grads = {},
                         span<const mxc_req> reqs = {}, span<const ndarray> aux = {},
                         const bind_options &options = {}) {
        executor out;
        names arguments = symbol.arguments(), states = symbol.aux();
        expect("args", arguments.size(), args.size());
        expect("aux", states.size(), aux.size());
        if (!grads.empty())
            expect("grads", arguments.size(), grads.size());
        if (!reqs.empty())
            expect("reqs", arguments.size(), reqs.size());
        check(mxc_executor_bind(symbol.get(), &options, detail::handles(args),
                                grads.empty() ? nullptr : detail::handles(grads), reqs.empty() ? nullptr : reqs.data(),
                                aux.empty() ? nullptr : detail::handles(aux), &out.handle_));
        return out;
    }
    /** Make all arrays, from what is known of the inputs. req: the gradients of the other arguments. */
    static executor simple_bind(const mxc::symbol &symbol, span<const variable_info> inputs, mxc_req req = MXC_REQ_NULL,
                                const bind_options &options = {}, span<const text> no_grad = {}) {
        executor out;
        detail::variable_arrays arrays(inputs);
        detail::text_array without(no_grad);
        mxc_bind_spec spec = make_spec(arrays, req, without);
        check(mxc_executor_simple_bind(symbol.get(), &options, &spec, &out.handle_));
        return out;
    }
    /** For inference with parameters; flags: mxc_params_flags. */
    static executor bind_params(const mxc::symbol &symbol, span<const variable_info> inputs, const array_list &params,
                                unsigned flags = MXC_PARAMS_STRICT, const bind_options &options = {}) {
        executor out;
        detail::variable_arrays arrays(inputs);
        detail::text_array nothing{span<const text>()};
        mxc_bind_spec spec = make_spec(arrays, MXC_REQ_NULL, nothing);
        check(mxc_executor_bind_params(symbol.get(), &options, &spec, params.get(), flags, &out.handle_));
        return out;
    }
    /** What simple_bind would allocate. */
    static mxc_memory_report plan(const mxc::symbol &symbol, span<const variable_info> inputs,
                                  mxc_req req = MXC_REQ_NULL, const bind_options &options = {}) {
        detail::variable_arrays arrays(inputs);
        detail::text_array nothing{span<const text>()};
        mxc_bind_spec spec = make_spec(arrays, req, nothing);
        mxc_memory_report out;
        check(mxc_executor_plan(symbol.get(), &options, &spec, &out));
        return out;
    }
    /** For other shapes of inputs; see mxc_executor_reshape. */
    executor reshape(span<const variable_info> inputs, bool partial_shaping = false,
                     bool allow_up_sizing = false) const {
        executor out;
        detail::variable_arrays arrays(inputs);
        check(mxc_executor_reshape(handle_, partial_shaping, allow_up_sizing, arrays.size(), arrays.names(),
                                   arrays.shapes(), &out.handle_));
        return out;
    }
    void load_params(const array_list &params, unsigned flags, span<const text> inputs) {
        detail::text_array keys(inputs);
        check(mxc_executor_load_params(handle_, params.get(), flags, keys.size(), keys.data()));
    }

    /* ---- running ------------------------------------------------------------------------------------------------- */

    void forward(bool is_train = false) {
        check(mxc_executor_forward(handle_, is_train));
    }
    /** head_grads: gradients of the outputs, unless these are losses. */
    void backward(span<const ndarray> head_grads = {}) {
        check(mxc_executor_backward(handle_, static_cast<int64_t>(head_grads.size()), detail::handles(head_grads)));
    }
    /** One step of forward; returns how many are left. */
    int64_t partial_forward(bool is_train, int64_t step) {
        int64_t left;
        check(mxc_executor_partial_forward(handle_, is_train, step, &left));
        return left;
    }

    /* ---- arrays: an object without an array where there is none -------------------------------------------------- */

    ndarray output(int64_t i = 0) const noexcept {
        return ndarray::share(mxc_executor_output(handle_, i));
    }
    ndarray arg(int64_t i) const noexcept {
        return ndarray::share(mxc_executor_arg(handle_, i));
    }
    ndarray grad(int64_t i) const noexcept {
        return ndarray::share(mxc_executor_grad(handle_, i));
    }
    ndarray aux(int64_t i) const noexcept {
        return ndarray::share(mxc_executor_aux(handle_, i));
    }
    ndarray find_arg(text name) const noexcept {
        return ndarray::share(mxc_executor_find_arg(handle_, name.c_str()));
    }
    ndarray find_grad(text name) const noexcept {
        return ndarray::share(mxc_executor_find_grad(handle_, name.c_str()));
    }
    ndarray find_aux(text name) const noexcept {
        return ndarray::share(mxc_executor_find_aux(handle_, name.c_str()));
    }
    span<const char *const> arg_names() const noexcept {
        return list(mxc_executor_arg_names(handle_));
    }
    span<const char *const> aux_names() const noexcept {
        return list(mxc_executor_aux_names(handle_));
    }
    mxc::symbol symbol() const noexcept {
        return mxc::symbol::share(mxc_executor_symbol(handle_));
    }

    /* ---- reports ------------------------------------------------------------------------------------------------- */

    /** Call function(const char *name, ndarray array) after each node, on threads of the engine. Exceptions of it are
     *  dropped. Allocates an object that holds the function. */
    void set_monitor(std::function<void(const char *, const ndarray &)> function) {
        auto monitor = std::make_unique<std::function<void(const char *, const ndarray &)>>(std::move(function));
        check(mxc_executor_set_monitor(handle_, *monitor ? call_monitor : nullptr, monitor.get()));
        monitor_ = std::move(monitor);
    }
    mxc_memory_report report() const {
        mxc_memory_report out;
        check(mxc_executor_get_report(handle_, &out));
        return out;
    }
    std::string str() const {
        char *out;
        check(mxc_executor_print(handle_, &out));
        return detail::take_string(out);
    }

  private:
    static void call_monitor(const char *name, mxc_ndarray *array, void *user) {
        MXC_IGNORE(guard([&] {
            (*static_cast<std::function<void(const char *, const ndarray &)> *>(user))(name, ndarray::share(array));
        }));
    }
    static mxc_bind_spec make_spec(detail::variable_arrays &arrays, mxc_req req, detail::text_array &no_grad) {
        mxc_bind_spec spec;
        mxc_bind_spec_init(&spec, sizeof spec);
        spec.n = arrays.size();
        spec.names = arrays.names();
        spec.shapes = arrays.shapes();
        spec.types = arrays.types();
        spec.req = req;
        spec.n_no_grad = no_grad.size();
        spec.no_grad = no_grad.data();
        return spec;
    }
    static void expect(const char *what, size_t expected, size_t found) {
        if (expected != found)
            detail::fail(MXC_EINVAL, "bind: %s: expected %zu entries, found %zu", what, expected, found);
    }
    static span<const char *const> list(const mxc_names *names) noexcept {
        return names ? span<const char *const>(names->items, static_cast<size_t>(names->n)) : span<const char *const>();
    }
    std::unique_ptr<std::function<void(const char *, const ndarray &)>> monitor_;
};

} // namespace mxc

#endif
