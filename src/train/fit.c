/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training loop. One step copies the batch, runs forward and backward, pushes gradients and pulls parameters. All
 * of this is queued; the thread waits only for the prediction, which the metrics need.
 */
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/sys.h"
#include "kvstore/kvstore.h"
#include "optimizer/optimizer.h"
#include "train/metric.h"
#include "train/trainer.h"

#define RATE_WINDOW_NS INT64_C(500000000)
#define GROUP_BYTES ((size_t)1 << 20) /* of parameters that are pushed together */

static const mxc_fit_options standard_options = {
    .size = sizeof(mxc_fit_options),
    .epochs = 1,
    .optimizer = "sgd",
    .learning_rate = 0.01,
    .initializer = "xavier",
    .kvstore = "local",
};

void mxc_fit_options_init(mxc_fit_options *options, size_t size) {
    mxci_sized_init(options, size, &standard_options, sizeof standard_options);
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

/* Until the latest run on a context has ended: its outputs, and the gradients. */
static mxc_status await_run(const mxci_trainer *trainer, int c) {
    mxc_executor *executor = trainer->current[c];
    for (int64_t i = 0; i < mxc_symbol_n_outputs(mxc_executor_symbol(executor)); i++)
        MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_output(executor, i)));
    for (int i = 0; i < trainer->n_trained; i++)
        MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_grad(trainer->executors[c], trainer->trained_args[i])));
    return MXC_OK;
}

/* Each context gets its share of the batch. All of this is queued, but the executors of different buckets have the same
 * memory, so one waits for the run of another. */
static mxc_status compute_gradients(mxci_trainer *trainer, const mxc_batch *batch) {
    for (int c = 0; c < trainer->n_contexts; c++) {
        const mxci_feed *feed;
        mxc_executor *next;
        MXC_TRY(mxci_buckets_find(&trainer->buckets[c], batch, &next, &feed));
        if (next != trainer->current[c])
            MXC_TRY(await_run(trainer, c));
        trainer->current[c] = next;
        MXC_TRY(mxci_feed_copy(feed, batch, c, trainer->n_contexts));
        MXC_TRY(mxc_executor_forward(trainer->current[c], 1));
        MXC_TRY(mxc_executor_backward(trainer->current[c], 0, NULL));
    }
    return MXC_OK;
}

/* Fill trainer->values with the arrays of trained parameters [begin, end), of each in every context, as
 * trainer->all_keys lists their keys. Returns their number. */
static int list_params(mxci_trainer *trainer, int begin, int end,
                       mxc_ndarray *(*get)(const mxc_executor *executor, int64_t i)) {
    int n = 0;
    for (int i = begin; i < end; i++)
        for (int c = 0; c < trainer->n_contexts; c++)
            trainer->values[n++] = get(trainer->executors[c], trainer->trained_args[i]);
    return n;
}

/* The first of the parameters before end that are pushed together: as many as fit into GROUP_BYTES. */
static int group_begin(const mxci_trainer *trainer, int end) {
    size_t bytes = 0;
    int begin = end;
    while (begin > 0) {
        bytes += mxc_ndarray_bytes(mxc_executor_arg(trainer->executors[0], trainer->trained_args[begin - 1]));
        if (bytes > GROUP_BYTES && begin < end)
            break;
        begin--;
    }
    return begin;
}

/* Sums arrive from other processes group by group, and each group is updated when it arrives; but a loss scale is
 * checked on all gradients together, and so is their norm. */
static int is_updated_by_group(const mxci_trainer *trainer) {
    return trainer->is_synchronous && !trainer->loss_scale && !(trainer->options->clip_norm > 0);
}

/* Push all gradients, the last group first, as backward computes them, with priorities by which the first parameters,
 * which the next forward pass needs first, overtake. Updates are held, so that few operators make them. */
