/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages: to the callback set by mxc_set_logger, else to stderr. Never to stdout. */
#ifndef MXCI_BASE_LOG_H
#define MXCI_BASE_LOG_H

#include <mxc/log.h>

/* Dropped if level is below the one set. The callback is called on this thread, without a lock held. Thread-safe. */
void mxci_log(mxc_log_level level, const char *format, ...) MXC_PRINTF(2, 3);

#endif
