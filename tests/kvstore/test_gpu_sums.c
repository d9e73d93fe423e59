/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums that GPUs make among themselves, on the stand-in for GPUs: of one process, and of a group that is played by
 * threads. The program's argument says how the stand-in behaves: sums as it should none it has no communicators
 * refuse nobody can join one fail the third piece of work of each set's last member fails, late Results must be the
 * same in all but the last. With the module itself: library what its library does with one GPU, or how it says that
 * there is none
 */
#include "kvstore/gpu_sums.h"

#include "base/communicator.h"
#include "base/module.h"
#include "kvstore/fail_each.h"
#include "kvstore/ranks.h"

enum { WORKERS = 3 };

static int has_communicators; /* sums, fail */

static mxc_status fill_on(mxc_context where, double value, int64_t n, mxc_dtype dtype, mxc_ndarray **out) {
    MXC_TRY(mxc_ndarray_create(1, &n, dtype, where, out));
    return mxc_ndarray_fill(*out, value);
}

static mxc_ndarray *array_of(double value, mxc_dtype dtype, mxc_context where) {
    mxc_ndarray *array;
    assert_ok(fill_on(where, value, N, dtype, &array));
    return array;
}

static void expect(mxc_ndarray *array, float expected) {
    mxc_ndarray *copy;
    float found[N];
    assert_ok(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F32, &copy));
    assert_ok(mxc_ndarray_get(copy, found, sizeof found));
    for (int i = 0; i < N; i++)
        if (found[i] != expected)
            fail_msg("element %d is %g, expected %g", i, (double)found[i], (double)expected);
    mxc_ndarray_release(copy);
}

static void release_all(int n, mxc_ndarray **arrays) {
    for (int i = 0; i < n; i++)
        mxc_ndarray_release(arrays[i]);
}

/* ---- of one process ---------------------------------------------------------------------------------------------- */

/* Every dtype, either GPU the result's, values in either order. */
static void test_sums(void **state) {
    static const mxc_dtype dtypes[] = {MXC_F32, MXC_F64, MXC_F16, MXC_BF16, MXC_I8, MXC_U8, MXC_I32, MXC_I64};
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int way = 0; way < 4; way++) {
            mxc_ndarray *values[2], *out = array_of(-1, dtypes[i], mxc_gpu(way / 2));
            int queued;
            for (int j = 0; j < 2; j++)
                values[j] = array_of(3 + 4 * j, dtypes[i], mxc_gpu(way % 2 ? 1 - j : j));
            assert_ok(mxci_gpu_sums_reduce(2, values, out, 0, &queued));
            assert_int_equal(queued, has_communicators);
            if (queued)
                expect(out, 10);
            expect(values[0], 3);
            expect(values[1], 7);
            release_all(2, values);
            mxc_ndarray_release(out);
        }
}

/* From either GPU to both; the array itself among them, or not. */
static void test_copies(void **state) {
    (void)state;
    for (int way = 0; way < 4; way++) {
        mxc_ndarray *to[2] = {array_of(0, MXC_F64, mxc_gpu(0)), array_of(0, MXC_F64, mxc_gpu(1))};
        mxc_ndarray *from = way / 2 ? array_of(5, MXC_F64, mxc_gpu(way % 2)) : mxc_ndarray_retain(to[way % 2]);
        mxc_ndarray *turned[2] = {to[1], to[0]};
        int queued;
        assert_ok(mxc_ndarray_fill(from, 5 + way));
        assert_ok(mxci_gpu_sums_broadcast(from, 2, way % 2 ? turned : to, 0, &queued));
        assert_int_equal(queued, has_communicators);
        for (int i = 0; i < 2 && queued; i++)
            expect(to[i], (float)(5 + way));
        expect(from, (float)(5 + way));
        release_all(2, to);
        mxc_ndarray_release(from);
    }
}

