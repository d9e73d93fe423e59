/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetching: the same batches as without, whatever happens meanwhile; failures and ends at their place. */
#include "alive.h"
#include "base/sys.h"
#include "io/batches.h"

enum { ROOM = 1000 };

static mxc_iter *prefetched(const mxc_array_iter_options *options, int64_t n, int depth) {
    mxc_iter *iter;
    assert_ok(mxc_iter_prefetch(numbered_iter(options, n), depth, &iter));
    return iter;
}

static void test_same_batches(void **state) {
    (void)state;
    for (int depth = 1; depth <= 5; depth++)
        for (int last = MXC_LAST_PAD; last <= MXC_LAST_WRAP; last++) {
            mxc_array_iter_options o = iter_options(4, (mxc_last_batch)last, 1, 7);
            mxc_iter *plain = numbered_iter(&o, 23), *ahead = prefetched(&o, 23, depth);
            for (int epoch = 0; epoch < 4; epoch++) {
                uint64_t a[ROOM], b[ROOM];
                int64_t pad_a, pad_b, n = take_epoch(plain, a, &pad_a);
                assert_int_equal(take_epoch(ahead, b, &pad_b), n);
                assert_int_equal(pad_a, pad_b);
                assert_memory_equal(a, b, sizeof a[0] * (size_t)n);
                assert_int_equal(take_epoch(ahead, b, &pad_b), 0);
                assert_ok(mxc_iter_reset(plain));
                assert_ok(mxc_iter_reset(ahead));
            }
            assert_string_equal(mxc_iter_desc(ahead, 0)->name, "data");
            assert_int_equal(mxc_iter_n_data(ahead), 1);
            assert_int_equal(mxc_iter_n_label(ahead), 1);
            mxc_iter_destroy(plain);
            mxc_iter_destroy(ahead);
        }
}

/* An epoch left in the middle counts as one, though the thread may be further. */
static void test_reset_and_state_mid_epoch(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_ROLL_OVER, 1, 7);
    (void)state;
    for (int taken = 0; taken <= 5; taken++) {
        mxc_iter *plain = numbered_iter(&o, 23), *ahead = prefetched(&o, 23, 3), *third = prefetched(&o, 23, 2);
        mxc_iter_state a, b;
        mxc_batch batch;
        uint64_t ids_a[ROOM], ids_b[ROOM];
        int64_t pad, n;
        assert_ok(mxc_iter_reset(plain));
        assert_ok(mxc_iter_reset(ahead));
        for (int i = 0; i < taken; i++) {
            assert_ok(mxc_iter_next(plain, &batch));
            assert_ok(mxc_iter_next(ahead, &batch));
        }
        assert_ok(mxc_iter_get_state(plain, &a));
        assert_ok(mxc_iter_get_state(ahead, &b));
        assert_int_equal(a.epoch, b.epoch);
        assert_int_equal(a.position, b.position);
        assert_ok(mxc_iter_set_state(third, &b));
        n = take_epoch(third, ids_b, &pad);
        assert_int_equal(take_epoch(plain, ids_a, &pad), n);
        assert_memory_equal(ids_a, ids_b, sizeof ids_a[0] * (size_t)n);
        assert_ok(mxc_iter_reset(plain));
        assert_ok(mxc_iter_reset(ahead));
        n = take_epoch(plain, ids_a, &pad);
        assert_int_equal(take_epoch(ahead, ids_b, &pad), n);
        assert_memory_equal(ids_a, ids_b, sizeof ids_a[0] * (size_t)n);
        assert_fails(mxc_iter_set_state(ahead, &(mxc_iter_state){0, 99}), MXC_EINVAL, "position 99");
        mxc_iter_destroy(plain);
        mxc_iter_destroy(ahead);
        mxc_iter_destroy(third);
    }
}

static void test_destroy_at_any_time(void **state) {
    mxc_array_iter_options o = iter_options(2, MXC_LAST_PAD, 1, 7);
    (void)state;
    for (int round = 0; round < TEST_SCALE(300); round++) {
        mxc_iter *iter = prefetched(&o, 40, 1 + round % 4);
        mxc_batch batch;
        for (int i = 0; i < round % 23; i++)
            assert_ok(mxc_iter_next(iter, &batch));
        if (round % 5 == 0)
            mxci_thread_yield();
        mxc_iter_destroy(iter);
    }
}

