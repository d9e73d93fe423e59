/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols as JSON, formatted like MXNet 1.x down to the white space, so that its files and ours can be compared byte by
 * byte (an example is in json_read.c): objects of one pair and lists of at most ten numbers are on one line, entries
 * always.
 */
#include <string.h>

#include <mxc/symbol.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"
#include "symbol/graph.h"
#include "symbol/json.h"

/* ---- numbers and strings ----------------------------------------------------------------------------------- */

/* By hand, because printf would take half the time of writing a large graph. */
static void add_number(mxci_text *t, int32_t number) {
    char digits[12], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    mxci_text_add_bytes(t, at, (size_t)(digits + sizeof digits - at));
}

/* A text in quotes; MXC_EINVAL if it is not UTF-8. */
static mxc_status add_string(mxci_text *t, const char *text) {
    static const char special[] = "\"\\\n\r\t", letters[] = "\"\\nrt"; /* those that have a short escape */
    const char *end = text + strlen(text);
    mxci_text_add(t, "\"");
    for (const char *s = text; s < end;) {
        const char *found = strchr(special, *s);
        size_t n = mxci_utf8_length(s, (size_t)(end - s));
        if (!n)
            return MXC_FAIL(MXC_EINVAL, "symbol JSON: \"%.100s\" is not UTF-8", text);
        if (found)
            mxci_text_printf(t, "\\%c", letters[found - special]);
        else if ((unsigned char)*s < 0x20)
            mxci_text_printf(t, "\\u%04x", (unsigned char)*s);
        else
            mxci_text_add_bytes(t, s, n);
        s += n;
    }
    mxci_text_add(t, "\"");
    return MXC_OK;
}

/* ---- attributes -------------------------------------------------------------------------------------------- */

enum { MAX_GIVEN = 128 };

/* Parameters of a node's operator and its attributes as one sorted list. */
typedef struct pairs {
    const mxci_node *node;
    int n_given, next_given, next_attr;
    int order[MAX_GIVEN]; /* of the parameters, by key */
} pairs;

static const char *given_key(const pairs *p, int i) {
    const char *key, *value;
    mxc_op_given(p->node->op, p->order[i], &key, &value);
    return key;
}

/* Insertion sort by key: operators have few parameters. */
static mxc_status sort_given(pairs *p) {
    int n = p->node->kind == MXCI_FORWARD ? mxc_op_n_given(p->node->op) : 0;
    if (n > MAX_GIVEN)
        return MXC_FAIL(MXC_EUNSUPPORTED, "symbol JSON: node \"%.100s\" has %d parameters, at most %d", p->node->name,
                        n, MAX_GIVEN);
    for (int i = 0; i < n; i++) {
        p->order[i] = i;
        for (int j = i; j > 0 && strcmp(given_key(p, j - 1), given_key(p, j)) > 0; j--) {
            int swap = p->order[j];
            p->order[j] = p->order[j - 1];
            p->order[j - 1] = swap;
        }
    }
    p->n_given = n;
    return MXC_OK;
}

/* The next pair of the two sorted lists merged; 0 at the end. */
static int next_pair(pairs *p, const char **key, const char **value) {
    int more_given = p->next_given < p->n_given, more_attrs = p->next_attr < p->node->n_attrs;
    if (!more_given && !more_attrs)
        return 0;
    if (more_given && (!more_attrs || strcmp(given_key(p, p->next_given), p->node->attr_keys[p->next_attr]) < 0)) {
        mxc_op_given(p->node->op, p->order[p->next_given++], key, value);
        return 1;
    }
    *key = p->node->attr_keys[p->next_attr];
    *value = p->node->attr_values[p->next_attr++];
    return 1;
}

