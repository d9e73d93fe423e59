/* SPDX-License-Identifier: Apache-2.0 */
/* Discrete Fourier transforms of any length, in float64. Complex numbers are pairs of real and imaginary part. Lengths
 * whose prime factors are small are transformed by mixed-radix passes (Stockham's algorithm, which needs no
 * permutation); others as a convolution with a chirp (Bluestein), by transforms whose length is a power of 2. O(n log
 * n) either way. */
#ifndef MXCI_OPERATOR_CONTRIB_FFT_KERNELS_H
#define MXCI_OPERATOR_CONTRIB_FFT_KERNELS_H

#include <stdint.h>
#include <string.h>

/* How a length is transformed. */
typedef struct mxci_fft {
    int64_t n, size; /* length; length of the transforms by factors: n, or the power of 2 */
    int n_factors;
    int64_t factor[64]; /* of size */
    int is_convolution;
    const double *roots; /* roots of 1, for one pass after the other */
    const double *chirp,
        *chirp_transform; /* convolution: n numbers exp(-pi i k k / n), and the transform of their conjugate */
} mxci_fft;

enum { MXCI_FFT_LARGEST = 64 }; /* prime factor that is summed directly */

/* Factors of size: 4 before the primes, since a pass of 4 takes fewer operations than two of 2. What is left after the
 * primes up to MXCI_FFT_LARGEST counts as one factor. Returns the largest. */
static inline int64_t mxci_fft_factorize(mxci_fft *f) {
    int64_t rest = f->size, p = 4;
    f->n_factors = 0;
    while (rest > 1) {
        for (; rest % p == 0; rest /= p)
            f->factor[f->n_factors++] = p;
        p = p == 4 ? 2 : p == 2 ? 3 : p * p > rest || p >= MXCI_FFT_LARGEST ? rest : p + 2;
    }
    return f->n_factors ? f->factor[f->n_factors - 1] : 1;
}

static inline void mxci_fft_plan(int64_t n, mxci_fft *out) {
    memset(out, 0, sizeof *out);
    out->n = out->size = n;
    if (mxci_fft_factorize(out) <= MXCI_FFT_LARGEST)
        return;
    out->is_convolution = 1;
    for (out->size = 1; out->size < 2 * n - 1;)
        out->size *= 2;
    mxci_fft_factorize(out);
}

/* Doubles of the tables, and of scratch for a transform. */
int64_t mxci_fft_table_size(const mxci_fft *f);
int64_t mxci_fft_scratch_size(const mxci_fft *f);
/* Fill in the tables, which must stay for as long as the plan is used. */
void mxci_fft_fill(mxci_fft *f, double *tables, double *scratch);
/* to[k] = the sum over j of from[j] exp(-2 pi i j k / n), k < n. from and to have room for size numbers, scratch for
 * mxci_fft_scratch_size doubles; from is overwritten. */
void mxci_fft_run(const mxci_fft *f, double *from, double *to, double *scratch);

#endif
