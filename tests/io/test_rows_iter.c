/* SPDX-License-Identifier: Apache-2.0 */
/* Rows in batches: last-batch policies, shuffling, parts, and going on from a saved state. */
#include "base/sys.h"
#include "io/batches.h"

enum { ROOM = 1000 };

static void expect_ids(const uint64_t *ids, int64_t n, const uint64_t *expected, int64_t n_expected) {
    assert_int_equal(n, n_expected);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(ids[i], expected[i]);
}

static void test_pad(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_PAD, 0, 0);
    mxc_iter *iter = numbered_iter(&o, 10);
    uint64_t ids[ROOM];
    int64_t pad;
    (void)state;
    for (int epoch = 0; epoch < 3; epoch++) {
        int64_t n = take_epoch(iter, ids, &pad);
        expect_ids(ids, n, (uint64_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}, 12);
        assert_int_equal(pad, 2);
        assert_int_equal(take_epoch(iter, ids, &pad), 0); /* the end stays the end */
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
    o.batch_size = 7; /* more than there are, more than once around */
    iter = numbered_iter(&o, 3);
    expect_ids(ids, take_epoch(iter, ids, &pad), (uint64_t[]){0, 1, 2, 0, 1, 2, 0}, 7);
    assert_int_equal(pad, 4);
    mxc_iter_destroy(iter);
}

