/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a small network on data in the MNIST format (such as Fashion-MNIST) and prints the test accuracy. Ctrl-C stops
 * after the current step and saves; --resume continues from there.
 *
 * Exit status: 0 trained to the end, 1 failed, 2 wrong options, 128 + signal number if stopped by SIGINT or SIGTERM.
 */
#include "training.h"

enum { MLP, LENET };
enum { TEXT = 1024, PROFILED_STEPS = 200, TEST_BATCH = 100, KV_PARAMS = 8 };

typedef struct settings {
    int32_t network, resume, overwrite;
    int64_t batch_size, epochs, seed, checkpoint_batches;
    double lr, momentum;
    char data[TEXT], context[TEXT], dtype[TEXT], kv_store[TEXT], kv_params[TEXT];
    char checkpoint[TEXT], curve[TEXT], profile[TEXT];
} settings;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(settings, network), .name = "network", .type = MXC_PARAM_ENUM, .choices = "mlp,lenet",
     .initial = "lenet", .doc = "network to train"},
    TEXT_OPTION("data", data, "/usr/share/datasets/fashion-mnist", "directory of the four IDX files, plain or .gz"),
    TEXT_OPTION("context", context, "cpu(0)", "device to train on, such as gpu(0)"),
    TEXT_OPTION("dtype", dtype, "float32", "dtype of the computation: float32, float16 or bfloat16"),
    TEXT_OPTION("kv-store", kv_store, "local", "type of the key-value store; dist_sync: several processes of mpirun"),
    TEXT_OPTION("kv-params", kv_params, "", "parameters of the store, such as shard=true,compression=bfloat16"),
    INTEGER_OPTION("batch-size", batch_size, "64", 1, 60000, "number of images per step and process"),
    INTEGER_OPTION("epochs", epochs, "10", 1, 1e6, "number of passes over the training images"),
    RATE_OPTION("0.05", "initial learning rate, which falls to 0 along a cosine"),
    {MXC_PARAM_FIELD(settings, momentum), .name = "momentum", .type = MXC_PARAM_FLOAT, .initial = "0.9", .bounded = 1,
     .minimum = 0, .maximum = 1, .doc = "momentum: share of the previous step that is repeated"},
    {MXC_PARAM_FIELD(settings, seed), .name = "seed", .type = MXC_PARAM_INT, .initial = "1",
     .doc = "seed of the initial weights and of the order of images"},
    TEXT_OPTION("checkpoint", checkpoint, "",
                "prefix of the files saved after each epoch and on interruption; default: none"),
    INTEGER_OPTION("checkpoint-batches", checkpoint_batches, "0", 0, 1e9,
                   "also save after every so many steps; 0: only after epochs"),
    {MXC_PARAM_FIELD(settings, resume), .name = "resume", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "continue from the checkpoint, if there is one"},
    {MXC_PARAM_FIELD(settings, overwrite), .name = "overwrite", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "replace an existing checkpoint of another training"},
    TEXT_OPTION("curve", curve, "", "SVG file for the learning curve, written after each epoch; default: none"),
    TEXT_OPTION("profile", profile, "", "file for a trace of the first 200 steps, for chrome://tracing; default: none"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_mnist",
    .words = "",
    .schema = schema,
    .about = "Trains a network on images in the MNIST format and prints its accuracy on the test images.\n"
             "Ctrl-C stops after the current step and saves, if there is a --checkpoint; a second one ends at once.\n"
             "Exit status: 0 trained to the end, 1 failed, 2 wrong options, 130 stopped by Ctrl-C.",
};

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static mxc_symbol *mlp(mxc_symbol *x) {
    x = op("FullyConnected", "fc1", "num_hidden=128", 1, &x);
    x = op("Activation", "relu1", "act_type=relu", 1, &x);
    x = op("FullyConnected", "fc2", "num_hidden=64", 1, &x);
    x = op("Activation", "relu2", "act_type=relu", 1, &x);
    return op("FullyConnected", "fc3", "num_hidden=10", 1, &x);
}

