/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a directory: sorted, without hidden ones; what is absent or not a directory; each allocation failed. */
#include <sys/stat.h>

#include "base/sys.h"
#include "support.h"

static void add_file(const char *directory, const char *name) {
    test_path path;
    test_write_file(test_join(path, directory, name), "", 0);
}

static void test_list(void **state) {
    test_path root, inner;
    char **names;
    int64_t n;
    (void)state;
    test_temp_dir(root);
    assert_ok(mxci_directory_list(root, &names, &n));
    assert_int_equal(n, 0);
    assert_null(names[0]);
    mxci_free(names);
    add_file(root, "b");
    add_file(root, ".hidden");
    add_file(root, "a10");
    add_file(root, "a2");
    add_file(root, "B");
    assert_int_equal(mkdir(test_join(inner, root, "c"), 0700), 0);
    assert_ok(mxci_directory_list(root, &names, &n));
    assert_int_equal(n, 5);
    assert_string_equal(names[0], "B");
    assert_string_equal(names[1], "a10");
    assert_string_equal(names[2], "a2");
    assert_string_equal(names[3], "b");
    assert_string_equal(names[4], "c");
    assert_null(names[5]);
    mxci_free(names);
    test_remove_dir(root);
}

static void test_absent(void **state) {
    test_path root, file;
    char **names;
    int64_t n;
    (void)state;
    test_temp_dir(root);
    add_file(root, "file");
    assert_fails(mxci_directory_list(test_join(file, root, "none"), &names, &n), MXC_ENOTFOUND, "none");
    assert_null(names);
    assert_int_equal(n, 0);
    assert_fails(mxci_directory_list(test_join(file, root, "file"), &names, &n), MXC_ENOTFOUND, "file");
    test_remove_dir(root);
}

/* More names than the first block of memory holds, so that it grows. */
static void test_each_allocation_fails(void **state) {
    test_path root;
    char name[64], **names;
    int64_t n, used, live;
    (void)state;
    test_temp_dir(root);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "a name of some length with the number %d", i);
        add_file(root, name);
    }
    used = mxci_alloc_count();
    assert_ok(mxci_directory_list(root, &names, &n));
    used = mxci_alloc_count() - used;
    assert_int_equal(n, 200);
    mxci_free(names);
    live = mxci_alloc_live();
    for (int64_t i = 1; i <= used; i++) {
        mxci_test_fail_alloc(i, 0);
        assert_status(mxci_directory_list(root, &names, &n), MXC_ENOMEM);
        mxci_test_fail_alloc(0, 0);
        assert_null(names);
        assert_int_equal(mxci_alloc_live(), live);
    }
    test_remove_dir(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
