/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Update rules: ten steps of each against MXNet 1.9.1 (mxnet_steps.txt, which make_steps.py writes) or against the
 * paper's formula in double; states that move to another optimizer between steps; optimizers of the program. Covers
 * optimizer/optimizer_rules.c.
 */
#include <math.h>

#include <mxc/kvstore.h>
#include <mxc/optimizer.h>
#include <mxc/random.h>

#include "base/text.h"
#include "optimizer/optimizer.h"
#include "support.h"
#include "train/toy.h"

enum { STEPS = 10, MOST = 64, MOST_SETTINGS = 16, MOST_LINE = 4096, MXNET_CASES = 166 };

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* A weight and what is done to it. */
typedef struct steps_case {
    char optimizer[32], dtype[16], name[32], settings[512];
    int64_t dims[4];
    int ndim, n, changes;
    double lr_mult, wd_mult, learning_rate;
} steps_case;

static double first_weight(int i) {
    return (2 * (i * 29 % 97) - 95) / 64.0;
}

static double gradient(int i, int t) {
    return (2 * ((i * 37 + t * 53 + i * t * 11) % 128) - 127) / 64.0;
}

static double rate(double base, int t) {
    return base * (1 + t % 3) / 2;
}

static mxc_optimizer *create(const steps_case *c) {
    const char *keys[MOST_SETTINGS], *values[MOST_SETTINGS];
    char text[sizeof c->settings];
    mxc_optimizer *optimizer;
    int n = 0;
    snprintf(text, sizeof text, "%s", c->settings);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
        keys[n] = at;
        at = strchr(at, '=');
        *at = '\0';
        values[n++] = at + 1;
    }
    assert_ok(mxc_optimizer_create(c->optimizer, n, keys, values, &optimizer));
    if (c->lr_mult != 1 || c->wd_mult != 1)
        assert_ok(mxc_optimizer_set_mult(optimizer, c->name, c->lr_mult, c->wd_mult));
    return optimizer;
}

/* An array of the case's shape and dtype. */
static mxc_ndarray *array_of(const steps_case *c, const float *values) {
    mxc_ndarray *made, *array;
    mxc_dtype dtype = strcmp(c->dtype, "float16") == 0 ? MXC_F16 : strcmp(c->dtype, "float64") == 0 ? MXC_F64 : MXC_F32;
    assert_ok(mxc_ndarray_from_data(c->ndim, c->dims, MXC_F32, values, &made));
    assert_ok(mxc_ndarray_copy(made, mxc_cpu(0), dtype, &array));
    mxc_ndarray_release(made);
    return array;
}

static void get_values(mxc_ndarray *array, double *out) {
    mxc_ndarray *wide;
    assert_ok(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_get(wide, out, (size_t)mxc_ndarray_size(array) * sizeof *out));
    mxc_ndarray_release(wide);
}

static mxc_ndarray *first_array(const steps_case *c) {
    float values[MOST];
    for (int i = 0; i < c->n; i++)
        values[i] = (float)first_weight(i);
    return array_of(c, values);
}

static void update(mxc_optimizer *optimizer, const steps_case *c, int t, mxc_ndarray *weight) {
    float values[MOST];
    for (int i = 0; i < c->n; i++)
        values[i] = (float)gradient(i, t);
    mxc_ndarray *grad = array_of(c, values);
    if (c->changes)
        mxc_optimizer_set_lr(optimizer, rate(c->learning_rate, t));
    assert_ok(mxc_optimizer_update(optimizer, c->name, weight, grad));
    mxc_ndarray_release(grad);
}

static void compare(const steps_case *c, int t, mxc_ndarray *weight, const double *expected) {
    double found[MOST];
    const double tolerance = strcmp(c->dtype, "float16") == 0 ? 1.5e-3 : 1e-5;
    get_values(weight, found);
    for (int i = 0; i < c->n; i++)
        if (!(fabs(found[i] - expected[i]) <= tolerance * (1 + fabs(expected[i]))))
            fail_msg("%s %s %s, step %d, element %d: %.9g, expected %.9g", c->optimizer, c->dtype, c->settings, t, i,
                     found[i], expected[i]);
}

/* ---- MXNet ------------------------------------------------------------------------------------------------------- */

