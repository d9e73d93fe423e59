/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded, on which thread, and what recording refuses. */
#include <pthread.h>

#include "autograd/arrays.h"

/* ---- modes ------------------------------------------------------------------------------------------------------- */

static void scopes_nest(void **state) {
    (void)state;
    assert_false(mxc_autograd_is_recording());
    assert_false(mxc_autograd_is_training());
    const int outer = mxc_autograd_record(1);
    assert_true(mxc_autograd_is_recording());
    assert_true(mxc_autograd_is_training());
    const int inner = mxc_autograd_pause(0);
    assert_false(mxc_autograd_is_recording());
    assert_false(mxc_autograd_is_training());
    const int innermost = mxc_autograd_record(0);
    assert_true(mxc_autograd_is_recording());
    assert_false(mxc_autograd_is_training());
    mxc_autograd_leave(innermost);
    assert_false(mxc_autograd_is_recording());
    mxc_autograd_leave(inner);
    assert_true(mxc_autograd_is_recording());
    assert_true(mxc_autograd_is_training());
    mxc_autograd_leave(outer);
    assert_false(mxc_autograd_is_recording());

    assert_int_equal(mxc_autograd_set_recording(1), 0);
    assert_int_equal(mxc_autograd_set_training(1), 0);
    assert_int_equal(mxc_autograd_set_recording(0), 1);
    assert_true(mxc_autograd_is_training());
    assert_int_equal(mxc_autograd_set_training(0), 1);
}

static void *look_at_modes(void *arg) {
    *(int *)arg = mxc_autograd_is_recording() | mxc_autograd_is_training() << 1;
    return NULL;
}

static void modes_belong_to_the_thread(void **state) {
    pthread_t thread;
    int found = -1;
    (void)state;
    const int scope = mxc_autograd_record(1);
    assert_int_equal(pthread_create(&thread, NULL, look_at_modes, &found), 0);
    pthread_join(thread, NULL);
    assert_int_equal(found, 0);
    mxc_autograd_leave(scope);
}

/* A function of the program that computes with arrays of a graph, and looks at the mode. */
typedef struct task_result {
    mxc_ndarray *x, *y;
    int modes;
} task_result;

static mxc_status compute_in_task(const mxc_run *run, void *arg) {
    task_result *r = arg;
    (void)run;
    r->modes = mxc_autograd_is_recording() | mxc_autograd_is_training() << 1;
    return mxc_invoke("square", 1, &r->x, 0, NULL, NULL, 1, &r->y);
}

/* Of each kind, on the waiting or pushing thread where the engine has it run there. */
static void tasks_of_the_engine_do_not_record(void **state) {
    (void)state;
    for (int kind = MXC_ENGINE_NAIVE; kind <= MXC_ENGINE_SEEDED; kind++)
        for (int flags = 0; flags <= MXC_TASK_HELPED; flags += MXC_TASK_HELPED) {
            mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
            task_result r = {.x = variable(3, 1, 1, MXC_REQ_WRITE), .modes = -1};
            mxc_task task = MXC_TASK_INIT;
            mxc_engine *engine;
            mxc_var *var;
            options.kind = (mxc_engine_kind)kind;
            options.workers = 1;
            assert_ok(mxc_engine_create(&options, &engine));
            assert_ok(mxc_var_create(engine, &var));
            task.fn = compute_in_task;
            task.arg = &r;
            task.flags = (unsigned)flags;
            const int scope = mxc_autograd_record(1);
            for (int i = 0; i < 10; i++) {
                assert_ok(mxc_engine_push(engine, &task, 0, NULL, 1, &var, 0));
                assert_ok(mxc_wait_to_read(var));
                assert_int_equal(r.modes, 0);
                assert_false(mxc_autograd_in_graph(r.y));
                assert_true(mxc_autograd_is_recording() && mxc_autograd_is_training());
                mxc_ndarray_release(r.y);
            }
            mxc_autograd_leave(scope);
            mxc_ndarray_release(r.x);
            mxc_var_delete(var, NULL, NULL);
            mxc_engine_destroy(engine);
        }
}