static void expect_not_queued(mxc_dtype dtype, mxc_context a, mxc_context b, mxc_context to) {
    mxc_ndarray *values[2] = {array_of(1, dtype, a), array_of(1, dtype, b)}, *out = array_of(0, dtype, to);
    int queued = 1;
    assert_ok(mxci_gpu_sums_reduce(2, values, out, 0, &queued));
    assert_int_equal(queued, 0);
    release_all(2, values);
    mxc_ndarray_release(out);
}

static void test_not_served(void **state) {
    (void)state;
    expect_not_queued(MXC_F32, mxc_gpu(0), mxc_gpu(0), mxc_gpu(0));
    expect_not_queued(MXC_F32, mxc_gpu(0), mxc_gpu(1), mxc_cpu(0));
    expect_not_queued(MXC_F32, mxc_cpu(0), mxc_gpu(1), mxc_gpu(1));
    expect_not_queued(MXC_BOOL, mxc_gpu(0), mxc_gpu(1), mxc_gpu(0));
}

/* Keys at both GPUs, pushed in turn, over and over; values come from work that is still queued; pulls to all. */
static void test_store(void **state) {
    const char *keys[] = {"a", "b", "a", "b", "a", "b"};
    const mxc_context places[] = {mxc_gpu(0), mxc_gpu(1), mxc_cpu(0)};
    mxc_ndarray *values[4], *outs[6];
    mxc_kvstore *store;
    (void)state;
    assert_ok(mxc_kvstore_create("device", &store));
    for (int i = 0; i < 4; i++)
        values[i] = array_of(0, MXC_F32, mxc_gpu(i / 2)); /* a on 0, b on 0, a on 1, b on 1 */
    for (int i = 0; i < 6; i++)
        outs[i] = array_of(-1, MXC_F32, places[i / 2]);
    assert_ok(mxc_kvstore_init(store, 1, &keys[0], &values[0]));
    assert_ok(mxc_kvstore_init(store, 1, &keys[1], &values[3]));
    for (int step = 0; step < TEST_SCALE(50); step++) {
        for (int i = 0; i < 4; i++)
            assert_ok(mxc_ndarray_fill(values[i], step + (1 << i)));
        assert_ok(mxc_kvstore_push(store, 4, keys, values, step % 3));
        assert_ok(mxc_kvstore_pull(store, step % 2 ? 4 : 6, keys, outs, 0)); /* to both GPUs, or everywhere */
        if (step % 7 == 0)
            for (int i = 0; i < (step % 2 ? 4 : 6); i++)
                expect(outs[i], (float)(2 * step + (i % 2 ? 2 + 8 : 1 + 4)));
    }
    for (int i = 0; i < 4; i++) /* from the same GPU twice: by one operator, as ever */
        assert_ok(mxc_kvstore_push(store, 1, &keys[i], &values[i], 0));
    mxc_ndarray *twice[2] = {values[0], values[0]};
    const char *same[2] = {"a", "a"};
    assert_ok(mxc_kvstore_push(store, 2, same, twice, 0));
    assert_ok(mxc_kvstore_pull(store, 1, keys, outs, 0));
    expect(outs[0], (float)(2 * (TEST_SCALE(50) - 1) + 2));
    release_all(4, values);
    release_all(6, outs);
    mxc_kvstore_destroy(store);
}

/* The third sum fails, late: whoever waits hears of it. Then sums go by copies, and are right again. */
static void test_late_error(void **state) {
    const char *keys[] = {"w", "w"};
    mxc_ndarray *values[2] = {array_of(1, MXC_F32, mxc_gpu(0)), array_of(2, MXC_F32, mxc_gpu(1))};
    mxc_ndarray *out = array_of(0, MXC_F32, mxc_gpu(1));
    mxc_kvstore *store;
    (void)state;
    assert_ok(mxc_kvstore_create("device", &store));
    assert_ok(mxc_kvstore_init(store, 1, keys, values));
    for (int step = 1; step <= 6; step++) {
        assert_ok(mxc_ndarray_fill(values[1], step));
        assert_ok(mxc_kvstore_push(store, 2, keys, values, 0));
        assert_ok(mxc_kvstore_pull(store, 1, keys, &out, 0));
        if (step != 3)
            expect(out, (float)(1 + step));
        else
            assert_fails(mxc_ndarray_wait_to_read(out), MXC_EDEVICE, "injected failure");
    }
    release_all(2, values);
    mxc_ndarray_release(out);
    mxc_kvstore_destroy(store);
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    fail_each_allocation("device", mxc_gpu(0), mxc_gpu(1));
}

