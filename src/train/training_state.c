/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a training as a list of named arrays, and back.
 *
 * Parameters are "arg:<name>" and auxiliary states "aux:<name>", of the first context. The rest: "counts" i64 (1,8):
 * version, epoch, batch, updates, iterator epoch, iterator position, batches in an epoch, best epoch; "numbers" f64
 * (1,2): lr, the best value of the monitored metric; "monitored" i64 (1,1): the index of that metric among the metrics
 * below, -1 for none; "ema:<name>" for each trained parameter that has an average;
 * "random" i64 (contexts,3): seed, stream, offset; "metric:<name>" f64 (1,n) for each metric: its state; "history" f64
 * (epochs,1 + 2 metrics): epoch, and the training and validation value of each metric, in the order of those arrays;
 * "loss_scale" f32 (2), where losses are scaled: the scale, good steps; and "optimizer:<state>" for each state of the
 * optimizer, among them the f32 copies of parameters in 16 bits.
 */
#include "train/training_state.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "optimizer/optimizer.h"
#include "train/metric.h"

enum { VERSION = 2 };
enum {
    C_VERSION,
    C_EPOCH,
    C_BATCH,
    C_UPDATES,
    C_ITER_EPOCH,
    C_ITER_POSITION,
    C_BATCHES,
    C_BEST_EPOCH,
    N_COUNTS
};                                /* counts */
enum { D_LR, D_BEST, N_NUMBERS }; /* numbers */
#define OPTIMIZER_PREFIX "optimizer:"
#define EMA_PREFIX "ema:"
#define METRIC_PREFIX "metric:"
#define LOSS_SCALE "loss_scale"
#define MONITORED "monitored"

/* ---- lists of named arrays --------------------------------------------------------------------------------------- */

typedef struct named_arrays {
    mxc_ndarray_list list;
    int64_t capacity;
} named_arrays;

static mxc_status named_open(named_arrays *a, int64_t capacity) {
    memset(a, 0, sizeof *a);
    a->capacity = capacity;
    a->list.arrays = mxci_calloc((size_t)capacity, sizeof *a->list.arrays);
    a->list.names = mxci_calloc((size_t)capacity, sizeof *a->list.names);
    if (!a->list.arrays || !a->list.names)
        return MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for %lld arrays", (long long)capacity);
    return MXC_OK;
}

/* Takes over the reference to array, also on failure. */
static mxc_status named_add(named_arrays *a, const char *prefix, const char *name, mxc_ndarray *array) {
    size_t size = strlen(prefix) + strlen(name) + 1;
    char *full = mxci_alloc(size);
    if (!full) {
        mxc_ndarray_release(array);
        return MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for the name %s", name);
    }
    mxci_format(full, size, "%s%s", prefix, name);
    a->list.names[a->list.n] = full;
    a->list.arrays[a->list.n++] = array;
    return MXC_OK;
}

static mxc_status named_add_data(named_arrays *a, const char *name, int64_t rows, int64_t columns, mxc_dtype dtype,
                                 const void *data) {
    const int64_t dims[2] = {rows, columns};
    mxc_ndarray *array;
    MXC_TRY(mxc_ndarray_from_data(2, dims, dtype, data, &array));
    return named_add(a, "", name, array);
}

/* ---- to a list --------------------------------------------------------------------------------------------------- */

/* The parameters themselves; or for models: their averages, or those in f32, which are the copies that the optimizer
 * keeps, and new ones of frozen parameters. */
static mxc_status training_state_add_params(const mxci_trainer *trainer, int masters, named_arrays *a) {
    const mxc_names *aux = mxc_executor_aux_names(trainer->executors[0]);
    for (int i = 0; i < trainer->n_params; i++) {
        mxc_ndarray *master = masters ? mxci_optimizer_master(trainer->optimizer, trainer->keys[i]) : NULL;
        mxc_ndarray *own = mxc_executor_arg(trainer->executors[0], trainer->param_args[i]);
        mxc_ndarray *array, *average = mxci_parameter_average_find(trainer, trainer->param_args[i]);
        if (masters && average)
            master = average;
        if (masters && !master && mxci_is_16bit_training(trainer->options) &&
            (mxc_ndarray_dtype(own) == MXC_F16 || mxc_ndarray_dtype(own) == MXC_BF16))
            MXC_TRY(mxc_ndarray_copy(own, mxc_ndarray_context(own), MXC_F32, &array));
        else
            array = mxc_ndarray_retain(master ? master : own);
        MXC_TRY(named_add(a, "arg:", trainer->keys[i], array));
    }
    for (int64_t i = 0; i < aux->n; i++)
        MXC_TRY(named_add(a, "aux:", aux->items[i], mxc_ndarray_retain(mxc_executor_aux(trainer->executors[0], i))));
    return MXC_OK;
}

