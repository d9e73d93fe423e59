/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of views and copies. A view is recorded as the operators that would compute it, slice_axis and Reshape, and
 * a copy on one context as _copy or Cast, so that gradients and symbols need nothing new for them. A copy to another
 * context has a node of its own kind: its backward copies the gradient back.
 */
#include "autograd/record.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* A chain of nodes for one view: each new one has the last as its input, the first the array. */
typedef struct chain {
    mxc_ndarray *from;
    mxci_tape_node *last; /* NULL: none yet */
} chain;

/* What the next node reads. */
static mxci_tensor_type chain_type(const chain *c) {
    return c->last ? c->last->out[0] : mxci_tape_type_of(c->from);
}

static mxc_status chain_add(chain *c, const char *name, int n, const char *const *keys, const char *const *values,
                            const mxc_shape *shape) {
    mxci_tape_node *node;
    mxci_tensor_type in = chain_type(c), result = in;
    result.shape = *shape;
    MXC_TRY(mxci_tape_simple_call(name, n, keys, values, &in, &result, &node));
    if (c->last) {
        node->in[0] = (mxci_tape_input){c->last, 0}; /* takes the reference over */
        node->needs_grad = c->last->needs_grad;
    } else {
        mxc_status status = mxci_tape_set_input(node, 0, c->from);
        if (status != MXC_OK) {
            mxci_tape_node_release(node);
            return status;
        }
    }
    c->last = node;
    return MXC_OK;
}

static mxc_status chain_add_reshape(chain *c, const mxc_shape *shape) {
    const char *key = "shape", *value;
    char *text;
    mxci_text dims = {0};
    mxc_status status;
    mxci_text_add(&dims, "(");
    for (int i = 0; i < shape->ndim; i++)
        mxci_text_printf(&dims, "%lld,", (long long)shape->dim[i]);
    mxci_text_add(&dims, ")");
    MXC_TRY(mxci_text_take(&dims, &text));
    value = text;
    status = chain_add(c, "Reshape", 1, &key, &value, shape);
    mxci_free(text);
    return status;
}

static mxc_status chain_add_slice(chain *c, int64_t begin, int64_t end) {
    char begin_text[24], end_text[24];
    const char *keys[] = {"axis", "begin", "end"}, *values[] = {"0", begin_text, end_text};
    mxc_shape shape = chain_type(c).shape;
    shape.dim[0] = end - begin;
    mxci_format(begin_text, sizeof begin_text, "%lld", (long long)begin);
    mxci_format(end_text, sizeof end_text, "%lld", (long long)end);
    return chain_add(c, "slice_axis", 3, keys, values, &shape);
}

static mxc_status chain_end(chain *c, mxc_ndarray *to, mxc_status status) {
    if (status == MXC_OK && c->last)
        mxci_tape_set_output(c->last, 0, to);
    mxci_tape_node_release(c->last);
    return status;
}

mxc_status mxci_tape_slice(mxc_ndarray *from, int64_t begin, int64_t end, mxc_ndarray *to) {
    chain c = {.from = from};
    if (!mxci_tape_needs_grad(from))
        return MXC_OK;
    mxc_status status = chain_add_slice(&c, begin, end);
    if (status == MXC_OK && mxc_ndarray_shape(to)->ndim != mxc_ndarray_shape(from)->ndim)
        status = chain_add_reshape(&c, mxc_ndarray_shape(to));
    return chain_end(&c, to, status);
}

/* A view of the first elements only is a slice of the array as a vector. */
mxc_status mxci_tape_reshape(mxc_ndarray *from, mxc_ndarray *to) {
    const int64_t size = mxc_ndarray_size(from), first = mxc_ndarray_size(to);
    const mxc_shape vector = {.ndim = 1, .dim = {size}};
    chain c = {.from = from};
    mxc_status status = MXC_OK;
    if (!mxci_tape_needs_grad(from))
        return MXC_OK;
    if (first != size)
        status = chain_add_reshape(&c, &vector);
    if (status == MXC_OK && first != size)
        status = chain_add_slice(&c, 0, first);
    if (status == MXC_OK)
        status = chain_add_reshape(&c, mxc_ndarray_shape(to));
    return chain_end(&c, to, status);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static int across_reads_out_grad(const mxci_tape_node *node, int index) {
    (void)node, (void)index;
    return 1;
}

/* The sum is made on the context of the gradient. */
static mxc_status across_backward(mxci_tape_node *node, mxc_ndarray *const *out_grad, mxc_ndarray *const *in_grad,
                                  const mxc_req *req) {
    mxc_ndarray *copy = NULL;
    (void)node;
    if (req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (req[0] != MXC_REQ_ADD)
        return mxc_ndarray_copy_to(out_grad[0], in_grad[0], 0);
    MXC_TRY(mxc_ndarray_copy(out_grad[0], mxc_ndarray_context(in_grad[0]), mxc_ndarray_dtype(in_grad[0]), &copy));
    mxc_ndarray *terms[] = {in_grad[0], copy};
    mxc_status status = mxc_invoke_into("elemwise_add", 2, terms, 0, NULL, NULL, 1, in_grad);
    mxc_ndarray_release(copy);
    return status;
}

/* In a symbol, device groups say where nodes are. */
static mxc_status across_symbol(const mxci_tape_node *node, const char *name, mxc_symbol *const *in, mxc_symbol **out) {
    const mxci_tape_input *from = &node->in[0];
    const mxc_dtype before = from->node->out[from->index].dtype, after = node->out[0].dtype;
    const char *key = "dtype", *value = mxc_dtype_name(after);
    const int casts = before != after;
    return mxc_symbol_op(casts ? "Cast" : "_copy", name, casts, &key, &value, 1, NULL, in, out);
}

static const mxci_tape_kind across_kind = {
    .reads_out_grad = across_reads_out_grad,
    .backward = across_backward,
    .symbol = across_symbol,
};

static mxc_status copy_node(mxc_ndarray *from, mxc_ndarray *to, mxci_tape_node **out) {
    const mxci_tensor_type in = mxci_tape_type_of(from), result = mxci_tape_type_of(to);
    const char *key = "dtype", *value = mxc_dtype_name(result.dtype);
    const int casts = in.dtype != result.dtype;
    if (mxc_context_equal(in.context, result.context))
        return mxci_tape_simple_call(casts ? "Cast" : "_copy", casts, &key, &value, &in, &result, out);
    MXC_TRY(mxci_tape_node_create(&across_kind, 1, 1, 1, out));
    (*out)->name = "copy";
    return MXC_OK;
}

mxc_status mxci_tape_copy(mxc_ndarray *from, mxc_ndarray *to) {
    mxci_tape_node *node;
    mxc_status status;
    if (!mxci_tape_needs_grad(from))
        return MXC_OK;
    if (mxci_tape_is_in_graph(to))
        return MXC_FAIL(MXC_ESTATE,
                        "mxc_ndarray_copy_to: to is written while recording, but belongs to a recorded graph already; "
                        "copy to a new array, or in mxc_autograd_pause");
    MXC_TRY(copy_node(from, to, &node));
    status = mxci_tape_set_input(node, 0, from);
    if (status == MXC_OK)
        mxci_tape_set_output(node, 0, to);
    mxci_tape_node_release(node);
    return status;
}
