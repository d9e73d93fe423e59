/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols: creation, composition, files, attributes and names. Inference is in infer.c. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "compat/mxnet.h"

mxc_symbol *mxnet_symbol_of(SymbolHandle handle) {
    const mxnet_symbol *symbol = handle;
    if (!symbol)
        mxnet_fail("a symbol's handle is NULL");
    else if (!symbol->symbol)
        mxnet_fail("the symbol has no outputs");
    return symbol ? symbol->symbol : NULL;
}

/* Symbols of n handles, in scratch memory. */
static int read_symbols(uint32_t n, SymbolHandle const *handles, mxc_symbol ***out) {
    *out = mxnet_buffer(MXNET_SLOT_SCRATCH, n, sizeof **out);
    if (!*out)
        return -1;
    if (n > 0)
        MXNET_NEED(handles);
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i] = mxnet_symbol_of(handles[i]);
        if (!(*out)[i])
            return -1;
    }
    return 0;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* Shapes of operators that make arrays: before NumPy's shapes, 0 was an axis that is not known yet, which is -1 now. */
static const char *unknown_axes(const char *op, const char *key, const char *value, char *out, size_t size) {
    static const char *const makers[] = {"_zeros", "_zeros_without_dtype", "_ones", "_full"};
    size_t n = 0;
    int is_maker = 0;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        is_maker |= strcmp(op, makers[i]) == 0;
    if (!is_maker || strcmp(key, "shape") != 0 || mxnet_is_np_shape())
        return value;
    for (const char *at = value; *at && n + 3 < size; at++) {
        int starts = at == value || strchr("([, ", at[-1]);
        if (*at == '0' && starts && !(at[1] >= '0' && at[1] <= '9'))
            n += (size_t)snprintf(out + n, size - n, "-1");
        else
            out[n++] = *at;
    }
    out[n] = '\0';
    return out;
}

int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, uint32_t num_param, const char *const *keys,
                               const char *const *vals, SymbolHandle *out) {
    const mxnet_op *op = creator;
    mxnet_params params;
    mxc_symbol *symbol;
    char shape[256];
    MXNET_NEED(creator);
    MXNET_NEED(out);
    MXNET_CALL(mxnet_op_check(op));
    MXNET_CALL(mxnet_params_read(op, (int)num_param, keys, vals, &params));
    for (int i = 0; i < params.n; i++)
        params.values[i] = unknown_axes(op->mxc_name, params.keys[i], params.values[i], shape, sizeof shape);
    MXNET_TRY(mxc_symbol_atomic(op->mxc_name, params.n, params.keys, params.values, &symbol));
    MXNET_CALL(mxnet_symbol_new(symbol, out));
    mxnet_symbol *handle = *out;
    handle->op = op->mxc_name;
    return 0;
}

int MXSymbolCreateVariable(const char *name, SymbolHandle *out) {
    mxc_symbol *symbol;
    MXNET_NEED(name);
    MXNET_NEED(out);
    MXNET_TRY(mxc_symbol_variable(name, &symbol));
    return mxnet_symbol_new(symbol, out);
}

int MXSymbolCreateGroup(uint32_t num_symbols, SymbolHandle const *symbols, SymbolHandle *out) {
    mxc_symbol *group, **members;
    MXNET_NEED(out);
    MXNET_CALL(read_symbols(num_symbols, symbols, &members));
    MXNET_TRY(mxc_symbol_group((int)num_symbols, members, &group));
    return mxnet_symbol_new(group, out);
}

int MXSymbolCreateFromFile(const char *fname, SymbolHandle *out) {
    mxc_symbol *symbol;
    MXNET_NEED(fname);
    MXNET_NEED(out);
    MXNET_TRY(mxc_symbol_load(fname, &symbol));
    return mxnet_symbol_new(symbol, out);
}

int MXSymbolCreateFromJSON(const char *json, SymbolHandle *out) {
    mxc_symbol *symbol;
    MXNET_NEED(json);
    MXNET_NEED(out);
    MXNET_TRY(mxc_symbol_from_json(json, strlen(json), &symbol));
    return mxnet_symbol_new(symbol, out);
}

