/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisers: rules that fill a parameter by its name and shape, with the names and parameters that MXNet gives them.
 *
 * Xavier is Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010:
 * scale = sqrt(magnitude / factor), factor the average, input or output fan. MSRAPrelu is He et al., "Delving Deep into
 * Rectifiers", 2015. Orthogonal is Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
 * neural networks", 2014.
 */
#include "train/initializer.h"

#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <string.h>

#include <mxc/op.h>
#include <mxc/param.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "symbol/json.h"

enum { GAUSSIAN = 1 }; /* of rnd_type; normal for orthogonal */
enum { FACTOR_AVG, FACTOR_IN, FACTOR_OUT };
enum { RNN_RELU, RNN_TANH, LSTM, GRU }; /* of mode */
enum { MOST_PARAMS = 8, VALUE_TEXT = 512 };

typedef struct init_params {
    int32_t rnd_type, factor_type, mode, bidirectional;
    double magnitude, scale, sigma, value, slope, forget_bias;
    int64_t num_hidden, num_layers;
    char init[VALUE_TEXT];
} init_params;

typedef struct init_rule {
    const char *name;
    const mxc_param *schema;
    mxc_status (*apply)(const init_params *params, const char *name, mxc_ndarray *array);
} init_rule;

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static mxc_status refuse_shape(const char *rule, const char *name, mxc_ndarray *array, const char *expected) {
    char text[MXC_SHAPE_TEXT];
    return MXC_FAIL(MXC_ESHAPE, "%s: %s has shape %s, expected %s", rule, name,
                    mxc_shape_format(mxc_ndarray_shape(array), text, sizeof text), expected);
}

/* shape (out, in, kernel...): fan in = in * kernel, fan out = out * kernel. */
static mxc_status apply_xavier(const init_params *p, const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    double kernel = 1, fan_in, fan_out, factor;
    if (shape->ndim < 2)
        return refuse_shape("xavier", name, array, "at least 2 axes");
    for (int i = 2; i < shape->ndim; i++)
        kernel *= (double)shape->dim[i];
    fan_in = (double)shape->dim[1] * kernel;
    fan_out = (double)shape->dim[0] * kernel;
    factor = p->factor_type == FACTOR_IN ? fan_in : p->factor_type == FACTOR_OUT ? fan_out : (fan_in + fan_out) / 2;
    double scale = factor > 0 ? sqrt(p->magnitude / factor) : 0;
    if (p->rnd_type == GAUSSIAN)
        return mxc_ndarray_fill_normal(array, 0, scale);
    return mxc_ndarray_fill_uniform(array, -scale, scale);
}

/* Xavier with normal numbers; the magnitude takes the mean slope of a leaky rectifier into account. */
static mxc_status apply_msraprelu(const init_params *p, const char *name, mxc_ndarray *array) {
    init_params xavier = *p;
    xavier.rnd_type = GAUSSIAN;
    xavier.magnitude = 2 / (1 + p->slope * p->slope);
    return apply_xavier(&xavier, name, array);
}

static mxc_status call_op(const char *op, const char *key, const char *value, int n_in, mxc_ndarray *const *in,
                          mxc_ndarray **out) {
    return mxc_invoke(op, n_in, in, key != NULL, &key, &value, 1, out);
}

/* *x becomes L^-1 x for the Cholesky factor L of x x', so that its rows are orthonormal up to rounding errors. */
static mxc_status orthonormalise(mxc_ndarray **x) {
    mxc_ndarray *product, *factor = NULL, *rows = NULL;
    MXC_TRY(call_op("_linalg_syrk", NULL, NULL, 1, x, &product));
    mxc_status status = call_op("_linalg_potrf", NULL, NULL, 1, &product, &factor);
    if (status == MXC_OK)
        status = call_op("_linalg_trsm", NULL, NULL, 2, (mxc_ndarray *[]){factor, *x}, &rows);
    mxc_ndarray_release(product);
    mxc_ndarray_release(factor);
    if (status != MXC_OK)
        return status;
    mxc_ndarray_release(*x);
    *x = rows;
    return MXC_OK;
}

