/* SPDX-License-Identifier: Apache-2.0 */
/* _random_randint: whole numbers of [low, high), all equally likely. Element i draws from position i of the call's
 * random range. */
#include "operator/random/randint.h"

#include "math/assign.h"
#include "math/distributions.h"
#include "operator/infer.h"

static mxc_status check_bounds(void *params) {
    const mxci_randint_params *p = params;
    if (p->low >= p->high)
        return MXC_FAIL(MXC_EINVAL, "_random_randint: low is %lld and high %lld, expected low < high",
                        (long long)p->low, (long long)p->high);
    if (p->dtype != MXC_I64 && (p->low < INT32_MIN || p->high > (int64_t)INT32_MAX + 1))
        return MXC_FAIL(MXC_EINVAL, "_random_randint: int32 does not hold all numbers of low %lld to high %lld",
                        (long long)p->low, (long long)p->high);
    return MXC_OK;
}

static mxc_status infer_randint_shape(mxc_op_sig *sig) {
    const mxci_randint_params *p = sig->params;
    mxc_shape shape;
    if (p->shape.n <= 0)
        return MXC_OK;
    if (mxc_shape_set(&shape, p->shape.n, p->shape.value) != MXC_OK)
        return mxc_sig_fail(sig, "shape has %d axes, expected at most %d", (int)p->shape.n, MXC_MAX_NDIM);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape);
}

static mxc_status infer_randint_type(mxc_op_sig *sig) {
    const mxci_randint_params *p = sig->params;
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), p->dtype == MXC_DTYPE_UNKNOWN ? MXC_I32 : (mxc_dtype)p->dtype);
}

static uint64_t count_randint(const mxc_op_sig *sig) {
    return (uint64_t)mxc_shape_size(&sig->out_shape[0]);
}

static void randint_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxci_randint_params *p = call->params;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        mxc_draws draws = {call->random.seed, call->random.stream, call->random.offset + (uint64_t)i, 0};
        const int64_t wide = mxc_draw_integer(&draws, p->low, p->high);
        const int32_t narrow = (int32_t)wide;
        const mxc_dtype dtype = call->out[0].dtype;
        mxci_assign_row(call->req[0], dtype, mxci_at(&call->out[0], i),
                        dtype == MXC_I64 ? (const void *)&wide : &narrow, 1);
    }
}

static mxc_status randint(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]), MXCI_GRAIN / 16, randint_range, (void *)call);
    return MXC_OK;
}

#define BOUND(field, text) \
    { MXC_PARAM_FIELD(mxci_randint_params, field), .name = #field, .type = MXC_PARAM_INT, .doc = text }

static const mxc_param randint_schema[] = {
    BOUND(low, "Lower bound, inclusive."),
    BOUND(high, "Upper bound, exclusive."),
    {MXC_PARAM_FIELD(mxci_randint_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .optional = 1, .bounded = 1, .minimum = 0, .maximum = 9e15, .doc = "Shape of the array."},
    {MXC_PARAM_FIELD(mxci_randint_params, ctx), .name = "ctx", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Context of the array, such as cpu(0) or gpu(1)."},
    {MXC_PARAM_FIELD(mxci_randint_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None",
     .optional = 1, .doc = "Dtype of the array, int32 or int64. None: int32."},
    MXC_PARAM_END,
};

const mxc_op_def mxci_op_random_randint = {
    .size = sizeof(mxc_op_def),
    .name = "_random_randint",
    .aliases = "random_randint,_npi_random_randint",
    .doc = "Random whole numbers of [low, high), all equally likely",
    .args = "",
    .params = randint_schema,
    .param_size = sizeof(mxci_randint_params),
    .params_check = check_bounds,
    .infer_shape = infer_randint_shape,
    .infer_type = infer_randint_type,
    .dtypes = MXC_DTYPE_BIT(MXC_I32) | MXC_DTYPE_BIT(MXC_I64),
    .flags = MXC_OP_ZERO_GRADIENT,
    .random_count = count_randint,
    .forward = {[MXC_CPU] = randint},
};
