/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON: every version's layout, what old files leave out, and hostile texts. */
#include <time.h>

#include "ops.h"

#include "base/sys.h"

static mxc_symbol *read_json(const char *json) {
    mxc_symbol *symbol;
    assert_ok(mxc_symbol_from_json(json, strlen(json), &symbol));
    return symbol;
}

static void arguments_are(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    test_names(&names, expected);
}

static const char *attr_of(const mxc_symbol *symbol, const char *output, const char *key) {
    static char value[64];
    mxc_symbol *all, *inner;
    const char *found;
    assert_ok(mxc_symbol_internals(symbol, &all));
    assert_ok(mxc_symbol_find_output(all, output, &inner));
    found = mxc_symbol_attr(inner, key);
    snprintf(value, sizeof value, "%s", found ? found : "(none)");
    mxc_symbol_release(inner);
    mxc_symbol_release(all);
    return value;
}

/* ---- versions ---------------------------------------------------------------------------------------------- */

#define VARIABLE(name) "{\"op\":\"null\",\"name\":\"" name "\",\"inputs\":[]}"
#define GRAPH(nodes, heads) "{\"nodes\":[" nodes "],\"heads\":" heads "}"

static void test_version_0_8(void **state) {
    mxc_symbol *s =
        read_json("{\"nodes\":[{\"op\":\"null\",\"param\":{},\"name\":\"x\",\"inputs\":[],\"backward_source_id\":-1,"
                  "\"attr\":{\"ctx_group\":\"a\",\"mood\":\"calm\"}},"
                  "{\"op\":\"null\",\"param\":{},\"name\":\"g\",\"inputs\":[],\"backward_source_id\":-1},"
                  "{\"op\":\"null\",\"param\":{},\"name\":\"b\",\"inputs\":[],\"backward_source_id\":-1},"
                  "{\"op\":\"t_bn\",\"param\":{\"eps\":\"0.1\"},\"name\":\"n\",\"inputs\":[[0,0],[1,0],[2,0]],"
                  "\"backward_source_id\":-1,\"attr\":{\"ctx_group\":\"b\",\"gamma_lr_mult\":\"3\",\"eps\":\"mine\"}}],"
                  "\"arg_nodes\":[0,1,2],\"heads\":[[3,0]]}");
    mxc_names names;
    (void)state;
    arguments_are(s, "x,g,b");
    assert_ok(mxc_symbol_list_aux(s, &names));
    test_names(&names, "n_moving_mean,n_moving_var");
    assert_string_equal(attr_of(s, "x", "mood"), "calm");
    assert_string_equal(attr_of(s, "x", "__ctx_group__"), "a");
    assert_string_equal(attr_of(s, "n_moving_var", "ctx_group"), "b");
    assert_string_equal(attr_of(s, "g", "lr_mult"), "3");
    assert_string_equal(attr_of(s, "n_output", "__eps__"), "mine");
    assert_string_equal(attr_of(s, "n_output", "gamma_lr_mult"), "(none)");
    mxc_symbol_release(s);
}

static void merged_attributes(const char *field) {
    char json[1024];
    mxc_symbol *s;
    snprintf(
        json, sizeof json,
        "{\"nodes\":[" VARIABLE("x") "," VARIABLE(
            "w") ",{\"op\":\"t_fc\",\"name\":\"f\",\"%s\":{"
                 "\"num_hidden\":\"3\",\"no_bias\":\"True\",\"workspace\":\"256\",\"__layout__\":\"NC\","
                 "\"weight_wd_mult\":\"0\",\"lr_mult\":\"7\"},"
                 "\"inputs\":[[0,0,0],[1,0,5]]}],\"arg_nodes\":[0,1],\"node_row_ptr\":[0,1,2,3],\"heads\":[[2,0,0]],"
                 "\"attrs\":{\"mxnet_version\":[\"int\",905]}}",
        field);
    s = read_json(json);
    assert_string_equal(mxc_symbol_attr(s, "workspace"), "256");
    assert_string_equal(mxc_symbol_attr(s, "__layout__"), "NC");
    assert_string_equal(mxc_symbol_attr(s, "__lr_mult__"), "7");
    assert_string_equal(attr_of(s, "w", "wd_mult"), "0");
    mxc_symbol_release(s);
}

