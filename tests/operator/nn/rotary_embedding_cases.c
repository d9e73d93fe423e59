/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of rotary_embedding. */
#include <math.h>

#include "operator/cases.h"

static void ref_rotary(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t columns = s->dim[s->ndim - 1], width = (int64_t)case_number(r, "width", (double)columns), inner = 1;
    int axis = (int)case_number(r, "axis", -2), together = case_is(r, "interleaved", "True");
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    for (int64_t at = 0; at < case_size(s); at++) {
        int64_t position = at / inner % s->dim[axis], k = at % columns, half = width / 2;
        int64_t pair = together ? k / 2 : k % (half ? half : 1), second = together ? k % 2 : k >= half;
        int64_t apart = together ? 1 : half;
        double angle = ((double)position + case_number(r, "offset", 0)) *
                       pow(case_number(r, "base", 10000), -2 * (double)pair / (double)width);
        double other = k < width ? r->in[0][second ? at - apart : at + apart] : 0;
        r->out[0][at] = k >= width ? r->in[0][at]
                        : second   ? other * sin(angle) + r->in[0][at] * cos(angle)
                                   : r->in[0][at] * cos(angle) - other * sin(angle);
    }
}

#define ROTARY(given, shapes) \
    { .op = "rotary_embedding", .params = given, .in = shapes, .reference = ref_rotary, .tolerance = 2 }

static const op_case cases[] = {
    ROTARY("", "1x2"),
    ROTARY("", "2x3x5x8; 1x1x2; 7x2; 3x1x4; 65x2; 2x1x3x2x6; 1x33x2; 5x9x10; 5x9x4@-1:1n"),
    ROTARY("interleaved=True", "2x3x5x8"),
    ROTARY("base=100 offset=7", "4x9x6"),
    ROTARY("axis=1", "2x5x3x4"),
    ROTARY("axis=0 interleaved=True offset=-3", "5x3x4"),
    ROTARY("width=4", "2x3x5x7"),
    ROTARY("width=6 interleaved=True", "2x5x9"),
    ROTARY("width=0", "2x5x9"),
    ROTARY("", "3x70x130"),
    ROTARY("", "0x3x4"),
    ROTARY("", "3x0x4"),
    ROTARY("", "3x4x0"),
    FAILS("rotary_embedding", "", "2x3x5", MXC_ESHAPE, "width is 5, expected an even number up to the last axis, 5"),
    FAILS("rotary_embedding", "width=8", "2x3x6", MXC_ESHAPE, "width is 8"),
    FAILS("rotary_embedding", "axis=-1", "2x3x6", MXC_ESHAPE, "axis 2 is the last one"),
    FAILS("rotary_embedding", "axis=3", "2x3x6", MXC_ESHAPE, "axis 3 is not in [-3, 3)"),
    INFERS("rotary_embedding", "", "? -> 2x3x6 => 2x3x6 -> 2x3x6"),
};

MXC_CASES(nn_rotary_embedding_cases, cases);
