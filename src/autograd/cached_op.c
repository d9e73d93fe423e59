/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cached operators. A run is an executor bound to one combination of shapes. A call takes a run that is free, or binds
 * one; a recorded call gives it to its node, whose backward runs the executor's, and which returns it when it is freed.
 *
 *   free, in the list of its operator -- take --> in use by a call, then by a node -- give_back --> free
 *
 * An input that is the same array in each call is bound as it is. One that has changed from a call to the next is
 * volatile from then on: runs bound later have an array of their own for it, to which each call copies.
 *
 * Destroying an executor waits for its tasks, which a worker of the engine must not do. Where the last array of a graph
 * is released by one, an operator without owner is kept in a list until a thread of the program calls.
 */
#include <mxc/cached_op.h>

#include <string.h>

#include "autograd/call_by_node.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/sys.h"
#include "engine/core/var.h"
#include "engine/schedule/worker_pool.h"
#include "executor/control_flow/control_flow.h"
#include "executor/run/executor.h"
#include "executor/run/forward_backward.h"
#include "ndarray/array.h"

typedef struct run run;
struct run {
    mxc_cached_op *op; /* counted while the run is in use */
    run *next;         /* in the list of free runs */
    mxc_executor *executor;
    mxc_ndarray **in;    /* input: the array bound, a handle of its own */
    mxc_ndarray **grads; /* argument: its gradient; NULL: none is asked for */
    uint8_t *is_copied;  /* input: in is the run's own array */
    uint64_t *pushed;    /* input: writes pushed on its variable when it was read */
    int is_spent;        /* backward has destroyed what it reads */
};

struct mxc_cached_op {
    atomic_int refs; /* the owner's, and one for each run in use */
    mxc_symbol *symbol;
    mxc_cached_op_options options;
    int n_args, n_aux, n_out;
    mxci_graph *graph; /* for calls that run node by node; NULL: there were none */
    int needs_arrays;  /* all calls do, else those with a monitor */
    mxci_node_monitor monitor;
    mxci_mutex lock;      /* over what follows */
    uint8_t *is_volatile; /* input */
    run *free;            /* the one given back last is first */
    mxc_cached_op *next;  /* among those without owner and runs in use */
};

static mxci_global_mutex dead_lock = MXCI_GLOBAL_MUTEX_INIT;
static mxc_cached_op *dead; /* to be destroyed by a thread that may wait */

static int n_inputs(const mxc_cached_op *op) {
    return op->n_args + op->n_aux;
}

/* ---- destruction ------------------------------------------------------------------------------------------------- */

static void run_destroy(run *r, int n_args, int n_in) {
    if (!r)
        return;
    mxc_executor_destroy(r->executor);
    for (int i = 0; i < n_in && r->in; i++)
        mxc_ndarray_release(r->in[i]);
    for (int i = 0; i < n_args && r->grads; i++)
        mxc_ndarray_release(r->grads[i]);
    mxci_free(r->in);
    mxci_free(r->grads);
    mxci_free(r->is_copied);
    mxci_free(r->pushed);
    mxci_free(r);
}

static void cached_op_free(mxc_cached_op *op) {
    while (op->free) {
        run *r = op->free;
        op->free = r->next;
        run_destroy(r, op->n_args, n_inputs(op));
    }
    mxc_symbol_release(op->symbol);
    mxci_graph_destroy(op->graph);
    mxci_free(op->is_volatile);
    mxci_mutex_destroy(&op->lock);
    mxci_free_object(op);
}

/* Frees the operators without owner, if this thread may wait. */
static void reap(void) {
    mxc_cached_op *list;
    if (mxci_worker_pool_of_thread())
        return;
    mxci_global_lock(&dead_lock);
    list = dead;
    dead = NULL;
    mxci_global_unlock(&dead_lock);
    while (list) {
        mxc_cached_op *op = list;
        list = op->next;
        cached_op_free(op);
    }
}

static void cached_op_release(mxc_cached_op *op) {
    if (atomic_fetch_sub_explicit(&op->refs, 1, memory_order_acq_rel) != 1)
        return;
    mxci_global_lock(&dead_lock);
    op->next = dead;
    dead = op;
    mxci_global_unlock(&dead_lock);
    reap();
}

