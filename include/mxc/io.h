/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data iterators: batches of arrays, epoch after epoch.
 *
 * All iterators have one interface. Calls on one iterator must not overlap; different iterators are independent. The
 * order of samples and their augmentation depend only on the seed and the number of the epoch, so the position of an
 * iterator can be saved and restored. After fork(), the child must not use an iterator that prefetches.
 */
#ifndef MXC_IO_H
#define MXC_IO_H

#include <mxc/ndarray.h>
#include <mxc/param.h>

typedef struct mxc_iter mxc_iter;

/** One array of each batch: the network argument that it is for, and its shape with the batch axis first. */
typedef struct mxc_data_desc {
    const char *name;
    mxc_shape shape;
    mxc_dtype dtype;
} mxc_data_desc;

/** One batch; everything is borrowed and valid until the next call on the iterator. */
typedef struct mxc_batch {
    int n_data, n_label;
    mxc_ndarray *const *data;
    mxc_ndarray *const *label;
    int64_t pad;           /* number of rows at the end that only fill up the batch */
    int64_t n_index;       /* entries of index: 0 or the batch size */
    const uint64_t *index; /* number of the sample in each row */
    int64_t n_bad;         /* rows whose own sample was unreadable and was replaced by another (bad_data=skip) */
    int64_t bucket;        /* sequence length of this batch, if batches differ in length; otherwise 0 */
} mxc_batch;

/** Position of an iterator. */
typedef struct mxc_iter_state {
    uint64_t epoch;   /* number of epochs that were finished or abandoned */
    int64_t position; /* number of batches returned in this epoch */
} mxc_iter_state;

/** The methods of an iterator, for programs that implement their own. All are called with self, one at a time, on the
 *  thread that calls the iterator, or on that of mxc_iter_prefetch. Only next is required; the others may be NULL.
 *  @thread any
 */
typedef struct mxc_iter_methods {
    size_t size; /* sizeof(mxc_iter_methods) */
    /* Number of arrays, and their descriptions: data first, then labels; valid as long as the iterator. NULL, all
     * three: those of the first batch, which is taken when the iterator is created; the names are "data" and
     * "softmax_label", numbered if there are several. Later batches may not be larger if they are prefetched. */
    int (*n_data)(void *self);
    int (*n_label)(void *self);
    const mxc_data_desc *(*desc)(void *self, int index);
    /* Next batch; *out is zero before the call. out->n_data is 0 at the end of the epoch, also when called again. */
    mxc_status (*next)(void *self, mxc_batch *out);
    /* To the start of the next epoch. NULL: set_state does it or, if that is NULL too, the call of next after the end
     * of an epoch begins the next one, and the rest of an epoch that is abandoned is read and dropped. */
    mxc_status (*reset)(void *self);
    /* The position. NULL, both: epochs and batches are counted; set_state goes forward by reading and dropping batches,
     * and backward is MXC_EUNSUPPORTED. */
    mxc_status (*get_state)(void *self, mxc_iter_state *out);
    mxc_status (*set_state)(void *self, const mxc_iter_state *state);
    void (*destroy)(void *self); /* NULL: nothing is freed */
} mxc_iter_methods;

