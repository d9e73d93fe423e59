/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread's last error, beyond <mxc/status.h>, and checks of the arguments of public functions. */
#ifndef MXCI_BASE_ERROR_H
#define MXCI_BASE_ERROR_H

#include <string.h>

#include <mxc/status.h>

#include "base/sys.h"

/* Number of errors that this thread has recorded, so that a caller can distinguish a new message from an old one. */
unsigned mxci_error_count(void);

/* MXC_ENOMEM "caller: no memory for what", for what has no number or name of its own to report. */
#define MXCI_NO_MEMORY(caller, what) MXC_FAIL(MXC_ENOMEM, "%s: no memory for %s", caller, what)

/* Checks of arguments, for MXC_TRY at the top of public functions, before anything else is looked at:
 *
 *   MXC_TRY(MXCI_OUT(out));                     *out is zero from here on, whatever fails
 *   MXC_TRY(MXCI_NON_NULL(array));              MXC_EINVAL "mxc_call: array must not be NULL"
 *   MXC_TRY(MXCI_NON_NULL_IF(n > 0, keys));
 *
 * Where there are several outputs, MXCI_CLEAR comes first for all but the last, and for optional ones.
 * Parameters have the same names as in the header, since the message shows them. A released handle fails in checked
 * builds. */
#ifdef MXCI_CHECKS
#define MXCI_NOT_RELEASED(pointer)                                              \
    (mxci_is_released((const void *)(uintptr_t)(pointer))                       \
         ? MXC_FAIL(MXC_EINVAL, "%s: " #pointer " has been released", __func__) \
         : MXC_OK)
#else
#define MXCI_NOT_RELEASED(pointer) MXC_OK
#endif
#define MXCI_NON_NULL_IF(needed, pointer)                                                      \
    (!(needed)           ? MXC_OK                                                              \
     : (pointer) == NULL ? MXC_FAIL(MXC_EINVAL, "%s: " #pointer " must not be NULL", __func__) \
                         : MXCI_NOT_RELEASED(pointer))
#define MXCI_NON_NULL(pointer) MXCI_NON_NULL_IF(1, pointer)
#define MXCI_CLEAR(out) ((out) != NULL ? (void)memset((out), 0, sizeof *(out)) : (void)0)
#define MXCI_OUT(out) (MXCI_CLEAR(out), MXCI_NON_NULL(out))

/* A struct that begins with its size: refuses one that was not initialised by init, or by that of another version. */
#define MXCI_SIZED(options, init)                                                                              \
    ((options) == NULL ? MXC_FAIL(MXC_EINVAL, "%s: " #options " must not be NULL; start from " init, __func__) \
     : (options)->size != sizeof *(options)                                                                    \
         ? MXC_FAIL(MXC_EINVAL, "%s: " #options "->size is %zu, expected %zu; start from " init, __func__,     \
                    (options)->size, sizeof *(options))                                                        \
         : MXC_OK)

/* The same for a pointer inside an argument; what names it in the message: "bind: the name of a device group". */
#define MXCI_CHECK_NON_NULL(is_non_null, what) \
    ((is_non_null) ? MXC_OK : MXC_FAIL(MXC_EINVAL, "%s must not be NULL", what))

#endif
