/* Messages for people: to the callback set by mxc_set_logger, else to stderr. Never to stdout. */
#ifndef MXCI_BASE_LOG_H
#define MXCI_BASE_LOG_H

#include <mxc/log.h>

void mxci_log(mxc_log_level level, const char *format, ...) MXC_PRINTF(2, 3);

#endif