static void test_versions_0_9_and_1(void **state) {
    (void)state;
    merged_attributes("attr");
    merged_attributes("attrs");
}

static void test_hidden_outputs_and_unused_nodes(void **state) {
    mxc_symbol *s = read_json(GRAPH(VARIABLE("x") "," VARIABLE("g") "," VARIABLE("b") "," VARIABLE(
                                        "spare") ","
                                                 "{\"op\":\"t_bn\",\"name\":\"n\",\"inputs\":[[0,0],[1,0],[2,0]]}",
                                    "[[4,2],[4,0],[0,0]]"));
    mxc_names names;
    (void)state;
    assert_ok(mxc_symbol_list_outputs(s, &names));
    test_names(&names, "n_var,n_output,x");
    arguments_are(s, "x,g,b");
    mxc_symbol_release(s);
}

static void test_count_left_out(void **state) {
    mxc_symbol *s =
        read_json(GRAPH(VARIABLE("x") ",{\"op\":\"t_concat\",\"name\":\"c\",\"inputs\":[[0,0],[0,0]]}", "[[1,0]]"));
    (void)state;
    assert_string_equal(mxc_symbol_attr(s, "num_args"), "2");
    mxc_symbol_release(s);
}

static void test_argmax_of_old(void **state) {
    static const char *const old = "{\"nodes\":[" VARIABLE(
        "x") ",{\"op\":\"argmax\",\"name\":\"m\",\"attr\":{\"axis\":"
             "\"-1\"},\"inputs\":[[0,0]]}],\"heads\":[[1,0]],\"attrs\":{\"mxnet_version\":[\"int\",904]}}";
    static const char *const new = "{\"nodes\":[" VARIABLE(
        "x") ",{\"op\":\"argmax\",\"name\":\"m\",\"attr\":{\"axis\":"
             "\"-1\"},\"inputs\":[[0,0]]}],\"heads\":[[1,0]],\"attrs\":{\"mxnet_version\":[\"int\",905]}}";
    mxc_symbol *s;
    (void)state;
    if (!mxc_op_find("argmax"))
        skip();
    s = read_json(old);
    assert_null(mxc_symbol_attr(s, "axis"));
    mxc_symbol_release(s);
    s = read_json(new);
    assert_string_equal(mxc_symbol_attr(s, "axis"), "-1");
    mxc_symbol_release(s);
}

static void test_open_axes_of_zeros(void **state) {
    static const char *const text =
        "{\"nodes\":[{\"op\":\"_zeros\",\"name\":\"z\",\"attr\":{\"shape\":"
        "\"(1, 0, 3)\"},\"inputs\":[]}],\"heads\":[[0,0]],\"attrs\":{\"mxnet_version\":[\"int\",%d]}}";
    char json[512];
    mxc_symbol *s;
    (void)state;
    if (!mxc_op_find("_zeros"))
        skip();
    snprintf(json, sizeof json, text, 1100);
    s = read_json(json);
    assert_string_equal(mxc_symbol_attr(s, "shape"), "(1, -1, 3)");
    mxc_symbol_release(s);
    snprintf(json, sizeof json, text, 20000);
    s = read_json(json);
    assert_string_equal(mxc_symbol_attr(s, "shape"), "(1, 0, 3)");
    mxc_symbol_release(s);
}

/* ---- refused ----------------------------------------------------------------------------------------------- */

#define FC(inputs) "{\"op\":\"t_fc\",\"name\":\"f\",\"attrs\":{\"num_hidden\":\"3\"},\"inputs\":" inputs "}"
#define FC_PARAM(params) "{\"op\":\"t_fc\",\"name\":\"f\",\"attrs\":" params ",\"inputs\":[[0,0],[0,0],[0,0]]}"

