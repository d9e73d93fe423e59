/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies: to and from the host, between arrays, dtypes and contexts; order, failures, threads, no allocation. Covers
 * ndarray/array_copy.c and array_task.c.
 */
#include "arrays.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

static void bytes_go_in_and_out(void **state) {
    (void)state;
    for (int i = 0; i < DTYPES; i++) {
        unsigned char in[200], out[200] = {0};
        mxc_ndarray *a = array_new(2, DIMS(5, 5), all_dtypes[i]);
        size_t bytes = mxc_ndarray_bytes(a);
        ramp_bytes(all_dtypes[i], in, bytes);
        assert_ok(mxc_ndarray_set(a, in, bytes));
        assert_ok(mxc_ndarray_get(a, out, bytes));
        assert_memory_equal(in, out, bytes);
        assert_fails(mxc_ndarray_set(a, in, bytes - 1), MXC_EINVAL, "(5,5)");
        assert_fails(mxc_ndarray_get(a, out, bytes + 1), MXC_EINVAL, mxc_dtype_name(all_dtypes[i]));
        assert_status(mxc_ndarray_get(a, NULL, bytes), MXC_EINVAL);
        mxc_ndarray_release(a);
    }
}

static void copies_convert_between_all_dtypes(void **state) {
    double values[12], back[12];
    (void)state;
    for (int i = 0; i < DTYPES; i++)
        for (int j = 0; j < DTYPES; j++) {
            int logical = all_dtypes[i] == MXC_BOOL || all_dtypes[j] == MXC_BOOL;
            mxc_ndarray *wide, *a, *b;
            for (int k = 0; k < 12; k++)
                values[k] = k;
            assert_ok(mxc_ndarray_from_data(2, DIMS(3, 4), MXC_F64, values, &wide));
            assert_ok(mxc_ndarray_copy(wide, mxc_cpu(1), all_dtypes[i], &a));
            assert_ok(mxc_ndarray_copy(a, mxc_cpu(2), all_dtypes[j], &b));
            assert_int_equal(mxc_ndarray_context(b).id, 2);
            array_values(b, back);
            for (int k = 0; k < 12; k++)
                assert_true(back[k] == (logical ? k != 0 : k));
            mxc_ndarray_release(wide);
            mxc_ndarray_release(a);
            mxc_ndarray_release(b);
        }
}

/* Long enough to be split over threads. */
static void large_copies_are_whole(void **state) {
    enum { N = 700001 };
    mxc_ndarray *a = array_new(1, DIMS(N), MXC_F32), *b, *c;
    float *x;
    double *y;
    (void)state;
    assert_ok(mxc_ndarray_data(a, (void **)&x));
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    assert_ok(mxc_ndarray_copy(a, mxc_cpu(0), MXC_F64, &b));
    assert_ok(mxc_ndarray_copy(a, mxc_cpu(3), MXC_F32, &c));
    assert_ok(mxc_ndarray_data(b, (void **)&y));
    for (int i = 0; i < N; i++)
        assert_true(y[i] == i);
    assert_same_array(a, c);
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
    mxc_ndarray_release(c);
}

static void shapes_must_agree_and_self_is_nothing(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(2, 3), MXC_F32), *b = array_new(2, DIMS(3, 2), MXC_F32);
    uint64_t version = mxc_var_version(mxc_ndarray_var(a));
    (void)state;
    assert_fails(mxc_ndarray_copy_to(a, b, 0), MXC_ESHAPE, "(2,3)");
    assert_ok(mxc_ndarray_copy_to(a, a, 0));
    assert_true(mxc_var_version(mxc_ndarray_var(a)) == version);
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
}

static void overlapping_views_copy_as_memmove(void **state) {
    mxc_ndarray *a = array_ramp(1, DIMS(10), MXC_U8), *front, *back;
    unsigned char bytes[10];
    (void)state;
    assert_ok(mxc_ndarray_slice(a, 0, 8, &front));
    assert_ok(mxc_ndarray_slice(a, 2, 10, &back));
    assert_ok(mxc_ndarray_copy_to(front, back, 0));
    assert_ok(mxc_ndarray_get(a, bytes, 10));
    for (int i = 0; i < 10; i++)
        assert_int_equal(bytes[i], i < 2 ? i + 1 : i - 1);
    mxc_ndarray_release(front);
    mxc_ndarray_release(back);
    mxc_ndarray_release(a);
}

/* a = 1, b = a, a = 2, c = a ...: each copy sees the value at its place in the program. */
static void work_runs_in_program_order(void **state) {
    mxc_ndarray *a = array_new(1, DIMS(3000), MXC_F32), *copies[20];
    float x[3000];
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_ok(mxc_ndarray_fill(a, i));
        assert_ok(mxc_ndarray_copy(a, mxc_cpu(i % 3), MXC_F32, &copies[i]));
    }
    for (int i = 0; i < 20; i++) {
        assert_ok(mxc_ndarray_get(copies[i], x, sizeof x));
        assert_true(x[0] == i && x[2999] == i);
        mxc_ndarray_release(copies[i]);
    }
    mxc_ndarray_release(a);
}

