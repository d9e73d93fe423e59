/* SPDX-License-Identifier: Apache-2.0 */
/* Images read at points between their elements, by bilinear interpolation: data (N,C,h,w), out (N,C,H,W), out[n,c,p]
 * the four elements of data[n,c] around point p, weighted by distance; outside of data is 0. A point is x, y from -1 to
 * 1, first to last element.
 *
 * BilinearSampler gets the points: grid (N,2,H,W). SpatialTransformer (Jaderberg et al., 2015) computes them, in
 * scratch, from a regular grid and a matrix (2,3) for each sample: loc (N,6). */
#include "math/assign.h"
#include "operator/infer.h"
#include "operator/vision/grid_kernels.h"
#include "operator/vision/vision.h"

typedef mxci_transformer_params transformer_params;

enum { DATA, GRID };

#define CUDNN_OFF                                                                              \
    {                                                                                          \
        .name = "cudnn_off", .type = MXC_PARAM_BOOL, .initial = "None", .optional = 1,         \
        MXC_PARAM_FIELD(transformer_params, cudnn_off),                                        \
        .doc = "Accepted for compatibility with MXNet; has no effect, cuDNN is not used here." \
    }
static const mxc_param sampler_schema[] = {CUDNN_OFF, MXC_PARAM_END};

static const mxc_param transformer_schema[] = {
    {MXC_PARAM_FIELD(transformer_params, target_shape), .name = "target_shape", .type = MXC_PARAM_TUPLE,
     .initial = "(0,0)", .bounded = 1, .minimum = 0, .maximum = 2147483647.0, .doc = "Height and width of out."},
    {MXC_PARAM_FIELD(transformer_params, transform_type), .name = "transform_type", .type = MXC_PARAM_ENUM,
     .choices = "affine", .doc = "Transformation that loc holds: an affine matrix for each sample."},
    {MXC_PARAM_FIELD(transformer_params, sampler_type), .name = "sampler_type", .type = MXC_PARAM_ENUM,
     .choices = "bilinear", .doc = "Interpolation between elements."},
    CUDNN_OFF,
    MXC_PARAM_END,
};

static mxc_status check_transformer(void *params) {
    const mxc_tuple *target = &((const transformer_params *)params)->target_shape;
    if (target->n == 2 && target->value[0] > 0 && target->value[1] > 0)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "SpatialTransformer: expected a target_shape of two sizes above 0");
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* data and out have the same first two axes; the first is samples, if that is known. size: height and width of out. */
static mxc_status infer_data(mxc_op_sig *sig, int64_t samples, const int64_t *size) {
    mxc_shape data = mxci_shape_axes(4), out = mxci_shape_axes(4);
    data.dim[0] = samples;
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
        for (int i = 0; i < 2; i++) {
            out.dim[i] = sig->in_shape[DATA].dim[i];
            out.dim[i + 2] = size[i];
        }
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
        data.dim[0] = sig->out_shape[0].dim[0];
        data.dim[1] = sig->out_shape[0].dim[1];
    }
    return MXC_OK;
}

static mxc_status infer_sampler(mxc_op_sig *sig) {
    mxc_shape grid = mxci_shape_axes(4);
    grid.dim[1] = 2;
    MXC_TRY(mxc_sig_set_shape(sig, GRID, &grid));
    MXC_TRY(infer_data(sig, sig->in_shape[GRID].dim[0], sig->in_shape[GRID].dim + 2));
    grid = sig->out_shape[0];
    grid.dim[1] = 2;
    return mxc_sig_set_shape(sig, GRID, &grid);
}

