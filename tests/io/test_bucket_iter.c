/* SPDX-License-Identifier: Apache-2.0 */
/* BucketSentenceIter: which sentence goes where, shapes, orders, states, and arguments that are none. */
#include "alive.h"
#include "base/sys.h"
#include "io/batches.h"

enum { N = 200, MOST = 13 };

static int64_t offsets[N + 1];
static int32_t tokens[N * MOST];

/* Sentence i has (5 i mod 14) tokens 100 i, 100 i + 1... */
static int set_up(void **state) {
    (void)state;
    for (int64_t i = 0; i < N; i++) {
        int64_t n = i * 5 % (MOST + 1);
        for (int64_t t = 0; t < n; t++)
            tokens[offsets[i] + t] = (int32_t)(100 * i + t);
        offsets[i + 1] = offsets[i] + n;
    }
    return 0;
}

static int64_t length_of(uint64_t i) {
    return offsets[i + 1] - offsets[i];
}

static mxc_bucket_iter_options options_of(int n_buckets, const int64_t *buckets) {
    mxc_bucket_iter_options o = MXC_BUCKET_ITER_OPTIONS_INIT;
    o.batch_size = 4;
    o.n_buckets = n_buckets;
    o.buckets = buckets;
    return o;
}

static mxc_iter *make(const mxc_bucket_iter_options *o) {
    mxc_iter *iter;
    assert_ok(mxc_iter_from_sentences(o, N, offsets, tokens, &iter));
    return iter;
}

static double element(mxc_ndarray *array, int64_t i) {
    void *data;
    assert_ok(mxc_ndarray_data(array, &data));
    return mxc_ndarray_dtype(array) == MXC_F32 ? ((float *)data)[i] : ((int32_t *)data)[i];
}

/* Every row must be its sentence, filled up, and the label one place ahead. */
static void check_rows(const mxc_batch *batch, int time_major, double invalid) {
    int64_t length = batch->bucket;
    const mxc_shape *shape = mxc_ndarray_shape(batch->data[0]);
    assert_int_equal(shape->dim[time_major], 4);
    assert_int_equal(shape->dim[!time_major], length);
    assert_true(mxc_shape_equal(shape, mxc_ndarray_shape(batch->label[0])));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t t = 0; t < length; t++) {
            int64_t at = time_major ? t * 4 + i : i * length + t, n = length_of(batch->index[i]);
            double first = 100 * (double)batch->index[i];
            assert_true(element(batch->data[0], at) == (t < n ? first + (double)t : invalid));
            assert_true(element(batch->label[0], at) == (t + 1 < n ? first + (double)t + 1 : invalid));
        }
}

/* Go through an epoch; counts how often each sentence comes. Returns the number of batches. */
static int take(mxc_iter *iter, const mxc_bucket_iter_options *o, int *seen) {
    memset(seen, 0, sizeof *seen * N);
    for (int n = 0;; n++) {
        mxc_batch batch;
        assert_ok(mxc_iter_next(iter, &batch));
        if (batch.n_data == 0)
            return n;
        assert_int_equal(batch.pad, 0);
        check_rows(&batch, o->time_major, o->invalid_label);
        for (int i = 0; i < 4; i++) {
            seen[batch.index[i]]++;
            assert_true(length_of(batch.index[i]) <= batch.bucket);
        }
    }
}

static void test_rows_and_buckets(void **state) {
    static const int64_t buckets[] = {3, 7, 10};
    (void)state;
    for (int form = 0; form < 8; form++) {
        mxc_bucket_iter_options o = options_of(3, buckets);
        int seen[N], count[3] = {0}, expected = 0, batches;
        o.time_major = form & 1;
        o.dtype = form & 2 ? MXC_I32 : MXC_F32;
        o.shuffle = form >> 2;
        o.invalid_label = form;
        mxc_iter *iter = make(&o);
        assert_int_equal(mxc_iter_desc(iter, 0)->shape.dim[!o.time_major], 10);
        assert_string_equal(mxc_iter_desc(iter, 1)->name, "softmax_label");
        batches = take(iter, &o, seen);
        for (int i = 0; i < N; i++) {
            int b = length_of((uint64_t)i) <= 3 ? 0 : length_of((uint64_t)i) <= 7 ? 1 : 2;
            assert_true(seen[i] <= (length_of((uint64_t)i) <= 10));
            count[b] += length_of((uint64_t)i) <= 10;
        }
        for (int b = 0; b < 3; b++)
            expected += count[b] / 4;
        assert_int_equal(batches, expected);
        mxc_iter_destroy(iter);
    }
}

static void test_buckets_by_themselves(void **state) {
    mxc_bucket_iter_options o = options_of(0, NULL);
    mxc_iter *iter = make(&o);
    mxc_batch batch;
    (void)state;
    assert_int_equal(mxc_iter_desc(iter, 0)->shape.dim[1], MOST);
    for (assert_ok(mxc_iter_next(iter, &batch)); batch.n_data > 0; assert_ok(mxc_iter_next(iter, &batch)))
        for (int i = 0; i < 4; i++) { /* each length has its own, and 1 holds the empty ones too */
            int64_t length = length_of(batch.index[i]);
            assert_true(length == batch.bucket || (batch.bucket == 1 && length == 0));
        }
    mxc_iter_destroy(iter);
    o.batch_size = 100;
    assert_fails(mxc_iter_from_sentences(&o, N, offsets, tokens, &iter), MXC_EINVAL, "of no length are there 100");
}

