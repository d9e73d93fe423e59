/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _foreach: runs a subgraph once for each row of its data, and hands states from one step to the next.
 *
 * Inputs: data (T,...) of each in_data_locs, then first states of each in_state_locs, then what all steps read, of each
 * remain_locs; a location is the number of the subgraph's argument. The subgraph gives num_out_data outputs, which are
 * stacked to (T,...), and then the new states, of which those of the last step are outputs.
 *
 * A training run keeps an executor per step, since backward reads what each step has computed.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/control_flow/control_flow.h"

enum { DATA, STATE, REMAIN };

/* ---- parameters, inference --------------------------------------------------------------------------------------- */

static mxc_status check(const mxci_control_params *p);

static const mxc_param numbers[] = {MXCI_CONTROL_COUNTS, MXCI_CONTROL_OUT_DATA, MXC_PARAM_END};
static const mxci_control_op control = {
    "_foreach", 1, {"in_data_locs", "in_state_locs", "remain_locs"}, numbers, check};

static mxc_status check(const mxci_control_params *p) {
    MXC_TRY(mxci_locations_check(control.name, "in_data_locs, in_state_locs and remain_locs", p->n_in[0], 3, p->locs));
    if (p->n_args != p->n_in[0])
        return MXC_FAIL(MXC_EINVAL, "%s: num_args is %lld, but the subgraph has %d arguments", control.name,
                        (long long)p->num_args, p->n_in[0]);
    if (p->locs[DATA].n == 0)
        return MXC_FAIL(MXC_EINVAL, "%s: in_data_locs is empty, so that the number of steps is not known",
                        control.name);
    if (p->num_outputs != p->n_out[0] || p->num_out_data + p->locs[STATE].n != p->num_outputs)
        return MXC_FAIL(
            MXC_EINVAL,
            "%s: num_outputs is %lld and num_out_data %lld, but the subgraph has %d outputs, of which %d are states",
            control.name, (long long)p->num_outputs, (long long)p->num_out_data, p->n_out[0], p->locs[STATE].n);
    return MXC_OK;
}

static mxc_status foreach_open(int n, const char *const *keys, const char *const *values, void *params) {
    return mxci_control_open(&control, n, keys, values, params);
}

/* The kind of an input, and the argument of the subgraph that it is. */
static int kind_of(const mxci_control_params *p, int input, int *argument) {
    int kind = DATA;
    while (input >= p->locs[kind].n)
        input -= p->locs[kind++].n;
    *argument = p->locs[kind].at[input];
    return kind;
}

/* Room for the shapes or types of the subgraph's slots; free it as one block. */
static void *slots_alloc(const mxci_control_params *p, size_t size) {
    return mxci_calloc((size_t)p->n_in[0] + (size_t)p->n_out[0], size);
}

static mxc_status infer_shapes(mxc_op_sig *sig, mxc_shape *in, mxc_shape *out) {
    const mxci_control_params *p = sig->params;
    int64_t steps = -1;
    int argument;
    for (int i = 0; i < p->locs[DATA].n; i++)
        if (sig->in_shape[i].ndim > 0 && sig->in_shape[i].dim[0] >= 0)
            steps = sig->in_shape[i].dim[0];
    if (steps > MXCI_MAX_ITERATIONS)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: data has %lld rows, expected at most %d", control.name, (long long)steps,
                        MXCI_MAX_ITERATIONS);
    for (int i = 0; i < sig->n_in; i++) {
        int kind = kind_of(p, i, &argument);
        in[argument] = kind == DATA ? mxci_row_shape(&sig->in_shape[i]) : sig->in_shape[i];
    }
    for (int i = 0; i < sig->n_out; i++)
        out[i] = i < p->num_out_data ? (mxc_shape){.ndim = -1} : sig->out_shape[i];
    MXC_TRY(mxci_subgraph_infer(p->subgraphs[0], in, out, NULL, NULL));
    for (int i = 0; i < sig->n_in; i++) {
        int kind = kind_of(p, i, &argument);
        mxc_shape expected = in[argument];
        if (kind == DATA && sig->in_shape[i].ndim == 1)
            expected = (mxc_shape){.ndim = 1, .dim = {steps}};
        else if (kind == DATA)
            expected = mxci_rows_shape(&in[argument], steps);
        MXC_TRY(mxc_sig_set_shape(sig, i, &expected));
        if (kind == STATE) /* a state keeps its shape */
            MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT((int)p->num_out_data + i - p->locs[DATA].n), &expected));
    }
    for (int i = 0; i < sig->n_out; i++) {
        mxc_shape expected = i < p->num_out_data ? mxci_rows_shape(&out[i], steps) : out[i];
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &expected));
    }
    return MXC_OK;
}

static mxc_status foreach_infer_shape(mxc_op_sig *sig) {
    const mxci_control_params *p = sig->params;
    mxc_shape *slots = slots_alloc(p, sizeof *slots);
    mxc_status status =
        slots ? infer_shapes(sig, slots, slots + p->n_in[0]) : MXCI_NO_MEMORY(control.name, "inference");
    mxci_free(slots);
    return status;
}