/* The array is seen as a matrix (first axis, others), whose rows become orthonormal or, where there are more rows than
 * columns, whose columns do; times scale. Cholesky QR is done twice in float64: the second time removes the error of
 * the first (Yamamoto et al., "Roundoff error analysis of the CholeskyQR2 algorithm", 2015). */
static mxc_status apply_orthogonal(const init_params *p, const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    mxc_ndarray *x, *turned, *shaped;
    if (shape->ndim < 1)
        return refuse_shape("orthogonal", name, array, "at least 1 axis");
    if (mxc_ndarray_size(array) == 0)
        return MXC_OK;
    const int64_t rows = shape->dim[0], columns = mxc_ndarray_size(array) / rows;
    const int is_tall = rows > columns;
    const int64_t dims[2] = {is_tall ? columns : rows, is_tall ? rows : columns};
    MXC_TRY(mxc_ndarray_create(2, dims, MXC_F64, mxc_ndarray_context(array), &x));
    mxc_status status = p->rnd_type == GAUSSIAN ? mxc_ndarray_fill_normal(x, 0, 1) : mxc_ndarray_fill_uniform(x, -1, 1);
    for (int i = 0; i < 2 && status == MXC_OK; i++)
        status = orthonormalise(&x);
    char scale[32];
    mxci_format(scale, sizeof scale, "%.17g", p->scale);
    const char *key = "scalar", *value = scale;
    if (status == MXC_OK)
        status = mxc_invoke_into("_mul_scalar", 1, &x, 1, &key, &value, 1, &x);
    if (status == MXC_OK && is_tall) {
        status = call_op("transpose", NULL, NULL, 1, &x, &turned);
        if (status == MXC_OK) {
            mxc_ndarray_release(x);
            x = turned;
        }
    }
    if (status == MXC_OK)
        status = mxc_ndarray_reshape(x, shape->ndim, shape->dim, &shaped);
    if (status == MXC_OK) {
        status = mxc_ndarray_copy_to(shaped, array, 0);
        mxc_ndarray_release(shaped);
    }
    mxc_ndarray_release(x);
    return status;
}

/* Copies n values in float32 to the array. */
static mxc_status set_values(mxc_ndarray *array, const float *values) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    mxc_ndarray *from;
    MXC_TRY(mxc_ndarray_from_data(shape->ndim, shape->dim, MXC_F32, values, &from));
    mxc_status status = mxc_ndarray_copy_to(from, array, 0);
    mxc_ndarray_release(from);
    return status;
}

/* Weights (A,B,H,W) of a transposed convolution that enlarges images: the product of a triangle over each axis, of the
 * width that MXNet computes from W for both. */
static mxc_status apply_bilinear(const init_params *p, const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    (void)p;
    if (shape->ndim != 4)
        return refuse_shape("bilinear", name, array, "4 axes");
    const int64_t n = mxc_ndarray_size(array), height = shape->dim[2], width = shape->dim[3];
    const double f = ceil((double)width / 2), center = (2 * f - 1 - fmod(f, 2)) / (2 * f);
    float *values = mxci_calloc((size_t)n + 1, sizeof *values);
    if (!values)
        return MXC_FAIL(MXC_ENOMEM, "bilinear: no memory for %s", name);
    for (int64_t i = 0; i < n; i++) {
        const double x = (double)(i % width), y = (double)(i / width % height);
        values[i] = (float)((1 - fabs(x / f - center)) * (1 - fabs(y / f - center)));
    }
    mxc_status status = set_values(array, values);
    mxci_free(values);
    return status;
}

/* Fills elements begin to end - 1 of a vector. */
static mxc_status fill_part(mxc_ndarray *vector, int64_t begin, int64_t end, double value) {
    mxc_ndarray *part;
    MXC_TRY(mxc_ndarray_slice(vector, begin, end, &part));
    mxc_status status = mxc_ndarray_fill(part, value);
    mxc_ndarray_release(part);
    return status;
}

/* Biases of the gates input, forget, cell and output, one behind the other. */
static mxc_status apply_lstmbias(const init_params *p, const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    if (shape->ndim != 1 || shape->dim[0] % 4 != 0)
        return refuse_shape("lstmbias", name, array, "one axis that is a multiple of 4");
    MXC_TRY(mxc_ndarray_fill(array, 0));
    return fill_part(array, shape->dim[0] / 4, shape->dim[0] / 2, p->forget_bias);
}

