/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a small residual network on images: a record file (.rec) or a directory with one subdirectory per class.
 *
 *     train_image TRAIN [TEST] [--side 32] [--classes 10] [--blocks 1] [--batch-size 64] [--epochs 10] [--lr 0.1]
 *                 [--checkpoint PREFIX [--resume]]
 *
 * Exit status: 0 trained, 1 failed, 2 wrong options, 128 + signal number when stopped by SIGINT or SIGTERM after
 * the running step.
 */
#include "training.h"

typedef struct settings {
    int64_t side, classes, blocks, batch_size, epochs;
    double lr;
    int32_t resume;
    char checkpoint[1024];
} settings;

static const mxc_param schema[] = {
    INTEGER_OPTION("side", side, "32", 1, 1024, "height and width that images are cropped to"),
    INTEGER_OPTION("classes", classes, "10", 1, 1e6, "number of classes"),
    INTEGER_OPTION("blocks", blocks, "1", 1, 100, "number of blocks of two convolutions in each of the three stages"),
    INTEGER_OPTION("batch-size", batch_size, "64", 1, 65536, "number of images per step"),
    INTEGER_OPTION("epochs", epochs, "10", 1, 1e6, "number of passes over the images"),
    RATE_OPTION("0.1", "learning rate"),
    TEXT_OPTION("checkpoint", checkpoint, "",
                "prefix of the files that the model is saved to after each epoch; default: none"),
    {MXC_PARAM_FIELD(settings, resume), .name = "resume", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "continue from the checkpoint, if there is one"},
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_image",
    .words = "TRAIN [TEST]",
    .min_words = 1,
    .max_words = 2,
    .schema = schema,
    .about = "Trains on images: a record file (.rec) or a directory with one subdirectory per class.",
};

/* ---- network ----------------------------------------------------------------------------------------------------- */

/* Convolution and batch normalisation. */
static mxc_symbol *conv(mxc_symbol *in, const char *name, int kernel, int channels, int stride) {
    char full[64], params[128];
    snprintf(full, sizeof full, "%.40s_conv", name);
    snprintf(params, sizeof params, "kernel=(%d,%d) pad=(%d,%d) stride=(%d,%d) num_filter=%d no_bias=True", kernel,
             kernel, kernel / 2, kernel / 2, stride, stride, channels);
    in = op("Convolution", full, params, 1, &in);
    snprintf(full, sizeof full, "%.40s_bn", name);
    return op("BatchNorm", full, "fix_gamma=False", 1, &in);
}

static mxc_symbol *relu(mxc_symbol *in, const char *name) {
    char full[64];
    snprintf(full, sizeof full, "%.40s_relu", name);
    return op("Activation", full, "act_type=relu", 1, &in);
}

/* Two convolutions, whose result is added to the input. */
static mxc_symbol *block(mxc_symbol *in, const char *name, int channels, int stride, int changes) {
    char full[64];
    mxc_symbol *sides[2];
    mxc_symbol *x = mxc_symbol_retain(in);
    snprintf(full, sizeof full, "%.40s_a", name);
    x = relu(conv(x, full, 3, channels, stride), full);
    snprintf(full, sizeof full, "%.40s_b", name);
    sides[0] = conv(x, full, 3, channels, 1);
    snprintf(full, sizeof full, "%.40s_side", name);
    sides[1] = changes ? conv(in, full, 1, channels, stride) : in;
    snprintf(full, sizeof full, "%.40s_sum", name);
    return relu(op("elemwise_add", full, "", 2, sides), name);
}

static mxc_symbol *make_network(const settings *s) {
    char name[64];
    mxc_symbol *x = variable("data");
    x = relu(conv(x, "first", 3, 16, 1), "first");
    for (int stage = 0; stage < 3; stage++)
        for (int i = 0; i < s->blocks; i++) {
            snprintf(name, sizeof name, "stage%d_%d", stage, i);
            x = block(x, name, 16 << stage, stage > 0 && i == 0 ? 2 : 1, stage > 0 && i == 0);
        }
    x = op("Pooling", "mean", "global_pool=True pool_type=avg kernel=(1,1)", 1, &x);
    x = op("Flatten", "flat", "", 1, &x);
    snprintf(name, sizeof name, "num_hidden=%lld", (long long)s->classes);
    x = op("FullyConnected", "classes", name, 1, &x);
    return op("SoftmaxOutput", "softmax", "", 1, &x);
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Images for training are shuffled, padded, cropped at random and mirrored. */
static mxc_iter *open_images(const settings *s, const char *path, int training) {
    char shape[64], side[32], batch[32];
    size_t n = strlen(path);
    int is_record = n > 4 && strcmp(path + n - 4, ".rec") == 0;
    const char *yes = training ? "1" : "0";
    const char *keys[] = {
        is_record ? "path_imgrec" : "path_root",
        "data_shape",
        "batch_size",
        "resize",
        "shuffle",
        "rand_crop",
        "rand_mirror",
        "pad",
        "mean_r",
        "mean_g",
        "mean_b",
        "scale",
    };
    const char *values[] = {
        path, shape, batch, side, yes, yes, yes, training ? "4" : "0", "125", "123", "114", "0.016",
    };
    mxc_iter *iter;
    snprintf(shape, sizeof shape, "(3,%lld,%lld)", (long long)s->side, (long long)s->side);
    snprintf(side, sizeof side, "%lld", (long long)s->side);
    snprintf(batch, sizeof batch, "%lld", (long long)s->batch_size);
    check(mxc_iter_create(is_record ? "ImageRecordIter" : "ImageFolderIter", 12, keys, values, &iter));
    return iter;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    settings s;
    const char *paths[2], *keys[] = {"momentum", "wd"}, *values[] = {"0.9", "0.0001"};
    int n_paths = parse_arguments(argc, argv, &s, paths);
    mxc_fit_options options;
    mxc_fit_progress result;
    mxc_fit_options_init(&options, sizeof options);
    catch_signals();
    options.symbol = make_network(&s);
    options.train = open_images(&s, paths[0], 1);
    options.valid = n_paths == 2 ? open_images(&s, paths[1], 0) : NULL;
    options.epochs = s.epochs;
    options.n_optimizer_params = 2;
    options.optimizer_keys = keys;
    options.optimizer_values = values;
    options.learning_rate = s.lr;
    options.checkpoint = text_or_null(s.checkpoint);
    options.resume = s.resume;
    options.show = 1;
    options.stop = &stop;
    check(mxc_fit(&options, &result, NULL));
    printf("Correct: %.2f%% of the training images", 100 * result.accuracy);
    if (n_paths == 2)
        printf(", %.2f%% of the test images", 100 * result.valid_accuracy);
    putchar('\n');
    mxc_symbol_release(options.symbol);
    mxc_iter_destroy(options.train);
    mxc_iter_destroy(options.valid);
    return result.interrupted ? 128 + stop : 0;
}
