/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of prepared operations: one is freed when it is destroyed and all its tasks are complete. */
#include "engine/core/operation.h"

const mxci_operation mxci_barrier_operation = {.name = "wait"};

static size_t operation_bytes(int n_deps) {
    return sizeof(mxc_engine_op) + (size_t)n_deps * sizeof(mxci_dep);
}

mxc_engine_op *mxci_operation_alloc(int n_deps) {
    mxc_engine_op *op = mxci_pages_alloc(operation_bytes(n_deps));
    if (op)
        op->n_deps = n_deps;
    return op;
}

void mxci_operation_free(mxc_engine_op *op) {
    mxci_pages_free(op, operation_bytes(op->n_deps));
}

static void operation_end(mxc_engine_op *op) {
    if (op->operation.destroy)
        op->operation.destroy(op->operation.arg);
    mxci_operation_free(op);
}

/* Acquire and release: the thread that brings left to 0 frees what all other threads used before they counted down. */
void mxci_operation_task_completed(mxc_engine_op *op) {
    if (atomic_fetch_sub_explicit(&op->left, 1, memory_order_acq_rel) == 1)
        operation_end(op);
}

void mxc_engine_op_destroy(mxc_engine_op *op) {
    int64_t pushed;
    if (!op)
        return;
    pushed = atomic_load(&op->pushed);
    if (atomic_fetch_add_explicit(&op->left, pushed - MXCI_OPERATION_ALIVE, memory_order_acq_rel) + pushed -
            MXCI_OPERATION_ALIVE ==
        0)
        operation_end(op);
}