/* Batches given out stay as they were while work on them is queued. */
static void test_queued_readers(void **state) {
    mxc_array_iter_options o = iter_options(5, MXC_LAST_PAD, 0, 0);
    mxc_iter *iter = prefetched(&o, 500, 2);
    mxc_ndarray *copies[100];
    mxc_batch batch;
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_ok(mxc_iter_next(iter, &batch));
        assert_ok(mxc_ndarray_copy(batch.label[0], mxc_cpu(1), MXC_F32, &copies[i]));
    }
    for (int i = 0; i < 100; i++) {
        float label[5];
        assert_ok(mxc_ndarray_get(copies[i], label, sizeof label));
        for (int k = 0; k < 5; k++)
            assert_true(label[k] == (float)(5 * i + k));
        mxc_ndarray_release(copies[i]);
    }
    mxc_iter_destroy(iter);
}

static void test_steady_state_allocates_nothing(void **state) {
    mxc_array_iter_options o = iter_options(4, MXC_LAST_PAD, 1, 7);
    mxc_iter *iter = prefetched(&o, 400, 4);
    mxc_batch batch;
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_ok(mxc_iter_next(iter, &batch));
    int64_t before = mxci_alloc_count();
    for (int i = 0; i < 80; i++)
        assert_ok(mxc_iter_next(iter, &batch));
    assert_int_equal(mxci_alloc_count(), before);
    mxc_iter_destroy(iter);
}

/* ---- an iterator that fails --------------------------------------------------------------------------------- */

typedef struct faulty {
    mxc_iter_state at;
    int64_t fails_at;
    int destroyed, n_index;
    mxc_ndarray *array;
    uint64_t index[8];
    mxc_data_desc desc;
} faulty;

static int one(void *self) {
    (void)self;
    return 1;
}
static int none(void *self) {
    (void)self;
    return 0;
}
static const mxc_data_desc *faulty_desc(void *self, int index) {
    (void)index;
    return &((faulty *)self)->desc;
}
static mxc_status faulty_next(void *self, mxc_batch *out) {
    faulty *f = self;
    if (f->at.position == f->fails_at)
        return MXC_FAIL(MXC_EUSER, "the %dth batch is rotten", (int)f->at.position);
    f->at.position++;
    out->n_data = 1;
    out->data = &f->array;
    out->n_index = f->n_index;
    out->index = f->index;
    return MXC_OK;
}
static mxc_status faulty_reset(void *self) {
    faulty *f = self;
    f->at = (mxc_iter_state){f->at.epoch + 1, 0};
    f->fails_at++;
    return MXC_OK;
}
static mxc_status faulty_get(void *self, mxc_iter_state *out) {
    *out = ((faulty *)self)->at;
    return MXC_OK;
}
static mxc_status faulty_set(void *self, const mxc_iter_state *state) {
    ((faulty *)self)->at = *state;
    return MXC_OK;
}
static void faulty_destroy(void *self) {
    faulty *f = self;
    mxc_ndarray_release(f->array);
    f->destroyed = 1;
}
static const mxc_iter_methods faulty_methods = {
    sizeof(mxc_iter_methods), one, none, faulty_desc, faulty_next, faulty_reset, faulty_get, faulty_set, faulty_destroy,
};

static mxc_iter *make_faulty(faulty *f, int64_t fails_at, int n_index) {
    mxc_iter *iter;
    *f = (faulty){.fails_at = fails_at, .n_index = n_index, .array = numbered(4, 3)};
    f->desc = (mxc_data_desc){"data", *mxc_ndarray_shape(f->array), MXC_F32};
    assert_ok(mxc_iter_from_methods(&faulty_methods, f, &iter));
    return iter;
}

