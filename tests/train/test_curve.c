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
    for (const char *at = text; (at = strchr(at, '&')) != NULL; at++)
        assert_true(at[1] == '#' && isdigit((unsigned char)at[2]));
    return text;
}

static const mxci_curve_metric loss_and_accuracy[] = {{"cross-entropy", 1, 0}, {"accuracy", 0, 1}};

static mxci_curve_history open_history(int n, const mxci_curve_metric *metrics) {
    mxci_curve_history history = {.n_metrics = n};
    memcpy(history.metrics, metrics, (size_t)n * sizeof *metrics);
    return history;
}

/* Loss and accuracy of n epochs, some of them unusual. */
static void check_history(int n, double loss, double accuracy, double valid_loss) {
    mxci_curve_history history = open_history(2, loss_and_accuracy);
    for (int i = 0; i < n; i++) {
        const double values[] = {loss / (i + 1), valid_loss, accuracy, accuracy};
        assert_ok(mxci_curve_history_add(&history, i + 1, values));
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
    mxci_curve_history history = open_history(2, loss_and_accuracy);
    (void)state;
    for (int i = 0; i < 10; i++) {
        const double values[] = {2.0 / (i + 1), 2.1 / (i + 1), 0.5 + 0.04 * i, 0.5 + 0.03 * i};
        assert_ok(mxci_curve_history_add(&history, i + 1, values));
    }
    assert_ok(mxci_curve_write(path, &history));
    char *text = check_picture();
    assert_non_null(strstr(text, ">accuracy<"));
    assert_non_null(strstr(text, ">loss (cross-entropy)<"));
    assert_non_null(strstr(text, ">epoch<"));
    assert_non_null(strstr(text, "training"));
    assert_non_null(strstr(text, "validation"));
    assert_non_null(strstr(text, ">90%<"));
    free(text);
    mxci_curve_history_free(&history);
}

static int count_panels(const char *text) {
    int n = 0;
    for (; (text = strstr(text, "class=\"title\"")) != NULL; text++)
        n++;
    return n;
}

/* A panel for each metric, at most four; the picture is as large as they need. Regression has no second panel. */
static void test_panels(void **state) {
    static const mxci_curve_metric metrics[] = {{"mse", 1, 0}, {"mae", 0, 0}, {"a<b & \"c\"", 0, 0},
                                                {"r2", 0, 0},  {"max", 0, 0}, {"min", 0, 0}};
    static const char *const sizes[] = {"width=\"460\" height=\"360\"", "width=\"460\" height=\"360\"",
                                        "width=\"900\" height=\"360\"", "width=\"900\" height=\"700\""};
    (void)state;
    for (int n = 0; n <= 6; n++) {
        mxci_curve_history history = open_history(n, metrics);
        for (int i = 0; i < 5; i++) {
            double values[12];
            for (int k = 0; k < 2 * n; k++)
                values[k] = k == 1 ? NAN : (k + 1) * 10.0 / (i + 2);
            assert_ok(mxci_curve_history_add(&history, i + 1, values));
        }
        assert_ok(mxci_curve_write(path, &history));
        char *text = check_picture();
        assert_int_equal(count_panels(text), n < 4 ? n : 4);
        assert_non_null(strstr(text, sizes[n < 3 ? n : 3]));
        if (n > 0)
            assert_non_null(strstr(text, ">loss (mse)<"));
        if (n > 2)
            assert_non_null(strstr(text, ">a&#60;b &#38; \"c\"<"));
        free(text);
        mxci_curve_history_free(&history);
    }
}

static void test_failing_write_keeps_the_old_picture(void **state) {
    mxci_curve_history history = open_history(2, loss_and_accuracy);
    const double values[] = {1, 1, 0.5, 0.5};
    mxc_status status = MXC_EIO;
    (void)state;
    assert_ok(mxci_curve_history_add(&history, 1, values));
    assert_ok(mxci_curve_write(path, &history));
    char *old = check_picture();
    assert_ok(mxci_curve_history_add(&history, 2, values));
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
        cmocka_unit_test(test_panels),
        cmocka_unit_test(test_failing_write_keeps_the_old_picture),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
