/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, operators on them, gradients, and errors through mxc/mxc.hpp. */
#include "cpp_support.hpp"

#include <cmath>
#include <stdexcept>

using mxc::ndarray;
namespace op = mxc::op;

static void makes_arrays() {
    std::vector<float> six = {1, 2, 3, 4, 5, 6};
    const int32_t plain[] = {7, 8};
    ndarray a = ndarray::from(six, {2, 3});
    assert_true(a.shape() == (mxc::shape{2, 3}));
    assert_true(a.shape() != (mxc::shape{3, 2}));
    assert_int_equal(a.ndim(), 2);
    assert_int_equal(a.size(), 6);
    assert_int_equal(a.bytes(), 24);
    assert_int_equal(a.dtype(), MXC_F32);
    assert_true(a.context() == mxc::cpu());
    assert_true(a.context() != mxc::gpu(1));
    assert_elements<float>(a, {1, 2, 3, 4, 5, 6});
    assert_elements<int32_t>(ndarray::from(plain), {7, 8});
    assert_elements<double>(ndarray::from({0.5, 1.5}), {0.5, 1.5});
    assert_elements<int64_t>(ndarray::full({2}, 3, MXC_I64), {3, 3});
    assert_elements<float>(a[1], {4, 5, 6});
    assert_elements<float>(a.slice(0, 1), {1, 2, 3});
    assert_elements<float>(a.reshape({-1}), {1, 2, 3, 4, 5, 6});
    assert_elements<int32_t>(a.as_type(MXC_I32), {1, 2, 3, 4, 5, 6});
    assert_true(a[0].copy().data<float>()[2] == 3);
    assert_true(ndarray::full({1}, 2.5).item<float>() == 2.5f);
    assert_non_null(strstr(a.str().c_str(), "(2,3) float32"));
    a.set({6.f, 5.f, 4.f, 3.f, 2.f, 1.f});
    std::array<float, 6> out;
    a.get_data(out);
    assert_true(out[0] == 6 && out[5] == 1);
    ndarray uniform = ndarray::uniform({100}, 2, 3);
    for (float x : uniform.to_vector<float>())
        assert_true(x >= 2 && x < 3);
}

static void moves_and_shares() {
    ndarray a = ndarray::ones({2}), same = a, none;
    same.fill(2);
    assert_elements<float>(a, {2, 2});
    ndarray taken = std::move(same);
    assert_false(same); // NOLINT: moved-from objects are without an array
    assert_true(taken.get() == a.get());
    taken = taken.copy();
    taken.fill(5);
    assert_elements<float>(a, {2, 2});
    ndarray &self = a;
    a = self;
    a = std::move(self);
    assert_elements<float>(a, {2, 2});
    a = none;
    assert_false(a);
    mxc_ndarray *raw = taken.release();
    assert_false(taken);
    taken = ndarray::adopt(raw);
    std::vector<ndarray> many(3, taken);
    many.clear();
    assert_elements<float>(taken, {5, 5});
}

static void wraps_memory() {
    static int released;
    float numbers[2] = {1, 2};
    {
        ndarray a = ndarray::wrap(mxc::span<float>(numbers), {2}, [](void *) { released++; });
        a.fill(3);
        a.wait_to_write();
        ndarray vector = ndarray::wrap(std::vector<double>{4, 5, 6}, {3});
        assert_elements<double>(vector + 1, {5, 6, 7});
    }
    mxc::wait_all();
    assert_int_equal(released, 1);
    assert_true(numbers[1] == 3);
}

