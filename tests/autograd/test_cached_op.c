/* SPDX-License-Identifier: Apache-2.0 */
/* Cached operators: shapes, inputs that change and that stay, graphs that use several runs, control flow, threads. */
#include <pthread.h>
#include <stdio.h>

#include <mxc/cached_op.h>

#include "alive.h"
#include "autograd/arrays.h"

/* y = data^2 w */
static mxc_symbol *make_square_w(void) {
    mxc_symbol *data, *w, *squared, *in[2], *out;
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_variable("w", &w));
    assert_ok(mxc_symbol_op("square", "s", 0, NULL, NULL, 1, NULL, &data, &squared));
    in[0] = squared, in[1] = w;
    assert_ok(mxc_symbol_op("elemwise_mul", "y", 0, NULL, NULL, 2, NULL, in, &out));
    mxc_symbol_release(data);
    mxc_symbol_release(w);
    mxc_symbol_release(squared);
    return out;
}

static mxc_cached_op *make_op(mxc_symbol *symbol, const mxc_cached_op_options *options) {
    mxc_cached_op *op;
    assert_ok(mxc_cached_op_create(symbol, options, &op));
    mxc_symbol_release(symbol);
    return op;
}

static mxc_ndarray *invoke(mxc_cached_op *op, mxc_ndarray *data, mxc_ndarray *w) {
    mxc_ndarray *in[] = {data, w}, *out;
    assert_ok(mxc_cached_op_invoke(op, 2, in, 1, &out));
    return out;
}

/* New data in each call, of several shapes, with w in place; forward only, and with gradients. */
static void shapes_and_inputs_may_change(void **state) {
    mxc_cached_op *op = make_op(make_square_w(), NULL);
    (void)state;
    for (int64_t n = 1; n <= 4; n++) {
        mxc_ndarray *w = variable(n, 3, 0, MXC_REQ_WRITE);
        for (int round = 0; round < 5; round++) {
            mxc_ndarray *data = variable(n, round, 0, MXC_REQ_WRITE), *y = invoke(op, data, w);
            assert_values(y, 3 * round * round, 0);
            assert_false(mxc_autograd_in_graph(y));
            mxc_ndarray_release(y);
            const int scope = mxc_autograd_record(1);
            y = invoke(op, data, w);
            mxc_autograd_leave(scope);
            assert_values(y, 3 * round * round, 0);
            assert_ok(backward(y));
            assert_values(mxc_autograd_grad(data), 6 * round, 0);
            assert_values(mxc_autograd_grad(w), round * round, 0);
            release_all(2, (mxc_ndarray *[]){data, y});
        }
        mxc_ndarray_release(w);
    }
    mxc_cached_op_destroy(op);
}

/* Outputs are the caller's; with static_alloc, the next call writes to them. */
static void outputs_are_new_arrays(void **state) {
    mxc_cached_op_options options = MXC_CACHED_OP_OPTIONS_INIT;
    mxc_ndarray *data = vector(3, 1, 1), *w = vector(3, 1, 0);
    (void)state;
    for (options.static_alloc = 0; options.static_alloc < 2; options.static_alloc++) {
        mxc_cached_op *op = make_op(make_square_w(), &options);
        mxc_ndarray *y = invoke(op, data, w);
        assert_ok(mxc_ndarray_fill(w, 2));
        mxc_ndarray *z = invoke(op, data, w);
        const double first = values_of(y)[1];
        assert_true(first == (options.static_alloc ? 8 : 4));
        assert_true(values_of(z)[1] == 8);
        assert_ok(mxc_ndarray_fill(w, 1));
        release_all(2, (mxc_ndarray *[]){y, z});
        mxc_cached_op_destroy(op);
    }
    release_all(2, (mxc_ndarray *[]){data, w});
}

