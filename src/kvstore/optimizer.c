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

#include "base/check.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"

#define MAX_STATES 3
#define MAX_SETTINGS 12

/* All rules' settings; a rule's schema names those it has. Those that an operator has too have its names. */
typedef struct settings {
    double learning_rate, momentum, wd, rescale_grad, clip_gradient;
    double wd_lh, beta1, beta2, epsilon, gamma1, gamma2, clip_weights, lamda1, beta;
    int32_t centered;
} settings;

/* An operator, and the states it keeps: the names under which they are saved. */
typedef struct variant {
    const char *op;
    const char *states; /* "mean,var"; NULL: none */
} variant;

typedef enum correction {
    NONE,
    OF_LR,  /* the rate carries the correction of the means' bias, so the decay in it does too (Adam) */
    OF_STEP /* "lr" is the correction and "eta" the rate, which the decay has for itself (AdamW) */
} correction;

typedef struct rule {
    const char *name;
    const mxc_param *schema;
    variant plain, full;
    int (*is_full)(const settings *set);
    correction correction;
} rule;

/* What changes from update to update. */
typedef struct rates {
    double lr, wd, eta;
} rates;

typedef struct rated_op {
    mxc_op *op;  /* NULL before its first use */
    rates rates; /* in op */
} rated_op;

typedef struct slot {
    double lr_mult, wd_mult;
    int64_t updates; /* counted where the rule corrects by it */
    rated_op ops[2];
    int turn;                        /* which of ops is next */
    mxc_ndarray *states[MAX_STATES]; /* NULL until the first update, or where the rule needs none */
    mxc_ndarray *rescale;            /* of one element, for operators that take the factor as an array; else NULL */
} slot;

struct mxc_optimizer {
    const rule *rule;
    const variant *variant;
    settings settings;
    mxci_map *slots; /* key to slot */
};

#define SETTING(field, value, text)                                                                          \
    { .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = value, .doc = text }
#define SHARE(field, value, most, text)                                                                      \
    { .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = value,           \
      .bounded = 1, .minimum = 0, .maximum = most, .doc = text }
#define BELOW_1 0.999999999999 /* of shares whose complement is divided by */
#define LEARNING_RATE(value)                                                                                     \
    { .name = "learning_rate", .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, learning_rate),                \
      .initial = value, .bounded = 1, .minimum = 0, .maximum = 1e30, .doc = "step size" }
#define COMMON                                                                \
    SETTING(wd, "0", "weight decay"),                                         \
    SETTING(rescale_grad, "1", "factor on gradients"),                        \
    SETTING(clip_gradient, "-1", "clip rescaled gradients to [-value, value]; below 0: off")

static const mxc_param sgd_schema[] = {
    LEARNING_RATE("0.01"), SHARE(momentum, "0", 1, "share of the last step that is repeated"), COMMON, MXC_PARAM_END };

static const mxc_param signum_schema[] = {
    LEARNING_RATE("0.01"), SHARE(momentum, "0.9", 1, "share of the old in the mean whose sign is taken"),
    SETTING(wd_lh, "0", "weight decay that does not go through the sign"), COMMON, MXC_PARAM_END };

static const mxc_param adam_schema[] = {
    LEARNING_RATE("0.001"), SHARE(beta1, "0.9", BELOW_1, "share of the old in the mean"),
    SHARE(beta2, "0.999", BELOW_1, "share of the old in the mean of squares"),
    SETTING(epsilon, "1e-8", "added to the root"), COMMON, MXC_PARAM_END };

static const mxc_param rmsprop_schema[] = {
    LEARNING_RATE("0.001"), SHARE(gamma1, "0.9", 1, "share of the old in the running means"),
    SHARE(gamma2, "0.9", 1, "where centered, share of the last step that is repeated"),
    SETTING(epsilon, "1e-8", "added under the root"),
    { .name = "centered", .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(settings, centered), .initial = "false",
      .doc = "divide by the deviation, not by the mean of squares" },
    SETTING(clip_weights, "-1", "clip weights to [-value, value]; below 0: off"), COMMON, MXC_PARAM_END };

