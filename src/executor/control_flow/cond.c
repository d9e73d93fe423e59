/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _cond: runs one of two subgraphs, the then-branch where the condition, a subgraph too, is not 0, and else the other.
 * Inputs: cond_input_locs[i] is the input that argument i of the condition reads; then_input_locs and else_input_locs
 * the same for the branches, whose outputs have the same shapes and types.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/control_flow/control_flow.h"

enum { CONDITION, THEN, ELSE, N_GRAPHS };

/* ---- parameters, inference --------------------------------------------------------------------------------------- */

static mxc_status check(const mxci_control_params *p);

static const mxc_param numbers[] = {MXCI_CONTROL_COUNTS, MXC_PARAM_END};
static const mxci_control_op control = {
    "_cond", N_GRAPHS, {"cond_input_locs", "then_input_locs", "else_input_locs"}, numbers, check};

static mxc_status check(const mxci_control_params *p) {
    MXC_TRY(mxci_control_check_reads(&control, p));
    if (p->n_out[CONDITION] != 1)
        return MXC_FAIL(MXC_EINVAL, "%s: the condition has %d outputs, expected 1", control.name, p->n_out[CONDITION]);
    if (p->n_out[THEN] != p->num_outputs || p->n_out[ELSE] != p->num_outputs)
        return MXC_FAIL(MXC_EINVAL, "%s: num_outputs is %lld, but the branches have %d and %d outputs", control.name,
                        (long long)p->num_outputs, p->n_out[THEN], p->n_out[ELSE]);
    return MXC_OK;
}

static mxc_status cond_open(int n, const char *const *keys, const char *const *values, void *params) {
    return mxci_control_open(&control, n, keys, values, params);
}

static mxc_status cond_infer_shape(mxc_op_sig *sig) {
    for (int g = 0; g < N_GRAPHS; g++)
        MXC_TRY(mxci_control_infer_shape(&control, sig, g, g != CONDITION));
    return MXC_OK;
}

static mxc_status cond_infer_type(mxc_op_sig *sig) {
    for (int g = 0; g < N_GRAPHS; g++)
        MXC_TRY(mxci_control_infer_type(&control, sig, g, g != CONDITION));
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct cond_state {
    mxci_steps graphs[N_GRAPHS]; /* of one step each */
    int branch;                  /* that the latest training run took; CONDITION: none */
} cond_state;

static void cond_state_destroy(void *state) {
    cond_state *s = state;
    for (int g = 0; g < N_GRAPHS; g++)
        mxci_steps_close(&s->graphs[g]);
    mxci_free(s);
}

static mxc_status open_graph(const mxc_op_sig *sig, int g, mxci_steps *steps) {
    MXC_TRY(mxci_steps_open(&control, sig, g, steps));
    mxci_steps_read_inputs(sig, g, steps);
    return mxci_steps_make_arrays(steps);
}

static mxc_status cond_state_create(const mxc_op_sig *sig, void **out) {
    cond_state *s = mxci_calloc(1, sizeof *s);
    mxc_status status = s ? MXC_OK : MXCI_NO_MEMORY(control.name, "the state");
    for (int g = 0; g < N_GRAPHS && status == MXC_OK; g++)
        status = open_graph(sig, g, &s->graphs[g]);
    if (status == MXC_OK)
        *out = s;
    else if (s)
        cond_state_destroy(s);
    return status;
}

/* Queue a run of one subgraph on the inputs that it reads. */
static mxc_status run_graph(const mxc_op_call *call, int graph, int is_train, mxc_ndarray **in, mxc_executor **out) {
    const mxci_control_params *p = call->params;
    cond_state *s = call->state;
    MXC_TRY(mxci_steps_get(&s->graphs[graph], 0, is_train, out));
    for (int i = 0; i < p->n_in[graph]; i++)
        MXC_TRY(mxci_store_array(in[p->locs[graph].at[i]], mxc_executor_arg(*out, i), MXC_REQ_WRITE));
    return mxc_executor_forward(*out, is_train);
}

static mxc_status run_forward(const mxc_op_call *call, mxc_ndarray **in, mxc_ndarray **out) {
    cond_state *s = call->state;
    mxc_executor *executor;
    int is_true = 0;
    MXC_TRY(run_graph(call, CONDITION, 0, in, &executor));
    MXC_TRY(mxci_read_flag(control.name, mxc_executor_output(executor, 0), &is_true));
    int branch = is_true ? THEN : ELSE;
    MXC_TRY(run_graph(call, branch, call->is_train, in, &executor));
    for (int i = 0; i < call->n_out; i++)
        MXC_TRY(mxci_store_array(mxc_executor_output(executor, i), out[i], call->req[i]));
    s->branch = call->is_train ? branch : CONDITION;
    return MXC_OK;
}

static mxc_status cond_forward(const mxc_op_call *call) {
    ((cond_state *)call->state)->branch = CONDITION;
    return mxci_run_on_arrays(call, MXC_FORWARD, run_forward);
}

/* The gradient of each input: the sum of those of the branch's arguments that read it. */
static mxc_status run_backward(const mxc_op_call *call, mxc_ndarray **out_grad, mxc_ndarray **in_grad) {
    const mxci_control_params *p = call->params;
    cond_state *s = call->state;
    const mxci_locations *reads = &p->locs[s->branch];
    mxc_executor *executor = s->graphs[s->branch].executors[0];
    MXC_TRY(mxc_executor_backward(executor, call->n_out, out_grad));
    for (int input = 0; input < call->n_in; input++) {
        mxc_req req = call->req[input];
        for (int i = 0; i < reads->n; i++) {
            if (reads->at[i] != input || req == MXC_REQ_NULL || !mxc_executor_grad(executor, i))
                continue;
            MXC_TRY(mxci_store_array(mxc_executor_grad(executor, i), in_grad[input], req));
            req = MXC_REQ_ADD;
        }
        MXC_TRY(mxci_store_zeros(in_grad[input], req)); /* no argument has stored anything */
    }
    return MXC_OK;
}

static mxc_status cond_backward(const mxc_op_call *call) {
    cond_state *s = call->state;
    if (s->branch == CONDITION)
        MXC_TRY(mxci_run_forward_first(call, cond_forward));
    return mxci_run_on_arrays(call, MXC_BACKWARD, run_backward);
}

const mxc_op_def mxci_op_cond = {
    .size = sizeof(mxc_op_def),
    .name = "_cond",
    .doc = "Runs one of two subgraphs: the first if the condition, a subgraph too, is not 0, else the second. "
           "mxc_symbol_cond makes it.",
    .flags = MXC_OP_CALLBACK,
    .n_subgraphs = N_GRAPHS,
    .param_size = sizeof(mxci_control_params),
    .params_open = cond_open,
    .params_close = mxci_control_close,
    .n_args = mxci_control_n_args,
    .n_outputs = mxci_control_n_outputs,
    .infer_shape = cond_infer_shape,
    .infer_type = cond_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = MXC_NEED_ALL, .in = MXC_NEED_ALL},
    .state_create = cond_state_create,
    .state_destroy = cond_state_destroy,
    .forward = {[MXC_CPU] = cond_forward},
    .backward = {[MXC_CPU] = cond_backward},
};