static void test_failure_comes_at_its_place(void **state) {
    faulty f;
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    assert_ok(mxc_iter_prefetch(make_faulty(&f, 3, 4), 2, &iter));
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_iter_next(iter, &batch));
    for (int again = 0; again < 2; again++)
        assert_fails(mxc_iter_next(iter, &batch), MXC_EUSER, "the 3th batch is rotten");
    assert_ok(mxc_iter_reset(iter));
    for (int i = 0; i < 4; i++)
        assert_ok(mxc_iter_next(iter, &batch));
    assert_fails(mxc_iter_next(iter, &batch), MXC_EUSER, "the 4th batch is rotten");
    mxc_iter_destroy(iter);
    assert_int_equal(f.destroyed, 1);
}

static void test_batch_that_does_not_fit(void **state) {
    faulty f;
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    assert_ok(mxc_iter_prefetch(make_faulty(&f, 9, 4), 2, &iter));
    mxc_ndarray_release(f.array);
    f.array = numbered(5, 3); /* the thread has not begun */
    assert_fails(mxc_iter_next(iter, &batch), MXC_ESHAPE, "announced was (4,3) of float32");
    mxc_iter_destroy(iter);
}

/* ---- how far ahead ---------------------------------------------------------------------------------------------- */

/* An iterator without end that counts what it has given; a consumer may read that at any time. */
typedef struct counting {
    mxc_ndarray *array;
    mxc_data_desc desc;
    _Atomic int64_t given;
} counting;

static const mxc_data_desc *counting_desc(void *self, int index) {
    (void)index;
    return &((counting *)self)->desc;
}
static mxc_status counting_next(void *self, mxc_batch *out) {
    counting *c = self;
    c->given++;
    out->n_data = 1;
    out->data = &c->array;
    return MXC_OK;
}
static mxc_status counting_reset(void *self) {
    (void)self;
    return MXC_OK;
}
static mxc_status counting_get(void *self, mxc_iter_state *out) {
    *out = (mxc_iter_state){0, ((counting *)self)->given};
    return MXC_OK;
}
static mxc_status counting_set(void *self, const mxc_iter_state *state) {
    ((counting *)self)->given = state->position;
    return MXC_OK;
}
static void counting_destroy(void *self) {
    mxc_ndarray_release(((counting *)self)->array);
}
static const mxc_iter_methods counting_methods = {
    sizeof(mxc_iter_methods), one,          none,         counting_desc,    counting_next,
    counting_reset,           counting_get, counting_set, counting_destroy,
};

/* Wait until so many were given, which must happen. */
static void await_given(counting *c, int64_t n) {
    for (int ms = 0; c->given < n; ms++) {
        if (ms == 20000)
            fail_msg("%lld batches, expected %lld", (long long)c->given, (long long)n);
        mxci_sleep_ns(1000000);
    }
}

/* While the consumer stands still, the producer fills what the depth says, and then stands still too. */
static void test_slow_consumer_stops_the_producer(void **state) {
    (void)state;
    for (int depth = 1; depth <= 6; depth++) {
        counting c = {.array = numbered(4, 3)};
        mxc_iter *inner, *iter;
        mxc_batch batch;
        c.desc = (mxc_data_desc){"data", *mxc_ndarray_shape(c.array), MXC_F32};
        assert_ok(mxc_iter_from_methods(&counting_methods, &c, &inner));
        assert_ok(mxc_iter_prefetch(inner, depth, &iter));
        for (int64_t taken = 1; taken < 12; taken++) {
            assert_ok(mxc_iter_next(iter, &batch));
            await_given(&c, taken + (depth + 1) / 2); /* it is woken when half of them are gone */
            mxci_sleep_ns(2000000);
            assert_in_range(c.given, taken + (depth + 1) / 2, taken + depth);
        }
        mxc_iter_destroy(iter);
    }
}

/* ---- other contexts and shapes ---------------------------------------------------------------------------------- */

