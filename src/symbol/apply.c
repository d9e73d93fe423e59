/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of applying an operator: parameters apart from attributes, names of inputs, default variables. */
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
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

/* Parameters among keys and values, with the count of a variadic operator. */
typedef struct params {
    int n;
    const char **keys, **values;
    char count[24];
} params;

static void pick_params(const mxc_op_def *def, int n, const char *const *keys, const char *const *values, int64_t n_in,
                        params *p) {
    int counted = !def->variadic;
    for (int i = 0; i < n; i++) {
        if (mxci_key_is_attr(def, keys[i]))
            continue;
        counted |= !counted && mxci_param_find(def, keys[i]) == mxci_param_find(def, def->variadic);
        p->keys[p->n] = keys[i];
        p->values[p->n++] = values[i];
    }
    if (!counted) {
        mxci_format(p->count, sizeof p->count, "%lld", (long long)n_in);
        p->keys[p->n] = def->variadic;
        p->values[p->n++] = p->count;
    }
}

mxc_status mxci_op_make(const char *name, int n, const char *const *keys, const char *const *values, int64_t n_in,
                        mxc_op **out) {
    const mxc_op_def *def;
    size_t room = (size_t)n + 1;
    params p = {0};
    mxc_status status;
    MXC_TRY(mxci_registry_start());
    def = mxc_op_find(name);
    if (!def)
        return mxc_op_create(name, 0, NULL, NULL, out);
    *out = NULL;
    if (def->flags & MXC_OP_ARRAY_ONLY)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: works on arrays only, no symbol is made of it", def->name);
    p.keys = mxci_calloc(2 * room, sizeof *p.keys);
    if (!p.keys)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for parameters", name);
    p.values = p.keys + room;
    pick_params(def, n, keys, values, n_in, &p);
    status = mxc_op_create(name, p.n, p.keys, p.values, out);
    mxci_free(p.keys);
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

static mxc_status create_default(const mxci_node *node, int32_t index, mxci_node **out) {
    char input[128], *name;
    mxci_text text = {0};
    mxc_status status;
    mxci_input_name(node->op, index, input, sizeof input);
    mxci_text_add(&text, node->name);
    mxci_text_printf(&text, "_%s", input);
    MXC_TRY(mxci_text_take(&text, &name));
    status = mxci_node_create(MXCI_VARIABLE, name, NULL, out);
    mxci_free(name);
    return status;
}

mxc_status mxci_node_default_input(mxci_node *node, int32_t index) {
    mxci_node *variable;
    MXC_TRY(create_default(node, index, &variable));
    node->inputs[index] = (mxci_entry){variable, 0};
    return mxci_node_copy_attrs(variable, node, 1);
}

/* ---- attributes meant for arguments ------------------------------------------------------------------------ */

/* The variable that is the input named by the key up to its suffix; NULL if there is none. */
static mxci_node *input_of_key(const mxci_node *node, const char *key, const char *suffix) {
    int32_t at = mxci_input_find(node->op, key, (size_t)(suffix - key) - 1);
    mxci_node *input = at >= 0 && at < node->n_inputs ? node->inputs[at].node : NULL;
    return input && input->kind == MXCI_VARIABLE ? input : NULL;
}

mxc_status mxci_hoist_attrs(mxci_node *node) {
    if (node->kind != MXCI_FORWARD || !node->op)
        return MXC_OK;
    for (int32_t i = node->n_attrs; i-- > 0;) {
        const char *key = node->attr_keys[i], *suffix = mxci_attr_suffix(key);
        mxci_node *argument = suffix ? input_of_key(node, key, suffix) : NULL;
        if (!argument)
            continue;
        MXC_TRY(mxci_node_set_attr(argument, suffix, node->attr_values[i]));
        mxci_node_drop_attr(node, key);
    }
    return MXC_OK;
}
