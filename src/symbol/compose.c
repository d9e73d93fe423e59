/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composition: operators applied to inputs at once (mxc_symbol_op), or created first (mxc_symbol_atomic) and applied
 * later (mxc_symbol_compose). Replacing the variables of a composed symbol is in substitute.c.
 */
#include "symbol/compose.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/registry.h"
#include "symbol/scope.h"

/* The arguments of mxc_symbol_op. */
typedef struct call {
    const char *op, *name; /* name NULL or "": automatic */
    int n_params;
    const char *const *keys, *const *values; /* parameters, and attributes among them */
    int n_in;
    const char *const *arg_keys; /* names of the inputs; NULL: in order */
    mxc_symbol *const *in;
} call;

/* ---- inputs ------------------------------------------------------------------------------------------------ */

static const char *compose_op_name(const mxci_node *node) {
    return mxc_op_get_def(node->op)->name;
}

/* "data, weight, bias, ..." */
static const char *list_inputs(const mxci_node *node, char *out, size_t size) {
    mxci_line line = {out, size, 0};
    char name[128];
    int32_t i;
    out[0] = '\0';
    for (i = 0; i < node->n_inputs && line.length + 40 < size; i++)
        mxci_line_printf(&line, "%s%.30s", i ? ", " : "",
                         mxci_input_name(node->op, mxc_op_input_index(node->op, i), name, sizeof name));
    if (i < node->n_inputs)
        mxci_line_printf(&line, ", ...");
    return out;
}

/* Connects an entry to input number at, which retains its node. */
static mxc_status put_input(mxci_node *node, int32_t at, mxci_entry entry) {
    char name[128];
    mxci_input_name(node->op, at, name, sizeof name);
    if (node->inputs[at].node)
        return MXC_FAIL(MXC_EINVAL, "%s \"%.100s\": argument %s is given twice", compose_op_name(node), node->name,
                        name);
    if (at >= mxc_op_n_args(node->op) && entry.node->kind != MXCI_VARIABLE)
        return MXC_FAIL(MXC_EINVAL, "%s \"%.100s\": auxiliary state %s must be a variable, found node \"%.100s\"",
                        compose_op_name(node), node->name, name, entry.node->name);
    mxci_node_retain(entry.node);
    node->inputs[at] = entry;
    return MXC_OK;
}

/* Connects the outputs of all given symbols to the inputs in order. */
static mxc_status bind_in_order(mxci_node *node, const call *c) {
    int32_t at = 0;
    for (int i = 0; i < c->n_in; i++)
        for (int64_t j = 0; j < c->in[i]->n_outputs; j++) {
            char names[160];
            if (at == node->n_inputs)
                return MXC_FAIL(MXC_EINVAL, "%s \"%.100s\": too many inputs, expected at most %d: %s",
                                compose_op_name(node), node->name, node->n_inputs,
                                list_inputs(node, names, sizeof names));
            MXC_TRY(put_input(node, mxc_op_input_index(node->op, at++), c->in[i]->outputs[j]));
        }
    return MXC_OK;
}

/* Connects symbols of one output each to the inputs of these names. */
static mxc_status bind_by_name(mxci_node *node, const call *c) {
    char names[160];
    for (int i = 0; i < c->n_in; i++) {
        int32_t at = mxci_input_find(node->op, c->arg_keys[i], strlen(c->arg_keys[i]));
        if (at < 0)
            return MXC_FAIL(MXC_EINVAL, "%s \"%.100s\": has no argument '%.60s', expected one of: %s",
                            compose_op_name(node), node->name, c->arg_keys[i], list_inputs(node, names, sizeof names));
        if (c->in[i]->n_outputs != 1)
            return MXC_FAIL(MXC_EINVAL, "%s \"%.100s\": argument '%.60s' is a symbol of %lld outputs, expected 1",
                            compose_op_name(node), node->name, c->arg_keys[i], (long long)c->in[i]->n_outputs);
        MXC_TRY(put_input(node, at, c->in[i]->outputs[0]));
    }
    return MXC_OK;
}

/* Connects all inputs of the node; those that are not given become new variables. */
static mxc_status bind_inputs(mxci_node *node, const call *c) {
    int32_t n = mxc_op_n_args(node->op) + mxc_op_n_aux(node->op);
    MXC_TRY(mxci_node_reserve_inputs(node, n));
    node->n_inputs = n;
    MXC_TRY(c->arg_keys ? bind_by_name(node, c) : bind_in_order(node, c));
    for (int32_t i = 0; i < n; i++)
        if (!node->inputs[i].node)
            MXC_TRY(mxci_node_default_input(node, i));
    return mxci_hoist_attrs(node);
}

