/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triangles of square matrices in packed storage, one element behind the other:
 *   _linalg_extracttrian  A (...,n,n): out (...,m(m+1)/2), the triangle with m = n - |offset| rows
 *   _linalg_maketrian     A (...,m(m+1)/2): out (...,n,n), 0 outside of the triangle
 * A positive offset stands for the triangle above that diagonal, a negative one for that below; for offset 0 the
 * parameter lower decides. Lower triangles are stored by rows, upper ones by columns (math/triangle_kernels.h).
 */
#include "operator/linalg/linalg_trian.h"

#include <math.h>

#include "math/assign.h"
#include "operator/infer.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_triangle_params, offset), .name = "offset", .type = MXC_PARAM_INT, .initial = "0",
     .bounded = 1, .minimum = -9e15, .maximum = 9e15,
     .doc = "Diagonal on which the triangle begins: above the main one if positive, below if negative."},
    {MXC_PARAM_FIELD(mxci_triangle_params, lower), .name = "lower", .type = MXC_PARAM_BOOL, .initial = "True",
     .doc = "Use the lower triangle; otherwise the upper one. Used where offset is 0."},
    MXC_PARAM_END,
};

/* ---- inference -------------------------------------------------------------------------------------------------- */

static int64_t offset_size(const mxc_op_sig *sig) {
    const int64_t offset = ((const mxci_triangle_params *)sig->params)->offset;
    return offset < 0 ? -offset : offset;
}

/* Elements of a triangle with so many rows, and the reverse: -1 if that is unknown or no triangle has so many. */
static int64_t elements_of(int64_t rows) {
    return rows < 0 ? -1 : rows % 2 ? mxci_dim_mul(rows, rows / 2 + 1) : mxci_dim_mul(rows / 2, rows + 1);
}

static int64_t rows_of(int64_t elements) {
    const int64_t rows = elements < 0 ? -1 : (int64_t)((sqrt(8 * (double)elements + 1) - 1) / 2 + 0.5);
    return elements_of(rows) == elements ? rows : -1;
}

/* The matrices (...,n,n) are in one slot, their packed triangles in the other. */
static mxc_status infer_triangles(mxc_op_sig *sig, int matrices, int triangles) {
    const int64_t offset = offset_size(sig);
    const mxc_shape *matrix = mxci_sig_shape(sig, matrices), *packed = mxci_sig_shape(sig, triangles);
    const int ndim = matrix->ndim >= 0 ? matrix->ndim : packed->ndim + 1, fits = packed->ndim == ndim - 1;
    int64_t side = -1, elements;
    mxc_shape shape;
    if (matrix->ndim < 0 && packed->ndim < 0)
        return MXC_OK;
    if (ndim < 2 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "matrices would have %d axes, expected 2 to %d", ndim, MXC_MAX_NDIM);
    elements = fits ? packed->dim[ndim - 2] : -1;
    if (elements >= 0 && rows_of(elements) < 0)
        return mxc_sig_fail(sig, "the last axis of the triangles has %lld elements, expected m (m + 1) / 2",
                            (long long)elements);
    if (matrix->ndim >= 0)
        side = mxci_known(matrix->dim[ndim - 2], matrix->dim[ndim - 1]);
    if (side < 0 && elements > 0)
        side = mxci_dim_add(rows_of(elements), offset);
    shape = mxci_shape_axes(ndim);
    for (int i = 0; i < ndim - 2 && fits; i++)
        shape.dim[i] = packed->dim[i];
    shape.dim[ndim - 2] = shape.dim[ndim - 1] = side;
    MXC_TRY(mxc_sig_set_shape(sig, matrices, &shape));
    shape = *matrix;
    shape.ndim--;
    shape.dim[ndim - 2] = side < 0 ? -1 : elements_of(side > offset ? side - offset : 0);
    return mxc_sig_set_shape(sig, triangles, &shape);
}

static mxc_status extract_infer_shape(mxc_op_sig *sig) {
    return infer_triangles(sig, 0, MXC_SLOT_OUT(0));
}

/* Triangles of no elements have matrices of |offset| rows. */
static mxc_status make_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *a = &sig->in_shape[0];
    if (a->ndim > 0 && a->ndim < MXC_MAX_NDIM && a->dim[a->ndim - 1] == 0) {
        mxc_shape out = *a;
        out.ndim++;
        out.dim[a->ndim - 1] = out.dim[a->ndim] = offset_size(sig);
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    }
    return infer_triangles(sig, MXC_SLOT_OUT(0), 0);
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

typedef struct triangle_run {
    const mxc_tensor *to, *from;
    int add;
    mxci_packed_triangle triangle;
    int64_t to_step, from_step; /* elements from one matrix or triangle to the next */
    mxci_packed_triangle_fn one;
} triangle_run;

static void triangle_range(void *arg, int64_t begin, int64_t end, int part) {
    const triangle_run *r = arg;
    (void)part;
    for (int64_t i = begin; i < end; i++)
        r->one(&r->triangle, r->add, mxci_at(r->from, i * r->from_step), mxci_at(r->to, i * r->to_step));
}

/* to = the packed triangles of matrices, or matrices from such triangles, 0 elsewhere. */
static mxc_status move_triangles(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from, int packs) {
    const mxc_shape *matrices = packs ? &from->shape : &to->shape;
    const int64_t batch = mxci_shape_count(matrices, 0, matrices->ndim - 2);
    triangle_run r = {.to = to, .from = from, .add = call->req[0] == MXC_REQ_ADD};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (!packs && !r.add)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, to, 0);
    r.triangle = mxci_triangle_of(call->params, matrices->dim[matrices->ndim - 1]);
    if (batch == 0 || r.triangle.rows == 0)
        return MXC_OK;
    r.to_step = mxci_tensor_size(to) / batch;
    r.from_step = mxci_tensor_size(from) / batch;
    r.one = (packs ? mxci_triangle_pack : mxci_triangle_unpack)[to->dtype];
    mxc_parallel_for(call->run, batch, MXCI_GRAIN / (r.triangle.n * r.triangle.n) + 1, triangle_range, &r);
    return MXC_OK;
}

static mxc_status extract_forward(const mxc_op_call *call) {
    return move_triangles(call, &call->out[0], &call->in[0], 1);
}

static mxc_status extract_backward(const mxc_op_call *call) {
    return move_triangles(call, &call->in_grad[0], &call->out_grad[0], 0);
}

static mxc_status make_forward(const mxc_op_call *call) {
    return move_triangles(call, &call->out[0], &call->in[0], 0);
}

static mxc_status make_backward(const mxc_op_call *call) {
    return move_triangles(call, &call->in_grad[0], &call->out_grad[0], 1);
}

const mxc_op_def mxci_op_linalg_extracttrian = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_extracttrian",
    .aliases = "linalg_extracttrian",
    .args = "A",
    .doc = "Triangles of square matrices A (...,n,n): out (...,m(m+1)/2), m = n - |offset|; lower triangles by rows, "
           "upper ones by columns",
    .params = schema,
    .param_size = sizeof(mxci_triangle_params),
    .infer_shape = extract_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = extract_forward},
    .backward = {[MXC_CPU] = extract_backward},
};

const mxc_op_def mxci_op_linalg_maketrian = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_maketrian",
    .aliases = "linalg_maketrian",
    .args = "A",
    .doc = "Square matrices out (...,n,n), n = m + |offset|, with A (...,m(m+1)/2) as triangles, 0 elsewhere",
    .params = schema,
    .param_size = sizeof(mxci_triangle_params),
    .infer_shape = make_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = make_forward},
    .backward = {[MXC_CPU] = make_backward},
};
