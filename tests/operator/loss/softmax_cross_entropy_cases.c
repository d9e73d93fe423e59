/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of softmax_cross_entropy. */
#include <math.h>

#include "operator/index/index_reference.h"

static void ref_cross_entropy(const op_run *r) {
    int64_t k = r->in_shape[0].dim[1];
    for (int64_t i = 0; i < r->in_shape[0].dim[0]; i++) {
        const double *x = r->in[0] + i * k;
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < k; j++)
            most = fmax(most, x[j]);
        for (int64_t j = 0; j < k; j++)
            sum += exp(x[j] - most);
        r->out[0][0] += log(sum) + most - x[case_index_position(r, r->in[1][i], k)];
    }
}

#define CROSS_ENTROPY(shapes) \
    { .op = "softmax_cross_entropy", .in = shapes, .constant = 2, .reference = ref_cross_entropy, .tolerance = 4 }

static const op_case cases[] = {
    CROSS_ENTROPY("3x4@-2:2 3@0:3i; 7x1 7@0:0; 1x7 1; 65x3 65@0:2i; 129x2 129@0:1i; 3x129 3; 17x2 17@0:1i; 33x5 33; "
                  "2x2 2@0:1i; 64x4 64; 0x9 0; 1x2 1@0:1i; 5x9@-2:2nf 5; 9x6 9@0:5i; 6x11 6"),
    CROSS_ENTROPY("1x1 1@0:0.5"),
    CROSS_ENTROPY("1x9@-9:9 1@4:5"),
    CROSS_ENTROPY("2x700@-4:4 2@0:699i"),
    CROSS_ENTROPY("40x110@-4:4 40@0:109i"),
    CROSS_ENTROPY("0x3 0"),
    FAILS("softmax_cross_entropy", "", "3x4 4", MXC_ESHAPE, "argument 'label': expected shape (3,), found (4,)"),
    FAILS("softmax_cross_entropy", "", "3x0 3", MXC_ESHAPE, "argument 'data': axis 1 has no elements"),
    FAILS("softmax_cross_entropy", "", "3 3", MXC_ESHAPE, "argument 'data': expected shape"),
    INFERS("softmax_cross_entropy", "", "?x4,5 -> ? => 5x4,5 -> 1"),
};

MXC_CASES(loss_softmax_cross_entropy_cases, cases);
