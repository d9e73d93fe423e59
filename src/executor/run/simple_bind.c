/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc_executor_simple_bind and mxc_executor_plan: shapes, dtypes, requests and arrays that follow from the shapes of
 * the inputs. Binding to the new arrays is in bind.c.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/passes/lowering.h"
#include "executor/passes/passes.h"
#include "executor/plan/memory_report.h"
#include "executor/run/bind.h"

/* What follows for the arrays of a symbol before they exist. */
typedef struct inferred_arrays {
    mxci_graph *graph; /* inferred and placed */
    mxc_req *reqs;     /* argument */
} inferred_arrays;

static void release(inferred_arrays *k) {
    mxci_graph_destroy(k->graph);
    mxci_free(k->reqs);
}

/* ---- shapes and types ------------------------------------------------------------------------------------------ */

/* Appends the names and shapes of variables whose shape is not known. */
static void add_missing(const mxci_graph *g, int32_t n, const int32_t *nodes, mxci_line *line) {
    char text[MXC_SHAPE_TEXT];
    for (int32_t i = 0; i < n; i++) {
        const mxc_shape *shape = &g->shapes[g->nodes[nodes[i]].first_entry];
        if (!mxc_shape_known(shape))
            mxci_line_printf(line, "%s %s %s", line->length ? "," : "", g->nodes[nodes[i]].name,
                             mxc_shape_format(shape, text, sizeof text));
    }
}

/* Types left open are float32; then infer again. */
static mxc_status complete_types(mxci_graph *g, int32_t n, const int32_t *nodes) {
    int open = 0;
    for (int32_t i = 0; i < n; i++) {
        mxc_dtype *type = &g->types[g->nodes[nodes[i]].first_entry];
        open |= *type == MXC_DTYPE_UNKNOWN;
        *type = *type == MXC_DTYPE_UNKNOWN ? MXC_F32 : *type;
    }
    return open ? mxci_graph_infer(g) : MXC_OK;
}

/* Checks that all shapes are known, completes the dtypes and places the nodes. */
static mxc_status simple_bind_complete(mxci_graph *g, const mxc_bind_options *options) {
    char text[MXC_ERROR_MAX];
    mxci_line line = {text, sizeof text, 0};
    add_missing(g, g->n_args, g->args, &line);
    add_missing(g, g->n_aux, g->aux, &line);
    if (line.length > 0)
        return MXC_FAIL(MXC_ESHAPE, "simple_bind: these shapes do not follow from what was given:%s", text);
    MXC_TRY(complete_types(g, g->n_args, g->args));
    MXC_TRY(complete_types(g, g->n_aux, g->aux));
    MXC_TRY(mxci_check_complete(g));
    return mxci_pass_placement(g, options);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* Sets the request of all arguments of that name to null; returns how many there are. */
static int32_t ask_nothing(inferred_arrays *k, const char *name) {
    const mxci_graph *g = k->graph;
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_args; i++)
        if (strcmp(g->nodes[g->args[i]].name, name) == 0) {
            k->reqs[i] = MXC_REQ_NULL;
            n++;
        }
    return n;
}

/* The request of every argument: that of the spec, but null for labels, for inputs whose shape was given, and for those
 * without gradient. */
