/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisers: rules that fill a parameter by its name and shape.
 *
 * Xavier is Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010, with
 * the parameters that MXNet gives it: scale = sqrt(magnitude / factor), factor the average, input or output fan.
 */
#include <math.h>
#include <string.h>

#include <mxc/param.h>
#include <mxc/train.h>

#include "base/error.h"
#include "base/text.h"
#include "train/attributes.h"

enum { GAUSSIAN = 1 }; /* of rnd_type */
enum { FACTOR_AVG, FACTOR_IN, FACTOR_OUT };

typedef struct init_params {
    int32_t rnd_type, factor_type;
    double magnitude, scale, sigma, value;
} init_params;

typedef struct init_rule {
    const char *name;
    const mxc_param *schema;
    mxc_status (*apply)(const init_params *params, const char *name, mxc_ndarray *array);
} init_rule;

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* shape (out, in, kernel...): fan in = in * kernel, fan out = out * kernel. */
static mxc_status apply_xavier(const init_params *p, const char *name, mxc_ndarray *array) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    double kernel = 1, fan_in, fan_out, factor;
    if (shape->ndim < 2) {
        char text[MXC_SHAPE_TEXT];
        return MXC_FAIL(MXC_ESHAPE, "xavier: %s has shape %s, expected at least 2 axes", name,
                        mxc_shape_format(shape, text, sizeof text));
    }
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
};

/* ---- by name ----------------------------------------------------------------------------------------------------- */

/* Suffixes of names whose arrays get a fixed value with every rule, as in MXNet: biases, and the parameters and states
 * of norms. */
static int value_of_suffix(const char *name, double *value) {
    static const struct {
        const char *suffix;
        double value;
    } fixed[] = {
        {"bias", 0},       {"beta", 0},           {"moving_mean", 0}, {"gamma", 1},
        {"moving_var", 1}, {"moving_inv_var", 0}, {"moving_avg", 0},
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
    if (!*out)
        return MXC_FAIL(MXC_ENOTFOUND,
                        "initialiser \"%s\" does not exist; there are xavier, uniform, normal, zero, one, constant",
                        rule);
    return mxc_params_parse((*out)->name, (*out)->schema, n_params, keys, values, params);
}

mxc_status mxci_init_by_rule(const char *rule, int n_params, const char *const *keys, const char *const *values,
                             const char *name, mxc_ndarray *array) {
    const init_rule *r;
    init_params params = {0};
    MXC_TRY(make_rule(rule, n_params, keys, values, &r, &params));
    return r->apply(&params, name, array);
}

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
    MXC_TRY(make_rule(rule, n_params, keys, values, &r, &params));
    if (value_of_suffix(name, &value))
        return mxc_ndarray_fill(array, value);
    return r->apply(&params, name, array);
}
