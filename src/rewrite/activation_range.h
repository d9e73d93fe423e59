/* SPDX-License-Identifier: Apache-2.0 */
/* The range of values that an activation takes over a data set, and the bounds to quantize it with. */
#ifndef MXCI_REWRITE_ACTIVATION_RANGE_H
#define MXCI_REWRITE_ACTIVATION_RANGE_H

#include <math.h>
#include <stdint.h>

#include <mxc/status.h>

/* The values observed of one output of a node, or of a variable. */
typedef struct mxci_activation_range {
    float low, high;  /* low > high: none observed */
    float *histogram; /* MXCI_HISTOGRAM bins from -t to t, t the larger absolute value; NULL: not wanted */
} mxci_activation_range;
enum { MXCI_HISTOGRAM = 8001 };

static inline float mxci_activation_range_edge(const mxci_activation_range *range) {
    return fmaxf(fabsf(range->low), fabsf(range->high));
}

void mxci_activation_ranges_free(int32_t n, mxci_activation_range *ranges);
/* The bounds to quantize with: those observed, or those that follow from the histogram. Values must have been observed.
 */
mxc_status mxci_activation_range_bounds(const mxci_activation_range *range, double *low, double *high);

#endif
