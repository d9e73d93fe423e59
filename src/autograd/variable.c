/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays with gradients: leaves of graphs. */
#include "autograd/record.h"
#include "base/error.h"
#include "ndarray/array.h"

/* ---- attaching --------------------------------------------------------------------------------------------------- */

static mxc_status check_gradient(const mxc_ndarray *array, const mxc_ndarray *grad) {
    const mxci_tensor_type want = mxci_tape_type_of(array), have = mxci_tape_type_of(grad);
    char want_text[MXC_SHAPE_TEXT], have_text[MXC_SHAPE_TEXT];
    if (!mxc_shape_equal(&want.shape, &have.shape))
        return MXC_FAIL(MXC_ESHAPE, "mxc_autograd_attach: grad: expected shape %s, found %s",
                        mxc_shape_format(&want.shape, want_text, sizeof want_text),
                        mxc_shape_format(&have.shape, have_text, sizeof have_text));
    if (want.dtype != have.dtype)
        return MXC_FAIL(MXC_EDTYPE, "mxc_autograd_attach: grad: expected dtype %s, found %s",
                        mxc_dtype_name(want.dtype), mxc_dtype_name(have.dtype));
    if (!mxc_context_equal(want.context, have.context))
        return MXC_FAIL(MXC_EDEVICE, "mxc_autograd_attach: grad: expected an array on %s, found %s",
                        mxc_context_format(want.context, want_text, sizeof want_text),
                        mxc_context_format(have.context, have_text, sizeof have_text));
    return MXC_OK;
}

/* A handle of its own of the gradient given, or zeros. */
static mxc_status make_gradient(mxc_ndarray *array, mxc_ndarray *grad, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    if (grad)
        return mxci_array_view(grad, shape, 0, out);
    MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(array), mxc_ndarray_context(array), out));
    mxc_status status = mxc_ndarray_fill(*out, 0);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

mxc_status mxc_autograd_attach(mxc_ndarray *array, mxc_req req, mxc_ndarray *grad) {
    mxci_tape_node *leaf;
    mxc_status status;
    MXC_TRY(MXCI_NON_NULL(array));
    if (req != MXC_REQ_NULL && req != MXC_REQ_WRITE && req != MXC_REQ_ADD)
        return MXC_FAIL(MXC_EINVAL, "mxc_autograd_attach: request %d: expected null, write or add", (int)req);
    if (!(MXC_DTYPE_BIT(mxc_ndarray_dtype(array)) & MXC_DTYPES_FLOAT) && req != MXC_REQ_NULL)
        return MXC_FAIL(MXC_EDTYPE, "mxc_autograd_attach: array: expected a float dtype, found %s",
                        mxc_dtype_name(mxc_ndarray_dtype(array)));
    if (grad)
        MXC_TRY(check_gradient(array, grad));
    mxci_tape_install();
    MXC_TRY(mxci_tape_node_create(NULL, 0, 0, 1, &leaf));
    status = make_gradient(array, grad, &leaf->grad);
    leaf->req = req;
    leaf->needs_grad = 1;
    if (status == MXC_OK)
        mxci_tape_set_output(leaf, 0, array);
    mxci_tape_node_release(leaf);
    return status;
}

mxc_status mxc_autograd_detach(mxc_ndarray *array, mxc_ndarray **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(array));
    return mxci_array_view(array, mxc_ndarray_shape(array), 0, out);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* The leaf of an array with a gradient; the array keeps it. */
static mxci_tape_node *leaf_of(const mxc_ndarray *array) {
    int index;
    mxci_tape_node *node = array ? mxci_tape_node_of(array, &index) : NULL;
    mxci_tape_node *leaf = node && !node->kind && node->grad ? node : NULL;
    mxci_tape_node_release(node);
    return leaf;
}

mxc_ndarray *mxc_autograd_grad(const mxc_ndarray *array) {
    mxci_tape_node *leaf = leaf_of(array);
    return leaf ? leaf->grad : NULL;
}

int mxc_autograd_is_fresh(const mxc_ndarray *array) {
    mxci_tape_node *leaf = leaf_of(array);
    return leaf && atomic_load(&leaf->is_fresh);
}

void mxc_autograd_set_fresh(mxc_ndarray *array, int is_fresh) {
    mxci_tape_node *leaf = leaf_of(array);
    if (leaf)
        atomic_store(&leaf->is_fresh, is_fresh != 0);
}

int mxc_autograd_in_graph(const mxc_ndarray *array) {
    return array && mxci_tape_needs_grad(array);
}
