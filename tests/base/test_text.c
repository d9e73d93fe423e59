/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, fixed lines, number reading, lists; also in a locale with a decimal comma. */
#include "support.h"

#include <locale.h>
#include <math.h>

#include "base/sys.h"
#include "base/text.h"

static void text_grows(void **state) {
    mxci_text t = {0};
    char *out;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        mxci_text_add(&t, "ab");
        mxci_text_add_bytes(&t, "cdef", 2);
        mxci_text_printf(&t, "%03d", i);
    }
    assert_int_equal(t.length, 7000);
    assert_ok(mxci_text_take(&t, &out));
    assert_int_equal(strlen(out), 7000);
    assert_memory_equal(out + 6993, "abcd999", 8);
    assert_null(t.data);
    mxci_free(out);
}

static void an_empty_text_is_a_string(void **state) {
    mxci_text t = {0};
    char *out;
    (void)state;
    assert_ok(mxci_text_take(&t, &out));
    assert_string_equal(out, "");
    mxci_free(out);
}

static void a_failed_addition_shows_at_take(void **state) {
    int64_t live = mxci_alloc_live();
    (void)state;
    for (int n = 1; n <= 4; n++) {
        mxci_text t = {0};
        char *out = (char *)1;
        mxci_test_fail_alloc(n, 0);
        for (int i = 0; i < 100; i++)
            mxci_text_printf(&t, "%s", "0123456789");
        mxci_test_fail_alloc(0, 0);
        assert_status(mxci_text_take(&t, &out), MXC_ENOMEM);
        assert_null(out);
        assert_int_equal(mxci_alloc_live(), live);
    }
}

static void lines_are_cut(void **state) {
    char buffer[8];
    mxci_line line = {buffer, sizeof buffer, 0}, none = {NULL, 0, 0};
    (void)state;
    mxci_line_printf(&line, "%s", "abc");
    assert_int_equal(line.length, 3);
    mxci_line_printf(&line, "%s", "defgh");
    assert_string_equal(buffer, "abcdefg");
    mxci_line_printf(&line, "more");
    assert_string_equal(buffer, "abcdefg");
    assert_int_equal(line.length, 7);
    mxci_line_printf(&none, "x");
    assert_int_equal(none.length, 0);
}

static void integers_are_read(void **state) {
    const char *text = " -12,x", *at = text;
    int64_t value;
    (void)state;
    assert_true(mxci_read_int(&at, &value));
    assert_int_equal(value, -12);
    assert_ptr_equal(at, text + 4);
    assert_false(mxci_read_int(&at, &value));
    at = "9223372036854775807";
    assert_true(mxci_read_int(&at, &value));
    assert_true(value == INT64_MAX);
    at = "9223372036854775808";
    assert_false(mxci_read_int(&at, &value));
    at = "";
    assert_false(mxci_read_int(&at, &value));
}

static void doubles_are_read(void **state) {
    static const char *const bad[] = {"", "x", "nan", "inf", "-Infinity", "1e400", "0x1p3", "."};
    const char *at = " 2.5e-1)";
    double value;
    (void)state;
    assert_true(mxci_read_double(&at, &value));
    assert_true(value == 0.25);
    assert_string_equal(at, ")");
    at = "1e-400";
    assert_true(mxci_read_double(&at, &value));
    assert_true(value == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        at = bad[i];
        assert_false(mxci_read_double(&at, &value));
    }
}

static void doubles_print_short_and_exact(void **state) {
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},
        {2, "2"},
        {-0.5, "-0.5"},
        {1e-5, "1e-05"},
        {1.0 / 3, "0.3333333333333333"},
        {1e300, "1e+300"},
        {16777217, "16777217"},
        {0.9, "0.9"},
    };
    char text[40];
    uint64_t random = 1;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(mxci_double_text(cases[i].value, text, sizeof text), cases[i].text);
    assert_string_equal(mxci_double_text((double)NAN, text, sizeof text), "nan");
    for (int i = 0; i < TEST_SCALE(20000); i++) {
        const char *at = text;
        double value, back;
        random = random * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &random, sizeof value);
        if (!isfinite(value))
            continue;
        mxci_double_text(value, text, sizeof text);
        assert_true(mxci_read_double(&at, &back) && *at == '\0' && back == value);
    }
}

/* Comma as decimal point. Debian has such a locale only where it was generated; without one the test says so. */
static void the_locale_does_not_matter(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "pt_BR.UTF-8"};
    const char *set = NULL, *at = "0.5";
    char text[40];
    double value;
    (void)state;
    for (int i = 0; i < 5 && !set; i++)
        set = setlocale(LC_NUMERIC, names[i]);
    if (!set)
        skip();
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5"); /* the locale is what we think */
    mxci_format(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0.5");
    assert_true(mxci_read_double(&at, &value) && *at == '\0' && value == 0.5);
    setlocale(LC_NUMERIC, "C");
}

static void lists_split_at_commas(void **state) {
    char item[8];
    (void)state;
    assert_int_equal(mxci_list_count(NULL), 0);
    assert_int_equal(mxci_list_count(""), 0);
    assert_int_equal(mxci_list_count("data"), 1);
    assert_int_equal(mxci_list_count("data,weight,bias"), 3);
    assert_true(mxci_list_item("data,weight,bias", 1, item, sizeof item));
    assert_string_equal(item, "weight");
    assert_true(mxci_list_item("data,weight,bias", 2, item, 3));
    assert_string_equal(item, "bi");
    assert_false(mxci_list_item("data,weight,bias", 3, item, sizeof item));
    assert_string_equal(item, "");
    assert_false(mxci_list_item("data", -1, item, sizeof item));
    assert_int_equal(mxci_list_find("data,weight,bias", "bias"), 2);
    assert_int_equal(mxci_list_find("data,weight,bias", "bia"), -1);
    assert_int_equal(mxci_list_find("data,weight,bias", "weight,bias"), -1);
    assert_int_equal(mxci_list_find("", ""), -1);
    assert_int_equal(mxci_list_find(NULL, "x"), -1);
}

static void utf8_characters_are_measured(void **state) {
    static const char *const malformed[] = {
        "\x80",             /* continuation byte */
        "\xc3",             /* truncated */
        "\xc3(",            /* no continuation byte */
        "\xc0\x80",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xed\xa0\x80",     /* surrogate */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xf4\x90\x80\x80", /* above U+10FFFF */
        "\xff",
    };
    (void)state;
    assert_int_equal(mxci_utf8_length("", 1), 1); /* U+0000 */
    assert_int_equal(mxci_utf8_length("ab", 2), 1);
    assert_int_equal(mxci_utf8_length("\xc3\xa9", 2), 2);
    assert_int_equal(mxci_utf8_length("\xed\x9f\xbf", 3), 3);
    assert_int_equal(mxci_utf8_length("\xf4\x8f\xbf\xbf", 4), 4);
    assert_int_equal(mxci_utf8_length("\xf4\x8f\xbf\xbf", 3), 0);
    assert_int_equal(mxci_utf8_length("a", 0), 0);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_int_equal(mxci_utf8_length(malformed[i], strlen(malformed[i])), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(an_empty_text_is_a_string),
        cmocka_unit_test(a_failed_addition_shows_at_take),
        cmocka_unit_test(lines_are_cut),
        cmocka_unit_test(integers_are_read),
        cmocka_unit_test(doubles_are_read),
        cmocka_unit_test(doubles_print_short_and_exact),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(lists_split_at_commas),
        cmocka_unit_test(utf8_characters_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
