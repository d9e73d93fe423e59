/* SPDX-License-Identifier: Apache-2.0 */
/* What a SimpleOp registration can say: each choice is called on arrays, and used in a symbol with its gradient. */
#include "support.h"

#include <math.h>

#include <mxc/executor.h>

#include "simpleop/ops.h"

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static mxc_ndarray *array_of(int ndim, const int64_t *dims, const float *values) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(ndim, dims, MXC_F32, values, &array));
    return array;
}

static mxc_ndarray *vector_of(int64_t n, const float *values) {
    return array_of(1, &n, values);
}

static void expect_values(mxc_ndarray *array, int64_t n, const float *expected) {
    float found[32];
    assert_int_equal(mxc_ndarray_size(array), n);
    assert_ok(mxc_ndarray_get(array, found, (size_t)n * sizeof *found));
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(found[i] - expected[i]) <= 1e-5f * (1 + fabsf(expected[i]))))
            fail_msg("element %lld is %g, expected %g", (long long)i, (double)found[i], (double)expected[i]);
}

/* One operator on up to two arrays, making its output. */
static mxc_ndarray *call(const char *op, mxc_ndarray *a, mxc_ndarray *b, const char *key, const char *value) {
    mxc_ndarray *in[2] = {a, b}, *out[1] = {NULL};
    assert_ok(mxc_invoke(op, (a != NULL) + (b != NULL), in, key != NULL, &key, &value, 1, out));
    return out[0];
}

static void expect_call(const char *op, mxc_ndarray *a, mxc_ndarray *b, const char *key, const char *value, int64_t n,
                        const float *expected) {
    mxc_ndarray *out = call(op, a, b, key, value);
    expect_values(out, n, expected);
    mxc_ndarray_release(out);
}

/* ---- in a symbol ------------------------------------------------------------------------------------------------- */

/* The operator on variables a and b (where there is a second), bound; gradients 100 wait to be added to where req says
 * so. */
typedef struct bound {
    mxc_executor *executor;
    mxc_ndarray *grads[2];
} bound;

static mxc_symbol *apply(const char *op, int n, const char *key, const char *value) {
    mxc_symbol *in[2] = {NULL, NULL}, *symbol;
    assert_ok(mxc_symbol_variable("a", &in[0]));
    assert_ok(mxc_symbol_variable("b", &in[1]));
    assert_ok(mxc_symbol_op(op, "node", key != NULL, &key, &value, n, NULL, in, &symbol));
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    return symbol;
}

static bound bind(const char *op, int n, mxc_ndarray *const *args, const mxc_req *reqs, const char *key,
                  const char *value) {
    mxc_symbol *symbol = apply(op, n, key, value);
    bound b = {NULL, {NULL, NULL}};
    for (int i = 0; i < n; i++)
        if (reqs[i] != MXC_REQ_NULL) {
            assert_ok(mxc_ndarray_copy(args[i], mxc_cpu(0), MXC_F32, &b.grads[i]));
            assert_ok(mxc_ndarray_fill(b.grads[i], 100));
        }
    assert_ok(mxc_executor_bind(symbol, NULL, args, b.grads, reqs, NULL, &b.executor));
    mxc_symbol_release(symbol);
    return b;
}

static void unbind(bound *b) {
    mxc_executor_destroy(b->executor);
    mxc_ndarray_release(b->grads[0]);
    mxc_ndarray_release(b->grads[1]);
}

