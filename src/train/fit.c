/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training loop. One step copies the batch, runs forward and backward, pushes gradients and pulls parameters. All
 * of this is queued; the thread waits only for the prediction, which the metrics need.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "kvstore/kvstore.h"
#include "optimizer/optimizer.h"
#include "train/metric.h"
#include "train/trainer.h"

#define RATE_WINDOW_NS INT64_C(500000000)
#define GROUP_BYTES ((size_t)1 << 20) /* of parameters that are pushed together */

void mxc_fit_options_init(mxc_fit_options *options) {
    if (!options)
        return;
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->epochs = 1;
    options->optimizer = "sgd";
    options->learning_rate = 0.01;
    options->initializer = "xavier";
    options->kvstore = "local";
}

/* ---- one step ---------------------------------------------------------------------------------------------- */

static mxc_status compute_gradients(mxci_trainer *t, const mxc_batch *batch) {
    for (int c = 0; c < t->n_contexts; c++) {
        MXC_TRY(mxci_feed_copy(&t->feeds[c], batch, c, t->n_contexts));
        MXC_TRY(mxc_executor_forward(t->executors[c], 1));
        MXC_TRY(mxc_executor_backward(t->executors[c], 0, NULL));
    }
    return MXC_OK;
}

/* Parameters [begin, end) in every context, to t->values, as t->all_keys has them. */
static int list_params(mxci_trainer *t, int begin, int end,
                       mxc_ndarray *(*get)(const mxc_executor *executor, int64_t i)) {
    int n = 0;
    for (int i = begin; i < end; i++)
        for (int c = 0; c < t->n_contexts; c++)
            t->values[n++] = get(t->executors[c], t->param_args[i]);
    return n;
}

/* Gradients to the store and new values back; the first parameters matter most. */
static mxc_status push_params(mxci_trainer *t, int begin, int end) {
    int n = list_params(t, begin, end, mxc_executor_grad);
    return mxc_kvstore_push(t->store, n, t->all_keys + begin * t->n_contexts, t->values, -begin);
}

static mxc_status pull_params(mxci_trainer *t, int i) {
    int n = list_params(t, i, i + 1, mxc_executor_arg);
    return mxc_kvstore_pull(t->store, n, t->all_keys + i * t->n_contexts, t->values, -i);
}

/* The first of the parameters before end that are pushed together: as many as fit into GROUP_BYTES. */
static int group_begin(const mxci_trainer *t, int end) {
    size_t bytes = 0;
    int begin = end;
    while (begin > 0) {
        bytes += mxc_ndarray_bytes(mxc_executor_arg(t->executors[0], t->param_args[begin - 1]));
        if (bytes > GROUP_BYTES && begin < end)
            break;
        begin--;
    }
    return begin;
}

/* Sums arrive from other processes group by group, and each group is updated when it arrives; but a loss scale is
 * checked on all gradients together. */
static int is_updated_by_group(const mxci_trainer *t) {
    return t->is_synchronous && !t->loss_scale;
}

/* Push all gradients, the last group first, as backward computes them. Updates are held, so that few operators make
 * them. */
static mxc_status push_all(mxci_trainer *t) {
    for (int begin, end = t->n_params; end > 0; end = begin) {
        begin = group_begin(t, end);
        MXC_TRY(push_params(t, begin, end));
        if (begin > 0 && is_updated_by_group(t)) {
            MXC_TRY(mxci_optimizer_flush(t->optimizer));
            mxci_optimizer_hold(t->optimizer);
        }
    }
    return MXC_OK;
}

static mxc_status push_and_pull(mxci_trainer *t) {
    mxci_optimizer_hold(t->optimizer);
    mxc_status status = push_all(t), flushed = mxci_optimizer_flush(t->optimizer);
    MXC_TRY(status != MXC_OK ? status : flushed);
    for (int i = t->n_params - 1; i >= 0; i--)
        MXC_TRY(pull_params(t, i));
    return mxci_loss_scaling_step(t);
}

static mxc_status update_params(mxci_trainer *t) {
    double lr = mxc_schedule_lr(&t->options->schedule, t->options->learning_rate, t->progress.updates);
    mxc_optimizer_set_lr(t->optimizer, lr);
    t->progress.lr = lr;
    MXC_TRY(push_and_pull(t));
    t->progress.updates++;
    return MXC_OK;
}

