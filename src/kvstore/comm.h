/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication with the other processes of a distributed store: one thread per store that starts collective
 * operations and polls them until they are done. It knows bytes and the names of calls, not what the store does with
 * them.
 *
 * The protocol. Every rank makes the same calls in the same order and numbers them from 0; the data of a call may
 * become ready much later, in any order, since it is computed by the engine. A transport such as MPI requires all ranks
 * to start the collective operations of one channel in the same order, so rank 0 coordinates:
 *
 *   1. A rank enqueues a call (mxci_comm_enqueue), which fixes its number, and reports later that its data is ready.
 *   2. Rank 0 takes the ready call of the highest priority, piece by piece, and broadcasts an announcement: number,
 *      piece, signature and name.
 *   3. Every rank starts the announced pieces in the order of the announcements, each as soon as its own data is ready.
 *   4. A call completes when all of its pieces are done.
 *
 * There is no deadlock. Rank 0 announces only calls that are ready there, so everything that their data depends on is
 * complete at rank 0 and was announced before; as all ranks run the same program, the same holds at the others. So the
 * first announced piece that is not done never waits for one that is announced after it. Communication overlaps with
 * computation, and urgent calls overtake long ones between two pieces. Calls that differ between ranks are detected
 * before anything is transferred: by their names, and by their signatures, which hold all that decides how many bytes
 * are written where.
 *
 * A failure (a process that has exited or hangs, calls that differ, an error of the transport) ends the communication
 * of all ranks: each call that is not done then fails with the same message, and every later one immediately.
 */
#ifndef MXCI_KVSTORE_COMM_H
#define MXCI_KVSTORE_COMM_H

#include <mxc/ndarray.h>

#include "base/process_group.h"

typedef struct mxci_comm mxci_comm;

typedef enum mxci_call_kind {
    MXCI_CALL_REDUCE,    /* allreduce: the sum of n elements of in over all ranks, to out; with share: reduce-scatter */
    MXCI_CALL_ALLGATHER, /* n bytes of in of each rank to out, by rank */
    MXCI_CALL_BROADCAST, /* n bytes of rank 0's out to all; with share: each share from the rank that owns it */
    MXCI_CALL_BARRIER    /* complete when all ranks have made it and all calls before it are complete */
} mxci_call_kind;

/* One call; it belongs to the caller and must stay valid until on_completion is called. */
typedef struct mxci_call mxci_call;
struct mxci_call {
    /* Set before mxci_comm_enqueue. */
    mxci_call_kind kind;
    mxc_dtype dtype;
    int64_t n;
    int64_t share;    /* 0, or n / size: elements [r * share, (r + 1) * share) belong to rank r */
    int priority;     /* of the ready calls, the one of the largest priority is started first */
    const char *name; /* for messages, and compared between ranks: push of key "w", ... Valid until on_completion */
    int64_t step;     /* of the key; for messages */
    int on_gpus;      /* of a reduction: in and out are on the workers' GPUs, which make it (gpu_sums.h) */
    /* Called on the communication thread. error may be NULL where status is MXC_OK. */
    void (*on_completion)(mxci_call *call, mxc_status status, const char *error);
    /* Set before mxci_comm_ready. */
    const void *in;
    void *out;              /* may be in, for reductions */
    mxc_ndarray *arrays[2]; /* that own this memory; borrowed; may be NULL */
    /* Owned by the communication thread. */
    int64_t seq, n_pieces, n_pieces_announced, n_pieces_done; /* announced: at rank 0 */
    int64_t range, range_pieces; /* elements of one share, or of all without shares, and their number of pieces */
    int is_ready, is_cancelled;
    int64_t ready_ns;
    int64_t barrier_token; /* what a barrier sums */
    mxci_call *next, *next_enqueued, *next_updated;
};

/* A point-to-point message to one rank. */
typedef struct mxci_message mxci_message;
struct mxci_message {
    int to;
    size_t bytes;
    /* Called on the communication thread: the receiver has matched it (MXC_OK), or communication has failed. May be
     * NULL. */
    void (*on_completion)(mxci_message *sent, mxc_status status, const char *error);
    void *arg; /* for on_completion */
    mxci_group_request transfer;
    mxci_message *next;
    _Alignas(64) char data[]; /* bytes */
};

/* Receives messages on the communication thread; after a failure fail is called, perhaps repeatedly. */
typedef struct mxci_message_handler {
    mxc_status (*receive)(void *arg, int from, const void *data, size_t bytes);
    void (*fail)(void *arg, mxc_status status, const char *error);
    void *arg;
} mxci_message_handler;

enum { MXCI_CONFIG_TEXT = 1024 };

typedef struct mxci_comm_settings {
    int64_t timeout_ns;            /* after which a rank without heartbeats counts as lost */
    int64_t stall_ns;              /* how long a rank that is alive may stay away from a call; 0: forever */
    int64_t join_ns;               /* how long to wait for all processes to join; 0: forever */
    int64_t piece_bytes;           /* size of the pieces that long calls are cut into */
    char config[MXCI_CONFIG_TEXT]; /* what must be equal at all ranks: lines "name=value" */
} mxci_comm_settings;

/* Join the group and start the thread. Blocks until all processes have joined. handler: NULL if there are no messages.
 * MXC_EDEVICE, MXC_ENOMEM, MXC_EIO, MXC_EWORKER (a process does not join, or has another configuration). */
mxc_status mxci_comm_open(const mxci_process_group_api *api, const mxci_comm_settings *settings,
                          const mxci_message_handler *handler, mxci_comm **out);
/* Waits for the calls enqueued before, and until every process closes (or something has failed). NULL is allowed. */
void mxci_comm_close(mxci_comm *comm);
int mxci_comm_rank(const mxci_comm *comm);
int mxci_comm_size(const mxci_comm *comm);

/* Fix the number of a call whose data is not ready yet. Does not block. */
void mxci_comm_enqueue(mxci_comm *comm, mxci_call *call);
/* Its data is ready. Does not block. Any thread. */
void mxci_comm_ready(mxci_comm *comm, mxci_call *call);
/* Its data will never be ready, since computing it has failed: this fails the communication. Any thread. */
void mxci_comm_cancel(mxci_comm *comm, mxci_call *call);
/* Enqueue, report as ready and wait. Not inside a function of the engine. */
mxc_status mxci_comm_call(mxci_comm *comm, mxci_call *call);
/* Replace value by the minimum over all ranks. name is for messages. Blocks like mxci_comm_call. */
mxc_status mxci_comm_allreduce_min(mxci_comm *comm, const char *name, int64_t *value);
/* A message with uninitialised data of that size; NULL without memory. mxci_comm_send takes it over. */
mxci_message *mxci_message_create(int to, size_t bytes);
/* Send it; it is freed after completion. Does not block. Any thread. */
void mxci_comm_send(mxci_comm *comm, mxci_message *message);
/* MXC_EWORKER with the message if communication has failed. */
mxc_status mxci_comm_check(mxci_comm *comm);

#endif
