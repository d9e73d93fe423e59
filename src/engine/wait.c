/* The public waits, and how a thread sleeps. */
#include "engine/wait.h"

#include "engine/engine.h"
#include "engine/op.h"
#include "engine/spin.h"

/* ---- sleeping ---- */

void mxci_event_raise(mxci_event *event) {
    mxci_event_call(event, INT32_MAX);
}

void mxci_event_call(mxci_event *event, int count) {
    atomic_fetch_add(&event->word, 1);
    if (atomic_load(&event->parked) > 0)
        mxci_unpark(&event->word, count);
}

uint32_t mxci_wait_announce(const mxci_wait *wait) {
    uint32_t word = atomic_load(&wait->engine->event.word);
    if (wait->var) {
        mxci_gate_enter();
        mxci_var_wake_at(wait->var, wait->version);
        mxci_gate_leave();
    }
    return word;
}

void mxci_wait_sleep(const mxci_wait *wait, uint32_t word) {
    mxci_event *event = &wait->engine->event;
    atomic_fetch_add(&event->parked, 1);
    if (!wait->over(wait) && !mxci_loops_open(&wait->engine->loops))
        mxci_park(&event->word, word, INT64_MAX);
    atomic_fetch_sub(&event->parked, 1);
}

/* Look until the event is raised; 0 if that lasted too long. */
static int look(mxci_event *event, uint32_t word, mxci_spin *spin) {
    while (atomic_load(&event->word) == word)
        if (!mxci_spin_on(spin))
            return 0;
    return 1;
}

void mxci_wait_plainly(const mxci_wait *wait) {
    mxci_spin spin = mxci_spin_begin(wait->engine->spin_ns);
    for (;;) {
        uint32_t word = mxci_wait_announce(wait);
        if (wait->over(wait))
            return;
        if (!look(&wait->engine->event, word, &spin))
            mxci_wait_sleep(wait, word);
    }
}

mxc_status mxci_wait_for(const mxci_wait *wait) {
    int depth = mxci_gate_suspend();
    mxc_status status = wait->engine->kind->wait(wait);
    mxci_gate_resume(depth);
    return status;
}

int mxci_wait_block_done(const mxci_wait *wait) {
    return atomic_load_explicit(&wait->block->done, memory_order_acquire) != 0;
}

/* ---- one variable ---- */

static int version_reached(const mxci_wait *wait) {
    return atomic_load_explicit(&wait->var->version, memory_order_acquire) >= wait->version;
}

/* A function that waits for a variable that it names itself would wait for its own end. */
static mxc_status check_not_named(const char *who, const mxc_var *var) {
    for (const mxci_frame *f = mxci_frame_top; f; f = f->outer)
        for (int i = 0; i < f->block->n_deps; i++)
            if (f->block->deps[i].var == var)
                return MXC_FAIL(MXC_ESTATE, "%s: called inside %s for a variable that this function itself names", who,
                                f->block->body->name);
    return MXC_OK;
}

/* No function is to run any more that changes it, or that uses it if all is set. */
static mxc_status settle_and_raise(mxc_var *var, int all) {
    mxci_failure *failure;
    mxc_status late = mxci_var_settle(var, all), status;
    if (!atomic_load_explicit(&var->engine->failed, memory_order_relaxed))
        return late;
    mxci_gate_enter();
    failure = mxci_var_failure(var);
    mxci_gate_leave();
    status = mxci_failure_raise(failure);
    mxci_failure_release(failure);
    return status != MXC_OK ? status : late;
}

static mxc_status check_var(const char *who, const mxc_var *var) {
    if (!var)
        return MXC_FAIL(MXC_EINVAL, "%s: var is NULL", who);
    return mxci_engine_resume(var->engine);
}

mxc_status mxc_wait_to_read(mxc_var *var) {
    mxci_wait wait = {.over = version_reached, .var = var};
    MXC_TRY(check_var("mxc_wait_to_read", var));
    wait.engine = var->engine;
    wait.version = atomic_load_explicit(&var->pushed, memory_order_acquire);
    if (!version_reached(&wait)) {
        MXC_TRY(check_not_named("mxc_wait_to_read", var));
        MXC_TRY(mxci_wait_for(&wait));
    }
    return settle_and_raise(var, 0);
}

