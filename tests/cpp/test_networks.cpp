/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols, executors, iterators, training, prediction and the engine through mxc/mxc.hpp. */
#include "cpp_support.hpp"

#include <atomic>
#include <stdexcept>

using mxc::ndarray;
using mxc::symbol;
namespace op = mxc::op;

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

static void assert_names(const mxc::names &found, std::initializer_list<const char *> expected) {
    assert_int_equal(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); i++)
        assert_string_equal(found[i], expected.begin()[i]);
}

static symbol perceptron() {
    symbol data = mxc::variable("data");
    symbol hidden = op::relu(op::FullyConnected(data, {8}, "fc1"), "relu1");
    return op::SoftmaxOutput(op::FullyConnected(hidden, {2}, "fc2"), {}, "softmax");
}

static void makes_symbols() {
    symbol net = perceptron(), x = mxc::variable("x"), w = mxc::variable("w");
    assert_names(net.arguments(), {"data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "softmax_label"});
    assert_names(net.outputs(), {"softmax_output"});
    assert_int_equal(net.arguments().find("fc2_bias"), 4);
    assert_string_equal(net.name(), "softmax");
    assert_string_equal(net.internals()["fc1_output"].name(), "fc1");
    assert_string_equal(net[0].name(), "softmax");
    assert_true(net.children().n_outputs() == 2);
    mxc::inferred shapes = net.infer({{"data", {4, 3}, MXC_F32}});
    assert_true(shapes.complete());
    assert_true(mxc::shape(shapes.arg_shapes()[1]) == (mxc::shape{8, 3}));
    assert_true(mxc::shape(shapes.output_shapes()[0]) == (mxc::shape{4, 2}));
    assert_int_equal(shapes.arg_types()[0], MXC_F32);
    symbol again = symbol::from_json(net.to_json());
    assert_string_equal(again.to_json().c_str(), net.to_json().c_str());
    assert_non_null(strstr(net.str().c_str(), "num_hidden=8"));
    assert_non_null(strstr(net.to_dot({{"data", {4, 3}}}).c_str(), "digraph"));
    /* An input that is given in place of a variable, and one of a gap. */
    assert_names(op::FullyConnected(x, w, {}, {4}, "fc").arguments(), {"x", "w", "fc_bias"});
    assert_names(op::FullyConnected(x, {}, w, {4}, "fc").arguments(), {"x", "fc_weight", "w"});
    assert_names(op::BatchNorm(x, {}, "bn").aux(), {"bn_moving_mean", "bn_moving_var"});
    assert_names(op::Concat({x, w}, {0}, "c").arguments(), {"x", "w"});
    assert_names(mxc::group({x * 2 + w, 1 - x / w}).arguments(), {"x", "w"});
    assert_names(op::zeros(mxc::as_symbol, {{2}}, "z").outputs(), {"z_output"});
    assert_names(mxc::apply("dot", {x, w}, {{"transpose_b", true}}, "d").outputs(), {"d_output"});
    symbol composed = op::relu(x, "r");
    composed.compose("", {"x"}, {w});
    assert_names(composed.arguments(), {"w"});
    {
        mxc::attr_scope scope({{"ctx_group", "first"}});
        x = mxc::variable("placed");
    }
    assert_string_equal(x.attr("ctx_group"), "first");
    x.set_attr("lr_mult", "2");
    assert_string_equal(x.copy().attr("lr_mult"), "2");
    assert_null(x.attr("absent"));
    assert_throws(MXC_ENOTFOUND, "", [&] { net["absent"]; });
    assert_throws(MXC_ESHAPE, "fc1", [&] { net.infer({{"data", {4, 3}}, {"fc1_weight", {8, 4}}}); });
}

static void makes_control_flow() {
    symbol row = mxc::variable("row"), state = mxc::variable("state"), sum = row + state;
    symbol scan = mxc::foreach (mxc::group({sum, sum * 1}), {"row"}, {mxc::variable("rows")}, {"state"},
                                {mxc::variable("start")});
    mxc::executor e = mxc::executor::simple_bind(scan, {{"rows", {3, 1}}, {"start", {1}}});
    e.find_arg("rows").set({1.f, 2.f, 3.f});
    e.forward();
    assert_elements<float>(e.output(0), {1, 3, 6});
    assert_elements<float>(e.output(1), {6});
    symbol i = mxc::variable("i");
    symbol loop =
        mxc::while_loop(op::lesser_scalar(i, {3}), mxc::group({i * 2, i + 1}), {"i"}, {mxc::variable("n")}, 5);
    e = mxc::executor::simple_bind(loop, {{"n", {1}}});
    e.forward();
    assert_elements<float>(e.output(0), {0, 2, 4, 0, 0});
    symbol c = mxc::cond(mxc::variable("c"), i * 2, i * 3);
    e = mxc::executor::simple_bind(c, {{"c", {1}}, {"i", {1}}});
    e.find_arg("i").fill(1);
    e.forward();
    assert_elements<float>(e.output(), {3});
}

static void runs_executors() {
    symbol x = mxc::variable("x"), w = mxc::variable("w"), y = x * w;
    ndarray a = ndarray::from({1.f, 2.f}), b = ndarray::from({3.f, 4.f}), ga = ndarray::zeros({2}),
            gb = ndarray::zeros({2}), ones = ndarray::ones({2});
    mxc::executor e = mxc::executor::bind(y, {a, b}, {ga, gb}), other;
    e.forward(true);
    e.backward({ones});
    assert_elements<float>(e.output(), {3, 8});
    assert_elements<float>(gb, {1, 2});
    assert_true(e.find_grad("w").get() == gb.get());
    assert_string_equal(e.arg_names()[1], "w");
    assert_string_equal(e.symbol().name(), y.name());
    assert_false(e.output(1));
    assert_false(e.find_arg("absent"));
    assert_throws(MXC_EINVAL, "expected 2 entries, found 1", [&] { mxc::executor::bind(y, {a}); });
    std::atomic<int> seen(0);
    e.set_monitor([&](const char *, const ndarray &array) {
        seen += int(array.size());
        throw std::runtime_error("dropped");
    });
    other = std::move(e);
    other.forward();
    other.output().wait_to_read();
    assert_int_equal(seen, 2);
    other.set_monitor(nullptr);
    mxc::executor wide = other.reshape({{"x", {4}}, {"w", {4}}}, false, true);
    wide.forward();
    assert_int_equal(wide.output().size(), 4);
    assert_true(other.report().arguments > 0);
    assert_true(mxc::executor::plan(y, {{"x", {2}}, {"w", {2}}}).n_nodes > 0);
    assert_false(other.str().empty());
}

/* ---- iterators, training, prediction ----------------------------------------------------------------------------- */

/* Batches of one row each; label 1 where the first number is greater. */
class rows_of_program : public mxc::batch_source {
  public:
    explicit rows_of_program(int *alive, int n) : alive_(alive), n_(n) {
        ++*alive_;
    }
    ~rows_of_program() override {
        --*alive_;
    }
    void next(mxc_batch &out) override {
        if (at_ == n_)
            return;
        if (n_ < 0 && at_ == 2)
            throw std::runtime_error("the data are gone");
        data_ = ndarray::full({1, 2}, at_++);
        handle_ = data_.get();
        out.n_data = 1;
        out.data = &handle_;
    }
    void reset() override {
        at_ = 0;
    }

  private:
    int *alive_, n_, at_ = 0;
    ndarray data_;
    mxc_ndarray *handle_ = nullptr;
};

static void iterates() {
    int alive = 0;
    {
        mxc::iterator mine = mxc::iterator::from(std::make_unique<rows_of_program>(&alive, 3));
        for (int epoch = 0; epoch < 2; epoch++) {
            float sum = 0;
            for (const mxc::batch &batch : mine)
                sum += batch.data().to_vector<float>()[0];
            assert_true(sum == 3);
        }
        mxc::iterator ahead = mxc::iterator::prefetch(std::move(mine), 2);
        assert_false(mine); // NOLINT
        int n = 0;
        for (const mxc::batch &batch : ahead)
            n += batch.n_data();
        assert_int_equal(n, 3);
        ahead = mxc::iterator::from({ndarray::ones({3, 1})});
        ahead = mxc::iterator::resize(std::move(ahead), 5, false);
        for (const mxc::batch &batch : ahead)
            n += batch.n_data();
        assert_int_equal(n, 8);
        mxc::iterator bad = mxc::iterator::from(std::make_unique<rows_of_program>(&alive, -1));
        mxc::batch batch;
        bad.next(batch);
        bad.next(batch);
        assert_throws(MXC_EUSER, "the data are gone", [&] { bad.next(batch); });
    }
    assert_int_equal(alive, 0);
    ndarray rows = ndarray::from({1.f, 2.f, 3.f}, {3, 1}), labels = ndarray::from({0.f, 1.f, 0.f});
    mxc::iterator from = mxc::iterator::from({rows}, {labels}, mxc::array_iter_options(2), {"x", "y"});
    mxc::batch batch;
    assert_string_equal(from.desc(1)->name, "y");
    assert_true(from.next(batch) && from.next(batch));
    assert_int_equal(batch.pad(), 1);
    assert_elements<float>(batch.label(), {0, 0});
    assert_int_equal(batch.index()[0], 2);
    mxc_iter_state state = from.state();
    assert_false(from.next(batch));
    from.set_state(state);
    assert_false(from.next(batch));
    assert_throws(MXC_ENOTFOUND, "NoSuchIter", [] { mxc::iterator("NoSuchIter", {{"batch_size", 1}}); });
    mxc::bucket_iter_options options;
    mxc::iterator sentences = mxc::iterator::from_sentences({0, 2, 4}, {1, 2, 3, 4}, options);
    assert_true(sentences.next(batch));
    assert_int_equal(batch.bucket(), 2);
    assert_throws(MXC_EINVAL, "number of tokens, 3", [&] {
        mxc::iterator::from_sentences({0, 2}, {1, 2, 3}, options);
    });
}

static void keeps_records() {
    test_path folder;
    std::string path = std::string(test_temp_dir(folder)) + "/a.rec";
    {
        mxc::record_writer writer(path, path + ".idx");
        writer.write(5, "one", 3);
        writer.write(7, "three", 5);
        writer.close();
        mxc::record_writer lost(path);
        lost.write(0, "x", 1);
    }
    mxc::record_reader reader(path);
    mxc_record record;
    assert_true(reader.next(record) && record.bytes == 3);
    assert_true(reader.next(record) && !memcmp(record.data, "three", 5));
    assert_false(reader.next(record));
    reader.seek(mxc::record_index::load(path + ".idx").offsets()[1]);
    assert_true(reader.next(record) && record.bytes == 5);
    assert_int_equal(mxc::record_index::make(path, false).keys()[1], 1);
    assert_int_equal(mxc::record_index::load(path + ".idx").keys()[1], 7);
    assert_int_equal(mxc::repair_records(path, path + "2"), 2);
    test_remove_dir(folder);
}

/* Points, and whether the first number is greater. */
static mxc::iterator points() {
    ndarray data = ndarray::uniform({64, 3}, -1, 1);
    std::vector<float> numbers = data.to_vector<float>(), labels;
    for (size_t i = 0; i < 64; i++)
        labels.push_back(numbers[3 * i] > numbers[3 * i + 1]);
    return mxc::iterator::from({data}, {ndarray::from(labels)}, mxc::array_iter_options(16, true));
}

static void trains_and_predicts() {
    test_path folder;
    std::string prefix = std::string(test_temp_dir(folder)) + "/net";
    mxc::seed(3);
    symbol net = perceptron();
    mxc::iterator train = points();
    mxc::metric accuracy("accuracy"), topmost("top_k_accuracy", {{"top_k", 2}});
    mxc::fit_options options;
    int calls = 0;
    options.epochs = 30;
    options.set_optimizer("adam", {{"beta1", 0.8}});
    options.set_initializer("xavier", {{"magnitude", 2}});
    options.set_metrics({&accuracy, &topmost});
    options.learning_rate = 0.05;
    options.on_progress = [&](const mxc_fit_progress &progress, bool epoch_end) {
        calls += epoch_end;
        assert_true(progress.epochs == 30);
    };
    mxc::fit_result result = mxc::fit(net, train, options);
    assert_int_equal(calls, 30);
    assert_true(result.progress.metrics[1].train > 0.9);
    accuracy.clear();
    mxc::evaluate(net, result.params, train, {&accuracy, &topmost});
    assert_true(accuracy.value() > 0.9 && accuracy.higher_is_better());

    mxc::model model{net, std::move(result.params)};
    model.save(prefix, 3);
    mxc::model loaded = mxc::model::load(prefix, 3);
    assert_int_equal(loaded.params.size(), 4);
    assert_string_equal(mxc::model::find(prefix).second.c_str(), (prefix + "-0003.params").c_str());
    ndarray copied = ndarray::zeros({2});
    mxc::initialize_from(loaded.params, "fc2_bias", copied);
    assert_true(copied.to_vector<float>() == loaded.params.find("arg:fc2_bias").to_vector<float>());
    assert_throws(MXC_ENOTFOUND, "absent", [&] { mxc::initialize_from(loaded.params, "absent", copied); });
    mxc::predictor predictor = mxc::predictor::load(prefix, {{"data", {2, 3}}}, 3), twin = predictor.clone();
    std::vector<float> input = {1, 0, 0, 0, 1, 0};
    twin.set_input(0, input);
    twin.forward();
    std::vector<float> scores = twin.get_output();
    assert_true(scores[1] > 0.5f && scores[2] > 0.5f);
    int64_t best[1];
    float value[1];
    mxc::top_classes(twin.output(), 0, best, value);
    assert_true(best[0] == 1 && value[0] == scores[1]);
    twin.reshape({{"data", {1, 3}}});
    twin.set_input("data", ndarray::from({0.f, 1.f, 0.f}, {1, 3}));
    twin.forward();
    assert_true(twin.get_output<float>()[0] > 0.5f);
    assert_string_equal(twin.input_name(0), "data");
    assert_string_equal(twin.output_name(0), "softmax_output");
    assert_throws(MXC_EDTYPE, "expected elements of float32, found float64",
                  [&] { predictor.set_input(0, std::vector<double>(6)); });
    assert_throws(MXC_ENOTFOUND, "data", [&] { predictor.set_input("absent", input); });

    mxc::executor bound = mxc::executor::bind_params(net, {{"data", {2, 3}}, {"softmax_label", {2}}}, loaded.params);
    bound.find_arg("data").set(input);
    bound.forward();
    assert_true(bound.output().to_vector<float>() == scores);
    mxc::model small = mxc::quantize(net, loaded.params);
    assert_true(small.symbol.arguments().find("fc1_weight_quantize") >= 0);

    /* An exception of a callback reaches the caller of fit as it is. */
    options.on_progress = [](const mxc_fit_progress &, bool) { throw std::out_of_range("enough"); };
    try {
        mxc::fit(net, train, options);
        fail();
    } catch (const std::out_of_range &e) {
        assert_string_equal(e.what(), "enough");
    }
    test_remove_dir(folder);
}

static void stores_and_updates() {
    mxc::kvstore store("local");
    ndarray w = ndarray::ones({2}), g = ndarray::full({2}, 3), out = ndarray::zeros({2});
    store.init({"w"}, {w});
    store.push({"w", "w"}, {g, g});
    store.pull({"w"}, {out});
    assert_elements<float>(out, {6, 6});
    store.set_updater([](const char *key, const ndarray &sum, const ndarray &stored) {
        if (strcmp(key, "w") != 0)
            throw std::runtime_error("no such key");
        op::elemwise_add(mxc::into(stored), stored, sum);
    });
    store.pushpull({"w"}, {g}, {out});
    assert_elements<float>(out, {9, 9});
    store.init({"v"}, {w});
    assert_throws(MXC_EUSER, "no such key", [&] { store.push({"v"}, {g}); });
    mxc::optimizer sgd("sgd", {{"learning_rate", 1}, {"momentum", 0.5}});
    store.set_optimizer(sgd);
    store.push({"w"}, {g});
    store.pull({"w"}, {out});
    assert_elements<float>(out, {6, 6});
    assert_int_equal(sgd.states().size(), 1);
    sgd.set_learning_rate(0.5);
    assert_true(sgd.learning_rate() == 0.5);
    assert_string_equal(store.type(), "local");
    assert_int_equal(store.group_size(), 1);
    ndarray big = ndarray::full({4}, 10);
    assert_elements<float>(mxc::clip_global_norm({big}, 1), {20});
    assert_elements<float>(big, {0.5f, 0.5f, 0.5f, 0.5f});
    mxc::initialize("constant", "w_weight", big, {{"value", 2}});
    assert_elements<float>(big, {2, 2, 2, 2});
}

/* ---- images, engine, process ------------------------------------------------------------------------------------- */

static void shows_images() {
    mxc::image none;
    assert_true(none.pixels().empty());
    mxc_image *raw = const_cast<mxc_image *>(none.get());
    static const uint8_t grey[4] = {0, 255, 0, 255};
    raw->pixels = static_cast<uint8_t *>(malloc(4)); /* as the library makes it: freed by mxc_image_free */
    memcpy(raw->pixels, grey, 4);
    raw->height = raw->width = 2;
    raw->channels = 1;
    mxc::image wide = none.resize(4, 4, 0), moved = std::move(wide);
    assert_int_equal(moved.width(), 4);
    assert_int_equal(moved.pixels()[15], 255);
    ndarray batch = ndarray::zeros({1, 1, 2, 2});
    mxc::to_array(none, batch);
    assert_elements<float>(batch, {0, 1, 0, 1});
    assert_throws(MXC_ENOTFOUND, "/nowhere", [] { mxc::image::load("/nowhere"); });
}

static void runs_tasks() {
    mxc::engine_options options;
    for (mxc_engine_kind kind : {MXC_ENGINE_NAIVE, MXC_ENGINE_THREADED}) {
        options.kind = kind;
        mxc::engine engine(options);
        auto sum = std::make_shared<std::atomic<int>>(0);
        {
            mxc::var v(engine);
            mxc_var *const vars[] = {v.get()};
            mxc::push(engine, "add", {}, vars, [sum](const mxc_run &) { *sum += 1; });
            mxc::engine_op op(engine, "add", {}, vars, [sum](const mxc_run &) { *sum += 10; });
            op.push();
            op.push();
            v.wait_to_read();
            assert_int_equal(*sum, 21);
            auto fail_now = [&] {
                mxc::push(engine, "fail", {}, vars, [sum](const mxc_run &) { throw std::runtime_error("failed"); });
                v.wait_to_read();
            };
            assert_throws(MXC_EUSER, "failed", fail_now);
            mxc::completion kept;
            mxc::push_async(engine, "later", {}, vars, [&](const mxc_run &, mxc::completion done) {
                kept = std::move(done);
                kept.complete();
            });
            v.wait_to_read();
            auto give_up = [&] {
                mxc::push_async(engine, "never", {}, vars, [](const mxc_run &, mxc::completion) {});
                v.wait_to_read();
            };
            assert_throws(MXC_ECANCELED, "given up", give_up);
            mxc_var *const twice[] = {v.get(), v.get()};
            assert_throws(MXC_EINVAL, "", [&] { mxc::push(engine, "twice", {}, twice, [sum](const mxc_run &) {}); });
            assert_throws(MXC_EINVAL, "",
                          [&] { mxc::engine_op(engine, "twice", {}, twice, [sum](const mxc_run &) {}); });
        }
        assert_int_equal(mxc::engine_view(engine).kind(), kind);
        mxc::set_default_engine(engine);
        assert_elements<float>(ndarray::ones({1}) + 1, {2});
        mxc_engine_set_default(nullptr);
        MXC_IGNORE(mxc_wait_all(engine.get()));
        engine.reset();
        assert_int_equal(sum.use_count(), 1);
    }
}

static void belongs_to_the_process() {
    test_path folder;
    std::string path = std::string(test_temp_dir(folder)) + "/trace.json";
    mxc::seed(7);
    mxc_random before = mxc::random_state(mxc::cpu());
    ndarray a = ndarray::normal({3});
    mxc::set_random_state(mxc::cpu(), before);
    assert_true(a.to_vector<float>() == ndarray::normal({3}).to_vector<float>());
    {
        mxc::trace trace;
        op::relu(a).wait_to_read();
        mxc::wait_all();
        trace.write(path);
    }
    char *text = test_read_file(path.c_str(), nullptr);
    assert_non_null(strstr(text, "relu"));
    free(text);
    assert_true(mxc::storage_stats(mxc::cpu()).allocs > 0);
    mxc::trim_storage(mxc::cpu());
    assert_non_null(strstr(mxc::describe_operator("relu").c_str(), "max"));
    assert_string_equal(mxc::version(), MXC_VERSION);
    assert_string_equal(mxc::cpu(2).str().c_str(), "cpu(2)");
    assert_true(mxc::device_count(MXC_CPU) > 0);
    test_remove_dir(folder);
}

/* Objects without a handle, as moved-from ones are, throw or give nothing. */
static void uses_empty_objects() {
    ndarray a;
    symbol s;
    mxc::executor e;
    mxc::iterator i;
    mxc::predictor p;
    mxc::batch b;
    mxc::array_list list;
    mxc::metric m;
    mxc::kvstore store;
    mxc::optimizer rule;
    mxc::record_reader reader;
    mxc::operation operation;
    mxc::cached_op cached;
    mxc_record record;
    mxc::fit_options options;
    assert_int_equal(a.size(), 0);
    assert_throws(MXC_EINVAL, "", [&] { a.fill(1); });
    assert_throws(MXC_EINVAL, "", [&] { a.slice(0, 1); });
    assert_throws(MXC_EINVAL, "", [&] { a.to_vector<float>(); });
    assert_throws(MXC_EINVAL, "", [&] { a.backward(); });
    assert_throws(MXC_EINVAL, "", [&] { a.str(); });
    assert_throws(MXC_EINVAL, "", [&] { a += 1; });
    assert_false(a.grad());
    assert_throws(MXC_EINVAL, "", [&] {
        op::relu(s, "r").arguments();
        s.arguments();
    });
    assert_throws(MXC_EINVAL, "", [&] { s + s; });
    assert_int_equal(s.n_outputs(), 0);
    assert_null(s.name());
    assert_throws(MXC_EINVAL, "", [&] { e.forward(); });
    assert_false(e.output());
    assert_true(e.arg_names().empty());
    assert_false(e.symbol());
    assert_throws(MXC_EINVAL, "", [&] { i.next(b); });
    assert_throws(MXC_EINVAL, "", [&] { mxc::iterator::prefetch(std::move(i), 1); });
    assert_false(b.data());
    assert_false(b.label(-1));
    assert_throws(MXC_EINVAL, "", [&] { p.forward(); });
    assert_throws(MXC_EINVAL, "", [&] { p.get_output(); });
    assert_int_equal(p.n_inputs(), 0);
    assert_false(list[0]);
    assert_string_equal(list.name(3), "");
    assert_throws(MXC_EINVAL, "", [&] { m.update(a, a); });
    assert_throws(MXC_EINVAL, "", [&] { store.push({"a"}, {a}); });
    assert_throws(MXC_EINVAL, "", [&] { rule.update("a", a, a); });
    assert_throws(MXC_EINVAL, "", [&] { reader.next(record); });
    assert_throws(MXC_EINVAL, "", [&] { operation({a}); });
    assert_throws(MXC_EINVAL, "", [&] { cached({a}); });
    assert_throws(MXC_EINVAL, "", [&] { mxc::fit(s, i, options); });
}

int main() {
    const struct CMUnitTest tests[] = {
        CPP_TEST(uses_empty_objects),
        CPP_TEST(makes_symbols),
        CPP_TEST(makes_control_flow),
        CPP_TEST(runs_executors),
        CPP_TEST(iterates),
        CPP_TEST(keeps_records),
        CPP_TEST(trains_and_predicts),
        CPP_TEST(stores_and_updates),
        CPP_TEST(shows_images),
        CPP_TEST(runs_tasks),
        CPP_TEST(belongs_to_the_process),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
