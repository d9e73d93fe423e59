/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters, inference and arrays of the control-flow operators; what one of them does is in a file of its own. */
#include "executor/control_flow/control_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "math/assign.h"
#include "symbol/graph.h"

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* "[1, 0]", "(1,)", "[]". */
static mxc_status parse_locations(const char *op, const char *key, const char *text, mxci_locations *out) {
    const char close = *text == '[' ? ']' : ')', *at = text + 1;
    size_t commas = 1;
    for (const char *c = text; *c; c++)
        commas += *c == ',';
    if (*text != '[' && *text != '(')
        return MXC_FAIL(MXC_EINVAL, "%s: %s: expected a list such as [0, 1], found '%.80s'", op, key, text);
    out->at = mxci_calloc(commas, sizeof *out->at);
    if (!out->at)
        return MXCI_NO_MEMORY(op, key);
    for (;;) {
        char *end;
        at += strspn(at, ", ");
        if (*at == close && !at[1])
            return MXC_OK;
        long number = strtol(at, &end, 10);
        if (end == at || number < 0 || number >= INT32_MAX || (size_t)out->n >= commas)
            return MXC_FAIL(MXC_EINVAL, "%s: %s: expected a list such as [0, 1], found '%.80s'", op, key, text);
        out->at[out->n++] = (int32_t)number;
        at = end;
    }
}

/* Parse the _locs, and move the other keys and values to the front of rest, n_rest of them. */
static mxc_status parse_all_locations(const mxci_control_op *op, int n, const char *const *keys,
                                      const char *const *values, mxci_control_params *params, const char **rest,
                                      int *n_rest) {
    for (int i = 0; i < n; i++) {
        int which = 0;
        while (which < 3 && op->locs[which] && strcmp(op->locs[which], keys[i]) != 0)
            which++;
        if (which == 3 || !op->locs[which]) {
            rest[*n_rest] = keys[i];
            rest[n + (*n_rest)++] = values[i];
        } else if (params->locs[which].at) {
            return MXC_FAIL(MXC_EINVAL, "%s: %s is given twice", op->name, keys[i]);
        } else {
            MXC_TRY(parse_locations(op->name, keys[i], values[i], &params->locs[which]));
        }
    }
    for (int which = 0; which < 3 && op->locs[which]; which++)
        if (!params->locs[which].at)
            return MXC_FAIL(MXC_EINVAL, "%s: the parameter %s is missing", op->name, op->locs[which]);
    return MXC_OK;
}

static mxc_status parse_params(const mxci_control_op *op, int n, const char *const *keys, const char *const *values,
                               mxci_control_params *params) {
    const char **rest = mxci_calloc(2 * (size_t)n + 1, sizeof *rest);
    int n_rest = 0;
    if (!rest)
        return MXCI_NO_MEMORY(op->name, "parameters");
    mxc_status status = parse_all_locations(op, n, keys, values, params, rest, &n_rest);
    if (status == MXC_OK)
        status = mxc_params_parse(op->name, op->numbers, n_rest, rest, rest + n, params);
    mxci_free(rest);
    return status;
}

/* Raise *depth to one more than that of any operator with subgraphs in this subgraph. */
static mxc_status measure_depth(const mxc_symbol *subgraph, int *depth) {
    mxci_graph *g;
    MXC_TRY(mxci_graph_from_symbol(subgraph, &g));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const mxc_op *op = g->nodes[i].op;
        if (!op || mxc_op_get_def(op)->n_subgraphs == 0)
            continue;
        const mxci_control_params *inner = mxc_op_params(op);
        *depth = inner->depth + 1 > *depth ? inner->depth + 1 : *depth;
    }
    mxci_graph_destroy(g);
    return MXC_OK;
}

/* Count what a subgraph takes and gives. */
static mxc_status measure_subgraph(const char *op, const mxc_symbol *subgraph, int *n_in, int *n_out) {
    mxc_names names;
    if (!subgraph)
        return MXC_FAIL(MXC_EINVAL,
                        "%s: needs subgraphs: create it with mxc_symbol_foreach, mxc_symbol_while_loop "
                        "or mxc_symbol_cond, or read it from a file",
                        op);
    MXC_TRY(mxc_symbol_list_aux(subgraph, &names));
    int has_aux = names.n > 0;
    mxc_names_release(&names);
    if (has_aux)
        return MXC_FAIL(MXC_EUNSUPPORTED,
                        "%s: a subgraph has auxiliary states, as of BatchNorm, which are not supported", op);
    MXC_TRY(mxc_symbol_list_arguments(subgraph, &names));
    *n_in = (int)names.n;
    *n_out = (int)mxc_symbol_n_outputs(subgraph);
    mxc_names_release(&names);
    return MXC_OK;
}

