#include "operator/widen.h"

#include "base/check.h"
#include "math/strided_copy.h"

/* How copies differ from what they are copies of. */
typedef enum manner { WIDE, PLANAR } manner;

static size_t copy_bytes(const mxc_shape *shape, mxc_dtype type) {
    return mxci_size_align(mxci_shape_bytes(shape, mxc_dtype_size(type)));
}

static mxc_shape planar_shape(const mxc_shape *last) {
    mxc_shape planar = *last;
    for (int i = 2; i < last->ndim; i++)
        planar.dim[i] = last->dim[i - 1];
    if (last->ndim > 2)
        planar.dim[1] = last->dim[last->ndim - 1];
    return planar;
}

/* Backward: an input if it is read, and its gradient. */
static size_t copies_bytes(const mxc_op_sig *sig, mxc_pass pass, manner how) {
    mxc_op_needs needs;
    mxci_scratch s = {0};
    mxc_op_get_needs(sig->op, &needs);
    for (int i = 0; i < sig->n_in; i++) {
        int copies = pass == MXC_FORWARD ? 1 : 1 + mxc_need_has(needs.in, i);
        if (how == WIDE || sig->in_shape[i].ndim > 2)
            mxci_scratch_array(&s, copies, copy_bytes(&sig->in_shape[i], how == WIDE ? MXC_F32 : sig->in_type[i]));
    }
    for (int i = 0; i < sig->n_out; i++) {
        int copies = pass == MXC_FORWARD ? 1 : mxc_need_has(needs.out_grad, i) + mxc_need_has(needs.out, i);
        if (how == WIDE || sig->out_shape[i].ndim > 2)
            mxci_scratch_array(&s, copies, copy_bytes(&sig->out_shape[i], how == WIDE ? MXC_F32 : sig->out_type[i]));
    }
    return s.bytes;
}

size_t mxci_widen_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return mxc_dtype_size(sig->in_type[0]) == 2 ? copies_bytes(sig, pass, WIDE) : 0;
}

size_t mxci_planar_bytes(const mxc_op_sig *sig, mxc_pass pass, const void *params,
                         size_t (*temp_bytes)(const mxc_op_sig *sig, mxc_pass pass)) {
    mxc_shape in[MXCI_WIDEN_SLOTS], out[MXCI_WIDEN_SLOTS];
    mxc_op_sig planar = *sig;
    if (!params)
        return temp_bytes(sig, pass);
    for (int i = 0; i < sig->n_in; i++)
        in[i] = planar_shape(&sig->in_shape[i]);
    for (int i = 0; i < sig->n_out; i++)
        out[i] = planar_shape(&sig->out_shape[i]);
    planar.in_shape = in;
    planar.out_shape = out;
    planar.params = params;
    return mxci_size_add(copies_bytes(sig, pass, PLANAR), temp_bytes(&planar, pass));
}

/* to = or += from, one of them a copy: of another dtype, or channels second where the other has them last. */
static void put_copy(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, manner how,
                     int is_copy) {
    const mxc_shape *planar = is_copy ? &to->shape : &from->shape;
    const int64_t channels = planar->dim[1], pixels = mxci_shape_count(planar, 2, planar->ndim);
    const int64_t dim[3] = {planar->dim[0], is_copy ? channels : pixels, is_copy ? pixels : channels};
    const int64_t step[3] = {channels * pixels, 1, dim[1]};
    mxci_strided walk;
    if (how == WIDE) {
        mxci_put_cast(run, req, to, from);
        return;
    }
    mxci_strided_set(&walk, 3, dim, step);
    mxci_put_from_walk(run, req, to, from, 0, &walk);
}

static int is_copied(const mxc_tensor *t, manner how) {
    return t->data && (how == WIDE || t->shape.ndim > 2);
}

/* Copies of n tensors from *temp on; filled from the originals where load is set. */
static void copy(const mxc_run *run, int n, const mxc_tensor *from, int load, manner how, mxc_tensor *to, char **temp) {
    MXCI_ASSERT(n <= MXCI_WIDEN_SLOTS);
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        if (how == WIDE)
            to[i].dtype = MXC_F32; /* of an empty one as well: kernels are picked by it */
        else
            to[i].shape = planar_shape(&from[i].shape);
        if (!is_copied(&from[i], how))
            continue;
        to[i].data = *temp;
        *temp += copy_bytes(&from[i].shape, to[i].dtype);
        if (load)
            put_copy(run, MXC_REQ_WRITE, &to[i], &from[i], how, 1);
    }
}

/* What is not copied is written, or added to, at once. */
static mxc_status run_copies(const mxc_op_call *call, mxc_pass pass, const void *params, mxc_op_compute_fn compute,
                             manner how) {
    mxc_tensor in[MXCI_WIDEN_SLOTS], out[MXCI_WIDEN_SLOTS], out_grad[MXCI_WIDEN_SLOTS], in_grad[MXCI_WIDEN_SLOTS];
    mxc_req req[MXCI_WIDEN_SLOTS];
    mxc_op_call copied = *call;
    const mxc_tensor *results = pass == MXC_FORWARD ? call->out : call->in_grad, *computed = out;
    int n = pass == MXC_FORWARD ? call->n_out : call->n_in;
    char *temp = call->temp;
    copy(call->run, call->n_in, call->in, 1, how, in, &temp);
    copy(call->run, call->n_out, call->out, pass == MXC_BACKWARD, how, out, &temp);
    if (pass == MXC_BACKWARD) {
        copy(call->run, call->n_out, call->out_grad, 1, how, out_grad, &temp);
        copy(call->run, call->n_in, call->in_grad, 0, how, in_grad, &temp);
        computed = in_grad;
    }
    for (int i = 0; i < n; i++)
        req[i] = call->req[i] != MXC_REQ_NULL && is_copied(&results[i], how) ? MXC_REQ_WRITE : call->req[i];
    copied.in = in, copied.out = out, copied.out_grad = out_grad, copied.in_grad = in_grad, copied.req = req;
    copied.params = params;
    copied.temp = temp;
    copied.temp_bytes = call->temp_bytes - (size_t)(temp - (char *)call->temp);
    MXC_TRY(compute(&copied));
    for (int i = 0; i < n; i++)
        if (call->req[i] != MXC_REQ_NULL && is_copied(&results[i], how))
            put_copy(call->run, call->req[i], &results[i], &computed[i], how, 0);
    return MXC_OK;
}

mxc_status mxci_widen_run(const mxc_op_call *call, mxc_pass pass, mxc_op_compute_fn compute) {
    return mxc_dtype_size(call->in[0].dtype) == 2 ? run_copies(call, pass, call->params, compute, WIDE) : compute(call);
}

mxc_status mxci_planar_run(const mxc_op_call *call, mxc_pass pass, const void *params, mxc_op_compute_fn compute) {
    return params ? run_copies(call, pass, params, compute, PLANAR) : compute(call);
}
