/* Cases of contributed operators: fft, ifft, quantize, dequantize, count_sketch. */
#include <math.h>

#include "operator/cases.h"

static int64_t last_of(const mxc_shape *s) {
    return s->dim[s->ndim - 1];
}

/* ---- Fourier transforms, by their definition --------------------------------------------------------------------- */

static double angle_of(int64_t j, int64_t k, int64_t d) {
    return 2 * 3.14159265358979323846 * (double)(j * k % d) / (double)d;
}

static void ref_fft(const op_run *r) {
    int64_t d = last_of(&r->in_shape[0]);
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
    int64_t d = last_of(&r->out_shape[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const double *x = r->in[0] + i / d * 2 * d;
        for (int64_t j = 0; j < d; j++)
            r->out[0][i] += x[2 * j] * cos(angle_of(j, i % d, d)) - x[2 * j + 1] * sin(angle_of(j, i % d, d));
    }
}

/* ---- 8 bits ------------------------------------------------------------------------------------------------------ */

/* Half away from the middle of the range, as round does. */
static void ref_quantize(const op_run *r) {
    double low = r->in[1][0], high = r->in[2][0], most = fmax(fabs(low), fabs(high));
    int is_int8 = case_is(r, "out_type", "int8");
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = is_int8 ? fmin(fmax(round(x * (127 / most)), -127), 127)
                               : fmin(fmax(round((x - low) * (255 / (high - low))), 0), 255);
    }
    r->out[1][0] = is_int8 ? -most : low;
    r->out[2][0] = is_int8 ? most : high;
}

