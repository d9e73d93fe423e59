/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributed stores over a group that is played by threads: sums, order, disagreement, lost and failing ranks. The
 * workers' arrays are on cpu(0), or on the context that the program is given. Covers kvstore/exchange.c, compress.c,
 * collectives.c, join.c, liveness.c, messages.c, async.c and server.c.
 */
#include <mxc/op.h>

#include "kvstore/ranks.h"

/* Initialise keys "k0", "k1", ... of N+i elements with value. */
static mxc_status init_keys(mxc_kvstore *store, int n, double value) {
    for (int i = 0; i < n; i++) {
        char name[16];
        const char *key = name;
        mxc_ndarray *array;
        snprintf(name, sizeof name, "k%d", i);
        MXC_TRY(filled(value, N + i, MXC_F32, &array));
        mxc_status status = mxc_kvstore_init(store, 1, &key, &array);
        mxc_ndarray_release(array);
        MXC_TRY(status);
    }
    return MXC_OK;
}

/* Push value to key "k<i>", pull what comes of it to out (N+i floats). */
static mxc_status push_and_pull(mxc_kvstore *store, int i, double value, float *out) {
    char name[16];
    const char *key = name;
    mxc_ndarray *array;
    snprintf(name, sizeof name, "k%d", i);
    MXC_TRY(filled(value, N + i, MXC_F32, &array));
    mxc_status status = mxc_kvstore_push(store, 1, &key, &array, -i);
    if (status == MXC_OK)
        status = mxc_kvstore_pull(store, 1, &key, &array, -i);
    if (status == MXC_OK)
        status = mxc_ndarray_get(array, out, (size_t)(N + i) * sizeof *out);
    mxc_ndarray_release(array);
    return status;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* First values are rank 0's; several values of several keys in one push; steps follow each other. */
static mxc_status sum_keys(rank *r, mxc_kvstore *store) {
    const char *keys[] = {"k0", "k1", "k0", "k2"};
    const int sizes[] = {N, N + 1, N, N + 2};
    mxc_ndarray *values[4];
    MXC_TRY(init_keys(store, 3, 100 + r->rank));
    mxc_ndarray *first;
    MXC_TRY(filled(-1, N, MXC_F32, &first));
    mxc_status status = mxc_kvstore_pull(store, 1, keys, &first, 0);
    if (status == MXC_OK)
        status = mxc_ndarray_get(first, r->found + 4 * N, N * sizeof(float));
    mxc_ndarray_release(first);
    for (int i = 0; i < 4; i++)
        MXC_TRY(filled(0, sizes[i], MXC_F32, &values[i]));
    for (int step = 0; step < 5 && status == MXC_OK; step++) {
        for (int i = 0; i < 4; i++)
            MXC_TRY(mxc_ndarray_fill(values[i], (r->rank + 1) * (1 << i) + step));
        status = mxc_kvstore_pushpull(store, 4, keys, values, values, 0);
    }
    for (int i = 0, at = 0; i < 4; at += i == 2 ? 0 : sizes[i], i++) {
        if (status == MXC_OK && i != 2)
            status = mxc_ndarray_get(values[i], r->found + at, (size_t)sizes[i] * sizeof(float));
        mxc_ndarray_release(values[i]);
    }
    return status == MXC_OK ? mxc_kvstore_barrier(store) : status;
}

static void test_sums(void **state) {
    rank ranks[MOST];
    const char *const one_by_one[] = {"bucket_bytes", "0", NULL};
    (void)state;
    for (int size = 1; size <= MOST; size++)
        for (int way = 0; way < 4; way++) {
            fake_group_delay(100 * way);
            play_all(ranks, size, way & 1 ? "dist_sync" : "dist_device_sync", way & 2 ? one_by_one : NULL, sum_keys);
            expect_all_ok(ranks, size);
            for (int i = 0; i < size; i++) {
                float all = (float)(size * (size + 1) / 2), steps = 4.0f * (float)size;
                for (int j = 0; j < N; j++)
                    assert_true(ranks[i].found[j] == all * 5 + 2 * steps && ranks[i].found[4 * N + j] == 100);
                for (int j = 0; j < N + 1; j++)
                    assert_true(ranks[i].found[N + j] == all * 2 + steps);
                for (int j = 0; j < N + 2; j++)
                    assert_true(ranks[i].found[2 * N + 1 + j] == all * 8 + steps);
            }
        }
}

/* A long array travels in pieces, narrowed where that is asked for. */
static mxc_status sum_long(rank *r, mxc_kvstore *store) {
    enum { LONG = 20000 }; /* more than one thread moves itself */
    static const char *const key = "long";
    float *data = mxci_alloc(LONG * sizeof *data);
    mxc_ndarray *array;
    for (int i = 0; i < LONG; i++)
        data[i] = (float)(i % 100) * 0.25f * (float)(r->rank + 1);
    MXC_TRY(mxc_ndarray_from_data(1, (int64_t[]){LONG}, MXC_F32, data, &array));
    mxc_status status = mxc_kvstore_init(store, 1, &key, &array);
    for (int step = 0; step < 3 && status == MXC_OK; step++) {
        status = mxc_ndarray_set(array, data, LONG * sizeof *data);
        if (status == MXC_OK)
            status = mxc_kvstore_pushpull(store, 1, &key, &array, &array, 0);
    }
    float *sum = mxci_alloc(LONG * sizeof *sum);
    if (status == MXC_OK)
        status = mxc_ndarray_get(array, sum, LONG * sizeof *sum);
    r->found[0] = 0;
    for (int i = 0; i < LONG && status == MXC_OK; i++)
        r->found[0] += sum[i] != (float)(i % 100) * 0.25f * (float)(r->size * (r->size + 1) / 2);
    mxci_free(sum);
    mxci_free(data);
    mxc_ndarray_release(array);
    return status;
}

static void test_pieces(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"piece_bytes", "4096", "compression", "none", NULL};
    const char *const narrow[] = {"piece_bytes", "4096", "compression", "float16", NULL};
    const char *const short_of_bits[] = {"compression", "bfloat16", NULL};
    (void)state;
    play_all(ranks, 3, "dist_sync", settings, sum_long);
    expect_all_ok(ranks, 3);
    assert_true(ranks[0].found[0] == 0 && ranks[2].found[0] == 0);
    play_all(ranks, 3, "dist_sync", narrow, sum_long);
    expect_all_ok(ranks, 3);
    assert_true(ranks[0].found[0] == 0 && ranks[2].found[0] == 0); /* quarters to 150 are exact in f16 */
    play_all(ranks, 3, "dist_sync", short_of_bits, sum_long);
    expect_all_ok(ranks, 3);
    assert_true(ranks[0].found[0] > 0 && ranks[2].found[0] == ranks[0].found[0]); /* and not in bf16 */
}

