/* SPDX-License-Identifier: Apache-2.0 */
/* Element types, contexts, shapes. */
#include "support.h"

#include <mxc/types.h>

static void dtypes_have_sizes_and_names(void **state) {
    static const struct {
        mxc_dtype dtype;
        size_t bytes;
        const char *name;
    } cases[] = {
        {MXC_F32, 4, "float32"},   {MXC_F64, 8, "float64"}, {MXC_F16, 2, "float16"},
        {MXC_BF16, 2, "bfloat16"}, {MXC_U8, 1, "uint8"},    {MXC_I8, 1, "int8"},
        {MXC_I32, 4, "int32"},     {MXC_I64, 8, "int64"},   {MXC_BOOL, 1, "bool"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(mxc_dtype_size(cases[i].dtype), cases[i].bytes);
        assert_string_equal(mxc_dtype_name(cases[i].dtype), cases[i].name);
        assert_int_equal(mxc_dtype_from_name(cases[i].name), cases[i].dtype);
        assert_true(cases[i].dtype < MXC_DTYPE_LIMIT);
    }
    for (int flag = -3; flag < 300; flag++) /* MXNet's other flags, and none */
        if (mxc_dtype_size((mxc_dtype)flag) == 0)
            assert_string_equal(mxc_dtype_name((mxc_dtype)flag), "unknown");
    assert_int_equal(mxc_dtype_size((mxc_dtype)8), 0);
    assert_int_equal(mxc_dtype_from_name("float"), MXC_DTYPE_UNKNOWN);
    assert_int_equal(mxc_dtype_from_name(""), MXC_DTYPE_UNKNOWN);
}

static void contexts_parse_and_print(void **state) {
    static const char *const same[] = {"cpu(0)", "cpu(63)", "gpu(1)", "cpu_pinned(2)"};
    mxc_context c;
    char text[32];
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_ok(mxc_context_parse(same[i], &c));
        assert_string_equal(mxc_context_format(c, text, sizeof text), same[i]);
    }
    assert_ok(mxc_context_parse("gpu", &c));
    assert_true(mxc_context_equal(c, mxc_gpu(0)));
    assert_false(mxc_context_equal(c, mxc_cpu(0)));
    assert_false(mxc_context_equal(c, mxc_gpu(1)));
    c = (mxc_context){9, 1};
    assert_string_equal(mxc_context_format(c, text, sizeof text), "device9(1)");
    assert_string_equal(mxc_context_format(mxc_gpu(12), text, 4), "gpu");
}

static void bad_contexts_are_refused(void **state) {
    static const char *const bad[] = {
        "",
        "cp",
        "cpu(",
        "cpu()",
        "cpu(-1)",
        "cpu(64)",
        "cpu(1",
        "cpu(1))",
        "cpu(1)x",
        "cpu (1)",
        "cpu0",
        "tpu(0)",
        "gpu(99999999999999999999)",
        "(0)",
        "cpu(0x1)",
    };
    mxc_context c;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(mxc_context_parse(bad[i], &c), MXC_EINVAL, "expected cpu(i)");
        assert_non_null(strstr(mxc_last_error(), bad[i]));
    }
}

static const char *format(const mxc_shape *s) {
    static char text[MXC_SHAPE_TEXT];
    return mxc_shape_format(s, text, sizeof text);
}

static void shapes_print(void **state) {
    mxc_shape s;
    (void)state;
    assert_ok(mxc_shape_set(&s, 0, NULL));
    assert_string_equal(format(&s), "()");
    assert_ok(mxc_shape_set(&s, 1, (int64_t[]){5}));
    assert_string_equal(format(&s), "(5,)");
    assert_ok(mxc_shape_set(&s, 3, (int64_t[]){2, -1, 0}));
    assert_string_equal(format(&s), "(2,?,0)");
    assert_ok(mxc_shape_set(&s, -1, NULL));
    assert_string_equal(format(&s), "?");
    s.ndim = MXC_MAX_NDIM;
    for (int i = 0; i < MXC_MAX_NDIM; i++)
        s.dim[i] = INT64_MAX;
    assert_int_equal(strlen(format(&s)), 8 * 19 + 7 + 2); /* the longest fits */
}

static void shapes_count_and_compare(void **state) {
    mxc_shape a, b;
    (void)state;
    assert_ok(mxc_shape_set(&a, 0, NULL));
    assert_int_equal(mxc_shape_size(&a), 1);
    assert_ok(mxc_shape_set(&b, 3, (int64_t[]){2, 3, 4}));
    assert_int_equal(mxc_shape_size(&b), 24);
    assert_true(mxc_shape_known(&b));
    assert_false(mxc_shape_equal(&a, &b));
    a = b;
    assert_true(mxc_shape_equal(&a, &b));
    a.dim[2] = 5;
    assert_false(mxc_shape_equal(&a, &b));
    a.dim[2] = -1;
    assert_false(mxc_shape_known(&a));
    assert_int_equal(mxc_shape_size(&a), -1);
    assert_ok(mxc_shape_set(&a, -1, NULL));
    assert_false(mxc_shape_known(&a));
    assert_int_equal(mxc_shape_size(&a), -1);
    a = (mxc_shape){3, {INT64_MAX, 0, INT64_MAX}}; /* the product would wrap, but is 0 */
    assert_int_equal(mxc_shape_size(&a), 0);
}

static void bad_shapes_are_refused(void **state) {
    mxc_shape s;
    (void)state;
    assert_fails(mxc_shape_set(&s, MXC_MAX_NDIM + 1, (int64_t[9]){0}), MXC_EINVAL, "9 axes");
    assert_fails(mxc_shape_set(&s, -2, NULL), MXC_EINVAL, "-2 axes");
    assert_fails(mxc_shape_set(&s, 2, (int64_t[]){1, -2}), MXC_EINVAL, "axis 1 has size -2");
    assert_fails(mxc_shape_set(&s, 2, (int64_t[]){1ll << 32, 1ll << 31}), MXC_EINVAL, "(4294967296,2147483648)");
    assert_int_equal(s.ndim, -1);
    assert_status(mxc_shape_set(&s, 2, (int64_t[]){1ll << 31, 1ll << 31}), MXC_EINVAL); /* with elements of 8 bytes */
    assert_status(mxc_shape_set(&s, 3, (int64_t[]){INT64_MAX, 0, 2}), MXC_EINVAL);
    assert_status(mxc_shape_set(&s, 3, (int64_t[]){INT64_MAX, -1, 2}), MXC_EINVAL);
    assert_ok(mxc_shape_set(&s, 2, (int64_t[]){1ll << 31, 1ll << 27}));
    s.dim[0] = 1ll << 40;
    s.dim[1] = 1ll << 40;
    assert_int_equal(mxc_shape_size(&s), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_have_sizes_and_names), cmocka_unit_test(contexts_parse_and_print),
        cmocka_unit_test(bad_contexts_are_refused),    cmocka_unit_test(shapes_print),
        cmocka_unit_test(shapes_count_and_compare),    cmocka_unit_test(bad_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
