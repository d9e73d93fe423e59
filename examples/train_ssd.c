/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a single-shot detector (Liu et al. 2016, "SSD: Single Shot MultiBox Detector") on record files of images with
 * labelled boxes, prints its mean average precision on test images, and draws what it detects into them.
 *
 *     train_ssd TRAIN.rec TEST.rec --classes FILE [--size 256] [--batch-size 8] [--epochs 60] [--lr 0.002]
 *               [--checkpoint PREFIX [--resume]] [--curve FILE.svg] [--draw DIRECTORY]
 *     train_ssd --shapes DIRECTORY [...]
 *
 * "mxc im2rec --voc" makes such files. The second form writes a small set of drawn shapes to a directory and trains on
 * it. Letters in the comments: N images of a batch, C classes without the background, A anchor boxes of an image, M the
 * largest number of objects in an image.
 *
 * Exit status: 0 trained, 1 failed, 2 wrong options, 128 + signal number if stopped by SIGINT or SIGTERM.
 */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include <mxc/recordio.h>

#include "draw_boxes.h"
#include "model.h"
#include "training.h"

enum { TEXT = 1024, BOX = 6 };

typedef struct settings {
    int64_t size, batch_size, epochs, seed, draw_count;
    double lr, threshold;
    int32_t resume, overwrite;
    char classes[TEXT], shapes[TEXT], device[64], checkpoint[TEXT], curve[TEXT], draw[TEXT];
} settings;

static const mxc_param schema[] = {
    TEXT_OPTION("classes", classes, "", "file with the name of one class per line, such as mxc im2rec --voc writes"),
    TEXT_OPTION("shapes", shapes, "", "directory that a set of drawn shapes is written to, to train on"),
    INTEGER_OPTION("size", size, "256", 32, 2048, "height and width that images are resized to"),
    INTEGER_OPTION("batch-size", batch_size, "8", 1, 4096, "number of images per step"),
    INTEGER_OPTION("epochs", epochs, "60", 1, 1e6, "number of passes over the images"),
    RATE_OPTION("0.002", "learning rate of Adam, which falls to 0 along a cosine"),
    INTEGER_OPTION("seed", seed, "1", 0, 1e9, "seed of the initial weights, of the order of images, and of the shapes"),
    TEXT_OPTION("device", device, "cpu(0)", "device to train on, such as gpu(0)"),
    TEXT_OPTION("checkpoint", checkpoint, "",
                "prefix of the files that the model is saved to after each epoch; default: none"),
    SWITCH_OPTION("resume", resume, "continue from the checkpoint, if there is one"),
    SWITCH_OPTION("overwrite", overwrite, "replace an existing checkpoint of another training"),
    TEXT_OPTION("curve", curve, "", "SVG file for the learning curve, written after each epoch; default: none"),
    TEXT_OPTION("draw", draw, "", "directory for test images with the detected boxes, as PNG files; default: none"),
    INTEGER_OPTION("draw-count", draw_count, "10", 1, 1e6, "number of test images to draw"),
    FLOAT_OPTION("threshold", threshold, "0.4", 0, 1, "score from which on boxes are drawn"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_ssd",
    .words = "[TRAIN TEST]",
    .max_words = 2,
    .schema = schema,
    .about =
        "Trains a single-shot detector on two record files of images with labelled boxes, which need --classes, or\n"
        "on drawn shapes (--shapes), and prints its mean average precision.",
};

/* Bytes of an image become (byte - mean) * scale. */
static const int means[] = {123, 117, 104};
#define SCALE 0.017

static void make_directory(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        fail("cannot make the directory", path);
}

static void *allocate(size_t n, size_t size) {
    void *out = calloc(n + 1, size);
    if (!out)
        fail("no memory for", "a batch");
    return out;
}

/* ---- drawn shapes ------------------------------------------------------------------------------------------------ */

enum { FRAME = 5, SHAPE_SIDE = 96, MAX_SHAPES = 3, SHAPES_TRAIN = 256, SHAPES_TEST = 32 };

/* An image with up to three shapes that do not overlap, and its labels in the format of ImageDetRecordIter. */
typedef struct shapes {
    uint32_t random;
    uint8_t pixels[SHAPE_SIDE * SHAPE_SIDE * 3];
    float labels[2 + BOX * MAX_SHAPES];
    int n;
} shapes;

/* A random number from 0 to n - 1. */
static int random_below(shapes *s, int n) {
    s->random = s->random * 1664525u + 1013904223u;
    return (int)((s->random >> 8) % (unsigned)n);
}

/* Does a box overlap one that was drawn before? */
static int is_taken(const shapes *s, const float *box) {
    for (int i = 0; i < s->n; i++) {
        const float *other = s->labels + 2 + BOX * i + 1;
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])
            return 1;
    }
    return 0;
}

