/* SPDX-License-Identifier: Apache-2.0 */
/* Counting valid elements (loss/count.h): a reduction in float64, which counts exactly up to 2^53. */
#include "cuda/operator/loss/count.h"

#include "cuda/operator/reduce/reduce.h"

namespace {
struct counting : mxcu_sum {
    mxcu_any x;
    double limit;
    mxcu_count_rule rule;
    double *to;
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        double v = x.as<double>(i);
        return a + (rule == MXCU_COUNT_OTHERS ? trunc(v) != trunc(limit) : v > limit);
    }
    MXCU_DEVICE void put(int64_t, sum a) const {
        *to = a > 0 ? a : 1;
    }
};
} // namespace

size_t mxcu_count_bytes(const mxc_shape *shape) {
    mxcu_reduction plan = mxcu_plan_all(mxcu_product(shape, 0, shape->ndim));
    return sizeof(double) + mxcu_reduction_bytes(&plan);
}

mxc_status mxcu_count(const mxc_op_call *call, const mxc_tensor *x, double limit, mxcu_count_rule rule) {
    mxcu_reduction plan = mxcu_plan_all(mxcu_size(x));
    counting c = {{}, mxcu_any_data(x), limit, rule, mxcu_temp<double>(call, 0)};
    return mxcu_reduce(call, &plan, c, static_cast<char *>(call->temp) + sizeof(double));
}
