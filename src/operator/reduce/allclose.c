/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_allclose: out, a scalar of uint8, is 1 if |a - b| <= atol + rtol |b| for every element, or both are the same
 * infinity, or with equal_nan both are NaN; else 0. No gradient, as in MXNet. */
#include "operator/reduce/allclose.h"

#include <stdatomic.h>

#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

enum { A, B };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_allclose_params, rtol), .name = "rtol", .type = MXC_PARAM_FLOAT, .initial = "1e-05",
     .doc = "Tolerance relative to the magnitude of b."},
    {MXC_PARAM_FIELD(mxci_allclose_params, atol), .name = "atol", .type = MXC_PARAM_FLOAT, .initial = "1e-08",
     .doc = "Absolute tolerance."},
    {MXC_PARAM_FIELD(mxci_allclose_params, equal_nan), .name = "equal_nan", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "Two NaN are equal."},
    MXC_PARAM_END,
};

static mxc_status allclose_infer_shape(mxc_op_sig *sig) {
    mxc_shape scalar = mxci_shape_axes(0);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &scalar));
    return mxci_sig_same_shape(sig, 2, (int[]){A, B});
}

static mxc_status allclose_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (int[]){A, B}));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_U8);
}

typedef struct allclose_run {
    const mxc_op_call *call;
    atomic_int differs; /* some element does; the others need not be compared */
} allclose_run;

static void allclose_range(void *arg, int64_t begin, int64_t end, int part) {
    allclose_run *r = arg;
    const mxc_tensor *a = &r->call->in[A], *b = &r->call->in[B];
    double x[MXCI_TILE], y[MXCI_TILE];
    (void)part;
    for (int64_t i = begin, n; i < end && !atomic_load(&r->differs); i += n) {
        n = end - i < MXCI_TILE ? end - i : MXCI_TILE;
        mxci_convert(a->dtype, mxci_at(a, i), MXC_F64, x, n);
        mxci_convert(b->dtype, mxci_at(b, i), MXC_F64, y, n);
        for (int64_t k = 0; k < n; k++)
            if (!mxci_is_close(r->call->params, x[k], y[k]))
                atomic_store(&r->differs, 1);
    }
}

static mxc_status allclose_forward(const mxc_op_call *call) {
    allclose_run r = {.call = call};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxc_parallel_for(call->run, mxci_tensor_size(&call->in[A]), MXCI_GRAIN, allclose_range, &r);
    mxci_assign_constant(NULL, call->req[0], &call->out[0], !atomic_load(&r.differs));
    return MXC_OK;
}

const mxc_op_def mxci_op_allclose = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_allclose",
    .args = "a,b",
    .doc = "out = 1 if |a - b| <= atol + rtol |b| for all elements, else 0: a scalar of uint8",
    .params = schema,
    .param_size = sizeof(mxci_allclose_params),
    .infer_shape = allclose_infer_shape,
    .infer_type = allclose_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .forward = {[MXC_CPU] = allclose_forward},
};
