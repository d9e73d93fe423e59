/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions between GPUs by the collective operations of the GPU module (base/communicator.h, NCCL): within one
 * process, and between the GPUs of several workers. Without them, sums are made by copies, or through the host. */
#ifndef MXCI_KVSTORE_GPU_SUMS_H
#define MXCI_KVSTORE_GPU_SUMS_H

#include "kvstore/comm.h"

/* ---- within one process ------------------------------------------------------------------------------------------ */

/* Queue out = the sum of n values, if they are on so many GPUs, one of them out's, that have a communicator. *queued 0:
 * they have not, and nothing was queued. The first call for a set of GPUs makes its communicator and waits for it.
 * MXC_ENOMEM. */
mxc_status mxci_gpu_sums_reduce(int n, mxc_ndarray *const *values, mxc_ndarray *out, int priority, int *queued);
/* The same for a copy of from to n arrays. */
mxc_status mxci_gpu_sums_broadcast(mxc_ndarray *from, int n, mxc_ndarray *const *to, int priority, int *queued);

/* ---- between workers --------------------------------------------------------------------------------------------- */

/* Whether the workers' sums of a key can be made by their GPUs: the same answer at each. The first key decides which
 * GPU of a worker that is, and, if all have one, makes the communicator. Blocks until all workers have come.
 * MXC_EWORKER. */
mxc_status mxci_gpu_sums_agree(mxci_comm *comm, const char *key, mxc_ndarray *array, int *out);
/* Begin a sum, and look whether it is done; on the communication's thread. */
mxc_status mxci_gpu_sums_start(mxci_comm *comm, const void *in, void *out, int64_t n, mxc_dtype dtype,
                               mxci_group_request *t);
mxc_status mxci_gpu_sums_test(mxci_comm *comm, const mxci_group_request *t, int *done);
/* Communication has failed: what is under way ends. */
void mxci_gpu_sums_abort(mxci_comm *comm);
/* After the communication's thread has ended. 0: memory of what was under way must stay until the process ends. */
int mxci_gpu_sums_close(mxci_comm *comm);

#endif
