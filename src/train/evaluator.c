/* SPDX-License-Identifier: Apache-2.0 */
/* Running a symbol over an iterator, forward only. */
#include "train/evaluator.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"

/* ---- binding ----------------------------------------------------------------------------------------------------- */

static mxc_status bind_params(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data, mxc_context context,
                              mxc_executor **out) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxci_feed_spec feed;
    options.context = context;
    MXC_TRY(mxci_feed_spec_open(&feed, data, symbol, 1));
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = feed.n, .names = feed.names, .shapes = feed.shapes, .types = feed.types};
    mxc_status status =
        mxc_executor_bind_params(symbol, &options, &spec, params, MXC_PARAMS_ALLOW_EXTRA | MXC_PARAMS_CONVERT, out);
    mxci_feed_spec_close(&feed);
    return status;
}

static mxc_status open_feed(mxci_evaluator *e) {
    e->buckets = (mxci_buckets){.source = e->executor, .feed = &e->feed, .iter = e->data, .parts = 1};
    return mxci_feed_open(&e->feed, e->data, e->executor);
}

mxc_status mxci_evaluator_open(mxci_evaluator *e, mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data,
                               mxc_context context) {
    memset(e, 0, sizeof *e);
    e->data = data;
    MXC_TRY(bind_params(symbol, params, data, context, &e->executor));
    return open_feed(e);
}

/* Arrays for a bind that shares: the iterator's inputs are new, everything else is replaced, or source's. */
static mxc_status collect_args(mxc_executor *source, mxc_iter *data, mxc_ndarray *const *replaced, mxc_ndarray **args,
                               mxc_ndarray **made) {
    const mxc_names *names = mxc_executor_arg_names(source);
    int total = mxc_iter_n_data(data) + mxc_iter_n_label(data), n_made = 0;
    for (int64_t i = 0; i < names->n; i++)
        args[i] = replaced[i] ? replaced[i] : mxc_executor_arg(source, i);
    for (int i = 0; i < total; i++) {
        const mxc_data_desc *desc = mxc_iter_desc(data, i);
        int64_t at = mxc_names_find(names, desc->name);
        if (at < 0)
            continue;
        MXC_TRY(mxc_ndarray_create(desc->shape.ndim, desc->shape.dim, desc->dtype, mxc_ndarray_context(args[at]),
                                   &made[n_made]));
        args[at] = made[n_made++];
    }
    return MXC_OK;
}

static mxc_status bind_sharing(mxci_evaluator *e, mxc_executor *source, mxc_ndarray **args, mxc_ndarray **aux) {
    int64_t n_aux = mxc_executor_aux_names(source)->n;
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    options.context = mxc_ndarray_context(args[0]);
    options.shared = source;
    for (int64_t i = 0; i < n_aux; i++)
        aux[i] = mxc_executor_aux(source, i);
    return mxc_executor_bind(mxc_executor_symbol(source), &options, args, NULL, NULL, aux, &e->executor);
}

mxc_status mxci_evaluator_open_sharing(mxci_evaluator *e, mxc_executor *source, mxc_iter *data,
                                       mxc_ndarray *const *replaced) {
    size_t n_args = (size_t)mxc_executor_arg_names(source)->n, n_aux = (size_t)mxc_executor_aux_names(source)->n;
    size_t total = (size_t)(mxc_iter_n_data(data) + mxc_iter_n_label(data));
    memset(e, 0, sizeof *e);
    e->data = data;
    mxc_ndarray **args = mxci_calloc(n_args, sizeof *args), **aux = mxci_calloc(n_aux, sizeof *aux);
    mxc_ndarray **made = mxci_calloc(total, sizeof *made);
    mxc_status status = args && aux && made ? collect_args(source, data, replaced, args, made)
                                            : MXC_FAIL(MXC_ENOMEM, "no memory for %zu arguments", n_args);
    if (status == MXC_OK)
        status = bind_sharing(e, source, args, aux);
    if (status == MXC_OK)
        status = open_feed(e);
    for (size_t i = 0; made && i < total; i++)
        mxc_ndarray_release(made[i]);
    mxci_free(args);
    mxci_free(aux);
    mxci_free(made);
    return status;
}

void mxci_evaluator_close(mxci_evaluator *e) {
    mxci_buckets_close(&e->buckets);
    mxci_feed_close(&e->feed);
    mxc_executor_destroy(e->executor);
    memset(e, 0, sizeof *e);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

mxc_status mxci_evaluator_run(mxci_evaluator *e, int n_metrics, mxc_metric *const *metrics) {
    for (;;) {
        mxc_batch batch;
        mxc_executor *executor;
        const mxci_feed *feed;
        MXC_TRY(mxc_iter_next(e->data, &batch));
        if (batch.n_data == 0)
            return mxc_iter_reset(e->data);
        MXC_TRY(mxci_buckets_find(&e->buckets, &batch, &executor, &feed));
        MXC_TRY(mxci_feed_copy(feed, &batch, 0, 1));
        MXC_TRY(mxc_executor_forward(executor, 0));
        int64_t last = mxc_symbol_n_outputs(mxc_executor_symbol(executor)) - 1;
        mxc_ndarray *prediction = mxc_executor_output(executor, last);
        mxc_ndarray *label = batch.n_label > 0 ? batch.label[0] : NULL;
        if (e->label)
            label = mxci_feed_find_array(e->data, &batch, e->label);
        for (int i = 0; i < n_metrics; i++)
            MXC_TRY(mxc_metric_update(metrics[i], label, prediction, batch.pad));
        for (int64_t i = 0; i <= last; i++)
            MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_output(executor, i)));
    }
}

mxc_status mxc_evaluate(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data, mxc_context context,
                        int n_metrics, mxc_metric *const *metrics) {
    mxci_evaluator e;
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(params));
    MXC_TRY(MXCI_NON_NULL(data));
    MXC_TRY(MXCI_NON_NULL_IF(n_metrics > 0, metrics));
    if (n_metrics < 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_evaluate: n_metrics is %d, expected 0 or more", n_metrics);
    mxc_status status = mxci_evaluator_open(&e, symbol, params, data, context);
    if (status == MXC_OK)
        status = mxci_evaluator_run(&e, n_metrics, metrics);
    mxci_evaluator_close(&e);
    return status;
}

mxc_status mxc_evaluate_on(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data, int device_type,
                           int device_id, int n_metrics, mxc_metric *const *metrics) {
    return mxc_evaluate(symbol, params, data, (mxc_context){device_type, device_id}, n_metrics, metrics);
}
