/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools: one per context, with a stack of free blocks per size class. A block is free in its pool, in use by a
 * caller, or not allocated from the device.
 *
 * Locking: a pool's lock guards all of its fields and is never held while the device allocates or frees memory, which
 * may block. The stacks are arrays of pointers outside of the blocks, so that memory that the host cannot access is
 * pooled in the same way.
 */
#include <stdatomic.h>
#include <string.h>

#include <mxc/storage.h>

#include "base/check.h"
#include "base/device.h"
#include "base/error.h"
#include "base/options.h"
#include "base/sys.h"

enum {
    UNIT = 64,      /* the smallest class, and the smallest distance between classes */
    LINEAR = 4,     /* classes of 1 to 4 units; above, four steps between powers of two */
    LINEAR_LOG = 8, /* 2^8 = LINEAR * UNIT */
    CLASSES = LINEAR + 4 * (63 - LINEAR_LOG)
};

/* Free blocks of one size class. */
typedef struct free_stack {
    void **blocks;
    uint32_t count, room;
} free_stack;

/* All pools exist, statically, so that finding one needs no lock; most are never used. */
typedef struct pool {
    mxci_mutex lock;
    const mxci_device *device; /* NULL until the pool is first used */
    size_t cap;                /* limit of the bytes cached; 0: no limit */
    mxc_storage_stats stats;
    free_stack free[CLASSES];
} pool;

#define UNUSED_POOL \
    { .lock = MXCI_MUTEX_INIT }
#define POOLS_4 UNUSED_POOL, UNUSED_POOL, UNUSED_POOL, UNUSED_POOL
#define POOLS_16 POOLS_4, POOLS_4, POOLS_4, POOLS_4
#define POOLS_64 \
    { POOLS_16, POOLS_16, POOLS_16, POOLS_16 }
static pool pools[MXC_DEVICE_LIMIT][MXC_MAX_DEVICE_ID + 1] = {POOLS_64, POOLS_64, POOLS_64, POOLS_64};
_Static_assert(MXC_DEVICE_LIMIT == 4 && MXC_MAX_DEVICE_ID == 63, "the initialiser above covers every pool");

/* ---- size classes ------------------------------------------------------------------------------------------------ */

/* Index of the smallest class that holds a request, and the bytes of it. Up to 256 bytes multiples of 64; above, 2^k,
 * 5/4 2^k, 6/4 2^k and 7/4 2^k, so that at most a fifth of a block is unused. bytes > 0. */
static int storage_class_of(size_t bytes, size_t *class_bytes) {
    int log, step;
    if (bytes <= LINEAR * UNIT) {
        int units = (int)((bytes + UNIT - 1) / UNIT);
        *class_bytes = (size_t)units * UNIT;
        return units - 1;
    }
    log = 63 - __builtin_clzll((unsigned long long)bytes - 1);       /* 2^log < bytes <= 2^(log+1) */
    step = (int)((bytes - 1 - ((size_t)1 << log)) >> (log - 2)) + 1; /* 1 to 4 quarters above 2^log */
    *class_bytes = ((size_t)1 << log) + ((size_t)step << (log - 2));
    return LINEAR + 4 * (log - LINEAR_LOG) + step - 1;
}

size_t mxc_storage_class_size(size_t bytes) {
    size_t class_bytes = 0;
    if (bytes > 0 && bytes <= PTRDIFF_MAX)
        storage_class_of(bytes, &class_bytes);
    return bytes > PTRDIFF_MAX ? bytes : class_bytes;
}

/* ---- pools ------------------------------------------------------------------------------------------------------- */

/* In the child of a fork only this thread exists. A pool whose lock another thread held may be half changed, so its
 * free blocks are dropped (they leak), and its lock is initialised again. Other pools are used as they are. */
static void repair_after_fork(void) {
    for (int device = 0; device < MXC_DEVICE_LIMIT; device++)
        for (int id = 0; id <= MXC_MAX_DEVICE_ID; id++) {
            pool *p = &pools[device][id];
            if (!p->device)
                continue;
            if (mxci_mutex_trylock(&p->lock)) {
                mxci_mutex_unlock(&p->lock);
                continue;
            }
            mxci_mutex_init(&p->lock);
            memset(p->free, 0, sizeof p->free);
            p->stats.bytes_cached = 0;
        }
}

