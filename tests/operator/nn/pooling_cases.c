/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Pooling. */
#include <math.h>

#include "operator/nn/nn_reference.h"

/* Elements of the window that an average divides by: with its padding, or without. */
static int64_t divisor_of(const op_run *r, const case_windows *w, int64_t p) {
    int excludes = case_is(r, "count_include_pad", "False");
    int64_t count = 1;
    for (int i = 2; i >= 0; i--) {
        int64_t start = p % w->windows[i] * w->stride[i] - w->pad[i], stop = start + w->kernel[i];
        int64_t limit = w->plane[i] + (excludes ? 0 : w->pad[i]);
        count *= (stop < limit ? stop : limit) - (excludes && start < 0 ? 0 : start);
        p /= w->windows[i];
    }
    return count;
}

/* One window: its value, and the first of its largest elements (-1: empty). */
static double pool_window(const op_run *r, const case_windows *w, const double *plane, int64_t p, int64_t *largest) {
    double sum = 0, most = 0, p_value = case_number(r, "p_value", 1), powers = 0;
    *largest = -1;
    for (int64_t k = 0; k < case_volume(w->kernel); k++) {
        int64_t at = case_under(w, p, k);
        if (at < 0)
            continue;
        sum += plane[at];
        powers += pow(plane[at], p_value);
        if (*largest < 0 || plane[at] > most) {
            most = plane[at];
            *largest = at;
        }
    }
    if (*largest < 0)
        return 0;
    return case_is(r, "pool_type", "max")   ? most
           : case_is(r, "pool_type", "sum") ? sum
           : case_is(r, "pool_type", "avg") ? sum / (double)divisor_of(r, w, p)
           : case_is(r, "pool_type", "lp")  ? (p_value == 3 ? cbrt(powers) : pow(powers, 1 / p_value))
                                            : most;
}

static void ref_pool(const op_run *r) {
    case_windows w = case_windows_of_layer(r);
    int64_t planes = r->in_shape[0].dim[0] * r->in_shape[0].dim[1], plane = case_volume(w.plane), largest;
    int64_t windows = case_volume(w.windows);
    for (int64_t i = 0; i < planes; i++)
        for (int64_t p = 0; p < windows; p++)
            r->out[0][i * windows + p] = pool_window(r, &w, r->in[0] + i * plane, p, &largest);
}

static void grad_pool(const op_run *r) {
    int is_avg = case_is(r, "pool_type", "avg"), is_lp = case_is(r, "pool_type", "lp");
    double p_value = case_number(r, "p_value", 1);
    case_windows w = case_windows_of_layer(r);
    int64_t planes = r->in_shape[0].dim[0] * r->in_shape[0].dim[1], plane = case_volume(w.plane), largest;
    int64_t windows = case_volume(w.windows);
    for (int64_t i = 0; i < planes; i++)
        for (int64_t p = 0; p < windows; p++) {
            double grad = r->out_grad[0][i * windows + p], *to = r->in_grad[0] + i * plane;
            pool_window(r, &w, r->in[0] + i * plane, p, &largest);
            if (largest >= 0 && !is_avg && !is_lp && !case_is(r, "pool_type", "sum")) {
                to[largest] += grad;
                continue;
            }
            for (int64_t k = 0; k < case_volume(w.kernel); k++) {
                int64_t at = case_under(&w, p, k);
                double y = r->out[0][i * windows + p], x = at < 0 ? 0 : r->in[0][i * plane + at];
                if (at >= 0)
                    to[at] += is_avg  ? grad / (double)divisor_of(r, &w, p)
                              : is_lp ? grad * pow(x / y, p_value - 1)
                                      : grad;
            }
        }
}

static void ref_pool_last(const op_run *r) {
    case_run_channels_second(r, ref_pool, 0);
}

static void grad_pool_last(const op_run *r) {
    case_run_channels_second(r, grad_pool, 1);
}

#define POOL(given, shapes) \
    { .op = "Pooling", .params = given, .in = shapes, .reference = ref_pool, .gradient = grad_pool }
#define POOL_LAST(given, shapes) \
    { .op = "Pooling", .params = "layout=" given, .in = shapes, .reference = ref_pool_last, .gradient = grad_pool_last }

