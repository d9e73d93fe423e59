/* SPDX-License-Identifier: Apache-2.0 */
/* lr_mult, wd_mult and __init__ of variables, and given first values, in mxc_fit. */
#include "train/toy.h"

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

/* data -> fc1 (4) -> fc2 (3) -> softmax; the attribute is of the argument w1 or b1 of fc1, if key is not NULL. */
static mxc_symbol *net(const char *argument, const char *key, const char *value) {
    const char *units = "num_hidden", *four = "4", *three = "3", *names[] = {"data", "weight", "bias"};
    mxc_symbol *in[3], *fc1, *fc2, *top;
    assert_ok(mxc_symbol_variable("data", &in[0]));
    assert_ok(mxc_symbol_variable("w1", &in[1]));
    assert_ok(mxc_symbol_variable("b1_bias", &in[2]));
    for (int i = 1; i < 3; i++)
        if (key && strcmp(mxc_symbol_name(in[i]), argument) == 0)
            assert_ok(mxc_symbol_set_attr(in[i], key, value));
    assert_ok(mxc_symbol_op("FullyConnected", "fc1", 1, &units, &four, 3, names, in, &fc1));
    assert_ok(mxc_symbol_op("FullyConnected", "fc2", 1, &units, &three, 1, NULL, &fc1, &fc2));
    assert_ok(mxc_symbol_op("SoftmaxOutput", "softmax", 0, NULL, NULL, 1, NULL, &fc2, &top));
    for (int i = 0; i < 3; i++)
        mxc_symbol_release(in[i]);
    mxc_symbol_release(fc1);
    mxc_symbol_release(fc2);
    return top;
}

typedef struct how {
    mxc_symbol *symbol; /* released */
    const char *kvstore, *checkpoint, *wd, *dtype;
    int64_t epochs;
    int n_contexts, resume;
    const mxc_ndarray_list *initial_params;
} how;

static mxc_status fit(const how *h, mxc_ndarray_list *params) {
    static const mxc_context contexts[] = {{MXC_CPU, 0}, {MXC_CPU, 1}};
    const char *keys[] = {"momentum", "wd"}, *values[] = {"0.9", h->wd ? h->wd : "0"};
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.symbol = h->symbol;
    t.options.kvstore = h->kvstore ? h->kvstore : "local";
    t.options.epochs = h->epochs;
    t.options.n_contexts = h->n_contexts;
    t.options.contexts = contexts;
    t.options.checkpoint = h->checkpoint;
    t.options.resume = h->resume;
    t.options.dtype = h->dtype;
    t.options.optimizer_keys = keys;
    t.options.optimizer_values = values;
    t.options.initial_params = h->initial_params;
    mxc_status status = mxc_fit(&t.options, NULL, params);
    mxc_symbol_release(h->symbol);
    toy_close(&t);
    return status;
}

static void get(const mxc_ndarray_list *params, const char *name, float *out, int n) {
    mxc_ndarray *array = mxc_ndarray_list_find(params, name);
    assert_non_null(array);
    assert_ok(mxc_ndarray_get(array, out, (size_t)n * sizeof *out));
}

/* What w1 and fc2_weight are after training as h says. */
static void train(how h, float *w1, float *w2) {
    mxc_ndarray_list params;
    assert_ok(fit(&h, &params));
    get(&params, "arg:w1", w1, 4 * TOY_WIDTH);
    get(&params, "arg:fc2_weight", w2, 12);
    mxc_ndarray_list_release(&params);
}

/* With a factor of 0 a weight keeps its first value, over every kind of store and after resuming; others move. */
static void test_lr_mult(void **state) {
    static const char *const keys[] = {"lr_mult", "__lr_mult__"}, *const stores[] = {"local", "device"};
    float first[2][4 * TOY_WIDTH], w1[4 * TOY_WIDTH], w2[12];
    (void)state;
    train((how){.symbol = net(NULL, NULL, NULL)}, first[0], first[1]);
    train((how){.symbol = net(NULL, NULL, NULL), .epochs = 1}, w1, w2);
    assert_memory_not_equal(w1, first[0], sizeof w1);
    for (int i = 0; i < 8; i++) {
        train((how){.symbol = net("w1", keys[i % 2], "0"),
                    .kvstore = stores[i / 2 % 2],
                    .n_contexts = 1 + i / 4,
                    .epochs = 1},
              w1, w2);
        assert_memory_equal(w1, first[0], sizeof w1);
        assert_memory_not_equal(w2, first[1], sizeof w2);
    }
    for (int epochs = 1; epochs <= 2; epochs++) {
        train((how){.symbol = net("w1", "lr_mult", "0"), .checkpoint = prefix, .resume = 1, .epochs = epochs}, w1, w2);
        assert_memory_equal(w1, first[0], sizeof w1);
    }
}