static const struct refused {
    const char *json;
    mxc_status status;
    const char *text;
} refused[] = {
    {"", MXC_EFORMAT, "symbol JSON: byte"},
    {" ", MXC_EFORMAT, "symbol JSON: byte"},
    {"{", MXC_EFORMAT, "symbol JSON: byte"},
    {"no json", MXC_EFORMAT, "line 1"},
    {"[]", MXC_EFORMAT, "\"nodes\""},
    {"{}", MXC_EFORMAT, "\"nodes\""},
    {"{\"nodes\":{}}", MXC_EFORMAT, "\"nodes\""},
    {"\xef\xbb\xbf{\"nodes\":[]}", MXC_EFORMAT, "symbol JSON"},
    {GRAPH(VARIABLE("x"), "[[0,0]]") "x", MXC_EFORMAT, "end of file expected"},
    {"{\"nodes\":[],\"nodes\":[]}", MXC_EFORMAT, "duplicate"},
    {"{\"nodes\":[{\"op\":\"null\",\"op\":\"null\"}]}", MXC_EFORMAT, "duplicate"},
    {GRAPH(VARIABLE("x"), "[[73786976294838206464,0]]"), MXC_EFORMAT, "too big"},
    {GRAPH(VARIABLE("\\ud800"), "[[0,0]]"), MXC_EFORMAT, "symbol JSON"},
    {GRAPH(VARIABLE("\\u0000"), "[[0,0]]"), MXC_EFORMAT, "symbol JSON"},
    {GRAPH("", "[]"), MXC_EFORMAT, "\"heads\""},
    {GRAPH(VARIABLE("x"), "[]"), MXC_EFORMAT, "\"heads\""},
    {"{\"nodes\":[" VARIABLE("x") "]}", MXC_EFORMAT, "\"heads\""},
    {GRAPH(VARIABLE("x"), "[[1,0]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[[0,1]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[[-1,0]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[[0,0],[0,-1]]"), MXC_EFORMAT, "\"heads\": item 1"},
    {GRAPH(VARIABLE("x"), "[[0]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[[0,0,0,0]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[0]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[[0,1e308]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH(VARIABLE("x"), "[[0.0,0]]"), MXC_EFORMAT, "\"heads\": item 0"},
    {GRAPH("7", "[[0,0]]"), MXC_EFORMAT, "node 0: expected an object"},
    {GRAPH("{\"op\":\"null\"}", "[[0,0]]"), MXC_EFORMAT, "node 0: expected an object"},
    {GRAPH("{\"op\":3,\"name\":\"x\"}", "[[0,0]]"), MXC_EFORMAT, "node 0: expected an object"},
    {GRAPH(VARIABLE(""), "[[0,0]]"), MXC_EFORMAT, "needs a name"},
    {GRAPH("{\"op\":\"null\",\"name\":\"x\",\"inputs\":[[0,0]]}", "[[0,0]]"), MXC_EFORMAT, "a variable has inputs"},
    {GRAPH("{\"op\":\"null\",\"name\":\"x\",\"inputs\":0}", "[[0,0]]"), MXC_EFORMAT, "\"inputs\" is not a list"},
    {GRAPH("{\"op\":\"null\",\"name\":\"x\",\"attrs\":[]}", "[[0,0]]"), MXC_EFORMAT, "\"attrs\" is not an object"},
    {GRAPH("{\"op\":\"null\",\"name\":\"x\",\"attrs\":{\"a\":1}}", "[[0,0]]"), MXC_EFORMAT, "\"a\" is not a string"},
    {GRAPH("{\"op\":\"null\",\"name\":\"x\",\"other\":1}", "[[0,0]]"), MXC_EFORMAT, "unknown field \"other\""},
    {GRAPH("{\"op\":\"null\",\"name\":\"x\",\"backward_source_id\":0}", "[[0,0]]"), MXC_EFORMAT, "backward_source_id"},
    {"{\"nodes\":[" VARIABLE("x") "],\"arg_nodes\":[1],\"heads\":[[0,0]]}", MXC_EFORMAT, "\"arg_nodes\": item 0"},
    {"{\"nodes\":[" VARIABLE("x") "],\"arg_nodes\":[-1],\"heads\":[[0,0]]}", MXC_EFORMAT, "\"arg_nodes\": item 0"},
    {"{\"nodes\":[" VARIABLE("x") "],\"arg_nodes\":3,\"heads\":[[0,0]]}", MXC_EFORMAT, "\"arg_nodes\" is not a list"},
    {"{\"nodes\":[],\"attrs\":{\"mxnet_version\":[\"int\"]}}", MXC_EFORMAT, "mxnet_version"},
    {"{\"nodes\":[],\"attrs\":{\"mxnet_version\":905}}", MXC_EFORMAT, "mxnet_version"},
    {"{\"nodes\":[],\"attrs\":{\"mxnet_version\":[\"int\",-1]}}", MXC_EFORMAT, "mxnet_version"},
    {GRAPH("{\"op\":\"t_none\",\"name\":\"f\",\"inputs\":[],\"subgraphs\":[{}]}", "[[0,0]]"), MXC_ENOTFOUND,
     "node 0 \"f\": no operator is called 't_none'"},
    {GRAPH("{\"op\":\"t_bn\",\"name\":\"f\",\"inputs\":[],\"subgraphs\":[{}]}", "[[0,0]]"), MXC_EFORMAT,
     "node 0 \"f\": 1 \"subgraphs\", but t_bn has 0"},
    {GRAPH("{\"op\":\"t_bn\",\"name\":\"f\",\"inputs\":[],\"control_deps\":[0]}", "[[0,0]]"), MXC_EFORMAT,
     "\"control_deps\""},
    {GRAPH(VARIABLE("x") "," FC("[]"), "[[1,0]]"), MXC_EFORMAT, "node 1 \"f\": 0 inputs, but t_fc takes 3"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[0,0],[0,0],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "4 inputs, but t_fc takes 3"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[0,0],[1,0]]"), "[[1,0]]"), MXC_EFORMAT, "node 1 \"f\": input 2"}, /* itself */
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[2,0],[0,0]]") "," VARIABLE("y"), "[[1,0]]"), MXC_EFORMAT, "input 1"},
    {GRAPH(VARIABLE("x") "," FC("[[-1,0],[0,0],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "input 0"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[99,0],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "input 1"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[0,1],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "input 1"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[0,0,-1],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "input 1"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[0,0,\"0\"],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "input 1"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[4294967296,0],[0,0]]"), "[[1,0]]"), MXC_EFORMAT, "input 1"},
    {GRAPH(VARIABLE("x") "," FC_PARAM("{\"num_hidden\":\"3\",\"num_hiden\":\"3\"}"), "[[1,0]]"), MXC_EFORMAT,
     "node 1 \"f\": t_fc"},
    {GRAPH(VARIABLE("x") "," FC_PARAM("{}"), "[[1,0]]"), MXC_EFORMAT, "num_hidden"},
    {GRAPH(VARIABLE("x") "," FC_PARAM("{\"num_hidden\":\"4611686018427387904\"}"), "[[1,0]]"), MXC_EFORMAT,
     "num_hidden"},
    {GRAPH(VARIABLE("x") "," FC_PARAM("{\"num_hidden\":3}"), "[[1,0]]"), MXC_EFORMAT, "\"num_hidden\" is not a string"},
    {GRAPH(VARIABLE("x") "," FC_PARAM("\"num_hidden\""), "[[1,0]]"), MXC_EFORMAT, "\"attrs\" is not an object"},
    {GRAPH(VARIABLE("x") ",{\"op\":\"t_split\",\"name\":\"s\",\"attrs\":{\"num_outputs\":\"999999999\"},"
                         "\"inputs\":[[0,0]]}",
           "[[1,0]]"),
     MXC_EFORMAT, "more outputs"},
    {GRAPH(VARIABLE("x") ",{\"op\":\"t_act\",\"name\":\"a\",\"attrs\":{\"act_type\":\"relu\"},\"inputs\":[[0,0]]},"
                         "{\"op\":\"t_bn\",\"name\":\"n\",\"inputs\":[[0,0],[0,0],[0,0],[0,0],[1,0]]}",
           "[[2,0]]"),
     MXC_EFORMAT, "node 2 \"n\": input 4 is an auxiliary state, but no variable"},
    {GRAPH(VARIABLE("x") ",{\"op\":\"_backward_t_none\",\"name\":\"b\",\"inputs\":[]}", "[[1,0]]"), MXC_ENOTFOUND,
     "_backward_t_none"},
    {GRAPH(VARIABLE("x") ",{\"op\":\"_backward_t_fc\",\"name\":\"b\",\"inputs\":[]}", "[[1,0]]"), MXC_EFORMAT,
     "control_deps"},
    {GRAPH(VARIABLE("x") ",{\"op\":\"_backward_t_fc\",\"name\":\"b\",\"control_deps\":[0],\"inputs\":[]}", "[[1,0]]"),
     MXC_EFORMAT, "control_deps"},
    {GRAPH(VARIABLE("x") "," FC("[[0,0],[0,0],[0,0]]") ",{\"op\":\"_backward_t_fc\",\"name\":\"b\",\"control_deps\":[1]"
                                                       ",\"inputs\":[[0,0]]}",
           "[[2,0]]"),
     MXC_EFORMAT, "1 inputs, but _backward_t_fc takes 3"},
};