/** Create an iterator by name, such as "MNISTIter", with parameters that mxc_iter_describe documents.
 *  Status: MXC_ENOTFOUND (lists the names), MXC_EINVAL, and errors of its files. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_create(const char *name, int n_params, const char *const *keys,
                                                  const char *const *values, mxc_iter **out);
/** Create an iterator from methods of the program, which must outlive it. self is destroyed with the iterator, but not
 *  if this call fails. Status: MXC_EINVAL (next is NULL, or only some of n_data, n_label and desc, or of get_state and
 *  set_state, are given; or the first batch is needed and has no arrays), MXC_ENOMEM, and errors of next.
 *  @param[keep] methods  must outlive the iterator
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_from_methods(const mxc_iter_methods *methods, void *self, mxc_iter **out);
/** Destroy an iterator. NULL is fine. May wait for its threads. */
MXC_API void mxc_iter_destroy(mxc_iter *iter);
/** Number of data arrays, and of labels, of each batch. */
MXC_API int mxc_iter_n_data(mxc_iter *iter);
MXC_API int mxc_iter_n_label(mxc_iter *iter);
/** Data first, then labels; NULL past the end. */
MXC_API const mxc_data_desc *mxc_iter_desc(mxc_iter *iter, int index);
/** Return the next batch; out->n_data is 0 at the end of the epoch. May block on files, and on queued work that still
 *  reads the arrays of an earlier batch. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_next(mxc_iter *iter, mxc_batch *out);
/** Go to the start of the next epoch. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_reset(mxc_iter *iter);
/** The position, from which mxc_iter_set_state continues. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_get_state(mxc_iter *iter, mxc_iter_state *out);
/** Continue from a saved position: the following batches are the same bit for bit. MXC_EINVAL (no such position). */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_set_state(mxc_iter *iter, const mxc_iter_state *state);
/** Iterators that mxc_iter_create knows: the name at an index (NULL past the end), and documentation generated from the
 *  schema (free with mxc_free). */
MXC_API const char *mxc_iter_name_at(int index);
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_describe(const char *name, char **out);
/** The schema of an iterator's parameters, which ends with MXC_PARAM_END; NULL if there is no iterator of that name. */
MXC_API const mxc_param *mxc_iter_params(const char *name);
/** What an iterator does, in words; NULL if there is no iterator of that name. */
MXC_API const char *mxc_iter_doc(const char *name);

/** Treatment of an incomplete last batch. */
typedef enum mxc_last_batch {
    MXC_LAST_PAD = 0,       /* fill it with the first samples of the epoch; pad is their number */
    MXC_LAST_DISCARD = 1,   /* leave it out */
    MXC_LAST_ROLL_OVER = 2, /* start the next epoch with its samples */
    MXC_LAST_WRAP = 3       /* fill it with the first samples of the next epoch, which then starts after them; pad is
                               their number (MXNet's round_batch) */
} mxc_last_batch;

/** Options of mxc_iter_from_arrays. Initialise them with mxc_array_iter_options_init or MXC_ARRAY_ITER_OPTIONS_INIT. */
typedef struct mxc_array_iter_options {
    /* sizeof(mxc_array_iter_options) */
    size_t size;
    /* Number of samples per batch, at least 1. Default 1. */
    int64_t batch_size;
    /* 1: a new random order in each epoch. Default 0: the order of the arrays. */
    int shuffle;
    /* Seed of the order. Default 0. */
    uint64_t seed;
    /* Treatment of an incomplete last batch. Default MXC_LAST_PAD. */
    mxc_last_batch last_batch;
    /* Return only samples [count * part_index / num_parts, count * (part_index + 1) / num_parts). Default 0 of 1. */
    int part_index, num_parts;
} mxc_array_iter_options;
#define MXC_ARRAY_ITER_OPTIONS_INIT \
    { sizeof(mxc_array_iter_options), 1, 0, 0, MXC_LAST_PAD, 0, 1 }
