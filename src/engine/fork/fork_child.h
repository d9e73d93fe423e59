/* SPDX-License-Identifier: Apache-2.0 */
/* An engine in the child of a fork. */
#ifndef MXCI_ENGINE_FORK_FORK_CHILD_H
#define MXCI_ENGINE_FORK_FORK_CHILD_H

#include "engine/engine.h"

/* What an engine does around fork(): for mxci_fork_member. */
extern const mxci_fork_handlers mxci_engine_fork_handlers;

mxc_status mxci_engine_resume_slow(mxc_engine *engine);
/* Before a push or wait: in the child of a fork, the first time, end what cannot go on and start threads. Outside of
 * locks and the fork guard; may block. MXC_ENOMEM, MXC_EIO: threads could not be started, the next call tries again. */
static inline mxc_status mxci_engine_resume(mxc_engine *engine) {
    return atomic_load_explicit(&engine->fork_state, memory_order_acquire) ? mxci_engine_resume_slow(engine) : MXC_OK;
}

#endif