/* The field "attrs", which MXNet leaves out where it is empty. */
static mxc_status add_attrs(mxci_text *t, const mxci_node *node) {
    pairs p = {.node = node};
    const char *key, *value, *indent;
    MXC_TRY(sort_given(&p));
    if (p.n_given + node->n_attrs == 0)
        return MXC_OK;
    indent = p.n_given + node->n_attrs > 1 ? "\n        " : "";
    mxci_text_add(t, "      \"attrs\": {");
    for (int i = 0; next_pair(&p, &key, &value); i++) {
        mxci_text_add(t, i ? ", " : "");
        mxci_text_add(t, indent);
        MXC_TRY(add_string(t, key));
        mxci_text_add(t, ": ");
        MXC_TRY(add_string(t, value));
    }
    mxci_text_add(t, indent[0] ? "\n      }, \n" : "}, \n");
    return MXC_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

/* op: of whose inputs these are, in the order of files; NULL: as given. versions: how often each node's variable has
 * been changed so far, as an auxiliary state; entries name the version that they see. */
static void add_entries(mxci_text *t, const mxci_graph *g, const mxc_op *op, int32_t n, const int32_t *entries,
                        const int32_t *versions) {
    mxci_text_add(t, "[");
    for (int32_t i = 0; i < n; i++) {
        const int32_t entry = entries[mxc_op_input_index(op, i)], node = g->entry_node[entry];
        mxci_text_add(t, i ? ", [" : "[");
        add_number(t, node);
        mxci_text_add(t, ", ");
        add_number(t, entry - g->nodes[node].first_entry);
        mxci_text_add(t, ", ");
        add_number(t, versions[node]);
        mxci_text_add(t, "]");
    }
    mxci_text_add(t, "]");
}

/* The name of the operator; "null" for a variable. */
static mxc_status add_op(mxci_text *t, const mxci_gnode *node) {
    mxci_text full = {0};
    char *name;
    mxc_status status;
    if (node->kind == MXCI_VARIABLE)
        return add_string(t, "null");
    if (node->kind == MXCI_BACKWARD)
        mxci_text_add(&full, MXCI_JSON_BACKWARD);
    mxci_text_add(&full, mxc_op_name(node->op));
    MXC_TRY(mxci_text_take(&full, &name));
    status = add_string(t, name);
    mxci_free(name);
    return status;
}

static mxc_status write_symbol(mxci_text *t, const mxc_symbol *symbol, int is_subgraph);

/* A text with 8 blanks before each of its lines. */
static void add_indented(mxci_text *t, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        mxci_text_add(t, "        ");
        mxci_text_add_bytes(t, text, n);
        text += n;
        if (*text) {
            mxci_text_add(t, "\n");
            text++;
        }
    }
}

static mxc_status add_subgraphs(mxci_text *t, const mxc_op *op) {
    const int n = mxc_op_get_def(op)->n_subgraphs;
    mxci_text_add(t, ", \n      \"subgraphs\": [\n");
    for (int i = 0; i < n; i++) {
        mxci_text graph = {0};
        char *text;
        mxc_status status = write_symbol(&graph, mxci_op_subgraph(op, i), 1);
        if (status != MXC_OK)
            mxci_text_free(&graph);
        MXC_TRY(status);
        MXC_TRY(mxci_text_take(&graph, &text));
        add_indented(t, text);
        mxci_text_add(t, i + 1 < n ? ", \n" : "\n");
        mxci_free(text);
    }
    mxci_text_add(t, "      ]");
    return MXC_OK;
}

