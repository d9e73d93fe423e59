/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols as pictures, in the DOT language of Graphviz: operators are rounded boxes coloured by family, with the
 * parameters that are not defaults; weights and their like are lines in the label of the operator that uses them; other
 * variables are ellipses; edges carry shapes. Outputs have a thick border. The same symbol always gives the same text.
 */
#include <string.h>

#include <mxc/symbol.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "symbol/compose.h"
#include "symbol/graph.h"

/* ---- looks ------------------------------------------------------------------------------------------------- */

/* Colours by what an operator does to its data: learned layers, activations, pooling and reductions, normalization,
 * changes of shape, losses. Only for looks: an operator that is not listed is drawn in other_fill. */
static const struct family {
    const char *ops, *fill;
} families[] = {
    {"Convolution,Deconvolution,FullyConnected,RNN,Embedding,dot,batch_dot", "#f4a6a0"},
    {"Activation,LeakyReLU,relu,sigmoid,tanh,softrelu,SoftmaxActivation,Dropout", "#fdf3b0"},
    {"Pooling,UpSampling,ROIPooling,sum,mean,max,min,argmax", "#a9c8e6"},
    {"BatchNorm,InstanceNorm,L2Normalization,LRN,LayerNorm", "#cfc5e8"},
    {"Concat,Flatten,Reshape,transpose,SliceChannel,slice_axis,SwapAxis,Cast,expand_dims", "#fbd0a0"},
    {"SoftmaxOutput,LinearRegressionOutput,LogisticRegressionOutput,MAERegressionOutput,MakeLoss,softmax", "#c4e3a4"},
};
static const char *const other_fill = "#f5d5e6", *const variable_fill = "#cdebe3";

/* 1 for inputs that belong to the operator rather than to the data flow: weights and auxiliary states. */
static int is_weight(const mxci_gnode *node, int32_t input) {
    char name[128];
    if (node->kind != MXCI_FORWARD)
        return 0;
    mxci_input_name(node->op, input, name, sizeof name);
    return input >= node->n_inputs - node->n_aux || mxci_list_find("weight,bias,gamma,beta,parameters", name) >= 0;
}

/* Text inside a quoted string. */
static void add_quoted(mxci_text *t, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            mxci_text_add(t, "\\");
        if ((unsigned char)*text < 0x20)
            mxci_text_add(t, " ");
        else
            mxci_text_add_bytes(t, text, 1);
    }
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

/* The parameters given that differ from their defaults, a line each. */
static void graphviz_add_params(mxci_text *t, const mxc_op *op) {
    const char *key, *value;
    char text[128];
    for (int i = 0; i < mxc_op_n_given(op); i++) {
        const mxc_param *param;
        mxc_op_given(op, i, &key, &value);
        param = mxci_param_find(mxc_op_get_def(op), key);
        if (!param || mxci_list_find("workspace,cudnn_tune,cudnn_off,num_args", key) >= 0)
            continue;
        mxc_param_format(param, mxc_op_params(op), text, sizeof text);
        if (param->initial && strcmp(text, param->initial) == 0)
            continue;
        mxci_text_add(t, "\\n");
        add_quoted(t, param->name);
        mxci_text_add(t, " ");
        add_quoted(t, text);
    }
}

static int is_variable(const mxci_graph *g, int32_t entry) {
    return g->nodes[g->entry_node[entry]].kind == MXCI_VARIABLE;
}

/* The names and shapes of the weights, a line each. */
static void add_weights(mxci_text *t, const mxci_graph *g, const mxci_gnode *node) {
    char name[128], shape[MXC_SHAPE_TEXT];
    for (int32_t i = 0; i < node->n_inputs; i++) {
        int32_t entry = g->inputs[node->first_input + i];
        if (!is_variable(g, entry) || !is_weight(node, i) || !mxc_shape_known(&g->shapes[entry]))
            continue;
        mxci_text_add(t, "\\n");
        add_quoted(t, mxci_input_name(node->op, i, name, sizeof name));
        mxci_text_printf(t, " %s", mxc_shape_format(&g->shapes[entry], shape, sizeof shape));
    }
}

static void add_variable(mxci_text *t, const mxci_graph *g, const mxci_gnode *node) {
    char shape[MXC_SHAPE_TEXT];
    add_quoted(t, node->name);
    if (mxc_shape_known(&g->shapes[node->first_entry]))
        mxci_text_printf(t, "\\n%s", mxc_shape_format(&g->shapes[node->first_entry], shape, sizeof shape));
    mxci_text_printf(t, "\", shape=ellipse, fillcolor=\"%s\"", variable_fill);
}