/* Draws a rectangular frame (class 0) or a disc (class 1) of a bright color, unless it would cover another shape. */
static void draw_shape(shapes *s) {
    const int cls = random_below(s, 2), width = 20 + random_below(s, 25), height = 20 + random_below(s, 25);
    const int left = random_below(s, SHAPE_SIDE - width), top = random_below(s, SHAPE_SIDE - height);
    const float side = SHAPE_SIDE;
    const float box[] = {(float)left / side, (float)top / side, (float)(left + width) / side,
                         (float)(top + height) / side};
    uint8_t bright[3];
    for (int i = 0; i < 3; i++)
        bright[i] = (uint8_t)(130 + random_below(s, 126));
    if (is_taken(s, box))
        return;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float across = (2 * (float)x + 1) / (float)width - 1, down = (2 * (float)y + 1) / (float)height - 1;
            const int inside = x >= FRAME && x < width - FRAME && y >= FRAME && y < height - FRAME;
            if (cls == 0 ? !inside : across * across + down * down <= 1)
                memcpy(s->pixels + ((top + y) * SHAPE_SIDE + left + x) * 3, bright, 3);
        }
    float *label = s->labels + 2 + BOX * s->n++;
    label[0] = (float)cls;
    memcpy(label + 1, box, sizeof box);
    label[5] = 0; /* not difficult */
}

static void write_shapes(shapes *s, const char *path, int n_images) {
    mxc_record_writer *writer;
    check(mxc_record_writer_open(path, NULL, &writer));
    for (int i = 0; i < n_images; i++) {
        mxc_image_record record = {.id = (uint64_t)i, .labels = s->labels};
        const mxc_image image = {SHAPE_SIDE, SHAPE_SIDE, 3, s->pixels};
        void *png;
        for (size_t k = 0; k < sizeof s->pixels; k++)
            s->pixels[k] = (uint8_t)random_below(s, 80);
        s->labels[0] = 2;
        s->labels[1] = BOX;
        s->n = 0;
        for (int k = 1 + random_below(s, MAX_SHAPES); k > 0; k--)
            draw_shape(s);
        check(mxc_image_encode_png(&image, &png, &record.image_bytes));
        record.image = png;
        record.n_labels = 2 + BOX * s->n;
        const size_t size = mxc_image_record_size(record.n_labels, record.image_bytes);
        void *bytes = allocate(size, 1);
        mxc_image_record_write(&record, bytes);
        check(mxc_record_writer_write(writer, record.id, bytes, size));
        free(bytes);
        mxc_free(png);
    }
    check(mxc_record_writer_close(writer));
}

