/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backward: reverse-mode differentiation of a recorded graph.
 *
 * The gradients are those of an executor bit for bit, so the sweep makes the same sums in the same order by the same
 * kernels as executor/passes/differentiate.c and requests.c have an executor make them:
 * - nodes are visited in the reverse of the symbol's topological order; a node runs if a gradient reaches it, or if it
 *   is a head that reads none (a loss)
 * - the terms of a sum are accumulated in one array if each comes from a node of its own: the first is written, or
 *   added to what a variable's gradient holds if its request is add, and the others are added
 * - other sums, of two terms from one node or with a head gradient among them, are made by add_n of all terms in order
 *
 * What a user may have done wrong is found before the first node runs.
 */
#include <string.h>

#include "autograd/tape.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/sys.h"
#include "base/text.h"

/* The gradient of one output of one node. */
typedef struct sum {
    int32_t n_terms;     /* that will come, counted before the sweep */
    int32_t last_from;   /* while counting: the node that the last one came from */
    int32_t n_seen;      /* that have come */
    uint8_t is_wanted;   /* it is asked for, or leads to one that is */
    uint8_t is_result;   /* it is asked for */
    uint8_t is_separate; /* its terms are kept apart until they are summed */
    mxc_req req;         /* of target, for the first term */
    mxc_ndarray *target; /* where the sum is to be; NULL: in a new array */
    mxc_ndarray **terms; /* those that have come, n_terms at most; a single array if not is_separate */
    mxc_ndarray *single; /* room for one */
} sum;

typedef struct pass {
    const char *caller;
    int is_retained, allow_changes;
    mxci_tape_order order;
    int32_t *first;                      /* node: its first sum */
    sum *sums;                           /* of all outputs of all nodes */
    uint8_t *reaches;                    /* node: something asked for is among its inputs, directly or not */
    uint8_t *is_loss;                    /* node: it is a head and reads no gradient */
    mxc_ndarray **out_grads, **in_grads; /* of the node that runs */
    mxc_req *reqs;
    sum **heads;   /* head: its sum; NULL: the gradient of the head is not used */
    sum **results; /* variable: its sum */
} pass;

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static sum *sum_at(const pass *p, const mxci_tape_node *node, int index) {
    return &p->sums[p->first[mxci_tape_order_find(&p->order, node)] + index];
}

static sum *sum_of_input(const pass *p, const mxci_tape_node *node, int i) {
    return sum_at(p, node->in[i].node, node->in[i].index);
}

static mxc_status pass_begin(pass *p, int n, mxc_ndarray *const *heads) {
    size_t n_sums = 0, widest = 1;
    MXC_TRY(mxci_tape_order_make(p->caller, n, heads, &p->order));
    const size_t n_nodes = (size_t)p->order.n + 1;
    p->first = mxci_calloc(n_nodes, sizeof *p->first);
    p->reaches = mxci_calloc(n_nodes, 1);
    p->is_loss = mxci_calloc(n_nodes, 1);
    for (int32_t i = 0; i < p->order.n && p->first; i++) {
        const mxci_tape_node *node = p->order.nodes[i];
        const size_t width = (size_t)(node->n_args > node->n_out ? node->n_args : node->n_out);
        p->first[i] = (int32_t)n_sums;
        n_sums += (size_t)node->n_out;
        widest = width > widest ? width : widest;
    }
    p->sums = n_sums < INT32_MAX ? mxci_calloc(n_sums + 1, sizeof *p->sums) : NULL;
    p->out_grads = mxci_calloc(widest, sizeof(mxc_ndarray *));
    p->in_grads = mxci_calloc(widest, sizeof(mxc_ndarray *));
    p->reqs = mxci_calloc(widest, sizeof *p->reqs);
    if (!p->first || !p->reaches || !p->is_loss || !p->sums || !p->out_grads || !p->in_grads || !p->reqs)
        return MXCI_NO_MEMORY(p->caller, "gradients");
    return MXC_OK;
}

