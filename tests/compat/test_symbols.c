/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols through MXNet's interface: composition, names, attributes, text, inference, loops. */
#include "front.h"

static void test_compose_and_list(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), copy, part;
    uint32_t n;
    const char **names;
    int success;
    const char *text;
    assert_mx(MXSymbolListArguments(net, &n, &names));
    assert_int_equal(n, 4);
    assert_string_equal(names[1], "fc_weight");
    assert_mx(MXSymbolListOutputs(net, &n, &names));
    assert_string_equal(names[0], "softmax_output");
    assert_mx(NNSymbolListInputNames(net, 0, &n, &names));
    assert_int_equal(n, 4);
    assert_mx(MXSymbolGetName(net, &text, &success));
    assert_true(success);
    assert_string_equal(text, "softmax");
    assert_mx(MXSymbolGetInternals(net, &part));
    assert_mx(MXSymbolGetNumOutputs(part, &n));
    assert_int_equal(n, 6);
    assert_mx(MXSymbolGetName(part, &text, &success));
    assert_false(success);
    MXSymbolFree(part);
    assert_mx(MXSymbolGetChildren(net, &part));
    assert_mx(MXSymbolListOutputs(part, &n, &names));
    assert_int_equal(n, 2);
    MXSymbolFree(part);
    assert_mx(MXSymbolCopy(net, &copy));
    assert_mx(MXSymbolFree(copy));
    assert_mx(MXShallowCopySymbol(net, &copy));
    assert_mx(MXSymbolFree(copy));
    assert_mx_fails(MXSymbolGetOutput(net, 7, &part), "index 7");
    assert_mx_fails(MXSymbolListOutputs(NULL, &n, &names), "NULL");
    MXSymbolFree(net);
    assert_mx(MXSymbolFree(NULL));
}

static void test_variable_has_no_children(void **state) {
    (void)state;
    SymbolHandle x = front_variable("x"), none;
    uint32_t n = 7;
    const char **names;
    assert_mx(MXSymbolGetChildren(x, &none));
    assert_mx(MXSymbolListOutputs(none, &n, &names));
    assert_int_equal(n, 0);
    assert_mx_fails(MXSymbolGetInternals(none, &x), "no outputs");
    MXSymbolFree(none);
    MXSymbolFree(x);
}

static void test_substitution_changes_one_handle(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), shared, input = front_variable("image");
    const char *key = "data";
    uint32_t n;
    const char **names;
    assert_mx(MXShallowCopySymbol(net, &shared));
    assert_mx(MXSymbolCompose(net, "second", 1, &key, &input));
    assert_mx(MXSymbolListArguments(net, &n, &names));
    assert_string_equal(names[0], "image");
    assert_mx(MXSymbolListArguments(shared, &n, &names));
    assert_string_equal(names[0], "data");
    MXSymbolFree(input);
    MXSymbolFree(shared);
    MXSymbolFree(net);
}

static void test_attributes_and_json(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), read, data = front_variable("data");
    SymbolHandle bn = front_op("BatchNorm", "bn", NULL, NULL, 1, &data), inputs;
    const char *text, **pairs;
    uint32_t n;
    int success;
    assert_mx(MXSymbolSetAttr(data, "lr_mult", "2"));
    assert_mx(MXSymbolGetAttr(data, "__lr_mult__", &text, &success));
    assert_true(success);
    assert_string_equal(text, "2");
    assert_mx(MXSymbolGetAttr(data, "none", &text, &success));
    assert_false(success);
    /* the moving averages say how they begin */
    assert_mx(MXSymbolListAttr(bn, &n, &pairs));
    assert_true(front_has(2 * n, pairs, "bn_moving_var$__init__"));
    assert_true(front_has(2 * n, pairs, "[\"one\", {}]"));
    assert_mx(MXSymbolListAttrShallow(data, &n, &pairs));
    assert_int_equal(n, 2);
    assert_mx(MXSymbolSaveToJSON(net, &text));
    assert_mx(MXSymbolCreateFromJSON(text, &read));
    assert_mx(MXSymbolListArguments(read, &n, &pairs));
    assert_int_equal(n, 4);
    assert_mx_fails(MXSymbolCreateFromJSON("{", &inputs), "JSON");
    assert_mx(MXSymbolPrint(net, &text));
    assert_non_null(strstr(text, "FullyConnected"));
    assert_mx(MXSymbolRemoveAmpCast(net, &inputs));
    MXSymbolFree(inputs);
    MXSymbolFree(read);
    MXSymbolFree(bn);
    MXSymbolFree(data);
    MXSymbolFree(net);
}

