/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the GPU module's files share. runtime/ and operator/ are compiled twice: by nvcc with nvidia/, for the module
 * libmxc_cuda.so; and by the C++ compiler with tests/fake_gpu/, for an emulator that computes on the host and that the
 * tests load in the module's place. The kernels are the same source; what differs is behind the headers of
 * cuda_platform/ (see kernel.h) and the functions below.
 */
#ifndef MXCI_CUDA_RUNTIME_MODULE_H
#define MXCI_CUDA_RUNTIME_MODULE_H

#include <mxc/op.h>

#include "base/module.h"
#include "operator/op_impl.h"

/* The platform's device tables (base/device.h): memory, copies and streams of GPUs; pinned host memory. */
extern const mxci_device mxcu_gpu, mxcu_pinned;
/* The platform's reductions between GPUs (base/communicator.h); NULL: it has none. */
const struct mxci_communicator_api *mxcu_communicator_api(void);

/* An option's value (base/options.def). */
int64_t mxcu_option(mxci_option option);

/* For a call whose stream is being captured into a graph: the address on the device of the random range that each
 * launch of the graph draws from, and in *begin the offset that stood for its start during capture. NULL: the stream is
 * not being captured, or the graph draws no numbers. */
const mxc_random *mxcu_captured_random(const mxc_op_call *call, uint64_t *begin);

/* Operator implementations, one list per file of operator/; op_impl_lists.def names every list. */
typedef struct mxcu_op_impl_list {
    const mxci_op_impl *impls;
    int n;
} mxcu_op_impl_list;

#define OP_IMPLS(name) extern const mxcu_op_impl_list mxcu_op_impls_##name;
#include "cuda/runtime/op_impl_lists.def"
#undef OP_IMPLS

/* Defines a list: MXCU_OP_IMPLS(softmax, {"softmax", forward, backward}, ...). */
#define MXCU_OP_IMPLS(name, ...)                                     \
    static const mxci_op_impl name##_op_impls[] = {__VA_ARGS__};     \
    const mxcu_op_impl_list mxcu_op_impls_##name = {name##_op_impls, \
                                                    (int)(sizeof name##_op_impls / sizeof *name##_op_impls)};

#endif
