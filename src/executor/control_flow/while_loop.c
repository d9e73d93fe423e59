/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _while_loop: runs a subgraph on the loop's variables as long as another one, the condition, is not 0, at most
 * max_iterations times.
 *
 * Inputs: cond_input_locs[i] is the input that argument i of the condition reads, func_input_locs[i] that of argument i
 * of the body; func_var_locs[k] is the body's argument that is variable k of the loop. The body gives num_out_data
 * outputs, which are stacked to (max_iterations,...) with zeros behind the last step, and then the new variables.
 *
 * A training run keeps an executor of the body per step, since backward reads what each step has computed.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/control_flow/control_flow.h"
#include "operator/infer.h"

enum { CONDITION_READS, BODY_READS, BODY_VARS };
enum { CONDITION, BODY };

/* ---- parameters, inference --------------------------------------------------------------------------------------- */

static mxc_status check(const mxci_control_params *p);

static const mxc_param numbers[] = {MXCI_CONTROL_COUNTS, MXCI_CONTROL_OUT_DATA, MXCI_CONTROL_MAX_ITERATIONS,
                                    MXC_PARAM_END};
static const mxci_control_op control = {
    "_while_loop", 2, {"cond_input_locs", "func_input_locs", "func_var_locs"}, numbers, check};

static mxc_status check(const mxci_control_params *p) {
    MXC_TRY(mxci_control_check_reads(&control, p));
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        if (p->locs[BODY_VARS].at[k] >= p->n_in[BODY])
            return MXC_FAIL(MXC_EINVAL,
                            "%s: func_var_locs: found argument %d, expected less than %d, the body's number",
                            control.name, p->locs[BODY_VARS].at[k], p->n_in[BODY]);
    if (p->n_out[CONDITION] != 1)
        return MXC_FAIL(MXC_EINVAL, "%s: the condition has %d outputs, expected 1", control.name, p->n_out[CONDITION]);
    if (p->num_outputs != p->n_out[BODY] || p->num_out_data + p->locs[BODY_VARS].n != p->num_outputs)
        return MXC_FAIL(MXC_EINVAL,
                        "%s: num_outputs is %lld and num_out_data %lld, but the body has %d outputs, of which %d are "
                        "variables of the loop",
                        control.name, (long long)p->num_outputs, (long long)p->num_out_data, p->n_out[BODY],
                        p->locs[BODY_VARS].n);
    return MXC_OK;
}

static mxc_status while_open(int n, const char *const *keys, const char *const *values, void *params) {
    return mxci_control_open(&control, n, keys, values, params);
}

/* The variable of the loop that an argument of the body is; -1: none. */
static int variable_of(const mxci_control_params *p, int argument) {
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        if (p->locs[BODY_VARS].at[k] == argument)
            return k;
    return -1;
}

/* The input that variable k of the loop has its first value from. */
static int input_of(const mxci_control_params *p, int k) {
    return p->locs[BODY_READS].at[p->locs[BODY_VARS].at[k]];
}

/* The variable of the loop that an input is the first value of; -1: none. */
static int variable_of_input(const mxci_control_params *p, int input) {
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        if (input_of(p, k) == input)
            return k;
    return -1;
}

/* A variable keeps its shape and its type. */
static mxc_status while_infer_shape(mxc_op_sig *sig) {
    const mxci_control_params *p = sig->params;
    MXC_TRY(mxci_control_infer_shape(&control, sig, CONDITION, 0));
    MXC_TRY(mxci_control_infer_shape(&control, sig, BODY, 1));
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){MXC_SLOT_OUT((int)p->num_out_data + k), input_of(p, k)}));
    return MXC_OK;
}

static mxc_status while_infer_type(mxc_op_sig *sig) {
    const mxci_control_params *p = sig->params;
    MXC_TRY(mxci_control_infer_type(&control, sig, CONDITION, 0));
    MXC_TRY(mxci_control_infer_type(&control, sig, BODY, 1));
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){MXC_SLOT_OUT((int)p->num_out_data + k), input_of(p, k)}));
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct while_state {
    mxci_steps condition, body;
    int64_t n_run; /* steps of the latest training run; -1: none */
} while_state;

static void while_state_destroy(void *state) {
    while_state *s = state;
    mxci_steps_close(&s->condition);
    mxci_steps_close(&s->body);
    mxci_free(s);
}

static mxc_status open_steps(const mxc_op_sig *sig, int g, mxci_steps *steps) {
    MXC_TRY(mxci_steps_open(&control, sig, g, steps));
    mxci_steps_read_inputs(sig, g, steps);
    for (int i = 0; i < steps->n_in && g == BODY; i++)
        steps->is_shared[i] = variable_of(sig->params, i) < 0;
    return mxci_steps_make_arrays(steps);
}

