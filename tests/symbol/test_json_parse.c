/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON: what is refused, with which message, and the same values as jansson's own parser. */
#include "support.h"

#include "base/sys.h"
#include "symbol/json.h"

static const char *const accepted[] = {
    "null",
    "true",
    "[false]",
    "0",
    "-0",
    "12",
    "-9223372036854775808",
    "9223372036854775807",
    "0.5",
    "-1e3",
    "1E-2",
    "1.25e+2",
    "\"\"",
    "\"a b\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0041\\u00e9\\u20AC\"",
    "\"\\ud83d\\ude00\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    "[]",
    "{}",
    " [ 1 , 2 ,\t3 ]\r\n",
    "{\"a\": [1, {\"b\": null}], \"c\": {}}",
    "[0, 63, 64, 0, 63, 64]",
    "{\"\": 1}",
};

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "byte 0, line 1, column 0"},
    {"nul", "not a value"},
    {"[1,]", "not a value"},
    {"[1 2]", "',' or ']'"},
    {"{\"a\" 1}", "':'"},
    {"{a: 1}", "key in quotes"},
    {"{\"a\": 1,}", "key in quotes"},
    {"{\"a\": 1, \"a\": 2}", "duplicate"},
    {"01", "not a value"},
    {"-", "not a value"},
    {"1.", "not a value"},
    {"1e", "not a value"},
    {".5", "not a value"},
    {"+1", "not a value"},
    {"9223372036854775808", "too big"},
    {"1e999", "overflow"},
    {"\"a", "ends inside a string"},
    {"\"\\", "escape"},
    {"\"\\x\"", "escape"},
    {"\"\\u12\"", "escape"},
    {"\"\\u00g0\"", "escape"},
    {"\"\\ud83d\"", "escape"},
    {"\"\\ud83d\\u0041\"", "escape"},
    {"\"\\ude00\"", "escape"},
    {"\"\\u0000\"", "u0000"},
    {"\"\n\"", "control character"},
    {"\"\xc3\"", "UTF-8"},
    {"\"\xc0\x80\"", "UTF-8"},
    {"\"\xe0\x80\x80\"", "UTF-8"},
    {"\"\xed\xa0\x80\"", "UTF-8"},
    {"\"\xf4\x90\x80\x80\"", "UTF-8"},
    {"\"\xff\"", "UTF-8"},
    {"[\n1,\n  x]", "byte 7, line 3, column 2"},
    {"1 2", "end of file"},
    {"[1]]", "end of file"},
};

/* A copy of its own, so that reading past the end is seen; NULL if it is refused. */
static json_t *parse(const char *text, size_t bytes) {
    char *copy = malloc(bytes + !bytes);
    json_t *value;
    mxc_status status;
    memcpy(copy, text, bytes);
    status = mxci_json_parse(copy, bytes, &value);
    assert_true((status == MXC_OK) == (value != NULL));
    if (status != MXC_OK)
        assert_int_equal(status, MXC_EFORMAT);
    free(copy);
    return value;
}

static json_t *parse_by_jansson(const char *text, size_t bytes) {
    return json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
}

static void values_are_janssons(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        json_t *ours = parse(accepted[i], strlen(accepted[i]));
        json_t *theirs = parse_by_jansson(accepted[i], strlen(accepted[i]));
        if (!ours || !theirs || !json_equal(ours, theirs))
            fail_msg("%s: differs", accepted[i]);
        json_decref(ours);
        json_decref(theirs);
    }
}

static void refusals_say_why(void **state) {
    int64_t live = mxci_alloc_live();
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_null(parse(refused[i].text, strlen(refused[i].text)));
        if (!strstr(mxc_last_error(), refused[i].message))
            fail_msg("%s: \"%s\" lacks \"%s\"", refused[i].text, mxc_last_error(), refused[i].message);
    }
    assert_null(parse("[\0]", 3));
    assert_int_equal(mxci_alloc_live(), live);
}

static uint32_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Changed texts are taken by both or by none, and mean the same. */
static void changed_texts_are_read_alike(void **state) {
    static const char text[] = "{\"nodes\": [{\"op\": \"null\", \"name\": \"d\\u00e9\\n\xc3\xa9\", \"inputs\": []}, "
                               "{\"a\": [[0, 1, 2], [-3, 4.5e1, 70]], \"b\": true, \"c\": null}], \"heads\": [[1, 0]]}";
    static const char letters[] = "[]{}\",:\\ue01-+.tfn \xc3\xa9\n";
    uint64_t seed = 1;
    int taken = 0, rounds = TEST_SCALE(200000);
    (void)state;
    for (int round = 0; round < rounds; round++) {
        char changed[sizeof text];
        json_t *ours, *theirs;
        memcpy(changed, text, sizeof text);
        for (uint32_t n = 1 + next(&seed) % 3; n > 0; n--)
            changed[next(&seed) % (sizeof text - 1)] = letters[next(&seed) % (sizeof letters - 1)];
        ours = parse(changed, sizeof text - 1);
        theirs = parse_by_jansson(changed, sizeof text - 1);
        if (!ours != !theirs || (ours && !json_equal(ours, theirs)))
            fail_msg("%s: %s", changed, ours ? "taken by ours" : mxc_last_error());
        taken += ours != NULL;
        json_decref(ours);
        json_decref(theirs);
    }
    assert_true(taken > rounds / 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_janssons),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(changed_texts_are_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
