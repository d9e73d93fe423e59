/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters by name: matched with a network's arguments and auxiliary states, and copied into an executor
 * (mxc_executor_load_params), used to bind one (mxc_executor_bind_params), or listed (mxci_params_match). Everything is
 * checked before anything is copied.
 */
#include <string.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/run/bind.h"
#include "executor/run/load_params.h"

/* Which variables a name may stand for: "arg:name", "aux:name" or the name alone. */
enum { ARG, AUX, PLAIN, N_KINDS };

typedef struct parameter {
    const char *name; /* as the list has it */
    mxc_ndarray *array;
    const char *variable; /* that it belongs to; NULL: none was found yet */
    int kind;             /* ARG or AUX */
} parameter;

/* A list of parameters while it is matched with a network. */
typedef struct matching {
    int64_t n;
    parameter *items;
    mxci_hash_map *by_name[N_KINDS]; /* name without its prefix: parameter */
    int64_t n_inputs;
    const char *const *inputs; /* arguments that are no parameters */
    char missing[400];
    mxci_line missing_line;
    int64_t n_missing;
} matching;

/* ---- the list -------------------------------------------------------------------------------------------------- */

static void matching_close(matching *m) {
    for (int kind = 0; kind < N_KINDS; kind++)
        mxci_hash_map_destroy(m->by_name[kind]);
    mxci_free(m->items);
}

/* Enters the parameters by name and kind. Names are borrowed from the list. */
static mxc_status matching_fill(matching *m, const mxc_ndarray_list *params) {
    m->items = mxci_calloc((size_t)params->n + 1, sizeof *m->items);
    if (!m->items)
        return MXCI_NO_MEMORY("parameters", "the list");
    for (int kind = 0; kind < N_KINDS; kind++)
        MXC_TRY(mxci_hash_map_create(&m->by_name[kind]));
    if (params->n > 0 && !params->names)
        return MXC_FAIL(MXC_EINVAL, "parameters: the list's arrays have no names");
    for (int64_t i = 0; i < params->n; i++) {
        const char *name, *bare;
        parameter *p;
        int kind;
        MXC_TRY(MXCI_CHECK_NON_NULL(params->names[i], "parameters: a name"));
        name = params->names[i];
        kind = !strncmp(name, "arg:", 4) ? ARG : !strncmp(name, "aux:", 4) ? AUX : PLAIN;
        bare = kind == PLAIN ? name : name + 4;
        p = &m->items[m->n++];
        if (!params->arrays[i])
            return MXC_FAIL(MXC_EINVAL, "parameter \"%.100s\": the list has no array for it", name);
        if (mxci_hash_map_has(m->by_name[kind], bare))
            return MXC_FAIL(MXC_EEXIST, "parameter \"%.100s\" is in the list twice", name);
        *p = (parameter){.name = name, .array = params->arrays[i]};
        MXC_TRY(mxci_hash_map_put(m->by_name[kind], bare, p));
    }
    return MXC_OK;
}

/* To be closed also after a failure. */
static mxc_status matching_open(matching *m, const mxc_ndarray_list *params, int64_t n_inputs,
                                const char *const *inputs) {
    *m = (matching){.n_inputs = n_inputs, .inputs = inputs};
    m->missing_line = (mxci_line){m->missing, sizeof m->missing, 0};
    return matching_fill(m, params);
}

/* ---- matching -------------------------------------------------------------------------------------------------- */

/* The parameter of a variable; NULL for an input, and where there is none, which is noted if it is required. */
static mxc_status load_params_find(matching *m, int kind, const char *name, int is_required, parameter **out) {
    parameter *own = mxci_hash_map_get(m->by_name[kind], name), *plain = mxci_hash_map_get(m->by_name[PLAIN], name);
    *out = NULL;
    for (int64_t i = 0; i < m->n_inputs && kind == ARG; i++)
        if (strcmp(m->inputs[i], name) == 0)
            return MXC_OK;
    if (own && plain)
        return MXC_FAIL(MXC_EEXIST, "parameters: both \"%.100s\" and \"%.100s\" are in the list", own->name, name);
    *out = own ? own : plain;
    if (*out && !(*out)->variable) {
        (*out)->variable = name;
        (*out)->kind = kind;
    }
    if (!*out && is_required && ++m->n_missing)
        mxci_line_printf(&m->missing_line, "%s %.100s%s", m->n_missing > 1 ? "," : "", name,
                         kind == AUX ? " (auxiliary state)" : "");
    return MXC_OK;
}

