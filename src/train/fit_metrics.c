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

/* The metrics of an operator. This is a table of names, not a member of the descriptor, because it is about what
 * mxc_fit displays and not about what an operator computes: an operator that is not listed has no displayed loss, and
 * training is the same. Programs choose metrics of their own in a callback or with mxc_evaluate. */
typedef struct output_metrics {
    const char *op;
    const char *loss; /* name of a metric; NULL: no loss is displayed */
    int has_classes;  /* (N,C) has an accuracy */
} output_metrics;

static const output_metrics metrics_of_operators[] = {
    /* outputs are probabilities (N,C), labels are classes (N,) */
    {"SoftmaxOutput", "cross-entropy", 1},
    {"softmax", "cross-entropy", 1},
    {"SoftmaxActivation", "cross-entropy", 1},
    /* outputs and labels have the same shape */
    {"LinearRegressionOutput", "mse", 0},
    {"LogisticRegressionOutput", "mse", 0},
    {"MAERegressionOutput", "mae", 0},
    /* outputs are losses, there is no label */
    {"MakeLoss", "loss", 0},
    {"make_loss", "loss", 0},
};

static const char *fit_metrics_op_name(const mxci_node *node) {
    return node->kind == MXCI_FORWARD ? mxc_op_get_def(node->op)->name : "";
}

/* The node of the last output, behind operators whose output is their input. */
static const mxci_node *last_node(const mxci_trainer *trainer) {
    const mxc_symbol *symbol = trainer->options->symbol;
    for (const mxci_node *node = symbol->outputs[symbol->n_outputs - 1].node;; node = node->inputs[0].node) {
        const char *name = fit_metrics_op_name(node);
        if (strcmp(name, "BlockGrad") != 0 && strcmp(name, "_copy") != 0 && strcmp(name, "Cast") != 0)
            return node;
    }
}

static output_metrics metrics_of_output(const mxci_trainer *trainer) {
    const char *name = fit_metrics_op_name(last_node(trainer));
    for (size_t i = 0; i < sizeof metrics_of_operators / sizeof metrics_of_operators[0]; i++)
        if (strcmp(metrics_of_operators[i].op, name) == 0)
            return metrics_of_operators[i];
    return (output_metrics){name, NULL, 1};
}

void mxci_fit_metrics_describe(const mxci_trainer *trainer, char *out, size_t size) {
    const mxci_node *node = last_node(trainer);
    char text[MXC_SHAPE_TEXT];
    int64_t last = mxc_symbol_n_outputs(trainer->options->symbol) - 1;
    const mxc_shape *shape = mxc_ndarray_shape(mxc_executor_output(trainer->executors[0], last));
    mxci_format(out, size, "%s '%.40s' %s", node->kind == MXCI_FORWARD ? fit_metrics_op_name(node) : "variable",
                node->name, mxc_shape_format(shape, text, sizeof text));
}

/* ---- the label --------------------------------------------------------------------------------------------------- */

/* The variable that the operator's label is made of, if the iterator provides it; else the iterator's first label. */
static const mxc_data_desc *find_label(const mxci_trainer *trainer) {
    mxc_iter *iter = trainer->options->train;
    const mxci_node *node = last_node(trainer);
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

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

/* Samples with SoftmaxOutput's ignore_label do not count, if they are not trained. */
static mxc_status create_for_classes(const mxci_trainer *trainer, const char *name, mxc_metric **out) {
    static const char *const key = "ignore_label";
    const mxci_node *node = last_node(trainer);
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
static int has_classes(const mxci_trainer *trainer, const mxc_shape *shape, const mxc_data_desc *label) {
    return shape->ndim == 2 && shape->dim[1] > 1 && label && mxc_shape_size(&label->shape) == trainer->batch_size &&
           shape->dim[0] * trainer->n_contexts == trainer->batch_size;
}

mxc_status mxci_fit_metrics_create(const mxci_trainer *trainer, mxc_metric **loss, mxc_metric **accuracy) {
    int64_t last = mxc_symbol_n_outputs(trainer->options->symbol) - 1;
    const mxc_shape *shape = mxc_ndarray_shape(mxc_executor_output(trainer->executors[0], last));
    const mxc_data_desc *label = find_label(trainer);
    const output_metrics m = metrics_of_output(trainer);
    *loss = *accuracy = NULL;
    if (m.has_classes && !has_classes(trainer, shape, label))
        return MXC_OK;
    if (m.has_classes)
        MXC_TRY(create_for_classes(trainer, "accuracy", accuracy));
    if (!m.loss)
        return MXC_OK;
    if (m.has_classes)
        return create_for_classes(trainer, m.loss, loss);
    int is_label = label && mxc_shape_size(&label->shape) == mxc_shape_size(shape) * trainer->n_contexts;
    return is_label || strcmp(m.loss, "loss") == 0 ? mxc_metric_create(m.loss, 0, NULL, NULL, loss) : MXC_OK;
}

mxc_status mxci_fit_metrics_open(mxci_trainer *trainer) {
    const mxc_data_desc *label = find_label(trainer);
    trainer->label = label ? label->name : NULL;
    MXC_TRY(mxci_fit_metrics_create(trainer, &trainer->loss, &trainer->accuracy));
    trainer->history.loss = trainer->loss ? mxc_metric_name(trainer->loss) : NULL;
    return MXC_OK;
}
