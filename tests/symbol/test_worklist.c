/* SPDX-License-Identifier: Apache-2.0 */
/* The bit tree against a plain array. */
#include "support.h"

#include "symbol/worklist.h"

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int32_t plain_up(const char *set, int32_t n, int32_t i) {
    for (; i < n; i++)
        if (set[i])
            return i;
    return -1;
}

static int32_t plain_down(const char *set, int32_t i) {
    for (; i >= 0; i--)
        if (set[i])
            return i;
    return -1;
}

static void compare(int32_t n, int rounds) {
    char *set = calloc((size_t)n + 1, 1);
    mxci_worklist w;
    uint32_t state = (uint32_t)n;
    assert_ok(mxci_worklist_init(&w, n));
    assert_int_equal(mxci_worklist_up(&w, 0), -1);
    assert_int_equal(mxci_worklist_down(&w, n), -1);
    for (int i = 0; i < rounds; i++) {
        int32_t at = (int32_t)(next_random(&state) % (uint32_t)n), from = (int32_t)(next_random(&state) % (uint32_t)n);
        set[at] = next_random(&state) % 3 == 0;
        if (set[at])
            mxci_worklist_add(&w, at);
        else
            mxci_worklist_remove(&w, at);
        assert_int_equal(mxci_worklist_up(&w, from), plain_up(set, n, from));
        assert_int_equal(mxci_worklist_down(&w, from), plain_down(set, from));
    }
    mxci_worklist_free(&w);
    free(set);
}

static void test_against_array(void **state) {
    static const int32_t sizes[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 300000};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        compare(sizes[i], sizes[i] > 10000 ? TEST_SCALE(300) : 2000);
}

static void test_ends(void **state) {
    mxci_worklist w;
    (void)state;
    assert_ok(mxci_worklist_init(&w, 262144));
    mxci_worklist_add(&w, 0);
    mxci_worklist_add(&w, 262143);
    assert_int_equal(mxci_worklist_up(&w, 1), 262143);
    assert_int_equal(mxci_worklist_down(&w, 262142), 0);
    assert_int_equal(mxci_worklist_down(&w, 262144), 262143);
    mxci_worklist_remove(&w, 262143);
    assert_int_equal(mxci_worklist_up(&w, 1), -1);
    mxci_worklist_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_array), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
