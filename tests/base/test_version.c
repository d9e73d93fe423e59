/* SPDX-License-Identifier: Apache-2.0 */
/* The version: the library's, that of the headers as text and as a number, and that of the build agree. */
#include "support.h"

#include <mxc/version.h>

static void the_library_has_the_version_of_its_headers(void **state) {
    (void)state;
    assert_non_null(mxc_version());
    assert_string_equal(mxc_version(), MXC_VERSION);
    assert_ptr_equal(mxc_version(), mxc_version()); /* constant, nothing to free */
}

/* "major.minor.patch", of which the number has 10000 * major + 100 * minor + patch. */
static void text_and_number_agree(void **state) {
    int major = -1, minor = -1, patch = -1, length = -1;
    (void)state;
    assert_int_equal(sscanf(mxc_version(), "%d.%d.%d%n", &major, &minor, &patch, &length), 3);
    assert_int_equal(length, (int)strlen(mxc_version()));
    assert_in_range(minor, 0, 99);
    assert_in_range(patch, 0, 99);
    assert_int_equal(10000 * major + 100 * minor + patch, MXC_VERSION_NUMBER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_has_the_version_of_its_headers),
        cmocka_unit_test(text_and_number_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
