/* SPDX-License-Identifier: Apache-2.0 */
/* Queries on the stack of functions that run on this thread: see frame.h. */
#include "engine/core/frame.h"

MXCI_THREAD_LOCAL mxci_frame *mxci_frame_top;
MXCI_THREAD_LOCAL unsigned mxci_mode;

int mxci_frame_inside(const mxc_engine *engine) {
    for (const mxci_frame *f = mxci_frame_top; f; f = f->outer)
        if (!engine || f->engine == engine)
            return 1;
    return 0;
}

int mxci_frame_runs(const mxci_engine_task *task) {
    for (const mxci_frame *f = mxci_frame_top; f; f = f->outer)
        if (f->task == task)
            return 1;
    return 0;
}

const mxci_engine_task *mxci_frame_naming(const mxc_var *var) {
    for (const mxci_frame *f = mxci_frame_top; f; f = f->outer)
        for (int i = 0; i < f->task->n_deps; i++)
            if (f->task->deps[i].var == var)
                return f->task;
    return NULL;
}
