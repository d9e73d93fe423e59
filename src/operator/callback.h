/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the program that operators call (MXC_OP_CALLBACK). They may block and wait for other work, so they run
 * on threads of their own and the engine hears of their end as of an asynchronous function's. Threads are started when
 * all others are busy, and kept.
 */
#ifndef MXCI_OPERATOR_CALLBACK_H
#define MXCI_OPERATOR_CALLBACK_H

#include <mxc/engine.h>

/* One call. The caller keeps it until done is told. */
typedef struct mxci_callback {
    mxc_status (*fn)(void *arg);
    void *arg;
    const char *name; /* for messages */
    mxc_done *done;
    struct mxci_callback *next; /* while queued */
} mxci_callback;

/* Call fn(arg) on another thread, then tell done how it ended. Does not block. */
void mxci_callback_push(mxci_callback *callback);

#endif
