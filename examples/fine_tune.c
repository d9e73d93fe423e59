/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fine-tunes a saved model on a directory of images: replaces its last layer by one for the classes of the directory,
 * trains that alone for the first epochs (the parameters that --freeze names stay as they are), then all of it with a
 * lower learning rate. Keeps the model of the best of all these epochs.
 *
 *     fine_tune MODEL TRAIN [VALID] --out PREFIX
 *
 * TRAIN has one subdirectory per class, and so has VALID. Without VALID some of the images are held out. Written are
 * PREFIX-symbol.json and PREFIX-best.params, PREFIX-classes.txt, the learning curve PREFIX.svg (PREFIX-head.svg for the
 * first epochs), PREFIX-confusion.csv, and the lists of the images, PREFIX-train.lst and PREFIX-valid.lst.
 *
 * Exit status: 0 trained, 1 failed, 2 wrong options, 128 + signal number if stopped by SIGINT or SIGTERM.
 */
#include <dirent.h>
#include <strings.h>

#include "model.h"
#include "training.h"

enum { MAX_CLASSES = 1000, MAX_INPUTS = 16, WIDEST_TABLE = 16 };

typedef struct settings {
    mxc_tuple shape;
    int64_t epoch, resize, batch_size, epochs, frozen_epochs, holdout, patience, seed;
    double lr, tuning_lr;
    int32_t no_mirror, resume, overwrite;
    pixel_scale pixels;
    char features[256], freeze[1024], out[MODEL_PATH / 2], device[64];
} settings;