mxc_status mxci_control_open(const mxci_control_op *op, int n, const char *const *keys, const char *const *values,
                             mxci_control_params *params) {
    mxc_symbol *subgraphs[MXCI_MAX_SUBGRAPHS];
    mxc_status status = MXC_OK;
    memcpy(subgraphs, params->subgraphs, sizeof subgraphs);
    memset(params, 0, sizeof *params);
    params->n_subgraphs = op->n_subgraphs;
    params->depth = 1;
    for (int i = 0; i < op->n_subgraphs && status == MXC_OK; i++)
        status = measure_subgraph(op->name, subgraphs[i], &params->n_in[i], &params->n_out[i]);
    for (int i = 0; i < op->n_subgraphs && status == MXC_OK; i++)
        status = measure_depth(subgraphs[i], &params->depth);
    if (status == MXC_OK && params->depth > MXCI_SUBGRAPH_DEPTH)
        status = MXC_FAIL(MXC_EUNSUPPORTED, "%s: subgraphs nested %d deep, expected at most %d", op->name,
                          params->depth, MXCI_SUBGRAPH_DEPTH);
    if (status == MXC_OK)
        status = parse_params(op, n, keys, values, params);
    params->n_args = (int)params->num_args - op->n_subgraphs;
    if (status == MXC_OK && params->n_args < 0)
        status = MXC_FAIL(MXC_EINVAL, "%s: num_args is %lld, expected at least %d, its subgraphs", op->name,
                          (long long)params->num_args, op->n_subgraphs);
    for (int i = 0; i < op->n_subgraphs && status == MXC_OK; i++)
        params->subgraphs[i] = mxc_symbol_retain(subgraphs[i]);
    if (status == MXC_OK)
        status = op->check(params);
    if (status != MXC_OK)
        mxci_control_close(params);
    return status;
}

void mxci_control_close(void *params) {
    mxci_control_params *p = params;
    for (int i = 0; i < MXCI_MAX_SUBGRAPHS; i++)
        mxc_symbol_release(p->subgraphs[i]);
    for (int i = 0; i < 3; i++)
        mxci_free(p->locs[i].at);
}

int mxci_control_n_args(const void *params) {
    return ((const mxci_control_params *)params)->n_args;
}

int mxci_control_n_outputs(const void *params) {
    return (int)((const mxci_control_params *)params)->num_outputs;
}

mxc_status mxci_control_check_reads(const mxci_control_op *op, const mxci_control_params *p) {
    for (int g = 0; g < op->n_subgraphs; g++) {
        if (p->locs[g].n != p->n_in[g])
            return MXC_FAIL(MXC_EINVAL, "%s: %s has %d numbers, but the subgraph has %d arguments", op->name,
                            op->locs[g], p->locs[g].n, p->n_in[g]);
        for (int i = 0; i < p->locs[g].n; i++)
            if (p->locs[g].at[i] >= p->n_args)
                return MXC_FAIL(MXC_EINVAL, "%s: %s: found input %d, expected less than %d, the number of inputs",
                                op->name, op->locs[g], p->locs[g].at[i], p->n_args);
    }
    return MXC_OK;
}

