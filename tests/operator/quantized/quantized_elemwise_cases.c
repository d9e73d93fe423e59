/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_quantized_elemwise_add, _contrib_quantized_elemwise_mul and _contrib_quantized_concat. */
#include <math.h>

#include "operator/quantized/quantized_reference.h"

static double bound_of(const op_run *r, int low) {
    return fmax(fabs(r->in[low][0]), fabs(r->in[low + 1][0]));
}

static void ref_add(const op_run *r) {
    double most = bound_of(r, 2) + bound_of(r, 4), left = case_quantized_unit(r, 0, 2),
           right = case_quantized_unit(r, 1, 4);
    double unit = case_range_unit(r, case_is_calibrated(r) ? case_calibrated_bound(r) : most, r->out_type[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] =
            case_saturate(r, r->in[0][i] * (left * (1 / unit)) + r->in[1][i] * (right * (1 / unit)), r->out_type[0]);
    case_put_range(r, case_number(r, "min_calib_range", -most), case_number(r, "max_calib_range", most));
}

static void ref_mul(const op_run *r) {
    int is_float = case_is(r, "enable_float_output", "true");
    double unit = case_quantized_unit(r, 0, 2) * case_quantized_unit(r, 1, 4), scale = 1;
    if (is_float)
        scale = unit;
    else if (case_is_calibrated(r))
        scale = unit / case_range_unit(r, case_calibrated_bound(r), MXC_I8);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = r->in[0][i] * r->in[1][i] * scale;
        r->out[0][i] = is_float ? x : case_saturate(r, x, r->out_type[0]);
    }
    if (!is_float)
        case_put_range(r, case_number(r, "min_calib_range", -unit * 2147483647.0),
                       case_number(r, "max_calib_range", unit * 2147483647.0));
}

static void ref_concat(const op_run *r) {
    int n = r->n_in / 3, axis = (int)case_number(r, "dim", 1);
    int64_t inner = 1, rows = 0, whole;
    double low = 0, high = 0;
    axis += axis < 0 ? r->out_shape[0].ndim : 0;
    for (int i = axis + 1; i < r->out_shape[0].ndim; i++)
        inner *= r->out_shape[0].dim[i];
    whole = r->out_shape[0].dim[axis] * inner;
    for (int i = 0; i < n; i++) {
        double end = case_quantized_max(r->in_type[i]) * case_range_unit(r, 1, r->in_type[i]);
        low = fmin(low, r->in[n + 2 * i][0] / end);
        high = fmax(high, r->in[n + 2 * i + 1][0] / end);
    }
    for (int i = 0; i < n; i++) {
        int64_t own = r->in_shape[i].dim[axis] * inner;
        double unit = case_range_unit(r, fmax(-low, high), r->out_type[0]);
        for (int64_t k = 0; k < case_size(&r->in_shape[i]); k++)
            r->out[0][k / own * whole + rows + k % own] =
                case_saturate(r, r->in[i][k] * (case_quantized_unit(r, i, n + 2 * i) * (1 / unit)), r->out_type[0]);
        rows += own;
    }
    case_put_range(r, low, high);
}

#define SIX " 1 1 1 1"

static const op_case cases[] = {
    RUN("_contrib_quantized_elemwise_add",
        ";min_calib_range=-1 max_calib_range=0.5;min_calib_range=-1 max_calib_range=0.5 half_steps=true",
        "2x3@-128:255i 2x3@-128:255i " TWO_BOUNDS "; 1 1" SIX "; s s" SIX "; 0x3 0x3" SIX "; 7x5 7x5" SIX
        "; 600 600" SIX "; 20000 20000" SIX "; 2x1x4 2x1x4" SIX "; 513 513" SIX "; 3x3x3 3x3x3" SIX,
        ref_add),
    FAILS("_contrib_quantized_elemwise_add", "", "2 2 1 1 1 1", MXC_EDTYPE, "_contrib_quantized_elemwise_add"),
    INFERS("_contrib_quantized_elemwise_add", "", "2x?,?x3,?,?,?,? -> ?,?,? => 2x3,2x3,1,1,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_elemwise_mul",
        ";min_calib_range=-0.5 max_calib_range=0.3;enable_float_output=true;"
        "min_calib_range=-0.5 max_calib_range=0.3 half_steps=true",
        "2x3@-127:127i 2x3@-127:127i " TWO_BOUNDS "; 1 1" SIX "; s s" SIX "; 0x3 0x3" SIX "; 7x5 7x5" SIX
        "; 600 600" SIX "; 20000 20000" SIX "; 2x1x4 2x1x4" SIX,
        ref_mul),
    FAILS("_contrib_quantized_elemwise_mul", "", "2 2 1 1 1 1", MXC_EDTYPE, "_contrib_quantized_elemwise_mul"),
    INFERS("_contrib_quantized_elemwise_mul", "enable_float_output=true",
           "2x?,?x3,?,?,?,? -> ? => 2x3,2x3,1,1,1,1 -> "
           "2x3"),

    RUN("_contrib_quantized_concat", "num_args=2;num_args=2 dim=-1;num_args=2 half_steps=true",
        "2x3@-128:255i 2x3@-128:255i " TWO_BOUNDS "; 1x1 1x1" SIX "; 2x3 2x5" SIX "; 0x3 0x4" SIX "; 7x5 7x1" SIX
        "; 3x600 3x2" SIX "; 4x0 4x2" SIX "; 200x300 200x7" SIX,
        ref_concat),
    RUN("_contrib_quantized_concat", "num_args=1 dim=0", ANY("2x3") "; 7" SAME "; 1x5x3" SAME, ref_concat),
    RUN("_contrib_quantized_concat", "num_args=3 dim=0",
        "2x3@-128:255i 1x3@-128:255i 3x3@-128:255i " TWO_BOUNDS " 1@-2:-1 1@1:2; 0x2 1x2 2x2 1 1 1 1 1 1", ref_concat),
    FAILS("_contrib_quantized_concat", "num_args=65", "2 1 1", MXC_EINVAL, "num_args"),
    FAILS("_contrib_quantized_concat", "", "2 1 1", MXC_EINVAL, "num_args"),
    INFERS("_contrib_quantized_concat", "num_args=2", "2x3,?x5,?,?,?,? -> ?,?,? => 2x3,2x5,1,1,1,1 -> 2x8,1,1"),
};

MXC_CASES(quantized_quantized_elemwise_cases, cases);
