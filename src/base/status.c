/* SPDX-License-Identifier: Apache-2.0 */
/* Status names and texts, and the calling thread's last error. */
#include <string.h>

#include <mxc/status.h>

#include "base/error.h"
#include "base/text.h"

static _Thread_local char last_text[MXC_ERROR_MAX];
static _Thread_local char last_place[96];
static _Thread_local unsigned failures;

/* The names and texts are listed once, in mxc/status.def. */
const char *mxc_status_name(mxc_status status) {
    switch ((int)status) {
#define MXC_STATUS(name, value, text) \
    case value:                       \
        return #name;
#include <mxc/status.def>
#undef MXC_STATUS
    default:
        return "MXC_UNKNOWN";
    }
}

const char *mxc_status_text(mxc_status status) {
    switch ((int)status) {
#define MXC_STATUS(name, value, text) \
    case value:                       \
        return text;
#include <mxc/status.def>
#undef MXC_STATUS
    default:
        return "unknown status";
    }
}

const char *mxc_last_error(void) {
    return last_text;
}

const char *mxc_last_error_place(void) {
    return last_place;
}

unsigned mxci_error_count(void) {
    return failures;
}

/* The last directory and the file name of a path: enough to find it, and the same on every build machine. */
static const char *short_path(const char *path) {
    int slashes = 0;
    for (const char *p = path + strlen(path); p > path; p--)
        if (p[-1] == '/' && ++slashes == 2)
            return p;
    return path;
}

/* Allocates nothing, so it can report that there is no memory. */
mxc_status mxc_fail_at(const char *file, int line, mxc_status code, const char *format, ...) {
    char text[MXC_ERROR_MAX]; /* not last_text itself, because an argument may be the last message */
    va_list args;
    va_start(args, format);
    mxci_vformat(text, sizeof text, format ? format : "(no message)", args);
    va_end(args);
    memcpy(last_text, text, strlen(text) + 1);
    mxci_format(last_place, sizeof last_place, "%s:%d", short_path(file ? file : "?"), line);
    failures++;
    return code;
}
