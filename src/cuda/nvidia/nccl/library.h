/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's functions, of libnccl.so.2, which is loaded when they are first needed: the library is large, and the module
 * works without it. */
#ifndef MXCI_CUDA_NVIDIA_NCCL_LIBRARY_H
#define MXCI_CUDA_NVIDIA_NCCL_LIBRARY_H

#include <nccl.h>

#include <mxc/status.h>

#define MXCU_NCCL_FUNCTIONS(F) \
    F(GetVersion)              \
    F(GetUniqueId)             \
    F(GetErrorString)          \
    F(GetLastError)            \
    F(GroupStart)              \
    F(GroupEnd)                \
    F(CommInitRankConfig)      \
    F(CommGetAsyncError) F(CommFinalize) F(CommDestroy) F(CommAbort) F(AllReduce) F(Reduce) F(Broadcast)

struct mxcu_nccl {
#define F(name) decltype(&nccl##name) name;
    MXCU_NCCL_FUNCTIONS(F)
#undef F
};

/* The library's functions. MXC_EDEVICE, with why: it is not there, or too old. Any thread. */
mxc_status mxcu_nccl_get(const mxcu_nccl **out);

#endif
