/*
 * Dropout: in training out = data mask, where mask is 1 / (1 - p) with probability 1 - p and else 0; otherwise out =
 * data (and mask, where it is asked for, 1). Element i uses number i of the run's random range, so the same elements
 * are dropped for any number of threads. The mask is a hidden output, which backward multiplies with.
 */
#include "operator/dropout.h"

#include "operator/common.h"
#include "operator/kernels/convert.h"
#include "operator/kernels/dropout.h"
#include "resource/kernels/random.h"

enum { OUT, MASK };

static const mxc_param dropout_schema[] = {
    {.name = "p", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(mxci_dropout_params, p), .initial = "0.5", .bounded = 1,
     .minimum = 0,
     .maximum = 1, .doc = "share of elements that become 0"},
    MXC_PARAM_END};

static int one_visible(const void *params) {
    (void)params;
    return 1;
}

static uint64_t dropout_numbers(const mxc_op_sig *sig) {
    return sig->is_train ? (uint64_t)mxc_shape_size(&sig->in_shape[0]) : 0;
}

/* The mask is made tile by tile; where nobody asked for it, in a tile on the stack. */
static void forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_dtype type = call->in[0].dtype;
    const double keep = 1 - ((const mxci_dropout_params *)call->params)->p;
    uint32_t bits[MXCI_DROPOUT_TILE];
    const int how = mxci_how(call->req[OUT], mxci_tensor_bytes(&call->out[OUT]),
                             call->out[OUT].data == call->in[0].data);
    const int mask_how = mxci_how(call->req[MASK], mxci_tensor_bytes(&call->out[MASK]), 0);
    double local[MXCI_DROPOUT_TILE];
    (void)part;
    for (int64_t at = begin, n; at < end; at += n) {
        n = MXCI_DROPOUT_TILE - at % MXCI_DROPOUT_TILE; /* tiles end where cache lines do */
        n = n < end - at ? n : end - at;
        mxci_random_words(call->random.seed, call->random.stream, call->random.offset + (uint64_t)at, n, bits);
        mxci_dropout_mask[type](n, bits, keep, local);
        if (call->req[MASK] != MXC_REQ_NULL)
            mxci_put_elements(mask_how, type, local, mxci_at(&call->out[MASK], at), n);
        if (how == MXCI_PUT_STREAM && call->req[OUT] != MXC_REQ_NULL) {
            mxci_dropout_apply[type](0, n, mxci_at(&call->in[0], at), local, local);
            mxci_put_elements(how, type, local, mxci_at(&call->out[OUT], at), n);
        } else if (call->req[OUT] != MXC_REQ_NULL) {
            mxci_dropout_apply[type](how == MXCI_PUT_ADD, n, mxci_at(&call->in[0], at), local,
                                     mxci_at(&call->out[OUT], at));
        }
    }
    mxci_stream_end();
}

static mxc_status dropout_forward(const mxc_op_call *call) {
    if (call->is_train) {
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN / 4, forward_part, (void *)call);
        return MXC_OK;
    }
    mxci_put(call->run, call->req[OUT], &call->out[OUT], &call->in[0]);
    mxci_put_constant(call->run, call->req[MASK], &call->out[MASK], 1);
    return MXC_OK;
}

static void backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    (void)part;
    mxci_dropout_apply[call->in_grad[0].dtype](call->req[0] == MXC_REQ_ADD, end - begin,
                                               mxci_at(&call->out_grad[OUT], begin), mxci_at(&call->out[MASK], begin),
                                               mxci_at(&call->in_grad[0], begin));
}

static mxc_status dropout_backward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in_grad[0]), MXCI_GRAIN, backward_part, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_dropout = {
    .size = sizeof(mxc_op_def),
    .name = "Dropout",
    .doc =
        "in training output = data mask, mask 1 / (1 - p) with probability 1 - p and else 0; otherwise output = data",
    .flags = MXC_OP_SAMPLEWISE,
    .params = dropout_schema,
    .param_size = sizeof(mxci_dropout_params),
    .outputs = "output,mask",
    .n_visible = one_visible,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << OUT, .out = 1 << MASK},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), OUT}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(OUT), 0}, MXC_INPLACE_END},
    .random_count = dropout_numbers,
    .forward = {[MXC_CPU] = dropout_forward},
    .backward = {[MXC_CPU] = dropout_backward},
};
