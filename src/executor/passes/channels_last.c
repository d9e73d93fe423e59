/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channels-last pass: regions of the graph around convolutions are computed channels last, (N,spatial,C) instead of
 * (N,C,spatial), the layout that tensor cores need: given (N,C,spatial), a library transposes the arrays of every
 * convolution there and back. Results are the same: transposes are inserted at the borders of a region and at its
 * weights, which are small. The pass runs before differentiation, so that the backward pass of a region is channels
 * last too.
 *
 * Descriptors say which operators have a channels-last form (mxc_op_def.channels_last, MXC_OP_ELEMENTWISE), and which
 * of them, such as convolutions, lead a region. The others follow if they read more elements that are channels last
 * than not. A region is kept if its leaders read and write more elements than the transposes at its borders move.
 * Regions are disjoint sets with path halving (Tarjan and van Leeuwen, 1984), so that the pass takes almost linear
 * time.
 */
#include <string.h>

#include "base/error.h"
#include "base/module.h"
#include "base/options.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "operator/op.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

enum { NEVER, WHERE_IT_PAYS, ALWAYS }; /* MXC_GPU_LAYOUT */
enum { LEAST_AXES = 4 };               /* of an image: (N,C,H,W) or (N,C,D,H,W) */
enum { NEEDED = 1, FIXED = 2 };
enum { STAYS, FOLLOWS, LEADS };

typedef struct work {
    mxci_graph *g;
    int32_t n_nodes; /* before the pass */
    int always;
    int is_for_gpu;         /* tensor cores count */
    int packs;              /* convolutions on CPUs read packed weights */
    uint8_t *constant;      /* entry: computed once; NULL: none is */
    uint8_t *role;          /* node: LEADS, FOLLOWS or STAYS, by its operator */
    uint64_t *weights;      /* node: arguments that are weights, which do not count */
    uint8_t *state;         /* node: NEEDED for an output; FIXED: the symbol itself has its backward node */
    uint8_t *channels_last; /* node: to be computed channels last */
    uint8_t *is_read;       /* entry: made channels second, and read channels last */
    int32_t *region;        /* node: another one of its region, itself at the root */
    double *gain;           /* root: elements of its leaders' arrays minus those of its borders */
    int32_t *transposed;    /* entry: the same in the other layout; -1: not made */
} work;

/* ---- operators --------------------------------------------------------------------------------------------------- */

static int is_image(const mxci_graph *g, int32_t entry) {
    return g->shapes[entry].ndim >= LEAST_AXES;
}

/* 1 if the device computes a leading operator with a library whose kernels for the dtype use tensor cores. */
static int has_library(const mxci_graph *g, const mxci_gnode *node, const mxc_channels_last *rule) {
    const mxc_dtype type = g->types[node->first_entry];
    const mxci_module *module;
    return node->context.device == MXC_GPU && (type == MXC_F16 || type == MXC_BF16) && !rule->library_off &&
           mxci_option_get(MXCI_OPT_MXC_GPU_DNN) && mxci_module_get(node->context.device, &module) == MXC_OK &&
           module->prefers_channels_last;
}

/* Elements; a double, since sums over the uses of an entry may be larger than an integer. */
static double size_of(const mxci_graph *g, int32_t entry) {
    return (double)mxc_shape_size(&g->shapes[entry]);
}

/* 1 if weights of the operator are packed, and the time for it is little against that for its arrays. */
static int is_packed(const work *w, const mxci_gnode *node) {
    const mxci_graph *g = w->g;
    const int32_t *inputs = g->inputs + node->first_input;
    const mxc_dtype type = g->types[node->first_entry];
    if (!w->packs || node->context.device != MXC_CPU || !mxc_op_get_def(node->op)->packed ||
        (type != MXC_F32 && type != MXC_I32) || node->n_inputs < 2)
        return 0;
    return (w->constant && w->constant[inputs[1]]) || mxci_option_get(MXCI_OPT_MXC_CPU_PACK) == ALWAYS ||
           4 * size_of(g, inputs[1]) <= size_of(g, inputs[0]) + size_of(g, node->first_entry);
}

/* The node's role, and its arguments that are weights as a bit mask. An element-wise operator follows if all its arrays
 * have as many axes as its output. */
