/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _sample_multinomial: of data (..., K), rows of probabilities, indices 0..K-1 drawn with these probabilities:
 * out (...) + shape, one index per row if shape is (). With get_prob also the logarithm of what data holds for each,
 * whose gradient in data[k] is the sum of out_grad / data[k] over the samples k: REINFORCE. Rows need not add up to 1;
 * their sum is taken as the whole. Sample i draws from position i of the call's random range.
 */
#include "operator/random/multinomial.h"

#include <math.h>

#include "math/assign.h"
#include "math/distributions.h"
#include "math/tile_kernels.h"
#include "operator/infer.h"

typedef mxci_multinomial_params multinomial_params;
enum { INDEX = MXCI_MULTINOMIAL_INDEX, LOG = MXCI_MULTINOMIAL_LOG };

/* ---- inference --------------------------------------------------------------------------------------------------- */

static int multinomial_count_outputs(const void *params) {
    return ((const multinomial_params *)params)->get_prob ? 2 : 1;
}

/* Indices that the dtype tells apart. */
static int64_t most_indices(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_U8:
    case MXC_BF16:
        return 256;
    case MXC_I8:
        return 128;
    case MXC_F16:
        return 2048;
    case MXC_F32:
        return 1 << 24;
    default:
        return INT32_MAX;
    }
}

/* Both ways where data has axes before the last one; a row alone gives (1,) if shape is (). */
static mxc_status infer_multinomial_shape(mxc_op_sig *sig) {
    const multinomial_params *p = sig->params;
    mxc_shape *in = &sig->in_shape[0], out;
    const int n = p->shape.n > 0 ? p->shape.n : 0;
    for (int i = 1; i < sig->n_out; i++)
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){MXC_SLOT_OUT(INDEX), MXC_SLOT_OUT(LOG)}));
    if (in->ndim == 0)
        return mxc_sig_fail(sig, "data has no axes, expected rows of probabilities");
    if (in->ndim < 0)
        return MXC_OK;
    if (in->ndim - 1 + n > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "output would have %d axes, expected at most %d", in->ndim - 1 + n, MXC_MAX_NDIM);
    if (in->dim[in->ndim - 1] == 0)
        return mxc_sig_fail(sig, "data has rows of 0 probabilities, expected at least 1");
    if (in->dim[in->ndim - 1] > most_indices((mxc_dtype)p->dtype))
        return mxc_sig_fail(sig, "data has %lld probabilities in a row, but dtype %s holds indices of %lld only",
                            (long long)in->dim[in->ndim - 1], mxc_dtype_name((mxc_dtype)p->dtype),
                            (long long)most_indices((mxc_dtype)p->dtype));
    out = *in;
    out.ndim--;
    for (int i = 0; i < n; i++)
        out.dim[out.ndim++] = p->shape.value[i];
    if (out.ndim == 0)
        out.dim[out.ndim++] = 1;
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &out));
    if (in->ndim > 1) {
        mxc_shape back = *in;
        for (int i = 0; i < in->ndim - 1; i++)
            back.dim[i] = sig->out_shape[INDEX].dim[i];
        MXC_TRY(mxc_sig_set_shape(sig, 0, &back));
    }
    return MXC_OK;
}

static mxc_status infer_multinomial_type(mxc_op_sig *sig) {
    const multinomial_params *p = sig->params;
    MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_OUT(INDEX), (mxc_dtype)p->dtype));
    return sig->n_out > 1 ? mxci_sig_same_type(sig, 2, (int[]){0, MXC_SLOT_OUT(LOG)}) : MXC_OK;
}

