/*
 * Key-value store: keeps the master copy of parameters, sums what devices and workers push, updates, and hands out the
 * result.
 *
 * Everything is queued on the engine: a pull returns at once and its arrays are ready when waited for. Operations on
 * one key happen in the order of the calls. Calls on one store must not overlap.
 *
 * In a distributed store each process is a worker, and every worker makes the same calls, with the same keys, shapes
 * and dtypes, in the same order; workers that differ get MXC_EWORKER, which says who called what. A worker that ends or
 * stands still is that status too, for all others: from calls, and from waiting for arrays that were to be summed.
 * After it the store is of no use any more. See docs/guide/distribute.md for how to start workers.
 */
#ifndef MXC_KVSTORE_H
#define MXC_KVSTORE_H

#include <mxc/ndarray.h>
#include <mxc/optimizer.h>

typedef struct mxc_kvstore mxc_kvstore;

/**
 * Types: "local" (copies and sums on cpu(0)), "device" (where the first value given for a key is), and, of several
 * processes started by mpirun or the like, "dist_sync" and "dist_device_sync": a push sums over all workers, and each
 * worker updates its own copy in the same way, so that all have the same bits. "dist_async": parameters
 * live at servers, which are workers too, and change with each push of any worker; a worker may be ahead of the slowest
 * by a bound. @return MXC_ENOTFOUND (lists the types), MXC_EDEVICE (distributed, without the MPI module), MXC_ENOMEM
 * Distributed: blocks until all workers have come; MXC_EWORKER if one does not within join_timeout, or has been given
 * another type or other parameters.
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_create(const char *type, mxc_kvstore **out);
/**
 * The same with parameters, which distributed types have:
 *   timeout=5                seconds that a process may be silent before it counts as lost
 *   stall=600                seconds that others wait for a worker that lives, but does not come; 0: for ever
 *   join_timeout=600         seconds that this call waits for all workers to make the store; 0: for ever
 * dist_sync and dist_device_sync:
 *   piece_bytes=4194304      of which larger sums are made, so that urgent ones can pass by
 *   bucket_bytes=1048576     keys of one push of up to so many bytes together travel together
 *   compression=none         float16, bfloat16: how sums of float32 travel; they are rounded at each addition. 2bit:
 *                            each worker sends threshold, its negative or 0, and keeps the rest for the next push
 *   threshold=0.5
 *   shard=false              true: each worker updates only its share of the elements, and so keeps only that share of
 *                            the optimizer's states; the new values are exchanged by pulls. It needs an optimizer, and
 *                            the same keys pushed together in every step (MXC_EINVAL); not with 2bit (MXC_EUNSUPPORTED)
 * dist_async:
 *   servers=0                how many of the workers are servers, the first ones; 0: all
 *   staleness=4              pushes of a key that a worker may be ahead of the slowest; then its pulls wait
 *   split_bytes=1048576      keys from this size on are spread over all servers
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_create_with(const char *type, int n_params, const char *const *keys,
                                                          const char *const *values, mxc_kvstore **out);
/** NULL is fine. Does not block, but of a distributed store waits for the other workers to do the same. */
MXC_API void mxc_kvstore_destroy(mxc_kvstore *store);
/** Set first values, copied; distributed: worker 0's count. Status: MXC_EEXIST (each key once), MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_init(mxc_kvstore *store, int n, const char *const *keys,
                                                   mxc_ndarray *const *values);
/**
 * Push values; a key that occurs several times has its values summed, in the order given (so the result does not depend
 * on timing). In a distributed store the workers' sums are summed. The sum then goes through the updater or optimizer,
 * if there is one, else it replaces the stored value.
 * @return MXC_ENOTFOUND (key not initialised), MXC_ESHAPE, MXC_EDTYPE, MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_push(mxc_kvstore *store, int n, const char *const *keys,
                                                   mxc_ndarray *const *values, int priority);
/** Copy stored values to arrays; a key may occur several times. Statuses as push. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_pull(mxc_kvstore *store, int n, const char *const *keys,
                                                   mxc_ndarray *const *out, int priority);
/** Push values and pull what comes of them. Arguments and statuses as push and pull. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_pushpull(mxc_kvstore *store, int n, const char *const *keys,
                                                       mxc_ndarray *const *values, mxc_ndarray *const *out,
                                                       int priority);
/** What to do with a sum: change stored (queue work on it, do not wait). Called in the pushing thread. */
typedef mxc_status (*mxc_updater_fn)(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user);
MXC_API void mxc_kvstore_set_updater(mxc_kvstore *store, mxc_updater_fn fn, void *user); /* NULL: replace */
/** Update by this optimizer, borrowed until the store is destroyed or another is set; NULL: none. It goes before an
 *  updater. dist_async: servers update by a copy of it, with its settings and none of its states; its learning rate
 *  goes along with each push. Status: MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_set_optimizer(mxc_kvstore *store, mxc_optimizer *optimizer);
MXC_API const char *mxc_kvstore_type(const mxc_kvstore *store);
MXC_API int mxc_kvstore_rank(const mxc_kvstore *store);       /* local: 0 */
MXC_API int mxc_kvstore_group_size(const mxc_kvstore *store); /* local: 1 */
/** Wait until every worker has come here, with the sums that were asked for before; local: returns at once. Status:
 *  MXC_EWORKER. */
MXC_API MXC_MUST_CHECK mxc_status mxc_kvstore_barrier(mxc_kvstore *store);

#endif
