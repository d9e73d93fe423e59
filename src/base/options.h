/* SPDX-License-Identifier: Apache-2.0 */
/* Options from the environment, listed in options.def. */
#ifndef MXCI_BASE_OPTIONS_H
#define MXCI_BASE_OPTIONS_H

#include <stdint.h>

typedef enum mxci_option {
#define MXCI_OPTION(name, initial, minimum, maximum, text) MXCI_OPT_##name,
#include "base/options.def"
    MXCI_OPT_COUNT
} mxci_option;

typedef enum mxci_text_option {
#define MXCI_TEXT_OPTION(name, text) MXCI_TEXT_##name,
#include "base/options.def"
    MXCI_TEXT_COUNT
} mxci_text_option;

/* The option's value, as it was in the environment at the first call. Thread-safe. Does not block. */
int64_t mxci_option_get(mxci_option option);

/* A text option's current value; NULL if it is not set or empty. */
const char *mxci_option_text(mxci_text_option option);
const char *mxci_option_text_name(mxci_text_option option); /* of its environment variable */

/* Parse text as the option's value. Returns 0, with the default in *out, if it is not an integer or out of range. */
int mxci_option_parse(mxci_option option, const char *text, int64_t *out);

#endif
