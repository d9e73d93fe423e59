/* SPDX-License-Identifier: Apache-2.0 */
/* The clock, sleeping, the environment. */
#include "support.h"

#include "base/sys.h"

static void the_clock_goes_forward(void **state) {
    int64_t last = mxci_now_ns();
    (void)state;
    assert_true(last > 0);
    for (int i = 0; i < 1000; i++) {
        int64_t now = mxci_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void sleeping_takes_its_time(void **state) {
    int64_t start = mxci_now_ns();
    (void)state;
    mxci_sleep_ns(3000000);
    assert_true(mxci_now_ns() - start >= 3000000);
    mxci_sleep_ns(0);
    mxci_sleep_ns(-1);
    assert_true(mxci_now_ns() - start < 5000000000);
}

static void the_environment_is_read(void **state) {
    (void)state;
    setenv("MXCI_TEST_VARIABLE", "value", 1);
    assert_string_equal(mxci_getenv("MXCI_TEST_VARIABLE"), "value");
    unsetenv("MXCI_TEST_VARIABLE");
    assert_null(mxci_getenv("MXCI_TEST_VARIABLE"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_goes_forward),
        cmocka_unit_test(sleeping_takes_its_time),
        cmocka_unit_test(the_environment_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
