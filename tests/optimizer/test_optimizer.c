/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers: every rule against its formula, factors, states, and rates that change while updates are queued. Covers
 * optimizer/optimizer.c and optimizer_states.c.
 */
#include <math.h>

#include <mxc/optimizer.h>

#include "base/sys.h"
#include "optimizer/optimizer.h"
#include "support.h"

enum { N = 5 };

static mxc_ndarray *vector(const float *values) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){N}, MXC_F32, values, &array));
    return array;
}

static mxc_optimizer *make(const char *name, const char *first, va_list args) {
    const char *keys[12], *values[12];
    mxc_optimizer *optimizer;
    int n = 0;
    for (const char *key = first; key; key = va_arg(args, const char *)) {
        keys[n] = key;
        values[n++] = va_arg(args, const char *);
    }
    assert_ok(mxc_optimizer_create(name, n, keys, values, &optimizer));
    return optimizer;
}

/* With settings as "key", "value", ..., NULL. */
static mxc_optimizer *sgd(const char *first, ...) {
    va_list args;
    va_start(args, first);
    mxc_optimizer *optimizer = make("sgd", first, args);
    va_end(args);
    return optimizer;
}

static mxc_optimizer *optimizer_of(const char *name, const char *first, ...) {
    va_list args;
    va_start(args, first);
    mxc_optimizer *optimizer = make(name, first, args);
    va_end(args);
    return optimizer;
}

static void expect_near(mxc_ndarray *array, const double *expected) {
    float found[N];
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    for (int i = 0; i < N; i++)
        assert_true(fabs(found[i] - expected[i]) <= 1e-6 * (1 + fabs(expected[i])));
}

static const float start[N] = {1, -2, 3, 0, 0.5f}, gradient[N] = {0.5f, 4, -9, 0, 1};

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
    mxc_optimizer *optimizer =
        sgd("learning_rate", "0.1", "momentum", momentum, "wd", wd, "rescale_grad", "0.5", "clip_gradient", clip, NULL);
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

/* ---- the other rules: settings of every case below, and one step of one weight ---------------------------------- */

enum { STEPS = 6 };
#define SETTINGS "learning_rate", "0.1", "wd", "0.02", "rescale_grad", "0.5", "clip_gradient", "1.5"

typedef double (*rule_step)(double w, double g, double lr, int t, double *s);

static double limit(double x, double most) {
    return fmax(-most, fmin(most, x));
}

static double sign(double x) {
    return (x > 0) - (x < 0);
}

/* beta1 0.8, beta2 0.9, epsilon 1e-3 */
static double adam_direction(double d, int t, double *s) {
    s[0] = 0.8 * s[0] + 0.2 * d;
    s[1] = 0.9 * s[1] + 0.1 * d * d;
    return sqrt(1 - pow(0.9, t)) / (1 - pow(0.8, t)) * s[0] / (sqrt(s[1]) + 1e-3);
}

static double adam_step(double w, double g, double lr, int t, double *s) {
    return w - lr * adam_direction(limit(0.5 * g + 0.02 * w, 1.5), t, s);
}

static double adamw_step(double w, double g, double lr, int t, double *s) {
    return w - lr * (adam_direction(limit(0.5 * g, 1.5), t, s) + 0.02 * w);
}

/* momentum 0.9 */
static double nag_step(double w, double g, double lr, int t, double *s) {
    double d = limit(0.5 * g, 1.5) + 0.02 * w;
    (void)t;
    s[0] = 0.9 * s[0] - lr * d;
    return w + 0.9 * s[0] - lr * d;
}

/* momentum 0.9, wd_lh 0.01; without momentum */
static double signum_step(double w, double g, double lr, int t, double *s) {
    (void)t;
    s[0] = 0.9 * s[0] - 0.1 * (limit(0.5 * g, 1.5) + 0.02 * w);
    return (1 - lr * 0.01) * w + lr * sign(s[0]);
}

static double signsgd_step(double w, double g, double lr, int t, double *s) {
    (void)t;
    (void)s;
    return (1 - lr * 0.02) * w - lr * sign(g);
}

