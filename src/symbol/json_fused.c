/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that MXNet fused for oneDNN before it wrote a file: _sg_mkldnn_conv, _sg_mkldnn_fully_connected,
 * _sg_mkldnn_selfatt_qk and _sg_mkldnn_selfatt_valatt hold the layers that they stand for as a graph of their own
 * ("subgraphs"). Here they are replaced by these layers, before the nodes are read, with the same inputs and outputs.
 * A quantized one reads and writes integers with their ranges:
 *
 *   - a convolution with float weights becomes one _quantized_fused_conv, if it is followed by what that computes;
 *   - full connection with integer weights and ranges a _contrib_quantized_fully_connected and, with a calibrated
 * range, a _contrib_requantize; a _contrib_dequantize where its output is float;
 *   - the layers of any other compute in floats, between a _contrib_dequantize and a _contrib_quantize_v2 with the
 *     calibrated range of the file.
 *
 * Ranges in such files are those of MXNet's operators for oneDNN, which end half a step beyond the last code. Here the
 * operators that make ranges get the parameter half_steps, and what reads them finds ranges as everywhere else.
 *
 *   {"op": "_sg_mkldnn_conv", "name": "sg_conv0", "inputs": [[0, 0, 0], [1, 0, 0]],
 *    "attrs": {"quantized": "true", "with_sum": "false", "min_calib_range": "-2", "max_calib_range": "2", ...},
 *    "subgraphs": [{"nodes": [..., {"op": "Convolution", ...}], "heads": [[2, 0, 0]], ...}]}
 *
 * A _TensorRT node, too, is replaced by the layers of its subgraph. There variables whose names do not follow from the
 * node's inputs are weights, which become variables of the graph.
 *
 * jansson returns NULL for a value that it has no memory for; its functions accept NULL as an argument and fail, so
 * that only the last one of several must be checked.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/json_fused.h"

typedef struct unfusing {
    json_t *from;      /* the file's nodes, borrowed */
    json_t *to;        /* the new list of nodes */
    int64_t *moved;    /* node of the file before at: index in to of the node that makes its outputs */
    json_t **heads;    /* the same: entries of its outputs where several nodes make them, else NULL */
    int64_t at;        /* node of the file that is converted now */
    json_t *variables; /* of to, by name: their indices */
} unfusing;

const char *mxci_json_text(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text ? text : "";
}

static int is_fused(const json_t *node) {
    const char *op = mxci_json_text(node, "op");
    return !strcmp(op, "_sg_mkldnn_conv") || !strcmp(op, "_sg_mkldnn_fully_connected") ||
           !strcmp(op, "_sg_mkldnn_selfatt_qk") || !strcmp(op, "_sg_mkldnn_selfatt_valatt");
}

static mxc_status wrong(const unfusing *u, const json_t *node, const char *what) {
    return MXC_FAIL(MXC_EFORMAT, "symbol JSON: node %lld \"%.80s\" of %.80s: %s", (long long)u->at,
                    mxci_json_text(node, "name"), mxci_json_text(node, "op"), what);
}

int mxci_json_is_true(const json_t *object, const char *field) {
    const char *text = mxci_json_text(object, field);
    return !strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "1");
}

static mxc_status no_memory(void) {
    return MXCI_NO_MEMORY("symbol JSON", "the layers of fused nodes");
}

/* A new entry [node, output]. */
static json_t *entry_of(json_int_t node, json_int_t output) {
    return json_pack("[I,I]", node, output);
}

/* One of a node's outputs; one that the reader refuses where there is none. */
static json_t *head_of(const json_t *heads, int64_t output) {
    json_t *entry = output < 0 ? NULL : json_array_get(heads, (size_t)output);
    return entry ? json_incref(entry) : entry_of(-1, 0);
}

/* A new list of the items of a list, renumbered: entries [node, output], or, where entries is 0, numbers of nodes. An
 * item that is malformed becomes one that the reader refuses. NULL without memory. */
