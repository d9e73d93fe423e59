/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's side of asynchronous updates: gradients are sent to the servers, values are fetched from them. The
 * protocol is described in async.h, the server's side is in server.c. */
#include <string.h>

#include "base/text.h"
#include "kvstore/async_state.h"
#include "optimizer/optimizer.h"

enum { DATA = (int)sizeof(mxci_message_header) };
_Static_assert(sizeof(mxci_message_header) == 64, "data behind it is aligned");

mxci_async_key *mxci_async_find(mxci_async *async, int32_t key) {
    mxci_mutex_lock(&async->lock);
    mxci_async_key *found = key >= 0 && key < async->n_keys ? async->keys[key] : NULL;
    mxci_mutex_unlock(&async->lock);
    return found;
}

/* ---- pushes ------------------------------------------------------------------------------------------------------ */

/* A push or pull that is queued on the engine. */
typedef struct async_request {
    mxci_async *async;
    mxci_async_key *key;
    int32_t index;
    mxc_ndarray *array; /* the gradient to send, or where a value is stored; a reference */
    double lr;
    mxc_done *done;
    int n_unsent; /* messages that are not complete; used by the communication thread */
    mxc_status status;
    char message[128];
} async_request;

static void async_request_free(void *arg) {
    async_request *request = arg;
    mxc_ndarray_release(request->array);
    mxci_free(request);
}

/* The push is complete when its last message is. */
static void push_sent(mxci_message *message, mxc_status status, const char *error) {
    async_request *request = message->arg;
    if (status != MXC_OK && request->status == MXC_OK) {
        request->status = status;
        mxci_format(request->message, sizeof request->message, "%s", error);
    }
    if (--request->n_unsent == 0)
        mxc_done_complete(request->done, request->status, request->message);
}

/* A message with its part of the gradient for each server of the key, linked by next; all or NULL. */
static mxci_message *make_pushes(const async_request *request, const char *data) {
    const size_t width = mxc_dtype_size(request->key->dtype);
    mxci_message *messages = NULL;
    for (int i = 0; i < request->key->n_parts; i++) {
        const mxci_key_part *part = &request->key->parts[i];
        size_t bytes = (size_t)part->n * width;
        mxci_message *message = mxci_message_create(part->server, DATA + bytes);
        if (!message) {
            for (mxci_message *next; messages; messages = next) {
                next = messages->next;
                mxci_free(messages);
            }
            return NULL;
        }
        *mxci_message_header_of(message) =
            (mxci_message_header){.kind = MXCI_MESSAGE_PUSH, .key = request->index, .part = i, .lr = request->lr};
        memcpy(message->data + DATA, data + (size_t)part->begin * width, bytes);
        message->on_completion = push_sent;
        message->arg = (void *)(uintptr_t)request;
        message->next = messages;
        messages = message;
    }
    return messages;
}

static void send_push(const mxc_run *run, void *arg, mxc_done *done) {
    async_request *request = arg;
    mxc_tensor tensor;
    (void)run;
    mxc_status status = mxc_ndarray_tensor(request->array, &tensor);
    mxci_message *messages = status == MXC_OK ? make_pushes(request, tensor.data) : NULL;
    request->done = done;
    request->n_unsent = request->key->n_parts;
    request->status = MXC_OK;
    if (!messages)
        mxc_done_complete(done, MXC_ENOMEM, "kvstore: no memory to send a gradient");
    for (mxci_message *next; messages; messages = next) {
        next = messages->next;
        mxci_comm_send(request->async->comm, messages);
    }
}

/* ---- pulls ------------------------------------------------------------------------------------------------------- */

/* End the key's pull, if it has one. */
static void end_pull(mxci_async *async, mxci_async_key *key, mxc_status status, const char *error) {
    mxci_mutex_lock(&async->lock);
    mxc_done *done = key->pull;
    key->pull = NULL;
    mxci_mutex_unlock(&async->lock);
    if (done)
        mxc_done_complete(done, status, error);
}

static void send_pull(const mxc_run *run, void *arg, mxc_done *done) {
    async_request *request = arg;
    mxci_async_key *key = request->key;
    mxc_tensor tensor;
    (void)run;
    if (mxc_ndarray_tensor(request->array, &tensor) != MXC_OK) {
        mxc_done_complete(done, MXC_ENOMEM, "kvstore: no memory for a value");
        return;
    }
    mxci_async *async = request->async;
    int32_t index = request->index;
    mxci_mutex_lock(&async->lock);
    key->n_missing = key->n_parts;
    key->target = tensor.data;
    key->pull = done;
    mxci_mutex_unlock(&async->lock);
    for (int i = 0; i < key->n_parts; i++) { /* the request may be freed as soon as the last value has arrived */
        mxci_message *message = mxci_message_create(key->parts[i].server, DATA);
        if (!message) {
            end_pull(async, key, MXC_ENOMEM, "kvstore: no memory to ask for a value");
            continue;
        }
        *mxci_message_header_of(message) = (mxci_message_header){.kind = MXCI_MESSAGE_PULL, .key = index, .part = i};
        mxci_comm_send(async->comm, message);
    }
}

