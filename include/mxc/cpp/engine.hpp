/* SPDX-License-Identifier: Apache-2.0 */
/* The engine, and what belongs to the process: random numbers, memory pools, traces, log messages. */
#ifndef MXC_CPP_ENGINE_HPP
#define MXC_CPP_ENGINE_HPP

#include <mxc/cpp/array.hpp>

namespace mxc {

struct engine_options : mxc_engine_options {
    engine_options() noexcept {
        mxc_engine_options_init(this, sizeof(mxc_engine_options));
    }
};

/** An engine of the program. The default one is engine_view(). */
class engine : public detail::unique_handle<mxc_engine, mxc_engine_destroy> {
  public:
    engine() noexcept = default;
    explicit engine(const engine_options &options) {
        check(mxc_engine_create(&options, &handle_));
    }
};

/** An engine that is borrowed: that of an engine object, or the default one. */
class engine_view {
  public:
    engine_view() {
        check(mxc_engine_default(&handle_));
    }
    engine_view(const engine &owner) noexcept : handle_(owner.get()) {
    }
    explicit engine_view(mxc_engine *handle) noexcept : handle_(handle) {
    }
    mxc_engine *get() const noexcept {
        return handle_;
    }
    /** Throws the first error since the last call. */
    void wait_all() const {
        check(mxc_wait_all(handle_));
    }
    mxc_engine_kind kind() const noexcept {
        return mxc_engine_get_kind(handle_);
    }
    int parallelism() const noexcept {
        return mxc_engine_parallelism(handle_);
    }

  private:
    mxc_engine *handle_;
};

/** The engine of arrays that are made from now on. It outlives them. */
inline void set_default_engine(const engine &next) noexcept {
    mxc_engine_set_default(next.get());
}

/** Wait for all work of the default engine. */
inline void wait_all() {
    engine_view().wait_all();
}

namespace detail {
inline void delete_var(mxc_var *var) noexcept {
    mxc_var_delete(var, nullptr, nullptr);
}
} // namespace detail

/** A variable of an engine, deleted when what was pushed on it has run. */
class var : public detail::unique_handle<mxc_var, detail::delete_var> {
  public:
    var() noexcept = default;
    explicit var(engine_view on) {
        check(mxc_var_create(on.get(), &handle_));
    }
    void wait_to_read() const {
        check(mxc_wait_to_read(handle_));
    }
    void wait_to_write() const {
        check(mxc_wait_to_write(handle_));
    }
};

/** The end of an asynchronous function, which is declared once, on any thread. One that is destroyed before ends its
 *  function with MXC_ECANCELED. */
class completion {
  public:
    completion() noexcept = default;
    explicit completion(mxc_done *done) noexcept : done_(done) {
    }
    completion(completion &&other) noexcept : done_(std::exchange(other.done_, nullptr)) {
    }
    completion &operator=(completion &&other) noexcept {
        std::swap(done_, other.done_);
        return *this;
    }
    ~completion() {
        complete(MXC_ECANCELED, "an asynchronous function was given up");
    }
    void complete(mxc_status status = MXC_OK, text message = {}) noexcept {
        if (done_)
            mxc_done_complete(std::exchange(done_, nullptr), status, message.c_str());
    }