static int read_case(FILE *file, steps_case *c) {
    char line[MOST_LINE], shape[32];
    int length = 0;
    if (!fgets(line, sizeof line, file))
        return 0;
    assert_int_equal(sscanf(line, "%31s %15s %31s %31s %lf %lf %d %n", c->optimizer, c->dtype, shape, c->name,
                            &c->lr_mult, &c->wd_mult, &c->changes, &length),
                     7);
    snprintf(c->settings, sizeof c->settings, "%.*s", (int)strcspn(line + length, "\n"), line + length);
    c->ndim = 0;
    c->n = 1;
    for (const char *at = shape; *at; at += *at == 'x') {
        c->dims[c->ndim] = strtol(at, (char **)(uintptr_t)&at, 10);
        c->n *= (int)c->dims[c->ndim++];
    }
    c->learning_rate = atof(strchr(c->settings, '=') + 1); /* the first setting */
    return 1;
}

static void read_numbers(FILE *file, int n, double *out) {
    char line[MOST_LINE];
    assert_non_null(fgets(line, sizeof line, file));
    char *at = line;
    for (int i = 0; i < n; i++)
        out[i] = strtod(at, &at);
}

static void test_mxnet_steps(void **state) {
    FILE *file = fopen(MXC_SOURCE_DIR "/tests/optimizer/mxnet_steps.txt", "r");
    steps_case c;
    int compared = 0;
    (void)state;
    assert_non_null(file);
    while (read_case(file, &c)) {
        mxc_optimizer *optimizer = create(&c);
        mxc_ndarray *weight = first_array(&c);
        for (int t = 0; t < STEPS; t++) {
            double expected[MOST];
            read_numbers(file, c.n, expected);
            update(optimizer, &c, t, weight);
            compare(&c, t, weight, expected);
        }
        compared++;
        mxc_ndarray_release(weight);
        mxc_optimizer_destroy(optimizer);
    }
    fclose(file);
    assert_int_equal(compared, MXNET_CASES);
}

/* ---- formulas ---------------------------------------------------------------------------------------------------- */

/* One step of one element: learning rate 0.125, wd 0.05, rescale_grad 0.5, clip_gradient 0.6 and factors of 0.5 and 2.
 */
#define FORMULA_LR 0.0625
#define FORMULA_WD 0.1
typedef double (*formula)(double w, double g, double *s);

static double sign(double x) {
    return (x > 0) - (x < 0);
}

/* Chen et al. (2023), algorithm 2, with beta1 0.9 and beta2 0.99. */
static double lion_formula(double w, double g, double *s) {
    const double c = 0.9 * s[0] + 0.1 * g;
    s[0] = 0.99 * s[0] + 0.01 * g;
    return w - FORMULA_LR * (sign(c) + FORMULA_WD * w);
}

/* Zheng et al. (2017), equation 10, with momentum 0.9 and lamda 0.5; s[1]: the previous weight. MXNet's fails with a
 * momentum. */
static double dcasgd_formula(double w, double g, double *s) {
    s[0] = 0.9 * s[0] - FORMULA_LR * (g + FORMULA_WD * w + 0.5 * g * g * (w - s[1]));
    s[1] = w;
    return w + s[0];
}

static void check_formula(const char *optimizer, const char *settings, const char *dtype, formula step) {
    steps_case c = {.dims = {3, 5}, .ndim = 2, .n = 15, .lr_mult = 0.5, .wd_mult = 2, .name = "w"};
    double w[MOST], s[MOST][2] = {{0}};
    snprintf(c.optimizer, sizeof c.optimizer, "%s", optimizer);
    snprintf(c.dtype, sizeof c.dtype, "%s", dtype);
    snprintf(c.settings, sizeof c.settings,
             "learning_rate=0.125 wd=0.05 rescale_grad=0.5 clip_gradient=0.6 multi_precision=true %s", settings);
    mxc_optimizer *o = create(&c);
    mxc_ndarray *weight = first_array(&c);
    for (int i = 0; i < c.n; i++)
        w[i] = s[i][1] = first_weight(i);
    for (int t = 0; t < STEPS; t++) {
        update(o, &c, t, weight);
        for (int i = 0; i < c.n; i++)
            w[i] = step(w[i], fmax(-0.6, fmin(0.6, 0.5 * gradient(i, t))), s[i]);
        compare(&c, t, weight, w);
    }
    mxc_ndarray_release(weight);
    mxc_optimizer_destroy(o);
}

static void test_formulas(void **state) {
    static const char *const dtypes[] = {"float32", "float64", "float16"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        check_formula("lion", "", dtypes[i], lion_formula);
        check_formula("dcasgd", "momentum=0.9 lamda=0.5", dtypes[i], dcasgd_formula);
    }
}

