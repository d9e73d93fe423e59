/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers: update rules by name, which are rules of the operator _multi_update, with the states that they keep for
 * every parameter. Updates that are held until a flush are grouped by dtype and context, one operator for each group.
 * Saving and loading states is in optimizer_states.c, the arithmetic of the rules in operator/update.
 *
 * The learning rates are parameters of an operator. They are changed in place where no queued update uses the operator
 * any more; else a new operator is made.
 */
#include "optimizer/optimizer.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/document.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"

#define MAX_PARAMS 24 /* of _multi_update */

typedef mxci_optimizer_settings settings;
typedef mxci_optimizer_rule rule;
typedef mxci_optimizer_variant variant;
typedef mxci_optimizer_param param_state;
typedef mxci_optimizer_pending_update pending_update;

#define SETTING(field, value, text) \
    { .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = value, .doc = text }
#define SHARE(field, value, most, text)                                                                            \
    {                                                                                                              \
        .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(settings, field), .initial = value, .bounded = 1, \
        .minimum = 0, .maximum = most, .doc = text                                                                 \
    }
#define BELOW_1 0.999999999999 /* largest decay rate where 1 minus the rate is a divisor */
#define LEARNING_RATE(value)                                                                                          \
    {                                                                                                                 \
        MXC_PARAM_FIELD(settings, learning_rate), .name = "learning_rate", .type = MXC_PARAM_FLOAT, .initial = value, \
                                                  .bounded = 1, .minimum = 0, .maximum = 1e30,                        \
                                                  .doc = "Learning rate, the step size."                              \
    }
#define SWITCH(field, text) \
    { .name = #field, .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(settings, field), .initial = "false", .doc = text }
#define COMMON                                                                                     \
    SETTING(wd, "0", "Weight decay: wd times the weight is added to the gradient."),               \
        SETTING(rescale_grad, "1", "Factor on gradients, applied first."),                         \
        SETTING(clip_gradient, "-1", "Clip rescaled gradients to [-value, value]. Below 0: off."), \
        SWITCH(multi_precision, "Update float32 master copies of 16-bit weights.")

/* sgd, and nag: Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013). */
static const mxc_param sgd_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(momentum, "0", 1, "Momentum: share of the previous step that is repeated."),
    COMMON,
    MXC_PARAM_END,
};

/* Bernstein et al., "signSGD: Compressed Optimisation for Non-Convex Problems" (2018). */
static const mxc_param signum_schema[] = {
    LEARNING_RATE("0.01"),
    SHARE(momentum, "0.9", 1,
          "Decay rate of the running mean of gradients, whose sign is taken. 0: the sign of the gradient."),
    SETTING(wd_lh, "0", "Weight decay applied to the weight directly, outside of the sign."),
    COMMON,
    MXC_PARAM_END,
};

/* Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015); adamw: Loshchilov and Hutter, "Decoupled Weight
 * Decay Regularization" (2019). */
static const mxc_param adam_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(beta1, "0.9", BELOW_1, "Decay rate of the running mean of gradients."),
    SHARE(beta2, "0.999", BELOW_1, "Decay rate of the running mean of squared gradients."),
    SETTING(epsilon, "1e-8", "Added to the denominator for numerical stability."),
    COMMON,
    MXC_PARAM_END,
};

/* Tieleman and Hinton, "Lecture 6.5: RMSProp" (2012); centered: Graves, "Generating Sequences With Recurrent Neural
 * Networks" (2013), equations 38 to 45. */
static const mxc_param rmsprop_schema[] = {
    LEARNING_RATE("0.001"),
    SHARE(gamma1, "0.9", 1, "Decay rate of the running means."),
    SHARE(gamma2, "0.9", 1, "Momentum; used only if centered."),
    SETTING(epsilon, "1e-8", "Added under the square root for numerical stability."),
    SWITCH(centered, "Divide by the estimated standard deviation of the gradient instead of the root mean square."),
    SETTING(clip_weights, "-1", "Clip weights to [-value, value]. Below 0: off."),
    COMMON,
    MXC_PARAM_END,
};

/* McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1. MXNet's spelling of lamda1. */
static const mxc_param ftrl_schema[] = {
    LEARNING_RATE("0.1"),
    SETTING(lamda1, "0.01", "L1 regularisation coefficient; weights whose accumulated gradient is smaller become 0."),
    SETTING(beta, "1", "Added to the denominator of the learning rate, which keeps the first steps small."),
    COMMON,
    MXC_PARAM_END,
};

/* mxci_optimizer_rule.is_full: the settings need the states of the full variant. */
static int has_momentum(const settings *set) {
    return set->momentum != 0;
}

static int is_centered(const settings *set) {
    return set->centered;
}

static const rule rules[] = {
    {
        .name = "sgd",
        .doc = "Stochastic gradient descent: w -= lr g. With momentum: m = momentum m - lr g; w += m.",
        .schema = sgd_schema,
        .plain = {"sgd", NULL},
        .full = {"sgd_mom", "momentum"},
        .is_full = has_momentum,
    },
    {
        .name = "nag",
        .doc = "Stochastic gradient descent with Nesterov momentum.",
        .schema = sgd_schema,
        .plain = {"sgd", NULL},
        .full = {"nag_mom", "momentum"},
        .is_full = has_momentum,
    },
    {
        .name = "signum",
        .doc = "Signum: m = momentum m + (1 - momentum) g; w -= lr sign(m).",
        .schema = signum_schema,
        .plain = {"signsgd", NULL},
        .full = {"signum", "momentum"},
        .is_full = has_momentum,
    },
    {
        .name = "adam",
        .doc = "Adam: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; w -= lr m / (sqrt(v) + epsilon), "
               "with lr multiplied by sqrt(1 - beta2^t) / (1 - beta1^t) in update t.",
        .schema = adam_schema,
        .plain = {"adam", "mean,var"},
        .correction = MXCI_CORRECT_LR,
    },
    {
        .name = "adamw",
        .doc = "Adam with decoupled weight decay: lr wd w is subtracted from the weight; g does not contain it.",
        .schema = adam_schema,
        .plain = {"adamw", "mean,var"},
        .correction = MXCI_CORRECT_STEP,
    },
    {
        .name = "rmsprop",
        .doc = "RMSProp: n = gamma1 n + (1 - gamma1) g^2; w -= lr g / sqrt(n + epsilon). Centered: the variant of "
               "Graves (2013), with momentum gamma2.",
        .schema = rmsprop_schema,
        .plain = {"rmsprop", "n"},
        .full = {"rmspropalex", "n,g,delta"},
        .is_full = is_centered,
    },
    {
        .name = "ftrl",
        .doc = "FTRL-Proximal (McMahan et al., 2013), for sparse weights.",
        .schema = ftrl_schema,
        .plain = {"ftrl", "z,n"},
    },
};
enum { RULES = sizeof rules / sizeof rules[0] };

