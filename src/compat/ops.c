/* SPDX-License-Identifier: Apache-2.0 */
/* The operators by the names that front ends know: all names of libmxc's registry, and those of MXNet's operators that
 * it has not, which fail when they are called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/custom_op.h"
#include "compat/mxnet.h"
#include "compat/sparse.h"

/* Made once, sorted by name, and kept until the process ends. */
static struct {
    mxnet_op *ops;
    const char **names;
    AtomicSymbolCreator *handles;
    uint32_t n;
    int is_made;
} list;

static const char *const refused_names[] = {
#define REFUSED_OP(name) name,
#include "compat/refused_ops.def"
#undef REFUSED_OP
};

static const char *const python_ops[] = {"_NDArray", "_Native"};

enum {
    N_REFUSED = sizeof refused_names / sizeof *refused_names,
    N_PYTHON_OPS = sizeof python_ops / sizeof *python_ops
};

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const mxnet_op *)a)->name, ((const mxnet_op *)b)->name);
}

static uint32_t count_aliases(const mxc_op_def *def) {
    uint32_t n = 0;
    for (const char *at = def->aliases; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        n++;
    return n;
}

static const char sparse[] = "_sparse_";

static int is_cast_storage(const char *name) {
    return strcmp(name, "cast_storage") == 0 || strcmp(name, "_sparse_cast_storage") == 0;
}

/* MXNet 0.9.5 gave the names _sample_<distribution> to the generators without inputs, which are _random_<distribution>
 * since then. */
static const char *name_in_version(const char *name) {
    static const char *const changed[] = {"uniform", "normal", "gamma", "exponential", "poisson"};
    static const char *const now[] = {"_random_uniform", "_random_normal", "_random_gamma", "_random_exponential",
                                      "_random_poisson"};
    static const char prefix[] = "_sample_";
    if (mxnet_is_version_1() || strncmp(name, prefix, strlen(prefix)))
        return name;
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        if (!strcmp(name + strlen(prefix), changed[i]))
            return now[i];
    return name;
}

/* Adds the operator of a name unless libmxc's registry has none of it. The text is kept. */
static void add_name(const char *name) {
    mxnet_op *op = &list.ops[list.n++];
    op->name = name;
    op->def = mxc_op_find(name_in_version(name));
    if (!op->def && !strncmp(name, sparse, strlen(sparse)))
        op->def = mxc_op_find(name + strlen(sparse)); /* on dense arrays they do the same */
    if (is_cast_storage(name))
        op->def = mxc_op_find("_copy"); /* arrays are dense, whatever the front end has them for */
    if (mxnet_is_python_op(name))
        op->def = mxc_op_find("Custom");
    op->mxc_name = op->def ? op->def->name : name;
}

static int add_aliases(const mxc_op_def *def) {
    char *text, *end;
    if (!def->aliases || !*def->aliases)
        return 0;
    text = mxnet_copy_text(def->aliases);
    if (!text)
        return -1;
    for (; text; text = end) {
        end = strchr(text, ',');
        if (end)
            *end++ = '\0';
        add_name(text);
    }
    return 0;
}

/* A name twice in a row goes. */
static void sort_names(void) {
    uint32_t kept = 0;
    qsort(list.ops, list.n, sizeof *list.ops, by_name);
    for (uint32_t i = 0; i < list.n; i++)
        if (!kept || strcmp(list.ops[kept - 1].name, list.ops[i].name))
            list.ops[kept++] = list.ops[i];
    list.n = kept;
    for (uint32_t i = 0; i < list.n; i++) {
        list.names[i] = list.ops[i].name;
        list.handles[i] = &list.ops[i];
    }
}

static int make_list(void) {
    uint32_t n = N_REFUSED + N_PYTHON_OPS;
    for (int i = 0; i < mxc_op_count(); i++)
        n += 1 + count_aliases(mxc_op_at(i));
    list.ops = mxnet_alloc(n, sizeof *list.ops);
    list.names = mxnet_alloc(n, sizeof *list.names);
    list.handles = mxnet_alloc(n, sizeof *list.handles);
    if (!list.ops || !list.names || !list.handles)
        return -1;
    for (int i = 0; i < mxc_op_count(); i++) {
        const mxc_op_def *def = mxc_op_at(i);
        if (def->flags & MXC_OP_HIDDEN)
            continue;
        add_name(def->name);
        MXNET_CALL(add_aliases(def));
    }
    for (size_t i = 0; i < N_REFUSED; i++)
        add_name(refused_names[i]);
    for (size_t i = 0; i < N_PYTHON_OPS; i++)
        add_name(python_ops[i]);
    sort_names();
    return 0;
}

/* The list is made by the first call. */
static int start(void) {
    int result = 0;
    mxnet_lock();
    if (!list.is_made) {
        result = make_list();
        list.is_made = !result;
    }
    mxnet_unlock();
    return result;
}

static mxnet_op *find(const char *name) {
    mxnet_op key = {.name = name};
    return name ? bsearch(&key, list.ops, list.n, sizeof *list.ops, by_name) : NULL;
}

const mxnet_op *mxnet_op_find(const char *name) {
    mxnet_op *op = start() ? NULL : find(name);
    if (!op && list.is_made)
        mxnet_fail("no operator is called '%s'", name ? name : "(NULL)");
    return op;
}

/* libmxc's message has the reason. */
int mxnet_op_check(const mxnet_op *op) {
    mxc_op *none;
    MXNET_NEED(op);
    if (op->def)
        return 0;
    MXNET_TRY(mxc_op_create(op->name, 0, NULL, NULL, &none));
    mxc_op_release(none);
    return mxnet_fail("operator %s is not supported by libmxc", op->name);
}

/* Attributes of a symbol's node come with the parameters: __key__, and those that MXNet knows without underscores. */
static int is_attribute(const char *key) {
    static const char *const known[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i]) == 0)
            return 1;
    return strncmp(key, "__", 2) == 0;
}

