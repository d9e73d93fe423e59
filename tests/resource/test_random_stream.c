/* SPDX-License-Identifier: Apache-2.0 */
/* Random streams: seeds, reservation, state; bulk numbers independent of how a range is cut; their distribution. */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include <mxc/philox.h>
#include <mxc/random.h>

#include "math/random_kernels.h"

enum { N = 20000 };

static void reserve_hands_out_ranges(void **state) {
    mxc_random a, b, c;
    (void)state;
    mxc_random_seed(42);
    assert_ok(mxc_random_reserve(mxc_cpu(0), 5, &a));
    assert_ok(mxc_random_reserve(mxc_cpu(0), 7, &b));
    assert_true(a.seed == 42 && a.offset == 0 && b.offset == 5);
    for (uint64_t i = 0; i < 7; i++)
        assert_int_equal(mxc_random_bits(&b, i), mxc_random_bits(&a, i + 5));
    assert_ok(mxc_random_reserve(mxc_cpu(1), 5, &c));
    assert_int_not_equal(mxc_random_bits(&a, 0), mxc_random_bits(&c, 0)); /* a stream of its own */
    assert_ok(mxc_random_reserve(mxc_gpu(0), 5, &c));
    assert_int_equal(mxc_random_bits(&a, 0), mxc_random_bits(&c, 0)); /* a GPU gives the numbers of the CPU */
    mxc_random_seed(42);
    assert_ok(mxc_random_reserve(mxc_cpu(0), 5, &c));
    assert_memory_equal(&a, &c, sizeof a);
    mxc_random_seed(43);
    assert_ok(mxc_random_reserve(mxc_cpu(0), 5, &c));
    assert_int_not_equal(mxc_random_bits(&a, 0), mxc_random_bits(&c, 0));
    assert_fails(mxc_random_reserve(mxc_cpu(-1), 1, &c), MXC_EDEVICE, "cpu(-1)");
    assert_status(mxc_random_get_state((mxc_context){9, 0}, &c), MXC_EDEVICE);
}

static void state_is_restored(void **state) {
    mxc_random saved, a, b;
    (void)state;
    mxc_random_seed(7);
    assert_ok(mxc_random_reserve(mxc_cpu(2), 1001, &a));
    assert_ok(mxc_random_get_state(mxc_cpu(2), &saved));
    assert_ok(mxc_random_reserve(mxc_cpu(2), 3, &a));
    mxc_random_seed(8);
    assert_ok(mxc_random_set_state(mxc_cpu(2), &saved));
    assert_ok(mxc_random_reserve(mxc_cpu(2), 3, &b));
    assert_memory_equal(&a, &b, sizeof a);
    assert_status(mxc_random_set_state(mxc_cpu(3), &saved), MXC_EINVAL);
    mxc_random_seed(0);
}

static void words_in_bulk_are_the_single_ones(void **state) {
    static uint32_t words[300];
    (void)state;
    for (uint64_t first = 0; first < 9; first++)
        for (int64_t n = 0; n < 300; n += 37) {
            mxci_random_words(5, 6, first, n, words);
            for (int64_t i = 0; i < n; i++)
                assert_int_equal(words[i], mxc_philox_number(5, 6, first + (uint64_t)i));
        }
    mxci_random_words(5, 6, (uint64_t)1 << 34, 64, words); /* carries into the counter's second word */
    assert_int_equal(words[63], mxc_philox_number(5, 6, ((uint64_t)1 << 34) + 63));
}

/* Fill [0, N) whole and in uneven parts, and compare every bit. */
#define CHECK_PARTS(fill, T, a, b)                                                          \
    do {                                                                                    \
        static T whole[N], parts[N];                                                        \
        fill(9, 1, 3, 0, N, a, b, whole);                                                   \
        for (int64_t at = 0, step = 1, end; at < N; at = end, step = step * 3 % 1013 + 1) { \
            end = at + step < N ? at + step : N;                                            \
            fill(9, 1, 3, at, end, a, b, parts + at);                                       \
        }                                                                                   \
        assert_memory_equal(whole, parts, sizeof whole);                                    \
    } while (0)

static void fills_do_not_depend_on_parts(void **state) {
    (void)state;
    CHECK_PARTS(mxci_random_uniform_f32, float, -0.7f, 1.9f);
    CHECK_PARTS(mxci_random_uniform_f64, double, -0.7, 1.9);
    CHECK_PARTS(mxci_random_normal_f32, float, 1.0f, 0.3f);
    CHECK_PARTS(mxci_random_normal_f64, double, 1.0, 0.3);
}

static void moments(const float *x, double *mean, double *deviation) {
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++)
        sum += x[i];
    *mean = sum / N;
    for (int i = 0; i < N; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *deviation = sqrt(squares / N);
}

