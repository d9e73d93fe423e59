/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _random_randint: where there is one number to draw; and of any. test_sample.c has the distribution. */
#include "operator/cases.h"

static void ref_randint(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = case_number(r, "low", 0);
}

static const op_case cases[] = {
    RUN("_random_randint", CASE_SHAPED("low=-7 high=-6 "), "", ref_randint),
    RUN("_random_randint",
        "low=5 high=6 dtype=int32 shape=(2,3); low=2147483647 high=2147483648 shape=4; "
        "low=-2147483648 high=-2147483647 shape=4; low=4294967296 high=4294967297 dtype=int64 shape=(3,1,7)",
        "", ref_randint),
    {.op = "_random_randint", .params = CASE_SHAPED("low=-3 high=1000 "), .in = "", .flags = CASE_RANDOM},
    INFERS("_random_randint", "low=0 high=2", "-> 2x3 => -> 2x3"),
    INFERS("_random_randint", "low=0 high=2 shape=(2,3)", "-> ? => -> 2x3"),
    FAILS("_random_randint", "low=3 high=3 shape=2", "", MXC_EINVAL, "expected low < high"),
    FAILS("_random_randint", "low=0 high=4294967296 shape=2", "", MXC_EINVAL, "int32 does not hold"),
    FAILS("_random_randint", "low=-2147483649 high=0 dtype=int32 shape=2", "", MXC_EINVAL, "int32 does not hold"),
    FAILS("_random_randint", "high=3 shape=2", "", MXC_EINVAL, "low"),
    FAILS("_random_randint", "low=0 high=3 shape=2 dtype=float32", "", MXC_EDTYPE, "float32"),
};

MXC_CASES(random_randint_cases, cases);
