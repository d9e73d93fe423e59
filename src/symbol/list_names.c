/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a symbol's arguments, outputs and auxiliary states, and the message about a name that it does not have.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/graph.h"
#include "symbol/names.h"

static mxc_status add_names(const mxci_graph *g, int32_t n, const int32_t *nodes, mxc_names *out) {
    for (int32_t i = 0; i < n; i++)
        MXC_TRY(mxci_names_add(out, g->nodes[nodes[i]].name));
    return MXC_OK;
}

static mxc_status list_variables(const mxc_symbol *symbol, int aux, mxc_names *out) {
    mxci_graph *g;
    mxc_status status;
    memset(out, 0, sizeof *out);
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    status = aux ? add_names(g, g->n_aux, g->aux, out) : add_names(g, g->n_args, g->args, out);
    mxci_graph_destroy(g);
    if (status != MXC_OK)
        mxc_names_release(out);
    return status;
}

mxc_status mxc_symbol_list_arguments(const mxc_symbol *symbol, mxc_names *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    return list_variables(symbol, 0, out);
}

mxc_status mxc_symbol_list_aux(const mxc_symbol *symbol, mxc_names *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    return list_variables(symbol, 1, out);
}

mxc_status mxc_symbol_list_outputs(const mxc_symbol *symbol, mxc_names *out) {
    mxc_status status = MXC_OK;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    if (symbol->atomic)
        return MXC_FAIL(MXC_ESTATE, "mxc_symbol_list_outputs: operator %.100s is not applied to inputs yet",
                        symbol->atomic);
    for (int64_t i = 0; i < symbol->n_outputs && status == MXC_OK; i++) {
        char *name;
        status = mxci_node_output_name(symbol->outputs[i].node, symbol->outputs[i].index, &name);
        if (status == MXC_OK)
            status = mxci_names_give(out, name);
    }
    if (status != MXC_OK)
        mxc_names_release(out);
    return status;
}

mxc_status mxci_symbol_fail_unknown(const mxc_symbol *symbol, mxc_status code, const char *what, const char *name) {
    char candidates[240];
    mxc_names args;
    MXC_TRY(mxc_symbol_list_arguments(symbol, &args));
    mxci_names_candidates(&args, candidates, sizeof candidates);
    mxc_names_release(&args);
    return MXC_FAIL(code, "%s is called \"%.100s\"%s", what, name, candidates);
}
