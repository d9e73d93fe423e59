/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every iterator promises, for each of them: over any number of parts each sample comes once; the order is the
 * same for any number of threads; a state taken anywhere continues bit for bit, through this epoch and the next.
 */
#include "idx_files.h"
#include "image_iters.h"
#include "named_iter.h"

enum { SAMPLES = N, MOST_BATCHES = 64, LENGTHS = 3 };

/* What a case is asked to make. threads: that decode, or one more than the batches that are prepared ahead. */
typedef struct request {
    int batch, part, parts, threads;
} request;

typedef struct iter_case {
    const char *name;
    mxc_iter *(*make)(const struct iter_case *self, const request *r);
    const char *more[12]; /* pairs of parameters, then NULL */
    int variant;
    int is_image;   /* needs PNG */
    int is_resized; /* its epochs are not its samples */
} iter_case;

static test_path images, labels, csv, svm, det_rec, root, several;

/* ---- making ------------------------------------------------------------------------------------------------------ */

static mxc_iter *by_name(const iter_case *self, const request *r) {
    char texts[4][16];
    const int numbers[4] = {r->batch, r->part, r->parts, r->threads - !self->is_image};
    const char *keys[16] = {
        "batch_size",
        "part_index",
        "num_parts",
        self->is_image ? "preprocess_threads" : "prefetch_buffer",
    };
    const char *values[16];
    int n = 4;
    mxc_iter *iter;
    for (int i = 0; i < 4; i++) {
        snprintf(texts[i], sizeof texts[i], "%d", numbers[i]);
        values[i] = texts[i];
    }
    for (const char *const *at = self->more; *at; at += 2, n++) {
        keys[n] = at[0];
        values[n] = at[1];
    }
    assert_ok(mxc_iter_create(self->name, n, keys, values, &iter));
    return iter;
}

/* Rows of (SAMPLES,3) with the last batch of the variant. */
static mxc_iter *of_arrays(const iter_case *self, const request *r) {
    mxc_array_iter_options o = MXC_ARRAY_ITER_OPTIONS_INIT;
    float values[SAMPLES * 3];
    mxc_ndarray *array;
    mxc_iter *iter;
    for (int i = 0; i < SAMPLES * 3; i++)
        values[i] = (float)i;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){SAMPLES, 3}, MXC_F32, values, &array));
    o.batch_size = r->batch;
    o.shuffle = 1;
    o.seed = 5;
    o.last_batch = r->batch == 1 ? MXC_LAST_PAD : (mxc_last_batch)self->variant;
    o.part_index = r->part;
    o.num_parts = r->parts;
    assert_ok(mxc_iter_from_arrays(&o, 1, &array, 0, NULL, NULL, &iter));
    mxc_ndarray_release(array);
    return iter;
}

/* Sentences of 2 to 4 tokens. */
static mxc_iter *of_sentences(const iter_case *self, const request *r) {
    mxc_bucket_iter_options o = MXC_BUCKET_ITER_OPTIONS_INIT;
    int64_t offsets[SAMPLES + 1] = {0};
    int32_t tokens[SAMPLES * 4];
    mxc_iter *iter;
    (void)self;
    for (int i = 0; i < SAMPLES; i++)
        offsets[i + 1] = offsets[i] + 2 + i % LENGTHS;
    for (int i = 0; i < offsets[SAMPLES]; i++)
        tokens[i] = i;
    o.batch_size = r->batch;
    o.n_buckets = LENGTHS;
    o.buckets = (const int64_t[]){2, 3, 4};
    o.shuffle = 1;
    o.part_index = r->part;
    o.num_parts = r->parts;
    assert_ok(mxc_iter_from_sentences(&o, SAMPLES, offsets, tokens, &iter));
    return iter;
}

static mxc_iter *ahead(const iter_case *self, const request *r) {
    mxc_iter *inner = self->variant < 0 ? of_sentences(self, r) : of_arrays(self, r), *iter;
    assert_ok(mxc_iter_prefetch(inner, r->threads, &iter));
    return iter;
}