static void refuse(const char *json, size_t bytes, mxc_status status, const char *text) {
    int64_t live = mxci_alloc_live();
    mxc_symbol *symbol = (mxc_symbol *)&live;
    assert_fails(mxc_symbol_from_json(json, bytes, &symbol), status, text);
    assert_null(symbol);
    assert_int_equal(mxci_alloc_live(), live);
}

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        refuse(refused[i].json, strlen(refused[i].json), refused[i].status, refused[i].text);
}

/* ---- every prefix, every bit ------------------------------------------------------------------------------- */

static char *sample(size_t *bytes) {
    mxc_symbol *mlp = test_mlp(), *n = test_op("t_bn", "n", 1, &mlp, "ctx_group", "a", NULL);
    char *json;
    assert_ok(mxc_symbol_to_json(n, &json));
    *bytes = strlen(json);
    mxc_symbol_release(mlp);
    mxc_symbol_release(n);
    return json;
}

/* Read it; what can be read must also be inferred, written and drawn without harm. */
static void survive(const char *json, size_t bytes) {
    mxc_symbol *symbol;
    mxc_inferred in;
    char *text;
    if (mxc_symbol_from_json(json, bytes, &symbol) != MXC_OK)
        return;
    if (mxc_symbol_infer(symbol, 0, NULL, NULL, NULL, &in) == MXC_OK)
        mxc_inferred_release(&in);
    assert_ok(mxc_symbol_to_json(symbol, &text));
    mxci_free(text);
    mxc_symbol_release(symbol);
}

