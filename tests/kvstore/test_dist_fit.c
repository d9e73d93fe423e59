/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc_fit by several workers, played by threads: the same weights at all of them, and, to rounding, those of one
 * process with all the data; epochs of different lengths, stopping, and going on after it.
 */
#include <math.h>

#include <mxc/train.h>

#include "base/sys.h"
#include "kvstore/fake_group.h"
#include "kvstore/kvstore.h"
#include "support.h"

enum { FEATURES = 6, CLASSES = 3, BATCH = 8, BATCHES = 5, MOST = 3, WEIGHTS = FEATURES * CLASSES };

typedef struct worker {
    int rank, size, batches, epochs, resume, shard;
    int64_t stop_at; /* updates after which this worker asks to stop; 0: not */
    int stop;
    const char *type, *checkpoint, *loss_scale;
    mxci_thread thread;
    mxc_status status;
    char message[MXC_ERROR_MAX];
    mxc_fit_progress result;
    float weights[WEIGHTS];
} worker;

/* frozen: the weight is not trained. */
static mxc_symbol *net(int frozen) {
    const char *key = "num_hidden", *value = "3";
    mxc_symbol *data, *classes, *out;
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_op("FullyConnected", "fc", 1, &key, &value, 1, NULL, &data, &classes));
    if (frozen)
        assert_ok(mxc_symbol_set_attr(classes, "weight_lr_mult", "0"));
    assert_ok(mxc_symbol_op("SoftmaxOutput", "softmax", 0, NULL, NULL, 1, NULL, &classes, &out));
    mxc_symbol_release(data);
    mxc_symbol_release(classes);
    return out;
}

/* The share of a worker: of each batch of size * BATCH rows the part that is its. */
static mxc_status open_data(const worker *w, mxc_iter **out) {
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    options.batch_size = BATCH * (w->size == 1 ? 2 : 1);
    int rows = w->batches * (int)options.batch_size;
    float data[BATCHES * 2 * BATCH * FEATURES], label[BATCHES * 2 * BATCH];
    mxc_ndarray *arrays[2];
    for (int i = 0; i < rows; i++) {
        int batch = i / (int)options.batch_size, row = i % (int)options.batch_size;
        int all = batch * 2 * BATCH + (w->size == 1 ? 0 : w->rank % 2 * BATCH) + row;
        for (int j = 0; j < FEATURES; j++)
            data[i * FEATURES + j] = sinf((float)(all * FEATURES + j));
        label[i] = (float)(all % CLASSES);
    }
    MXC_TRY(mxc_ndarray_from_data(2, (int64_t[]){rows, FEATURES}, MXC_F32, data, &arrays[0]));
    MXC_TRY(mxc_ndarray_from_data(1, (int64_t[]){rows}, MXC_F32, label, &arrays[1]));
    mxc_status status = mxc_iter_from_arrays(&options, 1, &arrays[0], 1, &arrays[1], NULL, out);
    mxc_ndarray_release(arrays[0]);
    mxc_ndarray_release(arrays[1]);
    return status;
}

static mxc_status on_step(const mxc_fit_progress *progress, int epoch_end, void *user) {
    worker *w = user;
    if (!epoch_end && w->stop_at > 0 && progress->updates >= w->stop_at)
        w->stop = 1;
    return MXC_OK;
}

static mxc_status fit(worker *w, mxc_symbol *symbol, mxc_kvstore *store) {
    const char *key = "momentum", *value = "0.9";
    mxc_fit_options o;
    mxc_ndarray_list params;
    mxc_fit_options_init(&o, sizeof o);
    MXC_TRY(open_data(w, &o.train));
    o.symbol = symbol;
    o.epochs = w->epochs;
    o.n_optimizer_params = 1;
    o.optimizer_keys = &key;
    o.optimizer_values = &value;
    o.learning_rate = 0.2;
    o.initializer = "zero";
    o.loss_scale = w->loss_scale;
    o.store = store;
    o.checkpoint = w->checkpoint;
    o.checkpoint_batches = 2;
    o.resume = w->resume;
    o.stop = &w->stop;
    o.callback = on_step;
    o.user = w;
    mxc_status status = mxc_fit(&o, &w->result, &params);
    if (status == MXC_OK) {
        status = mxc_ndarray_get(mxc_ndarray_list_find(&params, "arg:fc_weight"), w->weights, sizeof w->weights);
        mxc_ndarray_list_release(&params);
    }
    mxc_iter_destroy(o.train);
    return status;
}

