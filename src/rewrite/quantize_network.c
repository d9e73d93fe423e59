/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc_quantize: from a float network to one in 8-bit integers. An output has up to three forms, each created when it is
 * first needed: floats; 8 bits with two bounds; and, for layers with weights and sums, 32 bits with bounds.
 * _contrib_dequantize gives floats and _contrib_requantize 8 bits from integers, _contrib_quantize_v2 8 bits from
 * floats. A relu after 32 bits is their uint8 form.
 *
 *   x = q max(|low|, |high|) / 127          8 bits, symmetric: q is in [-127, 127], or in [0, 255] for uint8 with / 255
 *
 * A quantized layer multiplies 8-bit data and weights and accumulates in 32 bits; its bounds follow from those of both.
 * With calibration the bounds of activations are constants of the network; without, each run finds them.
 */
#include "rewrite/quantize_network.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"

/* Forms of one entry; node NULL: not created. A quantized form is outputs 0 to 2 of a node (values and bounds); that of
 * a parameter is three variables. */
typedef struct entry_forms {
    mxci_entry real, int8, int32, weight[3];
} entry_forms;

typedef struct quantize_pass {
    const mxc_quantize_options *options;
    mxci_quantize_calibrate_fn *calibrate;
    mxci_rebuild rebuild;
    mxci_activation_range *ranges; /* NULL without calibration */
    entry_forms *entry_forms;      /* by entry of the graph */
    mxci_entry *in;                /* room for the inputs of one node, thrice, and for the outputs */
} quantize_pass;

static const mxci_gnode *node_of_entry(const quantize_pass *p, int32_t entry) {
    const mxci_graph *g = p->rebuild.graph;
    return &g->nodes[g->entry_node[entry]];
}

/* ---- new nodes --------------------------------------------------------------------------------------------------- */

/* The values and bounds of a quantized form. */
static void set_triple(mxci_entry *to, mxci_entry whole) {
    for (int i = 0; i < 3; i++)
        to[i] = (mxci_entry){whole.node, whole.index + i};
}

/* An operator called like the node that makes the entry, with a suffix: "conv1_requantize". */
static mxc_status quantize_network_make_op(quantize_pass *p, const char *op, int32_t entry, const char *suffix,
                                           int n_params, const char *const *keys, const char *const *values, int n_in,
                                           const mxci_entry *in, mxci_entry *out) {
    const mxci_gnode *g = node_of_entry(p, entry);
    mxci_text text = {0};
    mxc_status status;
    char *name;
    mxci_text_printf(&text, "%s_%s", g->name, suffix);
    if (entry != g->first_entry)
        mxci_text_printf(&text, "%d", entry - g->first_entry);
    MXC_TRY(mxci_text_take(&text, &name));
    status = mxci_rebuild_op(&p->rebuild, op, name, n_params, keys, values, n_in, in, out);
    mxci_free(name);
    return status;
}

/* Operator parameters for the calibrated range of an entry, after out_type. */
typedef struct range_text {
    int n;
    const char *keys[3], *values[3];
    char low[32], high[32];
} range_text;

static mxc_status range_params(const quantize_pass *p, int32_t entry, const char *out_type, range_text *t) {
    double low, high;
    *t = (range_text){.n = 0};
    if (out_type) {
        t->keys[t->n] = "out_type";
        t->values[t->n++] = out_type;
    }
    if (!p->ranges || p->ranges[entry].low > p->ranges[entry].high)
        return MXC_OK;
    MXC_TRY(mxci_activation_range_bounds(&p->ranges[entry], &low, &high));
    if (!isfinite(low) || !isfinite(high))
        return MXC_OK;
    t->keys[t->n] = "min_calib_range";
    t->values[t->n++] = t->low;
    t->keys[t->n] = "max_calib_range";
    t->values[t->n++] = t->high;
    mxci_format(t->low, sizeof t->low, "%.9g", low);
    mxci_format(t->high, sizeof t->high, "%.9g", high);
    return MXC_OK;
}

