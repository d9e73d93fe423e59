/* SPDX-License-Identifier: Apache-2.0 */
/* Status names, the last error, and that it belongs to the thread. */
#include "support.h"

#include "base/sys.h"

static void names_and_texts_come_from_the_list(void **state) {
    (void)state;
    assert_string_equal(mxc_status_name(MXC_OK), "MXC_OK");
    assert_string_equal(mxc_status_name(MXC_ESHAPE), "MXC_ESHAPE");
    assert_string_equal(mxc_status_text(MXC_ENOMEM), "out of memory");
    assert_string_equal(mxc_status_name((mxc_status)999), "MXC_UNKNOWN");
    assert_string_equal(mxc_status_text((mxc_status)-1), "unknown status");
}

static mxc_status passes_up(mxc_status status) {
    MXC_TRY(status);
    return MXC_FAIL(MXC_ESTATE, "went on");
}

static void fail_keeps_code_text_and_place(void **state) {
    (void)state;
    assert_int_equal(MXC_FAIL(MXC_ESHAPE, "dot: %d and %d differ", 3, 4), MXC_ESHAPE);
    assert_string_equal(mxc_last_error(), "dot: 3 and 4 differ");
    assert_int_equal(mxc_fail_at("/a/long/way/src/base/x.c", 12, MXC_EIO, "no"), MXC_EIO);
    assert_string_equal(mxc_last_error_place(), "base/x.c:12");
    assert_int_equal(mxc_fail_at("x.c", 3, MXC_EIO, "no"), MXC_EIO);
    assert_string_equal(mxc_last_error_place(), "x.c:3");
    assert_int_equal(passes_up(MXC_EIO), MXC_EIO);
    assert_string_equal(mxc_last_error(), "no");
    assert_int_equal(passes_up(MXC_OK), MXC_ESTATE);
}

static void the_last_message_may_be_part_of_the_next(void **state) {
    (void)state;
    assert_int_equal(MXC_FAIL(MXC_EIO, "disk full"), MXC_EIO);
    assert_int_equal(MXC_FAIL(MXC_EIO, "cannot save: %s", mxc_last_error()), MXC_EIO);
    assert_string_equal(mxc_last_error(), "cannot save: disk full");
}

static void long_messages_are_cut(void **state) {
    char text[2000];
    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(MXC_FAIL(MXC_EIO, "%s", text), MXC_EIO);
    assert_int_equal(strlen(mxc_last_error()), MXC_ERROR_MAX - 1);
}

static void failing_thread(void *arg) {
    mxc_status *found = arg;
    *found = mxc_last_error()[0] == '\0' ? MXC_FAIL(MXC_EUSER, "of another thread") : MXC_OK;
}

static void messages_belong_to_the_thread(void **state) {
    mxc_status found = MXC_OK;
    mxci_thread thread;
    (void)state;
    assert_int_equal(MXC_FAIL(MXC_EIO, "mine"), MXC_EIO);
    assert_ok(mxci_thread_start(&thread, "failing", failing_thread, &found));
    mxci_thread_join(thread);
    assert_int_equal(found, MXC_EUSER);
    assert_string_equal(mxc_last_error(), "mine");
}

static void failing_allocates_nothing(void **state) {
    int64_t before = mxci_alloc_count();
    (void)state;
    mxci_test_fail_alloc(1, 1);
    mxc_status status = MXC_FAIL(MXC_ENOMEM, "%s needs %d bytes", "it", 7);
    mxci_test_fail_alloc(0, 0);
    assert_int_equal(status, MXC_ENOMEM);
    assert_string_equal(mxc_last_error(), "it needs 7 bytes");
    assert_int_equal(mxci_alloc_count(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts_come_from_the_list),
        cmocka_unit_test(fail_keeps_code_text_and_place),
        cmocka_unit_test(the_last_message_may_be_part_of_the_next),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(messages_belong_to_the_thread),
        cmocka_unit_test(failing_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
