/* SPDX-License-Identifier: Apache-2.0 */
/* reverse, which is its own inverse. */
#include "cuda/operator/tensor/views.h"

MXCU_OP_IMPLS(reverse, {"reverse", mxcu_view_forward<mxci_view_reverse>, mxcu_view_backward_once<mxci_view_reverse>})
