/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU modules that are absent or no modules: a clear error, and everything else works. Where modules are looked for,
 * and where not, is tried with copies of this program in other directories, started as "program probe".
 */
#include "support.h"

#include <mxc/mxc.h>

#include "base/module.h"

static void test_absent(void **state) {
    const mxci_module *module;
    mxc_ndarray *x;
    int64_t n = 1;
    int devices;
    (void)state;
    assert_fails(mxc_device_count(MXC_GPU, &devices), MXC_EDEVICE, "/nowhere/libmxc_gpu.so");
    assert_int_equal(devices, 0);
    assert_fails(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x), MXC_EDEVICE, "gpu(0): no support");
    assert_fails(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x), MXC_EDEVICE, "/nowhere/libmxc_gpu.so");
    assert_fails(mxci_module_get(MXC_CPU, &module), MXC_EDEVICE, "no module");
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &x));
    mxc_ndarray_release(x);
}

/* Without the module, an operator on such arrays would run on the host; there are none, so nothing is lost. */
static void test_place(void **state) {
    const mxc_op_def *op = mxc_op_find("Convolution");
    (void)state;
    assert_int_equal(mxc_op_place(op, MXC_CPU, MXC_FORWARD), MXC_PLACE_DEVICE);
    assert_int_equal(mxc_op_place(op, MXC_CPU_PINNED, MXC_BACKWARD), MXC_PLACE_DEVICE);
    assert_int_equal(mxc_op_place(op, MXC_GPU, MXC_FORWARD), MXC_PLACE_HOST);
    assert_int_equal(mxc_op_place(mxc_op_find("topk"), MXC_CPU, MXC_BACKWARD) != MXC_PLACE_HOST, 1);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

#define MODULE "libmxc_cuda.so"

static test_path directory; /* of programs, and of things that are no modules but have the name of one */

/* What a copy of this program in directory/place says about the module when it is started by the shell's words, in
 * directory/from. */
static const char *probe(const char *place, const char *from, const char *words) {
    static char text[4096];
    char command[4096];
    test_path out;
    snprintf(command, sizeof command,
             "cd '%s' && mkdir -p '%s' '%s' && cp -f /proc/%d/exe '%s/program' && cd '%s' && unset MXC_GPU_MODULE && "
             "bash -c \"%s '%s/%s/program' probe\" >'%s/out' 2>&1",
             directory, place, from, (int)getpid(), place, from, words, directory, place, directory);
    if (system(command) != 0)
        print_message("%s\n", command);
    char *found = test_read_file(test_join(out, directory, "out"), NULL);
    snprintf(text, sizeof text, "%s", found ? found : "");
    free(found);
    return text;
}

/* A file that cannot be loaded, which the loader says if it is tried. */
static void plant(const char *place) {
    char command[4096];
    snprintf(command, sizeof command, "cd '%s' && mkdir -p '%s' && echo planted >'%s/" MODULE "'", directory, place,
             place);
    assert_int_equal(system(command), 0);
}

static void expect(const char *text, const char *format, const char *place) {
    char expected[1024];
    snprintf(expected, sizeof expected, format, directory, place);
    if (!strstr(text, expected))
        fail_msg("\"%s\" lacks \"%s\"", text, expected);
}

static int make_folder(void **state) {
    test_temp_dir(directory);
    (void)state;
    return 0;
}

static int remove_folder(void **state) {
    test_remove_dir(directory);
    (void)state;
    return 0;
}

static void test_not_found(void **state) {
    (void)state;
    const char *text = probe("programs", "away", "exec");
    expect(text, MODULE " is in none of these directories: %s/%s, /", "programs");
    expect(text, "set MXC_GPU_MODULE to its absolute path", "");
}

/* Neither the current directory, nor where argv[0] or the loader's variable lead. */
static void test_planted(void **state) {
    (void)state;
    plant("away");
    expect(probe("programs", "away", "exec"), "none of these directories: %s/%s, /", "programs");
    expect(probe("programs", "away", "exec -a ./program"), "none of these directories: %s/%s, /", "programs");
    expect(probe("programs", "away", "exec -a $PWD/program"), "none of these directories: %s/%s, /", "programs");
    expect(probe("programs", "away", "LD_LIBRARY_PATH=.:$PWD exec"), "none of these directories: %s/%s, /", "programs");
    expect(probe("programs", "away", "MXC_GPU_MODULE=" MODULE " exec"),
           "MXC_GPU_MODULE: \"" MODULE "\" is not an absolute path", "");
    expect(probe("programs", "away", "MXC_GPU_MODULE=./" MODULE " exec"), "is not an absolute path", "");
}

static void test_beside(void **state) {
    (void)state;
    plant("beside");
    expect(probe("beside", "away", "exec"), "%s/%s/" MODULE ": ", "beside");
}

/* In an installed tree programs are in one directory, libraries in another. */
static void test_installed(void **state) {
    char *place, *end;
    (void)state;
    place = strstr(probe("tree/bin", "away", "exec"), "/bin/..");
    assert_non_null(place);
    end = strchr(place, ',');
    assert_non_null(end);
    *end = '\0';
    test_path libraries;
    plant(test_join(libraries, "tree", place + 1));
    expect(probe("tree/bin", "away", "exec"), "%s/%s/" MODULE ": ", libraries);
}

/* As another process: says why there is no module. */
static int say_why(void) {
    const mxci_module *module;
    return puts(mxci_module_get(MXC_GPU, &module) == MXC_OK ? "loaded" : mxc_last_error()) < 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),  cmocka_unit_test(test_place),  cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_planted), cmocka_unit_test(test_beside), cmocka_unit_test(test_installed),
    };
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        return say_why();
    setenv("MXC_GPU_MODULE", "/nowhere/libmxc_gpu.so", 1);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
