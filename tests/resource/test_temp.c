/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch memory: kept, grown, apart per thread and context, freed with its thread. */
#include "support.h"

#include <pthread.h>

#include <mxc/storage.h>

#include "base/sys.h"
#include "resource/temp.h"

static const mxc_run run0 = {.context = {MXC_CPU, 20}}, run1 = {.context = {MXC_CPU, 21}};

static int64_t in_use(const mxc_run *run) {
    mxc_storage_stats stats;
    assert_ok(mxc_storage_get_stats(run->context, &stats));
    return stats.bytes_in_use;
}

/* A program's operator and the library have a block each. */
static void program_has_its_own(void **state) {
    void *library, *program, *again;
    (void)state;
    assert_ok(mxci_temp_get(&run0, 1000, &library));
    assert_ok(mxci_temp_get_for_program(&run0, 1000, &program));
    assert_ptr_not_equal(library, program);
    assert_ok(mxci_temp_get_for_program(&run0, 50000, &again));
    memset(again, 3, 50000);
    assert_ok(mxci_temp_get(&run0, 1000, &again));
    assert_ptr_equal(library, again);
    mxci_temp_release();
    assert_int_equal(in_use(&run0), 0);
}

static void scratch_is_kept_and_grows(void **state) {
    void *a, *b, *c;
    (void)state;
    assert_ok(mxci_temp_get(&run0, 1000, &a));
    assert_int_equal((uintptr_t)a % 64, 0);
    memset(a, 1, 1000);
    assert_ok(mxci_temp_get(&run0, 1024, &b)); /* the class has room */
    assert_ptr_equal(a, b);
    assert_ok(mxci_temp_get(&run1, 10, &c));
    assert_ptr_not_equal(a, c);
    assert_ok(mxci_temp_get(&run0, 5000, &b));
    memset(b, 2, 5000);
    assert_int_equal(in_use(&run0), 5120);
    assert_int_equal(in_use(&run1), 64);
    mxci_temp_release();
    assert_int_equal(in_use(&run0) + in_use(&run1), 0);
    mxci_temp_release();
    assert_ok(mxci_temp_get(&run0, 0, &a));
    mxci_temp_release();
}

static void *use_scratch(void *arg) {
    void *block;
    *(int *)arg = mxci_temp_get(&run0, 3000, &block) == MXC_OK && mxci_temp_get(&run1, 3000, &block) == MXC_OK;
    if (*(int *)arg)
        memset(block, 3, 3000);
    return NULL;
}

static void a_threads_end_frees_its_scratch(void **state) {
    pthread_t threads[4];
    int worked[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_scratch, &worked[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(worked[i]);
    }
    assert_int_equal(in_use(&run0) + in_use(&run1), 0);
}

static void failures_leave_it_usable(void **state) {
    void *block = state;
    const mxc_run nowhere = {.context = {MXC_CPU, 64}};
    assert_ok(mxc_storage_trim(run0.context, 0));
    for (int n = 1; n <= 2; n++) { /* the entry, the block: which a trim does not help here */
        mxci_test_fail_alloc(n, 1);
        assert_status(mxci_temp_get(&run0, 100000, &block), MXC_ENOMEM);
        mxci_test_fail_alloc(0, 0);
        assert_null(block);
    }
    assert_ok(mxci_temp_get(&run0, 100000, &block));
    memset(block, 4, 100000);
    assert_status(mxci_temp_get(&nowhere, 1, &block), MXC_EDEVICE);
    mxci_temp_release();
    assert_int_equal(in_use(&run0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scratch_is_kept_and_grows),
        cmocka_unit_test(program_has_its_own),
        cmocka_unit_test(a_threads_end_frees_its_scratch),
        cmocka_unit_test(failures_leave_it_usable),
    };
    return cmocka_run_group_tests_name("temp", tests, NULL, NULL);
}
