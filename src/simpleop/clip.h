/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of clip and hard_sigmoid. */
#ifndef MXCI_SIMPLEOP_CLIP_H
#define MXCI_SIMPLEOP_CLIP_H

/* The two numbers: limits, or factor and offset. */
typedef struct mxci_clip_params {
    double first, second;
} mxci_clip_params;

#endif