static mxc_symbol *symbol;

static void play(void *arg) {
    worker *w = arg;
    mxc_kvstore *store;
    const char *key = "shard", *value = "true";
    w->status = mxci_kvstore_create_on(fake_group_api(w->rank), w->type, w->shard, &key, &value, &store);
    if (w->status == MXC_OK)
        w->status = fit(w, symbol, store);
    snprintf(w->message, sizeof w->message, "%s", w->status == MXC_OK ? "" : mxc_last_error());
    mxc_kvstore_destroy(store);
}

static void play_to_end(worker *workers, int size, const worker *like) {
    fake_group_start(size);
    for (int i = 0; i < size; i++) {
        int batches = workers[i].batches;
        workers[i] = *like;
        workers[i].rank = i;
        workers[i].size = size;
        workers[i].batches = batches;
        workers[i].stop_at = i == size - 1 ? like->stop_at : 0;
        assert_ok(mxci_thread_start(&workers[i].thread, "worker", play, &workers[i]));
    }
    for (int i = 0; i < size; i++)
        mxci_thread_join(workers[i].thread);
    fake_group_end();
}

static void play_all(worker *workers, int size, const worker *like) {
    play_to_end(workers, size, like);
    for (int i = 0; i < size; i++)
        if (workers[i].status != MXC_OK)
            fail_msg("worker %d: %s", i, workers[i].message);
}

