/* SPDX-License-Identifier: Apache-2.0 */
/* The profiler of MXNet's interface: objects of the front end, statistics, pauses, the file. */
#include <jansson.h>

#include "front.h"

static test_path dir, path;

static int set_up(void **state) {
    const char *const keys[] = {"filename", "profile_all"}, *values[] = {path, "True"};
    (void)state;
    test_join(path, test_temp_dir(dir), "profile.json");
    return MXSetProcessProfilerConfig(2, keys, values, NULL) || MXSetProcessProfilerState(1, 0, NULL);
}

static int tear_down(void **state) {
    const char *text;
    (void)state;
    const int failed = MXSetProcessProfilerState(0, 0, NULL) || MXAggregateProfileStatsPrint(&text, 1);
    test_remove_dir(dir);
    return failed;
}

static json_t *statistics(int sort_by, int ascending) {
    const char *text;
    assert_mx(MXAggregateProfileStatsPrintEx(&text, 0, 1, sort_by, ascending));
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    return root;
}

static double number(const json_t *root, const char *category, const char *name, const char *key) {
    const json_t *entry = json_object_get(json_object_get(json_object_get(root, "Time"), category), name);
    return entry ? json_number_value(json_object_get(entry, key)) : -1;
}

static void span(ProfileHandle object) {
    assert_mx(MXProfileDurationStart(object));
    assert_mx(MXProfileDurationStop(object));
}

static void objects_are_in_statistics(void **state) {
    ProfileHandle domain, same, task, frame, event, counter;
    const char *text;
    (void)state;
    assert_mx(MXProfileCreateDomain("domain", &domain));
    assert_mx(MXProfileCreateDomain("domain", &same));
    assert_ptr_equal(domain, same);
    assert_mx(MXProfileCreateTask(domain, "a \"task\"", &task));
    assert_mx(MXProfileCreateFrame(domain, "frame", &frame));
    assert_mx(MXProfileCreateEvent("event", &event));
    assert_mx(MXProfileCreateCounter(domain, "counter", &counter));
    for (int i = 0; i < 3; i++)
        span(task);
    span(frame);
    span(event);
    assert_mx(MXProfileDurationStop(event)); /* it has ended already */
    assert_mx(MXProfileSetCounter(counter, 5));
    assert_mx(MXProfileAdjustCounter(counter, 3));
    assert_mx(MXProfileAdjustCounter(counter, -7));
    assert_mx(MXProfileSetMarker(domain, "marker", "process"));
    assert_mx_fails(MXProfileSetCounter(task, 1), "is no counter");
    json_t *root = statistics(0, 0);
    assert_float_equal(number(root, "domain", "a ?task?", "Count"), 3, 0);
    assert_float_equal(number(root, "domain,frame", "frame", "Count"), 1, 0);
    assert_float_equal(number(root, "event", "event", "Count"), 1, 0);
    assert_float_equal(number(root, "domain", "counter", "Total"), 1, 0);
    assert_float_equal(number(root, "domain", "counter", "Min"), 1, 0);
    assert_float_equal(number(root, "domain", "counter", "Max"), 8, 0);
    assert_float_equal(number(root, "domain,instant_marker", "marker", "Count"), 1, 0);
    json_decref(root);
    assert_mx(MXAggregateProfileStatsPrint(&text, 0));
    assert_non_null(strstr(text, "Profile Statistics"));
    assert_non_null(strstr(text, "a \"task\""));
    ProfileHandle all[] = {task, frame, event, counter, NULL};
    for (int i = 0; i < 5; i++)
        assert_mx(MXProfileDestroyHandle(all[i]));
}

/* The order is that of the keys in each category. */
static void statistics_are_sorted(void **state) {
    ProfileHandle domain, tasks[3];
    (void)state;
    assert_mx(MXProfileCreateDomain("sorted", &domain));
    for (int i = 0; i < 3; i++) {
        assert_mx(MXProfileCreateTask(domain, (const char *[]){"two", "three", "one"}[i], &tasks[i]));
        for (int k = (i + 1) % 3; k >= 0; k--)
            span(tasks[i]);
    }
    for (int ascending = 0; ascending < 2; ascending++) {
        const char *text;
        assert_mx(MXAggregateProfileStatsPrintEx(&text, 0, 0, 4, ascending));
        const char *one = strstr(text, "\none "), *two = strstr(text, "\ntwo "), *three = strstr(text, "\nthree ");
        assert_true(one && two && three);
        assert_true(ascending ? one < two && two < three : three < two && two < one);
    }
    for (int sort_by = 0; sort_by < 5; sort_by++)
        json_decref(statistics(sort_by, 0));
    const char *text;
    assert_mx_fails(MXAggregateProfileStatsPrintEx(&text, 0, 0, 5, 0), "sort_by 5");
    assert_mx_fails(MXAggregateProfileStatsPrintEx(&text, 0, 2, 0, 0), "format 2");
    for (int i = 0; i < 3; i++)
        assert_mx(MXProfileDestroyHandle(tasks[i]));
}

static void pauses_and_resets(void **state) {
    ProfileHandle event;
    const char *text;
    (void)state;
    assert_mx(MXProfileCreateEvent("paused", &event));
    assert_mx(MXProcessProfilePause(1, 0, NULL));
    span(event);
    assert_mx(MXProfilePause(0));
    json_t *root = statistics(0, 0);
    assert_float_equal(number(root, "event", "paused", "Count"), -1, 0);
    json_decref(root);
    span(event);
    root = statistics(0, 0);
    assert_float_equal(number(root, "event", "paused", "Count"), 1, 0);
    json_decref(root);
    assert_mx(MXDumpProcessProfile(0, 0, NULL));
    root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    json_decref(root);
    assert_mx(MXAggregateProfileStatsPrint(&text, 1));
    root = statistics(0, 0);
    assert_float_equal(number(root, "event", "paused", "Count"), -1, 0);
    json_decref(root);
    assert_mx_fails(MXProcessProfilePause(1, 1, NULL), "servers");
    assert_mx(MXProfileDestroyHandle(event));
}

static void mistakes_are_reported(void **state) {
    ProfileHandle out;
    (void)state;
    assert_mx_fails(MXProfileCreateDomain(NULL, &out), "NULL");
    assert_mx_fails(MXProfileCreateTask(NULL, "task", &out), "NULL");
    assert_mx_fails(MXProfileCreateFrame(NULL, "frame", &out), "NULL");
    assert_mx_fails(MXProfileCreateEvent(NULL, &out), "NULL");
    assert_mx_fails(MXProfileCreateCounter(NULL, "counter", &out), "NULL");
    assert_mx_fails(MXProfileDurationStart(NULL), "NULL");
    assert_mx_fails(MXProfileDurationStop(NULL), "NULL");
    assert_mx_fails(MXProfileAdjustCounter(NULL, 1), "NULL");
    assert_mx_fails(MXProfileSetMarker(NULL, "marker", "process"), "NULL");
    assert_mx_fails(MXAggregateProfileStatsPrint(NULL, 0), "NULL");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(objects_are_in_statistics),
        CASE(statistics_are_sorted),
        CASE(pauses_and_resets),
        CASE(mistakes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
