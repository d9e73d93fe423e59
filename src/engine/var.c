/* Variables: their queues and failures, creation and deferred deletion. */
#include "engine/var.h"

#include "base/check.h"
#include "base/error.h"
#include "base/sys.h"
#include "engine/engine.h"
#include "engine/op.h"

enum { SLAB_VARS = 31, WALK = 8 };

struct mxci_var_slab {
    _Alignas(MXCI_CACHE_LINE) mxci_var_slab *next;
    mxc_var vars[SLAB_VARS];
};

int mxci_var_is_valid(const mxc_var *var) {
    uint32_t granted = var->readers + var->changing, waiting = 0;
    const mxci_dep *dep = var->first;
    while (dep && waiting < WALK) {
        if (dep->var != var || dep->index >= (uint32_t)mxci_dep_block((mxci_dep *)(uintptr_t)dep)->n_deps)
            return 0;
        waiting++;
        dep = dep->next;
    }
    if ((var->changing && var->readers) || var->changing > 1 || (var->first && !granted))
        return 0;
    if (var->first && var->first->mode == MXCI_READ && !var->changing)
        return 0;
    return dep ? var->pending > granted + WALK : var->pending == granted + waiting;
}

/* ---- queues ---- */

/* Grant what stands first: one change, or all reads before the next one. Returns those granted, linked by next.
 * Locked, nothing granted. */
static mxci_dep *grant_next(mxc_var *var) {
    mxci_dep *granted = var->first, *last = granted;
    if (!granted)
        return NULL;
    if (granted->mode != MXCI_READ) {
        var->changing = 1;
    } else {
        var->readers = 1;
        while (last->next && last->next->mode == MXCI_READ) {
            last = last->next;
            var->readers++;
        }
    }
    var->first = last->next;
    last->next = NULL;
    return granted;
}

/* 1 if granted at once. Locked. */
static int enter(mxc_var *var, mxci_dep *dep) {
    int free_now = !var->changing && (dep->mode == MXCI_READ ? !var->first : !var->readers);
    atomic_store_explicit(&var->pending, var->pending + 1, memory_order_relaxed);
    if (dep->mode == MXCI_CHANGE)
        atomic_store_explicit(&var->pushed, var->pushed + 1, memory_order_release);
    dep->next = NULL;
    if (!free_now) {
        *(var->first ? &var->last->next : &var->first) = dep;
        var->last = dep;
    } else if (dep->mode == MXCI_READ) {
        var->readers++;
    } else {
        var->changing = 1;
    }
    MXCI_ASSERT(mxci_var_is_valid(var));
    return free_now;
}

int mxci_block_queue(mxci_block *block) {
    int n = block->n_deps, granted = 0;
    for (int i = 0; i < n; i++)
        mxci_lock_take(&block->deps[i].var->lock);
    for (int i = 0; i < n; i++)
        granted += enter(block->deps[i].var, &block->deps[i]);
    /* Nobody counts down before the locks drop. */
    atomic_store_explicit(&block->waits, n - granted, memory_order_relaxed);
    for (int i = 0; i < n; i++) {
        mxc_var *var = block->deps[i].var; /* once the last lock is dropped the block may be gone */
        mxci_lock_drop(&var->lock);
    }
    return granted == n;
}

static mxci_failure *get_failure(mxc_var *var) {
    return atomic_load_explicit(&var->failure, memory_order_acquire);
}

/* Returns the one before. Locked. The change is granted; or there was no failure, as a reader may look at one. */
static mxci_failure *set_failure(mxc_var *var, mxci_failure *failure) {
    mxci_failure *before = get_failure(var);
    if (!before && !failure)
        return NULL;
    atomic_store_explicit(&var->failure, mxci_failure_retain(failure), memory_order_release);
    if (!before != !failure)
        atomic_fetch_add(&var->engine->failed, failure ? 1 : -1);
    return before;
}

void mxci_var_late_failure(mxc_var *var, mxci_mark mark, mxci_failure *failure) {
    mxci_note_first(var->engine, failure);
    mxci_lock_take(&var->lock);
    if (!var->changing && !get_failure(var) && var->written.on == mark.on && var->written.position == mark.position)
        (void)set_failure(var, failure);
    mxci_lock_drop(&var->lock);
    mxci_failure_release(failure);
}

/* Blocks of granted dependencies that wait for nothing else. */
static void add_ready(mxci_dep *granted, mxci_list *ready) {
    while (granted) {
        mxci_dep *next = granted->next; /* once counted down, the block may run elsewhere and end */
        mxci_block *block = mxci_dep_block(granted);
        if (block->n_deps == 1 || atomic_fetch_sub_explicit(&block->waits, 1, memory_order_acq_rel) == 1)
            mxci_list_add(ready, block);
        granted = next;
    }
}

static void end_deleted(mxc_var *var);

/* One dependency ends. Returns 1 if somebody waits for what the variable has become. */
static int leave(mxci_dep *dep, mxci_failure *failure, mxci_list *ready) {
    mxc_var *var = dep->var;
    mxci_failure *before = NULL;
    mxci_dep *granted = NULL;
    int awaited, over;
    mxci_lock_take(&var->lock);
    if (dep->mode == MXCI_READ) {
        var->readers--;
    } else {
        var->changing = 0;
        if (dep->mode == MXCI_CHANGE)
            before = set_failure(var, failure);
        if (dep->mode != MXCI_SYNC)
            atomic_store_explicit(&var->version, var->version + 1, memory_order_release);
    }
    atomic_store_explicit(&var->pending, var->pending - 1, memory_order_release);
    if (!var->readers)
        granted = grant_next(var);
    awaited = var->version >= var->wake_at;
    if (awaited)
        var->wake_at = UINT64_MAX;
    over = var->deleted && var->pending == 0;
    MXCI_ASSERT(mxci_var_is_valid(var));
    mxci_lock_drop(&var->lock);
    mxci_failure_release(before);
    add_ready(granted, ready);
    if (over)
        end_deleted(var);
    return awaited;
}

