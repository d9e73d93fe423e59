/* SPDX-License-Identifier: Apache-2.0 */
/* Memory from the system: small blocks from malloc, large ones from pages. Counters and fault injection; no pooling. */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/inject.h"
#include "base/size.h"
#include "base/sys.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif
#ifdef MXCI_CHECKS
#include <malloc.h>

#include "base/log.h"
#endif

enum {
    ALIGNMENT = 64,
    PAGE = 4096,
    CLEARED_HERE = 1024 /* glibc's calloc does not use the thread's cache of small blocks, its malloc does */
};
#define HUGE_PAGE ((size_t)2 << 20)

/* ---- small blocks ------------------------------------------------------------------------------------------------ */

static mxci_injector injector;
static _Atomic int64_t allocations, frees;

/* 0 if a block of that size is impossible, or a test injects a failure. */
static int may_allocate(size_t bytes) {
    return bytes <= PTRDIFF_MAX && !mxci_inject(&injector);
}

static void *counted(void *block) {
    if (block)
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return block;
}

static void count_free(void) {
    atomic_fetch_add_explicit(&frees, 1, memory_order_relaxed);
}

void *mxci_alloc(size_t bytes) {
    return may_allocate(bytes) ? counted(malloc(bytes ? bytes : 1)) : NULL;
}

void *mxci_calloc(size_t count, size_t bytes) {
    size_t total = mxci_size_mul(count, bytes);
    void *block;
    if (!may_allocate(total))
        return NULL;
    if (total > CLEARED_HERE)
        return counted(calloc(1, total));
    block = counted(malloc(total ? total : 1));
    return block ? memset(block, 0, total) : NULL;
}

void *mxci_realloc(void *block, size_t bytes) {
    void *moved;
    if (!may_allocate(bytes))
        return NULL;
    moved = counted(realloc(block, bytes ? bytes : 1));
    if (moved && block)
        count_free();
    return moved;
}

void *mxci_realloc_array(void *block, size_t count, size_t bytes) {
    return mxci_realloc(block, mxci_size_mul(count, bytes));
}

void mxci_free(void *block) {
    if (!block)
        return;
    count_free();
    free(block);
}

/* ---- released objects -------------------------------------------------------------------------------------------- */

#ifdef MXCI_CHECKS
enum { RELEASED_BITS = 12 };

/* Quarantine: objects whose memory is kept after their release, each in the slot that its address hashes to, until
 * another object needs that slot. While it is kept no other block has the address, so a pointer that is found here is a
 * stale handle. */
static _Atomic(void *) released[1 << RELEASED_BITS];

static _Atomic(void *) *released_slot(const void *object) {
    return &released[(uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RELEASED_BITS)];
}

void mxci_free_object(void *object) {
    if (!object)
        return;
    count_free();
    mxci_memory_usable(object, 0, malloc_usable_size(object));
    object = atomic_exchange(released_slot(object), object);
    if (object)
        mxci_memory_usable(object, malloc_usable_size(object), malloc_usable_size(object));
    free(object);
}

int mxci_is_released(const void *object) {
    return object && atomic_load(released_slot(object)) == object;
}

int mxci_may_release(const void *object, const char *function) {
    if (!mxci_is_released(object))
        return object != NULL;
    mxci_log(MXC_LOG_ERROR, "%s: the object has already been released", function);
    return 0;
}
#else
void mxci_free_object(void *object) {
    mxci_free(object);
}
#endif

char *mxci_strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = mxci_alloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* ---- large blocks ------------------------------------------------------------------------------------------------ */

static size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* mmap aligns to 4 KiB only, and the kernel uses a huge page only for a whole aligned 2 MiB. So: map bytes (whole
 * pages) at a multiple of 2 MiB: map 2 MiB more and unmap what is before and after. */
static void *map_aligned(size_t bytes) {
    char *start, *aligned, *end;
    start = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    end = start + bytes + HUGE_PAGE;
    aligned = start + (round_up((uintptr_t)start, HUGE_PAGE) - (uintptr_t)start);
    if (aligned > start)
        munmap(start, (size_t)(aligned - start));
    if (end > aligned + bytes)
        munmap(aligned + bytes, (size_t)(end - (aligned + bytes)));
    madvise(aligned, bytes, MADV_HUGEPAGE); /* advice only: an error where the kernel has no huge pages */
    return aligned;
}

void *mxci_pages_alloc(size_t bytes) {
    if (bytes > PTRDIFF_MAX - 2 * HUGE_PAGE || !may_allocate(bytes))
        return NULL;
    if (bytes >= HUGE_PAGE)
        return counted(map_aligned(round_up(bytes, PAGE)));
    return counted(aligned_alloc(ALIGNMENT, round_up(bytes ? bytes : 1, ALIGNMENT)));
}

void mxci_pages_free(void *block, size_t bytes) {
    if (!block)
        return;
    count_free();
    if (bytes < HUGE_PAGE) {
        free(block);
        return;
    }
    MXCI_ASSERT((uintptr_t)block % HUGE_PAGE == 0);
    munmap(block, round_up(bytes, PAGE));
}

void mxci_memory_usable(void *block, size_t bytes, size_t room) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(block, bytes);
    __asan_poison_memory_region((char *)block + bytes, room - bytes);
#endif
    (void)block, (void)bytes, (void)room;
}

/* ---- for tests --------------------------------------------------------------------------------------------------- */

void mxci_test_fail_alloc(int64_t fail_at, int sticky) {
    mxci_inject_set(&injector, fail_at, sticky);
}

int64_t mxci_alloc_count(void) {
    return atomic_load(&allocations);
}

int64_t mxci_alloc_live(void) {
    int64_t freed = atomic_load(&frees); /* read first, so that the difference is never below 0 */
    return atomic_load(&allocations) - freed;
}
