/* SPDX-License-Identifier: Apache-2.0 */
/* What the optimizer updates share (update/update.h): inference, and a parallel loop over the elements of a weight. */
#include "operator/update/update.h"

#include "math/tile_kernels.h"

const mxc_inplace mxci_update_inplace[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};

#define PAIR(i) \
    { MXC_FROM_IN(2 * (i)), i }
#define FOUR_PAIRS(i) PAIR(i), PAIR((i) + 1), PAIR((i) + 2), PAIR((i) + 3)
#define SIXTEEN_PAIRS(i) FOUR_PAIRS(i), FOUR_PAIRS((i) + 4), FOUR_PAIRS((i) + 8), FOUR_PAIRS((i) + 12)
const mxc_inplace mxci_update_inplace_weights[] = {
    SIXTEEN_PAIRS(0), SIXTEEN_PAIRS(16), SIXTEEN_PAIRS(32), SIXTEEN_PAIRS(48), MXC_INPLACE_END,
};
_Static_assert(sizeof mxci_update_inplace_weights / sizeof(mxc_inplace) == MXC_FLOATS_MAX + 1, "each weight its own");

mxc_status mxci_update_infer_shape(mxc_op_sig *sig) {
    static const int slots[] = {0, 1, MXC_SLOT_OUT(0), MXC_SLOT_AUX(0), MXC_SLOT_AUX(1), MXC_SLOT_AUX(2)};
    return mxci_sig_same_shape(sig, 3 + sig->n_aux, slots);
}

mxc_status mxci_update_infer_weights(mxc_op_sig *sig, int n_aux) {
    int slots[3 + MXCI_UPDATE_STATES + 1];
    for (int i = 0; i < sig->n_out; i++) {
        int n = 0;
        slots[n++] = 2 * i;
        slots[n++] = 2 * i + 1;
        slots[n++] = MXC_SLOT_OUT(i);
        for (int k = 0; k < n_aux; k++)
            slots[n++] = MXC_SLOT_AUX(n_aux * i + k);
        MXC_TRY(mxci_sig_same_shape(sig, n, slots));
    }
    return MXC_OK;
}

mxc_status mxci_update_infer_master_type(mxc_op_sig *sig) {
    int slots[3 * MXC_FLOATS_MAX], n = 0;
    for (int i = 0; i < sig->n_in; i++)
        slots[n++] = i;
    for (int i = 0; i < sig->n_out; i++)
        slots[n++] = MXC_SLOT_OUT(i);
    MXC_TRY(mxci_sig_same_type(sig, n, slots));
    for (int i = 0; i < sig->n_aux; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_AUX(i), sig->in_type[0] == MXC_F64 ? MXC_F64 : MXC_F32));
    return MXC_OK;
}

mxc_status mxci_update_infer_single(mxc_op_sig *sig, int slot, const char *name) {
    const mxc_shape one = mxci_shape_of(1, (int64_t[]){1}), *found = mxci_sig_shape(sig, slot);
    char text[MXC_SHAPE_TEXT];
    if (!mxc_shape_known(found))
        return mxc_sig_set_shape(sig, slot, &one);
    if (mxc_shape_size(found) != 1)
        return mxc_sig_fail(sig, "%s has shape %s, expected one element", name,
                            mxc_shape_format(found, text, sizeof text));
    return MXC_OK;
}

/* Elements begin..end-1 of a weight without a master copy. */
static void step_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_update_step *s = arg;
    mxci_update_arrays arrays = {
        .weight = mxci_at(s->weight, begin),
        .grad = mxci_at(s->grad, begin),
        .out = mxci_at(s->out, begin),
    };
    (void)part;
    const int out = s->req == MXC_REQ_NULL  ? MXCI_UPDATE_NONE
                    : s->req == MXC_REQ_ADD ? MXCI_UPDATE_ADD
                                            : MXCI_UPDATE_WRITE;
    for (int i = 0; i < s->n_states; i++)
        arrays.state[i] = mxci_at(&s->state[i], begin);
    s->rule[s->weight->dtype](s->factors, end - begin, &arrays, out);
}

/* The same with a master copy, which takes the step: the gradient is converted a tile at a time, and out is the copy
 * rounded. */
