/* SPDX-License-Identifier: Apache-2.0 */
/* The pack and epilogue passes on quantized convolutions: what becomes of their sums is computed with them. Results are
 * the same, bit for bit. */
#include "executor/graphs.h"

#define CALIBRATED "min_calib_range=-1.5 max_calib_range=2"

/* ---- building ---------------------------------------------------------------------------------------------------- */

/* An operator on outputs of symbols, which are released. Names: comma-separated names of its arguments. */
static mxc_symbol *apply(const char *op, const char *name, const char *params, int n, const char *const *names,
                         mxc_symbol *const *in) {
    char room[256], *keys[16], *values[16];
    int n_params = 0;
    mxc_symbol *out;
    snprintf(room, sizeof room, "%s", params);
    for (char *word = strtok(room, " "); word; word = strtok(NULL, " ")) {
        keys[n_params] = word;
        values[n_params] = strchr(word, '=') + 1;
        values[n_params++][-1] = '\0';
    }
    assert_ok(
        mxc_symbol_op(op, name, n_params, (const char *const *)keys, (const char *const *)values, n, names, in, &out));
    return out;
}

/* On the three outputs of a quantized form, which is released. */
static mxc_symbol *on_form(const char *op, const char *name, const char *params, mxc_symbol *form,
                           const char *const names[3]) {
    mxc_symbol *in[3], *out;
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_symbol_output(form, i, &in[i]));
    out = apply(op, name, params, 3, names, in);
    for (int i = 0; i < 3; i++)
        mxc_symbol_release(in[i]);
    mxc_symbol_release(form);
    return out;
}

static mxc_symbol *conv(const char *name, const char *params, mxc_symbol *codes) {
    static const char *const names[] = {"data", "min_data", "max_data"};
    return on_form("_contrib_quantized_conv", name, params, codes, names);
}

static mxc_symbol *convert(const char *op, const char *name, const char *params, mxc_symbol *form) {
    return on_form(op, name, params, form, NULL);
}

static mxc_symbol *quantize(const char *name, const char *params, mxc_symbol *in) {
    return net_on("_contrib_quantize_v2", name, params, in);
}

