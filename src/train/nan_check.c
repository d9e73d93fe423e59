/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NaN in a training. The predictions are looked at between the forward run and the update, while the parameters are
 * still those that computed them, so that the first array with a NaN can be found by running forward once more.
 */
#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "train/metric.h"
#include "train/trainer.h"

enum { SAMPLES = 4096 /* elements of a prediction that are checked in each step */, NAME = 256 };

typedef struct found {
    char name[NAME]; /* the first output with a NaN, for a message; "": none yet */
    mxc_status status;
} found;

/* ---- looking for NaN --------------------------------------------------------------------------------------------- */

/* Every stride-th of n elements. Those of 16 bits are recognised by their bits: all of the exponent, and a fraction. */
static int has_nan(mxc_dtype dtype, const void *data, int64_t n, int64_t stride) {
    const uint16_t infinity = dtype == MXC_F16 ? 0x7c00 : 0x7f80;
    const uint16_t *half = data;
    const float *single = data;
    const double *wide = data;
    for (int64_t i = 0; i < n; i += stride)
        if (dtype == MXC_F32 ? isnan(single[i]) : dtype == MXC_F64 ? isnan(wide[i]) : (half[i] & 0x7fff) > infinity)
            return 1;
    return 0;
}

static int can_be_nan(const mxc_ndarray *array) {
    return (MXC_DTYPES_FLOAT >> mxc_ndarray_dtype(array) & 1) != 0;
}

/* Every stride-th element. Waits for the array; one on a GPU is copied. */
static mxc_status find_nan(mxc_ndarray *array, int64_t stride, int *out) {
    mxc_ndarray *host;
    void *data;
    *out = 0;
    if (!can_be_nan(array))
        return MXC_OK;
    if (mxc_ndarray_context(array).device == MXC_CPU)
        host = mxc_ndarray_retain(array);
    else
        MXC_TRY(mxc_ndarray_copy(array, mxc_cpu(0), mxc_ndarray_dtype(array), &host));
    mxc_status status = mxc_ndarray_data(host, &data);
    if (status == MXC_OK)
        *out = has_nan(mxc_ndarray_dtype(host), data, mxc_ndarray_size(host), stride);
    mxc_ndarray_release(host);
    return status;
}

/* On the engine's threads, where nothing can be copied: of arrays on GPUs nothing is found. */
static void monitor_output(const char *name, mxc_ndarray *array, void *user) {
    found *f = user;
    void *data;
    if (f->name[0] != '\0' || f->status != MXC_OK || !can_be_nan(array) || mxc_ndarray_context(array).device != MXC_CPU)
        return;
    f->status = mxc_ndarray_data(array, &data);
    if (f->status == MXC_OK && has_nan(mxc_ndarray_dtype(array), data, mxc_ndarray_size(array), 1))
        mxci_format(f->name, sizeof f->name, "output '%s'", name);
}

/* ---- naming the first array -------------------------------------------------------------------------------------- */

static mxc_status find_in_batch(const mxci_trainer *trainer, const mxc_batch *batch, char *out, size_t size) {
    for (int i = 0; i < batch->n_data + batch->n_label; i++) {
        mxc_ndarray *array = i < batch->n_data ? batch->data[i] : batch->label[i - batch->n_data];
        int is_nan;
        MXC_TRY(find_nan(array, 1, &is_nan));
        if (is_nan) {
            mxci_format(out, size, "'%s' of the batch", mxc_iter_desc(trainer->options->train, i)->name);
            return MXC_OK;
        }
    }
    return MXC_OK;
}

static mxc_status find_in_params(const mxci_trainer *trainer, char *out, size_t size) {
    for (int i = 0; i < trainer->n_params; i++) {
        int is_nan;
        MXC_TRY(find_nan(mxc_executor_arg(trainer->executors[0], trainer->param_args[i]), 1, &is_nan));
        if (is_nan) {
            mxci_format(out, size, "parameter '%s'", trainer->keys[i]);
            return MXC_OK;
        }
    }
    return MXC_OK;
}

/* The outputs of the network's nodes, in the order in which they are computed. */
static mxc_status find_in_outputs(const mxci_trainer *trainer, int c, char *out, size_t size) {
    mxc_executor *executor = trainer->current[c];
    found f = {"", MXC_OK};
    MXC_TRY(mxc_executor_set_monitor(executor, monitor_output, &f));
    mxc_status status = mxc_executor_forward(executor, 1);
    for (int64_t i = 0; i < mxc_symbol_n_outputs(mxc_executor_symbol(executor)) && status == MXC_OK; i++)
        status = mxc_ndarray_wait_to_read(mxc_executor_output(executor, i));
    mxc_status ended = mxc_executor_set_monitor(executor, NULL, NULL);
    MXC_TRY(status != MXC_OK ? status : ended);
    mxci_format(out, size, "%s", f.name);
    return f.status;
}

/* In the order of the data flow; "" if none is found (other random numbers, a NaN that only the loss has). */
static mxc_status find_first(const mxci_trainer *trainer, const mxc_batch *batch, int is_updated, char *out,
                             size_t size) {
    *out = '\0';
    MXC_TRY(find_in_batch(trainer, batch, out, size));
    if (*out == '\0' && !is_updated)
        MXC_TRY(find_in_params(trainer, out, size));
    for (int c = 0; c < trainer->n_contexts && *out == '\0' && !is_updated; c++)
        MXC_TRY(find_in_outputs(trainer, c, out, size));
    return MXC_OK;
}

static mxc_status fail(const mxci_trainer *trainer, const mxc_batch *batch, const char *what, int is_updated) {
    const mxc_fit_progress *p = &trainer->progress;
    char first[NAME], text[NAME + 64] = "";
    mxc_status status = find_first(trainer, batch, is_updated, first, sizeof first);
    if (status == MXC_OK && first[0] != '\0')
        mxci_format(text, sizeof text, "; the first array with NaN is %s", first);
    return MXC_FAIL(MXC_EINVAL,
                    "mxc_fit: %s NaN in batch %lld of epoch %lld, after %lld updates%s: the data hold NaN, or the "
                    "learning rate is too high (%g); allow_nan goes on",
                    what, (long long)p->batch + !is_updated, (long long)p->epoch + 1, (long long)p->updates, text,
                    p->lr);
}

/* ---- checks of a step -------------------------------------------------------------------------------------------- */

mxc_status mxci_nan_check_predictions(const mxci_trainer *trainer, const mxc_batch *batch) {
    for (int c = 0; c < trainer->n_contexts && !trainer->options->allow_nan; c++) {
        mxc_executor *executor = trainer->current[c];
        mxc_ndarray *prediction =
            mxc_executor_output(executor, mxc_symbol_n_outputs(mxc_executor_symbol(executor)) - 1);
        int is_nan;
        if (mxc_ndarray_context(prediction).device != MXC_CPU) /* its loss is looked at, once it has been copied */
            continue;
        MXC_TRY(find_nan(prediction, 1 + mxc_ndarray_size(prediction) / SAMPLES, &is_nan));
        if (is_nan)
            return fail(trainer, batch, "the predictions are", 0);
    }
    return MXC_OK;
}

mxc_status mxci_nan_check_loss(const mxci_trainer *trainer, const mxc_batch *batch) {
    char what[NAME];
    if (trainer->options->allow_nan || trainer->loss < 0 || !mxci_metric_is_nan(trainer->metrics[trainer->loss]))
        return MXC_OK;
    mxci_format(what, sizeof what, "the loss (%s) is", mxc_metric_name(trainer->metrics[trainer->loss]));
    return fail(trainer, batch, what, 1);
}
