/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_quantized_batch_norm (operator/quantized/quantized_batch_norm.c): a team per channel of a sample; every
 * element is computed in float64. */
#include "cuda/operator/quantized/quantized.h"
#include "cuda/runtime/convert.h"
#include "operator/quantized/quantize_kernels.h"

enum { DATA, GAMMA, BETA, MEAN, VARIANCE, MIN };

static mxc_status normalize(const mxc_op_call *call, const mxci_quantized_bn_params *p, const mxcu_calibration &calib) {
    const mxc_shape *shape = &call->in[DATA].shape;
    const int64_t channels = shape->dim[1], plane = mxcu_product(shape, 2, shape->ndim);
    const mxcu_range range = mxcu_range_of(call, call->in[DATA].dtype, MIN);
    const double to = calib.unit > 0 ? 1 / calib.unit : 0, eps = p->norm.eps;
    const double least = mxci_calib_least(&p->calib, MXC_I8);
    const int fixed = p->norm.fix_gamma;
    const mxcu_any x = mxcu_any_data(&call->in[DATA]);
    mxcu_in<float> gamma = mxcu_data<float>(&call->in[GAMMA]), beta = mxcu_data<float>(&call->in[BETA]);
    mxcu_in<float> mean = mxcu_data<float>(&call->in[MEAN]), variance = mxcu_data<float>(&call->in[VARIANCE]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    return mxcu_rows(call, shape->dim[0] * channels, plane, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t c = row % channels;
        const double scale = (fixed ? 1 : (double)gamma[c]) / sqrt((double)variance[c] + eps);
        const double shift = (double)beta[c] - (double)mean[c] * scale;
        for (int64_t i = row * plane + team.rank; i < (row + 1) * plane; i += team.size)
            y.put(i, mxci_quantize_number(mxci_weighted_sum(x.as<double>(i), scale * range.unit() * to, shift, to), 0,
                                          1, least, 127));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    const mxci_quantized_bn_params *p = static_cast<const mxci_quantized_bn_params *>(call->params);
    const mxcu_calibration calib = mxcu_calibration_of(p->calib, MXC_I8);
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    if (call->req[0] != MXC_REQ_NULL)
        MXC_TRY(normalize(call, p, calib));
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) { bounds.put(calib.low, calib.high); });
}

MXCU_OP_IMPLS(quantized_batch_norm, {"_contrib_quantized_batch_norm", forward})
