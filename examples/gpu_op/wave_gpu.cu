/* SPDX-License-Identifier: Apache-2.0 */
/* The operator wave on GPUs. Its functions return when the kernels are queued on the engine's stream. */
#include <mxc/kernel.cuh>

#include "wave.h"

static mxc_status forward(const mxc_op_call *call) {
    const wave_function f = {wave_frequency(call)};
    return mxc::gpu::map(call->run, f, call->req[0], &call->out[0], &call->in[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    const wave_gradient f = {wave_frequency(call)};
    return mxc::gpu::map(call->run, f, call->req[0], &call->in_grad[0], &call->in[0], &call->out_grad[0]);
}

static const mxc_op_part wave_on_gpu = mxc_make<mxc_op_part>([](mxc_op_part &part) {
    part.op = "wave";
    part.device = MXC_GPU;
    part.version = WAVE_VERSION;
    part.param_size = sizeof(wave_params);
    part.forward = forward;
    part.backward = backward;
});

static mxc_status open_library() {
    return mxc_op_register_part(&wave_on_gpu);
}

MXC_OP_LIBRARY(open_library);
