/* SPDX-License-Identifier: Apache-2.0 */
/* depth_to_space and space_to_depth. */
#include "cuda/operator/tensor/views.h"

MXCU_OP_IMPLS(depth_to_space,
              {"depth_to_space", mxcu_view_forward<mxci_view_to_space>,
               mxcu_view_backward_once<mxci_view_to_space_back>},
              {"space_to_depth", mxcu_view_forward<mxci_view_to_depth>,
               mxcu_view_backward_once<mxci_view_to_depth_back>})
