/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of constant parameters that executors of one symbol share: those made by reshape, and those of a predictor's
 * clones. Argument i that is constant has the same values in all of them, and so has auxiliary state i.
 *
 * A node of the cache is an operator with its parameters on certain inputs: arguments, states, or results of other
 * nodes of the cache. That is its key, so equal computations are one node whatever program they are in, and a key is as
 * long as a node has inputs. The cache holds a node as long as an executor does.
 */
#ifndef MXCI_EXECUTOR_RUN_CONSTANT_CACHE_H
#define MXCI_EXECUTOR_RUN_CONSTANT_CACHE_H

#include <mxc/ndarray.h>

typedef struct mxci_constant_cache mxci_constant_cache;

typedef struct mxci_constant_node {
    int64_t users;
    int is_pinned; /* kept until the cache is freed */
    uint64_t id;   /* no two nodes of a cache ever have the same */
    char *key;
    int n_outputs;
    mxc_ndarray **outputs; /* NULL: not computed yet; others never change again */
} mxci_constant_node;

mxc_status mxci_constant_cache_create(mxci_constant_cache **out); /* MXC_ENOMEM */
mxci_constant_cache *mxci_constant_cache_retain(mxci_constant_cache *cache);
void mxci_constant_cache_release(mxci_constant_cache *cache); /* NULL is fine */

/* From now on executors have no values of these arguments: one flag for each, taken over. The nodes are kept until the
 * cache is freed. Called once, before other threads know the cache. */
void mxci_constant_cache_release_args(mxci_constant_cache *cache, uint8_t *released, int32_t n,
                                      mxci_constant_node *const *nodes);
/* 1 if there are no values of that argument. cache: may be NULL. */
int mxci_constant_cache_lacks(const mxci_constant_cache *cache, int64_t arg);

/* The functions below are called between these two. */
void mxci_constant_cache_lock(mxci_constant_cache *cache);
void mxci_constant_cache_unlock(mxci_constant_cache *cache);
/* The node of that key, found or made, with one more user. MXC_ENOMEM. */
mxc_status mxci_constant_cache_take(mxci_constant_cache *cache, const char *key, int n_outputs,
                                    mxci_constant_node **out);
/* One user less; without any, the node is freed. */
void mxci_constant_cache_drop(mxci_constant_cache *cache, mxci_constant_node *node);

#endif
