/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the conversions to and from 8-bit integers. References compute with the real numbers that the integers
 * stand for. */
#include <math.h>

#include "operator/quantized/quantized_reference.h"

/* Half away from the middle of the range, as round does. */
static void ref_quantize(const op_run *r) {
    double low = r->in[1][0], high = r->in[2][0], most = fmax(fabs(low), fabs(high));
    int is_int8 = case_is(r, "out_type", "int8");
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = is_int8 ? fmin(fmax(round(x * (127 / most)), -127), 127)
                               : fmin(fmax(round((x - low) * (255 / (high - low))), 0), 255);
    }
    r->out[1][0] = is_int8 ? -most : low;
    r->out[2][0] = is_int8 ? most : high;
}

static void ref_dequantize(const op_run *r) {
    double low = r->in[1][0], high = r->in[2][0], most = r->in_type[0] == MXC_I8 ? 127 : 2147483647.0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in_type[0] == MXC_U8 ? low + r->in[0][i] * (high - low) / 255
                                               : r->in[0][i] * fmax(fabs(low), fabs(high)) / most;
}

#define QUANTIZE(given, shapes)                                                              \
    {                                                                                        \
        .op = "_contrib_quantize", .params = given, .in = shapes, .reference = ref_quantize, \
        .gradient = case_zero_gradient                                                       \
    }
#define DEQUANTIZE(shapes) \
    { .op = "_contrib_dequantize", .in = shapes, .reference = ref_dequantize }

/* Argument 0 in units, to the dtype of the output. */
static void to_range(const op_run *r, double unit) {
    int64_t n = case_size(&r->in_shape[0]);
    mxc_dtype type = r->out_type[0];
    double range = 0;
    for (int64_t i = 0; i < n; i++)
        range = isnan(r->in[0][i]) ? range : fmax(range, fabs(r->in[0][i]) * unit);
    range = case_is_calibrated(r) ? case_calibrated_bound(r) : range;
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] =
            range > 0 ? case_saturate(r, r->in[0][i] * (unit * (1 / case_range_unit(r, range, type))), type) : 0;
    case_put_range(r, type == MXC_U8 ? 0 : -range, range);
}

static void ref_quantize_v2(const op_run *r) {
    mxc_dtype type = r->in_type[0];
    if (type == MXC_F32) {
        to_range(r, 1);
        return;
    }
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
    r->out[1][0] = type == MXC_U8 ? 0 : -127;
    r->out[2][0] = case_quantized_max(type);
    if (case_is_calibrated(r))
        case_put_range(r, case_number(r, "min_calib_range", 0), case_number(r, "max_calib_range", 0));
}

static void ref_asym(const op_run *r) {
    double low = INFINITY, high = -INFINITY, scale;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        low = fmin(low, r->in[0][i]);
        high = fmax(high, r->in[0][i]);
    }
    low = case_is_calibrated(r) ? case_number(r, "min_calib_range", 0) : low <= high ? low : 0;
    high = case_is_calibrated(r) ? case_number(r, "max_calib_range", 0) : low <= high ? high : 0;
    scale = high > low ? 255 / (high - low) : 0;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = fmin(fmax(round((r->in[0][i] - low) * (1 / ((high - low) / 255))), 0), 255);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]) && scale == 0; i++)
        r->out[0][i] = 0;
    case_put_range(r, scale, -low * scale);
}

static void ref_requantize(const op_run *r) {
    to_range(r, case_quantized_unit(r, 0, 1));
}

