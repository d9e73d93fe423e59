/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that MXNet fused for oneDNN before it wrote a file: _sg_mkldnn_conv, _sg_mkldnn_fully_connected,
 * _sg_mkldnn_selfatt_qk and _sg_mkldnn_selfatt_valatt hold the layers that they stand for as a graph of their own
 * ("subgraphs"). Here they are replaced by these layers, before the nodes are read, with the same inputs and outputs.
 * A quantized one reads and writes integers with their ranges. Where its weights are floats, its layers compute in
 * floats, between a _contrib_dequantize and a _contrib_quantize_v2 with the calibrated range of the file. Where they
 * are integers with ranges too, as those of full connection may be, the layer is a
 * _contrib_quantized_fully_connected, and the _contrib_dequantize comes behind it.
 *
 *   {"op": "_sg_mkldnn_conv", "name": "sg_conv0", "inputs": [[0, 0, 0], [1, 0, 0]],
 *    "attrs": {"quantized": "true", "with_sum": "false", "min_calib_range": "-2", "max_calib_range": "2", ...},
 *    "subgraphs": [{"nodes": [..., {"op": "Convolution", ...}], "heads": [[2, 0, 0]], ...}]}
 *
 * jansson returns NULL for a value that it has no memory for; its functions accept NULL as an argument and fail, so
 * that only the last one of several must be checked.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/json.h"

typedef struct unfusing {
    json_t *from;   /* the file's nodes, borrowed */
    json_t *to;     /* the new list of nodes */
    int64_t *moved; /* node of the file before at: index in to of the node that makes its outputs */
    int64_t at;     /* node of the file that is converted now */
} unfusing;

static const char *text_of(const json_t *node, const char *field) {
    const char *text = json_string_value(json_object_get(node, field));
    return text ? text : "";
}

static int is_fused(const json_t *node) {
    const char *op = text_of(node, "op");
    return !strcmp(op, "_sg_mkldnn_conv") || !strcmp(op, "_sg_mkldnn_fully_connected") ||
           !strcmp(op, "_sg_mkldnn_selfatt_qk") || !strcmp(op, "_sg_mkldnn_selfatt_valatt");
}

static mxc_status wrong(const unfusing *u, const json_t *node, const char *what) {
    return MXC_FAIL(MXC_EFORMAT, "symbol JSON: node %lld \"%.80s\" of %.80s: %s", (long long)u->at,
                    text_of(node, "name"), text_of(node, "op"), what);
}

static int is_true(const json_t *attrs, const char *key) {
    const char *text = text_of(attrs, key);
    return !strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "1");
}

/* A new entry [node, output]. */
static json_t *entry_of(json_int_t node, json_int_t output) {
    return json_pack("[I,I]", node, output);
}

/* A new list of the items of a list, renumbered: entries [node, output], or, where entries is 0, numbers of nodes. An
 * item that is malformed becomes one that the reader refuses. NULL without memory. */
