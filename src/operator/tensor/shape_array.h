/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of _contrib_index_array, and the axes that they name. */
#ifndef MXCI_OPERATOR_TENSOR_SHAPE_ARRAY_H
#define MXCI_OPERATOR_TENSOR_SHAPE_ARRAY_H

#include <mxc/param.h>

#include "base/size.h"

typedef struct mxci_index_array_params {
    mxc_tuple axes; /* n -1: all */
} mxci_index_array_params;

/* The position of element i along axis k is i / step[k] modulo dim[k]. */
typedef struct mxci_index_axes {
    int n;
    int64_t dim[MXC_TUPLE_MAX], step[MXC_TUPLE_MAX];
} mxci_index_axes;

static inline mxci_index_axes mxci_index_axes_of(const void *params, const mxc_shape *data) {
    const mxc_tuple *given = &((const mxci_index_array_params *)params)->axes;
    mxci_index_axes axes;
    axes.n = given->n >= 0 ? given->n : data->ndim;
    for (int i = 0; i < axes.n; i++) {
        int axis = given->n >= 0 ? (int)given->value[i] : i;
        axis += axis < 0 ? data->ndim : 0;
        axes.dim[i] = data->dim[axis];
        axes.step[i] = mxci_shape_count(data, axis + 1, data->ndim);
    }
    return axes;
}

#endif
