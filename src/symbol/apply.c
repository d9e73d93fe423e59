/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of applying an operator that composition and the JSON reader share: telling parameters from attributes, finding
 * inputs by name, creating default variables. The application itself is in compose.c.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"
#include "operator/registry.h"
#include "symbol/compose.h"

/* ---- parameters and attributes ----------------------------------------------------------------------------- */

const mxc_param *mxci_param_find(const mxc_op_def *def, const char *key) {
    const mxc_param *p;
    for (p = def->params; p && p->name; p++)
        if (strcmp(p->name, key) == 0 || (p->alias && strcmp(p->alias, key) == 0))
            return p;
    return NULL;
}

int mxci_key_is_attr(const mxc_op_def *def, const char *key) {
    return mxci_attr_is_hidden(key) ||
           ((mxci_attr_is_known(key) || mxci_attr_suffix(key)) && !mxci_param_find(def, key));
}

mxc_status mxci_op_make(const char *name, int n, const char *const *keys, const char *const *values, int64_t n_in,
                        int n_subgraphs, mxc_symbol *const *subgraphs, mxc_op **out) {
    const mxc_op_def *def;
    const char **param_keys, **param_values;
    char count_text[24];
    int n_params = 0, has_count;
    const char *counter;         /* the parameter that counts the inputs */
    size_t room = (size_t)n + 1; /* one more for the count of a variadic operator's inputs */
    mxc_status status;
    MXC_TRY(mxci_registry_start());
    def = mxc_op_find(name);
    if (!def)
        return mxc_op_create(name, 0, NULL, NULL, out); /* fails, and names similar operators */
    *out = NULL;
    if ((def->flags & MXC_OP_ARRAY_ONLY) && !def->infer_from_data)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: works on arrays only, no symbol is made of it", def->name);
    param_keys = mxci_calloc(2 * room, sizeof *param_keys);
    if (!param_keys)
        return MXCI_NO_MEMORY(name, "parameters");
    param_values = param_keys + room;
    counter = def->n_subgraphs > 0 ? "num_args" : def->variadic;
    has_count = !counter;
    for (int i = 0; i < n; i++) {
        if (mxci_key_is_attr(def, keys[i]))
            continue;
        has_count |= !has_count && (strcmp(keys[i], counter) == 0 ||
                                    (def->variadic && mxci_param_find(def, keys[i]) == mxci_param_find(def, counter)));
        param_keys[n_params] = keys[i];
        param_values[n_params++] = values[i];
    }
    if (!has_count) {
        mxci_format(count_text, sizeof count_text, "%lld", (long long)n_in + n_subgraphs);
        param_keys[n_params] = counter;
        param_values[n_params++] = count_text;
    }
    status = mxci_op_create_with_subgraphs(name, n_params, param_keys, param_values, n_subgraphs, subgraphs, out);
    mxci_free(param_keys);
    return status;
}

mxc_status mxci_node_take_attrs(mxci_node *node, int n, const char *const *keys, const char *const *values) {
    for (int i = 0; i < n; i++)
        if (mxci_key_is_attr(mxc_op_get_def(node->op), keys[i]))
            MXC_TRY(mxci_node_set_attr(node, keys[i], values[i]));
    return MXC_OK;
}

/* ---- inputs ------------------------------------------------------------------------------------------------ */

const char *mxci_input_name(const mxc_op *op, int32_t index, char *out, size_t size) {
    int n_args = mxc_op_n_args(op);
    return index < n_args ? mxc_op_arg_name(op, index, out, size) : mxc_op_aux_name(op, index - n_args, out, size);
}

/* "arg12": the number; -1 if name is not of this form or no argument. Scanning would make wide operators quadratic. */
static int32_t variadic_index(const mxc_op *op, const char *name, size_t length) {
    char text[32], canonical[32];
    const char *at = text + 3;
    int64_t index;
    if (length >= sizeof text)
        return -1;
    mxci_format(text, sizeof text, "%.*s", (int)length, name);
    if (strncmp(text, "arg", 3) != 0 || !mxci_read_int(&at, &index) || index < 0 || index >= mxc_op_n_args(op))
        return -1;
    mxc_op_arg_name(op, (int)index, canonical, sizeof canonical);
    return strcmp(text, canonical) == 0 ? (int32_t)index : -1;
}

/* Linear in the number of inputs, which is small except for variadic operators. */
int32_t mxci_input_find(const mxc_op *op, const char *name, size_t length) {
    char input[128];
    int32_t n = mxc_op_n_args(op) + mxc_op_n_aux(op);
    if (mxc_op_get_def(op)->variadic && n > 0 && !strcmp(mxci_input_name(op, 0, input, sizeof input), "arg0"))
        return variadic_index(op, name, length);
    for (int32_t i = 0; i < n; i++) {
        mxci_input_name(op, i, input, sizeof input);
        if (strlen(input) == length && memcmp(input, name, length) == 0)
            return i;
    }
    return -1;
}

mxc_status mxci_node_default_input(mxci_node *node, int32_t index) {
    char input[128], *name;
    mxci_text text = {0};
    mxci_node *variable;
    mxc_status status;
    mxci_input_name(node->op, index, input, sizeof input);
    mxci_text_add(&text, node->name);
    mxci_text_printf(&text, "_%s", input);
    MXC_TRY(mxci_text_take(&text, &name));
    status = mxci_node_create(MXCI_VARIABLE, name, NULL, &variable);
    mxci_free(name);
    MXC_TRY(status);
    node->inputs[index] = (mxci_entry){variable, 0}; /* the node owns the reference from here on */
    return mxci_node_copy_attrs(variable, node, 1);
}

/* ---- attributes meant for arguments ------------------------------------------------------------------------ */

mxc_status mxci_hoist_attrs(mxci_node *node) {
    if (node->kind != MXCI_FORWARD || !node->op)
        return MXC_OK;
    /* Backwards, because dropping an attribute moves those after it. */
    for (int32_t i = node->n_attrs; i-- > 0;) {
        const char *key = node->attr_keys[i], *suffix = mxci_attr_suffix(key);
        int32_t at = suffix ? mxci_input_find(node->op, key, (size_t)(suffix - key) - 1) : -1;
        mxci_node *argument = at >= 0 && at < node->n_inputs ? node->inputs[at].node : NULL;
        if (!argument || argument->kind != MXCI_VARIABLE)
            continue;
        MXC_TRY(mxci_node_set_attr(argument, suffix, node->attr_values[i]));
        mxci_node_drop_attr(node, key);
    }
    return MXC_OK;
}
