/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of activations: a float network runs over some batches, and a monitor records the range of each node's
 * outputs; for entropy calibration it runs again and fills histograms over these ranges.
 */
#include <math.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sized.h"
#include "base/sys.h"
#include "rewrite/quantize_network.h"
#include "train/evaluator.h"

typedef struct calibration {
    const mxc_quantize_options *options;
    const mxci_graph *graph;
    mxci_activation_range *ranges;
    mxci_hash_map *by_name; /* ranges by the output names that the monitor reports */
    mxci_evaluator evaluator;
    int counting;      /* 0: the first pass, over ranges; 1: the second, over histograms */
    mxc_status status; /* the first failure in the monitor */
} calibration;

/* ---- observing values ---------------------------------------------------------------------------------------- */

/* Comparisons with NaN are false, so NaN leaves the range as it is. */
static void extend_range(mxci_activation_range *range, const float *x, int64_t n) {
    float low = range->low, high = range->high;
    for (int64_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    range->low = low;
    range->high = high;
}

/* MXCI_HISTOGRAM bins over [-edge, edge]. Infinities count in the outer bins, NaN does not count. */
static void add_to_histogram(mxci_activation_range *range, const float *x, int64_t n) {
    float edge = mxci_activation_range_edge(range), scale = edge > 0 ? MXCI_HISTOGRAM / (2 * edge) : 0;
    for (int64_t i = 0; i < n; i++) {
        float at = (x[i] + edge) * scale;
        if (at >= 0)
            range->histogram[at < MXCI_HISTOGRAM ? (int)at : MXCI_HISTOGRAM - 1]++;
    }
}

static mxc_status update_range(const calibration *run, mxci_activation_range *range, mxc_ndarray *array) {
    void *data;
    if (mxc_ndarray_dtype(array) != MXC_F32)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_data(array, &data));
    if (run->counting)
        add_to_histogram(range, data, mxc_ndarray_size(array));
    else
        extend_range(range, data, mxc_ndarray_size(array));
    return MXC_OK;
}

static void monitor_output(const char *name, mxc_ndarray *array, void *user) {
    calibration *run = user;
    mxci_activation_range *range = mxci_hash_map_get(run->by_name, name);
    mxc_status status = range && run->status == MXC_OK ? update_range(run, range, array) : MXC_OK;
    run->status = status == MXC_OK ? run->status : status;
}

/* Inputs of the network: variables are not reported by the monitor. */
static mxc_status update_input_ranges(const calibration *run) {
    const mxci_feed *feed = &run->evaluator.feed;
    for (int32_t i = 0; i < run->graph->n_args; i++) {
        const mxci_gnode *g = &run->graph->nodes[run->graph->args[i]];
        mxc_ndarray *array = mxc_executor_find_arg(run->evaluator.executor, g->name);
        for (int k = 0; k < feed->n; k++)
            if (array && feed->inputs[k] == array)
                MXC_TRY(update_range(run, &run->ranges[g->first_entry], array));
    }
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Run forward over the batches of the calibration data. The monitor has seen all outputs when a run's outputs are
 * ready. */
static mxc_status run_batches(calibration *run) {
    mxc_executor *e = run->evaluator.executor;
    int64_t most = run->options->batches > 0 ? run->options->batches : INT64_MAX;
    for (int64_t i = 0; i < most; i++) {
        mxc_batch batch;
        MXC_TRY(mxc_iter_next(run->options->data, &batch));
        if (batch.n_data == 0)
            break;
        MXC_TRY(mxci_feed_copy(&run->evaluator.feed, &batch, 0, 1));
        MXC_TRY(update_input_ranges(run));
        MXC_TRY(mxc_executor_forward(e, 0));
        for (int64_t k = 0; k < run->graph->n_outputs; k++)
            MXC_TRY(mxc_ndarray_wait_to_read(mxc_executor_output(e, k)));
        MXC_TRY(run->status);
    }
    return mxc_iter_reset(run->options->data);
}

/* The second pass: histograms for the entries that have a range. */
static mxc_status fill_histograms(calibration *run) {
    for (int32_t i = 0; i < run->graph->n_entries; i++) {
        if (run->ranges[i].low > run->ranges[i].high)
            continue;
        run->ranges[i].histogram = mxci_calloc(MXCI_HISTOGRAM, sizeof(float));
        if (!run->ranges[i].histogram)
            return MXCI_NO_MEMORY("mxc_quantize", "calibration");
    }
    run->counting = 1;
    return run_batches(run);
}

/* Set all ranges empty, and map output names to the entries of forward nodes. */
static mxc_status name_entries(calibration *run) {
    MXC_TRY(mxci_hash_map_create(&run->by_name));
    for (int32_t e = 0; e < run->graph->n_entries; e++) {
        const mxci_gnode *g = &run->graph->nodes[run->graph->entry_node[e]];
        mxc_status status;
        char *name;
        run->ranges[e].low = INFINITY;
        run->ranges[e].high = -INFINITY;
        if (g->kind != MXCI_FORWARD)
            continue;
        MXC_TRY(mxci_node_output_name(g->node, e - g->first_entry, &name));
        status = mxci_hash_map_put(run->by_name, name, &run->ranges[e]);
        mxci_free(name);
        MXC_TRY(status);
    }
    return MXC_OK;
}

static mxc_status calibrate(const mxc_quantize_options *options, mxc_symbol *symbol, const mxc_ndarray_list *params,
                            const mxci_graph *graph, mxci_activation_range *ranges) {
    calibration run = {.options = options, .graph = graph, .ranges = ranges};
    mxc_status status = name_entries(&run);
    if (status == MXC_OK)
        status = mxci_evaluator_open(&run.evaluator, symbol, params, options->data, options->context);
    if (status == MXC_OK)
        status = mxc_executor_set_monitor(run.evaluator.executor, monitor_output, &run);
    if (status == MXC_OK)
        status = run_batches(&run);
    if (status == MXC_OK && options->calibration == MXC_CALIBRATE_ENTROPY)
        status = fill_histograms(&run);
    mxci_evaluator_close(&run.evaluator);
    mxci_hash_map_destroy(run.by_name);
    return status;
}

void mxc_quantize_options_init(mxc_quantize_options *options, size_t size) {
    static const mxc_quantize_options defaults = MXC_QUANTIZE_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

mxc_status mxc_quantize(const mxc_quantize_options *options, mxc_symbol **symbol, mxc_ndarray_list *params) {
    MXCI_CLEAR(params);
    MXC_TRY(MXCI_OUT(symbol));
    MXC_TRY(MXCI_OUT(params));
    mxc_quantize_options read = MXC_QUANTIZE_OPTIONS_INIT;
    MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_quantize_options_init"));
    return mxci_quantize_network(&read, calibrate, symbol, params);
}
