/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program as nodes of recorded graphs. */
#include <string.h>

#include "autograd/tape.h"
#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"
#include "executor/control_flow/control_flow.h"

typedef struct function {
    mxc_autograd_fn backward;
    void (*destroy)(void *arg);
    void *arg;
    char name[];
} function;

static int function_reads_out_grad(const mxci_tape_node *node, int index) {
    (void)node, (void)index;
    return 1;
}

/* The program's function overwrites what it is given, so terms that are added have arrays of their own. */
static mxc_status function_call(const mxci_tape_node *node, mxc_ndarray *const *out_grad, mxc_ndarray *const *in_grad,
                                const mxc_req *req, mxc_ndarray **given) {
    const function *f = node->data;
    const unsigned before = mxci_error_count();
    for (int i = 0; i < node->n_args; i++) {
        const mxc_shape *shape = mxc_ndarray_shape(in_grad[i]);
        if (req[i] != MXC_REQ_ADD)
            given[i] = mxc_ndarray_retain(in_grad[i]);
        else
            MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(in_grad[i]),
                                       mxc_ndarray_context(in_grad[i]), &given[i]));
    }
    mxc_status status = f->backward(node->n_out, out_grad, node->n_args, given, f->arg);
    if (status != MXC_OK && mxci_error_count() == before)
        return MXC_FAIL(status, "gradient: function %s: %s", f->name, mxc_status_text(status));
    for (int i = 0; i < node->n_args && status == MXC_OK; i++)
        if (req[i] == MXC_REQ_ADD)
            status = mxci_store_array(given[i], in_grad[i], MXC_REQ_ADD);
    return status;
}

static mxc_status function_backward(mxci_tape_node *node, mxc_ndarray *const *out_grad, mxc_ndarray *const *in_grad,
                                    const mxc_req *req) {
    mxc_ndarray **given = mxci_calloc((size_t)node->n_args + 1, sizeof *given);
    if (!given)
        return MXCI_NO_MEMORY("gradient", "the arguments of a function");
    mxc_status status = function_call(node, out_grad, in_grad, req, given);
    for (int i = 0; i < node->n_args; i++)
        mxc_ndarray_release(given[i]);
    mxci_free(given);
    return status;
}

static void function_destroy(void *data) {
    function *f = data;
    if (f->destroy)
        f->destroy(f->arg);
    mxci_free(f);
}

static const mxci_tape_kind function_kind = {
    .reads_out_grad = function_reads_out_grad,
    .backward = function_backward,
    .destroy = function_destroy,
};

static mxc_status make_function(const char *name, mxc_autograd_fn backward, mxci_tape_node *node) {
    const size_t bytes = strlen(name) + 1;
    function *f = mxci_calloc(1, mxci_size_add(sizeof *f, bytes));
    if (!f)
        return MXCI_NO_MEMORY("mxc_autograd_function", "a function");
    memcpy(f->name, name, bytes);
    f->backward = backward;
    node->data = f;
    node->name = f->name;
    return MXC_OK;
}

/* 1 if the function becomes a node. */
static int is_recorded(int n_in, mxc_ndarray *const *in) {
    for (int i = 0; i < n_in && mxci_mode & MXCI_MODE_RECORD; i++)
        if (mxci_tape_needs_grad(in[i]))
            return 1;
    return 0;
}

static mxc_status connect_arrays(mxci_tape_node *node, int n_in, mxc_ndarray *const *in, int n_out,
                                 mxc_ndarray *const *out) {
    for (int i = 0; i < n_in; i++)
        MXC_TRY(mxci_tape_set_input(node, i, in[i]));
    for (int i = 0; i < n_out; i++)
        mxci_tape_set_output(node, i, out[i]);
    return MXC_OK;
}

static mxc_status check_arrays(int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray *const *out) {
    for (int i = 0; i < n_in; i++)
        if (!in[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_autograd_function: in[%d] must not be NULL", i);
    for (int i = 0; i < n_out; i++) {
        if (!out[i])
            return MXC_FAIL(MXC_EINVAL, "mxc_autograd_function: out[%d] must not be NULL", i);
        if (mxci_tape_is_in_graph(out[i]))
            return MXC_FAIL(MXC_ESTATE,
                            "mxc_autograd_function: out[%d] belongs to a recorded graph already; compute it between "
                            "mxc_autograd_pause and mxc_autograd_leave, into a new array",
                            i);
    }
    return MXC_OK;
}

mxc_status mxc_autograd_function(const char *name, int n_in, mxc_ndarray *const *in, int n_out, mxc_ndarray *const *out,
                                 mxc_autograd_fn backward, void (*destroy)(void *arg), void *arg) {
    mxci_tape_node *node;
    mxc_status status;
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_in > 0, in));
    MXC_TRY(MXCI_NON_NULL_IF(n_out > 0, out));
    if (!backward)
        return MXC_FAIL(MXC_EINVAL, "mxc_autograd_function: backward must not be NULL");
    if (!is_recorded(n_in, in)) {
        if (destroy)
            destroy(arg);
        return MXC_OK;
    }
    MXC_TRY(check_arrays(n_in, in, n_out, out));
    MXC_TRY(mxci_tape_node_create(&function_kind, n_in, n_in, n_out, &node));
    status = make_function(name, backward, node);
    if (status == MXC_OK)
        status = connect_arrays(node, n_in, in, n_out, out);
    if (status == MXC_OK) {
        function *f = node->data; /* from here on the node owns the program's argument */
        f->destroy = destroy;
        f->arg = arg;
    }
    mxci_tape_node_release(node);
    return status;
}
