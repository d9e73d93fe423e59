/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a character-level language model (an LSTM), prints its perplexity after each epoch, and generates text. The
 * last tenth of the text is used for validation.
 *
 * The text is divided into streams. A batch contains the next steps of all streams and begins with states of zero. The
 * batch axis runs over characters, so that loss, accuracy and learning curve are per character.
 */
#include <math.h>

#include "example.h"

typedef struct settings {
    int64_t streams, steps, units, layers, epochs, sample, seed;
    double lr;
    char curve[1024];
} settings;

static const mxc_param schema[] = {
    INTEGER_OPTION("streams", streams, "32", 1, 4096, "number of parts of the text that are processed in parallel"),
    INTEGER_OPTION("steps", steps, "50", 1, 4096, "number of characters of each stream per batch"),
    INTEGER_OPTION("units", units, "128", 1, 4096, "number of units per layer"),
    INTEGER_OPTION("layers", layers, "1", 1, 16, "number of layers of the LSTM"),
    INTEGER_OPTION("epochs", epochs, "10", 1, 1e6, "number of passes over the text"),
    INTEGER_OPTION("sample", sample, "300", 0, 1e9, "number of characters to generate at the end"),
    INTEGER_OPTION("seed", seed, "1", 0, 1e9, "seed of the initial weights and of the generated text"),
    RATE_OPTION("0.003", "learning rate of Adam"),
    TEXT_OPTION("curve", curve, "", "SVG file for the learning curve, written after each epoch; default: none"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_text",
    .words = "TEXT",
    .min_words = 1,
    .max_words = 1,
    .schema = schema,
    .about = "Trains a character-level language model on a text and generates text.",
};

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Characters, numbered from 0. */
typedef struct text {
    int64_t n;
    unsigned char *characters; /* numbers */
    int n_known;
    unsigned char known[256]; /* the character of each number */
} text;

static void number_characters(text *t) {
    int number_of[256];
    memset(number_of, -1, sizeof number_of);
    for (int64_t i = 0; i < t->n; i++) {
        int c = t->characters[i];
        if (number_of[c] < 0) {
            number_of[c] = t->n_known;
            t->known[t->n_known++] = (unsigned char)c;
        }
        t->characters[i] = (unsigned char)number_of[c];
    }
}

static text read_text(const char *path) {
    text t = {.n_known = 0};
    t.characters = read_file(path, &t.n);
    if (t.n == 0)
        fail("no text in", path);
    number_characters(&t);
    return t;
}

/* An array whose rows contain one character of each stream. */
static mxc_ndarray *interleave_streams(const unsigned char *from, int64_t stream, int64_t streams, int64_t rows) {
    const int64_t n = rows * streams;
    mxc_ndarray *out;
    void *data;
    check(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &out));
    check(mxc_ndarray_data(out, &data));
    for (int64_t i = 0; i < n; i++)
        ((float *)data)[i] = from[i % streams * stream + i / streams];
    return out;
}

