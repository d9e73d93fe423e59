/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, binding, running and freeing a long chain takes time in proportion to its length. */
#include "executor/nets.h"

#include <time.h>

#include "base/text.h"

/* Of this process: other programs do not count. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* n operators, each of which takes what comes before it and the data. */
static mxc_symbol *read_chain(int n) {
    mxci_text text = {0};
    mxc_symbol *symbol;
    mxci_text_add(&text, "{\"nodes\": [{\"op\": \"null\", \"name\": \"data\", \"inputs\": []}");
    for (int i = 1; i <= n; i++)
        mxci_text_printf(&text, ", {\"op\": \"elemwise_mul\", \"name\": \"n%d\", \"inputs\": [[%d, 0], [0, 0]]}", i,
                         i - 1);
    mxci_text_printf(&text, "], \"arg_nodes\": [0], \"heads\": [[%d, 0, 0]]}", n);
    assert_int_equal(text.failed, 0);
    assert_ok(mxc_symbol_from_json(text.data, text.length, &symbol));
    mxci_text_free(&text);
    return symbol;
}

static double time_of_chain(int n) {
    const char *name = "data";
    const mxc_shape shape = net_shape(2, 2, 3, 0, 0);
    double begin = seconds(), *values;
    mxc_symbol *symbol = read_chain(n);
    mxc_executor *executor;
    mxc_ndarray *data, *gradient;
    assert_ok(mxc_ndarray_create(2, (int64_t[]){2, 3}, MXC_F32, mxc_cpu(0), &data));
    assert_ok(mxc_ndarray_create(2, (int64_t[]){2, 3}, MXC_F32, mxc_cpu(0), &gradient));
    assert_ok(mxc_ndarray_fill(data, 1));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape};
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &executor));
    mxc_executor_destroy(executor);
    assert_ok(mxc_executor_bind(symbol, NULL, &data, &gradient, NULL, NULL, &executor));
    for (int i = 0; i < 2; i++) {
        assert_ok(mxc_executor_forward(executor, 1));
        assert_ok(mxc_executor_backward(executor, 1, &data));
    }
    values = net_read(gradient);
    assert_true(values[5] == n + 1);
    free(values);
    mxc_executor_destroy(executor);
    mxc_ndarray_release(data);
    mxc_ndarray_release(gradient);
    mxc_symbol_release(symbol);
    return seconds() - begin;
}

/* Eight times the length: eight times as long, with room for caches; if it were the square, it would be 64 times. */
static void chains_take_linear_time(void **state) {
    /* Under sanitizers so few that the exhaustive packing of small pools, which is quadratic, takes no time. */
    int n = TEST_SANITIZED ? 60 : 3000;
    double small, large;
    (void)state;
    (void)time_of_chain(10); /* what is made once is made */
    small = time_of_chain(n);
    large = time_of_chain(8 * n);
    if (large > 24 * small + 0.2)
        fail_msg("%d operators take %.3f s, %d take %.3f s", n, small, 8 * n, large);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_take_linear_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
