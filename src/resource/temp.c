/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch memory per thread and context: a short list in thread-local storage, freed when the thread ends. */
#include "resource/temp.h"

#include <mxc/storage.h>

#include "base/sys.h"
#include "engine/device/run_memory.h"

/* Whose block it is. */
typedef enum temp_user { LIBRARY, PROGRAM } temp_user;

typedef struct scratch {
    struct scratch *next;
    mxc_context context;
    temp_user user;
    void *block;
    size_t bytes;
} scratch;

static _Thread_local scratch
    *thread_list; /* the list of this thread, no lock needed; a few entries, by context and user */

/* The destructor of the key; also called by mxci_temp_release. */
static void release_list(void *list) {
    for (scratch *s = list, *next; s; s = next) {
        next = s->next;
        mxc_storage_free(s->context, s->block, s->bytes);
        mxci_free(s);
    }
}

/* The thread-local key, created once; its only purpose is its destructor, release_list, which runs when a thread ends.
 */
static mxc_status exit_key(mxci_tls *out) {
    static mxci_global_mutex lock = MXCI_GLOBAL_MUTEX_INIT;
    static mxci_tls key;
    static int is_created;
    mxc_status status = MXC_OK;
    mxci_global_lock(&lock);
    if (!is_created) {
        status = mxci_tls_create(&key, release_list);
        is_created = status == MXC_OK;
    }
    *out = key;
    mxci_global_unlock(&lock);
    return status;
}

/* This thread's entry for a context and user, created if there is none. */
static mxc_status find_entry(mxc_context context, temp_user user, scratch **out) {
    mxci_tls key;
    scratch *s = thread_list;
    while (s && (s->user != user || !mxc_context_equal(s->context, context)))
        s = s->next;
    *out = s;
    if (s)
        return MXC_OK;
    MXC_TRY(exit_key(&key));
    s = mxci_calloc(1, sizeof *s);
    if (!s)
        return MXC_FAIL(MXC_ENOMEM, "no memory for an entry of scratch memory");
    s->context = context;
    s->user = user;
    s->next = thread_list;
    if (mxci_tls_set(key, s) != MXC_OK) {
        mxci_free(s);
        return MXC_ENOMEM;
    }
    *out = thread_list = s;
    return MXC_OK;
}

static void temp_drop(scratch *s) {
    mxc_storage_free(s->context, s->block, s->bytes);
    s->block = NULL;
    s->bytes = 0;
}

/* Replace the block by a larger one. Work that was queued on this thread's stream, by this function or those before it,
 * may still use the old one. */
static mxc_status temp_grow(const mxc_run *run, scratch *s, size_t bytes) {
    mxc_status status;
    if (s->block)
        MXC_TRY(mxci_run_synchronize(run));
    temp_drop(s);
    MXC_TRY(mxc_storage_alloc(s->context, bytes, &s->block));
    s->bytes = mxc_storage_class_size(bytes);
    status = mxci_run_memory_acquired(run);
    if (status != MXC_OK)
        temp_drop(s);
    return status;
}

/* Under the address sanitizer only the bytes that were requested may be accessed. */
static mxc_status temp_get(const mxc_run *run, temp_user user, size_t bytes, void **out) {
    scratch *s;
    *out = NULL;
    MXC_TRY(find_entry(run->context, user, &s));
    if (bytes > s->bytes)
        MXC_TRY(temp_grow(run, s, bytes));
    if (s->context.device != MXC_GPU)
        mxci_memory_usable(s->block, bytes, s->bytes);
    *out = s->block;
    return MXC_OK;
}

mxc_status mxci_temp_get(const mxc_run *run, size_t bytes, void **out) {
    return temp_get(run, LIBRARY, bytes, out);
}

mxc_status mxci_temp_get_for_program(const mxc_run *run, size_t bytes, void **out) {
    return temp_get(run, PROGRAM, bytes, out);
}

void mxci_temp_release(void) {
    scratch *list = thread_list;
    mxci_tls key;
    thread_list = NULL;
    if (list && exit_key(&key) == MXC_OK)
        MXC_IGNORE(mxci_tls_set(key, NULL));
    release_list(list);
}
