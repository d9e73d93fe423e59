/* SPDX-License-Identifier: Apache-2.0 */
/* Running: steps allocate nothing, parts of a forward run, heads, failures inside, seeds. */
#include "executor/nets.h"

#include <stdatomic.h>

#include <mxc/random.h>

#include "base/sys.h"

static const mxc_shape *mlp_shape(void) {
    static mxc_shape shape;
    shape = net_shape(2, 16, 12, 0, 0);
    return &shape;
}

static void step(mxc_executor *e) {
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 0, NULL));
}

/* ---- no allocation ---------------------------------------------------------------------------------------------- */

static void check_no_allocation(mxc_symbol *s, const mxc_shape *shape) {
    mxc_executor *e = net_bind(s, NULL, shape, 1);
    int64_t before;
    net_fill_all(e, 1, 10);
    for (int i = 0; i < 5; i++)
        step(e);
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_grad(e, 1)));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    before = mxci_alloc_count();
    for (int i = 0; i < 5; i++)
        step(e);
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_grad(e, 1)));
    assert_int_equal(mxci_alloc_count() - before, 0);
    mxc_executor_destroy(e);
}

static void test_no_allocation(void **state) {
    mxc_symbol *mlp = net_mlp(32, 10), *lenet = net_lenet();
    mxc_shape images = net_shape(4, 4, 1, 28, 28);
    (void)state;
    check_no_allocation(mlp, mlp_shape());
    check_no_allocation(lenet, &images);
    mxc_symbol_release(mlp);
    mxc_symbol_release(lenet);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static void test_partial_forward(void **state) {
    mxc_symbol *s = net_mlp(32, 10);
    mxc_executor *whole = net_bind(s, NULL, mlp_shape(), 1), *parts = net_bind(s, NULL, mlp_shape(), 1);
    int64_t left = 1, at;
    (void)state;
    net_fill_all(whole, 1, 10);
    net_fill_all(parts, 1, 10);
    step(whole);
    assert_fails(mxc_executor_partial_forward(parts, 1, 2, &left), MXC_ESTATE, "step 2");
    left = 1;
    for (at = 0; left; at++)
        assert_ok(mxc_executor_partial_forward(parts, 1, at, &left));
    assert_int_equal(at, 6);
    assert_ok(mxc_executor_partial_forward(parts, 1, at, &left));
    assert_int_equal(left, 0);
    assert_same_bits(mxc_executor_output(whole, 0), mxc_executor_output(parts, 0));
    assert_ok(mxc_executor_backward(parts, 0, NULL));
    assert_same_bits(mxc_executor_find_grad(whole, "fc1_weight"), mxc_executor_find_grad(parts, "fc1_weight"));
    mxc_executor_destroy(whole);
    mxc_executor_destroy(parts);
    mxc_symbol_release(s);
}

static void test_backward_refused(void **state) {
    mxc_symbol *s = net_on("tanh", "y", "", net_variable("x"));
    int64_t dims[1] = {3}, other[1] = {4};
    mxc_ndarray *x, *g, *wrong;
    mxc_executor *e;
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &g));
    assert_ok(mxc_ndarray_create(1, other, MXC_F32, mxc_cpu(0), &wrong));
    assert_ok(mxc_ndarray_fill(x, 1));
    assert_ok(mxc_executor_bind(s, NULL, &x, &g, NULL, NULL, &e));
    assert_fails(mxc_executor_backward(e, 1, &x), MXC_ESTATE, "forward");
    assert_ok(mxc_executor_forward(e, 0));
    assert_fails(mxc_executor_backward(e, 1, &x), MXC_ESTATE, "is_train");
    assert_ok(mxc_executor_forward(e, 1));
    assert_fails(mxc_executor_backward(e, 0, NULL), MXC_EINVAL, "y_output");
    assert_fails(mxc_executor_backward(e, 2, &x), MXC_EINVAL, "expected 1");
    assert_fails(mxc_executor_backward(e, 1, &wrong), MXC_ESHAPE, "(4,)");
    assert_ok(mxc_executor_backward(e, 1, &x));
    assert_ok(mxc_ndarray_wait_to_read(g));
    mxc_executor_destroy(e);
    mxc_ndarray_release(x);
    mxc_ndarray_release(g);
    mxc_ndarray_release(wrong);
    mxc_symbol_release(s);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

