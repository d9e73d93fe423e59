/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_group_adagrad_update. */
#include <math.h>

#include "operator/update/update_reference.h"

static void ref_adagrad(const op_run *r) {
    const double lr = case_number(r, "lr", 0), epsilon = case_number(r, "epsilon", 1e-5);
    const int64_t rows = r->in_shape[0].dim[0], n = case_size(&r->in_shape[0]);
    for (int64_t row = 0; n > 0 && row < rows; row++) {
        const int64_t width = n / rows;
        double mean = 0;
        for (int64_t i = row * width; i < (row + 1) * width; i++)
            mean += pow(case_clipped_gradient(r, r->in[1][i]), 2) / (double)width;
        r->aux[0][row] += mean;
        for (int64_t i = row * width; i < (row + 1) * width; i++)
            r->out[0][i] = r->in[0][i] - lr * case_clipped_gradient(r, r->in[1][i]) / sqrt(r->aux[0][row] + epsilon);
    }
}

static const op_case cases[] = {
    UPDATE("_contrib_group_adagrad_update", "lr=0.1; lr=0.5 rescale_grad=0.5 clip_gradient=0.2 epsilon=0.01",
           "3x5 3x5 3x1@0.1:1; 1x1 1x1 1x1; 7 7 7; 0x3 0x3 0x1; 3x0 3x0 3x1; 2x3x4 2x3x4 2x1x1; 17x1 17x1 17x1; "
           "1x17 1x17 1x1; 3x129 3x129 3x1; 2x3x2x5 2x3x2x5 2x1x1x1; 300x40 300x40 300x1; 5x9@-1:1n 5x9@-1:1f 5x1",
           ref_adagrad),
    INFERS("_contrib_group_adagrad_update", "lr=1", "?,2x3,? -> ? => 2x3,2x3,2x1 -> 2x3"),
    INFERS("_contrib_group_adagrad_update", "lr=1", "?,?,? -> 4x3x2 => 4x3x2,4x3x2,4x1x1 -> 4x3x2"),
    FAILS("_contrib_group_adagrad_update", "lr=1", "2x3 2x3 2x3", MXC_ESHAPE, "auxiliary state 'history'"),
    FAILS("_contrib_group_adagrad_update", "lr=1", "s s s", MXC_ESHAPE, "weight has no axes"),
    FAILS("_contrib_group_adagrad_update", "", "2x3 2x3 2x1", MXC_EINVAL, "lr"),
};

MXC_CASES(update_adagrad_cases, cases);
