/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized operators of several arrays: element-wise sums and products, and concatenation. Numbers are converted to
 * the output's unit: that of a calibrated range (8 bits), or one whose range no result exceeds (int32). */
#include <math.h>

#include "base/text.h"
#include "math/tile_kernels.h"
#include "operator/quantized/quantize_kernels.h"
#include "operator/quantized/quantized.h"
#include "operator/tensor/concat.h"
#include "operator/tensor/concat_split.h"

#define ARGS "lhs,rhs,lhs_min,lhs_max,rhs_min,rhs_max"
#define OUTPUTS "output,min_output,max_output"

enum { LHS, RHS };

typedef mxci_quantized_elemwise_params elemwise_params;

static double unit_of(const mxc_op_call *call, int slot) {
    return mxci_quantized_unit(call->in[slot].dtype, &call->in[2 + 2 * slot], &call->in[3 + 2 * slot]);
}

static mxc_status elemwise_infer(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_shape(sig, 3, (int[]){LHS, RHS, MXC_SLOT_OUT(0)}));
    return mxci_infer_bounds(sig, 2);
}

/* The bounds of output 0: the calibrated range, else what its dtype represents in this unit. */
static void quantized_elemwise_put_range(const mxc_op_call *call, double unit) {
    const elemwise_params *p = call->params;
    double most = unit * mxci_quantized_max(call->out[0].dtype);
    if (mxci_calib_given(&p->calib))
        mxci_assign_range(call, &p->calib, p->calib.low, p->calib.high);
    else
        mxci_assign_bounds(call, -most, most);
}

static double calibrated_unit(const mxc_op_call *call) {
    const mxci_calib *calib = &((const elemwise_params *)call->params)->calib;
    return mxci_calib_unit(calib, call->out[0].dtype, calib->low, calib->high);
}

/* ---- sums and products ------------------------------------------------------------------------------------------- */

typedef struct elemwise_run {
    const mxc_op_call *call;
    int is_product;
    double left, right; /* what lhs and rhs, or their product, is multiplied by */
} elemwise_run;

static void elemwise_range(void *arg, int64_t begin, int64_t end, int part) {
    const elemwise_run *r = arg;
    const mxc_tensor *a = &r->call->in[LHS], *b = &r->call->in[RHS], *to = &r->call->out[0];
    double least = mxci_calib_least(&((const elemwise_params *)r->call->params)->calib, to->dtype);
    double most = mxci_quantized_max(to->dtype), x[MXCI_TILE], y[MXCI_TILE], z[MXCI_TILE];
    int32_t rounded[MXCI_TILE];
    (void)part;
    if (!r->is_product && to->dtype == MXC_I32 && r->call->req[0] != MXC_REQ_ADD) {
        const mxci_codes left = {mxci_at(a, begin), a->dtype == MXC_I8, r->left};
        const mxci_codes right = {mxci_at(b, begin), b->dtype == MXC_I8, r->right};
        mxci_add_codes(end - begin, &left, &right, least, most, mxci_at(to, begin));
        return;
    }
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxci_convert(a->dtype, mxci_at(a, i), MXC_F64, x, n);
        mxci_convert(b->dtype, mxci_at(b, i), MXC_F64, y, n);
        if (r->is_product)
            mxci_scaled_product_row(n, x, y, r->left, z);
        else
            mxci_weighted_sum_row(n, x, r->left, y, r->right, z);
        if (to->dtype != MXC_F32)
            mxci_quantize_row(n, z, 0, 1, least, most, rounded);
        mxci_convert(to->dtype == MXC_F32 ? MXC_F64 : MXC_I32, to->dtype == MXC_F32 ? (void *)z : rounded, to->dtype, x,
                     n);
        mxci_assign_row(r->call->req[0], to->dtype, mxci_at(to, i), x, n);
    }
}

static void run_elemwise(const mxc_op_call *call, int is_product, double left, double right) {
    elemwise_run r = {call, is_product, left, right};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, elemwise_range, &r);
}

static const mxc_param add_schema[] = {MXCI_CALIB_SCHEMA(elemwise_params, calib), MXC_PARAM_END};

