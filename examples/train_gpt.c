/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains a GPT, a transformer that predicts the next byte of a text, and generates text. The last tenth of the text is
 * used for validation. After each epoch it prints the perplexity and a sample of generated text.
 *
 *     train_gpt TEXT --checkpoint PREFIX [--resume]
 *     train_gpt --checkpoint PREFIX --generate "Once upon a time"
 *
 * Letters in comments: B windows per batch, T bytes per window, C width, H heads.
 * Exit status: 0 done, 1 failed, 2 wrong options, 128 + signal number if stopped by SIGINT or SIGTERM.
 */
#include <math.h>

#include "model.h"
#include "training.h"

enum { BYTES = 256 }; /* the tokens */

typedef struct settings {
    int64_t context, width, layers, heads, batch_size, epochs, warmup, seed, sample, top_k;
    double lr, weight_decay, dropout, temperature;
    int32_t untied, resume, overwrite;
    char device[64], dtype[16], checkpoint[MODEL_PATH], curve[MODEL_PATH], generate[4096];
} settings;

static const mxc_param schema[] = {
    INTEGER_OPTION("context", context, "128", 1, 4096, "number of bytes per window: how far the network looks back"),
    INTEGER_OPTION("width", width, "128", 1, 4096, "length of the vector of each byte"),
    INTEGER_OPTION("layers", layers, "4", 1, 64, "number of blocks of attention and a multilayer perceptron"),
    INTEGER_OPTION("heads", heads, "4", 1, 64, "number of attention heads, a divisor of the width"),
    INTEGER_OPTION("batch-size", batch_size, "32", 1, 4096, "number of windows per step"),
    INTEGER_OPTION("epochs", epochs, "10", 1, 1e6, "number of passes over the text"),
    RATE_OPTION("0.001", "learning rate of AdamW, which falls to a tenth along a cosine"),
    INTEGER_OPTION("warmup", warmup, "100", 0, 1e6, "number of steps in which the learning rate rises from 0"),
    FLOAT_OPTION("weight-decay", weight_decay, "0.1", 0, 1e3, "weight decay of AdamW"),
    FLOAT_OPTION("dropout", dropout, "0", 0, 0.99, "share of the results of each block that is dropped in training"),
    SWITCH_OPTION("untied", untied, "give the last layer weights of its own; otherwise it has those of the embedding"),
    INTEGER_OPTION("seed", seed, "1", 0, 1e9, "seed of the weights, of the order of windows, and of generated text"),
    TEXT_OPTION("device", device, "cpu(0)", "device to train on, such as gpu(0)"),
    TEXT_OPTION("dtype", dtype, "float32", "dtype of the computation: float32, float16 or bfloat16"),
    TEXT_OPTION("checkpoint", checkpoint, "",
                "prefix of the files saved after each epoch and on interruption, and read by --generate"),
    SWITCH_OPTION("resume", resume, "continue from the checkpoint, if there is one"),
    SWITCH_OPTION("overwrite", overwrite, "replace an existing checkpoint of another training"),
    TEXT_OPTION("curve", curve, "", "SVG file for the learning curve, written after each epoch; default: none"),
    INTEGER_OPTION("sample", sample, "200", 0, 1e9, "number of bytes to generate"),
    TEXT_OPTION("generate", generate, "", "do not train: continue this text with the best model of --checkpoint"),
    FLOAT_OPTION("temperature", temperature, "0.8", 0, 100,
                 "divisor of the scores: lower values choose probable bytes more often, 0 always the most probable"),
    INTEGER_OPTION("top-k", top_k, "40", 1, BYTES, "choose among this number of most probable bytes"),
    MXC_PARAM_END,
};

static const example program = {
    .name = "train_gpt",
    .words = "[TEXT]",
    .max_words = 1,
    .schema = schema,
    .about = "Trains a GPT on the bytes of a text, or generates text with a saved one (--generate).\n"
             "Ctrl-C stops after the current step and saves, if there is a --checkpoint; a second one ends at once.",
};

