/* Pushing: what a program says is checked, made into a block, and given to the engine's kind. */
#include "engine/engine.h"

#include "base/check.h"
#include "base/error.h"
#include "base/sys.h"
#include "engine/op.h"

struct mxc_engine_op {
    mxci_body body;
    mxc_engine *engine;
    int n_deps;
    _Alignas(MXCI_CACHE_LINE) _Atomic int64_t pushed; /* written by pushing threads */
    _Alignas(MXCI_CACHE_LINE) _Atomic int64_t left;   /* BIAS - ended; after destroy: pushed - ended */
    mxci_dep deps[];                                  /* copied into each block */
};

#define BIAS ((int64_t)1 << 62)

const mxci_body mxci_sync_body = {.name = "wait"};

/* ---- checks ---- */

static mxc_status check_context(const char *who, const char *name, mxc_context context, mxc_property property,
                                const mxci_device **device) {
    char text[32];
    *device = NULL;
    if (context.device == MXC_CPU || context.device == MXC_CPU_PINNED) {
        if (context.id < 0 || context.id > MXC_MAX_DEVICE_ID)
            return MXC_FAIL(MXC_EDEVICE, "%s: %s: context %s: expected an id of 0 to %d", who, name,
                            mxc_context_format(context, text, sizeof text), MXC_MAX_DEVICE_ID);
        return MXC_OK;
    }
    MXC_TRY(mxci_device_get(context, device));
    if (property == MXC_PROP_IO)
        *device = NULL;
    return MXC_OK;
}

/* Takes the task over into a body that lacks a pool. */
static mxc_status check_task(const char *who, mxc_engine *engine, const mxc_task *task, mxci_body *body) {
    const unsigned known = MXC_TASK_CHEAP | MXC_TASK_HELPED | MXC_TASK_UPDATES | MXC_TASK_ALWAYS | MXC_TASK_AWAITED;
    const char *name;
    if (!engine || !task)
        return MXC_FAIL(MXC_EINVAL, "%s: %s is NULL", who, engine ? "task" : "engine");
    if (task->size < sizeof *task)
        return MXC_FAIL(MXC_EINVAL, "%s: task.size is %zu, expected %zu (use MXC_TASK_INIT)", who, task->size,
                        sizeof *task);
    name = task->name ? task->name : "task";
    if (!task->fn == !task->async_fn)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: expected either fn or async_fn, found %s", who, name,
                        task->fn ? "both" : "none");
    if ((unsigned)task->property > MXC_PROP_URGENT)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %d is no property", who, name, (int)task->property);
    if (task->flags & ~known)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: flags 0x%x: unknown bits 0x%x", who, name, task->flags,
                        task->flags & ~known);
    if ((task->flags & MXC_TASK_AWAITED) && task->destroy)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: MXC_TASK_AWAITED goes without destroy", who, name);
    *body = (mxci_body){.fn = task->fn,
                        .async_fn = task->async_fn,
                        .arg = task->arg,
                        .destroy = task->destroy,
                        .name = name,
                        .context = task->context,
                        .flags = task->flags,
                        .priority = task->priority,
                        .urgent = task->property == MXC_PROP_URGENT};
    return check_context(who, name, task->context, task->property, &body->device);
}

static mxc_status check_vars(const char *who, const mxci_body *body, mxc_engine *engine, const char *list, int n,
                             mxc_var *const *vars) {
    if (n < 0 || n > MXCI_MAX_VARS || (n && !vars))
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %d variables in %s, expected 0 to %d and a list of them", who, body->name,
                        n, list, MXCI_MAX_VARS);
    for (int i = 0; i < n; i++)
        if (!vars[i] || vars[i]->engine != engine)
            return MXC_FAIL(MXC_EINVAL, "%s: %s: %s[%d] is %s", who, body->name, list, i,
                            vars[i] ? "a variable of another engine" : "NULL");
    return MXC_OK;
}

/* Sort by address: Shell's way, which for a few is plain insertion. */
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

static mxc_status say_twice(const char *who, const mxci_body *body, int n_reads, int a, int b) {
    int first = a < b ? a : b, second = a < b ? b : a;
    return MXC_FAIL(MXC_EINVAL, "%s: %s: %s[%d] and %s[%d] are the same variable", who, body->name,
                    first < n_reads ? "reads" : "changes", first < n_reads ? first : first - n_reads,
                    second < n_reads ? "reads" : "changes", second < n_reads ? second : second - n_reads);
}

