/* SPDX-License-Identifier: Apache-2.0 */
/* Key-value stores, data iterators, record files and predictors through MXNet's interface. */
#include "front.h"

/* ---- key-value stores -------------------------------------------------------------------------------------------- */

static void add_received(int key, NDArrayHandle received, NDArrayHandle local, void *user) {
    OpHandle add;
    NDArrayHandle in[2] = {local, received}, out[1] = {local}, *outs = out;
    int n = 1;
    *(int *)user += key;
    assert_mx(NNGetOpHandle("elemwise_add", &add));
    assert_mx(MXImperativeInvoke(add, 2, in, &n, &outs, 0, NULL, NULL));
    MXNDArrayFree(received);
    MXNDArrayFree(local);
}

static void add_text(const char *key, NDArrayHandle received, NDArrayHandle local, void *user) {
    add_received(key[0] == 'w' ? 100 : 0, received, local, user);
}

static void test_store_sums(void **state) {
    (void)state;
    KVStoreHandle store;
    const char *type;
    int rank, keys[2] = {5, 5}, called = 0;
    NDArrayHandle values[2] = {front_filled(2, 2, 1), front_filled(2, 2, 3)}, out = front_filled(2, 2, 0);
    assert_mx(MXKVStoreCreate("local_allreduce_cpu", &store));
    assert_mx(MXKVStoreGetType(store, &type));
    assert_string_equal(type, "local_allreduce_cpu");
    assert_mx(MXKVStoreGetRank(store, &rank));
    assert_int_equal(rank, 0);
    assert_mx(MXKVStoreGetGroupSize(store, &rank));
    assert_int_equal(rank, 1);
    assert_mx(MXKVStoreInit(store, 1, keys, values));
    assert_mx(MXKVStorePush(store, 2, keys, values, 0));
    assert_mx(MXKVStorePull(store, 1, keys, &out, 0));
    assert_float_equal(front_at(out, 3), 4, 0);
    assert_mx(MXKVStoreSetUpdater(store, add_received, &called));
    assert_mx(MXKVStorePushPull(store, 2, keys, 1, keys, values, &out, 0));
    assert_float_equal(front_at(out, 3), 8, 0);
    assert_int_equal(called, 5);
    assert_mx(MXKVStoreBarrier(store));
    const char *text = "w";
    assert_mx_fails(MXKVStoreInitEx(store, 1, &text, values), "one kind of keys");
    assert_mx_fails(MXKVStoreInit(store, 1, keys, values), "5");
    keys[0] = 6;
    assert_mx_fails(MXKVStorePull(store, 1, keys, &out, 0), "6");
    assert_mx(MXKVStoreFree(store));
    for (int i = 0; i < 2; i++)
        MXNDArrayFree(values[i]);
    MXNDArrayFree(out);
}

static void test_store_with_text_keys(void **state) {
    (void)state;
    KVStoreHandle store;
    const char *key = "weight", *names[] = {"type"}, *values[] = {"2bit"};
    int called = 0, is_worker;
    NDArrayHandle value = front_filled(1, 2, 1), out = front_filled(1, 2, 0);
    assert_mx(MXKVStoreCreate("device", &store));
    assert_mx(MXKVStoreSetUpdaterEx(store, add_received, add_text, &called));
    assert_mx(MXKVStoreBroadcastEx(store, 1, &key, 1, &key, &value, &out, 0));
    assert_float_equal(front_at(out, 1), 1, 0);
    assert_mx(MXKVStorePushEx(store, 1, &key, &value, 0));
    assert_mx(MXKVStorePullWithSparseEx(store, 1, &key, &out, 0, true));
    assert_float_equal(front_at(out, 1), 2, 0);
    assert_int_equal(called, 100);
    assert_mx_fails(MXKVStoreSetGradientCompression(store, 1, names, values), "does not compress");
    assert_mx(MXKVStoreIsWorkerNode(&is_worker));
    assert_true(is_worker);
    assert_mx(MXKVStoreFree(store));
    MXNDArrayFree(value);
    MXNDArrayFree(out);
}

/* ---- iterators --------------------------------------------------------------------------------------------------- */

