/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: each allocation in turn fails through everything that a training does, from the first symbol to the last
 * release; and a step after the first ones takes no memory at all, neither from the heap nor, as page faults, from the
 * system.
 */
#include <stdatomic.h>
#include <sys/resource.h>

#include <mxc/engine.h>
#include <mxc/storage.h>

#include "base/sys.h"
#include "train/toy.h"

static test_path folder, prefix, curve;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(prefix, folder, "run");
    test_join(curve, folder, "run.svg");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* ---- failing each allocation ----------------------------------------------------------------------------------- */

/* Two epochs and validation; with files: a checkpoint and a curve after each of them, the second resumed. */
static mxc_status train_once(int with_files) {
    mxc_ndarray_list params = {0};
    toy t;
    mxc_status status = toy_open(&t, "4");
    t.options.epochs = 1;
    if (with_files) {
        t.options.checkpoint = prefix;
        t.options.overwrite = 1;
        t.options.curve = curve;
    }
    if (status == MXC_OK)
        status = mxc_fit(&t.options, NULL, NULL);
    t.options.epochs = 2;
    t.options.resume = with_files;
    if (status == MXC_OK)
        status = mxc_fit(&t.options, NULL, &params);
    if (status != MXC_OK)
        assert_int_equal(params.n, 0);
    mxc_ndarray_list_release(&params);
    toy_close(&t);
    return status;
}

/* Blocks in use once all that was queued has ended and the pool holds nothing back. */
static int64_t live_blocks(void) {
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine));
    assert_ok(mxc_storage_trim(mxc_cpu(0), 0));
    return mxci_alloc_live();
}

/* Every step-th allocation, beginning with the first; sticky: and all after it, until the training has given up. */
static void fail_each(int with_files, int sticky, int64_t step) {
    int64_t n, live, failed = 0, tried = 0;
    assert_ok(train_once(with_files)); /* what is made once for the process */
    n = mxci_alloc_count();
    assert_ok(train_once(with_files));
    n = mxci_alloc_count() - n;
    live = live_blocks();
    for (int64_t at = 1; at <= n; at += step, tried++) {
        mxci_test_fail_alloc(at, sticky);
        mxc_status status = train_once(with_files);
        mxci_test_fail_alloc(0, 0);
        if (status != MXC_OK) {
            assert_int_equal(status, MXC_ENOMEM);
            assert_true(strlen(mxc_last_error()) > 10);
            failed++;
        }
        if (live_blocks() > live + 64) /* free lists of the engine and of the operators keep some blocks */
            fail_msg("allocation %lld: %lld blocks more", (long long)at, (long long)(live_blocks() - live));
    }
    assert_true(failed > tried / 2); /* some blocks are only for speed */
    assert_ok(train_once(with_files));
    assert_true(live_blocks() <= live + 4);
}

static void test_each_allocation_fails(void **state) {
    (void)state;
    fail_each(0, 0, TEST_SANITIZED ? 13 : 1);
}

static void test_all_allocations_fail(void **state) {
    (void)state;
    fail_each(0, 1, TEST_SANITIZED ? 53 : 7);
}

static void test_each_allocation_fails_with_files(void **state) {
    (void)state;
    fail_each(1, 0, TEST_SANITIZED ? 61 : 17);
}

/* ---- a step after the first ones ------------------------------------------------------------------------------- */

enum { LENET_BATCH = TEST_SANITIZED ? 8 : 64 };
enum { LENET_BATCHES = TEST_SANITIZED ? 4 : 10, LENET_EPOCHS = TEST_SANITIZED ? 2 : 4 };

static const struct {
    const char *op, *name;
    int n;
    const char *keys[3], *values[3];
} lenet[] = {
    {"Convolution", "conv1", 2, {"kernel", "num_filter"}, {"(5,5)", "20"}},
    {"Activation", "tanh1", 1, {"act_type"}, {"tanh"}},
    {"Pooling", "pool1", 3, {"pool_type", "kernel", "stride"}, {"max", "(2,2)", "(2,2)"}},
    {"Convolution", "conv2", 2, {"kernel", "num_filter"}, {"(5,5)", "50"}},
    {"Activation", "tanh2", 1, {"act_type"}, {"tanh"}},
    {"Pooling", "pool2", 3, {"pool_type", "kernel", "stride"}, {"max", "(2,2)", "(2,2)"}},
    {"FullyConnected", "fc1", 1, {"num_hidden"}, {"500"}},
    {"Dropout", "drop", 0, {NULL}, {NULL}},
    {"FullyConnected", "fc2", 1, {"num_hidden"}, {"10"}},
    {"SoftmaxOutput", "softmax", 0, {NULL}, {NULL}},
};

