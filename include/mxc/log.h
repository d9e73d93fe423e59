/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages: the callback that receives them, and the least level that is logged. */
#ifndef MXC_LOG_H
#define MXC_LOG_H

#include <mxc/export.h>

typedef enum mxc_log_level {
    MXC_LOG_DEBUG = 0,
    MXC_LOG_INFO = 1,
    MXC_LOG_WARNING = 2,
    MXC_LOG_ERROR = 3
} mxc_log_level;

/** Receives one message, without newline. Called on the thread that logs, which may be any; must not call the library.
 *  @thread any
 */
typedef void (*mxc_log_fn)(mxc_log_level level, const char *message, void *user);

/** Replace the callback; NULL restores the default, which writes to stderr. The former one may still be called for a
 * moment by other threads. Thread-safe.
 * @param[null] fn  the callback
 */
MXC_API void mxc_set_logger(mxc_log_fn fn, void *user);

/** Drop messages below this level; the default is MXC_LOG_WARNING, or the option MXC_LOG_LEVEL (0 to 3).
 *  Thread-safe. */
MXC_API void mxc_set_log_level(mxc_log_level level);

#endif