/* Once per process; a failure is tried again by the next pool. */
static mxc_status register_fork_handler(void) {
    static mxci_global_mutex lock = MXCI_GLOBAL_MUTEX_INIT;
    static int registered;
    mxc_status status = MXC_OK;
    mxci_global_lock(&lock);
    if (!registered) {
        status = mxci_at_fork(NULL, NULL, repair_after_fork);
        registered = status == MXC_OK;
    }
    mxci_global_unlock(&lock);
    return status;
}

/* The context's pool with its lock held. MXC_EDEVICE. */
static mxc_status pool_lock(mxc_context context, pool **out) {
    const mxci_device *device;
    int64_t cap_mb;
    pool *p;
    *out = NULL;
    if (context.device > 0 && context.device < MXC_DEVICE_LIMIT && context.id >= 0 && context.id <= MXC_MAX_DEVICE_ID) {
        p = &pools[context.device][context.id];
        mxci_mutex_lock(&p->lock);
        if (p->device) {
            *out = p;
            return MXC_OK;
        }
        mxci_mutex_unlock(&p->lock);
    }
    MXC_TRY(mxci_device_get(context, &device));
    MXC_TRY(register_fork_handler());
    cap_mb = mxci_option_get(MXCI_OPT_MXC_POOL_CAP_MB);
    p = &pools[context.device][context.id];
    mxci_mutex_lock(&p->lock);
    if (!p->device) {
        p->cap = (size_t)cap_mb << 20;
        p->device = device;
    }
    *out = p;
    return MXC_OK;
}

/* Returns block. Under the address sanitizer only its first bytes may be accessed from now on; host memory only. */
static void *set_usable(mxc_context context, void *block, size_t bytes, size_t class_bytes) {
    if (block && context.device != MXC_GPU)
        mxci_memory_usable(block, bytes, class_bytes);
    return block;
}

/* NULL if the stack is empty. Lock held. */
static void *stack_pop(free_stack *stack) {
    return stack->count ? stack->blocks[--stack->count] : NULL;
}

/* Make room for one more block; 0 without memory. Lock held: the array has a few pages at most, so its allocation is
 * short. */
static int stack_has_room(free_stack *stack) {
    uint32_t room = stack->room ? 2 * stack->room : 8;
    void **blocks;
    if (stack->count < stack->room)
        return 1;
    blocks = mxci_realloc_array(stack->blocks, room, sizeof *blocks);
    if (!blocks)
        return 0;
    stack->blocks = blocks;
    stack->room = room;
    return 1;
}

/* Count an allocation. Lock held. */
static void count_alloc(pool *p, size_t class_bytes) {
    p->stats.allocs++;
    p->stats.bytes_in_use += (int64_t)class_bytes;
    if (p->stats.bytes_in_use > p->stats.bytes_peak)
        p->stats.bytes_peak = p->stats.bytes_in_use;
}

/* Bytes of class index: the inverse of class_of. */
static size_t class_bytes_of(int index) {
    int log = LINEAR_LOG + (index - LINEAR) / 4, step = (index - LINEAR) % 4 + 1;
    return index < LINEAR ? (size_t)(index + 1) * UNIT : ((size_t)1 << log) + ((size_t)step << (log - 2));
}

/* Return free blocks to the device, largest first, until at most keep bytes are cached. The lock is taken for each
 * block and not held while the device frees it. */
static void pool_trim(pool *p, mxc_context context, size_t keep) {
    for (int i = CLASSES - 1; i >= 0; i--) {
        size_t class_bytes = class_bytes_of(i);
        for (;;) {
            void *block = NULL;
            mxci_mutex_lock(&p->lock);
            if (p->stats.bytes_cached > 0 && (size_t)p->stats.bytes_cached > keep)
                block = set_usable(context, stack_pop(&p->free[i]), class_bytes, class_bytes);
            if (block)
                p->stats.bytes_cached -= (int64_t)class_bytes;
            if (!p->free[i].count) {
                mxci_free(p->free[i].blocks);
                p->free[i] = (free_stack){NULL, 0, 0};
            }
            mxci_mutex_unlock(&p->lock);
            if (!block)
                break;
            p->device->free(context, block, class_bytes);
        }
    }
}

/* The device of context has no memory left: trim the pools that share that memory, which are its own, or on the host
 * those of all contexts of that kind. */
