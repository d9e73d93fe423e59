/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools beside malloc: nanoseconds to get one block and give it back.
 *
 * Warm: the same block again and again, not touched. Cold: blocks that the system has to provide, each of whose pages
 * is written once; then all go back to the system. The pool's cold blocks of 2 MiB and more lie in huge pages where
 * the system has them.
 */
#include <malloc.h>

#include <mxc/storage.h>

#include "measure.h"

enum { PAGE = 4096, MOST_BLOCKS = 512, COLD_BYTES = 64 << 20 };

static const size_t sizes[] = {64, 1000, 16 << 10, 256 << 10, 1 << 20, 4 << 20, 32 << 20};

typedef struct cell {
    size_t bytes;
    int blocks; /* cold: at a time */
} cell;

static void *from_pool(size_t bytes) {
    void *block;
    measure_check(mxc_storage_alloc(mxc_cpu(0), bytes, &block));
    return block;
}

/* Through a pointer that the compiler cannot see through, or it leaves malloc and free out. */
static void *from_malloc(size_t bytes) {
    static void *(*volatile get)(size_t) = malloc;
    void *block = get(bytes);
    if (!block)
        measure_fail("no memory");
    return block;
}

static void pool_warm(const mxc_run *run, void *arg) {
    const cell *c = arg;
    (void)run;
    mxc_storage_free(mxc_cpu(0), from_pool(c->bytes), c->bytes);
}

static void malloc_warm(const mxc_run *run, void *arg) {
    (void)run;
    free(from_malloc(((const cell *)arg)->bytes));
}

static void touch(void *block, size_t bytes) {
    volatile char *b = block;
    for (size_t i = 0; i < bytes; i += PAGE)
        b[i] = 1;
}

static void pool_cold(const mxc_run *run, void *arg) {
    const cell *c = arg;
    void *blocks[MOST_BLOCKS];
    (void)run;
    for (int i = 0; i < c->blocks; i++)
        touch(blocks[i] = from_pool(c->bytes), c->bytes);
    for (int i = 0; i < c->blocks; i++)
        mxc_storage_free(mxc_cpu(0), blocks[i], c->bytes);
    measure_check(mxc_storage_trim(mxc_cpu(0), 0));
    malloc_trim(0); /* small blocks of the pool come from malloc */
}

static void malloc_cold(const mxc_run *run, void *arg) {
    const cell *c = arg;
    void *blocks[MOST_BLOCKS];
    (void)run;
    for (int i = 0; i < c->blocks; i++)
        touch(blocks[i] = from_malloc(c->bytes), c->bytes);
    for (int i = 0; i < c->blocks; i++)
        free(blocks[i]);
    malloc_trim(0);
}

static void print_row(size_t bytes, int quick) {
    int most = COLD_BYTES / (int)bytes;
    cell c = {bytes, most < MOST_BLOCKS ? most : MOST_BLOCKS};
    measure_case cases[4] = {
        {.call = pool_warm, .arg = &c},
        {.call = malloc_warm, .arg = &c},
        {.call = pool_cold, .arg = &c},
        {.call = malloc_cold, .arg = &c},
    };
    measure_in_turn(NULL, 2, cases, quick); /* apart: a cold case would take the blocks of a warm one */
    measure_in_turn(NULL, 2, cases + 2, quick);
    printf("%10zu  %10.0f %10.0f  %10.0f %10.0f\n", bytes, 1e9 * cases[0].seconds, 1e9 * cases[1].seconds,
           1e9 * cases[2].seconds / c.blocks, 1e9 * cases[3].seconds / c.blocks);
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    printf("%10s  %21s  %21s\n", "ns a block", "warm", "cold");
    printf("%10s  %10s %10s  %10s %10s\n", "bytes", "pool", "malloc", "pool", "malloc");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        print_row(sizes[i], quick);
    return 0;
}
