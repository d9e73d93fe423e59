/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _cvimresize, _image_resize and _cvcopyMakeBorder. */
#include <math.h>

#include "operator/cases.h"

/* ---- _cvimresize ------------------------------------------------------------------------------------------------- */

static double keys(double x) {
    x = fabs(x);
    return x <= 1 ? 1.25 * x * x * x - 2.25 * x * x + 1 : x < 2 ? -0.75 * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

static double lanczos(double x) {
    return x == 0 ? 1 : fabs(x) < 4 ? sin(M_PI * x) * sin(M_PI * x / 4) / (M_PI * M_PI * x * x / 4) : 0;
}

/* What element k of the axis without end, of which the image is in, counts in element o of out. */
static double count_of(int interp, int is_area, double in, double out, double o, double k) {
    double scale = in / out, at = (o + 0.5) * scale - 0.5, sum = 0, step;
    switch (interp) {
    case 0:
        return k == floor(o * scale);
    case 1:
        return fmax(1 - fabs(at - k), 0);
    case 2:
        return keys(at - k);
    case 3:
        if (is_area)
            return fmax(fmin(k + 1, (o + 1) * scale) - fmax(k, o * scale), 0) / scale;
        step = o + 1 - (floor(o * scale) + 1) / scale;
        step = step <= 0 ? 0 : step - floor(step);
        return k == floor(o * scale) ? 1 - step : k == floor(o * scale) + 1 ? step : 0;
    default:
        for (int i = -3; i <= 4; i++)
            sum += lanczos(at - floor(at) - i);
        return lanczos(at - k) / sum;
    }
}

static void ref_resize(const op_run *r) {
    const int first = r->in_shape[0].ndim - 3; /* a batch of images has an axis before */
    const int64_t *in = r->in_shape[0].dim + first, *out = r->out_shape[0].dim + first;
    int interp = (int)case_number(r, "interp", 1), is_area = in[0] >= out[0] && in[1] >= out[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t c = i % in[2], x = i / in[2] % out[1], y = i / in[2] / out[1] % out[0];
        const double *image = r->in[0] + i / in[2] / out[1] / out[0] * in[0] * in[1] * in[2];
        double sum = 0;
        for (int64_t v = -8; v < in[0] + 8; v++)
            for (int64_t u = -8; u < in[1] + 8; u++) {
                int64_t row = v < 0 ? 0 : v < in[0] ? v : in[0] - 1, column = u < 0 ? 0 : u < in[1] ? u : in[1] - 1;
                sum += count_of(interp, is_area, (double)in[0], (double)out[0], (double)y, (double)v) *
                       count_of(interp, is_area, (double)in[1], (double)out[1], (double)x, (double)u) *
                       image[(row * in[1] + column) * in[2] + c];
            }
        r->out[0][i] = r->in_type[0] == MXC_U8 ? fmin(fmax(rint(sum), 0), 255) : sum;
    }
}

#define RESIZE(given, shapes)                                                                                  \
    {                                                                                                          \
        .op = "_cvimresize", .params = given, .in = shapes, .reference = ref_resize, .flags = CASE_FLOAT_ONLY, \
        .tolerance = 4                                                                                         \
    }
/* From odd sizes to odd ones, where no result lies just between two bytes. */
#define RESIZE_BYTES(given, shapes) \
    { .op = "_cvimresize", .params = given, .in = shapes, .reference = ref_resize, .flags = CASE_INT_ONLY }

/* ---- _cvcopyMakeBorder ------------------------------------------------------------------------------------------- */

/* Step by step from the image outwards. */
static int64_t place_of(int type, int64_t at, int64_t n) {
    while (at < 0 || at >= n) {
        if (type == 0)
            return -1;
        if (type == 1)
            at = at < 0 ? 0 : n - 1;
        else if (type == 2)
            at = at < 0 ? -1 - at : 2 * n - 1 - at;
        else if (type == 3)
            at = at < 0 ? at + n : at - n;
        else
            at = n == 1 ? 0 : at < 0 ? -at : 2 * n - 2 - at;
    }
    return at;
}

static void ref_border(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    int type = (int)case_number(r, "type", 0);
    mxc_tuple values = case_tuple(r, "values");
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t c = i % in[2], x = i / in[2] % out[1] - (int64_t)case_number(r, "left", 0);
        int64_t y = i / in[2] / out[1] - (int64_t)case_number(r, "top", 0);
        int64_t row = place_of(type, y, in[0]), column = place_of(type, x, in[1]);
        if (row < 0 || column < 0)
            r->out[0][i] = values.n == 0 ? case_number(r, "value", 0) : c < values.n ? (double)values.value[c] : 0;
        else
            r->out[0][i] = r->in[0][(row * in[1] + column) * in[2] + c];
    }
}

#define BORDER(given, shapes) RUN("_cvcopyMakeBorder", given, shapes, ref_border)