/* ---- of several -------------------------------------------------------------------------------------------------- */

/* Which GPU, if any, has a rank's value of a key. */
typedef mxc_context place_fn(int rank, int key);

static mxc_context on_one_each(int rank, int key) {
    (void)key;
    return mxc_gpu(rank % 2);
}

/* Rank 1's last key is elsewhere: at all ranks it goes through the host. */
static mxc_context last_elsewhere(int rank, int key) {
    return mxc_gpu(rank == 1 && key == 2 ? 0 : rank % 2);
}

static mxc_context rank_1_on_cpu(int rank, int key) {
    (void)key;
    return rank == 1 ? mxc_cpu(0) : mxc_gpu(0);
}

static place_fn *place;

static const char *const keys[] = {"a", "b", "c"};
static const int64_t lengths[] = {5, 6, 3000}; /* the last in pieces of 4 KiB */

static mxc_status compare(mxc_ndarray *array, float expected) {
    static const char what[] = "element %d is %g, expected %g";
    float found[3000];
    int64_t n = mxc_ndarray_size(array);
    MXC_TRY(mxc_ndarray_get(array, found, (size_t)n * sizeof *found));
    for (int i = 0; i < n; i++)
        if (found[i] != expected)
            return MXC_FAIL(MXC_EUSER, what, i, (double)found[i], (double)expected);
    return MXC_OK;
}

/* Push 1, 2, 4 times the rank's number and the step to the keys, and look for the sums. */
static mxc_status make_steps(const rank *r, mxc_kvstore *store, mxc_ndarray **values, int steps) {
    for (int i = 0; i < 3; i++)
        MXC_TRY(mxc_kvstore_init(store, 1, &keys[i], &values[i]));
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < 3; i++)
            MXC_TRY(mxc_ndarray_fill(values[i], (r->rank + 1) * (1 << i) + step));
        MXC_TRY(mxc_kvstore_pushpull(store, 3, keys, values, values, 0));
        for (int i = 0; i < 3; i++)
            MXC_TRY(compare(values[i], (float)(r->size * (r->size + 1) / 2 * (1 << i) + step * r->size)));
    }
    return mxc_kvstore_barrier(store);
}

static mxc_status sum_keys(rank *r, mxc_kvstore *store) {
    mxc_ndarray *values[3] = {NULL, NULL, NULL};
    mxc_status status = MXC_OK;
    for (int i = 0; i < 3 && status == MXC_OK; i++)
        status = fill_on(place(r->rank, i), r->rank, lengths[i], MXC_F32, &values[i]);
    if (status == MXC_OK)
        status = make_steps(r, store, values, 5);
    release_all(3, values);
    return status;
}

static void test_workers(void **state) {
    static place_fn *const places[] = {on_one_each, last_elsewhere, rank_1_on_cpu};
    const char *const settings[] = {"piece_bytes", "4096", "timeout", "60", NULL};
    const char *const one_by_one[] = {"piece_bytes", "4096", "bucket_bytes", "0", "timeout", "60", NULL};
    rank ranks[WORKERS];
    (void)state;
    for (int size = 1; size <= WORKERS; size++)
        for (int i = 0; i < 3; i++) {
            place = places[i];
            play_all(ranks, size, "dist_device_sync", settings, sum_keys);
            expect_all_ok(ranks, size);
            play_all(ranks, size, "dist_device_sync", one_by_one, sum_keys);
            expect_all_ok(ranks, size);
        }
}

