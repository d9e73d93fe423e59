/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map from strings to pointers. Keys are copied; values are the caller's. Not thread-safe. */
#ifndef MXCI_BASE_MAP_H
#define MXCI_BASE_MAP_H

#include <stddef.h>

#include <mxc/status.h>

typedef struct mxci_map mxci_map;

mxc_status mxci_map_create(mxci_map **out);                           /* MXC_ENOMEM */
void mxci_map_destroy(mxci_map *map);                                 /* NULL is fine; values are not touched */
mxc_status mxci_map_put(mxci_map *map, const char *key, void *value); /* replaces; MXC_ENOMEM: nothing changed */
void *mxci_map_get(const mxci_map *map, const char *key);             /* NULL if absent */
int mxci_map_has(const mxci_map *map, const char *key);
void *mxci_map_remove(mxci_map *map, const char *key); /* the value removed, NULL if absent */
size_t mxci_map_count(const mxci_map *map);
/* Iterate over all entries in insertion order: start with *cursor = 0; returns 0 at the end. Entries may be removed
 * during the iteration, not added. */
int mxci_map_next(const mxci_map *map, size_t *cursor, const char **key, void **value);

#endif
