/* SPDX-License-Identifier: Apache-2.0 */
/* Crop: a window of height and width. */
#include "cuda/operator/tensor/views.h"

MXCU_OP_IMPLS(crop, {"Crop", mxcu_view_forward<mxci_view_crop>, mxcu_view_backward_part<mxci_view_crop>})
