/* Assertions about the library's own mistakes, never about what a user or a file gave. On in debug and test builds. */
#ifndef MXCI_BASE_CHECK_H
#define MXCI_BASE_CHECK_H

#ifdef MXCI_CHECKS
#define MXCI_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define MXCI_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

#endif