static DataIterCreator find_iter(const char *wanted) {
    DataIterCreator *list;
    uint32_t n, n_args;
    assert_mx(MXListDataIters(&n, &list));
    DataIterCreator kept[32];
    memcpy(kept, list, n * sizeof *kept);
    for (uint32_t i = 0; i < n; i++) {
        const char *name, *doc, **names, **types, **docs;
        assert_mx(MXDataIterGetIterInfo(kept[i], &name, &doc, &n_args, &names, &types, &docs));
        assert_true(n_args > 3 && doc[0]);
        if (strcmp(name, wanted) == 0) {
            assert_true(front_has(n_args, names, "batch_size"));
            return kept[i];
        }
    }
    return NULL;
}

static void test_csv_iterator(void **state) {
    (void)state;
    static const char text[] = "1,2\n3,4\n5,6\n";
    test_path folder, path;
    test_temp_dir(folder);
    test_join(path, folder, "data.csv");
    test_write_file(path, text, sizeof text - 1);
    const char *keys[] = {"data_csv", "data_shape", "batch_size", "data_name"}, *values[] = {path, "(2,)", "2", "x"};
    DataIterHandle iter;
    NDArrayHandle data, label;
    const uint64_t *index;
    uint64_t n_index;
    int more, pad;
    assert_mx(MXDataIterCreateIter(find_iter("CSVIter"), 4, keys, values, &iter));
    assert_mx_fails(MXDataIterGetData(iter, &data), "MXDataIterNext");
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_mx(MXDataIterNext(iter, &more));
        assert_true(more);
        assert_mx(MXDataIterGetData(iter, &data));
        assert_mx(MXDataIterGetLabel(iter, &label));
        assert_mx(MXDataIterGetIndex(iter, &index, &n_index));
        assert_mx(MXDataIterGetPadNum(iter, &pad));
        assert_true(front_at(data, 0) > 0);
        MXNDArrayFree(data);
        MXNDArrayFree(label);
        assert_mx(MXDataIterBeforeFirst(iter));
    }
    assert_mx(MXDataIterFree(iter));
    values[0] = "/nowhere.csv";
    assert_mx_fails(MXDataIterCreateIter(find_iter("CSVIter"), 4, keys, values, &iter), "/nowhere.csv");
    test_remove_dir(folder);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void test_records(void **state) {
    (void)state;
    test_path folder, path;
    RecordIOHandle writer, reader;
    const char *record;
    size_t size, second;
    test_temp_dir(folder);
    test_join(path, folder, "some.rec");
    assert_mx(MXRecordIOWriterCreate(path, &writer));
    assert_mx(MXRecordIOWriterWriteRecord(writer, "first", 5));
    assert_mx(MXRecordIOWriterTell(writer, &second));
    assert_int_equal(second, 16);
    assert_mx(MXRecordIOWriterWriteRecord(writer, "2", 1));
    assert_mx(MXRecordIOWriterFree(writer));
    assert_mx(MXRecordIOReaderCreate(path, &reader));
    assert_mx(MXRecordIOReaderSeek(reader, second));
    assert_mx(MXRecordIOReaderReadRecord(reader, &record, &size));
    assert_true(size == 1 && record[0] == '2');
    assert_mx(MXRecordIOReaderTell(reader, &size));
    assert_int_equal(size, 28);
    assert_mx(MXRecordIOReaderReadRecord(reader, &record, &size));
    assert_null(record);
    assert_mx(MXRecordIOReaderFree(reader));
    assert_mx_fails(MXRecordIOReaderCreate("/nowhere.rec", &reader), "/nowhere.rec");
    test_remove_dir(folder);
}

/* ---- predictors -------------------------------------------------------------------------------------------------- */

static const char *const inputs[] = {"data"};
static const uint32_t offsets[] = {0, 2}, shape[] = {2, 3}, larger[] = {4, 3};

/* The classifier's weights as the bytes of a file. */
static char *params(size_t *bytes) {
    static const char *const names[] = {"arg:fc_weight", "arg:fc_bias", "arg:unknown"};
    const float weight[6] = {1, 0, 0, 0, 1, 0}, bias[2] = {0, 0};
    test_path folder, path;
    NDArrayHandle arrays[3] = {front_array(2, 3, weight), NULL, front_filled(1, 1, 1)};
    const uint32_t two = 2;
    assert_mx(MXNDArrayCreateEx(&two, 1, 1, 0, 0, 0, &arrays[1]));
    assert_mx(MXNDArraySyncCopyFromCPU(arrays[1], bias, 2));
    test_temp_dir(folder);
    test_join(path, folder, "net.params");
    assert_mx(MXNDArraySave(path, 3, arrays, names));
    char *content = test_read_file(path, bytes);
    test_remove_dir(folder);
    for (int i = 0; i < 3; i++)
        MXNDArrayFree(arrays[i]);
    return content;
}

