/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training: initialisers, metrics, learning-rate schedules, checkpoints, and the training loop that combines them.
 * Calls on one metric must not overlap.
 */
#ifndef MXC_TRAIN_H
#define MXC_TRAIN_H

#include <mxc/executor.h>
#include <mxc/io.h>
#include <mxc/kvstore.h>
#include <mxc/optimizer.h>

/* ---- initialisers ------------------------------------------------------------------------------------------------ */

/**
 * Queue the initialisation of one parameter. As in MXNet, the name decides first: parameters whose names end in bias,
 * beta, moving_mean, running_mean or _min become 0, those in gamma, moving_var, running_var or _max become 1. Others
 * follow the rule:
 *   xavier     variance from fan-in and fan-out: rnd_type=uniform|gaussian (uniform), factor_type=avg|in|out (avg),
 *              magnitude=3
 *   msraprelu  xavier with normal numbers and the magnitude 2 / (1 + slope^2): factor_type=avg, slope=0.25
 *   uniform    in [-scale, scale]: scale=0.07
 *   normal     mean 0, standard deviation sigma: sigma=0.01
 *   zero, one
 *   constant   value (required)
 *   orthogonal rows, or columns if there are fewer, of (first axis, others) orthogonal and of the length scale:
 *              scale=1.414, rand_type=uniform|normal (uniform)
 *   bilinear   enlarging transposed convolution, 4 axes
 *   lstmbias   0, and forget_bias=1 for the forget gate
 *   fusedrnn   the parameters of the operator RNN: num_hidden, num_layers, mode=rnn_relu|rnn_tanh|lstm|gru (all three
 *              required), bidirectional=False, forget_bias=1, init (rule for the weights, as text; default uniform)
 *   mixed      by the name: each key is an extended regular expression (POSIX) and its value a rule as text; the first
 *              that matches the beginning of the name decides
 * A rule as text is a name or JSON as MXNet writes it: ["xavier", {"magnitude": 3}].
 * Random numbers come from the random stream of the array's context.
 * @return MXC_ENOTFOUND (lists the rules), MXC_EINVAL, MXC_ESHAPE (a rule needs another shape), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_init_array(const char *rule, int n_params, const char *const *keys,
                                                 const char *const *values, const char *name, mxc_ndarray *array);
/**
 * Queue the initialisation of one parameter by copying the array of its name, with or without "arg:" or "aux:", from a
 * list (MXNet's Load); parameters that the list does not have follow the rule, as in mxc_init_array.
 * @param[null] rule  NULL: parameters that the list does not have are an error
 * @return MXC_ENOTFOUND, MXC_ESHAPE, and the statuses of mxc_init_array
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_init_array_from(const mxc_ndarray_list *list, const char *rule, int n_params,
                                                      const char *const *keys, const char *const *values,
                                                      const char *name, mxc_ndarray *array);

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

typedef struct mxc_metric mxc_metric;
enum { MXC_METRIC_NAME = 64 }; /* bytes of a name, at most, with the final NUL */
/**
 * Create a metric. Names, with the other names that MXNet accepts in parentheses:
 *   accuracy (acc)              share of samples whose most probable class is the label
 *   top_k_accuracy (top_k_acc)  share of samples whose label is among the top_k=5 most probable classes
 *   cross-entropy (ce)          mean of -log(p + eps), where p is the probability of the label, eps=1e-12
 *   nll_loss                    the same
 *   perplexity                  exponential of the mean of -log(p)
 *   f1, mcc                     two classes: F1 score, Matthews correlation coefficient; average=macro, threshold=0.5
 *   auc                         two classes: area under the ROC curve
 *   mse, rmse, mae              mean squared error, its root (average=micro), and mean absolute error
 *   pearsonr                    Pearson's correlation coefficient; average=macro
 *   loss                        mean of the prediction; needs no label
 *   voc_map, voc07_map          mean average precision of detections: area under the curve of precision over recall,
 *                               or its mean at 11 recalls as in VOC 2007; iou_thresh=0.5, pixels=false
 * All take name, which is shown instead. Metrics of classes take ignore_label (None): samples with this label do not
 * count; and axis=1 (perplexity: -1), the axis of the classes. With average=macro the value is the mean of the values
 * of the batches, with micro that over all samples. The others average over all samples, also where MXNet takes the
 * mean of the batches (mse, mae, rmse), which differs if the last batch is smaller.
 * @return MXC_ENOTFOUND (lists the names), MXC_EINVAL, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_metric_create(const char *name, int n_params, const char *const *keys,
                                                    const char *const *values, mxc_metric **out);
/** Metrics that mxc_metric_create accepts: the name at an index (NULL past the end), and documentation generated from
 * the schema (free with mxc_free; MXC_ENOTFOUND, MXC_ENOMEM). */
