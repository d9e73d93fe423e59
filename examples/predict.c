/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies with a saved model, a directory or a prefix of files (NAME-symbol.json and NAME-0000.params), and prints
 * the most probable classes, by name if there is a file of class names. INPUT is a number of JPEG and PNG images, or
 * one .npy file, which is used unchanged; without INPUT the input is 0.
 */
#include "model.h"

enum { MAX_WORDS = 257, MAX_TOP = 1000, LARGEST_SIDE = 65535 };

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
    INTEGER_OPTION("top", top, "5", 1, MAX_TOP, "number of classes to print for each sample"),
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

/* The shape of the input: of n images, or that of --shape. */
static mxc_shape input_shape(const settings *s, int n) {
    mxc_shape shape;
    const int64_t *last = s->shape.value + s->shape.n - 3;
    if (n == 0) {
        check(mxc_shape_set(&shape, s->shape.n, s->shape.value));
        return shape;
    }
    if (s->shape.n < 3 || s->shape.n > 4 || (last[0] != 1 && last[0] != 3) || last[1] < 1 || last[2] < 1 ||
        last[1] > LARGEST_SIDE || last[2] > LARGEST_SIDE)
        usage_error("images need --shape (1,CHANNELS,HEIGHT,WIDTH) with 1 or 3 channels and sides up to 65535", "");
    return (mxc_shape){4, {n, last[0], last[1], last[2]}};
}

static void read_images(const settings *s, int n, const char *const *paths, mxc_ndarray *input) {
    mxc_image_transform transform = MXC_IMAGE_TRANSFORM_INIT;
    transform.resize = s->resize;
    transform.scale = s->pixels.scale;
    for (int c = 0; c < 3; c++) {
        transform.mean[c] = of_channel(&s->pixels.mean, c);
        transform.std[c] = of_channel(&s->pixels.std, c);
    }
    for (int i = 0; i < n; i++) {
        mxc_image image;
        check(mxc_image_load(paths[i], (int)mxc_ndarray_shape(input)->dim[1], 0, &image));
        check(mxc_image_to_array(&image, &transform, input, i));
        mxc_image_free(&image);
    }
}

/* Loads the model for the input, its only argument without a parameter, and sets it. */
static mxc_predictor *open_predictor(const settings *s, const char *where, int n, const char *const *paths) {
    const int is_array = n == 1 && has_ending(paths[0], ".npy");
    mxc_ndarray *array = NULL;
    mxc_predictor *out;
    if (is_array)
        check(mxc_ndarray_load_npy(paths[0], &array));
    const mxc_data_desc input = {NULL, array ? *mxc_ndarray_shape(array) : input_shape(s, n), MXC_F32};
    check(mxc_predictor_load(where, (int)s->epoch, 1, &input, NULL, &out));
    if (is_array)
        check(mxc_predictor_set_input_array_at(out, 0, array));
    else
        read_images(s, n, paths, mxc_predictor_input(out, 0));
    mxc_ndarray_release(array);
    return out;
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

/* The name of the sample, of the class, and its probability; where there is no name, the number. */
static void print_class(const char *sample, int64_t row, const mxc_names *classes, int64_t number, float value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    if (sample)
        printf("%s: ", sample);
    else
        printf("sample %lld: ", (long long)row);
    printf("%-20s %.5g\n", number < classes->n ? classes->items[number] : text, (double)value);
}

/* samples: names of the rows, NULL: they have none. */
static void print_top(const settings *s, mxc_ndarray *scores, const mxc_names *names, const char *const *samples) {
    const mxc_shape *shape = mxc_ndarray_shape(scores);
    const int64_t rows = shape->ndim > 0 ? shape->dim[0] : 0, classes = rows > 0 ? mxc_shape_size(shape) / rows : 0;
    const int64_t top = s->top < classes ? s->top : classes;
    int64_t best[MAX_TOP];
    float values[MAX_TOP];
    for (int64_t row = 0; row < rows && top > 0; row++) {
        check(mxc_top_classes(scores, row, top, best, values));
        for (int64_t k = 0; k < top; k++)
            print_class(samples ? samples[row] : NULL, row, names, best[k], values[k]);
    }
}

/* The names in --classes, or in NAME-classes.txt if there is such a file. */
static mxc_names load_classes(const settings *s, const char *where) {
    mxc_names out = {0, NULL};
    char path[MODEL_PATH], *prefix, *params;
    check(mxc_model_find(where, (int)s->epoch, &prefix, &params));
    join_path(path, s->classes[0] ? s->classes : prefix, s->classes[0] ? "" : "-classes.txt");
    if (s->classes[0] || file_exists(path))
        check(mxc_class_names_load(path, &out));
    mxc_free(prefix);
    mxc_free(params);
    return out;
}

int main(int argc, char **argv) {
    settings s;
    const char *words[MAX_WORDS] = {NULL};
    const int n_inputs = parse_arguments(argc, argv, &s, words) - 1;
    check_pixels(&s.pixels);
    mxc_names classes = load_classes(&s, words[0]);
    mxc_predictor *predictor = open_predictor(&s, words[0], n_inputs, words + 1);
    check(mxc_predictor_forward(predictor));
    mxc_ndarray *output = mxc_predictor_output(predictor, 0), *softmax = NULL;
    if (s.softmax)
        check(mxc_invoke("softmax", 1, &output, 0, NULL, NULL, 1, &softmax));
    print_top(&s, softmax ? softmax : output, &classes,
              n_inputs > 0 && !has_ending(words[1], ".npy") ? words + 1 : NULL);
    mxc_ndarray_release(softmax);
    mxc_predictor_destroy(predictor);
    mxc_names_release(&classes);
    return 0;
}
