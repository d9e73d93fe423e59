/* SPDX-License-Identifier: Apache-2.0 */
/* Trains LeNet on images in the MNIST format and prints its test accuracy: minimal [DIRECTORY [EPOCHS]] */
#include <stdio.h>
#include <stdlib.h>

#include <mxc/mxc.h>

static const struct {
    const char *op, *name, *keys[3], *values[3];
    int n;
} layers[] = {
    {"Convolution", "conv1", {"kernel", "num_filter"}, {"(5,5)", "20"}, 2},
    {"Activation", "tanh1", {"act_type"}, {"tanh"}, 1},
    {"Pooling", "pool1", {"pool_type", "kernel", "stride"}, {"max", "(2,2)", "(2,2)"}, 3},
    {"Convolution", "conv2", {"kernel", "num_filter"}, {"(5,5)", "50"}, 2},
    {"Activation", "tanh2", {"act_type"}, {"tanh"}, 1},
    {"Pooling", "pool2", {"pool_type", "kernel", "stride"}, {"max", "(2,2)", "(2,2)"}, 3},
    {"FullyConnected", "fc1", {"num_hidden"}, {"500"}, 1},
    {"Activation", "tanh3", {"act_type"}, {"tanh"}, 1},
    {"FullyConnected", "fc2", {"num_hidden"}, {"10"}, 1},
    {"SoftmaxOutput", "softmax", {NULL}, {NULL}, 0}, /* its label is named "softmax_label", as in the iterator */
};

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "minimal: %s\n", mxc_last_error());
    exit(1);
}

static mxc_iter *open_images(const char *directory, const char *set) {
    char image[512], label[512];
    const char *keys[] = {"image", "label", "batch_size"}, *values[] = {image, label, "50"};
    mxc_iter *iter;
    snprintf(image, sizeof image, "%s/%s-images-idx3-ubyte", directory, set);
    snprintf(label, sizeof label, "%s/%s-labels-idx1-ubyte", directory, set);
    check(mxc_iter_create("MNISTIter", 3, keys, values, &iter));
    return iter;
}

int main(int argc, char **argv) {
    const char *directory = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
    mxc_symbol *net, *top;
    mxc_fit_options options;
    mxc_fit_progress result;
    check(mxc_symbol_variable("data", &net));
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++, net = top) {
        check(mxc_symbol_op(layers[i].op, layers[i].name, layers[i].n, layers[i].keys, layers[i].values, 1, NULL, &net,
                            &top));
        mxc_symbol_release(net);
    }
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = net;
    options.train = open_images(directory, "train");
    options.valid = open_images(directory, "t10k");
    options.epochs = argc > 2 ? atoi(argv[2]) : 5;
    options.learning_rate = 0.1;
    options.show = 1; /* progress, on stderr */
    check(mxc_fit(&options, &result, NULL));
    printf("Test accuracy %.2f%%\n", 100 * result.valid_accuracy);
    mxc_symbol_release(net);
    mxc_iter_destroy(options.train);
    mxc_iter_destroy(options.valid);
    return 0;
}
