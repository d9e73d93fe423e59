/* SPDX-License-Identifier: Apache-2.0 */
/* Pad; a thread per element. The gradient of an element of data is the sum over the elements of out that it was copied
 * to, which are gathered, up to three (reflect) or a run of the border (edge) along each axis, so no atomics are
 * needed. */
#include "cuda/runtime/kernel.h"
#include "operator/tensor/pad.h"

/* The elements of out along an axis that may be copies of element i of data: n candidates, of which the k-th is at(k),
 * or -1. */
struct copies {
    int64_t i, before, last, first, n;
    int mode;

    MXCU_DEVICE copies(const mxci_pad_shape &s, int axis, int64_t element)
        : i(element), before(s.before[axis]), last(s.in[axis] - 1), first(before + i), n(1), mode(s.mode) {
        if (mode == MXCI_PAD_REFLECT) {
            n = 3;
        } else if (mode == MXCI_PAD_EDGE) {
            int64_t end = i == last ? s.out[axis] : before + i + 1;
            first = i == 0 ? 0 : first;
            n = end - first;
        }
    }
    MXCU_DEVICE int64_t at(int64_t k, int64_t size) const {
        int64_t o = first + k;
        if (mode == MXCI_PAD_REFLECT)
            o = k == 0 ? before + i : k == 1 ? (i > 0 ? before - i : -1) : i < last ? before + 2 * last - i : -1;
        return o < size ? o : -1;
    }
};

/* The position of an element in (planes, z, y, x). */
struct place {
    int64_t plane, z, y, x;
    MXCU_DEVICE place(const int64_t *dim, int64_t at) {
        x = at % dim[2];
        at /= dim[2];
        y = at % dim[1];
        at /= dim[1];
        z = at % dim[0];
        plane = at / dim[0];
    }
};

/* A thread per element of out: its source along each axis, or the constant. */
template <class T> static mxc_status pad(const mxc_op_call *call, mxci_pad_shape s) {
    mxcu_in<T> in = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        place o(s.out, at);
        const int64_t z = mxci_pad_source(&s, 0, o.z), y = mxci_pad_source(&s, 1, o.y);
        const int64_t x = mxci_pad_source(&s, 2, o.x);
        out.put(at, z < 0 || y < 0 || x < 0 ? (mxcu_compute_t<T>)s.value
                                            : in[((o.plane * s.in[0] + z) * s.in[1] + y) * s.in[2] + x]);
    });
}

/* A thread per element of data sums over the products of its copies along the three axes. */
template <class T> static mxc_status gather(const mxc_op_call *call, mxci_pad_shape s) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t at) {
        place i(s.in, at);
        copies z(s, 0, i.z), y(s, 1, i.y), x(s, 2, i.x);
        mxcu_compute_t<T> sum = 0;
        for (int64_t kz = 0; kz < z.n; kz++)
            for (int64_t ky = 0; ky < y.n && z.at(kz, s.out[0]) >= 0; ky++)
                for (int64_t kx = 0; kx < x.n && y.at(ky, s.out[1]) >= 0; kx++)
                    if (x.at(kx, s.out[2]) >= 0)
                        sum +=
                            g[((i.plane * s.out[0] + z.at(kz, s.out[0])) * s.out[1] + y.at(ky, s.out[1])) * s.out[2] +
                              x.at(kx, s.out[2])];
        dx.put(at, sum);
    });
}

static mxci_pad_shape shape_of(const mxc_op_call *call) {
    return mxci_pad_shape_of(static_cast<const mxci_pad_params *>(call->params), &call->in[0].shape,
                             &call->out[0].shape, 0);
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, pad, call, shape_of(call))
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, gather, call, shape_of(call))
}

MXCU_OP_IMPLS(pad, {"Pad", forward, backward})
