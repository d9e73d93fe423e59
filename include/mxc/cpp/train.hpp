/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers, key-value stores, metrics, initialisers, models in files, and training. */
#ifndef MXC_CPP_TRAIN_HPP
#define MXC_CPP_TRAIN_HPP

#include <mxc/cpp/io.hpp>

namespace mxc {

/* ---- optimizers and stores --------------------------------------------------------------------------------------- */

/** An update rule with its states: optimizer("sgd", {{"learning_rate", 0.1}}). */
class optimizer : public detail::unique_handle<mxc_optimizer, mxc_optimizer_destroy> {
  public:
    optimizer() noexcept = default;
    explicit optimizer(text name, span<const keyword> parameters = {}) {
        detail::keyword_arrays arrays(parameters);
        check(mxc_optimizer_create(name.c_str(), arrays.size(), arrays.keys(), arrays.values(), &handle_));
    }
    double learning_rate() const noexcept {
        return mxc_optimizer_get_lr(handle_);
    }
    void set_learning_rate(double rate) noexcept {
        mxc_optimizer_set_lr(handle_, rate);
    }
    void set_mult(text key, double lr_mult, double wd_mult) {
        check(mxc_optimizer_set_mult(handle_, key.c_str(), lr_mult, wd_mult));
    }
    void update(text key, const ndarray &weight, const ndarray &grad) {
        check(mxc_optimizer_update(handle_, key.c_str(), weight.get(), grad.get()));
    }
    array_list states() const {
        array_list out;
        check(mxc_optimizer_get_states(handle_, out.out()));
        return out;
    }
    void set_states(const array_list &states) {
        check(mxc_optimizer_set_states(handle_, states.get()));
    }
};

/** A key-value store. An optimizer that is set stays with the program, and outlives the store. */
class kvstore {
  public:
    /** Queues work that changes stored. */
    using updater = std::function<void(const char *key, const ndarray &sum, const ndarray &stored)>;

    kvstore() noexcept = default;
    explicit kvstore(text type, span<const keyword> parameters = {}) {
        detail::keyword_arrays arrays(parameters);
        check(mxc_kvstore_create_with(type.c_str(), arrays.size(), arrays.keys(), arrays.values(), handle_.out()));
    }
    void init(span<const text> keys, span<const ndarray> values) {
        detail::text_array texts(keys);
        expect("init", keys.size(), values.size());
        check(mxc_kvstore_init(get(), texts.size(), texts.data(), detail::handles(values)));
    }
    void push(span<const text> keys, span<const ndarray> values, int priority = 0) {
        detail::text_array texts(keys);
        expect("push", keys.size(), values.size());
        check(mxc_kvstore_push(get(), texts.size(), texts.data(), detail::handles(values), priority));
    }
    void pull(span<const text> keys, span<const ndarray> out, int priority = 0) {
        detail::text_array texts(keys);
        expect("pull", keys.size(), out.size());
        check(mxc_kvstore_pull(get(), texts.size(), texts.data(), detail::handles(out), priority));
    }
    void pushpull(span<const text> keys, span<const ndarray> values, span<const ndarray> out, int priority = 0) {
        detail::text_array texts(keys);
        expect("pushpull", keys.size(), values.size());
        expect("pushpull", keys.size(), out.size());
        check(mxc_kvstore_pushpull(get(), texts.size(), texts.data(), detail::handles(values), detail::handles(out),
                                   priority));
    }
    void set_optimizer(optimizer &rule) {
        check(mxc_kvstore_set_optimizer(get(), rule.get()));
    }
    /** What it throws, push throws. Allocates an object that holds the function. */
    void set_updater(updater function) {
        auto next = std::make_unique<updater>(std::move(function));
        mxc_kvstore_set_updater(get(), *next ? call_updater : nullptr, next.get());
        updater_ = std::move(next);
    }
    const char *type() const noexcept {
        return mxc_kvstore_type(get());
    }
    int rank() const noexcept {
        return mxc_kvstore_rank(get());
    }
    int group_size() const noexcept {
        return mxc_kvstore_group_size(get());
    }
    void barrier() {
        check(mxc_kvstore_barrier(get()));
    }
    mxc_kvstore *get() const noexcept {
        return handle_.get();
    }

