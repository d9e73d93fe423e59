/* SPDX-License-Identifier: Apache-2.0 */
/* Training on sentences of different lengths: one network for all lengths, or one for each; against a loop that binds a
 * new executor for each batch. */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

enum { SENTENCES = 60, BATCH = 4, VOCABULARY = 7, WIDTH = 5, LONGEST = 8, EPOCHS = 3 };

static test_path folder, prefix;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(prefix, folder, "run");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* Token t is followed by 1 + 2 t mod 6, mostly; 0 fills up. Lengths 3 to 8 in buckets of 3, 5 and 8. */
static mxc_iter *sentences(int shuffle) {
    static const int64_t buckets[] = {3, 5, LONGEST};
    mxc_bucket_iter_options options = MXC_BUCKET_ITER_OPTIONS_INIT;
    int64_t offsets[SENTENCES + 1] = {0};
    int32_t tokens[SENTENCES * LONGEST];
    mxc_iter *out;
    for (int i = 0; i < SENTENCES; i++) {
        int64_t length = 3 + (int64_t)((toy_noise((uint32_t)i) + 0.5f) * 6);
        int32_t token = 1 + i % 6;
        offsets[i + 1] = offsets[i] + length;
        for (int64_t t = offsets[i]; t < offsets[i + 1]; t++) {
            tokens[t] = token;
            token = toy_noise((uint32_t)t + 900) > 0.4f ? 1 + (token + 2) % 6 : 1 + 2 * token % 6;
        }
    }
    options.batch_size = BATCH;
    options.n_buckets = 3;
    options.buckets = buckets;
    options.invalid_label = 0;
    options.shuffle = shuffle;
    options.seed = 3;
    assert_ok(mxc_iter_from_sentences(&options, SENTENCES, offsets, tokens, &out));
    return out;
}

/* Embedding and a softmax over the vocabulary for each token, of rows of length tokens; 0: of any length. */
static mxc_status network(int64_t length, mxc_symbol **out) {
    const char *embedding_keys[] = {"input_dim", "output_dim"}, *embedding_values[] = {"7", "5"};
    const char *softmax_keys[] = {"use_ignore", "ignore_label"}, *softmax_values[] = {"true", "0"};
    char rows[32], labels[32];
    mxc_symbol *x, *label, *in[2];
    snprintf(rows, sizeof rows, length ? "(%d,5)" : "(-1,5)", BATCH * (int)length);
    snprintf(labels, sizeof labels, length ? "(%d,)" : "(-1,)", BATCH * (int)length);
    MXC_TRY(mxc_symbol_variable("data", &in[0]));
    MXC_TRY(mxc_symbol_op("Embedding", "embedding", 2, embedding_keys, embedding_values, 1, NULL, in, &x));
    mxc_symbol_release(in[0]);
    MXC_TRY(toy_layer("Reshape", "rows", "shape", rows, &x));
    MXC_TRY(toy_layer("FullyConnected", "fc", "num_hidden", "7", &x));
    MXC_TRY(mxc_symbol_variable("softmax_label", &label));
    MXC_TRY(toy_layer("Reshape", "labels", "shape", labels, &label));
    in[0] = x;
    in[1] = label;
    mxc_status status = mxc_symbol_op("SoftmaxOutput", "softmax", 2, softmax_keys, softmax_values, 2, NULL, in, out);
    mxc_symbol_release(x);
    mxc_symbol_release(label);
    return status;
}

static mxc_status network_of_bucket(int64_t bucket, void *user, mxc_symbol **out) {
    *(int *)user += bucket != LONGEST;
    return network(bucket, out);
}

typedef struct text {
    mxc_fit_options options;
    mxc_iter *train, *valid;
    mxc_symbol *net;
    int asked; /* calls of network_of_bucket */
} text;

static void open_text(text *t, int by_bucket) {
    memset(t, 0, sizeof *t);
    t->train = sentences(1);
    t->valid = sentences(0);
    assert_ok(network(by_bucket ? LONGEST : 0, &t->net));
    mxc_fit_options_init(&t->options, sizeof t->options);
    t->options.symbol = t->net;
    t->options.train = t->train;
    t->options.valid = t->valid;
    t->options.epochs = EPOCHS;
    t->options.learning_rate = 1;
    t->options.seed = 2;
    t->options.bucket_symbol = by_bucket ? network_of_bucket : NULL;
    t->options.bucket_user = &t->asked;
}

static void close_text(text *t) {
    mxc_iter_destroy(t->train);
    mxc_iter_destroy(t->valid);
    mxc_symbol_release(t->net);
}

static void train(int by_bucket, int n_contexts, const char *dtype, int64_t accumulate, mxc_fit_progress *result,
                  mxc_ndarray_list *params) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    text t;
    open_text(&t, by_bucket);
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    t.options.dtype = dtype;
    t.options.accumulate = accumulate;
    assert_ok(mxc_fit(&t.options, result, params));
    assert_int_equal(t.asked, by_bucket ? 2 * n_contexts + 2 : 0); /* two further lengths; and for validation */
    close_text(&t);
}

