/* SPDX-License-Identifier: Apache-2.0 */
/* _linalg_extracttrian and _linalg_maketrian; a thread per element of the packed triangles. */
#include "operator/linalg/linalg_trian.h"

#include <math.h>

#include "cuda/runtime/gradient.h"

/* Of element p of a packed triangle, the element of the matrix. Row i begins at i (i + 1) / 2; the root is rounded, so
 * i may be one off. */
static MXCU_DEVICE int64_t element_of(const mxci_packed_triangle &t, int64_t p) {
    int64_t i = (int64_t)((sqrt(8 * (double)p + 1) - 1) / 2);
    i -= i * (i + 1) / 2 > p;
    i += (i + 1) * (i + 2) / 2 <= p;
    return mxci_packed_element(&t, i, p - i * (i + 1) / 2);
}

template <class T>
static mxc_status pack_as(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from,
                          mxci_packed_triangle t) {
    const int64_t each = t.rows * (t.rows + 1) / 2;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t index = mxcu_divide(at, each);
        y.put(at, x[index * t.n * t.n + element_of(t, at - index * each)]);
    });
}

template <class T>
static mxc_status unpack_as(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from,
                            mxci_packed_triangle t) {
    const int64_t each = t.rows * (t.rows + 1) / 2;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(from), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t index = mxcu_divide(at, each);
        y.put(index * t.n * t.n + element_of(t, at - index * each), x[at]);
    });
}

static mxc_status pack(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    const mxci_packed_triangle t = mxci_triangle_of(call->params, from->shape.dim[from->shape.ndim - 1]);
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(to) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, pack_as, call, to, from, t)
}

/* Elements outside of the triangle become 0, or stay where the result is added. */
static mxc_status unpack(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    const mxci_packed_triangle t = mxci_triangle_of(call->params, to->shape.dim[to->shape.ndim - 1]);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->req[0] != MXC_REQ_ADD)
        MXC_TRY(mxcu_put_constant(call, to, 0, 0));
    if (mxcu_size(from) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, unpack_as, call, to, from, t)
}

static mxc_status extract_forward(const mxc_op_call *call) {
    return pack(call, &call->out[0], &call->in[0]);
}

static mxc_status extract_backward(const mxc_op_call *call) {
    return unpack(call, &call->in_grad[0], &call->out_grad[0]);
}

static mxc_status make_forward(const mxc_op_call *call) {
    return unpack(call, &call->out[0], &call->in[0]);
}

static mxc_status make_backward(const mxc_op_call *call) {
    return pack(call, &call->in_grad[0], &call->out_grad[0]);
}

MXCU_OP_IMPLS(linalg_trian, {"_linalg_extracttrian", extract_forward, extract_backward},
              {"_linalg_maketrian", make_forward, make_backward})
