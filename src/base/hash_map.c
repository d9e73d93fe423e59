/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map that keeps the order of insertion: entries are in an array, and a table of their indices with open
 * addressing, at least twice as large, is probed linearly. Removed entries stay as tombstones until the next rebuild.
 */
#include "base/hash_map.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/sys.h"

typedef struct entry {
    char *key; /* NULL: removed */
    void *value;
    uint64_t hash;
} entry;

struct mxci_hash_map {
    entry *entries;
    uint32_t *table; /* 0: free, else index of the entry + 1 */
    size_t used;     /* entries, tombstones included */
    size_t count;    /* entries without tombstones */
    size_t capacity; /* of entries; the table has twice as many slots, a power of two */
    uint64_t seed;   /* so that keys from a file cannot be chosen to collide */
};

/* FNV-1a with a seed. Multiplication carries upwards only, so the low bits, which the table uses, are mixed with the
 * high ones at the end. */
static uint64_t hash_of(const mxci_hash_map *map, const char *key) {
    uint64_t h = map->seed;
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 0x100000001b3u;
    h ^= h >> 32;
    h *= 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* The entry of a key, or NULL. Tombstones keep their slot in the table, so that probing continues past them. */
static entry *hash_map_find(const mxci_hash_map *map, const char *key, uint64_t hash) {
    size_t mask = 2 * map->capacity - 1;
    if (map->capacity == 0)
        return NULL;
    for (size_t i = hash & mask; map->table[i]; i = (i + 1) & mask) {
        entry *e = &map->entries[map->table[i] - 1];
        if (e->key && e->hash == hash && strcmp(e->key, key) == 0)
            return e;
    }
    return NULL;
}

/* Enter an entry into the table, which has a free slot. */
static void place(uint32_t *table, size_t mask, uint64_t hash, size_t number) {
    size_t i = hash & mask;
    while (table[i])
        i = (i + 1) & mask;
    table[i] = (uint32_t)number + 1;
}

/* Make room for one more entry: new arrays without the tombstones, larger if necessary. 0 when out of memory. */
static int rebuild(mxci_hash_map *map) {
    size_t capacity = map->capacity ? map->capacity : 8;
    entry *entries;
    uint32_t *table;
    size_t used = 0;
    if (map->count >= capacity / 2)
        capacity *= 2;
    if (capacity > UINT32_MAX / 2)
        return 0;
    entries = mxci_realloc_array(NULL, capacity, sizeof *entries);
    table = mxci_calloc(2 * capacity, sizeof *table);
    if (!entries || !table) {
        mxci_free(entries);
        mxci_free(table);
        return 0;
    }
    for (size_t i = 0; i < map->used; i++)
        if (map->entries[i].key) {
            entries[used] = map->entries[i];
            place(table, 2 * capacity - 1, entries[used].hash, used);
            used++;
        }
    MXCI_ASSERT(used == map->count);
    mxci_free(map->entries);
    mxci_free(map->table);
    map->entries = entries;
    map->table = table;
    map->used = used;
    map->capacity = capacity;
    return 1;
}

mxc_status mxci_hash_map_create(mxci_hash_map **out) {
    mxci_hash_map *map = mxci_calloc(1, sizeof *map);
    *out = map;
    if (!map)
        return MXC_FAIL(MXC_ENOMEM, "out of memory for a map");
    map->seed = 0xcbf29ce484222325u ^ (uint64_t)mxci_now_ns() ^ (uint64_t)(uintptr_t)map << 20;
    return MXC_OK;
}

void mxci_hash_map_destroy(mxci_hash_map *map) {
    if (!map)
        return;
    for (size_t i = 0; i < map->used; i++)
        mxci_free(map->entries[i].key);
    mxci_free(map->entries);
    mxci_free(map->table);
    mxci_free(map);
}

mxc_status mxci_hash_map_put(mxci_hash_map *map, const char *key, void *value) {
    uint64_t hash = hash_of(map, key);
    entry *e = hash_map_find(map, key, hash);
    char *copy;
    if (e) {
        e->value = value;
        return MXC_OK;
    }
    copy = mxci_strdup(key);
    if (!copy || (map->used == map->capacity && !rebuild(map))) {
        mxci_free(copy);
        return MXC_FAIL(MXC_ENOMEM, "out of memory for key \"%.80s\" of a map", key);
    }
    map->entries[map->used] = (entry){copy, value, hash};
    place(map->table, 2 * map->capacity - 1, hash, map->used);
    map->used++;
    map->count++;
    return MXC_OK;
}

void *mxci_hash_map_get(const mxci_hash_map *map, const char *key) {
    entry *e = hash_map_find(map, key, hash_of(map, key));
    return e ? e->value : NULL;
}

int mxci_hash_map_has(const mxci_hash_map *map, const char *key) {
    return hash_map_find(map, key, hash_of(map, key)) != NULL;
}

void *mxci_hash_map_remove(mxci_hash_map *map, const char *key) {
    entry *e = hash_map_find(map, key, hash_of(map, key));
    if (!e)
        return NULL;
    mxci_free(e->key);
    e->key = NULL;
    map->count--;
    return e->value;
}

size_t mxci_hash_map_count(const mxci_hash_map *map) {
    return map->count;
}

int mxci_hash_map_next(const mxci_hash_map *map, size_t *cursor, const char **key, void **value) {
    while (*cursor < map->used) {
        const entry *e = &map->entries[(*cursor)++];
        if (e->key) {
            *key = e->key;
            *value = e->value;
            return 1;
        }
    }
    return 0;
}