static const op_case cases[] = {
    QUANTIZE("", "3x4 1@-1:-0.9 1@0.9:1"),
    QUANTIZE("", "7@-2:3 1@-1:-0.5 1@1:2; 65 1 1; 1x1 1 1; 7x1 1 1; 2x3x4 1 1; 3x129 1 1; 0 1 1; 1031 1 1; 17x3 1 1; "
                 "2x1x3x1x2 1 1"),
    QUANTIZE("", "1 1@-1:-0.9 1@0:1"),
    QUANTIZE("", "s 1@-2:-1 1@1:2"),
    QUANTIZE("", "0x3 1@-2:-1 1@1:2"),
    QUANTIZE("", "50x70@0:9 1@0.5:1 1@7:8"),
    QUANTIZE("", "20000@-5:5 1@-4:-3 1@3:4"),
    QUANTIZE("out_type=uint8", "2x3x4x5 1@-2:-1 1@1:2"),
    QUANTIZE("out_type=int8", "3x4 1@-1:-0.9 1@0.9:1"),
    QUANTIZE("out_type=int8", "7@-2:3 1@-1:-0.5 1@1:2"),
    QUANTIZE("out_type=int8", "50x70@-9:9 1@-8:-7 1@0.5:1"),
    QUANTIZE("out_type=int8", "1 1@-1:-0.9 1@0:1"),
    FAILS("_contrib_quantize", "", "3 2 1", MXC_ESHAPE, "argument 'min_range': expected shape (1,), found (2,)"),
    FAILS("_contrib_quantize", "out_type=int32", "3 1 1", MXC_EINVAL, "out_type"),
    INFERS("_contrib_quantize", "", "2x?,?,? -> ?x3,?,? => 2x3,1,1 -> 2x3,1,1"),

    DEQUANTIZE("3x90@-128:255i 1@-1:-0.9 1@0.9:1"),
    DEQUANTIZE("300@0:255i 1@-2:-1 1@3:4"),
    DEQUANTIZE("9@200:255i 1@-2:-1 1@3:4; 1 1 1; 7 1 1; s 1 1; 0 1 1; 1x1 1 1; 2x3x4 1 1; 65 1 1; 7x1 1 1; 3x129 1 1; "
               "2x1x3x1x2 1 1; 1031 1 1; 64 1 1"),
    DEQUANTIZE("9@-127:255i 1@-2:-1 1@3:4"),
    DEQUANTIZE("0x3 1@-2:-1 1@3:4"),
    DEQUANTIZE("20000@0:255i 1@1:2 1@3:4"),
    DEQUANTIZE("1@255:256 1@-2:-1 1@3:4"),
    DEQUANTIZE("30x70@-100:300i 1@-0.5:0.5 1@3:4"),
    FAILS("_contrib_dequantize", "", "3 1 1", MXC_EDTYPE, "data"),
    FAILS("_contrib_dequantize", "out_type=int8", "3 1 1", MXC_EINVAL, "out_type"),
    INFERS("_contrib_dequantize", "", "?,?,? -> 2x3 => 2x3,1,1 -> 2x3"),

    {.op = "_contrib_quantize_v2",
     .params = ";out_type=uint8;out_type=auto;min_calib_range=-1 max_calib_range=0.7;half_steps=true;half_steps=true "
               "out_type=uint8;half_steps=true min_calib_range=-1 max_calib_range=0.7",
     .in = "3x4@-2:1.5; 7; 1; s; 0x3; 50x70; 20000; 2x3x4x5",
     .reference = ref_quantize_v2,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantize_v2",
     .params = "out_type=auto min_calib_range=0 max_calib_range=1.5",
     .in = "3x5@-1:2; 600@-9:9",
     .reference = ref_quantize_v2,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantize_v2",
     .params = "min_calib_range=0 max_calib_range=0",
     .in = "3x5@-1:2",
     .reference = ref_quantize_v2,
     .gradient = case_zero_gradient},
    FAILS("_contrib_quantize_v2", "out_type=int32", "3", MXC_EINVAL, "out_type"),
    INFERS("_contrib_quantize_v2", "", "2x? -> ?x3,?,? => 2x3 -> 2x3,1,1"),

    {.op = "_contrib_quantize_asym",
     .params = "; min_calib_range=-1 max_calib_range=0.7; min_calib_range=0.5 max_calib_range=2",
     .in = "3x4@-2:1.5; 7; 1; s; 0x3; 50x70; 20000; 2x3x4x5",
     .reference = ref_asym,
     .gradient = case_zero_gradient},
    FAILS("_contrib_quantize_asym", "min_calib_range=x", "3", MXC_EINVAL, "min_calib_range"),
    INFERS("_contrib_quantize_asym", "", "2x? -> ?x3,?,? => 2x3 -> 2x3,1,1"),

    {.op = "_contrib_requantize",
     .params =
         ";out_type=uint8;min_calib_range=-0.1 max_calib_range=0.08;out_type=auto min_calib_range=0 "
         "max_calib_range=0.1;half_steps=true;half_steps=true out_type=uint8 min_calib_range=0 max_calib_range=0.1",
     .in = "3x4@-3e8:2e8i 1@-1:-0.9 1@0.5:0.6; 7 1 1; 1 1 1; s 1 1; 0x3 1 1; 50x70 1 1; 20000 1 1",
     .reference = ref_requantize},
    FAILS("_contrib_requantize", "", "3 1 1", MXC_EDTYPE, "_contrib_requantize"),
    INFERS("_contrib_requantize", "", "?,?,? -> 2x3,?,? => 2x3,1,1 -> 2x3,1,1"),
};

MXC_CASES(quantized_quantize_cases, cases);