/* Each recorded call keeps what its backward reads, as in an unrolled network; sums go over all of them. */
static void one_graph_may_have_several_calls(void **state) {
    mxc_cached_op *op = make_op(make_square_w(), NULL);
    mxc_ndarray *w = variable(2, 0.5, 0, MXC_REQ_WRITE), *x = variable(2, 2, 0, MXC_REQ_WRITE);
    (void)state;
    for (int round = 0; round < 3; round++) {
        const int scope = mxc_autograd_record(1);
        mxc_ndarray *a = invoke(op, x, w), *b = invoke(op, a, w), *c = invoke(op, b, w);
        mxc_autograd_leave(scope);
        assert_values(c, 2, 0); /* 2^2 / 2 = 2, three times */
        assert_ok(backward(c));
        /* dc/dx = (2 b w)(2 a w)(2 x w) = 8; dc/dw = b^2 + 2 b w (a^2 + 2 a w x^2) = 4 + 2 (4 + 2 4) */
        assert_values(mxc_autograd_grad(x), 8, 0);
        assert_values(mxc_autograd_grad(w), 28, 0);
        release_all(3, (mxc_ndarray *[]){a, b, c});
    }
    release_all(2, (mxc_ndarray *[]){w, x});
    mxc_cached_op_destroy(op);
}

static void retained_graphs_need_an_option(void **state) {
    mxc_cached_op_options options = MXC_CACHED_OP_OPTIONS_INIT;
    mxc_backward_options retain = MXC_BACKWARD_OPTIONS_INIT;
    (void)state;
    retain.retain_graph = 1;
    for (options.repeat_backward = 0; options.repeat_backward < 2; options.repeat_backward++) {
        mxc_cached_op *op = make_op(make_square_w(), &options);
        mxc_ndarray *w = variable(2, 3, 0, MXC_REQ_ADD), *x = variable(2, 2, 0, MXC_REQ_WRITE);
        const int scope = mxc_autograd_record(1);
        mxc_ndarray *y = invoke(op, x, w);
        mxc_autograd_leave(scope);
        assert_ok(mxc_autograd_backward(1, &y, NULL, &retain));
        assert_values(mxc_autograd_grad(x), 12, 0);
        if (options.repeat_backward) {
            assert_ok(mxc_autograd_backward(1, &y, NULL, &retain));
            assert_values(mxc_autograd_grad(x), 12, 0);
            assert_values(mxc_autograd_grad(w), 8, 0);
        } else {
            assert_fails(mxc_autograd_backward(1, &y, NULL, &retain), MXC_ESTATE, "create it with repeat_backward 1");
        }
        release_all(3, (mxc_ndarray *[]){w, x, y});
        mxc_cached_op_destroy(op);
    }
}

static void written_inputs_are_noticed(void **state) {
    const mxc_backward_options changes = {.size = sizeof changes, .allow_changes = 1};
    mxc_cached_op *op = make_op(make_square_w(), NULL);
    mxc_ndarray *w = variable(2, 3, 0, MXC_REQ_ADD), *x = vector(2, 2, 0);
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *y = invoke(op, x, w);
    mxc_autograd_leave(scope);
    assert_ok(mxc_ndarray_fill(w, 1));
    assert_fails(backward(y), MXC_ESTATE, "argument 'w' of a cached operator was written after the call was recorded");
    assert_ok(mxc_autograd_backward(1, &y, NULL, &changes));
    assert_values(mxc_autograd_grad(w), 4, 0);
    release_all(3, (mxc_ndarray *[]){w, x, y});
    mxc_cached_op_destroy(op);
}

typedef struct seen {
    int n;
    char text[256]; /* names and operators in turn */
    mxc_ndarray *last;
} seen;

static void note(const char *name, const char *op, mxc_ndarray *array, void *user) {
    seen *s = user;
    const size_t length = strlen(s->text);
    s->n++;
    snprintf(s->text + length, sizeof s->text - length, "%s:%s ", name, op);
    mxc_ndarray_release(s->last);
    s->last = mxc_ndarray_retain(array);
}

