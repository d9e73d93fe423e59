/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/index/index_reference.h"

#include <math.h>

int64_t case_index_position(const op_run *r, double index, int64_t size) {
    index = trunc(index);
    if (case_is(r, "mode", "wrap"))
        return (int64_t)(index - (double)size * floor(index / (double)size));
    return (int64_t)fmin(fmax(index, 0), (double)size - 1);
}

int case_axis(const op_run *r, double initial) {
    int axis = (int)case_number(r, "axis", initial);
    return axis < 0 ? axis + r->in_shape[0].ndim : axis;
}

int64_t case_size_from(const mxc_shape *s, int axis) {
    int64_t n = 1;
    for (int i = axis; i < s->ndim; i++)
        n *= s->dim[i];
    return n;
}

void case_select(const op_run *r, int64_t (*source)(const op_run *r, int64_t i)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][source(r, i)];
}