/* MXNet checks that limits of an LSTM's cells are numbers, and ignores them on the CPU; libmxc's operator refuses them.
 */
static int is_ignored_limit(const mxnet_op *op, const char *key, const char *value) {
    return value && strcmp(op->mxc_name, "RNN") == 0 &&
           (strcmp(key, "lstm_state_clip_min") == 0 || strcmp(key, "lstm_state_clip_max") == 0) &&
           mxnet_is_number(value);
}

/* Operators without parameters take none in MXNet either, but some of its front end's functions give one, which goes.
 */
int mxnet_params_read(const mxnet_op *op, int n, const char *const *keys, const char *const *values,
                      mxnet_params *out) {
    MXNET_CALL(mxnet_op_check(op));
    for (int i = 0; i < n && is_cast_storage(op->name); i++)
        if (strcmp(keys[i], "stype") == 0 && mxnet_storage_number(values[i]) < 0)
            return mxnet_fail("cast_storage: stype is %s, expected default, row_sparse or csr", values[i]);
    int takes_any =
        op->def->params || op->def->params_open || op->def->params_open_of || !strcmp(op->mxc_name, "Custom");
    out->n = 0;
    out->keys = mxnet_buffer(MXNET_SLOT_KEYS, 2 * ((size_t)(n > 0 ? n : 0) + 1), sizeof *keys);
    if (!out->keys)
        return -1;
    out->values = out->keys + (n > 0 ? n : 0) + 1;
    if (mxnet_is_python_op(op->name)) {
        MXNET_CALL(mxnet_python_op_add(op->name, n, keys, values));
        out->keys[out->n] = "op_type";
        out->values[out->n++] = op->name;
    }
    for (int i = 0; i < n; i++)
        if ((takes_any && !is_ignored_limit(op, keys[i], values[i])) || is_attribute(keys[i])) {
            out->keys[out->n] = keys[i];
            out->values[out->n++] = strcmp(keys[i], "ctx") == 0 ? mxnet_context_name(values[i]) : values[i];
        }
    if (!strcmp(op->mxc_name, "Custom"))
        for (int i = 0; i < out->n; i++)
            if (!strcmp(out->keys[i], "op_type"))
                out->values[i] = mxnet_custom_name(out->values[i]);
    return 0;
}

int MXListAllOpNames(uint32_t *out_size, const char ***out_array) {
    MXNET_NEED(out_size);
    MXNET_NEED(out_array);
    MXNET_CALL(start());
    *out_size = list.n;
    *out_array = list.names;
    return 0;
}

int NNListAllOpNames(uint32_t *out_size, const char ***out_array) {
    return MXListAllOpNames(out_size, out_array);
}

int NNListUniqueOps(uint32_t *out_size, OpHandle **out_array) {
    return MXSymbolListAtomicSymbolCreators(out_size, out_array);
}

int NNGetOpHandle(const char *op_name, OpHandle *op_out) {
    MXNET_NEED(op_out);
    *op_out = (OpHandle)(uintptr_t)mxnet_op_find(op_name);
    return *op_out ? 0 : -1;
}

int MXSymbolListAtomicSymbolCreators(uint32_t *out_size, AtomicSymbolCreator **out_array) {
    MXNET_NEED(out_size);
    MXNET_NEED(out_array);
    MXNET_CALL(start());
    *out_size = list.n;
    *out_array = list.handles;
    return 0;
}

int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name) {
    const mxnet_op *op = creator;
    MXNET_NEED(op);
    MXNET_NEED(name);
    *name = op->name;
    return 0;
}