static void sum_clear(sum *s) {
    for (int32_t i = 0; i < s->n_seen && s->terms; i++)
        mxc_ndarray_release(s->terms[i]);
    if (s->terms != &s->single)
        mxci_free(s->terms);
    mxc_ndarray_release(s->target);
    s->terms = NULL;
    s->target = NULL;
    s->n_seen = 0;
}

static void pass_end(pass *p) {
    for (int32_t i = 0; i < p->order.n && p->sums && p->first; i++)
        for (int k = 0; k < p->order.nodes[i]->n_out; k++)
            sum_clear(&p->sums[p->first[i] + k]);
    mxci_free(p->first);
    mxci_free(p->sums);
    mxci_free(p->reaches);
    mxci_free(p->is_loss);
    mxci_free(p->out_grads);
    mxci_free(p->in_grads);
    mxci_free(p->reqs);
    mxci_free(p->heads);
    mxci_free(p->results);
    mxci_tape_order_free(&p->order);
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* The attached gradients of all variables. */
static mxc_status want_attached(pass *p) {
    int n = 0;
    for (int32_t i = 0; i < p->order.n; i++) {
        const mxci_tape_node *leaf = p->order.nodes[i];
        sum *s = &p->sums[p->first[i]];
        if (leaf->kind || !leaf->grad || leaf->req == MXC_REQ_NULL)
            continue;
        s->is_result = 1;
        s->req = leaf->req;
        s->target = mxc_ndarray_retain(leaf->grad);
        n++;
    }
    return n ? MXC_OK
             : MXC_FAIL(MXC_ESTATE, "%s: the heads depend on no array with a gradient (mxc_autograd_attach)",
                        p->caller);
}

/* New arrays for the gradients of some arrays. */
static mxc_status want_arrays(pass *p, int n, mxc_ndarray *const *arrays) {
    p->results = mxci_calloc((size_t)n + 1, sizeof(sum *));
    if (!p->results)
        return MXCI_NO_MEMORY(p->caller, "gradients");
    for (int i = 0; i < n; i++) {
        int index;
        mxci_tape_node *node = mxci_tape_node_of(arrays[i], &index);
        const int32_t place = node ? mxci_tape_order_find(&p->order, node) : -1;
        mxci_tape_node_release(node);
        if (place < 0)
            return MXC_FAIL(MXC_ESTATE, "%s: the heads do not depend on variables[%d], or not by recorded calls",
                            p->caller, i);
        p->results[i] = &p->sums[p->first[place] + index];
        p->results[i]->is_result = 1;
        p->results[i]->req = MXC_REQ_WRITE;
    }
    return MXC_OK;
}

static int stops_gradient(const mxci_tape_node *node) {
    return node->kind->stops_gradient && node->kind->stops_gradient(node);
}

static void mark_reached(pass *p) {
    for (int32_t i = 0; i < p->order.n; i++) {
        const mxci_tape_node *node = p->order.nodes[i];
        for (int k = 0; node->kind && k < node->n_args && !stops_gradient(node); k++)
            p->reaches[i] |= sum_of_input(p, node, k)->is_wanted;
        for (int k = 0; k < node->n_out; k++) {
            sum *s = &p->sums[p->first[i] + k];
            s->is_wanted = p->reaches[i] || s->is_result;
        }
    }
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

static int reads_any(const mxci_tape_node *node) {
    for (int i = 0; i < node->n_out; i++)
        if (node->kind->reads_out_grad(node, i))
            return 1;
    return 0;
}

/* 1 if the gradient of a node's output is used. */
static int is_read(const pass *p, int32_t i, int index) {
    const mxci_tape_node *node = p->order.nodes[i];
    return p->sums[p->first[i] + index].is_result || (p->reaches[i] && node->kind->reads_out_grad(node, index));
}

static int receives(const pass *p, int32_t i) {
    for (int k = 0; k < p->order.nodes[i]->n_out; k++)
        if (p->sums[p->first[i] + k].n_terms > 0)
            return 1;
    return p->is_loss[i];
}

static int runs(const pass *p, int32_t i) {
    return p->order.nodes[i]->kind && p->reaches[i] && receives(p, i);
}

/* Counts the terms of all sums as the sweep will make them. Those of heads are counted already. */
static void count_terms(pass *p) {
    for (int32_t i = p->order.n; i-- > 0;) {
        const mxci_tape_node *node = p->order.nodes[i];
        if (!runs(p, i))
            continue;
        for (int k = 0; k < node->n_args; k++) {
            sum *s = sum_of_input(p, node, k);
            if (!s->is_wanted)
                continue;
            s->is_separate |= s->n_terms > 0 && s->last_from == i;
            s->n_terms++;
            s->last_from = i;
        }
    }
}

static mxc_status check_nodes(const pass *p) {
    for (int32_t i = p->order.n; i-- > 0;)
        if (runs(p, i) && p->order.nodes[i]->kind->check)
            MXC_TRY(p->order.nodes[i]->kind->check(p->order.nodes[i], p->allow_changes));
    return MXC_OK;
}

static mxc_status allocate_terms(pass *p) {
    for (int32_t i = 0; i < p->order.n; i++)
        for (int k = 0; k < p->order.nodes[i]->n_out; k++) {
            sum *s = &p->sums[p->first[i] + k];
            s->terms = &s->single;
            if (!s->is_separate || s->n_terms < 2)
                continue;
            s->terms = mxci_calloc((size_t)s->n_terms, sizeof(mxc_ndarray *));
            if (!s->terms)
                return MXCI_NO_MEMORY(p->caller, "the terms of a gradient");
        }
    return MXC_OK;
}

static mxc_status new_array(const mxci_tensor_type *type, mxc_ndarray **out) {
    return mxc_ndarray_create(type->shape.ndim, type->shape.dim, type->dtype, type->context, out);
}

static mxc_status new_filled(const mxci_tensor_type *type, double value, mxc_ndarray **out) {
    MXC_TRY(new_array(type, out));
    mxc_status status = mxc_ndarray_fill(*out, value);
    if (status == MXC_OK)
        return MXC_OK;
    mxc_ndarray_release(*out);
    *out = NULL;
    return status;
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

/* Sets p->heads[i]; losses are marked as such. */
static mxc_status find_head(pass *p, int i, const mxc_ndarray *head) {
    int index;
    mxci_tape_node *node = mxci_tape_node_of(head, &index);
    const int32_t place = node ? mxci_tape_order_find(&p->order, node) : -1;
    mxci_tape_node_release(node); /* the order keeps it */
    if (place < 0)
        return MXC_FAIL(MXC_ESTATE, "%s: heads[%d] was changed by another thread", p->caller, i);
    sum *s = &p->sums[p->first[place] + index];
    if (node->kind)
        p->is_loss[place] |= p->reaches[place] && !reads_any(node);
    if (s->is_wanted && (!node->kind || s->is_result || node->kind->reads_out_grad(node, index)))
        p->heads[i] = s;
    return MXC_OK;
}

static mxc_status check_head(const pass *p, int i, const mxc_ndarray *head, const mxc_ndarray *grad) {
    const mxci_tensor_type want = mxci_tape_type_of(head), have = mxci_tape_type_of(grad);
    char want_text[MXC_SHAPE_TEXT], have_text[MXC_SHAPE_TEXT];
    if (!mxc_shape_equal(&want.shape, &have.shape))
        return MXC_FAIL(MXC_ESHAPE, "%s: head_grads[%d]: expected shape %s, found %s", p->caller, i,
                        mxc_shape_format(&want.shape, want_text, sizeof want_text),
                        mxc_shape_format(&have.shape, have_text, sizeof have_text));
    if (want.dtype != have.dtype)
        return MXC_FAIL(MXC_EDTYPE, "%s: head_grads[%d]: expected dtype %s, found %s", p->caller, i,
                        mxc_dtype_name(want.dtype), mxc_dtype_name(have.dtype));
    if (!mxc_context_equal(want.context, have.context))
        return MXC_FAIL(MXC_EDEVICE, "%s: head_grads[%d]: expected an array on %s, found %s", p->caller, i,
                        mxc_context_format(want.context, want_text, sizeof want_text),
                        mxc_context_format(have.context, have_text, sizeof have_text));
    return MXC_OK;
}

/* Counts the heads' terms, which no node may add to, so that sums with them are separate. */
static mxc_status count_heads(pass *p, int n, mxc_ndarray *const *heads, mxc_ndarray *const *grads) {
    p->heads = mxci_calloc((size_t)n + 1, sizeof(sum *));
    if (!p->heads)
        return MXCI_NO_MEMORY(p->caller, "head gradients");
    for (int i = 0; i < n; i++) {
        MXC_TRY(find_head(p, i, heads[i]));
        if (grads && grads[i])
            MXC_TRY(check_head(p, i, heads[i], grads[i]));
        if (!p->heads[i])
            continue;
        p->heads[i]->is_separate = 1;
        p->heads[i]->n_terms++;
        p->heads[i]->last_from = -1;
    }
    return MXC_OK;
}

static mxc_status start_heads(pass *p, int n, mxc_ndarray *const *heads, mxc_ndarray *const *grads) {
    for (int i = 0; i < n; i++) {
        const mxci_tensor_type type = mxci_tape_type_of(heads[i]);
        sum *s = p->heads[i];
        if (!s)
            continue;
        if (grads && grads[i])
            s->terms[s->n_seen] = mxc_ndarray_retain(grads[i]);
        else
            MXC_TRY(new_filled(&type, 1, &s->terms[s->n_seen]));
        s->n_seen++;
    }
    return MXC_OK;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* target = or += the sum of n terms, by an operator, as an executor makes it. *out is the target, or a new array. */
static mxc_status add_terms(const sum *s, mxc_ndarray **out) {
    char count[16];
    const char *key = "num_args", *value = count;
    const int n = s->n_seen;
    mxc_op *op;
    mxc_status status;
    mxci_format(count, sizeof count, "%d", n);
    MXC_TRY(mxc_op_create(n > 1 ? "add_n" : "_copy", n > 1, &key, &value, &op));
    *out = mxc_ndarray_retain(s->target);
    status = mxc_op_invoke(op, n, s->terms, 1, out, s->target ? &s->req : NULL, 1);
    mxc_op_release(op);
    if (status != MXC_OK) {
        mxc_ndarray_release(*out);
        *out = NULL;
    }
    return status;
}

/* The finished gradient, lent by the sum; *out is NULL if it is zero. */
static mxc_status finish_sum(sum *s, mxc_ndarray **out) {
    *out = s->n_seen ? s->terms[0] : NULL;
    if (!s->is_separate || !s->n_seen || (s->n_seen == 1 && !s->is_result))
        return MXC_OK;
    mxc_ndarray *whole;
    MXC_TRY(add_terms(s, &whole));
    for (int32_t i = 0; i < s->n_seen; i++)
        mxc_ndarray_release(s->terms[i]);
    *out = s->terms[0] = whole;
    s->n_seen = 1;
    s->is_separate = 0;
    return MXC_OK;
}

/* Where a node puts its term of a sum, and how; lent by the sum. */
static mxc_status place_term(sum *s, const mxci_tensor_type *type, mxc_ndarray **out, mxc_req *req) {
    const int is_first = s->n_seen == 0;
    if (!s->is_separate && !is_first) {
        *out = s->terms[0];
        *req = MXC_REQ_ADD;
        return MXC_OK;
    }
    *req = MXC_REQ_WRITE;
    if (!s->is_separate && s->target) {
        s->terms[0] = mxc_ndarray_retain(s->target);
        *req = s->req;
    } else {
        MXC_TRY(new_array(type, &s->terms[s->n_seen]));
    }
    *out = s->terms[s->n_seen++];
    return MXC_OK;
}

/* ---- the sweep --------------------------------------------------------------------------------------------------- */

/* The gradients of the node's outputs; those that are missing are zeros, of which the caller releases the handles. */
static mxc_status collect_out_grads(pass *p, int32_t i) {
    const mxci_tape_node *node = p->order.nodes[i];
    memset(p->out_grads, 0, (size_t)node->n_out * sizeof *p->out_grads);
    for (int k = 0; k < node->n_out; k++) {
        mxc_ndarray *grad;
        if (!is_read(p, i, k))
            continue;
        MXC_TRY(finish_sum(&p->sums[p->first[i] + k], &grad));
        if (!node->kind->reads_out_grad(node, k))
            continue;
        p->out_grads[k] = mxc_ndarray_retain(grad);
        if (!grad)
            MXC_TRY(new_filled(&node->out[k], 0, &p->out_grads[k]));
    }
    return MXC_OK;
}

/* Terms that nothing reads are not computed. */
static mxc_status place_in_grads(pass *p, const mxci_tape_node *node) {
    memset(p->in_grads, 0, (size_t)node->n_args * sizeof *p->in_grads);
    for (int k = 0; k < node->n_args; k++) {
        const mxci_tape_input *in = &node->in[k];
        const int32_t from = mxci_tape_order_find(&p->order, in->node);
        sum *s = &p->sums[p->first[from] + in->index];
        p->reqs[k] = MXC_REQ_NULL;
        if (s->is_wanted && (!in->node->kind || is_read(p, from, in->index)))
            MXC_TRY(place_term(s, &in->node->out[in->index], &p->in_grads[k], &p->reqs[k]));
    }
    return MXC_OK;
}

static mxc_status run_node(pass *p, int32_t i) {
    mxci_tape_node *node = p->order.nodes[i];
    mxc_status status = collect_out_grads(p, i);
    if (status == MXC_OK)
        status = place_in_grads(p, node);
    if (status == MXC_OK)
        status = node->kind->backward(node, p->out_grads, p->in_grads, p->reqs);
    for (int k = 0; k < node->n_out; k++)
        mxc_ndarray_release(p->out_grads[k]);
    return status;
}

/* Each node's memory is released when it has run, and the gradients of its outputs with it. */
static mxc_status backward_sweep(pass *p) {
    for (int32_t i = p->order.n; i-- > 0;) {
        mxci_tape_node *node = p->order.nodes[i];
        if (runs(p, i))
            MXC_TRY(run_node(p, i));
        for (int k = 0; node->kind && k < node->n_out; k++)
            if (!p->sums[p->first[i] + k].is_result)
                sum_clear(&p->sums[p->first[i] + k]);
        if (!p->is_retained)
            mxci_tape_free_node(node);
    }
    return MXC_OK;
}

/* Results whose terms are separate, and zeros. */
static mxc_status finish_results(pass *p) {
    for (int32_t i = 0; i < p->order.n; i++)
        for (int k = 0; k < p->order.nodes[i]->n_out; k++) {
            sum *s = &p->sums[p->first[i] + k];
            mxc_ndarray *grad;
            if (!s->is_result)
                continue;
            MXC_TRY(finish_sum(s, &grad));
            if (!grad && !s->target) {
                MXC_TRY(new_filled(&p->order.nodes[i]->out[k], 0, &s->terms[0]));
                s->n_seen = 1;
            } else if (!grad && s->req == MXC_REQ_WRITE) {
                MXC_TRY(mxc_ndarray_fill(s->target, 0));
            }
            if (!p->order.nodes[i]->kind && s->target)
                atomic_store(&p->order.nodes[i]->is_fresh, 1);
        }
    return MXC_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

typedef struct request {
    const char *caller;
    int n;
    mxc_ndarray *const *heads, *const *head_grads;
    int n_variables;
    mxc_ndarray *const *variables; /* NULL: those with an attached gradient */
    mxc_ndarray **out;
} request;

static mxc_status backward_prepare(pass *p, const request *r) {
    MXC_TRY(pass_begin(p, r->n, r->heads));
    MXC_TRY(r->variables ? want_arrays(p, r->n_variables, r->variables) : want_attached(p));
    mark_reached(p);
    MXC_TRY(count_heads(p, r->n, r->heads, r->head_grads));
    count_terms(p);
    MXC_TRY(check_nodes(p));
    return allocate_terms(p);
}

static mxc_status backward_run(pass *p, const request *r) {
    MXC_TRY(start_heads(p, r->n, r->heads, r->head_grads));
    MXC_TRY(backward_sweep(p));
    MXC_TRY(finish_results(p));
    for (int i = 0; i < r->n_variables; i++)
        r->out[i] = mxc_ndarray_retain(p->results[i]->terms[0]);
    return MXC_OK;
}

static mxc_status check_request(const request *r, const mxc_backward_options *options) {
    if (options->create_graph)
        return MXC_FAIL(MXC_EUNSUPPORTED,
                        "%s: create_graph: gradients of gradients are not supported: backward is not recorded",
                        r->caller);
    if (r->n < 1)
        return MXC_FAIL(MXC_EINVAL, "%s: expected at least one head, found %d", r->caller, r->n);
    for (int i = 0; i < r->n; i++)
        if (!r->heads[i])
            return MXC_FAIL(MXC_EINVAL, "%s: heads[%d] must not be NULL", r->caller, i);
    for (int i = 0; i < r->n_variables; i++)
        if (!r->variables[i])
            return MXC_FAIL(MXC_EINVAL, "%s: variables[%d] must not be NULL", r->caller, i);
    return MXC_OK;
}

/* The thread does not record meanwhile, neither what the sweep calls nor what functions of the program call. */
static mxc_status differentiate(const request *r, const mxc_backward_options *options) {
    pass p = {
        .caller = r->caller,
        .is_retained = options->retain_graph,
        .allow_changes = options->allow_changes,
    };
    MXC_TRY(check_request(r, options));
    const unsigned mode = mxci_mode_exchange(0);
    mxc_status status = backward_prepare(&p, r);
    if (status == MXC_OK) {
        status = backward_run(&p, r);
        for (int32_t i = p.order.n; i-- > 0 && status != MXC_OK && !p.is_retained;)
            mxci_tape_free_node(p.order.nodes[i]);
    }
    pass_end(&p);
    mxci_mode = mode;
    return status;
}

void mxc_backward_options_init(mxc_backward_options *options, size_t size) {
    static const mxc_backward_options defaults = MXC_BACKWARD_OPTIONS_INIT;
    mxci_sized_init(options, size, &defaults, sizeof defaults);
}

mxc_status mxc_autograd_backward(int n, mxc_ndarray *const *heads, mxc_ndarray *const *head_grads,
                                 const mxc_backward_options *options) {
    mxc_backward_options read = MXC_BACKWARD_OPTIONS_INIT;
    MXC_TRY(MXCI_NON_NULL(heads));
    if (options)
        MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_backward_options_init"));
    const request r = {.caller = __func__, .n = n, .heads = heads, .head_grads = head_grads};
    return differentiate(&r, &read);
}

mxc_status mxc_autograd_gradients(int n, mxc_ndarray *const *heads, mxc_ndarray *const *head_grads, int n_variables,
                                  mxc_ndarray *const *variables, const mxc_backward_options *options,
                                  mxc_ndarray **out) {
    mxc_backward_options read = MXC_BACKWARD_OPTIONS_INIT;
    for (int i = 0; out && i < n_variables; i++)
        out[i] = NULL;
    MXC_TRY(MXCI_NON_NULL(heads));
    MXC_TRY(MXCI_NON_NULL(variables));
    MXC_TRY(MXCI_NON_NULL(out));
    if (options)
        MXC_TRY(MXCI_READ_SIZED(options, &read, "mxc_backward_options_init"));
    const request r = {.caller = __func__,
                       .n = n,
                       .heads = heads,
                       .head_grads = head_grads,
                       .n_variables = n_variables,
                       .variables = variables,
                       .out = out};
    return differentiate(&r, &read);
}
