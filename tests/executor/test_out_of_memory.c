/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of the process fails in turn, those of other libraries too: the test has its own malloc. What was
 * called then fails with MXC_ENOMEM or does without; nothing crashes or leaks, and the same call works afterwards.
 *
 * mxci_test_fail_alloc, which other tests use, fails the library's own allocations only.
 */
#include "executor/nets.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include <mxc/image.h>
#include <mxc/io.h>
#include <mxc/kvstore.h>
#include <mxc/op.h>
#include <mxc/recordio.h>
#include <mxc/train.h>

#include "base/sys.h"

/* ---- malloc ------------------------------------------------------------------------------------------------------ */

static _Atomic int64_t left;  /* the one that makes this 0 fails; at or below 0: none does */
static _Atomic int64_t alive; /* blocks */

#if !TEST_SANITIZED && defined(__GLIBC__)
#define HAVE_OWN_MALLOC 1

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

static int fails(void) {
    if (atomic_load_explicit(&left, memory_order_relaxed) > 0 && atomic_fetch_sub(&left, 1) == 1) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

static void *counted(void *block) {
    if (block)
        atomic_fetch_add(&alive, 1);
    return block;
}

void *malloc(size_t bytes) {
    return fails() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes) {
    return fails() ? NULL : counted(__libc_calloc(count, bytes));
}

void *realloc(void *block, size_t bytes) {
    if (fails())
        return NULL;
    return block ? __libc_realloc(block, bytes) : counted(__libc_malloc(bytes));
}

void *memalign(size_t alignment, size_t bytes) {
    return fails() ? NULL : counted(__libc_memalign(alignment, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
    void *block = memalign(alignment, bytes);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void free(void *block) {
    if (block)
        atomic_fetch_sub(&alive, 1);
    __libc_free(block);
}
#else
#define HAVE_OWN_MALLOC 0
#endif

/* ---- what is called ---------------------------------------------------------------------------------------------- */

static const char net_json[] =
    "{\"nodes\":[{\"op\":\"null\",\"name\":\"data\",\"inputs\":[]},"
    "{\"op\":\"null\",\"name\":\"weight\",\"inputs\":[]},{\"op\":\"null\",\"name\":\"bias\",\"inputs\":[]},"
    "{\"op\":\"Convolution\",\"name\":\"a_convolution_whose_name_takes_some_room\",\"attrs\":{\"kernel\":\"(3, 3)\","
    "\"num_filter\":\"2\"},\"inputs\":[[0,0,0],[1,0,0],[2,0,0]]}],\"arg_nodes\":[0,1,2],\"heads\":[[3,0,0]]}";

static mxc_symbol *lenet, *mlp;
static mxc_executor *bound;
static test_path folder, params_path, csv_path, record_path, image_path, checkpoint_path;
static void *jpeg, *png;
static size_t jpeg_bytes, png_bytes;

static mxc_status read_json(void) {
    mxc_symbol *symbol;
    mxc_status status = mxc_symbol_from_json(net_json, strlen(net_json), &symbol);
    mxc_symbol_release(symbol);
    return status;
}

static mxc_status load_params(void) {
    mxc_ndarray_list list;
    mxc_status status = mxc_ndarray_load(params_path, &list);
    if (status == MXC_OK)
        mxc_ndarray_list_release(&list);
    return status;
}

static mxc_status decode(const void *bytes, size_t n) {
    mxc_image image;
    mxc_status status = mxc_image_decode("test", bytes, n, 3, 1 << 20, &image);
    if (status == MXC_OK)
        mxc_image_free(&image);
    return status;
}

static mxc_status decode_jpeg(void) {
    return decode(jpeg, jpeg_bytes);
}

static mxc_status decode_png(void) {
    return decode(png, png_bytes);
}

static mxc_status encode_both(void) {
    uint8_t pixels[16 * 16 * 3] = {0};
    mxc_image image = {16, 16, 3, pixels};
    size_t n;
    void *out;
    MXC_TRY(mxc_image_encode_jpeg(&image, 90, &out, &n));
    mxc_free(out);
    MXC_TRY(mxc_image_encode_png(&image, &out, &n));
    mxc_free(out);
    return MXC_OK;
}

static mxc_status bind(void) {
    const char *names[] = {"data", "softmax_label"};
    const mxc_shape shapes[] = {net_shape(4, 2, 1, 28, 28), net_shape(1, 2, 0, 0, 0)};
    mxc_executor *executor;
    mxc_status status = mxc_executor_simple_bind(
        lenet, NULL, NET_SPEC(.n = 2, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE), &executor);
    mxc_executor_destroy(executor);
    return status;
}

static mxc_status step(void) {
    mxc_ndarray *weight = mxc_executor_find_arg(bound, "fc1_weight");
    mxc_ndarray *gradient = mxc_executor_find_grad(bound, "fc1_weight");
    const char *key = "lr", *value = "0.1";
    mxc_ndarray *in[] = {weight, gradient};
    MXC_TRY(mxc_executor_forward(bound, 1));
    MXC_TRY(mxc_executor_backward(bound, 0, NULL));
    MXC_TRY(mxc_invoke_into("sgd_update", 2, in, 1, &key, &value, 1, &weight));
    return mxc_ndarray_wait_to_read(weight);
}

static mxc_status iterate(void) {
    const char *keys[] = {"data_csv", "data_shape", "batch_size"}, *values[] = {csv_path, "(2,)", "2"};
    mxc_iter *iter;
    mxc_batch batch;
    mxc_status status = mxc_iter_create("CSVIter", 3, keys, values, &iter);
    for (int i = 0; i < 3 && status == MXC_OK; i++)
        status = mxc_iter_next(iter, &batch);
    if (status == MXC_OK)
        status = mxc_iter_reset(iter);
    mxc_iter_destroy(iter);
    return status;
}

/* All batches of an iterator, which is destroyed. */
static mxc_status drain(mxc_iter *iter) {
    mxc_batch batch = {.n_data = 1};
    mxc_status status = MXC_OK;
    while (status == MXC_OK && batch.n_data)
        status = mxc_iter_next(iter, &batch);
    mxc_iter_destroy(iter);
    return status;
}

static mxc_status prefetch(void) {
    const char *keys[] = {"data_csv", "data_shape", "batch_size"}, *values[] = {csv_path, "(2,)", "2"};
    mxc_iter *inner, *iter;
    MXC_TRY(mxc_iter_create("CSVIter", 3, keys, values, &inner));
    mxc_status status = mxc_iter_prefetch(inner, 2, &iter);
    if (status != MXC_OK) {
        mxc_iter_destroy(inner);
        return status;
    }
    return drain(iter);
}

static mxc_status write_records(void) {
    const uint8_t bytes[600] = {1};
    mxc_record_writer *writer;
    MXC_TRY(mxc_record_writer_open(record_path, NULL, &writer));
    for (uint64_t key = 0; key < 3; key++) {
        mxc_status status = mxc_record_writer_write(writer, key, bytes, sizeof bytes);
        if (status != MXC_OK) {
            mxc_record_writer_abandon(writer);
            return status;
        }
    }
    return mxc_record_writer_close(writer);
}

static mxc_status read_records(void) {
    mxc_record_reader *reader;
    mxc_record record = {.data = ""};
    MXC_TRY(mxc_record_reader_open(record_path, 0, 1, MXC_BAD_ERROR, &reader));
    mxc_status status = MXC_OK;
    while (status == MXC_OK && record.data)
        status = mxc_record_reader_next(reader, &record);
    mxc_record_reader_close(reader);
    return status;
}

static mxc_status iterate_images(void) {
    const char *keys[] = {"path_imgrec", "data_shape", "batch_size", "preprocess_threads"};
    const char *values[] = {image_path, "(3,16,16)", "2", "2"};
    mxc_iter *iter;
    MXC_TRY(mxc_iter_create("ImageRecordIter", 4, keys, values, &iter));
    return drain(iter);
}

/* One epoch of four samples, with momentum and a checkpoint. */
static mxc_status fit(void) {
    const char *keys[] = {"data_csv", "data_shape", "batch_size"}, *values[] = {csv_path, "(2,)", "2"};
    const char *momentum = "momentum", *value = "0.9";
    mxc_fit_options options;
    mxc_ndarray_list params;
    mxc_fit_options_init(&options, sizeof options);
    MXC_TRY(mxc_iter_create("CSVIter", 3, keys, values, &options.train));
    options.symbol = mlp;
    options.n_optimizer_params = 1;
    options.optimizer_keys = &momentum;
    options.optimizer_values = &value;
    options.checkpoint = checkpoint_path;
    options.overwrite = 1;
    mxc_status status = mxc_fit(&options, NULL, &params);
    if (status == MXC_OK)
        mxc_ndarray_list_release(&params);
    mxc_iter_destroy(options.train);
    return status;
}

static mxc_status use_store(void) {
    const char *key = "w";
    const int64_t length = 100;
    mxc_kvstore *store = NULL;
    mxc_ndarray *array = NULL;
    mxc_status status = mxc_kvstore_create("local", &store);
    if (status == MXC_OK)
        status = mxc_ndarray_create(1, &length, MXC_F32, mxc_cpu(0), &array);
    if (status == MXC_OK)
        status = mxc_ndarray_fill(array, 1);
    if (status == MXC_OK)
        status = mxc_kvstore_init(store, 1, &key, &array);
    if (status == MXC_OK)
        status = mxc_kvstore_push(store, 1, &key, &array, 0);
    if (status == MXC_OK)
        status = mxc_kvstore_pull(store, 1, &key, &array, 0);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(array);
    mxc_ndarray_release(array);
    mxc_kvstore_destroy(store);
    return status;
}

/* ---- each allocation fails --------------------------------------------------------------------------------------- */

/* Engine and pools at rest; raises what an earlier call let fail. */
static void settle(void) {
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine));
}

/* Whether each of three more failures of allocation n leaves blocks. The engine's threads and the pools keep some for
 * later, at any time, but not again and again. */
static int is_leak(mxc_status (*use)(void), int64_t n) {
    for (int i = 0; i < 3; i++) {
        settle();
        int64_t own = mxci_alloc_live(), all = atomic_load(&alive);
        atomic_store(&left, n);
        MXC_IGNORE(use());
        atomic_store(&left, 0);
        settle();
        if (mxci_alloc_live() <= own && atomic_load(&alive) <= all)
            return 0;
    }
    return 1;
}

static void fail_each(const char *name, mxc_status (*use)(void)) {
    int64_t fired = 1;
    assert_ok(use());
    assert_ok(use()); /* what is kept for later calls is there */
    for (int64_t n = 1; fired; n++) {
        int64_t own, all;
        mxc_status status;
        settle();
        own = mxci_alloc_live();
        all = atomic_load(&alive);
        atomic_store(&left, n);
        status = use();
        fired = atomic_exchange(&left, 0) <= 0;
        if (status != MXC_OK && status != MXC_ENOMEM)
            fail_msg("%s: allocation %lld failed: %s: %s", name, (long long)n, mxc_status_name(status),
                     mxc_last_error());
        settle();
        if ((mxci_alloc_live() > own || atomic_load(&alive) > all) && is_leak(use, fired ? n : INT64_MAX))
            fail_msg("%s: allocation %lld failed: %lld blocks of ours and %lld in all are left", name, (long long)n,
                     (long long)(mxci_alloc_live() - own), (long long)(atomic_load(&alive) - all));
        if (n % 8 == 0 || !fired)
            assert_ok(use());
        assert_true(n < 20000);
    }
}

#define CASE(use)                          \
    static void test_##use(void **state) { \
        (void)state;                       \
        fail_each(#use, use);              \
    }

CASE(read_json)
CASE(load_params)
CASE(decode_jpeg)
CASE(decode_png)
CASE(encode_both)
CASE(bind)
CASE(step)
CASE(iterate)
CASE(prefetch)
CASE(write_records)
CASE(read_records)
CASE(iterate_images)
CASE(fit)
CASE(use_store)

/* The first call of a process, which enters all operators; each in a process of its own. Before any other test. */
static void test_first_use(void **state) {
    int status = 0, done = 0;
    (void)state;
    for (int64_t n = 1; n < 5000 && !done; n++) {
        pid_t pid = fork();
        if (pid == 0) {
            mxc_status failed;
            int64_t fired;
            atomic_store(&left, n);
            failed = read_json();
            fired = atomic_exchange(&left, 0) <= 0;
            if ((failed != MXC_OK && failed != MXC_ENOMEM) || read_json() != MXC_OK) {
                print_error("first use: allocation %lld failed: %s\n", (long long)n, mxc_last_error());
                _exit(2);
            }
            _exit(!fired);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        done = WEXITSTATUS(status);
    }
    assert_true(done);
}

/* ---- */

static void save_params(void) {
    const int64_t dims[] = {3, 4};
    const char *names[] = {"arg:a_name_that_takes_room", "aux:b"};
    mxc_ndarray *arrays[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(mxc_ndarray_create(2, dims, MXC_F32, mxc_cpu(0), &arrays[i]));
        assert_ok(mxc_ndarray_fill(arrays[i], i));
    }
    assert_ok(mxc_ndarray_save(params_path, 2, arrays, names));
    mxc_ndarray_release(arrays[0]);
    mxc_ndarray_release(arrays[1]);
}

/* Two samples, both the PNG image. */
static void save_images(void) {
    mxc_image_record image = {.n_labels = 1, .labels = &(float){1}, .image = png, .image_bytes = png_bytes};
    size_t bytes = mxc_image_record_size(1, png_bytes);
    void *record = malloc(bytes);
    mxc_record_writer *writer;
    assert_non_null(record);
    mxc_image_record_write(&image, record);
    assert_ok(mxc_record_writer_open(image_path, NULL, &writer));
    assert_ok(mxc_record_writer_write(writer, 0, record, bytes));
    assert_ok(mxc_record_writer_write(writer, 1, record, bytes));
    assert_ok(mxc_record_writer_close(writer));
    free(record);
}

static int make_all(void **state) {
    uint8_t pixels[16 * 16 * 3] = {0};
    mxc_image image = {16, 16, 3, pixels};
    mxc_shape data = net_shape(4, 2, 1, 28, 28);
    (void)state;
    if (!HAVE_OWN_MALLOC)
        return 0;
    test_temp_dir(folder);
    test_join(params_path, folder, "net.params");
    test_join(csv_path, folder, "rows.csv");
    test_join(record_path, folder, "some.rec");
    test_join(image_path, folder, "images.rec");
    test_join(checkpoint_path, folder, "run");
    test_write_file(csv_path, "1,2\n3,4\n5,6\n7,8\n", 16);
    save_params();
    assert_ok(mxc_image_encode_jpeg(&image, 90, &jpeg, &jpeg_bytes));
    assert_ok(mxc_image_encode_png(&image, &png, &png_bytes));
    save_images();
    mlp = net_mlp(4, 2);
    lenet = net_lenet();
    bound = net_bind(lenet, NULL, &data, 1);
    net_fill_all(bound, 1, 10);
    return 0;
}

static int free_all(void **state) {
    (void)state;
    if (!HAVE_OWN_MALLOC)
        return 0;
    mxc_executor_destroy(bound);
    mxc_symbol_release(lenet);
    mxc_symbol_release(mlp);
    mxc_free(jpeg);
    mxc_free(png);
    test_remove_dir(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest first[] = {cmocka_unit_test(test_first_use)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_json),    cmocka_unit_test(test_load_params),
        cmocka_unit_test(test_decode_jpeg),  cmocka_unit_test(test_decode_png),
        cmocka_unit_test(test_encode_both),  cmocka_unit_test(test_bind),
        cmocka_unit_test(test_step),         cmocka_unit_test(test_iterate),
        cmocka_unit_test(test_prefetch),     cmocka_unit_test(test_write_records),
        cmocka_unit_test(test_read_records), cmocka_unit_test(test_iterate_images),
        cmocka_unit_test(test_fit),          cmocka_unit_test(test_use_store),
    };
    if (!HAVE_OWN_MALLOC) {
        puts("skipped: malloc belongs to a sanitizer here, or is not glibc's");
        return 0;
    }
    return cmocka_run_group_tests(first, NULL, NULL) + cmocka_run_group_tests(tests, make_all, free_all);
}
