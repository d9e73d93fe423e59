/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of the control-flow operators, as MXNet writes them: the inputs of such a node are those of its subgraphs,
 * each variable once, and parameters say which argument of a subgraph reads which input.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"
#include "symbol/graph.h"
#include "symbol/node.h"
#include "symbol/scope.h"

enum { MAX_PARAMS = 8 };

/* A node being made: its inputs so far, and its parameters as text. */
typedef struct maker {
    const char *op, *name;
    int32_t n_in, capacity;
    mxci_entry *in;     /* borrowed */
    char const **names; /* the variable that each input stands for in the subgraphs; borrowed */
    int n_params;
    const char *keys[MAX_PARAMS];
    char *values[MAX_PARAMS];
} maker;

static void maker_free(maker *m) {
    for (int i = 0; i < m->n_params; i++)
        mxci_free(m->values[i]);
    mxci_free(m->names);
    mxci_free(m->in);
}

static mxc_status add_input(maker *m, const char *name, mxci_entry entry) {
    if (m->n_in == m->capacity) {
        int32_t capacity = m->capacity ? 2 * m->capacity : 16;
        mxci_entry *in = mxci_realloc_array(m->in, (size_t)capacity, sizeof *in);
        m->in = in ? in : m->in;
        const char **names = in ? mxci_realloc_array(m->names, (size_t)capacity, sizeof *names) : NULL;
        m->names = names ? names : m->names;
        if (!in || !names)
            return MXCI_NO_MEMORY(m->op, "inputs");
        m->capacity = capacity;
    }
    m->in[m->n_in] = entry;
    m->names[m->n_in++] = name;
    return MXC_OK;
}

/* The symbols given for variables of the subgraphs, each of one output. */
static mxc_status add_given(maker *m, int n, const char *const *names, mxc_symbol *const *in) {
    for (int i = 0; i < n; i++) {
        if (!names[i] || !in[i])
            return MXC_FAIL(MXC_EINVAL, "%s: the %s of input %d that is given must not be NULL", m->op,
                            names[i] ? "symbol" : "name", i);
        if (in[i]->n_outputs != 1 || in[i]->atomic)
            return MXC_FAIL(MXC_EINVAL, "%s: the symbol for '%.100s' has %lld outputs, expected 1", m->op, names[i],
                            (long long)in[i]->n_outputs);
        for (int32_t k = 0; k < m->n_in; k++)
            if (strcmp(m->names[k], names[i]) == 0)
                return MXC_FAIL(MXC_EINVAL, "%s: '%.100s' is given twice", m->op, names[i]);
        MXC_TRY(add_input(m, names[i], in[i]->outputs[0]));
    }
    return MXC_OK;
}

static int32_t find_input(const maker *m, const char *name) {
    int32_t i = 0;
    while (i < m->n_in && strcmp(m->names[i], name) != 0)
        i++;
    return i;
}

/* Add the variables of a subgraph that are no inputs yet: they are variables of the symbol that is made, too. */
static mxc_status add_captured(maker *m, const mxci_graph *subgraph) {
    for (int32_t i = 0; i < subgraph->n_args; i++) {
        mxci_gnode *variable = &subgraph->nodes[subgraph->args[i]];
        if (find_input(m, variable->name) == m->n_in)
            MXC_TRY(add_input(m, variable->node->name, (mxci_entry){variable->node, 0}));
    }
    return MXC_OK;
}

static mxc_status add_param(maker *m, const char *key, mxci_text *text) {
    m->keys[m->n_params] = key;
    MXC_TRY(mxci_text_take(text, &m->values[m->n_params]));
    m->n_params++;
    return MXC_OK;
}

static mxc_status add_number(maker *m, const char *key, int64_t number) {
    mxci_text text = {0};
    mxci_text_printf(&text, "%lld", (long long)number);
    return add_param(m, key, &text);
}

