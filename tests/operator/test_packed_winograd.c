/* SPDX-License-Identifier: Apache-2.0 */
/* Winograd's algorithm with channels last by packed weights: its errors against a convolution in double, and that
 * neither threads nor the batch change a result. */
#include "support.h"

#include <math.h>

#include <mxc/engine.h>

#include "operator/nn/packed_winograd.h"

typedef struct layer {
    int64_t batch, channels, height, width, filters, pad;
    float slope, limit;
    int has_bias, has_addend, add;
} layer;

/* Whole vectors and parts of them; tiles inside, at the border and outside of the image; blocks of a thread's own and
 * shared ones, one and several (many weights, or few tiles); panels deeper than are multiplied at a time. */
static const layer layers[] = {
    {2, 64, 30, 33, 64, 1, 0, INFINITY, 1, 0, 0},   {3, 16, 29, 50, 40, 1, 1, INFINITY, 0, 0, 0},
    {1, 20, 17, 8, 37, 0, 0.25f, 6, 1, 1, 0},       {5, 13, 9, 9, 70, 2, 1, 1, 0, 1, 1},
    {2, 300, 12, 9, 200, 1, 0, 6, 1, 1, 0},         {1, 1, 3, 3, 1, 0, 1, INFINITY, 1, 0, 0},
    {1, 5, 2, 1, 3, 8, -2, INFINITY, 0, 1, 0},      {1, 600, 6, 6, 33, 1, 0, INFINITY, 0, 0, 0},
    {2, 180, 23, 27, 170, 1, 0, INFINITY, 1, 0, 1},
};
enum { LAYERS = sizeof layers / sizeof layers[0] };

static mxci_conv_shape shape_of(const layer *l) {
    return (mxci_conv_shape){
        .channels = l->channels,
        .filters = l->filters,
        .in = {1, l->height, l->width},
        .out = {1, l->height + 2 * l->pad - 2, l->width + 2 * l->pad - 2},
        .kernel = {1, 3, 3},
        .stride = {1, 1, 1},
        .dilate = {1, 1, 1},
        .pad = {0, l->pad, l->pad},
    };
}

static int64_t out_size(const layer *l) {
    const mxci_conv_shape s = shape_of(l);
    return l->batch * s.out[1] * s.out[2] * l->filters;
}

/* n numbers in (-1, 1) that depend on the seed; the caller frees them. */
static float *random_floats(int64_t n, uint64_t seed) {
    float *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (float)(int32_t)(seed >> 32) / 2147483648.0f;
    }
    return values;
}

/* A layer with random data. The output begins as the addend, or as what is added to. */
typedef struct trial {
    const layer *l;
    int parts;
    float *in, *weight, *bias, *out;
} trial;

static void make_trial(trial *t, const layer *l) {
    t->l = l;
    t->in = random_floats(l->batch * l->height * l->width * l->channels, 1);
    t->weight = random_floats(l->filters * 9 * l->channels, 2);
    t->bias = random_floats(l->filters, 3);
    t->out = random_floats(out_size(l), 4);
}

static void free_trial(trial *t) {
    free(t->in);
    free(t->weight);
    free(t->bias);
    free(t->out);
}

static mxc_status run_trial(const mxc_run *run, void *arg) {
    const trial *t = arg;
    const mxci_conv_shape shape = shape_of(t->l);
    const mxci_packed_epilogue epilogue = {
        .bias = t->l->has_bias ? t->bias : NULL,
        .addend = t->l->has_addend ? t->out : NULL,
        .slope = t->l->slope,
        .limit = t->l->limit,
        .add = t->l->add,
    };
    mxci_packed_winograd w;
    mxci_scratch measure = {0}, scratch = {0};
    mxci_packed_winograd_plan(&shape, t->l->batch, t->parts, &w);
    mxci_packed_winograd_scratch(&w, t->parts, &measure);
    scratch.base = malloc(measure.bytes);
    float *packed = malloc((size_t)mxci_packed_winograd_elements(&w) * sizeof *packed);
    if (scratch.base && packed) {
        mxci_packed_winograd_pack(run, &w, t->weight, 0, packed);
        mxci_packed_winograd_run(run, &w, t->in, packed, &epilogue,
                                 mxci_packed_winograd_scratch(&w, t->parts, &scratch), t->out);
    }
    const int failed = !scratch.base || !packed;
    free(scratch.base);
    free(packed);
    return failed ? MXC_ENOMEM : MXC_OK;
}

