/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: created by name, or from functions of the program. The rules are in metric_rules.c and metric_detection.c.
 *
 * Arrays are read on the calling thread, in f32 (other dtypes are converted first).
 */
#include "train/metric.h"

#include <math.h>
#include <string.h>

#include "base/document.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

typedef struct own_functions {
    mxc_metric_update_fn update;
    mxc_metric_value_fn value;
    void *user;
} own_functions;

struct mxc_metric {
    const mxci_metric_rule *rule;
    mxci_metric_rule own_rule; /* what rule points to if the metric is one of the program's */
    own_functions own;
    mxci_metric_params params;
    mxci_metric_state state;
};

/* ---- state ------------------------------------------------------------------------------------------------------- */

mxc_status mxci_metric_append(mxci_metric_state *state, int64_t n, double **out) {
    if (state->n + n > state->capacity) {
        int64_t capacity = 2 * state->capacity > state->n + n ? 2 * state->capacity : state->n + n;
        double *grown = mxci_realloc_array(state->values, (size_t)capacity, sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "no memory for %lld numbers of a metric", (long long)capacity);
        state->values = grown;
        state->capacity = capacity;
    }
    *out = state->values + state->n;
    state->n += n;
    return MXC_OK;
}

const mxci_metric_state *mxci_metric_get_state(const mxc_metric *metric) {
    return &metric->state;
}

mxc_status mxci_metric_set_state(mxc_metric *metric, int64_t n, const double *values) {
    double *to;
    const int64_t fixed = metric->rule->n_fixed, record = metric->rule->n_record;
    if (n < fixed || (record ? (n - fixed) % record != 0 : n != fixed))
        return MXC_FAIL(MXC_EFORMAT, "metric %s: a state of %lld numbers, expected %lld%s", mxc_metric_name(metric),
                        (long long)n, (long long)(record ? record : fixed), record ? " for each record" : "");
    for (int64_t i = fixed; i < n; i++)
        if (isnan(values[i]))
            return MXC_FAIL(MXC_EFORMAT, "metric %s: record %lld of the state has a NaN", mxc_metric_name(metric),
                            (long long)((i - fixed) / record));
    metric->state.n = 0;
    MXC_TRY(mxci_metric_append(&metric->state, n, &to));
    if (n > 0)
        memcpy(to, values, (size_t)n * sizeof *to);
    return MXC_OK;
}

void mxc_metric_reset(mxc_metric *metric) {
    if (!metric)
        return;
    metric->state.n = metric->rule->n_fixed;
    for (int64_t i = 0; i < metric->state.n; i++)
        metric->state.values[i] = 0;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static const mxci_metric_rule *rule_at(int index) {
    const mxci_metric_rule *const detection[] = {&mxci_metric_voc_map, &mxci_metric_voc07_map};
    if (index < 0 || index >= mxci_metric_n_rules + 2)
        return NULL;
    return index < mxci_metric_n_rules ? &mxci_metric_rules[index] : detection[index - mxci_metric_n_rules];
}

static mxc_status metric_find_rule(const char *name, const mxci_metric_rule **out) {
    char text[256];
    mxci_line line = {text, sizeof text, 0};
    const mxci_metric_rule *rule;
    *out = NULL;
    for (int i = 0; (rule = rule_at(i)) != NULL; i++) {
        mxci_line_printf(&line, "%s%s", i ? ", " : "", rule->name);
        if (strcmp(rule->name, name) == 0 || mxci_list_find(rule->aliases, name) >= 0)
            *out = rule;
    }
    return *out ? MXC_OK : MXC_FAIL(MXC_ENOTFOUND, "metric \"%s\" does not exist; there are %s", name, text);
}

/* Room for the fixed part of the state; later additions to metrics with nothing else allocate nothing. */
static mxc_status metric_new(const mxci_metric_rule *rule, mxc_metric **out) {
    double *values;
    mxc_metric *metric = mxci_calloc(1, sizeof *metric);
    *out = NULL;
    if (!metric)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the metric", rule->name);
    metric->own_rule = *rule;
    metric->rule = rule->kind == MXCI_METRIC_OWN ? &metric->own_rule : rule;
    int64_t room = rule->n_fixed > MXCI_METRIC_FIXED ? rule->n_fixed : MXCI_METRIC_FIXED;
    mxc_status status = mxci_metric_append(&metric->state, room, &values);
    if (status != MXC_OK) {
        mxci_free(metric);
        return status;
    }
    mxc_metric_reset(metric);
    *out = metric;
    return MXC_OK;
}

mxc_status mxc_metric_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                             mxc_metric **out) {
    const mxci_metric_rule *rule;
    mxc_metric *metric;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    MXC_TRY(metric_find_rule(name, &rule));
    MXC_TRY(metric_new(rule, &metric));
    mxc_status status = mxc_params_parse(rule->name, rule->schema, n_params, keys, values, &metric->params);
    if (status != MXC_OK)
        mxc_metric_destroy(metric);
    else
        *out = metric;
    return status;
}

