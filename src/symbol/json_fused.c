/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that MXNet fused for oneDNN before it wrote a file: _sg_mkldnn_conv and _sg_mkldnn_fully_connected hold the
 * layers that they stand for as a graph of their own ("subgraphs"). Here they become these layers again, before the
 * nodes are read, with the same inputs and outputs. One that is quantized takes whole numbers with their bounds and
 * gives such; its weights are floats, so its layers reckon in floats, between a _contrib_dequantize and a
 * _contrib_quantize_v2 of its calibrated range.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/json.h"

typedef struct unfusing {
    json_t *from;   /* the file's nodes, borrowed */
    json_t *to;     /* those that take their place */
    int64_t *moved; /* where each node of the file, up to now, has gone: what gives its outputs */
    int64_t at;
} unfusing;

static mxc_status no_memory(void) {
    return MXC_FAIL(MXC_ENOMEM, "symbol JSON: no memory");
}

static const char *text_of(const json_t *node, const char *field) {
    const char *text = json_string_value(json_object_get(node, field));
    return text ? text : "";
}

static int is_fused(const json_t *node) {
    const char *op = text_of(node, "op");
    return !strcmp(op, "_sg_mkldnn_conv") || !strcmp(op, "_sg_mkldnn_fully_connected");
}

static mxc_status wrong(const unfusing *u, const json_t *node, const char *what) {
    return MXC_FAIL(MXC_EFORMAT, "symbol JSON: node %lld \"%.80s\" of %.80s: %s", (long long)u->at,
                    text_of(node, "name"), text_of(node, "op"), what);
}

static int is_true(const json_t *attrs, const char *key) {
    const char *text = text_of(attrs, key);
    return !strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "1");
}

/* Number i of an entry or list, -1 if it is none below limit. */
static json_int_t json_fused_number_at(const json_t *list, size_t i, json_int_t limit) {
    const json_t *number = json_array_get(list, i);
    json_int_t value = json_integer_value(number);
    return json_is_integer(number) && value >= 0 && value < limit ? value : -1;
}

/* A new entry; what is no entry of the file becomes one that the reader refuses. */
static json_t *entry_of(json_int_t node, json_int_t output) {
    return json_pack("[I,I]", node, output);
}

static json_t *moved_entry(const unfusing *u, const json_t *entry) {
    json_int_t node = json_fused_number_at(entry, 0, u->at);
    return entry_of(node < 0 ? -1 : u->moved[node], json_fused_number_at(entry, 1, INT32_MAX));
}

