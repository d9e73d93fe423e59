/* SPDX-License-Identifier: Apache-2.0 */
/* mxc im2rec: packs the images of a list into a record file. Threads make the records of a chunk of the list, which
 * are then written in its order, so the file is the same for any number of threads. Images that cannot be read are
 * reported and left out. */
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxc/image.h>
#include <mxc/ndarray.h>
#include <mxc/recordio.h>

#include "im2rec.h"
#include "mxc.h"

enum { JOBS_PER_THREAD = 32, MAX_THREADS = 256, MAX_LABELS = 1024, MESSAGE = 1024, BAR = 50 };

/* A line of the list, and its record; NULL if it failed, with the reason in message. */
typedef struct job {
    char *line;
    uint64_t id;
    void *record;
    size_t bytes;
    char message[MESSAGE];
} job;

typedef struct chunk {
    const im2rec_options *o;
    job *jobs;
    int n;
    atomic_int next;
} chunk;

/* ---- one image --------------------------------------------------------------------------------------------------- */

static int refuse(job *j, const char *path, const char *why) {
    snprintf(j->message, sizeof j->message, "%.400s: %.500s", path, why);
    return 0;
}

static int check(job *j, const char *path, mxc_status status) {
    return status == MXC_OK ? 1 : refuse(j, path, mxc_last_error());
}

/* Reads a file into a new block; NULL if it cannot be read. */
static void *read_file(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    void *bytes = size >= 0 && size < 1L << 29 ? malloc((size_t)size + 1) : NULL;
    if (bytes && (fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, (size_t)size, file) != (size_t)size)) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    *n = (size_t)size;
    return bytes;
}

static int resize(job *j, const im2rec_options *o, const char *path, mxc_image *image) {
    int64_t shorter = image->height < image->width ? image->height : image->width;
    mxc_image out;
    if (!o->resize || shorter == o->resize)
        return 1;
    if (!check(j, path,
               mxc_image_resize(image, image->height * o->resize / shorter, image->width * o->resize / shorter,
                                o->inter_method, &out)))
        return 0;
    mxc_image_free(image);
    *image = out;
    return 1;
}

/* Crop to the centred square, in place. */
static void crop(mxc_image *image) {
    int64_t side = image->height < image->width ? image->height : image->width, c = image->channels;
    int64_t top = (image->height - side) / 2, left = (image->width - side) / 2;
    for (int64_t y = 0; y < side; y++)
        memmove(image->pixels + y * side * c, image->pixels + ((top + y) * image->width + left) * c,
                (size_t)(side * c));
    image->height = image->width = side;
}

static int encode(job *j, const im2rec_options *o, const char *path, const mxc_image *image, void **out, size_t *n) {
    return check(j, path,
                 strcmp(o->encoding, ".png") == 0 ? mxc_image_encode_png(image, out, n)
                                                  : mxc_image_encode_jpeg(image, o->quality, out, n));
}

/* Decode, resize, crop and encode an image as the options say; the caller frees *out with mxc_free. */
static int convert(job *j, const im2rec_options *o, const char *path, const void *bytes, size_t size, void **out,
                   size_t *n) {
    mxc_image image;
    int channels = o->color > 0 ? 3 : o->color == 0 ? 1 : 0;
    if (!check(j, path,
               o->orient ? mxc_image_decode(path, bytes, size, channels, 0, &image)
                         : mxc_image_decode_stored(path, bytes, size, channels, 0, &image)))
        return 0;
    int ok = resize(j, o, path, &image);
    if (ok && o->center_crop)
        crop(&image);
    ok = ok && encode(j, o, path, &image, out, n);
    mxc_image_free(&image);
    return ok;
}

static void make_record(job *j, const char *path, int n_labels, const float *labels, const void *image, size_t n) {
    const mxc_image_record record = {j->id, 0, n_labels, labels, image, n};
    j->bytes = mxc_image_record_size(n_labels, n);
    j->record = malloc(j->bytes);
    if (j->record)
        mxc_image_record_write(&record, j->record);
    else
        refuse(j, path, "no memory");
}

/* id TAB labels TAB path; returns the path, NULL if it is no such line. */
static const char *parse_line(job *j, float *labels, int *n_labels) {
    char *last = strrchr(j->line, '\t'), *at, *end;
    *n_labels = 0;
    if (!last)
        return NULL;
    j->id = strtoull(j->line, &at, 10);
    for (; at < last && *at == '\t' && *n_labels < MAX_LABELS; at = end) {
        labels[*n_labels] = strtof(at + 1, &end);
        if (end == at + 1)
            return NULL;
        *n_labels += 1;
    }
    return at == last && *n_labels > 0 ? last + 1 : NULL;
}