/* On the communication thread: copy a part of a value to where the pull of its key stores it, and complete the pull
 * with its last part. */
static mxc_status receive_value(mxci_async *async, int from, const mxci_message_header *m, size_t bytes) {
    mxci_async_key *key = mxci_async_find(async, m->key);
    if (!key || m->part < 0 || m->part >= key->n_parts || key->parts[m->part].server != from)
        return MXC_FAIL(MXC_EWORKER, "rank %d sent a value of key %d that was not asked for", from, (int)m->key);
    const mxci_key_part *part = &key->parts[m->part];
    size_t width = mxc_dtype_size(key->dtype);
    if (m->status != MXC_OK) {
        end_pull(async, key, (mxc_status)m->status, (const char *)(m + 1));
        return MXC_OK;
    }
    if (bytes != (size_t)part->n * width)
        return MXC_FAIL(MXC_EWORKER, "rank %d sent %zu bytes of key \"%s\", expected %zu", from, bytes, key->own->name,
                        (size_t)part->n * width);
    if (!key->pull) /* another part has failed */
        return MXC_OK;
    memcpy(key->target + (size_t)part->begin * width, m + 1, bytes);
    if (--key->n_missing == 0)
        end_pull(async, key, MXC_OK, NULL);
    return MXC_OK;
}

/* ---- queueing ---------------------------------------------------------------------------------------------------- */

/* Queue a push or pull of a key. It changes the key's sequence variable, and reads or changes the array's. */
static mxc_status queue_request(mxci_async *async, mxci_key *own, mxc_ndarray *array, double lr, int priority,
                                int is_push) {
    async_request *request = mxci_calloc(1, sizeof *request);
    mxc_task task = MXC_TASK_INIT;
    MXC_TRY(request ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "kvstore: no memory to queue key \"%s\"", own->name));
    *request = (async_request){.async = async,
                               .key = async->keys[own->index],
                               .index = own->index,
                               .lr = lr,
                               .array = mxc_ndarray_retain(array)};
    mxc_var *of_array = mxc_ndarray_var(array), *writes[2] = {request->key->sequence, of_array};
    task.name = is_push ? "kvstore_push" : "kvstore_pull";
    task.async_fn = is_push ? send_push : send_pull;
    task.arg = request;
    task.destroy = async_request_free;
    task.priority = priority;
    task.flags = MXC_TASK_HELPED | (is_push ? 0 : MXC_TASK_UPDATES);
    mxc_status status = mxc_engine_push(mxc_var_engine(of_array), &task, is_push, &of_array, 2 - is_push, writes, 0);
    if (status != MXC_OK)
        async_request_free(request);
    return status;
}

mxc_status mxci_async_push(mxci_async *async, mxci_key *own, mxc_ndarray *gradient, double lr, int priority) {
    MXC_TRY(mxci_comm_check(async->comm));
    own->pushes++;
    return queue_request(async, own, gradient, lr, priority, 1);
}

mxc_status mxci_async_pull(mxci_async *async, mxci_key *own, int priority) {
    MXC_TRY(mxci_comm_check(async->comm));
    return queue_request(async, own, own->stored, 0, priority, 0);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static void async_key_free(mxci_async_key *key) {
    mxci_server_remove(key);
    mxc_var_delete(key->sequence, NULL, NULL);
    mxci_free(key->parts);
    mxci_free(key);
}

/* A large key is split over all servers, a small one is kept by one server, chosen round-robin. */
static mxc_status place_key(mxci_async *async, mxci_async_key *key) {
    int64_t n = mxc_ndarray_size(key->own->stored);
    int is_spread = (int64_t)mxc_ndarray_bytes(key->own->stored) >= async->settings.split_bytes && n >= async->servers;
    key->n_parts = is_spread ? async->servers : 1;
    key->parts = mxci_calloc((size_t)key->n_parts, sizeof *key->parts);
    if (!key->parts)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", key->own->name);
    for (int i = 0; i < key->n_parts; i++) {
        int64_t begin = n * i / key->n_parts, end = n * (i + 1) / key->n_parts;
        key->parts[i] =
            (mxci_key_part){.server = is_spread ? i : async->n_keys % async->servers, .begin = begin, .n = end - begin};
    }
    return mxci_server_add(async, key);
}

/* Divide a key into parts and create those that this rank serves. */
static mxc_status async_key_create(mxci_async *async, mxci_key *own, mxci_async_key **out) {
    mxci_async_key *key = mxci_calloc(1, sizeof *key);
    *out = NULL;
    if (!key)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", own->name);
    key->own = own;
    key->dtype = mxc_ndarray_dtype(own->stored);
    mxc_status status = mxc_var_create(mxc_var_engine(mxc_ndarray_var(own->stored)), &key->sequence);
    if (status == MXC_OK)
        status = place_key(async, key);
    if (status == MXC_OK)
        *out = key;
    else
        async_key_free(key);
    return status;
}

static mxc_status append_key(mxci_async *async, mxci_async_key *key) {
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&async->lock);
    if (async->n_keys == async->cap_keys) {
        int cap = async->cap_keys > 0 ? 2 * async->cap_keys : 16;
        mxci_async_key **keys = mxci_realloc_array(async->keys, (size_t)cap, sizeof *keys);
        if (keys) {
            async->keys = keys;
            async->cap_keys = cap;
        } else
            status = MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d keys", cap);
    }
    if (status == MXC_OK)
        async->keys[async->n_keys++] = key;
    mxci_mutex_unlock(&async->lock);
    return status;
}