/* A gradient of 0 leaves the weight of adamax as it is, where 0 / 0 would make it NaN. */
static void test_adamax_without_gradient(void **state) {
    const float one = 1, zero = 0;
    steps_case c = {
        .optimizer = "adamax", .dtype = "float32", .dims = {1}, .ndim = 1, .n = 1, .lr_mult = 1, .wd_mult = 1};
    mxc_optimizer *o = create(&c);
    mxc_ndarray *weight = array_of(&c, &one), *grad = array_of(&c, &zero);
    (void)state;
    assert_ok(mxc_optimizer_update(o, "w", weight, grad));
    compare(&c, 0, weight, &(double){1});
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(o);
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* Steps of two weights, a matrix and a bias; `moves`: before each step the states go to a new optimizer; `holds`: both
 * weights are updated by one flush. */
static void run_steps(const char *name, const char *dtype, int moves, int holds, double *out) {
    steps_case c[2] = {
        {.dims = {4, 3}, .ndim = 2, .n = 12, .lr_mult = 1, .wd_mult = 1, .name = "w_weight", .changes = 1},
        {.dims = {5}, .ndim = 1, .n = 5, .lr_mult = 1, .wd_mult = 1, .name = "w_bias", .changes = 1}};
    const int weights = strcmp(name, "groupadagrad") == 0 ? 1 : 2;
    mxc_ndarray *weight[2];
    for (int k = 0; k < 2; k++) {
        snprintf(c[k].optimizer, sizeof c[k].optimizer, "%s", name);
        snprintf(c[k].dtype, sizeof c[k].dtype, "%s", dtype);
        snprintf(c[k].settings, sizeof c[k].settings, "learning_rate=0.05 multi_precision=true");
        c[k].learning_rate = 0.05;
        weight[k] = first_array(&c[k]);
    }
    mxc_random_seed(3);
    mxc_optimizer *o = create(&c[0]);
    for (int t = 0; t < STEPS; t++) {
        if (moves) {
            mxc_ndarray_list states;
            mxc_optimizer *other = create(&c[0]);
            assert_ok(mxc_optimizer_get_states(o, &states));
            assert_ok(mxc_optimizer_set_states(other, &states));
            mxc_ndarray_list_release(&states);
            mxc_optimizer_destroy(o);
            o = other;
        }
        if (holds)
            mxci_optimizer_hold(o);
        for (int k = 0; k < weights; k++)
            update(o, &c[k], t, weight[k]);
        if (holds)
            assert_ok(mxci_optimizer_flush(o));
    }
    for (int k = 0; k < 2; k++) {
        get_values(weight[k], out + 12 * k);
        mxc_ndarray_release(weight[k]);
    }
    mxc_optimizer_destroy(o);
}

static void test_states_and_flushes(void **state) {
    static const char *const dtypes[] = {"float32", "float16"};
    (void)state;
    for (int i = 0; mxc_optimizer_name_at(i); i++) {
        const char *name = mxc_optimizer_name_at(i);
        for (int k = 0; k < 2; k++) {
            double plain[17], moved[17], held[17];
            run_steps(name, dtypes[k], 0, 0, plain);
            run_steps(name, dtypes[k], 1, 0, moved);
            run_steps(name, dtypes[k], 0, 1, held);
            for (int j = 0; j < 17; j++)
                if (plain[j] != moved[j] || plain[j] != held[j])
                    fail_msg("%s %s: element %d is %g, %g with moved states, %g in flushes", name, dtypes[k], j,
                             plain[j], moved[j], held[j]);
        }
    }
}

/* With a loss scale of 4, gradients times 4 give the same weights, bit for bit; a step with a gradient that is not
 * finite changes nothing. */
static void scaled_steps(const steps_case *c, int is_scaled, double *out) {
    const float scale[2] = {4, 0}, infinite[6] = {1, INFINITY};
    mxc_ndarray *weight = first_array(c), *bad = array_of(c, infinite), *scales = NULL;
    mxc_optimizer *o = create(c);
    double after[6];
    if (is_scaled) {
        assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, scale, &scales));
        assert_ok(mxci_optimizer_set_loss_scale(o, scales, 0));
    }
    for (int t = 0; t < 3; t++) {
        float values[6];
        for (int i = 0; i < 6; i++)
            values[i] = (float)gradient(i, t) * (is_scaled ? 4 : 1);
        mxc_ndarray *grad = array_of(c, values);
        mxci_optimizer_hold(o);
        assert_ok(mxc_optimizer_update(o, c->name, weight, grad));
        assert_ok(mxci_optimizer_flush(o));
        mxc_ndarray_release(grad);
    }
    get_values(weight, out);
    if (is_scaled) {
        mxci_optimizer_hold(o);
        assert_ok(mxc_optimizer_update(o, c->name, weight, bad));
        assert_ok(mxci_optimizer_flush(o));
        get_values(weight, after);
        assert_memory_equal(out, after, sizeof after);
    }
    mxc_ndarray_release(weight);
    mxc_ndarray_release(bad);
    mxc_ndarray_release(scales);
    mxc_optimizer_destroy(o);
}

