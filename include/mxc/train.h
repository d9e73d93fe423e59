/*
 * Training: initialisers, metrics, learning-rate schedules, checkpoints and the loop that ties them together.
 */
#ifndef MXC_TRAIN_H
#define MXC_TRAIN_H

#include <mxc/executor.h>
#include <mxc/io.h>
#include <mxc/kvstore.h>
#include <mxc/optimizer.h>

/* ---- initialisers ------------------------------------------------------------------------------------------ */

/**
 * Queue filling one array by its name, as MXNet does: names ending in bias, beta, moving_mean: 0; in gamma, moving_var:
 * 1; others by the rule: "xavier" (rnd_type=uniform|gaussian, factor_type=avg|in|out, magnitude=3), "uniform"
 * (scale=0.07), "normal" (sigma=0.01), "zero", "one", "constant" (value). Numbers come from the random stream of the
 * array's context. MXC_ENOTFOUND, MXC_EINVAL, MXC_ESHAPE (xavier needs two axes), MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_init_array(const char *rule, int n_params, const char *const *keys,
                                                 const char *const *values, const char *name, mxc_ndarray *array);

/* ---- metrics ----------------------------------------------------------------------------------------------- */

typedef struct mxc_metric mxc_metric;
/**
 * Make a metric: "accuracy", "top_k_accuracy" (top_k=5), "cross-entropy" (eps=1e-12), each with ignore_label=None
 * (samples with this label do not count); "mse", "mae"; "loss", the mean of the prediction, which needs no label.
 * Status: MXC_ENOTFOUND, MXC_EINVAL, MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_metric_create(const char *name, int n_params, const char *const *keys,
                                                    const char *const *values, mxc_metric **out);
MXC_API void mxc_metric_destroy(mxc_metric *metric); /* NULL is fine */
/** Add a batch, leaving out the last pad rows. label (N) or (N,...), prediction (N,C) or as label. Waits for both. A
 *  sample with a prediction that is NaN is no hit. MXC_ESHAPE, MXC_EINVAL (cross-entropy: a label that is no class,
 *  named); nothing is added then. */
MXC_API MXC_MUST_CHECK mxc_status mxc_metric_update(mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction,
                                                    int64_t pad);
MXC_API double mxc_metric_value(const mxc_metric *metric); /* NaN before the first sample that counts */
MXC_API const char *mxc_metric_name(const mxc_metric *metric);
MXC_API void mxc_metric_reset(mxc_metric *metric);

/* ---- learning-rate schedules ------------------------------------------------------------------------------- */

typedef enum mxc_schedule_kind {
    MXC_SCHEDULE_CONSTANT = 0,
    MXC_SCHEDULE_FACTOR = 1, /* times factor every step updates, not below final_lr */
    MXC_SCHEDULE_POLY = 2,   /* final_lr + (base - final_lr) * (1 - t/total)^power */
    MXC_SCHEDULE_COSINE = 3  /* final_lr + (base - final_lr) * (1 + cos(pi t/total)) / 2 */
} mxc_schedule_kind;
typedef struct mxc_schedule {
    mxc_schedule_kind kind;
    int64_t step, total; /* in updates */
    double factor, power, final_lr;
    int64_t warmup; /* updates over which the rate rises in a line from 0 */
} mxc_schedule;
/** Rate for update t (from 0). */
MXC_API double mxc_schedule_lr(const mxc_schedule *schedule, double base, int64_t t);

/* ---- gradients --------------------------------------------------------------------------------------------- */

/**
 * Queue scaling the arrays, of one float dtype and context, by min(1, max_norm / (norm + 1e-8)), norm that of all their
 * elements as one vector.
 * @param norm  may be NULL; new array (1,), f32, with the norm before; caller releases
 * Status: MXC_EINVAL, MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM. Does not block.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_clip_global_norm(int n, mxc_ndarray *const *arrays, double max_norm,
                                                       mxc_ndarray **norm);

/* ---- checkpoints ------------------------------------------------------------------------------------------- */

/** Write <prefix>-symbol.json and <prefix>-%04d.params (names "arg:..." and "aux:..."), each replaced in one step. */
MXC_API MXC_MUST_CHECK mxc_status mxc_model_save(const char *prefix, int epoch, mxc_symbol *symbol, int64_t n,
                                                 mxc_ndarray *const *arrays, const char *const *names);
/** Read them. symbol or params may be NULL where not wanted. */
MXC_API MXC_MUST_CHECK mxc_status mxc_model_load(const char *prefix, int epoch, mxc_symbol **symbol,
                                                 mxc_ndarray_list *params);

/* ---- the loop ---------------------------------------------------------------------------------------------- */

/** Where training stands, for callbacks and as the result. */
typedef struct mxc_fit_progress {
    int64_t epoch, epochs;     /* current (from 0), total */
    int64_t batch;             /* batches done in this epoch */
    int64_t batches;           /* in an epoch; 0 while not known */
    int64_t updates;           /* since the beginning */
    double samples_per_second; /* over the last half second or so */
    /* Of this epoch's training so far, NaN where there is none. loss goes by the operator of the last output:
     * cross-entropy (SoftmaxOutput, softmax), mean square error (Linear- and LogisticRegressionOutput), mean absolute
     * error (MAERegressionOutput), mean output (MakeLoss). accuracy: share right of (N,C) predictions */
    double loss, accuracy;
    double valid_loss, valid_accuracy; /* of the last validation; NaN before */
    double lr;
    double loss_scale; /* of the next step; set when the training ends and where a checkpoint is written; 0: none */
    int interrupted;   /* stopped on request, checkpoint written */
} mxc_fit_progress;

