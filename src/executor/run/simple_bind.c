/* SPDX-License-Identifier: Apache-2.0 */
/* simple_bind and plan: everything follows from some shapes. */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/passes/lowering.h"
#include "executor/passes/passes.h"
#include "executor/plan/memory_report.h"
#include "executor/run/bind.h"

/* All that is known of a symbol's arrays before they exist. */
typedef struct known {
    mxci_graph *graph; /* inferred and placed */
    mxc_req *reqs;     /* argument */
} known;

static mxc_status no_memory(void) {
    return MXC_FAIL(MXC_ENOMEM, "simple_bind: no memory");
}

static void release(known *k) {
    mxci_graph_destroy(k->graph);
    mxci_free(k->reqs);
}

/* ---- shapes and types ------------------------------------------------------------------------------------------ */

static void add_missing(const mxci_graph *g, int32_t n, const int32_t *nodes, mxci_line *line) {
    char text[MXC_SHAPE_TEXT];
    for (int32_t i = 0; i < n; i++) {
        const mxc_shape *shape = &g->shapes[g->nodes[nodes[i]].first_entry];
        if (!mxc_shape_known(shape))
            mxci_line_printf(line, "%s %s %s", line->length ? "," : "", g->nodes[nodes[i]].name,
                             mxc_shape_format(shape, text, sizeof text));
    }
}

static mxc_status list_missing(const mxci_graph *g) {
    char text[MXC_ERROR_MAX];
    mxci_line line = {text, sizeof text, 0};
    add_missing(g, g->n_args, g->args, &line);
    add_missing(g, g->n_aux, g->aux, &line);
    if (line.length == 0)
        return MXC_OK;
    return MXC_FAIL(MXC_ESHAPE, "simple_bind: these shapes do not follow from what was given:%s", text);
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

static mxc_status simple_bind_complete(mxci_graph *g, const mxc_bind_options *options) {
    MXC_TRY(list_missing(g));
    MXC_TRY(complete_types(g, g->n_args, g->args));
    MXC_TRY(complete_types(g, g->n_aux, g->aux));
    MXC_TRY(mxci_check_complete(g));
    return mxci_pass_placement(g, options);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* How many arguments have the name; their request is null. */
static int32_t ask_nothing(known *k, const char *name) {
    const mxci_graph *g = k->graph;
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_args; i++)
        if (strcmp(g->nodes[g->args[i]].name, name) == 0) {
            k->reqs[i] = MXC_REQ_NULL;
            n++;
        }
    return n;
}

static mxc_status leave_labels_out(known *k) {
    const mxci_graph *g = k->graph;
    int32_t *label_of = mxci_calloc((size_t)g->n_args + 1, sizeof *label_of);
    mxc_status status = label_of ? mxci_graph_find_labels(g, label_of) : no_memory();
    for (int32_t i = 0; status == MXC_OK && i < g->n_args; i++)
        if (label_of[i] >= 0)
            k->reqs[i] = MXC_REQ_NULL;
    mxci_free(label_of);
    return status;
}

static mxc_status choose_reqs(known *k, const mxc_bind_spec *spec) {
    k->reqs = mxci_calloc((size_t)k->graph->n_args + 1, sizeof *k->reqs);
    if (!k->reqs)
        return no_memory();
    for (int64_t i = 0; i < k->graph->n_args; i++)
        k->reqs[i] = spec->req;
    MXC_TRY(leave_labels_out(k));
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

/* arrays: n_args arguments, n_args gradients, n_aux states. */
static mxc_status simple_bind_make_arrays(const mxci_graph *g, const mxc_req *reqs, mxc_ndarray **arrays) {
    for (int32_t i = 0; i < g->n_args; i++) {
        MXC_TRY(mxci_bind_array(g, g->nodes[g->args[i]].first_entry, &arrays[i]));
        if (reqs[i] != MXC_REQ_NULL)
            MXC_TRY(mxci_bind_array(g, g->nodes[g->args[i]].first_entry, &arrays[g->n_args + i]));
    }
    for (int32_t i = 0; i < g->n_aux; i++)
        MXC_TRY(mxci_bind_array(g, g->nodes[g->aux[i]].first_entry, &arrays[2 * g->n_args + i]));
    return MXC_OK;
}

static mxc_status bind_new_arrays(mxc_symbol *symbol, const mxc_bind_options *options, const mxci_graph *g,
                                  const mxc_req *reqs, mxc_executor **out) {
    size_t n = 2 * (size_t)g->n_args + (size_t)g->n_aux, i;
    mxc_ndarray **arrays = mxci_calloc(n + 1, sizeof *arrays);
    mxc_status status = arrays ? simple_bind_make_arrays(g, reqs, arrays) : no_memory();
    if (status == MXC_OK)
        status = mxc_executor_bind(symbol, options, arrays, arrays + g->n_args, reqs, arrays + 2 * g->n_args, out);
    for (i = 0; i < n && arrays; i++)
        mxc_ndarray_release(arrays[i]);
    mxci_free(arrays);
    return status;
}

/* ---- public ---------------------------------------------------------------------------------------------------- */

static mxc_status know(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_bind_spec *spec, known *k) {
    mxc_status status;
    *k = (known){.reqs = NULL};
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
    known k;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_bind_spec_read(spec, &read_spec));
    MXC_TRY(mxci_bind_options_read(options, &read));
    MXC_TRY(know(symbol, &read, &read_spec, &k));
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
    known k;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_bind_spec_read(spec, &read_spec));
    MXC_TRY(mxci_bind_options_read(options, &read));
    MXC_TRY(know(symbol, &read, &read_spec, &k));
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
