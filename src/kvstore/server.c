/* The server's side, on the communication's thread: gradients of workers update the parts that live here. */
#include <string.h>

#include "base/text.h"
#include "kvstore/async_state.h"

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static mxc_status copy_part(mxc_ndarray *stored, const mxci_part *part, mxc_ndarray **out) {
    int64_t n = mxc_ndarray_size(stored);
    mxc_ndarray *flat, *slice;
    MXC_TRY(mxc_ndarray_reshape(stored, 1, &n, &flat));
    mxc_status status = mxc_ndarray_slice(flat, part->begin, part->begin + part->n, &slice);
    mxc_ndarray_release(flat);
    MXC_TRY(status);
    status = mxc_ndarray_copy(slice, mxc_cpu(0), mxc_ndarray_dtype(stored), out);
    mxc_ndarray_release(slice);
    return status;
}

static mxc_status make_part(mxci_async *async, const mxci_async_key *key, mxci_part *part) {
    part->name = mxci_strdup(key->own->key);
    part->clocks = mxci_calloc((size_t)async->size, sizeof *part->clocks);
    if (!part->name || !part->clocks)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", key->own->key);
    return copy_part(key->own->stored, part, &part->weight);
}

mxc_status mxci_server_add(mxci_async *async, mxci_async_key *key) {
    for (int i = 0; i < key->n_parts; i++)
        if (key->parts[i].server == async->rank)
            MXC_TRY(make_part(async, key, &key->parts[i]));
    return MXC_OK;
}