static json_t *moved_list(const unfusing *u, const json_t *list, int entries) {
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        int64_t node = entries ? mxci_json_index(entry, 0, u->at) : mxci_json_index(list, i, u->at);
        int64_t to = node < 0 ? -1 : u->moved[node];
        json_t *item = NULL;
        if (!entries)
            item = json_integer(to);
        else if (node >= 0 && u->heads[node])
            item = head_of(u->heads[node], mxci_json_index(entry, 1, INT32_MAX));
        else
            item = entry_of(to, mxci_json_index(entry, 1, INT32_MAX));
        if (json_array_append_new(out, item) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* Appends a node, whose reference passes to the list. Returns its index; -1 without memory. */
static int64_t json_fused_append(unfusing *u, json_t *node) {
    int64_t at = (int64_t)json_array_size(u->to);
    if (json_array_append_new(u->to, node) != 0)
        return -1;
    if (strcmp(mxci_json_text(node, "op"), "null") != 0)
        return at;
    return json_object_set_new(u->variables, mxci_json_text(node, "name"), json_integer(at)) == 0 ? at : -1;
}

/* ---- one fused node ---------------------------------------------------------------------------------------------- */

typedef struct fused {
    json_t *node, *attrs, *layers; /* borrowed */
    size_t n_in, n_args;
    int has_integer_weights;             /* each of the n_args arguments has a range behind them all */
    int is_quantized, has_sum, is_float; /* is_float: the output of a quantized one */
    int64_t head;                        /* the layer whose output 0 is the fused node's */
    json_t *args;                        /* entries that the layers' variables stand for */
    int64_t *local;                      /* node of the subgraph: index in unfusing.to; -1 - k for variable k */
} fused;

/* Makes variable arg of the layers the dequantized input, whose range is in inputs low and low + 1. */
static mxc_status dequantize(unfusing *u, fused *f, size_t arg, size_t low, const char *suffix) {
    json_t *node = json_pack("{s:s,s:s+,s:[O,O,O]}", "op", "_contrib_dequantize", "name",
                             mxci_json_text(f->node, "name"), suffix, "inputs", json_array_get(f->args, arg),
                             json_array_get(f->args, low), json_array_get(f->args, low + 1));
    int64_t at = json_fused_append(u, node);
    return at >= 0 && json_array_set_new(f->args, arg, entry_of(at, 0)) == 0 ? MXC_OK : no_memory();
}

/* Reads the fused node. Its inputs are first those of the layers, then, where it is quantized, the lowest and highest
 * value of its data and of its summand or, of the product with attention weights, of these weights; of integer weights
 * and biases too. */
static mxc_status open_fused(unfusing *u, json_t *node, fused *f) {
    json_t *graphs = json_object_get(node, "subgraphs"), *graph = json_array_get(graphs, 0), *layer;
    const json_t *heads = json_object_get(graph, "heads");
    size_t i, bounds;
    f->node = node;
    f->attrs = json_object_get(node, "attrs");
    f->layers = json_object_get(graph, "nodes");
    f->n_in = json_array_size(json_object_get(node, "inputs"));
    if (json_array_size(graphs) != 1 || !json_array_size(f->layers))
        return wrong(u, node, "expected one graph with nodes in \"subgraphs\"");
    f->head = mxci_json_index(json_array_get(heads, 0), 0, (int64_t)json_array_size(f->layers));
    if (json_array_size(heads) != 1 || f->head < 0 || mxci_json_index(json_array_get(heads, 0), 1, 1) != 0 ||
        !strcmp(mxci_json_text(json_array_get(f->layers, (size_t)f->head), "op"), "null"))
        return wrong(u, node, "expected one layer's first output in \"heads\"");
    json_array_foreach(f->layers, i, layer) f->n_args += !strcmp(mxci_json_text(layer, "op"), "null");
    f->local = mxci_calloc(json_array_size(f->layers), sizeof *f->local);
    f->args = moved_list(u, json_object_get(node, "inputs"), 1);
    if (!f->local || !f->args)
        return no_memory();
    f->is_quantized = mxci_json_is_true(f->attrs, "quantized");
    f->is_float = mxci_json_is_true(f->attrs, "enable_float_output");
    f->has_sum =
        mxci_json_is_true(f->attrs, "with_sum") || !strcmp(mxci_json_text(node, "op"), "_sg_mkldnn_selfatt_valatt");
    f->has_integer_weights = f->is_quantized && f->n_in == 3 * f->n_args &&
                             !strcmp(mxci_json_text(node, "op"), "_sg_mkldnn_fully_connected");
    bounds = f->has_integer_weights ? 2 * f->n_args : f->is_quantized ? 2 * (1 + (size_t)f->has_sum) : 0;
    if (f->n_in != f->n_args + bounds || f->n_args < 1 + (size_t)f->has_sum)
        return wrong(u, node, "its inputs do not fit its layers");
    return MXC_OK;
}

/* The calibrated range of the output and half_steps, as parameters; NULL without memory. */
static json_t *range_of(const fused *f) {
    const char *const keys[] = {"min_calib_range", "max_calib_range"};
    json_t *attrs = json_pack("{s:s}", "half_steps", "True");
    for (size_t i = 0; i < 2; i++) {
        const char *value = mxci_json_text(f->attrs, keys[i]);
        if (*value && json_object_set_new(attrs, keys[i], json_string(value)) != 0) {
            json_decref(attrs);
            return NULL;
        }
    }
    return attrs;
}

static int is_calibrated(const fused *f) {
    return *mxci_json_text(f->attrs, "min_calib_range") && *mxci_json_text(f->attrs, "max_calib_range");
}

/* Appends one node that makes the fused node's outputs and has its name. Takes attrs and inputs. */
static mxc_status finish(unfusing *u, const fused *f, const char *op, json_t *attrs, json_t *inputs) {
    json_t *node = json_pack("{s:s,s:s,s:o,s:o}", "op", op, "name", mxci_json_text(f->node, "name"), "attrs", attrs,
                             "inputs", inputs);
    u->moved[u->at] = json_fused_append(u, node);
    return u->moved[u->at] >= 0 ? MXC_OK : no_memory();
}

/* ---- layers in integers ------------------------------------------------------------------------------------------ */

/* Replaces a quantized convolution by one node of integers where that computes all of its layers; sets *done. */
static mxc_status expand_conv(unfusing *u, fused *f, int *done) {
    mxci_json_conv conv;
    int known = mxci_json_conv_read(f->layers, f->head, &conv), failed;
    json_t *inputs, *range;
    if (known <= 0)
        return known == 0 ? MXC_OK : no_memory();
    *done = 1;
    inputs = json_array();
    range = range_of(f);
    failed = json_object_update(conv.attrs, range) != 0;
    json_decref(range);
    for (int i = 0; i < conv.n_args; i++)
        failed |= json_array_append(inputs, json_array_get(f->args, (size_t)conv.args[i])) != 0;
    for (size_t i = f->n_args; i < f->n_in; i++)
        failed |= json_array_append(inputs, json_array_get(f->args, i)) != 0;
    for (int i = 0; i < conv.n_aux; i++)
        failed |= json_array_append(inputs, json_array_get(f->args, (size_t)conv.aux[i])) != 0;
    MXC_TRY(finish(u, f, "_quantized_fused_conv", conv.attrs, inputs));
    return failed ? no_memory() : MXC_OK;
}

/* The new entry for a layer's input, which must come from a node of the subgraph before limit. */
static json_t *local_entry(const fused *f, size_t limit, const json_t *entry) {
    int64_t node = mxci_json_index(entry, 0, (int64_t)limit), output = mxci_json_index(entry, 1, INT32_MAX);
    if (node >= 0 && f->local[node] < 0)
        return json_incref(json_array_get(f->args, (size_t)(-1 - f->local[node])));
    return entry_of(node < 0 ? -1 : f->local[node], output);
}

/* Appends a full connection of integers, whose outputs are int32 and their range. The layer must read the arguments in
 * order, as the fused node's inputs are those of the quantized operator. Its name is prefix and name. */
static mxc_status add_dense(unfusing *u, fused *f, size_t i, const char *prefix, const char *name) {
    json_t *layer = json_array_get(f->layers, i), *inputs = json_object_get(layer, "inputs");
    int in_order = json_array_size(inputs) == f->n_args && !strcmp(mxci_json_text(layer, "op"), "FullyConnected");
    for (size_t k = 0; k < f->n_args && in_order; k++) {
        int64_t from = mxci_json_index(json_array_get(inputs, k), 0, (int64_t)i);
        in_order = from >= 0 && f->local[from] == -1 - (int64_t)k;
    }
    if (!in_order)
        return wrong(u, f->node, "expected a FullyConnected of all its integer inputs");
    layer = json_copy(layer); /* the file's own object stays as it is */
    int failed = json_object_set_new(layer, "op", json_string("_contrib_quantized_fully_connected")) != 0;
    failed |= json_object_set_new(layer, "name", json_pack("s+", prefix, name)) != 0;
    failed |= json_object_set(layer, "inputs", f->args) != 0;
    f->local[i] = json_fused_append(u, layer);
    return failed || f->local[i] < 0 ? no_memory() : MXC_OK;
}

/* The three outputs of a node as inputs; NULL without memory. */
static json_t *outputs_of(int64_t node) {
    return json_pack("[[I,i],[I,i],[I,i]]", (json_int_t)node, 0, (json_int_t)node, 1, (json_int_t)node, 2);
}

/* Replaces a full connection of integers, alone or before a relu, whose outputs are integers too, by integers of 32
 * bits and what makes them the outputs; sets *done. The layers' variables have their numbers. */
static mxc_status expand_dense(unfusing *u, fused *f, int *done) {
    size_t n = json_array_size(f->layers), first = n, layers = 0;
    const json_t *last = json_array_get(f->layers, (size_t)f->head);
    int has_relu = !strcmp(mxci_json_text(last, "op"), "Activation") &&
                   !strcmp(mxci_json_text(json_object_get(last, "attrs"), "act_type"), "relu");
    for (size_t i = 0; i < n; i++)
        if (strcmp(mxci_json_text(json_array_get(f->layers, i), "op"), "null") != 0) {
            first = layers == 0 ? i : first;
            layers++;
        }
    if (f->is_float || layers != 1 + (size_t)has_relu)
        return MXC_OK;
    *done = 1;
    if (is_calibrated(f) || has_relu)
        MXC_TRY(add_dense(u, f, first, "quantized_", mxci_json_text(json_array_get(f->layers, first), "name")));
    else
        MXC_TRY(add_dense(u, f, first, "", mxci_json_text(f->node, "name")));
    if (is_calibrated(f)) {
        json_t *attrs = range_of(f);
        int failed = json_object_set_new(attrs, "out_type", json_string(has_relu ? "uint8" : "int8")) != 0;
        MXC_TRY(finish(u, f, "_contrib_requantize", attrs, outputs_of(f->local[first])));
        return failed ? no_memory() : MXC_OK;
    }
    if (has_relu)
        return finish(u, f, "_contrib_quantized_act", json_pack("{s:s}", "act_type", "relu"),
                      outputs_of(f->local[first]));
    u->moved[u->at] = f->local[first];
    return MXC_OK;
}

/* ---- layers in floats -------------------------------------------------------------------------------------------- */

/* Appends a full connection of integers and the dequantization of its output, which takes the layer's name. */
static mxc_status add_dequantized_dense(unfusing *u, fused *f, size_t i) {
    const json_t *layer = json_array_get(f->layers, i);
    MXC_TRY(add_dense(u, f, i, "quantized_", mxci_json_text(layer, "name")));
    f->local[i] = json_fused_append(u, json_pack("{s:s,s:s,s:o}", "op", "_contrib_dequantize", "name",
                                                 mxci_json_text(layer, "name"), "inputs", outputs_of(f->local[i])));
    return f->local[i] < 0 ? no_memory() : MXC_OK;
}

/* Appends the layers with their inputs renumbered. Layers come in topological order, so local is set for what they
 * read. */
static mxc_status add_layers(unfusing *u, fused *f) {
    for (size_t i = 0; i < json_array_size(f->layers); i++) {
        json_t *layer = json_array_get(f->layers, i), *inputs, *entry;
        size_t k;
        int failed = 0;
        if (!strcmp(mxci_json_text(layer, "op"), "null"))
            continue;
        if (f->has_integer_weights && !strcmp(mxci_json_text(layer, "op"), "FullyConnected")) {
            MXC_TRY(add_dequantized_dense(u, f, i));
            continue;
        }
        inputs = json_array();
        json_array_foreach(json_object_get(layer, "inputs"), k, entry) failed |=
            json_array_append_new(inputs, local_entry(f, i, entry)) != 0;
        layer = json_copy(layer); /* the file's own object stays as it is */
        failed |= json_object_set_new(layer, "inputs", inputs) != 0;
        f->local[i] = json_fused_append(u, layer);
        if (failed || f->local[i] < 0)
            return no_memory();
    }
    return MXC_OK;
}

/* Replaces a fused node by its layers, which compute in floats. */
static mxc_status expand_layers(unfusing *u, fused *f) {
    json_t *attrs;
    if (f->is_quantized && !f->has_integer_weights) {
        MXC_TRY(dequantize(u, f, 0, f->n_args, "_dequantize"));
        if (f->has_sum)
            MXC_TRY(dequantize(u, f, f->n_args - 1, f->n_args + 2, "_sum_dequantize"));
    }
    MXC_TRY(add_layers(u, f));
    u->moved[u->at] = f->local[f->head];
    if (!f->is_quantized || f->is_float)
        return MXC_OK;
    if (!is_calibrated(f))
        return wrong(u, f->node,
                     "without min_calib_range and max_calib_range only convolutions with relu, LeakyReLU or "
                     "clip and full connection with integer weights and relu are supported");
    attrs = range_of(f);
    if (json_object_set_new(attrs, "out_type", json_string("auto")) != 0) {
        json_decref(attrs);
        return no_memory();
    }
    return finish(u, f, "_contrib_quantize_v2", attrs, json_pack("[[I,i]]", (json_int_t)f->local[f->head], 0));
}

static mxc_status expand(unfusing *u, json_t *node) {
    fused f = {0};
    int64_t variables = 0;
    int done = 0;
    mxc_status status = open_fused(u, node, &f);
    for (size_t i = 0; status == MXC_OK && i < json_array_size(f.layers); i++)
        if (!strcmp(mxci_json_text(json_array_get(f.layers, i), "op"), "null"))
            f.local[i] = -1 - variables++;
    if (status == MXC_OK && f.has_integer_weights)
        status = expand_dense(u, &f, &done);
    else if (status == MXC_OK && f.is_quantized && !f.is_float)
        status = expand_conv(u, &f, &done);
    if (status == MXC_OK && !done)
        status = expand_layers(u, &f);
    json_decref(f.args);
    mxci_free(f.local);
    return status;
}

/* ---- graphs partitioned for TensorRT ------------------------------------------------------------------------------
 */

static int is_tensorrt(const json_t *node) {
    return !strcmp(mxci_json_text(node, "op"), "_TensorRT");
}

/* The inputs of a node by how the variables of its subgraph that stand for them are named, but for a number behind:
 * the name of a variable outside, or of a layer, with "_output". NULL without memory. */
static json_t *name_inputs(const unfusing *u, const fused *f) {
    const json_t *inputs = json_object_get(f->node, "inputs");
    json_t *names = json_object();
    for (size_t i = 0; i < f->n_in; i++) {
        int64_t from = mxci_json_index(json_array_get(inputs, i), 0, u->at);
        const json_t *source = json_array_get(u->from, from < 0 ? json_array_size(u->from) : (size_t)from);
        const char *end = strcmp(mxci_json_text(source, "op"), "null") == 0 ? "" : "_output";
        json_t *name = json_pack("s+", mxci_json_text(source, "name"), end);
        int failed = json_object_set_new(names, json_string_value(name), json_integer((json_int_t)i)) != 0;
        json_decref(name);
        if (failed) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

/* Which input a variable stands for, -1: none, so that it is a weight; -2 without memory. Names outside may end with
 * digits, too. */
static int64_t find_input(const json_t *names, const char *variable) {
    enum { DIGITS = 9 };
    char *name = mxci_strdup(variable);
    int64_t found = -1;
    if (!name)
        return -2;
    for (size_t n = strlen(name), digits = 0; found < 0 && n > 0 && digits < DIGITS; digits++) {
        if (name[n - 1] < '0' || name[n - 1] > '9')
            break;
        name[--n] = '\0';
        const json_t *input = json_object_get(names, name);
        found = input ? (int64_t)json_integer_value(input) : -1;
    }
    mxci_free(name);
    return found;
}

/* The variable of that name among the nodes so far, or the one given, appended. -1: without memory. */
static int64_t take_variable(unfusing *u, json_t *variable) {
    const json_t *known = json_object_get(u->variables, mxci_json_text(variable, "name"));
    return known ? (int64_t)json_integer_value(known) : json_fused_append(u, json_incref(variable));
}

/* Sets local of the subgraph's variables; each input must have one. */
static mxc_status place_variables(unfusing *u, fused *f) {
    json_t *names = name_inputs(u, f);
    mxc_status status = names ? MXC_OK : no_memory();
    for (size_t i = 0; i < json_array_size(f->layers) && status == MXC_OK; i++) {
        json_t *layer = json_array_get(f->layers, i);
        if (strcmp(mxci_json_text(layer, "op"), "null") != 0)
            continue;
        int64_t input = find_input(names, mxci_json_text(layer, "name"));
        f->local[i] = input >= 0 ? -1 - input : take_variable(u, layer);
        f->n_args += input >= 0;
        if (input == -2 || (input < 0 && f->local[i] < 0))
            status = no_memory();
    }
    json_decref(names);
    if (status == MXC_OK && f->n_args != f->n_in)
        return wrong(u, f->node, "its inputs do not fit the names of its subgraph's variables");
    return status;
}

/* Replaces a node by the layers in its subgraph, whose weights become variables of the graph. */
static mxc_status expand_tensorrt(unfusing *u, json_t *node) {
    json_t *graphs = json_object_get(node, "subgraphs"), *graph = json_array_get(graphs, 0), *heads, *head;
    fused f = {.node = node, .n_in = json_array_size(json_object_get(node, "inputs"))};
    size_t i;
    f.layers = json_object_get(graph, "nodes");
    if (json_array_size(graphs) != 1 || !json_array_size(f.layers))
        return wrong(u, node, "its layers are not in the file: expected one graph with nodes in \"subgraphs\"");
    f.local = mxci_calloc(json_array_size(f.layers), sizeof *f.local);
    f.args = moved_list(u, json_object_get(node, "inputs"), 1);
    mxc_status status = f.local && f.args ? place_variables(u, &f) : no_memory();
    if (status == MXC_OK)
        status = add_layers(u, &f);
    heads = u->heads[u->at] = json_array();
    json_array_foreach(json_object_get(graph, "heads"), i,
                       head) if (status == MXC_OK &&
                                 json_array_append_new(heads, local_entry(&f, json_array_size(f.layers), head)) != 0)
        status = no_memory();
    json_decref(f.args);
    mxci_free(f.local);
    return heads ? status : no_memory();
}

/* ---- all nodes --------------------------------------------------------------------------------------------------- */

/* Renumbers a list of entries or nodes in an object; no list there is left for the reader to check. */
static mxc_status move_field(const unfusing *u, json_t *object, const char *field, int entries) {
    const json_t *list = json_object_get(object, field);
    if (!json_is_array(list))
        return MXC_OK;
    return json_object_set_new(object, field, moved_list(u, list, entries)) == 0 ? MXC_OK : no_memory();
}

/* Operators that make a range by themselves or from a calibration. */
static int makes_range(const json_t *node) {
    static const char *const ops[] = {"_contrib_quantize_v2", "_contrib_quantized_elemwise_add",
                                      "_contrib_quantized_elemwise_mul", "_contrib_quantized_batch_norm",
                                      "_contrib_quantized_concat"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(mxci_json_text(node, "op"), ops[i]))
            return 1;
    return 0;
}

/* Whether the graph is for oneDNN's operators on 8 bits: it has a quantized fused node. */
static int has_quantized(const json_t *nodes) {
    const json_t *node;
    size_t i;
    json_array_foreach(nodes, i, node) if (is_fused(node) &&
                                           mxci_json_is_true(json_object_get(node, "attrs"), "quantized")) return 1;
    return 0;
}

/* Gives the node the parameter half_steps. */
static mxc_status set_half_steps(json_t *node) {
    json_t *attrs = json_object_get(node, "attrs");
    int failed = 0;
    if (!attrs) {
        attrs = json_object();
        failed = json_object_set_new(node, "attrs", attrs) != 0;
    }
    if (!failed && json_is_object(attrs))
        failed = json_object_set_new(attrs, "half_steps", json_string("True")) != 0;
    return failed ? no_memory() : MXC_OK;
}

static mxc_status move_all(unfusing *u, json_t *root) {
    int64_t n = (int64_t)json_array_size(u->from);
    const int half_steps = has_quantized(u->from);
    for (u->at = 0; u->at < n; u->at++) {
        json_t *node = json_array_get(u->from, (size_t)u->at);
        if (is_fused(node) || is_tensorrt(node)) {
            MXC_TRY(is_fused(node) ? expand(u, node) : expand_tensorrt(u, node));
            continue;
        }
        if (half_steps && makes_range(node))
            MXC_TRY(set_half_steps(node));
        MXC_TRY(move_field(u, node, "inputs", 1));
        MXC_TRY(move_field(u, node, "control_deps", 0));
        u->moved[u->at] = json_fused_append(u, json_incref(node));
        if (u->moved[u->at] < 0)
            return no_memory();
    }
    MXC_TRY(move_field(u, root, "arg_nodes", 0));
    MXC_TRY(move_field(u, root, "heads", 1));
    return json_object_set(root, "nodes", u->to) == 0 ? MXC_OK : no_memory();
}

mxc_status mxci_json_unfuse(json_t *root) {
    unfusing u = {.from = json_object_get(root, "nodes")};
    mxc_status status = MXC_OK;
    size_t i, n = json_array_size(u.from);
    for (i = 0; i < n && !is_fused(json_array_get(u.from, i)) && !is_tensorrt(json_array_get(u.from, i)); i++)
        ;
    if (i == n)
        return MXC_OK;
    u.moved = mxci_calloc(n, sizeof *u.moved);
    u.heads = mxci_calloc(n, sizeof(json_t *));
    u.to = json_array();
    u.variables = json_object();
    status = u.moved && u.heads && u.to && u.variables ? move_all(&u, root) : no_memory();
    for (i = 0; u.heads && i < n; i++)
        json_decref(u.heads[i]);
    json_decref(u.variables);
    json_decref(u.to);
    mxci_free(u.heads);
    mxci_free(u.moved);
    return status;
}