/* For one context, with its part of the labels. */
static mxc_status update_metrics_of(mxci_trainer *t, int c, mxc_ndarray *label) {
    int64_t last = mxc_symbol_n_outputs(t->options->symbol) - 1;
    mxc_ndarray *prediction = mxc_executor_output(t->executors[c], last);
    MXC_TRY(mxc_ndarray_wait_to_read(prediction));
    if (t->loss)
        MXC_TRY(mxc_metric_update(t->loss, label, prediction, 0));
    return t->accuracy ? mxc_metric_update(t->accuracy, label, prediction, 0) : MXC_OK;
}

/* In training, padding samples count like others, as they do in the gradient. */
static mxc_status update_metrics(mxci_trainer *t, const mxc_batch *batch) {
    int64_t rows = t->batch_size / t->n_contexts;
    mxc_ndarray *label = mxci_feed_find_array(t->options->train, batch, t->label);
    for (int c = 0; c < t->n_contexts; c++) {
        mxc_ndarray *part = NULL;
        if (label && t->n_contexts > 1)
            MXC_TRY(mxc_ndarray_slice(label, c * rows, (c + 1) * rows, &part));
        mxc_status status = update_metrics_of(t, c, part ? part : label);
        mxc_ndarray_release(part);
        MXC_TRY(status);
    }
    return MXC_OK;
}

static void update_progress(mxci_trainer *t) {
    mxc_fit_progress *p = &t->progress;
    int64_t now = mxci_now_ns(), elapsed = now - t->window_start;
    p->batch++;
    t->window_samples += t->batch_size;
    t->epoch_samples += t->batch_size;
    p->loss = mxc_metric_value(t->loss);
    p->accuracy = mxc_metric_value(t->accuracy);
    if (elapsed < RATE_WINDOW_NS && p->samples_per_second > 0)
        return;
    p->samples_per_second = elapsed > 0 ? (double)t->window_samples * 1e9 / (double)elapsed : 0;
    if (elapsed >= RATE_WINDOW_NS) {
        t->window_start = now;
        t->window_samples = 0;
    }
}

static mxc_status call_callback(const mxci_trainer *t, int epoch_end) {
    if (!t->options->callback)
        return MXC_OK;
    mxc_status status = t->options->callback(&t->progress, epoch_end, t->options->user);
    return status != MXC_OK ? MXC_FAIL(status, "mxc_fit: the callback ended the training") : MXC_OK;
}

/* A network whose loss is NaN learns nothing more. */
static mxc_status check_loss(const mxci_trainer *t) {
    const mxc_fit_progress *p = &t->progress;
    double sum = 0;
    int64_t count;
    if (t->loss && !t->options->allow_nan)
        mxci_metric_get_sums(t->loss, &sum, &count);
    if (!isnan(sum))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL,
                    "mxc_fit: the loss (%s) is NaN after batch %lld of epoch %lld (update %lld): the data "
                    "hold NaN, or the learning rate is too high (%g); allow_nan goes on",
                    mxc_metric_name(t->loss), (long long)p->batch, (long long)p->epoch + 1, (long long)p->updates,
                    p->lr);
}

static mxc_status train_step(mxci_trainer *t, const mxc_batch *batch) {
    MXC_TRY(compute_gradients(t, batch));
    MXC_TRY(update_params(t));
    MXC_TRY(update_metrics(t, batch));
    update_progress(t);
    MXC_TRY(check_loss(t));
    mxci_progress_batch(t);
    return call_callback(t, 0);
}

/* ---- epochs ------------------------------------------------------------------------------------------------ */

static int stop_requested(const mxci_trainer *t) {
    return t->options->stop && *t->options->stop != 0;
}

/* What all processes do next: the minimum over all processes. */
typedef enum next_step { END_EPOCH, STEP_AND_STOP, STEP } next_step;

static mxc_status agree_on_next_step(const mxci_trainer *t, const mxc_batch *batch, next_step *out) {
    int64_t value = batch->n_data == 0 ? END_EPOCH : STEP;
    if (t->is_synchronous && value == STEP && stop_requested(t))
        value = STEP_AND_STOP;
    if (t->is_synchronous)
        MXC_TRY(mxci_kvstore_allreduce_min(t->store, "next step of mxc_fit", &value));
    *out = (next_step)value;
    return MXC_OK;
}

/* Between two batches: save if it is time, or if the training is to stop here. */
static mxc_status after_batch(mxci_trainer *t, next_step next_step) {
    int64_t every = t->options->checkpoint_batches;
    if (next_step == STEP_AND_STOP || (!t->is_synchronous && stop_requested(t))) {
        t->progress.interrupted = 1;
        return mxci_checkpoint_write(t);
    }
    return every > 0 && t->progress.batch % every == 0 ? mxci_checkpoint_write(t) : MXC_OK;
}

