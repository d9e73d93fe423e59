/* Moving elements between a dense array and a strided walk through another, as requests say. Every dtype. */
#ifndef MXCI_OPERATOR_WALK_H
#define MXCI_OPERATOR_WALK_H

#include "operator/common.h"
#include "operator/kernels/strided.h"
#include "operator/views.h"

/* to[i] = from[first + walk(i)] for every element i of to. */
void mxci_put_from_walk(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, int64_t first,
                        const mxci_strided *walk);
/* to[first + walk(i)] = from[i] for every element i of from; no two i stand on one element. Where req is not add, the
 * rest of to becomes 0. */
void mxci_put_to_walk(const mxc_run *run, mxc_req req, const mxc_tensor *to, int64_t first, const mxci_strided *walk,
                      const mxc_tensor *from);

/* By an operator's view: out = its elements of data; the gradient of data = those of out's, by a view of the way back;
 * the gradient of data = 0 but for out's in the view's places. */
mxc_status mxci_view_take(const mxc_op_call *call, mxci_view_fn view_of);
mxc_status mxci_view_take_back(const mxc_op_call *call, mxci_view_fn view_of);
mxc_status mxci_view_put_back(const mxc_op_call *call, mxci_view_fn view_of);

#endif
