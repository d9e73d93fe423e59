/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Cast, amp_cast and amp_multicast. */
#include <math.h>

#include "operator/cases.h"

/* Conversion to an integer: towards 0, cut to the range. */
static void to_integer(const op_run *r, double low, double high) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = fmin(fmax(trunc(r->in[0][i]), low), high);
}

static void ref_cast_u8(const op_run *r) {
    to_integer(r, 0, 255);
}

static void ref_cast_i8(const op_run *r) {
    to_integer(r, -128, 127);
}

static void ref_cast_i32(const op_run *r) {
    to_integer(r, -2147483648.0, 2147483647.0);
}

/* The gradient goes through as if the conversion were exact. */
static void grad_cast(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = r->out_grad[0][i];
}

static void ref_multicast(const op_run *r) {
    for (int k = 0; k < r->n_in; k++)
        for (int64_t i = 0; i < case_size(&r->in_shape[k]); i++)
            r->out[k][i] = r->in[k][i];
}

static void grad_multicast(const op_run *r) {
    for (int k = 0; k < r->n_in; k++)
        for (int64_t i = 0; i < case_size(&r->in_shape[k]); i++)
            r->in_grad[k][i] = r->out_grad[k][i];
}

#define AMP(given, shapes) \
    { .op = "amp_cast", .params = given, .in = shapes, .reference = case_copy, .gradient = grad_cast }
#define MULTICAST(given, shapes) \
    { .op = "amp_multicast", .params = given, .in = shapes, .reference = ref_multicast, .gradient = grad_multicast }
#define CAST(given, shapes, ref) \
    { .op = "Cast", .params = given, .in = shapes, .reference = ref, .gradient = grad_cast }

static const op_case cases[] = {
    CAST("dtype=float64", "3x5@-2:2.3" CASE_EACH(CASE_ONE) "; 5x9@-2:2.3nf", case_copy),
    CAST("dtype=float32", "3x5@-2:2.3", case_copy),
    CAST("dtype=float16", "1031@-2:2.3; 5x9@-2:2.3nf", case_copy),
    CAST("dtype=bfloat16", "3x5@-2:2.3", case_copy),
    CAST("dtype=int32", "3x5@0:9", ref_cast_i32),
    CAST("dtype=int64", "3x5@0:9", ref_cast_i32),
    CAST("dtype=uint8", "3x5@0:9", ref_cast_u8),
    CAST("dtype=int8", "3x5@0:9", ref_cast_i8),
    {.op = "Cast",
     .params = "dtype=uint8",
     .in = "40@-300:300",
     .reference = ref_cast_u8,
     .gradient = grad_cast,
     .flags = CASE_FLOAT_ONLY},
    {.op = "Cast",
     .params = "dtype=int8",
     .in = "40@-300:300",
     .reference = ref_cast_i8,
     .gradient = grad_cast,
     .flags = CASE_FLOAT_ONLY},
    {.op = "cast",
     .params = "dtype=int32",
     .in = "9@-8e9:8e9",
     .reference = ref_cast_i32,
     .gradient = grad_cast,
     .flags = CASE_F64_ONLY},
    CAST("dtype=float32", "0x5", case_copy),
    CAST("dtype=float64", "150x301@-2:2.3", case_copy),
    FAILS("Cast", "", "2", MXC_EINVAL, "\"dtype\" is missing"),
    FAILS("Cast", "dtype=float31", "2", MXC_EINVAL, "float31"),
    INFERS("Cast", "dtype=float64", "? -> 2x3 => 2x3 -> 2x3"),

    AMP("dtype=float16; dtype=bfloat16", "3x5@-2:2.3" CASE_EACH(CASE_ONE) "; 5x9@-2:2.3nf"),
    AMP("dtype=float32; dtype=float64", "3x5@-2:2.3; 1031; 5x9@-2:2.3nf"),
    FAILS("amp_cast", "", "2", MXC_EINVAL, "\"dtype\" is missing"),
    INFERS("amp_cast", "dtype=float16", "? -> 2x3 => 2x3 -> 2x3"),

    MULTICAST("num_outputs=2; num_outputs=2 cast_narrow=True",
              "3x5 2; 1 1; s 7; 0x3 3; 65 64; 1031 2x3x4; 3x0x2 1; 17x1 1x17; 5x9@-2:2.3nf 5x9@-2:2nf; 2x3 2x3; 1x1 7"),
    MULTICAST("num_outputs=1; num_outputs=1 cast_narrow=1", "3x5; 0"),
    MULTICAST("num_outputs=3", "3x5 2 7; 1 1 0"),
    FAILS("amp_multicast", "", "2", MXC_EINVAL, "\"num_outputs\" is missing"),
    INFERS("amp_multicast", "num_outputs=2", "2x?,? -> ?x3,4 => 2x3,4 -> 2x3,4"),
};

MXC_CASES(tensor_cast_cases, cases);
