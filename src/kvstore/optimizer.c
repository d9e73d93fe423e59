/*
 * Optimizers: update rules by name, each one operator with the states it keeps for every parameter.
 *
 * A slot holds what belongs to one parameter: factors, states, and operators with its settings. Settings change with
 * the learning rate: in place where no queued update uses the operator any more, else in a new operator. A slot uses
 * two operators in turn, since one step's update is often still queued when the next step queues its own.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mxc/op.h>
#include <mxc/optimizer.h>

#include "base/map.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"

/* All rules' settings; a rule's schema names those it has. */
typedef struct settings {
    double learning_rate, momentum, wd, rescale_grad, clip_gradient;
} settings;

typedef struct rule {
    const char *name;
    const mxc_param *schema;
    const char *op, *op_without_state; /* the second where momentum is 0 */
    const char *state;                 /* its name in saved states */
} rule;

typedef struct rated_op {
    mxc_op *op;    /* NULL before its first use */
    double lr, wd; /* in op */
} rated_op;

typedef struct slot {
    double lr_mult, wd_mult;
    rated_op ops[2];
    int turn;           /* which of ops is next */
    mxc_ndarray *state; /* NULL until the first update, or where the rule needs none */
} slot;

struct mxc_optimizer {
    const rule *rule;
    settings settings;
    mxci_map *slots; /* key to slot */
};

static const mxc_param sgd_schema[] = {
    { .name = "learning_rate", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, learning_rate), .initial = "0.01",
      .bounded = 1, .minimum = 0, .maximum = 1e30, .doc = "step size" },
    { .name = "momentum", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, momentum), .initial = "0", .bounded = 1,
      .minimum = 0, .maximum = 1, .doc = "share of the last step that is repeated" },
    { .name = "wd", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, wd), .initial = "0", .doc = "weight decay" },
    { .name = "rescale_grad", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, rescale_grad), .initial = "1",
      .doc = "factor on gradients" },
    { .name = "clip_gradient", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, clip_gradient), .initial = "-1",
      .doc = "clip rescaled gradients to [-value, value]; not above 0: off" },
    MXC_PARAM_END,
};

static const rule rules[] = {
    { "sgd", sgd_schema, "sgd_mom_update", "sgd_update", "momentum" },
};