/* What is narrowed for travelling goes through the host. */
static void test_narrowed(void **state) {
    const char *const settings[] = {"compression", "float16", "timeout", "60", NULL};
    rank ranks[WORKERS];
    (void)state;
    place = on_one_each;
    play_all(ranks, 2, "dist_device_sync", settings, sum_keys);
    expect_all_ok(ranks, 2);
}

/* Two GPUs of each worker: first their sum, then that of all workers. */
static mxc_status sum_two_each(rank *r, mxc_kvstore *store) {
    const char *twice[2] = {"w", "w"};
    mxc_ndarray *values[2] = {NULL, NULL};
    mxc_status status = MXC_OK;
    for (int i = 0; i < 2 && status == MXC_OK; i++)
        status = fill_on(mxc_gpu(i), 0, N, MXC_F32, &values[i]);
    if (status == MXC_OK)
        status = mxc_kvstore_init(store, 1, twice, values);
    for (int step = 0; step < 4 && status == MXC_OK; step++) {
        for (int i = 0; i < 2 && status == MXC_OK; i++)
            status = mxc_ndarray_fill(values[i], r->rank + 10 * i + step);
        if (status == MXC_OK)
            status = mxc_kvstore_pushpull(store, 2, twice, values, values, 0);
        for (int i = 0; i < 2 && status == MXC_OK; i++)
            status = compare(values[i], (float)(2 * step * r->size + 10 * r->size + r->size * (r->size - 1)));
    }
    release_all(2, values);
    return status;
}

static void test_two_each(void **state) {
    const char *const settings[] = {"timeout", "60", NULL};
    rank ranks[WORKERS];
    (void)state;
    for (int size = 2; size <= WORKERS; size++) {
        play_all(ranks, size, "dist_device_sync", settings, sum_two_each);
        expect_all_ok(ranks, size);
    }
}

static void test_late_error_of_worker(void **state) {
    const char *const settings[] = {"timeout", "60", NULL};
    rank ranks[WORKERS];
    (void)state;
    place = on_one_each;
    for (int size = 2; size <= WORKERS; size++) {
        char who[32];
        snprintf(who, sizeof who, "rank %d: ", size - 1);
        play_all(ranks, size, "dist_device_sync", settings, sum_keys);
        for (int i = 0; i < size; i++)
            if (ranks[i].status == MXC_OK || !strstr(ranks[i].message, who) ||
                !strstr(ranks[i].message, "injected failure") || !strstr(ranks[i].message, "by GPUs"))
                fail_msg("rank %d: %s: \"%s\"", i, mxc_status_name(ranks[i].status), ranks[i].message);
    }
}

/* The others' sums wait for rank 1 until it is missed. */
static mxc_status freezes(rank *r, mxc_kvstore *store) {
    mxc_ndarray *value;
    MXC_TRY(fill_on(mxc_gpu(r->rank % 2), r->rank, N, MXC_F32, &value));
    mxc_status status = mxc_kvstore_init(store, 1, keys, &value);
    for (int step = 0; step < 2 && status == MXC_OK; step++) {
        status = mxc_kvstore_pushpull(store, 1, keys, &value, &value, 0);
        if (status == MXC_OK)
            status = mxc_ndarray_wait_to_read(value);
        if (status == MXC_OK && step == 0)
            status = mxc_kvstore_barrier(store);
        if (status == MXC_OK && r->rank == 1)
            fake_group_freeze(1);
        if (status == MXC_OK && step == 0)
            fake_group_await_frozen(1);
    }
    mxc_ndarray_release(value);
    return status;
}

static void test_frozen_worker(void **state) {
    const char *const settings[] = {"timeout", "1.5", NULL};
    rank ranks[WORKERS];
    (void)state;
    play_all(ranks, 3, "dist_device_sync", settings, freezes);
    for (int i = 0; i < 3; i += 2)
        expect_all_failed(&ranks[i], 1, "rank 1 ", "has sent no heartbeat for",
                          has_communicators ? "by GPUs" : "push of \"a\"");
    expect_all_failed(&ranks[1], 1, "has sent no heartbeat", "has reached", "step 1");
}

/* ---- the module's library ---------------------------------------------------------------------------------------- */

