/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets up a training run and takes it down: binds one executor per context, initialises the parameters or resumes, and
 * fills the store. The loop itself is in fit.c.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "base/sys.h"
#include "base/text.h"
#include "kvstore/kvstore.h"
#include "optimizer/optimizer.h"
#include "rewrite/mixed_precision.h"
#include "train/attributes.h"
#include "train/inputs.h"
#include "train/trainer.h"

static const mxc_context default_context = {MXC_CPU, 0};

/* ---- executors --------------------------------------------------------------------------------------------------- */

int64_t mxci_trainer_accumulate(const mxci_trainer *trainer) {
    return trainer->options->accumulate > 1 ? trainer->options->accumulate : 1;
}

static int is_param(const mxci_trainer *trainer, const char *name) {
    return !mxci_feed_find_desc(trainer->options->train, name) && strcmp(name, MXCI_LOSS_SCALE) != 0;
}

/* Appends the parameters whose names match one of the patterns that freeze to names, which has room for all arguments.
 * A pattern without a match is likely to be a mistake. */
static mxc_status find_frozen(const mxci_trainer *trainer, const mxc_names *args, const char **names, int *n) {
    const mxc_fit_options *o = trainer->options;
    int trained = 0;
    for (int p = 0; p < o->n_frozen; p++) {
        int matches = 0;
        for (int64_t i = 0; i < args->n; i++)
            matches += is_param(trainer, args->items[i]) && mxci_glob_match(o->frozen[p], args->items[i]);
        if (matches == 0)
            return MXC_FAIL(MXC_ENOTFOUND, "mxc_fit: frozen[%d], \"%.80s\", matches no parameter of the network", p,
                            o->frozen[p]);
    }
    for (int64_t i = 0; i < args->n; i++) {
        int is_frozen = 0;
        for (int p = 0; p < o->n_frozen; p++)
            is_frozen |= mxci_glob_match(o->frozen[p], args->items[i]);
        if (is_param(trainer, args->items[i]) && is_frozen)
            names[(*n)++] = args->items[i];
        trained += is_param(trainer, args->items[i]) && !is_frozen;
    }
    return trained > 0 || o->n_frozen == 0 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "mxc_fit: all parameters are frozen");
}

/* The network of a bucket, rewritten for mixed precision like the first one. */
static mxc_status make_bucket_symbol(void *arg, int64_t key, mxc_symbol **out) {
    const mxci_trainer *trainer = arg;
    mxc_symbol *symbol = NULL;
    *out = NULL;
    mxc_status status = trainer->options->bucket_symbol(key, trainer->options->bucket_user, &symbol);
    if (status != MXC_OK || !symbol)
        return MXC_FAIL(status != MXC_OK ? status : MXC_EINVAL,
                        "mxc_fit: bucket_symbol gave no network for bucket %lld", (long long)key);
    status = mxci_loss_scaling_symbol(trainer, symbol, out);
    mxc_symbol_release(symbol);
    return status;
}

static mxc_status bind_executors(mxci_trainer *trainer, const mxci_feed_spec *feed, int n_no_grad,
                                 const char *const *no_grad) {
    const mxc_bind_spec spec = {.size = sizeof spec,
                                .n = feed->n,
                                .names = feed->names,
                                .shapes = feed->shapes,
                                .types = feed->types,
                                .req = mxci_trainer_accumulate(trainer) > 1 ? MXC_REQ_ADD : MXC_REQ_WRITE,
                                .n_no_grad = n_no_grad,
                                .no_grad = no_grad};
    trainer->executors = mxci_calloc((size_t)trainer->n_contexts, sizeof *trainer->executors);
    trainer->feeds = mxci_calloc((size_t)trainer->n_contexts, sizeof *trainer->feeds);
    trainer->buckets = mxci_calloc((size_t)trainer->n_contexts, sizeof *trainer->buckets);
    trainer->current = mxci_calloc((size_t)trainer->n_contexts, sizeof *trainer->current);
    if (!trainer->executors || !trainer->feeds || !trainer->buckets || !trainer->current)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %d executors", trainer->n_contexts);
    for (int i = 0; i < trainer->n_contexts; i++) {
        mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
        options.context = trainer->contexts[i];
        MXC_TRY(mxc_executor_simple_bind(trainer->symbol, &options, &spec, &trainer->executors[i]));
        MXC_TRY(mxci_feed_open(&trainer->feeds[i], trainer->options->train, trainer->executors[i]));
        trainer->current[i] = trainer->executors[i];
        trainer->buckets[i] = (mxci_buckets){.source = trainer->executors[i],
                                             .feed = &trainer->feeds[i],
                                             .iter = trainer->options->train,
                                             .parts = trainer->n_contexts,
                                             .req = spec.req,
                                             .symbol = trainer->options->bucket_symbol ? make_bucket_symbol : NULL,
                                             .arg = trainer};
    }
    return MXC_OK;
}