int MXSymbolCopy(SymbolHandle symbol, SymbolHandle *out) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    mxc_symbol *copy;
    MXNET_NEED(out);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_copy(from, &copy));
    MXNET_CALL(mxnet_symbol_new(copy, out));
    mxnet_symbol *handle = *out;
    handle->op = ((const mxnet_symbol *)symbol)->op;
    return 0;
}

/* All outputs of a symbol in another handle, so that composing one does not change the other. */
static int share(mxc_symbol *symbol, SymbolHandle *out) {
    mxc_symbol *copy;
    if (!symbol)
        return -1;
    MXNET_TRY(mxc_symbol_group(1, &symbol, &copy));
    return mxnet_symbol_new(copy, out);
}

int MXShallowCopySymbol(SymbolHandle src, SymbolHandle *out) {
    MXNET_NEED(out);
    return share(mxnet_symbol_of(src), out);
}

int MXSymbolFree(SymbolHandle symbol) {
    mxnet_symbol *handle = symbol;
    if (handle)
        mxc_symbol_release(handle->symbol);
    mxnet_free(handle);
    return 0;
}

int NNSymbolFree(SymbolHandle symbol) {
    return MXSymbolFree(symbol);
}

/* How the variables of some operators begin, which front ends read from the attribute __init__. */
static const struct {
    const char *op;
    int64_t input, n_inputs; /* where the operator has so many; 0: however many */
    const char *init;
} initial_values[] = {
    {"BatchNorm", 3, 0, "[\"zero\", {}]"},
    {"BatchNorm", 4, 0, "[\"one\", {}]"},
    {"BatchNorm_v1", 3, 0, "[\"zero\", {}]"},
    {"BatchNorm_v1", 4, 0, "[\"one\", {}]"},
    {"CuDNNBatchNorm", 3, 0, "[\"zero\", {}]"},
    {"CuDNNBatchNorm", 4, 0, "[\"one\", {}]"},
    {"_contrib_SyncBatchNorm", 3, 0, "[\"zero\", {}]"},
    {"_contrib_SyncBatchNorm", 4, 0, "[\"one\", {}]"},
    {"LeakyReLU", 1, 2, "[\"Constant\", {\"value\": 0.25}]"},
    {"UpSampling", 1, 2, "[\"bilinear\", {}]"},
};

/* Set the attribute on an input that is a variable and has none. */
static mxc_status set_initial_value(const mxc_symbol *inputs, int64_t index, const char *init) {
    mxc_symbol *input, *below = NULL;
    MXC_TRY(mxc_symbol_output(inputs, index, &input));
    mxc_status status = mxc_symbol_children(input, &below);
    if (status == MXC_OK && !below && !mxc_symbol_attr(input, "__init__"))
        status = mxc_symbol_set_attr(input, "__init__", init);
    mxc_symbol_release(below);
    mxc_symbol_release(input);
    return status;
}

static mxc_status set_initial_values(const mxc_symbol *symbol, const char *op) {
    mxc_symbol *inputs = NULL;
    mxc_status status = MXC_OK;
    for (size_t i = 0; i < sizeof initial_values / sizeof *initial_values && status == MXC_OK; i++) {
        if (strcmp(initial_values[i].op, op) != 0)
            continue;
        if (!inputs)
            MXC_TRY(mxc_symbol_children(symbol, &inputs));
        int64_t n = mxc_symbol_n_outputs(inputs);
        if (initial_values[i].input < n && (!initial_values[i].n_inputs || initial_values[i].n_inputs == n))
            status = set_initial_value(inputs, initial_values[i].input, initial_values[i].init);
    }
    mxc_symbol_release(inputs);
    return status;
}

/* What a call of an operator was given: the rest of its inputs are variables that composing makes. */
typedef struct given_inputs {
    uint32_t n;
    const char *const *keys; /* NULL: in order */
} given_inputs;

/* Whether input `index` of an operator's node is a variable that composing has made: it has the name of the node, an
 * underscore and that of the argument. */
static int is_made(const given_inputs *given, const char *node, const char *input, int64_t index) {
    const size_t length = node ? strlen(node) : 0;
    if (!length || !input || strncmp(input, node, length) != 0 || input[length] != '_')
        return 0;
    if (!given->keys)
        return index >= given->n;
    for (uint32_t i = 0; i < given->n; i++)
        if (!strcmp(given->keys[i], input + length + 1))
            return 0;
    return 1;
}