static const mxc_param ftrl_schema[] = {
    LEARNING_RATE("0.1"), SETTING(lamda1, "0.01", "weights that matter less become 0"),
    SETTING(beta, "1", "keeps first steps small"), COMMON, MXC_PARAM_END };

static int has_momentum(const settings *set) {
    return set->momentum != 0;
}

static int is_centered(const settings *set) {
    return set->centered;
}

static const rule rules[] = {
    { "sgd", sgd_schema, { "sgd_update", NULL }, { "sgd_mom_update", "momentum" }, has_momentum, NONE },
    { "nag", sgd_schema, { "sgd_update", NULL }, { "nag_mom_update", "momentum" }, has_momentum, NONE },
    { "signum", signum_schema, { "signsgd_update", NULL }, { "signum_update", "momentum" }, has_momentum, NONE },
    { "adam", adam_schema, { "adam_update", "mean,var" }, { NULL, NULL }, NULL, OF_LR },
    { "adamw", adam_schema, { "_adamw_update", "mean,var" }, { NULL, NULL }, NULL, OF_STEP },
    { "rmsprop", rmsprop_schema, { "rmsprop_update", "n" }, { "rmspropalex_update", "n,g,delta" }, is_centered, NONE },
    { "ftrl", ftrl_schema, { "ftrl_update", "z,n" }, { NULL, NULL }, NULL, NONE },
};
enum { RULES = sizeof rules / sizeof rules[0] };