static mxc_status while_state_create(const mxc_op_sig *sig, void **out) {
    while_state *s = mxci_calloc(1, sizeof *s);
    if (!s)
        return MXCI_NO_MEMORY(control.name, "the state");
    s->n_run = -1;
    mxc_status status = open_steps(sig, CONDITION, &s->condition);
    if (status == MXC_OK)
        status = open_steps(sig, BODY, &s->body);
    if (status == MXC_OK)
        *out = s;
    else
        while_state_destroy(s);
    return status;
}

/* Variable k of the loop: what came in, or what the step before has computed. */
static mxc_ndarray *variable_array(const mxci_control_params *p, int k, const mxc_executor *before, mxc_ndarray **in) {
    return before ? mxc_executor_output(before, p->num_out_data + k) : in[input_of(p, k)];
}

/* Run the condition on the variables, and wait for it. */
static mxc_status goes_on(const mxc_op_call *call, const mxc_executor *before, mxc_ndarray **in, int *out) {
    const mxci_control_params *p = call->params;
    while_state *s = call->state;
    mxc_executor *condition;
    MXC_TRY(mxci_steps_get(&s->condition, 0, 0, &condition));
    for (int i = 0; i < p->n_in[CONDITION]; i++) {
        int input = p->locs[CONDITION_READS].at[i], k = variable_of_input(p, input);
        MXC_TRY(mxci_store_array(k < 0 ? in[input] : variable_array(p, k, before, in), mxc_executor_arg(condition, i),
                                 MXC_REQ_WRITE));
    }
    MXC_TRY(mxc_executor_forward(condition, 0));
    return mxci_read_flag(control.name, mxc_executor_output(condition, 0), out);
}

/* Queue step t of the body. */
static mxc_status forward_step(const mxc_op_call *call, int64_t t, const mxc_executor *before, mxc_ndarray **in,
                               mxc_ndarray **out, mxc_executor **now) {
    const mxci_control_params *p = call->params;
    while_state *s = call->state;
    MXC_TRY(mxci_steps_get(&s->body, t, call->is_train, now));
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        MXC_TRY(mxci_store_array(variable_array(p, k, before, in), mxc_executor_arg(*now, p->locs[BODY_VARS].at[k]),
                                 MXC_REQ_WRITE));
    MXC_TRY(mxc_executor_forward(*now, call->is_train));
    for (int i = 0; i < p->num_out_data; i++)
        MXC_TRY(mxci_store_row(mxc_executor_output(*now, i), out[i], t, call->req[i]));
    return MXC_OK;
}

/* Zeros behind the last step, unless they would be added. */
static mxc_status clear_rows(const mxc_op_call *call, int64_t begin, mxc_ndarray **out) {
    const mxci_control_params *p = call->params;
    for (int i = 0; i < p->num_out_data && begin < p->max_iterations; i++) {
        mxc_ndarray *rest;
        if (!out[i] || call->req[i] == MXC_REQ_NULL || call->req[i] == MXC_REQ_ADD)
            continue;
        MXC_TRY(mxc_ndarray_slice(out[i], begin, p->max_iterations, &rest));
        mxc_status status = mxc_ndarray_fill(rest, 0);
        mxc_ndarray_release(rest);
        MXC_TRY(status);
    }
    return MXC_OK;
}

static mxc_status forward_steps(const mxc_op_call *call, mxc_ndarray **in, mxc_ndarray **out) {
    const mxci_control_params *p = call->params;
    while_state *s = call->state;
    mxc_executor *last = NULL;
    int64_t t = 0;
    int more = 0;
    for (int i = 0; i < p->n_in[BODY]; i++)
        MXC_TRY(mxci_store_array(in[p->locs[BODY_READS].at[i]], s->body.shared[i], MXC_REQ_WRITE));
    MXC_TRY(goes_on(call, last, in, &more));
    for (; more && t < p->max_iterations; t++) {
        MXC_TRY(forward_step(call, t, last, in, out, &last));
        if (t + 1 < p->max_iterations)
            MXC_TRY(goes_on(call, last, in, &more));
    }
    MXC_TRY(clear_rows(call, t, out));
    for (int k = 0; k < p->locs[BODY_VARS].n; k++) {
        int to = (int)p->num_out_data + k;
        MXC_TRY(mxci_store_array(variable_array(p, k, last, in), out[to], call->req[to]));
    }
    s->n_run = call->is_train ? t : -1;
    return MXC_OK;
}

