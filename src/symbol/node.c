/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of symbols: lifetime, attributes, counts and names of outputs. How nodes are connected is in compose.c. */
#include "symbol/node.h"

#include <string.h>

#include "base/check.h"
#include "base/sys.h"
#include "base/text.h"

/* ---- lifetime -------------------------------------------------------------------------------------------------- */

mxc_status mxci_node_create(mxci_node_kind kind, const char *name, mxc_op *op, mxci_node **out) {
    mxci_node *node = mxci_calloc(1, sizeof *node);
    *out = NULL;
    if (node)
        node->name = mxci_strdup(name);
    if (!node || !node->name) {
        mxci_free(node);
        return MXC_FAIL(MXC_ENOMEM, "symbol: no memory for node \"%.100s\"", name);
    }
    atomic_init(&node->refs, 1);
    node->kind = kind;
    node->op = op ? mxc_op_retain(op) : NULL;
    *out = node;
    return MXC_OK;
}

mxc_status mxci_node_reserve_inputs(mxci_node *node, int64_t n) {
    MXCI_ASSERT(node->n_inputs == 0 && !node->inputs);
    if (n > INT32_MAX)
        return MXC_FAIL(MXC_EUNSUPPORTED, "node \"%.100s\": more than %d inputs", node->name, INT32_MAX);
    node->inputs = mxci_calloc((size_t)n, sizeof *node->inputs);
    return node->inputs ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "symbol: no memory for inputs of \"%.100s\"", node->name);
}

void mxci_node_add_input(mxci_node *node, mxci_entry input) {
    mxci_node_retain(input.node);
    node->inputs[node->n_inputs++] = input;
}

mxci_node *mxci_node_retain(mxci_node *node) {
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

/* Drops a reference. If it was the last, the node joins the list of nodes to be freed, which is linked through their
 * member forward, and the reference that it held on its forward node is dropped too. Returns the list's new head. */
static mxci_node *node_drop(mxci_node *node, mxci_node *dead) {
    while (node && atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) == 1) {
        mxci_node *forward = node->forward;
        node->forward = dead;
        dead = node;
        node = forward;
    }
    return dead;
}

void mxci_node_release(mxci_node *node) {
    mxci_node *dead = node_drop(node, NULL);
    while (dead) {
        node = dead;
        dead = node->forward;
        for (int32_t i = 0; i < node->n_inputs; i++)
            dead = node_drop(node->inputs[i].node, dead);
        for (int32_t i = 0; i < node->n_attrs; i++) {
            mxci_free(node->attr_keys[i]);
            mxci_free(node->attr_values[i]);
        }
        mxci_free(node->attr_keys);
        mxci_free(node->attr_values);
        mxci_free(node->inputs);
        mxci_free(node->name);
        mxc_op_release(node->op);
        mxci_free(node);
    }
}

/* ---- outputs ----------------------------------------------------------------------------------------------- */

int mxci_node_n_outputs(const mxci_node *node) {
    if (node->kind == MXCI_VARIABLE)
        return 1;
    return node->kind == MXCI_FORWARD ? mxc_op_n_outputs(node->op) : mxc_op_n_args(node->op);
}

int mxci_node_n_visible(const mxci_node *node) {
    return node->kind == MXCI_FORWARD ? mxc_op_n_visible(node->op) : mxci_node_n_outputs(node);
}

mxc_status mxci_node_output_name(const mxci_node *node, int index, char **out) {
    char slot[128];
    mxci_text text = {0};
    mxci_text_add(&text, node->name);
    if (node->kind != MXCI_VARIABLE) {
        if (node->kind == MXCI_FORWARD)
            mxc_op_output_name(node->op, index, slot, sizeof slot);
        else
            mxc_op_arg_name(node->op, index, slot, sizeof slot);
        mxci_text_printf(&text, "%s%s%s", text.length ? "_" : "", slot, node->kind == MXCI_BACKWARD ? "_grad" : "");
    }
    return mxci_text_take(&text, out);
}

/* ---- attributes -------------------------------------------------------------------------------------------- */

/* A key is known (one of known_keys, which mean something to this library), hidden (__key__), of the form
 * <argument>_<known key>, which is meant for a variable that is this argument (mxci_hoist_attrs), or plain. How each is
 * stored: mxci_attr_stored_key in node.h. */
enum { MAX_ATTRS = 4096 }; /* so that sorted insertion stays fast for untrusted files */

static const char *const known_keys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"};
enum { N_KNOWN_KEYS = sizeof known_keys / sizeof known_keys[0] };

int mxci_attr_is_known(const char *key) {
    for (int i = 0; i < N_KNOWN_KEYS; i++)
        if (strcmp(known_keys[i], key) == 0)
            return 1;
    return 0;
}

int mxci_attr_is_hidden(const char *key) {
    size_t n = strlen(key);
    return n > 4 && key[0] == '_' && key[1] == '_' && key[n - 1] == '_' && key[n - 2] == '_';
}

