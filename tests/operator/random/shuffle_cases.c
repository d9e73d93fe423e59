/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _shuffle: where all rows are alike, so that the order does not show; and of any. test_sample.c has the
 * orders. */
#include "operator/cases.h"

static void make_rows_alike(const op_run *r) {
    const int64_t rows = r->in_shape[0].ndim > 0 ? r->in_shape[0].dim[0] : 1, n = case_size(&r->in_shape[0]);
    for (int64_t i = 0; i < n; i++)
        r->in[0][i] = r->in[0][i % (n / rows)];
}

static const op_case cases[] = {
    {.op = "_shuffle", .in = "3x5" CASE_EACH(CASE_ONE), .reference = case_copy, .prepare = make_rows_alike},
    {.op = "_shuffle", .in = "4x5" CASE_EACH(CASE_ONE), .flags = CASE_RANDOM | CASE_NO_GRADIENT},
    INFERS("_shuffle", "", "2x3 -> ? => 2x3 -> 2x3"),
    INFERS("_shuffle", "", "? -> 2x3 => 2x3 -> 2x3"),
};

MXC_CASES(random_shuffle_cases, cases);