static int64_t n_param_arrays(const mxci_trainer *trainer) {
    return trainer->n_params + mxc_executor_aux_names(trainer->executors[0])->n;
}

mxc_status mxci_trainer_params(const mxci_trainer *trainer, mxc_ndarray_list *out) {
    named_arrays a;
    mxc_status status = named_open(&a, n_param_arrays(trainer));
    if (status == MXC_OK)
        status = training_state_add_params(trainer, 1, &a);
    if (status == MXC_OK)
        *out = a.list;
    else
        mxc_ndarray_list_release(&a.list);
    return status;
}

static mxc_status add_counts(const mxci_trainer *trainer, named_arrays *a) {
    const mxc_fit_progress *p = &trainer->progress;
    mxc_iter_state at;
    MXC_TRY(mxc_iter_get_state(trainer->options->train, &at));
    const int64_t counts[N_COUNTS] = {
        [C_VERSION] = VERSION,
        [C_EPOCH] = p->epoch,
        [C_BATCH] = p->batch,
        [C_UPDATES] = p->updates,
        [C_ITER_EPOCH] = (int64_t)at.epoch,
        [C_ITER_POSITION] = at.position,
        [C_BATCHES] = p->batches,
        [C_BEST_EPOCH] = p->best_epoch,
    };
    const double numbers[N_NUMBERS] = {[D_LR] = p->lr, [D_BEST] = p->best};
    const int64_t monitored = trainer->monitored;
    MXC_TRY(named_add_data(a, "counts", 1, N_COUNTS, MXC_I64, counts));
    MXC_TRY(named_add_data(a, MONITORED, 1, 1, MXC_I64, &monitored));
    return named_add_data(a, "numbers", 1, N_NUMBERS, MXC_F64, numbers);
}

/* The states of the metrics belong to the epoch that is under way. */
static mxc_status add_metrics(const mxci_trainer *trainer, named_arrays *a) {
    for (int i = 0; i < trainer->n_metrics; i++) {
        const mxci_metric_state *state = mxci_metric_get_state(trainer->metrics[i]);
        const int64_t dims[2] = {1, state->n};
        mxc_ndarray *array;
        MXC_TRY(mxc_ndarray_from_data(2, dims, MXC_F64, state->values, &array));
        MXC_TRY(named_add(a, METRIC_PREFIX, mxc_metric_name(trainer->metrics[i]), array));
    }
    return named_add_data(a, "history", trainer->history.n, mxci_curve_point_size(&trainer->history), MXC_F64,
                          trainer->history.points);
}

static mxc_status add_random(const mxci_trainer *trainer, named_arrays *a) {
    int64_t *numbers = mxci_calloc((size_t)trainer->n_contexts, 3 * sizeof *numbers);
    mxc_status status = numbers ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "checkpoint: no memory for random streams");
    for (int i = 0; status == MXC_OK && i < trainer->n_contexts; i++) {
        mxc_random state;
        status = mxc_random_get_state(trainer->contexts[i], &state);
        if (status != MXC_OK)
            break;
        numbers[3 * i] = (int64_t)state.seed;
        numbers[3 * i + 1] = (int64_t)state.stream;
        numbers[3 * i + 2] = (int64_t)state.offset;
    }
    if (status == MXC_OK)
        status = named_add_data(a, "random", trainer->n_contexts, 3, MXC_I64, numbers);
    mxci_free(numbers);
    return status;
}

static mxc_status add_all(const mxci_trainer *trainer, const mxc_ndarray_list *optimizer, named_arrays *a) {
    MXC_TRY(add_counts(trainer, a));
    MXC_TRY(add_random(trainer, a));
    MXC_TRY(add_metrics(trainer, a));
    MXC_TRY(training_state_add_params(trainer, 0, a));
    for (int i = 0; i < trainer->average.n; i++)
        MXC_TRY(named_add(a, EMA_PREFIX, trainer->trained_keys[i], mxc_ndarray_retain(trainer->average.values[i])));
    if (trainer->loss_scale)
        MXC_TRY(named_add(a, "", LOSS_SCALE, mxc_ndarray_retain(trainer->loss_scale)));
    for (int64_t i = 0; i < optimizer->n; i++)
        MXC_TRY(named_add(a, OPTIMIZER_PREFIX, optimizer->names[i], mxc_ndarray_retain(optimizer->arrays[i])));
    return MXC_OK;
}

