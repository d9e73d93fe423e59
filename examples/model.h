/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the examples that begin with a saved model: its files, the names of its classes, and the scale of the
 * pixels that it expects. Not part of the library.
 */
#ifndef MXC_EXAMPLES_MODEL_H
#define MXC_EXAMPLES_MODEL_H

#include "example.h"

enum { MODEL_PATH = 1024 };

/* A saved model: PREFIX-symbol.json and a file of parameters. */
typedef struct model {
    char prefix[MODEL_PATH], params_path[MODEL_PATH];
    mxc_symbol *symbol;
    mxc_ndarray_list params;
} model;

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Is the end of name the ending? */
static inline int has_ending(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

static inline int file_exists(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

/* Joins the parts of a path. */
static inline void join_path(char *out, const char *begin, const char *end) {
    if (snprintf(out, MODEL_PATH, "%s%s", begin, end) >= MODEL_PATH)
        fail("too long a path:", begin);
}

/* Loads the model of a directory or prefix; epoch -1: the best or the last one. */
static inline model load_model(const char *where, int64_t epoch) {
    model m;
    char path[MODEL_PATH], *prefix, *params;
    check(mxc_model_find(where, (int)epoch, &prefix, &params));
    join_path(m.prefix, prefix, "");
    join_path(m.params_path, params, "");
    join_path(path, prefix, "-symbol.json");
    check(mxc_symbol_load(path, &m.symbol));
    check(mxc_ndarray_load(params, &m.params));
    mxc_free(prefix);
    mxc_free(params);
    return m;
}

static inline void free_model(model *m) {
    mxc_ndarray_list_release(&m->params);
    mxc_symbol_release(m->symbol);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static inline int has_param(const mxc_ndarray_list *params, const char *name) {
    char full[512];
    snprintf(full, sizeof full, "arg:%s", name);
    return mxc_ndarray_list_find(params, full) || mxc_ndarray_list_find(params, name);
}

/* The arguments without a parameter: the first is the data, others are labels of losses. Returns their number; names
 * are those of args, which the caller releases. */
static inline int find_inputs(const model *m, mxc_names *args, const char **names, int room) {
    int n = 0;
    check(mxc_symbol_list_arguments(m->symbol, args));
    for (int64_t i = 0; i < args->n && n < room; i++)
        if (!has_param(&m->params, args->items[i]))
            names[n++] = args->items[i];
    if (n == 0)
        fail("the model takes no input:", m->prefix);
    return n;
}

/* ---- names of classes -------------------------------------------------------------------------------------------- */

/* Names in the order of the numbers of the classes. */
typedef struct class_names {
    int64_t n;
    char **items;
} class_names;

static inline void add_class(class_names *classes, const char *name) {
    char **more = realloc(classes->items, (size_t)(classes->n + 1) * sizeof *more);
    char *copy = strdup(name);
    if (!more || !copy)
        fail("no memory for the class", name);
    classes->items = more;
    classes->items[classes->n++] = copy;
}

static inline int64_t find_class(const class_names *classes, const char *name) {
    for (int64_t i = 0; i < classes->n; i++)
        if (strcmp(classes->items[i], name) == 0)
            return i;
    return -1;
}

/* Reads a file with one name per line. */
static inline class_names read_classes(const char *path) {
    class_names classes = {.n = 0};
    int64_t n;
    char *text = (char *)read_file(path, &n), *save = NULL;
    for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save))
        add_class(&classes, line);
    free(text);
    return classes;
}

static inline void write_classes(const class_names *classes, const char *path) {
    FILE *file = fopen(path, "w");
    for (int64_t i = 0; file && i < classes->n; i++)
        fprintf(file, "%s\n", classes->items[i]);
    if (!file || fclose(file) != 0)
        fail("cannot write", path);
}

static inline void free_classes(class_names *classes) {
    for (int64_t i = 0; i < classes->n; i++)
        free(classes->items[i]);
    free(classes->items);
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

/* Pixels as a model expects them: (byte scale - mean) / std, with one mean and std or one for each channel. */
typedef struct pixel_scale {
    mxc_floats mean, std;
    double scale;
} pixel_scale;

/* Entries of the schema of a struct settings with a pixel_scale called pixels. */
#define PIXEL_OPTIONS                                                                                             \
    FLOAT_OPTION("scale", pixels.scale, "0.00392156862745098", -1e6, 1e6, "factor on the bytes of an image"),     \
        FLOATS_OPTION("mean", pixels.mean, "0", "subtracted after scaling: one number, or one for each channel"), \
        FLOATS_OPTION("std", pixels.std, "1",                                                                     \
                      "divisor after subtracting the mean: one number, or one for each channel")

static inline void check_pixels(const pixel_scale *pixels) {
    if (pixels->mean.n < 1 || pixels->std.n < 1)
        usage_error("--mean and --std expect at least one number", "");
    int is_zero = pixels->scale == 0;
    for (int i = 0; i < pixels->std.n; i++)
        is_zero |= pixels->std.value[i] == 0;
    if (is_zero)
        usage_error("--scale and --std must not be 0", "");
}

/* The number of a channel. */
static inline double of_channel(const mxc_floats *values, int64_t channel) {
    return values->value[channel < values->n ? channel : values->n - 1];
}

#endif
