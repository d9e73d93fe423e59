/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What training with scaled losses needs, so that gradients in 16 bits do not vanish; all decided on the device:
 *   all_finite, multi_all_finite  out = 1 where all elements of all arguments are finite, else 0
 *   _scale_gradient               out = data; the gradient of data is out's times state[0]
 *   _update_loss_scale            out = finite ? 1 / state[0] : 0, by which gradients are to be multiplied; then
 *                                 state[0] is halved if not finite, and doubled if interval steps in a row were
 * A loss scale's state is an array (2,), f32: the scale, and how many good steps in a row there were since it changed.
 */
#include "operator/update/loss_scale.h"

#include <stdatomic.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

enum { STATE_SIZE = 2 };

static const mxc_shape *one_element(void) {
    static const mxc_shape one = {.ndim = 1, .dim = {1}};
    return &one;
}

static const mxc_shape *state_shape(void) {
    static const mxc_shape state = {.ndim = 1, .dim = {STATE_SIZE}};
    return &state;
}

/* ---- all_finite -------------------------------------------------------------------------------------------------- */

#define INIT_OUTPUT                                                                 \
    {                                                                               \
        MXC_PARAM_FIELD(mxci_finite_params, init_output),                           \
            .name = "init_output", .type = MXC_PARAM_BOOL, .initial = "True",       \
            .doc = "With False, the previous value of output must not be 0 either." \
    }

static const mxc_param one_schema[] = {INIT_OUTPUT, MXC_PARAM_END};
static const mxc_param many_schema[] = {
    {MXC_PARAM_FIELD(mxci_finite_params, num_arrays), .name = "num_arrays", .type = MXC_PARAM_INT, .initial = "1",
     .bounded = 1, .minimum = 1, .maximum = 65536, .doc = "Number of arguments."},
    INIT_OUTPUT,
    MXC_PARAM_END,
};

static mxc_status infer_finite_shape(mxc_op_sig *sig) {
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), one_element());
}

static mxc_status infer_finite_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32);
}

typedef struct finite_run {
    const mxc_tensor *array;
    atomic_int *bad;
} finite_run;

/* x - x is 0 unless x is infinite or NaN, and so is the sum of such. */
static void check_part(void *arg, int64_t begin, int64_t end, int part) {
    const finite_run *r = arg;
    double tile[MXCI_TILE];
    (void)part;
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        double sum = 0;
        mxci_convert(r->array->dtype, mxci_at(r->array, at), MXC_F64, tile, n);
        for (int64_t i = 0; i < n; i++)
            sum += tile[i] - tile[i];
        if (!(sum == 0))
            atomic_store_explicit(r->bad, 1, memory_order_relaxed);
    }
}

static mxc_status finite_forward(const mxc_op_call *call) {
    const mxci_finite_params *p = call->params;
    atomic_int bad = 0;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    for (int i = 0; i < call->n_in; i++) {
        finite_run r = {&call->in[i], &bad};
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[i]), MXCI_GRAIN, check_part, &r);
    }
    if (!p->init_output && mxci_value_at(&call->out[0], 0) == 0)
        bad = 1;
    mxci_assign_value(call->req[0], &call->out[0], 0, !bad);
    return MXC_OK;
}

#define FINITE_DEF                                                                                           \
    .size = sizeof(mxc_op_def), .param_size = sizeof(mxci_finite_params), .infer_shape = infer_finite_shape, \
    .infer_type = infer_finite_type, .forward = {[MXC_CPU] = finite_forward}, .flags = MXC_OP_ZERO_GRADIENT

const mxc_op_def mxci_op_all_finite = {
    FINITE_DEF,
    .name = "all_finite",
    .params = one_schema,
    .dtypes = MXC_DTYPES_FLOAT,
    .doc = "output (1,), float32 = 1 if all elements of data are finite, else 0",
};

const mxc_op_def mxci_op_multi_all_finite = {
    FINITE_DEF,
    .name = "multi_all_finite",
    .params = many_schema,
    .variadic = "num_arrays",
    .dtypes = MXC_DTYPES_FLOAT,
    .doc = "output (1,), float32 = 1 if all elements of all arguments, whose dtypes may differ, are finite, else 0",
};

/* ---- _scale_gradient --------------------------------------------------------------------------------------------- */

enum { DATA, STATE };

static mxc_status infer_scale_shape(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_shape(sig, STATE, state_shape()));
    return mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)});
}

static mxc_status infer_scale_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, STATE, MXC_F32));
    return mxci_sig_same_type(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)});
}

static mxc_status scale_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[DATA]);
    return MXC_OK;
}

static void scale_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *from = &call->out_grad[0], *to = &call->in_grad[DATA];
    const float scale = *(const float *)call->in[STATE].data;
    float tile[MXCI_TILE];
    (void)part;
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        mxci_load(from->dtype, mxci_at(from, at), tile, n);
        for (int64_t i = 0; i < n; i++)
            tile[i] *= scale;
        (call->req[DATA] == MXC_REQ_ADD ? mxci_store_add : mxci_store)(to->dtype, tile, mxci_at(to, at), n);
    }
}

static mxc_status scale_backward(const mxc_op_call *call) {
    if (call->req[DATA] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out_grad[0]), MXCI_GRAIN, scale_part, (void *)call);
    mxci_assign_constant(call->run, call->req[STATE], &call->in_grad[STATE], 0);
    return MXC_OK;
}

const mxc_op_def mxci_op_scale_gradient = {
    .size = sizeof(mxc_op_def),
    .name = "_scale_gradient",
    .flags = MXC_OP_HIDDEN,
    .args = "data,state",
    .doc = "out = data; the gradient is multiplied by the loss scale state[0]; state (2,), float32",
    .infer_shape = infer_scale_shape,
    .infer_type = infer_scale_type,
    .dtypes = MXC_DTYPES_FLOAT & ~MXC_DTYPE_BIT(MXC_F64),
    .needs = {.out_grad = 1, .in = 1 << STATE},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), DATA}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = scale_forward},
    .backward = {[MXC_CPU] = scale_backward},
};

/* ---- _update_loss_scale ------------------------------------------------------------------------------------------ */

static const mxc_param update_schema[] = {
    {MXC_PARAM_FIELD(mxci_loss_scale_params, interval), .name = "interval", .type = MXC_PARAM_INT, .initial = "0",
     .bounded = 1, .minimum = 0, .maximum = 1e9,
     .doc = "Number of finite steps after which the scale is doubled. 0: the scale never changes."},
    MXC_PARAM_END,
};

static mxc_status infer_update_shape(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_shape(sig, 0, one_element()));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_AUX(0), state_shape()));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), one_element());
}

static mxc_status update_forward(const mxc_op_call *call) {
    const mxci_loss_scale_params *p = call->params;
    float *state = call->aux[0].data, factor;
    factor = mxci_loss_scale_step(*(const float *)call->in[0].data != 0, p->interval, state);
    mxci_assign_value(call->req[0], &call->out[0], 0, (double)factor);
    return MXC_OK;
}

const mxc_op_def mxci_op_update_loss_scale = {
    .size = sizeof(mxc_op_def),
    .name = "_update_loss_scale",
    .flags = MXC_OP_HIDDEN | MXC_OP_ARRAY_ONLY,
    .args = "finite",
    .aux = "state",
    .doc = "Dynamic loss scaling: out = finite ? 1 / state[0] : 0; then the scale state[0] is halved if not finite, or "
           "doubled after interval finite steps",
    .params = update_schema,
    .param_size = sizeof(mxci_loss_scale_params),
    .infer_shape = infer_update_shape,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = {[MXC_CPU] = update_forward},
};
