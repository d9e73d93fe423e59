/* About the calling thread's last error, beyond <mxc/status.h>. */
#ifndef MXCI_BASE_ERROR_H
#define MXCI_BASE_ERROR_H

#include <mxc/status.h>

/* How many errors this thread has recorded, so that a caller can tell a fresh message from an old one. */
unsigned mxci_error_count(void);

/* A status for MXC_TRY: MXC_EINVAL unless the caller gave what ("mxc_some_call: array and out") is needed. */
#define MXCI_GIVEN(is_given, what) ((is_given) ? MXC_OK : MXC_FAIL(MXC_EINVAL, "%s must not be NULL", what))

#endif
