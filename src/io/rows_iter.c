/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of rows of arrays in memory.
 *
 * The samples of an epoch are a sequence. With MXC_LAST_ROLL_OVER it begins with the samples that the previous epoch
 * left over. With MXC_LAST_WRAP it lacks the samples that the previous epoch took to fill its last batch, and ends with
 * the first ones of the next epoch. The order is a function of (seed, epoch), so any position of any epoch is found
 * without a history.
 */
#include "io/rows_iter.h"

#include <string.h>

#include "base/sys.h"
#include "io/iter.h"
#include "io/sample_order.h"

typedef struct rows_iter {
    mxc_array_iter_options options;
    int64_t first, count; /* this part's samples: first to first + count - 1 */
    int n_data, n_total;
    mxci_row_array *rows; /* n_total; names owned */
    mxc_data_desc *desc;  /* n_total */
    mxc_ndarray **batch;  /* n_total, refilled for each batch */
    uint64_t *index;      /* batch_size */
    int64_t n_before;     /* samples of the previous epoch that begin this one; -n: that took n of this one's */
    mxc_iter_state state;
} rows_iter;

/* All epochs before this one together have epoch * count samples; over = that mod batch_size of them do not fill a
 * batch. They roll over into this epoch, or were filled up with batch_size - over samples of this epoch. */
static void enter_epoch(rows_iter *it, uint64_t epoch) {
    uint64_t size = (uint64_t)it->options.batch_size;
    int64_t over = (int64_t)(epoch % size * ((uint64_t)it->count % size) % size);
    it->n_before = 0;
    if (it->options.last_batch == MXC_LAST_ROLL_OVER)
        it->n_before = over;
    else if (it->options.last_batch == MXC_LAST_WRAP && over > 0)
        it->n_before = over - (int64_t)size;
    it->state.epoch = epoch;
    it->state.position = 0;
}

static int64_t batches_in_epoch(const rows_iter *it) {
    int64_t size = it->options.batch_size, samples = it->count + it->n_before;
    int is_filled = it->options.last_batch == MXC_LAST_PAD || it->options.last_batch == MXC_LAST_WRAP;
    return is_filled ? (samples + size - 1) / size : samples / size;
}

/* Choose the samples of the current batch; returns how many of them are padding. */
static int64_t choose_samples(rows_iter *it) {
    int64_t size = it->options.batch_size, begin = it->state.position * size, pad = 0;
    int wraps = it->options.last_batch == MXC_LAST_WRAP;
    for (int64_t i = 0; i < size; i++) {
        int64_t k = begin + i - it->n_before; /* of this epoch; below 0: of the previous one */
        pad += k >= it->count;
        uint64_t epoch = it->state.epoch + (k < 0 ? UINT64_MAX : k >= it->count && wraps);
        k = (k + it->count) % it->count;
        int64_t sample = it->options.shuffle ? mxci_shuffled_sample(it->options.seed, epoch, it->count, k) : k;
        it->index[i] = (uint64_t)(it->first + sample);
    }
    return pad;
}

/* Scatter the elements of sparse samples into rows of zeros. row: elements of a row. */
static mxc_status fill_sparse(rows_iter *it, const mxci_row_array *rows, unsigned char *to, int64_t row) {
    size_t size = mxc_dtype_size(rows->dtype);
    void *values, *begin, *column;
    MXC_TRY(mxc_ndarray_data(rows->array, &values));
    MXC_TRY(mxc_ndarray_data(rows->begin, &begin));
    MXC_TRY(mxc_ndarray_data(rows->column, &column));
    memset(to, 0, (size_t)(it->options.batch_size * row) * size);
    for (int64_t i = 0; i < it->options.batch_size; i++) {
        const int64_t *range = (const int64_t *)begin + it->index[i];
        for (int64_t k = range[0]; k < range[1]; k++)
            memcpy(to + (size_t)(i * row + ((const int32_t *)column)[k]) * size,
                   (const unsigned char *)values + (size_t)k * size, size);
    }
    return MXC_OK;
}

/* Copy the chosen rows of one array into its batch array. */
static mxc_status fill_batch(rows_iter *it, int which) {
    const mxci_row_array *rows = &it->rows[which];
    mxc_ndarray *to_array = it->batch[which];
    int64_t n = it->options.batch_size, row = n > 0 ? mxc_ndarray_size(to_array) / n : 0;
    size_t from_step = (size_t)row * mxc_dtype_size(mxc_ndarray_dtype(rows->array));
    size_t to_step = (size_t)row * mxc_dtype_size(rows->dtype);
    void *from, *to;
    MXC_TRY(mxc_ndarray_wait_to_write(to_array)); /* queued work may still read the previous batch */
    MXC_TRY(mxc_ndarray_data(to_array, &to));
    MXC_TRY(mxc_ndarray_data(rows->array, &from));
    if (row == 0)
        return MXC_OK;
    if (rows->begin)
        return fill_sparse(it, rows, to, row);
    for (int64_t i = 0; i < n; i++) {
        const unsigned char *source = (const unsigned char *)from + it->index[i] * from_step;
        if (rows->dtype == mxc_ndarray_dtype(rows->array))
            memcpy((unsigned char *)to + (size_t)i * to_step, source, to_step);
        else
            for (int64_t k = 0; k < row; k++)
                ((float *)to)[i * row + k] = rows->scale * (float)source[k];
    }
    return MXC_OK;
}

