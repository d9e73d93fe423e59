/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResizeIter: epochs of a given number of batches over the batches of another iterator.
 *
 * The state must follow from (epoch, position) alone. With restart, epoch e begins at inner's epoch e * batches, which
 * no earlier epoch can have reached. Without, epoch e is batches e * batches to (e + 1) * batches - 1 of the sequence
 * of all of inner's epochs. The length of inner's epochs is found by a search for the first position that inner
 * refuses.
 */
#include "base/error.h"
#include "base/sys.h"
#include "io/iter.h"

typedef struct resize_iter {
    mxc_iter *inner;
    int64_t batches;
    int restart;
    mxc_iter_state state;
} resize_iter;

/* Set the state of inner; *out is 0 if it has no such position. */
static mxc_status try_position(mxc_iter *inner, uint64_t epoch, int64_t position, int *out) {
    const mxc_iter_state at = {epoch, position};
    mxc_status status = mxc_iter_set_state(inner, &at);
    *out = status == MXC_OK;
    return status == MXC_EINVAL ? MXC_OK : status;
}

/* The number of batches of an epoch of inner, which is less than limit, by bisection. guess: tried first, the length of
 * the previous epoch. */
static mxc_status epoch_length(mxc_iter *inner, uint64_t epoch, int64_t limit, int64_t guess, int64_t *out) {
    int64_t low = 0, high = limit; /* low is a position, high is none */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (guess > low && guess < high)
            middle = guess;
        else if (guess == low && guess + 1 < high) /* the guess is a position: is it the last one? */
            middle = guess + 1;
        int is_there;
        MXC_TRY(try_position(inner, epoch, middle, &is_there));
        low = is_there ? middle : low;
        high = is_there ? high : middle;
    }
    *out = low;
    return MXC_OK;
}

/* Set inner to position batches behind the beginning of an epoch, in that epoch or a later one. */
static mxc_status go_to(mxc_iter *inner, uint64_t epoch, int64_t position) {
    for (int64_t length = 0;; epoch++, position -= length) {
        int is_there;
        MXC_TRY(try_position(inner, epoch, position, &is_there));
        if (is_there)
            return MXC_OK;
        MXC_TRY(epoch_length(inner, epoch, position, length, &length));
        if (length == 0)
            return MXC_FAIL(MXC_EINVAL, "ResizeIter: an epoch of the inner iterator has no batches");
    }
}

static mxc_status resize_set_state(void *self, const mxc_iter_state *state) {
    resize_iter *it = self;
    uint64_t most = INT64_MAX / (uint64_t)it->batches - 1;
    if (state->position < 0 || state->position > it->batches || state->epoch > most)
        return MXC_FAIL(MXC_EINVAL, "mxc_iter_set_state: epoch %llu, position %lld, expected at most %llu and %lld",
                        (unsigned long long)state->epoch, (long long)state->position, (unsigned long long)most,
                        (long long)it->batches);
    uint64_t begin = state->epoch * (uint64_t)it->batches;
    if (it->restart)
        MXC_TRY(go_to(it->inner, begin, state->position));
    else
        MXC_TRY(go_to(it->inner, 0, (int64_t)begin + state->position));
    it->state = *state;
    return MXC_OK;
}

static mxc_status resize_get_state(void *self, mxc_iter_state *out) {
    *out = ((resize_iter *)self)->state;
    return MXC_OK;
}

static mxc_status resize_reset(void *self) {
    resize_iter *it = self;
    if (!it->restart && it->state.position == it->batches) { /* inner is there already */
        it->state = (mxc_iter_state){it->state.epoch + 1, 0};
        return MXC_OK;
    }
    return resize_set_state(self, &(mxc_iter_state){it->state.epoch + 1, 0});
}

static mxc_status resize_next(void *self, mxc_batch *out) {
    resize_iter *it = self;
    if (it->state.position == it->batches)
        return MXC_OK;
    MXC_TRY(mxc_iter_next(it->inner, out));
    if (out->n_data == 0) {
        MXC_TRY(mxc_iter_reset(it->inner));
        MXC_TRY(mxc_iter_next(it->inner, out));
        if (out->n_data == 0)
            return MXC_FAIL(MXC_EINVAL, "ResizeIter: an epoch of the inner iterator has no batches");
    }
    it->state.position++;
    return MXC_OK;
}

static int resize_n_data(void *self) {
    return mxc_iter_n_data(((resize_iter *)self)->inner);
}

static int resize_n_label(void *self) {
    return mxc_iter_n_label(((resize_iter *)self)->inner);
}

static const mxc_data_desc *resize_desc(void *self, int index) {
    return mxc_iter_desc(((resize_iter *)self)->inner, index);
}

static void resize_destroy(void *self) {
    mxc_iter_destroy(((resize_iter *)self)->inner);
    mxci_free(self);
}

static const mxc_iter_methods resize_methods = {
    .size = sizeof resize_methods,
    .n_data = resize_n_data,
    .n_label = resize_n_label,
    .desc = resize_desc,
    .next = resize_next,
    .reset = resize_reset,
    .get_state = resize_get_state,
    .set_state = resize_set_state,
    .destroy = resize_destroy,
};

mxc_status mxc_iter_resize(mxc_iter *inner, int64_t batches, int restart, mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(inner));
    if (!inner || batches < 1)
        return MXC_FAIL(MXC_EINVAL, "ResizeIter: inner is NULL or %lld batches are not at least 1", (long long)batches);
    resize_iter *it = mxci_calloc(1, sizeof *it);
    if (!it)
        return MXC_FAIL(MXC_ENOMEM, "ResizeIter: no memory for the iterator");
    *it = (resize_iter){.inner = inner, .batches = batches, .restart = restart};
    mxc_status status = resize_set_state(it, &(mxc_iter_state){0, 0});
    if (status == MXC_OK)
        status = mxc_iter_from_methods(&resize_methods, it, out);
    if (status != MXC_OK)
        mxci_free(it);
    return status;
}
