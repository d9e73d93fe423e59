/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of numbers to 8-bit integers and back (operator/quantized/quantize.c); a thread per element. Ranges are
 * arrays on the device: kernels read them there, and a launch of one thread writes the bounds of the result, so the
 * host never waits. */
#include <cmath>

#include "cuda/operator/quantized/quantized.h"
#include "operator/quantized/quantize_kernels.h"

enum { MIN = 1 };     /* argument, followed by MAX */
enum { PARTS = 256 }; /* of the search for the least and largest element */

/* ---- ranges that are given --------------------------------------------------------------------------------------- */

/* number = shift + scale * integer: for uint8 the range from low to high, for int8 a symmetric one. */
struct quantization {
    mxcu_range range;
    int is_unsigned;

    MXCU_DEVICE double shift() const {
        return is_unsigned ? *range.low : 0;
    }
    MXCU_DEVICE double scale() const {
        return is_unsigned ? ((double)*range.high - (double)*range.low) / 255 : range.unit();
    }
};

static quantization quantization_of(const mxc_op_call *call, mxc_dtype dtype) {
    return {mxcu_range_of(call, dtype, MIN), dtype == MXC_U8};
}

/* Two launches: the elements; and one thread for the bounds. */
template <class T> static mxc_status quantize(const mxc_op_call *call) {
    const quantization c = quantization_of(call, call->out[0].dtype);
    const double high = c.range.end, low = c.is_unsigned ? 0 : -high;
    const int wanted = call->req[0] != MXC_REQ_NULL;
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    MXC_TRY(mxcu_for(call, wanted ? mxcu_size(&call->out[0]) : 0, [=] MXCU_LAMBDA(int64_t i) {
        y.put(i, mxci_quantize_number(x[i], c.shift(), 1 / c.scale(), low, high));
    }));
    return mxcu_for(
        call, 1, [=] MXCU_LAMBDA(int64_t) { bounds.put(c.shift() + low * c.scale(), c.shift() + high * c.scale()); });
}

static mxc_status quantize_forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, quantize, call)
}

template <class T> static mxc_status dequantize(const mxc_op_call *call) {
    const quantization c = quantization_of(call, call->in[0].dtype);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<float> y = mxcu_result<float>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]),
                    [=] MXCU_LAMBDA(int64_t i) { y.put(i, (float)((double)x[i] * c.scale() + c.shift())); });
}

static mxc_status dequantize_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->in[0].dtype, dequantize, call)
}

/* ---- ranges that are found --------------------------------------------------------------------------------------- */

static size_t range_temp(const mxc_op_sig *, mxc_pass) {
    return (PARTS + 1) * 2 * sizeof(double);
}

/* temp[2 PARTS] and the next = the range: calibrated, or the input's least and greatest element, 0 where it has none.
 * PARTS teams search interleaved parts, then one thread combines their extents in order. */
template <class T> static mxc_status find_range(const mxc_op_call *call, const mxcu_range *unit) {
    const mxci_calib calib = static_cast<const mxci_range_params *>(call->params)->calib;
    const int given = !std::isnan(calib.low) && !std::isnan(calib.high), has_unit = unit != nullptr;
    const mxcu_range range = unit ? *unit : mxcu_range{nullptr, nullptr, 1};
    const int64_t n = given ? 0 : mxcu_size(&call->in[0]);
    double *extents = mxcu_temp<double>(call, 0);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    MXC_TRY(mxcu_rows(call, PARTS, n / PARTS, [=] MXCU_LAMBDA(int64_t part, mxcu_team team) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = part * team.size + team.rank; i < n; i += (int64_t)PARTS * team.size) {
            double next = (double)x[i];
            least = next < least ? next : least;
            most = next > most ? next : most;
        }
        least = team.min(least);
        most = team.max(most);
        extents[2 * part] = least;
        extents[2 * part + 1] = most;
    }));
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        double least = INFINITY, most = -INFINITY, step = has_unit ? range.unit() : 1;
        for (int i = 0; i < PARTS; i++) {
            least = fmin(least, extents[2 * i]);
            most = fmax(most, extents[2 * i + 1]);
        }
        extents[2 * PARTS] = given ? calib.low : least > most ? 0 : least * step;
        extents[2 * PARTS + 1] = given ? calib.high : least > most ? 0 : most * step;
    });
}

