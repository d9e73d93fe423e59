/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores of which each rank updates a share of the parameters: the same weights as where all update all of them, and
 * each state of the optimizer kept once. The arrays are on cpu(0), or on the context that the program is given.
 */
#include <math.h>

#include <mxc/op.h>

#include "kvstore/ranks.h"

enum { SHARED_KEYS = 5, SHARED = 3 + 1 + 700 + 64 + 50 };
static const int64_t shared_sizes[SHARED_KEYS] = {3, 1, 700, 64, 50};
static const char *const shared_keys[SHARED_KEYS] = {"a", "b", "c", "d", "wide"};
static double trained[2][MOST][SHARED]; /* without and with shares, by rank */
static int64_t kept[MOST];              /* elements of the optimizer's states */

static mxc_status make_shared(const rank *r, double value, mxc_ndarray **arrays) {
    for (int i = 0; i < SHARED_KEYS; i++) {
        MXC_TRY(mxc_ndarray_create(1, &shared_sizes[i], i == SHARED_KEYS - 1 ? MXC_F64 : MXC_F32, context, &arrays[i]));
        MXC_TRY(mxc_ndarray_fill(arrays[i], value * (i + 1) / (r->rank + 1)));
    }
    return MXC_OK;
}

static mxc_status get_shared(mxc_ndarray *const *arrays, double *out) {
    for (int i = 0; i < SHARED_KEYS; i++) {
        mxc_ndarray *wide;
        MXC_TRY(mxc_ndarray_copy(arrays[i], mxc_cpu(0), MXC_F64, &wide));
        mxc_status status = mxc_ndarray_get(wide, out, (size_t)shared_sizes[i] * sizeof *out);
        mxc_ndarray_release(wide);
        MXC_TRY(status);
        out += shared_sizes[i];
    }
    return MXC_OK;
}

static mxc_status count_states(const mxc_optimizer *optimizer, int64_t *n) {
    mxc_ndarray_list list;
    MXC_TRY(mxc_optimizer_get_states(optimizer, &list));
    for (int64_t i = 0; i < list.n; i++)
        if (!strstr(list.names[i], ":updates"))
            *n += mxc_ndarray_size(list.arrays[i]);
    mxc_ndarray_list_release(&list);
    return MXC_OK;
}

static mxc_status train_shared(rank *r, mxc_kvstore *store, mxc_ndarray **arrays, mxc_optimizer *optimizer) {
    MXC_TRY(make_shared(r, 1, arrays));
    MXC_TRY(mxc_kvstore_init(store, SHARED_KEYS, shared_keys, arrays));
    MXC_TRY(mxc_kvstore_set_optimizer(store, optimizer));
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < SHARED_KEYS; i++)
            MXC_TRY(mxc_ndarray_fill(arrays[i], 0.37 * step - 0.11 * i * r->rank));
        MXC_TRY(mxc_kvstore_push(store, SHARED_KEYS, shared_keys, arrays, 0));
        if (step != 1) /* two pushes may follow each other */
            for (int i = SHARED_KEYS - 1; i >= 0; i--)
                MXC_TRY(mxc_kvstore_pull(store, 1, &shared_keys[i], &arrays[i], -i));
    }
    MXC_TRY(get_shared(arrays, trained[r->settings != NULL][r->rank]));
    return count_states(optimizer, &kept[r->rank]);
}

/* The rule of train_with_shares, of two states. */
static const char *shared_rule = "adam";

/* Rules that need whole weights are refused. */
static mxc_status set_whole(mxc_kvstore *store) {
    mxc_optimizer *optimizer;
    MXC_TRY(mxc_optimizer_create("lamb", 0, NULL, NULL, &optimizer));
    mxc_status status = mxc_kvstore_set_optimizer(store, optimizer);
    mxc_optimizer_destroy(optimizer);
    return status == MXC_EUNSUPPORTED ? MXC_OK : MXC_FAIL(MXC_EUSER, "a rule for whole weights was accepted");
}

static mxc_status train_with_shares(rank *r, mxc_kvstore *store) {
    mxc_ndarray *arrays[SHARED_KEYS] = {NULL};
    mxc_optimizer *optimizer;
    MXC_TRY(r->settings ? set_whole(store) : MXC_OK);
    MXC_TRY(mxc_optimizer_create(shared_rule, 0, NULL, NULL, &optimizer));
    kept[r->rank] = 0;
    mxc_status status = train_shared(r, store, arrays, optimizer);
    const char *swapped[] = {"b", "a"};
    if (status == MXC_OK && r->settings &&
        mxc_kvstore_push(store, 2, swapped, (mxc_ndarray *[]){arrays[1], arrays[0]}, 0) != MXC_EINVAL)
        status = MXC_FAIL(MXC_EUSER, "keys were pushed with others");
    mxc_status cleared = mxc_kvstore_set_optimizer(store, NULL);
    status = status != MXC_OK ? status : cleared;
    if (status == MXC_OK && r->settings &&
        mxc_kvstore_push(store, SHARED_KEYS, shared_keys, arrays, 0) != MXC_EUNSUPPORTED)
        status = MXC_FAIL(MXC_EUSER, "keys were pushed without an optimizer");
    mxc_optimizer_destroy(optimizer);
    for (int i = 0; i < SHARED_KEYS; i++)
        mxc_ndarray_release(arrays[i]);
    return status;
}

/* The same bits as where each rank updates everything, and each state is kept once. */
static void test_shares(void **state) {
    const char *const shares[] = {"shard", "true", "piece_bytes", "4096", NULL};
    rank ranks[MOST];
    (void)state;
    for (int k = 0; k < 2 * MOST; k++) {
        const int size = k / 2 + 1;
        int64_t all = 0;
        shared_rule = k % 2 ? "dcasgd" : "adam";
        play_all(ranks, size, "dist_device_sync", NULL, train_with_shares);
        expect_all_ok(ranks, size);
        assert_int_equal(kept[0], 2 * SHARED); /* two states */
        play_all(ranks, size, "dist_device_sync", shares, train_with_shares);
        expect_all_ok(ranks, size);
        for (int i = 0; i < size; i++) {
            assert_memory_equal(trained[1][i], trained[0][0], sizeof trained[0][0]);
            assert_true(kept[i] <= 2 * (SHARED / size + 2 * 5 * 32)); /* places of keys are multiples of 32 */
            all += kept[i];
        }
        assert_int_equal(all, 2 * SHARED);
    }
}

/* Sums travel in 16 bits, values do not: all ranks have the same. */
static void test_narrow_shares(void **state) {
    const char *const narrow[] = {"shard", "true", "compression", "bfloat16", NULL};
    const char *const bits[] = {"shard", "true", "compression", "2bit", NULL};
    rank ranks[MOST];
    (void)state;
    shared_rule = "adam";
    play_all(ranks, 3, "dist_sync", NULL, train_with_shares);
    expect_all_ok(ranks, 3);
    play_all(ranks, 3, "dist_sync", narrow, train_with_shares);
    expect_all_ok(ranks, 3);
    for (int i = 1; i < 3; i++)
        assert_memory_equal(trained[1][i], trained[1][0], sizeof trained[0][0]);
    for (int i = 0; i < SHARED; i++)
        assert_true(fabs(trained[1][0][i] - trained[0][0][i]) < 5e-3); /* Adam's steps are of 1e-3 */
    play_all(ranks, 1, "dist_sync", bits, train_with_shares);
    assert_int_equal(ranks[0].status, MXC_EUNSUPPORTED);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_narrow_shares),
    };
    if (argc > 1 && mxc_context_parse(argv[1], &context) != MXC_OK)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
