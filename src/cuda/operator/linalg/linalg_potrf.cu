/* SPDX-License-Identifier: Apache-2.0 */
/* _linalg_potrf (Cholesky factorization), _linalg_potri (inverse from a factor), _linalg_sumlogdiag. The factorization
 * has one team per matrix, which suits batches of small matrices; a single large one leaves the GPU mostly idle
 * (cuSOLVER is not used). The host waits for the device once to report matrices without a factor. Scratch of the first
 * two: three matrices of the batch's size, then the first failure, then the failures of all matrices. */
#include "cuda/operator/linalg/triangular.h"
#include "cuda/runtime/blas.h"
#include "cuda/runtime/math.h"

static int is_lower(const mxc_op_call *call) {
    return static_cast<const mxci_factor_params *>(call->params)->lower;
}

/* Triangular A with a B of the same size, for solves and products in scratch. */
static mxcu_triangular square_of(const mxc_op_call *call, int rightside, int lower, int transpose) {
    const mxc_shape *a = &call->in[0].shape;
    return {{call->in[0].dtype, rightside, lower, transpose},
            mxci_linalg_batch(a),
            mxci_linalg_rows(a),
            mxci_linalg_rows(a)};
}

/* Scratch matrix number i of three. What lies behind the last (i = 3) is the first failure, as matrix and row, and then
 * the failures of all matrices. */
static void *square(const mxc_op_call *call, int i) {
    return mxcu_matrix_temp(call, (size_t)i * mxcu_matrix_bytes(&call->in[0].shape, call->in[0].dtype));
}

static size_t factor_temp(const mxc_op_sig *sig, mxc_pass) {
    const mxc_shape *a = &sig->in_shape[0];
    return 3 * mxcu_matrix_bytes(a, sig->in_type[0]) + ((size_t)mxci_linalg_batch(a) + 2) * sizeof(int32_t);
}

/* For each matrix of the batch: the row, counted from 1, at which the factorization fails; 0: it does not. */
static int32_t *failures_of(const mxc_op_call *call) {
    return static_cast<int32_t *>(square(call, 3)) + 2;
}

/* One thread finds the first matrix that failed; the host waits for the device and reports it. Not captured. */
static mxc_status check(const mxc_op_call *call, const char *op, const char *what) {
    const int64_t count = mxci_linalg_batch(&call->in[0].shape);
    const mxc_context host = {MXC_CPU, 0}, gpu = call->run->context;
    int32_t *failures = mxcu_pointer<int32_t>(failures_of(call));
    int32_t *first = mxcu_pointer<int32_t>(failures_of(call) - 2), found[2];
    MXC_TRY(mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        first[0] = 0;
        first[1] = 0;
        for (int64_t i = 0; i < count && first[1] == 0; i++) {
            first[0] = (int32_t)i;
            first[1] = failures[i];
        }
    }));
    MXC_TRY(mxcu_gpu.stream_synchronize(gpu, call->run->stream));
    MXC_TRY(mxcu_gpu.copy_now(host, found, gpu, failures_of(call) - 2, sizeof found));
    return found[1] == 0 ? MXC_OK
                         : MXC_FAIL(MXC_EINVAL, "%s: matrix %d of the batch %s (seen at row %d)", op, (int)found[0],
                                    what, (int)found[1] - 1);
}

/* A team per matrix: column by column of the lower triangle L, or with `lower` 0 row by row of the upper one, in place.
 * The diagonal element is a sum over the team; below it a thread computes each row's element. Two barriers per column.
 * Sums over k are sequential per element, except the diagonal's. */
