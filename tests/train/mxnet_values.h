/* SPDX-License-Identifier: Apache-2.0 */
/* Values that MXNet 1.9.1 gave (make_values.py). */
#ifndef MXC_TESTS_TRAIN_MXNET_VALUES_H
#define MXC_TESTS_TRAIN_MXNET_VALUES_H

#include "support.h"

/* Reads the values of a case, at most `most`; returns how many there are. */
static inline int mxnet_values(const char *name, int most, double *out) {
    static char line[16384];
    FILE *file = fopen(MXC_SOURCE_DIR "/tests/train/mxnet_values.txt", "r");
    const size_t length = strlen(name);
    int n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, name, length) != 0 || line[length] != ' ')
            continue;
        for (char *at = line + length, *end; n < most; at = end, n++) {
            out[n] = strtod(at, &end);
            if (end == at)
                break;
        }
    }
    fclose(file);
    assert_true(n > 0);
    return n;
}

#endif