mxc_status mxci_locations_check(const char *op, const char *what, int n, int n_lists, const mxci_locations *lists) {
    uint8_t *seen = mxci_calloc((size_t)n + 1, 1);
    int count = 0;
    mxc_status status = seen ? MXC_OK : MXCI_NO_MEMORY(op, what);
    for (int i = 0; i < n_lists; i++)
        for (int k = 0; k < lists[i].n && status == MXC_OK; k++) {
            int32_t at = lists[i].at[k];
            if (at >= n)
                status = MXC_FAIL(MXC_EINVAL, "%s: %s: found %d, expected less than %d, the number of arguments", op,
                                  what, (int)at, n);
            else if (seen[at])
                status = MXC_FAIL(MXC_EINVAL, "%s: %s: %d appears twice", op, what, (int)at);
            else
                seen[at] = 1, count++;
        }
    if (status == MXC_OK && count < n)
        status = MXC_FAIL(MXC_EINVAL, "%s: %s: %d of %d are missing", op, what, n - count, n);
    mxci_free(seen);
    return status;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

mxc_status mxci_subgraph_infer(mxc_symbol *subgraph, mxc_shape *in, mxc_shape *out, mxc_dtype *in_types,
                               mxc_dtype *out_types) {
    mxci_graph *g;
    MXC_TRY(mxci_graph_from_symbol(subgraph, &g));
    for (int32_t i = 0; i < g->n_args; i++) {
        int32_t entry = g->nodes[g->args[i]].first_entry;
        if (in)
            g->shapes[entry] = in[i];
        if (in_types)
            g->types[entry] = in_types[i];
    }
    for (int32_t i = 0; i < g->n_outputs; i++) {
        if (out && g->shapes[g->outputs[i]].ndim < 0)
            g->shapes[g->outputs[i]] = out[i];
        if (out_types && g->types[g->outputs[i]] == MXC_DTYPE_UNKNOWN)
            g->types[g->outputs[i]] = out_types[i];
    }
    mxc_status status = mxci_graph_infer(g);
    for (int32_t i = 0; i < g->n_args && status == MXC_OK; i++) {
        int32_t entry = g->nodes[g->args[i]].first_entry;
        if (in)
            in[i] = g->shapes[entry];
        if (in_types)
            in_types[i] = g->types[entry];
    }
    for (int32_t i = 0; i < g->n_outputs && status == MXC_OK; i++) {
        if (out)
            out[i] = g->shapes[g->outputs[i]];
        if (out_types)
            out_types[i] = g->types[g->outputs[i]];
    }
    mxci_graph_destroy(g);
    return status;
}

/* in and out: the slots of the subgraph's arguments and outputs. */
static mxc_status infer_shapes(mxc_op_sig *sig, int g, int gives_outputs, mxc_shape *in, mxc_shape *out) {
    const mxci_control_params *p = sig->params;
    const mxci_locations *reads = &p->locs[g];
    for (int i = 0; i < reads->n; i++)
        in[i] = sig->in_shape[reads->at[i]];
    for (int i = 0; i < p->n_out[g]; i++)
        out[i] = gives_outputs && i >= p->num_out_data ? sig->out_shape[i] : (mxc_shape){.ndim = -1};
    MXC_TRY(mxci_subgraph_infer(p->subgraphs[g], in, out, NULL, NULL));
    for (int i = 0; i < reads->n; i++)
        MXC_TRY(mxc_sig_set_shape(sig, reads->at[i], &in[i]));
    for (int i = 0; i < p->n_out[g] && gives_outputs; i++) {
        mxc_shape expected = i < p->num_out_data ? mxci_rows_shape(&out[i], p->max_iterations) : out[i];
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &expected));
    }
    return MXC_OK;
}

static mxc_status infer_types(mxc_op_sig *sig, int g, int gives_outputs, mxc_dtype *in, mxc_dtype *out) {
    const mxci_control_params *p = sig->params;
    const mxci_locations *reads = &p->locs[g];
    for (int i = 0; i < reads->n; i++)
        in[i] = sig->in_type[reads->at[i]];
    for (int i = 0; i < p->n_out[g]; i++)
        out[i] = gives_outputs ? sig->out_type[i] : MXC_DTYPE_UNKNOWN;
    MXC_TRY(mxci_subgraph_infer(p->subgraphs[g], NULL, NULL, in, out));
    for (int i = 0; i < reads->n; i++)
        MXC_TRY(mxc_sig_set_type(sig, reads->at[i], in[i]));
    for (int i = 0; i < p->n_out[g] && gives_outputs; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), out[i]));
    return MXC_OK;
}

mxc_status mxci_control_infer_shape(const mxci_control_op *op, mxc_op_sig *sig, int g, int gives_outputs) {
    const mxci_control_params *p = sig->params;
    mxc_shape *slots = mxci_calloc((size_t)p->n_in[g] + (size_t)p->n_out[g], sizeof *slots);
    mxc_status status =
        slots ? infer_shapes(sig, g, gives_outputs, slots, slots + p->n_in[g]) : MXCI_NO_MEMORY(op->name, "inference");
    mxci_free(slots);
    return status;
}

