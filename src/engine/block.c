/* Free lists of blocks. A stripe's own list is used under its lock; blocks come back through a list without a lock. */
#include "engine/block.h"

#include "base/check.h"
#include "base/sys.h"

enum { SLAB_BYTES = 16384 };

/* Memory for some blocks; they follow the header. */
typedef struct slab {
    _Alignas(MXCI_CACHE_LINE) struct slab *next;
    size_t bytes;
} slab;

static size_t block_bytes(int size_class) {
    size_t bytes = sizeof(mxci_block) + ((size_t)4 << size_class) * sizeof(mxci_dep);
    return (bytes + MXCI_CACHE_LINE - 1) & ~(size_t)(MXCI_CACHE_LINE - 1);
}

static int class_of(int n) {
    int size_class = 0;
    while (4 << size_class < n)
        size_class++;
    return size_class;
}

/* Carve fresh memory into blocks on the free list. 0 without memory. */
static int add_slab(mxci_stripe *stripe, int size_class) {
    size_t each = block_bytes(size_class), count = SLAB_BYTES / each ? SLAB_BYTES / each : 1;
    size_t bytes = sizeof(slab) + count * each;
    slab *s = mxci_pages_alloc(bytes);
    if (!s)
        return 0;
    s->next = stripe->slabs;
    s->bytes = bytes;
    stripe->slabs = s;
    for (size_t i = count; i-- > 0;) {
        mxci_block *block = (mxci_block *)(void *)((char *)(s + 1) + i * each);
        block->home = stripe;
        block->size_class = (uint8_t)size_class;
        block->next = stripe->free[size_class];
        stripe->free[size_class] = block;
    }
    return 1;
}

/* The block that came back last. Only who holds the lock takes any, so first cannot go and come back meanwhile. */
static mxci_block *take_returned(_Atomic(mxci_block *) *list) {
    mxci_block *first = atomic_load_explicit(list, memory_order_acquire);
    while (first && !atomic_compare_exchange_weak_explicit(list, &first, first->next, memory_order_acquire,
                                                           memory_order_acquire))
        continue;
    return first;
}

/* From the stripe's own list, which is filled with what came back, or with fresh blocks. NULL without memory. */
static mxci_block *take_free(mxci_stripe *stripe, int size_class) {
    mxci_block **list = &stripe->free[size_class], *block;
    if (!*list)
        *list = atomic_exchange_explicit(&stripe->returned[size_class], NULL, memory_order_acquire);
    if (!*list && !add_slab(stripe, size_class))
        return NULL;
    block = *list;
    *list = block->next;
    return block;
}

mxci_block *mxci_block_take(mxci_stripe *stripe, int n, int hot) {
    int size_class = class_of(n);
    mxci_block *block = hot ? take_returned(&stripe->returned[size_class]) : NULL;
    MXCI_ASSERT(n <= MXCI_MAX_VARS);
    if (!block)
        block = take_free(stripe, size_class);
    if (!block)
        return NULL;
    block->n_deps = n;
    block->waited = 0;
    return block;
}

void mxci_block_put(mxci_stripe *stripe, mxci_block *block) {
    block->next = stripe->free[block->size_class];
    stripe->free[block->size_class] = block;
}

void mxci_block_return(mxci_block *block) {
    _Atomic(mxci_block *) *list = &block->home->returned[block->size_class];
    mxci_block *first = atomic_load_explicit(list, memory_order_relaxed);
    do
        block->next = first;
    while (!atomic_compare_exchange_weak_explicit(list, &first, block, memory_order_release, memory_order_relaxed));
}

void mxci_stripe_clear(mxci_stripe *stripe) {
    slab *s = stripe->slabs;
    while (s) {
        slab *next = s->next;
        mxci_pages_free(s, s->bytes);
        s = next;
    }
}
