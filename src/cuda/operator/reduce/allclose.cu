/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_allclose: counts the elements that differ, by the reduction of reduce.h over all elements. */
#include "operator/reduce/allclose.h"

#include "cuda/operator/index/index.h"
#include "cuda/operator/reduce/reduce.h"

namespace {

struct differing : mxcu_sum {
    mxcu_numbers a, b;
    mxci_allclose_params params;
    mxcu_out<uint8_t> y;
    MXCU_DEVICE sum step(sum count, int64_t i) const {
        return count + !mxci_is_close(&params, a[i], b[i]);
    }
    MXCU_DEVICE void put(int64_t k, sum count) const {
        y.put(k, count == 0);
    }
};

} // namespace

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    mxcu_reduction plan = mxcu_plan_all(mxcu_product(&sig->in_shape[0], 0, sig->in_shape[0].ndim));
    return mxcu_reduction_bytes(&plan);
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_reduction plan = mxcu_plan_all(mxcu_size(&call->in[0]));
    differing r;
    r.a = mxcu_numbers_of(&call->in[0]);
    r.b = mxcu_numbers_of(&call->in[1]);
    r.params = *static_cast<const mxci_allclose_params *>(call->params);
    r.y = mxcu_result<uint8_t>(call, &call->out[0], 0);
    return mxcu_reduce(call, &plan, r, call->temp);
}

MXCU_OP_IMPLS(allclose, {"_contrib_allclose", forward, nullptr, temp_bytes})
