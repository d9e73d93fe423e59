/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: ids, whether one is alive, the number of the machine. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support.h"

static void test_alive(void **state) {
    int ends[2], status;
    char byte = 0;
    pid_t child;
    (void)state;
    assert_int_equal(mxci_process_id(), getpid());
    assert_true(mxci_process_is_alive(mxci_process_id()));
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) { /* alive until the parent has looked */
        (void)!read(ends[0], &byte, 1);
        _exit(mxci_process_id() != getpid() || !mxci_process_is_alive(getppid()));
    }
    assert_true(mxci_process_is_alive(child));
    assert_int_equal(write(ends[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(mxci_process_is_alive(child));
    close(ends[0]);
    close(ends[1]);
}

/* All processes of one machine compute the same number. */
static void test_host(void **state) {
    int64_t host = mxci_host_id();
    int status;
    pid_t child = fork();
    (void)state;
    if (child == 0)
        _exit(mxci_host_id() != host);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alive),
        cmocka_unit_test(test_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