/* Checks the parameter against the expected shape and dtype, of which unknown parts fit anything. */
static mxc_status load_params_check(const parameter *p, const mxc_shape *shape, mxc_dtype dtype, unsigned flags) {
    char want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    const mxc_shape *found = mxc_ndarray_shape(p->array);
    int fits = shape->ndim < 0 || shape->ndim == found->ndim;
    for (int i = 0; fits && i < shape->ndim; i++)
        fits = shape->dim[i] < 0 || shape->dim[i] == found->dim[i];
    if (!fits)
        return MXC_FAIL(MXC_ESHAPE, "parameter \"%.100s\": expected shape %s, found %s", p->name,
                        mxc_shape_format(shape, want, sizeof want), mxc_shape_format(found, have, sizeof have));
    if (!(flags & MXC_PARAMS_CONVERT) && dtype != MXC_DTYPE_UNKNOWN && dtype != mxc_ndarray_dtype(p->array))
        return MXC_FAIL(MXC_EDTYPE, "parameter \"%.100s\": expected dtype %s, found %s", p->name, mxc_dtype_name(dtype),
                        mxc_dtype_name(mxc_ndarray_dtype(p->array)));
    return MXC_OK;
}

/* Reports variables without parameters and parameters without variables; after all variables have been matched. */
static mxc_status check_left_over(const matching *m, unsigned flags) {
    char extra[300] = "";
    mxci_line line = {extra, sizeof extra, 0};
    int64_t n = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (!m->items[i].variable && ++n)
            mxci_line_printf(&line, "%s \"%.100s\"", n > 1 ? "," : "", m->items[i].name);
    if (m->n_missing > 0 && !(flags & MXC_PARAMS_ALLOW_MISSING))
        return MXC_FAIL(MXC_ENOTFOUND, "parameters: %lld missing:%s%s%s", (long long)m->n_missing, m->missing,
                        n > 0 ? "; not of this network:" : "", extra);
    if (n > 0 && !(flags & MXC_PARAMS_ALLOW_EXTRA))
        return MXC_FAIL(MXC_EINVAL, "parameters: %lld not of this network:%s", (long long)n, extra);
    return MXC_OK;
}

/* ---- loading --------------------------------------------------------------------------------------------------- */

/* Checks the parameters of one kind of variables, or, where copy is set, queues copies into the arrays. */
static mxc_status load_kind(matching *m, int kind, const mxc_names *names, mxc_ndarray *const *arrays, unsigned flags,
                            int copy) {
    for (int64_t i = 0; i < names->n; i++) {
        parameter *p;
        MXC_TRY(load_params_find(m, kind, names->items[i], 1, &p));
        if (!p)
            continue;
        MXC_TRY(copy ? mxc_ndarray_copy_to(p->array, arrays[i], 0)
                     : load_params_check(p, mxc_ndarray_shape(arrays[i]), mxc_ndarray_dtype(arrays[i]), flags));
    }
    return MXC_OK;
}

/* Checks the parameters of all variables, then copies them. */
static mxc_status load_params_load(matching *m, mxc_executor *e, unsigned flags) {
    for (int64_t i = 0; i < m->n_inputs; i++)
        if (mxc_names_find(&e->arg_names, m->inputs[i]) < 0)
            return MXC_FAIL(MXC_ENOTFOUND, "parameters: no argument is called \"%.100s\", which is among the inputs",
                            m->inputs[i] ? m->inputs[i] : "(NULL)");
    MXC_TRY(load_kind(m, ARG, &e->arg_names, e->args, flags, 0));
    MXC_TRY(load_kind(m, AUX, &e->aux_names, e->aux, flags, 0));
    MXC_TRY(check_left_over(m, flags));
    MXC_TRY(load_kind(m, ARG, &e->arg_names, e->args, flags, 1));
    return load_kind(m, AUX, &e->aux_names, e->aux, flags, 1);
}

mxc_status mxc_executor_load_params(mxc_executor *executor, const mxc_ndarray_list *params, unsigned flags,
                                    int64_t n_inputs, const char *const *inputs) {
    matching m;
    MXC_TRY(MXCI_NON_NULL(executor));
    MXC_TRY(MXCI_NON_NULL(params));
    MXC_TRY(MXCI_NON_NULL_IF(n_inputs > 0, inputs));
    mxc_status status = matching_open(&m, params, n_inputs, inputs);
    if (status == MXC_OK)
        status = load_params_load(&m, executor, flags);
    matching_close(&m);
    return status;
}

