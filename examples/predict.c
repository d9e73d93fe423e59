/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a model (NAME-symbol.json and NAME-0000.params) and classifies. INPUT is a JPEG or PNG, which is resized to the
 * shape, or a .npy file, which is used unchanged; without INPUT the input is 0. Prints the most probable classes of
 * each sample, by name if a file of class names is given.
 */
#include <math.h>

#include <mxc/image.h>

#include "example.h"

typedef struct settings {
    mxc_tuple shape;
    int64_t epoch, top;
    double scale, mean;
    char classes[512];
} settings;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(settings, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "(1,3,224,224)",
     .doc = "shape of the input: batch, channels, height, width"},
    INTEGER_OPTION("epoch", epoch, "0", 0, 9999, "epoch of the model: the number in the name of the .params file"),
    INTEGER_OPTION("top", top, "5", 1, 1000, "number of classes to print for each sample"),
    {MXC_PARAM_FIELD(settings, mean), .name = "mean", .type = MXC_PARAM_FLOAT, .initial = "0",
     .doc = "mean that is subtracted from the bytes of an image"},
    {MXC_PARAM_FIELD(settings, scale), .name = "scale", .type = MXC_PARAM_FLOAT, .initial = "0.00392156862745098",
     .doc = "factor on the bytes after subtracting the mean"},
    TEXT_OPTION("classes", classes, "",
                "file with the name of one class per line, such as mxc im2rec --list and CSVIter write"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "predict",
    .words = "NAME [INPUT]",
    .min_words = 1,
    .about = "Classifies with a model saved by MXNet or libmxc.",
    .max_words = 2,
    .schema = schema,
};

enum { MAX_INPUTS = 16 };

/* The pixels in NCHW order, (byte - mean) * scale. */
static mxc_ndarray *read_image(const settings *s, const char *path) {
    const int64_t *shape = s->shape.value, channels = shape[1], height = shape[2], width = shape[3];
    mxc_image image, fitted;
    mxc_ndarray *out;
    FILE *file = fopen(path, "rb");
    static unsigned char bytes[16 << 20];
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    float *values = calloc((size_t)(channels * height * width), sizeof *values);
    if (!file || !values)
        usage_error("cannot read", path);
    fclose(file);
    check(mxc_image_decode(path, bytes, n, (int)channels, 0, &image));
    check(mxc_image_resize(&image, height, width, 1, &fitted));
    for (int64_t i = 0; i < height * width; i++)
        for (int64_t c = 0; c < channels; c++)
            values[c * height * width + i] = (float)((fitted.pixels[i * channels + c] - s->mean) * s->scale);
    check(mxc_ndarray_from_data(4, shape, MXC_F32, values, &out));
    free(values);
    mxc_image_free(&image);
    mxc_image_free(&fitted);
    return out;
}

static mxc_ndarray *read_input(const settings *s, const char *path) {
    const char *ending = path ? strrchr(path, '.') : NULL;
    mxc_ndarray *out;
    if (ending && strcmp(ending, ".npy") == 0) {
        check(mxc_ndarray_load_npy(path, &out));
        return out;
    }
    if (path && (s->shape.n != 4 || s->shape.value[0] != 1 || (s->shape.value[1] != 1 && s->shape.value[1] != 3)))
        usage_error("an image needs --shape (1,CHANNELS,HEIGHT,WIDTH) with 1 or 3 channels:", path);
    if (path)
        return read_image(s, path);
    check(mxc_ndarray_create(s->shape.n, s->shape.value, MXC_F32, mxc_cpu(0), &out));
    check(mxc_ndarray_fill(out, 0));
    return out;
}

/* Arguments without a parameter: the first is the data, others (labels of a loss) have the shapes that follow. */
static mxc_executor *bind(mxc_symbol *symbol, const mxc_ndarray_list *params, const mxc_ndarray *input) {
    const char *names[MAX_INPUTS];
    mxc_shape shapes[MAX_INPUTS];
    mxc_executor *out;
    mxc_names args;
    int n = 0;
    check(mxc_symbol_list_arguments(symbol, &args));
    for (int64_t i = 0; i < args.n && n < MAX_INPUTS; i++) {
        char full[512];
        snprintf(full, sizeof full, "arg:%s", args.items[i]);
        if (mxc_ndarray_list_find(params, full) || mxc_ndarray_list_find(params, args.items[i]))
            continue;
        names[n] = args.items[i];
        shapes[n++] = (mxc_shape){.ndim = -1};
    }
    if (n == 0)
        usage_error("the model takes no input:", mxc_symbol_name(symbol));
    shapes[0] = *mxc_ndarray_shape(input);
    const mxc_bind_spec spec = {.size = sizeof spec, .n = n, .names = names, .shapes = shapes};
    check(mxc_executor_bind_params(symbol, NULL, &spec, params, MXC_PARAMS_STRICT, &out));
    check(mxc_ndarray_copy_to((mxc_ndarray *)input, mxc_executor_find_arg(out, names[0]), 0));
    mxc_names_release(&args);
    return out;
}

/* The name on line i of the file, or the number. */
static const char *class_name(const char *path, int64_t i, char *out, size_t size) {
    FILE *file = path[0] ? fopen(path, "r") : NULL;
    if (path[0] && !file)
        usage_error("cannot read ", path);
    snprintf(out, size, "%lld", (long long)i);
    for (int64_t line = 0; file && line <= i; line++)
        if (!fgets(out, (int)size, file))
            snprintf(out, size, "%lld", (long long)i);
    if (file)
        fclose(file);
    out[strcspn(out, "\r\n")] = '\0';
    return out;
}

static void print_top(const settings *s, mxc_ndarray *output) {
    const mxc_shape *shape = mxc_ndarray_shape(output);
    int64_t rows = shape->dim[0], classes = mxc_shape_size(shape) / (rows > 0 ? rows : 1);
    float *values = malloc((size_t)(rows * classes + 1) * sizeof *values);
    char name[256];
    check(mxc_ndarray_get(output, values, (size_t)(rows * classes) * sizeof *values));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < s->top && k < classes; k++) {
            float *of = values + row * classes;
            int64_t best = 0;
            for (int64_t i = 1; i < classes; i++)
                best = of[i] > of[best] || isnan(of[best]) ? i : best;
            printf("sample %lld: %-20s %.5g\n", (long long)row, class_name(s->classes, best, name, sizeof name),
                   (double)of[best]);
            of[best] = -INFINITY;
        }
    free(values);
}

int main(int argc, char **argv) {
    settings s;
    const char *words[2] = {NULL};
    mxc_symbol *symbol;
    mxc_ndarray_list params;
    parse_arguments(argc, argv, &s, words);
    check(mxc_model_load(words[0], (int)s.epoch, &symbol, &params));
    mxc_ndarray *input = read_input(&s, words[1]);
    mxc_executor *executor = bind(symbol, &params, input);
    check(mxc_executor_forward(executor, 0));
    print_top(&s, mxc_executor_output(executor, 0));
    mxc_executor_destroy(executor);
    mxc_ndarray_release(input);
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(symbol);
    return 0;
}
