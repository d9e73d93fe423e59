/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries: paths that are refused, files that are no library, symbols; and where this program is. */
#include <unistd.h>

#include "base/sys.h"
#include "support.h"

static void test_refused(void **state) {
    test_path root, path;
    void *library = root;
    (void)state;
    test_temp_dir(root);
    assert_fails(mxci_library_open("libm.so.6", &library), MXC_EINVAL, "not an absolute path");
    assert_null(library);
    assert_fails(mxci_library_open(test_join(path, root, "none.so"), &library), MXC_ENOTFOUND, "none.so");
    test_write_file(test_join(path, root, "text.so"), "no library", 10);
    assert_fails(mxci_library_open(path, &library), MXC_EDEVICE, "text.so");
    assert_null(library);
    test_remove_dir(root);
}

/* The directory of the program, which contains libmxc: a program cannot be loaded as a library, but it is there. */
static void test_directory(void **state) {
    char directory[4096], path[4200], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    (void)state;
    assert_true(n > 0);
    self[n] = '\0';
    assert_true(mxci_library_directory(directory, sizeof directory));
    snprintf(path, sizeof path, "%s/%s", directory, strrchr(self, '/') + 1);
    assert_string_equal(path, self);
    assert_false(mxci_library_directory(directory, 2)); /* does not fit */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
