/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies with a saved model, a directory or a prefix of files (NAME-symbol.json and NAME-0000.params), and prints
 * the most probable classes, by name if there is a file of class names. INPUT is a number of JPEG and PNG images, or
 * one .npy file, which is used unchanged; without INPUT the input is 0.
 */
#include <math.h>

#include <mxc/image.h>

#include "model.h"

enum { MAX_WORDS = 257, MAX_INPUTS = 16, LARGEST_SIDE = 65535 };

typedef struct settings {
    mxc_tuple shape;
    int64_t epoch, top, resize;
    int32_t softmax;
    pixel_scale pixels;
    char classes[512];
} settings;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(settings, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "(1,3,224,224)",
     .doc = "shape of the input: batch, channels, height, width; the batch of images is their number"},
    INTEGER_OPTION("epoch", epoch, "-1", -1, 9999,
                   "epoch of the model: the number in the name of the .params file; -1: the best or else the last one"),
    INTEGER_OPTION("top", top, "5", 1, 1000, "number of classes to print for each sample"),
    INTEGER_OPTION("resize", resize, "0", 0, LARGEST_SIDE,
                   "resize the shorter side of an image to this and cut out the centre; 0: resize it to the shape"),
    PIXEL_OPTIONS,
    SWITCH_OPTION("softmax", softmax, "turn scores into probabilities, for a model that does not end with softmax"),
    TEXT_OPTION("classes", classes, "",
                "file with the name of one class per line, such as mxc im2rec --list and CSVIter write; default: "
                "NAME-classes.txt, if it exists"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "predict",
    .words = "MODEL [INPUT...]",
    .min_words = 1,
    .about = "Classifies with a model saved by MXNet or libmxc: a directory, or the names of its files up to "
             "-symbol.json.",
    .max_words = MAX_WORDS,
    .schema = schema,
};

/* ---- input ------------------------------------------------------------------------------------------------------- */

/* The pixels of image (H,W,C) from a position on, in the order (C,height,width). */
static void scale_pixels(const settings *s, const mxc_image *image, const mxc_shape *shape, float *out) {
    const int64_t channels = shape->dim[1], height = shape->dim[2], width = shape->dim[3];
    const int64_t top = (image->height - height) / 2, left = (image->width - width) / 2;
    for (int64_t c = 0; c < channels; c++) {
        const double mean = of_channel(&s->pixels.mean, c), std = of_channel(&s->pixels.std, c);
        for (int64_t y = 0; y < height; y++)
            for (int64_t x = 0; x < width; x++) {
                const uint8_t byte = image->pixels[((top + y) * image->width + left + x) * channels + c];
                *out++ = (float)((byte * s->pixels.scale - mean) / std);
            }
    }
}

/* Resizes an image to the shape or, with --resize, so that the shape can be cut out of it. */
static void read_image(const settings *s, const char *path, const mxc_shape *shape, float *out) {
    int64_t n, height = shape->dim[2], width = shape->dim[3];
    unsigned char *bytes = read_file(path, &n);
    mxc_image image, fitted;
    check(mxc_image_decode(path, bytes, (size_t)n, (int)shape->dim[1], 0, &image));
    if (s->resize > 0) {
        const double shorter = (double)(image.height < image.width ? image.height : image.width);
        height = llround((double)(image.height * s->resize) / shorter);
        width = llround((double)(image.width * s->resize) / shorter);
    }
    if (height < shape->dim[2] || width < shape->dim[3])
        usage_error("--resize is smaller than --shape", "");
    check(mxc_image_resize(&image, height, width, 1, &fitted)); /* linear, as image iterators do */
    scale_pixels(s, &fitted, shape, out);
    mxc_image_free(&image);
    mxc_image_free(&fitted);
    free(bytes);
}

static mxc_ndarray *read_images(const settings *s, int n, const char *const *paths) {
    const int64_t *last = s->shape.value + s->shape.n - 3;
    if (s->shape.n < 3 || s->shape.n > 4 || (last[0] != 1 && last[0] != 3) || last[1] < 1 || last[2] < 1 ||
        last[1] > LARGEST_SIDE || last[2] > LARGEST_SIDE)
        usage_error("images need --shape (1,CHANNELS,HEIGHT,WIDTH) with 1 or 3 channels and sides up to 65535", "");
    const mxc_shape shape = {4, {n, last[0], last[1], last[2]}};
    const int64_t size = last[0] * last[1] * last[2];
    float *values = calloc((size_t)(n * size), sizeof *values);
    mxc_ndarray *out;
    if (!values)
        fail("no memory for", paths[0]);
    for (int i = 0; i < n; i++)
        read_image(s, paths[i], &shape, values + i * size);
    check(mxc_ndarray_from_data(4, shape.dim, MXC_F32, values, &out));
    free(values);
    return out;
}

