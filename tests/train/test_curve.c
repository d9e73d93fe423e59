/* SPDX-License-Identifier: Apache-2.0 */
/* The learning curve: always well-formed SVG with finite numbers, whatever the history holds. */
#include <ctype.h>
#include <math.h>

#include "base/sys.h"
#include "support.h"
#include "train/curve.h"

static test_path folder, path;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(path, folder, "curve.svg");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* Position behind one tag; keeps the names of open elements on a stack. */
static const char *check_tag(const char *at, char open[][16], int *depth) {
    const char *end = strchr(at, '>');
    char name[16];
    size_t n = 0;
    int closing = at[1] == '/';
    assert_non_null(end);
    at += 1 + closing;
    while (n < 15 && (isalnum((unsigned char)at[n])))
        n++;
    assert_true(n > 0);
    memcpy(name, at, n);
    name[n] = '\0';
    int quotes = 0;
    for (const char *p = at; p < end; p++) {
        assert_true(*p != '<');
        quotes += *p == '"';
    }
    assert_int_equal(quotes % 2, 0);
    if (closing) {
        assert_true(*depth > 0);
        assert_string_equal(open[--*depth], name);
    } else if (end[-1] != '/') {
        assert_true(*depth < 8);
        strcpy(open[(*depth)++], name);
    }
    return end + 1;
}

static char *check_picture(void) {
    size_t bytes;
    char *text = test_read_file(path, &bytes), open[8][16];
    int depth = 0;
    assert_non_null(text);
    assert_int_equal(strlen(text), bytes);
    for (const char *at = text; (at = strchr(at, '<')) != NULL;)
        at = check_tag(at, open, &depth);
    assert_int_equal(depth, 0);
    assert_int_equal(strncmp(text, "<svg ", 5), 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_null(strchr(text, '&'));
    return text;
}

/* Loss and accuracy of n epochs, some of them unusual. */
static void check_history(int n, double loss, double accuracy, double valid_loss) {
    mxci_curve_history history = {0};
    for (int i = 0; i < n; i++) {
        mxci_curve_point point = {i + 1, loss / (i + 1), accuracy, valid_loss, accuracy};
        assert_ok(mxci_curve_history_add(&history, &point));
    }
    assert_ok(mxci_curve_write(path, &history));
    free(check_picture());
    mxci_curve_history_free(&history);
}

static void test_histories(void **state) {
    static const double values[] = {0, 0.5, NAN, INFINITY, -INFINITY, 1e-300, 1e300, -1e300, 1e308, -3};
    const int n = sizeof values / sizeof values[0];
    (void)state;
    for (int count = 0; count < 4; count++)
        for (int i = 0; i < n * n; i++)
            check_history(count, values[i / n], values[i % n], values[(i + 3) % n]);
    check_history(1000, 2, 0.9, 1);
}

static void test_what_it_says(void **state) {
    mxci_curve_history history = {0};
    (void)state;
    for (int i = 0; i < 10; i++) {
        mxci_curve_point point = {i + 1, 2.0 / (i + 1), 0.5 + 0.04 * i, 2.1 / (i + 1), 0.5 + 0.03 * i};
        assert_ok(mxci_curve_history_add(&history, &point));
    }
    assert_ok(mxci_curve_write(path, &history));
    char *text = check_picture();
    assert_non_null(strstr(text, ">Accuracy<"));
    assert_non_null(strstr(text, ">Loss"));
    assert_non_null(strstr(text, ">epoch<"));
    assert_non_null(strstr(text, "training"));
    assert_non_null(strstr(text, "validation"));
    assert_non_null(strstr(text, ">90%<"));
    free(text);
    mxci_curve_history_free(&history);
}

static void test_failing_write_keeps_the_old_picture(void **state) {
    mxci_curve_history history = {0};
    mxci_curve_point point = {1, 1, 0.5, 1, 0.5};
    mxc_status status = MXC_EIO;
    (void)state;
    assert_ok(mxci_curve_history_add(&history, &point));
    assert_ok(mxci_curve_write(path, &history));
    char *old = check_picture();
    point.epoch = 2;
    assert_ok(mxci_curve_history_add(&history, &point));
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxci_test_fail_write(k);
        status = mxci_curve_write(path, &history);
        mxci_test_fail_write(0);
        char *now = check_picture();
        assert_true(status == MXC_OK || status == MXC_EIO);
        assert_int_equal(strcmp(now, old) == 0, status != MXC_OK);
        free(now);
    }
    assert_status(mxci_curve_write("/nowhere/at/all.svg", &history), MXC_EIO);
    free(old);
    mxci_curve_history_free(&history);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),
        cmocka_unit_test(test_what_it_says),
        cmocka_unit_test(test_failing_write_keeps_the_old_picture),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
