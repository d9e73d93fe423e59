/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PrefetchingIter: batches of another iterator, prepared ahead on a thread, on any context.
 *
 * A ring of slots, each with its own arrays: the producer fills the slot after the full ones, the consumer is given the
 * first full one, and the slot that was given last is not refilled before the next call. The producer copies into a
 * slot only when the queued work that still reads it has ended.
 *
 * Invariants: slots head to head + ready - 1 are full, ready <= depth = n_slots - 1, and the slot before head is the
 * consumer's. While the thread runs, inner belongs to it; the consumer touches it only after joining the thread. All
 * fields below `lock` are guarded by it.
 *
 * A batch may be smaller than inner announced: its arrays are then views of the first elements of the slot's.
 *
 * The consumer wakes the producer when half of the ring is free rather than at each batch, since waking a thread takes
 * longer than a small batch.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "io/iter.h"

/* An array of a slot. */
typedef struct slot_array {
    mxc_ndarray *room; /* of the shape that inner announced */
    mxc_ndarray *view; /* of its first elements, where the batch's shape is another; else NULL */
} slot_array;

typedef struct prefetch_slot {
    mxc_ndarray **arrays; /* data, then labels: the view of each slot array, or its room where it has none */
    slot_array *slot_arrays;
    uint64_t *index;
    int64_t index_room;
    mxc_batch batch;
    mxc_iter_state after; /* inner's state once this batch was taken */
} prefetch_slot;

typedef struct prefetch {
    mxc_iter *inner; /* used by the producer only, while it runs */
    mxc_context context;
    int n_data, n_total, depth, n_slots; /* n_slots = depth + 1: one is with the consumer */
    prefetch_slot *slots;
    mxci_thread thread;
    int running;

    mxci_mutex lock;
    mxci_cond changed;
    int head, ready; /* slots head .. head + ready - 1 are full */
    int stop;        /* the producer must end */
    int ended;       /* the producer has seen the epoch's end, after the ready slots */
    mxc_status failure;
    char message[MXC_ERROR_MAX];
    mxc_iter_state seen; /* what the consumer has been given */
} prefetch;

/* An array of a batch must fit into the memory for the shape that inner announced. */
static mxc_status prefetch_check_array(mxc_ndarray *from, mxc_ndarray *room, const char *name) {
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    if (mxc_ndarray_size(from) <= mxc_ndarray_size(room) && mxc_ndarray_dtype(from) == mxc_ndarray_dtype(room))
        return MXC_OK;
    return MXC_FAIL(
        MXC_ESHAPE, "PrefetchingIter: a batch has %s %s of %s, announced was %s of %s", name,
        mxc_shape_format(mxc_ndarray_shape(from), have, sizeof have), mxc_dtype_name(mxc_ndarray_dtype(from)),
        mxc_shape_format(mxc_ndarray_shape(room), want, sizeof want), mxc_dtype_name(mxc_ndarray_dtype(room)));
}

/* Give array i of a slot a shape: that of its memory, or a view of the first elements. */
static mxc_status take_shape(prefetch_slot *s, int i, const mxc_shape *shape) {
    slot_array *p = &s->slot_arrays[i];
    if (mxc_shape_equal(mxc_ndarray_shape(s->arrays[i]), shape))
        return MXC_OK;
    s->arrays[i] = p->room;
    mxc_ndarray_release(p->view);
    p->view = NULL;
    if (mxc_shape_equal(mxc_ndarray_shape(p->room), shape))
        return MXC_OK;
    MXC_TRY(mxc_ndarray_reshape(p->room, shape->ndim, shape->dim, &p->view));
    s->arrays[i] = p->view;
    return MXC_OK;
}

static int is_on_host(const mxc_ndarray *array) {
    return mxc_ndarray_context(array).device != MXC_GPU;
}

