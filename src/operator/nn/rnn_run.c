/* SPDX-License-Identifier: Apache-2.0 */
/* RNN on the CPU: what runs forward and backward, layer by layer and step by step. rnn.c has the formulas. */
#include "operator/nn/rnn_run.h"

#include <string.h>

#include "math/gemm.h"
#include "math/random_kernels.h"
#include "operator/index/rows.h"
#include "operator/nn/dropout_kernels.h"

typedef mxci_rnn_params rnn_params;
typedef mxci_rnn_dims dims;

/* ---- one run ----------------------------------------------------------------------------------------------------- */

typedef struct rnn {
    const mxc_op_call *call;
    const rnn_params *p;
    dims d;
    size_t element;
    const mxci_rnn_kernels *kernels;
    char *reserve;
    int64_t reserve_layers;
    char *input;             /* of layers above the first, with the mask applied (rows, width); only with masks */
    char *bias, *h_product;  /* forward: b + c (gates H); GRU: R h + c of a step (N, gates H) */
    char *grad[2];           /* backward: of the layers' outputs in turn (rows, width) */
    char *x_gates, *h_gates; /* backward: gradients of the gates (rows, gates H), one memory but for GRU */
    char *dh, *dc;           /* backward: of the states (N, hidden) and cells (N,H) */
    char *state_grad;        /* backward with a projection: of the states after each step (rows, hidden), */
    char *unit_grad;         /* of o tanh(C) of a step (N,H), */
    char *no_grad;           /* and zeros (H) */
    void *packed;            /* R of the layer and direction that runs, packed for the products of its steps */
} rnn;

/* Packing takes about as long as a product of a few rows, so it pays where several steps share it. */
static size_t packed_bytes(const rnn *r, mxc_pass pass) {
    const dims *d = &r->d;
    const int64_t gates = mxci_dim_mul(d->gates, d->h);
    if (d->t < 4 || d->n <= 4)
        return 0;
    return pass == MXC_FORWARD ? mxci_gemm_packed_bytes(d->type, gates, d->hidden)
                               : mxci_gemm_packed_bytes(d->type, d->hidden, gates);
}

/* Hands out the arrays in scratch, or measures it where s has no base. */
static void rnn_take_scratch(rnn *r, mxc_pass pass, mxci_scratch *s) {
    const dims *d = &r->d;
    const int64_t gates = mxci_dim_mul(d->gates, d->h), cells = mxci_dim_mul(d->n, d->h);
    const size_t packed = packed_bytes(r, pass);
    int is_gru = r->p->mode == MXCI_RNN_GRU;
    r->input = mxci_scratch_array(s, d->masks, r->element);
    r->packed = packed > 0 ? mxci_scratch_take(s, packed) : NULL;
    if (pass == MXC_FORWARD) {
        r->reserve_layers = d->layers < 2 ? d->layers : 2;
        r->reserve = mxci_scratch_array(s, mxci_dim_mul(r->reserve_layers, d->layer_reserve), r->element);
        r->bias = mxci_scratch_array(s, gates, r->element);
        r->h_product = mxci_scratch_array(s, is_gru ? mxci_dim_mul(d->n, gates) : 0, r->element);
        return;
    }
    for (int i = 0; i < 2; i++)
        r->grad[i] = mxci_scratch_array(s, d->layers > 1 ? mxci_dim_mul(d->rows, d->width) : 0, r->element);
    r->dh = mxci_scratch_array(s, mxci_dim_mul(d->n, d->hidden), r->element);
    r->dc = mxci_scratch_array(s, cells, r->element);
    r->state_grad = mxci_scratch_array(s, d->projected ? mxci_dim_mul(d->rows, d->hidden) : 0, r->element);
    r->unit_grad = mxci_scratch_array(s, d->projected ? cells : 0, r->element);
    r->no_grad = mxci_scratch_array(s, d->projected ? d->h : 0, r->element);
    r->x_gates = mxci_scratch_array(s, mxci_dim_mul(d->rows, gates), r->element);
    r->h_gates = is_gru ? mxci_scratch_array(s, mxci_dim_mul(d->rows, gates), r->element) : r->x_gates;
}

