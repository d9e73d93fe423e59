/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a network's variables that affect its training: __lr_mult__, __wd_mult__, __init__. */
#include "train/attributes.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "optimizer/optimizer.h"
#include "symbol/json.h"

enum { MOST_PARAMS = 8, VALUE_TEXT = 64 };

const mxci_node *mxci_attributes_find(const mxci_graph *g, const char *name) {
    for (int32_t i = 0; i < g->n_args; i++)
        if (strcmp(g->nodes[g->args[i]].name, name) == 0)
            return g->nodes[g->args[i]].node;
    for (int32_t i = 0; i < g->n_aux; i++)
        if (strcmp(g->nodes[g->aux[i]].name, name) == 0)
            return g->nodes[g->aux[i]].node;
    return NULL;
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Sets *value to the number in an attribute; leaves it unchanged where there is no such attribute. */
static mxc_status read_factor(const mxci_node *variable, const char *key, double *value) {
    const char *text = mxci_node_attr(variable, key), *at = text;
    if (!text)
        return MXC_OK;
    if (mxci_read_double(&at, value) && *at == '\0' && isfinite(*value))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "variable \"%.80s\": %s is \"%.40s\", expected a number", variable->name, key, text);
}

mxc_status mxci_attributes_set_mults(const mxci_node *variable, mxc_optimizer *optimizer) {
    mxci_optimizer_param *slot;
    if (!mxci_node_attr(variable, "lr_mult") && !mxci_node_attr(variable, "wd_mult"))
        return MXC_OK;
    MXC_TRY(mxci_optimizer_find_param(optimizer, variable->name, &slot));
    MXC_TRY(read_factor(variable, "lr_mult", &slot->lr_mult));
    return read_factor(variable, "wd_mult", &slot->wd_mult);
}

/* ---- first values ------------------------------------------------------------------------------------------------ */

/* A rule with its parameters as text. */
typedef struct rule_text {
    const char *name;
    int n;
    const char *keys[MOST_PARAMS], *values[MOST_PARAMS];
    char text[MOST_PARAMS][VALUE_TEXT];
} rule_text;

/* MXNet writes the plural of these two. */
static const char *rule_name(const char *name) {
    return strcmp(name, "zeros") == 0 ? "zero" : strcmp(name, "ones") == 0 ? "one" : name;
}

/* Append a parameter as text, as the rules parse it. Returns 0 for JSON that is no string, number or boolean. */
static int add_param(rule_text *rule, const char *key, const json_t *value) {
    char *text = rule->text[rule->n];
    if (json_is_string(value))
        mxci_format(text, VALUE_TEXT, "%s", json_string_value(value));
    else if (json_is_number(value))
        mxci_format(text, VALUE_TEXT, "%.17g", json_number_value(value));
    else if (json_is_boolean(value))
        mxci_format(text, VALUE_TEXT, "%s", json_is_true(value) ? "True" : "False");
    else
        return 0;
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

static mxc_status init_variable(const mxci_node *variable, const rule_text *rule, mxc_ndarray *array) {
    mxc_status status = mxci_init_by_rule(rule->name, rule->n, rule->keys, rule->values, variable->name, array);
    char reason[MXC_ERROR_MAX];
    if (status == MXC_OK || status == MXC_ENOMEM)
        return status;
    mxci_format(reason, sizeof reason, "%s", mxc_last_error());
    return MXC_FAIL(status, "variable \"%.80s\": __init__: %.360s", variable->name, reason);
}

mxc_status mxci_attributes_init(const mxci_node *variable, mxc_ndarray *array, int *done) {
    const char *text = mxci_node_attr(variable, "__init__");
    rule_text rule = {.n = 0};
    *done = text != NULL;
    if (!text)
        return MXC_OK;
    if (text[0] != '[') {
        rule.name = rule_name(text);
        return init_variable(variable, &rule, array);
    }
    json_t *json = NULL;
    mxc_status status = mxci_json_parse(text, strlen(text), &json);
    if (status == MXC_OK && read_rule(json, &rule))
        status = init_variable(variable, &rule, array);
    else if (status != MXC_ENOMEM)
        status = MXC_FAIL(MXC_EINVAL,
                          "variable \"%.80s\": __init__ is \"%.80s\", expected a rule's name or "
                          "[\"name\", {parameters}]",
                          variable->name, text);
    json_decref(json);
    return status;
}
