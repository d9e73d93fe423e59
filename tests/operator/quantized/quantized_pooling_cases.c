/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_quantized_pooling, _contrib_quantized_act, _contrib_quantized_flatten and
 * _contrib_quantized_embedding. */
#include <math.h>

#include "operator/quantized/quantized_reference.h"

static void ref_pooling(const op_run *r) {
    int is_max = case_is(r, "pool_type", "max"), is_global = case_is(r, "global_pool", "true");
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    for (int i = 0; i < 3 && is_global; i++) {
        w.kernel[i] = w.plane[i];
        w.stride[i] = 1;
        w.pad[i] = 0;
    }
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t pixels = case_volume(w.windows), places = case_volume(w.kernel);
        double sum = 0, most = -INFINITY;
        for (int64_t k = 0; k < places; k++) {
            int64_t at = case_under(&w, i % pixels, k);
            double x = at < 0 ? 0 : r->in[0][i / pixels * case_volume(w.plane) + at];
            sum += x;
            most = at < 0 ? most : fmax(most, x);
        }
        r->out[0][i] = is_max ? most : rint(sum / (double)places);
    }
    case_put_range(r, r->in[1][0], r->in[2][0]);
}

static void ref_act(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = fmax(r->in[0][i], 0);
    case_put_range(r, r->in[1][0], r->in[2][0]);
}

static void ref_flatten(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
    case_put_range(r, r->in[1][0], r->in[2][0]);
}

static void ref_embedding(const op_run *r) {
    int64_t columns = r->in_shape[1].dim[1], rows = r->in_shape[1].dim[0];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double row = fmin(fmax(trunc(r->in[0][i / columns]), 0), (double)(rows - 1));
        r->out[0][i] = r->in[1][(int64_t)row * columns + i % columns];
    }
    case_put_range(r, r->in[2][0], r->in[3][0]);
}

static const op_case cases[] = {
    FAILS("_contrib_quantized_pooling", "kernel=(3,3) pool_type=lp p_value=2", "1x2x5x5 1 1", MXC_EUNSUPPORTED,
          "max or avg"),

    RUN("_contrib_quantized_pooling",
        "kernel=(2,2) pool_type=max;kernel=(2,2) pool_type=avg;"
        "kernel=(3,2) pool_type=max stride=(2,1) pad=(1,0);kernel=(2,2) pool_type=avg global_pool=true",
        ANY("1x2x4x4") "; 2x1x2x2" SAME "; 0x2x4x4" SAME "; 1x3x9x7" SAME "; 2x2x30x40" SAME, ref_pooling),
    RUN("_contrib_quantized_pooling", "kernel=(3,) pool_type=avg;kernel=(2,) pool_type=max stride=(2,)",
        ANY("2x3x8") "; 1x1x3" SAME, ref_pooling),
    FAILS("_contrib_quantized_pooling", "kernel=(2,2) pool_type=sum", "1x2x4x4 1 1", MXC_EUNSUPPORTED, "pool_type"),
    INFERS("_contrib_quantized_pooling", "kernel=(2,2) pool_type=max",
           "1x2x4x5,?,? -> ?,?,? => 1x2x4x5,1,1 -> "
           "1x2x3x4,1,1"),

    RUN("_contrib_quantized_act", "act_type=relu",
        ANY("2x3") "; 1" SAME "; s" SAME "; 0x3" SAME "; 7x5" SAME "; 600" SAME "; 20000" SAME "; 2x1x3x4" SAME
                   "; 1x1" SAME "; 33" SAME "; 3x0" SAME "; 511" SAME "; 512" SAME "; 513" SAME "; 5x4x3" SAME
                   "; 2x2" SAME "; 31x3" SAME "; 9" SAME,
        ref_act),
    RUN("_contrib_quantized_act", "act_type=relu", ANY("1024") "; 1x70000" SAME "; 3" SAME, ref_act),
    RUN("_contrib_quantized_act", "act_type=relu", "9@-3e8:3e8i " BOUNDS "; 1031" SAME, ref_act), /* int32, too */
    FAILS("_contrib_quantized_act", "act_type=tanh", "2 1 1", MXC_EINVAL, "act_type"),
    FAILS("_contrib_quantized_act", "", "2 1 1", MXC_EINVAL, "act_type"),
    INFERS("_contrib_quantized_act", "act_type=relu", "2x?,?,? -> ?x3,?,? => 2x3,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_flatten", "",
        ANY("2x3") "; 1" SAME "; 2x3x4" SAME "; 0x3x2" SAME "; 7x5" SAME "; 600" SAME "; 20x10x100" SAME
                   "; 2x1x3x4" SAME "; 1x1" SAME "; 33x1x2" SAME "; 3x0" SAME "; 5x1x1x1" SAME "; 1x2x3x4x5" SAME
                   "; 3x3x3" SAME "; 2x2" SAME "; 5x4x3" SAME "; 31x3" SAME "; 9" SAME,
        ref_flatten),
    RUN("_contrib_quantized_flatten", "", ANY("1024") "; 1x700x10" SAME "; 3" SAME, ref_flatten),
    FAILS("_contrib_quantized_flatten", "", "s 1 1", MXC_EDTYPE, "_contrib_quantized_flatten"),
    INFERS("_contrib_quantized_flatten", "", "2x3x4,?,? -> ?,?,? => 2x3x4,1,1 -> 2x12,1,1"),

    {.op = "_contrib_quantized_embedding",
     .params = "input_dim=5 output_dim=3",
     .in = "4@0:4i 5x3@-127:127i " BOUNDS "; 1 5x3 1 1; 2x3 5x3 1 1; 0 5x3 1 1; s 5x3 1 1; 300 5x3 1 1; "
           "2x1x4 5x3 1 1; 3x0 5x3 1 1; 17 5x3 1 1; 2x2x2x2 5x3 1 1",
     .reference = ref_embedding,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantized_embedding",
     .params = "input_dim=1 output_dim=1",
     .in = "4@0:0 1x1@-127:127i " BOUNDS "; 1 1x1 1 1; 5x3 1x1 1 1; 0 1x1 1 1; 70 1x1 1 1",
     .reference = ref_embedding,
     .gradient = case_zero_gradient},
    {.op = "_contrib_quantized_embedding",
     .params = "input_dim=70 output_dim=9",
     .in = "4@0:69i 70x9@-127:127i " BOUNDS "; 1 70x9 1 1; 5x3 70x9 1 1; 900 70x9 1 1; 2x6 70x9 1 1",
     .reference = ref_embedding,
     .gradient = case_zero_gradient},
    FAILS("_contrib_quantized_embedding", "input_dim=5", "4 5x3 1 1", MXC_EINVAL, "output_dim"),
    INFERS("_contrib_quantized_embedding", "input_dim=5 output_dim=3",
           "2x4,?,?,? -> ?,?,? => 2x4,5x3,1,1 -> "
           "2x4x3,1,1"),
};

MXC_CASES(quantized_quantized_pooling_cases, cases);
