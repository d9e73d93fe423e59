/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program with a backward of their own. */
#include "autograd/arrays.h"

/* out = 2 x y, with a gradient that is wrong on purpose: 10 times that of x, 100 times that of y. */
typedef struct twice {
    mxc_ndarray *x, *y; /* kept for backward */
    int calls;
    mxc_status status;
    int *destroyed;
} twice;

static mxc_status scaled_product(mxc_ndarray *a, mxc_ndarray *b, const char *scale, mxc_ndarray *to) {
    mxc_ndarray *in[] = {a, b}, *product;
    const char *key = "scalar";
    MXC_TRY(mxc_invoke("elemwise_mul", 2, in, 0, NULL, NULL, 1, &product));
    mxc_status status = mxc_invoke_into("_mul_scalar", 1, &product, 1, &key, &scale, 1, &to);
    mxc_ndarray_release(product);
    return status;
}

static mxc_status twice_backward(int n_out, mxc_ndarray *const *out_grad, int n_in, mxc_ndarray *const *in_grad,
                                 void *arg) {
    twice *t = arg;
    t->calls++;
    if (t->status != MXC_OK || n_out != 1 || n_in != 2 || mxc_autograd_is_recording())
        return t->status;
    if (in_grad[0])
        MXC_TRY(scaled_product(out_grad[0], t->y, "20", in_grad[0]));
    return in_grad[1] ? scaled_product(out_grad[0], t->x, "200", in_grad[1]) : MXC_OK;
}

static void twice_destroy(void *arg) {
    twice *t = arg;
    ++*t->destroyed;
    mxc_ndarray_release(t->x);
    mxc_ndarray_release(t->y);
    free(t);
}

/* Computes and records it; *t stays valid as long as its graph. */
static mxc_ndarray *call_twice(mxc_ndarray *x, mxc_ndarray *y, int *destroyed, twice **t) {
    mxc_ndarray *in[] = {x, y}, *out = vector(3, 0, 0);
    *t = calloc(1, sizeof **t);
    **t = (twice){mxc_ndarray_retain(x), mxc_ndarray_retain(y), 0, MXC_OK, destroyed};
    const int pause = mxc_autograd_pause(1);
    assert_ok(scaled_product(x, y, "2", out));
    mxc_autograd_leave(pause);
    assert_ok(mxc_autograd_function("twice", 2, in, 1, &out, twice_backward, twice_destroy, *t));
    return out;
}

static void gradients_are_the_functions(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *y = variable(3, 5, 0, MXC_REQ_ADD);
    int destroyed = 0;
    twice *t;
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *out = call_twice(x, y, &destroyed, &t), *sum = binary("elemwise_add", out, x);
    mxc_autograd_leave(scope);
    assert_true(mxc_autograd_in_graph(out));
    assert_values(out, 10, 10);
    assert_int_equal(destroyed, 0);
    assert_ok(backward(sum));
    assert_values(mxc_autograd_grad(x), 101, 0);
    assert_values(mxc_autograd_grad(y), 200, 200);
    assert_int_equal(destroyed, 1);
    release_all(4, (mxc_ndarray *[]){x, y, out, sum});
}

/* One input twice, into a sum with other terms and a request of add. */
static void terms_are_added(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_ADD);
    mxc_backward_options options = MXC_BACKWARD_OPTIONS_INIT;
    int destroyed = 0;
    twice *t;
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *out = call_twice(x, x, &destroyed, &t);
    mxc_autograd_leave(scope);
    options.retain_graph = 1;
    for (int i = 1; i <= 2; i++) {
        assert_ok(mxc_autograd_backward(1, &out, NULL, &options));
        assert_values(mxc_autograd_grad(x), 220 * i, 220 * i);
        assert_int_equal(t->calls, i);
    }
    assert_int_equal(destroyed, 0);
    mxc_ndarray_release(out); /* frees the graph */
    assert_int_equal(destroyed, 1);
    mxc_ndarray_release(x);
}