static mxc_status bind_all(mxci_trainer *trainer, const mxci_feed_spec *feed) {
    mxc_names args;
    int n = 0;
    MXC_TRY(mxc_symbol_list_arguments(trainer->symbol, &args));
    const char **no_grad = mxci_calloc((size_t)args.n + 1, sizeof *no_grad);
    mxc_status status = no_grad ? find_frozen(trainer, &args, no_grad, &n)
                                : MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %lld names", (long long)args.n);
    if (status == MXC_OK && mxc_names_find(&args, MXCI_LOSS_SCALE) >= 0)
        no_grad[n++] = MXCI_LOSS_SCALE;
    if (status == MXC_OK)
        status = bind_executors(trainer, feed, n, no_grad);
    mxci_free(no_grad);
    mxc_names_release(&args);
    return status;
}

/* One executor per context, each for its share of the batch; the batch axis is the first axis of the first data array.
 */
static mxc_status bind_training(mxci_trainer *trainer) {
    const mxc_data_desc *first = mxc_iter_desc(trainer->options->train, 0);
    mxci_feed_spec spec;
    if (!first || first->shape.ndim < 1)
        return MXC_FAIL(MXC_ESHAPE, "mxc_fit: the training iterator has no data array with a batch axis");
    trainer->batch_size = first->shape.dim[0];
    MXC_TRY(mxci_feed_spec_open(&spec, trainer->options->train, trainer->symbol, trainer->n_contexts));
    mxc_status status = mxci_inputs_check(trainer->options, &spec);
    if (status == MXC_OK)
        status = mxci_inputs_check_valid(trainer->options, &spec);
    if (status == MXC_OK)
        status = bind_all(trainer, &spec);
    mxci_feed_spec_close(&spec);
    return status;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Arguments that the iterator does not provide, in the order of the symbol's list. */
static mxc_status find_params(mxci_trainer *trainer) {
    const mxc_names *args = mxc_executor_arg_names(trainer->executors[0]);
    size_t n = (size_t)args->n, all = n * (size_t)trainer->n_contexts;
    trainer->keys = mxci_calloc(n, sizeof *trainer->keys);
    trainer->param_args = mxci_calloc(n, sizeof *trainer->param_args);
    trainer->trained_keys = mxci_calloc(n, sizeof *trainer->trained_keys);
    trainer->trained_args = mxci_calloc(n, sizeof *trainer->trained_args);
    trainer->values = mxci_calloc(all, sizeof *trainer->values);
    trainer->all_keys = mxci_calloc(all, sizeof *trainer->all_keys);
    if (!trainer->keys || !trainer->param_args || !trainer->trained_keys || !trainer->trained_args ||
        !trainer->values || !trainer->all_keys)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %zu parameters", n);
    for (int64_t i = 0; i < args->n; i++) {
        if (!is_param(trainer, args->items[i]))
            continue;
        trainer->param_args[trainer->n_params] = (int)i;
        trainer->keys[trainer->n_params++] = args->items[i];
        if (!mxc_executor_grad(trainer->executors[0], i)) /* frozen */
            continue;
        for (int c = 0; c < trainer->n_contexts; c++)
            trainer->all_keys[trainer->n_trained * trainer->n_contexts + c] = args->items[i];
        trainer->trained_args[trainer->n_trained] = (int)i;
        trainer->trained_keys[trainer->n_trained++] = args->items[i];
    }
    return MXC_OK;
}

/* By the variable's attribute __init__, or by the rule that the options name. */
static mxc_status init_param(const mxci_trainer *trainer, const char *name, mxc_ndarray *array) {
    const mxc_fit_options *o = trainer->options;
    const mxci_node *variable = mxci_attributes_find(trainer->graph, name);
    int done = 0;
    if (variable)
        MXC_TRY(mxci_attributes_init(variable, array, &done));
    if (done)
        return MXC_OK;
    return mxc_init_array(o->initializer, o->n_initializer_params, o->initializer_keys, o->initializer_values, name,
                          array);
}

/* The first context's arrays by rules. */
static mxc_status init_by_rules(mxci_trainer *trainer) {
    const mxc_names *aux = mxc_executor_aux_names(trainer->executors[0]);
    for (int i = 0; i < trainer->n_params; i++)
        MXC_TRY(init_param(trainer, trainer->keys[i], mxc_executor_arg(trainer->executors[0], trainer->param_args[i])));
    for (int64_t i = 0; i < aux->n; i++)
        MXC_TRY(init_param(trainer, aux->items[i], mxc_executor_aux(trainer->executors[0], i)));
    return MXC_OK;
}

/* Executors expect every argument in the list of names that they may not find in params: the inputs. */
mxc_status mxci_trainer_load_params(mxci_trainer *trainer, int c, const mxc_ndarray_list *params, unsigned flags) {
    const mxc_names *args = mxc_executor_arg_names(trainer->executors[c]);
    const char **inputs = mxci_calloc((size_t)args->n, sizeof *inputs);
    int64_t n = 0;
    if (!inputs)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %lld names", (long long)args->n);
    for (int64_t i = 0, k = 0; i < args->n; i++) { /* keys are in the order of arguments */
        if (k < trainer->n_params && trainer->param_args[k] == i)
            k++;
        else
            inputs[n++] = args->items[i];
    }
    mxc_status status = mxc_executor_load_params(trainer->executors[c], params, flags, n, inputs);
    mxci_free(inputs);
    return status;
}

/* The first context's arrays from the options or by rules, and copies of them in the other contexts. */
static mxc_status init_params(mxci_trainer *trainer) {
    int64_t n_aux = mxc_executor_aux_names(trainer->executors[0])->n;
    const mxc_ndarray_list *given = trainer->options->initial_params;
    const unsigned flags = trainer->options->initial_params_flags | MXC_PARAMS_CONVERT;
    if (!given || (flags & MXC_PARAMS_ALLOW_MISSING))
        MXC_TRY(init_by_rules(trainer));
    if (given)
        MXC_TRY(mxci_trainer_load_params(trainer, 0, given, flags));
    for (int c = 1; c < trainer->n_contexts; c++) {
        for (int i = 0; i < trainer->n_params; i++)
            MXC_TRY(mxc_ndarray_copy_to(mxc_executor_arg(trainer->executors[0], trainer->param_args[i]),
                                        mxc_executor_arg(trainer->executors[c], trainer->param_args[i]), 0));
        for (int64_t i = 0; i < n_aux; i++)
            MXC_TRY(mxc_ndarray_copy_to(mxc_executor_aux(trainer->executors[0], i),
                                        mxc_executor_aux(trainer->executors[c], i), 0));
    }
    return MXC_OK;
}

/* ---- optimizer and store ----------------------------------------------------------------------------------------- */

/* The caller's settings, with rescale_grad and multi_precision added where the caller does not give them. */
static mxc_status make_optimizer(mxci_trainer *trainer) {
    const mxc_fit_options *o = trainer->options;
    int n = o->n_optimizer_params, has_rescale = 0, has_precision = !mxci_is_16bit_training(o);
    const char **keys = mxci_calloc((size_t)n + 2, sizeof *keys), **values = mxci_calloc((size_t)n + 2, sizeof *values);
    char rescale[40];
    mxc_status status = MXC_OK;
    if (!keys || !values)
        status = MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for the optimizer's settings");
    for (int i = 0; status == MXC_OK && i < n; i++) {
        keys[i] = o->optimizer_keys[i];
        values[i] = o->optimizer_values[i];
        has_rescale |= strcmp(keys[i], "rescale_grad") == 0;
        has_precision |= strcmp(keys[i], "multi_precision") == 0;
    }
    if (status == MXC_OK) {
        int workers =
            trainer->is_synchronous ? mxc_kvstore_group_size(trainer->store) : 1; /* whose gradients are summed */
        double samples = (double)trainer->batch_size * workers * (double)mxci_trainer_accumulate(trainer);
        mxci_format(rescale, sizeof rescale, "%.17g", 1.0 / samples);
        keys[n] = "rescale_grad";
        values[n] = rescale;
        n += !has_rescale;
        keys[n] = "multi_precision";
        values[n] = "true";
        status = mxc_optimizer_create(o->optimizer, n + !has_precision, keys, values, &trainer->optimizer);
    }
    if (status == MXC_OK) {
        mxc_optimizer_set_lr(trainer->optimizer, o->learning_rate);
        mxci_optimizer_set_clip_norm(trainer->optimizer, o->clip_norm);
    }
    mxci_free(keys);
    mxci_free(values);
    return status;
}

/* Set the factors on the learning rate and weight decay that variables have as attributes, before the store copies the
 * optimizer to its servers. */
static mxc_status set_mults(mxci_trainer *trainer) {
    for (int i = 0; i < trainer->n_trained; i++) {
        const mxci_node *variable = mxci_attributes_find(trainer->graph, trainer->trained_keys[i]);
        if (variable)
            MXC_TRY(mxci_attributes_set_mults(variable, trainer->optimizer));
    }
    return MXC_OK;
}

/* The store of the options, or one of its own; mxci_trainer_close releases the latter. */
static mxc_status open_store(mxci_trainer *trainer) {
    trainer->store = trainer->options->store;
    if (!trainer->store)
        MXC_TRY(mxc_kvstore_create(trainer->options->kvstore, &trainer->store));
    trainer->is_synchronous = mxci_kvstore_is_synchronous(trainer->store);
    if (mxci_kvstore_is_sharded(trainer->store) &&
        (mxci_is_16bit_training(trainer->options) || trainer->options->loss_scale))
        return MXC_FAIL(MXC_EUNSUPPORTED,
                        "mxc_fit: a store with shard=true trains in float32 without a loss scale: what is finite is "
                        "not known to all workers");
    int is_async = strcmp(mxc_kvstore_type(trainer->store), "dist_async") == 0;
    if (trainer->options->clip_norm > 0 && (is_async || mxci_kvstore_is_sharded(trainer->store)))
        return MXC_FAIL(MXC_EUNSUPPORTED,
                        "mxc_fit: clip_norm needs all gradients, which no process of a store with %s has",
                        is_async ? "dist_async" : "shard=true");
    return MXC_OK;
}

/* With one context the executor's own arrays are the stored values, so that nothing is copied at a pull. Frozen
 * parameters are stored only where all workers get the first values of one of them. */
static mxc_status fill_store(mxci_trainer *trainer) {
    int own = trainer->n_contexts == 1, has_workers = mxc_kvstore_group_size(trainer->store) > 1;
    MXC_TRY(mxc_kvstore_set_optimizer(trainer->store, trainer->optimizer));
    for (int i = 0; i < trainer->n_params; i++) {
        mxc_ndarray *value = mxc_executor_arg(trainer->executors[0], trainer->param_args[i]);
        int is_frozen = !mxc_executor_grad(trainer->executors[0], trainer->param_args[i]);
        if (is_frozen && !has_workers)
            continue;
        MXC_TRY(own ? mxci_kvstore_adopt(trainer->store, trainer->keys[i], value)
                    : mxc_kvstore_init(trainer->store, 1, &trainer->keys[i], &value));
        for (int c = 0; is_frozen && !own && c < trainer->n_contexts; c++) {
            value = mxc_executor_arg(trainer->executors[c], trainer->param_args[i]);
            MXC_TRY(mxc_kvstore_pull(trainer->store, 1, &trainer->keys[i], &value, 0));
        }
    }
    return MXC_OK;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static mxc_status trainer_check_options(const mxc_fit_options *o) {
    if (!o->symbol || !o->train)
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: symbol and train must be set");
    if (o->train == o->valid)
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: valid is the same iterator as train, which has no data left at an "
                                    "epoch's end; make another one");
    if (o->epochs < 0 || o->epochs > INT_MAX || o->n_contexts < 0 || (o->n_contexts > 0 && !o->contexts))
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: epochs %lld and n_contexts %d, expected 0 or more, with contexts",
                        (long long)o->epochs, o->n_contexts);
    const unsigned all = MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA | MXC_PARAMS_CONVERT;
    if ((o->initial_params_flags & ~all) || o->n_frozen < 0 || (o->n_frozen > 0 && !o->frozen))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_fit: initial_params_flags %u and n_frozen %d, expected flags of mxc_params_flags, and 0 "
                        "or more, with frozen",
                        o->initial_params_flags, o->n_frozen);
    for (int i = 0; i < o->n_frozen; i++)
        MXC_TRY(MXCI_CHECK_NON_NULL(o->frozen[i], "mxc_fit: a pattern in frozen"));
    if (o->accumulate < 0 || !(o->clip_norm >= 0) || !(o->ema >= 0 && o->ema < 1) || o->keep_models < 0)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_fit: accumulate %lld, clip_norm %g, ema %g, keep_models %lld, expected 0 or more, and ema "
                        "below 1",
                        (long long)o->accumulate, o->clip_norm, o->ema, (long long)o->keep_models);
    if (o->schedule.n_steps < 0 || (o->schedule.n_steps > 0 && !o->schedule.steps))
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: schedule.n_steps is %d, expected 0 or more, with steps",
                        o->schedule.n_steps);
    if (o->resume && !o->checkpoint)
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: resume needs a checkpoint prefix");
    return MXC_OK;
}

