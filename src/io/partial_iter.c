/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defaults for the methods that an iterator of a program leaves out. Only next is required.
 *
 * Without desc, the first batch is taken when the iterator is created: its arrays give the descriptions, and it is kept
 * (pending) for the first call of next. Its arrays stay valid, because the program's next is not called before then.
 * Without get_state and set_state the position is counted here, and a later one is reached by reading up to it.
 */
#include "io/partial_iter.h"

#include "base/sys.h"
#include "base/text.h"

enum { ARRAY_NAME = 32 };

/* Description of an array by default. */
typedef struct first_array {
    mxc_data_desc desc;
    char name[ARRAY_NAME];
} first_array;

typedef struct partial_iter {
    const mxc_iter_methods *methods; /* the program's */
    void *self;
    first_array *first; /* one for each array, data first; NULL if there is a method desc */
    int n_data, n_label;
    mxc_batch pending;     /* the first batch, which next returns first; n_data is 0 if there is none */
    int ended;             /* next has reported the end of the epoch */
    mxc_iter_state state;  /* as counted here */
    mxc_iter_state before; /* the program's state before the pending batch was taken */
} partial_iter;

int mxci_iter_methods_complete(const mxc_iter_methods *m) {
    return m->n_data && m->n_label && m->desc && m->next && m->reset && m->get_state && m->set_state && m->destroy;
}

static int partial_n_data(void *self) {
    const partial_iter *it = self;
    return it->first ? it->n_data : it->methods->n_data(it->self);
}

static int partial_n_label(void *self) {
    const partial_iter *it = self;
    return it->first ? it->n_label : it->methods->n_label(it->self);
}

static const mxc_data_desc *partial_desc(void *self, int index) {
    const partial_iter *it = self;
    return it->first ? &it->first[index].desc : it->methods->desc(it->self, index);
}

static mxc_status partial_next(void *self, mxc_batch *out) {
    partial_iter *it = self;
    if (it->ended)
        return MXC_OK;
    if (it->pending.n_data > 0) {
        *out = it->pending;
        it->pending.n_data = 0;
    } else {
        MXC_TRY(it->methods->next(it->self, out));
    }
    it->ended = out->n_data == 0;
    it->state.position += !it->ended;
    return MXC_OK;
}

static mxc_status drop_rest(partial_iter *it) {
    while (!it->ended) {
        mxc_batch dropped = {0};
        MXC_TRY(partial_next(it, &dropped));
    }
    return MXC_OK;
}

/* Go to the next epoch. Without reset and set_state, next begins it after it has reported the end of this one. */
static mxc_status enter_next_epoch(partial_iter *it) {
    const mxc_iter_state begin = {it->state.epoch + 1, 0};
    if (it->methods->reset || it->methods->set_state) {
        MXC_TRY(it->methods->reset ? it->methods->reset(it->self) : it->methods->set_state(it->self, &begin));
        it->pending.n_data = 0;
    }
    it->ended = 0;
    it->state = begin;
    return MXC_OK;
}

/* Of an epoch of which nothing was returned, nothing is dropped, since a consumer may reset before it begins. */
static mxc_status partial_reset(void *self) {
    partial_iter *it = self;
    if (!it->methods->reset && !it->methods->set_state && it->state.position > 0)
        MXC_TRY(drop_rest(it));
    return enter_next_epoch(it);
}

static mxc_status partial_get_state(void *self, mxc_iter_state *out) {
    const partial_iter *it = self;
    if (it->methods->get_state && it->pending.n_data == 0)
        return it->methods->get_state(it->self, out);
    *out = it->methods->get_state ? it->before : it->state;
    return MXC_OK;
}

/* Read up to a position that was counted here. */
static mxc_status skip_to(partial_iter *it, const mxc_iter_state *state) {
    const mxc_iter_state now = it->state;
    if (state->position < 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_iter_set_state: position %lld, expected at least 0",
                        (long long)state->position);
    if (state->epoch < now.epoch || (state->epoch == now.epoch && state->position < now.position))
        return MXC_FAIL(MXC_EUNSUPPORTED,
                        "mxc_iter_set_state: epoch %llu, position %lld is before the current one, epoch %llu, position "
                        "%lld, and the iterator has no method set_state",
                        (unsigned long long)state->epoch, (long long)state->position, (unsigned long long)now.epoch,
                        (long long)now.position);
    /* Whole epochs are read: the data may depend on the number of batches taken, as that of a random generator. */
    while (it->state.epoch < state->epoch) {
        MXC_TRY(drop_rest(it));
        MXC_TRY(enter_next_epoch(it));
    }
    while (it->state.position < state->position) {
        mxc_batch dropped = {0};
        MXC_TRY(partial_next(it, &dropped));
        if (it->ended)
            return MXC_FAIL(MXC_EINVAL, "mxc_iter_set_state: position %lld, but epoch %llu has %lld batches",
                            (long long)state->position, (unsigned long long)state->epoch,
                            (long long)it->state.position);
    }
    return MXC_OK;
}

