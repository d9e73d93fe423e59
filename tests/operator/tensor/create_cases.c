/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the operators that create arrays. */
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

static void ref_eye(const op_run *r) {
    const int64_t columns = r->out_shape[0].dim[1], k = (int64_t)case_number(r, "k", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = i % columns - i / columns == k;
}

static void ref_linspace(const op_run *r) {
    const int64_t n = r->out_shape[0].dim[0], last = n - !case_is(r, "endpoint", "False");
    const double start = case_number(r, "start", 0), stop = case_number(r, "stop", 0);
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = start + (last > 0 ? (double)i * (stop - start) / (double)last : 0);
}

static void ref_arange_like(const op_run *r) {
    const double start = case_number(r, "start", 0), step = case_number(r, "step", 1);
    const int64_t repeat = (int64_t)case_number(r, "repeat", 1);
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
    {.op = "_set_value", .params = "src=many shape=3", .in = "", .status = MXC_EINVAL, .error = "expected a number"},
    {.op = "_set_value", .params = "src=1", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_set_value", .params = "shape=(2,3)", .in = "", .status = MXC_EINVAL, .error = "\"src\" is missing"},
    {.op = "_set_value", .params = "src=1 dtype=int8", .in = "", .status = MXC_ESHAPE, .error = "_set_value"},
    {.op = "_full", .params = CASE_MADE("value=2.5 "), .in = "", .reference = ref_full},
    {.op = "_full", .params = "value=-3 shape=(2,3) dtype=int32", .in = "", .reference = ref_full},
    {.op = "_full", .params = "value=1", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_full", .params = "value=2 shape=None", .infer = "-> 2x3 => -> 2x3"},
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
    {.op = "_zeros_without_dtype", .params = CASE_SHAPED("dtype=0 "), .in = "", .reference = ref_zeros},
    {.op = "_zeros_without_dtype",
     .params = "shape=(2,3) dtype=4; shape=7 dtype=3; shape=9 dtype=7; shape=9 dtype=1; shape=(2,5) dtype=12",
     .in = "",
     .reference = ref_zeros},
    {.op = "_zeros_without_dtype", .params = "shape=(2,3)", .infer = "-> ? => -> 2x3"},
    {.op = "_zeros_without_dtype", .params = "dtype=9", .in = "", .status = MXC_EINVAL, .error = "dtype is 9"},

    {.op = "_eye",
     .params = "N=3 k=1; N=3; N=2 M=4 k=-1; N=1; N=0; N=0 M=3; N=5 M=2; N=5 M=2 k=-3; N=2 M=5 k=4; N=3 k=7; N=3 k=-7; "
               "N=65; N=33 M=65 k=5; N=4 M=4 k=-2; N=7 M=1; N=1 M=7 k=6; N=1 M=9 k=-1",
     .in = "",
     .reference = ref_eye},
    {.op = "_eye",
     .params = "N=3 dtype=float64; N=3 M=4 dtype=float16; N=4 dtype=bfloat16; N=4 M=2 dtype=int32; N=5 dtype=uint8; "
               "N=150 M=301 k=9",
     .in = "",
     .reference = ref_eye},
    {.op = "_eye", .params = "N=2 M=3", .infer = "-> ? => -> 2x3"},
    {.op = "_eye", .params = "N=-1", .in = "", .status = MXC_EINVAL, .error = "N"},
    {.op = "_eye", .params = "M=3", .in = "", .status = MXC_EINVAL, .error = "\"N\" is missing"},

    {.op = "_linspace",
     .params =
         "start=2 stop=3 num=5; start=2 stop=3 num=5 endpoint=False; start=0 stop=1 num=1; "
         "start=1 stop=9 num=1 endpoint=False; start=0 stop=1 num=0; start=1 stop=-1 num=7; start=4 stop=4 num=3; "
         "start=-3 stop=3 num=65; start=0 stop=1 num=1031; start=0 stop=1 num=2; start=0.5 stop=9.25 num=17; "
         "start=-1e6 stop=1e6 num=9; start=0 stop=7 num=8 dtype=int32; start=0 stop=10 num=10 endpoint=False "
         "dtype=uint8; start=-8 stop=8 num=17 dtype=int64",
     .in = "",
     .reference = ref_linspace},
    {.op = "_linspace",
     .params = "start=0 stop=1 num=11 dtype=float64; start=0 stop=8 num=9 dtype=float16; start=0 stop=1 num=40000; "
               "start=0 stop=16 num=17 dtype=bfloat16; start=0 stop=1 num=3 endpoint=False dtype=float64; "
               "start=5 stop=-5 num=11 dtype=int8",
     .in = "",
     .reference = ref_linspace},
    {.op = "_linspace", .params = "start=0 stop=1 num=4", .infer = "-> ? => -> 4"},
    {.op = "_linspace", .params = "start=0 stop=1 num=-1", .in = "", .status = MXC_EINVAL, .error = "num"},
    {.op = "_linspace", .params = "start=0 num=3", .in = "", .status = MXC_EINVAL, .error = "\"stop\" is missing"},

    {.op = "_contrib_arange_like",
     .params = "; start=1 step=2 repeat=3",
     .in = "2x3" CASE_EACH(CASE_ONE),
     .reference = ref_arange_like,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_contrib_arange_like",
     .params = "axis=1; axis=-1 start=3; axis=0 step=-2 repeat=2; axis=-2",
     .in = "2x3; 1x1; 0x3; 17x65; 3x4x2; 4x2x3x1",
     .reference = ref_arange_like,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_contrib_arange_like",
     .params = "start=1 step=2 repeat=3; axis=1",
     .in = "2x3; 5x9; 1x64",
     .reference = ref_arange_like,
     .flags = CASE_INT_ONLY},
    {.op = "_contrib_arange_like", .params = "axis=2", .in = "2x3", .status = MXC_ESHAPE, .error = "axis 2"},
    {.op = "_contrib_arange_like", .params = "axis=1", .infer = "?x?x4 -> 3 => ?x3x4 -> 3"},
    {.op = "_contrib_arange_like", .params = "", .infer = "? -> 2x3 => 2x3 -> 2x3"},
    {.op = "_arange", .params = "start=5 step=0", .in = "", .status = MXC_EINVAL, .error = "_arange: step is 0"},
};

MXC_CASES(tensor_create_cases, cases);