/* The attributes and parameters of an operator are those of its new variables, too, as in MXNet. */
static mxc_status copy_attrs(const mxc_names *attrs, mxc_symbol *variable) {
    for (int64_t i = 0; i + 1 < attrs->n; i += 2)
        if (!mxc_symbol_attr(variable, attrs->items[i]))
            MXC_TRY(mxc_symbol_set_attr(variable, attrs->items[i], attrs->items[i + 1]));
    return MXC_OK;
}

static mxc_status describe_input(const mxc_symbol *symbol, const mxc_names *attrs, const given_inputs *given,
                                 const mxc_symbol *inputs, int64_t index) {
    mxc_symbol *input, *below = NULL;
    MXC_TRY(mxc_symbol_output(inputs, index, &input));
    mxc_status status = mxc_symbol_children(input, &below);
    if (status == MXC_OK && !below && is_made(given, mxc_symbol_name(symbol), mxc_symbol_name(input), index))
        status = copy_attrs(attrs, input);
    mxc_symbol_release(below);
    mxc_symbol_release(input);
    return status;
}

static mxc_status describe_inputs(const mxc_symbol *symbol, const given_inputs *given) {
    mxc_symbol *first, *inputs = NULL;
    mxc_names attrs = {0, NULL};
    MXC_TRY(mxc_symbol_output(symbol, 0, &first));
    mxc_status status = mxc_symbol_children(first, &inputs);
    if (status == MXC_OK)
        status = mxc_symbol_list_attrs(first, 0, &attrs);
    const int64_t n = status == MXC_OK && attrs.n ? mxc_symbol_n_outputs(inputs) : 0;
    for (int64_t i = 0; i < n && status == MXC_OK; i++)
        status = describe_input(first, &attrs, given, inputs, i);
    mxc_names_release(&attrs);
    mxc_symbol_release(inputs);
    mxc_symbol_release(first);
    return status;
}

int MXSymbolCompose(SymbolHandle sym, const char *name, uint32_t num_args, const char *const *keys,
                    SymbolHandle const *args) {
    mxc_symbol *symbol = mxnet_symbol_of(sym), **in;
    if (!symbol)
        return -1;
    mxnet_symbol *handle = sym;
    const given_inputs given = {num_args, num_args > 0 ? keys : NULL};
    MXNET_CALL(read_symbols(num_args, args, &in));
    MXNET_TRY(mxc_symbol_compose(symbol, name, (int)num_args, given.keys, in));
    const char *op = handle->op;
    handle->op = NULL;
    if (!op)
        return 0;
    MXNET_TRY(set_initial_values(symbol, op));
    return mxnet_result(describe_inputs(symbol, &given));
}

int NNSymbolCompose(SymbolHandle sym, const char *name, uint32_t num_args, const char *const *keys,
                    SymbolHandle const *args) {
    return MXSymbolCompose(sym, name, num_args, keys, args);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Give back text that libmxc made, and free it. */
static int return_made_text(char *text, const char **out) {
    *out = mxnet_return_text(MXNET_SLOT_TEXT, text);
    mxc_free(text);
    return *out ? 0 : -1;
}

int MXSymbolSaveToFile(SymbolHandle symbol, const char *fname) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    MXNET_NEED(fname);
    return from ? mxnet_result(mxc_symbol_save(from, fname)) : -1;
}

/* Whether the front end has called a function that came after MXNet 0.9.5. */
static atomic_int is_newer;

/* Version 0.9.5 looks for the attributes of nodes under "attr"; later versions read both, and write "attrs". */
static void use_old_key(char *json) {
    static const char key[] = "\n      \"attrs\": {", old[] = "\n      \"attr\": {";
    for (char *at = strstr(json, key); at; at = strstr(at + 1, key)) {
        memcpy(at, old, sizeof old - 1);
        memmove(at + sizeof old - 1, at + sizeof key - 1, strlen(at + sizeof key - 1) + 1);
    }
}

int MXSymbolSaveToJSON(SymbolHandle symbol, const char **out_json) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    char *json;
    MXNET_NEED(out_json);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_to_json(from, &json));
    if (!atomic_load(&is_newer))
        use_old_key(json);
    return return_made_text(json, out_json);
}

int MXSymbolPrint(SymbolHandle symbol, const char **out_str) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    char *text;
    MXNET_NEED(out_str);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_print(from, &text));
    return return_made_text(text, out_str);
}