static void run_job(const im2rec_options *o, job *j) {
    float labels[MAX_LABELS];
    char path[2 * IM2REC_PATH];
    int n_labels;
    size_t size, n;
    const char *name = parse_line(j, labels, &n_labels);
    if (!name || snprintf(path, sizeof path, "%s/%s", o->root, name) >= (int)sizeof path) {
        refuse(j, j->line, "expected an id, labels and a path, with tabs between");
        return;
    }
    void *bytes = read_file(path, &size), *image = NULL;
    if (!bytes)
        refuse(j, path, "cannot be read");
    else if (o->pass_through)
        make_record(j, path, o->pack_label ? n_labels : 1, labels, bytes, size);
    else if (convert(j, o, path, bytes, size, &image, &n))
        make_record(j, path, o->pack_label ? n_labels : 1, labels, image, n);
    mxc_free(image);
    free(bytes);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void *work(void *arg) {
    chunk *s = arg;
    for (int i; (i = atomic_fetch_add(&s->next, 1)) < s->n;)
        run_job(s->o, &s->jobs[i]);
    return NULL;
}

/* This thread works too; if no further thread can be started, the run is only slower. */
static void run_chunk(chunk *s) {
    pthread_t threads[MAX_THREADS];
    int n = 0;
    atomic_store(&s->next, 0);
    while (n < s->o->threads - 1 && pthread_create(&threads[n], NULL, work, s) == 0)
        n++;
    work(s);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

static int read_chunk(FILE *list, chunk *s) {
    size_t room;
    ssize_t n;
    for (s->n = 0; s->n<JOBS_PER_THREAD * s->o->threads; s->n += n> 0) {
        job *j = &s->jobs[s->n];
        *j = (job){0};
        room = 0;
        if ((n = getline(&j->line, &room, list)) < 0) {
            free(j->line);
            break;
        }
        while (n > 0 && (j->line[n - 1] == '\n' || j->line[n - 1] == '\r'))
            j->line[--n] = '\0';
        if (n == 0)
            free(j->line);
    }
    return s->n > 0;
}

static int write_chunk(chunk *s, mxc_record_writer *writer, long long *done, long long *left_out) {
    mxc_status status = MXC_OK;
    for (int i = 0; i < s->n; i++) {
        job *j = &s->jobs[i];
        if (!j->record) {
            fprintf(stderr, "%smxc: %s\n", isatty(2) ? "\r\033[K" : "", j->message); /* over the bar */
            *left_out += 1;
        } else if (status == MXC_OK) {
            status = mxc_record_writer_write(writer, j->id, j->record, j->bytes);
            *done += 1;
        }
        free(j->record);
        free(j->line);
    }
    return status == MXC_OK;
}

/* Draw the progress bar over the previous one, by one write. */
static void show(long long done, long long all) {
    const int length = done < all ? (int)(done * BAR / all) : BAR; /* the list may have grown since it was counted */
    char bar[BAR];
    memset(bar, ' ', BAR);
    memset(bar, '#', (size_t)length);
    fprintf(stderr, "\r[%.*s] %lld of %lld", BAR, bar, done, all);
}

/* Number of lines that are not empty. Rewinds the list. */
static long long count_lines(FILE *list) {
    long long n = 0;
    for (int c, before = '\n'; (c = fgetc(list)) != EOF; before = c)
        n += before == '\n' && c != '\n' && c != '\r';
    rewind(list);
    return n;
}

static int pack_list(const im2rec_options *o, const char *stem, FILE *list, mxc_record_writer *writer) {
    long long done = 0, left_out = 0, all = isatty(2) ? count_lines(list) : 0;
    chunk s = {.o = o, .jobs = calloc((size_t)(JOBS_PER_THREAD * o->threads), sizeof(job))};
    int ok = s.jobs != NULL;
    while (ok && read_chunk(list, &s)) {
        run_chunk(&s);
        ok = write_chunk(&s, writer, &done, &left_out);
        if (isatty(2))
            show(done + left_out, all);
    }
    free(s.jobs);
    if (isatty(2))
        fprintf(stderr, "\n");
    if (!ok) {
        mxc_record_writer_abandon(writer);
    } else if (mxc_record_writer_close(writer) == MXC_OK) {
        printf("%s.rec: %lld images, %lld left out\n", stem, done, left_out);
        return left_out ? MXC_EXIT_FAILED : 0;
    }
    fprintf(stderr, "mxc: %s\n", mxc_last_error());
    return MXC_EXIT_FAILED;
}

/* STEM.lst to STEM.rec and STEM.idx. */
static int pack(const im2rec_options *o, const char *stem) {
    char path[IM2REC_PATH], index[IM2REC_PATH];
    mxc_record_writer *writer;
    snprintf(path, sizeof path, "%s.lst", stem);
    FILE *list = fopen(path, "r");
    if (!list) {
        fprintf(stderr, "mxc: cannot read %s: make it with --list\n", path);
        return MXC_EXIT_FAILED;
    }
    snprintf(path, sizeof path, "%s.rec", stem);
    snprintf(index, sizeof index, "%s.idx", stem);
    int result = MXC_EXIT_FAILED;
    if (mxc_record_writer_open(path, index, &writer) == MXC_OK)
        result = pack_list(o, stem, list, writer);
    else
        fprintf(stderr, "mxc: %s\n", mxc_last_error());
    fclose(list);
    return result;
}

/* Packs all lists, also if one fails. */
int im2rec_pack(const im2rec_options *o) {
    char pattern[IM2REC_PATH];
    glob_t lists;
    int result = 0;
    snprintf(pattern, sizeof pattern, "%s.lst", o->prefix);
    if (access(pattern, F_OK) == 0)
        return pack(o, o->prefix);
    snprintf(pattern, sizeof pattern, "%s_*.lst", o->prefix);
    if (glob(pattern, 0, NULL, &lists) != 0)
        return pack(o, o->prefix); /* which reports that there is none */
    for (size_t i = 0; i < lists.gl_pathc; i++) {
        lists.gl_pathv[i][strlen(lists.gl_pathv[i]) - 4] = '\0';
        if (pack(o, lists.gl_pathv[i]) != 0)
            result = MXC_EXIT_FAILED;
    }
    globfree(&lists);
    return result;
}
