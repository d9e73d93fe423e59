/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of activations: a float network runs over some batches, and a monitor records the range of each node's
 * outputs; for entropy calibration it runs again and fills histograms over these ranges.
 */
#include <math.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sys.h"
#include "rewrite/quantize_network.h"
#include "train/evaluator.h"

typedef struct calibration {
    const mxc_quantize_options *options;
    const mxci_graph *graph;
    mxci_activation_range *ranges;
    mxci_hash_map *by_name; /* ranges by the names that the monitor tells */
    mxci_evaluator evaluator;
    int counting;      /* the second time */
    mxc_status status; /* the first failure in the monitor */
} calibration;

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void extend_range(mxci_activation_range *range, const float *x, int64_t n) {
    float low = range->low, high = range->high;
    for (int64_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    range->low = low;
    range->high = high;
}

/* Infinities count at the ends, what is no number not at all. */
static void count_values(mxci_activation_range *range, const float *x, int64_t n) {
    float edge = mxci_activation_range_edge(range), scale = edge > 0 ? MXCI_HISTOGRAM / (2 * edge) : 0;
    for (int64_t i = 0; i < n; i++) {
        float at = (x[i] + edge) * scale;
        if (at >= 0)
            range->histogram[at < MXCI_HISTOGRAM ? (int)at : MXCI_HISTOGRAM - 1]++;
    }
}

static mxc_status update_range(const calibration *w, mxci_activation_range *range, mxc_ndarray *array) {
    void *data;
    if (mxc_ndarray_dtype(array) != MXC_F32)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_data(array, &data));
    if (w->counting)
        count_values(range, data, mxc_ndarray_size(array));
    else
        extend_range(range, data, mxc_ndarray_size(array));
    return MXC_OK;
}

static void monitor_output(const char *name, mxc_ndarray *array, void *user) {
    calibration *w = user;
    mxci_activation_range *range = mxci_hash_map_get(w->by_name, name);
    mxc_status status = range && w->status == MXC_OK ? update_range(w, range, array) : MXC_OK;
    w->status = status == MXC_OK ? w->status : status;
}

/* Variables, which the monitor does not tell of. */
static mxc_status update_input_ranges(const calibration *w) {
    const mxci_feed *feed = &w->evaluator.feed;
    for (int32_t i = 0; i < w->graph->n_args; i++) {
        const mxci_gnode *g = &w->graph->nodes[w->graph->args[i]];
        mxc_ndarray *array = mxc_executor_find_arg(w->evaluator.executor, g->name);
        for (int k = 0; k < feed->n; k++)
            if (array && feed->inputs[k] == array)
                MXC_TRY(update_range(w, &w->ranges[g->first_entry], array));
    }
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static mxc_status run_batch(calibration *w, const mxc_batch *batch) {
    mxc_executor *e = w->evaluator.executor;
    MXC_TRY(mxci_feed_copy(&w->evaluator.feed, batch, 0, 1));
    MXC_TRY(update_input_ranges(w));
    MXC_TRY(mxc_executor_forward(e, 0));
    for (int64_t i = 0; i < w->graph->n_outputs; i++)
        MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_output(e, i)));
    return w->status;
}

static mxc_status run_batches(calibration *w) {
    int64_t most = w->options->batches > 0 ? w->options->batches : INT64_MAX;
    for (int64_t i = 0; i < most; i++) {
        mxc_batch batch;
        MXC_TRY(mxc_iter_next(w->options->data, &batch));
        if (batch.n_data == 0)
            break;
        MXC_TRY(run_batch(w, &batch));
    }
    return mxc_iter_reset(w->options->data);
}

static mxc_status count_batches(calibration *w) {
    for (int32_t i = 0; i < w->graph->n_entries; i++) {
        if (w->ranges[i].low > w->ranges[i].high)
            continue;
        w->ranges[i].histogram = mxci_calloc(MXCI_HISTOGRAM, sizeof(float));
        if (!w->ranges[i].histogram)
            return MXCI_NO_MEMORY("mxc_quantize", "calibration");
    }
    w->counting = 1;
    return run_batches(w);
}

static mxc_status name_entries(calibration *w) {
    MXC_TRY(mxci_hash_map_create(&w->by_name));
    for (int32_t e = 0; e < w->graph->n_entries; e++) {
        const mxci_gnode *g = &w->graph->nodes[w->graph->entry_node[e]];
        mxc_status status;
        char *name;
        w->ranges[e].low = INFINITY;
        w->ranges[e].high = -INFINITY;
        if (g->kind != MXCI_FORWARD)
            continue;
        MXC_TRY(mxci_node_output_name(g->node, e - g->first_entry, &name));
        status = mxci_hash_map_put(w->by_name, name, &w->ranges[e]);
        mxci_free(name);
        MXC_TRY(status);
    }
    return MXC_OK;
}

static mxc_status calibrate(const mxc_quantize_options *options, mxc_symbol *symbol, const mxc_ndarray_list *params,
                            const mxci_graph *graph, mxci_activation_range *ranges) {
    calibration w = {.options = options, .graph = graph, .ranges = ranges};
    mxc_status status = name_entries(&w);
    if (status == MXC_OK)
        status = mxci_evaluator_open(&w.evaluator, symbol, params, options->data, options->context);
    if (status == MXC_OK)
        status = mxc_executor_set_monitor(w.evaluator.executor, monitor_output, &w);
    if (status == MXC_OK)
        status = run_batches(&w);
    if (status == MXC_OK && options->calibration == MXC_CALIBRATE_ENTROPY)
        status = count_batches(&w);
    mxci_evaluator_close(&w.evaluator);
    mxci_hash_map_destroy(w.by_name);
    return status;
}

mxc_status mxc_quantize(const mxc_quantize_options *options, mxc_symbol **symbol, mxc_ndarray_list *params) {
    MXCI_CLEAR(params);
    MXC_TRY(MXCI_OUT(symbol));
    MXC_TRY(MXCI_OUT(params));
    MXC_TRY(MXCI_SIZED(options, "MXC_QUANTIZE_OPTIONS_INIT"));
    return mxci_quantize_network(options, calibrate, symbol, params);
}
