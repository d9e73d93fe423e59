/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the functions of two arrays that are broadcast against each other. */
#include <math.h>

#include "operator/cases.h"

/* The element of a broadcast array that out's element i reads. */
static int64_t broadcast_element(const mxc_shape *in, const mxc_shape *out, int64_t i) {
    int64_t at = 0, size = 1;
    for (int k = 1; k <= out->ndim; k++) {
        int64_t dim = out->dim[out->ndim - k], index = i % dim;
        i /= dim;
        if (k <= in->ndim) {
            at += in->dim[in->ndim - k] == 1 ? 0 : index * size;
            size *= in->dim[in->ndim - k];
        }
    }
    return at;
}

static void map_broadcast(const op_run *r, double (*f)(double, double)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = f(r->in[0][broadcast_element(&r->in_shape[0], &r->out_shape[0], i)],
                         r->in[1][broadcast_element(&r->in_shape[1], &r->out_shape[0], i)]);
}

#define FUNCTION(name, expression)                      \
    static double f_##name(double a, double b) {        \
        return expression;                              \
    }                                                   \
    static void ref_broadcast_##name(const op_run *r) { \
        map_broadcast(r, f_##name);                     \
    }
#include "operator/elementwise/binary_functions.def"

/* Broadcast at either side and at both, along outer, middle and inner axes, and where the array has fewer axes. */
#define BROADCAST_PAIRS(a, b)                                                                              \
    "2x3@" a " 2x3@" b "; 0x3 1x3; s s; s 3x4; 4x5 s; 1x1 1x1; 1x129 3x1; 7x1 1; 1x5x1x2 3x1x4x1; 3x0 1; " \
    "3x0x1 1x0x4; 1x3 5x3; 2x3x2 3x1; 1x2x1x1 2x1x1x2; 17x1x1 1x1x17; 1 9; 65x3 3; 2x3x4 1x3x1; 1 1x1x1; " \
    "1x1x1x1x1x1x1x3 2x1x1x2x1x1x1x1; 5x1@" a "nf 1x7@" b "nf"
#define BROADCAST(name, ref, a, b, wide)                                                  \
    {.op = name, .in = BROADCAST_PAIRS(a, b), .reference = ref},                          \
        {.op = name, .in = "2x1x4@" a " 1x3x1@" b, .reference = ref},                     \
        {.op = name, .in = "2x3x4@" a " 1x3x1@" b, .reference = ref},                     \
        {.op = name, .in = "5x3@" a " 3@" b, .reference = ref},                           \
        {.op = name, .in = "1@" a " 2x1x3@" b, .reference = ref},                         \
        {.op = name,                                                                      \
         .in = "3x1@" a " 3x700@" b "; 1x700 3x1; 2x1x2x1x2x1x2 1x3x1x2x1x3x1",           \
         .reference = ref,                                                                \
         .flags = wide},                                                                  \
        {.op = name, .infer = "2x1,2x3 -> ? => 2x1,2x3 -> 2x3"}, {                        \
        .op = name, .in = "2x3 2x4", .status = MXC_ESHAPE, .error = "expected equal or 1" \
    }
#define BROADCAST_COMPARE(name, ref)                                                                   \
    {                                                                                                  \
        .op = name, .in = "2x1x4@0:2i 1x3x1@0:2i; " BROADCAST_PAIRS("0:2i", "0:2i"), .reference = ref, \
        .gradient = case_zero_gradient                                                                 \
    }

static const op_case cases[] = {
    BROADCAST("broadcast_add", ref_broadcast_add, "-2:2.3", "-2:2.3", 0),
    BROADCAST("broadcast_sub", ref_broadcast_sub, "-2:2.3", "-2:2.3", 0),
    BROADCAST("broadcast_mul", ref_broadcast_mul, "-2:2.3", "-2:2.3", 0),
    BROADCAST("broadcast_div", ref_broadcast_div, "-2:2.3", "0.5:2", 0),
    BROADCAST("broadcast_power", ref_broadcast_power, "0.5:2", "-0.5:1", 0),
    {.op = "broadcast_power",
     .in = BROADCAST_PAIRS("0.5:2", "-2:2.3"),
     .reference = ref_broadcast_power,
     .flags = CASE_FLOAT_ONLY},
    BROADCAST("broadcast_maximum", ref_broadcast_maximum, "-2:2.3", "-1.5:1.7", CASE_OUT_EXACT),
    BROADCAST("broadcast_minimum", ref_broadcast_minimum, "-2:2.3", "-1.5:1.7", CASE_OUT_EXACT),
    BROADCAST("broadcast_hypot", ref_broadcast_hypot, "0.5:2", "-2:2.3", 0),
    BROADCAST("broadcast_mod", ref_broadcast_mod, "5:5.5", "2:2.4", 0),
    {.op = "broadcast_mul", .in = "12x1x50 1x20x50", .reference = ref_broadcast_mul},
    BROADCAST_COMPARE("broadcast_equal", ref_broadcast_equal),
    BROADCAST_COMPARE("broadcast_not_equal", ref_broadcast_not_equal),
    BROADCAST_COMPARE("broadcast_greater", ref_broadcast_greater),
    BROADCAST_COMPARE("broadcast_greater_equal", ref_broadcast_greater_equal),
    BROADCAST_COMPARE("broadcast_lesser", ref_broadcast_lesser),
    BROADCAST_COMPARE("broadcast_lesser_equal", ref_broadcast_lesser_equal),
    BROADCAST_COMPARE("broadcast_logical_and", ref_broadcast_logical_and),
    BROADCAST_COMPARE("broadcast_logical_or", ref_broadcast_logical_or),
    BROADCAST_COMPARE("broadcast_logical_xor", ref_broadcast_logical_xor),
    /* An axis follows where both sides are known. */
    INFERS("broadcast_add", "", "?x3,1x3 -> ? => ?x3,1x3 -> ?x3"),
    INFERS("broadcast_add", "", "?x3,3 -> ? => ?x3,3 -> ?x3"),
    INFERS("broadcast_add", "", "2x?x3,?x1x1 -> ? => 2x?x3,?x1x1 -> ?x?x3"),
    INFERS("broadcast_add", "", "2x3,? -> ? => 2x3,? -> ?"),
};

MXC_CASES(elementwise_broadcast_cases, cases);