static void test_loss_scale(void **state) {
    (void)state;
    for (int i = 0; mxc_optimizer_name_at(i); i++) {
        steps_case c = {.dims = {2, 3}, .ndim = 2, .n = 6, .lr_mult = 1, .wd_mult = 1, .name = "w", .dtype = "float32"};
        double plain[6], scaled[6];
        snprintf(c.optimizer, sizeof c.optimizer, "%s", mxc_optimizer_name_at(i));
        if (strcmp(c.optimizer, "sgld") == 0)
            continue;
        scaled_steps(&c, 0, plain);
        scaled_steps(&c, 1, scaled);
        for (int k = 0; k < 6; k++)
            if (plain[k] != scaled[k])
                fail_msg("%s: element %d is %.9g, with a loss scale %.9g", c.optimizer, k, plain[k], scaled[k]);
    }
}

static void test_wrong_states(void **state) {
    steps_case c = {.optimizer = "adafactor",
                    .dtype = "float32",
                    .dims = {2, 3},
                    .ndim = 2,
                    .n = 6,
                    .lr_mult = 1,
                    .wd_mult = 1,
                    .name = "w"};
    mxc_optimizer *o = create(&c);
    mxc_ndarray *weight = first_array(&c), *grad = first_array(&c), *wrong;
    char name[] = "w:row", *names[1] = {name};
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){3}, MXC_F32, (float[]){1, 2, 3}, &wrong));
    mxc_ndarray_list states = {1, &wrong, names};
    assert_ok(mxc_optimizer_set_states(o, &states));
    assert_fails(mxc_optimizer_update(o, "w", weight, grad), MXC_ESHAPE,
                 "row of weight w has shape (3,), expected (2,)");
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(wrong);
    mxc_optimizer_destroy(o);
}

/* ---- optimizers of the program ----------------------------------------------------------------------------------- */

typedef struct heavy_ball_params {
    double friction;
} heavy_ball_params;

static const mxc_param heavy_ball_schema[] = {
    {MXC_PARAM_FIELD(heavy_ball_params, friction), .name = "friction", .type = MXC_PARAM_FLOAT, .initial = "0.1",
     .doc = "1 minus the momentum."},
    MXC_PARAM_END,
};

/* sgd with momentum, through its operator. */
static mxc_status heavy_ball_update(const mxc_optimizer_call *call) {
    const char *keys[] = {"lr", "momentum", "wd", "rescale_grad", "clip_gradient"}, *values[5];
    const double numbers[] = {call->lr, 1 - ((const heavy_ball_params *)call->params)->friction, call->wd,
                              call->rescale_grad, call->clip_gradient};
    char text[5][32];
    for (int i = 0; i < 5; i++) {
        snprintf(text[i], sizeof text[i], "%.17g", numbers[i]);
        values[i] = text[i];
    }
    return mxc_invoke_into("sgd_mom_update", 3, (mxc_ndarray *[]){call->weight, call->grad, call->states[0]}, 5, keys,
                           values, 1, &call->weight);
}

static const mxc_optimizer_def heavy_ball = {
    .size = sizeof heavy_ball,
    .name = "heavy_ball",
    .doc = "sgd with momentum 1 - friction.",
    .states = "velocity",
    .params = heavy_ball_schema,
    .param_size = sizeof(heavy_ball_params),
    .update = heavy_ball_update,
};