/* To a symmetric range (int8), or one from 0 (uint8), that is calibrated or found. unit: of the input's integers; NULL:
 * they are numbers. */
template <class T> static mxc_status quantize_to_range(const mxc_op_call *call, const mxcu_range *unit) {
    const mxc_dtype type = call->out[0].dtype;
    const double high = mxci_quantized_max(type), low = type == MXC_U8 ? 0 : -high;
    const mxci_calib *calib = &static_cast<const mxci_range_params *>(call->params)->calib;
    const int half_steps = calib->half_steps;
    const double end = half_steps ? high + 0.5 : high, least = mxci_calib_least(calib, type); /* codes */
    const mxcu_range range = unit ? *unit : mxcu_range{nullptr, nullptr, 1};
    const int has_unit = unit != nullptr, wanted = call->req[0] != MXC_REQ_NULL;
    const double *extents = mxcu_temp<double>(call, 2 * PARTS * sizeof(double));
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    MXC_TRY(find_range<T>(call, unit));
    MXC_TRY(mxcu_for(call, wanted ? mxcu_size(&call->out[0]) : 0, [=] MXCU_LAMBDA(int64_t i) {
        double most = fmax(fabs(extents[0]), fabs(extents[1]));
        double scale = (has_unit ? range.unit() : 1) * mxcu_inverse(most / end);
        y.put(i, mxci_quantize_number((double)x[i], 0, scale, least, high));
    }));
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        double most = fmax(fabs(extents[0]), fabs(extents[1]));
        most = half_steps ? most / end * high : most;
        bounds.put(low == 0 ? 0 : -most, most);
    });
}

/* A thread per element of 8 bits. */
mxc_status mxcu_quantized_copy(const mxc_op_call *call) {
    mxcu_in<uint8_t> x = mxcu_data<uint8_t>(&call->in[0]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    int64_t n = call->req[0] == MXC_REQ_NULL ? 0 : mxcu_size(&call->out[0]);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i]); });
}

/* Data that is 8-bit already is copied, with the calibrated range or that of its dtype. */
static mxc_status quantize_v2_forward(const mxc_op_call *call) {
    const mxc_dtype type = call->in[0].dtype;
    const mxcu_calibration calib =
        mxcu_calibration_of(static_cast<const mxci_range_params *>(call->params)->calib, type);
    const double most = mxci_quantized_max(type), least = type == MXC_U8 ? 0 : -most;
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    if (type == MXC_F32)
        return quantize_to_range<float>(call, nullptr);
    MXC_TRY(mxcu_quantized_copy(call));
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        bounds.put(calib.given ? calib.low : least, calib.given ? calib.high : most);
    });
}

static mxc_status requantize_forward(const mxc_op_call *call) {
    mxcu_range unit = mxcu_range_of(call, MXC_I32, MIN);
    return quantize_to_range<int32_t>(call, &unit);
}

/* From 0 for the least number to 255 for the greatest, of the calibrated range or of the input. */
static mxc_status asym_forward(const mxc_op_call *call) {
    const double high = mxci_quantized_max(MXC_U8), *extents = mxcu_temp<double>(call, 2 * PARTS * sizeof(double));
    const int wanted = call->req[0] != MXC_REQ_NULL;
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    mxcu_in<float> x = mxcu_data<float>(&call->in[0]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    MXC_TRY(find_range<float>(call, nullptr));
    MXC_TRY(mxcu_for(call, wanted ? mxcu_size(&call->out[0]) : 0, [=] MXCU_LAMBDA(int64_t i) {
        y.put(i,
              mxci_quantize_number((double)x[i], extents[0], mxcu_inverse((extents[1] - extents[0]) / high), 0, high));
    }));
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        const double scale = mxcu_inverse((extents[1] - extents[0]) / high);
        bounds.put(scale, -extents[0] * scale);
    });
}

MXCU_OP_IMPLS(quantize, {"_contrib_quantize", quantize_forward}, {"_contrib_dequantize", dequantize_forward},
              {"_contrib_quantize_v2", quantize_v2_forward, nullptr, range_temp},
              {"_contrib_requantize", requantize_forward, nullptr, range_temp},
              {"_contrib_quantize_asym", asym_forward, nullptr, range_temp})
