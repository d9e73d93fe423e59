/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by gpu_op.c and its CUDA kernel. */
#ifndef GPU_OP_H
#define GPU_OP_H

#include <mxc/op.h>

typedef struct wave_params {
    double frequency;
} wave_params;

#ifdef GPU_OP_CUDA /* gpu_op.cu is compiled */
MXC_EXTERN mxc_status wave_on_gpu(const mxc_op_call *call);
#define WAVE_ON_GPU wave_on_gpu
#else
#define WAVE_ON_GPU NULL
#endif

#endif
