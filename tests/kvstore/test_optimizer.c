/* Optimizers: SGD against its formula, factors, states, and rates that change while updates are queued. */
#include <math.h>

#include <mxc/optimizer.h>

#include "base/sys.h"
#include "support.h"

enum { N = 5 };

static mxc_ndarray *vector(const float *values) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){N}, MXC_F32, values, &array));
    return array;
}

/* With settings as "key", "value", ..., NULL. */
static mxc_optimizer *sgd(const char *first, ...) {
    const char *keys[8], *values[8];
    mxc_optimizer *optimizer;
    int n = 0;
    va_list args;
    va_start(args, first);
    for (const char *key = first; key != NULL; key = va_arg(args, const char *)) {
        keys[n] = key;
        values[n++] = va_arg(args, const char *);
    }
    va_end(args);
    assert_ok(mxc_optimizer_create("sgd", n, keys, values, &optimizer));
    return optimizer;
}

static void expect_near(mxc_ndarray *array, const double *expected) {
    float found[N];
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    for (int i = 0; i < N; i++)
        assert_true(fabs(found[i] - expected[i]) <= 1e-6 * (1 + fabs(expected[i])));
}

static const float start[N] = { 1, -2, 3, 0, 0.5f }, gradient[N] = { 0.5f, 4, -9, 0, 1 };

/* One reference step: momentum' = m * momentum - lr * g, weight' = weight + momentum'. */
static void reference(double *w, double *mom, const float *g, double lr, double m, double wd, double rescale,
                      double clip) {
    for (int i = 0; i < N; i++) {
        double grad = rescale * g[i];
        if (clip > 0)
            grad = fmax(-clip, fmin(clip, grad));
        mom[i] = m * mom[i] - lr * (grad + wd * w[i]);
        w[i] += mom[i];
    }
}

