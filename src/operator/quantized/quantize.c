/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a range as 8-bit integers, and back. min_range and max_range are arrays of one float32.
 *
 *   uint8  0..255 stand for min_range..max_range
 *   int8   -127..127 stand for -r..r, where r is the larger of their absolute values; int32 likewise
 *
 * _contrib_quantize rounds to nearest, saturates, and returns the range: as given, or -r and r. _contrib_quantize_v2
 * finds the range or takes a calibrated one, and _contrib_requantize converts int32 to 8 bits; with both, uint8's range
 * begins at 0. _contrib_quantize_asym returns a factor and an offset instead of a range. Gradients are zero. */
#include <math.h>

#include "operator/quantized/quantized.h"

typedef struct quantize_params {
    int32_t out_type;
} quantize_params;

enum { INPUT, MIN, MAX };

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* number = shift + scale * integer, for integers low..high. */
typedef struct quantization {
    double shift, scale, low, high;
} quantization;

static quantization quantization_of(const mxc_op_call *call, mxc_dtype type) {
    double least = mxci_value_at(&call->in[MIN], 0), most = mxci_value_at(&call->in[MAX], 0);
    double end = mxci_quantized_max(type);
    if (type == MXC_U8)
        return (quantization){least, (most - least) / 255, 0, 255};
    return (quantization){0, fmax(fabs(least), fabs(most)) / end, -end, end};
}

/* ---- _contrib_quantize ------------------------------------------------------------------------------------------- */

enum { UINT8, INT8 };

static const mxc_param quantize_schema[] = {
    {MXC_PARAM_FIELD(quantize_params, out_type), .name = "out_type", .type = MXC_PARAM_ENUM, .initial = "uint8",
     .choices = "uint8,int8", .doc = "Dtype of output."},
    MXC_PARAM_END,
};

static mxc_status quantize_infer_type(mxc_op_sig *sig) {
    int type = ((const quantize_params *)sig->params)->out_type;
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), type == UINT8 ? MXC_U8 : MXC_I8));
    return mxci_infer_bound_types(sig, MIN);
}

static mxc_status quantize_forward(const mxc_op_call *call) {
    quantization c = quantization_of(call, call->out[0].dtype);
    mxci_rescale(call->run, call->req[0], &call->out[0], &call->in[INPUT], c.shift, 1 / c.scale);
    mxci_assign_bounds(call, c.shift + c.low * c.scale, c.shift + c.high * c.scale);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantize = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantize",
    .args = "data,min_range,max_range",
    .outputs = "output0,output1,output2",
    .doc = "Quantizes float input to 8 bits: to 0..255 over [min_range, max_range], or with out_type=int8 to -127..127 "
           "over a range symmetric about 0; output1 and output2 = the range",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = quantize_schema,
    .param_size = sizeof(quantize_params),
    .infer_shape = mxci_infer_quantized,
    .infer_type = quantize_infer_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = quantize_forward},
};

/* ---- _contrib_dequantize ----------------------------------------------------------------------------------------- */

static const mxc_param dequantize_schema[] = {
    {MXC_PARAM_FIELD(quantize_params, out_type), .name = "out_type", .type = MXC_PARAM_ENUM, .initial = "float32",
     .choices = "float32", .doc = "Dtype of output."},
    MXC_PARAM_END,
};

static mxc_status dequantize_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32));
    return mxci_infer_bound_types(sig, MIN);
}

static mxc_status dequantize_forward(const mxc_op_call *call) {
    quantization c = quantization_of(call, call->in[INPUT].dtype);
    mxci_rescale(call->run, call->req[0], &call->out[0], &call->in[INPUT], c.shift, c.scale);
    return MXC_OK;
}

const mxc_op_def mxci_op_dequantize = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_dequantize",
    .args = "data,min_range,max_range",
    .doc = "Dequantizes data to float over [min_range, max_range]: uint8 and int8 as _contrib_quantize makes them, "
           "int32 as quantized layers make it",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = dequantize_schema,
    .param_size = sizeof(quantize_params),
    .infer_shape = mxci_infer_quantized,
    .infer_type = dequantize_infer_type,
    .dtypes = MXCI_DTYPES_QUANTIZED | MXC_DTYPE_BIT(MXC_I32),
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = dequantize_forward},
};

/* ---- _contrib_quantize_v2 and _contrib_requantize ---------------------------------------------------------------- */

typedef mxci_range_params range_params;

static const mxc_param range_schema[] = {
    {MXC_PARAM_FIELD(range_params, out_type), .name = "out_type", .type = MXC_PARAM_ENUM, .initial = "int8",
     .choices = "auto,int8,uint8",
     .doc = "Dtype of output. auto: uint8 if min_calib_range is given and not negative, else int8."},
    MXCI_CALIB_SCHEMA(range_params, calib),
    MXC_PARAM_END,
};

static mxc_dtype range_type(const void *params) {
    const range_params *p = params;
    return mxci_calib_type(p->out_type, &p->calib);
}

/* output = input, whose integers are in units of input_unit, quantized to a calibrated range or that of the
 * elements. */