/* gamma1 0.8, gamma2 0.7, epsilon 1e-3, clip_weights 2.5 */
static double rmsprop_step(double w, double g, double lr, int t, double *s) {
    double d = limit(0.5 * g + 0.02 * w, 1.5);
    (void)t;
    s[0] = 0.8 * s[0] + 0.2 * d * d;
    return limit(w - lr * d / sqrt(s[0] + 1e-3), 2.5);
}

static double centered_step(double w, double g, double lr, int t, double *s) {
    double d = limit(0.5 * g + 0.02 * w, 1.5);
    (void)t;
    s[0] = 0.8 * s[0] + 0.2 * d * d;
    s[1] = 0.8 * s[1] + 0.2 * d;
    s[2] = 0.7 * s[2] - lr * d / sqrt(s[0] - s[1] * s[1] + 1e-3);
    return limit(w + s[2], 2.5);
}

/* lamda1 0.1, beta 2 */
static double ftrl_step(double w, double g, double lr, int t, double *s) {
    double d = limit(0.5 * g, 1.5), before = sqrt(s[1]);
    (void)t;
    s[1] += d * d;
    s[0] += d - (sqrt(s[1]) - before) / lr * w;
    return fabs(s[0]) <= 0.1 ? 0 : (sign(s[0]) * 0.1 - s[0]) / ((2 + sqrt(s[1])) / lr + 0.02);
}

/* Several updates with a rate that falls; half way the states go through a list into a second optimizer. */
static void check_rule(mxc_optimizer *one, mxc_optimizer *two, rule_step step, int n_saved) {
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    mxc_ndarray_list states;
    double w[N], s[N][3] = {{0}};
    for (int i = 0; i < N; i++)
        w[i] = start[i];
    for (int t = 1; t <= STEPS; t++) {
        mxc_optimizer *now = t <= STEPS / 2 ? one : two;
        if (t == STEPS / 2 + 1) {
            assert_ok(mxc_optimizer_get_states(one, &states));
            assert_int_equal(states.n, n_saved);
            assert_ok(mxc_optimizer_set_states(two, &states));
            mxc_ndarray_list_release(&states);
        }
        mxc_optimizer_set_lr(now, 0.1 / t);
        assert_ok(mxc_optimizer_update(now, "w", weight, grad));
        for (int i = 0; i < N; i++)
            w[i] = step(w[i], gradient[i], 0.1 / t, t, s[i]);
    }
    expect_near(weight, w);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(one);
    mxc_optimizer_destroy(two);
}

#define CHECK_RULE(step, n_saved, ...) \
    check_rule(optimizer_of(__VA_ARGS__, NULL), optimizer_of(__VA_ARGS__, NULL), step, n_saved)

static void test_rules(void **state) {
    (void)state;
    CHECK_RULE(adam_step, 3, "adam", SETTINGS, "beta1", "0.8", "beta2", "0.9", "epsilon", "1e-3");
    CHECK_RULE(adamw_step, 3, "adamw", SETTINGS, "beta1", "0.8", "beta2", "0.9", "epsilon", "1e-3");
    CHECK_RULE(nag_step, 1, "nag", SETTINGS, "momentum", "0.9");
    CHECK_RULE(signum_step, 1, "signum", SETTINGS, "momentum", "0.9", "wd_lh", "0.01");
    CHECK_RULE(signsgd_step, 0, "signum", SETTINGS, "momentum", "0");
    CHECK_RULE(rmsprop_step, 1, "rmsprop", SETTINGS, "gamma1", "0.8", "epsilon", "1e-3", "clip_weights", "2.5");
    CHECK_RULE(centered_step, 3, "rmsprop", SETTINGS, "gamma1", "0.8", "gamma2", "0.7", "epsilon", "1e-3",
               "clip_weights", "2.5", "centered", "true");
    CHECK_RULE(ftrl_step, 2, "ftrl", SETTINGS, "lamda1", "0.1", "beta", "2");
}

