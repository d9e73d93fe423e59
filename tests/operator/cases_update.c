/* Cases of optimizer updates and of operators that make arrays. */
#include <math.h>

#include "operator/cases.h"

static double clipped(const op_run *r, double grad) {
    double limit = case_number(r, "clip_gradient", -1), g = grad * case_number(r, "rescale_grad", 1);
    return limit < 0 ? g : fmax(-limit, fmin(limit, g));
}

static void ref_sgd(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = (1 - lr * wd) * r->in[0][i] - lr * clipped(r, r->in[1][i]);
}

static void ref_sgd_mom(const op_run *r) {
    double lr = case_number(r, "lr", 0), wd = case_number(r, "wd", 0), momentum = case_number(r, "momentum", 0);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double step = momentum * r->aux[0][i] - lr * wd * r->in[0][i] - lr * clipped(r, r->in[1][i]);
        r->aux[0][i] = step;
        r->out[0][i] = r->in[0][i] + step;
    }
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
    if (isnan(case_number(r, "stop", NAN)))
        start = 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = start + step * (double)(i / repeat);
}

static const op_case cases[] = {
    {.op = "sgd_update", .params = "lr=0.1", .in = "3x5 3x5", .reference = ref_sgd},
    {.op = "sgd_update", .params = "lr=0.1 wd=0.01 rescale_grad=0.5 clip_gradient=0.2", .in = "1031 1031",
     .reference = ref_sgd},
    {.op = "sgd_update", .params = "lr=0.1", .infer = "?,2x3 -> ? => 2x3,2x3 -> 2x3"},
    {.op = "sgd_update", .params = "lr=0.1", .in = "2 3", .status = MXC_ESHAPE, .error = "argument 'grad'"},
    {.op = "sgd_update", .in = "2 2", .status = MXC_EINVAL, .error = "lr"},
    {.op = "sgd_mom_update", .params = "lr=0.1 momentum=0.9", .in = "3x5 3x5 3x5", .reference = ref_sgd_mom},
    {.op = "sgd_mom_update", .params = "lr=0.1 momentum=0.9 wd=0.01 rescale_grad=0.5 clip_gradient=0.2",
     .in = "40000 40000 40000", .reference = ref_sgd_mom},
    {.op = "sgd_mom_update", .params = "lr=0.1", .in = "0 0 0", .reference = ref_sgd_mom},
    {.op = "sgd_mom_update", .params = "lr=0.1", .infer = "?,?,2x3 -> ? => 2x3,2x3,2x3 -> 2x3"},
    {.op = "sgd_mom_update", .params = "lr=0.1", .in = "2 2 3", .status = MXC_ESHAPE, .error = "auxiliary state 'mom'"},
    {.op = "_zeros", .params = "shape=(2,3)", .in = "", .reference = ref_zeros},
    {.op = "_zeros", .params = "shape=(2,3) dtype=int32", .in = "", .reference = ref_zeros},
    {.op = "_zeros", .params = "shape=() dtype=int32", .infer = "-> 2x3 => -> 2x3"},
    {.op = "_zeros", .params = "shape=(2,3)", .infer = "-> ? => -> 2x3"},
    {.op = "_zeros", .params = "shape=(1,1,1,1,1,1,1,1,1)", .in = "", .status = MXC_ESHAPE, .error = "9 axes"},
    {.op = "_ones", .params = "shape=(2,3) dtype=float16", .in = "", .reference = ref_ones},
    {.op = "_ones", .params = "shape=(2,3) dtype=bool", .in = "", .reference = ref_ones},
    {.op = "_arange", .params = "start=1 stop=7.5 step=1.5", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 repeat=3 dtype=int32", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 stop=-5 step=-2 dtype=float64", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 stop=1", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=0 stop=40000", .in = "", .reference = ref_arange},
    {.op = "_arange", .params = "start=5 step=0", .in = "", .status = MXC_EINVAL, .error = "_arange: step is 0"},
};

MXC_CASES(update_cases, cases);
