/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reshaping: a second executor of the same symbol for other input shapes. Arrays whose shape stays are shared, smaller
 * ones are views of the old ones, larger ones are new; memory inside comes from the same arenas.
 */
#include "base/error.h"
#include "executor/run/bind.h"

typedef struct reshaping {
    mxc_executor *executor;
    int partial_shaping, allow_up_sizing;
    uint8_t *is_named;                  /* argument */
    mxci_graph *graph;                  /* with the new shapes */
    mxc_ndarray **args, **grads, **aux; /* of the new executor, one reference each */
    uint8_t *constant;                  /* argument, then auxiliary state: as before, and the same array */
} reshaping;

static mxc_status executor_reshape_begin(reshaping *r, mxc_executor *e) {
    size_t n = (size_t)e->arg_names.n + 1;
    r->executor = e;
    r->is_named = mxci_calloc(n, 1);
    r->args = mxci_calloc(n, sizeof *r->args);
    r->grads = mxci_calloc(n, sizeof *r->grads);
    r->aux = mxci_calloc((size_t)e->aux_names.n + 1, sizeof *r->aux);
    r->constant = mxci_calloc((size_t)(e->arg_names.n + e->aux_names.n) + 1, 1);
    if (!r->is_named || !r->args || !r->grads || !r->aux || !r->constant)
        return MXCI_NO_MEMORY("reshape", "lists of arrays");
    return mxci_graph_from_symbol(e->symbol, &r->graph);
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static mxc_shape *arg_shape(const reshaping *r, int64_t i) {
    return &r->graph->shapes[r->graph->nodes[r->graph->args[i]].first_entry];
}

/* Infers from the given shapes and the dtypes of the arrays; an argument that stays unknown keeps its old shape. */
static mxc_status executor_reshape_infer(reshaping *r, int64_t n, const char *const *names, const mxc_shape *shapes) {
    const mxc_executor *e = r->executor;
    mxci_graph *g = r->graph;
    int open = 0;
    for (int32_t i = 0; i < g->n_args; i++)
        g->types[g->nodes[g->args[i]].first_entry] = mxc_ndarray_dtype(e->args[i]);
    for (int32_t i = 0; i < g->n_aux; i++)
        g->types[g->nodes[g->aux[i]].first_entry] = mxc_ndarray_dtype(e->aux[i]);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = mxc_names_find(&e->arg_names, names[i]);
        if (at < 0)
            return MXC_FAIL(MXC_ENOTFOUND, "reshape: the symbol has no argument '%s'", names[i] ? names[i] : "");
        *arg_shape(r, at) = shapes[i];
        r->is_named[at] = 1;
    }
    MXC_TRY(mxci_graph_infer(g));
    for (int64_t i = 0; i < e->arg_names.n; i++)
        if (!mxc_shape_known(arg_shape(r, i))) {
            *arg_shape(r, i) = *mxc_ndarray_shape(e->args[i]);
            open = 1;
        }
    return open ? mxci_graph_infer(g) : MXC_OK;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

/* An array of the new shape that replaces old: the same one, a view of it, or a new one. */
static mxc_status adapt(const reshaping *r, const char *name, int is_named, mxc_ndarray *old, const mxc_shape *shape,
                        mxc_ndarray **out) {
    char have[MXC_SHAPE_TEXT], want[MXC_SHAPE_TEXT];
    const mxc_shape *before = mxc_ndarray_shape(old);
    mxc_shape_format(before, have, sizeof have);
    mxc_shape_format(shape, want, sizeof want);
    if (mxc_shape_equal(before, shape)) {
        *out = mxc_ndarray_retain(old);
        return MXC_OK;
    }
    if (!mxc_shape_known(shape))
        return MXC_FAIL(MXC_ESHAPE, "reshape: the shape of %s does not follow, found %s", name, want);
    if (!is_named && !r->partial_shaping)
        return MXC_FAIL(MXC_ESHAPE, "reshape: %s would change from %s to %s; name it or allow partial shaping", name,
                        have, want);
    if (mxc_shape_size(shape) <= mxc_shape_size(before))
        return mxc_ndarray_reshape(old, shape->ndim, shape->dim, out);
    if (!r->allow_up_sizing)
        return MXC_FAIL(MXC_ESHAPE, "reshape: %s would grow from %s to %s; allow up-sizing", name, have, want);
    MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(old), mxc_ndarray_context(old), out));
    return mxc_ndarray_fill(*out, 0);
}

static mxc_status adapt_all(reshaping *r) {
    const mxc_executor *e = r->executor;
    for (int64_t i = 0; i < e->arg_names.n; i++) {
        const char *name = e->arg_names.items[i];
        MXC_TRY(adapt(r, name, r->is_named[i], e->args[i], arg_shape(r, i), &r->args[i]));
        if (e->grads[i])
            MXC_TRY(adapt(r, name, r->is_named[i], e->grads[i], arg_shape(r, i), &r->grads[i]));
    }
    for (int64_t i = 0; i < e->aux_names.n; i++) {
        const mxc_shape *shape = &r->graph->shapes[r->graph->nodes[r->graph->aux[i]].first_entry];
        MXC_TRY(adapt(r, e->aux_names.items[i], 0, e->aux[i], shape, &r->aux[i]));
    }
    return MXC_OK;
}

/* Binds to the new arrays, with the old executor's options. What has a new array is not constant any more. */
static mxc_status bind_adapted(const reshaping *r, mxc_executor **out) {
    mxc_executor *e = r->executor;
    mxc_bind_options options = e->options;
    uint8_t *constant_aux = r->constant + e->arg_names.n;
    options.shared = e;
    for (int64_t i = 0; i < e->arg_names.n && options.constant_args; i++)
        r->constant[i] = e->options.constant_args[i] && r->args[i] == e->args[i];
    for (int64_t i = 0; i < e->aux_names.n && options.constant_aux; i++)
        constant_aux[i] = e->options.constant_aux[i] && r->aux[i] == e->aux[i];
    options.constant_args = options.constant_args ? r->constant : NULL;
    options.constant_aux = options.constant_aux ? constant_aux : NULL;
    return mxci_executor_bind(e->symbol, &options, r->args, r->grads, e->reqs, r->aux, e->constants, out);
}

mxc_status mxc_executor_reshape(mxc_executor *e, int partial_shaping, int allow_up_sizing, int64_t n,
                                const char *const *names, const mxc_shape *shapes, mxc_executor **out) {
    reshaping r = {.partial_shaping = partial_shaping, .allow_up_sizing = allow_up_sizing};
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_CHECK_NON_NULL(e, "mxc_executor_reshape: executor"));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, names));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, shapes));
    status = executor_reshape_begin(&r, e);
    if (status == MXC_OK)
        status = executor_reshape_infer(&r, n, names, shapes);
    if (status == MXC_OK)
        status = adapt_all(&r);
    if (status == MXC_OK)
        status = bind_adapted(&r, out);
    for (int64_t i = 0; i < e->arg_names.n && r.args && r.grads; i++) {
        mxc_ndarray_release(r.args[i]);
        mxc_ndarray_release(r.grads[i]);
    }
    for (int64_t i = 0; i < e->aux_names.n && r.aux; i++)
        mxc_ndarray_release(r.aux[i]);
    mxci_graph_destroy(r.graph);
    mxci_free(r.is_named);
    mxci_free(r.args);
    mxci_free(r.grads);
    mxci_free(r.aux);
    mxci_free(r.constant);
    return status;
}