static const rule *find_rule(const char *name) {
    for (int i = 0; i < RULES; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

static mxc_status no_such_rule(const char *name) {
    char text[128];
    mxci_line line = { text, sizeof text, 0 };
    for (int i = 0; i < RULES; i++)
        mxci_line_printf(&line, "%s%s", i ? ", " : "", rules[i].name);
    return MXC_FAIL(MXC_ENOTFOUND, "optimizer \"%s\" does not exist; there are %s", name, text);
}

mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                                mxc_optimizer **out) {
    if (name == NULL || out == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_create: name and out must not be NULL");
    *out = NULL;
    const rule *r = find_rule(name);
    if (r == NULL)
        return no_such_rule(name);
    mxc_optimizer *optimizer = mxci_calloc(1, sizeof *optimizer);
    if (optimizer == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the optimizer", name);
    optimizer->rule = r;
    mxc_status status = mxc_params_parse(r->name, r->schema, n_params, keys, values, &optimizer->settings);
    if (status == MXC_OK)
        status = mxci_map_create(&optimizer->slots);
    optimizer->variant = r->is_full != NULL && r->is_full(&optimizer->settings) ? &r->full : &r->plain;
    if (status == MXC_OK)
        *out = optimizer;
    else
        mxci_free(optimizer);
    return status;
}

/* The states, as if there had been no update. */
static void forget_states(slot *s) {
    s->updates = 0;
    for (int i = 0; i < MAX_STATES; i++) {
        mxc_ndarray_release(s->states[i]);
        s->states[i] = NULL;
    }
}

static void slot_destroy(slot *s) {
    mxc_op_release(s->ops[0].op);
    mxc_op_release(s->ops[1].op);
    forget_states(s);
    mxc_ndarray_release(s->rescale);
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

/* ---- operators ------------------------------------------------------------------------------------------------- */

/* Rates of the slot's next update. Means that start at 0 are too small by 1 - beta^t after t updates: one factor puts
 * both right, as MXNet does it. */
static rates rates_of_now(const mxc_optimizer *optimizer, const slot *s) {
    const settings *set = &optimizer->settings;
    double t = (double)s->updates + 1, lr = set->learning_rate * s->lr_mult, factor = 1;
    if (optimizer->rule->correction != NONE)
        factor = sqrt(1 - pow(set->beta2, t)) / (1 - pow(set->beta1, t));
    if (optimizer->rule->correction == OF_STEP)
        return (rates){ factor, set->wd * s->wd_mult, lr };
    return (rates){ lr * factor, set->wd * s->wd_mult, 0 };
}

static int same_rates(const rates *a, const rates *b) {
    return a->lr == b->lr && a->wd == b->wd && a->eta == b->eta;
}

static const mxc_param *find_setting(const rule *r, const char *name) {
    const mxc_param *p = r->schema;
    while (p->name != NULL && strcmp(p->name, name) != 0)
        p++;
    return p->name != NULL ? p : NULL;
}

/* Value of an operator's parameter: one of the rates, else the setting of its name. */
static double setting_value(const mxc_optimizer *optimizer, const rates *r, const char *name) {
    if (strcmp(name, "lr") == 0)
        return r->lr;
    if (strcmp(name, "wd") == 0)
        return r->wd;
    if (strcmp(name, "eta") == 0)
        return r->eta;
    const mxc_param *p = find_setting(optimizer->rule, name);
    MXCI_ASSERT(p != NULL && p->type == MXC_PARAM_FLOAT);
    return *(const double *)((const char *)&optimizer->settings + p->offset);
}

static mxc_status make_op(const mxc_optimizer *optimizer, rated_op *r) {
    const mxc_param *p = mxc_op_find(optimizer->variant->op)->params;
    char text[MAX_SETTINGS][32];
    const char *keys[MAX_SETTINGS], *values[MAX_SETTINGS];
    int n = 0;
    for (; p->name != NULL; p++, n++) {
        MXCI_ASSERT(n < MAX_SETTINGS);
        mxci_format(text[n], sizeof text[n], "%.17g", setting_value(optimizer, &r->rates, p->name));
        keys[n] = p->name;
        values[n] = text[n];
    }
    mxc_op_release(r->op);
    r->op = NULL;
    return mxc_op_create(optimizer->variant->op, n, keys, values, &r->op);
}

static int set_rates(const mxc_optimizer *optimizer, rated_op *r) {
    return r->op != NULL && mxci_op_set_float(r->op, "lr", r->rates.lr) &&
           mxci_op_set_float(r->op, "wd", r->rates.wd) &&
           (optimizer->rule->correction != OF_STEP || mxci_op_set_float(r->op, "eta", r->rates.eta));
}

/* The slot's next operator, with the rates of now. */
static mxc_status prepare_op(const mxc_optimizer *optimizer, slot *s, mxc_op **out) {
    const rates now = rates_of_now(optimizer, s);
    rated_op *r = &s->ops[s->turn];
    s->turn ^= 1;
    if (r->op == NULL || !same_rates(&r->rates, &now)) {
        r->rates = now;
        if (!set_rates(optimizer, r))
            MXC_TRY(make_op(optimizer, r));
    }
    *out = r->op;
    return MXC_OK;
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

static int n_states(const mxc_optimizer *optimizer) {
    return mxci_list_count(optimizer->variant->states);
}

static mxc_status make_state(mxc_ndarray *weight, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(weight), mxc_ndarray_context(weight), out));
    return mxc_ndarray_fill(*out, 0);
}

/* A state that was set from a file is brought to where its weight is. */
static mxc_status move_state(mxc_ndarray **state, mxc_context context) {
    mxc_ndarray *moved;
    if (mxc_context_equal(mxc_ndarray_context(*state), context))
        return MXC_OK;
    MXC_TRY(mxc_ndarray_copy(*state, context, mxc_ndarray_dtype(*state), &moved));
    mxc_ndarray_release(*state);
    *state = moved;
    return MXC_OK;
}

static mxc_status prepare_state(const mxc_optimizer *optimizer, slot *s, int i, const char *key, mxc_ndarray *weight) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    if (s->states[i] == NULL)
        return make_state(weight, &s->states[i]);
    if (!mxc_shape_equal(shape, mxc_ndarray_shape(s->states[i]))) {
        char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT], name[32];
        mxci_list_item(optimizer->variant->states, i, name, sizeof name);
        return MXC_FAIL(MXC_ESHAPE, "%s: weight %s has shape %s, its %s has %s", optimizer->rule->name, key,
                        mxc_shape_format(shape, a, sizeof a), name,
                        mxc_shape_format(mxc_ndarray_shape(s->states[i]), b, sizeof b));
    }
    return move_state(&s->states[i], mxc_ndarray_context(weight));
}

/* The factor on gradients as an array beside the weight. */
static mxc_status prepare_rescale(const mxc_optimizer *optimizer, slot *s, mxc_ndarray *weight) {
    static const int64_t one[1] = { 1 };
    if (s->rescale != NULL)
        return move_state(&s->rescale, mxc_ndarray_context(weight));
    MXC_TRY(mxc_ndarray_create(1, one, MXC_F32, mxc_ndarray_context(weight), &s->rescale));
    return mxc_ndarray_fill(s->rescale, optimizer->settings.rescale_grad);
}

mxc_status mxc_optimizer_update(mxc_optimizer *optimizer, const char *key, mxc_ndarray *weight, mxc_ndarray *grad) {
    if (optimizer == NULL || key == NULL || weight == NULL || grad == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_update: no argument may be NULL");
    slot *s;
    mxc_op *op;
    mxc_ndarray *in[3 + MAX_STATES] = { weight, grad }, *out[1] = { weight };
    int n = 2;
    MXC_TRY(find_or_add_slot(optimizer, key, &s));
    MXC_TRY(prepare_op(optimizer, s, &op));
    for (int i = 0; i < n_states(optimizer); i++) {
        MXC_TRY(prepare_state(optimizer, s, i, key, weight));
        in[n++] = s->states[i];
    }
    if (optimizer->rule->correction == OF_STEP) {
        MXC_TRY(prepare_rescale(optimizer, s, weight));
        in[n++] = s->rescale;
    }
    MXC_TRY(mxc_op_invoke(op, n, in, 1, out, NULL, 1));
    s->updates++;
    return MXC_OK;
}

/* ---- saved states: "<key>:<state>", and "<key>:updates" where the rule needs the count -------------------------- */

/* "<key>:<state>", freed with mxci_free; NULL without memory. */
static char *state_name(const char *key, const char *state) {
    size_t size = strlen(key) + strlen(state) + 2;
    char *name = mxci_alloc(size);
    if (name != NULL)
        snprintf(name, size, "%s:%s", key, state);
    return name;
}

/* Append an array, which the list takes over even where this fails. */
static mxc_status list_array(const mxc_optimizer *optimizer, const char *key, const char *state, mxc_ndarray *array,
                             mxc_ndarray_list *out) {
    out->arrays[out->n] = array;
    out->names[out->n] = state_name(key, state);
    if (out->names[out->n++] == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to list the states", optimizer->rule->name);
    return MXC_OK;
}

/* Append one slot's states, if it has them. */
static mxc_status list_slot(const mxc_optimizer *optimizer, const char *key, const slot *s, mxc_ndarray_list *out) {
    static const int64_t one[1] = { 1 };
    char name[32];
    mxc_ndarray *count;
    for (int i = 0; i < n_states(optimizer); i++)
        if (s->states[i] != NULL && mxci_list_item(optimizer->variant->states, i, name, sizeof name))
            MXC_TRY(list_array(optimizer, key, name, mxc_ndarray_retain(s->states[i]), out));
    if (optimizer->rule->correction == NONE || s->updates == 0)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_from_data(1, one, MXC_I64, &s->updates, &count));
    return list_array(optimizer, key, "updates", count, out);
}

mxc_status mxc_optimizer_get_states(const mxc_optimizer *optimizer, mxc_ndarray_list *out) {
    if (optimizer == NULL || out == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_get_states: no argument may be NULL");
    memset(out, 0, sizeof *out);
    size_t count = mxci_map_count(optimizer->slots) * (MAX_STATES + 1), cursor = 0;
    const char *key;
    void *s;
    out->arrays = mxci_calloc(count, sizeof *out->arrays);
    out->names = mxci_calloc(count, sizeof *out->names);
    mxc_status status = MXC_OK;
    if (out->arrays == NULL || out->names == NULL)
        status = MXC_FAIL(MXC_ENOMEM, "%s: no memory to list %zu states", optimizer->rule->name, count);
    while (status == MXC_OK && mxci_map_next(optimizer->slots, &cursor, &key, &s))
        status = list_slot(optimizer, key, s, out);
    if (status != MXC_OK)
        mxc_ndarray_list_release(out);
    return status;
}

/* The slot of state "<key>:<state>", and which state that is: n_states for the count of updates. */
static mxc_status slot_of_state(mxc_optimizer *optimizer, const char *name, slot **out, int *which) {
    const char *colon = name != NULL ? strrchr(name, ':') : NULL, *states = optimizer->variant->states;
    char first[32] = "none";
    *which = colon != NULL ? mxci_list_find(states, colon + 1) : -1;
    if (colon != NULL && optimizer->rule->correction != NONE && strcmp(colon + 1, "updates") == 0)
        *which = n_states(optimizer);
    mxci_list_item(states, 0, first, sizeof first);
    if (*which < 0)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\", expected a name like \"weight:%s\"", optimizer->rule->name,
                        name != NULL ? name : "(null)", first);
    char *key = mxci_strdup(name);
    if (key == NULL)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for state \"%s\"", optimizer->rule->name, name);
    key[colon - name] = '\0';
    mxc_status status = find_or_add_slot(optimizer, key, out);
    mxci_free(key);
    return status;
}

static mxc_status set_updates(const mxc_optimizer *optimizer, slot *s, const char *name, mxc_ndarray *from) {
    int64_t count = -1;
    if (mxc_ndarray_dtype(from) == MXC_I64 && mxc_ndarray_size(from) == 1)
        MXC_TRY(mxc_ndarray_get(from, &count, sizeof count));
    if (count < 0)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\", expected one int64 that is not negative",
                        optimizer->rule->name, name);
    s->updates = count;
    return MXC_OK;
}

