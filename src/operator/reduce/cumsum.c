/* SPDX-License-Identifier: Apache-2.0 */
/* cumsum: running sums along an axis. Sums of floats are made in float64, those of integers in int64. */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

typedef struct cumsum_params {
    int64_t axis;
    int32_t dtype;
} cumsum_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(cumsum_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "None", .optional = 1,
     .doc = "Axis along which to add. Negative values count from the end. None: all elements as one row."},
    {MXC_PARAM_FIELD(cumsum_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "None", .optional = 1,
     .doc = "Dtype of out. None: that of data."},
    MXC_PARAM_END,
};

static mxc_status cumsum_infer_type(mxc_op_sig *sig) {
    const mxc_dtype wanted = (mxc_dtype)((const cumsum_params *)sig->params)->dtype;
    const mxc_dtype out = wanted == MXC_DTYPE_UNKNOWN ? sig->in_type[0] : wanted;
    if (out == MXC_DTYPE_UNKNOWN)
        return MXC_OK;
    if (!(MXC_DTYPES_NUMBER & MXC_DTYPE_BIT(out)))
        return MXC_FAIL(MXC_EDTYPE, "cumsum: dtype %s is not supported", mxc_dtype_name(out));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), out);
}

/* out is as data, or with axis None one row of all elements. */
static mxc_status cumsum_infer_shape(mxc_op_sig *sig) {
    const cumsum_params *p = sig->params;
    const mxc_shape *data = &sig->in_shape[0];
    int axis;
    if (p->axis == MXC_PARAM_UNSET) {
        const mxc_shape row = mxci_shape_of(1, (int64_t[]){mxc_shape_known(data) ? mxc_shape_size(data) : -1});
        return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &row);
    }
    if (data->ndim >= 0)
        MXC_TRY(mxci_sig_axis(sig, p->axis, data->ndim, &axis));
    return mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(0)});
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Rows of n elements, inner apart, which begin side by side in blocks of inner. */
typedef struct cumsum_run {
    const mxc_tensor *from, *to;
    mxc_req req;
    mxc_dtype compute;       /* MXC_F64 or MXC_I64 */
    int64_t n, inner, tiles; /* tiles: parts of a block of rows */
    int is_reverse;
} cumsum_run;

/* sums[i] += x[i]; both hold elements of the type in which sums are made. */
static void add_row(mxc_dtype compute, int64_t n, const int64_t *x, int64_t *sums) {
    if (compute == MXC_I64) {
        for (int64_t i = 0; i < n; i++)
            sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)x[i]);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        ((double *)sums)[i] += ((const double *)x)[i];
}

/* Rows side by side from element first of a block on. */
static void sum_rows(const cumsum_run *r, int64_t first, int64_t width) {
    _Alignas(64) int64_t sums[MXCI_TILE] = {0}, x[MXCI_TILE];
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t at = first + (r->is_reverse ? r->n - 1 - i : i) * r->inner;
        mxci_convert(r->from->dtype, mxci_at(r->from, at), r->compute, x, width);
        add_row(r->compute, width, x, sums);
        mxci_assign_cast_row(r->req, r->compute, sums, r->to->dtype, mxci_at(r->to, at), width);
    }
}

/* One row of neighbours from element first on, a tile at a time. */
static void sum_row(const cumsum_run *r, int64_t first) {
    _Alignas(64) int64_t x[MXCI_TILE], sum = 0;
    for (int64_t i = 0, n; i < r->n; i += n) {
        n = r->n - i < MXCI_TILE ? r->n - i : MXCI_TILE;
        const int64_t at = first + (r->is_reverse ? r->n - i - n : i);
        mxci_convert(r->from->dtype, mxci_at(r->from, at), r->compute, x, n);
        for (int64_t k = 0; k < n; k++) {
            int64_t *element = &x[r->is_reverse ? n - 1 - k : k];
            add_row(r->compute, 1, element, &sum);
            *element = sum;
        }
        mxci_assign_cast_row(r->req, r->compute, x, r->to->dtype, mxci_at(r->to, at), n);
    }
}

static void cumsum_range(void *arg, int64_t begin, int64_t end, int part) {
    const cumsum_run *r = arg;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t block = i / r->tiles, at = i % r->tiles * MXCI_TILE;
        const int64_t first = block * r->n * r->inner + at;
        if (r->inner == 1)
            sum_row(r, first);
        else
            sum_rows(r, first, r->inner - at < MXCI_TILE ? r->inner - at : MXCI_TILE);
    }
}

static mxc_status cumsum(const mxc_op_call *call, const mxc_shape *data, const mxc_tensor *from, const mxc_tensor *to,
                         int is_reverse) {
    const int64_t axis = ((const cumsum_params *)call->params)->axis, size = mxc_shape_size(data);
    cumsum_run r = {from, to, call->req[0], MXC_F64, size, 1, 1, is_reverse};
    if (size == 0 || r.req == MXC_REQ_NULL)
        return MXC_OK;
    if (mxci_compute_type(from->dtype) == MXC_I64 && mxci_compute_type(to->dtype) == MXC_I64)
        r.compute = MXC_I64;
    if (axis != MXC_PARAM_UNSET && data->ndim > 0) {
        const int at = (int)(axis < 0 ? axis + data->ndim : axis);
        r.n = data->dim[at];
        for (int i = at + 1; i < data->ndim; i++)
            r.inner *= data->dim[i];
    }
    r.tiles = (r.inner + MXCI_TILE - 1) / MXCI_TILE;
    mxc_parallel_for(call->run, size / (r.n * r.inner) * r.tiles, MXCI_GRAIN / (r.n + 1) + 1, cumsum_range, &r);
    return MXC_OK;
}

static mxc_status cumsum_forward(const mxc_op_call *call) {
    return cumsum(call, &call->in[0].shape, &call->in[0], &call->out[0], 0);
}

/* An element is in the sums from its place on. */
static mxc_status cumsum_backward(const mxc_op_call *call) {
    return cumsum(call, &call->in_grad[0].shape, &call->out_grad[0], &call->in_grad[0], 1);
}

const mxc_op_def mxci_op_cumsum = {
    .size = sizeof(mxc_op_def),
    .name = "cumsum",
    .args = "a",
    .doc = "out[i] = a[0] + ... + a[i] along axis",
    .params = schema,
    .param_size = sizeof(cumsum_params),
    .infer_shape = cumsum_infer_shape,
    .infer_type = cumsum_infer_type,
    .dtypes = MXC_DTYPES_NUMBER,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = cumsum_forward},
    .backward = {[MXC_CPU] = cumsum_backward},
};