mxc_status mxc_metric_create_own(const char *name, int64_t n_state, mxc_metric_update_fn update,
                                 mxc_metric_value_fn value, void *user, int higher_is_better, mxc_metric **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_CHECK_NON_NULL(update != NULL, "mxc_metric_create_own: update"));
    MXC_TRY(MXCI_CHECK_NON_NULL(value != NULL, "mxc_metric_create_own: value"));
    if (n_state < 0 || n_state > 1 << 20 || name[0] == '\0' || strlen(name) >= MXC_METRIC_NAME)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_metric_create_own: name \"%.80s\" and n_state %lld, expected 1 to %d bytes, and 0 to %d",
                        name, (long long)n_state, MXC_METRIC_NAME - 1, 1 << 20);
    const mxci_metric_rule rule = {
        .name = "own", .kind = MXCI_METRIC_OWN, .n_fixed = (int)n_state, .higher_is_better = higher_is_better};
    mxc_metric *metric;
    MXC_TRY(metric_new(&rule, &metric));
    metric->own = (own_functions){update, value, user};
    mxci_format(metric->params.name, sizeof metric->params.name, "%s", name);
    *out = metric;
    return MXC_OK;
}

mxc_status mxci_metric_clone(const mxc_metric *metric, mxc_metric **out) {
    MXC_TRY(metric_new(metric->rule, out));
    (*out)->own = metric->own;
    (*out)->params = metric->params;
    return MXC_OK;
}

void mxc_metric_destroy(mxc_metric *metric) {
    if (!MXCI_MAY_RELEASE(metric))
        return;
    mxci_free(metric->state.values);
    mxci_free_object(metric);
}

const char *mxc_metric_name_at(int index) {
    const mxci_metric_rule *rule = rule_at(index);
    return rule ? rule->name : NULL;
}

mxc_status mxc_metric_describe(const char *name, char **out) {
    const mxci_metric_rule *rule;
    mxci_text text = {0};
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(metric_find_rule(name, &rule));
    mxci_text_printf(&text, "%s\n\n", rule->name);
    mxci_document_words(&text, "", rule->doc);
    if (rule->aliases)
        mxci_text_printf(&text, "Other names: %s\n", rule->aliases);
    mxci_text_add(&text, "\n");
    mxci_document_params(&text, rule->schema);
    return mxci_text_take(&text, out);
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

mxc_status mxci_metric_floats(mxc_ndarray *array, mxc_ndarray **copy, const float **out) {
    void *data;
    *copy = NULL;
    if (mxc_ndarray_dtype(array) == MXC_F32 && mxc_ndarray_context(array).device == MXC_CPU)
        *copy = mxc_ndarray_retain(array);
    else
        MXC_TRY(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F32, copy));
    MXC_TRY(mxc_ndarray_data(*copy, &data));
    *out = data;
    return MXC_OK;
}

/* Product of sizes [begin, end) of a shape. */
static int64_t count_axes(const mxc_shape *shape, int begin, int end) {
    int64_t n = 1;
    for (int i = begin; i < end; i++)
        n *= shape->dim[i];
    return n;
}

/* The axis of classes divides the prediction; a prediction of the label's shape has class numbers (accuracy only, by
 * axis 1). Returns 0 if the label does not fit. */
static int fits_classes(const mxc_metric *metric, const mxc_shape *label, const mxc_shape *prediction,
                        mxci_metric_batch *b) {
    int axis = (int)(metric->params.axis < 0 ? metric->params.axis + prediction->ndim : metric->params.axis);
    int64_t labels = mxc_shape_size(label);
    if (strcmp(metric->rule->name, "accuracy") == 0 && mxc_shape_equal(label, prediction)) {
        b->n = labels;
        b->c = 0;
        return 1;
    }
    if (axis < 1 || axis >= prediction->ndim)
        return 0;
    b->c = prediction->dim[axis];
    b->inner = count_axes(prediction, axis + 1, prediction->ndim);
    b->n = count_axes(prediction, 0, axis) * b->inner;
    return b->n == labels && (b->c > 0 || b->n == 0);
}