  private:
    static mxc_status call_updater(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user) {
        return guard([&] { (*static_cast<updater *>(user))(key, ndarray::share(sum), ndarray::share(stored)); });
    }
    static void expect(const char *call, size_t expected, size_t found) {
        if (expected != found)
            detail::fail(MXC_EINVAL, "kvstore: %s: expected %zu arrays, found %zu", call, expected, found);
    }
    std::unique_ptr<updater> updater_; /* destroyed after the store, which is declared below */
    detail::unique_handle<mxc_kvstore, mxc_kvstore_destroy> handle_;
};

/* ---- metrics, initialisers --------------------------------------------------------------------------------------- */

/** A measure of predictions: metric("accuracy"), or functions of the program. */
class metric : public detail::unique_handle<mxc_metric, mxc_metric_destroy> {
  public:
    metric() noexcept = default;
    explicit metric(text name, span<const keyword> parameters = {}) {
        detail::keyword_arrays arrays(parameters);
        check(mxc_metric_create(name.c_str(), arrays.size(), arrays.keys(), arrays.values(), &handle_));
    }
    /** See mxc_metric_create_own. */
    metric(text own_name, int64_t n_state, mxc_metric_update_fn add, mxc_metric_value_fn compute, void *user,
           bool higher_wins) {
        check(mxc_metric_create_own(own_name.c_str(), n_state, add, compute, user, higher_wins, &handle_));
    }
    void update(const ndarray &label, const ndarray &prediction, int64_t pad = 0) {
        check(mxc_metric_update(handle_, label.get(), prediction.get(), pad));
    }
    double value() const noexcept {
        return mxc_metric_value(handle_);
    }
    const char *name() const noexcept {
        return mxc_metric_name(handle_);
    }
    bool higher_is_better() const noexcept {
        return mxc_metric_higher_is_better(handle_) != 0;
    }
    /** Forget all batches. */
    void clear() noexcept {
        mxc_metric_reset(handle_);
    }
};

/** Queue the initialisation of a parameter by a rule, such as "xavier"; see mxc_init_array. */
inline void initialize(text rule, text name, const ndarray &array, span<const keyword> parameters = {}) {
    detail::keyword_arrays arrays(parameters);
    check(mxc_init_array(rule.c_str(), arrays.size(), arrays.keys(), arrays.values(), name.c_str(), array.get()));
}

/** The same by copying the array of the name from a list; a rule serves those that the list does not have. */
inline void initialize_from(const array_list &list, text name, const ndarray &array, text rule = {},
                            span<const keyword> parameters = {}) {
    detail::keyword_arrays arrays(parameters);
    check(mxc_init_array_from(list.get(), rule.c_str(), arrays.size(), arrays.keys(), arrays.values(), name.c_str(),
                              array.get()));
}

/** Scale arrays so that the norm of all their elements is at most max_norm; returns the norm before, of shape (1,). */
inline ndarray clip_global_norm(span<const ndarray> arrays, double max_norm) {
    ndarray out;
    check(mxc_clip_global_norm(detail::to_int(arrays.size()), detail::handles(arrays), max_norm, out.out()));
    return out;
}

/* ---- models in files --------------------------------------------------------------------------------------------- */

/** A network and its parameters. */
struct model {
    mxc::symbol symbol;
    array_list params;

    static model load(text prefix, int epoch) {
        model out;
        check(mxc_model_load(prefix.c_str(), epoch, out.symbol.out(), out.params.out()));
        return out;
    }
    /** The prefix of a model's files, and the path of its parameters; see mxc_model_find. */
    static std::pair<std::string, std::string> find(text where, int epoch = -1) {
        char *prefix, *params;
        check(mxc_model_find(where.c_str(), epoch, &prefix, &params));
        std::unique_ptr<char, void (*)(void *)> owner(params, mxc_free); /* if the first string throws */
        std::string first = detail::take_string(prefix);
        return {std::move(first), detail::take_string(owner.release())};
    }
    void save(text prefix, int epoch) const {
        const mxc_ndarray_list *list = params.get();
        check(mxc_model_save(prefix.c_str(), epoch, symbol.get(), list->n, list->arrays, list->names));
    }
};

/* ---- training ---------------------------------------------------------------------------------------------------- */

/** Options of fit, with their defaults. Texts and lists that are assigned to members are borrowed until fit returns;
 *  the functions below keep what they are given. */
struct fit_options : mxc_fit_options {
    fit_options() noexcept {
        mxc_fit_options_init(this, sizeof(mxc_fit_options));
    }
    fit_options(const fit_options &) = delete;
    fit_options &operator=(const fit_options &) = delete;

