/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that a training shows for its last output: a loss and an accuracy, chosen by the operator that computes
 * the output, its shape and its label.
 */
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "operator/loss/losses.h"
#include "symbol/graph.h"
#include "train/trainer.h"

/* The metric that goes with an operator; NULL: none. */
typedef struct output_metrics {
    const char *op, *loss;
    int has_classes; /* (N,C) has an accuracy */
} output_metrics;

static const output_metrics metrics_of_operators[] = {
    {"SoftmaxOutput", "cross-entropy", 1},
    {"softmax", "cross-entropy", 1},
    {"SoftmaxActivation", "cross-entropy", 1},
    {"LinearRegressionOutput", "mse", 0},
    {"LogisticRegressionOutput", "mse", 0},
    {"MAERegressionOutput", "mae", 0},
    {"MakeLoss", "loss", 0},
    {"make_loss", "loss", 0},
};

static const char *fit_metrics_op_name(const mxci_node *node) {
    return node->kind == MXCI_FORWARD ? mxc_op_get_def(node->op)->name : "";
}

/* Operators whose output is their input. */
static int passes_through(const mxci_node *node) {
    const char *name = fit_metrics_op_name(node);
    return strcmp(name, "BlockGrad") == 0 || strcmp(name, "_copy") == 0 || strcmp(name, "Cast") == 0;
}

static const mxci_node *last_node(const mxci_trainer *t) {
    const mxc_symbol *symbol = t->options->symbol;
    const mxci_node *node = symbol->outputs[symbol->n_outputs - 1].node;
    while (passes_through(node))
        node = node->inputs[0].node;
    return node;
}

static output_metrics metrics_of_output(const mxci_trainer *t) {
    const char *name = fit_metrics_op_name(last_node(t));
    for (size_t i = 0; i < sizeof metrics_of_operators / sizeof metrics_of_operators[0]; i++)
        if (strcmp(metrics_of_operators[i].op, name) == 0)
            return metrics_of_operators[i];
    return (output_metrics){name, NULL, 1};
}

void mxci_fit_metrics_describe(const mxci_trainer *t, char *out, size_t size) {
    const mxci_node *node = last_node(t);
    char text[MXC_SHAPE_TEXT];
    int64_t last = mxc_symbol_n_outputs(t->options->symbol) - 1;
    const mxc_shape *shape = mxc_ndarray_shape(mxc_executor_output(t->executors[0], last));
    mxci_format(out, size, "%s '%.40s' %s", node->kind == MXCI_FORWARD ? fit_metrics_op_name(node) : "variable",
                node->name, mxc_shape_format(shape, text, sizeof text));
}

/* ---- the label --------------------------------------------------------------------------------------------- */

/* The variable that the operator's label is made of, if the iterator provides it; else the iterator's first label. */
static const mxc_data_desc *find_label(const mxci_trainer *t) {
    mxc_iter *iter = t->options->train;
    const mxci_node *node = last_node(t);
    uint64_t labels = node->kind == MXCI_FORWARD ? mxc_op_get_def(node->op)->labels : 0;
    for (int32_t i = 0; i < node->n_inputs && i < 64; i++) {
        const mxci_node *input = node->inputs[i].node;
        if (!(labels >> i & 1))
            continue;
        while (input->n_inputs > 0)
            input = input->inputs[0].node;
        const mxc_data_desc *found = mxci_feed_find_desc(iter, input->name);
        if (found)
            return found;
    }
    return mxc_iter_n_label(iter) > 0 ? mxc_iter_desc(iter, mxc_iter_n_data(iter)) : NULL;
}

/* ---- metrics ----------------------------------------------------------------------------------------------- */

/* Samples with SoftmaxOutput's ignore_label do not count, if they are not trained. */
static mxc_status create_for_classes(const mxci_trainer *t, const char *name, mxc_metric **out) {
    static const char *const key = "ignore_label";
    const mxci_node *node = last_node(t);
    const mxci_softmax_output_params *p = NULL;
    char text[40];
    const char *value = text;
    if (strcmp(fit_metrics_op_name(node), "SoftmaxOutput") == 0)
        p = mxc_op_params(node->op);
    if (!p || !p->use_ignore)
        return mxc_metric_create(name, 0, NULL, NULL, out);
    mxci_format(text, sizeof text, "%.17g", p->ignore_label);
    return mxc_metric_create(name, 1, &key, &value, out);
}

/* (N,C) and a label for each sample. */
static int has_classes(const mxci_trainer *t, const mxc_shape *shape, const mxc_data_desc *label) {
    return shape->ndim == 2 && shape->dim[1] > 1 && label && mxc_shape_size(&label->shape) == t->batch_size &&
           shape->dim[0] * t->n_contexts == t->batch_size;
}

mxc_status mxci_fit_metrics_create(const mxci_trainer *t, mxc_metric **loss, mxc_metric **accuracy) {
    int64_t last = mxc_symbol_n_outputs(t->options->symbol) - 1;
    const mxc_shape *shape = mxc_ndarray_shape(mxc_executor_output(t->executors[0], last));
    const mxc_data_desc *label = find_label(t);
    const output_metrics m = metrics_of_output(t);
    *loss = *accuracy = NULL;
    if (m.has_classes && !has_classes(t, shape, label))
        return MXC_OK;
    if (m.has_classes)
        MXC_TRY(create_for_classes(t, "accuracy", accuracy));
    if (!m.loss)
        return MXC_OK;
    if (m.has_classes)
        return create_for_classes(t, m.loss, loss);
    int is_label = label && mxc_shape_size(&label->shape) == mxc_shape_size(shape) * t->n_contexts;
    return is_label || strcmp(m.loss, "loss") == 0 ? mxc_metric_create(m.loss, 0, NULL, NULL, loss) : MXC_OK;
}

mxc_status mxci_fit_metrics_open(mxci_trainer *t) {
    const mxc_data_desc *label = find_label(t);
    t->label = label ? label->name : NULL;
    MXC_TRY(mxci_fit_metrics_create(t, &t->loss, &t->accuracy));
    t->history.loss = t->loss ? mxc_metric_name(t->loss) : NULL;
    return MXC_OK;
}
