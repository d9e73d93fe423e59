/*
 * Memory pools, one per context: blocks of a size class are kept when freed and given out again.
 *
 * All calls are thread-safe. Blocks are at least 64-byte aligned; their contents are undefined.
 */
#ifndef MXC_STORAGE_H
#define MXC_STORAGE_H

#include <mxc/types.h>

/** Counters of one pool; bytes count whole size classes. */
typedef struct mxc_storage_stats {
    int64_t bytes_in_use;  /* given out and not freed */
    int64_t bytes_cached;  /* free, kept for reuse */
    int64_t bytes_peak;    /* largest bytes_in_use so far */
    int64_t allocs;        /* blocks given out so far */
    int64_t system_allocs; /* of these, taken from the system rather than the pool */
} mxc_storage_stats;

/** A block of at least bytes bytes (0 gives NULL). Status: MXC_ENOMEM (after the pool was trimmed), MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_alloc(mxc_context context, size_t bytes, void **out);
/** Give a block back to its pool; context and bytes as at its allocation. NULL is fine. */
MXC_API void mxc_storage_free(mxc_context context, void *block, size_t bytes);
/** Bytes that a request of this size occupies: its size class. */
MXC_API size_t mxc_storage_class_size(size_t bytes);
/** Read the counters. Status: MXC_EDEVICE. */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_get_stats(mxc_context context, mxc_storage_stats *out);
/** Return free blocks to the system until at most keep bytes are cached. */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_trim(mxc_context context, size_t keep);
/** Keep at most cap bytes cached from now on; 0: no cap (the default, or option MXC_POOL_CAP_MB). */
MXC_API MXC_MUST_CHECK mxc_status mxc_storage_set_cap(mxc_context context, size_t cap);

#endif
