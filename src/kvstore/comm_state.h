/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the communication, shared by comm.c (calls and the thread), join.c (joining), collectives.c (order and
 * progress of collective operations), messages.c (point-to-point messages), liveness.c (heartbeats and failures) and
 * gpu_sums.c (reductions by GPUs).
 */
#ifndef MXCI_KVSTORE_COMM_STATE_H
#define MXCI_KVSTORE_COMM_STATE_H

#include <stdatomic.h>

#include "base/sys.h"
#include "kvstore/comm.h"

enum {
    MXCI_MAX_IN_FLIGHT = 4,  /* pieces that are transferred at a time */
    MXCI_MAX_ANNOUNCED = 16, /* announcements that this rank has received and not started */
    MXCI_CALL_NAME = 160,    /* room for a call's name in an announcement */
    MXCI_CONTROL_TEXT = 480
};

/* What decides how many bytes a call sends from each rank, and how many it has room for. */
typedef struct mxci_call_signature {
    int64_t n, share, range_pieces;
    int32_t kind, dtype, on_gpus;
} mxci_call_signature;

/* Broadcast by rank 0: which piece of which call is started next. */
typedef struct mxci_announcement {
    int64_t seq, piece;
    mxci_call_signature signature;
    char name[MXCI_CALL_NAME];
} mxci_announcement;

/* A piece that is being transferred. */
typedef struct mxci_piece_in_flight {
    mxci_call *call; /* NULL: free */
    mxci_group_request transfer;
} mxci_piece_in_flight;

/* A message of the control channel: a heartbeat to the next rank, or a failure to all. */
typedef struct mxci_control_message {
    int32_t is_failure;
    int32_t status; /* of a failure, with text */
    /* Of a heartbeat: the rank that has made the fewest calls, as far as the ranks before the sender know, and how many
     * it has made. */
    int32_t slowest;
    int64_t n_calls;
    char text[MXCI_CONTROL_TEXT];
} mxci_control_message;

/* gpu_sums.c: the workers' GPUs. Set by the program's thread, communicator and api with the lock held. */
typedef struct mxci_gpu_group {
    int is_tried, id;
    const struct mxci_communicator_api *api;
    struct mxci_communicator *communicator; /* NULL: sums go through the host */
} mxci_gpu_group;

/* Where a rank runs. */
typedef struct mxci_rank_location {
    int64_t host, process;
} mxci_rank_location;

/* join.c: how far the communication thread is with joining, for the program's thread, which waits for it. */
typedef enum mxci_join_state {
    MXCI_JOINING,
    MXCI_JOINED,
    MXCI_REFUSED,  /* the thread has ended; code and message say why */
    MXCI_ABANDONED /* the program no longer waits: the thread owns and frees everything */
} mxci_join_state;

struct mxci_comm {
    const mxci_process_group_api *api;
    mxci_process_group *group;
    int rank, size;
    mxci_comm_settings settings;
    mxci_thread thread;
    int all_leave; /* joining has failed in the same way at every rank, so all leave together */

    mxci_mutex lock; /* over the next block */
    mxci_join_state join_state;
    mxci_cond has_work;  /* signalled when the communication thread has something to do */
    mxci_cond completed; /* signalled when joining or a blocking call has completed */
    int64_t next_seq;
    mxci_call *enqueued, **enqueued_end;    /* not yet seen by the thread */
    mxci_call *updated, **updated_end;      /* ready or cancelled, and not yet seen by the thread */
    mxci_message *outgoing, **outgoing_end; /* to be sent */
    int is_woken;    /* another thread has left transfers in flight to the communication thread */
    mxc_status code; /* MXC_OK until communication has failed; then message says why */
    char message[MXC_ERROR_MAX];
    mxci_gpu_group gpus;

    /* Over the rest: held by the communication thread, or by a thread that makes progress on its own short call. Taken
     * before lock where both are needed. */
    mxci_mutex progress_lock;
    mxci_call *calls, **calls_end; /* not complete, by seq */
    mxci_call closing;
    int is_closed, is_failed;
    int64_t spin_until_ns;
    mxci_piece_in_flight in_flight[MXCI_MAX_IN_FLIGHT];
    mxci_announcement announced[MXCI_MAX_ANNOUNCED]; /* a ring: announced and not started here */
    int n_announced, first_announced;
    /* Broadcasts of announcements: at rank 0 a ring of those being sent, elsewhere the first only, being received. */
    mxci_announcement broadcast_buffers[MXCI_MAX_ANNOUNCED];
    mxci_group_request broadcasts[MXCI_MAX_ANNOUNCED];
    int n_broadcasts, first_broadcast;
    char last_name[MXCI_CALL_NAME]; /* the call with a key that completed last */
    int64_t last_step;