/* Two bits: 0.3 a step sends 0, 0.5, 0, 0.5, 0.5, ...: what is left over is never lost. */
static mxc_status push_small(rank *r, mxc_kvstore *store) {
    float out[N], rest = 0;
    MXC_TRY(init_keys(store, 1, 0));
    for (int step = 0; step < 20; step++) {
        double value = r->rank == 0 ? 0.3 : -0.3;
        MXC_TRY(push_and_pull(store, 0, r->rank < 2 ? value : 0.3, out));
        rest += 0.3f;
        float sent = rest >= 0.5f ? 0.5f : 0;
        rest -= sent;
        /* ranks 0 and 1 cancel; rank 2's remains */
        for (int i = 0; i < N; i++)
            if (out[i] != (r->size > 2 ? sent : 0))
                return MXC_FAIL(MXC_EUSER, "step %d, element %d: %g", step, i, (double)out[i]);
        r->found[0] += out[0];
    }
    return MXC_OK;
}

static void test_two_bits(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"compression", "2bit", NULL};
    (void)state;
    for (int size = 2; size <= 3; size++) {
        play_all(ranks, size, "dist_sync", settings, push_small);
        expect_all_ok(ranks, size);
        assert_float_equal(ranks[0].found[0], size == 3 ? 6 : 0, 0.5);
    }
}

/* The optimizer's updates are those of one process that has the sum of the gradients. */
static mxc_status train_a_key(rank *r, mxc_kvstore *store) {
    const char *keys[] = {"momentum", "learning_rate"}, *values[] = {"0.9", "0.1"};
    mxc_optimizer *optimizer;
    MXC_TRY(mxc_optimizer_create("sgd", 2, keys, values, &optimizer));
    MXC_TRY(mxc_kvstore_set_optimizer(store, optimizer));
    mxc_status status = init_keys(store, 1, 1);
    for (int step = 0; step < 4 && status == MXC_OK; step++)
        status = push_and_pull(store, 0, 0.5 * (r->rank + 1) - step, r->found);
    mxc_ndarray_list states = {0};
    if (status == MXC_OK)
        status = mxc_optimizer_get_states(optimizer, &states);
    mxc_ndarray_list_release(&states);
    mxc_optimizer_destroy(optimizer);
    return status;
}