/* The matrix (rows,columns) that begins at element `at` of a vector, by the text of a rule. */
static mxc_status init_matrix(const char *rule, const char *name, mxc_ndarray *vector, int64_t at, int64_t rows,
                              int64_t columns) {
    mxc_ndarray *part, *matrix;
    MXC_TRY(mxc_ndarray_slice(vector, at, at + rows * columns, &part));
    mxc_status status = mxc_ndarray_reshape(part, 2, (int64_t[]){rows, columns}, &matrix);
    mxc_ndarray_release(part);
    MXC_TRY(status);
    status = mxci_init_by_text(rule, name, matrix);
    mxc_ndarray_release(matrix);
    return status;
}

/* Number of inputs of the first layer, from the size of the packed parameters; -1: it does not fit. A layer and
 * direction has G H (inputs + H + 2) elements, where later layers have D H inputs. */
static int64_t count_rnn_inputs(const init_params *p, int64_t gates, int64_t directions, int64_t size) {
    const double h = (double)p->num_hidden, d = (double)directions, layers = (double)p->num_layers;
    const double unit = d * (double)gates * h, rest = (double)size - unit * (layers * (h + 2) + (layers - 1) * d * h);
    const double inputs = rest / unit;
    return inputs >= 1 && inputs == floor(inputs) ? (int64_t)inputs : -1;
}

/* Parameters of the operator RNN: for each layer and direction the weights of inputs and of the state, (G H, inputs)
 * and (G H, H) for G gates; behind all of them the biases in the same order. Each gate's matrix is initialised by
 * itself. */
static mxc_status apply_fusedrnn(const init_params *p, const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    const int64_t h = p->num_hidden, gates = p->mode == LSTM ? 4 : p->mode == GRU ? 3 : 1;
    const int64_t directions = p->bidirectional ? 2 : 1;
    const int64_t inputs = shape->ndim == 1 ? count_rnn_inputs(p, gates, directions, shape->dim[0]) : -1;
    const char *rule = p->init[0] ? p->init : "uniform";
    int64_t at = 0;
    if (inputs < 0)
        return refuse_shape("fusedrnn", name, array, "the parameters of an RNN with this num_hidden and num_layers");
    for (int64_t i = 0; i < p->num_layers * directions; i++) {
        const int64_t columns[2] = {i < directions ? inputs : directions * h, h};
        for (int64_t k = 0; k < 2 * gates; k++) {
            MXC_TRY(init_matrix(rule, name, array, at, h, columns[k / gates]));
            at += h * columns[k / gates];
        }
    }
    MXC_TRY(fill_part(array, at, shape->dim[0], 0));
    for (; p->mode == LSTM && at < shape->dim[0]; at += gates * h)
        MXC_TRY(fill_part(array, at + h, at + 2 * h, p->forget_bias));
    return MXC_OK;
}

static mxc_status apply_uniform(const init_params *p, const char *name, mxc_ndarray *array) {
    (void)name;
    return mxc_ndarray_fill_uniform(array, -p->scale, p->scale);
}

static mxc_status apply_normal(const init_params *p, const char *name, mxc_ndarray *array) {
    (void)name;
    return mxc_ndarray_fill_normal(array, 0, p->sigma);
}

static mxc_status apply_value(const init_params *p, const char *name, mxc_ndarray *array) {
    (void)name;
    return mxc_ndarray_fill(array, p->value);
}

static mxc_status apply_one(const init_params *p, const char *name, mxc_ndarray *array) {
    (void)p;
    (void)name;
    return mxc_ndarray_fill(array, 1);
}