/* ---- network ----------------------------------------------------------------------------------------------------- */

/* Applies an operator to one input; the name is that of the block and the layer. */
static mxc_symbol *layer(const char *name_of_op, int block, const char *name, const char *params, mxc_symbol *in) {
    char full[64];
    snprintf(full, sizeof full, "block%d_%s", block, name);
    return op(name_of_op, full, params, 1, &in);
}

/* A fully connected layer of each position: (B,T,any) to (B,T,units). */
static mxc_symbol *dense(int block, const char *name, int64_t units, mxc_symbol *in) {
    char params[64];
    snprintf(params, sizeof params, "num_hidden=%lld flatten=False", (long long)units);
    return layer("FullyConnected", block, name, params, in);
}

static mxc_symbol *add_residual(const settings *s, int block, const char *name, mxc_symbol *to, mxc_symbol *x) {
    char full[40], params[32];
    snprintf(params, sizeof params, "p=%.9g", s->dropout);
    snprintf(full, sizeof full, "%.20s_dropout", name);
    if (s->dropout > 0)
        x = layer("Dropout", block, full, params, x);
    snprintf(full, sizeof full, "block%d_%.20s", block, name);
    return op("elemwise_add", full, "", 2, (mxc_symbol *[]){to, x});
}

/* Causal attention: each position sees itself and those before it. (B,T,C) to (B,T,C). */
static mxc_symbol *attention(const settings *s, int block, mxc_symbol *x) {
    char params[64], name[64];
    mxc_symbol *parts, *in[3];
    x = dense(block, "qkv", 3 * s->width, x);
    snprintf(params, sizeof params, "shape=(0,0,%lld,-1)", (long long)(3 * s->heads));
    x = layer("Reshape", block, "heads", params, x); /* (B,T,3H,C/H) */
    x = layer("transpose", block, "by_head", "axes=(0,2,1,3)", x);
    parts = layer("SliceChannel", block, "parts", "num_outputs=3 axis=1", x); /* query, key, value: (B,H,T,C/H) */
    for (int i = 0; i < 3; i++)
        check(mxc_symbol_output(parts, i, &in[i]));
    mxc_symbol_release(parts);
    snprintf(name, sizeof name, "block%d_attention", block);
    x = op("scaled_dot_product_attention", name, "causal=True", 3, in);
    x = layer("transpose", block, "by_position", "axes=(0,2,1,3)", x);
    x = layer("Reshape", block, "merged", "shape=(0,0,-3)", x); /* (B,T,C) */
    return dense(block, "projection", s->width, x);
}

/* The layout of GPT-2: x + attention(norm(x)), then x + perceptron(norm(x)). */
static mxc_symbol *transformer_block(const settings *s, int block, mxc_symbol *x) {
    mxc_symbol *y = layer("LayerNorm", block, "norm1", "", mxc_symbol_retain(x));
    x = add_residual(s, block, "attended", x, attention(s, block, y));
    y = layer("LayerNorm", block, "norm2", "", mxc_symbol_retain(x));
    y = dense(block, "up", 4 * s->width, y);
    y = layer("LeakyReLU", block, "gelu", "act_type=gelu", y);
    y = dense(block, "down", s->width, y);
    return add_residual(s, block, "out", x, y);
}

/* The learned vector of each position, (1,T,C), whose shape cannot be inferred. */
static mxc_symbol *position_weights(const settings *s) {
    char shape[64];
    mxc_symbol *out = variable("positions_weight");
    snprintf(shape, sizeof shape, "(1,%lld,%lld)", (long long)s->context, (long long)s->width);
    check(mxc_symbol_set_attr(out, "__shape__", shape));
    return out;
}

/* Bytes (B,T) and the bytes that follow them (B,T) to probabilities (B T,256). mxc_fit divides gradients by B; the
 * factor 1 / T makes it the mean over bytes. */
