/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic names such as "convolution0". Each thread has its own counters, so that the names that one thread gives do
 * not depend on other threads.
 *
 * The counters are a small hash table in thread-local storage: there is nothing to allocate and nothing to free when a
 * thread ends. The table is small because a library loaded with dlopen gets little static TLS. If a thread uses more
 * operators than the table has slots, some operators share a counter, and names stay distinct.
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

/* The operator's counter, found by linear probing with the FNV-1a hash of its lower-case name. */
static counter *counter_of(const char *op) {
    uint32_t hash = 2166136261u;
    for (; *op; op++)
        hash = (hash ^ (unsigned char)auto_name_lower(*op)) * 16777619u;
    hash = hash ? hash : 1;
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