static int role_of(const work *w, int32_t node, uint64_t *weights) {
    const mxci_graph *g = w->g;
    const mxci_gnode *n = &g->nodes[node];
    mxc_channels_last rule;
    *weights = 0;
    if (n->kind != MXCI_FORWARD || n->n_outputs < 1 || !is_image(g, n->first_entry))
        return STAYS;
    if (mxci_op_get_channels_last(n->op, g->shapes[n->first_entry].ndim, &rule)) {
        *weights = rule.weights;
        return !rule.leads                                                                   ? FOLLOWS
               : w->always || (w->is_for_gpu && has_library(g, n, &rule)) || is_packed(w, n) ? LEADS
                                                                                             : STAYS;
    }
    if (!(mxci_graph_op_def(g, node)->flags & MXC_OP_ELEMENTWISE) || n->n_outputs != 1)
        return STAYS;
    for (int32_t i = 0; i < n->n_inputs; i++)
        if (g->shapes[mxci_graph_inputs(g, node)[i]].ndim != g->shapes[n->first_entry].ndim)
            return STAYS;
    return FOLLOWS;
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* 1 if the entry, one of the symbol's, is computed channels last. */
static int is_made_last(const work *w, int32_t entry) {
    return w->channels_last[w->g->entry_node[entry]] && is_image(w->g, entry);
}

/* The entry of the node's input if it is an image and not a weight; else -1. */
static int32_t data_at(const work *w, int32_t node, int32_t input) {
    int32_t entry = mxci_graph_inputs(w->g, node)[input];
    int is_weight = input < 64 && w->weights[node] >> input & 1;
    return is_image(w->g, entry) && !is_weight ? entry : -1;
}

static int32_t root_of(const work *w, int32_t node) {
    while (w->region[node] != node)
        node = w->region[node] = w->region[w->region[node]];
    return node;
}

/* 1 if the node reads more elements that are there channels last than elements that would have to be transposed. */
static int reads_more_last(const work *w, int32_t node) {
    double more = 0;
    for (int32_t i = 0; i < w->g->nodes[node].n_inputs; i++) {
        int32_t entry = data_at(w, node, i);
        if (entry >= 0)
            more += is_made_last(w, entry) || w->is_read[entry] ? size_of(w->g, entry) : -size_of(w->g, entry);
    }
    return more > 0;
}

/* Adds the node to the regions of its inputs if it leads or follows; joins these regions. */
static void channels_last_choose(work *w, int32_t node) {
    const mxci_gnode *n = &w->g->nodes[node];
    if (w->state[node] != NEEDED || w->role[node] == STAYS || (!w->always && !w->packs && n->context.device != MXC_GPU))
        return;
    if (w->role[node] == FOLLOWS && !reads_more_last(w, node))
        return;
    w->channels_last[node] = 1;
    for (int32_t i = 0; i < n->n_inputs; i++) {
        int32_t entry = data_at(w, node, i);
        if (entry >= 0 && is_made_last(w, entry))
            w->region[root_of(w, w->g->entry_node[entry])] = root_of(w, node);
        else if (entry >= 0)
            w->is_read[entry] = 1;
    }
}

/* Subtracts the transpose at a border of the region, once per entry; w->transposed holds the region counted last. */
static void count_border(work *w, int32_t entry, int32_t node) {
    int32_t root = root_of(w, node);
    if (w->transposed[entry] != root)
        w->gain[root] -= size_of(w->g, entry);
    w->transposed[entry] = root;
}

/* The gain of every region. */
static void weigh_regions(work *w) {
    const mxci_graph *g = w->g;
    for (int32_t node = 0; node < w->n_nodes; node++) {
        const mxci_gnode *n = &g->nodes[node];
        if (w->channels_last[node] && w->role[node] == LEADS)
            w->gain[root_of(w, node)] += size_of(g, mxci_graph_inputs(g, node)[0]) + size_of(g, n->first_entry);
        for (int32_t i = 0; i < n->n_inputs && w->state[node]; i++) {
            int32_t entry = data_at(w, node, i);
            if (entry >= 0 && w->channels_last[node] != is_made_last(w, entry))
                count_border(w, entry, w->channels_last[node] ? node : g->entry_node[entry]);
        }
    }
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (is_made_last(w, g->outputs[i]))
            count_border(w, g->outputs[i], g->entry_node[g->outputs[i]]);
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static mxc_shape transposed_shape(const mxc_shape *from, int to_last) {
    mxc_shape to = *from;
    const int last = from->ndim - 1;
    for (int i = 1; i < last; i++)
        to.dim[to_last ? i : i + 1] = from->dim[to_last ? i + 1 : i];
    to.dim[to_last ? last : 1] = from->dim[to_last ? 1 : last];
    return to;
}

/* Replaces *entry by its transpose, which is made on first use, on the given context. */
static mxc_status transpose(work *w, int32_t *entry, int to_last, mxc_context context) {
    static const char *const orders[2][2] = {{"(0,3,1,2)", "(0,2,3,1)"}, {"(0,4,1,2,3)", "(0,2,3,4,1)"}};
    mxci_graph *g = w->g;
    const int32_t from = *entry;
    const char *key = "axes", *order = orders[g->shapes[from].ndim > LEAST_AXES][to_last];
    mxc_op *op;
    mxc_status status;
    if (w->transposed[from] < 0) {
        MXC_TRY(mxc_op_create("transpose", 1, &key, &order, &op));
        status = mxci_graph_add_op(g, op, g->entry_node[from], to_last ? "last" : "second", 1, &from, 1,
                                   &w->transposed[from]);
        mxc_op_release(op);
        MXC_TRY(status);
        g->shapes[w->transposed[from]] = transposed_shape(&g->shapes[from], to_last);
        g->types[w->transposed[from]] = g->types[from];
        g->nodes[g->n_nodes - 1].context = context;
    }
    *entry = w->transposed[from];
    return MXC_OK;
}

/* Transposes the inputs that have the other layout, and gives the node its channels-last form if it is in a region.
 * Nodes are visited in topological order, so the shapes of inputs are final. */
static mxc_status rewrite(work *w, int32_t node) {
    mxci_graph *g = w->g;
    const mxci_gnode n = g->nodes[node];
    const int channels_last = w->channels_last[node];
    mxc_channels_last rule;
    for (int32_t i = 0; i < n.n_inputs && w->state[node]; i++) {
        int32_t entry = g->inputs[n.first_input + i];
        if (is_image(g, entry) && channels_last != is_made_last(w, entry)) {
            MXC_TRY(transpose(w, &entry, channels_last,
                              channels_last ? n.context : g->nodes[g->entry_node[entry]].context));
            g->inputs[n.first_input + i] = entry;
        }
    }
    if (!channels_last)
        return MXC_OK;
    if (mxci_op_get_channels_last(n.op, g->shapes[n.first_entry].ndim, &rule) && rule.key) {
        mxc_op *op;
        MXC_TRY(mxci_op_like(n.op, mxc_op_get_def(n.op)->name, rule.key, rule.value, &op));
        mxc_op_release(n.op);
        g->nodes[node].op = op;
    }
    for (int32_t i = n.first_entry; i < n.first_entry + n.n_outputs; i++)
        if (is_image(g, i))
            g->shapes[i] = transposed_shape(&g->shapes[i], 1);
    return MXC_OK;
}

/* Rewrites all nodes, and transposes outputs of the graph back. Readers of a node that was appended come before it,
 * hence the sort. */
static mxc_status rewrite_all(work *w) {
    mxci_graph *g = w->g;
    for (int32_t i = 0; i < w->n_nodes; i++)
        MXC_TRY(rewrite(w, i));
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (is_made_last(w, g->outputs[i]))
            MXC_TRY(transpose(w, &g->outputs[i], 0, g->nodes[g->entry_node[g->outputs[i]]].context));
    return mxci_graph_sort(g);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static mxc_status channels_last_begin(work *w) {
    const size_t nodes = (size_t)w->n_nodes + 1, entries = (size_t)w->g->n_entries + 1;
    w->role = mxci_calloc(nodes, 1);
    w->weights = mxci_calloc(nodes, sizeof *w->weights);
    w->state = mxci_calloc(nodes, 1);
    w->channels_last = mxci_calloc(nodes, 1);
    w->is_read = mxci_calloc(entries, 1);
    w->region = mxci_calloc(nodes, sizeof *w->region);
    w->gain = mxci_calloc(nodes, sizeof *w->gain);
    w->transposed = mxci_calloc(entries, sizeof *w->transposed);
    if (!w->role || !w->weights || !w->state || !w->channels_last || !w->is_read || !w->region || !w->gain ||
        !w->transposed)
        return MXCI_NO_MEMORY("channels last", "the states of nodes");
    for (int32_t i = 0; i < w->n_nodes; i++) {
        w->region[i] = i;
        w->role[i] = (uint8_t)role_of(w, i, &w->weights[i]);
    }
    memset(w->transposed, -1, entries * sizeof *w->transposed);
    return MXC_OK;
}

/* Chooses the regions; returns 1 if there is one. */
static int choose_all(work *w) {
    const mxci_graph *g = w->g;
    int found = 0;
    for (int32_t i = 0; i < g->n_outputs; i++)
        w->state[g->entry_node[g->outputs[i]]] = NEEDED;
    for (int32_t i = w->n_nodes - 1; i >= 0; i--)
        for (int32_t j = 0; j < g->nodes[i].n_inputs && w->state[i]; j++)
            w->state[g->entry_node[mxci_graph_inputs(g, i)[j]]] |= NEEDED;
    for (int32_t i = 0; i < w->n_nodes; i++)
        if (g->nodes[i].kind == MXCI_BACKWARD)
            w->state[g->nodes[i].forward] |= FIXED;
    for (int32_t i = 0; i < w->n_nodes; i++)
        channels_last_choose(w, i);
    weigh_regions(w);
    for (int32_t i = 0; i < w->n_nodes; i++) {
        w->channels_last[i] = w->channels_last[i] && (w->always || w->gain[root_of(w, i)] > 0);
        found |= w->channels_last[i];
    }
    memset(w->transposed, -1, (size_t)g->n_entries * sizeof *w->transposed); /* used by weigh_regions */
    return found;
}

/* Fills constant. Entries keep their numbers where nodes are sorted. */
static mxc_status find_constants(work *w, const mxc_bind_options *packing) {
    const mxci_graph *g = w->g;
    uint8_t *nodes;
    MXC_TRY(mxci_find_constants(g, packing, 0, &nodes));
    if (!nodes)
        return MXC_OK;
    w->constant = mxci_calloc((size_t)g->n_entries + 1, 1);
    for (int32_t i = 0; i < g->n_entries && w->constant; i++)
        w->constant[i] = nodes[g->entry_node[i]];
    mxci_free(nodes);
    return w->constant ? MXC_OK : MXCI_NO_MEMORY("channels last", "the states of entries");
}

static int has_leader(const work *w) {
    uint64_t weights;
    for (int32_t i = 0; i < w->n_nodes; i++)
        if (role_of(w, i, &weights) == LEADS)
            return 1;
    return 0;
}

static void channels_last_end(work *w) {
    mxci_free(w->constant);
    mxci_free(w->role);
    mxci_free(w->weights);
    mxci_free(w->state);
    mxci_free(w->channels_last);
    mxci_free(w->is_read);
    mxci_free(w->region);
    mxci_free(w->gain);
    mxci_free(w->transposed);
}

mxc_status mxci_pass_channels_last(mxci_graph *g, const mxc_bind_options *packing, int *is_changed) {
    const int64_t when = mxci_option_get(MXCI_OPT_MXC_GPU_LAYOUT);
    work w = {.g = g, .n_nodes = g->n_nodes, .always = when == ALWAYS, .is_for_gpu = when != NEVER};
    mxc_status status = MXC_OK;
    w.packs = packing && mxci_option_get(MXCI_OPT_MXC_CPU_PACK);
    if (w.packs)
        status = find_constants(&w, packing);
    if (status == MXC_OK && has_leader(&w)) {
        status = mxci_graph_sort(g);
        if (status == MXC_OK)
            status = channels_last_begin(&w);
        if (status == MXC_OK && choose_all(&w)) {
            *is_changed = 1;
            status = rewrite_all(&w);
        }
    }
    channels_last_end(&w);
    return status;
}
