/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fork guard: brings all engines to rest (quiescence) before fork(). A thread enters the guard before it takes a
 * lock of an engine or runs a function, and leaves it before it sleeps or waits. fork() requests quiescence, waits
 * until all other threads have left, and then takes the locks that pushes hold instead of entering the guard. One guard
 * serves all engines of the process; it also keeps their list.
 */
#ifndef MXCI_ENGINE_FORK_FORK_GUARD_H
#define MXCI_ENGINE_FORK_FORK_GUARD_H

#include <stdatomic.h>
#include <stdint.h>

#include <mxc/status.h>

typedef struct mxci_fork_member mxci_fork_member;
typedef struct mxci_stream_list mxci_stream_list; /* engine/device/device_stream.h */

/* What an engine does around fork(). Called with the list of engines locked, inside fork(); must not block. */
typedef struct mxci_fork_handlers {
    /* Before fork(), when no thread is inside the guard: take the locks that pushes hold. */
    void (*lock)(mxci_fork_member *member);
    /* After it, in parent and child. */
    void (*unlock)(mxci_fork_member *member);
    /* In the child, after all engines were unlocked: forget the threads of the parent. */
    void (*child)(mxci_fork_member *member);
} mxci_fork_handlers;

/* An engine's entry in the list. */
struct mxci_fork_member {
    mxci_fork_member *next;
    const mxci_fork_handlers *handlers;
    mxci_stream_list *streams; /* of the engine */
};

/* Enter and leave nest. Enter blocks while a fork is going on, unless the thread is inside already. */
void mxci_fork_guard_enter(void);
void mxci_fork_guard_leave(void);
/* Leave altogether for a wait, and return as deep as before. resume may block, as enter. */
int mxci_fork_guard_suspend(void);
void mxci_fork_guard_resume(int depth);
/* 1 while fork() waits for threads to leave the guard: finish what runs and leave. A relaxed load will do, since a
 * thread that sees it late only delays the fork. */
extern _Atomic uint32_t mxci_fork_requested;

/* The calling thread's number, from 0, for spreading threads over slots. */
int mxci_thread_index(void);
/* 1 if the thread with this number is one of a process that this one was forked from, and so does not exist here. */
int mxci_thread_is_lost(int index);

/* Add an engine to the list. Status: MXC_ENOMEM. */
mxc_status mxci_fork_guard_add(mxci_fork_member *member);
void mxci_fork_guard_remove(mxci_fork_member *member);
/* Visit all engines but one, none of which ends meanwhile; stops at a failure and returns it. visit may block. Leaves
 * the guard meanwhile. */
mxc_status mxci_fork_guard_visit(const mxci_stream_list *but, mxc_status (*visit)(mxci_stream_list *streams, void *arg),
                                 void *arg);

#endif