static mxc_status infer_transformer(mxc_op_sig *sig) {
    mxc_shape loc = mxci_shape_axes(2);
    loc.dim[1] = 6;
    MXC_TRY(mxc_sig_set_shape(sig, GRID, &loc));
    MXC_TRY(infer_data(sig, sig->in_shape[GRID].dim[0], ((const transformer_params *)sig->params)->target_shape.value));
    loc.dim[0] = sig->out_shape[0].dim[0];
    return mxc_sig_set_shape(sig, GRID, &loc);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

typedef struct sampler_run {
    const mxc_op_call *call;
    const mxci_grid_kernels *kernels;
    mxci_grid_shape shape;
    int64_t samples, in, out; /* in, out: elements of a plane */
    mxc_tensor grid, grad;    /* the points, and their gradient */
} sampler_run;

static size_t grid_bytes(const mxc_shape *out, mxc_dtype dtype) {
    size_t element = dtype == MXC_F64 ? sizeof(double) : sizeof(float);
    int64_t points = mxci_dim_mul(out->dim[0], mxci_shape_count(out, 2, 4)); /* also where out has no channels */
    return mxci_size_of(points, 2 * element);
}

static sampler_run bilinear_sampler_open_run(const mxc_op_call *call) {
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim;
    sampler_run r = {
        .call = call,
        .kernels = call->in[DATA].dtype == MXC_F32 ? &mxci_grid_f32 : &mxci_grid_f64,
        .shape = {.planes = in[1], .in = {in[2], in[3]}, .out = {out[2], out[3]}},
        .samples = in[0],
        .in = in[2] * in[3],
        .out = out[2] * out[3],
        .grid = call->in[GRID],
    };
    return r;
}

/* Run part over ranges of the points of all samples. The grain accounts for the planes that each point is read in. */
static void for_points(sampler_run *r, mxc_req req, mxc_range_fn part) {
    r->shape.add = req == MXC_REQ_ADD;
    if (req != MXC_REQ_NULL && r->samples * r->out > 0)
        mxc_parallel_for(r->call->run, r->samples * r->out, MXCI_GRAIN / 8 / (r->shape.planes + 1) + 1, part, r);
}

/* Splits a range of points by sample: *n, and its points *first..*last-1, are the next of begin..end-1, and *begin
 * moves behind them; 0 if there are no more. */
static int next_points(const sampler_run *r, int64_t *begin, int64_t end, int64_t *n, int64_t *first, int64_t *last) {
    if (*begin >= end)
        return 0;
    *n = *begin / r->out;
    *first = *begin % r->out;
    *last = end - *n * r->out < r->out ? end - *n * r->out : r->out;
    *begin += *last - *first;
    return 1;
}

/* The points begin..end-1 of the grids that loc generates. */
static void affine_part(void *arg, int64_t begin, int64_t end, int part) {
    const sampler_run *r = arg;
    (void)part;
    for (int64_t n, first, last; next_points(r, &begin, end, &n, &first, &last);)
        r->kernels->affine(&r->shape, mxci_at(&r->call->in[GRID], n * 6), mxci_at(&r->grid, n * 2 * r->out), first,
                           last);
}

static void sample_part(void *arg, int64_t begin, int64_t end, int part) {
    const sampler_run *r = arg;
    (void)part;
    for (int64_t n, first, last; next_points(r, &begin, end, &n, &first, &last);)
        r->kernels->sample(&r->shape, mxci_at(&r->call->in[DATA], n * r->shape.planes * r->in),
                           mxci_at(&r->grid, n * 2 * r->out), mxci_at(&r->call->out[0], n * r->shape.planes * r->out),
                           first, last);
}

static void grid_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const sampler_run *r = arg;
    (void)part;
    for (int64_t n, first, last; next_points(r, &begin, end, &n, &first, &last);)
        r->kernels->grid_grad(&r->shape, mxci_at(&r->call->in[DATA], n * r->shape.planes * r->in),
                              mxci_at(&r->grid, n * 2 * r->out),
                              mxci_at(&r->call->out_grad[0], n * r->shape.planes * r->out),
                              mxci_at(&r->grad, n * 2 * r->out), first, last);
}

/* Planes begin..end-1 of all samples: a thread has whole planes, so that no two add to one element. */
static void data_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const sampler_run *r = arg;
    int64_t planes = r->shape.planes;
    (void)part;
    for (int64_t n = begin / planes; n * planes < end; n++) {
        int64_t first = begin > n * planes ? begin - n * planes : 0;
        int64_t last = end - n * planes < planes ? end - n * planes : planes;
        r->kernels->data_grad(&r->shape, mxci_at(&r->grid, n * 2 * r->out),
                              mxci_at(&r->call->out_grad[0], n * planes * r->out),
                              mxci_at(&r->call->in_grad[DATA], n * planes * r->in), first, last);
    }
}

static void data_gradient(sampler_run *r) {
    mxc_req req = r->call->req[DATA];
    r->shape.add = req == MXC_REQ_ADD;
    if (req != MXC_REQ_NULL && r->samples * r->shape.planes * r->in > 0)
        mxc_parallel_for(r->call->run, r->samples * r->shape.planes, MXCI_GRAIN / 8 / (r->in + r->out) + 1,
                         data_grad_part, r);
}

