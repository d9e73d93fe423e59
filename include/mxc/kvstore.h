/*
 * Key-value store: keeps the master copy of parameters, sums what devices push, updates, and hands out the result.
 *
 * Everything is queued on the engine: a pull returns at once and its arrays are ready when waited for. Operations on
 * one key happen in the order of the calls. Calls on one store must not overlap.
 */
#ifndef MXC_KVSTORE_H
#define MXC_KVSTORE_H

#include <mxc/ndarray.h>
#include <mxc/optimizer.h>

typedef struct mxc_kvstore mxc_kvstore;

/** Types: "local" (copies and sums on cpu(0)) and "device" (where the first value given for a key is). Status:
 *  MXC_ENOTFOUND (lists the types), MXC_ENOMEM. */
MXC_API mxc_status mxc_kvstore_create(const char *type, mxc_kvstore **out);
MXC_API void mxc_kvstore_destroy(mxc_kvstore *store); /* NULL is fine; does not block */
/** Set first values, copied. Status: MXC_EEXIST (each key once), MXC_ENOMEM. */
MXC_API mxc_status mxc_kvstore_init(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values);
/**
 * Push values; a key that occurs several times has its values summed, in the order given (so the result does not depend
 * on timing). The sum then goes through the updater or optimizer, if there is one, else it replaces the stored value.
 * @return MXC_ENOTFOUND (key not initialised), MXC_ESHAPE, MXC_EDTYPE, MXC_ENOMEM
 */
MXC_API mxc_status mxc_kvstore_push(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values,
                                    int priority);
/** Copy stored values to arrays; a key may occur several times. Statuses as push. */
MXC_API mxc_status mxc_kvstore_pull(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *out,
                                    int priority);
/** What to do with a sum: change stored (queue work on it, do not wait). Called in the pushing thread. */
typedef mxc_status (*mxc_updater_fn)(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user);
MXC_API void mxc_kvstore_set_updater(mxc_kvstore *store, mxc_updater_fn fn, void *user); /* NULL: replace */
/** Update by this optimizer, borrowed until the store is destroyed or another is set; NULL: none. It goes before an
 *  updater. */
MXC_API void mxc_kvstore_set_optimizer(mxc_kvstore *store, mxc_optimizer *optimizer);
MXC_API const char *mxc_kvstore_type(const mxc_kvstore *store);
MXC_API int mxc_kvstore_rank(const mxc_kvstore *store);       /* local: 0 */
MXC_API int mxc_kvstore_group_size(const mxc_kvstore *store); /* local: 1 */
/** Wait until every worker has come here; local: returns at once. */
MXC_API mxc_status mxc_kvstore_barrier(mxc_kvstore *store);

#endif