static mxc_status add_infer_type(mxc_op_sig *sig) {
    const elemwise_params *p = sig->params;
    mxc_dtype lhs = sig->in_type[LHS], rhs = sig->in_type[RHS];
    MXC_TRY(mxci_infer_bound_types(sig, 2));
    if (rhs != MXC_DTYPE_UNKNOWN && !(MXCI_DTYPES_QUANTIZED & MXC_DTYPE_BIT(rhs)))
        return MXC_FAIL(MXC_EDTYPE, "_contrib_quantized_elemwise_add: argument 'rhs': expected int8 or uint8, found %s",
                        mxc_dtype_name(rhs));
    if (!mxci_calib_given(&p->calib))
        return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_I32);
    if (lhs == MXC_DTYPE_UNKNOWN || rhs == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), lhs == MXC_U8 && rhs == MXC_U8 ? MXC_U8 : MXC_I8);
}

static mxc_status add_forward(const mxc_op_call *call) {
    const elemwise_params *p = call->params;
    double left = unit_of(call, LHS), right = unit_of(call, RHS), unit;
    unit = (left * mxci_quantized_max(call->in[LHS].dtype) + right * mxci_quantized_max(call->in[RHS].dtype)) /
           mxci_quantized_max(MXC_I32);
    unit = mxci_calib_given(&p->calib) ? calibrated_unit(call) : unit;
    run_elemwise(call, 0, left * mxci_inverse_unit(unit), right * mxci_inverse_unit(unit));
    quantized_elemwise_put_range(call, unit);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_elemwise_add = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_elemwise_add",
    .args = ARGS,
    .outputs = OUTPUTS,
    .doc = "output = the sum of quantized lhs and rhs: int32 over [-r, r], where r is the sum of the two largest "
           "absolute bounds; with a calibrated range 8 bits over that range, uint8 if both arguments are, else int8",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = add_schema,
    .param_size = sizeof(elemwise_params),
    .infer_shape = elemwise_infer,
    .infer_type = add_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = add_forward},
};

static const mxc_param mul_schema[] = {
    MXCI_CALIB_SCHEMA(elemwise_params, calib),
    {MXC_PARAM_FIELD(elemwise_params, enable_float_output), .name = "enable_float_output", .type = MXC_PARAM_BOOL,
     .initial = "False", .doc = "Return float32 instead of integers and a range."},
    MXC_PARAM_END,
};

static int mul_outputs(const void *params) {
    return ((const elemwise_params *)params)->enable_float_output ? 1 : 3;
}

static mxc_status mul_infer_type(mxc_op_sig *sig) {
    const elemwise_params *p = sig->params;
    mxc_dtype rounded = mxci_calib_given(&p->calib) ? MXC_I8 : MXC_I32;
    MXC_TRY(mxc_sig_set_type(sig, LHS, MXC_I8));
    MXC_TRY(mxc_sig_set_type(sig, RHS, MXC_I8));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), p->enable_float_output ? MXC_F32 : rounded));
    return mxci_infer_bound_types(sig, 2);
}

static mxc_status mul_forward(const mxc_op_call *call) {
    const elemwise_params *p = call->params;
    double unit = unit_of(call, LHS) * unit_of(call, RHS), scale = 1;
    if (p->enable_float_output)
        scale = unit;
    else if (mxci_calib_given(&p->calib))
        scale = unit * mxci_inverse_unit(calibrated_unit(call));
    run_elemwise(call, 1, scale, 0);
    if (!p->enable_float_output)
        quantized_elemwise_put_range(call, unit);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_elemwise_mul = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_elemwise_mul",
    .args = ARGS,
    .outputs = OUTPUTS,
    .n_outputs = mul_outputs,
    .doc = "output = the product of int8 lhs and rhs: int32 with the product of their units, with a calibrated range "
           "int8 over that range, or float32",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = mul_schema,
    .param_size = sizeof(elemwise_params),
    .infer_shape = elemwise_infer,
    .infer_type = mul_infer_type,
    .dtypes = MXC_DTYPE_BIT(MXC_I8),
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = mul_forward},
};

/* ---- _contrib_quantized_concat ----------------------------------------------------------------------------------- */

enum { CONCAT_MAX = MXCI_QUANTIZED_CONCAT_MAX };

typedef mxci_quantized_concat_params concat_params;

