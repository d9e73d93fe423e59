/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics that a training shows for its last output: a loss and an accuracy, chosen by the operator that computes
 * the output, its shape and its label; and the metrics of the options.
 */
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "operator/loss/losses.h"
#include "symbol/graph.h"
#include "train/metric.h"
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

/* (N,C) and a label for each of the N rows, which are samples, or the tokens of all samples. */
static int has_classes(const mxci_trainer *trainer, const mxc_shape *shape, const mxc_data_desc *label) {
    return shape->ndim == 2 && shape->dim[1] > 1 && label &&
           shape->dim[0] * trainer->n_contexts == mxc_shape_size(&label->shape);
}

/* *accuracy and *loss are NULL where they do not apply. */
static mxc_status create_defaults(const mxci_trainer *trainer, mxc_metric **loss, mxc_metric **accuracy) {
    int64_t last = mxc_symbol_n_outputs(trainer->options->symbol) - 1;
    const mxc_shape *shape = mxc_ndarray_shape(mxc_executor_output(trainer->executors[0], last));
    const mxc_data_desc *label = find_label(trainer);
    const output_metrics m = metrics_of_output(trainer);
    if (m.has_classes && !has_classes(trainer, shape, label))
        return MXC_OK;
    if (m.has_classes && trainer->options->n_metrics == 0)
        MXC_TRY(create_for_classes(trainer, "accuracy", accuracy));
    if (!m.loss)
        return MXC_OK;
    if (m.has_classes)
        return create_for_classes(trainer, m.loss, loss);
    int is_label = label && mxc_shape_size(&label->shape) == mxc_shape_size(shape) * trainer->n_contexts;
    return is_label || strcmp(m.loss, "loss") == 0 ? mxc_metric_create(m.loss, 0, NULL, NULL, loss) : MXC_OK;
}

/* The index of the metric of that name; -1: there is none. */
static int find_metric(const mxci_trainer *trainer, const char *name) {
    for (int i = 0; i < trainer->n_metrics; i++)
        if (strcmp(mxc_metric_name(trainer->metrics[i]), name) == 0)
            return i;
    return -1;
}

static mxc_status add_given(mxci_trainer *trainer) {
    const mxc_fit_options *o = trainer->options;
    for (int i = 0; i < o->n_metrics; i++) {
        const char *name = mxc_metric_name(o->metrics[i]);
        if (!o->metrics[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_fit: metrics[%d] is NULL", i);
        if (find_metric(trainer, name) >= 0)
            return MXC_FAIL(MXC_EINVAL, "mxc_fit: two metrics are called \"%s\": give one of them another name", name);
        mxc_metric_reset(o->metrics[i]);
        trainer->metrics[trainer->n_metrics++] = o->metrics[i];
    }
    return MXC_OK;
}

/* The loss, unless one of the options' metrics has its name, and the accuracy; then the options' metrics. */
static mxc_status list_metrics(mxci_trainer *trainer) {
    mxc_metric *loss = NULL, *accuracy = NULL;
    mxc_status status = create_defaults(trainer, &loss, &accuracy);
    char name[MXC_METRIC_NAME];
    mxci_format(name, sizeof name, "%s", mxc_metric_name(loss));
    for (int i = 0; i < trainer->options->n_metrics && loss; i++)
        if (strcmp(mxc_metric_name(trainer->options->metrics[i]), name) == 0) {
            mxc_metric_destroy(loss);
            loss = NULL;
        }
    if (loss)
        trainer->metrics[trainer->n_metrics++] = loss;
    if (accuracy)
        trainer->metrics[trainer->n_metrics++] = accuracy;
    trainer->n_default = trainer->n_metrics;
    if (status == MXC_OK)
        status = add_given(trainer);
    trainer->loss = find_metric(trainer, name);
    trainer->accuracy = find_metric(trainer, "accuracy");
    return status;
}

mxc_status mxci_fit_metrics_open(mxci_trainer *trainer) {
    const mxc_fit_options *o = trainer->options;
    const mxc_data_desc *label = find_label(trainer);
    trainer->label = label ? label->name : NULL;
    if (o->n_metrics < 0 || o->n_metrics >= MXC_FIT_METRICS || (o->n_metrics > 0 && !o->metrics))
        return MXC_FAIL(MXC_EINVAL, "mxc_fit: n_metrics is %d, expected 0 to %d, with metrics", o->n_metrics,
                        MXC_FIT_METRICS - 1);
    MXC_TRY(list_metrics(trainer));
    trainer->progress.n_metrics = trainer->history.n_metrics = trainer->n_metrics;
    for (int i = 0; i < trainer->n_metrics; i++) {
        const char *name = mxc_metric_name(trainer->metrics[i]);
        MXC_TRY(mxci_metric_clone(trainer->metrics[i], &trainer->valid_metrics[i]));
        mxci_format(trainer->progress.metrics[i].name, MXC_METRIC_NAME, "%s", name);
        trainer->history.metrics[i] =
            (mxci_curve_metric){name, i == trainer->loss, mxci_metric_is_share(trainer->metrics[i])};
    }
    mxci_fit_metrics_show(trainer, 0);
    mxci_fit_metrics_show(trainer, 1);
    return MXC_OK;
}

void mxci_fit_metrics_close(mxci_trainer *trainer) {
    for (int i = 0; i < trainer->n_metrics; i++) {
        mxc_metric_destroy(trainer->valid_metrics[i]);
        if (i < trainer->n_default)
            mxc_metric_destroy(trainer->metrics[i]);
    }
}

void mxci_fit_metrics_reset(mxci_trainer *trainer) {
    for (int i = 0; i < trainer->n_metrics; i++)
        mxc_metric_reset(trainer->metrics[i]);
}

void mxci_fit_metrics_show(mxci_trainer *trainer, int of_validation) {
    mxc_fit_progress *p = &trainer->progress;
    for (int i = 0; i < trainer->n_metrics; i++) {
        double value = mxc_metric_value(of_validation ? trainer->valid_metrics[i] : trainer->metrics[i]);
        *(of_validation ? &p->metrics[i].valid : &p->metrics[i].train) = value;
        if (i == trainer->loss)
            *(of_validation ? &p->valid_loss : &p->loss) = value;
        if (i == trainer->accuracy)
            *(of_validation ? &p->valid_accuracy : &p->accuracy) = value;
    }
}