/* Forward gives out; backward of head gives the gradients that are not NULL, written or (second run) added to 100. */
static void expect_symbol(const char *op, int n, mxc_ndarray *const *args, const char *key, const char *value,
                          int64_t n_out, const float *out, const float *head, const float *a_grad,
                          const float *b_grad) {
    const float *expected[2] = {a_grad, b_grad};
    for (int add = 0; add < 2; add++) {
        mxc_req wanted = add ? MXC_REQ_ADD : MXC_REQ_WRITE;
        mxc_req reqs[2] = {a_grad ? wanted : MXC_REQ_NULL, b_grad ? wanted : MXC_REQ_NULL};
        bound b = bind(op, n, args, reqs, key, value);
        assert_ok(mxc_executor_forward(b.executor, 1));
        expect_values(mxc_executor_output(b.executor, 0), n_out, out);
        mxc_ndarray *given, *output = mxc_executor_output(b.executor, 0);
        assert_ok(mxc_ndarray_from_data(mxc_ndarray_shape(output)->ndim, mxc_ndarray_shape(output)->dim, MXC_F32, head,
                                        &given));
        assert_ok(mxc_executor_backward(b.executor, 1, &given));
        for (int i = 0; i < n; i++) {
            float want[32];
            int64_t size = mxc_ndarray_size(args[i]);
            for (int64_t k = 0; expected[i] && k < size; k++)
                want[k] = expected[i][k] + (add ? 100 : 0);
            if (expected[i])
                expect_values(b.grads[i], size, want);
        }
        mxc_ndarray_release(given);
        unbind(&b);
    }
}

/* ---- functions of no array --------------------------------------------------------------------------------------- */

static void test_source(void **state) {
    static const char *const keys[] = {"shape", "step"}, *const values[] = {"(2,2)", "0.5"};
    static const float expected[] = {0, 0.5f, 1, 1.5f};
    mxc_ndarray *out[1] = {NULL};
    mxc_symbol *symbol;
    mxc_executor *executor;
    (void)state;
    assert_ok(mxc_invoke("t_ramp", 0, NULL, 2, keys, values, 1, out));
    assert_int_equal(mxc_ndarray_shape(out[0])->ndim, 2);
    assert_int_equal(mxc_ndarray_dtype(out[0]), MXC_F32);
    expect_values(out[0], 4, expected);
    mxc_ndarray_release(out[0]);
    assert_ok(mxc_symbol_op("t_ramp", "ramp", 2, keys, values, 0, NULL, NULL, &symbol));
    assert_ok(mxc_executor_bind(symbol, NULL, NULL, NULL, NULL, NULL, &executor));
    assert_ok(mxc_executor_forward(executor, 0));
    expect_values(mxc_executor_output(executor, 0), 4, expected);
    mxc_executor_destroy(executor);
    mxc_symbol_release(symbol);
}

/* A source takes the type of the array that it is given to fill. */
static void test_source_type(void **state) {
    static const char *const keys[] = {"shape"}, *const values[] = {"(3,)"};
    int64_t dims[] = {3};
    double found[3];
    mxc_ndarray *out;
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F64, mxc_cpu(0), &out));
    assert_ok(mxc_invoke_into("t_ramp", 0, NULL, 1, keys, values, 1, &out));
    assert_ok(mxc_ndarray_get(out, found, sizeof found));
    assert_true(found[0] == 0 && found[1] == 1 && found[2] == 2);
    mxc_ndarray_release(out);
}

/* ---- functions of one array -------------------------------------------------------------------------------------- */

static void test_gradient_from_out_grad(void **state) {
    mxc_ndarray *x = vector_of(3, (float[]){1, 2, -3});
    (void)state;
    expect_call("t_twice", x, NULL, NULL, NULL, 3, (float[]){2, 4, -6});
    expect_symbol("t_twice", 1, &x, NULL, NULL, 3, (float[]){2, 4, -6}, (float[]){1, 10, 100}, (float[]){2, 20, 200},
                  NULL);
    mxc_ndarray_release(x);
}

static void test_gradient_from_output(void **state) {
    mxc_ndarray *x = vector_of(2, (float[]){0, 1});
    (void)state;
    expect_symbol("t_exp", 1, &x, NULL, NULL, 2, (float[]){1, 2.7182818f}, (float[]){5, 2}, (float[]){5, 5.4365637f},
                  NULL);
    mxc_ndarray_release(x);
}

/* And the scalar, after and before. */
static void test_gradient_from_input(void **state) {
    mxc_ndarray *x = vector_of(2, (float[]){1, -2});
    (void)state;
    expect_symbol("t_scaled", 1, &x, "scalar", "0.5", 2, (float[]){0.5f, 2}, (float[]){1, 3}, (float[]){1, -6}, NULL);
    expect_symbol("t_over", 1, &x, "scalar", "6", 2, (float[]){6, -3}, (float[]){1, 2}, (float[]){-6, -3}, NULL);
    mxc_ndarray_release(x);
}