    mxci_message_handler handler; /* receive is NULL: there are no messages */
    mxci_message *sending;        /* started and not complete */
    mxci_message *abandoned;      /* failed, and perhaps still read by the transport */
    char *incoming;               /* the message that is being received; NULL: none */
    size_t incoming_bytes;
    mxci_group_request incoming_transfer;

    mxci_rank_location *locations;         /* of all ranks */
    mxci_control_message control_received; /* buffer of the receive that is always posted */
    mxci_group_request control_receive;
    int32_t slowest; /* as the last heartbeat received says */
    int64_t slowest_calls;
    mxci_control_message heartbeat; /* being sent to the next rank */
    mxci_group_request heartbeat_send;
    int is_sending_heartbeat;
    int64_t heartbeat_sent_ns, heartbeat_received_ns, processes_checked_ns; /* when it happened last */
    int64_t liveness_step_ns;                                               /* when liveness was last checked */
    int64_t process_missing_ns; /* when an exited process was first noticed */
    mxci_control_message failure_message;
    mxci_group_request *failure_sends;                /* one for each rank */
    mxc_ndarray *kept_arrays[2 * MXCI_MAX_IN_FLIGHT]; /* whose memory a failed transfer may still touch */
};

/* ---- comm.c ------------------------------------------------------------------------------------------------------ */

/* Complete a call and remove it. */
void mxci_comm_end_call(mxci_comm *comm, mxci_call *call, mxc_status status, const char *error);
/* Free everything but the group. */
void mxci_comm_free(mxci_comm *comm);

static inline int64_t mxci_call_element_size(const mxci_call *call) {
    return call->kind == MXCI_CALL_REDUCE ? (int64_t)mxc_dtype_size(call->dtype) : 1;
}

/* ---- join.c ------------------------------------------------------------------------------------------------------ */

/* On the communication thread: join; returns 1 if it is to go on, else comm may have been freed. */
int mxci_join_group(mxci_comm *comm);
/* On the program's thread: wait for that. On failure comm is freed, or owned by the thread. */
mxc_status mxci_join_await(mxci_comm *comm);
/* On the communication thread while it joins: each rank's bytes to all. */
mxc_status mxci_join_allgather(mxci_comm *comm, const void *in, void *out, size_t bytes);

/* ---- collectives.c ----------------------------------------------------------------------------------------------- */

/* Make progress on everything that is in flight; returns whether anything happened. */
int mxci_collectives_step(mxci_comm *comm);
/* The call of this number that is not complete, or NULL. */
mxci_call *mxci_collectives_find(const mxci_comm *comm, int64_t seq);
/* Is there a ready call, which makes progress only inside the transport's test? */
int mxci_collectives_is_busy(const mxci_comm *comm);
/* About how many bytes are in flight, and one more for each transfer. */
int64_t mxci_collectives_in_flight_bytes(const mxci_comm *comm);

/* ---- messages.c -------------------------------------------------------------------------------------------------- */

/* Send and receive messages; returns whether anything happened. */
int mxci_messages_step(mxci_comm *comm);
int mxci_messages_all_sent(mxci_comm *comm);

/* ---- liveness.c -------------------------------------------------------------------------------------------------- */

/* Exchange the ranks' locations; once, at the start. */
mxc_status mxci_liveness_open(mxci_comm *comm);
/* Send and receive heartbeats, and check the other ranks. */
void mxci_liveness_step(mxci_comm *comm, int64_t now);
/* Time between two heartbeats: how long the thread may sleep. */
int64_t mxci_liveness_interval(const mxci_comm *comm);
/* End the communication: notify all ranks, unless notify is 0, and fail every call that is not complete. */
void mxci_comm_fail(mxci_comm *comm, int notify, mxc_status status, const char *format, ...) MXC_PRINTF(4, 5);
/* Ends the communication and returns 1 if the status is an error of the transport; else 0. */
int mxci_comm_check_status(mxci_comm *comm, mxc_status status);
/* Key and step that this rank has reached, for the end of messages. Returns out, of MXC_ERROR_MAX bytes. */
const char *mxci_comm_position(const mxci_comm *comm, char *out);

#endif