/* ---- networks that are not bound ------------------------------------------------------------------------------- */

/* Checks the parameters of one kind of variables against what follows from the inputs alone, so that a message names
 * the parameter. label_of: of each argument, see mxci_graph_find_labels; labels need no parameter. NULL: all do. */
static mxc_status match_kind(matching *m, int kind, const mxci_graph *g, const int32_t *label_of, unsigned flags) {
    const int32_t n = kind == ARG ? g->n_args : g->n_aux, *nodes = kind == ARG ? g->args : g->aux;
    for (int32_t i = 0; i < n; i++) {
        const mxci_gnode *node = &g->nodes[nodes[i]];
        const int is_label = kind == ARG && label_of && label_of[i] >= 0;
        parameter *p;
        MXC_TRY(load_params_find(m, kind, node->name, !is_label, &p));
        if (p)
            MXC_TRY(load_params_check(p, &g->shapes[node->first_entry], g->types[node->first_entry], flags));
    }
    return MXC_OK;
}

static mxc_status match_graph(matching *m, const mxci_graph *g, const int32_t *label_of, unsigned flags) {
    MXC_TRY(match_kind(m, ARG, g, label_of, flags));
    MXC_TRY(match_kind(m, AUX, g, NULL, flags));
    return check_left_over(m, flags);
}

/* label_of for match_kind; the caller frees it. */
static mxc_status load_params_find_labels(const mxci_graph *g, int32_t **label_of) {
    *label_of = mxci_calloc((size_t)g->n_args + 1, sizeof **label_of);
    return *label_of ? mxci_graph_find_labels(g, *label_of) : MXCI_NO_MEMORY("parameters", "labels");
}

/* Lists the parameters that belong to a variable. */
static mxc_status list_matched(const matching *m, mxc_ndarray_list *out) {
    out->arrays = mxci_calloc((size_t)m->n + 1, sizeof *out->arrays);
    out->names = mxci_calloc((size_t)m->n + 1, sizeof *out->names);
    if (!out->arrays || !out->names)
        return MXCI_NO_MEMORY("parameters", "the list");
    for (int64_t i = 0; i < m->n; i++) {
        const parameter *p = &m->items[i];
        mxci_text text = {0};
        if (!p->variable)
            continue;
        mxci_text_printf(&text, "%s%s", p->kind == AUX ? "aux:" : "arg:", p->variable);
        MXC_TRY(mxci_text_take(&text, &out->names[out->n]));
        out->arrays[out->n++] = mxc_ndarray_retain(p->array);
    }
    return MXC_OK;
}

mxc_status mxci_params_match(const mxc_symbol *symbol, const mxc_bind_spec *inputs, const mxc_ndarray_list *params,
                             unsigned flags, mxc_ndarray_list *out) {
    matching m;
    mxci_graph *g = NULL;
    int32_t *label_of = NULL;
    *out = (mxc_ndarray_list){.n = 0};
    mxc_status status = matching_open(&m, params, inputs->n, inputs->names);
    if (status == MXC_OK)
        status = mxci_symbol_infer_graph(symbol, inputs->n, inputs->names, inputs->shapes, inputs->types, &g);
    if (status == MXC_OK)
        status = load_params_find_labels(g, &label_of);
    if (status == MXC_OK)
        status = match_graph(&m, g, label_of, flags);
    if (status == MXC_OK)
        status = list_matched(&m, out);
    if (status != MXC_OK)
        mxc_ndarray_list_release(out);
    mxci_free(label_of);
    mxci_graph_destroy(g);
    matching_close(&m);
    return status;
}

/* All arguments without a parameter are noted as missing: the message lists them. */
static mxc_status only_missing(matching *m, const mxci_graph *g, const int32_t *label_of, char **out) {
    const char *found = NULL;
    for (int32_t i = 0; i < g->n_args; i++) {
        const char *name = g->nodes[g->args[i]].name;
        const int64_t before = m->n_missing;
        parameter *p;
        MXC_TRY(load_params_find(m, ARG, name, label_of[i] < 0, &p));
        found = m->n_missing > before ? name : found;
    }
    if (m->n_missing != 1)
        return MXC_FAIL(MXC_EINVAL,
                        "an input has no name, so one argument without a parameter is expected; found %lld%s%s",
                        (long long)m->n_missing, m->n_missing > 0 ? ":" : "", m->missing);
    *out = mxci_strdup(found);
    return *out ? MXC_OK : MXCI_NO_MEMORY("parameters", "a name");
}