static void wait_for(const mxci_communicator_api *api, mxci_communicator *communicator, int64_t ticket) {
    int done = 0;
    while (!done)
        assert_ok(api->test(communicator, ticket, &done));
}

/* The only member of a set, in place. */
static void sum_alone(const mxci_communicator_api *api, mxci_communicator *communicator) {
    mxc_ndarray *array = array_of(3, MXC_F32, mxc_gpu(0));
    mxc_tensor t;
    int64_t ticket;
    assert_ok(mxc_ndarray_wait_to_read(array));
    assert_ok(mxc_ndarray_tensor(array, &t));
    const mxci_communicator_work work = {
        .collective = MXCI_COLLECTIVE_ALLREDUCE,
        .dtype = MXC_F32,
        .n = N,
        .in = {t.data},
        .out = {t.data},
    };
    for (int i = 0; i < 100; i++) {
        assert_ok(api->start(communicator, &work, &ticket));
        assert_int_equal(ticket, i + 1);
    }
    wait_for(api, communicator, ticket);
    expect(array, 3);
    mxc_ndarray_release(array);
}

static void test_library(void **state) {
    const mxci_module *module;
    mxci_communicator_id id;
    mxci_communicator *communicator;
    const int gpu = 0;
    (void)state;
    if (mxci_module_get(MXC_GPU, &module) != MXC_OK || !module->communicator)
        skip();
    const mxci_communicator_api *api = module->communicator;
    assert_true(api->supports(MXC_F32) && api->supports(MXC_BF16) && api->supports(MXC_I64) &&
                !api->supports(MXC_BOOL));
    if (api->create_id(&id) != MXC_OK) { /* built with it, and it is not where the module runs */
        assert_non_null(strstr(mxc_last_error(), "libnccl"));
        skip();
    }
    if (module->devices[MXC_GPU]->count() == 0) {
        assert_status(api->create(&id, 1, 0, 1, &gpu, &communicator), MXC_EDEVICE);
        assert_null(communicator);
        skip();
    }
    assert_ok(api->create(&id, 1, 0, 1, &gpu, &communicator));
    wait_for(api, communicator, 0);
    sum_alone(api, communicator);
    assert_int_equal(api->destroy(communicator), 1);
}

/* The one worker of a store. */
static void test_alone(void **state) {
    rank ranks[1];
    int n_gpus;
    (void)state;
    if (mxc_device_count(MXC_GPU, &n_gpus) != MXC_OK || n_gpus == 0)
        skip();
    place = on_one_each;
    play_all(ranks, 1, "dist_device_sync", NULL, sum_keys);
    expect_all_ok(ranks, 1);
}

static int has_two_gpus(void) {
    int n_gpus;
    return mxc_device_count(MXC_GPU, &n_gpus) == MXC_OK && n_gpus >= 2;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "sums";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_not_served),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_every_allocation_failing),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_narrowed),
        cmocka_unit_test(test_two_each),
        cmocka_unit_test(test_frozen_worker),
    };
    const struct CMUnitTest failing[] = {
        cmocka_unit_test(test_late_error),
        cmocka_unit_test(test_late_error_of_worker),
    };
    const struct CMUnitTest library[] = {cmocka_unit_test(test_library), cmocka_unit_test(test_alone)};
    has_communicators = strcmp(way, "sums") == 0;
    if (strcmp(way, "none") == 0 || strcmp(way, "refuse") == 0)
        setenv("FAKE_GPU_COMMUNICATOR", way, 1);
    if (strcmp(way, "fail") == 0)
        setenv("FAKE_GPU_COMMUNICATOR_FAIL", "3", 1);
    if (strcmp(way, "library") == 0)
        return cmocka_run_group_tests(library, NULL, NULL);
    if (!has_two_gpus()) {
        print_message("skipped: there are no two GPUs\n");
        return 0;
    }
    return strcmp(way, "fail") == 0 ? cmocka_run_group_tests(failing, NULL, NULL)
                                    : cmocka_run_group_tests(tests, NULL, NULL);
}
