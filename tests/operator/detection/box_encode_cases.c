/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_box_encode and _contrib_box_decode. */
#include <math.h>

#include "operator/cases.h"

static void ref_encode(const op_run *r) {
    const int64_t n = r->in_shape[0].dim[1], m = r->in_shape[3].dim[1];
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const int64_t i = o / 4, k = o % 2;
        const double *anchor = r->in[2] + i * 4 + k, *box = r->in[3] + (i / n * m + (int64_t)r->in[1][i]) * 4 + k;
        double value = o % 4 < 2 ? ((box[0] + box[2]) - (anchor[0] + anchor[2])) / 2 / (anchor[2] - anchor[0])
                                 : log(box[2] - box[0]) - log(anchor[2] - anchor[0]);
        r->out[1][o] = r->in[0][i] > 0.5;
        r->out[0][o] = r->in[0][i] > 0.5 ? (value - r->in[4][o % 4]) / r->in[5][o % 4] : 0;
    }
}

/* Samples -1, 0 and 1, matches of rows of refs, and boxes with sizes above 0. */
static void make_boxes(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        r->in[0][i] = (double)(i * 7 % 3) - 1;
        r->in[1][i] = (double)(i * 5 % (r->in_shape[3].dim[1] ? r->in_shape[3].dim[1] : 1));
    }
    for (int slot = 2; slot < 4; slot++)
        for (int64_t i = 0; i < case_size(&r->in_shape[slot]); i += 4)
            for (int k = 0; k < 2; k++)
                r->in[slot][i + k + 2] = r->in[slot][i + k] + 0.25 + (double)(i % 5 + k) / 4;
}

static void ref_decode(const op_run *r) {
    const int64_t n = r->in_shape[0].dim[1];
    const char *const names[] = {"std0", "std1", "std2", "std3"};
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const int64_t k = o % 2;
        const double *data = r->in[0] + o / 4 * 4 + k, *anchor = r->in[1] + o / 4 % n * 4 + k;
        const double clip = case_number(r, "clip", -1);
        double size = anchor[2], middle = anchor[0], power = data[2] * case_number(r, names[k + 2], 1);
        if (case_is(r, "format", "corner")) {
            size = anchor[2] - anchor[0];
            middle = (anchor[0] + anchor[2]) / 2;
        }
        middle += data[0] * case_number(r, names[k], 1) * size;
        power = clip > 0 ? fmin(power, clip) : power;
        r->out[0][o] = middle + (o % 4 < 2 ? -0.5 : 0.5) * size * exp(power);
    }
}

#define ENCODE(shapes)                                                                                             \
    {                                                                                                              \
        .op = "_contrib_box_encode", .in = shapes, .reference = ref_encode, .prepare = make_boxes, .constant = 63, \
        .tolerance = 8                                                                                             \
    }
#define DECODE(given, shapes)                                                                               \
    {                                                                                                       \
        .op = "_contrib_box_decode", .params = given, .in = shapes, .reference = ref_decode, .constant = 3, \
        .tolerance = 8                                                                                      \
    }

static const op_case cases[] = {
    ENCODE("2x5 2x5 2x5x4@0:1 2x3x4@0:1 4@-0.5:0.5 4@0.5:2; 1x1 1x1 1x1x4 1x1x4 4 4; 3x4 3x4 3x4x4 3x2x4 4 4; "
           "1x7 1x7 1x7x4 1x9x4 4 4; 7x1 7x1 7x1x4 7x1x4 4 4; 1x65 1x65 1x65x4 1x4x4 4 4; 2x33 2x33 2x33x4 2x5x4 4 4; "
           "4x3 4x3 4x3x4 4x7x4 4 4; 1x2 1x2 1x2x4 1x2x4 4 4; 5x5 5x5 5x5x4 5x5x4 4 4; 2x0 2x0 2x0x4 2x3x4 4 4; "
           "0x5 0x5 0x5x4 0x3x4 4 4; 1x300 1x300 1x300x4 1x11x4 4 4; 9x2 9x2 9x2x4 9x3x4 4 4"),
    ENCODE("1x10 1x10 1x10x4@-5:5 1x6x4@-5:5 4@0:0.1 4@0.1:0.2; 3x3 3x3 3x3x4 3x1x4 4 4; 2x4 2x4 2x4x4 2x4x4 4 4; "
           "1x17 1x17 1x17x4 1x8x4 4 4; 6x6 6x6 6x6x4 6x2x4 4 4; 1x3 1x3 1x3x4 1x3x4 4 4; 2x9 2x9 2x9x4 2x2x4 4 4"),
    FAILS("_contrib_box_encode", "", "1x2 1x3 1x2x4 1x3x4 4 4", MXC_ESHAPE, "argument 'matches'"),
    FAILS("_contrib_box_encode", "", "1x2 1x2 1x2x5 1x3x4 4 4", MXC_ESHAPE, "argument 'anchors'"),
    FAILS("_contrib_box_encode", "", "2x2 2x2 2x2x4 1x3x4 4 4", MXC_ESHAPE, "_contrib_box_encode: argument"),
    FAILS("box_encode", "", "1x2 1x2 1x2x4 1x3x4 4 5", MXC_ESHAPE, "argument 'stds'"),
    INFERS("box_encode", "", "?,2x?,?x5x?,?x3x?,?,? -> ?,? => 2x5,2x5,2x5x4,2x3x4,4,4 -> 2x5x4,2x5x4"),
    INFERS("box_encode", "", "?,?,?,?x3x?,?,? -> ?,2x5x? => 2x5,2x5,2x5x4,2x3x4,4,4 -> 2x5x4,2x5x4"),
    DECODE("; std0=0.1 std1=0.1 std2=0.2 std3=0.2; clip=0.3 format=corner std3=2",
           "2x5x4 1x5x4@0.1:2; 1x1x4 1x1x4; 3x4x4 1x4x4; 1x7x4 1x7x4; 7x1x4 1x1x4; 2x65x4 1x65x4; 1x300x4 1x300x4; "
           "2x0x4 1x0x4; 0x3x4 1x3x4"),
    DECODE("format=center clip=0.1 std2=0.5", "2x3x4@-2:2 1x3x4@0.1:3; 4x2x4 1x2x4"),
    FAILS("_contrib_box_decode", "format=edge", "1x2x4 1x2x4", MXC_EINVAL, "format"),
    FAILS("_contrib_box_decode", "", "2x2x4 2x2x4", MXC_ESHAPE, "argument 'anchors'"),
    FAILS("box_decode", "", "2x3x4 1x2x4", MXC_ESHAPE, "argument 'data'"),
    INFERS("box_decode", "", "2x?x?,? -> ?x7x? => 2x7x4,1x7x4 -> 2x7x4"),
};

MXC_CASES(detection_box_encode_cases, cases);
