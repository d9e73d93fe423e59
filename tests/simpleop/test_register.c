/* SPDX-License-Identifier: Apache-2.0 */
/* Registrations that cannot be: each is refused with its name and what is wrong, and leaves nothing behind. */
#include "support.h"

#include <mxc/simpleop.h>

#include "base/sys.h"

static mxc_status source(const mxc_simple_env *env, mxc_req req, const mxc_tensor *out) {
    (void)env, (void)req, (void)out;
    return MXC_OK;
}

static mxc_status unary(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req, const mxc_tensor *out) {
    (void)env, (void)in, (void)req, (void)out;
    return MXC_OK;
}

static mxc_status unary_grad(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *value,
                             mxc_req req, const mxc_tensor *in_grad) {
    (void)env, (void)out_grad, (void)value, (void)req, (void)in_grad;
    return MXC_OK;
}

static mxc_status binary(const mxc_simple_env *env, const mxc_tensor *lhs, const mxc_tensor *rhs, mxc_req req,
                         const mxc_tensor *out) {
    (void)env, (void)lhs, (void)rhs, (void)req, (void)out;
    return MXC_OK;
}

static mxc_status binary_grad(const mxc_simple_env *env, const mxc_tensor *out_grad, const mxc_tensor *lhs,
                              const mxc_tensor *rhs, mxc_req lhs_req, const mxc_tensor *lhs_grad, mxc_req rhs_req,
                              const mxc_tensor *rhs_grad) {
    (void)env, (void)out_grad, (void)lhs, (void)rhs, (void)lhs_req, (void)lhs_grad, (void)rhs_req, (void)rhs_grad;
    return MXC_OK;
}

static mxc_status open_pairs(int n, const char *const *keys, const char *const *values, void *params) {
    (void)n, (void)keys, (void)values, (void)params;
    return MXC_OK;
}

static const mxc_param no_params[] = {MXC_PARAM_END};

#define DEF(...) \
    { .size = sizeof(mxc_simple_def), .name = "t_wrong", __VA_ARGS__ }
#define ONE .arity = 1, .unary = {[MXC_CPU] = unary}
#define TWO .arity = 2, .binary = {[MXC_CPU] = binary}

static const struct {
    mxc_simple_def def;
    const char *message;
} wrong[] = {
    {DEF(ONE, .params_open = open_pairs, .scalar = MXC_SCALAR_AFTER), "params_open together with params or a scalar"},
    {DEF(ONE, .params_open = open_pairs, .params = no_params, .param_size = 1), "params_open together with params"},
    {DEF(.arity = 3, .unary = {[MXC_CPU] = unary}), "t_wrong: arity is not 0, 1 or 2"},
    {DEF(.arity = -1, .unary = {[MXC_CPU] = unary}), "arity"},
    {DEF(.arity = 1), "t_wrong: no function of arity 1"},
    {DEF(.arity = 1, .binary = {[MXC_CPU] = binary}), "no function of arity 1"},
    {DEF(.arity = 0, .unary = {[MXC_CPU] = unary}), "no function of arity 0"},
    {DEF(ONE, .gradient_kind = MXC_GRADIENT_IN), "a gradient kind but no gradient function"},
    {DEF(ONE, .gradient_kind = MXC_GRADIENT_IN, .binary_grad = {[MXC_CPU] = binary_grad}), "no gradient function"},
    {DEF(TWO, .gradient_kind = MXC_GRADIENT_OUT, .binary_grad = {[MXC_CPU] = binary_grad}),
     "only a unary gradient is computed from the output"},
    {DEF(.source = {[MXC_CPU] = source}, .gradient_kind = MXC_GRADIENT_OUT_GRAD,
         .unary_grad = {[MXC_CPU] = unary_grad}),
     "a source has no gradient"},
    {DEF(.source = {[MXC_CPU] = source}, .inplace_forward = MXC_SIMPLE_INPLACE_IN_OUT), "a source has no input"},
    {DEF(ONE, .inplace_forward = MXC_SIMPLE_INPLACE_RHS_OUT), "only a binary function has a right input"},
    {DEF(ONE, .inplace_backward = MXC_SIMPLE_INPLACE_BOTH), "only a binary function has a right input"},
    {DEF(ONE, .scalar = MXC_SCALAR_AFTER, .params = no_params, .param_size = 8),
     "takes a scalar and keyword parameters"},
    {DEF(ONE, .params = no_params), "has params but no param_size"},
};

static void test_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(mxc_simpleop_register(&wrong[i].def), MXC_EINVAL, wrong[i].message);
    assert_null(mxc_op_find("t_wrong"));
}

static void test_no_definition(void **state) {
    static const mxc_simple_def unsized = {.name = "t_wrong", ONE}, nameless = {.size = sizeof nameless, ONE};
    (void)state;
    assert_fails(mxc_simpleop_register(NULL), MXC_EINVAL, "def must not be NULL");
    assert_fails(mxc_simpleop_register(&unsized), MXC_EINVAL, "def->size is 0");
    assert_fails(mxc_simpleop_register(&nameless), MXC_EINVAL, "def->name must not be NULL");
}

/* A name that is taken, whether as a name or as an alias, by a built-in operator or by another registration. */
static void test_taken(void **state) {
    static const mxc_simple_def first = {.size = sizeof first, .name = "t_first", .aliases = "t_uno", ONE};
    static const mxc_simple_def names[] = {
        {.size = sizeof first, .name = "t_first", ONE},
        {.size = sizeof first, .name = "t_uno", ONE},
        {.size = sizeof first, .name = "t_second", .aliases = "t_due,t_first", ONE},
        {.size = sizeof first, .name = "t_second", .symbol_name = "relu", ONE},
        {.size = sizeof first, .name = "Convolution", ONE},
    };
    (void)state;
    assert_ok(mxc_simpleop_register(&first));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_fails(mxc_simpleop_register(&names[i]), MXC_EEXIST, "is taken");
    assert_null(mxc_op_find("t_second"));
    assert_null(mxc_op_find("t_due"));
    assert_non_null(mxc_op_find("t_uno"));
}

/* Every allocation on the way fails in turn: nothing leaks, nothing is half registered, and the next try succeeds. */
static void test_no_memory(void **state) {
    static const mxc_simple_def def = {.size = sizeof def, .name = "t_memory", .aliases = "t_ram,t_store", ONE};
    int64_t live;
    int n = 0;
    mxc_status status;
    (void)state;
    assert_true(mxc_op_count() > 0); /* the built-in ones are entered */
    live = mxci_alloc_live();
    do {
        mxci_test_fail_alloc(++n, 0);
        status = mxc_simpleop_register(&def);
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK) {
            assert_int_equal(status, MXC_ENOMEM);
            assert_null(mxc_op_find("t_memory"));
            assert_null(mxc_op_find("t_ram"));
            assert_true(mxci_alloc_live() <= live + 1); /* the table of operators may have grown */
        }
    } while (status != MXC_OK);
    assert_true(n > 1);
    assert_ptr_equal(mxc_op_find("t_store"), mxc_op_find("t_memory"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_no_definition),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