static void test_optimizer(void **state) {
    rank ranks[MOST];
    float weight = 1, momentum = 0;
    (void)state;
    play_all(ranks, 3, "dist_sync", NULL, train_a_key);
    expect_all_ok(ranks, 3);
    for (int step = 0; step < 4; step++) {
        momentum = 0.9f * momentum - 0.1f * (3.0f - 3.0f * (float)step);
        weight += momentum;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < N; j++) {
            assert_float_equal(ranks[i].found[j], weight, 1e-5);
            assert_memory_equal(&ranks[i].found[j], &ranks[0].found[0], sizeof(float));
        }
}

/* ---- servers ----------------------------------------------------------------------------------------------------- */

/* Plain steps commute: after all pushes every worker finds their sum, whatever the order in which they came. */
static mxc_status train_at_servers(rank *r, mxc_kvstore *store) {
    const char *names[] = {"learning_rate"}, *values[] = {"0.5"};
    mxc_optimizer *optimizer;
    MXC_TRY(mxc_optimizer_create("sgd", 1, names, values, &optimizer));
    mxc_status status = mxc_kvstore_set_optimizer(store, optimizer);
    if (status == MXC_OK)
        status = init_keys(store, 3, 8);
    mxc_optimizer_set_lr(optimizer, 0.25); /* goes along with each push */
    for (int step = 0; step < 10 && status == MXC_OK; step++)
        for (int i = 0; i < 3 && status == MXC_OK; i++)
            status = push_and_pull(store, i, r->rank + 1, r->found);
    if (status == MXC_OK)
        status = mxc_kvstore_barrier(store);
    for (int i = 2; i >= 0 && status == MXC_OK; i--) { /* all pushes have come */
        char name[16];
        const char *key = name;
        mxc_ndarray *array;
        snprintf(name, sizeof name, "k%d", i);
        MXC_TRY(filled(0, N + i, MXC_F32, &array));
        status = mxc_kvstore_pull(store, 1, &key, &array, 0);
        if (status == MXC_OK)
            status = mxc_ndarray_get(array, r->found, (size_t)(N + i) * sizeof(float));
        mxc_ndarray_release(array);
        for (int j = 0; j < N + i && status == MXC_OK; j++)
            if (r->found[j] != 8.0f - 0.25f * 10 * (float)(r->size * (r->size + 1) / 2))
                status = MXC_FAIL(MXC_EUSER, "key %d, element %d: %g", i, j, (double)r->found[j]);
    }
    if (status == MXC_OK) /* nobody leaves while others ask */
        status = mxc_kvstore_barrier(store);
    mxc_status cleared = mxc_kvstore_set_optimizer(store, NULL);
    mxc_optimizer_destroy(optimizer);
    return status != MXC_OK ? status : cleared;
}

static void test_servers(void **state) {
    rank ranks[MOST];
    const char *const spread[] = {"split_bytes", "4", NULL};
    const char *const one[] = {"servers", "1", "staleness", "0", NULL};
    (void)state;
    for (int size = 1; size <= MOST; size++) {
        play_all(ranks, size, "dist_async", NULL, train_at_servers);
        expect_all_ok(ranks, size);
        play_all(ranks, size, "dist_async", spread, train_at_servers);
        expect_all_ok(ranks, size);
        play_all(ranks, size, "dist_async", one, train_at_servers);
        expect_all_ok(ranks, size);
    }
}

/* Rank 0 runs ahead as far as it may; its next pull waits until rank 1 comes, or says that it will not. */
static mxc_status run_ahead(rank *r, mxc_kvstore *store) {
    static const char *const key = "k0";
    mxc_ndarray *array;
    MXC_TRY(init_keys(store, 1, 0));
    if (r->rank == 1) {
        mxci_sleep_ns(1000000000);
        if (r->settings[3][0] == '1') /* leave at once */
            return MXC_OK;
        for (int i = 0; i < 5; i++)
            MXC_TRY(push_and_pull(store, 0, 1, r->found));
        return MXC_OK;
    }
    int64_t start = mxci_now_ns();
    MXC_TRY(filled(1, N, MXC_F32, &array));
    mxc_status status = MXC_OK;
    for (int i = 0; i < 3 && status == MXC_OK; i++) {
        status = mxc_kvstore_pushpull(store, 1, &key, &array, &array, 0);
        if (status == MXC_OK)
            status = mxc_ndarray_wait_to_read(array);
        r->found[i] = (float)(mxci_now_ns() - start) * 1e-9f;
    }
    mxc_ndarray_release(array);
    return status;
}

