/* SPDX-License-Identifier: Apache-2.0 */
/* Log messages: the level, the callback that receives them, and the default one. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>

#include "base/options.h"
#include "base/sys.h"
#include "base/text.h"

static mxci_global_mutex lock = MXCI_GLOBAL_MUTEX_INIT; /* guards callback and callback_user */
static mxc_log_fn callback;
static void *callback_user;
static atomic_int chosen_level = -1; /* -1: that of the option */

void mxc_set_logger(mxc_log_fn fn, void *user) {
    mxci_global_lock(&lock);
    callback = fn;
    callback_user = user;
    mxci_global_unlock(&lock);
}

void mxc_set_log_level(mxc_log_level level) {
    atomic_store(&chosen_level, (int)level);
}

/* One write per message, so that lines of several threads do not interleave. */
static void write_default(mxc_log_level level, const char *message) {
    static const char *const names[] = {"debug", "info", "warning", "error"};
    char text[1100];
    mxci_line line = {text, sizeof text, 0};
    mxci_line_printf(&line, "mxc: %s: %s\n", names[level], message);
    mxci_stderr_write(text, line.length);
}

/* The callback is called without the lock, so that it may block, and so that logging threads do not wait for each
 * other. */
void mxci_log(mxc_log_level level, const char *format, ...) {
    char message[1024];
    va_list args;
    mxc_log_fn fn;
    void *user;
    int chosen = atomic_load(&chosen_level);
    if ((int)level < (chosen >= 0 ? chosen : (int)mxci_option_get(MXCI_OPT_MXC_LOG_LEVEL)))
        return;
    va_start(args, format);
    mxci_vformat(message, sizeof message, format, args);
    va_end(args);
    mxci_global_lock(&lock);
    fn = callback;
    user = callback_user;
    mxci_global_unlock(&lock);
    if (fn)
        fn(level, message, user);
    else
        write_default(level, message);
}