/* Copies within the host are made by this thread, others are queued. */
static mxc_status copy_array(mxc_ndarray *from, mxc_ndarray *to) {
    void *source, *target;
    if (!is_on_host(from) || !is_on_host(to))
        return mxc_ndarray_copy_to(from, to, 0);
    MXC_TRY(mxc_ndarray_wait_to_write(to));
    MXC_TRY(mxc_ndarray_data(from, &source));
    MXC_TRY(mxc_ndarray_data(to, &target));
    if (mxc_ndarray_bytes(to) > 0)
        memcpy(target, source, mxc_ndarray_bytes(to));
    return MXC_OK;
}

/* Copy a batch and wait for the copies that are queued, so that a ready batch can be read at once. */
static mxc_status copy_arrays(prefetch *p, prefetch_slot *s, const mxc_batch *batch) {
    for (int i = 0; i < p->n_total; i++) {
        mxc_ndarray *from = i < p->n_data ? batch->data[i] : batch->label[i - p->n_data];
        MXC_TRY(prefetch_check_array(from, s->slot_arrays[i].room, mxc_iter_desc(p->inner, i)->name));
        MXC_TRY(take_shape(s, i, mxc_ndarray_shape(from)));
        MXC_TRY(copy_array(from, s->arrays[i]));
    }
    for (int i = 0; i < p->n_total; i++)
        MXC_TRY(mxc_ndarray_wait_to_read(s->arrays[i]));
    return MXC_OK;
}

static mxc_status keep_index(prefetch_slot *s, const mxc_batch *batch) {
    if (batch->n_index > s->index_room) {
        uint64_t *more = mxci_realloc_array(s->index, (size_t)batch->n_index, sizeof *more);
        if (!more)
            return MXC_FAIL(MXC_ENOMEM, "PrefetchingIter: no memory for %lld indices", (long long)batch->n_index);
        s->index = more;
        s->index_room = batch->n_index;
    }
    if (batch->n_index > 0)
        memcpy(s->index, batch->index, sizeof s->index[0] * (size_t)batch->n_index);
    return MXC_OK;
}

/* Take the next batch of inner into a slot. batch.n_data is 0 at the epoch's end. */
static mxc_status fill_slot(prefetch *p, prefetch_slot *s) {
    mxc_batch batch;
    MXC_TRY(mxc_iter_next(p->inner, &batch));
    int n_label = p->n_total - p->n_data;
    if (batch.n_data > 0 && (batch.n_data != p->n_data || batch.n_label != n_label))
        return MXC_FAIL(MXC_ESHAPE,
                        "PrefetchingIter: a batch has %d data and %d label arrays, announced were %d and %d",
                        batch.n_data, batch.n_label, p->n_data, n_label);
    if (batch.n_data > 0)
        MXC_TRY(copy_arrays(p, s, &batch));
    MXC_TRY(keep_index(s, &batch));
    s->batch = batch;
    s->batch.data = s->arrays;
    s->batch.label = s->arrays + p->n_data;
    s->batch.index = s->index;
    return mxc_iter_get_state(p->inner, &s->after);
}

/* Producer, lock held on entry and exit: fill one slot, or note the end or a failure. */
static void produce_one(prefetch *p) {
    prefetch_slot *s = &p->slots[(p->head + p->ready) % p->n_slots];
    mxci_mutex_unlock(&p->lock);
    mxc_status status = fill_slot(p, s);
    mxci_mutex_lock(&p->lock);
    if (status != MXC_OK) {
        p->failure = status;
        strncpy(p->message, mxc_last_error(), sizeof p->message - 1);
    } else if (s->batch.n_data == 0) {
        p->ended = 1;
    } else {
        p->ready++;
    }
    mxci_cond_broadcast(&p->changed);
}

static void producer(void *arg) {
    prefetch *p = arg;
    mxci_mutex_lock(&p->lock);
    while (!p->stop && !p->ended && p->failure == MXC_OK) {
        if (p->ready < p->depth)
            produce_one(p);
        else
            mxci_cond_wait(&p->changed, &p->lock);
    }
    mxci_mutex_unlock(&p->lock);
}