mxc_status mxci_async_add(mxci_async *async, mxci_key *own) {
    mxci_async_key *key;
    MXC_TRY(async_key_create(async, own, &key));
    mxc_status status = append_key(async, key);
    if (status != MXC_OK) {
        async_key_free(key);
        return status;
    }
    own->index = async->n_keys - 1;
    mxci_call barrier = {.kind = MXCI_CALL_BARRIER, .name = "a new key"};
    return mxci_comm_call(async->comm, &barrier);
}

/* ---- opening and closing ------------------------------------------------------------------------------------- */

static mxc_status receive_message(void *arg, int from, const void *data, size_t bytes) {
    const mxci_message_header *m = data;
    if (bytes < sizeof *m)
        return MXC_FAIL(MXC_EWORKER, "rank %d sent a message of %zu bytes", from, bytes);
    return m->kind == MXCI_MESSAGE_VALUE ? receive_value(arg, from, m, bytes - sizeof *m)
                                         : mxci_server_receive(arg, from, m, bytes - sizeof *m);
}

/* Communication has failed: end all pulls that wait for values. */
static void fail_pulls(void *arg, mxc_status status, const char *error) {
    mxci_async *async = arg;
    for (int i = 0;; i++) {
        mxci_async_key *key = mxci_async_find(async, i);
        if (!key)
            return;
        end_pull(async, key, status, error);
    }
}

static void async_free(mxci_async *async) {
    for (int i = 0; i < async->n_keys; i++)
        async_key_free(async->keys[i]);
    mxc_optimizer_destroy(async->optimizer);
    mxci_mutex_destroy(&async->lock);
    mxci_free(async->keys);
    mxci_free(async);
}

mxc_status mxci_async_open(const mxci_process_group_api *api, const mxci_comm_settings *comm_settings,
                           const mxci_async_settings *settings, mxci_async **out, mxci_comm **comm) {
    mxci_async *async = mxci_calloc(1, sizeof *async);
    const mxci_message_handler handler = {receive_message, fail_pulls, async};
    *out = NULL;
    *comm = NULL;
    if (!async)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for the store");
    async->settings = *settings;
    mxci_mutex_init(&async->lock);
    mxc_status status = mxci_comm_open(api, comm_settings, &handler, &async->comm);
    if (status != MXC_OK) {
        async_free(async);
        return status;
    }
    async->rank = mxci_comm_rank(async->comm);
    async->size = mxci_comm_size(async->comm);
    async->servers = settings->servers > 0 && settings->servers < async->size ? (int)settings->servers : async->size;
    *out = async;
    *comm = async->comm;
    return MXC_OK;
}

mxc_status mxci_async_set_optimizer(mxci_async *async, const mxc_optimizer *optimizer) {
    mxc_optimizer *copy = NULL;
    if (optimizer)
        MXC_TRY(mxci_optimizer_clone(optimizer, &copy));
    mxci_mutex_lock(&async->lock);
    mxc_optimizer *old = async->optimizer;
    async->optimizer = copy;
    mxci_mutex_unlock(&async->lock);
    mxc_optimizer_destroy(old);
    return MXC_OK;
}

void mxci_async_close(mxci_async *async) {
    if (!async)
        return;
    for (int i = 0; i < async->n_keys; i++)
        MXC_IGNORE(mxc_wait_to_write(async->keys[i]->sequence)); /* closing goes on */
    for (int i = 0; i < async->servers; i++) {
        mxci_message *message = mxci_message_create(i, DATA);
        if (!message)
            break; /* workers that wait for its pushes fail when its store closes */
        *mxci_message_header_of(message) = (mxci_message_header){.kind = MXCI_MESSAGE_WORKER_DONE};
        mxci_comm_send(async->comm, message);
    }
    mxci_comm_close(async->comm);
    async_free(async);
}
