/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and arithmetic of the operators for scaled losses, for every device. */
#ifndef MXCI_OPERATOR_UPDATE_LOSS_SCALE_H
#define MXCI_OPERATOR_UPDATE_LOSS_SCALE_H

#include <stdint.h>

#include "math/loop.h"

typedef struct mxci_finite_params {
    int64_t num_arrays;
    int32_t init_output;
} mxci_finite_params;

typedef struct mxci_loss_scale_params {
    int64_t interval;
} mxci_loss_scale_params;

#define MXCI_LEAST_LOSS_SCALE 1.0f
#define MXCI_MOST_LOSS_SCALE 16777216.0f

/* One step of a state {scale, good steps in a row}; the factor on gradients that were made with the scale. */
MXCI_SCALAR float mxci_loss_scale_step(int is_finite, int64_t interval, float *state) {
    const float factor = is_finite ? 1 / state[0] : 0;
    if (!interval)
        return factor;
    state[1] = is_finite ? state[1] + 1 : 0;
    if (!is_finite)
        state[0] = state[0] / 2 > MXCI_LEAST_LOSS_SCALE ? state[0] / 2 : MXCI_LEAST_LOSS_SCALE;
    if (state[1] >= (float)interval) {
        state[0] = state[0] * 2 < MXCI_MOST_LOSS_SCALE ? state[0] * 2 : MXCI_MOST_LOSS_SCALE;
        state[1] = 0;
    }
    return factor;
}

#endif
