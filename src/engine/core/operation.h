/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared operations: a function with its variables, pushed many times. */
#ifndef MXCI_ENGINE_CORE_OPERATION_H
#define MXCI_ENGINE_CORE_OPERATION_H

#include "engine/core/task.h"

struct mxc_engine_op {
    mxci_operation operation;
    mxc_engine *engine;
    int n_deps;
    _Alignas(MXCI_CACHE_LINE) _Atomic int64_t pushed; /* written by pushing threads */
    /* MXCI_OPERATION_ALIVE - completed; from mxc_engine_op_destroy on: pushed - completed, so that 0 is the end */
    _Alignas(MXCI_CACHE_LINE) _Atomic int64_t left;
    mxci_dep deps[]; /* sorted by address; copied into each task */
};

#define MXCI_OPERATION_ALIVE ((int64_t)1 << 62)

/* Operation of tasks that stand in the queue of a variable for a waiting thread and run nothing. */
extern const mxci_operation mxci_barrier_operation;

/* Memory for an operation with n_deps dependencies; NULL without memory. */
mxc_engine_op *mxci_operation_alloc(int n_deps);
/* Free one that was never pushed, without calling its destroy. */
void mxci_operation_free(mxc_engine_op *op);
/* A task of the operation is complete. Frees it if that was the last one after mxc_engine_op_destroy. Any thread; calls
 * destroy, so no lock may be held. */
void mxci_operation_task_completed(mxc_engine_op *op);

#endif