/* One network for all lengths, and one for each, are the same calculation. */
static void test_networks_agree(void **state) {
    static const char *const dtypes[] = {NULL, NULL, "bfloat16", NULL};
    static const int64_t accumulate[] = {1, 3, 1, 1};
    (void)state;
    for (int i = 0; i < 4; i++) {
        mxc_ndarray_list a, b = {0};
        mxc_fit_progress first, second;
        train(0, 1 + i / 3, dtypes[i], accumulate[i], &first, &a);
        assert_true(isfinite(first.loss) && isfinite(first.valid_accuracy));
        if (i == 3) { /* shapes for one context are part of those networks */
            mxc_ndarray_list_release(&a);
            continue;
        }
        train(1, 1, dtypes[i], accumulate[i], &second, &b);
        toy_expect_same(&a, &b);
        assert_true(first.loss == second.loss && first.valid_loss == second.valid_loss);
        mxc_ndarray_list_release(&a);
        mxc_ndarray_list_release(&b);
    }
}

static void test_learns(void **state) {
    mxc_fit_progress result;
    mxc_metric *perplexity;
    mxc_ndarray_list params;
    const char *key = "ignore_label", *value = "0";
    text t;
    (void)state;
    assert_ok(mxc_metric_create("perplexity", 1, &key, &value, &perplexity));
    open_text(&t, 0);
    t.options.epochs = 40;
    t.options.learning_rate = 0.1;
    t.options.n_metrics = 1;
    t.options.metrics = &perplexity;
    assert_ok(mxc_fit(&t.options, &result, &params));
    assert_true(result.metrics[1].train < 4 && result.metrics[1].train > 1);
    assert_true(fabs(exp(result.loss) - result.metrics[1].train) < 1e-4);
    mxc_metric_reset(perplexity);
    assert_ok(mxc_evaluate(t.net, &params, t.valid, mxc_cpu(0), 1, &perplexity));
    assert_true(fabs(mxc_metric_value(perplexity) - result.metrics[1].valid) < 1e-6);
    mxc_metric_destroy(perplexity);
    mxc_ndarray_list_release(&params);
    close_text(&t);
}

/* ---- a loop without buckets -------------------------------------------------------------------------------------- */

enum { ARRAYS = 3, MOST_VALUES = VOCABULARY * VOCABULARY };
static const char *const array_names[ARRAYS] = {"embedding_weight", "fc_weight", "fc_bias"};

/* One batch: bind, forward, backward, and values -= lr / batch times the gradients. */
static void step(mxc_symbol *net, const mxc_batch *batch, float values[ARRAYS][MOST_VALUES]) {
    static const char *const names[] = {"data", "softmax_label"};
    const mxc_shape shapes[] = {*mxc_ndarray_shape(batch->data[0]), *mxc_ndarray_shape(batch->label[0])};
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE};
    mxc_executor *e;
    assert_ok(mxc_executor_simple_bind(net, NULL, &spec, &e));
    for (int i = 0; i < ARRAYS; i++) {
        mxc_ndarray *array = mxc_executor_find_arg(e, array_names[i]);
        assert_ok(mxc_ndarray_set(array, values[i], mxc_ndarray_bytes(array)));
    }
    assert_ok(mxc_ndarray_copy_to(batch->data[0], mxc_executor_find_arg(e, "data"), 0));
    assert_ok(mxc_ndarray_copy_to(batch->label[0], mxc_executor_find_arg(e, "softmax_label"), 0));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 0, NULL));
    for (int i = 0; i < ARRAYS; i++) {
        mxc_ndarray *grad = mxc_executor_find_grad(e, array_names[i]);
        float g[MOST_VALUES];
        assert_ok(mxc_ndarray_get(grad, g, mxc_ndarray_bytes(grad)));
        for (int64_t k = 0; k < mxc_ndarray_size(grad); k++)
            values[i][k] -= g[k] / BATCH;
    }
    mxc_executor_destroy(e);
}

