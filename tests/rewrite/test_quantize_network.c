/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantized networks are nearly as accurate as float ones: a small one trained here, models of others, and every kind
 * of node. Covers rewrite/quantize_network.c, activation_range.c, fold_params.c, rebuild.c and
 * train/calibrate.c.
 */
#include <math.h>

#include "support.h"

#include <mxc/quantize.h>
#include <mxc/storage.h>
#include <mxc/train.h>

#include "base/sys.h"

enum { SIDE = 10, CLASSES = 4, SAMPLES = 128, BATCH = 16, PIXELS = SIDE * SIDE };

static float noise(uint32_t i) {
    i = (i ^ 61) ^ (i >> 16);
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    i ^= i >> 15;
    return (float)(i & 0xffff) / 65536.0f - 0.5f;
}

/* Images of a class have a bright stripe in its direction, and noise. */
static mxc_iter *open_images(void) {
    static float x[SAMPLES * PIXELS], y[SAMPLES];
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    int64_t dims[4] = {SAMPLES, 1, SIDE, SIDE};
    mxc_ndarray *data, *label;
    mxc_iter *iter;
    for (int i = 0; i < SAMPLES; i++) {
        int kind = i % CLASSES, at = i / CLASSES % (SIDE - 4) + 2;
        y[i] = (float)kind;
        for (int k = 0; k < PIXELS; k++) {
            int row = k / SIDE, column = k % SIDE;
            int lit = kind == 0 ? row == at : kind == 1 ? column == at : kind == 2 ? row == column : row + column == 9;
            x[i * PIXELS + k] = (lit ? 1.0f : 0.0f) + 0.5f * noise((uint32_t)(i * PIXELS + k));
        }
    }
    options.batch_size = BATCH;
    assert_ok(mxc_ndarray_from_data(4, dims, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(1, dims, MXC_F32, y, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

/* An operator with parameters "a=1 b=2" on some symbols, which it takes. */
static mxc_symbol *on(const char *op, const char *name, const char *params, int n, mxc_symbol **in) {
    char text[256];
    const char *keys[8], *values[8];
    int n_params = 0;
    mxc_symbol *out;
    snprintf(text, sizeof text, "%s", params);
    for (char *save = NULL, *item = strtok_r(text, " ", &save); item; item = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(item, '=');
        *equals = '\0';
        keys[n_params] = item;
        values[n_params++] = equals + 1;
    }
    assert_ok(mxc_symbol_op(op, name, n_params, keys, values, n, NULL, in, &out));
    for (int i = 0; i < n; i++)
        mxc_symbol_release(in[i]);
    return out;
}

static mxc_symbol *after(mxc_symbol *in, const char *op, const char *name, const char *params) {
    return on(op, name, params, 1, &in);
}

static mxc_symbol *block(mxc_symbol *x, const char *conv, const char *bn, const char *relu, const char *params) {
    x = after(x, "Convolution", conv, params);
    x = after(x, "BatchNorm", bn, "fix_gamma=False eps=1e-5");
    return after(x, "Activation", relu, "act_type=relu");
}

static mxc_symbol *small_net(void) {
    mxc_symbol *x;
    assert_ok(mxc_symbol_variable("data", &x));
    x = block(x, "conv1", "bn1", "relu1", "kernel=(3,3) num_filter=8 pad=(1,1) no_bias=True");
    x = after(x, "Pooling", "pool1", "kernel=(2,2) stride=(2,2) pool_type=max");
    x = block(x, "conv2", "bn2", "relu2", "kernel=(3,3) num_filter=12");
    x = after(x, "Pooling", "pool2", "kernel=(3,3) pool_type=avg");
    x = after(x, "Flatten", "flat", "");
    x = after(x, "FullyConnected", "fc1", "num_hidden=16");
    x = after(x, "relu", "relu3", "");
    x = after(x, "FullyConnected", "fc2", "num_hidden=4");
    return after(x, "SoftmaxOutput", "softmax", "");
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static mxc_symbol *quantize(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_calibration calibration,
                            mxc_iter *data, int64_t batches, const char *excluded, mxc_ndarray_list *out_params) {
    mxc_quantize_options options = MXC_QUANTIZE_OPTIONS_INIT;
    mxc_symbol *out;
    options.symbol = symbol;
    options.params = params;
    options.calibration = calibration;
    options.data = data;
    options.batches = batches;
    options.n_excluded = excluded != NULL;
    options.excluded = &excluded;
    assert_ok(mxc_quantize(&options, &out, out_params));
    return out;
}

static double accuracy(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data) {
    mxc_metric *metric;
    double value;
    assert_ok(mxc_metric_create("accuracy", 0, NULL, NULL, &metric));
    assert_ok(mxc_evaluate(symbol, params, data, mxc_cpu(0), 1, &metric));
    value = mxc_metric_value(metric);
    mxc_metric_destroy(metric);
    return value;
}

static int64_t bytes_of(const mxc_ndarray_list *params) {
    int64_t sum = 0;
    for (int64_t i = 0; i < params->n; i++)
        sum += (int64_t)mxc_ndarray_bytes(params->arrays[i]);
    return sum;
}

static int count_op(mxc_symbol *symbol, const char *op) {
    char *json, text[128];
    int n = 0;
    assert_ok(mxc_symbol_to_json(symbol, &json));
    snprintf(text, sizeof text, "\"op\": \"%s\"", op);
    for (const char *at = json; (at = strstr(at, text)); at++)
        n++;
    mxc_free(json);
    return n;
}

/* ---- a network trained here -------------------------------------------------------------------------------------- */

static void train(mxc_symbol *net, mxc_iter *data, mxc_ndarray_list *params) {
    mxc_fit_options options;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = net;
    options.train = data;
    options.epochs = 12;
    options.learning_rate = 0.1;
    assert_ok(mxc_fit(&options, NULL, params));
}

static void test_trained(void **state) {
    const int last = TEST_SANITIZED ? MXC_CALIBRATE_MINMAX : MXC_CALIBRATE_ENTROPY;
    mxc_symbol *net = small_net();
    mxc_iter *data = open_images();
    mxc_ndarray_list params;
    double real;
    (void)state;
    train(net, data, &params);
    real = accuracy(net, &params, data);
    assert_true(real > 0.95);
    for (int kind = MXC_CALIBRATE_NONE; kind <= last; kind++) {
        mxc_ndarray_list small;
        mxc_symbol *whole = quantize(net, &params, (mxc_calibration)kind, kind ? data : NULL, 4, NULL, &small);
        assert_true(accuracy(whole, &small, data) >= real - 0.03);
        assert_int_equal(count_op(whole, "BatchNorm"), 0);
        assert_int_equal(count_op(whole, "_contrib_quantized_conv"), 2);
        assert_int_equal(count_op(whole, "_contrib_quantized_pooling"), 2);
        assert_int_equal(count_op(whole, "_contrib_quantized_flatten"), 1);
        assert_int_equal(count_op(whole, "_contrib_quantized_fully_connected"), 2);
        assert_int_equal(count_op(whole, "_contrib_quantize_v2"), 1);
        assert_int_equal(count_op(whole, "_contrib_dequantize"), 1);
        assert_true(3 * bytes_of(&small) < bytes_of(&params));
        assert_non_null(mxc_ndarray_list_find(&small, "arg:conv1_folded_weight_quantize_min"));
        mxc_ndarray_list_release(&small);
        mxc_symbol_release(whole);
    }
    mxc_ndarray_list_release(&params);
    mxc_iter_destroy(data);
    mxc_symbol_release(net);
}

/* What is written to files works as well. */
static void test_saved(void **state) {
    mxc_symbol *net = small_net(), *whole, *again;
    mxc_iter *data = open_images();
    mxc_ndarray_list params, small, loaded;
    test_path folder, prefix;
    (void)state;
    train(net, data, &params);
    whole = quantize(net, &params, MXC_CALIBRATE_MINMAX, data, 0, NULL, &small);
    test_join(prefix, test_temp_dir(folder), "small");
    assert_ok(mxc_model_save(prefix, 1, whole, small.n, small.arrays, (const char *const *)small.names));
    assert_ok(mxc_model_load(prefix, 1, &again, &loaded));
    assert_true(accuracy(again, &loaded, data) == accuracy(whole, &small, data));
    test_remove_dir(folder);
    mxc_ndarray_list_release(&params);
    mxc_ndarray_list_release(&small);
    mxc_ndarray_list_release(&loaded);
    mxc_iter_destroy(data);
    mxc_symbol_release(again);
    mxc_symbol_release(whole);
    mxc_symbol_release(net);
}

/* ---- other forms of nodes ---------------------------------------------------------------------------------------- */

/* A residual sum, branches side by side, a weight used twice, a layer in float between. */
static mxc_symbol *branched_net(void) {
    mxc_symbol *x, *w, *pair[3];
    assert_ok(mxc_symbol_variable("data", &x));
    assert_ok(mxc_symbol_variable("shared", &w));
    x = after(x, "Convolution", "stem", "kernel=(3,3) num_filter=4 pad=(1,1)");
    pair[0] = mxc_symbol_retain(x);
    pair[1] = mxc_symbol_retain(w);
    pair[0] = on("Convolution", "left", "kernel=(1,1) num_filter=4 no_bias=True", 2, pair);
    pair[1] = after(mxc_symbol_retain(x), "Activation", "relu", "act_type=relu");
    mxc_symbol_release(x);
    x = on("elemwise_add", "sum", "", 2, pair);
    pair[0] = mxc_symbol_retain(x);
    pair[1] = w;
    pair[0] = on("Convolution", "right", "kernel=(1,1) num_filter=4 no_bias=True", 2, pair);
    pair[1] = x;
    x = on("Concat", "side", "num_args=2", 2, pair);
    x = after(x, "Activation", "positive", "act_type=relu");
    x = after(x, "Convolution", "mixed", "kernel=(3,3) num_filter=6 num_group=2 no_bias=True");
    x = after(x, "Activation", "bent", "act_type=tanh");
    x = after(x, "Convolution", "last", "kernel=(3,3) num_filter=3 stride=(2,2)");
    return x;
}

static mxc_ndarray_list random_params(mxc_symbol *symbol) {
    const char *name = "data";
    mxc_shape shape = {.ndim = 4, .dim = {BATCH, 1, SIDE, SIDE}};
    mxc_ndarray_list list = {0};
    mxc_inferred inferred;
    mxc_names names;
    assert_ok(mxc_symbol_infer(symbol, 1, &name, &shape, NULL, &inferred));
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    list.arrays = calloc((size_t)names.n, sizeof *list.arrays);
    list.names = calloc((size_t)names.n, sizeof *list.names);
    for (int64_t i = 0; i < names.n; i++) {
        int64_t n = mxc_shape_size(&inferred.arg_shapes[i]);
        float *x = calloc((size_t)n, sizeof *x);
        if (!strcmp(names.items[i], "data")) {
            free(x);
            continue;
        }
        for (int64_t k = 0; k < n; k++)
            x[k] = noise((uint32_t)(i * 1000 + k));
        list.names[list.n] = calloc(1, strlen(names.items[i]) + 5);
        snprintf(list.names[list.n], strlen(names.items[i]) + 5, "arg:%s", names.items[i]);
        assert_ok(mxc_ndarray_from_data(inferred.arg_shapes[i].ndim, inferred.arg_shapes[i].dim, MXC_F32, x,
                                        &list.arrays[list.n++]));
        free(x);
    }
    mxc_names_release(&names);
    mxc_inferred_release(&inferred);
    return list;
}

static void release_made(mxc_ndarray_list *list) {
    for (int64_t i = 0; i < list->n; i++) {
        mxc_ndarray_release(list->arrays[i]);
        free(list->names[i]);
    }
    free(list->arrays);
    free(list->names);
}

/* The first output for an input; caller frees. */
static float *answer(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_ndarray *input, int64_t *n) {
    const char *name = "data";
    mxc_executor *e;
    float *out;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = mxc_ndarray_shape(input)};
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &e));
    for (int64_t i = 0; i < params->n; i++) {
        mxc_ndarray *to = mxc_executor_find_arg(e, params->names[i] + 4);
        to = to ? to : mxc_executor_find_aux(e, params->names[i] + 4);
        if (to)
            assert_ok(mxc_ndarray_copy_to(params->arrays[i], to, 0));
    }
    assert_ok(mxc_ndarray_copy_to(input, mxc_executor_find_arg(e, "data"), 0));
    assert_ok(mxc_executor_forward(e, 0));
    *n = mxc_ndarray_size(mxc_executor_output(e, 0));
    out = calloc((size_t)*n, sizeof *out);
    assert_ok(mxc_ndarray_get(mxc_executor_output(e, 0), out, (size_t)*n * sizeof *out));
    mxc_executor_destroy(e);
    return out;
}

/* Root of the mean square of the difference over that of the values. */
static double distance(const float *x, const float *y, int64_t n) {
    double difference = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        difference += (double)(x[i] - y[i]) * (x[i] - y[i]);
        size += (double)y[i] * y[i];
    }
    return sqrt(difference / size);
}

static double compare(mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_symbol *whole,
                      const mxc_ndarray_list *small, mxc_ndarray *input) {
    int64_t n, m;
    float *x = answer(whole, small, input, &n), *y = answer(symbol, params, input, &m);
    double found = distance(x, y, n);
    assert_int_equal(n, m);
    free(x);
    free(y);
    return found;
}

static void test_branches(void **state) {
    mxc_symbol *net = branched_net();
    mxc_ndarray_list params = random_params(net);
    mxc_iter *data = open_images();
    (void)state;
    for (int kind = MXC_CALIBRATE_NONE; kind <= MXC_CALIBRATE_MINMAX; kind++) {
        const char *excluded = kind ? "mixed" : NULL;
        mxc_ndarray_list small;
        mxc_batch batch;
        mxc_symbol *whole = quantize(net, &params, (mxc_calibration)kind, kind ? data : NULL, 0, excluded, &small);
        assert_ok(mxc_iter_next(data, &batch));
        assert_true(compare(net, &params, whole, &small, batch.data[0]) < 0.05);
        assert_ok(mxc_iter_reset(data));
        assert_int_equal(count_op(whole, "_contrib_quantized_conv"), kind ? 4 : 5);
        assert_int_equal(count_op(whole, "_contrib_quantized_elemwise_add"), 1);
        assert_int_equal(count_op(whole, "_contrib_quantized_concat"), 1);
        assert_int_equal(count_op(whole, "_contrib_quantized_act"), 1);
        mxc_ndarray_list_release(&small);
        mxc_symbol_release(whole);
    }
    mxc_iter_destroy(data);
    release_made(&params);
    mxc_symbol_release(net);
}

static void test_refused(void **state) {
    mxc_quantize_options options = MXC_QUANTIZE_OPTIONS_INIT;
    mxc_symbol *net = branched_net(), *out = net;
    mxc_ndarray_list params = random_params(net), small;
    mxc_iter *data = open_images();
    const char *absent = "absent";
    (void)state;
    assert_fails(mxc_quantize(NULL, &out, &small), MXC_EINVAL, "options");
    assert_null(out);
    assert_fails(mxc_quantize(&options, &out, &small), MXC_EINVAL, "symbol");
    options.symbol = net;
    options.params = &params;
    options.calibration = MXC_CALIBRATE_MINMAX;
    assert_fails(mxc_quantize(&options, &out, &small), MXC_EINVAL, "needs data");
    options.data = data;
    options.n_excluded = 1;
    options.excluded = &absent;
    assert_fails(mxc_quantize(&options, &out, &small), MXC_ENOTFOUND, "absent");
    options.n_excluded = 0;
    params.n--;
    assert_fails(mxc_quantize(&options, &out, &small), MXC_ENOTFOUND, "1 missing: ");
    params.n++;
    assert_null(out);
    mxc_iter_destroy(data);
    release_made(&params);
    mxc_symbol_release(net);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static mxc_status quantize_once(mxc_symbol *net, const mxc_ndarray_list *params, mxc_iter *data) {
    mxc_quantize_options options = MXC_QUANTIZE_OPTIONS_INIT;
    mxc_ndarray_list small;
    mxc_symbol *out;
    mxc_status status;
    options.symbol = net;
    options.params = params;
    options.calibration = MXC_CALIBRATE_MINMAX;
    options.data = data;
    options.batches = 1;
    status = mxc_quantize(&options, &out, &small);
    assert_true((status == MXC_OK) == (out != NULL) && (status == MXC_OK) == (small.n > 0));
    mxc_ndarray_list_release(&small);
    mxc_symbol_release(out);
    return status;
}

/* Blocks in use once all that was queued has ended and the pool holds nothing back. */
static int64_t live_blocks(void) {
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine));
    assert_ok(mxc_storage_trim(mxc_cpu(0), 0));
    return mxci_alloc_live();
}

