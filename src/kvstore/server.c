/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of asynchronous updates, on the communication thread: gradients of workers update the parts of
 * keys that this rank keeps, and pulls are answered or deferred. The protocol is described in async.h. */
#include <string.h>

#include "base/text.h"
#include "kvstore/async_state.h"

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Give a part its weight, a copy on cpu(0) of its range of the stored value. On failure mxci_server_remove releases
 * what was made. */
static mxc_status make_part(mxci_async *async, const mxci_async_key *key, mxci_key_part *part) {
    mxc_ndarray *stored = key->own->stored, *flat, *slice;
    int64_t n = mxc_ndarray_size(stored);
    part->name = mxci_strdup(key->own->name);
    part->clocks = mxci_calloc((size_t)async->size, sizeof *part->clocks);
    if (!part->name || !part->clocks)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", key->own->name);
    MXC_TRY(mxc_ndarray_reshape(stored, 1, &n, &flat));
    mxc_status status = mxc_ndarray_slice(flat, part->begin, part->begin + part->n, &slice);
    mxc_ndarray_release(flat);
    MXC_TRY(status);
    status = mxc_ndarray_copy(slice, mxc_cpu(0), mxc_ndarray_dtype(stored), &part->weight);
    mxc_ndarray_release(slice);
    return status;
}

mxc_status mxci_server_add(mxci_async *async, mxci_async_key *key) {
    for (int i = 0; i < key->n_parts; i++)
        if (key->parts[i].server == async->rank)
            MXC_TRY(make_part(async, key, &key->parts[i]));
    return MXC_OK;
}

