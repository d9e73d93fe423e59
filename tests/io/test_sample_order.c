/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders of epochs and the random generator of samples: each sample once, other orders in other epochs, numbers that
 * are uniform and independent.
 */
#include <math.h>

#include "io/sample_order.h"
#include "support.h"

static void test_each_once(void **state) {
    (void)state;
    for (int64_t n = 1; n < 300; n += n < 20 ? 1 : 37)
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            char seen[300] = {0};
            for (int64_t place = 0; place < n; place++) {
                int64_t at = mxci_shuffled_sample(7, epoch, n, place);
                assert_in_range(at, 0, n - 1);
                assert_false(seen[at]++);
                assert_int_equal(mxci_shuffled_position(7, epoch, n, at), place);
            }
        }
}

/* Each once, and the samples of a chunk one behind the other, in an order that is not theirs. */
static void test_chunks(void **state) {
    int moved = 0, chunks_moved = 0;
    (void)state;
    for (int64_t n = 1; n < 120; n += n < 20 ? 1 : 17)
        for (int64_t size = 1; size <= n + 2; size += size < 9 ? 1 : 13)
            for (uint64_t epoch = 0; epoch < 3; epoch++) {
                const mxci_chunk_shuffle c = {7, 9, size};
                char seen[120] = {0}, left[121] = {0};
                for (int64_t place = 0, before = -1; place < n; place++) {
                    int64_t at = mxci_chunk_shuffled_sample(&c, epoch, n, place);
                    assert_in_range(at, 0, n - 1);
                    assert_false(seen[at]++);
                    if (before >= 0 && at / size != before)
                        left[before] = 1;
                    assert_false(left[at / size]);
                    before = at / size;
                    moved += at % size != place % size;
                    chunks_moved += at / size != place / size;
                }
            }
    assert_true(moved > 1000 && chunks_moved > 1000);
}

/* Over many epochs each sample comes to each place about as often. */
static void test_even(void **state) {
    enum { N = 6, EPOCHS = 6000 };
    int count[N][N] = {{0}};
    (void)state;
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++)
        for (int place = 0; place < N; place++)
            count[place][mxci_shuffled_sample(1, epoch, N, place)]++;
    for (int i = 0; i < N * N; i++)
        assert_in_range(count[i / N][i % N], EPOCHS / N - 150, EPOCHS / N + 150); /* five deviations */
}

static void test_orders_differ(void **state) {
    int same_seed = 0, same_epoch = 0, stays = 0;
    (void)state;
    for (int64_t place = 0; place < 1000; place++) {
        int64_t at = mxci_shuffled_sample(3, 5, 1000, place);
        same_seed += at == mxci_shuffled_sample(4, 5, 1000, place);
        same_epoch += at == mxci_shuffled_sample(3, 6, 1000, place);
        stays += at == place;
        assert_int_equal(at, mxci_shuffled_sample(3, 5, 1000, place));
    }
    assert_true(same_seed < 12 && same_epoch < 12 && stays < 12);
}

static void test_parts(void **state) {
    (void)state;
    for (int64_t n = 0; n < 30; n++)
        for (int64_t parts = 1; parts < 12; parts++) {
            assert_int_equal(mxci_sample_part_begin(n, 0, parts), 0);
            assert_int_equal(mxci_sample_part_begin(n, parts, parts), n);
            for (int64_t part = 0; part < parts; part++)
                assert_true(mxci_sample_part_begin(n, part, parts) <= mxci_sample_part_begin(n, part + 1, parts));
        }
    assert_int_equal(mxci_sample_part_begin(INT64_MAX, 3, 4), INT64_MAX / 4 * 3 + INT64_MAX % 4 * 3 / 4);
}

static void test_dice(void **state) {
    enum { N = 20000 };
    double sum = 0, square = 0, normal = 0, normal_square = 0;
    int faces[6] = {0};
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        mxci_sample_rng dice = {11, i, 2, 0}, again = dice;
        double x = mxci_sample_rng_between(&dice, 2, 4), z = mxci_sample_rng_normal(&dice);
        assert_true(x >= 2 && x < 4);
        sum += x;
        square += x * x;
        normal += z;
        normal_square += z * z;
        faces[mxci_sample_rng_int(&dice, 1, 6) - 1]++;
        assert_true(mxci_sample_rng_between(&again, 2, 4) == x);
    }
    assert_true(fabs(sum / N - 3) < 0.02 && fabs(square / N - 9 - 1.0 / 3) < 0.1);
    assert_true(fabs(normal / N) < 0.03 && fabs(normal_square / N - 1) < 0.05);
    for (int i = 0; i < 6; i++)
        assert_in_range(faces[i], N / 6 - 270, N / 6 + 270);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),     cmocka_unit_test(test_chunks), cmocka_unit_test(test_even),
        cmocka_unit_test(test_orders_differ), cmocka_unit_test(test_parts),  cmocka_unit_test(test_dice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