static void run_under(int parallelism, trial *t) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    mxc_task task = MXC_TASK_INIT;
    options.workers = options.parallelism = t->parts = parallelism;
    assert_ok(mxc_engine_create(&options, &engine));
    task.fn = run_trial;
    task.arg = t;
    assert_ok(mxc_engine_push(engine, &task, 0, NULL, 0, NULL, 0));
    assert_ok(mxc_wait_all(engine));
    mxc_engine_destroy(engine);
}

/* ---- the same by definition -------------------------------------------------------------------------------------- */

static double expected_sum(const trial *t, int64_t sample, int64_t y, int64_t x, int64_t filter) {
    const layer *l = t->l;
    double sum = 0;
    for (int64_t k = 0; k < 9; k++) {
        const int64_t iy = y + k / 3 - l->pad, ix = x + k % 3 - l->pad;
        if (iy < 0 || iy >= l->height || ix < 0 || ix >= l->width)
            continue;
        const float *pixel = t->in + ((sample * l->height + iy) * l->width + ix) * l->channels;
        const float *weight = t->weight + (filter * 9 + k) * l->channels;
        for (int64_t c = 0; c < l->channels; c++)
            sum += (double)pixel[c] * (double)weight[c];
    }
    return sum;
}

/* Of large layers every seventh element is compared. */
static int64_t step_of(const layer *l) {
    return out_size(l) * l->channels < 10000000 ? 1 : 7;
}

/* Elements that are compared; others are not set. Before the run, since it changes the output. The caller frees it.
 */
static double *expected_output(const trial *t) {
    const layer *l = t->l;
    const mxci_conv_shape s = shape_of(l);
    double *out = malloc((size_t)out_size(l) * sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < out_size(l); i += step_of(l)) {
        const int64_t filter = i % l->filters, pixel = i / l->filters, row = pixel / s.out[2];
        double sum = expected_sum(t, row / s.out[1], row % s.out[1], pixel % s.out[2], filter);
        sum += l->has_bias ? (double)t->bias[filter] : 0;
        sum += l->has_addend ? (double)t->out[i] : 0;
        out[i] = fmin(sum < 0 ? (double)l->slope * sum : sum, (double)l->limit) + (l->add ? (double)t->out[i] : 0);
    }
    return out;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Errors are at most 5e-6 of a sum of as many products as an output has. */
static void test_errors(void **state) {
    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        const double scale = sqrt((double)(9 * layers[i].channels)) * fmax(1, fabs((double)layers[i].slope));
        trial t;
        make_trial(&t, &layers[i]);
        double *expected = expected_output(&t), error = 0;
        run_under(1, &t);
        for (int64_t k = 0; k < out_size(t.l); k += step_of(t.l)) {
            if (!(fabs((double)t.out[k] - expected[k]) <= error))
                error = fabs((double)t.out[k] - expected[k]);
        }
        if (!(error <= 5e-6 * scale))
            fail_msg("layer %d: an error of %g, expected at most %g", i, error, 5e-6 * scale);
        free(expected);
        free_trial(&t);
    }
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        trial one, three;
        make_trial(&one, &layers[i]);
        make_trial(&three, &layers[i]);
        run_under(1, &one);
        run_under(3, &three);
        assert_memory_equal(one.out, three.out, (size_t)out_size(one.l) * sizeof(float));
        free_trial(&one);
        free_trial(&three);
    }
}