static void test_other_context(void **state) {
    const mxc_array_iter_options o = iter_options(4, MXC_LAST_PAD, 1, 7);
    mxc_iter *plain = numbered_iter(&o, 23), *ahead;
    uint64_t a[ROOM], b[ROOM];
    int64_t pad;
    mxc_batch batch;
    (void)state;
    assert_ok(mxc_iter_prefetch_to(numbered_iter(&o, 23), 2, mxc_cpu(1), &ahead));
    for (int epoch = 0; epoch < 2; epoch++) {
        int64_t n = take_epoch(plain, a, &pad);
        assert_int_equal(take_epoch(ahead, b, &pad), n);
        assert_memory_equal(a, b, sizeof a[0] * (size_t)n);
        assert_ok(mxc_iter_reset(plain));
        assert_ok(mxc_iter_reset(ahead));
    }
    assert_ok(mxc_iter_next(ahead, &batch));
    assert_int_equal(mxc_ndarray_context(batch.data[0]).id, 1);
    mxc_iter_destroy(plain);
    mxc_iter_destroy(ahead);
}

/* More sentences in a batch than a sentence has tokens, time first; each length is a shape of its own. */
static void test_batches_of_several_shapes(void **state) {
    mxc_bucket_iter_options o = MXC_BUCKET_ITER_OPTIONS_INIT;
    int64_t offsets[61] = {0};
    int32_t tokens[240];
    mxc_iter *plain, *ahead;
    (void)state;
    for (int i = 0; i < 60; i++)
        offsets[i + 1] = offsets[i] + 1 + i % 4;
    for (int i = 0; i < 240; i++)
        tokens[i] = i;
    o.batch_size = 5;
    o.shuffle = o.time_major = 1;
    assert_ok(mxc_iter_from_sentences(&o, 60, offsets, tokens, &plain));
    assert_ok(mxc_iter_from_sentences(&o, 60, offsets, tokens, &ahead));
    assert_ok(mxc_iter_prefetch(ahead, 3, &ahead));
    for (int epoch = 0; epoch < 5; epoch++) {
        for (int i = 0; i < 12; i++) {
            mxc_batch a, b;
            float *x, *y;
            assert_ok(mxc_iter_next(plain, &a));
            assert_ok(mxc_iter_next(ahead, &b));
            assert_int_equal(a.bucket, b.bucket);
            assert_true(mxc_shape_equal(mxc_ndarray_shape(a.label[0]), mxc_ndarray_shape(b.label[0])));
            assert_int_equal(mxc_ndarray_shape(b.data[0])->dim[0], b.bucket);
            assert_ok(mxc_ndarray_data(a.data[0], (void **)&x));
            assert_ok(mxc_ndarray_data(b.data[0], (void **)&y));
            assert_memory_equal(x, y, sizeof *x * 5 * (size_t)a.bucket);
            assert_int_equal(b.n_index, 5);
            assert_memory_equal(a.index, b.index, 5 * sizeof *a.index);
        }
        assert_ok(mxc_iter_reset(plain));
        assert_ok(mxc_iter_reset(ahead));
    }
    mxc_iter_destroy(plain);
    mxc_iter_destroy(ahead);
}

static void test_refusals(void **state) {
    mxc_array_iter_options o = iter_options(2, MXC_LAST_PAD, 0, 0);
    mxc_iter *inner = numbered_iter(&o, 4), *iter;
    mxc_status status = MXC_ENOMEM;
    (void)state;
    assert_fails(mxc_iter_prefetch(NULL, 2, &iter), MXC_EINVAL, "inner must not be NULL");
    assert_fails(mxc_iter_prefetch(inner, 0, &iter), MXC_EINVAL, "depth 0");
    assert_fails(mxc_iter_prefetch(inner, 2, NULL), MXC_EINVAL, "out");
    for (int64_t k = 1; status != MXC_OK; k++) {
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = mxc_iter_prefetch(inner, 2, &iter);
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK)
            assert_int_equal(test_alive(), live);
    }
    mxc_iter_destroy(iter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_batches),
        cmocka_unit_test(test_reset_and_state_mid_epoch),
        cmocka_unit_test(test_destroy_at_any_time),
        cmocka_unit_test(test_queued_readers),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_failure_comes_at_its_place),
        cmocka_unit_test(test_batch_that_does_not_fit),
        cmocka_unit_test(test_slow_consumer_stops_the_producer),
        cmocka_unit_test(test_other_context),
        cmocka_unit_test(test_batches_of_several_shapes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
