/* SPDX-License-Identifier: Apache-2.0 */
/* Learning-rate schedules at their corners. */
#include <math.h>

#include <mxc/train.h>

#include "support.h"

static void expect(const mxc_schedule *s, int64_t t, double expected) {
    double found = mxc_schedule_lr(s, 0.8, t);
    if (fabs(found - expected) > 1e-12)
        fail_msg("rate for update %d is %.17g, expected %.17g", (int)t, found, expected);
}

static void test_constant(void **state) {
    mxc_schedule s = {0};
    (void)state;
    expect(&s, 0, 0.8);
    expect(&s, 1000000, 0.8);
    expect(NULL, 3, 0.8);
    s.warmup = 4;
    expect(&s, 0, 0.2);
    expect(&s, 2, 0.6);
    expect(&s, 3, 0.8);
    expect(&s, 4, 0.8);
}

static void test_factor(void **state) {
    mxc_schedule s = {.kind = MXC_SCHEDULE_FACTOR, .step = 10, .factor = 0.5, .final_lr = 0.15, .warmup = 2};
    (void)state;
    expect(&s, 0, 0.4);
    expect(&s, 11, 0.8);
    expect(&s, 12, 0.4);
    expect(&s, 22, 0.2);
    expect(&s, 32, 0.15);
    s.step = 0;
    expect(&s, 100, 0.8);
}

static void test_decays(void **state) {
    mxc_schedule poly = {.kind = MXC_SCHEDULE_POLY, .total = 100, .power = 2, .final_lr = 0.2};
    mxc_schedule cosine = {.kind = MXC_SCHEDULE_COSINE, .total = 110, .warmup = 10};
    (void)state;
    expect(&poly, 0, 0.8);
    expect(&poly, 50, 0.2 + 0.6 / 4);
    expect(&poly, 100, 0.2);
    expect(&poly, 1000, 0.2);
    expect(&cosine, 10, 0.8);
    expect(&cosine, 60, 0.4);
    expect(&cosine, 110, 0);
    expect(&cosine, 111, 0);
    cosine.total = 0; /* nothing to fall over */
    expect(&cosine, 50, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_decays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
