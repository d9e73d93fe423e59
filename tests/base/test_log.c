/* SPDX-License-Identifier: Apache-2.0 */
/* Levels, the receiver, and the default that writes to stderr. */
#include "support.h"

#include <fcntl.h>

#include "base/log.h"
#include "base/sys.h"

typedef struct heard {
    int count;
    mxc_log_level level;
    char message[2000];
} heard;

static void hear(mxc_log_level level, const char *message, void *user) {
    heard *h = user;
    h->count++;
    h->level = level;
    snprintf(h->message, sizeof h->message, "%s", message);
}

static void the_receiver_gets_what_is_not_below_the_level(void **state) {
    heard h = {0};
    (void)state;
    mxc_set_logger(hear, &h);
    mxci_log(MXC_LOG_INFO, "too low"); /* the default level is warning */
    assert_int_equal(h.count, 0);
    mxci_log(MXC_LOG_WARNING, "%s %d", "number", 7);
    assert_int_equal(h.count, 1);
    assert_int_equal(h.level, MXC_LOG_WARNING);
    assert_string_equal(h.message, "number 7");
    mxc_set_log_level(MXC_LOG_DEBUG);
    mxci_log(MXC_LOG_DEBUG, "low");
    assert_int_equal(h.count, 2);
    mxc_set_log_level(MXC_LOG_ERROR);
    mxci_log(MXC_LOG_WARNING, "too low");
    assert_int_equal(h.count, 2);
    mxc_set_log_level(MXC_LOG_WARNING);
    mxc_set_logger(NULL, NULL);
}

static void long_messages_are_cut(void **state) {
    static char text[5000];
    heard h = {0};
    (void)state;
    memset(text, 'x', sizeof text - 1);
    mxc_set_logger(hear, &h);
    mxci_log(MXC_LOG_ERROR, "%s", text);
    assert_int_equal(strlen(h.message), 1023);
    mxc_set_logger(NULL, NULL);
}

/* Run with stderr going to a file. */
static void the_default_writes_lines_to_stderr(void **state) {
    int before = dup(STDERR_FILENO), file;
    test_path dir, path;
    char *found;
    (void)state;
    test_join(path, test_temp_dir(dir), "stderr");
    file = open(path, O_CREAT | O_WRONLY, 0600);
    dup2(file, STDERR_FILENO);
    mxci_log(MXC_LOG_WARNING, "careful");
    mxci_log(MXC_LOG_INFO, "quiet");
    mxci_log(MXC_LOG_ERROR, "broken");
    dup2(before, STDERR_FILENO);
    close(before);
    close(file);
    found = test_read_file(path, NULL);
    assert_string_equal(found, "mxc: warning: careful\nmxc: error: broken\n");
    free(found);
    test_remove_dir(dir);
}

static void log_often(void *arg) {
    (void)arg;
    for (int i = 0; i < 1000; i++)
        mxci_log(MXC_LOG_WARNING, "%d", i);
}

static void ignore(mxc_log_level level, const char *message, void *user) {
    (void)level;
    (void)message;
    (void)user;
}

static void receivers_may_change_while_others_log(void **state) {
    mxci_thread thread;
    (void)state;
    mxc_set_logger(ignore, NULL);
    assert_ok(mxci_thread_start(&thread, "logger", log_often, NULL));
    for (int i = 0; i < 1000; i++) {
        mxc_set_logger(ignore, &thread);
        mxc_set_log_level(i % 2 ? MXC_LOG_WARNING : MXC_LOG_ERROR);
    }
    mxci_thread_join(thread);
    mxc_set_logger(NULL, NULL);
    mxc_set_log_level(MXC_LOG_WARNING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_receiver_gets_what_is_not_below_the_level),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(the_default_writes_lines_to_stderr),
        cmocka_unit_test(receivers_may_change_while_others_log),
    };
    unsetenv("MXC_LOG_LEVEL");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
