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
static const char *const locations[3] = {"cond_input_locs", "then_input_locs", "else_input_locs"};
static const char op_name[] = "_cond";

/* ---- parameters, inference -----------------------------------------------------------------------------------------
 */

static mxc_status check(const mxci_control_params *p) {
    for (int g = 0; g < N_GRAPHS; g++) {
        if (p->locs[g].n != p->n_in[g])
            return MXC_FAIL(MXC_EINVAL, "%s: %s has %d numbers, but the subgraph has %d arguments", op_name,
                            locations[g], p->locs[g].n, p->n_in[g]);
        for (int i = 0; i < p->locs[g].n; i++)
            if (p->locs[g].at[i] >= p->n_args)
                return MXC_FAIL(MXC_EINVAL, "%s: %s: there is no input %d", op_name, locations[g], p->locs[g].at[i]);
    }
    if (p->n_out[CONDITION] != 1)
        return MXC_FAIL(MXC_EINVAL, "%s: the condition has %d outputs, expected 1", op_name, p->n_out[CONDITION]);
    if (p->n_out[THEN] != p->num_outputs || p->n_out[ELSE] != p->num_outputs)
        return MXC_FAIL(MXC_EINVAL, "%s: num_outputs is %lld, but the branches have %d and %d outputs", op_name,
                        (long long)p->num_outputs, p->n_out[THEN], p->n_out[ELSE]);
    return MXC_OK;
}

static mxc_status cond_open(int n, const char *const *keys, const char *const *values, void *params) {
    MXC_TRY(mxci_control_open(op_name, N_GRAPHS, locations, n, keys, values, params));
    mxc_status status = check(params);
    if (status != MXC_OK)
        mxci_control_close(params);
    return status;
}

static mxc_status infer_shapes(mxc_op_sig *sig, int graph, mxc_shape *in, mxc_shape *out) {
    const mxci_control_params *p = sig->params;
    const mxci_locations *reads = &p->locs[graph];
    for (int i = 0; i < reads->n; i++)
        in[i] = sig->in_shape[reads->at[i]];
    for (int i = 0; i < p->n_out[graph]; i++)
        out[i] = graph == CONDITION ? (mxc_shape){.ndim = -1} : sig->out_shape[i];
    MXC_TRY(mxci_subgraph_infer(p->subgraphs[graph], in, out, NULL, NULL));
    for (int i = 0; i < reads->n; i++)
        MXC_TRY(mxc_sig_set_shape(sig, reads->at[i], &in[i]));
    for (int i = 0; i < p->n_out[graph] && graph != CONDITION; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &out[i]));
    return MXC_OK;
}

static mxc_status infer_types(mxc_op_sig *sig, int graph, mxc_dtype *in, mxc_dtype *out) {
    const mxci_control_params *p = sig->params;
    const mxci_locations *reads = &p->locs[graph];
    for (int i = 0; i < reads->n; i++)
        in[i] = sig->in_type[reads->at[i]];
    for (int i = 0; i < p->n_out[graph]; i++)
        out[i] = graph == CONDITION ? MXC_DTYPE_UNKNOWN : sig->out_type[i];
    MXC_TRY(mxci_subgraph_infer(p->subgraphs[graph], NULL, NULL, in, out));
    for (int i = 0; i < reads->n; i++)
        MXC_TRY(mxc_sig_set_type(sig, reads->at[i], in[i]));
    for (int i = 0; i < p->n_out[graph] && graph != CONDITION; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), out[i]));
    return MXC_OK;
}

static mxc_status cond_infer_shape(mxc_op_sig *sig) {
    const mxci_control_params *p = sig->params;
    mxc_status status = MXC_OK;
    for (int g = 0; g < N_GRAPHS && status == MXC_OK; g++) {
        mxc_shape *slots = mxci_calloc((size_t)p->n_in[g] + (size_t)p->n_out[g], sizeof *slots);
        status = slots ? infer_shapes(sig, g, slots, slots + p->n_in[g]) : MXCI_NO_MEMORY(op_name, "inference");
        mxci_free(slots);
    }
    return status;
}

static mxc_status cond_infer_type(mxc_op_sig *sig) {
    const mxci_control_params *p = sig->params;
    mxc_status status = MXC_OK;
    for (int g = 0; g < N_GRAPHS && status == MXC_OK; g++) {
        mxc_dtype *slots = mxci_calloc((size_t)p->n_in[g] + (size_t)p->n_out[g], sizeof *slots);
        status = slots ? infer_types(sig, g, slots, slots + p->n_in[g]) : MXCI_NO_MEMORY(op_name, "inference");
        mxci_free(slots);
    }
    return status;
}

/* ---- running -------------------------------------------------------------------------------------------------------
 */

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

static mxc_status open_graph(const mxc_op_sig *sig, int graph, mxci_steps *steps) {
    const mxci_control_params *p = sig->params;
    size_t n = (size_t)p->n_in[graph] + 1;
    mxc_shape *shapes = mxci_calloc(n, sizeof *shapes);
    mxc_dtype *types = mxci_calloc(n, sizeof *types);
    uint8_t *is_shared = mxci_calloc(n, 1);
    mxc_status status = shapes && types && is_shared ? MXC_OK : MXCI_NO_MEMORY(op_name, "its state");
    for (int i = 0; i < p->n_in[graph] && status == MXC_OK; i++) {
        shapes[i] = sig->in_shape[p->locs[graph].at[i]];
        types[i] = sig->in_type[p->locs[graph].at[i]];
    }
    if (status == MXC_OK)
        status = mxci_steps_open(p->subgraphs[graph], sig->context, p->n_in[graph], shapes, types, is_shared, steps);
    mxci_free(is_shared);
    mxci_free(types);
    mxci_free(shapes);
    return status;
}

static mxc_status cond_state_create(const mxc_op_sig *sig, void **out) {
    cond_state *s = mxci_calloc(1, sizeof *s);
    mxc_status status = s ? MXC_OK : MXCI_NO_MEMORY(op_name, "its state");
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
    MXC_TRY(mxci_read_flag(op_name, mxc_executor_output(executor, 0), &is_true));
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
    .name = op_name,
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
