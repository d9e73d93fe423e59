/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter schemas: every type, every default, every message, and printing. */
#include "support.h"

#include <math.h>

#include <mxc/param.h>

#include "base/sys.h"

typedef struct settings {
    mxc_tuple kernel, begin;
    int64_t filters, axis;
    double rate;
    mxc_floats sizes;
    int32_t global, type, dtype;
    char name[8];
} settings;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(settings, kernel), .name = "kernel", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 1,
     .maximum = 1000},
    {MXC_PARAM_FIELD(settings, begin), .name = "begin", .type = MXC_PARAM_TUPLE, .initial = "()", .optional = 1},
    {MXC_PARAM_FIELD(settings, filters), .name = "num_filter", .type = MXC_PARAM_INT, .initial = "8", .bounded = 1,
     .minimum = 1, .maximum = 1e6, .alias = "filters"},
    {MXC_PARAM_FIELD(settings, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "None", .optional = 1},
    {MXC_PARAM_FIELD(settings, rate), .name = "p", .type = MXC_PARAM_FLOAT, .initial = "0.5", .bounded = 1,
     .maximum = 1},
    {MXC_PARAM_FIELD(settings, sizes), .name = "sizes", .type = MXC_PARAM_FLOATS, .initial = "(1,)"},
    {MXC_PARAM_FIELD(settings, global), .name = "global_pool", .type = MXC_PARAM_BOOL, .initial = "False"},
    {MXC_PARAM_FIELD(settings, type), .name = "pool_type", .type = MXC_PARAM_ENUM, .initial = "max",
     .choices = "max,avg,sum"},
    {MXC_PARAM_FIELD(settings, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None", .optional = 1},
    {MXC_PARAM_FIELD(settings, name), .name = "name", .type = MXC_PARAM_STRING, .initial = ""},
    MXC_PARAM_END,
};

static mxc_status parse(int n, const char *const *keys, const char *const *values, settings *out) {
    memset(out, 0x5a, sizeof *out);
    return mxc_params_parse("Pooling", schema, n, keys, values, out);
}

/* kernel, which is required, and one more. */
static mxc_status parse_with(const char *key, const char *value, settings *out) {
    return parse(2, (const char *[]){"kernel", key}, (const char *[]){"(2,2)", value}, out);
}

static void defaults_are_set(void **state) {
    settings s;
    (void)state;
    assert_ok(parse(1, (const char *[]){"kernel"}, (const char *[]){"(3, 4)"}, &s));
    assert_int_equal(s.kernel.n, 2);
    assert_int_equal(s.kernel.value[0], 3);
    assert_int_equal(s.kernel.value[1], 4);
    assert_int_equal(s.begin.n, 0);
    assert_int_equal(s.filters, 8);
    assert_true(s.axis == MXC_PARAM_UNSET);
    assert_true(s.rate == 0.5);
    assert_int_equal(s.sizes.n, 1);
    assert_int_equal(s.global, 0);
    assert_int_equal(s.type, 0);
    assert_int_equal(s.dtype, MXC_DTYPE_UNKNOWN);
    assert_string_equal(s.name, "");
}

static void every_spelling_is_read(void **state) {
    static const struct {
        const char *key, *value, *printed;
    } cases[] = {
        {"begin", "(1,2)", "(1,2)"},
        {"begin", "[1, 2]", "(1,2)"},
        {"begin", " ( 1 ,2 ) ", "(1,2)"},
        {"begin", "3", "(3,)"},
        {"begin", "(3,)", "(3,)"},
        {"begin", "(3)", "(3,)"},
        {"begin", "()", "()"},
        {"begin", "[ ]", "()"},
        {"begin", "(2L, 2L)", "(2,2)"},
        {"begin", "(-1,None)", "(-1,None)"},
        {"begin", "None", "None"},
        {"begin", "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)"},
        {"num_filter", "1000000", "1000000"},
        {"filters", "7", "7"},
        {"num_filter", " +12 ", "12"},
        {"axis", "-9223372036854775807", "-9223372036854775807"},
        {"axis", "None", "None"},
        {"p", "1", "1"},
        {"p", "1e-5", "1e-05"},
        {"p", ".25", "0.25"},
        {"p", "0.1", "0.1"},
        {"p", "1e-400", "0"},
        {"sizes", "(0.1,0.2)", "(0.1,0.2)"},
        {"sizes", "{0.1, 0.2}", "(0.1,0.2)"},
        {"sizes", "0.5", "(0.5,)"},
        {"sizes", "[]", "()"},
        {"global_pool", "true", "True"},
        {"global_pool", "True", "True"},
        {"global_pool", "1", "True"},
        {"global_pool", "false", "False"},
        {"global_pool", "False", "False"},
        {"global_pool", "0", "False"},
        {"pool_type", "sum", "sum"},
        {"dtype", "float16", "float16"},
        {"dtype", "None", "None"},
        {"name", "1234567", "1234567"},
        {"name", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mxc_param *p = schema;
        char text[128];
        settings s;
        assert_ok(parse_with(cases[i].key, cases[i].value, &s));
        while (strcmp(p->name, cases[i].key) != 0 && (!p->alias || strcmp(p->alias, cases[i].key) != 0))
            p++;
        assert_string_equal(mxc_param_format(p, &s, text, sizeof text), cases[i].printed);
        assert_ok(parse_with(cases[i].key, text, &s)); /* what was printed is read again */
    }
}

static void every_malformed_value_is_refused(void **state) {
    static const struct {
        const char *key, *value, *message;
    } cases[] = {
        {"begin", "", "begin=\"\", expected integers such as (2,2), at most 16 or None"},
        {"begin", "(1,2", "expected integers"},
        {"begin", "1,2", "expected integers"},
        {"begin", "(1,2]", "expected integers"},
        {"begin", "(1,,2)", "expected integers"},
        {"begin", "(,)", "expected integers"},
        {"begin", "(1 2)", "expected integers"},
        {"begin", "(1,2)x", "expected integers"},
        {"begin", "((1,2))", "expected integers"},
        {"begin", ")", "expected integers"},
        {"begin", "(1.5,2)", "expected integers"},
        {"begin", "(2LL,2)", "expected integers"},
        {"begin", "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", "at most 16"},
        {"begin", "(99999999999999999999,1)", "expected integers"},
        {"kernel2", "(1,2)",
         "unknown parameter \"kernel2\"; it takes kernel, begin, num_filter, axis, p, sizes, "
         "global_pool, pool_type, dtype, name"},
        {"num_filter", "", "num_filter=\"\", expected an integer"},
        {"num_filter", "8.0", "expected an integer"},
        {"num_filter", "1e308", "expected an integer"},
        {"num_filter", "0x10", "expected an integer"},
        {"num_filter", "8 8", "expected an integer"},
        {"num_filter", "None", "expected an integer"},
        {"num_filter", "True", "expected an integer"},
        {"num_filter", "9223372036854775808", "expected an integer"},
        {"num_filter", "0", "num_filter=\"0\", expected a value from 1 to 1000000"},
        {"filters", "-3", "num_filter=\"-3\", expected a value from 1 to 1000000"},
        {"num_filter", "4611686018427387904", "from 1 to 1000000"},
        {"axis", "none", "axis=\"none\", expected an integer or None"},
        {"p", "nan", "p=\"nan\", expected a finite number"},
        {"p", "inf", "finite"},
        {"p", "-inf", "finite"},
        {"p", "1e400", "finite"},
        {"p", "0x1p-1", "finite"},
        {"p", "0,5", "finite"},
        {"p", "half", "finite"},
        {"p", "0.5f", "finite"},
        {"p", "1.5", "p=\"1.5\", expected a value from 0 to 1"},
        {"p", "-0.1", "from 0 to 1"},
        {"sizes", "(0.1,nan)", "sizes=\"(0.1,nan)\", expected finite numbers such as (0.1,0.2)"},
        {"sizes", "(0.1", "expected finite numbers"},
        {"sizes", "None", "expected finite numbers"},
        {"global_pool", "yes", "global_pool=\"yes\", expected True or False"},
        {"global_pool", "2", "True or False"},
        {"global_pool", "", "True or False"},
        {"pool_type", "foo", "Pooling: pool_type=\"foo\", expected one of max, avg, sum"},
        {"pool_type", "max,avg", "expected one of"},
        {"pool_type", "", "expected one of"},
        {"dtype", "float",
         "dtype=\"float\", expected one of float32, float64, float16, uint8, int32, int8, int64, "
         "bool, bfloat16 or None"},
        {"name", "12345678", "expected a text of at most 7 bytes"},
        {"", "1", "unknown parameter \"\""},
        {"__", "1", "unknown parameter \"__\""},
        {"p", NULL, "p has no value"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settings s;
        assert_fails(parse_with(cases[i].key, cases[i].value, &s), MXC_EINVAL, cases[i].message);
        assert_non_null(strstr(mxc_last_error(), "Pooling: "));
    }
}

static void tuple_entries_are_bounded(void **state) {
    settings s;
    (void)state;
    assert_fails(parse(1, (const char *[]){"kernel"}, (const char *[]){"(2,0)"}, &s), MXC_EINVAL,
                 "kernel=\"(2,0)\", expected values from 1 to 1000");
    assert_fails(parse(1, (const char *[]){"kernel"}, (const char *[]){"(-1,2)"}, &s), MXC_EINVAL, "from 1 to 1000");
    assert_fails(parse(1, (const char *[]){"kernel"}, (const char *[]){"(None,2)"}, &s), MXC_EINVAL, "integers");
}

static void missing_and_repeated_keys_are_refused(void **state) {
    settings s;
    (void)state;
    assert_fails(parse(0, NULL, NULL, &s), MXC_EINVAL,
                 "Pooling: parameter \"kernel\" is missing (tuple of int, required)");
    assert_fails(parse(2, (const char *[]){"kernel", "kernel"}, (const char *[]){"1", "2"}, &s), MXC_EINVAL,
                 "\"kernel\" is given twice");
    assert_fails(parse(3, (const char *[]){"kernel", "filters", "num_filter"}, (const char *[]){"1", "2", "2"}, &s),
                 MXC_EINVAL, "\"num_filter\" is given twice");
}

static void attributes_are_passed_over(void **state) {
    settings s;
    (void)state;
    assert_ok(parse_with("__lr_mult__", "anything", &s));
    assert_ok(parse_with("____", NULL, &s));
    assert_fails(parse_with("__lr_mult", "1", &s), MXC_EINVAL, "unknown parameter");
}

static void an_empty_schema_takes_nothing(void **state) {
    static const mxc_param none[] = {MXC_PARAM_END};
    const char *keys[] = {"axis", "__ctx__"}, *values[] = {"1", "cpu"};
    (void)state;
    assert_ok(mxc_params_parse("relu", NULL, 0, NULL, NULL, NULL));
    assert_ok(mxc_params_parse("relu", none, 1, keys + 1, values + 1, NULL));
    assert_fails(mxc_params_parse("relu", NULL, 1, keys, values, NULL), MXC_EINVAL,
                 "relu: unknown parameter \"axis\"; it takes none");
}

/* None for each type that can be absent, into a struct and back to text. */
static void none_is_kept_for_every_type(void **state) {
    mxc_param p = {.name = "x", .initial = "None", .optional = 1, .size = 8};
    static const mxc_param_type types[] = {
        MXC_PARAM_BOOL,   MXC_PARAM_INT,  MXC_PARAM_FLOAT, MXC_PARAM_TUPLE,
        MXC_PARAM_FLOATS, MXC_PARAM_ENUM, MXC_PARAM_DTYPE,
    };
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        mxc_param one[2] = {p, MXC_PARAM_END};
        union {
            mxc_floats floats;
            mxc_tuple tuple;
            int64_t integer;
            double number;
            int32_t small;
        } value;
        char text[64];
        one[0].type = types[i];
        one[0].choices = "a,b";
        assert_ok(mxc_params_parse("op", one, 0, NULL, NULL, &value));
        assert_string_equal(mxc_param_format(one, &value, text, sizeof text), "None");
    }
}

static void types_are_described(void **state) {
    static const struct {
        int i;
        const char *text;
    } cases[] = {
        {0, "tuple of int, required"},
        {1, "tuple of int or None, optional, default=()"},
        {2, "int, optional, default=8"},
        {3, "int or None, optional, default=None"},
        {4, "float, optional, default=0.5"},
        {5, "tuple of float, optional, default=(1,)"},
        {6, "boolean, optional, default=False"},
        {7, "{'max', 'avg', 'sum'}, optional, default='max'"},
        {8, "{None, 'float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16'}, "
            "optional, default=None"},
        {9, "string, optional, default=''"},
    };
    char text[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(mxc_param_describe(&schema[cases[i].i], text, sizeof text), cases[i].text);
    assert_string_equal(mxc_param_describe(&schema[0], text, 6), "tuple");
}

static void printing_is_cut_to_the_room(void **state) {
    settings s;
    char text[6];
    (void)state;
    assert_ok(parse_with("begin", "(100,200,300)", &s));
    assert_string_equal(mxc_param_format(&schema[1], &s, text, sizeof text), "(100,");
}

static void tuples_parse_alone(void **state) {
    mxc_tuple t;
    (void)state;
    assert_ok(mxc_tuple_parse("(2L, 3)", &t));
    assert_int_equal(t.n, 2);
    assert_int_equal(t.value[1], 3);
    assert_fails(mxc_tuple_parse("(2,None)", &t), MXC_EINVAL, "\"(2,None)\": expected an integer or a tuple");
    assert_status(mxc_tuple_parse("None", &t), MXC_EINVAL);
}

/* Where the schema says so, and then text and value agree both ways. */
static void numbers_may_be_infinite(void **state) {
    typedef struct limit {
        double value;
    } limit;
    static const mxc_param schema[] = {
        {MXC_PARAM_FIELD(limit, value), .name = "value", .type = MXC_PARAM_FLOAT, .non_finite = 1}, MXC_PARAM_END};
    static const char *const texts[] = {"inf", "-inf", "nan", "0.5"};
    const char *const key = "value", *const malformed = "info";
    char text[40];
    limit l;
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_ok(mxc_params_parse("Limit", schema, 1, &key, &texts[i], &l));
        assert_string_equal(mxc_param_format(&schema[0], &l, text, sizeof text), texts[i]);
    }
    assert_fails(mxc_params_parse("Limit", schema, 1, &key, &malformed, &l), MXC_EINVAL, "expected a number");
}

static void parsing_allocates_nothing(void **state) {
    int64_t count = mxci_alloc_count();
    settings s;
    (void)state;
    mxci_test_fail_alloc(1, 1);
    assert_ok(parse_with("sizes", "(1,2,3)", &s));
    assert_status(parse_with("sizes", "(1,2", &s), MXC_EINVAL);
    mxci_test_fail_alloc(0, 0);
    assert_int_equal(mxci_alloc_count(), count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_set),
        cmocka_unit_test(every_spelling_is_read),
        cmocka_unit_test(every_malformed_value_is_refused),
        cmocka_unit_test(tuple_entries_are_bounded),
        cmocka_unit_test(missing_and_repeated_keys_are_refused),
        cmocka_unit_test(attributes_are_passed_over),
        cmocka_unit_test(an_empty_schema_takes_nothing),
        cmocka_unit_test(none_is_kept_for_every_type),
        cmocka_unit_test(types_are_described),
        cmocka_unit_test(printing_is_cut_to_the_room),
        cmocka_unit_test(tuples_parse_alone),
        cmocka_unit_test(numbers_may_be_infinite),
        cmocka_unit_test(parsing_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
