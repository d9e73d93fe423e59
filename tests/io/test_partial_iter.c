/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterators of programs with some methods only: each default by itself and together, their positions, prefetching,
 * resizing, what is refused, and failures of the first batch.
 */
#include "alive.h"
#include "io/batches.h"

enum { BATCHES = 3 };

/* Epochs of BATCHES batches; each holds its epoch and its number in it, the label holds the sum. */
typedef struct counter {
    mxc_ndarray *arrays[4]; /* data of 1 or 2, then labels */
    int n_data, n_label;
    float epoch, number;
    int calls, freed, fail_at; /* fail_at: call of next that fails; 0: none */
} counter;

static counter make_counter(int n_data, int n_label) {
    counter c = {.n_data = n_data, .n_label = n_label};
    for (int i = 0; i < n_data + n_label; i++)
        assert_ok(mxc_ndarray_from_data(i < n_data ? 2 : 1, (int64_t[]){1, 2}, MXC_F32, (float[]){0, 0}, &c.arrays[i]));
    return c;
}

static void free_counter(counter *c) {
    for (int i = 0; i < 4; i++)
        mxc_ndarray_release(c->arrays[i]);
}

/* At the end of an epoch the next one begins, which is what an iterator without reset does. */
static mxc_status count_next(void *self, mxc_batch *out) {
    counter *c = self;
    if (++c->calls == c->fail_at)
        return MXC_FAIL(MXC_EIO, "counter: call %d", c->calls);
    assert_int_equal(out->n_data, 0);
    assert_null(out->data);
    if (c->number == BATCHES) {
        c->number = 0;
        c->epoch++;
        return MXC_OK;
    }
    const float values[2] = {c->epoch, c->number}, sum = c->epoch + c->number;
    for (int i = 0; i < c->n_data + c->n_label; i++)
        MXC_TRY(
            mxc_ndarray_set(c->arrays[i], i < c->n_data ? values : &sum, i < c->n_data ? sizeof values : sizeof sum));
    c->number++;
    *out = (mxc_batch){.n_data = c->n_data, .n_label = c->n_label, .data = c->arrays, .label = c->arrays + c->n_data};
    return MXC_OK;
}

/* With this one, next stays at the end. */
static mxc_status stay_next(void *self, mxc_batch *out) {
    const counter *c = self;
    return c->number == BATCHES ? MXC_OK : count_next(self, out);
}

static mxc_status count_reset(void *self) {
    counter *c = self;
    c->number = 0;
    c->epoch++;
    return MXC_OK;
}

static mxc_status count_get(void *self, mxc_iter_state *out) {
    const counter *c = self;
    *out = (mxc_iter_state){(uint64_t)c->epoch, (int64_t)c->number};
    return MXC_OK;
}

static mxc_status count_set(void *self, const mxc_iter_state *state) {
    counter *c = self;
    if (state->position > BATCHES)
        return MXC_FAIL(MXC_EINVAL, "counter: position");
    c->epoch = (float)state->epoch;
    c->number = (float)state->position;
    return MXC_OK;
}

static void count_free(void *self) {
    ((counter *)self)->freed++;
}

static int one(void *self) {
    (void)self;
    return 1;
}

static const mxc_data_desc *count_desc(void *self, int index) {
    static const mxc_data_desc desc[2] = {{"x", {2, {1, 2}}, MXC_F32}, {"y", {1, {1}}, MXC_F32}};
    (void)self;
    return &desc[index];
}

/* The next batch is that of an epoch and number; number -1: the end. */
static void expect_batch(mxc_iter *iter, float epoch, float number) {
    mxc_batch batch;
    float found[2], label;
    assert_ok(mxc_iter_next(iter, &batch));
    assert_int_equal(batch.n_data > 0, number >= 0);
    if (number < 0)
        return;
    assert_ok(mxc_ndarray_get(batch.data[0], found, sizeof found));
    assert_true(found[0] == epoch && found[1] == number);
    if (batch.n_label > 0) {
        assert_ok(mxc_ndarray_get(batch.label[0], &label, sizeof label));
        assert_true(label == epoch + number);
    }
}