static void test_scalar_messages(void **state) {
    static const char *const scalar = "scalar", *const word = "one", *const number = "1", *const other = "sigma";
    mxc_ndarray *x = vector_of(1, (float[]){1}), *out = NULL;
    (void)state;
    assert_ok(mxc_invoke("t_scaled", 1, &x, 0, NULL, NULL, 1, &out)); /* 1 by default */
    mxc_ndarray_release(out);
    out = NULL;
    assert_fails(mxc_invoke("t_scaled", 1, &x, 1, &scalar, &word, 1, &out), MXC_EINVAL, "one");
    assert_fails(mxc_invoke("t_scaled", 1, &x, 1, &other, &number, 1, &out), MXC_EINVAL, "sigma");
    assert_fails(mxc_invoke("t_twice", 1, &x, 1, &scalar, &number, 1, &out), MXC_EINVAL, "scalar");
    assert_null(out);
    mxc_ndarray_release(x);
}

static void test_keywords(void **state) {
    static const char *const keys[] = {"exponent", "sign"}, *const values[] = {"3", "minus"}, *const wrong = "10";
    mxc_ndarray *x = vector_of(2, (float[]){2, 3}), *out = NULL;
    (void)state;
    expect_call("t_power", x, NULL, NULL, NULL, 2, (float[]){4, 9});
    expect_symbol("t_power", 1, &x, "exponent", "3", 2, (float[]){8, 27}, (float[]){1, 2}, (float[]){12, 54}, NULL);
    assert_ok(mxc_invoke("t_power", 1, &x, 2, keys, values, 1, &out));
    expect_values(out, 2, (float[]){-8, -27});
    mxc_ndarray_release(out);
    out = NULL;
    assert_fails(mxc_invoke("t_power", 1, &x, 1, keys, &wrong, 1, &out), MXC_EINVAL, "exponent");
    mxc_ndarray_release(x);
}

static void test_shape_function(void **state) {
    mxc_ndarray *x = array_of(2, (int64_t[]){2, 3}, (float[]){1, 2, 3, 4, 5, 6}), *v = vector_of(2, (float[]){1, 2});
    mxc_ndarray *out = NULL;
    (void)state;
    expect_symbol("t_rowsum", 1, &x, NULL, NULL, 2, (float[]){6, 15}, (float[]){1, 7}, (float[]){1, 1, 1, 7, 7, 7},
                  NULL);
    assert_fails(mxc_invoke("t_rowsum", 1, &v, 0, NULL, NULL, 1, &out), MXC_ESHAPE,
                 "t_rowsum: x has 1 axes, expected 2");
    mxc_ndarray_release(x);
    mxc_ndarray_release(v);
}

static void test_scratch(void **state) {
    mxc_ndarray *x = vector_of(4, (float[]){1, 2, 3, 6});
    mxc_req none = MXC_REQ_NULL;
    (void)state;
    expect_call("t_centred", x, NULL, NULL, NULL, 4, (float[]){-2, -1, 0, 3});
    bound b = bind("t_centred", 1, &x, &none, NULL, NULL);
    assert_ok(mxc_executor_forward(b.executor, 0));
    expect_values(mxc_executor_output(b.executor, 0), 4, (float[]){-2, -1, 0, 3});
    unbind(&b);
    mxc_ndarray_release(x);
}

/* Every element has a number of its own; the seed decides; calls go on from each other. */
static void test_random(void **state) {
    float zeros[32] = {0}, first[32], second[32], again[32];
    mxc_ndarray *x = vector_of(32, zeros), *out;
    (void)state;
    for (int run = 0; run < 3; run++) {
        float *found = run == 0 ? first : run == 1 ? second : again;
        if (run != 1)
            mxc_random_seed(7);
        out = call("t_noise", x, NULL, NULL, NULL);
        assert_ok(mxc_ndarray_get(out, found, sizeof first));
        mxc_ndarray_release(out);
    }
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, second, sizeof first);
    for (int i = 0; i < 32; i++)
        assert_true(first[i] >= 0 && first[i] < 1 && (i == 0 || first[i] != first[i - 1]));
    mxc_ndarray_release(x);
}

