/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions between GPUs by the collective operations of the GPU module (base/communicator.h, NCCL): within one
 * process, and between the GPUs of several workers. Without them, sums are made by copies, or through the host. */
#ifndef MXCI_KVSTORE_GPU_SUMS_H
#define MXCI_KVSTORE_GPU_SUMS_H

#include "kvstore/comm.h"

/* ---- within one process ------------------------------------------------------------------------------------------ */

/* Queue out = the sum of n values, if they are on n different GPUs, one of them out's, that have a communicator.
 * *queued 0: they have none, and nothing was queued. The first call for a set of GPUs makes its communicator and waits
 * for it. MXC_ENOMEM. */
mxc_status mxci_gpu_sums_reduce(int n, mxc_ndarray *const *values, mxc_ndarray *out, int priority, int *queued);
/* Queue a copy of from to n arrays under the same conditions. */
mxc_status mxci_gpu_sums_broadcast(mxc_ndarray *from, int n, mxc_ndarray *const *to, int priority, int *queued);

/* ---- between workers --------------------------------------------------------------------------------------------- */

/* Whether the workers' sums of a key can be computed by their GPUs; *out is the same at every worker. The first key
 * decides which GPU of a worker takes part, and, if every worker has one, makes the communicator. Blocks until all
 * workers have made the call. MXC_EWORKER. */
mxc_status mxci_gpu_sums_agree(mxci_comm *comm, const char *key, mxc_ndarray *array, int *out);
/* On the communication thread: start an allreduce of n elements, and test whether it is done. Neither blocks. */
mxc_status mxci_gpu_sums_start(mxci_comm *comm, const void *in, void *out, int64_t n, mxc_dtype dtype,
                               mxci_group_request *t);
mxc_status mxci_gpu_sums_test(mxci_comm *comm, const mxci_group_request *t, int *done);
/* Communication has failed: abort the sums that are in flight. */
void mxci_gpu_sums_abort(mxci_comm *comm);
/* After the communication thread has ended. Returns 0 if a sum may still be in flight, so that its memory must stay
 * until the process ends. */
int mxci_gpu_sums_close(mxci_comm *comm);

#endif
