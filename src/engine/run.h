/*
 * Running one block's function on this thread, and ending it: marks, variables, callbacks, counters.
 */
#ifndef MXCI_ENGINE_RUN_H
#define MXCI_ENGINE_RUN_H

#include "engine/block.h"
#include "engine/fork.h"
#include "engine/mark.h"

/* A stream for functions that run on a thread which is no worker of their device. */
typedef struct mxci_guest_stream {
    struct mxci_guest_stream *next;
    mxci_stream stream;
} mxci_guest_stream;

/* Who runs a function: mxc_run.worker is its number. A pool's thread has its own; any other thread claims one. */
typedef struct mxci_runner {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t busy; /* claimed */
    int number;
    mxci_block *block;          /* running now: what fork() has to end in the child */
    mxci_guest_stream *streams; /* kept for the next function on the same context: making one is costly */
} mxci_runner;

/* The functions that run on this thread, innermost first. */
typedef struct mxci_frame {
    struct mxci_frame *outer;
    mxc_engine *engine;
    mxci_block *block;
    const mxci_stream *stream; /* where its device work goes; NULL: nowhere, or it tells its end itself */
} mxci_frame;
extern MXCI_THREAD_LOCAL mxci_frame *mxci_frame_top;

/* 1 if a function of that engine (NULL: of any) runs on this thread. */
int mxci_inside(const mxc_engine *engine);

/* A number for a thread that belongs to no pool; NULL if all are taken. */
mxci_runner *mxci_runner_claim(mxc_engine *engine);
void mxci_runner_release(mxci_runner *runner);
/* Nothing runs there any more. */
void mxci_runner_close(mxci_runner *runner);

/* Run or skip the block, which is granted, and end it unless it is asynchronous and goes on. Adds what became ready.
 * stream: the worker's, or NULL: the runner's own if the device wants one. own, unless NULL, gets the function's own
 * failure, retained. Inside the gate. */
void mxci_block_run(mxci_runner *runner, mxci_stream *stream, mxci_block *block, mxci_list *ready, mxci_failure **own);
/* Keep it for mxc_wait_all if it is the first since the last; NULL is fine. */
void mxci_note_first(mxc_engine *engine, mxci_failure *failure);

/* End a block that ran or was skipped; takes over failure. The block is gone afterwards. Inside the gate. */
void mxci_block_end(mxci_block *block, mxci_failure *failure, mxci_list *ready);

/* The list of blocks that no queue holds although they have not ended: asynchronous functions, and blocks that wait for
 * a thread of a naive engine. */
void mxci_flight_add(mxc_engine *engine, mxci_block *block);
void mxci_flight_remove(mxc_engine *engine, mxci_block *block);

/* In the child of a fork: end what ran on threads that are gone; add what they were to run. */
void mxci_cancel_lost(mxc_engine *engine, mxci_list *ready);

#endif
