/* SPDX-License-Identifier: Apache-2.0 */
/* What operators take, as front ends make functions of it: names and types of inputs and parameters. */
#include <string.h>

#include "compat/mxnet.h"

enum { TYPE_TEXT = 512 };

/* Each list has n entries, inputs first. */
typedef struct mxnet_op_info {
    int n, n_inputs;
    const char **names, **types, **docs;
} mxnet_op_info;

static int add_argument(mxnet_op_info *info, const char *name, size_t bytes, const char *type, const char *doc) {
    char *copy = mxnet_alloc(bytes + 1, 1);
    info->types[info->n] = mxnet_copy_text(type);
    info->docs[info->n] = mxnet_copy_text(doc ? doc : "");
    if (!copy || !info->types[info->n] || !info->docs[info->n])
        return -1;
    memcpy(copy, name, bytes);
    info->names[info->n++] = copy;
    return 0;
}

/* Text from..to-1 of a list is an input; "data[]" any number of them. */
static int add_input(mxnet_op_info *info, const char *name, size_t bytes) {
    const int many = bytes > 2 && name[bytes - 1] == ']';
    return add_argument(info, name, many ? bytes - 2 : bytes, many ? "NDArray-or-Symbol[]" : "NDArray-or-Symbol", "");
}

/* The names of a list "data,weight". */
static int add_inputs(mxnet_op_info *info, const char *names) {
    while (names && *names) {
        size_t bytes = strcspn(names, ",");
        MXNET_CALL(add_input(info, names, bytes));
        names += bytes + (names[bytes] == ',');
    }
    return 0;
}

static int count_names(const char *names) {
    int n = names && *names;
    for (; names && *names; names++)
        n += *names == ',';
    return n;
}

/* Where MXNet lists inputs and parameters in other ways than libmxc. */
static const struct signature {
    const char *name, *inputs, *params;
} signatures[] = {
#define SIGNATURE(name, inputs, params) {name, inputs, params},
#include "compat/op_signatures.def"
#undef SIGNATURE
};

static struct signature find_signature(const mxnet_op *op) {
    const struct signature none = {"", "", ""};
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (!strcmp(signatures[i].name, op->mxc_name) || !strcmp(signatures[i].name, op->name))
            return signatures[i];
    return none;
}

/* Inputs of an operator, the auxiliary states among them. */
static int describe_inputs(const mxc_op_def *def, const char *names, mxnet_op_info *info) {
    if (*names)
        return add_inputs(info, names);
    if (!def || def->variadic || def->args_per_output)
        return add_inputs(info, "data[]");
    MXNET_CALL(add_inputs(info, def->args || def->n_args ? def->args : "data"));
    return add_inputs(info, def->aux);
}

static int describe_param(mxnet_op_info *info, const mxc_param *p) {
    char type[TYPE_TEXT];
    return add_argument(info, p->name, strlen(p->name), mxc_param_describe(p, type, sizeof type), p->doc);
}

static const mxc_param *find_param(const mxc_op_def *def, const char *name, size_t bytes) {
    const mxc_param *p = def->params;
    while (p && p->name && (strlen(p->name) != bytes || strncmp(p->name, name, bytes) != 0))
        p++;
    return p && p->name ? p : NULL;
}

static int is_listed(const mxnet_op_info *info, const char *name) {
    for (int i = info->n_inputs; i < info->n; i++)
        if (!strcmp(info->names[i], name))
            return 1;
    return 0;
}

/* Those of a list first. */
static int describe_params(const mxc_op_def *def, const char *first, mxnet_op_info *info) {
    while (*first) {
        size_t bytes = strcspn(first, ",");
        const mxc_param *p = find_param(def, first, bytes);
        MXNET_CALL(p ? describe_param(info, p) : add_argument(info, first, bytes, "string, optional", ""));
        first += bytes + (first[bytes] == ',');
    }
    for (const mxc_param *p = def ? def->params : NULL; p && p->name; p++)
        if (!is_listed(info, p->name))
            MXNET_CALL(describe_param(info, p));
    return 0;
}

static mxnet_op_info *describe(const mxnet_op *op) {
    const mxc_op_def *def = op->def;
    const struct signature signature = find_signature(op);
    mxnet_op_info *info = mxnet_alloc(1, sizeof *info);
    int limit = 2 + count_names(signature.inputs) + count_names(signature.params);
    if (def)
        limit += count_names(def->args) + count_names(def->aux);
    for (const mxc_param *p = def ? def->params : NULL; p && p->name; p++)
        limit++;
    if (!info)
        return NULL;
    info->names = mxnet_alloc((size_t)limit, sizeof *info->names);
    info->types = mxnet_alloc((size_t)limit, sizeof *info->types);
    info->docs = mxnet_alloc((size_t)limit, sizeof *info->docs);
    if (!info->names || !info->types || !info->docs || describe_inputs(def, signature.inputs, info))
        return NULL;
    info->n_inputs = info->n;
    return describe_params(def, signature.params, info) ? NULL : info;
}

static const mxnet_op_info *get_info(mxnet_op *op) {
    const mxnet_op_info *info;
    mxnet_lock();
    if (!op->info)
        op->info = describe(op);
    info = op->info;
    mxnet_unlock();
    return info;
}

const char *mxnet_op_count_key(const mxnet_op *op) {
    const char *inputs = find_signature(op).inputs;
    if (op->def && op->def->variadic)
        return op->def->variadic;
    return op->def && strstr(inputs, "[]") && find_param(op->def, "num_args", strlen("num_args")) ? "num_args" : "";
}

int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char **name, const char **description,
                                uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                                const char ***arg_descriptions, const char **key_var_num_args,
                                const char **return_type) {
    mxnet_op *op = creator;
    const mxnet_op_info *info;
    MXNET_NEED(op);
    info = get_info(op);
    if (!info)
        return -1;
    *name = op->name;
    *description = op->def ? op->def->doc ? op->def->doc : "" : "Not supported by libmxc.";
    *num_args = (uint32_t)info->n;
    *arg_names = info->names;
    *arg_type_infos = info->types;
    *arg_descriptions = info->docs;
    *key_var_num_args = mxnet_op_count_key(op);
    if (return_type)
        *return_type = "";
    return 0;
}

int NNGetOpInfo(OpHandle op, const char **name, const char **description, uint32_t *num_doc_args,
                const char ***arg_names, const char ***arg_type_infos, const char ***arg_descriptions,
                const char **return_type) {
    const char *key;
    return MXSymbolGetAtomicSymbolInfo(op, name, description, num_doc_args, arg_names, arg_type_infos, arg_descriptions,
                                       &key, return_type);
}