mxc_status mxci_training_state_collect(const mxci_trainer *trainer, mxc_ndarray_list *out) {
    named_arrays a;
    mxc_ndarray_list optimizer;
    memset(out, 0, sizeof *out);
    MXC_TRY(mxc_optimizer_get_states(trainer->optimizer, &optimizer));
    mxc_status status =
        named_open(&a, 6 + trainer->n_metrics + n_param_arrays(trainer) + trainer->average.n + optimizer.n);
    if (status == MXC_OK)
        status = add_all(trainer, &optimizer, &a);
    mxc_ndarray_list_release(&optimizer);
    if (status == MXC_OK)
        *out = a.list;
    else
        mxc_ndarray_list_release(&a.list);
    return status;
}

/* ---- from a list ------------------------------------------------------------------------------------------------- */

/* Append to a view the arrays whose names begin with prefix, under the names after the first skip bytes. Borrowed. */
static void select_arrays(const mxc_ndarray_list *list, const char *prefix, size_t skip, mxc_ndarray_list *view) {
    for (int64_t i = 0; i < list->n; i++)
        if (strncmp(list->names[i], prefix, strlen(prefix)) == 0) {
            view->names[view->n] = list->names[i] + skip;
            view->arrays[view->n++] = list->arrays[i];
        }
}

static mxc_status view_open(mxc_ndarray_list *view, const mxc_ndarray_list *list) {
    *view = (mxc_ndarray_list){0};
    view->arrays = mxci_calloc((size_t)list->n, sizeof *view->arrays);
    view->names = mxci_calloc((size_t)list->n, sizeof *view->names);
    return view->arrays && view->names ? MXC_OK : MXCI_NO_MEMORY("checkpoint", "its arrays");
}

static void view_close(mxc_ndarray_list *view) {
    mxci_free(view->arrays);
    mxci_free(view->names);
}

/* Every context gets the parameters of the first one. */
static mxc_status restore_params(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    mxc_ndarray_list params;
    mxc_status status = view_open(&params, list);
    if (status == MXC_OK) {
        select_arrays(list, "arg:", 0, &params);
        select_arrays(list, "aux:", 0, &params);
    }
    for (int c = 0; status == MXC_OK && c < trainer->n_contexts; c++) {
        status = mxci_trainer_load_params(trainer, c, &params, MXC_PARAMS_ALLOW_EXTRA | MXC_PARAMS_CONVERT);
        if (status != MXC_OK)
            status = MXC_FAIL(status, "%s: %s", path, mxc_last_error());
    }
    view_close(&params);
    return status;
}

/* The data of a state array with that dtype and at least min_rows rows of columns numbers. */
static mxc_status training_state_find_data(const char *path, const mxc_ndarray_list *list, const char *name,
                                           mxc_dtype dtype, int64_t min_rows, int64_t columns, const void **data,
                                           int64_t *rows) {
    mxc_ndarray *array = mxc_ndarray_list_find(list, name);
    const mxc_shape *shape = array ? mxc_ndarray_shape(array) : NULL;
    void *block;
    if (!array || mxc_ndarray_dtype(array) != dtype || shape->ndim != 2 || shape->dim[0] < min_rows ||
        shape->dim[1] != columns)
        return MXC_FAIL(MXC_EFORMAT, "%s: state \"%s\" is absent or not %s of shape (%lld or more,%lld)", path, name,
                        mxc_dtype_name(dtype), (long long)min_rows, (long long)columns);
    MXC_TRY(mxc_ndarray_data(array, &block));
    *data = block;
    *rows = shape->dim[0];
    return MXC_OK;
}

/* The number of metrics in a state, and which of them has the name; -1: none. */
static int find_saved_metric(const mxc_ndarray_list *list, const char *name, int *n) {
    int found = -1;
    *n = 0;
    for (int64_t i = 0; i < list->n; i++) {
        if (strncmp(list->names[i], METRIC_PREFIX, strlen(METRIC_PREFIX)) != 0)
            continue;
        if (strcmp(list->names[i] + strlen(METRIC_PREFIX), name) == 0)
            found = *n;
        ++*n;
    }
    return found;
}

/* States of other versions may have other counts, of which the version is always the first. */
static mxc_status check_version(const char *path, const mxc_ndarray_list *list) {
    mxc_ndarray *counts = mxc_ndarray_list_find(list, "counts");
    void *version;
    if (!counts || mxc_ndarray_dtype(counts) != MXC_I64 || mxc_ndarray_size(counts) <= C_VERSION)
        return MXC_FAIL(MXC_EFORMAT, "%s: state \"counts\" is absent or not int64", path);
    MXC_TRY(mxc_ndarray_data(counts, &version));
    if (*(const int64_t *)version != VERSION)
        return MXC_FAIL(MXC_EFORMAT, "%s: version %lld of the state of a training, expected %d", path,
                        (long long)*(const int64_t *)version, (int)VERSION);
    return MXC_OK;
}

