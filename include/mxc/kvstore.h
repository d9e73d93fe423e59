/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key-value store: holds the master copy of parameters, sums the values that devices and workers push, updates the
 * parameters, and returns them.
 *
 * Everything is queued on the engine: a pull returns at once, and its arrays are ready when waited for. Operations on
 * one key take place in the order of the calls. Calls on one store must not overlap.
 *
 * In a distributed store each process is a worker, and all workers make the same calls, with the same keys, shapes and
 * dtypes, in the same order. If they differ, all get MXC_EWORKER, with a message that names the calls. If a worker ends
 * or hangs, the others get MXC_EWORKER from calls and from waits for arrays that were to be summed. The store cannot be
 * used after that. docs/guide/distribute.md describes how to start workers.
 */
#ifndef MXC_KVSTORE_H
#define MXC_KVSTORE_H

#include <mxc/ndarray.h>
#include <mxc/optimizer.h>

typedef struct mxc_kvstore mxc_kvstore;

/**
 * Create a store. Types:
 *   local             copies and sums on cpu(0)
 *   device            copies and sums on the context of the first value given for a key
 *   dist_sync, dist_device_sync
 *                     the same over several processes, started by mpirun or similar: a push sums over all workers, and
 *                     each worker updates its own copy in the same way, so that all copies are equal bit for bit
 *   dist_async        parameters are kept by servers, which are workers too, and change with each push of any worker; a
 *                     worker may be ahead of the slowest one by a limited number of pushes
 * @return MXC_ENOTFOUND (lists the types), MXC_EDEVICE (distributed, without the MPI module), MXC_ENOMEM; distributed:
 *         MXC_EWORKER if a worker does not join within join_timeout, or has another type or other parameters
 * Blocks until all workers have joined, if distributed.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_create(const char *type, mxc_kvstore **out);
/**
 * The same with parameters, which distributed types take:
 *   timeout=5                seconds without a heartbeat after which a process counts as lost
 *   stall=600                seconds that the others wait for a worker that is alive but does not reach a sum;
 *                            0: forever
 *   join_timeout=600         seconds that this call waits for all workers to create the store; 0: forever
 * dist_sync and dist_device_sync:
 *   piece_bytes=4194304      larger sums are divided into pieces of this size, so that urgent sums can overtake them
 *   bucket_bytes=1048576     keys of one push are sent together up to this size
 *   compression=none         how sums of float32 are sent: float16 or bfloat16, rounded at each addition; 2bit: each
 *                            worker sends threshold, -threshold or 0 and keeps the error for the next push
 *   threshold=0.5            for the compression 2bit
 *   shard=false              true: each worker updates only its share of the elements, keeps optimizer states for that
 *                            share only, and pulls exchange the new values. Requires an optimizer, and the same keys
 *                            pushed together in every step (MXC_EINVAL); not with 2bit (MXC_EUNSUPPORTED)
 * dist_async:
 *   servers=0                number of workers, the first ones, that are servers; 0: all
 *   staleness=4              number of pushes of a key that a worker may be ahead of the slowest before its pulls wait
 *   split_bytes=1048576      keys of at least this size are divided among all servers
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_create_with(const char *type, int n_params, const char *const *keys,
                                                          const char *const *values, mxc_kvstore **out);
/** Destroy a store. NULL is fine. A distributed store waits until the other workers do the same; others do not
 *  block. */
MXC_API void mxc_kvstore_destroy(mxc_kvstore *store);
/** Set initial values, which are copied; distributed: those of worker 0 are used. Status: MXC_EEXIST (a key that was
 *  initialised before), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_init(mxc_kvstore *store, int n, const char *const *keys,
                                                   mxc_ndarray *const *values);
/**
 * Push values. Values of a key that occurs several times are summed in the given order, so that the result does not
 * depend on timing; in a distributed store the sums of the workers are summed. The optimizer or updater, if there is
 * one, then applies the sum to the stored value; otherwise the sum replaces it.
 * @return MXC_ENOTFOUND (key not initialised), MXC_ESHAPE, MXC_EDTYPE, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_push(mxc_kvstore *store, int n, const char *const *keys,
                                                   mxc_ndarray *const *values, int priority);
/** Copy stored values to arrays; a key may occur several times. Statuses as push. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_pull(mxc_kvstore *store, int n, const char *const *keys,
                                                   mxc_ndarray *const *out, int priority);
/** Push values and pull the results. Arguments and statuses as for push and pull. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_pushpull(mxc_kvstore *store, int n, const char *const *keys,
                                                       mxc_ndarray *const *values, mxc_ndarray *const *out,
                                                       int priority);
/** Applies a sum to the stored value: queues work that changes stored, without waiting. Runs on the pushing thread.
 *  @thread caller
 */
typedef mxc_status (*mxc_updater_fn)(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user);
/** Set the function that applies pushed sums. Does not block.
 *  @param[null] fn  NULL: a sum replaces the stored value
 */
MXC_API void mxc_kvstore_set_updater(mxc_kvstore *store, mxc_updater_fn fn, void *user);
/** Update with this optimizer, borrowed until the store is destroyed or another is set; NULL: none. It takes precedence
 *  over an updater. dist_async: servers use a copy with the same settings but without states; each push carries the
 *  current learning rate. Status: MXC_EINVAL, MXC_ENOMEM.
 *  @param[null,keep] optimizer  NULL: none
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_set_optimizer(mxc_kvstore *store, mxc_optimizer *optimizer);
/** The type that it was created with; the number of this worker, and of all workers. */
MXC_API const char *mxc_kvstore_type(const mxc_kvstore *store);
MXC_API int mxc_kvstore_rank(const mxc_kvstore *store);       /* number of this worker; local: 0 */
MXC_API int mxc_kvstore_group_size(const mxc_kvstore *store); /* number of workers; local: 1 */
/** Barrier: wait until every worker has called this and the sums queued before are done; local: returns at once.
 *  Status: MXC_EWORKER. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_barrier(mxc_kvstore *store);

#endif