static mxc_symbol *make_network(const settings *s) {
    char params[128];
    mxc_symbol *tokens = variable("tokens_weight"), *label = variable("softmax_label"), *x;
    snprintf(params, sizeof params, "input_dim=%d output_dim=%lld", BYTES, (long long)s->width);
    x = op("Embedding", "tokens", params, 2, (mxc_symbol *[]){variable("data"), mxc_symbol_retain(tokens)});
    x = op("broadcast_add", "embedded", "", 2, (mxc_symbol *[]){x, position_weights(s)});
    for (int i = 0; i < (int)s->layers; i++)
        x = transformer_block(s, i, x);
    x = op("LayerNorm", "norm", "", 1, &x);
    x = op("Reshape", "rows", "shape=(-3,0)", 1, &x);
    snprintf(params, sizeof params, "num_hidden=%d no_bias=True", BYTES);
    if (s->untied) {
        mxc_symbol_release(tokens);
        tokens = variable("next_weight");
    }
    x = op("FullyConnected", "next", params, 2, (mxc_symbol *[]){x, tokens});
    label = op("Reshape", "labels", "shape=(-1,)", 1, &label);
    snprintf(params, sizeof params, "grad_scale=%.9g", 1 / (double)s->context);
    return op("SoftmaxOutput", "softmax", params, 2, (mxc_symbol *[]){x, label});
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Windows (n,T) of the text, one behind the other. */
static mxc_ndarray *make_windows(const unsigned char *text, int64_t n, int64_t context) {
    mxc_ndarray *out;
    void *data;
    check(mxc_ndarray_create(2, (int64_t[]){n, context}, MXC_F32, mxc_cpu(0), &out));
    check(mxc_ndarray_data(out, &data));
    for (int64_t i = 0; i < n * context; i++)
        ((float *)data)[i] = text[i];
    return out;
}

/* Labels are the windows one byte further on. Incomplete batches are left out. */
static mxc_iter *open_windows(const settings *s, const unsigned char *text, int64_t n, int training, int64_t *batches) {
    const int64_t windows = (n - 1) / s->context;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_iter *iter;
    *batches = windows / s->batch_size;
    if (*batches == 0)
        fail("too short for one batch: lower --context or --batch-size:",
             training ? "the text" : "the last tenth of the text");
    mxc_ndarray *data = make_windows(text, windows, s->context), *label = make_windows(text + 1, windows, s->context);
    options.batch_size = s->batch_size;
    options.shuffle = training;
    options.seed = (uint64_t)s->seed;
    options.last_batch = MXC_LAST_DISCARD;
    check(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

/* ---- generation -------------------------------------------------------------------------------------------------- */

/* The network for one window. */
typedef struct generator {
    mxc_executor *executor;
    int64_t context;
    float *probabilities; /* (T,256) */
} generator;

static generator open_generator(mxc_executor *executor) {
    generator g = {executor, mxc_ndarray_shape(mxc_executor_find_arg(executor, "data"))->dim[1], NULL};
    g.probabilities = malloc((size_t)(g.context * BYTES) * sizeof *g.probabilities);
    if (!g.probabilities)
        fail("no memory for", "the probabilities");
    return g;
}

static void close_generator(generator *g) {
    mxc_executor_destroy(g->executor);
    free(g->probabilities);
}

/* How many bytes are more probable than this one; of equal ones the first counts as more probable. */
static int rank_of(const float *probabilities, int byte) {
    int rank = 0;
    for (int i = 0; i < BYTES; i++)
        rank += probabilities[i] > probabilities[byte] || (probabilities[i] == probabilities[byte] && i < byte);
    return rank;
}

/* Draws one of the top_k most probable bytes, with probabilities p^(1/temperature) divided by their sum. */
static int draw(const settings *s, const float *probabilities) {
    double weights[BYTES], sum = 0, largest = 0;
    int byte = 0;
    for (int i = 0; i < BYTES; i++)
        largest = fmax(largest, probabilities[i]);
    for (int i = 0; i < BYTES; i++) {
        const int rank = rank_of(probabilities, i);
        if (s->temperature > 0)
            weights[i] = rank < s->top_k ? pow(probabilities[i] / largest, 1 / s->temperature) : 0;
        else
            weights[i] = rank == 0;
        sum += weights[i];
    }
    for (double left = (double)random() / RAND_MAX * sum; byte < BYTES - 1; byte++)
        if ((left -= weights[byte]) < 0)
            break;
    while (byte > 0 && weights[byte] == 0) /* rounding, at the end of the list */
        byte--;
    return byte;
}

/* Terminals take some control characters for commands. */
static void print_byte(int byte) {
    putchar((byte < ' ' && byte != '\n' && byte != '\t') || byte == 127 ? '?' : byte);
}

/*
 * Prints the prompt and continues it. Each byte takes a run of the whole window: since attention is causal, what stands
 * behind the position that is read has no influence on it.
 */
static void generate_text(const settings *s, const generator *g, const char *prompt) {
    const int64_t t = g->context;
    float *window = calloc((size_t)t, sizeof *window);
    int64_t n = 0;
    if (!window)
        fail("no memory for", "a window");
    srandom((unsigned)s->seed);
    for (int64_t i = 0, length = (int64_t)strlen(prompt); i < length + s->sample; i++) {
        int byte = (unsigned char)prompt[i < length ? i : length];
        if (i >= length) {
            check(mxc_ndarray_set(mxc_executor_find_arg(g->executor, "data"), window, (size_t)t * sizeof *window));
            check(mxc_executor_forward(g->executor, 0));
            check(mxc_ndarray_get(mxc_executor_output(g->executor, 0), g->probabilities,
                                  (size_t)(t * BYTES) * sizeof *g->probabilities));
            byte = draw(s, g->probabilities + (n - 1) * BYTES);
        }
        print_byte(byte);
        if (n == t) /* the oldest byte leaves the window */
            memmove(window, window + 1, (size_t)(--n) * sizeof *window);
        window[n++] = (float)byte;
    }
    putchar('\n');
    free(window);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

/* What the callback uses. */
typedef struct sampler {
    const settings *s;
    mxc_symbol *symbol;
    generator generator; /* bound when it is first used */
} sampler;

static mxc_executor *bind_window(mxc_symbol *symbol, int64_t context) {
    static const char *const inputs[] = {"data", "softmax_label"};
    const mxc_shape shapes[] = {{2, {1, context}}, {2, {1, context}}};
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = inputs, .shapes = shapes};
    mxc_executor *out;
    check(mxc_executor_simple_bind(symbol, NULL, &spec, &out));
    return out;
}

/* Copies the parameters of the training to the generator. */
static void copy_params(const mxc_executor *from, const mxc_executor *to) {
    const mxc_names *names = mxc_executor_arg_names(to);
    for (int64_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], "data") != 0 && strcmp(names->items[i], "softmax_label") != 0)
            check(mxc_ndarray_copy_to(mxc_executor_find_arg(from, names->items[i]), mxc_executor_arg(to, i), 0));
}

/* After each epoch: the perplexity, and a sample that begins with a new line. */
static mxc_status print_sample(const mxc_fit_progress *p, int epoch_end, void *user) {
    sampler *to = user;
    if (!epoch_end)
        return MXC_OK;
    printf("epoch %lld: perplexity %.2f in training, %.2f on the rest\n", (long long)p->epoch + 1, exp(p->loss),
           exp(p->valid_loss));
    if (to->s->sample > 0) {
        if (!to->generator.executor)
            to->generator = open_generator(bind_window(to->symbol, to->s->context));
        copy_params(mxc_fit_executor(p, 0), to->generator.executor);
        generate_text(to->s, &to->generator, "\n");
    }
    fflush(stdout);
    return MXC_OK;
}

static void set_options(const settings *s, int64_t batches, mxc_fit_options *options) {
    const double updates = (double)s->epochs * (double)batches;
    mxc_fit_options_init(options, sizeof *options);
    options->epochs = s->epochs;
    options->epoch_batches = batches;
    options->optimizer = "adamw";
    options->learning_rate = s->lr;
    options->schedule.kind = MXC_SCHEDULE_COSINE;
    options->schedule.total = (int64_t)updates;
    options->schedule.final_lr = s->lr / 10;
    options->schedule.warmup = (int64_t)fmin((double)s->warmup, updates / 10); /* short trainings warm up, too */
    options->clip_norm = 1;
    options->initializer = "normal";
    options->seed = (uint64_t)s->seed;
    options->dtype = s->dtype;
    options->checkpoint = text_or_null(s->checkpoint);
    options->save_best = options->checkpoint != NULL;
    options->keep_models = 2;
    options->resume = s->resume;
    options->overwrite = s->overwrite;
    options->curve = text_or_null(s->curve);
    options->show = 1;
    options->stop = &stop;
}

static int train(const settings *s, const char *path) {
    static const char *const init_keys[] = {"sigma"}, *const init_values[] = {"0.02"}, *const keys[] = {"beta2", "wd"};
    char decay[32];
    const char *values[] = {"0.99", decay};
    int64_t n, batches, valid_batches;
    unsigned char *text = read_file(path, &n);
    mxc_context context;
    mxc_fit_options options;
    mxc_fit_progress result;
    mxc_iter *training = open_windows(s, text, n - n / 10, 1, &batches);
    mxc_iter *valid = open_windows(s, text + (n - n / 10), n / 10, 0, &valid_batches);
    sampler user = {s, make_network(s), {NULL, 0, NULL}};
    set_options(s, batches, &options);
    check(mxc_context_parse(s->device, &context));
    snprintf(decay, sizeof decay, "%.9g", s->weight_decay);
    options.symbol = user.symbol;
    options.train = training;
    options.valid = valid;
    options.n_contexts = 1;
    options.contexts = &context;
    options.n_initializer_params = 1;
    options.initializer_keys = init_keys;
    options.initializer_values = init_values;
    options.n_optimizer_params = 2;
    options.optimizer_keys = keys;
    options.optimizer_values = values;
    options.callback = print_sample;
    options.user = &user;
    check(mxc_fit(&options, &result, NULL));
    if (result.interrupted)
        printf("Stopped in epoch %lld; %s%s\n", (long long)result.epoch + 1,
               s->checkpoint[0] ? "--resume continues from " : "nothing is saved without --checkpoint", s->checkpoint);
    close_generator(&user.generator);
    mxc_symbol_release(user.symbol);
    mxc_iter_destroy(training);
    mxc_iter_destroy(valid);
    free(text);
    return result.interrupted ? 128 + stop : 0;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Continues the prompt with a saved model, whose window has as many bytes as it has vectors of positions. */
static void continue_text(const settings *s) {
    if (!s->checkpoint[0])
        usage_error("--generate needs the model of a --checkpoint", "");
    model m = load_model(s->checkpoint, -1);
    mxc_ndarray *positions = mxc_ndarray_list_find(&m.params, "arg:positions_weight");
    if (!positions || mxc_ndarray_shape(positions)->ndim != 3)
        fail("no model of train_gpt:", m.params_path);
    static const char *const inputs[] = {"data", "softmax_label"};
    generator g = open_generator(bind_window(m.symbol, mxc_ndarray_shape(positions)->dim[1]));
    check(mxc_executor_load_params(g.executor, &m.params, MXC_PARAMS_STRICT, 2, inputs));
    generate_text(s, &g, s->generate);
    close_generator(&g);
    free_model(&m);
}

int main(int argc, char **argv) {
    settings s;
    const char *path = NULL;
    parse_arguments(argc, argv, &s, &path);
    if (s.width % s.heads != 0)
        usage_error("--width must be a multiple of --heads", "");
    if (s.generate[0]) {
        continue_text(&s);
        return 0;
    }
    if (!path)
        usage_error("expected a text to train on, or --generate", "");
    catch_signals();
    return train(&s, path);
}
