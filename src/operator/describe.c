/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_op_describe: the documentation of an operator as text, generated from its descriptor. */
#include "base/document.h"
#include "base/error.h"
#include "base/text.h"
#include "operator/registry.h"

static void add_list(mxci_text *text, const char *title, const char *list) {
    char item[64];
    if (!list)
        return;
    mxci_text_printf(text, "\n%s:", title);
    for (int i = 0; mxci_list_item(list, i, item, sizeof item); i++)
        mxci_text_printf(text, "%s %s", i ? "," : "", item);
}

static void add_args(mxci_text *text, const mxc_op_def *def) {
    if (def->variadic)
        mxci_text_printf(text, "\nArguments: arg0, arg1, ... (%s of them)", def->variadic);
    else
        add_list(text, "Arguments", def->args ? def->args : "data");
}

/* "weight_0, grad_0, mom_0, weight_1, ..., lrs, wds" */
static void add_groups(mxci_text *text, const mxc_op_def *def) {
    char name[64];
    int n = 0;
    mxci_text_add(text, "\nArguments and auxiliary states, in groups:");
    for (int i = 0; i < def->args_per_output && mxci_list_item(def->args, i, name, sizeof name); i++)
        mxci_text_printf(text, "%s %s_0", n++ ? "," : "", name);
    for (int i = 0; mxci_list_item(def->aux, i, name, sizeof name); i++)
        mxci_text_printf(text, ", %s_0", name);
    if (mxci_list_item(def->args, 0, name, sizeof name))
        mxci_text_printf(text, ", %s_1, ...", name);
    for (int i = def->args_per_output; mxci_list_item(def->args, i, name, sizeof name); i++)
        mxci_text_printf(text, ", %s", name);
}

static void add_dtypes(mxci_text *text, unsigned set) {
    mxci_text_add(text, "\nData types:");
    for (int i = 0, n = 0; i < MXC_DTYPE_LIMIT; i++)
        if (set & MXC_DTYPE_BIT(i))
            mxci_text_printf(text, "%s %s", n++ ? "," : "", mxc_dtype_name((mxc_dtype)i));
}

mxc_status mxc_op_describe(const char *name, char **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    const mxc_op_def *def = mxc_op_find(name);
    char similar[200];
    mxci_text text = {0};
    if (!def)
        MXC_TRY(mxci_registry_start());
    if (!def) {
        mxci_registry_suggest(name ? name : "", similar, sizeof similar);
        return MXC_FAIL(MXC_ENOTFOUND, "mxc_op_describe: no operator is called '%s'%s", name ? name : "(NULL)",
                        similar);
    }
    mxci_text_printf(&text, "%s\n\n", def->name);
    if (def->doc)
        mxci_document_words(&text, "", def->doc);
    add_list(&text, "Other names", def->aliases);
    if (def->args_per_output)
        add_groups(&text, def);
    else
        add_args(&text, def);
    add_list(&text, "Outputs", def->outputs ? def->outputs : "output");
    if (!def->args_per_output)
        add_list(&text, "Auxiliary states", def->aux);
    add_dtypes(&text, def->dtypes ? def->dtypes : MXC_DTYPES_REAL);
    mxci_text_add(&text, "\n");
    mxci_document_params(&text, def->params);
    return mxci_text_take(&text, out);
}
