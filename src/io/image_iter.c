/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of images: samples of a source, decoded and augmented by threads ahead of the consumer.
 *
 * The batches of all epochs form one sequence, numbered from where the iterator was last positioned. A ring of slots
 * holds the batches from number `released` on. A thread takes a few rows of the batch that was opened last; if all of
 * its rows are taken and a slot is free, it opens the next one, in the next epoch at the end of this one. What a row
 * holds is a function of epoch, position and seeds only, so neither the number of threads nor their timing changes a
 * byte.
 *
 * Invariants: released <= given <= opened <= released + n_slots. Only the batch opened last has rows that are not
 * taken. A slot is filled by threads from SLOT_FILLING until `left` is 0, and then read by the consumer only. All
 * fields below `lock` are guarded by it.
 */
#include <stdio.h>
#include <string.h>

#include <mxc/recordio.h>

#include "base/log.h"
#include "base/size.h"
#include "base/sys.h"
#include "io/augment.h"
#include "io/image_source.h"
#include "io/iter.h"

enum { DATA, LABEL, ARRAYS };
enum { MAX_ROWS = 8 }; /* taken by a thread at a time */

typedef enum slot_state { SLOT_OPENING, SLOT_FILLING, SLOT_DONE } slot_state;

/* A failure or a bad sample, and its row; of several, that of the first row is kept. */
typedef struct row_error {
    mxc_status status;
    int64_t row;
    char message[MXC_ERROR_MAX];
} row_error;

/* One batch. */
typedef struct batch_slot {
    mxc_ndarray *array[ARRAYS];
    uint64_t *index;
    char *data, *label; /* of the arrays */
    mxc_iter_state at;
    slot_state state;
    int64_t taken, left; /* rows: taken by threads, and not finished */
    row_error failure, bad;
    int64_t n_bad;
} batch_slot;

typedef struct image_iter image_iter;

typedef struct worker {
    image_iter *it;
    mxci_thread thread;
    void *cursor;
    mxci_augment_workspace space;
    mxci_image_sample sample;
    float *labels;          /* of a sample with objects */
    row_error failure, bad; /* of the rows that are being made */
    int64_t n_bad;
} worker;

struct image_iter {
    const char *owner;
    mxci_image_params params;
    mxci_augment augment;
    int detects;
    mxci_augment_detection_params detect;
    mxci_image_source source;
    int owns_source;
    int64_t count, batch; /* samples; rows of a batch */
    uint64_t seed_aug;
    mxci_chunk_shuffle chunks; /* size 0: all samples are shuffled */
    mxc_data_desc desc[ARRAYS];
    size_t row_bytes;
    int n_slots, n_workers, n_running;
    batch_slot *slots;
    worker *workers;

    mxci_mutex lock;
    mxci_cond work, done;            /* for the threads, and for the consumer */
    int64_t released, given, opened; /* batch numbers */
    mxc_iter_state next, seen;       /* of the batch to open; of the consumer */
    int active, paused, stop;
    int64_t n_bad; /* of the consumer's epoch, so far */
    char bad_message[MXC_ERROR_MAX];
};

/* ---- positions --------------------------------------------------------------------------------------------------- */

/* Are rows of the last batch taken from the next epoch? Needs at least one batch of samples. */
static int wraps(const image_iter *it) {
    return it->params.round_batch && it->count >= it->batch;
}

/* With round_batch an epoch begins behind the samples that filled up the previous one. All batches so far were full
 * then, so the number of these samples is -(epoch * count) mod batch. */
static int64_t first_position(const image_iter *it, uint64_t epoch) {
    uint64_t size = (uint64_t)it->batch;
    return wraps(it) ? (int64_t)((size - epoch % size * ((uint64_t)it->count % size) % size) % size) : 0;
}

static int64_t batches_in(const image_iter *it, uint64_t epoch) {
    return (it->count - first_position(it, epoch) + it->batch - 1) / it->batch;
}

