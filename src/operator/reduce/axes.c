/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of axes: which they are, the shapes that follow, their strides. */
#include "operator/reduce/axes.h"

/* Checks the axes that are named, then marks those that are reduced. */
mxc_status mxci_axes_mark(const mxc_op_sig *sig, const mxci_axes_params *p, int ndim, int *reduced) {
    int seen[MXC_MAX_NDIM] = {0}, axis;
    for (int i = 0; i < p->axis.n; i++) {
        MXC_TRY(mxci_sig_axis(sig, p->axis.value[i], ndim, &axis));
        if (seen[axis]++)
            return mxc_sig_fail(sig, "axis %d is named twice", axis);
    }
    mxci_axes_of(p, ndim, reduced);
    return MXC_OK;
}

/* out from data, or the other way: copies the sizes of kept axes. */
static void relate(mxc_shape *data, mxc_shape *out, const int *reduced, int keepdims, int to_data) {
    for (int i = 0, k = 0; i < data->ndim; i++) {
        if (reduced[i] && !keepdims)
            continue;
        if (reduced[i])
            out->dim[k] = 1;
        else if (to_data)
            data->dim[i] = out->dim[k];
        else
            out->dim[k] = data->dim[i];
        k++;
    }
}

/* Sizes of kept axes are inferred in both directions. */
mxc_status mxci_axes_infer_shape(mxc_op_sig *sig) {
    const mxci_axes_params *p = sig->params;
    mxc_shape data = sig->in_shape[0], out;
    int reduced[MXC_MAX_NDIM], kept = 0;
    if (data.ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_axes_mark(sig, p, data.ndim, reduced));
    for (int i = 0; i < data.ndim; i++)
        kept += !reduced[i] || p->keepdims;
    if (kept == 0) {
        out = mxci_shape_of(1, (int64_t[]){1});
        return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
    }
    out = mxci_shape_axes(kept);
    relate(&data, &out, reduced, p->keepdims, 0);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    out = sig->out_shape[0];
    relate(&data, &out, reduced, p->keepdims, 1);
    return mxc_sig_set_shape(sig, 0, &data);
}
