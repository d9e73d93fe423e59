/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, cloning, reshaping and running predictors. Each has arrays of its own for inputs, labels and auxiliary
 * states, and an executor; the parameters are the network's. Operators may change auxiliary states, so predictors that
 * shared them could not run at the same time.
 */
#include "predict/predictor.h"

#include "base/error.h"
#include "base/sys.h"
#include "executor/run/bind.h"
#include "executor/run/constants.h"

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static mxc_status zeros(const mxc_shape *shape, mxc_dtype dtype, mxc_context context, mxc_ndarray **out) {
    MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, dtype, context, out));
    return mxc_ndarray_fill(*out, 0);
}

/* old if it has that shape and dtype, else zeros. */
static mxc_status keep_or_make(mxc_ndarray *old, const mxc_shape *shape, mxc_dtype dtype, mxc_context context,
                               mxc_ndarray **out) {
    if (!old || mxc_ndarray_dtype(old) != dtype || !mxc_shape_equal(mxc_ndarray_shape(old), shape))
        return zeros(shape, dtype, context, out);
    *out = mxc_ndarray_retain(old);
    return MXC_OK;
}

/* The arrays of inputs that are arguments of the graph, then those of the others, whose shapes may be given. */
static mxc_status make_inputs(mxc_predictor *p, const mxc_predictor *previous, const mxci_graph *g,
                              const mxc_shape *shapes) {
    const mxci_network *network = p->network;
    p->inputs = mxci_calloc((size_t)network->inputs.n + 1, sizeof *p->inputs);
    if (!p->inputs)
        return MXCI_NO_MEMORY("predictor", "inputs");
    for (int32_t i = 0; i < g->n_args; i++) {
        const int32_t entry = g->nodes[g->args[i]].first_entry;
        const int64_t at = network->input_of[i];
        if (at >= 0 && !p->inputs[at])
            MXC_TRY(keep_or_make(previous ? previous->inputs[at] : NULL, &g->shapes[entry], g->types[entry],
                                 network->context, &p->inputs[at]));
    }
    for (int64_t i = 0; i < network->inputs.n; i++) {
        const mxc_dtype type = network->types[i] == MXC_DTYPE_UNKNOWN ? MXC_F32 : network->types[i];
        if (!p->inputs[i] && mxc_shape_known(&shapes[i]))
            MXC_TRY(
                keep_or_make(previous ? previous->inputs[i] : NULL, &shapes[i], type, network->context, &p->inputs[i]));
    }
    return MXC_OK;
}

static mxc_status collect_args(const mxc_predictor *p, const mxc_predictor *previous, const mxci_graph *g,
                               mxc_ndarray **args) {
    const mxci_network *network = p->network;
    for (int32_t i = 0; i < g->n_args; i++) {
        const int32_t entry = g->nodes[g->args[i]].first_entry;
        if (network->input_of[i] >= 0)
            args[i] = mxc_ndarray_retain(p->inputs[network->input_of[i]]);
        else if (network->params[i])
            args[i] = mxc_ndarray_retain(network->params[i]);
        else
            MXC_TRY(keep_or_make(previous ? mxc_executor_arg(previous->executor, i) : NULL, &g->shapes[entry],
                                 g->types[entry], network->context, &args[i]));
    }
    return MXC_OK;
}