static void expect_rest(mxc_iter *iter, float epoch, int from) {
    for (int i = from; i < BATCHES; i++)
        expect_batch(iter, epoch, (float)i);
    expect_batch(iter, epoch, -1);
    expect_batch(iter, epoch, -1); /* also when called again */
}

static void expect_state(mxc_iter *iter, uint64_t epoch, int64_t position) {
    mxc_iter_state at;
    assert_ok(mxc_iter_get_state(iter, &at));
    assert_int_equal(at.epoch, epoch);
    assert_int_equal(at.position, position);
}

/* All sorts: bit 0 with reset, 1 with positions, 2 with descriptions, 3 with destroy. */
static mxc_iter_methods some_methods(int which) {
    mxc_iter_methods m = {.size = sizeof m, .next = which & 3 ? stay_next : count_next};
    if (which & 1)
        m.reset = count_reset;
    if (which & 2) {
        m.get_state = count_get;
        m.set_state = count_set;
    }
    if (which & 4) {
        m.n_data = m.n_label = one;
        m.desc = count_desc;
    }
    if (which & 8)
        m.destroy = count_free;
    return m;
}

static void test_epochs(void **state) {
    int64_t live = 0;
    (void)state;
    for (int which = 0; which < 16; which++) {
        const mxc_iter_methods methods = some_methods(which);
        counter c = make_counter(1, 1);
        mxc_iter *iter;
        assert_ok(mxc_iter_from_methods(&methods, &c, &iter));
        assert_int_equal(c.calls, which & 4 ? 0 : 1);
        assert_int_equal(mxc_iter_n_data(iter), 1);
        assert_int_equal(mxc_iter_n_label(iter), 1);
        assert_string_equal(mxc_iter_desc(iter, 0)->name, which & 4 ? "x" : "data");
        assert_string_equal(mxc_iter_desc(iter, 1)->name, which & 4 ? "y" : "softmax_label");
        assert_int_equal(mxc_iter_desc(iter, 0)->shape.ndim, 2);
        assert_int_equal(mxc_iter_desc(iter, 1)->shape.dim[0], 1);
        assert_int_equal(mxc_iter_desc(iter, 1)->dtype, MXC_F32);
        expect_state(iter, 0, 0);
        for (int epoch = 0; epoch < 3; epoch++) {
            expect_batch(iter, (float)epoch, 0);
            expect_state(iter, (uint64_t)epoch, 1);
            expect_rest(iter, (float)epoch, 1);
            assert_ok(mxc_iter_reset(iter));
            expect_state(iter, (uint64_t)epoch + 1, 0);
        }
        mxc_iter_destroy(iter);
        assert_int_equal(c.freed, which >> 3);
        free_counter(&c);
        live = which == 0 ? test_alive() : live; /* the engine has made its own by then */
        assert_int_equal(test_alive(), live);
    }
}

/* Resets before the first batch, and within an epoch. */
static void test_abandoned_epochs(void **state) {
    (void)state;
    for (int which = 0; which < 8; which++) {
        const mxc_iter_methods methods = some_methods(which);
        counter c = make_counter(1, 1);
        mxc_iter *iter;
        assert_ok(mxc_iter_from_methods(&methods, &c, &iter));
        expect_batch(iter, 0, 0);
        expect_batch(iter, 0, 1);
        assert_ok(mxc_iter_reset(iter));
        expect_rest(iter, 1, 0);
        assert_ok(mxc_iter_reset(iter));
        mxc_iter_destroy(iter);
        free_counter(&c);
        c = make_counter(1, 1);
        assert_ok(mxc_iter_from_methods(&methods, &c, &iter));
        assert_ok(mxc_iter_reset(iter)); /* nothing was taken: without reset, nothing is dropped */
        expect_batch(iter, which & 3 ? 1 : 0, 0);
        mxc_iter_destroy(iter);
        free_counter(&c);
    }
}

