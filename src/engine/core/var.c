/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: their queues and error states, creation and deferred deletion. */
#include "engine/core/var.h"

#include "base/check.h"
#include "base/error.h"
#include "engine/core/operation.h"
#include "engine/fork/fork_guard.h"

enum {
    SLAB_VARS = 31,
    MAX_CHECKED = 8 /* dependencies that the validity check looks at: long queues stay usable in checked builds */
};

struct mxci_var_slab {
    _Alignas(MXCI_CACHE_LINE) mxci_var_slab *next;
    mxc_var vars[SLAB_VARS];
};

/* Never readers beside a writer; nothing waits while nothing is granted; a read waits only behind a write; and pending
 * is what is granted and what waits. */
int mxci_var_is_valid(const mxc_var *var) {
    uint32_t granted = var->readers + var->writing, waiting = 0;
    const mxci_dep *dep = var->first;
    while (dep && waiting < MAX_CHECKED) {
        if (dep->var != var || dep->index >= (uint32_t)mxci_dep_task((mxci_dep *)(uintptr_t)dep)->n_deps)
            return 0;
        waiting++;
        dep = dep->next;
    }
    if ((var->writing && var->readers) || var->writing > 1 || (var->first && !granted))
        return 0;
    if (var->first && var->first->mode == MXCI_DEP_READ && !var->writing)
        return 0;
    return dep ? var->pending > granted + MAX_CHECKED : var->pending == granted + waiting;
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

/* Grant what stands first: one write, or all reads before the next write. Returns the granted ones, linked by next.
 * Locked, nothing granted. */
static mxci_dep *grant_next(mxc_var *var) {
    mxci_dep *granted = var->first, *last = granted;
    if (!granted)
        return NULL;
    if (granted->mode != MXCI_DEP_READ) {
        var->writing = 1;
    } else {
        var->readers = 1;
        while (last->next && last->next->mode == MXCI_DEP_READ) {
            last = last->next;
            var->readers++;
        }
    }
    var->first = last->next;
    last->next = NULL;
    return granted;
}

/* Append a dependency to the queue, or grant it: a read beside other reads if nothing waits before it, so that a writer
 * is not overtaken by later readers; a write if nothing is granted. 1 if granted. Locked.
 *
 * Release order for pushed: a thread that waits for this version later sees all that the push published. */
static int var_enter(mxc_var *var, mxci_dep *dep) {
    int free_now = !var->writing && (dep->mode == MXCI_DEP_READ ? !var->first : !var->readers);
    atomic_store_explicit(&var->pending, var->pending + 1, memory_order_relaxed);
    if (dep->mode == MXCI_DEP_WRITE)
        atomic_store_explicit(&var->pushed, var->pushed + 1, memory_order_release);
    dep->next = NULL;
    if (!free_now) {
        *(var->first ? &var->last->next : &var->first) = dep;
        var->last = dep;
    } else if (dep->mode == MXCI_DEP_READ) {
        var->readers++;
    } else {
        var->writing = 1;
    }
    MXCI_ASSERT(mxci_var_is_valid(var));
    return free_now;
}

/* All locks are held before the first queue is entered, and none is released before the last is. So for any two tasks
 * one is before the other in every queue that both enter. */
int mxci_task_enqueue(mxci_engine_task *task) {
    int n = task->n_deps, granted = 0;
    for (int i = 0; i < n; i++)
        mxci_lock_acquire(&task->deps[i].var->lock);
    for (int i = 0; i < n; i++)
        granted += var_enter(task->deps[i].var, &task->deps[i]);
    /* Relaxed: no thread counts down before the locks are released, which publishes the count. */
    atomic_store_explicit(&task->unmet_deps, n - granted, memory_order_relaxed);
    for (int i = 0; i < n; i++) {
        mxc_var *var = task->deps[i].var; /* once the last lock is released the task may be complete and recycled */
        mxci_lock_release(&var->lock);
    }
    return granted == n;
}

/* Acquire order: the record was filled in before it was stored. */
static mxci_failure *get_failure(mxc_var *var) {
    return atomic_load_explicit(&var->failure, memory_order_acquire);
}

/* Set or clear the error state; returns the former one, whose reference the caller releases. Locked, and either a write
 * is granted or the variable has no error state: readers that it is granted to look at it without the lock. */
static mxci_failure *set_failure(mxc_var *var, mxci_failure *failure) {
    mxci_failure *before = get_failure(var);
    if (!before && !failure)
        return NULL;
    atomic_store_explicit(&var->failure, mxci_failure_retain(failure), memory_order_release);
    if (!before != !failure)
        atomic_fetch_add(&var->vars->errors->failed_vars, failure ? 1 : -1);
    return before;
}

void mxci_var_set_late_failure(mxc_var *var, mxci_stream_event event, mxci_failure *failure) {
    mxci_lock_acquire(&var->lock);
    if (!var->writing && !get_failure(var) && mxci_event_equal(var->last_write, event))
        (void)set_failure(var, failure);
    mxci_lock_release(&var->lock);
}

/* Count down the tasks of granted dependencies; those that wait for nothing else are ready. Acquire and release order:
 * the thread that brings the count to 0 must see what the tasks before it wrote, which other threads released. */
static void add_ready(mxci_dep *granted, mxci_task_list *ready) {
    while (granted) {
        mxci_dep *next = granted->next; /* once counted down, the task may run on another thread and be recycled */
        mxci_engine_task *task = mxci_dep_task(granted);
        if (task->n_deps == 1 || atomic_fetch_sub_explicit(&task->unmet_deps, 1, memory_order_acq_rel) == 1)
            mxci_task_list_add(ready, task);
        granted = next;
    }
}

/* A deleted variable is idle. */
static void end_deleted(mxc_var *var) {
    if (!var->vars->defer_free(var))
        mxci_var_free(var);
}

/* Release one dependency, and grant what is next. 1 if a thread waits for the version that the variable has reached.
 *
 * Release order for version and pending, which are read without the lock with acquire order: a thread that sees a
 * version, or that the variable is idle, also sees what the tasks wrote that brought it about. The former failure is
 * released, and dependents are counted down, after the lock, which is held for a few instructions only. */
static int release_dep(mxci_dep *dep, mxci_failure *failure, mxci_task_list *ready) {
    mxc_var *var = dep->var;
    mxci_failure *before = NULL;
    mxci_dep *granted = NULL;
    int awaited, is_over;
    mxci_lock_acquire(&var->lock);
    if (dep->mode == MXCI_DEP_READ) {
        var->readers--;
    } else {
        var->writing = 0;
        if (dep->mode == MXCI_DEP_WRITE)
            before = set_failure(var, failure);
        if (dep->mode != MXCI_DEP_BARRIER)
            atomic_store_explicit(&var->version, var->version + 1, memory_order_release);
    }
    atomic_store_explicit(&var->pending, var->pending - 1, memory_order_release);
    if (!var->readers)
        granted = grant_next(var);
    awaited = var->version >= var->wake_at;
    if (awaited)
        var->wake_at = UINT64_MAX;
    is_over = var->deleted && var->pending == 0; /* once: no new task names a deleted variable */
    MXCI_ASSERT(mxci_var_is_valid(var));
    mxci_lock_release(&var->lock);
    mxci_failure_release(before);
    add_ready(granted, ready);
    if (is_over)
        end_deleted(var);
    return awaited;
}

static int release_all(mxci_engine_task *task, mxci_failure *failure, mxci_task_list *ready) {
    int notify = 0;
    for (int i = 0; i < task->n_deps; i++)
        notify |= release_dep(&task->deps[i], failure, ready);
    return notify;
}

/* A barrier that is granted is released at once, on this thread, which may grant further tasks: hence the loop. */
int mxci_task_release_deps(mxci_engine_task *task, mxci_failure *failure, mxci_task_list *ready) {
    mxci_task_list granted = {NULL, NULL};
    mxci_engine_task *next;
    int notify = release_all(task, failure, &granted);
    while ((next = mxci_task_list_take(&granted)) != NULL) {
        if (next->operation != &mxci_barrier_operation) {
            mxci_task_list_add(ready, next);
            continue;
        }
        notify = 1;
        (void)release_all(next, NULL, &granted);
        atomic_store(&next->done, 1); /* the waiting thread owns the task from here on */
    }
    return notify;
}

/* Relaxed: error states of these variables were set, and counted, before the variables were released to this task. */
mxci_failure *mxci_task_inherited_failure(const mxci_engine_errors *errors, const mxci_engine_task *task) {
    unsigned flags = task->operation->flags;
    mxci_failure *first = NULL;
    if ((flags & MXC_TASK_ALWAYS) || !atomic_load_explicit(&errors->failed_vars, memory_order_relaxed))
        return NULL;
    for (int i = 0; i < task->n_deps; i++)
        if (task->deps[i].mode == MXCI_DEP_READ || (flags & MXC_TASK_UPDATES))
            first = mxci_failure_earlier(first, get_failure(task->deps[i].var));
    return first;
}

void mxci_var_wake_at(mxc_var *var, uint64_t version) {
    mxci_lock_acquire(&var->lock);
    if (version < var->wake_at)
        var->wake_at = version;
    mxci_lock_release(&var->lock);
}

mxci_failure *mxci_var_failure(mxc_var *var) {
    mxci_failure *failure;
    mxci_lock_acquire(&var->lock);
    failure = mxci_failure_retain(get_failure(var));
    mxci_lock_release(&var->lock);
    return failure;
}

/* ---- creation and deletion ------------------------------------------------------------------------------------- */

/* NULL without memory. The lock is held. */
static mxc_var *pop_free(mxci_vars *vars) {
    mxc_var *var = vars->free;
    if (!var) {
        mxci_var_slab *slab = mxci_pages_alloc(sizeof *slab);
        if (!slab)
            return NULL;
        slab->next = vars->slabs;
        vars->slabs = slab;
        for (int i = SLAB_VARS; i-- > 0;) {
            slab->vars[i].next_free = vars->free;
            vars->free = &slab->vars[i];
        }
        var = vars->free;
    }
    vars->free = var->next_free;
    return var;
}

mxc_status mxci_var_create(mxci_vars *vars, mxc_var **out) {
    mxc_var *var;
    mxci_fork_guard_enter();
    mxci_lock_acquire(&vars->lock);
    var = pop_free(vars);
    mxci_lock_release(&vars->lock);
    mxci_fork_guard_leave();
    if (!var)
        return MXCI_NO_MEMORY("mxc_var_create", "a variable");
    *var = (mxc_var){.vars = vars, .wake_at = UINT64_MAX};
    *out = var;
    return MXC_OK;
}

void mxci_var_free(mxc_var *var) {
    mxci_vars *vars = var->vars;
    if (var->destroy)
        var->destroy(var->arg);
    mxci_failure_release(set_failure(var, NULL));
    mxci_lock_acquire(&vars->lock);
    var->next_free = vars->free;
    vars->free = var;
    mxci_lock_release(&vars->lock);
}

void mxc_var_delete(mxc_var *var, void (*destroy)(void *arg), void *arg) {
    int is_over;
    if (!var)
        return;
    mxci_fork_guard_enter();
    mxci_lock_acquire(&var->lock);
    MXCI_ASSERT(!var->deleted);
    var->deleted = 1;
    var->destroy = destroy;
    var->arg = arg;
    is_over = var->pending == 0;
    mxci_lock_release(&var->lock);
    if (is_over)
        end_deleted(var);
    mxci_fork_guard_leave();
}

mxc_engine *mxc_var_engine(const mxc_var *var) {
    if (!var)
        return NULL;
    return var->vars->engine;
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

void mxci_vars_clear(mxci_vars *vars) {
    while (vars->slabs) {
        mxci_var_slab *next = vars->slabs->next;
        mxci_pages_free(vars->slabs, sizeof *vars->slabs);
        vars->slabs = next;
    }
}