/* The best value counts if it is one of the metric that is monitored now. Otherwise the comparison begins here. */
static mxc_status restore_best(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list, double best,
                               int64_t best_epoch) {
    mxc_fit_progress *p = &trainer->progress;
    const int now = trainer->monitored;
    const void *monitored;
    int64_t rows;
    int n;
    p->best = NAN;
    p->best_epoch = now >= 0 ? p->epoch : 0;
    if (now < 0 || !mxc_ndarray_list_find(list, MONITORED))
        return MXC_OK;
    MXC_TRY(training_state_find_data(path, list, MONITORED, MXC_I64, 1, 1, &monitored, &rows));
    const int saved = find_saved_metric(list, mxc_metric_name(trainer->metrics[now]), &n);
    if (saved >= 0 && *(const int64_t *)monitored == saved) {
        p->best = best;
        p->best_epoch = best_epoch;
    }
    return MXC_OK;
}

static mxc_status restore_counts(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    const void *data;
    int64_t rows;
    MXC_TRY(check_version(path, list));
    MXC_TRY(training_state_find_data(path, list, "counts", MXC_I64, 1, N_COUNTS, &data, &rows));
    const int64_t *counts = data;
    MXC_TRY(training_state_find_data(path, list, "numbers", MXC_F64, 1, N_NUMBERS, &data, &rows));
    const double *numbers = data;
    if (counts[C_EPOCH] < 0 || counts[C_EPOCH] > INT_MAX || counts[C_BATCH] < 0 || counts[C_UPDATES] < 0 ||
        counts[C_BATCHES] < 0 || counts[C_BEST_EPOCH] < 0 || counts[C_BEST_EPOCH] > counts[C_EPOCH])
        return MXC_FAIL(MXC_EFORMAT, "%s: epoch %lld, batch %lld of %lld, best epoch %lld make no sense", path,
                        (long long)counts[C_EPOCH], (long long)counts[C_BATCH], (long long)counts[C_BATCHES],
                        (long long)counts[C_BEST_EPOCH]);
    const mxc_iter_state at = {(uint64_t)counts[C_ITER_EPOCH], counts[C_ITER_POSITION]};
    MXC_TRY(mxc_iter_set_state(trainer->options->train, &at));
    trainer->progress.epoch = counts[C_EPOCH];
    trainer->progress.batch = counts[C_BATCH];
    trainer->progress.updates = counts[C_UPDATES];
    trainer->progress.batches = counts[C_BATCHES];
    trainer->progress.lr = numbers[D_LR];
    return restore_best(trainer, path, list, numbers[D_BEST], counts[C_BEST_EPOCH]);
}

/* One stream for each context, so the number of contexts may not be larger than when the state was saved. */
static mxc_status restore_random(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    const void *data;
    int64_t rows;
    MXC_TRY(training_state_find_data(path, list, "random", MXC_I64, trainer->n_contexts, 3, &data, &rows));
    for (int i = 0; i < trainer->n_contexts; i++) {
        const int64_t *n = (const int64_t *)data + 3 * i;
        const mxc_random state = {(uint64_t)n[0], (uint64_t)n[1], (uint64_t)n[2]};
        MXC_TRY(mxc_random_set_state(trainer->contexts[i], &state));
    }
    return MXC_OK;
}

/* The metrics may be others than those of the saved state: a new one has no values before this epoch. The history
 * carries the validation results of the last epoch, which the progress shows until the next one. */
static mxc_status restore_history(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    const void *data;
    int64_t rows;
    int saved, columns[MXC_FIT_METRICS];
    find_saved_metric(list, "", &saved);
    MXC_TRY(training_state_find_data(path, list, "history", MXC_F64, 0, 1 + 2 * (int64_t)saved, &data, &rows));
    for (int i = 0; i < trainer->n_metrics; i++)
        columns[i] = 1 + 2 * find_saved_metric(list, mxc_metric_name(trainer->metrics[i]), &saved);
    trainer->history.n = 0;
    for (int64_t row = 0; row < rows; row++) {
        const double *from = (const double *)data + row * (1 + 2 * (int64_t)saved);
        double values[2 * MXC_FIT_METRICS];
        for (int i = 0; i < trainer->n_metrics; i++) {
            values[2 * i] = columns[i] > 0 ? from[columns[i]] : NAN;
            values[2 * i + 1] = columns[i] > 0 ? from[columns[i] + 1] : NAN;
            trainer->progress.metrics[i].train = values[2 * i];
            trainer->progress.metrics[i].valid = values[2 * i + 1];
        }
        MXC_TRY(mxci_curve_history_add(&trainer->history, from[0], values));
    }
    if (trainer->progress.batch > 0) /* in an epoch: the metrics so far, which have been restored */
        mxci_fit_metrics_show(trainer, 0);
    if (trainer->loss >= 0) {
        trainer->progress.loss = trainer->progress.metrics[trainer->loss].train;
        trainer->progress.valid_loss = trainer->progress.metrics[trainer->loss].valid;
    }
    if (trainer->accuracy >= 0) {
        trainer->progress.accuracy = trainer->progress.metrics[trainer->accuracy].train;
        trainer->progress.valid_accuracy = trainer->progress.metrics[trainer->accuracy].valid;
    }
    return MXC_OK;
}

