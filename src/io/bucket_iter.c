/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BucketSentenceIter: batches of sentences that share a length, as MXNet's Python module of that name makes them.
 *
 * The sentences of a bucket in this epoch's order, cut into batches, and the batches of all buckets in this epoch's
 * order: both orders are functions of (seed, epoch), so any batch is found without those before it.
 */
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/sys.h"
#include "io/iter.h"
#include "io/sample_order.h"

/* Sentences and batches of one length; both are numbered through all buckets. */
typedef struct bucket {
    int64_t length;
    int64_t first, n;       /* its sentences in members */
    int64_t batch;          /* its first batch */
    mxc_ndarray *arrays[2]; /* data and label */
} bucket;

typedef struct bucket_iter {
    mxc_bucket_iter_options options;
    int64_t first, n; /* this part's sentences */
    int64_t *offsets; /* n + 1, in tokens */
    int32_t *tokens;
    int64_t *members; /* up to n: sentences, bucket by bucket */
    int n_buckets;
    bucket *buckets;
    int64_t n_batches; /* of an epoch */
    uint64_t *index;   /* batch_size */
    char *names[2];
    mxc_data_desc desc[2];
    mxc_iter_state state;
} bucket_iter;

/* ---- a batch ---- */

/* The sentence at a position of the order of a bucket in this epoch. */
static int64_t sentence_at(const bucket_iter *it, const bucket *b, int64_t position) {
    uint64_t seed =
        it->options.seed + UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)b->length; /* another order for each bucket */
    if (it->options.shuffle)
        position = mxci_shuffled_sample(seed, it->state.epoch, b->n, position);
    return it->members[b->first + position];
}

/* length tokens of a sentence from index from on, padded with invalid_label, to out[at], out[at + stride] ... */
static void write_tokens(const bucket_iter *it, int64_t sentence, int64_t from, int64_t length, void *out, int64_t at,
                         int64_t stride) {
    int64_t begin = it->offsets[sentence], n = it->offsets[sentence + 1] - begin;
    for (int64_t t = from; t < from + length; t++, at += stride) {
        int32_t token = t < n ? it->tokens[begin + t] : it->options.invalid_label;
        if (it->options.dtype == MXC_F32)
            ((float *)out)[at] = (float)token;
        else
            ((int32_t *)out)[at] = token;
    }
}

static mxc_status fill_batch(bucket_iter *it, const bucket *b, int64_t batch) {
    int64_t size = it->options.batch_size;
    int is_major = it->options.time_major;
    for (int k = 0; k < 2; k++) { /* the label is one position ahead */
        void *out;
        MXC_TRY(mxc_ndarray_wait_to_write(b->arrays[k]));
        MXC_TRY(mxc_ndarray_data(b->arrays[k], &out));
        for (int64_t i = 0; i < size; i++) {
            int64_t sentence = sentence_at(it, b, batch * size + i);
            it->index[i] = (uint64_t)(it->first + sentence);
            write_tokens(it, sentence, k, b->length, out, is_major ? i : i * b->length, is_major ? size : 1);
        }
    }
    return MXC_OK;
}

/* The position is mapped to a batch of all buckets, then to a bucket and a batch within it. */
static mxc_status bucket_next(void *self, mxc_batch *out) {
    bucket_iter *it = self;
    int64_t batch = it->state.position;
    const bucket *b = it->buckets;
    if (batch == it->n_batches)
        return MXC_OK;
    if (it->options.shuffle)
        batch = mxci_shuffled_sample(it->options.seed, it->state.epoch, it->n_batches, batch);
    while (batch >= b->batch + b->n / it->options.batch_size)
        b++;
    MXC_TRY(fill_batch(it, b, batch - b->batch));
    *out = (mxc_batch){.n_data = 1,
                       .n_label = 1,
                       .data = b->arrays,
                       .label = b->arrays + 1,
                       .index = it->index,
                       .n_index = it->options.batch_size,
                       .bucket = b->length};
    it->state.position++;
    return MXC_OK;
}

/* ---- the other methods ---- */

static int bucket_one(void *self) {
    (void)self;
    return 1;
}

static const mxc_data_desc *bucket_desc(void *self, int index) {
    return &((bucket_iter *)self)->desc[index];
}

static mxc_status bucket_reset(void *self) {
    bucket_iter *it = self;
    it->state = (mxc_iter_state){it->state.epoch + 1, 0};
    return MXC_OK;
}

static mxc_status bucket_get_state(void *self, mxc_iter_state *out) {
    *out = ((bucket_iter *)self)->state;
    return MXC_OK;
}

static mxc_status bucket_set_state(void *self, const mxc_iter_state *state) {
    bucket_iter *it = self;
    if (state->position < 0 || state->position > it->n_batches)
        return MXC_FAIL(MXC_EINVAL, "mxc_iter_set_state: position %lld, expected 0 to %lld batches",
                        (long long)state->position, (long long)it->n_batches);
    it->state = *state;
    return MXC_OK;
}

