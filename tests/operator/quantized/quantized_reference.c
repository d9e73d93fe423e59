/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/quantized/quantized_reference.h"

#include <math.h>

double case_quantized_max(mxc_dtype type) {
    return type == MXC_U8 ? 255 : type == MXC_I8 ? 127 : 2147483647.0;
}

double case_quantized_unit(const op_run *r, int slot, int low) {
    return fmax(fabs(r->in[low][0]), fabs(r->in[low + 1][0])) / case_quantized_max(r->in_type[slot]);
}

double case_saturate(double x, mxc_dtype type) {
    return fmin(fmax(round(x), type == MXC_U8 ? 0 : -case_quantized_max(type)), case_quantized_max(type));
}

void case_put_range(const op_run *r, double low, double high) {
    r->out[1][0] = low;
    r->out[2][0] = high;
}

int case_is_calibrated(const op_run *r) {
    return !isnan(case_number(r, "min_calib_range", NAN));
}

double case_calibrated_bound(const op_run *r) {
    return fmax(fabs(case_number(r, "min_calib_range", 0)), fabs(case_number(r, "max_calib_range", 0)));
}
