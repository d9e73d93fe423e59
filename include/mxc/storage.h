/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools, one per context: a freed block is cached for the next request of its size class.
 *
 * All calls are thread-safe. They may block while the device allocates or frees memory. Blocks are at least 64-byte
 * aligned; their contents are undefined.
 */
#ifndef MXC_STORAGE_H
#define MXC_STORAGE_H

#include <mxc/types.h>

/** Counters of one pool; bytes are those of whole size classes. */
typedef struct mxc_storage_stats {
    int64_t bytes_in_use;  /* allocated and not freed */
    int64_t bytes_cached;  /* freed, cached for reuse */
    int64_t bytes_peak;    /* largest bytes_in_use so far */
    int64_t allocs;        /* blocks allocated so far */
    int64_t system_allocs; /* of these, those that came from the device or system and not from the cache */
} mxc_storage_stats;

/** Allocate at least bytes bytes (0 gives NULL). Status: MXC_ENOMEM (after cached blocks were freed), MXC_EDEVICE.
 *  @param[out,give=mxc_storage_free] out  the block
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_alloc(mxc_context context, size_t bytes, void **out);
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_alloc_on(int device_type, int device_id, size_t bytes, void **out);
/** Return a block to its pool; context and bytes as at its allocation. NULL is fine.
 *  @param[in,take] block  as mxc_storage_alloc gave it
 */
MXC_API void mxc_storage_free(mxc_context context, void *block, size_t bytes);
MXC_API void mxc_storage_free_on(int device_type, int device_id, void *block, size_t bytes);
/** Size class of a request in bytes: what it occupies. */
MXC_API size_t mxc_storage_class_size(size_t bytes);
/** Copy the counters of a pool. Status: MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_get_stats(mxc_context context, mxc_storage_stats *out);
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_get_stats_on(int device_type, int device_id, mxc_storage_stats *out);
/** Return cached blocks to the device until at most keep bytes are cached. Status: MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_trim(mxc_context context, size_t keep);
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_trim_on(int device_type, int device_id, size_t keep);
/** Cache at most cap bytes from now on; 0: no cap. The default is option MXC_POOL_CAP_MB. Status: MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_set_cap(mxc_context context, size_t cap);
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_set_cap_on(int device_type, int device_id, size_t cap);

#endif