/* Batches of steps x streams characters from a part of the text; labels are the following characters. */
static mxc_iter *open_part(const settings *s, const text *t, int64_t begin, int64_t end) {
    const int64_t stream = (end - begin - 1) / s->streams, rows = stream / s->steps * s->steps;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_iter *iter;
    if (rows == 0)
        fail("too short for this number of streams and steps:", "the text");
    mxc_ndarray *data = interleave_streams(t->characters + begin, stream, s->streams, rows);
    mxc_ndarray *label = interleave_streams(t->characters + begin + 1, stream, s->streams, rows);
    options.batch_size = s->steps * s->streams;
    check(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

/* ---- network ----------------------------------------------------------------------------------------------------- */

/* Predicts the character after each of steps * streams characters. To generate text, states are inputs and outputs. */
static mxc_symbol *make_network(const settings *s, const text *t, int64_t steps, int64_t streams, int is_generator) {
    char params[256];
    mxc_symbol *in[4] = {variable("data")}, *lstm, *out[3];
    snprintf(params, sizeof params, "input_dim=%d output_dim=%lld", t->n_known, (long long)s->units);
    in[0] = op("Embedding", "embed", params, 1, in);
    snprintf(params, sizeof params, "shape=(%lld,%lld,%lld)", (long long)steps, (long long)streams,
             (long long)s->units);
    in[0] = op("Reshape", "sequences", params, 1, in);
    if (!is_generator) {
        in[1] = variable("lstm_parameters");
        in[2] = op("_zeros", "state", "", 0, NULL);
        in[3] = op("_zeros", "cell", "", 0, NULL);
    }
    snprintf(params, sizeof params, "mode=lstm state_size=%lld num_layers=%lld state_outputs=%d", (long long)s->units,
             (long long)s->layers, is_generator);
    lstm = op("RNN", "lstm", params, is_generator ? 1 : 4, in);
    for (int i = 0; i < (is_generator ? 3 : 1); i++)
        check(mxc_symbol_output(lstm, i, &out[i]));
    mxc_symbol_release(lstm);
    snprintf(params, sizeof params, "shape=(-1,%lld)", (long long)s->units);
    out[0] = op("Reshape", "rows", params, 1, out);
    snprintf(params, sizeof params, "num_hidden=%d", t->n_known);
    out[0] = op("FullyConnected", "next", params, 1, out);
    out[0] = op("SoftmaxOutput", "softmax", "", 1, out);
    if (!is_generator)
        return out[0];
    mxc_symbol *all;
    check(mxc_symbol_group(3, out, &all));
    for (int i = 0; i < 3; i++)
        mxc_symbol_release(out[i]);
    return all;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static mxc_status print_perplexity(const mxc_fit_progress *p, int epoch_end, void *user) {
    (void)user;
    if (epoch_end)
        printf("epoch %lld: perplexity %.2f in training, %.2f on the rest\n", (long long)p->epoch + 1, exp(p->loss),
               exp(p->valid_loss));
    return MXC_OK;
}

static void train(const settings *s, const text *t, mxc_ndarray_list *params) {
    const char *scale = "scale", *values[] = {"0.08", "5"}, *clip = "clip_gradient";
    int64_t cut = t->n - t->n / 10;
    mxc_fit_options options;
    mxc_fit_options_init(&options, sizeof options);
    options.symbol = make_network(s, t, s->steps, s->streams, 0);
    options.train = open_part(s, t, 0, cut);
    options.valid = open_part(s, t, cut, t->n);
    options.epochs = s->epochs;
    options.optimizer = "adam";
    options.n_optimizer_params = options.n_initializer_params = 1;
    options.optimizer_keys = &clip;
    options.optimizer_values = &values[1];
    options.learning_rate = s->lr;
    options.initializer = "uniform";
    options.initializer_keys = &scale;
    options.initializer_values = &values[0];
    options.seed = (uint64_t)s->seed;
    options.curve = s->curve[0] ? s->curve : NULL;
    options.show = 1;
    options.callback = print_perplexity;
    check(mxc_fit(&options, NULL, params));
    mxc_symbol_release(options.symbol);
    mxc_iter_destroy(options.train);
    mxc_iter_destroy(options.valid);
}

/* ---- generation -------------------------------------------------------------------------------------------------- */

static int choose(const float *probabilities, int n) {
    double left = (double)random() / RAND_MAX;
    int i = 0;
    while (i < n - 1 && (left -= probabilities[i]) > 0)
        i++;
    return i;
}

/* Draws the next character, and feeds the new states back. */
static int next_character(mxc_executor *network, int character, int n_known) {
    static float probabilities[256];
    float number = (float)character;
    check(mxc_ndarray_set(mxc_executor_find_arg(network, "data"), &number, sizeof number));
    check(mxc_executor_forward(network, 0));
    check(mxc_ndarray_get(mxc_executor_output(network, 0), probabilities, (size_t)n_known * sizeof(float)));
    check(mxc_ndarray_copy_to(mxc_executor_output(network, 1), mxc_executor_find_arg(network, "lstm_state"), 0));
    check(mxc_ndarray_copy_to(mxc_executor_output(network, 2), mxc_executor_find_arg(network, "lstm_state_cell"), 0));
    return choose(probabilities, n_known);
}

static void generate_text(const settings *s, const text *t, const mxc_ndarray_list *params) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    const char *data = "data";
    mxc_shape one = {1, {1}};
    mxc_symbol *symbol = make_network(s, t, 1, 1, 1);
    mxc_executor *network;
    int character = 0;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &data, .shapes = &one};
    check(mxc_executor_simple_bind(symbol, &options, &spec, &network));
    for (int64_t i = 0; i < params->n; i++) /* "arg:name" */
        check(mxc_ndarray_copy_to(params->arrays[i], mxc_executor_find_arg(network, params->names[i] + 4), 0));
    srandom((unsigned)s->seed);
    for (int64_t i = 0; i < s->sample; i++) {
        putchar(t->known[character]);
        character = next_character(network, character, t->n_known);
    }
    putchar('\n');
    mxc_executor_destroy(network);
    mxc_symbol_release(symbol);
}

int main(int argc, char **argv) {
    settings s;
    const char *path = NULL;
    mxc_ndarray_list params;
    parse_arguments(argc, argv, &s, &path);
    text t = read_text(path);
    train(&s, &t, &params);
    if (s.sample)
        generate_text(&s, &t, &params);
    mxc_ndarray_list_release(&params);
    free(t.characters);
    return 0;
}
