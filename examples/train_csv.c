/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression from CSV files: trains a small network to predict one number from several, and prints the root mean square
 * error. Data and labels are separate files with one line per sample, as CSVIter reads them:
 *
 *     shuf housing.csv >all.csv; cut -d, -f1-13 all.csv >data.csv; cut -d, -f14 all.csv >label.csv
 *
 * CSVIter keeps the order of lines. Shuffle them beforehand, because the columns are normalised to mean 0 and standard
 * deviation 1 batch by batch.
 */
#include <math.h>

#include "example.h"

typedef struct settings {
    int64_t columns, hidden, batch_size, epochs, seed;
    double lr;
} settings;

static const mxc_param schema[] = {
    INTEGER_OPTION("columns", columns, "13", 1, 1e6, "number of columns of the data"),
    INTEGER_OPTION("hidden", hidden, "32", 1, 65536, "number of units in each of the two hidden layers"),
    INTEGER_OPTION("batch-size", batch_size, "32", 1, 65536, "number of samples per step"),
    INTEGER_OPTION("epochs", epochs, "100", 1, 1e6, "number of passes over the data"),
    INTEGER_OPTION("seed", seed, "1", 1, 1e9, "seed of the initial weights"),
    RATE_OPTION("0.01", "initial learning rate of Adam, which falls to 0 along a cosine"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_csv",
    .words = "DATA LABEL TEST_DATA TEST_LABEL",
    .min_words = 4,
    .max_words = 4,
    .schema = schema,
    .about = "Trains a network to predict a number (a line of LABEL) from several (the same line of DATA).",
};

static mxc_iter *open_lines(const settings *s, const char *data, const char *label) {
    char shape[32], batch[32];
    const char *keys[] = {"data_csv", "label_csv", "data_shape", "batch_size"};
    const char *values[] = {data, label, shape, batch};
    mxc_iter *iter;
    snprintf(shape, sizeof shape, "(%lld,)", (long long)s->columns);
    snprintf(batch, sizeof batch, "%lld", (long long)s->batch_size);
    check(mxc_iter_create("CSVIter", 4, keys, values, &iter));
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

static mxc_symbol *make_network(const settings *s) {
    char hidden[64];
    mxc_symbol *x = variable("data"), *in[2];
    snprintf(hidden, sizeof hidden, "num_hidden=%lld", (long long)s->hidden);
    x = op("BatchNorm", "columns", "eps=1e-5", 1, &x);
    x = op("FullyConnected", "fc1", hidden, 1, &x);
    x = op("Activation", "relu1", "act_type=relu", 1, &x);
    x = op("FullyConnected", "fc2", hidden, 1, &x);
    x = op("Activation", "relu2", "act_type=relu", 1, &x);
    in[0] = op("FullyConnected", "fc3", "num_hidden=1", 1, &x);
    in[1] = variable("softmax_label"); /* CSVIter's name for any label */
    return op("LinearRegressionOutput", "number", "", 2, in);
}

static double root_of_mean_square_error(mxc_symbol *network, const mxc_ndarray_list *params, mxc_iter *lines) {
    mxc_metric *metric;
    check(mxc_metric_create("mse", 0, NULL, NULL, &metric));
    check(mxc_evaluate(network, params, lines, mxc_cpu(0), 1, &metric));
    double mean = mxc_metric_value(metric);
    mxc_metric_destroy(metric);
    return sqrt(mean);
}

static void train(const settings *s, mxc_symbol *network, mxc_iter *lines, mxc_ndarray_list *params) {
    mxc_fit_options options;
    mxc_fit_options_init(&options);
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
    parse_arguments(argc, argv, &s, paths);
    mxc_iter *lines = open_lines(&s, paths[0], paths[1]), *test = open_lines(&s, paths[2], paths[3]);
    mxc_symbol *network = make_network(&s);
    train(&s, network, lines, &params);
    printf("Root mean square error: %.3f in training, %.3f in the test\n",
           root_of_mean_square_error(network, &params, lines), root_of_mean_square_error(network, &params, test));
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(network);
    mxc_iter_destroy(lines);
    mxc_iter_destroy(test);
    return 0;
}