static void ref_dequantize(const op_run *r) {
    double low = r->in[1][0], high = r->in[2][0], most = r->in_type[0] == MXC_I8 ? 127 : 2147483647.0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in_type[0] == MXC_U8 ? low + r->in[0][i] * (high - low) / 255
                                               : r->in[0][i] * fmax(fabs(low), fabs(high)) / most;
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

static void ref_sketch(const op_run *r) {
    int64_t n = last_of(&r->in_shape[0]), k = last_of(&r->out_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i / n * k + (int64_t)r->in[1][i % n]] += r->in[2][i % n] * r->in[0][i];
}

#define FFT(shape) \
    { .op = "_contrib_fft", .in = shape, .reference = ref_fft, .tolerance = 10 }
#define IFFT(shape) \
    { .op = "_contrib_ifft", .in = shape, .reference = ref_ifft, .tolerance = 10 }
#define QUANTIZE(given, shapes)                                                              \
    {                                                                                        \
        .op = "_contrib_quantize", .params = given, .in = shapes, .reference = ref_quantize, \
        .gradient = case_zero_gradient                                                       \
    }
#define DEQUANTIZE(shapes) \
    { .op = "_contrib_dequantize", .in = shapes, .reference = ref_dequantize }
#define SKETCH(given, shapes)                                                                                 \
    {                                                                                                         \
        .op = "_contrib_count_sketch", .params = given, .in = shapes, .constant = 6, .reference = ref_sketch, \
        .flags = CASE_ONE_OF_FORMS                                                                            \
    }

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

    QUANTIZE("", "3x4 1@-1:-0.9 1@0.9:1"),
    QUANTIZE("", "7@-2:3 1@-1:-0.5 1@1:2; 65 1 1; 1x1 1 1; 7x1 1 1; 2x3x4 1 1; 3x129 1 1; 0 1 1; 1031 1 1; 17x3 1 1; "
                 "2x1x3x1x2 1 1"),
    QUANTIZE("", "1 1@-1:-0.9 1@0:1"),
    QUANTIZE("", "s 1@-2:-1 1@1:2"),
    QUANTIZE("", "0x3 1@-2:-1 1@1:2"),
    QUANTIZE("", "50x70@0:9 1@0.5:1 1@7:8"),
    QUANTIZE("", "20000@-5:5 1@-4:-3 1@3:4"),
    QUANTIZE("out_type=uint8", "2x3x4x5 1@-2:-1 1@1:2"),
    QUANTIZE("out_type=int8", "3x4 1@-1:-0.9 1@0.9:1"),
    QUANTIZE("out_type=int8", "7@-2:3 1@-1:-0.5 1@1:2"),
    QUANTIZE("out_type=int8", "50x70@-9:9 1@-8:-7 1@0.5:1"),
    QUANTIZE("out_type=int8", "1 1@-1:-0.9 1@0:1"),
    FAILS("_contrib_quantize", "", "3 2 1", MXC_ESHAPE, "argument 'min_range': expected shape (1,), found (2,)"),
    FAILS("_contrib_quantize", "out_type=int32", "3 1 1", MXC_EINVAL, "out_type"),
    INFERS("_contrib_quantize", "", "2x?,?,? -> ?x3,?,? => 2x3,1,1 -> 2x3,1,1"),

    DEQUANTIZE("3x90@-128:255i 1@-1:-0.9 1@0.9:1"),
    DEQUANTIZE("300@0:255i 1@-2:-1 1@3:4"),
    DEQUANTIZE("9@200:255i 1@-2:-1 1@3:4; 1 1 1; 7 1 1; s 1 1; 0 1 1; 1x1 1 1; 2x3x4 1 1; 65 1 1; 7x1 1 1; 3x129 1 1; "
               "2x1x3x1x2 1 1; 1031 1 1; 64 1 1"),
    DEQUANTIZE("9@-127:255i 1@-2:-1 1@3:4"),
    DEQUANTIZE("0x3 1@-2:-1 1@3:4"),
    DEQUANTIZE("20000@0:255i 1@1:2 1@3:4"),
    DEQUANTIZE("1@255:256 1@-2:-1 1@3:4"),
    DEQUANTIZE("30x70@-100:300i 1@-0.5:0.5 1@3:4"),
    FAILS("_contrib_dequantize", "", "3 1 1", MXC_EDTYPE, "input"),
    FAILS("_contrib_dequantize", "out_type=int8", "3 1 1", MXC_EINVAL, "out_type"),
    INFERS("_contrib_dequantize", "", "?,?,? -> 2x3 => 2x3,1,1 -> 2x3"),

    SKETCH("out_dim=4", "3x7 1x7@0:3i 1x7@-1:1; 1x1 1x1 1x1; 7x1 1x1 1x1; 1x65 1x65 1x65; 2x3x4 1x4 1x4; "
                        "65x2 1x2 1x2; 2x1x3x5 1x5 1x5; 17x9 1x9 1x9; 33x3 1x3 1x3; 0x3 1x3 1x3; 3x129 1x129 1x129"),
    SKETCH("out_dim=4", "3x7 7@0:3i 7@-1:1"),
    SKETCH("out_dim=1", "1x1 1x1@0:0.5 1x1"),
    SKETCH("out_dim=9", "2x3x4x5 1x5@0:8i 1x5"),
    SKETCH("out_dim=3", "0x7 1x7@0:2i 1x7"),
    SKETCH("out_dim=700", "5x40 1x40@0:699i 1x40"),
    SKETCH("out_dim=10 processing_batch_size=2", "9x600 1x600@0:9i 1x600"),
    SKETCH("out_dim=3", "3000x4 1x4@0:2i 1x4"),
    SKETCH("out_dim=3", "2x0 1x0 1x0"),
    SKETCH("out_dim=5", "6 1x6@0:4i 1x6"),
    FAILS("_contrib_count_sketch", "out_dim=4", "3x7 1x6 1x7", MXC_ESHAPE, "expected shape"),
    FAILS("_contrib_count_sketch", "out_dim=4", "3x7 1x7 2x7", MXC_ESHAPE,
          "argument 's': expected shape (1,7), found (2,7)"),
    FAILS("_contrib_count_sketch", "", "3x7 1x7 1x7", MXC_EINVAL, "\"out_dim\" is missing"),
    FAILS("_contrib_count_sketch", "out_dim=0", "3x7 1x7 1x7", MXC_EINVAL, "out_dim"),
    INFERS("_contrib_count_sketch", "out_dim=4", "3x?,1x7,? -> ? => 3x7,1x7,1x7 -> 3x4"),
    INFERS("_contrib_count_sketch", "out_dim=4", "?x7,?,? -> 3x? => 3x7,1x7,1x7 -> 3x4"),
};

MXC_CASES(contrib_cases, cases);
