/*
 * Image records into batches, images a second of processor time: decode, random crop 224, mirror, normalise, from JPEGs
 * of 480 pixels a side made here, beside the decoder alone (libturbojpeg) on the same bytes. Then with what training
 * usually asks for besides.
 */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include <mxc/image.h>
#include <mxc/io.h>
#include <mxc/recordio.h>

#include "measure.h"
#include "operator/codec.h"

enum { SIDE = 480, IMAGES = 64, BATCH = 32, AHEAD = 4 };

static char path[256];
static void *jpeg[IMAGES];
static size_t jpeg_bytes[IMAGES];

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Edges, slopes and some noise, so that the files are as large as photographs'. */
static void draw(int number, uint8_t *out) {
    uint32_t noise = (uint32_t)number * 2654435761u + 1;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int c = 0; c < 3; c++) {
                double wave = sin(0.02 * (x + 3 * number) * (c + 1)) + cos(0.031 * y + 0.0001 * x * y);
                noise = noise * 1664525u + 1013904223u;
                double value = 128 + 45 * wave + ((x / 40 + y / 60) % 3) * 12 + (noise >> 24) / 12.0;
                *out++ = (uint8_t)fmin(255, fmax(0, value));
            }
}

static void make_images(void) {
    static uint8_t pixels[SIDE * SIDE * 3];
    mxc_record_writer *writer;
    size_t sum = 0;
    measure_check(mxc_record_writer_open(path, NULL, &writer));
    for (int i = 0; i < IMAGES; i++) {
        const mxc_image image = {SIDE, SIDE, 3, pixels};
        const float label = (float)i;
        draw(i, pixels);
        measure_check(mxc_image_encode_jpeg(&image, 90, &jpeg[i], &jpeg_bytes[i]));
        const mxc_image_record record = {(uint64_t)i, 0, 1, &label, jpeg[i], jpeg_bytes[i]};
        size_t bytes = mxc_image_record_size(1, jpeg_bytes[i]);
        void *data = malloc(bytes);
        if (!data)
            measure_fail("no memory");
        mxc_image_record_write(&record, data);
        measure_check(mxc_record_writer_write(writer, (uint64_t)i, data, bytes));
        free(data);
        sum += jpeg_bytes[i];
    }
    measure_check(mxc_record_writer_close(writer));
    printf("%d JPEGs of %d x %d pixels, %.0f KB each\n\n", IMAGES, SIDE, SIDE, (double)sum / IMAGES / 1e3);
}

/* ---- rates ------------------------------------------------------------------------------------------------------- */

/* Seconds of all threads of this program: what others run meanwhile does not count. */
static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double decode_all(void) {
    static uint8_t pixels[SIDE * SIDE * 3];
    double begin = processor_time();
    for (int i = 0; i < IMAGES; i++) {
        mxci_image image;
        measure_check(mxci_image_probe("bench", jpeg[i], jpeg_bytes[i], 1 << 20, &image));
        measure_check(mxci_image_decode(&image, MXCI_RGB, pixels));
    }
    return IMAGES / (processor_time() - begin);
}

typedef struct row {
    const char *name, *threads;
    const char *keys[6], *values[6];
    mxc_iter *iter;
} row;

static void open_row(row *r) {
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
static void measure(row *r, int n, double *per_processor, double *wall) {
    open_row(r);
    take_batches(r, 2 + AHEAD); /* threads and memory are there */
    double begin = processor_time();
    int64_t wall_begin = mxci_now_ns();
    take_batches(r, n);
    *per_processor = n * BATCH / (processor_time() - begin);
    *wall = n * BATCH / (1e-9 * (double)(mxci_now_ns() - wall_begin));
    mxc_iter_destroy(r->iter);
}

#define NORMALISE                                                                                                      \
    .keys = {"rand_crop", "rand_mirror", "mean_r", "std_r"}, .values = {"1", "1", "123.68", "58.4"}
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
enum { ROWS = sizeof rows / sizeof rows[0], MOST_ROUNDS = 16 };

/* All in turn, again and again: what slows the machine slows all. */
static void run(int rounds, int batches) {
    static double alone[MOST_ROUNDS], rates[ROWS][MOST_ROUNDS], walls[ROWS][MOST_ROUNDS];
    for (int k = 0; k < rounds; k++) {
        alone[k] = decode_all();
        for (int i = 0; i < ROWS; i++)
            measure(&rows[i], batches, &rates[i][k], &walls[i][k]);
    }
    double decoder = measure_quantile(alone, rounds, 0.5);
    printf("%-44s %10s %8s %10s\n", "", "images/CPU", "of alone", "images/s");
    printf("%-44s %10.0f\n", "decoder alone, 1 thread", decoder);
    for (int i = 0; i < ROWS; i++) {
        double rate = measure_quantile(rates[i], rounds, 0.5);
        printf("%-44s %10.0f %8.2f %10.0f\n", rows[i].name, rate, rate / decoder,
               measure_quantile(walls[i], rounds, 0.5));
    }
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    const char *base = getenv("TMPDIR");
    if (!mxci_jpeg_decoder) {
        printf("built without libturbojpeg: nothing to measure\n");
        return 0;
    }
    snprintf(path, sizeof path, "%s/mxc-bench-%d.rec", base && *base ? base : "/tmp", (int)getpid());
    make_images();
    run(quick ? 1 : 7, quick ? 2 : 16);
    unlink(path);
    for (int i = 0; i < IMAGES; i++)
        mxc_free(jpeg[i]);
    return 0;
}
