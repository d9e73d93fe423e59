/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded cache from shapes and options to plans, such as the fastest algorithm. When it is full, a new key evicts
 * the least recently used one. Open addressing with linear probing in fixed arrays: a lookup happens at every product
 * and convolution, so it allocates nothing and reads one or two cache lines. */
#ifndef MXCI_CUDA_RUNTIME_PLAN_CACHE_H
#define MXCI_CUDA_RUNTIME_PLAN_CACHE_H

#include <cstdint>
#include <cstring>

/* A key is N_KEY numbers. Value starts as Value() and has close(), which frees what it holds. Not thread-safe. */
template <class Value, int N_KEY, int SLOTS> struct mxcu_plan_cache {
    struct slot {
        int64_t key[N_KEY];
        Value value;
    } slots[SLOTS];
    /* Apart from the slots, so that few cache lines are read on the way to one. */
    uint32_t hashes[SLOTS] = {}; /* 0: the slot is free */
    uint64_t used[SLOTS] = {};   /* when it was last asked for */
    uint64_t now = 0;

    /* The key's value, which is as it was left; known: 0 if it is new. Valid until the next call. */
    Value *find(const int64_t (&key)[N_KEY], int *known) {
        const uint32_t hash = hash_of(key);
        int at = look_up(key, hash);
        *known = at >= 0;
        if (at < 0)
            at = take(key, hash);
        used[at] = ++now;
        return &slots[at].value;
    }

  private:
    /* Never 0, which marks a free slot. */
    static uint32_t hash_of(const int64_t (&key)[N_KEY]) {
        uint64_t hash = 0;
        for (int64_t number : key)
            hash = (hash ^ (uint64_t)number) * 0x9e3779b97f4a7c15u ^ hash >> 29;
        return (uint32_t)(hash >> 32) | 1;
    }

    /* Linear probing; nothing is ever removed, so that a free slot ends the search. -1: it is not there. */
    int look_up(const int64_t (&key)[N_KEY], uint32_t hash) const {
        for (int i = 0; i < SLOTS; i++) {
            const int at = (int)((hash / 2 + (uint32_t)i) % SLOTS);
            if (!hashes[at])
                return -1;
            if (hashes[at] == hash && memcmp(slots[at].key, key, sizeof key) == 0)
                return at;
        }
        return -1;
    }

    /* A slot for a new key: the first free one on its probe sequence, else the least recently used of all. An evicted
     * slot stays occupied, so that no probe sequence is cut short; a lookup that misses may then probe all slots,
     * which only a full cache pays for. */
    int take(const int64_t (&key)[N_KEY], uint32_t hash) {
        int at = (int)(hash / 2 % SLOTS);
        for (int i = 1; i < SLOTS && hashes[at]; i++)
            at = (int)((hash / 2 + (uint32_t)i) % SLOTS);
        if (hashes[at])
            for (int i = 0; i < SLOTS; i++)
                at = used[i] < used[at] ? i : at;
        slots[at].value.close();
        slots[at].value = Value();
        memcpy(slots[at].key, key, sizeof key);
        hashes[at] = hash;
        return at;
    }
};

#endif
