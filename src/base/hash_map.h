/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map from strings to pointers. Keys are copied; values are the caller's. Not thread-safe. */
#ifndef MXCI_BASE_HASH_MAP_H
#define MXCI_BASE_HASH_MAP_H

#include <stddef.h>

#include <mxc/status.h>

typedef struct mxci_hash_map mxci_hash_map;

mxc_status mxci_hash_map_create(mxci_hash_map **out); /* MXC_ENOMEM */
void mxci_hash_map_destroy(mxci_hash_map *map);       /* NULL is fine; values are not touched */
mxc_status mxci_hash_map_put(mxci_hash_map *map, const char *key,
                             void *value);                          /* replaces; MXC_ENOMEM: nothing changed */
void *mxci_hash_map_get(const mxci_hash_map *map, const char *key); /* NULL if absent */
int mxci_hash_map_has(const mxci_hash_map *map, const char *key);
void *mxci_hash_map_remove(mxci_hash_map *map, const char *key); /* the value removed, NULL if absent */
size_t mxci_hash_map_count(const mxci_hash_map *map);
/* Iterate over all entries in insertion order: start with *cursor = 0; returns 0 at the end. Entries may be removed
 * during the iteration, not added. */
int mxci_hash_map_next(const mxci_hash_map *map, size_t *cursor, const char **key, void **value);

#endif