MXC_API const char *mxc_metric_name_at(int index);
MXC_API MXC_MUST_CHECK mxc_status mxc_metric_describe(const char *name, char **out);

/** Adds a batch to the state of a metric of the program; arguments as of mxc_metric_update, label may be NULL. What it
 *  has changed stays if it fails.
 *  @thread caller
 */
typedef mxc_status (*mxc_metric_update_fn)(mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad, double *state,
                                           void *user);
/** The value; NaN before the first sample.
 *  @thread caller
 */
typedef double (*mxc_metric_value_fn)(const double *state, void *user);
/**
 * Create a metric of the program. Its state consists of n_state doubles, which begin as zeros; the library resets,
 * copies and saves them, so that checkpoints and validation work as with other metrics.
 * @param user              passed to both functions; must outlive the metric and its copies in mxc_fit
 * @param higher_is_better  1: larger values are better, for the choice of the best model
 * @return MXC_EINVAL (name empty or of more than 63 bytes, n_state outside 0 to 2^20, a NULL function), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_metric_create_own(const char *name, int64_t n_state, mxc_metric_update_fn update,
                                                        mxc_metric_value_fn value, void *user, int higher_is_better,
                                                        mxc_metric **out);
/** Destroy a metric. NULL is fine. */
MXC_API void mxc_metric_destroy(mxc_metric *metric);
/**
 * Add a batch to the metric. Waits for both arrays. A sample whose prediction is NaN counts as wrong.
 * @param label       metrics of classes: (N), or the shape of the prediction without the axis of classes. Two classes:
 *                    (N), 0 or 1. Regression: the shape of the prediction. Detection: (N,M,5 or more), the class (below
 *                    0: padding), xmin, ymin, xmax, ymax, and whether the object is difficult
 * @param prediction  metrics of classes: (N,C), or another shape with an axis of classes; accuracy also takes class
 *                    numbers in the shape of the label. Two classes: (N,2), or one score for each label. Detection:
 *                    (N,K,6), the class (below 0: none), score, xmin, ymin, xmax, ymax
 * @param pad         number of rows at the end of the batch to leave out
 * @return MXC_ESHAPE; MXC_EINVAL (a label that is no class, which the message names). Nothing is added then. MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_metric_update(mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction,
                                                    int64_t pad);
/** The value so far; NaN before the first sample that counts. */
MXC_API double mxc_metric_value(const mxc_metric *metric);
/** The name that is shown. */
MXC_API const char *mxc_metric_name(const mxc_metric *metric);
/** 1: higher values are better; 0: lower ones are. */
MXC_API int mxc_metric_higher_is_better(const mxc_metric *metric);
/** Forget all batches. */
MXC_API void mxc_metric_reset(mxc_metric *metric);

/* ---- learning-rate schedules ------------------------------------------------------------------------------------- */

typedef enum mxc_schedule_kind {
    MXC_SCHEDULE_CONSTANT = 0,
    MXC_SCHEDULE_FACTOR = 1,       /* multiplied by factor after every step updates, but at least final_lr */
    MXC_SCHEDULE_POLY = 2,         /* final_lr + (base - final_lr) * (1 - t/total)^power */
    MXC_SCHEDULE_COSINE = 3,       /* final_lr + (base - final_lr) * (1 + cos(pi t/total)) / 2 */
    MXC_SCHEDULE_MULTI_FACTOR = 4, /* multiplied by factor at each of steps, but at least final_lr */
    MXC_SCHEDULE_FUNCTION = 5      /* function(t, base, user) */
} mxc_schedule_kind;
typedef enum mxc_warmup_mode {
    MXC_WARMUP_LINEAR = 0,  /* rises in equal steps from warmup_lr; update warmup - 1 has the base rate */
    MXC_WARMUP_CONSTANT = 1 /* warmup_lr before update warmup - 1 */
} mxc_warmup_mode;
/** The schedulers of MXNet 1.9.1 count updates from 1. Multi-factor and warm-up agree with these at num_update = t + 1,
 *  and so does factor without a warm-up; poly and cosine, which begin with the base rate, at num_update = t. */