static const char *attr_of(SymbolHandle symbol, const char *key) {
    const char **pairs;
    uint32_t n;
    assert_mx(MXSymbolListAttr(symbol, &n, &pairs));
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(pairs[2 * i], key))
            return pairs[2 * i + 1];
    return NULL;
}

/* Variables that composing makes take over the operator's parameters and attributes, and those that were given do not.
 */
static void test_attributes_of_made_variables(void **state) {
    (void)state;
    SymbolHandle data = front_variable("data"), weight = front_variable("w"), fc;
    OpHandle creator;
    static const char *const keys[] = {"num_hidden", "lr_mult", "__mood__"}, *const values[] = {"3", "0.5", "so so"};
    static const char *const inputs[] = {"weight", "data"};
    assert_mx(NNGetOpHandle("FullyConnected", &creator));
    assert_mx(MXSymbolCreateAtomicSymbol(creator, 3, keys, values, &fc));
    assert_mx(MXSymbolCompose(fc, "fc", 2, inputs, (SymbolHandle[]){weight, data}));
    assert_string_equal(attr_of(fc, "fc_bias$num_hidden"), "3");
    assert_string_equal(attr_of(fc, "fc_bias$__lr_mult__"), "0.5");
    assert_string_equal(attr_of(fc, "fc_bias$__mood__"), "so so");
    assert_null(attr_of(fc, "w$num_hidden"));
    assert_null(attr_of(fc, "data$__mood__"));
    MXSymbolFree(fc);
    MXSymbolFree(weight);
    MXSymbolFree(data);
}

/* An operator taken off its inputs, and applied to others. */
static void test_atomic_of_symbol(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), fc, atomic, x = front_variable("x"), none;
    const char **names, *text;
    uint32_t n;
    int success;
    assert_mx(MXSymbolGetInternals(net, &fc));
    assert_mx(MXSymbolGetOutput(fc, 3, &none)); /* data, weight, bias, the layer */
    assert_mx(MXGenAtomicSymbolFromSymbol(none, &atomic));
    assert_mx(MXSymbolCompose(atomic, "again", 1, NULL, &x));
    assert_mx(MXSymbolListArguments(atomic, &n, &names));
    assert_int_equal(n, 3);
    assert_string_equal(names[0], "x");
    assert_string_equal(names[1], "again_weight");
    assert_mx(MXSymbolGetAttr(atomic, "num_hidden", &text, &success));
    assert_true(success);
    MXSymbolFree(atomic);
    SymbolHandle first;
    OpHandle creator;
    assert_mx(NNGetOpHandle("Flatten", &creator));
    assert_mx(MXSymbolCreateAtomicSymbol(creator, 0, NULL, NULL, &first));
    assert_mx(MXGenAtomicSymbolFromSymbol(first, &atomic)); /* of one that is not applied yet, and not needed later */
    MXSymbolFree(first);
    assert_mx(MXSymbolCompose(atomic, "flat", 1, NULL, &x));
    assert_mx(MXSymbolListOutputs(atomic, &n, &names));
    assert_string_equal(names[0], "flat_output");
    MXSymbolFree(atomic);
    assert_mx_fails(MXGenAtomicSymbolFromSymbol(x, &atomic), "no result of one operator");
    MXSymbolFree(none);
    MXSymbolFree(fc);
    MXSymbolFree(x);
    MXSymbolFree(net);
}

/* Backends leave a symbol as it is. */
static void test_backends(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), same;
    const char **names;
    uint32_t n;
    int n_args = 1, n_aux = 1;
    assert_mx(MXGenBackendSubgraph(net, "MKLDNN", &same));
    assert_mx(MXSymbolListArguments(same, &n, &names));
    assert_int_equal(n, 4);
    MXSymbolFree(same);
    assert_mx(MXOptimizeForBackend(net, "MKLDNN", 1, &same, 0, NULL, 0, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, 0,
                                   NULL, NULL, 0, NULL, NULL, false, &n_args, NULL, NULL, &n_aux, NULL, NULL));
    assert_mx(MXSymbolListArguments(same, &n, &names));
    assert_int_equal(n, 4);
    assert_true(n_args == 0 && n_aux == 0);
    MXSymbolFree(same);
    assert_mx_fails(MXGenBackendSubgraph(net, NULL, &same), "NULL");
    MXSymbolFree(net);
}

