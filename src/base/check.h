/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions of the library's own invariants, never of what a user or a file supplies. They trap in debug and sanitizer
 * builds (MXCI_CHECKS) and cost nothing in others. */
#ifndef MXCI_BASE_CHECK_H
#define MXCI_BASE_CHECK_H

#ifdef MXCI_CHECKS
#define MXCI_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define MXCI_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

#endif