static void training_mode_reaches_operators(void **state) {
    const char *key = "p", *value = "0.5";
    mxc_ndarray *x = vector(64, 1, 0), *y;
    (void)state;
    assert_ok(mxc_invoke("Dropout", 1, &x, 1, &key, &value, 1, &y));
    assert_values(y, 1, 0);
    mxc_ndarray_release(y);
    const int scope = mxc_autograd_pause(1);
    assert_ok(mxc_invoke("Dropout", 1, &x, 1, &key, &value, 1, &y));
    mxc_autograd_leave(scope);
    int zeros = 0;
    for (int i = 0; i < 64; i++)
        zeros += values_of(y)[i] == 0;
    assert_true(zeros > 10 && zeros < 54);
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
}

/* ---- what is recorded -------------------------------------------------------------------------------------------- */

static void only_what_depends_on_variables_is_recorded(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *c = vector(3, 5, 1);
    (void)state;
    mxc_ndarray *before = unary("square", x);
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *constant = unary("square", c), *product = binary("elemwise_mul", x, c);
    const int pause = mxc_autograd_pause(1);
    mxc_ndarray *paused = unary("square", x);
    mxc_autograd_leave(pause);
    mxc_autograd_leave(scope);
    assert_true(mxc_autograd_in_graph(x));
    assert_true(mxc_autograd_in_graph(product));
    assert_false(mxc_autograd_in_graph(c));
    assert_false(mxc_autograd_in_graph(before));
    assert_false(mxc_autograd_in_graph(constant));
    assert_false(mxc_autograd_in_graph(paused));
    assert_fails(backward(paused), MXC_ESTATE, "heads[0] belongs to no recorded graph");
    assert_ok(backward(product));
    assert_values(mxc_autograd_grad(x), 5, 1);
    assert_null(mxc_autograd_grad(c));
    assert_null(mxc_autograd_grad(product));
    release_all(6, (mxc_ndarray *[]){x, c, before, constant, product, paused});
}

static void detached_arrays_are_constants(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *detached, *y, *z, *w;
    (void)state;
    const int scope = mxc_autograd_record(1);
    y = unary("square", x);
    assert_ok(mxc_autograd_detach(y, &detached));
    assert_false(mxc_autograd_in_graph(detached));
    z = binary("elemwise_mul", detached, x); /* x^2 x, whose derivative is taken as x^2 */
    w = unary("square", detached);
    mxc_autograd_leave(scope);
    assert_false(mxc_autograd_in_graph(w));
    assert_ok(backward(z));
    const float *grad = values_of(mxc_autograd_grad(x));
    for (int i = 0; i < 3; i++)
        assert_true(grad[i] == (float)((i + 1) * (i + 1)));
    release_all(5, (mxc_ndarray *[]){x, detached, y, z, w});
}

/* slice, at and reshape, also of fewer elements; and a view made outside of recording. */
static void views_are_recorded(void **state) {
    const int64_t dims[] = {3, 2}, four = 4;
    float values[] = {1, 2, 3, 4, 5, 6};
    mxc_ndarray *x, *rows, *row, *first, *tripled, *sum, *constant;
    (void)state;
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &x));
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
    assert_ok(mxc_ndarray_slice(x, 0, 1, &constant));
    assert_false(mxc_autograd_in_graph(constant));
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_ndarray_slice(x, 1, 3, &rows));        /* 3 4 5 6 */
    assert_ok(mxc_ndarray_at(rows, 1, &row));            /* 5 6 */
    assert_ok(mxc_ndarray_reshape(x, 1, &four, &first)); /* 1 2 3 4 */
    tripled = scalar("_mul_scalar", first, "3");
    mxc_ndarray *heads[] = {row, tripled, rows};
    sum = unary("sum", rows);
    mxc_autograd_leave(scope);
    assert_int_equal(mxc_ndarray_shape(row)->ndim, 1);
    assert_ok(mxc_autograd_backward(3, heads, NULL, NULL));
    const float expected[] = {3, 3, 4, 4, 2, 2};
    assert_memory_equal(values_of(mxc_autograd_grad(x)), expected, sizeof expected);
    release_all(7, (mxc_ndarray *[]){x, rows, row, first, tripled, sum, constant});
}

