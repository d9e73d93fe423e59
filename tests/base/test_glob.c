/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns with * and ?. */
#include "base/glob.h"
#include "support.h"

static void globs_match(void **state) {
    static const struct {
        const char *pattern, *text;
        int expected;
    } cases[] = {
        {"", "", 1},
        {"", "a", 0},
        {"*", "", 1},
        {"*", "conv0_weight", 1},
        {"conv*", "conv0", 1},
        {"conv*", "aconv", 0},
        {"*_bias", "fc_bias", 1},
        {"*_bias", "fc_bias2", 0},
        {"?", "", 0},
        {"?", "a", 1},
        {"fc?_*", "fc1_weight", 1},
        {"fc?_*", "fc12_weight", 0},
        {"*a*b", "xaxaxb", 1},
        {"*a*b", "xaxaxbx", 0},
        {"**?", "a", 1},
        {"a?c", "a*c", 1},
        {"*ab", "aab", 1},
        {"a*", "*", 0},
        {"*aab*", "aaab", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mxci_glob_match(cases[i].pattern, cases[i].text), cases[i].expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(globs_match)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
