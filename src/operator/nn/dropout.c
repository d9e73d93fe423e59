/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dropout: in training (mode=always: in every run) out = data mask, where mask is 1 / (1 - p) with probability 1 - p
 * and else 0; otherwise out = data (and mask, where it is asked for, 1). The mask has data's shape, or size 1 along
 * axes, over which it is broadcast. Its element i uses number i of the run's random range, so the same elements are
 * dropped for any number of threads. The mask is a hidden output, which backward multiplies with.
 */
#include "operator/nn/dropout.h"

#include "math/map.h"
#include "math/random_kernels.h"
#include "math/reduce_kernels.h"
#include "math/tile_kernels.h"
#include "operator/nn/dropout_kernels.h"

enum { OUT, MASK };

static const mxc_param dropout_schema[] = {
    {MXC_PARAM_FIELD(mxci_dropout_params, p), .name = "p", .type = MXC_PARAM_FLOAT, .initial = "0.5", .bounded = 1,
     .minimum = 0, .maximum = 1, .doc = "Probability that an element is set to 0."},
    {MXC_PARAM_FIELD(mxci_dropout_params, mode), .name = "mode", .type = MXC_PARAM_ENUM, .initial = "training",
     .choices = "training,always", .doc = "When to drop elements: only in training, or always."},
    {MXC_PARAM_FIELD(mxci_dropout_params, axes), .name = "axes", .type = MXC_PARAM_TUPLE, .initial = "()",
     .doc = "Axes along which all elements share one random decision."},
    {MXC_PARAM_FIELD(mxci_dropout_params, cudnn_off), .name = "cudnn_off", .type = MXC_PARAM_BOOL, .initial = "False",
     .optional = 1, .doc = "Accepted for compatibility with MXNet; has no effect."},
    MXC_PARAM_END,
};

static int dropout_one_visible(const void *params) {
    (void)params;
    return 1;
}

/* mask has data's shape, with 1 along the axes that share their draws. */
static mxc_status dropout_infer(mxc_op_sig *sig) {
    const mxci_dropout_params *p = sig->params;
    mxc_shape mask;
    int axis;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(OUT)}));
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    for (int i = 0; i < p->axes.n; i++)
        MXC_TRY(mxci_sig_axis(sig, p->axes.value[i], sig->in_shape[0].ndim, &axis));
    mask = mxci_dropout_mask_shape(p, &sig->in_shape[0]);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(MASK), &mask);
}

/* One random number per element of the mask. */
static uint64_t dropout_numbers(const mxc_op_sig *sig) {
    return mxci_dropout_drops(sig->params, sig->is_train) ? (uint64_t)mxc_shape_size(&sig->out_shape[MASK]) : 0;
}

/* Mask and output tile by tile: the mask is drawn to a tile on the stack, and stored only if it is requested. */
static void dropout_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_dtype type = call->in[0].dtype;
    const double keep = 1 - ((const mxci_dropout_params *)call->params)->p;
    uint32_t bits[MXCI_DROPOUT_TILE];
    const int store_mode =
        mxci_store_mode(call->req[OUT], mxci_tensor_bytes(&call->out[OUT]), call->out[OUT].data == call->in[0].data);
    const int mask_store_mode = mxci_store_mode(call->req[MASK], mxci_tensor_bytes(&call->out[MASK]), 0);
    double local[MXCI_DROPOUT_TILE];
    (void)part;
    for (int64_t at = begin, n; at < end; at += n) {
        n = MXCI_DROPOUT_TILE - at % MXCI_DROPOUT_TILE; /* tiles end where cache lines do */
        n = n < end - at ? n : end - at;
        mxci_random_words(call->random.seed, call->random.stream, call->random.offset + (uint64_t)at, n, bits);
        mxci_dropout_mask[type](n, bits, keep, local);
        if (call->req[MASK] != MXC_REQ_NULL)
            mxci_assign_elements(mask_store_mode, type, local, mxci_at(&call->out[MASK], at), n);
        if (store_mode == MXCI_STORE_STREAM && call->req[OUT] != MXC_REQ_NULL) {
            mxci_dropout_apply[type](0, n, mxci_at(&call->in[0], at), local, local);
            mxci_assign_elements(store_mode, type, local, mxci_at(&call->out[OUT], at), n);
        } else if (call->req[OUT] != MXC_REQ_NULL) {
            mxci_dropout_apply[type](store_mode == MXCI_STORE_ADD, n, mxci_at(&call->in[0], at), local,
                                     mxci_at(&call->out[OUT], at));
        }
    }
    mxci_stream_end();
}

/* ---- masks that are broadcast --------------------------------------------------------------------------------- */

