/* The communication's state, shared by comm.c (calls), transfer.c (what moves, and in which order), post.c
 * (messages) and watch.c (who lives). */
#ifndef MXCI_KVSTORE_COMM_STATE_H
#define MXCI_KVSTORE_COMM_STATE_H

#include <stdatomic.h>

#include "base/sys.h"
#include "kvstore/comm.h"

enum {
    MXCI_FLIGHTS = 4, /* transfers of data at a time */
    MXCI_ORDERS = 16, /* decisions that are known and not begun, at most */
    MXCI_WHAT = 160,  /* room for a call's name in an order */
    MXCI_NEWS_TEXT = 480
};

/* Of a call: what decides how many bytes each rank sends, and how many it has room for. */
typedef struct mxci_form {
    int64_t n, share, run_pieces;
    int32_t kind, dtype, on_gpus;
} mxci_form;

/* What rank 0 has decided to come next: a piece of a call. */
typedef struct mxci_order {
    int64_t seq, piece;
    mxci_form form;
    char what[MXCI_WHAT];
} mxci_order;

typedef struct mxci_flight {
    mxci_call *call; /* NULL: free */
    mxci_group_request transfer;
} mxci_flight;

typedef struct mxci_news {
    int32_t is_failure; /* else only: I live */
    int32_t status;
    /* Of a beat: the rank that has made the fewest calls, as far as those before the sender know, and how many. */
    int32_t slowest;
    int64_t n_calls;
    char text[MXCI_NEWS_TEXT];
} mxci_news;

/* devices.c: the workers' GPUs. Set by the program's thread, communicator and api with the lock held. */
typedef struct mxci_gpus {
    int is_tried, id;
    const struct mxci_communicator_api *api;
    struct mxci_communicator *communicator; /* NULL: sums go through the host */
} mxci_gpus;

/* Where a rank runs. */
typedef struct mxci_place {
    int64_t host, process;
} mxci_place;

/* join.c: where the thread and the one who waits for it are. */
typedef enum mxci_joining {
    MXCI_JOINING,
    MXCI_JOINED,
    MXCI_REFUSED,  /* the thread has ended; code and message say why */
    MXCI_ABANDONED /* nobody waits: what there is belongs to the thread */
} mxci_joining;

struct mxci_comm {
    const mxci_process_group_api *api;
    mxci_process_group *group;
    int rank, size;
    mxci_comm_settings settings;
    mxci_thread thread;
    int all_leave; /* joining has ended in the same way at every rank */

    mxci_mutex lock; /* over the next block */
    mxci_joining joining;
    mxci_cond asked, ended; /* there is something for the thread; joining, or a call that is waited for, has ended */
    int64_t next_seq;
    mxci_call *announced, **announced_end; /* not yet seen by the thread */
    mxci_call *changed, **changed_end;     /* ready or lost, likewise */
    mxci_post *posted, **posted_end;       /* to be sent */
    int is_nudged;                         /* something is under way that it has not seen */
    mxc_status code;                       /* MXC_OK until something has failed; then message says what */
    char message[MXC_ERROR_MAX];
    mxci_gpus gpus;

    mxci_mutex driver; /* over the rest: held by the communication thread, or by one that moves its own short sum */
    mxci_call *calls, **calls_end; /* not ended, by seq */
    mxci_call closing;
    int is_closed, is_failed;
    int64_t spin_until_ns;
    mxci_flight flights[MXCI_FLIGHTS];
    mxci_order orders[MXCI_ORDERS]; /* a ring: decided and not begun */
    int n_orders, first_order;
    mxci_order told[MXCI_ORDERS]; /* being told by rank 0: a ring there, the first only at the others */
    mxci_group_request telling[MXCI_ORDERS];
    int n_telling, first_telling;
    char last_what[MXCI_WHAT]; /* the call with a key that ended last */
    int64_t last_step;

    mxci_mailbox mailbox; /* receive is NULL: none */
    mxci_post *sending;   /* not ended */
    mxci_post *stranded;  /* ended by a failure, and perhaps still being sent */
    char *arriving;       /* the message that is being received; NULL: none */
    size_t arriving_bytes;
    mxci_group_request arrival;

    mxci_place *places; /* of all ranks */
    mxci_news heard;    /* being received */
    mxci_group_request hearing;
    int32_t slowest; /* as the last beat said */
    int64_t slowest_calls;
    mxci_news beat; /* being sent to the next rank */
    mxci_group_request beating;
    int is_beating;
    int64_t beat_ns, heard_ns, looked_ns; /* when: sent, heard of the rank before, looked at processes */
    int64_t step_ns, gone_ns;             /* when: the last step of the watch, a process was missed first */
    mxci_news failure;                    /* being sent to all */
    mxci_group_request *failing;          /* size of them, while it is */
    mxc_ndarray *held[2 * MXCI_FLIGHTS];  /* whose memory a failed transfer may still touch */
};

/* comm.c: end a call and forget it. */
void mxci_comm_end_call(mxci_comm *comm, mxci_call *call, mxc_status status, const char *message);

/* Bytes of an element. */
static inline int64_t mxci_call_width(const mxci_call *call) {
    return call->kind == MXCI_CALL_SUM ? (int64_t)mxc_dtype_size(call->dtype) : 1;
}

/* Free all but the group. */
void mxci_comm_free(mxci_comm *comm);

/* join.c. On the thread: join; returns whether it is to go on, else comm may be gone. */
int mxci_join_group(mxci_comm *comm);
/* On the program's: wait for that. On failure comm is gone, or the thread's. */
mxc_status mxci_join_await(mxci_comm *comm);
/* On the thread, while it joins: each rank's bytes to all. */
mxc_status mxci_join_gather(mxci_comm *comm, const void *in, void *out, size_t bytes);

/* transfer.c. Go on with all that is under way; returns whether anything happened. */
int mxci_transfer_step(mxci_comm *comm);
/* The call of this number that has not ended, or NULL. */
mxci_call *mxci_transfer_find(const mxci_comm *comm, int64_t seq);
/* Is there something that can only go on inside calls of test? */
int mxci_transfer_is_busy(const mxci_comm *comm);
/* About how many bytes are on their way, and one more for each transfer. */
int64_t mxci_transfer_flying(const mxci_comm *comm);

/* post.c. Send and receive messages; returns whether anything happened. */
int mxci_post_step(mxci_comm *comm);
int mxci_post_all_sent(mxci_comm *comm);

/* watch.c. Learn where everyone is; once, at the start. */
mxc_status mxci_watch_open(mxci_comm *comm);
/* Beat, listen, look after the others. */
void mxci_watch_step(mxci_comm *comm, int64_t now);
/* How long the thread may sleep without being missed. */
int64_t mxci_watch_interval(const mxci_comm *comm);
/* Communication is over: tell everyone, unless tell is 0, and fail what is not done. */
void mxci_watch_fail(mxci_comm *comm, int tell, mxc_status status, const char *format, ...) MXC_PRINTF(4, 5);
/* A status other than MXC_OK of the group is the end: 1. Else 0. */
int mxci_watch_failed(mxci_comm *comm, mxc_status status);
/* , with the key and step that this rank stands at: for the end of messages. In out, of MXC_ERROR_MAX. */
const char *mxci_watch_where(const mxci_comm *comm, char *out);

#endif