/* ---- application ------------------------------------------------------------------------------------------- */

static mxc_status check_lists(const char *op, int n, const char *const *keys, const char *const *values) {
    if (n < 0 || (n > 0 && (!keys || !values)))
        return MXC_FAIL(MXC_EINVAL, "%.100s: %d parameters%s", op, n, n > 0 ? " without keys or values" : "");
    for (int i = 0; i < n; i++)
        if (!keys[i] || !values[i])
            return MXC_FAIL(MXC_EINVAL, "%.100s: the key or value of parameter %d is NULL", op, i);
    return MXC_OK;
}

/* How many of the first inputs are subgraphs that the operator runs. */
static int count_subgraphs(const char *op) {
    const mxc_op_def *def = mxc_op_find(op);
    return def ? def->n_subgraphs : 0;
}

/* Checks the given inputs and counts the outputs of those that are no subgraphs. */
static mxc_status count_inputs(const call *c, int n_subgraphs, int64_t *out) {
    *out = 0;
    if (n_subgraphs > 0 && (c->n_in < n_subgraphs || c->arg_keys))
        return MXC_FAIL(MXC_EINVAL, "%.100s: expected %d subgraphs as the first inputs, all in order, found %d %s",
                        c->op, n_subgraphs, c->n_in, c->arg_keys ? "by name" : "inputs");
    if (c->n_in < 0 || (c->n_in > 0 && !c->in))
        return MXC_FAIL(MXC_EINVAL, "%.100s: %d inputs%s", c->op, c->n_in, c->n_in > 0 ? " at NULL" : "");
    for (int i = 0; i < c->n_in && c->arg_keys; i++)
        if (!c->arg_keys[i])
            return MXC_FAIL(MXC_EINVAL, "%.100s: the argument name of input %d is NULL", c->op, i);
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i] || c->in[i]->atomic)
            return MXC_FAIL(MXC_EINVAL, "%.100s: input %d is %s", c->op, i,
                            c->in[i] ? "an operator not applied to inputs yet" : "NULL");
        *out += i < n_subgraphs ? 0 : c->in[i]->n_outputs;
    }
    return MXC_OK;
}

/* The node with its attributes (those of the scope first) and inputs; it owns the references. */
static mxc_status compose_make_node(const call *c, mxc_op *op, mxci_node **out) {
    char automatic[160];
    const char *name = c->name && c->name[0] ? c->name : mxci_name_auto(c->op, automatic, sizeof automatic);
    mxc_status status = mxci_node_create(MXCI_FORWARD, name, op, out);
    if (status == MXC_OK)
        status = mxci_scope_apply(*out);
    if (status == MXC_OK)
        status = mxci_node_take_attrs(*out, c->n_params, c->keys, c->values);
    if (status == MXC_OK)
        status = bind_inputs(*out, c);
    if (status != MXC_OK) {
        mxci_node_release(*out);
        *out = NULL;
    }
    return status;
}

/* Applies an operator: the symbol of its visible outputs. */
static mxc_status apply(const call *c, mxc_symbol **out) {
    int n_subgraphs;
    int64_t n_in;
    call inputs = *c;
    mxc_op *op;
    mxci_node *node;
    mxci_entry *outputs;
    mxc_status status;
    int n_visible;
    MXC_TRY(check_lists(c->op, c->n_params, c->keys, c->values));
    MXC_TRY(mxci_registry_start());
    n_subgraphs = count_subgraphs(c->op);
    MXC_TRY(count_inputs(c, n_subgraphs, &n_in));
    MXC_TRY(mxci_op_make(c->op, c->n_params, c->keys, c->values, n_in, n_subgraphs, c->in, &op));
    if (n_subgraphs > 0) {
        inputs.in += n_subgraphs;
        inputs.n_in -= n_subgraphs;
    }
    status = compose_make_node(&inputs, op, &node);
    mxc_op_release(op);
    MXC_TRY(status);
    n_visible = mxci_node_n_visible(node);
    outputs = mxci_calloc((size_t)n_visible, sizeof *outputs);
    for (int i = 0; i < n_visible && outputs; i++)
        outputs[i] = (mxci_entry){node, i};
    status = outputs ? mxci_symbol_create(n_visible, outputs, out)
                     : MXC_FAIL(MXC_ENOMEM, "symbol: no memory for %d outputs", n_visible);
    mxci_free(outputs);
    mxci_node_release(node);
    return status;
}