/* Which input each argument of a subgraph reads. */
static mxc_status add_reads(maker *m, const char *key, const mxci_graph *subgraph) {
    mxci_text text = {0};
    mxci_text_add(&text, "[");
    for (int32_t i = 0; i < subgraph->n_args; i++)
        mxci_text_printf(&text, "%s%d", i ? ", " : "", (int)find_input(m, subgraph->nodes[subgraph->args[i]].name));
    mxci_text_add(&text, "]");
    return add_param(m, key, &text);
}

/* Which argument of a subgraph each of some inputs is. A name that the subgraph does not read is an error. */
static mxc_status add_places(maker *m, const char *key, const mxci_graph *subgraph, int32_t first, int32_t n) {
    mxci_text text = {0};
    mxci_text_add(&text, "[");
    for (int32_t i = 0; i < n; i++) {
        int32_t at = 0;
        while (at < subgraph->n_args && strcmp(subgraph->nodes[subgraph->args[at]].name, m->names[first + i]) != 0)
            at++;
        if (at == subgraph->n_args) {
            mxci_text_free(&text);
            return MXC_FAIL(MXC_EINVAL, "%s: the subgraph has no argument '%.100s'", m->op, m->names[first + i]);
        }
        mxci_text_printf(&text, "%s%d", i ? ", " : "", (int)at);
    }
    mxci_text_add(&text, "]");
    return add_param(m, key, &text);
}

/* The node, applied to its inputs, and a symbol of all its outputs. */
static mxc_status finish(maker *m, int n_subgraphs, mxc_symbol *const *subgraphs, int64_t n_outputs, mxc_symbol **out) {
    char automatic[160];
    const char *name = m->name && m->name[0] ? m->name : mxci_name_auto(m->op, automatic, sizeof automatic);
    mxci_entry *outputs = mxci_calloc((size_t)n_outputs + 1, sizeof *outputs);
    mxci_node *node = NULL;
    mxc_op *op = NULL;
    mxc_status status = outputs ? add_number(m, "num_args", m->n_in + n_subgraphs) : MXCI_NO_MEMORY(m->op, "outputs");
    if (status == MXC_OK)
        status = add_number(m, "num_outputs", n_outputs);
    if (status == MXC_OK)
        status = mxci_op_create_with_subgraphs(m->op, m->n_params, m->keys, (const char *const *)m->values, n_subgraphs,
                                               subgraphs, &op);
    if (status == MXC_OK)
        status = mxci_node_create(MXCI_FORWARD, name, op, &node);
    if (status == MXC_OK)
        status = mxci_scope_apply(node);
    if (status == MXC_OK)
        status = mxci_node_reserve_inputs(node, m->n_in);
    for (int32_t i = 0; i < m->n_in && status == MXC_OK; i++)
        mxci_node_add_input(node, m->in[i]);
    for (int64_t i = 0; i < n_outputs && status == MXC_OK; i++)
        outputs[i] = (mxci_entry){node, (int32_t)i};
    if (status == MXC_OK)
        status = mxci_symbol_create(n_outputs, outputs, out);
    mxci_node_release(node);
    mxc_op_release(op);
    mxci_free(outputs);
    return status;
}

static mxc_status check_count(const char *function, const char *name, int n) {
    return n >= 0 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "%s: %s is %d, expected at least 0", function, name, n);
}

static void destroy_graphs(int n, mxci_graph **graphs) {
    for (int i = 0; i < n; i++)
        mxci_graph_destroy(graphs[i]);
}