static void start_progress(mxci_trainer *trainer) {
    mxc_fit_progress *p = &trainer->progress;
    p->epochs = trainer->options->epochs;
    p->batches = trainer->options->epoch_batches;
    p->loss = p->accuracy = p->valid_loss = p->valid_accuracy = NAN;
    p->lr = trainer->options->learning_rate;
    p->best = NAN;
    trainer->loss = trainer->accuracy = trainer->monitored = -1;
    trainer->window_start = trainer->drawn = mxci_now_ns();
}

/* The validator has the averages of the parameters where there are any. */
static mxc_status open_validator(mxci_trainer *trainer) {
    const mxc_names *args = mxc_executor_arg_names(trainer->executors[0]);
    mxc_ndarray **replaced = mxci_calloc((size_t)args->n + 1, sizeof *replaced);
    if (!replaced)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %lld arguments", (long long)args->n);
    for (int i = 0; i < trainer->average.n; i++)
        replaced[trainer->trained_args[i]] = trainer->average.bound[i];
    mxc_status status =
        mxci_evaluator_open_sharing(&trainer->validator, trainer->executors[0], trainer->options->valid, replaced);
    trainer->validator.label = trainer->label;
    if (trainer->options->bucket_symbol) {
        trainer->validator.buckets.symbol = make_bucket_symbol;
        trainer->validator.buckets.arg = trainer;
    }
    mxci_free(replaced);
    return status;
}