/* Every seventh allocation in turn fails; fewer where each takes long. */
static void test_each_allocation_fails(void **state) {
    mxc_symbol *net = branched_net();
    mxc_ndarray_list params = random_params(net);
    mxc_iter *data = open_images();
    int64_t n, live, failed = 0, tried = 0;
    (void)state;
    assert_ok(quantize_once(net, &params, data));
    n = mxci_alloc_count();
    assert_ok(quantize_once(net, &params, data));
    n = mxci_alloc_count() - n;
    live = live_blocks();
    for (int64_t at = 1; at <= n; at += TEST_SANITIZED ? 293 : 7, tried++) {
        mxci_test_fail_alloc(at, 0);
        mxc_status status = quantize_once(net, &params, data);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        failed += status != MXC_OK;
        if (live_blocks() > live + 64)
            fail_msg("allocation %lld: %lld blocks more", (long long)at, (long long)(live_blocks() - live));
        assert_ok(mxc_iter_reset(data));
    }
    assert_true(failed > tried / 2);
    mxc_iter_destroy(data);
    release_made(&params);
    mxc_symbol_release(net);
}

/* ---- others' models ---------------------------------------------------------------------------------------------- */

/* Handwritten digits: a quarter of 10,000 images, calibrated on some of them. */
static void check_digits(const char *name) {
    const char *keys[] = {"image", "label", "batch_size", "num_parts"};
    const char *values[4] = {NULL, NULL, "100", TEST_SANITIZED ? "50" : "4"};
    char model[128];
    test_path prefix, image, label;
    mxc_ndarray_list params, small;
    mxc_symbol *net, *whole;
    mxc_iter *data;
    snprintf(model, sizeof model, "models/%s/%s-symbol.json", name, name);
    if (!test_data(prefix, model) || !test_data(image, "datasets/mnist/t10k-images-idx3-ubyte.gz") ||
        !test_data(label, "datasets/mnist/t10k-labels-idx1-ubyte.gz"))
        skip();
    *strstr(prefix, "-symbol.json") = '\0';
    values[0] = image;
    values[1] = label;
    assert_ok(mxc_iter_create("MNISTIter", 4, keys, values, &data));
    assert_ok(mxc_model_load(prefix, 0, &net, &params));
    whole = quantize(net, &params, MXC_CALIBRATE_ENTROPY, data, 5, NULL, &small);
    double real = accuracy(net, &params, data), found = accuracy(whole, &small, data);
    print_message("%s: %.2f%% in float32, %.2f%% in int8, %lld to %lld bytes\n", name, 100 * real, 100 * found,
                  (long long)bytes_of(&params), (long long)bytes_of(&small));
    assert_true(real > 0.98);
    assert_true(found > real - 0.005);
    mxc_ndarray_list_release(&params);
    mxc_ndarray_list_release(&small);
    mxc_symbol_release(net);
    mxc_symbol_release(whole);
    mxc_iter_destroy(data);
}

