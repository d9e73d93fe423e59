/* SPDX-License-Identifier: Apache-2.0 */
/* The operator wave: its descriptor, and its implementation on the CPU. In C++11. */
#include "wave.h"

static const mxc_param schema[] = {
    MXC_PARAM(wave_params, frequency, MXC_PARAM_FLOAT, "1", "Angular frequency, default 1."),
    MXC_PARAM_END,
};

static mxc_status forward(const mxc_op_call *call) {
    const wave_function f = {wave_frequency(call)};
    return mxc::map(call->run, f, call->req[0], &call->out[0], &call->in[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    const wave_gradient f = {wave_frequency(call)};
    return mxc::map(call->run, f, call->req[0], &call->in_grad[0], &call->in[0], &call->out_grad[0]);
}

static const mxc_op_def wave = mxc_make<mxc_op_def>([](mxc_op_def &def) {
    def.name = "wave";
    def.doc = "out = sin(frequency data).";
    def.version = WAVE_VERSION;
    def.flags = MXC_OP_SAMPLEWISE;
    def.params = schema;
    def.param_size = sizeof(wave_params);
    def.dtypes = MXC_DTYPES_FLOAT;
    def.needs.in = def.needs.out_grad = 1;
    def.forward[MXC_CPU] = forward;
    def.backward[MXC_CPU] = backward;
});

static mxc_status open_library() {
    return mxc_op_register(&wave);
}

MXC_OP_LIBRARY(open_library);
