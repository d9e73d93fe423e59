/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation: counting, overflow checks, alignment, failure injection. */
#include "support.h"

#include "base/sys.h"

static void blocks_are_counted(void **state) {
    int64_t live = mxci_alloc_live(), count = mxci_alloc_count();
    void *a = mxci_alloc(0), *b = mxci_calloc(3, 5), *p = mxci_pages_alloc(100);
    char *s = mxci_strdup("text");
    (void)state;
    assert_non_null(a);
    assert_memory_equal(b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    assert_string_equal(s, "text");
    assert_int_equal(mxci_alloc_live(), live + 4);
    b = mxci_realloc(b, 1000);
    a = mxci_realloc_array(a, 7, 9);
    assert_int_equal(mxci_alloc_live(), live + 4);
    assert_int_equal(mxci_alloc_count(), count + 6);
    mxci_free(a);
    mxci_free(b);
    mxci_free(s);
    mxci_free(NULL);
    mxci_pages_free(p, 100);
    mxci_pages_free(NULL, 100);
    assert_int_equal(mxci_alloc_live(), live);
}

static void impossible_sizes_are_refused(void **state) {
    int64_t live = mxci_alloc_live();
    void *block = mxci_alloc(8);
    (void)state;
    assert_null(mxci_alloc(SIZE_MAX));
    assert_null(mxci_calloc(SIZE_MAX / 2, 3));
    assert_null(mxci_realloc(block, SIZE_MAX - 1));
    assert_null(mxci_realloc_array(block, SIZE_MAX / 4, 5));
    assert_null(mxci_pages_alloc(SIZE_MAX));
    assert_null(mxci_pages_alloc((size_t)PTRDIFF_MAX - 4096));
    mxci_free(block);
    assert_int_equal(mxci_alloc_live(), live);
}

static void pages_are_aligned_and_writable(void **state) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *block = mxci_pages_alloc(sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (sizes[i] >= 2 << 20 ? 2 << 20 : 64), 0);
        memset(block, 0xab, sizes[i]);
        mxci_pages_free(block, sizes[i]);
    }
}

static void the_nth_allocation_fails(void **state) {
    void *a, *b;
    (void)state;
    mxci_test_fail_alloc(2, 0);
    a = mxci_alloc(1);
    assert_non_null(a);
    assert_null(mxci_pages_alloc(1));
    b = mxci_calloc(1, 1);
    assert_non_null(b);
    mxci_test_fail_alloc(1, 0);
    assert_null(mxci_realloc(b, 2)); /* b is as it was */
    mxci_test_fail_alloc(1, 0);
    assert_null(mxci_pages_alloc(3 << 20));
    mxci_test_fail_alloc(0, 0);
    mxci_free(a);
    mxci_free(b);
}

static void sticky_failure_lasts(void **state) {
    void *a;
    (void)state;
    mxci_test_fail_alloc(1, 1);
    assert_null(mxci_alloc(1));
    assert_null(mxci_strdup("x"));
    assert_null(mxci_pages_alloc(1));
    mxci_test_fail_alloc(0, 0);
    a = mxci_alloc(1);
    assert_non_null(a);
    mxci_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(pages_are_aligned_and_writable),
        cmocka_unit_test(the_nth_allocation_fails),
        cmocka_unit_test(sticky_failure_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
