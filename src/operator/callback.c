/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that call functions of the program, and their queue. */
#include "operator/callback.h"

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

/* Further calls wait until one of these ends. Callbacks that wait for each other deadlock beyond this number. */
enum { MAX_THREADS = 256 };

static struct {
    mxci_global_mutex lock;      /* over everything below */
    mxci_cond more;              /* signalled once per queued call */
    mxci_callback *first, **end; /* FIFO */
    int queued, idle, threads;   /* calls in the queue; threads that wait; threads in all */
    int watches_forks;
} queue = {.lock = MXCI_GLOBAL_MUTEX_INIT, .more = MXCI_COND_INIT, .end = &queue.first};

/* ---- fork: none of these threads exists in the child, where the engine completes their tasks ---- */

static void in_child(void) {
    mxci_cond_init(&queue.more);
    queue.first = NULL;
    queue.end = &queue.first;
    queue.queued = queue.idle = queue.threads = 0;
}

/* ---- calls ---- */

/* A function that fails without a message of its own gets one from its status. */
static void callback_call(const mxci_callback *callback) {
    mxc_done *done = callback->done; /* the owner may free the callback once done is completed */
    unsigned before = mxci_error_count();
    mxc_status status = callback->fn(callback->arg);
    if (status != MXC_OK && mxci_error_count() == before)
        MXC_IGNORE(MXC_FAIL(status, "%s: %s", callback->name, mxc_status_text(status)));
    mxc_done_complete(done, status, status == MXC_OK ? NULL : mxc_last_error());
}

/* The next call; waits for one. Lock held. */
static mxci_callback *callback_take(void) {
    mxci_callback *callback;
    while (!queue.first) {
        queue.idle++;
        mxci_cond_wait(&queue.more, &queue.lock.mutex);
        queue.idle--;
    }
    callback = queue.first;
    queue.first = callback->next;
    if (!queue.first)
        queue.end = &queue.first;
    queue.queued--;
    return callback;
}

static void thread_main(void *arg) {
    (void)arg;
    for (;;) {
        mxci_callback *callback;
        mxci_global_lock(&queue.lock);
        callback = callback_take();
        mxci_global_unlock(&queue.lock);
        callback_call(callback);
    }
}

/* Lock held. The fork handler is registered with the first thread. */
static mxc_status start_thread(void) {
    char name[32];
    mxci_thread thread;
    if (!queue.watches_forks)
        MXC_TRY(mxci_at_fork(NULL, NULL, in_child));
    queue.watches_forks = 1;
    mxci_format(name, sizeof name, "mxc-call-%d", queue.threads);
    MXC_TRY(mxci_thread_start(&thread, name, thread_main, NULL));
    mxci_thread_detach(thread);
    queue.threads++;
    return MXC_OK;
}

void mxci_callback_push(mxci_callback *callback) {
    mxc_status status = MXC_OK;
    mxci_global_lock(&queue.lock);
    if (queue.queued + 1 > queue.idle && queue.threads < MAX_THREADS)
        status = start_thread();
    if (queue.threads > 0) { /* the threads that run suffice, if less well */
        status = MXC_OK;
        callback->next = NULL;
        *queue.end = callback;
        queue.end = &callback->next;
        queue.queued++;
        mxci_cond_signal(&queue.more);
    }
    mxci_global_unlock(&queue.lock);
    if (status != MXC_OK)
        mxc_done_complete(callback->done, status, mxc_last_error());
}
