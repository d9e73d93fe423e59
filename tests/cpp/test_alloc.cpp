/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of mxc/mxc.hpp allocate nothing of their own in calls that a program makes again and again. */
#include "cpp_support.hpp"

#include <atomic>
#include <cstdlib>

using mxc::ndarray;
namespace op = mxc::op;

/* Counts what C++ allocates; the library, which is C, does so by malloc. */
static std::atomic<long> allocations;

static void *count_allocation(size_t bytes) {
    allocations++;
    if (void *block = malloc(bytes ? bytes : 1))
        return block;
    throw std::bad_alloc();
}
void *operator new(size_t bytes) {
    return count_allocation(bytes);
}
void *operator new[](size_t bytes) {
    return count_allocation(bytes);
}
void operator delete(void *block) noexcept {
    free(block);
}
void operator delete[](void *block) noexcept {
    free(block);
}
void operator delete(void *block, size_t) noexcept {
    free(block);
}
void operator delete[](void *block, size_t) noexcept {
    free(block);
}

/* How many allocations so many calls make. */
template <class Function> static long count(Function &&function) {
    enum { CALLS = 100 };
    long before = allocations;
    for (int i = 0; i < CALLS; i++)
        function();
    return allocations - before;
}

static void counts() {
    assert_int_equal(count([] {
                         int *volatile kept = new int; /* which a compiler may leave out otherwise */
                         delete kept;
                     }),
                     100);
    assert_int_equal(count([] { ndarray::ones({2}).to_vector<float>(); }), 100);
}

static void calls_allocate_nothing() {
    ndarray a = ndarray::ones({4, 4}), b = ndarray::ones({4, 4}), y = ndarray::empty({4, 4}), bias = ndarray::ones({4});
    ndarray image = ndarray::ones({1, 2, 8, 8}), weight = ndarray::ones({3, 2, 3, 3}), three = ndarray::ones({3});
    ndarray gamma = ndarray::ones({2}), beta = ndarray::zeros({2}), mean = ndarray::zeros({2}),
            var = ndarray::ones({2});
    float numbers[16];
    assert_int_equal(count([&] { a + b; }), 0);
    assert_int_equal(count([&] { (2 * a - b) / 3; }), 0);
    assert_int_equal(count([&] { y += a; }), 0);
    assert_int_equal(count([&] { op::FullyConnected(a, b, bias, {4}); }), 0);
    assert_int_equal(count([&] {
                         op::Convolution_settings settings{{3, 3}, 3};
                         settings.pad = {1, 1};
                         settings.layout = "NCHW";
                         op::Convolution(image, weight, three, settings);
                     }),
                     0);
    assert_int_equal(count([&] { op::BatchNorm(image, gamma, beta, mean, var, {1e-5}); }), 0);
    assert_int_equal(count([&] { op::SliceChannel(a, {4}); }), 0);
    assert_int_equal(count([&] { op::Concat({a, b, y}, {0}); }), 0);
    assert_int_equal(count([&] { op::dot(mxc::into(y), a, b); }), 0);
    assert_int_equal(count([&] { mxc::invoke("sum", {a}, {{"axis", 0}, {"keepdims", true}}); }), 0);
    mxc::operation sum("sum", {{"axis", 0}});
    assert_int_equal(count([&] { sum.call({a}); }), 0);
    assert_int_equal(count([&] {
                         y.set(mxc::span<const float>(numbers));
                         y.get_data(numbers);
                     }),
                     0);
    assert_int_equal(count([&] { ndarray::zeros({2, 2})[0].reshape({2, 1}); }), 0);
    mxc::wait_all();
}

static void training_allocates_nothing() {
    ndarray w = ndarray::ones({4, 4}), x = ndarray::ones({2, 4}), label = ndarray::zeros({2});
    mxc::optimizer sgd("sgd", {{"learning_rate", 0.1}, {"momentum", 0.9}});
    w.attach_grad();
    assert_int_equal(count([&] {
                         ndarray loss;
                         {
                             mxc::record_scope record;
                             loss = op::SoftmaxOutput(op::dot(x, w), label);
                         }
                         loss.backward();
                         sgd.update("w", w, w.grad());
                     }),
                     0);
    mxc::symbol net = op::SoftmaxOutput(op::FullyConnected(mxc::variable("data"), {8}, "fc"), {}, "softmax");
    mxc::executor executor = mxc::executor::simple_bind(net, {{"data", {2, 4}}}, MXC_REQ_WRITE);
    assert_int_equal(count([&] {
                         x.copy_to(executor.find_arg("data"));
                         executor.forward(true);
                         executor.backward();
                         executor.output().wait_to_read();
                     }),
                     0);
}

static void prediction_allocates_nothing() {
    mxc::symbol net = op::FullyConnected(mxc::variable("data"), {3}, "fc");
    mxc::array_list params = [] {
        test_path folder;
        std::string path = std::string(test_temp_dir(folder)) + "/p";
        mxc::save(path, {ndarray::ones({3, 4}), ndarray::zeros({3})}, {"arg:fc_weight", "arg:fc_bias"});
        mxc::array_list list = mxc::array_list::load(path);
        test_remove_dir(folder);
        return list;
    }();
    mxc::predictor predictor = mxc::predictor::create(net, params, {{"data", {2, 4}}});
    std::array<float, 8> in = {1, 2, 3, 4, 5, 6, 7, 8};
    std::array<float, 6> out;
    assert_int_equal(count([&] {
                         predictor.set_input("data", mxc::span<const float>(in));
                         predictor.forward();
                         predictor.get_output(0, mxc::span<float>(out));
                     }),
                     0);
    assert_true(out[0] == 10 && out[5] == 26);
    ndarray rows = ndarray::ones({6, 4});
    mxc::iterator iterator = mxc::iterator::from({rows}, {}, mxc::array_iter_options(2));
    assert_int_equal(count([&] {
                         for (const mxc::batch &batch : iterator)
                             predictor.set_input(0, batch.data());
                     }),
                     0);
}

int main() {
    const struct CMUnitTest tests[] = {
        CPP_TEST(counts),
        CPP_TEST(calls_allocate_nothing),
        CPP_TEST(training_allocates_nothing),
        CPP_TEST(prediction_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