static void quantize_to_range(const mxc_op_call *call, double input_unit) {
    const range_params *p = call->params;
    mxc_dtype type = call->out[0].dtype;
    double least = p->calib.low, most = p->calib.high, range;
    if (!mxci_calib_given(&p->calib)) {
        mxci_min_max(call->run, &call->in[INPUT], call->temp, &least, &most);
        least *= input_unit;
        most *= input_unit;
    }
    range = fmax(fabs(least), fabs(most));
    mxci_rescale_from(call->run, call->req[0], &call->out[0], &call->in[INPUT], 0,
                      input_unit * mxci_inverse_unit(mxci_calib_unit(&p->calib, type, least, most)),
                      mxci_calib_least(&p->calib, type));
    mxci_assign_range(call, &p->calib, type == MXC_U8 ? 0 : -range, range);
}

static mxc_status quantize_v2_infer_type(mxc_op_sig *sig) {
    mxc_dtype type = sig->in_type[INPUT];
    if (type == MXC_DTYPE_UNKNOWN)
        return mxci_infer_bound_types(sig, 1);
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), type == MXC_F32 ? range_type(sig->params) : type));
    return mxci_infer_bound_types(sig, 1);
}

static mxc_status quantize_v2_forward(const mxc_op_call *call) {
    const range_params *p = call->params;
    mxc_dtype type = call->in[INPUT].dtype;
    double most = mxci_quantized_max(type);
    if (type == MXC_F32) {
        quantize_to_range(call, 1);
        return MXC_OK;
    }
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[INPUT]);
    if (mxci_calib_given(&p->calib))
        mxci_assign_range(call, &p->calib, p->calib.low, p->calib.high);
    else
        mxci_assign_bounds(call, type == MXC_U8 ? 0 : -most, most);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantize_v2 = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantize_v2",
    .outputs = "output0,output1,output2",
    .doc = "output0 = data / unit, rounded and saturated, with unit = r / 127 (int8) or r / 255 (uint8, where negative "
           "values become 0) and r the largest absolute value of the calibrated range or else of data; output1 and "
           "output2 = the range, from -r (uint8: 0) to r. Data that is int8 or uint8 is passed through",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = range_schema,
    .param_size = sizeof(range_params),
    .infer_shape = mxci_infer_quantized,
    .infer_type = quantize_v2_infer_type,
    .dtypes = MXC_DTYPE_BIT(MXC_F32) | MXCI_DTYPES_QUANTIZED,
    .temp_bytes = mxci_min_max_bytes,
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = quantize_v2_forward},
};

static mxc_status requantize_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, INPUT, MXC_I32));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), range_type(sig->params)));
    return mxci_infer_bound_types(sig, MIN);
}

static mxc_status requantize_forward(const mxc_op_call *call) {
    quantize_to_range(call, mxci_quantized_unit(MXC_I32, &call->in[MIN], &call->in[MAX]));
    return MXC_OK;
}

const mxc_op_def mxci_op_requantize = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_requantize",
    .args = "data,min_range,max_range",
    .outputs = "output0,output1,output2",
    .doc = "Requantizes int32 data over [min_range, max_range] to 8 bits, as _contrib_quantize_v2 quantizes the real "
           "numbers that data stands for",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = range_schema,
    .param_size = sizeof(range_params),
    .infer_shape = mxci_infer_quantized,
    .infer_type = requantize_infer_type,
    .dtypes = MXC_DTYPE_BIT(MXC_I32),
    .temp_bytes = mxci_min_max_bytes,
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = requantize_forward},
};

/* ---- _contrib_quantize_asym -------------------------------------------------------------------------------------- */

static const mxc_param asym_schema[] = {MXCI_CALIB_BOUNDS_SCHEMA(range_params, calib), MXC_PARAM_END};

static mxc_status asym_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, INPUT, MXC_F32));
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_U8));
    return mxci_infer_bound_types(sig, 1);
}

static mxc_status asym_forward(const mxc_op_call *call) {
    const range_params *p = call->params;
    double least = p->calib.low, most = p->calib.high, scale;
    if (!mxci_calib_given(&p->calib))
        mxci_min_max(call->run, &call->in[INPUT], call->temp, &least, &most);
    scale = mxci_inverse_unit((most - least) / mxci_quantized_max(MXC_U8));
    mxci_rescale(call->run, call->req[0], &call->out[0], &call->in[INPUT], least, scale);
    mxci_assign_bounds(call, scale, -least * scale);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantize_asym = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_quantize_asym",
    .outputs = "output,scale,shift",
    .doc =
        "output (uint8) = data scale + shift, rounded and saturated, with scale = 255 / (max - min) and shift = -min "
        "scale of the calibrated range or else of data; 0 where min = max",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = asym_schema,
    .param_size = sizeof(range_params),
    .infer_shape = mxci_infer_quantized,
    .infer_type = asym_infer_type,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .temp_bytes = mxci_min_max_bytes,
    .channels_last = mxci_quantized_any_layout,
    .forward = {[MXC_CPU] = asym_forward},
};