static void distributions_have_their_moments(void **state) {
    static float x[N];
    double mean, deviation, largest = 0;
    (void)state;
    mxci_random_uniform_f32(1, 0, 0, 0, N, -1, 3, x);
    moments(x, &mean, &deviation);
    assert_true(fabs(mean - 1) < 0.03 && fabs(deviation - 4 / sqrt(12)) < 0.03);
    mxci_random_normal_f32(1, 0, 0, 0, N, 2, 0.5f, x);
    moments(x, &mean, &deviation);
    assert_true(fabs(mean - 2) < 0.02 && fabs(deviation - 0.5) < 0.01);
    for (int i = 0; i < N; i++)
        largest = fmax(largest, fabs(x[i] - 2) / 0.5);
    assert_true(largest > 3 && largest < 7);
}

static void uniform_stays_below_high(void **state) {
    static float x[N];
    (void)state;
    mxci_random_uniform_f32(3, 0, 0, 0, N, 16777216.0f, 16777218.0f, x); /* neighbours: most sums round up */
    for (int i = 0; i < N; i++)
        assert_true(x[i] == 16777216.0f);
}

static atomic_int taken[4000];

static void *take_four(void *arg) {
    for (int i = 0; i < 250; i++) {
        mxc_random range;
        if (mxc_random_reserve(mxc_cpu(4), 4, &range) == MXC_OK && range.offset < 3997)
            for (uint64_t j = 0; j < 4; j++)
                atomic_fetch_add(&taken[range.offset + j], 1);
    }
    return arg;
}

static void threads_get_disjoint_ranges(void **state) {
    pthread_t threads[4];
    (void)state;
    mxc_random_seed(0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_four, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4000; i++)
        assert_int_equal(atomic_load(&taken[i]), 1);
}

enum { DRAWS = 40000 };

/* One number at a time, as operators take them: each depends on its own position alone. */
static void single_numbers_have_their_moments(void **state) {
    const mxc_random range = {.seed = 11, .stream = 2, .offset = 100}, later = {.seed = 11, .stream = 2, .offset = 103};
    double sum = 0, squares = 0, bound;
    int counts[7] = {0};
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double x = mxc_random_normal(&range, i, 3, 2);
        const int64_t k = mxc_random_integer(&range, i, -3, 4);
        sum += x;
        squares += (x - 3) * (x - 3);
        assert_true(k >= -3 && k < 4);
        counts[k + 3]++;
    }
    assert_true(fabs(sum / DRAWS - 3) < 0.05 && fabs(squares / DRAWS - 4) < 0.15);
    for (int k = 0; k < 7; k++)
        assert_true(abs(counts[k] - DRAWS / 7) < 400); /* six standard deviations */
    for (uint64_t i = 0; i < 10; i++) {
        assert_true(mxc_random_normal(&range, i + 3, 0, 1) == mxc_random_normal(&later, i, 0, 1));
        assert_true(mxc_random_integer(&range, i + 3, 0, 1000000) == mxc_random_integer(&later, i, 0, 1000000));
    }
    bound = mxc_random_normal(&range, 0, 5, 0);
    assert_true(bound == 5);
    assert_true(mxc_random_normal(NULL, 0, 5, 1) == 5 && mxc_random_integer(NULL, 0, 5, 9) == 5);
}

/* The whole range of int64_t, ranges that are no power of two, one integer, none. */
static void integers_fill_their_range(void **state) {
    const mxc_random range = {.seed = 5};
    const int64_t third = INT64_MAX / 3 * 2; /* of 2^63, where a product without rejection would be biased */
    int64_t below = 0, negative = 0;
    (void)state;
    for (uint64_t i = 0; i < DRAWS; i++) {
        below += mxc_random_integer(&range, i, 0, third) < third / 2;
        negative += mxc_random_integer(&range, i, INT64_MIN, INT64_MAX) < 0;
        assert_int_equal(mxc_random_integer(&range, i, 8, 9), 8);
    }
    assert_true(llabs(below - DRAWS / 2) < 600 && llabs(negative - DRAWS / 2) < 600);
    assert_int_equal(mxc_random_integer(&range, 1, 8, 8), 8);
    assert_int_equal(mxc_random_integer(&range, 1, 8, -8), 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserve_hands_out_ranges),          cmocka_unit_test(state_is_restored),
        cmocka_unit_test(words_in_bulk_are_the_single_ones), cmocka_unit_test(fills_do_not_depend_on_parts),
        cmocka_unit_test(distributions_have_their_moments),  cmocka_unit_test(uniform_stays_below_high),
        cmocka_unit_test(threads_get_disjoint_ranges),       cmocka_unit_test(single_numbers_have_their_moments),
        cmocka_unit_test(integers_fill_their_range),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