static mxc_status push_all(mxci_trainer *trainer) {
    for (int begin, end = trainer->n_trained; end > 0; end = begin) {
        begin = group_begin(trainer, end);
        int n = list_params(trainer, begin, end, mxc_executor_grad);
        MXC_TRY(mxc_kvstore_push(trainer->store, n, trainer->all_keys + begin * trainer->n_contexts, trainer->values,
                                 -begin));
        if (begin > 0 && is_updated_by_group(trainer)) {
            MXC_TRY(mxci_optimizer_flush(trainer->optimizer));
            mxci_optimizer_hold(trainer->optimizer);
        }
    }
    return MXC_OK;
}

/* Push all gradients to the store, then pull the new values into all contexts. */
static mxc_status update_params(mxci_trainer *trainer) {
    double lr =
        mxc_schedule_lr(&trainer->options->schedule, trainer->options->learning_rate, trainer->progress.updates);
    mxc_optimizer_set_lr(trainer->optimizer, lr);
    trainer->progress.lr = lr;
    mxci_optimizer_hold(trainer->optimizer);
    mxc_status status = push_all(trainer), flushed = mxci_optimizer_flush(trainer->optimizer);
    MXC_TRY(status != MXC_OK ? status : flushed);
    for (int i = trainer->n_trained - 1; i >= 0; i--) {
        int n = list_params(trainer, i, i + 1, mxc_executor_arg);
        MXC_TRY(mxc_kvstore_pull(trainer->store, n, trainer->all_keys + i * trainer->n_contexts, trainer->values, -i));
    }
    MXC_TRY(mxci_loss_scaling_step(trainer));
    MXC_TRY(mxci_parameter_average_update(trainer));
    trainer->progress.updates++;
    trainer->accumulated = 0;
    return MXC_OK;
}

/* Gradients are added to those of the batches before; the first batch of an update needs zeros. */
static mxc_status clear_gradients(const mxci_trainer *trainer) {
    for (int c = 0; c < trainer->n_contexts; c++)
        for (int i = 0; i < trainer->n_trained; i++)
            MXC_TRY(mxc_ndarray_fill(mxc_executor_grad(trainer->executors[c], trainer->trained_args[i]), 0));
    return MXC_OK;
}

/* For one context, with its part of the labels. */
static mxc_status update_metrics_of(mxci_trainer *trainer, int c, mxc_ndarray *label) {
    int64_t last = mxc_symbol_n_outputs(mxc_executor_symbol(trainer->current[c])) - 1;
    mxc_ndarray *prediction = mxc_executor_output(trainer->current[c], last);
    MXC_TRY(mxc_ndarray_wait_to_read(prediction));
    for (int i = 0; i < trainer->n_metrics; i++)
        MXC_TRY(mxc_metric_update(trainer->metrics[i], label, prediction, 0));
    return MXC_OK;
}

/* In training, padding samples count like others, as they do in the gradient. */
static mxc_status update_metrics(mxci_trainer *trainer, const mxc_batch *batch) {
    mxc_ndarray *label = mxci_feed_find_array(trainer->options->train, batch, trainer->label);
    /* The label may have another first axis than the data: one element for each token of a sample. */
    const int64_t rows = label ? mxc_ndarray_shape(label)->dim[0] / trainer->n_contexts : 0;
    for (int c = 0; c < trainer->n_contexts; c++) {
        mxc_ndarray *part = NULL;
        if (label && trainer->n_contexts > 1)
            MXC_TRY(mxc_ndarray_slice(label, c * rows, (c + 1) * rows, &part));
        mxc_status status = update_metrics_of(trainer, c, part ? part : label);
        mxc_ndarray_release(part);
        MXC_TRY(status);
    }
    return MXC_OK;
}

/* The rate is that of the last half second, so that it follows changes and does not jitter. */
static void update_progress(mxci_trainer *trainer) {
    mxc_fit_progress *p = &trainer->progress;
    int64_t now = mxci_now_ns(), elapsed = now - trainer->window_start;
    p->batch++;
    trainer->window_samples += trainer->batch_size;
    trainer->epoch_samples += trainer->batch_size;
    mxci_fit_metrics_show(trainer, 0);
    if (elapsed < RATE_WINDOW_NS && p->samples_per_second > 0)
        return;
    p->samples_per_second = elapsed > 0 ? (double)trainer->window_samples * 1e9 / (double)elapsed : 0;
    if (elapsed >= RATE_WINDOW_NS) {
        trainer->window_start = now;
        trainer->window_samples = 0;
    }
}