static void leave_all(mxci_block *block, mxci_failure *failure, mxci_list *ready) {
    int awaited = 0;
    for (int i = 0; i < block->n_deps; i++)
        awaited |= leave(&block->deps[i], failure, ready);
    if (awaited)
        mxci_event_raise(&block->home->engine->event);
}

/* A wait's turn has come: pass it on and tell the waiter, who owns the block from then on. */
static void end_sync(mxci_block *block, mxci_list *ready) {
    mxc_engine *engine = block->home->engine;
    leave_all(block, NULL, ready);
    atomic_store(&block->done, 1);
    mxci_event_raise(&engine->event);
}

void mxci_block_release(mxci_block *block, mxci_failure *failure, mxci_list *ready) {
    mxci_list granted = {NULL, NULL};
    mxci_block *next;
    leave_all(block, failure, &granted);
    while ((next = mxci_list_take(&granted)) != NULL) {
        if (next->body == &mxci_sync_body)
            end_sync(next, &granted);
        else
            mxci_list_add(ready, next);
    }
}

mxci_failure *mxci_block_inherited(const mxci_block *block) {
    unsigned flags = block->body->flags;
    mxci_failure *first = NULL;
    if ((flags & MXC_TASK_ALWAYS) || !atomic_load_explicit(&block->home->engine->failed, memory_order_relaxed))
        return NULL;
    for (int i = 0; i < block->n_deps; i++)
        if (block->deps[i].mode == MXCI_READ || (flags & MXC_TASK_UPDATES))
            first = mxci_failure_earlier(first, get_failure(block->deps[i].var));
    return first;
}

void mxci_var_wake_at(mxc_var *var, uint64_t version) {
    mxci_lock_take(&var->lock);
    if (version < var->wake_at)
        var->wake_at = version;
    mxci_lock_drop(&var->lock);
}

mxci_failure *mxci_var_failure(mxc_var *var) {
    mxci_failure *failure;
    mxci_lock_take(&var->lock);
    failure = mxci_failure_retain(get_failure(var));
    mxci_lock_drop(&var->lock);
    return failure;
}

/* ---- creation and deletion ---- */

/* The engine's vars_lock is held. NULL without memory. */
static mxc_var *take_free(mxc_engine *engine) {
    mxc_var *var = engine->free_vars;
    if (!var) {
        mxci_var_slab *slab = mxci_pages_alloc(sizeof *slab);
        if (!slab)
            return NULL;
        slab->next = engine->var_slabs;
        engine->var_slabs = slab;
        for (int i = SLAB_VARS; i-- > 0;) {
            slab->vars[i].next_free = engine->free_vars;
            engine->free_vars = &slab->vars[i];
        }
        var = engine->free_vars;
    }
    engine->free_vars = var->next_free;
    return var;
}

mxc_status mxc_var_create(mxc_engine *engine, mxc_var **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(engine));
    mxc_var *var;
    mxci_gate_enter();
    mxci_lock_take(&engine->vars_lock);
    var = take_free(engine);
    mxci_lock_drop(&engine->vars_lock);
    mxci_gate_leave();
    if (!var)
        return MXC_FAIL(MXC_ENOMEM, "mxc_var_create: no memory for a variable");
    *var = (mxc_var){.engine = engine, .wake_at = UINT64_MAX};
    *out = var;
    return MXC_OK;
}

void mxci_var_end(mxc_var *var) {
    mxc_engine *engine = var->engine;
    if (var->destroy)
        var->destroy(var->arg);
    mxci_failure_release(set_failure(var, NULL));
    mxci_lock_take(&engine->vars_lock);
    var->next_free = engine->free_vars;
    engine->free_vars = var;
    mxci_lock_drop(&engine->vars_lock);
}

/* No function is pending any more. */
static void end_deleted(mxc_var *var) {
    if (!mxci_var_hand_over(var))
        mxci_var_end(var);
}

void mxc_var_delete(mxc_var *var, void (*destroy)(void *arg), void *arg) {
    int over;
    if (!var)
        return;
    mxci_gate_enter();
    mxci_lock_take(&var->lock);
    MXCI_ASSERT(!var->deleted);
    var->deleted = 1;
    var->destroy = destroy;
    var->arg = arg;
    over = var->pending == 0;
    mxci_lock_drop(&var->lock);
    if (over)
        end_deleted(var);
    mxci_gate_leave();
}

mxc_engine *mxc_var_engine(const mxc_var *var) {
    if (!var)
        return NULL;
    return var->engine;
}

uint64_t mxc_var_version(const mxc_var *var) {
    if (!var)
        return 0;
    return atomic_load_explicit(&var->version, memory_order_acquire);
}

int mxc_var_idle(const mxc_var *var) {
    if (!var)
        return 1;
    return atomic_load_explicit(&var->pending, memory_order_acquire) == 0;
}

void mxci_vars_clear(mxc_engine *engine) {
    while (engine->var_slabs) {
        mxci_var_slab *next = engine->var_slabs->next;
        mxci_pages_free(engine->var_slabs, sizeof *engine->var_slabs);
        engine->var_slabs = next;
    }
}