static const op_case cases[] = {
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "2x3x8x8"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "1x2x6x40"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "1x2x7x9"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max pooling_convention=full", "1x2x7x9"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=max", "1x1x4x6@0:1i"),
    POOL("kernel=(3,3) stride=(2,2) pool_type=max", "2x2x9x11"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max", "2x2x8x9"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg pooling_convention=full", "2x2x8x10"),
    POOL("kernel=(3,3) pool_type=max", "1x2x6x7@0:3i"),
    POOL("kernel=(3,3) pad=(1,1) pool_type=avg", "1x2x6x7"),
    POOL("kernel=(3,2) stride=(1,3) pool_type=sum", "1x2x6x9"),
    POOL("kernel=(2,2) stride=(2,2) pool_type=avg", "2x3x8x8"),
    /* windows in the padding alone, wider than the row, and around no element */
    POOL("kernel=(2,2) pad=(3,3) pool_type=max; kernel=(5,9) stride=(2,3) pad=(4,8) pool_type=max; "
         "kernel=(5,9) stride=(1,2) pad=(4,8) pool_type=sum; kernel=(4,8) stride=(3,1) pad=(4,9) pool_type=avg",
         "1x1x3x3; 1x2x4x2; 1x1x2x5@0:2i; 1x2x0x3; 1x1x2x0"),
    POOL("kernel=(2,2) pad=(3,2) pool_type=avg", "1x1x3x3"),
    POOL("kernel=(1,1) stride=(3,3) pool_type=max pooling_convention=full", "1x2x5x6"), /* windows behind the end */
    POOL("kernel=(1,1) stride=(3,3) pool_type=sum pooling_convention=full", "1x2x5x6"),
    POOL("kernel=(1,1) global_pool=True pool_type=avg", "2x3x5x7"),
    POOL("kernel=(1,1) global_pool=True pool_type=max", "2x3x5x7"),
    POOL("kernel=(1,1) pool_type=max; kernel=(1,1) pool_type=avg", "1x1x1x1; 1x1x5x1; 3x65x2x2"),
    POOL("kernel=(3) stride=(2) pool_type=max", "2x3x9"),
    POOL("kernel=(3) pad=(1) pool_type=avg", "2x3x9"),
    POOL("kernel=(2,2,2) stride=(2,2,2) pool_type=max", "1x2x4x5x6"),
    POOL("kernel=(2,3,2) stride=(1,2,1) pad=(1,1,0) pool_type=avg", "1x2x4x5x6"),
    POOL("kernel=(2,2) pool_type=max; kernel=(2,2) pool_type=avg pad=(1,1) stride=(2,1)",
         "0x2x4x4; 2x0x4x4; 1x1x2x2; 1x1x3x300; 7x1x9x2"),
    POOL("kernel=(1,2) stride=(1,2) pool_type=max", "1x1x1x1200"), /* rows longer than a block */
    POOL("kernel=(1,3) pool_type=avg", "1x1x1x1100"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg count_include_pad=False", "2x2x8x10; 1x1x2x2; 0x2x4x4"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg count_include_pad=False pooling_convention=full",
         "2x2x8x10"),
    POOL("kernel=(2,3,2) stride=(1,2,1) pad=(1,1,0) pool_type=avg count_include_pad=False", "1x2x4x5x6"),
    POOL("kernel=(3,3) pool_type=avg count_include_pad=False", "1x2x6x7"),
    POOL("kernel=(2,2) pad=(3,2) pool_type=avg count_include_pad=True", "1x1x3x3"),
    POOL("global_pool=True pool_type=avg", "2x3x5x7; 2x3x9; 1x2x3x4x5"),
    POOL("global_pool=True", "2x3x5x7"),
    POOL("kernel=(2,2) stride=(2,2)", "2x3x8x8"),
    POOL("kernel=(2,3) stride=(1,2) pool_type=lp p_value=2", "2x3x6x7@0.5:2; 1x1x2x3"),
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=lp p_value=3", "2x2x8x9@0.5:2"),
    POOL("kernel=(3) pool_type=lp p_value=1", "2x3x9"),
    POOL("kernel=(2,7) pad=(0,3) pool_type=lp p_value=2", "2x2x5x4@0.5:2"), /* wider than a row */
    POOL("kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max", "2x2x9x41; 1x1x2x2"),
    POOL("kernel=(2,4) stride=(1,2) pad=(0,2) pool_type=max pooling_convention=full", "1x2x4x38; 1x1x3x1050"),
    POOL("global_pool=True pool_type=lp p_value=2", "2x3x9x11@0.5:2"),
    POOL("kernel=(3,2) stride=(2,3) pool_type=max pooling_convention=same", "1x2x7x9; 2x1x2x1; 1x3x8x8"),
    POOL("kernel=(3) stride=(2) pool_type=avg pooling_convention=same", "2x3x9; 1x1x4"),
    FAILS("Pooling", "kernel=(3,3) pool_type=lp", "1x2x5x5", MXC_EINVAL, "p_value"),
    FAILS("Pooling", "kernel=(3,3) pool_type=lp p_value=4", "1x2x5x5", MXC_EINVAL, "p_value"),
    FAILS("Pooling", "kernel=(3,3) pad=(1,1) pooling_convention=same", "1x2x5x5", MXC_EINVAL, "same"),
    FAILS("Pooling", "pool_type=max", "1x2x5x5", MXC_EINVAL, "kernel is missing"),
    FAILS("Pooling", "global_pool=True", "2x5", MXC_ESHAPE, "3 to 5 axes, found 2"),
    INFERS("Pooling", "global_pool=True", "?x4x?x12 -> 3x?x?x? => 3x4x?x12 -> 3x4x1x1"),
    INFERS("Pooling", "global_pool=True", "? -> ? => ? -> ?"),
    FAILS("Pooling", "kernel=(3,3) pool_type=max", "1x2x2x5", MXC_ESHAPE, "spatial axis 0"),
    FAILS("Pooling", "kernel=(3,3) pool_type=mean", "1x2x5x5", MXC_EINVAL, "pool_type"),
    FAILS("Pooling", "kernel=(3,3) pad=(1) pool_type=max", "1x2x5x5", MXC_EINVAL, "pad"),
    FAILS("Pooling", "kernel=(3,3) pool_type=max", "1x5x5", MXC_ESHAPE, "data"),
    INFERS("Pooling", "kernel=(3,3) stride=(2,2) pool_type=max", "2x4x?x12 -> ? => 2x4x?x12 -> 2x4x?x5"),
    INFERS("Pooling", "kernel=(3,3) stride=(2,2) pool_type=max pooling_convention=full",
           "2x4x9x12 -> ? => 2x4x9x12 -> 2x4x4x6"),
    INFERS("Pooling", "kernel=(3,3) global_pool=True pool_type=max", "?x?x7x7 -> 5x6x?x? => 5x6x7x7 -> 5x6x1x1"),

    POOL_LAST("NHWC kernel=(2,2) stride=(2,2) pool_type=max", "2x8x8x3; 1x7x9x1; 0x4x4x3; 2x4x4x0; 3x2x2x65"),
    POOL_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max; "
              "layout=NHWC kernel=(3,2) pad=(1,1) pool_type=max",
              "2x8x9x2; 1x6x7x3@0:3i"),
    POOL_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=avg pooling_convention=full", "2x8x10x2"),
    POOL_LAST("NHWC kernel=(1,1) global_pool=True pool_type=avg; "
              "layout=NHWC kernel=(1,1) global_pool=True pool_type=max",
              "2x5x7x3; 1x9x9x2"),
    POOL_LAST("NWC kernel=(3) stride=(2) pool_type=sum", "2x9x3"),
    POOL_LAST("NHWC global_pool=True pool_type=avg", "2x5x7x3"),
    POOL_LAST("NHWC kernel=(3,3) pad=(1,1) pool_type=avg count_include_pad=False", "2x5x7x3"),
    POOL_LAST("NHWC kernel=(2,2) pool_type=lp p_value=2", "2x5x7x3@0.5:2"),
    POOL_LAST("NDHWC kernel=(2,3,2) stride=(1,2,1) pad=(1,1,0) pool_type=avg", "1x4x5x6x2"),
    POOL_LAST("NDHWC kernel=(5,5,5) pool_type=max", "1x6x5x5x3"),
    /* vectors of channels, blocks of them, and what is left; windows in the padding alone, and around no element */
    POOL_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max; "
              "layout=NHWC kernel=(3,3) pad=(1,1) pool_type=avg count_include_pad=False; "
              "layout=NHWC kernel=(2,3) stride=(1,2) pool_type=sum pooling_convention=full",
              "1x5x7x24; 2x4x5x33; 1x3x3x71"),
    POOL_LAST("NHWC kernel=(2,3) pad=(3,2) pool_type=max; layout=NHWC kernel=(2,3) pad=(3,2) pool_type=avg; "
              "layout=NHWC kernel=(5,9) stride=(2,3) pad=(4,8) pool_type=sum",
              "1x3x2x9; 1x0x3x17; 1x2x0x5"),
    POOL_LAST("NHWC global_pool=True pool_type=avg; layout=NHWC global_pool=True pool_type=max; "
              "layout=NHWC global_pool=True pool_type=sum",
              "1x4x3x130; 3x2x5x64; 1x1x1x65"),
    POOL_LAST("NHWC kernel=(2,3) stride=(1,2) pool_type=lp p_value=2; layout=NHWC kernel=(3,2) pool_type=lp p_value=3; "
              "layout=NHWC kernel=(2,2) pool_type=lp p_value=1",
              "1x4x5x19@0.5:2"),
    POOL_LAST("NDHWC kernel=(2,3,2) stride=(1,2,2) pad=(1,1,0) pool_type=max; layout=NDHWC global_pool=True",
              "1x3x4x5x18; 1x2x3x3x33@0:3i"),
    POOL_LAST("NWC kernel=(3) stride=(2) pool_type=max pooling_convention=same", "2x9x5; 0x9x3; 1x2x65"),
    FAILS("Pooling", "kernel=(3,3) pool_type=max layout=NWC", "1x5x5x2", MXC_EINVAL, "layout"),
    INFERS("Pooling", "kernel=(3,3) stride=(2,2) pool_type=max layout=NHWC", "2x?x12x4 -> ? => 2x?x12x4 -> 2x?x5x4"),
    INFERS("Pooling", "kernel=(3,3) global_pool=True pool_type=max layout=NHWC",
           "?x7x7x? -> 5x?x?x6 => 5x7x7x6 -> 5x1x1x6"),
};

MXC_CASES(nn_pooling_cases, cases);