/* Copies of the states as they were loaded; those of a predictor that is reshaped are kept. */
static mxc_status collect_states(const mxc_predictor *p, const mxc_predictor *previous, const mxci_graph *g,
                                 mxc_ndarray **aux) {
    const mxci_network *network = p->network;
    for (int32_t i = 0; i < g->n_aux; i++) {
        const int32_t entry = g->nodes[g->aux[i]].first_entry;
        mxc_ndarray *old = previous ? mxc_executor_aux(previous->executor, i) : NULL;
        if (!old && network->states[i])
            MXC_TRY(mxc_ndarray_copy(network->states[i], network->context, g->types[entry], &aux[i]));
        else
            MXC_TRY(keep_or_make(old, &g->shapes[entry], g->types[entry], network->context, &aux[i]));
    }
    return MXC_OK;
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

static void release_all(mxc_ndarray **arrays, int64_t n) {
    for (int64_t i = 0; i < n && arrays; i++)
        mxc_ndarray_release(arrays[i]);
    mxci_free(arrays);
}

static mxc_status bind_arrays(mxc_predictor *p, const mxc_predictor *previous, const mxci_graph *g) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_ndarray **args = mxci_calloc((size_t)g->n_args + 1, sizeof *args);
    mxc_ndarray **aux = mxci_calloc((size_t)g->n_aux + 1, sizeof *aux);
    uint8_t *constant_args = mxci_calloc((size_t)g->n_args + 1, 1);
    uint8_t *constant_aux = mxci_calloc((size_t)g->n_aux + 1, 1);
    mxc_status status =
        args && aux && constant_args && constant_aux ? MXC_OK : MXCI_NO_MEMORY("predictor", "lists of arrays");
    for (int32_t i = 0; i < g->n_args && constant_args; i++)
        constant_args[i] = p->network->params[i] != NULL;
    for (int32_t i = 0; i < g->n_aux && constant_aux; i++)
        constant_aux[i] = p->network->states[i] != NULL;
    options.constant_args = constant_args;
    options.constant_aux = constant_aux;
    options.context = p->network->context;
    options.shared = previous ? previous->executor : NULL;
    if (status == MXC_OK)
        status = collect_args(p, previous, g, args);
    if (status == MXC_OK)
        status = collect_states(p, previous, g, aux);
    if (status == MXC_OK)
        status = mxci_executor_bind(p->network->symbol, &options, args, NULL, NULL, aux, p->network->constants,
                                    &p->executor);
    release_all(args, g->n_args);
    release_all(aux, g->n_aux);
    mxci_free(constant_args);
    mxci_free(constant_aux);
    return status;
}

/* Frees everything but the struct. */
static void close_predictor(mxc_predictor *p) {
    mxc_executor_destroy(p->executor);
    release_all(p->inputs, p->network->inputs.n);
    mxci_network_release(p->network);
}

/* Takes over the reference to network, also on failure. previous: the predictor that is reshaped, or NULL. */
static mxc_status open_predictor(mxci_network *network, const mxc_predictor *previous, const mxci_graph *g,
                                 const mxc_shape *shapes, mxc_predictor *out) {
    *out = (mxc_predictor){.network = network};
    mxc_status status = make_inputs(out, previous, g, shapes);
    if (status == MXC_OK)
        status = bind_arrays(out, previous, g);
    if (status != MXC_OK)
        close_predictor(out);
    return status;
}

/* The same for a new predictor. */
static mxc_status make_predictor(mxci_network *network, const mxci_graph *g, const mxc_shape *shapes,
                                 mxc_predictor **out) {
    mxc_predictor *p = mxci_calloc(1, sizeof *p);
    if (!p) {
        mxci_network_release(network);
        return MXCI_NO_MEMORY("predictor", "a predictor");
    }
    mxc_status status = open_predictor(network, NULL, g, shapes, p);
    if (status == MXC_OK)
        *out = p;
    else
        mxci_free(p);
    return status;
}

/* Gives up parameters that the first predictor reads only through constants; nothing else knows the network yet. */
static mxc_status release_params(mxc_predictor *p) {
    mxci_network *network = p->network;
    MXC_TRY(mxci_constants_release_args(p->executor));
    for (int64_t i = 0; i < network->args.n; i++)
        if (mxci_constant_cache_lacks(network->constants, i)) {
            mxc_ndarray_release(network->params[i]);
            network->params[i] = mxc_ndarray_retain(p->executor->args[i]);
        }
    return MXC_OK;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

mxc_status mxc_predictor_create(mxc_symbol *symbol, const mxc_ndarray_list *params, int64_t n_inputs,
                                const mxc_data_desc *inputs, const mxc_predictor_options *options,
                                mxc_predictor **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(params));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, inputs));
    mxci_network *network;
    mxci_graph *g;
    if (n_inputs < 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_predictor_create: n_inputs is %lld, expected 0 or more", (long long)n_inputs);
    mxc_shape *shapes = mxci_calloc((size_t)n_inputs + 1, sizeof *shapes);
    if (!shapes)
        return MXCI_NO_MEMORY("predictor", "inputs");
    for (int64_t i = 0; i < n_inputs; i++)
        shapes[i] = inputs[i].shape;
    mxc_status status = mxci_network_create(symbol, params, n_inputs, inputs, options, &network, &g);
    if (status == MXC_OK)
        status = make_predictor(network, g, shapes, out);
    if (status == MXC_OK && network->releases_params)
        status = release_params(*out);
    if (status != MXC_OK) {
        mxc_predictor_destroy(*out);
        *out = NULL;
    }
    mxci_graph_destroy(g);
    mxci_free(shapes);
    return status;
}