static void ids_of(mxc_iter *iter, uint64_t *ids, int *n) {
    mxc_batch batch;
    for (*n = 0;; *n += 4) {
        assert_ok(mxc_iter_next(iter, &batch));
        if (batch.n_data == 0)
            return;
        memcpy(ids + *n, batch.index, 4 * sizeof *ids);
    }
}

static void test_orders_and_states(void **state) {
    static const int64_t buckets[] = {5, 13};
    mxc_bucket_iter_options o = options_of(2, buckets);
    mxc_iter *a = make(&o), *b = make(&o);
    uint64_t first[N], second[N], again[N];
    mxc_batch batch;
    int n, n_again;
    (void)state;
    ids_of(a, first, &n);
    ids_of(b, again, &n_again);
    assert_int_equal(n, n_again);
    assert_memory_equal(first, again, sizeof *first * (size_t)n);
    assert_ok(mxc_iter_reset(a));
    ids_of(a, second, &n);
    assert_memory_not_equal(first, second, sizeof *first * (size_t)n);
    for (int position = 0; position <= n / 4; position++) {
        mxc_iter_state at;
        assert_ok(mxc_iter_set_state(b, &(mxc_iter_state){1, position}));
        assert_ok(mxc_iter_get_state(b, &at));
        assert_int_equal(at.position, position);
        ids_of(b, again, &n_again);
        assert_int_equal(n_again, n - 4 * position);
        assert_memory_equal(again, second + 4 * position, sizeof *again * (size_t)n_again);
    }
    assert_fails(mxc_iter_set_state(b, &(mxc_iter_state){0, n / 4 + 1}), MXC_EINVAL, "position");
    assert_ok(mxc_iter_reset(b));
    int64_t count = mxci_alloc_count();
    for (assert_ok(mxc_iter_next(b, &batch)); batch.n_data > 0;)
        assert_ok(mxc_iter_next(b, &batch));
    assert_int_equal(mxci_alloc_count(), count);
    mxc_iter_destroy(a);
    mxc_iter_destroy(b);
}

static void test_parts(void **state) {
    static const int64_t buckets[] = {MOST};
    mxc_bucket_iter_options o = options_of(1, buckets);
    int total[N] = {0}, seen[N];
    (void)state;
    o.num_parts = 5; /* of 40 sentences, ten batches each */
    for (o.part_index = 0; o.part_index < 5; o.part_index++) {
        mxc_iter *iter = make(&o);
        assert_int_equal(take(iter, &o, seen), 10);
        for (int i = 0; i < N; i++)
            total[i] += seen[i];
        mxc_iter_destroy(iter);
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(total[i], 1);
}

static void test_refused(void **state) {
    static const int64_t not_ascending[] = {4, 4}, zero[] = {0}, good[] = {4}, backwards[] = {0, 3, 2};
    mxc_bucket_iter_options o = options_of(2, not_ascending);
    mxc_iter *iter;
    (void)state;
    assert_fails(mxc_iter_from_sentences(&o, N, offsets, tokens, &iter), MXC_EINVAL, "bucket 1 of length 4");
    o = options_of(1, zero);
    assert_fails(mxc_iter_from_sentences(&o, N, offsets, tokens, &iter), MXC_EINVAL, "bucket 0 of length 0");
    o = options_of(1, good);
    assert_fails(mxc_iter_from_sentences(&o, 2, backwards, tokens, &iter), MXC_EINVAL, "sentence 1 goes from 3 to 2");
    assert_fails(mxc_iter_from_sentences(&o, 0, NULL, NULL, &iter), MXC_EINVAL, "does not fill a batch");
    assert_fails(mxc_iter_from_sentences(&o, 3, offsets, tokens, &iter), MXC_EINVAL, "does not fill a batch");
    o.dtype = MXC_F16;
    assert_fails(mxc_iter_from_sentences(&o, N, offsets, tokens, &iter), MXC_EINVAL, "float16");
    o = options_of(1, good);
    o.batch_size = 0;
    assert_fails(mxc_iter_from_sentences(&o, N, offsets, tokens, &iter), MXC_EINVAL, "batch_size 0");
    o = options_of(1, NULL);
    assert_fails(mxc_iter_from_sentences(&o, N, offsets, tokens, &iter), MXC_EINVAL, "1 buckets are not given");
    assert_null(iter);
}

static void test_every_allocation_failing(void **state) {
    mxc_bucket_iter_options o = options_of(0, NULL);
    mxc_status status = MXC_ENOMEM;
    (void)state;
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxc_iter *iter;
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = mxc_iter_from_sentences(&o, N, offsets, tokens, &iter);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        mxc_iter_destroy(iter);
        assert_int_equal(test_alive(), live);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_buckets),  cmocka_unit_test(test_buckets_by_themselves),
        cmocka_unit_test(test_orders_and_states), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refused),           cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
