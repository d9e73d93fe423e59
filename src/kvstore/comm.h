/*
 * Talking to the other processes of a distributed store: one thread that starts collective operations and sees them
 * through. It knows bytes and keys' names, not what the store does with them.
 *
 * Every process makes the same calls in the same order (numbered from 0); a call's data may be ready much later, in any
 * order. Rank 0 decides which ready call comes next, by priority, and tells the others; each starts it when its own
 * data is ready. So transfers overlap with computing, urgent ones pass by others, and calls that differ between
 * processes are found before anything is summed: by their names, and by all that decides which bytes are written where.
 *
 * A failure (a process that is gone or frozen, calls that differ, an error of the transport) ends the communication of
 * all processes: each call that is not done then fails with the same message, and every later one at once.
 */
#ifndef MXCI_KVSTORE_COMM_H
#define MXCI_KVSTORE_COMM_H

#include <mxc/ndarray.h>

#include "base/process_group.h"

typedef struct mxci_comm mxci_comm;

typedef enum mxci_call_kind {
    MXCI_CALL_SUM,       /* n elements of in, over all ranks, to out; of shares, to their ranks' only */
    MXCI_CALL_GATHER,    /* n bytes of in, of each rank, to out */
    MXCI_CALL_BROADCAST, /* n bytes of rank 0's out to all; of shares, each from its rank */
    MXCI_CALL_MEET       /* wait for all, and for all calls before */
} mxci_call_kind;

/* One call. The caller's memory, until ended is called. */
typedef struct mxci_call mxci_call;
struct mxci_call {
    /* Set before mxci_comm_announce. */
    mxci_call_kind kind;
    mxc_dtype dtype;
    int64_t n;
    int64_t share;    /* 0, or of n: n / size, which belong to rank 0, 1, ... */
    int priority;     /* larger first, of those that are ready */
    const char *what; /* for messages, and compared between ranks: push of key "w", ... Stays until ended */
    int64_t step;     /* of the key; for messages */
    int on_gpus;      /* of a sum: in and out are on the workers' GPUs, which make it (devices.h) */
    /* On the communication's thread. message may be NULL where status is MXC_OK. */
    void (*ended)(mxci_call *call, mxc_status status, const char *message);
    /* Set before mxci_comm_ready. */
    const void *in;
    void *out;              /* may be in, for sums */
    mxc_ndarray *arrays[2]; /* whose memory that is; borrowed; may be NULL */
    /* The thread's own. */
    int64_t seq, pieces, decided, finished; /* decided: pieces whose turn has come, at rank 0 */
    int64_t run, run_pieces; /* of the elements of a share, or all: how many, and into how many pieces they are cut */
    int is_ready, is_lost;
    int64_t ready_ns;
    int64_t token; /* what is summed to meet */
    mxci_call *next, *next_announced, *next_changed;
};

/* A message to one rank. */
typedef struct mxci_post mxci_post;
struct mxci_post {
    int to;
    size_t bytes;
    /* On the communication's thread: it is being received (MXC_OK), or communication has failed. NULL: nothing. */
    void (*ended)(mxci_post *post, mxc_status status, const char *message);
    void *arg; /* for ended */
    mxci_group_request transfer;
    mxci_post *next;
    _Alignas(64) char data[]; /* bytes */
};

/* What happens to messages that arrive, and, now and then, after a failure; on the communication's thread. */
typedef struct mxci_mailbox {
    mxc_status (*receive)(void *arg, int from, const void *data, size_t bytes);
    void (*fail)(void *arg, mxc_status status, const char *message);
    void *arg;
} mxci_mailbox;

enum { MXCI_TERMS = 1024 };

typedef struct mxci_comm_settings {
    int64_t timeout_ns;     /* how long a process may be silent */
    int64_t stall_ns;       /* how long one may live and not come to a call; 0: for ever */
    int64_t join_ns;        /* how long to wait for all processes to come; 0: for ever */
    int64_t piece_bytes;    /* of which long sums are made */
    char terms[MXCI_TERMS]; /* what must be the same at all ranks: lines "name=value" */
} mxci_comm_settings;

/* Join the group and start the thread. Blocks until all processes have come. mailbox: NULL: there are no messages.
 * MXC_EDEVICE, MXC_ENOMEM, MXC_EIO, MXC_EWORKER (a process does not come, or has other terms). */
mxc_status mxci_comm_open(const mxci_process_group_api *api, const mxci_comm_settings *settings,
                          const mxci_mailbox *mailbox, mxci_comm **out);
/* Waits for the calls announced before, and until every process closes (or something has failed). NULL is fine. */
void mxci_comm_close(mxci_comm *comm);
int mxci_comm_rank(const mxci_comm *comm);
int mxci_comm_size(const mxci_comm *comm);

/* A call is coming: its place among the calls. Does not block. */
void mxci_comm_announce(mxci_comm *comm, mxci_call *call);
/* Its data is ready. Does not block. Any thread. */
void mxci_comm_ready(mxci_comm *comm, mxci_call *call);
/* Its data will never be ready, since what makes it has failed: that ends everything. Any thread. */
void mxci_comm_lost(mxci_comm *comm, mxci_call *call);
/* Announce, be ready and wait. Not inside a function of the engine. */
mxc_status mxci_comm_call(mxci_comm *comm, mxci_call *call);
/* Replace value by the least of all ranks'. what names it in messages. Likewise. */
mxc_status mxci_comm_least(mxci_comm *comm, const char *what, int64_t *value);
/* A message with room for its data; NULL without memory. */
mxci_post *mxci_post_create(int to, size_t bytes);
/* Send it; the communication frees it. Does not block. Any thread. */
void mxci_comm_post(mxci_comm *comm, mxci_post *post);
/* MXC_EWORKER with the message if communication has failed. */
mxc_status mxci_comm_check(mxci_comm *comm);

#endif