static mxc_symbol *first(mxc_symbol *form) {
    mxc_symbol *out;
    assert_ok(mxc_symbol_output(form, 0, &out));
    mxc_symbol_release(form);
    return out;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

#define LAST "kernel=(3,3) pad=(1,1) num_filter=8 no_bias=1 layout=NHWC"
#define Q(i) "_contrib_quantize_v2(data)" i
#define PACKED(name)                                              \
    "_packed_quantized_conv(" Q("") ",_pack_quantized_conv(" name \
                                    "_weight)," Q(".1") "," Q(".2") "," name "_min_weight," name "_max_weight"

/* A text in which output 0 of a node stands without an index. */
static void expect(mxc_symbol *symbol, const char *text) {
    mxc_shape shape = net_shape(4, 2, 6, 6, 8);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
    int is_changed = 0;
    assert_ok(mxci_pass_pack(p->graph, &is_changed));
    p->n_symbol_nodes = p->graph->n_nodes;
    assert_ok(mxci_pass_epilogue(p));
    assert_output(p, text);
    mxci_program_destroy(p);
}

static mxc_symbol *sums(const char *name) {
    return conv(name, LAST, quantize("q", CALIBRATED, net_variable("data")));
}

static void test_codes(void **state) {
    (void)state;
    expect(first(sums("c")), PACKED("c") ")");
    expect(first(convert("_contrib_requantize", "r", CALIBRATED, sums("c"))), PACKED("c") ")");
    expect(first(convert("_contrib_requantize", "r", "", sums("c"))),
           "_contrib_requantize(" PACKED("c") ")," PACKED("c") ").1," PACKED("c") ").2)");
}

static void test_numbers(void **state) {
    (void)state;
    expect(convert("_contrib_dequantize", "d", "", sums("c")), PACKED("c") ")");
    expect(net_on("relu", "a", "", convert("_contrib_dequantize", "d", "", sums("c"))), PACKED("c") ")");
    expect(net_on2("elemwise_add", "s", "", net_variable("data"), convert("_contrib_dequantize", "d", "", sums("c"))),
           PACKED("c") ",data)");
    expect(first(quantize("r", CALIBRATED, convert("_contrib_dequantize", "d", "", sums("c")))), PACKED("c") ").1");
    expect(first(quantize("r", "", convert("_contrib_dequantize", "d", "", sums("c")))),
           "_contrib_quantize_v2(" PACKED("c") "))");
}

/* Numbers that something else reads too stay an output. */
static void test_kept(void **state) {
    mxc_symbol *d = convert("_contrib_dequantize", "d", "", sums("c"));
    mxc_symbol *r = quantize("r", CALIBRATED, mxc_symbol_retain(d));
    (void)state;
    expect(net_on2("elemwise_mul", "m", "", net_on("sin", "s", "", d), net_on("Cast", "f", "dtype=float32", first(r))),
           "elemwise_mul(sin(" PACKED("c") ")),Cast(" PACKED("c") ").1))");
}

/* Sums that two conversions read are not joined with either. */
static void test_shared_sums(void **state) {
    mxc_symbol *c = sums("c"), *d = convert("_contrib_dequantize", "d", "", mxc_symbol_retain(c));
    mxc_symbol *e = convert("_contrib_dequantize", "e", "", c);
    (void)state;
    expect(net_on2("elemwise_mul", "m", "", d, e),
           "elemwise_mul(_contrib_dequantize(" PACKED("c") ")," PACKED("c") ").1," PACKED(
               "c") ").2),"
                    "_contrib_dequantize(" PACKED("c") ")," PACKED("c") ").1," PACKED("c") ").2))");
}

/* Groups are left alone. */
static void test_groups(void **state) {
    (void)state;
    expect(first(conv("c", LAST " num_group=2", quantize("q", CALIBRATED, net_variable("data")))),
           "_contrib_quantized_conv(" Q("") ",c_weight," Q(".1") "," Q(".2") ",c_min_weight,c_max_weight)");
}

/* ---- random graphs ----------------------------------------------------------------------------------------------- */

enum { FLOATS = 12 };

static int below(uint64_t *seed, int n) {
    return (int)((net_random(seed) + 1) / 2 * n);
}

static mxc_symbol *grow_layer(uint64_t *seed, int i, mxc_symbol *codes) {
    static const char *const params[] = {"kernel=(3,3) pad=(1,1) num_filter=8", "kernel=(1,1) num_filter=8 no_bias=1",
                                         "kernel=(3,3) pad=(2,2) dilate=(2,2) num_filter=8 no_bias=1",
                                         "kernel=(5,3) pad=(2,1) num_filter=8",
                                         "kernel=(3,3) pad=(1,1) num_filter=8 num_group=2"};
    static const char *const act[] = {"act_type=relu"};
    char name[16];
    snprintf(name, sizeof name, "c%d", i);
    if (below(seed, 4) == 0) {
        static const char *const pools[] = {"kernel=(3,3) pad=(1,1) pool_type=max",
                                            "kernel=(3,3) pad=(1,1) pool_type=avg"};
        codes = convert("_contrib_quantized_pooling", "", pools[below(seed, 2)], codes);
    }
    if (below(seed, 6) == 0)
        codes = convert("_contrib_quantized_act", "", act[0], codes);
    return conv(name, params[below(seed, 5)], codes);
}

/* Floats of the sums, with some of what may follow them. made: n floats of the same shape. */
static mxc_symbol *grow_numbers(uint64_t *seed, mxc_symbol *c, mxc_symbol *const *made, int n) {
    mxc_symbol *x = convert("_contrib_dequantize", "", "", c);
    if (below(seed, 2))
        x = net_on2(below(seed, 2) ? "elemwise_add" : "broadcast_add", "", "", x,
                    mxc_symbol_retain(made[below(seed, n)]));
    switch (below(seed, 4)) {
    case 0:
        return net_on("Activation", "", "act_type=relu", x);
    case 1:
        return net_on("LeakyReLU", "", "act_type=leaky slope=0.25", x);
    case 2:
        return net_on("clip", "", "a_min=0 a_max=1", x);
    default:
        return x;
    }
}

/* Layers one after the other; data (N,8,H,W), and outputs of the same shape. */
static mxc_symbol *make_graph(uint64_t seed) {
    static const char *const ranges[] = {CALIBRATED " out_type=auto", CALIBRATED " half_steps=1", "",
                                         "min_calib_range=0 max_calib_range=1 out_type=auto"};
    mxc_symbol *made[FLOATS] = {net_variable("data")}, *out;
    const int layers = 2 + below(&seed, 5);
    int n = 1;
    mxc_symbol *codes = quantize("", ranges[below(&seed, 4)], mxc_symbol_retain(made[0]));
    for (int i = 0; i < layers; i++) {
        mxc_symbol *c = grow_layer(&seed, i, codes);
        if (i + 1 < layers && below(&seed, 2)) {
            codes = convert("_contrib_requantize", "", ranges[below(&seed, 4)], c);
            continue;
        }
        made[n] = grow_numbers(&seed, c, made, n);
        codes = quantize("", ranges[below(&seed, 4)], mxc_symbol_retain(made[n++]));
    }
    made[n++] = convert("_contrib_dequantize", "", "", codes);
    assert_ok(mxc_symbol_group(2, &made[n - 2], &out));
    for (int i = 0; i < n; i++)
        mxc_symbol_release(made[i]);
    return out;
}

static void fill_codes(mxc_ndarray *array, uint64_t seed) {
    const int64_t n = mxc_ndarray_size(array);
    int8_t *codes = malloc((size_t)n);
    assert_non_null(codes);
    for (int64_t i = 0; i < n; i++)
        codes[i] = (int8_t)(127 * net_random(&seed));
    assert_ok(mxc_ndarray_set(array, codes, (size_t)n));
    free(codes);
}

/* With a gradient, of data, nothing is packed. */
static mxc_executor *bind(mxc_symbol *s, int train, uint64_t seed) {
    static const char *const data[] = {"data"};
    const mxc_shape shape = net_shape(4, 2, 8, 5 + (int64_t)(seed % 7), 6);
    mxc_executor *e;
    assert_ok(mxc_executor_simple_bind(
        s, NULL, NET_SPEC(.n = 1, .names = data, .shapes = &shape, .req = train ? MXC_REQ_WRITE : MXC_REQ_NULL), &e));
    mxc_names names;
    assert_ok(mxc_symbol_list_arguments(s, &names));
    for (int i = 0; i < names.n; i++) {
        mxc_ndarray *array = mxc_executor_arg(e, i);
        if (strstr(names.items[i], "_min_") || strstr(names.items[i], "_max_"))
            net_fill(array, seed + (uint64_t)i, -0.5, 0.5);
        else if (mxc_ndarray_dtype(array) == MXC_I8)
            fill_codes(array, seed + (uint64_t)i);
        else
            net_fill(array, seed + (uint64_t)i, -2, 2);
    }
    mxc_names_release(&names);
    return e;
}

static void test_random_graphs(void **state) {
    (void)state;
    for (int round = 0; round < TEST_SCALE(150); round++) {
        const uint64_t seed = (uint64_t)round * 77 + 1;
        mxc_symbol *s = make_graph(seed);
        mxc_executor *packed = bind(s, 0, seed), *plain = bind(s, 1, seed);
        assert_ok(mxc_executor_forward(packed, 0));
        assert_ok(mxc_executor_forward(plain, 0));
        assert_same_bits(mxc_executor_output(packed, 0), mxc_executor_output(plain, 0));
        assert_same_bits(mxc_executor_output(packed, 1), mxc_executor_output(plain, 1));
        mxc_executor_destroy(packed);
        mxc_executor_destroy(plain);
        mxc_symbol_release(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),       cmocka_unit_test(test_numbers), cmocka_unit_test(test_kept),
        cmocka_unit_test(test_shared_sums), cmocka_unit_test(test_groups),  cmocka_unit_test(test_random_graphs),
    };
    setenv("MXC_CPU_PACK", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
