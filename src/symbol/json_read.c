/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols from JSON of every version of MXNet. The text is untrusted: json_parse.c refuses what is not JSON, duplicate
 * keys, numbers out of range and deep nesting; here every index and every type is checked. Nodes must be in topological
 * order: an input refers to an earlier node, so there are no cycles.
 *
 *   {"nodes": [{"op": "null", "name": "data", "inputs": []}, ...
 *              {"op": "FullyConnected", "name": "fc1", "attrs": {"num_hidden": "10"},
 *               "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]}],
 *    "arg_nodes": [0, 1, 2], "node_row_ptr": [0, 1, 2, 3, 4], "heads": [[3, 0, 0]],
 *    "attrs": {"mxnet_version": ["int", 10901]}}
 *
 * An input or head is [node, output, version]; versions, which count changes of auxiliary states, are not needed here.
 * The versions of the format differ in where a node keeps its parameters and attributes:
 *
 *   0.7, 0.8   "param" holds parameters, "attr" attributes; auxiliary states are left out
 *   0.9 - 0.12 "attr" holds both
 *   1.0 on     "attrs" holds both
 *
 * Nodes fused for oneDNN are replaced by their layers before (json_fused.c).
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"
#include "operator/registry.h"
#include "symbol/compose.h"
#include "symbol/json.h"

typedef struct reader {
    json_t *root, *nodes; /* nodes is borrowed; read ones are dropped from it */
    int64_t version, n_nodes, at;
    mxci_node **built;     /* node of the file: the node made of it; NULL from at on; one reference each */
    int64_t outputs_left;  /* that nodes may still have, so that a short text cannot make a huge graph */
    const char *op, *name; /* of node at, borrowed from nodes */
    int depth;             /* of the graph in others, as their subgraph */
    int n_subgraphs;       /* of node at */
    mxc_symbol *subgraphs[MXCI_MAX_SUBGRAPHS];
} reader;

/* Fail with what is wrong with the current node. */
#define FAIL_NODE(r, code, format, ...) \
    MXC_FAIL(code, "symbol JSON: node %lld \"%.80s\": " format, (long long)(r)->at, (r)->name, __VA_ARGS__)

/* Propagates a failure at the current node; what elsewhere is a wrong argument is a wrong file here. */
static mxc_status at_node(const reader *r, mxc_status status) {
    if (status == MXC_OK || status == MXC_ENOMEM)
        return status;
    return FAIL_NODE(r, status == MXC_ENOTFOUND ? MXC_ENOTFOUND : MXC_EFORMAT, "%s", mxc_last_error());
}

/* ---- keys and values --------------------------------------------------------------------------------------- */

/* Borrowed from the JSON, but for a value that upgrade wrote. */
typedef struct pairs {
    int n;
    const char **keys, **values;
    char text[512];
} pairs;

static size_t object_size(const json_t *node, const char *field) {
    return json_object_size(json_object_get(node, field)); /* 0 where it is absent or no object */
}

/* Appends the pairs of a field, whose values must be strings. */
static mxc_status add_pairs(const reader *r, json_t *node, const char *field, pairs *out) {
    json_t *object = json_object_get(node, field), *value;
    const char *key;
    if (object && !json_is_object(object))
        return FAIL_NODE(r, MXC_EFORMAT, "\"%s\" is not an object", field);
    json_object_foreach(object, key, value) {
        if (!json_is_string(value))
            return FAIL_NODE(r, MXC_EFORMAT, "the value of \"%.80s\" is not a string", key);
        out->keys[out->n] = key;
        out->values[out->n++] = json_string_value(value);
    }
    return MXC_OK;
}

/* Pairs of up to two fields, with room for one more; free keys afterwards, also on failure. */
static mxc_status read_pairs(const reader *r, json_t *node, const char *first, const char *second, pairs *out) {
    size_t room = object_size(node, first) + (second ? object_size(node, second) : 0) + 1;
    memset(out, 0, sizeof *out);
    out->keys = mxci_calloc(2 * room, sizeof *out->keys);
    if (!out->keys)
        return MXCI_NO_MEMORY("symbol JSON", "the parameters of a node");
    out->values = out->keys + room;
    MXC_TRY(add_pairs(r, node, first, out));
    return second ? add_pairs(r, node, second, out) : MXC_OK;
}

static int json_read_find_key(const pairs *p, const char *key) {
    int i;
    for (i = 0; i < p->n && strcmp(p->keys[i], key) != 0; i++)
        ;
    return i < p->n ? i : -1;
}

/* Writes -1 for 0 in the parameter shape. A value that is no tuple stays as it is, and the operator refuses it. */
static void open_axes(pairs *p) {
    int shape = json_read_find_key(p, "shape");
    mxci_line line = {p->text, sizeof p->text, 0};
    mxc_tuple axes;
    if (shape < 0 || mxc_tuple_parse(p->values[shape], &axes) != MXC_OK || axes.n < 1)
        return;
    for (int i = 0; i < axes.n; i++)
        mxci_line_printf(&line, "%s%lld", i ? ", " : "(", (long long)(axes.value[i] ? axes.value[i] : -1));
    mxci_line_printf(&line, axes.n > 1 ? ")" : ",)");
    p->values[shape] = p->text;
}

/*
 * What parameters meant when the file was written. Before 0.9.5, argmax and argmin wrote axis -1 for all axes. Files
 * with "param" state every parameter there was; one without Pooling's pooling_convention is from when all sizes were
 * rounded up. Before 2.0, an axis of 0 in the shape of _zeros, _ones and _full was one not known yet, now -1.
 */
static void upgrade(const reader *r, int is_old, pairs *p) {
    int axis =
        r->version < 905 && (!strcmp(r->op, "argmax") || !strcmp(r->op, "argmin")) ? json_read_find_key(p, "axis") : -1;
    if (axis >= 0 && !strcmp(p->values[axis], "-1")) {
        p->n--;
        p->keys[axis] = p->keys[p->n];
        p->values[axis] = p->values[p->n];
    }
    if (is_old && !strcmp(r->op, "Pooling") && json_read_find_key(p, "pooling_convention") < 0) {
        p->keys[p->n] = "pooling_convention";
        p->values[p->n++] = "full";
    }
    if (r->version < 20000 && (!strcmp(r->op, "_zeros") || !strcmp(r->op, "_zeros_without_dtype") ||
                               !strcmp(r->op, "_ones") || !strcmp(r->op, "_full")))
        open_axes(p);
}

/* MXNet 0.9 called the generators without inputs _sample_<distribution>. Later versions call them
 * _random_<distribution>, and _sample_<distribution> takes its parameters as inputs. */
static const char *json_read_op_name(const reader *r, int64_t n_in) {
    static const char *const changed[] = {
        "_sample_uniform", "_random_uniform",     "_sample_normal",      "_random_normal",  "_sample_gamma",
        "_random_gamma",   "_sample_exponential", "_random_exponential", "_sample_poisson", "_random_poisson",
    };
    for (size_t i = 0; i < sizeof changed / sizeof *changed && n_in == 0; i += 2)
        if (!strcmp(r->op, changed[i]))
            return changed[i + 1];
    return r->op;
}

static mxc_status set_attrs(mxci_node *node, const pairs *p) {
    for (int i = 0; i < p->n; i++)
        MXC_TRY(mxci_node_set_attr(node, p->keys[i], p->values[i]));
    return MXC_OK;
}

/* ---- entries ----------------------------------------------------------------------------------------------- */

/* [node, output] or [node, output, version] that refers to one of the first n_nodes nodes; 0 if malformed. */
static int read_entry(const reader *r, const json_t *entry, int64_t n_nodes, mxci_entry *out) {
    size_t n = json_array_size(entry);
    int64_t node, output;
    if ((n != 2 && n != 3) || (n == 3 && mxci_json_index(entry, 2, INT64_MAX) < 0))
        return 0;
    node = mxci_json_index(entry, 0, n_nodes);
    output = node < 0 ? -1 : mxci_json_index(entry, 1, mxci_node_n_outputs(r->built[node]));
    if (output < 0)
        return 0;
    *out = (mxci_entry){r->built[node], (int32_t)output};
    return 1;
}

/* Room for n inputs, of which the file gives the first ones. */
static mxc_status read_inputs(const reader *r, const json_t *inputs, mxci_node *node, int64_t n) {
    MXC_TRY(mxci_node_reserve_inputs(node, n));
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        mxci_entry e;
        if (!read_entry(r, json_array_get(inputs, i), r->at, &e))
            return FAIL_NODE(r, MXC_EFORMAT,
                             "input %zu: expected [node, output] or [node, output, version] of an earlier node", i);
        mxci_node_add_input(node, e);
    }
    return MXC_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

static mxc_status read_variable(const reader *r, json_t *json, mxci_node *node) {
    pairs p;
    mxc_status status;
    if (!r->name[0])
        return FAIL_NODE(r, MXC_EFORMAT, "%s", "a variable needs a name");
    if (json_array_size(json_object_get(json, "inputs")))
        return FAIL_NODE(r, MXC_EFORMAT, "%s", "a variable has inputs");
    status = read_pairs(r, json, "attr", "attrs", &p);
    if (status == MXC_OK)
        status = at_node(r, set_attrs(node, &p));
    mxci_free(p.keys);
    return status;
}

/* The operator itself. Parameters of an operator that takes none, which MXNet writes and ignores, are kept as
 * attributes so that they can be written again. */
static mxc_status json_read_make_op(const reader *r, int64_t n_in, const pairs *p, mxci_node *node) {
    const char *name = json_read_op_name(r, n_in);
    const mxc_op_def *def = mxc_op_find(name);
    int takes_none = def && !def->params && !def->params_open && !def->params_open_of;
    MXC_TRY(at_node(r, mxci_op_make(name, takes_none ? 0 : p->n, p->keys, p->values, n_in, r->n_subgraphs, r->subgraphs,
                                    &node->op)));
    for (int i = 0; takes_none && i < p->n; i++)
        if (!mxci_key_is_attr(def, p->keys[i]))
            MXC_TRY(at_node(r, mxci_node_put_attr(node, p->keys[i], p->values[i])));
    return MXC_OK;
}

/* The operator, and the attributes among its parameters. In a file with "param", "attr" holds attributes only. */
static mxc_status read_op(const reader *r, json_t *json, int64_t n_in, mxci_node *node) {
    int is_old = json_object_get(json, "param") != NULL;
    pairs p, attrs = {0};
    mxc_status status = is_old ? read_pairs(r, json, "param", NULL, &p) : read_pairs(r, json, "attr", "attrs", &p);
    upgrade(r, is_old, &p);
    if (status == MXC_OK)
        status = json_read_make_op(r, n_in, &p, node);
    if (status == MXC_OK)
        status = at_node(r, mxci_node_take_attrs(node, p.n, p.keys, p.values));
    if (status == MXC_OK && is_old)
        status = read_pairs(r, json, "attr", "attrs", &attrs);
    if (status == MXC_OK)
        status = at_node(r, set_attrs(node, &attrs));
    mxci_free(p.keys);
    mxci_free(attrs.keys);
    return status;
}

static mxc_status read_graph(reader *r, mxc_symbol **out);

/* The subgraphs of a node of control flow, each read as a graph by itself. */
static mxc_status read_subgraphs(reader *r, json_t *json) {
    const json_t *list = json_object_get(json, "subgraphs");
    const mxc_op_def *def = mxc_op_find(r->op);
    size_t n = json_array_size(list);
    r->n_subgraphs = 0;
    if (!def || (n == 0 && def->n_subgraphs == 0))
        return MXC_OK;
    if (n != (size_t)def->n_subgraphs)
        return FAIL_NODE(r, MXC_EFORMAT, "%zu \"subgraphs\", but %.80s has %d", n, r->op, def->n_subgraphs);
    if (r->depth == MXCI_SUBGRAPH_DEPTH)
        return FAIL_NODE(r, MXC_EUNSUPPORTED, "subgraphs nested more than %d deep", MXCI_SUBGRAPH_DEPTH);
    for (size_t i = 0; i < n; i++) {
        reader nested = {.root = json_array_get(list, i),
                         .version = r->version,
                         .outputs_left = r->outputs_left,
                         .depth = r->depth + 1};
        mxc_status status = read_graph(&nested, &r->subgraphs[i]);
        r->outputs_left = nested.outputs_left;
        if (status != MXC_OK && status != MXC_ENOMEM && r->depth == 0) /* the outermost and the innermost say where */
            return FAIL_NODE(r, status, "subgraph %zu: %s", i, mxc_last_error());
        MXC_TRY(status);
        r->n_subgraphs++;
    }
    return MXC_OK;
}

static void drop_subgraphs(reader *r) {
    while (r->n_subgraphs > 0)
        mxc_symbol_release(r->subgraphs[--r->n_subgraphs]);
}

/* Inputs as they are in a file, arguments and states in groups, to all arguments and then all states. */
static mxc_status order_inputs(const mxc_op *op, int32_t n, mxci_entry *inputs) {
    mxci_entry *given;
    if (mxc_op_get_def(op)->args_per_output == 0)
        return MXC_OK;
    given = mxci_calloc((size_t)n, sizeof *given);
    if (!given)
        return MXCI_NO_MEMORY("symbol JSON", "inputs");
    memcpy(given, inputs, (size_t)n * sizeof *given);
    for (int32_t i = 0; i < n; i++)
        inputs[mxc_op_input_index(op, i)] = given[i];
    mxci_free(given);
    return MXC_OK;
}

/* The operator with its inputs. Auxiliary states must be variables. */
static mxc_status read_forward(reader *r, json_t *json, mxci_node *node) {
    const json_t *inputs = json_object_get(json, "inputs");
    int64_t n_in = (int64_t)json_array_size(inputs);
    int32_t n_args, n_aux;
    if (json_array_size(json_object_get(json, "control_deps")))
        return FAIL_NODE(r, MXC_EFORMAT, "%s", "\"control_deps\" are supported in backward nodes only");
    mxc_status status = read_subgraphs(r, json);
    if (status == MXC_OK)
        status = read_op(r, json, n_in, node);
    drop_subgraphs(r);
    MXC_TRY(status);
    n_args = mxc_op_n_args(node->op);
    n_aux = mxc_op_n_aux(node->op);
    if (n_in != n_args && n_in != (int64_t)n_args + n_aux)
        return FAIL_NODE(r, MXC_EFORMAT, "%lld inputs, but %s takes %d and %d auxiliary states", (long long)n_in, r->op,
                         n_args, n_aux);
    MXC_TRY(read_inputs(r, inputs, node, (int64_t)n_args + n_aux));
    if (n_in == (int64_t)n_args + n_aux)
        MXC_TRY(order_inputs(node->op, n_args + n_aux, node->inputs));
    node->n_inputs = n_args + n_aux;
    for (int32_t i = n_args; i < node->n_inputs; i++) {
        if (i >= n_in) /* files before 0.9 leave auxiliary states out */
            MXC_TRY(mxci_node_default_input(node, i));
        else if (node->inputs[i].node->kind != MXCI_VARIABLE)
            return FAIL_NODE(r, MXC_EFORMAT, "input %d is an auxiliary state, but no variable", i);
    }
    return at_node(r, mxci_hoist_attrs(node));
}

/* Inputs of a backward node: what it needs and the auxiliary states. */
static int64_t count_needed(const mxc_op *op) {
    mxc_op_needs needs;
    int64_t n = mxc_op_n_aux(op);
    mxc_op_get_needs(op, &needs);
    for (int i = 0; i < mxc_op_n_outputs(op); i++)
        n += mxc_need_has(needs.out_grad, i) + mxc_need_has(needs.out, i);
    for (int i = 0; i < mxc_op_n_args(op); i++)
        n += mxc_need_has(needs.in, i);
    return n;
}

/* A backward node has the operator of its forward node, which "control_deps" names. */
static mxc_status read_backward(const reader *r, json_t *json, mxci_node *node) {
    const json_t *inputs = json_object_get(json, "inputs"), *deps = json_object_get(json, "control_deps");
    const mxc_op_def *def = mxc_op_find(r->op + strlen(MXCI_JSON_BACKWARD));
    int64_t n_in = (int64_t)json_array_size(inputs);
    int64_t at = json_array_size(deps) == 1 ? mxci_json_index(deps, 0, r->at) : -1;
    mxci_node *forward = at >= 0 ? r->built[at] : NULL;
    pairs p;
    mxc_status status;
    if (!def)
        return FAIL_NODE(r, MXC_ENOTFOUND, "no operator is called '%.80s'", r->op);
    if (!forward || forward->kind != MXCI_FORWARD || mxc_op_get_def(forward->op) != def)
        return FAIL_NODE(r, MXC_EFORMAT, "\"control_deps\" must name an earlier node of operator %s", def->name);
    node->forward = mxci_node_retain(forward);
    node->op = mxc_op_retain(forward->op);
    if (n_in != count_needed(node->op))
        return FAIL_NODE(r, MXC_EFORMAT, "%lld inputs, but %.80s takes %lld", (long long)n_in, r->op,
                         (long long)count_needed(node->op));
    MXC_TRY(read_inputs(r, inputs, node, n_in));
    status = read_pairs(r, json, "attr", "attrs", &p);
    if (status == MXC_OK)
        status = at_node(r, mxci_node_take_attrs(node, p.n, p.keys, p.values));
    mxci_free(p.keys);
    return status;
}

/* Fields of a node, and which of them are lists. */
static const struct field {
    const char *name;
    int is_list;
} fields[] = {
    {"op", 0},
    {"name", 0},
    {"inputs", 1},
    {"attrs", 0},
    {"attr", 0},
    {"param", 0},
    {"backward_source_id", 0},
    {"control_deps", 1},
    {"subgraphs", 1},
};

/* Reads op and name, and checks the types of the others. An unknown field could change what the node means, so it is
 * refused. */
static mxc_status check_fields(reader *r, json_t *json) {
    const char *key;
    json_t *value;
    r->op = json_string_value(json_object_get(json, "op"));
    r->name = json_string_value(json_object_get(json, "name"));
    if (!r->op || !r->name)
        return MXC_FAIL(MXC_EFORMAT, "symbol JSON: node %lld: expected an object with strings \"op\" and \"name\"",
                        (long long)r->at);
    json_object_foreach(json, key, value) {
        size_t i = 0;
        while (i < sizeof fields / sizeof *fields && strcmp(fields[i].name, key) != 0)
            i++;
        if (i == sizeof fields / sizeof *fields)
            return FAIL_NODE(r, MXC_EFORMAT, "unknown field \"%.80s\"", key);
        if (fields[i].is_list && !json_is_array(value))
            return FAIL_NODE(r, MXC_EFORMAT, "\"%s\" is not a list", key);
    }
    value = json_object_get(json, "backward_source_id");
    if (value && (!json_is_integer(value) || json_integer_value(value) != -1))
        return FAIL_NODE(r, MXC_EFORMAT, "%s", "\"backward_source_id\" is not -1: MXNet 0.7's gradients are not read");
    return MXC_OK;
}

/* Reads the node at r->at and adds it to r->built. */
static mxc_status read_node(reader *r, json_t *json) {
    mxci_node *node;
    mxci_node_kind kind = MXCI_FORWARD;
    mxc_status status;
    MXC_TRY(check_fields(r, json));
    if (!strcmp(r->op, "null"))
        kind = MXCI_VARIABLE;
    else if (!strncmp(r->op, MXCI_JSON_BACKWARD, strlen(MXCI_JSON_BACKWARD)) && !mxc_op_find(r->op))
        kind = MXCI_BACKWARD;
    MXC_TRY(mxci_node_create(kind, r->name, NULL, &node));
    status = kind == MXCI_VARIABLE  ? read_variable(r, json, node)
             : kind == MXCI_FORWARD ? read_forward(r, json, node)
                                    : read_backward(r, json, node);
    if (status != MXC_OK) {
        mxci_node_release(node);
        return status;
    }
    r->built[r->at] = node;
    r->outputs_left -= mxci_node_n_outputs(node);
    if (r->outputs_left < 0)
        return FAIL_NODE(r, MXC_EFORMAT, "%s", "more outputs than a text of this size may have");
    return MXC_OK;
}

static mxc_status read_nodes(reader *r) {
    r->nodes = json_object_get(r->root, "nodes");
    if (!json_is_array(r->nodes))
        return MXC_FAIL(MXC_EFORMAT, "symbol JSON: expected an object with a list \"nodes\"");
    r->n_nodes = (int64_t)json_array_size(r->nodes);
    r->built = mxci_calloc((size_t)r->n_nodes, sizeof *r->built);
    if (!r->built)
        return MXCI_NO_MEMORY("symbol JSON", "its nodes");
    for (r->at = 0; r->at < r->n_nodes; r->at++) {
        MXC_TRY(read_node(r, json_array_get(r->nodes, (size_t)r->at)));
        json_array_set_new(r->nodes, (size_t)r->at, json_null()); /* frees what was read */
    }
    return MXC_OK;
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

static mxc_status read_version(reader *r) {
    const json_t *attrs = json_object_get(r->root, "attrs"), *pair = json_object_get(attrs, "mxnet_version");
    const char *type = json_string_value(json_array_get(pair, 0));
    r->version = MXCI_JSON_OLDEST;
    if (!pair)
        return MXC_OK;
    r->version = json_array_size(pair) == 2 && type && !strcmp(type, "int") ? mxci_json_index(pair, 1, INT32_MAX) : -1;
    if (r->version < 0)
        return MXC_FAIL(MXC_EFORMAT, "symbol JSON: \"mxnet_version\": expected [\"int\", number]");
    return MXC_OK;
}

/* arg_nodes follows from nodes, so it is only checked. */
static mxc_status check_arg_nodes(const reader *r) {
    const json_t *list = json_object_get(r->root, "arg_nodes");
    if (list && !json_is_array(list))
        return MXC_FAIL(MXC_EFORMAT, "symbol JSON: \"arg_nodes\" is not a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        int64_t node = mxci_json_index(list, i, r->n_nodes);
        if (node < 0 || r->built[node]->kind != MXCI_VARIABLE)
            return MXC_FAIL(MXC_EFORMAT, "symbol JSON: \"arg_nodes\": item %zu is not the number of a variable", i);
    }
    return MXC_OK;
}

/* The outputs of the symbol. */
static mxc_status read_heads(const reader *r, mxc_symbol **out) {
    const json_t *heads = json_object_get(r->root, "heads");
    size_t n = json_array_size(heads);
    mxci_entry *entries;
    mxc_status status = MXC_OK;
    if (!n)
        return MXC_FAIL(MXC_EFORMAT, "symbol JSON: expected a list \"heads\" of at least one output");
    entries = mxci_calloc(n, sizeof *entries);
    if (!entries)
        return MXCI_NO_MEMORY("symbol JSON", "the outputs");
    for (size_t i = 0; i < n && status == MXC_OK; i++)
        if (!read_entry(r, json_array_get(heads, i), r->n_nodes, &entries[i]))
            status = MXC_FAIL(MXC_EFORMAT, "symbol JSON: \"heads\": item %zu is not [node, output] of a node", i);
    if (status == MXC_OK)
        status = mxci_symbol_create((int64_t)n, entries, out);
    mxci_free(entries);
    return status;
}

static mxc_status read_graph(reader *r, mxc_symbol **out) {
    mxc_status status = r->depth > 0 ? MXC_OK : read_version(r);
    if (status == MXC_OK)
        status = mxci_json_unfuse(r->root);
    if (status == MXC_OK)
        status = read_nodes(r);
    if (status == MXC_OK)
        status = check_arg_nodes(r);
    if (status == MXC_OK)
        status = read_heads(r, out);
    for (int64_t i = 0; r->built && i < r->n_nodes; i++)
        mxci_node_release(r->built[i]);
    mxci_free(r->built);
    return status;
}

mxc_status mxc_symbol_from_json(const char *json, size_t bytes, mxc_symbol **out) {
    reader r = {.outputs_left = (int64_t)bytes + 8192};
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL_IF(bytes > 0, json));
    if (bytes > MXCI_JSON_LIMIT)
        return MXC_FAIL(MXC_EFORMAT, "symbol JSON: %zu bytes, at most %d are read", bytes, MXCI_JSON_LIMIT);
    MXC_TRY(mxci_registry_start());
    status = mxci_json_parse(json, bytes, &r.root);
    if (status != MXC_OK)
        return MXC_FAIL(status, "symbol %s", mxc_last_error());
    status = read_graph(&r, out);
    json_decref(r.root);
    return status;
}

mxc_status mxc_symbol_load(const char *path, mxc_symbol **out) {
    char *json;
    size_t bytes;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(mxci_file_read_all(path, MXCI_JSON_LIMIT, &json, &bytes));
    status = mxc_symbol_from_json(json, bytes, out);
    mxci_free(json);
    return status == MXC_OK ? MXC_OK : MXC_FAIL(status, "%.200s: %s", path, mxc_last_error());
}
