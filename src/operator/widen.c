#include "operator/widen.h"

#include "base/check.h"
#include "operator/common.h"

static size_t copy_bytes(const mxc_shape *shape) {
    return ((size_t)mxc_shape_size(shape) * sizeof(float) + 63) & ~(size_t)63;
}

size_t mxci_widen_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxc_op_needs needs;
    size_t bytes = 0;
    if (mxc_dtype_size(sig->in_type[0]) != 2)
        return 0;
    mxc_op_get_needs(sig->op, &needs);
    for (int i = 0; i < sig->n_in; i++) /* backward: the input if it is read, and its gradient */
        bytes += copy_bytes(&sig->in_shape[i]) * (pass == MXC_FORWARD ? 1 : 1 + (size_t)mxc_need_has(needs.in, i));
    for (int i = 0; i < sig->n_out; i++)
        bytes +=
            copy_bytes(&sig->out_shape[i]) *
            (pass == MXC_FORWARD ? 1 : (size_t)mxc_need_has(needs.out_grad, i) + (size_t)mxc_need_has(needs.out, i));
    return bytes;
}

/* n tensors with f32 memory from *temp on; filled from the originals where load is set. */
static void widen(const mxc_run *run, int n, const mxc_tensor *from, int load, mxc_tensor *to, char **temp) {
    MXCI_ASSERT(n <= MXCI_WIDEN_SLOTS);
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].dtype = MXC_F32; /* of an empty one as well: kernels are picked by it */
        if (!from[i].data)
            continue;
        to[i].data = *temp;
        *temp += copy_bytes(&from[i].shape);
        if (load)
            mxci_put_cast(run, MXC_REQ_WRITE, &to[i], &from[i]);
    }
}

mxc_status mxci_widen_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute) {
    mxc_tensor in[MXCI_WIDEN_SLOTS], out[MXCI_WIDEN_SLOTS], out_grad[MXCI_WIDEN_SLOTS], in_grad[MXCI_WIDEN_SLOTS];
    mxc_req req[MXCI_WIDEN_SLOTS];
    mxc_op_call wide = *call;
    const mxc_tensor *results = pass == MXC_FORWARD ? call->out : call->in_grad, *computed = out;
    int n = pass == MXC_FORWARD ? call->n_out : call->n_in;
    char *temp = call->temp;
    if (mxc_dtype_size(call->in[0].dtype) != 2)
        return compute(call);
    widen(call->run, call->n_in, call->in, 1, in, &temp);
    widen(call->run, call->n_out, call->out, pass == MXC_BACKWARD, out, &temp);
    if (pass == MXC_BACKWARD) {
        widen(call->run, call->n_out, call->out_grad, 1, out_grad, &temp);
        widen(call->run, call->n_in, call->in_grad, 0, in_grad, &temp);
        computed = in_grad;
    }
    for (int i = 0; i < n; i++)
        req[i] = call->req[i] == MXC_REQ_NULL ? MXC_REQ_NULL : MXC_REQ_WRITE;
    wide.in = in, wide.out = out, wide.out_grad = out_grad, wide.in_grad = in_grad, wide.req = req;
    wide.temp = temp;
    wide.temp_bytes = call->temp_bytes - (size_t)(temp - (char *)call->temp);
    MXC_TRY(compute(&wide));
    for (int i = 0; i < n; i++)
        mxci_put_cast(call->run, call->req[i], &results[i], &computed[i]);
    return MXC_OK;
}
