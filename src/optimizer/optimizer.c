/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Optimizers with the states that they keep for every parameter. Most update rules are rules of the operator
 * _multi_update; updates that are held until a flush are grouped by dtype and context, one operator for each group. The
 * others are functions that queue operators for one weight (array_updates.c, and optimizers of the program).
 * The table of rules is in optimizer_rules.c, saving and loading states in optimizer_states.c, the arithmetic of the
 * rules of _multi_update in operator/update.
 *
 * The learning rates are parameters of an operator. They are changed in place where no queued update uses the operator
 * any more; else a new operator is made.
 */
#include "optimizer/optimizer.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/op.h"
#include "optimizer/optimizer_rules.h"

#define MAX_PARAMS 28 /* of _multi_update */

typedef mxci_optimizer_settings settings;
typedef mxci_optimizer_rule rule;
typedef mxci_optimizer_param param_state;
typedef mxci_optimizer_pending_update pending_update;

/* Parses the parameters of an optimizer of the program: those of its own schema by that, the others by the common
 * one. */
static mxc_status parse_own_params(mxc_optimizer *optimizer, int n, const char *const *keys,
                                   const char *const *values) {
    const mxc_optimizer_def *def = optimizer->rule->def;
    const char **sorted = mxci_calloc(2 * (size_t)n + 1, sizeof *sorted), **sorted_values;
    int n_own = 0, n_common = 0;
    if (!sorted)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the parameters", def->name);
    sorted_values = sorted + n;
    for (int i = 0; i < n; i++) { /* own ones from the front, common ones from the back */
        const mxc_param *p = def->params;
        while (p && p->name && strcmp(p->name, keys[i]) != 0 && !(p->alias && strcmp(p->alias, keys[i]) == 0))
            p++;
        int at = p && p->name ? n_own++ : n - ++n_common;
        sorted[at] = keys[i];
        sorted_values[at] = values[i];
    }
    mxc_status status = mxc_params_parse(def->name, def->params, n_own, sorted, sorted_values, optimizer->own_params);
    if (status == MXC_OK)
        status = mxc_params_parse(def->name, optimizer->rule->schema, n_common, sorted + n_own, sorted_values + n_own,
                                  &optimizer->settings);
    mxci_free(sorted);
    return status;
}

/* An optimizer whose parameters are zeros. */
static mxc_status optimizer_new(const rule *r, mxc_optimizer **out) {
    mxc_optimizer *optimizer = mxci_calloc(1, sizeof *optimizer);
    *out = NULL;
    if (!optimizer)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the optimizer", r->name);
    mxc_status status = MXC_OK;
    optimizer->rule = r;
    optimizer->variant = &r->plain;
    if (r->def && !(optimizer->own_params = mxci_calloc(1, r->def->param_size + 1)))
        status = MXC_FAIL(MXC_ENOMEM, "%s: no memory for the parameters", r->name);
    if (status == MXC_OK)
        status = mxci_hash_map_create(&optimizer->params);
    if (status == MXC_OK) {
        *out = optimizer;
        return MXC_OK;
    }
    mxci_free(optimizer->own_params);
    mxci_free(optimizer);
    return status;
}

mxc_status mxc_optimizer_create(const char *name, int n_params, const char *const *keys, const char *const *values,
                                mxc_optimizer **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    const rule *r;
    MXC_TRY(mxci_optimizer_find_rule(name, &r));
    mxc_optimizer *optimizer;
    MXC_TRY(optimizer_new(r, &optimizer));
    mxc_status status = r->def ? parse_own_params(optimizer, n_params, keys, values)
                               : mxc_params_parse(r->name, r->schema, n_params, keys, values, &optimizer->settings);
    if (status != MXC_OK) {
        mxc_optimizer_destroy(optimizer);
        return status;
    }
    if (r->is_full && r->is_full(&optimizer->settings))
        optimizer->variant = &r->full;
    *out = optimizer;
    return MXC_OK;
}

int mxci_optimizer_needs_whole_weights(const mxc_optimizer *optimizer) {
    return optimizer->rule->needs_whole_weights;
}

const char *mxci_optimizer_name(const mxc_optimizer *optimizer) {
    return optimizer->rule->name;
}

int mxci_optimizer_n_states(const mxc_optimizer *optimizer) {
    return mxci_list_count(optimizer->variant->states);
}

