/* SPDX-License-Identifier: Apache-2.0 */
/* LayerNorm and RMSNorm. A row along the axis has a team, or a thread where the axis is not the last, so that
 * neighbouring threads read neighbours. The gradients of gamma and beta are reductions over the rows (reduce.h).
 * Statistics are float64 while they are computed. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/reduce/reduce.h"
#include "operator/nn/norms.h"

enum { DATA, GAMMA, BETA };
enum { OUT, MEAN, STD, RMS = MEAN };

namespace {

/* A statistic that may not be wanted (NULL) or may be added to. */
template <class P> struct result {
    P *to; /* or NULL */
    int add;
    MXCU_DEVICE void put(int64_t i, double value) const {
        if (to)
            to[i] = (P)(add ? (double)to[i] + value : value);
    }
};

/* Rows of `columns` elements that are inner apart. P: the dtype of statistics, which is the compute type. */
template <class T> struct rows {
    using C = mxcu_compute_t<T>;
    using P = C;
    int64_t columns, inner;
    int centred; /* LayerNorm */
    double eps;
    mxcu_in<T> x, dy, gamma, beta;
    const P *mean, *std; /* backward */
    result<P> mean_out, std_out;
    mxcu_out<T> to; /* out, or data's gradient; no data: not wanted */

    MXCU_DEVICE int64_t start_of(int64_t row) const {
        return inner == 1 ? row * columns : row / inner * columns * inner + row % inner;
    }
    /* The row of an element. */
    MXCU_DEVICE int64_t row_of(int64_t i) const {
        return inner == 1 ? i / columns : i / (columns * inner) * inner + i % inner;
    }
    MXCU_DEVICE C mean_of(int64_t row) const {
        return centred ? mean[row] : 0;
    }

    /* Two passes for LayerNorm: the mean, then squares of differences from it; RMSNorm takes squares alone. */
    template <class Team> MXCU_DEVICE void forward(int64_t row, const Team &team) const {
        const int64_t at = start_of(row);
        double sum = 0, squares = 0, middle = 0;
        if (centred) {
            for (int64_t i = team.rank; i < columns; i += team.size)
                sum += (double)x[at + i * inner];
            middle = columns ? team.sum(sum) / (double)columns : 0;
        }
        for (int64_t i = team.rank; i < columns; i += team.size) {
            const double d = (double)x[at + i * inner] - middle;
            squares += d * d;
        }
        squares = team.sum(squares);
        const double spread = sqrt((columns ? squares / (double)columns : 0) + eps);
        const C scale = (C)(1 / spread), m = (C)middle;
        if (team.rank == 0) {
            if (centred)
                mean_out.put(row, middle);
            std_out.put(row, spread);
        }
        for (int64_t i = team.rank; i < columns && to.data; i += team.size)
            to.put(at + i * inner, gamma[i] * ((x[at + i * inner] - m) * scale) + (centred ? beta[i] : (C)0));
    }

    /* With m elements in the row, g = gamma dy: dx = (g - sum(g) / m - (x - mean) sum(g (x - mean)) / (m std^2)) / std,
     * without the mean of g where none was taken off. */
    template <class Team> MXCU_DEVICE void backward(int64_t row, const Team &team) const {
        const int64_t at = start_of(row);
        const C middle = mean_of(row);
        const double scale = 1 / (double)std[row], share = scale / (double)columns;
        double sum = 0, product = 0;
        for (int64_t i = team.rank; i < columns; i += team.size) {
            const double g = (double)(gamma[i] * dy[at + i * inner]);
            sum += g;
            product += g * (double)(x[at + i * inner] - middle);
        }
        sum = team.sum(sum);
        product = team.sum(product);
        const C a = (C)scale, b = (C)(-product * share * scale * scale), c = centred ? (C)(-sum * share) : 0;
        for (int64_t i = team.rank; i < columns; i += team.size) {
            const int64_t e = at + i * inner;
            to.put(e, a * gamma[i] * dy[e] + (b * (x[e] - middle) + c));
        }
    }
};

/* The gradients of gamma and beta: sums of dy (x - mean) / std and of dy over the rows. */
template <class T> struct column_sums : mxcu_pair_sum {
    rows<T> r;
    mxcu_out<T> gamma, beta; /* no data: not wanted */
    MXCU_DEVICE sum step(sum a, int64_t i) const {
        const int64_t row = r.row_of(i);
        const double g = (double)r.dy[i];
        return {a.a + g * (double)(r.x[i] - r.mean_of(row)) / (double)r.std[row], a.b + g};
    }
    MXCU_DEVICE void put(int64_t k, sum a) const {
        if (gamma.data)
            gamma.put(k, (mxcu_compute_t<T>)a.a);
        if (beta.data)
            beta.put(k, (mxcu_compute_t<T>)a.b);
    }
};

} // namespace

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int axis_of(const void *params, const mxc_shape *data) {
    const int64_t axis = static_cast<const mxci_layer_norm_params *>(params)->axis;
    return (int)(axis < 0 ? axis + data->ndim : axis);
}