/* The network that a checkpoint saves has the factor too. */
static void test_saved_network(void **state) {
    float first[4 * TOY_WIDTH], w1[4 * TOY_WIDTH], w2[12];
    mxc_symbol *saved;
    (void)state;
    train((how){.symbol = net(NULL, NULL, NULL)}, first, w2);
    train((how){.symbol = net("w1", "lr_mult", "0"), .checkpoint = prefix, .epochs = 1}, w1, w2);
    assert_ok(mxc_model_load(prefix, 1, &saved, NULL));
    train((how){.symbol = saved, .checkpoint = prefix, .resume = 1, .epochs = 2}, w1, w2);
    assert_memory_equal(w1, first, sizeof w1);
}

/* A decay of its own; a bias has none unless the network says so. */
static void test_wd_mult(void **state) {
    float plain[4 * TOY_WIDTH], w1[4 * TOY_WIDTH], w2[12];
    (void)state;
    train((how){.symbol = net(NULL, NULL, NULL), .epochs = 1}, plain, w2);
    train((how){.symbol = net(NULL, NULL, NULL), .epochs = 1, .wd = "0.1"}, w1, w2);
    assert_memory_not_equal(w1, plain, sizeof w1);
    float other[4 * TOY_WIDTH];
    train((how){.symbol = net("w1", "wd_mult", "3"), .epochs = 1, .wd = "0.1"}, other, w2);
    assert_memory_not_equal(other, w1, sizeof w1);
    train((how){.symbol = net("b1_bias", "wd_mult", "100"), .epochs = 1, .wd = "0.1"}, other, w2);
    assert_memory_not_equal(other, w1, sizeof w1);
}

static void expect_first(const char *argument, const char *init, float expected) {
    mxc_ndarray_list params;
    char name[32];
    float values[4 * TOY_WIDTH];
    how h = {.symbol = net(argument, "__init__", init)};
    assert_ok(fit(&h, &params));
    snprintf(name, sizeof name, "arg:%s", argument);
    get(&params, name, values, strcmp(argument, "w1") == 0 ? 4 * TOY_WIDTH : 4);
    assert_true(values[0] == expected && values[3] == expected);
    mxc_ndarray_list_release(&params);
}

/* As text and as the JSON that MXNet writes; it goes before the name's suffix too. */
static void test_init(void **state) {
    static const char *const wrong[][2] = {
        {"diagonal", "variable \"w1\": __init__: initialiser \"diagonal\" does not exist"},
        {"mixed", "expected one rule"},
        {"[\"constant\", 3]", "expected a rule's name or"},
        {"[\"constant\", {\"valu\": 3}]", "valu"},
        {"[", "expected a rule's name or"},
    };
    (void)state;
    expect_first("w1", "one", 1);
    expect_first("w1", "zeros", 0);
    expect_first("w1", "[\"constant\", {\"value\": 2.5}]", 2.5f);
    expect_first("b1_bias", "[\"one\", {}]", 1);
    for (int i = 0; i < 5; i++) {
        how h = {.symbol = net("w1", "__init__", wrong[i][0])};
        mxc_status status = fit(&h, NULL);
        assert_true(status == MXC_EINVAL || status == MXC_ENOTFOUND);
        assert_non_null(strstr(mxc_last_error(), wrong[i][1]));
    }
    how h = {.symbol = net("w1", "lr_mult", "half")};
    assert_fails(fit(&h, NULL), MXC_EINVAL, "variable \"w1\": lr_mult is \"half\", expected a number");
}

/* Training begins with the given values; a list that does not fit is refused. */
static void test_initial_params(void **state) {
    float w1[2][4 * TOY_WIDTH], w2[2][12];
    mxc_ndarray_list params, loaded;
    how h = {.symbol = net(NULL, NULL, NULL), .epochs = 1, .checkpoint = prefix};
    (void)state;
    assert_ok(fit(&h, &params));
    assert_ok(mxc_model_load(prefix, 1, NULL, &loaded));
    get(&params, "arg:w1", w1[0], 4 * TOY_WIDTH);
    get(&params, "arg:fc2_weight", w2[0], 12);
    for (int contexts = 1; contexts <= 2; contexts++) {
        train((how){.symbol = net("w1", "__init__", "zero"), .initial_params = &loaded, .n_contexts = contexts}, w1[1],
              w2[1]);
        assert_memory_equal(w1[0], w1[1], sizeof w1[0]);
        assert_memory_equal(w2[0], w2[1], sizeof w2[0]);
    }
    params.n--;
    h = (how){.symbol = net(NULL, NULL, NULL), .initial_params = &params};
    assert_fails(fit(&h, NULL), MXC_ENOTFOUND, "fc2_bias");
    params.n++;
    mxc_ndarray_list_release(&params);
    mxc_ndarray_list_release(&loaded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lr_mult, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_saved_network, set_up, tear_down),
        cmocka_unit_test(test_wd_mult),
        cmocka_unit_test(test_init),
        cmocka_unit_test_setup_teardown(test_initial_params, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
