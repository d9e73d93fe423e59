/*
 * Numbers of a range as whole numbers of 8 bits, and back. min_range and max_range are arrays of one float32.
 *   uint8  0..255 stand for min_range..max_range
 *   int8   -127..127 for -r..r with r the larger of their absolute values
 * _contrib_quantize rounds to the nearest, cuts what is outside, and passes the range on: as given, or -r and r.
 * Gradients are zero.
 */
#include <math.h>

#include "operator/common.h"
#include "operator/kernels/convert.h"
#include "operator/kernels/quantize.h"

typedef struct quantize_params {
    int32_t out_type;
} quantize_params;

enum { INPUT, MIN, MAX };

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* A number is shift + scale times the whole one; those are low..high. */
typedef struct code {
    double shift, scale, low, high;
} code;

static code code_of(const mxc_op_call *call, mxc_dtype type) {
    double least = mxci_value_at(&call->in[MIN], 0), most = mxci_value_at(&call->in[MAX], 0);
    if (type == MXC_U8)
        return (code){least, (most - least) / 255, 0, 255};
    return (code){0, fmax(fabs(least), fabs(most)) / 127, -127, 127};
}

static mxc_status infer_ranges(mxc_op_sig *sig) {
    mxc_shape one = mxci_shape_of(1, (int64_t[]){1});
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){INPUT, MXC_SLOT_OUT(0)}));
    MXC_TRY(mxc_sig_set_shape(sig, MIN, &one));
    MXC_TRY(mxc_sig_set_shape(sig, MAX, &one));
    for (int i = 1; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &one));
    return MXC_OK;
}

static mxc_status infer_range_types(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, MIN, MXC_F32));
    MXC_TRY(mxc_sig_set_type(sig, MAX, MXC_F32));
    for (int i = 1; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), MXC_F32));
    return MXC_OK;
}

/* ---- both ways --------------------------------------------------------------------------------------------------- */

typedef struct code_run {
    const mxc_op_call *call;
    code code;
    int is_back;
} code_run;

static void code_range(void *arg, int64_t begin, int64_t end, int part) {
    const code_run *r = arg;
    const mxc_tensor *in = &r->call->in[INPUT], *out = &r->call->out[0];
    code c = r->code;
    double x[MXCI_TILE], y[MXCI_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxci_convert(in->dtype, mxci_at(in, i), MXC_F64, x, n);
        if (r->is_back)
            mxci_dequantize_row(n, x, c.shift, c.scale, y);
        else
            mxci_quantize_row(n, x, c.shift, 1 / c.scale, c.low, c.high, y);
        mxci_convert(MXC_F64, y, out->dtype, x, n);
        mxci_put_row(r->call->req[0], out->dtype, mxci_at(out, i), x, n);
    }
}

static void run(const mxc_op_call *call, code c, int is_back) {
    code_run r = {call, c, is_back};
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN, code_range, &r);
}

/* ---- _contrib_quantize ------------------------------------------------------------------------------------------- */

enum { UINT8, INT8 };

static const mxc_param quantize_schema[] = {
    {.name = "out_type", .type = MXC_PARAM_ENUM, MXC_PARAM_FIELD(quantize_params, out_type), .initial = "uint8",
     .choices = "uint8,int8", .doc = "dtype of output"},
    MXC_PARAM_END};

static mxc_status quantize_infer_type(mxc_op_sig *sig) {
    int type = ((const quantize_params *)sig->params)->out_type;
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), type == UINT8 ? MXC_U8 : MXC_I8));
    return infer_range_types(sig);
}

static mxc_status quantize_forward(const mxc_op_call *call) {
    code c = code_of(call, call->out[0].dtype);
    run(call, c, 0);
    mxci_put_value(call->req[1], &call->out[1], 0, c.shift + c.low * c.scale);
    mxci_put_value(call->req[2], &call->out[2], 0, c.shift + c.high * c.scale);
    return MXC_OK;
}

const mxc_op_def mxci_op_quantize = {
    .size = sizeof(mxc_op_def), .name = "_contrib_quantize", .args = "input,min_range,max_range",
    .outputs = "output,min_output,max_output",
    .doc = "output = the number of 0..255 that stands for input in min_range..max_range, or of -127..127 in a range "
           "that has 0 in the middle; min_output and max_output = the range",
    .flags = MXC_OP_ZERO_GRADIENT, .params = quantize_schema, .param_size = sizeof(quantize_params),
    .infer_shape = infer_ranges, .infer_type = quantize_infer_type, .dtypes = MXC_DTYPES_FLOAT,
    .forward = {[MXC_CPU] = quantize_forward}};

/* ---- _contrib_dequantize ----------------------------------------------------------------------------------------- */

static const mxc_param dequantize_schema[] = {
    {.name = "out_type", .type = MXC_PARAM_ENUM, MXC_PARAM_FIELD(quantize_params, out_type), .initial = "float32",
     .choices = "float32", .doc = "dtype of output"},
    MXC_PARAM_END};

static mxc_status dequantize_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32));
    return infer_range_types(sig);
}

static mxc_status dequantize_forward(const mxc_op_call *call) {
    run(call, code_of(call, call->in[INPUT].dtype), 1);
    return MXC_OK;
}

const mxc_op_def mxci_op_dequantize = {
    .size = sizeof(mxc_op_def), .name = "_contrib_dequantize", .args = "input,min_range,max_range",
    .doc = "output = the number of min_range..max_range that input stands for, uint8 or int8 as _contrib_quantize has "
           "made it",
    .flags = MXC_OP_ZERO_GRADIENT, .params = dequantize_schema, .param_size = sizeof(quantize_params),
    .infer_shape = infer_ranges, .infer_type = dequantize_infer_type,
    .dtypes = MXC_DTYPE_BIT(MXC_U8) | MXC_DTYPE_BIT(MXC_I8), .forward = {[MXC_CPU] = dequantize_forward}};
