/* What the worker's side (async.c) and the server's (server.c) share. */
#ifndef MXCI_KVSTORE_ASYNC_STATE_H
#define MXCI_KVSTORE_ASYNC_STATE_H

#include "base/sys.h"
#include "kvstore/async.h"

typedef enum mxci_message_kind {
    MXCI_PUSH,  /* a part of a gradient */
    MXCI_PULL,  /* asks for a part of a value */
    MXCI_VALUE, /* a part of a value */
    MXCI_BYE    /* the worker pushes no more */
} mxci_message_kind;

/* Before the data of every message. */
typedef struct mxci_message {
    int32_t kind, key, part, status; /* status: of a value that could not be made; then the data is text */
    double lr;
    int64_t pad[5]; /* so that the data is aligned as arrays are */
} mxci_message;

/* A pull that waits for slower workers. */
typedef struct mxci_late_pull {
    int worker;
    struct mxci_late_pull *next;
} mxci_late_pull;

/* A range of a key's elements, at one server. */
typedef struct mxci_part {
    int server;
    int64_t begin, n;
    /* At the server: */
    char *name;          /* for the optimizer's states */
    mxc_ndarray *weight; /* (n,) */
    int64_t *clocks;     /* pushes, by worker */
    mxci_late_pull *late;
} mxci_part;

typedef struct mxci_async_key {
    mxc_dtype dtype;
    int n_parts;
    mxci_part *parts;
    /* The worker's side. */
    mxc_var *order; /* changed by each push and pull, so that they go out in order */
    mxci_key *own;
    mxc_done *pull; /* the pull that waits for values; NULL: none. Under the lock */
    int n_missing;  /* parts */
    char *target;   /* where they go */
} mxci_async_key;

struct mxci_async {
    mxci_comm *comm;
    mxci_async_settings settings;
    int rank, size, servers;
    mxci_mutex lock; /* over keys and their pulls, and the optimizer */
    mxci_async_key **keys;
    int n_keys, cap_keys;
    mxc_optimizer *optimizer; /* the servers' own; NULL: none */
};

static inline mxci_message *mxci_message_of(mxci_post *post) {
    return (mxci_message *)(void *)post->data;
}
mxci_async_key *mxci_async_find(mxci_async *async, int32_t key);

/* server.c: make the parts that live here; take a message of a worker. */
mxc_status mxci_server_add(mxci_async *async, mxci_async_key *key);
void mxci_server_remove(mxci_async_key *key);
mxc_status mxci_server_receive(mxci_async *async, int from, const mxci_message *message, size_t bytes);

#endif