static void test_lenet(void **state) {
    (void)state;
    check_digits("mnist-lenet-2015");
}

static void test_cnn(void **state) {
    (void)state;
    check_digits("mnist-cnn-small");
}

/* Calibrated on the only images that are at hand, the ten of the expected outputs. */
static void check_resnet(const char *name) {
    char path[256];
    test_path prefix, input;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray_list params, small;
    mxc_ndarray *images;
    mxc_symbol *net, *whole;
    mxc_iter *data;
    snprintf(path, sizeof path, "models/%s/expected/in-data.npy", name);
    if (!test_data(input, path))
        skip();
    snprintf(path, sizeof path, "models/%s/%s-symbol.json", name, name);
    assert_true(test_data(prefix, path));
    *strstr(prefix, "-symbol.json") = '\0';
    options.batch_size = 5;
    assert_ok(mxc_model_load(prefix, 0, &net, &params));
    assert_ok(mxc_ndarray_load_npy(input, &images));
    assert_ok(mxc_iter_from_arrays(&options, 1, &images, 0, NULL, NULL, &data));
    whole = quantize(net, &params, MXC_CALIBRATE_MINMAX, data, 0, NULL, &small);
    double found = compare(net, &params, whole, &small, images);
    print_message("%s: outputs differ by %.2f%%\n", name, 100 * found);
    assert_true(found < 0.2);
    mxc_ndarray_release(images);
    mxc_ndarray_list_release(&params);
    mxc_ndarray_list_release(&small);
    mxc_symbol_release(net);
    mxc_symbol_release(whole);
    mxc_iter_destroy(data);
}

static void test_resnet_v1(void **state) {
    (void)state;
    check_resnet("cifar_resnet20_v1");
}

static void test_resnet_v2(void **state) {
    (void)state;
    check_resnet("cifar_resnet20_v2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trained),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_lenet),
        cmocka_unit_test(test_cnn),
        cmocka_unit_test(test_resnet_v1),
        cmocka_unit_test(test_resnet_v2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
