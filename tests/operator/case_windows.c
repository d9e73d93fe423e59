/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of convolutions and poolings, for the references of several files of cases. */
#include "operator/cases.h"

static int64_t entry(const mxc_tuple *tuple, int axis, int64_t initial) {
    return axis < 0 || tuple->n == 0 ? initial : tuple->value[axis];
}

case_windows case_windows_of(const op_run *r, const mxc_shape *windows, const mxc_shape *plane) {
    mxc_tuple kernel = case_tuple(r, "kernel"), stride = case_tuple(r, "stride"), dilate = case_tuple(r, "dilate"),
              pad = case_tuple(r, "pad");
    case_windows w;
    for (int i = 0; i < 3; i++) {
        int axis = i - (3 - (kernel.n > 0 ? kernel.n : plane->ndim - 2));
        w.windows[i] = axis < 0 ? 1 : windows->dim[axis + 2];
        w.plane[i] = axis < 0 ? 1 : plane->dim[axis + 2];
        w.kernel[i] = entry(&kernel, axis, 1);
        w.stride[i] = entry(&stride, axis, 1);
        w.dilate[i] = entry(&dilate, axis, 1);
        w.pad[i] = entry(&pad, axis, 0);
    }
    return w;
}

int64_t case_volume(const int64_t axes[3]) {
    return axes[0] * axes[1] * axes[2];
}

int64_t case_under(const case_windows *w, int64_t p, int64_t k) {
    int64_t at[3], index = 0;
    for (int i = 2; i >= 0; i--) {
        at[i] = p % w->windows[i] * w->stride[i] + k % w->kernel[i] * w->dilate[i] - w->pad[i];
        p /= w->windows[i];
        k /= w->kernel[i];
    }
    for (int i = 0; i < 3; i++) {
        if (at[i] < 0 || at[i] >= w->plane[i])
            return -1;
        index = index * w->plane[i] + at[i];
    }
    return index;
}