static void test_gradient_zero_and_none(void **state) {
    mxc_ndarray *x = vector_of(3, (float[]){-1, 0, 2}), *grad = vector_of(3, (float[]){9, 9, 9});
    mxc_symbol *symbol = apply("t_centred", 1, NULL, NULL);
    mxc_executor *executor;
    (void)state;
    expect_symbol("t_step", 1, &x, NULL, NULL, 3, (float[]){0, 0, 1}, (float[]){1, 1, 1}, (float[]){0, 0, 0}, NULL);
    assert_fails(mxc_executor_bind(symbol, NULL, &x, &grad, NULL, NULL, &executor), MXC_EUNSUPPORTED, "t_centred");
    mxc_symbol_release(symbol);
    mxc_ndarray_release(x);
    mxc_ndarray_release(grad);
}

static void test_dtypes(void **state) {
    int64_t dims[] = {2};
    int32_t found[2];
    mxc_ndarray *whole, *wide, *out = NULL;
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, dims, MXC_I32, (int32_t[]){-5, 5}, &whole));
    assert_ok(mxc_ndarray_create(1, dims, MXC_F64, mxc_cpu(0), &wide));
    out = call("t_step", whole, NULL, NULL, NULL);
    assert_ok(mxc_ndarray_get(out, found, sizeof found));
    assert_true(found[0] == 0 && found[1] == 1);
    mxc_ndarray_release(out);
    out = NULL;
    assert_fails(mxc_invoke("t_step", 1, &wide, 0, NULL, NULL, 1, &out), MXC_EDTYPE,
                 "t_step: argument 'data': dtype float64 is not supported, expected one of float32, int32");
    mxc_ndarray_release(whole);
    mxc_ndarray_release(wide);
}

/* ---- functions of two arrays ------------------------------------------------------------------------------------- */