/* ---- forms of entries -------------------------------------------------------------------------------------------- */

/* The float form of an entry, dequantized from the more exact integer form if need be. */
static mxc_status get_float(quantize_pass *p, int32_t entry, mxci_entry *out) {
    entry_forms *f = &p->entry_forms[entry];
    if (!f->real.node) {
        mxci_entry in[3];
        set_triple(in, f->int32.node ? f->int32 : f->int8);
        MXC_TRY(
            quantize_network_make_op(p, "_contrib_dequantize", entry, "dequantize", 0, NULL, NULL, 3, in, &f->real));
    }
    *out = f->real;
    return MXC_OK;
}

/* 8 bits with the calibrated range of an entry, from 32 bits of this entry or, for a relu, of its input. */
static mxc_status requantize(quantize_pass *p, int32_t entry, mxci_entry int32, const char *out_type, mxci_entry *out) {
    mxci_entry in[3];
    range_text t;
    set_triple(in, int32);
    MXC_TRY(range_params(p, entry, out_type, &t));
    return quantize_network_make_op(p, "_contrib_requantize", entry, "requantize", t.n, t.keys, t.values, 3, in, out);
}

/* The 8-bit form of an entry with bounds: requantized from 32 bits if there are such, else quantized from floats. */
static mxc_status get_int8(quantize_pass *p, int32_t entry, mxci_entry *out) {
    entry_forms *f = &p->entry_forms[entry];
    if (!f->int8.node && f->int32.node)
        MXC_TRY(requantize(p, entry, f->int32, NULL, &f->int8));
    if (!f->int8.node) {
        range_text t;
        MXC_TRY(range_params(p, entry, "auto", &t));
        MXC_TRY(quantize_network_make_op(p, "_contrib_quantize_v2", entry, "quantize", t.n, t.keys, t.values, 1,
                                         &f->real, &f->int8));
    }
    *out = f->int8;
    return MXC_OK;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static mxc_status make_scalar(float value, mxc_ndarray **out) {
    int64_t one = 1;
    return mxc_ndarray_from_data(1, &one, MXC_F32, &value, out);
}

/* A float array in int8, symmetric: values, and the lowest and highest number that they stand for, -max |x| and max
 * |x|. */
static mxc_status quantize_array(mxc_ndarray *from, mxc_ndarray *out[3]) {
    const mxc_shape *shape = mxc_ndarray_shape(from);
    int64_t n = mxc_ndarray_size(from);
    float range = 0;
    mxc_status status;
    int8_t *codes;
    const float *x;
    void *data;
    MXC_TRY(mxc_ndarray_data(from, &data));
    x = data;
    for (int64_t i = 0; i < n; i++)
        range = fabsf(x[i]) > range ? fabsf(x[i]) : range;
    codes = mxci_alloc((size_t)n);
    if (!codes)
        return MXCI_NO_MEMORY("mxc_quantize", "the quantized network");
    for (int64_t i = 0; i < n; i++)
        codes[i] = (int8_t)(range > 0 ? roundf(fmaxf(-1, fminf(1, x[i] / range)) * 127) : 0);
    status = mxc_ndarray_from_data(shape->ndim, shape->dim, MXC_I8, codes, &out[0]);
    mxci_free(codes);
    if (status == MXC_OK)
        status = make_scalar(-range, &out[1]);
    return status == MXC_OK ? make_scalar(range, &out[2]) : status;
}

/* A variable "<name>_quantize" with a suffix, for the parameter of an entry; the array is taken, also on failure. */
static mxc_status quantize_network_make_variable(quantize_pass *p, int32_t entry, const char *suffix,
                                                 mxc_ndarray *array, mxci_entry *out) {
    mxci_text text = {0};
    mxc_status status;
    char *name;
    mxci_text_printf(&text, "%s_quantize%s", node_of_entry(p, entry)->name, suffix);
    status = mxci_text_take(&text, &name);
    if (status != MXC_OK) {
        mxc_ndarray_release(array);
        return status;
    }
    status = mxci_rebuild_variable(&p->rebuild, name, array, out);
    mxci_free(name);
    return status;
}

/* The variables of a quantized parameter and its bounds, made once for all layers that share it. */
static mxc_status get_weight(quantize_pass *p, int32_t entry, mxci_entry out[3]) {
    static const char *const suffixes[3] = {"", "_min", "_max"};
    mxci_entry *made = p->entry_forms[entry].weight;
    mxc_ndarray *arrays[3] = {NULL, NULL, NULL};
    mxc_status status = MXC_OK;
    if (!made[2].node)
        status = quantize_array(mxci_rebuild_param(&p->rebuild, entry), arrays);
    for (int i = 0; i < 3 && arrays[i]; i++) {
        if (status == MXC_OK)
            status = quantize_network_make_variable(p, entry, suffixes[i], arrays[i], &made[i]);
        else
            mxc_ndarray_release(arrays[i]);
    }
    memcpy(out, made, 3 * sizeof *out);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static int is_excluded(const quantize_pass *p, int32_t node) {
    for (int i = 0; i < p->options->n_excluded; i++)
        if (!strcmp(p->options->excluded[i], p->rebuild.graph->nodes[node].name))
            return 1;
    return 0;
}

/* The node's quantized form, "quantized_<name>", on integers. */
static mxc_status make_quantized_node(quantize_pass *p, int32_t node, const char *op, const range_text *t, int n_in,
                                      const mxci_entry *in, mxci_entry *out) {
    const mxci_gnode *g = &p->rebuild.graph->nodes[node];
    mxci_text text = {0};
    mxc_status status;
    char *name;
    mxci_text_printf(&text, "quantized_%s", g->name);
    MXC_TRY(mxci_text_take(&text, &name));
    status = mxci_rebuild_node_as(&p->rebuild, node, op, name, t ? t->n : 0, t ? t->keys : NULL, t ? t->values : NULL,
                                  n_in, in, out);
    mxci_free(name);
    return status;
}

/* 1 if every input after the first is a float32 parameter. */
static int has_weights(const quantize_pass *p, int32_t node) {
    const mxci_gnode *g = &p->rebuild.graph->nodes[node];
    for (int i = 1; i < g->n_inputs; i++) {
        mxc_ndarray *param = mxci_rebuild_param(&p->rebuild, mxci_graph_inputs(p->rebuild.graph, node)[i]);
        if (!param || mxc_ndarray_dtype(param) != MXC_F32)
            return 0;
    }
    return g->n_inputs > 1;
}

/* The order of inputs of quantized operators: all arrays, then all their bounds. */
static void place_triple(int n, int i, const mxci_entry triple[3], mxci_entry *in) {
    in[i] = triple[0];
    in[n + 2 * i] = triple[1];
    in[n + 2 * i + 1] = triple[2];
}

/* Convolution and FullyConnected: 8-bit data, weight and bias to 32 bits. */
static mxc_status make_layer(quantize_pass *p, int32_t node, const char *op) {
    const mxci_gnode *g = &p->rebuild.graph->nodes[node];
    const int32_t *from = mxci_graph_inputs(p->rebuild.graph, node);
    mxci_entry triple[3], data;
    MXC_TRY(get_int8(p, from[0], &data));
    set_triple(triple, data);
    place_triple(g->n_inputs, 0, triple, p->in);
    for (int i = 1; i < g->n_inputs; i++) {
        MXC_TRY(get_weight(p, from[i], triple));
        place_triple(g->n_inputs, i, triple, p->in);
    }
    return make_quantized_node(p, node, op, NULL, 3 * g->n_inputs, p->in, &p->entry_forms[g->first_entry].int32);
}

/* An operator from integers to integers; its output becomes the form to. */
static mxc_status make_quantized(quantize_pass *p, int32_t node, const char *op, const range_text *t, mxci_entry *to) {
    const mxci_gnode *g = &p->rebuild.graph->nodes[node];
    for (int i = 0; i < g->n_inputs; i++) {
        mxci_entry triple[3], data;
        MXC_TRY(get_int8(p, mxci_graph_inputs(p->rebuild.graph, node)[i], &data));
        set_triple(triple, data);
        place_triple(g->n_inputs, i, triple, p->in);
    }
    return make_quantized_node(p, node, op, t, 3 * g->n_inputs, p->in, to);
}

/* A relu of 32 bits is their requantization to uint8, which cuts negative values off; one of 8 bits is an operator. */
static mxc_status make_relu(quantize_pass *p, int32_t node) {
    const mxci_gnode *g = &p->rebuild.graph->nodes[node];
    const entry_forms *from = &p->entry_forms[mxci_graph_inputs(p->rebuild.graph, node)[0]];
    static const range_text relu = {.n = 1, .keys = {"act_type"}, .values = {"relu"}};
    mxci_entry *to = &p->entry_forms[g->first_entry].int8;
    if (from->int32.node)
        return requantize(p, g->first_entry, from->int32, "uint8", to);
    return make_quantized(p, node, "_contrib_quantized_act", &relu, to);
}

/* The node as it is, on the float forms of its inputs. */
static mxc_status make_float_node(quantize_pass *p, int32_t node) {
    const mxci_graph *g = p->rebuild.graph;
    const mxci_gnode *n = &g->nodes[node];
    for (int32_t i = 0; i < n->n_inputs; i++)
        MXC_TRY(get_float(p, mxci_graph_inputs(g, node)[i], &p->in[i]));
    MXC_TRY(mxci_rebuild_node(&p->rebuild, node, p->in));
    for (int32_t i = 0; i < n->n_outputs; i++)
        p->entry_forms[n->first_entry + i].real = p->rebuild.made[n->first_entry + i];
    return MXC_OK;
}

static int is_relu(const mxc_op *op) {
    mxc_elementwise f;
    return mxci_op_get_elementwise(op, &f) && f.scalar == MXC_SCALAR_NONE && !strcmp(f.function, "relu");
}

/* A layer with weights is computed in integers whatever its data is; other operators where all their inputs are
 * quantized already. */
static mxc_status quantize_network_make_node(quantize_pass *p, int32_t node) {
    const mxci_gnode *g = &p->rebuild.graph->nodes[node];
    entry_forms *to = &p->entry_forms[g->first_entry];
    mxc_quantized q = {.op = NULL};
    int is_int = g->n_inputs > 0; /* all inputs have an integer form */
    if (g->kind != MXCI_FORWARD || is_excluded(p, node))
        return make_float_node(p, node);
    if (!mxci_op_get_quantized(g->op, &q))
        q.op = NULL;
    if (q.op && q.has_weights)
        return has_weights(p, node) ? make_layer(p, node, q.op) : make_float_node(p, node);
    for (int32_t i = 0; i < g->n_inputs; i++) {
        const entry_forms *from = &p->entry_forms[mxci_graph_inputs(p->rebuild.graph, node)[i]];
        is_int = is_int && (from->int8.node || from->int32.node);
    }
    if (!is_int)
        return make_float_node(p, node);
    if (is_relu(g->op))
        return make_relu(p, node);
    return q.op ? make_quantized(p, node, q.op, NULL, q.is_32bit ? &to->int32 : &to->int8) : make_float_node(p, node);
}

/* ---- pass -------------------------------------------------------------------------------------------------------- */

static mxc_status quantize_network_check_options(const mxc_quantize_options *o) {
    mxci_graph *g;
    mxc_status status = MXC_OK;
    if (!o->symbol || !o->params || o->n_excluded < 0 || (o->n_excluded && !o->excluded))
        return MXC_FAIL(MXC_EINVAL, "mxc_quantize: options need a symbol and params");
    if ((int)o->calibration < MXC_CALIBRATE_NONE || o->calibration > MXC_CALIBRATE_ENTROPY)
        return MXC_FAIL(MXC_EINVAL, "mxc_quantize: calibration is %d, expected 0 to 2", (int)o->calibration);
    if (o->calibration != MXC_CALIBRATE_NONE && !o->data)
        return MXC_FAIL(MXC_EINVAL, "mxc_quantize: calibration needs data");
    MXC_TRY(mxci_graph_from_symbol(o->symbol, &g));
    for (int i = 0; i < o->n_excluded && status == MXC_OK; i++) {
        int32_t k = 0;
        while (k < g->n_nodes && (g->nodes[k].kind != MXCI_FORWARD || strcmp(g->nodes[k].name, o->excluded[i]) != 0))
            k++;
        if (k == g->n_nodes)
            status = MXC_FAIL(MXC_ENOTFOUND, "mxc_quantize: no operator's node is called \"%.80s\"", o->excluded[i]);
    }
    mxci_graph_destroy(g);
    return status;
}

/* Prepares the pass and, where options ask for it, calibrates: runs the float network. */
static mxc_status open_pass(quantize_pass *p, mxc_symbol *symbol, const mxc_ndarray_list *params) {
    const mxci_graph *g;
    MXC_TRY(mxci_rebuild_open(&p->rebuild, symbol, params));
    g = p->rebuild.graph;
    p->entry_forms = mxci_calloc((size_t)g->n_entries, sizeof *p->entry_forms);
    p->in = mxci_calloc(3 * (size_t)g->n_inputs + (size_t)g->n_outputs, sizeof *p->in);
    if (!p->entry_forms || !p->in)
        return MXCI_NO_MEMORY("mxc_quantize", "the quantized network");
    if (p->options->calibration == MXC_CALIBRATE_NONE)
        return MXC_OK;
    p->ranges = mxci_calloc((size_t)g->n_entries, sizeof *p->ranges);
    return p->ranges ? p->calibrate(p->options, symbol, params, g, p->ranges)
                     : MXCI_NO_MEMORY("mxc_quantize", "the quantized network");
}

/* Rewrites all nodes in topological order; outputs are floats. */
static mxc_status run_pass(quantize_pass *p, mxc_symbol **symbol, mxc_ndarray_list *params) {
    const mxci_graph *g = p->rebuild.graph;
    for (int32_t i = 0; i < g->n_nodes; i++)
        MXC_TRY(quantize_network_make_node(p, i));
    for (int32_t i = 0; i < g->n_outputs; i++)
        MXC_TRY(get_float(p, g->outputs[i], &p->in[i]));
    return mxci_rebuild_finish(&p->rebuild, p->in, symbol, params);
}

mxc_status mxci_quantize_network(const mxc_quantize_options *options, mxci_quantize_calibrate_fn *calibrate,
                                 mxc_symbol **symbol, mxc_ndarray_list *params) {
    quantize_pass p = {.options = options, .calibrate = calibrate};
    mxc_symbol *folded = NULL;
    mxc_ndarray_list folded_params = {0};
    mxc_status status;
    MXC_TRY(quantize_network_check_options(options));
    status = mxci_fold_norms_into_params(options->symbol, options->params, &folded, &folded_params);
    if (status == MXC_OK)
        status = open_pass(&p, folded, &folded_params);
    if (status == MXC_OK)
        status = run_pass(&p, symbol, params);
    mxci_activation_ranges_free(p.rebuild.graph ? p.rebuild.graph->n_entries : 0, p.ranges);
    mxci_free(p.entry_forms);
    mxci_free(p.in);
    mxci_rebuild_close(&p.rebuild);
    mxc_symbol_release(folded);
    mxc_ndarray_list_release(&folded_params);
    return status;
}
