/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushing: checks the arguments, fills in a task, enters the queues of its variables, and hands it to the kind of
 * engine if it is ready. mxc_engine_op_push does the same for a prepared operation, whose arguments were checked once.
 */
#include "base/error.h"
#include "base/sized.h"
#include "engine/core/frame.h"
#include "engine/core/operation.h"
#include "engine/engine.h"
#include "engine/fork/fork_child.h"

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static mxc_status check_context(const char *caller, const char *name, mxc_context context, mxc_property property,
                                const mxci_device **device) {
    char text[32];
    *device = NULL;
    if (context.device == MXC_CPU || context.device == MXC_CPU_PINNED) {
        if (context.id < 0 || context.id > MXC_MAX_DEVICE_ID)
            return MXC_FAIL(MXC_EDEVICE, "%s: %s: context %s: expected an id of 0 to %d", caller, name,
                            mxc_context_format(context, text, sizeof text), MXC_MAX_DEVICE_ID);
        return MXC_OK;
    }
    MXC_TRY(mxci_device_get(context, device));
    if (property == MXC_PROP_IO)
        *device = NULL;
    return MXC_OK;
}

void mxc_task_init(mxc_task *task, size_t size) {
    static const mxc_task defaults = MXC_TASK_INIT;
    mxci_sized_init(task, size, &defaults, sizeof defaults);
}

/* Read and check the description of a task, and make an operation of it, which still lacks a pool. */
static mxc_status check_task(const char *caller, mxc_engine *engine, const mxc_task *given, mxc_task *task,
                             mxci_operation *operation) {
    const unsigned known = MXC_TASK_CHEAP | MXC_TASK_HELPED | MXC_TASK_UPDATES | MXC_TASK_ALWAYS | MXC_TASK_AWAITED;
    const char *name;
    if (!engine || !given)
        return MXC_FAIL(MXC_EINVAL, "%s: %s is NULL", caller, engine ? "task" : "engine");
    *task = (mxc_task)MXC_TASK_INIT;
    MXC_TRY(mxci_sized_read(caller, "task", "mxc_task_init", given, task, sizeof *task));
    name = task->name ? task->name : "task";
    if (!task->fn == !task->async_fn)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: expected either fn or async_fn, found %s", caller, name,
                        task->fn ? "both" : "none");
    if ((unsigned)task->property > MXC_PROP_URGENT)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %d is not a property", caller, name, (int)task->property);
    if (task->flags & ~known)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: flags 0x%x: unknown bits 0x%x", caller, name, task->flags,
                        task->flags & ~known);
    if ((task->flags & MXC_TASK_AWAITED) && task->destroy)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: MXC_TASK_AWAITED requires that destroy is NULL", caller, name);
    *operation = (mxci_operation){
        .fn = task->fn,
        .async_fn = task->async_fn,
        .arg = task->arg,
        .destroy = task->destroy,
        .name = name,
        .context = task->context,
        .flags = task->flags,
        .priority = task->priority,
        .urgent = task->property == MXC_PROP_URGENT,
    };
    return check_context(caller, name, task->context, task->property, &operation->device);
}

static mxc_status check_vars(const char *caller, const mxci_operation *operation, mxc_engine *engine, const char *list,
                             int n, mxc_var *const *vars) {
    if (n < 0 || n > MXCI_MAX_VARS)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %d variables in %s, expected 0 to %d", caller, operation->name, n, list,
                        MXCI_MAX_VARS);
    if (n > 0 && !vars)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %s must not be NULL", caller, operation->name, list);
    for (int i = 0; i < n; i++)
        if (!vars[i] || vars[i]->vars != &engine->vars)
            return MXC_FAIL(MXC_EINVAL, "%s: %s: %s[%d] is %s", caller, operation->name, list, i,
                            vars[i] ? "a variable of another engine" : "NULL");
    return MXC_OK;
}

/* Sort by address, the order in which variables are locked. Shell sort, which for a few is plain insertion sort; no
 * recursion and no memory. */
static void sort_deps(mxci_dep *deps, int n) {
    int gap = 1;
    while (gap < n / 9)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int i = gap; i < n; i++) {
            mxci_dep moved = deps[i];
            int at = i;
            for (; at >= gap && (uintptr_t)deps[at - gap].var > (uintptr_t)moved.var; at -= gap)
                deps[at] = deps[at - gap];
            deps[at] = moved;
        }
}

