/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/quantized/quantized_reference.h"

#include <math.h>

double case_quantized_max(mxc_dtype type) {
    return type == MXC_U8 ? 255 : type == MXC_I8 ? 127 : 2147483647.0;
}

double case_quantized_unit(const op_run *r, int slot, int low) {
    return fmax(fabs(r->in[low][0]), fabs(r->in[low + 1][0])) / case_quantized_max(r->in_type[slot]);
}

static int has_half_steps(const op_run *r, mxc_dtype type) {
    return case_is(r, "half_steps", "true") && type != MXC_I32;
}

double case_range_unit(const op_run *r, double bound, mxc_dtype type) {
    return bound / (case_quantized_max(type) + (has_half_steps(r, type) ? 0.5 : 0));
}

double case_saturate(const op_run *r, double x, mxc_dtype type) {
    double least = type == MXC_U8 ? 0 : -case_quantized_max(type) - (type == MXC_I8 && has_half_steps(r, type));
    return fmin(fmax(round(x), least), case_quantized_max(type));
}

void case_put_range(const op_run *r, double low, double high) {
    double most = case_range_unit(r, fmax(fabs(low), fabs(high)), r->out_type[0]) * case_quantized_max(r->out_type[0]);
    r->out[1][0] = has_half_steps(r, r->out_type[0]) ? fmax(low, -most) : low;
    r->out[2][0] = has_half_steps(r, r->out_type[0]) ? fmin(high, most) : high;
}

int case_is_calibrated(const op_run *r) {
    return !isnan(case_number(r, "min_calib_range", NAN));
}

double case_calibrated_bound(const op_run *r) {
    return fmax(fabs(case_number(r, "min_calib_range", 0)), fabs(case_number(r, "max_calib_range", 0)));
}
