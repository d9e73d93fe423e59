/* SPDX-License-Identifier: Apache-2.0 */
/* _random_randint, with the same numbers as on the CPU for a seed; a thread per element. */
#include "operator/random/randint.h"

#include "cuda/operator/random/random.h"
#include "math/distributions.h"

template <class T> static mxc_status fill(const mxc_op_call *call) {
    const mxci_randint_params *p = static_cast<const mxci_randint_params *>(call->params);
    const int64_t low = p->low, high = p->high;
    const mxcu_random random = mxcu_random_of(call);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const mxc_random range = random.range();
        mxc_draws draws = {range.seed, range.stream, range.offset + (uint64_t)i, 0};
        y.put(i, mxc_draw_integer(&draws, low, high));
    });
}

static mxc_status randint(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    return call->out[0].dtype == MXC_I64 ? fill<int64_t>(call) : fill<int32_t>(call);
}

MXCU_OP_IMPLS(randint, {"_random_randint", randint})
