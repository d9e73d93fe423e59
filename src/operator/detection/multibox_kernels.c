/* SPDX-License-Identifier: Apache-2.0 */
/* Targets and detections of one image, for f32 and f64: see detection/multibox_kernels.h. */
#include "operator/detection/multibox_kernels.h"

#include <math.h>
#include <string.h>

#include "base/size.h"
#include "math/loop.h"
#include "math/sort_kernels.h"
#include "operator/detection/boxes_kernels.h"

/* The role of an anchor. */
enum { IGNORED, BACKGROUND, OBJECT };

typedef struct anchor_match {
    double overlap; /* with the label */
    int64_t label;  /* -1: none */
    int64_t kind;
} anchor_match;

/* The best anchor for a label among those not yet assigned. */
typedef struct label_match {
    double overlap;
    int64_t anchor; /* -1: there is none */
    int64_t done;   /* it has been assigned to the label */
} label_match;

size_t mxci_target_scratch(const mxci_target_shape *s) {
    return mxci_size_add(mxci_size_of(s->anchors, sizeof(anchor_match) + 2 * sizeof(mxci_sort_item)),
                         mxci_size_of(s->labels, sizeof(label_match)));
}

size_t mxci_detection_scratch(const mxci_detection_shape *s) {
    return mxci_size_of(s->anchors, 2 * sizeof(mxci_sort_item) + 2 * sizeof(int64_t));
}

/* *out = the label without an anchor whose candidate overlaps most; returns 0 if there is none. */
static int find_unassigned_label(const label_match *labels, int64_t n, int64_t *out) {
    *out = -1;
    for (int64_t k = 0; k < n; k++) {
        const label_match *m = &labels[k], *best = *out < 0 ? NULL : &labels[*out];
        if (!m->done && m->anchor >= 0 &&
            (!best || m->overlap > best->overlap || (m->overlap == best->overlap && m->anchor < best->anchor)))
            *out = k;
    }
    return *out >= 0;
}

#define BODY "operator/detection/multibox_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"