static mxc_status restore_metrics(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    for (int i = 0; i < trainer->n_metrics; i++) {
        char name[sizeof METRIC_PREFIX + MXC_METRIC_NAME];
        void *data;
        mxci_format(name, sizeof name, METRIC_PREFIX "%s", mxc_metric_name(trainer->metrics[i]));
        mxc_ndarray *saved = mxc_ndarray_list_find(list, name);
        if (!saved)
            continue;
        if (mxc_ndarray_dtype(saved) != MXC_F64)
            return MXC_FAIL(MXC_EFORMAT, "%s: state \"%s\" is %s, expected float64", path, name,
                            mxc_dtype_name(mxc_ndarray_dtype(saved)));
        MXC_TRY(mxc_ndarray_data(saved, &data));
        MXC_TRY(mxci_metric_set_state(trainer->metrics[i], mxc_ndarray_size(saved), data));
    }
    return MXC_OK;
}

static mxc_status restore_optimizer(mxci_trainer *trainer, const mxc_ndarray_list *list) {
    mxc_ndarray_list states;
    mxc_status status = view_open(&states, list);
    if (status == MXC_OK) {
        select_arrays(list, OPTIMIZER_PREFIX, strlen(OPTIMIZER_PREFIX), &states);
        status = mxc_optimizer_set_states(trainer->optimizer, &states);
    }
    view_close(&states);
    return status;
}

static mxc_status restore_loss_scale(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    mxc_ndarray *from = mxc_ndarray_list_find(list, LOSS_SCALE);
    if (!trainer->loss_scale)
        return MXC_OK;
    if (!from || !mxc_shape_equal(mxc_ndarray_shape(from), mxc_ndarray_shape(trainer->loss_scale)))
        return MXC_FAIL(MXC_EFORMAT, "%s: state \"" LOSS_SCALE "\" is absent or not of shape (2,)", path);
    MXC_TRY(mxc_ndarray_copy_to(from, trainer->loss_scale, 0));
    return mxci_loss_scaling_step(trainer);
}

/* A state without averages, of a training that had none, leaves them to begin with its parameters. */
static mxc_status restore_averages(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    mxci_parameter_average *a = &trainer->average;
    mxc_ndarray_list saved;
    mxc_status status = view_open(&saved, list);
    if (status == MXC_OK)
        select_arrays(list, EMA_PREFIX, strlen(EMA_PREFIX), &saved);
    for (int i = 0; status == MXC_OK && i < a->n && saved.n > 0; i++) {
        mxc_ndarray *from = mxc_ndarray_list_find(&saved, trainer->trained_keys[i]);
        if (!from || !mxc_shape_equal(mxc_ndarray_shape(from), mxc_ndarray_shape(a->values[i])))
            status = MXC_FAIL(MXC_EFORMAT, "%s: state \"" EMA_PREFIX "%.80s\" is absent or has another shape", path,
                              trainer->trained_keys[i]);
        else
            status = mxc_ndarray_copy_to(from, a->values[i], 0);
    }
    a->is_restored = saved.n > 0;
    view_close(&saved);
    return status;
}

mxc_status mxci_training_state_restore(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list) {
    if (!list->names)
        return MXC_FAIL(MXC_EFORMAT, "%s: its arrays have no names", path);
    MXC_TRY(restore_params(trainer, path, list));
    MXC_TRY(restore_counts(trainer, path, list));
    MXC_TRY(restore_random(trainer, path, list));
    MXC_TRY(restore_metrics(trainer, path, list));
    MXC_TRY(restore_history(trainer, path, list));
    MXC_TRY(restore_averages(trainer, path, list));
    MXC_TRY(restore_loss_scale(trainer, path, list));
    return restore_optimizer(trainer, list);
}