/* The calls are recorded one by one; without a monitor again, an executor runs. */
static void monitors_see_each_operator(void **state) {
    mxc_cached_op *op = make_op(make_square_w(), NULL);
    mxc_ndarray *w = variable(2, 3, 0, MXC_REQ_WRITE), *x = variable(2, 2, 0, MXC_REQ_WRITE);
    (void)state;
    for (int all = 0; all < 2; all++) {
        seen s = {0};
        assert_ok(mxc_cached_op_set_monitor(op, note, all, &s));
        const int scope = mxc_autograd_record(1);
        mxc_ndarray *y = invoke(op, x, w);
        mxc_autograd_leave(scope);
        assert_string_equal(s.text, all ? "s_data:square s_output:square y_lhs:elemwise_mul y_rhs:elemwise_mul "
                                          "y_output:elemwise_mul "
                                        : "s_output:square y_output:elemwise_mul ");
        assert_values(s.last, 12, 0);
        assert_ok(backward(y));
        assert_values(mxc_autograd_grad(w), 4, 0);
        assert_values(mxc_autograd_grad(x), 12, 0);
        assert_ok(mxc_cached_op_set_monitor(op, NULL, 0, NULL));
        mxc_ndarray *z = invoke(op, x, w);
        assert_int_equal(s.n, all ? 5 : 2);
        release_all(3, (mxc_ndarray *[]){y, z, s.last});
    }
    release_all(2, (mxc_ndarray *[]){w, x});
    mxc_cached_op_destroy(op);
}

/* The rows that a mask selects: their number changes from call to call, and no executor can be bound. */
static void shapes_may_follow_from_contents(void **state) {
    mxc_symbol *in[2], *rows;
    (void)state;
    assert_ok(mxc_symbol_variable("data", &in[0]));
    assert_ok(mxc_symbol_variable("mask", &in[1]));
    assert_ok(mxc_symbol_op("_contrib_boolean_mask", "rows", 0, NULL, NULL, 2, NULL, in, &rows));
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    mxc_cached_op *op = make_op(rows, NULL);
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE);
    for (int kept = 0; kept <= 3; kept++) {
        const float mask[3] = {kept > 0, kept > 1, kept > 2};
        mxc_ndarray *m = vector(3, 0, 0);
        assert_ok(mxc_ndarray_set(m, mask, sizeof mask));
        const int scope = mxc_autograd_record(1);
        mxc_ndarray *y = invoke(op, x, m);
        mxc_autograd_leave(scope);
        assert_int_equal(mxc_ndarray_shape(y)->dim[0], kept);
        assert_values(y, 1, 1);
        assert_ok(backward(y));
        float grad[3];
        assert_ok(mxc_ndarray_get(mxc_autograd_grad(x), grad, sizeof grad));
        assert_memory_equal(grad, mask, sizeof mask);
        release_all(2, (mxc_ndarray *[]){m, y});
    }
    mxc_ndarray *in_arrays[] = {x, x};
    mxc_executor *executor;
    assert_fails(mxc_executor_bind(mxc_cached_op_symbol(op), NULL, in_arrays, NULL, NULL, NULL, &executor), MXC_ESHAPE,
                 "rows");
    mxc_ndarray_release(x);
    mxc_cached_op_destroy(op);
}

static void calls_are_checked(void **state) {
    mxc_cached_op_options options = MXC_CACHED_OP_OPTIONS_INIT;
    mxc_cached_op *op = make_op(make_square_w(), NULL), *none;
    mxc_ndarray *x = vector(2, 2, 0), *wrong = vector(3, 1, 0), *in[] = {x, wrong, NULL}, *out[2];
    (void)state;
    assert_fails(mxc_cached_op_invoke(op, 1, in, 1, out), MXC_EINVAL,
                 "expected 2 arrays (2 arguments, 0 auxiliary states), found 1");
    assert_fails(mxc_cached_op_invoke(op, 2, in, 2, out), MXC_EINVAL, "expected 1 outputs, found 2");
    assert_fails(mxc_cached_op_invoke(op, 2, in + 1, 1, out), MXC_EINVAL, "in[1] must not be NULL");
    assert_status(mxc_cached_op_invoke(op, 2, in, 1, out), MXC_ESHAPE);
    assert_null(out[0]);
    options.capacity = -1;
    assert_fails(mxc_cached_op_create(mxc_cached_op_symbol(op), &options, &none), MXC_EINVAL, "capacity is -1");
    release_all(2, (mxc_ndarray *[]){x, wrong});
    mxc_cached_op_destroy(op);
}