typedef struct mxc_schedule {
    /* Default MXC_SCHEDULE_CONSTANT; the formulas are at the enumeration. */
    mxc_schedule_kind kind;
    /* Number of updates: step between two reductions (factor), counted after the warm-up; total until final_lr is
     * reached, the warm-up included (poly, cosine). */
    int64_t step, total;
    /* Factor of each reduction, between 0 and 1 (factor, multi-factor); exponent (poly); lowest rate, default 0
     * (factor, multi-factor, poly, cosine). */
    double factor, power, final_lr;
    /* Number of updates at the start that have a warm-up. Default 0. */
    int64_t warmup;
    /* How the rate changes during the warm-up. Default MXC_WARMUP_LINEAR. */
    mxc_warmup_mode warmup_mode;
    /* Rate at the start of the warm-up. Default 0. */
    double warmup_lr;
    /* Numbers of the updates from which on the rate has been multiplied by factor once more (multi-factor), in rising
     * order, the warm-up included in the count. Borrowed. */
    int n_steps;
    const int64_t *steps;
    /* Returns the rate of update t (function); it is called after the warm-up only. A resumed training continues with
     * the same t, so the function should depend on its arguments alone. @thread caller */
    double (*function)(int64_t t, double base, void *user);
    void *user;
} mxc_schedule;
/** The learning rate of update t (from 0), for the base rate. */
MXC_API double mxc_schedule_lr(const mxc_schedule *schedule, double base, int64_t t);

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/**
 * Queue the scaling of arrays, of one float dtype and context, by min(1, max_norm / (norm + 1e-8)), where norm is the
 * L2 norm of all their elements together.
 * @param[out,null] norm  new array (1,), f32, with the norm before scaling; the caller releases it
 * @return MXC_EINVAL, MXC_EDTYPE, MXC_EDEVICE, MXC_ENOMEM
 * Does not block.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_clip_global_norm(int n, mxc_ndarray *const *arrays, double max_norm,
                                                       mxc_ndarray **norm);

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/** Write <prefix>-symbol.json and <prefix>-%04d.params (names "arg:..." and "aux:..."). Each file is replaced
 *  atomically. Waits for the arrays. */
MXC_API MXC_MUST_CHECK mxc_status mxc_model_save(const char *prefix, int epoch, mxc_symbol *symbol, int64_t n,
                                                 mxc_ndarray *const *arrays, const char *const *names);
/** Read what mxc_model_save wrote.
 *  @param[out,null] symbol, params  not needed if NULL
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_model_load(const char *prefix, int epoch, mxc_symbol **symbol,
                                                 mxc_ndarray_list *params);

/**
 * Find the files of a saved model.
 * @param where   directory with one model, or prefix of its files, such as "models/net" for models/net-symbol.json
 * @param epoch   number in the name of the .params file, which need not exist; -1: the best parameters
 *                (<prefix>-best.params), or else those of the last epoch, or else the only .params file beside the
 * symbol
 * @param prefix, params  prefix of the files, and path of the .params file; the caller frees them with mxc_free
 * @return MXC_ENOTFOUND, MXC_EINVAL (a directory with several models), MXC_EIO, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_model_find(const char *where, int epoch, char **prefix, char **params);

/* ---- training loop ----------------------------------------------------------------------------------------------- */

enum { MXC_FIT_METRICS = 8 }; /* most metrics of one training */
/** A metric of a training run; NaN where there is no value. */
typedef struct mxc_fit_metric {
    char name[MXC_METRIC_NAME];
    double train; /* of the training data of this epoch so far */
    double valid; /* of the last validation */
} mxc_fit_metric;

