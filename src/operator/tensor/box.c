/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and shapes of boxes (box.h). */
#include "operator/tensor/box.h"

mxc_status mxci_box_check(const char *op, const mxci_box_params *p) {
    for (int i = 0; i < p->step.n; i++)
        if (p->step.value[i] == 0)
            return MXC_FAIL(MXC_EINVAL, "%s: entry %d of step is 0", op, i);
    return MXC_OK;
}

mxc_status mxci_box_check_axes(const mxc_op_sig *sig, const mxci_box_params *p, int ndim) {
    if (p->begin.n > ndim || p->end.n > ndim || p->step.n > ndim)
        return mxc_sig_fail(sig, "begin, end and step name %d, %d and %d axes, expected at most the %d of the array",
                            (int)p->begin.n, (int)p->end.n, (int)p->step.n, ndim);
    return MXC_OK;
}

mxc_shape mxci_box_shape(const mxci_bounds *bounds, const mxc_shape *array) {
    mxc_shape shape = *array;
    for (int i = 0; i < array->ndim; i++)
        if (array->dim[i] >= 0)
            shape.dim[i] = mxci_box_axis_of(bounds, i, array->dim[i]).size;
    return shape;
}