mxc_status mxc_symbol_foreach(const char *name, mxc_symbol *body, int n_data, const char *const *data_names,
                              mxc_symbol *const *data, int n_states, const char *const *state_names,
                              mxc_symbol *const *states, mxc_symbol **out) {
    maker m = {.op = "_foreach", .name = name};
    mxci_graph *g;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(body));
    MXC_TRY(check_count(__func__, "n_data", n_data));
    MXC_TRY(check_count(__func__, "n_states", n_states));
    MXC_TRY(MXCI_NON_NULL_IF(n_data > 0, data_names));
    MXC_TRY(MXCI_NON_NULL_IF(n_data > 0, data));
    MXC_TRY(MXCI_NON_NULL_IF(n_states > 0, state_names));
    MXC_TRY(MXCI_NON_NULL_IF(n_states > 0, states));
    MXC_TRY(mxci_graph_from_symbol(body, &g));
    mxc_status status = add_given(&m, n_data, data_names, data);
    if (status == MXC_OK)
        status = add_given(&m, n_states, state_names, states);
    if (status == MXC_OK)
        status = add_captured(&m, g);
    if (status == MXC_OK)
        status = add_places(&m, "in_data_locs", g, 0, n_data);
    if (status == MXC_OK)
        status = add_places(&m, "in_state_locs", g, n_data, n_states);
    if (status == MXC_OK)
        status = add_places(&m, "remain_locs", g, n_data + n_states, m.n_in - n_data - n_states);
    if (status == MXC_OK)
        status = add_number(&m, "num_out_data", g->n_outputs - n_states);
    if (status == MXC_OK)
        status = finish(&m, 1, &body, g->n_outputs, out);
    maker_free(&m);
    mxci_graph_destroy(g);
    return status;
}

mxc_status mxc_symbol_while_loop(const char *name, mxc_symbol *condition, mxc_symbol *body, int n_vars,
                                 const char *const *var_names, mxc_symbol *const *vars, int64_t max_iterations,
                                 mxc_symbol **out) {
    maker m = {.op = "_while_loop", .name = name};
    mxci_graph *g[2] = {0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(condition));
    MXC_TRY(MXCI_NON_NULL(body));
    MXC_TRY(check_count(__func__, "n_vars", n_vars));
    MXC_TRY(MXCI_NON_NULL_IF(n_vars > 0, var_names));
    MXC_TRY(MXCI_NON_NULL_IF(n_vars > 0, vars));
    mxc_symbol *subgraphs[2] = {condition, body};
    mxc_status status = MXC_OK;
    for (int i = 0; i < 2 && status == MXC_OK; i++)
        status = mxci_graph_from_symbol(subgraphs[i], &g[i]);
    if (status == MXC_OK)
        status = add_given(&m, n_vars, var_names, vars);
    for (int i = 0; i < 2 && status == MXC_OK; i++)
        status = add_captured(&m, g[i]);
    if (status == MXC_OK)
        status = add_reads(&m, "cond_input_locs", g[0]);
    if (status == MXC_OK)
        status = add_reads(&m, "func_input_locs", g[1]);
    if (status == MXC_OK)
        status = add_places(&m, "func_var_locs", g[1], 0, n_vars);
    if (status == MXC_OK)
        status = add_number(&m, "max_iterations", max_iterations);
    if (status == MXC_OK)
        status = add_number(&m, "num_out_data", g[1]->n_outputs - n_vars);
    if (status == MXC_OK)
        status = finish(&m, 2, subgraphs, g[1]->n_outputs, out);
    maker_free(&m);
    destroy_graphs(2, g);
    return status;
}

mxc_status mxc_symbol_cond(const char *name, mxc_symbol *condition, mxc_symbol *then_branch, mxc_symbol *else_branch,
                           mxc_symbol **out) {
    static const char *const keys[] = {"cond_input_locs", "then_input_locs", "else_input_locs"};
    maker m = {.op = "_cond", .name = name};
    mxci_graph *g[3] = {0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(condition));
    MXC_TRY(MXCI_NON_NULL(then_branch));
    MXC_TRY(MXCI_NON_NULL(else_branch));
    mxc_symbol *subgraphs[3] = {condition, then_branch, else_branch};
    mxc_status status = MXC_OK;
    for (int i = 0; i < 3 && status == MXC_OK; i++)
        status = mxci_graph_from_symbol(subgraphs[i], &g[i]);
    for (int i = 0; i < 3 && status == MXC_OK; i++)
        status = add_captured(&m, g[i]);
    for (int i = 0; i < 3 && status == MXC_OK; i++)
        status = add_reads(&m, keys[i], g[i]);
    if (status == MXC_OK)
        status = finish(&m, 3, subgraphs, g[1]->n_outputs, out);
    maker_free(&m);
    destroy_graphs(3, g);
    return status;
}
