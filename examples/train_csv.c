/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression or classification from CSV files, with one line per sample: trains a small network to predict one number,
 * or one class, from several numbers, and prints the root mean square error, or the accuracy. The label is a column:
 *
 *     train_csv train.csv test.csv --header --label-column price --columns 13
 *     train_csv train.csv test.csv --label-column -1 --columns 4 --classes classes.txt
 *
 * or labels are files of their own, of as many lines: train_csv DATA LABEL TEST_DATA TEST_LABEL. Samples are shuffled,
 * also because the columns are normalised to mean 0 and standard deviation 1 batch by batch.
 */
#include <math.h>

#include "example.h"

typedef struct settings {
    int64_t columns, hidden, batch_size, epochs, seed;
    int32_t header;
    double lr;
    char label_column[256], classes[4096], missing[64];
} settings;

static const mxc_param schema[] = {
    INTEGER_OPTION("columns", columns, "13", 1, 1e6, "number of columns of the data, without the label"),
    {MXC_PARAM_FIELD(settings, header), .name = "header", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "the first line of each file holds the names of the columns"},
    TEXT_OPTION("label-column", label_column, "", "name or number of the column that is the label"),
    TEXT_OPTION("classes", classes, "",
                "the labels are classes; file of their names, which is written if it does not exist"),
    TEXT_OPTION("missing", missing, "error",
                "what missing values become: a number, mean (of the column in the files of training, or in those of "
                "the test), or error"),
    INTEGER_OPTION("hidden", hidden, "32", 1, 65536, "number of units in each of the two hidden layers"),
    INTEGER_OPTION("batch-size", batch_size, "32", 1, 65536, "number of samples per step"),
    INTEGER_OPTION("epochs", epochs, "100", 1, 1e6, "number of passes over the data"),
    INTEGER_OPTION("seed", seed, "1", 1, 1e9, "seed of the initial weights and of the order of samples"),
    RATE_OPTION("0.01", "initial learning rate of Adam, which falls to 0 along a cosine"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_csv",
    .words = "DATA [LABEL] TEST_DATA [TEST_LABEL]",
    .min_words = 2,
    .max_words = 4,
    .schema = schema,
    .about =
        "Trains a network to predict a number or a class (--label-column, or a line of LABEL) from several numbers "
        "(the same line of DATA).",
};

static mxc_iter *open_lines(const settings *s, const char *data, const char *label) {
    char shape[32], batch[32], seed[32];
    const char *keys[] = {"data_csv", "data_shape", "batch_size",   "seed",      "shuffle",
                          "header",   "missing",    "label_column", "label_csv", "path_classes"};
    const char *values[] = {data,       shape,           batch,
                            seed,       "True",          s->header ? "True" : "False",
                            s->missing, s->label_column, label ? label : "NULL",
                            s->classes};
    mxc_iter *iter;
    snprintf(shape, sizeof shape, "(%lld,)", (long long)s->columns);
    snprintf(batch, sizeof batch, "%lld", (long long)s->batch_size);
    snprintf(seed, sizeof seed, "%lld", (long long)s->seed);
    check(mxc_iter_create("CSVIter", 10, keys, values, &iter));
    return iter;
}

static int64_t count_batches(mxc_iter *lines) {
    mxc_batch batch;
    int64_t n = -1;
    do {
        check(mxc_iter_next(lines, &batch));
        n++;
    } while (batch.n_data);
    check(mxc_iter_reset(lines));
    return n;
}

/* Number of lines of the file of class names, which the first iterator has written if it was absent. */
static int64_t count_classes(const char *path) {
    FILE *file = fopen(path, "r");
    int64_t n = 0;
    if (!file)
        usage_error("cannot read ", path);
    for (int c, before = '\n'; (c = fgetc(file)) != EOF; before = c)
        n += before == '\n';
    fclose(file);
    return n;
}

static mxc_symbol *make_network(const settings *s) {
    char hidden[64], outputs[64];
    mxc_symbol *x = variable("data"), *in[2];
    snprintf(hidden, sizeof hidden, "num_hidden=%lld", (long long)s->hidden);
    x = op("BatchNorm", "columns", "eps=1e-5", 1, &x);
    x = op("FullyConnected", "fc1", hidden, 1, &x);
    x = op("Activation", "relu1", "act_type=relu", 1, &x);
    x = op("FullyConnected", "fc2", hidden, 1, &x);
    x = op("Activation", "relu2", "act_type=relu", 1, &x);
    snprintf(outputs, sizeof outputs, "num_hidden=%lld", (long long)(*s->classes ? count_classes(s->classes) : 1));
    in[0] = op("FullyConnected", "fc3", outputs, 1, &x);
    in[1] = variable("softmax_label"); /* CSVIter's name for any label */
    return *s->classes ? op("SoftmaxOutput", "softmax", "", 2, in) : op("LinearRegressionOutput", "number", "", 2, in);
}

/* The mean square error, or the accuracy. */
static double evaluate(const settings *s, mxc_symbol *network, const mxc_ndarray_list *params, mxc_iter *lines) {
    mxc_metric *metric;
    check(mxc_metric_create(*s->classes ? "accuracy" : "mse", 0, NULL, NULL, &metric));
    check(mxc_evaluate(network, params, lines, mxc_cpu(0), 1, &metric));
    double value = mxc_metric_value(metric);
    mxc_metric_destroy(metric);
    return value;
}

static void train(const settings *s, mxc_symbol *network, mxc_iter *lines, mxc_ndarray_list *params) {
    mxc_fit_options options;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = network;
    options.train = lines;
    options.epochs = s->epochs;
    options.optimizer = "adam";
    options.learning_rate = s->lr;
    options.schedule.kind = MXC_SCHEDULE_COSINE;
    options.schedule.total = s->epochs * count_batches(lines);
    options.seed = (uint64_t)s->seed;
    check(mxc_fit(&options, NULL, params));
}

int main(int argc, char **argv) {
    settings s;
    const char *paths[4] = {NULL};
    mxc_ndarray_list params;
    const int n_words = parse_arguments(argc, argv, &s, paths);
    if (n_words != (*s.label_column ? 2 : 4))
        usage_error(*s.label_column ? "--label-column takes two files: " : "expected four files, or --label-column: ",
                    program.words);
    mxc_iter *lines = open_lines(&s, paths[0], *s.label_column ? NULL : paths[1]);
    mxc_iter *test = open_lines(&s, paths[n_words / 2], *s.label_column ? NULL : paths[3]);
    mxc_symbol *network = make_network(&s);
    train(&s, network, lines, &params);
    const double in_training = evaluate(&s, network, &params, lines), in_test = evaluate(&s, network, &params, test);
    if (*s.classes)
        printf("Accuracy: %.1f %% in training, %.1f %% in the test\n", 100 * in_training, 100 * in_test);
    else
        printf("Root mean square error: %.3f in training, %.3f in the test\n", sqrt(in_training), sqrt(in_test));
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(network);
    mxc_iter_destroy(lines);
    mxc_iter_destroy(test);
    return 0;
}