static mxc_status set_state(mxc_optimizer *optimizer, const char *name, mxc_ndarray *from) {
    slot *s;
    int which;
    if (from == NULL)
        return MXC_FAIL(MXC_EINVAL, "%s: state \"%s\" has no array", optimizer->rule->name, name);
    MXC_TRY(slot_of_state(optimizer, name, &s, &which));
    if (which == n_states(optimizer))
        return set_updates(optimizer, s, name, from);
    mxc_ndarray_release(s->states[which]);
    return mxc_ndarray_copy(from, mxc_ndarray_context(from), mxc_ndarray_dtype(from), &s->states[which]);
}

mxc_status mxc_optimizer_set_states(mxc_optimizer *optimizer, const mxc_ndarray_list *states) {
    if (optimizer == NULL || states == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_optimizer_set_states: no argument may be NULL");
    if (states->n > 0 && states->names == NULL)
        return MXC_FAIL(MXC_EINVAL, "%s: the list of states has no names", optimizer->rule->name);
    size_t cursor = 0;
    const char *key;
    void *value;
    while (mxci_map_next(optimizer->slots, &cursor, &key, &value))
        forget_states(value);
    for (int64_t i = 0; i < states->n; i++)
        MXC_TRY(set_state(optimizer, states->names[i], states->arrays[i]));
    return MXC_OK;
}
