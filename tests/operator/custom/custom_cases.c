/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of operators that belong to the program: case_cube has callbacks, and is also reached as Custom. */
#include "support.h"

#include "operator/cases.h"

/* Parameters as given: "power=3", anything else is refused. */
static mxc_status cube_open(int n, const char *const *keys, const char *const *values, void *params) {
    if (n != 1 || strcmp(keys[0], "power") != 0 || strcmp(values[0], "3") != 0)
        return MXC_FAIL(MXC_EINVAL, "case_cube: %s: expected power=3 only", n ? keys[n - 1] : "(nothing)");
    *(char **)params = strdup(values[0]);
    return MXC_OK;
}

static void cube_close(void *params) {
    free(*(char **)params);
}

static double get(const mxc_tensor *t, int64_t i) {
    return t->dtype == MXC_F64 ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

static void put(const mxc_tensor *t, int64_t i, mxc_req req, double value) {
    double all = req == MXC_REQ_ADD ? get(t, i) + value : value;
    if (t->dtype == MXC_F64)
        ((double *)t->data)[i] = all;
    else
        ((float *)t->data)[i] = (float)all;
}

static mxc_status cube_forward(const mxc_op_call *call) {
    if (call->run || strcmp(*(char *const *)call->params, "3") != 0)
        return MXC_FAIL(MXC_EUSER, "case_cube: called wrongly");
    for (int64_t i = 0; call->req[0] && i < mxc_shape_size(&call->in[0].shape); i++) {
        double x = get(&call->in[0], i);
        put(&call->out[0], i, call->req[0], x * x * x);
    }
    return MXC_OK;
}

static mxc_status cube_backward(const mxc_op_call *call) {
    for (int64_t i = 0; call->req[0] && i < mxc_shape_size(&call->in[0].shape); i++) {
        double x = get(&call->in[0], i);
        put(&call->in_grad[0], i, call->req[0], 3 * x * x * get(&call->out_grad[0], i));
    }
    return MXC_OK;
}

static const mxc_op_def cube = {
    .size = sizeof(mxc_op_def),
    .name = "case_cube",
    .doc = "out = data^3",
    .flags = MXC_OP_CALLBACK,
    .param_size = sizeof(char *),
    .params_open = cube_open,
    .params_close = cube_close,
    .needs = {.out_grad = MXC_NEED_ALL, .in = MXC_NEED_ALL},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = cube_forward},
    .backward = {[MXC_CPU] = cube_backward},
};

mxc_status case_register_ops(void) {
    return mxc_op_register(&cube);
}

static void cube_reference(const op_run *run) {
    for (int64_t i = 0; i < case_size(&run->in_shape[0]); i++)
        run->out[0][i] = run->in[0][i] * run->in[0][i] * run->in[0][i];
}

static const op_case cases[] = {
    {.op = "case_cube",
     .params = "power=3",
     .in = "2x3" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf; 70x301",
     .flags = CASE_FLOAT_ONLY,
     .reference = cube_reference},
    {.op = "case_cube", .params = "power=2", .in = "2", .status = MXC_EINVAL, .error = "expected power=3"},
    {.op = "Custom",
     .params = "op_type=case_cube power=3",
     .in = "2x3" CASE_EACH(CASE_ONE),
     .flags = CASE_F64_ONLY,
     .reference = cube_reference},
    {.op = "Custom",
     .params = "power=3 op_type=case_cube",
     .in = "5x1x7",
     .flags = CASE_F64_ONLY,
     .reference = cube_reference},
    {.op = "Custom", .params = "op_type=case_cube power=3", .infer = "2x? -> ?x3 => 2x3 -> 2x3"},
    {.op = "Custom", .params = "power=3", .in = "2", .status = MXC_EINVAL, .error = "op_type is missing"},
    {.op = "Custom", .params = "op_type=case_cub power=3", .in = "2", .status = MXC_ENOTFOUND, .error = "'case_cub'"},
    {.op = "Custom", .params = "op_type=tanh", .in = "2", .status = MXC_EINVAL, .error = "none with callbacks"},
};

MXC_CASES(custom_custom_cases, cases);