/** Set the defaults, as MXC_ARRAY_ITER_OPTIONS_INIT does; size is sizeof(mxc_array_iter_options), of which no more is
 *  written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_array_iter_options_init(mxc_array_iter_options *options, size_t size);

/**
 * NDArrayIter: batches of rows of arrays in memory, which the iterator retains. The size of axis 0 is the same for all.
 * The arrays must not be written while the iterator exists: it reads them at each next, on another thread if it is
 * prefetched, without waiting for queued writes.
 * @param[null,n=n_data+n_label] names  of data, then of labels; NULL: "data" and "softmax_label", numbered if there are
 *               several
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_from_arrays(const mxc_array_iter_options *options, int n_data,
                                                       mxc_ndarray *const *data, int n_label, mxc_ndarray *const *label,
                                                       const char *const *names, mxc_iter **out);
/** PrefetchingIter: prepares up to depth batches ahead on a thread of its own. It allocates depth + 1 batches of the
 *  shapes that inner describes. Takes ownership of inner unless it fails.
 *  @param[take] inner  the iterator that makes the batches
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_prefetch(mxc_iter *inner, int depth, mxc_iter **out);
/** The same, with batches on another context than cpu(0); copies to a GPU are made ahead, too. MXC_EDEVICE.
 *  @param[take] inner  the iterator that makes the batches
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_prefetch_to(mxc_iter *inner, int depth, mxc_context context, mxc_iter **out);
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_prefetch_on(mxc_iter *inner, int depth, int device_type, int device_id,
                                                       mxc_iter **out);

/**
 * ResizeIter: epochs of a given number of batches, whatever the length of inner's epochs, which repeat if they are
 * shorter. Takes ownership of inner unless it fails.
 * @param[take] inner  the iterator that makes the batches
 * @param restart  1: each epoch starts with a new epoch of inner; 0: it continues where the previous one ended
 * Status: MXC_EINVAL. Restoring a position far into an epoch may try several positions of inner.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_resize(mxc_iter *inner, int64_t batches, int restart, mxc_iter **out);

/** Options of mxc_iter_from_sentences. Initialise them with mxc_bucket_iter_options_init or
 *  MXC_BUCKET_ITER_OPTIONS_INIT. */
typedef struct mxc_bucket_iter_options {
    /* sizeof(mxc_bucket_iter_options) */
    size_t size;
    /* Number of sentences per batch, at least 1. Default 1. */
    int64_t batch_size;
    /* Lengths of the buckets, ascending. Default 0: one for each length that at least batch_size sentences have. */
    int n_buckets;
    const int64_t *buckets;
    /* Value that fills data and label behind the end of a sentence. Default -1. */
    int32_t invalid_label;
    /* Dtype of data and label, MXC_F32 or MXC_I32. Default MXC_F32. */
    mxc_dtype dtype;
    /* 1: batches are (T,N). Default 0: (N,T). */
    int time_major;
    /* 1: new batches in a new order in each epoch. Default 1. */
    int shuffle;
    /* Seed of the order. Default 0. */
    uint64_t seed;
    /* Return only sentences [n * part_index / num_parts, n * (part_index + 1) / num_parts). Default 0 of 1. */
    int part_index, num_parts;
    /* Names of the arrays. Default NULL: "data" and "softmax_label". */
    const char *data_name, *label_name;
} mxc_bucket_iter_options;
#define MXC_BUCKET_ITER_OPTIONS_INIT \
    { sizeof(mxc_bucket_iter_options), 1, 0, NULL, -1, MXC_F32, 0, 1, 0, 0, 1, NULL, NULL }
/** Set the defaults, as MXC_BUCKET_ITER_OPTIONS_INIT does; size is sizeof(mxc_bucket_iter_options), of which no more is
 *  written.
 *  @param[out] options  where the defaults go
 */
MXC_API void mxc_bucket_iter_options_init(mxc_bucket_iter_options *options, size_t size);

/**
 * BucketSentenceIter: batches of sentences of similar length, for models that predict the next token. Sentence i is
 * tokens[offsets[i]] to tokens[offsets[i + 1] - 1]; all are copied. Each sentence goes to the shortest bucket that
 * holds it; longer ones, and those that do not fill a batch, are left out. data is the sentence and label the sentence
 * shifted by one token, both padded with invalid_label. The described shapes are those of the longest bucket;
 * batch.bucket is the length of a batch. Status: MXC_EINVAL, MXC_ENOMEM.
 * @param[n=n+1] offsets  ascending; the last one is the number of tokens
 * @param[n=text] tokens  of all sentences
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_from_sentences(const mxc_bucket_iter_options *options, int64_t n,
                                                          const int64_t *offsets, const int32_t *tokens,
                                                          mxc_iter **out);

/**
 * Read an IDX file (the format of MNIST; plain or .gz) into a new u8, i8, i32, f32 or f64 array.
 * Status: MXC_ENOTFOUND, MXC_EIO, MXC_EFORMAT (file, offset, expectation), MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_idx_load(const char *path, mxc_ndarray **out);

#endif
