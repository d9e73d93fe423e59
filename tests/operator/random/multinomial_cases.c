/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _sample_multinomial: of rows with one probability above 0, so that the index is known; and of any.
 * test_sample.c has the distribution. */
#include <math.h>

#include "operator/cases.h"

/* All of row number row is 0 but one element, which is 1, or 0.5 where the row has an even number of elements. */
static int64_t only_index(int64_t row, int64_t k) {
    return (5 * row + 2) % k;
}

static void make_certain(const op_run *r) {
    const int64_t k = case_last_dim(&r->in_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in[0][i] = i % k == only_index(i / k, k) ? (k % 2 ? 1 : 0.5) : 0;
}

static void ref_certain(const op_run *r) {
    const int64_t k = case_last_dim(&r->in_shape[0]), rows = case_size(&r->in_shape[0]) / k;
    const int64_t n = case_size(&r->out_shape[0]);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i / (n / rows);
        r->out[0][i] = (double)only_index(row, k);
        if (r->n_out > 1)
            r->out[1][i] = log(r->in[0][row * k + only_index(row, k)]);
    }
}

/* Of the logarithms, where there are any: the sum of out_grad over the samples, by the probability. */
static void grad_certain(const op_run *r) {
    const int64_t k = case_last_dim(&r->in_shape[0]), rows = case_size(&r->in_shape[0]) / k;
    const int64_t n = r->n_out > 1 && rows > 0 ? case_size(&r->out_shape[1]) : 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i / (n / rows), at = row * k + only_index(row, k);
        r->in_grad[0][at] += r->out_grad[1][i] / r->in[0][at];
    }
}

#define SHAPES(more) \
    "shape=()" more "; shape=4" more "; shape=(2,3)" more "; shape=0" more "; shape=1" more " dtype=float32"
static const op_case cases[] = {
    {.op = "_sample_multinomial",
     .params = SHAPES(" get_prob=true"),
     .in = "3x5@0:1; 7; 1; 2x3x4; 1x1; 0x3; 17x65; 2x1x2x9",
     .reference = ref_certain,
     .gradient = grad_certain,
     .prepare = make_certain},
    {.op = "_sample_multinomial",
     .params = SHAPES("") "; dtype=uint8; dtype=float16 shape=2; dtype=float64 shape=3; dtype=int64",
     .in = "3x5@0:1; 7; 1; 2x3x4",
     .reference = ref_certain,
     .gradient = case_zero_gradient,
     .prepare = make_certain},
    {.op = "_sample_multinomial",
     .params = "shape=400 get_prob=true; shape=(3,700)",
     .in = "3x5@0:1; 64",
     .flags = CASE_RANDOM | CASE_NO_GRADIENT},
    INFERS("_sample_multinomial", "", "2x3 -> ? => 2x3 -> 2"),
    INFERS("_sample_multinomial", "", "3 -> ? => 3 -> 1"),
    INFERS("_sample_multinomial", "shape=(4,5) get_prob=true", "2x3x6 -> ?,? => 2x3x6 -> 2x3x4x5,2x3x4x5"),
    INFERS("_sample_multinomial", "shape=4", "?x3 -> 2x? => 2x3 -> 2x4"),
    FAILS("_sample_multinomial", "", "s", MXC_ESHAPE, "data has no axes"),
    FAILS("_sample_multinomial", "", "3x0", MXC_ESHAPE, "rows of 0 probabilities"),
    FAILS("_sample_multinomial", "dtype=uint8", "3x300", MXC_ESHAPE, "holds indices of 256 only"),
};

MXC_CASES(random_multinomial_cases, cases);
