/* SPDX-License-Identifier: Apache-2.0 */
/* Packing ranges into pools: never two at one place at one time, and tight. */
#include "executor/nets.h"
#include "executor/plan/packing.h"

static int64_t below(uint64_t *seed, int64_t n) {
    return (int64_t)((net_random(seed) + 1) / 2 * (double)n);
}

static void make_ranges(uint64_t *seed, mxci_memory_range *ranges, int32_t n, int32_t steps) {
    for (int32_t i = 0; i < n; i++) {
        int32_t first = (int32_t)below(seed, steps), length = (int32_t)below(seed, i % 5 ? 4 : steps);
        ranges[i] = (mxci_memory_range){
            .bytes = 64 * (1 + below(seed, 40)), .first = first, .last = first + length, .pool = i % 3 == 0};
    }
}

/* The most bytes that are occupied at one step: no pool can be smaller. */
static int64_t least_bytes(const mxci_memory_range *ranges, int32_t n, int32_t pool, int32_t steps) {
    int64_t most = 0;
    for (int32_t step = 0; step < steps; step++) {
        int64_t bytes = 0;
        for (int32_t i = 0; i < n; i++)
            if (ranges[i].pool == pool && ranges[i].first <= step && step <= ranges[i].last)
                bytes += ranges[i].bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void check_apart(const mxci_memory_range *ranges, int32_t n, int32_t pool, int64_t bytes, int always) {
    for (int32_t i = 0; i < n; i++) {
        const mxci_memory_range *a = &ranges[i];
        if (a->pool != pool)
            continue;
        assert_true(a->offset >= 0 && a->offset % MXCI_SIZE_ALIGN == 0 && a->offset + a->bytes <= bytes);
        for (int32_t j = 0; j < i; j++) {
            const mxci_memory_range *b = &ranges[j];
            int together = always || (a->first <= b->last && b->first <= a->last);
            if (b->pool == pool && together)
                assert_true(a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
        }
    }
}

static void test_random_blocks(void **state) {
    uint64_t seed = 7;
    (void)state;
    for (int round = 0; round < TEST_SCALE(200); round++) {
        mxci_memory_range ranges[120];
        int32_t n = (int32_t)below(&seed, 120);
        make_ranges(&seed, ranges, n, 60);
        for (int32_t pool = 0; pool < 2; pool++) {
            int64_t least = least_bytes(ranges, n, pool, 120), bytes, apart;
            assert_ok(mxci_pack_pool(ranges, n, pool, 0, &bytes));
            check_apart(ranges, n, pool, bytes, 0);
            assert_true(bytes >= least && bytes <= least + least / 4);
            assert_ok(mxci_pack_pool(ranges, n, pool, 1, &apart));
            check_apart(ranges, n, pool, apart, 1);
            assert_true(apart >= bytes);
        }
    }
}

/* So many that another way is taken: spans of at most four steps and 1/16 of longer ones, in twice the least room. */
static void test_very_many_blocks(void **state) {
    enum { N = 20000, STEPS = 20000 };
    mxci_memory_range *ranges = calloc(N, sizeof *ranges), *kept = calloc(N, sizeof *kept);
    uint64_t seed = 3;
    int64_t bytes, most = 0, *occupied = calloc(STEPS + 400, sizeof *occupied);
    (void)state;
    for (int32_t i = 0; i < N; i++) {
        int32_t first = (int32_t)below(&seed, STEPS), length = (int32_t)below(&seed, i % 16 ? 4 : 400);
        ranges[i] = (mxci_memory_range){
            .bytes = 64 * (i % 100 ? 1 + below(&seed, 40) : 0), .first = first, .last = first + length};
        for (int32_t step = first; step <= first + length; step++)
            occupied[step] += ranges[i].bytes;
    }
    assert_ok(mxci_pack_pool(ranges, N, 0, 0, &bytes));
    for (int32_t step = 0; step < STEPS; step++)
        most = occupied[step] > most ? occupied[step] : most;
    assert_true(bytes >= most && bytes <= 2 * most);
    for (int32_t step = 0; step < STEPS; step += 500) { /* apart at some steps */
        int32_t n = 0;
        for (int32_t i = 0; i < N; i++)
            if (ranges[i].first <= step && step <= ranges[i].last)
                kept[n++] = ranges[i];
        check_apart(kept, n, 0, bytes, 0);
    }
    free(ranges);
    free(kept);
    free(occupied);
}

static void test_no_blocks(void **state) {
    int64_t bytes = -1;
    (void)state;
    assert_ok(mxci_pack_pool(NULL, 0, 0, 0, &bytes));
    assert_int_equal(bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_blocks),
        cmocka_unit_test(test_very_many_blocks),
        cmocka_unit_test(test_no_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
