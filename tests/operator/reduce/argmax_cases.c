/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of argmax, argmin and argmax_channel. */
#include <math.h>

#include "operator/cases.h"

/* Index of the first NaN, else of the first greatest element of sign times data, along an axis (-1: all elements as one
 * row). */
static void search(const op_run *r, int axis, double sign) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t n = axis < 0 ? case_size(s) : s->dim[axis], inner = 1;
    for (int i = axis + 1; axis >= 0 && i < s->ndim; i++)
        inner *= s->dim[i];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const double *x = r->in[0] + i / inner * n * inner + i % inner;
        int64_t best = 0;
        for (int64_t k = 1; k < n; k++)
            if (!isnan(x[best * inner]) && (isnan(x[k * inner]) || sign * x[k * inner] > sign * x[best * inner]))
                best = k;
        r->out[0][i] = (double)best;
    }
}

static int axis_of(const op_run *r) {
    double axis = case_number(r, "axis", NAN);
    return isnan(axis) ? -1 : (int)(axis < 0 ? axis + r->in_shape[0].ndim : axis);
}

static void ref_argmax(const op_run *r) {
    search(r, axis_of(r), 1);
}

static void ref_argmin(const op_run *r) {
    search(r, axis_of(r), -1);
}

static void ref_argmax_channel(const op_run *r) {
    search(r, 1, 1);
}

/* Of whole numbers, so that ties have one answer in every dtype. */
#define ARG(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .gradient = case_zero_gradient }
#define ARGS(name, ref)                                                                                            \
    ARG(name, "", "9@0:9i", ref), ARG(name, "", "3x5@0:20i; 1; 1x1x1; 2x3x2x1x2; 65; 5x9@0:20nf; 9@0:20n", ref),   \
        ARG(name, "keepdims=True", "3x5@0:20i", ref), ARG(name, "axis=0", "7@0:3i", ref),                          \
        ARG(name, "axis=0", "3x5@0:20i", ref), ARG(name, "axis=1", "3x5@0:20i", ref),                              \
        ARG(name, "axis=-1", "2x3x40@0:100i", ref),                                                                \
        ARG(name, "axis=1", "4x33x5@0:9i; 1x1; 0x2x3; 17x1; 7x9@0:9inf; 9x7x3@0:9in", ref), /* ties */             \
        ARG(name, "axis=-2 keepdims=True", "4x3x5@0:100i; 1x2x1x2x1x2x5x2", ref), ARG(name, "axis=1", "2x1", ref), \
        ARG(name, "axis=1", "0x3", ref), ARG(name, "axis=1", "3x1500@0:120i", ref),                                \
        ARG(name, "axis=0", "3x1500@0:120i", ref),                                                                 \
        FAILS(name, "axis=2", "2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),                                      \
        FAILS(name, "axis=1", "2x0", MXC_ESHAPE, "axis 1 has no elements"),                                        \
        FAILS(name, "", "0", MXC_ESHAPE, "no elements"), INFERS(name, "axis=1", "2x?x4 -> ? => 2x?x4 -> 2x4"),     \
        INFERS(name, "axis=1 keepdims=True", "2x3x4 -> ? => 2x3x4 -> 2x1x4"),                                      \
        INFERS(name, "", "2x3x4 -> ? => 2x3x4 -> 1")

static const op_case cases[] = {
    ARGS("argmax", ref_argmax),
    ARGS("argmin", ref_argmin),
    ARG("argmax", "", "9001@0:500i", ref_argmax), /* long: on a GPU, in pieces */
    ARG("argmin", "axis=1", "2x9001@0:90inf", ref_argmin),
    ARG("argmax_channel", "", "3x12300@0:90i", ref_argmax_channel),
    ARG("argmax_channel", "", "5x7@0:30i", ref_argmax_channel),
    ARG("argmax_channel", "", "2x3x4x5@0:100i; 1x1; 7x1; 1x65; 65x2; 3x129; 0x2x3; 2x1x0; 3x1x7; 1x5x1x2; 4x9x3@0:2i",
        ref_argmax_channel),
    ARG("argmax_channel", "", "9x7@0:9inf; 9x7x3@0:9in; 5x1300@0:120i; 2x3x4x1x2@0:9i; 1x2x1; 64x64@0:99i",
        ref_argmax_channel),
    ARG("argmax_channel", "", "0x3", ref_argmax_channel),
    ARG("argmax_channel", "", "3x1", ref_argmax_channel),
    FAILS("argmax_channel", "", "5", MXC_ESHAPE, "expected at least 2"),
    INFERS("argmax_channel", "", "2x?x4 -> ? => 2x?x4 -> 2x4"),
};

MXC_CASES(reduce_argmax_cases, cases);
