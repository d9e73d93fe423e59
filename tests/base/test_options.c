/* SPDX-License-Identifier: Apache-2.0 */
/* Options: main sets the environment before the first reading, since it is read once. */
#include "support.h"

#include "base/log.h"
#include "base/options.h"
#include "base/sys.h"

static char warnings[4096];

static void collect(mxc_log_level level, const char *message, void *user) {
    (void)level;
    (void)user;
    strncat(warnings, message, sizeof warnings - strlen(warnings) - 2);
    strcat(warnings, "\n");
}

static void read_one(void *arg) {
    *(int64_t *)arg = mxci_option_get(MXCI_OPT_MXC_NUM_WORKERS);
}

/* First in the list: several threads come to the first reading at once. */
static void the_environment_is_read_once(void **state) {
    mxci_thread threads[4];
    int64_t found[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_ok(mxci_thread_start(&threads[i], "reader", read_one, &found[i]));
    for (int i = 0; i < 4; i++)
        mxci_thread_join(threads[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(found[i], 5);
    setenv("MXC_NUM_WORKERS", "6", 1);
    assert_int_equal(mxci_option_get(MXCI_OPT_MXC_NUM_WORKERS), 5);
}

static void bad_values_give_the_default_and_a_warning(void **state) {
    (void)state;
    assert_int_equal(mxci_option_get(MXCI_OPT_MXC_SPIN_US), 200);
    assert_int_equal(mxci_option_get(MXCI_OPT_MXC_ENGINE), 1);
    assert_int_equal(mxci_option_get(MXCI_OPT_MXC_POOL_CAP_MB), 0);
    assert_non_null(strstr(warnings, "MXC_SPIN_US=\"abc\" ignored: expected a number from 0 to 1000000"));
    assert_non_null(strstr(warnings, "MXC_ENGINE=\"9\" ignored"));
    assert_null(strstr(warnings, "MXC_POOL_CAP_MB")); /* empty counts as not set */
    assert_null(strstr(warnings, "MXC_NUM_WORKERS"));
}

static void unknown_names_give_a_warning(void **state) {
    (void)state;
    assert_non_null(strstr(warnings, "MXC_NUM_WORKER is not an option"));
    assert_null(strstr(warnings, "secret")); /* the value of what is not ours is nobody's business */
}

static void texts_are_parsed_strictly(void **state) {
    static const char *const bad[] = {
        "", "x", "1x", "-1", "1025", "1.5", "0x1", "99999999999999999999", "1 ", "\xc3\xa4",
    };
    int64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mxci_option_parse(MXCI_OPT_MXC_NUM_THREADS, bad[i], &value));
        assert_int_equal(value, 0);
    }
    assert_true(mxci_option_parse(MXCI_OPT_MXC_NUM_THREADS, "1024", &value));
    assert_int_equal(value, 1024);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_read_once),
        cmocka_unit_test(bad_values_give_the_default_and_a_warning),
        cmocka_unit_test(unknown_names_give_a_warning),
        cmocka_unit_test(texts_are_parsed_strictly),
    };
    setenv("MXC_NUM_WORKERS", "5", 1);
    setenv("MXC_NUM_WORKER", "secret", 1);
    setenv("MXC_SPIN_US", "abc", 1);
    setenv("MXC_ENGINE", "9", 1);
    setenv("MXC_POOL_CAP_MB", "", 1);
    unsetenv("MXC_LOG_LEVEL");
    mxc_set_logger(collect, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
