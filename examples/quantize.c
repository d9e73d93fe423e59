/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a small network on images in the MNIST format, quantizes it with each calibration method, and prints the test
 * accuracy, the memory of the parameters and the time:
 *
 *   quantize [DIRECTORY [EPOCHS [PREFIX]]]
 *
 * With PREFIX the last network is written to PREFIX-symbol.json and PREFIX-0000.params.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mxc/mxc.h>

static const struct {
    const char *op, *name, *keys[4], *values[4];
    int n;
} layers[] = {
    {"Convolution", "conv1", {"kernel", "num_filter", "no_bias"}, {"(5,5)", "16", "True"}, 3},
    {"BatchNorm", "bn1", {"fix_gamma"}, {"False"}, 1},
    {"Activation", "relu1", {"act_type"}, {"relu"}, 1},
    {"Pooling", "pool1", {"pool_type", "kernel", "stride"}, {"max", "(2,2)", "(2,2)"}, 3},
    {"Convolution", "conv2", {"kernel", "num_filter", "no_bias"}, {"(5,5)", "32", "True"}, 3},
    {"BatchNorm", "bn2", {"fix_gamma"}, {"False"}, 1},
    {"Activation", "relu2", {"act_type"}, {"relu"}, 1},
    {"Pooling", "pool2", {"pool_type", "kernel", "stride"}, {"max", "(2,2)", "(2,2)"}, 3},
    {"Flatten", "flat", {NULL}, {NULL}, 0},
    {"FullyConnected", "fc1", {"num_hidden"}, {"128"}, 1},
    {"Activation", "relu3", {"act_type"}, {"relu"}, 1},
    {"FullyConnected", "fc2", {"num_hidden"}, {"10"}, 1},
    {"SoftmaxOutput", "softmax", {NULL}, {NULL}, 0},
};

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "quantize: %s\n", mxc_last_error());
    exit(1);
}

static mxc_symbol *make_net(void) {
    mxc_symbol *net, *top;
    check(mxc_symbol_variable("data", &net));
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++, net = top) {
        check(mxc_symbol_op(layers[i].op, layers[i].name, layers[i].n, layers[i].keys, layers[i].values, 1, NULL, &net,
                            &top));
        mxc_symbol_release(net);
    }
    return net;
}

static mxc_iter *open_images(const char *directory, const char *set) {
    char image[512], label[512];
    const char *keys[] = {"image", "label", "batch_size"}, *values[] = {image, label, "100"};
    mxc_iter *iter;
    snprintf(image, sizeof image, "%s/%s-images-idx3-ubyte", directory, set);
    snprintf(label, sizeof label, "%s/%s-labels-idx1-ubyte", directory, set);
    check(mxc_iter_create("MNISTIter", 3, keys, values, &iter));
    return iter;
}

static double seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One line: accuracy on the images, memory of the parameters, time. */
static void report(const char *what, mxc_symbol *net, const mxc_ndarray_list *params, mxc_iter *images) {
    mxc_metric *metric;
    double bytes = 0, begin = seconds();
    check(mxc_metric_create("accuracy", 0, NULL, NULL, &metric));
    check(mxc_evaluate(net, params, images, mxc_cpu(0), 1, &metric));
    for (int64_t i = 0; i < params->n; i++)
        bytes += (double)mxc_ndarray_bytes(params->arrays[i]);
    printf("%-26s accuracy %.2f%%  parameters %7.1f KiB  %.2f s\n", what, 100 * mxc_metric_value(metric), bytes / 1024,
           seconds() - begin);
    mxc_metric_destroy(metric);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"int8, ranges of each batch", "int8, least and largest", "int8, entropy"};
    const char *directory = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
    mxc_iter *train = open_images(directory, "train"), *test = open_images(directory, "t10k");
    mxc_symbol *net = make_net();
    mxc_ndarray_list params;
    mxc_fit_options fit;
    mxc_fit_options_init(&fit, sizeof fit);
    fit.symbol = net;
    fit.train = train;
    fit.epochs = argc > 2 ? atoi(argv[2]) : 2;
    fit.learning_rate = 0.1;
    fit.show = 1; /* progress, on stderr */
    check(mxc_fit(&fit, NULL, &params));
    report("float32", net, &params, test);
    for (int kind = MXC_CALIBRATE_NONE; kind <= MXC_CALIBRATE_ENTROPY; kind++) {
        mxc_quantize_options options = MXC_QUANTIZE_OPTIONS_INIT;
        mxc_ndarray_list small_params;
        mxc_symbol *small;
        options.symbol = net;
        options.params = &params;
        options.calibration = (mxc_calibration)kind;
        options.data = train;
        options.batches = 10; /* a thousand images suffice to calibrate the ranges */
        check(mxc_quantize(&options, &small, &small_params));
        report(names[kind], small, &small_params, test);
        if (argc > 3 && kind == MXC_CALIBRATE_ENTROPY)
            check(mxc_model_save(argv[3], 0, small, small_params.n, small_params.arrays,
                                 (const char *const *)small_params.names));
        mxc_ndarray_list_release(&small_params);
        mxc_symbol_release(small);
    }
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(net);
    mxc_iter_destroy(train);
    mxc_iter_destroy(test);
    return 0;
}