static const rule *optimizer_find_rule(const char *name) {
    for (int i = 0; i < RULES; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

static mxc_status no_such_rule(const char *name) {
    char text[128];
    mxci_line line = {text, sizeof text, 0};
    for (int i = 0; i < RULES; i++)
        mxci_line_printf(&line, "%s%s", i ? ", " : "", rules[i].name);
    return MXC_FAIL(MXC_ENOTFOUND, "optimizer \"%s\" does not exist; there are %s", name, text);
}

const char *mxc_optimizer_name_at(int index) {
    return index >= 0 && index < RULES ? rules[index].name : NULL;
}

mxc_status mxc_optimizer_describe(const char *name, char **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    const rule *r = optimizer_find_rule(name);
    if (!r)
        return no_such_rule(name);
    mxci_text text = {0};
    mxci_text_printf(&text, "%s\n\n", r->name);
    mxci_document_words(&text, "", r->doc);
    mxci_text_add(&text, "\n");
    mxci_document_params(&text, r->schema);
    return mxci_text_take(&text, out);
}

mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                                mxc_optimizer **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    const rule *r = optimizer_find_rule(name);
    if (!r)
        return no_such_rule(name);
    mxc_optimizer *optimizer = mxci_calloc(1, sizeof *optimizer);
    if (!optimizer)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the optimizer", name);
    optimizer->rule = r;
    mxc_status status = mxc_params_parse(r->name, r->schema, n_params, keys, values, &optimizer->settings);
    if (status == MXC_OK)
        status = mxci_hash_map_create(&optimizer->params);
    optimizer->variant = r->is_full && r->is_full(&optimizer->settings) ? &r->full : &r->plain;
    if (status == MXC_OK)
        *out = optimizer;
    else
        mxci_free(optimizer);
    return status;
}

int mxci_optimizer_n_states(const mxc_optimizer *optimizer) {
    return mxci_list_count(optimizer->variant->states);
}

void mxci_optimizer_param_reset(param_state *s) {
    s->updates = 0;
    for (int i = 0; i < MXCI_UPDATE_STATES; i++) {
        mxc_ndarray_release(s->states[i]);
        s->states[i] = NULL;
    }
    mxc_ndarray_release(s->master);
    s->master = NULL;
}

/* Releases both operators; queued updates keep theirs alive. */
static void op_pair_reset(mxci_optimizer_op_pair *ops) {
    mxc_op_release(ops->ops[0].op);
    mxc_op_release(ops->ops[1].op);
    memset(ops, 0, sizeof *ops);
}

static void release_items(mxc_optimizer *optimizer) {
    for (int i = 0; i < optimizer->n_items; i++) {
        mxc_ndarray_release(optimizer->items[i].weight);
        mxc_ndarray_release(optimizer->items[i].grad);
    }
    optimizer->n_items = 0;
}

static void loss_scale_reset(mxci_optimizer_loss_scale *scale) {
    mxc_ndarray_release(scale->state);
    mxc_ndarray_release(scale->factor);
    mxc_ndarray_release(scale->is_finite);
    mxc_op_release(scale->check);
    mxc_op_release(scale->update);
    mxci_free(scale->grads);
    memset(scale, 0, sizeof *scale);
}

void mxc_optimizer_destroy(mxc_optimizer *optimizer) {
    if (!MXCI_MAY_RELEASE(optimizer))
        return;
    size_t cursor = 0;
    const char *key;
    void *value;
    while (mxci_hash_map_next(optimizer->params, &cursor, &key, &value)) {
        param_state *s = value;
        op_pair_reset(&s->own);
        mxci_optimizer_param_reset(s);
        mxci_free(s);
    }
    mxci_hash_map_destroy(optimizer->params);
    release_items(optimizer);
    for (int i = 0; i < optimizer->n_groups; i++)
        op_pair_reset(&optimizer->groups[i]);
    loss_scale_reset(&optimizer->scale);
    mxci_optimizer_clip_reset(&optimizer->clip);
    mxci_free(optimizer->items);
    mxci_free(optimizer->groups);
    mxci_free_object(optimizer);
}

void mxc_optimizer_set_lr(mxc_optimizer *optimizer, double lr) {
    if (optimizer)
        optimizer->settings.learning_rate = lr;
}

double mxc_optimizer_get_lr(const mxc_optimizer *optimizer) {
    return optimizer ? optimizer->settings.learning_rate : NAN;
}

/* Biases and the parameters of norms get no weight decay unless mxc_optimizer_set_mult says so. */
mxc_status mxci_optimizer_find_param(mxc_optimizer *optimizer, const char *key, param_state **out) {
    *out = mxci_hash_map_get(optimizer->params, key);
    if (*out)
        return MXC_OK;
    param_state *s = mxci_calloc(1, sizeof *s);
    if (!s)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the state of %s", optimizer->rule->name, key);
    s->lr_mult = 1;
    s->wd_mult = mxci_ends_with(key, "_bias") || mxci_ends_with(key, "_gamma") || mxci_ends_with(key, "_beta") ? 0 : 1;
    mxc_status status = mxci_hash_map_put(optimizer->params, key, s);
    if (status != MXC_OK) {
        mxci_free(s);
        return status;
    }
    *out = s;
    return MXC_OK;
}

mxc_status mxc_optimizer_set_mult(mxc_optimizer *optimizer, const char *key, double lr_mult, double wd_mult) {
    param_state *s;
    MXC_TRY(MXCI_NON_NULL(optimizer));
    MXC_TRY(MXCI_NON_NULL(key));
    MXC_TRY(mxci_optimizer_find_param(optimizer, key, &s));
    s->lr_mult = lr_mult;
    s->wd_mult = wd_mult;
    return MXC_OK;
}

mxc_status mxci_optimizer_clone(const mxc_optimizer *optimizer, mxc_optimizer **out) {
    mxc_optimizer *copy;
    size_t cursor = 0;
    const char *key;
    void *value;
    MXC_TRY(mxc_optimizer_create(optimizer->rule->name, 0, NULL, NULL, out));
    copy = *out;
    copy->variant = optimizer->variant;
    copy->settings = optimizer->settings;
    mxc_status status = MXC_OK;
    while (status == MXC_OK && mxci_hash_map_next(optimizer->params, &cursor, &key, &value)) {
        const param_state *s = value;
        status = mxc_optimizer_set_mult(copy, key, s->lr_mult, s->wd_mult);
    }
    if (status != MXC_OK) {
        mxc_optimizer_destroy(copy);
        *out = NULL;
    }
    return status;
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

static void add_rate(mxc_floats *list, double value) {
    list->value[list->n++] = value;
}

/* Appends the rates of the parameter's next update. Running means that start at 0 are too small by a factor of
 * 1 - beta^t after t updates; one factor on the learning rate corrects both means of Adam, as in MXNet. */
static void add_rates(const mxc_optimizer *optimizer, const param_state *s, mxci_optimizer_rates *out) {
    const settings *set = &optimizer->settings;
    const mxci_optimizer_correction correction = optimizer->rule->correction;
    double t = (double)s->updates + 1, lr = set->learning_rate * s->lr_mult, factor = 1;
    if (correction != MXCI_CORRECT_NOTHING)
        factor = sqrt(1 - pow(set->beta2, t)) / (1 - pow(set->beta1, t));
    add_rate(&out->lrs, correction == MXCI_CORRECT_STEP ? factor : lr * factor);
    add_rate(&out->wds, set->wd * s->wd_mult);
    add_rate(&out->etas, correction == MXCI_CORRECT_STEP ? lr : 0);
}

/* wds and etas have as many values as lrs. */
static int same_rates(const mxci_optimizer_rates *a, const mxci_optimizer_rates *b) {
    size_t bytes = (size_t)a->lrs.n * sizeof a->lrs.value[0];
    return a->lrs.n == b->lrs.n && !memcmp(a->lrs.value, b->lrs.value, bytes) &&
           !memcmp(a->wds.value, b->wds.value, bytes) && !memcmp(a->etas.value, b->etas.value, bytes);
}

/* Parameters of an operator to be created; text: room for formatted numbers. */
typedef struct op_params {
    int n;
    const char *keys[MAX_PARAMS], *values[MAX_PARAMS];
    char text[MAX_PARAMS][32];
} op_params;

static void add_op_param(op_params *g, const char *key, const char *value) {
    MXCI_ASSERT(g->n < MAX_PARAMS);
    g->keys[g->n] = key;
    g->values[g->n++] = value;
}

static void add_op_number(op_params *g, const char *key, double value) {
    mxci_format(g->text[g->n], sizeof g->text[g->n], "%.17g", value);
    add_op_param(g, key, g->text[g->n]);
}

static void format_rates(const mxc_floats *rates, char *text, size_t size) {
    mxci_line line = {text, size, 0};
    for (int i = 0; i < rates->n; i++)
        mxci_line_printf(&line, "%s%.17g", i ? "," : "(", rates->value[i]);
    mxci_line_printf(&line, ")");
}

/* A new _multi_update for the weights of ops with the given rates. */
static mxc_status optimizer_make_op(const mxc_optimizer *optimizer, const mxci_optimizer_op_pair *ops,
                                    const mxci_optimizer_rates *rates, mxc_op **out) {
    char text[3][MXC_TUPLE_MAX * 26];
    op_params g = {.n = 0};
    format_rates(&rates->lrs, text[0], sizeof text[0]);
    format_rates(&rates->wds, text[1], sizeof text[1]);
    format_rates(&rates->etas, text[2], sizeof text[2]);
    add_op_param(&g, "lrs", text[0]);
    add_op_param(&g, "wds", text[1]);
    add_op_param(&g, "etas", text[2]);
    add_op_param(&g, "rule", optimizer->variant->rule);
    add_op_param(&g, "multi_precision", ops->has_masters ? "1" : "0");
    add_op_param(&g, "scaled", optimizer->scale.state ? "1" : "0");
    add_op_number(&g, "num_weights", ops->n);
    /* The settings of the rule that are parameters of _multi_update have the same names there. */
    for (const mxc_param *p = mxci_op_multi_update.params; p->name; p++)
        for (const mxc_param *own = optimizer->rule->schema; own->name; own++)
            if (own->type == MXC_PARAM_FLOAT && strcmp(own->name, p->name) == 0)
                add_op_number(&g, p->name, *(const double *)((const char *)&optimizer->settings + own->offset));
    return mxc_op_create(mxci_op_multi_update.name, g.n, g.keys, g.values, out);
}

/* Changes the rates of an operator in place; 0 if a queued update still uses it. */
static int set_rates(mxc_op *op, const mxci_optimizer_rates *rates) {
    return op && mxci_op_set_floats(op, "lrs", &rates->lrs) && mxci_op_set_floats(op, "wds", &rates->wds) &&
           mxci_op_set_floats(op, "etas", &rates->etas);
}

/* The operator of the pair whose turn it is, with the given rates: as it is, changed in place, or created. */
static mxc_status prepare_op(const mxc_optimizer *optimizer, mxci_optimizer_op_pair *ops,
                             const mxci_optimizer_rates *now, mxc_op **out) {
    mxci_optimizer_op *r = &ops->ops[ops->turn];
    ops->turn ^= 1;
    if ((!r->op || !same_rates(&r->rates, now)) && !set_rates(r->op, now)) {
        mxc_op_release(r->op);
        r->op = NULL;
        MXC_TRY(optimizer_make_op(optimizer, ops, now, &r->op));
    }
    r->rates = *now;
    *out = r->op;
    return MXC_OK;
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

/* Moves a state, which may have been loaded from a file, to the context of its weight. */
static mxc_status move_state(mxc_ndarray **state, mxc_context context) {
    mxc_ndarray *moved;
    if (mxc_context_equal(mxc_ndarray_context(*state), context))
        return MXC_OK;
    MXC_TRY(mxc_ndarray_copy(*state, context, mxc_ndarray_dtype(*state), &moved));
    mxc_ndarray_release(*state);
    *state = moved;
    return MXC_OK;
}

/* Checks that a state that was loaded has the shape of its weight. */
static mxc_status check_state(const mxc_optimizer *optimizer, const char *key, const char *name, mxc_ndarray *weight,
                              mxc_ndarray *state) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
    if (mxc_shape_equal(shape, mxc_ndarray_shape(state)))
        return MXC_OK;
    return MXC_FAIL(MXC_ESHAPE, "%s: weight %s has shape %s, its %s has %s", optimizer->rule->name, key,
                    mxc_shape_format(shape, a, sizeof a), name,
                    mxc_shape_format(mxc_ndarray_shape(state), b, sizeof b));
}

/* Creates the states that the update needs, and checks and moves those that were loaded. With multi_precision the
 * states of a 16-bit weight are float32, as is its master copy. */
static mxc_status prepare_states(const mxc_optimizer *optimizer, param_state *s, const char *key, mxc_ndarray *weight) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    const mxc_dtype dtype = mxc_ndarray_dtype(weight);
    const mxc_context context = mxc_ndarray_context(weight);
    if (optimizer->settings.multi_precision && (dtype == MXC_F16 || dtype == MXC_BF16)) {
        if (!s->master) {
            MXC_TRY(mxc_ndarray_copy(weight, context, MXC_F32, &s->master));
        } else {
            MXC_TRY(check_state(optimizer, key, MXCI_MASTER_NAME, weight, s->master));
            MXC_TRY(move_state(&s->master, context));
        }
    }
    for (int i = 0; i < mxci_optimizer_n_states(optimizer); i++) {
        char name[32];
        if (!s->states[i]) {
            MXC_TRY(mxc_ndarray_create(shape->ndim, shape->dim, s->master ? MXC_F32 : dtype, context, &s->states[i]));
            MXC_TRY(mxc_ndarray_fill(s->states[i], 0));
            continue;
        }
        mxci_list_item(optimizer->variant->states, i, name, sizeof name);
        MXC_TRY(check_state(optimizer, key, name, weight, s->states[i]));
        MXC_TRY(move_state(&s->states[i], context));
    }
    return MXC_OK;
}

mxc_ndarray *mxci_optimizer_master(const mxc_optimizer *optimizer, const char *key) {
    const param_state *s = mxci_hash_map_get(optimizer->params, key);
    return s ? s->master : NULL;
}

/* ---- updates --------------------------------------------------------------------------------------------------- */

/* Most inputs of _multi_update: for each weight itself, its gradient, its states and its master copy; then the scale.
 */
enum { MOST_INPUTS = MXC_TUPLE_MAX * (2 + MXCI_UPDATE_STATES + 1) + 1 };

/* Queues one operator for n updates of weights of one dtype and context. Its inputs are weight and gradient of each,
 * then the states and the master copy of each, then the factor on gradients. */
static mxc_status queue_update(const mxc_optimizer *optimizer, mxci_optimizer_op_pair *ops, int n,
                               pending_update *const *items) {
    mxc_ndarray *in[MOST_INPUTS], *out[MXC_TUPLE_MAX];
    mxci_optimizer_rates now = {.lrs = {.n = 0}};
    mxc_op *op;
    int n_in = 0;
    if (ops->n != n || ops->has_masters != (items[0]->param_state->master != NULL))
        op_pair_reset(ops);
    ops->n = n;
    ops->has_masters = items[0]->param_state->master != NULL;
    for (int i = 0; i < n; i++) {
        out[i] = in[n_in++] = items[i]->weight;
        in[n_in++] = items[i]->grad;
        add_rates(optimizer, items[i]->param_state, &now);
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < mxci_optimizer_n_states(optimizer); k++)
            in[n_in++] = items[i]->param_state->states[k];
        if (ops->has_masters)
            in[n_in++] = items[i]->param_state->master;
    }
    if (optimizer->scale.state)
        in[n_in++] = optimizer->scale.factor;
    MXC_TRY(prepare_op(optimizer, ops, &now, &op));
    MXC_TRY(mxc_op_invoke(op, n_in, in, n, out, NULL, 1));
    for (int i = 0; i < n; i++)
        items[i]->param_state->updates++;
    return MXC_OK;
}