static void test_prefixes(void **state) {
    size_t bytes;
    char *json = sample(&bytes);
    int64_t live = mxci_alloc_live();
    (void)state;
    for (size_t n = 0; n < bytes; n++) {
        char *copy = malloc(n + 1); /* a block of its own, so that reading past its end is seen */
        mxc_symbol *symbol;
        memcpy(copy, json, n);
        assert_status(mxc_symbol_from_json(copy, n, &symbol), MXC_EFORMAT);
        free(copy);
    }
    assert_int_equal(mxci_alloc_live(), live);
    mxci_free(json);
}

static void test_flips(void **state) {
    size_t bytes;
    char *json = sample(&bytes);
    int64_t live = mxci_alloc_live();
    (void)state;
    for (size_t i = 0; i < 8 * bytes; i += TEST_SANITIZED ? 3 : 1) {
        json[i / 8] = (char)(json[i / 8] ^ (1 << i % 8));
        survive(json, bytes);
        json[i / 8] = (char)(json[i / 8] ^ (1 << i % 8));
    }
    assert_int_equal(mxci_alloc_live(), live);
    mxci_free(json);
}

/* ---- large ------------------------------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other programs do not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* n copies of text with before and after around them; refused with what and in time. */
static void refuse_repeated(const char *before, const char *text, size_t n, const char *after, const char *what) {
    size_t part = strlen(text), head = strlen(before), tail = strlen(after), bytes = head + n * part + tail;
    char *json = malloc(bytes);
    double start = seconds();
    memcpy(json, before, head);
    for (size_t i = 0; i < n; i++)
        memcpy(json + head + i * part, text, part);
    memcpy(json + head + n * part, after, tail);
    refuse(json, bytes, MXC_EFORMAT, what);
    assert_true(seconds() - start < 1.0 + (double)bytes / 1e6);
    free(json);
}

