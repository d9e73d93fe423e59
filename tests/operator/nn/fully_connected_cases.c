/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of FullyConnected and _fc_relu. */
#include "operator/cases.h"

static void ref_fc(const op_run *r) {
    int64_t h = r->in_shape[1].dim[0], k = r->in_shape[1].dim[1], n = case_size(&r->out_shape[0]) / h;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < h; j++) {
            double sum = r->n_in > 2 ? r->in[2][j] : 0;
            for (int64_t p = 0; p < k; p++)
                sum += r->in[0][i * k + p] * r->in[1][j * k + p];
            r->out[0][i * h + j] = sum;
        }
}

static void ref_fc_relu(const op_run *r) {
    ref_fc(r);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->out[0][i] < 0 ? 0 : r->out[0][i];
}

static void grad_fc(const op_run *r) {
    int64_t h = r->in_shape[1].dim[0], k = r->in_shape[1].dim[1], n = case_size(&r->out_shape[0]) / h;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < h; j++) {
            double g = r->out_grad[0][i * h + j];
            for (int64_t p = 0; p < k; p++) {
                r->in_grad[0][i * k + p] += g * r->in[1][j * k + p];
                r->in_grad[1][j * k + p] += g * r->in[0][i * k + p];
            }
            if (r->n_in > 2)
                r->in_grad[2][j] += g;
        }
}

#define FC(given, shapes) \
    { .op = "FullyConnected", .params = given, .in = shapes, .reference = ref_fc, .gradient = grad_fc }
#define FC_RELU(given, shapes) \
    { .op = "_fc_relu", .params = given, .in = shapes, .flags = CASE_NO_GRADIENT, .reference = ref_fc_relu }

static const op_case cases[] = {
    FC("num_hidden=1", "1x1 1x1 1"),
    FC("num_hidden=3", "2x5 3x5 3; 1x1 3x1 3; 7x2 3x2 3; 0x2 3x2 3; 2x2x2 3x4 3; 65x3 3x3 3; 4x5@-1:1n 3x5 3"),
    FC("num_hidden=7 no_bias=True", "5x9 7x9"),
    FC("num_hidden=16", "6x16 16x16 16"),
    FC("num_hidden=17", "7x33 17x33 17"),
    FC("num_hidden=10", "64x20 10x20 10"),
    FC("num_hidden=65", "13x70 65x70 65"),
    FC("num_hidden=130", "3x8 130x8 130"),
    FC("num_hidden=1", "4x600 1x600 1"),
    FC("num_hidden=5", "1x1100@-0.5:0.5 5x1100 5"),
    FC("num_hidden=2", "300x3 2x3 2"),
    FC("num_hidden=4", "3x2x3x2 4x12 4"),
    FC("num_hidden=4", "5 4x1 4"),
    FC("num_hidden=4", "0x3 4x3 4"),
    FC("num_hidden=4", "3x0 4x0 4"),
    FC("num_hidden=48", "50x40@-0.3:0.3 48x40@-0.3:0.3 48"),
    FC("num_hidden=4 flatten=False", "2x3x5 4x5 4"),
    FC("num_hidden=3 flatten=False no_bias=True", "2x4x1x6 3x6"),
    FC_RELU("num_hidden=3", "2x5 3x5 3; 1x1 3x1 3; 0x2 3x2 3; 2x2x2 3x4 3; 65x3 3x3 3; 4x5@-1:1n 3x5 3; 3x0 3x0 3"),
    FC_RELU("num_hidden=7 no_bias=True", "5x9 7x9; 33x4 7x4"),
    FC_RELU("num_hidden=4 flatten=False", "2x3x5 4x5 4"),
    FAILS("_fc_relu", "num_hidden=3", "2x5 3x4 3", MXC_ESHAPE, "weight"),
    FAILS("FullyConnected", "num_hidden=2 flatten=False", "7 2x7 2", MXC_ESHAPE, "at least 2 axes, found 1"),
    FC("num_hidden=2 flatten=False", "3x0x4 2x4 2"),
    FAILS("FullyConnected", "num_hidden=3 flatten=False", "2x5x4 3x20 3", MXC_ESHAPE, "weight"),
    INFERS("FullyConnected", "num_hidden=4 flatten=False", "8x3x5,?,? -> ? => 8x3x5,4x5,4 -> 8x3x4"),
    INFERS("FullyConnected", "num_hidden=4 flatten=False", "?x3x?,4x7,? -> 9x?x? => 9x3x7,4x7,4 -> 9x3x4"),
    INFERS("FullyConnected", "num_hidden=4 flatten=False", "?,?,? -> ? => ?,4x?,4 -> ?"),
    FAILS("FullyConnected", "num_hidden=3", "2x5 3x4 3", MXC_ESHAPE, "weight"),
    FAILS("FullyConnected", "num_hidden=3", "2x5 3x5 4", MXC_ESHAPE, "bias"),
    FAILS("FullyConnected", "num_hidden=3", "s 3x5 4", MXC_ESHAPE, "data"),
    FAILS("FullyConnected", "num_hidden=0", "2x5 3x5 4", MXC_EINVAL, "num_hidden"),
    FAILS("FullyConnected", "no_bias=True", "2x5 3x5", MXC_EINVAL, "num_hidden"),
    INFERS("FullyConnected", "num_hidden=4", "8x3x5,?,? -> ? => 8x3x5,4x15,4 -> 8x4"),
    INFERS("FullyConnected", "num_hidden=4", "?x?,4x7,? -> 9x? => 9x7,4x7,4 -> 9x4"),
    INFERS("FullyConnected", "num_hidden=4", "?,?,? -> ? => ?,4x?,4 -> ?x4"),
};

MXC_CASES(nn_fully_connected_cases, cases);