static mxc_status choose_reqs(inferred_arrays *k, const mxc_bind_spec *spec) {
    const mxci_graph *g = k->graph;
    int32_t *label_of = mxci_calloc((size_t)g->n_args + 1, sizeof *label_of);
    mxc_status status = MXC_OK;
    k->reqs = mxci_calloc((size_t)g->n_args + 1, sizeof *k->reqs);
    if (k->reqs && label_of)
        status = mxci_graph_find_labels(g, label_of);
    else
        status = MXCI_NO_MEMORY("simple_bind", "gradient requests");
    for (int32_t i = 0; i < g->n_args && status == MXC_OK; i++)
        k->reqs[i] = label_of[i] >= 0 ? MXC_REQ_NULL : spec->req;
    mxci_free(label_of);
    MXC_TRY(status);
    for (int64_t i = 0; i < spec->n; i++)
        ask_nothing(k, spec->names[i]);
    for (int64_t i = 0; i < spec->n_no_grad; i++) {
        MXC_TRY(MXCI_CHECK_NON_NULL(spec->no_grad[i], "simple_bind: a name without gradient"));
        if (!ask_nothing(k, spec->no_grad[i]))
            return MXC_FAIL(MXC_ENOTFOUND, "simple_bind: no argument '%s' that could go without gradient",
                            spec->no_grad[i]);
    }
    return MXC_OK;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

/* Binds to new arrays, zeros: n_args arguments, n_args gradients where requested, n_aux auxiliary states. */
static mxc_status bind_new_arrays(mxc_symbol *symbol, const mxc_bind_options *options, const mxci_graph *g,
                                  const mxc_req *reqs, mxc_executor **out) {
    size_t n = 2 * (size_t)g->n_args + (size_t)g->n_aux;
    mxc_ndarray **args = mxci_calloc(n + 1, sizeof *args);
    mxc_ndarray **grads = args ? args + g->n_args : NULL, **aux = args ? grads + g->n_args : NULL;
    mxc_status status = args ? MXC_OK : MXCI_NO_MEMORY("simple_bind", "the list of arrays");
    for (int32_t i = 0; i < g->n_args && status == MXC_OK; i++) {
        status = mxci_bind_array(g, g->nodes[g->args[i]].first_entry, &args[i]);
        if (status == MXC_OK && reqs[i] != MXC_REQ_NULL)
            status = mxci_bind_array(g, g->nodes[g->args[i]].first_entry, &grads[i]);
    }
    for (int32_t i = 0; i < g->n_aux && status == MXC_OK; i++)
        status = mxci_bind_array(g, g->nodes[g->aux[i]].first_entry, &aux[i]);
    if (status == MXC_OK)
        status = mxc_executor_bind(symbol, options, args, grads, reqs, aux, out);
    for (size_t i = 0; i < n && args; i++)
        mxc_ndarray_release(args[i]);
    mxci_free(args);
    return status;
}

/* ---- public ---------------------------------------------------------------------------------------------------- */

/* Infers everything about the arrays; k is to be released, except after a failure. */
static mxc_status infer_arrays(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_bind_spec *spec,
                               inferred_arrays *k) {
    mxc_status status;
    *k = (inferred_arrays){.reqs = NULL};
    status = mxci_symbol_infer_graph(symbol, spec->n, spec->names, spec->shapes, spec->types, &k->graph);
    if (status == MXC_OK)
        status = simple_bind_complete(k->graph, options);
    if (status == MXC_OK)
        status = choose_reqs(k, spec);
    if (status != MXC_OK)
        release(k);
    return status;
}

mxc_status mxc_executor_simple_bind(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_bind_spec *spec,
                                    mxc_executor **out) {
    mxc_bind_options read;
    mxc_bind_spec read_spec;
    mxc_status status;
    inferred_arrays k;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_bind_spec_read(spec, &read_spec));
    MXC_TRY(mxci_bind_options_read(options, &read));
    if (read.constant_args || read.constant_aux)
        return MXC_FAIL(MXC_EINVAL,
                        "simple_bind: options->constant_args and constant_aux must be NULL: the arrays have "
                        "no values yet; use mxc_executor_bind");
    MXC_TRY(infer_arrays(symbol, &read, &read_spec, &k));
    status = bind_new_arrays(symbol, options, k.graph, k.reqs, out);
    release(&k);
    return status;
}

mxc_status mxc_executor_plan(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_bind_spec *spec,
                             mxc_memory_report *out) {
    mxc_bind_options read;
    mxc_bind_spec read_spec;
    mxci_lowering_options lowering = {.options = &read};
    mxci_program *p = NULL;
    mxc_status status;
    inferred_arrays k;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_bind_spec_read(spec, &read_spec));
    MXC_TRY(mxci_bind_options_read(options, &read));
    MXC_TRY(infer_arrays(symbol, &read, &read_spec, &k));
    lowering.reqs = k.reqs;
    lowering.no_tiles = read.bulk_nodes > 0;
    status = mxci_lower(k.graph, &lowering, &p);
    k.graph = NULL; /* taken over */
    if (status == MXC_OK)
        status = mxci_memory_report_make(p, out);
    mxci_program_destroy(p);
    release(&k);
    return status;
}
