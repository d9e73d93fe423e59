/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of add_n. */
#include "operator/cases.h"

static void ref_add_n(const op_run *r) {
    for (int64_t j = 0; j < case_size(&r->out_shape[0]); j++) {
        r->out[0][j] = 0;
        for (int i = 0; i < r->n_in; i++)
            r->out[0][j] += r->in[i][j];
    }
}

#define ADD_N(given, shapes) \
    { .op = "add_n", .params = given, .in = shapes, .reference = ref_add_n }

static const op_case cases[] = {
    ADD_N("num_args=1", "2x3"),
    ADD_N("num_args=2", "2x3 2x3" CASE_EACH(CASE_TWO) "; 5x9@-1:1nf 5x9@-1:1nf"),
    ADD_N("num_args=5", "40x50 40x50 40x50 40x50 40x50"),
    ADD_N("num_args=3", "0x3 0x3 0x3"),
    FAILS("add_n", "num_args=2", "2x3 3x2", MXC_ESHAPE, "arg1"),
    INFERS("ElementWiseSum", "num_args=3", "?x3,2x?,? -> ? => 2x3,2x3,2x3 -> 2x3"),
};

MXC_CASES(tensor_add_n_cases, cases);
