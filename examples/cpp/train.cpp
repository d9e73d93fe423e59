/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a small convolutional network on images in the MNIST format, in C++: train [DIRECTORY [EPOCHS]]. Prints the
 * accuracy on the test images after each epoch, and then what the network makes of the first of them.
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <mxc/mxc.hpp>

using mxc::symbol;
namespace op = mxc::op;

static symbol make_network() {
    op::Pooling_settings halve;
    halve.kernel = {2, 2};
    halve.stride = {2, 2};
    symbol x = mxc::variable("data");
    x = op::Pooling(op::relu(op::Convolution(x, {{5, 5}, 8}, "conv1")), halve);
    x = op::Pooling(op::relu(op::Convolution(x, {{5, 5}, 16}, "conv2")), halve);
    x = op::relu(op::FullyConnected(x, {64}, "fc1"));
    return op::SoftmaxOutput(op::FullyConnected(x, {10}, "fc2"), {}, "softmax");
}

static mxc::iterator open_images(const std::string &directory, const char *set) {
    std::string prefix = directory + "/" + set;
    std::string images = prefix + "-images-idx3-ubyte", labels = prefix + "-labels-idx1-ubyte";
    return mxc::iterator("MNISTIter", {{"image", images}, {"label", labels}, {"batch_size", 100}});
}

static void train(const std::string &directory, int epochs) {
    symbol network = make_network();
    mxc::iterator images = open_images(directory, "train"), tests = open_images(directory, "t10k");
    mxc::metric accuracy("accuracy");
    mxc::fit_options options;
    options.epochs = epochs;
    options.learning_rate = 0.05;
    options.set_optimizer("sgd", {{"momentum", 0.9}});
    options.set_metrics({&accuracy});
    options.on_progress = [](const mxc_fit_progress &progress, bool epoch_end) {
        if (epoch_end)
            std::printf("epoch %d: test accuracy %.2f%%\n", int(progress.epoch) + 1, 100 * progress.valid_accuracy);
    };
    mxc::fit_result result = mxc::fit(network, images, options, &tests);

    mxc::predictor predictor = mxc::predictor::create(network, result.params, {{"data", {100, 1, 28, 28}}});
    for (const mxc::batch &batch : tests) {
        int64_t best[1];
        float probability[1];
        predictor.set_input("data", batch.data());
        predictor.forward();
        mxc::top_classes(predictor.output(), 0, best, probability);
        std::printf("first image: class %d (%.2f), label %d\n", int(best[0]), probability[0],
                    int(batch.label().to_vector<float>()[0]));
        break;
    }
}

int main(int argc, char **argv) {
    try {
        train(argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist", argc > 2 ? std::atoi(argv[2]) : 5);
        return 0;
    } catch (const std::exception &e) { /* mxc::error, with the library's message */
        std::fprintf(stderr, "train: %s\n", e.what());
        return 1;
    }
}