static void bucket_destroy(void *self) {
    bucket_iter *it = self;
    for (int i = 0; it->buckets && i < it->n_buckets; i++) {
        mxc_ndarray_release(it->buckets[i].arrays[0]);
        mxc_ndarray_release(it->buckets[i].arrays[1]);
    }
    mxci_free(it->buckets);
    mxci_free(it->offsets);
    mxci_free(it->tokens);
    mxci_free(it->members);
    mxci_free(it->index);
    mxci_free(it->names[0]);
    mxci_free(it->names[1]);
    mxci_free(it);
}

static const mxc_iter_methods bucket_methods = {
    .size = sizeof bucket_methods,
    .n_data = bucket_one,
    .n_label = bucket_one,
    .desc = bucket_desc,
    .next = bucket_next,
    .reset = bucket_reset,
    .get_state = bucket_get_state,
    .set_state = bucket_set_state,
    .destroy = bucket_destroy,
};

/* ---- making one ---- */

static mxc_status bucket_iter_check_options(const mxc_bucket_iter_options *o, int64_t n, const int64_t *offsets) {
    if (o->batch_size < 1 || o->num_parts < 1 || o->part_index < 0 || o->part_index >= o->num_parts)
        return MXC_FAIL(MXC_EINVAL,
                        "BucketSentenceIter: batch_size %lld, part_index %d of num_parts %d, expected at "
                        "least 1, and 0 <= part_index < num_parts",
                        (long long)o->batch_size, o->part_index, o->num_parts);
    if (o->dtype != MXC_F32 && o->dtype != MXC_I32)
        return MXC_FAIL(MXC_EINVAL, "BucketSentenceIter: dtype %s, expected float32 or int32",
                        mxc_dtype_name(o->dtype));
    if (o->n_buckets < 0 || (o->n_buckets > 0 && !o->buckets))
        return MXC_FAIL(MXC_EINVAL, "BucketSentenceIter: %d buckets are not given", o->n_buckets);
    for (int i = 0; i < o->n_buckets; i++)
        if (o->buckets[i] < 1 || (i > 0 && o->buckets[i] <= o->buckets[i - 1]))
            return MXC_FAIL(MXC_EINVAL,
                            "BucketSentenceIter: bucket %d of length %lld, expected ascending ones from 1 "
                            "on",
                            i, (long long)o->buckets[i]);
    for (int64_t i = 0; i < n; i++)
        if (offsets[i] < 0 || offsets[i + 1] < offsets[i])
            return MXC_FAIL(MXC_EINVAL, "BucketSentenceIter: sentence %lld goes from %lld to %lld", (long long)i,
                            (long long)offsets[i], (long long)offsets[i + 1]);
    return MXC_OK;
}

static mxc_status copy_sentences(bucket_iter *it, int64_t n, const int64_t *offsets, const int32_t *tokens) {
    const mxc_bucket_iter_options *o = &it->options;
    it->first = mxci_sample_part_begin(n, o->part_index, o->num_parts);
    it->n = mxci_sample_part_begin(n, o->part_index + 1, o->num_parts) - it->first;
    int64_t begin = it->n > 0 ? offsets[it->first] : 0, end = it->n > 0 ? offsets[it->first + it->n] : 0;
    it->offsets = mxci_realloc_array(NULL, (size_t)it->n + 1, sizeof *it->offsets);
    it->tokens = mxci_realloc_array(NULL, (size_t)(end - begin) + 1, sizeof *it->tokens);
    it->members = mxci_realloc_array(NULL, (size_t)it->n + 1, sizeof *it->members);
    it->index = mxci_calloc((size_t)o->batch_size, sizeof *it->index);
    if (!it->offsets || !it->tokens || !it->members || !it->index)
        return MXCI_NO_MEMORY("BucketSentenceIter", "its sentences");
    for (int64_t i = 0; i <= it->n; i++)
        it->offsets[i] = it->n > 0 ? offsets[it->first + i] - begin : 0;
    if (end > begin)
        memcpy(it->tokens, tokens + begin, sizeof *tokens * (size_t)(end - begin));
    return MXC_OK;
}

static int64_t sentence_length(const bucket_iter *it, int64_t i) {
    return it->offsets[i + 1] - it->offsets[i];
}

static mxc_status make_buckets(bucket_iter *it, int n, const int64_t *lengths) {
    it->buckets = mxci_calloc((size_t)n, sizeof *it->buckets);
    if (!it->buckets)
        return MXCI_NO_MEMORY("BucketSentenceIter", "its sentences");
    it->n_buckets = n;
    for (int i = 0; i < n; i++)
        it->buckets[i].length = lengths[i];
    return MXC_OK;
}

