/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the profiler share. */
#ifndef MXNET_PROFILE_H
#define MXNET_PROFILE_H

#include "compat/mxnet.h"

/** Statistics of what has one name in one category; times in milliseconds, of counters their values. */
typedef struct mxnet_profile_entry {
    const char *category;
    char name[48];
    uint64_t count;
    double total, least, most;
} mxnet_profile_entry;

/** Discard what was recorded. */
int mxnet_profile_clear(void);
/** Copy the statistics of up to `room` counters; returns how many there are. */
size_t mxnet_profile_counters(size_t room, mxnet_profile_entry *entries);

#endif
