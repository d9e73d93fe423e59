/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the layers in a fused node are one that the integer convolution computes (_quantized_fused_conv):
 *
 *   Convolution [BatchNorm] [Activation relu | LeakyReLU | clip from 0] [elemwise_add] [Activation relu]
 */
#include <string.h>

#include "base/text.h"
#include "symbol/json_fused.h"

enum { START, CONV, NORM, ACT, SUM, SUM_ACT }; /* layers in this order, each at most once */

typedef struct chain {
    const json_t *layers;
    const json_t *layer; /* the next one, node `at` */
    int64_t at, last;    /* last: the one before it in the chain; -1 */
    int stage;
    mxci_json_conv *out;
} chain;

static int is_op(const json_t *layer, const char *op) {
    return strcmp(mxci_json_text(layer, "op"), op) == 0;
}

/* Which argument of the fused node input k of the layer is; -1: none, but another layer's output. */
static int argument_of(const chain *c, size_t k) {
    const json_t *entry = json_array_get(json_object_get(c->layer, "inputs"), k);
    int64_t node = mxci_json_index(entry, 0, c->at);
    int variables = 0;
    if (node < 0 || !is_op(json_array_get(c->layers, (size_t)node), "null"))
        return -1;
    for (int64_t i = 0; i < node; i++)
        variables += is_op(json_array_get(c->layers, (size_t)i), "null");
    return variables;
}

/* Whether input k is output 0 of the layer before. */
static int follows(const chain *c, size_t k) {
    const json_t *entry = json_array_get(json_object_get(c->layer, "inputs"), k);
    return c->last >= 0 && mxci_json_index(entry, 0, c->at) == c->last && mxci_json_index(entry, 1, 1) == 0;
}

static size_t n_inputs(const chain *c) {
    return json_array_size(json_object_get(c->layer, "inputs"));
}

static int take_arg(chain *c, size_t k) {
    int argument = argument_of(c, k);
    if (argument < 0)
        return 0;
    c->out->args[c->out->n_args++] = argument;
    return 1;
}

static void set(chain *c, const char *key, const char *value) {
    if (json_object_set_new(c->out->attrs, key, json_string(value)) != 0) {
        json_decref(c->out->attrs);
        c->out->attrs = NULL;
    }
}

/* Copies a layer's parameter where the file has it. */
static void copy(chain *c, const char *key) {
    const char *value = mxci_json_text(json_object_get(c->layer, "attrs"), key);
    if (*value)
        set(c, key, value);
}

static int read_convolution(chain *c) {
    static const char *const keys[] = {"kernel", "stride", "dilate", "pad", "num_filter", "num_group", "no_bias"};
    const json_t *attrs = json_object_get(c->layer, "attrs");
    const char *layout = mxci_json_text(attrs, "layout");
    size_t n = mxci_json_is_true(attrs, "no_bias") ? 2 : 3;
    int channels_first = !*layout || strcmp(layout, "None") == 0 || strncmp(layout, "NC", 2) == 0;
    if (c->stage != START || n_inputs(c) != n || !channels_first)
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        copy(c, keys[i]);
    c->stage = CONV;
    return take_arg(c, 0) && take_arg(c, 1) && (n == 2 || take_arg(c, 2));
}

static int read_norm(chain *c) {
    const char *axis = mxci_json_text(json_object_get(c->layer, "attrs"), "axis");
    int mean = argument_of(c, 3), var = argument_of(c, 4);
    if (c->stage != CONV || !follows(c, 0) || n_inputs(c) != 5 || mean < 0 || var < 0 || (*axis && strcmp(axis, "1")))
        return 0;
    set(c, "with_bn", "True");
    copy(c, "eps");
    copy(c, "fix_gamma");
    c->out->aux[c->out->n_aux++] = mean;
    c->out->aux[c->out->n_aux++] = var;
    c->stage = NORM;
    return take_arg(c, 1) && take_arg(c, 2);
}

static int read_sum(chain *c) {
    if (c->stage >= SUM || n_inputs(c) != 2 || follows(c, 0) == follows(c, 1))
        return 0;
    set(c, "with_sum", "True");
    c->out->has_sum = 1;
    c->stage = SUM;
    return take_arg(c, follows(c, 0) ? 1 : 0);
}

static int is_relu(const chain *c) {
    return strcmp(mxci_json_text(json_object_get(c->layer, "attrs"), "act_type"), "relu") == 0;
}

static int read_sum_act(chain *c) {
    if (!is_relu(c) || !follows(c, 0))
        return 0;
    set(c, "with_sum_act", "True");
    c->stage = SUM_ACT;
    return 1;
}

static int read_relu(chain *c) {
    if (!is_relu(c))
        return 0;
    set(c, "with_act", "True");
    return 1;
}

static int read_leaky(chain *c) {
    const json_t *attrs = json_object_get(c->layer, "attrs");
    const char *type = mxci_json_text(attrs, "act_type"), *slope = mxci_json_text(attrs, "slope");
    if ((*type && strcmp(type, "leaky") != 0) || n_inputs(c) != 1)
        return 0;
    set(c, "with_act", "True");
    set(c, "act_slope", *slope ? slope : "0.25");
    return 1;
}

static int read_clip(chain *c) {
    const json_t *attrs = json_object_get(c->layer, "attrs");
    const char *least = mxci_json_text(attrs, "a_min"), *most = mxci_json_text(attrs, "a_max");
    double bound;
    if (!mxci_read_double(&least, &bound) || bound != 0 || !*most)
        return 0;
    set(c, "with_act", "True");
    set(c, "act_max", most);
    return 1;
}

static int read_layer(chain *c) {
    int known;
    if (is_op(c->layer, "Convolution"))
        return read_convolution(c);
    if (is_op(c->layer, "BatchNorm"))
        return read_norm(c);
    if (is_op(c->layer, "elemwise_add"))
        return read_sum(c);
    if (is_op(c->layer, "Activation") && c->stage == SUM)
        return read_sum_act(c);
    if (c->stage >= ACT || !follows(c, 0))
        return 0;
    known = is_op(c->layer, "Activation")  ? read_relu(c)
            : is_op(c->layer, "LeakyReLU") ? read_leaky(c)
            : is_op(c->layer, "clip")      ? read_clip(c)
                                           : 0;
    c->stage = ACT;
    return known;
}

int mxci_json_conv_read(const json_t *layers, int64_t head, mxci_json_conv *out) {
    chain c = {.layers = layers, .last = -1, .out = out};
    int known = 1;
    *out = (mxci_json_conv){.attrs = json_object()};
    for (c.at = 0; c.at < (int64_t)json_array_size(layers) && known && out->attrs; c.at++) {
        c.layer = json_array_get(layers, (size_t)c.at);
        if (is_op(c.layer, "null"))
            continue;
        known = read_layer(&c);
        c.last = c.at;
    }
    if (!out->attrs)
        return -1;
    if (known && c.stage != START && c.last == head)
        return 1;
    json_decref(out->attrs);
    out->attrs = NULL;
    return 0;
}
