/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose functions belong to the program: they may block, wait for each other and call the library. */
#include "support.h"

#include <stdatomic.h>

#include <mxc/executor.h>

#include "base/sys.h"

/* ---- t_twice: out = 2 data, by an operator of the library on arrays of its own ---- */

static mxc_status invoke_into(const char *op, const mxc_tensor *from, const mxc_tensor *to) {
    mxc_ndarray *in = NULL, *out = NULL;
    mxc_status status = mxc_ndarray_from_data(from->shape.ndim, from->shape.dim, from->dtype, from->data, &in);
    const char *key = "scalar", *value = "2";
    if (status == MXC_OK)
        status = mxc_invoke(op, 1, &in, 1, &key, &value, 1, &out);
    if (status == MXC_OK)
        status = mxc_ndarray_get(out, to->data, mxc_ndarray_bytes(out));
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
    return status;
}

static mxc_status twice_forward(const mxc_op_call *call) {
    return invoke_into("_mul_scalar", &call->in[0], &call->out[0]);
}

static mxc_status twice_backward(const mxc_op_call *call) {
    return invoke_into("_mul_scalar", &call->out_grad[0], &call->in_grad[0]);
}

static const mxc_op_def twice = {
    .size = sizeof(mxc_op_def),
    .name = "t_twice",
    .doc = "out = 2 data",
    .flags = MXC_OP_CALLBACK,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = twice_forward},
    .backward = {[MXC_CPU] = twice_backward},
};

/* ---- t_meet: returns when as many calls of it as there are in all have begun ---- */

enum { MEETING = 24 };
static _Atomic int arrived;

static mxc_status meet_forward(const mxc_op_call *call) {
    (void)call;
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < MEETING)
        mxci_sleep_ns(100000);
    return MXC_OK;
}

static const mxc_op_def meet = {
    .size = sizeof(mxc_op_def),
    .name = "t_meet",
    .doc = "waits for the others",
    .flags = MXC_OP_CALLBACK | MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = meet_forward},
};

/* ---- t_fail: says why it cannot, or only that ---- */

static mxc_status fail_forward(const mxc_op_call *call) {
    if (((const float *)call->in[0].data)[0] > 0)
        return MXC_FAIL(MXC_EUSER, "t_fail: does not like %g", ((const double *)call->in[0].data)[0]);
    return MXC_EUSER;
}

static const mxc_op_def failing = {
    .size = sizeof(mxc_op_def),
    .name = "t_fail",
    .doc = "fails",
    .flags = MXC_OP_CALLBACK | MXC_OP_ZERO_GRADIENT,
    .forward = {[MXC_CPU] = fail_forward},
};

/* ---- tests ---- */

static mxc_ndarray *numbers(int64_t n, float first) {
    float values[64];
    mxc_ndarray *array;
    for (int64_t i = 0; i < n; i++)
        values[i] = first + (float)i;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F32, values, &array));
    return array;
}

static void expect_numbers(mxc_ndarray *array, int64_t n, float first, float step) {
    float values[64];
    assert_ok(mxc_ndarray_get(array, values, (size_t)n * sizeof(float)));
    for (int64_t i = 0; i < n; i++)
        assert_float_equal(values[i], first + step * (float)i, 1e-6);
}

static void with_engine(mxc_engine_kind kind, void (*body)(void)) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.kind = kind;
    options.workers = 1;
    assert_ok(mxc_engine_create(&options, &engine));
    mxc_engine_set_default(engine);
    body();
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(engine);
}

static void chain(void) {
    mxc_ndarray *x = numbers(3, 1), *y;
    for (int i = 0; i < 4; i++) {
        y = NULL;
        assert_ok(mxc_invoke("t_twice", 1, &x, 0, NULL, NULL, 1, &y));
        mxc_ndarray_release(x);
        x = y;
    }
    expect_numbers(x, 3, 16, 16);
    mxc_ndarray_release(x);
}

static void test_calls_library(void **state) {
    (void)state;
    with_engine(MXC_ENGINE_THREADED, chain);
    with_engine(MXC_ENGINE_NAIVE, chain);
    with_engine(MXC_ENGINE_SEEDED, chain);
}

/* With one worker: none of them holds it while it waits for the others. */
static void meeting(void) {
    mxc_ndarray *in[MEETING], *out[MEETING] = {0};
    atomic_store(&arrived, 0);
    for (int i = 0; i < MEETING; i++) {
        in[i] = numbers(1, 0);
        assert_ok(mxc_invoke("t_meet", 1, &in[i], 0, NULL, NULL, 1, &out[i]));
    }
    for (int i = 0; i < MEETING; i++) {
        assert_ok(mxc_ndarray_wait_to_read(out[i]));
        mxc_ndarray_release(in[i]);
        mxc_ndarray_release(out[i]);
    }
    assert_int_equal(arrived, MEETING);
}

