/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exponential moving average of the trained parameters (Polyak and Juditsky 1992, "Acceleration of Stochastic
 * Approximation by Averaging"), for validation and as the result.
 *
 * It is kept by the optimizer "sgd": with the learning rate 1 - d, weight decay 1 and rescale_grad -1, the update of a
 * value v by a parameter p is v -= (1 - d) (v - p), that is v = d v + (1 - d) p, for many parameters in one operator.
 */
#include "train/parameter_average.h"

#include "base/sys.h"
#include "base/text.h"
#include "optimizer/optimizer.h"
#include "train/trainer.h"

static mxc_ndarray *trained_param(const mxci_trainer *trainer, int i) {
    return mxc_executor_arg(trainer->executors[0], trainer->trained_args[i]);
}

static mxc_status make_like(mxc_ndarray *array, mxc_dtype dtype, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    return mxc_ndarray_create(shape->ndim, shape->dim, dtype, mxc_ndarray_context(array), out);
}

static mxc_status open_updater(mxci_trainer *trainer) {
    mxci_parameter_average *a = &trainer->average;
    char rate[32];
    const char *keys[] = {"learning_rate", "wd", "rescale_grad"}, *values[] = {rate, "1", "-1"};
    mxci_format(rate, sizeof rate, "%.17g", 1 - trainer->options->ema);
    MXC_TRY(mxc_optimizer_create("sgd", 3, keys, values, &a->updater));
    for (int i = 0; i < trainer->n_trained; i++) /* biases have no weight decay by default */
        MXC_TRY(mxc_optimizer_set_mult(a->updater, trainer->trained_keys[i], 1, 1));
    return MXC_OK;
}

mxc_status mxci_parameter_average_open(mxci_trainer *trainer) {
    mxci_parameter_average *a = &trainer->average;
    const size_t n = (size_t)trainer->n_trained;
    if (trainer->options->ema == 0)
        return MXC_OK;
    MXC_TRY(open_updater(trainer));
    a->values = mxci_calloc(n, sizeof *a->values);
    a->sources = mxci_calloc(n, sizeof *a->sources);
    a->bound = mxci_calloc(n, sizeof *a->bound);
    if (!a->values || !a->sources || !a->bound)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for the averages of %zu parameters", n);
    a->n = trainer->n_trained;
    for (int i = 0; i < a->n; i++) {
        mxc_ndarray *own = trained_param(trainer, i);
        const mxc_dtype dtype = mxc_ndarray_dtype(own);
        const int is_16bit = dtype == MXC_F16 || dtype == MXC_BF16;
        MXC_TRY(make_like(own, is_16bit ? MXC_F32 : dtype, &a->values[i]));
        if (is_16bit)
            MXC_TRY(make_like(own, MXC_F32, &a->sources[i]));
        if (is_16bit)
            MXC_TRY(make_like(own, dtype, &a->bound[i]));
        else
            a->bound[i] = mxc_ndarray_retain(a->values[i]);
    }
    return MXC_OK;
}

void mxci_parameter_average_close(mxci_trainer *trainer) {
    mxci_parameter_average *a = &trainer->average;
    for (int i = 0; i < a->n; i++) {
        mxc_ndarray_release(a->values[i]);
        mxc_ndarray_release(a->sources[i]);
        mxc_ndarray_release(a->bound[i]);
    }
    mxci_free(a->values);
    mxci_free(a->sources);
    mxci_free(a->bound);
    mxc_optimizer_destroy(a->updater);
}

/* The parameter in the dtype of its average: itself, or a copy, from its f32 original where there is one. */
static mxc_status find_source(mxci_trainer *trainer, int i, mxc_ndarray **out) {
    mxc_ndarray *own = trained_param(trainer, i), *copy = trainer->average.sources[i];
    mxc_ndarray *master = mxci_optimizer_master(trainer->optimizer, trainer->trained_keys[i]);
    *out = copy ? copy : own;
    return copy ? mxc_ndarray_copy_to(master ? master : own, copy, 0) : MXC_OK;
}

mxc_status mxci_parameter_average_begin(mxci_trainer *trainer) {
    mxci_parameter_average *a = &trainer->average;
    for (int i = 0; i < a->n && !a->is_restored; i++) {
        mxc_ndarray *source;
        MXC_TRY(find_source(trainer, i, &source));
        MXC_TRY(mxc_ndarray_copy_to(source, a->values[i], 0));
    }
    return MXC_OK;
}

mxc_status mxci_parameter_average_update(mxci_trainer *trainer) {
    mxci_parameter_average *a = &trainer->average;
    mxc_status status = MXC_OK;
    if (a->n == 0)
        return MXC_OK;
    mxci_optimizer_hold(a->updater);
    for (int i = 0; i < a->n && status == MXC_OK; i++) {
        mxc_ndarray *source;
        status = find_source(trainer, i, &source);
        if (status == MXC_OK)
            status = mxc_optimizer_update(a->updater, trainer->trained_keys[i], a->values[i], source);
    }
    mxc_status flushed = mxci_optimizer_flush(a->updater);
    return status != MXC_OK ? status : flushed;
}

mxc_status mxci_parameter_average_bind(mxci_trainer *trainer) {
    mxci_parameter_average *a = &trainer->average;
    for (int i = 0; i < a->n; i++)
        if (a->bound[i] != a->values[i])
            MXC_TRY(mxc_ndarray_copy_to(a->values[i], a->bound[i], 0));
    return MXC_OK;
}

mxc_ndarray *mxci_parameter_average_find(const mxci_trainer *trainer, int arg) {
    for (int i = 0; i < trainer->average.n; i++)
        if (trainer->trained_args[i] == arg)
            return trainer->average.values[i];
    return NULL;
}