/* Dependencies in the order in which they are locked. */
static mxc_status fill_deps(const char *who, const mxci_body *body, mxci_dep *deps, int n_reads, mxc_var *const *reads,
                            int n_changes, mxc_var *const *changes) {
    int n = n_reads + n_changes;
    for (int i = 0; i < n_reads; i++)
        deps[i] = (mxci_dep){reads[i], NULL, (uint32_t)i, MXCI_READ};
    for (int i = 0; i < n_changes; i++)
        deps[n_reads + i] = (mxci_dep){changes[i], NULL, (uint32_t)(n_reads + i), MXCI_CHANGE};
    sort_deps(deps, n);
    for (int i = 1; i < n; i++)
        if (deps[i].var == deps[i - 1].var)
            return say_twice(who, body, n_reads, (int)deps[i - 1].index, (int)deps[i].index);
    for (int i = 0; i < n; i++)
        deps[i].index = (uint32_t)i;
    return MXC_OK;
}

static mxc_status check_push(const char *who, mxc_engine *engine, const mxc_task *task, mxci_body *body, int n_reads,
                             mxc_var *const *reads, int n_changes, mxc_var *const *changes) {
    MXC_TRY(check_task(who, engine, task, body));
    MXC_TRY(check_vars(who, body, engine, "reads", n_reads, reads));
    MXC_TRY(check_vars(who, body, engine, "changes", n_changes, changes));
    if (n_reads + n_changes > MXCI_MAX_VARS)
        return MXC_FAIL(MXC_EINVAL, "%s: %s: %d variables, expected at most %d", who, body->name, n_reads + n_changes,
                        MXCI_MAX_VARS);
    MXC_TRY(mxci_engine_resume(engine));
    return engine->kind->prepare(engine, body, task->property);
}

/* ---- pushing ---- */

/* A direct push runs its function on this thread, so it needs the gate for longer than the stripe's lock. */
static mxci_stripe *begin_push(mxc_engine *engine, int direct) {
    mxci_stripe *stripe = &engine->stripes[mxci_thread_index() % MXCI_STRIPES];
    if (direct)
        mxci_gate_enter();
    mxci_lock_take(&stripe->lock);
    return stripe;
}

static mxc_status drop_push(mxci_stripe *stripe, int direct, mxci_block *block, mxc_status status) {
    if (block)
        mxci_block_put(stripe, block);
    mxci_lock_drop(&stripe->lock);
    if (direct)
        mxci_gate_leave();
    return status;
}

/* Queue a block that is filled in but for what is the same for all. The stripe is locked; afterwards it is not. */
static mxc_status submit(mxci_stripe *stripe, mxci_block *block, int direct) {
    mxc_engine *engine = stripe->engine;
    mxci_pool *pool = block->body->pool;
    mxc_status status = MXC_OK;
    int ready;
    block->urgent = (uint8_t)block->body->urgent;
    block->epoch = (uint8_t)stripe->epoch;
    block->in_flight = 0;
    block->canceled = 0;
    if (block->body->flags & MXC_TASK_AWAITED)
        block->pusher = mxci_thread_index();
    block->waited = engine->kind->waits_for_turn && !mxci_inside(NULL) && !mxci_in_part();
    atomic_store_explicit(&block->done, 0, memory_order_relaxed);
    atomic_store_explicit(&stripe->pushed[stripe->epoch], stripe->pushed[stripe->epoch] + 1, memory_order_relaxed);
    ready = mxci_block_queue(block);
    if (ready && !direct)
        engine->kind->enqueue(engine, block);
    mxci_lock_drop(&stripe->lock);
    if (direct) {
        status = engine->kind->run(engine, block, ready);
        mxci_gate_leave();
    } else if (ready) {
        engine->kind->wake(engine, pool);
    }
    return status;
}