/* Auxiliary states are changed in training; behaviour follows the thread's mode, backward's that of the call. */
static void modes_and_states(void **state) {
    const int64_t dims[] = {4, 2};
    const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    mxc_symbol *data, *bn;
    mxc_ndarray *x, *in[5], *out;
    (void)state;
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_op("BatchNorm", "bn", 1, (const char *[]){"fix_gamma"}, (const char *[]){"False"}, 1, NULL,
                            &data, &bn));
    mxc_symbol_release(data);
    mxc_cached_op *op = make_op(bn, NULL);
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &x));
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
    in[0] = x, in[1] = vector(2, 2, 0), in[2] = vector(2, 0, 0), in[3] = vector(2, 0, 0), in[4] = vector(2, 1, 0);
    for (int is_train = 0; is_train < 2; is_train++) {
        float plain[8];
        int scope = mxc_autograd_record(is_train);
        assert_ok(mxc_cached_op_invoke(op, 5, in, 1, &out));
        mxc_autograd_leave(scope);
        assert_true((values_of(in[3])[0] != 0) == is_train);
        assert_ok(backward(out));
        assert_ok(mxc_ndarray_get(mxc_autograd_grad(x), plain, sizeof plain));
        if (is_train) /* ones make no gradient where the mean is subtracted */
            assert_true(plain[0] < 1e-3f && plain[0] > -1e-3f);
        else
            assert_true(plain[0] > 1.9f);
        mxc_ndarray_release(out);
    }
    release_all(5, in);
    mxc_cached_op_destroy(op);
}

/* A loop: cumulative sums of squares, with gradients through all steps. */
static void control_flow_is_recorded(void **state) {
    const int64_t dims[] = {3, 1};
    const float values[] = {1, 2, 3};
    mxc_symbol *row, *sum, *squared, *next, *body, *data, *begin, *loop;
    mxc_ndarray *x, *start = vector(1, 0, 0), *in[2], *out[2];
    const char *row_name = "row", *sum_name = "sum";
    (void)state;
    assert_ok(mxc_symbol_variable("row", &row));
    assert_ok(mxc_symbol_variable("sum", &sum));
    assert_ok(mxc_symbol_op("square", NULL, 0, NULL, NULL, 1, NULL, &row, &squared));
    assert_ok(mxc_symbol_op("elemwise_add", NULL, 0, NULL, NULL, 2, NULL, (mxc_symbol *[]){squared, sum}, &next));
    assert_ok(mxc_symbol_group(2, (mxc_symbol *[]){next, next}, &body));
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_variable("begin", &begin));
    assert_ok(mxc_symbol_foreach("loop", body, 1, &row_name, &data, 1, &sum_name, &begin, &loop));
    mxc_cached_op *op = make_op(loop, NULL);
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &x));
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
    in[0] = x, in[1] = start;
    for (int round = 0; round < 2; round++) {
        const int scope = mxc_autograd_record(1);
        assert_ok(mxc_cached_op_invoke(op, 2, in, 2, out));
        mxc_autograd_leave(scope);
        assert_values(out[1], 14, 0);
        assert_ok(mxc_autograd_backward(1, &out[1], NULL, NULL));
        assert_values(mxc_autograd_grad(x), 2, 2);
        release_all(2, out);
    }
    release_all(2, (mxc_ndarray *[]){x, start});
    mxc_symbol *symbols[] = {row, sum, squared, next, body, data, begin};
    for (int i = 0; i < 7; i++)
        mxc_symbol_release(symbols[i]);
    mxc_cached_op_destroy(op);
}

/* The graph outlives the operator; runs beyond the capacity are freed. */
static void lifetimes(void **state) {
    mxc_cached_op_options options = MXC_CACHED_OP_OPTIONS_INIT;
    (void)state;
    const int64_t alive = test_alive();
    for (options.capacity = 0; options.capacity < 3; options.capacity++) {
        mxc_cached_op *op = make_op(make_square_w(), &options);
        mxc_ndarray *w = variable(2, 3, 0, MXC_REQ_WRITE), *x = variable(2, 2, 0, MXC_REQ_WRITE), *y[4];
        const int scope = mxc_autograd_record(1);
        for (int i = 0; i < 4; i++)
            y[i] = invoke(op, x, w);
        mxc_autograd_leave(scope);
        mxc_cached_op_destroy(op);
        assert_ok(mxc_autograd_backward(2, y, NULL, NULL));
        assert_values(mxc_autograd_grad(x), 24, 0);
        release_all(4, y);
        release_all(2, (mxc_ndarray *[]){w, x});
    }
    mxc_cached_op_destroy(NULL);
    assert_true(test_alive() <= alive + 64); /* operators keep blocks for later calls */
}