static mxc_status call_callback(mxci_trainer *trainer, int epoch_end) {
    if (!trainer->options->callback)
        return MXC_OK;
    trainer->progress.run = trainer;
    mxc_status status = trainer->options->callback(&trainer->progress, epoch_end, trainer->options->user);
    trainer->progress.run = NULL;
    return status != MXC_OK ? MXC_FAIL(status, "mxc_fit: the callback ended the training") : MXC_OK;
}

const mxc_executor *mxc_fit_executor(const mxc_fit_progress *progress, int context) {
    const mxci_trainer *trainer = progress ? progress->run : NULL;
    return trainer && context >= 0 && context < trainer->n_contexts ? trainer->current[context] : NULL;
}

static mxc_status train_step(mxci_trainer *trainer, const mxc_batch *batch) {
    int64_t accumulate = mxci_trainer_accumulate(trainer);
    if (accumulate > 1 && trainer->accumulated == 0)
        MXC_TRY(clear_gradients(trainer));
    MXC_TRY(compute_gradients(trainer, batch));
    MXC_TRY(mxci_nan_check_predictions(trainer, batch));
    if (++trainer->accumulated == accumulate)
        MXC_TRY(update_params(trainer));
    MXC_TRY(update_metrics(trainer, batch));
    update_progress(trainer);
    MXC_TRY(mxci_nan_check_loss(trainer, batch));
    mxci_progress_batch(trainer);
    return call_callback(trainer, 0);
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static int stop_requested(const mxci_trainer *trainer) {
    return trainer->options->stop && *trainer->options->stop != 0;
}

/* What all processes do next: the minimum over all processes. */
typedef enum next_step { END_EPOCH, STEP_AND_STOP, STEP } next_step;

static mxc_status agree_on_next_step(const mxci_trainer *trainer, const mxc_batch *batch, next_step *out) {
    int64_t value = batch->n_data == 0 ? END_EPOCH : STEP;
    if (trainer->is_synchronous && value == STEP && stop_requested(trainer))
        value = STEP_AND_STOP;
    if (trainer->is_synchronous)
        MXC_TRY(mxci_kvstore_allreduce_min(trainer->store, "next step of mxc_fit", &value));
    *out = (next_step)value;
    return MXC_OK;
}

/* Between two updates: save if it is time, or if the training is to stop here. */
static mxc_status after_batch(mxci_trainer *trainer, next_step next_step) {
    int64_t every = trainer->options->checkpoint_batches, batch = trainer->progress.batch;
    if (trainer->accumulated > 0)
        return MXC_OK;
    if (next_step == STEP_AND_STOP || (!trainer->is_synchronous && stop_requested(trainer))) {
        trainer->progress.interrupted = 1;
        return mxci_checkpoint_write(trainer);
    }
    int is_time = every > 0 && batch / every != (batch - mxci_trainer_accumulate(trainer)) / every;
    return is_time ? mxci_checkpoint_write(trainer) : MXC_OK;
}

/* Batches until the epoch's end or a request to stop. */
static mxc_status run_batches(mxci_trainer *trainer) {
    while (!trainer->progress.interrupted) {
        mxc_batch batch;
        next_step next_step;
        MXC_TRY(mxc_iter_next(trainer->options->train, &batch));
        MXC_TRY(agree_on_next_step(trainer, &batch, &next_step));
        if (next_step == END_EPOCH && trainer->progress.batch == 0)
            return MXC_FAIL(MXC_EINVAL, "mxc_fit: the training iterator has no batch");
        if (next_step == END_EPOCH)
            return trainer->accumulated > 0 ? update_params(trainer) : MXC_OK;
        MXC_TRY(train_step(trainer, &batch));
        MXC_TRY(after_batch(trainer, next_step));
    }
    return MXC_OK;
}

/* Until the last step's updates are done, and with them its backward run. */
static mxc_status await_params(const mxci_trainer *trainer) {
    for (int c = 0; c < trainer->n_contexts; c++)
        for (int i = 0; i < trainer->n_params; i++)
            MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_arg(trainer->executors[c], trainer->param_args[i])));
    return MXC_OK;
}

