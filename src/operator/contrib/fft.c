/* SPDX-License-Identifier: Apache-2.0 */
/* Discrete Fourier transforms of the rows of data, computed in float64 (contrib/fft_kernels.h). Complex rows are pairs
 * of real and imaginary part, one pair after the other.
 *
 *   _contrib_fft   data (...,d) real, out (...,2d): the sum over j of data[j] exp(-2 pi i j k / d)
 *   _contrib_ifft  data (...,2d), out (...,d): the real part of the sum over j of data[j] exp(2 pi i j k / d), which is
 *                  d times the inverse
 *
 * Each is the gradient of the other. */
#include "math/assign.h"
#include "math/tile_kernels.h"
#include "operator/contrib/fft_kernels.h"
#include "operator/infer.h"

typedef struct fft_params {
    int64_t compute_size;
} fft_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(fft_params, compute_size), .name = "compute_size", .type = MXC_PARAM_INT, .initial = "128",
     .doc = "Accepted for compatibility with MXNet; has no effect, since rows are distributed over threads."},
    MXC_PARAM_END,
};

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Slot real has rows of d, slot pairs of 2 d. */
static mxc_status fft_infer(mxc_op_sig *sig, int real, int pairs) {
    mxc_shape *a = mxci_sig_shape(sig, real), *b = mxci_sig_shape(sig, pairs), shape = a->ndim >= 0 ? *a : *b;
    int last = shape.ndim - 1;
    if (shape.ndim < 0)
        return MXC_OK;
    if (shape.ndim == 0)
        return mxc_sig_fail(sig, "argument 'data' has no axes, expected at least 1");
    shape = mxci_shape_axes(shape.ndim);
    MXC_TRY(mxc_sig_set_shape(sig, real, &shape));
    MXC_TRY(mxc_sig_set_shape(sig, pairs, &shape));
    if (b->dim[last] > 0 && b->dim[last] % 2)
        return mxc_sig_fail(sig, "rows of %lld numbers are no pairs", (long long)b->dim[last]);
    shape = *a;
    shape.dim[last] = mxci_dim_mul(a->dim[last], 2);
    MXC_TRY(mxc_sig_set_shape(sig, pairs, &shape));
    shape = *b;
    shape.dim[last] = b->dim[last] >= 0 ? b->dim[last] / 2 : -1;
    return mxc_sig_set_shape(sig, real, &shape);
}

static mxc_status fft_infer_shape(mxc_op_sig *sig) {
    return fft_infer(sig, 0, MXC_SLOT_OUT(0));
}