static json_t *moved_list(const unfusing *u, const json_t *list, int entries) {
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        int64_t node = entries ? mxci_json_index(entry, 0, u->at) : mxci_json_index(list, i, u->at);
        int64_t to = node < 0 ? -1 : u->moved[node];
        json_t *item = entries ? entry_of(to, mxci_json_index(entry, 1, INT32_MAX)) : json_integer(to);
        if (json_array_append_new(out, item) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* Appends a node, whose reference passes to the list. Returns its index; -1 without memory. */
static int64_t json_fused_append(unfusing *u, json_t *node) {
    return json_array_append_new(u->to, node) == 0 ? (int64_t)json_array_size(u->to) - 1 : -1;
}

/* ---- one fused node ---------------------------------------------------------------------------------------------- */

typedef struct fused {
    json_t *node, *attrs, *layers; /* borrowed */
    size_t n_in, n_args;
    int has_integer_weights; /* each of the n_args arguments has a range behind them all */
    json_t *args;            /* entries that the layers' variables stand for */
    int64_t *local;          /* node of the subgraph: index in unfusing.to; -1 - k for variable k */
} fused;

/* Makes variable arg of the layers the dequantized input, whose range is in inputs low and low + 1. */
static mxc_status dequantize(unfusing *u, fused *f, size_t arg, size_t low, const char *suffix) {
    json_t *node = json_pack("{s:s,s:s+,s:[O,O,O]}", "op", "_contrib_dequantize", "name", text_of(f->node, "name"),
                             suffix, "inputs", json_array_get(f->args, arg), json_array_get(f->args, low),
                             json_array_get(f->args, low + 1));
    int64_t at = json_fused_append(u, node);
    return at >= 0 && json_array_set_new(f->args, arg, entry_of(at, 0)) == 0
               ? MXC_OK
               : MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
}

/* Reads the fused node and connects its inputs: first those of the layers, then, where it is quantized, the lowest and
 * highest value of its data and of its summand or, of the product with attention weights, of these weights; of integer
 * weights and biases too. */
static mxc_status open_fused(unfusing *u, json_t *node, fused *f) {
    json_t *graphs = json_object_get(node, "subgraphs"), *graph = json_array_get(graphs, 0), *layer;
    size_t i, sums, bounds;
    f->node = node;
    f->attrs = json_object_get(node, "attrs");
    f->layers = json_object_get(graph, "nodes");
    f->n_in = json_array_size(json_object_get(node, "inputs"));
    if (json_array_size(graphs) != 1 || !json_array_size(f->layers))
        return wrong(u, node, "expected one graph with nodes in \"subgraphs\"");
    json_array_foreach(f->layers, i, layer) f->n_args += !strcmp(text_of(layer, "op"), "null");
    f->local = mxci_calloc(json_array_size(f->layers), sizeof *f->local);
    f->args = moved_list(u, json_object_get(node, "inputs"), 1);
    if (!f->local || !f->args)
        return MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
    sums = is_true(f->attrs, "with_sum") || !strcmp(text_of(node, "op"), "_sg_mkldnn_selfatt_valatt");
    f->has_integer_weights = is_true(f->attrs, "quantized") && f->n_in == 3 * f->n_args &&
                             !strcmp(text_of(node, "op"), "_sg_mkldnn_fully_connected");
    if (f->has_integer_weights)
        return MXC_OK;
    bounds = is_true(f->attrs, "quantized") ? 2 * (1 + sums) : 0;
    if (f->n_in != f->n_args + bounds || f->n_args < 1 + sums)
        return wrong(u, node, "its inputs do not fit its layers");
    if (bounds)
        MXC_TRY(dequantize(u, f, 0, f->n_args, "_dequantize"));
    return bounds && sums ? dequantize(u, f, f->n_args - 1, f->n_args + 2, "_sum_dequantize") : MXC_OK;
}

/* The new entry for a layer's input, which must come from a node of the subgraph before limit. */
static json_t *local_entry(const fused *f, size_t limit, const json_t *entry) {
    int64_t node = mxci_json_index(entry, 0, (int64_t)limit), output = mxci_json_index(entry, 1, INT32_MAX);
    if (node >= 0 && f->local[node] < 0)
        return json_incref(json_array_get(f->args, (size_t)(-1 - f->local[node])));
    return entry_of(node < 0 ? -1 : f->local[node], output);
}

/* Appends a full connection of integers and the dequantization of its output, which takes the layer's name. The layer
 * must read the arguments in order, as the fused node's inputs are those of the quantized operator. */
static mxc_status add_integer_layer(unfusing *u, fused *f, size_t i) {
    json_t *layer = json_array_get(f->layers, i), *inputs = json_object_get(layer, "inputs"), *node;
    const char *name = text_of(layer, "name");
    int in_order = json_array_size(inputs) == f->n_args && !strcmp(text_of(layer, "op"), "FullyConnected");
    for (size_t k = 0; k < f->n_args && in_order; k++) {
        int64_t from = mxci_json_index(json_array_get(inputs, k), 0, (int64_t)i);
        in_order = from >= 0 && f->local[from] == -1 - (int64_t)k;
    }
    if (!in_order)
        return wrong(u, f->node, "expected a FullyConnected of all its integer inputs");
    layer = json_copy(layer); /* the file's own object stays as it is */
    int failed = json_object_set_new(layer, "op", json_string("_contrib_quantized_fully_connected")) != 0;
    failed |= json_object_set_new(layer, "name", json_pack("s+", "quantized_", name)) != 0;
    failed |= json_object_set(layer, "inputs", f->args) != 0;
    int64_t at = json_fused_append(u, layer);
    node = json_pack("{s:s,s:s,s:[[I,i],[I,i],[I,i]]}", "op", "_contrib_dequantize", "name", name, "inputs",
                     (json_int_t)at, 0, (json_int_t)at, 1, (json_int_t)at, 2);
    f->local[i] = json_fused_append(u, node);
    return failed || at < 0 || f->local[i] < 0 ? MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes") : MXC_OK;
}

/* Appends the layers with their inputs renumbered. Layers come in topological order, so local is set for what they
 * read. */
static mxc_status add_layers(unfusing *u, fused *f) {
    int64_t variables = 0;
    for (size_t i = 0; i < json_array_size(f->layers); i++) {
        json_t *layer = json_array_get(f->layers, i), *inputs, *entry;
        size_t k;
        int failed = 0;
        if (!strcmp(text_of(layer, "op"), "null")) {
            f->local[i] = -1 - variables++;
            continue;
        }
        if (f->has_integer_weights && !strcmp(text_of(layer, "op"), "FullyConnected")) {
            MXC_TRY(add_integer_layer(u, f, i));
            continue;
        }
        inputs = json_array();
        json_array_foreach(json_object_get(layer, "inputs"), k, entry) failed |=
            json_array_append_new(inputs, local_entry(f, i, entry)) != 0;
        layer = json_copy(layer); /* the file's own object stays as it is */
        failed |= json_object_set_new(layer, "inputs", inputs) != 0;
        f->local[i] = json_fused_append(u, layer);
        if (failed || f->local[i] < 0)
            return MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
    }
    return MXC_OK;
}

/* Sets the node that makes the outputs: the layer named in "heads", or a quantization of its output. */
static mxc_status close_outputs(unfusing *u, fused *f) {
    const json_t *heads = json_object_get(json_array_get(json_object_get(f->node, "subgraphs"), 0), "heads");
    const char *low = text_of(f->attrs, "min_calib_range"), *high = text_of(f->attrs, "max_calib_range");
    int64_t head = mxci_json_index(json_array_get(heads, 0), 0, (int64_t)json_array_size(f->layers));
    if (json_array_size(heads) != 1 || head < 0 || f->local[head] < 0 ||
        mxci_json_index(json_array_get(heads, 0), 1, 1) != 0)
        return wrong(u, f->node, "expected one layer's first output in \"heads\"");
    u->moved[u->at] = f->local[head];
    if (!is_true(f->attrs, "quantized") || is_true(f->attrs, "enable_float_output"))
        return MXC_OK;
    if (!*low || !*high)
        return wrong(u, f->node, "quantized layers without min_calib_range and max_calib_range are not supported");
    u->moved[u->at] =
        json_fused_append(u, json_pack("{s:s,s:s,s:{s:s,s:s,s:s},s:[[I,i]]}", "op", "_contrib_quantize_v2", "name",
                                       text_of(f->node, "name"), "attrs", "out_type", "auto", "min_calib_range", low,
                                       "max_calib_range", high, "inputs", (json_int_t)f->local[head], 0));
    return u->moved[u->at] >= 0 ? MXC_OK : MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
}

static mxc_status expand(unfusing *u, json_t *node) {
    fused f = {0};
    mxc_status status = open_fused(u, node, &f);
    if (status == MXC_OK)
        status = add_layers(u, &f);
    if (status == MXC_OK)
        status = close_outputs(u, &f);
    json_decref(f.args);
    mxci_free(f.local);
    return status;
}

/* ---- all nodes --------------------------------------------------------------------------------------------------- */

/* Renumbers a list of entries or nodes in an object; no list there is left for the reader to check. */
static mxc_status move_field(const unfusing *u, json_t *object, const char *field, int entries) {
    const json_t *list = json_object_get(object, field);
    if (!json_is_array(list))
        return MXC_OK;
    return json_object_set_new(object, field, moved_list(u, list, entries)) == 0
               ? MXC_OK
               : MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
}

static mxc_status move_all(unfusing *u, json_t *root) {
    int64_t n = (int64_t)json_array_size(u->from);
    for (u->at = 0; u->at < n; u->at++) {
        json_t *node = json_array_get(u->from, (size_t)u->at);
        if (is_fused(node)) {
            MXC_TRY(expand(u, node));
            continue;
        }
        MXC_TRY(move_field(u, node, "inputs", 1));
        MXC_TRY(move_field(u, node, "control_deps", 0));
        u->moved[u->at] = json_fused_append(u, json_incref(node));
        if (u->moved[u->at] < 0)
            return MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
    }
    MXC_TRY(move_field(u, root, "arg_nodes", 0));
    MXC_TRY(move_field(u, root, "heads", 1));
    return json_object_set(root, "nodes", u->to) == 0 ? MXC_OK
                                                      : MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
}

mxc_status mxci_json_unfuse(json_t *root) {
    unfusing u = {.from = json_object_get(root, "nodes")};
    mxc_status status = MXC_OK;
    size_t i, n = json_array_size(u.from);
    for (i = 0; i < n && !is_fused(json_array_get(u.from, i)); i++)
        ;
    if (i == n)
        return MXC_OK;
    u.moved = mxci_calloc(n, sizeof *u.moved);
    u.to = json_array();
    status = u.moved && u.to ? move_all(&u, root) : MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
    json_decref(u.to);
    mxci_free(u.moved);
    return status;
}