static mxc_status fail_duplicate(const char *caller, const mxci_operation *operation, int n_reads, int a, int b) {
    int first = a < b ? a : b, second = a < b ? b : a;
    return MXC_FAIL(MXC_EINVAL, "%s: %s: %s[%d] and %s[%d] are the same variable", caller, operation->name,
                    first < n_reads ? "reads" : "writes", first < n_reads ? first : first - n_reads,
                    second < n_reads ? "reads" : "writes", second < n_reads ? second : second - n_reads);
}

/* Fill in dependencies, sorted. Duplicates are neighbours then; index holds the position in the lists until they are
 * reported, then the position in deps. */
static mxc_status fill_deps(const char *caller, const mxci_operation *operation, mxci_dep *deps, int n_reads,
                            mxc_var *const *reads, int n_writes, mxc_var *const *writes) {
    int n = n_reads + n_writes;
    for (int i = 0; i < n_reads; i++)
        deps[i] = (mxci_dep){reads[i], NULL, (uint32_t)i, MXCI_DEP_READ};
    for (int i = 0; i < n_writes; i++)
        deps[n_reads + i] = (mxci_dep){writes[i], NULL, (uint32_t)(n_reads + i), MXCI_DEP_WRITE};
    sort_deps(deps, n);
    for (int i = 1; i < n; i++)
        if (deps[i].var == deps[i - 1].var)
            return fail_duplicate(caller, operation, n_reads, (int)deps[i - 1].index, (int)deps[i].index);
    for (int i = 0; i < n; i++)
        deps[i].index = (uint32_t)i;
    return MXC_OK;
}

static mxc_status check_push(const char *caller, mxc_engine *engine, const mxc_task *task, mxci_operation *operation,
                             int n_reads, mxc_var *const *reads, int n_writes, mxc_var *const *writes) {
    mxc_task read;
    MXC_TRY(check_task(caller, engine, task, &read, operation));
    MXC_TRY(check_vars(caller, operation, engine, "reads", n_reads, reads));
    MXC_TRY(check_vars(caller, operation, engine, "writes", n_writes, writes));
    if (n_reads + n_writes > MXCI_MAX_VARS)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %d variables, expected at most %d", caller, operation->name,
                        n_reads + n_writes, MXCI_MAX_VARS);
    MXC_TRY(mxci_engine_resume(engine));
    return !engine->ops->prepare ? MXC_OK : engine->ops->prepare(engine, operation, read.property);
}

/* ---- pushing --------------------------------------------------------------------------------------------------- */

/* An inline push runs its function on this thread, so it stays inside the fork guard for longer than it holds the
 * stripe's lock. */
static mxci_stripe *begin_push(mxc_engine *engine, int is_inline) {
    mxci_stripe *stripe = mxci_engine_stripe(engine);
    if (is_inline)
        mxci_fork_guard_enter();
    mxci_lock_acquire(&stripe->lock);
    return stripe;
}

/* Undo begin_push, and free the task unless it is NULL. Returns status. */
static mxc_status abandon_push(mxci_stripe *stripe, int is_inline, mxci_engine_task *task, mxc_status status) {
    if (task)
        mxci_task_free(stripe, task);
    mxci_lock_release(&stripe->lock);
    if (is_inline)
        mxci_fork_guard_leave();
    return status;
}

/* Enqueue a task whose operation, dependencies, priority and token are set. The stripe is locked, and is released. */
static mxc_status submit(mxci_stripe *stripe, mxci_engine_task *task, int is_inline) {
    mxc_engine *engine = stripe->engine;
    const mxci_operation *operation = task->operation;
    mxci_worker_pool *pool = operation->pool; /* the task may be gone once it is enqueued */
    mxc_status status = MXC_OK;
    int ready;
    task->urgent = (uint8_t)operation->urgent;
    task->epoch = (uint8_t)stripe->epoch;
    task->in_flight = 0;
    task->canceled = 0;
    if (operation->flags & MXC_TASK_AWAITED)
        task->pusher = mxci_thread_index();
    task->has_waiter = engine->ops->waits_for_turn && !mxci_frame_inside(NULL) && !mxci_in_parallel_for();
    atomic_store_explicit(&task->done, 0, memory_order_relaxed);
    /* Counted before it is enqueued, and only under the lock, so no read-modify-write is needed. */
    atomic_store_explicit(&stripe->pushed[stripe->epoch], stripe->pushed[stripe->epoch] + 1, memory_order_relaxed);
    ready = mxci_task_enqueue(task);
    if (ready && !is_inline)
        engine->ops->enqueue(engine, task);
    mxci_lock_release(&stripe->lock);
    if (is_inline) {
        status = engine->ops->run_inline(engine, task, ready);
        mxci_fork_guard_leave();
    } else if (ready && engine->ops->wake) {
        engine->ops->wake(engine, pool);
    }
    return status;
}