static atomic_int fail_now;

static mxc_status test_forward(const mxc_op_call *call) {
    size_t bytes = (size_t)mxc_shape_size(&call->in[0].shape) * mxc_dtype_size(call->in[0].dtype);
    if (atomic_load(&fail_now))
        return MXC_FAIL(MXC_EUSER, "test operator: told to fail");
    memmove(call->out[0].data, call->in[0].data, bytes);
    return MXC_OK;
}

static const mxc_op_def failing_op = {
    .size = sizeof(mxc_op_def),
    .name = "test_executor_failing",
    .doc = "output = data, or fails",
    .forward = {[MXC_CPU] = test_forward},
};

static void check_failure(int bulk_nodes) {
    mxc_symbol *s = net_on("tanh", "a", "", net_variable("x"));
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    int64_t dims[1] = {3};
    mxc_ndarray *x;
    mxc_executor *e;
    s = net_on("tanh", "c", "", net_on("test_executor_failing", "b", "", s));
    options.bulk_nodes = bulk_nodes;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 1));
    assert_ok(mxc_executor_bind(s, &options, &x, NULL, NULL, NULL, &e));
    for (int round = 0; round < 3; round++) {
        atomic_store(&fail_now, 1);
        MXC_IGNORE(mxc_executor_forward(e, 0)); /* a naive engine fails here */
        assert_fails(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)), MXC_EUSER, "told to fail");
        atomic_store(&fail_now, 0);
        assert_ok(mxc_executor_forward(e, 0)); /* and the process goes on */
        assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    }
    mxc_executor_destroy(e);
    mxc_ndarray_release(x);
    mxc_symbol_release(s);
}

static void test_failure_inside(void **state) {
    (void)state;
    assert_ok(mxc_op_register(&failing_op));
    check_failure(0);
    check_failure(1);
}

static void test_no_gradient(void **state) {
    mxc_symbol *s = net_on("test_executor_failing", "b", "", net_variable("x"));
    int64_t dims[1] = {3};
    mxc_ndarray *x, *g;
    mxc_executor *e;
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &g));
    assert_fails(mxc_executor_bind(s, NULL, &x, &g, NULL, NULL, &e), MXC_EUNSUPPORTED, "test_executor_failing");
    mxc_ndarray_release(x);
    mxc_ndarray_release(g);
    mxc_symbol_release(s);
}

/* ---- random numbers --------------------------------------------------------------------------------------------- */

static void test_seed(void **state) {
    mxc_symbol *s = net_on("Dropout", "drop", "p=0.5", net_variable("x"));
    int64_t dims[1] = {1000};
    mxc_ndarray *x;
    mxc_executor *e;
    double *first[2], *again[2];
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 1));
    assert_ok(mxc_executor_bind(s, NULL, &x, NULL, NULL, NULL, &e));
    for (int round = 0; round < 2; round++) {
        mxc_random_seed(42);
        for (int i = 0; i < 2; i++) {
            assert_ok(mxc_executor_forward(e, 1));
            (round ? again : first)[i] = net_read(mxc_executor_output(e, 0));
        }
    }
    assert_memory_equal(first[0], again[0], 1000 * sizeof(double));
    assert_memory_equal(first[1], again[1], 1000 * sizeof(double));
    assert_memory_not_equal(first[0], first[1], 1000 * sizeof(double));
    for (int i = 0; i < 2; i++) {
        free(first[i]);
        free(again[i]);
    }
    mxc_executor_destroy(e);
    mxc_ndarray_release(x);
    mxc_symbol_release(s);
}

/* ---- backward again --------------------------------------------------------------------------------------------- */

