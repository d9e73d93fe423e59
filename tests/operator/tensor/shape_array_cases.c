/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of shape_array, size_array and _contrib_index_array. */
#include "operator/cases.h"

static void ref_shape(const op_run *r) {
    for (int i = 0; i < r->in_shape[0].ndim; i++)
        r->out[0][i] = (double)r->in_shape[0].dim[i];
}

static void ref_size(const op_run *r) {
    r->out[0][0] = (double)case_size(&r->in_shape[0]);
}

static void ref_index(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0];
    const mxc_tuple axes = case_tuple(r, "axes");
    const int64_t n = r->out_shape[0].dim[data->ndim];
    int64_t index[MXC_MAX_NDIM];
    for (int64_t i = 0; i < case_size(data); i++) {
        case_indices(data, i, index);
        for (int64_t k = 0; k < n; k++) {
            const int64_t axis = axes.n > 0 ? axes.value[k] : k;
            r->out[0][i * n + k] = (double)index[axis < 0 ? axis + data->ndim : axis];
        }
    }
}

static const op_case cases[] = {
    RUN("shape_array", "", "2x3" CASE_EACH(CASE_ONE), ref_shape),
    INFERS("shape_array", "", "? -> 2 => ?x? -> 2"),
    INFERS("shape_array", "", "2x3x4 -> ? => 2x3x4 -> 3"),
    RUN("size_array", "", "2x3" CASE_EACH(CASE_ONE), ref_size),
    INFERS("size_array", "", "? -> ? => ? -> 1"),
    RUN("_contrib_index_array", "",
        "2x3; s; 1; 7; 64; 65; 1031; 0; 0x3; 3x0x2; 1x1; 1x17; 17x1; 3x129; 2x3x4; 1x5x1; 3x1x7; 2x3x2x5; 2x1x3x1x2; "
        "150x30",
        ref_index),
    RUN("_contrib_index_array", "axes=(1,0); axes=-1; axes=(0,0,1); axes=(-2,-1)", "2x3x4; 7x5; 1x1; 0x3", ref_index),
    FAILS("_contrib_index_array", "axes=2", "2x3", MXC_ESHAPE, "axis 2"),
    FAILS("_contrib_index_array", "", "1x1x1x1x1x1x1x1", MXC_ESHAPE, "9 axes"),
    INFERS("_contrib_index_array", "", "? -> 2x3x? => 2x3 -> 2x3x2"),
    INFERS("_contrib_index_array", "axes=0", "2x? -> ? => 2x? -> 2x?x1"),
};

MXC_CASES(tensor_shape_array_cases, cases);