static void test_blocks_no_worker(void **state) {
    (void)state;
    with_engine(MXC_ENGINE_THREADED, meeting);
}

static void expect_failure(float first, const char *message) {
    mxc_ndarray *x = numbers(2, first), *y = NULL, *z = NULL;
    assert_ok(mxc_invoke("t_fail", 1, &x, 0, NULL, NULL, 1, &y));
    assert_ok(mxc_invoke("t_twice", 1, &y, 0, NULL, NULL, 1, &z));
    assert_fails(mxc_ndarray_wait_to_read(z), MXC_EUSER, message);
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
    mxc_ndarray_release(z);
}

static void failures(void) {
    expect_failure(1, "t_fail: does not like");
    expect_failure(-1, "t_fail");
}

static void test_failure(void **state) {
    (void)state;
    with_engine(MXC_ENGINE_THREADED, failures);
}

static mxc_symbol *on(const char *op, int n, const char *key, const char *value, mxc_symbol *in) {
    mxc_symbol *symbol;
    assert_ok(mxc_symbol_atomic(op, n, &key, &value, &symbol));
    assert_ok(mxc_symbol_compose(symbol, op, 1, NULL, &in));
    mxc_symbol_release(in);
    return symbol;
}

/* y = -2 (x + 1) by a symbol that calls t_twice Custom, and comes back from its file. */
static mxc_symbol *net(void) {
    mxc_symbol *x, *y;
    char *json;
    assert_ok(mxc_symbol_variable("x", &x));
    y = on("negative", 0, NULL, NULL, on("Custom", 1, "op_type", "t_twice", on("_plus_scalar", 1, "scalar", "1", x)));
    assert_ok(mxc_symbol_to_json(y, &json));
    mxc_symbol_release(y);
    assert_non_null(strstr(json, "\"op\": \"Custom\""));
    assert_non_null(strstr(json, "\"op_type\": \"t_twice\""));
    assert_ok(mxc_symbol_from_json(json, strlen(json), &y));
    mxc_free(json);
    return y;
}

static void run_net(void) {
    mxc_symbol *symbol = net();
    mxc_ndarray *x = numbers(3, 0), *grad = numbers(3, 9), *head = numbers(3, 1);
    mxc_req req = MXC_REQ_WRITE;
    mxc_executor *executor;
    assert_ok(mxc_executor_bind(symbol, NULL, &x, &grad, &req, NULL, &executor));
    for (int i = 0; i < 3; i++) { /* runs are queued while earlier ones go on */
        assert_ok(mxc_executor_forward(executor, 1));
        assert_ok(mxc_executor_backward(executor, 1, &head));
    }
    expect_numbers(mxc_executor_output(executor, 0), 3, -2, -2);
    expect_numbers(grad, 3, -2, -2);
    mxc_executor_destroy(executor);
    mxc_symbol_release(symbol);
    mxc_ndarray_release(x);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(head);
}

static void test_in_executor(void **state) {
    (void)state;
    with_engine(MXC_ENGINE_THREADED, run_net);
    with_engine(MXC_ENGINE_NAIVE, run_net);
    with_engine(MXC_ENGINE_SEEDED, run_net);
}

static size_t some_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)sig;
    (void)pass;
    return 8;
}

static mxc_status take_any(int n, const char *const *keys, const char *const *values, void *params) {
    (void)n;
    (void)keys;
    (void)values;
    (void)params;
    return MXC_OK;
}

static void test_refused(void **state) {
    static mxc_param schema[] = {MXC_PARAM_END};
    mxc_op_def def = twice;
    (void)state;
    def.name = "t_refused";
    def.temp_bytes = some_bytes;
    assert_fails(mxc_op_register(&def), MXC_EINVAL, "t_refused: MXC_OP_CALLBACK goes without temp_bytes");
    def.temp_bytes = NULL;
    def.params_open = take_any;
    def.params = schema;
    def.param_size = 1;
    assert_fails(mxc_op_register(&def), MXC_EINVAL, "t_refused: params_open goes without params");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_library), cmocka_unit_test(test_blocks_no_worker), cmocka_unit_test(test_failure),
        cmocka_unit_test(test_in_executor),   cmocka_unit_test(test_refused),
    };
    if (mxc_op_register(&twice) != MXC_OK || mxc_op_register(&meet) != MXC_OK || mxc_op_register(&failing) != MXC_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