enum { THREADS = 8, ROUNDS = 20 };

typedef struct worker {
    mxc_cached_op *op;
    mxc_ndarray *w;
    int number, failures;
} worker;

static void *call_often(void *arg) {
    worker *k = arg;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t n = 1 + (k->number + round) % 3;
        float values[3] = {(float)k->number, (float)k->number, (float)k->number}, grad[3] = {0};
        mxc_ndarray *x, *w, *y = NULL;
        if (mxc_ndarray_from_data(1, &n, MXC_F32, values, &x) != MXC_OK ||
            mxc_ndarray_slice(k->w, 0, n, &w) != MXC_OK || mxc_autograd_attach(x, MXC_REQ_WRITE, NULL) != MXC_OK) {
            k->failures++;
            continue;
        }
        const int scope = mxc_autograd_record(1);
        mxc_ndarray *in[] = {x, w};
        int good = mxc_cached_op_invoke(k->op, 2, in, 1, &y) == MXC_OK;
        mxc_autograd_leave(scope);
        good = good && backward(y) == MXC_OK &&
               mxc_ndarray_get(mxc_autograd_grad(x), grad, mxc_ndarray_bytes(x)) == MXC_OK;
        for (int64_t i = 0; i < n; i++)
            good &= grad[i] == (float)(6 * k->number);
        k->failures += !good;
        release_all(3, (mxc_ndarray *[]){x, w, y});
    }
    return NULL;
}

static void threads_have_runs_of_their_own(void **state) {
    mxc_cached_op *op = make_op(make_square_w(), NULL);
    mxc_ndarray *w = vector(3, 3, 0);
    pthread_t threads[THREADS];
    worker workers[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){op, w, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].failures, 0);
    }
    mxc_ndarray_release(w);
    mxc_cached_op_destroy(op);
}

/* Each allocation of a recorded call and its backward fails in turn. */
static mxc_status call_once(mxc_cached_op *op, mxc_ndarray *x, mxc_ndarray *w) {
    mxc_ndarray *in[] = {x, w}, *y;
    const int scope = mxc_autograd_record(1);
    mxc_status status = mxc_cached_op_invoke(op, 2, in, 1, &y);
    mxc_autograd_leave(scope);
    if (status == MXC_OK)
        status = backward(y);
    mxc_ndarray_release(y);
    return status;
}

static void every_allocation_may_fail(void **state) {
    int64_t allocations = 0;
    int failures = 0;
    (void)state;
    for (int64_t at = 0; at <= allocations; at++) { /* those of tasks are reported by waits */
        mxc_cached_op *op = make_op(make_square_w(), NULL);
        mxc_ndarray *w = variable(2, 3, 0, MXC_REQ_WRITE), *x = variable(2, 2, 0, MXC_REQ_WRITE);
        const int64_t before = mxci_alloc_count();
        mxci_test_fail_alloc(at, 0);
        const mxc_status status = call_once(op, x, w);
        (void)test_alive();
        mxci_test_fail_alloc(0, 0);
        if (at == 0)
            allocations = mxci_alloc_count() - before;
        failures += status != MXC_OK;
        if (status != MXC_OK)
            assert_status(status, MXC_ENOMEM);
        assert_ok(call_once(op, x, w));
        assert_values(mxc_autograd_grad(x), 12, 0);
        release_all(2, (mxc_ndarray *[]){w, x});
        mxc_cached_op_destroy(op);
    }
    assert_true(failures > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_inputs_may_change),
        cmocka_unit_test(outputs_are_new_arrays),
        cmocka_unit_test(one_graph_may_have_several_calls),
        cmocka_unit_test(retained_graphs_need_an_option),
        cmocka_unit_test(written_inputs_are_noticed),
        cmocka_unit_test(monitors_see_each_operator),
        cmocka_unit_test(shapes_may_follow_from_contents),
        cmocka_unit_test(calls_are_checked),
        cmocka_unit_test(modes_and_states),
        cmocka_unit_test(control_flow_is_recorded),
        cmocka_unit_test(lifetimes),
        cmocka_unit_test(threads_have_runs_of_their_own),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