static void test_positions(void **state) {
    (void)state;
    for (int which = 0; which < 8; which++) {
        const mxc_iter_methods methods = some_methods(which);
        counter c = make_counter(1, 1);
        mxc_iter *iter;
        assert_ok(mxc_iter_from_methods(&methods, &c, &iter));
        assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){0, 2}));
        expect_state(iter, 0, 2);
        expect_rest(iter, 0, 2);
        expect_state(iter, 0, BATCHES);
        assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){2, 1}));
        expect_rest(iter, 2, 1);
        assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){3, BATCHES}));
        expect_batch(iter, 3, -1);
        mxc_iter_state back = {1, 1};
        if (which & 2) {
            assert_ok(mxc_iter_set_state(iter, &back));
            expect_rest(iter, 1, 1);
        } else {
            assert_fails(mxc_iter_set_state(iter, &back), MXC_EUNSUPPORTED, "no method set_state");
            expect_state(iter, 3, BATCHES);
            assert_fails(mxc_iter_set_state(iter, &(mxc_iter_state){4, BATCHES + 1}), MXC_EINVAL,
                         "position 4, but epoch 4 has 3 batches");
            assert_fails(mxc_iter_set_state(iter, &(mxc_iter_state){5, -1}), MXC_EINVAL, "position -1");
        }
        mxc_iter_destroy(iter);
        free_counter(&c);
    }
}

/* Number of the call, so that the data depend on how many batches were taken, as that of a random generator does. */
static mxc_status call_next(void *self, mxc_batch *out) {
    counter *c = self;
    const float values[2] = {(float)c->calls, 0};
    if (c->number == BATCHES)
        return MXC_OK;
    c->calls++;
    c->number++;
    MXC_TRY(mxc_ndarray_set(c->arrays[0], values, sizeof values));
    *out = (mxc_batch){.n_data = 1, .data = c->arrays};
    return MXC_OK;
}

/* Where there is reset but no set_state, a later position is reached by reading all batches before it. */
static void test_positions_of_calls(void **state) {
    const mxc_iter_methods methods = {.size = sizeof methods, .next = call_next, .reset = count_reset};
    (void)state;
    for (int prefetched = 0; prefetched < 2; prefetched++)
        for (int epoch = 0; epoch < 3; epoch++)
            for (int position = 0; position < BATCHES; position++) {
                counter c = make_counter(1, 0);
                mxc_iter *inner, *iter;
                assert_ok(mxc_iter_from_methods(&methods, &c, &inner));
                iter = inner;
                if (prefetched)
                    assert_ok(mxc_iter_prefetch(inner, 2, &iter));
                assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){(uint64_t)epoch, position}));
                expect_state(iter, (uint64_t)epoch, position);
                expect_batch(iter, (float)(epoch * BATCHES + position), 0);
                mxc_iter_destroy(iter);
                free_counter(&c);
            }
}

/* Prefetched ones give the same, also where the thread is ahead when an epoch is abandoned. */
static void test_prefetched(void **state) {
    (void)state;
    for (int which = 0; which < 16; which++) {
        const mxc_iter_methods methods = some_methods(which);
        counter c = make_counter(1, 1);
        mxc_iter *inner, *iter;
        assert_ok(mxc_iter_from_methods(&methods, &c, &inner));
        assert_ok(mxc_iter_prefetch(inner, 2, &iter));
        expect_rest(iter, 0, 0);
        assert_ok(mxc_iter_reset(iter));
        expect_batch(iter, 1, 0);
        assert_ok(mxc_iter_reset(iter));
        expect_rest(iter, 2, 0);
        assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){4, 2}));
        expect_rest(iter, 4, 2);
        mxc_iter_destroy(iter);
        assert_int_equal(c.freed, which >> 3);
        free_counter(&c);
    }
}

static void test_resized(void **state) {
    const mxc_iter_methods methods = some_methods(0);
    counter c = make_counter(1, 0);
    mxc_iter *inner, *iter;
    (void)state;
    assert_ok(mxc_iter_from_methods(&methods, &c, &inner));
    assert_ok(mxc_iter_resize(inner, 2 * BATCHES - 1, 0, &iter));
    for (int i = 0; i < 2 * BATCHES - 1; i++)
        expect_batch(iter, (float)(i / BATCHES), (float)(i % BATCHES));
    expect_batch(iter, 0, -1);
    assert_ok(mxc_iter_reset(iter));
    expect_batch(iter, 1, BATCHES - 1);
    expect_batch(iter, 2, 0);
    mxc_iter_destroy(iter);
    free_counter(&c);
}