static void run_both(const char *dtype) {
    steps_case c = {.dims = {3, 2},
                    .ndim = 2,
                    .n = 6,
                    .lr_mult = 0.5,
                    .wd_mult = 2,
                    .name = "w",
                    .changes = 1,
                    .learning_rate = 0.125};
    double found[2][6];
    snprintf(c.dtype, sizeof c.dtype, "%s", dtype);
    for (int own = 0; own < 2; own++) {
        snprintf(c.optimizer, sizeof c.optimizer, "%s", own ? "heavy_ball" : "sgd");
        snprintf(c.settings, sizeof c.settings,
                 "%s wd=0.05 learning_rate=0.125 rescale_grad=0.5 clip_gradient=0.6 multi_precision=true",
                 own ? "friction=0.25" : "momentum=0.75");
        mxc_optimizer *o = create(&c);
        mxc_ndarray *weight = first_array(&c);
        for (int t = 0; t < STEPS; t++)
            update(o, &c, t, weight);
        get_values(weight, found[own]);
        mxc_ndarray_release(weight);
        mxc_optimizer_destroy(o);
    }
    assert_memory_equal(found[0], found[1], sizeof found[0]);
}

static void test_own_optimizer(void **state) {
    mxc_optimizer_def wrong = heavy_ball;
    const char *key = "fiction", *value = "1";
    mxc_optimizer *none;
    char *text;
    (void)state;
    assert_ok(mxc_optimizer_register(&heavy_ball));
    run_both("float32");
    run_both("float16");
    assert_fails(mxc_optimizer_register(&heavy_ball), MXC_EEXIST, "heavy_ball");
    wrong.name = "adam";
    assert_fails(mxc_optimizer_register(&wrong), MXC_EEXIST, "adam");
    wrong.name = "another";
    wrong.states = "a,b,c,d";
    assert_fails(mxc_optimizer_register(&wrong), MXC_EINVAL, "4 states");
    static const char *const names[] = {"a,",      "a,a",        "a:b",
                                        "updates", "a,weight32", "a_name_of_thirty_two_characters_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wrong.states = names[i];
        assert_fails(mxc_optimizer_register(&wrong), MXC_EINVAL, "expected different names of 1 to 31 bytes");
    }
    wrong.states = NULL;
    static const mxc_param known[] = {
        {MXC_PARAM_FIELD(heavy_ball_params, friction), .name = "friction", .alias = "wd", .type = MXC_PARAM_FLOAT},
        MXC_PARAM_END,
    };
    wrong.params = known;
    assert_fails(mxc_optimizer_register(&wrong), MXC_EINVAL, "every optimizer has the parameter wd already");
    wrong.params = heavy_ball_schema;
    wrong.update = NULL;
    assert_fails(mxc_optimizer_register(&wrong), MXC_EINVAL, "update");
    wrong.size = 1;
    assert_fails(mxc_optimizer_register(&wrong), MXC_EINVAL, "size");
    assert_fails(mxc_optimizer_create("heavy_ball", 1, &key, &value, &none), MXC_EINVAL, "fiction");
    assert_ok(mxc_optimizer_describe("heavy_ball", &text));
    assert_non_null(strstr(text, "friction"));
    mxc_free(text);
}

/* A copy has the parameters, also one without a default. */
static void test_clone(void **state) {
    static const mxc_param required[] = {
        {MXC_PARAM_FIELD(heavy_ball_params, friction), .name = "friction", .type = MXC_PARAM_FLOAT, .doc = "As above."},
        MXC_PARAM_END,
    };
    static mxc_optimizer_def def;
    steps_case c = {.optimizer = "required",
                    .dims = {6},
                    .ndim = 1,
                    .n = 6,
                    .lr_mult = 0.5,
                    .wd_mult = 2,
                    .name = "w",
                    .dtype = "float32",
                    .settings = "friction=0.25 learning_rate=0.125 wd=0.05"};
    mxc_optimizer *o, *copy, *none;
    double expected[6], found[6];
    (void)state;
    def = heavy_ball;
    def.name = "required";
    def.params = required;
    assert_ok(mxc_optimizer_register(&def));
    assert_fails(mxc_optimizer_create("required", 0, NULL, NULL, &none), MXC_EINVAL, "friction");
    o = create(&c);
    assert_ok(mxci_optimizer_clone(o, &copy));
    mxc_ndarray *weight[2] = {first_array(&c), first_array(&c)};
    for (int t = 0; t < STEPS; t++) {
        update(o, &c, t, weight[0]);
        update(copy, &c, t, weight[1]);
    }
    get_values(weight[0], expected);
    get_values(weight[1], found);
    assert_memory_equal(expected, found, sizeof found);
    mxc_ndarray_release(weight[0]);
    mxc_ndarray_release(weight[1]);
    mxc_optimizer_destroy(o);
    mxc_optimizer_destroy(copy);
}

