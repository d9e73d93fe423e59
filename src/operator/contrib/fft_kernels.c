/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms by mixed-radix passes and by Bluestein's convolution: see contrib/fft_kernels.h. */
#include "operator/contrib/fft_kernels.h"

#include <math.h>
#include <string.h>

#include "base/size.h"

static const double pi = 3.14159265358979323846;

typedef struct complex {
    double re, im;
} complex;

static complex times(complex a, complex b) {
    return (complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static complex conjugate(complex a) {
    return (complex){a.re, -a.im};
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

int64_t mxci_fft_table_size(const mxci_fft *f) {
    int64_t n = f->is_convolution ? f->n + f->size : 0;          /* the chirp and its transform */
    for (int64_t i = 0, rest = f->size; i < f->n_factors; i++) { /* p roots and (p - 1) m twiddle factors of a pass */
        rest /= f->factor[i];
        n += f->factor[i] + (f->factor[i] - 1) * rest;
    }
    return mxci_dim_mul(2, n);
}

int64_t mxci_fft_scratch_size(const mxci_fft *f) {
    return f->is_convolution ? 2 * f->size : 0;
}

/* ---- by factors -------------------------------------------------------------------------------------------------- */

/* A pass over numbers (p, m, step) takes each p of them that are m * step apart, transforms them, multiplies number u
 * of the result by the twiddle factor exp(-2 pi i q u / (p m)), q the position in m, and puts it to (m, p, step).
 * roots: the p-th roots of 1; twiddles: p - 1 for each q. */
typedef struct pass {
    int64_t p, m, step;
    const complex *roots, *twiddles;
} pass;

static void run_2(const pass *s, const complex *x, complex *y) {
    int64_t step = s->step, far = s->m * step;
    for (int64_t q = 0; q < s->m; q++) {
        complex w = s->twiddles[q];
        for (int64_t i = q * step, to = 2 * i; i < (q + 1) * step; i++, to++) {
            complex a = x[i], b = x[i + far];
            y[to] = (complex){a.re + b.re, a.im + b.im};
            y[to + step] = times((complex){a.re - b.re, a.im - b.im}, w);
        }
    }
}

static void run_4(const pass *s, const complex *x, complex *y) {
    int64_t step = s->step, far = s->m * step;
    for (int64_t q = 0; q < s->m; q++) {
        complex w1 = s->twiddles[3 * q], w2 = s->twiddles[3 * q + 1], w3 = s->twiddles[3 * q + 2];
        for (int64_t i = q * step, to = 4 * i; i < (q + 1) * step; i++, to++) {
            complex a = x[i], b = x[i + far], c = x[i + 2 * far], d = x[i + 3 * far];
            complex even = {a.re + c.re, a.im + c.im}, odd = {b.re + d.re, b.im + d.im};
            complex left = {a.re - c.re, a.im - c.im}, right = {b.im - d.im, d.re - b.re}; /* -i (b - d) */
            y[to] = (complex){even.re + odd.re, even.im + odd.im};
            y[to + step] = times((complex){left.re + right.re, left.im + right.im}, w1);
            y[to + 2 * step] = times((complex){even.re - odd.re, even.im - odd.im}, w2);
            y[to + 3 * step] = times((complex){left.re - right.re, left.im - right.im}, w3);
        }
    }
}

static complex sum_of_roots(const pass *s, int64_t u, int64_t far, const complex *x) {
    complex sum = *x;
    for (int64_t t = 1, at = 0; t < s->p; t++) {
        complex term;
        at += u;
        at -= at >= s->p ? s->p : 0;
        term = times(x[t * far], s->roots[at]);
        sum = (complex){sum.re + term.re, sum.im + term.im};
    }
    return sum;
}

/* A pass of any factor: each result is a sum of p terms. */
static void run_any(const pass *s, const complex *x, complex *y) {
    int64_t step = s->step, far = s->m * step;
    for (int64_t q = 0; q < s->m; q++)
        for (int64_t u = 0; u < s->p; u++)
            for (int64_t r = 0; r < step; r++) {
                complex sum = sum_of_roots(s, u, far, &x[q * step + r]);
                y[(q * s->p + u) * step + r] = u ? times(sum, s->twiddles[q * (s->p - 1) + u - 1]) : sum;
            }
}

/* size numbers, by one pass after the other between the two buffers; from is overwritten. */
static void transform(const mxci_fft *f, complex *from, complex *to) {
    const complex *roots = (const complex *)f->roots;
    complex *x = from, *y = to, *swap;
    pass s = {.m = f->size, .step = 1};
    for (int i = 0; i < f->n_factors; i++) {
        s.p = f->factor[i];
        s.m /= s.p;
        s.roots = roots;
        s.twiddles = roots + s.p;
        (s.p == 2 ? run_2 : s.p == 4 ? run_4 : run_any)(&s, x, y);
        roots += s.p + (s.p - 1) * s.m;
        s.step *= s.p;
        swap = x, x = y, y = swap;
    }
    if (x != to)
        memcpy(to, x, (size_t)f->size * sizeof *to);
}

static complex root(int64_t k, int64_t n) {
    double angle = 2 * pi * (double)k / (double)n;
    return (complex){cos(angle), -sin(angle)};
}

/* Returns the end of the table. */
static complex *fill_roots(const mxci_fft *f, complex *roots) {
    for (int64_t i = 0, size = f->size; i < f->n_factors; i++) {
        int64_t p = f->factor[i], m = size / p;
        for (int64_t u = 0; u < p; u++)
            *roots++ = root(u, p);
        for (int64_t q = 0; q < m; q++)
            for (int64_t u = 1; u < p; u++)
                *roots++ = root(q * u, size);
        size = m;
    }
    return roots;
}

/* ---- as a convolution -------------------------------------------------------------------------------------------- */

/* With jk = (j^2 + k^2 - (k - j)^2) / 2 the transform is the chirp times the convolution of (from times the chirp) with
 * the conjugated chirp. Convolutions are products of transforms; the inverse transform is the transform of the
 * conjugate, conjugated. */
static void convolve(const mxci_fft *f, complex *from, complex *to, complex *scratch) {
    const complex *chirp = (const complex *)f->chirp, *chirp_transform = (const complex *)f->chirp_transform;
    for (int64_t j = 0; j < f->n; j++)
        from[j] = times(from[j], chirp[j]);
    memset(from + f->n, 0, (size_t)(f->size - f->n) * sizeof *from);
    transform(f, from, scratch);
    for (int64_t k = 0; k < f->size; k++)
        scratch[k] = conjugate(times(scratch[k], chirp_transform[k]));
    transform(f, scratch, from);
    for (int64_t k = 0; k < f->n; k++) {
        complex sum = conjugate(from[k]);
        to[k] = times((complex){sum.re / (double)f->size, sum.im / (double)f->size}, chirp[k]);
    }
}

void mxci_fft_fill(mxci_fft *f, double *tables, double *scratch) {
    complex *chirp = fill_roots(f, (complex *)tables), *chirp_transform = chirp + f->n,
            *conjugated = (complex *)scratch;
    f->roots = tables;
    if (!f->is_convolution)
        return;
    for (int64_t k = 0, square = 0; k < f->n; k++) { /* square: k^2 modulo 2 n, so that the angle keeps its digits */
        square += k ? 2 * k - 1 : 0;
        square -= square >= 2 * f->n ? 2 * f->n : 0;
        chirp[k] = (complex){cos(pi * (double)square / (double)f->n), -sin(pi * (double)square / (double)f->n)};
    }
    memset(conjugated, 0, (size_t)f->size * sizeof *conjugated);
    for (int64_t k = 0; k < f->n; k++) {
        conjugated[k] = conjugate(chirp[k]);
        conjugated[(f->size - k) % f->size] = conjugated[k];
    }
    transform(f, conjugated, chirp_transform);
    f->chirp = &chirp->re;
    f->chirp_transform = &chirp_transform->re;
}

void mxci_fft_run(const mxci_fft *f, double *from, double *to, double *scratch) {
    if (f->is_convolution)
        convolve(f, (complex *)from, (complex *)to, (complex *)scratch);
    else
        transform(f, (complex *)from, (complex *)to);
}