static void test_against_a_plain_loop(void **state) {
    float values[ARRAYS][MOST_VALUES], found[MOST_VALUES];
    mxc_ndarray_list given, params;
    mxc_batch batch;
    text t;
    (void)state;
    open_text(&t, 0);
    t.options.epochs = 0;
    assert_ok(mxc_fit(&t.options, NULL, &given));
    t.options.epochs = 2;
    t.options.initial_params = &given;
    assert_ok(mxc_fit(&t.options, NULL, &params));
    close_text(&t);
    open_text(&t, 0);
    for (int i = 0; i < ARRAYS; i++) {
        char name[64];
        snprintf(name, sizeof name, "arg:%s", array_names[i]);
        mxc_ndarray *array = mxc_ndarray_list_find(&given, name);
        assert_ok(mxc_ndarray_get(array, values[i], mxc_ndarray_bytes(array)));
    }
    for (int epoch = 0; epoch < 2; epoch++) {
        for (;;) {
            assert_ok(mxc_iter_next(t.train, &batch));
            if (batch.n_data == 0)
                break;
            step(t.net, &batch, values);
        }
        assert_ok(mxc_iter_reset(t.train));
    }
    for (int i = 0; i < ARRAYS; i++) {
        char name[64];
        snprintf(name, sizeof name, "arg:%s", array_names[i]);
        mxc_ndarray *array = mxc_ndarray_list_find(&params, name);
        assert_ok(mxc_ndarray_get(array, found, mxc_ndarray_bytes(array)));
        for (int64_t k = 0; k < mxc_ndarray_size(array); k++)
            assert_true(fabsf(found[k] - values[i][k]) < 1e-4f);
    }
    mxc_ndarray_list_release(&given);
    mxc_ndarray_list_release(&params);
    close_text(&t);
}

/* ---- stopping and mistakes --------------------------------------------------------------------------------------- */

static mxc_status stop_at_9(const mxc_fit_progress *p, int epoch_end, void *user) {
    (void)epoch_end;
    *(int *)user = p->updates == 9;
    return MXC_OK;
}

static void test_resumed(void **state) {
    mxc_ndarray_list expected, params;
    mxc_fit_progress result;
    int stop = 0;
    text t;
    (void)state;
    train(1, 1, NULL, 1, &result, &expected);
    for (int i = 0; i < 2; i++) {
        open_text(&t, 1);
        t.options.checkpoint = prefix;
        t.options.resume = 1;
        t.options.stop = &stop;
        t.options.callback = i == 0 ? stop_at_9 : NULL;
        t.options.user = &stop;
        assert_ok(mxc_fit(&t.options, &result, &params));
        assert_int_equal(result.interrupted, i == 0);
        if (i == 0)
            mxc_ndarray_list_release(&params);
        stop = 0;
        close_text(&t);
    }
    toy_expect_same(&expected, &params);
    mxc_ndarray_list_release(&expected);
    mxc_ndarray_list_release(&params);
}

/* Adds the length of the batch that the executor has the output of to a set of lengths. */
static mxc_status note_length(const mxc_fit_progress *p, int epoch_end, void *user) {
    (void)epoch_end;
    *(unsigned *)user |= 1u << mxc_ndarray_shape(mxc_executor_output(mxc_fit_executor(p, 0), 0))->dim[0] / BATCH;
    return MXC_OK;
}

static void test_callback(void **state) {
    unsigned lengths = 0;
    text t;
    (void)state;
    open_text(&t, 1);
    t.options.callback = note_length;
    t.options.user = &lengths;
    assert_ok(mxc_fit(&t.options, NULL, NULL));
    assert_int_equal(lengths, 1u << 3 | 1u << 5 | 1u << LONGEST);
    close_text(&t);
}

static mxc_status no_network(int64_t bucket, void *user, mxc_symbol **out) {
    (void)user;
    (void)out;
    return MXC_FAIL(MXC_EUSER, "nothing for %d", (int)bucket);
}

static mxc_status forgetful(int64_t bucket, void *user, mxc_symbol **out) {
    (void)bucket;
    (void)user;
    *out = NULL;
    return MXC_OK;
}

static mxc_status other_names(int64_t bucket, void *user, mxc_symbol **out) {
    (void)bucket;
    (void)user;
    MXC_TRY(mxc_symbol_variable("data", out));
    MXC_TRY(toy_layer("FullyConnected", "other", "num_hidden", "7", out));
    return toy_layer("SoftmaxOutput", "softmax", NULL, NULL, out);
}

static mxc_status too_few(int64_t bucket, void *user, mxc_symbol **out) {
    (void)bucket;
    (void)user;
    MXC_TRY(mxc_symbol_variable("data", out));
    return toy_layer("SoftmaxOutput", "softmax", NULL, NULL, out);
}

static void test_refusals(void **state) {
    static const struct {
        mxc_bucket_symbol_fn symbol;
        mxc_status code;
        const char *text;
    } cases[] = {
        {no_network, MXC_EUSER, "bucket_symbol gave no network for bucket"},
        {forgetful, MXC_EINVAL, "bucket_symbol gave no network for bucket"},
        {other_names, MXC_ENOTFOUND, "argument 'other_weight' is neither"},
        {too_few, MXC_ENOTFOUND, "its network has no parameter 'embedding_weight'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text t;
        open_text(&t, 1);
        t.options.bucket_symbol = cases[i].symbol;
        assert_fails(mxc_fit(&t.options, NULL, NULL), cases[i].code, cases[i].text);
        close_text(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks_agree),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_against_a_plain_loop),
        cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