/* Without the output `reserve` (inference) the layers take turns in the reserve of two layers, in scratch. */
static rnn rnn_open_run(const mxc_op_call *call, mxc_pass pass) {
    const mxc_tensor *reserve = &call->out[MXCI_RNN_RESERVE];
    rnn r = {.call = call, .p = call->params};
    r.d = mxci_rnn_dims_of(r.p, &call->in[MXCI_RNN_DATA].shape, call->in[MXCI_RNN_DATA].dtype);
    r.element = mxc_dtype_size(r.d.type);
    r.kernels = r.d.type == MXC_F32 ? &mxci_rnn_f32 : &mxci_rnn_f64;
    rnn_take_scratch(&r, pass, &(mxci_scratch){.base = call->temp});
    if (pass == MXC_BACKWARD || call->req[MXCI_RNN_RESERVE] != MXC_REQ_NULL) {
        r.reserve = reserve->data;
        r.reserve_layers = r.d.layers;
    }
    return r;
}

size_t mxci_rnn_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    rnn r = {.p = sig->params};
    mxci_scratch measure = {0};
    r.d = mxci_rnn_dims_of(r.p, &sig->in_shape[MXCI_RNN_DATA], sig->in_type[MXCI_RNN_DATA]);
    r.element = mxc_dtype_size(r.d.type);
    rnn_take_scratch(&r, pass, &measure);
    return measure.bytes;
}

static void *rnn_at(const rnn *r, const void *base, int64_t element) {
    return base ? (char *)base + element * (int64_t)r->element : NULL;
}

/* Parts of a layer's reserve. */
static char *reserve_of(const rnn *r, int64_t layer) {
    return rnn_at(r, r->reserve, layer % r->reserve_layers * r->d.layer_reserve);
}
static char *gates_of(const rnn *r, int64_t layer, int direction) {
    return rnn_at(r, reserve_of(r, layer), mxci_rnn_gates_at(&r->d, direction));
}
static char *cells_of(const rnn *r, int64_t layer, int direction) {
    return rnn_at(r, reserve_of(r, layer), mxci_rnn_cells_at(&r->d, direction));
}
static char *units_of(const rnn *r, int64_t layer, int direction) {
    return rnn_at(r, reserve_of(r, layer), mxci_rnn_units_at(&r->d, direction));
}
static char *out_of(const rnn *r, int64_t layer) {
    return rnn_at(r, reserve_of(r, layer), mxci_rnn_out_at(&r->d));
}
static char *mask_of(const rnn *r, int64_t layer) {
    return rnn_at(r, reserve_of(r, layer), mxci_rnn_mask_at(&r->d));
}

/* A layer's and direction's rows (N, hidden) of a state, (N,H) of a cell. */
static void *state_of(const rnn *r, const mxc_tensor *state, int64_t layer, int direction) {
    return rnn_at(r, state->data, (layer * r->d.directions + direction) * r->d.n * state->shape.dim[2]);
}
static const void *weight_of(const rnn *r, int64_t layer, int direction, int which) {
    return rnn_at(r, r->call->in[MXCI_RNN_PARAMETERS].data, mxci_rnn_weight_at(&r->d, layer, direction, which));
}
static const void *bias_of(const rnn *r, int64_t layer, int direction, int which) {
    return rnn_at(r, r->call->in[MXCI_RNN_PARAMETERS].data, mxci_rnn_bias_at(&r->d, layer, direction, which));
}

static void rnn_gemm(const rnn *r, mxci_gemm_args g) {
    g.dtype = r->d.type;
    g.alpha = 1;
    g.batch = 1;
    mxci_gemm(r->call->run, &g, NULL);
}

/* The products of steps, without the operands A and C: their sizes, and R, which all steps of a layer and direction
 * share. */