static mxc_status infer_types(mxc_op_sig *sig, mxc_dtype *in, mxc_dtype *out) {
    const mxci_control_params *p = sig->params;
    int argument;
    for (int i = 0; i < sig->n_in; i++) {
        (void)kind_of(p, i, &argument);
        in[argument] = sig->in_type[i];
    }
    memcpy(out, sig->out_type, (size_t)sig->n_out * sizeof *out);
    MXC_TRY(mxci_subgraph_infer(p->subgraphs[0], NULL, NULL, in, out));
    for (int i = 0; i < sig->n_in; i++) {
        int kind = kind_of(p, i, &argument);
        MXC_TRY(mxc_sig_set_type(sig, i, in[argument]));
        if (kind == STATE)
            MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT((int)p->num_out_data + i - p->locs[DATA].n), in[argument]));
    }
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), out[i]));
    return MXC_OK;
}

static mxc_status foreach_infer_type(mxc_op_sig *sig) {
    const mxci_control_params *p = sig->params;
    mxc_dtype *slots = slots_alloc(p, sizeof *slots);
    mxc_status status = slots ? infer_types(sig, slots, slots + p->n_in[0]) : MXCI_NO_MEMORY(control.name, "inference");
    mxci_free(slots);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct foreach_state {
    mxci_steps steps;
    int64_t n_run; /* steps of the latest training run; -1: none */
} foreach_state;

static void foreach_state_destroy(void *state) {
    foreach_state *s = state;
    mxci_steps_close(&s->steps);
    mxci_free(s);
}

static mxc_status open_steps(const mxc_op_sig *sig, mxci_steps *steps) {
    int argument;
    MXC_TRY(mxci_steps_open(&control, sig, 0, steps));
    for (int i = 0; i < sig->n_in; i++) {
        int kind = kind_of(sig->params, i, &argument);
        steps->shapes[argument] = kind == DATA ? mxci_row_shape(&sig->in_shape[i]) : sig->in_shape[i];
        steps->types[argument] = sig->in_type[i];
        steps->is_shared[argument] = kind == REMAIN;
    }
    return mxci_steps_make_arrays(steps);
}

static mxc_status foreach_state_create(const mxc_op_sig *sig, void **out) {
    foreach_state *s = mxci_calloc(1, sizeof *s);
    if (!s)
        return MXCI_NO_MEMORY(control.name, "the state");
    s->n_run = -1;
    mxc_status status = open_steps(sig, &s->steps);
    if (status == MXC_OK)
        *out = s;
    else
        foreach_state_destroy(s);
    return status;
}

/* Queue step t: its row of data, the states of the step before it, a run, its rows of the outputs. */
static mxc_status forward_step(const mxc_op_call *call, int64_t t, const mxc_executor *before, mxc_ndarray **in,
                               mxc_ndarray **out, mxc_executor **now) {
    const mxci_control_params *p = call->params;
    foreach_state *s = call->state;
    int argument;
    MXC_TRY(mxci_steps_get(&s->steps, t, call->is_train, now));
    for (int i = 0; i < call->n_in; i++) {
        int kind = kind_of(p, i, &argument), k = i - p->locs[DATA].n;
        mxc_ndarray *to = mxc_executor_arg(*now, argument);
        if (kind == DATA)
            MXC_TRY(mxci_load_row(in[i], t, to));
        else if (kind == STATE)
            MXC_TRY(
                mxci_store_array(before ? mxc_executor_output(before, p->num_out_data + k) : in[i], to, MXC_REQ_WRITE));
    }
    MXC_TRY(mxc_executor_forward(*now, call->is_train));
    for (int i = 0; i < p->num_out_data; i++)
        MXC_TRY(mxci_store_row(mxc_executor_output(*now, i), out[i], t, call->req[i]));
    return MXC_OK;
}

static mxc_status forward_steps(const mxc_op_call *call, mxc_ndarray **in, mxc_ndarray **out) {
    const mxci_control_params *p = call->params;
    foreach_state *s = call->state;
    const int64_t n = call->in[0].shape.dim[0];
    mxc_executor *last = NULL;
    int argument;
    for (int i = 0; i < call->n_in; i++)
        if (kind_of(p, i, &argument) == REMAIN)
            MXC_TRY(mxci_store_array(in[i], s->steps.shared[argument], MXC_REQ_WRITE));
    for (int64_t t = 0; t < n; t++)
        MXC_TRY(forward_step(call, t, last, in, out, &last));
    for (int k = 0; k < p->locs[STATE].n; k++) {
        int to = (int)p->num_out_data + k;
        MXC_TRY(
            mxci_store_array(last ? mxc_executor_output(last, to) : in[p->locs[DATA].n + k], out[to], call->req[to]));
    }
    s->n_run = call->is_train ? n : -1;
    return MXC_OK;
}

static mxc_status foreach_forward(const mxc_op_call *call) {
    ((foreach_state *)call->state)->n_run = -1;
    return mxci_run_on_arrays(call, MXC_FORWARD, forward_steps);
}

/* Queue backward of step t: gradients of its outputs, of which those of the states come from the step behind it. */
static mxc_status backward_step(const mxc_op_call *call, int64_t t, mxc_ndarray **out_grad, mxc_ndarray **in_grad,
                                mxc_ndarray **heads) {
    const mxci_control_params *p = call->params;
    foreach_state *s = call->state;
    mxc_executor *now = s->steps.executors[t];
    mxc_executor *behind = t + 1 < s->n_run ? s->steps.executors[t + 1] : NULL;
    int n_rows = 0, argument;
    mxc_status status = MXC_OK;
    for (; n_rows < p->num_out_data && status == MXC_OK; n_rows++) {
        heads[n_rows] = NULL;
        if (out_grad[n_rows])
            status = mxci_row_like(out_grad[n_rows], t, mxc_executor_output(now, n_rows), &heads[n_rows]);
    }
    for (int k = 0; k < p->locs[STATE].n; k++)
        heads[p->num_out_data + k] =
            behind ? mxci_steps_grad(&s->steps, behind, p->locs[STATE].at[k]) : out_grad[p->num_out_data + k];
    if (status == MXC_OK)
        status = mxc_executor_backward(now, p->num_outputs, heads);
    while (n_rows > 0)
        mxc_ndarray_release(heads[--n_rows]);
    for (int i = 0; i < call->n_in && status == MXC_OK; i++) {
        int kind = kind_of(p, i, &argument);
        if (kind == DATA)
            status = mxci_store_row(mxc_executor_grad(now, argument), in_grad[i], t, call->req[i]);
        else if (kind == STATE && t == 0)
            status = mxci_store_array(mxc_executor_grad(now, argument), in_grad[i], call->req[i]);
    }
    return status;
}

static mxc_status backward_steps(const mxc_op_call *call, mxc_ndarray **out_grad, mxc_ndarray **in_grad) {
    const mxci_control_params *p = call->params;
    foreach_state *s = call->state;
    mxc_ndarray **heads = mxci_calloc((size_t)p->num_outputs, sizeof *heads);
    mxc_status status = heads ? MXC_OK : MXCI_NO_MEMORY(control.name, "gradients");
    int argument;
    for (int i = 0; i < s->steps.n_in && status == MXC_OK; i++)
        if (s->steps.shared_grads[i])
            status = mxc_ndarray_fill(s->steps.shared_grads[i], 0);
    for (int i = 0; i < call->n_in && status == MXC_OK; i++) /* dtypes without gradients */
        if (!(MXC_DTYPES_FLOAT >> call->in_grad[i].dtype & 1))
            status = mxci_store_zeros(in_grad[i], call->req[i]);
    for (int64_t t = s->n_run - 1; t >= 0 && status == MXC_OK; t--)
        status = backward_step(call, t, out_grad, in_grad, heads);
    for (int i = 0; i < call->n_in && status == MXC_OK; i++) {
        int kind = kind_of(p, i, &argument);
        if (kind == REMAIN)
            status = mxci_store_array(s->steps.shared_grads[argument], in_grad[i], call->req[i]);
        else if (kind == STATE && s->n_run == 0) /* what came in went out */
            status = mxci_store_array(out_grad[p->num_out_data + i - p->locs[DATA].n], in_grad[i], call->req[i]);
    }
    mxci_free(heads);
    return status;
}

static mxc_status foreach_backward(const mxc_op_call *call) {
    foreach_state *s = call->state;
    if (s->n_run < 0)
        MXC_TRY(mxci_run_forward_first(call, foreach_forward));
    return mxci_run_on_arrays(call, MXC_BACKWARD, backward_steps);
}

const mxc_op_def mxci_op_foreach = {
    .size = sizeof(mxc_op_def),
    .name = "_foreach",
    .doc = "Runs a subgraph for each row of its data, states going from one step to the next; outputs are stacked "
           "(T,...), states are those of the last step. mxc_symbol_foreach makes it.",
    .flags = MXC_OP_CALLBACK,
    .n_subgraphs = 1,
    .param_size = sizeof(mxci_control_params),
    .params_open = foreach_open,
    .params_close = mxci_control_close,
    .n_args = mxci_control_n_args,
    .n_outputs = mxci_control_n_outputs,
    .infer_shape = foreach_infer_shape,
    .infer_type = foreach_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = MXC_NEED_ALL, .in = MXC_NEED_ALL},
    .state_create = foreach_state_create,
    .state_destroy = foreach_state_destroy,
    .forward = {[MXC_CPU] = foreach_forward},
    .backward = {[MXC_CPU] = foreach_backward},
};
