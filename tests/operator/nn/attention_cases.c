/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of scaled_dot_product_attention. */
#include <math.h>

#include "operator/cases.h"

/* The element of a mask that broadcasts to scores (..., L, S), of head h, query i and key j. */
static double mask_at(const mxc_shape *mask, const mxc_shape *query, const double *values, int64_t h, int64_t i,
                      int64_t j) {
    int64_t at = 0, size = 1;
    for (int k = 1; k <= mask->ndim; k++) {
        int64_t dim = k <= 2 ? INT64_MAX : query->dim[query->ndim - k], index = k == 1 ? j : k == 2 ? i : h % dim;
        h = k > 2 ? h / dim : h;
        at += mask->dim[mask->ndim - k] == 1 ? 0 : index * size;
        size *= mask->dim[mask->ndim - k];
    }
    return values[at];
}

/* One query's attended values; returns the logarithm of its sum. */
static double attend(const op_run *r, int64_t h, int64_t i) {
    const mxc_shape *query = &r->in_shape[0], *value = &r->in_shape[2];
    int last = query->ndim - 1;
    int64_t l = query->dim[last - 1], d = query->dim[last], s = value->dim[last - 1], v = value->dim[last];
    double scale = case_number(r, "scale", 1 / sqrt((double)d)), most = -INFINITY, sum = 0, z[2048];
    int causal = case_is(r, "causal", "True");
    double *out = r->out[0] + (h * l + i) * v;
    for (int64_t j = 0; j < s; j++) {
        z[j] = 0;
        for (int64_t k = 0; k < d; k++)
            z[j] += scale * r->in[0][(h * l + i) * d + k] * r->in[1][(h * s + j) * d + k];
        if (r->n_in == 4)
            z[j] += mask_at(&r->in_shape[3], query, r->in[3], h, i, j);
        if (causal && j > i + s - l)
            z[j] = -INFINITY;
        most = fmax(most, z[j]);
    }
    for (int64_t j = 0; j < s && most > -INFINITY; j++)
        sum += z[j] = exp(z[j] - most);
    for (int64_t k = 0; k < v; k++) {
        out[k] = 0;
        for (int64_t j = 0; j < s && sum != 0; j++)
            out[k] += z[j] / sum * r->in[2][(h * s + j) * v + k];
    }
    return sum != 0 ? most + log(sum) : INFINITY;
}

static void ref_attention(const op_run *r) {
    int64_t l = r->in_shape[0].dim[r->in_shape[0].ndim - 2];
    for (int64_t i = 0; i < case_size(&r->out_shape[1]); i++)
        r->out[1][i] = attend(r, i / l, i % l);
}

#define ATTENTION(given, shapes) \
    { .op = "scaled_dot_product_attention", .params = given, .in = shapes, .reference = ref_attention, .tolerance = 4 }
#define MASKED(given, shapes)                                                                 \
    {                                                                                         \
        .op = "scaled_dot_product_attention", .params = "use_mask=True " given, .in = shapes, \
        .reference = ref_attention, .tolerance = 4, .constant = 8                             \
    }

static const op_case cases[] = {
    ATTENTION("", "1x1x1x1 1x1x1x1 1x1x1x1"),
    ATTENTION("", "2x3x5x4 2x3x5x4 2x3x5x4"),
    ATTENTION("scale=1.5", "2x1x3x7 2x1x9x7 2x1x9x2"),
    ATTENTION("", "1x2x130x5@-3:3 1x2x300x5@-3:3 1x2x300x3"), /* more than a tile both ways */
    ATTENTION("scale=30", "6x3 11x3 11x2"),
    ATTENTION("", "2x4x8 2x4x8 2x4x8"),
    ATTENTION("causal=True", "2x3x5x4 2x3x5x4 2x3x5x4"),
    ATTENTION("causal=True", "1x1x131x3@-3:3 1x1x131x3@-3:3 1x1x131x3"),
    ATTENTION("causal=True", "1x1x300x3@-3:3 1x1x300x3@-3:3 1x1x300x2"),
    ATTENTION("causal=True", "1x2x3x4 1x2x7x4 1x2x7x4"), /* the last queries of a longer text */
    ATTENTION("causal=True", "1x2x7x4 1x2x3x4 1x2x3x4"), /* the first queries see nothing */
    ATTENTION("", "2x0x4 2x3x4 2x3x4"),
    ATTENTION("", "2x3x4 2x0x4 2x0x4"),
    ATTENTION("", "0x3x4 0x5x4 0x5x4"),
    ATTENTION("", "2x3x0 2x5x0 2x5x4"),
    MASKED("", "2x3x5x4 2x3x6x4 2x3x6x4 5x6@-3:3"),
    MASKED("", "2x3x5x4 2x3x6x4 2x3x6x4 2x3x5x6@-3:3"),
    MASKED("causal=True", "2x3x5x4 2x3x6x4 2x3x6x4 2x1x1x6@-3:3"),
    MASKED("", "2x3x5x4 2x3x6x4 2x3x6x4 3x5x1@-3:3"),
    MASKED("", "1x129x3 1x270x3 1x270x2 270@-3:3"),
    MASKED("", "2x3x4 2x5x4 2x5x4 1@-3:3; 2x3x4 2x5x4 2x5x4 3x5@-3:3f; 1x1x2 1x1x2 1x1x1 1"),
    FAILS("scaled_dot_product_attention", "", "2x3x4 2x5x6 2x5x4", MXC_ESHAPE,
          "argument 'key': expected shape (2,5,4), found (2,5,6)"),
    FAILS("scaled_dot_product_attention", "", "2x3x4 2x5x4 2x6x4", MXC_ESHAPE, "argument 'value'"),
    FAILS("scaled_dot_product_attention", "", "2x3x4 3x5x4 2x5x4", MXC_ESHAPE, "argument 'key'"),
    FAILS("scaled_dot_product_attention", "", "4 4 4", MXC_ESHAPE, "expected at least 2 axes, found 1"),
    FAILS("scaled_dot_product_attention", "use_mask=True", "2x3x4 2x5x4 2x5x4 2x3x4", MXC_ESHAPE,
          "argument 'mask' has shape (2,3,4), expected one that broadcasts to (2,3,5)"),
    FAILS("scaled_dot_product_attention", "use_mask=True", "2x3x4 2x5x4 2x5x4 1x2x3x5", MXC_ESHAPE,
          "argument 'mask' has shape (1,2,3,5)"),
    INFERS("scaled_dot_product_attention", "", "2x3x5x4,?,2x?x6x7 -> ?,? => 2x3x5x4,2x3x6x4,2x3x6x7 -> 2x3x5x7,2x3x5"),
    INFERS("scaled_dot_product_attention", "", "?,2x3x4,? -> 2x5x6,? => 2x5x4,2x3x4,2x3x6 -> 2x5x6,2x5"),
    INFERS("scaled_dot_product_attention", "", "?,?,? -> ?,? => ?,?,? -> ?,?"),
};

MXC_CASES(nn_attention_cases, cases);
