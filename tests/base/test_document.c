/* SPDX-License-Identifier: Apache-2.0 */
/* Documentation as text: lines of words, and parameters with their ranges. */
#include "base/document.h"
#include "base/sys.h"
#include "support.h"

typedef struct settings {
    int64_t size, shift;
    double rate;
} settings;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(settings, size), .name = "size", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1, .maximum = 1e6,
     .doc = "How large it is."},
    {MXC_PARAM_FIELD(settings, shift), .name = "shift", .type = MXC_PARAM_INT, .initial = "2", .bounded = 1,
     .minimum = 0, .maximum = 9e18},
    {MXC_PARAM_FIELD(settings, rate), .name = "rate", .type = MXC_PARAM_FLOAT, .initial = "0.5"},
    MXC_PARAM_END,
};

static void expect(mxci_text *text, const char *expected) {
    char *found;
    assert_ok(mxci_text_take(text, &found));
    assert_string_equal(found, expected);
    mxci_free(found);
}

static void params_have_types_ranges_and_descriptions(void **state) {
    mxci_text text = {0};
    (void)state;
    mxci_document_params(&text, schema);
    expect(&text, "Parameters:\n"
                  "    size : int, required, 1 to 1000000\n"
                  "        How large it is.\n"
                  "    shift : int, optional, default=2, at least 0\n"
                  "    rate : float, optional, default=0.5\n");
    text = (mxci_text){0};
    mxci_document_params(&text, NULL);
    mxci_document_params(&text, &schema[3]);
    expect(&text, "");
}

static void long_texts_are_wrapped(void **state) {
    char words[331], *found;
    mxci_text text = {0};
    int lines = 0;
    (void)state;
    for (int i = 0; i < 330; i++)
        words[i] = i % 11 == 10 ? ' ' : 'w';
    words[330] = '\0';
    mxci_document_words(&text, "  ", words);
    assert_ok(mxci_text_take(&text, &found));
    for (char *line = found, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, lines++) {
        assert_true(end - line <= 110);
        assert_memory_equal(line, "  w", 3);
    }
    assert_int_equal(lines, 4);
    mxci_free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_have_types_ranges_and_descriptions),
        cmocka_unit_test(long_texts_are_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
