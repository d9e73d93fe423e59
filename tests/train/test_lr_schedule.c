/* SPDX-License-Identifier: Apache-2.0 */
/* Learning-rate schedules at their corners, and against MXNet. */
#include <math.h>

#include <mxc/train.h>

#include "support.h"
#include "train/mxnet_values.h"

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

static void test_multi_factor(void **state) {
    static const int64_t steps[] = {2, 4, 6};
    const mxc_schedule s = {
        .kind = MXC_SCHEDULE_MULTI_FACTOR, .factor = 0.5, .final_lr = 0.15, .n_steps = 3, .steps = steps};
    (void)state;
    expect(&s, 1, 0.8);
    expect(&s, 2, 0.4);
    expect(&s, 4, 0.2);
    expect(&s, 6, 0.15);
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

/* MXNet's value for num_update t + 1 is ours for update t. */
static void expect_mxnet(const char *name, const mxc_schedule *s) {
    double expected[16];
    const int n = mxnet_values(name, 16, expected);
    for (int t = 0; t < n; t++)
        expect(s, t, expected[t]);
}

static void test_mxnet(void **state) {
    static const int64_t steps[] = {3, 6, 11}, later[] = {5, 6, 11};
    static const char *const modes[] = {"", "_linear", "_constant"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[64];
        mxc_schedule s = {
            .warmup = i ? 4 : 0, .warmup_lr = 0.2, .warmup_mode = i == 2 ? MXC_WARMUP_CONSTANT : MXC_WARMUP_LINEAR};
        s.kind = MXC_SCHEDULE_MULTI_FACTOR;
        s.factor = 0.5;
        s.n_steps = 3;
        s.steps = i == 2 ? later : steps;
        snprintf(name, sizeof name, "multi_factor%s", modes[i]);
        expect_mxnet(name, &s);
        s.total = 12;
        s.final_lr = 0.1;
        s.power = i ? 2 : 3;
        /* After the warm-up, these count one update less than MXNet. */
        for (int kind = MXC_SCHEDULE_POLY; kind <= MXC_SCHEDULE_COSINE; kind++) {
            double expected[16];
            snprintf(name, sizeof name, "%s%s", kind == MXC_SCHEDULE_POLY ? "poly" : "cosine", modes[i]);
            const int n = mxnet_values(name, 16, expected);
            s.kind = (mxc_schedule_kind)kind;
            for (int t = 0; t + 1 < s.warmup; t++)
                expect(&s, t, expected[t]);
            for (int t = i ? 4 : 1; t <= n; t++)
                expect(&s, t, expected[t - 1]);
        }
    }
    expect_mxnet("factor", &(mxc_schedule){.kind = MXC_SCHEDULE_FACTOR, .step = 3, .factor = 0.5, .final_lr = 0.15});
}

static double halved(int64_t t, double base, void *user) {
    ++*(int *)user;
    return base / (double)(1 << t);
}

static void test_function(void **state) {
    int calls = 0;
    mxc_schedule s = {.kind = MXC_SCHEDULE_FUNCTION, .function = halved, .user = &calls, .warmup = 2};
    (void)state;
    expect(&s, 0, 0.4);
    expect(&s, 1, 0.8);
    expect(&s, 2, 0.2);
    expect(&s, 3, 0.1);
    assert_int_equal(calls, 2);
    s.function = NULL;
    expect(&s, 3, 0.8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant), cmocka_unit_test(test_factor), cmocka_unit_test(test_multi_factor),
        cmocka_unit_test(test_decays),   cmocka_unit_test(test_mxnet),  cmocka_unit_test(test_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