/* Batches until the epoch's end or a request to stop. */
static mxc_status run_batches(mxci_trainer *t) {
    while (!t->progress.interrupted) {
        mxc_batch batch;
        next_step next_step;
        MXC_TRY(mxc_iter_next(t->options->train, &batch));
        MXC_TRY(agree_on_next_step(t, &batch, &next_step));
        if (next_step == END_EPOCH)
            return t->progress.batch > 0 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "mxc_fit: the training iterator has no batch");
        MXC_TRY(train_step(t, &batch));
        MXC_TRY(after_batch(t, next_step));
    }
    return MXC_OK;
}

/* Until the last step's updates are done, and with them its backward run. */
static mxc_status await_params(const mxci_trainer *t) {
    for (int c = 0; c < t->n_contexts; c++)
        for (int i = 0; i < t->n_params; i++)
            MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_arg(t->executors[c], t->param_args[i])));
    return MXC_OK;
}

static mxc_status validate(mxci_trainer *t) {
    mxc_metric *loss, *accuracy, *metrics[2];
    int n = 0;
    if (!t->options->valid || (!t->loss && !t->accuracy))
        return MXC_OK;
    MXC_TRY(await_params(t));
    mxc_status status = mxci_fit_metrics_create(t, &loss, &accuracy);
    if (loss)
        metrics[n++] = loss;
    if (accuracy)
        metrics[n++] = accuracy;
    if (status == MXC_OK)
        status = mxci_evaluator_run(&t->validator, n, metrics);
    if (status == MXC_OK) {
        t->progress.valid_loss = mxc_metric_value(loss);
        t->progress.valid_accuracy = mxc_metric_value(accuracy);
    }
    mxc_metric_destroy(loss);
    mxc_metric_destroy(accuracy);
    return status;
}

static mxc_status record_epoch(mxci_trainer *t) {
    const mxc_fit_progress *p = &t->progress;
    const mxci_curve_point point = {(double)p->epoch + 1, p->loss, p->accuracy, p->valid_loss, p->valid_accuracy};
    MXC_TRY(mxci_curve_history_add(&t->history, &point));
    return t->options->curve ? mxci_curve_write(t->options->curve, &t->history) : MXC_OK;
}

/* Prepare the state for the next epoch, then save it. */
static mxc_status enter_next_epoch(mxci_trainer *t) {
    mxc_fit_progress *p = &t->progress;
    MXC_TRY(mxc_iter_reset(t->options->train));
    p->batches = p->batch;
    p->epoch++;
    p->batch = 0;
    mxc_metric_reset(t->loss);
    mxc_metric_reset(t->accuracy);
    return mxci_checkpoint_write(t);
}

static mxc_status run_epoch(mxci_trainer *t) {
    t->window_start = t->epoch_start = mxci_now_ns();
    t->window_samples = t->epoch_samples = 0;
    MXC_TRY(run_batches(t));
    t->progress.samples_per_second = (double)t->epoch_samples * 1e9 / (double)(mxci_now_ns() - t->epoch_start + 1);
    if (t->progress.interrupted)
        return MXC_OK;
    MXC_TRY(validate(t));
    MXC_TRY(record_epoch(t));
    mxci_progress_epoch(t);
    MXC_TRY(call_callback(t, 1));
    return enter_next_epoch(t);
}

static mxc_status run_epochs(mxci_trainer *t) {
    while (t->progress.epoch < t->options->epochs && !t->progress.interrupted) {
        MXC_TRY(run_epoch(t));
        if (!t->is_synchronous && stop_requested(t) && t->progress.epoch < t->options->epochs)
            t->progress.interrupted = 1;
    }
    return MXC_OK;
}

mxc_status mxc_fit(const mxc_fit_options *options, mxc_fit_progress *result, mxc_ndarray_list *params) {
    mxci_trainer t;
    MXCI_CLEAR(params);
    MXCI_CLEAR(result);
    MXC_TRY(MXCI_SIZED(options, "mxc_fit_options_init"));
    mxc_status status = mxci_trainer_open(&t, options);
    if (status == MXC_OK)
        status = run_epochs(&t);
    if (status == MXC_OK)
        status = await_params(&t);
    if (status == MXC_OK)
        status = mxci_loss_scaling_report(&t);
    if (status == MXC_OK && params)
        status = mxci_trainer_params(&t, params);
    mxci_progress_end(&t);
    if (result)
        *result = t.progress;
    mxci_trainer_close(&t);
    return status;
}