/* ---- failures ---- */

static mxc_status fail_on_purpose(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_FAIL(MXC_EUSER, "on purpose");
}

/* Mark an array failed. */
static void spoil(mxc_ndarray *a) {
    mxc_var *var = mxc_ndarray_var(a);
    mxc_task task = MXC_TASK_INIT;
    mxc_status status;
    task.fn = fail_on_purpose;
    status = mxc_engine_push(mxc_var_engine(var), &task, 0, NULL, 1, &var, 0);
    assert_true(status == MXC_OK || status == MXC_EUSER); /* a naive engine tells at once */
}

static void failures_surface_spread_and_heal(void **state) {
    mxc_ndarray *a = array_ramp(1, DIMS(8), MXC_F32), *b = array_ramp(1, DIMS(8), MXC_F32), *half, *c;
    float x[8];
    void *data;
    (void)state;
    assert_ok(mxc_ndarray_slice(a, 0, 4, &half));
    spoil(a);
    assert_fails(mxc_ndarray_get(a, x, sizeof x), MXC_EUSER, "on purpose");
    assert_fails(mxc_ndarray_wait_to_read(a), MXC_EUSER, "on purpose");
    assert_fails(mxc_ndarray_wait_to_write(half), MXC_EUSER, "on purpose");
    assert_status(mxc_ndarray_data(a, &data), MXC_EUSER);
    MXC_IGNORE(mxc_ndarray_copy_to(a, b, 0)); /* the copy is skipped and hands the failure on */
    assert_fails(mxc_ndarray_get(b, x, sizeof x), MXC_EUSER, "on purpose");
    MXC_IGNORE(mxc_ndarray_fill(half, 1)); /* a part does not heal the whole */
    assert_status(mxc_ndarray_get(a, x, sizeof x), MXC_EUSER);
    assert_status(mxc_ndarray_set(half, x, 16), MXC_EUSER);
    assert_ok(mxc_ndarray_fill(a, 3));
    assert_ok(mxc_ndarray_get(a, x, sizeof x));
    assert_true(x[0] == 3 && x[7] == 3);
    assert_ok(mxc_ndarray_set(b, x, sizeof x));
    assert_ok(mxc_ndarray_copy(b, mxc_cpu(0), MXC_I8, &c));
    assert_ok(mxc_ndarray_wait_to_read(c));
    mxc_ndarray_release(half);
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
    mxc_ndarray_release(c);
}

static mxc_status copy_and_fill(void *arg) {
    mxc_ndarray **arrays = arg;
    MXC_TRY(mxc_ndarray_fill(arrays[0], 1));
    MXC_TRY(mxc_ndarray_copy_to(arrays[0], arrays[1], 0));
    MXC_TRY(mxc_ndarray_copy_to(arrays[2], arrays[1], 0));
    return mxc_ndarray_wait_to_read(arrays[1]);
}

static void failed_pushes_leak_nothing(void **state) {
    mxc_ndarray *arrays[3] = {
        array_ramp(1, DIMS(500), MXC_F32),
        array_ramp(1, DIMS(500), MXC_F32),
        array_ramp(1, DIMS(500), MXC_I32),
    };
    (void)state;
    fail_each_allocation(copy_and_fill, arrays);
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(arrays[i]);
}

/* ---- allocation ---- */

static void steady_state_allocates_nothing(void **state) {
    mxc_ndarray *a = array_ramp(1, DIMS(500), MXC_F32), *b = array_ramp(1, DIMS(500), MXC_F64);
    float x[500] = {0};
    int64_t before = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        if (i == 200)
            before = mxci_alloc_count();
        assert_ok(mxc_ndarray_set(a, x, sizeof x));
        assert_ok(mxc_ndarray_copy_to(a, b, 0));
        assert_ok(mxc_ndarray_copy_to(b, a, 0));
        assert_ok(mxc_ndarray_get(a, x, sizeof x));
    }
    assert_int_equal(mxci_alloc_count(), before);
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
}

/* ---- threads ---- */

static mxc_ndarray *shared;
static atomic_int torn;

static void *set_and_get(void *arg) {
    int32_t values[2000];
    for (int round = 0; round < TEST_SCALE(300); round++) {
        for (int i = 0; i < 2000; i++)
            values[i] = *(int *)arg;
        if (mxc_ndarray_set(shared, values, sizeof values) != MXC_OK)
            atomic_fetch_add(&torn, 1);
        if (mxc_ndarray_get(shared, values, sizeof values) != MXC_OK)
            atomic_fetch_add(&torn, 1);
        for (int i = 1; i < 2000; i++)
            if (values[i] != values[0])
                atomic_fetch_add(&torn, 1);
    }
    return NULL;
}

