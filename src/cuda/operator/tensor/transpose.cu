/* SPDX-License-Identifier: Apache-2.0 */
/* transpose and SwapAxis. */
#include "cuda/operator/tensor/views.h"

MXCU_OP_IMPLS(transpose,
              {"transpose", mxcu_view_forward<mxci_view_transpose>, mxcu_view_backward_once<mxci_view_transpose_back>},
              {"SwapAxis", mxcu_view_forward<mxci_view_swap>, mxcu_view_backward_once<mxci_view_swap_back>})