static const mxc_param concat_schema[] = {
    {MXC_PARAM_FIELD(concat_params, base.num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = CONCAT_MAX, .doc = "Number of arguments."},
    {MXC_PARAM_FIELD(concat_params, base.dim), .name = "dim", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1,
     .minimum = -MXC_MAX_NDIM, .maximum = MXC_MAX_NDIM - 1,
     .doc = "Axis of concatenation. Negative values count from the end."},
    MXCI_HALF_STEPS_SCHEMA(concat_params, calib),
    MXC_PARAM_END,
};

static int arrays_of(const void *params) {
    return (int)((const concat_params *)params)->base.num_args;
}

static int concat_args(const void *params) {
    return 3 * arrays_of(params);
}

static const char *concat_names(const void *params) {
    return ((const concat_params *)params)->names;
}

/* "arg0,arg1,arg0_min,arg0_max,arg1_min,arg1_max" */
static mxc_status concat_check(void *params) {
    concat_params *p = params;
    mxci_line line = {p->names, sizeof p->names, 0};
    for (int i = 0; i < arrays_of(p); i++)
        mxci_line_printf(&line, "%sarg%d", i ? "," : "", i);
    for (int i = 0; i < arrays_of(p); i++)
        mxci_line_printf(&line, ",arg%d_min,arg%d_max", i, i);
    return MXC_OK;
}

static mxc_status concat_infer(mxc_op_sig *sig) {
    mxc_op_sig arrays = *sig;
    arrays.n_in = sig->n_in / 3;
    MXC_TRY(mxci_concat_infer(&arrays));
    return mxci_infer_bounds(sig, arrays.n_in);
}

static mxc_status concat_infer_type(mxc_op_sig *sig) {
    int n = sig->n_in / 3, unknown = 0;
    mxc_dtype type = MXC_U8;
    for (int i = 0; i < n; i++) {
        unknown += sig->in_type[i] == MXC_DTYPE_UNKNOWN;
        if (sig->in_type[i] == MXC_I8)
            type = MXC_I8;
        else if (sig->in_type[i] != MXC_DTYPE_UNKNOWN)
            MXC_TRY(mxc_sig_set_type(sig, i, MXC_U8));
    }
    if (type == MXC_I8 || !unknown)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), type));
    return mxci_infer_bound_types(sig, n);
}

static size_t part_bytes(const mxc_shape *shape) {
    return mxci_size_align(mxci_shape_bytes(shape, 1));
}

static size_t concat_temp(const mxc_op_sig *sig, mxc_pass pass) {
    mxci_scratch s = {0};
    (void)pass;
    for (int i = 0; i < sig->n_in / 3; i++)
        mxci_scratch_take(&s, part_bytes(&sig->in_shape[i]));
    return s.bytes;
}

/* The arrays are converted to the output's unit, which has room for the widest range, into scratch, and then joined. */
static mxc_status concat_forward(const mxc_op_call *call) {
    const concat_params *p = call->params;
    const mxc_tensor *out = &call->out[0];
    mxc_tensor parts[CONCAT_MAX];
    int n = call->n_in / 3;
    double low = 0, high = 0, unit;
    char *temp = call->temp;
    for (int i = 0; i < n; i++) {
        double end = mxci_calib_end(&p->calib, call->in[i].dtype);
        low = fmin(low, mxci_value_at(&call->in[n + 2 * i], 0) * end);
        high = fmax(high, mxci_value_at(&call->in[n + 2 * i + 1], 0) * end);
    }
    unit = mxci_calib_unit(&p->calib, out->dtype, low, high);
    for (int i = 0; i < n; i++) {
        const mxc_tensor *in = &call->in[i];
        double own = mxci_quantized_unit(in->dtype, &call->in[n + 2 * i], &call->in[n + 2 * i + 1]);
        parts[i] = *in;
        parts[i].dtype = out->dtype;
        parts[i].data = temp;
        temp += part_bytes(&in->shape);
        mxci_rescale_from(call->run, call->req[0] ? MXC_REQ_WRITE : MXC_REQ_NULL, &parts[i], in, 0,
                          own * mxci_inverse_unit(unit), mxci_calib_least(&p->calib, out->dtype));
    }
    mxci_concat_arrays(call->run, call->req[0], out, n, parts,
                       (int)(p->base.dim < 0 ? p->base.dim + out->shape.ndim : p->base.dim));
    mxci_assign_range(call, &p->calib, low, high);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantized_concat = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantized_concat",
    .args = "arg0,...,arg0_min,arg0_max,...",
    .args_of = concat_names,
    .n_args = concat_args,
    .outputs = OUTPUTS,
    .doc = "output = the arguments concatenated along dim and requantized to the range that covers all of theirs: "
           "uint8 if all are, else int8",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = concat_schema,
    .param_size = sizeof(concat_params),
    .params_check = concat_check,
    .infer_shape = concat_infer,
    .infer_type = concat_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED,
    .temp_bytes = concat_temp,
    .forward = {[MXC_CPU] = concat_forward},
};
