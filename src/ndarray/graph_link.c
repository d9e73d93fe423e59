/* SPDX-License-Identifier: Apache-2.0 */
/* Links from arrays to nodes of recorded graphs: see graph_link.h. */
#include "ndarray/graph_link.h"

#include "base/sys.h"
#include "ndarray/array.h"

/* Over the links of all arrays. Held for a few instructions, and not at all for arrays without one. */
static mxci_global_mutex lock = MXCI_GLOBAL_MUTEX_INIT;
static const mxci_array_recorder *_Atomic installed;

mxci_link_node *mxci_link_node_retain(mxci_link_node *node) {
    atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

void mxci_link_node_release(mxci_link_node *node) {
    if (node && atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) == 1)
        node->destroy(node);
}

void mxci_array_set_link(mxc_ndarray *array, mxci_link_node *node, int index) {
    mxci_link_node *before;
    if (node)
        mxci_link_node_retain(node);
    mxci_global_lock(&lock);
    before = atomic_load_explicit(&array->link, memory_order_relaxed);
    array->link_index = index;
    atomic_store_explicit(&array->link, node, memory_order_release);
    mxci_global_unlock(&lock);
    mxci_link_node_release(before); /* may release arrays, so without the lock */
}

int mxci_array_has_link(const mxc_ndarray *array) {
    return atomic_load_explicit(&array->link, memory_order_acquire) != NULL;
}

mxci_link_node *mxci_array_get_link(const mxc_ndarray *array, int *index) {
    mxci_link_node *node;
    *index = 0;
    if (!mxci_array_has_link(array))
        return NULL;
    mxci_global_lock(&lock);
    node = atomic_load_explicit(&array->link, memory_order_relaxed);
    if (node) {
        mxci_link_node_retain(node);
        *index = array->link_index;
    }
    mxci_global_unlock(&lock);
    return node;
}

void mxci_array_recorder_install(const mxci_array_recorder *recorder) {
    atomic_store_explicit(&installed, recorder, memory_order_release);
}

const mxci_array_recorder *mxci_array_recorder_for(const mxc_ndarray *array) {
    if (!(mxci_mode & MXCI_MODE_RECORD) || !mxci_array_has_link(array))
        return NULL;
    return atomic_load_explicit(&installed, memory_order_acquire);
}