/* ---- names and attributes ---------------------------------------------------------------------------------------- */

static int return_optional(const char *text, const char **out, int *success) {
    *success = text ? 1 : 0;
    *out = NULL;
    if (text)
        *out = mxnet_return_text(MXNET_SLOT_TEXT, text);
    return text && !*out ? -1 : 0;
}

int MXSymbolGetName(SymbolHandle symbol, const char **out, int *success) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    MXNET_NEED(out);
    MXNET_NEED(success);
    if (!from)
        return -1;
    const char *name = mxc_symbol_name(from);
    mxc_symbol *first;
    if (name || mxc_symbol_n_outputs(from) < 2)
        return return_optional(name, out, success);
    /* All outputs of one node have its name. */
    mxc_names attrs;
    if (mxc_symbol_list_attrs(from, 0, &attrs) != MXC_OK)
        return return_optional(NULL, out, success);
    mxc_names_release(&attrs);
    MXNET_TRY(mxc_symbol_output(from, 0, &first));
    int result = return_optional(mxc_symbol_name(first), out, success);
    mxc_symbol_release(first);
    return result;
}

int MXSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    char index[24];
    MXNET_NEED(key);
    MXNET_NEED(out);
    MXNET_NEED(success);
    if (!from)
        return -1;
    const char *value = mxc_symbol_attr(from, key);
    if (!value && strcmp(key, "_value_index") == 0 && mxc_symbol_output_index(from) >= 0) {
        snprintf(index, sizeof index, "%lld", (long long)mxc_symbol_output_index(from));
        value = index;
    }
    return return_optional(value, out, success);
}

int MXSymbolSetAttr(SymbolHandle symbol, const char *key, const char *value) {
    mxc_symbol *to = mxnet_symbol_of(symbol);
    MXNET_NEED(key);
    MXNET_NEED(value);
    return to ? mxnet_result(mxc_symbol_set_attr(to, key, value)) : -1;
}

/* Keys and values alternately; the number is that of pairs. */
static int list_attrs(SymbolHandle symbol, int deep, uint32_t *out_size, const char ***out) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    mxc_names names;
    MXNET_NEED(out_size);
    MXNET_NEED(out);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_list_attrs(from, deep, &names));
    MXNET_CALL(mxnet_return_names(&names, out_size, out));
    *out_size /= 2;
    return 0;
}

int MXSymbolListAttr(SymbolHandle symbol, uint32_t *out_size, const char ***out) {
    return list_attrs(symbol, 1, out_size, out);
}

int MXSymbolListAttrShallow(SymbolHandle symbol, uint32_t *out_size, const char ***out) {
    return list_attrs(symbol, 0, out_size, out);
}

/* Names that a function of libmxc lists. A symbol without outputs has none. */
static int list_names(SymbolHandle symbol, mxc_status (*list)(const mxc_symbol *, mxc_names *), uint32_t *out_size,
                      const char ***out) {
    const mxnet_symbol *handle = symbol;
    mxc_names names = {0, NULL};
    MXNET_NEED(symbol);
    MXNET_NEED(out_size);
    MXNET_NEED(out);
    if (handle->symbol)
        MXNET_TRY(list(handle->symbol, &names));
    return mxnet_return_names(&names, out_size, out);
}

int MXSymbolListArguments(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array) {
    return list_names(symbol, mxc_symbol_list_arguments, out_size, out_str_array);
}

int MXSymbolListOutputs(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array) {
    return list_names(symbol, mxc_symbol_list_outputs, out_size, out_str_array);
}

int MXSymbolListAuxiliaryStates(SymbolHandle symbol, uint32_t *out_size, const char ***out_str_array) {
    return list_names(symbol, mxc_symbol_list_aux, out_size, out_str_array);
}

static mxc_status list_inputs(const mxc_symbol *symbol, mxc_names *out) {
    mxc_symbol *inputs;
    *out = (mxc_names){0, NULL};
    MXC_TRY(mxc_symbol_inputs(symbol, &inputs));
    mxc_status status = inputs ? mxc_symbol_list_outputs(inputs, out) : MXC_OK;
    mxc_symbol_release(inputs);
    return status;
}