mxc_status mxc_symbol_op(const char *op, const char *name, int n_params, const char *const *keys,
                         const char *const *values, int n_in, const char *const *arg_keys, mxc_symbol *const *in,
                         mxc_symbol **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(op));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    call c = {op, name, n_params, keys, values, n_in, arg_keys, in};
    return apply(&c, out);
}

/* ---- operators not applied yet ----------------------------------------------------------------------------- */

/* Checks parameters when the operator is created. The values of a variadic operator's parameters can be parsed only
 * when its inputs are counted, so of those only the names are checked here. */
static mxc_status compose_check_params(const char *name, int n, const char *const *keys, const char *const *values) {
    const mxc_op_def *def;
    mxc_op *op;
    int counted;
    MXC_TRY(mxci_registry_start());
    def = mxc_op_find(name);
    if (def && def->n_subgraphs > 0)
        return MXC_OK; /* they come with the inputs */
    counted = !def || !def->variadic;
    for (int i = 0; i < n && !counted; i++)
        counted = mxci_param_find(def, keys[i]) == mxci_param_find(def, def->variadic);
    if (counted) {
        MXC_TRY(mxci_op_make(name, n, keys, values, 0, 0, NULL, &op));
        mxc_op_release(op);
        return MXC_OK;
    }
    for (int i = 0; i < n; i++) {
        if (!mxci_param_find(def, keys[i]) && !mxci_key_is_attr(def, keys[i]))
            return MXC_FAIL(MXC_EINVAL, "%s: has no parameter '%.100s'", name, keys[i]);
        for (int j = 0; j < i; j++)
            if (strcmp(keys[i], keys[j]) == 0)
                return MXC_FAIL(MXC_EINVAL, "%s: parameter '%.100s' is given twice", name, keys[i]);
    }
    return MXC_OK;
}

mxc_status mxc_symbol_atomic(const char *op, int n_params, const char *const *keys, const char *const *values,
                             mxc_symbol **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(op));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    mxci_node *node;
    mxc_status status = MXC_OK;
    MXC_TRY(check_lists(op, n_params, keys, values));
    MXC_TRY(compose_check_params(op, n_params, keys, values));
    MXC_TRY(mxci_node_create(MXCI_FORWARD, "", NULL, &node));
    /* Parameters are stored under the key as given, attributes as mxc_symbol_set_attr stores them. */
    for (int i = 0; i < n_params && status == MXC_OK; i++)
        status = mxci_key_is_attr(mxc_op_find(op), keys[i]) ? mxci_node_set_attr(node, keys[i], values[i])
                                                            : mxci_node_put_attr(node, keys[i], values[i]);
    if (status == MXC_OK)
        status = mxci_symbol_atomic_over(op, node, out);
    mxci_node_release(node);
    return status;
}

/* Exchanges the contents of the two symbols, not their reference counts. */
static void swap_contents(mxc_symbol *symbol, mxc_symbol *made) {
    mxc_symbol old = {.n_outputs = symbol->n_outputs, .outputs = symbol->outputs, .atomic = symbol->atomic};
    symbol->n_outputs = made->n_outputs;
    symbol->outputs = made->outputs;
    symbol->atomic = made->atomic;
    made->n_outputs = old.n_outputs;
    made->outputs = old.outputs;
    made->atomic = old.atomic;
}

mxc_status mxc_symbol_compose(mxc_symbol *symbol, const char *name, int n_in, const char *const *arg_keys,
                              mxc_symbol *const *in) {
    const mxci_node *node;
    mxc_symbol *made = NULL;
    call c;
    MXC_TRY(MXCI_NON_NULL(symbol));
    node = symbol->outputs[0].node;
    c = (call){symbol->atomic,
               name,
               node->n_attrs,
               (const char *const *)node->attr_keys,
               (const char *const *)node->attr_values,
               n_in,
               arg_keys,
               in};
    MXC_TRY(symbol->atomic ? apply(&c, &made) : mxci_symbol_substitute(symbol, name, n_in, arg_keys, in, &made));
    swap_contents(symbol, made);
    mxc_symbol_release(made);
    return MXC_OK;
}