static const mxc_param xavier_schema[] = {
    {MXC_PARAM_FIELD(init_params, rnd_type), .name = "rnd_type", .type = MXC_PARAM_ENUM, .choices = "uniform,gaussian",
     .initial = "uniform", .doc = "Distribution of the values."},
    {MXC_PARAM_FIELD(init_params, factor_type), .name = "factor_type", .type = MXC_PARAM_ENUM, .choices = "avg,in,out",
     .initial = "avg", .doc = "Variance scale: the average of fan-in and fan-out, fan-in, or fan-out."},
    {MXC_PARAM_FIELD(init_params, magnitude), .name = "magnitude", .type = MXC_PARAM_FLOAT, .initial = "3",
     .bounded = 1, .minimum = 0, .maximum = 1e30, .doc = "The scale of the distribution is sqrt(magnitude / factor)."},
    MXC_PARAM_END,
};
#define FORGET_BIAS                                                                                                \
    {                                                                                                              \
        MXC_PARAM_FIELD(init_params, forget_bias), .name = "forget_bias", .type = MXC_PARAM_FLOAT, .initial = "1", \
                                                   .doc = "Bias of the forget gate of LSTM."                       \
    }
static const mxc_param msraprelu_schema[] = {
    {MXC_PARAM_FIELD(init_params, factor_type), .name = "factor_type", .type = MXC_PARAM_ENUM, .choices = "avg,in,out",
     .initial = "avg", .doc = "Variance scale: the average of fan-in and fan-out, fan-in, or fan-out."},
    {MXC_PARAM_FIELD(init_params, slope), .name = "slope", .type = MXC_PARAM_FLOAT, .initial = "0.25",
     .doc = "Slope of the rectifier below 0."},
    MXC_PARAM_END,
};
static const mxc_param orthogonal_schema[] = {
    {MXC_PARAM_FIELD(init_params, scale), .name = "scale", .type = MXC_PARAM_FLOAT, .initial = "1.414",
     .doc = "Factor of the orthonormal rows or columns."},
    {MXC_PARAM_FIELD(init_params, rnd_type), .name = "rand_type", .type = MXC_PARAM_ENUM, .choices = "uniform,normal",
     .initial = "uniform", .doc = "Distribution of the matrix that is orthonormalised."},
    MXC_PARAM_END,
};
static const mxc_param lstmbias_schema[] = {FORGET_BIAS, MXC_PARAM_END};
static const mxc_param fusedrnn_schema[] = {
    {MXC_PARAM_FIELD(init_params, init), .name = "init", .type = MXC_PARAM_STRING, .initial = "",
     .doc = "Rule for the weights, a name or JSON. Empty: uniform."},
    {MXC_PARAM_FIELD(init_params, num_hidden), .name = "num_hidden", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e9, .doc = "Size of the state."},
    {MXC_PARAM_FIELD(init_params, num_layers), .name = "num_layers", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 1e6, .doc = "Number of layers."},
    {MXC_PARAM_FIELD(init_params, mode), .name = "mode", .type = MXC_PARAM_ENUM,
     .choices = "rnn_relu,rnn_tanh,lstm,gru", .doc = "Kind of the cells."},
    {MXC_PARAM_FIELD(init_params, bidirectional), .name = "bidirectional", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Layers have a second direction."},
    FORGET_BIAS,
    MXC_PARAM_END,
};
static const mxc_param uniform_schema[] = {
    {MXC_PARAM_FIELD(init_params, scale), .name = "scale", .type = MXC_PARAM_FLOAT, .initial = "0.07",
     .doc = "Values are drawn from [-scale, scale)."},
    MXC_PARAM_END,
};
static const mxc_param normal_schema[] = {
    {MXC_PARAM_FIELD(init_params, sigma), .name = "sigma", .type = MXC_PARAM_FLOAT, .initial = "0.01",
     .doc = "Standard deviation; the mean is 0."},
    MXC_PARAM_END,
};
static const mxc_param constant_schema[] = {
    {MXC_PARAM_FIELD(init_params, value), .name = "value", .type = MXC_PARAM_FLOAT, .doc = "Value of all elements."},
    MXC_PARAM_END,
};

static const init_rule rules[] = {
    {"xavier", xavier_schema, apply_xavier},
    {"uniform", uniform_schema, apply_uniform},
    {"normal", normal_schema, apply_normal},
    {"zero", NULL, apply_value},
    {"one", NULL, apply_one},
    {"constant", constant_schema, apply_value},
    {"msraprelu", msraprelu_schema, apply_msraprelu},
    {"orthogonal", orthogonal_schema, apply_orthogonal},
    {"bilinear", NULL, apply_bilinear},
    {"lstmbias", lstmbias_schema, apply_lstmbias},
    {"fusedrnn", fusedrnn_schema, apply_fusedrnn},
};

/* ---- by name ----------------------------------------------------------------------------------------------------- */

/* Suffixes of names whose arrays get a fixed value with every rule, as in MXNet: biases, and the parameters and states
 * of norms. */
static int value_of_suffix(const char *name, double *value) {
    static const struct {
        const char *suffix;
        double value;
    } fixed[] = {
        {"bias", 0},        {"beta", 0},           {"moving_mean", 0}, {"gamma", 1},
        {"moving_var", 1},  {"moving_inv_var", 0}, {"moving_avg", 0},  {"running_mean", 0},
        {"running_var", 1}, {"_min", 0},           {"_max", 1},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (mxci_ends_with(name, fixed[i].suffix)) {
            *value = fixed[i].value;
            return 1;
        }
    return 0;
}

/* Find a rule and parse its parameters. */
static mxc_status make_rule(const char *rule, int n_params, const char *const *keys, const char *const *values,
                            const init_rule **out, init_params *params) {
    *out = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].name, rule) == 0)
            *out = &rules[i];
    if (!*out && strcmp(rule, "mixed") == 0)
        return MXC_FAIL(MXC_EINVAL, "initialiser \"mixed\" chooses by the names of arrays; expected one rule");
    if (!*out) {
        char names[256] = "";
        mxci_line line = {names, sizeof names, 0};
        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
            mxci_line_printf(&line, "%s, ", rules[i].name);
        return MXC_FAIL(MXC_ENOTFOUND, "initialiser \"%.80s\" does not exist; there are %smixed", rule, names);
    }
    return mxc_params_parse((*out)->name, (*out)->schema, n_params, keys, values, params);
}