int NNSymbolListInputNames(SymbolHandle symbol, int option, uint32_t *out_size, const char ***out_str_array) {
    if (option == 1)
        return MXSymbolListArguments(symbol, out_size, out_str_array);
    if (option == 2)
        return MXSymbolListAuxiliaryStates(symbol, out_size, out_str_array);
    return list_names(symbol, list_inputs, out_size, out_str_array);
}

/* ---- outputs and inner nodes ------------------------------------------------------------------------------------- */

int MXSymbolGetNumOutputs(SymbolHandle symbol, uint32_t *output_count) {
    const mxnet_symbol *handle = symbol;
    MXNET_NEED(symbol);
    MXNET_NEED(output_count);
    atomic_store(&is_newer, 1);
    *output_count = (uint32_t)mxc_symbol_n_outputs(handle->symbol);
    return 0;
}

int MXSymbolGetOutput(SymbolHandle symbol, uint32_t index, SymbolHandle *out) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    mxc_symbol *output;
    MXNET_NEED(out);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_output(from, index, &output));
    return mxnet_symbol_new(output, out);
}

int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    mxc_symbol *internals;
    MXNET_NEED(out);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_internals(from, &internals));
    return mxnet_symbol_new(internals, out);
}

int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out) {
    const mxc_symbol *from = mxnet_symbol_of(symbol);
    mxc_symbol *children;
    MXNET_NEED(out);
    if (!from)
        return -1;
    MXNET_TRY(mxc_symbol_children(from, &children));
    return mxnet_symbol_new(children, out); /* without outputs for a variable */
}

/* A handle for each output of a group, which is released. */
static int return_outputs(mxc_symbol *group, SymbolHandle **out, int *n) {
    int64_t count = mxc_symbol_n_outputs(group), made = 0;
    SymbolHandle *list = mxnet_buffer(MXNET_SLOT_HANDLES, (size_t)count, sizeof *list);
    int result = list ? 0 : -1;
    for (; made < count && !result; made++) {
        mxc_symbol *output;
        result = mxnet_result(mxc_symbol_output(group, made, &output));
        if (!result)
            result = mxnet_symbol_new(output, &list[made]);
        if (result)
            break;
    }
    mxc_symbol_release(group);
    for (int64_t i = 0; i < made && result; i++)
        MXSymbolFree(list[i]);
    *out = list;
    *n = (int)count;
    return result;
}

int MXSymbolGetInputSymbols(SymbolHandle sym, SymbolHandle **inputs, int *input_size) {
    const mxc_symbol *symbol = mxnet_symbol_of(sym);
    mxc_symbol *group;
    MXNET_NEED(inputs);
    MXNET_NEED(input_size);
    if (!symbol)
        return -1;
    MXNET_TRY(mxc_symbol_inputs(symbol, &group));
    return return_outputs(group, inputs, input_size);
}

/* The subgraph that the front end marked with an attribute, when it built the body of a loop. */
int MXSymbolCutSubgraph(SymbolHandle sym, SymbolHandle **inputs, int *input_size) {
    static const char key[] = "__subgraph_name__";
    mxnet_symbol *handle = sym;
    mxc_symbol *symbol = mxnet_symbol_of(sym), *first, *inside, *outside;
    MXNET_NEED(inputs);
    MXNET_NEED(input_size);
    *input_size = 0;
    if (!symbol)
        return -1;
    MXNET_TRY(mxc_symbol_output(symbol, 0, &first));
    const char *value = mxc_symbol_attr(first, key);
    mxc_status status = value ? mxc_symbol_cut(symbol, key, value, &inside, &outside) : MXC_OK;
    mxc_symbol_release(first);
    MXNET_TRY(status);
    if (!value)
        return 0;
    mxc_symbol_release(symbol);
    handle->symbol = inside;
    return return_outputs(outside, inputs, input_size);
}

