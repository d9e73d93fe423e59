/*
 * What the library asks of a set of GPUs that add up arrays among themselves. One table; the GPU module has it where it
 * has a library for that (NCCL), the tests' stand-in for a GPU plays it.
 *
 * A clique is this process's members of such a set: of its GPUs one each, with a queue of work of its own. All members
 * of the set, in all processes, are given the same work in the same order. Starting never blocks; started work goes on
 * only inside calls of test. Any thread may call; a clique's calls wait for each other.
 */
#ifndef MXCI_BASE_CLIQUE_H
#define MXCI_BASE_CLIQUE_H

#include <mxc/types.h>

enum { MXCI_CLIQUE_MEMBERS = 16 }; /* of one process, at most */

typedef struct mxci_clique mxci_clique; /* the module's */

/* What members know each other by. One process makes it, and tells the others. */
typedef struct mxci_clique_id {
    char bytes[128];
} mxci_clique_id;

typedef enum mxci_clique_kind {
    MXCI_CLIQUE_SUM,      /* out = the sum of all members' in, the same bits at each */
    MXCI_CLIQUE_REDUCE,   /* the same, at the root only; the others' out is not used */
    MXCI_CLIQUE_BROADCAST /* out = the root's in, at all; the others' in is not used */
} mxci_clique_kind;

/* Work of n elements; memory of each member's GPU, in the order of join. in may be out. Sums of f16 and bf16 are
 * rounded at each addition. */
typedef struct mxci_clique_work {
    mxci_clique_kind kind;
    int root; /* its rank */
    mxc_dtype dtype;
    int64_t n;
    const void *in[MXCI_CLIQUE_MEMBERS];
    void *out[MXCI_CLIQUE_MEMBERS];
} mxci_clique_work;

typedef struct mxci_clique_api {
    const char *name; /* for messages */
    int (*serves)(mxc_dtype dtype);
    /* MXC_EDEVICE, with why; so can all others. May block for the time of loading a library. */
    mxc_status (*make_id)(mxci_clique_id *out);
    /* Begin to be the ranks first to first + n - 1 of size, on these GPUs. Ticket 0 is done when all members have come;
     * then work may be started. */
    mxc_status (*join)(const mxci_clique_id *id, int size, int first, int n, const int *gpus, mxci_clique **out);
    /* Tickets count up from 1. The memory is the caller's, ready when this is called, and stays until the work is done
     * or leave says so. */
    mxc_status (*start)(mxci_clique *clique, const mxci_clique_work *work, int64_t *ticket);
    /* Is it done, at this process's members? Fails, from then on, after an error of this or other work. */
    mxc_status (*test)(mxci_clique *clique, int64_t ticket, int *done);
    /* End all work, done or not, soon. Does not block. Nothing but test, which fails, and leave may be called then. */
    void (*abort)(mxci_clique *clique);
    /* The end. Without abort before: when all work is done, and by all processes. Blocks for a few seconds at most.
     * Returns 1, or 0 if memory that work names must stay until the process ends. */
    int (*leave)(mxci_clique *clique);
} mxci_clique_api;

#endif