/* ---- rules as text ----------------------------------------------------------------------------------------------- */

/* A rule with its parameters as text. */
typedef struct rule_text {
    const char *name;
    int n;
    const char *keys[MOST_PARAMS], *values[MOST_PARAMS];
    char text[MOST_PARAMS][VALUE_TEXT];
} rule_text;

/* MXNet writes the plural of these two, too. */
static const char *rule_name(const char *name) {
    return strcmp(name, "zeros") == 0 ? "zero" : strcmp(name, "ones") == 0 ? "one" : name;
}

/* Append a parameter as text, as the rules parse it; null leaves the default. Returns 0 for JSON that is no string,
 * number or boolean, or a string that is too long. */
static int add_param(rule_text *rule, const char *key, const json_t *value) {
    char *text = rule->text[rule->n];
    if (json_is_null(value))
        return 1;
    if (json_is_string(value)) {
        if (json_string_length(value) >= VALUE_TEXT)
            return 0;
        mxci_format(text, VALUE_TEXT, "%s", json_string_value(value));
    } else if (json_is_number(value)) {
        mxci_format(text, VALUE_TEXT, "%.17g", json_number_value(value));
    } else if (json_is_boolean(value)) {
        mxci_format(text, VALUE_TEXT, "%s", json_is_true(value) ? "True" : "False");
    } else {
        return 0;
    }
    rule->keys[rule->n] = key;
    rule->values[rule->n++] = text;
    return 1;
}

/* ["name", {parameters}] or ["name"]; strings are borrowed from the JSON. */
static int read_rule(json_t *json, rule_text *rule) {
    const char *name = json_string_value(json_array_get(json, 0)), *key;
    json_t *params = json_array_get(json, 1), *value;
    if (!name || (params && !json_is_object(params)) || json_object_size(params) > MOST_PARAMS)
        return 0;
    rule->name = rule_name(name);
    json_object_foreach(params, key, value) if (!add_param(rule, key, value)) return 0;
    return 1;
}

/* by_name 1: mxc_init_array; 0: the name of the array does not matter. */
static mxc_status init_by_rule_text(const rule_text *rule, int by_name, const char *name, mxc_ndarray *array) {
    const init_rule *r;
    init_params params = {0};
    if (by_name)
        return mxc_init_array(rule->name, rule->n, rule->keys, rule->values, name, array);
    MXC_TRY(make_rule(rule->name, rule->n, rule->keys, rule->values, &r, &params));
    return r->apply(&params, name, array);
}

