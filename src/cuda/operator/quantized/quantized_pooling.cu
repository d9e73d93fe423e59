/* SPDX-License-Identifier: Apache-2.0 */
/* Quantized operators that keep the range of an argument: _contrib_quantized_pooling, _flatten, _act, _embedding.
 * Values are moved or compared as integers, and a launch of one thread copies the bounds. */
#include "cuda/operator/quantized/quantized.h"
#include "cuda/operator/index/rows.h"
#include "cuda/operator/nn/pooling.h"

/* Outputs 1 and 2 = two arguments. */
static mxc_status pass_bounds(const mxc_op_call *call, int low, int high) {
    const float *least = mxcu_pointer<float>(call->in[low].data), *most = mxcu_pointer<float>(call->in[high].data);
    const mxcu_bounds to = mxcu_bounds_of(call);
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) { to.put(*least, *most); });
}

static mxc_status pooling_forward(const mxc_op_call *call) {
    MXC_TRY(pass_bounds(call, 1, 2));
    return mxcu_pool_bytes(call);
}

static mxc_status flatten_forward(const mxc_op_call *call) {
    MXC_TRY(mxcu_quantized_copy(call));
    return pass_bounds(call, 1, 2);
}

/* A thread per element of sums. */
static mxc_status act_int32(const mxc_op_call *call, int64_t n) {
    mxcu_in<int32_t> x = mxcu_data<int32_t>(&call->in[0]);
    mxcu_out<int32_t> y = mxcu_result<int32_t>(call, &call->out[0], 0);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i] > 0 ? x[i] : 0); });
}

static mxc_status act_forward(const mxc_op_call *call) {
    mxcu_in<int8_t> x = mxcu_data<int8_t>(&call->in[0]);
    mxcu_out<uint8_t> y = mxcu_quantized_out(call);
    int64_t n = call->req[0] == MXC_REQ_NULL ? 0 : mxcu_size(&call->out[0]);
    MXC_TRY(pass_bounds(call, 1, 2));
    if (call->in[0].dtype == MXC_U8)
        return mxcu_quantized_copy(call);
    if (call->in[0].dtype == MXC_I32)
        return act_int32(call, n);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i] > 0 ? x[i] : 0); });
}

enum { INDEX, WEIGHT, MIN_WEIGHT, MAX_WEIGHT };

static mxc_status embedding_forward(const mxc_op_call *call) {
    const mxcu_row_index rows = mxcu_rows_along(&call->in[WEIGHT].shape, 0, &call->in[INDEX], MXCI_INDEX_CLIP);
    MXC_TRY(mxcu_rows_take(call, &call->out[0], 0, &rows, &call->in[WEIGHT]));
    return pass_bounds(call, MIN_WEIGHT, MAX_WEIGHT);
}

MXCU_OP_IMPLS(quantized_pooling, {"_contrib_quantized_pooling", pooling_forward},
              {"_contrib_quantized_flatten", flatten_forward}, {"_contrib_quantized_act", act_forward},
              {"_contrib_quantized_embedding", embedding_forward})