/* With repeat_backward, each backward run gives the same bits; what it reads of forward takes memory until the end. */
static void test_repeat_backward(void **state) {
    mxc_symbol *s = net_lenet();
    mxc_shape shape = net_shape(4, 8, 1, 28, 28);
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *once = net_bind(s, NULL, &shape, 1), *again;
    mxc_memory_report small, large;
    (void)state;
    options.repeat_backward = 1;
    again = net_bind(s, &options, &shape, 1);
    assert_ok(mxc_executor_get_report(once, &small));
    assert_ok(mxc_executor_get_report(again, &large));
    assert_true(small.internal_planned < large.internal_planned);
    net_fill_all(once, 3, 10);
    net_fill_all(again, 3, 10);
    step(once);
    assert_ok(mxc_executor_forward(again, 1));
    for (int round = 0; round < 3; round++) {
        assert_ok(mxc_executor_backward(again, 0, NULL));
        for (int64_t i = 0; i < mxc_executor_arg_names(once)->n; i++)
            if (mxc_executor_grad(once, i)) {
                assert_same_bits(mxc_executor_grad(once, i), mxc_executor_grad(again, i));
                assert_ok(mxc_ndarray_fill(mxc_executor_grad(again, i), 0));
            }
    }
    mxc_executor_destroy(once);
    mxc_executor_destroy(again);
    mxc_symbol_release(s);
}

/* ---- inference by slices ---------------------------------------------------------------------------------------- */

/* Tiled inference gives what whole arrays give; a training run of the same executor works too. */
static void test_tiles(void **state) {
    mxc_symbol *s = net_lenet();
    mxc_shape shape = net_shape(4, 64, 1, 28, 28);
    mxc_bind_options whole = MXC_BIND_OPTIONS_INIT;
    mxc_executor *a = net_bind(s, NULL, &shape, 0), *b;
    mxc_memory_report small, large;
    double *x, *y;
    (void)state;
    whole.no_sharing = 1;
    b = net_bind(s, &whole, &shape, 0);
    assert_ok(mxc_executor_get_report(a, &small));
    assert_ok(mxc_executor_get_report(b, &large));
    assert_true(small.internal_planned * 4 < large.internal_planned);
    net_fill_all(a, 5, 10);
    net_fill_all(b, 5, 10);
    for (int round = 0; round < 2; round++) {
        assert_ok(mxc_executor_forward(a, round));
        assert_ok(mxc_executor_forward(b, round));
        x = net_read(mxc_executor_output(a, 0));
        y = net_read(mxc_executor_output(b, 0));
        for (int i = 0; i < 640; i++)
            assert_true(x[i] - y[i] < 1e-6 && y[i] - x[i] < 1e-6);
        free(x);
        free(y);
    }
    mxc_executor_destroy(a);
    mxc_executor_destroy(b);
    mxc_symbol_release(s);
}

/* ---- after inference -------------------------------------------------------------------------------------------- */

/* The same gradients as after a training run: the network behaves the same in both. */
static void test_backward_after_inference(void **state) {
    mxc_symbol *s = net_mlp(32, 10);
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    options.backward_after_inference = 1;
    mxc_executor *e = net_bind(s, &options, mlp_shape(), 1);
    size_t bytes = mxc_ndarray_bytes(mxc_executor_grad(e, 1));
    char *trained = malloc(bytes), *inferred = malloc(bytes);
    (void)state;
    net_fill_all(e, 1, 10);
    step(e);
    assert_ok(mxc_ndarray_get(mxc_executor_grad(e, 1), trained, bytes));
    assert_ok(mxc_ndarray_fill(mxc_executor_grad(e, 1), 7));
    assert_ok(mxc_executor_forward(e, 0));
    assert_ok(mxc_executor_backward(e, 0, NULL));
    assert_ok(mxc_ndarray_get(mxc_executor_grad(e, 1), inferred, bytes));
    assert_memory_equal(trained, inferred, bytes);
    free(trained);
    free(inferred);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_partial_forward),
        cmocka_unit_test(test_backward_refused),
        cmocka_unit_test(test_failure_inside),
        cmocka_unit_test(test_no_gradient),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_repeat_backward),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_backward_after_inference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