static void test_large(void **state) {
    size_t n = TEST_SCALE(1000000);
    (void)state;
    refuse_repeated("", "[", n, "", "depth");
    refuse_repeated("{\"nodes\":", "{\"a\":", n, "", "depth");
    refuse_repeated("", " ", 20 * n, "", "symbol JSON: byte");
    refuse_repeated("{\"nodes\":[", "0,", n, "0]}", "node 0");
    refuse_repeated("{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[", "[0,0],", n, "[0,0]]}]}", "has inputs");
    refuse_repeated("{\"nodes\":[{\"op\":\"t_fc\",\"name\":\"", "x", n, "\"}]}", "node 0");
}

static void test_many_attributes(void **state) {
    size_t n = TEST_SCALE(100000), used;
    char *json = malloc(40 * n);
    (void)state;
    used = (size_t)sprintf(json, "{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"attrs\":{");
    for (size_t i = 0; i < n; i++) /* in falling order, which is the worst for sorted insertion */
        used += (size_t)sprintf(json + used, "\"%08zu\":\"\",", n - i);
    used += (size_t)sprintf(json + used, "\"\":\"\"}}]}");
    refuse(json, used, MXC_EFORMAT, "4096 attributes");
    free(json);
}

/* ---- as MXNet 1.9.1 writes ----------------------------------------------------------------------------------- */

/* The text comes back byte for byte: operators' names, versions of what BatchNorm changes, parameters that no operator
 * reads. */
static void test_same_text(void **state) {
    static const char text[] =
        "{\n  \"nodes\": [\n"
        "    {\n      \"op\": \"null\", \n      \"name\": \"a\", \n      \"inputs\": []\n    }, \n"
        "    {\n      \"op\": \"null\", \n      \"name\": \"g\", \n      \"inputs\": []\n    }, \n"
        "    {\n      \"op\": \"null\", \n      \"name\": \"mean\", \n      \"inputs\": []\n    }, \n"
        "    {\n      \"op\": \"null\", \n      \"name\": \"var\", \n      \"inputs\": []\n    }, \n"
        "    {\n      \"op\": \"BatchNorm\", \n      \"name\": \"n\", \n"
        "      \"inputs\": [[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 1], [3, 0, 1]]\n    }, \n"
        "    {\n      \"op\": \"BatchNorm\", \n      \"name\": \"m\", \n"
        "      \"inputs\": [[4, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 2], [3, 0, 2]]\n    }, \n"
        "    {\n      \"op\": \"elemwise_mul\", \n      \"name\": \"x\", \n"
        "      \"inputs\": [[4, 0, 0], [5, 0, 0]]\n    }, \n"
        "    {\n      \"op\": \"elemwise_sub\", \n      \"name\": \"y\", \n"
        "      \"inputs\": [[5, 0, 0], [6, 0, 0]]\n    }, \n"
        "    {\n      \"op\": \"elemwise_div\", \n      \"name\": \"z\", \n"
        "      \"inputs\": [[7, 0, 0], [6, 0, 0]]\n    }, \n"
        "    {\n      \"op\": \"broadcast_maximum\", \n      \"name\": \"w\", \n      \"attrs\": {\"axis\": \"1\"}, \n"
        "      \"inputs\": [[8, 0, 0], [6, 0, 0]]\n    }\n"
        "  ], \n  \"arg_nodes\": [0, 1, 2, 3], \n"
        "  \"node_row_ptr\": [\n    0, \n    1, \n    2, \n    3, \n    4, \n    7, \n    10, \n    11, \n"
        "    12, \n    13, \n"
        "    14\n  ], \n  \"heads\": [[9, 0, 0], [2, 0, 2]], \n  \"attrs\": {\"mxnet_version\": [\"int\", 10901]}\n}";
    mxc_symbol *s = read_json(text);
    char *json;
    (void)state;
    assert_ok(mxc_symbol_to_json(s, &json));
    assert_string_equal(json, text);
    mxc_free(json);
    mxc_symbol_release(s);
}

/* _sample_normal without inputs fills an array, as in 0.9.5; with two it draws rows, as from 1.0 on. Other names stand
 * for the one that MXNet writes. */