/* Stand in the variable's queue like a change. NULL in *out if everything before has run already. */
static mxc_status stand_in_queue(mxc_var *var, mxci_block **out) {
    mxc_engine *engine = var->engine;
    mxci_stripe *stripe = &engine->stripes[mxci_thread_index() % MXCI_STRIPES];
    mxci_list follow = {NULL, NULL};
    mxci_block *block;
    mxci_gate_enter();
    mxci_lock_take(&stripe->lock);
    block = mxci_block_take(stripe, 1, 0);
    if (block) {
        block->body = &mxci_sync_body;
        block->deps[0] = (mxci_dep){var, NULL, 0, MXCI_SYNC};
        atomic_store_explicit(&block->done, 0, memory_order_relaxed);
    }
    if (block && mxci_block_queue(block)) {
        mxci_block_release(block, NULL, &follow);
        mxci_block_put(stripe, block);
        *out = NULL;
    } else {
        *out = block;
    }
    mxci_lock_drop(&stripe->lock);
    mxci_dispatch(engine, &follow);
    mxci_gate_leave();
    return block ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "mxc_wait_to_write: no memory to wait");
}

mxc_status mxc_wait_to_write(mxc_var *var) {
    mxci_wait wait = {.over = mxci_wait_block_done};
    MXC_TRY(check_var("mxc_wait_to_write", var));
    wait.engine = var->engine;
    if (!mxc_var_idle(var)) {
        MXC_TRY(check_not_named("mxc_wait_to_write", var));
        MXC_TRY(stand_in_queue(var, &wait.block));
    }
    if (wait.block) {
        MXC_TRY(mxci_wait_for(&wait));
        mxci_block_return(wait.block);
    }
    return settle_and_raise(var, 1);
}

/* ---- everything ---- */

/* Pushed in epochs first to last, and not ended. What ended is counted first, so 0 was true at one time. */
static uint64_t pending(mxc_engine *engine, uint32_t first, uint32_t last) {
    uint64_t ended = 0, pushed = 0;
    for (uint32_t epoch = first; epoch <= last; epoch++)
        for (int i = 0; i < MXCI_STRIPES; i++)
            ended += atomic_load(&engine->stripes[i].ended[epoch]);
    for (uint32_t epoch = first; epoch <= last; epoch++)
        for (int i = 0; i < MXCI_STRIPES; i++)
            pushed += atomic_load(&engine->stripes[i].pushed[epoch]);
    return pushed - ended;
}

static int epoch_drained(const mxci_wait *wait) {
    return pending(wait->engine, wait->epoch, wait->epoch) == 0;
}

static int all_drained(const mxci_wait *wait) {
    return pending(wait->engine, 0, 1) == 0;
}

static mxc_status drain(const mxci_wait *wait) {
    mxc_status status;
    atomic_fetch_add(&wait->engine->draining, 1);
    status = wait->over(wait) ? MXC_OK : mxci_wait_for(wait);
    atomic_fetch_sub(&wait->engine->draining, 1);
    return status;
}

/* Later pushes count in this epoch. The stripes differ if the process was forked while another thread was here. */
static void set_epoch(mxc_engine *engine, uint32_t epoch) {
    for (int i = 0; i < MXCI_STRIPES; i++) {
        mxci_lock_take(&engine->stripes[i].lock);
        engine->stripes[i].epoch = epoch;
        mxci_lock_drop(&engine->stripes[i].lock);
    }
}

/* all_mutex is held. The other epoch holds something only if the process was forked inside this function. */
static mxc_status drain_earlier(mxc_engine *engine) {
    mxci_wait wait = {.engine = engine, .over = epoch_drained};
    wait.epoch = !engine->stripes[0].epoch;
    MXC_TRY(drain(&wait));
    set_epoch(engine, wait.epoch);
    wait.epoch = !wait.epoch;
    return drain(&wait);
}

mxc_status mxc_wait_all(mxc_engine *engine) {
    mxci_failure *first;
    mxc_status status;
    if (!engine)
        return MXC_FAIL(MXC_EINVAL, "mxc_wait_all: engine is NULL");
    if (mxci_inside(engine) || mxci_in_part())
        return MXC_FAIL(MXC_ESTATE, "mxc_wait_all: called inside a function, which would wait for its own end");
    MXC_TRY(mxci_engine_resume(engine));
    mxci_mutex_lock(&engine->all_mutex);
    status = drain_earlier(engine);
    mxci_mutex_unlock(&engine->all_mutex);
    MXC_TRY(status);
    mxci_streams_wait(engine);
    first = atomic_exchange(&engine->first_failure, NULL);
    status = mxci_failure_raise(first);
    mxci_failure_release(first);
    return status;
}

void mxci_wait_idle(mxc_engine *engine) {
    mxci_wait wait = {.engine = engine, .over = all_drained};
    (void)drain(&wait);
    mxci_streams_wait(engine);
}
