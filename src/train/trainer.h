/*
 * One training run: what mxc_fit sets up and what its parts (setup, checkpoint, progress) share.
 *
 * A parameter is an argument of the symbol that no iterator feeds. Parameters and auxiliary states are numbered in the
 * order of the symbol's lists; executors[c] holds their arrays on contexts[c].
 */
#ifndef MXCI_TRAIN_TRAINER_H
#define MXCI_TRAIN_TRAINER_H

#include <mxc/train.h>

#include "symbol/graph.h"
#include "train/curve.h"
#include "train/evaluator.h"
#include "train/feed.h"

typedef struct mxci_trainer {
    const mxc_fit_options *options;
    mxc_symbol *symbol; /* what is bound: options' symbol, or one made of it for 16 bits */
    int n_contexts;
    const mxc_context *contexts;
    mxc_executor **executors; /* one per context, for training */
    mxci_feed *feeds;         /* one per context */
    mxci_evaluator validator; /* shares the first executor's parameters; unused without validation data */
    int64_t batch_size;       /* of all contexts together */

    mxci_graph *graph; /* of options' symbol, for its variables' attributes */
    int n_params;
    const char **keys;     /* n_params names, borrowed from the first executor */
    int *param_args;       /* argument index of each */
    mxc_ndarray **values;  /* scratch for calls on the store: n_params * n_contexts */
    const char **all_keys; /* each key n_contexts times */

    mxc_ndarray *loss_scale; /* state of _update_loss_scale, where the store's values are; NULL: none */
    mxc_kvstore *store;
    int is_synchronous; /* several processes make the same steps */
    mxc_optimizer *optimizer;
    mxc_metric *loss, *accuracy; /* NULL where they do not apply */
    const char *label;           /* which array of the iterators they compare the prediction with; NULL: no such */
    mxci_curve_history history;
    mxc_fit_progress progress;

    int64_t window_start, window_samples; /* for samples_per_second: ns, and samples since */
    int64_t epoch_start, epoch_samples;   /* the same since this epoch began, or the run */
    int64_t drawn;                        /* when the progress bar was drawn last, ns */
    int line_is_open;                     /* the cursor stands behind a progress bar */
    int checkpoint_slot;                  /* which of the two files is written next */
    uint32_t checkpoint_crc; /* of the other one, and after how many updates it was written; -1: it is not known */
    int64_t checkpoint_updates;
} mxci_trainer;

/* Bind, initialise or resume, fill the store. On failure mxci_trainer_close still has to be called. */
mxc_status mxci_trainer_open(mxci_trainer *t, const mxc_fit_options *options);
void mxci_trainer_close(mxci_trainer *t);

/* All parameters ("arg:", in f32 where they have such copies) and auxiliary states ("aux:"), retained. */
mxc_status mxci_trainer_params(const mxci_trainer *t, mxc_ndarray_list *out);

/* precise.c: what options.dtype and options.loss_scale ask for, in this order. */
mxc_status mxci_loss_scaling_symbol(mxci_trainer *t);     /* before the binding: symbol */
mxc_status mxci_loss_scaling_scale(mxci_trainer *t);      /* after it: loss_scale, as at the start of a training */
mxc_status mxci_loss_scaling_optimizer(mxci_trainer *t);  /* when there is an optimizer */
mxc_status mxci_loss_scaling_step(const mxci_trainer *t); /* after each update: tell all contexts the scale */
mxc_status mxci_loss_scaling_report(mxci_trainer *t);     /* progress.loss_scale; waits for the last step */
/* 1 if the option says so: f32 copies of weights. */
int mxci_is_16bit_training(const mxc_fit_options *options);

/* measures.c: what is shown of the last output. Open t->loss, t->accuracy and t->label; make another pair of such
 * metrics, each NULL where it does not apply. MXC_ENOMEM. */
mxc_status mxci_fit_metrics_open(mxci_trainer *t);
mxc_status mxci_fit_metrics_create(const mxci_trainer *t, mxc_metric **loss, mxc_metric **accuracy);
/* The operator that the last output comes from, for messages. */
void mxci_fit_metrics_describe(const mxci_trainer *t, char *out, size_t size);

/* Write a checkpoint of the state between two batches; the one before stays whole until it is complete. */
mxc_status mxci_checkpoint_write(mxci_trainer *t);
/* Find the checkpoint in force, if there is one, so that it is not written over; to resume, put the trainer there. */
mxc_status mxci_checkpoint_open(mxci_trainer *t, int *resumed);

/* Report what is not shown, a batch, or an epoch to people, if the options ask for it. */
void mxci_progress_begin(const mxci_trainer *t);
void mxci_progress_batch(mxci_trainer *t);
void mxci_progress_epoch(mxci_trainer *t);
void mxci_progress_end(mxci_trainer *t); /* leave the line of the progress bar */

#endif
