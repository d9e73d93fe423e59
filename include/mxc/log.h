/* Where the library's messages for people go. */
#ifndef MXC_LOG_H
#define MXC_LOG_H

#include <mxc/export.h>

typedef enum mxc_log_level {
    MXC_LOG_DEBUG = 0,
    MXC_LOG_INFO = 1,
    MXC_LOG_WARNING = 2,
    MXC_LOG_ERROR = 3
} mxc_log_level;

/** Receives one message, without newline. May be called from any thread; must not call back into the library. */
typedef void (*mxc_log_fn)(mxc_log_level level, const char *message, void *user);

/** Replace the receiver; NULL restores the default, which writes warnings and errors to stderr. Thread-safe. */
MXC_API void mxc_set_logger(mxc_log_fn fn, void *user);

/** Drop messages below this level; the default is MXC_LOG_WARNING, or the option MXC_LOG_LEVEL (0 to 3).
 *  Thread-safe. */
MXC_API void mxc_set_log_level(mxc_log_level level);

#endif