static void play_one(worker *w, const worker *like) {
    *w = *like;
    w->size = 1;
    w->batches = BATCHES;
    assert_ok(fit(w, symbol, NULL));
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

/* The second worker has a batch more in each epoch, which nobody uses. */
static void test_as_one(void **state) {
    const char *const scales[] = {NULL, "64"};
    (void)state;
    for (int way = 0; way < 4; way++) {
        worker one, two[2] = {{.batches = BATCHES}, {.batches = BATCHES}};
        worker like = {.type = way & 1 ? "dist_sync" : "dist_device_sync", .epochs = 3};
        like.loss_scale = scales[way >> 1];
        play_one(&one, &like);
        play_all(two, 2, &like);
        assert_memory_equal(two[0].weights, two[1].weights, sizeof one.weights);
        assert_int_equal(two[0].result.updates, one.result.updates);
        for (int i = 0; i < WEIGHTS; i++)
            assert_float_equal(two[0].weights[i], one.weights[i], 1e-5);
    }
}

static void test_unequal_epochs(void **state) {
    worker two[2] = {{.batches = BATCHES - 2}, {.batches = BATCHES}};
    const worker like = {.type = "dist_sync", .epochs = 4};
    (void)state;
    play_all(two, 2, &like);
    assert_int_equal(two[0].result.updates, 4 * (BATCHES - 2));
    assert_int_equal(two[1].result.updates, 4 * (BATCHES - 2));
    assert_memory_equal(two[0].weights, two[1].weights, sizeof two[0].weights);
}

/* As if worker 1 had been killed before its last manifest: it has that of the checkpoint before. */
static void lose_checkpoint(const char *folder) {
    test_path path, state;
    char text[4096];
    int slot;
    long long crc, updates, other_crc, other_updates;
    FILE *file = fopen(test_join(path, folder, "run.worker1.last"), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(sscanf(strstr(text, "\"slot\""),
                            "\"slot\": %d, \"crc32\": %lld, \"updates\": %lld, \"other_crc32\": %lld, "
                            "\"other_updates\": %lld",
                            &slot, &crc, &updates, &other_crc, &other_updates),
                     5);
    assert_true(other_updates > 0 && other_updates < updates);
    file = fopen(path, "w");
    fprintf(file,
            "{\"format\": \"mxc-checkpoint\", \"version\": 1, \"slot\": %d, \"crc32\": %lld, "
            "\"updates\": %lld, \"workers\": 3}\n",
            1 - slot, other_crc, other_updates);
    fclose(file);
    snprintf(state, sizeof state, "%.400s/run.worker1.state%d", folder, slot);
    assert_int_equal(remove(state), 0);
}

/* One is asked to stop, all do, after the same step; then they go on, even if one has lost its last checkpoint. So do
 * those that keep only shares of the optimizer's states, to the same weights. */
static void test_stop_and_resume(void **state) {
    test_path folder, prefix;
    worker whole[3] = {{.batches = BATCHES}, {.batches = BATCHES}, {.batches = BATCHES}}, part[3];
    worker like = {.type = "dist_sync", .epochs = 3};
    (void)state;
    play_all(whole, 3, &like);
    for (int way = 0; way < 4; way++) {
        test_temp_dir(folder);
        like.shard = way >= 2;
        like.checkpoint = test_join(prefix, folder, "run");
        like.resume = 1;
        like.stop_at = 7;
        memcpy(part, whole, sizeof part);
        play_all(part, 3, &like);
        for (int i = 0; i < 3; i++) {
            assert_true(part[i].result.interrupted);
            assert_int_equal(part[i].result.updates, part[0].result.updates);
        }
        if (way & 1)
            lose_checkpoint(folder);
        like.stop_at = 0;
        play_all(part, 3, &like);
        assert_false(part[0].result.interrupted);
        for (int i = 0; i < 3; i++)
            assert_memory_equal(part[i].weights, whole[i].weights, sizeof part[i].weights);
        test_remove_dir(folder);
    }
}

/* A gradient that is not finite would be known only where its share is. */
static void test_refused_shares(void **state) {
    worker two[2] = {{.batches = BATCHES}, {.batches = BATCHES}};
    const worker like = {.type = "dist_sync", .epochs = 1, .shard = 1, .loss_scale = "64"};
    (void)state;
    play_to_end(two, 2, &like);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(two[i].status, MXC_EUNSUPPORTED);
        assert_non_null(strstr(two[i].message, "shard=true"));
    }
}

/* Another number of workers than the checkpoint's. */
static void test_other_workers(void **state) {
    test_path folder, prefix;
    worker two[2] = {{.batches = BATCHES}, {.batches = BATCHES}}, one;
    worker like = {.type = "dist_sync", .epochs = 1};
    (void)state;
    test_temp_dir(folder);
    like.checkpoint = test_join(prefix, folder, "run");
    play_all(two, 2, &like);
    one = like;
    one.size = 1;
    one.batches = BATCHES;
    one.resume = 1;
    assert_fails(fit(&one, symbol, NULL), MXC_EINVAL, "of a training by 2 workers, here are 1");
    test_remove_dir(folder);
}

/* Servers: every worker's steps count; worker 0 saves. */
static void test_servers(void **state) {
    test_path folder, prefix, model;
    worker two[2] = {{.batches = BATCHES}, {.batches = BATCHES - 1}};
    worker like = {.type = "dist_async", .epochs = 3};
    (void)state;
    test_temp_dir(folder);
    like.checkpoint = test_join(prefix, folder, "run");
    play_all(two, 2, &like);
    assert_int_equal(two[0].result.updates, 3 * BATCHES);
    assert_int_equal(two[1].result.updates, 3 * (BATCHES - 1));
    assert_int_equal(access(test_join(model, folder, "run-0003.params"), R_OK), 0);
    assert_int_not_equal(access(test_join(model, folder, "run.worker1.last"), R_OK), 0);
    for (int i = 0; i < WEIGHTS; i++)
        assert_true(isfinite(two[0].weights[i]));
    test_remove_dir(folder);
}

/* A factor that the network names reaches every kind of store. */
static void test_frozen_weight(void **state) {
    static const char *const types[] = {"dist_sync", "dist_device_sync", "dist_async", "dist_sync"};
    mxc_symbol *trained = symbol;
    (void)state;
    symbol = net(1);
    for (int i = 0; i < 4; i++) {
        worker two[2] = {{.batches = BATCHES}, {.batches = BATCHES}};
        const worker like = {.type = types[i], .epochs = 2, .shard = i == 3};
        play_all(two, 2, &like);
        for (int k = 0; k < WEIGHTS; k++)
            assert_true(two[0].weights[k] == 0); /* as the initializer left it */
    }
    mxc_symbol_release(symbol);
    symbol = trained;
}

static int set_up(void **state) {
    (void)state;
    symbol = net(0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mxc_symbol_release(symbol);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_one),          cmocka_unit_test(test_unequal_epochs),
        cmocka_unit_test(test_stop_and_resume), cmocka_unit_test(test_refused_shares),
        cmocka_unit_test(test_other_workers),   cmocka_unit_test(test_servers),
        cmocka_unit_test(test_frozen_weight),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
