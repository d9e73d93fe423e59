/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_fft and _contrib_ifft (operator/contrib/fft.c). Rows are transformed in float64 by the mixed-radix passes of
 * operator/contrib/fft_kernels.c, each of which is one launch over all numbers of some rows; a thread computes one
 * number of the pass's result. Lengths with a large prime factor are convolved with a chirp (Bluestein). cuFFT is not
 * used, since it would be one more library of hundreds of MiB for two operators. Complex numbers are pairs (re, im). */
#include "cuda/runtime/kernel.h"
#include "operator/contrib/fft_kernels.h"

/* Bytes of rows in scratch, about: longer batches are transformed in slices. */
enum { SCRATCH = 256 << 20 }; /* bytes of rows, about */

struct complex {
    double re, im;
};

MXCU_DEVICE static complex times(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-2 pi i k / n), a root of 1. */
MXCU_DEVICE static complex root(int64_t k, int64_t n) {
    const double angle = 2 * 3.14159265358979323846 * (double)k / (double)n;
    return {cos(angle), -sin(angle)};
}

/* exp(-pi i k k / n). k k is reduced modulo 2 n first, so that the angle keeps its digits. */
MXCU_DEVICE static complex chirp(int64_t k, int64_t n) {
    return root(k * k % (2 * n), 2 * n);
}

/* Rows of `from` transformed to rows of `to`, result i of a call; one of them is real, the other complex. Scratch: the
 * roots of 1 of the transform's size (size); the transform of the chirp (size); two buffers of count rows (count,
 * size). */
struct rows {
    mxci_fft f;
    int64_t n, count; /* rows; rows of a slice */
    int from_real;
    complex *roots, *chirp_transform, *x, *y;
};

/* How many rows are transformed at a time: as many as SCRATCH holds, at least one. */
static rows rows_of(const mxc_shape *real, int from_real) {
    rows r = {};
    const int64_t length = real->dim[real->ndim - 1], all = mxcu_product(real, 0, real->ndim);
    if (all == 0)
        return r;
    mxci_fft_plan(length, &r.f);
    r.n = all / length;
    r.count = SCRATCH / (int64_t)(2 * sizeof(complex)) / r.f.size;
    r.count = r.count < 1 ? 1 : r.count > r.n ? r.n : r.count;
    r.from_real = from_real;
    return r;
}

static size_t bytes_of(const rows &r) {
    return mxci_size_of(mxci_dim_mul(r.f.size, 2 + 2 * r.count), sizeof(complex));
}

/* y = the transforms of count rows in x; the buffers x and y change places after each pass (Stockham: the result is in
 * order without a permutation). A pass of factor p takes rows as (p, m, step): number (q, u, rest) of the result (m, p,
 * step) is a sum over the p numbers that are m * step apart, times a twiddle factor. */
static mxc_status transform(const mxc_op_call *call, rows *r, int64_t count) {
    const int64_t size = r->f.size;
    const complex *roots = r->roots;
    int64_t step = 1;
    for (int i = 0; i < r->f.n_factors; i++) {
        const int64_t p = r->f.factor[i], m = size / p / step, far = m * step, here = step;
        const complex *x = r->x;
        complex *y = r->y;
        MXC_TRY(mxcu_for(call, count * size, [=] MXCU_LAMBDA(int64_t at) {
            const int64_t row = mxcu_divide(at, size), rest = at - row * size, pair = mxcu_divide(rest, here);
            const int64_t q = mxcu_divide(pair, p), u = pair - q * p;
            const int64_t first = row * size + q * here + rest - pair * here;
            complex sum = x[first];
            for (int64_t t = 1, k = u; t < p; t++, k = k + u < p ? k + u : k + u - p) {
                const complex term = times(x[first + t * far], roots[k * (size / p)]);
                sum = {sum.re + term.re, sum.im + term.im};
            }
            y[at] = times(sum, roots[q * u * here]);
        }));
        r->x = y;
        r->y = const_cast<complex *>(x);
        step *= p;
    }
    complex *result = r->x;
    r->x = r->y;
    r->y = result;
    return MXC_OK;
}

/* Fill in the roots of 1 and, for a convolution, the transform of the conjugated chirp, which is symmetric around 0 and
 * padded with zeros to the transform's size. */
static mxc_status prepare(const mxc_op_call *call, rows *r) {
    const int64_t size = r->f.size, n = r->f.n;
    complex *roots = r->roots, *chirp_transform = r->chirp_transform, *x = r->x;
    MXC_TRY(mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t k) { roots[k] = root(k, size); }));
    if (!r->f.is_convolution)
        return MXC_OK;
    MXC_TRY(mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t k) {
        const int64_t place = k < n ? k : size - k;
        const complex c = place < n ? chirp(place, n) : complex{0, 0};
        x[k] = {c.re, -c.im};
    }));
    MXC_TRY(transform(call, r, 1));
    const complex *made = r->y;
    return mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t k) { chirp_transform[k] = made[k]; });
}

/* x = count rows from `first` on. Complex input is conjugated, so that the forward transform computes the inverse one's
 * real part. For a convolution each number is multiplied by the chirp. Rows are padded with zeros. */
