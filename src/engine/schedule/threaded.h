/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and destroying the worker pools of a threaded engine. */
#ifndef MXCI_ENGINE_SCHEDULE_THREADED_H
#define MXCI_ENGINE_SCHEDULE_THREADED_H

#include "engine/engine.h"

/* Create the pools for the CPU and for I/O. MXC_ENOMEM; destroy is to be called all the same. */
mxc_status mxci_threaded_create(mxc_engine *engine);
/* Join all threads and free all pools. Nothing is pending, and no other thread uses the engine. Blocks. */
void mxci_threaded_destroy(mxc_engine *engine);

#endif