static mxc_status while_forward(const mxc_op_call *call) {
    ((while_state *)call->state)->n_run = -1;
    return mxci_run_on_arrays(call, MXC_FORWARD, forward_steps);
}

static mxc_status backward_step(const mxc_op_call *call, int64_t t, mxc_ndarray **out_grad, mxc_ndarray **heads) {
    const mxci_control_params *p = call->params;
    while_state *s = call->state;
    mxc_executor *now = s->body.executors[t], *behind = t + 1 < s->n_run ? s->body.executors[t + 1] : NULL;
    int n_rows = 0;
    mxc_status status = MXC_OK;
    for (; n_rows < p->num_out_data && status == MXC_OK; n_rows++) {
        heads[n_rows] = NULL;
        if (out_grad[n_rows])
            status = mxci_row_like(out_grad[n_rows], t, mxc_executor_output(now, n_rows), &heads[n_rows]);
    }
    for (int k = 0; k < p->locs[BODY_VARS].n; k++)
        heads[p->num_out_data + k] =
            behind ? mxci_steps_grad(&s->body, behind, p->locs[BODY_VARS].at[k]) : out_grad[p->num_out_data + k];
    if (status == MXC_OK)
        status = mxc_executor_backward(now, p->num_outputs, heads);
    while (n_rows > 0)
        mxc_ndarray_release(heads[--n_rows]);
    return status;
}

/* The gradient of each input: the sum of those of the body's arguments that read it; the condition has none. */
static mxc_status store_gradients(const mxc_op_call *call, mxc_ndarray **out_grad, mxc_ndarray **in_grad) {
    const mxci_control_params *p = call->params;
    while_state *s = call->state;
    for (int input = 0; input < call->n_in; input++) {
        mxc_req req = call->req[input];
        for (int i = 0; i < p->n_in[BODY] && req != MXC_REQ_NULL; i++) {
            int k = variable_of(p, i);
            if (p->locs[BODY_READS].at[i] != input)
                continue;
            mxc_ndarray *from = k < 0          ? s->body.shared_grads[i]
                                : s->n_run > 0 ? mxc_executor_grad(s->body.executors[0], i)
                                               : out_grad[p->num_out_data + k];
            if (!from)
                continue;
            MXC_TRY(mxci_store_array(from, in_grad[input], req));
            req = MXC_REQ_ADD;
        }
        MXC_TRY(mxci_store_zeros(in_grad[input], req)); /* no argument has stored anything */
    }
    return MXC_OK;
}

static mxc_status backward_steps(const mxc_op_call *call, mxc_ndarray **out_grad, mxc_ndarray **in_grad) {
    const mxci_control_params *p = call->params;
    while_state *s = call->state;
    mxc_ndarray **heads = mxci_calloc((size_t)p->num_outputs, sizeof *heads);
    mxc_status status = heads ? MXC_OK : MXCI_NO_MEMORY(control.name, "gradients");
    for (int i = 0; i < s->body.n_in && status == MXC_OK; i++)
        if (s->body.shared_grads[i])
            status = mxc_ndarray_fill(s->body.shared_grads[i], 0);
    for (int64_t t = s->n_run - 1; t >= 0 && status == MXC_OK; t--)
        status = backward_step(call, t, out_grad, heads);
    if (status == MXC_OK)
        status = store_gradients(call, out_grad, in_grad);
    mxci_free(heads);
    return status;
}

static mxc_status while_backward(const mxc_op_call *call) {
    while_state *s = call->state;
    if (s->n_run < 0)
        MXC_TRY(mxci_run_forward_first(call, while_forward));
    return mxci_run_on_arrays(call, MXC_BACKWARD, backward_steps);
}

const mxc_op_def mxci_op_while_loop = {
    .size = sizeof(mxc_op_def),
    .name = "_while_loop",
    .doc = "Runs a subgraph on the variables of a loop while another one, the condition, is not 0; outputs are stacked "
           "(max_iterations,...), zeros behind the last step. mxc_symbol_while_loop makes it.",
    .flags = MXC_OP_CALLBACK,
    .n_subgraphs = 2,
    .param_size = sizeof(mxci_control_params),
    .params_open = while_open,
    .params_close = mxci_control_close,
    .n_args = mxci_control_n_args,
    .n_outputs = mxci_control_n_outputs,
    .infer_shape = while_infer_shape,
    .infer_type = while_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = MXC_NEED_ALL, .in = MXC_NEED_ALL},
    .state_create = while_state_create,
    .state_destroy = while_state_destroy,
    .forward = {[MXC_CPU] = while_forward},
    .backward = {[MXC_CPU] = while_backward},
};