static void test_discard(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_DISCARD, 0, 0);
    mxc_iter *iter = numbered_iter(&o, 10);
    uint64_t ids[ROOM];
    int64_t pad;
    (void)state;
    expect_ids(ids, take_epoch(iter, ids, &pad), (uint64_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    assert_int_equal(pad, 0);
    mxc_iter_destroy(iter);
    o.batch_size = 11;
    iter = numbered_iter(&o, 10);
    assert_int_equal(take_epoch(iter, ids, &pad), 0);
    mxc_iter_destroy(iter);
}

static void test_roll_over(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_ROLL_OVER, 0, 0);
    mxc_iter *iter = numbered_iter(&o, 10);
    uint64_t ids[ROOM];
    int64_t pad;
    (void)state;
    expect_ids(ids, take_epoch(iter, ids, &pad), (uint64_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    assert_ok(mxc_iter_reset(iter));
    expect_ids(ids, take_epoch(iter, ids, &pad), (uint64_t[]){8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 12);
    assert_int_equal(pad, 0);
    mxc_iter_destroy(iter);
    o.batch_size = 11;
    mxc_ndarray *data = numbered(10, 3);
    assert_fails(mxc_iter_from_arrays(&o, 1, &data, 0, NULL, NULL, &iter), MXC_EINVAL, "at least one batch");
    mxc_ndarray_release(data);
}

/* As MXNet's round_batch: what fills an epoch up is missing at the next one's beginning. */
static void test_wrap(void **state) {
    static const uint64_t epochs[3][12] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1},
        {2, 3, 4, 5, 6, 7, 8, 9},
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1},
    };
    mxc_array_iter_options o = iter_options(4, MXC_LAST_WRAP, 0, 0);
    mxc_iter *iter = numbered_iter(&o, 10);
    uint64_t ids[ROOM];
    int64_t pad;
    (void)state;
    for (int epoch = 0; epoch < 3; epoch++) {
        expect_ids(ids, take_epoch(iter, ids, &pad), epochs[epoch], epoch == 1 ? 8 : 12);
        assert_int_equal(pad, epoch == 1 ? 0 : 2);
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
    o.batch_size = 11;
    mxc_ndarray *data = numbered(10, 3);
    assert_fails(mxc_iter_from_arrays(&o, 1, &data, 0, NULL, NULL, &iter), MXC_EINVAL, "at least one batch");
    mxc_ndarray_release(data);
}

/* Over many epochs every sample comes once an epoch, in one unbroken sequence. */
static void check_sequence(mxc_last_batch last) {
    mxc_array_iter_options o = iter_options(7, last, 1, 5);
    mxc_iter *iter = numbered_iter(&o, 23);
    uint64_t ids[ROOM];
    int64_t n = 0, pad;
    for (int epoch = 0; epoch < 20; epoch++) {
        n += take_epoch(iter, ids + n, &pad);
        assert_ok(mxc_iter_reset(iter));
    }
    for (int64_t epoch = 0; (epoch + 1) * 23 <= n; epoch++) {
        int seen[23] = {0};
        for (int64_t i = epoch * 23; i < (epoch + 1) * 23; i++)
            seen[ids[i]]++;
        for (int i = 0; i < 23; i++)
            assert_int_equal(seen[i], 1);
    }
    mxc_iter_destroy(iter);
}

static void test_shuffled_sequences_are_whole(void **state) {
    (void)state;
    check_sequence(MXC_LAST_ROLL_OVER);
    check_sequence(MXC_LAST_WRAP);
}

static void test_shuffle(void **state) {
    uint64_t first[ROOM], again[ROOM], second_epoch[ROOM], other_seed[ROOM];
    int64_t pad;
    mxc_array_iter_options o = iter_options(5, MXC_LAST_PAD, 1, 42);
    (void)state;
    mxc_iter *a = numbered_iter(&o, 50), *b = numbered_iter(&o, 50);
    o.seed = 43;
    mxc_iter *c = numbered_iter(&o, 50);
    assert_int_equal(take_epoch(a, first, &pad), 50);
    take_epoch(b, again, &pad);
    take_epoch(c, other_seed, &pad);
    assert_ok(mxc_iter_reset(a));
    take_epoch(a, second_epoch, &pad);
    assert_memory_equal(first, again, 50 * sizeof first[0]);
    assert_memory_not_equal(first, other_seed, 50 * sizeof first[0]);
    assert_memory_not_equal(first, second_epoch, 50 * sizeof first[0]);
    int in_place = 0, seen[50] = {0};
    for (int i = 0; i < 50; i++) {
        in_place += first[i] == (uint64_t)i;
        seen[first[i]]++;
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(seen[i], 1);
    assert_true(in_place < 10);
    mxc_iter_destroy(a);
    mxc_iter_destroy(b);
    mxc_iter_destroy(c);
}

/* Where each sample lands in the first batch is uniform: chi-square over many seeds. */
static void test_shuffle_is_fair(void **state) {
    double count[10] = {0}, chi = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        mxc_array_iter_options o = iter_options(1, MXC_LAST_PAD, 1, seed);
        mxc_iter *iter = numbered_iter(&o, 10);
        mxc_batch batch;
        assert_ok(mxc_iter_next(iter, &batch));
        count[batch.index[0]]++;
        mxc_iter_destroy(iter);
    }
    for (int i = 0; i < 10; i++)
        chi += (count[i] - 200) * (count[i] - 200) / 200;
    assert_true(chi < 27.9); /* 9 degrees of freedom: exceeded once in 1000 */
}

static void test_parts_are_an_exact_union(void **state) {
    (void)state;
    for (int parts = 1; parts <= 17; parts++)
        for (int shuffle = 0; shuffle < 2; shuffle++) {
            int seen[23] = {0};
            for (int part = 0; part < parts; part++) {
                uint64_t ids[ROOM];
                int64_t pad;
                mxc_array_iter_options o = iter_options(1, MXC_LAST_DISCARD, shuffle, 3);
                o.num_parts = parts;
                o.part_index = part;
                mxc_iter *iter = numbered_iter(&o, 23);
                int64_t n = take_epoch(iter, ids, &pad);
                assert_true(n >= 23 / parts && n <= 23 / parts + 1);
                for (int64_t i = 0; i < n; i++)
                    seen[ids[i]]++;
                mxc_iter_destroy(iter);
            }
            for (int i = 0; i < 23; i++)
                assert_int_equal(seen[i], 1);
        }
}

/* The batches from here to the end of the epoch after, as text of indices. */
static void record(mxc_iter *iter, uint64_t *ids, int64_t *n) {
    int64_t pad;
    *n = take_epoch(iter, ids, &pad);
    assert_ok(mxc_iter_reset(iter));
    *n += take_epoch(iter, ids + *n, &pad);
}

static void check_state(mxc_last_batch last, int shuffle, int epochs, int position) {
    mxc_array_iter_options o = iter_options(4, last, shuffle, 9);
    mxc_iter *going_on = numbered_iter(&o, 11), *restored = numbered_iter(&o, 11);
    uint64_t a[ROOM], b[ROOM];
    int64_t pad, n_a, n_b;
    mxc_iter_state at, back;
    mxc_batch batch;
    for (int i = 0; i < epochs; i++) {
        if (i % 2 == 0) /* an epoch may be left early */
            take_epoch(going_on, a, &pad);
        assert_ok(mxc_iter_reset(going_on));
    }
    for (int i = 0; i < position; i++)
        assert_ok(mxc_iter_next(going_on, &batch));
    assert_ok(mxc_iter_get_state(going_on, &at));
    assert_ok(mxc_iter_next(restored, &batch));
    assert_ok(mxc_iter_set_state(restored, &at));
    assert_ok(mxc_iter_get_state(restored, &back));
    assert_int_equal(back.epoch, at.epoch);
    assert_int_equal(back.position, at.position);
    record(going_on, a, &n_a);
    record(restored, b, &n_b);
    expect_ids(a, n_a, b, n_b);
    mxc_iter_destroy(going_on);
    mxc_iter_destroy(restored);
}

static void test_state_at_every_position(void **state) {
    (void)state;
    for (int last = MXC_LAST_PAD; last <= MXC_LAST_WRAP; last++)
        for (int shuffle = 0; shuffle < 2; shuffle++)
            for (int epochs = 0; epochs < 6; epochs++)
                for (int position = 0; position <= 4; position++)
                    check_state((mxc_last_batch)last, shuffle, epochs, position);
}

static void test_states_that_are_none(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_ROLL_OVER, 1, 9);
    mxc_iter *iter = numbered_iter(&o, 11);
    static const mxc_iter_state bad[] = {{0, 3}, {1, -1}, {UINT64_MAX, 4}, {5, INT64_MAX}, {5, INT64_MIN}};
    mxc_iter_state at;
    mxc_batch batch;
    uint64_t before[4];
    (void)state;
    assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){3, 1}));
    assert_ok(mxc_iter_next(iter, &batch));
    memcpy(before, batch.index, sizeof before);
    assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){3, 1}));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_fails(mxc_iter_set_state(iter, &bad[i]), MXC_EINVAL, "position");
        assert_ok(mxc_iter_get_state(iter, &at));
        assert_int_equal(at.epoch, 3);
        assert_int_equal(at.position, 1);
    }
    assert_ok(mxc_iter_next(iter, &batch));
    assert_memory_equal(before, batch.index, sizeof before);
    mxc_iter_destroy(iter);
}

static void test_steady_state_allocates_nothing(void **state) {
    mxc_array_iter_options o = iter_options(16, MXC_LAST_ROLL_OVER, 1, 1);
    mxc_iter *iter = numbered_iter(&o, 100);
    uint64_t ids[ROOM];
    int64_t pad;
    (void)state;
    take_epoch(iter, ids, &pad);
    assert_ok(mxc_iter_reset(iter));
    int64_t before = mxci_alloc_count();
    for (int epoch = 0; epoch < 3; epoch++) {
        take_epoch(iter, ids, &pad);
        assert_ok(mxc_iter_reset(iter));
    }
    assert_int_equal(mxci_alloc_count(), before);
    mxc_iter_destroy(iter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pad),
        cmocka_unit_test(test_discard),
        cmocka_unit_test(test_roll_over),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_shuffled_sequences_are_whole),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_shuffle_is_fair),
        cmocka_unit_test(test_parts_are_an_exact_union),
        cmocka_unit_test(test_state_at_every_position),
        cmocka_unit_test(test_states_that_are_none),
        cmocka_unit_test(test_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
