/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_op: a descriptor with parsed parameters, and what follows from them: numbers and names of slots, and the arrays
 * that backward reads. One block of memory holds the struct, the parameters and the given texts. */
#include "operator/op.h"

#include <stdatomic.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include <mxc/op.h>

#include "base/check.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/registry.h"

enum { MAX_VARIADIC = 1 << 20 };

struct mxc_op {
    atomic_int refs;
    const mxc_op_def *def;
    const char *name; /* the descriptor's, or "Custom" */
    int is_open;      /* params_open has made the parameters, so that params_close must be called */
    int n_args, n_outputs, n_visible, n_aux;
    mxc_op_needs needs;
    _Atomic(void *) spare; /* mxci_op_take_spare */
    int n_given;
    const char **given;                           /* key, value, key, value... inside this block */
    _Alignas(max_align_t) unsigned char params[]; /* param_size bytes, then given, then their text */
};

/* ---- making ---------------------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes) {
    return (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

static size_t text_bytes(int n, const char *const *keys, const char *const *values) {
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += strlen(keys[i]) + strlen(values[i]) + 2;
    return bytes;
}

/* Copies a string to *to, which moves behind it. */
static const char *copy_text(char **to, const char *from) {
    char *start = *to;
    size_t bytes = strlen(from) + 1;
    memcpy(start, from, bytes);
    *to += bytes;
    return start;
}

/* The parameters are zeroed; given texts are copied behind them. */
static mxc_op *alloc_op(const mxc_op_def *def, const char *name, int n, const char *const *keys,
                        const char *const *values) {
    size_t params = round_up(def->param_size), pointers = 2 * (size_t)n * sizeof(char *);
    mxc_op *op = mxci_calloc(1, sizeof *op + params + pointers + text_bytes(n, keys, values));
    char *text;
    if (!op)
        return NULL;
    atomic_init(&op->refs, 1);
    atomic_init(&op->spare, NULL);
    op->def = def;
    op->name = name;
    op->n_given = n;
    op->given = (const char **)(void *)(op->params + params);
    text = (char *)op->params + params + pointers;
    for (int i = 0; i < n; i++) {
        op->given[2 * i] = copy_text(&text, keys[i]);
        op->given[2 * i + 1] = copy_text(&text, values[i]);
    }
    return op;
}

/* The value of the parameter that counts a variadic operator's arguments. */
static int64_t variadic_count(const mxc_op_def *def, const void *params) {
    for (const mxc_param *p = def->params; p->name; p++)
        if (!strcmp(p->name, def->variadic)) {
            int64_t count;
            memcpy(&count, (const char *)params + p->offset, sizeof count);
            return count;
        }
    return -1;
}

/* The names of the arguments; NULL: arg0, arg1, ... for a variadic operator, else one argument, data. */
static const char *arg_names(const mxc_op *op) {
    return op->def->args_of ? op->def->args_of(op->params) : op->def->args;
}

/* By the descriptor's function, its names, or the parameter that counts a variadic operator's arguments. */
static mxc_status op_count_args(mxc_op *op) {
    const mxc_op_def *def = op->def;
    int64_t count;
    if (def->variadic && arg_names(op)) {
        op->n_args = mxci_list_count(arg_names(op));
        return MXC_OK;
    }
    if (!def->variadic) {
        int names = def->args ? mxci_list_count(def->args) : 1;
        op->n_args = def->n_args ? def->n_args(op->params) : names;
        return MXC_OK;
    }
    count = variadic_count(def, op->params);
    if (count < 0 || count > MAX_VARIADIC)
        return MXC_FAIL(MXC_EINVAL, "%s: %s is %lld, expected 0 to %d", def->name, def->variadic, (long long)count,
                        MAX_VARIADIC);
    op->n_args = (int)count;
    return MXC_OK;
}

/* Checks the parsed parameters and computes what depends on them. */
static mxc_status op_complete(mxc_op *op) {
    const mxc_op_def *def = op->def;
    if (def->params_check)
        MXC_TRY(def->params_check(op->params));
    MXC_TRY(op_count_args(op));
    op->n_outputs = def->n_outputs ? def->n_outputs(op->params) : def->outputs ? mxci_list_count(def->outputs) : 1;
    op->n_visible = def->n_visible ? def->n_visible(op->params) : op->n_outputs;
    op->n_aux = def->n_aux ? def->n_aux(op->params) : mxci_list_count(def->aux);
    op->needs = def->needs;
    if (def->backward_needs)
        def->backward_needs(op->params, &op->needs);
    MXCI_ASSERT(op->n_args >= 0 && op->n_outputs >= 1 && op->n_visible >= 1 && op->n_visible <= op->n_outputs);
    return MXC_OK;
}

