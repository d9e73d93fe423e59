/* SPDX-License-Identifier: Apache-2.0 */
/* _slice_assign and _slice_assign_scalar: an array with a box of it replaced; a thread per element. */
#include "cuda/operator/tensor/views.h"
#include "cuda/runtime/strided_iterator.h"

enum { LHS, RHS };

struct box {
    int n;
    int64_t dim[MXC_MAX_NDIM];
    mxci_box_axis axis[MXC_MAX_NDIM];

    /* Which element of the box element `at` of the array is; -1: none. */
    MXCU_DEVICE int64_t inside(int64_t at) const {
        int64_t place = 0, size = 1;
        for (int i = n - 1; i >= 0; i--) {
            const int64_t rest = at / dim[i], offset = at - rest * dim[i] - axis[i].begin, k = offset / axis[i].step;
            if (k * axis[i].step != offset || k < 0 || k >= axis[i].size)
                return -1;
            place += k * size;
            size *= axis[i].size;
            at = rest;
        }
        return place;
    }
};

static box box_of(const mxc_op_call *call, const mxc_shape *shape) {
    mxci_bounds bounds = mxci_box_bounds(&static_cast<const mxci_assign_params *>(call->params)->box);
    box b = {};
    b.n = shape->ndim;
    for (int i = 0; i < shape->ndim; i++) {
        b.dim[i] = shape->dim[i];
        b.axis[i] = mxci_box_axis_of(&bounds, i, shape->dim[i]);
    }
    return b;
}

/* result 0 = from, except that the box is rhs, or value if rhs is NULL. */
template <class T>
static mxc_status assign_elements(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from,
                                  const mxc_tensor *rhs, double value) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_dense<T> filling = rhs ? mxcu_array<T>(rhs) : mxcu_number<T>(value);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    box b = box_of(call, &to->shape);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t inside = b.inside(at);
        y.put(at, inside < 0 ? x[at] : filling[inside]);
    });
}

static mxc_status assign(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from, const mxc_tensor *rhs,
                         double value) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, assign_elements, call, to, from, rhs, value)
}

static mxc_status slice_assign(const mxc_op_call *call) {
    return assign(call, &call->out[0], &call->in[LHS], &call->in[RHS], 0);
}

static mxc_status slice_assign_scalar(const mxc_op_call *call) {
    return assign(call, &call->out[0], &call->in[LHS], nullptr,
                  static_cast<const mxci_assign_params *>(call->params)->scalar);
}

/* lhs's gradient: out's, with 0 in the box. */
static mxc_status assign_backward(const mxc_op_call *call) {
    return assign(call, &call->in_grad[LHS], &call->out_grad[0], nullptr, 0);
}

/* rhs's first: lhs's may overwrite out's. */
static mxc_status slice_assign_backward(const mxc_op_call *call) {
    mxci_bounds bounds = mxci_box_bounds(&static_cast<const mxci_assign_params *>(call->params)->box);
    mxci_view view = mxci_view_bounds(&bounds, &call->out[0].shape);
    MXC_TRY(mxcu_view_take(call, &call->in_grad[RHS], RHS, &view, &call->out_grad[0]));
    return assign_backward(call);
}

MXCU_OP_IMPLS(slice_assign, {"_slice_assign", slice_assign, slice_assign_backward},
              {"_slice_assign_scalar", slice_assign_scalar, assign_backward})
