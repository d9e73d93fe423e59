/* SPDX-License-Identifier: Apache-2.0 */
/* The engine task of one imperative run: its memory, its variables, its resources. */
#include "operator/invocation.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/trace.h"
#include "ndarray/array.h"
#include "operator/op.h"
#include "operator/trace_call.h"
#include "resource/temp.h"

/* A run that touches no more elements than this may run on the pushing thread. */
enum { CHEAP_ELEMENTS = 2048 };

/* The block of a run on more arrays than this is freed instead of kept for the operator's next call. */
enum { SPARE_SLOTS = 128 };

/* ---- the block --------------------------------------------------------------------------------------------------- */

/* The next count elements at *at, which moves on to a multiple of 16 bytes. */
static void *carve(char **at, size_t count, size_t size) {
    char *start = *at;
    *at += (count * size + 15) / 16 * 16;
    return start;
}

/* Sets v's arrays to their places behind v in its block; returns their bytes. With v NULL it only measures. */
static size_t lay_out(mxci_invocation *v, int n_in, int n_out, int n_aux, int n_slots) {
    size_t slots = (size_t)n_slots, in = (size_t)n_in, out = (size_t)n_out, aux = (size_t)n_aux;
    size_t most = in > out ? in : out;
    char *start = v ? (char *)(v + 1) : NULL, *at = start;
    mxci_invocation unused, *to = v ? v : &unused;
    to->tensors = carve(&at, slots, sizeof(mxc_tensor));
    to->arrays = carve(&at, slots, sizeof(mxc_ndarray *));
    to->vars = carve(&at, slots, sizeof(mxc_var *));
    to->req = carve(&at, most, sizeof(mxc_req));
    to->sig.in_shape = carve(&at, in, sizeof(mxc_shape));
    to->sig.out_shape = carve(&at, out, sizeof(mxc_shape));
    to->sig.aux_shape = carve(&at, aux, sizeof(mxc_shape));
    to->sig.in_type = carve(&at, in, sizeof(mxc_dtype));
    to->sig.out_type = carve(&at, out, sizeof(mxc_dtype));
    to->sig.aux_type = carve(&at, aux, sizeof(mxc_dtype));
    return (size_t)(at - start);
}

/* Marks shapes and types as unknown. */
static void forget(int n, mxc_shape *shapes, mxc_dtype *types) {
    for (int i = 0; i < n; i++) {
        shapes[i].ndim = -1;
        types[i] = MXC_DTYPE_UNKNOWN;
    }
}

/* A new block. */
static mxc_status create_block(mxc_op *op, mxc_pass pass, mxci_invocation **out) {
    int n_in = mxc_op_n_args(op), n_out = mxc_op_n_outputs(op), n_aux = mxc_op_n_aux(op);
    int n_slots = pass == MXC_FORWARD ? n_in + n_out + n_aux : 2 * (n_in + n_out) + n_aux;
    size_t bytes = sizeof(mxci_invocation) + lay_out(NULL, n_in, n_out, n_aux, n_slots);
    mxci_invocation *v = mxci_alloc(bytes);
    *out = NULL;
    if (!v)
        return MXC_FAIL(MXC_ENOMEM, "%s: out of memory for a call on %d arrays", mxc_op_get_def(op)->name, n_slots);
    memset(v, 0, bytes);
    lay_out(v, n_in, n_out, n_aux, n_slots);
    atomic_init(&v->refs, 1);
    v->op = mxc_op_retain(op);
    v->pass = pass;
    v->n_in = v->sig.n_in = n_in;
    v->n_out = v->sig.n_out = n_out;
    v->n_aux = v->sig.n_aux = n_aux;
    v->n_slots = n_slots;
    v->sig.op = op;
    v->sig.params = mxc_op_params(op);
    forget(n_in, v->sig.in_shape, v->sig.in_type);
    forget(n_out, v->sig.out_shape, v->sig.out_type);
    forget(n_aux, v->sig.aux_shape, v->sig.aux_type);
    *out = v;
    return MXC_OK;
}

/* A block from an earlier run of the operator, in which sig and tensors stay as they are. */
static void clear_spare(mxci_invocation *v) {
    memset(v->arrays, 0, (size_t)v->n_slots * sizeof *v->arrays);
    memset(&v->call, 0, sizeof v->call);
    v->task_ended = 0;
    v->temp_bytes = 0;
    v->state = NULL;
    v->sig.parallelism = 0;
}

/* Forward runs use the block that the operator has kept from an earlier run, if there is one; all blocks of one
 * operator have one size. */
mxc_status mxci_invocation_create(mxc_op *op, mxc_pass pass, mxci_invocation **out) {
    mxci_invocation *v = pass == MXC_FORWARD ? mxci_op_take_spare(op) : NULL;
    *out = v;
    if (!v)
        return create_block(op, pass, out);
    clear_spare(v);
    atomic_init(&v->refs, 1);
    v->op = mxc_op_retain(op);
    return MXC_OK;
}

