/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of the kernels' level: by the processor, by MXC_CPU in a process of its own, and what is refused. */
#include "support.h"

#include <mxc/ndarray.h>
#include <mxc/version.h>

#include "base/cpu.h"

static const char *program;

static int position(const char *level) {
    int i = 0;
    while (mxci_level_names[i] && strcmp(mxci_level_names[i], level) != 0)
        i++;
    return i;
}

static void the_fastest_is_selected(void **state) {
    const char *at_load = mxc_cpu_level();
    (void)state;
    assert_non_null(mxci_level_names[position(at_load)]);
    assert_ok(mxci_cpu_check());
    for (int i = position(at_load) + 1; mxci_level_names[i]; i++)
        assert_fails(mxci_cpu_use(mxci_level_names[i]), MXC_EDEVICE, "this processor lacks part of what it needs");
    assert_string_equal(mxc_cpu_level(), at_load);
}

static void slower_levels_may_be_used(void **state) {
    const char *at_load = mxc_cpu_level();
    (void)state;
    for (int i = 0; i <= position(at_load); i++) {
        assert_ok(mxci_cpu_use(mxci_level_names[i]));
        assert_string_equal(mxc_cpu_level(), mxci_level_names[i]);
    }
    assert_ok(mxci_cpu_use(NULL));
    assert_string_equal(mxc_cpu_level(), at_load);
}

static void unknown_levels_are_refused(void **state) {
    (void)state;
    assert_fails(mxci_cpu_use("sse2"), MXC_EDEVICE, "MXC_CPU=\"sse2\": expected a level of this libmxc: ");
    assert_non_null(strstr(mxc_last_error(), mxci_level_names[0]));
    assert_status(mxci_cpu_use("AVX2"), MXC_EDEVICE);
    assert_status(mxci_cpu_use(""), MXC_EDEVICE);
}

/* As on processors that lack each of the levels, from the last to the first. */
static void levels_that_the_processor_lacks_are_refused(void **state) {
    const char *at_load = mxc_cpu_level();
    (void)state;
    for (int i = position(at_load); i >= 0; i--) {
        mxci_test_cpu_lacks(mxci_level_names[i]);
        assert_fails(mxci_cpu_use(mxci_level_names[i]), MXC_EDEVICE, "this processor lacks part of what it needs");
        if (i > 0) {
            assert_non_null(strstr(mxc_last_error(), mxci_level_names[0]));
            assert_ok(mxci_cpu_use(NULL));
            assert_string_equal(mxc_cpu_level(), mxci_level_names[i - 1]);
        } else {
            assert_non_null(strstr(mxc_last_error(), "it has no level of this libmxc"));
            assert_fails(mxci_cpu_use(NULL), MXC_EDEVICE, "this libmxc has no kernels for this processor");
        }
    }
    mxci_test_cpu_lacks(NULL);
    assert_ok(mxci_cpu_use(NULL));
    assert_string_equal(mxc_cpu_level(), at_load);
}

/* What this program prints as a child with MXC_CPU set so. */
static void child(const char *value, char *out, size_t size) {
    char command[1024];
    FILE *pipe;
    snprintf(command, sizeof command, "MXC_CPU='%s' '%s' child", value, program);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    out[fread(out, 1, size - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static void the_environment_selects(void **state) {
    char text[1024];
    (void)state;
    for (int i = 0; i <= position(mxc_cpu_level()); i++) {
        child(mxci_level_names[i], text, sizeof text);
        assert_string_equal(text, mxci_level_names[i]);
    }
    child("", text, sizeof text);
    assert_string_equal(text, mxc_cpu_level());
}

/* The library loads, and the first array reports what is wrong. */
static void the_environment_is_refused(void **state) {
    char text[1024];
    (void)state;
    child("pentium", text, sizeof text);
    assert_non_null(strstr(text, "MXC_CPU=\"pentium\": expected a level of this libmxc: "));
    child("a name that is much longer than any level of any library", text, sizeof text);
    assert_non_null(strstr(text, "MXC_CPU=\"a name that"));
    for (int i = position(mxc_cpu_level()) + 1; mxci_level_names[i]; i++) {
        child(mxci_level_names[i], text, sizeof text);
        assert_non_null(strstr(text, "this processor lacks part of what it needs"));
    }
}

static int print_as_child(void) {
    const int64_t dims[] = {3};
    mxc_ndarray *array;
    mxc_status status = mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &array);
    if (status == MXC_OK)
        status = mxc_ndarray_fill(array, 1);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(array);
    fputs(status == MXC_OK ? mxc_cpu_level() : mxc_last_error(), stdout);
    mxc_ndarray_release(array);
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_is_selected),    cmocka_unit_test(slower_levels_may_be_used),
        cmocka_unit_test(unknown_levels_are_refused), cmocka_unit_test(levels_that_the_processor_lacks_are_refused),
        cmocka_unit_test(the_environment_selects),    cmocka_unit_test(the_environment_is_refused),
    };
    program = argv[0];
    if (argc > 1)
        return print_as_child();
    unsetenv("MXC_CPU");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