/* A bucket for each length of which there are enough sentences for a batch. counts: most + 1 zeros. */
static mxc_status find_lengths(bucket_iter *it, int64_t *counts, int64_t most) {
    int n = 0;
    for (int64_t i = 0; i < it->n; i++)
        counts[sentence_length(it, i)]++;
    for (int64_t length = 1; length <= most; length++)
        if (counts[length] >= it->options.batch_size && n < INT32_MAX)
            counts[n++] = length; /* n <= length, so no count that is still to be read is overwritten */
    if (n == 0)
        return MXC_FAIL(MXC_EINVAL, "BucketSentenceIter: of no length are there %lld sentences for a batch",
                        (long long)it->options.batch_size);
    return make_buckets(it, n, counts);
}

/* The lengths of the options, or one bucket for each length that occurs often enough. */
static mxc_status choose_buckets(bucket_iter *it) {
    int64_t most = 0;
    if (it->options.n_buckets > 0)
        return make_buckets(it, it->options.n_buckets, it->options.buckets);
    for (int64_t i = 0; i < it->n; i++)
        most = sentence_length(it, i) > most ? sentence_length(it, i) : most;
    int64_t *counts = mxci_calloc((size_t)most + 1, sizeof *counts);
    if (!counts)
        return MXCI_NO_MEMORY("BucketSentenceIter", "its sentences");
    mxc_status status = find_lengths(it, counts, most);
    mxci_free(counts);
    return status;
}

/* The shortest bucket that holds length tokens; n_buckets if none does. */
static int find_bucket(const bucket_iter *it, int64_t length) {
    int low = 0, high = it->n_buckets;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (it->buckets[middle].length < length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sort the sentences into their buckets, in the order of the input (a counting sort); longer sentences are left out. */
static mxc_status assign_buckets(bucket_iter *it) {
    int64_t at = 0;
    for (int64_t i = 0; i < it->n; i++) {
        int b = find_bucket(it, sentence_length(it, i));
        if (b < it->n_buckets)
            it->buckets[b].n++;
    }
    for (bucket *b = it->buckets; b < it->buckets + it->n_buckets; at += b->n, b->n = 0, b++) {
        b->first = at;
        b->batch = it->n_batches;
        it->n_batches += b->n / it->options.batch_size;
    }
    for (int64_t i = 0; i < it->n; i++) {
        bucket *b = it->buckets + find_bucket(it, sentence_length(it, i));
        if (b < it->buckets + it->n_buckets)
            it->members[b->first + b->n++] = i;
    }
    if (it->n_batches == 0)
        return MXC_FAIL(MXC_EINVAL, "BucketSentenceIter: part %d of %d of the sentences does not fill a batch of %lld",
                        it->options.part_index, it->options.num_parts, (long long)it->options.batch_size);
    return MXC_OK;
}

static mxc_status bucket_iter_make_arrays(bucket_iter *it) {
    int is_major = it->options.time_major;
    for (bucket *b = it->buckets; b < it->buckets + it->n_buckets; b++)
        for (int k = 0; k < 2; k++) {
            int64_t dims[2] = {it->options.batch_size, b->length};
            int64_t turned[2] = {dims[1], dims[0]};
            MXC_TRY(mxc_ndarray_create(2, is_major ? turned : dims, it->options.dtype, mxc_cpu(0), &b->arrays[k]));
        }
    for (int k = 0; k < 2; k++) {
        const char *name = k == 0 ? it->options.data_name : it->options.label_name;
        it->names[k] = mxci_strdup(name ? name : k == 0 ? "data" : "softmax_label");
        if (!it->names[k])
            return MXCI_NO_MEMORY("BucketSentenceIter", "its sentences");
        it->desc[k] = (mxc_data_desc){it->names[k], *mxc_ndarray_shape(it->buckets[it->n_buckets - 1].arrays[k]),
                                      it->options.dtype};
    }
    return MXC_OK;
}

void mxc_bucket_iter_options_init(mxc_bucket_iter_options *options, size_t size) {
    static const mxc_bucket_iter_options defaults = MXC_BUCKET_ITER_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

mxc_status mxc_iter_from_sentences(const mxc_bucket_iter_options *options, int64_t n, const int64_t *offsets,
                                   const int32_t *tokens, mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    mxc_bucket_iter_options read = MXC_BUCKET_ITER_OPTIONS_INIT;
    MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_bucket_iter_options_init"));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, offsets));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, tokens));
    if (n < 0)
        return MXC_FAIL(MXC_EINVAL, "BucketSentenceIter: %lld sentences", (long long)n);
    MXC_TRY(bucket_iter_check_options(&read, n, offsets));
    bucket_iter *it = mxci_calloc(1, sizeof *it);
    if (!it)
        return MXCI_NO_MEMORY("BucketSentenceIter", "its sentences");
    it->options = read;
    mxc_status status = copy_sentences(it, n, offsets, tokens);
    if (status == MXC_OK)
        status = choose_buckets(it);
    if (status == MXC_OK)
        status = assign_buckets(it);
    if (status == MXC_OK)
        status = bucket_iter_make_arrays(it);
    if (status == MXC_OK)
        status = mxc_iter_from_methods(&bucket_methods, it, out);
    if (status != MXC_OK)
        bucket_destroy(it);
    return status;
}