static mxc_ndarray *read_input(const settings *s, int n, const char *const *paths) {
    mxc_ndarray *out;
    if (n == 1 && has_ending(paths[0], ".npy"))
        check(mxc_ndarray_load_npy(paths[0], &out));
    else if (n > 0)
        out = read_images(s, n, paths);
    else {
        check(mxc_ndarray_create(s->shape.n, s->shape.value, MXC_F32, mxc_cpu(0), &out));
        check(mxc_ndarray_fill(out, 0));
    }
    return out;
}

/* ---- network ----------------------------------------------------------------------------------------------------- */

/* The shapes of further inputs, labels of a loss, follow from that of the first, the data. */
static mxc_executor *bind(const model *m, mxc_ndarray *input) {
    const char *names[MAX_INPUTS];
    mxc_shape shapes[MAX_INPUTS];
    mxc_executor *out;
    mxc_names args;
    const int n = find_inputs(m, &args, names, MAX_INPUTS);
    for (int i = 0; i < n; i++)
        shapes[i] = (mxc_shape){.ndim = -1};
    shapes[0] = *mxc_ndarray_shape(input);
    const mxc_bind_spec spec = {.size = sizeof spec, .n = n, .names = names, .shapes = shapes};
    check(mxc_executor_bind_params(m->symbol, NULL, &spec, &m->params, MXC_PARAMS_STRICT, &out));
    check(mxc_ndarray_copy_to(input, mxc_executor_find_arg(out, names[0]), 0));
    mxc_names_release(&args);
    return out;
}

static void apply_softmax(float *of, int64_t n) {
    float largest = -INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmaxf(largest, of[i]);
    for (int64_t i = 0; i < n; i++)
        sum += of[i] = expf(of[i] - largest);
    for (int64_t i = 0; i < n; i++)
        of[i] = (float)(of[i] / sum);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* The name of the sample, of the class, and its probability; where there is no name, the number. */
static void print_class(const char *sample, int64_t row, const class_names *classes, int64_t number, float value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    if (sample)
        printf("%s: ", sample);
    else
        printf("sample %lld: ", (long long)row);
    printf("%-20s %.5g\n", number < classes->n ? classes->items[number] : text, (double)value);
}

/* samples: names of the rows, NULL: they have none. */
static void print_top(const settings *s, mxc_ndarray *output, const class_names *names, const char *const *samples) {
    const mxc_shape *shape = mxc_ndarray_shape(output);
    int64_t rows = shape->dim[0], classes = mxc_shape_size(shape) / (rows > 0 ? rows : 1);
    float *values = malloc((size_t)(rows * classes + 1) * sizeof *values);
    if (!values)
        fail("no memory for the output of", program.name);
    check(mxc_ndarray_get(output, values, (size_t)(rows * classes) * sizeof *values));
    for (int64_t row = 0; row < rows; row++) {
        float *of = values + row * classes;
        if (s->softmax)
            apply_softmax(of, classes);
        for (int64_t k = 0; k < s->top && k < classes; k++) {
            int64_t best = 0;
            for (int64_t i = 1; i < classes; i++)
                best = of[i] > of[best] || isnan(of[best]) ? i : best;
            print_class(samples ? samples[row] : NULL, row, names, best, of[best]);
            of[best] = -INFINITY;
        }
    }
    free(values);
}

int main(int argc, char **argv) {
    settings s;
    const char *words[MAX_WORDS] = {NULL};
    char path[MODEL_PATH];
    class_names classes = {.n = 0};
    const int n_inputs = parse_arguments(argc, argv, &s, words) - 1;
    check_pixels(&s.pixels);
    model m = load_model(words[0], s.epoch);
    join_path(path, s.classes[0] ? s.classes : m.prefix, s.classes[0] ? "" : "-classes.txt");
    if (s.classes[0] || file_exists(path))
        classes = read_classes(path);
    mxc_ndarray *input = read_input(&s, n_inputs, words + 1);
    mxc_executor *executor = bind(&m, input);
    check(mxc_executor_forward(executor, 0));
    print_top(&s, mxc_executor_output(executor, 0), &classes,
              n_inputs > 0 && !has_ending(words[1], ".npy") ? words + 1 : NULL);
    mxc_executor_destroy(executor);
    mxc_ndarray_release(input);
    free_classes(&classes);
    free_model(&m);
    return 0;
}
