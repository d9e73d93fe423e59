/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the examples that train: stopping on request. Not part of the library. */
#ifndef MXC_EXAMPLES_TRAINING_H
#define MXC_EXAMPLES_TRAINING_H

#include <signal.h>

#include "example.h"

static volatile int stop; /* the signal received, for mxc_fit_options.stop */

static void on_signal(int number) {
    stop = number;
}

static inline void catch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND; /* a second Ctrl-C ends at once */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* An option that was not given is empty; the library expects NULL. */
static inline const char *text_or_null(const char *text) {
    return text[0] != '\0' ? text : NULL;
}

#endif
