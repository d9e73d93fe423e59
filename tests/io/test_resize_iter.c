/* SPDX-License-Identifier: Apache-2.0 */
/* ResizeIter: epochs of other lengths, and going on from a saved state, whatever the inner iterator does. */
#include "alive.h"
#include "base/sys.h"
#include "io/batches.h"

enum { ROOM = 1000 };

/* Over 10 samples in batches of 4. */
static mxc_iter *resized(mxc_last_batch last, int shuffle, int prefetch, int64_t batches, int restart) {
    mxc_array_iter_options o = iter_options(4, last, shuffle, 3);
    mxc_iter *iter = numbered_iter(&o, 10);
    if (prefetch)
        assert_ok(mxc_iter_prefetch(iter, 2, &iter));
    assert_ok(mxc_iter_resize(iter, batches, restart, &iter));
    return iter;
}

static void expect_epoch(mxc_iter *iter, const uint64_t *expected, int64_t n) {
    uint64_t ids[ROOM];
    int64_t pad;
    for (int again = 0; again < 2; again++) { /* the end stays the end */
        assert_int_equal(take_epoch(iter, ids, &pad), again ? 0 : n);
        for (int64_t i = 0; i < n && !again; i++)
            assert_int_equal(ids[i], expected[i]);
    }
    assert_ok(mxc_iter_reset(iter));
}

static void test_batches(void **state) {
    mxc_iter *iter = resized(MXC_LAST_DISCARD, 0, 0, 3, 1);
    (void)state;
    for (int epoch = 0; epoch < 3; epoch++)
        expect_epoch(iter, (uint64_t[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3}, 12);
    mxc_iter_destroy(iter);
    iter = resized(MXC_LAST_DISCARD, 0, 0, 1, 1);
    expect_epoch(iter, (uint64_t[]){0, 1, 2, 3}, 4);
    expect_epoch(iter, (uint64_t[]){0, 1, 2, 3}, 4);
    mxc_iter_destroy(iter);
    iter = resized(MXC_LAST_DISCARD, 0, 0, 3, 0);
    expect_epoch(iter, (uint64_t[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3}, 12);
    expect_epoch(iter, (uint64_t[]){4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}, 12);
    mxc_iter_destroy(iter);
}

static void check_state(mxc_last_batch last, int prefetch, int64_t batches, int restart, int epochs, int position) {
    mxc_iter *going_on = resized(last, 1, prefetch, batches, restart);
    mxc_iter *restored = resized(last, 1, 0, batches, restart);
    uint64_t a[ROOM], b[ROOM];
    mxc_iter_state at;
    mxc_batch batch;
    int64_t pad;
    for (int i = 0; i < epochs; i++) {
        if (i % 2 == 0) /* an epoch may be left early */
            take_epoch(going_on, a, &pad);
        assert_ok(mxc_iter_reset(going_on));
    }
    for (int i = 0; i < position; i++)
        assert_ok(mxc_iter_next(going_on, &batch));
    assert_ok(mxc_iter_get_state(going_on, &at));
    assert_int_equal(at.epoch, epochs);
    assert_int_equal(at.position, position);
    assert_ok(mxc_iter_set_state(restored, &at));
    for (int i = 0; i < 3; i++) {
        int64_t n = take_epoch(going_on, a, &pad);
        assert_int_equal(take_epoch(restored, b, &pad), n);
        assert_memory_equal(a, b, sizeof a[0] * (size_t)n);
        assert_ok(mxc_iter_reset(going_on));
        assert_ok(mxc_iter_reset(restored));
    }
    mxc_iter_destroy(going_on);
    mxc_iter_destroy(restored);
}

static void test_states(void **state) {
    (void)state;
    for (int last = MXC_LAST_PAD; last <= MXC_LAST_WRAP; last++)
        for (int restart = 0; restart < 2; restart++)
            for (int64_t batches = 1; batches <= 10; batches += 3)
                for (int epochs = 0; epochs < 4; epochs++)
                    for (int position = 0; position <= batches; position += 2)
                        check_state((mxc_last_batch)last, epochs == 3 && position == 2, batches, restart, epochs,
                                    position);
}

static void test_refused(void **state) {
    mxc_array_iter_options o = iter_options(11, MXC_LAST_DISCARD, 0, 3);
    mxc_iter *inner = numbered_iter(&o, 10), *iter;
    mxc_batch batch;
    (void)state;
    assert_fails(mxc_iter_resize(NULL, 1, 1, &iter), MXC_EINVAL, "inner must not be NULL");
    assert_fails(mxc_iter_resize(inner, 0, 1, &iter), MXC_EINVAL, "0 batches");
    assert_ok(mxc_iter_resize(inner, 2, 1, &iter));
    assert_fails(mxc_iter_next(iter, &batch), MXC_EINVAL, "has no batches");
    assert_fails(mxc_iter_set_state(iter, &(mxc_iter_state){0, 1}), MXC_EINVAL, "has no batches");
    assert_fails(mxc_iter_set_state(iter, &(mxc_iter_state){0, 3}), MXC_EINVAL, "position 3");
    assert_fails(mxc_iter_set_state(iter, &(mxc_iter_state){UINT64_MAX, 0}), MXC_EINVAL, "epoch 184467440737095516");
    mxc_iter_destroy(iter);
}

static void test_allocation_failing(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_PAD, 0, 3);
    mxc_iter *inner = numbered_iter(&o, 10), *iter;
    mxc_status status = MXC_ENOMEM;
    (void)state;
    for (int64_t k = 1; status != MXC_OK; k++) {
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = mxc_iter_resize(inner, 2, 1, &iter);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || (status == MXC_ENOMEM && test_alive() == live));
    }
    mxc_iter_destroy(iter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