static mxc_status rows_next(void *self, mxc_batch *out) {
    rows_iter *it = self;
    if (it->state.position >= batches_in_epoch(it))
        return MXC_OK;
    out->pad = choose_samples(it);
    for (int i = 0; i < it->n_total; i++)
        MXC_TRY(fill_batch(it, i));
    out->n_data = it->n_data;
    out->n_label = it->n_total - it->n_data;
    out->data = it->batch;
    out->label = it->batch + it->n_data;
    out->n_index = it->options.batch_size;
    out->index = it->index;
    it->state.position++;
    return MXC_OK;
}

static int rows_n_data(void *self) {
    return ((rows_iter *)self)->n_data;
}

static int rows_n_label(void *self) {
    return ((rows_iter *)self)->n_total - ((rows_iter *)self)->n_data;
}

static const mxc_data_desc *rows_desc(void *self, int index) {
    return &((rows_iter *)self)->desc[index];
}

static mxc_status rows_reset(void *self) {
    rows_iter *it = self;
    enter_epoch(it, it->state.epoch + 1);
    return MXC_OK;
}

static mxc_status rows_get_state(void *self, mxc_iter_state *out) {
    *out = ((rows_iter *)self)->state;
    return MXC_OK;
}

static mxc_status rows_set_state(void *self, const mxc_iter_state *state) {
    rows_iter *it = self;
    uint64_t epoch_now = it->state.epoch;
    int64_t position_now = it->state.position;
    enter_epoch(it, state->epoch);
    if (state->position < 0 || state->position > batches_in_epoch(it)) {
        int64_t most = batches_in_epoch(it);
        enter_epoch(it, epoch_now);
        it->state.position = position_now;
        return MXC_FAIL(MXC_EINVAL, "mxc_iter_set_state: position %lld, expected 0 to %lld batches",
                        (long long)state->position, (long long)most);
    }
    it->state.position = state->position;
    return MXC_OK;
}

static void rows_destroy(void *self) {
    rows_iter *it = self;
    for (int i = 0; i < it->n_total; i++) {
        if (it->rows) {
            mxc_ndarray_release(it->rows[i].array);
            mxc_ndarray_release(it->rows[i].begin);
            mxc_ndarray_release(it->rows[i].column);
            mxci_free((char *)it->rows[i].name);
        }
        if (it->batch)
            mxc_ndarray_release(it->batch[i]);
    }
    mxci_free(it->rows);
    mxci_free(it->desc);
    mxci_free(it->batch);
    mxci_free(it->index);
    mxci_free(it);
}

static const mxc_iter_methods rows_methods = {
    .size = sizeof rows_methods,
    .n_data = rows_n_data,
    .n_label = rows_n_label,
    .desc = rows_desc,
    .next = rows_next,
    .reset = rows_reset,
    .get_state = rows_get_state,
    .set_state = rows_set_state,
    .destroy = rows_destroy,
};

static mxc_status rows_iter_check_options(const char *owner, const mxc_array_iter_options *o) {
    if (o->batch_size < 1)
        return MXC_FAIL(MXC_EINVAL, "%s: batch_size %lld, expected at least 1", owner, (long long)o->batch_size);
    if (o->num_parts < 1 || o->part_index < 0 || o->part_index >= o->num_parts)
        return MXC_FAIL(MXC_EINVAL, "%s: part_index %d of num_parts %d, expected 0 <= part_index < num_parts", owner,
                        o->part_index, o->num_parts);
    if (o->last_batch < MXC_LAST_PAD || o->last_batch > MXC_LAST_WRAP)
        return MXC_FAIL(MXC_EINVAL, "%s: last_batch %d, expected 0 to 3", owner, (int)o->last_batch);
    return MXC_OK;
}

