/*
 * The seeded kind, for tests: pushes only queue; waits run what is ready, one function after the other, in an order
 * that the seed picks among all that the dependencies allow. That an asynchronous function has ended is one more event
 * in this order. One number is one schedule, as long as one thread pushes and waits.
 */
#include "engine/engine.h"

static mxc_status seeded_prepare(mxc_engine *engine, mxci_body *body, mxc_property property) {
    (void)engine;
    (void)body;
    (void)property;
    return MXC_OK;
}

static int seeded_direct(const mxci_body *body) {
    (void)body;
    return 0;
}

/* splitmix64; the lock is held */
static uint32_t random_number(mxci_seeded *s) {
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

uint32_t mxci_seeded_random(mxc_engine *engine) {
    uint32_t number;
    mxci_lock_take(&engine->seeded.lock);
    number = random_number(&engine->seeded);
    mxci_lock_drop(&engine->seeded.lock);
    return number;
}

static void seeded_enqueue(mxc_engine *engine, mxci_block *block) {
    mxci_lock_take(&engine->seeded.lock);
    mxci_list_add(&engine->seeded.ready, block);
    engine->seeded.count++;
    mxci_lock_drop(&engine->seeded.lock);
}

static void seeded_wake(mxc_engine *engine, mxci_pool *pool) {
    (void)pool;
    mxci_event_raise(&engine->event);
}

static mxc_status seeded_run(mxc_engine *engine, mxci_block *block, int ready) {
    (void)engine;
    (void)block;
    (void)ready;
    return MXC_OK;
}

static int seeded_half(mxci_block *block, int told) {
    mxc_engine *engine = block->home->engine;
    (void)told;
    if (atomic_fetch_sub_explicit(&block->parties, 1, memory_order_acq_rel) != 1)
        return 0;
    atomic_store_explicit(&block->done, 1, memory_order_relaxed);
    seeded_enqueue(engine, block);
    mxci_event_raise(&engine->event);
    return 0;
}

/* One of those that are ready, NULL if there are none. */
static mxci_block *pick(mxci_seeded *s) {
    mxci_block *block = NULL;
    mxci_lock_take(&s->lock);
    if (s->count) {
        uint32_t skip = random_number(s) % s->count--;
        mxci_block *before = NULL;
        for (block = s->ready.first; skip--; block = block->next)
            before = block;
        *(before ? &before->next : &s->ready.first) = block->next;
        if (s->ready.last == block)
            s->ready.last = before;
    }
    mxci_lock_drop(&s->lock);
    return block;
}

/* 0 if nothing is ready. */
static int run_one(mxc_engine *engine) {
    mxci_list follow = {NULL, NULL};
    mxci_runner *runner = mxci_runner_claim(engine);
    mxci_block *block = NULL;
    mxci_gate_enter();
    if (runner)
        block = pick(&engine->seeded);
    if (block && atomic_load_explicit(&block->done, memory_order_relaxed))
        mxci_block_end(block, block->failure, &follow);
    else if (block)
        mxci_block_run(runner, NULL, block, &follow, NULL);
    mxci_dispatch(engine, &follow);
    if (runner)
        mxci_runner_release(runner);
    mxci_gate_leave();
    return block != NULL;
}

/* Functions run on one thread at a time, and on that one also from waits inside them. */
static int become_owner(mxci_seeded *s, uint32_t me) {
    uint32_t expected = 0;
    return atomic_load(&s->owner) == me || atomic_compare_exchange_strong(&s->owner, &expected, me);
}

static mxc_status seeded_wait(const mxci_wait *wait) {
    mxc_engine *engine = wait->engine;
    uint32_t me = (uint32_t)mxci_thread_index() + 1;
    int nested = atomic_load(&engine->seeded.owner) == me;
    while (!wait->over(wait)) {
        uint32_t word = mxci_wait_announce(wait);
        int progress = become_owner(&engine->seeded, me) && run_one(engine);
        if (!nested && atomic_load(&engine->seeded.owner) == me)
            atomic_store(&engine->seeded.owner, 0);
        if (!progress)
            mxci_wait_sleep(wait, word);
    }
    mxci_event_raise(&engine->event); /* another, which found this one the owner, has to go on */
    return MXC_OK;
}

const mxci_kind mxci_kind_seeded = {
    .prepare = seeded_prepare,
    .direct = seeded_direct,
    .enqueue = seeded_enqueue,
    .wake = seeded_wake,
    .run = seeded_run,
    .half = seeded_half,
    .wait = seeded_wait,
};
