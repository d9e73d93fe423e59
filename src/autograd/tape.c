/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of recorded graphs: see tape.h. */
#include "autograd/tape.h"

#include "base/error.h"
#include "base/sys.h"

/* ---- lifetime ---------------------------------------------------------------------------------------------------- */

/* Drop a reference. If it was the last, the node joins the list of nodes to be freed, whose new head is returned. */
static mxci_tape_node *tape_drop(mxci_tape_node *node, mxci_tape_node *dead) {
    if (!node || atomic_fetch_sub_explicit(&node->link.refs, 1, memory_order_acq_rel) != 1)
        return dead;
    node->next_dead = dead;
    return node;
}

/* Free data and inputs. Data refers to arrays of no graph only, so that this does not recurse. */
static mxci_tape_node *clear(mxci_tape_node *node, mxci_tape_node *dead) {
    if (node->data)
        node->kind->destroy(node->data);
    node->data = NULL;
    for (int i = 0; i < node->n_in; i++)
        dead = tape_drop(node->in[i].node, dead);
    node->n_in = node->n_args = 0;
    return dead;
}

static void free_all(mxci_tape_node *dead) {
    while (dead) {
        mxci_tape_node *node = dead;
        dead = clear(node, node->next_dead);
        mxc_ndarray_release(node->grad);
        mxci_free(node->in);
        mxci_free(node->out);
        mxci_free(node);
    }
}

static void tape_destroy(mxci_link_node *link) {
    mxci_tape_node *node = (mxci_tape_node *)link;
    node->next_dead = NULL;
    free_all(node);
}

void mxci_tape_node_release(mxci_tape_node *node) {
    if (node)
        mxci_link_node_release(&node->link);
}

void mxci_tape_free_node(mxci_tape_node *node) {
    if (!node->kind || atomic_exchange(&node->is_freed, 1))
        return;
    free_all(clear(node, NULL));
}

mxc_status mxci_tape_node_create(const mxci_tape_kind *kind, int n_in, int n_args, int n_out, mxci_tape_node **out) {
    mxci_tape_node *node = mxci_calloc(1, sizeof *node);
    *out = NULL;
    if (!node)
        return MXCI_NO_MEMORY("record", "a node");
    atomic_init(&node->link.refs, 1);
    node->link.destroy = tape_destroy;
    node->kind = kind;
    node->in = mxci_calloc((size_t)n_in + 1, sizeof *node->in);
    node->out = mxci_calloc((size_t)n_out + 1, sizeof *node->out);
    if (!node->in || !node->out) {
        mxci_tape_node_release(node);
        return MXCI_NO_MEMORY("record", "the inputs of a node");
    }
    node->n_in = n_in;
    node->n_args = n_args;
    node->n_out = n_out;
    *out = node;
    return MXC_OK;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

mxci_tape_node *mxci_tape_node_of(const mxc_ndarray *array, int *index) {
    mxci_tape_node *node = (mxci_tape_node *)mxci_array_get_link(array, index);
    if (node && atomic_load(&node->is_freed)) {
        mxci_tape_node_release(node);
        return NULL;
    }
    return node;
}

int mxci_tape_needs_grad(const mxc_ndarray *array) {
    int index;
    mxci_tape_node *node = mxci_tape_node_of(array, &index);
    int needs_grad = node && node->needs_grad;
    mxci_tape_node_release(node);
    return needs_grad;
}

int mxci_tape_is_in_graph(const mxc_ndarray *array) {
    int index;
    mxci_tape_node *node = mxci_tape_node_of(array, &index);
    int is_in_graph = node && (node->kind || node->grad);
    mxci_tape_node_release(node);
    return is_in_graph;
}

mxci_tensor_type mxci_tape_type_of(const mxc_ndarray *array) {
    return (mxci_tensor_type){*mxc_ndarray_shape(array), mxc_ndarray_dtype(array), mxc_ndarray_context(array)};
}

mxc_status mxci_tape_set_input(mxci_tape_node *node, int i, mxc_ndarray *array) {
    mxci_tape_node *from = mxci_tape_node_of(array, &node->in[i].index);
    if (!from) {
        MXC_TRY(mxci_tape_node_create(NULL, 0, 0, 1, &from));
        mxci_tape_set_output(from, 0, array);
    }
    node->in[i].node = from;
    node->needs_grad |= i < node->n_args && from->needs_grad;
    return MXC_OK;
}

void mxci_tape_set_output(mxci_tape_node *node, int i, mxc_ndarray *array) {
    node->out[i] = mxci_tape_type_of(array);
    mxci_array_set_link(array, &node->link, i);
}
