/*
 * The gate: how fork() finds the engines at rest. A thread passes it before it takes a lock of an engine or runs a
 * function, and leaves it before it sleeps or waits. fork() closes the gate, waits until all others have left, and then
 * takes the locks of all stripes, which pushes hold in place of the gate. One gate serves all engines.
 */
#ifndef MXCI_ENGINE_FORK_H
#define MXCI_ENGINE_FORK_H

#include <stdatomic.h>
#include <stdint.h>

#include <mxc/engine.h>

#define MXCI_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* Enters and leaves nest. Enter blocks while a fork is going on, unless the thread is inside already. */
void mxci_gate_enter(void);
void mxci_gate_leave(void);
/* Leave altogether for a wait, and come back as deep as before. */
int mxci_gate_suspend(void);
void mxci_gate_resume(int depth);
/* 1 while a fork waits for the gate to become empty: end what runs and leave. */
extern _Atomic uint32_t mxci_gate_closed;

/* The calling thread's number, from 0, for spreading threads over slots. */
int mxci_thread_index(void);
/* 1 if the thread with this number is one of a process that this one was forked from, and so is not here. */
int mxci_thread_is_lost(int index);

/* The list of engines that fork() looks after. Status: MXC_ENOMEM. */
mxc_status mxci_fork_add(mxc_engine *engine);
void mxci_fork_remove(mxc_engine *engine);
/* Visit all engines but one, none of which ends meanwhile; stops at a failure and returns it. May block. */
mxc_status mxci_fork_visit(const mxc_engine *but, mxc_status (*visit)(mxc_engine *engine, void *arg), void *arg);

#endif
