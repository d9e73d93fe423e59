/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of groups of processes. The MPI module implements it, and the tests implement it with threads in place
 * of processes.
 *
 * All processes of a group ("ranks" 0 to size-1) start the same collective operations in the same order on each
 * channel. Starting never blocks; a started operation makes progress only inside calls of test. One thread uses a group
 * at a time.
 */
#ifndef MXCI_BASE_PROCESS_GROUP_H
#define MXCI_BASE_PROCESS_GROUP_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_process_group mxci_process_group; /* defined by the module */

/* Operations on different channels are independent of each other. */
typedef enum mxci_group_channel {
    MXCI_CHANNEL_DATA,    /* reductions, gathered parts, initial values */
    MXCI_CHANNEL_ORDER,   /* announcements: which operation is started next */
    MXCI_CHANNEL_CONTROL, /* liveness and failures */
    MXCI_CHANNEL_SERVER,  /* messages between workers and servers */
    MXCI_CHANNELS
} mxci_group_channel;

/* A started operation. It and the memory that it names are the caller's, and stay where they are until it is done. */
typedef struct mxci_group_request {
    int64_t room[2]; /* private to the module */
    int from;        /* of a message that was received: the sender, and its bytes */
    size_t bytes;
} mxci_group_request;

typedef struct mxci_process_group_api {
    /* Join the group. Blocks until all processes have called it. MXC_EDEVICE, with the reason. */
    mxc_status (*open)(mxci_process_group **out);
    /* Leave. whole: every process leaves now, and only receives are in flight, which are canceled. Else what is in
     * flight is left as it is; returns 1 if its memory may be freed all the same, 0 if it must stay until the process
     * ends. */
    int (*close)(mxci_process_group *group, int whole);
    int (*rank)(const mxci_process_group *group);
    int (*size)(const mxci_process_group *group);
    /* Sum of n elements over all ranks, with the same bits at each; in may be out. Sums of f16 and bf16 are computed in
     * f32 and rounded at each addition. root: -1, or the only rank whose out is changed (a reduce). MXC_EDTYPE; this
     * and all operations below can fail with MXC_EIO. */
    mxc_status (*allreduce)(mxci_process_group *group, int root, const void *in, void *out, int64_t n, mxc_dtype dtype,
                            mxci_group_request *request);
    /* Each rank's bytes to all: out (size, bytes), by rank. */
    mxc_status (*allgather)(mxci_process_group *group, const void *in, void *out, size_t bytes,
                            mxci_group_request *request);
    /* The root's bytes to all. */
    mxc_status (*broadcast)(mxci_process_group *group, mxci_group_channel channel, int root, void *data, size_t bytes,
                            mxci_group_request *request);
    /* A message to one rank. Done when data may be reused; if synchronous, when the receiver has begun to receive it.
     */
    mxc_status (*send)(mxci_process_group *group, mxci_group_channel channel, int to, const void *data, size_t bytes,
                       int synchronous, mxci_group_request *request);
    /* Receive the next message of any rank, of at most room bytes. Messages of one rank arrive in order. */
    mxc_status (*receive)(mxci_process_group *group, mxci_group_channel channel, void *data, size_t room,
                          mxci_group_request *request);
    /* The sender and size of the next message to receive; *from -1: there is none. Does not block. */
    mxc_status (*probe)(mxci_process_group *group, mxci_group_channel channel, int *from, size_t *bytes);
    /* Receive the message that probe has just reported. */
    mxc_status (*receive_from)(mxci_process_group *group, mxci_group_channel channel, int from, void *data,
                               size_t bytes, mxci_group_request *request);
    /* Make progress; sets done to 1 if the operation is done. Does not block. */
    mxc_status (*test)(mxci_process_group *group, mxci_group_request *request, int *done);
} mxci_process_group_api;

#endif