void mxc_cached_op_destroy(mxc_cached_op *op) {
    if (MXCI_MAY_RELEASE(op))
        cached_op_release(op);
    else
        reap();
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static mxc_status count_slots(mxc_cached_op *op) {
    mxc_names names;
    MXC_TRY(mxc_symbol_list_arguments(op->symbol, &names));
    op->n_args = (int)names.n;
    mxc_names_release(&names);
    MXC_TRY(mxc_symbol_list_aux(op->symbol, &names));
    op->n_aux = (int)names.n;
    mxc_names_release(&names);
    op->n_out = (int)mxc_symbol_n_outputs(op->symbol);
    op->is_volatile = mxci_calloc((size_t)n_inputs(op) + 1, 1);
    return op->is_volatile ? MXC_OK : MXCI_NO_MEMORY("mxc_cached_op_create", "inputs");
}

/* The graph, where no executor can be bound. */
static mxc_status find_graph(mxc_cached_op *op) {
    MXC_TRY(mxci_graph_from_symbol(op->symbol, &op->graph));
    op->needs_arrays = mxci_graph_needs_arrays(op->graph);
    if (op->needs_arrays)
        return MXC_OK;
    mxci_graph_destroy(op->graph);
    op->graph = NULL;
    return MXC_OK;
}

void mxc_cached_op_options_init(mxc_cached_op_options *options, size_t size) {
    static const mxc_cached_op_options defaults = MXC_CACHED_OP_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

/* The symbol is copied, since its owner may compose it. */
mxc_status mxc_cached_op_create(mxc_symbol *symbol, const mxc_cached_op_options *options, mxc_cached_op **out) {
    mxc_cached_op_options read = MXC_CACHED_OP_OPTIONS_INIT;
    mxc_cached_op *op;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    if (options)
        MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_cached_op_options_init"));
    if (read.capacity < 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_cached_op_create: capacity is %d, expected 0 or more", read.capacity);
    reap();
    op = mxci_calloc(1, sizeof *op);
    if (!op)
        return MXCI_NO_MEMORY("mxc_cached_op_create", "an operator");
    atomic_init(&op->refs, 1);
    mxci_mutex_init(&op->lock);
    op->options = read;
    status = mxc_symbol_copy(symbol, &op->symbol);
    if (status == MXC_OK)
        status = count_slots(op);
    if (status == MXC_OK)
        status = find_graph(op);
    if (status == MXC_OK)
        *out = op;
    else
        cached_op_free(op);
    return status;
}

mxc_status mxc_cached_op_set_monitor(mxc_cached_op *op, mxc_cached_op_monitor_fn fn, int is_all, void *user) {
    MXC_TRY(MXCI_NON_NULL(op));
    if (fn && !op->graph)
        MXC_TRY(mxci_graph_from_symbol(op->symbol, &op->graph));
    op->monitor = (mxci_node_monitor){fn, is_all, user};
    return MXC_OK;
}

mxc_symbol *mxc_cached_op_symbol(const mxc_cached_op *op) {
    return op ? op->symbol : NULL;
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

/* An array of the run's own, or a handle of its own of the array given. */
static mxc_status bind_input(run *r, int i, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    if (!r->is_copied[i])
        return mxci_array_view(array, shape, 0, &r->in[i]);
    return mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(array), mxc_ndarray_context(array), &r->in[i]);
}

static mxc_status bind_run(const mxc_cached_op *op, run *r, mxc_ndarray *const *in, const uint8_t *wanted) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    int n_wanted = 0;
    options.context = n_inputs(op) ? mxc_ndarray_context(in[0]) : mxc_cpu(0);
    options.repeat_backward = op->options.repeat_backward;
    for (int i = 0; i < n_inputs(op); i++)
        MXC_TRY(bind_input(r, i, in[i]));
    for (int i = 0; i < op->n_args; i++) {
        const mxc_shape *shape = mxc_ndarray_shape(in[i]);
        if (!wanted[i])
            continue;
        MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(in[i]), mxc_ndarray_context(in[i]),
                                   &r->grads[i]));
        n_wanted++;
    }
    return mxc_executor_bind(op->symbol, &options, r->in, n_wanted ? r->grads : NULL, NULL, r->in + op->n_args,
                             &r->executor);
}