/* Stores accept it; a store that updates parts of weights refuses rules that need whole ones. */
static void test_in_store(void **state) {
    steps_case c = {.dims = {3, 2}, .ndim = 2, .n = 6, .lr_mult = 1, .wd_mult = 1, .name = "w", .dtype = "float32"};
    mxc_kvstore *store;
    mxc_ndarray *weight = first_array(&c), *pulled = first_array(&c);
    const char *key = "w";
    double expected[6], found[6];
    (void)state;
    snprintf(c.optimizer, sizeof c.optimizer, "heavy_ball");
    snprintf(c.settings, sizeof c.settings, "learning_rate=0.5");
    mxc_optimizer *o = create(&c), *other = create(&c);
    assert_ok(mxc_kvstore_create("local", &store));
    assert_ok(mxc_kvstore_set_optimizer(store, o));
    assert_ok(mxc_kvstore_init(store, 1, &key, &weight));
    for (int t = 0; t < 3; t++) {
        float values[MOST];
        for (int i = 0; i < c.n; i++)
            values[i] = (float)gradient(i, t);
        mxc_ndarray *grad = array_of(&c, values);
        assert_ok(mxc_kvstore_push(store, 1, &key, &grad, 0));
        mxc_ndarray_release(grad);
        update(other, &c, t, weight);
    }
    assert_ok(mxc_kvstore_pull(store, 1, &key, &pulled, 0));
    get_values(weight, expected);
    get_values(pulled, found);
    assert_memory_equal(expected, found, sizeof found);
    mxc_kvstore_destroy(store);
    mxc_optimizer_destroy(o);
    mxc_optimizer_destroy(other);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(pulled);
}

/* Two epochs of a small training, in one run, or in two of which the second resumes. */
static void train(const char *optimizer, const char *key, const char *value, int is_resumed, const char *prefix,
                  mxc_ndarray_list *params) {
    const char *keys[] = {"wd", key}, *values[] = {"0.001", value};
    for (int run = !is_resumed; run < 2; run++) {
        toy t;
        assert_ok(toy_open(&t, "8"));
        t.options.optimizer = optimizer;
        t.options.optimizer_keys = key ? keys : NULL;
        t.options.optimizer_values = key ? values : NULL;
        t.options.n_optimizer_params = key ? 2 : 0;
        t.options.epochs = run + 1;
        t.options.checkpoint = prefix;
        t.options.resume = is_resumed;
        t.options.overwrite = 1;
        assert_ok(mxc_fit(&t.options, NULL, run ? params : NULL));
        toy_close(&t);
    }
}

static void test_in_fit(void **state) {
    mxc_ndarray_list a, b;
    test_path folder, prefix;
    (void)state;
    test_join(prefix, test_temp_dir(folder), "run");
    train("sgd", "momentum", "0.75", 0, NULL, &a);
    train("heavy_ball", "friction", "0.25", 0, NULL, &b);
    toy_expect_same(&a, &b);
    mxc_ndarray_list_release(&a);
    mxc_ndarray_list_release(&b);
    for (int i = 0; mxc_optimizer_name_at(i); i++) {
        const char *name = mxc_optimizer_name_at(i);
        if (strcmp(name, "groupadagrad") == 0) /* the toy has weights of 1 axis */
            continue;
        train(name, NULL, NULL, 0, prefix, &a);
        test_remove_dir(folder);
        test_join(prefix, test_temp_dir(folder), "run");
        train(name, NULL, NULL, 1, prefix, &b);
        toy_expect_same(&a, &b);
        mxc_ndarray_list_release(&a);
        mxc_ndarray_list_release(&b);
        test_remove_dir(folder);
        test_join(prefix, test_temp_dir(folder), "run");
    }
    test_remove_dir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mxnet_steps),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_adamax_without_gradient),
        cmocka_unit_test(test_states_and_flushes),
        cmocka_unit_test(test_loss_scale),
        cmocka_unit_test(test_wrong_states),
        cmocka_unit_test(test_own_optimizer),
        cmocka_unit_test(test_in_store),
        cmocka_unit_test(test_in_fit),
        cmocka_unit_test(test_clone), /* last: the others create all optimizers without parameters */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
