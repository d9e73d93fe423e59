/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a symbol and parameters to a network that can be bound: see network.h. The parameters are matched with the whole
 * symbol, before outputs are chosen, so that an inner output leaves none of them over; then the symbol is rewritten;
 * then dtypes are inferred, and the parameters converted.
 */
#include "predict/network.h"

#include <string.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sized.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/run/load_params.h"
#include "rewrite/mixed_precision.h"
#include "rewrite/quantize_network.h"
#include "symbol/names.h"

static int is_16_bits(mxc_dtype dtype) {
    return dtype == MXC_F16 || dtype == MXC_BF16;
}

/* ---- options and inputs ------------------------------------------------------------------------------------------ */

void mxc_predictor_options_init(mxc_predictor_options *options, size_t size) {
    static const mxc_predictor_options defaults = {
        .size = sizeof defaults,
        .context = {MXC_CPU, 0},
        .dtype = MXC_DTYPE_UNKNOWN,
    };
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

/* Options with defaults for members that an older caller does not have; NULL: all defaults. */
static mxc_status read_options(const mxc_predictor_options *given, mxc_predictor_options *out) {
    const unsigned flags = MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA | MXC_PARAMS_CONVERT;
    mxc_predictor_options_init(out, sizeof *out);
    if (given)
        MXC_TRY(mxci_sized_read("predictor", "options", "mxc_predictor_options_init", given, out, sizeof *out));
    if (out->n_outputs < 0 || (out->n_outputs > 0 && !out->outputs))
        return MXC_FAIL(MXC_EINVAL, "predictor: options->n_outputs is %d and outputs %s", out->n_outputs,
                        out->outputs ? "has names" : "is NULL");
    if (out->params_flags & ~flags)
        return MXC_FAIL(MXC_EINVAL, "predictor: options->params_flags is %#x, expected mxc_params_flags",
                        out->params_flags);
    if (out->dtype != MXC_DTYPE_UNKNOWN && out->dtype != MXC_F32 && !is_16_bits(out->dtype))
        return MXC_FAIL(MXC_EINVAL, "predictor: options->dtype is %s, expected float16, bfloat16 or float32",
                        mxc_dtype_name(out->dtype));
    if (out->quantize && is_16_bits(out->dtype))
        return MXC_FAIL(MXC_EINVAL, "predictor: options->quantize and dtype %s exclude each other",
                        mxc_dtype_name(out->dtype));
    return MXC_OK;
}

/* The name of an input: where it has none, that of the only argument without a parameter besides the n others. */
static mxc_status take_name(mxci_network *network, const mxc_symbol *symbol, const mxc_ndarray_list *params,
                            const char *name, int64_t n, const char *const *others) {
    char *found;
    if (name)
        return mxci_names_add(&network->inputs, name);
    MXC_TRY(mxci_params_only_input(symbol, params, n, others, &found));
    return mxci_names_give(&network->inputs, found);
}

/* Names and dtypes of the inputs. */
static mxc_status take_inputs(mxci_network *network, const mxc_symbol *symbol, const mxc_ndarray_list *params,
                              int64_t n, const mxc_data_desc *inputs) {
    const char **named = mxci_calloc((size_t)n + 1, sizeof *named);
    int64_t n_named = 0;
    network->types = mxci_calloc((size_t)n + 1, sizeof *network->types);
    mxc_status status = named && network->types ? MXC_OK : MXCI_NO_MEMORY("predictor", "inputs");
    for (int64_t i = 0; i < n && status == MXC_OK; i++)
        if (inputs[i].name)
            named[n_named++] = inputs[i].name;
    for (int64_t i = 0; i < n && status == MXC_OK; i++) {
        status = take_name(network, symbol, params, inputs[i].name, n_named, named);
        network->types[i] = inputs[i].dtype;
        if (status == MXC_OK && mxc_names_find(&network->inputs, network->inputs.items[i]) < i)
            status = MXC_FAIL(MXC_EEXIST, "predictor: the input \"%.100s\" is given twice", network->inputs.items[i]);
        if (status == MXC_OK && inputs[i].dtype != MXC_DTYPE_UNKNOWN && mxc_dtype_size(inputs[i].dtype) == 0)
            status = MXC_FAIL(MXC_EDTYPE, "predictor: input \"%.100s\": %d is no dtype", network->inputs.items[i],
                              (int)inputs[i].dtype);
    }
    mxci_free(named);
    return status;
}

/* ---- choice of outputs ------------------------------------------------------------------------------------------- */

/* Lists outputs of operators, from the last one back, since those before them are seldom meant. */
static mxc_status fail_unknown_output(const mxc_symbol *internals, const char *name) {
    char text[240];
    mxc_names all, some = {.n = 0};
    mxc_status status = mxc_symbol_list_outputs(internals, &all);
    for (int64_t i = all.n - 1; i >= 0 && some.n < 16 && status == MXC_OK; i--)
        if (strstr(all.items[i], "_output"))
            status = mxci_names_add(&some, all.items[i]);
    if (status == MXC_OK)
        status = MXC_FAIL(MXC_ENOTFOUND, "predictor: no node or output is called \"%.100s\"%s", name,
                          mxci_names_candidates(&some, text, sizeof text));
    mxc_names_release(&all);
    mxc_names_release(&some);
    return status;
}

/* The output of that name, or else that of the node of that name. */
static mxc_status find_output(const mxc_symbol *internals, const char *name, mxc_symbol **out) {
    mxci_text text = {0};
    char *output;
    mxc_status status = mxc_symbol_find_output(internals, name, out);
    if (status != MXC_ENOTFOUND)
        return status;
    mxci_text_printf(&text, "%s_output", name);
    MXC_TRY(mxci_text_take(&text, &output));
    status = mxc_symbol_find_output(internals, output, out);
    mxci_free(output);
    return status == MXC_ENOTFOUND ? fail_unknown_output(internals, name) : status;
}

static mxc_status choose_outputs(mxc_symbol *symbol, int n, const char *const *names, mxc_symbol **out) {
    mxc_symbol *internals, **chosen;
    mxc_status status = MXC_OK;
    *out = n == 0 ? mxc_symbol_retain(symbol) : NULL;
    if (n == 0)
        return MXC_OK;
    MXC_TRY(mxc_symbol_internals(symbol, &internals));
    chosen = mxci_calloc((size_t)n, sizeof *chosen);
    if (!chosen)
        status = MXCI_NO_MEMORY("predictor", "outputs");
    for (int i = 0; i < n && status == MXC_OK; i++) {
        status = MXCI_CHECK_NON_NULL(names[i], "predictor: a name in options->outputs");
        if (status == MXC_OK)
            status = find_output(internals, names[i], &chosen[i]);
    }
    if (status == MXC_OK)
        status = mxc_symbol_group(n, chosen, out);
    for (int i = 0; i < n && chosen; i++)
        mxc_symbol_release(chosen[i]);
    mxci_free(chosen);
    mxc_symbol_release(internals);
    return status;
}

/* ---- rewriting --------------------------------------------------------------------------------------------------- */

/* Puts another symbol, with other parameters, in the place of the network's. */
static void replace(mxci_network *network, mxc_ndarray_list *params, mxc_symbol *symbol, mxc_ndarray_list *others) {
    mxc_symbol_release(network->symbol);
    mxc_ndarray_list_release(params);
    network->symbol = symbol;
    *params = *others;
}

static mxc_status rewrite(mxci_network *network, const mxc_predictor_options *options, mxc_ndarray_list *params) {
    mxc_symbol *symbol;
    mxc_ndarray_list others;
    if (options->fold_norms) {
        MXC_TRY(mxci_fold_norms_into_params(network->symbol, params, &symbol, &others));
        replace(network, params, symbol, &others);
    }
    if (options->quantize) {
        mxc_quantize_options quantize = MXC_QUANTIZE_OPTIONS_INIT;
        MXC_TRY(mxci_sized_read("predictor", "options->quantize", "mxc_quantize_options_init", options->quantize,
                                &quantize, sizeof quantize));
        quantize.symbol = network->symbol;
        quantize.params = params;
        MXC_TRY(mxc_quantize(&quantize, &symbol, &others));
        replace(network, params, symbol, &others);
    }
    if (is_16_bits(options->dtype)) {
        const mxci_mixed_precision precision = {
            .dtype = options->dtype,
            .n_fed = (int)network->inputs.n,
            .fed = (const char *const *)network->inputs.items,
        };
        MXC_TRY(mxci_mixed_precision_rewrite(&precision, network->symbol, &symbol));
        mxc_symbol_release(network->symbol);
        network->symbol = symbol;
    }
    return MXC_OK;
}

/* Casts outputs of 16 bits to float32. The arguments stay the same. */
static mxc_status cast_outputs(mxci_network *network, const mxci_graph *g) {
    const char *key = "dtype", *value = "float32";
    const size_t n = (size_t)g->n_outputs;
    mxc_symbol **outputs = mxci_calloc(n, sizeof *outputs), *cast, *all;
    mxc_status status = outputs ? MXC_OK : MXCI_NO_MEMORY("predictor", "outputs");
    for (size_t i = 0; i < n && status == MXC_OK; i++) {
        status = mxc_symbol_output(network->symbol, (int64_t)i, &outputs[i]);
        if (status != MXC_OK || !is_16_bits(g->types[g->outputs[i]]))
            continue;
        status = mxc_symbol_op("Cast", NULL, 1, &key, &value, 1, NULL, &outputs[i], &cast);
        if (status == MXC_OK) {
            mxc_symbol_release(outputs[i]);
            outputs[i] = cast;
        }
    }
    if (status == MXC_OK)
        status = mxc_symbol_group((int)n, outputs, &all);
    if (status == MXC_OK) {
        mxc_symbol_release(network->symbol);
        network->symbol = all;
    }
    for (size_t i = 0; i < n && outputs; i++)
        mxc_symbol_release(outputs[i]);
    mxci_free(outputs);
    return status;
}

/* ---- variables --------------------------------------------------------------------------------------------------- */

/* The parameter called kind ("arg:" or "aux:") and name, as a new reference, or NULL. */
static mxc_status find_param(const mxci_hash_map *by_name, const char *kind, const char *name, mxc_ndarray **out) {
    mxci_text text = {0};
    char *full;
    mxci_text_printf(&text, "%s%s", kind, name);
    MXC_TRY(mxci_text_take(&text, &full));
    *out = mxc_ndarray_retain(mxci_hash_map_get(by_name, full));
    mxci_free(full);
    return MXC_OK;
}

static mxc_status fill_variables(mxci_network *network, const mxci_hash_map *by_name) {
    for (int64_t i = 0; i < network->args.n; i++) {
        network->input_of[i] = mxc_names_find(&network->inputs, network->args.items[i]);
        if (network->input_of[i] < 0)
            MXC_TRY(find_param(by_name, "arg:", network->args.items[i], &network->params[i]));
    }
    for (int64_t i = 0; i < network->aux.n; i++)
        MXC_TRY(find_param(by_name, "aux:", network->aux.items[i], &network->states[i]));
    return MXC_OK;
}

/* Lists the variables of the symbol, with their parameters. */
static mxc_status take_variables(mxci_network *network, const mxc_ndarray_list *params) {
    mxci_hash_map *by_name;
    MXC_TRY(mxc_symbol_list_arguments(network->symbol, &network->args));
    MXC_TRY(mxc_symbol_list_aux(network->symbol, &network->aux));
    network->input_of = mxci_calloc((size_t)network->args.n + 1, sizeof *network->input_of);
    network->params = mxci_calloc((size_t)network->args.n + 1, sizeof *network->params);
    network->states = mxci_calloc((size_t)network->aux.n + 1, sizeof *network->states);
    if (!network->input_of || !network->params || !network->states)
        return MXCI_NO_MEMORY("predictor", "lists of arrays");
    MXC_TRY(mxci_hash_map_create(&by_name));
    mxc_status status = MXC_OK;
    for (int64_t i = 0; i < params->n && status == MXC_OK; i++)
        status = mxci_hash_map_put(by_name, params->names[i], params->arrays[i]);
    if (status == MXC_OK)
        status = fill_variables(network, by_name);
    mxci_hash_map_destroy(by_name);
    return status;
}

/* Converts arrays, those of n variables at nodes of the graph, to the graph's dtypes and the network's context. */
static mxc_status convert(const mxci_network *network, const mxci_graph *g, int32_t n, const int32_t *nodes,
                          mxc_ndarray **arrays) {
    for (int32_t i = 0; i < n; i++) {
        const mxc_dtype dtype = g->types[g->nodes[nodes[i]].first_entry];
        mxc_ndarray *converted;
        if (!arrays[i] || (mxc_ndarray_dtype(arrays[i]) == dtype &&
                           mxc_context_equal(mxc_ndarray_context(arrays[i]), network->context)))
            continue;
        MXC_TRY(mxc_ndarray_copy(arrays[i], network->context, dtype, &converted));
        mxc_ndarray_release(arrays[i]);
        arrays[i] = converted;
    }
    return MXC_OK;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Variables whose shapes are known. */
typedef struct known_shapes {
    int64_t n;
    const char **names;
    mxc_shape *shapes;
    mxc_dtype *types;
} known_shapes;

static void add_known(known_shapes *k, const char *name, const mxc_shape *shape, mxc_dtype type) {
    k->names[k->n] = name;
    k->shapes[k->n] = *shape;
    k->types[k->n++] = type;
}

/* The inputs and the parameters; of the latter no dtypes, since those of the inputs take precedence. Of several
 * variables of one name the first counts. */
static mxc_status known_fill(known_shapes *k, const mxci_network *network, const mxc_shape *shapes) {
    const size_t room = (size_t)(network->args.n + network->aux.n) + 1;
    mxci_hash_map *seen;
    *k = (known_shapes){0, mxci_calloc(room, sizeof *k->names), mxci_calloc(room, sizeof *k->shapes),
                        mxci_calloc(room, sizeof *k->types)};
    if (!k->names || !k->shapes || !k->types)
        return MXCI_NO_MEMORY("predictor", "known shapes");
    MXC_TRY(mxci_hash_map_create(&seen));
    mxc_status status = MXC_OK;
    for (int64_t i = 0; i < network->args.n + network->aux.n && status == MXC_OK; i++) {
        const int is_arg = i < network->args.n;
        const int64_t at = is_arg ? i : i - network->args.n, input = is_arg ? network->input_of[at] : -1;
        const char *name = is_arg ? network->args.items[at] : network->aux.items[at];
        const mxc_ndarray *array = is_arg ? network->params[at] : network->states[at];
        if ((input < 0 && !array) || mxci_hash_map_has(seen, name))
            continue;
        if (input >= 0)
            add_known(k, name, &shapes[input], network->types[input]);
        else
            add_known(k, name, mxc_ndarray_shape(array), MXC_DTYPE_UNKNOWN);
        status = mxci_hash_map_put(seen, name, k);
    }
    mxci_hash_map_destroy(seen);
    return status;
}

/* Dtypes that do not follow are those of the parameters; shapes of inputs that do not follow are those of fallback. */
static mxc_status complete_from_arrays(const mxci_network *network, const mxc_shape *fallback, mxci_graph *g) {
    for (int32_t i = 0; i < g->n_args; i++) {
        const int32_t entry = g->nodes[g->args[i]].first_entry;
        const int64_t input = network->input_of[i];
        if (network->params[i] && g->types[entry] == MXC_DTYPE_UNKNOWN)
            g->types[entry] = mxc_ndarray_dtype(network->params[i]);
        if (input >= 0 && fallback && !mxc_shape_known(&g->shapes[entry]))
            g->shapes[entry] = fallback[input];
    }
    for (int32_t i = 0; i < g->n_aux; i++) {
        mxc_dtype *type = &g->types[g->nodes[g->aux[i]].first_entry];
        if (network->states[i] && *type == MXC_DTYPE_UNKNOWN)
            *type = mxc_ndarray_dtype(network->states[i]);
    }
    return mxci_graph_infer(g);
}

/* What is left is float32. MXC_ESHAPE lists variables of unknown shapes. */
static mxc_status complete_variables(const mxci_graph *g, int32_t n, const int32_t *nodes, mxci_line *unknown) {
    char text[MXC_SHAPE_TEXT];
    for (int32_t i = 0; i < n; i++) {
        const mxci_gnode *node = &g->nodes[nodes[i]];
        mxc_dtype *type = &g->types[node->first_entry];
        const mxc_shape *shape = &g->shapes[node->first_entry];
        *type = *type == MXC_DTYPE_UNKNOWN ? MXC_F32 : *type;
        if (!mxc_shape_known(shape))
            mxci_line_printf(unknown, "%s %.80s %s", unknown->length ? "," : "", node->name,
                             mxc_shape_format(shape, text, sizeof text));
    }
    return unknown->length == 0
               ? MXC_OK
               : MXC_FAIL(MXC_ESHAPE, "predictor: these shapes do not follow from those of the inputs:%s",
                          unknown->data);
}

static mxc_status complete(const mxci_network *network, const mxc_shape *fallback, mxci_graph *g) {
    char text[MXC_ERROR_MAX / 2] = "";
    mxci_line unknown = {text, sizeof text, 0};
    MXC_TRY(complete_from_arrays(network, fallback, g));
    MXC_TRY(complete_variables(g, g->n_args, g->args, &unknown));
    MXC_TRY(complete_variables(g, g->n_aux, g->aux, &unknown));
    return mxci_graph_infer(g);
}

mxc_status mxci_network_infer(const mxci_network *network, const mxc_shape *shapes, const mxc_shape *fallback,
                              mxci_graph **out) {
    known_shapes k;
    *out = NULL;
    mxc_status status = known_fill(&k, network, shapes);
    if (status == MXC_OK)
        status = mxci_symbol_infer_graph(network->symbol, k.n, k.names, k.shapes, k.types, out);
    if (status == MXC_OK)
        status = complete(network, fallback, *out);
    if (status != MXC_OK) {
        mxci_graph_destroy(*out);
        *out = NULL;
    }
    mxci_free(k.names);
    mxci_free(k.shapes);
    mxci_free(k.types);
    return status;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* Matches the parameters with the symbol; *matched gets references. shapes: of the inputs. */
static mxc_status match(mxci_network *network, mxc_symbol *symbol, const mxc_ndarray_list *params, unsigned flags,
                        const mxc_shape *shapes, mxc_ndarray_list *matched) {
    const mxc_bind_spec spec = {
        .size = sizeof spec,
        .n = network->inputs.n,
        .names = (const char *const *)network->inputs.items,
        .shapes = shapes,
        .types = network->types,
    };
    return mxci_params_match(symbol, &spec, params, flags, matched);
}

/* Everything after the inputs are known. */
static mxc_status build(mxci_network *network, mxc_symbol *symbol, const mxc_ndarray_list *params,
                        const mxc_predictor_options *options, const mxc_shape *shapes, mxci_graph **graph) {
    mxc_ndarray_list matched;
    MXC_TRY(match(network, symbol, params, options->params_flags, shapes, &matched));
    mxc_status status = choose_outputs(symbol, options->n_outputs, options->outputs, &network->symbol);
    if (status == MXC_OK)
        status = mxc_symbol_list_outputs(network->symbol, &network->outputs);
    if (status == MXC_OK)
        status = rewrite(network, options, &matched);
    if (status == MXC_OK)
        status = take_variables(network, &matched);
    mxc_ndarray_list_release(&matched);
    MXC_TRY(status);
    MXC_TRY(mxci_network_infer(network, shapes, NULL, graph));
    if (is_16_bits(options->dtype)) {
        MXC_TRY(cast_outputs(network, *graph));
        mxci_graph_destroy(*graph);
        MXC_TRY(mxci_network_infer(network, shapes, NULL, graph));
    }
    MXC_TRY(convert(network, *graph, (*graph)->n_args, (*graph)->args, network->params));
    return convert(network, *graph, (*graph)->n_aux, (*graph)->aux, network->states);
}

mxc_status mxci_network_create(mxc_symbol *symbol, const mxc_ndarray_list *params, int64_t n_inputs,
                               const mxc_data_desc *inputs, const mxc_predictor_options *given, mxci_network **out,
                               mxci_graph **graph) {
    mxc_predictor_options options;
    *out = NULL;
    *graph = NULL;
    MXC_TRY(read_options(given, &options));
    mxci_network *network = mxci_calloc(1, sizeof *network);
    mxc_shape *shapes = mxci_calloc((size_t)n_inputs + 1, sizeof *shapes);
    mxc_status status = network && shapes ? MXC_OK : MXCI_NO_MEMORY("predictor", "a network");
    if (network) {
        atomic_init(&network->refs, 1);
        network->context = options.context;
        network->releases_params = options.release_params != 0;
    }
    for (int64_t i = 0; i < n_inputs && shapes; i++)
        shapes[i] = inputs[i].shape;
    if (status == MXC_OK)
        status = mxci_constant_cache_create(&network->constants);
    if (status == MXC_OK)
        status = take_inputs(network, symbol, params, n_inputs, inputs);
    if (status == MXC_OK)
        status = build(network, symbol, params, &options, shapes, graph);
    mxci_free(shapes);
    if (status == MXC_OK) {
        *out = network;
        return MXC_OK;
    }
    mxci_graph_destroy(*graph);
    *graph = NULL;
    mxci_network_release(network);
    return status;
}

mxci_network *mxci_network_retain(mxci_network *network) {
    atomic_fetch_add(&network->refs, 1);
    return network;
}

void mxci_network_release(mxci_network *network) {
    if (!network || atomic_fetch_sub(&network->refs, 1) > 1)
        return;
    for (int64_t i = 0; i < network->args.n && network->params; i++)
        mxc_ndarray_release(network->params[i]);
    for (int64_t i = 0; i < network->aux.n && network->states; i++)
        mxc_ndarray_release(network->states[i]);
    mxci_free(network->params);
    mxci_free(network->states);
    mxci_free(network->input_of);
    mxci_free(network->types);
    mxc_names_release(&network->inputs);
    mxc_names_release(&network->outputs);
    mxc_names_release(&network->args);
    mxc_names_release(&network->aux);
    mxc_symbol_release(network->symbol);
    mxci_constant_cache_release(network->constants);
    mxci_free(network);
}
