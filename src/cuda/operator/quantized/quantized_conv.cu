/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_quantized_conv and _contrib_quantized_fully_connected (operator/quantized/quantized_conv.c): a thread per
 * output sums its products in 32 bits, which wrap, starting from the bias in the output's unit. Plain loops: they are
 * correct everywhere, but do not use the tensor cores' int8 products. */
#include "cuda/operator/nn/convolution_index.h"
#include "cuda/operator/quantized/quantized.h"
#include "operator/nn/convolution.h"
#include "operator/nn/fully_connected.h"
#include "operator/quantized/quantize_kernels.h"

enum { DATA, WEIGHT, BIAS };

/* The ranges of data, weight and bias, and the unit of the output, which follows from them. */
struct layer {
    mxcu_range data, weight, bias;
    const int8_t *biases; /* NULL: none */

    MXCU_DEVICE double unit() const {
        return data.unit() * weight.unit();
    }
    MXCU_DEVICE uint32_t start(int64_t filter) const {
        double scale = biases ? bias.unit() * mxcu_inverse(unit()) : 0;
        return biases ? (uint32_t)mxci_quantize_number(biases[filter], 0, scale, -2147483647.0, 2147483647.0) : 0;
    }
};

static layer layer_of(const mxc_op_call *call) {
    const int arrays = call->n_in / 3; /* arguments without their bounds */
    layer l = {mxcu_range_of(call, call->in[DATA].dtype, arrays), mxcu_range_of(call, MXC_I8, arrays + 2), {}, nullptr};
    if (arrays > BIAS) {
        l.bias = mxcu_range_of(call, MXC_I8, arrays + 4);
        l.biases = mxcu_pointer<int8_t>(call->in[BIAS].data);
    }
    return l;
}

/* The bounds of an int32 output: what its extreme integers stand for. */
static mxc_status put_range(const mxc_op_call *call) {
    const layer l = layer_of(call);
    const mxcu_bounds bounds = mxcu_bounds_of(call);
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        double most = l.unit() * 2147483647.0;
        bounds.put(-most, most);
    });
}

/* out (N,H) = x (N,K) w (H,K)'. */
template <class T> static mxc_status connect(const mxc_op_call *call) {
    const layer l = layer_of(call);
    const int64_t h = call->in[WEIGHT].shape.dim[0], k = call->in[WEIGHT].shape.dim[1];
    const T *x = mxcu_pointer<T>(call->in[DATA].data);
    const int8_t *w = mxcu_pointer<int8_t>(call->in[WEIGHT].data);
    mxcu_out<int32_t> y = mxcu_result<int32_t>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, h), column = i - row * h;
        uint32_t sum = l.start(column);
        for (int64_t j = 0; j < k; j++)
            sum += (uint32_t)((int32_t)x[row * k + j] * (int32_t)w[column * k + j]);
        y.put(i, (int32_t)sum);
    });
}

/* Channels second. Unsigned sums wrap without undefined behaviour. */
template <class T> static mxc_status convolve(const mxc_op_call *call) {
    const layer l = layer_of(call);
    const mxci_conv_params *p = static_cast<const mxci_conv_params *>(call->params);
    const mxcu_conv c = {
        mxci_conv_group(p, &call->in[DATA].shape, &call->out[0].shape),
        call->in[DATA].shape.dim[0],
        p->num_group,
        call->in[DATA].dtype,
        0,
        0,
    };
    const mxci_conv_shape s = c.s;
    const int64_t groups = c.groups, kernel_size = c.kernel_size(), pixels = c.pixels(), image = c.image();
    const T *x = mxcu_pointer<T>(call->in[DATA].data);
    const int8_t *w = mxcu_pointer<int8_t>(call->in[WEIGHT].data);
    mxcu_out<int32_t> y = mxcu_result<int32_t>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t plane = mxcu_divide(i, pixels), group = mxcu_divide(plane, s.filters);
        const int64_t filter = plane - mxcu_divide(plane, groups * s.filters) * groups * s.filters;
        const mxcu_position o = mxcu_position_of(i - plane * pixels, s.out);
        uint32_t sum = l.start(filter);
        for (int64_t k = 0; k < kernel_size; k++) {
            int64_t at = mxcu_conv_read(s, o, mxcu_position_of(k, s.kernel));
            for (int64_t j = 0; at >= 0 && j < s.channels; j++)
                sum += (uint32_t)((int32_t)x[(group * s.channels + j) * image + at] *
                                  (int32_t)w[(filter * s.channels + j) * kernel_size + k]);
        }
        y.put(i, (int32_t)sum);
    });
}

static mxc_status connect_forward(const mxc_op_call *call) {
    MXC_TRY(put_range(call));
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    return call->in[DATA].dtype == MXC_U8 ? connect<uint8_t>(call) : connect<int8_t>(call);
}

static mxc_status convolve_forward(const mxc_op_call *call) {
    MXC_TRY(put_range(call));
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    return call->in[DATA].dtype == MXC_U8 ? convolve<uint8_t>(call) : convolve<int8_t>(call);
}

MXCU_OP_IMPLS(quantized_conv, {"_contrib_quantized_fully_connected", connect_forward},
              {"_contrib_quantized_conv", convolve_forward})