void mxci_server_remove(mxci_async_key *key) {
    for (int i = 0; key->parts && i < key->n_parts; i++) {
        mxci_part *part = &key->parts[i];
        for (mxci_late_pull *p = part->late, *next; p; p = next) {
            next = p->next;
            mxci_free(p);
        }
        mxc_ndarray_release(part->weight);
        mxci_free(part->clocks);
        mxci_free(part->name);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A value on its way from the engine to a worker. */
typedef struct reply {
    mxci_comm *comm;
    mxc_ndarray *weight;
    mxci_post *post; /* NULL: sent */
} reply;

static mxc_status reply_run(const mxc_run *run, void *arg) {
    reply *r = arg;
    mxc_tensor tensor;
    (void)run;
    MXC_TRY(mxc_ndarray_tensor(r->weight, &tensor));
    memcpy(r->post->data + sizeof(mxci_message), tensor.data, r->post->bytes - sizeof(mxci_message));
    mxci_comm_post(r->comm, r->post);
    r->post = NULL;
    return MXC_OK;
}

/* What was not sent could not be computed. */
static void reply_ended(void *arg) {
    static const char text[] = "kvstore: the server's update of the key has failed";
    reply *r = arg;
    if (r->post) {
        mxci_message *m = mxci_message_of(r->post);
        m->status = MXC_EWORKER;
        memcpy(m + 1, text, sizeof text);
        r->post->bytes = sizeof *m + sizeof text;
        mxci_comm_post(r->comm, r->post);
    }
    mxc_ndarray_release(r->weight);
    mxci_free(r);
}

/* Queue sending a part's value as it is after what is queued on it now. */
static mxc_status send_value(mxci_async *async, int32_t index, int32_t i, int worker) {
    const mxci_part *part = &mxci_async_find(async, index)->parts[i];
    size_t bytes = mxc_ndarray_bytes(part->weight);
    reply *r = mxci_calloc(1, sizeof *r);
    mxci_post *post = mxci_post_create(worker, sizeof(mxci_message) + (bytes > 64 ? bytes : 64));
    mxc_task task = MXC_TASK_INIT;
    if (!r || !post) {
        mxci_free(r);
        mxci_free(post);
        return MXC_FAIL(MXC_ENOMEM, "no memory to send key \"%s\"", part->name);
    }
    *r = (reply){async->comm, mxc_ndarray_retain(part->weight), post};
    post->bytes = sizeof(mxci_message) + bytes;
    *mxci_message_of(post) = (mxci_message){.kind = MXCI_VALUE, .key = index, .part = i};
    mxc_var *var = mxc_ndarray_var(part->weight);
    task.name = "kvstore_value";
    task.fn = reply_run;
    task.arg = r;
    task.destroy = reply_ended;
    return mxc_engine_push(mxc_var_engine(var), &task, 1, &var, 0, NULL, 0);
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

static int64_t slowest(const mxci_async *async, const mxci_part *part) {
    int64_t least = part->clocks[0];
    for (int i = 1; i < async->size; i++)
        least = part->clocks[i] < least ? part->clocks[i] : least;
    return least;
}

static int may_pull(const mxci_async *async, const mxci_part *part, int worker) {
    int64_t clock = part->clocks[worker];
    return clock == INT64_MAX || slowest(async, part) >= clock - async->settings.staleness;
}

static mxc_status serve_late(mxci_async *async, int32_t index, int32_t i) {
    mxci_part *part = &mxci_async_find(async, index)->parts[i];
    for (mxci_late_pull **at = &part->late; *at;) {
        mxci_late_pull *late = *at;
        if (!may_pull(async, part, late->worker)) {
            at = &late->next;
            continue;
        }
        int worker = late->worker;
        *at = late->next;
        mxci_free(late);
        MXC_TRY(send_value(async, index, i, worker));
    }
    return MXC_OK;
}

static mxc_status take_pull(mxci_async *async, int from, int32_t index, int32_t i) {
    mxci_part *part = &mxci_async_find(async, index)->parts[i];
    if (may_pull(async, part, from))
        return send_value(async, index, i, from);
    mxci_late_pull *late = mxci_alloc(sizeof *late);
    if (!late)
        return MXC_FAIL(MXC_ENOMEM, "no memory for a late pull of key \"%s\"", part->name);
    *late = (mxci_late_pull){from, part->late};
    part->late = late;
    return MXC_OK;
}

static mxc_status update(mxci_async *async, const mxci_part *part, mxc_ndarray *gradient, double lr) {
    mxci_mutex_lock(&async->lock);
    mxc_optimizer *optimizer = async->optimizer;
    mxc_optimizer_set_lr(optimizer, lr);
    mxc_status status = optimizer ? mxc_optimizer_update(optimizer, part->name, part->weight, gradient)
                                  : mxc_ndarray_copy_to(gradient, part->weight, 0);
    mxci_mutex_unlock(&async->lock);
    return status;
}

static mxc_status take_push(mxci_async *async, int from, const mxci_message *m, size_t bytes) {
    mxci_async_key *key = mxci_async_find(async, m->key);
    mxci_part *part = &key->parts[m->part];
    mxc_ndarray *gradient;
    if (bytes != mxc_ndarray_bytes(part->weight))
        return MXC_FAIL(MXC_EWORKER, "rank %d pushed %zu bytes of key \"%s\", expected %zu", from, bytes, part->name,
                        mxc_ndarray_bytes(part->weight));
    MXC_TRY(mxc_ndarray_from_data(1, &part->n, key->dtype, m + 1, &gradient));
    mxc_status status = update(async, part, gradient, m->lr);
    mxc_ndarray_release(gradient);
    MXC_TRY(status);
    part->clocks[from]++;
    return serve_late(async, m->key, m->part);
}

static mxc_status take_bye(mxci_async *async, int from) {
    mxci_async_key *key;
    for (int32_t k = 0; (key = mxci_async_find(async, k)) != NULL; k++)
        for (int32_t i = 0; i < key->n_parts; i++)
            if (key->parts[i].weight) {
                key->parts[i].clocks[from] = INT64_MAX;
                MXC_TRY(serve_late(async, k, i));
            }
    return MXC_OK;
}

mxc_status mxci_server_receive(mxci_async *async, int from, const mxci_message *m, size_t bytes) {
    mxci_async_key *key = mxci_async_find(async, m->key);
    if (m->kind == MXCI_BYE)
        return take_bye(async, from);
    if (!key || m->part < 0 || m->part >= key->n_parts || !key->parts[m->part].weight)
        return MXC_FAIL(MXC_EWORKER, "rank %d asked rank %d for part %d of key %d, which is not there", from,
                        async->rank, (int)m->part, (int)m->key);
    return m->kind == MXCI_PUSH ? take_push(async, from, m, bytes) : take_pull(async, from, m->key, m->part);
}
