/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a training prints to standard error: a line that is redrawn on a terminal, plain lines in a file, or nothing.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <sys/ioctl.h>

#include "base/sys.h"
#include "train/toy.h"

enum { BATCHES = (TOY_SAMPLES + TOY_BATCH - 1) / TOY_BATCH };

/* Slow enough for the bar to be drawn after the fourth step, where it stops if it is to. */
static mxc_status on_step(const mxc_fit_progress *progress, int epoch_end, void *user) {
    if (!epoch_end && progress->updates == 3)
        mxci_sleep_ns(150000000);
    *(int *)user = progress->updates == 4;
    return MXC_OK;
}

/* Train with standard error going to fd. */
static void train_to(int fd, int show, int stops) {
    int saved = dup(STDERR_FILENO), stop = 0;
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = 2;
    t.options.epoch_batches = BATCHES;
    t.options.show = show;
    t.options.callback = on_step;
    t.options.user = &stop;
    t.options.stop = stops ? &stop : NULL;
    dup2(fd, STDERR_FILENO);
    mxc_status status = mxc_fit(&t.options, NULL, NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_ok(status);
    toy_close(&t);
}

static void read_text(int fd, char *out, size_t size) {
    ssize_t n, total = 0;
    while ((n = read(fd, out + total, size - 1 - (size_t)total)) > 0)
        total += n;
    out[total] = '\0';
}

static unsigned short columns; /* of the terminal; 0: it does not say */

static void on_terminal(int show, int stops, char *out, size_t size) {
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        skip();
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    assert_int_equal(ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = columns}), 0);
    train_to(slave, show, stops);
    fcntl(master, F_SETFL, O_NONBLOCK);
    read_text(master, out, size);
    close(slave);
    close(master);
}

static void in_file(int show, char *out, size_t size) {
    FILE *file = tmpfile();
    assert_non_null(file);
    train_to(fileno(file), show, 0);
    lseek(fileno(file), 0, SEEK_SET);
    read_text(fileno(file), out, size);
    fclose(file);
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void test_bar(void **state) {
    char text[8192];
    (void)state;
    on_terminal(1, 0, text, sizeof text);
    assert_non_null(strstr(text, "epoch 1/2 ["));
    assert_true(count(text, "[?7l") >= 1);
    assert_int_equal(count(text, "[?7l"), count(text, "[?7h")); /* wrapping is always switched on again */
    assert_non_null(strstr(text, " left"));
    assert_int_equal(count(text, "\n"), 2); /* a line that stays for each epoch */
    assert_int_equal(count(text, "validation:"), 2);
    assert_int_equal(text[strlen(text) - 1], '\n');
}

/* Columns of a line up to its end, without what controls the terminal. */
static size_t width_of(const char *line) {
    size_t n = 0;
    for (; *line != '\0' && *line != '\n' && *line != '\r'; line++)
        if (*line == '\033')
            line += strcspn(line, "hlK");
        else
            n++;
    return n;
}

/* The bar fills what is left of the terminal's width; no line is wider. */
static void test_width(void **state) {
    static const unsigned short widths[] = {200, 110, 80, 60, 50};
    (void)state;
    for (int i = 0; i < 5; i++) {
        char text[8192];
        columns = widths[i];
        on_terminal(1, 0, text, sizeof text);
        const char *bar = strstr(text, "epoch 1/2 [");
        assert_non_null(bar);
        assert_true(width_of(bar) >= columns - 2u && width_of(bar) < columns);
        assert_true(columns < 60 || strcspn(bar, "]") - strcspn(bar, "[") > 10);
        assert_true(columns < 110 || strcspn(bar, "]") - strcspn(bar, "[") > 30);
        for (const char *line = text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            assert_true(width_of(line) <= columns);
        }
        if (columns >= 110 || columns <= 60)
            assert_int_equal(count(text, " samples/s  loss") > 0, columns >= 110);
        assert_int_equal(count(text, "\n"), columns >= 80 ? 2 : 4);
        assert_int_equal(count(text, "validation:"), 2);
    }
    columns = 0;
}

/* The bar's line is left, so that what follows begins a new one. */
static void test_bar_of_stopped_training(void **state) {
    char text[8192];
    (void)state;
    on_terminal(1, 1, text, sizeof text);
    assert_int_equal(count(text, "epoch 1/2 ["), 1);
    assert_int_equal(count(text, "\n"), 1);
    assert_int_equal(text[strlen(text) - 1], '\n');
}

static void test_plain_lines(void **state) {
    char text[8192];
    (void)state;
    in_file(1, text, sizeof text);
    assert_int_equal(strncmp(text, "epoch 1/2  ", 11), 0);
    assert_int_equal(count(text, "\n"), 2);
    assert_int_equal(count(text, " samples/s  loss "), 2);
    assert_int_equal(count(text, "validation:"), 2);
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
}

static void test_silence(void **state) {
    char text[64];
    (void)state;
    in_file(0, text, sizeof text);
    assert_string_equal(text, "");
    on_terminal(0, 1, text, sizeof text);
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_bar_of_stopped_training),
        cmocka_unit_test(test_plain_lines),
        cmocka_unit_test(test_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