static const op_case cases[] = {
    RESIZE("w=3 h=4; w=3 h=4 interp=0; w=3 h=4 interp=2; w=3 h=4 interp=3; w=3 h=4 interp=4",
           "2x2x3@0:200; 4x3x1; 1x1x3; 9x12x3; 5x2x4; 3x7x2"),
    RESIZE("w=60 h=1; w=1 h=50; w=40 h=31 interp=2; w=33 h=40 interp=3; w=90 h=2 interp=4", "20x31x3@-1:1"),
    RESIZE_BYTES("w=3 h=5; w=3 h=5 interp=0; w=3 h=5 interp=3; w=3 h=5 interp=4",
                 "7x9x3@0:255i; 3x5x1; 1x1x3; 5x3x4; 5x7x3; 21x33x3"),
    RESIZE_BYTES("w=3 h=5 interp=2", "9x9x3@0:255i"),
    RESIZE_BYTES("w=9 h=7", "3x3x0@0:255i"),
    {.op = "_image_resize",
     .params = "size=(3,4); size=5; size=(2,5) interp=0; size=(3,4) interp=2; size=(2,2) interp=3; size=(3,4) interp=4",
     .in = "2x2x3@0:200; 4x3x1; 2x5x3x3; 0x2x2x3; 3x7x2",
     .reference = ref_resize,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_image_resize",
     .params = "size=4 keep_ratio=true; size=(4,2) keep_ratio=true",
     .in = "3x5x3@0:200; 5x3x1; 2x3x4x2",
     .reference = ref_resize,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_image_resize",
     .params = "size=(3,5); size=(3,5) interp=0; size=(3,5) interp=3",
     .in = "7x9x3@0:255i; 2x5x3x4",
     .reference = ref_resize,
     .flags = CASE_INT_ONLY},
    FAILS("_image_resize", "", "2x2x3", MXC_EINVAL, "size has 0 numbers"),
    FAILS("_image_resize", "size=(1,2,3)", "2x2x3", MXC_EINVAL, "size has 3 numbers"),
    FAILS("_image_resize", "size=(3,-1)", "2x2x3", MXC_EINVAL, "size"),
    FAILS("_image_resize", "size=3 interp=9", "2x2x3", MXC_EINVAL, "interp"),
    FAILS("_image_resize", "size=3", "2x3", MXC_ESHAPE, "data has 2 axes"),
    FAILS("_image_resize", "size=3", "0x2x3", MXC_ESHAPE, "axis 0"),
    FAILS("_image_resize", "size=1 keep_ratio=true", "1x1100000x0", MXC_ESHAPE, "output would have"),
    INFERS("_image_resize", "size=(3,4)", "?x5x6x1 -> 2x?x?x? => 2x5x6x1 -> 2x4x3x1"),
    INFERS("_image_resize", "size=4 keep_ratio=true", "3x5x3 -> ? => 3x5x3 -> 4x6x3"),
    FAILS("_cvimresize", "w=3", "2x2x3", MXC_EINVAL, "h"),
    FAILS("_cvimresize", "w=0 h=1", "2x2x3", MXC_EINVAL, "w"),
    FAILS("_cvimresize", "w=3 h=3 interp=9", "2x2x3", MXC_EINVAL, "interp"),
    FAILS("_cvimresize", "w=3 h=3", "0x2x3", MXC_ESHAPE, "axis 0"),
    FAILS("_cvimresize", "w=3 h=3", "2x3", MXC_ESHAPE, "argument 'src'"),
    INFERS("_cvimresize", "w=3 h=4", "5x?x? -> ?x?x3 => 5x?x3 -> 4x3x3"),
    BORDER("top=1 bot=2 left=3 right=4; top=1 bot=2 left=3 right=4 value=7; top=0 bot=0 left=0 right=0",
           "2x2x3@0:100i; 5x4x1; 1x1x2; 0x2x3; 2x0x3; 3x2x0"),
    BORDER("top=2 bot=5 left=3 right=4 type=1; top=2 bot=5 left=7 right=9 type=2; top=6 bot=5 left=3 right=0 type=3;"
           "top=0 bot=9 left=3 right=8 type=4",
           "2x2x3@0:100i; 5x4x1; 1x1x2; 3x7x4; 1x9x3"),
    BORDER("top=1 bot=0 left=0 right=2 values=(5,6,9); top=1 bot=0 left=0 right=2 values=(5)", "3x4x3@0:100i; 1x2x4"),
    FAILS("_cvcopyMakeBorder", "top=1 bot=1 left=1", "2x2x3", MXC_EINVAL, "right"),
    FAILS("_cvcopyMakeBorder", "top=-1 bot=1 left=1 right=1", "2x2x3", MXC_EINVAL, "top"),
    FAILS("_cvcopyMakeBorder", "top=1 bot=1 left=1 right=1 type=5", "2x2x3", MXC_EINVAL, "type"),
    FAILS("_cvcopyMakeBorder", "top=1 bot=1 left=1 right=1 values=(1,2,3,4,5)", "2x2x3", MXC_EINVAL, "values has 5"),
    FAILS("_cvcopyMakeBorder", "top=1 bot=1 left=1 right=1 type=3", "2x0x3", MXC_ESHAPE, "axis 1"),
    INFERS("_cvcopyMakeBorder", "top=1 bot=2 left=3 right=4", "5x?x? -> ?x9x3 => 5x2x3 -> 8x9x3"),
};

MXC_CASES(vision_image_cases, cases);