static void stop_producer(prefetch *p) {
    if (!p->running)
        return;
    mxci_mutex_lock(&p->lock);
    p->stop = 1;
    mxci_cond_broadcast(&p->changed);
    mxci_mutex_unlock(&p->lock);
    mxci_thread_join(p->thread);
    p->running = 0;
}

/* Start from the position of inner, with all slots empty. */
static mxc_status start_producer(prefetch *p) {
    p->head = p->ready = p->stop = p->ended = 0;
    p->failure = MXC_OK;
    MXC_TRY(mxc_iter_get_state(p->inner, &p->seen));
    MXC_TRY(mxci_thread_start(&p->thread, "prefetch", producer, p));
    p->running = 1;
    return MXC_OK;
}

static mxc_status prefetch_next(void *self, mxc_batch *out) {
    prefetch *p = self;
    if (!p->running)
        MXC_TRY(start_producer(p));
    mxci_mutex_lock(&p->lock);
    while (p->ready == 0 && !p->ended && p->failure == MXC_OK)
        mxci_cond_wait(&p->changed, &p->lock);
    mxc_status status = MXC_OK;
    if (p->ready == 0 && p->failure != MXC_OK)
        status = MXC_FAIL(p->failure, "%s", p->message);
    if (p->ready > 0) {
        prefetch_slot *s = &p->slots[p->head];
        *out = s->batch;
        p->seen = s->after;
        p->head = (p->head + 1) % p->n_slots;
        p->ready--;
        if (p->ready <= p->depth / 2)
            mxci_cond_broadcast(&p->changed);
    }
    mxci_mutex_unlock(&p->lock);
    return status;
}

static int prefetch_n_data(void *self) {
    return ((prefetch *)self)->n_data;
}

static int prefetch_n_label(void *self) {
    return ((prefetch *)self)->n_total - ((prefetch *)self)->n_data;
}

static const mxc_data_desc *prefetch_desc(void *self, int index) {
    return mxc_iter_desc(((prefetch *)self)->inner, index);
}

/* Inner may be ahead in the same epoch, so it is first set back to what the consumer has seen. An iterator of a program
 * that cannot go back (MXC_EUNSUPPORTED) is reset from where it is. */
static mxc_status prefetch_reset(void *self) {
    prefetch *p = self;
    stop_producer(p);
    mxc_status status = mxc_iter_set_state(p->inner, &p->seen);
    if (status != MXC_OK && status != MXC_EUNSUPPORTED)
        return status;
    MXC_TRY(mxc_iter_reset(p->inner));
    return start_producer(p);
}

static mxc_status prefetch_get_state(void *self, mxc_iter_state *out) {
    *out = ((prefetch *)self)->seen; /* changed by the consumer's calls only */
    return MXC_OK;
}

static mxc_status prefetch_set_state(void *self, const mxc_iter_state *state) {
    prefetch *p = self;
    mxc_iter_state before = p->seen;
    stop_producer(p);
    mxc_status status = mxc_iter_set_state(p->inner, state);
    if (status == MXC_OK)
        return start_producer(p);
    MXC_IGNORE(mxc_iter_set_state(p->inner, &before)); /* it was valid before; the first failure is the one to report */
    return status;
}

/* Everything but inner, which the caller keeps if creating the iterator fails. */
static void prefetch_free(prefetch *p) {
    for (int i = 0; p->slots && i < p->n_slots; i++) {
        prefetch_slot *s = &p->slots[i];
        for (int k = 0; s->slot_arrays && k < p->n_total; k++) {
            mxc_ndarray_release(s->slot_arrays[k].view);
            mxc_ndarray_release(s->slot_arrays[k].room);
        }
        mxci_free(s->slot_arrays);
        mxci_free(s->arrays);
        mxci_free(s->index);
    }
    mxci_free(p->slots);
    mxci_cond_destroy(&p->changed);
    mxci_mutex_destroy(&p->lock);
    mxci_free(p);
}