void mxci_optimizer_param_reset(param_state *s) {
    s->updates = 0;
    s->is_loaded = 0;
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
    mxci_free(optimizer->own_params);
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
    const size_t key_bytes = strlen(key) + 1;
    param_state *s = mxci_calloc(1, sizeof *s + key_bytes);
    if (!s)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for the state of %s", optimizer->rule->name, key);
    memcpy(s->key, key, key_bytes);
    s->is_bias_or_norm = mxci_ends_with(key, "bias") || mxci_ends_with(key, "gamma") || mxci_ends_with(key, "beta");
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
    MXC_TRY(optimizer_new(optimizer->rule, out)); /* not by name: parameters may be required */
    copy = *out;
    copy->variant = optimizer->variant;
    copy->settings = optimizer->settings;
    if (optimizer->own_params)
        memcpy(copy->own_params, optimizer->own_params, optimizer->rule->def->param_size);
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

/* Appends the rates of the parameter's next update. */
static void add_rates(const mxc_optimizer *optimizer, const param_state *s, mxci_optimizer_rates *out) {
    const settings *set = &optimizer->settings;
    mxci_optimizer_rate now = {set->learning_rate * s->lr_mult, set->wd * s->wd_mult, 0, 1};
    if (optimizer->rule->rates)
        optimizer->rule->rates(set, s, (double)s->updates + 1, &now);
    add_rate(&out->lrs, now.lr);
    add_rate(&out->wds, now.wd);
    add_rate(&out->etas, now.eta);
    add_rate(&out->scales, now.scale);
}

/* The other lists have as many values as lrs. */
static int same_rates(const mxci_optimizer_rates *a, const mxci_optimizer_rates *b) {
    size_t bytes = (size_t)a->lrs.n * sizeof a->lrs.value[0];
    return a->lrs.n == b->lrs.n && !memcmp(a->lrs.value, b->lrs.value, bytes) &&
           !memcmp(a->wds.value, b->wds.value, bytes) && !memcmp(a->etas.value, b->etas.value, bytes) &&
           !memcmp(a->scales.value, b->scales.value, bytes);
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
    char text[4][MXC_TUPLE_MAX * 26];
    const rule *r = optimizer->rule;
    op_params g = {.n = 0};
    format_rates(&rates->lrs, text[0], sizeof text[0]);
    format_rates(&rates->wds, text[1], sizeof text[1]);
    format_rates(&rates->etas, text[2], sizeof text[2]);
    format_rates(&rates->scales, text[3], sizeof text[3]);
    add_op_param(&g, "lrs", text[0]);
    add_op_param(&g, "wds", text[1]);
    add_op_param(&g, "etas", text[2]);
    add_op_param(&g, "scales", text[3]);
    add_op_param(&g, "trust_ratio", r->has_trust_ratio && r->has_trust_ratio(&optimizer->settings) ? "1" : "0");
    add_op_param(&g, "rule", optimizer->variant->rule);
    add_op_param(&g, "multi_precision", ops->has_masters ? "1" : "0");
    add_op_param(&g, "scaled", optimizer->scale.state ? "1" : "0");
    add_op_number(&g, "num_weights", ops->n);
    /* The settings of the rule that are parameters of _multi_update have the same names there. */
    for (const mxc_param *p = mxci_op_multi_update.params; p->name; p++)
        for (const mxc_param *own = r->schema; own->name; own++)
            if (own->type == MXC_PARAM_FLOAT && strcmp(own->name, p->name) == 0)
                add_op_number(&g, p->name, *(const double *)((const char *)&optimizer->settings + own->offset));
    return mxc_op_create(mxci_op_multi_update.name, g.n, g.keys, g.values, out);
}

/* Changes the rates of an operator in place; 0 if a queued update still uses it. */
static int set_rates(mxc_op *op, const mxci_optimizer_rates *rates) {
    return op && mxci_op_set_floats(op, "lrs", &rates->lrs) && mxci_op_set_floats(op, "wds", &rates->wds) &&
           mxci_op_set_floats(op, "etas", &rates->etas) && mxci_op_set_floats(op, "scales", &rates->scales);
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

/* What functions of rules are given for an update of a parameter. grad: NULL where states are created. */
static mxc_optimizer_call make_call(const mxc_optimizer *optimizer, const param_state *s, mxc_ndarray *weight,
                                    mxc_ndarray *grad) {
    const settings *set = &optimizer->settings;
    return (mxc_optimizer_call){
        .size = sizeof(mxc_optimizer_call),
        .params = optimizer->rule->def ? optimizer->own_params : (const void *)set,
        .key = s->key,
        .weight = s->master ? s->master : weight,
        .grad = grad,
        .states = (mxc_ndarray **)s->states,
        .lr = set->learning_rate * s->lr_mult,
        .wd = set->wd * s->wd_mult,
        .rescale_grad = set->rescale_grad,
        .clip_gradient = set->clip_gradient,
        .t = s->updates + 1,
    };
}

mxc_status mxci_optimizer_create_zeros(mxc_ndarray *weight, int ndim, const int64_t *dims, mxc_dtype dtype,
                                       mxc_ndarray **out) {
    MXC_TRY(mxc_ndarray_create(ndim, dims, dtype, mxc_ndarray_context(weight), out));
    mxc_status status = mxc_ndarray_fill(*out, 0);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

/* A new state i. *out stays NULL where the weight needs none. */
static mxc_status create_state(const mxc_optimizer *optimizer, const mxc_optimizer_call *call, int i,
                               mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    const mxc_dtype dtype = mxc_ndarray_dtype(call->weight);
    *out = NULL;
    if (optimizer->rule->init_state)
        return optimizer->rule->init_state(call, i, out);
    if (optimizer->rule->copies >> i & 1)
        return mxc_ndarray_copy(call->weight, mxc_ndarray_context(call->weight), dtype, out);
    return mxci_optimizer_create_zeros(call->weight, shape->ndim, shape->dim, dtype, out);
}

/* Checks a state that was loaded against a new one, where rules create states of other shapes than the weight's. */
static mxc_status check_own_state(const mxc_optimizer *optimizer, const mxc_optimizer_call *call, int i,
                                  const char *name) {
    mxc_ndarray *fresh, *loaded = call->states[i];
    char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
    MXC_TRY(create_state(optimizer, call, i, &fresh));
    int is_right = fresh && mxc_shape_equal(mxc_ndarray_shape(fresh), mxc_ndarray_shape(loaded)) &&
                   mxc_ndarray_dtype(fresh) == mxc_ndarray_dtype(loaded);
    mxc_status status = MXC_OK;
    if (!is_right)
        status = MXC_FAIL(MXC_ESHAPE, "%s: %s of weight %s has shape %s, expected %s", optimizer->rule->name, name,
                          call->key, mxc_shape_format(mxc_ndarray_shape(loaded), a, sizeof a),
                          fresh ? mxc_shape_format(mxc_ndarray_shape(fresh), b, sizeof b) : "no such state");
    mxc_ndarray_release(fresh);
    return status;
}

/* Creates the states that the update needs, and checks and moves those that were loaded. With multi_precision the
 * states of a 16-bit weight are float32, as is its master copy. */
static mxc_status prepare_states(const mxc_optimizer *optimizer, param_state *s, const char *key, mxc_ndarray *weight) {
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
    const mxc_optimizer_call call = make_call(optimizer, s, weight, NULL);
    for (int i = 0; i < mxci_optimizer_n_states(optimizer); i++) {
        char name[MXCI_STATE_NAME];
        if (!s->states[i]) {
            MXC_TRY(create_state(optimizer, &call, i, &s->states[i]));
            continue;
        }
        mxci_list_item(optimizer->variant->states, i, name, sizeof name);
        if (!optimizer->rule->init_state)
            MXC_TRY(check_state(optimizer, key, name, weight, s->states[i]));
        else if (s->is_loaded)
            MXC_TRY(check_own_state(optimizer, &call, i, name));
        MXC_TRY(move_state(&s->states[i], context));
    }
    s->is_loaded = 0;
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

/* Queues one operator for n updates of weights of one dtype and context. Its inputs are weight, gradient, states and
 * master copy of each, then the factor on gradients. */
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

/* Whether the rule's function updates the weight. */
static int is_for_function(const mxc_optimizer *optimizer, mxc_ndarray *weight) {
    const rule *r = optimizer->rule;
    return r->update && (!r->is_for_arrays || r->is_for_arrays(weight));
}

/* Updates one weight by the rule's function. With a loss scale it waits for the factor on gradients, since only the
 * host can leave out the function's operators where a gradient is not finite. */
static mxc_status call_update(const mxc_optimizer *optimizer, const pending_update *item) {
    param_state *s = item->param_state;
    mxc_optimizer_call call = make_call(optimizer, s, item->weight, item->grad);
    mxc_ndarray *wide = NULL;
    if (mxc_ndarray_size(item->weight) == 0)
        return MXC_OK;
    if (optimizer->scale.state) {
        float factor;
        MXC_TRY(mxc_ndarray_get(optimizer->scale.factor, &factor, sizeof factor));
        if (factor == 0) { /* counted as an update, as those by operators are */
            s->updates++;
            return MXC_OK;
        }
        call.rescale_grad *= factor;
    }
    if (s->master) {
        MXC_TRY(mxc_ndarray_copy(item->grad, mxc_ndarray_context(item->weight), MXC_F32, &wide));
        call.grad = wide;
    }
    mxc_status status = optimizer->rule->update(&call);
    mxc_ndarray_release(wide);
    MXC_TRY(status);
    s->updates++;
    return s->master ? mxc_ndarray_copy_to(s->master, item->weight, 0) : MXC_OK;
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
    if (optimizer->is_held)
        return hold_update(optimizer, &one);
    return is_for_function(optimizer, weight) ? call_update(optimizer, &one)
                                              : queue_update(optimizer, &one.param_state->own, 1, items);
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

/* Updates the held weights that are for the rule's function. */
static mxc_status call_updates(mxc_optimizer *optimizer) {
    for (int i = 0; i < optimizer->n_items && optimizer->rule->update; i++) {
        pending_update *item = &optimizer->items[i];
        if (!is_for_function(optimizer, item->weight))
            continue;
        MXC_TRY(call_update(optimizer, item));
        item->param_state = NULL; /* done */
    }
    return MXC_OK;
}

/* Queues all held updates by operators. Group k of a flush uses operator pair k, so that the same weights meet the same
 * operators in every step. */
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
        status = call_updates(optimizer);
    if (status == MXC_OK)
        status = run_groups(optimizer);
    release_items(optimizer);
    return status;
}
