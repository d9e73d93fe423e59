/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: what is recorded, by whom, and that the file is sound JSON. */
#include "support.h"

#include <jansson.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/sys.h"
#include "base/trace.h"

static test_path dir, path;

static int set_up(void **state) {
    (void)state;
    test_join(path, test_temp_dir(dir), "trace.json");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mxci_trace_clear();
    test_remove_dir(dir);
    return mxci_alloc_live() != 0;
}

static json_t *write_and_load(void) {
    json_error_t error;
    json_t *root;
    assert_ok(mxc_trace_write(path));
    root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    return root;
}

static const char *text_of(const json_t *event, const char *key) {
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

/* Events called name on the row called row; NULL: any. */
static int count(const json_t *root, const char *row, const char *name) {
    const json_t *events = json_object_get(root, "traceEvents"), *e, *m;
    size_t i, j;
    int n = 0;
    json_array_foreach(events, i, e) {
        if (strcmp(text_of(e, "ph"), "X") != 0 || (name && strcmp(text_of(e, "name"), name) != 0))
            continue;
        json_array_foreach(events, j, m) if (strcmp(text_of(m, "name"), "thread_name") == 0 &&
                                             json_equal(json_object_get(m, "tid"), json_object_get(e, "tid")) &&
                                             (!row || strcmp(text_of(json_object_get(m, "args"), "name"), row) == 0))
            n++;
    }
    return n;
}

static void record(const char *name) {
    mxci_trace_end(mxci_trace_begin(), name, "test");
}

static void nothing_is_recorded_while_off(void **state) {
    json_t *root;
    (void)state;
    assert_int_equal(mxci_trace_begin(), 0);
    record("before");
    assert_ok(mxc_trace_start());
    record("during");
    mxc_trace_stop();
    record("after");
    root = write_and_load();
    assert_int_equal(count(root, NULL, NULL), 1);
    assert_int_equal(count(root, "main", "during"), 1);
    json_decref(root);
}

static void events_that_span_a_start_or_stop_are_left_out(void **state) {
    int64_t begin;
    json_t *root;
    (void)state;
    assert_ok(mxc_trace_start());
    begin = mxci_trace_begin();
    mxc_trace_stop();
    mxci_trace_end(begin, "over the stop", "test");
    assert_ok(mxc_trace_start());
    mxci_trace_end(begin, "over the start", "test");
    mxc_trace_stop();
    root = write_and_load();
    assert_int_equal(count(root, NULL, NULL), 0);
    json_decref(root);
}

static void times_are_in_microseconds(void **state) {
    const json_t *e;
    int64_t begin;
    json_t *root;
    (void)state;
    assert_ok(mxc_trace_start());
    mxci_sleep_ns(2000000);
    begin = mxci_trace_begin();
    mxci_sleep_ns(3000000);
    mxci_trace_end(begin, "sleep", "test");
    mxc_trace_stop();
    root = write_and_load();
    e = json_array_get(json_object_get(root, "traceEvents"), 2); /* behind the process's and the row's names */
    assert_string_equal(text_of(e, "name"), "sleep");
    assert_string_equal(text_of(e, "cat"), "test");
    assert_true(json_number_value(json_object_get(e, "ts")) >= 2000);
    assert_true(json_number_value(json_object_get(e, "dur")) >= 3000);
    assert_true(json_number_value(json_object_get(e, "dur")) < 3000000);
    json_decref(root);
}

static void names_are_escaped_and_cut(void **state) {
    static const char *const names[] = {"quote\" back\\slash \n tab\t", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"};
    json_t *root;
    (void)state;
    assert_ok(mxc_trace_start());
    mxci_trace_thread_name("row \"1\"");
    record(names[0]);
    record(names[1]);
    record("\xff\xc3 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 cut \xe2\x82"); /* none of it is UTF-8 */
    record("01234567890123456789012345678901234567890123456789");
    record("0123456789012345678901234567890123456789012345\xc3\xa4"); /* the cut falls within the character */
    mxc_trace_stop();
    mxci_trace_thread_name("renamed");
    root = write_and_load();
    assert_int_equal(count(root, "renamed", names[0]), 1);
    assert_int_equal(count(root, "renamed", names[1]), 1);
    assert_int_equal(count(root, "renamed", "?? ?? ??? ???? cut ??"), 1);
    assert_int_equal(count(root, "renamed", "01234567890123456789012345678901234567890123456"), 1);
    assert_int_equal(count(root, "renamed", "0123456789012345678901234567890123456789012345?"), 1);
    json_decref(root);
}

enum { THREADS = 5, EVENTS = 700 }; /* more than two chunks each */

static void record_many(void *arg) {
    (void)arg;
    for (int i = 0; i < EVENTS; i++)
        record("work");
}

static void ended_threads_keep_their_rows(void **state) {
    mxci_thread threads[THREADS];
    json_t *root;
    (void)state;
    assert_ok(mxc_trace_start());
    for (int i = 0; i < THREADS; i++) {
        char name[24];
        snprintf(name, sizeof name, "worker %d", i);
        assert_ok(mxci_thread_start(&threads[i], name, record_many, NULL));
    }
    for (int i = 0; i < THREADS; i++)
        mxci_thread_join(threads[i]);
    mxc_trace_stop();
    root = write_and_load();
    for (int i = 0; i < THREADS; i++) {
        char name[24];
        snprintf(name, sizeof name, "worker %d", i);
        assert_int_equal(count(root, name, "work"), EVENTS);
    }
    json_decref(root);
    assert_ok(mxc_trace_start()); /* forgets them all */
    mxc_trace_stop();
    root = write_and_load();
    assert_int_equal(count(root, NULL, NULL), 0);
    json_decref(root);
}

static atomic_int finish;

static void record_until_told(void *arg) {
    (void)arg;
    while (!atomic_load(&finish)) {
        record("busy");
        mxci_sleep_ns(1000);
    }
}

/* Starting, stopping and writing while others record; the file must be sound each time. */
static void all_calls_may_meet(void **state) {
    mxci_thread threads[2];
    (void)state;
    atomic_store(&finish, 0);
    for (int i = 0; i < 2; i++)
        assert_ok(mxci_thread_start(&threads[i], "busy", record_until_told, NULL));
    for (int i = 0; i < TEST_SCALE(50); i++) {
        assert_ok(mxc_trace_start());
        json_decref(write_and_load());
        mxc_trace_stop();
    }
    atomic_store(&finish, 1);
    for (int i = 0; i < 2; i++)
        mxci_thread_join(threads[i]);
}

static void events_without_memory_are_counted(void **state) {
    const json_t *dropped;
    json_t *root;
    (void)state;
    assert_ok(mxc_trace_start());
    mxci_test_fail_alloc(1, 1);
    record("lost");
    record("lost");
    mxci_test_fail_alloc(2, 1); /* the row comes, its chunk does not */
    record("lost");
    mxci_test_fail_alloc(0, 0);
    record("kept");
    mxc_trace_stop();
    root = write_and_load();
    dropped = json_object_get(json_object_get(root, "otherData"), "dropped");
    assert_int_equal(json_integer_value(dropped), 3);
    assert_int_equal(count(root, NULL, "kept"), 1);
    assert_int_equal(count(root, NULL, NULL), 1);
    json_decref(root);
}

static void a_failed_write_leaves_the_old_file(void **state) {
    char *old, *now;
    (void)state;
    assert_ok(mxc_trace_start());
    record_many(NULL);
    mxc_trace_stop();
    assert_ok(mxc_trace_write(path));
    old = test_read_file(path, NULL);
    record("more");
    for (int n = 1; n <= 3; n++) {
        mxci_test_fail_write(n);
        assert_fails(mxc_trace_write(path), MXC_EIO, path);
        mxci_test_fail_write(0);
    }
    now = test_read_file(path, NULL);
    assert_string_equal(now, old);
    free(old);
    free(now);
    assert_status(mxc_trace_write("/none/trace.json"), MXC_EIO);
    mxci_test_fail_alloc(1, 0);
    assert_status(mxc_trace_write(path), MXC_ENOMEM);
    mxci_test_fail_alloc(0, 0);
}

/* A child forked while another thread records can trace and write by itself. */
static void children_trace_too(void **state) {
    mxci_thread thread;
    (void)state;
    atomic_store(&finish, 0);
    assert_ok(mxc_trace_start());
    assert_ok(mxci_thread_start(&thread, "busy", record_until_told, NULL));
    for (int i = 0; i < TEST_SCALE(50); i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            int failed = mxc_trace_start() != MXC_OK;
            record("child");
            mxc_trace_stop();
            mxci_trace_clear();
            _exit(failed);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&finish, 1);
    mxci_thread_join(thread);
}

typedef struct found {
    int n, is_ordered;
    char names[64];
} found;

static void find(const char *name, const char *category, int64_t begin, int64_t end, void *user) {
    found *f = user;
    const size_t length = strlen(f->names);
    assert_string_equal(category, "program");
    f->n++;
    f->is_ordered &= begin > 0 && begin <= end;
    snprintf(f->names + length, sizeof f->names - length, "%s ", name);
}

static void programs_record_and_visit(void **state) {
    found f = {.is_ordered = 1};
    (void)state;
    assert_int_equal(mxc_trace_begin(), 0);
    mxc_trace_pause(1);
    mxc_trace_pause(0); /* nothing was recorded: neither is it now */
    mxc_trace_end(mxc_trace_begin(), "off", "program");
    assert_ok(mxc_trace_start());
    mxc_trace_end(mxc_trace_begin(), "a", "program");
    mxc_trace_pause(1);
    mxc_trace_pause(1);
    mxc_trace_end(mxc_trace_begin(), "paused", "program");
    mxc_trace_pause(0);
    mxc_trace_end(mxc_trace_begin(), "b", "program");
    mxc_trace_pause(1);
    mxc_trace_stop();
    mxc_trace_pause(0); /* the stop has ended the pause */
    mxc_trace_end(mxc_trace_begin(), "stopped", "program");
    assert_ok(mxc_trace_visit(find, &f));
    assert_string_equal(f.names, "a b ");
    assert_true(f.is_ordered);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(nothing_is_recorded_while_off),
        CASE(events_that_span_a_start_or_stop_are_left_out),
        CASE(times_are_in_microseconds),
        CASE(names_are_escaped_and_cut),
        CASE(ended_threads_keep_their_rows),
        CASE(all_calls_may_meet),
        CASE(events_without_memory_are_counted),
        CASE(a_failed_write_leaves_the_old_file),
        CASE(children_trace_too),
        CASE(programs_record_and_visit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
