/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, sleeping, and the environment. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/sys.h"

int64_t mxci_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void mxci_sleep_ns(int64_t duration) {
    int64_t end = mxci_now_ns() + duration;
    struct timespec until = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
    if (duration <= 0)
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* Of a set-uid process the user controls the environment, and could name a module to load. */
const char *mxci_getenv(const char *name) {
    return secure_getenv(name);
}