static void unneeded_gradients_are_null(void **state) {
    mxc_ndarray *x = vector(3, 1, 1), *y = variable(3, 5, 0, MXC_REQ_WRITE);
    int destroyed = 0;
    twice *t;
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *out = call_twice(x, y, &destroyed, &t);
    mxc_autograd_leave(scope);
    assert_ok(backward(out));
    assert_values(mxc_autograd_grad(y), 200, 200);
    release_all(3, (mxc_ndarray *[]){x, y, out});
    assert_int_equal(destroyed, 1);
}

static void nothing_is_recorded_without_a_graph(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *c = vector(3, 1, 1);
    int destroyed = 0;
    twice *t;
    (void)state;
    mxc_ndarray *out = call_twice(x, x, &destroyed, &t); /* not recording */
    assert_int_equal(destroyed, 1);
    assert_false(mxc_autograd_in_graph(out));
    mxc_ndarray_release(out);
    const int scope = mxc_autograd_record(1);
    out = call_twice(c, c, &destroyed, &t);
    mxc_autograd_leave(scope);
    assert_int_equal(destroyed, 2);
    assert_false(mxc_autograd_in_graph(out));
    release_all(3, (mxc_ndarray *[]){x, c, out});
}

static void failures_are_passed_on(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE);
    int destroyed = 0;
    twice *t;
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *out = call_twice(x, x, &destroyed, &t);
    assert_fails(mxc_autograd_function("again", 1, &x, 1, &out, twice_backward, NULL, NULL), MXC_ESTATE,
                 "mxc_autograd_function: out[0] belongs to a recorded graph already");
    assert_fails(mxc_autograd_function("none", 1, &x, 1, &out, NULL, NULL, NULL), MXC_EINVAL,
                 "backward must not be NULL");
    mxc_autograd_leave(scope);
    mxc_symbol *symbol;
    assert_fails(mxc_autograd_symbol(1, &out, 0, NULL, NULL, &symbol), MXC_EUNSUPPORTED,
                 "function twice of the program has no symbol");
    t->status = MXC_EUSER;
    assert_fails(backward(out), MXC_EUSER, "gradient: function twice: a user's function failed");
    assert_int_equal(destroyed, 1); /* the graph is freed */
    assert_fails(backward(out), MXC_ESTATE, "belongs to no recorded graph");
    release_all(2, (mxc_ndarray *[]){x, out});
}

/* Backward of a function that runs backward of another graph, and tries its own. */
typedef struct nested {
    mxc_ndarray *own;
    mxc_status status;
} nested;

static mxc_status nested_backward(int n_out, mxc_ndarray *const *out_grad, int n_in, mxc_ndarray *const *in_grad,
                                  void *arg) {
    nested *n = arg;
    (void)n_out, (void)n_in;
    n->status = mxc_autograd_backward(1, &n->own, NULL, NULL);
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE);
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *y = unary("square", x);
    mxc_autograd_leave(scope);
    mxc_status status = backward(y);
    mxc_ndarray *in[] = {out_grad[0], mxc_autograd_grad(x)}, *to = in_grad[0];
    if (status == MXC_OK)
        status = mxc_invoke_into("elemwise_mul", 2, in, 0, NULL, NULL, 1, &to);
    release_all(2, (mxc_ndarray *[]){x, y});
    return status;
}

static void backward_may_be_nested(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *out = vector(3, 0, 0);
    nested n = {out, MXC_OK};
    (void)state;
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_autograd_function("nested", 1, &x, 1, &out, nested_backward, NULL, &n));
    mxc_autograd_leave(scope);
    assert_ok(backward(out));
    assert_int_equal(n.status, MXC_ESTATE);
    assert_values(mxc_autograd_grad(x), 2, 2);
    release_all(2, (mxc_ndarray *[]){x, out});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_functions), cmocka_unit_test(terms_are_added),
        cmocka_unit_test(unneeded_gradients_are_null), cmocka_unit_test(nothing_is_recorded_without_a_graph),
        cmocka_unit_test(failures_are_passed_on),      cmocka_unit_test(backward_may_be_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
