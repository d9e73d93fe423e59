/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusion of element-wise operators, for GPUs: operators of one shape and dtype whose descriptors name an element-wise
 * function, and each of whose results only the next one reads, become one operator, _chain, which applies all of them
 * to one element after the other. On a GPU each operator by itself costs a kernel launch and a pass over memory. On
 * CPUs, caches keep small arrays between operators, and tiles (tiling.c) keep large ones there.
 *
 * A chain is a tree that is collected from its last node towards the inputs, of at most MXCI_CHAIN_STEPS operators and
 * MXCI_CHAIN_INPUTS arrays, the limits of the kernel that interprets it. Each node is collected once, so the pass takes
 * linear time.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/passes/passes.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"
#include "operator/op.h"
#include "simpleop/chain.h"

typedef struct pass {
    mxci_graph *g;
    int32_t n_nodes;   /* only these are fused */
    int32_t *uses;     /* entry: how often it was read before the pass, by nodes and as an output */
    uint8_t *is_taken; /* node: part of a chain */
} pass;

/* A chain under construction. */
typedef struct chain {
    pass *pass;
    int n_steps, n_leaves; /* upper bounds of its operators and inputs, known before they are added */
    int n_in, n_made;      /* inputs and operators added so far */
    int32_t in[MXCI_CHAIN_INPUTS];
    mxci_text text; /* the parameter steps of _chain: see chain.c of simpleop */
} chain;

/* ---- which operators --------------------------------------------------------------------------------------------- */

static int is_float(mxc_dtype type) {
    return type == MXC_F32 || type == MXC_F64 || type == MXC_F16 || type == MXC_BF16;
}

/* Arguments of a function's operator. */
static int n_arrays(const mxc_elementwise *f) {
    return mxci_chain_operands(f->function) - (f->scalar != MXC_SCALAR_NONE);
}

/* The node as a step: element-wise, on a GPU, all its arrays of one shape and dtype. */
static int is_part(const pass *w, int32_t at, mxc_elementwise *out) {
    const mxci_graph *g = w->g;
    const mxci_gnode *node = &g->nodes[at];
    if (at >= w->n_nodes || node->kind != MXCI_FORWARD || node->context.device != MXC_GPU || node->n_outputs != 1 ||
        !is_float(g->types[node->first_entry]) || !mxci_op_get_elementwise(node->op, out) || node->n_inputs < 1 ||
        n_arrays(out) != node->n_inputs)
        return 0;
    for (int32_t i = 0; i < node->n_inputs; i++) {
        int32_t e = mxci_graph_inputs(g, at)[i];
        if (g->types[e] != g->types[node->first_entry] ||
            !mxc_shape_equal(&g->shapes[e], &g->shapes[node->first_entry]))
            return 0;
    }
    return 1;
}

/* 1 if the node that makes an operand can be a step of the chain at reader, which is then *part: only the chain reads
 * it, and there is room. */
static int can_join(const chain *c, int32_t entry, int32_t reader, mxc_elementwise *part) {
    const pass *w = c->pass;
    int32_t at = w->g->entry_node[entry];
    return w->uses[entry] == 1 && c->n_steps < MXCI_CHAIN_STEPS && is_part(w, at, part) &&
           c->n_leaves + n_arrays(part) - 1 <= MXCI_CHAIN_INPUTS &&
           mxc_context_equal(w->g->nodes[at].context, w->g->nodes[reader].context);
}

/* ---- making a chain ---------------------------------------------------------------------------------------------- */

/* The index of the entry among the inputs of the chain, to which it is added. */
static int input_of(chain *c, int32_t entry) {
    int i = 0;
    while (i < c->n_in && c->in[i] != entry)
        i++;
    if (i == c->n_in)
        c->in[c->n_in++] = entry;
    return i;
}

/* Adds the node after its operands, recursively, at most MXCI_CHAIN_STEPS deep; returns the index of its step. */
static int add_steps(chain *c, int32_t at) {
    const mxci_graph *g = c->pass->g;
    char operands[2][16], number[40];
    mxc_elementwise part;
    (void)is_part(c->pass, at, &part);
    for (int32_t i = 0; i < g->nodes[at].n_inputs; i++) {
        int32_t entry = mxci_graph_inputs(g, at)[i];
        mxc_elementwise joined;
        if (can_join(c, entry, at, &joined)) {
            c->n_steps++;
            c->n_leaves += n_arrays(&joined) - 1;
            mxci_format(operands[i], sizeof operands[i], "s%d", add_steps(c, g->entry_node[entry]));
        } else {
            mxci_format(operands[i], sizeof operands[i], "i%d", input_of(c, entry));
        }
    }
    mxci_format(number, sizeof number, "%.17g", part.number);
    mxci_text_printf(&c->text, "%s%s", c->n_made ? "," : "", part.function);
    if (part.scalar == MXC_SCALAR_BEFORE)
        mxci_text_printf(&c->text, ":%s", number);
    for (int32_t i = 0; i < n_arrays(&part); i++)
        mxci_text_printf(&c->text, ":%s", operands[i]);
    if (part.scalar == MXC_SCALAR_AFTER)
        mxci_text_printf(&c->text, ":%s", number);
    c->pass->is_taken[at] = 1;
    return c->n_made++;
}

/* Fuses the tree of nodes that ends at last, if it has more than one. The nodes stay in the graph but do not run. */
static mxc_status fuse_before(pass *w, int32_t last, int *is_rewritten) {
    static const char *const keys[] = {"num_args", "steps"};
    mxci_graph *g = w->g;
    chain c = {.pass = w, .n_steps = 1};
    mxc_elementwise part;
    int32_t from = g->nodes[last].first_entry, to;
    char count[16], *steps;
    mxc_op *op = NULL;
    mxc_status status = MXC_OK;
    if (w->is_taken[last] || !is_part(w, last, &part))
        return MXC_OK;
    c.n_leaves = n_arrays(&part);
    (void)add_steps(&c, last);
    MXC_TRY(mxci_text_take(&c.text, &steps));
    *is_rewritten |= c.n_made > 1;
    if (c.n_made > 1 && strlen(steps) < MXCI_CHAIN_TEXT) {
        const char *values[] = {count, steps};
        mxci_format(count, sizeof count, "%d", c.n_in);
        status = mxc_op_create("_chain", 2, keys, values, &op);
        if (status == MXC_OK)
            status = mxci_graph_add_op(g, op, last, "chain", c.n_in, c.in, 1, &to);
        if (status == MXC_OK) {
            g->shapes[to] = g->shapes[from];
            g->types[to] = g->types[from];
            mxci_graph_replace_entry(g, from, to);
        }
        mxc_op_release(op);
    }
    mxci_free(steps);
    return status;
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

mxc_status mxci_pass_fusion(mxci_program *p) {
    pass w = {.g = p->graph, .n_nodes = p->n_symbol_nodes};
    mxc_status status = mxci_graph_count_uses(p->graph, &w.uses);
    w.is_taken = mxci_calloc((size_t)p->graph->n_nodes + 1, 1);
    if (status == MXC_OK && !w.is_taken)
        status = MXCI_NO_MEMORY("fusion", "the states of nodes");
    for (int32_t i = p->n_symbol_nodes - 1; i >= 0 && status == MXC_OK; i--)
        status = fuse_before(&w, i, &p->is_rewritten);
    mxci_free(w.uses);
    mxci_free(w.is_taken);
    return status;
}
