/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded graph as a symbol. */
#include <string.h>

#include "autograd/tape.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "symbol/node.h"

typedef struct maker {
    mxci_tape_order order;
    mxc_symbol **built; /* node: its symbol, of all visible outputs */
    const char **names; /* node: of a leaf that the program names; NULL: of another */
    int32_t n_variables, n_calls;
} maker;

static mxc_status find_names(maker *m, int n, mxc_ndarray *const *arrays, const char *const *names) {
    for (int i = 0; i < n; i++) {
        int index;
        MXC_TRY(MXCI_CHECK_NON_NULL(arrays[i], "mxc_autograd_symbol: an input"));
        MXC_TRY(MXCI_CHECK_NON_NULL(names[i], "mxc_autograd_symbol: a name"));
        mxci_tape_node *node = mxci_tape_node_of(arrays[i], &index);
        const int32_t place = node ? mxci_tape_order_find(&m->order, node) : -1;
        if (place >= 0 && !node->kind)
            m->names[place] = names[i];
        mxci_tape_node_release(node);
    }
    return MXC_OK;
}

static mxc_status make_variable(maker *m, int32_t i) {
    char name[24];
    mxci_format(name, sizeof name, "var%d", (int)m->n_variables);
    m->n_variables += !m->names[i];
    return mxc_symbol_variable(m->names[i] ? m->names[i] : name, &m->built[i]);
}

/* The symbol of one input. An output that is not visible has no symbol of its own, and no array either. */
static mxc_status input_symbol(const maker *m, const mxci_tape_input *in, mxc_symbol **out) {
    return mxc_symbol_output(m->built[mxci_tape_order_find(&m->order, in->node)], in->index, out);
}

static mxc_status make_call(maker *m, int32_t i) {
    const mxci_tape_node *node = m->order.nodes[i];
    char name[96];
    mxc_status status = MXC_OK;
    int n = 0;
    if (!node->kind->symbol)
        return MXC_FAIL(MXC_EUNSUPPORTED, "mxc_autograd_symbol: function %s of the program has no symbol", node->name);
    mxc_symbol **in = mxci_calloc((size_t)node->n_in + 1, sizeof *in);
    if (!in)
        return MXCI_NO_MEMORY("mxc_autograd_symbol", "the inputs of a node");
    for (; n < node->n_in && status == MXC_OK; n += status == MXC_OK)
        status = input_symbol(m, &node->in[n], &in[n]);
    mxci_format(name, sizeof name, "%.64s%d", node->name, (int)m->n_calls++);
    if (status == MXC_OK)
        status = node->kind->symbol(node, name, in, &m->built[i]);
    for (int k = 0; k < n; k++)
        mxc_symbol_release(in[k]);
    mxci_free(in);
    return status;
}

static mxc_status make_heads(maker *m, int n, mxc_ndarray *const *heads, mxc_symbol **out) {
    mxc_symbol **outputs = mxci_calloc((size_t)n + 1, sizeof *outputs);
    mxc_status status = outputs ? MXC_OK : MXCI_NO_MEMORY("mxc_autograd_symbol", "the heads");
    for (int i = 0; i < n && status == MXC_OK; i++) {
        mxci_tape_input head;
        head.node = mxci_tape_node_of(heads[i], &head.index);
        status = head.node && mxci_tape_order_find(&m->order, head.node) >= 0
                     ? input_symbol(m, &head, &outputs[i])
                     : MXC_FAIL(MXC_ESTATE, "mxc_autograd_symbol: heads[%d] was changed by another thread", i);
        mxci_tape_node_release(head.node);
    }
    if (status == MXC_OK)
        status = mxc_symbol_group(n, outputs, out);
    for (int i = 0; i < n && outputs; i++)
        mxc_symbol_release(outputs[i]);
    mxci_free(outputs);
    return status;
}

/* Variables are identified by their names at bind. */
static mxc_status check_names(mxc_symbol *symbol) {
    mxc_names args, aux;
    mxc_status status;
    MXC_TRY(mxc_symbol_list_arguments(symbol, &args));
    status = mxc_symbol_list_aux(symbol, &aux);
    for (int64_t i = 0; i < args.n && status == MXC_OK; i++)
        if (mxc_names_find(&args, args.items[i]) != i || mxc_names_find(&aux, args.items[i]) >= 0)
            status = MXC_FAIL(MXC_EINVAL, "mxc_autograd_symbol: two variables are called %s", args.items[i]);
    mxc_names_release(&args);
    mxc_names_release(&aux);
    return status;
}

static mxc_status make_symbol(maker *m, int n, mxc_ndarray *const *heads, int n_inputs, mxc_ndarray *const *inputs,
                              const char *const *names, mxc_symbol **out) {
    MXC_TRY(mxci_tape_order_make("mxc_autograd_symbol", n, heads, &m->order));
    m->built = mxci_calloc((size_t)m->order.n + 1, sizeof *m->built);
    m->names = mxci_calloc((size_t)m->order.n + 1, sizeof *m->names);
    if (!m->built || !m->names)
        return MXCI_NO_MEMORY("mxc_autograd_symbol", "the nodes");
    MXC_TRY(find_names(m, n_inputs, inputs, names));
    for (int32_t i = 0; i < m->order.n; i++)
        MXC_TRY(m->order.nodes[i]->kind ? make_call(m, i) : make_variable(m, i));
    MXC_TRY(make_heads(m, n, heads, out));
    mxc_status status = check_names(*out);
    if (status != MXC_OK) {
        mxc_symbol_release(*out);
        *out = NULL;
    }
    return status;
}

mxc_status mxc_autograd_symbol(int n, mxc_ndarray *const *heads, int n_inputs, mxc_ndarray *const *inputs,
                               const char *const *names, mxc_symbol **out) {
    maker m = {.n_variables = 0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(heads));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, inputs));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, names));
    if (n < 1)
        return MXC_FAIL(MXC_EINVAL, "mxc_autograd_symbol: expected at least one head, found %d", n);
    for (int i = 0; i < n; i++)
        if (!heads[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_autograd_symbol: heads[%d] must not be NULL", i);
    mxc_status status = make_symbol(&m, n, heads, n_inputs, inputs, names, out);
    for (int32_t i = 0; i < m.order.n && m.built; i++)
        mxc_symbol_release(m.built[i]);
    mxci_free(m.built);
    mxci_free((void *)m.names);
    mxci_tape_order_free(&m.order);
    return status;
}