static void prefetch_destroy(void *self) {
    prefetch *p = self;
    stop_producer(p);
    mxc_iter_destroy(p->inner);
    prefetch_free(p);
}

static const mxc_iter_methods prefetch_methods = {
    .size = sizeof prefetch_methods,
    .n_data = prefetch_n_data,
    .n_label = prefetch_n_label,
    .desc = prefetch_desc,
    .next = prefetch_next,
    .reset = prefetch_reset,
    .get_state = prefetch_get_state,
    .set_state = prefetch_set_state,
    .destroy = prefetch_destroy,
};

static mxc_status make_slot(prefetch *p, prefetch_slot *s) {
    s->arrays = mxci_calloc((size_t)p->n_total, sizeof *s->arrays);
    s->slot_arrays = mxci_calloc((size_t)p->n_total, sizeof *s->slot_arrays);
    if (!s->arrays || !s->slot_arrays)
        return MXC_FAIL(MXC_ENOMEM, "PrefetchingIter: no memory for a batch");
    for (int i = 0; i < p->n_total; i++) {
        const mxc_data_desc *desc = mxc_iter_desc(p->inner, i);
        MXC_TRY(
            mxc_ndarray_create(desc->shape.ndim, desc->shape.dim, desc->dtype, p->context, &s->slot_arrays[i].room));
        s->arrays[i] = s->slot_arrays[i].room;
    }
    return MXC_OK;
}

mxc_status mxc_iter_prefetch_to(mxc_iter *inner, int depth, mxc_context context, mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(inner));
    if (!inner || depth < 1 || depth > 1024)
        return MXC_FAIL(MXC_EINVAL, "PrefetchingIter: inner is NULL or depth %d is not 1 to 1024", depth);
    if (mxc_iter_n_data(inner) < 1 || mxc_iter_desc(inner, 0)->shape.ndim < 1)
        return MXC_FAIL(MXC_ESHAPE, "PrefetchingIter: inner has no data array with a batch axis");
    prefetch *p = mxci_calloc(1, sizeof *p);
    if (!p)
        return MXC_FAIL(MXC_ENOMEM, "PrefetchingIter: no memory for the iterator");
    mxci_mutex_init(&p->lock);
    mxci_cond_init(&p->changed);
    p->inner = inner;
    p->context = context;
    p->n_data = mxc_iter_n_data(inner);
    p->n_total = p->n_data + mxc_iter_n_label(inner);
    p->depth = depth;
    p->n_slots = depth + 1;
    p->slots = mxci_calloc((size_t)p->n_slots, sizeof *p->slots);
    mxc_status status =
        p->slots ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "PrefetchingIter: no memory for %d batches", p->n_slots);
    for (int i = 0; i < p->n_slots && status == MXC_OK; i++)
        status = make_slot(p, &p->slots[i]);
    if (status == MXC_OK)
        status = mxc_iter_get_state(p->inner, &p->seen);
    if (status == MXC_OK)
        status = mxc_iter_from_methods(&prefetch_methods, p, out);
    if (status != MXC_OK)
        prefetch_free(p);
    return status;
}

mxc_status mxc_iter_prefetch(mxc_iter *inner, int depth, mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(inner));
    return mxc_iter_prefetch_to(inner, depth, mxc_cpu(0), out);
}

mxc_status mxci_iter_prefetched(mxc_iter *inner, int64_t depth, mxc_iter **out) {
    if (depth == 0) {
        *out = inner;
        return MXC_OK;
    }
    mxc_status status = mxc_iter_prefetch(inner, (int)depth, out);
    if (status != MXC_OK)
        mxc_iter_destroy(inner);
    return status;
}

mxc_status mxc_iter_prefetch_on(mxc_iter *inner, int depth, int device_type, int device_id, mxc_iter **out) {
    return mxc_iter_prefetch_to(inner, depth, (mxc_context){device_type, device_id}, out);
}