mxc_status mxc_engine_push(mxc_engine *engine, const mxc_task *task, int n_reads, mxc_var *const *reads, int n_writes,
                           mxc_var *const *writes, uint64_t token) {
    static const char caller[] = "mxc_engine_push";
    mxci_operation operation;
    mxci_engine_task *pushed;
    mxci_stripe *stripe;
    mxc_status status;
    int is_inline;
    MXC_TRY(check_push(caller, engine, task, &operation, n_reads, reads, n_writes, writes));
    is_inline = engine->ops->runs_inline(&operation);
    stripe = begin_push(engine, is_inline);
    pushed = mxci_task_alloc(stripe, n_reads + n_writes, is_inline);
    if (!pushed)
        return abandon_push(stripe, is_inline, NULL,
                            MXC_FAIL(MXC_ENOMEM, "%s: %s: no memory to queue it", caller, operation.name));
    status = fill_deps(caller, &operation, pushed->deps, n_reads, reads, n_writes, writes);
    if (status != MXC_OK)
        return abandon_push(stripe, is_inline, pushed, status);
    pushed->own = operation;
    pushed->operation = &pushed->own;
    pushed->priority = operation.priority;
    pushed->token = token;
    return submit(stripe, pushed, is_inline);
}

/* ---- prepared operations --------------------------------------------------------------------------------------- */

mxc_status mxc_engine_op_create(mxc_engine *engine, const mxc_task *task, int n_reads, mxc_var *const *reads,
                                int n_writes, mxc_var *const *writes, mxc_engine_op **out) {
    MXC_TRY(MXCI_OUT(out));
    static const char caller[] = "mxc_engine_op_create";
    mxci_operation operation;
    mxc_engine_op *op;
    mxc_status status;
    MXC_TRY(check_push(caller, engine, task, &operation, n_reads, reads, n_writes, writes));
    op = mxci_operation_alloc(n_reads + n_writes);
    if (!op)
        return MXC_FAIL(MXC_ENOMEM, "%s: %s: no memory for it", caller, operation.name);
    status = fill_deps(caller, &operation, op->deps, n_reads, reads, n_writes, writes);
    if (status != MXC_OK) {
        mxci_operation_free(op);
        return status;
    }
    op->engine = engine;
    op->operation = operation;
    op->operation.prepared = op;
    atomic_init(&op->pushed, 0);
    atomic_init(&op->left, MXCI_OPERATION_ALIVE);
    *out = op;
    return MXC_OK;
}

mxc_status mxc_engine_op_push(mxc_engine_op *op, int priority, uint64_t token) {
    MXC_TRY(MXCI_NON_NULL(op));
    mxc_engine *engine = op->engine;
    mxci_engine_task *task;
    mxci_stripe *stripe;
    int is_inline;
    MXC_TRY(mxci_engine_resume(engine));
    if (op->operation.pool)
        MXC_TRY(mxci_worker_pool_start(op->operation.pool));
    is_inline = engine->ops->runs_inline(&op->operation);
    stripe = begin_push(engine, is_inline);
    task = mxci_task_alloc(stripe, op->n_deps, is_inline);
    if (!task)
        return abandon_push(stripe, is_inline, NULL,
                            MXC_FAIL(MXC_ENOMEM, "mxc_engine_op_push: %s: no memory to queue it", op->operation.name));
    for (int i = 0; i < op->n_deps; i++)
        task->deps[i] = op->deps[i];
    task->operation = &op->operation;
    task->priority = priority;
    task->token = token;
    atomic_fetch_add_explicit(&op->pushed, 1, memory_order_relaxed);
    return submit(stripe, task, is_inline);
}