mxc_status mxci_trainer_open(mxci_trainer *trainer, const mxc_fit_options *options) {
    int resumed = 0;
    memset(trainer, 0, sizeof *trainer);
    MXC_TRY(trainer_check_options(options));
    trainer->options = options;
    trainer->n_contexts = options->n_contexts > 0 ? options->n_contexts : 1;
    trainer->contexts = options->n_contexts > 0 ? options->contexts : &default_context;
    start_progress(trainer);
    MXC_TRY(mxci_loss_scaling_symbol(trainer, options->symbol, &trainer->symbol));
    MXC_TRY(bind_training(trainer));
    MXC_TRY(find_params(trainer));
    MXC_TRY(mxci_graph_from_symbol(options->symbol, &trainer->graph));
    MXC_TRY(mxci_loss_scaling_scale(trainer));
    MXC_TRY(open_store(trainer));
    MXC_TRY(make_optimizer(trainer));
    MXC_TRY(set_mults(trainer));
    MXC_TRY(mxci_loss_scaling_optimizer(trainer));
    MXC_TRY(mxci_fit_metrics_open(trainer));
    MXC_TRY(mxci_model_selection_open(trainer));
    MXC_TRY(mxci_parameter_average_open(trainer));
    MXC_TRY(mxci_checkpoint_open(trainer, &resumed));
    if (!resumed) {
        mxc_random_seed(options->seed + (uint64_t)mxc_kvstore_rank(trainer->store)); /* first values are worker 0's */
        MXC_TRY(init_params(trainer));
    }
    MXC_TRY(fill_store(trainer));
    MXC_TRY(mxci_parameter_average_begin(trainer));
    mxci_progress_begin(trainer);
    if (!options->valid)
        return MXC_OK;
    return open_validator(trainer);
}