/* Until a function is called that 0.9.5 does not have, attributes are written as that version reads them. */
static void test_json_of_old_front_ends(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), removed, read;
    const char *text;
    assert_mx(MXSymbolSaveToJSON(net, &text));
    assert_non_null(strstr(text, "\"attr\": {\"num_hidden\": \"2\"}"));
    assert_mx(MXSymbolCreateFromJSON(text, &read));
    assert_mx(MXSymbolRemoveAmpCast(net, &removed));
    assert_mx(MXSymbolSaveToJSON(net, &text));
    assert_non_null(strstr(text, "\"attrs\": {\"num_hidden\": \"2\"}"));
    MXSymbolFree(read);
    MXSymbolFree(removed);
    MXSymbolFree(net);
}

static void test_files(void **state) {
    (void)state;
    test_path folder, path;
    SymbolHandle net = front_classifier(), read;
    uint32_t n;
    test_temp_dir(folder);
    test_join(path, folder, "net.json");
    assert_mx(MXSymbolSaveToFile(net, path));
    assert_mx(MXSymbolCreateFromFile(path, &read));
    assert_mx(MXSymbolGetNumOutputs(read, &n));
    assert_int_equal(n, 1);
    assert_mx_fails(MXSymbolCreateFromFile("/nowhere/net.json", &net), "/nowhere");
    MXSymbolFree(read);
    MXSymbolFree(net);
    test_remove_dir(folder);
}

static void test_infer_shapes(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    const char *key = "data";
    const uint32_t offsets[2] = {0, 2}, dims[2] = {5, 3};
    const int signed_dims[2] = {5, 3};
    const int64_t wide_offsets[2] = {0, 2}, wide_dims[2] = {5, 3};
    uint32_t n_in, n_out, n_aux;
    const uint32_t *in_ndim, *out_ndim, *aux_ndim, **in, **out, **aux;
    const int *ndim[3], **lists[3];
    const int64_t **wide[3];
    size_t sizes[3];
    int complete;
    assert_mx(MXSymbolInferShape(net, 1, &key, offsets, dims, &n_in, &in_ndim, &in, &n_out, &out_ndim, &out, &n_aux,
                                 &aux_ndim, &aux, &complete));
    assert_true(complete && n_in == 4 && n_out == 1 && n_aux == 0);
    assert_true(in_ndim[1] == 2 && in[1][0] == 2 && in[1][1] == 3 && out[0][0] == 5 && out[0][1] == 2);
    assert_mx(MXSymbolInferShapeEx(net, 1, &key, offsets, signed_dims, &n_in, &ndim[0], &lists[0], &n_out, &ndim[1],
                                   &lists[1], &n_aux, &ndim[2], &lists[2], &complete));
    assert_true(complete && lists[0][3][0] == 5 && ndim[0][3] == 1);
    assert_mx(MXSymbolInferShapeEx64(net, 1, &key, wide_offsets, wide_dims, &sizes[0], &ndim[0], &wide[0], &sizes[1],
                                     &ndim[1], &wide[1], &sizes[2], &ndim[2], &wide[2], &complete));
    assert_true(complete && sizes[0] == 4 && wide[0][1][1] == 3);
    /* Without anything known, ranks are 0. */
    assert_mx(MXSymbolInferShape(net, 0, NULL, offsets, dims, &n_in, &in_ndim, &in, &n_out, &out_ndim, &out, &n_aux,
                                 &aux_ndim, &aux, &complete));
    assert_true(!complete && in_ndim[0] == 0);
    assert_mx(MXSymbolInferShapePartial(net, 0, NULL, offsets, dims, &n_in, &in_ndim, &in, &n_out, &out_ndim, &out,
                                        &n_aux, &aux_ndim, &aux, &complete));
    assert_true(complete);
    key = "date";
    assert_mx_fails(MXSymbolInferShape(net, 1, &key, offsets, dims, &n_in, &in_ndim, &in, &n_out, &out_ndim, &out,
                                       &n_aux, &aux_ndim, &aux, &complete),
                    "data");
    MXSymbolFree(net);
}

