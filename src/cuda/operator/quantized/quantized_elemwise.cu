/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized sums, products and concatenation (operator/quantized/quantized_elemwise.c): a thread per element, which is
 * computed in float64. */
#include "cuda/operator/quantized/quantized.h"
#include "cuda/operator/tensor/concat_split.h"
#include "cuda/runtime/convert.h"
#include "operator/quantized/quantize_kernels.h"
#include "operator/tensor/concat.h"

/* ---- sums and products ------------------------------------------------------------------------------------------- */

enum { LHS, RHS };

/* Element i of the sum or product of two arrays, in the output's unit. */
struct pair {
    mxcu_any a, b;
    mxcu_range lhs, rhs;
    mxcu_calibration calib;
    int is_product, as_float; /* as_float: as numbers */

    /* Of the output, where its range is not calibrated. */
    MXCU_DEVICE double own_unit() const {
        return is_product ? lhs.unit() * rhs.unit() : (lhs.unit() * lhs.end + rhs.unit() * rhs.end) / 2147483647.0;
    }
    MXCU_DEVICE double product(int64_t i) const {
        const double scale = as_float ? own_unit() : calib.given ? own_unit() * mxcu_inverse(calib.unit) : 1;
        return mxci_scaled_product(a.as<double>(i), b.as<double>(i), scale);
    }
    MXCU_DEVICE double operator()(int64_t i) const {
        const double inverse = mxcu_inverse(calib.given ? calib.unit : own_unit());
        return is_product
                   ? product(i)
                   : mxci_weighted_sum(a.as<double>(i), lhs.unit() * inverse, b.as<double>(i), rhs.unit() * inverse);
    }
};

static pair pair_of(const mxc_op_call *call, int is_product) {
    const mxci_quantized_elemwise_params *p = static_cast<const mxci_quantized_elemwise_params *>(call->params);
    return {mxcu_any_data(&call->in[LHS]),
            mxcu_any_data(&call->in[RHS]),
            mxcu_range_of(call, call->in[LHS].dtype, 2),
            mxcu_range_of(call, call->in[RHS].dtype, 4),
            mxcu_calibration_of(p->calib, call->out[0].dtype),
            is_product,
            call->out[0].dtype == MXC_F32};
}

/* A thread per element: saturated integers of T's dtype, or float32 as it is. */
template <class T> static mxc_status combine(const mxc_op_call *call, const pair &from) {
    const pair x = from;
    const mxci_calib *calib = &static_cast<const mxci_quantized_elemwise_params *>(call->params)->calib;
    const double most = mxci_quantized_max(call->out[0].dtype), least = mxci_calib_least(calib, call->out[0].dtype);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        y.put(i, (mxcu_compute_t<T>)(x.as_float ? x(i) : mxci_quantize_number(x(i), 0, 1, least, most)));
    });
}

static mxc_status combine_any(const mxc_op_call *call, const pair &x) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    switch (call->out[0].dtype) {
        MXCU_CASE(MXC_F32, float, combine, call, x)
        MXCU_CASE(MXC_I32, int32_t, combine, call, x)
    default: /* int8, uint8 */
        return combine<uint8_t>(call, x);
    }
}

/* The elements, then one thread for the bounds. */
static mxc_status run_elemwise(const mxc_op_call *call, int is_product) {
    const pair x = pair_of(call, is_product);
    const double end = mxci_quantized_max(call->out[0].dtype);
    MXC_TRY(combine_any(call, x));
    if (x.as_float)
        return MXC_OK;
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        const double most = x.own_unit() * end;
        bounds.put(x.calib.given ? x.calib.low : -most, x.calib.given ? x.calib.high : most);
    });
}

static mxc_status add_forward(const mxc_op_call *call) {
    return run_elemwise(call, 0);
}

static mxc_status mul_forward(const mxc_op_call *call) {
    return run_elemwise(call, 1);
}

/* ---- concatenation ----------------------------------------------------------------------------------------------- */

enum { MAX_PARTS = MXCI_QUANTIZED_CONCAT_MAX };

/* The bounds of all arrays. */
struct ranges {
    int n;
    const float *low[MAX_PARTS], *high[MAX_PARTS];
    double end[MAX_PARTS];
};

static size_t concat_temp(const mxc_op_sig *, mxc_pass) {
    return sizeof(double);
}

/* One thread: scratch = the inverse of the unit that has room for the widest range, which becomes the bounds. */
static mxc_status find_unit(const mxc_op_call *call) {
    const int arrays = call->n_in / 3;
    const mxci_calib *calib = &static_cast<const mxci_quantized_concat_params *>(call->params)->calib;
    const double last = mxci_quantized_max(call->out[0].dtype), end = mxci_calib_end(calib, call->out[0].dtype);
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    double *inverse = mxcu_temp<double>(call, 0);
    ranges r = {arrays, {}, {}, {}};
    for (int i = 0; i < arrays; i++) {
        r.low[i] = mxcu_pointer<const float>(call->in[arrays + 2 * i].data);
        r.high[i] = mxcu_pointer<const float>(call->in[arrays + 2 * i + 1].data);
        r.end[i] = mxci_calib_end(calib, call->in[i].dtype);
    }
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        double low = 0, high = 0;
        for (int i = 0; i < r.n; i++) {
            low = fmin(low, (double)*r.low[i] * r.end[i]);
            high = fmax(high, (double)*r.high[i] * r.end[i]);
        }
        const double most = fmax(-low, high) / end; /* of the codes */
        *inverse = mxcu_inverse(most / last);
        bounds.put(fmax(low, -most), fmin(high, most));
    });
}

/* Array i converted to the output's unit, at its place in out; a thread per element. */
static mxc_status put_part(const mxc_op_call *call, int i, mxcu_concat_part where) {
    const double *inverse = mxcu_temp<double>(call, 0);
    const mxci_calib *calib = &static_cast<const mxci_quantized_concat_params *>(call->params)->calib;
    const double most = mxci_quantized_max(call->out[0].dtype), least = mxci_calib_least(calib, call->out[0].dtype);
    const mxcu_range range = mxcu_range_of(call, call->in[i].dtype, call->n_in / 3 + 2 * i);
    const mxcu_any x = mxcu_any_data(&call->in[i]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    return mxcu_for(call, mxcu_size(&call->in[i]), [=] MXCU_LAMBDA(int64_t at) {
        y.put(where(at), mxci_quantize_number(x.as<double>(at), 0, range.unit() * *inverse, least, most));
    });
}

/* One launch finds the unit, then one per array; the unit stays on the device. */
static mxc_status concat_forward(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[0];
    const int64_t dim = static_cast<const mxci_concat_params *>(call->params)->dim;
    const int64_t outer = mxcu_product(&out->shape, 0, (int)(dim < 0 ? dim + out->shape.ndim : dim));
    int64_t offset = 0;
    MXC_TRY(find_unit(call));
    for (int i = 0; i < call->n_in / 3 && call->req[0] != MXC_REQ_NULL; i++) {
        const mxcu_concat_part where = mxcu_concat_part_of(out, &call->in[i], outer, offset);
        MXC_TRY(put_part(call, i, where));
        offset += where.n;
    }
    return MXC_OK;
}

MXCU_OP_IMPLS(quantized_elemwise, {"_contrib_quantized_elemwise_add", add_forward},
              {"_contrib_quantized_elemwise_mul", mul_forward},
              {"_contrib_quantized_concat", concat_forward, nullptr, concat_temp})
