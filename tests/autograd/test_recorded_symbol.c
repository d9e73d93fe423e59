/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of recorded graphs: names, structure, views and copies; what cannot become one. */
#include <mxc/cached_op.h>

#include "autograd/arrays.h"

static void assert_arguments(const mxc_symbol *symbol, int n, const char *const *names) {
    mxc_names found;
    assert_ok(mxc_symbol_list_arguments(symbol, &found));
    assert_int_equal(found.n, n);
    for (int i = 0; i < n; i++)
        assert_string_equal(found.items[i], names[i]);
    mxc_names_release(&found);
}

/* What the symbol computes from arguments in its order. */
static mxc_ndarray *run(mxc_symbol *symbol, int n, mxc_ndarray *const *args) {
    mxc_executor *executor;
    mxc_ndarray *out;
    (void)n;
    assert_ok(mxc_executor_bind(symbol, NULL, args, NULL, NULL, NULL, &executor));
    assert_ok(mxc_executor_forward(executor, 0));
    assert_ok(mxc_ndarray_copy(mxc_executor_output(executor, 0), mxc_cpu(0), MXC_F32, &out));
    mxc_executor_destroy(executor);
    return out;
}

/* Arrays of one name are one variable; arrays without names get one each, in the order of arguments. */
static void variables_are_named(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *w = variable(3, 2, 0, MXC_REQ_WRITE), *c = vector(3, 1, 0);
    mxc_symbol *symbol;
    (void)state;
    const int scope = mxc_autograd_record(1);
    mxc_ndarray *xw = binary("elemwise_mul", x, w), *sum = binary("elemwise_add", xw, c);
    mxc_ndarray *y = binary("elemwise_mul", sum, w);
    mxc_autograd_leave(scope);
    const char *name = "x";
    assert_ok(mxc_autograd_symbol(1, &y, 1, &x, &name, &symbol));
    assert_arguments(symbol, 3, (const char *[]){"x", "var0", "var1"});
    mxc_ndarray *again = run(symbol, 3, (mxc_ndarray *[]){x, w, c});
    assert_values(again, 6, 4);
    assert_values(y, 6, 4);
    mxc_symbol_release(symbol);
    mxc_ndarray *both[] = {x, w};
    assert_fails(mxc_autograd_symbol(1, &y, 2, both, (const char *[]){"a", "a"}, &symbol), MXC_EINVAL,
                 "two variables are called a");
    assert_fails(mxc_autograd_symbol(1, &y, 1, &w, (const char *[]){"var0"}, &symbol), MXC_EINVAL,
                 "two variables are called var0");
    assert_null(symbol);
    assert_ok(backward(y)); /* the graph is as it was */
    assert_fails(mxc_autograd_symbol(1, &y, 0, NULL, NULL, &symbol), MXC_ESTATE, "backward has freed the graph");
    release_all(7, (mxc_ndarray *[]){x, w, c, xw, sum, y, again});
}

static void views_and_copies_become_operators(void **state) {
    const int64_t dims[] = {2, 2};
    mxc_ndarray *x = variable(6, 1, 1, MXC_REQ_WRITE), *part, *matrix, *row, *wide, *there, *back;
    mxc_symbol *symbol;
    char *text;
    (void)state;
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_ndarray_slice(x, 1, 5, &part));           /* 2 3 4 5 */
    assert_ok(mxc_ndarray_reshape(part, 2, dims, &matrix)); /* 2 3, 4 5 */
    assert_ok(mxc_ndarray_at(matrix, 1, &row));             /* 4 5 */
    assert_ok(mxc_ndarray_copy(row, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_copy(wide, mxc_cpu(1), MXC_F32, &there));
    assert_ok(mxc_ndarray_copy(there, mxc_cpu(0), MXC_F32, &back));
    mxc_autograd_leave(scope);
    assert_ok(mxc_autograd_symbol(1, &back, 0, NULL, NULL, &symbol));
    assert_ok(mxc_symbol_print(symbol, &text));
    assert_non_null(strstr(text, "slice_axis"));
    assert_non_null(strstr(text, "Reshape"));
    assert_non_null(strstr(text, "Cast"));
    mxc_free(text);
    mxc_ndarray *again = run(symbol, 1, &x);
    assert_values(again, 4, 1);
    mxc_symbol_release(symbol);
    release_all(8, (mxc_ndarray *[]){x, part, matrix, row, wide, there, back, again});
}