static void test_staleness(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"staleness", "2", "timeout", "8", NULL};
    const char *const leaves[] = {"staleness", "2", "timeout", "10", NULL};
    (void)state;
    for (int way = 0; way < 2; way++) {
        play_all(ranks, 2, "dist_async", way ? leaves : settings, run_ahead);
        expect_all_ok(ranks, 2);
        assert_true(ranks[0].found[1] < 0.8f); /* two ahead: does not wait */
        assert_true(ranks[0].found[2] > 0.8f);
    }
}

static mxc_status freezes_at_server(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 2, 0));
    MXC_TRY(push_and_pull(store, 0, 1, r->found));
    MXC_TRY(mxc_kvstore_barrier(store));
    if (r->rank == 1)
        fake_group_freeze(1);
    for (int i = 0; i < 50; i++)
        MXC_TRY(push_and_pull(store, 1, 1, r->found));
    return MXC_OK;
}

static void test_frozen_server(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"timeout", "1.5", NULL};
    (void)state;
    play_all(ranks, 3, "dist_async", settings, freezes_at_server);
    expect_all_failed(&ranks[0], 1, "rank 1 ", "has sent no heartbeat for", "has reached");
    expect_all_failed(&ranks[2], 1, "rank 1 ", "has sent no heartbeat for", "has reached");
    assert_int_equal(ranks[1].status, MXC_EWORKER);
}

static mxc_status count_update(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user) {
    (void)key, (void)sum, (void)stored, (void)user;
    return MXC_OK;
}

static mxc_status sets_updater(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 1, 0));
    mxc_kvstore_set_updater(store, count_update, NULL);
    mxc_status status = push_and_pull(store, 0, 1, r->found);
    return status == MXC_EUNSUPPORTED ? MXC_OK : MXC_FAIL(MXC_EUSER, "an updater was taken: %d", (int)status);
}

static void test_no_updater(void **state) {
    rank ranks[MOST];
    (void)state;
    play_all(ranks, 2, "dist_async", NULL, sets_updater);
    expect_all_ok(ranks, 2);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static mxc_status other_keys(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 2, 0));
    MXC_TRY(push_and_pull(store, 0, 1, r->found));
    return push_and_pull(store, r->rank == 1, 1, r->found);
}

static mxc_status other_shapes(rank *r, mxc_kvstore *store) {
    static const char *const key = "odd";
    mxc_ndarray *array;
    MXC_TRY(filled(0, r->rank == 1 ? 7 : 6, MXC_F32, &array));
    mxc_status status = mxc_kvstore_init(store, 1, &key, &array);
    mxc_ndarray_release(array);
    return status == MXC_OK ? mxc_kvstore_barrier(store) : status;
}

static mxc_status other_dtypes(rank *r, mxc_kvstore *store) {
    static const char *const key = "odd";
    mxc_ndarray *array;
    MXC_TRY(filled(0, 6, r->rank == 1 ? MXC_F64 : MXC_F32, &array));
    mxc_status status = mxc_kvstore_init(store, 1, &key, &array);
    mxc_ndarray_release(array);
    return status == MXC_OK ? mxc_kvstore_barrier(store) : status;
}

static mxc_status ends_early(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 1, 0));
    MXC_TRY(push_and_pull(store, 0, 1, r->found));
    if (r->rank == 1)
        return MXC_FAIL(MXC_EWORKER, "end of the store, rank 1, \"k0\"");
    return push_and_pull(store, 0, 1, r->found);
}

static void test_disagreement(void **state) {
    rank ranks[MOST];
    (void)state;
    for (int size = 2; size <= 3; size++) {
        play_all(ranks, size, "dist_sync", NULL, other_keys);
        expect_all_failed(ranks, size, "of rank 1 is push of \"k1\"", "of rank 0 it is push of \"k0\"", "same order");
        play_all(ranks, size, "dist_sync", NULL, other_shapes);
        expect_all_failed(ranks, size, "rank 1 is init of float32 (7,) \"odd\"", "float32 (6,) \"odd\"", "call 0");
        play_all(ranks, size, "dist_sync", NULL, other_dtypes);
        expect_all_failed(ranks, size, "rank 1 is init of float64 (6,)", "float32 (6,)", "call 0");
        play_all(ranks, size, "dist_sync", NULL, ends_early);
        expect_all_failed(ranks, size, "rank 1", "end of the store", "\"k0\"");
    }
}

