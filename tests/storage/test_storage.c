/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: size classes, reuse, cap, trim, counters, failing systems, threads, fork. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include <mxc/storage.h>

#include "base/sys.h"

static mxc_storage_stats stats_of(mxc_context context) {
    mxc_storage_stats stats;
    assert_ok(mxc_storage_get_stats(context, &stats));
    return stats;
}

static void classes_are_tight(void **state) {
    const size_t sizes[] = {1, 64, 65, 256, 257, 320, 321, 384, 448, 449, 512, 513, 640, 1 << 20, (1 << 20) + 1};
    const size_t classes[] = {64, 64, 128, 256, 320, 320, 384, 384, 448, 512, 512, 640, 640, 1 << 20, 1310720};
    (void)state;
    assert_int_equal(mxc_storage_class_size(0), 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(mxc_storage_class_size(sizes[i]), classes[i]);
    for (size_t bytes = 1; bytes < (size_t)1 << 40; bytes += bytes / 7 + 1) {
        size_t class_bytes = mxc_storage_class_size(bytes);
        assert_true(class_bytes >= bytes && class_bytes % 64 == 0);
        assert_true(class_bytes - bytes < 64 || (class_bytes - bytes) * 4 <= class_bytes);
        assert_int_equal(mxc_storage_class_size(class_bytes), class_bytes);
    }
    assert_true(mxc_storage_class_size(PTRDIFF_MAX) >= (size_t)PTRDIFF_MAX);
}

static void blocks_are_reused(void **state) {
    mxc_context context = mxc_cpu(3);
    mxc_storage_stats before = stats_of(context), after;
    void *a, *b;
    (void)state;
    assert_ok(mxc_storage_alloc(context, 1000, &a));
    assert_int_equal((uintptr_t)a % 64, 0);
    memset(a, 1, 1000);
    mxc_storage_free(context, a, 1000);
    assert_ok(mxc_storage_alloc(context, 900, &b));
    assert_ptr_equal(a, b); /* one class */
    mxc_storage_free(context, b, 900);
    after = stats_of(context);
    assert_int_equal(after.allocs - before.allocs, 2);
    assert_int_equal(after.system_allocs - before.system_allocs, 1);
    assert_int_equal(after.bytes_in_use, before.bytes_in_use);
    assert_int_equal(after.bytes_cached - before.bytes_cached, 1024);
    assert_true(after.bytes_peak >= 1024);
    assert_ok(mxc_storage_trim(context, 0));
    assert_int_equal(stats_of(context).bytes_cached, 0);
}

static void nothing_and_too_much(void **state) {
    void *block = state;
    assert_ok(mxc_storage_alloc(mxc_cpu(0), 0, &block));
    assert_null(block);
    mxc_storage_free(mxc_cpu(0), NULL, 100);
    block = state;
    assert_fails(mxc_storage_alloc(mxc_cpu(0), SIZE_MAX, &block), MXC_ENOMEM, "bytes");
    assert_null(block);
    assert_status(mxc_storage_alloc(mxc_cpu(0), (size_t)1 << 60, &block), MXC_ENOMEM);
    assert_fails(mxc_storage_alloc(mxc_cpu(MXC_MAX_DEVICE_ID + 1), 64, &block), MXC_EDEVICE, "cpu(64)");
    assert_status(mxc_storage_alloc((mxc_context){77, 0}, 64, &block), MXC_EDEVICE);
    assert_status(mxc_storage_trim((mxc_context){0, 0}, 0), MXC_EDEVICE);
}

static void cap_and_trim(void **state) {
    mxc_context context = mxc_cpu(5);
    void *blocks[8];
    int64_t live;
    (void)state;
    assert_ok(mxc_storage_trim(context, 0));
    live = mxci_alloc_live();
    for (int i = 0; i < 8; i++)
        assert_ok(mxc_storage_alloc(context, 4096, &blocks[i]));
    assert_ok(mxc_storage_set_cap(context, 3 * 4096));
    for (int i = 0; i < 8; i++)
        mxc_storage_free(context, blocks[i], 4096);
    assert_int_equal(stats_of(context).bytes_cached, 3 * 4096);
    assert_ok(mxc_storage_trim(context, 4096));
    assert_int_equal(stats_of(context).bytes_cached, 4096);
    assert_ok(mxc_storage_set_cap(context, 1));
    assert_int_equal(stats_of(context).bytes_cached, 0);
    assert_ok(mxc_storage_set_cap(context, 0));
    assert_int_equal(mxci_alloc_live(), live);
}

static void a_full_system_is_asked_again_after_a_trim(void **state) {
    mxc_context near = mxc_cpu(6), far = mxc_cpu(7);
    void *a, *b;
    (void)state;
    assert_ok(mxc_storage_alloc(far, 5000, &a));
    mxc_storage_free(far, a, 5000);
    assert_true(stats_of(far).bytes_cached > 0);
    mxci_test_fail_alloc(1, 0);
    assert_ok(mxc_storage_alloc(near, 70000, &b));
    mxci_test_fail_alloc(0, 0);
    assert_int_equal(stats_of(far).bytes_cached, 0);
    mxc_storage_free(near, b, 70000);
    mxci_test_fail_alloc(1, 1);
    assert_fails(mxc_storage_alloc(near, 1 << 20, &b), MXC_ENOMEM, "1048576");
    mxci_test_fail_alloc(0, 0);
    assert_null(b);
    assert_int_equal(stats_of(near).bytes_in_use, 0);
}

static void a_free_never_fails(void **state) {
    mxc_context context = mxc_cpu(8);
    void *a;
    (void)state;
    assert_ok(mxc_storage_alloc(context, 100, &a));
    mxci_test_fail_alloc(1, 1); /* no memory for the stack of free blocks: the block goes back to the system */
    mxc_storage_free(context, a, 100);
    mxci_test_fail_alloc(0, 0);
    assert_int_equal(stats_of(context).bytes_in_use, 0);
    assert_int_equal(stats_of(context).bytes_cached, 0);
}

/* Allocate, mark, check and free blocks of pseudo-random sizes; *arg is the seed, 0 afterwards if all went well. */
static void *churn(void *arg) {
    unsigned *seed = arg, x = *seed;
    unsigned char *held[16] = {0};
    size_t sizes[16] = {0};
    for (int i = 0; i < TEST_SCALE(20000); i++) {
        int slot = (int)((x = x * 1103515245u + 12345u) >> 16) % 16;
        void *block;
        if (held[slot] && (held[slot][0] != slot || held[slot][sizes[slot] - 1] != slot))
            return NULL;
        mxc_storage_free(mxc_cpu(9), held[slot], sizes[slot]);
        sizes[slot] = 1 + ((x = x * 1103515245u + 12345u) >> 16) % 3000;
        if (mxc_storage_alloc(mxc_cpu(9), sizes[slot], &block) != MXC_OK)
            return NULL;
        held[slot] = block;
        held[slot][0] = held[slot][sizes[slot] - 1] = (unsigned char)slot;
    }
    for (int slot = 0; slot < 16; slot++)
        mxc_storage_free(mxc_cpu(9), held[slot], sizes[slot]);
    *seed = 0;
    return NULL;
}

static void threads_share_a_pool(void **state) {
    pthread_t threads[4];
    unsigned seeds[4] = {1, 2, 3, 4};
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &seeds[i]), 0);
    for (int i = 0; i < 10; i++)
        assert_ok(mxc_storage_trim(mxc_cpu(9), 1000));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(seeds[i], 0);
    assert_int_equal(stats_of(mxc_cpu(9)).bytes_in_use, 0);
    assert_ok(mxc_storage_trim(mxc_cpu(9), 0));
}

