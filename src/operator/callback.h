/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the program that operators call (MXC_OP_CALLBACK). They may block and wait for other work, so they run
 * on threads of their own, and complete as an asynchronous engine task does (mxc_done). A thread is started when all
 * others are busy; threads are kept until the process ends.
 */
#ifndef MXCI_OPERATOR_CALLBACK_H
#define MXCI_OPERATOR_CALLBACK_H

#include <mxc/engine.h>

/* One call. The caller owns it and keeps it until done is completed. */
typedef struct mxci_callback {
    mxc_status (*fn)(void *arg);
    void *arg;
    const char *name; /* for messages */
    mxc_done *done;
    struct mxci_callback *next; /* while queued */
} mxci_callback;

/* Calls fn(arg) on another thread, then completes done with its status. Does not block. If no thread can be started and
 * none runs, done is completed with that error at once. */
void mxci_callback_push(mxci_callback *callback);

#endif
