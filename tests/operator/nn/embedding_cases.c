/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Embedding. */
#include <math.h>

#include "operator/cases.h"

static int64_t row_of(const op_run *r, int64_t i) {
    double row = fmin(fmax(r->in[0][i], 0), (double)r->in_shape[1].dim[0] - 1);
    return (int64_t)row;
}

static void ref_embedding(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[1][row_of(r, i / columns) * columns + i % columns];
}

static void grad_embedding(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->in_grad[1][row_of(r, i / columns) * columns + i % columns] += r->out_grad[0][i];
}

#define EMBEDDING(given, shapes)                                                                     \
    {                                                                                                \
        .op = "Embedding", .params = given, .in = shapes, .constant = 1, .reference = ref_embedding, \
        .gradient = grad_embedding, .tolerance = 4                                                   \
    }

static const op_case cases[] = {
    EMBEDDING("input_dim=5 output_dim=3 sparse_grad=True; input_dim=5 output_dim=3 sparse_grad=False", "2x4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3", "4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3", "2x3@0:4i 5x3; 1 5x3; 7x1 5x3; 0 5x3; 2x3x4 5x3; 65 5x3; 1x1 5x3; "
                                          "2x1x3x1x2 5x3; 129 5x3; 17 5x3; s 5x3; 9 5x3@-1:1nf"),
    EMBEDDING("input_dim=5 output_dim=1", "s@3:4i 5x1"),
    EMBEDDING("input_dim=4 output_dim=7", "9@0:3i 4x7"),
    EMBEDDING("input_dim=30 output_dim=130", "3x50@0:29i 30x130"),
    EMBEDDING("input_dim=3 output_dim=600", "70@0:2i 3x600@-0.5:0.5"),
    EMBEDDING("input_dim=5 output_dim=3 dtype=float64", "4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3 dtype=float16", "4@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3 dtype=bfloat16", "6@0:4i 5x3"),
    EMBEDDING("input_dim=5 output_dim=3", "0x2 5x3"),
    FAILS("Embedding", "input_dim=5 output_dim=3", "4 5x4", MXC_ESHAPE, "argument 'weight': expected shape (5,3)"),
    FAILS("Embedding", "input_dim=5", "4 5x4", MXC_EINVAL, "\"output_dim\" is missing"),
    FAILS("Embedding", "input_dim=5 output_dim=3 dtype=int32", "4 5x3", MXC_EINVAL, "dtype is int32"),
    FAILS("Embedding", "input_dim=5 output_dim=3", "1x1x1x1x1x1x1x1 5x3", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("Embedding", "input_dim=5 output_dim=3", "?,? -> 4x2x? => 4x2,5x3 -> 4x2x3"),
};

MXC_CASES(nn_embedding_cases, cases);
