/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of input data. First record files, read one after another, beside read() and mmap of the
 * same file in the page cache, and from the disk. Then training: how long each step waits for its batch, while threads
 * decode the next ones.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include <mxc/mxc.h>
#include <mxc/recordio.h>

#include "images.h"
#include "nets.h"

enum { MIB = 1 << 20, WINDOW = 256 << 10, MAX_ROUNDS = 16 };

static volatile unsigned char sink;

/* ---- record files ------------------------------------------------------------------------------------------------ */

static void write_records(const char *path, int64_t n, size_t bytes) {
    mxc_record_writer *writer;
    unsigned char *data = malloc(bytes);
    uint32_t noise = 1;
    if (!data)
        measure_fail("no memory");
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)((noise = noise * 1664525u + 1013904223u) >> 24);
    measure_check(mxc_record_writer_open(path, NULL, &writer));
    for (int64_t i = 0; i < n; i++)
        measure_check(mxc_record_writer_write(writer, (uint64_t)i, data, bytes));
    measure_check(mxc_record_writer_close(writer));
    free(data);
}

static int open_file(const char *path, size_t *bytes) {
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        measure_fail("cannot open the file");
    *bytes = (size_t)lseek(fd, 0, SEEK_END);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void read_plainly(const char *path) {
    static unsigned char buffer[WINDOW];
    size_t bytes;
    int fd = open_file(path, &bytes);
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        sink = buffer[n - 1];
    close(fd);
}

static void read_mapped(const char *path) {
    size_t bytes;
    int fd = open_file(path, &bytes);
    const uint64_t *words = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    uint64_t sum = 0;
    if (words == MAP_FAILED)
        measure_fail("cannot map the file");
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        sum += words[i];
    sink = (unsigned char)sum;
    munmap((void *)(uintptr_t)words, bytes);
    close(fd);
}

static void read_records(const char *path) {
    mxc_record_reader *reader;
    mxc_record record;
    measure_check(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    do {
        measure_check(mxc_record_reader_next(reader, &record));
        sink = record.data ? ((const unsigned char *)record.data)[record.bytes - 1] : 0;
    } while (record.data);
    mxc_record_reader_close(reader);
}

typedef void (*way)(const char *path);
static const way ways[] = {read_plainly, read_mapped, read_records};
enum { PLAINLY, MAPPED, RECORDS, WAYS };

/* Drop the file from the page cache. */
static void drop_from_cache(const char *path) {
    size_t bytes;
    int fd = open_file(path, &bytes);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* Processor time in seconds; from the disk, wall-clock time. */
static double time_way(way go, const char *path, int from_disk) {
    if (from_disk)
        drop_from_cache(path);
    double cpu = measure_processor_time();
    int64_t begin = mxci_now_ns();
    go(path);
    return from_disk ? 1e-9 * (double)(mxci_now_ns() - begin) : measure_processor_time() - cpu;
}

static void compare_ways(const char *path, const char *name, size_t file, int64_t n, int from_disk, int rounds) {
    double times[WAYS][MAX_ROUNDS], rate[WAYS];
    for (int k = 0; k < rounds; k++)
        for (int w = 0; w < WAYS; w++)
            times[w][k] = time_way(ways[w], path, from_disk);
    for (int w = 0; w < WAYS; w++)
        rate[w] = (double)file / 1e9 / measure_quantile(times[w], rounds, 0.5);
    printf("%-36s %8.2f %8.2f %8.2f %8.2f %8.2f %12.0f\n", name, rate[PLAINLY], rate[MAPPED], rate[RECORDS],
           rate[RECORDS] / rate[PLAINLY], rate[RECORDS] / rate[MAPPED], (double)n / times[RECORDS][rounds / 2]);
}

static void measure_records(const char *path, int quick) {
    static const size_t sizes[] = {100, 1000, 10000, 100000, 1000000};
    const size_t file = (quick ? 4 : 128) * (size_t)MIB;
    char name[64];
    printf("%-36s %8s %8s %8s %8s %8s %12s\n", "GB/s, medians", "read()", "mmap", "records", "of read", "of mmap",
           "records/s");
    for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++) {
        const int64_t n = (int64_t)(file / sizes[i]) + 1;
        write_records(path, n, sizes[i]);
        snprintf(name, sizeof name, "page cache, records of %zu bytes", sizes[i]);
        compare_ways(path, name, file, n, 0, quick ? 1 : 9);
        snprintf(name, sizeof name, "disk, records of %zu bytes", sizes[i]);
        if (sizes[i] == 100000)
            compare_ways(path, name, file, n, 1, quick ? 1 : 5);
        unlink(path);
    }
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

enum { MAX_STEPS = 400 };

/* An iterator that returns the batches of another one and records how long each took. */
typedef struct stopwatch {
    mxc_iter *inner;
    int warm; /* steps that do not count */
    int64_t begin;
    int n;
    double waits[MAX_STEPS], steps[MAX_STEPS]; /* seconds; of steps from batch to batch */
} stopwatch;

static int watch_n_data(void *self) {
    return mxc_iter_n_data(((stopwatch *)self)->inner);
}

static int watch_n_label(void *self) {
    return mxc_iter_n_label(((stopwatch *)self)->inner);
}

static const mxc_data_desc *watch_desc(void *self, int index) {
    return mxc_iter_desc(((stopwatch *)self)->inner, index);
}

static mxc_status watch_next(void *self, mxc_batch *out) {
    stopwatch *s = self;
    int64_t begin = mxci_now_ns();
    mxc_status status = mxc_iter_next(s->inner, out);
    int64_t now = mxci_now_ns();
    if (status == MXC_OK && out->n_data && s->n < MAX_STEPS) {
        s->waits[s->n] = 1e-9 * (double)(now - begin);
        s->steps[s->n++] = 1e-9 * (double)(now - s->begin);
        s->begin = now;
    }
    return status;
}

static mxc_status watch_reset(void *self) {
    return mxc_iter_reset(((stopwatch *)self)->inner);
}

static mxc_status watch_get_state(void *self, mxc_iter_state *out) {
    return mxc_iter_get_state(((stopwatch *)self)->inner, out);
}

static mxc_status watch_set_state(void *self, const mxc_iter_state *state) {
    return mxc_iter_set_state(((stopwatch *)self)->inner, state);
}

static void watch_destroy(void *self) {
    mxc_iter_destroy(((stopwatch *)self)->inner);
}

static const mxc_iter_methods watch_methods = {
    sizeof watch_methods, watch_n_data,    watch_n_label,   watch_desc,    watch_next,
    watch_reset,          watch_get_state, watch_set_state, watch_destroy,
};

static mxc_iter *open_images(const char *path) {
    const char *keys[] = {
        "path_imgrec", "data_shape", "batch_size", "shuffle", "rand_crop", "rand_mirror", "std_r", "preprocess_threads",
    };
    const char *values[] = {path, "(3,64,64)", "32", "1", "1", "1", "58.4", "1"};
    mxc_iter *iter;
    measure_check(mxc_iter_create("ImageRecordIter", 8, keys, values, &iter));
    return iter;
}

/* Batches a second that the iterator gives if nothing else runs. */
static double rate_alone(const char *path, int warm, int batches) {
    mxc_iter *iter = open_images(path);
    mxc_batch batch;
    int64_t begin = 0;
    for (int i = -warm; i < batches; i++) {
        if (i == 0)
            begin = mxci_now_ns();
        measure_check(mxc_iter_next(iter, &batch));
        if (!batch.n_data)
            measure_check(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
    return batches / (1e-9 * (double)(mxci_now_ns() - begin));
}

static volatile int stop;

static mxc_status on_step(const mxc_fit_progress *progress, int epoch_end, void *user) {
    const int64_t *steps = user;
    (void)epoch_end;
    stop = progress->updates >= *steps;
    return MXC_OK;
}

static double sum_of(const double *values, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return sum;
}

static void print_waits(const char *name, stopwatch *s, double alone) {
    double *waits = s->waits + s->warm, *steps = s->steps + s->warm;
    const int n = s->n - s->warm;
    const double share = sum_of(waits, n) / sum_of(steps, n), median = measure_quantile(waits, n, 0.5);
    printf("%-28s %10.1f %10.1f %12.1f %12.1f %12.1f %9.2f%%\n", name, 1e3 / alone,
           1e3 * measure_quantile(steps, n, 0.5), 1e6 * median, 1e6 * waits[n * 9 / 10], 1e6 * waits[n - 1],
           100 * share);
}

static void measure_training(const char *path, const char *name, mxc_symbol *net, int warm, int64_t steps,
                             double alone) {
    stopwatch watch = {.inner = open_images(path), .warm = warm};
    mxc_fit_options options;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = net;
    options.epochs = 1000000;
    options.stop = &stop;
    options.callback = on_step;
    steps += warm;
    options.user = &steps;
    stop = 0;
    measure_check(mxc_iter_from_methods(&watch_methods, &watch, &options.train));
    measure_check(mxc_fit(&options, NULL, NULL));
    mxc_iter_destroy(options.train);
    mxc_symbol_release(net);
    print_waits(name, &watch, alone);
}

static void measure_waits(const char *path, int quick) {
    const int warm = quick ? 1 : 10;
    images_make(path);
    double alone = rate_alone(path, warm, quick ? 2 : 40);
    printf("\n%-28s %10s %10s %12s %12s %12s %10s\n", "batch 32, crops of 64 of 480", "decode ms", "step ms",
           "wait us p50", "p90", "most", "of a step");
    measure_training(path, "residual net of 20 layers", nets_resnet20(), warm, quick ? 1 : 30, alone);
    measure_training(path, "MLP: faster than its data", nets_mlp(64, 64, 64), warm, quick ? 1 : 50, alone);
    unlink(path);
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    char path[256];
    measure_file(path, sizeof path);
    measure_records(path, quick);
    measure_waits(path, quick);
    return 0;
}