static mxci_gemm_args step_product(const rnn *r, mxc_pass pass, int64_t layer, int direction) {
    const dims *d = &r->d;
    const int64_t gates = d->gates * d->h;
    const int is_forward = pass == MXC_FORWARD;
    return (mxci_gemm_args){
        .dtype = d->type,
        .transpose_b = is_forward,
        .m = d->n,
        .n = is_forward ? gates : d->hidden,
        .k = is_forward ? d->hidden : gates,
        .b = weight_of(r, layer, direction, 1),
        .ldb = d->hidden,
        .packed = r->packed,
    };
}

/* Pack R for the steps of a layer and direction, where that pays. */
static void pack_recurrent(const rnn *r, mxc_pass pass, int64_t layer, int direction) {
    const mxci_gemm_args g = step_product(r, pass, layer, direction);
    if (r->packed)
        mxci_gemm_pack(r->call->run, &g, r->packed);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Rows (N, hidden) of the state after step s, -1 for the initial one, and the elements from one row to the next. The
 * state of a direction is its columns of the layer's output. */
static const void *state_after(const rnn *r, int64_t layer, int direction, int64_t s, int64_t *row) {
    *row = s < 0 ? r->d.hidden : r->d.width;
    return s < 0 ? state_of(r, &r->call->in[MXCI_RNN_STATE], layer, direction)
                 : rnn_at(r, out_of(r, layer),
                          mxci_rnn_time(&r->d, direction, s) * r->d.n * r->d.width + direction * r->d.hidden);
}

static const void *cell_after(const rnn *r, int64_t layer, int direction, int64_t s) {
    return s < 0 ? state_of(r, &r->call->in[MXCI_RNN_STATE_CELL], layer, direction)
                 : rnn_at(r, cells_of(r, layer, direction), mxci_rnn_time(&r->d, direction, s) * r->d.n * r->d.h);
}

/* The pointers of step s in its own direction: time T - 1 - s where that is backward. What a projection reads takes the
 * place of the state. */
static mxci_rnn_step step_of(const rnn *r, int64_t layer, int direction, int64_t s) {
    const dims *d = &r->d;
    int64_t first = mxci_rnn_time(&r->d, direction, s) * d->n; /* row of the sequence */
    mxci_rnn_step step = {.h = d->h, .h_sums = r->h_product};
    step.gates = rnn_at(r, gates_of(r, layer, direction), first * d->saved_gates * d->h);
    step.h_prev = state_after(r, layer, direction, s - 1, &step.h_prev_row);
    step.out = (void *)state_after(r, layer, direction, s, &step.out_row);
    if (d->projected) {
        step.out = rnn_at(r, units_of(r, layer, direction), first * d->h);
        step.out_row = d->h;
    }
    if (mxci_rnn_is_lstm(r->p)) {
        step.c_prev = cell_after(r, layer, direction, s - 1);
        step.c = (void *)cell_after(r, layer, direction, s);
    }
    return step;
}

typedef struct step_run {
    const rnn *r;
    mxci_rnn_fn fn;
    mxci_rnn_step step;
    int64_t time;
} step_run;

/* Whether sequence n has a step at that time. */
static int is_within(const rnn *r, int64_t n, int64_t time) {
    const int lengths = mxci_rnn_lengths_arg(r->p);
    return lengths < 0 || time < mxci_sequence_length(&r->call->in[lengths], n, r->d.t);
}

/* A row after the end of its sequence. Forward keeps the state (project_states where that is projected); backward
 * leaves its gradient as it is. */
static void skip_row(const step_run *s, int64_t row) {
    const mxci_rnn_step *step = &s->step;
    const int64_t h = step->h, gates = s->r->d.gates * h;
    const size_t element = s->r->element;
    if (step->dy) {
        memset(rnn_at(s->r, step->dx_gates, row * gates), 0, (size_t)gates * element);
        memset(rnn_at(s->r, step->dh_gates, row * gates), 0, (size_t)gates * element);
        return;
    }
    if (s->r->d.projected)
        memset(rnn_at(s->r, step->out, row * h), 0, (size_t)h * element);
    else
        memcpy(rnn_at(s->r, step->out, row * step->out_row), rnn_at(s->r, step->h_prev, row * step->h_prev_row),
               (size_t)h * element);
    if (step->c)
        memcpy(rnn_at(s->r, step->c, row * h), rnn_at(s->r, step->c_prev, row * h), (size_t)h * element);
}

static void step_part(void *arg, int64_t begin, int64_t end, int part) {
    const step_run *s = arg;
    (void)part;
    for (int64_t next = begin; begin < end; begin = next) {
        while (next < end && is_within(s->r, next, s->time))
            next++;
        if (next > begin)
            s->fn(&s->step, begin, next);
        else
            skip_row(s, next++);
    }
}

static void run_step(const rnn *r, mxci_rnn_fn fn, const mxci_rnn_step *step, int64_t time) {
    step_run s = {r, fn, *step, time};
    mxc_parallel_for(r->call->run, r->d.n, MXCI_GRAIN / 4 / (r->d.gates * r->d.h) + 1, step_part, &s);
}

/* ---- dropout between layers -------------------------------------------------------------------------------------- */

typedef struct drop_run {
    const rnn *r;
    int64_t layer;
    const char *from;
    char *to;
    int make; /* draw the mask first */
} drop_run;

/* The draws depend on layer and element only, not on the threads; a kept mask (make is 0) is used as it is. */
static void drop_part(void *arg, int64_t begin, int64_t end, int part) {
    const drop_run *a = arg;
    const rnn *r = a->r;
    const mxc_random *random = &r->call->random;
    uint64_t first = random->offset + (uint64_t)((a->layer - 1) * r->d.masks);
    uint32_t bits[MXCI_DROPOUT_TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += MXCI_DROPOUT_TILE) {
        int64_t n = end - i < MXCI_DROPOUT_TILE ? end - i : MXCI_DROPOUT_TILE;
        void *mask = rnn_at(r, mask_of(r, a->layer), i);
        if (a->make) {
            mxci_random_words(random->seed, random->stream, first + (uint64_t)i, n, bits);
            mxci_dropout_mask[r->d.type](n, bits, r->call->is_train ? 1 - r->p->p : 1, mask);
        }
        mxci_dropout_apply[r->d.type](0, n, rnn_at(r, a->from, i), mask, rnn_at(r, a->to, i));
    }
}

/* to = from times the mask of the layer's input. Forward draws the mask, backward finds it in the reserve space. Layer
 * l reads random numbers (l - 1) masks.. of the call, whatever the number of threads. */
static void rnn_drop(const rnn *r, int64_t layer, const char *from, char *to, int make) {
    drop_run a = {r, layer, from, to, make};
    mxc_parallel_for(r->call->run, r->d.masks, MXCI_GRAIN / 4, drop_part, &a);
}

uint64_t mxci_rnn_random_count(const mxc_op_sig *sig) {
    dims d = mxci_rnn_dims_of(sig->params, &sig->in_shape[MXCI_RNN_DATA], sig->in_type[MXCI_RNN_DATA]);
    return (uint64_t)((d.layers - 1) * d.masks);
}

/* The layer's input (rows, inputs), with dropout applied; make: draw the mask. */
static const void *input_of(const rnn *r, int64_t layer, int make) {
    if (layer == 0)
        return r->call->in[MXCI_RNN_DATA].data;
    if (!r->d.masks)
        return out_of(r, layer - 1);
    rnn_drop(r, layer, out_of(r, layer - 1), r->input, make);
    return r->input;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* gates = W x + b + c for all steps; for GRU without c, which r multiplies together with R h. */
static void project_input(const rnn *r, int64_t layer, int direction, const void *x) {
    const dims *d = &r->d;
    const void *bias = bias_of(r, layer, direction, 0);
    int64_t rows = d->gates * d->h, k = mxci_rnn_inputs_of(d, layer);
    if (r->p->mode != MXCI_RNN_GRU) {
        mxci_assign_row(MXC_REQ_WRITE, d->type, r->bias, bias, rows);
        mxci_assign_row(MXC_REQ_ADD, d->type, r->bias, bias_of(r, layer, direction, 1), rows);
        bias = r->bias;
    }
    rnn_gemm(r, (mxci_gemm_args){.transpose_b = 1,
                                 .m = d->rows,
                                 .n = rows,
                                 .k = k,
                                 .a = x,
                                 .lda = k,
                                 .b = weight_of(r, layer, direction, 0),
                                 .ldb = k,
                                 .c = gates_of(r, layer, direction),
                                 .ldc = d->saved_gates * d->h,
                                 .bias = bias});
}

/* h = P o tanh(C) for step s; the rows after the end of their sequence keep their state. */
static void project_states(const rnn *r, int64_t layer, int direction, int64_t s) {
    const dims *d = &r->d;
    const mxci_rnn_step step = step_of(r, layer, direction, s);
    const int64_t time = mxci_rnn_time(d, direction, s);
    int64_t row;
    char *state = (char *)state_after(r, layer, direction, s, &row);
    mxci_gemm_args g = {.transpose_b = 1, .m = d->n, .n = d->hidden, .k = d->h};
    g.a = step.out, g.lda = d->h;
    g.b = weight_of(r, layer, direction, 2), g.ldb = d->h;
    g.c = state, g.ldc = row;
    rnn_gemm(r, g);
    for (int64_t i = 0; i < d->n; i++)
        if (!is_within(r, i, time))
            memcpy(rnn_at(r, state, i * row), rnn_at(r, step.h_prev, i * step.h_prev_row),
                   (size_t)d->hidden * r->element);
}

/* Adds R h of the previous state, then computes the unit. */
static void forward_step(const rnn *r, int64_t layer, int direction, int64_t s) {
    const dims *d = &r->d;
    mxci_rnn_step step = step_of(r, layer, direction, s);
    mxci_gemm_args g = step_product(r, MXC_FORWARD, layer, direction);
    g.a = step.h_prev;
    g.lda = step.h_prev_row;
    if (r->p->mode == MXCI_RNN_GRU) {
        g.c = r->h_product;
        g.ldc = g.n;
        g.bias = bias_of(r, layer, direction, 1);
    } else {
        g.c = step.gates;
        g.ldc = g.n;
        g.beta = 1;
    }
    rnn_gemm(r, g);
    run_step(r, r->kernels->forward[r->p->mode], &step, mxci_rnn_time(d, direction, s));
    if (d->projected)
        project_states(r, layer, direction, s);
}

/* The states after the last step, where they are requested. */
static void store_states(const rnn *r, int64_t layer, int direction) {
    const mxc_op_call *call = r->call;
    int64_t row;
    const void *state = state_after(r, layer, direction, r->d.t - 1, &row);
    for (int64_t i = 0; i < r->d.n && call->req[MXCI_RNN_STATE_OUT] != MXC_REQ_NULL; i++)
        mxci_assign_row(call->req[MXCI_RNN_STATE_OUT], r->d.type,
                        rnn_at(r, state_of(r, &call->out[MXCI_RNN_STATE_OUT], layer, direction), i * r->d.hidden),
                        rnn_at(r, state, i * row), r->d.hidden);
    if (mxci_rnn_is_lstm(r->p) && call->req[MXCI_RNN_STATE_CELL_OUT] != MXC_REQ_NULL)
        mxci_assign_row(call->req[MXCI_RNN_STATE_CELL_OUT], r->d.type,
                        state_of(r, &call->out[MXCI_RNN_STATE_CELL_OUT], layer, direction),
                        cell_after(r, layer, direction, r->d.t - 1), r->d.n * r->d.h);
}

/* Rows of the output: those of the last layer, 0 after the end of a sequence. */
static void store_out(void *arg, int64_t begin, int64_t end, int part) {
    const rnn *r = arg;
    const mxc_op_call *call = r->call;
    (void)part;
    for (int64_t row = begin; row < end; row++) {
        void *to = rnn_at(r, call->out[MXCI_RNN_OUT].data, row * r->d.width);
        if (is_within(r, row % r->d.n, row / r->d.n))
            mxci_assign_row(call->req[MXCI_RNN_OUT], r->d.type, to,
                            rnn_at(r, out_of(r, r->d.layers - 1), row * r->d.width), r->d.width);
        else if (call->req[MXCI_RNN_OUT] != MXC_REQ_ADD)
            memset(to, 0, (size_t)r->d.width * r->element);
    }
}

/*
 * Layer by layer. The products of the input with its weights do not depend on the recurrence and are one matrix product
 * for all times; each step then adds the product of the last state.
 */
mxc_status mxci_rnn_forward(const mxc_op_call *call) {
    rnn r = rnn_open_run(call, MXC_FORWARD);
    for (int64_t layer = 0; layer < r.d.layers; layer++) {
        const void *x = input_of(&r, layer, 1);
        for (int direction = 0; direction < r.d.directions; direction++) {
            project_input(&r, layer, direction, x);
            pack_recurrent(&r, MXC_FORWARD, layer, direction);
            for (int64_t s = 0; s < r.d.t; s++)
                forward_step(&r, layer, direction, s);
            store_states(&r, layer, direction);
        }
    }
    if (mxci_is_wanted(call->req[MXCI_RNN_OUT], &call->out[MXCI_RNN_OUT]))
        mxc_parallel_for(call->run, r.d.rows, MXCI_GRAIN / r.d.width + 1, store_out, &r);
    return MXC_OK;
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* With a projection, the gradient of o tanh(C) at a time from those of the state: of the output, dy, and dh, which it
 * takes. dh of rows after the end of their sequence stays as it is. */
static void project_gradient(const rnn *r, int64_t layer, int direction, int64_t time, const char *dy) {
    const dims *d = &r->d;
    for (int64_t i = 0; i < d->n; i++) {
        void *grad = rnn_at(r, r->state_grad, (time * d->n + i) * d->hidden), *dh = rnn_at(r, r->dh, i * d->hidden);
        if (!is_within(r, i, time)) {
            memset(grad, 0, (size_t)d->hidden * r->element);
            continue;
        }
        mxci_assign_row(MXC_REQ_WRITE, d->type, grad, dh, d->hidden);
        mxci_assign_row(MXC_REQ_ADD, d->type, grad, rnn_at(r, dy, i * d->width), d->hidden);
        memset(dh, 0, (size_t)d->hidden * r->element);
    }
    mxci_gemm_args g = {.m = d->n, .n = d->h, .k = d->hidden};
    g.a = rnn_at(r, r->state_grad, time * d->n * d->hidden), g.lda = d->hidden;
    g.b = weight_of(r, layer, direction, 2), g.ldb = d->h;
    g.c = r->unit_grad, g.ldc = d->h;
    rnn_gemm(r, g);
}

/* Backward through time: from the last step to the first. dh and dc begin as gradients of the last state and become
 * those of the initial one; the gradients of all gates are saved for the products over all steps at once. */
static void backward_steps(const rnn *r, int64_t layer, int direction, const void *dy) {
    const dims *d = &r->d;
    int64_t rows = d->gates * d->h;
    if (d->projected)
        memset(r->no_grad, 0, (size_t)d->h * r->element);
    pack_recurrent(r, MXC_BACKWARD, layer, direction);
    for (int64_t s = d->t - 1; s >= 0; s--) {
        int64_t time = mxci_rnn_time(d, direction, s), first = time * d->n;
        mxci_rnn_step step = step_of(r, layer, direction, s);
        step.dy = rnn_at(r, dy, first * d->width + direction * d->hidden);
        step.dh = r->dh;
        if (d->projected) {
            project_gradient(r, layer, direction, time, step.dy);
            step.dh = r->unit_grad;
            step.dy = r->no_grad;
            step.out_row = 0;
        }
        step.dc = r->dc;
        step.dx_gates = rnn_at(r, r->x_gates, first * rows);
        step.dh_gates = rnn_at(r, r->h_gates, first * rows);
        run_step(r, r->kernels->backward[r->p->mode], &step, time);
        mxci_gemm_args g = step_product(r, MXC_BACKWARD, layer, direction);
        g.a = step.dh_gates, g.lda = rows;
        g.c = r->dh, g.ldc = d->hidden;
        g.beta = 1;
        rnn_gemm(r, g);
    }
}

static void *parameter_gradient_at(const rnn *r, int64_t element) {
    return rnn_at(r, r->call->in_grad[MXCI_RNN_PARAMETERS].data, element);
}

/* dR: the first step, whose previous state is an argument, then all other steps in one product. The previous states of
 * those are the layer's outputs, shifted by one step. */
static void recurrent_gradient(const rnn *r, int64_t layer, int direction, double beta) {
    const dims *d = &r->d;
    int64_t rows = d->gates * d->h, others = d->t > 1 ? (d->t - 1) * d->n : 0, row;
    mxci_gemm_args g = {
        .transpose_a = 1,
        .m = rows,
        .n = d->hidden,
        .k = d->t > 0 ? d->n : 0,
        .beta = beta,
        .lda = rows,
        .c = parameter_gradient_at(r, mxci_rnn_weight_at(d, layer, direction, 1)),
        .ldc = d->hidden,
    };
    g.a = rnn_at(r, r->h_gates, direction ? others * rows : 0);
    g.b = state_after(r, layer, direction, -1, &row);
    g.ldb = row;
    rnn_gemm(r, g);
    if (others == 0)
        return;
    g.a = rnn_at(r, r->h_gates, direction ? 0 : d->n * rows);
    g.b = rnn_at(r, out_of(r, layer), (direction ? d->n * d->width : 0) + direction * d->hidden);
    g.ldb = d->width;
    g.k = others;
    g.beta = 1;
    rnn_gemm(r, g);
}

static void projection_gradient(const rnn *r, int64_t layer, int direction, double beta) {
    const dims *d = &r->d;
    mxci_gemm_args g = {.transpose_a = 1, .m = d->hidden, .n = d->h, .k = d->rows, .beta = beta};
    g.a = r->state_grad, g.lda = d->hidden;
    g.b = units_of(r, layer, direction), g.ldb = d->h;
    g.c = parameter_gradient_at(r, mxci_rnn_weight_at(d, layer, direction, 2)), g.ldc = d->h;
    rnn_gemm(r, g);
}

/* Sum over rows, as a product with a row of ones (leading dimension 0: every row is the same one). */
static void rnn_bias_gradient(const rnn *r, const char *gates, double beta, void *to) {
    static const float one_f32 = 1;
    static const double one_f64 = 1;
    int64_t rows = r->d.gates * r->d.h;
    rnn_gemm(r, (mxci_gemm_args){.transpose_a = 1,
                                 .m = 1,
                                 .n = rows,
                                 .k = r->d.rows,
                                 .beta = beta,
                                 .b = gates,
                                 .ldb = rows,
                                 .c = to,
                                 .ldc = rows,
                                 .a = r->d.type == MXC_F32 ? (const void *)&one_f32 : &one_f64});
}

/* From the gates' gradients of all times: one product for each weight, and sums over the rows for the biases. */
static void parameter_gradient(const rnn *r, int64_t layer, int direction, const void *x) {
    const dims *d = &r->d;
    int64_t rows = d->gates * d->h, k = mxci_rnn_inputs_of(d, layer);
    double beta = r->call->req[MXCI_RNN_PARAMETERS] == MXC_REQ_ADD;
    if (r->call->req[MXCI_RNN_PARAMETERS] == MXC_REQ_NULL)
        return;
    rnn_gemm(r, (mxci_gemm_args){.transpose_a = 1,
                                 .m = rows,
                                 .n = k,
                                 .k = d->rows,
                                 .a = r->x_gates,
                                 .lda = rows,
                                 .b = x,
                                 .ldb = k,
                                 .c = parameter_gradient_at(r, mxci_rnn_weight_at(d, layer, direction, 0)),
                                 .ldc = k,
                                 .beta = beta});
    recurrent_gradient(r, layer, direction, beta);
    if (d->projected)
        projection_gradient(r, layer, direction, beta);
    rnn_bias_gradient(r, r->x_gates, beta, parameter_gradient_at(r, mxci_rnn_bias_at(d, layer, direction, 0)));
    rnn_bias_gradient(r, r->h_gates, beta, parameter_gradient_at(r, mxci_rnn_bias_at(d, layer, direction, 1)));
}

/* Gradient of the layer's input; the second direction adds to the first. */
static void input_gradient(const rnn *r, int64_t layer, int direction, void *to, double beta) {
    int64_t rows = r->d.gates * r->d.h, k = mxci_rnn_inputs_of(&r->d, layer);
    mxci_gemm_args g = {.m = r->d.rows, .n = k, .k = rows, .beta = direction ? 1 : beta};
    g.a = r->x_gates, g.lda = rows;
    g.b = weight_of(r, layer, direction, 0), g.ldb = k;
    g.c = to, g.ldc = k;
    rnn_gemm(r, g);
}

/* dh or dc = the gradient of a state after the last step, of rows of n elements; 0 where the state is not a visible
 * output. */
static void load_state_gradient(const rnn *r, int slot, int64_t layer, int direction, int64_t n, void *to) {
    if (slot < mxci_rnn_n_visible(r->p))
        mxci_assign_row(MXC_REQ_WRITE, r->d.type, to, state_of(r, &r->call->out_grad[slot], layer, direction),
                        r->d.n * n);
    else
        memset(to, 0, (size_t)(r->d.n * n) * r->element);
}

static void store_state_gradient(const rnn *r, int slot, int64_t layer, int direction, int64_t n, const void *from) {
    if ((slot == MXCI_RNN_STATE || mxci_rnn_is_lstm(r->p)) && r->call->req[slot] != MXC_REQ_NULL)
        mxci_assign_row(r->call->req[slot], r->d.type, state_of(r, &r->call->in_grad[slot], layer, direction), from,
                        r->d.n * n);
}

static void backward_layer(const rnn *r, int64_t layer, const void *dy) {
    const mxc_op_call *call = r->call;
    const void *x = input_of(r, layer, 0);
    void *dx = layer ? r->grad[(layer - 1) % 2] : call->in_grad[MXCI_RNN_DATA].data;
    for (int direction = 0; direction < r->d.directions; direction++) {
        load_state_gradient(r, MXCI_RNN_STATE_OUT, layer, direction, r->d.hidden, r->dh);
        load_state_gradient(r, MXCI_RNN_STATE_CELL_OUT, layer, direction, r->d.h, r->dc);
        backward_steps(r, layer, direction, dy);
        store_state_gradient(r, MXCI_RNN_STATE, layer, direction, r->d.hidden, r->dh);
        store_state_gradient(r, MXCI_RNN_STATE_CELL, layer, direction, r->d.h, r->dc);
        parameter_gradient(r, layer, direction, x);
        if (layer || call->req[MXCI_RNN_DATA] != MXC_REQ_NULL)
            input_gradient(r, layer, direction, dx, !layer && call->req[MXCI_RNN_DATA] == MXC_REQ_ADD);
    }
    if (layer && r->d.masks)
        rnn_drop(r, layer, dx, dx, 0);
}

mxc_status mxci_rnn_backward(const mxc_op_call *call) {
    rnn r = rnn_open_run(call, MXC_BACKWARD);
    const void *dy = call->out_grad[MXCI_RNN_OUT].data;
    const int lengths = mxci_rnn_lengths_arg(r.p);
    if (lengths >= 0)
        mxci_assign_zero_gradient(call, lengths);
    if (r.d.n == 0) { /* no sequences, of any length: only the parameters' gradient has elements */
        if (call->req[MXCI_RNN_PARAMETERS] != MXC_REQ_ADD)
            mxci_assign_constant(call->run, call->req[MXCI_RNN_PARAMETERS], &call->in_grad[MXCI_RNN_PARAMETERS], 0);
        return MXC_OK;
    }
    for (int64_t layer = r.d.layers - 1; layer >= 0; layer--) {
        backward_layer(&r, layer, dy);
        dy = layer ? r.grad[(layer - 1) % 2] : NULL;
    }
    return MXC_OK;
}
