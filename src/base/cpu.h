/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the levels that the library contains its kernels run at: sets of instructions for which *_kernels.c are
 * compiled (cmake/levels.cmake). One is selected when the library is loaded, before anything else of it runs.
 */
#ifndef MXCI_BASE_CPU_H
#define MXCI_BASE_CPU_H

#include <mxc/status.h>

/* Select a level by name; NULL: the fastest that the processor has. Not while kernels run. On an error nothing
 * changes. */
mxc_status mxci_cpu_use(const char *name);

/* Fails, and says why, if kernels must not run: the processor has no level of this library, or not the one that MXC_CPU
 * names. Does not block. */
mxc_status mxci_cpu_check(void);

/* For tests: from now on the processor seems to lack this level and those behind it; NULL: none. */
void mxci_test_cpu_lacks(const char *level);

/* ---- for the file that cmake/dispatch.awk makes ------------------------------------------------------------------ */

/* The levels of this library, rising, NULL at the end. */
extern const char *const mxci_level_names[];

/* Make the names of kernels those of a level, by its index. */
void mxci_level_connect(int level);

/* Called once, when the library is loaded. */
void mxci_cpu_start(void);

#endif
