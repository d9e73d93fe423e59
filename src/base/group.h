/*
 * What the library asks of a group of processes. One table; the MPI module has it, and the tests have one whose
 * processes are threads.
 *
 * All processes of a group ("ranks" 0 to size-1) start the same collective operations in the same order on each
 * channel. Starting never blocks; a started operation goes on only inside calls of test. One thread uses a group at a
 * time.
 */
#ifndef MXCI_BASE_GROUP_H
#define MXCI_BASE_GROUP_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_group mxci_group; /* the module's */

/* Operations on different channels are independent of each other. */
typedef enum mxci_channel {
    MXCI_CHANNEL_DATA,  /* sums, gathered parts, first values */
    MXCI_CHANNEL_ORDER, /* which of them comes next */
    MXCI_CHANNEL_NEWS,  /* who lives, what failed */
    MXCI_CHANNEL_POST,  /* between workers and servers */
    MXCI_CHANNELS
} mxci_channel;

/* A started operation. It and the memory it names are the caller's, and stay where they are until it is done. */
typedef struct mxci_transfer {
    int64_t room[2]; /* the module's */
    int from;        /* of a message that was received: the sender, and its bytes */
    size_t bytes;
} mxci_transfer;

typedef struct mxci_group_api {
    /* Join; returns when all processes have come, so they call it in the same order too. MXC_EDEVICE, with why. */
    mxc_status (*open)(mxci_group **out);
    /* Leave. whole: every process leaves now, and only receiving is under way, which ends. Else what is under way is
     * left as it is; returns 1 if its memory may go all the same, 0 if it must stay until the process ends. */
    int (*close)(mxci_group *group, int whole);
    int (*rank)(const mxci_group *group);
    int (*size)(const mxci_group *group);
    /* Sum of n elements over all ranks, the same bits at each; in may be out. Sums of f16 and bf16 are rounded at each
     * addition, made in f32. to: -1, or the only rank whose out is changed. MXC_EDTYPE; all can fail with MXC_EIO. */
    mxc_status (*sum)(mxci_group *group, int to, const void *in, void *out, int64_t n, mxc_dtype dtype,
                      mxci_transfer *t);
    /* Each rank's bytes to all, out (size, bytes) by rank. */
    mxc_status (*gather)(mxci_group *group, const void *in, void *out, size_t bytes, mxci_transfer *t);
    /* One rank's bytes to all. */
    mxc_status (*broadcast)(mxci_group *group, mxci_channel channel, int from, void *data, size_t bytes,
                            mxci_transfer *t);
    /* A message to one rank. Done when it may be forgotten here; with waits, when it is being received there. */
    mxc_status (*send)(mxci_group *group, mxci_channel channel, int to, const void *data, size_t bytes, int waits,
                       mxci_transfer *t);
    /* The next message of any rank, of at most room bytes. Messages of one rank come in their order. */
    mxc_status (*receive)(mxci_group *group, mxci_channel channel, void *data, size_t room, mxci_transfer *t);
    /* Is there a message to receive? *from -1: no; else from whom the next one is, and its size. */
    mxc_status (*probe)(mxci_group *group, mxci_channel channel, int *from, size_t *bytes);
    /* Receive the message that probe has just told of. */
    mxc_status (*receive_from)(mxci_group *group, mxci_channel channel, int from, void *data, size_t bytes,
                               mxci_transfer *t);
    mxc_status (*test)(mxci_group *group, mxci_transfer *t, int *done);
} mxci_group_api;

#endif