static void test_predictor(void **state) {
    (void)state;
    const float data[12] = {9, 0, 0, 0, 9, 0, 9, 0, 0, 0, 9, 0};
    float out[8];
    size_t bytes;
    char *content = params(&bytes);
    SymbolHandle net = front_classifier();
    const char *json, *wanted[] = {"fc"};
    const uint32_t *dims;
    uint32_t ndim;
    int type, left = 1;
    PredictorHandle predictor, other, many[3];
    assert_mx(MXSymbolSaveToJSON(net, &json));
    char *kept = strdup(json);
    assert_mx(MXPredCreate(kept, content, (int)bytes, 1, 0, 1, inputs, offsets, shape, &predictor));
    assert_mx(MXPredSetInput(predictor, "data", data, 6));
    assert_mx(MXPredForward(predictor));
    assert_mx(MXPredGetOutputShape(predictor, 0, &dims, &ndim));
    assert_true(ndim == 2 && dims[0] == 2 && dims[1] == 2);
    assert_mx(MXPredGetOutputType(predictor, 0, &type));
    assert_int_equal(type, 0);
    assert_mx(MXPredGetOutput(predictor, 0, out, 4));
    assert_true(out[0] > 0.99f && out[3] > 0.99f);
    for (int step = 0; left > 0; step++)
        assert_mx(MXPredPartialForward(predictor, step, &left));
    assert_mx(MXPredReshape(1, inputs, offsets, larger, predictor, &other));
    assert_mx(MXPredSetInput(other, "data", data, 12));
    assert_mx(MXPredForward(other));
    assert_mx(MXPredGetOutput(other, 0, out, 8));
    assert_true(out[7] > 0.99f);
    assert_mx_fails(MXPredSetInput(predictor, "data", data, 5), "24");
    assert_mx_fails(MXPredSetInput(predictor, "date", data, 6), "data");
    assert_mx_fails(MXPredGetOutput(predictor, 0, out, 3), "4 elements");
    assert_mx_fails(MXPredGetOutput(predictor, 1, out, 4), "output 1");
    assert_mx(MXPredFree(other));
    assert_mx(MXPredFree(predictor));
    assert_mx(MXPredCreatePartialOut(kept, content, (int)bytes, 1, 0, 1, inputs, offsets, shape, 1, wanted, &other));
    assert_mx(MXPredSetInput(other, "data", data, 6));
    assert_mx(MXPredForward(other));
    assert_mx(MXPredGetOutput(other, 0, out, 4));
    assert_float_equal(out[0], 9, 0);
    assert_mx(MXPredFree(other));
    assert_mx(MXPredCreateMultiThread(kept, content, (int)bytes, 1, 0, 1, inputs, offsets, shape, 3, many));
    for (int i = 0; i < 3; i++)
        assert_mx(MXPredFree(many[i]));
    free(kept);
    free(content);
    MXSymbolFree(net);
}

static void test_list_of_arrays(void **state) {
    (void)state;
    size_t bytes;
    char *content = params(&bytes);
    NDListHandle list;
    uint32_t n, ndim;
    const char *key;
    const float *data;
    const uint32_t *dims;
    assert_mx(MXNDListCreate(content, (int)bytes, &list, &n));
    assert_int_equal(n, 3);
    assert_mx(MXNDListGet(list, 0, &key, &data, &dims, &ndim));
    assert_string_equal(key, "arg:fc_weight");
    assert_true(ndim == 2 && dims[1] == 3 && data[4] == 1);
    assert_mx_fails(MXNDListGet(list, 3, &key, &data, &dims, &ndim), "no array 3");
    assert_mx(MXNDListFree(list));
    assert_mx_fails(MXNDListCreate(content, 9, &list, &n), "list of arrays");
    free(content);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_sums),   cmocka_unit_test(test_store_with_text_keys),
        cmocka_unit_test(test_csv_iterator), cmocka_unit_test(test_records),
        cmocka_unit_test(test_predictor),    cmocka_unit_test(test_list_of_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
