/* Boxes: from bounds as given to places, shapes and walks. */
#include "operator/box.h"

static int64_t entry(const mxc_tuple *tuple, int i) {
    return i < tuple->n ? tuple->value[i] : MXC_PARAM_UNSET;
}

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

mxci_bounds mxci_box_bounds(const mxci_box_params *p) {
    mxci_bounds bounds;
    for (int i = 0; i < MXC_MAX_NDIM; i++) {
        bounds.begin[i] = entry(&p->begin, i);
        bounds.end[i] = entry(&p->end, i);
        bounds.step[i] = entry(&p->step, i);
    }
    return bounds;
}

mxci_bounds mxci_bounds_whole(void) {
    return mxci_box_bounds(&(mxci_box_params){.begin = {.n = 0}});
}

/* A place as low..high. */
static int64_t within(int64_t place, int64_t dim, int64_t low, int64_t high) {
    place += place < 0 ? dim : 0;
    return place < low ? low : place > high ? high : place;
}

mxci_box_axis mxci_box_axis_of(const mxci_bounds *bounds, int axis, int64_t dim) {
    int64_t begin = bounds->begin[axis], end = bounds->end[axis], step = bounds->step[axis], length;
    step = step == MXC_PARAM_UNSET ? 1 : step;
    if (step > 0) {
        begin = begin == MXC_PARAM_UNSET ? 0 : within(begin, dim, 0, dim);
        end = end == MXC_PARAM_UNSET ? dim : within(end, dim, 0, dim);
        length = end - begin;
    } else {
        begin = begin == MXC_PARAM_UNSET ? dim - 1 : within(begin, dim, -1, dim - 1);
        end = end == MXC_PARAM_UNSET ? -1 : within(end, dim, -1, dim - 1);
        length = begin - end;
    }
    length = length > 0 ? (length - 1) / (step > 0 ? step : -step) + 1 : 0;
    return (mxci_box_axis){length ? begin : 0, length, length > 1 ? step : 1};
}

mxc_shape mxci_box_shape(const mxci_bounds *bounds, const mxc_shape *array) {
    mxc_shape shape = *array;
    for (int i = 0; i < array->ndim; i++)
        if (array->dim[i] >= 0)
            shape.dim[i] = mxci_box_axis_of(bounds, i, array->dim[i]).size;
    return shape;
}

int64_t mxci_box_walk(const mxci_bounds *bounds, const mxc_shape *array, mxci_strided *walk) {
    int64_t dim[MXC_MAX_NDIM], step[MXC_MAX_NDIM], first = 0;
    for (int i = 0; i < array->ndim; i++) {
        mxci_box_axis axis = mxci_box_axis_of(bounds, i, array->dim[i]);
        int64_t inner = mxci_shape_count(array, i + 1, array->ndim);
        dim[i] = axis.size;
        step[i] = axis.step * inner;
        first += axis.begin * inner;
    }
    mxci_strided_set(walk, array->ndim, dim, step);
    return first;
}