static mxc_status partial_set_state(void *self, const mxc_iter_state *state) {
    partial_iter *it = self;
    if (!it->methods->set_state)
        return skip_to(it, state);
    MXC_TRY(it->methods->set_state(it->self, state));
    it->pending.n_data = it->ended = 0;
    it->state = *state;
    return MXC_OK;
}

static void partial_destroy(void *self) {
    partial_iter *it = self;
    if (it->methods->destroy)
        it->methods->destroy(it->self);
    mxci_free(it->first);
    mxci_free(it);
}

static const mxc_iter_methods partial_methods = {
    .size = sizeof partial_methods,
    .n_data = partial_n_data,
    .n_label = partial_n_label,
    .desc = partial_desc,
    .next = partial_next,
    .reset = partial_reset,
    .get_state = partial_get_state,
    .set_state = partial_set_state,
    .destroy = partial_destroy,
};

/* Names as those of mxc_iter_from_arrays: "data" and "softmax_label", numbered if there are several. */
static void describe_array(first_array *out, const mxc_ndarray *array, const char *stem, int i, int n) {
    if (n == 1)
        mxci_format(out->name, sizeof out->name, "%s", stem);
    else
        mxci_format(out->name, sizeof out->name, "%s%d", stem, i);
    out->desc = (mxc_data_desc){out->name, *mxc_ndarray_shape(array), mxc_ndarray_dtype(array)};
}

/* Take the first batch and describe its arrays. */
static mxc_status take_first(partial_iter *it) {
    mxc_batch *batch = &it->pending;
    if (it->methods->get_state)
        MXC_TRY(it->methods->get_state(it->self, &it->before));
    MXC_TRY(it->methods->next(it->self, batch));
    if (batch->n_data < 1 || !batch->data || batch->n_label < 0 || (batch->n_label > 0 && !batch->label))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_iter_from_methods: the first batch has %d data and %d label arrays; without the methods "
                        "n_data, n_label and desc it must describe all batches",
                        batch->n_data, batch->n_label);
    it->n_data = batch->n_data;
    it->n_label = batch->n_label;
    it->first = mxci_calloc((size_t)it->n_data + (size_t)it->n_label, sizeof *it->first);
    if (!it->first)
        return MXC_FAIL(MXC_ENOMEM, "mxc_iter_from_methods: no memory for the descriptions of %d arrays",
                        it->n_data + it->n_label);
    for (int i = 0; i < it->n_data + it->n_label; i++) {
        const int is_label = i >= it->n_data, at = is_label ? i - it->n_data : i;
        const mxc_ndarray *array = is_label ? batch->label[at] : batch->data[at];
        if (!array)
            return MXC_FAIL(MXC_EINVAL, "mxc_iter_from_methods: %s array %d of the first batch is NULL",
                            is_label ? "label" : "data", at);
        describe_array(&it->first[i], array, is_label ? "softmax_label" : "data", at,
                       is_label ? it->n_label : it->n_data);
    }
    return MXC_OK;
}

static mxc_status check_methods(const mxc_iter_methods *m) {
    if (!m->next)
        return MXC_FAIL(MXC_EINVAL, "mxc_iter_from_methods: the method next is NULL");
    if (!m->n_data != !m->desc || !m->n_label != !m->desc)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_iter_from_methods: n_data, n_label and desc must all be given, or all be NULL");
    if (!m->get_state != !m->set_state)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_iter_from_methods: get_state and set_state must both be given, or both be NULL");
    return MXC_OK;
}

mxc_status mxci_partial_iter_create(const mxc_iter_methods *methods, void *self, mxc_iter **out) {
    MXC_TRY(check_methods(methods));
    partial_iter *it = mxci_calloc(1, sizeof *it);
    if (!it)
        return MXC_FAIL(MXC_ENOMEM, "mxc_iter_from_methods: no memory for the iterator");
    it->methods = methods;
    it->self = self;
    mxc_status status = methods->desc ? MXC_OK : take_first(it);
    if (status == MXC_OK)
        status = mxc_iter_from_methods(&partial_methods, it, out);
    if (status != MXC_OK) {
        mxci_free(it->first);
        mxci_free(it);
    }
    return status;
}