static void step_master_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxci_update_step *s = arg;
    double grad[MXCI_TILE], result[MXCI_TILE]; /* or as many floats */
    (void)part;
    for (int64_t at = begin; at < end; at += MXCI_TILE) {
        int64_t n = end - at < MXCI_TILE ? end - at : MXCI_TILE;
        mxci_update_arrays arrays = {.weight = mxci_at(s->master, at), .grad = grad};
        arrays.out = s->keeps_master ? result : mxci_at(s->master, at);
        for (int i = 0; i < s->n_states; i++)
            arrays.state[i] = mxci_at(&s->state[i], at);
        mxci_load(s->grad->dtype, mxci_at(s->grad, at), grad, n);
        s->rule[s->master->dtype](s->factors, n, &arrays, MXCI_UPDATE_WRITE);
        if (s->req != MXC_REQ_NULL)
            (s->req == MXC_REQ_ADD ? mxci_store_add : mxci_store)(s->out->dtype, arrays.out, mxci_at(s->out, at), n);
    }
}

enum { SQUARE_BLOCK = 64 * MXCI_TILE };

typedef struct square_sum {
    const mxc_tensor *a, *b;
    double factor, *blocks;
} square_sum;

int64_t mxci_update_square_blocks(int64_t n) {
    return (n + SQUARE_BLOCK - 1) / SQUARE_BLOCK;
}

static void square_sum_blocks(void *arg, int64_t begin, int64_t end, int part) {
    const square_sum *r = arg;
    const int64_t size = mxci_tensor_size(r->a);
    double a[MXCI_TILE], b[MXCI_TILE] = {0};
    (void)part;
    for (int64_t block = begin; block < end; block++) {
        const int64_t last = (block + 1) * SQUARE_BLOCK < size ? (block + 1) * SQUARE_BLOCK : size;
        r->blocks[block] = 0;
        for (int64_t at = block * SQUARE_BLOCK; at < last; at += MXCI_TILE) {
            const int64_t n = last - at < MXCI_TILE ? last - at : MXCI_TILE;
            mxci_convert(r->a->dtype, mxci_at(r->a, at), MXC_F64, a, n);
            if (r->b)
                mxci_convert(r->b->dtype, mxci_at(r->b, at), MXC_F64, b, n);
            for (int64_t i = 0; i < n; i++)
                r->blocks[block] += (r->factor * a[i] + b[i]) * (r->factor * a[i] + b[i]);
        }
    }
}

double mxci_update_square_sum(const mxc_run *run, const mxc_tensor *a, double factor, const mxc_tensor *b,
                              double *blocks) {
    square_sum r = {a, b, factor, blocks};
    const int64_t n = mxci_update_square_blocks(mxci_tensor_size(a));
    double sum = 0;
    mxc_parallel_for_dynamic(run, n, 1, square_sum_blocks, &r);
    for (int64_t i = 0; i < n; i++)
        sum += blocks[i];
    return sum;
}

void mxci_update_step_run(const mxc_run *run, const mxci_update_step *step) {
    mxc_parallel_for_dynamic(run, mxci_tensor_size(step->weight), MXCI_GRAIN,
                             step->master ? step_master_range : step_range, (void *)step);
}

mxci_update_step mxci_update_step_of(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors,
                                     int i, int n_states, int has_master) {
    mxci_update_step s = {
        .rule = rule,
        .factors = factors,
        .weight = &call->in[2 * i],
        .grad = &call->in[2 * i + 1],
        .out = &call->out[i],
        .state = call->aux + (size_t)(n_states + has_master) * (size_t)i,
        .n_states = n_states,
        .req = call->req[i],
    };
    if (has_master)
        s.master = &s.state[n_states];
    return s;
}

mxc_status mxci_update_run(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors) {
    mxci_update_step_run(call->run, &(mxci_update_step){.rule = rule,
                                                        .factors = factors,
                                                        .weight = &call->in[0],
                                                        .grad = &call->in[1],
                                                        .out = &call->out[0],
                                                        .state = call->aux,
                                                        .n_states = call->n_aux,
                                                        .req = call->req[0]});
    return MXC_OK;
}