static atomic_int stop;
static void *allocate_until_stop(void *arg) {
    while (!atomic_load(&stop)) {
        void *block;
        if (mxc_storage_alloc(mxc_cpu(10), 200, &block) == MXC_OK)
            mxc_storage_free(mxc_cpu(10), block, 200);
    }
    return arg;
}

static void a_child_allocates_whatever_was_locked(void **state) {
    pthread_t thread;
    (void)state;
    atomic_store(&stop, 0);
    assert_int_equal(pthread_create(&thread, NULL, allocate_until_stop, NULL), 0);
    for (int i = 0; i < TEST_SCALE(100); i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            void *block;
            alarm(20);
            _exit(mxc_storage_alloc(mxc_cpu(10), 200, &block) != MXC_OK || !block);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_tight),
        cmocka_unit_test(blocks_are_reused),
        cmocka_unit_test(nothing_and_too_much),
        cmocka_unit_test(cap_and_trim),
        cmocka_unit_test(a_full_system_is_asked_again_after_a_trim),
        cmocka_unit_test(a_free_never_fails),
        cmocka_unit_test(threads_share_a_pool),
        cmocka_unit_test(a_child_allocates_whatever_was_locked),
    };
    return cmocka_run_group_tests_name("storage", tests, NULL, NULL);
}
