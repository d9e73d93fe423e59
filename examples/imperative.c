/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a perceptron on images in the MNIST format without a symbol: calls on arrays are recorded, backward computes
 * their gradients, an optimizer updates the weights. Prints the accuracy on the test images:
 * imperative [DIRECTORY [EPOCHS]]
 */
#include <stdio.h>
#include <stdlib.h>

#include <mxc/mxc.h>

enum { BATCH = 100, PIXELS = 784, UNITS = 128, CLASSES = 10 };

static const char *const names[] = {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"};

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "imperative: %s\n", mxc_last_error());
    exit(1);
}

static mxc_iter *open_images(const char *directory, const char *set) {
    char image[512], label[512], batch[16];
    const char *keys[] = {"image", "label", "batch_size", "flat"}, *values[] = {image, label, batch, "True"};
    mxc_iter *iter;
    snprintf(image, sizeof image, "%s/%s-images-idx3-ubyte", directory, set);
    snprintf(label, sizeof label, "%s/%s-labels-idx1-ubyte", directory, set);
    snprintf(batch, sizeof batch, "%d", BATCH);
    check(mxc_iter_create("MNISTIter", 4, keys, values, &iter));
    return iter;
}

/* A parameter of small random numbers, with a gradient. */
static mxc_ndarray *make_parameter(int ndim, const int64_t *dims, double deviation) {
    mxc_ndarray *out;
    check(mxc_ndarray_create(ndim, dims, MXC_F32, mxc_cpu(0), &out));
    check(deviation > 0 ? mxc_ndarray_fill_normal(out, 0, deviation) : mxc_ndarray_fill(out, 0));
    check(mxc_autograd_attach(out, MXC_REQ_WRITE, NULL));
    return out;
}

static mxc_ndarray *fully_connected(mxc_ndarray *x, mxc_ndarray *weight, mxc_ndarray *bias, const char *units) {
    const char *key = "num_hidden";
    mxc_ndarray *in[] = {x, weight, bias}, *out;
    check(mxc_invoke("FullyConnected", 3, in, 1, &key, &units, 1, &out));
    return out;
}

/* The scores of a batch. params: two weights, each with its bias. */
static mxc_ndarray *predict(mxc_ndarray *const *params, mxc_ndarray *x) {
    mxc_ndarray *hidden = fully_connected(x, params[0], params[1], "128"), *active, *out;
    check(mxc_invoke("relu", 1, &hidden, 0, NULL, NULL, 1, &active));
    out = fully_connected(active, params[2], params[3], "10");
    mxc_ndarray_release(hidden);
    mxc_ndarray_release(active);
    return out;
}

static void train_batch(mxc_ndarray *const *params, mxc_optimizer *optimizer, mxc_ndarray *x, mxc_ndarray *label) {
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *scores = predict(params, x), *in[] = {scores, label}, *loss;
    check(mxc_invoke("SoftmaxOutput", 2, in, 0, NULL, NULL, 1, &loss));
    mxc_autograd_leave(scope);
    check(mxc_autograd_backward(1, &loss, NULL, NULL));
    for (int i = 0; i < 4; i++)
        check(mxc_optimizer_update(optimizer, names[i], params[i], mxc_autograd_grad(params[i])));
    mxc_ndarray_release(scores);
    mxc_ndarray_release(loss);
}

static int count_correct(mxc_ndarray *const *params, mxc_ndarray *x, mxc_ndarray *label, int n) {
    const char *key = "axis", *axis = "1";
    float found[BATCH], expected[BATCH];
    int correct = 0;
    mxc_ndarray *scores = predict(params, x), *best;
    check(mxc_invoke("argmax", 1, &scores, 1, &key, &axis, 1, &best));
    check(mxc_ndarray_get(best, found, sizeof found));
    check(mxc_ndarray_get(label, expected, sizeof expected));
    for (int i = 0; i < n; i++)
        correct += found[i] == expected[i];
    mxc_ndarray_release(scores);
    mxc_ndarray_release(best);
    return correct;
}

int main(int argc, char **argv) {
    static const int64_t dims[4][2] = {{UNITS, PIXELS}, {UNITS}, {CLASSES, UNITS}, {CLASSES}};
    const char *keys[] = {"learning_rate", "momentum", "rescale_grad"}, *values[] = {"0.1", "0.9", "0.01"};
    const char *directory = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
    const int epochs = argc > 2 ? atoi(argv[2]) : 5;
    mxc_iter *train = open_images(directory, "train"), *test = open_images(directory, "t10k");
    mxc_ndarray *params[4];
    mxc_optimizer *optimizer;
    mxc_batch batch;
    int correct = 0, n = 0;
    for (int i = 0; i < 4; i++)
        params[i] = make_parameter(i % 2 ? 1 : 2, dims[i], i % 2 ? 0 : i ? 0.1 : 0.05);
    check(mxc_optimizer_create("sgd", 3, keys, values, &optimizer));
    for (int epoch = 0; epoch < epochs; epoch++) {
        for (check(mxc_iter_next(train, &batch)); batch.n_data; check(mxc_iter_next(train, &batch)))
            train_batch(params, optimizer, batch.data[0], batch.label[0]);
        check(mxc_iter_reset(train));
    }
    for (check(mxc_iter_next(test, &batch)); batch.n_data; check(mxc_iter_next(test, &batch))) {
        correct += count_correct(params, batch.data[0], batch.label[0], (int)(BATCH - batch.pad));
        n += (int)(BATCH - batch.pad);
    }
    printf("Test accuracy %.2f%%\n", 100.0 * correct / n);
    for (int i = 0; i < 4; i++)
        mxc_ndarray_release(params[i]);
    mxc_optimizer_destroy(optimizer);
    mxc_iter_destroy(train);
    mxc_iter_destroy(test);
    return 0;
}