static mxc_symbol *lenet(mxc_symbol *x) {
    x = op("Convolution", "conv1", "kernel=(5,5) num_filter=20", 1, &x);
    x = op("Activation", "tanh1", "act_type=tanh", 1, &x);
    x = op("Pooling", "pool1", "pool_type=max kernel=(2,2) stride=(2,2)", 1, &x);
    x = op("Convolution", "conv2", "kernel=(5,5) num_filter=50", 1, &x);
    x = op("Activation", "tanh2", "act_type=tanh", 1, &x);
    x = op("Pooling", "pool2", "pool_type=max kernel=(2,2) stride=(2,2)", 1, &x);
    x = op("Flatten", "flatten", "", 1, &x);
    x = op("FullyConnected", "fc1", "num_hidden=500", 1, &x);
    x = op("Activation", "tanh3", "act_type=tanh", 1, &x);
    return op("FullyConnected", "fc2", "num_hidden=10", 1, &x);
}

static mxc_symbol *make_network(int network) {
    mxc_symbol *data = variable("data"), *classes = network == MLP ? mlp(data) : lenet(data);
    return op("SoftmaxOutput", "softmax", "", 1, &classes);
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Training images are divided among the workers of the store; store is NULL for test images. */
static mxc_iter *open_data(const settings *s, const char *set, int64_t batch_size, const mxc_kvstore *store) {
    char image[TEXT + 64], label[TEXT + 64], batch[32], seed[32], parts[16], part[16];
    const char *keys[] = {"image", "label", "batch_size", "flat", "shuffle", "seed", "num_parts", "part_index"};
    const char *values[] = {
        image, label, batch, s->network == MLP ? "True" : "False", store ? "True" : "False", seed, parts, part,
    };
    mxc_iter *iter;
    snprintf(image, sizeof image, "%s/%s-images-idx3-ubyte", s->data, set);
    snprintf(label, sizeof label, "%s/%s-labels-idx1-ubyte", s->data, set);
    snprintf(batch, sizeof batch, "%lld", (long long)batch_size);
    snprintf(seed, sizeof seed, "%lld", (long long)s->seed);
    snprintf(parts, sizeof parts, "%d", mxc_kvstore_group_size(store));
    snprintf(part, sizeof part, "%d", mxc_kvstore_rank(store));
    check(mxc_iter_create("MNISTIter", 8, keys, values, &iter));
    return iter;
}

static int64_t count_batches(const settings *s, const mxc_kvstore *store) {
    char path[TEXT + 64];
    mxc_ndarray *labels;
    snprintf(path, sizeof path, "%s/train-labels-idx1-ubyte", s->data);
    if (mxc_idx_load(path, &labels) == MXC_ENOTFOUND) {
        strcat(path, ".gz");
        check(mxc_idx_load(path, &labels));
    }
    int64_t n = mxc_ndarray_size(labels) / mxc_kvstore_group_size(store) / s->batch_size;
    mxc_ndarray_release(labels);
    return n;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* user points to the number of steps of this run. */
static mxc_status on_step(const mxc_fit_progress *progress, int epoch_end, void *user) {
    int *steps = user;
    (void)progress;
    *steps += !epoch_end;
    if (*steps == PROFILED_STEPS)
        mxc_trace_stop();
    return MXC_OK;
}

static void train(const settings *s, mxc_symbol *net, mxc_iter *training, mxc_iter *test, mxc_kvstore *store,
                  mxc_fit_progress *result) {
    const char *key = "momentum", *value;
    char momentum[32];
    int steps = 0, is_first = mxc_kvstore_rank(store) == 0;
    mxc_context context;
    mxc_fit_options options;
    check(mxc_context_parse(s->context, &context));
    snprintf(momentum, sizeof momentum, "%.17g", s->momentum);
    value = momentum;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = net;
    options.train = training;
    options.valid = test;
    options.n_contexts = 1;
    options.contexts = &context;
    options.epochs = s->epochs;
    options.epoch_batches = count_batches(s, store);
    options.n_optimizer_params = 1;
    options.optimizer_keys = &key;
    options.optimizer_values = &value;
    options.learning_rate = s->lr;
    options.schedule.kind = MXC_SCHEDULE_COSINE;
    options.schedule.total = s->epochs * options.epoch_batches;
    options.store = store;
    options.seed = (uint64_t)s->seed;
    options.dtype = s->dtype;
    options.checkpoint = text_or_null(s->checkpoint);
    options.checkpoint_batches = s->checkpoint_batches;
    options.resume = s->resume;
    options.overwrite = s->overwrite;
    options.curve = is_first ? text_or_null(s->curve) : NULL;
    options.show = is_first;
    options.stop = &stop;
    options.callback = text_or_null(s->profile) ? on_step : NULL;
    options.user = &steps;
    check(mxc_fit(&options, result, NULL));
}

static void report(const settings *s, const mxc_fit_progress *result) {
    if (result->interrupted)
        printf("Stopped in epoch %lld; %s%s\n", (long long)result->epoch + 1,
               s->checkpoint[0] ? "--resume continues from " : "nothing is saved without --checkpoint", s->checkpoint);
    else
        printf("Test accuracy %.2f%% after epoch %lld\n", 100 * result->valid_accuracy, (long long)result->epoch);
}

/* Without a distributed store, several processes would each train on all images and write the same files. */
static void expect_one_process(const char *kv_store) {
    static const char *const sizes[] = {
        "OMPI_COMM_WORLD_SIZE",
        "PMI_SIZE",
        "MV2_COMM_WORLD_SIZE",
        "SLURM_STEP_NUM_TASKS",
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const char *size = getenv(sizes[i]);
        if (!size || atoi(size) < 2)
            continue;
        fprintf(stderr,
                "%s: started as one of %d processes (%s=%s), but with --kv-store %s each would train alone; give "
                "--kv-store dist_sync\n",
                program.name, atoi(size), sizes[i], size, kv_store);
        exit(2);
    }
}

/* Splits the text of the parameters in place. */
static mxc_kvstore *open_store(settings *s) {
    const char *keys[KV_PARAMS], *values[KV_PARAMS];
    mxc_kvstore *store;
    int n = 0;
    if (strncmp(s->kv_store, "dist_", 5) != 0)
        expect_one_process(s->kv_store);
    for (char *key = strtok(s->kv_params, ","); key && n < KV_PARAMS; key = strtok(NULL, ",")) {
        char *value = strchr(key, '=');
        if (value)
            *value++ = '\0';
        keys[n] = key;
        values[n++] = value ? value : "";
    }
    check(mxc_kvstore_create_with(s->kv_store, n, keys, values, &store));
    return store;
}

int main(int argc, char **argv) {
    settings s;
    mxc_fit_progress result;
    mxc_kvstore *store;
    parse_arguments(argc, argv, &s, NULL);
    catch_signals();
    store = open_store(&s);
    mxc_iter *training = open_data(&s, "train", s.batch_size, store), *test = open_data(&s, "t10k", TEST_BATCH, NULL);
    mxc_symbol *net = make_network(s.network);
    if (s.profile[0])
        check(mxc_trace_start());
    train(&s, net, training, test, store, &result);
    if (mxc_kvstore_rank(store) == 0)
        report(&s, &result);
    mxc_kvstore_destroy(store);
    if (s.profile[0]) {
        mxc_trace_stop();
        check(mxc_trace_write(s.profile));
    }
    mxc_symbol_release(net);
    mxc_iter_destroy(training);
    mxc_iter_destroy(test);
    return result.interrupted ? 128 + stop : 0;
}
