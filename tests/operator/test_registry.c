/* SPDX-License-Identifier: Apache-2.0 */
/* The registry, operators with parameters, and their documentation: what is found, what is refused and in which words.
 */
#include "support.h"

#include <mxc/op.h>

#include "base/sys.h"

static mxc_status nothing(const mxc_op_call *call) {
    (void)call;
    return MXC_OK;
}

#define FORWARD .forward = {[MXC_CPU] = nothing}

static mxc_op *create(const char *name, int n, const char *const *keys, const char *const *values) {
    mxc_op *op;
    assert_ok(mxc_op_create(name, n, keys, values, &op));
    return op;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static void test_find(void **state) {
    (void)state;
    assert_non_null(mxc_op_find("Convolution"));
    assert_ptr_equal(mxc_op_find("Pooling_v1"), mxc_op_find("Pooling"));
    assert_null(mxc_op_find("convolution"));
    assert_null(mxc_op_find(""));
    assert_null(mxc_op_find(NULL));
    assert_null(mxc_op_at(-1));
    assert_null(mxc_op_at(mxc_op_count()));
}

static void test_enumeration_is_by_registration(void **state) {
    static const mxc_op_def first = {.size = sizeof first, .name = "t_first", FORWARD};
    static const mxc_op_def second = {
        .size = sizeof second,
        .name = "t_second",
        .aliases = "t_zweite,t_deuxieme",
        FORWARD,
    };
    int count = mxc_op_count();
    (void)state;
    assert_ok(mxc_op_register(&first));
    assert_ok(mxc_op_register(&second));
    assert_int_equal(mxc_op_count(), count + 2);
    assert_ptr_equal(mxc_op_at(count), &first);
    assert_ptr_equal(mxc_op_at(count + 1), &second);
    assert_ptr_equal(mxc_op_find("t_deuxieme"), &second);
    assert_string_equal(mxc_op_family("t_deuxieme"), "custom");
}

static void test_family(void **state) {
    (void)state;
    assert_string_equal(mxc_op_family("Convolution"), "nn");
    assert_string_equal(mxc_op_family("Pooling_v1"), "nn");
    assert_string_equal(mxc_op_family("sum"), "reduce");
    assert_string_equal(mxc_op_family("relu"), "elementwise");
    assert_string_equal(mxc_op_family("Custom"), "custom");
    assert_null(mxc_op_family("convolution"));
    assert_null(mxc_op_family(NULL));
}

static void test_unknown_name(void **state) {
    mxc_op *op;
    char *text;
    (void)state;
    assert_fails(mxc_op_create("Convolutoin", 0, NULL, NULL, &op), MXC_ENOTFOUND,
                 "no operator is called 'Convolutoin'; similar names: 'Convolution'");
    assert_null(op);
    assert_fails(mxc_op_create("CONCAT", 0, NULL, NULL, &op), MXC_ENOTFOUND, "'Concat'");
    assert_fails(mxc_op_create("max_axes", 0, NULL, NULL, &op), MXC_ENOTFOUND, "'max_axis'");
    assert_fails(mxc_op_create("qqqqqqqqqqqqqqqqqq", 0, NULL, NULL, &op), MXC_ENOTFOUND, "'qqqqqqqqqqqqqqqqqq'");
    assert_null(strstr(mxc_last_error(), "similar"));
    assert_fails(mxc_op_create("Conv", 0, NULL, NULL, &op), MXC_ENOTFOUND, "'Convolution'");
    assert_fails(mxc_op_create("conv2d", 0, NULL, NULL, &op), MXC_ENOTFOUND, "similar names: 'Convolution'");
    assert_fails(mxc_op_create("Linear", 0, NULL, NULL, &op), MXC_ENOTFOUND, "similar names: 'FullyConnected'");
    assert_fails(mxc_op_create("_npi_add", 0, NULL, NULL, &op), MXC_ENOTFOUND,
                 "no operator is called '_npi_add': numpy-style operators of MXNet are not supported");
    assert_fails(mxc_op_describe("cast_storage", &text), MXC_ENOTFOUND, "'cast_storage': sparse storage types");
    assert_fails(mxc_op_create("_contrib_dgl_subgraph", 0, NULL, NULL, &op), MXC_ENOTFOUND, "(CSR) are not supported");
    assert_fails(mxc_op_create("matmul", 0, NULL, NULL, &op), MXC_ENOTFOUND, "similar names: 'dot'");
    assert_fails(mxc_op_create("_sparse_adagrad_update", 0, NULL, NULL, &op), MXC_ENOTFOUND,
                 "dense: _contrib_group_adagrad_update");
    assert_fails(mxc_op_create(NULL, 0, NULL, NULL, &op), MXC_EINVAL, "name must not be NULL");
    assert_fails(mxc_op_describe("tanhh", &text), MXC_ENOTFOUND, "'tanh'");
    assert_null(text);
}

static void test_foreign_names_lead_to_operators(void **state) {
    static const char *const names[][2] = {
#define FOREIGN(name, ours) {name, ours},
#include "operator/foreign_names.def"
#undef FOREIGN
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_null(mxc_op_find(names[i][0])); /* else nobody would see the suggestion */
        assert_non_null(mxc_op_find(names[i][1]));
    }
}

/* ---- registering ------------------------------------------------------------------------------------------------- */

static mxc_status from_data(mxc_op_sig *sig, const mxc_tensor *in) {
    (void)sig, (void)in;
    return MXC_OK;
}

static void test_wrong_definitions(void **state) {
    static const mxc_param no_params[] = {MXC_PARAM_END};
    static const struct {
        mxc_op_def def;
        mxc_status status;
        const char *message;
    } wrong[] = {
        {{.name = "t_wrong", FORWARD}, MXC_EINVAL, "def.size is 0"},
        {{.size = sizeof(mxc_op_def) - 8, .name = "t_wrong", FORWARD}, MXC_EINVAL, "expected"},
        {{.size = sizeof(mxc_op_def), FORWARD}, MXC_EINVAL, "name is empty"},
        {{.size = sizeof(mxc_op_def), .name = "", FORWARD}, MXC_EINVAL, "name is empty"},
        {{.size = sizeof(mxc_op_def), .name = "t_wrong"}, MXC_EINVAL, "t_wrong: has no forward function"},
        {{.size = sizeof(mxc_op_def), .name = "t_wrong", .params = no_params, FORWARD}, MXC_EINVAL, "no param_size"},
        {{.size = sizeof(mxc_op_def), .name = "t_wrong", .variadic = "n", FORWARD},
         MXC_EINVAL,
         "variadic without params"},
        {{.size = sizeof(mxc_op_def), .name = "t_wrong", .infer_from_data = from_data, FORWARD},
         MXC_EINVAL,
         "t_wrong: infer_from_data goes with MXC_OP_ARRAY_ONLY"},
        {{.size = sizeof(mxc_op_def), .name = "t_wrong", .n_subgraphs = 4, FORWARD},
         MXC_EINVAL,
         "t_wrong: n_subgraphs is 4, expected 0"},
        {{.size = sizeof(mxc_op_def), .name = "relu", FORWARD}, MXC_EEXIST, "relu: the name 'relu' is taken"},
        {{.size = sizeof(mxc_op_def), .name = "t_wrong", .aliases = "t_new,crop", FORWARD},
         MXC_EEXIST,
         "'crop' is taken"},
    };
    int count = mxc_op_count();
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(mxc_op_register(&wrong[i].def), wrong[i].status, wrong[i].message);
    assert_fails(mxc_op_register(NULL), MXC_EINVAL, "def must not be NULL");
    assert_int_equal(mxc_op_count(), count);
    assert_null(mxc_op_find("t_wrong"));
    assert_null(mxc_op_find("t_new"));
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *op, const char *key, const char *value, const char *message) {
    mxc_op *out;
    assert_fails(mxc_op_create(op, key != NULL, &key, &value, &out), MXC_EINVAL, message);
    assert_non_null(strstr(mxc_last_error(), op));
    assert_null(out);
}

static void test_wrong_parameters(void **state) {
    static const char *const twice[] = {"p", "p"}, *const values[] = {"0.5", "0.6"};
    mxc_op *op;
    (void)state;
    expect_refusal("FullyConnected", NULL, NULL, "\"num_hidden\" is missing");
    expect_refusal("FullyConnected", "num_hiden", "3", "num_hidden"); /* the candidates */
    expect_refusal("FullyConnected", "num_hidden", "three", "\"three\"");
    expect_refusal("FullyConnected", "num_hidden", "3.5", "3.5");
    expect_refusal("FullyConnected", "num_hidden", "0", "num_hidden");
    expect_refusal("Dropout", "p", "1.5", "1.5");
    expect_refusal("Dropout", "p", "", "p");
    expect_refusal("Activation", "act_type", "rellu", "relu");
    expect_refusal("transpose", "axes", "(0,1", "(0,1");
    expect_refusal("Cast", "dtype", "float", "float");
    assert_fails(mxc_op_create("Dropout", 2, twice, values, &op), MXC_EINVAL, "p");
}

static void test_parameters_are_kept(void **state) {
    static const char *const keys[] = {"num_hidden", "no_bias"}, *const values[] = {"3", "True"};
    const char *key, *value;
    mxc_op *op = create("FullyConnected", 2, keys, values);
    (void)state;
    assert_int_equal(mxc_op_n_given(op), 2);
    mxc_op_given(op, 0, &key, &value);
    assert_string_equal(key, "num_hidden");
    assert_string_equal(value, "3");
    assert_ptr_equal(mxc_op_retain(op), op);
    mxc_op_release(op);
    assert_ptr_equal(mxc_op_get_def(op), mxc_op_find("FullyConnected"));
    mxc_op_release(op);
    mxc_op_release(NULL);
}

/* Counts and names follow from the parameters. */
static void test_slots(void **state) {
    static const char *const hidden = "num_hidden", *const no_bias[] = {"num_hidden", "no_bias"}, *const three = "3";
    static const char *const true_values[] = {"3", "1"}, *const num_args = "num_args";
    char name[32], cut[4];
    mxc_op *op = create("FullyConnected", 1, &hidden, &three);
    (void)state;
    assert_int_equal(mxc_op_n_args(op), 3);
    assert_string_equal(mxc_op_arg_name(op, 2, name, sizeof name), "bias");
    assert_string_equal(mxc_op_arg_name(op, 1, cut, sizeof cut), "wei");
    mxc_op_release(op);
    op = create("FullyConnected", 2, no_bias, true_values);
    assert_int_equal(mxc_op_n_args(op), 2);
    mxc_op_release(op);
    op = create("Concat", 1, &num_args, &three);
    assert_int_equal(mxc_op_n_args(op), 3);
    assert_string_equal(mxc_op_arg_name(op, 2, name, sizeof name), "arg2");
    mxc_op_release(op);
    op = create("BatchNorm", 0, NULL, NULL);
    assert_int_equal(mxc_op_n_outputs(op), 3);
    assert_int_equal(mxc_op_n_visible(op), 1);
    assert_int_equal(mxc_op_n_aux(op), 2);
    assert_string_equal(mxc_op_aux_name(op, 1, name, sizeof name), "moving_var");
    assert_string_equal(mxc_op_output_name(op, 2, name, sizeof name), "var");
    mxc_op_release(op);
}

/* Slots from 63 on share one bit. */
static void test_needs(void **state) {
    (void)state;
    assert_true(mxc_need_has(5, 0) && !mxc_need_has(5, 1) && mxc_need_has(5, 2));
    assert_true(mxc_need_has((uint64_t)1 << 63, 63) && mxc_need_has((uint64_t)1 << 63, 1000));
    assert_true(!mxc_need_has((uint64_t)1 << 63, 62) && mxc_need_has(MXC_NEED_ALL, 5000));
}

/* ---- documentation ----------------------------------------------------------------------------------------------- */

static void expect_words(const char *op, const char *const *words) {
    char *text;
    assert_ok(mxc_op_describe(op, &text));
    for (; *words; words++)
        if (!strstr(text, *words))
            fail_msg("%s: lacks \"%s\":\n%s", op, *words, text);
    mxc_free(text);
}

static void test_describe(void **state) {
    (void)state;
    expect_words("Pooling_v1",
                 (const char *[]){"Pooling\n\n", "Other names: Pooling_v1", "Arguments: data", "Outputs: output",
                                  "Data types: float32", "pool_type : {", "'max'", "stride", NULL});
    expect_words("BatchNorm",
                 (const char *[]){"Arguments: data, gamma, beta", "Auxiliary states: moving_mean, moving_var",
                                  "eps : float, optional, default=", "at least 0", NULL});
    expect_words("Concat", (const char *[]){"Arguments: arg0, arg1, ... (num_args of them)", NULL});
    expect_words("FullyConnected", (const char *[]){"num_hidden : int, required", NULL});
}

/* Each allocation of each call fails in turn. */
static void test_no_memory(void **state) {
    static const char *const key = "num_hidden", *const value = "3";
    static const mxc_op_def def = {.size = sizeof def, .name = "t_memory", .aliases = "t_m1,t_m2", FORWARD};
    mxc_op *op = NULL;
    char *text = NULL;
    int64_t live;
    mxc_status status[3];
    (void)state;
    assert_true(mxc_op_count() > 0);
    live = mxci_alloc_live();
    for (int n = 1; n < 40; n++) {
        mxci_test_fail_alloc(n, 0);
        status[0] = mxc_op_create("FullyConnected", 1, &key, &value, &op);
        mxci_test_fail_alloc(n, 0);
        status[1] = mxc_op_describe("Convolution", &text);
        mxci_test_fail_alloc(n, 0);
        status[2] = mxc_op_register(&def);
        mxci_test_fail_alloc(0, 0);
        for (int i = 0; i < 2; i++)
            assert_true(status[i] == MXC_OK || status[i] == MXC_ENOMEM);
        assert_true((status[0] == MXC_OK) == (op != NULL) && (status[1] == MXC_OK) == (text != NULL));
        assert_true((mxc_op_find("t_m2") != NULL) == (status[2] != MXC_ENOMEM));
        mxc_op_release(op);
        mxc_free(text);
    }
    assert_int_equal(status[0] | status[1], MXC_OK);
    assert_int_equal(status[2], MXC_EEXIST);
    assert_true(mxci_alloc_live() <= live + 4); /* the new operator's names */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_enumeration_is_by_registration),
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_unknown_name),
        cmocka_unit_test(test_foreign_names_lead_to_operators),
        cmocka_unit_test(test_wrong_definitions),
        cmocka_unit_test(test_wrong_parameters),
        cmocka_unit_test(test_parameters_are_kept),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
