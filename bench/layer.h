/* SPDX-License-Identifier: Apache-2.0 */
/* Calls one operator's function as an executor does, for one pass, on tensors in memory of the caller. Shared by
 * bench_layers and bench_conv, which choose the layers and print the tables. */
#ifndef MXC_BENCH_LAYER_H
#define MXC_BENCH_LAYER_H

#include <mxc/op.h>

#include "measure.h"

enum { LAYER_SLOTS = 4 };

/* Which gradients a pass computes; 0: it is the forward pass. */
enum { FORWARD, DATA = 1, WEIGHTS = 2 };

typedef struct layer {
    const char *title, *op, *keys[4], *values[4];
    int ndim;
    int64_t data[4];
    int products;  /* 1: work is counted in multiply-adds, 0: in bytes */
    int passes[3]; /* end with 0, the first one is forward */
} layer;

/* ---- one call ---------------------------------------------------------------------------------------------------- */

typedef struct bound {
    mxc_op *op;
    mxc_op_sig sig;
    mxc_shape shapes[3][LAYER_SLOTS];
    mxc_dtype types[3][LAYER_SLOTS];
    mxc_tensor in[LAYER_SLOTS], out[LAYER_SLOTS], aux[LAYER_SLOTS], out_grad[LAYER_SLOTS], in_grad[LAYER_SLOTS];
    mxc_req req[LAYER_SLOTS];
    mxc_op_call call;
    mxc_op_compute_fn fn;
    double work; /* floating-point operations or bytes of a call */
} bound;

static inline void infer(bound *b, const layer *l, int threads) {
    int n = 0;
    while (n < 4 && l->keys[n])
        n++;
    measure_check(mxc_op_create(l->op, n, l->keys, l->values, &b->op));
    b->sig = (mxc_op_sig){.op = b->op,
                          .params = mxc_op_params(b->op),
                          .n_in = mxc_op_n_args(b->op),
                          .n_out = mxc_op_n_outputs(b->op),
                          .n_aux = mxc_op_n_aux(b->op),
                          .in_shape = b->shapes[0],
                          .out_shape = b->shapes[1],
                          .aux_shape = b->shapes[2],
                          .in_type = b->types[0],
                          .out_type = b->types[1],
                          .aux_type = b->types[2],
                          .context = {MXC_CPU, 0},
                          .is_train = 1,
                          .parallelism = threads};
    for (int i = 0; i < 3 * LAYER_SLOTS; i++) {
        b->shapes[i / LAYER_SLOTS][i % LAYER_SLOTS].ndim = -1;
        b->types[i / LAYER_SLOTS][i % LAYER_SLOTS] = MXC_F32;
    }
    measure_check(mxc_shape_set(&b->shapes[0][0], l->ndim, l->data));
    measure_check(mxc_op_infer_shape(&b->sig));
}

/* Tensors one behind another in memory, filled with small numbers that differ. Returns the bytes used. */
static inline size_t lay_out(char *memory, int n, const mxc_shape *shapes, mxc_tensor *tensors) {
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        int64_t size = mxc_shape_size(&shapes[i]);
        tensors[i] = (mxc_tensor){.data = memory + used, .shape = shapes[i], .dtype = MXC_F32};
        for (int64_t j = 0; j < size; j++)
            ((float *)tensors[i].data)[j] = (float)(j * 7919 % 1009) / 1009 - 0.5f;
        used += ((size_t)size * sizeof(float) + 63) & ~(size_t)63;
    }
    return used;
}

static inline double bytes_of(int n, const mxc_tensor *tensors) {
    double bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += 4.0 * (double)mxc_shape_size(&tensors[i].shape);
    return bytes;
}

static inline double products_of(const bound *b) {
    const mxc_shape *weight = &b->in[1].shape;
    return 2.0 * (double)mxc_shape_size(&b->out[0].shape) * (double)mxc_shape_size(weight) / (double)weight->dim[0];
}

/* What a pass reads and writes. */
static inline double traffic_of(const bound *b, int pass) {
    mxc_op_needs needs;
    double bytes = pass == FORWARD ? bytes_of(b->sig.n_out, b->out) + 2 * bytes_of(b->sig.n_aux, b->aux) : 0;
    mxc_op_get_needs(b->op, &needs);
    for (int i = 0; i < b->sig.n_in; i++)
        if (pass == FORWARD || mxc_need_has(needs.in, i))
            bytes += bytes_of(1, &b->in[i]);
    if (pass != FORWARD)
        bytes += (mxc_need_has(needs.out_grad, 0) + mxc_need_has(needs.out, 0)) * bytes_of(1, b->out) +
                 bytes_of(1, b->in_grad);
    return bytes;
}

static inline void open_bound(bound *b, const layer *l, int pass, int threads, char *memory, size_t bytes) {
    const mxc_op_def *def;
    size_t used;
    memset(b, 0, sizeof *b);
    infer(b, l, threads);
    def = mxc_op_get_def(b->op);
    used = lay_out(memory, b->sig.n_in, b->sig.in_shape, b->in);
    used += lay_out(memory + used, b->sig.n_out, b->sig.out_shape, b->out);
    used += lay_out(memory + used, b->sig.n_aux, b->sig.aux_shape, b->aux);
    used += lay_out(memory + used, b->sig.n_out, b->sig.out_shape, b->out_grad);
    used += lay_out(memory + used, b->sig.n_in, b->sig.in_shape, b->in_grad);
    b->fn = pass == FORWARD ? def->forward[MXC_CPU] : def->backward[MXC_CPU];
    b->call = (mxc_op_call){.op = b->op,
                            .params = mxc_op_params(b->op),
                            .is_train = 1,
                            .n_in = b->sig.n_in,
                            .n_out = b->sig.n_out,
                            .n_aux = b->sig.n_aux,
                            .in = b->in,
                            .out = b->out,
                            .aux = b->aux,
                            .out_grad = b->out_grad,
                            .in_grad = b->in_grad,
                            .req = b->req,
                            .temp = memory + used};
    for (int i = 0; i < LAYER_SLOTS; i++)
        b->req[i] = pass == FORWARD || (i == 0) == (pass == DATA) ? MXC_REQ_WRITE : MXC_REQ_NULL;
    if (def->temp_bytes)
        used += def->temp_bytes(&b->sig, pass == FORWARD ? MXC_FORWARD : MXC_BACKWARD);
    if (used > bytes)
        measure_fail("a layer needs more memory than there is");
    b->work = l->products ? products_of(b) : traffic_of(b, pass);
}

static inline void call_bound(const mxc_run *run, void *arg) {
    bound *b = arg;
    b->call.run = run;
    measure_check(b->fn(&b->call));
}

#endif
