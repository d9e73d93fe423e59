/* simple_bind and plan: everything follows from some shapes. */
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "executor/bound.h"

/* All that is known of a symbol's arrays before they exist. */
typedef struct known {
    mxc_names args, aux;
    mxc_inferred inferred;
    mxc_req *reqs; /* argument */
} known;

static mxc_status no_memory(void) {
    return MXC_FAIL(MXC_ENOMEM, "simple_bind: no memory");
}

static void release(known *k) {
    mxc_names_release(&k->args);
    mxc_names_release(&k->aux);
    mxc_inferred_release(&k->inferred);
    mxci_free(k->reqs);
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static mxc_status list_missing(const known *k) {
    char text[MXC_ERROR_MAX], shape[MXC_SHAPE_TEXT];
    mxci_line line = {text, sizeof text, 0};
    int64_t i;
    for (i = 0; i < k->args.n; i++)
        if (!mxc_shape_known(&k->inferred.arg_shapes[i]))
            mxci_line_printf(&line, "%s %s %s", line.length ? "," : "", k->args.items[i],
                             mxc_shape_format(&k->inferred.arg_shapes[i], shape, sizeof shape));
    for (i = 0; i < k->aux.n; i++)
        if (!mxc_shape_known(&k->inferred.aux_shapes[i]))
            mxci_line_printf(&line, "%s %s %s", line.length ? "," : "", k->aux.items[i],
                             mxc_shape_format(&k->inferred.aux_shapes[i], shape, sizeof shape));
    if (line.length == 0)
        return MXC_OK;
    return MXC_FAIL(MXC_ESHAPE, "simple_bind: these shapes do not follow from what was given:%s", text);
}

/* What is left open is float32; then infer again, from all. */
static mxc_status complete_types(const mxc_symbol *symbol, known *k) {
    mxc_inferred again;
    int64_t i;
    int open = 0;
    for (i = 0; i < k->args.n; i++)
        if (k->inferred.arg_types[i] == MXC_DTYPE_UNKNOWN) {
            k->inferred.arg_types[i] = MXC_F32;
            open = 1;
        }
    for (i = 0; i < k->aux.n; i++)
        open |= k->inferred.aux_types[i] == MXC_DTYPE_UNKNOWN;
    if (!open)
        return MXC_OK;
    MXC_TRY(mxc_symbol_infer(symbol, k->args.n, (const char *const *)k->args.items, k->inferred.arg_shapes,
                             k->inferred.arg_types, &again));
    mxc_inferred_release(&k->inferred);
    k->inferred = again;
    for (i = 0; i < k->aux.n; i++)
        if (k->inferred.aux_types[i] == MXC_DTYPE_UNKNOWN)
            k->inferred.aux_types[i] = MXC_F32;
    return MXC_OK;
}

static mxc_status infer(const mxc_symbol *symbol, int64_t n, const char *const *names, const mxc_shape *shapes,
                        const mxc_dtype *types, known *k) {
    MXC_TRY(mxc_symbol_list_arguments(symbol, &k->args));
    MXC_TRY(mxc_symbol_list_aux(symbol, &k->aux));
    MXC_TRY(mxc_symbol_infer(symbol, n, names, shapes, types, &k->inferred));
    MXC_TRY(list_missing(k));
    return complete_types(symbol, k);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static mxc_status choose_reqs(known *k, int64_t n, const char *const *names, mxc_req req, int n_no_grad,
                              const char *const *no_grad) {
    int64_t i;
    k->reqs = mxci_calloc((size_t)k->args.n + 1, sizeof *k->reqs);
    if (!k->reqs)
        return no_memory();
    for (i = 0; i < k->args.n; i++)
        k->reqs[i] = req;
    for (i = 0; i < n; i++)
        if (mxc_names_find(&k->args, names[i]) >= 0)
            k->reqs[mxc_names_find(&k->args, names[i])] = MXC_REQ_NULL;
    for (i = 0; i < n_no_grad; i++) {
        if (mxc_names_find(&k->args, no_grad[i]) < 0)
            return MXC_FAIL(MXC_ENOTFOUND, "simple_bind: no argument '%s' that could go without gradient", no_grad[i]);
        k->reqs[mxc_names_find(&k->args, no_grad[i])] = MXC_REQ_NULL;
    }
    return MXC_OK;
}

/* ---- the graph, for contexts and the report -------------------------------------------------------------------- */

static mxc_status make_graph(const mxc_symbol *symbol, const known *k, const mxc_bind_options *options,
                             mxci_graph **out) {
    mxci_graph *g;
    mxc_status status;
    int32_t i;
    *out = NULL;
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    for (i = 0; i < g->n_args; i++) {
        g->shapes[g->nodes[g->args[i]].first_entry] = k->inferred.arg_shapes[i];
        g->types[g->nodes[g->args[i]].first_entry] = k->inferred.arg_types[i];
    }
    for (i = 0; i < g->n_aux; i++) {
        g->shapes[g->nodes[g->aux[i]].first_entry] = k->inferred.aux_shapes[i];
        g->types[g->nodes[g->aux[i]].first_entry] = k->inferred.aux_types[i];
    }
    status = mxci_graph_infer(g);
    if (status == MXC_OK)
        status = mxci_pass_place(g, options);
    if (status == MXC_OK)
        *out = g;
    else
        mxci_graph_destroy(g);
    return status;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

static mxc_status make_array(const mxci_graph *g, int32_t node, mxc_ndarray **out) {
    int32_t entry = g->nodes[node].first_entry;
    const mxc_shape *shape = &g->shapes[entry];
    MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, g->types[entry], g->nodes[node].context, out));
    return mxc_ndarray_fill(*out, 0);
}

/* arrays: n_args arguments, n_args gradients, n_aux states. */
static mxc_status make_arrays(const mxci_graph *g, const mxc_req *reqs, mxc_ndarray **arrays) {
    int32_t i;
    for (i = 0; i < g->n_args; i++) {
        MXC_TRY(make_array(g, g->args[i], &arrays[i]));
        if (reqs[i] != MXC_REQ_NULL)
            MXC_TRY(make_array(g, g->args[i], &arrays[g->n_args + i]));
    }
    for (i = 0; i < g->n_aux; i++)
        MXC_TRY(make_array(g, g->aux[i], &arrays[2 * g->n_args + i]));
    return MXC_OK;
}

static mxc_status bind_new_arrays(mxc_symbol *symbol, const mxc_bind_options *options, const mxci_graph *g,
                                  const mxc_req *reqs, mxc_executor **out) {
    size_t n = 2 * (size_t)g->n_args + (size_t)g->n_aux, i;
    mxc_ndarray **arrays = mxci_calloc(n + 1, sizeof *arrays);
    mxc_status status = arrays ? make_arrays(g, reqs, arrays) : no_memory();
    if (status == MXC_OK)
        status = mxc_executor_bind(symbol, options, arrays, arrays + g->n_args, reqs, arrays + 2 * g->n_args, out);
    for (i = 0; i < n && arrays; i++)
        mxc_ndarray_release(arrays[i]);
    mxci_free(arrays);
    return status;
}

/* ---- public ---------------------------------------------------------------------------------------------------- */

static mxc_status know(mxc_symbol *symbol, int64_t n, const char *const *names, const mxc_shape *shapes,
                       const mxc_dtype *types, mxc_req req, int n_no_grad, const char *const *no_grad, known *k) {
    mxc_status status;
    *k = (known){.reqs = NULL};
    status = infer(symbol, n, names, shapes, types, k);
    if (status == MXC_OK)
        status = choose_reqs(k, n, names, req, n_no_grad, no_grad);
    if (status != MXC_OK)
        release(k);
    return status;
}

mxc_status mxc_executor_simple_bind(mxc_symbol *symbol, const mxc_bind_options *options, int64_t n,
                                    const char *const *names, const mxc_shape *shapes, const mxc_dtype *types,
                                    mxc_req req, int n_no_grad, const char *const *no_grad, mxc_executor **out) {
    mxc_bind_options complete;
    mxci_graph *g;
    mxc_status status;
    known k;
    *out = NULL;
    MXC_TRY(mxci_bind_options_read(options, &complete));
    MXC_TRY(know(symbol, n, names, shapes, types, req, n_no_grad, no_grad, &k));
    status = make_graph(symbol, &k, &complete, &g);
    if (status == MXC_OK)
        status = bind_new_arrays(symbol, options, g, k.reqs, out);
    mxci_graph_destroy(g);
    release(&k);
    return status;
}

mxc_status mxc_executor_plan(mxc_symbol *symbol, const mxc_bind_options *options, int64_t n, const char *const *names,
                             const mxc_shape *shapes, const mxc_dtype *types, mxc_req req, int n_no_grad,
                             const char *const *no_grad, mxc_memory_report *out) {
    mxc_bind_options complete;
    mxci_program *p = NULL;
    mxci_graph *g;
    mxc_status status;
    known k;
    *out = (mxc_memory_report){0};
    MXC_TRY(mxci_bind_options_read(options, &complete));
    MXC_TRY(know(symbol, n, names, shapes, types, req, n_no_grad, no_grad, &k));
    status = make_graph(symbol, &k, &complete, &g);
    if (status == MXC_OK) {
        mxci_lowering lowering = {&complete, k.reqs, complete.bulk_nodes > 0};
        status = mxci_program_create(g, &lowering, &p);
    }
    if (status == MXC_OK)
        status = mxci_report(p, out);
    mxci_program_destroy(p);
    release(&k);
    return status;
}
