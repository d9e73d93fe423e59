/* SPDX-License-Identifier: Apache-2.0 */
/* MXC_CHECK_VALUES: indices and lengths that operators clip are errors that name operator, argument, element and value;
 * valid ones, and modes that take any index by intent, are not. */
#include "support.h"

#include <mxc/executor.h>
#include <mxc/mxc.h>

typedef struct check_case {
    const char *op, *params; /* "axis=1 mode=clip" */
    int n_in;
    int64_t rows[2], columns[2]; /* shapes of the inputs; columns 0: one axis */
    float index;                 /* all elements of the last input but the first, which is 0 */
    const char *message;         /* NULL: no error */
} check_case;

static const check_case cases[] = {
    {"take", "", 2, {5, 3}, {2, 0}, 4, NULL},
    {"take", "", 2, {5, 3}, {2, 0}, 5, "take: argument 'indices': element 1 is 5, expected an index in [0, 5)"},
    {"take", "", 2, {5, 3}, {2, 0}, -1, "take: argument 'indices': element 1 is -1, expected an index in [0, 5)"},
    {"take", "mode=wrap", 2, {5, 3}, {2, 0}, 7, NULL},
    {"pick", "", 2, {3, 3}, {4, 0}, 3, NULL},
    {"pick", "", 2, {3, 3}, {4, 0}, 4, "pick: argument 'index': element 1 is 4, expected an index in [0, 4)"},
    {"pick", "mode=wrap", 2, {3, 3}, {4, 0}, 9, NULL},
    {"one_hot", "depth=4", 1, {3}, {0}, 3, NULL},
    {"one_hot", "depth=4", 1, {3}, {0}, 4, "one_hot: argument 'indices': element 1 is 4, expected an index in [0, 4)"},
    {"SequenceMask", "use_sequence_length=true", 2, {4, 3}, {3, 0}, 4, NULL},
    {"SequenceMask",
     "use_sequence_length=true",
     2,
     {4, 3},
     {3, 0},
     5,
     "SequenceMask: argument 'sequence_length': element 1 is 5, expected an index in [0, 5)"},
};

static mxc_ndarray *make_input(const check_case *c, int i) {
    float values[64] = {0};
    const int64_t dims[2] = {c->rows[i], c->columns[i]}, n = c->rows[i] * (c->columns[i] ? c->columns[i] : 1);
    mxc_ndarray *array;
    for (int64_t k = 1; k < n && i == c->n_in - 1; k++)
        values[k] = c->index;
    assert_ok(mxc_ndarray_from_data(c->columns[i] ? 2 : 1, dims, MXC_F32, values, &array));
    return array;
}

static void run_case(const check_case *c) {
    const char *key = NULL, *value = NULL;
    char text[64];
    mxc_ndarray *in[2] = {NULL, NULL}, *out;
    snprintf(text, sizeof text, "%s", c->params);
    if (text[0]) {
        char *equals = strchr(text, '=');
        *equals = '\0';
        key = text;
        value = equals + 1;
    }
    for (int i = 0; i < c->n_in; i++)
        in[i] = make_input(c, i);
    assert_ok(mxc_invoke(c->op, c->n_in, in, key != NULL, &key, &value, 1, &out));
    mxc_status status = mxc_ndarray_wait_to_read(out);
    if (!c->message) {
        assert_ok(status);
    } else {
        assert_int_equal(status, MXC_EINVAL);
        assert_non_null(strstr(mxc_last_error(), c->message));
    }
    mxc_ndarray_release(out);
    for (int i = 0; i < c->n_in; i++)
        mxc_ndarray_release(in[i]);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i]);
}

/* The same in an executor. */
static void test_bound(void **state) {
    static const char *const names[] = {"i"}, *const key = "depth", *const value = "3";
    const mxc_shape shape = {1, {2}};
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = names, .shapes = &shape};
    const float bad[] = {0, 3};
    mxc_symbol *variable, *symbol;
    mxc_executor *e;
    (void)state;
    assert_ok(mxc_symbol_variable("i", &variable));
    assert_ok(mxc_symbol_op("one_hot", "h", 1, &key, &value, 1, NULL, &variable, &symbol));
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &e));
    assert_ok(mxc_ndarray_set(mxc_executor_arg(e, 0), bad, sizeof bad));
    assert_ok(mxc_executor_forward(e, 0));
    assert_int_equal(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)), MXC_EINVAL);
    assert_non_null(strstr(mxc_last_error(), "element 1 is 3, expected an index in [0, 3)"));
    mxc_executor_destroy(e);
    mxc_symbol_release(symbol);
    mxc_symbol_release(variable);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_bound),
    };
    setenv("MXC_CHECK_VALUES", "1", 1); /* read once, at the first call */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
