/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _sample_unique_zipfian: where there is one class; and of any. test_sample.c has the distribution. */
#include "operator/cases.h"

static void ref_single(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[1]); i++)
        r->out[1][i] = r->out_shape[0].dim[1];
}

static const op_case cases[] = {
    RUN("_sample_unique_zipfian",
        "range_max=1 shape=(1,1); range_max=1 shape=(7,1); range_max=1 shape=(0,1); range_max=1 shape=(3,0); "
        "range_max=1000 shape=(5,0); range_max=1 shape=(700,1)",
        "", ref_single),
    {.op = "_sample_unique_zipfian",
     .params = "range_max=20 shape=(2,8); range_max=5 shape=(1,5); range_max=2 shape=(64,2); range_max=3 shape=(65,1); "
               "range_max=1000 shape=(1,100); range_max=100000 shape=(3,700); range_max=2147483647 shape=(4,5); "
               "range_max=7 shape=(17,3); range_max=9 shape=(3,1); range_max=50 shape=(2,2); range_max=4 shape=(1,4); "
               "range_max=4 shape=(5,2); range_max=6 shape=(0,4); range_max=30 shape=(129,4)",
     .in = "",
     .flags = CASE_RANDOM},
    INFERS("_sample_unique_zipfian", "range_max=9 shape=(2,3)", "-> ?,? => -> 2x3,2"),
    FAILS("_sample_unique_zipfian", "range_max=9 shape=3", "", MXC_EINVAL, "shape has 1 axes"),
    FAILS("_sample_unique_zipfian", "range_max=9 shape=(2,10)", "", MXC_EINVAL, "10 different classes"),
    FAILS("_sample_unique_zipfian", "range_max=0 shape=(2,0)", "", MXC_EINVAL, "range_max"),
    FAILS("_sample_unique_zipfian", "shape=(2,3)", "", MXC_EINVAL, "range_max"),
};

MXC_CASES(random_zipfian_cases, cases);