/* The shapes that the inputs have now; the caller frees them. */
static mxc_status list_shapes(const mxc_predictor *p, mxc_shape **out) {
    const int64_t n = p->network->inputs.n;
    mxc_shape *shapes = mxci_calloc((size_t)n + 1, sizeof *shapes);
    *out = shapes;
    for (int64_t i = 0; i < n && shapes; i++)
        shapes[i] = p->inputs[i] ? *mxc_ndarray_shape(p->inputs[i]) : (mxc_shape){.ndim = -1};
    return shapes ? MXC_OK : MXCI_NO_MEMORY("predictor", "shapes of inputs");
}

mxc_status mxc_predictor_clone(const mxc_predictor *predictor, mxc_predictor **out) {
    mxc_shape *shapes;
    mxci_graph *g;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(list_shapes(predictor, &shapes));
    mxc_status status = mxci_network_infer(predictor->network, shapes, NULL, &g);
    if (status == MXC_OK)
        status = make_predictor(mxci_network_retain(predictor->network), g, shapes, out);
    mxci_graph_destroy(g);
    mxci_free(shapes);
    return status;
}

/* Replaces the arrays and the executor once the new ones are ready. */
static mxc_status reshape(mxc_predictor *p, const mxc_shape *shapes, const mxc_shape *fallback) {
    mxc_predictor next;
    mxci_graph *g;
    MXC_TRY(mxci_network_infer(p->network, shapes, fallback, &g));
    mxc_status status = open_predictor(mxci_network_retain(p->network), p, g, shapes, &next);
    mxci_graph_destroy(g);
    MXC_TRY(status);
    close_predictor(p);
    *p = next;
    return MXC_OK;
}

mxc_status mxc_predictor_reshape(mxc_predictor *predictor, int64_t n, const char *const *names,
                                 const mxc_shape *shapes) {
    mxc_shape *now, *wanted;
    MXC_TRY(MXCI_NON_NULL(predictor));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, names));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, shapes));
    const int64_t n_inputs = predictor->network->inputs.n;
    MXC_TRY(list_shapes(predictor, &now));
    mxc_status status = list_shapes(predictor, &wanted);
    for (int64_t i = 0; i < n_inputs && status == MXC_OK; i++)
        if (mxc_names_find(&predictor->network->args, predictor->network->inputs.items[i]) >= 0)
            wanted[i].ndim = -1; /* follows, or is that of now */
    for (int64_t i = 0; i < n && status == MXC_OK; i++) {
        int64_t at;
        status = mxci_predictor_find_input(__func__, predictor, names[i], &at);
        if (status == MXC_OK)
            status = mxc_shape_set(&wanted[at], shapes[i].ndim, shapes[i].dim);
        if (status == MXC_EINVAL)
            status = MXC_FAIL(status, "mxc_predictor_reshape: input \"%.100s\": %s", names[i], mxc_last_error());
    }
    if (status == MXC_OK)
        status = reshape(predictor, wanted, now);
    mxci_free(now);
    mxci_free(wanted);
    return status;
}

void mxc_predictor_destroy(mxc_predictor *predictor) {
    if (!MXCI_MAY_RELEASE(predictor))
        return;
    close_predictor(predictor);
    mxci_free_object(predictor);
}

mxc_status mxc_predictor_forward(mxc_predictor *predictor) {
    MXC_TRY(MXCI_NON_NULL(predictor));
    return mxc_executor_forward(predictor->executor, 0);
}

mxc_executor *mxc_predictor_executor(const mxc_predictor *predictor) {
    return predictor ? predictor->executor : NULL;
}
