/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of operators' runs, in executors and of arrays: shapes and bytes. */
#include <mxc/executor.h>
#include <mxc/op.h>
#include <mxc/trace.h>

#include "support.h"

static test_path folder, path;

static int set_up(void **state) {
    (void)state;
    test_join(path, test_temp_dir(folder), "trace.json");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

static void expect(const char *text, const char *event) {
    if (!strstr(text, event))
        fail_msg("%s\nis not in\n%s", event, text);
}

static void test_arrays(void **state) {
    static const int64_t dims[2] = {3, 4};
    mxc_ndarray *x, *out[1] = {NULL};
    (void)state;
    assert_ok(mxc_ndarray_create(2, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_wait_to_read(x));
    assert_ok(mxc_trace_start());
    assert_ok(mxc_invoke("transpose", 1, &x, 0, NULL, NULL, 1, out));
    assert_ok(mxc_ndarray_wait_to_read(out[0]));
    mxc_trace_stop();
    assert_ok(mxc_trace_write(path));
    char *text = test_read_file(path, NULL);
    expect(text, "\"name\":\"transpose\",\"cat\":\"operator\"");
    expect(text, "\"args\":{\"shapes\":\"(3,4) -> (4,3)\",\"bytes\":96,\"temp_bytes\":0}");
    free(text);
    mxc_ndarray_release(x);
    mxc_ndarray_release(out[0]);
}

static void test_executor(void **state) {
    static const char *const names[] = {"data"}, *const keys[] = {"num_hidden"}, *const values[] = {"5"};
    const mxc_shape shape = {.ndim = 2, .dim = {2, 3}};
    mxc_symbol *data, *net;
    mxc_executor *executor;
    mxc_ndarray *head;
    (void)state;
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_op("FullyConnected", "fc", 1, keys, values, 1, NULL, &data, &net));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = names, .shapes = &shape, .req = MXC_REQ_WRITE};
    assert_ok(mxc_executor_simple_bind(net, NULL, &spec, &executor));
    assert_ok(mxc_ndarray_create(2, (int64_t[]){2, 5}, MXC_F32, mxc_cpu(0), &head));
    assert_ok(mxc_trace_start());
    assert_ok(mxc_executor_forward(executor, 1));
    assert_ok(mxc_executor_backward(executor, 1, &head));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_find_grad(executor, "fc_weight")));
    mxc_trace_stop();
    assert_ok(mxc_trace_write(path));
    char *text = test_read_file(path, NULL);
    expect(text, "\"shapes\":\"(2,3) (5,3) (5,) -> (2,5)\",\"bytes\":144"); /* 6 + 15 + 5 + 10 floats */
    expect(text, "\"shapes\":\"(2,5) -> (2,3) (5,3) (5,)\"");
    free(text);
    mxc_ndarray_release(head);
    mxc_executor_destroy(executor);
    mxc_symbol_release(data);
    mxc_symbol_release(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_executor, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
