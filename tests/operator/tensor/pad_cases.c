/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Pad. */
#include <stdlib.h>

#include "operator/cases.h"

static void ref_pad(const op_run *r) {
    const mxc_shape *in = &r->in_shape[0], *out = &r->out_shape[0];
    mxc_tuple width = case_tuple(r, "pad_width");
    int is_reflect = case_is(r, "mode", "reflect"), is_constant = case_is(r, "mode", "constant");
    double constant = case_number(r, "constant_value", 0);
    for (int64_t o = 0; o < case_size(out); o++) {
        int64_t rest = o, from = 0, step = 1;
        int outside = 0;
        for (int k = in->ndim - 1; k >= 0; k--) {
            int64_t i = rest % out->dim[k] - width.value[2 * k], last = in->dim[k] - 1;
            outside |= i < 0 || i > last;
            if (is_reflect)
                i = llabs(i > last ? 2 * last - i : i);
            i = i < 0 ? 0 : i > last ? last : i;
            from += i * step;
            step *= in->dim[k];
            rest /= out->dim[k];
        }
        r->out[0][o] = outside && is_constant ? constant : r->in[0][from];
    }
}

#define PAD(given, shapes) RUN("Pad", given, shapes, ref_pad)

static const op_case cases[] = {
    PAD("mode=constant pad_width=(0,0,0,0,1,2,3,4)", "2x3x4x5; 1x1x1x1; 7x1x2x2; 1x7x1x3; 1x1x33x2; 2x3x4x5@-1:1nf"),
    PAD("mode=constant pad_width=(0,0,0,0,0,0,1,0) constant_value=2.5", "1x1x1x1"),
    PAD("mode=constant pad_width=(0,0,0,0,1,0,2,1,0,3) constant_value=-1", "2x1x3x2x4"),
    PAD("mode=constant pad_width=(0,0,0,0,1,1,1,1)", "0x2x3x3"),
    PAD("mode=constant pad_width=(0,0,0,0,1,1,1,1) constant_value=0.5", "1x2x0x3"),
    PAD("mode=constant pad_width=(0,0,0,0,0,0,0,0)", "2x2x3x3"),
    PAD("mode=constant pad_width=(0,0,0,0,1,1,7,5)", "1x2x3x600"),
    PAD("mode=edge pad_width=(0,0,0,0,1,2,3,4)", "2x3x4x5"),
    PAD("mode=edge pad_width=(0,0,0,0,5,5,7,7)", "1x2x1x1"),
    PAD("mode=edge pad_width=(0,0,0,0,1,0,2,1,0,3)", "2x1x3x2x4"),
    PAD("mode=edge pad_width=(0,0,0,0,0,0,0,0,2,2)", "1x2x2x2x600"),
    PAD("mode=edge pad_width=(0,0,0,0,0,0,2,2)", "1x0x3x3"),
    PAD("mode=reflect pad_width=(0,0,0,0,1,2,3,4)", "2x3x4x5"),
    PAD("mode=reflect pad_width=(0,0,0,0,2,2,2,2)", "1x1x3x3"),
    PAD("mode=reflect pad_width=(0,0,0,0,1,0,1,1,0,3)", "2x1x3x2x4"),
    PAD("mode=reflect pad_width=(0,0,0,0,1,1,599,2)", "1x2x2x600"),
    FAILS("Pad", "mode=constant pad_width=(0,0,0,0,1,1)", "1x1x3", MXC_EINVAL, "pad_width has 6 entries"),
    FAILS("Pad", "mode=constant pad_width=(0,0,1,0,1,1,0,0)", "1x1x3x3", MXC_EINVAL, "the first two axes stay"),
    FAILS("Pad", "mode=constant pad_width=(0,0,0,0,1,-1,0,0)", "1x1x3x3", MXC_EINVAL, "pad_width"),
    FAILS("Pad", "mode=constant pad_width=(0,0,0,0,1,1,0,0)", "1x1x3x3x3", MXC_ESHAPE, "argument 'data'"),
    FAILS("Pad", "mode=edge pad_width=(0,0,0,0,1,1,0,0)", "1x1x0x3", MXC_ESHAPE,
          "axis 2 has 0 elements, expected at least 1 to be padded"),
    FAILS("Pad", "mode=reflect pad_width=(0,0,0,0,0,0,1,3)", "1x1x3x3", MXC_ESHAPE,
          "axis 3 has 3 elements, expected at least 4 to be padded"),
    INFERS("Pad", "mode=edge pad_width=(0,0,0,0,1,1,0,2)", "?x3x4x? -> 2x?x?x7 => 2x3x4x5 -> 2x3x6x7"),
};

MXC_CASES(tensor_pad_cases, cases);