  private:
    mxc_done *done_ = nullptr;
};

/** A function for the engine. It ends its variables in the error state by throwing. */
using task_function = std::function<void(const mxc_run &)>;
/** One that has ended when it says so, which may be after it has returned. */
using async_function = std::function<void(const mxc_run &, completion)>;

namespace detail {

inline void set_function(mxc_task &task, const task_function *) noexcept {
    task.fn = [](const mxc_run *run, void *arg) {
        return guard([&] { (**static_cast<std::shared_ptr<task_function> *>(arg))(*run); });
    };
}
inline void set_function(mxc_task &task, const async_function *) noexcept {
    task.async_fn = [](const mxc_run *run, void *arg, mxc_done *done) {
        MXC_IGNORE(guard([&] { (**static_cast<std::shared_ptr<async_function> *>(arg))(*run, completion(done)); }));
    };
}

/** A function and the task that calls it. The engine owns a reference until it destroys the task. */
template <class Function> class task_holder {
  public:
    task_holder(text name, Function function)
        : function_(std::make_shared<Function>(std::move(function))),
          owner_(std::make_unique<std::shared_ptr<Function>>(function_)) {
        mxc_task_init(&task_, sizeof task_);
        set_function(task_, function_.get());
        task_.name = name.c_str();
        task_.arg = owner_.get();
        task_.destroy = [](void *arg) { delete static_cast<std::shared_ptr<Function> *>(arg); };
    }
    const mxc_task *get() const noexcept {
        return &task_;
    }
    /** After the call that was given the task. A naive engine may have run and destroyed it, and return its error. */
    void check(mxc_status status) {
        if (status == MXC_OK || function_.use_count() == 1)
            owner_.release();
        mxc::check(status);
    }

  private:
    std::shared_ptr<Function> function_;
    std::unique_ptr<std::shared_ptr<Function>> owner_;
    mxc_task task_;
};

} // namespace detail

/** Queue a function that reads and writes variables. name outlives the task. Allocates an object that holds it. */
inline void push(engine_view on, text name, span<mxc_var *const> reads, span<mxc_var *const> writes,
                 task_function function) {
    detail::task_holder<task_function> task(name, std::move(function));
    task.check(mxc_engine_push(on.get(), task.get(), detail::to_int(reads.size()), reads.data(),
                               detail::to_int(writes.size()), writes.data(), 0));
}

inline void push_async(engine_view on, text name, span<mxc_var *const> reads, span<mxc_var *const> writes,
                       async_function function) {
    detail::task_holder<async_function> task(name, std::move(function));
    task.check(mxc_engine_push(on.get(), task.get(), detail::to_int(reads.size()), reads.data(),
                               detail::to_int(writes.size()), writes.data(), 0));
}

/** A function with its variables, for many pushes. */
class engine_op : public detail::unique_handle<mxc_engine_op, mxc_engine_op_destroy> {
  public:
    engine_op() noexcept = default;
    engine_op(engine_view on, text name, span<mxc_var *const> reads, span<mxc_var *const> writes,
              task_function function) {
        detail::task_holder<task_function> task(name, std::move(function));
        task.check(mxc_engine_op_create(on.get(), task.get(), detail::to_int(reads.size()), reads.data(),
                                        detail::to_int(writes.size()), writes.data(), &handle_));
    }
    void push(int priority = 0, uint64_t token = 0) const {
        check(mxc_engine_op_push(handle_, priority, token));
    }
};

/* ---- the process ------------------------------------------------------------------------------------------------- */

/** Seed the random streams of all contexts. */
inline void seed(uint64_t number) noexcept {
    mxc_random_seed(number);
}
inline mxc_random random_state(context context) {
    mxc_random out;
    check(mxc_random_get_state(context, &out));
    return out;
}
inline void set_random_state(context context, const mxc_random &state) {
    check(mxc_random_set_state(context, &state));
}

inline mxc_storage_stats storage_stats(context context) {
    mxc_storage_stats out;
    check(mxc_storage_get_stats(context, &out));
    return out;
}
inline void trim_storage(context context, size_t keep = 0) {
    check(mxc_storage_trim(context, keep));
}

/** Records what runs while the object exists; write() makes a file for chrome://tracing or ui.perfetto.dev. */
class trace {
  public:
    trace() {
        check(mxc_trace_start());
    }
    trace(const trace &) = delete;
    trace &operator=(const trace &) = delete;
    ~trace() {
        mxc_trace_stop();
    }
    void write(text path) const {
        check(mxc_trace_write(path.c_str()));
    }
};

inline void set_log_level(mxc_log_level level) noexcept {
    mxc_set_log_level(level);
}
/** Receives messages, on any thread; must not call the library. NULL: they go to stderr. */
inline void set_logger(mxc_log_fn function, void *user = nullptr) noexcept {
    mxc_set_logger(function, user);
}
/** Version of the loaded library. */
inline const char *version() noexcept {
    return mxc_version();
}

} // namespace mxc

#endif
