/* SPDX-License-Identifier: Apache-2.0 */
/* slice, slice_axis, slice_like. */
#include "cuda/operator/tensor/views.h"

MXCU_OP_IMPLS(slice, {"slice", mxcu_view_forward<mxci_view_slice>, mxcu_view_backward_part<mxci_view_slice>},
              {"slice_axis", mxcu_view_forward<mxci_view_slice_axis>, mxcu_view_backward_part<mxci_view_slice_axis>},
              {"slice_like", mxcu_view_forward<mxci_view_slice_like>, mxcu_view_backward_part<mxci_view_slice_like>})
