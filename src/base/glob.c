/* SPDX-License-Identifier: Apache-2.0 */
/* Glob patterns of names. */
#include "base/glob.h"

#include <stddef.h>

/* After a mismatch, the last * stands for one more character; earlier ones need not be tried again. */
int mxci_glob_match(const char *pattern, const char *text) {
    const char *behind_star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            behind_star = ++pattern;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (behind_star) {
            pattern = behind_star;
            text = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