static mxc_status new_run(mxc_cached_op *op, mxc_ndarray *const *in, const uint8_t *wanted, run **out) {
    const size_t n = (size_t)n_inputs(op) + 1;
    run *r = mxci_calloc(1, sizeof *r);
    mxc_status status = MXC_OK;
    if (!r)
        return MXCI_NO_MEMORY("mxc_cached_op_invoke", "a run");
    r->in = mxci_calloc(n, sizeof *r->in);
    r->grads = mxci_calloc(n, sizeof *r->grads);
    r->is_copied = mxci_calloc(n, 1);
    r->pushed = mxci_calloc(n, sizeof *r->pushed);
    if (!r->in || !r->grads || !r->is_copied || !r->pushed)
        status = MXCI_NO_MEMORY("mxc_cached_op_invoke", "the inputs of a run");
    if (status == MXC_OK) {
        mxci_mutex_lock(&op->lock);
        memcpy(r->is_copied, op->is_volatile, (size_t)op->n_args); /* states are changed where they are */
        mxci_mutex_unlock(&op->lock);
        status = bind_run(op, r, in, wanted);
    }
    if (status == MXC_OK)
        *out = r;
    else
        run_destroy(r, op->n_args, n_inputs(op));
    return status;
}

/* ---- free runs --------------------------------------------------------------------------------------------------- */

static int is_alike(const mxc_ndarray *a, const mxc_ndarray *b) {
    return mxc_ndarray_dtype(a) == mxc_ndarray_dtype(b) &&
           mxc_shape_equal(mxc_ndarray_shape(a), mxc_ndarray_shape(b)) &&
           mxc_context_equal(mxc_ndarray_context(a), mxc_ndarray_context(b));
}

/* 1 if both are the same memory. */
static int is_same(const mxc_ndarray *a, const mxc_ndarray *b) {
    return a->chunk == b->chunk && a->offset == b->offset;
}

static int fits(const mxc_cached_op *op, const run *r, mxc_ndarray *const *in, const uint8_t *wanted) {
    for (int i = 0; i < n_inputs(op); i++)
        if (!is_alike(r->in[i], in[i]) || (i < op->n_args && !r->grads[i] != !wanted[i]))
            return 0;
    return 1;
}

/* 1 if the run reads the arrays given, or copies of them. Others are volatile from now on. Locked. */
static int is_current(mxc_cached_op *op, const run *r, mxc_ndarray *const *in) {
    int is_current = 1;
    for (int i = 0; i < n_inputs(op); i++) {
        if (r->is_copied[i] || is_same(r->in[i], in[i]))
            continue;
        is_current = 0;
        op->is_volatile[i] = 1;
    }
    return is_current;
}

/* Takes a free run for these inputs out of the list; NULL if there is none. Those that are bound to other arrays of the
 * same shapes are destroyed, and the ones beyond the capacity too. */
static run *take(mxc_cached_op *op, mxc_ndarray *const *in, const uint8_t *wanted) {
    run *found = NULL, *unused = NULL;
    int n = 0;
    mxci_mutex_lock(&op->lock);
    for (run **at = &op->free; *at;) {
        run *r = *at;
        const int is_fit = !found && fits(op, r, in, wanted), is_found = is_fit && is_current(op, r, in);
        if (!is_fit && n < op->options.capacity) {
            n++;
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = unused;
        if (is_found)
            found = r;
        else
            unused = r;
    }
    if (found)
        atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed);
    mxci_mutex_unlock(&op->lock);
    while (unused) {
        run *r = unused;
        unused = r->next;
        run_destroy(r, op->n_args, n_inputs(op));
    }
    return found;
}