/* The last rank has this instead of what the others have; nothing is summed. */
static void expect_refused(int size, const char *const *settings, const char *type, const char *const *other,
                           const char *found, const char *expected) {
    rank ranks[MOST];
    set_ranks(ranks, size, "dist_sync", settings, sum_long);
    ranks[size - 1].type = type;
    ranks[size - 1].settings = other;
    fake_group_start(size);
    play_some(ranks, 0, size);
    fake_group_end();
    expect_all_failed(ranks, size, expected, found, "must be given the same");
}

static void test_other_options(void **state) {
    const char *const two_bits[] = {"compression", "2bit", NULL};
    const char *const same[] = {"threshold", "0.50", "compression", "2bit", NULL};
    const char *const finer[] = {"compression", "2bit", "threshold", "0.25", NULL};
    const char *const half[] = {"compression", "float16", NULL}, *const pieces[] = {"piece_bytes", "4096", NULL};
    const char *const buckets[] = {"bucket_bytes", "0", NULL}, *const shares[] = {"shard", "true", NULL};
    rank ranks[MOST];
    (void)state;
    for (int size = 2; size <= 3; size++) {
        expect_refused(size, NULL, "dist_sync", two_bits, " has compression=2bit", "rank 0 has compression=none");
        expect_refused(size, half, "dist_sync", two_bits, " has compression=2bit", "rank 0 has compression=float16");
        expect_refused(size, two_bits, "dist_sync", finer, " has threshold=0.25", "rank 0 has threshold=0.5");
        expect_refused(size, NULL, "dist_sync", pieces, " has piece_bytes=4096", "rank 0 has piece_bytes=4194304");
        expect_refused(size, NULL, "dist_sync", buckets, " has bucket_bytes=0", "rank 0 has bucket_bytes=1048576");
        expect_refused(size, NULL, "dist_sync", shares, " has shard=True", "rank 0 has shard=False");
        expect_refused(size, NULL, "dist_async", NULL, " has type=dist_async", "rank 0 has type=dist_sync");
    }
    set_ranks(ranks, 2, "dist_sync", two_bits, push_small); /* the same in other words */
    ranks[1].settings = same;
    fake_group_start(2);
    play_some(ranks, 0, 2);
    fake_group_end();
    expect_all_ok(ranks, 2);
}

/* Rank 2 comes when the others have given up, and gives up too. */
static void test_absent_rank(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"join_timeout", "0.3", NULL};
    (void)state;
    set_ranks(ranks, 3, "dist_sync", settings, push_small);
    fake_group_start(3);
    play_some(ranks, 0, 2);
    play_some(ranks, 2, 3);
    fake_group_end();
    expect_all_failed(ranks, 2, "not all processes", "in 0.3 s (join_timeout) (this is rank ", " of 3)");
    expect_all_failed(&ranks[2], 1, "join_timeout", "", ""); /* its own, or it came just as the others left */
}

static mxc_status freezes(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 1, 0));
    MXC_TRY(push_and_pull(store, 0, 1, r->found));
    MXC_TRY(mxc_kvstore_barrier(store));
    if (r->rank == 1)
        fake_group_freeze(1);
    fake_group_await_frozen(1);
    return push_and_pull(store, 0, 1, r->found);
}

/* The frozen rank, once it goes on, does not hear of the others either. */
static void test_frozen_rank(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"timeout", "1.5", NULL};
    (void)state;
    for (int size = 2; size <= 3; size++) {
        int64_t start = mxci_now_ns();
        play_all(ranks, size, "dist_sync", settings, freezes);
        assert_true(mxci_now_ns() - start < 10000000000);
        for (int i = 0; i < size; i += 2)
            expect_all_failed(&ranks[i], 1, "rank 1 ", "has sent no heartbeat for", "push of \"k0\"");
        expect_all_failed(&ranks[1], 1, "has sent no heartbeat", "has reached", "step 1");
    }
}

/* Rank 1 lives and does not come. */
static mxc_status dawdles(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 1, 0));
    MXC_TRY(push_and_pull(store, 0, 1, r->found));
    if (r->rank == 1)
        mxci_sleep_ns(3000000000);
    return push_and_pull(store, 0, 1, r->found);
}

