/* SPDX-License-Identifier: Apache-2.0 */
/* The iterator interface, which calls the methods of an iterator, and the table of iterators that are created by name.
 */
#include "io/iter.h"

#include <string.h>

#include "base/document.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "io/partial_iter.h"

static const mxci_iter_def *const iter_table[] = {
#define ITER(name) &mxci_iter_##name,
#include "io/iter_list.def"
#undef ITER
};
enum { N_ITERS = sizeof iter_table / sizeof iter_table[0] };

static const mxci_iter_def *find_iter(const char *name) {
    for (int i = 0; i < N_ITERS; i++)
        if (strcmp(iter_table[i]->name, name) == 0)
            return iter_table[i];
    return NULL;
}

static mxc_status no_such_iter(const char *name) {
    char known[512] = "";
    for (int i = 0; i < N_ITERS; i++) {
        if (i > 0)
            strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, iter_table[i]->name, sizeof known - strlen(known) - 1);
    }
    return MXC_FAIL(MXC_ENOTFOUND, "iterator \"%s\" does not exist; there are %s", name, known);
}

mxc_status mxc_iter_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                           mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    const mxci_iter_def *def = find_iter(name);
    if (!def)
        return no_such_iter(name);
    void *params = mxci_calloc(1, def->param_size);
    if (!params)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for its parameters", name);
    mxc_status status = mxc_params_parse(def->name, def->params, n_params, keys, values, params);
    if (status == MXC_OK)
        status = def->create(params, out);
    mxci_free(params);
    return status;
}

mxc_status mxc_iter_from_methods(const mxc_iter_methods *methods, void *self, mxc_iter **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_SIZED(methods, "{ .size = sizeof(mxc_iter_methods), ... }"));
    if (!mxci_iter_methods_complete(methods))
        return mxci_partial_iter_create(methods, self, out);
    mxc_iter *iter = mxci_alloc(sizeof *iter);
    if (!iter)
        return MXC_FAIL(MXC_ENOMEM, "mxc_iter_from_methods: no memory for the iterator");
    iter->methods = methods;
    iter->self = self;
    *out = iter;
    return MXC_OK;
}

void mxc_iter_destroy(mxc_iter *iter) {
    if (!MXCI_MAY_RELEASE(iter))
        return;
    iter->methods->destroy(iter->self);
    mxci_free_object(iter);
}

int mxc_iter_n_data(mxc_iter *iter) {
    return !iter ? 0 : iter->methods->n_data(iter->self);
}

int mxc_iter_n_label(mxc_iter *iter) {
    return !iter ? 0 : iter->methods->n_label(iter->self);
}

const mxc_data_desc *mxc_iter_desc(mxc_iter *iter, int index) {
    if (!iter || index < 0 || index >= mxc_iter_n_data(iter) + mxc_iter_n_label(iter))
        return NULL;
    return iter->methods->desc(iter->self, index);
}

mxc_status mxc_iter_next(mxc_iter *iter, mxc_batch *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(iter));
    return iter->methods->next(iter->self, out);
}

mxc_status mxc_iter_reset(mxc_iter *iter) {
    MXC_TRY(MXCI_NON_NULL(iter));
    return iter->methods->reset(iter->self);
}

mxc_status mxc_iter_get_state(mxc_iter *iter, mxc_iter_state *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(iter));
    return iter->methods->get_state(iter->self, out);
}

mxc_status mxc_iter_set_state(mxc_iter *iter, const mxc_iter_state *state) {
    MXC_TRY(MXCI_NON_NULL(iter));
    MXC_TRY(MXCI_NON_NULL(state));
    return iter->methods->set_state(iter->self, state);
}

const char *mxc_iter_name_at(int index) {
    return index >= 0 && index < N_ITERS ? iter_table[index]->name : NULL;
}

const mxc_param *mxc_iter_params(const char *name) {
    const mxci_iter_def *def = name ? find_iter(name) : NULL;
    return def ? def->params : NULL;
}

const char *mxc_iter_doc(const char *name) {
    const mxci_iter_def *def = name ? find_iter(name) : NULL;
    return def ? def->doc : NULL;
}

mxc_status mxc_iter_describe(const char *name, char **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    const mxci_iter_def *def = find_iter(name);
    if (!def)
        return no_such_iter(name);
    mxci_text text = {0};
    mxci_text_printf(&text, "%s\n\n", def->name);
    mxci_document_words(&text, "", def->doc);
    mxci_text_add(&text, "\n");
    mxci_document_params(&text, def->params);
    return mxci_text_take(&text, out);
}