mxc_status mxci_params_only_input(const mxc_symbol *symbol, const mxc_ndarray_list *params, int64_t n,
                                  const char *const *others, char **out) {
    matching m;
    mxci_graph *g = NULL;
    int32_t *label_of = NULL;
    *out = NULL;
    mxc_status status = matching_open(&m, params, n, others);
    if (status == MXC_OK)
        status = mxci_graph_from_symbol(symbol, &g);
    if (status == MXC_OK)
        status = load_params_find_labels(g, &label_of);
    if (status == MXC_OK)
        status = only_missing(&m, g, label_of, out);
    mxci_free(label_of);
    mxci_graph_destroy(g);
    matching_close(&m);
    return status;
}

/* ---- binding --------------------------------------------------------------------------------------------------- */

/* What is known of a network's variables: the inputs as given, and the parameters. */
typedef struct known_variables {
    int64_t n;
    const char **names;
    mxc_shape *shapes;
    mxc_dtype *types;
} known_variables;

static mxc_status known_open(known_variables *k, const matching *m, const mxc_bind_spec *spec, unsigned flags) {
    const size_t room = (size_t)(spec->n + m->n + 1);
    *k = (known_variables){spec->n, mxci_calloc(room, sizeof *k->names), mxci_calloc(room, sizeof *k->shapes),
                           mxci_calloc(room, sizeof *k->types)};
    if (!k->names || !k->shapes || !k->types)
        return MXCI_NO_MEMORY("parameters", "known shapes");
    for (int64_t i = 0; i < spec->n; i++) {
        k->names[i] = spec->names[i];
        k->shapes[i] = spec->shapes ? spec->shapes[i] : (mxc_shape){.ndim = -1};
        k->types[i] = spec->types ? spec->types[i] : MXC_DTYPE_UNKNOWN;
    }
    for (int64_t i = 0; i < m->n; i++) {
        const parameter *p = &m->items[i];
        if (!p->variable)
            continue;
        k->names[k->n] = p->variable;
        k->shapes[k->n] = *mxc_ndarray_shape(p->array);
        k->types[k->n++] = flags & MXC_PARAMS_CONVERT ? MXC_DTYPE_UNKNOWN : mxc_ndarray_dtype(p->array);
    }
    return MXC_OK;
}

mxc_status mxc_executor_bind_params(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_bind_spec *spec,
                                    const mxc_ndarray_list *params, unsigned flags, mxc_executor **out) {
    mxc_bind_spec inputs;
    matching m;
    known_variables k = {0};
    mxci_graph *g = NULL;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(params));
    MXC_TRY(mxci_bind_spec_read(spec, &inputs));
    if (inputs.req != MXC_REQ_NULL || inputs.n_no_grad)
        return MXC_FAIL(MXC_EINVAL,
                        "bind_params: binds for inference, without gradients; found request %d and %d names "
                        "without gradient",
                        (int)inputs.req, inputs.n_no_grad);
    inputs.n = inputs.n > 0 ? inputs.n : 0;
    mxc_status status = matching_open(&m, params, inputs.n, inputs.names);
    if (status == MXC_OK)
        status = mxci_symbol_infer_graph(symbol, inputs.n, inputs.names, inputs.shapes, inputs.types, &g);
    if (status == MXC_OK)
        status = match_graph(&m, g, NULL, flags);
    if (status == MXC_OK)
        status = known_open(&k, &m, &inputs, flags);
    if (status == MXC_OK) {
        const mxc_bind_spec all = {
            .size = sizeof all,
            .n = k.n,
            .names = k.names,
            .shapes = k.shapes,
            .types = k.types,
        };
        status = mxc_executor_simple_bind(symbol, options, &all, out);
    }
    if (status == MXC_OK)
        status = mxc_executor_load_params(*out, params, flags, inputs.n, inputs.names);
    if (status != MXC_OK) {
        mxc_executor_destroy(*out);
        *out = NULL;
    }
    mxci_free(k.names);
    mxci_free(k.shapes);
    mxci_free(k.types);
    mxci_graph_destroy(g);
    matching_close(&m);
    return status;
}
