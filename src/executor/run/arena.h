/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: the memory of one pool of a program, followed by the scratch of its steps, and the engine variable that
 * orders its use. Executors that share a pool (bucketing, reshape) hold the same arena; it grows to what the largest of
 * them needs.
 */
#ifndef MXCI_EXECUTOR_RUN_ARENA_H
#define MXCI_EXECUTOR_RUN_ARENA_H

#include <stdatomic.h>

#include <mxc/engine.h>

typedef struct mxci_arena {
    atomic_int refs;
    mxc_context context;
    mxc_var *var;
    void *memory; /* moves when the arena grows; mxci_addresses_update compares it before each run */
    size_t bytes;
} mxci_arena;

/* New arena with memory that has been touched, so that no run meets a page fault. MXC_ENOMEM, MXC_EDEVICE. */
mxc_status mxci_arena_create(mxc_engine *engine, mxc_context context, size_t bytes, mxci_arena **out);
mxci_arena *mxci_arena_retain(mxci_arena *arena);
void mxci_arena_release(mxci_arena *arena); /* NULL is fine; memory goes once queued work is done */
/* At least bytes bytes, contents kept. Blocks until queued work on the arena is done. MXC_ENOMEM leaves it as it
 * was. */
mxc_status mxci_arena_grow(mxci_arena *arena, size_t bytes);

#endif
