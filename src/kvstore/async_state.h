/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the worker's side (async.c) and the server's side (server.c). */
#ifndef MXCI_KVSTORE_ASYNC_STATE_H
#define MXCI_KVSTORE_ASYNC_STATE_H

#include "base/sys.h"
#include "kvstore/async.h"

typedef enum mxci_message_kind {
    MXCI_MESSAGE_PUSH,       /* a part of a gradient */
    MXCI_MESSAGE_PULL,       /* a request for a part of a value */
    MXCI_MESSAGE_VALUE,      /* a part of a value */
    MXCI_MESSAGE_WORKER_DONE /* the worker pushes no more */
} mxci_message_kind;

/* Before the data of every message. */
typedef struct mxci_message_header {
    int32_t kind, key, part, status; /* status: of a value; if it is not MXC_OK, the data is text */
    double lr;
    int64_t pad[5]; /* so that the data is aligned like arrays */
} mxci_message_header;

/* A pull that is deferred until slower workers have pushed. */
typedef struct mxci_deferred_pull {
    int worker;
    struct mxci_deferred_pull *next;
} mxci_deferred_pull;

/* A range of a key's elements, at one server. */
typedef struct mxci_key_part {
    int server;
    int64_t begin, n;
    /* At the server: */
    char *name;          /* for the optimizer's states */
    mxc_ndarray *weight; /* (n,) */
    int64_t *clocks;     /* pushes, by worker */
    mxci_deferred_pull *deferred;
} mxci_key_part;

typedef struct mxci_async_key {
    mxc_dtype dtype;
    int n_parts;
    mxci_key_part *parts;
    /* The worker's side. */
    mxc_var *sequence; /* changed by each push and pull, so that they are sent in order */
    mxci_key *own;
    mxc_done *pull; /* the pull that waits for values; NULL: none. Guarded by the lock */
    int n_missing;  /* parts of it that have not arrived */
    char *target;   /* where they are copied */
} mxci_async_key;

struct mxci_async {
    mxci_comm *comm;
    mxci_async_settings settings;
    int rank, size, servers;
    mxci_mutex lock; /* over keys, their pulls, and the optimizer */
    mxci_async_key **keys;
    int n_keys, cap_keys;
    mxc_optimizer *optimizer; /* that this rank uses as a server; NULL: none */
};

static inline mxci_message_header *mxci_message_header_of(mxci_message *message) {
    return (mxci_message_header *)(void *)message->data;
}
mxci_async_key *mxci_async_find(mxci_async *async, int32_t key);

/* server.c: create the parts that this rank keeps; handle a message of a worker. */
mxc_status mxci_server_add(mxci_async *async, mxci_async_key *key);
void mxci_server_remove(mxci_async_key *key);
mxc_status mxci_server_receive(mxci_async *async, int from, const mxci_message_header *message, size_t bytes);

#endif