static const rule *find_rule(const char *name) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                                mxc_optimizer **out) {
    if (name == NULL || out == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_create: name and out must not be NULL");
    *out = NULL;
    const rule *r = find_rule(name);
    if (r == NULL)
        return MXC_FAIL(MXC_ENOTFOUND, "optimizer \"%s\" does not exist; there is sgd", name);
    mxc_optimizer *optimizer = mxci_calloc(1, sizeof *optimizer);
    if (optimizer == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the optimizer", name);
    optimizer->rule = r;
    mxc_status status = mxc_params_parse(r->name, r->schema, n_params, keys, values, &optimizer->settings);
    if (status == MXC_OK)
        status = mxci_map_create(&optimizer->slots);
    if (status == MXC_OK)
        *out = optimizer;
    else
        mxci_free(optimizer);
    return status;
}

static void slot_destroy(slot *s) {
    mxc_op_release(s->ops[0].op);
    mxc_op_release(s->ops[1].op);
    mxc_ndarray_release(s->state);
    mxci_free(s);
}

void mxc_optimizer_destroy(mxc_optimizer *optimizer) {
    if (optimizer == NULL)
        return;
    size_t cursor = 0;
    const char *key;
    void *value;
    while (mxci_map_next(optimizer->slots, &cursor, &key, &value))
        slot_destroy(value);
    mxci_map_destroy(optimizer->slots);
    mxci_free(optimizer);
}

void mxc_optimizer_set_lr(mxc_optimizer *optimizer, double lr) {
    if (optimizer != NULL)
        optimizer->settings.learning_rate = lr;
}

double mxc_optimizer_get_lr(const mxc_optimizer *optimizer) {
    return optimizer != NULL ? optimizer->settings.learning_rate : NAN;
}

static int ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static mxc_status find_or_add_slot(mxc_optimizer *optimizer, const char *key, slot **out) {
    *out = mxci_map_get(optimizer->slots, key);
    if (*out != NULL)
        return MXC_OK;
    slot *s = mxci_calloc(1, sizeof *s);
    if (s == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the state of %s", optimizer->rule->name, key);
    s->lr_mult = 1;
    s->wd_mult = ends_with(key, "_bias") || ends_with(key, "_gamma") || ends_with(key, "_beta") ? 0 : 1;
    mxc_status status = mxci_map_put(optimizer->slots, key, s);
    if (status != MXC_OK) {
        mxci_free(s);
        return status;
    }
    *out = s;
    return MXC_OK;
}

mxc_status mxc_optimizer_set_mult(mxc_optimizer *optimizer, const char *key, double lr_mult, double wd_mult) {
    slot *s;
    if (optimizer == NULL || key == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_set_mult: optimizer and key must not be NULL");
    MXC_TRY(find_or_add_slot(optimizer, key, &s));
    s->lr_mult = lr_mult;
    s->wd_mult = wd_mult;
    return MXC_OK;
}

static int has_state(const mxc_optimizer *optimizer) {
    return optimizer->settings.momentum != 0;
}

static mxc_status make_op(const mxc_optimizer *optimizer, rated_op *r) {
    const settings *set = &optimizer->settings;
    char text[5][32];
    const char *keys[] = { "lr", "wd", "rescale_grad", "clip_gradient", "momentum" };
    const double numbers[] = { r->lr, r->wd, set->rescale_grad, set->clip_gradient, set->momentum };
    const char *values[5];
    for (int i = 0; i < 5; i++) {
        mxci_format(text[i], sizeof text[i], "%.17g", numbers[i]);
        values[i] = text[i];
    }
    mxc_op_release(r->op);
    r->op = NULL;
    if (has_state(optimizer))
        return mxc_op_create(optimizer->rule->op, 5, keys, values, &r->op);
    return mxc_op_create(optimizer->rule->op_without_state, 4, keys, values, &r->op);
}

/* The slot's next operator, with the rates of now. */
static mxc_status prepare_op(const mxc_optimizer *optimizer, slot *s, mxc_op **out) {
    double lr = optimizer->settings.learning_rate * s->lr_mult, wd = optimizer->settings.wd * s->wd_mult;
    rated_op *r = &s->ops[s->turn];
    s->turn ^= 1;
    if (r->op == NULL || r->lr != lr || r->wd != wd) {
        r->lr = lr;
        r->wd = wd;
        if (r->op == NULL || !mxci_op_set_float(r->op, "lr", lr) || !mxci_op_set_float(r->op, "wd", wd))
            MXC_TRY(make_op(optimizer, r));
    }
    *out = r->op;
    return MXC_OK;
}

static mxc_status make_state(slot *s, mxc_ndarray *weight) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(weight), mxc_ndarray_context(weight),
                               &s->state));
    return mxc_ndarray_fill(s->state, 0);
}

/* A state that was set from a file is brought to where its weight is. */
static mxc_status move_state(slot *s, mxc_context context) {
    mxc_ndarray *moved;
    if (mxc_context_equal(mxc_ndarray_context(s->state), context))
        return MXC_OK;
    MXC_TRY(mxc_ndarray_copy(s->state, context, mxc_ndarray_dtype(s->state), &moved));
    mxc_ndarray_release(s->state);
    s->state = moved;
    return MXC_OK;
}

static mxc_status prepare_state(const mxc_optimizer *optimizer, slot *s, const char *key, mxc_ndarray *weight) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    if (!has_state(optimizer))
        return MXC_OK;
    if (s->state == NULL)
        return make_state(s, weight);
    if (!mxc_shape_equal(shape, mxc_ndarray_shape(s->state))) {
        char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
        return MXC_FAIL(MXC_ESHAPE, "%s: weight %s has shape %s, its %s has %s", optimizer->rule->name, key,
                        mxc_shape_format(shape, a, sizeof a), optimizer->rule->state,
                        mxc_shape_format(mxc_ndarray_shape(s->state), b, sizeof b));
    }
    return move_state(s, mxc_ndarray_context(weight));
}

