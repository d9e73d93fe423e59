/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of gpu_op.c, on the engine's stream. */
#include <cuda_runtime.h>

#include <mxc/mxc.h>

#include "gpu_op.h"

static __global__ void wave(int64_t n, float frequency, const float *x, float *y, bool adds) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (adds ? y[i] : 0) + sinf(frequency * x[i]);
}

/* Returns when the kernel is queued. */
mxc_status wave_on_gpu(const mxc_op_call *call) {
    const int64_t n = mxc_shape_size(&call->in[0].shape);
    const float frequency = (float)static_cast<const wave_params *>(call->params)->frequency;
    void *stream;
    if (n == 0 || call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxc_run_stream(call->run, &stream));
    wave<<<(unsigned)((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(
        n, frequency, static_cast<const float *>(call->in[0].data), static_cast<float *>(call->out[0].data),
        call->req[0] == MXC_REQ_ADD);
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? MXC_OK : MXC_FAIL(MXC_EDEVICE, "wave: %s", cudaGetErrorString(error));
}