static uint64_t count_multinomial(const mxc_op_sig *sig) {
    return (uint64_t)mxc_shape_size(&sig->out_shape[INDEX]);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

typedef struct multinomial_run {
    const mxc_op_call *call;
    int64_t k, rows, samples; /* samples of each row */
    double *sums;             /* forward: of each row. backward: (rows, K), the gradient */
} multinomial_run;

static multinomial_run multinomial_of(const mxc_op_call *call) {
    const mxc_shape *in = &call->in[0].shape;
    multinomial_run r = {.call = call, .k = in->dim[in->ndim - 1], .sums = call->temp};
    r.rows = mxc_shape_size(in) / r.k;
    r.samples = r.rows > 0 ? mxci_tensor_size(&call->out[INDEX]) / r.rows : 0;
    return r;
}

static size_t multinomial_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *in = &sig->in_shape[0];
    const int64_t size = mxc_shape_size(in);
    return mxci_size_of(pass == MXC_BACKWARD ? size : size / in->dim[in->ndim - 1], sizeof(double));
}

/* Probabilities first..first+n-1 of a row, at most a tile of them; returns n. */
static int64_t load_probabilities(const multinomial_run *r, int64_t row, int64_t first, double *to) {
    const mxc_tensor *in = &r->call->in[0];
    const int64_t n = r->k - first < MXCI_TILE ? r->k - first : MXCI_TILE;
    mxci_convert(in->dtype, mxci_at(in, row * r->k + first), MXC_F64, to, n);
    return n;
}

static mxc_status add_up_row(const multinomial_run *r, int64_t row) {
    double sum = 0, p[MXCI_TILE];
    for (int64_t first = 0, n; first < r->k; first += n) {
        n = load_probabilities(r, row, first, p);
        for (int64_t k = 0; k < n; k++) {
            if (!(p[k] >= 0) || !isfinite(p[k]))
                return MXC_FAIL(MXC_EINVAL,
                                "_sample_multinomial: probability %lld of row %lld is %g, expected at least 0",
                                (long long)(first + k), (long long)row, p[k]);
            sum += p[k];
        }
    }
    r->sums[row] = sum;
    if (sum > 0 && isfinite(sum))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL,
                    "_sample_multinomial: the probabilities of row %lld add up to %g, expected a finite sum above 0",
                    (long long)row, sum);
}

/* The first index of a row at which the running sum is above limit; the last one with a probability above 0 where
 * rounding leaves none. */
static int64_t find_index(const multinomial_run *r, int64_t row, double limit, double *chosen) {
    double sum = 0, p[MXCI_TILE];
    int64_t index = 0;
    *chosen = 0;
    for (int64_t first = 0, n; first < r->k; first += n) {
        n = load_probabilities(r, row, first, p);
        for (int64_t k = 0; k < n; k++) {
            sum += p[k];
            if (p[k] > 0) {
                *chosen = p[k];
                index = first + k;
            }
            if (*chosen > 0 && sum > limit)
                return index;
        }
    }
    return index;
}

/* Samples begin..end-1, counted through: each by a uniform part of its row's sum. */
static void sample_indices(void *arg, int64_t begin, int64_t end, int part) {
    const multinomial_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        mxc_draws draws = {call->random.seed, call->random.stream, call->random.offset + (uint64_t)i, 0};
        const int64_t row = i / r->samples;
        const double limit = mxci_draw_uniform(&draws, 0, r->sums[row]);
        double chosen, index = (double)find_index(r, row, limit, &chosen);
        char element[8];
        mxci_convert(MXC_F64, &index, call->out[INDEX].dtype, element, 1);
        mxci_assign_row(call->req[INDEX], call->out[INDEX].dtype, mxci_at(&call->out[INDEX], i), element, 1);
        if (call->n_out > 1)
            mxci_assign_value(call->req[LOG], &call->out[LOG], i, log(chosen));
    }
}

