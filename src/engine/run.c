/* Running and ending one block. */
#include "engine/run.h"

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/trace.h"
#include "engine/engine.h"
#include "engine/op.h"

MXCI_THREAD_LOCAL mxci_frame *mxci_frame_top;

int mxci_inside(const mxc_engine *engine) {
    for (const mxci_frame *f = mxci_frame_top; f; f = f->outer)
        if (!engine || f->engine == engine)
            return 1;
    return 0;
}

mxci_runner *mxci_runner_claim(mxc_engine *engine) {
    int first = mxci_thread_index();
    for (int i = 0; i < MXCI_GUESTS; i++) {
        mxci_runner *runner = &engine->runners[engine->workers + (first + i) % MXCI_GUESTS];
        uint32_t idle = 0;
        if (atomic_compare_exchange_strong_explicit(&runner->busy, &idle, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return runner;
    }
    return NULL;
}

void mxci_runner_release(mxci_runner *runner) {
    atomic_store_explicit(&runner->busy, 0, memory_order_release);
}

/* ---- calling the function ---- */

static void close_guest(mxci_guest_stream **at) {
    mxci_guest_stream *guest = *at;
    *at = guest->next;
    mxci_stream_close(&guest->stream);
    mxci_free(guest);
}

void mxci_runner_close(mxci_runner *runner) {
    while (runner->streams)
        close_guest(&runner->streams);
}

/* Where the runner's stream for the context is linked, or where its list ends. */
static mxci_guest_stream **find_guest(mxci_runner *runner, mxc_context context) {
    mxci_guest_stream **at = &runner->streams;
    while (*at && !mxc_context_equal((*at)->stream.context, context))
        at = &(*at)->next;
    return at;
}

/* The runner's stream for what the body needs, made if it has none; NULL if the device has no streams. */
static mxc_status guest_stream(mxci_runner *runner, const mxci_body *body, mxci_stream **out) {
    mxci_guest_stream **at, *guest;
    mxc_status status;
    *out = NULL;
    if (!body->device || !body->device->stream_create)
        return MXC_OK;
    at = find_guest(runner, body->context);
    if (!*at) {
        guest = mxci_calloc(1, sizeof *guest);
        if (!guest)
            return MXC_FAIL(MXC_ENOMEM, "engine: no memory for a stream");
        status = mxci_stream_open(NULL, body->device, body->context, 0, &guest->stream);
        if (status != MXC_OK) {
            mxci_free(guest);
            return status;
        }
        *at = guest;
    }
    *out = &(*at)->stream;
    return MXC_OK;
}

/* What failed may fail for ever after: the next function gets another stream. */
static void drop_guest(mxci_runner *runner, mxc_context context) {
    mxci_guest_stream **at = find_guest(runner, context);
    if (*at)
        close_guest(at);
}

/* Fails only if the function was not called: it says itself how it ends. It is called when all that it comes after is
 * done, since it may hand its work to anybody. guest: to wait for, or NULL. */
static mxc_status call_async(mxci_runner *runner, mxci_block *block, const mxc_run *run, const mxci_stream *guest) {
    MXC_TRY(mxci_marks_before(block, NULL));
    block->body->async_fn(run, block->body->arg, (mxc_done *)block);
    if (guest && guest->device->stream_wait && guest->device->stream_wait(run->context, guest->handle) != MXC_OK)
        drop_guest(runner, run->context);
    return MXC_OK;
}

static mxc_status call_ordered(mxci_block *block, const mxc_run *run, mxci_stream *stream) {
    mxc_status status, after;
    mxci_frame_top->stream = stream;
    MXC_TRY(mxci_marks_before(block, stream));
    status = block->body->fn(run, block->body->arg);
    after = mxci_marks_after(block, stream);
    return status != MXC_OK ? status : after;
}

static mxc_status call_sync(mxci_block *block, const mxc_run *run, mxci_stream *stream) {
    if (stream || mxci_has_marks(run->engine))
        return call_ordered(block, run, stream);
    return block->body->fn(run, block->body->arg);
}

static mxc_status call(mxci_runner *runner, mxci_stream *given, mxci_block *block) {
    const mxci_body *body = block->body;
    mxc_run run = {block->home->engine, body->context, NULL, block->token, runner->number};
    mxci_stream *guest = NULL, *stream = body->device ? given : NULL;
    mxc_status status;
    if (!stream) {
        MXC_TRY(guest_stream(runner, body, &guest));
        stream = guest;
    }
    run.stream = stream ? stream->handle : NULL;
    if (body->async_fn)
        return call_async(runner, block, &run, guest);
    status = call_sync(block, &run, stream);
    if (guest && status != MXC_OK)
        drop_guest(runner, run.context);
    return status;
}

/* With the message of this thread, or one made up for a function that left none since before. */
static mxci_failure *failure_of(const mxci_body *body, mxc_status status, unsigned before) {
    if (status == MXC_OK)
        return NULL;
    if (mxci_error_count() == before)
        MXC_IGNORE(MXC_FAIL(status, "%s: %s", body->name, mxc_status_text(status)));
    return mxci_failure_of_thread(status);
}

void mxci_note_first(mxc_engine *engine, mxci_failure *failure) {
    mxci_failure *none = NULL;
    if (!failure || atomic_load(&engine->first_failure))
        return;
    mxci_failure_retain(failure);
    if (!atomic_compare_exchange_strong(&engine->first_failure, &none, failure))
        mxci_failure_release(failure);
}

void mxci_flight_add(mxc_engine *engine, mxci_block *block) {
    mxci_lock_take(&engine->flight_lock);
    block->flight_next = engine->flight;
    block->flight_link = &engine->flight;
    if (engine->flight)
        engine->flight->flight_link = &block->flight_next;
    engine->flight = block;
    mxci_lock_drop(&engine->flight_lock);
    block->in_flight = 1;
}

void mxci_flight_remove(mxc_engine *engine, mxci_block *block) {
    mxci_lock_take(&engine->flight_lock);
    *block->flight_link = block->flight_next;
    if (block->flight_next)
        block->flight_next->flight_link = block->flight_link;
    mxci_lock_drop(&engine->flight_lock);
    block->in_flight = 0;
}

/* Call with all the circumstance: frame, trace, failure. */
static mxci_failure *perform(mxci_runner *runner, mxci_stream *stream, mxci_block *block) {
    mxc_engine *engine = block->home->engine;
    const char *name = block->body->name;
    mxci_frame frame = {mxci_frame_top, engine, block, NULL};
    unsigned before = mxci_error_count();
    int64_t begin = mxci_trace_begin();
    mxc_status status;
    mxci_frame_top = &frame;
    runner->block = block;
    status = call(runner, stream, block);
    runner->block = NULL;
    mxci_frame_top = frame.outer;
    mxci_trace_end(begin, name, "engine");
    return failure_of(block->body, status, before);
}

static void run_async(mxci_runner *runner, mxci_stream *stream, mxci_block *block, mxci_list *ready,
                      mxci_failure **own) {
    mxc_engine *engine = block->home->engine;
    mxci_failure *failure;
    block->failure = NULL;
    atomic_store_explicit(&block->parties, 2, memory_order_relaxed);
    mxci_flight_add(engine, block);
    failure = perform(runner, stream, block);
    if (failure)
        mxci_note_first(engine, failure); /* no stream, so the function was not called, and nobody will tell its end */
    else if (engine->kind->half(block, 0))
        failure = block->failure;
    else
        return;
    if (own)
        *own = mxci_failure_retain(failure);
    mxci_block_end(block, failure, ready);
}

/* In the child of a fork: whoever waits for it is not there. It ends as if it had not been pushed. */
static void end_unawaited(mxci_block *block, mxci_list *ready) {
    for (int i = 0; i < block->n_deps; i++)
        if (block->deps[i].mode == MXCI_CHANGE)
            block->deps[i].mode = MXCI_VOID;
    mxci_block_end(block, NULL, ready);
}

void mxci_block_run(mxci_runner *runner, mxci_stream *stream, mxci_block *block, mxci_list *ready, mxci_failure **own) {
    mxci_failure *failure;
    if ((block->body->flags & MXC_TASK_AWAITED) && mxci_thread_is_lost(block->pusher)) {
        end_unawaited(block, ready);
        return;
    }
    failure = mxci_block_inherited(block);
    if (failure) {
        mxci_block_end(block, mxci_failure_retain(failure), ready);
    } else if (block->body->async_fn) {
        run_async(runner, stream, block, ready, own);
    } else {
        failure = perform(runner, stream, block);
        mxci_note_first(block->home->engine, failure);
        if (own)
            *own = mxci_failure_retain(failure);
        mxci_block_end(block, failure, ready);
    }
}

/* ---- ending ---- */

static void end_body(const mxci_body *body) {
    if (body->op)
        mxci_op_ended(body->op);
    else if (body->destroy)
        body->destroy(body->arg);
}

/* One more has ended. Who drains the epoch can only see its end when the last one of a stripe has. */
static void count_end(mxci_stripe *home, int epoch) {
    uint64_t ended = atomic_fetch_add(&home->ended[epoch], 1) + 1;
    if (atomic_load(&home->engine->draining) && ended == atomic_load(&home->pushed[epoch]))
        mxci_event_raise(&home->engine->event);
}

void mxci_block_end(mxci_block *block, mxci_failure *failure, mxci_list *ready) {
    mxci_stripe *home = block->home;
    int epoch = block->epoch;
    if (block->in_flight)
        mxci_flight_remove(home->engine, block);
    end_body(block->body);
    mxci_block_release(block, failure, ready);
    mxci_failure_release(failure);
    if (!block->canceled)
        mxci_block_return(block);
    count_end(home, epoch);
}

void mxc_done_complete(mxc_done *done, mxc_status status, const char *message) {
    if (!done)
        return;
    mxci_block *block = (mxci_block *)done;
    mxc_engine *engine = block->home->engine;
    mxci_list ready = {NULL, NULL};
    atomic_fetch_add(&engine->telling, 1);
    mxci_gate_enter();
    if (!block->canceled) {
        block->failure = status == MXC_OK ? NULL : mxci_failure_of_text(status, message);
        mxci_note_first(engine, block->failure);
        if (engine->kind->half(block, 1))
            mxci_block_end(block, block->failure, &ready);
        mxci_dispatch(engine, &ready);
    }
    mxci_gate_leave();
    atomic_fetch_sub(&engine->telling, 1); /* the engine may be destroyed from here on */
}

/* ---- after a fork ---- */

static int on_this_thread(const mxci_block *block) {
    for (const mxci_frame *f = mxci_frame_top; f; f = f->outer)
        if (f->block == block)
            return 1;
    return 0;
}

static void cancel(mxc_engine *engine, mxci_block *block, mxci_list *ready) {
    char text[MXC_ERROR_MAX];
    mxci_failure *failure;
    mxci_format(text, sizeof text, "%s: had not ended when the process forked", block->body->name);
    failure = mxci_failure_of_text(MXC_ECANCELED, text);
    mxci_note_first(engine, failure);
    block->canceled = 1;
    mxci_block_end(block, failure, ready);
}

/* A block that a naive engine's thread was to run; it has not begun. */
static void release_held(mxc_engine *engine, mxci_block *block, mxci_list *ready) {
    mxci_flight_remove(engine, block);
    block->waited = 0;
    if (atomic_exchange(&block->done, 0))
        mxci_list_add(ready, block);
}

void mxci_cancel_lost(mxc_engine *engine, mxci_list *ready) {
    mxci_block *next;
    for (int i = 0; i < engine->thread_limit; i++) {
        mxci_runner *runner = &engine->runners[i];
        mxci_block *block = runner->block;
        if (block && on_this_thread(block))
            continue;
        runner->block = NULL;
        mxci_runner_release(runner);
        if (block && !block->body->async_fn)
            cancel(engine, block, ready);
    }
    for (mxci_block *block = engine->flight; block; block = next) {
        next = block->flight_next;
        if (block->waited)
            release_held(engine, block, ready);
        else if (!on_this_thread(block))
            cancel(engine, block, ready);
    }
}
