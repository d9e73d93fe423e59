/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scratch memory for the function that runs on this thread. Each thread keeps a block per context, which grows on
 * demand from the storage pool; functions that run one after the other on a thread share it.
 */
#ifndef MXCI_RESOURCE_TEMP_H
#define MXCI_RESOURCE_TEMP_H

#include <mxc/engine.h>

/**
 * At least bytes bytes, 64-byte aligned, in run->context (0 bytes may give NULL). Contents undefined. Valid until this
 * thread requests scratch for that context again or its function returns. While a function waits in the engine, other
 * functions may run on its thread and use the same scratch. Status: MXC_ENOMEM, MXC_EDEVICE.
 */
mxc_status mxci_temp_get(const mxc_run *run, size_t bytes, void **out);
/**
 * The same from a second block per context, which a program's operators take at run time (mxc_run_scratch): what the
 * library has taken for the call stays valid.
 */
mxc_status mxci_temp_get_for_program(const mxc_run *run, size_t bytes, void **out);
/* Free the calling thread's scratch of all contexts. Called automatically when a thread ends. */
void mxci_temp_release(void);

#endif