static mxc_status ifft_infer_shape(mxc_op_sig *sig) {
    return fft_infer(sig, MXC_SLOT_OUT(0), 0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Rows of from transformed to rows of to, one of them real, the other pairs. */
typedef struct rows_run {
    mxc_req req;
    const mxc_tensor *from, *to;
    int from_real;
    mxci_fft fft;
    double *buffers; /* buffers_size for each part */
} rows_run;

/* Doubles for each part: two complex rows and the transform's scratch. */
static int64_t buffers_size(const mxci_fft *f) {
    return mxci_dim_add(mxci_dim_mul(4, f->size), mxci_fft_scratch_size(f));
}

/* Rows begin..end-1: load, transform, store. y is free until the transform, x after it. */
static void rows_range(void *arg, int64_t begin, int64_t end, int part) {
    const rows_run *r = arg;
    const int64_t n = r->fft.n;
    double *x = r->buffers + part * buffers_size(&r->fft), *y = x + 2 * r->fft.size;
    for (int64_t row = begin; row < end; row++) {
        if (r->from_real) {
            mxci_convert(r->from->dtype, mxci_at(r->from, row * n), MXC_F64, y, n);
            for (int64_t i = 0; i < n; i++) {
                x[2 * i] = y[i];
                x[2 * i + 1] = 0;
            }
        } else { /* the real part of the inverse transform is that of the transform of the conjugate */
            mxci_convert(r->from->dtype, mxci_at(r->from, row * 2 * n), MXC_F64, x, 2 * n);
            for (int64_t i = 0; i < n; i++)
                x[2 * i + 1] = -x[2 * i + 1];
        }
        mxci_fft_run(&r->fft, x, y, y + 2 * r->fft.size);
        for (int64_t i = 0; i < n && !r->from_real; i++)
            y[i] = y[2 * i];
        const int64_t out = r->from_real ? 2 * n : n;
        mxci_convert(MXC_F64, y, r->to->dtype, x, out);
        mxci_assign_row(r->req, r->to->dtype, mxci_at(r->to, row * out), x, out);
    }
}

static int64_t row_length(const mxc_shape *real) {
    return real->dim[real->ndim - 1];
}

static mxc_status fft_run_rows(const mxc_op_call *call, mxc_req req, const mxc_tensor *from, const mxc_tensor *to,
                               int from_real) {
    rows_run r = {.req = req, .from = from, .to = to, .from_real = from_real};
    int64_t n = row_length(from_real ? &from->shape : &to->shape);
    double *tables = call->temp;
    if (req == MXC_REQ_NULL || mxci_tensor_size(to) == 0)
        return MXC_OK;
    mxci_fft_plan(n, &r.fft);
    r.buffers = tables + mxci_fft_table_size(&r.fft);
    mxci_fft_fill(&r.fft, tables, r.buffers);
    mxc_parallel_for(call->run, mxci_tensor_size(from) / (from_real ? n : 2 * n), MXCI_GRAIN / (8 * n) + 1, rows_range,
                     &r);
    return MXC_OK;
}

static size_t rows_temp_bytes(const mxc_op_sig *sig, const mxc_shape *real) {
    int64_t n = row_length(real), rows = n ? mxc_shape_size(real) / n : 0;
    mxci_fft fft;
    if (mxc_shape_size(real) == 0)
        return 0;
    mxci_fft_plan(n, &fft);
    rows = rows < sig->parallelism ? rows : sig->parallelism;
    return mxci_size_of(mxci_dim_add(mxci_fft_table_size(&fft), mxci_dim_mul(rows, buffers_size(&fft))),
                        sizeof(double));
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static size_t fft_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return rows_temp_bytes(sig, &sig->in_shape[0]);
}

static mxc_status fft_forward(const mxc_op_call *call) {
    return fft_run_rows(call, call->req[0], &call->in[0], &call->out[0], 1);
}

static mxc_status fft_backward(const mxc_op_call *call) {
    return fft_run_rows(call, call->req[0], &call->out_grad[0], &call->in_grad[0], 0);
}

const mxc_op_def mxci_op_fft = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_fft",
    .doc = "Discrete Fourier transform of each row: data (...,D), out (...,2D), pairs of real and imaginary part",
    .params = schema,
    .param_size = sizeof(fft_params),
    .infer_shape = fft_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .temp_bytes = fft_temp_bytes,
    .forward = {[MXC_CPU] = fft_forward},
    .backward = {[MXC_CPU] = fft_backward},
};

static size_t ifft_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return rows_temp_bytes(sig, &sig->out_shape[0]);
}

static mxc_status ifft_forward(const mxc_op_call *call) {
    return fft_run_rows(call, call->req[0], &call->in[0], &call->out[0], 0);
}

static mxc_status ifft_backward(const mxc_op_call *call) {
    return fft_run_rows(call, call->req[0], &call->out_grad[0], &call->in_grad[0], 1);
}

const mxc_op_def mxci_op_ifft = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_ifft",
    .doc = "Real part of the inverse discrete Fourier transform of each row, times D (not normalized): data (...,2D), "
           "pairs of real and imaginary part, out (...,D)",
    .params = schema,
    .param_size = sizeof(fft_params),
    .infer_shape = ifft_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .temp_bytes = ifft_temp_bytes,
    .forward = {[MXC_CPU] = ifft_forward},
    .backward = {[MXC_CPU] = ifft_backward},
};
