/* SPDX-License-Identifier: Apache-2.0 */
/* An array and what it is side by side along one axis: pieces that differ in that axis only. */
#ifndef MXCI_OPERATOR_TENSOR_CONCAT_SPLIT_H
#define MXCI_OPERATOR_TENSOR_CONCAT_SPLIT_H

#include "math/assign.h"
#include "operator/infer.h"

/* Parameters of SliceChannel. */
typedef struct mxci_split_params {
    int64_t num_outputs, axis;
    int32_t squeeze_axis;
} mxci_split_params;

/* whole = its n pieces side by side along its axis, as req says. A piece may lack the axis where it has one row of it.
 */
void mxci_join(const mxc_run *run, mxc_req req, const mxc_tensor *whole, int n, const mxc_tensor *parts, int axis);
/* Each piece = its part of whole, as its req says. */
void mxci_split(const mxc_run *run, const mxc_req *req, const mxc_tensor *whole, int n, const mxc_tensor *parts,
                int axis);

#endif