/* Records an update for the flush; its arrays are retained. */
static mxc_status hold_update(mxc_optimizer *optimizer, const pending_update *held) {
    if (optimizer->n_items == optimizer->cap_items) {
        int cap = optimizer->cap_items > 0 ? 2 * optimizer->cap_items : 16;
        pending_update *grown = mxci_realloc_array(optimizer->items, (size_t)cap, sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %d updates", optimizer->rule->name, cap);
        optimizer->items = grown;
        optimizer->cap_items = cap;
    }
    optimizer->items[optimizer->n_items++] =
        (pending_update){held->param_state, mxc_ndarray_retain(held->weight), mxc_ndarray_retain(held->grad)};
    return MXC_OK;
}

mxc_status mxc_optimizer_update(mxc_optimizer *optimizer, const char *key, mxc_ndarray *weight, mxc_ndarray *grad) {
    MXC_TRY(MXCI_NON_NULL(optimizer));
    MXC_TRY(MXCI_NON_NULL(key));
    MXC_TRY(MXCI_NON_NULL(weight));
    MXC_TRY(MXCI_NON_NULL(grad));
    pending_update one = {NULL, weight, grad}, *items[1] = {&one};
    MXC_TRY(mxci_optimizer_find_param(optimizer, key, &one.param_state));
    MXC_TRY(prepare_states(optimizer, one.param_state, key, weight));
    return optimizer->is_held ? hold_update(optimizer, &one) : queue_update(optimizer, &one.param_state->own, 1, items);
}

/* ---- scaled losses --------------------------------------------------------------------------------------------- */

mxc_status mxci_optimizer_set_loss_scale(mxc_optimizer *optimizer, mxc_ndarray *state, int64_t interval) {
    static const int64_t one[1] = {1};
    mxci_optimizer_loss_scale *scale = &optimizer->scale;
    mxc_context context = mxc_ndarray_context(state);
    op_params g = {.n = 0};
    loss_scale_reset(scale);
    add_op_number(&g, "interval", (double)interval);
    MXC_TRY(mxc_op_create("_update_loss_scale", g.n, g.keys, g.values, &scale->update));
    MXC_TRY(mxc_ndarray_create(1, one, MXC_F32, context, &scale->factor));
    MXC_TRY(mxc_ndarray_create(1, one, MXC_F32, context, &scale->is_finite));
    scale->state = mxc_ndarray_retain(state);
    return MXC_OK;
}

/* Queues the computation of the factor on the held gradients (0 if one is not finite), and of the next loss scale. The
 * operator that checks the gradients is created for their number, and kept. */
static mxc_status update_scale(mxc_optimizer *optimizer) {
    mxci_optimizer_loss_scale *scale = &optimizer->scale;
    mxc_ndarray *in[2] = {scale->is_finite, scale->state};
    if (scale->n_checked != optimizer->n_items) {
        op_params g = {.n = 0};
        mxc_ndarray **grown = mxci_realloc_array(scale->grads, (size_t)optimizer->n_items, sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "no memory to check %d gradients", optimizer->n_items);
        scale->grads = grown;
        mxc_op_release(scale->check);
        scale->check = NULL;
        scale->n_checked = 0;
        add_op_number(&g, "num_arrays", optimizer->n_items);
        MXC_TRY(mxc_op_create("multi_all_finite", g.n, g.keys, g.values, &scale->check));
        scale->n_checked = optimizer->n_items;
    }
    for (int i = 0; i < optimizer->n_items; i++)
        scale->grads[i] = optimizer->items[i].grad;
    MXC_TRY(mxc_op_invoke(scale->check, optimizer->n_items, scale->grads, 1, &scale->is_finite, NULL, 1));
    return mxc_op_invoke(scale->update, 2, in, 1, &scale->factor, NULL, 1);
}

/* ---- held updates ---------------------------------------------------------------------------------------------- */

void mxci_optimizer_hold(mxc_optimizer *optimizer) {
    optimizer->is_held = 1;
}

/* Collects the first held update from *at on that is not done, and others that one operator can compute with it: those
 * of the same dtype and context that have a master copy as well, or have none. Returns how many; *at is moved to the
 * first. */
static int take_group(mxc_optimizer *optimizer, int *at, pending_update **group) {
    int n = 0;
    while (*at < optimizer->n_items && !optimizer->items[*at].param_state)
        ++*at;
    for (int i = *at; i < optimizer->n_items && n < MXC_TUPLE_MAX; i++) {
        pending_update *next = &optimizer->items[i];
        if (!next->param_state)
            continue;
        if (n == 0 || (mxc_ndarray_dtype(group[0]->weight) == mxc_ndarray_dtype(next->weight) &&
                       mxc_context_equal(mxc_ndarray_context(group[0]->weight), mxc_ndarray_context(next->weight)) &&
                       !group[0]->param_state->master == !next->param_state->master))
            group[n++] = next;
    }
    return n;
}

/* Queues all held updates. Group k of a flush uses operator pair k, so that the same weights meet the same operators in
 * every step. */
static mxc_status run_groups(mxc_optimizer *optimizer) {
    pending_update *group[MXC_TUPLE_MAX];
    int n, at = 0;
    for (int k = 0; (n = take_group(optimizer, &at, group)) > 0; k++) {
        if (k == optimizer->n_groups) {
            mxci_optimizer_op_pair *grown = mxci_realloc_array(optimizer->groups, (size_t)k + 1, sizeof *grown);
            if (!grown)
                return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %d operators", optimizer->rule->name, k + 1);
            memset(&grown[k], 0, sizeof *grown);
            optimizer->groups = grown;
            optimizer->n_groups++;
        }
        MXC_TRY(queue_update(optimizer, &optimizer->groups[k], n, group));
        for (int i = 0; i < n; i++)
            group[i]->param_state = NULL; /* done */
    }
    return MXC_OK;
}

mxc_status mxci_optimizer_flush(mxc_optimizer *optimizer) {
    mxc_status status = MXC_OK;
    optimizer->is_held = 0;
    if (optimizer->scale.state && optimizer->n_items > 0)
        status = update_scale(optimizer);
    if (status == MXC_OK && optimizer->clip.max_norm > 0 && optimizer->n_items > 0)
        status = mxci_optimizer_clip_gradients(optimizer);
    if (status == MXC_OK)
        status = run_groups(optimizer);
    release_items(optimizer);
    return status;
}