static mxc_status take_or_bind(mxc_cached_op *op, mxc_ndarray *const *in, const uint8_t *wanted, run **out) {
    *out = take(op, in, wanted);
    if (*out)
        return MXC_OK;
    MXC_TRY(new_run(op, in, wanted, out));
    (*out)->op = op;
    atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed);
    return MXC_OK;
}

static void give_back(void *data) {
    run *r = data;
    mxc_cached_op *op = r->op;
    mxci_mutex_lock(&op->lock);
    r->next = op->free;
    op->free = r;
    mxci_mutex_unlock(&op->lock);
    cached_op_release(op);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

static int run_reads_out_grad(const mxci_tape_node *node, int index) {
    const run *r = node->data;
    return r->executor->heads[index] != NULL;
}

static mxc_status run_check(const mxci_tape_node *node, int allow_changes) {
    const run *r = node->data;
    const mxc_cached_op *op = r->op;
    if (r->is_spent)
        return MXC_FAIL(MXC_ESTATE, "gradient: backward has run through a cached operator already; create it with "
                                    "repeat_backward 1 to run it again");
    for (int i = 0; i < op->n_args && !allow_changes; i++)
        if (!r->is_copied[i] && mxci_var_pushed(mxc_ndarray_var(r->in[i])) != r->pushed[i])
            return MXC_FAIL(MXC_ESTATE,
                            "gradient: argument '%s' of a cached operator was written after the call was recorded, but "
                            "backward reads it; write to it after backward, or to a copy",
                            r->executor->arg_names.items[i]);
    return MXC_OK;
}

static mxc_status run_backward(mxci_tape_node *node, mxc_ndarray *const *out_grad, mxc_ndarray *const *in_grad,
                               const mxc_req *req) {
    run *r = node->data;
    r->is_spent = !r->op->options.repeat_backward;
    MXC_TRY(mxc_executor_backward(r->executor, r->op->n_out, out_grad));
    for (int i = 0; i < r->op->n_args; i++)
        MXC_TRY(mxci_store_array(r->grads[i], in_grad[i], req[i]));
    return MXC_OK;
}

/* The operator's symbol with the inputs as its variables. */
static mxc_status run_symbol(const mxci_tape_node *node, const char *name, mxc_symbol *const *in, mxc_symbol **out) {
    const run *r = node->data;
    const mxc_names *args = &r->executor->arg_names, *aux = &r->executor->aux_names;
    const char **keys = mxci_calloc((size_t)node->n_in + 1, sizeof *keys);
    (void)name;
    *out = NULL;
    if (!keys)
        return MXCI_NO_MEMORY("mxc_autograd_symbol", "names");
    for (int i = 0; i < node->n_in; i++)
        keys[i] = i < args->n ? args->items[i] : aux->items[i - args->n];
    mxc_status status = mxc_symbol_copy(r->op->symbol, out);
    if (status == MXC_OK)
        status = mxc_symbol_compose(*out, NULL, node->n_in, keys, in);
    if (status != MXC_OK) {
        mxc_symbol_release(*out);
        *out = NULL;
    }
    mxci_free((void *)keys);
    return status;
}

static const mxci_tape_kind run_kind = {
    .reads_out_grad = run_reads_out_grad,
    .check = run_check,
    .backward = run_backward,
    .symbol = run_symbol,
    .destroy = give_back,
};

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static mxc_status forward(run *r, mxc_ndarray *const *in, int is_train, int is_recorded) {
    for (int i = 0; i < r->op->n_args; i++)
        if (r->is_copied[i])
            MXC_TRY(mxc_ndarray_copy_to(in[i], r->in[i], 0));
    r->is_spent = 0;
    MXC_TRY(mxc_executor_forward(r->executor, is_train));
    if (is_recorded)
        mxci_executor_allow_backward(r->executor);
    for (int i = 0; i < r->op->n_args; i++)
        r->pushed[i] = mxci_var_pushed(mxc_ndarray_var(r->in[i]));
    return MXC_OK;
}

static mxc_status make_outputs(const run *r, mxc_ndarray **out) {
    for (int i = 0; i < r->op->n_out; i++) {
        mxc_ndarray *output = mxc_executor_output(r->executor, i);
        if (r->op->options.static_alloc)
            MXC_TRY(mxci_array_view(output, mxc_ndarray_shape(output), 0, &out[i]));
        else
            MXC_TRY(mxc_ndarray_copy(output, mxc_ndarray_context(output), mxc_ndarray_dtype(output), &out[i]));
    }
    return MXC_OK;
}

/* The node takes the run over. */
static mxc_status record_run(run *r, mxc_ndarray *const *in, mxc_ndarray *const *out) {
    const int n_in = n_inputs(r->op), n_args = r->op->n_args, n_out = r->op->n_out;
    mxci_tape_node *node;
    mxc_status status = mxci_tape_node_create(&run_kind, n_in, n_args, n_out, &node);
    if (status != MXC_OK) {
        give_back(r);
        return status;
    }
    node->data = r;
    node->name = "cached_op";
    for (int i = 0; i < n_in && status == MXC_OK; i++)
        status = mxci_tape_set_input(node, i, in[i]);
    for (int i = 0; i < n_out && status == MXC_OK; i++)
        mxci_tape_set_output(node, i, out[i]);
    mxci_tape_node_release(node);
    return status;
}

static mxc_status invoke(mxc_cached_op *op, mxc_ndarray *const *in, const uint8_t *wanted, int is_recorded,
                         int is_train, mxc_ndarray **out) {
    run *r;
    mxc_status status;
    MXC_TRY(take_or_bind(op, in, wanted, &r));
    status = forward(r, in, is_train, is_recorded);
    if (status == MXC_OK)
        status = make_outputs(r, out);
    if (status == MXC_OK && is_recorded)
        return record_run(r, in, out);
    give_back(r);
    return status;
}

static mxc_status check_inputs(const mxc_cached_op *op, int n_in, mxc_ndarray *const *in, int n_out) {
    if (n_in != n_inputs(op))
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_cached_op_invoke: expected %d arrays (%d arguments, %d auxiliary states), found %d",
                        n_inputs(op), op->n_args, op->n_aux, n_in);
    if (n_out != op->n_out)
        return MXC_FAIL(MXC_EINVAL, "mxc_cached_op_invoke: expected %d outputs, found %d", op->n_out, n_out);
    for (int i = 0; i < n_in; i++)
        if (!in[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_cached_op_invoke: in[%d] must not be NULL", i);
    return MXC_OK;
}

/* What the call does itself is not recorded: it becomes one node. */
static mxc_status invoke_as_one(mxc_cached_op *op, mxc_ndarray *const *in, mxc_ndarray **out) {
    uint8_t *wanted = mxci_calloc((size_t)n_inputs(op) + 1, 1);
    int is_recorded = 0;
    if (!wanted)
        return MXCI_NO_MEMORY("mxc_cached_op_invoke", "inputs");
    const unsigned mode = mxci_mode_exchange(0);
    for (int i = 0; i < op->n_args && mode & MXCI_MODE_RECORD; i++)
        is_recorded |= wanted[i] = (uint8_t)mxci_tape_needs_grad(in[i]);
    mxc_status status = invoke(op, in, wanted, is_recorded, (mode & MXCI_MODE_TRAIN) != 0, out);
    mxci_mode = mode;
    mxci_free(wanted);
    return status;
}

mxc_status mxc_cached_op_invoke(mxc_cached_op *op, int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray **out) {
    for (int i = 0; out && i < n_out; i++)
        out[i] = NULL;
    MXC_TRY(MXCI_NON_NULL(op));
    MXC_TRY(MXCI_NON_NULL_IF(n_in > 0, in));
    MXC_TRY(MXCI_NON_NULL(out));
    MXC_TRY(check_inputs(op, n_in, in, n_out));
    reap();
    mxc_status status = op->needs_arrays || op->monitor.fn ? mxci_graph_call_by_node(op->graph, in, &op->monitor, out)
                                                           : invoke_as_one(op, in, out);
    for (int i = 0; i < n_out && status != MXC_OK; i++) {
        mxc_ndarray_release(out[i]);
        out[i] = NULL;
    }
    return status;
}