mxc_status mxc_engine_push(mxc_engine *engine, const mxc_task *task, int n_reads, mxc_var *const *reads, int n_changes,
                           mxc_var *const *changes, uint64_t token) {
    static const char who[] = "mxc_engine_push";
    mxci_body body;
    mxci_stripe *stripe;
    mxci_block *block;
    mxc_status status;
    int direct;
    MXC_TRY(check_push(who, engine, task, &body, n_reads, reads, n_changes, changes));
    direct = engine->kind->direct(&body);
    stripe = begin_push(engine, direct);
    block = mxci_block_take(stripe, n_reads + n_changes, direct);
    if (!block)
        return drop_push(stripe, direct, NULL, MXC_FAIL(MXC_ENOMEM, "%s: %s: no memory to queue it", who, body.name));
    status = fill_deps(who, &body, block->deps, n_reads, reads, n_changes, changes);
    if (status != MXC_OK)
        return drop_push(stripe, direct, block, status);
    block->own = body;
    block->body = &block->own;
    block->priority = body.priority;
    block->token = token;
    return submit(stripe, block, direct);
}

/* ---- prepared operators ---- */

static size_t op_bytes(int n_deps) {
    return sizeof(mxc_engine_op) + (size_t)n_deps * sizeof(mxci_dep);
}

mxc_status mxc_engine_op_create(mxc_engine *engine, const mxc_task *task, int n_reads, mxc_var *const *reads,
                                int n_changes, mxc_var *const *changes, mxc_engine_op **out) {
    MXC_TRY(MXCI_OUT(out));
    static const char who[] = "mxc_engine_op_create";
    mxci_body body;
    mxc_engine_op *op;
    mxc_status status;
    MXC_TRY(check_push(who, engine, task, &body, n_reads, reads, n_changes, changes));
    op = mxci_pages_alloc(op_bytes(n_reads + n_changes));
    if (!op)
        return MXC_FAIL(MXC_ENOMEM, "%s: %s: no memory for it", who, body.name);
    status = fill_deps(who, &body, op->deps, n_reads, reads, n_changes, changes);
    if (status != MXC_OK) {
        mxci_pages_free(op, op_bytes(n_reads + n_changes));
        return status;
    }
    op->engine = engine;
    op->n_deps = n_reads + n_changes;
    op->body = body;
    op->body.op = op;
    atomic_init(&op->pushed, 0);
    atomic_init(&op->left, BIAS);
    *out = op;
    return MXC_OK;
}

mxc_status mxc_engine_op_push(mxc_engine_op *op, int priority, uint64_t token) {
    MXC_TRY(MXCI_NON_NULL(op));
    mxc_engine *engine = op->engine;
    mxci_stripe *stripe;
    mxci_block *block;
    int direct;
    MXC_TRY(mxci_engine_resume(engine));
    if (op->body.pool)
        MXC_TRY(mxci_pool_start(op->body.pool));
    direct = engine->kind->direct(&op->body);
    stripe = begin_push(engine, direct);
    block = mxci_block_take(stripe, op->n_deps, direct);
    if (!block)
        return drop_push(stripe, direct, NULL,
                         MXC_FAIL(MXC_ENOMEM, "mxc_engine_op_push: %s: no memory to queue it", op->body.name));
    for (int i = 0; i < op->n_deps; i++)
        block->deps[i] = op->deps[i];
    block->body = &op->body;
    block->priority = priority;
    block->token = token;
    atomic_fetch_add_explicit(&op->pushed, 1, memory_order_relaxed);
    return submit(stripe, block, direct);
}

static void free_op(mxc_engine_op *op) {
    if (op->body.destroy)
        op->body.destroy(op->body.arg);
    mxci_pages_free(op, op_bytes(op->n_deps));
}

void mxci_op_ended(mxc_engine_op *op) {
    if (atomic_fetch_sub_explicit(&op->left, 1, memory_order_acq_rel) == 1)
        free_op(op);
}

void mxc_engine_op_destroy(mxc_engine_op *op) {
    int64_t pushed;
    if (!op)
        return;
    pushed = atomic_load(&op->pushed);
    if (atomic_fetch_add_explicit(&op->left, pushed - BIAS, memory_order_acq_rel) + pushed - BIAS == 0)
        free_op(op);
}

void mxci_dispatch(mxc_engine *engine, mxci_list *ready) {
    mxci_block *block;
    while ((block = mxci_list_take(ready)) != NULL) {
        mxci_pool *pool = block->body->pool; /* the block may end as soon as it is queued */
        engine->kind->enqueue(engine, block);
        engine->kind->wake(engine, pool);
    }
}
