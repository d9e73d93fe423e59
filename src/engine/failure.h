/*
 * What went wrong in a function, shared by all variables that it marks and handed on to those of skipped functions.
 * Reference-counted; never fails to be made: without memory the code alone is kept.
 */
#ifndef MXCI_ENGINE_FAILURE_H
#define MXCI_ENGINE_FAILURE_H

#include <mxc/status.h>

typedef struct mxci_failure mxci_failure;

/* From the calling thread's last error message and its place. code is not MXC_OK. */
mxci_failure *mxci_failure_of_thread(mxc_status code);
/* From a text; NULL: the code's own. */
mxci_failure *mxci_failure_of_text(mxc_status code, const char *text);
mxci_failure *mxci_failure_retain(mxci_failure *failure); /* NULL is fine; returns failure */
void mxci_failure_release(mxci_failure *failure);         /* NULL is fine */
/* Of two, the one that was made first; each may be NULL. */
mxci_failure *mxci_failure_earlier(mxci_failure *a, mxci_failure *b);
/* Make it the calling thread's last error and return its code; NULL: MXC_OK. */
mxc_status mxci_failure_raise(const mxci_failure *failure);

#endif