/* Defaults are MXNet's: Adam's first step is the learning rate, whatever the gradient's size. */
static void test_first_step_of_adam(void **state) {
    mxc_optimizer *optimizer = optimizer_of("adam", NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    double w[N];
    (void)state;
    assert_true(mxc_optimizer_get_lr(optimizer) == 0.001);
    assert_ok(mxc_optimizer_update(optimizer, "w", weight, grad));
    for (int i = 0; i < N; i++)
        w[i] = start[i] - 0.001 * sign(gradient[i]);
    expect_near(weight, w);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(optimizer);
}

static void test_count_is_checked(void **state) {
    mxc_optimizer *optimizer = optimizer_of("adam", NULL), *none = NULL;
    const char *key = "beta1", *value = "1";
    mxc_ndarray *count;
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){1}, MXC_I64, (int64_t[]){-3}, &count));
    char name[] = "w:updates", other[] = "w:momentum", *names[1] = {name};
    mxc_ndarray_list states = {1, &count, names};
    assert_fails(mxc_optimizer_set_states(optimizer, &states), MXC_EINVAL, "w:updates");
    names[0] = other;
    assert_fails(mxc_optimizer_set_states(optimizer, &states), MXC_EINVAL, "weight:mean");
    mxc_ndarray_release(count);
    assert_fails(mxc_optimizer_create("adam", 1, &key, &value, &none), MXC_EINVAL, "beta1");
    assert_null(none);
    mxc_optimizer_destroy(optimizer);
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

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
    assert_fails(mxc_optimizer_create("adagrat", 0, NULL, NULL, &none), MXC_ENOTFOUND, "there are sgd, nag");
    assert_null(none);
    assert_fails(mxc_optimizer_create("sgd", 1, &key, &value, &none), MXC_EINVAL, "momentum");
    assert_fails(mxc_optimizer_create("sgd", 1, &wrong, &value, &none), MXC_EINVAL, "beta1");
    assert_fails(mxc_optimizer_create(NULL, 0, NULL, NULL, &none), MXC_EINVAL, "name");
    assert_fails(mxc_optimizer_update(optimizer, "w", NULL, grad), MXC_EINVAL, "NULL");
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, start, &small));
    assert_status(mxc_optimizer_update(optimizer, "w", weight, small), MXC_ESHAPE);
    mxc_ndarray *arrays[1] = {small};
    char name[] = "w:momentum", other[] = "w:variance", plain[] = "w", *names[1] = {name};
    mxc_ndarray_list states = {1, arrays, names};
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

