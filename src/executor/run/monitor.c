/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors: a function of the caller is called with every output of every node, in the order of execution. */
#include "executor/run/monitor.h"

#include "base/text.h"
#include "ndarray/array.h"

/* The array is a view of the step's memory with a variable of its own, so that the monitor may read it: the one that
 * orders the memory belongs to the step, which still runs. */
static mxc_status show(mxc_executor *e, const char *node, const char *output, const mxc_tensor *tensor) {
    mxc_ndarray *array;
    char name[256];
    mxci_format(name, sizeof name, "%s_%s", node, output);
    MXC_TRY(
        mxci_ndarray_wrap("monitor", &tensor->shape, tensor->dtype, tensor->context, tensor->data, NULL, NULL, &array));
    mxci_mutex_lock(&e->monitor_lock);
    e->monitor(name, array, e->monitor_user);
    mxci_mutex_unlock(&e->monitor_lock);
    mxc_ndarray_release(array);
    return MXC_OK;
}

mxc_status mxci_monitor_inputs(mxc_executor *e, const mxci_step *t, int32_t node) {
    const mxci_gnode *n = &e->bound->program->graph->nodes[node];
    const int n_args = mxci_graph_n_args(n);
    char input[128];
    for (int i = 0; i < n->n_inputs && e->monitor_inputs && n->kind == MXCI_FORWARD; i++) {
        if (i < n_args)
            mxc_op_arg_name(n->op, i, input, sizeof input);
        else
            mxc_op_aux_name(n->op, i - n_args, input, sizeof input);
        MXC_TRY(show(e, n->name, input, i < n_args ? &t->call.in[i] : &t->call.aux[i - n_args]));
    }
    return MXC_OK;
}

mxc_status mxci_monitor_step(mxc_executor *e, const mxci_step *t, int32_t node) {
    const mxci_gnode *n = &e->bound->program->graph->nodes[node];
    const mxc_tensor *made = n->kind == MXCI_BACKWARD ? t->call.in_grad : t->call.out;
    char output[128];
    for (int32_t i = 0; i < n->n_outputs; i++) {
        int is_hidden = n->kind == MXCI_FORWARD && i >= mxc_op_n_visible(n->op);
        if (t->call.req[i] == MXC_REQ_NULL || (is_hidden && !e->monitor_hidden))
            continue;
        if (n->kind == MXCI_BACKWARD)
            mxc_op_arg_name(n->op, i, output, sizeof output);
        else
            mxc_op_output_name(n->op, i, output, sizeof output);
        MXC_TRY(show(e, n->name, output, &made[i]));
    }
    return MXC_OK;
}