/* Metrics of one epoch of the validation data, on the first context: the validator shares its parameters. */
static mxc_status validate(mxci_trainer *trainer) {
    if (!trainer->options->valid || trainer->n_metrics == 0)
        return MXC_OK;
    MXC_TRY(await_params(trainer));
    MXC_TRY(mxci_parameter_average_bind(trainer));
    for (int i = 0; i < trainer->n_metrics; i++)
        mxc_metric_reset(trainer->valid_metrics[i]);
    MXC_TRY(mxci_evaluator_run(&trainer->validator, trainer->n_metrics, trainer->valid_metrics));
    mxci_fit_metrics_show(trainer, 1);
    return MXC_OK;
}

static mxc_status record_epoch(mxci_trainer *trainer) {
    const mxc_fit_progress *p = &trainer->progress;
    double values[2 * MXC_FIT_METRICS];
    for (int i = 0; i < p->n_metrics; i++) {
        values[2 * i] = p->metrics[i].train;
        values[2 * i + 1] = p->metrics[i].valid;
    }
    MXC_TRY(mxci_curve_history_add(&trainer->history, (double)p->epoch + 1, values));
    return trainer->options->curve ? mxci_curve_write(trainer->options->curve, &trainer->history) : MXC_OK;
}

/* Prepare the state for the next epoch, then save it. */
static mxc_status enter_next_epoch(mxci_trainer *trainer) {
    mxc_fit_progress *p = &trainer->progress;
    MXC_TRY(mxc_iter_reset(trainer->options->train));
    p->batches = p->batch;
    p->epoch++;
    p->batch = 0;
    mxci_fit_metrics_reset(trainer);
    return mxci_checkpoint_write(trainer);
}

static mxc_status run_epoch(mxci_trainer *trainer) {
    trainer->window_start = trainer->epoch_start = mxci_now_ns();
    trainer->window_samples = trainer->epoch_samples = 0;
    MXC_TRY(run_batches(trainer));
    trainer->progress.samples_per_second =
        (double)trainer->epoch_samples * 1e9 / (double)(mxci_now_ns() - trainer->epoch_start + 1);
    if (trainer->progress.interrupted)
        return MXC_OK;
    MXC_TRY(validate(trainer));
    MXC_TRY(mxci_model_selection_judge(trainer));
    MXC_TRY(record_epoch(trainer));
    mxci_progress_epoch(trainer);
    MXC_TRY(call_callback(trainer, 1));
    return enter_next_epoch(trainer);
}

static mxc_status run_epochs(mxci_trainer *trainer) {
    while (trainer->progress.epoch < trainer->options->epochs && !trainer->progress.interrupted) {
        if (mxci_model_selection_has_ended(trainer)) {
            trainer->progress.stopped_early = 1;
            return MXC_OK;
        }
        MXC_TRY(run_epoch(trainer));
        if (!trainer->is_synchronous && stop_requested(trainer) && trainer->progress.epoch < trainer->options->epochs)
            trainer->progress.interrupted = 1;
    }
    return MXC_OK;
}

mxc_status mxc_fit(const mxc_fit_options *options, mxc_fit_progress *result, mxc_ndarray_list *params) {
    mxci_trainer trainer;
    MXCI_CLEAR(params);
    MXCI_CLEAR(result);
    mxc_fit_options read = standard_options;
    MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_fit_options_init"));
    mxc_status status = mxci_trainer_open(&trainer, &read);
    if (status == MXC_OK)
        status = run_epochs(&trainer);
    if (status == MXC_OK)
        status = await_params(&trainer);
    if (status == MXC_OK)
        status = mxci_loss_scaling_report(&trainer);
    if (status == MXC_OK && params)
        status = mxci_trainer_params(&trainer, params);
    mxci_progress_end(&trainer);
    if (result)
        *result = trainer.progress;
    mxci_trainer_close(&trainer);
    return status;
}
