/* Sets of axes: which they are, the shapes that follow, the walks over them. */
#include "operator/axes.h"

#include <string.h>

static int all_axes(const mxci_axes_params *p) {
    return p->axis.n <= 0;
}

void mxci_axes_of(const mxci_axes_params *p, int ndim, int *reduced) {
    int others = !all_axes(p) && p->exclude;
    for (int i = 0; i < ndim; i++)
        reduced[i] = all_axes(p) || others;
    for (int i = 0; i < p->axis.n; i++)
        reduced[p->axis.value[i] < 0 ? p->axis.value[i] + ndim : p->axis.value[i]] = !others;
}

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

void mxci_axes_walk(const mxc_shape *full, const int *reduced, mxci_strided *out) {
    int64_t step[MXC_MAX_NDIM], size = 1;
    for (int i = full->ndim - 1; i >= 0; i--) {
        step[i] = reduced[i] ? 0 : size;
        size *= reduced[i] ? 1 : full->dim[i];
    }
    mxci_strided_set(out, full->ndim, full->dim, step);
}

void mxci_axes_part(const mxc_shape *full, const int *reduced, int which, mxci_strided *out) {
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM], size = 1;
    int n = 0;
    for (int i = full->ndim - 1; i >= 0; i--) {
        if (reduced[i] == which) {
            memmove(dim + 1, dim, (size_t)n * sizeof *dim);
            memmove(step + 1, step, (size_t)n * sizeof *step);
            dim[0] = full->dim[i];
            step[0] = size;
            n++;
        }
        size *= full->dim[i];
    }
    mxci_strided_set(out, n, dim, step);
}
