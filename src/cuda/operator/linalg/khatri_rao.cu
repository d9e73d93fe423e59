/* SPDX-License-Identifier: Apache-2.0 */
/* khatri_rao; a thread per element of out. Products are made in float64 and rounded once, as on the host: those of
 * several float32 factors may pass through numbers that float32 cannot hold. */
#include "operator/linalg/khatri_rao.h"

#include "cuda/runtime/kernel.h"

/* The arguments' elements and rows. */
template <class T> struct factors {
    int n;
    mxcu_in<T> x[MXCI_KHATRI_RAO_MOST];
    int64_t rows[MXCI_KHATRI_RAO_MOST];
};

template <class T> static mxc_status run(const mxc_op_call *call) {
    const int64_t columns = call->out[0].shape.dim[1];
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    factors<T> f = {call->n_in, {}, {}};
    for (int i = 0; i < f.n; i++) {
        f.x[i] = mxcu_data<T>(&call->in[i]);
        f.rows[i] = call->in[i].shape.dim[0];
    }
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        int64_t rest = mxcu_divide(at, columns);
        const int64_t column = at - rest * columns;
        double product = 1;
        for (int i = f.n - 1; i >= 0; i--) {
            const int64_t outer = mxcu_divide(rest, f.rows[i]);
            product *= (double)f.x[i][(rest - outer * f.rows[i]) * columns + column];
            rest = outer;
        }
        y.put(at, (mxcu_compute_t<T>)product);
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, run, call)
}

MXCU_OP_IMPLS(khatri_rao, {"khatri_rao", forward, nullptr})