/** After each batch (epoch_end 0) and each epoch (1). A status other than MXC_OK ends the training with it. */
typedef mxc_status (*mxc_fit_callback)(const mxc_fit_progress *progress, int epoch_end, void *user);

/** Options of mxc_fit. Start from mxc_fit_options_init. Everything is borrowed for the call. */
typedef struct mxc_fit_options {
    size_t size;
    mxc_symbol *symbol; /* required; its last output is the prediction */
    mxc_iter *train;    /* required */
    mxc_iter *valid;    /* may be NULL; another one than train */
    int n_contexts;     /* the batch is split evenly over them; 0: cpu(0) */
    const mxc_context *contexts;
    int64_t epochs;        /* default 1 */
    int64_t epoch_batches; /* batches in an epoch, if known, for the progress bar; 0: found out in the first epoch */
    const char *optimizer; /* default "sgd"; rescale_grad is set to 1 / batch size */
    int n_optimizer_params;
    const char *const *optimizer_keys, *const *optimizer_values;
    double learning_rate; /* default 0.01 */
    mxc_schedule schedule;
    /* Default "xavier". A variable's attribute __init__ goes first: a rule's name, or JSON as MXNet writes it; so do
     * lr_mult and wd_mult, factors on learning rate and decay of the variable, over what the optimizer has for all. */
    const char *initializer;
    int n_initializer_params;
    const char *const *initializer_keys, *const *initializer_values;
    /* Values to begin from, as mxc_model_load reads them; NULL: the initializer's. Every parameter and auxiliary state
     * has one, of its shape, as mxc_executor_load_params wants it; dtypes are converted. Not used when resuming */
    const mxc_ndarray_list *initial_params;
    const char *kvstore; /* default "local": a store of this type is made for the call, if store is NULL */
    /* A store without keys, which the call fills; NULL: none. In a distributed store this process is one of several
     * that train together, each with its own part of the data. With dist_sync and dist_device_sync a batch is all
     * workers' batches together, an epoch ends when the first of them has no more, and all stop when one is asked. */
    mxc_kvstore *store;
    uint64_t seed; /* of the random streams; default 0. Worker r has seed + r */
    /* "float16" or "bfloat16": operators that meet parameters compute in it, on weights of that dtype beside which f32
     * ones are kept, updated and saved; losses are computed in f32. NULL or "float32": in what the symbol says. */
    const char *dtype;
    /* Factor on gradients on their way through the network, so that small ones do not vanish: a number, or "dynamic":
     * it begins at 65536, is halved when a gradient is not finite, and doubled after 2000 steps where that did not
     * happen. A step with such a gradient changes no parameter (but statistics of BatchNorm, and it counts as an
     * update). NULL: "dynamic" for float16, else none. */
    const char *loss_scale;
    /* Prefix of checkpoint files, written after each epoch and when interrupted; NULL: none. <prefix>.last, .state0 and
     * .state1 are for resuming; the model of each epoch is saved as well, as mxc_model_save does. Worker r > 0 of a
     * distributed training adds .worker<r> to the prefix and saves no models; with dist_async worker 0 alone saves. */
    const char *checkpoint;
    int64_t checkpoint_batches; /* and after every so many batches; 0: not */
    int resume;                 /* go on from the checkpoint if there is one, else begin */
    /* 1: a training that begins may replace the checkpoint and the models with that prefix. 0: it fails with MXC_EEXIST
     * where there are any, but those of a run that was killed before its first checkpoint. Until the first checkpoint
     * is written the one before stays in force. */
    int overwrite;
    const char *curve;  /* write the learning curve there as SVG after each epoch; NULL: not */
    int show;           /* 1: report to stderr, as a progress bar on a terminal and as plain lines otherwise */
    int allow_nan;      /* 1: go on when the loss is NaN. 0: the training fails with MXC_EINVAL, naming the step */
    volatile int *stop; /* non-zero (a signal handler may set it): finish the step, save, return; may be NULL */
    mxc_fit_callback callback;
    void *user;
} mxc_fit_options;
MXC_API void mxc_fit_options_init(mxc_fit_options *options);

/**
 * Train. A run that was killed and resumed ends with the same weights, bit for bit, as one that was not (same options,
 * data and parallelism).
 * @param result  may be NULL
 * @param params  may be NULL; trained parameters "arg:..." and "aux:..." that the caller releases
 * @return statuses of everything it uses; MXC_OK also when interrupted (see result); MXC_ENOTFOUND: the iterator does
 *         not provide a label or another argument that cannot be a parameter; MXC_EEXIST: see overwrite. Blocks.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_fit(const mxc_fit_options *options, mxc_fit_progress *result,
                                          mxc_ndarray_list *params);

/**
 * Run a symbol over an iterator and report metrics (n_metrics of them are updated). Blocks.
 * @param params  for everything that the iterator does not feed, named and checked as by mxc_executor_bind_params;
 *                converted to the symbol's dtypes; further ones are not looked at
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_evaluate(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data,
                                               mxc_context context, int n_metrics, mxc_metric *const *metrics);

#endif