template <class T>
static mxc_status load(const mxc_op_call *call, const rows &r, const mxc_tensor *from, int64_t first, int64_t count) {
    const int64_t size = r.f.size, n = r.f.n;
    const int from_real = r.from_real, is_convolution = r.f.is_convolution;
    mxcu_in<T> numbers = mxcu_data<T>(from);
    complex *x = r.x;
    return mxcu_for(call, count * size, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = mxcu_divide(at, size), k = at - row * size, i = (first + row) * n + k;
        complex c = {0, 0};
        if (k < n && from_real)
            c.re = (double)numbers[i];
        else if (k < n)
            c = {(double)numbers[2 * i], -(double)numbers[2 * i + 1]};
        x[at] = is_convolution && k < n ? times(c, chirp(k, n)) : c;
    });
}

/* Bluestein: with jk = (j^2 + k^2 - (k - j)^2) / 2, the transform of x is the chirp times the convolution of (x chirp)
 * with the conjugated chirp. y = the conjugate of that convolution, by two transforms with a product between them; the
 * inverse transform is the forward one of the conjugate. */
static mxc_status convolve(const mxc_op_call *call, rows *r, int64_t count) {
    const int64_t size = r->f.size;
    const complex *chirp_transform = r->chirp_transform;
    MXC_TRY(transform(call, r, count));
    complex *swap = r->x, *x = r->y;
    r->x = x;
    r->y = swap;
    MXC_TRY(mxcu_for(call, count * size, [=] MXCU_LAMBDA(int64_t at) {
        const complex c = times(x[at], chirp_transform[at - mxcu_divide(at, size) * size]);
        x[at] = {c.re / (double)size, -c.im / (double)size};
    }));
    return transform(call, r, count);
}

/* to = count rows of y: numbers, their real parts, or, for a convolution, the conjugate times the chirp. */
template <class T>
static mxc_status store(const mxc_op_call *call, const rows &r, const mxc_tensor *to, int64_t first, int64_t count) {
    const int64_t size = r.f.size, n = r.f.n;
    const int from_real = r.from_real, is_convolution = r.f.is_convolution;
    mxcu_out<T> out = mxcu_result<T>(call, to, 0);
    const complex *y = r.y;
    return mxcu_for(call, count * n, [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = mxcu_divide(at, n), k = at - row * n, i = first * n + at;
        complex c = y[row * size + k];
        if (is_convolution)
            c = times({c.re, -c.im}, chirp(k, n));
        if (!from_real) {
            out.put(i, (mxcu_compute_t<T>)c.re);
            return;
        }
        out.put(2 * i, (mxcu_compute_t<T>)c.re);
        out.put(2 * i + 1, (mxcu_compute_t<T>)c.im);
    });
}

/* Slice by slice: load, transform, store, all queued on the stream. */
template <class T>
static mxc_status run(const mxc_op_call *call, rows *r, const mxc_tensor *from, const mxc_tensor *to) {
    MXC_TRY(prepare(call, r));
    for (int64_t first = 0; first < r->n; first += r->count) {
        const int64_t count = r->n - first < r->count ? r->n - first : r->count;
        MXC_TRY(load<T>(call, *r, from, first, count));
        MXC_TRY(r->f.is_convolution ? convolve(call, r, count) : transform(call, r, count));
        MXC_TRY(store<T>(call, *r, to, first, count));
    }
    return MXC_OK;
}

static mxc_status run_any(const mxc_op_call *call, rows *r, const mxc_tensor *from, const mxc_tensor *to) {
    MXCU_SWITCH_FLOAT(from->dtype, run, call, r, from, to)
}

static mxc_status run_rows(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to, int from_real) {
    rows r = rows_of(from_real ? &from->shape : &to->shape, from_real);
    if (call->req[0] == MXC_REQ_NULL || r.n == 0)
        return MXC_OK;
    r.roots = mxcu_temp<complex>(call, 0);
    r.chirp_transform = r.roots + r.f.size;
    r.x = r.chirp_transform + r.f.size;
    r.y = r.x + r.count * r.f.size;
    return run_any(call, &r, from, to);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static size_t fft_temp(const mxc_op_sig *sig, mxc_pass) {
    return bytes_of(rows_of(&sig->in_shape[0], 1));
}

static size_t ifft_temp(const mxc_op_sig *sig, mxc_pass) {
    return bytes_of(rows_of(&sig->out_shape[0], 0));
}

static mxc_status fft_forward(const mxc_op_call *call) {
    return run_rows(call, &call->in[0], &call->out[0], 1);
}

static mxc_status fft_backward(const mxc_op_call *call) {
    return run_rows(call, &call->out_grad[0], &call->in_grad[0], 0);
}

static mxc_status ifft_forward(const mxc_op_call *call) {
    return run_rows(call, &call->in[0], &call->out[0], 0);
}

static mxc_status ifft_backward(const mxc_op_call *call) {
    return run_rows(call, &call->out_grad[0], &call->in_grad[0], 1);
}

MXCU_OP_IMPLS(fft, {"_contrib_fft", fft_forward, fft_backward, fft_temp},
              {"_contrib_ifft", ifft_forward, ifft_backward, ifft_temp})