mxc_status mxci_control_infer_type(const mxci_control_op *op, mxc_op_sig *sig, int g, int gives_outputs) {
    const mxci_control_params *p = sig->params;
    mxc_dtype *slots = mxci_calloc((size_t)p->n_in[g] + (size_t)p->n_out[g], sizeof *slots);
    mxc_status status =
        slots ? infer_types(sig, g, gives_outputs, slots, slots + p->n_in[g]) : MXCI_NO_MEMORY(op->name, "inference");
    mxci_free(slots);
    return status;
}

mxc_shape mxci_row_shape(const mxc_shape *rows) {
    mxc_shape row = {.ndim = rows->ndim > 1 ? rows->ndim - 1 : rows->ndim};
    if (rows->ndim == 1)
        row.dim[0] = 1;
    for (int i = 1; i < rows->ndim; i++)
        row.dim[i - 1] = rows->dim[i];
    return row;
}

mxc_shape mxci_rows_shape(const mxc_shape *row, int64_t t) {
    mxc_shape rows = {.ndim = row->ndim < 0 ? -1 : row->ndim + 1};
    if (row->ndim < 0 || rows.ndim > MXC_MAX_NDIM)
        return (mxc_shape){.ndim = -1};
    rows.dim[0] = t;
    for (int i = 1; i < rows.ndim; i++)
        rows.dim[i] = row->dim[i - 1];
    return rows;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

mxc_status mxci_tensor_array(const mxc_tensor *tensor, mxc_ndarray **out) {
    *out = NULL;
    if (!tensor->data && mxci_tensor_size(tensor) > 0)
        return MXC_OK;
    return mxc_ndarray_wrap(tensor->shape.ndim, tensor->shape.dim, tensor->dtype, tensor->data, NULL, NULL, out);
}

mxc_status mxci_store_array(mxc_ndarray *from, mxc_ndarray *to, mxc_req req) {
    if (!from || !to || req == MXC_REQ_NULL)
        return MXC_OK;
    if (req != MXC_REQ_ADD)
        return mxc_ndarray_copy_to(from, to, 0);
    const mxc_context there = mxc_ndarray_context(from), here = mxc_ndarray_context(to);
    mxc_ndarray *local = NULL; /* the steps of an operator on a GPU are there, but the arrays of its call on the host */
    if (!mxc_context_equal(there, here))
        MXC_TRY(mxc_ndarray_copy(from, here, mxc_ndarray_dtype(from), &local));
    mxc_ndarray *in[2] = {to, local ? local : from};
    mxc_status status = mxc_invoke_into("elemwise_add", 2, in, 0, NULL, NULL, 1, &to);
    mxc_ndarray_release(local);
    return status;
}

mxc_status mxci_store_zeros(mxc_ndarray *to, mxc_req req) {
    return to && (req == MXC_REQ_WRITE || req == MXC_REQ_INPLACE) ? mxc_ndarray_fill(to, 0) : MXC_OK;
}

mxc_status mxci_wrap_tensors(int n, const mxc_tensor *tensors, mxc_ndarray ***out) {
    mxc_ndarray **arrays = mxci_calloc((size_t)n + 1, sizeof *arrays);
    *out = arrays;
    if (!arrays)
        return MXCI_NO_MEMORY("control flow", "arrays");
    for (int i = 0; i < n; i++)
        MXC_TRY(mxci_tensor_array(&tensors[i], &arrays[i]));
    return MXC_OK;
}

void mxci_drop_arrays(int n, mxc_ndarray **arrays) {
    for (int i = 0; arrays && i < n; i++)
        mxc_ndarray_release(arrays[i]);
    mxci_free(arrays);
}

mxc_status mxci_wait_for_arrays(int n, mxc_ndarray *const *arrays) {
    mxc_status status = MXC_OK;
    for (int i = 0; arrays && i < n; i++)
        if (arrays[i]) {
            mxc_status failed = mxc_ndarray_wait_to_write(arrays[i]);
            status = status == MXC_OK ? failed : status;
        }
    return status;
}

mxc_status mxci_row_like(mxc_ndarray *rows, int64_t t, mxc_ndarray *output, mxc_ndarray **out) {
    mxc_ndarray *row;
    const int64_t none = 0;
    MXC_TRY(mxc_ndarray_at(rows, t, out));
    if (mxc_ndarray_shape(output)->ndim > 0)
        return MXC_OK;
    row = *out;
    mxc_status status = mxc_ndarray_reshape(row, 0, &none, out);
    mxc_ndarray_release(row);
    return status;
}

mxc_status mxci_store_row(mxc_ndarray *from, mxc_ndarray *rows, int64_t t, mxc_req req) {
    mxc_ndarray *row;
    if (!rows || !from || req == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxci_row_like(rows, t, from, &row));
    mxc_status status = mxci_store_array(from, row, req);
    mxc_ndarray_release(row);
    return status;
}

mxc_status mxci_load_row(mxc_ndarray *rows, int64_t t, mxc_ndarray *to) {
    mxc_ndarray *row;
    MXC_TRY(mxc_ndarray_at(rows, t, &row));
    mxc_status status = mxci_store_array(row, to, MXC_REQ_WRITE);
    mxc_ndarray_release(row);
    return status;
}

mxc_status mxci_run_on_arrays(const mxc_op_call *call, mxc_pass pass,
                              mxc_status (*fn)(const mxc_op_call *call, mxc_ndarray **from, mxc_ndarray **to)) {
    const int is_forward = pass == MXC_FORWARD, n_from = is_forward ? call->n_in : call->n_out;
    const int n_to = is_forward ? call->n_out : call->n_in;
    mxc_ndarray **from = NULL, **to = NULL;
    mxc_status status = mxci_wrap_tensors(n_from, is_forward ? call->in : call->out_grad, &from);
    if (status == MXC_OK)
        status = mxci_wrap_tensors(n_to, is_forward ? call->out : call->in_grad, &to);
    if (status == MXC_OK)
        status = fn(call, from, to);
    mxc_status written = mxci_wait_for_arrays(n_to, to), read = mxci_wait_for_arrays(n_from, from);
    mxci_drop_arrays(n_to, to);
    mxci_drop_arrays(n_from, from);
    return status != MXC_OK ? status : written != MXC_OK ? written : read;
}

mxc_status mxci_run_forward_first(const mxc_op_call *call, mxc_op_compute_fn forward) {
    mxc_op_call first = *call;
    mxc_req *req = mxci_calloc((size_t)call->n_out, sizeof *req); /* all MXC_REQ_NULL */
    if (!req)
        return MXCI_NO_MEMORY("control flow", "requests");
    first.is_train = 1;
    first.req = req;
    mxc_status status = forward(&first);
    mxci_free(req);
    return status;
}

mxc_status mxci_read_flag(const char *op, mxc_ndarray *array, int *out) {
    mxc_ndarray *number;
    double value = 0;
    if (mxc_ndarray_size(array) != 1)
        return MXC_FAIL(MXC_ESHAPE, "%s: the condition has %lld elements, expected 1", op,
                        (long long)mxc_ndarray_size(array));
    MXC_TRY(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F64, &number));
    mxc_status status = mxc_ndarray_get(number, &value, sizeof value);
    mxc_ndarray_release(number);
    *out = value != 0;
    return status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static int has_gradient(mxc_dtype type) {
    return (MXC_DTYPES_FLOAT >> type & 1) != 0;
}

static mxc_status make_array(const mxci_steps *s, int i, mxc_ndarray **out) {
    return mxc_ndarray_create(s->shapes[i].ndim, s->shapes[i].dim, s->types[i], s->context, out);
}

mxc_status mxci_steps_open(const mxci_control_op *op, const mxc_op_sig *sig, int g, mxci_steps *s) {
    const mxci_control_params *p = sig->params;
    size_t n = (size_t)p->n_in[g] + 1;
    *s = (mxci_steps){.subgraph = p->subgraphs[g], .context = sig->context, .n_in = p->n_in[g]};
    s->shapes = mxci_calloc(n, sizeof *s->shapes);
    s->types = mxci_calloc(n, sizeof *s->types);
    s->is_shared = mxci_calloc(n, sizeof *s->is_shared);
    s->shared = mxci_calloc(n, sizeof *s->shared);
    s->shared_grads = mxci_calloc(n, sizeof *s->shared_grads);
    s->zeros = mxci_calloc(n, sizeof *s->zeros);
    return s->shapes && s->types && s->is_shared && s->shared && s->shared_grads && s->zeros
               ? MXC_OK
               : MXCI_NO_MEMORY(op->name, "the arguments of a subgraph");
}

void mxci_steps_read_inputs(const mxc_op_sig *sig, int g, mxci_steps *s) {
    const mxci_locations *reads = &((const mxci_control_params *)sig->params)->locs[g];
    for (int i = 0; i < s->n_in; i++) {
        s->shapes[i] = sig->in_shape[reads->at[i]];
        s->types[i] = sig->in_type[reads->at[i]];
    }
}

mxc_status mxci_steps_make_arrays(mxci_steps *s) {
    for (int i = 0; i < s->n_in; i++) {
        if (s->is_shared[i])
            MXC_TRY(make_array(s, i, &s->shared[i]));
        if (s->is_shared[i] && has_gradient(s->types[i]))
            MXC_TRY(make_array(s, i, &s->shared_grads[i]));
        if (s->is_shared[i] || has_gradient(s->types[i]))
            continue;
        MXC_TRY(make_array(s, i, &s->zeros[i]));
        MXC_TRY(mxc_ndarray_fill(s->zeros[i], 0));
    }
    return MXC_OK;
}

static void drop_executors(mxci_steps *s) {
    while (s->n > 0)
        mxc_executor_destroy(s->executors[--s->n]);
}

void mxci_steps_close(mxci_steps *s) {
    drop_executors(s);
    for (int i = 0; i < s->n_in && s->shared && s->shared_grads && s->zeros; i++) {
        mxc_ndarray_release(s->shared[i]);
        mxc_ndarray_release(s->shared_grads[i]);
        mxc_ndarray_release(s->zeros[i]);
    }
    mxci_free(s->executors);
    mxci_free(s->zeros);
    mxci_free(s->shared_grads);
    mxci_free(s->shared);
    mxci_free(s->is_shared);
    mxci_free(s->types);
    mxci_free(s->shapes);
}

/* The arrays of one step: args, and grads where the step has gradients, references of which the caller releases. */
static mxc_status make_step_arrays(const mxci_steps *s, mxc_ndarray **args, mxc_ndarray **grads, mxc_req *reqs) {
    for (int i = 0; i < s->n_in; i++) {
        if (s->shared[i])
            args[i] = mxc_ndarray_retain(s->shared[i]);
        else
            MXC_TRY(make_array(s, i, &args[i]));
        if (!s->has_gradients || !has_gradient(s->types[i]))
            continue;
        reqs[i] = s->shared[i] ? MXC_REQ_ADD : MXC_REQ_WRITE;
        if (s->shared[i])
            grads[i] = mxc_ndarray_retain(s->shared_grads[i]);
        else
            MXC_TRY(make_array(s, i, &grads[i]));
    }
    return MXC_OK;
}

static mxc_status bind_step(const mxci_steps *s, mxc_executor **out) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_ndarray **args = mxci_calloc(2 * (size_t)s->n_in + 1, sizeof *args), **grads = args + s->n_in;
    mxc_req *reqs = mxci_calloc((size_t)s->n_in + 1, sizeof *reqs);
    mxc_status status =
        args && reqs ? make_step_arrays(s, args, grads, reqs) : MXCI_NO_MEMORY("control flow", "a step");
    options.context = s->context;
    if (status == MXC_OK)
        status = mxc_executor_bind(s->subgraph, &options, args, s->has_gradients ? grads : NULL, reqs, NULL, out);
    for (int i = 0; args && i < 2 * s->n_in; i++)
        mxc_ndarray_release(args[i]);
    mxci_free(reqs);
    mxci_free(args);
    return status;
}

mxc_status mxci_steps_get(mxci_steps *s, int64_t step, int is_train, mxc_executor **out) {
    *out = NULL;
    step = is_train ? step : step & 1;
    if (is_train && !s->has_gradients)
        drop_executors(s);
    s->has_gradients |= is_train != 0;
    if (step == s->capacity) {
        int64_t capacity = s->capacity ? 2 * s->capacity : 8;
        mxc_executor **grown = mxci_realloc_array(s->executors, (size_t)capacity, sizeof *grown);
        if (!grown)
            return MXCI_NO_MEMORY("control flow", "the executors of steps");
        s->executors = grown;
        s->capacity = capacity;
    }
    if (step == s->n) {
        MXC_TRY(bind_step(s, &s->executors[step]));
        s->n++;
    }
    *out = s->executors[step];
    return MXC_OK;
}

mxc_ndarray *mxci_steps_grad(const mxci_steps *s, const mxc_executor *step, int argument) {
    return s->zeros[argument] ? s->zeros[argument] : mxc_executor_grad(step, argument);
}