/* The sizes of the batch, checked against the label and without the padding. */
static mxc_status check_shapes(const mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad,
                               mxci_metric_batch *b) {
    static const mxc_shape none = {.ndim = 0};
    const mxc_shape *to = mxc_ndarray_shape(prediction), *from = label ? mxc_ndarray_shape(label) : &none;
    int64_t labels = mxc_shape_size(from), predictions = mxc_shape_size(to), rows = to->ndim > 0 ? to->dim[0] : 1;
    char l[MXC_SHAPE_TEXT], p[MXC_SHAPE_TEXT];
    int fits = 1;
    *b = (mxci_metric_batch){.n = predictions, .c = 1, .inner = 1};
    switch (metric->rule->kind) {
    case MXCI_METRIC_BY_CLASS:
        fits = fits_classes(metric, from, to, b);
        break;
    case MXCI_METRIC_BINARY:
        b->n = labels;
        b->c = predictions == labels ? 1 : 2;
        fits = predictions == b->c * labels && (b->c == 1 || to->dim[to->ndim - 1] == 2);
        break;
    case MXCI_METRIC_BY_ELEMENT:
        fits = labels == predictions;
        break;
    case MXCI_METRIC_DETECTION:
        fits = from->ndim == 3 && to->ndim == 3 && from->dim[0] == to->dim[0] && from->dim[2] >= 5 && to->dim[2] == 6;
        b->n = rows;
        b->n_boxes = fits ? from->dim[1] : 0;
        b->box_size = fits ? from->dim[2] : 0;
        b->n_found = fits ? to->dim[1] : 0;
        break;
    case MXCI_METRIC_NO_LABEL:
    case MXCI_METRIC_OWN:
        break;
    }
    if (!fits)
        return MXC_FAIL(MXC_ESHAPE, "%s: label %s does not fit prediction %s", metric->rule->name,
                        mxc_shape_format(from, l, sizeof l), mxc_shape_format(to, p, sizeof p));
    if (pad < 0 || pad > rows)
        return MXC_FAIL(MXC_EINVAL, "%s: pad %lld, expected 0 to %lld", mxc_metric_name(metric), (long long)pad,
                        (long long)rows);
    b->n = rows > 0 ? b->n / rows * (rows - pad) : 0;
    return MXC_OK;
}

enum { MICRO, MACRO }; /* of average */

/* The mean over batches is a sum and a count, to which the value of this batch by itself is added. */
static mxc_status add_mean(const mxc_metric *metric, const mxci_metric_batch *b, mxci_metric_state *to) {
    double room[MXCI_METRIC_FIXED] = {0};
    mxci_metric_state own = {room, metric->rule->n_fixed, MXCI_METRIC_FIXED};
    if (b->n == 0)
        return MXC_OK;
    MXC_TRY(metric->rule->add(&metric->params, b, &own));
    to->values[0] += metric->rule->value(&metric->params, &own);
    to->values[1]++;
    return MXC_OK;
}

static mxc_status add_arrays(mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction, mxci_metric_batch *b) {
    mxc_ndarray *label_copy = NULL, *prediction_copy = NULL;
    mxc_status status = mxci_metric_floats(prediction, &prediction_copy, &b->prediction);
    if (status == MXC_OK && metric->rule->kind != MXCI_METRIC_NO_LABEL)
        status = mxci_metric_floats(label, &label_copy, &b->label);
    if (status == MXC_OK)
        status = metric->params.average == MACRO ? add_mean(metric, b, &metric->state)
                                                 : metric->rule->add(&metric->params, b, &metric->state);
    mxc_ndarray_release(label_copy);
    mxc_ndarray_release(prediction_copy);
    return status;
}

mxc_status mxc_metric_update(mxc_metric *metric, mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad) {
    MXC_TRY(MXCI_NON_NULL(metric));
    const mxci_metric_rule *rule = metric->rule;
    MXC_TRY(MXCI_NON_NULL_IF(rule->kind != MXCI_METRIC_NO_LABEL && rule->kind != MXCI_METRIC_OWN, label));
    MXC_TRY(MXCI_NON_NULL(prediction));
    mxci_metric_batch b;
    MXC_TRY(check_shapes(metric, label, prediction, pad, &b));
    if (rule->kind == MXCI_METRIC_OWN) {
        mxc_status own = metric->own.update(label, prediction, pad, metric->state.values, metric->own.user);
        return own != MXC_OK ? MXC_FAIL(own, "metric %s: its update failed", metric->params.name) : MXC_OK;
    }
    double before[MXCI_METRIC_FIXED];
    const int64_t n = metric->state.n;
    memcpy(before, metric->state.values, (size_t)rule->n_fixed * sizeof *before);
    mxc_status status = add_arrays(metric, label, prediction, &b);
    if (status != MXC_OK) {
        memcpy(metric->state.values, before, (size_t)rule->n_fixed * sizeof *before);
        metric->state.n = n;
    }
    return status;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

double mxc_metric_value(const mxc_metric *metric) {
    if (!metric)
        return NAN;
    const double *state = metric->state.values;
    if (metric->rule->kind == MXCI_METRIC_OWN)
        return metric->own.value(state, metric->own.user);
    if (metric->params.average == MACRO)
        return state[1] > 0 ? state[0] / state[1] : NAN;
    return metric->rule->value(&metric->params, &metric->state);
}

const char *mxc_metric_name(const mxc_metric *metric) {
    return !metric ? "" : metric->params.name[0] ? metric->params.name : metric->rule->name;
}

int mxc_metric_higher_is_better(const mxc_metric *metric) {
    return metric ? metric->rule->higher_is_better : 0;
}

int mxci_metric_is_share(const mxc_metric *metric) {
    return metric->rule->is_share;
}

int mxci_metric_is_nan(const mxc_metric *metric) {
    const mxci_metric_kind kind = metric->rule->kind;
    return (kind == MXCI_METRIC_BY_CLASS || kind == MXCI_METRIC_BY_ELEMENT || kind == MXCI_METRIC_NO_LABEL) &&
           isnan(metric->state.values[0]);
}
