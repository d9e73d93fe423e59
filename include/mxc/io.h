/*
 * Data iterators: batches of arrays, epoch after epoch.
 *
 * An iterator is one object behind one interface, whatever feeds it. Calls on one iterator must not overlap; different
 * iterators are independent. Order and augmentation depend on the seed and the epoch's number only, so an iterator can
 * be put back to where it stood. A process that forks must not use, in the child, an iterator that prefetches.
 */
#ifndef MXC_IO_H
#define MXC_IO_H

#include <mxc/ndarray.h>
#include <mxc/param.h>

typedef struct mxc_iter mxc_iter;

/** What one array of each batch is: name as the network's argument, shape with the batch axis first. */
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
    int64_t pad;           /* of the last rows, how many only fill the batch up */
    int64_t n_index;       /* 0 or the batch size */
    const uint64_t *index; /* which sample each row is */
    int64_t n_bad;         /* rows with another sample than their own, which could not be read and was to be skipped */
    int64_t bucket;        /* length of the batch's sequences where batches differ in it; else 0 */
} mxc_batch;

/** Where an iterator stands. */
typedef struct mxc_iter_state {
    uint64_t epoch;   /* epochs ended or left so far */
    int64_t position; /* batches given in this epoch */
} mxc_iter_state;

/** The methods of an iterator, for programs that write their own. All are given self; none may be NULL. */
typedef struct mxc_iter_methods {
    size_t size; /* sizeof(mxc_iter_methods) */
    int (*n_data)(void *self);
    int (*n_label)(void *self);
    const mxc_data_desc *(*desc)(void *self, int index); /* data first, then labels; borrowed for the iterator's life */
    /* Next batch; out->n_data 0 at the epoch's end (asked again it says so again). */
    mxc_status (*next)(void *self, mxc_batch *out);
    mxc_status (*reset)(void *self); /* to the start of the next epoch */
    mxc_status (*get_state)(void *self, mxc_iter_state *out);
    mxc_status (*set_state)(void *self, const mxc_iter_state *state);
    void (*destroy)(void *self);
} mxc_iter_methods;

/** An iterator by name and parameters, e.g. "MNISTIter". MXC_ENOTFOUND (lists the names), MXC_EINVAL, and errors of its
 *  files. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_create(const char *name, int n_params, const char *const *keys,
                                                  const char *const *values, mxc_iter **out);
/** An iterator of the program's own; methods must outlive it, self is destroyed with it (not if this call fails). */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_from_methods(const mxc_iter_methods *methods, void *self, mxc_iter **out);
MXC_API void mxc_iter_destroy(mxc_iter *iter); /* NULL is fine; may wait for its threads */
MXC_API int mxc_iter_n_data(mxc_iter *iter);
MXC_API int mxc_iter_n_label(mxc_iter *iter);
/** Data first, then labels; NULL past the end. */
MXC_API const mxc_data_desc *mxc_iter_desc(mxc_iter *iter, int index);
/** Next batch into out; out->n_data is 0 at the end of the epoch. May block on files, and on queued work that still
 *  reads the arrays of an earlier batch. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_next(mxc_iter *iter, mxc_batch *out);
/** Go to the start of the next epoch. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_reset(mxc_iter *iter);
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_get_state(mxc_iter *iter, mxc_iter_state *out);
/** Continue where a state was taken: the following batches are the same bit for bit. MXC_EINVAL (no such position). */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_set_state(mxc_iter *iter, const mxc_iter_state *state);
/** Registered iterators: name at index (NULL past the end), and documentation made from the schema (free with
 *  mxc_free). */
MXC_API const char *mxc_iter_name_at(int index);
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_describe(const char *name, char **out);

/** What to do with a last batch that is not full. */
typedef enum mxc_last_batch {
    MXC_LAST_PAD = 0,       /* fill it with the first samples of the epoch; pad says how many */
    MXC_LAST_DISCARD = 1,   /* leave it out */
    MXC_LAST_ROLL_OVER = 2, /* begin the next epoch with its samples */
    MXC_LAST_WRAP = 3       /* fill it with the first samples of the next epoch, which then begins behind them; pad says
                               how many: MXNet's round_batch */
} mxc_last_batch;

