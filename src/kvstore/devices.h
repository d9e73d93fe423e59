/* Sums that GPUs make among themselves, by the collectives of the GPU module (base/communicator.h): of one
 * process, and of several. Where there are none, sums go by copies, or through the host. */
#ifndef MXCI_KVSTORE_DEVICES_H
#define MXCI_KVSTORE_DEVICES_H

#include "kvstore/comm.h"

/* ---- of one process ---------------------------------------------------------------------------------------------- */

/* Queue out = the sum of n values, if they are on so many GPUs, one of them out's, that have a communicator. *queued 0:
 * they have not, and nothing was queued. The first call for a set of GPUs makes its communicator and waits for it.
 * MXC_ENOMEM. */
mxc_status mxci_devices_sum(int n, mxc_ndarray *const *values, mxc_ndarray *out, int priority, int *queued);
/* The same for a copy of from to n arrays. */
mxc_status mxci_devices_spread(mxc_ndarray *from, int n, mxc_ndarray *const *to, int priority, int *queued);

/* ---- of several -------------------------------------------------------------------------------------------------- */

/* Whether the workers' sums of a key can be made by their GPUs: the same answer at each. The first key decides which
 * GPU of a worker that is, and, if all have one, makes the communicator. Blocks until all workers have come.
 * MXC_EWORKER. */
mxc_status mxci_devices_agree(mxci_comm *comm, const char *key, mxc_ndarray *array, int *out);
/* Begin a sum, and look whether it is done; on the communication's thread. */
mxc_status mxci_devices_start(mxci_comm *comm, const void *in, void *out, int64_t n, mxc_dtype dtype,
                              mxci_group_request *t);
mxc_status mxci_devices_test(mxci_comm *comm, const mxci_group_request *t, int *done);
/* Communication has failed: what is under way ends. */
void mxci_devices_abort(mxci_comm *comm);
/* After the communication's thread has ended. 0: memory of what was under way must stay until the process ends. */
int mxci_devices_close(mxci_comm *comm);

#endif