/* The operator of a symbol with its parameters and attributes, without name and inputs. */
int MXGenAtomicSymbolFromSymbol(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle) {
    const mxc_symbol *symbol = mxnet_symbol_of(sym_handle);
    const char *op = mxc_symbol_op_name(symbol), **keys;
    mxc_symbol *atomic;
    mxc_names attrs;
    MXNET_NEED(ret_sym_handle);
    if (!symbol)
        return -1;
    const mxc_op_def *def = op ? mxc_op_find(op) : NULL;
    if (!def)
        return mxnet_fail("MXGenAtomicSymbolFromSymbol: the symbol is no result of one operator");
    MXNET_TRY(mxc_symbol_list_attrs(symbol, 0, &attrs));
    keys = mxnet_buffer(MXNET_SLOT_KEYS, (size_t)attrs.n + 1, sizeof *keys);
    for (int64_t i = 0; keys && i < attrs.n; i++)
        keys[i % 2 * (attrs.n / 2) + i / 2] = attrs.items[i];
    mxc_status status =
        keys ? mxc_symbol_atomic(op, (int)(attrs.n / 2), keys, keys + attrs.n / 2, &atomic) : MXC_ENOMEM;
    mxc_names_release(&attrs);
    if (!keys)
        return -1;
    MXNET_TRY(status);
    MXNET_CALL(mxnet_symbol_new(atomic, ret_sym_handle));
    mxnet_symbol *handle = *ret_sym_handle;
    handle->op = def->name; /* op may be the symbol's own memory */
    return 0;
}

/* There are no backends to hand parts of a graph to, and what MXNet's fuse libmxc fuses when it binds: a symbol stays
 * as it is, as in MXNet for a backend that it does not have. */
int MXGenBackendSubgraph(SymbolHandle sym_handle, const char *backend, SymbolHandle *ret_sym_handle) {
    MXNET_NEED(ret_sym_handle);
    MXNET_NEED(backend);
    return share(mxnet_symbol_of(sym_handle), ret_sym_handle);
}

int MXOptimizeForBackend(SymbolHandle sym_handle, const char *backend_name, int dev_type, SymbolHandle *ret_sym_handle,
                         uint32_t args_len, NDArrayHandle const *in_args_handle, uint32_t aux_len,
                         NDArrayHandle const *in_aux_handle, uint32_t num_options, const char *const *keys,
                         const char *const *vals, uint32_t num_input_shapes, const char *const *input_shape_names,
                         const int64_t *input_shape_data, const uint32_t *input_shape_idx, uint32_t num_input_dtypes,
                         const char *const *input_dtype_names, const int *input_dtypes, uint32_t num_input_stypes,
                         const char *const *input_stype_names, const int *input_stypes, bool skip_infer,
                         int *new_args_cnt, NDArrayHandle **new_args_handle, const char ***new_arg_names_handle,
                         int *new_aux_cnt, NDArrayHandle **new_aux_handle, const char ***new_aux_names_handle) {
    MXNET_NEED(ret_sym_handle);
    MXNET_NEED(new_args_cnt);
    MXNET_NEED(new_aux_cnt);
    MXNET_NEED(backend_name);
    /* Nothing changes, so the arrays and what is known of them do not matter, and there are no new ones. */
    (void)dev_type, (void)args_len, (void)in_args_handle, (void)aux_len, (void)in_aux_handle, (void)num_options;
    (void)keys, (void)vals, (void)num_input_shapes, (void)input_shape_names, (void)input_shape_data;
    (void)input_shape_idx, (void)num_input_dtypes, (void)input_dtype_names, (void)input_dtypes, (void)num_input_stypes;
    (void)input_stype_names, (void)input_stypes, (void)skip_infer, (void)new_args_handle, (void)new_arg_names_handle;
    (void)new_aux_handle, (void)new_aux_names_handle;
    *new_args_cnt = *new_aux_cnt = 0;
    return share(mxnet_symbol_of(sym_handle), ret_sym_handle);
}

int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle) {
    const mxc_symbol *symbol = mxnet_symbol_of(sym_handle);
    mxc_symbol *removed;
    MXNET_NEED(ret_sym_handle);
    if (!symbol)
        return -1;
    atomic_store(&is_newer, 1);
    MXNET_TRY(mxc_symbol_remove_amp_casts(symbol, &removed));
    return mxnet_symbol_new(removed, ret_sym_handle);
}

int MXSymbolGrad(SymbolHandle sym, uint32_t num_wrt, const char *const *wrt, SymbolHandle *out) {
    mxc_symbol *symbol = mxnet_symbol_of(sym), *gradient;
    MXNET_NEED(out);
    if (!symbol)
        return -1;
    MXNET_TRY(mxc_symbol_grad(symbol, (int)num_wrt, wrt, &gradient));
    return mxnet_symbol_new(gradient, out);
}
