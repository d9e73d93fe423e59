/* SPDX-License-Identifier: Apache-2.0 */
/* Concatenation of arrays along an axis, and the inverse, splitting: the parts differ in that axis only. */
#ifndef MXCI_OPERATOR_TENSOR_CONCAT_SPLIT_H
#define MXCI_OPERATOR_TENSOR_CONCAT_SPLIT_H

#include "math/assign.h"
#include "operator/infer.h"

/* Parameters of SliceChannel. */
typedef struct mxci_split_params {
    int64_t num_outputs, axis;
    int32_t squeeze_axis;
} mxci_split_params;

/* Parameters of _split_v2. */
typedef struct mxci_split_v2_params {
    mxc_tuple indices;
    int64_t axis, sections; /* sections 0: at indices */
    int32_t squeeze_axis;
} mxci_split_v2_params;

/* whole = its n parts concatenated along the axis, as req says. A part of size 1 may lack the axis (stack). */
void mxci_concat_arrays(const mxc_run *run, mxc_req req, const mxc_tensor *whole, int n, const mxc_tensor *parts,
                        int axis);
/* Each part = its slice of whole, as its req says. */
void mxci_split_array(const mxc_run *run, const mxc_req *req, const mxc_tensor *whole, int n, const mxc_tensor *parts,
                      int axis);

#endif
