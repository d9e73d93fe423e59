/* SPDX-License-Identifier: Apache-2.0 */
/* GridGenerator: points for BilinearSampler, out (N,2,H,W): x, then y, from -1 to 1. affine: data (N,6), for each
 * sample a matrix (2,3) by which a regular grid (x, y, 1) is multiplied; H and W are target_shape. warp: data
 * (N,2,H,W), the displacement of each point in elements. The points of an axis of one element are at -1. */
#include "math/assign.h"
#include "operator/infer.h"
#include "operator/vision/grid_kernels.h"
#include "operator/vision/vision.h"

typedef mxci_generator_params generator_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(generator_params, transform_type), .name = "transform_type", .type = MXC_PARAM_ENUM,
     .choices = "affine,warp",
     .doc = "What data holds: an affine matrix for each sample (affine), or a displacement for each position (warp)."},
    {MXC_PARAM_FIELD(generator_params, target_shape), .name = "target_shape", .type = MXC_PARAM_TUPLE,
     .initial = "(0,0)", .bounded = 1, .minimum = 0, .maximum = 2147483647.0,
     .doc = "Height and width of out. Only used with transform_type=affine."},
    MXC_PARAM_END,
};

static mxc_status grid_generator_check_params(void *params) {
    const generator_params *p = params;
    const int64_t *target = p->target_shape.value;
    if (p->transform_type == MXCI_GENERATOR_WARP || (p->target_shape.n == 2 && target[0] > 0 && target[1] > 0))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "GridGenerator: expected a target_shape of two sizes above 0");
}

static mxc_status grid_generator_infer_shape(mxc_op_sig *sig) {
    const generator_params *p = sig->params;
    mxc_shape out = mxci_shape_axes(4), data = mxci_shape_axes(2);
    out.dim[1] = 2;
    if (p->transform_type == MXCI_GENERATOR_WARP) {
        MXC_TRY(mxc_sig_set_shape(sig, 0, &out));
        return mxci_infer_shape_same(sig);
    }
    data.dim[1] = 6;
    out.dim[2] = p->target_shape.value[0];
    out.dim[3] = p->target_shape.value[1];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    out.dim[0] = sig->in_shape[0].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    data.dim[0] = sig->out_shape[0].dim[0];
    return mxc_sig_set_shape(sig, 0, &data);
}

typedef struct generator_run {
    const mxc_op_call *call;
    const mxci_grid_kernels *kernels;
    mxci_grid_shape shape;
} generator_run;

/* Points begin..end-1 of the grids of all samples. */
static void grid_generator_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const generator_run *r = arg;
    const mxc_tensor *data = &r->call->in[0], *out = &r->call->out[0];
    int is_warp = ((const generator_params *)r->call->params)->transform_type == MXCI_GENERATOR_WARP;
    int64_t points = r->shape.out[0] * r->shape.out[1], last;
    (void)part;
    for (int64_t n = begin / points, first = begin % points; n * points < end; n++, first = 0) {
        last = end - n * points < points ? end - n * points : points;
        (is_warp ? r->kernels->warp : r->kernels->affine)(&r->shape, mxci_at(data, n * (is_warp ? 2 * points : 6)),
                                                          mxci_at(out, n * 2 * points), first, last);
    }
}

/* Samples begin..end-1. */
static void grid_generator_backward_part(void *arg, int64_t begin, int64_t end, int part) {
    const generator_run *r = arg;
    const mxc_tensor *g = &r->call->out_grad[0], *grad = &r->call->in_grad[0];
    int64_t points = r->shape.out[0] * r->shape.out[1];
    (void)part;
    for (int64_t n = begin; n < end; n++) {
        if (((const generator_params *)r->call->params)->transform_type == MXCI_GENERATOR_AFFINE)
            r->kernels->affine_grad(&r->shape, mxci_at(g, n * 2 * points), mxci_at(grad, n * 6));
        else
            r->kernels->warp_grad(&r->shape, mxci_at(g, n * 2 * points), mxci_at(grad, n * 2 * points), 0, points);
    }
}

/* dtype: of the arrays that are there. */
static generator_run grid_generator_open_run(const mxc_op_call *call, mxc_dtype dtype) {
    const int64_t *dim = call->out[0].shape.dim;
    return (generator_run){call,
                           dtype == MXC_F32 ? &mxci_grid_f32 : &mxci_grid_f64,
                           {.out = {dim[2], dim[3]}, .add = call->req[0] == MXC_REQ_ADD}};
}

static mxc_status grid_generator_forward(const mxc_op_call *call) {
    generator_run r = grid_generator_open_run(call, call->out[0].dtype);
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->out[0]) > 0)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->out[0]) / 2, MXCI_GRAIN / 8, grid_generator_forward_part,
                         &r);
    return MXC_OK;
}

static mxc_status grid_generator_backward(const mxc_op_call *call) {
    generator_run r = grid_generator_open_run(call, call->out_grad[0].dtype);
    if (call->req[0] != MXC_REQ_NULL && mxci_tensor_size(&call->in_grad[0]) > 0)
        mxc_parallel_for(call->run, call->in_grad[0].shape.dim[0],
                         MXCI_GRAIN / (8 * r.shape.out[0] * r.shape.out[1]) + 1, grid_generator_backward_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_grid_generator = {
    .size = sizeof(mxc_op_def),
    .name = "GridGenerator",
    .doc = "Sampling grid for BilinearSampler: out (N,2,H,W) holds positions x, y in [-1, 1], from an affine matrix "
           "(N,6) for each sample or a displacement in pixels (N,2,H,W) for each position",
    .flags = MXC_OP_SAMPLEWISE,
    .params = schema,
    .param_size = sizeof(generator_params),
    .params_check = grid_generator_check_params,
    .infer_shape = grid_generator_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = grid_generator_forward},
    .backward = {[MXC_CPU] = grid_generator_backward},
};