static mxc_status json_write_add_node(mxci_text *t, const mxci_graph *g, int32_t i, int32_t *versions) {
    const mxci_gnode *node = &g->nodes[i];
    mxci_text_add(t, "    {\n      \"op\": ");
    MXC_TRY(add_op(t, node));
    mxci_text_add(t, ", \n      \"name\": ");
    MXC_TRY(add_string(t, node->name));
    mxci_text_add(t, ", \n");
    MXC_TRY(add_attrs(t, node->node));
    mxci_text_add(t, "      \"inputs\": ");
    /* A forward node sees its auxiliary states, the last n_aux inputs, in the version that it makes of them. */
    for (int32_t k = mxci_graph_n_args(node); k < node->n_inputs && node->kind == MXCI_FORWARD; k++)
        versions[g->entry_node[mxci_graph_inputs(g, i)[k]]]++;
    add_entries(t, g, node->kind == MXCI_FORWARD ? node->op : NULL, node->n_inputs, mxci_graph_inputs(g, i), versions);
    if (node->forward >= 0)
        mxci_text_printf(t, ", \n      \"control_deps\": [%d]", (int)node->forward);
    if (node->kind == MXCI_FORWARD && mxc_op_get_def(node->op)->n_subgraphs > 0)
        MXC_TRY(add_subgraphs(t, node->op));
    mxci_text_add(t, i + 1 < g->n_nodes ? "\n    }, \n" : "\n    }\n");
    return MXC_OK;
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

/* One of a list of numbers, which has a line each where there are more than ten of them. */
static void add_item(mxci_text *t, int is_first, int is_long, int32_t number) {
    mxci_text_add(t, is_first ? "" : ", ");
    mxci_text_add(t, is_long ? "\n    " : "");
    add_number(t, number);
}

static mxc_status write_graph(mxci_text *t, const mxci_graph *g, int32_t *versions, int is_subgraph) {
    int is_long = g->n_args + g->n_aux > 10, n = 0;
    mxci_text_add(t, "{\n  \"nodes\": [\n");
    for (int32_t i = 0; i < g->n_nodes; i++)
        MXC_TRY(json_write_add_node(t, g, i, versions));
    mxci_text_add(t, "  ], \n");
    mxci_text_add(t, "  \"arg_nodes\": [");
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].kind == MXCI_VARIABLE)
            add_item(t, n++ == 0, is_long, i);
    mxci_text_add(t, is_long ? "\n  ], \n" : "], \n");
    /* Where the outputs of each node begin among all outputs, and how many there are. */
    is_long = g->n_nodes + 1 > 10;
    mxci_text_add(t, "  \"node_row_ptr\": [");
    for (int32_t i = 0; i < g->n_nodes; i++)
        add_item(t, i == 0, is_long, g->nodes[i].first_entry);
    add_item(t, 0, is_long, g->n_entries);
    mxci_text_add(t, is_long ? "\n  ], \n" : "], \n");
    mxci_text_add(t, "  \"heads\": ");
    add_entries(t, g, NULL, g->n_outputs, g->outputs, versions);
    if (!is_subgraph)
        mxci_text_printf(t, ", \n  \"attrs\": {\"mxnet_version\": [\"int\", %d]}", MXCI_JSON_VERSION);
    mxci_text_add(t, "\n}");
    return MXC_OK;
}

/* Recursion is as deep as subgraphs are in each other. */
static mxc_status write_symbol(mxci_text *t, const mxc_symbol *symbol, int is_subgraph) {
    mxci_graph *g;
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    int32_t *versions = mxci_calloc((size_t)g->n_nodes, sizeof *versions);
    mxc_status status = versions ? write_graph(t, g, versions, is_subgraph) : MXCI_NO_MEMORY("symbol JSON", "a graph");
    mxci_free(versions);
    mxci_graph_destroy(g);
    return status;
}

mxc_status mxc_symbol_to_json(const mxc_symbol *symbol, char **out) {
    mxci_text text = {0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    mxc_status status = write_symbol(&text, symbol, 0);
    if (status == MXC_OK)
        return mxci_text_take(&text, out);
    mxci_text_free(&text);
    return status;
}

mxc_status mxc_symbol_save(const mxc_symbol *symbol, const char *path) {
    mxci_writer *writer;
    char *json;
    mxc_status status;
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(mxc_symbol_to_json(symbol, &json));
    status = mxci_writer_open(path, &writer);
    if (status == MXC_OK) {
        status = mxci_writer_write(writer, json, strlen(json));
        if (status == MXC_OK)
            status = mxci_writer_commit(writer);
        else
            mxci_writer_abandon(writer);
    }
    mxci_free(json);
    return status;
}