/* A descriptor by name; the error lists similar names. */
static mxc_status find_def(const char *name, const mxc_op_def **out) {
    char similar[200];
    MXC_TRY(mxci_registry_start());
    *out = mxc_op_find(name);
    if (*out)
        return MXC_OK;
    mxci_registry_suggest(name ? name : "", similar, sizeof similar);
    return MXC_FAIL(MXC_ENOTFOUND, "no operator is called '%s'%s", name ? name : "(NULL)", similar);
}

static mxc_status parse(mxc_op *op, int n, const char *const *keys, const char *const *values) {
    const mxc_op_def *def = op->def;
    if (!def->params_open && !def->params_open_of)
        return mxc_params_parse(def->name, def->params, n, keys, values, op->params);
    MXC_TRY(def->params_open ? def->params_open(n, keys, values, op->params)
                             : def->params_open_of(def, n, keys, values, op->params));
    op->is_open = 1;
    return MXC_OK;
}

/* ---- Custom: the operator that its parameter op_type names, with the other parameters ---- */

static const char *const op_type = "op_type";

/* The operator that op_type names must have callbacks, as MXNet's Custom operators do. */
static mxc_status find_custom(int n, const char *const *keys, const char *const *values, const mxc_op_def **out) {
    const char *type = NULL;
    for (int i = 0; i < n; i++)
        if (!strcmp(keys[i], op_type))
            type = values[i];
    if (!type)
        return MXC_FAIL(MXC_EINVAL, "Custom: the parameter op_type is missing, which names the operator; found %s",
                        n ? keys[0] : "none");
    *out = mxc_op_find(type);
    if (!*out)
        return MXC_FAIL(MXC_ENOTFOUND,
                        "Custom: no operator is registered as op_type '%s': register the program's own "
                        "with mxc_op_register, flag MXC_OP_CALLBACK, before the symbol is made or read",
                        type);
    if (!((*out)->flags & MXC_OP_CALLBACK))
        return MXC_FAIL(MXC_EINVAL, "Custom: op_type '%s' is an operator, but none with callbacks", type);
    return MXC_OK;
}

/* All parameters but op_type, for the operator that it names. */
static mxc_status parse_custom(mxc_op *op, int n, const char *const *keys, const char *const *values) {
    const char **rest = mxci_alloc(2 * (size_t)n * sizeof *rest);
    mxc_status status;
    int kept = 0;
    if (!rest)
        return MXC_FAIL(MXC_ENOMEM, "%s: out of memory for %d parameters", op->def->name, n);
    for (int i = 0; i < n; i++)
        if (strcmp(keys[i], op_type)) {
            rest[kept] = keys[i];
            rest[n + kept++] = values[i];
        }
    status = parse(op, kept, rest, rest + n);
    mxci_free(rest);
    return status;
}

/* A failure after the parameters are parsed releases the operator, so that params_close runs. */
mxc_status mxci_op_create_with_subgraphs(const char *name, int n_params, const char *const *keys,
                                         const char *const *values, int n_subgraphs,
                                         struct mxc_symbol *const *subgraphs, mxc_op **out) {
    const mxc_op_def *def;
    int is_custom;
    mxc_status status;
    mxc_op *op;
    MXC_TRY(find_def(name, &def));
    is_custom = def == &mxci_op_custom;
    if (is_custom)
        MXC_TRY(find_custom(n_params, keys, values, &def));
    op = alloc_op(def, is_custom ? mxci_op_custom.name : def->name, n_params, keys, values);
    if (!op)
        return MXC_FAIL(MXC_ENOMEM, "%s: out of memory for the operator's parameters", def->name);
    if (n_subgraphs > 0 && n_subgraphs == def->n_subgraphs)
        memcpy(op->params, subgraphs, (size_t)n_subgraphs * sizeof *subgraphs);
    status = (is_custom ? parse_custom : parse)(op, n_params, keys, values);
    if (status == MXC_OK)
        status = op_complete(op);
    if (status == MXC_OK)
        *out = op;
    else
        mxc_op_release(op);
    return status;
}

mxc_status mxc_op_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                         mxc_op **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    return mxci_op_create_with_subgraphs(name, n_params, keys, values, 0, NULL, out);
}

struct mxc_symbol *mxci_op_subgraph(const mxc_op *op, int index) {
    struct mxc_symbol *subgraph = NULL;
    if (index < op->def->n_subgraphs)
        memcpy(&subgraph, op->params + (size_t)index * sizeof subgraph, sizeof subgraph);
    return subgraph;
}