static void concurrent_sets_and_gets_are_whole(void **state) {
    pthread_t threads[4];
    int numbers[4] = {10, 20, 30, 40};
    (void)state;
    shared = array_ramp(1, DIMS(500), MXC_I32);
    mxc_ndarray_release(shared);
    shared = array_new(1, DIMS(2000), MXC_I32);
    assert_ok(mxc_ndarray_fill(shared, 0));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, set_and_get, &numbers[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&torn), 0);
    mxc_ndarray_release(shared);
}

/* ---- each kind of engine ---- */

static int with_engine(mxc_engine_kind kind, void **state) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.kind = kind;
    options.workers = 2;
    options.parallelism = 3;
    options.seed = 5;
    assert_ok(mxc_engine_create(&options, &engine));
    mxc_engine_set_default(engine);
    *state = engine;
    return 0;
}

static int naive(void **state) {
    return with_engine(MXC_ENGINE_NAIVE, state);
}
static int threaded(void **state) {
    return with_engine(MXC_ENGINE_THREADED, state);
}
static int seeded(void **state) {
    return with_engine(MXC_ENGINE_SEEDED, state);
}

static int without_engine(void **state) {
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(*state);
    return 0;
}

/* ---- forks while a thread waits in set or get ------------------------------------------------------------------- */

enum { WAITED = 16 };

typedef struct waiting {
    mxc_ndarray *array;
    float values[WAITED]; /* that the thread sets, or that it gets */
    int gets;
    _Atomic(mxc_done *) done; /* of what the thread's call comes after */
} waiting;

static void keep_done(const mxc_run *run, void *arg, mxc_done *done) {
    (void)run;
    atomic_store(&((waiting *)arg)->done, done);
}

static void *set_or_get(void *arg) {
    waiting *w = arg;
    return (void *)(intptr_t)(w->gets ? mxc_ndarray_get(w->array, w->values, sizeof w->values)
                                      : mxc_ndarray_set(w->array, w->values, sizeof w->values));
}

/* In the child the array is 2, and the memory of the thread that is not there is as it was. */
static int is_untouched(waiting *w) {
    float values[WAITED];
    if (mxc_ndarray_get(w->array, values, sizeof values) != MXC_OK || values[WAITED - 1] != 2)
        return 1;
    return w->values[0] != 5 || w->values[WAITED - 1] != 5;
}

/* Until then something that has not ended reads the array, or changes it before it is filled. */
static void hold_back(waiting *w) {
    mxc_var *var = mxc_ndarray_var(w->array);
    mxc_task task = MXC_TASK_INIT;
    task.async_fn = keep_done;
    task.arg = w;
    assert_ok(mxc_engine_push(mxc_var_engine(var), &task, !w->gets, &var, w->gets, &var, 0));
    if (w->gets)
        assert_ok(mxc_ndarray_fill(w->array, 2));
}

static void waiting_calls_do_not_run_in_a_child(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it cannot follow threads that a child starts */
#endif
    for (int gets = 0; gets < 2; gets++) {
        waiting w = {.array = array_new(1, DIMS(WAITED), MXC_F32), .gets = gets};
        pthread_t thread;
        void *result;
        int status = -1;
        pid_t pid;
        for (int i = 0; i < WAITED; i++)
            w.values[i] = 5;
        assert_ok(mxc_ndarray_fill(w.array, 2));
        hold_back(&w);
        assert_int_equal(pthread_create(&thread, NULL, set_or_get, &w), 0);
        usleep(20000); /* for the thread to queue its call; without it the test passes for nothing */
        pid = fork();
        if (pid == 0) {
            alarm(60);
            _exit(is_untouched(&w));
        }
        waitpid(pid, &status, 0);
        while (!atomic_load(&w.done))
            usleep(1000);
        mxc_done_complete(w.done, MXC_OK, NULL);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_int_equal((intptr_t)result, MXC_OK);
        assert_true(w.values[0] == (gets ? 2 : 5));
        assert_int_equal(status, 0);
        mxc_ndarray_release(w.array);
    }
}

#define ON_ALL_ENGINES(test)                                           \
    {#test " (naive)", test, naive, without_engine, NULL},             \
        {#test " (threaded)", test, threaded, without_engine, NULL}, { \
#test " (seeded)", test, seeded, without_engine, NULL          \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_ALL_ENGINES(bytes_go_in_and_out),
        ON_ALL_ENGINES(copies_convert_between_all_dtypes),
        ON_ALL_ENGINES(large_copies_are_whole),
        ON_ALL_ENGINES(shapes_must_agree_and_self_is_nothing),
        ON_ALL_ENGINES(overlapping_views_copy_as_memmove),
        ON_ALL_ENGINES(work_runs_in_program_order),
        ON_ALL_ENGINES(failures_surface_spread_and_heal),
        ON_ALL_ENGINES(failed_pushes_leak_nothing),
        ON_ALL_ENGINES(steady_state_allocates_nothing),
        ON_ALL_ENGINES(concurrent_sets_and_gets_are_whole),
        cmocka_unit_test_setup_teardown(waiting_calls_do_not_run_in_a_child, threaded, without_engine),
    };
    return cmocka_run_group_tests_name("transfer", tests, NULL, NULL);
}