/* Epochs of 11 batches over what is prepared ahead. */
static mxc_iter *resized(const iter_case *self, const request *r) {
    static const iter_case inner = {.variant = MXC_LAST_ROLL_OVER};
    mxc_iter *iter;
    assert_ok(mxc_iter_resize(ahead(&inner, r), 11, self->variant, &iter));
    return iter;
}

#define AUGMENTED "shuffle", "1", "seed", "3", "data_shape", "(3,8,6)"

static const iter_case cases[] = {
    {"NDArrayIter pad", of_arrays, .variant = MXC_LAST_PAD},
    {"NDArrayIter discard", of_arrays, .variant = MXC_LAST_DISCARD},
    {"NDArrayIter roll_over", of_arrays, .variant = MXC_LAST_ROLL_OVER},
    {"NDArrayIter wrap", of_arrays, .variant = MXC_LAST_WRAP},
    {"MNISTIter", by_name, .more = {"image", images, "label", labels, "seed", "9"}},
    {"CSVIter", by_name, .more = {"data_csv", csv, "data_shape", "(2,)"}},
    {"CSVIter", by_name, .more = {"data_csv", csv, "data_shape", "(2,)", "round_batch", "0"}},
    {"LibSVMIter", by_name, .more = {"data_libsvm", svm, "data_shape", "(9,)"}},
    {"BucketSentenceIter", of_sentences, .variant = 0},
    {"PrefetchingIter", ahead, .variant = MXC_LAST_WRAP},
    {"PrefetchingIter of sentences", ahead, .variant = -1},
    {"ResizeIter", resized, .variant = 0, .is_resized = 1},
    {"ResizeIter restarted", resized, .variant = 1, .is_resized = 1},
    {"ImageRecordIter", by_name, .more = {"path_imgrec", rec, AUGMENTED}, .is_image = 1},
    {"ImageRecordIter", by_name,
     .more = {"path_imgrec", rec, "data_shape", "(3,8,6)", "random_h", "30", "round_batch", "0"}, .is_image = 1},
    {"ImageRecordIter", by_name, .more = {"path_imgrec", several, AUGMENTED}, .is_image = 1},
    {"ImageRecordIter", by_name, .more = {"path_imgrec", several, "path_imgidx", several, AUGMENTED}, .is_image = 1},
    {"ImageRecordIter_v1", by_name, .more = {"path_imgrec", rec, AUGMENTED}, .is_image = 1},
    {"ImageRecordUInt8Iter", by_name, .more = {"path_imgrec", rec, AUGMENTED}, .is_image = 1},
    {"ImageRecordInt8Iter", by_name, .more = {"path_imgrec", rec, AUGMENTED}, .is_image = 1},
    {"ImageDetRecordIter", by_name,
     .more = {"path_imgrec", det_rec, "data_shape", "(3,9,9)", "rand_crop_prob", "0.7", "shuffle", "1"}, .is_image = 1},
    {"ImageFolderIter", by_name, .more = {"path_root", root, AUGMENTED}, .is_image = 1},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static int can_run(const iter_case *c) {
    return !c->is_image || mxci_png_decoder;
}

/* ---- what comes -------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t sum, const void *data, size_t n) {
    const uint8_t *at = data;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    return sum;
}

/* A number for all that a batch is. */
static uint64_t sum_of(const mxc_batch *b) {
    uint64_t sum = mix(1, b->index, sizeof *b->index * (size_t)b->n_index);
    sum = mix(sum, (const int64_t[]){b->pad, b->bucket, b->n_index}, 3 * sizeof(int64_t));
    for (int i = 0; i < b->n_data + b->n_label; i++) {
        mxc_ndarray *array = i < b->n_data ? b->data[i] : b->label[i - b->n_data];
        void *data;
        assert_ok(mxc_ndarray_data(array, &data));
        sum = mix(sum, mxc_ndarray_shape(array)->dim, sizeof(int64_t) * (size_t)mxc_ndarray_shape(array)->ndim);
        sum = mix(sum, data, mxc_ndarray_bytes(array));
    }
    return sum;
}

/* Sums of at most so many batches of this epoch; how many there were. */
static int take_sums(mxc_iter *iter, int most, uint64_t *sums) {
    mxc_batch batch;
    for (int n = 0; n < most; n++) {
        assert_ok(mxc_iter_next(iter, &batch));
        if (!batch.n_data)
            return n;
        sums[n] = sum_of(&batch);
    }
    return most;
}

/* The rest of this epoch and the next one must be the same. */
static void assert_goes_on(const char *name, mxc_iter *iter, const uint64_t *want, int n) {
    uint64_t sums[2 * MOST_BATCHES];
    int have = take_sums(iter, MOST_BATCHES, sums);
    assert_ok(mxc_iter_reset(iter));
    have += take_sums(iter, MOST_BATCHES, sums + have);
    if (have != n || memcmp(sums, want, sizeof *want * (size_t)n) != 0)
        fail_msg("%s: %d batches, expected %d that are the same", name, have, n);
}

static void test_parts(void **state) {
    (void)state;
    for (const iter_case *c = cases; c < cases + CASES; c++)
        for (int parts = 1; parts <= 7 && !c->is_resized && can_run(c); parts++) {
            int seen[SAMPLES] = {0};
            for (int part = 0; part < parts; part++) {
                mxc_iter *iter = c->make(c, &(request){1, part, parts, 2});
                mxc_batch batch;
                for (assert_ok(mxc_iter_next(iter, &batch)); batch.n_data; assert_ok(mxc_iter_next(iter, &batch)))
                    seen[batch.index[0] % 100]++;
                mxc_iter_destroy(iter);
            }
            for (int i = 0; i < SAMPLES; i++)
                if (seen[i] != 1)
                    fail_msg("%s: sample %d comes %d times over %d parts", c->name, i, seen[i], parts);
        }
}

static void test_threads(void **state) {
    (void)state;
    for (const iter_case *c = cases; c < cases + CASES; c++)
        for (int i = 0; i < 3 && can_run(c); i++) {
            static const int threads[] = {1, 2, 5};
            static uint64_t want[2 * MOST_BATCHES];
            static int n;
            mxc_iter *iter = c->make(c, &(request){3, 0, 1, threads[i]});
            if (i == 0) {
                n = take_sums(iter, MOST_BATCHES, want);
                assert_ok(mxc_iter_reset(iter));
                n += take_sums(iter, MOST_BATCHES, want + n);
                assert_true(n > 8);
            } else {
                assert_goes_on(c->name, iter, want, n);
            }
            mxc_iter_destroy(iter);
        }
}

/* From each position of two epochs, in another iterator and in the same one. */
static void check_states(const iter_case *c) {
    const request r = {3, 1, 2, 2};
    mxc_iter *whole = c->make(c, &r), *other = c->make(c, &r);
    uint64_t want[3][MOST_BATCHES];
    int n[3];
    for (int epoch = 0; epoch < 3; epoch++) {
        n[epoch] = take_sums(whole, MOST_BATCHES, want[epoch]);
        assert_ok(mxc_iter_reset(whole));
    }
    for (int epoch = 0; epoch < 2; epoch++)
        for (int position = 0; position <= n[epoch]; position++) {
            mxc_iter_state at;
            uint64_t rest[2 * MOST_BATCHES];
            const int left = n[epoch] - position;
            memcpy(rest, want[epoch] + position, sizeof rest[0] * (size_t)left);
            memcpy(rest + left, want[epoch + 1], sizeof rest[0] * (size_t)n[epoch + 1]);
            assert_ok(mxc_iter_set_state(whole, &(mxc_iter_state){(uint64_t)epoch, 0}));
            take_sums(whole, position, (uint64_t[MOST_BATCHES]){0});
            assert_ok(mxc_iter_get_state(whole, &at));
            assert_ok(mxc_iter_set_state(other, &at));
            assert_goes_on(c->name, other, rest, left + n[epoch + 1]);
            assert_goes_on(c->name, whole, rest, left + n[epoch + 1]);
            assert_ok(mxc_iter_set_state(whole, &at));
            assert_goes_on(c->name, whole, rest, left + n[epoch + 1]);
        }
    mxc_iter_destroy(whole);
    mxc_iter_destroy(other);
}

static void test_states(void **state) {
    (void)state;
    for (const iter_case *c = cases; c < cases + CASES; c++)
        if (can_run(c))
            check_states(c);
}

/* No iterator that is made by name is left out here. */
static void test_all_are_here(void **state) {
    const char *name;
    (void)state;
    for (int i = 0; (name = mxc_iter_name_at(i)) != NULL; i++) {
        int found = strcmp(name, "ImageRecordUInt8Iter_v1") == 0; /* the same by another name */
        for (const iter_case *c = cases; c < cases + CASES; c++)
            found |= strcmp(c->name, name) == 0;
        if (!found)
            fail_msg("%s has no case", name);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void write_texts(void) {
    char lines[SAMPLES * 32] = "", sparse[SAMPLES * 32] = "";
    for (int i = 0; i < SAMPLES; i++) {
        snprintf(lines + strlen(lines), 32, "%d,%d.5\n", i, 2 * i);
        snprintf(sparse + strlen(sparse), 32, "%d %d:%d\n", i % 2, i % 9, i + 1);
    }
    test_write_file(test_join(csv, folder, "data.csv"), lines, strlen(lines));
    test_write_file(test_join(svm, folder, "data.svm"), sparse, strlen(sparse));
}

static void write_idx_files(void) {
    bytes image = idx_u8(3, (const uint32_t[]){SAMPLES, 5, 4}), label = idx_u8(1, (const uint32_t[]){SAMPLES});
    write_bytes(test_join(images, folder, "images"), &image);
    write_bytes(test_join(labels, folder, "labels"), &label);
    bytes_free(&image);
    bytes_free(&label);
}

static void sample_file(int i, test_image *out) {
    uint8_t pixels[H * W * 3];
    sample_pixels((uint32_t)i, H, W, 3, 0, pixels);
    sample_png(out, pixels, H, W, 3);
}

static void write_objects(void) {
    static uint8_t buffer[1 << 14];
    static test_image png;
    const float label[] = {2, 5, 1, 0.2f, 0.3f, 0.7f, 0.9f};
    mxc_record_writer *writer;
    assert_ok(mxc_record_writer_open(test_join(det_rec, folder, "det.rec"), NULL, &writer));
    for (int i = 0; i < SAMPLES; i++) {
        sample_file(i, &png);
        const mxc_image_record record = {(uint64_t)i, 0, 7, label, png.bytes, png.n};
        mxc_image_record_write(&record, buffer);
        assert_ok(mxc_record_writer_write(writer, (uint64_t)i, buffer, mxc_image_record_size(7, png.n)));
    }
    assert_ok(mxc_record_writer_close(writer));
}

static void write_folders(void) {
    static test_image png;
    test_path class, path;
    char name[16];
    assert_int_equal(mkdir(test_join(root, folder, "root"), 0700), 0);
    for (int i = 0; i < SAMPLES; i++) {
        test_join(class, root, i < SAMPLES / 2 ? "cats" : "dogs");
        mkdir(class, 0700);
        snprintf(name, sizeof name, "%02d.png", i);
        sample_file(i, &png);
        test_write_file(test_join(path, class, name), png.bytes, png.n);
    }
}

/* One of them has no record. */
static void write_several(void) {
    mkdir(test_join(several, folder, "several"), 0700);
    write_some(several, "a", 0, 9);
    write_some(several, "b", 0, 0);
    write_some(several, "c", 9, 11);
    write_some(several, "d", 11, SAMPLES);
}

static int write_files(void **state) {
    make_folder(state);
    write_several();
    write_records(SAMPLES, 1);
    write_texts();
    write_idx_files();
    write_objects();
    write_folders();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_all_are_here),
    };
    return cmocka_run_group_tests(tests, write_files, remove_folder);
}