/* keys and values are the two halves of one block, each with room for one more entry. */
mxc_status mxci_op_like(const mxc_op *of, const char *name, const char *key, const char *value, mxc_op **out) {
    const int n = of->n_given;
    const char **keys = mxci_calloc(2 * (size_t)n + 2, sizeof *keys), **values = keys + n + 1;
    mxc_status status;
    int kept = 0;
    *out = NULL;
    if (!keys)
        return MXC_FAIL(MXC_ENOMEM, "%s: out of memory for %d parameters", name, n);
    for (int i = 0; i < n; i++) {
        mxc_op_given(of, i, &keys[kept], &values[kept]);
        kept += !key || strcmp(keys[kept], key) != 0;
    }
    keys[kept] = key;
    values[kept] = value;
    status = mxc_op_create(name, kept + (value != NULL), keys, values, out);
    mxci_free(keys);
    return status;
}

/* ---- what passes ask ----------------------------------------------------------------------------------------- */

int mxci_op_get_elementwise(const mxc_op *op, mxc_elementwise *out) {
    return op->def->elementwise && op->def->elementwise(op, out);
}

int mxci_op_get_rectifier(const mxc_op *op, mxc_epilogue *out) {
    mxc_elementwise f;
    if (op->def->rectifier)
        return op->def->rectifier(op, out);
    *out = (mxc_epilogue){.slope = 0, .limit = INFINITY};
    return mxci_op_get_elementwise(op, &f) && f.scalar == MXC_SCALAR_NONE && !strcmp(f.function, "relu");
}

int mxci_op_get_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    return op->def->channels_last && op->def->channels_last(op, ndim, out);
}

/* The same axis when channels are moved behind the spatial axes. */
static int moved_axis(int64_t axis, int ndim) {
    axis += axis < 0 ? ndim : 0;
    return (int)(axis == 0 ? 0 : axis == 1 ? ndim - 1 : axis - 1);
}

int mxci_axis_channels_last(const char *key, int64_t axis, int ndim, mxc_channels_last *out) {
    *out = (mxc_channels_last){.key = key};
    mxci_format(out->value, sizeof out->value, "%d", moved_axis(axis, ndim));
    return 1;
}

int mxci_axes_channels_last(const char *key, const mxc_tuple *axes, int ndim, mxc_channels_last *out) {
    *out = (mxc_channels_last){.key = axes->n > 0 ? key : NULL};
    for (int i = 0, n = 0; i < axes->n && n < (int)sizeof out->value; i++)
        n += mxci_format(out->value + n, sizeof out->value - (size_t)n, "%s%d%s", i == 0 ? "(" : ",",
                         moved_axis(axes->value[i], ndim), i == axes->n - 1 ? ")" : "");
    return 1;
}

int mxci_op_get_quantized(const mxc_op *op, mxc_quantized *out) {
    return op->def->quantized && op->def->quantized(op, out);
}

int mxci_op_get_linear(const mxc_op *op, mxc_linear *out) {
    return op->def->linear && op->def->linear(op, out);
}

int mxci_op_get_norm(const mxc_op *op, int ndim, mxc_norm *out) {
    return op->def->norm && op->def->norm(op, ndim, out);
}

const mxc_inplace *mxci_op_get_inplace(const mxc_op *op, mxc_pass pass) {
    if (op->def->inplace)
        return op->def->inplace(op, pass);
    return pass == MXC_FORWARD ? op->def->inplace_forward : op->def->inplace_backward;
}

mxc_op *mxc_op_retain(mxc_op *op) {
    if (!op)
        return NULL;
    atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed);
    return op;
}

