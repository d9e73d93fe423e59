/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of IdentityAttachKLSparseReg. */
#include "operator/cases.h"

static void ref_sparse(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1, count;
    double keep = case_number(r, "momentum", 0.9);
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    count = s->dim[0] * inner;
    for (int64_t i = 0; i < case_size(s); i++)
        r->out[0][i] = r->in[0][i];
    for (int64_t c = 0; c < s->dim[1]; c++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += r->in[0][(i / inner * s->dim[1] + c) * inner + i % inner];
        if (r->is_train && count > 0)
            r->aux[0][c] = keep * r->aux[0][c] + (1 - keep) * sum / (double)count;
        r->out[1][c] = r->aux[0][c];
    }
}

static void grad_sparse(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t inner = 1;
    double target = case_number(r, "sparseness_target", 0.1), penalty = case_number(r, "penalty", 0.001);
    for (int i = 2; i < s->ndim; i++)
        inner *= s->dim[i];
    for (int64_t i = 0; i < case_size(s); i++) {
        double a = r->out[1][i / inner % s->dim[1]];
        r->in_grad[0][i] = r->out_grad[0][i] + penalty * (-target / a + (1 - target) / (1 - a));
    }
}

#define SPARSE(given, shapes, options)                                                                               \
    {                                                                                                                \
        .op = "IdentityAttachKLSparseReg", .params = given, .in = shapes, .flags = options, .reference = ref_sparse, \
        .gradient = grad_sparse                                                                                      \
    }

static const op_case cases[] = {
    SPARSE("",
           "4x3@0.1:0.9 3@0.2:0.8; 7x1 1; 1x7 7; 65x2 2; 2x3x4 3; 5x2x1x3 2; 17x5 5; 2x1x3x1x2 1; 33x3 3; 1x1 1; "
           "3x129 129; 9x9 9; 2x65 65",
           CASE_TRAIN),
    SPARSE("", "4x3@0.1:0.9 3@0.2:0.8", 0),
    SPARSE("penalty=0.5 sparseness_target=0.3", "5x2x3x4@0.1:0.9 2@0.2:0.8", CASE_TRAIN),
    SPARSE("momentum=0 penalty=0.1", "7x1@0.1:0.9 1@0.2:0.8", CASE_TRAIN),
    SPARSE("momentum=1 penalty=0.1", "1x9@0.1:0.9 9@0.2:0.8", CASE_TRAIN),
    SPARSE("penalty=0.2", "33x130@0.1:0.9 130@0.2:0.8", CASE_TRAIN),
    SPARSE("penalty=0", "2x3x5@-3:3 3@0.2:0.8", 0),
    SPARSE("", "0x3@0.1:0.9 3@0.2:0.8", CASE_TRAIN),
    FAILS("IdentityAttachKLSparseReg", "", "4 4", MXC_ESHAPE, "expected at least 2 axes, found 1"),
    FAILS("IdentityAttachKLSparseReg", "momentum=2", "4x3 3", MXC_EINVAL, "momentum"),
    FAILS("IdentityAttachKLSparseReg", "", "4x3 4", MXC_ESHAPE, "moving_avg"),
    INFERS("IdentityAttachKLSparseReg", "", "?,? -> 2x3x4,? => 2x3x4,3 -> 2x3x4,3"),
};

MXC_CASES(nn_identity_kl_sparse_reg_cases, cases);