static void test_stall(void **state) {
    rank ranks[MOST];
    const char *const settings[] = {"timeout", "8", "stall", "1.5", NULL};
    const char *const patient[] = {"timeout", "8", "stall", "0", NULL};
    (void)state;
    play_all(ranks, 3, "dist_sync", settings, dawdles);
    expect_all_failed(ranks, 3, "at push of \"k0\"", "step 1", "rank 1 is alive, but has made only");
    play_all(ranks, 3, "dist_sync", patient, dawdles);
    expect_all_ok(ranks, 3);
}

static mxc_status cut_wire(rank *r, mxc_kvstore *store) {
    MXC_TRY(init_keys(store, 1, 0));
    MXC_TRY(push_and_pull(store, 0, 1, r->found));
    if (r->rank == 1)
        fake_group_refuse(1, 1);
    mxc_status status = push_and_pull(store, 0, 1, r->found);
    if (status != MXC_OK && push_and_pull(store, 0, 1, r->found) != status)
        return MXC_FAIL(MXC_EUSER, "the second call does not fail as the first");
    return status;
}

static void test_failing_transport(void **state) {
    rank ranks[MOST];
    (void)state;
    play_all(ranks, 3, "dist_sync", NULL, cut_wire);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ranks[i].status, MXC_EIO);
        assert_non_null(strstr(ranks[i].message, "rank 1: the wire is cut; push of \"k0\""));
    }
}

static mxc_status fail_task(const mxc_run *run, void *arg) {
    (void)run, (void)arg;
    return MXC_FAIL(MXC_EUSER, "no gradient today");
}

/* A gradient that failed fails the workers that wait for it. */
static mxc_status loses_gradient(rank *r, mxc_kvstore *store) {
    static const char *const key = "k0";
    mxc_ndarray *array;
    MXC_TRY(init_keys(store, 1, 0));
    MXC_TRY(filled(1, N, MXC_F32, &array));
    if (r->rank == 1) {
        mxc_var *var = mxc_ndarray_var(array);
        mxc_task task = MXC_TASK_INIT;
        task.fn = fail_task;
        MXC_TRY(mxc_engine_push(mxc_var_engine(var), &task, 0, NULL, 1, &var, 0));
    }
    mxc_status status = mxc_kvstore_push(store, 1, &key, &array, 0);
    mxc_ndarray_release(array);
    MXC_TRY(status);
    MXC_TRY(filled(1, N, MXC_F32, &array));
    status = mxc_kvstore_pull(store, 1, &key, &array, 0);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(array);
    mxc_ndarray_release(array);
    return r->rank == 1 && status == MXC_EUSER ? mxc_kvstore_barrier(store) : status;
}

static void test_lost_gradient(void **state) {
    rank ranks[MOST];
    (void)state;
    play_all(ranks, 3, "dist_sync", NULL, loses_gradient);
    expect_all_failed(ranks, 3, "rank 1 could not compute", "push of \"k0\"", "step 0");
}

static void test_refusals(void **state) {
    mxc_kvstore *store;
    const char *keys[] = {"timeout"}, *values[] = {"-1"};
    (void)state;
    fake_group_start(1);
    assert_fails(mxci_kvstore_create_on(fake_group_api(0), "dist_sync", 1, keys, values, &store), MXC_EINVAL,
                 "timeout");
    assert_null(store);
    assert_fails(mxc_kvstore_create_with("local", 1, keys, values, &store), MXC_EINVAL, "timeout");
    assert_fails(mxc_kvstore_create("dist", &store), MXC_ENOTFOUND, "dist_device_sync");
    fake_group_end();
}

/* Without the module a distributed store is refused, with the reason. */
static void test_without_module(void **state) {
    mxc_kvstore *store;
    (void)state;
    setenv("MXC_MPI_MODULE", "/nowhere/libmxc_mpi.so", 1);
    assert_fails(mxc_kvstore_create("dist_sync", &store), MXC_EDEVICE,
                 "needs the MPI module: MXC_MPI_MODULE: /nowhere/libmxc_mpi.so");
    assert_null(store);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_two_bits),
        cmocka_unit_test(test_optimizer),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_staleness),
        cmocka_unit_test(test_frozen_server),
        cmocka_unit_test(test_no_updater),
        cmocka_unit_test(test_disagreement),
        cmocka_unit_test(test_frozen_rank),
        cmocka_unit_test(test_failing_transport),
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_lost_gradient),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_without_module),
        cmocka_unit_test(test_other_options),
        cmocka_unit_test(test_absent_rank),
    };
    if (argc > 1 && mxc_context_parse(argv[1], &context) != MXC_OK)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