static mxc_status multinomial_forward(const mxc_op_call *call) {
    multinomial_run r = multinomial_of(call);
    for (int64_t row = 0; row < r.rows; row++)
        MXC_TRY(add_up_row(&r, row));
    mxc_parallel_for(call->run, mxci_tensor_size(&call->out[INDEX]), MXCI_GRAIN / (r.k + 16) + 1, sample_indices, &r);
    return MXC_OK;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

static void multinomial_needs(const void *params, mxc_op_needs *needs) {
    if (!((const multinomial_params *)params)->get_prob)
        *needs = (mxc_op_needs){0};
}

/* The gradient of each log-probability, added up at the index that was drawn. */
static void add_row_gradients(const multinomial_run *r, int64_t row, double *sums) {
    const mxc_tensor *index = &r->call->out[INDEX], *grad = &r->call->out_grad[LOG];
    double at[MXCI_TILE], g[MXCI_TILE];
    for (int64_t i = row * r->samples, n; i < (row + 1) * r->samples; i += n) {
        n = (row + 1) * r->samples - i < MXCI_TILE ? (row + 1) * r->samples - i : MXCI_TILE;
        mxci_convert(index->dtype, mxci_at(index, i), MXC_F64, at, n);
        mxci_convert(grad->dtype, mxci_at(grad, i), MXC_F64, g, n);
        for (int64_t k = 0; k < n; k++)
            if (at[k] >= 0 && at[k] < (double)r->k)
                sums[(int64_t)at[k]] += g[k];
    }
}

static void gradient_rows(void *arg, int64_t begin, int64_t end, int part) {
    const multinomial_run *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        double *sums = r->sums + row * r->k, p[MXCI_TILE];
        for (int64_t k = 0; k < r->k; k++)
            sums[k] = 0;
        add_row_gradients(r, row, sums);
        for (int64_t first = 0, n; first < r->k; first += n) {
            n = load_probabilities(r, row, first, p);
            for (int64_t k = 0; k < n; k++)
                sums[first + k] = sums[first + k] == 0 ? 0 : sums[first + k] / p[k];
        }
        mxci_assign_cast_row(call->req[0], MXC_F64, sums, call->in_grad[0].dtype,
                             mxci_at(&call->in_grad[0], row * r->k), r->k);
    }
}

static mxc_status multinomial_backward(const mxc_op_call *call) {
    multinomial_run r = multinomial_of(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->n_out > 1)
        mxc_parallel_for(call->run, r.rows, MXCI_GRAIN / 4 / (r.k + r.samples) + 1, gradient_rows, &r);
    else if (call->req[0] != MXC_REQ_ADD)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[0], 0);
    return MXC_OK;
}

static const mxc_param multinomial_schema[] = {
    {MXC_PARAM_FIELD(multinomial_params, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "()",
     .bounded = 1, .minimum = 0, .maximum = 9e15, .doc = "Shape of the samples of each row. (): one sample."},
    {MXC_PARAM_FIELD(multinomial_params, get_prob), .name = "get_prob", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Whether there is a second output, the logarithms of the probabilities of the samples."},
    {MXC_PARAM_FIELD(multinomial_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .initial = "int32",
     .doc = "Dtype of the indices."},
    MXC_PARAM_END,
};

static const char *multinomial_outputs_of(const void *params) {
    return ((const multinomial_params *)params)->get_prob ? "output0,output1" : "output";
}

const mxc_op_def mxci_op_sample_multinomial = {
    .size = sizeof(mxc_op_def),
    .name = "_sample_multinomial",
    .aliases = "sample_multinomial",
    .doc = "Indices drawn from rows of probabilities: data (...,K), output (...) + shape. With get_prob the "
           "outputs are output0 and output1, the logarithm of each one's probability, which has a gradient",
    .outputs_of = multinomial_outputs_of,
    .n_outputs = multinomial_count_outputs,
    .params = multinomial_schema,
    .param_size = sizeof(multinomial_params),
    .infer_shape = infer_multinomial_shape,
    .infer_type = infer_multinomial_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1u << LOG, .in = 1, .out = 1u << INDEX},
    .backward_needs = multinomial_needs,
    .random_count = count_multinomial,
    .temp_bytes = multinomial_bytes,
    .forward = {[MXC_CPU] = multinomial_forward},
    .backward = {[MXC_CPU] = multinomial_backward},
};
