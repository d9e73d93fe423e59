/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that begin with their size, between programs and libraries of different versions; and that every public one
 * is initialised by its function as by its macro. */
#include "support.h"

#include <mxc/mxc.h>

#include "base/sized.h"

typedef struct first_version {
    size_t size;
    int a;
} first_version;

typedef struct second_version {
    size_t size;
    int a, b;
    int64_t c;
} second_version;

static const second_version defaults = {sizeof defaults, 1, 2, 3};

static void init_writes_no_further_than_size(void **state) {
    second_version s;
    (void)state;
    memset(&s, 0x5a, sizeof s);
    mxci_sized_init(&s, offsetof(second_version, b), &defaults, sizeof defaults);
    assert_int_equal(s.size, offsetof(second_version, b));
    assert_int_equal(s.a, 1);
    assert_int_equal(s.b, 0x5a5a5a5a);
    mxci_sized_init(&s, sizeof s, &defaults, sizeof defaults);
    assert_memory_equal(&s, &defaults, sizeof s);
    memset(&s, 0x5a, sizeof s); /* a newer program: what the library does not know is zero */
    mxci_sized_init(&s, sizeof s, &(first_version){sizeof(first_version), 7}, sizeof(first_version));
    assert_int_equal(s.size, sizeof s);
    assert_int_equal(s.a, 7);
    assert_int_equal(s.c, 0);
    memset(&s, 0x5a, sizeof s);
    mxci_sized_init(&s, sizeof s.size - 1, &defaults, sizeof defaults);
    assert_int_equal(s.a, 0x5a5a5a5a);
    mxci_sized_init(NULL, sizeof s, &defaults, sizeof defaults);
}

static void an_older_program_gets_defaults(void **state) {
    const struct {
        size_t size;
        int a, rubbish;
    } given = {offsetof(second_version, b), 10, -1};
    second_version s = defaults;
    (void)state;
    assert_ok(mxci_sized_read("call", "given", "given_init", &given, &s, sizeof s));
    assert_int_equal(s.size, sizeof s);
    assert_int_equal(s.a, 10);
    assert_int_equal(s.b, 2);
    assert_int_equal(s.c, 3);
}

static void a_newer_program_may_use_what_is_known(void **state) {
    second_version given = {sizeof given, 10, 0, 0};
    first_version s = {sizeof s, 1};
    (void)state;
    assert_ok(mxci_sized_read("call", "given", "given_init", &given, &s, sizeof s));
    assert_int_equal(s.size, sizeof s);
    assert_int_equal(s.a, 10);
    given.c = 5;
    assert_fails(mxci_sized_read("call", "given", "given_init", &given, &s, sizeof s), MXC_EINVAL, "newer libmxc");
}

static void impossible_sizes_are_refused(void **state) {
    first_version given = {0, 10}, s = {sizeof s, 1};
    (void)state;
    assert_fails(mxci_sized_read("call", "given", "given_init", NULL, &s, sizeof s), MXC_EINVAL,
                 "call: given must not be NULL; start from given_init");
    assert_fails(mxci_sized_read("call", "given", "given_init", &given, &s, sizeof s), MXC_EINVAL, "given->size is 0");
    given.size = SIZE_MAX;
    assert_fails(mxci_sized_read("call", "given", "given_init", &given, &s, sizeof s), MXC_EINVAL, "given->size is");
    assert_int_equal(s.a, 1);
}

#define SAME(type, macro)                             \
    do {                                              \
        static const mxc_##type by_macro = macro;     \
        mxc_##type s;                                 \
        memset(&s, 0x5a, sizeof s);                   \
        mxc_##type##_init(&s, sizeof s);              \
        assert_memory_equal(&s, &by_macro, sizeof s); \
    } while (0)

static void functions_and_macros_agree(void **state) {
    (void)state;
    SAME(engine_options, MXC_ENGINE_OPTIONS_INIT);
    SAME(task, MXC_TASK_INIT);
    SAME(bind_options, MXC_BIND_OPTIONS_INIT);
    SAME(bind_spec, MXC_BIND_SPEC_INIT);
    SAME(quantize_options, MXC_QUANTIZE_OPTIONS_INIT);
    SAME(array_iter_options, MXC_ARRAY_ITER_OPTIONS_INIT);
    SAME(bucket_iter_options, MXC_BUCKET_ITER_OPTIONS_INIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_writes_no_further_than_size),
        cmocka_unit_test(an_older_program_gets_defaults),
        cmocka_unit_test(a_newer_program_may_use_what_is_known),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(functions_and_macros_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
