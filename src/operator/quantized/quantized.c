/* SPDX-License-Identifier: Apache-2.0 */
/* What quantized operators share: ranges and their bounds, and conversion from one range to another. */
#include "operator/quantized/quantized.h"

#include <math.h>

#include "math/tile_kernels.h"
#include "operator/quantized/quantize_kernels.h"

int mxci_calib_given(const mxci_calib *calib) {
    return !isnan(calib->low) && !isnan(calib->high);
}

mxc_dtype mxci_calib_type(int out_type, const mxci_calib *calib) {
    int is_unsigned = out_type == MXCI_UINT8 || (out_type == MXCI_AUTO && mxci_calib_given(calib) && calib->low >= 0);
    return is_unsigned ? MXC_U8 : MXC_I8;
}

double mxci_quantized_unit(mxc_dtype dtype, const mxc_tensor *low, const mxc_tensor *high) {
    return fmax(fabs(mxci_value_at(low, 0)), fabs(mxci_value_at(high, 0))) / mxci_quantized_max(dtype);
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

mxc_status mxci_infer_bounds(mxc_op_sig *sig, int first) {
    mxc_shape one = mxci_shape_of(1, (int64_t[]){1});
    for (int i = first; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i, &one));
    for (int i = 1; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &one));
    return MXC_OK;
}

mxc_status mxci_infer_bound_types(mxc_op_sig *sig, int first) {
    for (int i = first; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_type(sig, i, MXC_F32));
    for (int i = 1; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(i), MXC_F32));
    return MXC_OK;
}

mxc_status mxci_infer_quantized(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(0)}));
    return mxci_infer_bounds(sig, 1);
}

mxc_status mxci_infer_quantized_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(0)}));
    return mxci_infer_bound_types(sig, 1);
}

int mxci_quantized_any_layout(const mxc_op *op, int ndim, mxc_channels_last *out) {
    (void)op;
    (void)ndim;
    *out = (mxc_channels_last){.key = NULL};
    return 1;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

void mxci_assign_bounds(const mxc_op_call *call, double low, double high) {
    mxci_assign_value(call->req[1], &call->out[1], 0, low);
    mxci_assign_value(call->req[2], &call->out[2], 0, high);
}

void mxci_pass_bounds(const mxc_op_call *call, int low, int high) {
    mxci_assign_bounds(call, mxci_value_at(&call->in[low], 0), mxci_value_at(&call->in[high], 0));
}

void mxci_assign_range(const mxc_op_call *call, const mxci_calib *calib, double low, double high) {
    mxc_dtype type = call->out[0].dtype;
    double unit = mxci_calib_unit(calib, type, low, high), most = unit * mxci_quantized_max(type);
    if (calib->half_steps)
        mxci_assign_bounds(call, fmax(low, -most), fmin(high, most));
    else
        mxci_assign_bounds(call, low, high);
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

typedef struct rescaling {
    mxc_req req;
    const mxc_tensor *to, *from;
    double shift, scale, least, *extents; /* extents: least and largest of each part */
} rescaling;

static int64_t tile_at(int64_t i, int64_t end) {
    return end - i < MXCI_TILE ? end - i : MXCI_TILE;
}

/* Elements begin..end-1 in one sweep, between float32 or int32 and codes or to float32; 0 of other dtypes. */
static int rescale_at_once(const rescaling *r, int64_t begin, int64_t end) {
    const mxc_dtype from = r->from->dtype, to = r->to->dtype;
    const void *x = mxci_at(r->from, begin);
    const double most = mxci_quantized_max(to);
    if (r->req == MXC_REQ_ADD)
        return 0;
    if (from == MXC_F32 && (MXCI_DTYPES_QUANTIZED & MXC_DTYPE_BIT(to)))
        mxci_quantize_floats(end - begin, x, r->shift, r->scale, r->least, most, mxci_at(r->to, begin));
    else if (from == MXC_I32 && (MXCI_DTYPES_QUANTIZED & MXC_DTYPE_BIT(to)))
        mxci_quantize_sums(end - begin, x, r->shift, r->scale, r->least, most, mxci_at(r->to, begin));
    else if (from == MXC_I32 && to == MXC_F32)
        mxci_dequantize_sums(end - begin, x, r->shift, r->scale, mxci_at(r->to, begin));
    else if ((MXCI_DTYPES_QUANTIZED & MXC_DTYPE_BIT(from)) && to == MXC_F32)
        mxci_dequantize_codes(end - begin, from == MXC_I8, x, r->shift, r->scale, mxci_at(r->to, begin));
    else
        return 0;
    return 1;
}

/* Elements begin..end-1, at once or a tile at a time in float64. */
static void rescale_range(void *arg, int64_t begin, int64_t end, int part) {
    const rescaling *r = arg;
    mxc_dtype from = r->from->dtype, to = r->to->dtype;
    double most = mxci_quantized_max(to);
    double x[MXCI_TILE], y[MXCI_TILE];
    int32_t rounded[MXCI_TILE];
    (void)part;
    if (rescale_at_once(r, begin, end))
        return;
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = tile_at(i, end);
        mxci_convert(from, mxci_at(r->from, i), MXC_F64, x, n);
        if (MXC_DTYPES_FLOAT & MXC_DTYPE_BIT(to)) {
            mxci_dequantize_row(n, x, r->shift, r->scale, y);
            mxci_convert(MXC_F64, y, to, x, n);
        } else {
            mxci_quantize_row(n, x, r->shift, r->scale, r->least, most, rounded);
            mxci_convert(MXC_I32, rounded, to, x, n);
        }
        mxci_assign_row(r->req, to, mxci_at(r->to, i), x, n);
    }
}

void mxci_rescale(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, double shift,
                  double scale) {
    mxci_rescale_from(run, req, to, from, shift, scale, to->dtype == MXC_U8 ? 0 : -mxci_quantized_max(to->dtype));
}

void mxci_rescale_from(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, double shift,
                       double scale, double least) {
    rescaling r = {.req = req, .to = to, .from = from, .shift = shift, .scale = scale, .least = least};
    if (req != MXC_REQ_NULL)
        mxc_parallel_for(run, mxci_tensor_size(to), MXCI_GRAIN, rescale_range, &r);
}

size_t mxci_min_max_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return 2 * (size_t)sig->parallelism * sizeof(double);
}

static void min_max_range(void *arg, int64_t begin, int64_t end, int part) {
    const rescaling *r = arg;
    double x[MXCI_TILE];
    for (int64_t i = begin; i < end; i += MXCI_TILE) {
        int64_t n = tile_at(i, end);
        mxci_convert(r->from->dtype, mxci_at(r->from, i), MXC_F64, x, n);
        mxci_min_max_row(n, x, &r->extents[2 * part], &r->extents[2 * part + 1]);
    }
}

void mxci_min_max(const mxc_run *run, const mxc_tensor *of, void *temp, double *least, double *most) {
    rescaling r = {.from = of, .extents = temp};
    int parts = run ? mxc_engine_parallelism(run->engine) : 1;
    for (int i = 0; i < parts; i++) {
        r.extents[2 * i] = INFINITY;
        r.extents[2 * i + 1] = -INFINITY;
    }
    mxc_parallel_for(run, mxci_tensor_size(of), MXCI_GRAIN, min_max_range, &r);
    *least = INFINITY;
    *most = -INFINITY;
    for (int i = 0; i < parts; i++) {
        *least = fmin(*least, r.extents[2 * i]);
        *most = fmax(*most, r.extents[2 * i + 1]);
    }
    if (*least > *most)
        *least = *most = 0;
}