mxc_status mxc_optimizer_update(mxc_optimizer *optimizer, const char *key, mxc_ndarray *weight, mxc_ndarray *grad) {
    if (optimizer == NULL || key == NULL || weight == NULL || grad == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_update: no argument may be NULL");
    slot *s;
    mxc_op *op;
    MXC_TRY(find_or_add_slot(optimizer, key, &s));
    MXC_TRY(prepare_op(optimizer, s, &op));
    MXC_TRY(prepare_state(optimizer, s, key, weight));
    mxc_ndarray *in[3] = { weight, grad, s->state };
    mxc_ndarray *out[1] = { weight };
    return mxc_op_invoke(op, has_state(optimizer) ? 3 : 2, in, 1, out, NULL, 1);
}

/* "<key>:<state>", freed with mxci_free; NULL without memory. */
static char *state_name(const mxc_optimizer *optimizer, const char *key) {
    size_t size = strlen(key) + strlen(optimizer->rule->state) + 2;
    char *name = mxci_alloc(size);
    if (name != NULL)
        snprintf(name, size, "%s:%s", key, optimizer->rule->state);
    return name;
}

/* Append one slot's state, if it has one. */
static mxc_status list_state(const mxc_optimizer *optimizer, const char *key, const slot *s, mxc_ndarray_list *out) {
    if (s->state == NULL)
        return MXC_OK;
    out->names[out->n] = state_name(optimizer, key);
    if (out->names[out->n] == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to list the states", optimizer->rule->name);
    out->arrays[out->n++] = mxc_ndarray_retain(s->state);
    return MXC_OK;
}

mxc_status mxc_optimizer_get_states(const mxc_optimizer *optimizer, mxc_ndarray_list *out) {
    if (optimizer == NULL || out == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_get_states: no argument may be NULL");
    memset(out, 0, sizeof *out);
    size_t count = mxci_map_count(optimizer->slots), cursor = 0;
    const char *key;
    void *s;
    out->arrays = mxci_calloc(count, sizeof *out->arrays);
    out->names = mxci_calloc(count, sizeof *out->names);
    mxc_status status = MXC_OK;
    if (out->arrays == NULL || out->names == NULL)
        status = MXC_FAIL(MXC_ENOMEM, "%s: no memory to list %zu states", optimizer->rule->name, count);
    while (status == MXC_OK && mxci_map_next(optimizer->slots, &cursor, &key, &s))
        status = list_state(optimizer, key, s, out);
    if (status != MXC_OK)
        mxc_ndarray_list_release(out);
    return status;
}

/* The slot of state "<key>:<state>". */
static mxc_status slot_of_state(mxc_optimizer *optimizer, const char *name, slot **out) {
    const char *colon = name != NULL ? strrchr(name, ':') : NULL;
    if (colon == NULL || strcmp(colon + 1, optimizer->rule->state) != 0)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\", expected a name like \"weight:%s\"", optimizer->rule->name,
                        name != NULL ? name : "(null)", optimizer->rule->state);
    char *key = mxci_strdup(name);
    if (key == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for state \"%s\"", optimizer->rule->name, name);
    key[colon - name] = '\0';
    mxc_status status = find_or_add_slot(optimizer, key, out);
    mxci_free(key);
    return status;
}

static mxc_status set_state(mxc_optimizer *optimizer, const char *name, mxc_ndarray *from) {
    slot *s;
    if (from == NULL)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\" has no array", optimizer->rule->name, name);
    MXC_TRY(slot_of_state(optimizer, name, &s));
    mxc_ndarray_release(s->state);
    return mxc_ndarray_copy(from, mxc_ndarray_context(from), mxc_ndarray_dtype(from), &s->state);
}

mxc_status mxc_optimizer_set_states(mxc_optimizer *optimizer, const mxc_ndarray_list *states) {
    if (optimizer == NULL || states == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_set_states: no argument may be NULL");
    if (states->n > 0 && states->names == NULL)
        return MXC_FAIL(MXC_EINVAL, "%s: the list of states has no names", optimizer->rule->name);
    size_t cursor = 0;
    const char *key;
    void *value;
    while (mxci_map_next(optimizer->slots, &cursor, &key, &value)) {
        mxc_ndarray_release(((slot *)value)->state);
        ((slot *)value)->state = NULL;
    }
    for (int64_t i = 0; i < states->n; i++)
        MXC_TRY(set_state(optimizer, states->names[i], states->arrays[i]));
    return MXC_OK;
}
