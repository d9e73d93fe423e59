/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Dropout. */
#include "operator/cases.h"

/* Where nothing is dropped: the identity, and a mask of ones. */
static void ref_kept(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
    for (int64_t i = 0; i < case_size(&r->out_shape[1]); i++)
        r->out[1][i] = 1;
}

static const op_case cases[] = {
    {.op = "Dropout",
     .params = "p=0.3",
     .in = "4x5" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf",
     .flags = CASE_NO_GRADIENT,
     .reference = ref_kept},
    {.op = "Dropout", .params = "p=0", .in = "4x5", .flags = CASE_TRAIN, .reference = ref_kept},
    {.op = "Dropout", .params = "p=0", .in = "0x5", .flags = CASE_TRAIN, .reference = ref_kept},
    {.op = "Dropout", .params = "p=0.5", .in = "50x70", .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    {.op = "Dropout",
     .params = "p=0.3 mode=training axes=() cudnn_off=None; p=0.3 axes=(0,2)",
     .in = "4x5x3",
     .flags = CASE_NO_GRADIENT,
     .reference = ref_kept},
    {.op = "Dropout",
     .params = "p=0 axes=(1,)",
     .in = "4x5; 0x5; 3x1x7; 2x3x4",
     .flags = CASE_TRAIN,
     .reference = ref_kept},
    {.op = "Dropout", .params = "p=0 axes=(0,-1) mode=always", .in = "4x5x3; 65x3; 2x3x600", .reference = ref_kept},
    {.op = "Dropout",
     .params = "p=0.5 axes=(1,2)",
     .in = "50x7x10",
     .flags = CASE_TRAIN | CASE_RANDOM | CASE_NO_GRADIENT},
    {.op = "Dropout", .params = "p=0.5 mode=always", .in = "50x70", .flags = CASE_RANDOM | CASE_NO_GRADIENT},
    FAILS("Dropout", "axes=(2,)", "4x5", MXC_ESHAPE, "axis 2"),
    FAILS("Dropout", "mode=never", "4x5", MXC_EINVAL, "mode"),
    INFERS("Dropout", "axes=(1,)", "? -> 2x3x4,? => 2x3x4 -> 2x3x4,2x1x4"),
    FAILS("Dropout", "p=1.5", "4x5", MXC_EINVAL, "p"),
};

MXC_CASES(nn_dropout_cases, cases);
