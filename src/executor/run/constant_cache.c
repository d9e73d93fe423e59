/* SPDX-License-Identifier: Apache-2.0 */
/* A table of constants, shared by executors: see constant_cache.h. */
#include "executor/run/constant_cache.h"

#include <stdatomic.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sys.h"

struct mxci_constant_cache {
    atomic_int refs;
    mxci_mutex lock;
    mxci_hash_map *nodes; /* by key */
    uint64_t n_made;
    uint8_t *released; /* argument; NULL: all have values */
};

mxc_status mxci_constant_cache_create(mxci_constant_cache **out) {
    mxci_constant_cache *cache = mxci_calloc(1, sizeof *cache);
    mxc_status status;
    *out = NULL;
    if (!cache)
        return MXCI_NO_MEMORY("executor", "a cache of constants");
    status = mxci_hash_map_create(&cache->nodes);
    if (status != MXC_OK) {
        mxci_free(cache);
        return status;
    }
    atomic_init(&cache->refs, 1);
    mxci_mutex_init(&cache->lock);
    *out = cache;
    return MXC_OK;
}

mxci_constant_cache *mxci_constant_cache_retain(mxci_constant_cache *cache) {
    atomic_fetch_add(&cache->refs, 1);
    return cache;
}

void mxci_constant_cache_lock(mxci_constant_cache *cache) {
    mxci_mutex_lock(&cache->lock);
}

void mxci_constant_cache_unlock(mxci_constant_cache *cache) {
    mxci_mutex_unlock(&cache->lock);
}

static void free_node(mxci_constant_node *node) {
    for (int i = 0; i < node->n_outputs && node->outputs; i++)
        mxc_ndarray_release(node->outputs[i]);
    mxci_free(node->outputs);
    mxci_free(node->key);
    mxci_free(node);
}

/* Users of nodes hold the cache, so only those that are pinned are left. */
void mxci_constant_cache_release(mxci_constant_cache *cache) {
    size_t cursor = 0;
    const char *key;
    void *node;
    if (!cache || atomic_fetch_sub(&cache->refs, 1) > 1)
        return;
    while (mxci_hash_map_next(cache->nodes, &cursor, &key, &node))
        free_node(node);
    mxci_hash_map_destroy(cache->nodes);
    mxci_mutex_destroy(&cache->lock);
    mxci_free(cache->released);
    mxci_free(cache);
}

void mxci_constant_cache_release_args(mxci_constant_cache *cache, uint8_t *released, int32_t n,
                                      mxci_constant_node *const *nodes) {
    cache->released = released;
    for (int32_t i = 0; i < n; i++)
        nodes[i]->is_pinned = 1;
}

int mxci_constant_cache_lacks(const mxci_constant_cache *cache, int64_t arg) {
    return cache && cache->released && cache->released[arg];
}

mxc_status mxci_constant_cache_take(mxci_constant_cache *cache, const char *key, int n_outputs,
                                    mxci_constant_node **out) {
    mxci_constant_node *node = mxci_hash_map_get(cache->nodes, key);
    mxc_status status = MXC_OK;
    *out = NULL;
    if (!node) {
        node = mxci_calloc(1, sizeof *node);
        if (!node)
            return MXCI_NO_MEMORY("executor", "a constant");
        *node = (mxci_constant_node){.id = cache->n_made, .key = mxci_strdup(key), .n_outputs = n_outputs};
        node->outputs = mxci_calloc((size_t)n_outputs + 1, sizeof *node->outputs);
        if (!node->key || !node->outputs)
            status = MXCI_NO_MEMORY("executor", "a constant");
        if (status == MXC_OK)
            status = mxci_hash_map_put(cache->nodes, key, node);
        if (status != MXC_OK) {
            free_node(node);
            return status;
        }
        cache->n_made++;
    }
    node->users++;
    *out = node;
    return MXC_OK;
}

void mxci_constant_cache_drop(mxci_constant_cache *cache, mxci_constant_node *node) {
    if (--node->users || node->is_pinned)
        return;
    mxci_hash_map_remove(cache->nodes, node->key);
    free_node(node);
}