/** The state of a training run, for callbacks and as its result. */
typedef struct mxc_fit_progress {
    int64_t epoch, epochs;     /* current (from 0), total */
    int64_t batch;             /* batches finished in this epoch */
    int64_t batches;           /* batches per epoch; 0 until known */
    int64_t updates;           /* parameter updates since the start of training */
    double samples_per_second; /* averaged over about half a second */
    /* Of the training data of this epoch so far; NaN if not available. The operator of the last output determines the
     * loss: cross-entropy (SoftmaxOutput, softmax), mean squared error (LinearRegressionOutput,
     * LogisticRegressionOutput), mean absolute error (MAERegressionOutput), mean output (MakeLoss). accuracy is the
     * metric of this name, by default that of (N,C) predictions. */
    double loss, accuracy;
    double valid_loss, valid_accuracy; /* of the last validation; NaN before the first */
    int n_metrics;                     /* the loss, if there is one, then the others */
    mxc_fit_metric metrics[MXC_FIT_METRICS];
    double lr;         /* learning rate */
    double loss_scale; /* of the next step; set at the end of training and when a checkpoint is written; 0: none */
    int interrupted;   /* 1: stopped on request, after writing a checkpoint */
    /* Of the monitored metric: its best value, NaN if there is none yet, and after how many epochs it was reached;
     * while there is none, the epochs after which a run was resumed that monitored none or another metric. */
    double best;
    int64_t best_epoch;
    int stopped_early; /* 1: patience epochs passed without a better model */
    const void *run;   /* of mxc_fit_executor; NULL outside of callbacks */
} mxc_fit_progress;

/** Called after each batch (epoch_end 0) and each epoch (epoch_end 1). Any status but MXC_OK ends the training, which
 *  returns it.
 *  @thread caller
 */
typedef mxc_status (*mxc_fit_callback)(const mxc_fit_progress *progress, int epoch_end, void *user);

/**
 * The executor of the latest batch on a context (0: the first), borrowed until the callback returns; for use inside
 * callbacks. It gives the parameters, auxiliary states and gradients by name (mxc_executor_find_arg,
 * mxc_executor_find_aux, mxc_executor_find_grad), the outputs, and lists of names. The parameters are those after the
 * latest update, in the dtype of the training; the gradients are the sums since the update before, without
 * rescale_grad, and as clip_norm has left them if there is one context. They may be read only.
 * @return NULL if the progress is not that of a callback, or there is no such context
 */
MXC_API const mxc_executor *mxc_fit_executor(const mxc_fit_progress *progress, int context);

/** Gives the network for batches of a bucket (mxc_batch.bucket), as a new reference.
 *  @thread caller
 */
typedef mxc_status (*mxc_bucket_symbol_fn)(int64_t bucket, void *user, mxc_symbol **out);

/** Options of mxc_fit. Initialise them with mxc_fit_options_init, which sets the defaults. Everything is borrowed for
 *  the call. */
