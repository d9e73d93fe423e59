/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_quantized_batch_norm. */
#include <math.h>

#include "operator/quantized/quantized_reference.h"

static void ref_batch_norm(const op_run *r) {
    int64_t channels = r->in_shape[0].dim[1], plane = 1;
    double unit = case_quantized_unit(r, 0, 5), eps = case_number(r, "eps", 1e-3);
    for (int i = 2; i < r->in_shape[0].ndim; i++)
        plane *= r->in_shape[0].dim[i];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t c = i / plane % channels;
        double scale = (case_is(r, "fix_gamma", "false") ? r->in[1][c] : 1) / sqrt(r->in[4][c] + eps);
        double x = r->in[0][i] * unit * scale + r->in[2][c] - r->in[3][c] * scale;
        r->out[0][i] = case_saturate(r, x / case_range_unit(r, case_calibrated_bound(r), MXC_I8), MXC_I8);
    }
    case_put_range(r, case_number(r, "min_calib_range", 0), case_number(r, "max_calib_range", 0));
}

static const op_case cases[] = {
    RUN("_contrib_quantized_batch_norm",
        "fix_gamma=false min_calib_range=-1.7 max_calib_range=2.1;"
        "eps=0.1 min_calib_range=-1.7 max_calib_range=2.1;min_calib_range=-1.7 max_calib_range=2.1 half_steps=true",
        "2x3x4x5@-128:255i 3@0.5:1.5 3 3 3@0.5:2 " BOUNDS "; 1x1x1 1 1 1 1 1 1; 0x3x2 3 3 3 3 1 1; 4x7 7 7 7 7 1 1; "
        "1x5x700 5 5 5 5 1 1; 3x0x2 0 0 0 0 1 1; 2x2x3x3x3 2 2 2 2 1 1; 1x300x2x2 300 300 300 300 1 1; "
        "3x4x1 4 4 4 4 1 1; 2x6x513 6 6 6 6 1 1",
        ref_batch_norm),
    FAILS("_contrib_quantized_batch_norm", "", "2x3 3 3 3 3 1 1", MXC_EINVAL, "min_calib_range"),
    FAILS("_contrib_quantized_batch_norm", "min_calib_range=0 max_calib_range=1", "2x3 3 3 3 3 1 1", MXC_EDTYPE,
          "_contrib_quantized_batch_norm"),
    INFERS("_contrib_quantized_batch_norm", "min_calib_range=0 max_calib_range=1",
           "2x?x4,?,3,?,?,?,? -> ?,?,? => 2x3x4,3,3,3,3,1,1 -> 2x3x4,1,1"),
};

MXC_CASES(quantized_quantized_batch_norm_cases, cases);