static const mxc_param schema[] = {
    TEXT_OPTION("out", out, "tuned", "prefix of the files that are written"),
    {MXC_PARAM_FIELD(settings, shape), .name = "shape", .type = MXC_PARAM_TUPLE, .initial = "(3,224,224)", .bounded = 1,
     .minimum = 1, .maximum = 65535, .doc = "shape of an image that the model expects: channels, height, width"},
    PIXEL_OPTIONS,
    INTEGER_OPTION("resize", resize, "0", 0, 65535,
                   "resize the shorter side to this before the shape is cut out; 0: the longer side of the shape"),
    SWITCH_OPTION("no-mirror", no_mirror, "do not mirror images at random, as for letters and digits"),
    INTEGER_OPTION("epoch", epoch, "-1", -1, 9999,
                   "epoch of the model: the number in the name of the .params file; -1: the best or else the last one"),
    TEXT_OPTION("features", features, "",
                "name of the node whose output the new layer takes; default: the input of the last fully connected "
                "layer or convolution"),
    TEXT_OPTION("freeze", freeze, "",
                "names of parameters that stay as they are in the first epochs, separated by commas, where * stands "
                "for any characters; default: all but those of the new layer"),
    INTEGER_OPTION("frozen-epochs", frozen_epochs, "3", 0, 1e6, "number of these first epochs"),
    INTEGER_OPTION("epochs", epochs, "10", 1, 1e6, "number of all passes over the images"),
    RATE_OPTION("0.01", "learning rate of the first epochs, which falls to 0 along a cosine"),
    FLOAT_OPTION("tuning-lr", tuning_lr, "0.001", 0, 1e6,
                 "learning rate of the other epochs, which train all parameters, falling in the same way"),
    INTEGER_OPTION("patience", patience, "5", 0, 1e6, "stop after so many epochs without a better accuracy; 0: never"),
    INTEGER_OPTION("batch-size", batch_size, "32", 1, 65536, "number of images per step"),
    INTEGER_OPTION("holdout", holdout, "5", 2, 1e6, "without VALID, every so many-th image is used for validation"),
    INTEGER_OPTION("seed", seed, "1", 0, 1e9, "seed of the new weights and of the order of images"),
    TEXT_OPTION("device", device, "cpu(0)", "device to train on, such as gpu(0)"),
    SWITCH_OPTION("resume", resume, "continue from the checkpoint, if there is one"),
    SWITCH_OPTION("overwrite", overwrite, "replace the files of another training"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "fine_tune",
    .words = "MODEL TRAIN [VALID]",
    .min_words = 2,
    .max_words = 3,
    .schema = schema,
    .about = "Fine-tunes a model, a directory or the names of its files up to -symbol.json, on directories with one\n"
             "subdirectory of JPEG and PNG images per class.",
};

/* The path of a file that is written. */
static const char *out_path(const settings *s, const char *ending, char *path) {
    join_path(path, s->out, ending);
    return path;
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

typedef struct image {
    char *path; /* below the root */
    int64_t label;
} image;

typedef struct images {
    const char *root;
    int64_t n;
    image *items;
} images;

static int is_image(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && (!strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".jpeg") || !strcasecmp(dot, ".png"));
}

static int is_file_of_image(const struct dirent *entry) {
    return is_image(entry->d_name);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Adds the images of one class; a directory without images is no class. New classes are only those of training. */
static void add_images(images *all, const char *name, class_names *classes, int training) {
    char directory[MODEL_PATH], path[2 * MODEL_PATH];
    struct dirent **entries;
    snprintf(path, sizeof path, "/%s", name);
    join_path(directory, all->root, path);
    const int n = scandir(directory, &entries, is_file_of_image, alphasort);
    int64_t label = n > 0 ? find_class(classes, name) : -1;
    if (n > 0 && label < 0 && !training)
        fail("no training images of the class", directory);
    if (n > 0 && label < 0) {
        add_class(classes, name);
        label = classes->n - 1;
    }
    image *more = n > 0 ? realloc(all->items, (size_t)(all->n + n) * sizeof *more) : NULL;
    if (n > 0 && !more)
        fail("no memory for the images in", directory);
    all->items = n > 0 ? more : all->items;
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
        all->items[all->n++] = (image){strdup(path), label};
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* The classes are the subdirectories, in the order of their names. */
static images find_images(const char *root, class_names *classes, int training) {
    images all = {.root = root};
    struct dirent **entries;
    const int n = scandir(root, &entries, is_visible, alphasort);
    if (n < 0)
        fail("cannot read the directory", root);
    for (int i = 0; i < n; i++) {
        if (!is_image(entries[i]->d_name))
            add_images(&all, entries[i]->d_name, classes, training);
        free(entries[i]);
    }
    free(entries);
    if (all.n == 0)
        fail("there is no subdirectory with images in", root);
    return all;
}

static void free_images(images *all) {
    for (int64_t i = 0; i < all->n; i++)
        free(all->items[i].path);
    free(all->items);
}

/* Writes a list of every image (holdout 0), of every holdout-th, or of the others. Returns the number of images. */
static int64_t write_list(const char *path, const images *all, int64_t holdout, int held_out) {
    FILE *file = fopen(path, "w");
    int64_t n = 0;
    for (int64_t i = 0; file && i < all->n; i++)
        if (holdout == 0 || (i % holdout == holdout - 1) == held_out) {
            fprintf(file, "%lld\t%lld\t%s\n", (long long)i, (long long)all->items[i].label, all->items[i].path);
            n++;
        }
    if (!file || fclose(file) != 0)
        fail("cannot write", path);
    return n;
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Parameters of an iterator: as many as are set, with the memory of their values. */
typedef struct iter_params {
    int n;
    const char *keys[24], *values[24];
    char text[24][MODEL_PATH];
} iter_params;

static void set_text(iter_params *p, const char *key, const char *value) {
    snprintf(p->text[p->n], sizeof p->text[p->n], "%s", value);
    p->keys[p->n] = key;
    p->values[p->n] = p->text[p->n];
    p->n++;
}

static void set_number(iter_params *p, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    set_text(p, key, text);
}

/* The iterator computes (byte - mean) scale / std, so its mean is that of bytes. */
static void set_pixels(iter_params *p, const pixel_scale *pixels) {
    static const char *const mean[] = {"mean_r", "mean_g", "mean_b"}, *const std[] = {"std_r", "std_g", "std_b"};
    for (int c = 0; c < 3; c++) {
        set_number(p, mean[c], of_channel(&pixels->mean, c) / pixels->scale);
        set_number(p, std[c], of_channel(&pixels->std, c));
    }
    set_number(p, "scale", pixels->scale);
}

/* Images for training are shuffled, and a random part of each of at least half its area is mirrored at random. */
static mxc_iter *open_images(const settings *s, const char *root, const char *list, int training) {
    const int64_t *shape = s->shape.value, longer = shape[1] > shape[2] ? shape[1] : shape[2];
    iter_params *p = calloc(1, sizeof *p);
    char text[96];
    mxc_iter *iter;
    if (!p)
        fail("no memory for the iterator of", root);
    snprintf(text, sizeof text, "(%lld,%lld,%lld)", (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    set_text(p, "path_root", root);
    set_text(p, "path_imglist", list);
    set_text(p, "data_shape", text);
    set_number(p, "batch_size", (double)s->batch_size);
    set_number(p, "resize", (double)(s->resize > 0 ? s->resize : longer));
    set_number(p, "seed", (double)s->seed);
    set_pixels(p, &s->pixels);
    set_text(p, "shuffle", training ? "True" : "False");
    set_text(p, "round_batch", training ? "True" : "False");
    if (training) {
        set_text(p, "random_resized_crop", "True");
        set_text(p, "min_random_area", "0.5");
        set_text(p, "rand_mirror", s->no_mirror ? "False" : "True");
    }
    check(mxc_iter_create("ImageFolderIter", p->n, p->keys, p->values, &iter));
    free(p);
    return iter;
}

/* ---- network ----------------------------------------------------------------------------------------------------- */

/* The node whose output the new layer takes. is_map: it comes before a convolution, so it may have height and width. */
static mxc_symbol *find_features(const settings *s, const model *m, int *is_map) {
    mxc_symbol *all, *node = NULL, *inputs, *out = NULL;
    char name[300];
    check(mxc_symbol_internals(m->symbol, &all));
    *is_map = 0;
    snprintf(name, sizeof name, "%s_output", s->features);
    if (s->features[0])
        check(mxc_symbol_find_output(all, name, &out));
    for (int64_t i = mxc_symbol_n_outputs(all) - 1; i >= 0 && !out; i--) {
        check(mxc_symbol_output(all, i, &node));
        *is_map = mxc_symbol_attr(node, "num_filter") != NULL; /* a parameter of convolutions */
        if (*is_map || mxc_symbol_attr(node, "num_hidden")) {  /* of fully connected layers */
            check(mxc_symbol_children(node, &inputs));
            check(mxc_symbol_output(inputs, 0, &out));
            mxc_symbol_release(inputs);
        }
        mxc_symbol_release(node);
    }
    mxc_symbol_release(all);
    if (!out)
        fail("no fully connected layer and no convolution to replace; give --features for", m->prefix);
    return out;
}

/* The input is called data, as in the iterator. */
static void rename_input(const model *m, mxc_symbol *features) {
    const char *names[MAX_INPUTS];
    mxc_names args;
    mxc_symbol *data = variable("data");
    find_inputs(m, &args, names, MAX_INPUTS);
    if (strcmp(names[0], "data") != 0)
        check(mxc_symbol_compose(features, NULL, 1, names, &data));
    mxc_symbol_release(data);
    mxc_names_release(&args);
}

/* The features with a new last layer, whose name is not among those of the given parameters. */
static mxc_symbol *make_network(const model *m, mxc_symbol *features, int is_map, int64_t classes) {
    char name[32], weight[64], params[64];
    mxc_symbol *x = mxc_symbol_retain(features);
    for (int i = 0; i == 0 || has_param(&m->params, weight); i++) {
        snprintf(name, sizeof name, "classes%d", i);
        snprintf(weight, sizeof weight, "%s_weight", name);
    }
    if (is_map)
        x = op("Pooling", "classes_pool", "global_pool=True pool_type=avg kernel=(1,1)", 1, &x);
    snprintf(params, sizeof params, "num_hidden=%lld", (long long)classes);
    x = op("FullyConnected", name, params, 1, &x);
    return op("SoftmaxOutput", "softmax", "", 1, &x);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* What both parts of the training have in common. */
typedef struct tuning {
    const settings *s;
    mxc_symbol *network, *features;
    mxc_iter *train, *valid;
    int64_t n_train; /* images */
    mxc_fit_progress result;
} tuning;

/* The patterns of a text, which is split in place, or else the names of all parameters of the features; their number is
 * n. The caller frees the array. */
static const char **list_frozen(char *patterns, const mxc_names *args, int *n) {
    const char **out = malloc((strlen(patterns) + (size_t)args->n + 1) * sizeof *out);
    const int all = patterns[0] == '\0';
    char *save = NULL;
    if (!out)
        fail("no memory for", "the names of frozen parameters");
    *n = 0;
    for (char *at = strtok_r(patterns, ",", &save); at; at = strtok_r(NULL, ",", &save))
        out[(*n)++] = at;
    for (int64_t i = 0; all && i < args->n; i++)
        if (strcmp(args->items[i], "data") != 0)
            out[(*n)++] = args->items[i];
    return out;
}

/* Trains for some epochs from the given parameters, which are replaced by those of the best epoch. Files begin with
 * --out and the ending. Returns 0 if it was stopped. */
static int train_part(tuning *t, const char *ending, int64_t epochs, double lr, int n_frozen, const char *const *frozen,
                      mxc_ndarray_list *params) {
    static const char *const keys[] = {"momentum", "wd"}, *const values[] = {"0.9", "0.0001"};
    char prefix[MODEL_PATH], path[MODEL_PATH];
    mxc_context context;
    mxc_fit_options o;
    check(mxc_context_parse(t->s->device, &context));
    mxc_fit_options_init(&o, sizeof o);
    o.symbol = t->network;
    o.train = t->train;
    o.valid = t->valid;
    o.n_contexts = 1;
    o.contexts = &context;
    o.epochs = epochs;
    o.epoch_batches = (t->n_train + t->s->batch_size - 1) / t->s->batch_size;
    o.n_optimizer_params = 2;
    o.optimizer_keys = keys;
    o.optimizer_values = values;
    o.learning_rate = lr;
    o.schedule.kind = MXC_SCHEDULE_COSINE;
    o.schedule.total = epochs * o.epoch_batches;
    o.initial_params = params;
    o.initial_params_flags = MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA; /* the last layer is another one */
    o.n_frozen = n_frozen;
    o.frozen = frozen;
    o.seed = (uint64_t)t->s->seed;
    o.checkpoint = out_path(t->s, ending, prefix);
    join_path(path, prefix, ".svg");
    o.curve = path;
    o.keep_models = 1;
    o.monitor = "accuracy";
    o.save_best = 1;
    o.patience = t->s->patience;
    o.resume = t->s->resume;
    o.overwrite = t->s->overwrite;
    o.show = 1;
    o.stop = &stop;
    check(mxc_fit(&o, &t->result, NULL));
    if (t->result.interrupted)
        return 0;
    printf("%s: %.2f%% of the validation images are classified correctly after epoch %lld of %lld\n", prefix,
           100 * t->result.best, (long long)t->result.best_epoch, (long long)epochs);
    mxc_ndarray_list_release(params);
    join_path(path, prefix, "-best.params");
    check(mxc_ndarray_load(path, params));
    return 1;
}

/* The model of the first epochs takes the place of the one that the others end with. */
static void keep_head(const settings *s, mxc_ndarray_list *params) {
    char path[MODEL_PATH];
    mxc_ndarray_list_release(params);
    check(mxc_ndarray_load(out_path(s, "-head-best.params", path), params));
    check(mxc_ndarray_save(out_path(s, "-best.params", path), params->n, params->arrays,
                           (const char *const *)params->names));
    printf("%s: the model of the first epochs is better, and is kept\n", s->out);
}

/* The first epochs, then the others; params become those of the best epoch of all. Returns 0 if it was stopped. */
static int train(tuning *t, mxc_ndarray_list *params) {
    const settings *s = t->s;
    const int64_t first = s->frozen_epochs < s->epochs ? s->frozen_epochs : s->epochs;
    char patterns[sizeof s->freeze], path[MODEL_PATH];
    double best_of_head = 0;
    mxc_names args;
    int n_frozen, done = 1;
    check(mxc_symbol_list_arguments(t->features, &args));
    snprintf(patterns, sizeof patterns, "%s", s->freeze);
    const char **frozen = list_frozen(patterns, &args, &n_frozen);
    if (s->overwrite && !s->resume)
        remove(out_path(s, ".last", path)); /* or --resume would continue the second part of the earlier training */
    if (first > 0) {
        done = train_part(t, first < s->epochs ? "-head" : "", first, s->lr, n_frozen, frozen, params);
        best_of_head = t->result.best;
    }
    if (done && first < s->epochs)
        done = train_part(t, "", s->epochs - first, s->tuning_lr, 0, NULL, params);
    if (!done)
        printf("Stopped; --resume continues\n");
    else if (t->result.best < best_of_head)
        keep_head(s, params);
    free(frozen);
    mxc_names_release(&args);
    return done;
}

/* ---- confusion --------------------------------------------------------------------------------------------------- */

/* How many images of a class (row) are taken for a class (column). */
typedef struct confusion {
    int64_t classes;
    double *counts; /* (classes,classes), those of the metric when its value was last read */
} confusion;

static mxc_status add_to_confusion(mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad, double *state,
                                   void *user) {
    const int64_t classes = ((confusion *)user)->classes, rows = mxc_ndarray_shape(prediction)->dim[0];
    float *labels = malloc(mxc_ndarray_bytes(label) + 1), *values = malloc(mxc_ndarray_bytes(prediction) + 1);
    if (!labels || !values)
        fail("no memory for", "the predictions");
    check(mxc_ndarray_get(label, labels, mxc_ndarray_bytes(label)));
    check(mxc_ndarray_get(prediction, values, mxc_ndarray_bytes(prediction)));
    for (int64_t row = 0; row < rows - pad; row++) {
        const float *of = values + row * classes;
        int64_t best = 0;
        for (int64_t i = 1; i < classes; i++)
            best = of[i] > of[best] ? i : best;
        state[(int64_t)labels[row] * classes + best]++;
    }
    free(labels);
    free(values);
    return MXC_OK;
}

/* The accuracy: the share of the diagonal. */
static double read_confusion(const double *state, void *user) {
    const confusion *c = user;
    double right = 0, all = 0;
    memcpy(c->counts, state, (size_t)(c->classes * c->classes) * sizeof *state);
    for (int64_t i = 0; i < c->classes * c->classes; i++) {
        all += state[i];
        right += i % (c->classes + 1) == 0 ? state[i] : 0;
    }
    return right / all;
}

static void write_confusion(const confusion *c, const class_names *classes, const char *path) {
    FILE *file = fopen(path, "w");
    for (int64_t i = -1; file && i < c->classes; i++) {
        fprintf(file, "%s", i < 0 ? "class" : classes->items[i]);
        for (int64_t k = 0; k < c->classes; k++)
            if (i < 0)
                fprintf(file, ",%s", classes->items[k]);
            else
                fprintf(file, ",%.0f", c->counts[i * c->classes + k]);
        fputc('\n', file);
    }
    if (!file || fclose(file) != 0)
        fail("cannot write", path);
}

static void print_confusion(const confusion *c, const class_names *classes) {
    printf("\nNumber of validation images by class (row) and prediction (column)\n%-12s", "");
    for (int64_t k = 0; k < c->classes; k++)
        printf(" %10.10s", classes->items[k]);
    for (int64_t i = 0; i < c->classes; i++) {
        printf("\n%-12.12s", classes->items[i]);
        for (int64_t k = 0; k < c->classes; k++)
            printf(" %10.0f", c->counts[i * c->classes + k]);
    }
    printf("\n\n");
}

/* Runs the best model over the validation images. */
static void report_confusion(const tuning *t, const mxc_ndarray_list *params, const class_names *classes) {
    confusion c = {.classes = classes->n};
    char path[MODEL_PATH];
    mxc_metric *metric;
    c.counts = calloc((size_t)(c.classes * c.classes), sizeof *c.counts);
    if (!c.counts)
        fail("no memory for", "the table of classes");
    check(mxc_metric_create_own("confusion", c.classes * c.classes, add_to_confusion, read_confusion, &c, 1, &metric));
    check(mxc_evaluate(t->network, params, t->valid, mxc_cpu(0), 1, &metric));
    const double accuracy = mxc_metric_value(metric);
    if (c.classes <= WIDEST_TABLE)
        print_confusion(&c, classes);
    printf("Correct: %.2f%% of the validation images\n", 100 * accuracy);
    write_confusion(&c, classes, out_path(t->s, "-confusion.csv", path));
    mxc_metric_destroy(metric);
    free(c.counts);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The command that classifies with the new model. */
static void print_command(const settings *s) {
    static const char *const names[] = {"scale", "mean", "std"};
    const int64_t *shape = s->shape.value;
    char value[256];
    printf("predict %s IMAGE... --shape \"(1,%lld,%lld,%lld)\" --resize %lld", s->out, (long long)shape[0],
           (long long)shape[1], (long long)shape[2],
           (long long)(s->resize > 0         ? s->resize
                       : shape[1] > shape[2] ? shape[1]
                                             : shape[2]));
    for (const mxc_param *p = schema; p->name; p++)
        for (int i = 0; i < 3; i++)
            if (strcmp(p->name, names[i]) == 0)
                printf(" --%s \"%s\"", p->name, mxc_param_format(p, s, value, sizeof value));
    putchar('\n');
}

static void check_settings(const settings *s) {
    if (s->shape.n != 3 || (s->shape.value[0] != 1 && s->shape.value[0] != 3))
        usage_error("--shape expects (CHANNELS,HEIGHT,WIDTH) with 1 or 3 channels", "");
    check_pixels(&s->pixels);
}

/* Did an earlier run write a model and the names of its classes? A run that failed may leave other files behind. */
static int is_trained(const settings *s) {
    char path[MODEL_PATH];
    return file_exists(out_path(s, "-classes.txt", path)) &&
           (file_exists(out_path(s, "-head-symbol.json", path)) || file_exists(out_path(s, "-symbol.json", path)));
}

/* The names of the classes belong to the model that an earlier run wrote. */
static void check_classes(const settings *s, const class_names *classes) {
    char path[MODEL_PATH];
    if (!is_trained(s) || (s->overwrite && !s->resume))
        return;
    if (!s->resume)
        fail("--resume continues, --overwrite replaces the training of", s->out);
    out_path(s, "-classes.txt", path);
    class_names old = read_classes(path);
    int is_same = old.n == classes->n;
    for (int64_t i = 0; is_same && i < old.n; i++)
        is_same = strcmp(old.items[i], classes->items[i]) == 0;
    free_classes(&old);
    if (!is_same)
        fail("--resume expects images of the classes in", path);
}

/* Opens the images of both parts and writes their lists and the names of the classes. */
static void open_data(tuning *t, const char *const *roots, int n_roots, class_names *classes) {
    const settings *s = t->s;
    const int64_t holdout = n_roots == 2 ? 0 : s->holdout;
    char train_list[MODEL_PATH], valid_list[MODEL_PATH], path[MODEL_PATH];
    images train = find_images(roots[0], classes, 1), valid = {.n = 0};
    if (n_roots == 2)
        valid = find_images(roots[1], classes, 0);
    if (classes->n < 2 || classes->n > MAX_CLASSES)
        fail("expected 2 to 1000 subdirectories with images in", roots[0]);
    check_classes(s, classes);
    t->n_train = write_list(out_path(s, "-train.lst", train_list), &train, holdout, 0);
    const int64_t n_valid = write_list(out_path(s, "-valid.lst", valid_list), holdout ? &train : &valid, holdout, 1);
    if (t->n_train == 0 || n_valid == 0)
        fail("too few images in", roots[0]);
    printf("%lld classes, %lld images for training, %lld for validation\n", (long long)classes->n,
           (long long)t->n_train, (long long)n_valid);
    write_classes(classes, out_path(s, "-classes.txt", path));
    t->train = open_images(s, roots[0], train_list, 1);
    t->valid = open_images(s, n_roots == 2 ? roots[1] : roots[0], valid_list, 0);
    free_images(&train);
    free_images(&valid);
}

int main(int argc, char **argv) {
    settings s;
    const char *words[3];
    class_names classes = {.n = 0};
    tuning t = {.s = &s};
    int is_map;
    const int n_words = parse_arguments(argc, argv, &s, words);
    check_settings(&s);
    catch_signals();
    model m = load_model(words[0], s.epoch);
    t.features = find_features(&s, &m, &is_map);
    rename_input(&m, t.features);
    open_data(&t, words + 1, n_words - 1, &classes);
    t.network = make_network(&m, t.features, is_map, classes.n);
    const int done = train(&t, &m.params);
    if (done) {
        report_confusion(&t, &m.params, &classes);
        print_command(&s);
    }
    mxc_iter_destroy(t.train);
    mxc_iter_destroy(t.valid);
    mxc_symbol_release(t.network);
    mxc_symbol_release(t.features);
    free_classes(&classes);
    free_model(&m);
    return done ? 0 : 128 + stop;
}