/* With axes: the mask, which is read more than once. */
static size_t dropout_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxci_dropout_params *p = sig->params;
    return pass == MXC_FORWARD && p->axes.n > 0 && mxc_shape_known(&sig->out_shape[MASK])
               ? mxci_shape_bytes(&sig->out_shape[MASK], mxc_dtype_size(sig->in_type[0]))
               : 0;
}

typedef struct mask_run {
    const mxc_op_call *call;
    mxc_tensor mask;
} mask_run;

/* Elements begin..end-1 of the mask in scratch. */
static void mask_part(void *arg, int64_t begin, int64_t end, int part) {
    const mask_run *r = arg;
    const mxc_op_call *call = r->call;
    const double keep = 1 - ((const mxci_dropout_params *)call->params)->p;
    uint32_t bits[MXCI_DROPOUT_TILE];
    (void)part;
    for (int64_t at = begin, n; at < end; at += n) {
        n = end - at < MXCI_DROPOUT_TILE ? end - at : MXCI_DROPOUT_TILE;
        mxci_random_words(call->random.seed, call->random.stream, call->random.offset + (uint64_t)at, n, bits);
        mxci_dropout_mask[r->mask.dtype](n, bits, keep, mxci_at(&r->mask, at));
    }
}

/* to = or += from times the mask, broadcast over it. */
static mxc_status apply_broadcast(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *from,
                                  const void *mask) {
    mxci_strided strides;
    mxci_mapping m = {.dtype = to->dtype, .n = mxci_tensor_size(to), .n_in = 2};
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    mxci_dropout_strides(call->params, &to->shape, &strides);
    m.in[0] = (mxci_operand){.data = from->data};
    m.in[1] = (mxci_operand){.data = mask, .strides = &strides};
    m.result[0] =
        (mxci_result){.fn = mxci_reduce_grad_scale[mxci_compute_type(to->dtype)], .req = req, .data = to->data};
    return mxci_mapping_run(call->run, &m);
}

/* The whole mask is drawn first, since its elements are read more than once. */
static mxc_status forward_broadcast(const mxc_op_call *call) {
    mask_run r = {.call = call, .mask = call->out[MASK]};
    r.mask.data = call->temp;
    mxc_parallel_for_dynamic(call->run, mxci_tensor_size(&r.mask), MXCI_GRAIN / 4, mask_part, &r);
    mxci_assign(call->run, call->req[MASK], &call->out[MASK], &r.mask);
    return apply_broadcast(call, call->req[OUT], &call->out[OUT], &call->in[0], r.mask.data);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Outside of training out is data, and the mask 1 throughout, so that backward needs no case of its own. */
static mxc_status dropout_forward(const mxc_op_call *call) {
    const mxci_dropout_params *p = call->params;
    if (mxci_dropout_drops(p, call->is_train)) {
        if (p->axes.n > 0)
            return forward_broadcast(call);
        mxc_parallel_for_dynamic(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN / 4, dropout_forward_part,
                                 (void *)call);
        return MXC_OK;
    }
    mxci_assign(call->run, call->req[OUT], &call->out[OUT], &call->in[0]);
    mxci_assign_constant(call->run, call->req[MASK], &call->out[MASK], 1);
    return MXC_OK;
}

static void dropout_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    (void)part;
    mxci_dropout_apply[call->in_grad[0].dtype](call->req[0] == MXC_REQ_ADD, end - begin,
                                               mxci_at(&call->out_grad[OUT], begin), mxci_at(&call->out[MASK], begin),
                                               mxci_at(&call->in_grad[0], begin));
}

static mxc_status dropout_backward(const mxc_op_call *call) {
    if (((const mxci_dropout_params *)call->params)->axes.n > 0)
        return apply_broadcast(call, call->req[0], &call->in_grad[0], &call->out_grad[OUT], call->out[MASK].data);
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for_dynamic(call->run, mxci_tensor_size(&call->in_grad[0]), MXCI_GRAIN, dropout_backward_part,
                                 (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_dropout = {
    .size = sizeof(mxc_op_def),
    .name = "Dropout",
    .doc = "In training, output = data mask, where mask is 1 / (1 - p) with probability 1 - p and otherwise 0; in "
           "inference, output = data",
    .flags = MXC_OP_SAMPLEWISE,
    .params = dropout_schema,
    .param_size = sizeof(mxci_dropout_params),
    .outputs = "output,mask",
    .n_visible = dropout_one_visible,
    .infer_shape = dropout_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << OUT, .out = 1 << MASK},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), OUT}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(OUT), 0}, MXC_INPLACE_END},
    .temp_bytes = dropout_temp,
    .random_count = dropout_numbers,
    .forward = {[MXC_CPU] = dropout_forward},
    .backward = {[MXC_CPU] = dropout_backward},
};
