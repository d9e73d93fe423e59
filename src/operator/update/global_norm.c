/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The norm of several arrays as one vector, and clipping by it:
 *   multi_sum_sq      out[i] = the sum of the squares of argument i, f32
 *   clip_global_norm  out = data min(1, max_norm / (sqrt(sum of sum_sq) + 1e-8)), sum_sq that of all arrays
 * Sums are accumulated in float64 over blocks of fixed size, so that the number of threads does not change them.
 */
#include <math.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"
#include "operator/update/update.h"

/* ---- multi_sum_sq ------------------------------------------------------------------------------------------------ */

typedef struct sum_params {
    int64_t num_arrays;
} sum_params;

static const mxc_param sum_schema[] = {
    {MXC_PARAM_FIELD(sum_params, num_arrays), .name = "num_arrays", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 65536, .doc = "Number of arguments."},
    MXC_PARAM_END,
};

static mxc_status infer_sum_shape(mxc_op_sig *sig) {
    const mxc_shape out = mxci_shape_of(1, (int64_t[]){sig->n_in});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status infer_sum_type(mxc_op_sig *sig) {
    for (int i = 1; i < sig->n_in; i++)
        MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, i}));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32);
}

static size_t sum_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    int64_t most = 0;
    (void)pass;
    for (int i = 0; i < sig->n_in; i++) {
        int64_t blocks = mxci_update_square_blocks(mxc_shape_size(&sig->in_shape[i]));
        most = blocks > most ? blocks : most;
    }
    return mxci_size_of(most, sizeof(double));
}

static mxc_status sum_forward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in; i++)
        mxci_assign_value(call->req[0], &call->out[0], i,
                          mxci_update_square_sum(call->run, &call->in[i], 1, NULL, call->temp));
    return MXC_OK;
}

const mxc_op_def mxci_op_multi_sum_sq = {
    .size = sizeof(mxc_op_def),
    .name = "multi_sum_sq",
    .doc = "Sum of squares of each argument: output (num_arrays,), float32",
    .params = sum_schema,
    .param_size = sizeof(sum_params),
    .variadic = "num_arrays",
    .infer_shape = infer_sum_shape,
    .infer_type = infer_sum_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .temp_bytes = sum_bytes,
    .forward = {[MXC_CPU] = sum_forward},
};

/* ---- clip_global_norm -------------------------------------------------------------------------------------------- */

enum { DATA, SUM_SQ };

static const mxc_param clip_schema[] = {
    {MXC_PARAM_FIELD(mxci_clip_norm_params, max_norm), .name = "max_norm", .type = MXC_PARAM_FLOAT, .bounded = 1,
     .minimum = 0, .maximum = 1e300, .doc = "Maximum norm."},
    MXC_PARAM_END,
};

static mxc_status infer_clip_shape(mxc_op_sig *sig) {
    const mxc_shape vector = mxci_shape_axes(1);
    MXC_TRY(mxc_sig_set_shape(sig, SUM_SQ, &vector));
    return mxci_sig_same_shape(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)});
}

static mxc_status infer_clip_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, SUM_SQ, MXC_F32));
    return mxci_sig_same_type(sig, 2, (int[]){DATA, MXC_SLOT_OUT(0)});
}

typedef struct clip_run {
    const mxc_op_call *call;
    double factor;
} clip_run;

static void clip_part(void *arg, int64_t begin, int64_t end, int part) {
    const clip_run *r = arg;
    const mxc_tensor *data = &r->call->in[DATA], *out = &r->call->out[0];
    double tile[MXCI_TILE];
    (void)part;
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        double before[MXCI_TILE];
        mxci_convert(data->dtype, mxci_at(data, at), MXC_F64, tile, n);
        if (r->call->req[0] == MXC_REQ_ADD)
            mxci_convert(out->dtype, mxci_at(out, at), MXC_F64, before, n);
        else
            mxci_fill_compute(MXC_F64, 0, before, n);
        for (int64_t i = 0; i < n; i++)
            tile[i] = before[i] + r->factor * tile[i];
        mxci_convert(MXC_F64, tile, out->dtype, mxci_at(out, at), n);
    }
}

static mxc_status clip_forward(const mxc_op_call *call) {
    double sum = 0, factor;
    clip_run r = {.call = call};
    for (int64_t i = 0; i < mxci_tensor_size(&call->in[SUM_SQ]); i++)
        sum += mxci_value_at(&call->in[SUM_SQ], i);
    factor = ((const mxci_clip_norm_params *)call->params)->max_norm / (sqrt(sum) + 1e-8);
    r.factor = factor > 1 ? 1 : factor; /* NaN stays */
    if (r.factor == 1)
        mxci_assign(call->run, call->req[0], &call->out[0], &call->in[DATA]);
    else if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, clip_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_clip_global_norm = {
    .size = sizeof(mxc_op_def),
    .name = "clip_global_norm",
    .args = "data,sum_sq",
    .doc = "Clips data by the global norm of several arrays: output = data min(1, max_norm / (sqrt(sum of sum_sq) + "
           "1e-8)); sum_sq (K,), float32, from multi_sum_sq",
    .params = clip_schema,
    .param_size = sizeof(mxci_clip_norm_params),
    .infer_shape = infer_clip_shape,
    .infer_type = infer_clip_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(DATA), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = clip_forward},
};
