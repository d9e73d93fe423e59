/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _set_value, _full, _zeros, _ones and _arange. */
#include <math.h>

#include "operator/cases.h"

static void ref_set_value(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = case_number(r, "src", 0);
}

static void ref_full(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = case_number(r, "value", 0);
}

static void ref_zeros(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
}

static void ref_ones(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 1;
}

static void ref_arange(const op_run *r) {
    double start = case_number(r, "start", 0), step = case_number(r, "step", 1);
    int64_t repeat = (int64_t)case_number(r, "repeat", 1);
    if (isnan(case_number(r, "stop", NAN)) && !case_is(r, "infer_range", "True"))
        start = 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = start + step * (double)(i / repeat);
}

static const op_case cases[] = {
    {.op = "_set_value", .params = CASE_SHAPED("src=2.5 dtype=float32 "), .in = "", .reference = ref_set_value},
    {.op = "_set_value",
     .params = "src=-2 shape=(7,) dtype=int32; src=3 shape=(0,4) dtype=int64; "
               "src=7 shape=9 dtype=uint8",
     .in = "",
     .reference = ref_set_value},
    {.op = "_set_value", .params = "src=0.5 shape=(90,700) dtype=float16", .in = "", .reference = ref_set_value},
    {.op = "_set_value", .params = "src=nan shape=3", .in = "", .status = MXC_EINVAL, .error = "finite"},
    {.op = "_set_value", .params = "src=1", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_set_value", .params = "shape=(2,3)", .in = "", .status = MXC_EINVAL, .error = "\"src\" is missing"},
    {.op = "_set_value", .params = "src=1 dtype=int8", .in = "", .status = MXC_ESHAPE, .error = "_set_value"},
    {.op = "_full", .params = CASE_MADE("value=2.5 "), .in = "", .reference = ref_full},
    {.op = "_full", .params = "value=-3 shape=(2,3) dtype=int32", .in = "", .reference = ref_full},
    {.op = "_full", .params = "value=1", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_full", .params = "shape=2", .in = "", .status = MXC_EINVAL, .error = "\"value\" is missing"},
    {.op = "_zeros", .params = CASE_MADE(""), .in = "", .reference = ref_zeros},
    {.op = "_zeros",
     .params = "shape=(2,3) dtype=int32; shape=7 dtype=uint8; shape=9 dtype=bool",
     .in = "",
     .reference = ref_zeros},
    {.op = "_zeros", .params = "shape=() dtype=int32", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_zeros", .params = "shape=(2,3)", .infer = "-> ? => -> 2x3"},
    {.op = "_zeros", .params = "shape=(1,1,1,1,1,1,1,1,1)", .in = "", .status = MXC_ESHAPE, .error = "9 axes"},
    {.op = "_ones", .params = CASE_MADE(""), .in = "", .reference = ref_ones},
    {.op = "_ones",
     .params = "shape=(2,3) dtype=float16; shape=7 dtype=int8; shape=9 dtype=int64",
     .in = "",
     .reference = ref_ones},
    {.op = "_ones", .params = "shape=(2,3) dtype=bool", .in = "", .reference = ref_ones},
    {.op = "_arange", .params = "start=1 stop=7.5 step=1.5", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 repeat=3 dtype=int32", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 stop=-5 step=-2 dtype=float64", .in = "", .reference = ref_arange},
    {.op = "_arange",
     .params = "start=5 stop=1; stop=0 start=0; start=0 stop=1; start=7; start=7 stop=None",
     .in = "",
     .reference = ref_arange},
    {.op = "_arange",
     .params = "start=0 stop=5 repeat=2; start=0 stop=0.9 step=0.1; start=-3 stop=3; start=3 stop=-3 step=-1; "
               "start=3 stop=4 step=7; start=0 stop=65 dtype=int32; start=0 stop=64 dtype=uint8; "
               "start=1.5 stop=9 step=0.25 repeat=3 dtype=float64; start=0 stop=7 dtype=float16; "
               "start=0 stop=9 dtype=bfloat16; start=-4 stop=4 step=3 dtype=int64; start=0 stop=1 repeat=17; "
               "start=2 stop=2; start=0.5 stop=0.6; start=0 stop=1031 step=2",
     .in = "",
     .reference = ref_arange},
    {.op = "_arange",
     .params = "start=7 infer_range=False; start=2 stop=7 infer_range=True",
     .in = "",
     .reference = ref_arange},
    {.op = "_arange", .params = "start=2 infer_range=True", .infer = "-> 5 => -> 5"},
    {.op = "_arange", .params = "start=0 stop=40000", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 step=0", .in = "", .status = MXC_EINVAL, .error = "_arange: step is 0"},
};

MXC_CASES(tensor_create_cases, cases);