static mxc_status init_by_text(const char *text, int by_name, const char *name, mxc_ndarray *array) {
    rule_text rule = {.n = 0};
    if (text[0] != '[') {
        rule.name = rule_name(text);
        return init_by_rule_text(&rule, by_name, name, array);
    }
    json_t *json = NULL;
    mxc_status status = mxci_json_parse(text, strlen(text), &json);
    if (status == MXC_OK && read_rule(json, &rule))
        status = init_by_rule_text(&rule, by_name, name, array);
    else if (status != MXC_ENOMEM)
        status = MXC_FAIL(MXC_EINVAL,
                          "the initialiser is \"%.80s\", expected a rule's name or [\"name\", {parameters}]", text);
    json_decref(json);
    return status;
}

mxc_status mxci_init_by_text(const char *text, const char *name, mxc_ndarray *array) {
    return init_by_text(text, 0, name, array);
}

/* Whether an extended regular expression of POSIX matches the beginning of a name. */
static mxc_status match(const char *pattern, const char *name, int *out) {
    regex_t regex;
    regmatch_t found;
    if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
        return MXC_FAIL(MXC_EINVAL, "mixed: \"%.80s\" is no regular expression", pattern);
    *out = regexec(&regex, name, 1, &found, 0) == 0 && found.rm_so == 0;
    regfree(&regex);
    return MXC_OK;
}

/* The first pattern that matches determines the rule. */
static mxc_status init_mixed(int n, const char *const *patterns, const char *const *rules, const char *name,
                             mxc_ndarray *array) {
    for (int i = 0; i < n; i++) {
        int is_match = 0;
        MXC_TRY(MXCI_NON_NULL(patterns[i]));
        MXC_TRY(MXCI_NON_NULL(rules[i]));
        MXC_TRY(match(patterns[i], name, &is_match));
        if (is_match)
            return init_by_text(rules[i], 1, name, array);
    }
    return MXC_FAIL(MXC_EINVAL, "mixed: no pattern matches %s; a last pattern \".*\" matches every name", name);
}

/* ---- for programs ------------------------------------------------------------------------------------------------ */

mxc_status mxc_init_array(const char *rule, int n_params, const char *const *keys, const char *const *values,
                          const char *name, mxc_ndarray *array) {
    const init_rule *r;
    init_params params = {0};
    double value;
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    MXC_TRY(MXCI_NON_NULL(rule));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL(array));
    if (strcmp(rule, "mixed") == 0)
        return init_mixed(n_params, keys, values, name, array);
    MXC_TRY(make_rule(rule, n_params, keys, values, &r, &params));
    if (value_of_suffix(name, &value))
        return mxc_ndarray_fill(array, value);
    return r->apply(&params, name, array);
}

/* The array of that name in a list, with or without "arg:" and "aux:"; NULL: there is none. */
static mxc_ndarray *find_loaded(const mxc_ndarray_list *list, const char *name) {
    for (int64_t i = 0; i < list->n && list->names; i++) {
        const char *found = list->names[i];
        if (strncmp(found, "arg:", 4) == 0 || strncmp(found, "aux:", 4) == 0)
            found += 4;
        if (strcmp(found, name) == 0)
            return list->arrays[i];
    }
    return NULL;
}

mxc_status mxc_init_array_from(const mxc_ndarray_list *list, const char *rule, int n_params, const char *const *keys,
                               const char *const *values, const char *name, mxc_ndarray *array) {
    char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
    MXC_TRY(MXCI_NON_NULL(list));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL(array));
    mxc_ndarray *from = find_loaded(list, name);
    if (!from && rule)
        return mxc_init_array(rule, n_params, keys, values, name, array);
    if (!from)
        return MXC_FAIL(MXC_ENOTFOUND, "load: the list has no array %s, and there is no rule for others", name);
    if (!mxc_shape_equal(mxc_ndarray_shape(from), mxc_ndarray_shape(array)))
        return MXC_FAIL(MXC_ESHAPE, "load: %s has shape %s, in the list %s", name,
                        mxc_shape_format(mxc_ndarray_shape(array), a, sizeof a),
                        mxc_shape_format(mxc_ndarray_shape(from), b, sizeof b));
    return mxc_ndarray_copy_to(from, array, 0);
}
