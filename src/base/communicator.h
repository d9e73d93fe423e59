/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of communicators: sets of GPUs that run collective operations among themselves. The GPU module
 * implements it where it finds a library for that (NCCL), and the GPU emulator implements it for tests.
 *
 * An mxci_communicator is this process's members of such a set, at most one per GPU, each with its own queue of work.
 * All members of the set, in all processes, start the same collectives in the same order. Starting never blocks;
 * started work makes progress only inside calls of test. Any thread may call; calls for one communicator are serialized
 * inside.
 */
#ifndef MXCI_BASE_COMMUNICATOR_H
#define MXCI_BASE_COMMUNICATOR_H

#include <mxc/types.h>

enum { MXCI_COMMUNICATOR_MEMBERS = 16 }; /* of one process, at most */

typedef struct mxci_communicator mxci_communicator; /* defined by the module */

/* How the members of a set find each other. One process creates it and sends it to the others. */
typedef struct mxci_communicator_id {
    char bytes[128];
} mxci_communicator_id;

typedef enum mxci_collective {
    MXCI_COLLECTIVE_ALLREDUCE, /* out = the sum of all members' in, with the same bits at each */
    MXCI_COLLECTIVE_REDUCE,    /* the same, at the root only; the others' out is not used */
    MXCI_COLLECTIVE_BROADCAST  /* out = the root's in, at all members; the others' in is not used */
} mxci_collective;

/* A collective on n elements; memory of each member's GPU, in the order of create. in may be out. Sums of f16 and bf16
 * are rounded at each addition. */
typedef struct mxci_communicator_work {
    mxci_collective collective;
    int root; /* its rank */
    mxc_dtype dtype;
    int64_t n;
    const void *in[MXCI_COMMUNICATOR_MEMBERS];
    void *out[MXCI_COMMUNICATOR_MEMBERS];
} mxci_communicator_work;

typedef struct mxci_communicator_api {
    const char *name; /* for messages */
    int (*supports)(mxc_dtype dtype);
    /* All calls can fail with MXC_EDEVICE and the reason. May block while a library is loaded. */
    mxc_status (*create_id)(mxci_communicator_id *out);
    /* Begin to become the ranks first to first + n - 1 of size, on these GPUs. Ticket 0 is done when all members of the
     * set have joined; then work may be started. Does not block. */
    mxc_status (*create)(const mxci_communicator_id *id, int size, int first, int n, const int *gpus,
                         mxci_communicator **out);
    /* Tickets count up from 1. The memory is the caller's, ready when this is called, and stays until the work is done
     * or destroy says so. Does not block. */
    mxc_status (*start)(mxci_communicator *communicator, const mxci_communicator_work *work, int64_t *ticket);
    /* Sets done to 1 if the ticket's work is done at this process's members. Fails, from then on, after an error of
     * this or other work. Does not block. */
    mxc_status (*test)(mxci_communicator *communicator, int64_t ticket, int *done);
    /* End all work soon, done or not. Does not block. Afterwards only test, which fails, and destroy may be called. */
    void (*abort)(mxci_communicator *communicator);
    /* Free it. Unless abort was called before, all work must be done, and all processes call this. Blocks for a few
     * seconds at most. Returns 1, or 0 if memory that work names must stay until the process ends. */
    int (*destroy)(mxci_communicator *communicator);
} mxci_communicator_api;

#endif