typedef struct mxc_fit_options {
    /* Set by mxc_fit_options_init. */
    size_t size;
    /* The network. Its last output is the prediction. Required. */
    mxc_symbol *symbol;
    /* Iterator over the training data. Required. */
    mxc_iter *train;
    /* Iterator over the validation data, not the same as train. Default NULL: no validation. */
    mxc_iter *valid;
    /* Function that gives the networks of the buckets, for iterators whose batches differ in length, such as
     * BucketSentenceIter. It is called once for each bucket with other shapes than the iterator describes, those of the
     * largest bucket, for which symbol is. All networks have the same parameters and auxiliary states, which they
     * share, and as inputs the arrays of the iterator in the shapes of the bucket. It must outlive the call, with
     * bucket_user. Default NULL: symbol is valid for all shapes. */
    mxc_bucket_symbol_fn bucket_symbol;
    void *bucket_user;
    /* Devices that each batch is divided over evenly. Default: cpu(0). */
    int n_contexts;
    const mxc_context *contexts;
    /* Number of passes over the training data. Default 1. */
    int64_t epochs;
    /* Number of batches per epoch, for the progress bar. Default 0: determined during the first epoch. */
    int64_t epoch_batches;
    /* Name of the optimizer, see mxc_optimizer_create. Default "sgd". */
    const char *optimizer;
    /* Parameters of the optimizer. Default none. rescale_grad is set to 1 / batch size. */
    int n_optimizer_params;
    const char *const *optimizer_keys, *const *optimizer_values;
    /* Base learning rate. Default 0.01. */
    double learning_rate;
    /* How the learning rate changes with the updates. Default: constant. */
    mxc_schedule schedule;
    /* Rule that initialises parameters, see mxc_init_array. Default "xavier". The attribute __init__ of a variable
     * takes precedence: the name of a rule, or JSON as MXNet writes it. Attributes lr_mult and wd_mult of a variable
     * are factors on its learning rate and weight decay. */
    const char *initializer;
    int n_initializer_params;
    const char *const *initializer_keys, *const *initializer_values;
    /* Initial values of all parameters and auxiliary states, as mxc_model_load returns them, with the shapes that
     * mxc_executor_load_params expects; dtypes are converted. Ignored when resuming. Default NULL: initializer. */
    const mxc_ndarray_list *initial_params;
    /* mxc_params_flags for initial_params: with MXC_PARAMS_ALLOW_MISSING the parameters that are not in the list are
     * initialised by the rule, with MXC_PARAMS_ALLOW_EXTRA those that the network does not have are ignored. Default
     * MXC_PARAMS_STRICT: either is an error. */
    unsigned initial_params_flags;
    /* Patterns of the names of parameters that are not trained: * stands for any characters, ? for one. They get no
     * gradient and no optimizer state. Auxiliary states, such as the moving averages of BatchNorm, are not parameters:
     * use_global_stats of BatchNorm keeps them. Default none. */
    int n_frozen;
    const char *const *frozen;
    /* Type of the key-value store that is created for the call if store is NULL. Default "local". */
    const char *kvstore;
    /* A store without keys, which the call fills. In a distributed store this process is one of several that train
     * together, each on its own part of the data. With dist_sync and dist_device_sync the effective batch consists of
     * the batches of all workers, an epoch ends when the first worker has no more data, and all stop when one is asked
     * to. Default NULL: a store of type kvstore. */
    mxc_kvstore *store;
    /* Number of batches per update, whose gradients are summed; rescale_grad takes account of it. The result is that of
     * batches of so many times the size, except for layers that compute with the batch, such as BatchNorm. The last
     * update of an epoch may have fewer batches. Checkpoints are written between updates. Default 0, or 1: each batch.
     */
    int64_t accumulate;
    /* Largest L2 norm of all gradients together, by which they are scaled down (see mxc_clip_global_norm), before the
     * optimizer clips by clip_gradient. Not with dist_async or shard=true. Default 0: off. */
    double clip_norm;
    /* Decay per update of an exponential moving average of the parameters, such as 0.999: average = ema * average +
     * (1 - ema) * parameter, which begins with the initial values. Validation, saved models and the result use the
     * averages; training and checkpoints keep the parameters too. Default 0: none. */
    double ema;
    /* Seed of the random streams; worker r uses seed + r. Default 0. */
    uint64_t seed;
    /* "float16" or "bfloat16": mixed precision. Operators with parameters compute in this dtype on weights of this
     * dtype; float32 master copies are kept, updated and saved; losses are computed in float32. Default NULL, or
     * "float32": the dtypes of the symbol. */
    const char *dtype;
    /* Factor on gradients during backward, against underflow: a number, or "dynamic": starts at 65536, is halved when a
     * gradient is not finite, and is doubled after 2000 steps in a row with finite gradients. A step with a gradient
     * that is not finite changes no parameter, but it changes the statistics of BatchNorm and counts as an update.
     * Default NULL: "dynamic" with float16, none otherwise. */
    const char *loss_scale;
    /* Prefix of the checkpoint files, which are written after each epoch and on interruption: <prefix>.last, .state0
     * and .state1 for resuming, and the model of each epoch, as mxc_model_save writes it. Worker r > 0 of a distributed
     * training appends .worker<r> to the prefix and saves no models; with dist_async only worker 0 saves. Default
     * NULL: no checkpoints. */
    const char *checkpoint;
    /* Also write a checkpoint after every so many batches. Default 0: only after epochs. */
    int64_t checkpoint_batches;
    /* Keep the models of the last so many epochs only. Default 0: all. */
    int64_t keep_models;
    /* Name of the metric by which epochs are compared, or "loss": its value of the validation data, or of the training
     * data if there are no others. The metric decides whether higher or lower values are better. Workers use the value
     * of worker 0. Default NULL: the loss, or else the last metric. */
    const char *monitor;
    /* 1: write the parameters of the best epoch to <checkpoint>-best.params. Default 0. */
    int save_best;
    /* Stop after so many epochs without an improvement of the monitored metric. A run that is resumed with another
     * monitored metric, or that had none, begins to count there. Default 0: train all epochs. */
    int64_t patience;
    /* A value is an improvement, also for save_best, if it is better by more than this. Default 0. */
    double min_delta;
    /* 1: continue from the checkpoint if there is one. Default 0. */
    int resume;
    /* 1: a new training may replace an existing checkpoint and models of the same prefix; until its first checkpoint is
     * written, the previous one remains valid. Default 0: it fails with MXC_EEXIST if there are any, except those of a
     * run that was killed before its first checkpoint. */
    int overwrite;
    /* Metrics with different names that are computed of the last output and its label besides the loss, at most 7: with
     * the training data in these objects, which are reset in each epoch, and with the validation data in copies.
     * Default 0: the accuracy, if the output operator is one of classification. The loss is always computed if it is
     * known; a metric of the same name takes its place. */
    int n_metrics;
    mxc_metric *const *metrics;
    /* Path of an SVG file for the learning curves, written after each epoch: a panel for each of the first four
     * metrics. Default NULL: none. */
    const char *curve;
    /* 1: report progress on stderr, as a progress bar on a terminal and as lines otherwise. Default 0. */
    int show;
    /* 1: continue when the loss or a prediction is NaN. Default 0: fail with MXC_EINVAL and name the step and, where it
     * is found, the first array with a NaN. On the CPU a sample of about 4096 elements of the prediction is checked
     * before each update, and the batch, the parameters and the outputs of the nodes are searched. On GPUs, and where
     * the sample has no NaN, the loss alone is checked, if there is one, after the update, and only the batch is
     * searched. */
    int allow_nan;
    /* When this becomes non-zero (a signal handler may set it), the training finishes the step, writes a checkpoint and
     * returns. Default NULL. @length 1 */
    volatile int *stop;
    /* Called after each batch and each epoch, with user. Default NULL. */
    mxc_fit_callback callback;
    void *user;
} mxc_fit_options;
/** Set the defaults; size is sizeof(mxc_fit_options), of which no more is written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_fit_options_init(mxc_fit_options *options, size_t size);

/**
 * Train a network. A run that was killed and resumed ends with the same weights, bit for bit, as one that was not, for
 * the same options, data and degree of parallelism. Blocks.
 * @param[out,null] result  final state
 * @param[out,null] params  trained parameters "arg:..." and "aux:...", which the caller releases
 * @return MXC_OK, also when interrupted (see result); MXC_ENOTFOUND if the iterator does not provide a label or another
 *         argument that cannot be a parameter; MXC_EEXIST, see overwrite; and all statuses of the functions it uses
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_fit(const mxc_fit_options *options, mxc_fit_progress *result,
                                          mxc_ndarray_list *params);

/**
 * Run a network over an iterator and update n_metrics metrics. Blocks.
 * @param params  parameters for everything that the iterator does not provide, named and checked as by
 *                mxc_executor_bind_params and converted to the dtypes of the symbol; others in the list are ignored
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_evaluate(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data,
                                               mxc_context context, int n_metrics, mxc_metric *const *metrics);
MXC_API MXC_MUST_CHECK mxc_status mxc_evaluate_on(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data,
                                                  int device_type, int device_id, int n_metrics,
                                                  mxc_metric *const *metrics);

#endif