/* Writes the set; the paths get room for TEXT + 32 bytes. */
static void make_shapes(settings *s, char *train, char *test) {
    static shapes all;
    const char *names = "frame\ndisc\n";
    all.random = (uint32_t)s->seed;
    make_directory(s->shapes);
    snprintf(train, TEXT + 32, "%s/train.rec", s->shapes);
    write_shapes(&all, train, SHAPES_TRAIN);
    snprintf(test, TEXT + 32, "%s/test.rec", s->shapes);
    write_shapes(&all, test, SHAPES_TEST);
    if (snprintf(s->classes, TEXT, "%s/classes.txt", s->shapes) >= TEXT)
        fail("the path is too long:", s->shapes);
    FILE *file = fopen(s->classes, "w");
    if (!file || fputs(names, file) == EOF || fclose(file) != 0)
        fail("cannot write", s->classes);
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Counts the images of a record file and checks the numbers of their classes. */
static int64_t count_images(const char *path, const class_names *known) {
    mxc_record_reader *reader;
    mxc_record record;
    mxc_image_record image;
    int64_t n = 0;
    check(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    for (check(mxc_record_reader_next(reader, &record)); record.data; n++) {
        check(mxc_image_record_read(record.data, record.bytes, &image));
        const float header = image.n_labels >= 2 ? mxc_image_record_label(&image, 0) : 0;
        const float width = image.n_labels >= 2 ? mxc_image_record_label(&image, 1) : 0;
        if (!(header >= 2 && header <= (float)image.n_labels && width >= 5 && width <= 1000))
            fail("expected images with labelled boxes in", path);
        for (int64_t i = (int64_t)header; i < image.n_labels; i += (int64_t)width) {
            const float cls = mxc_image_record_label(&image, i);
            if (cls >= 0 && cls < (float)known->n)
                continue;
            fprintf(stderr, "%s: %s: image %llu has an object of class %g, expected 0 to %lld (--classes)\n",
                    program.name, path, (unsigned long long)image.id, (double)cls, (long long)known->n - 1);
            exit(1);
        }
        check(mxc_record_reader_next(reader, &record));
    }
    mxc_record_reader_close(reader);
    if (n == 0)
        fail("there are no images in", path);
    return n;
}

/* An iterator over the batches of ImageDetRecordIter, with other labels: those have headers and as many values as the
 * file needs; the operators and the metric take an array (N,M,6) of class, left, top, right, bottom, and whether the
 * object is difficult, with -1 behind the last object. */
typedef struct boxes {
    mxc_iter *images;
    mxc_data_desc desc; /* of label */
    mxc_ndarray *label;
    int64_t n_rows, n_columns; /* of the label of images */
    float *rows, *objects;
} boxes;

static int boxes_n(void *self) {
    (void)self;
    return 1;
}

static const mxc_data_desc *boxes_desc(void *self, int index) {
    boxes *b = self;
    return index == 0 ? mxc_iter_desc(b->images, 0) : &b->desc;
}

/* row: channels, height, width, number n of values that follow: header, object, ..., of which the first two are the
 * numbers of values in the header and in an object. */
static void copy_objects(const float *row, float *out, int64_t room) {
    const int64_t n = (int64_t)row[3], header = (int64_t)row[4], width = (int64_t)row[5];
    for (int64_t i = 0; i < room * BOX; i++)
        out[i] = -1;
    for (int64_t at = header; at + width <= n && row[4 + at] >= 0; at += width, out += BOX) {
        memcpy(out, row + 4 + at, 5 * sizeof *out);
        out[5] = width > 5 ? row[4 + at + 5] : 0;
    }
}

static mxc_status boxes_next(void *self, mxc_batch *out) {
    boxes *b = self;
    const int64_t room = b->desc.shape.dim[1];
    MXC_TRY(mxc_iter_next(b->images, out));
    if (out->n_data == 0)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_get(out->label[0], b->rows, (size_t)(b->n_rows * b->n_columns) * sizeof *b->rows));
    for (int64_t i = 0; i < b->n_rows; i++)
        copy_objects(b->rows + i * b->n_columns, b->objects + i * room * BOX, room);
    out->label = &b->label;
    return mxc_ndarray_set(b->label, b->objects, (size_t)(b->n_rows * room * BOX) * sizeof *b->objects);
}

static mxc_status boxes_reset(void *self) {
    return mxc_iter_reset(((boxes *)self)->images);
}

static mxc_status boxes_get_state(void *self, mxc_iter_state *out) {
    return mxc_iter_get_state(((boxes *)self)->images, out);
}

static mxc_status boxes_set_state(void *self, const mxc_iter_state *state) {
    return mxc_iter_set_state(((boxes *)self)->images, state);
}

static void boxes_destroy(void *self) {
    boxes *b = self;
    mxc_iter_destroy(b->images);
    mxc_ndarray_release(b->label);
    free(b->rows);
    free(b->objects);
    free(b);
}

static const mxc_iter_methods boxes_methods = {
    .size = sizeof(mxc_iter_methods),
    .n_data = boxes_n,
    .n_label = boxes_n,
    .desc = boxes_desc,
    .next = boxes_next,
    .reset = boxes_reset,
    .get_state = boxes_get_state,
    .set_state = boxes_set_state,
    .destroy = boxes_destroy,
};

/* Takes the iterator. */
static mxc_iter *with_boxes_as_label(mxc_iter *images) {
    boxes *b = allocate(1, sizeof *b);
    const mxc_shape *label = &mxc_iter_desc(images, 1)->shape;
    mxc_iter *out;
    b->images = images;
    b->n_rows = label->dim[0];
    b->n_columns = label->dim[1];
    /* An object has at least 5 values, the header at least 2. */
    const int64_t room = b->n_columns >= 4 + 2 + 5 ? (b->n_columns - 4 - 2) / 5 : 1;
    b->desc = (mxc_data_desc){"label", {3, {b->n_rows, room, BOX}}, MXC_F32};
    b->rows = allocate((size_t)(b->n_rows * b->n_columns), sizeof *b->rows);
    b->objects = allocate((size_t)(b->n_rows * room * BOX), sizeof *b->objects);
    check(mxc_ndarray_create(3, b->desc.shape.dim, MXC_F32, mxc_cpu(0), &b->label));
    check(mxc_iter_from_methods(&boxes_methods, b, &out));
    return out;
}

/* Images for training are shuffled, mirrored and cropped at random; a crop keeps the objects whose centre it contains
 * and at least 70 % of one of them. Those for testing are only resized. Either way each epoch has all images once, and
 * an incomplete last batch is filled with the first ones. */
static mxc_iter *open_images(const settings *s, const char *path, int training) {
    char shape[64], batch[32], seed[32], mean[3][16], scale[32];
    const char *keys[] = {
        "path_imgrec",
        "data_shape",
        "batch_size",
        "round_batch",
        "mean_r",
        "mean_g",
        "mean_b",
        "scale",
        /* training */
        "shuffle",
        "seed",
        "rand_mirror_prob",
        "rand_crop_prob",
        "min_crop_scales",
        "min_crop_aspect_ratios",
        "max_crop_aspect_ratios",
        "min_crop_object_coverages",
        "max_random_illumination",
        "random_illumination_prob",
    };
    const char *values[] = {
        path, shape, batch, "False", mean[0], mean[1],  mean[2], scale, "True",
        seed, "0.5", "0.6", "(0.6)", "(0.8)", "(1.25)", "(0.7)", "24",  "0.5",
    };
    mxc_iter *iter;
    snprintf(shape, sizeof shape, "(3,%lld,%lld)", (long long)s->size, (long long)s->size);
    snprintf(batch, sizeof batch, "%lld", (long long)s->batch_size);
    snprintf(seed, sizeof seed, "%lld", (long long)s->seed);
    snprintf(scale, sizeof scale, "%g", SCALE);
    for (int i = 0; i < 3; i++)
        snprintf(mean[i], sizeof mean[i], "%d", means[i]);
    check(mxc_iter_create("ImageDetRecordIter", training ? 18 : 8, keys, values, &iter));
    return with_boxes_as_label(iter);
}

/* ---- network ----------------------------------------------------------------------------------------------------- */

/* Feature maps that boxes are predicted from, of a step of 8, 16, 32 and 64 pixels. Each position of a map has two
 * sizes of square anchors, as a fraction of the image, and two further aspect ratios of the first one. */
enum { MAPS = 4, ANCHORS = 4 };
static const char *const anchor_params[MAPS] = {
    "sizes=(0.07,0.1) ratios=(1,2,0.5)",
    "sizes=(0.16,0.22) ratios=(1,2,0.5)",
    "sizes=(0.3,0.42) ratios=(1,2,0.5)",
    "sizes=(0.55,0.75) ratios=(1,2,0.5)",
};
static const int map_channels[MAPS] = {64, 128, 128, 128};

#define VARIANCES "variances=(0.1,0.1,0.2,0.2)"

/* Convolution with a kernel of 3 x 3, batch normalisation and ReLU. */
static mxc_symbol *layer(mxc_symbol *in, const char *stage, char part, int channels, int stride) {
    char name[64], params[128];
    snprintf(name, sizeof name, "%s%c_conv", stage, part);
    snprintf(params, sizeof params, "kernel=(3,3) pad=(1,1) stride=(%d,%d) num_filter=%d no_bias=True", stride, stride,
             channels);
    in = op("Convolution", name, params, 1, &in);
    snprintf(name, sizeof name, "%s%c_bn", stage, part);
    in = op("BatchNorm", name, "fix_gamma=False", 1, &in);
    snprintf(name, sizeof name, "%s%c", stage, part);
    return op("Activation", name, "act_type=relu", 1, &in);
}

/* Halves height and width. */
static mxc_symbol *stage(mxc_symbol *in, const char *name, int channels) {
    return layer(layer(in, name, 'a', channels, 2), name, 'b', channels, 1);
}

/* The predictions of a map, count for each of its anchors: (N, height * width * ANCHORS * count), in the order of the
 * anchors of MultiBoxPrior. */
static mxc_symbol *predict_from_map(mxc_symbol *map, const char *what, int number, int64_t count) {
    char name[64], params[128];
    mxc_symbol *x = mxc_symbol_retain(map);
    snprintf(name, sizeof name, "map%d_%s", number, what);
    snprintf(params, sizeof params, "kernel=(3,3) pad=(1,1) num_filter=%lld", (long long)(ANCHORS * count));
    x = op("Convolution", name, params, 1, &x);
    snprintf(name, sizeof name, "map%d_%s_last", number, what);
    x = op("transpose", name, "axes=(0,2,3,1)", 1, &x);
    snprintf(name, sizeof name, "map%d_%s_row", number, what);
    return op("Flatten", name, "", 1, &x);
}

static mxc_symbol *anchors_of_map(mxc_symbol *map, int number) {
    char name[64];
    mxc_symbol *x = mxc_symbol_retain(map);
    snprintf(name, sizeof name, "map%d_anchors", number);
    return op("_contrib_MultiBoxPrior", name, anchor_params[number], 1, &x);
}

/* What the network computes from images. */
typedef struct heads {
    mxc_symbol *scores;  /* (N,C+1,A), class 0 is the background */
    mxc_symbol *offsets; /* (N,4*A) of the boxes from the anchors */
    mxc_symbol *anchors; /* (1,A,4) */
} heads;

static heads make_heads(int64_t n_classes) {
    mxc_symbol *scores[MAPS], *offsets[MAPS], *anchors[MAPS];
    mxc_symbol *x = stage(layer(variable("data"), "stage0", 'a', 16, 2), "stage1", 32);
    char name[32], shape[64];
    heads out;
    for (int i = 0; i < MAPS; i++) {
        snprintf(name, sizeof name, "stage%d", i + 2);
        x = stage(x, name, map_channels[i]);
        scores[i] = predict_from_map(x, "scores", i, n_classes + 1);
        offsets[i] = predict_from_map(x, "offsets", i, 4);
        anchors[i] = anchors_of_map(x, i);
    }
    mxc_symbol_release(x);
    snprintf(shape, sizeof shape, "shape=(0,-1,%lld)", (long long)n_classes + 1);
    out.scores = op("Concat", "score_rows", "dim=1", MAPS, scores);
    out.scores = op("Reshape", "scores_last", shape, 1, &out.scores);
    out.scores = op("transpose", "scores", "axes=(0,2,1)", 1, &out.scores);
    out.offsets = op("Concat", "offsets", "dim=1", MAPS, offsets);
    out.anchors = op("Concat", "anchors", "dim=1", MAPS, anchors);
    return out;
}

/* The boxes that are found, (N,A,6), without those that overlap a better one of their class; takes the symbols. */
static mxc_symbol *detections(mxc_symbol *probabilities, mxc_symbol *offsets, mxc_symbol *anchors) {
    mxc_symbol *in[] = {probabilities, offsets, anchors};
    return op("_contrib_MultiBoxDetection", "detections", "threshold=0.01 nms_threshold=0.45 nms_topk=400 " VARIANCES,
              3, in);
}

static mxc_symbol *output_of(mxc_symbol *symbol, int index) {
    mxc_symbol *out;
    check(mxc_symbol_output(symbol, index, &out));
    return out;
}

enum { PROBABILITIES, BOX_LOSS, CLASS_TARGETS, DETECTIONS, OUTPUTS };

/* Smooth L1 of the offsets where there is a target, divided by the number of positive elements. */
static mxc_symbol *box_loss(mxc_symbol *offsets, mxc_symbol *target, mxc_symbol *mask) {
    mxc_symbol *in[] = {offsets, target}, *masked[] = {mask, NULL};
    masked[1] = op("elemwise_sub", "offset_error", "", 2, in);
    masked[0] = op("elemwise_mul", "masked_error", "", 2, masked);
    masked[0] = op("smooth_l1", "smooth_error", "scalar=1", 1, masked);
    return op("MakeLoss", "box_loss", "normalization=valid", 1, masked);
}

/* The network with its losses. MultiBoxTarget assigns objects to anchors, and chooses of the others three times as many
 * as background, those that are mistaken most for objects; SoftmaxOutput ignores the rest, whose target is -1. The last
 * output has the detections, of which mxc_fit computes the metric. */
static mxc_symbol *make_training_network(int64_t n_classes) {
    const heads h = make_heads(n_classes);
    mxc_symbol *for_targets[] = {mxc_symbol_retain(h.anchors), variable("label"), mxc_symbol_retain(h.scores)};
    mxc_symbol *out[OUTPUTS], *all;
    mxc_symbol *targets = op("_contrib_MultiBoxTarget", "targets",
                             "overlap_threshold=0.5 ignore_label=-1 negative_mining_ratio=3 "
                             "negative_mining_thresh=0.5 " VARIANCES,
                             3, for_targets);
    mxc_symbol *of_classes[] = {h.scores, output_of(targets, 2)};
    out[CLASS_TARGETS] = mxc_symbol_retain(of_classes[1]);
    out[CLASS_TARGETS] = op("BlockGrad", "class_targets", "", 1, &out[CLASS_TARGETS]);
    out[PROBABILITIES] = op("SoftmaxOutput", "probabilities",
                            "multi_output=True use_ignore=True ignore_label=-1 normalization=valid", 2, of_classes);
    out[BOX_LOSS] = box_loss(mxc_symbol_retain(h.offsets), output_of(targets, 0), output_of(targets, 1));
    out[DETECTIONS] = detections(mxc_symbol_retain(out[PROBABILITIES]), h.offsets, h.anchors);
    out[DETECTIONS] = op("BlockGrad", "detected", "", 1, &out[DETECTIONS]);
    check(mxc_symbol_group(OUTPUTS, out, &all));
    for (int i = 0; i < OUTPUTS; i++)
        mxc_symbol_release(out[i]);
    mxc_symbol_release(targets);
    return all;
}

/* The same parameters, but neither labels nor losses. */
static mxc_symbol *make_detection_network(int64_t n_classes) {
    const heads h = make_heads(n_classes);
    mxc_symbol *scores = h.scores;
    return detections(op("softmax", "probabilities", "axis=1", 1, &scores), h.offsets, h.anchors);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* Sums over the batches of an epoch. */
typedef struct losses {
    double of_classes, of_boxes;
    int64_t chosen, matched; /* numbers of anchors: with a class or the background as their target, with a class */
} losses;

static float *values_of(const mxc_executor *executor, int output) {
    mxc_ndarray *array = mxc_executor_output(executor, output);
    const size_t n = (size_t)mxc_ndarray_size(array);
    float *out = allocate(n, sizeof *out);
    check(mxc_ndarray_get(array, out, n * sizeof *out));
    return out;
}

static void add_losses(losses *to, const mxc_executor *executor) {
    const mxc_shape *shape = mxc_ndarray_shape(mxc_executor_output(executor, PROBABILITIES));
    const int64_t n = shape->dim[0], n_classes = shape->dim[1], n_anchors = shape->dim[2];
    float *probabilities = values_of(executor, PROBABILITIES), *targets = values_of(executor, CLASS_TARGETS);
    float *of_boxes = values_of(executor, BOX_LOSS);
    for (int64_t i = 0; i < n * n_anchors; i++) {
        if (targets[i] < 0)
            continue;
        const int64_t at = (i / n_anchors * n_classes + (int64_t)targets[i]) * n_anchors + i % n_anchors;
        to->of_classes -= log((double)probabilities[at] + 1e-12);
        to->chosen++;
        to->matched += targets[i] > 0;
    }
    for (int64_t i = 0; i < 4 * n * n_anchors; i++)
        to->of_boxes += (double)of_boxes[i];
    free(probabilities);
    free(targets);
    free(of_boxes);
}

/* mxc_fit computes losses and metrics of the last output alone; the losses are in the others. */
static mxc_status on_step(const mxc_fit_progress *p, int epoch_end, void *user) {
    losses *l = user;
    if (!epoch_end) {
        add_losses(l, mxc_fit_executor(p, 0));
        return MXC_OK;
    }
    printf(
        "epoch %lld: loss of classes %.3f, of boxes %.3f; mean average precision %.3f in training, %.3f in the test\n",
        (long long)p->epoch + 1, l->of_classes / (double)(l->chosen ? l->chosen : 1),
        l->of_boxes / (double)(l->matched ? l->matched : 1), p->metrics[0].train, p->metrics[0].valid);
    fflush(stdout);
    *l = (losses){0};
    return MXC_OK;
}

/* The losses are divided by the number of anchors that contribute (normalization=valid), so the gradients are not
 * divided by the batch size again. */
static void train(const settings *s, const class_names *known, const char *const *paths, mxc_fit_progress *result,
                  mxc_ndarray_list *params) {
    const char *keys[] = {"rescale_grad", "wd"}, *values[] = {"1", "0.0001"};
    const char *key = "name", *name = "mean average precision";
    const int64_t n_images = count_images(paths[0], known), n_tests = count_images(paths[1], known);
    mxc_metric *metric;
    losses sums = {0};
    mxc_context context;
    mxc_fit_options options;
    check(mxc_context_parse(s->device, &context));
    check(mxc_metric_create("voc_map", 1, &key, &name, &metric));
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = make_training_network(known->n);
    options.train = open_images(s, paths[0], 1);
    options.valid = open_images(s, paths[1], 0);
    options.n_contexts = 1;
    options.contexts = &context;
    options.epochs = s->epochs;
    options.epoch_batches = (n_images + s->batch_size - 1) / s->batch_size;
    options.optimizer = "adam";
    options.n_optimizer_params = 2;
    options.optimizer_keys = keys;
    options.optimizer_values = values;
    options.learning_rate = s->lr;
    options.schedule.kind = MXC_SCHEDULE_COSINE;
    options.schedule.total = s->epochs * options.epoch_batches;
    options.seed = (uint64_t)s->seed;
    options.n_metrics = 1;
    options.metrics = &metric;
    options.checkpoint = text_or_null(s->checkpoint);
    options.save_best = options.checkpoint != NULL;
    options.keep_models = 1;
    options.resume = s->resume;
    options.overwrite = s->overwrite;
    options.curve = text_or_null(s->curve);
    options.show = 1;
    options.stop = &stop;
    options.callback = on_step;
    options.user = &sums;
    printf("%lld images to train on, %lld for the test, %lld classes\n", (long long)n_images, (long long)n_tests,
           (long long)known->n);
    check(mxc_fit(&options, result, params));
    mxc_metric_destroy(metric);
    mxc_symbol_release(options.symbol);
    mxc_iter_destroy(options.train);
    mxc_iter_destroy(options.valid);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static mxc_executor *bind_detector(const settings *s, int64_t n_classes, const mxc_ndarray_list *params) {
    const char *data = "data";
    const mxc_shape shape = {4, {1, 3, s->size, s->size}};
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &data, .shapes = &shape};
    mxc_symbol *symbol = make_detection_network(n_classes);
    mxc_executor *out;
    check(mxc_executor_bind_params(symbol, NULL, &spec, params, MXC_PARAMS_STRICT, &out));
    mxc_symbol_release(symbol);
    return out;
}

/* Resizes an image and runs the network on it. Returns the detections, *n rows of 6 numbers by falling score. */
static float *detect(const settings *s, mxc_executor *network, const mxc_image *image, int64_t *n) {
    const int64_t plane = s->size * s->size;
    float *pixels = allocate((size_t)(3 * plane), sizeof *pixels);
    mxc_image resized;
    check(mxc_image_resize(image, s->size, s->size, 1, &resized));
    for (int64_t i = 0; i < 3 * plane; i++)
        pixels[i % 3 * plane + i / 3] = (float)((resized.pixels[i] - means[i % 3]) * SCALE);
    check(mxc_ndarray_set(mxc_executor_find_arg(network, "data"), pixels, (size_t)(3 * plane) * sizeof *pixels));
    check(mxc_executor_forward(network, 0));
    *n = mxc_ndarray_shape(mxc_executor_output(network, 0))->dim[1];
    mxc_image_free(&resized);
    free(pixels);
    return values_of(network, 0);
}

/* Draws the boxes whose score is high enough, the best last, so that it is on top. Returns their number. */
static int draw_detections(const settings *s, const class_names *known, mxc_executor *network, mxc_image *image) {
    char text[80];
    int64_t n;
    int drawn = 0;
    float *rows = detect(s, network, image, &n);
    while (n-- > 0) {
        const float *row = rows + BOX * n, w = (float)image->width, h = (float)image->height;
        if (row[0] < 0 || (double)row[1] < s->threshold)
            continue;
        snprintf(text, sizeof text, "%.60s %.2f", known->items[(int)row[0]], (double)row[1]);
        draw_box(image, lrintf(row[2] * w), lrintf(row[3] * h), lrintf(row[4] * w), lrintf(row[5] * h), text,
                 color_of((int64_t)row[0]));
        drawn++;
    }
    free(rows);
    return drawn;
}

/* Writes the first images of a record file, with what is detected in them. */
static void draw_images(const settings *s, const class_names *known, const mxc_ndarray_list *params, const char *path) {
    mxc_executor *network = bind_detector(s, known->n, params);
    mxc_record_reader *reader;
    mxc_record record;
    mxc_image_record stored;
    mxc_image image;
    int boxes_drawn = 0, n = 0;
    check(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    for (; n < s->draw_count; n++) {
        char to[TEXT + 64];
        check(mxc_record_reader_next(reader, &record));
        if (!record.data)
            break;
        check(mxc_image_record_read(record.data, record.bytes, &stored));
        check(mxc_image_decode(path, stored.image, stored.image_bytes, 3, 0, &image));
        boxes_drawn += draw_detections(s, known, network, &image);
        snprintf(to, sizeof to, "%s/test_%03d.png", s->draw, n);
        check(write_png(&image, to));
        mxc_image_free(&image);
    }
    printf("%d test images with %d boxes are in %s\n", n, boxes_drawn, s->draw);
    mxc_record_reader_close(reader);
    mxc_executor_destroy(network);
}

int main(int argc, char **argv) {
    static char made[2][TEXT + 32];
    settings s;
    const char *paths[2] = {made[0], made[1]};
    mxc_ndarray_list params;
    mxc_fit_progress result;
    const int n_paths = parse_arguments(argc, argv, &s, paths);
    if (s.shapes[0] ? n_paths > 0 : n_paths != 2 || !s.classes[0])
        usage_error("expected TRAIN, TEST and --classes, or --shapes", "");
    if (s.shapes[0])
        make_shapes(&s, made[0], made[1]);
    if (s.draw[0])
        make_directory(s.draw);
    catch_signals();
    class_names known = read_classes(s.classes);
    if (known.n == 0)
        fail("there are no class names in", s.classes);
    train(&s, &known, paths, &result, &params);
    if (!result.interrupted)
        printf("Mean average precision %.3f on the test images\n", result.metrics[0].valid);
    if (!result.interrupted && s.draw[0])
        draw_images(&s, &known, &params, paths[1]);
    free_classes(&known);
    mxc_ndarray_list_release(&params);
    return result.interrupted ? 128 + stop : 0;
}