template <class T> static mxc_status factor(const mxc_op_call *call, int lower) {
    const int64_t n = mxci_linalg_columns(&call->in[0].shape), step = lower ? n : 1, across = lower ? 1 : n;
    T *matrices = mxcu_temp<T>(call, 0);
    int32_t *failures = mxcu_pointer<int32_t>(failures_of(call));
    return mxcu_rows(call, mxci_linalg_batch(&call->in[0].shape), n, [=] MXCU_LAMBDA(int64_t index, mxcu_team team) {
        T *a = matrices + index * n * n;
        int32_t failed = 0;
        for (int64_t j = 0; j < n && !failed; j++) {
            T square = 0, side;
            for (int64_t k = team.rank; k < j; k += team.size)
                square += a[j * step + k * across] * a[j * step + k * across];
            square = a[j * step + j * across] - team.sum(square);
            failed = square > 0 ? 0 : (int32_t)j + 1;
            side = sqrt(square);
            team.sync();
            if (team.rank == 0)
                a[j * step + j * across] = side;
            for (int64_t i = j + 1 + team.rank; i < n && !failed; i += team.size) {
                T rest = a[i * step + j * across];
                for (int64_t k = 0; k < j; k++)
                    rest -= a[i * step + k * across] * a[j * step + k * across];
                a[i * step + j * across] = rest / side;
            }
            team.sync();
        }
        if (team.rank == 0)
            failures[index] = failed;
    });
}

static mxc_status factor_any(const mxc_op_call *call) {
    MXCU_SWITCH_REAL(call->in[0].dtype, factor, call, is_lower(call))
}

/* The triangle of A is copied to scratch and factored there, so that out stays as it was if a matrix fails. */
static mxc_status factor_forward(const mxc_op_call *call) {
    mxcu_triangular t = square_of(call, 0, is_lower(call), 0);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_triangle(call, t.t.dtype, t.t.lower, MXCU_CLEAR, t.count, t.m, call->in[0].data, call->temp));
    MXC_TRY(factor_any(call));
    MXC_TRY(check(call, "_linalg_potrf", "is not positive definite"));
    return mxcu_put_matrices(call, &call->out[0], 0, 1, call->temp);
}

/* By the formulas in operator/linalg/linalg_potrf.c: products and triangular solves in scratch. */
static mxc_status factor_backward(const mxc_op_call *call) {
    const int lower = is_lower(call);
    const void *factor = call->out[0].data;
    void *first = square(call, 0), *second = square(call, 1);
    mxcu_triangular outer = square_of(call, !lower, lower, 1), left = square_of(call, 0, lower, lower);
    mxcu_triangular right = square_of(call, 1, lower, !lower);
    const mxc_dtype dtype = outer.t.dtype;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_triangle(call, dtype, lower, MXCU_CLEAR, outer.count, outer.m, call->out_grad[0].data, second));
    MXC_TRY(mxcu_triangular_multiply(call, &outer, 1, factor, second, first, square(call, 2)));
    MXC_TRY(mxcu_triangle(call, dtype, lower, MXCU_MIRROR, outer.count, outer.m, first, second));
    MXC_TRY(mxcu_triangular_solve(call, &left, 0.5, factor, second));
    MXC_TRY(mxcu_triangular_solve(call, &right, 1, factor, second));
    return mxcu_put_matrices(call, &call->in_grad[0], 0, 1, second);
}

/* Scratch becomes unit matrices (a thread per element), and a thread per matrix records the first 0 on its diagonal. */
template <class T> static mxc_status open_inverse(const mxc_op_call *call) {
    const int64_t n = mxci_linalg_columns(&call->in[0].shape);
    const T *a = mxcu_pointer<T>(call->in[0].data);
    T *unit = mxcu_temp<T>(call, 0);
    int32_t *failures = mxcu_pointer<int32_t>(failures_of(call));
    MXC_TRY(mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) {
        int64_t line = mxcu_divide(i, n), row = line - mxcu_divide(line, n) * n;
        unit[i] = i - line * n == row;
    }));
    return mxcu_for(call, mxci_linalg_batch(&call->in[0].shape), [=] MXCU_LAMBDA(int64_t index) {
        failures[index] = 0;
        for (int64_t i = n - 1; i >= 0; i--)
            if (a[index * n * n + i * (n + 1)] == 0)
                failures[index] = (int32_t)i + 1;
    });
}

static mxc_status open_inverse_any(const mxc_op_call *call) {
    MXCU_SWITCH_REAL(call->in[0].dtype, open_inverse, call)
}