/* With a new rate at each step. */
static void check_allocations(mxc_optimizer *optimizer) {
    mxc_ndarray *weight = vector(start), *grad = vector(gradient);
    int64_t before = 0;
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

static void test_steady_state_allocates_nothing(void **state) {
    (void)state;
    check_allocations(sgd("momentum", "0.9", NULL));
    check_allocations(optimizer_of("adam", NULL));
    check_allocations(optimizer_of("adamw", NULL));
}

/* ---- held updates: more weights than one operator takes, of two dtypes, with factors of their own --------- */

enum { WEIGHTS = 20 };

static void make_weights(mxc_ndarray **weights, mxc_ndarray **grads) {
    for (int i = 0; i < WEIGHTS; i++) {
        mxc_dtype dtype = i % 3 == 1 ? MXC_BF16 : MXC_F32;
        mxc_ndarray *w = vector(start), *g = vector(gradient);
        assert_ok(mxc_ndarray_copy(w, mxc_cpu(0), dtype, &weights[i]));
        assert_ok(mxc_ndarray_copy(g, mxc_cpu(0), dtype, &grads[i]));
        mxc_ndarray_release(w);
        mxc_ndarray_release(g);
    }
}

static void update_all(const char *rule, int hold, mxc_ndarray **weights) {
    mxc_optimizer *o = optimizer_of(rule, "learning_rate", "0.1", "wd", "0.01", "multi_precision", "true", NULL);
    mxc_ndarray *grads[WEIGHTS];
    char key[32];
    make_weights(weights, grads);
    assert_ok(mxc_optimizer_set_mult(o, "w3_bias", 0.5, 2));
    for (int step = 0; step < 3; step++) {
        mxc_optimizer_set_lr(o, 0.1 / (1 + step));
        if (hold)
            mxci_optimizer_hold(o);
        for (int i = 0; i < WEIGHTS; i++) {
            snprintf(key, sizeof key, "w%d_%s", i, i % 2 ? "bias" : "weight");
            assert_ok(mxc_optimizer_update(o, key, weights[i], grads[i]));
        }
        if (hold)
            assert_ok(mxci_optimizer_flush(o));
    }
    assert_true((mxci_optimizer_master(o, "w1_bias") != NULL) && !mxci_optimizer_master(o, "w0_weight"));
    for (int i = 0; i < WEIGHTS; i++)
        mxc_ndarray_release(grads[i]);
    mxc_optimizer_destroy(o);
}

static void test_held(void **state) {
    static const char *const rules[] = {"sgd", "nag", "adam", "adamw", "rmsprop", "ftrl"};
    (void)state;
    for (int r = 0; r < 6; r++) {
        mxc_ndarray *a[WEIGHTS], *b[WEIGHTS];
        update_all(rules[r], 0, a);
        update_all(rules[r], 1, b);
        for (int i = 0; i < WEIGHTS; i++) {
            void *x, *y;
            assert_ok(mxc_ndarray_data(a[i], &x));
            assert_ok(mxc_ndarray_data(b[i], &y));
            assert_memory_equal(x, y, mxc_ndarray_bytes(a[i]));
            mxc_ndarray_release(a[i]);
            mxc_ndarray_release(b[i]);
        }
    }
}

/* What is held when the optimizer goes, goes with it; a flush of nothing is fine; a failure ends a flush. */
static void test_held_ends(void **state) {
    mxc_optimizer *o = sgd(NULL);
    mxc_ndarray *weight = vector(start), *grad = vector(gradient), *other;
    (void)state;
    mxci_optimizer_hold(o);
    assert_ok(mxci_optimizer_flush(o));
    assert_ok(mxc_ndarray_create(1, (int64_t[]){N + 1}, MXC_F32, mxc_cpu(0), &other));
    mxci_optimizer_hold(o);
    assert_ok(mxc_optimizer_update(o, "w", weight, other));
    assert_fails(mxci_optimizer_flush(o), MXC_ESHAPE, "grad_0");
    mxci_optimizer_hold(o);
    assert_ok(mxc_optimizer_update(o, "w", weight, grad));
    mxc_optimizer_destroy(o);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(other);
}

/* ---- scaled losses: 4 times the gradient, in steps of which some are not finite --------------------------- */

static void test_loss_scale(void **state) {
    const float scale[2] = {4, 0}, infinite[N] = {1, INFINITY, 0, 0, 0};
    float found[2];
    double w[N], mom[N] = {0};
    mxc_optimizer *o = sgd("learning_rate", "0.1", "momentum", "0.9", NULL);
    mxc_ndarray *weight = vector(start), *good = vector(gradient), *bad = vector(infinite), *scale_state;
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, scale, &scale_state));
    assert_ok(mxci_optimizer_set_loss_scale(o, scale_state, 2));
    for (int i = 0; i < N; i++)
        w[i] = start[i];
    for (int step = 0; step < 4; step++) { /* scales: 4, then 2 after the bad step, 4 after two good ones */
        const double factor = step == 1 || step == 2 ? 0.5 : 0.25;
        mxci_optimizer_hold(o);
        assert_ok(mxc_optimizer_update(o, "w", weight, step == 0 ? bad : good));
        assert_ok(mxci_optimizer_flush(o));
        if (step > 0)
            reference(w, mom, gradient, 0.1, 0.9, 0, factor, -1);
        expect_near(weight, w);
    }
    assert_ok(mxc_ndarray_get(scale_state, found, sizeof found));
    assert_true(found[0] == 4 && found[1] == 1);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(good);
    mxc_ndarray_release(bad);
    mxc_ndarray_release(scale_state);
    mxc_optimizer_destroy(o);
}

static void optimizers_are_described(void **state) {
    char *text;
    int n = 0;
    (void)state;
    for (; mxc_optimizer_name_at(n); n++) {
        assert_ok(mxc_optimizer_describe(mxc_optimizer_name_at(n), &text));
        assert_non_null(strstr(text, "    learning_rate : float, optional, default="));
        mxc_free(text);
    }
    assert_int_equal(n, 21);
    assert_null(mxc_optimizer_name_at(-1));
    assert_fails(mxc_optimizer_describe("sdg", &text), MXC_ENOTFOUND, "there are sgd");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_first_step_of_adam),
        cmocka_unit_test(test_count_is_checked),
        cmocka_unit_test(test_states_move),
        cmocka_unit_test(test_states_are_replaced),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_held_ends),
        cmocka_unit_test(test_loss_scale),
        cmocka_unit_test(optimizers_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