static mxc_symbol *make_lenet(void) {
    mxc_symbol *net, *below;
    assert_ok(mxc_symbol_variable("data", &net));
    for (size_t i = 0; i < sizeof lenet / sizeof lenet[0]; i++) {
        below = net;
        assert_ok(mxc_symbol_op(lenet[i].op, lenet[i].name, lenet[i].n, lenet[i].keys, lenet[i].values, 1, NULL, &below,
                                &net));
        mxc_symbol_release(below);
    }
    return net;
}

static mxc_iter *make_images(void) {
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    const int64_t n = LENET_BATCH * LENET_BATCHES;
    float *x = malloc((size_t)n * 784 * sizeof *x), y[LENET_BATCH * LENET_BATCHES];
    mxc_ndarray *data, *label;
    mxc_iter *rows, *iter;
    for (int64_t i = 0; i < n * 784; i++)
        x[i] = toy_noise((uint32_t)i);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)(i % 10);
    options.batch_size = LENET_BATCH;
    options.shuffle = 1;
    assert_ok(mxc_ndarray_from_data(4, (int64_t[]){n, 1, 28, 28}, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){n}, MXC_F32, y, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &rows));
    assert_ok(mxc_iter_prefetch(rows, 2, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    free(x);
    return iter;
}

/* The whole program's, where no sanitizer has its own heap. */
#if TEST_SANITIZED
#define heap_calls() mxci_alloc_count()
#else
static _Atomic int64_t n_heap_calls;
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);

void *malloc(size_t bytes) {
    n_heap_calls++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    n_heap_calls++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes) {
    n_heap_calls++;
    return __libc_realloc(block, bytes);
}

static int64_t heap_calls(void) {
    return n_heap_calls + mxci_alloc_count(); /* the library's also count what is mapped */
}
#endif

typedef struct usage {
    int64_t allocations, system_blocks, faults;
} usage;

static usage usage_now(void) {
    struct rusage r;
    mxc_storage_stats pool;
    getrusage(RUSAGE_SELF, &r);
    assert_ok(mxc_storage_get_stats(mxc_cpu(0), &pool));
    return (usage){heap_calls(), pool.system_allocs, r.ru_minflt + r.ru_majflt};
}

/* From the second to the last step of each epoch. */
typedef struct watch {
    usage begin, used[LENET_EPOCHS];
} watch;

static mxc_status on_step(const mxc_fit_progress *p, int epoch_end, void *user) {
    watch *w = user;
    if (epoch_end)
        return MXC_OK;
    if (p->batch == 2)
        w->begin = usage_now();
    if (p->batch == LENET_BATCHES) {
        usage now = usage_now();
        w->used[p->epoch] = (usage){now.allocations - w->begin.allocations, now.system_blocks - w->begin.system_blocks,
                                    now.faults - w->begin.faults};
    }
    return MXC_OK;
}

/* The first epoch warms up. Pages can also fault because the system moves them about, so one epoch without counts. */
static void test_steady_steps_take_nothing(void **state) {
    mxc_fit_options options;
    watch w = {0};
    int64_t fewest = INT64_MAX;
    (void)state;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = make_lenet();
    options.train = make_images();
    options.epochs = LENET_EPOCHS;
    options.callback = on_step;
    options.user = &w;
    assert_ok(mxc_fit(&options, NULL, NULL));
    assert_true(w.begin.allocations > 100); /* it does count */
    for (int i = 1; i < LENET_EPOCHS; i++) {
        assert_int_equal(w.used[i].allocations, 0);
        assert_int_equal(w.used[i].system_blocks, 0);
        fewest = w.used[i].faults < fewest ? w.used[i].faults : fewest;
    }
    if (!TEST_SANITIZED)
        assert_int_equal(fewest, 0);
    mxc_symbol_release(options.symbol);
    mxc_iter_destroy(options.train);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails),
        cmocka_unit_test(test_all_allocations_fail),
        cmocka_unit_test_setup_teardown(test_each_allocation_fails_with_files, set_up, tear_down),
        cmocka_unit_test(test_steady_steps_take_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