/* The first sample's output is the same alone and in a batch. */
static void test_batch_does_not_matter(void **state) {
    (void)state;
    for (int i = 0; i < LAYERS; i++) {
        layer single = layers[i];
        trial many, alone;
        single.batch = 1;
        make_trial(&many, &layers[i]);
        make_trial(&alone, &single);
        run_under(1, &many);
        run_under(1, &alone);
        assert_memory_equal(many.out, alone.out, (size_t)out_size(&single) * sizeof(float));
        free_trial(&many);
        free_trial(&alone);
    }
}

/* NaN and infinities go where the direct algorithm would not put them, since a tile shares its pixels; the epilogue
 * leaves them so: relu makes 0 of -infinity, and NaN stays. */
static void test_epilogue_of_special_values(void **state) {
    const layer l = {1, 8, 3, 3, 3, 0, 0, 6, 1, 0, 0};
    trial t;
    (void)state;
    make_trial(&t, &l);
    t.bias[0] = -INFINITY;
    t.bias[1] = INFINITY;
    t.bias[2] = NAN;
    run_under(1, &t);
    assert_true(t.out[0] == 0);
    assert_true(t.out[1] == 6);
    assert_true(isnan(t.out[2]));
    free_trial(&t);
}

/* Packing twice, the second time into the sum, doubles each element; a panel's missing filters stay 0. */
static void test_packing_adds(void **state) {
    const layer l = {1, 21, 4, 4, 35, 1, 0, INFINITY, 0, 0, 0};
    const mxci_conv_shape shape = shape_of(&l);
    mxci_packed_winograd w;
    (void)state;
    mxci_packed_winograd_plan(&shape, 1, 1, &w);
    const int64_t n = mxci_packed_winograd_elements(&w);
    float *weight = random_floats(l.filters * 9 * l.channels, 5), *once = random_floats(n, 6);
    float *twice = random_floats(n, 7);
    mxci_packed_winograd_pack(NULL, &w, weight, 0, once);
    mxci_packed_winograd_pack(NULL, &w, weight, 0, twice);
    mxci_packed_winograd_pack(NULL, &w, weight, 1, twice);
    for (int64_t i = 0; i < n; i++)
        assert_true(twice[i] == 2 * once[i]);
    free(weight);
    free(once);
    free(twice);
}

static void test_choice(void **state) {
    const layer l = {8, 64, 56, 56, 64, 1, 0, INFINITY, 0, 0, 0};
    const mxci_conv_shape good = shape_of(&l);
    mxci_conv_shape s = good;
    (void)state;
    assert_true(mxci_packed_winograd_possible(&s, 1) && mxci_packed_winograd_pays(&s, 1));
    assert_false(mxci_packed_winograd_possible(&s, 2));
    s.stride[2] = 2;
    assert_false(mxci_packed_winograd_possible(&s, 1));
    s = good, s.dilate[1] = 2;
    assert_false(mxci_packed_winograd_possible(&s, 1));
    s = good, s.kernel[1] = 5;
    assert_false(mxci_packed_winograd_possible(&s, 1));
    s = good, s.kernel[0] = 3, s.in[0] = 3;
    assert_false(mxci_packed_winograd_possible(&s, 1));
    s = good, s.channels = 3;
    assert_true(mxci_packed_winograd_possible(&s, 1));
    assert_false(mxci_packed_winograd_pays(&s, 8));
    s = good, s.channels = s.filters = 512, s.out[1] = s.in[1] = 7, s.out[2] = s.in[2] = 7; /* 36 MiB of weights */
    assert_false(mxci_packed_winograd_pays(&s, 1));
    assert_true(mxci_packed_winograd_pays(&s, 8));
    s = good, s.out[1] = s.in[1] = 2, s.out[2] = s.in[2] = 2; /* a tile is mostly empty */
    assert_false(mxci_packed_winograd_pays(&s, 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_batch_does_not_matter),
        cmocka_unit_test(test_epilogue_of_special_values),
        cmocka_unit_test(test_packing_adds),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
