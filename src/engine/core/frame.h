/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that run on this thread: a stack of frames, since a function that waits or pushes may run another. */
#ifndef MXCI_ENGINE_CORE_FRAME_H
#define MXCI_ENGINE_CORE_FRAME_H

#include "engine/core/task.h"
#include "engine/device/device_stream.h"

typedef struct mxci_frame {
    struct mxci_frame *outer;
    mxc_engine *engine;
    mxci_stream_list *streams; /* of the engine */
    mxci_engine_task *task;
    const mxci_device_stream *stream; /* where its device work goes; NULL: nowhere, or it is asynchronous */
} mxci_frame;

extern MXCI_THREAD_LOCAL mxci_frame *mxci_frame_top; /* innermost; NULL outside of functions */

/* How calls of this thread behave (MXCI_MODE_...). A function that the engine runs begins with 0, also on a thread of
 * the program that waits or pushes, whose mode is restored behind it. */
enum {
    MXCI_MODE_RECORD = 1, /* calls on arrays are recorded for gradients: src/autograd */
    MXCI_MODE_TRAIN = 2   /* calls on arrays behave as in training */
};
extern MXCI_THREAD_LOCAL unsigned mxci_mode;

/* Sets the mode and returns the former one. */
static inline unsigned mxci_mode_exchange(unsigned mode) {
    unsigned before = mxci_mode;
    mxci_mode = mode;
    return before;
}

/* 1 if a function of that engine (NULL: of any) runs on this thread. */
int mxci_frame_inside(const mxc_engine *engine);
/* 1 if this very task runs on this thread. */
int mxci_frame_runs(const mxci_engine_task *task);
/* The innermost task of this thread that names the variable; NULL if there is none. */
const mxci_engine_task *mxci_frame_naming(const mxc_var *var);

#endif