static void make_room(mxc_context context) {
    int host = context.device != MXC_GPU;
    for (int id = 0; id <= MXC_MAX_DEVICE_ID; id++) {
        pool *p = &pools[context.device][id];
        int used;
        mxci_mutex_lock(&p->lock);
        used = p->device != NULL;
        mxci_mutex_unlock(&p->lock);
        if (used && (host || id == context.id))
            pool_trim(p, (mxc_context){context.device, id}, 0);
    }
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Between the two parts under the lock another thread may free a block of the class; it stays cached. */
mxc_status mxc_storage_alloc(mxc_context context, size_t bytes, void **out) {
    MXC_TRY(MXCI_OUT(out));
    mxc_status status = MXC_OK;
    size_t class_bytes;
    int class_index;
    pool *p;
    if (bytes > PTRDIFF_MAX / 2)
        return MXC_FAIL(MXC_ENOMEM, "mxc_storage_alloc: %zu bytes are more than any memory holds", bytes);
    MXC_TRY(pool_lock(context, &p));
    if (bytes == 0) {
        mxci_mutex_unlock(&p->lock);
        return MXC_OK;
    }
    class_index = storage_class_of(bytes, &class_bytes);
    *out = set_usable(context, stack_pop(&p->free[class_index]), bytes, class_bytes);
    if (*out) {
        p->stats.bytes_cached -= (int64_t)class_bytes;
        count_alloc(p, class_bytes);
    }
    mxci_mutex_unlock(&p->lock);
    if (*out)
        return MXC_OK;
    status = p->device->alloc(context, class_bytes, out);
    if (status == MXC_ENOMEM) {
        make_room(context);
        status = p->device->alloc(context, class_bytes, out);
    }
    if (status != MXC_OK)
        return status;
    (void)set_usable(context, *out, bytes, class_bytes);
    mxci_mutex_lock(&p->lock);
    p->stats.system_allocs++;
    count_alloc(p, class_bytes);
    mxci_mutex_unlock(&p->lock);
    return MXC_OK;
}

/* Cannot fail: a block that cannot be cached is returned to the device. */
void mxc_storage_free(mxc_context context, void *block, size_t bytes) {
    size_t class_bytes;
    int class_index;
    pool *p;
    if (!block || pool_lock(context, &p) != MXC_OK)
        return;
    class_index = storage_class_of(bytes, &class_bytes);
    p->stats.bytes_in_use -= (int64_t)class_bytes;
    MXCI_ASSERT(p->stats.bytes_in_use >= 0);
    if ((!p->cap || (size_t)p->stats.bytes_cached + class_bytes <= p->cap) && stack_has_room(&p->free[class_index])) {
        p->free[class_index].blocks[p->free[class_index].count++] = set_usable(context, block, 0, class_bytes);
        p->stats.bytes_cached += (int64_t)class_bytes;
        block = NULL;
    }
    mxci_mutex_unlock(&p->lock);
    if (block)
        p->device->free(context, set_usable(context, block, class_bytes, class_bytes), class_bytes);
}

mxc_status mxc_storage_get_stats(mxc_context context, mxc_storage_stats *out) {
    MXC_TRY(MXCI_OUT(out));
    pool *p;
    MXC_TRY(pool_lock(context, &p));
    *out = p->stats;
    mxci_mutex_unlock(&p->lock);
    return MXC_OK;
}

mxc_status mxc_storage_trim(mxc_context context, size_t keep) {
    pool *p;
    MXC_TRY(pool_lock(context, &p));
    mxci_mutex_unlock(&p->lock);
    pool_trim(p, context, keep);
    return MXC_OK;
}

mxc_status mxc_storage_set_cap(mxc_context context, size_t cap) {
    pool *p;
    MXC_TRY(pool_lock(context, &p));
    p->cap = cap;
    mxci_mutex_unlock(&p->lock);
    if (cap)
        pool_trim(p, context, cap);
    return MXC_OK;
}

/* ---- public, with a context as two numbers ----------------------------------------------------------------------- */

mxc_status mxc_storage_alloc_on(int device_type, int device_id, size_t bytes, void **out) {
    return mxc_storage_alloc((mxc_context){device_type, device_id}, bytes, out);
}

void mxc_storage_free_on(int device_type, int device_id, void *block, size_t bytes) {
    mxc_storage_free((mxc_context){device_type, device_id}, block, bytes);
}

mxc_status mxc_storage_get_stats_on(int device_type, int device_id, mxc_storage_stats *out) {
    return mxc_storage_get_stats((mxc_context){device_type, device_id}, out);
}

mxc_status mxc_storage_trim_on(int device_type, int device_id, size_t keep) {
    return mxc_storage_trim((mxc_context){device_type, device_id}, keep);
}

mxc_status mxc_storage_set_cap_on(int device_type, int device_id, size_t cap) {
    return mxc_storage_set_cap((mxc_context){device_type, device_id}, cap);
}