/* Position of a row in the order of its epoch: *epoch, or the next one for rows that fill up the last batch. */
static int64_t position_of(const image_iter *it, const mxc_iter_state *at, int64_t row, uint64_t *epoch) {
    int64_t position = first_position(it, at->epoch) + at->position * it->batch + row;
    *epoch = at->epoch;
    if (position < it->count || !wraps(it))
        return position % it->count;
    *epoch += 1;
    return position - it->count;
}

static int64_t sample_at(const image_iter *it, uint64_t epoch, int64_t position) {
    if (!it->params.shuffle)
        return position;
    return it->chunks.size ? mxci_chunk_shuffled_sample(&it->chunks, epoch, it->count, position)
                           : mxci_shuffled_sample((uint64_t)it->params.seed, epoch, it->count, position);
}

/* The end of an epoch is the beginning of the next one. */
static mxc_iter_state normalize_state(const image_iter *it, mxc_iter_state at) {
    if (at.position < batches_in(it, at.epoch))
        return at;
    return (mxc_iter_state){at.epoch + 1, 0};
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

/* Read, draw, decode and augment sample `number` for a row. The generator depends on the sample and the epoch only.
 * With detection the labels of the row are written by the drawing, as they are augmented too. */
static mxc_status make_sample(worker *w, batch_slot *s, int64_t row, uint64_t epoch, int64_t number) {
    const image_iter *it = w->it;
    mxci_sample_rng rng = {it->seed_aug, (uint64_t)it->params.part_index << 36 | (uint64_t)number, epoch, 0};
    mxci_image_sample *sample = &w->sample;
    float *labels = (float *)(void *)s->label + row * it->params.label_width;
    mxci_image image;
    mxci_augment_steps steps;
    MXC_TRY(it->source.read(it->source.self, w->cursor, number, sample, it->detects ? w->labels : labels));
    s->index[row] = sample->id;
    MXC_TRY(mxci_image_probe(sample->source_name, sample->bytes, sample->n, it->params.max_pixels, &image));
    if (it->params.exif_orientation)
        mxci_image_orient(&image);
    if (it->detects)
        MXC_TRY(mxci_augment_detection_draw(&it->augment, &it->detect, sample->source_name, &rng, image.full_height,
                                            image.full_width, w->labels, sample->n_labels, &steps, labels));
    else
        MXC_TRY(
            mxci_augment_draw(&it->augment, sample->source_name, &rng, image.full_height, image.full_width, &steps));
    return mxci_augment_apply(&it->augment, &steps, &image, &w->space, s->data + (size_t)row * it->row_bytes);
}

/* Keep the error of the first row, whichever thread reports it first. */
static void record_row_error(row_error *t, mxc_status status, int64_t row, const char *message) {
    if (t->status != MXC_OK && t->row <= row)
        return;
    t->status = status;
    t->row = row;
    snprintf(t->message, sizeof t->message, "%s", message);
}

/* The sample of a row or, if bad samples are skipped, the next good one in the order of the epoch. */
static mxc_status make_row(worker *w, batch_slot *s, int64_t row) {
    const image_iter *it = w->it;
    uint64_t epoch;
    int64_t position = position_of(it, &s->at, row, &epoch);
    for (int64_t i = 0; i < it->count; i++) {
        mxc_status status = make_sample(w, s, row, epoch, sample_at(it, epoch, (position + i) % it->count));
        int is_bad = status == MXC_EFORMAT || status == MXC_EUNSUPPORTED || status == MXC_ENOTFOUND;
        if (!is_bad || it->params.bad_data == MXC_BAD_ERROR)
            return status;
        if (i == 0) {
            record_row_error(&w->bad, status, row, mxc_last_error());
            w->n_bad++;
        }
    }
    return MXC_FAIL(MXC_EFORMAT, "%s: none of %lld samples can be read; one of them: %s", it->owner,
                    (long long)it->count, w->bad.message);
}

static void make_rows(worker *w, batch_slot *s, int64_t begin, int64_t end) {
    w->failure.status = w->bad.status = MXC_OK;
    w->n_bad = 0;
    for (int64_t row = begin; row < end && w->failure.status == MXC_OK; row++) {
        mxc_status status = make_row(w, s, row);
        if (status != MXC_OK)
            record_row_error(&w->failure, status, row, mxc_last_error());
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static batch_slot *slot_of_batch(image_iter *it, int64_t number) {
    return &it->slots[number % it->n_slots];
}

/* Wait until all queued work that reads the arrays has ended. */
static mxc_status wait_for_arrays(batch_slot *s) {
    void *data[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        MXC_TRY(mxc_ndarray_wait_to_write(s->array[i]));
        MXC_TRY(mxc_ndarray_data(s->array[i], &data[i]));
    }
    s->data = data[DATA];
    s->label = data[LABEL];
    return MXC_OK;
}

/* Lock held on entry and exit. */
static void open_slot(image_iter *it) {
    batch_slot *s = slot_of_batch(it, it->opened++);
    s->at = it->next;
    s->state = SLOT_OPENING;
    s->failure.status = s->bad.status = MXC_OK;
    s->n_bad = s->taken = 0;
    s->left = it->batch;
    it->next.position++;
    it->next = normalize_state(it, it->next);
    it->active++;
    mxci_mutex_unlock(&it->lock);
    mxc_status status = wait_for_arrays(s);
    mxci_mutex_lock(&it->lock);
    it->active--;
    s->state = status == MXC_OK ? SLOT_FILLING : SLOT_DONE;
    if (status != MXC_OK)
        record_row_error(&s->failure, status, 0, mxc_last_error());
    mxci_cond_broadcast(&it->done);
    mxci_cond_broadcast(&it->work);
}

/* Lock held. The slot with rows that are not taken; NULL if there is nothing to do now. */
static batch_slot *find_work(image_iter *it) {
    while (!it->stop && !it->paused) {
        batch_slot *last = it->opened > it->released ? slot_of_batch(it, it->opened - 1) : NULL;
        if (last && last->state == SLOT_FILLING && last->taken < it->batch)
            return last;
        if ((last && last->state == SLOT_OPENING) || it->opened - it->released >= it->n_slots)
            return NULL;
        open_slot(it);
    }
    return NULL;
}

/* Lock held on entry and exit. */
static void make_taken_rows(worker *w, batch_slot *s) {
    image_iter *it = w->it;
    int64_t rows = it->batch / (4 * it->n_workers); /* about four takes per thread and batch */
    rows = rows < 1 ? 1 : rows > MAX_ROWS ? MAX_ROWS : rows;
    int64_t begin = s->taken, end = begin + rows < it->batch ? begin + rows : it->batch;
    s->taken = end;
    it->active++;
    mxci_mutex_unlock(&it->lock);
    make_rows(w, s, begin, end);
    mxci_mutex_lock(&it->lock);
    it->active--;
    if (w->failure.status != MXC_OK)
        record_row_error(&s->failure, w->failure.status, w->failure.row, w->failure.message);
    if (w->bad.status != MXC_OK)
        record_row_error(&s->bad, w->bad.status, w->bad.row, w->bad.message);
    s->n_bad += w->n_bad;
    s->left -= end - begin;
    if (s->left == 0)
        s->state = SLOT_DONE;
    if (s->left == 0 || it->paused)
        mxci_cond_broadcast(&it->done);
}

static void worker_thread(void *arg) {
    worker *w = arg;
    image_iter *it = w->it;
    mxci_mutex_lock(&it->lock);
    while (!it->stop) {
        batch_slot *s = find_work(it);
        if (s)
            make_taken_rows(w, s);
        else if (!it->stop)
            mxci_cond_wait(&it->work, &it->lock);
    }
    mxci_mutex_unlock(&it->lock);
}

static mxc_status start_threads(image_iter *it) {
    for (; it->n_running < it->n_workers; it->n_running++) {
        worker *w = &it->workers[it->n_running];
        if (!w->cursor)
            MXC_TRY(it->source.open(it->source.self, &w->cursor));
        MXC_TRY(mxci_thread_start(&w->thread, "decode", worker_thread, w));
    }
    return MXC_OK;
}

static void stop_threads(image_iter *it) {
    mxci_mutex_lock(&it->lock);
    it->stop = 1;
    mxci_cond_broadcast(&it->work);
    mxci_mutex_unlock(&it->lock);
    for (; it->n_running > 0; it->n_running--)
        mxci_thread_join(it->workers[it->n_running - 1].thread);
}

/* ---- consumer ---------------------------------------------------------------------------------------------------- */

/* Drop all batches and restart from a state. */
static void restart_at(image_iter *it, mxc_iter_state at) {
    mxci_mutex_lock(&it->lock);
    it->paused = 1;
    while (it->active > 0)
        mxci_cond_wait(&it->done, &it->lock);
    it->released = it->given = it->opened = 0;
    it->n_bad = 0;
    it->seen = at;
    it->next = normalize_state(it, at);
    it->paused = 0;
    mxci_cond_broadcast(&it->work);
    mxci_mutex_unlock(&it->lock);
}

/* Once for each epoch that had any. */
static void log_bad(image_iter *it) {
    if (it->n_bad > 0)
        mxci_log(MXC_LOG_WARNING, "%s: epoch %llu: %lld bad samples replaced by others; the first: %s", it->owner,
                 (unsigned long long)it->seen.epoch, (long long)it->n_bad, it->bad_message);
    it->n_bad = 0;
}

/* Lock held. Release the batch given last and wait for the next one. Threads are woken when half of the ring is free,
 * since waking them takes longer than a small batch. */
static mxc_status take_batch(image_iter *it, mxc_batch *out) {
    batch_slot *s = slot_of_batch(it, it->given);
    it->released = it->given; /* the slot given last */
    if (it->opened - it->released <= it->n_slots / 2)
        mxci_cond_broadcast(&it->work);
    while (it->opened <= it->given || s->state != SLOT_DONE)
        mxci_cond_wait(&it->done, &it->lock);
    if (s->failure.status != MXC_OK)
        return MXC_FAIL(s->failure.status, "%s", s->failure.message);
    if (it->n_bad == 0 && s->n_bad > 0)
        memcpy(it->bad_message, s->bad.message, sizeof it->bad_message);
    it->n_bad += s->n_bad;
    int64_t end = first_position(it, s->at.epoch) + (s->at.position + 1) * it->batch;
    out->n_data = out->n_label = 1;
    out->data = &s->array[DATA];
    out->label = &s->array[LABEL];
    out->pad = end > it->count ? end - it->count : 0;
    out->n_index = it->batch;
    out->index = s->index;
    out->n_bad = s->n_bad;
    it->given++;
    it->seen.position++;
    return MXC_OK;
}

static mxc_status image_next(void *self, mxc_batch *out) {
    image_iter *it = self;
    if (it->seen.position >= batches_in(it, it->seen.epoch)) {
        log_bad(it);
        return MXC_OK;
    }
    if (it->n_running < it->n_workers)
        MXC_TRY(start_threads(it));
    mxci_mutex_lock(&it->lock);
    mxc_status status = take_batch(it, out);
    mxci_mutex_unlock(&it->lock);
    return status;
}

/* If this epoch was read to its end, batches of the next one are already prepared and are kept. */
static mxc_status image_reset(void *self) {
    image_iter *it = self;
    mxc_iter_state next = {it->seen.epoch + 1, 0};
    log_bad(it);
    if (it->seen.position >= batches_in(it, it->seen.epoch))
        it->seen = next;
    else
        restart_at(it, next);
    return MXC_OK;
}

static mxc_status image_get_state(void *self, mxc_iter_state *out) {
    *out = ((image_iter *)self)->seen;
    return MXC_OK;
}

static mxc_status image_set_state(void *self, const mxc_iter_state *state) {
    image_iter *it = self;
    int64_t limit = batches_in(it, state->epoch);
    if (state->position < 0 || state->position > limit)
        return MXC_FAIL(MXC_EINVAL, "mxc_iter_set_state: position %lld, expected 0 to %lld batches",
                        (long long)state->position, (long long)limit);
    restart_at(it, *state);
    return MXC_OK;
}

static int image_n_data(void *self) {
    (void)self;
    return 1;
}

static int image_n_label(void *self) {
    (void)self;
    return 1;
}

static const mxc_data_desc *image_desc(void *self, int index) {
    return &((image_iter *)self)->desc[index];
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static void image_destroy(void *self) {
    image_iter *it = self;
    stop_threads(it);
    for (int i = 0; it->workers && i < it->n_workers; i++) {
        it->source.close(it->workers[i].cursor);
        mxci_augment_workspace_free(&it->workers[i].space);
        mxci_free(it->workers[i].labels);
    }
    for (int i = 0; it->slots && i < it->n_slots; i++) {
        for (int k = 0; k < ARRAYS; k++)
            mxc_ndarray_release(it->slots[i].array[k]);
        mxci_free(it->slots[i].index);
    }
    if (it->owns_source)
        it->source.destroy(it->source.self);
    mxci_augment_destroy(&it->augment);
    mxci_cond_destroy(&it->work);
    mxci_cond_destroy(&it->done);
    mxci_mutex_destroy(&it->lock);
    mxci_free(it->workers);
    mxci_free(it->slots);
    mxci_free(it);
}

static const mxc_iter_methods image_methods = {
    .size = sizeof image_methods,
    .n_data = image_n_data,
    .n_label = image_n_label,
    .desc = image_desc,
    .next = image_next,
    .reset = image_reset,
    .get_state = image_get_state,
    .set_state = image_set_state,
    .destroy = image_destroy,
};

/* Compute the mean image if mean_img names a file that does not exist. */
static mxc_status ensure_mean(const image_iter *it) {
    mxci_file *file = NULL;
    if (!it->params.mean_img[0])
        return MXC_OK;
    mxc_status status = mxci_file_open(it->params.mean_img, &file);
    mxci_file_close(file);
    if (status != MXC_ENOTFOUND)
        return status;
    return mxci_image_mean_create(it->owner, &it->params, it->detects ? &it->detect : NULL, &it->source);
}

/* Chunks of as many samples as shuffle_chunk_size megabytes of the files hold on average. */
static void choose_chunks(image_iter *it) {
    double share = (double)it->params.shuffle_chunk_size * 0x1p20 / (double)it->source.bytes;
    if (it->params.shuffle_chunk_size == 0 || it->source.bytes == 0 || share >= 1)
        return;
    int64_t size = (int64_t)(share * (double)it->count);
    it->chunks =
        (mxci_chunk_shuffle){(uint64_t)it->params.seed, (uint64_t)it->params.shuffle_chunk_seed, size > 1 ? size : 1};
}

/* Shapes of the arrays of a batch: data (B,C,H,W) or (B,H,W,C), labels (B,) or (B,label_width). */
static void image_iter_describe(image_iter *it) {
    const mxci_augment *a = &it->augment;
    mxc_shape planes = {4, {it->batch, a->channels, a->height, a->width}};
    mxc_shape pixels = {4, {it->batch, a->height, a->width, a->channels}};
    mxc_shape labels = {it->params.label_width == 1 ? 1 : 2, {it->batch, it->params.label_width}};
    it->desc[DATA] = (mxc_data_desc){"data", it->params.layout == MXCI_LAYOUT_NHWC ? pixels : planes, a->dtype};
    it->desc[LABEL] = (mxc_data_desc){it->detects ? "label" : "softmax_label", labels, MXC_F32};
    it->row_bytes = mxci_size_of(mxci_shape_count(&planes, 1, 4), mxc_dtype_size(a->dtype));
}

static mxc_status make_slot(image_iter *it, batch_slot *s) {
    for (int i = 0; i < ARRAYS; i++) {
        const mxc_data_desc *d = &it->desc[i];
        MXC_TRY(mxc_ndarray_create(d->shape.ndim, d->shape.dim, d->dtype, mxc_cpu(0), &s->array[i]));
    }
    s->index = mxci_calloc((size_t)it->batch, sizeof *s->index);
    return s->index ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "%s: no memory for a batch", it->owner);
}

static mxc_status make_worker(image_iter *it, worker *w) {
    w->it = it;
    if (it->detects)
        w->labels = mxci_calloc((size_t)it->params.label_width, sizeof *w->labels);
    return !it->detects || w->labels ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "%s: no memory for labels", it->owner);
}

static mxc_status image_iter_init(image_iter *it) {
    int cpus = mxci_cpu_count();
    if (it->count == 0)
        return MXC_FAIL(MXC_EINVAL, "%s: there are no samples, or none in this part", it->owner);
    MXC_TRY(ensure_mean(it));
    MXC_TRY(mxci_augment_create(it->owner, &it->params, &it->augment));
    choose_chunks(it);
    image_iter_describe(it);
    it->n_workers = it->params.preprocess_threads < cpus ? (int)it->params.preprocess_threads : cpus;
    it->n_slots = (int)it->params.prefetch_buffer + 1;
    it->slots = mxci_calloc((size_t)it->n_slots, sizeof *it->slots);
    it->workers = mxci_calloc((size_t)it->n_workers, sizeof *it->workers);
    if (!it->slots || !it->workers)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %d batches and %d threads", it->owner, it->n_slots,
                        it->n_workers);
    for (int i = 0; i < it->n_workers; i++)
        MXC_TRY(make_worker(it, &it->workers[i]));
    for (int i = 0; i < it->n_slots; i++)
        MXC_TRY(make_slot(it, &it->slots[i]));
    return MXC_OK;
}

mxc_status mxci_image_source_part(const char *owner, const mxci_image_params *p, int64_t n, int64_t *first,
                                  int64_t *count) {
    if (p->part_index >= p->num_parts)
        return MXC_FAIL(MXC_EINVAL, "%s: part_index %lld of num_parts %lld, expected 0 <= part_index < num_parts",
                        owner, (long long)p->part_index, (long long)p->num_parts);
    *first = mxci_sample_part_begin(n, p->part_index, p->num_parts);
    *count = mxci_sample_part_begin(n, p->part_index + 1, p->num_parts) - *first;
    return MXC_OK;
}

mxc_status mxci_image_iter_create(const char *owner, const mxci_image_params *params,
                                  const mxci_augment_detection_params *detect, const mxci_image_source *source,
                                  mxc_iter **out) {
    *out = NULL;
    image_iter *it = mxci_calloc(1, sizeof *it);
    if (!it)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the iterator", owner);
    it->owner = owner;
    it->params = *params;
    it->detects = detect != NULL;
    if (detect)
        it->detect = *detect;
    it->source = *source;
    it->count = source->n;
    it->batch = params->batch_size;
    it->seed_aug = (uint64_t)(params->seed_aug == MXC_PARAM_UNSET ? params->seed : params->seed_aug);
    mxci_mutex_init(&it->lock);
    mxci_cond_init(&it->work);
    mxci_cond_init(&it->done);
    mxc_status status = image_iter_init(it);
    if (status == MXC_OK)
        status = mxc_iter_from_methods(&image_methods, it, out);
    if (status != MXC_OK)
        image_destroy(it);
    else
        it->owns_source = 1;
    return status;
}