typedef struct mxc_array_iter_options {
    size_t size; /* sizeof(mxc_array_iter_options) */
    int64_t batch_size;
    int shuffle; /* a new order each epoch, from the seed */
    uint64_t seed;
    mxc_last_batch last_batch;
    int part_index, num_parts; /* give only samples [count*part/parts, count*(part+1)/parts) */
} mxc_array_iter_options;
#define MXC_ARRAY_ITER_OPTIONS_INIT \
    { sizeof(mxc_array_iter_options), 1, 0, 0, MXC_LAST_PAD, 0, 1 }

/** NDArrayIter: batches of rows of arrays in memory (retained). names: data first, then labels; NULL: "data",
 *  "softmax_label", numbered if there are several. All arrays have the same axis 0. They must not be written while the
 *  iterator exists: it reads them at each next, on another thread where it is prefetched, without asking the engine. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_from_arrays(const mxc_array_iter_options *options, int n_data,
                                                       mxc_ndarray *const *data, int n_label, mxc_ndarray *const *label,
                                                       const char *const *names, mxc_iter **out);
/** PrefetchingIter: depth batches, never more, are prepared ahead on a thread of its own. It has memory for depth + 1
 *  of the shapes that inner announced. Takes over inner (not if it fails). */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_prefetch(mxc_iter *inner, int depth, mxc_iter **out);
/** The same with batches on another context than cpu(0): a GPU's are copied there ahead, too. MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_prefetch_to(mxc_iter *inner, int depth, mxc_context context, mxc_iter **out);

/** ResizeIter: epochs of so many batches, whatever inner's are: shorter ones are gone through again. restart 1: each
 *  epoch begins with a new one of inner; 0: it goes on where the one before ended. Takes over inner (not if it fails).
 *  MXC_EINVAL. To go to a state far into an epoch, inner is asked for several positions. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_resize(mxc_iter *inner, int64_t batches, int restart, mxc_iter **out);

typedef struct mxc_bucket_iter_options {
    size_t size; /* sizeof(mxc_bucket_iter_options) */
    int64_t batch_size;
    int n_buckets;          /* 0: a bucket for each length that at least batch_size sentences have */
    const int64_t *buckets; /* lengths, ascending */
    int32_t invalid_label;  /* fills up data and label */
    mxc_dtype dtype;        /* MXC_F32 or MXC_I32 */
    int time_major;         /* batches are (T,N), not (N,T) */
    int shuffle;            /* new batches in a new order each epoch, from the seed */
    uint64_t seed;
    int part_index, num_parts;          /* give only sentences [n*part/parts, n*(part+1)/parts) */
    const char *data_name, *label_name; /* NULL: "data", "softmax_label" */
} mxc_bucket_iter_options;
#define MXC_BUCKET_ITER_OPTIONS_INIT \
    { sizeof(mxc_bucket_iter_options), 1, 0, NULL, -1, MXC_F32, 0, 1, 0, 0, 1, NULL, NULL }

/** BucketSentenceIter: batches of sentences of like length, for models that learn to predict the next token. Sentence i
 *  is tokens[offsets[i]] to tokens[offsets[i + 1] - 1]; all are copied. Each goes to the shortest bucket that holds it,
 *  longer ones are left out, and so is what does not fill a batch. data is the sentence, label the same one place
 *  ahead, both filled up with invalid_label. The shapes announced are those of the longest bucket, batch.bucket tells
 *  that of a batch. MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_iter_from_sentences(const mxc_bucket_iter_options *options, int64_t n,
                                                          const int64_t *offsets, const int32_t *tokens,
                                                          mxc_iter **out);

/**
 * Read an IDX file (the format of MNIST; plain or .gz) into a new u8, i8, i32, f32 or f64 array.
 * Status: MXC_ENOTFOUND, MXC_EIO, MXC_EFORMAT (file, offset, expectation), MXC_ENOMEM.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_idx_load(const char *path, mxc_ndarray **out);

#endif