/* potri: (L L')^-1 by two triangular solves of the unit matrix. */
static mxc_status inverse_forward(const mxc_op_call *call) {
    const int lower = is_lower(call);
    mxcu_triangular inner = square_of(call, 0, lower, !lower), outer = square_of(call, 0, lower, lower);
    const void *factor = call->in[0].data;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(open_inverse_any(call));
    MXC_TRY(check(call, "_linalg_potri", "has 0 on the diagonal"));
    MXC_TRY(mxcu_triangular_solve(call, &inner, 1, factor, call->temp));
    MXC_TRY(mxcu_triangular_solve(call, &outer, 1, factor, call->temp));
    return mxcu_put_matrices(call, &call->out[0], 0, 1, call->temp);
}

/* c (n,n) = or += op(a) op(b), batched. */
static mxc_status multiply(const mxc_op_call *call, int add, const void *a, int transpose_a, const void *b,
                           int transpose_b, void *c) {
    mxcu_triangular t = square_of(call, 0, 0, 0);
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = t.t.dtype;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = t.m;
    g.a = a, g.b = b, g.c = c;
    g.transpose_a = transpose_a, g.transpose_b = transpose_b;
    g.beta = add;
    g.batch = t.count;
    g.a_stride = g.b_stride = g.c_stride = t.m * t.m;
    return mxcu_gemm(call, &g);
}

/* As operator/linalg/linalg_potrf.c: two products added, a triangular solve, and the triangle of the result. */
static mxc_status inverse_backward(const mxc_op_call *call) {
    const int lower = is_lower(call);
    const void *g = call->out_grad[0].data, *b = call->out[0].data;
    void *first = square(call, 0), *second = square(call, 1);
    mxcu_triangular t = square_of(call, lower, lower, 1);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(multiply(call, 0, lower ? b : g, 0, lower ? g : b, 0, first));
    MXC_TRY(multiply(call, 1, lower ? b : g, !lower, lower ? g : b, lower, first));
    MXC_TRY(mxcu_triangular_solve(call, &t, -1, call->in[0].data, first));
    MXC_TRY(mxcu_triangle(call, t.t.dtype, lower, MXCU_CLEAR, t.count, t.m, first, second));
    return mxcu_put_matrices(call, &call->in_grad[0], 0, 1, second);
}

/* ---- sumlogdiag -------------------------------------------------------------------------------------------------- */

/* A team per matrix sums the logarithms of its diagonal, in float64. */
template <class T> static mxc_status sum_as(const mxc_op_call *call) {
    const int64_t n = mxci_linalg_columns(&call->in[0].shape);
    mxcu_in<T> a = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_rows(call, mxci_linalg_batch(&call->in[0].shape), n, [=] MXCU_LAMBDA(int64_t index, mxcu_team team) {
        double sum = 0;
        for (int64_t i = team.rank; i < n; i += team.size)
            sum += mxcu_log((double)a[index * n * n + i * (n + 1)]);
        sum = team.sum(sum);
        if (team.rank == 0)
            y.put(index, (T)sum);
    });
}

/* d sum(log a_ii) = 1 / a_ii on the diagonal; a thread per element. */
template <class T> static mxc_status sum_gradient_as(const mxc_op_call *call) {
    const int64_t n = mxci_linalg_columns(&call->in[0].shape);
    mxcu_in<T> a = mxcu_data<T>(&call->in[0]), g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t line = mxcu_divide(i, n), index = mxcu_divide(line, n);
        y.put(i, i - line * n == line - index * n ? g[index] / a[i] : 0);
    });
}

static mxc_status sum_forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_REAL(call->in[0].dtype, sum_as, call)
}

static mxc_status sum_backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_REAL(call->in[0].dtype, sum_gradient_as, call)
}

MXCU_OP_IMPLS(linalg_potrf, {"_linalg_potrf", factor_forward, factor_backward, factor_temp},
              {"_linalg_potri", inverse_forward, inverse_backward, factor_temp},
              {"_linalg_sumlogdiag", sum_forward, sum_backward})
