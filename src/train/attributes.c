/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a network's variables that affect its training: __lr_mult__, __wd_mult__, __init__. */
#include "train/attributes.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "optimizer/optimizer.h"
#include "train/initializer.h"

const mxci_node *mxci_attributes_find(const mxci_graph *g, const char *name) {
    for (int32_t i = 0; i < g->n_args; i++)
        if (strcmp(g->nodes[g->args[i]].name, name) == 0)
            return g->nodes[g->args[i]].node;
    for (int32_t i = 0; i < g->n_aux; i++)
        if (strcmp(g->nodes[g->aux[i]].name, name) == 0)
            return g->nodes[g->aux[i]].node;
    return NULL;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Sets *value to the number in an attribute; leaves it unchanged where there is no such attribute. */
static mxc_status read_factor(const mxci_node *variable, const char *key, double *value) {
    const char *text = mxci_node_attr(variable, key), *at = text;
    if (!text)
        return MXC_OK;
    if (mxci_read_double(&at, value) && *at == '\0' && isfinite(*value))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "variable \"%.80s\": %s is \"%.40s\", expected a number", variable->name, key, text);
}

mxc_status mxci_attributes_set_mults(const mxci_node *variable, mxc_optimizer *optimizer) {
    mxci_optimizer_param *slot;
    if (!mxci_node_attr(variable, "lr_mult") && !mxci_node_attr(variable, "wd_mult"))
        return MXC_OK;
    MXC_TRY(mxci_optimizer_find_param(optimizer, variable->name, &slot));
    MXC_TRY(read_factor(variable, "lr_mult", &slot->lr_mult));
    return read_factor(variable, "wd_mult", &slot->wd_mult);
}

/* ---- first values ------------------------------------------------------------------------------------------------ */

mxc_status mxci_attributes_init(const mxci_node *variable, mxc_ndarray *array, int *done) {
    const char *text = mxci_node_attr(variable, "__init__");
    char reason[MXC_ERROR_MAX];
    *done = text != NULL;
    if (!text)
        return MXC_OK;
    mxc_status status = mxci_init_by_text(text, variable->name, array);
    if (status == MXC_OK || status == MXC_ENOMEM)
        return status;
    mxci_format(reason, sizeof reason, "%s", mxc_last_error());
    return MXC_FAIL(status, "variable \"%.80s\": __init__: %.360s", variable->name, reason);
}