static void copies_are_recorded(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *copy, *wide, *there, *to = vector(3, 0, 0);
    (void)state;
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_ndarray_copy(x, mxc_cpu(0), MXC_F32, &copy));
    assert_ok(mxc_ndarray_copy(x, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_copy(x, mxc_cpu(1), MXC_F64, &there));
    assert_ok(mxc_ndarray_copy_to(copy, to, 0));
    mxc_ndarray *four = scalar("_mul_scalar", to, "4");
    mxc_autograd_leave(scope);
    mxc_ndarray *heads[] = {four, wide, there, wide};
    assert_ok(mxc_autograd_backward(4, heads, NULL, NULL));
    assert_values(mxc_autograd_grad(x), 7, 0);
    release_all(6, (mxc_ndarray *[]){x, copy, wide, there, to, four});
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void recorded_calls_do_not_write_to_the_graph(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *c = vector(3, 2, 0), *y;
    (void)state;
    const int scope = mxc_autograd_record(1);
    y = unary("square", x);
    mxc_ndarray *in[] = {y, c};
    assert_fails(mxc_invoke_into("elemwise_add", 2, in, 0, NULL, NULL, 1, &y), MXC_ESTATE,
                 "elemwise_add: output 'output' is to be written while recording, but belongs to a recorded graph");
    assert_fails(mxc_invoke_into("square", 1, &y, 0, NULL, NULL, 1, &x), MXC_ESTATE, "mxc_autograd_pause");
    assert_fails(mxc_ndarray_copy_to(y, x, 0), MXC_ESTATE, "mxc_ndarray_copy_to: to is written while recording");
    assert_fails(mxc_invoke_into("square", 1, &c, 0, NULL, NULL, 1, &x), MXC_ESTATE, "belongs to a recorded graph");
    /* c is a constant, but backward of the product reads it. */
    assert_fails(mxc_invoke_into("elemwise_mul", 2, in, 0, NULL, NULL, 1, &c), MXC_EINVAL, "which backward reads");
    mxc_op *op;
    mxc_req add = MXC_REQ_ADD;
    assert_ok(mxc_op_create("square", 0, NULL, NULL, &op));
    assert_fails(mxc_op_invoke(op, 1, &x, 1, &c, &add, 1), MXC_EUNSUPPORTED, "request add cannot be recorded");
    mxc_op_release(op);
    mxc_autograd_leave(scope);
    assert_ok(backward(y));
    assert_values(mxc_autograd_grad(x), 2, 2);
    release_all(3, (mxc_ndarray *[]){x, c, y});
}

/* By any means: a call, a fill, a copy from the host, a view. */
static void written_arrays_are_noticed(void **state) {
    const mxc_backward_options changes = {.size = sizeof changes, .allow_changes = 1};
    const float zeros[3] = {0, 0, 0}, expected[4][3] = {{2, 4, 6}, {0, 0, 0}, {0, 0, 0}, {0, 4, 6}};
    float grad[3];
    (void)state;
    for (int way = 0; way < 4; way++) {
        mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *y, *part;
        const int scope = mxc_autograd_record(1);
        y = unary("square", x);
        mxc_autograd_leave(scope);
        switch (way) {
        case 0:
            assert_ok(mxc_invoke_into("relu", 1, &x, 0, NULL, NULL, 1, &x));
            break;
        case 1:
            assert_ok(mxc_ndarray_fill(x, 0));
            break;
        case 2:
            assert_ok(mxc_ndarray_set(x, zeros, sizeof zeros));
            break;
        default:
            assert_ok(mxc_ndarray_slice(x, 0, 1, &part));
            assert_ok(mxc_ndarray_fill(part, 0));
            mxc_ndarray_release(part);
        }
        assert_fails(backward(y), MXC_ESTATE,
                     "square: argument 'data' was written after the call was recorded, but backward reads it");
        assert_ok(mxc_autograd_backward(1, &y, NULL, &changes)); /* 2 x, of what it holds now */
        assert_ok(mxc_ndarray_get(mxc_autograd_grad(x), grad, sizeof grad));
        assert_memory_equal(grad, expected[way], sizeof grad);
        release_all(2, (mxc_ndarray *[]){x, y});
    }
}

/* What backward does not read may change: the terms of a sum; and auxiliary states always. */
static void other_arrays_may_change(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *c = vector(3, 5, 0), *y;
    (void)state;
    const int scope = mxc_autograd_record(1);
    y = binary("elemwise_add", x, c);
    mxc_autograd_leave(scope);
    assert_ok(mxc_ndarray_fill(x, 0));
    assert_ok(mxc_ndarray_fill(c, 0));
    assert_ok(mxc_ndarray_fill(y, 0));
    assert_ok(backward(y));
    assert_values(mxc_autograd_grad(x), 1, 0);
    release_all(3, (mxc_ndarray *[]){x, c, y});
}

static void gradients_must_fit(void **state) {
    const int64_t three = 3;
    mxc_ndarray *x = vector(3, 1, 1), *other = vector(4, 0, 0), *wide, *whole;
    (void)state;
    assert_ok(mxc_ndarray_create(1, &three, MXC_F64, mxc_cpu(0), &wide));
    assert_ok(mxc_ndarray_create(1, &three, MXC_I32, mxc_cpu(0), &whole));
    assert_fails(mxc_autograd_attach(x, MXC_REQ_WRITE, other), MXC_ESHAPE, "grad: expected shape (3,), found (4,)");
    assert_fails(mxc_autograd_attach(x, MXC_REQ_WRITE, wide), MXC_EDTYPE, "expected dtype float32, found float64");
    assert_fails(mxc_autograd_attach(whole, MXC_REQ_WRITE, NULL), MXC_EDTYPE, "expected a float dtype, found int32");
    assert_fails(mxc_autograd_attach(x, MXC_REQ_INPLACE, NULL), MXC_EINVAL, "expected null, write or add");
    assert_false(mxc_autograd_in_graph(x));
    release_all(4, (mxc_ndarray *[]){x, other, wide, whole});
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 50 };

typedef struct worker {
    mxc_ndarray *shared; /* a variable with a request of null, which all threads read */
    int number;
    const char *failure;
} worker;

/* The gradient of (shared + number) own^2 is what it is, whatever the other threads do. */
static void *record_and_differentiate(void *arg) {
    worker *w = arg;
    for (int round = 0; round < ROUNDS && !w->failure; round++) {
        const int64_t n = 8;
        float values[8], grad[8];
        char text[16];
        const char *key = "scalar", *value = text;
        mxc_ndarray *own = NULL, *sum = NULL, *squared = NULL, *product = NULL;
        for (int i = 0; i < 8; i++)
            values[i] = (float)(i + round);
        snprintf(text, sizeof text, "%d", w->number);
        const int scope = mxc_autograd_record(1);
        int good = mxc_ndarray_from_data(1, &n, MXC_F32, values, &own) == MXC_OK &&
                   mxc_autograd_attach(own, MXC_REQ_WRITE, NULL) == MXC_OK &&
                   mxc_invoke("_plus_scalar", 1, &w->shared, 1, &key, &value, 1, &sum) == MXC_OK &&
                   mxc_invoke("square", 1, &own, 0, NULL, NULL, 1, &squared) == MXC_OK;
        mxc_ndarray *factors[] = {sum, squared};
        good = good && mxc_invoke("elemwise_mul", 2, factors, 0, NULL, NULL, 1, &product) == MXC_OK;
        mxc_autograd_leave(scope);
        good =
            good && backward(product) == MXC_OK && mxc_ndarray_get(mxc_autograd_grad(own), grad, sizeof grad) == MXC_OK;
        if (!good)
            w->failure = "a call failed";
        for (int i = 0; i < 8 && good; i++)
            if (grad[i] != (float)(2 * (i + round) * (3 + w->number)))
                w->failure = "a gradient is wrong";
        release_all(4, (mxc_ndarray *[]){own, sum, squared, product});
    }
    return NULL;
}

static void sixteen_threads_record_at_once(void **state) {
    pthread_t threads[THREADS];
    worker workers[THREADS];
    mxc_ndarray *shared = variable(8, 3, 0, MXC_REQ_ADD);
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){shared, i, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, record_and_differentiate, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].failure)
            fail_msg("thread %d: %s", i, workers[i].failure);
    /* Each round of each thread added own^2; the sums are whole numbers, exact in any order. */
    double expected = 0;
    for (int round = 0; round < ROUNDS; round++)
        expected += (double)round * round * THREADS;
    assert_true(values_of(mxc_autograd_grad(shared))[0] == (float)expected);
    mxc_ndarray_release(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_nest),
        cmocka_unit_test(modes_belong_to_the_thread),
        cmocka_unit_test(tasks_of_the_engine_do_not_record),
        cmocka_unit_test(training_mode_reaches_operators),
        cmocka_unit_test(only_what_depends_on_variables_is_recorded),
        cmocka_unit_test(detached_arrays_are_constants),
        cmocka_unit_test(views_are_recorded),
        cmocka_unit_test(copies_are_recorded),
        cmocka_unit_test(recorded_calls_do_not_write_to_the_graph),
        cmocka_unit_test(written_arrays_are_noticed),
        cmocka_unit_test(other_arrays_may_change),
        cmocka_unit_test(gradients_must_fit),
        cmocka_unit_test(sixteen_threads_record_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