/* The spare block is a plain block of memory: what it refers to was released when it was kept. */
void mxc_op_release(mxc_op *op) {
    if (!MXCI_MAY_RELEASE(op) || atomic_fetch_sub_explicit(&op->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (op->is_open && op->def->params_close)
        op->def->params_close(op->params);
    mxci_free(mxci_op_take_spare(op));
    mxci_free_object(op);
}

void *mxci_op_take_spare(mxc_op *op) {
    return atomic_exchange_explicit(&op->spare, NULL, memory_order_acquire);
}

void mxci_op_keep_spare(mxc_op *op, void *block) {
    mxci_free(atomic_exchange_explicit(&op->spare, block, memory_order_acq_rel));
}

int mxci_op_set_floats(mxc_op *op, const char *name, const mxc_floats *value) {
    if (atomic_load_explicit(&op->refs, memory_order_acquire) != 1)
        return 0;
    for (const mxc_param *p = op->def->params; p && p->name; p++)
        if (p->type == MXC_PARAM_FLOATS && !strcmp(p->name, name)) {
            memcpy(op->params + p->offset, value, sizeof *value);
            return 1;
        }
    return 0;
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

const mxc_op_def *mxc_op_get_def(const mxc_op *op) {
    if (!op)
        return NULL;
    return op->def;
}

const char *mxc_op_name(const mxc_op *op) {
    if (!op)
        return NULL;
    return op->name;
}

const void *mxc_op_params(const mxc_op *op) {
    if (!op)
        return NULL;
    return op->params;
}

int mxc_op_n_given(const mxc_op *op) {
    if (!op)
        return 0;
    return op->n_given;
}

void mxc_op_given(const mxc_op *op, int index, const char **key, const char **value) {
    int is_there = op && index >= 0 && index < op->n_given;
    if (key)
        *key = is_there ? op->given[2 * index] : NULL;
    if (value)
        *value = is_there ? op->given[2 * index + 1] : NULL;
}

int mxc_op_n_args(const mxc_op *op) {
    if (!op)
        return 0;
    return op->n_args;
}

int mxc_op_n_outputs(const mxc_op *op) {
    if (!op)
        return 0;
    return op->n_outputs;
}

int mxc_op_n_visible(const mxc_op *op) {
    if (!op)
        return 0;
    return op->n_visible;
}

int mxc_op_n_aux(const mxc_op *op) {
    if (!op)
        return 0;
    return op->n_aux;
}

/* Of an operator whose inputs come in groups. */
static int states_per_output(const mxc_op *op) {
    return op->n_aux / op->n_outputs;
}

/* Item `index` of a list of names; beyond the list the fallback with a number. */
static const char *slot_name(const char *list, const char *fallback, int index, char *out, size_t size) {
    if (!mxci_list_item(list ? list : fallback, index, out, size) && size)
        snprintf(out, size, "%s%d", fallback, index);
    return out;
}

/* Name i of a list that names the arrays of one group, with the number of the group. */
static const char *group_name(const char *list, int i, int group, char *out, size_t size) {
    char name[64];
    if (size && mxci_list_item(list, i, name, sizeof name))
        mxci_format(out, size, "%s_%d", name, group);
    return out;
}

const char *mxc_op_arg_name(const mxc_op *op, int index, char *out, size_t size) {
    if (!op || !out)
        return mxci_empty_text(out, size);
    const char *names = arg_names(op);
    const int each = op->def->args_per_output, grouped = each * op->n_outputs;
    if (index < grouped)
        return group_name(names, index % each, index / each, out, size);
    if (each > 0)
        return slot_name(names, "data", each + index - grouped, out, size);
    if (names || !op->def->variadic)
        return slot_name(names, "data", index, out, size);
    if (size)
        snprintf(out, size, "arg%d", index);
    return out;
}

const char *mxc_op_output_name(const mxc_op *op, int index, char *out, size_t size) {
    const char *names;
    if (!op || !out)
        return mxci_empty_text(out, size);
    names = op->def->outputs_of ? op->def->outputs_of(op->params) : op->def->outputs;
    if (names || op->n_outputs == 1)
        return slot_name(names, "output", index, out, size);
    if (size)
        snprintf(out, size, "output%d", index);
    return out;
}

const char *mxc_op_aux_name(const mxc_op *op, int index, char *out, size_t size) {
    if (!op || !out)
        return mxci_empty_text(out, size);
    if (op->def->args_per_output > 0 && op->def->aux) {
        const int each = states_per_output(op);
        return group_name(op->def->aux, index % each, index / each, out, size);
    }
    return slot_name(op->def->aux_of ? op->def->aux_of(op->params) : op->def->aux, "aux", index, out, size);
}

int mxc_op_input_index(const mxc_op *op, int position) {
    if (!op || op->def->args_per_output == 0)
        return position;
    const int args = op->def->args_per_output, states = states_per_output(op), each = args + states;
    const int group = position / each, i = position % each;
    if (group < op->n_outputs)
        return i < args ? group * args + i : op->n_args + group * states + i - args;
    position -= states * op->n_outputs; /* behind the groups: the arguments, then the states */
    return position < op->n_args ? position : position + states * op->n_outputs;
}

void mxc_op_get_needs(const mxc_op *op, mxc_op_needs *out) {
    if (out)
        *out = op ? op->needs : (mxc_op_needs){0};
}

/* Slots from 63 on share the last bit of the mask. */
int mxc_need_has(uint64_t mask, int slot) {
    return (int)(mask >> (slot < 63 ? slot : 63) & 1);
}
