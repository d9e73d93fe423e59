/* SPDX-License-Identifier: Apache-2.0 */
/* Clips the global norm of all gradients, by the operators of global_norm.c. (Pascanu et al. 2013, "On the difficulty
 * of training recurrent neural networks".) */
#include <stdio.h>

#include <mxc/op.h>
#include <mxc/train.h>

#include "base/error.h"

/* *norm = the root of the sum of sum_sq. */
static mxc_status norm_of(mxc_ndarray *sum_sq, mxc_ndarray **norm) {
    mxc_ndarray *sum = NULL;
    mxc_status status = mxc_invoke("sum", 1, &sum_sq, 0, NULL, NULL, 1, &sum);
    if (status == MXC_OK)
        status = mxc_invoke("sqrt", 1, &sum, 0, NULL, NULL, 1, norm);
    mxc_ndarray_release(sum);
    return status;
}

/* Multiply each array by max_norm / norm where norm, the square root of the sum of sum_sq, is larger. The operator
 * computes that factor, so that nothing waits for the norm. */
static mxc_status clip_all(int n, mxc_ndarray *const *arrays, mxc_ndarray *sum_sq, double max_norm) {
    static const char *const key = "max_norm";
    char text[32];
    const char *value = text;
    mxc_status status = MXC_OK;
    mxc_op *op;
    snprintf(text, sizeof text, "%.17g", max_norm);
    MXC_TRY(mxc_op_create("clip_global_norm", 1, &key, &value, &op));
    for (int i = 0; i < n && status == MXC_OK; i++) {
        mxc_ndarray *in[2] = {arrays[i], sum_sq}, *out = arrays[i];
        status = mxc_op_invoke(op, 2, in, 1, &out, NULL, 0);
    }
    mxc_op_release(op);
    return status;
}

mxc_status mxc_clip_global_norm(int n, mxc_ndarray *const *arrays, double max_norm, mxc_ndarray **norm) {
    static const char *const key = "num_arrays";
    char text[16];
    const char *value = text;
    mxc_ndarray *sum_sq = NULL, *found = NULL;
    mxc_status status;
    MXCI_CLEAR(norm);
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, arrays));
    if (n < 1)
        return MXC_FAIL(MXC_EINVAL, "mxc_clip_global_norm: n is %d, expected at least 1", n);
    if (!(max_norm >= 0))
        return MXC_FAIL(MXC_EINVAL, "mxc_clip_global_norm: max_norm is %g, expected at least 0", max_norm);
    snprintf(text, sizeof text, "%d", n);
    MXC_TRY(mxc_invoke("multi_sum_sq", n, arrays, 1, &key, &value, 1, &sum_sq));
    status = norm ? norm_of(sum_sq, &found) : MXC_OK;
    if (status == MXC_OK)
        status = clip_all(n, arrays, sum_sq, max_norm);
    if (status == MXC_OK && norm)
        *norm = found;
    else
        mxc_ndarray_release(found);
    mxc_ndarray_release(sum_sq);
    return status;
}
