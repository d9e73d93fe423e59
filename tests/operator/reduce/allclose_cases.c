/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_allclose. */
#include <math.h>

#include "operator/cases.h"

static void ref_allclose(const op_run *r) {
    const double rtol = case_number(r, "rtol", 1e-5), atol = case_number(r, "atol", 1e-8);
    r->out[0][0] = 1;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        const double a = r->in[0][i], b = r->in[1][i];
        int close = fabs(a - b) <= atol + rtol * fabs(b);
        if (isnan(a) || isnan(b))
            close = isnan(a) && isnan(b) && !case_is(r, "equal_nan", "False");
        if (isinf(a) || isinf(b))
            close = a == b;
        r->out[0][0] = close ? r->out[0][0] : 0;
    }
}

/* The same values in both. */
static void make_equal(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in[1][i] = r->in[0][i];
}

/* The same but for the last. */
static void make_unequal(const op_run *r) {
    make_equal(r);
    if (case_size(&r->in_shape[0]) > 0)
        r->in[1][case_size(&r->in_shape[0]) - 1] += 3;
}

static const op_case cases[] = {
    {.op = "_contrib_allclose",
     .in = "3x5 3x5" CASE_EACH(CASE_TWO) "; 9x11@-1:1nf 9x11@-1:1nf; 150x301 150x301",
     .reference = ref_allclose,
     .prepare = make_equal},
    {.op = "_contrib_allclose",
     .in = "3x5 3x5; s s; 1031 1031; 150x301 150x301",
     .reference = ref_allclose,
     .prepare = make_unequal},
    {.op = "_contrib_allclose",
     .params = "atol=20; rtol=9 atol=0.5; equal_nan=False",
     .in = "3x5 3x5; 7 7@1:2; 9x11@-1:1n 9x11@-1:1",
     .reference = ref_allclose},
    FAILS("_contrib_allclose", "", "2x3 3x2", MXC_ESHAPE, "expected shape (2,3), found (3,2)"),
    INFERS("_contrib_allclose", "", "2x?,?x3 -> ? => 2x3,2x3 -> s"),
};

MXC_CASES(reduce_allclose_cases, cases);