void mxci_trainer_close(mxci_trainer *trainer) {
    mxci_evaluator_close(&trainer->validator);
    for (int i = 0; trainer->buckets && i < trainer->n_contexts; i++)
        mxci_buckets_close(&trainer->buckets[i]);
    for (int i = 0; trainer->feeds && i < trainer->n_contexts; i++)
        mxci_feed_close(&trainer->feeds[i]);
    for (int i = 0; trainer->executors && i < trainer->n_contexts; i++)
        mxc_executor_destroy(trainer->executors[i]);
    if (trainer->options && trainer->options->store)
        MXC_IGNORE(mxc_kvstore_set_optimizer(trainer->options->store, NULL));
    else
        mxc_kvstore_destroy(trainer->store);
    mxc_optimizer_destroy(trainer->optimizer);
    mxci_parameter_average_close(trainer);
    mxc_ndarray_release(trainer->loss_scale);
    mxci_graph_destroy(trainer->graph);
    mxc_symbol_release(trainer->symbol);
    mxci_fit_metrics_close(trainer);
    mxci_curve_history_free(&trainer->history);
    mxci_free(trainer->executors);
    mxci_free(trainer->feeds);
    mxci_free(trainer->buckets);
    mxci_free(trainer->current);
    mxci_free(trainer->keys);
    mxci_free(trainer->param_args);
    mxci_free(trainer->trained_keys);
    mxci_free(trainer->trained_args);
    mxci_free(trainer->values);
    mxci_free(trainer->all_keys);
}