static void reports_errors() {
    ndarray a = ndarray::ones({2, 3});
    assert_throws(MXC_ESHAPE, "broadcast_add", [&] { a + ndarray::ones({4}); });
    assert_throws(MXC_EDTYPE, "expected float64, found an array of float32", [&] { a.to_vector<double>(); });
    assert_throws(MXC_ESHAPE, "6 elements: found 2", [] { ndarray::from({1.f, 2.f}, {2, 3}); });
    assert_throws(MXC_EINVAL, "argument 'rhs' is NULL", [&] { a + ndarray(); });
    assert_throws(MXC_EINVAL, "without an array", [] { ndarray().shape(); });
    assert_throws(MXC_EINVAL, "shape", [] { mxc::shape{-2}; });
    assert_throws(MXC_ENOTFOUND, "no_such_operator", [&] { mxc::invoke("no_such_operator", {a}); });
    assert_throws(MXC_EINVAL, "act_type", [&] { op::Activation(a, {"rely"}); });
    assert_throws(MXC_EINVAL, "17", [&] { mxc::tuple{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; });
    assert_throws(MXC_EINVAL, "17", [&] { op::transpose(a, {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}); });
    assert_throws(MXC_ENOTFOUND, "/nowhere", [] { mxc::array_list::load("/nowhere"); });
    assert_throws(MXC_EINVAL, "context", [] { mxc::context::parse("tpu(0)"); });
    try {
        a + ndarray::ones({4});
        fail();
    } catch (const std::exception &e) { /* as any exception of the standard library's kind */
        const auto &error = dynamic_cast<const mxc::error &>(e);
        assert_string_equal(error.status_name(), "MXC_ESHAPE");
        assert_non_null(strchr(error.place(), ':'));
    }
    assert_int_equal(mxc::guard([] { throw std::runtime_error("mine"); }), MXC_EUSER);
    assert_string_equal(mxc_last_error(), "mine");
    assert_int_equal(mxc::guard([] { throw 1; }), MXC_EUSER);
    assert_int_equal(mxc::guard([] { throw std::bad_alloc(); }), MXC_ENOMEM);
    assert_int_equal(mxc::guard([] {}), MXC_OK);
}

static void computes() {
    ndarray a = ndarray::from({1.f, 2.f}), b = ndarray::from({10.f, 20.f});
    assert_elements<float>(a + b, {11, 22});
    assert_elements<float>(a - b, {-9, -18});
    assert_elements<float>(a * b, {10, 40});
    assert_elements<float>(b / a, {10, 10});
    assert_elements<float>(2 * a + 1, {3, 5});
    assert_elements<float>(1 - a / 2, {0.5f, 0});
    assert_elements<float>(-(4 / a) - 0.5 + (0.25 + a * 2), {-2.25f, 1.75f});
    a += b;
    a -= 1;
    a *= 2;
    a /= ndarray::from({2.f, 4.f});
    assert_elements<float>(a, {10, 10.5f});
    (a -= ndarray(a)) += 1;
    (a *= b) /= 10;
    assert_elements<float>(a, {1, 2});
    assert_elements<float>(a + 1e-3 * ndarray::ones({2}) * 1000, {2, 3});
}

static void calls_operators() {
    ndarray x = ndarray::from({1.f, -2.f, 3.f, -4.f}, {2, 2}), w = ndarray::ones({3, 2}), bias = ndarray::full({3}, 1);
    assert_elements<float>(op::relu(x), {1, 0, 3, 0});
    assert_elements<float>(op::FullyConnected(x, w, bias, {3}), {0, 0, 0, 0, 0, 0});
    op::FullyConnected_settings settings{3};
    settings.no_bias = true;
    assert_elements<float>(op::FullyConnected(x, w, {}, settings), {-1, -1, -1, -1, -1, -1});
    assert_elements<float>(op::transpose(x), {1, 3, -2, -4});
    assert_elements<float>(op::transpose(x, {{1, 0}}), {1, 3, -2, -4});
    assert_elements<float>(op::slice(x, {{mxc::none, 1}, {mxc::none, 2}}), {-2, -4});
    assert_elements<float>(op::slice_axis(x, {1, 0, 1}), {1, 3});
    assert_elements<float>(op::slice_axis(x, {0, 1, std::nullopt}), {3, -4});
    assert_elements<float>(op::Concat({x, x}, {0}), {1, -2, 3, -4, 1, -2, 3, -4});
    assert_elements<float>(op::Concat({x, x}), {1, -2, 1, -2, 3, -4, 3, -4});
    assert_elements<float>(op::add_n({x, x, x}), {3, -6, 9, -12});
    assert_elements<float>(op::Activation(x, {std::string("relu")}), {1, 0, 3, 0});
    assert_elements<float>(op::sum(x), {-2});
    assert_elements<float>(op::zeros({{2}}), {0, 0});
    assert_elements<int32_t>(op::Cast(x, {MXC_I32}), {1, -2, 3, -4});
    op::full_settings full{0.125};
    full.shape = {2};
    assert_elements<float>(op::full(full), {0.125f, 0.125f});
    ndarray y = ndarray::empty({2, 2}), row = ndarray::empty({2});
    op::relu(mxc::into(y), x);
    assert_elements<float>(y, {1, 0, 3, 0});
    op::ones(mxc::into(row), {{2}});
    op::stack(mxc::into(y), {row, row});
    op::elemwise_add(mxc::into(row), row, row);
    assert_elements<float>(row, {2, 2});
}

static void returns_results() {
    ndarray x = ndarray::from({3.f, 1.f, 2.f});
    mxc::results parts = op::SliceChannel(x, {3, 0});
    assert_int_equal(parts.size(), 3);
    assert_elements<float>(parts[2], {2});
    assert_elements<float>(parts[0] + parts[1], {4});
    op::topk_settings top;
    top.k = 2;
    top.ret_typ = "both";
    mxc::results both = op::topk(x, top);
    assert_int_equal(both.size(), 2);
    assert_elements<float>(both[0], {3, 2});
    assert_elements<float>(both[1], {0, 2});
    assert_elements<float>(op::relu(op::topk(x)), {0});
    ndarray many = ndarray::ones({20});
    mxc::results twenty = op::SliceChannel(many, {20, 0}), moved = std::move(twenty);
    assert_int_equal(moved.size(), 20);
    assert_elements<float>(moved[19], {1});
    ndarray values = ndarray::empty({2}), places = ndarray::empty({2});
    op::topk(mxc::into({values, places}), x, top);
    assert_elements<float>(places, {0, 2});
    ndarray gamma = ndarray::ones({3}), beta = ndarray::zeros({3});
    ndarray norm = op::LayerNorm(x, gamma, beta);
    assert_true(std::fabs(norm.to_vector<float>()[0] - 1.22474f) < 1e-4f);
}

static void calls_by_name() {
    ndarray a = ndarray::from({1.f, 2.f, 3.f, 4.f}, {2, 2}), out = ndarray::empty({2, 2});
    assert_elements<float>(mxc::invoke("dot", {a, a}, {{"transpose_b", true}}), {5, 11, 11, 25});
    mxc::invoke_into("dot", mxc::into(out), {a, a});
    assert_elements<float>(out, {7, 10, 15, 22});
    assert_elements<float>(mxc::invoke("_plus_scalar", {a}, {{"scalar", 0.5}}), {1.5f, 2.5f, 3.5f, 4.5f});
    assert_elements<float>(mxc::invoke("sum", {a}, {{"axis", 0}, {"keepdims", "False"}}), {4, 6});
    mxc::operation sum("sum", {{"axis", 1}}), dot{op::dot_settings()}, copy = sum;
    assert_elements<float>(sum({a}), {3, 7});
    assert_elements<float>(copy.call({a}), {3, 7});
    dot.call(mxc::into(out), {a, a});
    assert_elements<float>(out, {7, 10, 15, 22});
    assert_string_equal(dot.name(), "dot");
    assert_int_equal(dot.n_args(), 2);
    assert_throws(MXC_EINVAL, "without an array", [&] { dot.call(mxc::into(ndarray()), {a, a}); });
}

/* Every kind of setting arrives as it was given. */
static void writes_settings() {
    op::clip_settings clip{-1.5, 1e-30};
    mxc::operation made(clip);
    const char *key, *value;
    mxc_op_given(made.get(), 0, &key, &value);
    assert_string_equal(key, "a_min");
    assert_true(strtod(value, nullptr) == -1.5);
    mxc_op_given(made.get(), 1, &key, &value);
    assert_true(strtod(value, nullptr) == 1e-30);
    op::Pooling_settings pooling;
    pooling.kernel = {3, 3};
    pooling.pool_type = "avg";
    pooling.count_include_pad = false;
    pooling.stride = mxc::tuple{1, 1};
    made = mxc::operation(pooling);
    assert_int_equal(mxc_op_n_given(made.get()), 4);
    made = mxc::operation(op::Activation_settings{"relu"});
    assert_int_equal(mxc_op_n_given(made.get()), 1);
    made = mxc::operation(op::softmax_settings());
    assert_int_equal(mxc_op_n_given(made.get()), 0);
    std::vector<int64_t> sizes = {2, 3};
    made = mxc::operation(op::Reshape_settings{mxc::tuple(mxc::span<const int64_t>(sizes))});
    mxc_op_given(made.get(), 0, &key, &value);
    assert_string_equal(key, "shape");
    op::contrib_MultiBoxPrior_settings boxes;
    std::vector<double> ratios(64, 1.0 / 3);
    boxes.ratios = mxc::floats(mxc::span<const double>(ratios));
    made = mxc::operation(boxes);
    mxc_op_given(made.get(), 0, &key, &value);
    assert_string_equal(key, "ratios");
    assert_throws(MXC_EINVAL, "65", [&] {
        std::vector<double> many(65);
        mxc::floats list{mxc::span<const double>(many)};
    });
}

static void computes_gradients() {
    ndarray x = ndarray::from({1.f, 2.f, 3.f}), loss;
    x.attach_grad();
    assert_false(mxc::is_recording());
    {
        mxc::record_scope record;
        assert_true(mxc::is_recording() && mxc::is_training());
        loss = op::sum(x * x);
        mxc::pause_scope pause;
        assert_false(mxc::is_recording());
    }
    loss.backward();
    assert_elements<float>(x.grad(), {2, 4, 6});
    {
        mxc::record_scope record(false);
        loss = x * 3;
    }
    mxc::results grads = mxc::gradients({loss}, {x}, {ndarray::from({1.f, 10.f, 100.f})}, true);
    assert_elements<float>(grads[0], {3, 30, 300});
    mxc::symbol symbol = mxc::recorded_symbol({loss}, {x}, {"x"});
    assert_string_equal(symbol.arguments()[0], "x");
    mxc::backward({loss});
    assert_elements<float>(x.grad(), {3, 3, 3});
    assert_throws(MXC_ESTATE, "", [&] { loss.backward(); });
    assert_elements<float>(x.detach(), {1, 2, 3});
    {
        mxc::train_scope train;
        assert_true(mxc::is_training());
    }
    assert_false(mxc::is_training());
}

static void records_functions() {
    ndarray x = ndarray::from({1.f, 4.f}), y, kept;
    auto count = std::make_shared<int>(0);
    x.attach_grad();
    auto record = [&](bool fails) {
        mxc::record_scope scope;
        {
            mxc::pause_scope pause;
            y = op::sqrt(x);
        }
        mxc::record_function("root", {x}, {y},
                             [count, fails, y](mxc::span<const ndarray> out, mxc::span<const ndarray> in) {
                                 ++*count;
                                 if (fails)
                                     throw std::runtime_error("no gradient today");
                                 op::elemwise_div(mxc::into(in[0]), out[0], y * 2);
                             });
    };
    record(false);
    y.backward();
    assert_elements<float>(x.grad(), {0.5f, 0.25f});
    record(true);
    assert_throws(MXC_EUSER, "no gradient today", [&] { y.backward(); });
    y = ndarray();
    x = ndarray();
    assert_int_equal(*count, 2);
    assert_int_equal(count.use_count(), 1);
}

static void caches_operators() {
    mxc::symbol a = mxc::variable("a"), b = mxc::variable("b");
    mxc::cached_op cached(a * b + 1);
    ndarray x = ndarray::from({1.f, 2.f}), y = ndarray::from({3.f, 4.f}), z;
    x.attach_grad();
    {
        mxc::record_scope record;
        z = cached({x, y});
    }
    assert_elements<float>(z, {4, 9});
    z.backward();
    assert_elements<float>(x.grad(), {3, 4});
    assert_throws(MXC_EINVAL, "", [&] { cached({x}); });
}

static void keeps_files() {
    test_path folder;
    std::string path = std::string(test_temp_dir(folder)) + "/a";
    ndarray a = ndarray::from({1.f, 2.f}), b = ndarray::from({3.f});
    mxc::save(path, {a, b}, {"a", "b"});
    mxc::array_list list = mxc::array_list::load(path);
    assert_int_equal(list.size(), 2);
    assert_string_equal(list.name(1), "b");
    assert_elements<float>(list.find("a"), {1, 2});
    assert_false(list.find("c"));
    list.save_npz(path);
    mxc::array_list moved = std::move(list);
    moved = mxc::array_list::load_npz(path);
    assert_elements<float>(moved[1], {3});
    b.save_npy(path);
    assert_elements<float>(ndarray::load_npy(path), {3});
    assert_throws(MXC_EINVAL, "expected 2 names, found 1", [&] { mxc::save(path, {a, b}, {"a"}); });
    ndarray back = ndarray::from_dlpack(a.to_dlpack()), again = ndarray::from_dlpack(a.to_dlpack_versioned());
    back.fill(7);
    assert_elements<float>(again, {7, 7});
    test_remove_dir(folder);
}

int main() {
    const struct CMUnitTest tests[] = {
        CPP_TEST(makes_arrays),       CPP_TEST(moves_and_shares),  CPP_TEST(wraps_memory),
        CPP_TEST(reports_errors),     CPP_TEST(computes),          CPP_TEST(calls_operators),
        CPP_TEST(returns_results),    CPP_TEST(calls_by_name),     CPP_TEST(writes_settings),
        CPP_TEST(computes_gradients), CPP_TEST(records_functions), CPP_TEST(caches_operators),
        CPP_TEST(keeps_files),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