/* A new list of all items of a list, each made by entries or, where that is not set, as the number of a node. */
static json_t *moved_list(const unfusing *u, const json_t *list, int entries) {
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_int_t node = entries ? 0 : json_fused_number_at(list, i, u->at);
        json_t *item = entries ? moved_entry(u, json_array_get(list, i)) : json_integer(node < 0 ? -1 : u->moved[node]);
        if (json_array_append_new(out, item) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* Append a node, which is given away; where it stands comes back, -1 without memory. */
static int64_t json_fused_append(unfusing *u, json_t *node) {
    return json_array_append_new(u->to, node) == 0 ? (int64_t)json_array_size(u->to) - 1 : -1;
}

/* ---- one fused node ---------------------------------------------------------------------------------------------- */

typedef struct fused {
    json_t *node, *attrs, *layers; /* borrowed */
    size_t n_in, n_args;
    json_t *args;   /* entries of the layers' variables */
    int64_t *local; /* where each layer has gone; -1 - k for variable k */
} fused;

static mxc_status open_fused(const unfusing *u, json_t *node, fused *f) {
    json_t *graphs = json_object_get(node, "subgraphs"), *graph = json_array_get(graphs, 0), *layer;
    size_t i;
    f->node = node;
    f->attrs = json_object_get(node, "attrs");
    f->layers = json_object_get(graph, "nodes");
    f->n_in = json_array_size(json_object_get(node, "inputs"));
    if (json_array_size(graphs) != 1 || !json_array_size(f->layers))
        return wrong(u, node, "expected one graph with nodes in \"subgraphs\"");
    json_array_foreach(f->layers, i, layer) f->n_args += !strcmp(text_of(layer, "op"), "null");
    f->local = mxci_calloc(json_array_size(f->layers), sizeof *f->local);
    f->args = moved_list(u, json_object_get(node, "inputs"), 1);
    return f->local && f->args ? MXC_OK : no_memory();
}

/* Have variable arg of the layers stand for the numbers of an input whose bounds are inputs low and low + 1. */
static mxc_status dequantize(unfusing *u, fused *f, size_t arg, size_t low, const char *suffix) {
    json_t *node = json_pack("{s:s,s:s+,s:[O,O,O]}", "op", "_contrib_dequantize", "name", text_of(f->node, "name"),
                             suffix, "inputs", json_array_get(f->args, arg), json_array_get(f->args, low),
                             json_array_get(f->args, low + 1));
    int64_t at = json_fused_append(u, node);
    return at >= 0 && json_array_set_new(f->args, arg, entry_of(at, 0)) == 0 ? MXC_OK : no_memory();
}

static mxc_status open_inputs(unfusing *u, fused *f) {
    size_t sums = is_true(f->attrs, "with_sum"), bounds = is_true(f->attrs, "quantized") ? 2 * (1 + sums) : 0;
    if (f->n_in != f->n_args + bounds || f->n_args < 1 + sums)
        return wrong(u, f->node, "its inputs do not fit its layers");
    if (bounds)
        MXC_TRY(dequantize(u, f, 0, f->n_args, "_dequantize"));
    if (bounds && sums)
        MXC_TRY(dequantize(u, f, f->n_args - 1, f->n_args + 2, "_sum_dequantize"));
    return MXC_OK;
}

/* The entry of a layer's input. */
static json_t *local_entry(const fused *f, size_t limit, const json_t *entry) {
    json_int_t node = json_fused_number_at(entry, 0, (json_int_t)limit),
               output = json_fused_number_at(entry, 1, INT32_MAX);
    if (node >= 0 && f->local[node] < 0)
        return json_incref(json_array_get(f->args, (size_t)(-1 - f->local[node])));
    return entry_of(node < 0 ? -1 : f->local[node], output);
}

static mxc_status add_layer(unfusing *u, fused *f, size_t i) {
    json_t *layer = json_copy(json_array_get(f->layers, i)), *list = json_array(), *entry;
    size_t k;
    int failed = 0;
    json_array_foreach(json_object_get(layer, "inputs"), k, entry) failed |=
        json_array_append_new(list, local_entry(f, i, entry)) != 0;
    failed |= json_object_set_new(layer, "inputs", list) != 0;
    f->local[i] = json_fused_append(u, layer);
    return failed || f->local[i] < 0 ? no_memory() : MXC_OK;
}

static mxc_status add_layers(unfusing *u, fused *f) {
    int64_t variables = 0;
    for (size_t i = 0; i < json_array_size(f->layers); i++) {
        if (!strcmp(text_of(json_array_get(f->layers, i), "op"), "null"))
            f->local[i] = -1 - variables++;
        else
            MXC_TRY(add_layer(u, f, i));
    }
    return MXC_OK;
}

/* What gives the outputs: the layer named in "heads", or behind it the way back to whole numbers. */
static mxc_status close_outputs(unfusing *u, fused *f) {
    const json_t *heads = json_object_get(json_array_get(json_object_get(f->node, "subgraphs"), 0), "heads");
    const char *low = text_of(f->attrs, "min_calib_range"), *high = text_of(f->attrs, "max_calib_range");
    json_int_t head = json_fused_number_at(json_array_get(heads, 0), 0, (json_int_t)json_array_size(f->layers));
    if (json_array_size(heads) != 1 || head < 0 || f->local[head] < 0 ||
        json_fused_number_at(json_array_get(heads, 0), 1, 1) != 0)
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
    return u->moved[u->at] >= 0 ? MXC_OK : no_memory();
}

static mxc_status expand(unfusing *u, json_t *node) {
    fused f = {0};
    mxc_status status = open_fused(u, node, &f);
    if (status == MXC_OK)
        status = open_inputs(u, &f);
    if (status == MXC_OK)
        status = add_layers(u, &f);
    if (status == MXC_OK)
        status = close_outputs(u, &f);
    json_decref(f.args);
    mxci_free(f.local);
    return status;
}

/* ---- all nodes --------------------------------------------------------------------------------------------------- */

/* Lists of entries or nodes in an object, renumbered. */
static mxc_status move_field(const unfusing *u, json_t *object, const char *field, int entries) {
    const json_t *list = json_object_get(object, field);
    if (!json_is_array(list))
        return MXC_OK;
    return json_object_set_new(object, field, moved_list(u, list, entries)) == 0 ? MXC_OK : no_memory();
}

static mxc_status move_node(unfusing *u, json_t *node) {
    if (is_fused(node))
        return expand(u, node);
    MXC_TRY(move_field(u, node, "inputs", 1));
    MXC_TRY(move_field(u, node, "control_deps", 0));
    u->moved[u->at] = json_fused_append(u, json_incref(node));
    return u->moved[u->at] >= 0 ? MXC_OK : no_memory();
}

static mxc_status move_all(unfusing *u, json_t *root) {
    int64_t n = (int64_t)json_array_size(u->from);
    for (u->at = 0; u->at < n; u->at++)
        MXC_TRY(move_node(u, json_array_get(u->from, (size_t)u->at)));
    MXC_TRY(move_field(u, root, "arg_nodes", 0));
    MXC_TRY(move_field(u, root, "heads", 1));
    return json_object_set(root, "nodes", u->to) == 0 ? MXC_OK : no_memory();
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
    status = u.moved && u.to ? move_all(&u, root) : no_memory();
    json_decref(u.to);
    mxci_free(u.moved);
    return status;
}
