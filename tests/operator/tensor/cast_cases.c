/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Cast. */
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
};

MXC_CASES(tensor_cast_cases, cases);
