/* SPDX-License-Identifier: Apache-2.0 */
/* rotary_embedding: a thread rotates one pair of a row, or copies what is not rotated. The cosines and sines of all
 * positions and pairs are computed first, into scratch, by a thread each, in float64. */
#include "cuda/runtime/kernel.h"
#include "operator/nn/rotary_embedding.h"

/* data as (outer, positions, inner, columns); the first 2 pairs columns of a row are rotated. */
struct rotary {
    int64_t positions, inner, columns, pairs;
    int interleaved;
};

static rotary rotary_of(const void *params, const mxc_shape *data) {
    const mxci_rotary_params *p = static_cast<const mxci_rotary_params *>(params);
    const int axis = (int)(p->axis < 0 ? p->axis + data->ndim : p->axis);
    const int64_t columns = data->dim[data->ndim - 1];
    return {data->dim[axis], mxcu_product(data, axis + 1, data->ndim - 1), columns,
            (p->width == MXC_PARAM_UNSET ? columns : p->width) / 2, p->interleaved};
}

/* Cosine and sine of each position's pairs; as wide as the widest compute type. */
static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    rotary r = rotary_of(sig->params, &sig->in_shape[0]);
    (void)pass;
    return mxci_size_of(mxci_dim_mul(r.positions, r.pairs), 2 * sizeof(double));
}

template <class A> static mxc_status put_angles(const mxc_op_call *call, rotary r, A *angles) {
    const mxci_rotary_params *p = static_cast<const mxci_rotary_params *>(call->params);
    const double base = p->base, offset = (double)p->offset;
    return mxcu_for(call, r.positions * r.pairs, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t k = i % r.pairs;
        const double angle = ((double)(i / r.pairs) + offset) * pow(base, -(double)k / (double)r.pairs);
        angles[2 * i] = (A)cos(angle);
        angles[2 * i + 1] = (A)sin(angle);
    });
}

/* back: by the negative angle, which is the gradient. */
template <class T>
static mxc_status turn(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to, rotary r, int back) {
    using A = mxcu_compute_t<T>;
    A *angles = mxcu_temp<A>(call, 0);
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    const int64_t each = r.columns - r.pairs, step = r.interleaved ? 2 : 1, apart = r.interleaved ? 1 : r.pairs;
    const A sign = back ? -1 : 1;
    MXC_TRY(put_angles(call, r, angles));
    return mxcu_for(call, mxcu_size(to) / r.columns * each, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = i / each, k = i - row * each, begin = row * r.columns;
        if (k >= r.pairs) {
            y.put(begin + r.pairs + k, x[begin + r.pairs + k]);
            return;
        }
        const int64_t angle = 2 * (row / r.inner % r.positions * r.pairs + k), at = begin + k * step;
        const A cosine = angles[angle], sine = sign * angles[angle + 1], first = x[at], second = x[at + apart];
        y.put(at, first * cosine - second * sine);
        y.put(at + apart, first * sine + second * cosine);
    });
}

static mxc_status run(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to, int back) {
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(to) == 0)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, turn, call, from, to, rotary_of(call->params, &to->shape), back)
}

static mxc_status forward(const mxc_op_call *call) {
    return run(call, &call->in[0], &call->out[0], 0);
}

static mxc_status backward(const mxc_op_call *call) {
    return run(call, &call->out_grad[0], &call->in_grad[0], 1);
}

MXCU_OP_IMPLS(rotary_embedding, {"rotary_embedding", forward, backward, temp_bytes})
