/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training run: the state that mxc_fit (fit.c) and its parts (trainer.c, checkpoint.c, loss_scaling.c,
 * fit_metrics.c, model_selection.c, parameter_average.c, progress.c) share.
 *
 * A parameter is an argument of the symbol that the iterator does not provide. Parameters and auxiliary states are
 * numbered in the order of the symbol's lists; executors[c] holds their arrays on contexts[c]. Frozen parameters have
 * no gradients and are not pushed to the store.
 */
#ifndef MXCI_TRAIN_TRAINER_H
#define MXCI_TRAIN_TRAINER_H

#include <mxc/train.h>

#include "symbol/graph.h"
#include "train/buckets.h"
#include "train/curve.h"
#include "train/evaluator.h"
#include "train/feed.h"
#include "train/parameter_average.h"

typedef struct mxci_trainer {
    const mxc_fit_options *options;
    mxc_symbol *symbol; /* the bound symbol: options->symbol, or that rewritten for mixed precision */
    int n_contexts;
    const mxc_context *contexts;
    mxc_executor **executors; /* one per context, for training */
    mxci_feed *feeds;         /* one per context */
    mxci_buckets *buckets;    /* one per context: further executors for batches of other shapes */
    mxc_executor **current;   /* one per context: that of the latest batch */
    mxci_evaluator validator; /* shares the first executor's parameters; unused without validation data */
    int64_t batch_size;       /* of all contexts together */

    mxci_graph *graph; /* of options' symbol, for its variables' attributes */
    int n_params;
    const char **keys; /* n_params names, borrowed from the first executor */
    int *param_args;   /* argument index of each */
    int n_trained;     /* parameters that are not frozen */
    const char **trained_keys;
    int *trained_args;
    mxc_ndarray **values;  /* scratch for calls on the store: n_trained * n_contexts */
    const char **all_keys; /* each trained key n_contexts times */

    mxc_ndarray *loss_scale; /* state of _update_loss_scale, where the store's values are; NULL: none */
    mxc_kvstore *store;
    int is_synchronous; /* several processes update together */
    mxc_optimizer *optimizer;
    int n_metrics, n_default; /* the default metrics are first, and owned; the others are those of the options */
    mxc_metric *metrics[MXC_FIT_METRICS];
    mxc_metric *valid_metrics[MXC_FIT_METRICS]; /* copies for the validation data, owned */
    int loss, accuracy;                         /* which of metrics; -1: none */
    const char *label; /* the iterators' array that they compare the prediction with; NULL: none */
    int monitored;     /* which of metrics chooses the best model; -1: none */
    int is_best;       /* the epoch that just ended, until its checkpoint is written */
    mxci_parameter_average average;
    int64_t accumulated; /* batches since the last update; 0 whenever a checkpoint is written */
    mxci_curve_history history;
    mxc_fit_progress progress;

    int64_t window_start, window_samples; /* for samples_per_second: ns, and samples since */
    int64_t epoch_start, epoch_samples;   /* the same since this epoch began, or the run */
    int64_t drawn;                        /* when the progress bar was drawn last, ns */
    int line_is_open;                     /* the cursor is at the end of a progress bar */
    int checkpoint_slot;                  /* which of the two files is written next */
    uint32_t checkpoint_crc; /* of the other one, and after how many updates it was written; -1: it is not known */
    int64_t checkpoint_updates;
} mxci_trainer;

/* Bind, initialise or resume, fill the store. On failure mxci_trainer_close still has to be called. */
mxc_status mxci_trainer_open(mxci_trainer *trainer, const mxc_fit_options *options);
void mxci_trainer_close(mxci_trainer *trainer);

/* All parameters ("arg:", in f32 where they have such copies) and auxiliary states ("aux:"), retained. */
mxc_status mxci_trainer_params(const mxci_trainer *trainer, mxc_ndarray_list *out);

/* Parameters ("arg:") and auxiliary states ("aux:") of a list to the arrays on contexts[c]: mxc_executor_load_params.
 */
mxc_status mxci_trainer_load_params(mxci_trainer *trainer, int c, const mxc_ndarray_list *params, unsigned flags);

/* loss_scaling.c: options.dtype and options.loss_scale, in the order of these calls. */
/* Before binding: the symbol rewritten for the options, or a reference to it. */
mxc_status mxci_loss_scaling_symbol(const mxci_trainer *trainer, mxc_symbol *symbol, mxc_symbol **out);
mxc_status mxci_loss_scaling_scale(mxci_trainer *trainer); /* after binding: t->loss_scale, with its initial value */
mxc_status mxci_loss_scaling_optimizer(mxci_trainer *trainer);  /* after the optimizer is created */
mxc_status mxci_loss_scaling_step(const mxci_trainer *trainer); /* after each update: copy the scale to all contexts */
mxc_status mxci_loss_scaling_report(mxci_trainer *trainer);     /* progress.loss_scale; waits for the last step */
/* 1 if options.dtype is a 16-bit type: weights then have f32 copies. */
int mxci_is_16bit_training(const mxc_fit_options *options);

/* fit_metrics.c: the metrics of the last output. Create t->metrics and their copies, t->label, and the curve's list of
 * metrics. MXC_EINVAL (too many metrics, or two of one name), MXC_ENOMEM. */
mxc_status mxci_fit_metrics_open(mxci_trainer *trainer);
void mxci_fit_metrics_close(mxci_trainer *trainer);
void mxci_fit_metrics_reset(mxci_trainer *trainer); /* those of the training data */
/* Copy the values of the metrics to the progress: of the training data, or of the validation data. */
void mxci_fit_metrics_show(mxci_trainer *trainer, int of_validation);
/* model_selection.c: the monitored metric. Open after the metrics: MXC_EINVAL, MXC_ENOTFOUND. Judge an epoch before it
 * is counted: progress.best, t->is_best. Has ended: patience epochs have passed without an improvement. */
mxc_status mxci_model_selection_open(mxci_trainer *trainer);
mxc_status mxci_model_selection_judge(mxci_trainer *trainer);
int mxci_model_selection_has_ended(const mxci_trainer *trainer);

/* nan_check.c, unless allow_nan: MXC_EINVAL, with the step and the first array that has a NaN. The predictions are
 * checked between the forward run and the update, some elements of large ones, on the CPU; the loss after metrics. */
mxc_status mxci_nan_check_predictions(const mxci_trainer *trainer, const mxc_batch *batch);
mxc_status mxci_nan_check_loss(const mxci_trainer *trainer, const mxc_batch *batch);

/* Batches for each update, at least 1. */
int64_t mxci_trainer_accumulate(const mxci_trainer *trainer);

/* Text for messages: the operator that computes the last output. */
void mxci_fit_metrics_describe(const mxci_trainer *trainer, char *out, size_t size);

/* Write a checkpoint of the state between two batches; the previous one stays complete until this one is. */
mxc_status mxci_checkpoint_write(mxci_trainer *trainer);
/* Find the current checkpoint, if there is one, so that it is not overwritten; with options.resume, restore it. */
mxc_status mxci_checkpoint_open(mxci_trainer *trainer, int *resumed);

/* With options.show, print which metrics are missing, a batch, or an epoch. */
void mxci_progress_begin(const mxci_trainer *trainer);
void mxci_progress_batch(mxci_trainer *trainer);
void mxci_progress_epoch(mxci_trainer *trainer);
void mxci_progress_end(mxci_trainer *trainer); /* end the line of the progress bar */

#endif