static void test_sample_of_old(void **state) {
    mxc_symbol *s = read_json(
        GRAPH("{\"op\":\"_sample_normal\",\"name\":\"r\",\"attr\":{\"loc\":\"1\",\"shape\":\"(2,)\"},\"inputs\":[]}",
              "[[0,0]]"));
    char *json;
    (void)state;
    assert_ok(mxc_symbol_to_json(s, &json));
    assert_non_null(strstr(json, "\"op\": \"_random_normal\""));
    mxc_free(json);
    mxc_symbol_release(s);
    s = read_json(
        GRAPH(VARIABLE("mu") "," VARIABLE("sigma") ",{\"op\":\"_sample_normal\",\"name\":\"r\","
                                                   "\"attr\":{\"shape\":\"(2,)\"},\"inputs\":[[0,0],[1,0]]},"
                                                   "{\"op\":\"_Mul\",\"name\":\"m\",\"inputs\":[[2,0],[2,0]]}",
              "[[3,0]]"));
    arguments_are(s, "mu,sigma");
    assert_ok(mxc_symbol_to_json(s, &json));
    assert_non_null(strstr(json, "\"op\": \"_sample_normal\""));
    assert_non_null(strstr(json, "\"op\": \"elemwise_mul\""));
    mxc_free(json);
    mxc_symbol_release(s);
}

static void test_custom_that_is_absent(void **state) {
    const char *json = GRAPH(VARIABLE("x") ",{\"op\":\"Custom\",\"name\":\"mine\","
                                           "\"attr\":{\"op_type\":\"focal_loss\"},\"inputs\":[[0,0]]}",
                             "[[1,0]]");
    mxc_symbol *s;
    (void)state;
    assert_fails(mxc_symbol_from_json(json, strlen(json), &s), MXC_ENOTFOUND,
                 "node 1 \"mine\": Custom: no operator is registered as op_type 'focal_loss'");
    assert_non_null(strstr(mxc_last_error(), "mxc_op_register"));
}

/* MXNet 1.9.1 passes the states of a weight behind its gradient. */
static void test_states_between_arguments(void **state) {
    static const char file[] = GRAPH(
        VARIABLE("w0") "," VARIABLE("g0") "," VARIABLE("m0") "," VARIABLE("x0") "," VARIABLE("w1") "," VARIABLE(
            "g1") "," VARIABLE("m1") "," VARIABLE("x1") ",{\"op\":\"multi_mp_sgd_mom_update\",\"name\":\"u\",\"attrs\":"
                                                        "{\"lrs\":\"(0.1, 0.2)\",\"momentum\":\"0.5\",\"num_weights\":"
                                                        "\"2\",\"wds\":\"(0, "
                                                        "0.1)\"},\"inputs\":[[0,0,0],[1,0,0],[2,0,1],"
                                                        "[3,0,1],[4,0,0],[5,0,0],[6,0,1],[7,0,1]]}",
        "[[8,0,0],[8,1,0]]");
    mxc_symbol *s = read_json(file), *again;
    mxc_names names;
    char *text;
    (void)state;
    for (int i = 0; i < 2; i++) { /* as read, and as written: arguments first, in the order of the nodes */
        arguments_are(s, "w0,g0,w1,g1");
        assert_ok(mxc_symbol_list_aux(s, &names));
        test_names(&names, "m0,x0,m1,x1");
        assert_ok(mxc_symbol_to_json(s, &text));
        assert_non_null(strstr(text, "[[0, 0, 0], [1, 0, 0], [4, 0, 1], [5, 0, 1], [2, 0, 0], [3, 0, 0], [6, 0, 1], "
                                     "[7, 0, 1]]"));
        again = read_json(text);
        mxc_symbol_release(s);
        mxc_free(text);
        s = again;
    }
    mxc_symbol_release(s);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_0_8),
        cmocka_unit_test(test_versions_0_9_and_1),
        cmocka_unit_test(test_hidden_outputs_and_unused_nodes),
        cmocka_unit_test(test_count_left_out),
        cmocka_unit_test(test_argmax_of_old),
        cmocka_unit_test(test_open_axes_of_zeros),
        cmocka_unit_test(test_same_text),
        cmocka_unit_test(test_sample_of_old),
        cmocka_unit_test(test_custom_that_is_absent),
        cmocka_unit_test(test_states_between_arguments),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_many_attributes),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
