/* About the calling thread's last error, beyond <mxc/status.h>. */
#ifndef MXCI_BASE_ERROR_H
#define MXCI_BASE_ERROR_H

/* How many errors this thread has recorded, so that a caller can tell a fresh message from an old one. */
unsigned mxci_error_count(void);

#endif
