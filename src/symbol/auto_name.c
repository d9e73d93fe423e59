/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic names. Each thread counts for itself, so that the names a thread gives do not depend on others.
 *
 * The counters are a small hash table inside the thread's storage: nothing to allocate, nothing to free when a thread
 * ends. It is small because a library that is loaded late finds little room there. Should a thread use more operators
 * than the table has room for, some share a counter, and names stay distinct.
 */
#include <stdint.h>

#include "base/text.h"
#include "symbol/scope.h"

enum { N_COUNTERS = 32 };

typedef struct counter {
    uint32_t hash; /* 0: free */
    uint32_t next;
} counter;

static _Thread_local counter counters[N_COUNTERS];

static char auto_name_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint32_t hash_of(const char *op) {
    uint32_t hash = 2166136261u;
    for (; *op; op++)
        hash = (hash ^ (unsigned char)auto_name_lower(*op)) * 16777619u;
    return hash ? hash : 1;
}

static counter *counter_of(const char *op) {
    uint32_t hash = hash_of(op);
    for (uint32_t i = 0; i < N_COUNTERS; i++) {
        counter *c = &counters[(hash + i) % N_COUNTERS];
        if (!c->hash)
            c->hash = hash;
        if (c->hash == hash)
            return c;
    }
    return &counters[hash % N_COUNTERS];
}

const char *mxci_name_auto(const char *op, char *out, size_t size) {
    char *p;
    mxci_format(out, size, "%.*s%u", (int)size - 12, op, (unsigned)counter_of(op)->next++);
    for (p = out; *p; p++)
        *p = auto_name_lower(*p);
    return out;
}
