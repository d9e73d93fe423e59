/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of masked_softmax and masked_log_softmax. */
#include <math.h>
#include <stdlib.h>

#include "operator/nn/nn_reference.h"

/* The mask, which broadcasts to data, is not 0 at data's element i. */
static int is_kept(const op_run *r, int64_t i) {
    const mxc_shape *data = &r->in_shape[0], *mask = &r->in_shape[1];
    int64_t at = 0, step = 1;
    for (int k = 1; k <= mask->ndim; k++) {
        int64_t dim = mask->dim[mask->ndim - k], full = data->dim[data->ndim - k];
        at += dim > 1 ? i % full * step : 0;
        i /= full;
        step *= dim;
    }
    return r->in[1][at] != 0;
}

/* The softmax of a copy in which what is hidden is minus infinity. */
static void masked(const op_run *r, int is_log) {
    int64_t n = case_size(&r->in_shape[0]);
    double *copy = calloc((size_t)n + 1, sizeof *copy), *in[] = {copy};
    op_run run = *r;
    run.n_in = 1;
    run.in = in;
    for (int64_t i = 0; i < n; i++)
        copy[i] = is_kept(r, i) ? r->in[0][i] : -INFINITY;
    case_softmax(&run, is_log, 1);
    for (int64_t i = 0; i < n; i++)
        if (!is_kept(r, i))
            r->out[0][i] = is_log ? -INFINITY : 0;
    free(copy);
}

static void ref_masked_softmax(const op_run *r) {
    masked(r, 0);
}

static void ref_masked_log_softmax(const op_run *r) {
    masked(r, 1);
}

/* From out, which is minus infinity in places: dx = (dy - e^out times the sum of dy) / temperature. */
static void grad_masked_log_softmax(const op_run *r) {
    const mxc_shape *s = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", -1);
    int64_t inner = 1, n = case_size(s), k;
    axis = axis < 0 ? axis + s->ndim : axis;
    for (int i = axis + 1; i < s->ndim; i++)
        inner *= s->dim[i];
    k = s->dim[axis];
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i / (k * inner) * k * inner + i % inner;
        double sum = 0;
        for (int64_t j = first; j < first + k * inner; j += inner)
            sum += is_kept(r, j) ? r->out_grad[0][j] : 0;
        if (is_kept(r, i))
            r->in_grad[0][i] = (r->out_grad[0][i] - exp(r->out[0][i]) * sum) / case_number(r, "temperature", 1);
    }
}

#define MASKED(name, given, shapes, ref, grad)                                                        \
    {                                                                                                 \
        .op = name, .params = given, .in = shapes, .constant = 2, .reference = ref, .gradient = grad, \
        .flags = CASE_ONE_OF_FORMS                                                                    \
    }
#define MASKED_SOFTMAX(name, ref, grad)                                                                              \
    MASKED(name, "", "7@-4:4 7@0:1i; 5x3@-9:9 5x3@0:1i; 1x1 1x1@0:1i; 1x1 1x1@1:1i; 5x9@-4:4n 5x9@0:1i", ref, grad), \
        MASKED(name, "", "0x5 0x5; 5x0 5x0; 40x110@-4:4 40x110@0:1i; 4x9@-4:4 9@0:1i; 4x9@-4:4 1@0:1i", ref, grad),  \
        MASKED(name, "", "4x9@-4:4 4x1@0:1i; 2x3x40@-4:4 3x1@0:1i; 2x3x40@-4:4 2x1x40@0:3; 4x9@-4:4 s@1:1", ref,     \
               grad),                                                                                                \
        MASKED(name, "axis=1", "3x5x2@-4:4 3x5x2@0:1i; 2x3x300@-4:4 300@0:1i; 2x300x3@-4:4 300x1@0:1i", ref, grad),  \
        MASKED(name, "axis=0", "4x7@-4:4 4x7@0:1i; 4x7@-4:4 4x1@0:1i; 3x130@-9:9 3x130@0:1i", ref, grad),            \
        MASKED(name, "axis=-2 temperature=2.5", "2x3x4x5@-4:4 2x3x4x5@0:1i; 3x4@-4:4 3x4@0:1i", ref, grad),          \
        MASKED(name, "temperature=0.5 normalize=false", "4x9@-4:4 4x9@0:1i", ref, grad),                             \
        FAILS(name, "axis=2", "4x5 4x5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),                                    \
        FAILS(name, "temperature=0", "4x5 4x5", MXC_EINVAL, "temperature"),                                          \
        FAILS(name, "", "4x5 4x2", MXC_ESHAPE,                                                                       \
              "argument 'mask' has shape (4,2), expected one that broadcasts to (4,5)"),                             \
        FAILS(name, "", "5 1x5", MXC_ESHAPE, "argument 'mask' has shape (1,5)"),                                     \
        INFERS(name, "", "?x3,? -> 2x? => 2x3,2x3 -> 2x3"), INFERS(name, "", "2x3,1x? -> ? => 2x3,1x? -> 2x3")

static const op_case cases[] = {
    MASKED_SOFTMAX("masked_softmax", ref_masked_softmax, NULL),
    MASKED_SOFTMAX("masked_log_softmax", ref_masked_log_softmax, grad_masked_log_softmax),
};

MXC_CASES(nn_masked_softmax_cases, cases);
