/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/tensor/tensor_reference.h"

#include <stdlib.h>

/* Places along one axis, as Python's slices name them. */
typedef struct case_positions {
    int64_t n, at[2000];
} case_positions;

static int64_t bound_of(const mxc_tuple *t, int axis, int64_t dim, int64_t initial) {
    if (axis >= t->n || t->value[axis] == MXC_PARAM_UNSET)
        return initial;
    return t->value[axis] < 0 ? t->value[axis] + dim : t->value[axis];
}

static case_positions positions_of(const op_run *r, int axis, int64_t dim) {
    mxc_tuple begins = case_tuple(r, "begin"), ends = case_tuple(r, "end"), steps = case_tuple(r, "step");
    int64_t step = axis < steps.n && steps.value[axis] != MXC_PARAM_UNSET ? steps.value[axis] : 1;
    int64_t begin = bound_of(&begins, axis, dim, step > 0 ? 0 : dim - 1);
    int64_t end = bound_of(&ends, axis, dim, step > 0 ? dim : -1);
    case_positions p = {0};
    for (int64_t at = 0; at < dim; at++) { /* each place of the axis in the order of the step */
        int64_t place = step > 0 ? at : dim - 1 - at, from_begin = step > 0 ? place - begin : begin - place;
        int is_before_end = step > 0 ? place < end : place > end;
        int64_t first = step > 0 ? (begin < 0 ? 0 : begin) : (begin >= dim ? dim - 1 : begin);
        if (from_begin >= 0 && is_before_end && llabs(place - first) % llabs(step) == 0)
            p.at[p.n++] = place;
    }
    return p;
}

int64_t case_slice_elements(const op_run *r, const mxc_shape *array, int64_t *element) {
    int64_t n = case_size(array) > 0;
    element[0] = 0;
    for (int axis = 0; axis < array->ndim; axis++) {
        case_positions p = positions_of(r, axis, array->dim[axis]);
        for (int64_t i = n - 1; i >= 0; i--) /* from the last, so that nothing is overwritten too early */
            for (int64_t k = p.n - 1; k >= 0; k--)
                element[i * p.n + k] = element[i] * array->dim[axis] + p.at[k];
        n *= p.n;
    }
    return n;
}