mxci_op_state *mxci_op_state_retain(mxci_op_state *state) {
    if (state)
        atomic_fetch_add_explicit(&state->refs, 1, memory_order_relaxed);
    return state;
}

void mxci_op_state_release(mxci_op_state *state) {
    if (!state || atomic_fetch_sub_explicit(&state->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (state->value)
        state->destroy(state->value);
    mxci_free(state);
}

/* The caller and the engine task each release once; the last one frees. */
void mxci_invocation_release(mxci_invocation *v) {
    mxc_op *op;
    if (!v || !(mxci_invocation_is_mine(v) || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) == 1))
        return;
    mxci_op_state_release(v->state);
    for (int i = 0; i < v->n_slots; i++)
        mxc_ndarray_release(v->arrays[i]);
    op = v->op;
    if (v->pass == MXC_FORWARD && v->n_slots <= SPARE_SLOTS)
        mxci_op_keep_spare(op, v); /* all forward calls of one operator take blocks of one size */
    else
        mxci_free(v);
    mxc_op_release(op);
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

int mxci_slot_changes(const mxci_invocation *v, int slot) {
    if (!v->arrays[slot])
        return 0;
    return v->pass == MXC_FORWARD ? slot >= mxci_slot_out(v) : slot >= mxci_slot_in_grad(v);
}

mxc_req mxci_slot_req(const mxci_invocation *v, int slot) {
    if (v->pass == MXC_BACKWARD)
        return v->req[slot - mxci_slot_in_grad(v)];
    return slot < mxci_slot_aux(v) ? v->req[slot - mxci_slot_out(v)] : MXC_REQ_ADD;
}

const char *mxci_slot_text(const mxci_invocation *v, int slot, char *out, size_t size) {
    char name[64];
    if (slot >= mxci_slot_in_grad(v))
        snprintf(out, size, "gradient of argument '%s'",
                 mxc_op_arg_name(v->op, slot - mxci_slot_in_grad(v), name, sizeof name));
    else if (slot >= mxci_slot_out_grad(v))
        snprintf(out, size, "gradient of output '%s'",
                 mxc_op_output_name(v->op, slot - mxci_slot_out_grad(v), name, sizeof name));
    else if (slot >= mxci_slot_aux(v))
        snprintf(out, size, "auxiliary state '%s'", mxc_op_aux_name(v->op, slot - mxci_slot_aux(v), name, sizeof name));
    else if (slot >= mxci_slot_out(v))
        snprintf(out, size, "output '%s'", mxc_op_output_name(v->op, slot - mxci_slot_out(v), name, sizeof name));
    else
        snprintf(out, size, "argument '%s'", mxc_op_arg_name(v->op, slot, name, sizeof name));
    return out;
}

/* ---- the task ---------------------------------------------------------------------------------------------------- */

/* Where the arrays' data is, which is known once the task runs. */
static mxc_status fill_tensors(mxci_invocation *v) {
    for (int i = 0; i < v->n_slots; i++)
        if (v->arrays[i])
            MXC_TRY(mxci_array_data(v->arrays[i], &v->tensors[i].data));
        else
            v->tensors[i].data = NULL;
    return MXC_OK;
}

static mxc_status invocation_compute(mxci_invocation *v) {
    int64_t begin = mxci_trace_begin();
    mxc_status status = v->compute(&v->call);
    mxci_trace_call(begin, mxc_op_get_def(v->op)->name, "operator", &v->call, v->pass);
    return status;
}

/* The engine's function: scratch comes from the worker's pool and is valid until it returns. */
static mxc_status run_task(const mxc_run *run, void *arg) {
    mxci_invocation *v = arg;
    mxc_op_call *call = &v->call;
    MXC_TRY(fill_tensors(v));
    call->run = run;
    call->temp_bytes = v->temp_bytes;
    if (v->temp_bytes)
        MXC_TRY(mxci_temp_get(run, v->temp_bytes, &call->temp));
    return invocation_compute(v);
}

static mxc_status run_callback(void *arg) {
    mxci_invocation *v = arg;
    MXC_TRY(fill_tensors(v));
    return invocation_compute(v);
}

/* The engine's function for operators that may block: hands the run to a callback thread and returns. done completes
 * the task. */
static void begin_callback(const mxc_run *run, void *arg, mxc_done *done) {
    mxci_invocation *v = arg;
    (void)run;
    v->callback = (mxci_callback){.fn = run_callback, .arg = v, .name = mxc_op_get_def(v->op)->name, .done = done};
    mxci_callback_push(&v->callback);
}

static void end_task(void *arg) {
    mxci_invocation *v = arg;
    v->task_ended = 1;
    mxci_invocation_release(v);
}

static int has_var(int n, mxc_var *const *vars, const mxc_var *var) {
    for (int i = 0; i < n; i++)
        if (vars[i] == var)
            return 1;
    return 0;
}

/* Collects the variables, each once: written ones at the back of v->vars, those that are only read at the front.
 * Returns the task's flags. */
static unsigned collect_vars(mxci_invocation *v, int *n_reads, int *n_writes) {
    unsigned flags = MXC_TASK_HELPED;
    int64_t elements = 0;
    *n_reads = *n_writes = 0;
    for (int i = 0; i < v->n_slots; i++) {
        mxc_var *var;
        elements += v->arrays[i] ? mxc_ndarray_size(v->arrays[i]) : 0;
        if (!mxci_slot_changes(v, i))
            continue;
        var = mxc_ndarray_var(v->arrays[i]);
        flags |= mxci_slot_req(v, i) == MXC_REQ_WRITE ? 0 : MXC_TASK_UPDATES;
        if (!has_var(*n_writes, v->vars + v->n_slots - *n_writes, var))
            v->vars[v->n_slots - ++*n_writes] = var;
    }
    for (int i = 0; i < v->n_slots; i++) {
        mxc_var *var;
        if (!v->arrays[i] || mxci_slot_changes(v, i))
            continue;
        var = mxc_ndarray_var(v->arrays[i]);
        if (has_var(*n_writes, v->vars + v->n_slots - *n_writes, var))
            flags |= MXC_TASK_UPDATES;
        else if (!has_var(*n_reads, v->vars, var))
            v->vars[(*n_reads)++] = var;
    }
    return flags | (elements <= CHEAP_ELEMENTS ? MXC_TASK_CHEAP : 0);
}

static mxc_status create_state(mxci_invocation *v) {
    v->state = mxci_calloc(1, sizeof *v->state);
    if (!v->state)
        return MXCI_NO_MEMORY(mxc_op_get_def(v->op)->name, "its state");
    atomic_init(&v->state->refs, 1);
    v->state->destroy = v->impl.state_destroy;
    return v->impl.state_create(&v->sig, &v->state->value);
}

/* Everything that must happen in program order, on the calling thread: random numbers are reserved here, and the state
 * and the sizes of scratch follow from the shapes. Fills in the call but for the data, which the task looks up. */
static mxc_status invocation_prepare(mxci_invocation *v) {
    const mxc_op_def *def = mxc_op_get_def(v->op);
    mxc_op_call *call = &v->call;
    int has_work = mxci_has_work(&v->sig, v->pass, v->req);
    if (has_work)
        MXC_TRY(mxci_op_impl_temp(&v->impl, &v->sig, v->pass, &v->temp_bytes));
    else
        v->compute = mxci_compute_nothing;
    if (def->random_count && v->pass == MXC_FORWARD) {
        uint64_t count = def->random_count(&v->sig);
        if (count)
            MXC_TRY(mxc_random_reserve(v->sig.context, count, &call->random));
    }
    if (v->impl.state_create && has_work && !v->state)
        MXC_TRY(create_state(v));
    call->op = v->op;
    call->params = v->sig.params;
    call->state = v->state ? v->state->value : NULL;
    call->is_train = v->sig.is_train;
    call->n_in = v->n_in;
    call->n_out = v->n_out;
    call->n_aux = v->n_aux;
    call->in = v->tensors;
    call->out = v->tensors + mxci_slot_out(v);
    call->aux = v->tensors + mxci_slot_aux(v);
    if (v->pass == MXC_BACKWARD) {
        call->out_grad = v->tensors + mxci_slot_out_grad(v);
        call->in_grad = v->tensors + mxci_slot_in_grad(v);
    }
    call->req = v->req;
    return MXC_OK;
}

/* The task holds a reference of its own, which end_task drops. If the push fails, the task has not been created unless
 * a naive engine has already run it. */
mxc_status mxci_invocation_push(mxci_invocation *v) {
    mxc_task task = MXC_TASK_INIT;
    mxc_engine *engine;
    mxc_status status;
    int n_reads, n_writes;
    task.flags = collect_vars(v, &n_reads, &n_writes);
    if (!n_writes)
        return MXC_OK; /* every request is null */
    engine = mxc_var_engine(v->vars[v->n_slots - 1]);
    v->sig.parallelism = mxc_engine_parallelism(engine);
    MXC_TRY(invocation_prepare(v));
    task.name = mxc_op_get_def(v->op)->name;
    if (mxc_op_get_def(v->op)->flags & MXC_OP_CALLBACK)
        task.async_fn = begin_callback;
    else
        task.fn = run_task;
    task.arg = v;
    task.destroy = end_task;
    task.context = v->sig.context;
    atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed); /* the task's */
    status = mxc_engine_push(engine, &task, n_reads, v->vars, n_writes, v->vars + v->n_slots - n_writes, 0);
    if (status != MXC_OK && !v->task_ended) /* refused: a naive engine that ran it has ended the task */
        mxci_invocation_release(v);
    return status;
}