    /** Called after each batch, and after each epoch with epoch_end. What it throws ends the training, and fit throws
     *  it. */
    std::function<void(const mxc_fit_progress &progress, bool epoch_end)> on_progress;
    /** Networks of batches of a bucket. */
    std::function<mxc::symbol(int64_t bucket)> on_bucket;

    /** Allocates a list. */
    void set_optimizer(const char *name, span<const keyword> parameters = {}) {
        optimizer = name;
        keep(parameters, rule_texts_, rule_keys_, rule_values_);
        n_optimizer_params = detail::to_int(rule_keys_.size());
        optimizer_keys = rule_keys_.data();
        optimizer_values = rule_values_.data();
    }
    /** Allocates a list. */
    void set_initializer(const char *rule, span<const keyword> parameters = {}) {
        initializer = rule;
        keep(parameters, initializer_texts_, initializer_key_list_, initializer_value_list_);
        n_initializer_params = detail::to_int(initializer_key_list_.size());
        initializer_keys = initializer_key_list_.data();
        initializer_values = initializer_value_list_.data();
    }
    /** Allocates a list. */
    void set_metrics(std::initializer_list<const metric *> list) {
        metric_list_.clear();
        for (const metric *m : list)
            metric_list_.push_back(m->get());
        n_metrics = detail::to_int(metric_list_.size());
        metrics = metric_list_.data();
    }

  private:
    static void keep(span<const keyword> from, std::vector<std::string> &texts, std::vector<const char *> &keys,
                     std::vector<const char *> &values) {
        texts.clear();
        keys.clear();
        values.clear();
        texts.reserve(2 * from.size());
        for (const keyword &k : from) {
            keys.push_back(texts.emplace_back(k.key()).c_str());
            values.push_back(texts.emplace_back(k.value()).c_str());
        }
    }
    std::vector<std::string> rule_texts_, initializer_texts_;
    std::vector<const char *> rule_keys_, rule_values_, initializer_key_list_, initializer_value_list_;
    std::vector<mxc_metric *> metric_list_;
};

/** What a training gives. */
struct fit_result {
    mxc_fit_progress progress;
    array_list params;
};

/** Train a network. Members symbol, train, valid and store of the options follow from the arguments where they are
 *  given. Blocks. */
inline fit_result fit(const symbol &network, iterator &train, fit_options &options, iterator *valid = nullptr,
                      kvstore *store = nullptr) {
    struct {
        detail::relay relay;
        fit_options *options;
    } call = {{}, &options};
    using call_type = decltype(call);
    mxc_fit_options c_options = options;
    fit_result out = {};
    c_options.symbol = network.get();
    c_options.train = train.get();
    if (valid)
        c_options.valid = valid->get();
    if (store)
        c_options.store = store->get();
    if (options.on_progress) {
        c_options.user = &call;
        c_options.callback = [](const mxc_fit_progress *progress, int epoch_end, void *user) {
            auto *c = static_cast<call_type *>(user);
            return c->relay.run([&] { c->options->on_progress(*progress, epoch_end != 0); });
        };
    }
    if (options.on_bucket) {
        c_options.bucket_user = &call;
        c_options.bucket_symbol = [](int64_t bucket, void *user, mxc_symbol **symbol) {
            auto *c = static_cast<call_type *>(user);
            return c->relay.run([&] { *symbol = c->options->on_bucket(bucket).release(); });
        };
    }
    call.relay.check(mxc_fit(&c_options, &out.progress, out.params.out()));
    return out;
}

/** Run a network over an iterator and update metrics. Blocks. */
inline void evaluate(const symbol &network, const array_list &params, iterator &data,
                     std::initializer_list<const metric *> measures, context context = cpu()) {
    detail::small_array<mxc_metric *, 16> metrics(measures.size());
    for (size_t i = 0; i < measures.size(); i++)
        metrics[i] = measures.begin()[i]->get();
    check(
        mxc_evaluate(network.get(), params.get(), data.get(), context, detail::to_int(metrics.size()), metrics.data()));
}

} // namespace mxc

#endif