template <class T> static rows<T> rows_of(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[DATA].shape;
    const int axis = axis_of(call->params, data);
    rows<T> r = {};
    r.columns = data->dim[axis];
    r.inner = mxcu_product(data, axis + 1, data->ndim);
    r.centred = call->n_in > BETA;
    r.eps = static_cast<const mxci_layer_norm_params *>(call->params)->eps;
    r.x = mxcu_data<T>(&call->in[DATA]);
    r.gamma = mxcu_data<T>(&call->in[GAMMA]);
    return r;
}

static int64_t count_rows(const mxc_op_call *call) {
    return mxcu_size(&call->out[MEAN]);
}

/* Each row by forward or backward. */
#define OVER_ROWS(call, r, pass)                                                         \
    (r).inner == 1                                                                       \
        ? mxcu_rows(call, count_rows(call), (r).columns,                                 \
                    [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { r.pass(row, team); }) \
        : mxcu_for(call, count_rows(call), [=] MXCU_LAMBDA(int64_t row) { r.pass(row, mxcu_single_thread()); })

template <class T> static mxc_status forward_run(const mxc_op_call *call) {
    using P = typename rows<T>::P;
    rows<T> r = rows_of<T>(call);
    const int std = r.centred ? STD : RMS;
    mxcu_out<P> spread = mxcu_wanted<P>(call, &call->out[std], std);
    r.to = mxcu_wanted<T>(call, &call->out[OUT], OUT);
    r.std_out = {spread.data, spread.add};
    if (r.centred) {
        mxcu_out<P> mean = mxcu_wanted<P>(call, &call->out[MEAN], MEAN);
        r.mean_out = {mean.data, mean.add};
        r.beta = mxcu_data<T>(&call->in[BETA]);
    }
    return OVER_ROWS(call, r, forward);
}

/* Data (outer, n, inner): kept along n, reduced over outer and inner. */
static mxcu_reduction plan_columns(const mxc_shape *data, int axis) {
    const int64_t n = data->dim[axis], inner = mxcu_product(data, axis + 1, data->ndim);
    const int64_t others[2] = {mxcu_product(data, 0, axis), inner}, steps[2] = {n * inner, 1};
    mxci_strided kept, part;
    mxci_strided_set(&kept, 1, &n, &inner);
    mxci_strided_set(&part, 2, others, steps);
    return mxcu_plan_reduction(&kept, &part);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[DATA];
    mxcu_reduction plan = plan_columns(data, axis_of(sig->params, data));
    return pass == MXC_BACKWARD ? mxcu_reduction_bytes(&plan, sizeof(mxcu_pair)) : 0;
}

/* The sums for gamma and beta before data's gradient, which may take out_grad's memory. */
template <class T> static mxc_status backward_run(const mxc_op_call *call) {
    using P = typename rows<T>::P;
    const mxc_shape *data = &call->in[DATA].shape;
    rows<T> r = rows_of<T>(call);
    r.dy = mxcu_data<T>(&call->out_grad[OUT]);
    r.mean = mxcu_pointer<const P>(call->out[MEAN].data);
    r.std = mxcu_pointer<const P>(call->out[r.centred ? STD : RMS].data);
    column_sums<T> sums = {{}, r, mxcu_wanted<T>(call, &call->in_grad[GAMMA], GAMMA), {nullptr, 0}};
    if (r.centred)
        sums.beta = mxcu_wanted<T>(call, &call->in_grad[BETA], BETA);
    if (sums.gamma.data || sums.beta.data) {
        mxcu_reduction plan = plan_columns(data, axis_of(call->params, data));
        MXC_TRY(mxcu_reduce(call, &plan, sums, call->temp));
    }
    if (call->req[DATA] == MXC_REQ_NULL || r.columns == 0)
        return MXC_OK;
    r.to = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return OVER_ROWS(call, r, backward);
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, forward_run, call)
}

static mxc_status backward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[DATA].dtype, backward_run, call)
}

MXCU_OP_IMPLS(layer_norm, {"LayerNorm", forward, backward, temp_bytes}, {"RMSNorm", forward, backward, temp_bytes})