const char *mxci_attr_suffix(const char *key) {
    size_t n = strlen(key);
    for (int i = 0; i < N_KNOWN_KEYS; i++) {
        size_t m = strlen(known_keys[i]);
        if (n > m + 1 && key[n - m - 1] == '_' && strcmp(key + n - m, known_keys[i]) == 0)
            return key + n - m;
    }
    return NULL;
}

const char *mxci_attr_stored_key(const mxci_node *node, const char *key, char *out) {
    int plain = !mxci_attr_is_hidden(key) && !mxci_attr_suffix(key);
    if (!mxci_attr_is_known(key) && (node->kind == MXCI_VARIABLE || !plain))
        return key;
    mxci_format(out, MXCI_ATTR_KEY_MAX, "__%s__", key);
    return out;
}

/* Binary search: index of key among the sorted keys, or where it belongs; *found: 1 if it is there. */
static int32_t node_find_key(const mxci_node *node, const char *key, int *found) {
    int32_t low = 0, high = node->n_attrs;
    *found = 0;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = strcmp(node->attr_keys[middle], key);
        *found |= order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *exact_attr(const mxci_node *node, const char *key) {
    int found;
    int32_t at = node_find_key(node, key, &found);
    return found ? node->attr_values[at] : NULL;
}

const char *mxci_node_attr(const mxci_node *node, const char *key) {
    char hidden[MXCI_ATTR_KEY_MAX];
    const char *value = exact_attr(node, key);
    if (value || strlen(key) + 5 > sizeof hidden)
        return value;
    mxci_format(hidden, sizeof hidden, "__%s__", key);
    return exact_attr(node, hidden);
}

static mxc_status fail_attr_memory(const mxci_node *node, const char *key) {
    return MXC_FAIL(MXC_ENOMEM, "symbol: no memory for attribute %.100s of \"%.100s\"", key, node->name);
}

/* Inserts an attribute at its sorted place. On failure the node is as it was. */
static mxc_status insert_attr(mxci_node *node, int32_t at, const char *key, const char *value) {
    size_t room = (size_t)node->n_attrs + 1, behind = (size_t)(node->n_attrs - at) * sizeof(char *);
    char **grown, *k, *v;
    if (node->n_attrs == MAX_ATTRS)
        return MXC_FAIL(MXC_EUNSUPPORTED, "node \"%.100s\": more than %d attributes", node->name, MAX_ATTRS);
    grown = mxci_realloc_array(node->attr_keys, room, sizeof *grown);
    if (!grown)
        return fail_attr_memory(node, key);
    node->attr_keys = grown;
    grown = mxci_realloc_array(node->attr_values, room, sizeof *grown);
    if (!grown)
        return fail_attr_memory(node, key);
    node->attr_values = grown;
    k = mxci_strdup(key);
    v = mxci_strdup(value);
    if (!k || !v) {
        mxci_free(k);
        mxci_free(v);
        return fail_attr_memory(node, key);
    }
    memmove(node->attr_keys + at + 1, node->attr_keys + at, behind);
    memmove(node->attr_values + at + 1, node->attr_values + at, behind);
    node->attr_keys[at] = k;
    node->attr_values[at] = v;
    node->n_attrs++;
    return MXC_OK;
}

mxc_status mxci_node_put_attr(mxci_node *node, const char *key, const char *value) {
    int found;
    int32_t at = node_find_key(node, key, &found);
    char *copy;
    if (!found)
        return insert_attr(node, at, key, value);
    copy = mxci_strdup(value);
    if (!copy)
        return fail_attr_memory(node, key);
    mxci_free(node->attr_values[at]);
    node->attr_values[at] = copy;
    return MXC_OK;
}

mxc_status mxci_node_set_attr(mxci_node *node, const char *key, const char *value) {
    char stored[MXCI_ATTR_KEY_MAX];
    if (!key[0] || strlen(key) + 5 > sizeof stored)
        return MXC_FAIL(MXC_EINVAL, "node \"%.100s\": attribute name of %zu bytes, expected 1 to %zu", node->name,
                        strlen(key), sizeof stored - 5);
    return mxci_node_put_attr(node, mxci_attr_stored_key(node, key, stored), value);
}

void mxci_node_drop_attr(mxci_node *node, const char *key) {
    int found;
    int32_t at = node_find_key(node, key, &found);
    size_t behind;
    if (!found)
        return;
    mxci_free(node->attr_keys[at]);
    mxci_free(node->attr_values[at]);
    node->n_attrs--;
    behind = (size_t)(node->n_attrs - at);
    memmove(node->attr_keys + at, node->attr_keys + at + 1, behind * sizeof *node->attr_keys);
    memmove(node->attr_values + at, node->attr_values + at + 1, behind * sizeof *node->attr_values);
}

mxc_status mxci_node_copy_attrs(mxci_node *to, const mxci_node *from, int hidden_only) {
    for (int32_t i = 0; i < from->n_attrs; i++)
        if (!hidden_only || mxci_attr_is_hidden(from->attr_keys[i]))
            MXC_TRY(mxci_node_put_attr(to, from->attr_keys[i], from->attr_values[i]));
    return MXC_OK;
}
