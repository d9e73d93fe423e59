/*
 * The naive kind: a push runs its function and returns when that has ended, also an asynchronous one. Threads of the
 * program that push run side by side where the variables allow it. A function pushed from inside another one that it
 * depends on runs when that has ended; so does what is nested too deep.
 */
#include "engine/engine.h"

/* Blocks that the innermost push on this thread will run before it returns. */
static MXCI_THREAD_LOCAL mxci_list *later;

static mxc_status naive_prepare(mxc_engine *engine, mxci_body *body, mxc_property property) {
    (void)engine;
    (void)body;
    (void)property;
    return MXC_OK;
}

static int naive_direct(const mxci_body *body) {
    (void)body;
    return 1;
}

static mxc_status wait_done(mxci_block *block) {
    mxci_wait wait = {.engine = block->home->engine, .over = mxci_wait_block_done, .block = block};
    MXC_TRY(mxci_wait_for(&wait));
    atomic_store_explicit(&block->done, 0, memory_order_relaxed);
    return MXC_OK;
}

static void tell(mxci_block *block) {
    mxc_engine *engine = block->home->engine;
    atomic_store(&block->done, 1);
    mxci_event_raise(&engine->event);
}

/* While a block waits for its turn on this thread it is listed, so that it is run in the child of a fork. */
static void list_held(mxci_block *block, uint32_t ready) {
    block->waited = 1;
    atomic_store(&block->done, ready);
    mxci_flight_add(block->home->engine, block);
}

static void unlist_held(mxci_block *block) {
    mxci_flight_remove(block->home->engine, block);
    block->waited = 0;
    atomic_store_explicit(&block->done, 0, memory_order_relaxed);
}

/* Hand what became ready to the threads that wait for it; keep the rest. */
static void sort_out(mxci_list *fresh, mxci_list *kept) {
    mxci_block *block;
    while ((block = mxci_list_take(fresh)) != NULL) {
        if (block->waited) {
            tell(block);
        } else {
            list_held(block, 1);
            mxci_list_add(kept, block);
        }
    }
}

/* Run a block, then what became ready by it and has no thread of its own. own: see mxci_block_run. */
static void run_now(mxc_engine *engine, mxci_block *block, mxci_failure **own) {
    mxci_list kept = {NULL, NULL}, *outer = later;
    mxci_runner *runner = mxci_runner_claim(engine);
    if (!runner && outer) {
        list_held(block, 1);
        mxci_list_add(outer, block);
        return;
    }
    for (; !runner; runner = mxci_runner_claim(engine))
        mxci_thread_yield();
    later = &kept;
    while (block) {
        mxci_list fresh = {NULL, NULL};
        mxci_block_run(runner, NULL, block, &fresh, own);
        own = NULL;
        sort_out(&fresh, &kept);
        block = mxci_list_take(&kept);
        if (block)
            unlist_held(block);
    }
    later = outer;
    mxci_runner_release(runner);
}

static void naive_enqueue(mxc_engine *engine, mxci_block *block) {
    if (block->waited)
        tell(block);
    else
        run_now(engine, block, NULL);
}

static void naive_wake(mxc_engine *engine, mxci_pool *pool) {
    (void)engine;
    (void)pool;
}

/* Another thread runs what the block depends on. */
static mxc_status await_turn(mxci_block *block) {
    mxc_status status;
    mxci_flight_add(block->home->engine, block); /* as list_held, but done may be set already */
    status = wait_done(block);
    unlist_held(block);
    return status;
}

static mxc_status naive_run(mxc_engine *engine, mxci_block *block, int ready) {
    mxci_failure *own = NULL;
    mxc_status status;
    if (!ready && (mxci_inside(NULL) || mxci_in_part()))
        return MXC_OK; /* whoever ends what it depends on runs it: perhaps this thread, after this function */
    if (!ready)
        MXC_TRY(await_turn(block));
    block->waited = 0;
    run_now(engine, block, &own);
    status = mxci_failure_raise(own);
    mxci_failure_release(own);
    return status;
}

/* The block is always ended by the thread that called the function. */
static int naive_half(mxci_block *block, int told) {
    int last = atomic_fetch_sub_explicit(&block->parties, 1, memory_order_acq_rel) == 1;
    if (told && last)
        tell(block);
    if (!told && !last)
        (void)wait_done(block);
    return !told;
}

static mxc_status naive_wait(const mxci_wait *wait) {
    mxci_wait_plainly(wait);
    return MXC_OK;
}

const mxci_kind mxci_kind_naive = {
    .prepare = naive_prepare,
    .direct = naive_direct,
    .enqueue = naive_enqueue,
    .wake = naive_wake,
    .run = naive_run,
    .half = naive_half,
    .wait = naive_wait,
    .waits_for_turn = 1,
};