/* Parameters and auxiliary states; an output that is not the first; several heads, one of them twice. */
static void operators_keep_their_parameters(void **state) {
    const int64_t dims[] = {2, 4};
    float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    mxc_ndarray *x, *halves[2], *normed;
    mxc_ndarray *states[] = {vector(2, 1, 0), vector(2, 0, 0), vector(2, 0, 0), vector(2, 1, 0)};
    mxc_symbol *symbol;
    mxc_names aux;
    (void)state;
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F32, values, &x));
    assert_ok(mxc_autograd_attach(x, MXC_REQ_WRITE, NULL));
    const int scope = mxc_autograd_record(1);
    assert_ok(mxc_invoke("SliceChannel", 1, &x, 1, (const char *[]){"num_outputs"}, (const char *[]){"2"}, 2, halves));
    mxc_ndarray *in[] = {halves[1], states[0], states[1], states[2], states[3]};
    assert_ok(mxc_invoke("BatchNorm", 5, in, 1, (const char *[]){"eps"}, (const char *[]){"0.5"}, 1, &normed));
    mxc_autograd_leave(scope);
    mxc_ndarray *heads[] = {normed, halves[1], normed};
    assert_ok(mxc_autograd_symbol(3, heads, 0, NULL, NULL, &symbol));
    assert_int_equal(mxc_symbol_n_outputs(symbol), 3);
    assert_arguments(symbol, 3, (const char *[]){"var0", "var1", "var2"});
    assert_ok(mxc_symbol_list_aux(symbol, &aux));
    assert_int_equal(aux.n, 2);
    mxc_names_release(&aux);
    char *json;
    assert_ok(mxc_symbol_to_json(symbol, &json));
    assert_non_null(strstr(json, "\"eps\": \"0.5\""));
    mxc_free(json);
    mxc_symbol_release(symbol);
    release_all(4, states);
    release_all(4, (mxc_ndarray *[]){x, halves[0], halves[1], normed});
}

/* A cached operator in a graph is its symbol. */
static void cached_operators_are_expanded(void **state) {
    mxc_ndarray *x = variable(3, 1, 1, MXC_REQ_WRITE), *y, *z;
    mxc_symbol *inner, *data, *symbol;
    mxc_cached_op *op;
    (void)state;
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_op("square", "s", 0, NULL, NULL, 1, NULL, &data, &inner));
    assert_ok(mxc_cached_op_create(inner, NULL, &op));
    const int scope = mxc_autograd_record(1);
    y = unary("negative", x);
    assert_ok(mxc_cached_op_invoke(op, 1, &y, 1, &z));
    mxc_autograd_leave(scope);
    assert_ok(mxc_autograd_symbol(1, &z, 0, NULL, NULL, &symbol));
    assert_arguments(symbol, 1, (const char *[]){"var0"});
    mxc_ndarray *again = run(symbol, 1, &x);
    const float *values = values_of(again);
    for (int i = 0; i < 3; i++)
        assert_true(values[i] == (float)((i + 1) * (i + 1)));
    mxc_symbol_release(inner);
    mxc_symbol_release(data);
    mxc_symbol_release(symbol);
    mxc_cached_op_destroy(op);
    release_all(4, (mxc_ndarray *[]){x, y, z, again});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_named),
        cmocka_unit_test(views_and_copies_become_operators),
        cmocka_unit_test(operators_keep_their_parameters),
        cmocka_unit_test(cached_operators_are_expanded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