static void test_several_arrays(void **state) {
    const mxc_iter_methods methods = {.size = sizeof methods, .next = count_next};
    counter c = make_counter(2, 2);
    mxc_iter *iter;
    (void)state;
    assert_ok(mxc_iter_from_methods(&methods, &c, &iter));
    assert_string_equal(mxc_iter_desc(iter, 0)->name, "data0");
    assert_string_equal(mxc_iter_desc(iter, 1)->name, "data1");
    assert_string_equal(mxc_iter_desc(iter, 2)->name, "softmax_label0");
    assert_string_equal(mxc_iter_desc(iter, 3)->name, "softmax_label1");
    assert_null(mxc_iter_desc(iter, 4));
    mxc_iter_destroy(iter);
    free_counter(&c);
}

static mxc_status nothing_next(void *self, mxc_batch *out) {
    (void)self, (void)out;
    return MXC_OK;
}

static void expect_refused(const mxc_iter_methods *methods, void *self, mxc_status code, const char *message) {
    int64_t live = test_alive();
    mxc_iter *iter;
    assert_fails(mxc_iter_from_methods(methods, self, &iter), code, message);
    assert_null(iter);
    assert_int_equal(test_alive(), live);
}

static void test_refused(void **state) {
    counter c = make_counter(1, 1);
    mxc_iter_methods m = some_methods(15);
    (void)state;
    m.next = NULL;
    expect_refused(&m, &c, MXC_EINVAL, "the method next is NULL");
    m = some_methods(15);
    m.desc = NULL;
    expect_refused(&m, &c, MXC_EINVAL, "n_data, n_label and desc must all be given");
    m = some_methods(15);
    m.n_label = NULL;
    expect_refused(&m, &c, MXC_EINVAL, "n_data, n_label and desc must all be given");
    m = some_methods(15);
    m.get_state = NULL;
    expect_refused(&m, &c, MXC_EINVAL, "get_state and set_state must both be given");
    m = some_methods(8);
    m.next = nothing_next;
    expect_refused(&m, &c, MXC_EINVAL, "the first batch has 0 data and 0 label arrays");
    m = some_methods(8);
    c.fail_at = 1;
    expect_refused(&m, &c, MXC_EIO, "counter: call 1");
    assert_int_equal(c.freed, 0); /* still the program's */
    free_counter(&c);
}

/* A failure later is reported, and the iterator goes on. */
static void test_failure_later(void **state) {
    const mxc_iter_methods methods = some_methods(0);
    counter c = make_counter(1, 1);
    mxc_batch batch;
    mxc_iter *iter;
    (void)state;
    c.fail_at = 2;
    assert_ok(mxc_iter_from_methods(&methods, &c, &iter));
    expect_batch(iter, 0, 0);
    assert_fails(mxc_iter_next(iter, &batch), MXC_EIO, "counter: call 2");
    expect_state(iter, 0, 1);
    expect_rest(iter, 0, 1);
    mxc_iter_destroy(iter);
    free_counter(&c);
}

static void test_every_allocation_failing(void **state) {
    const mxc_iter_methods methods = some_methods(0);
    mxc_status status = MXC_ENOMEM;
    (void)state;
    for (int64_t k = 1; status != MXC_OK; k++) {
        counter c = make_counter(1, 1);
        int64_t live = test_alive();
        mxc_iter *iter;
        mxci_test_fail_alloc(k, 0);
        status = mxc_iter_from_methods(&methods, &c, &iter);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        mxc_iter_destroy(iter);
        assert_int_equal(test_alive(), live);
        free_counter(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs),         cmocka_unit_test(test_abandoned_epochs),
        cmocka_unit_test(test_positions),      cmocka_unit_test(test_positions_of_calls),
        cmocka_unit_test(test_prefetched),     cmocka_unit_test(test_resized),
        cmocka_unit_test(test_several_arrays), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_failure_later),  cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