static void test_binary_gradients(void **state) {
    mxc_ndarray *in[2] = {vector_of(2, (float[]){5, 7}), vector_of(2, (float[]){2, -1})};
    static const float mixed[] = {-1, 10}, head[] = {1, 10}, product[] = {10, -7};
    (void)state;
    expect_call("t_mix", in[0], in[1], NULL, NULL, 2, mixed);
    expect_symbol("t_mix", 2, in, NULL, NULL, 2, mixed, head, (float[]){1, 10}, (float[]){-3, -30});
    expect_symbol("t_mix", 2, in, NULL, NULL, 2, mixed, head, (float[]){1, 10}, NULL);
    expect_symbol("t_mix", 2, in, NULL, NULL, 2, mixed, head, NULL, (float[]){-3, -30});
    expect_symbol("t_product", 2, in, NULL, NULL, 2, product, head, (float[]){2, -10}, (float[]){5, 70});
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

static void test_binary_shape(void **state) {
    mxc_ndarray *in[2] = {vector_of(2, (float[]){1, 2}), vector_of(3, (float[]){3, 4, 5})};
    mxc_ndarray *matrix = array_of(2, (int64_t[]){1, 2}, (float[]){1, 2}), *out = NULL, *pair[2] = {in[0], in[1]};
    (void)state;
    expect_symbol("t_outer", 2, in, NULL, NULL, 6, (float[]){3, 4, 5, 6, 8, 10}, (float[]){1, 0, 0, 0, 1, 1},
                  (float[]){3, 9}, (float[]){1, 2, 2});
    pair[1] = matrix;
    assert_fails(mxc_invoke("t_outer", 2, pair, 0, NULL, NULL, 1, &out), MXC_ESHAPE, "t_outer: expected two vectors");
    pair[1] = in[1]; /* t_product has no shape function: one shape for all */
    assert_fails(mxc_invoke("t_product", 2, pair, 0, NULL, NULL, 1, &out), MXC_ESHAPE,
                 "t_product: argument 'b': expected shape (2,), found (3,)");
    mxc_ndarray_release(matrix);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void expect_in_place(const char *op, int place, int allowed) {
    mxc_ndarray *in[2] = {vector_of(2, (float[]){5, 7}), vector_of(2, (float[]){2, -1})}, *out = in[place];
    int n = strcmp(op, "t_twice") && strcmp(op, "t_exp") ? 2 : 1;
    mxc_status status = mxc_invoke_into(op, n, in, 0, NULL, NULL, 1, &out);
    if ((status == MXC_OK) != allowed)
        fail_msg("%s in place of input %d: %s", op, place, status == MXC_OK ? "allowed" : mxc_last_error());
    if (allowed)
        expect_values(in[place], 2,
                      n == 1                 ? (float[]){10, 14}
                      : !strcmp(op, "t_mix") ? (float[]){-1, 10}
                                             : (float[]){10, -7});
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

static void test_in_place(void **state) {
    (void)state;
    expect_in_place("t_twice", 0, 1);
    expect_in_place("t_exp", 0, 0);
    expect_in_place("t_mix", 0, 1);
    expect_in_place("t_mix", 1, 1);
    expect_in_place("t_product", 0, 1);
    expect_in_place("t_product", 1, 0);
}

/* A chain of in-place operators is planned into one block: no more internal memory than one array. */
static void test_in_place_planned(void **state) {
    static const char *const name = "a";
    mxc_shape shape = {.ndim = 1, .dim = {1000}};
    mxc_symbol *chain, *next;
    mxc_memory_report report;
    (void)state;
    assert_ok(mxc_symbol_variable(name, &chain));
    for (int i = 0; i < 5; i++) {
        assert_ok(mxc_symbol_op("t_twice", NULL, 0, NULL, NULL, 1, NULL, &chain, &next));
        mxc_symbol_release(chain);
        chain = next;
    }
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape};
    assert_ok(mxc_executor_plan(chain, NULL, &spec, &report));
    assert_true(report.internal_unplanned >= 4 * 4000);
    assert_true(report.internal_inplace <= 4096);
    mxc_symbol_release(chain);
}

static void test_requests(void **state) {
    mxc_ndarray *x = vector_of(2, (float[]){5, 7}), *out = vector_of(2, (float[]){1, 1});
    mxc_op *op;
    mxc_req add = MXC_REQ_ADD, none = MXC_REQ_NULL;
    (void)state;
    assert_ok(mxc_op_create("t_twice", 0, NULL, NULL, &op));
    assert_ok(mxc_op_invoke(op, 1, &x, 1, &out, &add, 0));
    expect_values(out, 2, (float[]){11, 15});
    assert_ok(mxc_op_invoke(op, 1, &x, 1, &out, &none, 0));
    expect_values(out, 2, (float[]){11, 15});
    mxc_op_release(op);
    mxc_ndarray_release(x);
    mxc_ndarray_release(out);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void test_names(void **state) {
    static const char *const names[] = {"t_Twice", "t_double", "t_x2"};
    mxc_symbol *symbol;
    char *text;
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(mxc_op_find(names[i]), mxc_op_find("t_twice"));
    symbol = apply("t_Twice", 1, NULL, NULL);
    mxc_symbol_release(symbol);
    assert_ok(mxc_op_describe("t_power", &text));
    assert_non_null(strstr(text, "exponent : float, optional"));
    mxc_free(text);
    assert_ok(mxc_op_describe("t_product", &text));
    assert_non_null(strstr(text, "Arguments: a, b"));
    mxc_free(text);
}

static void test_array_only(void **state) {
    mxc_ndarray *x = vector_of(1, (float[]){4});
    mxc_symbol *in, *symbol = NULL;
    (void)state;
    expect_call("t_forget", x, NULL, NULL, NULL, 1, (float[]){4});
    assert_ok(mxc_symbol_variable("a", &in));
    assert_fails(mxc_symbol_op("t_forget", NULL, 0, NULL, NULL, 1, NULL, &in, &symbol), MXC_EUNSUPPORTED,
                 "t_forget: works on arrays only");
    assert_null(symbol);
    mxc_symbol_release(in);
    mxc_ndarray_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_source_type),
        cmocka_unit_test(test_gradient_from_out_grad),
        cmocka_unit_test(test_gradient_from_output),
        cmocka_unit_test(test_gradient_from_input),
        cmocka_unit_test(test_scalar_messages),
        cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_shape_function),
        cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_gradient_zero_and_none),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_binary_gradients),
        cmocka_unit_test(test_binary_shape),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_in_place_planned),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_array_only),
    };
    register_all();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