/* The label of an operator, and its colour by family; backward nodes are dashed. */
static void add_operator(mxci_text *t, const mxci_graph *g, const mxci_gnode *node) {
    const char *op = mxc_op_get_def(node->op)->name, *fill = other_fill;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (mxci_list_find(families[i].ops, op) >= 0)
            fill = families[i].fill;
    add_quoted(t, node->name);
    mxci_text_printf(t, "\\n%s", node->kind == MXCI_BACKWARD ? "backward of " : "");
    add_quoted(t, op);
    if (node->kind == MXCI_FORWARD) {
        graphviz_add_params(t, node->op);
        add_weights(t, g, node);
    }
    mxci_text_printf(t, "\", fillcolor=\"%s\"%s", fill,
                     node->kind == MXCI_BACKWARD ? ", style=\"rounded,filled,dashed\"" : "");
}

/* An edge with its shape for each input that is not a weight. */
static void add_edges(mxci_text *t, const mxci_graph *g, int32_t at, const unsigned char *drawn) {
    const mxci_gnode *node = &g->nodes[at];
    char shape[MXC_SHAPE_TEXT];
    for (int32_t i = 0; i < node->n_inputs; i++) {
        int32_t entry = g->inputs[node->first_input + i], from = g->entry_node[entry];
        if (!drawn[from] || (is_weight(node, i) && is_variable(g, entry)))
            continue;
        mxci_text_printf(t, "    n%d -> n%d", (int)from, (int)at);
        if (mxc_shape_known(&g->shapes[entry]))
            mxci_text_printf(t, " [label=\" %s\"]", mxc_shape_format(&g->shapes[entry], shape, sizeof shape));
        mxci_text_add(t, ";\n");
    }
}

/* ---- graph ------------------------------------------------------------------------------------------------- */

enum { DRAWN = 1, OUTPUT = 2 };

/* A variable is drawn if it is more than the weight of operators. */
static void choose_drawn(const mxci_graph *g, unsigned char *drawn) {
    for (int32_t i = 0; i < g->n_nodes; i++) {
        drawn[i] |= g->nodes[i].kind != MXCI_VARIABLE ? DRAWN : 0;
        for (int32_t j = 0; j < g->nodes[i].n_inputs; j++)
            if (!is_weight(&g->nodes[i], j))
                drawn[g->entry_node[mxci_graph_inputs(g, i)[j]]] |= DRAWN;
    }
    for (int32_t i = 0; i < g->n_outputs; i++)
        drawn[g->entry_node[g->outputs[i]]] |= DRAWN | OUTPUT;
}

static void add_graph(mxci_text *t, const mxci_graph *g, const unsigned char *drawn) {
    mxci_text_add(t, "digraph symbol {\n"
                     "    node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
                     "    edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7, color=\"#606060\",\n"
                     "          fontcolor=\"#606060\"];\n");
    for (int32_t i = 0; i < g->n_nodes; i++) {
        if (!drawn[i])
            continue;
        mxci_text_printf(t, "    n%d [label=\"", (int)i);
        if (g->nodes[i].kind == MXCI_VARIABLE)
            add_variable(t, g, &g->nodes[i]);
        else
            add_operator(t, g, &g->nodes[i]);
        mxci_text_printf(t, "%s];\n", drawn[i] & OUTPUT ? ", penwidth=2" : "");
    }
    for (int32_t i = 0; i < g->n_nodes; i++)
        add_edges(t, g, i, drawn);
    mxci_text_add(t, "}\n");
}

mxc_status mxc_symbol_to_dot(const mxc_symbol *symbol, int64_t n, const char *const *names, const mxc_shape *shapes,
                             char **out) {
    mxci_graph *g;
    mxci_text text = {0};
    unsigned char *drawn;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_symbol_infer_graph(symbol, n, names, shapes, NULL, &g));
    drawn = mxci_calloc((size_t)g->n_nodes, 1);
    if (drawn) {
        choose_drawn(g, drawn);
        add_graph(&text, g, drawn);
    }
    mxci_graph_destroy(g);
    if (!drawn)
        return MXCI_NO_MEMORY("mxc_symbol_to_dot", "the nodes that are drawn");
    mxci_free(drawn);
    return mxci_text_take(&text, out);
}
