/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes and the calling thread's last error message.
 *
 * Every call that can fail returns mxc_status and, on failure, leaves a message in thread-local storage that says what
 * was expected, what was found and where. Nothing allocates on this path. The message of a function that the engine
 * runs on another thread is returned by the waits for its result. All calls are thread-safe.
 */
#ifndef MXC_STATUS_H
#define MXC_STATUS_H

#include <mxc/export.h>

typedef enum mxc_status {
#define MXC_STATUS(name, value, text) name = value,
#include <mxc/status.def>
#undef MXC_STATUS
    MXC_STATUS_FORCE_INT = 0x7fffffff
} mxc_status;

/** Longest message kept, in bytes with its terminator; longer ones are truncated. */
#define MXC_ERROR_MAX 512

/** Name of a code, such as "MXC_ESHAPE"; "MXC_UNKNOWN" for any other number. Never NULL. */
MXC_API const char *mxc_status_name(mxc_status status);

/** One-line meaning of a code. Never NULL. */
MXC_API const char *mxc_status_text(mxc_status status);

/** Message of the calling thread's last failed call, "" if none failed. Never NULL. Valid until that
 *  thread's next failing call. */
MXC_API const char *mxc_last_error(void);

/** Source place "file:line" where the last error was raised, "" if none. Never NULL. */
MXC_API const char *mxc_last_error_place(void);

/**
 * Record an error of the calling thread and return its code, for operators and engine functions of the program:
 *   return MXC_FAIL(MXC_ESHAPE, "mine: data has %d axes, expected 2", ndim);
 * @param[null] file  where the error was raised, with line: shown by mxc_last_error_place
 * @param[null] format  of printf, for the arguments behind it
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_fail_at(const char *file, int line, mxc_status code, const char *format, ...)
    MXC_PRINTF(4, 5);
#define MXC_FAIL(...) mxc_fail_at(__FILE__, __LINE__, __VA_ARGS__)

/** Propagate an error: return expr's status from the enclosing function if it is not MXC_OK. */
#define MXC_TRY(expr)                        \
    do {                                     \
        mxc_status mxc_try_status_ = (expr); \
        if (mxc_try_status_ != MXC_OK)       \
            return mxc_try_status_;          \
    } while (0)

/** Ignore an error on purpose: gcc warns of a status that is not used even if it is cast to void. */
#define MXC_IGNORE(expr)                         \
    do {                                         \
        mxc_status mxc_ignored_status_ = (expr); \
        (void)mxc_ignored_status_;               \
    } while (0)

#endif