/* All arrays are on the host and have n rows. */
static mxc_status check_rows(const char *owner, int n, const mxci_row_array *rows, int64_t *n_rows) {
    *n_rows = -1;
    for (int i = 0; i < n; i++) {
        const mxc_shape *shape = rows[i].array ? mxc_ndarray_shape(rows[i].array) : NULL;
        if (!shape || shape->ndim < 1)
            return MXC_FAIL(MXC_ESHAPE, "%s: array %d is NULL or has no axis of samples", owner, i);
        if (mxc_ndarray_context(rows[i].array).device != MXC_CPU)
            return MXC_FAIL(MXC_EDEVICE, "%s: array %d is not on a CPU context", owner, i);
        int64_t n_found = rows[i].begin ? mxc_ndarray_shape(rows[i].begin)->dim[0] - 1 : shape->dim[0];
        if (*n_rows >= 0 && n_found != *n_rows)
            return MXC_FAIL(MXC_ESHAPE, "%s: array %d has %lld samples, array 0 has %lld", owner, i, (long long)n_found,
                            (long long)*n_rows);
        *n_rows = n_found;
    }
    return MXC_OK;
}

/* The samples of this part; with roll-over or wrapping an epoch must fill at least one batch. */
static mxc_status choose_part(const char *owner, rows_iter *it, int64_t n_rows) {
    const mxc_array_iter_options *o = &it->options;
    it->first = mxci_sample_part_begin(n_rows, o->part_index, o->num_parts);
    it->count = mxci_sample_part_begin(n_rows, o->part_index + 1, o->num_parts) - it->first;
    if (it->count == 0)
        return MXC_FAIL(MXC_EINVAL, "%s: part %d of %d of %lld samples is empty", owner, o->part_index, o->num_parts,
                        (long long)n_rows);
    if ((o->last_batch == MXC_LAST_ROLL_OVER || o->last_batch == MXC_LAST_WRAP) && it->count < o->batch_size)
        return MXC_FAIL(MXC_EINVAL, "%s: %s needs at least one batch of samples: %lld given, batch_size %lld", owner,
                        o->last_batch == MXC_LAST_WRAP ? "to wrap around" : "roll over", (long long)it->count,
                        (long long)o->batch_size);
    return MXC_OK;
}

/* Fill in rows[i], desc[i] and batch[i]; rows_destroy releases them, also after a failure. */
static mxc_status add_array(rows_iter *it, int i, const mxci_row_array *from) {
    mxci_row_array *rows = &it->rows[i];
    *rows = *from;
    mxc_ndarray_retain(rows->array);
    mxc_ndarray_retain(rows->begin);
    mxc_ndarray_retain(rows->column);
    rows->name = mxci_strdup(from->name);
    if (!rows->name)
        return MXC_FAIL(MXC_ENOMEM, "iterator: no memory for the name of array %d", i);
    mxc_data_desc *desc = &it->desc[i];
    desc->name = rows->name;
    desc->dtype = rows->dtype;
    desc->shape = *mxc_ndarray_shape(rows->array);
    if (rows->n_tail >= 0) {
        desc->shape.ndim = 1 + rows->n_tail;
        memcpy(desc->shape.dim + 1, rows->tail, sizeof rows->tail[0] * (size_t)rows->n_tail);
    }
    desc->shape.dim[0] = it->options.batch_size;
    return mxc_ndarray_create(desc->shape.ndim, desc->shape.dim, desc->dtype, mxc_cpu(0), &it->batch[i]);
}

static mxc_status allocate_batch(const char *owner, rows_iter *it) {
    size_t n = (size_t)it->n_total, size = (size_t)it->options.batch_size;
    it->rows = mxci_calloc(n, sizeof *it->rows);
    it->desc = mxci_calloc(n, sizeof *it->desc);
    it->batch = mxci_calloc(n, sizeof *it->batch);
    it->index = mxci_calloc(size, sizeof *it->index);
    if (!it->rows || !it->desc || !it->batch || !it->index)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for a batch of %zu samples", owner, size);
    return MXC_OK;
}

static mxc_status rows_iter_init(const char *owner, rows_iter *it, const mxci_row_array *rows) {
    int64_t n_rows;
    MXC_TRY(check_rows(owner, it->n_total, rows, &n_rows));
    MXC_TRY(choose_part(owner, it, n_rows));
    MXC_TRY(allocate_batch(owner, it));
    for (int i = 0; i < it->n_total; i++)
        MXC_TRY(add_array(it, i, &rows[i]));
    enter_epoch(it, 0);
    return MXC_OK;
}

mxc_status mxci_rows_iter_create(const char *owner, const mxc_array_iter_options *options, int n_data, int n_label,
                                 const mxci_row_array *rows, mxc_iter **out) {
    *out = NULL;
    MXC_TRY(rows_iter_check_options(owner, options));
    rows_iter *it = mxci_calloc(1, sizeof *it);
    if (!it)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the iterator", owner);
    it->options = *options;
    it->n_data = n_data;
    it->n_total = n_data + n_label;
    mxc_status status = rows_iter_init(owner, it, rows);
    if (status == MXC_OK)
        status = mxc_iter_from_methods(&rows_methods, it, out);
    if (status != MXC_OK)
        rows_destroy(it);
    return status;
}