/* out at the points; 0 if data has no elements. */
static mxc_status sample_at(sampler_run *r) {
    if (r->in == 0)
        mxci_assign_constant(r->call->run, r->call->req[0], &r->call->out[0], 0);
    else
        for_points(r, r->call->req[0], sample_part);
    return MXC_OK;
}

/* ---- BilinearSampler --------------------------------------------------------------------------------------------- */

static mxc_status sampler_forward(const mxc_op_call *call) {
    sampler_run r = bilinear_sampler_open_run(call);
    return sample_at(&r);
}

static mxc_status sampler_backward(const mxc_op_call *call) {
    sampler_run r = bilinear_sampler_open_run(call);
    r.grad = call->in_grad[GRID];
    data_gradient(&r);
    if (r.in == 0)
        mxci_assign_constant(call->run, call->req[GRID], &r.grad, 0);
    else
        for_points(&r, call->req[GRID], grid_grad_part);
    return MXC_OK;
}

const mxc_op_def mxci_op_bilinear_sampler = {
    .size = sizeof(mxc_op_def),
    .name = "BilinearSampler",
    .doc = "Bilinear sampling: out (N,C,H,W) = data (N,C,h,w) at the positions of grid (N,2,H,W), x and y in [-1, 1], "
           "interpolated between the four nearest elements; 0 outside",
    .params = sampler_schema,
    .param_size = sizeof(transformer_params),
    .args = "data,grid",
    .infer_shape = infer_sampler,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << GRID},
    .forward = {[MXC_CPU] = sampler_forward},
    .backward = {[MXC_CPU] = sampler_backward},
};

/* ---- SpatialTransformer ------------------------------------------------------------------------------------------ */

static size_t transformer_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t grids = mxci_size_mul(grid_bytes(&sig->out_shape[0], sig->in_type[DATA]), pass == MXC_FORWARD ? 1 : 2);
    return grids;
}

/* Computes the points, in scratch; in backward their gradient follows. */
static sampler_run open_transformer(const mxc_op_call *call) {
    sampler_run r = bilinear_sampler_open_run(call);
    r.grid.data = call->temp;
    r.grad = r.grid;
    r.grad.data = (char *)call->temp + grid_bytes(&call->out[0].shape, r.grid.dtype);
    for_points(&r, MXC_REQ_WRITE, affine_part);
    return r;
}

static mxc_status transformer_forward(const mxc_op_call *call) {
    sampler_run r = open_transformer(call);
    return sample_at(&r);
}

/* The gradients of the matrices of samples begin..end-1. */
static void loc_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const sampler_run *r = arg;
    (void)part;
    for (int64_t n = begin; n < end; n++)
        r->kernels->affine_grad(&r->shape, mxci_at(&r->grad, n * 2 * r->out), mxci_at(&r->call->in_grad[GRID], n * 6));
}

static mxc_status transformer_backward(const mxc_op_call *call) {
    sampler_run r = open_transformer(call);
    data_gradient(&r);
    if (call->req[GRID] == MXC_REQ_NULL)
        return MXC_OK;
    if (r.in == 0) {
        mxci_assign_constant(call->run, call->req[GRID], &call->in_grad[GRID], 0);
        return MXC_OK;
    }
    for_points(&r, MXC_REQ_WRITE, grid_grad_part);
    r.shape.add = call->req[GRID] == MXC_REQ_ADD;
    mxc_parallel_for(call->run, r.samples, MXCI_GRAIN / 8 / r.out + 1, loc_grad_part, &r);
    return MXC_OK;
}

const mxc_op_def mxci_op_spatial_transformer = {
    .size = sizeof(mxc_op_def),
    .name = "SpatialTransformer",
    .doc = "Spatial transformer: out (N,C,target_shape) = data (N,C,h,w) at the positions of a regular grid (x, y, 1) "
           "transformed by the affine matrix (2,3) of each sample, loc (N,6), interpolated between the four nearest "
           "elements; 0 outside",
    .params = transformer_schema,
    .param_size = sizeof(transformer_params),
    .params_check = check_transformer,
    .args = "data,loc",
    .infer_shape = infer_transformer,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << GRID},
    .temp_bytes = transformer_bytes,
    .forward = {[MXC_CPU] = transformer_forward},
    .backward = {[MXC_CPU] = transformer_backward},
};
