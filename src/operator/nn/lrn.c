/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LRN: out = data norm^-beta, norm = knorm + alpha / nsize (sum of data^2 over the nsize channels around), for data
 * (N,C,...), as in AlexNet (A. Krizhevsky et al., 2012). norm is a hidden output, f32 where data is f16 or bf16.
 */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/nn/lrn_kernels.h"
#include "operator/nn/norms.h"

enum { OUT, NORM };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_lrn_params, alpha), .name = "alpha", .type = MXC_PARAM_FLOAT, .initial = "0.0001",
     .doc = "Factor of the mean of squares."},
    {MXC_PARAM_FIELD(mxci_lrn_params, beta), .name = "beta", .type = MXC_PARAM_FLOAT, .initial = "0.75",
     .doc = "Exponent."},
    {MXC_PARAM_FIELD(mxci_lrn_params, knorm), .name = "knorm", .type = MXC_PARAM_FLOAT, .initial = "2",
     .doc = "Constant added to the mean of squares."},
    {MXC_PARAM_FIELD(mxci_lrn_params, nsize), .name = "nsize", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e9, .doc = "Number of channels in the window, an odd number."},
    MXC_PARAM_END,
};

static mxc_status lrn_check_params(void *params) {
    const mxci_lrn_params *p = params;
    if (p->nsize % 2 == 0)
        return MXC_FAIL(MXC_EINVAL, "LRN: nsize is %lld, expected an odd number", (long long)p->nsize);
    return MXC_OK;
}

static int lrn_one_visible(const void *params) {
    (void)params;
    return 1;
}

static mxc_status lrn_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *data = &sig->in_shape[0];
    MXC_TRY(mxci_infer_shape_same(sig));
    if (data->ndim >= 0 && data->ndim < 2)
        return mxc_sig_fail(sig, "argument 'data': expected at least 2 axes, found %d", data->ndim);
    return MXC_OK;
}

static mxc_status lrn_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(OUT)}));
    if (sig->in_type[0] == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(NORM), mxci_compute_type(sig->in_type[0]));
}

/* Scratch of backward: ratio (below), of data's shape in the compute type. */
static size_t lrn_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t element = mxc_dtype_size(mxci_compute_type(sig->in_type[0]));
    return pass == MXC_FORWARD ? 0 : mxci_shape_bytes(&sig->in_shape[0], element);
}

typedef struct lrn_run {
    const mxc_op_call *call;
    mxci_lrn_shape shape;
    int64_t tiles; /* of a sample */
    mxc_tensor ratio;
} lrn_run;

/* The window is nsize channels, the channel itself in its middle. */
static lrn_run lrn_open_run(const mxc_op_call *call) {
    const mxci_lrn_params *p = call->params;
    const mxc_shape *data = &call->in[0].shape;
    lrn_run r = {.call = call, .ratio = call->out[NORM]};
    r.ratio.data = call->temp;
    r.shape = (mxci_lrn_shape){.channels = data->dim[1],
                               .inner = mxci_shape_count(data, 2, data->ndim),
                               .half_window = p->nsize / 2,
                               .scale = p->alpha / (double)p->nsize,
                               .beta = p->beta,
                               .knorm = p->knorm};
    r.tiles = (r.shape.inner + MXCI_LRN_TILE - 1) / MXCI_LRN_TILE;
    return r;
}

/* A tile is MXCI_LRN_TILE positions of one sample in all channels; backward reads ratio of the same tile. */
static void run_tiles(const lrn_run *r, int64_t begin, int64_t end, int backward) {
    const mxc_op_call *call = r->call;
    const mxc_dtype type = call->in[0].dtype;
    const int add = call->req[0] == MXC_REQ_ADD;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % r->tiles * MXCI_LRN_TILE, sample = i / r->tiles * r->shape.channels * r->shape.inner;
        int64_t last = first + MXCI_LRN_TILE < r->shape.inner ? first + MXCI_LRN_TILE : r->shape.inner;
        const void *x = mxci_at(&call->in[0], sample);
        if (backward)
            mxci_lrn_backward[type](&r->shape, add, mxci_at(&call->out_grad[OUT], sample), x,
                                    mxci_at(&call->out[NORM], sample), mxci_at(&r->ratio, sample),
                                    mxci_at(&call->in_grad[0], sample), first, last);
        else
            mxci_lrn_forward[type](
                &r->shape, add, x, call->req[NORM] == MXC_REQ_NULL ? NULL : mxci_at(&call->out[NORM], sample),
                call->req[OUT] == MXC_REQ_NULL ? NULL : mxci_at(&call->out[OUT], sample), first, last);
    }
}

static void lrn_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    (void)part;
    run_tiles(arg, begin, end, 0);
}

static void lrn_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    (void)part;
    run_tiles(arg, begin, end, 1);
}

/* ratio = dy x norm^(-beta - 1), which each element's gradient sums over its window of channels. */
static void ratio_part(void *arg, int64_t begin, int64_t end, int part) {
    const lrn_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    mxci_lrn_ratio[call->in[0].dtype](end - begin, r->shape.beta, mxci_at(&call->out_grad[OUT], begin),
                                      mxci_at(&call->in[0], begin), mxci_at(&call->out[NORM], begin),
                                      mxci_at(&r->ratio, begin));
}

static void split_tiles(const lrn_run *r, mxc_range_fn part) {
    int64_t samples = r->call->in[0].shape.dim[0];
    mxc_parallel_for(r->call->run, samples * r->tiles, 1, part, (void *)r);
}

static mxc_status lrn_forward(const mxc_op_call *call) {
    lrn_run r = lrn_open_run(call);
    split_tiles(&r, lrn_forward_part);
    return MXC_OK;
}

static mxc_status lrn_backward(const mxc_op_call *call) {
    lrn_run r = lrn_open_run(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxc_parallel_for(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN / 8, ratio_part, &r);
    split_tiles(&r, lrn_backward_part);
    return MXC_OK;
}

const mxc_op_def mxci_op_lrn = {
    .size = sizeof(mxc_op_def),
    .name = "LRN",
    .doc = "Local response normalization: output = data (knorm + alpha / nsize (sum of data^2 over the nsize channels "
           "around))^-beta, data (N,C,...)",
    .flags = MXC_OP_SAMPLEWISE,
    .params = schema,
    .param_size = sizeof(mxci_lrn_params),
    .params_check = lrn_check_params,
    .outputs = "output,tmp_norm",
    .n_visible = lrn_one_visible,
    .infer_shape = lrn_infer_shape,
    .infer_type = lrn_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1 << OUT, .in = 1, .out = 1 << NORM},
    .temp_bytes = lrn_temp_bytes,
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(OUT), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = lrn_forward},
    .backward = {[MXC_CPU] = lrn_backward},
};
