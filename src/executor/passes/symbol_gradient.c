/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_symbol_grad: the gradient of a symbol as a symbol, by differentiate.c with ones as head gradients. */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "symbol/graph_edit.h"

/* Sets which[i], the argument of name i, and marks it as wanted. */
static mxc_status find_names(const mxci_graph *g, int n, const char *const *names, int32_t *which, uint8_t *wanted) {
    for (int i = 0; i < n; i++) {
        int32_t at = 0;
        MXC_TRY(MXCI_CHECK_NON_NULL(names[i], "mxc_symbol_grad: a name"));
        while (at < g->n_args && strcmp(g->nodes[g->args[at]].name, names[i]) != 0)
            at++;
        if (at == g->n_args)
            return MXC_FAIL(MXC_ENOTFOUND, "symbol grad: the symbol has no argument '%s'", names[i]);
        which[i] = at;
        wanted[at] = 1;
    }
    return MXC_OK;
}

mxc_status mxc_symbol_grad(mxc_symbol *symbol, int n, const char *const *names, mxc_symbol **out) {
    mxci_graph *g;
    uint8_t *wanted;
    int32_t *which, *grads; /* name: its argument, then the entry of its gradient; argument: its gradient, -1 zero */
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(names));
    if (n < 1)
        return MXC_FAIL(MXC_EINVAL, "symbol grad: expected at least one argument name, found %d", n);
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    wanted = mxci_calloc((size_t)g->n_args + 1, sizeof *wanted);
    which = mxci_calloc((size_t)n, sizeof *which);
    grads = mxci_calloc((size_t)g->n_args + 1, sizeof *grads);
    status = wanted && which && grads ? find_names(g, n, names, which, wanted)
                                      : MXCI_NO_MEMORY("symbol grad", "the gradients of arguments");
    if (status == MXC_OK)
        status = mxci_pass_differentiate(g, wanted, grads, NULL);
    for (int i = 0; i < n && status == MXC_OK; i++) {
        int32_t argument = g->nodes[g->args[which[i]]].first_entry;
        if (grads[which[i]] < 0)
            status = mxci_graph_add_like(g, "zeros_like", "grad", 1, &argument, &grads[which[i]]);
        which[i] = grads[which[i]];
    }
    if (status == MXC_OK)
        status = mxci_graph_to_symbol(g, n, which, out);
    mxci_free(wanted);
    mxci_free(which);
    mxci_free(grads);
    mxci_graph_destroy(g);
    return status;
}