void mxci_server_remove(mxci_async_key *key) {
    for (int i = 0; key->parts && i < key->n_parts; i++) {
        mxci_key_part *part = &key->parts[i];
        for (mxci_deferred_pull *p = part->deferred, *next; p; p = next) {
            next = p->next;
            mxci_free(p);
        }
        mxc_ndarray_release(part->weight);
        mxci_free(part->clocks);
        mxci_free(part->name);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A VALUE message that is queued behind the updates of its part. */
typedef struct reply {
    mxci_comm *comm;
    mxc_ndarray *weight;
    mxci_message *message; /* NULL after it was sent */
} reply;

static mxc_status send_reply(const mxc_run *run, void *arg) {
    reply *r = arg;
    mxc_tensor tensor;
    (void)run;
    MXC_TRY(mxc_ndarray_tensor(r->weight, &tensor));
    memcpy(r->message->data + sizeof(mxci_message_header), tensor.data,
           r->message->bytes - sizeof(mxci_message_header));
    mxci_comm_send(r->comm, r->message);
    r->message = NULL;
    return MXC_OK;
}

/* The engine drops the task. If it has not run, an update that it waited for has failed. */
static void reply_ended(void *arg) {
    static const char text[] = "kvstore: the server's update of the key has failed";
    reply *r = arg;
    if (r->message) {
        mxci_message_header *m = mxci_message_header_of(r->message);
        m->status = MXC_EWORKER;
        memcpy(m + 1, text, sizeof text);
        r->message->bytes = sizeof *m + sizeof text;
        mxci_comm_send(r->comm, r->message);
    }
    mxc_ndarray_release(r->weight);
    mxci_free(r);
}

/* Queue sending a part's value as it is after all updates that are queued now. */
static mxc_status send_value(mxci_async *async, int32_t index, int32_t i, int worker) {
    const mxci_key_part *part = &mxci_async_find(async, index)->parts[i];
    size_t bytes = mxc_ndarray_bytes(part->weight);
    reply *r = mxci_calloc(1, sizeof *r);
    mxci_message *message = mxci_message_create(worker, sizeof(mxci_message_header) + (bytes > 64 ? bytes : 64));
    mxc_task task = MXC_TASK_INIT;
    if (!r || !message) {
        mxci_free(r);
        mxci_free(message);
        return MXC_FAIL(MXC_ENOMEM, "no memory to send key \"%s\"", part->name);
    }
    *r = (reply){async->comm, mxc_ndarray_retain(part->weight), message};
    message->bytes = sizeof(mxci_message_header) + bytes;
    *mxci_message_header_of(message) = (mxci_message_header){.kind = MXCI_MESSAGE_VALUE, .key = index, .part = i};
    mxc_var *var = mxc_ndarray_var(part->weight);
    task.name = "kvstore_value";
    task.fn = send_reply;
    task.arg = r;
    task.destroy = reply_ended;
    return mxc_engine_push(mxc_var_engine(var), &task, 1, &var, 0, NULL, 0);
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

/* Stale synchronous parallel: a worker may read a part when no worker is more than staleness pushes behind it. Clocks
 * of workers that push no more are INT64_MAX. */
static int may_pull(const mxci_async *async, const mxci_key_part *part, int worker) {
    int64_t clock = part->clocks[worker], least = part->clocks[0];
    for (int i = 1; i < async->size; i++)
        least = part->clocks[i] < least ? part->clocks[i] : least;
    return clock == INT64_MAX || least >= clock - async->settings.staleness;
}

/* Answer the pulls of a part that a push, or the end of a worker, has made possible. */
static mxc_status serve_deferred_pulls(mxci_async *async, int32_t index, int32_t i) {
    mxci_key_part *part = &mxci_async_find(async, index)->parts[i];
    for (mxci_deferred_pull **at = &part->deferred; *at;) {
        mxci_deferred_pull *deferred = *at;
        if (!may_pull(async, part, deferred->worker)) {
            at = &deferred->next;
            continue;
        }
        int worker = deferred->worker;
        *at = deferred->next;
        mxci_free(deferred);
        MXC_TRY(send_value(async, index, i, worker));
    }
    return MXC_OK;
}

static mxc_status receive_pull(mxci_async *async, int from, int32_t index, int32_t i) {
    mxci_key_part *part = &mxci_async_find(async, index)->parts[i];
    if (may_pull(async, part, from))
        return send_value(async, index, i, from);
    mxci_deferred_pull *deferred = mxci_alloc(sizeof *deferred);
    if (!deferred)
        return MXC_FAIL(MXC_ENOMEM, "no memory for a deferred pull of key \"%s\"", part->name);
    *deferred = (mxci_deferred_pull){from, part->deferred};
    part->deferred = deferred;
    return MXC_OK;
}

/* Queue the update. A rank without an optimizer stores what is pushed. */
static mxc_status update_part(mxci_async *async, const mxci_key_part *part, mxc_ndarray *gradient, double lr) {
    mxci_mutex_lock(&async->lock);
    mxc_optimizer *optimizer = async->optimizer;
    mxc_optimizer_set_lr(optimizer, lr);
    mxc_status status = optimizer ? mxc_optimizer_update(optimizer, part->name, part->weight, gradient)
                                  : mxc_ndarray_copy_to(gradient, part->weight, 0);
    mxci_mutex_unlock(&async->lock);
    return status;
}

static mxc_status receive_push(mxci_async *async, int from, const mxci_message_header *m, size_t bytes) {
    mxci_async_key *key = mxci_async_find(async, m->key);
    mxci_key_part *part = &key->parts[m->part];
    mxc_ndarray *gradient;
    if (bytes != mxc_ndarray_bytes(part->weight))
        return MXC_FAIL(MXC_EWORKER, "rank %d pushed %zu bytes of key \"%s\", expected %zu", from, bytes, part->name,
                        mxc_ndarray_bytes(part->weight));
    MXC_TRY(mxc_ndarray_from_data(1, &part->n, key->dtype, m + 1, &gradient));
    mxc_status status = update_part(async, part, gradient, m->lr);
    mxc_ndarray_release(gradient);
    MXC_TRY(status);
    part->clocks[from]++;
    return serve_deferred_pulls(async, m->key, m->part);
}

static mxc_status receive_worker_done(mxci_async *async, int from) {
    mxci_async_key *key;
    for (int32_t k = 0; (key = mxci_async_find(async, k)) != NULL; k++)
        for (int32_t i = 0; i < key->n_parts; i++)
            if (key->parts[i].weight) {
                key->parts[i].clocks[from] = INT64_MAX;
                MXC_TRY(serve_deferred_pulls(async, k, i));
            }
    return MXC_OK;
}

mxc_status mxci_server_receive(mxci_async *async, int from, const mxci_message_header *m, size_t bytes) {
    mxci_async_key *key = mxci_async_find(async, m->key);
    if (m->kind == MXCI_MESSAGE_WORKER_DONE)
        return receive_worker_done(async, from);
    if (!key || m->part < 0 || m->part >= key->n_parts || !key->parts[m->part].weight)
        return MXC_FAIL(MXC_EWORKER, "rank %d asked rank %d for part %d of key %d, which is not there", from,
                        async->rank, (int)m->part, (int)m->key);
    return m->kind == MXCI_MESSAGE_PUSH ? receive_push(async, from, m, bytes)
                                        : receive_pull(async, from, m->key, m->part);
}
