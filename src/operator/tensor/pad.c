/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pad: data with padding around its spatial axes. data (N,C,H,W) or (N,C,D,H,W). pad_width: elements before and
 * behind each axis, 0 for N and C. mode constant: they are constant_value; edge: the nearest element; reflect: the
 * element as far inside as they are outside, so that an axis is padded by less than its size.
 */
#include "operator/tensor/pad.h"

typedef mxci_pad_params pad_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(pad_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .choices = "constant,edge,reflect",
     .doc = "Values of the padding: constant_value, the nearest element of data (edge), or data mirrored at its border "
            "(reflect)."},
    {MXC_PARAM_FIELD(pad_params, pad_width), .name = "pad_width", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 0,
     .maximum = 2147483647.0, .doc = "Padding before and after each axis, in pairs. The first four are 0."},
    {MXC_PARAM_FIELD(pad_params, constant_value), .name = "constant_value", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .initial = "0", .doc = "Value of the padding with mode=constant."},
    MXC_PARAM_END,
};

/* Pairs for four or five axes; those of N and C are 0. */
static mxc_status pad_check_params(void *params) {
    const pad_params *p = params;
    if (p->pad_width.n != 8 && p->pad_width.n != 10)
        return MXC_FAIL(MXC_EINVAL, "Pad: pad_width has %d entries, expected 8 or 10", p->pad_width.n);
    for (int i = 0; i < 4; i++)
        if (p->pad_width.value[i])
            return MXC_FAIL(MXC_EINVAL, "Pad: pad_width begins with other than four 0: the first two axes stay");
    return MXC_OK;
}

/* An axis must be long enough for its padding: more elements than it where reflected, one where repeated. */
static mxc_status check_axis(const mxc_op_sig *sig, int axis, int64_t dim) {
    const pad_params *p = sig->params;
    int64_t before = p->pad_width.value[2 * axis], behind = p->pad_width.value[2 * axis + 1];
    int64_t most = before > behind ? before : behind, least = p->mode == MXCI_PAD_REFLECT ? most + 1 : 1;
    if (dim < 0 || dim >= least || most == 0 || p->mode == MXCI_PAD_CONSTANT)
        return MXC_OK;
    return mxc_sig_fail(sig, "argument 'data': axis %d has %lld elements, expected at least %lld to be padded", axis,
                        (long long)dim, (long long)least);
}

/* Sizes go both ways: out is data and the padding of both sides, data is out without it. */
static mxc_status pad_infer_shape(mxc_op_sig *sig) {
    const pad_params *p = sig->params;
    int ndim = p->pad_width.n / 2;
    mxc_shape data = mxci_shape_axes(ndim), out = data;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    for (int i = 0; i < ndim; i++) {
        int64_t padding = p->pad_width.value[2 * i] + p->pad_width.value[2 * i + 1];
        int64_t in = sig->in_shape[0].dim[i], full = sig->out_shape[0].dim[i];
        if (full >= 0 && full < padding)
            return mxc_sig_fail(sig, "output: axis %d has %lld elements, fewer than its padding of %lld", i,
                                (long long)full, (long long)padding);
        out.dim[i] = in < 0 ? -1 : in + padding;
        data.dim[i] = full < 0 ? -1 : full - padding;
        MXC_TRY(check_axis(sig, i, in < 0 ? data.dim[i] : in));
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    return mxc_sig_set_shape(sig, 0, &data);
}

typedef struct pad_run {
    mxci_pad_shape shape;
    mxci_pad_fn kernel;
    const mxc_tensor *from, *to;
} pad_run;

/* Backward also goes over the rows written: each sums what was copied from it, so that no row is added to twice. */
static void pad_run_part(void *arg, int64_t begin, int64_t end, int part) {
    const pad_run *r = arg;
    (void)part;
    r->kernel(&r->shape, r->from->data, r->to->data, begin, end);
}

/* Rows of `to`, its last axis, are split over the threads. */
static mxc_status pad_run_rows(const mxc_op_call *call, const mxci_pad_fn *kernels, const mxc_tensor *from,
                               const mxc_tensor *to) {
    const pad_params *p = call->params;
    pad_run r = {
        mxci_pad_shape_of(p, &call->in[0].shape, &call->out[0].shape, call->req[0] == MXC_REQ_ADD),
        kernels[to->dtype],
        from,
        to,
    };
    int ndim = p->pad_width.n / 2;
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(to) > 0)
        mxc_parallel_for(call->run, mxci_shape_count(&to->shape, 0, ndim - 1),
                         MXCI_GRAIN / (to->shape.dim[ndim - 1] + 1) + 1, pad_run_part, &r);
    return MXC_OK;
}

static mxc_status pad_forward(const mxc_op_call *call) {
    return pad_run_rows(call, mxci_pad_forward, &call->in[0], &call->out[0]);
}

static mxc_status pad_backward(const mxc_op_call *call) {
    return pad_run_rows(call, mxci_pad_backward, &call->out_grad[0], &call->in_grad[0]);
}

const mxc_op_def mxci_op_pad = {
    .size = sizeof(mxc_op_def),
    .name = "Pad",
    .aliases = "pad",
    .doc = "out = data (N,C,H,W) or (N,C,D,H,W), padded by pad_width along the spatial axes",
    .flags = MXC_OP_SAMPLEWISE,
    .params = schema,
    .param_size = sizeof(pad_params),
    .params_check = pad_check_params,
    .infer_shape = pad_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = pad_forward},
    .backward = {[MXC_CPU] = pad_backward},
};
