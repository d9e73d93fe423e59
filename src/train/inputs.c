/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which arguments of a network its iterator must provide. Arguments are matched by name, and those that the iterator
 * does not provide are parameters, which begin with values of the initializer and are trained. So a label that has
 * another name in the iterator than in the network has to be found, or it would be trained too.
 */
#include "train/inputs.h"

#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "symbol/graph.h"

typedef struct inputs {
    const mxc_fit_options *options;
    const mxci_feed_spec *spec;
    mxci_graph *graph;        /* inferred */
    mxci_graph *double_batch; /* inferred for batches of twice the size; NULL: the network does not accept them */
    int32_t *label_of;        /* argument: see mxci_graph_find_labels */
} inputs;

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void list_arrays(mxci_line *line, mxc_iter *iter, int begin, int end, const char *kind) {
    char text[MXC_SHAPE_TEXT];
    for (int i = begin; i < end; i++) {
        const mxc_data_desc *desc = mxc_iter_desc(iter, i);
        mxci_line_printf(line, "%s %s '%.60s' %s", line->length ? "," : "", kind, desc->name,
                         mxc_shape_format(&desc->shape, text, sizeof text));
    }
}

/* " data 'x' (8,6), label 'y' (8,)" */
static const char *inputs_describe(mxc_iter *iter, char *out, size_t size) {
    mxci_line line = {out, size, 0};
    int n_data = mxc_iter_n_data(iter), n_label = mxc_iter_n_label(iter);
    out[0] = '\0';
    list_arrays(&line, iter, 0, n_data, "data");
    list_arrays(&line, iter, n_data, n_data + n_label, "label");
    return out;
}

static mxc_status fail_label(const inputs *in, const char *name, const mxci_gnode *loss) {
    char arrays[MXC_ERROR_MAX / 2];
    return MXC_FAIL(MXC_ENOTFOUND,
                    "mxc_fit: the training iterator provides no array called '%.80s', which %s '%.80s' "
                    "reads as its label; it provides%s: rename its label, or the argument",
                    name, mxc_op_get_def(loss->op)->name, loss->name,
                    inputs_describe(in->options->train, arrays, sizeof arrays));
}

static mxc_status fail_batch(const inputs *in, const char *name, const mxc_shape *shape) {
    char arrays[MXC_ERROR_MAX / 2], text[MXC_SHAPE_TEXT];
    return MXC_FAIL(MXC_ENOTFOUND,
                    "mxc_fit: the training iterator provides no array called '%.80s'; its shape %s "
                    "depends on the batch size, so it is no parameter (unless it has an attribute __init__); the "
                    "iterator provides%s: rename one of them, or the argument",
                    name, mxc_shape_format(shape, text, sizeof text),
                    inputs_describe(in->options->train, arrays, sizeof arrays));
}

static mxc_status fail_unknown(const inputs *in, const char *name) {
    char arrays[MXC_ERROR_MAX / 2];
    return MXC_FAIL(MXC_ENOTFOUND,
                    "mxc_fit: the training iterator provides no array called '%.80s', and its shape "
                    "does not follow from those that it provides:%s",
                    name, inputs_describe(in->options->train, arrays, sizeof arrays));
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

/* Does the iterator provide an argument of that name? */
static int is_fed(const inputs *in, const char *name) {
    for (int64_t i = 0; i < in->spec->n; i++)
        if (strcmp(in->spec->names[i], name) == 0)
            return 1;
    return 0;
}

/* Argument i of the graph is fed, or can be a parameter; otherwise the message says what it looks like. */
static mxc_status check_argument(const inputs *in, int32_t i) {
    const mxci_graph *g = in->graph;
    const mxci_gnode *node = &g->nodes[g->args[i]];
    const mxc_shape *shape = &g->shapes[node->first_entry];
    if (is_fed(in, node->name))
        return MXC_OK;
    if (in->label_of[i] >= 0)
        return fail_label(in, node->name, &g->nodes[in->label_of[i]]);
    if (!mxc_shape_known(shape))
        return fail_unknown(in, node->name);
    if (!in->double_batch || mxci_node_attr(node->node, "__init__") ||
        mxc_shape_equal(shape, &in->double_batch->shapes[node->first_entry]))
        return MXC_OK;
    return fail_batch(in, node->name, shape);
}

/* Infer the shapes of all arguments for batches of times the size of the iterator's. */
static mxc_status infer_for_batch(const inputs *in, int times, mxci_graph **out) {
    const mxci_feed_spec *spec = in->spec;
    mxc_shape *shapes = mxci_calloc((size_t)spec->n, sizeof *shapes);
    if (!shapes)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %lld shapes", (long long)spec->n);
    for (int64_t i = 0; i < spec->n; i++) {
        shapes[i] = spec->shapes[i];
        shapes[i].dim[0] *= times;
    }
    mxc_status status = mxci_symbol_infer_graph(in->options->symbol, spec->n, spec->names, shapes, spec->types, out);
    mxci_free(shapes);
    return status;
}

static mxc_status open_inputs(inputs *in) {
    MXC_TRY(infer_for_batch(in, 1, &in->graph));
    in->label_of = mxci_calloc((size_t)in->graph->n_args + 1, sizeof *in->label_of);
    if (!in->label_of)
        return MXC_FAIL(MXC_ENOMEM, "mxc_fit: no memory for %d arguments", (int)in->graph->n_args);
    MXC_TRY(mxci_graph_find_labels(in->graph, in->label_of));
    /* A network that is made for one batch size only says nothing about what depends on it. */
    mxc_status status = infer_for_batch(in, 2, &in->double_batch);
    return status == MXC_ENOMEM ? status : MXC_OK;
}

mxc_status mxci_inputs_check(const mxc_fit_options *options, const mxci_feed_spec *spec) {
    inputs in = {.options = options, .spec = spec};
    mxc_status status = open_inputs(&in);
    for (int32_t i = 0; status == MXC_OK && i < in.graph->n_args; i++)
        status = check_argument(&in, i);
    mxci_graph_destroy(in.graph);
    mxci_graph_destroy(in.double_batch);
    mxci_free(in.label_of);
    return status;
}

mxc_status mxci_inputs_check_valid(const mxc_fit_options *options, const mxci_feed_spec *spec) {
    mxc_iter *valid = options->valid;
    char arrays[MXC_ERROR_MAX / 2];
    for (int64_t i = 0; valid && i < spec->n; i++)
        if (!mxci_feed_find_desc(valid, spec->names[i]))
            return MXC_FAIL(MXC_ENOTFOUND,
                            "mxc_fit: the validation iterator provides no array called '%.80s', as the "
                            "training iterator does; it provides%s",
                            spec->names[i], inputs_describe(valid, arrays, sizeof arrays));
    return MXC_OK;
}
