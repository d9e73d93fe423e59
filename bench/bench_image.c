/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image records into batches, images a second of processor time: decode, random crop 224, mirror, normalise, from JPEGs
 * of 480 pixels a side made here, beside libturbojpeg alone on the same bytes. Then with what training usually asks for
 * besides. For bench/peers/images.py, which compares with other libraries on the same file:
 *     bench_image --make FILE     only writes the record file
 *     bench_image --once FILE     measures once, on that file; prints "name<TAB>images/CPU<TAB>images/s"
 */
#include <dlfcn.h>

#include <mxc/io.h>

#include "images.h"

enum { BATCH = 32, AHEAD = 4 };

static struct {
    unsigned char *bytes;
    size_t n;
} jpeg[IMAGES_N];

/* The images of a file that was made here, for the decoder alone. Returns how many bytes they have. */
static size_t load_file(const char *path) {
    mxc_record_reader *reader;
    mxc_record record;
    mxc_image_record image;
    size_t sum = 0;
    measure_check(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    for (int i = 0; i < IMAGES_N; i++) {
        measure_check(mxc_record_reader_next(reader, &record));
        measure_check(mxc_image_record_read(record.data, record.bytes, &image));
        sum += jpeg[i].n = image.image_bytes;
        jpeg[i].bytes = malloc(jpeg[i].n);
        if (!jpeg[i].bytes)
            measure_fail("no memory");
        memcpy(jpeg[i].bytes, image.image, jpeg[i].n);
    }
    mxc_record_reader_close(reader);
    return sum;
}

/* ---- libturbojpeg ------------------------------------------------------------------------------------------------ */

/* Looked for when run, since the library may have been built without it. */
typedef struct turbojpeg {
    void *(*open)(void);
    int (*decode)(void *handle, const unsigned char *bytes, unsigned long n, unsigned char *out, int width, int pitch,
                  int height, int format, int flags);
    void *handle;
} turbojpeg;

static turbojpeg turbojpeg_open(void) {
    turbojpeg t = {NULL, NULL, NULL};
    void *library = dlopen("libturbojpeg.so.0", RTLD_NOW);
    if (library) {
        *(void **)&t.open = dlsym(library, "tjInitDecompress");
        *(void **)&t.decode = dlsym(library, "tjDecompress2");
    }
    if (t.open && t.decode)
        t.handle = t.open();
    return t;
}

/* ---- rates ------------------------------------------------------------------------------------------------------- */

static double decode_all(const turbojpeg *t, int times) {
    enum { SIDE = IMAGES_SIDE, RGB = 0, ACCURATE_DCT = 4096 }; /* as the library decodes */
    static uint8_t pixels[SIDE * SIDE * 3];
    const int n = times * IMAGES_N;
    double begin = measure_processor_time();
    for (int i = 0; i < n; i++)
        if (t->decode(t->handle, jpeg[i % IMAGES_N].bytes, jpeg[i % IMAGES_N].n, pixels, SIDE, 0, SIDE, RGB,
                      ACCURATE_DCT) != 0)
            measure_fail("libturbojpeg does not decode");
    return n / (measure_processor_time() - begin);
}

typedef struct row {
    const char *name, *threads;
    const char *keys[6], *values[6];
    mxc_iter *iter;
} row;

static void open_row(row *r, const char *path) {
    const char *keys[16] = {"path_imgrec", "data_shape", "batch_size", "shuffle", "preprocess_threads"};
    const char *values[16] = {path, "(3,224,224)", "32", "1", r->threads};
    int n = 5;
    for (int i = 0; i < 6 && r->keys[i]; i++, n++) {
        keys[n] = r->keys[i];
        values[n] = r->values[i];
    }
    measure_check(mxc_iter_create("ImageRecordIter", n, keys, values, &r->iter));
}

static void take_batches(const row *r, int n) {
    mxc_batch batch;
    for (int i = 0; i < n;) {
        measure_check(mxc_iter_next(r->iter, &batch));
        if (batch.n_data)
            i++;
        else
            measure_check(mxc_iter_reset(r->iter));
    }
}

/* The ring is about as full at the end as at the beginning. */
static void measure(row *r, const char *path, int n, double *per_processor, double *wall) {
    open_row(r, path);
    take_batches(r, 2 + AHEAD); /* threads and memory are there */
    double begin = measure_processor_time();
    int64_t wall_begin = mxci_now_ns();
    take_batches(r, n);
    *per_processor = n * BATCH / (measure_processor_time() - begin);
    *wall = n * BATCH / (1e-9 * (double)(mxci_now_ns() - wall_begin));
    mxc_iter_destroy(r->iter);
}

#define NORMALISE .keys = {"rand_crop", "rand_mirror", "mean_r", "std_r"}, .values = {"1", "1", "123.68", "58.4"}
static row rows[] = {
    {"crop, mirror, normalise, 1 thread", "1", NORMALISE},
    {"the same, 2 threads", "2", NORMALISE},
    {"resize 256, crop, mirror, 1 thread", "1", .keys = {"resize", "rand_crop", "rand_mirror"},
     .values = {"256", "1", "1"}},
    {"random share of the area, mirror, 1 thread", "1",
     .keys = {"random_resized_crop", "min_random_area", "min_aspect_ratio", "max_aspect_ratio", "rand_mirror"},
     .values = {"1", "0.08", "0.75", "1.333", "1"}},
    {"crop, colours (jitter, HSL), 1 thread", "1",
     .keys = {"rand_crop", "random_h", "random_l", "brightness", "contrast", "saturation"},
     .values = {"1", "36", "50", "0.4", "0.4", "0.4"}},
    {"crop, uint8, 1 thread", "1", .keys = {"rand_crop", "dtype"}, .values = {"1", "uint8"}},
};
enum { ROWS = sizeof rows / sizeof rows[0], ROWS_BEIMAGES_SIDE_PEERS = 2, MOST_ROUNDS = 16 };

static const char alone_name[] = "libturbojpeg alone, 1 thread";

/* All in turn, again and again: what slows the machine slows all. */
static void run(const turbojpeg *t, const char *path, int rounds, int batches) {
    static double alone[MOST_ROUNDS], rates[ROWS][MOST_ROUNDS], walls[ROWS][MOST_ROUNDS];
    for (int k = 0; k < rounds; k++) {
        alone[k] = decode_all(t, 2);
        for (int i = 0; i < ROWS; i++)
            measure(&rows[i], path, batches, &rates[i][k], &walls[i][k]);
    }
    double decoder = measure_quantile(alone, rounds, 0.5);
    printf("%-44s %10s %8s %10s\n", "", "images/CPU", "of alone", "images/s");
    printf("%-44s %10.0f\n", alone_name, decoder);
    for (int i = 0; i < ROWS; i++) {
        double rate = measure_quantile(rates[i], rounds, 0.5);
        printf("%-44s %10.0f %8.2f %10.0f\n", rows[i].name, rate, rate / decoder,
               measure_quantile(walls[i], rounds, 0.5));
    }
}

static void run_once(const turbojpeg *t, const char *path, int batches) {
    double rate = decode_all(t, 2), wall;
    printf("%s\t%g\t%g\n", alone_name, rate, rate);
    for (int i = 0; i < ROWS_BEIMAGES_SIDE_PEERS; i++) {
        measure(&rows[i], path, batches, &rate, &wall);
        printf("%s\t%g\t%g\n", rows[i].name, rate, wall);
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int usage(void) {
    fprintf(stderr, "usage: bench_image [--quick | --make FILE | --once FILE]\n");
    return 2;
}

static void measure_own_file(const turbojpeg *t, int quick) {
    char path[256];
    measure_file(path, sizeof path);
    images_make(path);
    printf("%d JPEGs of %d x %d pixels, ", IMAGES_N, IMAGES_SIDE, IMAGES_SIDE);
    printf("%.0f KB each\n\n", (double)load_file(path) / IMAGES_N / 1e3);
    run(t, path, quick ? 1 : 7, quick ? 2 : 8);
    unlink(path);
}

int main(int argc, char **argv) {
    const turbojpeg t = turbojpeg_open();
    if (!t.handle) {
        printf("there is no libturbojpeg.so.0: nothing to measure\n");
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--make") == 0) {
        images_make(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "--once") == 0) {
        load_file(argv[2]);
        run_once(&t, argv[2], 8);
    } else if (argc == 1 || (argc == 2 && strcmp(argv[1], "--quick") == 0)) {
        measure_own_file(&t, argc == 2);
    } else {
        return usage();
    }
    for (int i = 0; i < IMAGES_N; i++)
        free(jpeg[i].bytes);
    return 0;
}
