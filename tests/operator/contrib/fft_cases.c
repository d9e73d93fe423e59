/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_fft and _contrib_ifft. */
#include <math.h>

#include "operator/cases.h"

static double angle_of(int64_t j, int64_t k, int64_t d) {
    return 2 * 3.14159265358979323846 * (double)(j * k % d) / (double)d;
}

static void ref_fft(const op_run *r) {
    int64_t d = case_last_dim(&r->in_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) { /* number k of a row */
        const double *x = r->in[0] + i / d * d;
        for (int64_t j = 0; j < d; j++) {
            double angle = angle_of(j, i % d, d);
            r->out[0][2 * i] += x[j] * cos(angle);
            r->out[0][2 * i + 1] -= x[j] * sin(angle);
        }
    }
}

static void ref_ifft(const op_run *r) {
    int64_t d = case_last_dim(&r->out_shape[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const double *x = r->in[0] + i / d * 2 * d;
        for (int64_t j = 0; j < d; j++)
            r->out[0][i] += x[2 * j] * cos(angle_of(j, i % d, d)) - x[2 * j + 1] * sin(angle_of(j, i % d, d));
    }
}

#define FFT(shape) \
    { .op = "_contrib_fft", .in = shape, .reference = ref_fft, .tolerance = 10 }
#define IFFT(shape) \
    { .op = "_contrib_ifft", .in = shape, .reference = ref_ifft, .tolerance = 10 }

static const op_case cases[] = {
    FFT("3x1"),
    FFT("3x2"),
    FFT("2x3"),
    FFT("4"),
    FFT("2x5"),
    FFT("2x6"),
    FFT("2x8"),
    FFT("3x12"),
    FFT("1x2x3x15"),
    FFT("2x16"),
    FFT("1x49"),
    FFT("2x61"),
    FFT("1x67"),
    FFT("2x134"),
    FFT("1x210"),
    FFT("1x256"),
    FFT("1x251"),
    FFT("40x32"),
    FFT("0x4"),
    FFT("2x0"),
    FFT("9x77"),
    FFT("1x122"),
    FFT("700x6"),
    {.op = "_contrib_fft", .params = "compute_size=2", .in = "5x4", .reference = ref_fft, .tolerance = 10},
    FAILS("_contrib_fft", "", "s", MXC_ESHAPE, "argument 'data' has no axes"),
    INFERS("_contrib_fft", "", "2x? -> ?x6 => 2x3 -> 2x6"),
    INFERS("_contrib_fft", "", "? -> 2x6 => 2x3 -> 2x6"),

    IFFT("3x2"),
    IFFT("3x4"),
    IFFT("2x6; 7x2; 1x2; 3x14; 1x26; 2x3x10; 17x4"),
    IFFT("8"),
    IFFT("2x10"),
    IFFT("2x12"),
    IFFT("1x2x3x16"),
    IFFT("1x98"),
    IFFT("2x122"),
    IFFT("1x134"),
    IFFT("1x420"),
    IFFT("1x502"),
    IFFT("0x4"),
    IFFT("2x0"),
    IFFT("40x64"),
    FAILS("_contrib_ifft", "", "2x3", MXC_ESHAPE, "rows of 3 numbers are no pairs"),
    INFERS("_contrib_ifft", "", "?x6 -> 2x? => 2x6 -> 2x3"),
};

MXC_CASES(contrib_fft_cases, cases);