static void test_infer_types(void **state) {
    (void)state;
    SymbolHandle net = front_classifier();
    const char *key = "data";
    const int *types[3], half = 2, wrong = 99;
    uint32_t n[3];
    int complete;
    assert_mx(MXSymbolInferType(net, 1, &key, &half, &n[0], &types[0], &n[1], &types[1], &n[2], &types[2], &complete));
    assert_int_equal(types[0][1], 2);
    assert_mx(
        MXSymbolInferTypePartial(net, 0, NULL, NULL, &n[0], &types[0], &n[1], &types[1], &n[2], &types[2], &complete));
    assert_true(complete && types[0][0] == -1);
    assert_mx_fails(
        MXSymbolInferType(net, 1, &key, &wrong, &n[0], &types[0], &n[1], &types[1], &n[2], &types[2], &complete), "99");
    MXSymbolFree(net);
}

/* What the front end does for sym.contrib.foreach: rows + state * outer, with outer from outside of the body. */
static void test_loop(void **state) {
    (void)state;
    SymbolHandle outer = front_variable("outer"), doubled = front_op("_mul_scalar", "two", "scalar", "2", 1, &outer);
    SymbolHandle row = front_variable("row"), old = front_variable("old"), body, *cut, loop;
    const char *keys[] = {"num_outputs", "num_out_data", "in_state_locs", "in_data_locs", "remain_locs"};
    const char *values[] = {"2", "1", "[1]", "[0]", "[2]"}, **names;
    OpHandle creator;
    int n_cut;
    uint32_t n;
    SymbolHandle pair[2] = {old, doubled}, in[4];
    SymbolHandle product = front_op("elemwise_mul", "product", "__subgraph_name__", "loop", 2, pair);
    pair[0] = row;
    pair[1] = product;
    SymbolHandle sum = front_op("elemwise_add", "sum", "__subgraph_name__", "loop", 2, pair);
    SymbolHandle again = front_op("_copy", "again", "__subgraph_name__", "loop", 1, &sum);
    pair[0] = sum;
    pair[1] = again;
    assert_mx(MXSymbolCreateGroup(2, pair, &body));
    assert_mx(MXSymbolCutSubgraph(body, &cut, &n_cut));
    /* row and old are variables without the attribute, so that they are cut as well */
    assert_int_equal(n_cut, 3);
    SymbolHandle kept[3] = {cut[0], cut[1], cut[2]};
    assert_mx(NNSymbolListInputNames(body, 0, &n, &names));
    assert_int_equal(n, 3);
    assert_true(front_has(n, names, "two_output"));
    assert_mx(NNGetOpHandle("_foreach", &creator));
    assert_mx(MXSymbolCreateAtomicSymbol(creator, 5, keys, values, &loop));
    in[0] = body;
    in[1] = front_variable("rows");
    in[2] = front_variable("first");
    in[3] = doubled;
    assert_mx_fails(MXSymbolCompose(loop, "loop", 0, NULL, in), "subgraphs");
    assert_mx(MXSymbolCompose(loop, "loop", 4, NULL, in));
    assert_mx(MXSymbolListArguments(loop, &n, &names));
    assert_int_equal(n, 3);
    SymbolHandle made[] = {outer, doubled, row,     old,     product, sum,   again,
                           body,  kept[0], kept[1], kept[2], loop,    in[1], in[2]};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        MXSymbolFree(made[i]);
}

static void test_refused(void **state) {
    (void)state;
    SymbolHandle net = front_classifier(), out;
    OpHandle creator;
    const char *key = "num_hiden", *value = "2";
    assert_mx(NNGetOpHandle("FullyConnected", &creator));
    assert_mx_fails(MXSymbolCreateAtomicSymbol(creator, 1, &key, &value, &out), "num_hid");
    assert_mx_fails(MXSymbolCreateVariable("", &out), "empty");
    assert_mx_fails(MXSymbolCreateVariable(NULL, &out), "NULL");
    assert_mx_fails(MXSymbolCreateGroup(0, NULL, &out), "at least one");
    MXSymbolFree(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_of_old_front_ends), /* first */
        cmocka_unit_test(test_compose_and_list),
        cmocka_unit_test(test_variable_has_no_children),
        cmocka_unit_test(test_substitution_changes_one_handle),
        cmocka_unit_test(test_attributes_and_json),
        cmocka_unit_test(test_attributes_of_made_variables),
        cmocka_unit_test(test_atomic_of_symbol),
        cmocka_unit_test(test_backends),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_infer_shapes),
        cmocka_unit_test(test_infer_types),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