static void check_formula(const char *momentum, const char *wd, const char *clip, const char *key) {
    mxc_optimizer *optimizer = sgd("learning_rate", "0.1", "momentum", momentum, "wd", wd, "rescale_grad", "0.5",
                                   "clip_gradient", clip, NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    double w[N], mom[N] = {0}, decay = strstr(key, "_bias") ? 0 : atof(wd);
    for (int i = 0; i < N; i++)
        w[i] = start[i];
    for (int step = 0; step < 7; step++) {
        double lr = 0.1 / (1 + step); /* changes while earlier updates may be queued */
        mxc_optimizer_set_lr(optimizer, lr);
        assert_true(mxc_optimizer_get_lr(optimizer) == lr);
        assert_ok(mxc_optimizer_update(optimizer, key, weight, grad));
        reference(w, mom, gradient, lr, atof(momentum), decay, 0.5, atof(clip));
    }
    expect_near(weight, w);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(optimizer);
}

static void test_formula(void **state) {
    (void)state;
    check_formula("0", "0", "-1", "w_weight");
    check_formula("0.9", "0", "-1", "w_weight");
    check_formula("0", "0.01", "1", "w_weight");
    check_formula("0.9", "0.01", "1", "w_weight");
    check_formula("0.9", "0.5", "-1", "w_bias");
}

static void test_factors(void **state) {
    mxc_optimizer *optimizer = sgd("learning_rate", "0.1", "wd", "0.5", NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    double w[N], mom[N] = {0};
    (void)state;
    for (int i = 0; i < N; i++)
        w[i] = start[i];
    assert_ok(mxc_optimizer_set_mult(optimizer, "a", 3, 0.25));
    assert_ok(mxc_optimizer_update(optimizer, "a", weight, grad));
    reference(w, mom, gradient, 0.3, 0, 0.125, 1, -1);
    expect_near(weight, w);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(optimizer);
}

/* Two optimizers, the second given the first's states half way, end the same. */
static void test_states_move(void **state) {
    mxc_optimizer *one = sgd("learning_rate", "0.1", "momentum", "0.9", NULL);
    mxc_optimizer *two = sgd("learning_rate", "0.1", "momentum", "0.9", NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient), *copy;
    mxc_ndarray_list states;
    float a[N], b[N];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_optimizer_update(one, "w", weight, grad));
    assert_ok(mxc_optimizer_get_states(one, &states));
    assert_int_equal(states.n, 1);
    assert_string_equal(states.names[0], "w:momentum");
    assert_ok(mxc_optimizer_set_states(two, &states));
    mxc_ndarray_list_release(&states);
    assert_ok(mxc_ndarray_copy(weight, mxc_cpu(1), MXC_F32, &copy)); /* its state follows it there */
    mxc_ndarray *grad_there;
    assert_ok(mxc_ndarray_copy(grad, mxc_cpu(1), MXC_F32, &grad_there));
    for (int i = 0; i < 3; i++) {
        assert_ok(mxc_optimizer_update(one, "w", weight, grad));
        assert_ok(mxc_optimizer_update(two, "w", copy, grad_there));
    }
    assert_ok(mxc_ndarray_get(weight, a, sizeof a));
    assert_ok(mxc_ndarray_get(copy, b, sizeof b));
    assert_memory_equal(a, b, sizeof a);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(copy);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(grad_there);
    mxc_optimizer_destroy(one);
    mxc_optimizer_destroy(two);
}

/* What is not listed begins with zeros again. */
static void test_states_are_replaced(void **state) {
    mxc_optimizer *optimizer = sgd("learning_rate", "0.1", "momentum", "0.9", NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    mxc_ndarray_list none = {0}, states;
    (void)state;
    assert_ok(mxc_optimizer_update(optimizer, "w", weight, grad));
    assert_ok(mxc_optimizer_set_states(optimizer, &none));
    assert_ok(mxc_optimizer_get_states(optimizer, &states));
    assert_int_equal(states.n, 0);
    mxc_ndarray_list_release(&states);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(optimizer);
}

static void test_refusals(void **state) {
    mxc_optimizer *optimizer = sgd("momentum", "0.9", NULL);
    const char *key = "momentum", *value = "1.5", *wrong = "beta1";
    mxc_ndarray *weight = vector(start), *grad = vector(gradient), *small;
    mxc_optimizer *none;
    (void)state;
    assert_fails(mxc_optimizer_create("adamw", 0, NULL, NULL, &none), MXC_ENOTFOUND, "there is sgd");
    assert_null(none);
    assert_fails(mxc_optimizer_create("sgd", 1, &key, &value, &none), MXC_EINVAL, "momentum");
    assert_fails(mxc_optimizer_create("sgd", 1, &wrong, &value, &none), MXC_EINVAL, "beta1");
    assert_fails(mxc_optimizer_create(NULL, 0, NULL, NULL, &none), MXC_EINVAL, "name");
    assert_fails(mxc_optimizer_update(optimizer, "w", NULL, grad), MXC_EINVAL, "NULL");
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, start, &small));
    assert_status(mxc_optimizer_update(optimizer, "w", weight, small), MXC_ESHAPE);
    mxc_ndarray *arrays[1] = { small };
    char name[] = "w:momentum", other[] = "w:variance", plain[] = "w", *names[1] = { name };
    mxc_ndarray_list states = { 1, arrays, names };
    assert_ok(mxc_optimizer_set_states(optimizer, &states));
    assert_fails(mxc_optimizer_update(optimizer, "w", weight, grad), MXC_ESHAPE, "weight w has shape (5,)");
    names[0] = other;
    assert_fails(mxc_optimizer_set_states(optimizer, &states), MXC_EINVAL, "w:variance");
    names[0] = plain;
    assert_fails(mxc_optimizer_set_states(optimizer, &states), MXC_EINVAL, "\"w\"");
    names[0] = name;
    arrays[0] = NULL;
    assert_fails(mxc_optimizer_set_states(optimizer, &states), MXC_EINVAL, "no array");
    states.names = NULL;
    assert_fails(mxc_optimizer_set_states(optimizer, &states), MXC_EINVAL, "no names");
    mxc_optimizer_destroy(NULL);
    mxc_optimizer_set_lr(NULL, 1);
    assert_true(isnan(mxc_optimizer_get_lr(NULL)));
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(small);
    mxc_optimizer_destroy(optimizer);
}

/* Without a wait, with a new rate at each step. */
static void test_steady_state_allocates_nothing(void **state) {
    mxc_optimizer *optimizer = sgd("momentum", "0.9", NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    int64_t before = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        if (i == 20)
            before = mxci_alloc_count();
        mxc_optimizer_set_lr(optimizer, 0.1 / (1 + i));
        assert_ok(mxc_optimizer_update(optimizer, "w", weight, grad));
        assert_ok(mxc_ndarray_wait_to_read(weight));
    }
    assert_int_equal(mxci_alloc_count(), before);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(optimizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_states_move),
        cmocka_unit_test(test_states_are_replaced),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
